"""Questions 1a, 1b and 1c: the matrix that moves sinusoids, concatenating as adding, a table that is stretched."""

import torch
from torch import Tensor

from autograder.exercise.declare import holds, judged, question, shapes, values
from autograder.exercise.draw import Draw
from autograder.exercise.kinds import EQUAL, SLICES
from autograder.exercise.specification import Case, case
from solutions.positions.checks.common import CLOSED
from solutions.positions.laws import mixed_from_two_rows, shifts_add_up, sums_are_known


def _shifts(draw: Draw) -> list[Case]:
    half, k = draw.sizes(2)
    return [case("a few positions on", k, 2 * half, 10_000.0), case("many pairs", k + 1, 2 * half + 28, 10_000.0)]


def _two_shifts(draw: Draw) -> list[Case]:
    half, j = draw.sizes(2)
    k = draw.integer(2, 9)
    return [
        Case(label="j, k and j + k", calls=tuple((shift, 2 * half, 10_000.0) for shift in (j, k, j + k))),
        Case(label="back and forth", calls=tuple((shift, 2 * half, 100.0) for shift in (-j, k, k - j))),
    ]


def _odd_shifts(draw: Draw) -> list[Case]:
    half, k = draw.sizes(2)
    return [
        case("back, base 100", -k, 2 * half, 100.0),
        case("not at all", 0, 2 * half, 10_000.0),
        case("far, base 50", 60 * k, 2 * half + 2, 50.0),
        case("one pair", k, 2, 10_000.0),
    ]


SHIFT_MATRIX = question(
    "positions.shift_matrix",
    minutes=20,
    difficulty="medium",
    returns=("M",),
    properties=[
        shapes(0.25, _shifts, "the shape is (d, d)"),
        holds("j, then k, is j + k", 1, _two_shifts, shifts_add_up),
        values("the values", 1.75, _shifts),
        values("back, not at all, far; other bases", 1, _odd_shifts),
    ],
    closed=CLOSED,
    tolerance=1e-3,
    mistakes="""
moves-back: Your matrix moves positions back: with it, PE(t) M is PE(t − k). Either the two sines have each other's
sign, or you had columns in mind, M · PE(t). Here positions are rows: PE(t) M.
- return M.float() → return M.T.float()

minus-forgotten: Both sines of your blocks have the same sign. cos(α + β) = cos α cos β − sin α sin β has a minus; a
rotation has exactly one.
- -sin, sin → sin, sin

pairs-in-halves: Your pairs are columns i and i + d/2. In these sinusoids a sine and its cosine are neighbours,
columns 2i and 2i + 1.
- even = torch.arange(0, d, 2) → even = torch.arange(d // 2)
* even + 1 → even + d // 2

one-angle-for-all: You rotate all pairs by the same angle. Pair i rotates by k times its own frequency: the first fast,
the last slowly.
- base ** (-torch.arange(0, d, 2, dtype=torch.float64) / d) → torch.ones(d // 2, dtype=torch.float64)

half-the-exponent: Your exponent is i/d, where i is the number of the pair. It should be 2i/d: the last pairs must be
slow.
- -torch.arange(0, d, 2, dtype=torch.float64) → -torch.arange(d // 2, dtype=torch.float64)

wavelength-for-frequency: Your pairs get faster from left to right. The frequency is base to the power of *minus* 2i/d.
- base ** (-torch → base ** (torch

times-the-matrix-of-one: You multiplied the matrix for one position by k. Moving by k means rotating k times: k belongs
into the angle.
- (k * frequency).cos(), (k * frequency).sin() → k * frequency.cos(), k * frequency.sin()

base-ignored: You always use base 10,000. The base is an argument.
- base ** → 10_000.0 **
""",
)


# --- concatenated and added -------------------------------------------------------------------------------


def _model(label: str, tokens: Tensor, positions: Tensor, W: Tensor, b: Tensor) -> Case:
    """known: the vector of every token at every position, (vocab, length, d_model)."""
    pairs = [tokens[:, None].expand(-1, len(positions), -1), positions.expand(len(tokens), -1, -1)]
    return Case(label=label, calls=((tokens, positions, W, b),), known=(torch.cat(pairs, dim=-1) @ W + b,))


def _drawn(label: str, draw: Draw, vocab: int, length: int, d_token: int, d_position: int, d_model: int) -> Case:
    tokens, positions = draw.normal(vocab, d_token), draw.normal(length, d_position)
    return _model(label, tokens, positions, draw.normal(d_token + d_position, d_model), draw.normal(d_model))


def _models(draw: Draw) -> list[Case]:
    vocab, length, d_token = draw.sizes(3)
    return [
        _drawn("tokens are wider", draw, vocab, length, d_token + 2, 2, d_token + 1),
        _drawn("positions are wider", draw, vocab, length, 2, d_token + 1, d_token),
    ]


