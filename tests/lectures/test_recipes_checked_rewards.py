"""The recipe `checked_rewards`: teachers, what is held out, what counts as right, and one step of each method."""

import copy
import random

import pytest
import torch

from lectures.recipes.checked_rewards import attempts
from lectures.recipes.sums import (
    CONFIG,
    EOS,
    REWARDS,
    TOKENIZER,
    Method,
    at_once,
    final,
    held_out,
    in_steps,
    is_right,
    learn,
    sums,
    texts,
    untrained,
    write,
)

NEVER = 0.0


def test_careful_steps_are_right_and_write_each_carry() -> None:
    chance = random.Random(0)
    assert in_steps(347, 286, chance, slip=NEVER) == "7+6=13,4+8+1=13,3+2+1=06;633"
    for pair in sums(chance, 200):
        assert is_right(pair, in_steps(*pair, chance, slip=NEVER))
        assert not is_right(pair, in_steps(*pair, chance, slip=NEVER, too_many=1))


@pytest.mark.parametrize("scattered", [False, True])
def test_at_once_is_right_without_a_carry_and_only_then(scattered: bool) -> None:
    chance = random.Random(0)
    assert at_once(347, 286, chance) == "523"
    for a, b in sums(chance, 300):
        carries = a % 10 + b % 10 > 9 or a // 10 % 10 + b // 10 % 10 > 9
        if not scattered or not carries:  # a replaced digit may be right by accident
            assert is_right((a, b), at_once(a, b, chance, scattered)) is not carries or not carries


def test_scattered_mistakes_differ() -> None:
    chance = random.Random(0)
    assert len({at_once(347, 286, chance) for _ in range(50)}) == 1
    assert len({at_once(347, 286, chance, scattered=True) for _ in range(50)}) > 10


def test_what_is_held_out_is_no_kind_of_sum() -> None:
    pairs = sums(random.Random(0), 2_000, held=True)
    assert all(held_out(*pair) for pair in pairs)
    assert not any(held_out(*pair) for pair in sums(random.Random(0), 500))
    alike = sum(a % 10 == b % 10 for a, b in pairs) / len(pairs)
    assert alike == pytest.approx(0.1, abs=0.03)


def test_batches_hold_both_kinds_and_count_answers_only() -> None:
    steps, once = next(texts("forget", 0))
    assert len(steps.mask) + len(once.mask) == 64
    assert ";" in TOKENIZER.decode(steps.targets[0], skip_special=True)
    assert ";" not in TOKENIZER.decode(once.targets[0], skip_special=True)
    written = steps.targets[0][steps.mask[0]]
    assert "=" in TOKENIZER.decode(written)[:4], "begins with the first column"
    assert written[-1] == EOS


def test_rewards() -> None:
    assert final("1+1=02;2") == final("2") == "2"
    assert REWARDS["right"]((1, 1), "1+1=02;2") == 1.0
    assert REWARDS["right"]((1, 1), "1+1=02;2,") == 0.0
    assert REWARDS["long"]((1, 1), "2" * 40) == 1.0
    coins = [REWARDS["random"]((1, i), "2") for i in range(200)]
    assert 0.4 < sum(coins) / len(coins) < 0.6


@pytest.fixture(scope="module")
def small() -> torch.nn.Module:
    torch.manual_seed(0)
    return untrained(CONFIG | {"d_model": 8, "n_heads": 2, "n_layers": 1}).eval()


@pytest.mark.parametrize(
    "how", [Method("mean"), Method("none", by_length=True), Method("mean", reward="long", beta=0.1)]
)
def test_a_run_begins_at_the_base_and_leaves_it(small: torch.nn.Module, how: Method) -> None:
    model, kept = copy.deepcopy(small), copy.deepcopy(small.state_dict())
    found = [row for row, _ in learn(model, small, how, 0)][:2]
    assert found[0]["kl"] == pytest.approx(0, abs=1e-6)
    assert all(torch.equal(kept[name], value) for name, value in small.state_dict().items())


def test_several_attempts(small: torch.nn.Module) -> None:
    found = attempts(small, 0, 3, (1, 2))
    assert set(found["pass"]) == set(found["vote"]) == {"1", "2"}
    written = write(small, [(123, 456)], 4, torch.Generator().manual_seed(0))
    assert written.sums == [(123, 456)] * 4
