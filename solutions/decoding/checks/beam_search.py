"""Question 2b: the whole beam search, by our rules: an ended text stays in the beam, and may be pushed out of it."""

from itertools import pairwise

import torch
from torch import Tensor

from autograder.exercise.declare import judged, question
from autograder.exercise.draw import Draw
from autograder.exercise.laws.decoding import same_path, scores_its_own_path
from autograder.exercise.specification import Case, case
from solutions.decoding.checks.common import CLOSED, random_model
from solutions.decoding.checks.greedy import GREEDY


def _model_of(draw: Draw, size: int, rows: dict[int, dict[int, float]]) -> Tensor:
    """A nearly uniform model except in `rows`: last -> {next: probability}, each a little more or less."""
    table = torch.log_softmax(draw.normal(size, size).double() * 0.2, -1).exp()
    for last, wanted in rows.items():
        for word in wanted:
            table[last, word] = 0.0
        table[last] *= (1 - sum(wanted.values())) / table[last].sum()
        for word, share in wanted.items():
            table[last, word] = share + draw.integer(0, 20) / 1000
    return (table / table.sum(-1, keepdim=True)).log().float()


def _words(draw: Draw, count: int) -> list[int]:
    """`count` different words of the vocabulary."""
    return [int(word) for word in draw.integers(0, 10**9, draw.largest + 2).argsort()[:count]]


def _garden_path(draw: Draw, beam: int, chain: int, label: str) -> Case:
    """A model whose most probable first word leads nowhere in particular, and whose second best begins the best text.

    After it come `chain` words, each very probable after the previous one; the first of them may also be the last.
    """
    start, eos, tempting, *good = _words(draw, chain + 3)
    rows = {last: {word: 0.88} for last, word in pairwise([*good, eos])}
    rows |= {start: {tempting: 0.45, good[0]: 0.38, eos: 0.01}, good[0]: {good[1]: 0.58, eos: 0.32}}
    return case(label, _model_of(draw, draw.largest + 2, rows), start, eos, beam, chain + 3)


def _crowded(draw: Draw) -> Case:
    """The best text is the second child of a first word."""
    while True:
        start, eos = _words(draw, 2)
        table = torch.log_softmax(draw.normal(draw.largest + 2, draw.largest + 2).double() * 1.5, -1).float()
        best, score = BEAM_SEARCH.reference(table, start, eos, 3, 5)
        if len(best) > 1 and score > BEAM_SEARCH.mistake("one-child-each")(table, start, eos, 3, 5)[1] + 0.01:
            return case("two children of one hypothesis", table, start, eos, 3, 5)


def _wide(draw: Draw) -> list[Case]:
    return [
        _crowded(draw),
        _garden_path(draw, 2, 2, "two hypotheses"),
        _garden_path(draw, 3, 3, "three hypotheses"),
    ]


def _ended(draw: Draw) -> list[Case]:
    def made(label: str, longest: int, rows: dict[int, dict[int, float]]) -> Case:
        return case(label, _model_of(draw, draw.largest + 2, rows), start, eos, 2, longest)

    start, eos, *long = _words(draw, 6)  # the empty text is the best, and a long one is better per word
    rows = {last: {word: 0.86} for last, word in pairwise([*long, eos])} | {start: {long[0]: 0.4, eos: 0.34}}
    cases = [made("a short text is the best", 5, rows)]

    # the empty text would be the best, but two others are better at first, and there is no room for a third
    start, eos, one, one_more, two, two_more = _words(draw, 6)
    rows = {start: {one: 0.34, two: 0.28, eos: 0.2}, one: {one_more: 0.5}, two: {two_more: 0.4}}
    rows |= {one_more: {eos: 0.8}, two_more: {eos: 0.8}}
    cases.append(made("an ended text is pushed out", 4, rows))

    # the empty text is kept at first, and pushed out one step later by two others, which end less probable
    start, eos, one, two, three = _words(draw, 5)
    rows = {start: {one: 0.66, eos: 0.22}, one: {two: 0.47, three: 0.47}, two: {eos: 0.5}, three: {eos: 0.42}}
    cases.append(made("an ended text is pushed out later", 4, rows))

    start, eos, one, two = _words(draw, 4)  # two texts, as many as the beam is wide, have ended before the best does
    rows = {start: {one: 0.5, eos: 0.3}, one: {two: 0.8, eos: 0.12}, two: {eos: 0.9}}
    cases.append(made("the best text ends last", 4, rows))

    start, eos, one, one_more, two = _words(draw, 5)  # the better text is the shorter one, also per word
    rows = {start: {one: 0.45, two: 0.38, eos: 0.01}, one: {one_more: 0.35}, one_more: {eos: 0.5}, two: {eos: 0.8}}
    return [*cases, made("the best text ends first", 4, rows)]


