"""Assignment "ngrams": counts, probabilities, three ways of smoothing, and perplexity.

The functions differ in form from `nlmcore.ngram`, which works on sorted n-grams of any order: here sentences are lists
of ids, bigrams are one table, and contexts come one at a time.
"""

import functools
import re
from collections import Counter
from typing import Any

import torch
from torch import Tensor

from autograder.question.declare import exercises_in, holds, judged, question, shapes, values
from autograder.question.draw import Draw
from autograder.question.judges import and_inputs_unchanged
from autograder.question.kinds import DIGITS
from autograder.question.laws.ngrams import (
    exponential_of_the_mean,
    right_where_known,
    shares_out_what_discounting_frees,
    uniform_where_known,
)
from autograder.question.sized import MAIN, at, these
from autograder.question.special import at_points, experiment, formula, on_the_page, other_seeds, wrong_line
from autograder.question.specification import Case, case
from nlmcore.corpora import load

CLOSED = ("nlmcore.ngram", "nlmcore.metrics", "nltk")
"""Closed in every question: it is what the student writes."""
ask = functools.partial(question, closed=CLOSED)

Sentences = list[list[int]]
Given = tuple[Any, ...]


def text(draw: Draw, vocab_size: int, sentences: int, longest: int) -> tuple[Sentences, int, int]:
    """Sentences of ids, and the ids of <bos> and <eos>, which are in none of the sentences and may be anywhere in the
    vocabulary.

    Words come in a habitual order with exceptions, so that pairs repeat, as they do in language.
    """
    bos, eos, *words = draw.integers(0, 10**9, vocab_size).argsort().tolist()
    made: Sentences = []
    for _ in range(sentences):
        place, sentence = draw.integer(0, len(words) - 1), list[int]()
        for _ in range(draw.integer(1, longest)):
            sentence.append(words[place % len(words)])
            place += draw.integer(0, 2)
        made.append(sentence)
    return made, bos, eos


def several_digits(draw: Draw) -> tuple[Sentences, int, int, int]:
    """Sentences of ids of one digit and of two, written without spaces the same: (sentences, vocab_size, bos, eos)."""
    a, b, c = (draw.integer(1, 3) for _ in range(3))
    return [[a, 10 * b + c, a], [10 * a + b, c, 10 * a + b], [c, 10 * a + b, c, 10 * b + c]], 36, 34, 35


def table(draw: Draw, size: int, unseen: int = 0) -> Tensor:
    """Counts (size, size): about half of them 0, and `unseen` contexts, at random, never seen; then one word, like
    <bos>, follows nothing.

    Every seen context has two followers or more that differ in their counts.
    """
    counts = draw.integers(0, 6, size, size) * draw.integers(0, 1, size, size)
    for row in range(size):
        one = draw.integer(0, size - 1)
        counts[row, one], counts[row, one - 1] = draw.integer(4, 9), draw.integer(1, 3)
    counts[draw.integers(0, 10**9, size).argsort()[:unseen]] = 0
    if unseen:
        never, other = draw.integers(0, 10**9, size).argsort()[:2].tolist()
        counts[:, other] += counts[:, never]
        counts[:, never] = 0
    return counts.to(torch.int64)


# --- 1. pairs of words counted, and counts turned into probabilities -------------------------------------------


def pairs(draw: Draw, part: str = "words") -> Case:
    """Judged: the pairs inside the sentences, or their beginnings, or their ends."""
    size = draw.largest + 3
    sentences, bos, eos = text(draw, size, 4, 5)
    asked = torch.full((size, size), part == "words")
    asked[:, eos], asked[bos] = part == "ends", part == "beginnings"
    return case("", sentences, size, bos, eos, known=(asked,))


def odd_texts(draw: Draw) -> list[Case]:
    size = draw.largest + 4
    (first, second), bos, eos = text(draw, size, 2, 4)
    texts = {
        "a sentence twice": ([list(first), second, list(first)], size, bos, eos),
        "an empty sentence": ([first, [], second], size, bos, eos),
        "a word three times over": ([[second[0]] * 3, first], size, bos, eos),
        DIGITS: several_digits(draw),
    }
    return [case(label, *given, known=(torch.ones(given[1], given[1]) > 0,)) for label, given in texts.items()]


