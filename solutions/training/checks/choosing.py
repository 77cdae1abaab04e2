"""Question 7: dropout or early stopping, after 30 windows?"""

import functools
import re

import torch
from torch import Tensor

from autograder.exercise.declare import question, values
from autograder.exercise.draw import Draw
from autograder.exercise.kinds import EQUAL
from autograder.exercise.special import concluded, on_the_page, predicted
from autograder.exercise.specification import Both, Case, case
from nlmcore.corpora import load


@functools.cache
def _ids(play: int) -> Tensor:
    """Letters as 1 to 26 and everything else as 0, as `letters` of the page has them."""
    text = re.sub("[^a-z]+", " ", load("shakespeare").texts("train")[play].lower())
    return torch.tensor([max(0, ord(character) - 96) for character in text])


def _windows(play: int, start: int) -> list[Tensor]:
    """To train on, to develop with and to test on."""
    parts = ((start, 300), (start + 2_000, 150), (start + 4_000, 150))
    return [_ids(play)[first : first + count + 3].unfold(0, 4, 1).contiguous() for first, count in parts]


_page = on_the_page("the five seeds of the page", *_windows(0, 0), [0, 1, 2, 3, 4])


def _fresh(draw: Draw) -> list[Case]:
    seeds = [draw.integer(10 * n, 10 * n + 9) for n in (1, 2)]
    return [case("other windows and seeds", *_windows(draw.integer(1, 20), draw.integer(0, 8_000)), seeds)]


def _equal(draw: Draw) -> list[Case]:
    parts = _windows(draw.integer(1, 20), draw.integer(0, 8_000))
    return [case(EQUAL, *(windows[:4] for windows in parts), [draw.integer(30, 39)])]


_both = Both((_page, _fresh))


WHICH_REMEDY = question(
    "training.which_remedy",
    minutes=40,
    difficulty="medium",
    returns=("prediction", "losses", "conclusion"),
    chosen=("prediction", "conclusion"),
    properties=[
        predicted(0.25, _page, 4),
        values("the losses of every seed", 2.25, Both((_page, _fresh, _equal)), "losses"),
        concluded(
            2.5,
            _both,
            ["lower", 1, 2],
            [["lower", 2, 1], ["lower", 3, 2]],
            [["lower", 2, 1], ["undecided", 2, 3]],
            [["lower", 2, 1], ["lower", 2, 3]],
        ),
    ],
    numpy=True,
    mistakes="""
one-seed-repeated: Every row is the same: you used the same seed each time. Use `seed`, which differs from row to row.
- begin(windows, seed) → begin(windows, seeds[0])

measured-on-dev: You measured the loss on `dev`, by which the best weights were chosen. It flatters them: measure on
`test`.
* test, 0.0, False, 0 → dev, 0.0, False, 0

measured-on-the-thirty: You measured the loss on the 30 windows that the network was trained on. There is no
overfitting to be seen there: measure on `test`.
* test, 0.0, False, 0 → few, 0.0, False, 0

trained-on-all: You trained on all windows, so there is hardly any overfitting. Train on the 30 that `begin` returns.
- few, dev, 20 → windows, dev, 40

latest-for-best: Your last two columns are those of the latest weights again. Early stopping means the weights in
`run["best"]`.
- run["best"] → run["weights"]

measured-with-dropout: You measured with dropout on. At evaluation it is off.
* test, 0.0, False, 0 → test, rate, True, seed

columns-in-another-order: Your columns are in a different order. First the latest weights without and with dropout, then
the best ones without and with dropout.
- losses.append(latest + best) → losses.append([latest[0], best[0], latest[1], best[1]])

best-seed-picked: You return the lowest loss over all seeds, in every row. A remedy that may choose its seed looks
better than it is: keep the number of every seed.
- conclusion = 2 → losses = np.broadcast_to(np.min(losses, axis=0), (len(seeds), 4)); conclusion = 2

dropout-believed: Dropout lowers the loss of the latest weights, but compare it with the third column: the best
weights without dropout are far below.
- conclusion = 2 → conclusion = 1

difference-overlooked: Compare the last two columns seed by seed. The difference is smaller than the others, but it has
the same sign in every row.
- conclusion = 2 → conclusion = 3

against-the-numbers: Your own numbers say the opposite: with dropout the best weights have the lower loss, for every
seed.
- conclusion = 2 → conclusion = 4

not-predicted: There is no prediction. Write down what you expect, 1 to 4, before you look at numbers; afterwards
everything looks as if you had known it.
- prediction = 3 → prediction = 0
""",
)
