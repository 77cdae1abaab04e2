"""Questions 7a, 7b and 7c: a windowed cache with sinks, in order, and decoding with it."""

from typing import Any

import torch

from autograder.exercise.declare import inputs_too, question, shapes, values
from autograder.exercise.draw import Draw
from autograder.exercise.kinds import EQUAL
from autograder.exercise.specification import Case, case
from solutions.efficient_attention.checks.common import CLOSED

Cache = dict[str, Any]


def _cache(draw: Draw, count: int, slots: int, d: int, d_v: int, read: int, double: bool = False) -> Cache:
    """A cache that has read that many tokens; slots that were never filled hold zeros."""
    dtype = torch.float64 if double else torch.float32
    keys, values = draw.normal(count, slots, d, dtype=dtype), draw.normal(count, slots, d_v, dtype=dtype)
    keys[:, read:], values[:, read:] = 0.0, 0.0
    return {"keys": keys, "values": values, "read": read}


def _new(draw: Draw, cache: Cache, time: int) -> tuple[Any, ...]:
    count, _, d = cache["keys"].shape
    dtype = cache["keys"].dtype
    return draw.normal(count, time, d, dtype=dtype), draw.normal(count, time, cache["values"].shape[2], dtype=dtype)


def _more(draw: Draw, label: str, slots: int, read: int, time: int, sinks: int, double: bool = False) -> Case:
    count, d, d_v = draw.sizes(3)
    cache = _cache(draw, count, slots, d, d_v, read, double)
    return case(label, cache, *_new(draw, cache, time), sinks)


# --- the ring ---------------------------------------------------------------------------------------------


def _room(draw: Draw) -> list[Case]:
    return [
        _more(draw, "an empty cache", 6, 0, 3, 2),
        _more(draw, "room for all new tokens", 7, 3, 2, 2),
        _more(draw, "the new tokens fill it", 6, 3, 3, 1),
    ]


def _round(draw: Draw) -> list[Case]:
    square = _cache(draw, 3, 3, 3, 3, 3)
    return [
        _more(draw, "one token too many", 5, 5, 1, 0),
        _more(draw, "a cache that is full", 6, 13 + draw.size(), 2, 2),
        _more(draw, "the ring goes round in the middle", 6, 5, 3, 1),
        case(EQUAL, square, *_new(draw, square, 3), 1),
    ]


def _many(draw: Draw) -> list[Case]:
    return [
        _more(draw, "more new tokens than slots", 4, 2, 5 + draw.largest, 1),
        _more(draw, "more new tokens than slots, from the start", 5, 0, 8 + draw.largest, 2),
    ]


def _others(draw: Draw) -> list[Case]:
    return [
        _more(draw, "no sinks", 4, 6, 2, 0),
        _more(draw, "a ring of one slot", 4, 5, 2, 3),
        _more(draw, "float64", 5, 7, 2, 2, double=True),
        _more(draw, "one slot", 1, 2, 1, 0),
    ]


REMEMBER = question(
    "efficient_attention.remember",
    minutes=25,
    difficulty="medium",
    returns=("keys", "values", "read"),
    properties=[
        shapes(0.25, _room),
        values("a cache with room", 0.75, _room, "keys", "values"),
        inputs_too(values("a ring that goes round, the old cache unchanged", 1.25, _round)),
        values("more new tokens than slots", 0.75, _many, "keys", "values"),
        values("how many were read", 0.5, _round, "read"),
        values("no sinks, small rings, float64", 0.5, _others),
    ],
    closed=CLOSED,
    mistakes="""
sinks-overwritten: Your ring goes through all slots, so the sinks are overwritten. The ring begins after them.
- read if read < sinks else sinks + (read - sinks) % ring → read % keys.shape[1]

ring-begins-elsewhere: Your ring begins in the wrong slot: the first token after the sinks belongs to the first slot
after them. Count the tokens of the ring from there.
- (read - sinks) % ring → read % ring

ring-too-large: Your remainder is that by the number of all slots. The ring lacks those of the sinks.
- sinks + (read - sinks) % ring → min(sinks + (read - sinks) % keys.shape[1], keys.shape[1] - 1)

moved-up: You move everything up and put the new token last. That is a queue, and it copies the whole window for each
token. In a ring only the oldest token is overwritten.
- slot = read if read < sinks else sinks + (read - sinks) % ring
+ slot = min(read, keys.shape[1] - 1)
+     if read >= keys.shape[1]:
+         keys[:, sinks:-1], values[:, sinks:-1] = keys[:, sinks + 1 :].clone(), values[:, sinks + 1 :].clone()

stops-when-full: Once your cache is full, it takes no new tokens.
- slot = read if read < sinks else sinks + (read - sinks) % ring
+ if read >= keys.shape[1]:
+         read += 1
+         continue
+     slot = read

newest-overwritten: When your cache is full, each new token overwrites the newest one, in the last slot. Overwrite the
oldest of the ring.
- sinks + (read - sinks) % ring → min(read, keys.shape[1] - 1)

first-of-the-new-only: You store only the first of the new tokens. There may be several.
- for new in range(k.shape[1]): → for new in range(1):
- "read": read} → "read": cache["read"] + k.shape[1]}

read-forgotten: The slots are right, but `read` has not changed. The next call would overwrite the same slots.
- "read": read} → "read": cache["read"]}

read-one: You add 1 to `read`, however many tokens are new.
- "read": read} → "read": cache["read"] + 1}

read-stops: Your `read` stops at the number of slots. It counts all tokens of the text, because the place of the next
one depends on it.
- "read": read} → "read": min(read, keys.shape[1])}

in-place: The result is right, but you wrote into the tensors of the old cache. If you continue from it again, you find
your tokens there: work on copies.
- cache["keys"].clone(), cache["values"].clone() → cache["keys"], cache["values"]

keys-for-values: You store the new keys as values, too.
- = k[:, new], v[:, new]
+ = k[:, new], k[:, new, :1].expand(-1, values.shape[2])
""",
)


