"""A multilayer perceptron whose backpropagation is written by hand.

Source: Rumelhart, Hinton & Williams (1986), "Learning representations by back-propagating errors", in the
matrix form of CS231n.

    forward     h⁰ = x,    aˡ = W^l h^{l-1} + b^l,    h^l = f(a^l),    and the last layer's a^L are the scores
    backward    δ^l = ∂L/∂a^l:      δ^L = (softmax(a^L) − y)/batch for the mean log loss L
                ∂L/∂W^l = Σ δ^l (h^{l-1})ᵀ,    ∂L/∂b^l = Σ δ^l,    δ^{l-1} = ((W^l)ᵀ δ^l) ⊙ f'(a^{l-1})

Symbols: rows are examples, so W h is written `h @ W.T`; W^l is `weights[l-1]`. f' is a function of h = f(a), which the
forward pass has kept: σ' = (1 − σ)σ, tanh' = 1 − tanh².

Departs from the source: cross-entropy instead of squared error, batches instead of single examples.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from nlmcore.checks import check_sizes, checked


@dataclass(frozen=True)
class Activation:
    """f, and f' as a function of h = f(a)."""

    name: str
    function: Callable[[Tensor], Tensor]
    derivative: Callable[[Tensor], Tensor]


SIGMOID = Activation("sigmoid", torch.sigmoid, lambda h: (1 - h) * h)
TANH = Activation("tanh", torch.tanh, lambda h: 1 - h * h)
RELU = Activation("relu", torch.relu, lambda h: (h > 0).to(h.dtype))


@dataclass(frozen=True)
class Gradients:
    """∂L/∂W^l and ∂L/∂b^l for every layer, and ∂L/∂x."""

    weights: tuple[Tensor, ...]
    biases: tuple[Tensor, ...]
    x: Tensor


def forward(
    x: Float[Tensor, "batch d_in"], weights: Sequence[Tensor], biases: Sequence[Tensor], f: Activation
) -> list[Tensor]:
    """Every layer's output [x, h¹, …, h^{L-1}, scores], for the backward pass. W^l is (d_out, d_in), b^l (d_out,)."""
    _check_layers(x, weights, biases)
    h = [x]
    for W, b in zip(weights[:-1], biases[:-1], strict=True):
        h.append(f.function(h[-1] @ W.T + b))
    h.append(h[-1] @ weights[-1].T + biases[-1])  # the scores: no activation
    return h


@checked
def cross_entropy(
    scores: Float[Tensor, "batch label"], targets: Int[Tensor, " batch"]
) -> tuple[Float[Tensor, ""], Float[Tensor, "batch label"]]:
    """L = mean of −ln softmax(scores)[target], and ∂L/∂scores = (softmax(scores) − one-hot target)/batch."""
    if not scores.numel():
        raise ValueError(f"scores must be (batch, label), neither of them 0, got shape {tuple(scores.shape)}")
    low, high = int(targets.min()), int(targets.max())
    if low < 0 or high >= scores.shape[1]:
        raise ValueError(f"targets must be labels in [0, {scores.shape[1]}), got {low} to {high}")
    log_p = scores.log_softmax(dim=-1)
    rows = torch.arange(len(scores), device=scores.device)
    delta = log_p.exp()
    delta[rows, targets.long()] -= 1
    return -log_p[rows, targets.long()].mean(), delta / len(scores)


def backward(h: Sequence[Tensor], delta: Tensor, weights: Sequence[Tensor], f: Activation) -> Gradients:
    """Carry δ = ∂L/∂scores (batch, label) back through the layers whose outputs `forward` has kept in h."""
    d_weights, d_biases = [], []
    for layer in range(len(weights) - 1, -1, -1):
        d_weights.append(delta.T @ h[layer])  # (d_out, d_in): summed over the batch
        d_biases.append(delta.sum(dim=0))
        d_h = delta @ weights[layer]  # upstream for the layer below
        delta = d_h * f.derivative(h[layer]) if layer > 0 else d_h
    return Gradients(tuple(reversed(d_weights)), tuple(reversed(d_biases)), delta)


class MultiLayerPerceptron(nn.Module):
    """Layers of `sizes`, as (d_in, d_hidden, …, d_out), with the activation f between them."""

    @checked
    def __init__(self, sizes: Sequence[int], activation: Activation = SIGMOID) -> None:
        super().__init__()
        if len(sizes) < 2:
            raise ValueError(f"sizes must name at least an input and an output width, got {list(sizes)}")
        check_sizes(**{f"sizes[{i}]": size for i, size in enumerate(sizes)})
        self.sizes, self.d_in, self.activation = tuple(sizes), sizes[0], activation
        layers = [nn.Linear(d_in, d_out) for d_in, d_out in pairwise(sizes)]
        self.weights = nn.ParameterList([layer.weight for layer in layers])  # with nn.Linear's initialisation
        self.biases = nn.ParameterList([layer.bias for layer in layers])

    @checked
    def forward(self, x: Float[Tensor, "batch {self.d_in}"]) -> Tensor:
        """x (batch, d_in) -> scores (batch, d_out)."""
        _check_not_empty(x)
        return forward(x, list(self.weights), list(self.biases), self.activation)[-1]

    @checked
    @torch.no_grad()
    def backpropagate(self, x: Float[Tensor, "batch {self.d_in}"], targets: Int[Tensor, " batch"]) -> Tensor:
        """Mean log loss of labels `targets`; adds its gradient to every `.grad`, as loss.backward() would."""
        _check_not_empty(x)
        weights, biases = list(self.weights), list(self.biases)
        h = forward(x, weights, biases, self.activation)
        loss, delta = cross_entropy(h[-1], targets)
        gradients = backward(h, delta, weights, self.activation)
        for parameter, gradient in zip(weights + biases, gradients.weights + gradients.biases, strict=True):
            gradient = gradient.to(parameter.dtype)  # under autocast it is in half precision
            parameter.grad = gradient.clone() if parameter.grad is None else parameter.grad + gradient
        return loss


def _check_not_empty(x: Tensor) -> None:
    if not len(x):
        raise ValueError(f"x must hold at least one example, got shape {tuple(x.shape)}")


def _check_layers(x: Tensor, weights: Sequence[Tensor], biases: Sequence[Tensor]) -> None:
    if not weights or len(weights) != len(biases):
        raise ValueError(f"weights and biases must be one each per layer, got {len(weights)} and {len(biases)}")
    width = x.shape[-1]
    for layer, (W, b) in enumerate(zip(weights, biases, strict=True)):
        if W.ndim != 2 or W.shape[1] != width:
            raise ValueError(f"weights[{layer}] must be (d_out, {width}), as wide as its input, got {tuple(W.shape)}")
        width = W.shape[0]
        if b.shape != (width,):
            raise ValueError(f"biases[{layer}] must be ({width},), like its weights' rows, got {tuple(b.shape)}")
