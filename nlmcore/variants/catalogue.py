"""The rows: one line each. Names are printed in table 1 of Narang et al. (2021)."""

from fractions import Fraction
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from nlmcore.norms import RMSNorm
from nlmcore.transformer import EncoderDecoder, FeedForward, GatedFeedForward
from nlmcore.variants.fixup import FixupFeedForward, build_fixup, initialise_fixup
from nlmcore.variants.rezero import build_rezero
from nlmcore.variants.variant import Catalogue, Times, Variant

THIRD, HALF = Fraction(1, 3), Fraction(1, 2)
SHAZEER, DEPTH = "Shazeer (2020), section 2", "Narang et al. (2021), section 2.3"


def plain(activation: Any) -> dict[str, Any]:
    """FFN(x) = W2 φ(W1 x)."""
    return {"feed_forward": partial(FeedForward, activation=activation, bias=False)}


def gated(activation: Any) -> dict[str, Any]:
    """W2 (φ(W x) ⊙ V x), at 2/3 of the width: three matrices of it have the parameters of two."""
    return {"feed_forward": partial(GatedFeedForward, activation=activation, bias=False), "d_ff": Times(2 * THIRD)}


def deep(layers: Fraction | int, width: Fraction | int) -> dict[str, Any]:
    """More layers, each with less width and fewer heads of the same size, or the other way round."""
    return {"n_layers": Times(layers), "d_ff": Times(width), "n_heads": Times(width)}


def linear(x: Tensor) -> Tensor:
    """φ(x) = x."""
    return x


ROWS = (
    Variant("Vanilla Transformer", {}, "Vaswani et al. (2017); Raffel et al. (2020)"),
    Variant("GeLU", plain(F.gelu), "Hendrycks & Gimpel (2016)"),
    Variant("Swish", plain(F.silu), "Ramachandran et al. (2017)"),
    Variant("ELU", plain(F.elu), "Clevert et al. (2016)"),
    Variant("GLU", gated(torch.sigmoid), "Dauphin et al. (2017), section 2; " + SHAZEER),
    Variant("GeGLU", gated(F.gelu), SHAZEER),
    Variant("ReGLU", gated(F.relu), SHAZEER),
    Variant("SeLU", plain(F.selu), "Klambauer et al. (2017)"),
    Variant("SwiGLU", gated(F.silu), SHAZEER),
    Variant("LiGLU", gated(linear), SHAZEER + " (there called bilinear)"),
    Variant("Sigmoid", plain(torch.sigmoid), "Narang et al. (2021), section 2.1"),
    Variant("Softplus", plain(F.softplus), "Dugas et al. (2001)"),
    Variant("RMS Norm", {"norm": RMSNorm}, "Zhang & Sennrich (2019), equation 4"),
    Variant("Rezero", {"residual": build_rezero, "norm": nn.Identity}, "Bachlechner et al. (2021), section 3"),
    Variant("Rezero + LayerNorm", {"residual": build_rezero}, "Bachlechner et al. (2021), section 3"),
    Variant("Rezero + RMS Norm", {"residual": build_rezero, "norm": RMSNorm}, "Bachlechner et al. (2021), section 3"),
    Variant(
        "Fixup",
        {
            "residual": build_fixup,
            "norm": nn.Identity,
            "feed_forward": FixupFeedForward,
            "initialise": initialise_fixup,
        },
        "Zhang, Dauphin & Ma (2019), section 3",
    ),
    Variant("24 layers, d_ff = 1536, H = 6", deep(2, HALF), DEPTH),
    Variant("18 layers, d_ff = 2048, H = 8", deep(3 * HALF, 2 * THIRD), DEPTH),
    Variant("8 layers, d_ff = 4608, H = 18", deep(2 * THIRD, 3 * HALF), DEPTH),
    Variant("6 layers, d_ff = 6144, H = 24", deep(HALF, 2), DEPTH),
    Variant(
        "Tied encoder/decoder input embeddings",
        {"tie_source": True, "tie_embeddings": False},
        "Narang et al. (2021), section 2.4",
        EncoderDecoder,
    ),
    Variant(
        "Tied decoder input and output embeddings",
        {"tie_source": False, "tie_embeddings": True},
        "Press & Wolf (2017)",
        EncoderDecoder,
    ),
    Variant(
        "Untied embeddings",
        {"tie_source": False, "tie_embeddings": False},
        "Chung et al. (2021)",
        EncoderDecoder,
    ),
)

CATALOGUE: dict[str, Variant] = Catalogue({row.name: row for row in ROWS})
"""Every row by its printed name."""
