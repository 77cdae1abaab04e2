"""Questions 4a and 4b: the wrong line of a friend's repetition penalty."""

import torch

from autograder.exercise.declare import question, values
from autograder.exercise.draw import Draw
from autograder.exercise.listing import listing_of
from autograder.exercise.special import wrong_line
from autograder.exercise.specification import Case, case
from solutions.decoding.checks.common import CLOSED


def _case(draw: Draw, label: str, high: float) -> Case:
    """Words that were used once, twice and three times; with `high`, all logits are above 0."""
    size = max(12, draw.largest + 3)
    logits = draw.normal(size)
    logits = logits.abs() + high if high else torch.where(torch.arange(size) % 2 > 0, logits.abs(), -logits.abs()) * 3
    one, two, three = draw.integers(0, 10**9, size - 1).argsort()[:3].tolist()
    four = size - 1  # an id of several digits
    return case(label, logits, [one, two, three, two, four, three, four, three], draw.integer(12, 30) / 10)


def _high(draw: Draw) -> list[Case]:
    return [_case(draw, "logits above 0", 0.5)]


def _both(draw: Draw) -> list[Case]:
    return [_case(draw, "logits of both signs", 0.0)]


WITHOUT_REPEATING = question(
    "decoding.without_repeating",
    minutes=5,
    difficulty="easy",
    returns=("new",),
    properties=[
        values("logits above 0", 1, _high),
        values("logits of both signs", 1, _both),
    ],
    closed=CLOSED,
    planted="- set(used) → used",
    mistakes="""
always-divided: You divide negative logits as well, which makes them larger: those words become *more* probable.
- lower = score * penalty → lower = score / penalty

always-multiplied: You multiply positive logits as well, which makes those words more probable.
- lower = score / penalty → lower = score * penalty

signs-swapped: You multiply logits above 0 and divide the others. It should be the other way round.
- score > 0 → score <= 0

last-word-only: You penalise only the last word that was used. All of them should become less probable.
- set(used) → used[-1:]

logits-overwritten: The result is right, but you changed the caller's logits, which are needed again. Work on a copy.
- logits = logits.clone() → pass

subtracted: You subtract the penalty. It should divide a logit above 0, and multiply any other.
- lower = score * penalty → lower = score - penalty
- lower = score / penalty → lower = score - penalty
""",
)

_listing = listing_of(WITHOUT_REPEATING)
_at = _listing.number

WRONG_LINE = wrong_line(
    "decoding.wrong_line",
    WITHOUT_REPEATING,
    minutes=10,
    points=1,
    mistakes=f"""
copy-suspected: Line {_at("clone")} is right: the caller's logits stay as they are.
- {_listing.wrong} → {_at("clone")}

score-suspected: Line {_at("score = ")} is right: it reads the logit of the word, and should find it as the model
gave it. Who changed it before?
- {_listing.wrong} → {_at("score = ")}

negative-suspected: Line {_at("score * penalty")} is right: a negative logit times the penalty is lower.
- {_listing.wrong} → {_at("score * penalty")}

sign-suspected: Line {_at("score > 0")} is right: only a logit above 0 gets lower by a division. For 0 nothing changes.
- {_listing.wrong} → {_at("score > 0")}

symptom-not-cause: Line {_at("logits[word] = ")} writes wrong values, but each is right for the value it started from.
Why is it run so often?
- {_listing.wrong} → {_at("logits[word] = ")}
""",
)
