"""One row of a table of Transformers: which fields of the configuration it replaces, and who proposed it.

A row builds `family(config)`: a language model, or an encoder-decoder where the row is about the encoder or about which
embeddings are shared.

**The baseline** of all rows, "Vanilla Transformer" in Narang et al. (2021), section 3: the Transformer of 2017 but for
pre-norm, and T5's relative bias for positions, one table for all layers. ReLU, LayerNorm, no biases in the matrices
(T5's code), one embedding matrix for the encoder, the decoder and the softmax.

    theirs      12 + 12 layers, d_model 768, 12 heads of 64, d_ff 3072; 223 M parameters
    default     6 layers, d_model 96, 6 heads of 16, d_ff 384 (2/3 and 3/2 of them are integers), for a laptop; 0.7 M

Departs from the paper: scores are divided by √d_head, and embeddings multiplied by √d_model, both as in 2017, where T5
has other first weights instead; encoder and decoder each have a table of the bias.
"""

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from inspect import signature
from math import floor
from types import MappingProxyType
from typing import Any

import torch.nn.functional as F
from torch import nn

from nlmcore.checks import called
from nlmcore.positions import NoPositions, RelativeBias
from nlmcore.transformer import FeedForward, TransformerConfig, TransformerLM

RELU = partial(FeedForward, activation=F.relu, bias=False)  # FFN(x) = max(0, x W1) W2


def vanilla(
    vocab_size: int,
    *,
    d_model: int = 96,
    n_heads: int = 6,
    n_layers: int = 6,
    max_length: int = 128,
    d_head: int | None = None,
    d_ff: int | None = None,
    n_kv_heads: int | None = None,
    window: int | None = None,
    dropout: float = 0.0,
) -> TransformerConfig:
    """The baseline of these sizes; d_head is d_model / n_heads and d_ff 4 · d_model unless given.

    Another field is changed by dataclasses.replace(vanilla(…), …). Raises ValueError for sizes that contradict each
    other.
    """
    c = TransformerConfig(
        vocab_size=vocab_size,
        d_model=d_model,
        n_heads=n_heads,
        n_layers=n_layers,
        max_length=max_length,
        d_head=d_head,
        d_ff=d_ff,
        n_kv_heads=n_kv_heads,
        window=window,
        dropout=dropout,
        attention_bias=False,
        scale_embeddings=True,
        norm=nn.LayerNorm,
        feed_forward=RELU,
        positions=NoPositions,
        attention_positions=RelativeBias,
        share=share_positions,
    )
    return replace(c, d_head=c.head_size, d_ff=c.hidden_size)  # for rows that multiply them


def share_positions(stack: nn.Module, names: Sequence[str] = ("attention",)) -> None:
    """The attentions of one name share one `positions`, if they have any: Raffel et al. (2020), section 2.1."""
    for name in names:
        parts: list[Any] = [getattr(layer, name, None) for layer in stack.children()]
        with_positions = [part for part in parts if hasattr(part, "positions")]
        for attention in with_positions:
            attention.positions = with_positions[0].positions


@dataclass(frozen=True)
class Times:
    """A size of the baseline times `factor`, rounded to the nearest integer (halves up), and at least 1."""

    factor: Fraction | int

    def __call__(self, size: int) -> int:
        return max(1, floor(size * self.factor + Fraction(1, 2)))

    def __str__(self) -> str:
        return f"× {self.factor}"


@dataclass(frozen=True, repr=False)
class Variant:
    """One row.

    Raises ValueError for a change of anything but a field of TransformerConfig, TypeError for changes that are not a
    dictionary or a family that is not callable.
    """

    name: str  # as printed
    changes: Mapping[str, Any]  # field of TransformerConfig -> its new value, or `Times` of the baseline's
    source: str  # who proposed it
    family: Callable[[TransformerConfig], Any] = TransformerLM  # or EncoderDecoder
    paper: str = "Narang et al. (2021), table 1"  # whose row it is
    unknown: str = ""  # which choice of the paper's could not be recovered for certain

    def __post_init__(self) -> None:
        if not isinstance(self.changes, Mapping):
            raise TypeError(f"changes must be a dictionary of fields of TransformerConfig, got {self.changes!r:.60}")
        if not callable(self.family):
            raise TypeError(f"family must be TransformerLM, EncoderDecoder or the like, got {self.family!r:.60}")
        unknown = set(self.changes) - set(TransformerConfig.__dataclass_fields__)
        if unknown:
            raise ValueError(f"changes must name fields of TransformerConfig, got {sorted(unknown)}")
        object.__setattr__(self, "changes", MappingProxyType(dict(self.changes)))

    def config(self, vocab_size: int, **sizes: Any) -> TransformerConfig:
        """The baseline of these sizes, those of `vanilla`, then this row's changes.

        A part has its paper's sizes; with others it is handed in itself, by dataclasses.replace(row.config(100),
        stack=partial(build_switch, n_experts=8)). Raises TypeError for a keyword that `vanilla` does not take,
        ValueError for sizes that contradict each other.
        """
        known = [*signature(vanilla).parameters][1:]
        for name in sizes:
            if name not in known:
                near = "".join(f", near {word}" for word in difflib.get_close_matches(name, known, 1))
                raise TypeError(f"the sizes of a row are {', '.join(known)}, got {name!r}{near}")
        base = vanilla(vocab_size, **sizes)
        new: dict[str, Any] = {
            n: value(getattr(base, n)) if isinstance(value, Times) else value for n, value in self.changes.items()
        }
        return replace(base, **new)

    def build(self, vocab_size: int, **sizes: Any) -> Any:
        """A model of `family`; sizes and errors as in `config`. First weights follow torch.manual_seed.

        Raises ValueError for a part that only an encoder can have, where `family` is TransformerLM.
        """
        return self.family(self.config(vocab_size, **sizes))

    @property
    def difference(self) -> str:
        """What this row changes, in a line; for the baseline "nothing"."""
        shown = (f"{n} {v if isinstance(v, Times) else f'= {called(v)}'}" for n, v in self.changes.items())
        return ", ".join(shown) or "nothing"

    def __str__(self) -> str:
        model = "" if self.family is TransformerLM else f", as {called(self.family)}"
        unknown = f" (not recovered: {self.unknown})" if self.unknown else ""
        return f"{self.name}: {self.difference}{model}{unknown}; {self.source}"

    def __repr__(self) -> str:
        return f"Variant({self})"


class Catalogue(dict[str, Variant]):
    """Rows by their printed name, one per line; an unknown name raises KeyError, which suggests similar ones."""

    def __repr__(self) -> str:
        return "\n".join(map(str, self.values()))

    def __missing__(self, name: object) -> Variant:
        lower = {key.lower(): key for key in self}
        near = [lower[key] for key in difflib.get_close_matches(str(name).lower(), lower, 3)]
        words = f"did you mean {' or '.join(map(repr, near))}?" if near else f"rows are {', '.join(map(repr, self))}"
        raise KeyError(f"{name!r} is no row of the catalogue; {words}")
