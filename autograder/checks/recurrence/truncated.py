"""Question 3b: back through time, in pieces."""

import torch
from torch import Tensor

from autograder.checks.recurrence.common import DIFFERENTIATES
from autograder.checks.recurrence.through_time import Three, at_sums, backward, read, through
from autograder.exercise.draw import Draw
from autograder.exercise.judges import same_values
from autograder.exercise.specification import Case, Exercise, Misconception, Property, case

CUT = ("d_W", "d_U", "d_b")


def _pieces(draw: Draw) -> list[Case]:
    batch, n_in, hidden = draw.sizes(3)
    k = draw.integer(2, 3)
    return [case("pieces that come out even", *read(draw, batch, 3 * k, n_in, hidden), k)]


def _odd_pieces(draw: Draw) -> list[Case]:
    batch, n_in, hidden = draw.sizes(3)
    return [
        case("a rest at the end", *read(draw, batch, 5, n_in, hidden), 3),
        case("pieces of one step", *read(draw, batch, 3, n_in, hidden), 1),
        case("a piece longer than the text", *read(draw, batch, 3, n_in, hidden), 7),
    ]


def _cut(xs: Tensor, h0: Tensor, hs: Tensor, d_hs: Tensor, U: Tensor, k: int) -> Three:
    d_as = torch.cat([at_sums(hs[:, s : s + k], d_hs[:, s : s + k], U.T)[0] for s in range(0, hs.shape[1], k)], dim=1)
    return through(xs, h0, hs, d_as)


def _starting_with(zeros: bool) -> object:
    def implementation(xs: Tensor, h0: Tensor, hs: Tensor, d_hs: Tensor, U: Tensor, k: int) -> Three:
        parts = []
        for s in range(0, hs.shape[1], k):
            start = torch.zeros_like(h0) if zeros and s else h0
            piece = slice(s, s + k)
            parts.append(backward(xs[:, piece], start, hs[:, piece], d_hs[:, piece], U)[:3])
        d_W, d_U, d_b = (torch.stack(part).sum(0) for part in zip(*parts, strict=True))
        return d_W, d_U, d_b

    return implementation


def _window(xs: Tensor, h0: Tensor, hs: Tensor, d_hs: Tensor, U: Tensor, k: int) -> Three:
    """Every loss goes back k steps, its own included."""
    d_as = torch.zeros_like(d_hs)
    for t in range(hs.shape[1]):
        first = max(0, t - k + 1)
        alone = torch.zeros_like(d_hs[:, first : t + 1])
        alone[:, -1] = d_hs[:, t]
        d_as[:, first : t + 1] += at_sums(hs[:, first : t + 1], alone, U.T)[0]
    return through(xs, h0, hs, d_as)


def _from_the_end(xs: Tensor, h0: Tensor, hs: Tensor, d_hs: Tensor, U: Tensor, k: int) -> Three:
    """Only the last k times are gone back through."""
    d_as, first = torch.zeros_like(d_hs), max(0, hs.shape[1] - k)
    d_as[:, first:] = at_sums(hs[:, first:], d_hs[:, first:], U.T)[0]
    return through(xs, h0, hs, d_as)


def _rest_dropped(xs: Tensor, h0: Tensor, hs: Tensor, d_hs: Tensor, U: Tensor, k: int) -> Three:
    whole = hs.shape[1] // k * k
    if not whole:
        return torch.zeros(xs.shape[2], len(U)), torch.zeros_like(U), torch.zeros(len(U))
    return _cut(xs[:, :whole], h0, hs[:, :whole], d_hs[:, :whole], U, k)


def _short_text_whole(xs: Tensor, h0: Tensor, hs: Tensor, d_hs: Tensor, U: Tensor, k: int) -> Three:
    """The rest is dropped, but a text that is shorter than a piece is one."""
    return (_cut if hs.shape[1] < k else _rest_dropped)(xs, h0, hs, d_hs, U, k)


