"""Byte-level byte-pair encoding: frequent words are one token, rare ones a few, and nothing is unknown.

Source: Sennrich, Haddow & Birch (2016), section 3.2 and algorithm 1; over bytes, after splitting the text into words
with GPT-2's pattern, as Radford et al. (2019), section 2.2.

    repeat:  ab = argmax count(x y)            over neighbours x y inside words
             write every "a b" as one symbol

Counting all pairs afresh after every merge takes merges × text steps. Instead each *distinct* word is kept once, with
its count; counts are corrected beside a merge; and a heap knows the most frequent pair, if an entry whose count has
gone stale is put back with its true count when met.

Symbols: a symbol is one character, chr(its id), so a word is a str, a pair is a str of two characters, to find
a pair is `word.find(pair)`, to merge "xy" to z is `word.replace("xy", "z")`, and pairs sort by their ids.
`pair_counts["xy"]` is count(x y); `where["xy"]` lists the words in which the pair came to occur.

Departs from the papers: ties, which they leave open, are broken as the Hugging Face trainer breaks them, the pair of
smaller ids first: the 256 bytes in the order of GPT-2's printable alphabet, then each new symbol.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from heapq import heapify, heappop, heappush
from operator import add
from typing import Any, NamedTuple, final

import regex

from nlmcore.checks import Count, checked
from nlmcore.tokens.tokenizer import TrainedTokenizer, check_texts, encode_around

# GPT-2's split: English clitics; letters, digits or other signs, each with one space before them; white space.
SPLIT = regex.compile(r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+")

_PRINTABLE = (*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1))
# All bytes in the order of GPT-2's alphabet: those that Latin-1 can print, then the others.
BYTE_ORDER = bytes((*_PRINTABLE, *(b for b in range(256) if b not in _PRINTABLE)))
_RANK = bytes(BYTE_ORDER.index(b) for b in range(256))
_CACHE_SIZE = 1 << 16


class Merge(NamedTuple):
    """One step of the algorithm: the pair, and how often it occurred when it was merged."""

    left: bytes
    right: bytes
    frequency: int


def to_bytes(text: str) -> bytes:
    """UTF-8. A lone surrogate, which strict UTF-8 refuses, becomes its three bytes: every str is covered."""
    return text.encode("utf-8", "surrogatepass")


def count_words(texts: Iterable[str]) -> Counter[bytes]:
    """How often each word (piece of GPT-2's split) occurs, as bytes."""
    words: Counter[str] = Counter()
    for text in texts:
        words.update(SPLIT.findall(text))
    return Counter({to_bytes(word): count for word, count in words.items()})


def learn_merges(word_counts: Mapping[bytes, int]) -> Iterator[Merge]:
    """Yield merges, best first, until no pair is left; each is worked out when it is asked for."""
    symbols = [bytes([b]) for b in BYTE_ORDER]  # id -> its bytes
    words = [word.translate(_RANK).decode("latin-1") for word in word_counts]
    counts = list(word_counts.values())

    pair_counts: defaultdict[str, int] = defaultdict(int)
    where: defaultdict[str, list[int]] = defaultdict(list)
    for i, word in enumerate(words):
        for pair in map(add, word, word[1:]):
            pair_counts[pair] += counts[i]
            where[pair].append(i)

    queue = [(-pair_counts[pair], pair, places) for pair, places in where.items()]  # every pair once
    heapify(queue)
    while queue:
        negative_count, pair, places = heappop(queue)
        if -negative_count != pair_counts[pair]:  # stale: merges beside it have taken some away
            heappush(queue, (-pair_counts[pair], pair, places))
            continue
        if negative_count == 0:
            return
        left, right = symbols[ord(pair[0])], symbols[ord(pair[1])]
        yield Merge(left, right, -negative_count)

        new = chr(len(symbols))
        symbols.append(left + right)
        where = defaultdict(list)
        for i in places:
            if pair in words[i]:
                words[i] = _merge_in_word(words[i], i, pair, new, counts[i], pair_counts, where)
        for formed, its_places in where.items():
            if pair_counts[formed]:
                heappush(queue, (-pair_counts[formed], formed, its_places))


def _merge_in_word(
    word: str, i: int, pair: str, new: str, count: int, pair_counts: dict[str, int], where: dict[str, list[int]]
) -> str:
    """Write every `pair` in word i as `new`, from the left, and correct the counts of the pairs beside it."""
    a, b = pair[0], pair[1]
    pieces = word.split(pair)
    last = len(pieces) - 2
    for n in range(last + 1):  # the n-th "a b" stands between pieces n and n + 1
        before = pieces[n][-1:] or (new if n > 0 else "")
        after = pieces[n + 1][:1] or (a if n < last else "")
        if before:
            pair_counts[before + a] -= count
            pair_counts[before + new] += count
            where[before + new].append(i)
        if after:
            pair_counts[b + after] -= count
            pair_counts[new + after] += count
            where[new + after].append(i)
    return new.join(pieces)


@final
class BPETokenizer(TrainedTokenizer):
    """Ids: `<pad>`, `<bos>`, `<eos>`, the 256 bytes, then one for every merge. There is no `<unk>`.

    Covers every str: `decode(encode(x)) == x`, lone surrogates included (written as their three bytes). Ids
    that a model makes up may not be valid UTF-8; such bytes are decoded as U+FFFD, the replacement character.
    """

    special = ("<pad>", "<bos>", "<eos>")

    def __init__(self, merges: Iterable[tuple[bytes, bytes]]):
        self.merges: list[tuple[bytes, bytes]] = []  # the merges, first learnt first: what this tokenizer is
        self.vocabulary = [name.encode() for name in self.special] + [bytes([b]) for b in BYTE_ORDER]
        first_byte = len(self.special)
        ids = {token: i for i, token in enumerate(self.vocabulary) if i >= first_byte}
        self._byte_symbols = {b: chr(ids[bytes([b])]) for b in range(256)}
        self._symbol_of: dict[str, str] = {}  # "xy" -> z
        self._pair_of: dict[str, str] = {}  # z -> "xy"
        for left, right in merges:
            if left not in ids or right not in ids or left + right in ids:
                raise ValueError(
                    f"merges must join two tokens that exist into one that does not, got {left!r} + {right!r}"
                    f" as number {len(self.merges)}"
                )
            pair, new = chr(ids[left]) + chr(ids[right]), chr(len(self.vocabulary))
            self._symbol_of[pair], self._pair_of[new] = new, pair
            ids[left + right] = len(self.vocabulary)
            self.vocabulary.append(left + right)
            self.merges.append((left, right))
        self._cache: dict[str, list[int]] = {}

    @classmethod
    @checked
    def train(cls, texts: str | Iterable[str], vocab_size: int) -> "BPETokenizer":
        """Learn merges until there are `vocab_size` ids, or no pair is left to merge."""
        smallest = len(cls.special) + 256
        if not smallest <= vocab_size <= 0x110000:
            raise ValueError(f"vocab_size must be in [{smallest}, {0x110000}], got {vocab_size}")
        learner = learn_merges(count_words(check_texts(texts)))
        return cls((left, right) for _, (left, right, _) in zip(range(vocab_size - smallest), learner, strict=False))

    def trace(self, word: str) -> list[list[bytes]]:
        """How one word is encoded: its bytes, then its pieces after each merge that applies."""
        if not isinstance(word, str) or len(SPLIT.findall(word)) != 1:
            raise ValueError(f"word must be a single word (it may begin with one space), got {word!r:.60}")
        return [[self.vocabulary[ord(s)] for s in symbols] for symbols in self._merge_steps(word)]

    def _merge_steps(self, word: str) -> Iterator[str]:
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
        *_, symbols = self._merge_steps(word)
        ids = [ord(symbol) for symbol in symbols]
        if len(self._cache) >= _CACHE_SIZE:
            self._cache.clear()
        self._cache[word] = ids
        return ids

    def _encode(self, text: str, allow_special: bool) -> list[int]:
        if allow_special:
            return encode_around(self.special_ids, text, self.encode)
        ids: list[int] = []
        known = self._cache.get
        for word in SPLIT.findall(text):
            ids += known(word) or self._encode_word(word)
        return ids

    def _decode(self, ids: list[int]) -> str:
        data = b"".join([self.vocabulary[i] for i in ids])
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


@checked
def trace_training(texts: str | Iterable[str], steps: Count) -> Iterator[TrainingStep]:
    """Train one merge at a time, for the lecture. Ask for it on a few lines of text, not on a library."""
    word_counts = count_words(check_texts(texts))
    symbols = [bytes([b]) for b in range(256)]
    words = {word: word.decode("latin-1") for word in word_counts}
    for _, (left, right, frequency) in zip(range(steps), learn_merges(word_counts), strict=False):
        pair, new = chr(symbols.index(left)) + chr(symbols.index(right)), chr(len(symbols))
        symbols.append(left + right)
        words = {word: shown.replace(pair, new) for word, shown in words.items()}
        pieces = {word: [symbols[ord(symbol)] for symbol in shown] for word, shown in words.items()}
        yield TrainingStep((left, right), frequency, pieces)
