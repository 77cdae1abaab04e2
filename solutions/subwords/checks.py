"""Assignment "subwords": byte-pair encoding, from counting neighbours to splitting tokens again.

The functions differ in form from `nlmcore.tokens`, which keeps bytes, counts incrementally and has a heap: here a word
is a list of ids, a pair is an entry of a table, and every step is a function.
"""

import functools
import re
from typing import Any

from torch import Tensor

from autograder.question.declare import exercises_in, judged, question, shapes, values
from autograder.question.draw import Draw
from autograder.question.judges import and_inputs_unchanged
from autograder.question.kinds import DIGITS
from autograder.question.laws.lists import right_up_to, same_list
from autograder.question.sized import MAIN, ODD, at, these
from autograder.question.special import at_points, experiment, formula, on_the_page, other_seeds, wrong_line
from nlmcore.corpora import load

CLOSED = ("nlmcore.tokens", "sentencepiece", "tiktoken", "tokenizers", "transformers")
"""Closed in every question: what learns and applies subwords."""
ask = functools.partial(question, closed=CLOSED)

Words = list[list[int]]
Given = tuple[Any, ...]


def different(draw: Draw, number: int, symbols: int) -> list[int]:
    """`number` different symbols."""
    return draw.integers(0, 10**9, symbols).argsort()[:number].tolist()


def spelled(draw: Draw, *texts: str, symbols: int = 0, least: int = 0) -> list[Words]:
    """The words of each text: a, b, c and d are different symbols, A, B, C and D those that merges add."""
    symbols = symbols or draw.largest + 3
    ids = [*(least + symbol for symbol in different(draw, 4, symbols - least)), *range(symbols, symbols + 4)]
    number = dict(zip("abcdABCD", ids, strict=True))
    return [[[number[letter] for letter in word] for word in text.split()] for text in texts]


