"""Every algorithm refuses the same nonsense, and says which argument it is."""

from functools import partial

import numpy as np
import pytest
import torch

from nlmcore import decoding
from tests.nlmcore.decoding.models import PROMPTS, RunningSum

MODEL = RunningSum()
ALGORITHMS = [
    decoding.greedy,
    decoding.sample,
    decoding.stream,
    decoding.exhaustive_search,
    decoding.beam_search,
    decoding.diverse_beam_search,
    decoding.stochastic_beam_search,
    decoding.minimum_bayes_risk,
    decoding.contrastive_search,
    partial(decoding.speculative_sample, draft=RunningSum()),
]
names = [getattr(a, "__name__", "speculative_sample") for a in ALGORITHMS]


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=names)
@pytest.mark.parametrize(
    ("prompt", "n", "options", "name"),
    [
        ([[1, 2], [3]], 2, {}, "prompt"),
        (torch.tensor([[1.0, 2.0]]), 2, {}, "prompt"),
        (torch.tensor([1, 2]), 2, {}, "prompt"),
        (torch.zeros(2, 0, dtype=torch.long), 2, {}, "prompt"),
        (torch.zeros(0, 2, dtype=torch.long), 2, {}, "prompt"),
        (torch.tensor([[1, 7]]), 2, {}, "prompt"),
        (torch.tensor([[1, -1]]), 2, {}, "prompt"),
        (PROMPTS, -1, {}, "max_new_tokens"),
        (PROMPTS, 1.5, {}, "max_new_tokens"),
        (PROMPTS, 2, {"eos": 7}, "eos"),
        (PROMPTS, 2, {"eos": -1}, "eos"),
        (PROMPTS, 2, {"eos": "end"}, "eos"),
        (PROMPTS, 2, {"state": torch.zeros(3, 4)}, "state"),
    ],
)
def test_bad_requests(algorithm, prompt, n, options: dict, name: str) -> None:
    with pytest.raises((ValueError, TypeError), match=name):
        algorithm(MODEL, prompt, n, **options)


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=names)
def test_what_is_no_model_is_refused(algorithm) -> None:
    with pytest.raises(TypeError, match="model"):
        algorithm(torch.nn.Linear(2, 2), PROMPTS, 2)


class Bent(RunningSum):
    """A model whose answer went through `bend`."""

    def __init__(self, bend) -> None:
        super().__init__()
        self.bend = bend

    def forward(self, tokens, state=None):
        return self.bend(*super().forward(tokens, state))


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=names)
@pytest.mark.parametrize(
    ("bend", "wanted"),
    [
        (lambda logits, state: logits, r"\(logits, state\)"),
        (lambda logits, state: (logits[..., :-1], state), "vocab_size"),
        (lambda logits, state: (torch.cat([logits, logits], -1), state), "vocab_size"),
        (lambda logits, state: (logits[:, 1:], state), "time"),
        (lambda logits, state: (logits.tolist(), state), "list"),
    ],
)
def test_answers_that_no_language_model_gives(algorithm, bend, wanted: str) -> None:
    with pytest.raises((ValueError, TypeError), match=f"(?s)model must .*{wanted}"):
        list(algorithm(Bent(bend), PROMPTS, 2))


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=names)
@pytest.mark.parametrize("eos", [np.int64(2), torch.tensor(2)])
def test_eos_may_be_an_integer_of_any_library(algorithm, eos) -> None:
    def decode(end) -> str:
        torch.manual_seed(0)
        result = algorithm(MODEL, PROMPTS, 3, eos=end)
        return str(vars(result) if isinstance(result, decoding.Generation) else list(result))

    assert decode(eos) == decode(2)


@pytest.mark.parametrize("eos", [True, 2.0, torch.tensor(2.0), torch.tensor([1, 2])])
def test_eos_is_one_integer(eos) -> None:
    with pytest.raises((ValueError, TypeError), match="eos"):
        decoding.greedy(MODEL, PROMPTS, 3, eos=eos)


def test_a_utility_that_is_no_number() -> None:
    with pytest.raises(ValueError, match=r"utility must return numbers, got .*nan"):
        decoding.minimum_bayes_risk(MODEL, PROMPTS, 3, utility=lambda hypothesis, reference: float("nan"))


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=names)
def test_no_new_tokens_are_none(algorithm) -> None:
    """Texts of nothing, with probability 1."""
    found = algorithm(MODEL, PROMPTS, 0)
    if isinstance(found, decoding.Generation):
        assert found.tokens.shape == found.log_probs.shape == (4, 0)
        assert not found.finished.any()
    else:
        assert {(*h.tokens, h.log_prob) for texts in found for h in texts} <= {(0.0,)}


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=names)
def test_int32_prompts_are_read(algorithm) -> None:
    algorithm(MODEL, PROMPTS.int(), 2)


@pytest.mark.parametrize(
    ("algorithm", "options", "name"),
    [
        (decoding.beam_search, {"length_penalty": 1e9}, "length_penalty"),
        (decoding.beam_search, {"num_hypotheses": 5, "beam_size": 4}, "num_hypotheses"),
        (decoding.exhaustive_search, {"limit": 10}, "limit"),
        (decoding.diverse_beam_search, {"groups": 3}, "groups"),
    ],
)
def test_bad_options(algorithm, options: dict, name: str) -> None:
    with pytest.raises((ValueError, TypeError), match=name):
        algorithm(MODEL, PROMPTS, 2, **options)


def test_exhaustive_search_refuses_what_would_never_end() -> None:
    with pytest.raises(ValueError, match="7 \\*\\* 1000"):
        decoding.exhaustive_search(MODEL, PROMPTS, 1000)