def _small_models(draw: Draw) -> list[Case]:
    (n,) = draw.sizes(1)
    return [
        _drawn("one token, one position", draw, 1, 1, 3, 2, n),
        _drawn("vectors of one dimension", draw, n + 1, n, 1, 1, 1),
        _drawn(EQUAL, draw, n, n, n, n, n),
        _model(SLICES, draw.strided(n, 3), draw.strided(n + 1, 2), draw.strided(5, n), draw.normal(n)),
    ]


AS_ADDITION = question(
    "positions.as_addition",
    minutes=15,
    difficulty="easy",
    returns=("new_tokens", "new_positions"),
    properties=[
        holds("every token at every position", 1.5, _models, sums_are_known),
        holds("one token, one dimension, equal sizes", 0.5, _small_models, sums_are_known),
    ],
    closed=CLOSED,
    mistakes="""
bias-twice: The bias is in both of your tables, so every sum contains it twice. Put it into one of them.
- positions @ W[width:] → positions @ W[width:] + b

bias-forgotten: Every sum lacks the bias b. It does not depend on token or position, so it can go into either table.
- tokens @ W[:width] + b → tokens @ W[:width]

positions-first: You gave the first rows of W to the positions. The vector is [token; position], so the first rows
multiply the token.
- tokens @ W[:width] + b, positions @ W[width:]
+ tokens @ W[-width:] + b, positions @ W[:-width]
or
- tokens @ W[:width] + b, positions @ W[width:]
+ tokens @ W[-width:], positions @ W[:-width] + b

first-rows-for-both: You multiply both tables by the first rows of W. The rows for the position come after those for the
token.
- positions @ W[width:] → positions @ W[: positions.shape[1]]
or
- tokens @ W[:width] + b, positions @ W[width:]
+ tokens @ W[:width], positions @ W[: positions.shape[1]] + b

tables-swapped: You return the positions first and the tokens second.
- return tokens @ W[:width] + b, positions @ W[width:] → return positions @ W[width:], tokens @ W[:width] + b
or
- return tokens @ W[:width] + b, positions @ W[width:] → return positions @ W[width:] + b, tokens @ W[:width]
""",
)


# --- a table for another length ---------------------------------------------------------------------------


def _longer(draw: Draw) -> list[Case]:
    old, d = draw.sizes(2)
    return [
        case("three more", draw.normal(old + 1, d), old + 4),
        case("more than twice as long", draw.normal(old + 2, d), 2 * old + 5),
    ]


def _shorter(draw: Draw) -> list[Case]:
    old, d = draw.sizes(2)
    table = draw.normal(old + 4, d)
    return [case("shorter", table, old + 2), case("the same length", table, old + 4)]


def _single(draw: Draw) -> list[Case]:
    old, d = draw.sizes(2)
    return [
        case("a table of one row", draw.normal(1, d), old + 1),
        case("one position", draw.normal(old + 1, d), 1),
        case("two rows, float64", draw.normal(2, d, dtype=torch.float64), old + 2),
    ]


STRETCHED = question(
    "positions.stretched",
    minutes=15,
    difficulty="medium",
    returns=("table", "low", "share"),
    properties=[
        shapes(0.25, _longer, "one row per position"),
        judged("longer", 1.25, _longer, mixed_from_two_rows),
        judged("shorter, and the same length", 0.75, _shorter, mixed_from_two_rows),
        judged("one row, one position", 0.75, _single, mixed_from_two_rows),
    ],
    closed=CLOSED,
    mistakes="""
end-never-reached: Your steps are old/new long, so the last row of the table is never reached, or used several times.
From the first row to the last there is one step less than there are rows, in the old table and in the new one.
- torch.linspace(0, end, length) → (torch.arange(length) * len(table) / length).clamp(max=end)

last-row-repeated: You repeat the last row at the end. The whole table should be laid out over the new length.
- torch.linspace(0, end, length) → torch.arange(length).clamp(max=end).float()

starts-over: After its last row your table starts over. It should be laid out over the new length, once.
- torch.linspace(0, end, length) → (torch.arange(length) % len(table)).float()

nearest-row: You take the nearest row. In between, each of the two neighbours should have its share.
- torch.linspace(0, end, length) → torch.linspace(0, end, length).round()

always-the-row-below: You always take the row below: the fraction is lost. Each of the two neighbours should have its
share.
- torch.linspace(0, end, length) → torch.linspace(0, end, length).floor()

shares-swapped: The two shares are swapped. A position just behind row 2 consists almost entirely of row 2.
- (1 - part) * table[low] + part * table[high] → part * table[low] + (1 - part) * table[high]

middles-of-cells: You treat rows as cells and line up their outer edges, as for pixels (`align_corners=False`). Here
the first row stays first and the last row stays last.
- torch.linspace(0, end, length) → ((torch.arange(length) + 0.5) * len(table) / length - 0.5).clamp(0, end)
""",
)
