"""Question 3b: the word that is to b as a* is to a."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from autograder.checks.vectors.common import REFERENCE_ITSELF, most_similar, unit
from autograder.exercise.draw import Draw
from autograder.exercise.judges import same_values
from autograder.exercise.specification import Case, Exercise, Misconception, Property, case

WORD = ("word",)


def analogy(vectors: Tensor, a: int, a_star: int, b: int) -> Tensor:
    return _closest(vectors, vectors[a_star] - vectors[a] + vectors[b], (a, a_star, b))


def _closest(vectors: Tensor, wanted: Tensor, excluded: tuple[int, ...]) -> Tensor:
    similar = unit(vectors) @ wanted
    similar[list(excluded)] = -torch.inf
    return similar.argmax()


def _nearest_end(vectors: Tensor, a: int, a_star: int, b: int) -> Tensor:
    apart = (vectors - (vectors[a_star] - vectors[a] + vectors[b])).norm(dim=-1)
    return most_similar(-apart, [a, a_star, b], 1)[0]


def _units_first(vectors: Tensor, a: int, a_star: int, b: int) -> Tensor:
    return analogy(unit(vectors), a, a_star, b)


def _largest_product(vectors: Tensor, a: int, a_star: int, b: int) -> Tensor:
    return most_similar(vectors @ (vectors[a_star] - vectors[a] + vectors[b]), [a, a_star, b], 1)[0]


def _leaving_out(excluded: Sequence[int]) -> Callable[[Tensor, int, int, int], Tensor]:
    """Of a, a* and b only those with the numbers given."""

    def find(vectors: Tensor, a: int, a_star: int, b: int) -> Tensor:
        out = tuple((a, a_star, b)[i] for i in excluded)
        return _closest(vectors, vectors[a_star] - vectors[a] + vectors[b], out)

    return find


def _ids_shifted_by_three(vectors: Tensor, a: int, a_star: int, b: int) -> Tensor:
    others = [word for word in range(len(vectors)) if word not in (a, a_star, b)]
    return _closest(vectors[others], vectors[a_star] - vectors[a] + vectors[b], ())


def _excluded_as_nought(vectors: Tensor, a: int, a_star: int, b: int) -> Tensor:
    similar = unit(vectors) @ (vectors[a_star] - vectors[a] + vectors[b])
    similar[[a, a_star, b]] = 0
    return similar.argmax()


def _parallel(draw: Draw, label: str, lengths: bool) -> Case:
    """a* − a and b* − b are nearly the same step, and it is small: b is nearer to the sum than b*, as it mostly is.

    Words that the usual mistakes find are there, too; with `lengths`, b* is short and another word's vector is long.
    """
    n, d = draw.largest + 6, 8
    while True:
        a, a_star, b, b_star, back, other, swapped = draw.integers(0, 10**9, n).argsort().tolist()[:7]
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
            longest = next(i for i in range(n) if i not in (a, a_star, b, b_star, back, other, swapped))
            vectors[b_star] *= 0.3
            vectors[longest] = wanted * 3 + 3 * draw.normal(d)
        ahead = min(a, a_star, b) < b_star  # or who numbers the words anew would not be seen
        if ahead and int(analogy(vectors, a, a_star, b)) == b_star and int(_closest(vectors, wanted, ())) == b:
            return case(label, vectors, a, a_star, b)


def _plain(draw: Draw) -> list[Case]:
    return [_parallel(draw, "an analogy", False), _near(draw), _away(draw)]


def _away(draw: Draw) -> Case:
    """Every other word points away from the sum, more than a does: the largest cosine that counts is below 0."""
    n = draw.largest + 6
    while True:
        vectors = draw.normal(n, 5)
        a, a_star, b = draw.integers(0, 10**9, n).argsort().tolist()[:3]
        wanted = vectors[a_star] - vectors[a] + vectors[b]
        for word in set(range(n)) - {a, a_star, b}:
            vectors[word] *= -torch.sign(vectors[word] @ wanted)
        if int(_closest(vectors, wanted, (a_star, b))) == a:
            return case("no other word points that way", vectors, a, a_star, b)


def _near(draw: Draw) -> Case:
    """a and b are alike, so that a* is nearer to the sum than b*: it has to be left out as well."""
    while True:
        vectors = draw.normal(draw.largest + 6, 8)
        a, a_star, b, b_star = draw.integers(0, 10**9, len(vectors)).argsort().tolist()[:4]
        step = unit(draw.normal(8)) * 2
        vectors[b] = vectors[a] + 0.4 * unit(draw.normal(8))
        vectors[a_star], vectors[b_star] = vectors[a] + step, vectors[b] + step + 0.35 * draw.normal(8)
        wanted = vectors[a_star] - vectors[a] + vectors[b]
        if int(analogy(vectors, a, a_star, b)) == b_star and int(_closest(vectors, wanted, (b,))) == a_star:
            return case("a and b are alike", vectors, a, a_star, b)


def _far(draw: Draw) -> Case:
    """Direction decides, of the vectors as they are: the answer's is long, so another one ends nearer to the sum."""
    while True:
        vectors = draw.normal(draw.largest + 6, 4) * (draw.integers(2, 40, draw.largest + 6, 1) / 10)
        a, a_star, b = draw.integers(0, 10**9, len(vectors)).argsort().tolist()[:3]
        ways = (analogy, _nearest_end, _units_first, _largest_product)
        if len({int(way(vectors, a, a_star, b)) for way in ways}) == len(ways):
            return case("lengths of all kinds", vectors, a, a_star, b)


