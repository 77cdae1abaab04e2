"""Assignment "decoding": greedy search, two filters, a beam, and the effect of length.

The functions differ in form from `nlmcore.decoding`, which asks a model and carries its state: here a model is a table
of log-probabilities, one row per previous word, and every step is a function of tensors.
"""

import functools
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor

from autograder.question.declare import any_order, exercises_in, judged, question, shapes, values
from autograder.question.draw import Draw
from autograder.question.judges import same_values
from autograder.question.kinds import EQUAL
from autograder.question.laws.decoding import same_path, scores_its_own_path
from autograder.question.sized import at, largest, these
from autograder.question.special import at_points, experiment, formula, wrong_line
from autograder.question.specification import Both, Case, case

CLOSED = ("nlmcore.decoding", "transformers")
ask = functools.partial(question, closed=CLOSED)
Arguments = tuple[Any, ...]
path = same_path("the tokens")

# --- 1. greedy search, and two filters ---------------------------------------------------------------------------


def random_model(draw: Draw) -> tuple[Tensor, int, int]:
    """ln P(next | previous), (previous, next), of a random bigram model; a start, and a different word as eos."""
    size = draw.largest + 2
    eos = draw.integer(0, size - 1)
    start = (eos + draw.integer(1, size - 1)) % size
    return torch.log_softmax((draw.normal(size, size) * 1.5).double(), -1).float(), start, eos


def greedily(draw: Draw, least: int, most: int, longest: int, ends: bool, comes_again: bool = False) -> Arguments:
    """A model whose greedy path has `least` to `most` tokens; eos is the last of them or does not occur."""
    while True:
        table, start, eos = random_model(draw)
        found = GREEDY.reference(table, start, eos, longest)
        if found[0] == start:  # then a list that begins with it looks like one that is too long
            continue
        right_length, right_end = least <= len(found) <= most, (found[-1] == eos) == ends
        if right_length and right_end and (start in found or not comes_again):
            return table, start, eos, longest


few_words = these(
    at("a few words", least=3, most=7, longest=10, ends=True),
    at("a few words once more", least=2, most=5, longest=10, ends=True),
)


def cut(draw: Draw) -> Arguments:
    """One word less is allowed than the text has."""
    *given, _ = greedily(draw, 3, 6, 10, True)
    return *given, len(GREEDY.reference(*given, 10)) - 1


endless = these(
    at("words in a circle", least=6, most=6, longest=6, ends=False, comes_again=True),
    at("cut off before its last word", cut),
)
one = these(
    at("it ends immediately", least=1, most=1, longest=6, ends=True),
    at("one token is allowed", least=1, most=1, longest=1, ends=False),
)
GREEDY = ask(
    "decoding.greedy",
    returns=("tokens",),
    inputs=greedily,
    properties=[
        judged("a text that ends by itself", 1.5, few_words, path),
        judged("a text that does not end", 1, endless, path),
        judged("one token", 0.5, one, path),
    ],
    mistakes="""
never-stops: You keep generating after `<eos>`. The text ends there: nothing follows it.
- and last != eos →
one-too-many: Your text that does not end by itself has one word too many. Return at most `longest` words, not counting
the start.
- < longest → <= longest
eos-left-out: You left `<eos>` out of your tokens. It is predicted like every other word, and the caller needs it to see
whether the text ended or was cut off.
- return tokens → return [token for token in tokens if token != eos]
first-word-not-looked-at: If the first word is `<eos>`, you keep generating. Check every word before you generate the
next one, the first word included.
- last != eos → (len(tokens) < 2 or last != eos)
start-included: You included the start in your list. It was given; return only the tokens that the model adds to it.
- return tokens → return [start, *tokens]
always-after-the-start: You chose all words by what may follow the *start*. After each word the context is that word:
look up its row.
+ order = log_probs[start].argsort(descending=True).tolist()[:longest]
+ return order[: order.index(eos) + 1] if eos in order else order
or
- log_probs[last] → log_probs[start]
column-for-row: You used the column. Row a holds the log-probabilities of what follows a.
- log_probs[last] → log_probs[:, last]
end-not-counted: You allow one word more if it is `<eos>`. It counts like every other word.
- while len(tokens) < longest and last != eos:
+ while last != eos and (len(tokens) < longest or int(log_probs[last].argmax()) == eos):
one-too-few: Your text that does not end by itself has one word too few. The start does not count.
- < longest → < longest - 1
least-probable: You choose the least probable word.
- argmax → argmin
stops-at-a-repetition: You stop when a word comes again. Only `<eos>` and `longest` end a text.
- and last != eos: → and last != eos and last not in tokens[:-1]:
end-added: You add `<eos>` to a text that was cut off. The caller would take it for one that ended.
- return tokens → return tokens if tokens and tokens[-1] == eos else [*tokens, eos]
""",
)


