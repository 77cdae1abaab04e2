"""One Transformer layer and its parts: attention, then a feed-forward network, each added to a residual pathway.

    self-attention     x ← residual(x, attention)
    cross-attention    x ← residual(x, attention to the source)      in the decoder of an encoder-decoder only
    feed-forward       x ← residual(x, FFN)                          Vaswani et al. (2017), section 3.1

    pre-norm           y = f(LN(x)),   x ← x + y                     Xiong et al. (2020), GPT-2 and later
    post-norm          y = f(x),       x ← LN(x + y)                 Vaswani et al. (2017), section 3.1

    FFN(x) = W2 · φ(W1 x + b1) + b2                                  Vaswani et al. (2017), section 3.3, with φ = ReLU
    GLU(x) = W2 · (φ(W x + b) ⊙ (V x + c)) + b2                      Shazeer (2020), "GLU variants", section 2

A residual rule is any module with `pre(x)`, what the sublayer f reads, and `post(x, y)`, the new x; `nlmcore.variants`
has more of them. In `block(x, mask)` a position sees the whole text, as in an encoder; in `block.step(x, state)` itself
and those before it. BERT and GPT use φ = GELU (Hendrycks & Gimpel 2016). The gated network is GLU with φ = sigmoid
(Dauphin et al. 2017), ReGLU with ReLU, GEGLU with GELU, SwiGLU with Swish.

Departs from the papers: dropout falls on the attention weights as well, as in the authors' code of 2017; the default
activation is GELU; W and V of the gated network lie in one matrix, `inner`.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor, nn

from nlmcore.attention import Memory
from nlmcore.checks import Rate, Size, door
from nlmcore.fast import Linear
from nlmcore.transformer.checks import check_layers, self_attention

X = Float[Tensor, "batch time d_model"]


class PreNorm(nn.Module):
    """x + f(norm(x)): the pathway from the last layer to the first is a sum without a norm in it."""

    def __init__(self, norm: nn.Module, dropout: Rate = 0.0) -> None:
        super().__init__()
        self.norm, self.dropout = norm, nn.Dropout(dropout)

    def pre(self, x: X) -> X:
        return self.norm(x)

    def post(self, x: X, y: X) -> X:
        return x + self.dropout(y)  # no norm on the way: ∂(x + y)/∂x contains the identity


class PostNorm(PreNorm):
    """norm(x + f(x)): as published; deep stacks need a warm-up of the learning rate."""

    def pre(self, x: X) -> X:
        return x

    def post(self, x: X, y: X) -> X:
        return self.norm(x + self.dropout(y))


class FeedForward(nn.Module):
    """W2 φ(W1 x + b1) + b2, with hidden width d_ff, applied to every position by itself."""

    matrices = 1  # how many lie in `inner`, one above the other

    @door
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
    """W2 (φ(W x + b) ⊙ (V x + c)) + b2; `inner` holds W above V.

    At equal d_ff it has half as many parameters again as FeedForward; Shazeer (2020) compares at d_ff · 2/3.
    """

    matrices = 2

    def __init__(self, d_model: int, d_ff: int, activation: Callable = F.silu, bias: bool = True) -> None:
        super().__init__(d_model, d_ff, activation, bias)

    def forward(self, x: X) -> X:
        gate, content = self.inner(x).chunk(2, dim=-1)  # W x + b and V x + c, (batch, time, d_ff) each
        return self.outer(self.activation(gate) * content)


class AttentionLayer(nn.Module):
    """The attention sublayers of a TransformerConfig `c`, to a source too if `cross`; `causal` if it has to `step`."""

    def __init__(self, c: Any, causal: bool = False, cross: bool = False) -> None:
        super().__init__()
        self.attention, self.residual_attention = self_attention(c, causal), c.residual(c)
        if cross:  # each sublayer has a residual rule, and so a norm, of its own
            self.cross_attention, self.residual_cross_attention = c.cross_attention(c), c.residual(c)
        self.branches = 2 if cross else 1  # how many sublayers add to the residual pathway

    def forward(self, x: X, mask: Bool[Tensor, "..."] | None = None) -> X:
        """mask broadcasts to (batch, head, query, key), True = may attend."""
        # Where the norm stands is the rule's business: `pre` before the sublayer, `post` puts y onto the pathway.
        y = self.attention(self.residual_attention.pre(x), mask=mask)
        return self.transform(self.residual_attention.post(x, y))

    def step(
        self, x: X, state: Any = None, memory: Memory | None = None, memory_mask: Bool[Tensor, "..."] | None = None
    ) -> tuple[X, Any]:
        """Continue from `state`, attending to `memory`, the source as `project_source` gave it, if there is one."""
        y, state = self.attention.step(self.residual_attention.pre(x), state)  # causal self-attention
        x = self.residual_attention.post(x, y)
        if memory is not None:
            # Queries from the target, keys and values from the source: Vaswani et al. (2017), section 3.2.3.
            y = self.cross_attention.cross_attend(self.residual_cross_attention.pre(x), memory, memory_mask)
            x = self.residual_cross_attention.post(x, y)
        return self.transform(x), state

    def transform(self, x: X) -> X:
        """What follows attention in this layer: nothing."""
        return x

    def project_source(self, source: Float[Tensor, "batch source d_model"]) -> Memory:
        """Keys and values of the encoder's output, computed once."""
        return self.cross_attention.project_source(source)

    def last_matrices(self) -> list[nn.Linear]:
        """The linear maps that end each branch; first weights scale them by the depth."""
        attentions = (self.attention, getattr(self, "cross_attention", None))
        return last_matrices(*(getattr(part, "output", part) for part in attentions))


