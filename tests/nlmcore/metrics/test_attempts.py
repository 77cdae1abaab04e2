"""pass@k against all sets of k attempts, the vote, and errors."""

from itertools import combinations

import pytest

from nlmcore.metrics.attempts import majority, pass_at_k


@pytest.mark.parametrize("n", [1, 2, 5, 7])
def test_pass_at_k_is_the_share_of_the_sets_that_hold_a_right_attempt(n: int) -> None:
    for right in range(n + 1):
        attempts = [True] * right + [False] * (n - right)
        for k in range(1, n + 1):
            sets = list(combinations(attempts, k))
            assert pass_at_k(n, right, k) == pytest.approx(sum(map(any, sets)) / len(sets))


def test_large_counts_do_not_overflow() -> None:
    assert pass_at_k(10_000, 1, 100) == pytest.approx(0.01)


@pytest.mark.parametrize(("right", "k"), [(5, 1), (1, 5)])
def test_more_than_all_is_refused(right: int, k: int) -> None:
    with pytest.raises(ValueError, match="at most n = 4"):
        pass_at_k(4, right, k)


def test_the_vote_and_its_ties() -> None:
    assert majority(["8", "7", "8"]) == "8"
    assert majority(["7", "8", "8", "7"]) == "7"