def different_logits(draw: Draw) -> Tensor:
    """Logits with no two alike."""
    size = draw.largest + 2
    return draw.normal(size) + torch.arange(size)[draw.integers(0, 10**9, size).argsort()] * 0.3


def k_words(draw: Draw, k: int, temperature: float = 1.0, higher: float = 0.0) -> Arguments:
    return different_logits(draw) + higher, k, temperature


several = these(at("three words are kept", k=3), at("two words", k=2))
temperatures = these(at("a low temperature", k=4, temperature=0.5), at("a high temperature", k=4, temperature=2.0))
extremes = these(
    at("one word is kept", k=1, temperature=0.7),
    at("all words are kept", lambda draw: k_words(draw, draw.largest + 2, 1.5)),
    at("k above the vocabulary size", lambda draw: k_words(draw, draw.largest + 7, 0.8)),
    at("logits above a hundred", k=3, higher=150.0),
    at("logits below minus a hundred", k=3, higher=-150.0),
)
TOP_K = ask(
    "decoding.top_k",
    returns=("probabilities",),
    inputs=k_words,
    properties=[
        shapes(0.25, several, "one probability per word"),
        any_order("k probabilities that are right, in any order", 0.75, several),
        values("each of the k words has its own", 0.5, several),
        values("temperatures", 1, temperatures),
        values("one word, all, large logits", 0.5, extremes),
    ],
    mistakes="""
not-shared-out: Your probabilities sum to less than 1 because you did not redistribute those of the dropped words. Take
the softmax of the kept logits, or divide by the sum.
- torch.softmax(logits.masked_fill(logits < least, -math.inf) / temperature, dim=-1)
+ torch.softmax(logits / temperature, dim=-1).masked_fill(logits < least, 0.0)
zero-for-minus-infinity: You set the logits of the dropped words to 0, and e⁰ is 1: they keep some probability, some of
them more than before. −∞ gives them none.
- -math.inf → 0.0
temperature-multiplied: You multiplied by the temperature. A high temperature should make the probabilities more alike:
divide the logits by it.
- / temperature → * temperature
temperature-after-softmax: You divided the *probabilities* by the temperature. Then they do not sum to 1, and dividing
by their sum undoes it. Divide the logits, before the softmax.
- / temperature, dim=-1) → , dim=-1) / temperature
temperature-without-effect: Your temperature changes nothing. Divide the *logits* by it, before the softmax; if you
divide probabilities and then make them sum to 1, it cancels.
- / temperature →
one-too-many: You kept one word too many. Keep exactly k.
- min(k, → min(k + 1,
sorted-by-size: The probabilities are right, but you return them sorted by size. Entry w belongs to word w: put them
back in the order of the words.
- dim=-1) → dim=-1).sort(descending=True).values
exponential-overflows: With large logits you return NaN: in float32, e to the power of more than 88 is infinite, and ∞ /
∞ is undefined. Subtract the largest logit first, which changes no probability, or use `torch.softmax`.
- return torch.softmax(logits.masked_fill(logits < least, -math.inf) / temperature, dim=-1)
+ weights = (logits.masked_fill(logits < least, -math.inf) / temperature).exp()
+ return weights / weights.sum()
or
- return torch.softmax(logits.masked_fill(logits < least, -math.inf) / temperature, dim=-1)
+ weights = (logits / temperature).exp()
+ kept = torch.where(logits < least, 0.0, weights / weights.sum())
+ return kept / kept.sum()
kept-words-only: You return the k kept words only. Every word has an entry; that of a dropped one is 0.
- torch.softmax(logits.masked_fill(logits < least, -math.inf) / temperature, dim=-1)
+ torch.softmax(logits.topk(min(k, len(logits))).values / temperature, dim=-1)
one-too-few: You keep one word too few. The smallest of the k largest logits is kept as well.
- logits < least → logits <= least
least-probable-kept: You keep the k *least* probable words.
- topk(min(k, len(logits))) → topk(min(k, len(logits)), largest=False)
or
- topk(min(k, len(logits))) → topk(min(k, len(logits)), largest=False)
- logits < least → logits > least
equal-shares: All kept words get the same. They share by the exponentials of their logits.
- torch.softmax(logits.masked_fill(logits < least, -math.inf) / temperature, dim=-1)
+ (logits >= least) / (logits >= least).sum()
logarithms-returned: You return logarithms of probabilities.
- torch.softmax → torch.log_softmax
""",
)


