"""The n-gram language model: P(next word) depends on the last order-1 words alone.

Source: Shannon 1951; Jelinek 1976. Equation (the Markov assumption):

    P(w₁ ... w_T) = Πₜ P(wₜ | w₁ ... wₜ₋₁) ≈ Πₜ P(wₜ | wₜ₋ₙ₊₁ ... wₜ₋₁)

`smoothing` and `backoff` estimate P(w | h): one number per n-gram seen and one per context, as in an ARPA file, which
`BackoffTable` reads for whole texts in one call:

    log P(w | h) = log probability(h, w)              where (h, w) was seen
                 = log backoff(h) + log P(w | h')     where it was not; backoff = 1 where h was not either

Unchained rules (mle, additive) replace the last term by log 1/V and use only the longest context.

Symbols: n order, V vocab_size, w word, h context.
Departs from the papers: nothing is added at sequence boundaries. The first words of a sequence have shorter contexts
and take the lower order's distribution; for P(w | beginning), put <bos> in front, and <eos> behind.
"""

import operator
from collections.abc import Iterable, Sequence
from dataclasses import fields, replace
from typing import Any, SupportsIndex

import numpy as np
import torch
from jaxtyping import Float, Int
from numpy import ndarray
from torch import Tensor

from nlmcore.checks import check_tokens, described
from nlmcore.ngram.backoff import KatzBackoff, StupidBackoff
from nlmcore.ngram.counts import Ngrams, as_sequences, count_ngrams, walk
from nlmcore.ngram.smoothing import MLE, AbsoluteDiscounting, Additive, Interpolation, KneserNey, Smoothing, WittenBell
from nlmcore.ngram.weights import fit_weights, held_out_components, leave_one_out_components

SMOOTHINGS: dict[str, type[Smoothing]] = {
    "mle": MLE,
    "additive": Additive,
    "interpolation": Interpolation,
    "absolute_discounting": AbsoluteDiscounting,
    "kneser_ney": KneserNey,
    "witten_bell": WittenBell,
    "katz_backoff": KatzBackoff,
    "stupid_backoff": StupidBackoff,
}
MAX_ORDER = 7
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