def _all(draw: Draw) -> list[Case]:
    return [*_wide(draw), *_ended(draw)]


def _narrow(draw: Draw) -> list[Case]:
    """Greedy search ends, and misses the best text."""
    while True:
        table, start, eos = random_model(draw)
        found = GREEDY.reference(table, start, eos, 6)
        best = BEAM_SEARCH.mistake("nothing-dropped")(table, start, eos, 1, 6)[0]
        if 2 <= len(found) < 6 and best != found:
            return [case("one hypothesis: greedy", table, start, eos, 1, 6)]


def _cut_off(draw: Draw) -> list[Case]:
    made = _garden_path(draw, 2, 3, "cut off before it ends")
    return [case(made.label, *made.calls[0][:-1], 3)]


def _extended(*stops: str) -> str:
    """Ways of extending hypotheses that have ended: until a condition on `held` is true; then with all words, or those
    up to eos."""
    whole, cut = "held[0]", "[(t[: t.index(eos) + 1] if eos in t else t, score) for t, score in held][0]"
    ways = (f"{EXTENDED.format(stop)}\n- return held[0] → return {result}" for stop in stops for result in (whole, cut))
    return "\nor\n".join(ways)


EXTENDED = """- tokens and tokens[-1] == eos → False
- [:beam]
+ [:beam]
+     if {}:
+         break"""

