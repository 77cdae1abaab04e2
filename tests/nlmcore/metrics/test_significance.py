"""Tests of means against tables and by hand; corrections for their number; correlations of ranks."""

import itertools

import pytest

from nlmcore.metrics.significance import (
    Sample,
    against,
    critical,
    difference,
    holm,
    mcnemar,
    paired,
    rank_correlation,
    ranks,
    summary,
    two_sided,
    welch,
)

SCIPYS = {  # scipy.stats.t: 2 sf(0.3), 2 sf(1.96), 2 sf(9), isf(0.025), isf(0.0005)
    1: (0.8144528418, 0.3003428918, 0.07044657495, 12.70620474, 636.6192488),
    1.7: (0.7968029184, 0.2110096214, 0.01966675224, 5.118838988, 52.29470759),
    2: (0.7924856608, 0.1890573096, 0.01212166009, 4.30265273, 31.59905458),
    30: (0.7662461053, 0.0593423129, 5.014831916e-10, 2.042272456, 3.645958635),
    999: (0.7642395666, 0.05027346273, 1.114596876e-18, 1.962341461, 3.30029244),
    1_001: (0.7642394419, 0.05027290773, 1.111224318e-18, 1.962336705, 3.300272876),
    1e5: (0.7641777792, 0.04999856319, 2.295409005e-19, 1.959987708, 3.290624031),
    1e9: (0.7641771557, 0.04999579057, 2.257180605e-19, 1.959963987, 3.290526741),
    1e15: (0.7641771556, 0.0499957903, 2.257176812e-19, 1.959963985, 3.290526731),
}


@pytest.mark.parametrize("freedom", SCIPYS)
def test_students_t_is_scipys(freedom: float) -> None:
    found = [*(two_sided(t, freedom) for t in (0.3, 1.96, 9.0)), *(critical(freedom, p) for p in (0.05, 0.001))]
    assert found == pytest.approx(SCIPYS[freedom], rel=1e-7, abs=0)


def test_the_interval_holds_what_the_test_does_not_reject() -> None:
    x, y = Sample(2.167, 0.008, 5), Sample(2.182, 0.005, 5)
    apart, half = difference(x, y)
    assert apart == pytest.approx(-0.015)
    assert welch(x._replace(mean=y.mean + half), y) == pytest.approx(0.05, abs=1e-6)


def test_welch_by_hand() -> None:
    # With one freedom, Student's T is Cauchy's: P(|T| > t) = 1 − 2 atan(t) / π. So many degrees have two pairs, of
    # which one has no spread: x = 0, 2 and y = 5, 5, with t = 4 / 1.
    assert welch(summary([0.0, 2.0]), Sample(5.0, 0.0, 2)) == pytest.approx(0.15595826, abs=1e-6)
    assert welch(summary([3.0, 3.0]), summary([3.0, 3.0])) == 1.0


def test_holm_by_hand() -> None:
    assert holm({"a": 0.04, "b": 0.01, "c": 0.03}) == pytest.approx({"a": 0.06, "b": 0.03, "c": 0.06})
    assert holm({"a": 0.9, "b": 0.8}) == {"a": 1.0, "b": 1.0}


def test_more_rows_make_a_difference_less_certain() -> None:
    baseline, better = summary([2.0, 2.1, 1.9]), summary([1.0, 1.1, 0.9])
    alone = against(baseline, {"a": better})["a"]
    among = against(baseline, {"a": better, "b": summary([2.0, 2.2, 1.8]), "c": summary([2.1, 1.9, 2.0])})
    assert alone.difference == among["a"].difference == -1.0
    assert among["a"].corrected == pytest.approx(3 * alone.corrected, rel=0.02)
    assert among["b"].corrected == among["c"].corrected == 1.0


def test_ranks_and_their_correlation() -> None:
    assert ranks([3.0, 1.0, 3.0, 2.0]).tolist() == [3.5, 1.0, 3.5, 2.0]
    found = rank_correlation([(i, i**3) for i in range(20)])
    assert (found["rho"], found["low"], found["high"]) == (1.0, 1.0, 1.0)


def test_two_paired_rows_are_a_paired_t_test() -> None:
    # Differences 0.1, 0.2, 0.3: mean 0.2, deviation 0.1, two degrees of freedom.
    found, layout = paired([2.0, 2.2, 2.3], {"a": [2.1, 2.4, 2.6]})
    assert found["a"].difference == pytest.approx(0.2)
    assert found["a"].half == pytest.approx(4.30265 * 0.1 / 3**0.5, rel=1e-4)
    assert found["a"].p == pytest.approx(two_sided(0.2 / (0.1 / 3**0.5), 2))
    assert layout.sd == pytest.approx(0.1 / 2**0.5)
    assert (layout.freedom, layout.seeds, layout.apart) == (2, 3, ())


def test_rows_share_one_deviation_except_those_that_spread_more() -> None:
    base = [1.0, 1.1, 1.3]
    rows = {"a": [1.2, 1.31, 1.49], "b": [0.9, 0.98, 1.21], "wild": [1.0, 2.0, 0.5]}
    found, layout = paired(base, rows)
    assert layout.apart == ("wild",)
    calm, same = paired(base, {name: rows[name] for name in "ab"})
    assert same == layout._replace(apart=())
    assert [found[name][:3] for name in "ab"] == [calm[name][:3] for name in "ab"]
    alone, _ = paired(base, {"wild": rows["wild"]})
    assert found["wild"].p == pytest.approx(alone["wild"].p)
    assert found["a"].half == pytest.approx(found["b"].half)
    assert layout.detectable(2) > critical(layout.freedom, 0.025) * layout.sd * (2 / 3) ** 0.5


def test_a_pair_needs_the_same_seeds() -> None:
    with pytest.raises(ValueError, match=r"it has 2, they \{'a': 3\}"):
        paired([1.0, 2.0], {"a": [1.0, 2.0, 3.0]})


def test_mcnemar_counts_what_only_one_gets_right() -> None:
    for first, second in (
        ([1, 1, 1, 0, 0, 1], [0, 0, 1, 1, 0, 0]),
        ([1] * 8 + [0] * 5, [0] * 8 + [1] + [0] * 4),
        ([1, 0], [1, 0]),
    ):
        apart = [a - b for a, b in zip(first, second, strict=True) if a != b]
        signs = list(itertools.product((1, -1), repeat=len(apart)))
        as_far = sum(abs(sum(s)) >= abs(sum(apart)) for s in signs)
        assert mcnemar(first, second) == pytest.approx(as_far / len(signs))
        assert mcnemar(second, first) == mcnemar(first, second)
    with pytest.raises(ValueError, match="same questions, got 1 and 2"):
        mcnemar([1], [1, 0])
