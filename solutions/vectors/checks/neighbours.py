"""Question 3a: neighbours by direction."""

from autograder.exercise.declare import any_order, question, values
from autograder.exercise.draw import Draw
from autograder.exercise.kinds import EQUAL
from autograder.exercise.specification import Case, case
from solutions.vectors.checks.common import CLOSED


def _space(draw: Draw) -> list[Case]:
    """Vectors of very different lengths."""
    made = []
    for _ in range(2):
        n, d = draw.largest + 5, 3
        vectors = draw.normal(n, d) * (draw.integers(1, 40, n, 1) / 5)
        made.append(case("vectors of various lengths", vectors, draw.integer(0, n - 1), 3))
    return made


def _alike(draw: Draw) -> list[Case]:
    n, made = draw.largest + 3, []
    for label, k in (("the nearest points the same way and is short", 1), ("all", n - 1)):
        vectors = draw.normal(n, 4) * (draw.integers(1, 20, n, 1) / 5)
        word = draw.integer(0, n - 1)
        vectors[(word + 1) % n] = vectors[word] * 0.1 + draw.normal(4) * 0.01
        made.append(case(label, vectors, word, k))
    return [*made, case(EQUAL, draw.normal(n, n), draw.integer(0, n - 1), 2)]


NEAREST = question(
    "vectors.nearest",
    minutes=15,
    difficulty="easy",
    returns=("neighbours",),
    properties=[
        any_order("the right ones, in any order", 0.75, _space),
        values("nearest first", 1, _space),
        values("one neighbour, and all", 1.25, _alike),
    ],
    closed=CLOSED,
    mistakes="""
dot-product: You compared plain dot products, so long vectors win, which frequent words have. The cosine depends only on
the direction: divide by both lengths.
-  / vectors.norm(dim=1, keepdim=True) →

itself: The nearest word to a word is the word itself. Leave it out.
- similar[word] = -math.inf →

distance: You took the smallest *distance*. Return the largest cosine: a short vector in the same direction is near,
wherever it ends.
- unit @ unit[word] → -(vectors - vectors[word]).norm(dim=1)

order-reversed: The words are right, but the farthest comes first. Return the nearest first.
- .indices → .indices.flip(0)

lengths-of-columns: You divided by the lengths of the columns. A word's vector is a *row*: its length is
`vectors.norm(dim=1, keepdim=True)`, and every row then has length 1.
- dim=1 → dim=0

itself-as-nought: You gave the word itself the cosine 0. That does not rank it last: cosines go down to −1. Give it −∞,
or remove it from the list.
- -math.inf → 0

ids-shifted: You removed the word's own row and renumbered the rest: every id after it is one too small. Ids refer
to the whole table.
+ others = torch.cat([vectors[:word], vectors[word + 1 :]])
+ return (others / others.norm(dim=1, keepdim=True) @ vectors[word]).topk(k).indices

cosines-for-ids: You returned the cosines. Return *which* words these are, their ids: `topk` and `sort` return both,
values and indices.
- .indices → .values

farthest: These are the *least* similar words. Neighbours have the largest cosine.
- unit @ unit[word] → -(unit @ unit[word])
""",
)
