"""What goes wrong in a beam search: mostly, what becomes of a text that has ended."""

import math
from itertools import pairwise

from torch import Tensor

from autograder.checks.decoding.common import greedy
from autograder.checks.decoding.hypotheses import Hypothesis, extensions, has_ended, log_prob, search, the_best
from autograder.exercise.specification import Misconception


def _dropped(table: Tensor, start: int, eos: int, beam: int, longest: int) -> Hypothesis:
    held: list[Hypothesis] = [([], 0.0)]
    for _ in range(longest):
        found = extensions(table, start, eos, held)
        held = sorted(found, key=log_prob, reverse=True)[:beam] or held
    return max(held, key=log_prob)


def _past_the_end(table: Tensor, start: int, eos: int, beam: int, longest: int) -> Hypothesis:
    return search(table, start, -1, beam, longest)


def _first_ended(table: Tensor, start: int, eos: int, beam: int, longest: int) -> Hypothesis:
    return search(table, start, eos, beam, longest, until=any, choose=_ended_first)


def _best_when_one_has_ended(table: Tensor, start: int, eos: int, beam: int, longest: int) -> Hypothesis:
    return search(table, start, eos, beam, longest, until=any)


def _ended_first(held: list[Hypothesis], eos: int) -> Hypothesis:
    return the_best([hypothesis for hypothesis in held if has_ended(hypothesis, eos)] or held, eos)


def _ended_preferred(table: Tensor, start: int, eos: int, beam: int, longest: int) -> Hypothesis:
    return search(table, start, eos, beam, longest, choose=_ended_first)


def _aside(
    table: Tensor, start: int, eos: int, beam: int, longest: int, *, every: bool, enough: float = math.inf
) -> list[Hypothesis]:
    """The beam holds living texts alone. What ends is set aside, `every` one or those among the beam best, and with
    `enough` of them the search is over."""
    held: list[Hypothesis] = [([], 0.0)]
    aside: list[Hypothesis] = []
    for _ in range(longest):
        found = sorted(extensions(table, start, eos, held), key=log_prob, reverse=True)
        aside += [h for h in (found if every else found[:beam]) if has_ended(h, eos)]
        held = [h for h in found if not has_ended(h, eos)][:beam]
        if len(aside) >= enough:
            break
    return [*aside, *held]


def _set_aside(table: Tensor, start: int, eos: int, beam: int, longest: int) -> Hypothesis:
    return the_best(_aside(table, start, eos, beam, longest, every=True), eos)


def _set_aside_and_preferred(table: Tensor, start: int, eos: int, beam: int, longest: int) -> Hypothesis:
    return _ended_first(_aside(table, start, eos, beam, longest, every=True), eos)


def _enough(table: Tensor, start: int, eos: int, beam: int, longest: int) -> Hypothesis:
    return the_best(_aside(table, start, eos, beam, longest, every=False, enough=beam), eos)


def _enough_and_preferred(table: Tensor, start: int, eos: int, beam: int, longest: int) -> Hypothesis:
    return _ended_first(_aside(table, start, eos, beam, longest, every=False, enough=beam), eos)


def _sum_of_probabilities(table: Tensor, start: int, eos: int, beam: int, longest: int) -> Hypothesis:
    return search(table, start, eos, beam, longest, add=lambda score, new: score + math.exp(new))


def _last_word_alone(table: Tensor, start: int, eos: int, beam: int, longest: int) -> Hypothesis:
    return search(table, start, eos, beam, longest, add=lambda score, new: new)


def _per_word(hypothesis: Hypothesis) -> float:
    return hypothesis[1] / len(hypothesis[0])


def _best_per_word(table: Tensor, start: int, eos: int, beam: int, longest: int) -> Hypothesis:
    return search(table, start, eos, beam, longest, choose=lambda held, _: max(held, key=_per_word))


def _always_per_word(table: Tensor, start: int, eos: int, beam: int, longest: int) -> Hypothesis:
    return search(table, start, eos, beam, longest, rank=_per_word, choose=lambda held, _: max(held, key=_per_word))


def one_child_each(table: Tensor, start: int, eos: int, beam: int, longest: int) -> Hypothesis:
    """As many texts as the beam is wide, each of which goes on greedily after its first word."""
    scores, words = table[start].topk(min(beam, len(table)))
    found = []
    for score, word in zip(scores.tolist(), words.tolist(), strict=True):
        rest = [] if word == eos else greedy(table, word, eos, longest - 1)
        steps = pairwise([word, *rest])
        found.append(([word, *rest], score + sum(float(table[a, b]) for a, b in steps)))
    return max(found, key=log_prob)


