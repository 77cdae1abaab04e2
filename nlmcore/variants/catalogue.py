"""The rows: one line each. Names are printed in table 1 of Narang et al. (2021), unless `paper` says another.

    feed-forward        φ(x W1) W2                      with φ(x) =
      Vanilla             max(0, x)                       Swish       x σ(x)
      GeLU                x Φ(x), Φ that of N(0, 1)       Sigmoid     σ(x) = 1 / (1 + e^−x)
      ELU                 x above 0, e^x − 1 below        Softplus    ln(1 + e^x)
      SeLU                1.0507 x above 0, 1.0507 · 1.6733 (e^x − 1) below
    gated               (φ(x W) ⊙ x V) W2               with φ(x) =
      GLU   σ(x)          GeGLU   x Φ(x)      ReGLU   max(0, x)      SwiGLU   x σ(x)      LiGLU   x
    norm                γ ⊙ (x − mean x) / √(var x + ε) + β
      RMS Norm            γ ⊙ x / √(mean x² + ε)
    depth               more layers with fewer heads and a narrower feed-forward network, or fewer with more
    embeddings          encoder, decoder and softmax share one matrix, except in the rows on embeddings and on block
                        sharing; "& shared": the softmax has the factors of the embedding

The equations of all other rows are in the files that their parts come from.

**What is held equal.** Narang et al. hold either the parameters or the operations of the vanilla Transformer constant
(section 3). Here, by construction: gated rows have d_ff · 2/3, depth rows trade layers for width; activations, norms or
residual rules change few parameters or none. Untied embeddings and block sharing change only parameters, Funnel only
operations, factorised embeddings and Weighted both. An Evolved cell has about the parameters of two layers. Where a
choice of the paper's could not be read in it or in its published settings, `unknown` says which.
"""

from fractions import Fraction
from functools import partial
from itertools import starmap
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

from nlmcore.norms import RMSNorm
from nlmcore.positions import (
    LearnableSinusoidal,
    LearnableSinusoidalDistances,
    LearnedPositions,
    NoPositions,
    ShawPositions,
    SinusoidalDistances,
    SinusoidalPositions,
    TransformerXLPositions,
)
from nlmcore.transformer import EncoderDecoder, FeedForward, GatedFeedForward, MaskedLM, TransformerLM
from nlmcore.transformer.config import build_attention, build_cross_attention
from nlmcore.variants import (
    adaptive_softmax,
    albert,
    deepnorm,
    evolved,
    factorised,
    fixup,
    fnet,
    funnel,
    gated_universal,
    lightweight_convolution,
    linformer,
    mixture_of_experts,
    mixture_of_softmaxes,
    mlp_mixer,
    parts,
    product_keys,
    rezero,
    sandwich,
    sparse,
    switch,
    synthesizer,
    transformer_xl,
    transparent,
    universal,
    weighted,
    widenet,
)
from nlmcore.variants.variant import RELU, Catalogue, Times, Variant, share_positions

THIRD, HALF = Fraction(1, 3), Fraction(1, 2)
SHAZEER, LAN, TAY = "Shazeer (2020), section 2", "Lan et al. (2020), section 3.1", "Tay et al. (2021), section 3"
WU = "Wu et al. (2019), section "
NARANG, BACHLECHNER = "Narang et al. (2021), section ", "Bachlechner et al. (2021), section 3"

