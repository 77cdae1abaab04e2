"""Published variants of the Transformer: one line each in `catalogue`, and a leaf for what is new in it.

    CATALOGUE["SwiGLU"].build(vocab_size)        a model, small enough for a laptop
    print(CATALOGUE["SwiGLU"])                   what the row changes in `vanilla`, the table's baseline, and its paper
    print(CATALOGUE)                             all rows, one in a line

`CATALOGUE` has rows of Narang et al. (2021), table 1: activations, norms, depth, block sharing, factorised, tied and
adaptive embeddings, softmaxes; and of other papers: DeepNorm, Sandwich, WideNet, Linformer,
Longformer, BigBird, FNet, MLP-Mixer, Transformer-XL.

Where the others belong: the field of `TransformerConfig` that each replaces. The places are tried out, with a small
part in each, in `tests/nlmcore/test_variants_seams.py` and the two files beside it.

    mixture of experts, Switch                   feed_forward; in some layers only: stack
    product-key memory                           feed_forward; in some layers only: stack
    Evolved, Weighted                            block: any number of branches; its state may be a tuple of states
    Universal                                    stack, that loops one block and may halt it; one state per loop
    Funnel                                       stack: shortens in the encoder, and shortens the mask in the decoder
    transparent attention                        stack, final_norm: the encoder hands on every layer's vectors, side by
                                                 side; the decoder's `remember` mixes them
    Vision Transformer                           embedding = nn.Linear on patches, in a Trunk of its own; for captions,
                                                 hand it to EncoderDecoder as its encoder

A loss that a part adds (`balance_loss`, pondering) is an attribute of the part, set when it is called; the `loss`
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
from nlmcore.variants.experts import MixtureOfExperts, balance_loss
from nlmcore.variants.factorised import (
    FactorisedEmbedding,
    FactorisedOutput,
    build_factorised_output,
    initialise_factorised,
)
from nlmcore.variants.fixup import Fixup, FixupFeedForward, build_fixup, initialise_fixup
from nlmcore.variants.linformer import LinformerAttention
from nlmcore.variants.mixing import FourierMixing, TokenMixing, fourier
from nlmcore.variants.mixture_of_softmaxes import MixtureOfSoftmaxes, build_mixture_of_softmaxes
from nlmcore.variants.rezero import ReZero, build_rezero
from nlmcore.variants.sandwich import AttentionLayer, FeedForwardLayer, build_sandwich, order
from nlmcore.variants.separable import SeparableConvolution
from nlmcore.variants.sharing import share_blocks, share_in_decoder, share_in_encoder
from nlmcore.variants.sparse import SparseAttention, build_bigbird, build_longformer, draw_blocks
from nlmcore.variants.synthesizer import Plus, PlusAlpha, Synthesizer, build_synthesizer
from nlmcore.variants.synthetic_scores import (
    DenseScores,
    FactorisedDenseScores,
    FactorisedRandomScores,
    RandomScores,
)
from nlmcore.variants.transformer_xl import build_transformer_xl, share_u_and_v
from nlmcore.variants.variant import Catalogue, Times, Variant
from nlmcore.variants.widenet import share_all_but_norms

__all__ = [
    "CATALOGUE",
    "DEFAULT_SIZES",
    "AdaptiveEmbedding",
    "AdaptiveOutput",
    "AdaptiveSoftmax",
    "AttentionLayer",
    "Catalogue",
    "DeepNorm",
    "DenseScores",
    "DynamicConvolution",
    "FactorisedDenseScores",
    "FactorisedEmbedding",
    "FactorisedOutput",
    "FactorisedRandomScores",
    "FeedForwardLayer",
    "Fixup",
    "FixupFeedForward",
    "FourierMixing",
    "LightweightConvolution",
    "LinformerAttention",
    "MixtureOfExperts",
    "MixtureOfSoftmaxes",
    "Plus",
    "PlusAlpha",
    "RandomScores",
    "ReZero",
    "SeparableConvolution",
    "SparseAttention",
    "Synthesizer",
    "Times",
    "TokenMixing",
    "Variant",
    "adaptive_loss",
    "balance_loss",
    "build_adaptive_output",
    "build_adaptive_softmax",
    "build_bigbird",
    "build_deepnorm",
    "build_factorised_output",
    "build_fixup",
    "build_longformer",
    "build_mixture_of_softmaxes",
    "build_rezero",
    "build_sandwich",
    "build_synthesizer",
    "build_transformer_xl",
    "cluster_sizes",
    "draw_blocks",
    "fourier",
    "in_encoder",
    "initialise_deepnorm",
    "initialise_factorised",
    "initialise_fixup",
    "order",
    "share_all_but_norms",
    "share_blocks",
    "share_in_decoder",
    "share_in_encoder",
    "share_positions",
    "share_u_and_v",
    "vanilla",
]
