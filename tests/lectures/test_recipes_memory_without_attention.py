"""The trainings of the lecture on memory without attention: its texts, its rows, what they are asked."""

from typing import Any

import pytest
import torch

from lectures.recipes import overwriting
from lectures.recipes.memory_speed import by_steps, layers, passed
from lectures.recipes.overwriting import COUNTS, KEYS, PAIR, ROWS, VALUES, build, loss, written


@pytest.mark.parametrize("m", COUNTS)
def test_a_text_asks_for_the_newest_value_of_every_key(m: int) -> None:
    tokens, newest, older = written(m, 5, torch.Generator().manual_seed(0))
    writes = 3 * m // 2
    assert tokens.shape == (5, writes + m)
    for row, values, before in zip(tokens.tolist(), newest.tolist(), older.tolist(), strict=True):
        seen: dict[int, list[int]] = {}
        for token in row[:writes]:
            seen.setdefault(token // PAIR, []).append(token % PAIR)
        assert sorted(map(len, seen.values())) == [1] * (m // 2) + [2] * (m // 2)
        asked = [divmod(token, PAIR) for token in row[writes:]]
        assert sorted(key for key, _ in asked) == sorted(seen), "each key once"
        assert all(value == VALUES for _, value in asked), "with a question mark"
        assert [seen[key][-1] for key, _ in asked] == values
        assert [seen[key][0] if len(seen[key]) == 2 else -1 for key, _ in asked] == before


class Oracle:
    """Reads a text as it is told to: a model with the value of each key by `choose`, of its values in order."""

    def __init__(self, choose: Any) -> None:
        self.choose = choose

    def hidden_states(self, tokens: torch.Tensor) -> tuple[torch.Tensor, None]:
        logits = torch.zeros(*tokens.shape, VALUES)
        for b, row in enumerate(tokens.tolist()):
            seen: dict[int, list[int]] = {}
            for t, token in enumerate(row):
                key, value = divmod(token, PAIR)
                if value < VALUES:
                    seen.setdefault(key, []).append(value)
                else:
                    logits[b, t, self.choose(seen[key])] = 1.0
        return logits, None

    def output(self, hidden: torch.Tensor) -> torch.Tensor:
        return hidden


@pytest.mark.parametrize(("chosen", "expected"), [(-1, (1.0, 1.0, 0.0)), (0, (1.0, 0.0, 1.0))])
def test_shares_tell_the_newest_value_from_the_old_one(chosen: int, expected: tuple[float, ...]) -> None:
    found = overwriting.shares(Oracle(lambda values: values[chosen]), 8, 20, 3)
    assert (found["once"], found["twice"], found["old"]) == expected


@pytest.mark.parametrize("row", ROWS)
def test_every_row_reads_a_text(row: str) -> None:
    torch.manual_seed(0)
    model = build(row)
    tokens, newest, _ = written(4, 3, torch.Generator().manual_seed(0))
    assert model(tokens)[0].shape == (3, 10, VALUES)
    assert tokens.max() < KEYS * PAIR
    assert 3.5 < loss(model, (tokens, newest)).item() < 6, "near ln 64 before training"


def test_two_rows_differ_in_the_erasing_alone() -> None:
    models = []
    for row in ("delta", "gated writes"):
        torch.manual_seed(0)
        models.append(build(row).state_dict())
    assert models[0].keys() == models[1].keys()
    assert all(torch.equal(models[0][name], models[1][name]) for name in models[0])


def test_timed_layers_are_of_one_width_and_the_loop_gives_the_same_gradient() -> None:
    work, x = layers(), torch.randn(2, 9, 96)
    gradients = []
    for timed in (passed, by_steps):
        layer = work["delta rule, in chunks"].args[0]
        layer.zero_grad()
        timed(layer, x)
        gradients.append(layer.projection.weight.grad.clone())
    assert torch.allclose(*gradients, atol=1e-6)