def sampled(draw: Draw, p: float, higher: float = 0.0) -> Arguments:
    """Logits whose cumulative sums all stay away from p; p cuts off between 1 and size − 2 words."""
    while True:
        logits = different_logits(draw)
        sums = torch.softmax(logits.double(), -1).sort(descending=True).values.cumsum(0)
        if (sums - p).abs().min() > 0.02 and 1 <= int((sums < p).sum()) <= len(logits) - 3:
            return logits + higher, p


def sharp(draw: Draw) -> Arguments:
    logits = different_logits(draw)
    logits[draw.integer(0, len(logits) - 1)] = logits.max() + 4
    return logits, 0.5


usual = these(at("p = 0.9", p=0.9), at("p = 0.7", p=0.7))
limits = these(
    at("p = 1", lambda draw: (different_logits(draw), 1.0)),
    at("a very small p", lambda draw: (different_logits(draw), 0.01)),
    at("logits above a hundred", p=0.8, higher=150.0),
    at("logits below minus a hundred", p=0.8, higher=-150.0),
)
NUCLEUS = ask(
    "decoding.nucleus",
    returns=("probabilities",),
    inputs=sampled,
    properties=[
        shapes(0.25, usual, "one probability per word"),
        any_order("typical p: the probabilities, in any order", 1, usual),
        values("typical p: each word has its own", 1, usual),
        values("one word has more than p", 1, at("one word has more than p", sharp)),
        values("p = 1, tiny p, large logits", 0.75, limits),
    ],
    mistakes="""
crossing-word-dropped: You dropped the word with which the sum reaches p. It belongs to the nucleus: the smallest set
whose sum is *at least* p. (If a single word has more than p, your rule keeps nothing.)
- before < p → before + values <= p
- kept / kept.sum() → kept / kept.sum() if kept.any() else kept
or
- before < p → (before + values <= p) | (before == 0)
one-too-many: You also kept the word *after* the sum had reached p. The set should be as small as possible.
- before < p → torch.cat([torch.tensor([True]), before[:-1] < p])
not-shared-out: Your probabilities sum to less than 1 because you did not redistribute those of the dropped words.
Divide by the sum.
- kept / kept.sum() → kept
zero-for-minus-infinity: You set the logits of the dropped words to 0, and e⁰ is 1: they keep some probability. −∞ gives
them none.
- kept / kept.sum() → torch.softmax(torch.where(kept > 0, logits, 0.0), dim=-1)
softmax-twice: You took the softmax of *probabilities*, which makes them nearly equal. Divide what is kept by its sum; a
softmax is for logits.
- kept / kept.sum() → torch.softmax(torch.where(kept > 0, kept, -math.inf), dim=-1)
sorted-by-size: The probabilities are right, but you return them sorted by size. Entry w belongs to word w: put them
back in the order of the words.
- kept / kept.sum() → (kept / kept.sum()).sort(descending=True).values
wrong-way-back: The probabilities are right, but in the wrong order: `sorted[order]` permutes once more. To undo the
sorting, assign: `out[order] = sorted`.
- kept[order] = torch.where(before < p, values, 0.0) → kept = torch.where(before < p, values, 0.0)[order]
least-probable-first: You collected the words from the least probable up. Start with the most probable one.
- before < p → before + values > 1 - p
each-for-itself: You compared each word's own probability with a bound. Compare the running *sum*, from the most
probable word down, with p. (A bound on each word is another method: min-p.)
- before < p → values >= 1 - p
- kept / kept.sum() → kept / kept.sum() if kept.any() else kept
or
- before < p → (values >= p) | (before == 0)
or
- before < p → values >= p
- kept / kept.sum() → kept / kept.sum() if kept.any() else kept
exponential-overflows: With large logits you return NaN: in float32, e to the power of more than 88 is infinite, and ∞ /
∞ is undefined. Subtract the largest logit first, which changes no probability, or use `torch.softmax`.
- torch.softmax(logits, dim=-1) → logits.exp() / logits.exp().sum()
logits-added-up: You added up logits. Add up probabilities.
- values.cumsum(0) - values → logits.sort(descending=True).values.cumsum(0) - logits.sort(descending=True).values
equal-shares: All kept words get the same. They share by their probabilities.
- return kept / kept.sum() → return (kept > 0) / (kept > 0).sum()
""",
)

