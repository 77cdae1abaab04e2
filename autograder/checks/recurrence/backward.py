"""Questions 3a and 3b: back through time, all the way and in pieces."""

import torch
from torch import Tensor

from autograder.checks.recurrence.common import DIFFERENTIATES, before, states, weights
from autograder.draw import Draw
from autograder.judges import same_shapes, same_values
from autograder.specification import Case, Exercise, Misconception, Property, case

BACK, CUT = ("d_W", "d_U", "d_b", "d_h0"), ("d_W", "d_U", "d_b")
Four = tuple[Tensor, Tensor, Tensor, Tensor]
Three = tuple[Tensor, Tensor, Tensor]


def _read(draw: Draw, batch: int, time: int, n_in: int, hidden: int) -> tuple[Tensor, ...]:
    """xs, h0, hs, d_hs and U of a network that has read something."""
    xs, h0 = draw.normal(batch, time, n_in), draw.normal(batch, hidden) / 2
    W, U, b = weights(draw, n_in, hidden)
    return xs, h0, states(xs, h0, W, U, b), draw.normal(batch, time, hidden), U


def _texts(draw: Draw) -> list[Case]:
    batch, n_in, hidden = draw.sizes(3)
    return [case("several steps", *_read(draw, batch, draw.integer(3, 5), n_in, hidden))]


def _one_step(draw: Draw) -> list[Case]:
    batch, n_in, hidden = draw.sizes(3)
    return [case("a single step", *_read(draw, batch, 1, n_in, hidden))]


def _odd(draw: Draw) -> list[Case]:
    (n,) = draw.sizes(1)
    xs, h0, hs, d_hs, U = _read(draw, 2, 4, n, n)
    last = torch.zeros_like(d_hs)
    last[:, -1] = d_hs[:, -1]
    return [
        case("a loss at the last step only", xs, h0, hs, last, U),
        case("one text, one unit", *_read(draw, 1, 3, n, 1)),
    ]


def _through(xs: Tensor, h0: Tensor, hs: Tensor, d_as: Tensor) -> Three:
    """From the gradients at all sums, before the tanh, to those of the parameters."""
    return (
        torch.einsum("nti,nth->ih", xs, d_as),
        torch.einsum("ntg,nth->gh", before(h0, hs), d_as),
        d_as.sum((0, 1)),
    )


def _at_sums(hs: Tensor, d_hs: Tensor, V: Tensor) -> tuple[Tensor, Tensor]:
    """The gradient before each tanh, and that of h0; V takes it from a sum to the state before."""
    arriving, found = torch.zeros_like(d_hs[:, 0]), []
    for t in reversed(range(hs.shape[1])):
        d_a = (d_hs[:, t] + arriving) * (1 - hs[:, t] ** 2)
        found.append(d_a)
        arriving = d_a @ V
    return torch.stack(found[::-1], dim=1), arriving


def _backward(xs: Tensor, h0: Tensor, hs: Tensor, d_hs: Tensor, U: Tensor) -> Four:
    d_as, d_h0 = _at_sums(hs, d_hs, U.T)
    return *_through(xs, h0, hs, d_as), d_h0


def _step_for_itself(xs: Tensor, h0: Tensor, hs: Tensor, d_hs: Tensor, U: Tensor) -> Four:
    d_as = d_hs * (1 - hs**2)
    return *_through(xs, h0, hs, d_as), d_as[:, 0] @ U.T


def _not_transposed(xs: Tensor, h0: Tensor, hs: Tensor, d_hs: Tensor, U: Tensor) -> Four:
    d_as, d_h0 = _at_sums(hs, d_hs, U)
    return *_through(xs, h0, hs, d_as), d_h0


def _state_after(xs: Tensor, h0: Tensor, hs: Tensor, d_hs: Tensor, U: Tensor) -> Four:
    d_W, _, d_b, d_h0 = _backward(xs, h0, hs, d_hs, U)
    d_as, _ = _at_sums(hs, d_hs, U.T)
    return d_W, torch.einsum("ntg,nth->gh", hs, d_as), d_b, d_h0


def _last_only(xs: Tensor, h0: Tensor, hs: Tensor, d_hs: Tensor, U: Tensor) -> Four:
    alone = torch.zeros_like(d_hs)
    alone[:, -1] = d_hs[:, -1]
    return _backward(xs, h0, hs, alone, U)


def _tanh_skipped(xs: Tensor, h0: Tensor, hs: Tensor, d_hs: Tensor, U: Tensor) -> Four:
    d_as, d_h0 = _at_sums(torch.zeros_like(hs), d_hs, U.T)
    return *_through(xs, h0, hs, d_as), d_h0