COUNTS = right_where_known("counts")
COUNT_BIGRAMS = ask(
    "ngrams.count_bigrams",
    returns=("counts",),
    inputs=at("four sentences, words", pairs),
    properties=[
        judged("pairs inside the sentences", 1, MAIN, COUNTS),
        judged("how sentences begin: the row of <bos>", 0.75, at("beginnings", part="beginnings"), COUNTS),
        judged("how sentences end: the column of <eos>", 0.75, at("ends", part="ends"), COUNTS),
        judged("repetitions and emptiness", 0.5, odd_texts, and_inputs_unchanged(COUNTS)),
    ],
    mistakes="""
once-per-sentence: You counted a pair that occurs twice in one sentence only once there. (With tensors of ids,
`counts[a, b] += 1` adds 1 only once, however often the pair occurs in them.)
- zip([bos, *sentence], [*sentence, eos], strict=True) → set(zip([bos, *sentence], [*sentence, eos], strict=True))
eos-forgotten: You never count `<eos>`, so no sentence ends. A model built from these counts cannot stop, and the
probabilities of sentences of all lengths do not sum to 1.
- [*sentence, eos], strict=True → sentence
bos-forgotten: You never count `<bos>`, so no sentence begins. The first word of a sentence is predicted as well; its
context is `<bos>`.
- [bos, *sentence], [*sentence, eos], strict=True → sentence, [*sentence[1:], eos]
both-ends-forgotten: You count neither `<bos>` nor `<eos>`. Treat them like words: one precedes every sentence, the
other follows it.
- [bos, *sentence], [*sentence, eos], strict=True → sentence, sentence[1:]
row-and-column-exchanged: You swapped rows and columns. The row is the context, the first word; the column is the word
that follows.
- before, word] += → word, before] +=
sentences-joined: You counted the sentences as one long text, so the `<eos>` of one is followed by the `<bos>` of the
next. Each sentence is separate: nothing follows `<eos>`, and nothing precedes `<bos>`.
^ sentences = [[word for sentence in sentences for word in (bos, *sentence, eos)]]
- [bos, *sentence], [*sentence, eos], strict=True → sentence, sentence[1:]
one-sentence-of-all: You joined all sentences into one, with one `<bos>` and one `<eos>` around the whole text. Each
sentence has its own: the last word of one is not followed by the first word of the next.
^ sentences = [[word for sentence in sentences for word in sentence]]
equal-sentences-once: You counted a sentence that occurs twice only once. Its pairs occur twice in the text, so count
them twice.
^ sentences = [list(sentence) for sentence in dict.fromkeys(map(tuple, sentences))]
empty-sentence-skipped: You left out an empty sentence. It has no words, but it ends: `<eos>` follows `<bos>` once. A
rule for all sentences needs no `if`.
^ sentences = [sentence for sentence in sentences if sentence]
markers-put-into-the-lists: You added `<bos>` and `<eos>` to the lists that you were given (`insert`, `append`), so the
caller's lists have changed. Make a new list, `[bos, *sentence, eos]`.
- for before, word in zip([bos, *sentence], [*sentence, eos], strict=True):
+ sentence.insert(0, bos)
+     sentence.append(eos)
+     for before, word in zip(sentence, sentence[1:]):
seen-or-not: Your table says only whether a pair occurs. Count how often: add 1 every time, also when several
occurrences are given together as indices (`counts[a, b] += 1` with index tensors adds 1 only once).
- return counts → return counts.clamp(max=1)
""",
)


def counts_of(draw: Draw, unseen: int = 0) -> tuple[Tensor]:
    return (table(draw, draw.largest + 1 + unseen, unseen),)


def seen_rows(draw: Draw, unseen: int = 0, once: int = 0) -> Case:
    (counts,) = counts_of(draw, unseen)
    for row in range(once):
        counts[row] = torch.eye(len(counts), dtype=counts.dtype)[draw.integer(0, len(counts) - 1)]
    return case("", counts, known=((counts.sum(1) > 0)[:, None].expand(counts.shape).clone(),))


def unseen_rows(draw: Draw) -> Case:
    counts = table(draw, draw.largest + 2, unseen=2)
    return case("", counts, known=(counts.sum(1) == 0,))


