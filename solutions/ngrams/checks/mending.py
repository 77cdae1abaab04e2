"""Questions 4a and 4b: the wrong line of a friend's Witten-Bell smoothing."""

from autograder.exercise.declare import question, values
from autograder.exercise.draw import Draw
from autograder.exercise.listing import listing_of
from autograder.exercise.special import wrong_line
from autograder.exercise.specification import Case, case
from solutions.ngrams.checks.common import CLOSED, table


def _seen(draw: Draw) -> list[Case]:
    return [case("every context was seen", table(draw, draw.largest + 1))]


def _unseen(draw: Draw) -> list[Case]:
    return [case("two contexts were never seen", table(draw, draw.largest + 2, unseen=2))]


WITTEN_BELL = question(
    "ngrams.witten_bell",
    minutes=5,
    difficulty="easy",
    returns=("probabilities",),
    properties=[
        values("contexts that were seen", 1, _seen),
        values("a context never seen", 1, _unseen),
    ],
    closed=CLOSED,
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
""",
)

_listing = listing_of(WITTEN_BELL)
_at = _listing.number

WRONG_LINE = wrong_line(
    "ngrams.wrong_line",
    WITTEN_BELL,
    minutes=10,
    points=1,
    mistakes=f"""
types-suspected: Line {_at("types =")} is right: it counts the different words that follow the context, T_a.
- {_listing.wrong} → {_at("types =")}

total-suspected: Line {_at("row.sum()")} is right: `row` holds what follows this context, and its sum is N_a.
- {_listing.wrong} → {_at("row.sum()")}

fraction-suspected: Line {_at("(total + types)")} is right: it is the formula, for all words w of a row at once.
- {_listing.wrong} → {_at("(total + types)")}

unseen-suspected: Line {_at("if total == 0")} is right: a context that was never followed by anything has N_a = 0.
- {_listing.wrong} → {_at("if total == 0")}

row-suspected: Line {_at("row = counts")} is right: the row of a table of counts belongs to the context.
- {_listing.wrong} → {_at("row = counts")}

symptom-not-cause: Line {_at("[context] = unigram")} writes wrong values, but it does what the text says. The values
were wrong before: where were they computed?
- {_listing.wrong} → {_at("[context] = unigram")}
""",
)
