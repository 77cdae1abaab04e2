"""Which word of one text answers which word of another, when both are versions of one text.

`difflib.SequenceMatcher` (Ratcliff & Obershelp 1988) finds longest common runs, but takes quadratic time; a play
has 25,000 words. So the texts are first pinned together where three words stand that occur just once in each
(the idea of Bram Cohen's patience diff), taking the longest chain of such places that runs forward in both; and
`difflib` aligns what is left between the pins, a few words at a time.
"""

from bisect import bisect_left
from collections.abc import Hashable, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

_RUN = 3


class Alignment(NamedTuple):
    """`matches[i] = j`: word i answers word j, rising in both; `replaced`: spans (i, i_end, j, j_end) that differ."""

    matches: dict[int, int]
    replaced: list[tuple[int, int, int, int]]


def align(a: Sequence[Hashable], b: Sequence[Hashable]) -> Alignment:
    """Align two sequences of words (or of keys that stand for words)."""
    matches = {i + k: j + k for i, j in _pins(a, b) for k in range(_RUN)}
    replaced = []
    before_i, before_j = 0, 0
    for i, j in [*sorted(matches.items()), (len(a), len(b))]:
        if i > before_i and j > before_j:
            between = SequenceMatcher(None, a[before_i:i], b[before_j:j], autojunk=False)
            for kind, i_start, i_end, j_start, j_end in between.get_opcodes():
                if kind == "equal":
                    for k in range(i_end - i_start):
                        matches[before_i + i_start + k] = before_j + j_start + k
                elif kind == "replace":
                    replaced.append((before_i + i_start, before_i + i_end, before_j + j_start, before_j + j_end))
        before_i, before_j = i + 1, j + 1
    return Alignment(matches, replaced)


def _pins(a: Sequence[Hashable], b: Sequence[Hashable]) -> list[tuple[int, int]]:
    """Places (i, j) of runs that occur once in a and once in b: the longest chain that rises in both.

    Overlapping runs must agree on the words they share, so that each word is matched once.
    """
    in_a, in_b = _runs_seen_once(a), _runs_seen_once(b)
    places = [(i, in_b[run]) for run, i in in_a.items() if run in in_b]  # rising in i
    tails: list[int] = []  # tails[n]: the place at which the best chain of n + 1 places ends
    ends: list[int] = []  # ends[n]: its j
    back = [-1] * len(places)
    for n, (_, j) in enumerate(places):
        length = bisect_left(ends, j)
        back[n] = tails[length - 1] if length else -1
        tails[length : length + 1] = [n]
        ends[length : length + 1] = [j]
    chain = []
    n = tails[-1] if tails else -1
    while n >= 0:
        chain.append(places[n])
        n = back[n]
    pins: list[tuple[int, int]] = []
    for i, j in reversed(chain):
        if not pins or i - pins[-1][0] == j - pins[-1][1] or min(i - pins[-1][0], j - pins[-1][1]) >= _RUN:
            pins.append((i, j))
    return pins


def _runs_seen_once(words: Sequence[Hashable]) -> dict[tuple[Hashable, ...], int]:
    """Each run of words that occurs exactly once, and where."""
    where: dict[tuple[Hashable, ...], int] = {}
    again = set()
    for i, run in enumerate(zip(*(words[k:] for k in range(_RUN)), strict=False)):
        if run in where:
            again.add(run)
        where[run] = i
    return {run: i for run, i in where.items() if run not in again}
