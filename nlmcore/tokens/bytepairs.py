"""Byte-level byte-pair encoding: frequent words are one token, rare ones a few, and nothing is unknown.

Source: Sennrich, Haddow & Birch (2016), section 3.2; over bytes as Radford et al. (2019, GPT-2), section 2.2.
To encode a word, start from its bytes and apply the merges in the order in which they were learnt.

Symbol map: as in `merges`, a symbol is the character chr(its id), so a word is a str, and applying the merge
of "xy" to new symbol z is `word.replace("xy", "z")`.

Departs from the papers: nothing. Ties in training are broken as Hugging Face's trainer breaks them (`merges`).
"""

from collections.abc import Iterable, Iterator, Sequence
from heapq import heapify, heappop, heappush
from operator import add
from typing import Any, NamedTuple, final

from nlmcore.checks import Count, door
from nlmcore.tokens.merges import BYTE_ORDER, SPLIT, count_words, learn_merges, to_bytes
from nlmcore.tokens.tokenizer import Tokenizer, check_texts, split_special

_CACHE_SIZE = 1 << 16


@final
class BPETokenizer(Tokenizer):
    """Ids: `<pad>`, `<bos>`, `<eos>`, the 256 bytes, then one for every merge. There is no `<unk>`.

    Covers every str: `decode(encode(x)) == x`, lone surrogates included (written as their three bytes). Ids
    that a model makes up may be no valid UTF-8; such bytes are decoded as U+FFFD, the replacement character.
    """

    special = ("<pad>", "<bos>", "<eos>")

    def __init__(self, merges: Iterable[tuple[bytes, bytes]]):
        self.merges: list[tuple[bytes, bytes]] = []
        """The merges, first learnt first: what this tokenizer is."""
        self._vocabulary = [name.encode() for name in self.special] + [bytes([b]) for b in BYTE_ORDER]
        first_byte = len(self.special)
        ids = {token: i for i, token in enumerate(self._vocabulary) if i >= first_byte}
        self._byte_symbols = {b: chr(ids[bytes([b])]) for b in range(256)}
        self._symbol_of: dict[str, str] = {}  # "xy" -> z
        self._pair_of: dict[str, str] = {}  # z -> "xy"
        for left, right in merges:
            if left not in ids or right not in ids or left + right in ids:
                raise ValueError(
                    f"merges must join two tokens that exist into one that does not, got {left!r} + {right!r}"
                    f" as number {len(self.merges)}"
                )
            pair, new = chr(ids[left]) + chr(ids[right]), chr(len(self._vocabulary))
            self._symbol_of[pair], self._pair_of[new] = new, pair
            ids[left + right] = len(self._vocabulary)
            self._vocabulary.append(left + right)
            self.merges.append((left, right))
        self._cache: dict[str, list[int]] = {}

    @classmethod
    @door
    def train(cls, texts: str | Iterable[str], vocab_size: int) -> "BPETokenizer":
        """Learn merges until there are `vocab_size` ids, or no pair is left to merge."""
        smallest = len(cls.special) + 256
        if not smallest <= vocab_size <= 0x110000:
            raise ValueError(f"vocab_size must be in [{smallest}, {0x110000}], got {vocab_size}")
        learner = learn_merges(count_words(check_texts(texts)))
        return cls((left, right) for _, (left, right, _) in zip(range(vocab_size - smallest), learner, strict=False))

    @property
    def vocabulary(self) -> Sequence[bytes]:
        return self._vocabulary

    def trace(self, word: str) -> list[list[bytes]]:
        """How one word is encoded: its bytes, then its pieces after each merge that applies; for the lecture."""
        if not isinstance(word, str) or len(SPLIT.findall(word)) != 1:
            raise ValueError(f"word must be a single word (it may begin with one space), got {word!r:.60}")
        return [[self._vocabulary[ord(s)] for s in symbols] for symbols in self._merge_steps(word)]

    def _merge_steps(self, word: str) -> Iterator[str]:
        """The word as symbols: its bytes, then after each merge that applies, in the order they were learnt."""
        symbols = "".join([self._byte_symbols[b] for b in to_bytes(word)])
        yield symbols
        symbol_of = self._symbol_of
        queue = [symbol_of[pair] for pair in set(map(add, symbols, symbols[1:])) if pair in symbol_of]
        heapify(queue)  # symbols sort by id, which is the order of learning
        while queue:
            new = heappop(queue)
            pieces = symbols.split(self._pair_of[new])
            if len(pieces) == 1:  # an earlier merge took it
                continue
            symbols = new.join(pieces)
            beside = {(piece[-1:] or new) + new for piece in pieces[:-1]} | {new + piece[:1] for piece in pieces[1:]}
            for pair in beside:
                if pair in symbol_of:
                    heappush(queue, symbol_of[pair])
            yield symbols

    def _encode_word(self, word: str) -> list[int]:
        symbols = ""
        for symbols in self._merge_steps(word):  # noqa: B007  the last one counts
            pass
        ids = [ord(symbol) for symbol in symbols]
        if len(self._cache) >= _CACHE_SIZE:
            self._cache.clear()
        self._cache[word] = ids
        return ids

    def _encode(self, text: str, allow_special: bool) -> list[int]:
        ids: list[int] = []
        if allow_special:
            for n, part in enumerate(split_special(text, self.special)):
                ids += [self.special.index(part)] if n % 2 else self._encode(part, False)
            return ids
        known = self._cache.get
        for word in SPLIT.findall(text):
            ids += known(word) or self._encode_word(word)
        return ids

    def _decode(self, ids: list[int]) -> str:
        data = b"".join([self._vocabulary[i] for i in ids])
        try:
            return data.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError:
            return data.decode("utf-8", "replace")

    def _fields(self) -> dict[str, Any]:
        return {"merges": [[left.decode("latin-1"), right.decode("latin-1")] for left, right in self.merges]}

    @classmethod
    def _from_fields(cls, fields: dict[str, Any]) -> "BPETokenizer":
        return cls((left.encode("latin-1"), right.encode("latin-1")) for left, right in fields["merges"])


class TrainingStep(NamedTuple):
    """One merge of a training run, and what it made of every distinct word."""

    pair: tuple[bytes, bytes]
    frequency: int
    words: dict[bytes, list[bytes]]


@door
def trace_training(texts: str | Iterable[str], steps: Count) -> Iterator[TrainingStep]:
    """Train one merge at a time, for the lecture. Ask for it on a few lines of text, not on a library."""
    word_counts = count_words(check_texts(texts))
    words = {word: [bytes([b]) for b in word] for word in word_counts}
    for _, (left, right, frequency) in zip(range(steps), learn_merges(word_counts), strict=False):
        words = {word: _join(pieces, left, right) for word, pieces in words.items()}
        yield TrainingStep((left, right), frequency, words)


def _join(pieces: list[bytes], left: bytes, right: bytes) -> list[bytes]:
    """Write every left, right as one piece, from the left."""
    joined: list[bytes] = []
    n = 0
    while n < len(pieces):
        here = pieces[n : n + 2] == [left, right]
        joined.append(left + right if here else pieces[n])
        n += 2 if here else 1
    return joined