REZERO, NO_NORM = {"residual": rezero.ReZero}, {"norm": nn.Identity}
FIXUP = {"residual": fixup.Fixup, "feed_forward": fixup.FixupFeedForward, "initialise": fixup.initialise_fixup}
DEEPNORM = {"norm_position": "post", "residual": deepnorm.DeepNorm, "initialise": deepnorm.initialise_deepnorm}
SHARED_BLOCKS = {"share": albert.share_blocks}
SHARED_IN_ENCODER, SHARED_IN_DECODER = {"stack": albert.share_in_encoder}, {"stack": albert.share_in_decoder}
OWN_SOFTMAX, SHARED_SOFTMAX = {"tie_embeddings": False}, {"output": factorised.FactorisedOutput}
FACTORISED = {"embedding": factorised.FactorisedEmbedding, "initialise": factorised.initialise_factorised}
ADAPTIVE = {"embedding": adaptive_softmax.AdaptiveEmbedding, "initialise": factorised.initialise_factorised}
UNPROJECTED = {"embedding": partial(adaptive_softmax.AdaptiveEmbedding, narrowing=(1, 1, 1))}
USUAL_SOFTMAX = {"output": adaptive_softmax.AdaptiveOutput}
ADAPTIVE_SOFTMAX = {"output": adaptive_softmax.AdaptiveSoftmax}
SOFTMAXES = {"output": mixture_of_softmaxes.MixtureOfSoftmaxes}
TRANSPARENT = {"stack": transparent.build_transparent, "final_norm": transparent.NormOfEach}
SHARED_BIAS = partial(share_positions, names=("attention", "wide_attention"))
EVOLVED = {"block": evolved.build_evolved, "n_layers": Times(HALF), "share": SHARED_BIAS}
WEIGHTED = {
    "block": sandwich.build_attention_layer,
    "attention": partial(weighted.branched, build_attention),
    "cross_attention": partial(weighted.branched, build_cross_attention),
}
SINUSOIDS, NO_BIAS = {"positions": SinusoidalPositions}, {"attention_positions": None}
LIGHTWEIGHT = {"attention": lightweight_convolution.build_lightweight}
DYNAMIC = {"attention": lightweight_convolution.build_dynamic}
UNIVERSAL = {"stack": universal.build_universal, "norm_position": "post", "positions": NoPositions} | NO_BIAS
GATED_UNIVERSAL = {
    "stack": gated_universal.build_gated_universal,
    "residual": gated_universal.GRUGates,
    "n_layers": Times(2),
}
LONGFORMER = {"stack": partial(sparse.sparse_stack, sparse.build_longformer)}
BIGBIRD = {"stack": partial(sparse.sparse_stack, sparse.build_bigbird)}
UNTRAINED = partial(synthesizer.RandomScores, trained=False)
EXPERTS = {"stack": mixture_of_experts.build_mixture}
WIDENET = {
    "share": widenet.share_all_but_norms,
    "feed_forward": partial(mixture_of_experts.MixtureOfExperts, expert=RELU),
}
SEGMENTS = {
    "attention": transformer_xl.build_transformer_xl,
    "attention_positions": TransformerXLPositions,
    "share": transformer_xl.share_u_and_v,
}
LEARNED = "its positions; learned vectors give the parameters that the paper prints"
HALTING = "whether it halts; the paper prints a threshold, but its published settings switch halting off"


def plain(activation: Any) -> dict[str, Any]:
    """FFN(x) = φ(x W1) W2."""
    return {"feed_forward": partial(FeedForward, activation=activation, bias=False)}


def gated(activation: Any) -> dict[str, Any]:
    """(φ(x W) ⊙ x V) W2, at 2/3 of the width, so that three matrices have the parameters of two."""
    return {"feed_forward": partial(GatedFeedForward, activation=activation, bias=False), "d_ff": Times(2 * THIRD)}


def deep(layers: Fraction | int, width: Fraction | int) -> dict[str, Any]:
    """More layers, each with less width and fewer heads of the same size, or vice versa."""
    return {"n_layers": Times(layers), "d_ff": Times(width), "n_heads": Times(width)}


def tied(source: bool = False, output: bool = False) -> dict[str, Any]:
    """Which matrices are the decoder's embedding: the encoder's, the softmax's."""
    return {"tie_source": source, "tie_embeddings": output}


def synthetic(scores: Any, build: Any = synthesizer.build_synthesizer, **joined: Any) -> dict[str, Any]:
    """softmax(S) V; build_synthesizer has the heads of Narang et al., Synthesizer those of the model."""
    return {"attention": partial(build, scores=scores, **joined)}


def per_channel(convolution: dict[str, Any]) -> dict[str, Any]:
    """A kernel for every channel and a second matrix, as in the code of Narang et al.; learned positions."""
    part = partial(convolution["attention"], per_channel=True)
    return {"attention": part, "positions": LearnedPositions} | NO_BIAS


def other(name: str, changes: dict[str, Any], source: str, family: Any = TransformerLM) -> Variant:
    """A row that is not in the table of Narang et al.; its paper is its source, "Tay et al. (2021), section 3"."""
    return Variant(name, changes, source, family, paper=source.rpartition(",")[0])


