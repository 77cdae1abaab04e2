import inspect
import math
from functools import partial
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from nlmcore.checks import Amount, Positive, Probability, Size, checked
from nlmcore.decoding import (
    FILTERS,
    divide_by_temperature,
    keep_min_p,
    keep_top_k,
    keep_top_p,
    keep_typical,
    minimum_bayes_risk,
    reshape,
    sample,
    speculative_sample,
    stream,
)
from nlmcore.decoding.filters import highest, sample_index
from tests.nlmcore.decoding.models import PROMPTS, Markov

# By hand: 0.4, 0.3, 0.2, 0.1, out of order so that sorting must be undone.
P = torch.tensor([[0.2, 0.4, 0.1, 0.3]])
LOG_P = P.log()


def kept(logits: torch.Tensor) -> list[int]:
    return (logits[0] > -math.inf).nonzero()[:, 0].tolist()


@pytest.mark.parametrize(
    ("k", "expected"), [(1, [1]), (2, [1, 3]), (3, [0, 1, 3]), (4, [0, 1, 2, 3]), (9, [0, 1, 2, 3])]
)
def test_top_k_by_hand(k: int, expected: list[int]) -> None:
    assert kept(keep_top_k(LOG_P, k)) == expected


@pytest.mark.parametrize(
    ("p", "expected"),
    [
        (0.0, [1]),
        (0.39, [1]),
        (0.4, [1]),
        (0.41, [1, 3]),
        (0.7, [1, 3]),
        (0.9, [0, 1, 3]),
        (0.91, [0, 1, 2, 3]),
        (1, [0, 1, 2, 3]),
    ],
)
def test_top_p_by_hand(p: float, expected: list[int]) -> None:
    assert kept(keep_top_p(LOG_P, p)) == expected


@pytest.mark.parametrize(
    ("p", "expected"),
    [(0, [0, 1, 2, 3]), (0.25, [0, 1, 2, 3]), (0.3, [0, 1, 3]), (0.5, [0, 1, 3]), (0.6, [1, 3]), (1, [1])],
)
def test_min_p_by_hand(p: float, expected: list[int]) -> None:
    assert kept(keep_min_p(LOG_P, p)) == expected


def test_typical_by_hand() -> None:
    # H = 1.280 nats; surprises and gaps to H: 0.916 (0.364), 1.204 (0.076), 1.609 (0.330), 2.303 (1.023).
    # In order of typicality: 0.3, 0.2, 0.4, 0.1. The most probable token comes third.
    assert kept(keep_typical(LOG_P, 0.3)) == [3]
    assert kept(keep_typical(LOG_P, 0.31)) == [0, 3]
    assert kept(keep_typical(LOG_P, 0.5)) == [0, 3]
    assert kept(keep_typical(LOG_P, 0.51)) == [0, 1, 3]
    assert kept(keep_typical(LOG_P, 1.0)) == [0, 1, 2, 3]


def test_temperature_by_hand() -> None:
    # T = 1/2 squares the probabilities: 0.04, 0.16, 0.01, 0.09 over 0.30.
    cold = divide_by_temperature(LOG_P, 0.5).softmax(-1)
    assert torch.allclose(cold, torch.tensor([[4 / 30, 16 / 30, 1 / 30, 9 / 30]]))
    assert kept(divide_by_temperature(LOG_P, 0)) == [1]
    assert divide_by_temperature(LOG_P, 1e-30).softmax(-1).tolist() == [[0.0, 1.0, 0.0, 0.0]]


def test_filters_come_in_the_contracts_order() -> None:
    # T = 1/2: 16, 9, 4, 1 thirtieths. top_k=3 leaves 16, 9, 4 of 29: top_p=0.87 needs all three (25/29 = 0.862 < 0.87),
    # where before top_k (25/30) it also would, but min_p=0.3 on what is left drops 4/16 and keeps 9/16.
    got = reshape(LOG_P, temperature=0.5, top_k=3, top_p=0.87, min_p=0.3).exp()
    assert torch.allclose(got, torch.tensor([[0.0, 16 / 25, 0.0, 9 / 25]]))
    # top_p sees what top_k left, renormalised: 0.4 / 0.7 = 0.571 >= 0.55 leaves one token; alone it would leave two.
    assert kept(reshape(LOG_P, top_k=2, top_p=0.55)) == [1]
    assert kept(reshape(LOG_P, top_p=0.55)) == [1, 3]


