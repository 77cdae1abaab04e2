"""The rows: one line each. Names are printed in table 1 of Narang et al. (2021), unless `paper` says another.

Two of that table's names begin with "+" and stand below "Block sharing": here they begin with it.

    feed-forward        W2 φ(W1 x)                      with φ(x) =
      Vanilla             max(0, x)                       Swish       x σ(x)
      GeLU                x Φ(x), Φ that of N(0, 1)       Sigmoid     σ(x) = 1 / (1 + e^−x)
      ELU                 x above 0, e^x − 1 below        Softplus    ln(1 + e^x)
      SeLU                1.0507 x above 0, 1.0507 · 1.6733 (e^x − 1) below
    gated               W2 (φ(W x) ⊙ V x)               with φ(x) =
      GLU   σ(x)          GeGLU   x Φ(x)      ReGLU   max(0, x)      SwiGLU   x σ(x)      LiGLU   x
    norm                γ ⊙ (x − mean x) / √(var x + ε) + β
      RMS Norm            γ ⊙ x / √(mean x² + ε)
    depth               more layers with fewer heads and a narrower feed-forward network, or fewer with more
    embeddings          the encoder's, the decoder's and the softmax's matrix are one in all rows but those of that name
                        and of block sharing; "& shared": the softmax has the factors of the embedding
    experts             32 in every fourth layer

The equations of the others stand in their leaves, where the rows import their parts from: `depth` (Rezero, Fixup,
DeepNorm), `embeddings` (factorized, adaptive, softmaxes), `sharing` (blocks, Universal), `encoders` (Transparent,
Funnel), `sublayers` (Weighted, Sandwich), `experts` (Mixture of experts, Switch, WideNet), `mixing` (Linformer, FNet,
MLP-Mixer), `sparse` (Longformer, BigBird), `convolution`, `evolved`, `product_keys`, `synthesizer`, `transformer_xl`.

**What is held equal.** Narang et al. hold either the parameters or the operations of the vanilla Transformer constant
(section 3). Here, by construction: gated rows have d_ff · 2/3, so that three matrices have the parameters of two; depth
rows trade layers for width; activations, norms and residual rules change a few numbers or none. Untied embeddings add
matrices: more parameters, the same operations. Block sharing has the operations, and a fraction of the parameters;
factorised embeddings have fewer of both. An Evolved cell has about the parameters of two layers; Funnel saves
operations alone, and Weighted spends them. At the paper's sizes every row of it has the parameters that its column
"Params" prints, to a million.
"""

from fractions import Fraction
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from nlmcore.norms import RMSNorm
from nlmcore.positions import NoPositions, SinusoidalPositions, TransformerXLPositions
from nlmcore.transformer import EncoderDecoder, FeedForward, GatedFeedForward, TransformerLM
from nlmcore.variants.baseline import RELU
from nlmcore.variants.convolution import DynamicConvolution, LightweightConvolution
from nlmcore.variants.depth import (
    FixupFeedForward,
    build_deepnorm,
    build_fixup,
    build_rezero,
    initialise_deepnorm,
    initialise_fixup,
)
from nlmcore.variants.embeddings import (
    AdaptiveEmbedding,
    FactorisedEmbedding,
    build_adaptive_output,
    build_adaptive_softmax,
    build_factorised_output,
    build_mixture_of_softmaxes,
    initialise_factorised,
)
from nlmcore.variants.encoders import build_funnel, build_norm_of_each, build_transparent
from nlmcore.variants.evolved import build_evolved, share_cell_positions
from nlmcore.variants.experts import MixtureOfExperts, build_mixture, build_switch, share_all_but_norms
from nlmcore.variants.mixing import FourierMixing, LinformerAttention, TokenMixing, in_encoder
from nlmcore.variants.product_keys import build_with_memory
from nlmcore.variants.sharing import Universal, share_blocks, share_in_decoder, share_in_encoder
from nlmcore.variants.sparse import build_bigbird, build_longformer
from nlmcore.variants.sublayers import (
    WeightedLayer,
    build_branched_attention,
    build_branched_cross_attention,
    build_sandwich,
)
from nlmcore.variants.synthesizer import (
    DenseScores,
    FactorisedDenseScores,
    FactorisedRandomScores,
    Plus,
    PlusAlpha,
    RandomScores,
    Synthesizer,
    build_synthesizer,
)
from nlmcore.variants.transformer_xl import build_transformer_xl, share_u_and_v
from nlmcore.variants.variant import Catalogue, Times, Variant

THIRD, HALF = Fraction(1, 3), Fraction(1, 2)
SHAZEER, LAN, TAY = "Shazeer (2020), section 2", "Lan et al. (2020), section 3.1", "Tay et al. (2021), section 3"
NARANG, BACHLECHNER = "Narang et al. (2021), section ", "Bachlechner et al. (2021), section 3"

