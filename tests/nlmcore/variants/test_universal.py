"""The Universal Transformer: the loop by hand, who halts when, what is kept for those who go on."""

import copy
import math
import pickle
from dataclasses import replace

import pytest
import torch
from torch import Tensor

from nlmcore.transformer import TransformerEncoder
from nlmcore.variants import CATALOGUE
from nlmcore.variants.universal import Universal, build_universal, ponder_cost
from tests.laws import assert_chunking_law, assert_close, assert_language_model
from tests.nlmcore.variants.test_catalogue import MASK, SIZES, SOURCE, TOKENS, VOCAB, awake, build, logits

ROW = CATALOGUE["Universal Transformer (Dehghani et al.)"]
LOOPS = 5
CONFIG = ROW.config(VOCAB, **{**SIZES, "n_layers": LOOPS})


def stack(bias: float = 0.0, weight: float = 0.5, causal: bool = True) -> Universal:
    torch.manual_seed(0)
    made = build_universal(CONFIG, causal, False).eval()
    with torch.no_grad():
        made.halt_bias.fill_(bias)
        made.halt.copy_(weight * torch.randn(20, generator=torch.Generator().manual_seed(1)))
    return made


def signal(i: int, t: int) -> Tensor:
    """P^t of position i, number by number; t from 1."""
    numbers = []
    for j in range(10):
        clock = 10_000 ** (-2 * j / 20)
        numbers += [math.sin(i * clock) + math.sin(t * clock), math.cos(i * clock) + math.cos(t * clock)]
    return torch.tensor(numbers)


def by_hand(made: Universal, x: Tensor) -> tuple[Tensor, list[list[int]], list[float]]:
    """The results, N of every position, and N + R."""
    told, states = [], [x]
    for t in range(1, LOOPS + 1):
        told.append(states[-1] + torch.stack([signal(i, t) for i in range(x.shape[1])]))
        states.append(made[0](told[-1])[0])  # type: ignore[operator, union-attr]
    result, loops, ponders = torch.zeros_like(x), [], []
    for b in range(len(x)):
        loops.append([])
        for i in range(x.shape[1]):
            spent = 0.0
            for t in range(1, LOOPS + 1):
                p = torch.sigmoid(made.halt @ told[t - 1][b, i] + made.halt_bias).item()
                if spent + p >= 1 - 0.01 or t == LOOPS:
                    result[b, i] += (1 - spent) * states[t][b, i]
                    loops[-1].append(t)
                    ponders.append(t + 1 - spent)
                    break
                result[b, i] += p * states[t][b, i]
                spent += p
    return result, loops, ponders


X = torch.randn(2, 6, 20, generator=torch.Generator().manual_seed(3)) * 0.5


def test_every_position_halts_by_itself() -> None:
    made = stack(-0.7, 1.0)
    with torch.no_grad():
        expected, loops, ponders = by_hand(made, X)
        y, state = made(X)
    assert_close(y, expected, "Σ p x + R x")
    assert made.loops.tolist() == loops
    assert len({n for text in loops for n in text}) >= 3, "they halt at different times"
    assert made.pondering.item() == pytest.approx(sum(ponders) / len(ponders), rel=1e-5)
    assert len(state) == LOOPS + 1
    assert state[-1] == 6


@pytest.mark.parametrize(("bias", "last"), [(-50.0, LOOPS), (50.0, 1)])
def test_a_position_that_never_halts_or_at_once_has_the_state_of_one_loop(bias: float, last: int) -> None:
    made = stack(bias, 0.0)
    x = X
    with torch.no_grad():
        for t in range(1, last + 1):
            x = made[0](x + torch.stack([signal(i, t) for i in range(6)]))[0]  # type: ignore[operator, union-attr]
        assert_close(made(X)[0], x, f"after {last} loops")
    assert made.loops.unique().tolist() == [last]
    assert made.pondering.item() == pytest.approx(last + 1)


def test_at_the_start_every_loop_counts_alike() -> None:
    torch.manual_seed(0)
    made = build_universal(CONFIG, True, False).eval()
    seen = []
    with torch.no_grad():
        y = made.ponder(X, 0, lambda t, x: seen.append(torch.full_like(x, float(t))) or seen[-1], every_loop=True)  # type: ignore[func-returns-value]
    assert_close(y, torch.full_like(y, sum(range(LOOPS)) / LOOPS), "the mean of 0 … T − 1")


def test_positions_that_go_on_longer_find_what_has_halted() -> None:
    """The first tokens halt after one loop, the others go on: every loop has kept what they look at."""
    model = awake(ROW)
    hasty = torch.randn(20, generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        model.layers.halt.copy_(hasty)
        model.layers.halt_bias.fill_(-1.0)
        model.embedding.weight[3:6] = 3 * hasty / math.sqrt(20)
        model.embedding.weight[6:] = -3 * hasty / math.sqrt(20)
        tokens = torch.tensor([[3, 4, 5, 7, 8, 9], [4, 5, 3, 9, 6, 7]])
        model(tokens)
        assert model.layers.loops.tolist() == [[1, 1, 1, 2, 2, 2]] * 2
        assert_chunking_law(model, tokens, tolerance=1e-4)


def test_more_loops_keep_every_law() -> None:
    model = awake(replace(ROW, changes=ROW.changes | {"n_layers": 4}))
    with torch.no_grad():
        model.layers.halt_bias.fill_(2.0)
    assert_language_model(model, TOKENS, tolerance=1e-4)
    logits(model)
    assert model.layers.loops.unique().numel() > 1


def test_an_encoder_stops_when_all_have_and_a_reader_does_not() -> None:
    calls: list[int] = []
    for causal, expected in ((False, 1), (True, LOOPS)):
        made = stack(50.0, 0.0, causal)
        made[0].register_forward_hook(lambda *_: calls.append(1))
        calls.clear()
        with torch.no_grad():
            made(X)
        assert len(calls) == expected


def test_pondering_is_of_real_tokens_and_can_be_made_dear() -> None:
    encoder = TransformerEncoder(replace(CONFIG, n_layers=4))
    with torch.no_grad():
        encoder.layers.halt.normal_(generator=torch.Generator().manual_seed(2))
    encoder(SOURCE, MASK)
    alone = []
    padded = encoder.layers.pondering.item()
    for text, mask in zip(SOURCE, MASK, strict=True):
        encoder(text[None, : int(mask.sum())])
        alone += [encoder.layers.pondering.item()] * int(mask.sum())
    assert padded == pytest.approx(sum(alone) / len(alone), rel=1e-4)
    cost = ponder_cost(encoder)
    cost.backward()
    assert encoder.layers.halt.grad.any()
    assert ponder_cost(torch.nn.Linear(2, 2)).item() == 0.0


def test_it_can_be_copied_and_stored_in_the_middle_of_training() -> None:
    model = build(ROW)
    logits(model).sum().backward()
    for twin in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert_close(logits(twin), logits(model), "a copy")


def test_a_state_of_other_loops_is_named(plain_errors: None) -> None:
    made = stack()
    _, state = made(X)
    with pytest.raises(ValueError, match=f"a model of {LOOPS} loops, got {LOOPS} parts of {LOOPS + 1}"):
        made(X, state[1:])
