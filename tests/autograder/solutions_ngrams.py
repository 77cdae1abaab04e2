"""The assignment on n-grams solved a second time, with dictionaries and loops, by the equations."""

import math
from collections import Counter, defaultdict

import numpy as np


def count_bigrams(sentences, vocab_size, bos, eos):
    seen = Counter()
    for sentence in sentences:
        before = bos
        for word in sentence:
            seen[before, word] += 1
            before = word
        seen[before, eos] += 1
    return [[seen[a, b] for b in range(vocab_size)] for a in range(vocab_size)]


def conditional_probabilities(counts):
    V = len(counts)
    rows = []
    for row in counts.tolist():
        rows.append([c / sum(row) for c in row] if sum(row) else [1 / V] * V)
    return rows


def additive(counts, k):
    made = np.empty(tuple(counts.shape))
    for a, row in enumerate(counts.numpy()):
        for w, c in enumerate(row):
            made[a, w] = (c + k) / sum(x + k for x in row)
    return made


def interpolated(words, context, weights, vocab_size):
    followers = defaultdict(list)
    text = [int(w) for w in words]
    for i, word in enumerate(text):
        followers[()].append(word)
        if i >= 1:
            followers[text[i - 1],].append(word)
        if i >= 2:
            followers[text[i - 2], text[i - 1]].append(word)
    a, b = context
    known = [(weight, followers[h]) for weight, h in zip(weights, ((), (b,), (a, b)), strict=True) if followers[h]]
    whole = sum(weight for weight, _ in known)
    return np.array(
        [sum(weight * after.count(w) / len(after) for weight, after in known) / whole for w in range(vocab_size)]
    )


def kneser_ney(counts, discount):
    V = len(counts)
    pairs = [(a, w) for a in range(V) for w in range(V) if counts[a, w] > 0]
    continuation = [sum(w == v for _, w in pairs) / len(pairs) for v in range(V)]
    table = np.zeros((V, V))
    for a in range(V):
        n, t = int(counts[a].sum()), sum(x == a for x, _ in pairs)
        for w in range(V):
            if n == 0:
                table[a, w] = continuation[w]
            else:
                table[a, w] = max(int(counts[a, w]) - discount, 0) / n + discount * t / n * continuation[w]
    return continuation, table


def perplexity(probabilities, sentences, bos, eos):
    product_of_inverses, predicted = 0.0, 0
    for sentence in sentences:
        path = [bos, *sentence, eos]
        for i in range(1, len(path)):
            product_of_inverses += math.log(1 / probabilities[path[i - 1], path[i]].item())
            predicted += 1
    return product_of_inverses, math.e ** (product_of_inverses / predicted)


SOLUTIONS = {
    f"ngrams.{function.__name__}": function
    for function in (count_bigrams, conditional_probabilities, additive, interpolated, kneser_ney, perplexity)
}
