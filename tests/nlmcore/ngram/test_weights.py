"""Interpolation weights: the likelihood never falls, and the known mixture is found again."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nlmcore.ngram import NGramLM
from nlmcore.ngram.counts import count_ngrams
from nlmcore.ngram.weights import em_step, fit_weights, held_out_components, leave_one_out_components

V = 5


def log_likelihood(weights, components, reach, times) -> float:
    usable = np.arange(components.shape[1]) <= reach[:, None]
    mixed = (weights * components * usable).sum(1) / (weights * usable).sum(1)
    return float(times @ np.log(mixed))


@given(seed=st.integers(0, 10_000))
@settings(deadline=None, max_examples=50)
def test_no_step_lowers_the_likelihood(seed: int) -> None:
    rng = np.random.default_rng(seed)
    reach = rng.integers(1, 4, 40)
    components = rng.random((40, 4)) * (np.arange(4) <= reach[:, None])
    times = rng.integers(1, 5, 40).astype(float)
    weights = rng.dirichlet(np.ones(4))
    by_reach = np.bincount(reach, weights=times, minlength=4)
    before = log_likelihood(weights, components, reach, times)
    for _ in range(5):
        weights = em_step(weights, components, times, by_reach)
        assert weights.sum() == pytest.approx(1)
        after = log_likelihood(weights, components, reach, times)
        assert after >= before - 1e-9
        before = after


def test_fitted_weights_are_a_maximum() -> None:
    """No nearby weights explain the held-out text better."""
    rng = np.random.default_rng(0)
    train, held_out = rng.integers(0, V, 60), rng.integers(0, V, 40)
    levels = count_ngrams(train, np.array([60]), 3, V)
    events = held_out_components(levels, held_out, np.array([25, 15]))
    weights = fit_weights(*events, uniform=True, steps=5000, tolerance=1e-12)
    best = log_likelihood(weights, *events)
    for _ in range(200):
        other = rng.dirichlet(weights * 50 + 0.01)
        assert log_likelihood(other, *events) <= best + 1e-6


def test_leave_one_out_takes_one_occurrence_away() -> None:
    tokens = [0, 1, 0, 1, 2]
    levels = count_ngrams(np.array(tokens), np.array([5]), 2, V)
    components, reach, times = leave_one_out_components(levels)
    row = next(i for i in range(len(levels[1])) if times[i] == 2)  # (0, 1), seen twice
    assert components[row].tolist() == [1 / V, 1 / 4, 1 / 1]
    assert reach[row] == 2
    others = [i for i in range(len(levels[1])) if i != row]  # 1 -> 0 and 1 -> 2, each once
    assert [components[i, 2] for i in others] == [0, 0]


def test_refitting_fits_again_and_given_weights_stay() -> None:
    model = NGramLM(2, V, "interpolation").fit([0, 1, 2, 3] * 5)
    first = model.weights
    assert model.fit([0, 0, 1, 0, 2, 2, 0, 1]).weights != first
    given_weights = NGramLM(2, V, "interpolation", weights=[0.25, 0.75]).fit([0, 1, 2, 3] * 5)
    assert given_weights.weights == (0.0, 0.25, 0.75)


def test_unigram_base_keeps_the_uniform_part_at_zero() -> None:
    model = NGramLM(2, V, "interpolation", base="unigram").fit([0, 1, 2, 0, 1, 2, 0, 1])
    assert model.weights is not None
    assert model.weights[0] == 0
    assert model.probability(4) == 0
