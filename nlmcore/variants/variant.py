"""One row of a table of Transformers: which fields of the configuration it replaces, and who proposed it.

    row = CATALOGUE["SwiGLU"]
    print(row)                      what it changes: feed_forward = partial(GatedFeedForward, …), d_ff × 2/3; the paper
    model = row.build(vocab_size)   ready to train
    row.config(vocab_size)          the TransformerConfig it is built from; compare with vanilla(vocab_size)
    row.own_sizes                   what its parts take beside the baseline's sizes: experts, rank, window, …
    row.build(vocab_size, d_model=64, n_experts=4)

A row is `family(config)`: a language model, or an encoder-decoder where the row says how encoder and decoder share
their embeddings. `dataclasses.replace(row, family=EncoderDecoder)` gives any row as the paper ran it.
"""

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from inspect import signature
from math import floor
from types import MappingProxyType, NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from nlmcore.checks import Range, called
from nlmcore.transformer import TransformerConfig, TransformerLM
from nlmcore.variants.baseline import SIZES, check_known, vanilla


@dataclass(frozen=True)
class Times:
    """A size of the baseline times `factor`, rounded to the nearest whole number (halves up), and at least 1."""

    factor: Fraction | int

    def __call__(self, size: int) -> int:
        return max(1, floor(size * self.factor + Fraction(1, 2)))

    def __str__(self) -> str:
        return f"× {self.factor}"


@dataclass(frozen=True, repr=False)
class Variant:
    """One row.

    Raises ValueError for a change of what is no field of TransformerConfig, TypeError for changes or a family that are
    none.
    """

    name: str
    """As printed."""
    changes: Mapping[str, Any]
    """Field of TransformerConfig -> its new value, or `Times` of the baseline's."""
    source: str
    """Who proposed it."""
    family: Callable[[TransformerConfig], Any] = TransformerLM
    """What is built from the configuration: TransformerLM or EncoderDecoder."""
    paper: str = "Narang et al. (2021), table 1"
    """Whose row it is."""

    def __post_init__(self) -> None:
        if not isinstance(self.changes, Mapping):
            raise TypeError(f"changes must be a dictionary of fields of TransformerConfig, got {self.changes!r:.60}")
        if not callable(self.family):
            raise TypeError(f"family must be TransformerLM, EncoderDecoder or the like, got {self.family!r:.60}")
        unknown = set(self.changes) - set(TransformerConfig.__dataclass_fields__)
        if unknown:
            raise ValueError(f"changes must name fields of TransformerConfig, got {sorted(unknown)}")
        object.__setattr__(self, "changes", MappingProxyType(dict(self.changes)))

    @property
    def own_sizes(self) -> tuple[str, ...]:
        """The sizes of this row's parts that it leaves open, by name."""
        found = [name for value in self.changes.values() for name in open_sizes(value)]
        return tuple(dict.fromkeys(found))

    def config(self, vocab_size: int, **sizes: Any) -> TransformerConfig:
        """The baseline with these sizes (see `vanilla`), then this row's changes, with its own sizes in its parts.

        A name that both have (Longformer's `window`) is the row's. Raises TypeError for a keyword that is no size of
        either, ValueError for sizes that contradict each other.
        """
        check_known(sizes, (*SIZES, *(name for name in self.own_sizes if name not in SIZES)))
        own = {name: size for name, size in sizes.items() if name in self.own_sizes}
        base = vanilla(vocab_size, **{name: size for name, size in sizes.items() if name not in own})
        new: dict[str, Any] = {
            name: value(getattr(base, name)) if isinstance(value, Times) else with_sizes(value, own)
            for name, value in self.changes.items()
        }
        return replace(base, **new)

    def build(self, vocab_size: int, **sizes: Any) -> Any:
        """A ready model of `family`; sizes and errors as in `config`. First weights follow torch.manual_seed.

        Raises ValueError for a part that only an encoder can have, where `family` is TransformerLM.
        """
        return self.family(self.config(vocab_size, **sizes))

    @property
    def difference(self) -> str:
        """What this row changes, in a line; for the baseline "nothing"."""
        return ", ".join(f"{name} {_shown(value)}" for name, value in self.changes.items()) or "nothing"

    def __str__(self) -> str:
        model = "" if self.family is TransformerLM else f", as {called(self.family)}"
        return f"{self.name}: {self.difference}{model}; {self.source}"

    def __repr__(self) -> str:
        return f"Variant({self})"


class Catalogue(dict[str, Variant]):
    """Rows by their printed name, one in a line; a name that is none raises KeyError and says which ones are near."""

    def __repr__(self) -> str:
        return "\n".join(map(str, self.values()))

    def __missing__(self, name: object) -> Variant:
        lower = {key.lower(): key for key in self}
        near = [lower[key] for key in difflib.get_close_matches(str(name).lower(), lower, 3)]
        words = f"did you mean {' or '.join(map(repr, near))}?" if near else f"rows are {', '.join(map(repr, self))}"
        raise KeyError(f"{name!r} is no row of the catalogue; {words}")


def open_sizes(part: Any) -> list[str]:
    """The numbers with a default that a part takes, and those of the parts inside a `partial`, unless it fixes them."""
    if isinstance(part, Times) or not callable(part) or getattr(part, "__module__", "").startswith("torch"):
        return []
    fixed, inside = (part.keywords, (*part.args, *part.keywords.values())) if isinstance(part, partial) else ({}, ())
    takes = [p for p in signature(part).parameters.values() if p.default is not p.empty and _number(p.annotation)]
    return [n for value in inside for n in open_sizes(value)] + [p.name for p in takes if p.name not in fixed]


def with_sizes(part: Any, sizes: Mapping[str, Any]) -> Any:
    """The part with those of the sizes that it, or a part inside it, leaves open."""
    if not set(sizes) & set(open_sizes(part)):
        return part
    if isinstance(part, partial):
        keywords = {name: with_sizes(value, sizes) for name, value in part.keywords.items()}
        part = partial(part.func, *(with_sizes(value, sizes) for value in part.args), **keywords)
    mine = {name: size for name, size in sizes.items() if name in signature(part).parameters}
    mine = {name: size for name, size in mine.items() if name not in getattr(part, "keywords", {})}
    return partial(part, **mine) if mine else part


def _number(annotation: Any) -> bool:
    """Whether it says an int or a float, or one of nlmcore.checks (Size, Rate, …), perhaps None."""
    if get_origin(annotation) is Annotated or isinstance(annotation, UnionType) or get_origin(annotation) is Union:
        return all(part is NoneType or _number(part) for part in get_args(annotation) if not isinstance(part, Range))
    return annotation in (int, float)


def _shown(value: Any) -> str:
    return str(value) if isinstance(value, Times) else f"= {called(value)}"
