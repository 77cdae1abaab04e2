"""Questions 1a, 2a and 2b: one neuron; a linear layer and a tanh, backwards."""

from torch import Tensor, tanh, zeros

from autograder.exercise.declare import judged, question, shapes, values
from autograder.exercise.draw import Draw
from autograder.exercise.judges import and_inputs_unchanged, same_values
from autograder.exercise.specification import Case, case


def _number(draw: Draw) -> Tensor:
    """Away from 0, where a bias does nothing, and from 1, where a factor does nothing."""
    number = draw.normal(1)[0].clone()
    return number + (1.2 if number > 0 else -0.2)


def _neurons(draw: Draw) -> list[Case]:
    (d,) = draw.sizes(1)
    return [case("a neuron", draw.normal(d), draw.normal(d), _number(draw))]


def _odd_neurons(draw: Draw) -> list[Case]:
    (d,) = draw.sizes(1)
    return [
        case("a single input", draw.normal(1), draw.normal(1), _number(draw)),
        case("float64", *(draw.normal(d).double() for _ in range(2)), _number(draw).double()),
    ]


NEURON = question(
    "backpropagation.neuron",
    minutes=15,
    difficulty="easy",
    returns=("value", "d_w", "d_x", "d_b"),
    properties=[
        values("the value", 0.5, _neurons, "value"),
        values("the gradient of the bias", 0.75, _neurons, "d_b"),
        values("the gradient of the weights", 0.75, _neurons, "d_w"),
        values("the gradient of the inputs", 0.75, _neurons, "d_x"),
        values("one input, and float64", 0.25, _odd_neurons),
    ],
    numpy=True,
    mistakes="""
slope-forgotten: Those are the gradients of w·x + b: the slope of the sigmoid is missing. Every gradient passes through
the sigmoid on its way back, so multiply by (1 − σ) σ.
- slope = (1 - value) * value → slope = np.ones_like(value)

sigmoid-twice: You applied the sigmoid to the *value* once more. The slope is (1 − σ) σ, where σ is the value that you
already have: the backward pass needs no sigmoid.
- slope = (1 - value) * value
+ again = 1 / (1 + np.exp(-value))
+ slope = (1 - again) * again

inputs-for-weights: You swapped the gradients of w and x. In a product each factor gets the *other* one: w gets x, and x
gets w.
- slope * x, slope * w → slope * w, slope * x

bias-as-a-factor: Your d_b is the slope times b, as if b were a factor. But b is added, and a sum passes the upstream
gradient on unchanged, so d_b is the slope itself.
- slope * w, slope → slope * w, slope * b

half-the-slope: Your slope is 1 − σ. It should be (1 − σ) σ, which is also small where the neuron is off.
- (1 - value) * value → 1 - value

value-for-slope: Your slope is σ itself. It should be (1 − σ) σ, which is also small where the neuron is on.
- (1 - value) * value → value

tanh-slope: Your slope is 1 − σ². That is the slope of a tanh; the sigmoid's is (1 − σ) σ.
- (1 - value) * value → 1 - value**2
""",
)


# --- a linear layer ---------------------------------------------------------------------------------------


def _layers(draw: Draw) -> list[Case]:
    batch, n_in, n_out = draw.sizes(3)
    return [case("a batch", draw.normal(batch, n_in), draw.normal(n_in, n_out), draw.normal(batch, n_out))]


def _square(draw: Draw) -> list[Case]:
    batch, n = draw.sizes(2)
    return [case("as many outputs as inputs", draw.normal(batch, n), draw.normal(n, n), draw.normal(batch, n))]


def _all_equal(draw: Draw) -> list[Case]:
    (n,) = draw.sizes(1)
    return [case("batch, inputs and outputs of one size", draw.normal(n, n), draw.normal(n, n), draw.normal(n, n))]


