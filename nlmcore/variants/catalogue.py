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
    residual            x + f(norm(x))
      Rezero              x + α f(x), α = 0 at the start; "+ LayerNorm", "+ RMS Norm": x + α f(norm(x))
      Fixup               x + a f(x + b), no norm, first weights by depth
    depth               more layers with fewer heads and a narrower feed-forward network, or fewer with more
    embeddings          the encoder's, the decoder's and the softmax's matrix are one in all rows but those of that name
      Factorized          E = A B; "& shared": logits = (h Bᵀ) Aᵀ, otherwise the softmax has a matrix of its own
      Adaptive            E[w] = A_i[w] B_i, narrower for clusters of rarer tokens; "softmax": P(w) = P(cluster) P(w in
                          it); "without projection": clusters, no B_i
    softmax             P(w) = Σ_k π_k softmax(E tanh(W_k h))_w, 15 of them
    sharing             h^l = layer(h^{l−1}), one layer; the softmax has a matrix of its own
    Transparent         layer j of the decoder looks at Σ_i s_ij h^i, over all layers of the encoder
    Evolved             gates, convolutions and attention in two cells of their own, half as many
    Funnel              the encoder pools neighbours to their mean, twice
    Weighted            Σ_i α_i FFN(κ_i head_i W^O_i) for attention and feed-forward network
    Synthesizer         softmax(S) V; S is made of one token (dense), or of none: R (random), R1 R2ᵀ (factorized);
                        "plus": S + q · k / √d_head, "plus alpha": α S + (1 − α) q · k / √d_head
    experts             32 in every fourth layer
      Mixture of experts  Σ gate_e FFN_e(x) over the best two, each half as wide; the two gates sum to 1
      Switch              p_e FFN_e(x) of the best one
    Product key memory  Σ softmax(s)_ij v_ij over the best k pairs of half keys, before the last layer of the decoder

Rows of other papers:

    Universal           x^t = block(x^{t−1} + P^t), one block; y = Σ p^t x^t, each position says itself when it halts
    convolutions        Σ_j softmax(w)_j v_{t − k + j}, v gated; w one for all texts (lightweight), or of v_t (dynamic)
    Synthesizer         "random, fixed": R is never trained; "factorized dense": S_ts is a product of two
    DeepNorm            LN(α x + f(x)), α and the first weights by depth
    Sandwich            s^k (s f)^(n − k) f^k: attention first, feed-forward networks last
    WideNet             one attention and one Σ p_e FFN_e(x) over the best two experts for all layers, norms for each
    Linformer           softmax(Q (E K)ᵀ / √d_head) F V: k keys for n places
    Longformer          neighbours within w / 2, and the first token
    BigBird             neighbouring blocks, the first two, and three drawn at random
    FNet                the real part of a Fourier transform over places and width for attention
    MLP-Mixer           one network over the places of every channel for attention
    Transformer-XL      sinusoids of distances, u and v; a memory of max_length positions

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
from nlmcore.transformer import EncoderDecoder, FeedForward, GatedFeedForward
from nlmcore.variants.adaptive import AdaptiveEmbedding, build_adaptive_output, build_adaptive_softmax
from nlmcore.variants.baseline import RELU
from nlmcore.variants.convolution import DynamicConvolution, LightweightConvolution
from nlmcore.variants.deepnorm import build_deepnorm, initialise_deepnorm
from nlmcore.variants.encoders import in_encoder
from nlmcore.variants.evolved import build_evolved, share_cell_positions
from nlmcore.variants.experts import MixtureOfExperts
from nlmcore.variants.factorised import FactorisedEmbedding, build_factorised_output, initialise_factorised
from nlmcore.variants.fixup import FixupFeedForward, build_fixup, initialise_fixup
from nlmcore.variants.funnel import build_funnel
from nlmcore.variants.linformer import LinformerAttention
from nlmcore.variants.mixing import FourierMixing, TokenMixing
from nlmcore.variants.mixture_of_softmaxes import build_mixture_of_softmaxes
from nlmcore.variants.product_keys import build_with_memory
from nlmcore.variants.rezero import build_rezero
from nlmcore.variants.sandwich import build_sandwich
from nlmcore.variants.sharing import share_blocks, share_in_decoder, share_in_encoder
from nlmcore.variants.sparse import build_bigbird, build_longformer
from nlmcore.variants.switch import build_mixture, build_switch
from nlmcore.variants.synthesizer import Plus, PlusAlpha, Synthesizer, build_synthesizer
from nlmcore.variants.synthetic_scores import (
    DenseScores,
    FactorisedDenseScores,
    FactorisedRandomScores,
    RandomScores,
)
from nlmcore.variants.transformer_xl import build_transformer_xl, share_u_and_v
from nlmcore.variants.transparent import build_norm_of_each, build_transparent
from nlmcore.variants.universal import Universal
from nlmcore.variants.variant import Catalogue, Times, Variant
from nlmcore.variants.weighted import WeightedLayer, build_branched_attention, build_branched_cross_attention
from nlmcore.variants.widenet import share_all_but_norms

THIRD, HALF = Fraction(1, 3), Fraction(1, 2)
SHAZEER, DEPTH = "Shazeer (2020), section 2", "Narang et al. (2021), section 2.3"
LAN, SIDES = "Lan et al. (2020), section 3.1", "Narang et al. (2021), section 2.5"
TAY, WU = "Tay et al. (2021), section 3", "Wu et al. (2019), section "

