"""Question 2a: one merge in one word."""

from autograder.exercise.declare import judged, question
from autograder.exercise.draw import Draw
from autograder.exercise.judges import and_inputs_unchanged
from autograder.exercise.laws.lists import same_list
from autograder.exercise.specification import Case, case
from solutions.subwords.checks.common import CLOSED, different


def _once(draw: Draw) -> list[Case]:
    symbols = draw.largest + 3
    a, b, c, d = different(draw, 4, symbols)
    return [
        case("the pair occurs once", [c, a, b, d], [a, b], symbols),
        case("the pair occurs twice", [a, b, c, d, a, b], [a, b], symbols),
        case("its symbols in reverse order", [b, a, c, a, b], [a, b], symbols),
        case("ids of several digits", [10 + a, b, c, a, 10 * b + c, a, b, 30 + a, b], [a, b], 99),
    ]


def _runs(draw: Draw) -> list[Case]:
    symbols = draw.largest + 2
    a, b = different(draw, 2, symbols)
    return [
        case("a symbol three times in a row", [b, a, a, a], [a, a], symbols),
        case("a symbol five times in a row", [a, a, a, a, a, b], [a, a], symbols),
    ]


def _nothing(draw: Draw) -> list[Case]:
    symbols = draw.largest + 2
    a, b = different(draw, 2, symbols)
    return [
        case("a word of one symbol", [a], [a, b], symbols),
        case("the pair is the whole word", [a, b], [a, b], symbols),
        case("the pair does not occur", [b, b, a], [a, b], symbols),
    ]


MERGE = question(
    "subwords.merge",
    minutes=20,
    difficulty="easy",
    returns=("merged",),
    properties=[
        judged("every occurrence of the pair", 1.5, _once, same_list("merged")),
        judged("a symbol next to itself", 1, _runs, same_list("merged")),
        judged("short words", 0.5, _nothing, and_inputs_unchanged(same_list("merged"))),
    ],
    closed=CLOSED,
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
""",
)