def _odd_layers(draw: Draw) -> list[Case]:
    batch, n_in = draw.sizes(2)
    sliced = (draw.strided(batch, n_in), draw.strided(n_in, n_in), draw.strided(batch, n_in))
    return [
        case("one example, one output", draw.normal(1, n_in), draw.normal(n_in, 1), draw.normal(1, 1)),
        case("a slice of something larger", *sliced),
    ]


LINEAR_BACKWARD = question(
    "backpropagation.linear_backward",
    minutes=20,
    difficulty="medium",
    returns=("d_x", "d_W", "d_b"),
    properties=[
        shapes(0.25, _layers, "each gradient has its parameter's shape"),
        values("d_x", 0.75, _square, "d_x"),
        values("d_W", 1, _all_equal, "d_W"),
        values("d_b", 1, _layers, "d_b"),
        values("odd sizes", 1, _odd_layers),
    ],
    numpy=True,
    mistakes="""
d-w-transposed: Your d_W is the transpose of the right one. It has the shape of W, (in, out): x on the left, d_z on the
right. Where both sizes are equal, only the values tell.
- x.T @ d_z → d_z.T @ x

w-not-transposed: In the backward pass you multiplied d_z by W itself. Forward, W maps inputs to outputs; backward, its
transpose maps outputs to inputs: d_z Wᵀ.
- d_z @ W.T → d_z @ (W if W.shape[0] == W.shape[1] else W.T)

bias-averaged: You averaged d_z over the batch. The same b is added to every example, so its gradient is the *sum* of
theirs; if there is a mean, it is in the loss already.
- d_z.sum(0) → d_z.mean(0)

averaged: You divided by the batch size. If the loss is a mean, it has divided already, so d_z arrives divided. Here you
only add up the examples.
- x.T @ d_z, d_z.sum(0) → x.T @ d_z / len(x), d_z.mean(0)

bias-not-summed: Your d_b has a row for each example. There is one b for all of them: sum the rows, and the result has
the shape of b.
- d_z.sum(0) → d_z.copy()

bias-over-the-outputs: You summed d_z over the outputs. Every output has its own bias: sum over the *examples*, axis 0.
- d_z.sum(0) → d_z.sum(1)
""",
)


# --- a tanh -----------------------------------------------------------------------------------------------


def _activations(draw: Draw) -> list[Case]:
    rows, columns = draw.sizes(2)
    return [case("a batch", tanh(draw.normal(rows, columns)), draw.normal(rows, columns))]


def _saturated(draw: Draw) -> list[Case]:
    (n,) = draw.sizes(1)
    return [
        case("units at their limits", tanh(draw.normal(2, n) * 20), draw.normal(2, n)),
        case("units that are off", zeros(1, n), draw.normal(1, n)),
    ]


KEPT = "units at their limits or off, h and d_h kept"

TANH_BACKWARD = question(
    "backpropagation.tanh_backward",
    minutes=10,
    difficulty="easy",
    returns=("d_z",),
    properties=[
        values("the gradient", 1.25, _activations),
        judged(KEPT, 0.75, _saturated, and_inputs_unchanged(same_values(("d_z",)))),
    ],
    numpy=True,
    mistakes="""
tanh-twice: You applied the tanh to h once more. h is the *output* of the tanh, so the slope is just 1 − h².
- h**2 → np.tanh(h) ** 2

sigmoid-slope: Your slope is h (1 − h). That is the sigmoid's slope; the tanh's is 1 − h².
- (1 - h**2) → h * (1 - h)

not-squared: Your slope is 1 − h, but the tanh's is 1 − h²: it is the same on both sides of 0.
- h**2 → h

slope-alone: That is just the slope. The upstream gradient has to pass through it: multiply d_h by the slope.
- d_h * (1 - h**2) → 1 - h**2

in-place: The values are right, but you wrote them over your input. The caller still needs it: `d_h * s` creates a new
array, `d_h *= s` and `out=` do not.
- d_h * (1 - h**2) → np.multiply(d_h, 1 - h**2, out=d_h)
or
- d_h * (1 - h**2) → np.multiply(d_h, 1 - h**2, out=h)
""",
)