FACTORISED = {"embedding": FactorisedEmbedding, "initialise": initialise_factorised}
ADAPTIVE = {"embedding": AdaptiveEmbedding, "initialise": initialise_factorised}
OWN_SOFTMAX = {"tie_embeddings": False}
SHARED_SOFTMAX = {"output": build_factorised_output}
SHARED_BLOCKS = {"share": share_blocks}
SINUSOIDS = {"positions": SinusoidalPositions}


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
    Variant("Block sharing", SHARED_BLOCKS | OWN_SOFTMAX, LAN),
    Variant("Block sharing + Factorized embeddings", SHARED_BLOCKS | FACTORISED | OWN_SOFTMAX, LAN),
    Variant("Block sharing + Factorized & shared embeddings", SHARED_BLOCKS | FACTORISED | SHARED_SOFTMAX, LAN),
    Variant("Encoder only block sharing", {"stack": share_in_encoder} | OWN_SOFTMAX, SIDES, EncoderDecoder),
    Variant("Decoder only block sharing", {"stack": share_in_decoder} | OWN_SOFTMAX, SIDES, EncoderDecoder),
    Variant("Factorized Embedding", FACTORISED | OWN_SOFTMAX, LAN),
    Variant("Factorized & shared embeddings", FACTORISED | SHARED_SOFTMAX, LAN),
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
    Variant(
        "Adaptive input embeddings", ADAPTIVE | {"output": build_adaptive_output}, "Baevski & Auli (2019), section 3"
    ),
    Variant("Adaptive softmax", ADAPTIVE | {"output": build_adaptive_softmax}, "Grave et al. (2017), section 4"),
    Variant(
        "Adaptive softmax without projection",
        {"embedding": partial(AdaptiveEmbedding, narrowing=(1, 1, 1)), "output": build_adaptive_softmax},
        "Narang et al. (2021), section 2.6",
    ),
    Variant("Mixture of softmaxes", {"output": build_mixture_of_softmaxes}, "Yang et al. (2018), section 2"),
    Variant(
        "Transparent attention",
        {"stack": build_transparent, "final_norm": build_norm_of_each},
        "Bapna et al. (2018)",
        EncoderDecoder,
    ),
    Variant(
        "Evolved Transformer",
        {"block": build_evolved, "n_layers": Times(HALF), "share": share_cell_positions},
        "So, Liang & Le (2019), figure 3",
    ),
    Variant("Funnel Transformer", {"stack": build_funnel}, "Dai et al. (2020), section 2", EncoderDecoder),
    Variant(
        "Weighted Transformer",
        {
            "block": WeightedLayer,
            "attention": build_branched_attention,
            "cross_attention": build_branched_cross_attention,
        },
        "Ahmed, Keskar & Socher (2017), section 3",
    ),
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
    Variant(
        "Universal Transformer",
        {
            "stack": Universal,
            "norm_position": "post",
            "positions": NoPositions,
            "attention_positions": None,
        },
        "Dehghani et al. (2019), section 2",
        paper="Dehghani et al. (2019)",
    ),
    Variant(
        "Synthesizer (factorized dense)",
        {"attention": partial(Synthesizer, scores=FactorisedDenseScores)},
        TAY,
        paper="Tay et al. (2021)",
    ),
    Variant(
        "Synthesizer (random, fixed)",
        {"attention": partial(Synthesizer, scores=partial(RandomScores, trained=False))},
        TAY,
        paper="Tay et al. (2021)",
    ),
    Variant(
        "Lightweight convolution",
        {"attention": LightweightConvolution, "attention_positions": None},
        WU + "3",
        paper="Wu et al. (2019)",
    ),
    Variant(
        "Dynamic convolution",
        {"attention": DynamicConvolution, "attention_positions": None},
        WU + "4",
        paper="Wu et al. (2019)",
    ),
    Variant(
        "DeepNorm",
        {"norm_position": "post", "residual": build_deepnorm, "initialise": initialise_deepnorm},
        "Wang et al. (2022), section 3",
        paper="Wang et al. (2022), figure 2",
    ),
    Variant(
        "Sandwich",
        {"stack": build_sandwich},
        "Press, Smith & Levy (2020), section 4",
        paper="Press, Smith & Levy (2020)",
    ),
    Variant(
        "WideNet",
        {"share": share_all_but_norms, "feed_forward": partial(MixtureOfExperts, expert=RELU)},
        "Xue et al. (2022), section 2",
        paper="Xue et al. (2022)",
    ),
    Variant(
        "Linformer",
        encoder_only(LinformerAttention) | SINUSOIDS,
        "Wang et al. (2020), section 4",
        EncoderDecoder,
        "Wang et al. (2020)",
    ),
    Variant(
        "Longformer",
        encoder_only(build_longformer) | SINUSOIDS,
        "Beltagy et al. (2020), section 3.1",
        EncoderDecoder,
        "Beltagy et al. (2020)",
    ),
    Variant(
        "BigBird",
        encoder_only(build_bigbird) | SINUSOIDS,
        "Zaheer et al. (2020), section 2",
        EncoderDecoder,
        "Zaheer et al. (2020)",
    ),
    Variant(
        "FNet",
        encoder_only(FourierMixing) | SINUSOIDS,
        "Lee-Thorp et al. (2022), section 3",
        EncoderDecoder,
        "Lee-Thorp et al. (2022)",
    ),
    Variant(
        "MLP-Mixer",
        encoder_only(TokenMixing),
        "Tolstikhin et al. (2021), equation 1",
        EncoderDecoder,
        "Tolstikhin et al. (2021)",
    ),
    Variant(
        "Transformer-XL",
        {
            "attention": build_transformer_xl,
            "attention_positions": TransformerXLPositions,
            "share": share_u_and_v,
        },
        "Dai et al. (2019), section 3",
        paper="Dai et al. (2019)",
    ),
)

CATALOGUE: dict[str, Variant] = Catalogue({row.name: row for row in ROWS})
"""Every row by its printed name."""
