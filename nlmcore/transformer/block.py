"""One Transformer layer and its parts: attention, then a feed-forward network, each added to a residual pathway.

    self-attention     x ← residual(x, attention)
    cross-attention    x ← residual(x, attention to the source)      in the decoder of an encoder-decoder only
    feed-forward       x ← residual(x, FFN)                          Vaswani et al. (2017), section 3.1

    pre-norm           y = f(LN(x)),   x ← x + y                     Xiong et al. (2020), GPT-2 and later
    post-norm          y = f(x),       x ← LN(x + y)                 Vaswani et al. (2017), section 3.1

    FFN(x) = φ(x W1 + b1) W2 + b2                                    Vaswani et al. (2017), section 3.3, with φ = ReLU

A residual rule is called twice around a sublayer f: rule(x) is what f reads and, with y = f(rule(x)), rule(x, y) the
new x; `nlmcore.variants` has more of them. BERT and GPT use φ = GELU (Hendrycks & Gimpel 2016).

Departs from 2017: dropout falls on attention weights too, as in the authors' code; the default activation is GELU.
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor, nn

from nlmcore.attention import Memory
from nlmcore.checks import Rate, Size, checked
from nlmcore.fast import Linear
from nlmcore.transformer.checks import check_layers, self_attention

X = Float[Tensor, "batch time d_model"]
Mask = Bool[Tensor, "..."] | None  # broadcasts to (batch, head, query, key), True = may attend
Each = Sequence[Any] | None  # one for each layer


class PreNorm(nn.Module):
    """x + f(norm(x)): the pathway from the last layer to the first is a sum without a norm in it."""

    def __init__(self, norm: nn.Module, dropout: Rate = 0.0) -> None:
        super().__init__()
        self.norm, self.dropout = norm, nn.Dropout(dropout)

    def forward(self, x: X, y: X | None = None) -> X:
        """What the sublayer reads; with its output y, the new x."""
        return self.norm(x) if y is None else x + self.dropout(y)  # no norm on the way: ∂(x + y)/∂x contains I


class PostNorm(PreNorm):
    """norm(x + f(x)): as published; deep stacks need a warm-up of the learning rate."""

    def forward(self, x: X, y: X | None = None) -> X:
        return x if y is None else self.norm(x + self.dropout(y))


class FeedForward(nn.Module):
    """φ(x W1 + b1) W2 + b2, with hidden width d_ff, applied to every position by itself."""

    matrices = 1  # how many lie in `inner`, one above the other

    @checked
    def __init__(self, d_model: Size, d_ff: Size, activation: Callable = F.gelu, bias: bool = True) -> None:
        super().__init__()
        self.inner = Linear(d_model, self.matrices * d_ff, bias=bias)  # one product, also where there are two matrices
        self.outer = Linear(d_ff, d_model, bias=bias)
        if isinstance(activation, type):  # nn.GELU instead of nn.GELU(): would be called with x as its options
            raise TypeError(f"activation must be a function of a tensor, like F.gelu or nn.GELU(), got {activation!r}")
        self.activation = activation

    def forward(self, x: X) -> X:
        return self.outer(self.activation(self.inner(x)))  # d_model -> d_ff -> d_model


class GatedFeedForward(FeedForward):
    """(φ(x W + b) ⊙ (x V + c)) W2 + b2: Shazeer (2020), "GLU variants", section 2; `inner` holds Wᵀ above Vᵀ.

    GLU has φ = sigmoid (Dauphin et al. 2017), ReGLU ReLU, GEGLU GELU, SwiGLU Swish. At equal d_ff it has half as many
    parameters again as FeedForward; Shazeer (2020) compares at d_ff · 2/3.
    """

    matrices = 2

    def __init__(self, d_model: int, d_ff: int, activation: Callable = F.silu, bias: bool = True) -> None:
        super().__init__(d_model, d_ff, activation, bias)

    def forward(self, x: X) -> X:
        gate, content = self.inner(x).chunk(2, dim=-1)  # x W + b and x V + c, (batch, time, d_ff) each
        return self.outer(self.activation(gate) * content)


class Layer(nn.Module):
    """The sublayers of a TransformerConfig `c`: attention, to a source too if `cross`, and if wanted the network."""

    def __init__(self, c: Any, causal: bool = False, cross: bool = False, feed_forward: bool = True) -> None:
        super().__init__()
        self.attention, self.residual_attention = self_attention(c, causal), c.residual(c)
        if cross:  # each sublayer has a residual rule, and so a norm, of its own
            self.cross_attention, self.residual_cross_attention = c.cross_attention(c), c.residual(c)
        self.feed_forward: Any = None
        if feed_forward:
            self.feed_forward, self.residual_feed_forward = c.feed_forward(c.d_model, c.hidden_size), c.residual(c)
        self.branches = 1 + cross + feed_forward  # how many sublayers add to the residual pathway

    def transform(self, x: X) -> X:
        """What follows attention: the feed-forward network, if there is one."""
        if self.feed_forward is None:
            return x
        return self.residual_feed_forward(x, self.feed_forward(self.residual_feed_forward(x)))

    def last_matrices(self) -> list[nn.Linear]:
        """The linear maps that end each branch; first weights scale them by the depth."""
        attentions = (self.attention, getattr(self, "cross_attention", None))
        return last_matrices(*(getattr(part, "output", part) for part in attentions), self.feed_forward)


class EncoderLayer(Layer):
    """`layer(x, mask)`: every position sees every other that the mask allows."""

    def forward(self, x: X, mask: Mask = None) -> X:
        # Where the norm stands is the rule's business: it is asked before the sublayer, and puts y onto the pathway.
        y = self.attention(self.residual_attention(x), mask=mask)
        return self.transform(self.residual_attention(x, y))


class DecoderLayer(Layer):
    """`x, state = layer(x, state)`: a position sees itself and those before it, and the source if there is one."""

    def __init__(self, c: Any, cross: bool = False, feed_forward: bool = True) -> None:
        super().__init__(c, True, cross, feed_forward)

    def forward(self, x: X, state: Any = None, memory: Memory | None = None, memory_mask: Mask = None) -> tuple[X, Any]:
        """Continue from `state`, attending to `memory`, the source as `project_source` gave it, if there is one."""
        y, state = self.attention(self.residual_attention(x), state)  # causal self-attention
        x = self.residual_attention(x, y)
        if memory is not None:
            # Queries from the target, keys and values from the source: Vaswani et al. (2017), section 3.2.3.
            y = self.cross_attention(self.residual_cross_attention(x), memory, memory_mask)
            x = self.residual_cross_attention(x, y)
        return self.transform(x), state

    def project_source(self, source: Float[Tensor, "batch source d_model"]) -> Memory:
        """Keys and values of the encoder's output, computed once."""
        return self.cross_attention.project_source(source)