# --- 2. one step of a beam, the whole search, and the effect of length -------------------------------------------


def beams(draw: Draw, open_: int, beam: int, size: int = 0) -> Arguments:
    """A step in which the best extensions come from more than one hypothesis, and one hypothesis has two of them."""
    while True:
        scores = -draw.normal(open_).abs().sort().values - 0.5
        log_probs = torch.log_softmax(draw.normal(open_, size or draw.largest + 2).double(), -1).float()
        _, parents, _ = BEAM_STEP.reference(scores, log_probs, beam)
        if open_ == 1 or 1 < len(set(parents.tolist())) < beam:
            return scores, log_probs, beam


usual = these(at("three hypotheses", open_=3, beam=3), at("four", open_=4, beam=4))
first = these(at("the first step: one hypothesis", open_=1, beam=3), at(EQUAL, open_=4, beam=4, size=4))
BEAM_STEP = ask(
    "decoding.beam_step",
    returns=("scores", "parents", "tokens"),
    inputs=beams,
    properties=[
        shapes(0.25, usual, "three lists of the beam's size"),
        any_order("the scores, in any order", 0.75, usual, "scores"),
        values("the scores, best first", 0.5, usual, "scores"),
        any_order("the parents and the words, in any order", 1, usual, "parents", "tokens"),
        values("the parents and the words of each", 1, usual, "parents", "tokens"),
        values("the first step", 0.5, first),
    ],
    mistakes="""
scores-forgotten: You compared only the new words. A hypothesis already has a score: add it to the log-probability of
the word.
- scores[:, None] + log_probs → log_probs
probabilities-added: You added probabilities. The probabilities of consecutive words are *multiplied*, which is why you
add logarithms: you need no exponential.
- scores[:, None] + log_probs → scores[:, None].exp() + log_probs.exp()
logarithms-multiplied: You multiplied logarithms. Multiplying probabilities means *adding* their logarithms: score + log
P.
- scores[:, None] + log_probs → scores[:, None] * log_probs
row-and-column-exchanged: You mixed up parents and words. In the flattened table the index is parent · vocabulary +
word: the parent is index // vocabulary, the word is index % vocabulary.
- places // log_probs.shape[1], places % log_probs.shape[1] → places % log_probs.shape[1], places // log_probs.shape[1]
or
* log_probs.shape[1] → len(scores)
one-child-each: You took the best word of each hypothesis. Return the `beam` best of *all* extensions of all hypotheses;
two of them may have the same parent.
+ best, tokens = (scores[:, None] + log_probs).max(1)
+ best, parents = best.topk(min(beam, len(best)))
+ return best, parents, tokens[parents]
worst-first: The extensions are right but in the wrong order: put the best one first.
- every.reshape(-1).topk(beam) → (found.flip(0) for found in every.reshape(-1).topk(beam))
probabilities-returned: The extensions are right, but you return probabilities as scores. Scores are logarithms, on
input and output: after a few dozen words a probability is too small to distinguish from 0.
- return best → return best.exp()
worst-kept: You keep the worst extensions.
- topk(beam) → topk(beam, largest=False)
index-for-word: Your words are places in the flattened table. A word is place % vocabulary.
- places % log_probs.shape[1] → places
old-score-left-out: You choose well, but return the log-probabilities of the new words. A score is that of all words.
- return best, → return log_probs.reshape(-1)[places],
columns-first: You flattened the table column by column, and read the places row by row.
- every.reshape(-1) → every.T.reshape(-1)
scores-along-the-words: You add the scores along the words. Each row of the table has one score, that of its hypothesis.
- scores[:, None] + log_probs
+ scores + log_probs if len(scores) == log_probs.shape[1] else scores[:, None] + log_probs
""",
)

Rows = dict[int, dict[int, float]]
"""last -> {next: probability}."""


def model_of(draw: Draw, rows: Rows) -> Tensor:
    """A nearly uniform model except in `rows`, where each is a little more or less."""
    table = torch.log_softmax(draw.normal(draw.largest + 2, draw.largest + 2).double() * 0.2, -1).exp()
    for last, wanted in rows.items():
        table[last, list(wanted)] = 0.0
        table[last] *= (1 - sum(wanted.values())) / table[last].sum()
        for word, share in wanted.items():
            table[last, word] = share + draw.integer(0, 20) / 1000
    return (table / table.sum(-1, keepdim=True)).log().float()


