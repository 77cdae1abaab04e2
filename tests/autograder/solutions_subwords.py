"""The assignment on byte-pair encoding solved a second time: text, dictionaries and recursion, no tables."""

import itertools
from collections import Counter

import numpy as np


def count_pairs(words, counts, size):
    found = Counter()
    for word, count in zip(words, counts, strict=True):
        for i in range(1, len(word)):
            found[word[i - 1], word[i]] += count
    table = np.zeros((size, size), dtype=int)
    for (a, b), count in found.items():
        table[a, b] = count
    return table


def best_pair(table):
    entries = [(-int(count), a, b) for a, row in enumerate(table) for b, count in enumerate(row)]
    return list(min(entries)[1:])


def merge(word, pair, new):
    if len(word) < 2:
        return list(word)
    if word[0] == pair[0] and word[1] == pair[1]:
        return [new, *merge(word[2:], pair, new)]
    return [word[0], *merge(word[1:], pair, new)]


def learn_merges(words, counts, symbols, merges):
    pieces = {tuple(word): count for word, count in zip(words, counts, strict=True)}
    learned = []
    while len(learned) < merges:
        found = Counter()
        for word, count in pieces.items():
            for pair in itertools.pairwise(word):
                found[pair] += count
        if not found:
            return learned
        pair = min(found, key=lambda p: (-found[p], p))
        new = symbols + len(learned)
        learned.append(list(pair))
        pieces = {tuple(merge(list(word), pair, new)): count for word, count in pieces.items()}
    return learned


def encode(word, merges, symbols):
    rank = {tuple(pair): i for i, pair in enumerate(merges)}
    word = list(word)
    while True:
        known = [rank[pair] for pair in itertools.pairwise(word) if pair in rank]
        if not known:
            return word
        word = merge(word, merges[min(known)], symbols + min(known))


def decode(tokens, merges, symbols):
    stack, out = list(reversed(tokens)), []
    while stack:
        token = stack.pop()
        if token < symbols:
            out.append(token)
        else:
            left, right = merges[token - symbols]
            stack += [right, left]
    return out


SOLUTIONS = {
    f"subwords.{function.__name__}": function
    for function in (count_pairs, best_pair, merge, learn_merges, encode, decode)
}
