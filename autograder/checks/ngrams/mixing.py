"""Question 2b: unigram, bigram and trigram, mixed."""

from collections.abc import Sequence

import torch
from torch import Tensor

from autograder.checks.ngrams.common import REFERENCE_ITSELF
from autograder.exercise.draw import Draw
from autograder.exercise.judges import same_shapes, same_values
from autograder.exercise.specification import Case, Exercise, Misconception, Property, case


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


def _mixed(levels: list[Tensor], weights: Sequence[float], totals: Sequence[int] = ()) -> Tensor:
    """The distribution; with `totals`, each order's counts are divided by those and not by their sum."""
    totals = totals or [int(counts.sum()) for counts in levels]
    seen = [row for row in zip(weights, levels, totals, strict=True) if row[2] > 0]
    share = sum(weight for weight, _, _ in seen)
    mixture = torch.zeros(len(levels[0]))
    for weight, counts, total in seen:
        mixture = mixture + weight / share * counts / total
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


def _bigram_of_the_first_word(
    words: Tensor, context: Sequence[int], weights: Sequence[float], vocab_size: int
) -> Tensor:
    levels = _levels(words, context, vocab_size)
    levels[1] = _levels(words, context[::-1], vocab_size)[1]
    return _mixed(levels, weights)


def _standing(words: Tensor, context: Sequence[int]) -> list[int]:
    """How often the last 0, 1 and 2 words of the context stand in the text, its very end included."""
    text, tails = words.tolist(), [list(context[2 - order :]) for order in range(3)]
    return [sum(text[i : i + len(tail)] == tail for i in range(len(text))) for tail in tails]


def _share_passed_down(levels: list[Tensor], weights: Sequence[float]) -> Tensor:
    weights = list(weights)
    for order in (2, 1):
        if levels[order].sum() == 0:
            weights[order - 1], weights[order] = weights[order - 1] + weights[order], 0.0
    return _kept_as_they_are(levels, weights)


def _from_the_third_word_on(words: Tensor, context: Sequence[int], weights: Sequence[float], vocab_size: int) -> Tensor:
    levels = _levels(words, context, vocab_size)
    for place in range(min(2, len(words))):
        levels[0][int(words[place])] -= 1
    if len(words) > 1 and int(words[0]) == context[1]:
        levels[1][int(words[1])] -= 1
    return _mixed(levels, weights)


def _unseen_nan(levels: list[Tensor], weights: Sequence[float]) -> Tensor:
    return sum(
        (weight * counts / counts.sum() for weight, counts in zip(weights, levels, strict=True)), torch.zeros(())
    )


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
            id="unseen-is-nan",
            sentence=(
                "Where an order has never seen its context, you divided 0 by 0. Leave that order out, and divide the"
                " weights of the others by their sum."
            ),
            implementation=lambda words, context, weights, vocab_size: _unseen_nan(
                _levels(words, context, vocab_size), weights
            ),
        ),
        Misconception(
            id="last-word-uncounted",
            sentence=(
                "The last word of the text is not counted. It is no context of anything, but it is what follows the"
                " words before it: `range` ends one before its second argument."
            ),
            implementation=lambda words, context, weights, vocab_size: _interpolated(
                words[:-1], context, weights, vocab_size
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
            id="bigram-of-the-first-word",
            sentence=(
                "Your bigram looks at the first word of the context. It should look at the one right before the word"
                " asked for: `context[1]`, that is `context[-1:]` as a list."
            ),
            implementation=_bigram_of_the_first_word,
        ),
        Misconception(
            id="last-word-as-context",
            sentence=(
                "You divided by how often the context stands in the text. Where it stands at the very end, nothing"
                " follows it: divide by the number of words that *followed* it, and the sum is 1."
            ),
            implementation=lambda words, context, weights, vocab_size: _mixed(
                _levels(words, context, vocab_size), weights, _standing(words, context)
            ),
        ),
        Misconception(
            id="share-to-the-next-order",
            sentence=(
                "The weight of an order that knows nothing went to the next shorter one alone. All that are left share"
                " it: divide each of their weights by their sum."
            ),
            implementation=lambda words, context, weights, vocab_size: _share_passed_down(
                _levels(words, context, vocab_size), weights
            ),
        ),
        Misconception(
            id="first-words-uncounted",
            sentence=(
                "All three orders are counted from the third word on. The unigram needs nothing before a word, the"
                " bigram one word: they count the first words as well."
            ),
            implementation=_from_the_third_word_on,
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
