"""What a corpus is: documents in fixed splits, with a licence, a source and a size."""

import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Protocol, runtime_checkable

import torch
from torch import Tensor


@runtime_checkable
class Encoder(Protocol):
    """All that a corpus asks of a tokenizer."""

    @property
    def bos(self) -> int: ...

    @property
    def eos(self) -> int: ...

    def encode(self, text: str) -> list[int]: ...


@dataclass(frozen=True, kw_only=True)
class Document:
    """One example."""

    text: str
    """What is read: a play, a word's letters, the source sentence."""
    target: str | None = None
    """What it is to be turned into, in a corpus of pairs."""
    alternatives: tuple[str, ...] = ()
    """Further targets that are as right: other pronunciations of a word."""
    label: str | None = None
    """Its class, in a corpus that has classes."""
    title: str = ""
    image: Tensor | None = field(default=None, compare=False, repr=False)
    """Brightness from 0 to 1, (row, column), in a corpus of images."""


@dataclass(frozen=True, kw_only=True)
class Corpus:
    """Documents in fixed splits. `corpus.train`, `corpus.valid` and `corpus.test` are tuples of `Document`."""

    name: str
    about: str
    licence: str
    source: str
    """The package and the files that it comes from, and where those come from."""
    split_rule: str
    """How the documents were split; never by chance."""
    splits: Mapping[str, tuple[Document, ...]]

    def __post_init__(self) -> None:
        object.__setattr__(self, "splits", MappingProxyType(dict(self.splits)))  # a loaded corpus is shared

    @property
    def train(self) -> tuple[Document, ...]:
        return self.splits["train"]

    @property
    def valid(self) -> tuple[Document, ...]:
        return self.splits["valid"]

    @property
    def test(self) -> tuple[Document, ...]:
        return self.splits["test"]

    @property
    def documents(self) -> tuple[Document, ...]:
        """All of them, split after split."""
        return tuple(document for documents in self.splits.values() for document in documents)

    @property
    def size(self) -> int:
        """How many characters there are, targets included."""
        return sum(len(document.text) + len(document.target or "") for document in self.documents)

    @property
    def labels(self) -> tuple[str, ...]:
        """The classes, in alphabetical order."""
        return tuple(sorted({document.label for document in self.documents if document.label is not None}))

    def __len__(self) -> int:
        return sum(map(len, self.splits.values()))

    def __repr__(self) -> str:
        sizes = ", ".join(f"{split} {len(documents):,}" for split, documents in self.splits.items())
        return f"Corpus({self.name!r}, {sizes} documents, {self.size:,} characters)"

    def texts(self, split: str = "train") -> list[str]:
        """The texts of a split, to fit a tokenizer on."""
        return [document.text for document in self._split(split)]

    def targets(self, split: str = "train") -> list[str]:
        """The targets of a split. Raises ValueError if this is no corpus of pairs."""
        targets = [document.target for document in self._split(split)]
        if None in targets:
            raise ValueError(f"corpus {self.name!r} has texts, not pairs, so its {split} split has no targets")
        return targets  # type: ignore[return-value]

    def stream(self, tokenizer: Encoder, split: str = "train") -> Tensor:
        """One long tensor of ids, shape (time,): `<bos>`, the first document, `<eos>`, `<bos>`, the second, ..."""
        ids: list[int] = []
        for document in self._split(split):
            ids += [tokenizer.bos, *tokenizer.encode(document.text), tokenizer.eos]
        return torch.tensor(ids, dtype=torch.int64)

    def id_pairs(
        self, source: Encoder, target: Encoder | None = None, split: str = "train"
    ) -> list[tuple[list[int], list[int]]]:
        """The pairs of a split as ids, ready for `PairBatches`; `target` is the tokenizer of the targets if another."""
        into = target or source
        texts, targets = self.texts(split), self.targets(split)
        return [(source.encode(text), into.encode(goal)) for text, goal in zip(texts, targets, strict=True)]

    def _split(self, split: str) -> tuple[Document, ...]:
        if split not in self.splits:
            raise ValueError(f"split must be one of {sorted(self.splits)}, got {split!r:.60}")
        return self.splits[split]


BY_HASH = "by a hash of {key}, crc32 modulo 100: below 5 is test, 5 to 9 is valid, the rest is train"


def split_by_hash(documents: Iterable[Document], key: Callable[[Document], str]) -> dict[str, tuple[Document, ...]]:
    """A split that stays the same when documents come or go: each one's place depends on itself alone."""
    splits: dict[str, list[Document]] = {"train": [], "valid": [], "test": []}
    for document in documents:
        bucket = zlib.crc32(key(document).encode("utf-8", "surrogatepass")) % 100
        splits["test" if bucket < 5 else "valid" if bucket < 10 else "train"].append(document)
    return {split: tuple(members) for split, members in splits.items()}


def check_option(value: Any, name: str, allowed: Iterable[Any]) -> None:
    """Raise ValueError unless the value is one of those allowed."""
    allowed = list(allowed)
    if value not in allowed:
        raise ValueError(f"{name} must be one of {allowed}, got {value!r:.60}")