FACTORISED = {"embedding": FactorisedEmbedding, "initialise": initialise_factorised}
ADAPTIVE = {"embedding": AdaptiveEmbedding, "initialise": initialise_factorised}
OWN_SOFTMAX = {"tie_embeddings": False}
SHARED_SOFTMAX = {"output": build_factorised_output}
SHARED_BLOCKS = {"share": share_blocks}
SINUSOIDS = {"positions": SinusoidalPositions}
NO_BIAS = {"attention_positions": None}
TRANSPARENT = {"stack": build_transparent, "final_norm": build_norm_of_each}
EVOLVED = {"block": build_evolved, "n_layers": Times(HALF), "share": share_cell_positions}
UNIVERSAL = {"stack": Universal, "norm_position": "post", "positions": NoPositions} | NO_BIAS
DEEPNORM = {"norm_position": "post", "residual": build_deepnorm, "initialise": initialise_deepnorm}
SEGMENTS = {"attention": build_transformer_xl, "attention_positions": TransformerXLPositions, "share": share_u_and_v}
FIXUP = {"residual": build_fixup, "norm": nn.Identity, "feed_forward": FixupFeedForward, "initialise": initialise_fixup}
BRANCHED = {"attention": build_branched_attention, "cross_attention": build_branched_cross_attention}


def plain(activation: Any) -> dict[str, Any]:
    """FFN(x) = W2 φ(W1 x)."""
    return {"feed_forward": partial(FeedForward, activation=activation, bias=False)}


def gated(activation: Any) -> dict[str, Any]:
    """W2 (φ(W x) ⊙ V x), at 2/3 of the width: three matrices of it have the parameters of two."""
    return {"feed_forward": partial(GatedFeedForward, activation=activation, bias=False), "d_ff": Times(2 * THIRD)}


def deep(layers: Fraction | int, width: Fraction | int) -> dict[str, Any]:
    """More layers, each with less width and fewer heads of the same size, or the other way round."""
    return {"n_layers": Times(layers), "d_ff": Times(width), "n_heads": Times(width)}


def encoder_only(part: Any) -> dict[str, Any]:
    """The part in place of the encoder's attention; a decoder keeps its own."""
    return {"attention": partial(in_encoder, part)}


def synthetic(scores: Any, joined: Any = None) -> dict[str, Any]:
    """softmax(S) V, of the heads that Narang et al. have there."""
    options = {"scores": scores} | ({} if joined is None else {"joined": joined})
    return {"attention": partial(build_synthesizer, **options)}


def tied(source: bool, output: bool) -> dict[str, Any]:
    """Which matrices are the decoder's embedding: the encoder's, the softmax's."""
    return {"tie_source": source, "tie_embeddings": output}