SEEN = these(
    at("no context never seen", seen_rows),
    at("1 context never seen", seen_rows, unseen=1),
    at("1 context seen once", seen_rows, once=1),
)
UNSEEN = at("two contexts were never seen", unseen_rows)
CONDITIONAL = ask(
    "ngrams.conditional_probabilities",
    returns=("probabilities",),
    inputs=at("every context was seen", counts_of),
    properties=[
        shapes(0.25, name="one probability per pair"),
        values("the probabilities are right", 1),
        judged("contexts that were seen", 0.75, SEEN, right_where_known("probabilities")),
        judged("a context never seen", 1, UNSEEN, and_inputs_unchanged(uniform_where_known("probabilities"))),
    ],
    mistakes="""
columns-sum-to-one: Your columns sum to 1. That is P(the previous word | this word), a model that generates backwards.
Divide each *row* by its sum: `counts.sum(1, keepdim=True)`.
- sum(1, keepdim=True) → sum(0, keepdim=True)
joint-probability: You divided by the number of all pairs. That is P(a, w), the probability of the pair. Return P(w |
a): divide by how often a was a context.
+ return counts / counts.sum()
sum-without-keepdim: You divided each *column* by the sum of a row: `counts.sum(1)` has the shape (V,), and PyTorch
broadcasts it along the rows. With `keepdim=True` it is (V, 1), and each row is divided by its own sum.
- , keepdim=True →
zeros-filled-up: You replaced every 0 by 1/V, also after contexts that were seen: those rows now sum to more than 1.
Only a row without a single count becomes uniform.
- total > 0 → counts > 0
written-into-the-counts: The probabilities are right, but you changed `counts` itself, so the caller's table contains
pairs that occur in no text. Work on `counts.clone()`, or use `torch.where`.
+ counts[counts.sum(1) == 0] = 1
+ return counts / counts.sum(1, keepdim=True)
unseen-is-zero: For a context that was never seen you return zeros: no word may follow, and the row does not sum to 1.
Nothing is known there, so give every word 1/V.
- 1 / counts.shape[1] → 0.0
unseen-is-nan: For a context that was never seen you return NaN, because you divided 0 by 0. Nothing is known there, so
give every word 1/V.
+ return counts / counts.sum(1, keepdim=True)
softmax-of-counts: You took a softmax of the counts. It turns scores into probabilities, and a word with count 0 would
still get some. Counts are not scores: divide them by their sum.
+ return torch.softmax(counts.float(), 1)
unseen-is-unigram: For a context that was never seen you return how often each word occurs. Here nothing is assumed
about it: give every word 1/V.
- 1 / counts.shape[1] → (counts.sum(0) / counts.sum())
""",
)

# --- 2. three ways of smoothing --------------------------------------------------------------------------------


def added(draw: Draw, k: float = 1.0, unseen: int = 0) -> tuple[Tensor, float]:
    return table(draw, draw.largest + 1 + unseen, unseen), k


ADDITIVE = ask(
    "ngrams.additive",
    returns=("probabilities",),
    inputs=at("k = 1", added),
    properties=[
        shapes(0.25, name="one probability per pair"),
        values("k = 1 (Laplace)", 1),
        values("any k", 1.25, these(at("k = 0.25", k=0.25), at("k = 3", k=3.0))),
        values("a context never seen", 0.5, at(k=0.5, unseen=1)),
    ],
    mistakes="""
k-once-below: In the numerator you add k for each of the V words, but in the denominator only once, so the row sums to
more than 1. The denominator needs k times the size of the vocabulary.
- k * counts.shape[1] → k
one-for-k-below: In the denominator you added 1 for each of the V words, where the numerator adds k: with another k than
1 the rows do not sum to 1.
- k * counts.shape[1] → counts.shape[1]
denominator-unchanged: Your denominator is still the sum of the plain counts, so the row sums to more than 1. Every k
that you added in the numerator belongs to it as well: one per word of the vocabulary.
- (counts.sum(1, keepdim=True) + k * counts.shape[1]) → counts.sum(1, keepdim=True).clamp(min=1e-9)
sum-without-keepdim: You divided each *column* by the sum of a row: `counts.sum(1)` has the shape (V,), and PyTorch
broadcasts it along the rows. With `keepdim=True` it is (V, 1), and each row is divided by its own sum.
- , keepdim=True →
only-the-zeros: You added k only to words that were never seen. Count every word k more times, the frequent ones as
well; otherwise, with k above 1, a word seen once may rank below one never seen.
+ filled = torch.where(counts == 0, k, counts.float())
+ return filled / filled.sum(1, keepdim=True)
or
- (counts + k) → torch.where(counts == 0, k, counts.float())
vocabulary-of-the-row: You multiplied k by the number of different words seen after this context. V is the size of the
whole vocabulary: words never seen get their k as well.
- counts.shape[1] → (counts > 0).sum(1, keepdim=True).clamp(min=1)
divided-by-columns: You divided by the sums of the columns, which say how often a word comes *second*. A row belongs to
a context: divide it by its own sum, `counts.sum(1, keepdim=True)`, plus k·V.
- counts.sum(1, keepdim=True) → counts.sum(0)
or
- counts.sum(1, keepdim=True) → counts.sum(0)[:, None]
always-one: Your k is always 1. Use the argument: with a smaller k, less is taken from what was seen.
^ k = 1.0
pairs-for-words: In the denominator you added k for each of the V² pairs. One row has V entries: add k·V, and each row
sums to 1.
- counts.shape[1] → counts.shape[0] * counts.shape[1]
k-added-to-probabilities: You divided first and added k to the probabilities, so k weighs as much after a frequent
context as after a rare one. Add k to the *counts*, then divide.
+ raised = counts / counts.sum(1, keepdim=True).clamp(min=1) + k
+ return raised / raised.sum(1, keepdim=True)
words-seen-for-vocabulary: In the denominator you added k for every word that ever comes second. V is the size of the
whole vocabulary: a word that follows nothing, as `<bos>` does, gets its k as well.
- counts.shape[1] → (counts.sum(0) > 0).sum()
""",
)


