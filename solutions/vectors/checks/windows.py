"""Question 1a: which pairs of words are learned from."""

import re

from autograder.exercise.declare import judged, question
from autograder.exercise.draw import Draw
from autograder.exercise.laws.lists import same_pairs
from autograder.exercise.specification import Case, case
from solutions.vectors.checks.common import CLOSED


def _text(draw: Draw, length: int) -> list[int]:
    """Ids that are all different, so that every pair says where it comes from."""
    return draw.integers(0, 10**9, length + 5).argsort().tolist()[:length]


def _inside(draw: Draw) -> list[Case]:
    return [case("m = 3", _text(draw, draw.largest + 5), 3), case("m = 1", _text(draw, draw.largest + 2), 1)]


def _edges(draw: Draw) -> list[Case]:
    return [
        case("a text shorter than the window", _text(draw, 3), 4),
        case("two words", _text(draw, 2), 1),
        case("a single word", _text(draw, 1), 2),
    ]


def _repeated(draw: Draw) -> list[Case]:
    a, b, c = _text(draw, 3)
    return [case("a word that occurs twice in one window", [a, b, a, c, c], 2)]


ORDERS = ("(pair[0], abs(pair[1] - pair[0]))", "abs(pair[1] - pair[0])", "(abs(pair[1] - pair[0]), min(pair))")
SORTED = """
- pairs.append([words[i], words[j]]) → pairs.append((i, j))
- return pairs → return [[words[i], words[j]] for i, j in sorted(pairs, key=lambda pair: {})]"""


def _in_every_order(mistakes: str) -> str:
    """The pairs may come in any order, but a mistake is recognised by its values. So this lists it in the usual orders:
    from left to right; by distance from each centre; and distance by distance, centre by centre or in both directions
    together."""
    made = []
    for mistake in mistakes.strip().split("\n\n"):
        start = re.search(r"^[-*^+] ", mistake, re.M)
        assert start is not None, mistake
        ways = mistake[start.start() :].split("\nor\n")
        ways = [way + order for way in ways for order in ("", *(SORTED.format(key) for key in ORDERS))]
        made.append(mistake[: start.start()] + "\nor\n".join(ways))
    return "\n\n".join([*made, ""])


WINDOW_PAIRS = question(
    "vectors.window_pairs",
    minutes=15,
    difficulty="easy",
    returns=("pairs",),
    properties=[
        judged("words in the middle and at the ends", 1.5, _inside, same_pairs("pairs")),
        judged("texts shorter than the window", 0.75, _edges, same_pairs("pairs")),
        judged("a word twice in one window", 0.75, _repeated, same_pairs("pairs")),
    ],
    closed=CLOSED,
    mistakes=_in_every_order("""
only-to-the-right: You used only the words *after* the centre. The window reaches m words to both sides: 2m words in
all.
- j != i → j > i

only-to-the-left: You used only the words *before* the centre. The window reaches m words to both sides: 2m words in
all.
- j != i → j < i

with-itself: You paired the centre with itself. A word does not predict itself: leave out its own position.
- if j != i → if True

around-the-end: At the start of the text you took words from its end: in Python an index below 0 counts from the end.
Cut the window off at 0.
- max(0, i - m) → max(1 - len(words), i - m)

slice-below-nought: Near the start of the text words are missing: in `words[i - m : i]` an i − m below 0 counts from the
end, and the slice is empty or too short. Start at `max(0, i - m)`.
- range(max(0, i - m), min(len(words), i + m + 1))
+ [*range(len(words))[i - m : i], *range(len(words))[i + 1 : i + m + 1]]

whole-windows-only: You never use words near the ends of the text as a centre. Their window is cut off, but they are not
left out: they are paired with the neighbours that they have.
- i in range(len(words)) → i in range(m, len(words) - m)

window-too-small: You left out the last word of the window on the right: `range` stops one before its second argument.
- i + m + 1 → i + m

one-less-on-both-sides: Your window is one word too small on both sides: `range(1, m)` stops before m. The word at
distance m still belongs to it.
^ m = m - 1

m-words-in-all: Your window has m words in all, half of them on each side. m is its reach on *each* side.
^ m = m // 2

equal-words-left-out: You left out pairs of equal *words*. Leave out only the centre's own *position*; the same word two
positions later is a neighbour like any other.
- j != i → words[j] != words[i]

first-place-of-the-word: `words.index(word)` is the *first* position of a word. At its second occurrence you used the
window of the first one again: loop over positions, not over words.
- i in range(len(words)) → i in [words.index(word) for word in words]
or
- i in range(len(words)) → i in [words.index(word) for word in words]
- j != i → words[j] != words[i]
""")
    + """
equal-pairs-once: You list equal pairs once. Two words that are near each other at two positions form a pair twice, and
both are learned from: return a list, not a set.
- return pairs → return [list(pair) for pair in sorted(set(map(tuple, pairs)))]
or
- return pairs → return [list(pair) for pair in set(map(tuple, pairs))]
or
- return pairs → return [list(pair) for pair in dict.fromkeys(map(tuple, pairs))]
""",
)
