"""Question 2b: the loop that learns the merges."""

from autograder.exercise.declare import judged, question
from autograder.exercise.draw import Draw
from autograder.exercise.judges import and_inputs_unchanged
from autograder.exercise.kinds import DIGITS
from autograder.exercise.laws.lists import right_up_to, same_list
from autograder.exercise.specification import Case, case
from solutions.subwords.checks.common import CLOSED, different, how_often, words


def trained(draw: Draw) -> tuple[list[list[int]], list[list[int]], int]:
    """Words, the merges learned from them, and how many symbols there were before."""
    symbols = draw.largest
    made = words(draw, 8, symbols, 8)
    return made, LEARN_MERGES.reference(made, how_often(draw, 8), symbols, 7), symbols


def _corpus(draw: Draw, number: int, longest: int) -> tuple[list[list[int]], list[int], int]:
    return words(draw, number, draw.largest, longest), how_often(draw, number), draw.largest


def _first_merge(draw: Draw) -> list[Case]:
    return [case("one merge", *_corpus(draw, 5, 6), 1)]


def _several(draw: Draw) -> list[Case]:
    a, b, c = different(draw, 3, draw.largest)
    runs = [[a, a, a, b], [c, a, a, a], [b, a, a, a, a, a, c], [c, b]]
    return [
        case("several merges", *_corpus(draw, 6, 8), 5),
        case("and again", *_corpus(draw, 5, 6), 4),
        case("a symbol several times in a row", runs, [5, 3, 2, 1], draw.largest, 5),
    ]


def _until_nothing_is_left(draw: Draw) -> list[Case]:
    """The last two pairs occur once in the text; merges of merges leave no occurrence of an old pair, c d."""
    a, b, c, d = different(draw, 4, 4)
    texts = [[a, b, a, b], [c], [a, b, c], [a, b, c, d], [d, a, d]]
    e, f, g = (draw.integer(1, 3) for _ in range(3))
    digits = [[e, 10 * f + g, e, 10 * f + g], [10 * e + f, g, 10 * e + f], [g, 10 * e + f, g]]
    return [
        case("more merges than there are pairs", texts, [3, 2, 2, 2, 1], 4, 50),
        case(DIGITS, digits, [3, 2, 1], 36, 9),
    ]


LEARN_MERGES = question(
    "subwords.learn_merges",
    minutes=30,
    difficulty="medium",
    returns=("merges",),
    properties=[
        judged("the first merge", 1, _first_merge, same_list("merges")),
        judged("the first two of several", 1, _several, right_up_to("merges", 2)),
        judged("all of several", 2, _several, same_list("merges")),
        judged("until no pair is left", 1, _until_nothing_is_left, and_inputs_unchanged(same_list("merges"))),
    ],
    closed=CLOSED,
    mistakes="""
never-recounted: You counted once and took the most frequent pairs of that table. After every merge there are new pairs
with the new symbol, and old pairs are rarer: count again.
^ table = count_pairs(words, counts, symbols)
- table = count_pairs(words, counts, new) →
- words = [merge(word, learned[-1], new) for word in words] → table[learned[-1][0], learned[-1][1]] = 0

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
