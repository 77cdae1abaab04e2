"""Layers one after another. What a variant does to the order of layers, it does in another stack.

h^l = layer_l(h^{l−1})          Vaswani et al. (2017), section 3.1

Departs from the paper: nothing.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from jaxtyping import Bool, Float
from torch import Tensor, nn

from nlmcore.attention import Memory


class Stack(nn.ModuleList):
    """All layers of an encoder (`forward`) or a decoder (`read`); `stack[3]` is one of them."""

    def forward(
        self, x: Float[Tensor, "batch time d_model"], mask: Bool[Tensor, "..."] | None = None
    ) -> Float[Tensor, "batch time d_model"]:
        """Every position sees every other that the mask, broadcast to (batch, head, query, key), allows."""
        for layer in self:
            x = layer(x, mask)
        return x

    def read(
        self,
        x: Float[Tensor, "batch time d_model"],
        states: Sequence[Any] | None = None,
        memories: Sequence[Memory | None] | None = None,
        memory_mask: Bool[Tensor, "..."] | None = None,
    ) -> tuple[Float[Tensor, "batch time d_model"], tuple[Any, ...]]:
        """Every layer reads on from its own state; memories: what each layer keeps of the source, if there is one.

        Raises ValueError if there is not one of either per layer.
        """
        for given in (states, memories):
            if given is not None and len(given) != len(self):
                raise ValueError(f"state must come from a model of {len(self)} layers, got one of {len(given)}")
        layers: Iterable[Any] = self
        new = []
        for i, layer in enumerate(layers):
            x, state = layer.read(x, states and states[i], memories and memories[i], memory_mask)
            new.append(state)
        return x, tuple(new)

    def remember(self, source: Float[Tensor, "batch source d_model"]) -> tuple[Memory | None, ...]:
        """The encoder's output as every layer will look at it; None for a layer that does not."""
        layers: Iterable[Any] = self
        return tuple(layer.remember(source) for layer in layers)