BEAM_SEARCH = question(
    "decoding.beam_search",
    minutes=40,
    difficulty="hard",
    returns=("tokens", "log_prob"),
    properties=[
        judged("one hypothesis is greedy", 1, _narrow, same_path("the tokens")),
        judged("the log-probability of your own tokens", 1, _all, scores_its_own_path),
        judged("better than greedy", 2, _wide, same_path("the tokens"), "tokens"),
        judged("texts that have ended, among others", 1, _ended, same_path("the tokens"), "tokens"),
        judged("cut off before it ends", 1, _cut_off, same_path("the tokens"), "tokens"),
    ],
    closed=CLOSED,
    mistakes=f"""
finished-dropped: You drop a hypothesis once it has ended with `<eos>`. It stays in the beam with its score and competes
with the open ones.
- grown.append((tokens, score)) → pass
- [:beam] → [:beam] or held

past-the-end: You extend a hypothesis after `<eos>`. Keep a hypothesis that has ended as it is.
^ eos = -1
or
{_extended("False")}

extended-until-the-best-ends: You extend a hypothesis after `<eos>`, until the best one ends with it. Keep a hypothesis
that has ended as it is, and continue until all kept ones have ended.
{_extended("held[0][0][-1] == eos", "eos in held[0][0]")}

extended-until-all-end: You extend a hypothesis after `<eos>`, until all of them end with it at once. Keep a hypothesis
that has ended as it is.
{_extended("all(t[-1] == eos for t, _ in held)")}

first-that-ends: You stopped when the first hypothesis had ended. An open one may become the better text: continue until
all kept hypotheses have ended.
- [:beam]
+ [:beam]
+     if any(tokens[-1] == eos for tokens, _ in held):
+         return next(hypothesis for hypothesis in held if hypothesis[0][-1] == eos)
or
- [:beam]
+ [:beam]
+     if any(tokens[-1] == eos for tokens, _ in held):
+         break

enough-have-ended: You stopped when as many texts had ended as the beam is wide. An open one may be more probable than
all of them: continue until all *kept* hypotheses have ended.
after: ended-set-aside
- grown if hypothesis[0][-1] == eos → grown[:beam] if hypothesis[0][-1] == eos
- != eos][:beam]
+ != eos][:beam]
+     if len(aside) >= beam:
+         break
or
after: enough-have-ended
- [*aside, *held] → aside or held

ended-set-aside: You set every ended text aside, where it takes up no slot in the beam and can never lose it. By rule 3
it competes with the others: it stays only while it is among the `beam` best, at its own step and later.
^ aside = []
- held = sorted(grown, key=lambda hypothesis: -hypothesis[1])[:beam]
+ grown.sort(key=lambda hypothesis: -hypothesis[1])
+     aside += [hypothesis for hypothesis in grown if hypothesis[0][-1] == eos]
+     held = [hypothesis for hypothesis in grown if hypothesis[0][-1] != eos][:beam]
- held[0] → max([*aside, *held], key=lambda hypothesis: hypothesis[1])
or
after: ended-set-aside
- [*aside, *held] → aside or held
or
after: ended-set-aside
- grown if hypothesis[0][-1] == eos → grown[:beam] if hypothesis[0][-1] == eos

ended-preferred: At the end you prefer a text that has ended to one that was cut off. By rule 4 the answer is the best
of all that are kept, ended or not.
- held[0] → max(held, key=lambda hypothesis: (hypothesis[0][-1] == eos, hypothesis[1]))

probabilities-added: You added probabilities, so longer is always better. Add their logarithms: that multiplies the
probabilities.
- score + new → score + math.exp(new)

last-word-alone: You score a hypothesis by its last word and forget the words before it. Add the word's log-probability
to the previous score.
- score + new → new

best-per-word: You divided by the number of words before you compared. That is the next question; here you compare plain
log-probabilities, so a short text may well win.
- held[0] → max(held, key=lambda hypothesis: hypothesis[1] / len(hypothesis[0]))
or
- -hypothesis[1] → -hypothesis[1] / len(hypothesis[0])

longest-chosen: Your answer is the longest of the texts that a beam keeps. The best one is the most probable, long or
short; one that has ended keeps its score to the end.
- held[0] → max(held, key=lambda hypothesis: len(hypothesis[0]))

one-child-each: After the first step you extend each hypothesis only by its best word: several greedy searches in
parallel. Keep the `beam` best of *all* extensions of all hypotheses; two of them may have the same parent.
+ held = []
+ for score, word in zip(*(found.tolist() for found in log_probs[start].topk(min(beam, len(log_probs))))):
+     tokens = [word]
+     while tokens[-1] != eos and len(tokens) < longest:
+         tokens.append(int(log_probs[tokens[-1]].argmax()))
+         score += float(log_probs[tokens[-2], tokens[-1]])
+     held.append((tokens, score))
+ return max(held, key=lambda hypothesis: hypothesis[1])

beam-of-one: You keep only one hypothesis, whatever `beam` is: that is greedy search. Keep the `beam` best of *all*
extensions of all hypotheses.
^ beam = 1

nothing-dropped: You found the best of all texts, which a beam of this width misses: it seems that you never drop a
hypothesis. After every step keep only the `beam` best. That makes the search fast, and fallible.
- sorted(grown, key=lambda hypothesis: -hypothesis[1])[:beam]
+ list({{found[0][-1]: found for found in sorted(grown, key=lambda hypothesis: hypothesis[1])}}.values())
- held[0] → max(held, key=lambda hypothesis: hypothesis[1])

start-included: You included the start in your list. It was given; return only the tokens that the model adds to it.
- held[0] → [start, *held[0][0]], held[0][1]

probability-returned: You return the probability of your text. Return its logarithm, the sum that you have kept.
- held[0] → held[0][0], math.exp(held[0][1])
""",
)
