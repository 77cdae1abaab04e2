"""Reading probabilities from a table of n-grams, like an ARPA file, for whole texts in one call.

    log P(w | h) = log probability(h, w)              where (h, w) was seen
                 = log backoff(h) + log P(w | h')     where it was not; backoff = 1 where h was not either

Unchained rules (mle, additive) replace the last term by log 1/V and use only the longest context.
"""

import numpy as np
from numpy import ndarray

from nlmcore.ngram.counts import Ngrams, walk
from nlmcore.ngram.smoothing import Smoothing

CHUNK = 1 << 18  # dense probabilities filled in at a time: they should stay in the cache


class BackoffTable:
    """n-grams of all orders with their probabilities and backoffs, as logarithms."""

    def __init__(self, levels: list[Ngrams], rule: Smoothing) -> None:
        self.levels, self.chained = levels, rule.chained
        estimates = rule.estimate(levels)
        self.log_uniform = -np.log(levels[0].vocab_size)
        with np.errstate(divide="ignore"):
            self.log_probability = [np.log(estimate.probability) for estimate in estimates]
            # one more at the end, for index -1: a context that was never seen passes everything on
            self.log_backoff = [np.append(np.log(estimate.backoff), 0.0) for estimate in estimates]
        # row 0: the unigram distribution, for the root; row -1: uniform, where the root has nothing to say
        self.lowest = np.full((2, levels[0].vocab_size), self.log_uniform)
        self.lowest[0] += self.log_backoff[0][0]
        self.lowest[0, levels[0].word] = self.log_probability[0]

    def score(self, tokens: ndarray) -> ndarray:
        """(batch, time) -> log P(w | h) of every token after those before it in its row."""
        log_p = np.full(tokens.shape, self.log_uniform)
        history = np.arange(tokens.shape[1])
        for i, (level, context, ngram) in enumerate(walk(self.levels, tokens)):
            here = self.log_backoff[i][context[:, :-1]] + (log_p if self.chained else self.log_uniform)
            if len(level):
                here = np.where(ngram >= 0, self.log_probability[i][ngram], here)
            log_p = np.where(history >= i, here, log_p)
        return log_p

    def dense(self, tokens: ndarray, first: int, dtype: type) -> ndarray:
        """(batch, time) -> log P(· | h) (batch, time + 1 - first, vocab), h the words before first to time."""
        contexts = [context for _, context, _ in walk(self.levels, tokens)]  # per order, its id before every position
        if not self.chained:  # only the longest context speaks, whether it was seen or not
            longest = np.minimum(np.arange(tokens.shape[1] + 1), len(self.levels) - 1)
            contexts = [np.where(longest == i, context, -1) for i, context in enumerate(contexts)]
        contexts = [context[:, first:] for context in contexts]
        vocab = self.lowest.shape[1]
        out: ndarray = np.empty((contexts[0].size, vocab), dtype=dtype)
        rows = max(1, CHUNK // vocab)
        for start in range(0, len(out), rows):
            part = slice(start, start + rows)
            self._fill(out[part], [context.ravel()[part] for context in contexts])
        return out.reshape(*contexts[0].shape, vocab)

    def _fill(self, out: ndarray, contexts: list[ndarray]) -> None:
        """Rows of log P(· | h), one per context: the shortest context fills a row, every longer one scales it by its
        backoff and overwrites the words that it has seen."""
        longer = np.zeros((len(contexts), len(out)))  # longer[i]: log backoff of all contexts longer than order i's
        for i in range(len(contexts) - 1, 0, -1):
            longer[i - 1] = longer[i] + self.log_backoff[i][contexts[i]]
        np.add(self.lowest[contexts[0]], longer[0][:, None], out=out, casting="same_kind")
        for i in range(1, len(contexts)):
            level, seen = self.levels[i], np.flatnonzero(contexts[i] >= 0)
            begin, end = level.starts[contexts[i][seen]], level.starts[contexts[i][seen] + 1]
            number = end - begin
            row = np.repeat(seen, number)
            ngram = np.arange(len(row)) + np.repeat(begin - (np.cumsum(number) - number), number)
            out[row, level.word[ngram]] = self.log_probability[i][ngram] + longer[i][row]
