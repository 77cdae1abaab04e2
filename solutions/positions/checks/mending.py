"""Questions 4c and 4d: the wrong line of a friend's cache."""

from autograder.exercise.declare import question, values
from autograder.exercise.draw import Draw
from autograder.exercise.listing import listing_of
from autograder.exercise.special import wrong_line
from autograder.exercise.specification import Case, case
from solutions.positions.checks.common import CLOSED, waves


def _chunk(draw: Draw) -> list[Case]:
    heads, new, half = draw.sizes(3)
    old = new + 2
    given = [draw.normal(heads, time, 2 * half) for time in (new, new, new, old, old)]
    return [case("a second chunk", *given, waves(half))]


def _others(draw: Draw) -> list[Case]:
    heads, half = draw.sizes(2)
    q, k, v = (draw.normal(heads, 1, 2 * half) for _ in range(3))
    old = draw.largest + 3
    cached = [draw.normal(heads, old, 2 * half) for _ in range(2)]
    short = [draw.normal(1, 3, 4) for _ in range(3)]
    return [
        case("one new token", q, k, v, *cached, waves(half)),
        case("a short cache", *short, draw.normal(1, 2, 4), draw.normal(1, 2, 4), waves(2)),
    ]


READ_ON = question(
    "positions.read_on",
    minutes=5,
    difficulty="easy",
    returns=("output", "keys"),
    properties=[
        values("the output of a second chunk", 0.75, _chunk, "output"),
        values("the keys to keep", 0.75, _chunk, "keys"),
        values("one new token, a short cache", 0.5, _others),
    ],
    closed=CLOSED,
    planted="""
- torch.cat([old_keys, rotary(k, old, frequencies, "half")], dim=1)
+ rotary(torch.cat([old_keys, k], dim=1), 0, frequencies, "half")
""",
    mistakes="""
new-keys-from-the-start: The keys of the cache are left alone now, but you rotate the new ones as if they were at the
start of the text. The first of them is at position `old`.
- rotary(k, old, frequencies, "half") → rotary(k, 0, frequencies, "half")

new-keys-not-rotated: The keys of the cache are left alone now, but the new ones are not rotated at all.
- rotary(k, old, frequencies, "half") → k

all-from-old: You rotate old and new keys together, and from position `old` on. The old ones are rotated already.
- torch.cat([old_keys, rotary(k, old, frequencies, "half")], dim=1)
+ rotary(torch.cat([old_keys, k], dim=1), old, frequencies, "half")

new-counted-for-old: You rotate the new keys from position `new`. Before them are `old` tokens.
- rotary(k, old, frequencies, "half") → rotary(k, new, frequencies, "half")

new-before-old: The new keys come first in your cache. They come after the old ones, as in the values.
- [old_keys, rotary(k, old, frequencies, "half")] → [rotary(k, old, frequencies, "half"), old_keys]

queries-changed-as-well: You mended the keys, and changed the queries as well. That line was right: the first query is
at position `old`.
- q = rotary(q, old, → q = rotary(q, 0,
""",
)

_listing = listing_of(READ_ON)
_at = _listing.number

WRONG_LINE = wrong_line(
    "positions.wrong_line",
    READ_ON,
    minutes=10,
    points=1,
    mistakes=f"""
queries-suspected: Line {_at("q = rotary")} is right: the first new token is at position `old`, and no query is kept.
- {_listing.wrong} → {_at("q = rotary")}

values-suspected: Line {_at("values =")} is right: values are not rotated, so old and new are just put together.
- {_listing.wrong} → {_at("values =")}

scale-suspected: Line {_at("math.sqrt(d)")} is right: d is the width of a head, and the scores are divided by its root.
- {_listing.wrong} → {_at("math.sqrt(d)")}

mask-suspected: Line {_at("ahead =")} is right: query number i is at position old + i, and may not attend to later keys.
- {_listing.wrong} → {_at("ahead =")}

sizes-suspected: Line {_at("old, new, d =")} is right: axis 1 is time, and axis 2 the width of a head.
- {_listing.wrong} → {_at("old, new, d =")}

softmax-suspected: Line {_at("torch.softmax")} is right: keys ahead are hidden before the softmax, and the last axis
are the keys.
- {_listing.wrong} → {_at("torch.softmax")}
""",
)
