"""Learning byte-pair merges: join the most frequent pair of neighbours, again and again.

Source: Sennrich, Haddow & Birch (2016), section 3.2 and algorithm 1; over bytes, after splitting the text
into words with GPT-2's pattern, as Radford et al. (2019), section 2.2.

    repeat:  ab = argmax count(x y)            over neighbours x y inside words
             write every "a b" as one symbol

Counting all pairs afresh after every merge (the textbook's loop) takes merges × text steps. Three facts save
almost all of it: equal words change alike, so each *distinct* word is kept once, with its count; a merge
changes only the pairs beside the places where it happened, so counts are corrected there; and a heap knows
the most frequent pair, if an entry whose count has gone stale is put back with its true count when met.

Symbols: a symbol is one character, chr(its id), so a word is a str, a pair is a str of two characters, to find
a pair is `word.find(pair)`, and pairs sort by their ids. `pair_counts["xy"]` is count(x y); `where["xy"]` lists
the words that the pair came to stand in.

Departs from the paper: ties, which it leaves open, are broken as the Hugging Face trainer breaks them: the
pair of smaller ids first, where the 256 bytes come in the order of GPT-2's printable alphabet and each new
symbol gets the next id.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from heapq import heapify, heappop, heappush
from operator import add
from typing import NamedTuple

import regex

# GPT-2's split: English clitics; letters, digits or other signs, each with one space before them; white space.
SPLIT = regex.compile(r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+")

_PRINTABLE = (*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1))
BYTE_ORDER = bytes((*_PRINTABLE, *(b for b in range(256) if b not in _PRINTABLE)))
"""All bytes in the order of GPT-2's alphabet: those that Latin-1 can print, then the others."""
_RANK = bytes(BYTE_ORDER.index(b) for b in range(256))


class Merge(NamedTuple):
    """One step of the algorithm: the pair, and how often it stood in the text when it was merged."""

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