def words(draw: Draw, number: int, symbols: int, longest: int) -> Words:
    """Different words over `symbols` symbols, made of a few syllables, so that pairs repeat."""
    syllables = [draw.integers(0, symbols - 1, 2).tolist() for _ in range(symbols)]
    made: Words = []
    while len(made) < number:
        count = draw.integer(1, max(1, longest // 2))
        word = [symbol for _ in range(count) for symbol in syllables[draw.integer(0, symbols - 1)]]
        word += draw.integers(0, symbols - 1, draw.integer(0, 1)).tolist()
        if word not in made:
            made.append(word)
    return made


def how_often(draw: Draw, number: int) -> list[int]:
    return draw.integers(1, 9, number).tolist()


def digits(draw: Draw) -> tuple[int, int, int, int]:
    """Ids of one digit and of two, written without spaces the same: a bc is ab c."""
    a, b, c = (draw.integer(1, 3) for _ in range(3))
    return a, 10 * b + c, 10 * a + b, c


# --- 1. neighbours counted, and the pair that wins -------------------------------------------------------------


def counted(draw: Draw, often: int = 0) -> Given:
    symbols = draw.largest + 1
    return words(draw, 4, symbols, 5), [often + c for c in how_often(draw, 4)] if often else [1] * 4, symbols


def odd_words(draw: Draw, text: str) -> Given:
    (made,) = spelled(draw, text)
    return made, how_often(draw, len(made)), draw.largest + 3


def counted_digits(draw: Draw) -> Given:
    a, bc, ab, c = digits(draw)
    return [[a, bc, a], [ab, c, ab], [bc, a]], how_often(draw, 3), 36


COUNT_PAIRS = ask(
    "subwords.count_pairs",
    returns=("table",),
    inputs=at("every word occurs once", counted),
    odd=[
        at(DIGITS, counted_digits),
        at("a word of one symbol", odd_words, text="a ba"),
        at("a symbol three times in a row", odd_words, text="aaa baa"),
    ],
    properties=[
        shapes(0.25, name="a table of pairs"),
        values("words that occur once", 1),
        values("words that occur often", 1.25, at("words occur several times", often=2)),
        values("short words and repeated symbols", 0.5, ODD),
    ],
    mistakes="""
counts-of-words-ignored: You counted every word once. A word that occurs `counts[i]` times adds that number to each of
its pairs.
- += count → += 1
across-words: You also counted the last symbol of a word with the first symbol of the next word. Words are separate: a
token never crosses a word boundary.
- return table
+ filled = [word for word in words if word]
+ for left, right, count in zip(filled, filled[1:], counts):
+     table[left[-1], right[0]] += count
+ return table
left-and-right-exchanged: You swapped row and column: the row is the left neighbour, the column the right one.
- word[i], word[i + 1] → word[i + 1], word[i]
order-ignored: You counted a b and b a as the same pair. They are different: “th” is a good token, “ht” hardly ever.
- return table → return table + table.T
once-per-word: You counted a pair that occurs twice in one word only once there. Count every occurrence.
- for i in range(len(word) - 1) → for a, b in set(zip(word, word[1:]))
- word[i], word[i + 1] → a, b
assigned-not-added: Each pair has the count of the last word that contains it. Add (`+=`), do not overwrite (`=`): a
pair can occur in several words.
- += → =
every-second-pair: You cut a word into separate pairs. Pairs overlap: in *l o w* both *l o* and *o w* are pairs, so move
on by one symbol each time.
- range(len(word) - 1) → range(0, len(word) - 1, 2)
overlap-not-counted: In *o o o* you found the pair *o o* once. It occurs twice, at the first position and at the second.
(`str.count` and regular expressions continue after the end of a match.)
- for i in range(len(word) - 1) → for a, b in set(zip(word, word[1:]))
- word[i], word[i + 1]] += count → a, b] += count * "".join(map(chr, word)).count(chr(a) + chr(b))
last-pair-lost: The last pair of each word is missing. A word of n symbols has n − 1 pairs, and `range(n - 1)` goes
through them: it stops before its argument.
- range(len(word) - 1) → range(len(word) - 2)
""",
)


def one_winner(draw: Draw, doubled: bool = False) -> tuple[Tensor]:
    """The winner is off the diagonal, or on it. Other rows and columns have larger sums than its own."""
    size = max(4, draw.largest + 1)
    b, a, high, other = different(draw, 4, size)
    table = draw.integers(0, 9, size, size)
    table[high], table[:, other] = draw.integers(18, 24, size), draw.integers(18, 24, size)
    table[high, other] = 0  # the best of that row, and of that column, is elsewhere
    table[b, a], table[a, a if doubled else b] = 27, 30
    return (table,)


def tied(draw: Draw, sign: int = 0) -> tuple[Tensor]:
    """The first left id goes with the larger right one (the winner's ids have the larger sum, `sign` 1, or the smaller,
    −1), or with both (0)."""
    size = max(4, draw.largest)
    table = draw.integers(0, 9, size, size)
    while True:
        (top, bottom), (left, right) = (draw.integers(0, size - 1, 2).sort().values.tolist() for _ in range(2))
        if top < bottom and left < right and (sign == 0 or sign * (top + right - bottom - left) > 0):
            break
    table[top, right] = table[bottom, left] = 15
    if sign == 0:
        table[top, left] = table[bottom, right] = 15
    return (table,)


WINNERS = these(at("one pair is ahead"), at("a symbol is ahead with itself", doubled=True))
TWO_ALIKE = "two pairs are equally frequent"
TIES = these(at(TWO_ALIKE, tied, sign=1), at(TWO_ALIKE, tied, sign=-1), at("several pairs are equally frequent", tied))
BEST_PAIR = ask(
    "subwords.best_pair",
    returns=("[left, right]",),
    inputs=one_winner,
    properties=[values("the most frequent pair", 1, WINNERS), values("ties", 1, TIES)],
    mistakes="""
last-of-equals: Of two equally frequent pairs you took the one with the larger ids. Take the smaller left id and, if
those are equal, the smaller right id, so that training again gives the same tokens.
- [0]  # row by row → [-1]
right-id-first: Of two equally frequent pairs you took the one with the smaller *right* id. The left id decides first.
- table == table.max())[0] → table.T == table.max())[0].flip(0)
symbols-for-pairs: You took the most frequent left symbol and the most frequent right symbol. They need not occur
together: find the largest entry of the table.
+ return [int(table.sum(1).argmax()), int(table.sum(0).argmax())]
row-of-the-largest-sum: You took the left symbol with the most neighbours in total, and then the best entry of its row.
The largest entry of the table may be in another row.
+ row = int(table.sum(1).argmax())
+ return [row, int(table[row].argmax())]
column-of-the-largest-sum: You took the right symbol with the most neighbours in total, and then the best entry of its
column. The largest entry of the table may be in another column.
+ column = int(table.sum(0).argmax())
+ return [int(table[:, column].argmax()), column]
row-and-column-apart: You found the best row and the best column separately. If several pairs are equally frequent, you
may combine the row of one with the column of another, which need not be a pair at all.
+ return [int(table.max(1).values.argmax()), int(table.max(0).values.argmax())]
exchanged: You return the pair as [right, left]. The row, which comes first, is the left symbol.
- int(first[0]), int(first[1]) → int(first[1]), int(first[0])
rarest: You took the smallest count. Return the most frequent pair.
- table.max() → table.min()
""",
)

# --- 2. one merge in one word, and the loop that learns the merges ---------------------------------------------


def merging(draw: Draw, word: str, pair: str = "ab") -> Given:
    ((made, merged),) = spelled(draw, f"{word} {pair}")
    return made, merged, draw.largest + 3


def merged_digits(draw: Draw) -> Given:
    a, b, c = (symbol + 1 for symbol in different(draw, 3, 9))
    return [10 + a, b, c, a, 10 * b + c, a, b, 30 + a, b], [a, b], 99


PLACES = these(
    at("the pair occurs once", word="cabd"),
    at("the pair occurs twice", word="abcdab"),
    at("its symbols in reverse order", word="bacab"),
    at(DIGITS, merged_digits),
)
RUNS = these(
    at("a symbol three times in a row", word="baaa", pair="aa"),
    at("a symbol five times in a row", word="aaaaab", pair="aa"),
)
SHORT = these(
    at("a word of one symbol", word="a"),
    at("the pair is the whole word", word="ab"),
    at("the pair does not occur", word="bba"),
)
MERGED, MERGES, TOKENS, SYMBOLS = (same_list(name) for name in ("merged", "merges", "tokens", "symbols"))
MERGE = ask(
    "subwords.merge",
    returns=("merged",),
    inputs=merging,
    properties=[
        judged("every occurrence of the pair", 1.5, PLACES, MERGED),
        judged("a symbol next to itself", 1, RUNS, MERGED),
        judged("short words", 0.5, SHORT, and_inputs_unchanged(MERGED)),
    ],
    mistakes="""
first-place-only: You merged only the first occurrence. Merge every occurrence in the word.
- i += 2 → return [*merged, *word[i + 2 :]]
from-the-right: You merged from right to left. In a a a you could merge at either end: by convention the leftmost pair
is merged first, and the last symbol stays.
^ word, pair = word[::-1], pair[::-1]
- return merged → return merged[::-1]
overlapping: In a a a you merged the first a with the second, and the second again with the third. A symbol can be
merged once: after a merge continue *after* both symbols.
+ hits = [word[i : i + 2] == pair for i in range(len(word))]
+ return [new if hits[i] else word[i] for i in range(len(word)) if hits[i] or i == 0 or not hits[i - 1]]
pair-at-the-end-missed: Your loop ends one symbol too early: a pair at the end of the word stays as it is.
- word[i : i + 2] == pair → i + 2 < len(word) and word[i : i + 2] == pair
either-order: You merged b a as well as a b. The order matters: merge only the pair as it is given.
- == pair → in (pair, pair[::-1])
right-half-stays: You replaced the left symbol by the new one but kept the right symbol. The new symbol stands for both:
skip two symbols.
- i += 2 → i += 1
word-itself-changed: You changed the list that you were given, so the caller's list is lost. Work on a copy,
`list(word)`, or fill a new list.
+ i = 0
+ while i < len(word) - 1:
+     if word[i : i + 2] == pair:
+         word[i : i + 2] = [new]
+     i += 1
+ return word
or
- return merged
+ word.clear()
+ return merged
last-symbol-lost: You lose the last symbol of the word if it is not merged: your loop ends where no pair is left. The
remaining symbol belongs to the word as well.
- i < len(word) → i < len(word) - 1
last-symbol-twice: You always append the word's last symbol, even if it has just been merged. Append only what
*remains*.
- i < len(word) → i < len(word) - 1
- return merged → return [*merged, *word[-1:]]
steps-of-two: You look only at positions 0, 2, 4, … A pair may begin at any position: if nothing is merged, move on by
*one* symbol.
- merged.append(word[i]) → merged += word[i : i + 2]
- i += 1 → i += 2
new-symbol-twice: You wrote the new symbol twice, once for each half. It replaces both together, so every merge makes
the word shorter by one.
+ merged = list(word)
+ for i in range(len(merged) - 1):
+     if merged[i : i + 2] == pair:
+         merged[i : i + 2] = [new, new]
+ return merged
ids-as-text: You searched for the digits of the pair in a text, and found them inside longer ids: “1 7” is also in “11
7”. Compare ids.
+ text = " ".join(map(str, word)).replace(" ".join(map(str, pair)), str(new))
+ return [int(symbol) for symbol in text.split()]
""",
)


def corpus(draw: Draw, number: int = 5, longest: int = 6, merges: int = 1) -> Given:
    return words(draw, number, draw.largest, longest), how_often(draw, number), draw.largest, merges


def written(draw: Draw, text: str, counts: tuple[int, ...], merges: int) -> Given:
    return *spelled(draw, text, symbols=4), list(counts), 4, merges


def learned_digits(draw: Draw) -> Given:
    a, bc, ab, c = digits(draw)
    return [[a, bc, a, bc], [ab, c, ab], [c, ab, c]], [3, 2, 1], 36, 9


SEVERAL = these(
    at("several merges", number=6, longest=8, merges=5),
    at("and again", merges=4),
    at("a symbol several times in a row", written, text="aaab caaa baaaaac cb", counts=(5, 3, 2, 1), merges=5),
)
# The last two pairs occur once in the text; merges of merges leave no occurrence of an old pair, c d.
ALL = at("more merges than there are pairs", written, text="abab c abc abcd dad", counts=(3, 2, 2, 2, 1), merges=50)
LEARN_MERGES = ask(
    "subwords.learn_merges",
    returns=("merges",),
    inputs=at("one merge", corpus),
    properties=[
        judged("the first merge", 1, MAIN, MERGES),
        judged("the first two of several", 1, SEVERAL, right_up_to("merges", 2)),
        judged("all of several", 2, SEVERAL, MERGES),
        judged("until no pair is left", 1, these(ALL, at(DIGITS, learned_digits)), and_inputs_unchanged(MERGES)),
    ],
    mistakes="""
never-recounted: You counted once and took the most frequent pairs of that table. After every merge there are new pairs
with the new symbol, and old pairs are rarer: count again.
^ table = count_pairs(words, counts, symbols)
- table = count_pairs(words, counts, new) →
- words = [merge(word, learned[-1], new) for word in words] → table[learned[-1][0], learned[-1][1]] = 0
merged-words-not-kept: You merge, but do not keep the result, so the same pair is the most frequent again. `merge`
returns a new word: put it in the place of the old one.
- words = [merge(word, learned[-1], new) for word in words] → [merge(word, learned[-1], new) for word in words]
one-id-for-all: All your merges make the same new id. Every merge makes a symbol of its own: `symbols` + the number of
merges so far.
- merge(word, learned[-1], new) → merge(word, learned[-1], symbols)
counts-of-words-ignored: You counted every word once. A merge is worth as much as it shortens the text: frequent words
decide.
^ counts = [1] * len(words)
larger-ids-first: Of equally frequent pairs you took the one with the larger ids. Here the smaller ids win; your
`best_pair` does that.
- best_pair(table) → torch.nonzero(table == table.max())[-1].tolist()
new-symbols-never-merged: You merge only the original symbols. A merged symbol is a symbol like the others: that is how
“th” and “e” become “the”.
- count_pairs(words, counts, new) → count_pairs(words, counts, new)[:symbols, :symbols]
first-met: Of equally frequent pairs you took the first one that you met (`most_common` and `max` over a dictionary do
that), so the tokens depend on the order of the words. Here the smaller ids win.
- best_pair(table)
+ list(max((pair for word in words for pair in zip(word, word[1:])), key=lambda pair: int(table[pair])))
never-stops: When no pair is left, the largest entry of the table is 0, and `best_pair` still returns one: [0, 0]. That
is not a pair. Check the largest entry, and stop.
- table.max() == 0 → False
stops-at-one: You stopped when no pair occurred twice in the text. That is a sensible rule, but not this one: continue
as long as there is any pair.
- table.max() == 0 → table.max() < 2
one-too-few: Your last merge is missing. Count how often your loop runs: `merges` times, and each time it appends one
pair to the list.
- < merges → < merges - 1
words-themselves-changed: You merged in the list that you were given, so the caller's words are tokens now. Make a new
list, `words = [merge(word, …) for word in words]`; if your `merge` changes its word, correct it there.
- words = [merge → words[:] = [merge
new-ids-one-too-large: The first new symbol should have the id `symbols`, because the ids before it are 0 to `symbols` −
1. Yours starts one higher.
- symbols + len(learned) → symbols + len(learned) + 1
""",
)

# --- 3. a word into tokens, and back ---------------------------------------------------------------------------


def trained(draw: Draw) -> tuple[Words, Words, int]:
    """Words, the shortest first, the merges learned from them, and how many symbols there were before."""
    made, symbols = words(draw, 8, draw.largest, 8), draw.largest
    return sorted(made, key=len), LEARN_MERGES.reference(made, how_often(draw, 8), symbols, 7), symbols


def known(draw: Draw, nth: int = -1) -> Given:
    made, merges, symbols = trained(draw)
    return made[nth], merges, symbols


def by_merges(draw: Draw, word: str, merges: str) -> Given:
    (made,), pairs = spelled(draw, word, merges)
    return made, pairs, draw.largest + 3


def encoded_digits(draw: Draw) -> Given:
    a, b, c = (symbol + 1 for symbol in different(draw, 3, 5))
    return [10 + a, b, c, a, 10 * b + c, a, b, 20 + a, b, c], [[a, b], [60, c]], 60


# b c was learned before a b, or after it; a later merge is further left
RANKS = these(
    at("a later merge is further left", by_merges, word="dabddd", merges="bc ab aA dd"),
    at("two merges want the same symbol", by_merges, word="abcab", merges="bc ab"),
    at("two merges want the same symbol, in reverse order", by_merges, word="abcbc", merges="ab bc"),
    at("a merge of a merge", by_merges, word="dabcbc", merges="bc ab aA dd"),
    at(DIGITS, encoded_digits),
)
ENCODE = ask(
    "subwords.encode",
    returns=("tokens",),
    inputs=known,
    odd=[
        at("a word of one symbol", lambda draw: ([0], *trained(draw)[1:])),
        at("no merges", lambda draw: (words(draw, 1, draw.largest, 8)[0], [], draw.largest)),
        at("the word is one token", lambda draw: ([1, 0], [[1, 0]], draw.largest)),
    ],
    properties=[
        judged(
            "words from the training text",
            1.5,
            these(at("a word from the training text"), at("a word from the training text", nth=-2)),
            TOKENS,
        ),
        judged("the order of the merges", 2, RANKS, TOKENS),
        judged("words of one symbol or one token", 0.5, ODD, TOKENS),
    ],
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


def tokens(draw: Draw) -> Given:
    made, merges, symbols = trained(draw)
    return ENCODE.reference(made[-1], merges, symbols), merges, symbols


def any_tokens(draw: Draw) -> Given:
    _, merges, symbols = trained(draw)
    return draw.integers(0, symbols + len(merges) - 1, 4).tolist(), merges, symbols


DEEP = at("a merge of merges of merges", by_merges, word="bDB", merges="ab Ac BA Ca")
DECODE = ask(
    "subwords.decode",
    returns=("symbols",),
    inputs=tokens,
    odd=[
        at(
            "no token is a merge", lambda draw: (draw.integers(0, draw.largest - 1, 3).tolist(), [[0, 1]], draw.largest)
        ),
        at("one token, a merge", lambda draw: ([draw.largest], [[0, 1]], draw.largest)),
    ],
    properties=[
        judged("tokens into symbols", 1.5, these(at("a word in tokens"), at("any tokens", any_tokens)), SYMBOLS),
        judged("merges of merges", 1, DEEP, SYMBOLS),
        judged("short words", 0.5, ODD, SYMBOLS),
    ],
    mistakes="""
one-level-only: You split a token once. Its halves may be merges themselves: continue until only symbols below `symbols`
are left.
- stands_for[left] + stands_for[right] → [left, right]
halves-exchanged: Within a token your symbols are in reverse order. First the left half, then the right one.
- stands_for[left] + stands_for[right] → stands_for[right] + stands_for[left]
word-backwards: Your whole word is in reverse order: a stack returns first what was put on it last. Push the right half
first.
- stands_for[token]] → stands_for[token]][::-1]
left-halves-only: You keep only the left half of every merge. A token stands for both of its halves.
- stands_for[left] + stands_for[right] → stands_for[left]
first-new-symbol-kept: You did not split the symbol with the id `symbols`. The letters end at `symbols` − 1; it is the
first that a merge made: use `>=`, not `>`.
- stands_for[left] + stands_for[right]
+ stands_for[left] + stands_for[right] if len(stands_for) > symbols else [symbols]
list-of-lists: You return one list per token. Return one list for the whole word: use `extend` or `+=` instead of
`append`.
- symbol for token in tokens for symbol in stands_for[token] → stands_for[token] for token in tokens
""",
)

# --- 4 and 5. what a letter costs, and the wrong line of a friend's lengths of a text --------------------------

_points = at_points(perplexity=(5.0, 40.0), n=(1.5, 2.4), m=(2.6, 4.0))
COMPARABLE = ask(
    "subwords.comparable",
    returns=("bits", "other"),
    properties=[
        formula("the bits per letter", 1, _points, "bits"),
        formula("the other perplexity", 1, _points, "other"),
    ],
    mistakes="""
nats-for-bits: You took the natural logarithm, which counts in nats. Bits are logarithms to the base 2.
- math.log2 → math.log
cost-of-a-token: Your first result is what a token costs. It has n letters, so each letter costs the n-th part.
- math.log2(perplexity) / n → math.log2(perplexity)
multiplied-by-letters: You multiplied the cost of a token by its letters. The letters share the cost: divide.
- math.log2(perplexity) / n → math.log2(perplexity) * n
perplexity-divided: You divided the perplexity before you took the logarithm. The cost, which is the logarithm, is what
the letters of a token share.
- math.log2(perplexity) / n → math.log2(perplexity / n)
letters-swapped: You swapped n and m in the second result. Longer tokens cost more, so the perplexity of the model with
the longer tokens is the larger one.
- (m / n) → (n / m)
perplexity-scaled: You multiplied the perplexity by m/n. The cost of a token grows like that, and perplexity is its
exponential: m/n belongs into the exponent.
- perplexity ** (m / n) → perplexity * m / n
perplexity-of-a-letter: Your second result is the perplexity per letter. The other model's tokens have m letters.
- ** (m / n) → ** (1 / n)
""",
)


def shortened(draw: Draw, text: str, merges: str) -> Given:
    """Symbols with ids of two digits, and how long four words of them get."""
    made, pairs = spelled(draw, text, merges, symbols=36, least=10)
    return made, draw.integers(2, 9, 4).tolist(), pairs, 36


# one symbol in runs of two, three and four; and one pair, as in *haha* and *hahaha*
EQUALS = these(
    at("one merge", text="aa baaa aaaab bc", merges="aa"), at("two merges", text="aa baaa aaaab bc", merges="aa bA")
)
HAHA = at("three merges", text="abab ababab ababababc cab", merges="ab AA Bc")
TEXT_LENGTHS = ask(
    "subwords.text_lengths",
    returns=("lengths",),
    inputs=shortened,
    properties=[values("one or two merges", 1, EQUALS), values("three merges", 1, HAHA)],
    planted="- sum(count * short.count(new) for short, count in zip(merged, counts, strict=True))"
    " → int(count_pairs(words, counts, new)[pair[0], pair[1]])",
    mistakes="""
halved-for-equals: You halve the count of the pair if its two symbols are equal. That is right for three in a row, and
for no other number. Count what was really merged.
- sum(count * short.count(new) for short, count in zip(merged, counts, strict=True))
+ int(count_pairs(words, counts, new)[pair[0], pair[1]]) // (1 + (pair[0] == pair[1]))
counts-ignored: You counted what each word saves once. A word that occurs `counts[i]` times saves that many times as
much.
- count * short.count(new) → short.count(new)
once-per-word: You counted one merge for each word that contains the pair. *haha* contains two.
- count * short.count(new) → count * (new in short)
two-for-each-merge: You subtract two for each merge. Two symbols go and a new one comes, so a merge saves one.
- count * short.count(new) → 2 * count * short.count(new)
length-for-saving: You subtract the whole new length. Subtract by how much the text became shorter.
- count * short.count(new) → count * len(short)
words-changed-as-well: You mended what is saved, and now every merge starts from the words as they were at first. A
later merge needs the symbols of the earlier ones.
- words = merged → words = list(words)
ids-changed-as-well: You mended what is saved, and changed the ids as well: merge number 0 makes the symbol `symbols`.
- symbols + number → symbols + number + 1
""",
)

WRONG_LINE = wrong_line(
    "subwords.wrong_line",
    TEXT_LENGTHS,
    points=1,
    mistakes="""
start-suspected: Line {lengths = [} is right: before the first merge every letter is a token, and each word counts as
often as it occurs.
id-suspected: Line {new = } is right: merge number i makes the symbol `symbols` + i.
merge-suspected: Line {merged = [} is right: it does to every word what 2a does.
update-suspected: Line {words = merged} is right: the next merge works on the words that this one made.
order-suspected: Line {for number, pair} is right: it goes through the merges in the order in which they were learned.
symptom-not-cause: Line {lengths.append} writes wrong lengths, but it subtracts what was saved, as it should. Where was
that computed?
""",
)

# --- 6. how long tokens get, on the words that they were learned from and on others ----------------------------

LETTERS = "_abcdefghijklmnopqrstuvwxyz"


@functools.cache
def play(number: int) -> list[str]:
    return re.findall("[a-z]+", load("shakespeare").texts("train")[number].lower())


def part(number: int, start: int) -> Words:
    return [[LETTERS.index(letter) for letter in f"_{word}"] for word in play(number)[start : start + 250]]


def elsewhere(draw: Draw) -> Given:
    return part(draw.integer(1, 20), draw.integer(0, 2000)), len(LETTERS), other_seeds(draw)


HOW_MUCH_TEXT = experiment(
    "subwords.how_much_text",
    table="rates",
    rows="the letters per token of every seed",
    points=(0.5, 4, 2.5),
    page=on_the_page("the five seeds of the page", part(0, 0), len(LETTERS), [0, 1, 2, 3, 4]),
    fresh=at("another text and other seeds", elsewhere),
    claims=["2 < 0, 3 < 1", "0 < 2, 1 < 3", "2 < 0, 1 < 3", "2 < 0, 1 ~ 3"],
    within=0.02,  # all rates are alike: anybody could guess them to a tenth
    closed=CLOSED,
    mistakes="""
one-seed-repeated: Every row is the same: you used the same seed each time. Use `seed`, which differs from row to row.
- split(text, seed) → split(text, seeds[0])
measured-on-its-own-words: You measured both times on the words from which the merges were learned. Measure the second
number on the words held out.
- (heard[:n], unheard) → (heard[:n], heard[:n])
all-words-each-time: You learned from all 150 words each time. Learn from the first n.
- distinct(heard[:n]) → distinct(heard)
tokens-per-letter: You divided the tokens by the letters. Letters per token is the inverse of that.
- sum(map(len, measured)) / tokens → tokens / sum(map(len, measured))
words-per-token: You divided the number of words by the number of tokens. Count the letters of the words.
- sum(map(len, measured)) / tokens → len(measured) / tokens
mean-over-words: You took the mean of the words' own fractions. Then a word of one token counts as much as a word of
five: divide all letters by all tokens.
- sum(map(len, measured)) / tokens
+ sum(len(word) / len(encode(word, merges, symbols)) for word in measured) / len(measured)
best-seed-picked: You return the highest number over all seeds, in every row. A tokenizer that may choose its sample
looks better than it is: keep the number of every seed.
- conclusion = 3 → rates = torch.tensor(rates).amax(0).expand(len(seeds), 4); conclusion = 3
its-own-words-believed: You went by the words from which the merges were learned. On words held out your own numbers say
the opposite, for every seed.
- conclusion = 3 → conclusion = 1
more-is-always-better: On the words that they were learned from your own numbers say the opposite: thirty merges fit 25
words better than they fit 150.
- conclusion = 3 → conclusion = 2
undecided-although-all-agree: On words held out your own numbers decide it: the difference has the same sign for every
seed, and chance does not explain it.
- conclusion = 3 → conclusion = 4
different-words-measured: You measured every different word once. A word that occurs five times counts five times:
measure all words.
- for measured in (heard[:n], unheard): → for measured in (distinct(heard[:n])[0], distinct(unheard)[0]):
all-words-as-its-own: You measured the merges of 25 words on all 150 words. Their own words are the 25.
- (heard[:n], unheard) → (heard, unheard)
""",
)

EXERCISES = exercises_in(__name__)
