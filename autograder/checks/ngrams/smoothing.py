"""Questions 2a and 2b: every word counted a little more often, and three orders mixed."""

from collections.abc import Sequence

import torch
from torch import Tensor

from autograder.checks.ngrams.common import REFERENCE_ITSELF, table
from autograder.checks.ngrams.counting import PROBABILITIES
from autograder.draw import Draw
from autograder.judges import same_shapes, same_values
from autograder.specification import Case, Exercise, Misconception, Property, case


def _one(draw: Draw) -> list[Case]:
    return [case("k = 1", table(draw, draw.largest + 1), 1.0)]


def _fractions(draw: Draw) -> list[Case]:
    return [
        case("k = 0.25", table(draw, draw.largest + 2), 0.25),
        case("k = 3", table(draw, draw.largest + 1), 3.0),
    ]


def _never(draw: Draw) -> list[Case]:
    return [case("a context never seen", table(draw, draw.largest + 1, unseen=1), 0.5)]


def _additive(counts: Tensor, k: float) -> Tensor:
    return (counts + k) / (counts.sum(1, keepdim=True) + k * counts.shape[1])


def _only_zeros(counts: Tensor, k: float) -> Tensor:
    filled = torch.where(counts == 0, k, counts.float())
    return filled / filled.sum(1, keepdim=True)


ADDITIVE = Exercise(
    name="ngrams.additive",
    title="A little for every word",
    signature="additive(counts, k)",
    arguments=("counts", "k"),
    returns=PROBABILITIES,
    minutes=10,
    difficulty="easy",
    reference=_additive,
    properties=(
        Property(name="one probability per pair", points=0.25, cases=_one, judge=same_shapes(PROBABILITIES)),
        Property(name="k = 1 (Laplace)", points=1, cases=_one, judge=same_values(PROBABILITIES)),
        Property(name="any k", points=1.25, cases=_fractions, judge=same_values(PROBABILITIES)),
        Property(name="a context never seen", points=0.5, cases=_never, judge=same_values(PROBABILITIES)),
    ),
    misconceptions=(
        Misconception(
            id="k-once-below",
            sentence=(
                "Above you add k to each of the V words, below only once: the row sums to more than 1. Below it is k"
                " times the size of the vocabulary."
            ),
            implementation=lambda counts, k: (counts + k) / (counts.sum(1, keepdim=True) + k),
        ),
        Misconception(
            id="denominator-unchanged",
            sentence=(
                "The sum below is still that of the plain counts, so the row sums to more than 1. The k's that you"
                " added above count below, too: one per word of the vocabulary."
            ),
            implementation=lambda counts, k: (counts + k) / counts.sum(1, keepdim=True).clamp(min=1e-9),
        ),
        Misconception(
            id="only-the-zeros",
            sentence=(
                "Only words that were never seen got k. Every word is counted k times more often, the frequent ones as"
                " well; otherwise a word seen once may fall behind one never seen, when k is above 1."
            ),
            implementation=_only_zeros,
        ),
        Misconception(
            id="vocabulary-of-the-row",
            sentence=(
                "You multiplied k by the number of different words seen after this context. V is the size of the whole"
                " vocabulary: the words never seen get their k as well."
            ),
            implementation=lambda counts, k: (
                (counts + k) / (counts.sum(1, keepdim=True) + k * (counts > 0).sum(1, keepdim=True).clamp(min=1))
            ),
        ),
        Misconception(
            id="always-one",
            sentence="Your k is always 1. Use the argument: with a smaller k less is taken from what was seen.",
            implementation=lambda counts, k: _additive(counts, 1.0),
        ),
        Misconception(
            id="pairs-for-words",
            sentence=(
                "Below you added k for each of the V² pairs. One row has V entries: add k·V, and each row sums to 1."
            ),
            implementation=lambda counts, k: (
                (counts + k) / (counts.sum(1, keepdim=True) + k * counts.shape[0] * counts.shape[1])
            ),
        ),
    ),
    closed=REFERENCE_ITSELF,
)


# --- three orders mixed -----------------------------------------------------------------------------------


def _levels(words: Tensor, context: Sequence[int], vocab_size: int) -> list[Tensor]:
    """What followed the last 0, 1 and 2 words of the context: counts (vocab_size,), lowest order first."""
    found = []
    for length in range(3):
        tail = list(context[2 - length :])
        counts = torch.zeros(vocab_size)
        for end in range(length, len(words)):
            if words[end - length : end].tolist() == tail:
                counts[int(words[end])] += 1
        found.append(counts)
    return found


def _mixed(levels: list[Tensor], weights: Sequence[float]) -> Tensor:
    seen = [(weight, counts) for weight, counts in zip(weights, levels, strict=True) if counts.sum() > 0]
    share = sum(weight for weight, _ in seen)
    mixture = torch.zeros(len(levels[0]))
    for weight, counts in seen:
        mixture = mixture + weight / share * counts / counts.sum()
    return mixture


def _interpolated(words: Tensor, context: Sequence[int], weights: Sequence[float], vocab_size: int) -> Tensor:
    return _mixed(_levels(words, context, vocab_size), weights)


