"""Question 3a: neighbours by direction."""

import torch
from torch import Tensor

from autograder.checks.vectors.common import REFERENCE_ITSELF, most_similar, unit
from autograder.exercise.draw import Draw
from autograder.exercise.judges import same_values
from autograder.exercise.specification import Case, Exercise, Misconception, Property, case

IDS = ("neighbours",)


def nearest(vectors: Tensor, word: int, k: int) -> Tensor:
    similar = unit(vectors) @ unit(vectors)[word]
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
    n, made = draw.largest + 3, []
    for label, k in (("the nearest points the same way and is short", 1), ("all", n - 1)):
        vectors = draw.normal(n, 4) * (draw.integers(1, 20, n, 1) / 5)
        word = draw.integer(0, n - 1)
        vectors[(word + 1) % n] = vectors[word] * 0.1 + draw.normal(4) * 0.01
        made.append(case(label, vectors, word, k))
    return made


def _lengths_of_columns(vectors: Tensor, word: int, k: int) -> Tensor:
    scaled = vectors / vectors.norm(dim=0, keepdim=True)
    return most_similar(scaled @ scaled[word], word, k)


def _itself_as_nought(vectors: Tensor, word: int, k: int) -> Tensor:
    similar = unit(vectors) @ unit(vectors)[word]
    similar[word] = 0
    return similar.topk(k).indices


def _ids_shifted(vectors: Tensor, word: int, k: int) -> Tensor:
    others = torch.cat([vectors[:word], vectors[word + 1 :]])
    return (unit(others) @ vectors[word]).topk(k).indices


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
            implementation=lambda vectors, word, k: most_similar(vectors @ vectors[word], word, k),
        ),
        Misconception(
            id="itself",
            sentence="The nearest word to a word is itself. Leave it out.",
            implementation=lambda vectors, word, k: (unit(vectors) @ unit(vectors)[word]).topk(k).indices,
        ),
        Misconception(
            id="distance",
            sentence=(
                "You took the smallest *distance*. Asked is the largest cosine: a short vector in the same direction is"
                " near, however far its end may be."
            ),
            implementation=lambda vectors, word, k: most_similar(-(vectors - vectors[word]).norm(dim=-1), word, k),
        ),
        Misconception(
            id="order-reversed",
            sentence="The right words, the farthest of them first. The nearest should be the first in the list.",
            implementation=lambda vectors, word, k: nearest(vectors, word, k).flip(0),
        ),
        Misconception(
            id="lengths-of-columns",
            sentence=(
                "You divided by the lengths of the columns. A word's vector is a *row*: its length is"
                " `vectors.norm(dim=1, keepdim=True)`, and every row then has length 1."
            ),
            implementation=_lengths_of_columns,
        ),
        Misconception(
            id="itself-as-nought",
            sentence=(
                "You gave the word itself the cosine 0. That is not the last place: cosines go down to −1. Give it −∞,"
                " or take it out of the list."
            ),
            implementation=_itself_as_nought,
        ),
        Misconception(
            id="ids-shifted",
            sentence=(
                "You took the word's own row out and numbered the others anew: behind it every id is one too small. Ids"
                " belong to the whole table."
            ),
            implementation=_ids_shifted,
        ),
        Misconception(
            id="cosines-for-ids",
            sentence=(
                "You returned the cosines. Asked is *which* words these are, their ids: `topk` and `sort` give both,"
                " values and indices."
            ),
            implementation=lambda vectors, word, k: (unit(vectors) @ unit(vectors)[word])[nearest(vectors, word, k)],
        ),
        Misconception(
            id="farthest",
            sentence="These are the words that are *least* alike. The cosine of neighbours is the largest.",
            implementation=lambda vectors, word, k: most_similar(-(unit(vectors) @ unit(vectors)[word]), word, k),
        ),
    ),
    closed=(*REFERENCE_ITSELF, "torch.nn.functional.cosine_similarity"),
)
