"""The assignment on word vectors solved a second time, number by number."""

import math

import numpy as np


def window_pairs(words, m):
    return [[a, b] for i, a in enumerate(words) for j, b in enumerate(words) if 0 < abs(i - j) <= m]


def noise(counts, power):
    raised = [math.exp(power * math.log(c)) if c else 0.0 for c in counts.tolist()]
    return [x / math.fsum(raised) for x in raised]


def keep_probability(counts, threshold):
    total = int(counts.sum())
    return [1.0 if c / total <= threshold else (threshold * total / c) ** 0.5 for c in counts.tolist()]


def _dot(a, b):
    return math.fsum(float(x) * float(y) for x, y in zip(a, b, strict=True))


def _softplus(x):
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))


def _sigmoid(x):
    return 1 / (1 + math.exp(-x))


def pair_loss(centre, context, noise):
    return _softplus(-_dot(centre, context)) + sum(_softplus(_dot(centre, n)) for n in noise)


def pair_gradients(centre, context, noise):
    c, o, ns = (t.numpy().astype(float) for t in (centre, context, noise))
    d_centre = -_sigmoid(-_dot(c, o)) * o
    d_noise = []
    for n in ns:
        belief = _sigmoid(_dot(c, n))
        d_centre = d_centre + belief * n
        d_noise.append(belief * c)
    return d_centre, -_sigmoid(-_dot(c, o)) * c, np.array(d_noise)


def _cosine(a, b):
    return _dot(a, b) / math.sqrt(_dot(a, a) * _dot(b, b))


def nearest(vectors, word, k):
    others = [w for w in range(len(vectors)) if w != word]
    return sorted(others, key=lambda w: -_cosine(vectors[w], vectors[word]))[:k]


def analogy(vectors, a, a_star, b):
    wanted = [float(s) - float(f) + float(t) for f, s, t in zip(vectors[a], vectors[a_star], vectors[b], strict=True)]
    return max((w for w in range(len(vectors)) if w not in (a, a_star, b)), key=lambda w: _cosine(vectors[w], wanted))


SOLUTIONS = {
    f"vectors.{function.__name__}": function
    for function in (window_pairs, noise, keep_probability, pair_loss, pair_gradients, nearest, analogy)
}