def mixed(draw: Draw, seen: str = "pair") -> Given:
    """A text in which the pair in question was seen, or only its last "word", or neither (""), or all once."""
    size = draw.largest + 2
    last, before, other = draw.integers(0, 10**9, size).argsort()[:3].tolist()
    body = draw.integers(0, size - 1, 3 * size)
    body = torch.where(body == last, other, body)  # where `last` occurs is settled below
    ends = {
        "pair": [before, last, other, before, last, draw.integer(0, size - 1), other, last, before, before, last],
        "word": [other, last, before, other, last, other],
        "word once": [before],  # `text[i - 2]` is not the last word of the text where i is 1
    }
    low, high = sorted(draw.integer(5, 95) for _ in range(2))
    first, second = low / 100, (high - low + 3) / 103
    starts = {"pair once": [before, last, other], "word once": [last, other]}
    start, end = (torch.tensor(part.get(seen, []), dtype=torch.int64) for part in (starts, ends))
    words = torch.cat([start, body, end])
    return words, [before, last], [first, second, 1.0 - first - second], size


def mixed_digits(draw: Draw) -> Given:
    """Written without spaces between its words, the context seems to occur where it does not."""
    a, b, c = (draw.integer(1, 9) for _ in range(3))
    ab, bc = 10 * a + b, 10 * b + c
    words = torch.tensor([bc, ab, c, bc, a, b, a, bc, 10 * a + c, bc, ab, bc, a, c])
    return words, [bc, a], [0.2, 0.3, 0.5], 100


NEVER_PAIRED = these(
    at("only the last word was seen", seen="word"), at("only the last word, at the start", seen="word once")
)
INTERPOLATED = ask(
    "ngrams.interpolated",
    returns=("distribution",),
    inputs=at("both words were seen together", mixed),
    properties=[
        shapes(0.25, name="one probability per word"),
        values("all three orders know something", 2, these(at(""), at("the pair opens the text", seen="pair once"))),
        values("the pair was never seen", 1, NEVER_PAIRED),
        values("nor was its last word seen", 0.75, these(at("neither was seen", seen=""), at(DIGITS, mixed_digits))),
    ],
    mistakes="""
weights-reversed: You applied the weights in reverse order: `weights[0]` belongs to the unigram, the shortest context,
`weights[2]` to the trigram.
^ weights = weights[::-1]
share-lost: Where an order has never seen its context you drop its weight, so your distribution sums to less than 1.
Divide the weights of the orders that have seen theirs by their sum.
- mixture / share → mixture
unseen-is-nan: Where an order has never seen its context you divide 0 by 0. Leave that order out, and divide the weights
of the others by their sum.
- if counts.sum() > 0: → if True:
last-word-uncounted: You do not count the last word of the text. Nothing follows it, but it follows the words before it:
`range` stops one before its second argument.
- len(words) → len(words) - 1
unseen-as-uniform: An order that has never seen its context gives every word the same probability. It knows nothing:
leave it out, and divide its weight among the other orders.
- if counts.sum() > 0:
+ if counts.sum() == 0:
+         counts += 1
+     if True:
context-reversed: You used the context backwards. `context[1]` is the word right before the one to predict; the bigram
uses it, and the trigram uses `context[0]`, `context[1]` in this order.
^ context = context[::-1]
bigram-of-the-first-word: Your bigram uses the first word of the context. It should use the one right before the word to
predict: `context[1]`, that is `context[-1:]` as a list.
- before = context[2 - order :] → before = context[:1] if order == 1 else context[2 - order :]
last-word-as-context: You divided by how often the context occurs in the text. If it occurs at the very end, nothing
follows it: divide by the number of words that *followed* it, and the sum is 1.
- if counts.sum() > 0:
+ occurs = sum(words[i : i + order].tolist() == before for i in range(len(words)))
+     if occurs > 0:
- / counts.sum() → / occurs
or
- if counts.sum() > 0:
+ occurs = sum(words[i : i + order].tolist() == before for i in range(len(words)))
+     if occurs > 0:
- / counts.sum() → / occurs
- mixture / share → mixture / mixture.sum()
share-to-the-next-order: You gave the weight of an order that knows nothing only to the next lower one. All remaining
orders share it: divide each of their weights by their sum.
^ passed = 0.0
- enumerate(weights) → reversed(list(enumerate(weights)))
- weight * counts → (weight + passed) * counts
- share += weight
+ passed = 0.0
+     else:
+         passed += weight
- mixture / share → mixture
first-words-uncounted: You count all three orders from the third word onwards. The unigram needs no word before it, the
bigram one: they also count the first words.
- range(order, → range(2,
backoff: You use only the longest context that was seen: that is backing off. Here all orders are always mixed, each
with its weight.
- mixture += weight * counts → mixture = counts
- share += weight → share = 1.0
unigram-alone: You return just the unigram, whatever the context. Mix all three orders, each with its weight.
- enumerate(weights) → enumerate(weights[:1])
counts-mixed: You added weighted counts and divided at the end, so the unigram, which has the largest counts, dominates
the others. Turn each order into probabilities first, then mix.
- weight * counts / counts.sum() → weight * counts
- mixture / share → mixture / mixture.sum()
""",
)


