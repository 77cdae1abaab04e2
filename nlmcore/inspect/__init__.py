"""Look inside a model while it runs, and change what you see.

`recording`    capture (attention weights), pathway (what each sublayer adds), outputs (activations at any place)
`patching`     patch: activations replaced, added to, ablated; `restore_each`: activation patching, position by position
`attribution`  a logit as a sum over sublayers and heads; how large what each part adds is, and what heads attend to
`switches`     heads and networks switched off, one set after another, as fast as a reader presses them
`features`     a toy that stores more of them than it has dimensions; a sparse autoencoder, which looks for them
"""

from nlmcore.inspect.attribution import (
    Sizes,
    attention_at,
    direct_logits,
    first_token_score,
    induction_score,
    previous_token_score,
    repeated,
    sizes,
)
from nlmcore.inspect.features import (
    SparseAutoencoder,
    ToyAutoencoder,
    dimensionality,
    keep_largest,
    sparse_features,
    unexplained,
)
from nlmcore.inspect.patching import patch, restore_each
from nlmcore.inspect.recording import Branch, Place, Tape, capture, head, neurons, outputs, pathway
from nlmcore.inspect.switches import Part, Switches, ablation

__all__ = [
    "Branch",
    "Part",
    "Place",
    "Sizes",
    "SparseAutoencoder",
    "Switches",
    "Tape",
    "ToyAutoencoder",
    "ablation",
    "attention_at",
    "capture",
    "dimensionality",
    "direct_logits",
    "first_token_score",
    "head",
    "induction_score",
    "keep_largest",
    "neurons",
    "outputs",
    "patch",
    "pathway",
    "previous_token_score",
    "repeated",
    "restore_each",
    "sizes",
    "sparse_features",
    "unexplained",
]