def words(draw: Draw, count: int) -> list[int]:
    """`count` different words of the vocabulary."""
    return [int(word) for word in draw.integers(0, 10**9, draw.largest + 2).argsort()[:count]]


def garden_path(draw: Draw, beam: int, chain: int, longest: int) -> Arguments:
    """A model whose most probable first word leads nowhere in particular, and whose second best begins the best text.

    After it come `chain` words, each very probable after the previous one; the first of them may also be the last.
    """
    start, eos, tempting, *good = words(draw, chain + 3)
    rows: Rows = {last: {word: 0.88} for last, word in pairwise([*good, eos])}
    rows |= {start: {tempting: 0.45, good[0]: 0.38, eos: 0.01}, good[0]: {good[1]: 0.58, eos: 0.32}}
    return model_of(draw, rows), start, eos, beam, longest


def crowded(draw: Draw) -> Arguments:
    """The best text is the second child of a first word."""
    while True:
        start, eos = words(draw, 2)
        table = torch.log_softmax(draw.normal(draw.largest + 2, draw.largest + 2).double() * 1.5, -1).float()
        best, score = BEAM_SEARCH.reference(table, start, eos, 3, 5)
        if len(best) > 1 and score > BEAM_SEARCH.mistake("one-child-each")(table, start, eos, 3, 5)[1] + 0.01:
            return table, start, eos, 3, 5


wide = these(
    at("two children of one hypothesis", crowded),
    at("two hypotheses", garden_path, beam=2, chain=2, longest=5),
    at("three hypotheses", garden_path, beam=3, chain=3, longest=6),
)


def ended(draw: Draw) -> list[Case]:
    def made(label: str, longest: int, rows: Rows) -> Case:
        return case(label, model_of(draw, rows), start, eos, 2, longest)

    start, eos, *long = words(draw, 6)  # the empty text is the best, and a long one is better per word
    rows: Rows = {last: {word: 0.86} for last, word in pairwise([*long, eos])} | {start: {long[0]: 0.4, eos: 0.34}}
    cases = [made("a short text is the best", 5, rows)]

    # the empty text would be the best, but two others are better at first, and there is no room for a third
    start, eos, one, one_more, two, two_more = words(draw, 6)
    rows = {start: {one: 0.34, two: 0.28, eos: 0.2}, one: {one_more: 0.5}, two: {two_more: 0.4}}
    rows |= {one_more: {eos: 0.8}, two_more: {eos: 0.8}}
    cases.append(made("an ended text is pushed out", 4, rows))

    # the empty text is kept at first, and pushed out one step later by two others, which end less probable
    start, eos, one, two, three = words(draw, 5)
    rows = {start: {one: 0.66, eos: 0.22}, one: {two: 0.47, three: 0.47}, two: {eos: 0.5}, three: {eos: 0.42}}
    cases.append(made("an ended text is pushed out later", 4, rows))

    start, eos, one, two = words(draw, 4)  # two texts, as many as the beam is wide, have ended before the best does
    rows = {start: {one: 0.5, eos: 0.3}, one: {two: 0.8, eos: 0.12}, two: {eos: 0.9}}
    cases.append(made("the best text ends last", 4, rows))

    start, eos, one, one_more, two = words(draw, 5)  # the better text is the shorter one, also per word
    rows = {start: {one: 0.45, two: 0.38, eos: 0.01}, one: {one_more: 0.35}, one_more: {eos: 0.5}, two: {eos: 0.8}}
    return [*cases, made("the best text ends first", 4, rows)]


def narrow(draw: Draw) -> Arguments:
    """Greedy search ends, and misses the best text."""
    while True:
        table, start, eos = random_model(draw)
        found = GREEDY.reference(table, start, eos, 6)
        best = BEAM_SEARCH.mistake("nothing-dropped")(table, start, eos, 1, 6)[0]
        if 2 <= len(found) < 6 and best != found:
            return table, start, eos, 1, 6


def extended(*stops: str) -> str:
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

