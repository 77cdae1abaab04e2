"""Shakespeare for language models: the plays, their speeches as prose prints them, and streams of batches.

    HAMLET.
    The time is out of joint:--O cursed spite,        The time is out of joint:--O cursed spite, that ever I was …
    That ever I was born to set it right!--

Every line of verse begins with a capital letter, whatever word it begins with. `speeches` makes it small again unless a
sentence begins there, or the word is capitalised in the middle of lines more often than not.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import torch
from nlmcore.corpora import load
from torch import Tensor


@dataclass(frozen=True)
class Plays:
    """Texts to train on, to watch, and to test on."""

    train: list[str]
    dev: list[str]
    test: list[str]
    split: str
    source: str
    """Where the texts come from, and their licence."""


def plays(limit: int | None = None) -> Plays:
    """The corpus; or two works of each part and their first `limit` characters (for smoke runs)."""
    corpus = load("shakespeare")
    works = None if limit is None else 2
    parts = {part: [text[:limit] for text in corpus.texts(part)[:works]] for part in ("train", "valid", "test")}
    return Plays(parts["train"], parts["valid"], parts["test"], corpus.split_rule, f"{corpus.source}; {corpus.licence}")


def passages(texts: Sequence[str], encode: Callable[[str], list[int]], count: int, n: int) -> Tensor:
    """(count, n): so many passages of n tokens, play by play in turn, every 20,000 characters of a play."""
    starts = [(texts[i % len(texts)], 20_000 * (1 + i // len(texts))) for i in range(count)]
    return torch.tensor([encode(text[start : start + 8 * n])[:n] for text, start in starts])


_SPEAKER = re.compile(r"(?:[A-Z][\w ,'&-]{1,30}\.|[A-Z][A-Z ,'&-]{2,30}\.?)(?: ?\[[^\]]*\])?\n")
_DIRECTION = re.compile(r"\[[^\]]*\]|\([^)]*\)|_")
_ENDS = re.compile(r"[.?!][\"'-]*$")


def speakers(play: str) -> set[str]:
    """As the play prints them before their speeches."""
    found = filter(None, map(_SPEAKER.match, play.split("\n\n")))
    return {match.group().partition("[")[0] for match in found}


def spoken_lines(play: str) -> list[list[str]]:
    """Every speech of a play as its lines."""
    found = []
    for paragraph in play.split("\n\n"):
        if (speaker := _SPEAKER.match(paragraph)) is not None:
            lines = [" ".join(line.split()) for line in _DIRECTION.sub(" ", paragraph[speaker.end() :]).split("\n")]
            found.append([line for line in lines if line])
    return [lines for lines in found if lines]


class Capitals:
    """Which words begin with a capital letter in the middle of a line, more often than not."""

    def __init__(self, plays: Iterable[str]) -> None:
        self._counts: Counter[str] = Counter()
        for play in plays:
            for lines in spoken_lines(play):
                for line in lines:
                    words = line.split()
                    for before, word in pairwise(words):
                        if not _ENDS.search(before) and (core := letters(word)):
                            self._counts[core.lower()] += 1 if core[0].isupper() else -1

    def own(self, word: str) -> bool:
        """Whether the word's capital is its own, and not the line's."""
        return self._counts[letters(word).lower()] > 0

    def small(self, word: str) -> bool:
        """Whether it begins with a small letter more often than not."""
        return self._counts[letters(word).lower()] < 0


def letters(word: str) -> str:
    """The word without the marks around it."""
    return re.sub(r"^[^A-Za-z]+|[^A-Za-z]+$", "", word)


def speeches(play: str, capitals: Capitals) -> list[str]:
    """Every speech in one line, as prose would print it."""
    found = []
    for lines in spoken_lines(play):
        joined = lines[0]
        for line in lines[1:]:
            first, _, rest = line.partition(" ")
            begins = _ENDS.search(joined) is not None
            word = first if begins or capitals.own(first) else first.lower()
            joined += f" {word} {rest}" if rest else f" {word}"
        found.append(joined)
    return found


BOS, EOS = 1, 2


def as_document(ids: list[int]) -> list[int]:
    """<bos> w_1 … w_T <eos>: every document is read from its beginning, and its end is predicted."""
    return [BOS, *ids, EOS]


def spread(text: Tensor, length: int, count: int) -> Tensor:
    """`count` windows at equal distances, always the same; all of them if there are fewer."""
    every = text.unfold(0, length, 1)
    return every[torch.linspace(0, len(every) - 1, min(count, len(every))).long()]


class Stream:
    """All documents in one row, cut into `batch` rows that are read on side by side, `time` predictions at a time.

    Called with an epoch it gives (tokens, targets). Each pass over the text begins at another place of it, so that the
    cuts, across which no gradient flows, move.

    stretch: so many batches are an epoch (None: the whole pass), and `fit` begins every epoch with no state. A
    recurrent network that always goes on from its state never learns to begin: it comes to rely on values that its
    memory took long ago, and fails on a new text.
    """

    def __init__(self, documents: Sequence[list[int]], batch: int, time: int, stretch: int | None = None) -> None:
        self.text = torch.tensor([token for document in documents for token in document])
        self.batch, self.time, self.stretch = batch, time, stretch
        rows = len(self.text) // batch
        self.batches = len(range(0, rows - time, time))
        """Batches of a pass."""

    def __call__(self, epoch: int) -> Iterator[tuple[Tensor, Tensor]]:
        stretch = self.stretch or self.batches
        passes, part = divmod(epoch, -(-self.batches // stretch))
        rows = len(self.text) // self.batch
        text = self.text.roll(-passes * self.time // 2)[: rows * self.batch].view(self.batch, rows)
        for i in range(part * stretch, min((part + 1) * stretch, self.batches)):
            start = i * self.time
            yield text[:, start : start + self.time], text[:, start + 1 : start + self.time + 1]


def in_rows(documents: Sequence[list[int]]) -> Tensor:
    """Documents as rows (document, time), padded with 0 behind: for `nlmcore.metrics.perplexity(…, ignore=0)`."""
    rows = [torch.tensor(document) for document in documents]
    return torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)
