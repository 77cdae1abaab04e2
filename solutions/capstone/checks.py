"""Assignment "capstone": bits per byte, by which models with different tokens are compared. Its race is
`autograder.race`.
"""

from typing import Any

from autograder.question.declare import exercises_in, question, values
from autograder.question.draw import Draw
from autograder.question.sized import ODD, at

PIECES = ["the", " ", "be", "é", "—", " or", "n", "ot", " question", "\n", "King", "s"]
PLAIN = [piece for piece in PIECES if piece.isascii()]


def text(draw: Draw, time: int, pieces: list[str]) -> tuple[Any, ...]:
    log_p = (2 * draw.normal(time, len(pieces))).log_softmax(-1)
    return log_p, draw.integers(0, len(pieces) - 1, time), pieces


def several_bytes(draw: Draw, time: int) -> tuple[Any, ...]:
    log_p, ids, pieces = text(draw, time + 3, PIECES)
    ids[0], ids[1] = 3, 4
    return log_p, ids, pieces


BITS_PER_BYTE = question(
    "capstone.bits_per_byte",
    returns=("bits", "perplexity"),
    inputs=at("letters of one byte", lambda draw, time, vocab: text(draw, time + 1, PLAIN[:vocab])),
    odd=[
        at("one token", lambda draw: text(draw, 1, PIECES)),
        at("as many tokens as pieces", lambda draw, size: text(draw, size, PIECES[-size:])),
    ],
    properties=[
        values("bits per byte", 0.5, "bits"),
        values(
            "bits per byte of letters with several bytes",
            0.5,
            at("letters of two and three bytes", several_bytes),
            "bits",
        ),
        values("the perplexity", 0.5, "perplexity"),
        values("one token, float64", 0.5, ODD),
    ],
    mistakes="""
nats-for-bits: These are nats per byte. A bit is smaller: divide by the natural logarithm of 2.
- nats / math.log(2) / size → nats / size
multiplied-by-ln-2: You multiplied the nats by ln 2. A nat is more than a bit, so there are more bits than nats: divide.
- nats / math.log(2) / size → nats * math.log(2) / size
bits-per-token: You divided the bits by the tokens. Then a model with longer tokens looks worse, although it may need
fewer bits for the text. Divide by the bytes of the text.
- nats / math.log(2) / size → nats / math.log(2) / len(ids)
characters-for-bytes: You counted characters. A letter such as é has two bytes in UTF-8, and a dash three.
- len(pieces[i].encode()) → len(pieces[i])
bytes-of-all-pieces: You counted the bytes of the whole vocabulary. Only the pieces of `ids` are in the text, each as
often as it occurs.
- sum(len(pieces[i].encode()) for i in ids.tolist()) → sum(len(piece.encode()) for piece in pieces)
each-piece-once: You counted every piece once. A piece that occurs three times in the text has three times its bytes.
- for i in ids.tolist() → for i in set(ids.tolist())
perplexity-from-bits: For the perplexity you raised e to a number of bits. Base and logarithm belong together: e and
nats, or 2 and bits.
- math.exp(nats / len(ids)) → math.exp(nats / math.log(2) / len(ids))
or
- math.exp(nats / len(ids)) → 2 ** (nats / len(ids))
perplexity-per-byte: The perplexity is per token, so the sum is divided by the number of tokens, not of bytes.
- math.exp(nats / len(ids)) → math.exp(nats / size)
sign-forgotten: Logarithms of probabilities are negative, and a number of bits is not. The cost of a token is −log P.
- nats = -log_p → nats = log_p
results-swapped: You swapped the two results. Return the bits per byte first, then the perplexity.
- return nats / math.log(2) / size, math.exp(nats / len(ids))
+ return math.exp(nats / len(ids)), nats / math.log(2) / size
likeliest-token: You scored the most probable token. Score the token that comes next, `ids[i]` in row i.
- log_p.gather(1, ids[:, None]).sum() → log_p.max(1).values.sum()
mean-of-the-whole-table: You used all entries of `log_p`. Only the token that really comes next costs something: one
entry of each row.
- log_p.gather(1, ids[:, None]).sum() → log_p.mean(1).sum()
""",
)

EXERCISES = exercises_in(__name__)
