"""Questions 3a and 3b: neighbours by direction, and the word that is to b as a* is to a."""

import torch
from torch import Tensor

from autograder.checks.vectors.common import REFERENCE_ITSELF
from autograder.draw import Draw
from autograder.judges import same_values
from autograder.specification import Case, Exercise, Misconception, Property, case

IDS, WORD = ("neighbours",), ("word",)


def _unit(vectors: Tensor) -> Tensor:
    return vectors / vectors.norm(dim=-1, keepdim=True)


def nearest(vectors: Tensor, word: int, k: int) -> Tensor:
    similar = _unit(vectors) @ _unit(vectors)[word]
    similar[word] = -torch.inf
    return similar.topk(k).indices


def _space(draw: Draw) -> list[Case]:
    """Vectors of very different lengths."""
    made = []
    for _ in range(2):
        n, d = draw.largest + 5, 3
        vectors = draw.normal(n, d) * (draw.integers(1, 40, n, 1) / 5)
        made.append(case("vectors of several lengths", vectors, draw.integer(0, n - 1), 3))
    return made


def _alike(draw: Draw) -> list[Case]:
    n = draw.largest + 3
    vectors = draw.normal(n, 4)
    word = draw.integer(0, n - 1)
    vectors[(word + 1) % n] = vectors[word] * 0.1
    return [case("the nearest points the same way and is short", vectors, word, 1), case("all", vectors, word, n - 1)]


def _by(similar: Tensor, word: int | list[int], k: int) -> Tensor:
    similar[word] = -torch.inf
    return similar.topk(k).indices


NEAREST = Exercise(
    name="vectors.nearest",
    title="Neighbours",
    signature="nearest(vectors, word, k)",
    arguments=("vectors", "word", "k"),
    returns=IDS,
    minutes=15,
    difficulty="easy",
    reference=nearest,
    properties=(
        Property(name="the right ones, nearest first", points=1.75, cases=_space, judge=same_values(IDS)),
        Property(name="one neighbour, and all", points=1.25, cases=_alike, judge=same_values(IDS)),
    ),
    misconceptions=(
        Misconception(
            id="dot-product",
            sentence=(
                "You compared plain dot products: long vectors, which frequent words have, win. The cosine looks at the"
                " direction alone: divide by both lengths."
            ),
            implementation=lambda vectors, word, k: _by(vectors @ vectors[word], word, k),
        ),
        Misconception(
            id="itself",
            sentence="The nearest word to a word is itself. Leave it out.",
            implementation=lambda vectors, word, k: (_unit(vectors) @ _unit(vectors)[word]).topk(k).indices,
        ),
        Misconception(
            id="distance",
            sentence=(
                "You took the smallest *distance*. Asked is the largest cosine: a short vector in the same direction is"
                " near, however far its end may be."
            ),
            implementation=lambda vectors, word, k: _by(-(vectors - vectors[word]).norm(dim=-1), word, k),
        ),
        Misconception(
            id="farthest",
            sentence="These are the words that are *least* alike. The cosine of neighbours is the largest.",
            implementation=lambda vectors, word, k: _by(-(_unit(vectors) @ _unit(vectors)[word]), word, k),
        ),
    ),
    closed=(*REFERENCE_ITSELF, "torch.nn.functional.cosine_similarity"),
)


# --- analogies --------------------------------------------------------------------------------------------


def analogy(vectors: Tensor, a: int, a_star: int, b: int) -> Tensor:
    return _closest(vectors, vectors[a_star] - vectors[a] + vectors[b], (a, a_star, b))


def _closest(vectors: Tensor, wanted: Tensor, excluded: tuple[int, ...]) -> Tensor:
    similar = _unit(vectors) @ wanted
    similar[list(excluded)] = -torch.inf
    return similar.argmax()


def _parallel(draw: Draw, label: str, lengths: bool) -> Case:
    """a* − a and b* − b are nearly the same step, and it is small: b is nearer to the sum than b*, as it mostly is.

    Words that the usual mistakes find are there, too; with `lengths`, b* is short and another word's vector is long.
    """
    n, d = draw.largest + 6, 8
    while True:
        a, a_star, b, b_star, back, other = draw.integers(0, 10**9, n).argsort().tolist()[:6]
        vectors = draw.normal(n, d)
        step = _unit(draw.normal(d)) * 0.8
        vectors[a], vectors[b] = _unit(draw.normal(d)) * 2, _unit(draw.normal(d)) * 2
        vectors[a_star] = vectors[a] + step
        wanted = vectors[b] + step
        vectors[b_star] = wanted + 0.35 * draw.normal(d)
        vectors[back] = vectors[b] - step + 0.1 * draw.normal(d)
        vectors[other] = vectors[a_star] + vectors[a] + vectors[b] + 0.1 * draw.normal(d)
        if lengths:
            longest = next(i for i in range(n) if i not in (a, a_star, b, b_star, back, other))
            vectors[b_star] *= 0.3
            vectors[longest] = wanted * 3 + 3 * draw.normal(d)
        if int(analogy(vectors, a, a_star, b)) == b_star and int(_closest(vectors, wanted, ())) == b:
            return case(label, vectors, a, a_star, b)


def _plain(draw: Draw) -> list[Case]:
    return [_parallel(draw, "an analogy", False), _near(draw)]


def _near(draw: Draw) -> Case:
    """a and b are alike, so that a* is nearer to the sum than b*: it has to be left out as well."""
    while True:
        vectors = draw.normal(draw.largest + 6, 8)
        a, a_star, b, b_star = draw.integers(0, 10**9, len(vectors)).argsort().tolist()[:4]
        step = _unit(draw.normal(8)) * 2
        vectors[b] = vectors[a] + 0.4 * _unit(draw.normal(8))
        vectors[a_star], vectors[b_star] = vectors[a] + step, vectors[b] + step + 0.35 * draw.normal(8)
        wanted = vectors[a_star] - vectors[a] + vectors[b]
        if int(analogy(vectors, a, a_star, b)) == b_star and int(_closest(vectors, wanted, (b,))) == a_star:
            return case("a and b are alike", vectors, a, a_star, b)


def _far(draw: Draw) -> Case:
    """Direction decides, of the vectors as they are: the answer's is long, so another one ends nearer to the sum."""
    while True:
        vectors = draw.normal(draw.largest + 6, 4) * (draw.integers(2, 40, draw.largest + 6, 1) / 10)
        a, a_star, b = draw.integers(0, 10**9, len(vectors)).argsort().tolist()[:3]
        right, three = int(analogy(vectors, a, a_star, b)), [a, a_star, b]
        apart = (vectors - (vectors[a_star] - vectors[a] + vectors[b])).norm(dim=-1)
        if right not in (int(_by(-apart, three, 1)[0]), int(analogy(_unit(vectors), a, a_star, b))):
            return case("lengths of all kinds", vectors, a, a_star, b)


def _lengths(draw: Draw) -> list[Case]:
    return [_parallel(draw, "the answer's vector is short, another one long", True), _far(draw)]


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
            implementation=lambda vectors, a, a_star, b: _closest(
                vectors, vectors[a_star] - vectors[a] + vectors[b], ()
            ),
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
            implementation=lambda vectors, a, a_star, b: _by(
                vectors @ (vectors[a_star] - vectors[a] + vectors[b]), [a, a_star, b], 1
            )[0],
        ),
    ),
    closed=(*REFERENCE_ITSELF, "torch.nn.functional.cosine_similarity"),
)