def _overwritten(xs: Tensor, h0: Tensor, hs: Tensor, d_hs: Tensor, U: Tensor) -> Four:
    d_as, d_h0 = _at_sums(hs, d_hs, U.T)
    return *_through(xs[:, :1], h0, hs[:, :1], d_as[:, :1]), d_h0


def _averaged(xs: Tensor, h0: Tensor, hs: Tensor, d_hs: Tensor, U: Tensor) -> Four:
    d_W, d_U, d_b, d_h0 = _backward(xs, h0, hs, d_hs, U)
    time = xs.shape[1]
    return d_W / time, d_U / time, d_b / time, d_h0


def _start_forgotten(xs: Tensor, h0: Tensor, hs: Tensor, d_hs: Tensor, U: Tensor) -> Four:
    return _backward(xs, torch.zeros_like(h0), hs, d_hs, U)


def _on_past_the_tanh(xs: Tensor, h0: Tensor, hs: Tensor, d_hs: Tensor, U: Tensor) -> Four:
    """The parameters get what is before the tanh, the state before gets what is after it."""
    d_h, d_h0 = _at_sums(torch.zeros_like(hs), d_hs, U.T)
    return *_through(xs, h0, hs, d_h * (1 - hs**2)), d_h0


def _tanh_twice(xs: Tensor, h0: Tensor, hs: Tensor, d_hs: Tensor, U: Tensor) -> Four:
    d_as, d_h0 = _at_sums(torch.tanh(hs), d_hs, U.T)
    return *_through(xs, h0, hs, d_as), d_h0


def _wrapped(xs: Tensor, h0: Tensor, hs: Tensor, d_hs: Tensor, U: Tensor) -> Four:
    return _backward(xs, hs[:, -1], hs, d_hs, U)


def _forwards(xs: Tensor, h0: Tensor, hs: Tensor, d_hs: Tensor, U: Tensor) -> Four:
    d_as, arriving = _at_sums(hs.flip(1), d_hs.flip(1), U.T)
    return *_through(xs, h0, hs, d_as.flip(1)), arriving


def _averaged_over_texts(xs: Tensor, h0: Tensor, hs: Tensor, d_hs: Tensor, U: Tensor) -> Four:
    d_W, d_U, d_b, d_h0 = _backward(xs, h0, hs, d_hs, U)
    return d_W / len(xs), d_U / len(xs), d_b / len(xs), d_h0


RNN_BACKWARD = Exercise(
    name="recurrence.rnn_backward",
    title="Back through time",
    signature="rnn_backward(xs, h0, hs, d_hs, U)",
    arguments=("xs", "h0", "hs", "d_hs", "U"),
    returns=BACK,
    minutes=45,
    difficulty="hard",
    reference=_backward,
    properties=(
        Property(name="each gradient has its parameter's shape", points=0.5, cases=_texts, judge=same_shapes(BACK)),
        Property(name="a single step", points=1, cases=_one_step, judge=same_values(BACK)),
        Property(name="d_b", points=1, cases=_texts, judge=same_values(BACK, [2]), outputs=(2,)),
        Property(name="d_W", points=1, cases=_texts, judge=same_values(BACK, [0]), outputs=(0,)),
        Property(name="d_U", points=1, cases=_texts, judge=same_values(BACK, [1]), outputs=(1,)),
        Property(name="d_h0", points=0.5, cases=_texts, judge=same_values(BACK, [3]), outputs=(3,)),
        Property(name="a loss at the end only, one unit", points=1, cases=_odd, judge=same_values(BACK)),
    ),
    misconceptions=(
        Misconception(
            id="each-step-for-itself",
            sentence=(
                "Each step gets the gradient of its own loss, and nothing comes back to it from later times. A state"
                " is also what the next one was made from: add what arrives from there, d_a Uᵀ of the next step."
            ),
            implementation=_step_for_itself,
        ),
        Misconception(
            id="u-not-transposed",
            sentence=(
                "On the way back the gradient goes through U as it stands. Forward, U takes a state to the next; back,"
                " its transpose: d_a Uᵀ."
            ),
            implementation=_not_transposed,
        ),
        Misconception(
            id="state-of-the-same-time",
            sentence=(
                "d_U was made with the state *after* each step. What U was multiplied with is the state *before* it:"
                " h0 at the first step, then each of hs but the last."
            ),
            implementation=_state_after,
        ),
        Misconception(
            id="last-loss-only",
            sentence=(
                "Only the loss at the last time is counted. There is one at every time: on the way back, add d_hs[:, t]"
                " to what arrives from later."
            ),
            implementation=_last_only,
        ),
        Misconception(
            id="tanh-skipped",
            sentence="The gradient goes past the tanh. From a state to the sum below it, multiply by 1 − h².",
            implementation=_tanh_skipped,
            also=(_on_past_the_tanh,),
        ),
        Misconception(
            id="overwritten",
            sentence=(
                "Only the first step's part is left: perhaps each step overwrites the last (`=` in the place of `+=`)."
                " The weights are shared over time; their gradient is the sum over times."
            ),
            implementation=_overwritten,
        ),
        Misconception(
            id="averaged-over-time",
            sentence=(
                "You divided by the number of steps. What comes by several ways is added; the mean, if there is one,"
                " is in d_hs already."
            ),
            implementation=_averaged,
        ),
        Misconception(
            id="start-taken-for-zeros",
            sentence=(
                "At the first step U met h0, and you count that as zeros (or leave it out). Here a text may begin with"
                " a state that is handed on."
            ),
            implementation=_start_forgotten,
        ),
        Misconception(
            id="last-state-before-the-first",
            sentence=(
                "Before the first step stands h0, and you have the *last* state there: at t = 0, `hs[:, t - 1]` is"
                " `hs[:, -1]`, and Python counts that from the end."
            ),
            implementation=_wrapped,
        ),
        Misconception(
            id="from-the-first-to-the-last",
            sentence=(
                "You go through the times from the first to the last. What a state has done later must be known before"
                " its gradient is: begin with the last time, `reversed(range(time))`."
            ),
            implementation=_forwards,
        ),
        Misconception(
            id="tanh-twice",
            sentence="You took the tanh of hs once more. They came *out* of the tanh: the slope is 1 − h².",
            implementation=_tanh_twice,
        ),
        Misconception(
            id="averaged-over-texts",
            sentence=(
                "You divided by the number of texts. The gradients of the texts are added; if the loss is a mean over"
                " them, d_hs comes divided."
            ),
            implementation=_averaged_over_texts,
        ),
    ),
    closed=DIFFERENTIATES,
)


