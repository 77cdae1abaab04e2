"""The recipes of the lecture on scale: what is counted, what is held out, and which metrics agree."""

import pytest
import torch
from torch import nn

from lectures.recipes import ladder, mirage
from lectures.recipes.run import parameters
from tests.lectures.runs import a_run


def test_parameters_without_embeddings() -> None:
    texts = ladder.Texts(torch.zeros(1), torch.zeros(1), torch.zeros(1), 82)
    model = ladder.model_of("Transformer", texts, (8, 2))
    assert parameters(model) - ladder.without_embeddings(model) == 82 * 8
    lstm = ladder.model_of("LSTM", texts, (24, 2))
    assert parameters(lstm) == pytest.approx(parameters(ladder.model_of("Transformer", texts, (24, 2))), rel=0.05)
    tied = nn.Linear(3, 5)
    assert ladder.without_embeddings(tied) == 20


def test_the_plan_has_every_size_with_every_length(tmp_path) -> None:
    run = a_run(tmp_path)
    run.quick = False
    rates = {
        "Transformer": {rung: 0.1 / rung[0] for rung in ladder.RUNGS},
        "LSTM": {rung: 0.05 for rung in ladder.RUNGS[1::2]},
    }
    plan = ladder.plan(run, rates)
    own = [(rung, steps) for variant, _, rung, steps, _ in plan if variant == "ladder"]
    assert len(set(own)) == len(own) == len(ladder.RUNGS) * len(ladder.STEPS) + 5
    assert {rate for variant, *_, rate in plan if variant == "small_rate"} == {0.1 / 8}
    assert {rate for variant, *_, rate in plan if variant == "large_rate"} == {0.1 / 96}
    (held_out,) = (one for one in plan if one[0] == "held_out")
    assert held_out[2] not in ladder.RUNGS


def test_sums_are_written_with_all_their_digits() -> None:
    tokens = mirage.sums(torch.tensor([[274, 659], [7, 8], [999, 999]]))
    assert tokens[0].tolist() == [2, 7, 4, mirage.PLUS, 6, 5, 9, mirage.EQUALS, 0, 9, 3, 3]
    assert tokens[1].tolist()[-4:] == [0, 0, 1, 5]
    assert tokens[2].tolist()[-4:] == [1, 9, 9, 8]
    assert tokens.shape == (3, mirage.LENGTH + mirage.ANSWER)


def test_no_sum_is_trained_on_and_tested() -> None:
    held = frozenset(map(tuple, mirage.held_out().tolist()))
    for tokens, _ in list(mirage.Sums(64, 1, held)(0))[:20]:
        a, b = (tokens[:, at : at + 3] @ torch.tensor([100, 10, 1]) for at in (0, 4))
        assert not held & set(zip(a.tolist(), b.tolist(), strict=True))