def mixed(name: str, part: Any, source: str, **changes: Any) -> Variant:
    """Another such row, with the part instead of the encoder's attention; a decoder keeps its own."""
    return other(name, {"attention": partial(parts.in_encoder, part)} | changes, source, EncoderDecoder)


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
    Variant("LiGLU", gated(nn.Identity()), SHAZEER + " (there called bilinear)"),
    Variant("Sigmoid", plain(torch.sigmoid), NARANG + "2.1"),
    Variant("Softplus", plain(F.softplus), "Dugas et al. (2001)"),
    Variant("RMS Norm", {"norm": RMSNorm}, "Zhang & Sennrich (2019), equation 4"),
    Variant("Rezero", REZERO | NO_NORM, BACHLECHNER),
    Variant("Rezero + LayerNorm", REZERO, BACHLECHNER),
    Variant("Rezero + RMS Norm", REZERO | {"norm": RMSNorm}, BACHLECHNER),
    Variant("Fixup", FIXUP | NO_NORM, "Zhang, Dauphin & Ma (2019), section 3"),
    Variant("24 layers, d_ff = 1536, H = 6", deep(2, HALF), NARANG + "2.3"),
    Variant("18 layers, d_ff = 2048, H = 8", deep(3 * HALF, 2 * THIRD), NARANG + "2.3"),
    Variant("8 layers, d_ff = 4608, H = 18", deep(2 * THIRD, 3 * HALF), NARANG + "2.3"),
    Variant("6 layers, d_ff = 6144, H = 24", deep(HALF, 2), NARANG + "2.3"),
    Variant("Block sharing", SHARED_BLOCKS | OWN_SOFTMAX, LAN),
    Variant("Block sharing + Factorized embeddings", SHARED_BLOCKS | FACTORISED | OWN_SOFTMAX, LAN),
    Variant("Block sharing + Factorized & shared embeddings", SHARED_BLOCKS | FACTORISED | SHARED_SOFTMAX, LAN),
    Variant("Encoder only block sharing", SHARED_IN_ENCODER | OWN_SOFTMAX, NARANG + "2.5", EncoderDecoder),
    Variant("Decoder only block sharing", SHARED_IN_DECODER | OWN_SOFTMAX, NARANG + "2.5", EncoderDecoder),
    Variant("Factorized Embedding", FACTORISED | OWN_SOFTMAX, LAN),
    Variant("Factorized & shared embeddings", FACTORISED | SHARED_SOFTMAX, LAN),
    Variant("Tied encoder/decoder input embeddings", tied(source=True), NARANG + "2.4", EncoderDecoder),
    Variant("Tied decoder input and output embeddings", tied(output=True), "Press & Wolf (2017)", EncoderDecoder),
    Variant("Untied embeddings", tied(), "Chung et al. (2021)", EncoderDecoder),
    Variant("Adaptive input embeddings", ADAPTIVE | USUAL_SOFTMAX, "Baevski & Auli (2019), section 3"),
    Variant("Adaptive softmax", ADAPTIVE | ADAPTIVE_SOFTMAX, "Grave et al. (2017), section 4"),
    Variant("Adaptive softmax without projection", UNPROJECTED | ADAPTIVE_SOFTMAX, NARANG + "2.6"),
    Variant("Mixture of softmaxes", SOFTMAXES, "Yang et al. (2018), section 2"),
    Variant("Transparent attention", TRANSPARENT, "Bapna et al. (2018)", EncoderDecoder),
    Variant("Evolved Transformer", EVOLVED, "So, Liang & Le (2019), figure 3"),
    Variant("Funnel Transformer", {"stack": funnel.build_funnel}, "Dai et al. (2020), section 2", EncoderDecoder),
    Variant("Weighted Transformer", WEIGHTED, "Ahmed, Keskar & Socher (2017), section 3"),
    Variant("Synthesizer (dense)", synthetic(synthesizer.DenseScores), TAY),
    Variant("Synthesizer (dense plus)", synthetic(synthesizer.DenseScores, joined=synthesizer.Plus), TAY),
    Variant("Synthesizer (dense plus alpha)", synthetic(synthesizer.DenseScores, joined=synthesizer.PlusAlpha), TAY),
    Variant("Synthesizer (factorized)", synthetic(synthesizer.FactorisedRandomScores), TAY),
    Variant("Synthesizer (random)", synthetic(synthesizer.RandomScores), TAY),
    Variant("Synthesizer (random plus)", synthetic(synthesizer.RandomScores, joined=synthesizer.Plus), TAY),
    Variant("Synthesizer (random plus alpha)", synthetic(synthesizer.RandomScores, joined=synthesizer.PlusAlpha), TAY),
    Variant("Mixture of experts", EXPERTS, "Shazeer et al. (2017); Lepikhin et al. (2020)"),
    Variant("Switch Transformer", {"stack": switch.build_switch}, "Fedus et al. (2022), section 2"),
    Variant("Product key memory", {"stack": product_keys.build_with_memory}, "Lample et al. (2019), section 3"),
    Variant("Universal Transformer", GATED_UNIVERSAL | OWN_SOFTMAX, "Dehghani et al. (2019)", unknown=HALTING),
    Variant("Lightweight convolution", per_channel(LIGHTWEIGHT), WU + "3", unknown=LEARNED),
    Variant("Dynamic convolution", per_channel(DYNAMIC) | {"d_ff": Times(HALF * THIRD)}, WU + "4", unknown=LEARNED),
    other("Universal Transformer (Dehghani et al.)", UNIVERSAL, "Dehghani et al. (2019), section 2"),
    other("Synthesizer (factorized dense)", synthetic(synthesizer.FactorisedDenseScores, synthesizer.build_plain), TAY),
    other("Synthesizer (random, fixed)", synthetic(UNTRAINED, synthesizer.build_plain), TAY),
    other("Lightweight convolution (Wu et al.)", LIGHTWEIGHT | NO_BIAS, WU + "3"),
    other("Dynamic convolution (Wu et al.)", DYNAMIC | NO_BIAS, WU + "4"),
    Variant("DeepNorm", DEEPNORM, "Wang et al. (2022), section 3", paper="Wang et al. (2022), figure 2"),
    other("Sandwich", {"stack": sandwich.build_sandwich}, "Press, Smith & Levy (2020), section 4"),
    other("WideNet", WIDENET, "Xue et al. (2022), section 2"),
    mixed("Linformer", linformer.LinformerAttention, "Wang et al. (2020), section 4", **SINUSOIDS),
    other("Longformer", LONGFORMER | SINUSOIDS, "Beltagy et al. (2020), section 3.1", EncoderDecoder),
    other("BigBird", BIGBIRD | SINUSOIDS, "Zaheer et al. (2020), section 2", EncoderDecoder),
    mixed("FNet", fnet.FourierMixing, "Lee-Thorp et al. (2022), section 3", **SINUSOIDS),
    mixed("MLP-Mixer", mlp_mixer.TokenMixing, "Tolstikhin et al. (2021), equation 1"),
    other("Transformer-XL", SEGMENTS, "Dai et al. (2019), section 3"),
)