def discounted(draw: Draw, discount: float = 0.75, unseen: int = 0) -> Case:
    """A case that knows what each pair keeps, (V, V), and what each context has to distribute, (V,)."""
    counts = table(draw, draw.largest + 1 + unseen, unseen)
    total, different = counts.sum(1).double(), (counts > 0).sum(1).double()
    kept = (counts - discount).clamp(min=0) / total.clamp(min=1)[:, None]
    freed = torch.where(total > 0, discount * different / total.clamp(min=1), 1.0)
    return case("", counts, discount, known=(kept.double(), freed))


DISCOUNTS = these(at("a discount of 0.3", discount=0.3), at("a discount of 1", discount=1.0))
NEVER = at("a context never seen", discount=0.5, unseen=1)
KNESER_NEY = ask(
    "ngrams.kneser_ney",
    returns=("continuation", "probabilities"),
    inputs=at("every context was seen", discounted),
    properties=[
        shapes(0.5),
        values("the continuation of every word", 2, "continuation"),
        holds("probabilities, given your continuation", 2, DISCOUNTS, shares_out_what_discounting_frees),
        holds("a context never seen", 1, NEVER, shares_out_what_discounting_frees),
        values("everything together", 0.5, NEVER),
    ],
    mistakes="""
counts-for-contexts: Your continuation says how often a word occurs. It should say after how many *different* words it
occurs: count the entries of its column that are above 0. That is the point: “Francisco” is frequent, but follows only
one word.
- seen.sum(0) / seen.sum() → counts.sum(0) / counts.sum()
followers-for-predecessors: Your continuation counts how many different words come *after* a word: the row. Count how
many come before it: the column.
- seen.sum(0) → seen.sum(1)
divided-by-the-vocabulary: You divided the continuation by the size of the vocabulary, so it does not sum to 1. Divide
by the number of all different pairs.
- / seen.sum() → / len(counts)
freed-mass-lost: You discounted the counts but did not redistribute the freed mass: the rows sum to less than 1. Add the
continuation times D · (different followers) / (all followers).
- kept + freed * continuation → torch.where(total > 0, kept, continuation)
below-zero: Words that were never seen after a context got 0 − D, which is negative. Discount only counts above 0: max(c
− D, 0).
- (counts - discount).clamp(min=0) / total.clamp(min=1)
+ torch.where(total > 0, (counts - discount) / total.clamp(min=1), 0.0)
one-discount-per-context: You redistributed one D per context. D was subtracted for each different word that followed
it: redistribute D times their number.
- discount * seen.sum(1, keepdim=True) → discount
share-is-d: You gave every context the weight D. The freed mass is D for each *different* follower, divided by the
number of all followers: D·T/N. That is D only where every follower was seen once.
- discount * seen.sum(1, keepdim=True) / total.clamp(min=1) → discount
unseen-is-zero: For a context that was never seen you return zeros. The counts know nothing there, so the continuation
gets all the mass: its weight is 1.
- , 1.0) → , 0.0)
unseen-is-uniform: For a context that was never seen you give every word 1/V, as in 1b. Here something is known: how
readily each word follows others. The row is the continuation.
- kept + freed * continuation → torch.where(total > 0, kept + freed * continuation, 1 / len(counts))
unseen-is-nan: For a context that was never seen you return NaN, because you divided 0 by 0. The counts know nothing
there, so the continuation gets all the mass.
* .clamp(min=1) →
number-by-number: (V,) times (V,) is (V,): you multiplied the freed mass of one context by the continuation of one word,
and added the same to every row. Each context has a separate row: `freed[:, None] * continuation`.
- freed * continuation → freed[:, 0] * continuation
or
- kept + freed * continuation → torch.where(total > 0, kept + freed[:, 0] * continuation, continuation)
axes-exchanged: The freed mass of a context belongs to its *row*, and the continuation runs along the columns. You
swapped them: write `freed[:, None] * continuation`.
- freed * continuation → freed.T * continuation[:, None]
or
- kept + freed * continuation → torch.where(total > 0, kept + freed.T * continuation[:, None], continuation)
backs-off: You use the continuation only for words never seen after the context: that is backing off. Here every word
gets its part of the freed mass, and the row sums to 1.
- kept + freed * continuation → torch.where((counts > 0) & (total > 0), kept, freed * continuation)
predecessors-for-followers: Your T_a is a sum over a column: how many different words come *before* this one. It
belongs to the context: how many different words follow it.
- seen.sum(1, keepdim=True) → seen.sum(0)
""",
)

