"""Look inside a model while it runs, and change what you see.

`recording`    capture (attention weights), pathway (what each sublayer adds), outputs (activations at any place)
`patching`     patch: activations replaced, added to, ablated; `restore_each`: activation patching, position by position
`attribution`  a logit as a sum over sublayers and heads; how large what each part adds is
`switches`     heads and networks switched off, one set after another, as fast as a reader presses them
`heads`        what heads attend to: the previous token, the token after the last occurrence, the first token
`superposition` a toy that stores more features than it has dimensions
`sparse_autoencoder` looks for features in activations
"""

from nlmcore.inspect.attribution import Sizes, direct_logits, sizes
from nlmcore.inspect.heads import attention_at, first_token_score, induction_score, previous_token_score, repeated
from nlmcore.inspect.patching import patch, restore_each
from nlmcore.inspect.places import Place, head, neurons
from nlmcore.inspect.recording import Branch, Tape, capture, outputs, pathway
from nlmcore.inspect.sparse_autoencoder import SparseAutoencoder, keep_largest, unexplained
from nlmcore.inspect.superposition import ToyAutoencoder, dimensionality, sparse_features
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
