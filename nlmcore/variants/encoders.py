"""Other outputs of an encoder for its decoder: all of its layers (Transparent attention), or a shorter text (Funnel).

**Transparent**: every layer of the decoder attends to its own mixture of all layers of the encoder.

    z^j = Σ_i s_ij h^i,     s_ij = exp w_ij / Σ_k exp w_kj            Bapna et al. (2018)

h^0 is the encoder's embeddings, h^1 … h^N are its layers; layer j of the decoder attends to z^j instead of h^N. The
encoder returns all its vectors side by side; they are mixed once per source, with the decoder's keys and values.

Departs from the paper: w starts at 0, so that every z is the mean; the final norm of the encoder, which pre-norm needs,
is applied to each of its layers, so that they are mixed at one length.

**Funnel**: the text gets shorter with depth. Neighbours are pooled to their mean.

    x_t ← (x_{2t} + x_{2t+1}) / 2                              Dai et al. (2020), section 2.2 (mean pooling, stride 2)

between the attention and the feed-forward network of the first layer of every block of layers but the first. Three
blocks, the rule here, leave a quarter of the vectors: Narang et al. (2021) pool their 12 layers every 4. Parameters are
those of the usual stack; there are fewer operations, also in cross-attention. Padding is left out of a mean, and a
pooled vector is real if one of its two tokens was. Positions inside attention count the vectors that are left.

Departs from the paper, with Narang et al.: it is the encoder of an encoder-decoder, so nothing restores the length of
the text; attention is computed in full and then pooled, where the paper pools only the queries; [CLS] is no exception.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor, nn

from nlmcore.attention import Memory
from nlmcore.checks import Size, door
from nlmcore.transformer import DecoderStack, EncoderStack
from nlmcore.transformer.block import build_stack
from nlmcore.transformer.checks import encoder_only
from nlmcore.transformer.config import build_final_norm
from nlmcore.variants.shapes import Mask, Memories, Vectors, real_tokens
from nlmcore.variants.sublayers import build_attention_layer, build_feed_forward_layer


class TransparentEncoder(EncoderStack):
    """The encoder: h^0, h^1, …, h^N side by side, (batch, time, (N + 1) · d_model)."""

    def forward(self, x: Vectors, mask: Mask = None) -> Float[Tensor, "batch time layers"]:
        seen = [x]
        for layer in self:
            seen.append(layer(seen[-1], mask))
        return torch.cat(seen, dim=-1)


class TransparentDecoder(DecoderStack):
    """The decoder: layer j attends to Σ_i s_ij h^i; n_encoder_layers: N."""

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
    """The usual norm, applied to each of the vectors side by side; a part `final_norm`."""

    def __init__(self, c: Any) -> None:
        super().__init__()
        self.norm, self.d_model = build_final_norm(c), c.d_model

    def forward(self, x: Float[Tensor, "batch time width"]) -> Float[Tensor, "batch time width"]:
        return self.norm(x.unflatten(-1, (-1, self.d_model))).flatten(-2)


@encoder_only
@door
def build_transparent(c: Any, causal: bool, cross: bool, n_encoder_layers: Size | None = None) -> nn.Module:
    """A part `stack`, for both sides of an EncoderDecoder; n_encoder_layers: those of the decoder unless given."""
    n = c.n_layers if n_encoder_layers is None else n_encoder_layers
    stack: Any = build_stack(c, causal, cross)
    if cross:
        return TransparentDecoder(stack, n, c.d_model)
    return stack if causal else TransparentEncoder(stack)


def pool(
    x: Vectors, mask: Bool[Tensor, "batch one one time"]
) -> tuple[Float[Tensor, "batch pair d_model"], Bool[Tensor, "batch one one pair"]]:
    """The means of two neighbours, and their mask; mask: True = real."""
    real = mask[:, 0, 0, :, None].to(x.dtype)
    odd = (0, 0, 0, x.shape[1] % 2)  # zeros after a text of odd length
    total, count = (F.pad(part, odd).unflatten(1, (-1, 2)).sum(2) for part in (x * real, real))
    return total / count.clamp(min=1), shorten(mask)


def shorten(mask: Bool[Tensor, "*batch time"]) -> Bool[Tensor, "*batch pair"]:
    """True where one of two neighbours is True."""
    return F.pad(mask, (0, mask.shape[-1] % 2)).unflatten(-1, (-1, 2)).any(-1)


class FunnelEncoder(EncoderStack):
    """Attention and feed-forward layers in turn; after those at `pooled` the text is half as long."""

    def __init__(self, layers: Iterable[nn.Module], pooled: Sequence[int]) -> None:
        super().__init__(layers)
        self.pooled = tuple(pooled)

    def forward(self, x: Vectors, mask: Mask = None) -> Float[Tensor, "batch seen d_model"]:
        real_tokens(x, mask)  # or refuse the mask
        mask = torch.ones(len(x), 1, 1, x.shape[1], dtype=torch.bool, device=x.device) if mask is None else mask
        for i, layer in enumerate(self):
            x = layer(x, mask)
            if i in self.pooled:
                x, mask = pool(x, mask)
        return x

    def extra_repr(self) -> str:
        return f"pooled={self.pooled}"


class FunnelDecoder(DecoderStack):
    """The usual layers; the source's mask is halved until it is as long as the encoder's output."""

    def forward(
        self, x: Vectors, states: Sequence[Any] | None = None, memories: Memories = None, memory_mask: Mask = None
    ) -> tuple[Vectors, tuple[Any, ...]]:
        kept = next((memory for memory in memories or () if memory is not None), None)
        if memory_mask is not None and kept is not None:
            while memory_mask.shape[-1] > kept.keys.shape[2]:
                memory_mask = shorten(memory_mask)
        return super().forward(x, states, memories, memory_mask)


@encoder_only
@door
def build_funnel(c: Any, causal: bool, cross: bool, every: Size | None = None) -> nn.Module:
    """A part `stack`; every: how many layers a block has, n_layers / 3 unless given, rounded up."""
    every = -(-c.n_layers // 3) if every is None else every
    if causal:
        stack: Any = build_stack(c, causal, cross)
        return FunnelDecoder(stack) if cross else stack
    kinds = (build_attention_layer, build_feed_forward_layer) * c.n_layers  # in turn
    return FunnelEncoder((build(c, causal, cross) for build in kinds), range(2 * every, 2 * c.n_layers, 2 * every))
