"""Assignment "backpropagation": gradients by hand, from one neuron to a network with a matrix that is used twice.

The functions differ in form from `nlmcore.autodiff`, which builds a graph of scalars and walks back through it: here
every backward step is written as matrices, in NumPy, where nothing differentiates by itself.
"""

import functools

import torch
from torch import Tensor, tanh, zeros

from autograder.question.declare import exercises_in, inputs_too, question, shapes, values, ways
from autograder.question.draw import Draw
from autograder.question.sized import MAIN, ODD, at, these
from autograder.question.special import at_points, experiment, formula, over_seeds, wrong_line

ask = functools.partial(question, numpy=True)
Tensors = tuple[Tensor, ...]

# --- 1. one neuron, and the node where every language model ends ------------------------------------------------


def neuron(draw: Draw, inputs: int) -> Tensors:
    """The bias is away from 0, where it does nothing, and from 1, where a factor does nothing."""
    bias = draw.normal(1)[0].clone()
    return draw.normal(inputs), draw.normal(inputs), bias + (1.2 if bias > 0 else -0.2)


NEURON = ask(
    "backpropagation.neuron",
    returns=("value", "d_w", "d_x", "d_b"),
    inputs=at("a neuron", neuron),
    odd=[at("a single input", inputs=1)],
    properties=[
        values("the value", 0.5, "value"),
        values("the gradient of the bias", 0.75, "d_b"),
        values("the gradient of the weights", 0.75, "d_w"),
        values("the gradient of the inputs", 0.75, "d_x"),
        values("one input, and float64", 0.25, ODD),
    ],
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
product-for-weights: Your d_x is the slope times w·x, entry by entry; perhaps you multiplied w by x in place, so w was
gone when d_x needed it. A factor gets just the *other* factor.
- slope * w → slope * w * x
slope-negative: All your gradients have the wrong sign. The slope of a sigmoid is (1 − σ) σ, which is above 0.
- (1 - value) * value → (value - 1) * value
bias-for-every-input: Your d_b has an entry for each input. The neuron has one bias, so d_b is one number.
- slope * w, slope → slope * w, slope * np.ones_like(w)
""",
)


def logits(draw: Draw, batch: int, classes: int, around: float = 0.0) -> Tensors:
    return draw.normal(batch, classes) + around, draw.integers(0, classes - 1, batch)


def apart(draw: Draw, classes: int) -> Tensors:
    """No single number may be subtracted from all logits."""
    return draw.normal(2, classes) + torch.tensor([[300.0], [-300.0]]), draw.integers(0, classes - 1, 2)


def far_behind(draw: Draw, classes: int) -> Tensors:
    rows, targets = logits(draw, 2, classes)
    rows[0, (targets[0] + 1) % classes] += 1000
    rows[1, targets[1]] -= 1000
    return rows, targets


SQUARE_TOO = these(at("a batch"), at("as many examples as classes", lambda draw, n: logits(draw, n, n)))
LARGE = these(
    at("logits around 300", around=300.0),
    at("logits around −300", around=-300.0),
    at("a row around 300, one around −300", apart),
)
FROM_P = """
+ e = np.exp(logits - logits.max(axis=-1, keepdims=True))
+ p = e / e.sum(axis=-1, keepdims=True)
+ d_logits, examples = p.copy(), np.arange(len(targets))
+ d_logits[examples, targets] -= 1
+ return -np.log(p[examples, targets] + 1e-{}).mean(), d_logits / len(targets)
"""
"""The usual cure of a logarithm of 0."""

SOFTMAX_LOSS = ask(
    "backpropagation.softmax_loss",
    returns=("loss", "d_logits"),
    inputs=logits,
    properties=[
        shapes(0.25),
        values("the loss", 1, SQUARE_TOO, "loss"),
        values("the gradient of one example", 0.75, at("one example", batch=1), "d_logits"),
        values("the gradient of a batch", 1, SQUARE_TOO, "d_logits"),
        values("large logits", 0.5, LARGE, "loss", "d_logits"),
        values("targets far behind", 0.5, at("targets that are 1000 behind", far_behind), "loss", "d_logits"),
    ],
    mistakes=f"""
batch-forgotten: Your loss is a mean over the batch, but your gradient is that of the sum, so it is too large by a
factor of the batch size. Divide it by the batch size.
- d_logits / len(targets) → d_logits
sum-for-mean: You summed the losses. Return the *mean* over the batch, for the loss and for its gradient, so that a step
does not depend on the batch size.
- .mean(), d_logits / len(targets) → .sum(), d_logits
sign: The sign is the wrong way round: you return one-hot − softmax. That is the direction in which the loss falls; the
gradient points where it grows. For the right word it is below 0.
- d_logits / len(targets) → -d_logits / len(targets)
one-hot-forgotten: Your gradient is just the softmax. Subtract 1 for the target: then each row sums to 0.
- d_logits[examples, targets] -= 1 →
columns-for-entries: You subtract 1 from whole columns: `d[:, targets]` takes the column of every target, in all rows.
Take one entry of each row: `d[np.arange(len(targets)), targets]`.
- d_logits[examples, targets] -= 1 → d_logits[:, targets] -= 1
target-only: Only the target's logit gets a gradient. All the others are in the denominator: they are pushed down, each
by its own probability.
- d_logits = np.exp(log_p)
+ d_logits = np.zeros_like(log_p)
+ d_logits[examples, targets] = np.exp(log_p)[examples, targets]
not-shifted: This is right for small numbers, but e³⁰⁰ is more than a float32 can hold, and e⁻³⁰⁰ is 0. First subtract
from each row its largest logit: nothing else changes.
- z = logits - logits.max(axis=-1, keepdims=True) → z = logits
or
- z = logits - logits.max(axis=-1, keepdims=True)
- log_p = z - np.log(np.exp(z).sum(axis=-1, keepdims=True))
+ log_p = np.log(np.exp(logits) / np.exp(logits).sum(axis=-1, keepdims=True))
shifted-by-the-largest-of-all: You subtract the same number from all rows. In a row far below the others every
exponential is then 0, and the softmax is 0 / 0. Subtract from each row its own largest logit.
- z = logits - logits.max(axis=-1, keepdims=True) → z = logits - logits.max()
shifted-by-columns: You subtract from each *column* its largest logit. Within a row, all logits must fall by the same
number; otherwise the softmax changes.
- logits.max(axis=-1 → logits.max(axis=0
log-of-zero: Your softmax is safe, but the logarithm after it is not: a tiny probability has been rounded to 0, and ln 0
is −∞. (Adding a small number makes the loss wrong, not right.) Do not take the logarithm of a quotient: write it as a
difference, as the hint does.
- z - np.log(np.exp(z).sum(axis=-1, keepdims=True)) → np.log(np.exp(z) / np.exp(z).sum(axis=-1, keepdims=True))
{ways(FROM_P, *range(6, 16))}
keepdim-forgotten: The row maxima or the row sums have lost their axis, so a shape of (batch,) is broadcast along the
*columns*. That is an error unless there are as many examples as classes, and then it is wrong. With `keepdims=True` the
shape is (batch, 1).
- sum(axis=-1, keepdims=True) → sum(axis=-1)
or
- max(axis=-1, keepdims=True) → max(axis=-1)
or
* axis=-1, keepdims=True → axis=-1
softmax-over-the-batch: Your softmax runs down the batch, axis 0, so the examples compete for a word. The words should
compete within each example: every *row* of p sums to 1.
* axis=-1 → axis=0
divided-by-all-entries: Your loss is divided by the number of all logits, perhaps by a mean over a table that is 0
except at the targets. There is one loss per example: divide by the number of examples.
- .mean(), d_logits → .mean() / logits.shape[1], d_logits
or
- .mean(), d_logits → .mean() / logits.shape[1], d_logits / logits.shape[1]
in-bits: Your loss is in bits, from log2. This course uses the natural logarithm.
- .mean(), d_logits → .mean() / np.log(2), d_logits
gradient-divided-by-all-entries: Your gradient is divided by the number of all logits, or of words. The loss is a mean
over the examples: divide by their number.
- d_logits / len(targets) → d_logits / d_logits.size
or
- d_logits / len(targets) → d_logits / logits.shape[1]
logits-limited: You limit the logits, so large ones become equal. That changes the softmax. Subtracting the largest of
each row keeps the differences.
^ logits = np.clip(logits, -80, 80)
or
^ logits = np.clip(logits, -50, 50)
or
^ logits = np.clip(logits, -88, 88)
or
^ logits = np.clip(logits, -100, 100)
first-example-only: Your loss is that of the first example. Return the mean over the batch.
- -log_p[examples, targets].mean(), → -log_p[0, targets[0]],
entropy-for-loss: Your loss is the entropy of the softmax: it weighs every −ln p by p. Take −ln p of the target only.
- -log_p[examples, targets].mean(), → -(np.exp(log_p) * log_p).sum() / len(targets),
""",
)

# --- 2. a linear layer and a tanh ------------------------------------------------------------------------------


def linear(draw: Draw, batch: int, n_in: int, n_out: int) -> Tensors:
    return draw.normal(batch, n_in), draw.normal(n_in, n_out), draw.normal(batch, n_out)


def sliced(draw: Draw, batch: int, n: int) -> Tensors:
    return draw.strided(batch, n), draw.strided(n, n), draw.strided(batch, n)


SQUARE = at("as many outputs as inputs", lambda draw, batch, n: linear(draw, batch, n, n))
CUBE = at("batch, inputs and outputs of one size", lambda draw, n: linear(draw, n, n, n))
LINEAR = ask(
    "backpropagation.linear_backward",
    returns=("d_x", "d_W", "d_b"),
    inputs=linear,
    odd=[at("one example, one output", batch=1, n_out=1), at("a slice of something larger", sliced)],
    properties=[
        shapes(0.25, name="each gradient has its parameter's shape"),
        values("d_x", 0.75, SQUARE, "d_x"),
        values("d_W", 1, CUBE, "d_W"),
        values("d_b", 1, MAIN, CUBE, "d_b"),
        values("odd sizes", 1, ODD),
    ],
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
or
- x.T @ d_z, d_z.sum(0) → x.T @ d_z / len(x), d_z.sum(0)
bias-not-summed: Your d_b has a row for each example. There is one b for all of them: sum the rows, and the result has
the shape of b.
- d_z.sum(0) → d_z.copy()
bias-over-the-outputs: You summed d_z over the outputs. Every output has its own bias: sum over the *examples*, axis 0.
- d_z.sum(0) → d_z.sum(1)
sums-multiplied: You summed x and d_z over the batch before you multiplied them. That mixes examples. Multiply first,
each example's x by its own d_z, then add; xᵀ d_z does both.
- x.T @ d_z → np.outer(x.sum(0), d_z.sum(0))
reshaped-for-transposed: You reshaped the product to the right shape. Reshaping puts the entries in the wrong places.
The products are x.T @ d_z and d_z @ W.T.
- x.T @ d_z → (d_z.T @ x).reshape(W.shape)
or
- d_z @ W.T → (W @ d_z.T).reshape(x.shape)
first-example-only: Your d_W and d_b are those of the first example. All examples contribute: xᵀ d_z adds them up.
- x.T @ d_z, d_z.sum(0) → np.outer(x[0], d_z[0]), d_z[0]
bias-a-row: Your d_b has two axes. It has the shape of b, (out,): sum without `keepdims`.
- d_z.sum(0) → d_z.sum(0, keepdims=True)
bias-summed-to-one-number: You added up d_z over examples *and* outputs. Each output has its own bias: sum over axis 0.
- d_z.sum(0) → np.full(d_z.shape[1], d_z.sum())
axes-squeezed: You squeezed the results: with one example or one output, an axis is lost. Each gradient keeps the shape
of its parameter.
- d_z @ W.T, x.T @ d_z, d_z.sum(0) → np.squeeze(d_z @ W.T), np.squeeze(x.T @ d_z), np.squeeze(d_z.sum(0))
""",
)


def activations(draw: Draw, rows: int, columns: int, size: float = 1.0) -> Tensors:
    return tanh(draw.normal(rows, columns) * size), draw.normal(rows, columns)


LIMITS = these(
    at("units at their limits", size=20.0), at("units that are off", lambda draw, n: (zeros(1, n), draw.normal(1, n)))
)
TANH_BACKWARD = ask(
    "backpropagation.tanh_backward",
    returns=("d_z",),
    inputs=activations,
    properties=[
        values("the gradient", 1.25),
        inputs_too(values("units at their limits or off, h and d_h kept", 0.75, LIMITS)),
    ],
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
brackets-forgotten: The brackets are missing: d_h * 1 − h² is d_h − h². Multiply d_h by (1 − h²).
- d_h * (1 - h**2) → d_h - h**2
absolute-for-square: Your slope is 1 − |h|; the tanh's is 1 − h².
- h**2 → np.abs(h)
squared-as-a-whole: Your slope is (1 − h)². Square h only: 1 − h².
- (1 - h**2) → (1 - h) ** 2
never-off: You keep the slope away from 0. A saturated unit lets nothing through: its slope is 0.
- (1 - h**2) → np.maximum(1 - h**2, 0.01)
""",
)

# --- 3 and 4. a whole network, and a matrix that is used twice -------------------------------------------------


def network(draw: Draw, batch: int, n_in: int, hidden: int, classes: int) -> Tensors:
    x, targets = draw.normal(batch, n_in), draw.integers(0, classes - 1, batch)
    return x, targets, *(draw.normal(*n) for n in ((n_in, hidden), (hidden,), (hidden, classes), (classes,)))


MLP_GRADIENTS = ask(
    "backpropagation.mlp_gradients",
    returns=("loss", "d_W1", "d_b1", "d_W2", "d_b2"),
    inputs=network,
    odd=[
        at("one example", lambda draw, n: network(draw, 1, n, n, n)),
        at("one hidden unit", lambda draw, n: network(draw, n, n, 1, n + 1)),
    ],
    properties=[
        shapes(0.5, name="each gradient has its parameter's shape"),
        values("the loss", 0.5, "loss"),
        values("the upper layer", 1.5, "d_W2", "d_b2"),
        values("the lower layer", 2.5, "d_W1", "d_b1"),
        values("one example, one hidden unit", 1, ODD),
    ],
    mistakes="""
tanh-skipped: The gradients of the lower layer bypassed the tanh. After W2ᵀ you have the gradient of h; to get the
gradient before the tanh, multiply by 1 − h².
- tanh_backward(h, d_h) → d_h
before-for-after-the-tanh: You computed d_W2 with the hidden layer *before* its tanh. The input of W2 is h: its gradient
is hᵀ times the upstream gradient.
- linear_backward(h, W2, d_z) → linear_backward(x @ W1 + b1, W2, d_z)
slope-from-before-the-tanh: Your slope of the tanh is 1 − z², where z is its input. It is 1 − h², where h = tanh(z) is
its output.
- tanh_backward(h, d_h) → d_h * (1 - (x @ W1 + b1) ** 2)
tanh-twice: You applied the tanh to h once more. h is the *output* of the tanh: the slope is 1 − h².
- tanh_backward(h, d_h) → d_h * (1 - np.tanh(h) ** 2)
one-hot-forgotten: Your gradient of the logits is just the softmax: the loss is right, but all gradients after it are
not. Subtract 1 for the target, before you divide.
- loss, d_z = softmax_loss(h @ W2 + b2, targets)
+ loss, d_z = softmax_loss(h @ W2 + b2, targets)
+ d_z[np.arange(len(x)), targets] += 1 / len(x)
batch-forgotten: The loss is a mean, but your gradients are those of the sum: all are too large by a factor of the batch
size. Divide once, where the loss is computed.
- loss, d_z = softmax_loss(h @ W2 + b2, targets)
+ loss, d_z = softmax_loss(h @ W2 + b2, targets)
+ d_z = d_z * len(x)
in-another-order: You return the gradients in a different order. After the loss, return those of W1, b1, W2, b2, in the
order of the signature.
- d_W1, d_b1, d_W2, d_b2 → d_W1, d_W2, d_b1, d_b2
or
- d_W1, d_b1, d_W2, d_b2 → d_W2, d_b2, d_W1, d_b1
sign: All gradients point downhill. A gradient points where the loss grows: softmax − one-hot.
- loss, d_z = softmax_loss(h @ W2 + b2, targets)
+ loss, d_z = softmax_loss(h @ W2 + b2, targets)
+ d_z = -d_z
biases-ignored: Your forward pass leaves out the biases b1 and b2.
^ b1, b2 = 0 * b1, 0 * b2
relu-slope: Your slope of the hidden layer is relu's, 1 where h is above 0. This layer is a tanh: 1 − h².
- tanh_backward(h, d_h) → d_h * (h > 0)
divided-twice: You divided gradients by the batch size once more. The gradient of the logits is divided already.
- return loss, d_W1, d_b1, d_W2, d_b2 → return loss, *(d / len(x) for d in (d_W1, d_b1, d_W2, d_b2))
or
- tanh_backward(h, d_h)) → tanh_backward(h, d_h) / len(x))
biases-averaged: You averaged over the batch to get the gradient of a bias. The gradient of the logits is divided
already: only add.
- return loss, d_W1, d_b1, d_W2, d_b2 → return loss, d_W1, d_b1 / len(x), d_W2, d_b2 / len(x)
or
- return loss, d_W1, d_b1, → return loss, d_W1, d_b1 / len(x),
last-example-only: Your gradients are those of the last example alone. Each example contributes its part of the mean.
- return loss, d_W1, d_b1, d_W2, d_b2
+ d_h, d_W2, d_b2 = linear_backward(h[-1:], W2, d_z[-1:] * len(x))
+ _, d_W1, d_b1 = linear_backward(x[-1:], W1, tanh_backward(h[-1:], d_h))
+ return loss, d_W1, d_b1, d_W2, d_b2
""",
)


def tied(draw: Draw, batch: int, n_in: int, hidden: int) -> Tensors:
    return draw.normal(batch, n_in), draw.normal(n_in, hidden) / n_in**0.5, draw.normal(batch, n_in)


TIED_GRADIENT = ask(
    "backpropagation.tied_gradient",
    returns=("d_W",),
    inputs=tied,
    odd=[
        at("one example, one hidden unit", batch=1, hidden=1),
        at("W is square", lambda draw, n: tied(draw, 2, n, n)),
    ],
    properties=[
        shapes(0.25, name="it has the shape of W"),
        values("the gradient", 2.75),
        values("small sizes", 1, ODD),
    ],
    mistakes="""
second-use-only: You counted only W's second use, the upper one. W also produced h: its gradient is the sum over both
paths.
- upper + lower → upper
first-use-only: You counted only W's first use, the lower one; perhaps the second was overwritten (`=` instead of `+=`).
The gradient is the sum over both paths.
- upper + lower → lower
averaged: You took the mean of the two paths. Gradients that meet are *added*.
- upper + lower → (upper + lower) / 2
tanh-skipped: On the path through W's first use the tanh is missing: multiply by 1 − h².
- tanh_backward(h, d_y @ W) → d_y @ W
upper-use-not-transposed: For the upper use you computed the gradient of Wᵀ, (hidden, in). W itself gets its transpose,
d_yᵀ h; where W is square, only the values tell.
- (h.T @ d_y).T → h.T @ d_y
back-by-the-transpose: From y back to h you multiplied by Wᵀ. Forward, y = h Wᵀ; backward you need the transpose of
*that*, which is W itself.
- d_y @ W) → d_y @ W.T)
divided-by-the-batch: You divided by the batch size. There is no mean here: if the loss is one, d_y arrives divided.
Only add up the examples.
- upper + lower → (upper + lower) / len(x)
before-for-after-the-tanh: For the upper use you took x W, *before* the tanh. The input of Wᵀ is h.
- (h.T @ d_y).T → d_y.T @ (x @ W)
reshaped-for-transposed: You reshaped the gradient of the upper use to the shape of W. Reshaping puts the entries in
the wrong places; transpose it.
- (h.T @ d_y).T → (h.T @ d_y).reshape(W.shape)
slope-on-both-paths: You multiplied the upper use by the slope of the tanh as well. That path does not go back through
the tanh: its gradient is d_yᵀ h.
- (h.T @ d_y).T → d_y.T @ (h * (1 - h**2))
paths-multiplied: You multiplied the contributions of the two paths. Gradients that meet are *added*.
- upper + lower → upper * lower
paths-subtracted: You subtracted one path from the other. Gradients that meet are *added*.
- upper + lower → upper - lower
output-for-input: For the lower use you took the output y. The input of the lower W is x.
- lower = x.T → lower = (h @ W.T).T
input-for-upstream: For the upper use you took x instead of the upstream gradient d_y.
- (h.T @ d_y).T → x.T @ h
""",
)

# --- 5 and 6. label smoothing, and the wrong line of a colleague's backward pass -------------------------------

_points = at_points(z=(-3.0, 3.0), epsilon=(0.05, 0.4))
SMOOTHED_LOSS = ask(
    "backpropagation.smoothed_loss",
    returns=("slope", "best"),
    properties=[formula("the slope", 1, _points, "slope"), formula("the best logit", 1, _points, "best")],
    mistakes="""