# --- in pieces --------------------------------------------------------------------------------------------


def _pieces(draw: Draw) -> list[Case]:
    batch, n_in, hidden = draw.sizes(3)
    k = draw.integer(2, 3)
    return [case("pieces that come out even", *_read(draw, batch, 3 * k, n_in, hidden), k)]


def _odd_pieces(draw: Draw) -> list[Case]:
    batch, n_in, hidden = draw.sizes(3)
    return [
        case("a rest at the end", *_read(draw, batch, 5, n_in, hidden), 3),
        case("pieces of one step", *_read(draw, batch, 3, n_in, hidden), 1),
        case("a piece longer than the text", *_read(draw, batch, 3, n_in, hidden), 7),
    ]


def _cut(xs: Tensor, h0: Tensor, hs: Tensor, d_hs: Tensor, U: Tensor, k: int) -> Three:
    d_as = torch.cat([_at_sums(hs[:, s : s + k], d_hs[:, s : s + k], U.T)[0] for s in range(0, hs.shape[1], k)], dim=1)
    return _through(xs, h0, hs, d_as)


def _starting_with(zeros: bool) -> object:
    def implementation(xs: Tensor, h0: Tensor, hs: Tensor, d_hs: Tensor, U: Tensor, k: int) -> Three:
        parts = []
        for s in range(0, hs.shape[1], k):
            start = torch.zeros_like(h0) if zeros and s else h0
            piece = slice(s, s + k)
            parts.append(_backward(xs[:, piece], start, hs[:, piece], d_hs[:, piece], U)[:3])
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
        d_as[:, first : t + 1] += _at_sums(hs[:, first : t + 1], alone, U.T)[0]
    return _through(xs, h0, hs, d_as)


def _from_the_end(xs: Tensor, h0: Tensor, hs: Tensor, d_hs: Tensor, U: Tensor, k: int) -> Three:
    """Only the last k times are gone back through."""
    d_as, first = torch.zeros_like(d_hs), max(0, hs.shape[1] - k)
    d_as[:, first:] = _at_sums(hs[:, first:], d_hs[:, first:], U.T)[0]
    return _through(xs, h0, hs, d_as)


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
        d_as[:, piece] = _at_sums(hs[:, piece], d_hs[:, piece], U.T)[0]
        end -= k
    return _through(xs, h0, hs, d_as)


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
        Property(name="a rest, single steps, one piece", points=1, cases=_odd_pieces, judge=same_values(CUT)),
    ),
    misconceptions=(
        Misconception(
            id="not-cut",
            sentence=(
                "Nothing is cut: this is the gradient of the whole. At the start of a piece, what would go on to the"
                " piece before is dropped."
            ),
            implementation=lambda xs, h0, hs, d_hs, U, k: _backward(xs, h0, hs, d_hs, U)[:3],
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
