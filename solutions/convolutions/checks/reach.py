"""Question 2b: the receptive field of a stack, computed and measured."""

from collections.abc import Callable

import torch
from torch import Tensor

from autograder.exercise.declare import question, values
from autograder.exercise.draw import Draw
from autograder.exercise.kinds import EQUAL
from autograder.exercise.specification import Case, case


def _weights(draw: Draw, d: int, *widths: int) -> list[Tensor]:
    """Weights (k, d, d), no entry of which is near zero: what can be seen is seen clearly."""
    return [(draw.normal(k, d, d).sign() * (0.5 + draw.normal(k, d, d).abs() / 2)) / (k * d) ** 0.5 for k in widths]


def _clear(label: str, x: Tensor, weights: list[Tensor], dilations: list[int], t: int) -> Case | None:
    """The case, unless a difference that it makes is neither clear nor nothing."""
    h = (x + torch.eye(len(x))[..., None]).double()
    h = torch.cat([x[None].double(), h])
    for weight, dilation in zip(weights, dilations, strict=True):
        k, time = len(weight), h.shape[1]
        padded = torch.cat([h.new_zeros(len(h), (k - 1) * dilation, h.shape[2]), h], dim=1)
        h = torch.tanh(torch.stack([padded[:, j * dilation :][:, :time] @ weight[j].double() for j in range(k)]).sum(0))
    moved = (h[1:, t] - h[0, t]).abs().amax(-1)
    return case(label, x, weights, dilations, t) if bool(((moved > 1e-4) | (moved == 0)).all()) else None


def _first(draw: Draw, make: Callable[[Draw], Case | None]) -> Case:
    """The first clear case that `make` gives."""
    while (found := make(draw)) is None:
        pass
    return found


def _two_layers(draw: Draw) -> Case | None:
    d = draw.size()
    dilations = [1, draw.integer(1, 2)]
    x = draw.normal(9 + draw.integer(0, 2), d)
    return _clear("two layers", x, _weights(draw, d, 3, 2), dilations, len(x) - 3)


def _three_layers(draw: Draw) -> Case | None:
    d = draw.size()
    x = draw.normal(14, d)
    return _clear("three layers of width 2", x, _weights(draw, d, 2, 2, 2), [1, 2, draw.integer(3, 4)], 11)


def _stacks(draw: Draw) -> list[Case]:
    return [_first(draw, _two_layers), _first(draw, _three_layers)]


def _one_gap(draw: Draw) -> Case | None:
    d, dilation = draw.size(), draw.integer(2, 3)
    return _clear("one layer with a dilation", draw.normal(9, d), _weights(draw, d, 3), [dilation], 7)


def _gaps_remain(draw: Draw) -> Case | None:
    d = draw.size()
    return _clear("two layers that leave gaps", draw.normal(11, d), _weights(draw, d, 2, 2), [2, 4], 9)


def _gaps(draw: Draw) -> list[Case]:
    return [_first(draw, _one_gap), _first(draw, _gaps_remain)]


def _oldest_zero(draw: Draw) -> Case | None:
    d = draw.size()
    weights = _weights(draw, d, 3, 2)
    weights[0][0] = 0.0
    return _clear("a layer whose oldest weights are zero", draw.normal(8, d), weights, [1, 1], 6)


def _first_feature_zero(draw: Draw) -> Case | None:
    d = draw.size()
    weights = _weights(draw, d, 2)
    weights[0][:, 0] = 0.0
    return _clear("a layer that does not use the first feature", draw.normal(6, d), weights, [2], 4)


def _first_output_zero(draw: Draw) -> Case | None:
    d = draw.integer(2, 4)
    weights = _weights(draw, d, 2)
    weights[0][0, :, 0] = 0.0
    return _clear("only some outputs see the older position", draw.normal(6, d), weights, [2], 4)


def _zeros(draw: Draw) -> list[Case]:
    return [_first(draw, make) for make in (_oldest_zero, _first_feature_zero, _first_output_zero)]


def _start(draw: Draw) -> Case | None:
    d = draw.size()
    return _clear("near the start of the text", draw.normal(7, d), _weights(draw, d, 3, 2), [1, 2], 2)


def _width_one(draw: Draw) -> Case | None:
    d = draw.size()
    return _clear("one layer of width 1", draw.normal(4, d), _weights(draw, d, 1), [30], 2)


