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

from nlmcore.variants.catalogue import CATALOGUE
from nlmcore.variants.variant import Variant
