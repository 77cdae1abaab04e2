"""Published variants of the Transformer: a line each in `catalogue`, and a file for each new part.

    CATALOGUE["SwiGLU"].build(vocab_size)        a model, small enough for a laptop
    CATALOGUE["SwiGLU"].config(vocab_size)       its TransformerConfig; compare with `vanilla`, that of the baseline
    print(CATALOGUE["SwiGLU"])                   what the row changes in the baseline, and its paper
    CATALOGUE["SwiGLU"].unknown                  which choice of the paper could not be recovered; here "", none
    print(CATALOGUE)                             all rows, one per line
    POSITIONS["absolute learned"]                ways to tell positions, the 13 rows of Wang et al. (2021), table 3

Most rows are those of Narang et al. (2021), table 1. A model without a row replaces a field of `TransformerConfig`.
Where what has no row belongs:

    Vision Transformer                           embedding = nn.Linear on patches, in a separate Backbone; for captions,
                                                 pass it to EncoderDecoder as its encoder

A loss that a part adds (`balance_loss`, `ponder_cost`) is an attribute of the part, set when it is called; the `loss`
that is given to `nlmcore.training.fit` sums it over `model.modules()`.
"""

from nlmcore.variants.catalogue import CATALOGUE, POSITIONS
from nlmcore.variants.variant import Variant

__all__ = ["CATALOGUE", "POSITIONS", "Variant"]
