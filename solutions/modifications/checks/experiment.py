"""Question 7: a router without and with a balance loss."""

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
from solutions.modifications.checks.common import CLOSED


@functools.cache
def _ids(play: int) -> Tensor:
    """Letters as 1 to 26 and everything else as 0, as `letters` of the page has them."""
    text = re.sub("[^a-z]+", " ", load("shakespeare").texts("train")[play].lower())
    return torch.tensor([max(0, ord(character) - 96) for character in text])


def _windows(play: int, start: int, count: int, tested: int) -> list[Tensor]:
    """To train on, and to test on."""
    parts = ((start, count), (start + 12_000, tested))
    return [_ids(play)[first : first + many + 3].unfold(0, 4, 1).contiguous() for first, many in parts]


_page = on_the_page("the five seeds of the page", *_windows(0, 0, 4_000, 600), [0, 1, 2, 3, 4])


def _fresh(draw: Draw) -> list[Case]:
    seeds = [draw.integer(10 * n, 10 * n + 9) for n in (1, 2)]
    return [case("other windows and seeds", *_windows(draw.integer(1, 20), draw.integer(0, 2_000), 300, 100), seeds)]


def _equal(draw: Draw) -> list[Case]:
    return [case(EQUAL, *_windows(1, 0, 4, 4), [draw.integer(30, 39)])]


_both = Both((_fresh, _page))
FEWER = ["lower", 1, 0]

WHICH_BALANCE = question(
    "modifications.which_balance",
    minutes=35,
    difficulty="medium",
    returns=("prediction", "table", "conclusion"),
    chosen=("prediction", "conclusion"),
    properties=[
        predicted(0.25, _page, 4),
        values("the numbers of every seed", 3.25, Both((_fresh, _page, _equal)), "table"),
        concluded(
            2.5,
            _both,
            [FEWER, ["lower", 2, 3]],
            [FEWER, ["lower", 3, 2]],
            [FEWER, ["undecided", 2, 3]],
            ["undecided", 0, 1],
        ),
    ],
    closed=CLOSED,
    mistakes="""
one-seed-repeated: Every row is the same: you used the same seed each time. Use `seed`, which differs from row to row.
- begin(seed) → begin(seeds[0])
- minibatch(train, seed, step) → minibatch(train, seeds[0], step)

measured-on-train: You measured on the windows that the model learned from. Measure on `test`.
- predict(parameters, test) → predict(parameters, train)

not-restarted: Your second model goes on from where the first one ended. Both begin with the parameters of `begin`.
-         parameters = begin(seed)
+         pass
- dropped, losses = [], []
+ dropped, losses = [], []
+     parameters = begin(seed)

one-minibatch: Your model sees the same minibatch in every step. `minibatch` wants the number of the step.
- minibatch(train, seed, step) → minibatch(train, seed, 0)

steps-from-one: Your steps are numbered from 1, and you see other minibatches. They are numbered from 0.
- minibatch(train, seed, step) → minibatch(train, seed, step + 1)

weight-of-one: You added the whole balance loss. It is weighted by 0.2.
- (0.0, 0.2) → (0.0, 1.0)

both-balanced: Both of your models have the balance loss. The first is trained without it.
- (0.0, 0.2) → (0.2, 0.2)

balance-reported: Your held-out loss contains the balance loss. Report the loss of predicting alone, or the two models
are measured by different sums.
- loss, _, gone = predict(parameters, test)
+ loss, rest, gone = predict(parameters, test)
- losses.append(float(loss)) → losses.append(float(loss + weight * rest))

gradients-added-up: Your gradients of all steps add up. Set them to 0 before each `backward`.
- optimiser.zero_grad() → pass

columns-in-another-order: Your columns are in another order: first both shares of dropped tokens, then both losses.
- table.append(dropped + losses) → table.append([dropped[0], losses[0], dropped[1], losses[1]])

best-seed-picked: You return the lowest number over all seeds, in every row. A change that may choose its seed looks
better than it is: keep the numbers of every seed.
- conclusion = 3 → table = torch.tensor(table).amin(0).expand(len(seeds), 4); conclusion = 3

balance-blamed: Your own numbers do not say that the held-out loss is higher with the balance loss: the signs differ
from seed to seed, and the interval contains 0.
- conclusion = 3 → conclusion = 1

one-seed-believed: Your own numbers do not say that the held-out loss is lower with the balance loss: the signs differ
from seed to seed, and the interval contains 0.
- conclusion = 3 → conclusion = 2

difference-overlooked: Compare the first two columns: with the balance loss far fewer tokens are dropped, for every
seed.
- conclusion = 3 → conclusion = 4

not-predicted: There is no prediction. Write down what you expect, 1 to 4, before you look at numbers; afterwards
everything looks as if you had known it.
- prediction = 2 → prediction = 0
""",
)
