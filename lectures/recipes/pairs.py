"""Pairs to translate: batches in an order that can be replayed, greedy translation, and two sources of pairs.

The CMU Pronouncing Dictionary, in the corpus's own split, and numbers in English and German words:

    4723     four thousand seven hundred and twenty three     →     vier tausend sieben hundert drei und zwanzig

German writes a whole number as one word up to a million, and says units before tens: "drei und zwanzig". Here it is cut
into its parts, so that a decoder chooses among some forty words, and the alignment crosses where the languages do.
The words are num2words'; the length of a number is counted in English words.
"""

import random
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import torch
from nlmcore.corpora import Document, load, pad
from nlmcore.corpora.generated import NUM2WORDS
from nlmcore.corpora.packaged import imported
from nlmcore.decoding import greedy
from nlmcore.tokens import CharTokenizer, WordTokenizer
from torch import Tensor

BOS, EOS = 1, 2

Ids = list[int]


def as_source(ids: Ids) -> Ids:
    """x_1 … x_n <eos>: a source is never empty, and its end can be seen."""
    return [*ids, EOS]


def as_target(ids: Ids) -> Ids:
    """<bos> y_1 … y_m <eos>."""
    return [BOS, *ids, EOS]


@dataclass(frozen=True)
class PairBatches:
    """Called with an epoch, gives that epoch's batches: pairs of like length together, in another order each time."""

    pairs: Sequence[tuple[Ids, Ids]]
    """(source, target) as ids, without <bos> and <eos>."""
    batch: int
    seed: int

    def __call__(self, epoch: int) -> Iterator[dict[str, Tensor]]:
        chance = random.Random(f"{self.seed}/{epoch}")
        order = list(range(len(self.pairs)))
        chance.shuffle(order)
        chunk = 50 * self.batch
        batches: list[list[int]] = []
        for start in range(0, len(order), chunk):
            near = sorted(order[start : start + chunk], key=self._lengths)
            batches += [near[i : i + self.batch] for i in range(0, len(near), self.batch)]
        chance.shuffle(batches)
        return (self._collate(batch) for batch in batches)

    def _lengths(self, index: int) -> tuple[int, int]:
        source, target = self.pairs[index]
        return len(source), len(target)

    def _collate(self, batch: list[int]) -> dict[str, Tensor]:
        source, source_mask = pad([as_source(self.pairs[i][0]) for i in batch])
        tokens, mask = pad([as_target(self.pairs[i][1]) for i in batch])
        return {"source": source, "source_mask": source_mask, "tokens": tokens, "mask": mask}


@torch.no_grad()
def translate(model: Any, sources: Sequence[Ids], longest: Callable[[int], int], batch: int = 256) -> list[Ids]:
    """The greedy translation of every source, without <eos>; at most longest(length of the source) tokens."""
    order = sorted(range(len(sources)), key=lambda i: len(sources[i]))
    outputs: list[Ids] = [[] for _ in sources]
    for start in range(0, len(order), batch):
        here = order[start : start + batch]
        source, source_mask = pad([as_source(sources[i]) for i in here])
        limit = longest(max(len(sources[i]) for i in here))
        prompt = torch.full((len(here), 1), BOS)
        generation: Any = greedy(model, prompt, limit, eos=EOS, state=model.encode(source, source_mask))
        for i, row in zip(here, generation.tokens.tolist(), strict=True):
            outputs[i] = row[: row.index(EOS)] if EOS in row else row
    return outputs


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


# Longer words first: "vierzehn" must not be read as "vier".
PARTS = """
    dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn
    zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig
    Millionen Million Milliarden Milliarde Billionen Billion
    eins eine ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf hundert tausend und
"""
_PARTS = re.compile("|".join(PARTS.split()))

MAX_DIGITS = 15


@lru_cache(maxsize=1 << 20)
def english(number: int) -> str:
    """`four thousand seven hundred and twenty three`: num2words without commas and hyphens."""
    return _num2words(number, "en").replace(",", "").replace("-", " ")


def german(number: int) -> str:
    """`vier tausend sieben hundert drei und zwanzig`: num2words' German in its parts."""
    return split_german(_num2words(number, "de"))


def split_german(words: str) -> str:
    """Compounds cut into parts. ValueError if a letter would be lost."""
    parts = _PARTS.findall(words)
    if "".join(parts) != words.replace(" ", ""):
        raise ValueError(f"words must be a German number from 1 below 10 ** {MAX_DIGITS}, got {words!r}")
    return " ".join(parts)


def length(number: int) -> int:
    """English words."""
    return english(number).count(" ") + 1


def draw(chance: random.Random, shortest: int, longest: int) -> int:
    """A number of `shortest` to `longest` English words, of 1 to 15 digits, some of them with many zeros."""
    while True:
        zeros = chance.choice((0.0, 0.3, 0.6, 0.85))
        digits = [chance.randint(1, 9) if chance.random() >= zeros else 0 for _ in range(chance.randint(1, MAX_DIGITS))]
        number = int("".join(map(str, digits)))
        if number and shortest <= length(number) <= longest:
            return number


def draw_many(seed: int, count: int, shortest: int, longest: int, without: frozenset[int] = frozenset()) -> list[int]:
    """`count` different numbers, none of those in `without`."""
    chance = random.Random(seed)
    numbers: dict[int, None] = {}
    while len(numbers) < count:
        number = draw(chance, shortest, longest)
        if number not in without:
            numbers[number] = None
    return list(numbers)


def _num2words(number: int, language: str) -> str:
    return imported(NUM2WORDS, "num2words").num2words(number, lang=language)