cut_off = at("cut off before it ends", garden_path, beam=2, chain=3, longest=3)
BEAM_SEARCH = ask(
    "decoding.beam_search",
    returns=("tokens", "log_prob"),
    properties=[
        judged("one hypothesis is greedy", 1, at("one hypothesis: greedy", narrow), path),
        judged("the log-probability of your own tokens", 1, Both((wide, ended)), scores_its_own_path),
        judged("better than greedy", 2, wide, path, "tokens"),
        judged("texts that have ended, among others", 1, ended, path, "tokens"),
        judged("cut off before it ends", 1, cut_off, path, "tokens"),
    ],
    mistakes=f"""
finished-dropped: You drop a hypothesis once it has ended with `<eos>`. It stays in the beam with its score and competes
with the open ones.
- grown.append((tokens, score)) → pass
- [:beam] → [:beam] or held
past-the-end: You extend a hypothesis after `<eos>`. Keep a hypothesis that has ended as it is.
^ eos = -1
or
{extended("False")}
extended-until-the-best-ends: You extend a hypothesis after `<eos>`, until the best one ends with it. Keep a hypothesis
that has ended as it is, and continue until all kept ones have ended.
{extended("held[0][0][-1] == eos", "eos in held[0][0]")}
extended-until-all-end: You extend a hypothesis after `<eos>`, until all of them end with it at once. Keep a hypothesis
that has ended as it is.
{extended("all(t[-1] == eos for t, _ in held)")}
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
score-per-word: You return the log-probability per word. That of the whole text is asked.
- return held[0] → return held[0][0], held[0][1] / len(held[0][0])
end-left-out: You left `<eos>` out of your tokens. It is a word of the text.
- return held[0] → return [token for token in held[0][0] if token != eos], held[0][1]
always-after-the-start: You extend every hypothesis by what may follow the *start*. Look up its last word's row.
- log_probs[tokens[-1] if tokens else start] → log_probs[start]
one-step-too-many: You make one step too many: at most `longest` words.
- range(longest) → range(longest + 1)
""",
)


def choices(draw: Draw, penalty: float) -> Arguments:
    """Hypotheses for which the penalty changes the winner; neither winner is the shortest or the worst, nor the least
    probable."""
    while True:
        number = draw.largest + 1
        lengths = draw.integers(1, 12, number)
        log_probs = -(lengths * 0.8 + draw.normal(number).abs() * 2 + 0.5).float()
        scores, best = LENGTH_PENALTY.reference(log_probs, lengths, penalty)
        gap, first = scores.sort(descending=True).values, int(log_probs.argmax())
        others = {int(best), int(scores.argmin()), int(lengths.argmin())}
        improbable = int(best) == int(log_probs.argmin())
        if first not in others and len(others) == 3 and not improbable and float(gap[0] - gap[1]) > 0.01:
            return log_probs, lengths, penalty


mean = at("a mean per word", penalty=1.0)
no_penalty = at(
    "no penalty", lambda draw, n: (-draw.normal(n + 1).abs() - 1, draw.integers(1, 9, n + 1), 0.0), n=largest()
)
between = these(at("a penalty of 0.6", penalty=0.6), at("a penalty of 0.8", penalty=0.8))
LENGTH_PENALTY = ask(
    "decoding.length_penalty",
    returns=("scores", "best"),
    inputs=choices,
    properties=[
        values("the scores: a mean per word", 0.5, mean, "scores"),
        values("the scores for other penalties", 0.75, between, "scores"),
        judged("the best hypothesis", 0.5, Both((mean, between)), same_values(("scores", "best"), (1,))),
        values("no penalty", 0.25, no_penalty),
    ],
    mistakes="""
multiplied: You multiplied by the length. Log-probabilities are negative, so that makes long texts even worse. Divide.
- / → *
penalty-as-a-factor: You divided by penalty · length. The penalty is an *exponent*: length ** penalty, so that 0 means
no penalty and 1 a mean per word.
- lengths**penalty → (lengths * penalty if penalty else 1)
smallest-score: The scores are right, but you chose the smallest. All are negative, and the best is the one nearest to
0: the largest.
- argmax → argmin
chosen-without-the-penalty: The scores are right, but you chose by the unpenalised log-probabilities. The best
hypothesis is the one with the largest *score*.
- scores.argmax() → log_probs.argmax()
score-for-its-number: The scores are right, but you return the best score itself. Return its *index*: `argmax`, not
`max`.
- argmax → max
penalty-ignored: You always take the mean per word. Raise the length to the power of the penalty first.
- **penalty →
another-papers-penalty: You divided by ((5 + n) / 6)^α, which is the penalty of Wu et al. (2016). In this question it is
n^α.
- lengths**penalty → ((5 + lengths) / 6) ** penalty
end-not-counted: You count one word less: `<eos>` is one of the n words.
- lengths**penalty → (lengths - 1).clamp(min=1) ** penalty
penalty-to-the-length: You raised the penalty to the power of the length. It is the other way round.
- lengths**penalty → penalty**lengths
power-of-the-quotient: You raised the whole quotient to the power. Only the length is.
- log_probs / lengths**penalty → -((-log_probs / lengths) ** penalty)
subtracted: You subtract penalty · length. Divide by a power of the length.
- log_probs / lengths**penalty → log_probs - penalty * lengths
""",
)

