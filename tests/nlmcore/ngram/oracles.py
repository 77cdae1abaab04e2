"""Every smoothing written as a reader would: dictionaries, recursion, one word at a time; no code of ours.

The first five follow nltk.lm to the letter (`unmasked_score`, `alpha_gamma` and `unigram_score` of its models), so
that agreement here is agreement with nltk wherever nltk's own probabilities sum to 1. The rest follow the papers.
A text is a list of sequences (tuples of ids); `count(text, ngram)` is how often the n-gram occurs in it.
"""

from collections import Counter
from functools import cache


class Text:
    """Counts of all n-grams, and what the rules ask about them."""

    def __init__(self, sequences: list[list[int]], order: int, vocab_size: int) -> None:
        self.order, self.V = order, vocab_size
        self.c: Counter[tuple[int, ...]] = Counter()
        for sequence in sequences:
            for n in range(1, order + 1):
                for i in range(len(sequence) - n + 1):
                    self.c[tuple(sequence[i : i + n])] += 1

    def after(self, h: tuple[int, ...]) -> dict[int, int]:
        """The words seen after h, with their counts."""
        return {g[-1]: n for g, n in self.c.items() if g[:-1] == h}

    def before(self, g: tuple[int, ...]) -> int:
        """How many different words stand before g."""
        return sum(1 for longer in self.c if len(longer) == len(g) + 1 and longer[1:] == g)


def mle(text: Text, w: int, h: tuple[int, ...]) -> float:
    after = text.after(h)
    return after.get(w, 0) / sum(after.values()) if after else 1 / text.V


def lidstone(text: Text, w: int, h: tuple[int, ...], gamma: float) -> float:
    after = text.after(h)
    return (after.get(w, 0) + gamma) / (sum(after.values()) + gamma * text.V)


def interpolated(text: Text, w: int, h: tuple[int, ...], base: str, alpha_gamma, unigram=None) -> float:
    """nltk's InterpolatedLanguageModel.unmasked_score; base "uniform" treats unigrams as any other order."""
    if not h and base == "unigram":
        return (unigram or mle)(text, w, ())
    lower = interpolated(text, w, h[1:], base, alpha_gamma, unigram) if h else 1 / text.V
    if not text.after(h):
        return lower
    alpha, gamma = alpha_gamma(text, w, h)
    return alpha + gamma * lower


def witten_bell(text: Text, w: int, h: tuple[int, ...], base: str) -> float:
    def alpha_gamma(text: Text, w: int, h: tuple[int, ...]) -> tuple[float, float]:
        after = text.after(h)
        gamma = len(after) / (len(after) + sum(after.values()))
        return (1 - gamma) * after.get(w, 0) / sum(after.values()), gamma

    return interpolated(text, w, h, base, alpha_gamma)


def absolute_discounting(text: Text, w: int, h: tuple[int, ...], base: str, D: float) -> float:
    def alpha_gamma(text: Text, w: int, h: tuple[int, ...]) -> tuple[float, float]:
        after = text.after(h)
        N = sum(after.values())
        return max(after.get(w, 0) - D, 0) / N, D * len(after) / N

    return interpolated(text, w, h, base, alpha_gamma)


def kneser_ney(text: Text, w: int, h: tuple[int, ...], base: str, D: float) -> float:
    """nltk's, where every context of a lower order has a word before it (else nltk divides by zero)."""

    def alpha_gamma(text: Text, w: int, h: tuple[int, ...]) -> tuple[float, float]:
        after = text.after(h)
        if len(h) + 1 < text.order:
            continuations = {v: text.before((*h, v)) for v in range(text.V)}
            after = {v: n for v, n in continuations.items() if n} or after
        N = sum(after.values())
        return max(after.get(w, 0) - D, 0) / N, D * len(after) / N

    def unigram(text: Text, w: int, h: tuple[int, ...]) -> float:
        total = sum(text.before((v,)) for v in range(text.V))
        return text.before((w,)) / total if total else mle(text, w, ())

    return interpolated(text, w, h, base, alpha_gamma, unigram)


def stupid_backoff(text: Text, w: int, h: tuple[int, ...], base: str, factor: float) -> float:
    """nltk's StupidBackoff, then normalised by brute force."""

    @cache
    def score(w: int, h: tuple[int, ...]) -> float:
        after = text.after(h)
        if w in after:
            return after[w] / sum(after.values())
        if h:
            return factor * score(w, h[1:])
        return 0.0 if base == "unigram" else factor / text.V

    return score(w, h) / sum(score(v, h) for v in range(text.V))


def interpolation(text: Text, w: int, h: tuple[int, ...], weights: list[float]) -> float:
    """weights[0] is the uniform distribution's; the weights of unseen contexts are shared out."""
    parts = [(weights[0], 1 / text.V)]
    for n in range(len(h) + 1):
        context = h[len(h) - n :]
        if text.after(context):
            parts.append((weights[n + 1], mle(text, w, context)))
    total = sum(weight for weight, _ in parts)
    return sum(weight * p for weight, p in parts) / total if total else 1 / text.V


def katz(text: Text, w: int, h: tuple[int, ...], base: str, discount) -> float:
    """Katz 1987 with a discount d(count, n-gram length); what is left is shared over unseen words by brute force."""
    after = text.after(h)
    N = sum(after.values())
    if not h and base == "unigram":
        return mle(text, w, ())

    def lower(v: int) -> float:
        return katz(text, v, h[1:], base, discount) if h else 1 / text.V

    if not after:
        return lower(w)
    unseen = [v for v in range(text.V) if v not in after and lower(v) > 0]
    if not unseen:
        return mle(text, w, h)
    kept = {v: c * discount(c, len(h) + 1) for v, c in after.items()}
    if sum(kept.values()) >= N:
        N += 1
    if w in after:
        return kept[w] / N
    return (1 - sum(kept.values()) / N) * lower(w) / sum(lower(v) for v in unseen)