def _text(draw: Draw, kind: str) -> tuple[Tensor, list[int], list[float], int]:
    """A text in which the asked pair was seen ("pair"), only its last word ("word"), or neither ("nothing")."""
    vocab_size = draw.largest + 2
    last, before, other = draw.integers(0, 10**9, vocab_size).argsort()[:3].tolist()
    body = draw.integers(0, vocab_size - 1, 3 * vocab_size)
    body = torch.where(body == last, other, body)  # where `last` stands is settled below
    if kind == "pair":
        follower = draw.integer(0, vocab_size - 1)
        pieces = [body, torch.tensor([before, last, other, before, last, follower, other, last, before, before, last])]
    elif kind == "word":
        pieces = [body, torch.tensor([other, last, before, other, last, other])]
    else:
        pieces = [body]
    cut = sorted(draw.integer(5, 95) for _ in range(2))
    weights = [cut[0] / 100, (cut[1] - cut[0] + 3) / 103, 0.0]
    weights[2] = 1.0 - weights[0] - weights[1]
    return torch.cat(pieces), [before, last], weights, vocab_size


def _asked(kind: str, label: str, draw: Draw) -> list[Case]:
    return [case(label, *_text(draw, kind))]


def _pair(draw: Draw) -> list[Case]:
    return _asked("pair", "both words were seen together", draw)


def _word(draw: Draw) -> list[Case]:
    return _asked("word", "only the last word was seen", draw)


def _nothing(draw: Draw) -> list[Case]:
    return _asked("nothing", "neither was seen", draw)


def _kept_as_they_are(levels: list[Tensor], weights: Sequence[float]) -> Tensor:
    """Orders without counts are left out, and nobody gets their share."""
    mixture = torch.zeros(len(levels[0]))
    for weight, counts in zip(weights, levels, strict=True):
        mixture = mixture + weight * counts / counts.sum().clamp(min=1)
    return mixture


def _uniform_for_unseen(levels: list[Tensor], weights: Sequence[float]) -> Tensor:
    size = len(levels[0])
    known = [counts if counts.sum() > 0 else torch.ones(size) for counts in levels]
    return _mixed(known, weights)


def _highest_only(levels: list[Tensor], weights: Sequence[float]) -> Tensor:
    best = [counts for counts in levels if counts.sum() > 0][-1]
    return best / best.sum()


def _one_sum(levels: list[Tensor], weights: Sequence[float]) -> Tensor:
    pooled = sum((weight * counts for weight, counts in zip(weights, levels, strict=True)), torch.zeros(len(levels[0])))
    return pooled / pooled.sum()


INTERPOLATED = Exercise(
    name="ngrams.interpolated",
    title="Three orders, mixed",
    signature="interpolated(words, context, weights, vocab_size)",
    arguments=("words", "context", "weights", "vocab_size"),
    returns=("distribution",),
    minutes=30,
    difficulty="medium",
    reference=_interpolated,
    properties=(
        Property(name="one probability per word", points=0.25, cases=_pair, judge=same_shapes(("distribution",))),
        Property(name="all three orders know something", points=2, cases=_pair, judge=same_values(("distribution",))),
        Property(name="the pair was never seen", points=1, cases=_word, judge=same_values(("distribution",))),
        Property(name="nor was its last word", points=0.75, cases=_nothing, judge=same_values(("distribution",))),
    ),
    misconceptions=(
        Misconception(
            id="weights-reversed",
            sentence=(
                "The weights are applied the wrong way round: `weights[0]` belongs to the unigram, the shortest"
                " context, `weights[2]` to the trigram."
            ),
            implementation=lambda words, context, weights, vocab_size: _interpolated(
                words, context, weights[::-1], vocab_size
            ),
        ),
        Misconception(
            id="share-lost",
            sentence=(
                "Where an order has never seen its context, its share is lost, and your distribution sums to less than"
                " 1. Divide the weights of the orders that do know something by their sum."
            ),
            implementation=lambda words, context, weights, vocab_size: _kept_as_they_are(
                _levels(words, context, vocab_size), weights
            ),
        ),
        Misconception(
            id="unseen-as-uniform",
            sentence=(
                "An order that has never seen its context votes for every word alike. It knows nothing: leave it out,"
                " and let the other orders share its weight."
            ),
            implementation=lambda words, context, weights, vocab_size: _uniform_for_unseen(
                _levels(words, context, vocab_size), weights
            ),
        ),
        Misconception(
            id="context-reversed",
            sentence=(
                "You read the context backwards. `context[1]` is the word right before the one asked for; the bigram"
                " looks at it, and the trigram at `context[0]`, `context[1]` in this order."
            ),
            implementation=lambda words, context, weights, vocab_size: _interpolated(
                words, context[::-1], weights, vocab_size
            ),
        ),
        Misconception(
            id="backoff",
            sentence=(
                "Only the longest context that was seen has a say: that is backing off. Here all orders are mixed"
                " always, each with its weight."
            ),
            implementation=lambda words, context, weights, vocab_size: _highest_only(
                _levels(words, context, vocab_size), weights
            ),
        ),
        Misconception(
            id="counts-mixed",
            sentence=(
                "You added up weighted counts and divided at the end, so the unigram, which has the largest counts,"
                " drowns the others. Turn each order into probabilities first, then mix."
            ),
            implementation=lambda words, context, weights, vocab_size: _one_sum(
                _levels(words, context, vocab_size), weights
            ),
        ),
    ),
    closed=REFERENCE_ITSELF,
)