# --- in order ---------------------------------------------------------------------------------------------


def _held(draw: Draw, label: str, slots: int, read: int, sinks: int, double: bool = False) -> Case:
    count, d, d_v = draw.sizes(3)
    return case(label, _cache(draw, count, slots, d, d_v, read, double), sinks)


def _part(draw: Draw) -> list[Case]:
    count, d, d_v = draw.sizes(3)
    cache = _cache(draw, count, 6, d, d_v, 4)
    cache["keys"][:, 1] = 0
    return [
        _held(draw, "not full yet", 7, 4, 2),
        _held(draw, "fewer tokens than sinks", 6, 1, 2),
        case("a token whose key is 0", cache, 2),
    ]


def _gone_round(draw: Draw) -> list[Case]:
    return [
        _held(draw, "the ring has gone round", 6, 8, 1),
        _held(draw, "after a long text", 8, 28 + draw.integer(0, 3), 2),
        case(EQUAL, _cache(draw, 4, 4, 4, 4, 6), 1),
    ]


def _just_full(draw: Draw) -> list[Case]:
    return [
        _held(draw, "just full", 5, 5, 2),
        _held(draw, "no sinks", 5, 7, 0),
        _held(draw, "a ring of one slot", 4, 9, 3),
        _held(draw, "float64", 5, 8, 2, double=True),
    ]


IN_ORDER = question(
    "efficient_attention.in_order",
    minutes=15,
    difficulty="medium",
    returns=("keys", "values"),
    properties=[
        values("a cache that is not full", 0.5, _part),
        values("a ring that has gone round", 0.75, _gone_round),
        values("just full, no sinks, one slot", 0.25, _just_full),
    ],
    closed=CLOSED,
    mistakes="""
empty-slots-returned: You return all slots, also those that were never filled.
- torch.arange(min(read, slots)) → torch.arange(slots)

zeros-left-out: You leave out slots that hold zeros. A key can be 0 by itself: `read` says how many slots were filled.
- return cache["keys"][:, order], cache["values"][:, order]
+ order = order[cache["keys"][:, order].abs().sum((0, 2)) > 0]
+ return cache["keys"][:, order], cache["values"][:, order]

as-they-are: You return the slots in their own order. When the ring has gone round, its oldest token is in the middle.
- if read > slots: → if False:

sinks-rolled-too: You move the sinks as well. They stay in front, and only the ring is cut and swapped.
- torch.cat([order[:sinks], order[sinks:].roll(-((read - sinks) % (slots - sinks)))]) → order.roll(-(read % slots))

rolled-by-read: You cut the ring at `read`, without subtracting the sinks. The ring begins with the token after them.
- (read - sinks) % (slots - sinks) → read % (slots - sinks)

wrong-direction: You cut the ring at the right slot, but swapped in the wrong direction: the oldest token comes first.
- .roll(-( → .roll((

newest-first: Your ring is in the opposite order: its newest token comes first.
- % (slots - sinks)))]) → % (slots - sinks))).flip(0)])

cut-one-late: You cut the ring one slot too late: the slot that comes next holds the oldest token.
- (read - sinks) % (slots - sinks) → (read - sinks + 1) % (slots - sinks)

sinks-last: Your sinks come after the ring. They are the oldest tokens of all.
- torch.cat([order[:sinks], order[sinks:].roll(-((read - sinks) % (slots - sinks)))])
+ torch.cat([order[sinks:].roll(-((read - sinks) % (slots - sinks))), order[:sinks]])

values-as-they-are: Your keys are in order, but your values are not. Both need the same order.
- cache["values"][:, order] → cache["values"][:, : len(order)]
""",
)