_points = at_points(n_1=(400, 900), n_2=(5, 190), D=(0.05, 0.95))
BEST_DISCOUNT = question(
    "ngrams.best_discount",
    returns=("slope", "best"),
    numpy=True,
    properties=[formula("the slope of F", 1, _points, "slope"), formula("the best discount", 1, _points, "best")],
    mistakes="""
chain-rule-forgotten: The derivative of ln(1 − D) is −1/(1 − D): the chain rule gives the minus sign, because 1 − D
falls as D grows. Otherwise the slope is never 0.
- D - 2 → D + 2
- n_1 + 2 * n_2 → n_1 - 2 * n_2
or
- D - 2 → D + 2
twice-seen-counted-once: A pair that was seen twice is left out twice, so its term has the factor 2. It is lost in your
formula.
* 2 * n_2 → n_2
solved-for-the-rest: Your second result is 1 − D, the part of a count that is kept. Return D, the part that is taken.
- n_1 / (n_1 + 2 * n_2) → 2 * n_2 / (n_1 + 2 * n_2)
not-solved-for-all: Your second result is the ratio D/(1 − D). D is on both sides of the equation: collect it on one
side before you divide.
- n_1 / (n_1 + 2 * n_2) → n_1 / (2 * n_2)
factor-in-the-wrong-term: The factor 2 belongs to the pairs that were seen twice, n_2, not to those seen once.
- n_1 / D - 2 * n_2 → 2 * n_1 / D - n_2
- n_1 / (n_1 + 2 * n_2) → 2 * n_1 / (2 * n_1 + n_2)
function-for-slope: Your first result is F(D) itself. Return its derivative: how fast F grows as D grows.
- n_1 / D - 2 * n_2 / (1 - D) → n_1 * math.log(D) + 2 * n_2 * math.log(1 - D)
""",
)

# --- 3. log loss and perplexity of a text under a table of probabilities ---------------------------------------


def knowing(probabilities: Tensor, sentences: Sentences, bos: int, eos: int) -> Case:
    """A case that knows the number of predictions and the right perplexity."""
    predicted = torch.tensor(sum(len(s) + 1 for s in sentences))
    right = torch.tensor(PERPLEXITY.reference(probabilities, sentences, bos, eos)[1])
    return case("", probabilities, sentences, bos, eos, known=(predicted, right))


def measured(draw: Draw, number: int = 4, twice: bool = False) -> Case:
    size = draw.largest + 3
    sentences, bos, eos = text(draw, size, number, 6)
    counts = COUNT_BIGRAMS.reference(sentences[: max(1, number - 1)], size, bos, eos)
    probabilities = counts + 0.5 + draw.integers(0, 3, size, 1)
    probabilities /= probabilities.sum(1, keepdim=True)
    sentences += [list(sentences[0])] if twice else []
    return knowing(probabilities, sentences, bos, eos)


def improbable(draw: Draw) -> Case:
    """A model that is nearly certain of a different word: the text's probability, as a product, underflows to 0 in any
    float."""
    size = draw.largest + 3
    sentences, bos, eos = text(draw, size, 12, 6)
    while sum(len(s) + 1 for s in sentences) < 40:
        sentences.append(list(sentences[0]))
    probabilities = (1 + draw.integers(0, 8, size, size)) * 1e-10
    probabilities[:, bos] = 1 - (probabilities.sum(1) - probabilities[:, bos])
    return knowing(probabilities.float(), sentences, bos, eos)


def measured_digits(draw: Draw) -> Case:
    sentences, size, bos, eos = several_digits(draw)
    return knowing(torch.softmax(draw.normal(size, size).double(), -1).float(), sentences, bos, eos)


