"""What the questions on byte-pair encoding share: words in which pairs repeat, and right steps for mistakes to use."""

from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor

from autograder.exercise.draw import Draw

REFERENCE_ITSELF = ("nlmcore.tokens", "tokenizers")
"""Closed everywhere: it is what the student writes."""

Word = list[int]
Merges = Sequence[Sequence[int]]


def words(draw: Draw, number: int, symbols: int, longest: int) -> list[Word]:
    """Different words over `symbols` symbols, made of a few syllables, so that pairs repeat."""
    syllables = [draw.integers(0, symbols - 1, 2).tolist() for _ in range(symbols)]
    made: list[Word] = []
    while len(made) < number:
        word = [
            s for _ in range(draw.integer(1, max(1, longest // 2))) for s in syllables[draw.integer(0, symbols - 1)]
        ]
        word += draw.integers(0, symbols - 1, draw.integer(0, 1)).tolist()
        if word not in made:
            made.append(word)
    return made


def how_often(draw: Draw, number: int) -> list[int]:
    return draw.integers(1, 9, number).tolist()


def pair_table(words: Sequence[Word], counts: Sequence[int], size: int) -> Tensor:
    table = torch.zeros(size, size, dtype=torch.int64)
    for word, count in zip(words, counts, strict=True):
        for a, b in pairwise(word):
            table[a, b] += count
    return table


def best(table: Tensor) -> list[int]:
    """The most frequent pair; of equals, the one with the smaller ids."""
    place = int((table == table.max()).reshape(-1).int().argmax())
    return [place // table.shape[1], place % table.shape[1]]


def merged(word: Sequence[int], pair: Sequence[int], new: int) -> Word:
    """Every occurrence of the pair as one symbol, from left to right."""
    out: Word = []
    i = 0
    while i < len(word):
        if list(word[i : i + 2]) == list(pair):
            out.append(new)
            i += 2
        else:
            out.append(word[i])
            i += 1
    return out


def learn(words: Sequence[Word], counts: Sequence[int], symbols: int, merges: int) -> list[list[int]]:
    """The pairs in the order in which they are merged; fewer than asked if no pair is left."""
    words, found = [list(word) for word in words], []
    for new in range(symbols, symbols + merges):
        table = pair_table(words, counts, new)
        if int(table.max()) == 0:
            break
        pair = best(table)
        found.append(pair)
        words = [merged(word, pair, new) for word in words]
    return found


def trained(draw: Draw) -> tuple[list[Word], Merges, int]:
    """Words, the merges learned from them, and how many symbols there were before."""
    symbols = draw.largest
    made = words(draw, 8, symbols, 8)
    return made, learn(made, how_often(draw, 8), symbols, 7), symbols


def encode(word: Sequence[int], merges: Merges, symbols: int) -> Word:
    """The merges one after the other, in the order in which they were learned."""
    for number, pair in enumerate(merges):
        word = merged(word, pair, symbols + number)
    return list(word)


def expand(token: int, merges: Merges, symbols: int) -> Word:
    if token < symbols:
        return [token]
    left, right = merges[token - symbols]
    return [*expand(left, merges, symbols), *expand(right, merges, symbols)]
