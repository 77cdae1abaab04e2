"""Question 3a: a word into tokens."""

from autograder.exercise.declare import judged, question
from autograder.exercise.draw import Draw
from autograder.exercise.laws.lists import same_list
from autograder.exercise.specification import Case, case
from solutions.subwords.checks.common import CLOSED, different
from solutions.subwords.checks.learning import trained


def _known_words(draw: Draw) -> list[Case]:
    made, merges, symbols = trained(draw)
    return [case("a word from the training text", word, merges, symbols) for word in sorted(made, key=len)[-2:]]


def _ranks(draw: Draw) -> list[Case]:
    """a b c where b c was learned before a b, and where it was learned after it; a later merge further left."""
    symbols = max(4, draw.largest)
    a, b, c, d = different(draw, 4, symbols)
    merges = [[b, c], [a, b], [a, symbols], [d, d]]
    return [
        case("a later merge is further left", [d, a, b, d, d, d], merges, symbols),
        case("two merges want the same symbol", [a, b, c, a, b], merges[:2], symbols),
        case("two merges want the same symbol, in reverse order", [a, b, c, b, c], merges[1::-1], symbols),
        case("a merge of a merge", [d, a, b, c, b, c], merges, symbols),
        case("ids of several digits", [10 + a, b, c, a, 10 * b + c, a, b, 20 + a, b, c], [[a, b], [60, c]], 60),
    ]


def _short(draw: Draw) -> list[Case]:
    made, merges, symbols = trained(draw)
    return [
        case("a word of one symbol", [0], merges, symbols),
        case("no merges", made[0], [], symbols),
        case("the word is one token", [1, 0], [[1, 0]], symbols),
    ]


ENCODE = question(
    "subwords.encode",
    minutes=20,
    difficulty="medium",
    returns=("tokens",),
    properties=[
        judged("words from the training text", 1.5, _known_words, same_list("tokens")),
        judged("the order of the merges", 2, _ranks, same_list("tokens")),
        judged("words of one symbol or one token", 0.5, _short, same_list("tokens")),
    ],
    closed=CLOSED,
    mistakes="""
leftmost-first: You apply any merge that fits, from the left. The merges have an order: apply the one that was learned
first, wherever it occurs, or the tokens are not those of the training.
+ ids = {tuple(pair): symbols + number for number, pair in enumerate(merges)}
+ word, i = list(word), 0
+ while i < len(word) - 1:
+     new = ids.get((word[i], word[i + 1]))
+     if new is None:
+         i += 1
+     else:
+         word[i : i + 2] = [new]
+         i = max(i - 1, 0)
+ return word

longest-first: You take the longest token that fits, from the left. That is the rule of WordPiece. Byte-pair encoding
repeats the merges of the training, in their order.
+ spelled = {tuple(decode([t], merges, symbols)): t for t in range(symbols + len(merges))}
+ tokens = []
+ while word:
+     length = max(n for n in range(1, len(word) + 1) if tuple(word[:n]) in spelled)
+     tokens.append(spelled[tuple(word[:length])])
+     word = word[length:]
+ return tokens

last-learned-first: You go through the merges backwards. A later merge may need the symbol of an earlier one: start with
the first.
- enumerate(merges) → reversed(list(enumerate(merges)))

number-of-the-merge: You wrote the number of the merge instead of its symbol's id: merge number i makes the symbol
`symbols + i`.
- return word → return [token if token < symbols else token - symbols for token in word]

one-pass: You went through the letters once, so a merge of a merge never happens. Apply one merge to the whole word,
then the next one to the result.
+ ids = {tuple(pair): symbols + number for number, pair in enumerate(merges)}
+ tokens, i = [], 0
+ while i < len(word):
+     new = ids.get(tuple(word[i : i + 2]))
+     tokens.append(word[i] if new is None else new)
+     i += 1 if new is None else 2
+ return tokens

ids-one-too-large: Your new symbols are one too large. The ids of the letters end at `symbols` − 1, so merge number 0
makes the symbol `symbols`.
- symbols + number → symbols + number + 1

first-place-only: You apply each merge only once. Apply it everywhere in the word: your `merge` does that.
- word = merge(word, pair, symbols + number)
+ here = next((i for i in range(len(word) - 1) if word[i : i + 2] == pair), None)
+     if here is not None:
+         word = [*word[:here], symbols + number, *word[here + 2 :]]
""",
)