def most_probable(table: Tensor, start: int, eos: int, beam: int, longest: int) -> Hypothesis:
    """The best of all texts, whatever the beam: of those that end in the same word only the best can be part of it."""
    held: list[Hypothesis] = [([], 0.0)]
    ended: list[Hypothesis] = []
    for _ in range(longest):
        best = {
            tokens[-1]: (tokens, score) for tokens, score in sorted(extensions(table, start, eos, held), key=log_prob)
        }
        ended += [best.pop(eos)]
        held = list(best.values())
    return max([*ended, *held], key=log_prob)


def _longest(table: Tensor, start: int, eos: int, beam: int, longest: int) -> Hypothesis:
    return search(table, start, eos, beam, longest, choose=lambda held, _: max(held, key=lambda h: len(h[0])))


def _with_start(table: Tensor, start: int, eos: int, beam: int, longest: int) -> Hypothesis:
    tokens, score = search(table, start, eos, beam, longest)
    return [start, *tokens], score


def _as_probability(table: Tensor, start: int, eos: int, beam: int, longest: int) -> Hypothesis:
    tokens, score = search(table, start, eos, beam, longest)
    return tokens, math.exp(score)


MISTAKES = (
    Misconception(
        id="finished-dropped",
        sentence=(
            "A hypothesis that ended with `<eos>` is gone. It stays in the beam with the score that it has, and"
            " competes with those that go on."
        ),
        implementation=_dropped,
    ),
    Misconception(
        id="past-the-end",
        sentence="You go on after `<eos>`. A hypothesis that has ended is kept as it is.",
        implementation=_past_the_end,
    ),
    Misconception(
        id="first-that-ends",
        sentence=(
            "You stopped when the first hypothesis had ended. Another one, still open, may become the better text: go"
            " on until all that are kept have ended."
        ),
        implementation=_first_ended,
        also=(_best_when_one_has_ended,),
    ),
    Misconception(
        id="enough-have-ended",
        sentence=(
            "You stopped when as many texts had ended as the beam is wide. One that is still open may be more probable"
            " than all of them: go on until all that *stay* have ended."
        ),
        implementation=_enough,
        also=(_enough_and_preferred,),
    ),
    Misconception(
        id="ended-set-aside",
        sentence=(
            "You set every text that has ended aside, where it takes no place in the beam and never loses it. By rule 3"
            " it is one among the others: only if it is among the `beam` best does it stay, at its own step and later."
        ),
        implementation=_set_aside,
        also=(_set_aside_and_preferred,),
    ),
    Misconception(
        id="ended-preferred",
        sentence=(
            "At the end you prefer a text that has ended to one that was cut off. By rule 4 the answer is the best of"
            " all that stay, ended or not."
        ),
        implementation=_ended_preferred,
    ),
    Misconception(
        id="probabilities-added",
        sentence="You added probabilities, so longer is always better. Add their logarithms: that multiplies them.",
        implementation=_sum_of_probabilities,
    ),
    Misconception(
        id="last-word-alone",
        sentence=(
            "A hypothesis has the score of its last word alone; what came before it is forgotten. Add the word's"
            " log-probability to the score that the hypothesis had."
        ),
        implementation=_last_word_alone,
    ),
    Misconception(
        id="best-per-word",
        sentence=(
            "You divided by the number of words before you compared. That is the next question; here the"
            " log-probabilities are compared as they are, so a short text may well win."
        ),
        implementation=_best_per_word,
        also=(_always_per_word,),
    ),
    Misconception(
        id="longest-chosen",
        sentence="At the end you choose the longest of your texts. The best one is the most probable, long or short.",
        implementation=_longest,
    ),
    Misconception(
        id="one-child-each",
        sentence=(
            "After the first step each hypothesis goes on with its best word alone: several greedy searches side by"
            " side. Of *all* extensions of all hypotheses the `beam` best stay, and two of them may have one"
            " parent."
        ),
        implementation=one_child_each,
    ),
    Misconception(
        id="beam-of-one",
        sentence=(
            "Only one hypothesis is kept, whatever `beam` says: that is greedy search. Keep the `beam` best of"
            " *all* extensions of all hypotheses."
        ),
        implementation=lambda table, start, eos, beam, longest: search(table, start, eos, 1, longest),
    ),
    Misconception(
        id="nothing-dropped",
        sentence=(
            "You found the best of all texts, which a beam of this width misses: it looks as if you drop nothing on the"
            " way. After every step only the `beam` best stay. That is what makes the search quick, and fallible."
        ),
        implementation=most_probable,
    ),
    Misconception(
        id="start-included",
        sentence="The start is in your list. It was given; the tokens are what the model adds to it.",
        implementation=_with_start,
    ),
    Misconception(
        id="probability-returned",
        sentence="You return the probability of your text. Asked is its logarithm, the sum that you kept all along.",
        implementation=_as_probability,
    ),
)
