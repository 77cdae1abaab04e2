"""Questions 5a and 5b: the wrong line of a friend's minibatch in pieces."""

from autograder.exercise.declare import question, values
from autograder.exercise.draw import Draw
from autograder.exercise.kinds import EQUAL
from autograder.exercise.listing import listing_of
from autograder.exercise.special import wrong_line
from autograder.exercise.specification import Case, case
from solutions.training.checks.loop import small_task


def _shorter(draw: Draw) -> list[Case]:
    """The last piece is shorter than the others."""
    run, windows, _ = small_task(draw)
    size = draw.integer(3, 4)
    batch = windows[: 2 * size + draw.integer(1, size - 1)]
    return [case("a shorter piece at the end", run["weights"], batch, size)]


def _odd(draw: Draw) -> list[Case]:
    run, windows, _ = small_task(draw)
    return [
        case("all but one window, and one", run["weights"], windows, len(windows) - 1),
        case(EQUAL, run["weights"], windows[:3], 2),
    ]


IN_PIECES = question(
    "training.in_pieces",
    minutes=5,
    difficulty="easy",
    returns=("loss", "gradients"),
    properties=[
        values("the loss", 0.75, _shorter, "loss"),
        values("the gradients", 0.75, _shorter, "gradients"),
        values("a piece of one window", 0.5, _odd),
    ],
    numpy=True,
    planted="- len(piece) / len(windows) → 1 / math.ceil(len(windows) / size)",
    mistakes="""
sum-of-means: You add up the means of the pieces, so more pieces give a larger loss. Each piece should count by the
fraction of the windows that it holds.
- share = len(piece) / len(windows) → share = 1.0

size-for-length: You weigh each piece by `size`, but the last piece is shorter. Count its own windows.
- share = len(piece) / → share = size /

fraction-of-a-piece: You weigh each piece by how full it is. The weights should add up to 1: divide by the number of
all windows.
- len(piece) / len(windows) → len(piece) / size

divided-by-all: You divide each mean by the number of all windows. A mean of k windows stands for k of them: multiply
by k as well.
- len(piece) / len(windows) → 1 / len(windows)

rounded-down: You count only the full pieces, so the weights add up to more than 1. The shorter piece counts as well.
- len(piece) / len(windows) → 1 / (len(windows) // size)
""",
)

_listing = listing_of(IN_PIECES)
_at = _listing.number

WRONG_LINE = wrong_line(
    "training.wrong_line",
    IN_PIECES,
    minutes=10,
    points=1,
    mistakes=f"""
range-suspected: Line {_at("for start in")} is right: the starts are 0, size, 2 · size and so on, and the last piece is
not left out.
- {_listing.wrong} → {_at("for start in")}

slice-suspected: Line {_at("piece = windows")} is right: a slice that goes beyond the end stops at the end, so the last
piece is just shorter.
- {_listing.wrong} → {_at("piece = windows")}

loss-suspected: Line {_at("loss, found")} is right: without dropout the network gives each window the same loss in
whatever piece it is. But note what is returned: a mean over the piece.
- {_listing.wrong} → {_at("loss, found")}

sum-suspected: Line {_at("total = total")} is right: a mean over all windows is a weighted sum of the means of the
pieces. Are the weights right?
- {_listing.wrong} → {_at("total = total")}

gradients-suspected: Line {_at("gradients[name] =")} is right: the gradient of a weighted sum is such
a sum, too. Are the weights right?
- {_listing.wrong} → {_at("gradients[name] =")}

start-suspected: Line {_at("np.zeros_like")} is right: sums start at 0, and each gradient has the shape of its
parameter.
- {_listing.wrong} → {_at("np.zeros_like")}
""",
)
