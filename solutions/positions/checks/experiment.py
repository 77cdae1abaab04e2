"""Question 1d: is the matrix that moves sinusoids found by learning?"""

import functools

import torch
from torch import Tensor

from autograder.exercise.declare import question, values
from autograder.exercise.draw import Draw
from autograder.exercise.kinds import EQUAL
from autograder.exercise.special import concluded, on_the_page, predicted
from autograder.exercise.specification import Both, Case, case
from nlmcore.corpora import load
from solutions.positions.checks.common import CLOSED

TEXTS, TIME, WIDTH = 24, 144, 16
SQUARE = 90
"""As many texts as positions."""


@functools.cache
def _ids(play: int) -> tuple[Tensor, int]:
    """The characters of a play as ids, and how many kinds there are."""
    text = load("shakespeare").texts("train")[play]
    number = {character: i for i, character in enumerate(sorted(set(text)))}
    return torch.tensor([number[character] for character in text]), len(number)


def _texts(play: int, first: int, count: int, time: int) -> tuple[Tensor, int]:
    """Texts (count, time), a slice of a larger tensor; how many ids there are."""
    ids, vocab = _ids(play)
    return ids[first : first + count * (time + 1)].reshape(count, time + 1)[:, :-1], vocab


_page = on_the_page("the five seeds of the page", *_texts(0, 0, TEXTS, TIME), WIDTH, [0, 1, 2, 3, 4])


def _fresh(draw: Draw) -> list[Case]:
    seeds = [draw.integer(10 * n, 10 * n + 9) for n in (1, 2)]
    play, first = draw.integer(1, 20), draw.integer(0, 20_000)
    return [case(EQUAL, *_texts(play, first, SQUARE, SQUARE), 2 * draw.size() + 4, seeds)]


_both = Both((_page, _fresh))

LOOKING_BACK = question(
    "positions.looking_back",
    minutes=30,
    difficulty="hard",
    returns=("prediction", "errors", "conclusion"),
    chosen=("prediction", "conclusion"),
    properties=[
        predicted(0.25, _page, 4),
        values("the errors of every seed", 2.25, _both, "errors", tolerance=5e-4),
        concluded(
            1.5,
            _both,
            [["lower", 0, 2], ["lower", 1, 3]],
            [["lower", 2, 0], ["lower", 3, 1]],
            [["lower", 0, 2], ["lower", 3, 1]],
            [["lower", 0, 2], ["undecided", 1, 3]],
        ),
    ],
    closed=CLOSED,
    tolerance=2e-3,
    mistakes="""
one-seed-repeated: Every row is the same: you used the same seed each time. Use `seed`, which differs from row to row.
- start(texts, vocab, d, seed) → start(texts, vocab, d, seeds[0])

measured-on-what-was-learned: You measure on the texts from which the matrix was learned. Then it looks better than it
is. Use the other half of the texts.
- (vectors[held_out] + table) → (vectors[known] + table)

learned-from-all-positions: You learned from all positions, so there are no new ones left to measure on. Learn from
positions 1 to 47.
- [:, 1:48] → [:, 1:]
- table[:47].expand → table[:-1].expand

one-ahead: Your targets are the *next* position. A head that looks back by one wants PE(t − 1) at position t.
- x = (vectors[known] + table)[:, 1:48] → x = (vectors[known] + table)[:, :47]
- table[:47].expand → table[1:48].expand
- (vectors[held_out] + table)[:, 1:], table[:-1] → (vectors[held_out] + table)[:, :-1], table[1:]
- for matrix in (learned, back) → for matrix in (learned, forward)

target-is-itself: Your targets are the positions themselves, not the previous ones. Position t should become PE(t − 1).
- table[:47].expand → table[1:48].expand
- [:, 1:], table[:-1] → [:, 1:], table[1:]

not-the-root: You return the mean of the squares. The error is its root.
* .mean().sqrt() → .mean()

columns-in-another-order: Your columns are in the wrong order: first both errors at trained positions, then both
beyond. The two of the learned matrix come first.
- errors.append(row) → errors.append([row[0], row[2], row[1], row[3]])

best-seed-picked: You return the lowest error over all seeds, in every row. Keep the number of every seed.
- conclusion = 3 → errors = torch.tensor(errors).amin(0).expand(len(seeds), 4); conclusion = 3

learned-everywhere: At later positions your own numbers say the opposite: compare the second and the fourth column.
- conclusion = 3 → conclusion = 1

exact-everywhere: At trained positions your own numbers say the opposite: compare the first and the third column.
- conclusion = 3 → conclusion = 2

undecided-beyond: At later positions your rows do not leave it open: compare the second and the fourth column, seed by
seed.
- conclusion = 3 → conclusion = 4

not-predicted: There is no prediction. Write down what you expect, 1 to 4, before you look at numbers; afterwards
everything looks as if you had known it.
- prediction = 1 → prediction = 0
""",
)