# --- 3. the length penalty at which two texts tie, derived on paper ----------------------------------------------

points = at_points(L=(-9.0, -4.0), n=(7, 15), K=(-3.0, -0.5), m=(2, 5), alpha=(0.2, 1.8))
turned = at_points(
    "the longer text is more probable", L=(-3.0, -0.5), n=(7, 15), K=(-9.0, -4.0), m=(2, 5), alpha=(0.2, 1.8)
)
TIE = question(
    "decoding.tie",
    returns=("slope", "tie"),
    numpy=True,
    properties=[
        formula("the slope of the score", 1, points, "slope"),
        formula("the penalty of the tie", 1, Both((points, turned)), "tie"),
    ],
    mistakes="""
quotient-upside-down: Your second result is 1/α. From ln (L / K) = α ln (n / m), divide by the logarithm of the lengths.
- math.log(L / K) / math.log(n / m) → math.log(n / m) / math.log(L / K)
power-rule: You differentiated n^−α as if n were the variable. Here α is: the derivative of e^(−α ln n) has the factor
−ln n.
- -math.log(n) * L / n**alpha → -alpha * L / n ** (alpha + 1)
minus-lost: The minus sign of the exponent is lost. A log-probability is negative, and dividing it by more makes it
larger, so the score grows with α.
- -math.log(n) → math.log(n)
logarithm-lost: The factor ln n is lost: the inner derivative of e^(−α ln n).
- -math.log(n) * L → -L
ratio-of-one-turned: You turned one of the two fractions over, so your α has the wrong sign. Write L above K
and n above m, or both the other way round.
- math.log(n / m) → math.log(m / n)
logarithms-forgotten: At the tie L/K = (n/m)^α. α is an exponent: take logarithms on both sides.
- math.log(L / K) / math.log(n / m) → (L / K) / (n / m)
difference-for-ratio: You divided the difference of the log-probabilities by that of the logarithms of the lengths. The
scores are quotients: their ratio is 1 at the tie.
- math.log(L / K) / math.log(n / m) → (L - K) / math.log(n / m)
score-for-slope: Your first result is the score itself. Return its derivative.
- -math.log(n) * L / n**alpha → L / n**alpha
another-logarithm: Your logarithm has another base. The derivative of n^−α has the natural one.
- -math.log(n) → -math.log10(n)
or
- -math.log(n) → -math.log2(n)
log-probability-lost: The factor L is lost from the slope.
- -math.log(n) * L → -math.log(n)
power-turned: Your slope multiplies by n^α. The score divides by it, and so does its slope.
- / n**alpha → * n**alpha
lengths-subtracted: Divide by the logarithm of n / m, not by the difference of the lengths.
- math.log(n / m) → (n - m)
logarithms-divided: You divide ln n by ln m. The logarithm of n / m is their *difference*.
- math.log(n / m) → (math.log(n) / math.log(m) if m > 1 else 1.0)
""",
)

# --- 4. the wrong line of a friend's repetition penalty ----------------------------------------------------------


def used(draw: Draw, high: bool) -> Arguments:
    """Words that were used once, twice and three times; with `high`, all logits are above 0."""
    size = max(12, draw.largest + 3)
    logits = draw.normal(size).abs()
    logits = logits + 0.5 if high else logits * torch.where(torch.arange(size) % 2 > 0, 1, -3)
    one, two, three = draw.integers(0, 10**9, size - 1).argsort()[:3].tolist()
    four = size - 1  # an id of several digits
    return logits, [one, two, three, two, four, three, four, three], draw.integer(12, 30) / 10


