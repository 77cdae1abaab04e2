"""Question 3b: the word that is to b as a* is to a."""

import torch
from torch import Tensor

from autograder.exercise.declare import question, values
from autograder.exercise.draw import Draw
from autograder.exercise.kinds import EQUAL
from autograder.exercise.specification import Case, case
from solutions.vectors.checks.common import CLOSED, unit


def _closest(vectors: Tensor, wanted: Tensor, *excluded: int) -> int:
    similar = unit(vectors) @ wanted
    similar[list(excluded)] = -torch.inf
    return int(similar.argmax())


def _different(draw: Draw, n: int, count: int) -> list[int]:
    return draw.integers(0, 10**9, n).argsort().tolist()[:count]


def _parallel(draw: Draw, label: str, lengths: bool) -> Case:
    """a* − a and b* − b are nearly the same step, and it is small, so b is nearer to the sum than b*, as is usual.

    Words that the usual mistakes find are included; with `lengths`, b* is short and another word's vector is long.
    """
    n, d = draw.largest + 6, 8
    while True:
        special = a, a_star, b, b_star, back, other, swapped = _different(draw, n, 7)
        vectors = draw.normal(n, d)
        step = unit(draw.normal(d)) * 0.8
        vectors[a], vectors[b] = unit(draw.normal(d)) * 2, unit(draw.normal(d)) * 2
        vectors[a_star] = vectors[a] + step
        wanted = vectors[b] + step
        vectors[b_star] = wanted + 0.35 * draw.normal(d)
        vectors[back] = vectors[b] - step + 0.1 * draw.normal(d)
        vectors[other] = vectors[a_star] + vectors[a] + vectors[b] + 0.1 * draw.normal(d)
        vectors[swapped] = vectors[a_star] + vectors[a] - vectors[b] + 0.1 * draw.normal(d)
        if lengths:
            longest = next(i for i in range(n) if i not in special)
            vectors[b_star] *= 0.3
            vectors[longest] = wanted * 3 + 3 * draw.normal(d)
        ahead = min(a, a_star, b) < b_star  # otherwise renumbered ids would not show
        found = int(ANALOGY.reference(vectors, a, a_star, b))
        if ahead and found == b_star and _closest(vectors, wanted) == b:
            return case(label, vectors, a, a_star, b)


def _plain(draw: Draw) -> list[Case]:
    return [_parallel(draw, "an analogy", False), _near(draw), _away(draw)]


def _away(draw: Draw) -> Case:
    """Every other word points away from the sum, more than a does, so the largest cosine that counts is below 0."""
    n = draw.largest + 6
    while True:
        vectors = draw.normal(n, 5)
        a, a_star, b = _different(draw, n, 3)
        wanted = vectors[a_star] - vectors[a] + vectors[b]
        for word in set(range(n)) - {a, a_star, b}:
            vectors[word] *= -torch.sign(vectors[word] @ wanted)
        if _closest(vectors, wanted, a_star, b) == a:
            return case("no other word points that way", vectors, a, a_star, b)


def _near(draw: Draw) -> Case:
    """a and b are similar, so a* is nearer to the sum than b* and has to be left out as well."""
    while True:
        vectors = draw.normal(draw.largest + 6, 8)
        a, a_star, b, b_star = _different(draw, len(vectors), 4)
        step = unit(draw.normal(8)) * 2
        vectors[b] = vectors[a] + 0.4 * unit(draw.normal(8))
        vectors[a_star], vectors[b_star] = vectors[a] + step, vectors[b] + step + 0.35 * draw.normal(8)
        wanted = vectors[a_star] - vectors[a] + vectors[b]
        if _closest(vectors, wanted, a, a_star, b) == b_star and _closest(vectors, wanted, b) == a_star:
            return case("a and b are similar", vectors, a, a_star, b)


def _far(draw: Draw) -> Case:
    """The direction of the original vectors decides: the answer's is long, so another one ends nearer to the sum."""
    while True:
        vectors = draw.normal(draw.largest + 6, 4) * (draw.integers(2, 40, draw.largest + 6, 1) / 10)
        question = (vectors, *_different(draw, len(vectors), 3))
        ways = [ANALOGY.reference, *map(ANALOGY.mistake, ("distance", "unit-vectors-first", "dot-product"))]
        if len({int(way(*question)) for way in ways}) == len(ways):
            return case("vectors of all lengths", *question)


def _lengths(draw: Draw) -> list[Case]:
    return [
        _parallel(draw, "the answer's vector is short, another is long", True),
        _far(draw),
        _far(draw),
        _equal(draw),
    ]


def _equal(draw: Draw) -> Case:
    n = draw.largest + 2
    return case(EQUAL, draw.normal(n, n), *_different(draw, n, 3))


ANALOGY = question(
    "vectors.analogy",
    minutes=15,
    difficulty="medium",
    returns=("word",),
    properties=[values("the right word", 1.75, _plain), values("vectors of several lengths", 1.25, _lengths)],
    closed=CLOSED,
    mistakes="""
questions-not-excluded: Your answer is one of the three given words. The word nearest to the sum is mostly b itself:
leave out a, a* and b. (How often b would win says something about analogies.)
- similar[[a, a_star, b]] = -math.inf →
or
- a, a_star, b] → b]
or
- a, a_star, b] → a, b]
or
- a, a_star, b] → a_star, b]
or
- a, a_star, b] → a, a_star]

ids-shifted: You removed three rows and renumbered the rest: after each of them every id is one too small. Ids
refer to the whole table.
- similar =
+ vectors = vectors[[word for word in range(len(vectors)) if word not in (a, a_star, b)]]
+ similar =
- similar[[a, a_star, b]] = -math.inf →

excluded-as-nought: You gave a, a* and b the cosine 0. If no other word points that way, 0 is the largest: give them −∞,
which always ranks last.
- -math.inf → 0

step-backwards: You took the step from a* to a. From b, take the step that leads from a *to* a*: e(a*) − e(a) + e(b).
- vectors[a_star] - vectors[a] → vectors[a] - vectors[a_star]

sum-of-all: You added all three. Subtract e(a): that leaves what a* has and a does not.
- - vectors[a] → + vectors[a]

dot-product: You compared plain dot products, and a long vector won. Divide by the length of each word's vector: the
cosine.
-  / vectors.norm(dim=1, keepdim=True) →

b-taken-away: You added e(a) and subtracted e(b). The step is e(a*) − e(a), and it starts at b: e(a*) − e(a) + e(b).
- - vectors[a] + vectors[b] → + vectors[a] - vectors[b]

distance: You took the word whose vector *ends* nearest to the sum. Return the largest cosine: only the direction
counts.
- (vectors / vectors.norm(dim=1, keepdim=True)) @ wanted → -(vectors - wanted).norm(dim=1)

unit-vectors-first: You divided all vectors by their lengths before adding. Many programs do, and find different words;
here you sum the original vectors and take the cosines afterwards.
^ vectors = vectors / vectors.norm(dim=1, keepdim=True)
""",
)
