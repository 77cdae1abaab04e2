"""Beam search over a table, with the places left open in which a search can go wrong."""

from collections.abc import Callable
from operator import itemgetter

from torch import Tensor

Hypothesis = tuple[list[int], float]
Score = Callable[[Hypothesis], float]
Choice = Callable[[list[Hypothesis], int], Hypothesis]

log_prob: Score = itemgetter(1)


def the_best(held: list[Hypothesis], eos: int) -> Hypothesis:
    return max(held, key=log_prob)


def has_ended(hypothesis: Hypothesis, eos: int) -> bool:
    return hypothesis[0][-1:] == [eos]


def extensions(
    table: Tensor,
    start: int,
    eos: int,
    held: list[Hypothesis],
    add: Callable[[float, float], float] = lambda score, new: score + new,
) -> list[Hypothesis]:
    """Every open hypothesis with every word."""
    found: list[Hypothesis] = []
    for tokens, score in held:
        if not has_ended((tokens, score), eos):
            row = table[tokens[-1] if tokens else start].tolist()
            found += [([*tokens, word], add(score, new)) for word, new in enumerate(row)]
    return found


def search(
    table: Tensor,
    start: int,
    eos: int,
    beam: int,
    longest: int,
    *,
    add: Callable[[float, float], float] = lambda score, new: score + new,
    rank: Score = log_prob,
    choose: Choice = the_best,
    until: Callable[[list[bool]], bool] = all,
) -> Hypothesis:
    """What has ended keeps its place among the `beam` best, and may lose it. `until` is told of each whether it has."""
    held: list[Hypothesis] = [([], 0.0)]
    for _ in range(longest):
        ended = [hypothesis for hypothesis in held if has_ended(hypothesis, eos)]
        held = sorted([*ended, *extensions(table, start, eos, held, add)], key=rank, reverse=True)[:beam]
        if until([has_ended(hypothesis, eos) for hypothesis in held]):
            break
    return choose(held, eos)