def other(name: str, changes: dict[str, Any], source: str, family: Any = TransformerLM) -> Variant:
    """A row that is not in the table of Narang et al.; its paper is its source, "Tay et al. (2021), section 3"."""
    return Variant(name, changes, source, family, paper=source.rpartition(",")[0])


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
    Variant("Sigmoid", plain(torch.sigmoid), NARANG + "2.1"),
    Variant("Softplus", plain(F.softplus), "Dugas et al. (2001)"),
    Variant("RMS Norm", {"norm": RMSNorm}, "Zhang & Sennrich (2019), equation 4"),
    Variant("Rezero", {"residual": build_rezero, "norm": nn.Identity}, BACHLECHNER),
    Variant("Rezero + LayerNorm", {"residual": build_rezero}, BACHLECHNER),
    Variant("Rezero + RMS Norm", {"residual": build_rezero, "norm": RMSNorm}, BACHLECHNER),
    Variant("Fixup", FIXUP, "Zhang, Dauphin & Ma (2019), section 3"),
    Variant("24 layers, d_ff = 1536, H = 6", deep(2, HALF), NARANG + "2.3"),
    Variant("18 layers, d_ff = 2048, H = 8", deep(3 * HALF, 2 * THIRD), NARANG + "2.3"),
    Variant("8 layers, d_ff = 4608, H = 18", deep(2 * THIRD, 3 * HALF), NARANG + "2.3"),
    Variant("6 layers, d_ff = 6144, H = 24", deep(HALF, 2), NARANG + "2.3"),
    Variant("Block sharing", SHARED_BLOCKS | OWN_SOFTMAX, LAN),
    Variant("Block sharing + Factorized embeddings", SHARED_BLOCKS | FACTORISED | OWN_SOFTMAX, LAN),
    Variant("Block sharing + Factorized & shared embeddings", SHARED_BLOCKS | FACTORISED | SHARED_SOFTMAX, LAN),
    Variant("Encoder only block sharing", {"stack": share_in_encoder} | OWN_SOFTMAX, NARANG + "2.5", EncoderDecoder),
    Variant("Decoder only block sharing", {"stack": share_in_decoder} | OWN_SOFTMAX, NARANG + "2.5", EncoderDecoder),
    Variant("Factorized Embedding", FACTORISED | OWN_SOFTMAX, LAN),
    Variant("Factorized & shared embeddings", FACTORISED | SHARED_SOFTMAX, LAN),
    Variant("Tied encoder/decoder input embeddings", tied(True, output=False), NARANG + "2.4", EncoderDecoder),
    Variant(
        "Tied decoder input and output embeddings", tied(False, output=True), "Press & Wolf (2017)", EncoderDecoder
    ),
    Variant("Untied embeddings", tied(False, output=False), "Chung et al. (2021)", EncoderDecoder),
    Variant(
        "Adaptive input embeddings", ADAPTIVE | {"output": build_adaptive_output}, "Baevski & Auli (2019), section 3"
    ),
    Variant("Adaptive softmax", ADAPTIVE | {"output": build_adaptive_softmax}, "Grave et al. (2017), section 4"),
    Variant(
        "Adaptive softmax without projection",
        {"embedding": partial(AdaptiveEmbedding, narrowing=(1, 1, 1)), "output": build_adaptive_softmax},
        NARANG + "2.6",
    ),
    Variant("Mixture of softmaxes", {"output": build_mixture_of_softmaxes}, "Yang et al. (2018), section 2"),
    Variant("Transparent attention", TRANSPARENT, "Bapna et al. (2018)", EncoderDecoder),
    Variant("Evolved Transformer", EVOLVED, "So, Liang & Le (2019), figure 3"),
    Variant("Funnel Transformer", {"stack": build_funnel}, "Dai et al. (2020), section 2", EncoderDecoder),
    Variant("Weighted Transformer", {"block": WeightedLayer} | BRANCHED, "Ahmed, Keskar & Socher (2017), section 3"),
    Variant("Synthesizer (dense)", synthetic(DenseScores), TAY),
    Variant("Synthesizer (dense plus)", synthetic(DenseScores, Plus), TAY),
    Variant("Synthesizer (dense plus alpha)", synthetic(DenseScores, PlusAlpha), TAY),
    Variant("Synthesizer (factorized)", synthetic(FactorisedRandomScores), TAY),
    Variant("Synthesizer (random)", synthetic(RandomScores), TAY),
    Variant("Synthesizer (random plus)", synthetic(RandomScores, Plus), TAY),
    Variant("Synthesizer (random plus alpha)", synthetic(RandomScores, PlusAlpha), TAY),
    Variant("Mixture of experts", {"stack": build_mixture}, "Shazeer et al. (2017); Lepikhin et al. (2020)"),
    Variant("Switch Transformer", {"stack": build_switch}, "Fedus et al. (2022), section 2"),
    Variant("Product key memory", {"stack": build_with_memory}, "Lample et al. (2019), section 3"),
    other("Universal Transformer", UNIVERSAL, "Dehghani et al. (2019), section 2"),
    other("Synthesizer (factorized dense)", {"attention": partial(Synthesizer, scores=FactorisedDenseScores)}, TAY),
    other(
        "Synthesizer (random, fixed)",
        {"attention": partial(Synthesizer, scores=partial(RandomScores, trained=False))},
        TAY,
    ),
    other("Lightweight convolution", {"attention": LightweightConvolution} | NO_BIAS, "Wu et al. (2019), section 3"),
    other("Dynamic convolution", {"attention": DynamicConvolution} | NO_BIAS, "Wu et al. (2019), section 4"),
    Variant("DeepNorm", DEEPNORM, "Wang et al. (2022), section 3", paper="Wang et al. (2022), figure 2"),
    other("Sandwich", {"stack": build_sandwich}, "Press, Smith & Levy (2020), section 4"),
    other(
        "WideNet",
        {"share": share_all_but_norms, "feed_forward": partial(MixtureOfExperts, expert=RELU)},
        "Xue et al. (2022), section 2",
    ),
    other("Linformer", encoder_only(LinformerAttention) | SINUSOIDS, "Wang et al. (2020), section 4", EncoderDecoder),
    other(
        "Longformer", encoder_only(build_longformer) | SINUSOIDS, "Beltagy et al. (2020), section 3.1", EncoderDecoder
    ),
    other("BigBird", encoder_only(build_bigbird) | SINUSOIDS, "Zaheer et al. (2020), section 2", EncoderDecoder),
    other("FNet", encoder_only(FourierMixing) | SINUSOIDS, "Lee-Thorp et al. (2022), section 3", EncoderDecoder),
    other("MLP-Mixer", encoder_only(TokenMixing), "Tolstikhin et al. (2021), equation 1", EncoderDecoder),
    other("Transformer-XL", SEGMENTS, "Dai et al. (2019), section 3"),
)

CATALOGUE: dict[str, Variant] = Catalogue({row.name: row for row in ROWS})
"""Every row by its printed name."""
