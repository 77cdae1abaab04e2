"""Questions 6a and 6b: the wrong line of a friend who splits a logit."""

from autograder.exercise.declare import question, values
from autograder.exercise.draw import Draw
from autograder.exercise.kinds import EQUAL
from autograder.exercise.listing import listing_of
from autograder.exercise.special import wrong_line
from autograder.exercise.specification import Case, case
from solutions.scale_and_insight.checks.common import CLOSED, model, text


def _answers(draw: Draw) -> list[int]:
    return [draw.integer(0, 4), draw.integer(5, 10)]


def _split(draw: Draw) -> list[Case]:
    weights, sizes = model(draw, 3)
    return [case("three layers", text(draw, 3 + draw.size()), _answers(draw), weights, sizes)]


def _others(draw: Draw) -> list[Case]:
    weights, sizes = model(draw, 1)
    equal, three = model(draw, 2, vocab=11, d_model=6, heads=3, sets=3)
    return [
        case("one layer, one word", text(draw, 1), _answers(draw), weights, sizes),
        case(EQUAL, text(draw, 6), _answers(draw), equal, three | {"eps": 0.5}),
    ]


SHARES = question(
    "scale_and_insight.direct_shares",
    minutes=5,
    difficulty="easy",
    returns=("shares",),
    properties=[
        values("the shares in three layers", 1.25, _split),
        values("one layer, a large ε", 0.75, _others),
    ],
    closed=CLOSED,
    planted="- x[0, -1].square().mean() → torch.stack(parts).square().mean(-1)",
    mistakes="""
size-of-the-start: All parts are now divided by the same number, but it is the size of the embedding. The final norm
divides by the size of the pathway at its *end*.
- x[0, -1].square() → parts[0].square()

mean-of-sizes: All parts are now divided by the same number, but it is the mean of the parts' own sizes. The final norm
sees their sum.
- x[0, -1].square().mean() → torch.stack(parts).square().mean()

not-divided: You no longer divide by a size. The final norm does, so the shares are too large.
- torch.sqrt(x[0, -1].square().mean() + sizes["eps"]) → 1.0

length-for-size: You divide by the length of the vector. The norm divides by the root of the *mean* square.
- x[0, -1].square().mean() → x[0, -1].square().sum()

first-position-measured: You measure the size at the first position. The log-odds are those of the last one.
- x[0, -1].square() → x[0, 0].square()

all-positions-measured: Your mean goes over all positions of the text. Each position has its own norm; the log-odds are
those of the last one.
- x[0, -1].square().mean() → x.square().mean()

root-forgotten: You divide by the mean square. Divide by its root.
- torch.sqrt(x[0, -1].square().mean() + sizes["eps"]) → (x[0, -1].square().mean() + sizes["eps"])
""",
)

_listing = listing_of(SHARES)
_at = _listing.number

WRONG_LINE = wrong_line(
    "scale_and_insight.wrong_line",
    SHARES,
    minutes=10,
    points=1,
    mistakes=f"""
start-suspected: Line {_at("parts = [x")} is right: the first term of the sum is the embedding of the last word.
- {_listing.wrong} → {_at("parts = [x")}

heads-suspected: Line {_at("attention = F")} is right: the matrix mixes what the heads gave, and the result is what
they add to the pathway.
- {_listing.wrong} → {_at("attention = F")}

network-suspected: Line {_at("parts +=")} is right: what the layer added, less what its heads added, is what its
network added.
- {_listing.wrong} → {_at("parts +=")}

update-suspected: Line {_at("x = after")} is right: the next layer reads the pathway after this one.
- {_listing.wrong} → {_at("x = after")}

difference-suspected: Line {_at("first, second")} is right: the log-odds are the pathway's dot product with a
*difference* of two unembeddings, and the embedding is the unembedding.
- {_listing.wrong} → {_at("first, second")}

gain-suspected: Line {_at("return")} is right: the gain multiplies each dimension, so it may as well multiply the
difference of the two words. But look at what the line divides by.
- {_listing.wrong} → {_at("return")}
""",
)