target-still-hard: Your slope is the one without smoothing, σ(z) − 1. The target is 1 − ε.
- (1 - epsilon), math → 1, math
smoothing-with-the-wrong-sign: Your target is 1 + ε, above 1: the second term of the loss got the wrong sign. Its slope
is ε σ(z).
- (1 - epsilon), math → (1 + epsilon), math
target-is-the-rest: Your target is ε, the probability of the other class. The labelled class has 1 − ε.
- (1 - epsilon), math → epsilon, math
- math.log((1 - epsilon) / epsilon) → math.log(epsilon / (1 - epsilon))
or
- (1 - epsilon), math → epsilon, math
slope-reversed: Your slope has the wrong sign: it is what the model says minus what is right. Where the probability is
too large, a smaller logit has a smaller loss.
- 1 / (1 + math.exp(-z)) - (1 - epsilon) → (1 - epsilon) - 1 / (1 + math.exp(-z))
best-reversed: Your best logit has the wrong sign. The labelled class should be the more probable one, so with ε below ½
the best logit is above 0.
- math.log((1 - epsilon) / epsilon) → math.log(epsilon / (1 - epsilon))
probability-for-logit: Your second result is the best *probability*. Solve σ(z) = 1 − ε for z.
- math.log((1 - epsilon) / epsilon) → 1 - epsilon
ratio-without-logarithm: Your second result is e^z. Take its logarithm.
- math.log((1 - epsilon) / epsilon) → (1 - epsilon) / epsilon
loss-for-slope: Your first result is L(z) itself. Return its derivative.
- 1 / (1 + math.exp(-z)) - (1 - epsilon) → math.log(1 + math.exp(-z)) + epsilon * z
small-epsilon-only: Your best logit is −ln ε, right only for tiny ε. Solve σ(z) = 1 − ε exactly.
- math.log((1 - epsilon) / epsilon) → -math.log(epsilon)
second-term-subtracted: You subtracted ε σ(z). The slope of −ln σ(−z) is +σ(z), so both terms are added.
+ s = 1 / (1 + math.exp(-z))
+ return (1 - epsilon) * (s - 1) - epsilon * s, math.log((1 - epsilon) / epsilon)
in-bits: Your best logit has a logarithm of base 2. The sigmoid is made of powers of e.
- math.log((1 → math.log2((1
epsilon-shared: You gave half of ε to each class, as many libraries do. Here the label is right with probability 1 − ε.
^ epsilon = epsilon / 2
""",
)


def residual(draw: Draw, batch: int, d: int, hidden: int) -> Tensors:
    return draw.normal(batch, d), draw.normal(d, hidden), draw.normal(hidden, d), draw.normal(batch, d)


RESIDUAL = ask(
    "backpropagation.residual_backward",
    returns=("d_x", "d_W", "d_V"),
    inputs=at("several examples", residual),
    properties=[
        values("the gradients of the matrices", 1.25, "d_W", "d_V"),
        values("the gradient of the input", 0.75, "d_x"),
    ],
    planted="- (a > 0) → h",
    mistakes="""
path-around-lost: The gradient of x lost the path around the layer. x reaches y along two paths, and their gradients
add.
- d_y + d_a @ W.T → d_a @ W.T
path-around-twice: The path around passes on d_y as it is, once. You added it twice.
- d_y + d_a @ W.T → 2 * d_y + d_a @ W.T
slope-of-tanh: 1 − h² is the slope of tanh. relu has the slope 1 above 0 and 0 below.
- (a > 0) → (1 - h**2)
gradient-masked-by-itself: You let the gradient through where the *gradient* is above 0. What counts is whether the
input of relu was.
- d_h * (a > 0) → np.maximum(d_h, 0)
nothing-masked: You pass on the gradient everywhere. Below 0, relu is flat: nothing that happens there reaches y.
- d_h * (a > 0) → d_h
sign-for-slope: You multiplied by the sign of a, which is −1 below 0. There relu is flat, so its slope is 0.
- (a > 0) → np.sign(a)
mask-inverted: Your mask is inverted: relu is flat *below* 0, and there the gradient is 0.
- a > 0 → a <= 0
""",
)

WRONG_LINE = wrong_line(
    "backpropagation.wrong_line",
    RESIDUAL,
    points=1,
    mistakes="""
relu-suspected: Line {h = np} is right: the larger of a and 0 is relu.
upper-matrix-suspected: Line {d_V =} is right: input of the product, transposed, times upstream gradient.
hidden-suspected: Line {d_h =} is right: it is the gradient of the product's input, as in 2a.
symptom-not-cause: Line {d_W =} gives wrong values, but it does what it should with its input. Where did that come from?
sum-suspected: Line {d_x =} is right: x reaches y along two paths, one of which is the identity.
""",
)

# --- 7. from which weights should the first layer begin? -------------------------------------------------------

BEGINNINGS = experiment(
    "backpropagation.beginnings",
    table="losses",
    points=(0.5, 4.5, 3),
    claims=["1 < 0", "0 ~ 1, 0 < 2", "0 < 1, 0 < 2", "0 ~ 1, 0 ~ 2"],
    fresh=over_seeds(count=3)[1],
    tolerance=1e-3,
    numpy=True,
    mistakes="""
one-seed-repeated: Every row is the same: you used the same seed each time. Use `seed`, which differs from row to row.
- network(seed, scale) → network(seeds[0], scale)
loss-before-the-last-step: That is the loss before the last step: `mlp_gradients` returns the loss of the parameters
that it was given. Call it once more after the last step.
- range(20) → range(19)
uphill: Your losses grow: the gradient points to where the loss grows fastest. Step in the opposite direction.
- p - 0.3 → p + 0.3
first-loss: That is the loss before any step. Train for 20 steps first.
- range(20) → range(0)
gradients-of-the-start: You computed the gradients once, at the start, and took all 20 steps along them. The slope
changes with every step: compute it again.
- for _ in range(20):
-             _, *gradients = mlp_gradients(x, targets, *parameters)
+ _, *gradients = mlp_gradients(x, targets, *parameters)
+         for _ in range(20):
columns-sorted: You sorted each column. Then a row no longer belongs to one seed, and the differences mix two networks.
- conclusion = 2 → losses = list(np.sort(losses, axis=0)); conclusion = 2
best-seed-picked: You return the lowest loss over all seeds, in every row. A result that may choose its seed looks
better than it is: keep the number of every seed.
- conclusion = 2 → losses = [np.min(losses, axis=0)] * len(seeds); conclusion = 2
against-the-numbers: Your own numbers do not say that a first layer of zeros ends with a higher loss: for most seeds it
is lower. Only if *all* weights are 0 do the units stay equal; here W2 tells them apart.
- conclusion = 2 → conclusion = 1
first-seed-believed: That scale 0 ends with a lower loss than scale 1 is true for some of your seeds, not for all, and
the mean difference is within what chance explains.
- conclusion = 2 → conclusion = 3
large-start-excused: Scales 0 and 10 can be told apart: for every seed the loss of scale 10 is higher.
- conclusion = 2 → conclusion = 4
biases-left-out: You train only W1 and W2. Every parameter moves, the biases too.
- p - 0.3 * g for → p - 0.3 * g * (p.ndim > 1) for
rate-too-small: Your steps are ten times too small: the learning rate is 0.3.
- p - 0.3 → p - 0.03
scales-reversed: Your columns are in the reverse order. They belong to the scales 0, 1 and 10.
- (0, 1, 10) → (10, 1, 0)
losses-summed: Your losses are sums over the eight examples. `mlp_gradients` returns their mean.
- .append(mlp_gradients(x, targets, *parameters)[0]) → .append(len(x) * mlp_gradients(x, targets, *parameters)[0])
""",
)

EXERCISES = exercises_in(__name__)