EDGES = these(
    at("one sentence, float64", number=1, double=True),
    at("many sentences, one of them twice", number=8, twice=True),
    at("a long text of improbable words", improbable),
    at(DIGITS, measured_digits),
)
PERPLEXITY = ask(
    "ngrams.perplexity",
    returns=("log_loss", "perplexity"),
    inputs=at("sentences of several lengths", measured),
    properties=[
        values("the log loss of all sentences", 1.5, "log_loss"),
        holds("the perplexity, given your log loss", 1.5, MAIN, exponential_of_the_mean),
        values("one sentence, and many", 1, EDGES),
    ],
    mistakes="""
eos-left-out: You left out `<eos>`. The end of a sentence is predicted as well and adds to the loss: without it a model
that never stops would look better than it is.
- [*sentence, eos], strict=True → sentence
first-words-left-out: You left out the first word of each sentence. It is predicted from `<bos>`: `probabilities[bos,
word]`.
- [bos, *sentence], [*sentence, eos], strict=True → sentence, [*sentence[1:], eos]
mean-of-perplexities: You averaged the perplexities of the sentences, so a difficult short sentence counts more than an
easy long one. Sum all log losses first, divide once, take the exponential once.
+ rows = [[-math.log(probabilities[a, b]) for a, b in zip([bos, *s], [*s, eos])] for s in sentences]
+ return sum(map(sum, rows)), sum(math.exp(sum(row) / len(row)) for row in rows) / len(rows)
mean-of-means: You averaged the sentences' means per word. Every *word* counts the same: divide the sum of all log
losses by the number of all predicted words.
+ rows = [[-math.log(probabilities[a, b]) for a, b in zip([bos, *s], [*s, eos])] for s in sentences]
+ return sum(map(sum, rows)), math.exp(sum(sum(row) / len(row) for row in rows) / len(rows))
eos-above-not-below: Your log loss includes `<eos>`, but you divide by the number of words without it. Divide by the
number of predictions: one more per sentence.
- log_loss / predicted → log_loss / (predicted - len(sentences))
log-and-exp-of-two-bases: Your logarithm and your exponential have different bases, 2 and e. Either base is fine if both
agree; here both are natural: `log` and `exp`.
- math.log → math.log2
or
- math.exp(log_loss / predicted) → 2 ** (log_loss / predicted)
bits: Your log loss is in bits (base 2). Your perplexity is right, because 2 to the bits is e to the nats; but return
the log loss in nats, with the natural logarithm.
- return log_loss → return log_loss / math.log(2)
mean-for-sum: Your log loss is the mean over the predictions. Your perplexity is right; but return L, the *sum* of all
−ln P, next to it.
- return log_loss → return log_loss / predicted
product-first: You multiplied the probabilities and took the logarithm of the product. For a long text the product is
too small for any float and becomes 0: add logarithms from the start.
^ product = torch.tensor(1.0)
- log_loss -= math.log(probabilities[before, word]) → product = product * probabilities[before, word].float()
- log_loss, math.exp(log_loss / predicted) → -product.log(), product ** (-1 / predicted)
minus-forgotten: You left out the minus sign: the logarithm of a probability is negative, and a more surprising word
should count more, so use −ln P. A perplexity is never below 1.
- -= → +=
or
- return log_loss → return -log_loss
bos-counted-below: You divided by a number that includes `<bos>`. `<bos>` is never predicted: M is the number of words
plus one `<eos>` per sentence.
- log_loss / predicted → log_loss / (predicted + len(sentences))
sentences-joined: You also predicted the `<bos>` of a sentence from the `<eos>` of the previous one. Each sentence is
separate, and `<bos>` is never predicted.
^ sentences = [[word for sentence in sentences for word in (bos, *sentence, eos)]]
- [bos, *sentence], [*sentence, eos], strict=True → sentence, sentence[1:]
row-and-column-exchanged: You indexed the table by column, `probabilities[word, context]`. The row is the context:
`probabilities[context, word]`.
- before, word] → word, before]
arithmetic-mean: You averaged 1/P itself. Perplexity is the *geometric* mean of 1/P: the exponential of the mean of −ln
P. One improbable word would dominate the arithmetic mean.
^ inverse = 0.0
- predicted += 1
+ predicted += 1
+         inverse += 1 / float(probabilities[before, word])
- math.exp(log_loss / predicted) → inverse / predicted
""",
)

# --- 4. the wrong line of a friend's Witten-Bell smoothing -----------------------------------------------------

WITTEN_BELL = ask(
    "ngrams.witten_bell",
    returns=("probabilities",),
    inputs=at("every context was seen", counts_of),
    properties=[
        values("contexts that were seen", 1),
        values("a context never seen", 1, at("two contexts were never seen", unseen=2)),
    ],
    planted="- counts.sum(0) → counts.sum(1)",
    mistakes="""
uniform-for-unigram: You share out what is kept back evenly. It goes to each word in proportion to P(w), which is large
for words that follow often.
- counts.sum(0) / counts.sum() → torch.full((vocab_size,), 1 / vocab_size)
continuation-for-unigram: You count after how many different words each word occurs. That is Kneser and Ney's
continuation, of 2c; the formula here asks how often it follows anything.
- counts.sum(0) / counts.sum() → (counts > 0).sum(0) / (counts > 0).sum()
unigram-not-divided: Your P(w) is a count, so the rows no longer sum to 1. Divide by the number of all pairs.
- counts.sum(0) / counts.sum() → counts.sum(0)
largest-for-sum: You divide by the largest count of a word, so your P(w) do not sum to 1. Divide by the number of all
pairs.
- / counts.sum() → / counts.sum(0).max()
types-changed-as-well: You mended P(w), and changed T_a as well: it is now how many different words come before this
one. The line was right: T_a counts the different words that follow.
- (row > 0) → (counts[:, context] > 0)
denominator-changed-as-well: You mended P(w), and changed the denominator as well. It was right: a row adds up to N_a
plus T_a times a distribution, which is N_a + T_a.
- (total + types) → (total + vocab_size)
row-changed-instead: You took the columns for `row`, which was right, and left the wrong line as it was. A row of the
table is what follows its context.
- counts.sum(0) → counts.sum(1)
- row = counts[context] → row = counts[:, context]
""",
)

