"""Every algorithm refuses the same nonsense, and says which argument it is."""

from functools import partial

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


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=names)
def test_int32_prompts_are_read(algorithm) -> None:
    algorithm(MODEL, PROMPTS.int(), 2)


@pytest.mark.parametrize(
    ("algorithm", "options", "name"),
    [
        (decoding.beam_search, {"beam_size": 0}, "beam_size"),
        (decoding.beam_search, {"beam_size": 2.0}, "beam_size"),
        (decoding.beam_search, {"length_penalty": float("nan")}, "length_penalty"),
        (decoding.beam_search, {"length_penalty": 1e9}, "length_penalty"),
        (decoding.beam_search, {"num_hypotheses": 5, "beam_size": 4}, "num_hypotheses"),
        (decoding.exhaustive_search, {"limit": 10}, "limit"),
        (decoding.diverse_beam_search, {"groups": 3}, "groups"),
        (decoding.diverse_beam_search, {"groups": 0}, "groups"),
        (decoding.diverse_beam_search, {"diversity": -0.5}, "diversity"),
        (decoding.stochastic_beam_search, {"beam_size": 0}, "beam_size"),
        (decoding.minimum_bayes_risk, {"num_samples": 0}, "num_samples"),
        (decoding.minimum_bayes_risk, {"utility": "bleu"}, "utility"),
        (decoding.contrastive_search, {"alpha": 1.5}, "alpha"),
        (decoding.contrastive_search, {"k": 0}, "k"),
        (decoding.contrastive_search, {"hidden": 3}, "hidden"),
        (decoding.sample, {"num_samples": 0}, "num_samples"),
        (decoding.sample, {"top_p": 1.1}, "top_p"),
        (ALGORITHMS[-1], {"lookahead": 0}, "lookahead"),
        (ALGORITHMS[-1], {"temperature": -1}, "temperature"),
    ],
)
def test_bad_options(algorithm, options: dict, name: str) -> None:
    with pytest.raises((ValueError, TypeError), match=name):
        algorithm(MODEL, PROMPTS, 2, **options)


def test_exhaustive_search_refuses_what_would_never_end() -> None:
    with pytest.raises(ValueError, match="7 \\*\\* 1000"):
        decoding.exhaustive_search(MODEL, PROMPTS, 1000)


def test_lists_are_told_what_to_do() -> None:
    with pytest.raises(TypeError, match="prompt"):
        decoding.greedy(MODEL, [[1], [2, 3]], 1)