CATALOGUE: dict[str, Variant] = Catalogue({row.name: row for row in ROWS})

ABSOLUTE = {"learned": LearnedPositions, "sinusoids": SinusoidalPositions, "learnable sinusoids": LearnableSinusoidal}
RELATIVE = dict(zip(ABSOLUTE, (ShawPositions, SinusoidalDistances, LearnableSinusoidalDistances), strict=True))


def by_positions(absolute: str = "", relative: str = "") -> Variant:
    """A row of Wang et al. (2021): BERT's task with one kind of absolute positions, of relative ones, or both."""
    kinds = [f"{kind} {how}" for kind, how in (("absolute", absolute), ("relative", relative)) if how]
    changes = {"positions": ABSOLUTE.get(absolute, NoPositions), "attention_positions": RELATIVE.get(relative)}
    name, paper = ", ".join(kinds) or "none", "Wang et al. (2021), table 3"
    return Variant(name, changes, "Wang et al. (2021), section 2", MaskedLM, paper)


SINGLE = [("", ""), *((how, "") for how in ABSOLUTE), *(("", how) for how in RELATIVE)]
DOUBLE = [(absolute, relative) for absolute in ("learned", "learnable sinusoids") for relative in RELATIVE]
# the 13 rows of the table: "none", "absolute learned", "absolute learned, relative sinusoids", …
POSITIONS: dict[str, Variant] = Catalogue({row.name: row for row in starmap(by_positions, SINGLE + DOUBLE)})
