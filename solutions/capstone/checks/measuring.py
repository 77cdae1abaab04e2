"""Question 1: bits per byte, by which models with different tokens are compared."""

import torch

from autograder.exercise.declare import question, values
from autograder.exercise.draw import Draw
from autograder.exercise.specification import Case, case

_PIECES = ["the", " ", "be", "é", "—", " or", "n", "ot", " question", "\n", "King", "s"]


def _text(draw: Draw, time: int, pieces: list[str], dtype: torch.dtype = torch.float32) -> tuple[object, ...]:
    log_p = (2 * draw.normal(time, len(pieces), dtype=dtype)).log_softmax(-1)
    return log_p, draw.integers(0, len(pieces) - 1, time), pieces


def _plain(draw: Draw) -> list[Case]:
    """Letters of one byte only."""
    time, vocab = draw.sizes(2)
    plain = [piece for piece in _PIECES if piece.isascii()]
    return [case("letters of one byte", *_text(draw, time + 1, plain[:vocab]))]


def _wide(draw: Draw) -> list[Case]:
    time = draw.size() + 3
    log_p, ids, pieces = _text(draw, time, _PIECES)
    assert isinstance(ids, torch.Tensor)
    ids[0], ids[1] = 3, 4
    log = (2 * draw.strided(time, len(_PIECES))).log_softmax(-1)
    wide = torch.empty(time, 2 * len(_PIECES))[:, ::2].copy_(log)
    return [
        case("letters of two and three bytes", log_p, ids, pieces),
        case("slices of larger tensors", wide, ids, pieces),
    ]


def _odd(draw: Draw) -> list[Case]:
    size = draw.size()
    return [
        case("one token", *_text(draw, 1, _PIECES)),
        case("float64, as many tokens as pieces", *_text(draw, size, _PIECES[-size:], torch.float64)),
    ]


BITS_PER_BYTE = question(
    "capstone.bits_per_byte",
    minutes=15,
    difficulty="easy",
    returns=("bits", "perplexity"),
    properties=[
        values("bits per byte", 0.5, _plain, "bits"),
        values("bits per byte of letters with several bytes", 0.5, _wide, "bits"),
        values("the perplexity", 0.5, _plain, "perplexity"),
        values("one token, float64", 0.5, _odd),
    ],
    mistakes="""
nats-for-bits: These are nats per byte. A bit is smaller: divide by the natural logarithm of 2.
- nats / math.log(2) / size → nats / size

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

perplexity-per-byte: The perplexity is per token, so the sum is divided by the number of tokens, not of bytes.
- math.exp(nats / len(ids)) → math.exp(nats / size)

sign-forgotten: Logarithms of probabilities are negative, and a number of bits is not. The cost of a token is −log P.
- nats = -log_p → nats = log_p

mean-of-the-whole-table: You used all entries of `log_p`. Only the token that really comes next costs something: one
entry of each row.
- log_p.gather(1, ids[:, None]).sum() → log_p.mean(1).sum()
""",
)
