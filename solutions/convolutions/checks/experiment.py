"""Question 6: do filters use the order of letters, or only their size?"""

import functools
import re

import torch
from torch import Tensor

from autograder.exercise.declare import question, values
from autograder.exercise.draw import Draw
from autograder.exercise.kinds import EQUAL
from autograder.exercise.special import concluded, on_the_page, predicted
from autograder.exercise.specification import Both, Case, case
from nlmcore.corpora.folio import align_play
from solutions.convolutions.checks.common import CLOSED

LETTERS = " 'abcdefghijklmnopqrstuvwxyz"
LONGEST = 36


@functools.cache
def _pairs(play: str) -> list[tuple[str, str]]:
    """The shorter lines of a play that are spelled differently now, in letters only."""
    both = ((_letters(pair.folio), _letters(pair.modern)) for pair in align_play(play))
    return [pair for pair in both if pair[0] != pair[1] and all(pair) and len(pair[0]) < LONGEST]


def _letters(line: str) -> str:
    return " ".join(re.sub(r"[^a-z' ]", "", line.lower()).split())


def _batch(pairs: list[tuple[str, str]]) -> list[Tensor]:
    texts = [torch.tensor([LETTERS.index(letter) for letter in line]) for pair in pairs for line in pair]
    tokens = torch.nn.utils.rnn.pad_sequence(texts, batch_first=True)
    return [tokens, torch.tensor([len(text) for text in texts]), torch.tensor([0, 1] * len(pairs))]


def _data(play: str, start: int, batches: int, size: int, held_out: int) -> tuple[list[list[Tensor]], list[Tensor]]:
    end = start + batches * size
    pairs = _pairs(play)
    return [_batch(pairs[i : i + size]) for i in range(start, end, size)], _batch(pairs[end : end + held_out])


_page = on_the_page("the five seeds of the page", *_data("hamlet", 0, 3, 32, 60), [0, 1, 2, 3, 4])


def _fresh(draw: Draw) -> list[Case]:
    seeds = [draw.integer(10 * n, 10 * n + 9) for n in (1, 2)]
    square = [[draw.integers(0, 27, 4, 4), torch.full((4,), 4), torch.tensor([0, 1, 0, 1])] for _ in range(2)]
    return [
        case("other lines and seeds", *_data("hamlet", draw.integer(156, 400), 1, 8, 6), seeds),
        case(EQUAL, square[:1], square[1], seeds),
    ]


_both = Both((_fresh, _page))

WHAT_FILTERS_USE = question(
    "convolutions.what_filters_use",
    minutes=30,
    difficulty="medium",
    returns=("prediction", "losses", "conclusion"),
    chosen=("prediction", "conclusion"),
    tolerance=1e-3,
    properties=[
        predicted(0.25, _page, 4),
        values("the losses of every seed", 1.75, _both, "losses", tolerance=5e-3),
        concluded(
            2,
            _both,
            [["lower", 1, 0], ["lower", 1, 2]],
            [["lower", 1, 0], ["undecided", 1, 2]],
            ["lower", 0, 1],
            ["undecided", 0, 1],
        ),
    ],
    closed=CLOSED,
    mistakes="""
one-seed-repeated: Every row is the same: you used the same seed each time. Use `seed`, which differs from row to row.
- for seed in seeds: → for seed in [seeds[0]] * len(seeds):

held-out-not-shuffled: You shuffled the letters that you train on, and measured on lines in order. The control must
differ from the filters in nothing but the order: shuffle both.
- shuffled(held_out, seed) → held_out

training-not-shuffled: You trained on lines in order and shuffled only the held-out ones. The control must never have
seen the order: shuffle both.
- mixed = [shuffled(batch, seed) for batch in batches] → mixed = batches

lowest-for-final: You took the lowest loss of all epochs. An epoch that is chosen by the held-out lines looks too good:
take the final one.
- averages[0][-1], filters[0][-1], control[0][-1] → min(averages[0]), min(filters[0]), min(control[0])

first-for-final: You took the loss after the first epoch. Take the one after the final epoch.
- averages[0][-1], filters[0][-1], control[0][-1] → averages[0][0], filters[0][0], control[0][0]

measured-on-what-was-trained: You measured the loss on the first batch of the lines that you trained on. Measure the
held-out lines.
^ held_out = batches[0]

best-seed-picked: You return the lowest loss over all seeds, in every row. A model that may choose its seed looks
better than it is: keep the number of every seed.
- conclusion = 1 → losses = torch.tensor(losses).amin(0).expand(len(seeds), 3); conclusion = 1

size-for-order: Your own numbers do say more: on shuffled letters the same filters, with as many parameters, are worse
for every seed. So it is not their size.
- conclusion = 1 → conclusion = 2

against-the-numbers: Your own numbers say the opposite: the filters have the lower loss for every seed.
- conclusion = 1 → conclusion = 3

too-careful: The difference between filters and averages is not large, but it has the same sign for every seed, and
that is what you were asked for.
- conclusion = 1 → conclusion = 4

not-predicted: There is no prediction. Write down what you expect, 1 to 4, before you look at numbers; afterwards
everything looks as if you had known it.
- prediction = 2 → prediction = 0
""",
)
