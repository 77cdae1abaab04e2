"""What a decoder is given of an encoder: all of its layers (Transparent attention), or a shorter text (Funnel).

**Transparent**: every layer of the decoder attends to its own mixture of all layers of the encoder.

    z^j = Σ_i s_ij h^i,     s_ij = exp w_ij / Σ_k exp w_kj            Bapna et al. (2018)

h^0 is the encoder's embeddings, h^1 … h^N are its layers; z^j is what layer j of the decoder looks at, in place of h^N
for all of them. (N + 1) · M numbers are new, with M layers in the decoder. The gradient has a way to every layer of the
encoder that is one step long: it was proposed for training deep ones. The encoder hands on all its vectors, side by
side: (batch, source, (N + 1) · d_model); the mixing is done once for a source, where the decoder computes its keys and
values.

Departs from the paper: w begins at 0, so that every z is the mean; the last norm of the encoder, which pre-norm needs,
is applied to each of its layers, so that they are mixed at one length.

**Funnel**: the deeper the encoder, the shorter the text. Neighbours are pooled to their mean.

    x_t ← (x_{2t} + x_{2t+1}) / 2                              Dai et al. (2020), section 2.2 (mean pooling, stride 2)

between the attention and the feed-forward network of the first layer of every block of layers but the first. Three
blocks, which is the rule here, leave a quarter of the vectors: Narang et al. (2021) pool their 12 layers every 4. The
layers and their parameters are those of the usual stack; the operations are fewer, in cross-attention too.

Padding is left out of a mean, a last token without a neighbour stands for itself, and a pooled vector is real if one of
the two was. The decoder is as usual; it shortens the mask of the source as the encoder did. Positions inside attention
count the vectors that are left.

Departs from the paper, with Narang et al.: it is the encoder of an encoder-decoder, so nothing brings what was pooled
back to the length of the text; attention is computed in full and then pooled, where the paper pools the queries alone;
no token, like [CLS], is kept out of the pooling.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor, nn

from nlmcore.attention import Memory
from nlmcore.checks import Size, door
from nlmcore.transformer import Stack
from nlmcore.transformer.checks import encoder_only
from nlmcore.transformer.config import build_final_norm, build_stack
from nlmcore.variants.shapes import Mask, Memories, Vectors
from nlmcore.variants.sublayers import AttentionLayer, FeedForwardLayer


class TransparentEncoder(Stack):
    """The encoder: h^0, h^1, …, h^N side by side, (batch, time, (N + 1) · d_model)."""

    def forward(self, x: Vectors, mask: Mask = None) -> Float[Tensor, "batch time layers"]:
        seen = [x]
        for layer in self:
            seen.append(layer(seen[-1], mask))
        return torch.cat(seen, dim=-1)


class TransparentDecoder(Stack):
    """The decoder: layer j looks at Σ_i s_ij h^i; n_encoder_layers: N of the encoder."""

    def __init__(self, layers: Iterable[nn.Module], n_encoder_layers: int, d_model: int) -> None:
        super().__init__(layers)
        self.d_model = d_model
        self.weights = nn.Parameter(torch.zeros(n_encoder_layers + 1, len(self)))

    @property
    def shares(self) -> Float[Tensor, "encoder_layer decoder_layer"]:
        """s: each column sums to 1."""
        return self.weights.softmax(0)

    def project_source(self, source: Float[Tensor, "batch source width"]) -> tuple[Memory | None, ...]:
        """Raises ValueError if the source has not the vectors of N + 1 layers."""
        n = len(self.weights)
        if source.shape[-1] != n * self.d_model:
            raise ValueError(
                f"transparent attention needs {n} vectors of width {self.d_model} for each token, side by side (the"
                f" embedding and each of {n - 1} encoder layers), got a width of {source.shape[-1]}. n_encoder_layers"
                " says how many the encoder has"
            )
        every = source.unflatten(-1, (n, self.d_model))
        layers: Iterable[Any] = self
        mixtures = torch.einsum("bsid,ij->jbsd", every, self.shares)
        return tuple(layer.project_source(z) for layer, z in zip(layers, mixtures, strict=True))


class NormOfEach(nn.Module):
    """One norm, applied to each of the vectors that lie side by side."""

    def __init__(self, norm: nn.Module, d_model: int) -> None:
        super().__init__()
        self.norm, self.d_model = norm, d_model

    def forward(self, x: Float[Tensor, "batch time width"]) -> Float[Tensor, "batch time width"]:
        return self.norm(x.unflatten(-1, (-1, self.d_model))).flatten(-2)


@encoder_only
@door
def build_transparent(c: Any, causal: bool, cross: bool, n_encoder_layers: Size | None = None) -> nn.Module:
    """A part `stack`, of both sides of an EncoderDecoder; n_encoder_layers: as many as the decoder has unless given."""
    n = c.n_layers if n_encoder_layers is None else n_encoder_layers
    stack: Any = build_stack(c, causal, cross)
    if cross:
        return TransparentDecoder(stack, n, c.d_model)
    return stack if causal else TransparentEncoder(stack)


def build_norm_of_each(c: Any) -> nn.Module:
    """A part `final_norm`: the usual one, for as many vectors as there are."""
    return NormOfEach(build_final_norm(c), c.d_model)


def pool(
    x: Vectors, mask: Bool[Tensor, "batch one one time"]
) -> tuple[Float[Tensor, "batch pair d_model"], Bool[Tensor, "batch one one pair"]]:
    """The means of two neighbours, and their mask; mask (batch, 1, 1, time), True = real."""
    real = mask[:, 0, 0, :, None].to(x.dtype)
    count = _in_pairs(real).sum(2)
    return _in_pairs(x * real).sum(2) / count.clamp(min=1), shorten(mask)


def shorten(mask: Bool[Tensor, "*batch time"]) -> Bool[Tensor, "*batch pair"]:
    """True where one of two neighbours is."""
    return F.pad(mask, (0, mask.shape[-1] % 2)).unflatten(-1, (-1, 2)).any(-1)


def _in_pairs(x: Tensor) -> Tensor:
    """(batch, time, n) -> (batch, pair, 2, n), with zeros behind an odd text."""
    return F.pad(x, (0, 0, 0, x.shape[1] % 2)).unflatten(1, (-1, 2))


class FunnelEncoder(Stack):
    """Attention and feed-forward layers in turn; after those at `pooled` the text is half as long.

    Raises ValueError for a mask that is not one of tokens, (batch, 1, 1, time).
    """

    def __init__(self, layers: Iterable[nn.Module], pooled: Sequence[int]) -> None:
        super().__init__(layers)
        self.pooled = tuple(pooled)

    def forward(self, x: Vectors, mask: Mask = None) -> Float[Tensor, "batch seen d_model"]:
        if mask is not None and mask.shape != (len(x), 1, 1, x.shape[1]):
            raise ValueError(
                f"mask must have shape (batch, 1, 1, time) = {(len(x), 1, 1, x.shape[1])} to be pooled, got"
                f" {tuple(mask.shape)}"
            )
        real = torch.ones(len(x), 1, 1, x.shape[1], dtype=torch.bool, device=x.device) if mask is None else mask
        for i, layer in enumerate(self):
            x = layer(x, real)
            if i in self.pooled:
                x, real = pool(x, real)
        return x

    def extra_repr(self) -> str:
        return f"pooled={self.pooled}"


class FunnelDecoder(Stack):
    """The usual layers; the source's mask is halved until it is as long as what the encoder left."""

    def step(
        self, x: Vectors, states: Sequence[Any] | None = None, memories: Memories = None, memory_mask: Mask = None
    ) -> tuple[Vectors, tuple[Any, ...]]:
        kept = next((memory for memory in memories or () if memory is not None), None)
        if memory_mask is not None and kept is not None:
            while memory_mask.shape[-1] > kept.keys.shape[2]:
                memory_mask = shorten(memory_mask)
        return super().step(x, states, memories, memory_mask)


@encoder_only
@door
def build_funnel(c: Any, causal: bool, cross: bool, every: Size | None = None) -> nn.Module:
    """A part `stack`; every: the layers of a block, n_layers / 3 unless given, rounded up."""
    every = -(-c.n_layers // 3) if every is None else every
    if causal:
        stack: Any = build_stack(c, causal, cross)
        return FunnelDecoder(stack) if cross else stack
    layers: list[nn.Module] = []
    for _ in range(c.n_layers):
        layers += [AttentionLayer(c, causal, cross), FeedForwardLayer(c)]
    return FunnelEncoder(layers, [2 * i for i in range(every, c.n_layers, every)])
