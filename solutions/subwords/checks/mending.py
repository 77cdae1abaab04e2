"""Questions 5a and 5b: the wrong line of a friend's lengths of a text."""

from autograder.exercise.declare import question, values
from autograder.exercise.draw import Draw
from autograder.exercise.listing import listing_of
from autograder.exercise.special import wrong_line
from autograder.exercise.specification import Case, case
from solutions.subwords.checks.common import CLOSED, different

SYMBOLS = 36


def _letters(draw: Draw) -> list[int]:
    """Three different symbols, with ids of two digits."""
    return [10 + symbol for symbol in different(draw, 3, SYMBOLS - 10)]


def _counts(draw: Draw) -> list[int]:
    return draw.integers(2, 9, 4).tolist()


def _short(draw: Draw) -> list[Case]:
    """One symbol in runs of two, three and four."""
    a, b, c = _letters(draw)
    words = [[a, a], [b, a, a, a], [a, a, a, a, b], [b, c]]
    merges = [[a, a], [b, SYMBOLS]]
    return [
        case("one merge", words, _counts(draw), merges[:1], SYMBOLS),
        case("two merges", words, _counts(draw), merges, SYMBOLS),
    ]


def _three(draw: Draw) -> list[Case]:
    """One pair in runs of two, three and four: *haha*, *hahaha*."""
    a, b, c = _letters(draw)
    words = [[a, b] * 2, [a, b] * 3, [*[a, b] * 4, c], [c, a, b]]
    merges = [[a, b], [SYMBOLS, SYMBOLS], [SYMBOLS + 1, c]]
    return [case("three merges", words, _counts(draw), merges, SYMBOLS)]


TEXT_LENGTHS = question(
    "subwords.text_lengths",
    minutes=5,
    difficulty="easy",
    returns=("lengths",),
    properties=[
        values("one or two merges", 1, _short),
        values("three merges", 1, _three),
    ],
    closed=CLOSED,
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

_listing = listing_of(TEXT_LENGTHS)
_at = _listing.number

WRONG_LINE = wrong_line(
    "subwords.wrong_line",
    TEXT_LENGTHS,
    minutes=10,
    points=1,
    mistakes=f"""
start-suspected: Line {_at("lengths = [")} is right: before the first merge every letter is a token, and each word
counts as often as it occurs.
- {_listing.wrong} → {_at("lengths = [")}

id-suspected: Line {_at("new = ")} is right: merge number i makes the symbol `symbols` + i.
- {_listing.wrong} → {_at("new = ")}

merge-suspected: Line {_at("merged = [")} is right: it does to every word what 2a does.
- {_listing.wrong} → {_at("merged = [")}

update-suspected: Line {_at("words = merged")} is right: the next merge works on the words that this one made.
- {_listing.wrong} → {_at("words = merged")}

order-suspected: Line {_at("for number, pair")} is right: it goes through the merges in the order in which they were
learned.
- {_listing.wrong} → {_at("for number, pair")}

symptom-not-cause: Line {_at("lengths.append")} writes wrong lengths, but it subtracts what was saved, as it should.
Where was that computed?
- {_listing.wrong} → {_at("lengths.append")}
""",
)
