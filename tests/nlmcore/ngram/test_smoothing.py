"""Every smoothing against its loop in `oracles`, and the law that all of them obey: probabilities sum to 1."""

import itertools
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nlmcore.ngram import SMOOTHINGS, NGramLM
from nlmcore.ngram.smoothing import leave_one_out_discount
from tests.nlmcore.ngram import oracles
from tests.nlmcore.ngram.oracles import Text

V = 5


def texts(seed: int) -> list[list[list[int]]]:
    """One stream; many short sequences; sequences that all begin with 0; none of them uses word 4."""
    rng = random.Random(seed)
    words = [rng.choices(range(4), weights=[4, 3, 2, 1])[0] for _ in range(60)]
    short = [[rng.randrange(4) for _ in range(rng.randrange(1, 6))] for _ in range(12)]
    return [[words], short, [[0, *(rng.randrange(1, 4) for _ in range(rng.randrange(1, 5)))] for _ in range(12)]]


def contexts(order: int) -> list[tuple[int, ...]]:
    return [h for n in range(order) for h in itertools.product(range(V), repeat=n)]


def assert_agrees(model: NGramLM, oracle, what: str) -> None:
    for h in contexts(model.order):
        expected = np.array([oracle(w, h) for w in range(V)])
        actual = model.distribution(h).numpy()
        np.testing.assert_allclose(actual, expected, atol=1e-12, err_msg=f"{what}: P(. | {h})")
        assert model.probability(2, h) == pytest.approx(expected[2], abs=1e-12), (what, h)


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("which", [0, 1, 2])
def test_agrees_with_the_loops(order: int, which: int) -> None:
    sequences = texts(order)[which]
    text = Text(sequences, order, V)
    assert_agrees(NGramLM(order, V, "mle").fit(sequences), lambda w, h: oracles.mle(text, w, h), "mle")
    additive = NGramLM(order, V, "additive", pseudocount=0.3).fit(sequences)
    assert_agrees(additive, lambda w, h: oracles.lidstone(text, w, h, 0.3), "additive")
    weights = [0.1, 0.2, 0.3, 0.4][: order + 1]
    weights = [weight / sum(weights) for weight in weights]
    mixed = NGramLM(order, V, "interpolation", weights=weights).fit(sequences)
    assert_agrees(mixed, lambda w, h: oracles.interpolation(text, w, h, weights), "interpolation")
    for base in ("uniform", "unigram"):
        model = NGramLM(order, V, "witten_bell", base=base).fit(sequences)
        assert_agrees(model, lambda w, h, b=base: oracles.witten_bell(text, w, h, b), f"witten_bell {base}")
        model = NGramLM(order, V, "stupid_backoff", factor=0.3, base=base).fit(sequences)
        assert_agrees(model, lambda w, h, b=base: oracles.stupid_backoff(text, w, h, b, 0.3), f"stupid {base}")
        for name in ("absolute_discounting", "kneser_ney"):
            loop = getattr(oracles, name)
            model = NGramLM(order, V, name, discount=0.6, base=base).fit(sequences)
            assert_agrees(model, lambda w, h, b=base, f=loop: f(text, w, h, b, 0.6), f"{name} {base}")


@pytest.mark.parametrize("base", ["uniform", "unigram"])
def test_katz_agrees_with_the_loop(base: str) -> None:
    order, (sequences, *_) = 3, texts(3)
    text = Text(sequences, order, V)

    def discount(c: int, n: int) -> float:
        counts = [count for g, count in text.c.items() if len(g) == n]
        N = [counts.count(r) for r in range(8)]
        for k in (5, 4, 3, 2, 1):
            if 0 in N[1 : k + 2] or (k + 1) * N[k + 1] == N[1]:
                continue
            cut = (k + 1) * N[k + 1] / N[1]
            d = [((r + 1) * N[r + 1] / N[r] / r - cut) / (1 - cut) for r in range(1, k + 1)]
            if all(0 < x < 1 for x in d):
                return d[c - 1] if c <= k else 1.0
        D = N[1] / (N[1] + 2 * N[2]) if N[1] and N[2] else 0.75
        return (c - D) / c

    model = NGramLM(order, V, "katz_backoff", base=base).fit(sequences)
    assert_agrees(model, lambda w, h: oracles.katz(text, w, h, base, discount), "katz")


def test_katz_uses_turing_s_estimate_on_a_text_that_supports_it() -> None:
    """Counts of counts 100, 40, 20, 12, 8, 5: r* by hand, k = 5."""
    from nlmcore.ngram.backoff import good_turing_ratios

    n = {1: 100, 2: 40, 3: 20, 4: 12, 5: 8, 6: 5}
    counts = np.array([r for r, times in n.items() for _ in range(times)] + [9])
    cut = 6 * 5 / 100
    d = good_turing_ratios(counts.astype(float))
    assert d[0] == pytest.approx((2 * 40 / 100 - cut) / (1 - cut))
    assert d[150] == pytest.approx((4 * 12 / 20 / 3 - cut) / (1 - cut))
    assert d[-1] == d[-2] == 1.0
    assert (counts * d).sum() == pytest.approx(counts.sum() - 100)  # Turing: n₁ / N is kept for the unseen


@given(
    smoothing=st.sampled_from(list(SMOOTHINGS)),
    base=st.sampled_from(["uniform", "unigram"]),
    order=st.integers(1, 7),
    sequences=st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=12), min_size=1, max_size=4),
    context=st.lists(st.integers(0, 4), max_size=8),
)
@settings(max_examples=400, deadline=None)
def test_every_distribution_sums_to_one(smoothing, base, order, sequences, context) -> None:
    model = NGramLM(order, V, smoothing, base=base).fit(sequences)
    p = model.distribution(context)
    assert abs(p.sum().item() - 1) < 1e-9
    assert (p >= 0).all()
    for w in range(V):
        assert model.probability(w, context) == pytest.approx(p[w].item(), abs=1e-12)


@given(
    smoothing=st.sampled_from([s for s in SMOOTHINGS if s not in ("mle", "stupid_backoff")]),
    order=st.integers(1, 5),
    tokens=st.lists(st.integers(0, 2), min_size=2, max_size=30),
    context=st.lists(st.integers(0, 4), max_size=4),
)
@settings(max_examples=150, deadline=None)
def test_a_smoothed_model_gives_every_word_a_chance(smoothing, order, tokens, context) -> None:
    """The point of smoothing, with the uniform base: also for words and contexts never seen."""
    assert (NGramLM(order, V, smoothing).fit(tokens).distribution(context) > 0).all()


def test_default_discount() -> None:
    assert leave_one_out_discount(np.array([1, 1, 1, 2, 5])) == 3 / 5
    assert leave_one_out_discount(np.array([2, 5])) == 0.75