def _lengths(draw: Draw) -> list[Case]:
    return [_parallel(draw, "the answer's vector is short, another one long", True), _far(draw), _far(draw)]


ANALOGY = Exercise(
    name="vectors.analogy",
    title="King is to queen",
    signature="analogy(vectors, a, a_star, b)",
    arguments=("vectors", "a", "a_star", "b"),
    returns=WORD,
    minutes=15,
    difficulty="medium",
    reference=analogy,
    properties=(
        Property(name="the right word", points=1.75, cases=_plain, judge=same_values(WORD)),
        Property(name="vectors of several lengths", points=1.25, cases=_lengths, judge=same_values(WORD)),
    ),
    misconceptions=(
        Misconception(
            id="questions-not-excluded",
            sentence=(
                "Your answer is one of the three words that were given. The nearest word to the sum is mostly b itself:"
                " leave a, a* and b out. (How often b would win says something about analogies.)"
            ),
            implementation=_leaving_out(()),
            also=tuple(map(_leaving_out, ((2,), (0, 2), (1, 2), (0, 1)))),
        ),
        Misconception(
            id="ids-shifted",
            sentence=(
                "You took three rows out and numbered the others anew: behind each of them every id is one too small."
                " Ids belong to the whole table."
            ),
            implementation=_ids_shifted_by_three,
        ),
        Misconception(
            id="excluded-as-nought",
            sentence=(
                "You gave a, a* and b the cosine 0. Where no other word points that way, that is the largest: give them"
                " −∞, which is always the last place."
            ),
            implementation=_excluded_as_nought,
        ),
        Misconception(
            id="step-backwards",
            sentence=(
                "You went from a* to a. From b the step is the one that leads from a *to* a*: e(a*) − e(a) + e(b)."
            ),
            implementation=lambda vectors, a, a_star, b: analogy(vectors, a_star, a, b),
        ),
        Misconception(
            id="sum-of-all",
            sentence="You added all three. e(a) is taken away: what is left of a* is what it has and a has not.",
            implementation=lambda vectors, a, a_star, b: _closest(
                vectors, vectors[a_star] + vectors[a] + vectors[b], (a, a_star, b)
            ),
        ),
        Misconception(
            id="dot-product",
            sentence=(
                "You compared plain dot products, and a long vector won. Divide by the length of each word's vector:"
                " the cosine."
            ),
            implementation=_largest_product,
        ),
        Misconception(
            id="b-taken-away",
            sentence=(
                "You added e(a) and took e(b) away. The step is e(a*) − e(a), and b is where it begins: e(a*) − e(a) +"
                " e(b)."
            ),
            implementation=lambda vectors, a, a_star, b: _closest(
                vectors, vectors[a_star] + vectors[a] - vectors[b], (a, a_star, b)
            ),
        ),
        Misconception(
            id="distance",
            sentence=(
                "You took the word whose vector *ends* nearest to the sum. Asked is the largest cosine: the direction"
                " alone."
            ),
            implementation=_nearest_end,
        ),
        Misconception(
            id="unit-vectors-first",
            sentence=(
                "You divided all vectors by their lengths before adding. Many programs do, and find other words; here"
                " the sum is of the vectors as they are, and only then come the cosines."
            ),
            implementation=_units_first,
        ),
    ),
    closed=(*REFERENCE_ITSELF, "torch.nn.functional.cosine_similarity"),
)
