"""Several attempts at one question: is one of k right, and what do most of them say?

    pass@k = E [1 − C(n − c, k) / C(n, k)]        c of n ≥ k attempts are right; no bias
    vote   = the answer that occurs most often

1 − (1 − c/n)^k, which looks alike, draws with replacement and is too small. Source: Chen et al. (2021), "Evaluating
large language models trained on code", section 2.1, equation 1; Wang et al. (2023), "Self-consistency", section 2, for
the vote. Departs from the papers: nothing.
"""

from collections import Counter
from collections.abc import Sequence
from math import comb

from nlmcore.checks import Count, Size, checked


@checked
def pass_at_k(n: Size, right: Count, k: Size) -> float:
    """The probability that k of n attempts, chosen at random without replacement, contain one of the right ones.

    Raises ValueError if more than n are chosen or right.
    """
    if max(right, k) > n:
        raise ValueError(f"right and k must be at most n = {n}, got {right} and {k}")
    return 1 - comb(n - right, k) / comb(n, k)


def majority(answers: Sequence[str]) -> str:
    """The most frequent answer; of equally frequent ones the first that was given."""
    return Counter(answers).most_common(1)[0][0]
