"""Questions 6a and 6b: the wrong line of a friend's LSTM with peepholes."""

from autograder.exercise.declare import question, values
from autograder.exercise.draw import Draw
from autograder.exercise.listing import listing_of
from autograder.exercise.special import wrong_line
from autograder.exercise.specification import Case, case
from solutions.gates.checks.common import blocks


def _step(draw: Draw, label: str, batch: int, n_in: int, hidden: int) -> Case:
    W, U, b = blocks(draw, 4, n_in, hidden)
    state = draw.normal(batch, hidden), draw.normal(batch, hidden)
    return case(label, draw.normal(batch, n_in), *state, W, U, draw.normal(3, hidden), b)


def _batch(draw: Draw) -> list[Case]:
    return [_step(draw, "a batch", *draw.sizes(3))]


def _edges(draw: Draw) -> list[Case]:
    return [_step(draw, "one text", 1, *draw.sizes(2)), _step(draw, "one unit", 3, draw.size(), 1)]


PEEPHOLE_STEP = question(
    "gates.peephole_step",
    minutes=5,
    difficulty="easy",
    returns=("h", "c"),
    properties=[
        values("a batch", 1, _batch),
        values("one text, and one unit", 1, _edges),
    ],
    numpy=True,
    planted="- P[2] * new → P[2] * c",
    mistakes="""
results-swapped: You returned the two results in the wrong order: first the new h, then the new c.
- return o * shown, new → return new, o * shown

old-memory-shown: Your output shows the old memory. The output gate decides how much of the new one to show.
- np.tanh(new) → np.tanh(c)

shown-seen: Your output gate sees tanh of the new memory. The peephole looks at the memory itself.
- P[2] * new → P[2] * shown

forget-sees-the-state: Your forget gate sees h through its peephole. It should see the memory c; h comes in through U.
- P[1] * c → P[1] * h

peepholes-swapped: You swapped the peepholes of the forget gate and of the output gate. Their order is i, f, o.
- P[1] * c → P[2] * c
- P[2] * new → P[1] * new

peephole-forgotten: Your output gate sees no memory at all. It should see the new one.
- o + P[2] * new → o

tanh-forgotten: You show the memory without tanh. It may grow beyond 1; the output of an LSTM does not.
- np.tanh(new) → new
""",
)

_listing = listing_of(PEEPHOLE_STEP)
_at = _listing.number

WRONG_LINE = wrong_line(
    "gates.wrong_line",
    PEEPHOLE_STEP,
    minutes=10,
    points=1,
    mistakes=f"""
input-gate-suspected: Line {_at("P[0]")} is right: the input gate sees the old memory.
- {_listing.wrong} → {_at("P[0]")}

forget-gate-suspected: Line {_at("P[1]")} is right: the forget gate sees the old memory, which it is about to forget.
- {_listing.wrong} → {_at("P[1]")}

memory-suspected: Line {_at("new = ")} is right: it keeps a part of the old memory and writes a part of the candidate.
- {_listing.wrong} → {_at("new = ")}

sums-suspected: Line {_at("x @ W")} is right: the four sums of 3a, one block each.
- {_listing.wrong} → {_at("x @ W")}

shown-suspected: Line {_at("shown = ")} is right: it is tanh of the new memory, and the next line does not need it.
- {_listing.wrong} → {_at("shown = ")}
""",
)
