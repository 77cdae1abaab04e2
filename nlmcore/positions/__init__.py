"""Positions: attention alone sees a bag of vectors; these say where in the text each one is.

Added to the embeddings before the first block; called `module(x, first=0)`, where `first` tokens were read before x:

    SinusoidalPositions       x_t + PE(t)                      Vaswani et al. (2017), section 3.5
    LearnableSinusoidal       the same, frequencies learned    Wang et al. (2021)
    LearnedPositions          x_t + p_t                        Gehring et al. (2017), Devlin et al. (2019)
    ConcatenatedPositions     W [x_t; PE(t)]                   adding is the special case W = [I, I]
    NoPositions               x_t                              Haviv et al. (2022)

Inside every attention, for pairs of a query and a key; built by `Module(n_heads, d_head, max_length, causal)`:

    Rotary                    queries and keys are rotated     Su et al. (2021)
    ALiBi                     a penalty linear in distance     Press, Smith & Lewis (2022)
    RelativeBias              one number per bucket            Raffel et al. (2020), T5
    ShawPositions             one vector per distance          Shaw, Uszkoreit & Vaswani (2018)
    MusicTransformerPositions the same, with less memory       Huang et al. (2018)
    TransformerXLPositions    sinusoids of the distance        Dai et al. (2019)
    SinusoidalDistances       the same, added to the keys      Wang et al. (2021)
    LearnableSinusoidalDistances  with learned frequencies     Wang et al. (2021)

These have one of two methods, which is also what a call of the module does. `rotate(x, first)` rotates queries or keys
(batch, head, time, d_head), the first of which is at position `first`. `bias(q, k)` gives what is added to q · k /
√d_head, (batch or 1, head, query, key). They may have `values(weights)` as well: what is added to weights @ v, (batch,
head, query, d_head). Queries are the last of the keys.
"""

from nlmcore.positions.absolute import LearnedPositions, NoPositions
from nlmcore.positions.biases import ALiBi, RelativeBias, alibi, alibi_slopes, relative_bias, relative_buckets
from nlmcore.positions.relative import MusicTransformerPositions, ShawPositions, TransformerXLPositions, relative_shift
from nlmcore.positions.relative_sinusoids import LearnableSinusoidalDistances, SinusoidalDistances
from nlmcore.positions.rotation import Rotary, rotary
from nlmcore.positions.sinusoids import (
    ConcatenatedPositions,
    LearnableSinusoidal,
    SinusoidalPositions,
    binary_counter,
    sinusoidal,
)

__all__ = [
    "ALiBi",
    "ConcatenatedPositions",
    "LearnableSinusoidal",
    "LearnableSinusoidalDistances",
    "LearnedPositions",
    "MusicTransformerPositions",
    "NoPositions",
    "RelativeBias",
    "Rotary",
    "ShawPositions",
    "SinusoidalDistances",
    "SinusoidalPositions",
    "TransformerXLPositions",
    "alibi",
    "alibi_slopes",
    "binary_counter",
    "relative_bias",
    "relative_buckets",
    "relative_shift",
    "rotary",
    "sinusoidal",
]