class Block(AttentionLayer):
    """One layer: attention, then the feed-forward network."""

    def __init__(self, c: Any, causal: bool = False, cross: bool = False) -> None:
        super().__init__(c, causal, cross)
        self.feed_forward, self.residual_feed_forward = c.feed_forward(c.d_model, c.hidden_size), c.residual(c)
        self.branches += 1

    def transform(self, x: X) -> X:
        return self.residual_feed_forward.post(x, self.feed_forward(self.residual_feed_forward.pre(x)))

    def last_matrices(self) -> list[nn.Linear]:
        return [*super().last_matrices(), *last_matrices(self.feed_forward)]


def last_matrices(*parts: Any) -> list[nn.Linear]:
    """The linear maps that parts end in: what its own `last_matrices()` names, else `output` or `outer`."""
    ends: list[Any] = []
    for part in parts:
        named = hasattr(part, "last_matrices")  # experts and the like know more than one
        ends += part.last_matrices() if named else [getattr(part, "output", getattr(part, "outer", part))]
    return [end for end in ends if isinstance(end, nn.Linear)]


class Stack(nn.ModuleList):
    """Layers one after another, h^l = layer_l(h^{l−1}), of an encoder (`forward`) or a decoder (`step`)."""

    def forward(self, x: X, mask: Bool[Tensor, "..."] | None = None) -> X:
        """Every position sees every other that the mask, broadcast to (batch, head, query, key), allows."""
        for layer in self:
            x = layer(x, mask)
        return x

    def step(
        self,
        x: X,
        states: Sequence[Any] | None = None,
        memories: Sequence[Memory | None] | None = None,
        memory_mask: Bool[Tensor, "..."] | None = None,
    ) -> tuple[X, tuple[Any, ...]]:
        """Every layer continues from its own state and attends to its own memory of the source, if there is one."""
        check_layers(len(self), states, memories)
        layers: Iterable[Any] = self
        new = []
        for i, layer in enumerate(layers):
            # None has no parts: a text that begins here, or a decoder without a source
            x, state = layer.step(x, states and states[i], memories and memories[i], memory_mask)
            new.append(state)
        return x, tuple(new)

    def project_source(self, source: Float[Tensor, "batch source d_model"]) -> tuple[Memory | None, ...]:
        """Keys and values of the encoder's output for every layer; None for a layer that does not attend to it."""
        layers: Iterable[Any] = self
        return tuple(layer.project_source(source) for layer in layers)