# --- decoding ---------------------------------------------------------------------------------------------


def _step(
    draw: Draw, label: str, slots: int, read: int, sinks: int, base: float = 50.0, equal: int = 0, double: bool = False
) -> Case:
    count, half, d_v = (equal, equal, 2 * equal) if equal else draw.sizes(3)
    cache = _cache(draw, count, slots, 2 * half, d_v, read, double)
    k, v = _new(draw, cache, 1)
    return case(label, 2 * draw.normal(*k.shape, dtype=k.dtype), k, v, cache, sinks, base)


def _fits(draw: Draw) -> list[Case]:
    return [_step(draw, "everything fits", 7, 4, 2), _step(draw, EQUAL, 4, 2, 1, equal=2)]


def _slid(draw: Draw) -> list[Case]:
    return [
        _step(draw, "the first token that is forgotten", 5, 5, 2),
        _step(draw, "after a long text", 6, 40 + draw.integer(0, 3), 1),
    ]


def _corners(draw: Draw) -> list[Case]:
    return [
        _step(draw, "the first token of a text", 4, 0, 1),
        _step(draw, "a ring of one slot", 3, 8, 2),
        _step(draw, "another base, no sinks", 4, 6, 0, 10_000.0),
        _step(draw, "float64", 5, 8, 2, double=True),
    ]


DECODE = question(
    "efficient_attention.decode",
    minutes=20,
    difficulty="medium",
    returns=("output", "cache"),
    properties=[
        shapes(0.25, _fits),
        values("the output while everything fits", 1, _fits, "output"),
        values("the output after the ring has gone round", 1, _slid, "output"),
        inputs_too(values("the new cache, the old one unchanged", 0.5, _slid, "cache")),
        values("first token, one slot, float64", 0.25, _corners),
    ],
    closed=CLOSED,
    mistakes="""
does-not-see-itself: Your query sees only the earlier tokens. First put the new token into the cache, then attend.
- keys, values = in_order(cache, sinks)
+ keys, values = in_order(cache, sinks)
+ if keys.shape[1] > 1:
+     keys, values = keys[:, :-1], values[:, :-1]
- keys.shape[1] - 1 → min(cache["read"], cache["keys"].shape[1]) - 1

position-in-the-text: Your query is at its position in the *text*. Positions are counted in the cache, so that none is
larger than the model was trained with.
- keys.shape[1] - 1 → cache["read"] - 1

one-too-far: Your query is one position too far: with 4 keys, the last one and the query itself are at position 3.
- keys.shape[1] - 1 → keys.shape[1]

query-not-rotated: Your query is not rotated.
- query = rotated(q, keys.shape[1] - 1, base) → query = q

keys-not-rotated: Your keys are not rotated. They are kept as they are, so each step rotates them by their present
positions.
- rotated(keys, 0, base).mT → keys.mT

nothing-rotated: Neither the query nor the keys are rotated.
- query = rotated(q, keys.shape[1] - 1, base) → query = q
- rotated(keys, 0, base).mT → keys.mT

rotated-keys-kept: Your cache holds the new key rotated. Its position changes when the window moves on, so keep it as it
is.
- cache = remember(cache, k, v, sinks)
+ last = min(cache["read"], cache["keys"].shape[1] - 1)
+ cache = remember(cache, rotated(k, last, base), v, sinks)

slots-for-order: You rotate the slots in their own order. Positions follow the order of the text, so put the cache in
order first.
- keys, values = in_order(cache, sinks)
+ held = min(cache["read"], cache["keys"].shape[1])
+ keys, values = cache["keys"][:, :held], cache["values"][:, :held]

empty-slots-attended: Your query attends to slots that were never filled. A key of zeros has the score 0, which is an
ordinary score.
- keys, values = in_order(cache, sinks)
+ keys, values = in_order(cache, sinks)
+ if cache["read"] < cache["keys"].shape[1]:
+     keys, values = cache["keys"], cache["values"]
- keys.shape[1] - 1 → min(cache["read"], cache["keys"].shape[1]) - 1

values-rotated: You rotate the values. Positions concern the scores only.
- return torch.softmax(scores, dim=-1) @ values, cache
+ even = values.shape[-1] // 2 * 2
+ values = torch.cat([rotated(values[..., :even], 0, base) if even else values[..., :0], values[..., even:]], -1)
+ return torch.softmax(scores, dim=-1) @ values, cache

old-cache-returned: You return the cache that you were given. The new token is not in it.
- return torch.softmax(scores, dim=-1) @ values, cache → return torch.softmax(scores, dim=-1) @ values, given
^ given = cache

not-scaled: The division by √d is missing.
-  / math.sqrt(q.shape[-1]) →
""",
)