WRONG_LINE = wrong_line(
    "ngrams.wrong_line",
    WITTEN_BELL,
    points=1,
    mistakes="""
types-suspected: Line {types =} is right: it counts the different words that follow the context, T_a.
total-suspected: Line {row.sum()} is right: `row` holds what follows this context, and its sum is N_a.
fraction-suspected: Line {(total + types)} is right: it is the formula, for all words w of a row at once.
unseen-suspected: Line {if total == 0} is right: a context that was never followed by anything has N_a = 0.
row-suspected: Line {row = counts} is right: the row of a table of counts belongs to the context.
symptom-not-cause: Line {[context] = unigram} writes wrong values, but it does what the text says. The values were wrong
before: where were they computed?
""",
)

# --- 5. which k, after little text and after more? -------------------------------------------------------------

VOCAB, BOS, EOS, UNKNOWN = 60, 0, 1, 2


@functools.cache
def play(number: int) -> list[list[str]]:
    lines = load("shakespeare").texts("train")[number].lower().splitlines()
    return [words for line in lines if (words := re.findall(r"[a-z']+|[.,;:!?]", line))]


def lines_of(number: int, start: int) -> Sentences:
    lines = play(number)[start : start + 210]
    common = Counter(word for line in lines for word in line).most_common(VOCAB - 3)
    ids = {word: i for i, (word, _) in enumerate(common, 3)}
    return [[ids.get(word, UNKNOWN) for word in line] for line in lines]


def elsewhere(draw: Draw) -> Given:
    return lines_of(draw.integer(1, 20), draw.integer(0, 800)), VOCAB, BOS, EOS, other_seeds(draw)


WHICH_K = experiment(
    "ngrams.which_k",
    table="perplexities",
    points=(0.25, 1.75, 2),
    page=on_the_page("the five seeds of the page", lines_of(0, 0), VOCAB, BOS, EOS, [0, 1, 2, 3, 4]),
    fresh=at("other lines and seeds", elsewhere),
    claims=["0 < 1, 2 < 3", "1 < 0, 3 < 2", "0 < 1, 3 < 2", "0 ~ 1, 3 < 2"],
    closed=CLOSED,
    mistakes="""
one-seed-repeated: Every row is the same: you used the same seed each time. Use `seed`, which differs from row to row.
- split(lines, seed) → split(lines, seeds[0])
measured-on-what-was-counted: You measured the perplexity of the lines that you counted. Then a smaller k always wins.
Measure the held-out lines.
- unheard, bos → heard[:n], bos
all-lines-each-time: Your first two columns are the same as the last two: you counted all 150 lines each time. Count the
first n.
- heard[:n] → heard
columns-sorted: You sorted each column. Then a row no longer belongs to one seed, and the differences mix two samples.
- conclusion = 4 → perplexities = torch.tensor(perplexities).sort(0).values; conclusion = 4
best-seed-picked: You return the lowest perplexity over all seeds, in every row. A model that may choose its sample
looks better than it is: keep the number of every seed.
- conclusion = 4 → perplexities = torch.tensor(perplexities).amin(0).expand(len(seeds), 4); conclusion = 4
log-loss-for-perplexity: You return the log loss, which grows with the number of words. Take the second result of
`perplexity`.
- [1]) → [0])
always-the-smaller: With 20 lines your own numbers do not say that k = 0.01 is better: for some seeds k = 1 is. Look at
all five rows of the first two columns.
- conclusion = 4 → conclusion = 2
one-seed-believed: That k = 1 is better with 20 lines is true for some of your seeds, not for all, and the mean
difference is within what chance explains. One seed would have misled you.
- conclusion = 4 → conclusion = 3
against-the-numbers: With 150 lines your own numbers say the opposite: k = 0.01 has the lower perplexity for every seed.
- conclusion = 4 → conclusion = 1
""",
)

EXERCISES = exercises_in(__name__)
