"""Questions 5a and 5b: a friend's band, whose values come from the future."""

from autograder.exercise.declare import question, values
from autograder.exercise.draw import Draw
from autograder.exercise.kinds import EQUAL
from autograder.exercise.listing import listing_of
from autograder.exercise.special import wrong_line
from autograder.exercise.specification import Case, case


def _text(draw: Draw, label: str, time: int, d: int, d_v: int, window: int) -> Case:
    return case(label, draw.normal(time, d), draw.normal(time, d), draw.normal(time, d_v), window)


def _short(draw: Draw) -> list[Case]:
    d, d_v = draw.sizes(2)
    return [
        _text(draw, "a window of two tokens", 1 + draw.largest, d, d_v, 2),
        _text(draw, "a window of three tokens", 2 + draw.largest, d, d_v, 3),
        _text(draw, EQUAL, 4, 4, 4, 4),
    ]


def _wide(draw: Draw) -> list[Case]:
    d, d_v = draw.sizes(2)
    return [
        _text(draw, "a window longer than the text", 3, d, d_v, 5),
        _text(draw, "two tokens", 2, d, d_v, 2),
    ]


BAND_ATTENTION = question(
    "efficient_attention.band_attention",
    minutes=5,
    difficulty="easy",
    returns=("output",),
    properties=[values("short windows", 1, _short), values("a window longer than the text", 1, _wide)],
    numpy=True,
    planted="- np.pad(v, ((window - 1, 0), (0, 0))) → np.pad(v, ((0, window - 1), (0, 0)))",
    mistakes="""
keys-from-the-future-too: You mended it the wrong way round: now keys *and* values have their zeros behind the text, so
both rows begin with the token itself and lead into the future. The keys were right.
* ((window - 1, 0), (0, 0)) → ((0, window - 1), (0, 0))

one-zero-too-many: Your rows of values are one token too late. With `window` zeros in front there is one row too many,
and the first one is that of the token before the text.
- np.pad(v, ((window - 1, 0), (0, 0))), window, axis=0)
+ np.pad(v, ((window, 0), (0, 0))), window, axis=0)[:length]

turned-round: Your rows of values contain the right tokens, but in the opposite order of the keys.
- np.pad(v, ((window - 1, 0), (0, 0))), window, axis=0)
+ np.pad(v, ((window - 1, 0), (0, 0))), window, axis=0)[..., ::-1]

own-value-only: Each token now gets its own value, whatever the weights are.
- sliding_window_view(np.pad(v, ((window - 1, 0), (0, 0))), window, axis=0) → np.repeat(v[..., None], window, axis=-1)

zeros-attended-to: You changed the mask as well: the zeros in front of the text now count as tokens. Leave the line with
`exists` as it was.
- np.arange(length)[:, None] → window + np.arange(length)[:, None]

zeros-on-both-sides: You have zeros on both sides of the values, so their rows begin at the same token as before, and no
longer fit the keys.
- np.pad(v, ((window - 1, 0), (0, 0)))
+ np.pad(v, (((window - 1) // 2, window // 2), (0, 0)))
""",
)

_listing = listing_of(BAND_ATTENTION)
_at = _listing.number

WRONG_LINE = wrong_line(
    "efficient_attention.wrong_line",
    BAND_ATTENTION,
    minutes=10,
    points=1,
    mistakes=f"""
keys-suspected: Line {_at("near_keys =")} is right: with `window` − 1 zeros in front, entry t holds the keys of the
tokens t − window + 1 to t.
- {_listing.wrong} → {_at("near_keys =")}

scores-suspected: Line {_at("scores =")} is right: each query is multiplied by the keys of its own row.
- {_listing.wrong} → {_at("scores =")}

back-suspected: Line {_at("back =")} is right: the first key of a row is `window` − 1 tokens back, and the last one is
the token itself.
- {_listing.wrong} → {_at("back =")}

exists-suspected: Line {_at("exists =")} is right: token t has t tokens before it, and what is further back is a row of
zeros.
- {_listing.wrong} → {_at("exists =")}

softmax-suspected: Line {_at("weights =")} is right: these are the exponentials of a softmax, which the next line
divides by their sum; the zeros in front of the text get the exponential 0.
- {_listing.wrong} → {_at("weights =")}

sum-suspected: Line {_at("return np.einsum")} is right: it adds up the values of each row with the row's weights. Are
they the values of the same tokens as the keys?
- {_listing.wrong} → {_at("return np.einsum")}
""",
)
