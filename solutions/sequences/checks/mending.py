"""Questions 5a and 5b: the wrong line of a friend's count of errors."""

import torch

from autograder.exercise.declare import question, values
from autograder.exercise.draw import Draw
from autograder.exercise.kinds import EQUAL
from autograder.exercise.listing import listing_of
from autograder.exercise.special import wrong_line
from autograder.exercise.specification import Case, case
from solutions.sequences.checks.common import CLOSED


def _texts(draw: Draw, label: str, batch: int, time: int) -> Case:
    """A first text that stops too early, a second one that is too long, and others that end where their references do;
    with wrong words after right words and after wrong ones, and right words after both."""
    while True:
        lengths = torch.tensor([time, time - 2, *[time - 1] * (batch - 2)])
        reference = draw.integers(3, 40, batch, time) * (torch.arange(time) < lengths[:, None])
        coins = torch.rand(batch, time, generator=torch.Generator().manual_seed(draw.integer(0, 10**9)))
        written = torch.where((coins < 0.4) & (reference > 0), reference + 40, reference)
        written[0, -3], written[0, -2:] = 2, 0
        written[1, -2:] = draw.integers(3, 40, 2)
        rates = ERROR_RATES.reference(written, reference)
        wrong = [ERROR_RATES.planted, *(mistake.implementation for mistake in ERROR_RATES.misconceptions)]
        others = [function(written, reference) for function in wrong if function is not None]
        if all((rates > 0) & (rates < 1)) and not any(torch.equal(rates, other) for other in others):
            return case(label, written, reference)


def _two(draw: Draw) -> list[Case]:
    return [_texts(draw, "two texts", 2, draw.largest + 3)]


def _several(draw: Draw) -> list[Case]:
    return [_texts(draw, "several texts", 4, draw.largest + 2), _texts(draw, EQUAL, 5, 5)]


ERROR_RATES = question(
    "sequences.error_rates",
    minutes=5,
    difficulty="easy",
    returns=("rates",),
    properties=[
        values("two texts", 1, _two),
        values("several texts", 1, _several),
    ],
    closed=CLOSED,
    planted="- counted = reference > 0 → counted = written > 0",
    mistakes="""
beyond-the-end-counted: You also count what was written beyond the end of a reference. Only words of the reference
count.
- counted = reference > 0 → counted = (written > 0) | (reference > 0)

padding-counted: You count padding, where there is no word to be right or wrong. Only words of the reference count.
- counted = reference > 0 → counted = torch.ones_like(reference, dtype=torch.bool)

missing-words-not-counted: You count only positions at which both texts have a word, so a decoder that stops too early
is not blamed for what it leaves out.
- counted = reference > 0 → counted = (written > 0) & (reference > 0)

first-word-changed-as-well: You mended what counts, and now the first word is left out of the first rate. It belongs
there: before it comes `bos`, which cannot be wrong.
- (wrong & ~before).sum() / (counted & ~before).sum()
+ (wrong & ~before)[:, 1:].sum() / (counted & ~before)[:, 1:].sum()

shift-changed-as-well: You mended what counts, and turned the shift around: `before` now says whether the *next* word is
wrong. Turn it back.
- before[:, 1:] = wrong[:, :-1] → before[:, :-1] = wrong[:, 1:]

share-of-all-words: You mended what counts, and now the second rate is divided by all words. It asks: of the words
after a wrong word, which fraction is wrong?
- (counted & before).sum() → counted.sum()

rates-swapped: You swapped the two rates. First comes the one after a right word.
- [after_right, after_wrong] → [after_wrong, after_right]
""",
)

_listing = listing_of(ERROR_RATES)
_at = _listing.number

WRONG_LINE = wrong_line(
    "sequences.wrong_line",
    ERROR_RATES,
    minutes=10,
    points=1,
    mistakes=f"""
comparison-suspected: Line {_at("written != reference")} is right: a word is wrong if it differs from the reference, and
if it counts. Is it the first condition that fails, or the second?
- {_listing.wrong} → {_at("written != reference")}

start-suspected: Line {_at("zeros_like")} is right: the first word comes after `bos`, so the word before it is not
wrong.
- {_listing.wrong} → {_at("zeros_like")}

shift-suspected: Line {_at("before[:, 1:]")} is right: at position t it says whether the word at t − 1 is wrong.
- {_listing.wrong} → {_at("before[:, 1:]")}

first-rate-suspected: Line {_at("after_right = ")} computes a wrong rate, but it divides what it should, the wrong words
after a right one by all words after a right one. Which words does it not know of?
- {_listing.wrong} → {_at("after_right = ")}

second-rate-suspected: Line {_at("after_wrong = ")} computes a wrong rate, but it divides what it should, the wrong
words after a wrong one by all words after a wrong one. Which words does it not know of?
- {_listing.wrong} → {_at("after_wrong = ")}

order-suspected: Line {_at("torch.stack")} is right: first the rate after a right word, then that after a wrong one.
- {_listing.wrong} → {_at("torch.stack")}
""",
)