def last_matrices(*parts: Any) -> list[nn.Linear]:
    """The linear maps that parts end in: what its own `last_matrices()` names, else `output` or `outer`."""
    ends: list[Any] = []
    for part in parts:
        named = hasattr(part, "last_matrices")  # experts and the like know more than one
        ends += part.last_matrices() if named else [getattr(part, "output", getattr(part, "outer", part))]
    return [end for end in ends if isinstance(end, nn.Linear)]


class EncoderStack(nn.ModuleList):
    """Layers one after another, h^l = layer_l(h^{l−1})."""

    def forward(self, x: X, mask: Mask = None) -> X:
        for layer in self:
            x = layer(x, mask)
        return x


class DecoderStack(nn.ModuleList):
    """The same of a language model, or of a decoder with a source: every layer has a state of its own."""

    def forward(self, x: X, states: Each = None, memories: Each = None, memory_mask: Mask = None) -> tuple[X, tuple]:
        """Every layer continues from its own state and attends to its own memory of the source, if there is one."""
        check_layers(len(self), states, memories)
        new = []
        for i, layer in enumerate(self):
            # None has no parts: a text that begins here, or a decoder without a source
            x, state = layer(x, states and states[i], memories and memories[i], memory_mask)
            new.append(state)
        return x, tuple(new)

    def project_source(self, source: Float[Tensor, "batch source d_model"]) -> tuple[Memory | None, ...]:
        """Keys and values of the encoder's output for every layer; None for a layer that does not attend to it."""
        return tuple(layer.project_source(source) for layer in self)  # type: ignore[operator]


def build_layer(c: Any, causal: bool, cross: bool) -> nn.Module:
    return DecoderLayer(c, cross) if causal else EncoderLayer(c)


def build_stack(c: Any, causal: bool, cross: bool) -> nn.Module:
    return STACKS[causal](c.block(c, causal, cross) for _ in range(c.n_layers))


STACKS: tuple[type[nn.ModuleList], ...] = (EncoderStack, DecoderStack)  # what holds layers, by `causal`