def _one_word(draw: Draw) -> Case | None:
    d = draw.size()
    return _clear("a text of one word", draw.normal(1, d), _weights(draw, d, 3), [2], 0)


def _square(draw: Draw) -> Case | None:
    n = draw.integer(2, 4)
    return _clear(EQUAL, draw.normal(n, n), _weights(draw, n, n), [1], n - 1)


def _odd(draw: Draw) -> list[Case]:
    return [_first(draw, make) for make in (_start, _width_one, _one_word, _square)]


RECEPTIVE_FIELD = question(
    "convolutions.receptive_field",
    minutes=25,
    difficulty="medium",
    returns=("size", "sees"),
    properties=[
        values("the size", 1, _stacks, "size"),
        values("what a stack sees", 1, _stacks, "sees"),
        values("gaps", 0.75, _gaps, "sees"),
        values("weights that are zero", 0.75, _zeros),
        values("the start of a text, width 1", 0.5, _odd),
    ],
    numpy=True,
    mistakes="""
widths-multiplied: You multiplied the widths of the layers. Each layer adds to the reach what it reaches back itself.
- size = 1 + sum((len(weight) - 1) * dilation for weight, dilation in zip(weights, dilations, strict=True))
+ size = math.prod(len(weight) for weight in weights)
or
- size = 1 + sum((len(weight) - 1) * dilation for weight, dilation in zip(weights, dilations, strict=True))
+ size = math.prod((len(weight) - 1) * dilation + 1 for weight, dilation in zip(weights, dilations, strict=True))

whole-widths-added: You add k·δ per layer. One of the k positions is the one that a layer starts from: it reaches (k −
1)·δ back.
- (len(weight) - 1) * dilation → len(weight) * dilation
or
- 1 + sum((len(weight) - 1) * dilation → sum(len(weight) * dilation

position-itself-forgotten: Your size is one too small: it is how far back the stack reaches. The position itself is
part of the receptive field.
- 1 + sum( → sum(

dilations-forgotten-in-the-size: Your size takes no notice of the dilations. A layer of width k with dilation δ reaches
(k − 1)·δ back.
- (len(weight) - 1) * dilation for → (len(weight) - 1) for

counted-for-computed: Your size is the number of positions that you measured. The size follows from the shapes: it
counts gaps, and takes no notice of zero weights or of the start of the text.
- return size, sees → return int(sees.sum()), sees

drawn-for-measured: You marked all positions of the receptive field. Run the stack and look what changes: dilations
leave gaps, and weights can be zero.
- return size, sees
+ return size, [t - size < s <= t for s in range(len(x))]

forwards: You changed position t and looked where the output changes. That tells who sees t. The question is what t
sees: change the other positions, one by one, and look at t.
- return h[:, t] → return h
- np.abs(run(changed) - run(x[None])).max(axis=-1) > 1e-6
+ np.abs(run(changed) - run(x[None])).max(axis=-1)[t] > 1e-6

any-output: You compare all outputs. Every position changes some output, at least its own; look at the output at t
only.
- return h[:, t] → return h.reshape(len(h), -1)

first-feature-only: You changed only the first feature of each position. A layer may not use it: change the whole
vector.
- [..., None] → [..., None] * (np.arange(x.shape[1]) == 0)

first-output-only: You compared only the first feature of the output at t. A position is seen if any of them changes.
- np.abs(run(changed) - run(x[None])).max(axis=-1) > 1e-6 → np.abs(run(changed) - run(x[None]))[:, 0] > 1e-6

changes-kept: You never undo a change, so after the first position that is seen, all seem to be. Change one position at
a time, each in a fresh copy.
- np.eye(len(x)) → np.tri(len(x))

convolution-leaks: Your stack sees positions to the right of t. Then the zeros of your convolution, in 2a, are on both
sides: mend that first.
- h = np.tanh(causal_convolution(h, weight, np.zeros(h.shape[-1]), dilation))
+ R = (len(weight) - 1) * dilation - (len(weight) - 1) * dilation // 2
+         longer = np.concatenate([h, np.zeros((len(h), R, h.shape[2]))], axis=1)
+         h = np.tanh(causal_convolution(longer, weight, np.zeros(h.shape[-1]), dilation))[:, R:]

dilations-forgotten-in-the-stack: Your stack runs without its dilations: the marked positions are neighbours.
- np.zeros(h.shape[-1]), dilation) → np.zeros(h.shape[-1]), 1)
""",
)
