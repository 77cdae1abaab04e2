"""Questions 5a and 5b: the wrong line of a friend who reads a text in pieces."""

from typing import Any

from autograder.exercise.declare import question, values
from autograder.exercise.draw import Draw
from autograder.exercise.kinds import EQUAL
from autograder.exercise.listing import listing_of
from autograder.exercise.special import wrong_line
from autograder.exercise.specification import Case, case
from solutions.transformer.checks.common import CLOSED, block_weights, sizes_of


def _read(draw: Draw, label: str, pieces: int, length: int, rest: int = 0, equal: int = 0) -> Case:
    vocab, d_model = (equal, equal) if equal else (draw.largest + 8, 4 + draw.size())
    weights: dict[str, Any] = {
        "embedding": draw.normal(vocab, d_model),
        "blocks": [block_weights(draw, d_model, 4, equal or 5, 2, 1) for _ in range(2)],
        "norm": draw.normal(d_model),
    }
    tokens = draw.integers(0, vocab - 1, 2, pieces * length + rest + 1)
    return case(label, tokens, weights, sizes_of(2, 1), length)


def _even(draw: Draw) -> list[Case]:
    return [
        _read(draw, "pieces of equal length", 3, 2),
        _read(draw, "pieces of one token", 4, 1),
        _read(draw, EQUAL, 3, 2, equal=7),
    ]


def _uneven(draw: Draw) -> list[Case]:
    return [_read(draw, "a last piece that is shorter", 2, 3, 1), _read(draw, "two pieces, the last shorter", 1, 4, 2)]


LOSS_IN_PIECES = question(
    "transformer.loss_in_pieces",
    minutes=5,
    difficulty="easy",
    returns=("loss",),
    properties=[
        values("pieces of equal length", 1, _even),
        values("a last piece that is shorter", 1, _uneven),
    ],
    closed=CLOSED,
    planted="- language_model(piece, weights, sizes, state) → language_model(piece, weights, sizes)",
    mistakes="""
whole-text-and-state: You mended it twice: the model gets everything from the beginning *and* a state that has read it
already. With a state, only the new piece is new.
- language_model(piece, weights, sizes, state)
+ language_model(inputs[:, : begin + length], weights, sizes, state)
- torch.log_softmax(logits, dim=-1) → torch.log_softmax(logits[:, -wanted.shape[1] :], dim=-1)

boundary-lost: The state is passed on, but you changed the targets as well: they now come from the piece itself, so the
first token of a piece is never predicted. The two lines with `targets` were right.
- torch.log_softmax(logits, dim=-1) → torch.log_softmax(logits[:, :-1], dim=-1)
- wanted = targets[:, begin : begin + length] → wanted = piece[:, 1:]
- count += losses.numel() → count += max(losses.numel(), 1e-6)

mean-of-means: The state is passed on, but you changed the mean as well: you average the means of the pieces, so a short
piece counts as much as a long one. The sum over the number of tokens was right.
- total += losses.sum() → total += losses.mean()
- count += losses.numel() → count += 1

targets-not-shifted: The state is passed on, but you changed the targets as well: each position now predicts the token
that it has just read. They were right: one further.
- targets = tokens[:, :-1], tokens[:, 1:] → targets = tokens[:, :-1], tokens[:, :-1]

sum-for-mean: The state is passed on, but you return the sum of the losses. It was right to divide by their number.
- total / count → total

state-of-the-first-piece: Each piece gets the state after the *first* one. The state has to grow with every piece.
- logits, state = language_model(piece, weights, sizes, state)
+ logits, after = language_model(piece, weights, sizes, state)
+     state = after if state is None else state
""",
)

_listing = listing_of(LOSS_IN_PIECES)
_at = _listing.number

WRONG_LINE = wrong_line(
    "transformer.wrong_line",
    LOSS_IN_PIECES,
    minutes=10,
    points=1,
    mistakes=f"""
shift-suspected: Line {_at("tokens[:, :-1]")} is right: the logits after each token but the last are compared with the
token that follows.
- {_listing.wrong} → {_at("tokens[:, :-1]")}

start-suspected: Line {_at("None, 0.0, 0")} is right: before the first piece nothing was read, and there is no loss yet.
- {_listing.wrong} → {_at("None, 0.0, 0")}

steps-suspected: Line {_at("for begin")} is right: the pieces begin at 0, at `length`, at twice `length`, and so on.
- {_listing.wrong} → {_at("for begin")}

piece-suspected: Line {_at("piece = inputs")} is right: a slice that goes beyond the end of a text stops there.
- {_listing.wrong} → {_at("piece = inputs")}

targets-suspected: Line {_at("wanted = targets")} is right: `targets` is shifted by one already, so the target of the
last token of a piece is the first token of the next.
- {_listing.wrong} → {_at("wanted = targets")}

softmax-suspected: Line {_at("log_softmax")} is right: the last axis of the logits is the vocabulary.
- {_listing.wrong} → {_at("log_softmax")}

pick-suspected: Line {_at("gather")} is right: it takes the log-probability of each target, with a minus.
- {_listing.wrong} → {_at("gather")}

count-suspected: Line {_at("numel")} is right: it counts the losses of the piece, so that a shorter one counts for less.
- {_listing.wrong} → {_at("numel")}
""",
)
