"""A multilayer perceptron whose backpropagation is written by hand.

Source: Rumelhart, Hinton & Williams (1986), "Learning representations by back-propagating errors", in the
matrix form of CS231n.

    forward     h⁰ = x,    aˡ = W^l h^{l-1} + b^l,    h^l = f(a^l),    and the last layer's a^L are the scores
    backward    δ^l = ∂L/∂a^l:      δ^L = (softmax(a^L) − y)/batch for the mean log loss L
                ∂L/∂W^l = Σ δ^l (h^{l-1})ᵀ,    ∂L/∂b^l = Σ δ^l,    δ^{l-1} = ((W^l)ᵀ δ^l) ⊙ f'(a^{l-1})

Symbols: the sums run over the batch. Rows are examples, so W h is written `h @ W.T`; W^l is `weights[l-1]`. f' is a
function of h = f(a), which the forward pass has kept: σ' = (1 − σ)σ, tanh' = 1 − tanh².

Departs from the source: cross-entropy instead of squared error, batches instead of single examples.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor


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
    h = [x]
    for W, b in zip(weights[:-1], biases[:-1], strict=True):
        h.append(f.function(h[-1] @ W.T + b))
    h.append(h[-1] @ weights[-1].T + biases[-1])  # the scores: no activation
    return h


def backward(h: Sequence[Tensor], delta: Tensor, weights: Sequence[Tensor], f: Activation) -> Gradients:
    """Carry δ = ∂L/∂scores (batch, label) back through the layers whose outputs `forward` has kept in h."""
    d_weights, d_biases = [], []
    for layer in range(len(weights) - 1, -1, -1):
        d_weights.append(delta.T @ h[layer])  # (d_out, d_in): summed over the batch
        d_biases.append(delta.sum(dim=0))
        d_h = delta @ weights[layer]  # upstream for the layer below
        delta = d_h * f.derivative(h[layer]) if layer > 0 else d_h
    return Gradients(tuple(reversed(d_weights)), tuple(reversed(d_biases)), delta)