def test_ties_go_to_the_lower_id() -> None:
    equal = torch.zeros(1, 5)
    assert kept(keep_top_k(equal, 2)) == [0, 1]
    assert kept(keep_top_p(equal, 0.4)) == [0, 1]
    assert kept(keep_typical(equal, 0.4)) == [0, 1]


def test_impossible_tokens_stay_impossible() -> None:
    logits = torch.tensor([[-math.inf, 0.0, 1.0, -math.inf, 0.5]])
    for options in ({"top_k": 4}, {"top_p": 0.99}, {"min_p": 0.01}, {"typical_p": 0.99}, {"temperature": 3.0}, {}):
        got = reshape(logits, **options)
        assert not got.isnan().any()
        assert kept(got) == [1, 2, 4]


def test_leading_dimensions_are_kept() -> None:
    logits = torch.randn(2, 3, 7, generator=torch.Generator().manual_seed(0))
    got = reshape(logits, top_p=0.7)
    assert got.shape == logits.shape
    assert torch.equal(got[1, 2], reshape(logits[1, 2], top_p=0.7))


def test_a_large_vocabulary_is_not_sorted_and_yet_the_nucleus_is_exact() -> None:
    """Rows from very sharp to flat: some nuclei fit into the first look, some need the whole vocabulary."""
    logits = torch.randn(5, 6_000, generator=torch.Generator().manual_seed(0)) * torch.tensor(
        [[9.0], [3.0], [2.0], [0.5], [0.0]]
    )
    probabilities = logits.double().softmax(-1)
    for p in (0.1, 0.9, 0.999):
        kept = keep_top_p(logits, p) > -math.inf
        mass = (probabilities * kept).sum(1)
        least = probabilities.masked_fill(~kept, 2.0).amin(1)
        most_left = probabilities.masked_fill(kept, 0.0).amax(1)
        assert (mass >= p - 1e-5).all()
        assert (mass - least < p).all()  # one fewer would not do
        assert (most_left <= least).all()
    assert kept[0].sum() < 256 < 4096 < kept[4].sum()
    assert kept[4].nonzero()[:, 0].tolist() == list(range(int(kept[4].sum())))


@pytest.mark.parametrize("temperature", [1e-30, 1e-38, 1e-46, 5e-324])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16])
def test_however_small_a_temperature_is_only_the_highest_stay(temperature: float, dtype: torch.dtype) -> None:
    """1e-46 is 0 in single precision, and 0 / 0 is no number. Equal maxima stay equally probable: the limit T -> 0."""
    logits = torch.tensor([[2.0, 3.0, -math.inf, 2.99], [3.0, 1.0, 3.0, -math.inf]], dtype=dtype)
    got = divide_by_temperature(logits, temperature).softmax(-1)
    assert got.tolist() == [[0, 1, 0, 0], [0.5, 0, 0.5, 0]]


def test_however_large_a_temperature_is_what_is_impossible_stays_impossible() -> None:
    logits = torch.tensor([[2.0, 3.0, -math.inf, 2.99]])
    for temperature in (1e38, 1e39, 1e300):
        assert torch.allclose(reshape(logits, temperature=temperature).exp(), torch.tensor([[1, 1, 0, 1]]) / 3)


EXAMPLES = {Size: (1, 3), Probability: (0.0, 0.02, 0.3, 0.9), Amount: (0.0, 0.5, 2.0), Positive: (0.1, 2.0)}


@pytest.mark.parametrize("name", FILTERS)
def test_laws_of_every_row_of_the_table(name: str) -> None:
    """Something is kept, in its old proportions; what was impossible stays so; a row does not depend on the others."""
    allowed = list(inspect.signature(FILTERS[name]).parameters.values())[1].annotation
    logits = torch.randn(5, 11, generator=torch.Generator().manual_seed(2)) * 2
    logits[:, 3] = logits[2, 5:] = -math.inf
    logits[4] = 0.0
    before = logits.clone()
    for value in EXAMPLES[allowed]:
        got = FILTERS[name](logits, value)
        assert torch.equal(logits, before)
        assert got.shape == logits.shape
        assert not got.isnan().any()
        left = got > -math.inf
        assert left.any(dim=1).all()
        assert not (left & (logits == -math.inf)).any()
        assert torch.equal(torch.cat([FILTERS[name](row[None], value) for row in logits]), got)
        if name != "temperature":
            assert torch.equal(got[left], logits[left])


