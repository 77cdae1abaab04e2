"""What a corpus is: documents in fixed splits, with a licence, a source and a size; and one from a file of your own."""

import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from operator import attrgetter
from pathlib import Path
from types import MappingProxyType
from typing import Protocol, runtime_checkable

import torch
from torch import Tensor


@runtime_checkable
class Encoder(Protocol):
    """All that a corpus asks of a tokenizer."""

    bos: int
    eos: int

    def encode(self, text: str) -> list[int]: ...


@dataclass(frozen=True, kw_only=True)
class Document:
    """One example."""

    text: str  # the input: a play, a word's letters, the source sentence
    target: str | None = None  # the expected output, in a corpus of pairs
    alternatives: tuple[str, ...] = ()  # further correct targets, such as other pronunciations of a word
    label: str | None = None  # its class, in a corpus that has classes
    title: str = ""
    image: Tensor | None = field(default=None, compare=False, repr=False)  # (row, column), brightness from 0 to 1


@dataclass(frozen=True, kw_only=True)
class Corpus:
    """Documents in fixed splits. `corpus.train`, `corpus.valid` and `corpus.test` are tuples of `Document`."""

    name: str
    about: str
    licence: str
    source: str  # the package and the files that it comes from, and where those come from
    split_rule: str  # how the documents were split; never by chance
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
        """The targets of a split. Raises ValueError if this is not a corpus of pairs."""
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


def in_splits(documents: Iterable[Document], place: Callable[[Document], str]) -> dict[str, tuple[Document, ...]]:
    """Documents in splits; `place` says in which one belongs."""
    splits: dict[str, list[Document]] = {"train": [], "valid": [], "test": []}
    for document in documents:
        splits[place(document)].append(document)
    return {split: tuple(members) for split, members in splits.items()}


BY_HASH = "by a hash of {key}, crc32 modulo 100: below 5 is test, 5 to 9 is valid, the rest is train"


def split_by_hash(
    documents: Iterable[Document], key: Callable[[Document], str] = attrgetter("text")
) -> dict[str, tuple[Document, ...]]:
    """A split that stays the same when documents come or go: each one's place depends on itself alone."""

    def place(document: Document) -> str:
        bucket = zlib.crc32(key(document).encode("utf-8", "surrogatepass")) % 100
        return "test" if bucket < 5 else "valid" if bucket < 10 else "train"

    return in_splits(documents, place)


def with_alternatives(targets: Mapping[str, Iterable[str]]) -> list[Document]:
    """A document for every text; the first of its targets is the target."""
    return [Document(text=text, target=first, alternatives=(*rest,)) for text, (first, *rest) in targets.items()]


def from_file(path: str | Path, *, pairs: bool = False, licence: str = "not stated") -> Corpus:
    """A UTF-8 text file (Tiny Shakespeare, WikiText-2, …), split 90 : 5 : 5 in the order of the text, at ends of lines.

    With `pairs`, each line is a pair, source and target with a tab between (Tatoeba's third column is ignored);
    targets of the same source are alternatives of one another, and the split is by a hash of the source.
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"path must be a UTF-8 text file, got {path} ({error})") from error
    if not text.strip():
        raise ValueError(f"path must be a file that holds some text, got {path}, which holds none")
    return Corpus(
        name=path.stem,
        about=f"the file {path.name}",
        licence=licence,
        source=path.name,
        split_rule=BY_HASH.format(key="the source")
        if pairs
        else "in the order of the text, at ends of lines: 90, 5 and 5 in a hundred",
        splits=split_by_hash(_pairs(path, text)) if pairs else _in_order(path, text),
    )


def _in_order(path: Path, text: str) -> dict[str, tuple[Document, ...]]:
    parts: dict[str, list[str]] = {"train": [], "valid": [], "test": []}
    read = 0
    for line in text.splitlines(keepends=True):
        share = read / len(text)
        parts["train" if share < 0.9 else "valid" if share < 0.95 else "test"].append(line)
        read += len(line)
    return {name: (Document(text="".join(part), title=path.stem),) if part else () for name, part in parts.items()}


def _pairs(path: Path, text: str) -> list[Document]:
    targets: dict[str, list[str]] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if line:
            source, *rest = line.split("\t")
            if not rest:
                raise ValueError(
                    f"path must hold pairs with a tab between, but line {number} of {path} has no tab: {line:.60}"
                )
            targets.setdefault(source, []).append(rest[0])
    return with_alternatives(targets)
