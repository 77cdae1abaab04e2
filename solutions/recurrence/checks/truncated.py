"""Question 3b: back through time, in chunks."""

from autograder.exercise.declare import question, values
from autograder.exercise.draw import Draw
from autograder.exercise.specification import Case, case
from solutions.recurrence.checks.common import read


def _pieces(draw: Draw) -> list[Case]:
    batch, n_in, hidden = draw.sizes(3)
    k = draw.integer(2, 3)
    return [case("chunks of equal length", *read(draw, batch, 3 * k, n_in, hidden), k)]


def _odd_pieces(draw: Draw) -> list[Case]:
    batch, n_in, hidden = draw.sizes(3)
    return [
        case("a shorter chunk at the end", *read(draw, batch, 5, n_in, hidden), 3),
        case("chunks of one step", *read(draw, batch, 3, n_in, hidden), 1),
        case("a chunk longer than the text", *read(draw, batch, 3, n_in, hidden), 7),
    ]


TRUNCATED_BACKWARD = question(
    "recurrence.truncated_backward",
    minutes=20,
    difficulty="medium",
    returns=("d_W", "d_U", "d_b"),
    properties=[
        values("d_W and d_b", 1.5, _pieces, "d_W", "d_b"),
        values("d_U", 1.5, _pieces, "d_U"),
        values("a remainder, single steps, one chunk", 1, _odd_pieces),
    ],
    numpy=True,
    mistakes="""
not-cut: You do not truncate: this is the gradient of the whole text. At the start of a chunk, drop the gradient that
would flow into the previous chunk.
^ k = xs.shape[1]

state-cut-too: You also reset the state: each chunk starts from zeros. Only the gradient is cut. The state is passed on:
a chunk starts from the last state of the previous one.
- hs[:, start - 1] if start > 0 → np.zeros_like(h0) if start > 0

every-piece-from-h0: All your chunks start from h0. Only the first should; the others start from the last state of the
previous chunk.
- hs[:, start - 1] if start > 0 else h0 → h0

a-window-for-each-loss: You go back k steps from every time. That is also a form of truncation, but k times the work;
here the text is cut into chunks, and a loss reaches back to the start of its chunk.
- for start in range(0, xs.shape[1], k):
-     piece = slice(start, start + k)
+ for t in range(xs.shape[1]):
+     start = max(0, t - k + 1)
+     piece = slice(start, t + 1)
+     alone = d_hs[:, piece] * (np.arange(start, t + 1) == t)[:, None]
- d_hs[:, piece], U → alone, U

last-piece-only: You went back through the last k steps and stopped. Go through every chunk and add the gradients.
- range(0, xs.shape[1], k) → [max(0, xs.shape[1] - k)]

rest-dropped: If k does not divide the number of steps, you lose the remainder at the end. It is also a chunk, a shorter
one.
- [0.0, 0.0, 0.0] → [np.zeros((xs.shape[2], len(U))), np.zeros_like(U), np.zeros(len(U))]
- range(0, xs.shape[1], k) → range(0, xs.shape[1] // k * k, k)
or
^ k = min(k, xs.shape[1])
- range(0, xs.shape[1], k) → range(0, xs.shape[1] // k * k, k)

counted-from-the-end: You count the chunks from the end, so the short one comes first. The first chunk is times 1 to k;
a shorter one comes last.
- for start in range(0, xs.shape[1], k):
-     piece = slice(start, start + k)
+ for end in range(xs.shape[1], 0, -k):
+     start = max(0, end - k)
+     piece = slice(start, end)

mean-of-the-pieces: You took the mean over the chunks. The weights are shared: add the gradients of the chunks.
- tuple(total) → tuple(whole / -(-xs.shape[1] // k) for whole in total)
""",
)