WITHOUT_REPEATING = ask(
    "decoding.without_repeating",
    returns=("new",),
    inputs=used,
    properties=[
        values("logits above 0", 1, at("logits above 0", high=True)),
        values("logits of both signs", 1, at("logits of both signs", high=False)),
    ],
    planted="- set(used) → used",
    mistakes="""
always-divided: You divide negative logits as well, which makes them larger: those words become *more* probable.
- lower = score * penalty → lower = score / penalty
always-multiplied: You multiply positive logits as well, which makes those words more probable.
- lower = score / penalty → lower = score * penalty
signs-swapped: You multiply logits above 0 and divide the others. It should be the other way round.
- score > 0 → score <= 0
last-word-only: You penalise only the last word that was used. All of them should become less probable.
- set(used) → used[-1:]
logits-overwritten: The result is right, but you changed the caller's logits, which are needed again. Work on a copy.
- logits = logits.clone() → pass
subtracted: You subtract the penalty. It should divide a logit above 0, and multiply any other.
- lower = score * penalty → lower = score - penalty
- lower = score / penalty → lower = score - penalty
all-words: You make every word less probable. Only those that were used are concerned.
- set(used) → range(len(logits))
only-repeated: You change only words that were used more than once. Once is enough.
- set(used) → {word for word in used if used.count(word) > 1}
""",
)

WRONG_LINE = wrong_line(
    "decoding.wrong_line",
    WITHOUT_REPEATING,
    mistakes="""
copy-suspected: Line {clone} is right: the caller's logits stay as they are.
score-suspected: Line {score = } is right: it reads the logit of the word, and should find it as the model
gave it. Who changed it before?
negative-suspected: Line {score * penalty} is right: a negative logit times the penalty is lower.
sign-suspected: Line {score > 0} is right: only a logit above 0 gets lower by a division. For 0 nothing changes.
symptom-not-cause: Line {logits[word] = } writes wrong values, but each is right for the value it started from.
Why is it run so often?
""",
)

# --- 5. what does a wider beam find? -----------------------------------------------------------------------------

WIDER = experiment(
    "decoding.wider",
    table="found",
    points=(0.25, 1.75, 2),
    rows="the numbers of every seed",
    claims=["0 < 1, 2 < 3", "0 < 1, 3 < 2", "0 < 1, 2 ~ 3", "0 ~ 1"],
    closed=CLOSED,
    mistakes="""
one-seed-repeated: Every row is the same: you used the same seed each time. Use `seed`, which differs from row to row.
- models(seed) → models(seeds[0])
longest-for-length: You divided by the largest length allowed. Divide by the number of words that were found, which
differs from text to text.
- log_prob / len(tokens) → log_prob / 10
sum-of-words: You divided the sum of the log-probabilities by the number of all words. That gives long texts more
weight; here every text counts the same.
- sum(log_prob / len(tokens) for tokens, log_prob in searched) / 10 → whole[-1] * 10 / sum(len(t) for t, _ in searched)
eos-not-counted: You did not count `eos` as a word. It is predicted like every other, and belongs to the length.
- len(tokens) for → max(1, len(tokens) - (tokens[-1] == 0)) for
one-table: You searched the first table only. Take the mean over all ten.
- in models(seed)] → in models(seed)[:1]] * 10
best-seed-picked: You return the best numbers over all seeds, in every row. A result that may choose its seed looks
better than it is: keep the numbers of every seed.
- conclusion = 2 → found = torch.tensor(found).amax(0).expand(len(seeds), 4); conclusion = 2
wider-is-better: Per word your own numbers say the opposite: for every seed the texts of the wide beam have the lower
log-probability per word. They are more probable as a whole because they are short.
- conclusion = 2 → conclusion = 1
undecided-although-all-agree: Per word your own numbers decide it: the difference has the same sign for every seed, and
chance does not explain it.
- conclusion = 2 → conclusion = 3
search-doubted: Your own numbers decide it: for every seed the wide beam finds the higher log-probability.
- conclusion = 2 → conclusion = 4
another-beam: Your wide beam is not 8.
- (1, 8) → (1, 10)
or
- (1, 8) → (1, 4)
sum-over-tables: You add up over the ten tables. Take the mean.
- sum(log_prob for _, log_prob in searched) / 10 → sum(log_prob for _, log_prob in searched)
or
- sum(log_prob for _, log_prob in searched) / 10 → sum(log_prob for _, log_prob in searched)
- in searched) / 10) → in searched))
start-and-end-swapped: You swapped start and `eos`: every text starts after word 1, and `eos` is word 0.
- table, 1, 0, → table, 0, 1,
another-length: Your texts may have at most ten words.
- beam, 10) → beam, 8)
columns-in-another-order: Your columns are in another order: first both log-probabilities, then both per word.
- [*whole, *per_word] → [whole[0], per_word[0], whole[1], per_word[1]]
start-counted: You count the start as a word. It was given.
- len(tokens) for → (len(tokens) + 1) for
""",
)

EXERCISES = exercises_in(__name__)
