"""Questions 6a and 6b: the wrong line of a colleague's count of keys."""

import torch

from autograder.exercise.declare import question, values
from autograder.exercise.draw import Draw
from autograder.exercise.listing import listing_of
from autograder.exercise.special import wrong_line
from autograder.exercise.specification import Case, case
from solutions.attention.checks.common import CLOSED


def _weights(draw: Draw, lengths: list[int], time: int) -> Case:
    """Weights of self-attention in which half of the keys are out of reach."""
    label = "texts of equal length" if len(set(lengths)) == 1 else "texts of different lengths"
    scores = draw.normal(len(lengths), time, time).masked_fill(~draw.mask(len(lengths), time, time), -torch.inf)
    return case(label, torch.softmax(3 * scores, dim=-1), torch.tensor(lengths))


def _equal(draw: Draw) -> list[Case]:
    batch, time = draw.sizes(2)
    return [_weights(draw, [time + 1] * batch, time + 1)]


def _ragged(draw: Draw) -> list[Case]:
    time = draw.size() + 2
    lengths = [draw.integer(1, time - 1), time, draw.integer(1, time - 1)]
    return [_weights(draw, lengths, time), _weights(draw, [time - 1, draw.integer(1, time - 2)], time)]


KEYS_LOOKED_AT = question(
    "attention.keys_looked_at",
    minutes=5,
    difficulty="easy",
    returns=("number",),
    properties=[
        values("texts of equal length", 1, _equal),
        values("texts of different lengths", 1, _ragged),
    ],
    closed=CLOSED,
    planted="- .sum(-1) → .sum(-2)",
    mistakes="""
exponential-of-the-mean: You took the mean of the entropies first and the exponential once. That is a different mean:
the number of keys belongs to each query.
- number = entropy.exp() → number = entropy
- total / real.sum() → (total / real.sum()).exp()

entropy-returned: You return the mean entropy itself. The number of keys is e to the entropy.
- entropy.exp() → entropy

sum-over-everything: You summed over queries and keys. Each query has an entropy of its own: sum over the keys.
- .sum(-1) → .sum((-2, -1)).unsqueeze(1) / weights.shape[1]

minus-lost: The minus sign is lost: the logarithm of a weight is negative, and an entropy never is.
- -(weights → (weights

bits: Your logarithm has base 2, and your exponential base e. Either base is fine if both agree.
- .log() → .log2()
""",
)

_listing = listing_of(KEYS_LOOKED_AT)
_at = _listing.number

WRONG_LINE = wrong_line(
    "attention.wrong_line",
    KEYS_LOOKED_AT,
    minutes=10,
    points=1,
    mistakes=f"""
clamp-suspected: Line {_at("clamp")} is right: a weight of 0 adds 0 to the entropy, and the limit only avoids 0 times
−∞.
- {_listing.wrong} → {_at("clamp")}

exponential-suspected: Line {_at("entropy.exp()")} is right: a query that spreads its weight evenly over n keys has the
entropy ln n.
- {_listing.wrong} → {_at("entropy.exp()")}

mask-suspected: Line {_at("torch.arange")} is right: it is True for the queries before the end of their text.
- {_listing.wrong} → {_at("torch.arange")}

total-suspected: Line {_at("(number * real)")} is right: the padded queries add 0.
- {_listing.wrong} → {_at("(number * real)")}

divisor-suspected: Line {_at("total / real.sum()")} is right: it divides by the number of real queries.
- {_listing.wrong} → {_at("total / real.sum()")}
""",
)
