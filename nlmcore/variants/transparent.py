"""Transparent attention: every layer of the decoder attends to its own mixture of all layers of the encoder.

    z^j = Σ_i s_ij h^i,     s_ij = exp w_ij / Σ_k exp w_kj            Bapna et al. (2018)

h^0 is the encoder's embeddings, h^1 … h^N are its layers; layer j of the decoder attends to z^j instead of h^N. The
encoder returns all its vectors side by side; they are mixed once per source, with the decoder's keys and values.

Departs from the paper: w starts at 0, so that every z is the mean; the final norm of the encoder, which pre-norm needs,
is applied to each of its layers.
"""

from collections.abc import Iterable
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from nlmcore.attention import Memory
from nlmcore.checks import Size, checked
from nlmcore.transformer import DecoderStack, EncoderStack
from nlmcore.transformer.block import build_stack
from nlmcore.transformer.checks import encoder_only
from nlmcore.transformer.config import build_final_norm
from nlmcore.variants.parts import Mask, Vectors


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
        every = source.unflatten(-1, (n, self.d_model))  # (batch, source, encoder layer, d_model)
        layers: Iterable[Any] = self
        mixtures = torch.einsum("bsid,ij->jbsd", every, self.shares)  # z^j for every layer j of the decoder
        return tuple(layer.project_source(z) for layer, z in zip(layers, mixtures, strict=True))


class NormOfEach(nn.Module):
    """The usual norm, applied to each of the vectors side by side; a part `final_norm`."""

    def __init__(self, c: Any) -> None:
        super().__init__()
        self.norm, self.d_model = build_final_norm(c), c.d_model

    def forward(self, x: Float[Tensor, "batch time width"]) -> Float[Tensor, "batch time width"]:
        return self.norm(x.unflatten(-1, (-1, self.d_model))).flatten(-2)


@encoder_only
@checked
def build_transparent(c: Any, causal: bool, cross: bool, n_encoder_layers: Size | None = None) -> nn.Module:
    """A part `stack`, for both sides of an EncoderDecoder; n_encoder_layers: those of the decoder unless given."""
    n = c.n_layers if n_encoder_layers is None else n_encoder_layers
    stack: Any = build_stack(c, causal, cross)
    if cross:
        return TransparentDecoder(stack, n, c.d_model)
    return stack if causal else TransparentEncoder(stack)
