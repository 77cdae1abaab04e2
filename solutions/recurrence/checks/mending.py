"""Questions 6a and 6b: the wrong line of a friend's reading in chunks."""

from autograder.exercise.declare import question, values
from autograder.exercise.draw import Draw
from autograder.exercise.listing import listing_of
from autograder.exercise.special import wrong_line
from autograder.exercise.specification import Case, case
from solutions.recurrence.checks.common import weights


def _text(draw: Draw, label: str, time: int, k: int) -> Case:
    n_in, hidden = draw.sizes(2)
    return case(label, draw.normal(time, n_in), draw.normal(hidden), *weights(draw, n_in, hidden), k)


def _several(draw: Draw) -> list[Case]:
    return [_text(draw, "several chunks", 6, 2), _text(draw, "chunks of one step", 3, 1)]


def _edges(draw: Draw) -> list[Case]:
    return [_text(draw, "a chunk longer than the text", 4, 9), _text(draw, "a shorter chunk at the end", 5, 3)]


READ_IN_CHUNKS = question(
    "recurrence.read_in_chunks",
    minutes=5,
    difficulty="easy",
    returns=("states",),
    properties=[
        values("several chunks", 1, _several),
        values("one chunk, and a shorter one at the end", 1, _edges),
    ],
    numpy=True,
    planted="- h @ U → U @ h",
    mistakes="""
state-not-passed-on: You start every chunk from h0. The state is passed on from chunk to chunk; only the gradient is
not.
- chunk = xs[start : start + k] → chunk, h = xs[start : start + k], h0

chunk-too-long: Neighbouring chunks share a step, so a step is read twice. A slice ends before its second index.
- start + k] → start + k + 1]

tanh-too-early: You take the tanh of the state's part only. It belongs around the whole sum.
- np.tanh(inputs[t] + h @ U) → inputs[t] + np.tanh(h @ U)

bias-for-each-chunk: You add the bias only to the first step of a chunk. It belongs to every step.
- chunk @ W + b → chunk @ W; inputs[0] += b

previous-state-ignored: You use h0 at every step. Each step needs the state before it.
- h @ U → h0 @ U
""",
)

_listing = listing_of(READ_IN_CHUNKS)
_at = _listing.number

WRONG_LINE = wrong_line(
    "recurrence.wrong_line",
    READ_IN_CHUNKS,
    minutes=10,
    points=1,
    mistakes=f"""
start-suspected: Line {_at("h, states")} is right: it runs once, so the state is passed on from chunk to chunk.
- {_listing.wrong} → {_at("h, states")}

range-suspected: Line {_at("range(0")} is right: chunks start at 0, k, 2k and so on.
- {_listing.wrong} → {_at("range(0")}

slice-suspected: Line {_at("chunk = xs")} is right: a slice that ends after the text is simply shorter.
- {_listing.wrong} → {_at("chunk = xs")}

inputs-suspected: Line {_at("inputs = ")} is right: one product for all steps of a chunk, and the bias is added to each
row.
- {_listing.wrong} → {_at("inputs = ")}

length-suspected: Line {_at("for t in")} is right: the last chunk may have fewer than k steps.
- {_listing.wrong} → {_at("for t in")}
""",
)
