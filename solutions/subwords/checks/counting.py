"""Question 1a: neighbours counted."""

from autograder.exercise.declare import question, shapes, values
from autograder.exercise.draw import Draw
from autograder.exercise.kinds import DIGITS
from autograder.exercise.specification import Case, case
from solutions.subwords.checks.common import CLOSED, different, how_often, words


def _each_once(draw: Draw) -> list[Case]:
    symbols = draw.largest + 1
    return [case("every word occurs once", words(draw, 4, symbols, 5), [1] * 4, symbols)]


def _often(draw: Draw) -> list[Case]:
    symbols = draw.largest + 1
    made = words(draw, 4, symbols, 5)
    return [case("words occur several times", made, [2 + c for c in how_often(draw, 4)], symbols)]


def _odd(draw: Draw) -> list[Case]:
    symbols = draw.largest
    one, other = different(draw, 2, symbols)
    a, b, c = (draw.integer(1, 3) for _ in range(3))
    digits = [[a, 10 * b + c, a], [10 * a + b, c, 10 * a + b], [10 * b + c, a]]
    return [
        case(DIGITS, digits, how_often(draw, 3), 36),
        case("a word of one symbol, and an empty one", [[one], [other, one], []], how_often(draw, 3), symbols),
        case("a symbol three times in a row", [[one, one, one], [other, one, one]], how_often(draw, 2), symbols),
    ]


COUNT_PAIRS = question(
    "subwords.count_pairs",
    minutes=15,
    difficulty="easy",
    returns=("table",),
    properties=[
        shapes(0.25, _each_once, "a table of pairs"),
        values("words that occur once", 1, _each_once),
        values("words that occur often", 1.25, _often),
        values("short words and repeated symbols", 0.5, _odd),
    ],
    closed=CLOSED,
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
""",
)
