"""Question 3: inverted dropout."""

import torch
from torch import Tensor

from autograder.exercise.declare import holds, judged, question, values, ways
from autograder.exercise.draw import Draw
from autograder.exercise.specification import Case, case
from solutions.training.laws import (
    as_many_as_the_rate_says,
    decided_one_by_one,
    dropped_or_scaled,
    only_in_training,
)


def _no_zeros(x: Tensor) -> Tensor:
    return torch.where(x < 0, x - 0.5, x + 0.5)


def _seed(draw: Draw) -> int:
    return draw.integer(0, 10**6)


def _evaluation(draw: Draw) -> list[Case]:
    x = _no_zeros(draw.normal(*draw.sizes(2), 3))
    seed, rate = _seed(draw), draw.integer(4, 6) / 10
    return [
        Case(label="evaluation, and then training", calls=((x, rate, False, seed), (x, 0.9, True, seed)), known=(x,))
    ]


def _many(draw: Draw) -> list[Case]:
    """Twice the same seed, and five others."""
    x, one = _no_zeros(draw.normal(30, 40)), _seed(draw)
    rate = draw.integer(1, 3) / 10 + 0.5 * draw.integer(0, 1)
    calls = tuple((x, rate, True, one + more) for more in (0, 0, 1, 2, 3, 4, 5))
    return [Case(label="a thousand entries", calls=calls, known=(x, torch.tensor(rate)))]


def _odd(draw: Draw) -> list[Case]:
    n = draw.size()
    return [
        case("rate 0", _no_zeros(draw.normal(2, n)), 0.0, True, _seed(draw)),
        case("zeros, float64", torch.zeros(n).double(), 0.5, True, _seed(draw)),
        case("evaluation of a slice", draw.strided(2, n), 0.5, False, _seed(draw)),
        case("one number, evaluation", draw.normal(1)[0], 0.3, False, _seed(draw)),
    ]


FORMS = """
- np.random.default_rng(seed).random(x.shape) >= rate → {}
- x * keep / (1 - rate) → x * keep
"""
"""Other ways to sample the same mask, which drop other entries."""

DROPOUT = question(
    "training.dropout",
    minutes=20,
    difficulty="medium",
    returns=("y",),
    properties=[
        judged("evaluation changes nothing, training does", 0.75, _evaluation, only_in_training),
        holds("each entry is 0 or scaled", 1, _many, dropped_or_scaled),
        holds("as many zeros as the rate says", 0.5, _many, as_many_as_the_rate_says),
        holds("each entry by itself, each seed anew", 0.5, _many, decided_one_by_one),
        values("rate 0, zeros, slices, one number", 0.25, _odd),
    ],
    numpy=True,
    mistakes="""
dropped-at-evaluation: You drop entries at evaluation as well, so the network's answers depend on chance. With
`training=False` return what you were given.
- if not training: → if False:

scaled-at-evaluation: That is the original dropout, which scales by 1 − rate at evaluation. *Inverted* dropout scales
in training, so that evaluation needs nothing.
- x.copy() → x * (1 - rate)
- x * keep / (1 - rate) → x * keep

scaled-twice: You scale in training *and* at evaluation. Once is enough: in training.
- x.copy() → x * (1 - rate)

the-other-way-round: You drop at evaluation and not in training.
- if not training → if training

not-scaled: The remaining entries are not scaled, so in training the layer's output is smaller than at evaluation.
Divide the survivors by the probability to survive.
- x * keep / (1 - rate) → x * keep
"""
    + ways(
        FORMS,
        "np.random.default_rng(seed).random(x.shape) < 1 - rate",
        "np.random.RandomState(seed).random_sample(x.shape) > rate",
    )
    + """
multiplied: You multiplied the survivors by 1 − rate. They should become larger, to make up for those that are
dropped: divide.
- / (1 - rate) → * (1 - rate)

divided-by-the-rate: You divided by the rate, which is the probability to be dropped. Divide by the probability to
survive.
- / (1 - rate) → / max(rate, 1e-9)

rate-survives: You keep an entry with the probability `rate` instead of dropping it with that probability.
- >= rate → < rate

global-generator: You seeded or used NumPy's global generator, on which all other random numbers of the notebook
depend. Sample from a generator of your own: `np.random.default_rng(seed)`.
- keep = np.random.default_rng(seed).random(x.shape)
+ np.random.seed(seed)
+ keep = np.random.random(x.shape)
or
^ np.random.seed(seed)
- np.random.default_rng(seed) → np.random

one-mask-for-all-examples: You dropped the same entries of every example. Each entry of each example is decided by
itself: sample a number for every entry of `x`.
- random(x.shape) → random(x.shape[-1:])

whole-examples: You dropped whole examples. Each entry is decided by itself: sample a number for every entry of `x`.
- random(x.shape) → random((*x.shape[:-1], 1) if x.ndim else ())

in-place: The values are right, but you wrote the zeros into the array that you were given: `x[~keep] = 0` and `x *=
keep` do that.
- x * keep / (1 - rate) → np.divide(np.multiply(x, keep, out=x), 1 - rate, out=x)
""",
)
