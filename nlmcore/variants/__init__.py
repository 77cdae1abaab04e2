"""Published variants of the Transformer: one line each in `catalogue`, and a leaf for what is new in it.

    CATALOGUE["SwiGLU"].build(vocab_size)        a model, small enough for a laptop
    print(CATALOGUE["SwiGLU"])                   what the row changes in `vanilla`, the table's baseline, and its paper
    print(CATALOGUE)                             all rows, one in a line

`CATALOGUE` has rows of Narang et al. (2021), table 1: activations, norms, depth, block sharing, factorised, tied and
adaptive embeddings, softmaxes, Synthesizers, experts, product keys; and of other papers: convolutions, Universal,
DeepNorm, Sandwich, WideNet, Linformer, Longformer, BigBird, FNet, MLP-Mixer, Transformer-XL.

Where what has no row belongs: the field of `TransformerConfig` that it replaces.

    Vision Transformer                           embedding = nn.Linear on patches, in a Trunk of its own; for captions,
                                                 hand it to EncoderDecoder as its encoder

A loss that a part adds (`balance_loss`, `ponder_cost`) is an attribute of the part, set when it is called; the `loss`
that is given to `nlmcore.training.fit` sums it over `model.modules()`.
"""

from nlmcore.variants.adaptive import (
    AdaptiveEmbedding,
    AdaptiveOutput,
    AdaptiveSoftmax,
    adaptive_loss,
    build_adaptive_output,
    build_adaptive_softmax,
    cluster_sizes,
)
from nlmcore.variants.baseline import DEFAULT_SIZES, share_positions, vanilla
from nlmcore.variants.catalogue import CATALOGUE
from nlmcore.variants.convolution import DynamicConvolution, LightweightConvolution
from nlmcore.variants.deepnorm import DeepNorm, build_deepnorm, initialise_deepnorm
from nlmcore.variants.encoders import in_encoder
from nlmcore.variants.evolved import DecoderCell, EncoderCell, build_evolved, share_cell_positions
from nlmcore.variants.experts import MixtureOfExperts, balance_loss
from nlmcore.variants.factorised import (
    FactorisedEmbedding,
    FactorisedOutput,
    build_factorised_output,
    initialise_factorised,
)
from nlmcore.variants.fixup import Fixup, FixupFeedForward, build_fixup, initialise_fixup
from nlmcore.variants.funnel import FunnelDecoder, FunnelEncoder, build_funnel
from nlmcore.variants.linformer import LinformerAttention
from nlmcore.variants.mixing import FourierMixing, TokenMixing, fourier
from nlmcore.variants.mixture_of_softmaxes import MixtureOfSoftmaxes, build_mixture_of_softmaxes
from nlmcore.variants.product_keys import ProductKeyMemory, build_with_memory
from nlmcore.variants.rezero import ReZero, build_rezero
from nlmcore.variants.sandwich import AttentionLayer, FeedForwardLayer, build_sandwich, order
from nlmcore.variants.separable import SeparableConvolution
from nlmcore.variants.sharing import share_blocks, share_in_decoder, share_in_encoder
from nlmcore.variants.sparse import SparseAttention, build_bigbird, build_longformer, draw_blocks
from nlmcore.variants.switch import Capacity, build_mixture, build_switch, jitter
from nlmcore.variants.synthesizer import Plus, PlusAlpha, Synthesizer, build_synthesizer
from nlmcore.variants.synthetic_scores import (
    DenseScores,
    FactorisedDenseScores,
    FactorisedRandomScores,
    RandomScores,
)
from nlmcore.variants.transformer_xl import build_transformer_xl, share_u_and_v
from nlmcore.variants.transparent import (
    NormOfEach,
    TransparentDecoder,
    TransparentEncoder,
    build_norm_of_each,
    build_transparent,
)
from nlmcore.variants.universal import Universal, ponder_cost
from nlmcore.variants.variant import Catalogue, Times, Variant
from nlmcore.variants.weighted import (
    Branches,
    WeightedLayer,
    build_branched_attention,
    build_branched_cross_attention,
)
from nlmcore.variants.widenet import share_all_but_norms

__all__ = [
    "CATALOGUE",
    "DEFAULT_SIZES",
    "AdaptiveEmbedding",
    "AdaptiveOutput",
    "AdaptiveSoftmax",
    "AttentionLayer",
    "Branches",
    "Capacity",
    "Catalogue",
    "DecoderCell",
    "DeepNorm",
    "DenseScores",
    "DynamicConvolution",
    "EncoderCell",
    "FactorisedDenseScores",
    "FactorisedEmbedding",
    "FactorisedOutput",
    "FactorisedRandomScores",
    "FeedForwardLayer",
    "Fixup",
    "FixupFeedForward",
    "FourierMixing",
    "FunnelDecoder",
    "FunnelEncoder",
    "LightweightConvolution",
    "LinformerAttention",
    "MixtureOfExperts",
    "MixtureOfSoftmaxes",
    "NormOfEach",
    "Plus",
    "PlusAlpha",
    "ProductKeyMemory",
    "RandomScores",
    "ReZero",
    "SeparableConvolution",
    "SparseAttention",
    "Synthesizer",
    "Times",
    "TokenMixing",
    "TransparentDecoder",
    "TransparentEncoder",
    "Universal",
    "Variant",
    "WeightedLayer",
    "adaptive_loss",
    "balance_loss",
    "build_adaptive_output",
    "build_adaptive_softmax",
    "build_bigbird",
    "build_branched_attention",
    "build_branched_cross_attention",
    "build_deepnorm",
    "build_evolved",
    "build_factorised_output",
    "build_fixup",
    "build_funnel",
    "build_longformer",
    "build_mixture",
    "build_mixture_of_softmaxes",
    "build_norm_of_each",
    "build_rezero",
    "build_sandwich",
    "build_switch",
    "build_synthesizer",
    "build_transformer_xl",
    "build_transparent",
    "build_with_memory",
    "cluster_sizes",
    "draw_blocks",
    "fourier",
    "in_encoder",
    "initialise_deepnorm",
    "initialise_factorised",
    "initialise_fixup",
    "jitter",
    "order",
    "ponder_cost",
    "share_all_but_norms",
    "share_blocks",
    "share_cell_positions",
    "share_in_decoder",
    "share_in_encoder",
    "share_positions",
    "share_u_and_v",
    "vanilla",
]