@checked
def keep_likely(logits: torch.Tensor, epsilon: Probability) -> torch.Tensor:
    """Epsilon sampling, as a new filter would be written (Hewitt, Manning & Liang 2022)."""
    log_probs = logits.log_softmax(-1)
    keep = (log_probs >= math.log(epsilon)) | (log_probs == log_probs.amax(-1, keepdim=True))
    return logits.masked_fill(~keep, -math.inf)


def test_a_filter_of_ones_own_is_taken_by_everything_that_samples() -> None:
    model = Markov(7)
    algorithms = [
        lambda **o: sample(model, PROMPTS, 4, **o).tokens,
        lambda **o: speculative_sample(model, PROMPTS, 4, draft=Markov(7, seed=4), **o).tokens,
        lambda **o: torch.stack([step.tokens for step in stream(model, PROMPTS, 4, **o)], 1),
        lambda **o: torch.tensor([h[0].tokens for h in minimum_bayes_risk(model, PROMPTS, 4, **o)]),
    ]
    expected = sample(model, PROMPTS, 4, temperature=0).tokens
    for algorithm in algorithms:
        assert torch.equal(algorithm(filters=[partial(keep_likely, epsilon=0.99)]), expected)  # none else is so likely
        with pytest.raises(TypeError, match="top_kk"):
            algorithm(top_kk=3)
        with pytest.raises(ValueError, match=r"min_p must lie in \[0, 1\], got 1.5"):
            algorithm(min_p=1.5)
        with pytest.raises(TypeError, match="temperature must be a number, got NoneType None"):
            algorithm(temperature=None)


def test_a_filter_of_ones_own_applies_last_and_is_in_the_trace() -> None:
    lonely = reshape(torch.zeros(4), top_k=2, filters=[lambda logits: logits.masked_fill(logits > -math.inf, 0.0)])
    assert lonely.exp().tolist() == pytest.approx([0.5, 0.5, 0.0, 0.0])
    _, tree = sample(Markov(7), PROMPTS[:1], 1, filters=[partial(keep_likely, epsilon=0.99)], trace=True)
    assert sorted(node.score for node in tree.nodes[1:])[-1] == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("function", [sample, stream, speculative_sample, minimum_bayes_risk, reshape])
def test_the_filters_are_in_the_signature(function) -> None:
    parameters = inspect.signature(function).parameters
    assert {name: parameters[name].default for name in FILTERS} == dict.fromkeys(FILTERS) | {"temperature": 1.0}


def test_drawing_inverts_the_cumulative_sum_and_never_gives_what_has_no_weight() -> None:
    weights = torch.rand(50, 7, generator=torch.Generator().manual_seed(1))
    weights[:, ::3] = 0.0
    u = torch.rand(50, 1, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    drawn = sample_index(weights, torch.Generator().manual_seed(2))
    for row in range(50):
        total = math.fsum(weights[row].tolist())
        word, mass = 0, weights[row, 0].item()
        while mass <= u[row].item() * total:
            word += 1
            mass += weights[row, word].item()
        assert int(drawn[row]) == word


@settings(deadline=None, max_examples=60)
@given(st.lists(st.integers(0, 3), min_size=1, max_size=12), st.integers(1, 14))
def test_the_k_highest_with_ties_to_the_lower_index(values: list[int], k: int) -> None:
    expected = sorted(range(len(values)), key=lambda i: (-values[i], i))[:k]
    assert highest(torch.tensor([values, values]).float(), k).tolist() == [expected, expected]


@pytest.mark.parametrize(
    ("filters", "words"),
    [
        (torch.neg, "got .*; one filter is given as"),
        ("ab", "got str 'ab'"),
        ([torch.neg, 3], "got int 3 among them"),
    ],
)
def test_what_is_no_list_of_filters_is_named(plain_errors: None, filters: Any, words: str) -> None:
    with pytest.raises(TypeError, match=f"filters must be a list or tuple of functions of logits, {words}"):
        reshape(torch.zeros(2, 9), filters=filters)
