"""The CMU Pronouncing Dictionary as pairs of spelling and phonemes, in the corpus's own split."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from nlmcore.corpora import Document, load
from nlmcore.tokens import CharTokenizer, WordTokenizer

Dictionary = dict[str, list[str]]
"""A word's different pronunciations, each as phonemes between spaces: {"cat": ["K AE T"]}."""

_WORD = re.compile(r"[a-z]+(?:'[a-z]+)*'?")


@dataclass(frozen=True)
class Split:
    """Three dictionaries without a common word."""

    train: Dictionary
    dev: Dictionary
    test: Dictionary

    @property
    def description(self) -> str:
        return (
            f"{len(self.train):,} words to train on, {len(self.dev):,} dev, {len(self.test):,} test, by crc32 of the"
            " word modulo 100; words of a-z and apostrophes; no stress marks; all pronunciations of a word in one part"
        )

    def tokenizers(self) -> tuple[CharTokenizer, WordTokenizer]:
        """Letters; phonemes."""
        said = [p for pronunciations in self.train.values() for p in pronunciations]
        return CharTokenizer.fit(self.train), WordTokenizer.fit(said)

    @staticmethod
    def pairs(part: Dictionary, source: Any, target: Any) -> list[tuple[list[int], list[int]]]:
        """One pair for every pronunciation, as ids."""
        return [(source.encode(word), target.encode(p)) for word, said in part.items() for p in said]


def load_dictionary(limit: int | None = None) -> Split:
    """The words of a-z and apostrophes, or the first `limit` of every part (for smoke runs)."""
    corpus = load("cmudict")
    return Split(*(_entries(part, limit) for part in (corpus.train, corpus.valid, corpus.test)))


def _entries(documents: Iterable[Document], limit: int | None) -> Dictionary:
    said = {d.text: [str(d.target), *d.alternatives] for d in documents if _WORD.fullmatch(d.text)}
    return dict(sorted(said.items())[:limit])
