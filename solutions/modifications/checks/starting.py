"""Question 1: a stack with ReZero."""

import torch

from autograder.exercise.declare import question, values
from autograder.exercise.draw import Draw
from autograder.exercise.specification import Case, case
from solutions.modifications.checks.common import CLOSED, layer_of


def _one(draw: Draw) -> list[Case]:
    time, d, d_ff = draw.sizes(3)
    return [case("one layer", draw.normal(2, time, d), [layer_of(draw, d, d_ff, draw.integer(3, 8) / 10)])]


def _several(draw: Draw) -> list[Case]:
    time, d, d_ff = draw.sizes(3)
    alphas = [0.9, -0.4, 0.1 * draw.integer(5, 7)]
    return [case("three layers", draw.normal(2, time, d), [layer_of(draw, d, d_ff, alpha) for alpha in alphas])]


def _odd(draw: Draw) -> list[Case]:
    d, d_ff = draw.sizes(2)
    wide = [layer_of(draw, d, d_ff, 0.5, torch.float64) for _ in range(2)]
    return [
        case("one token", draw.normal(1, 1, d), [layer_of(draw, d, d_ff, 0.7)]),
        case("float64", draw.normal(1, 3, d, dtype=torch.float64), wide),
        case("all α are 0", draw.normal(2, 3, d), [layer_of(draw, d, d_ff, 0.0) for _ in range(2)]),
        case("no layer", draw.normal(2, 3, d), []),
    ]


REZERO = question(
    "modifications.rezero",
    minutes=10,
    difficulty="easy",
    returns=("x",),
    properties=[
        values("one layer", 0.75, _one),
        values("several layers", 0.75, _several),
        values("α = 0, one token, no layer, float64", 0.5, _odd),
    ],
    closed=CLOSED,
    mistakes="""
norm-kept: Your sublayers read a normalised pathway. ReZero needs no norm: the sublayers read `x` as it is.
- sublayer(x, layer) → sublayer(norm(x), layer)

normed-at-the-end: You normalise the result. ReZero has no norm anywhere: with all α at 0 the stack returns its input.
- return x → return norm(x)

alpha-on-the-pathway: You multiply the whole sum by α, the pathway as well. With α = 0 nothing is left of the input.
- x + layer["alpha"] * sublayer(x, layer) → layer["alpha"] * (x + sublayer(x, layer))

alpha-forgotten: There is no α in your sums. Multiply what a sublayer adds by `layer["alpha"]`.
- layer["alpha"] * sublayer → sublayer

highway: Your pathway is multiplied by 1 − α. That is a highway layer; ReZero leaves the pathway whole, and only adds.
- x + layer → (1 - layer["alpha"]) * x + layer

side-by-side: Your two sublayers read the same `x`. The network reads what attention has already been added to.
-     for sublayer in (attention, network):
-         x = x + layer["alpha"] * sublayer(x, layer)
+     x = x + layer["alpha"] * (attention(x, layer) + network(x, layer))

only-attention: You multiply attention by α, but not the network. Both sublayers share the layer's α.
- layer["alpha"] * sublayer(x, layer) → (layer["alpha"] if sublayer is attention else 1.0) * sublayer(x, layer)

only-the-network: You multiply the network by α, but not attention. Both sublayers share the layer's α.
- layer["alpha"] * sublayer(x, layer) → (layer["alpha"] if sublayer is network else 1.0) * sublayer(x, layer)

network-first: Your network comes before attention. The order matters, because the second sublayer reads the sum.
- (attention, network) → (network, attention)

first-alpha-for-all: You use one layer's α for all of them. Each layer has its own.
- layer["alpha"] → layers[0]["alpha"]

alpha-on-the-input: You multiply the sublayer's input by α. Multiply its result: a softmax and a ReLU are not linear.
- layer["alpha"] * sublayer(x, layer) → sublayer(layer["alpha"] * x, layer)

in-place: The values are right, but you changed the `x` that you were given: `x += …` and `add_` write into it.
- x = x + layer["alpha"] * sublayer(x, layer) → x += layer["alpha"] * sublayer(x, layer)
""",
)