def _rest_first(xs: Tensor, h0: Tensor, hs: Tensor, d_hs: Tensor, U: Tensor, k: int) -> Three:
    """Pieces counted from the end."""
    d_as, end = torch.zeros_like(d_hs), hs.shape[1]
    while end > 0:
        piece = slice(max(0, end - k), end)
        d_as[:, piece] = at_sums(hs[:, piece], d_hs[:, piece], U.T)[0]
        end -= k
    return through(xs, h0, hs, d_as)


def _mean_of_pieces(xs: Tensor, h0: Tensor, hs: Tensor, d_hs: Tensor, U: Tensor, k: int) -> Three:
    d_W, d_U, d_b = _cut(xs, h0, hs, d_hs, U, k)
    n = -(-hs.shape[1] // k)
    return d_W / n, d_U / n, d_b / n


TRUNCATED_BACKWARD = Exercise(
    name="recurrence.truncated_backward",
    title="Cut off every k steps",
    signature="truncated_backward(xs, h0, hs, d_hs, U, k)",
    arguments=("xs", "h0", "hs", "d_hs", "U", "k"),
    returns=CUT,
    minutes=20,
    difficulty="medium",
    reference=_cut,
    properties=(
        Property(name="d_W and d_b", points=1.5, cases=_pieces, judge=same_values(CUT, [0, 2]), outputs=(0, 2)),
        Property(name="d_U", points=1.5, cases=_pieces, judge=same_values(CUT, [1]), outputs=(1,)),
        Property(
            name="a rest, single steps, one piece",
            points=1,
            cases=_odd_pieces,
            judge=same_values(CUT),
            outputs=(0, 1, 2),
        ),
    ),
    misconceptions=(
        Misconception(
            id="not-cut",
            sentence=(
                "Nothing is cut: this is the gradient of the whole. At the start of a piece, what would go on to the"
                " piece before is dropped."
            ),
            implementation=lambda xs, h0, hs, d_hs, U, k: backward(xs, h0, hs, d_hs, U)[:3],
        ),
        Misconception(
            id="state-cut-too",
            sentence=(
                "You cut the state as well: each piece begins with zeros. What is cut is the gradient. The state is"
                " handed on: a piece begins with the last state of the one before."
            ),
            implementation=_starting_with(zeros=True),  # type: ignore[arg-type]
        ),
        Misconception(
            id="every-piece-from-h0",
            sentence=(
                "Every piece begins with h0. Only the first does; the others begin with the last state of the piece"
                " before."
            ),
            implementation=_starting_with(zeros=False),  # type: ignore[arg-type]
        ),
        Misconception(
            id="a-window-for-each-loss",
            sentence=(
                "You go back k steps from every time. That is a form of truncation, too, but k times the work; here"
                " the text falls into pieces, and a loss reaches back to the start of its piece."
            ),
            implementation=_window,
        ),
        Misconception(
            id="last-piece-only",
            sentence=(
                "You went back through the last k steps and stopped. Every piece has its turn; their gradients are"
                " added."
            ),
            implementation=_from_the_end,
        ),
        Misconception(
            id="rest-dropped",
            sentence=(
                "Where k does not divide the number of steps, the rest at the end is lost. It is a piece as well, a"
                " shorter one."
            ),
            implementation=_rest_dropped,
            also=(_short_text_whole,),
        ),
        Misconception(
            id="counted-from-the-end",
            sentence=(
                "Your pieces are counted from the end, so that the short one comes first. The first piece is times 1 to"
                " k; a rest is at the end."
            ),
            implementation=_rest_first,
        ),
        Misconception(
            id="mean-of-the-pieces",
            sentence="You took the mean over the pieces. The weights are shared: the pieces' gradients are added.",
            implementation=_mean_of_pieces,
        ),
    ),
    closed=(*DIFFERENTIATES, "nlmcore.training"),
)