class NGramLM:
    """`NGramLM(order, vocab_size, smoothing).fit(tokens)`; then a language model like any other.

    order: 1 to 7, how many words an n-gram has. smoothing: a name in SMOOTHINGS. options: `pseudocount` (additive),
    `weights` (interpolation, lowest order first), `discount` (absolute_discounting, kneser_ney), `factor`
    (stupid_backoff), and for all `base="uniform" | "unigram"`, what the lowest order falls back to.
    """

    def __init__(self, order: int, vocab_size: int, smoothing: str = "kneser_ney", **options: Any) -> None:
        self.order = _as_integer("order", order, 1, MAX_ORDER)
        self.vocab_size = _as_integer("vocab_size", vocab_size, 1, 2**31)
        if not isinstance(smoothing, str) or smoothing not in SMOOTHINGS:
            raise ValueError(f"smoothing must be one of {', '.join(SMOOTHINGS)}, got {smoothing!r}")
        allowed = [field.name for field in fields(SMOOTHINGS[smoothing])]
        for name in options:
            if name not in allowed:
                raise ValueError(f"{name} is no option of smoothing={smoothing!r}, which takes {', '.join(allowed)}")
        if options.get("weights") is not None:
            if isinstance(options["weights"], str) or not isinstance(options["weights"], Iterable):
                raise TypeError(f"weights must be a list of numbers, got {options['weights']!r}")
            options["weights"] = tuple(options["weights"])
        self._weights_given = options.get("weights") is not None
        self.smoothing = smoothing
        self.rule = SMOOTHINGS[smoothing](**options).for_order(self.order)
        self._table: BackoffTable | None = None

    def __repr__(self) -> str:
        sizes = " + ".join(str(len(level)) for level in self._table.levels) if self._table else "not fitted"
        return f"NGramLM(order={self.order}, vocab_size={self.vocab_size}, {self.rule}, n-grams: {sizes})"

    @property
    def weights(self) -> tuple[float, ...] | None:
        """Interpolation's λ, the uniform distribution's first; None for other smoothings."""
        return getattr(self.rule, "weights", None)

    def fit(self, tokens: object, heldout: object = None) -> "NGramLM":
        """Count and estimate from scratch. tokens: a sequence of ids, or a list of sequences (n-grams never cross from
        one to the next); a LongTensor (batch, time) is a list of its rows. heldout: text of the same form, on which
        interpolation without given `weights` fits them; None: every word of the training text is held out in turn.
        """
        if heldout is not None and (self._weights_given or not isinstance(self.rule, Interpolation)):
            given = " with given weights" if self._weights_given else ""
            raise ValueError(
                f"heldout must be None but for smoothing='interpolation' without weights, got {self.smoothing!r}{given}"
            )
        levels = count_ngrams(*as_sequences("tokens", tokens, self.vocab_size), self.order, self.vocab_size)
        if isinstance(self.rule, Interpolation) and not self._weights_given:
            if heldout is None:
                events = leave_one_out_components(levels)
            else:
                events = held_out_components(levels, *as_sequences("heldout", heldout, self.vocab_size))
            weights = fit_weights(*events, uniform=self.rule.base == "uniform")
            self.rule = replace(self.rule, weights=tuple(weights.tolist()))
        self._table = BackoffTable(levels, self.rule)
        return self

    # --- probabilities ---

    def probability(self, word: SupportsIndex, context: Sequence[SupportsIndex] | Tensor | ndarray = ()) -> float:
        """P(word | the last order-1 words of the context). An empty context gives the unigram distribution."""
        words = [*self._context(context), _as_integer("word", word, 0, self.vocab_size - 1)]
        return float(np.exp(self.table.score(np.array([words]))[0, -1]))

    def distribution(self, context: Sequence[SupportsIndex] | Tensor | ndarray = ()) -> Float[Tensor, " vocab"]:
        """P(w | context) for every word w of the vocabulary, in double precision."""
        words = np.array([self._context(context)], dtype=np.int64)
        return torch.from_numpy(np.exp(self.table.dense(words, words.shape[1], np.float64)[0, 0]))

    def log_probabilities(self, tokens: Tensor, state: Tensor | None = None) -> Float[Tensor, "batch time"]:
        """log P(tokens[b, t] | state, tokens[b, :t]), the first word's included, without V logits per token."""
        read, start = self._read(tokens, state)
        return torch.from_numpy(self.table.score(read)[:, start:]).to(tokens.device, torch.get_default_dtype())

    def __call__(
        self, tokens: Tensor, state: Tensor | None = None
    ) -> tuple[Float[Tensor, "batch time vocab"], Int[Tensor, "batch context"]]:
        """tokens (batch, time) -> logits (log-probabilities that need no softmax), and the last order-1 tokens."""
        read, start = self._read(tokens, state)
        logits = torch.from_numpy(self.table.dense(read, start + 1, np.float32))
        kept = read[:, max(0, read.shape[1] - (self.order - 1)) :]
        return logits.to(tokens.device, torch.get_default_dtype()), torch.from_numpy(kept.copy()).to(tokens.device)

    # --- what comes in ---

    @property
    def table(self) -> BackoffTable:
        """The n-grams and their probabilities; raises RuntimeError before `fit`."""
        if self._table is None:
            raise RuntimeError("this NGramLM has counted nothing yet: call fit(tokens) first")
        return self._table

    def _context(self, context: Sequence[SupportsIndex] | Tensor | ndarray) -> list[int]:
        if not isinstance(context, Iterable) or (isinstance(context, Tensor | ndarray) and context.ndim != 1):
            raise TypeError(f"context must be a sequence of ids, got {type(context).__name__} {context!r}")
        given = context.tolist() if isinstance(context, Tensor | ndarray) else list(context)
        words = [_as_integer(f"context[{i}]", word, 0, self.vocab_size - 1) for i, word in enumerate(given)]
        return words[max(0, len(words) - (self.order - 1)) :]

    def _read(self, tokens: Tensor, state: Tensor | None) -> tuple[ndarray, int]:
        check_tokens(tokens, self.vocab_size)
        new = tokens.cpu().numpy().astype(np.int64)
        if state is None:
            return new, 0
        # By hand: it is asked at every step of decoding, where `checked` would add 4 µs.
        if not isinstance(state, Tensor) or state.dtype not in (torch.int64, torch.int32):
            raise TypeError(f"state must be a LongTensor (batch, context) or None, got {type(state).__name__}")
        if state.ndim != 2 or state.shape[0] != tokens.shape[0] or state.shape[1] >= self.order:
            raise ValueError(
                f"state must be (batch={tokens.shape[0]}, at most order-1={self.order - 1}), got {tuple(state.shape)}"
            )
        if state.numel():
            check_tokens(state, self.vocab_size, "state")
        return np.concatenate([state.cpu().numpy().astype(np.int64), new], axis=1), state.shape[1]


def _as_integer(name: str, value: object, low: int, high: int) -> int:
    """A Python int in [low, high] from any integer (numpy's, a tensor of one), and nothing else."""
    try:
        if isinstance(value, bool):
            raise TypeError
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f"{name} must be an integer, got {described(value)}") from None
    if not low <= number <= high:
        raise ValueError(f"{name} must be in [{low}, {high}], got {number}")
    return number
