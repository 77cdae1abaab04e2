"""Question 2b: unigram, bigram and trigram, mixed."""

from collections.abc import Callable

import torch
from torch import Tensor

from autograder.exercise.declare import question, shapes, values
from autograder.exercise.draw import Draw
from autograder.exercise.kinds import DIGITS
from autograder.exercise.specification import Both, Case, case
from solutions.ngrams.checks.common import CLOSED


def _text(draw: Draw, kind: str) -> tuple[Tensor, list[int], list[float], int]:
    """A text in which the pair in question was seen ("pair"), only its last word ("word"), or neither ("nothing")."""
    vocab_size = draw.largest + 2
    last, before, other = draw.integers(0, 10**9, vocab_size).argsort()[:3].tolist()
    body = draw.integers(0, vocab_size - 1, 3 * vocab_size)
    body = torch.where(body == last, other, body)  # where `last` occurs is settled below
    pieces = [body]
    if kind == "pair":
        follower = draw.integer(0, vocab_size - 1)
        pieces += [torch.tensor([before, last, other, before, last, follower, other, last, before, before, last])]
    elif kind == "word":
        pieces += [torch.tensor([other, last, before, other, last, other])]
    cut = sorted(draw.integer(5, 95) for _ in range(2))
    weights = [cut[0] / 100, (cut[1] - cut[0] + 3) / 103, 0.0]
    weights[2] = 1.0 - weights[0] - weights[1]
    return torch.cat(pieces), [before, last], weights, vocab_size


def _asked(kind: str, label: str) -> Callable[[Draw], list[Case]]:
    return lambda draw: [case(label, *_text(draw, kind))]


def _digits(draw: Draw) -> list[Case]:
    """Written without spaces between its words, the context seems to occur where it does not."""
    a, b, c = (draw.integer(1, 9) for _ in range(3))
    before = 10 * b + c
    words = torch.tensor([before, 10 * a + b, c, before, a, b, a, before, 10 * a + c, before, 10 * a + b, before, a, c])
    return [case(DIGITS, words, [before, a], [0.2, 0.3, 0.5], 100)]


_pair = _asked("pair", "both words were seen together")

INTERPOLATED = question(
    "ngrams.interpolated",
    minutes=30,
    difficulty="medium",
    returns=("distribution",),
    properties=[
        shapes(0.25, _pair, "one probability per word"),
        values("all three orders know something", 2, _pair),
        values("the pair was never seen", 1, _asked("word", "only the last word was seen")),
        values("nor was its last word seen", 0.75, Both((_asked("nothing", "neither was seen"), _digits))),
    ],
    closed=CLOSED,
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
