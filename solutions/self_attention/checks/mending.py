"""Questions 5a and 5b: the wrong line of a colleague's step with kept keys."""

from autograder.exercise.declare import question, values
from autograder.exercise.draw import Draw
from autograder.exercise.listing import listing_of
from autograder.exercise.special import wrong_line
from autograder.exercise.specification import Case, case
from solutions.self_attention.checks.common import CLOSED


def _step(draw: Draw, label: str, heads: int, time: int, d: int) -> Case:
    newest = tuple(2 * draw.normal(heads, d) for _ in range(3))
    return case(label, *newest, draw.normal(heads, time, d), draw.normal(heads, time, d))


def _several(draw: Draw) -> list[Case]:
    heads, time, d = draw.sizes(3)
    return [_step(draw, "several earlier tokens", heads, time + 3, d)]


def _edges(draw: Draw) -> list[Case]:
    return [_step(draw, "one earlier token", 2, 1, 5), _step(draw, "a single head", 1, 4, 3)]


NEXT_TOKEN = question(
    "self_attention.next_token",
    minutes=5,
    difficulty="easy",
    returns=("output",),
    properties=[
        values("several earlier tokens", 1, _several),
        values("one earlier token, and a single head", 1, _edges),
    ],
    closed=CLOSED,
    planted="- q.shape[-1] → keys.shape[1]",
    mistakes="""
not-divided: Your scores are not divided at all. Divide them by the root of the width.
- / scale →

width-for-its-root: You divide by the width itself. Divide by its root.
- math.sqrt(q.shape[-1]) → q.shape[-1]

divided-by-the-heads: You divide by the root of the number of heads. The width is the last size.
- q.shape[-1] → q.shape[0]

itself-left-out: The newest token no longer reads itself: its own key and value belong to the others.
- keys = torch.cat([keys, k[:, None]], dim=1) → keys = keys
- values = torch.cat([values, v[:, None]], dim=1) → values = values

softmax-over-heads: Your softmax runs over the heads. Each head shares its weight among the tokens.
- torch.softmax(scores, dim=-1) → torch.softmax(scores, dim=0)

keys-read: You return a sum of keys. The weights belong to the values.
- weights, values) → weights, keys)
""",
)

_listing = listing_of(NEXT_TOKEN)
_at = _listing.number

WRONG_LINE = wrong_line(
    "self_attention.wrong_line",
    NEXT_TOKEN,
    minutes=10,
    points=1,
    mistakes=f"""
keys-suspected: Line {_at("keys = torch.cat")} is right: the newest key joins the earlier ones at the end of the time
axis.
- {_listing.wrong} → {_at("keys = torch.cat")}

values-suspected: Line {_at("values = torch.cat")} is right: the newest token reads its own value as well.
- {_listing.wrong} → {_at("values = torch.cat")}

scores-suspected: Line {_at("scores = ")} is right: one dot product per head and token, all divided by the same number.
- {_listing.wrong} → {_at("scores = ")}

softmax-suspected: Line {_at("torch.softmax")} is right: the last axis is the time, and no token lies in the future.
- {_listing.wrong} → {_at("torch.softmax")}

sum-suspected: Line {_at("weights, values")} is right: it adds up the values of each head with its weights.
- {_listing.wrong} → {_at("weights, values")}
""",
)
