"""Assignment "compression": rounding with a zero point, packing, making up for errors, and soft targets.

The functions differ in form from `nlmcore.compression`, which keeps a minimum instead of a zero point, and from
`nlmcore.training`: they return slopes.
"""

import functools
from typing import Any

import torch

from autograder.question.declare import exercises_in, judged, question, shapes, values, ways
from autograder.question.draw import Draw
from autograder.question.sized import ODD, at, between, these
from autograder.question.special import at_points, formula, on_the_page, other_seeds, own_signs, predicted, wrong_line
from autograder.question.specification import Both, Case, case
from solutions.compression.laws import nearest_inside

CLOSED = ("nlmcore.compression", "nlmcore.training")
ask = functools.partial(question, closed=CLOSED)
Arguments = tuple[Any, ...]

# --- 1. rounding with a zero point -------------------------------------------------------------------------------


def weighed(draw: Draw, rows: int, groups: int, group: int, bits: int = 3, above: float | None = None) -> Arguments:
    """Weights of both signs whose groups differ in size; with `above`, all of them that far from 0, on one side."""
    weights = draw.normal(rows, groups, group)
    if above is not None:
        weights = weights.abs() + above if above > 0 else above - weights.abs()
    weights = weights * (1 + torch.arange(groups)[:, None]) / 4
    return weights.reshape(rows, groups * group), bits, group


def with_zeros(draw: Draw, rows: int, groups: int) -> Arguments:
    """In each row the first group is 0."""
    weights, bits, group = weighed(draw, rows, groups + 1, 3)
    weights[:, :group] = 0
    return weights, bits, group


def small(draw: Draw, rows: int, groups: int) -> Arguments:
    """Weights near 0 that are not 0."""
    weights, bits, group = weighed(draw, rows, groups, 3)
    return weights * 1e-9, bits, group


def symmetric(draw: Draw, bits: int) -> Arguments:
    """Groups from −m to m, whose ends lie in the middle between two integers."""
    weights, _, group = weighed(draw, 3, 2, 8)
    ends = (2**bits - 1) / 16 * torch.tensor([1.0, 2.0, 4.0])[:, None, None]
    inside = ends * weights.view(3, 2, group).tanh() * 0.9
    inside[..., 0], inside[..., -1] = -ends[..., 0], ends[..., 0]
    return inside.view(3, 2 * group), bits, group


whole = these(at("groups of four", group=4), at("4 bits, groups of six", group=6, bits=4))
several_groups = these(at("several groups", rows=3, groups=4, group=5), at("8 bits", rows=2, groups=3, group=4, bits=8))
one_side = these(
    at("all weights are positive", group=5, above=0.3), at("all weights are negative", group=5, above=-0.3)
)
ends = these(at("from −m to m, 4 bits", symmetric, bits=4), at("from −m to m, 3 bits", symmetric, bits=3))
QUANTISE = ask(
    "compression.quantise",
    returns=("codes", "scale", "zero"),
    inputs=weighed,
    main=at("groups of five", group=5),
    properties=[
        shapes(0.25, whole, "an integer for every weight, a step and a zero point for every group"),
        values("the steps", 1, whole, "scale"),
        values("the zero points", 1, whole, "zero"),
        values("the integers", 1.25, whole, several_groups, "codes"),
        values("the range contains 0", 1, one_side),
        judged("no integer outside the range", 0.5, ends, nearest_inside),
        values("a group of zeros, tiny weights", 0.5, at("a group of zeros", with_zeros), at("tiny weights", small)),
        values("odd sizes", 0.5, ODD),
    ],
    mistakes="""
levels-for-steps: You divided the range by 2^b. Between 2^b levels there are 2^b − 1 steps.
- (high - low) / (2**bits - 1) → (high - low) / 2**bits
minimum-not-limited: In a group of weights of one sign, your range does not contain 0. *low* is at most 0, and *high* at
least 0.
- .clamp(max=0), x.amax(2).clamp(min=0) → , x.amax(2)
only-low-limited: Your range contains 0 if all weights are positive, but not if all are negative. *high* is at least 0.
- x.amax(2).clamp(min=0) → x.amax(2)
symmetric-range: Your range reaches as far below 0 as above. It goes from *low* to *high*, which are seldom equally far
from 0.
- low, high = x.amin(2).clamp(max=0), x.amax(2).clamp(min=0)
+ high = x.abs().amax(2)
+ low = -high
one-step-for-the-matrix: You used one step for the whole matrix. Each group has its own.
- low, high = x.amin(2).clamp(max=0), x.amax(2).clamp(min=0)
+ low = x.amin().clamp(max=0).expand(x.shape[:2])
+ high = x.amax().clamp(min=0).expand(x.shape[:2])
one-step-for-a-row: All groups of a row share one step. Each group has its own.
- low, high = x.amin(2).clamp(max=0), x.amax(2).clamp(min=0)
+ low = x.amin((1, 2)).clamp(max=0)[:, None].expand(x.shape[:2])
+ high = x.amax((1, 2)).clamp(min=0)[:, None].expand(x.shape[:2])
every-nth: Your groups contain every so-many-th weight. A group is `group` *neighbours* in a row.
- x = weights.reshape(len(weights), -1, group) → x = weights.reshape(len(weights), group, -1).transpose(1, 2)
- return codes.clamp(0, 2**bits - 1).view(weights.shape), scale, zero
+ return codes.clamp(0, 2**bits - 1).transpose(1, 2).reshape(weights.shape), scale, zero
rounded-down: You rounded down. `round` takes the nearest integer.
- (x / step[..., None]).round() → (x / step[..., None]).floor()
or
- (x / step[..., None]).round() → (x / step[..., None]).trunc()
cut-off-after-adding-half: You added ½ and cut off the decimals. Below 0 that rounds up, because `int` cuts towards 0.
`round` takes the nearest integer.
- (x / step[..., None]).round() → (x / step[..., None] + 0.5).trunc()
wrapped: Your integers wrap around: `int8` ends at 127, and 8 bits need 255.
- return codes.clamp(0, 2**bits - 1).view(weights.shape), scale, zero
+ codes = codes.clamp(0, 2**bits - 1).view(weights.shape).to(torch.int16).to(torch.int8)
+ return codes, scale, zero
or
- return codes.clamp(0, 2**bits - 1).view(weights.shape), scale, zero
+ codes = codes.clamp(0, 2**bits - 1).view(weights.shape).to(torch.int16).to(torch.int8)
+ return codes, scale, zero.to(torch.int16).to(torch.int8)
step-limited: You keep the step above a small number, so tiny weights all become 0. Only a group of zeros needs care.
- scale = (high - low) / (2**bits - 1) → scale = ((high - low) / (2**bits - 1)).clamp(min=1e-8)
zero-point-rounded-down: You rounded the zero point down, as `int` and `//` do. `round` takes the nearest integer.
- (-low / step).round() → (-low / step).floor()
zero-point-not-rounded: Your zero point is not an integer, so 0 is not a level. Round −low / d.
- (-low / step).round() → (-low / step)
rounded-together: You rounded x / d + z as one number, with a zero point that is not an integer yet. Round both, each by
itself.
- (x / step[..., None]).round() + zero[..., None] → (x / step[..., None] + (-low / step)[..., None]).round()
zero-point-is-the-minimum: Your zero point is the lowest weight, as in the lecture. Here it is the integer that means 0.
- zero = (-low / step).round() → zero = low
- (x / step[..., None]).round() + zero[..., None] → ((x - low[..., None]) / step[..., None]).round()
zero-point-reversed: Your zero point has the wrong sign. −low is positive, so z is between 0 and 2^b − 1.
- zero = (-low / step).round() → zero = (low / step).round()
- .round() + zero[..., None] → .round() - zero[..., None]
zero-point-not-added: Your integers do not contain the zero point: the negative ones are cut off. Add z to each.
- .round() + zero[..., None] → .round()
not-limited: Your integers leave the range 0 … 2^b − 1 when both ends are rounded outwards, and 2^b needs one bit more.
Limit them.
- codes.clamp(0, 2**bits - 1) → codes
zero-by-zero: For a group of zeros you divide 0 by 0. Its step, its zero point and its integers are 0.
- torch.where(scale > 0, scale, 1.0) → scale
zero-before-scale: You return the zero points before the steps. The order is codes, scale, zero.
- view(weights.shape), scale, zero → view(weights.shape), zero, scale
weights-for-integers: You return d (q − z), the rounded weights. Return the integers q.
- return codes.clamp(0, 2**bits - 1).view(weights.shape), scale, zero
+ codes = scale[..., None] * (codes.clamp(0, 2**bits - 1) - zero[..., None])
+ return codes.view(weights.shape), scale, zero
""",
)

# --- 2. into bytes -----------------------------------------------------------------------------------------------


def integers(draw: Draw, n: int, bits: int = 3, zeros: int = 0) -> Arguments:
    """Any integers of these bits, the last one not 0; then so many zeros."""
    codes = draw.integers(0, 2**bits - 1, n + zeros)
    codes[n - 1], codes[n:] = 2**bits - 1, 0
    return codes, bits


aligned = these(at("eight integers of 4 bits", n=8, bits=4), at("twelve of 2 bits", n=12, bits=2))
across = these(at("eight of 3 bits", n=8), at("sixteen of 5 bits", n=16, bits=5))
PACK = ask(
    "compression.pack",
    returns=("packed",),
    inputs=integers,
    main=at("three integers of 3 bits", n=3),
    properties=[
        shapes(0.25, across, "the number of bytes"),
        values("integers that fit into a byte", 1, aligned),
        values("integers in two bytes", 1.5, across),
        values("the last byte is not full", 0.75, at("three of 3 bits", n=3), at("five of 2 bits", n=5, bits=2)),
        values(
            "1 bit, 8 bits, 7 bits, one integer",
            0.5,
            at("nine of 1 bit", n=9, bits=1),
            at("four of 8 bits", n=4, bits=8),
            at("of 7 bits", n=between(9, 20), bits=7),
            at("one integer", n=1, bits=6),
            at("zeros at the end", n=3, bits=4, zeros=5),
        ),
    ],
    mistakes="""
highest-bit-first: You write the highest bit of each integer first. The lowest comes first.
- (code >> k & 1) → (code >> (bits - 1 - k) & 1)
bytes-from-the-top: You fill each byte from its highest bit down. The first bit of the sequence is its lowest.
- << at % 8 → << 7 - at % 8
all-from-the-top: You write the highest bit first, in the integers and in the bytes. Here the lowest comes first in
both.
- (code >> k & 1) << at % 8 → (code >> (bits - 1 - k) & 1) << 7 - at % 8
last-byte-first: Your bytes are in the reverse order. The first integer is in the first byte.
- return packed → return packed[::-1]
last-integer-first: Your integers are in the reverse order. The first one has the first bits of the sequence.
- enumerate(int(c) for c in codes) → enumerate(int(c) for c in codes.flip(0))
one-integer-a-byte: You spend a whole byte on each integer. Put them close together.
+ return [int(c) for c in codes]
none-across: Your integers never continue in the next byte, so bits are wasted. Write all of them as one sequence of
bits.
+ each = 8 // bits
+ return [
+     sum(int(c) << k * bits for k, c in enumerate(codes[i : i + each])) for i in range(0, len(codes), each)
+ ]
last-byte-lost: Your last byte is missing if it is not full. Round the number of bytes up.
- packed = [0] * math.ceil(len(codes) * bits / 8) → packed = [0] * (len(codes) * bits // 8 + 1)
- return packed → return packed[: len(codes) * bits // 8]
a-byte-too-many: You return a byte more if the last one is just full. Round the number of bytes up, and no further.
- [0] * math.ceil(len(codes) * bits / 8) → [0] * (len(codes) * bits // 8 + 1)
zeros-at-the-end-lost: Your last bytes are missing if they are 0. How many there are depends only on the number of
integers and bits.
+ number = sum(int(c) << i * bits for i, c in enumerate(codes))
+ return list(number.to_bytes(math.ceil(number.bit_length() / 8), "little"))
padded-in-front: The zeros that pad the last byte come first in yours. They are the highest bits of the last byte.
- at = i * bits + k → at = i * bits + k + -len(codes) * bits % 8
bits-for-bytes: You return the single bits. Eight of them make a byte.
+ return [int(c) >> k & 1 for c in codes for k in range(bits)]
""",
)

# --- 3. two weights, on paper ------------------------------------------------------------------------------------

points = at_points(e=(-0.6, 0.6), a=(0.8, 3.0), c=(-0.75, 0.75), h=(1.0, 2.5))
TWO_WEIGHTS = question(
    "compression.two_weights",
    returns=("shift", "left", "saved"),
    numpy=True,
    properties=[
        formula("the shift", 1, points, "shift"),
        formula("the mean squared change that is left", 1, points, "left"),
        formula("the saved part", 1, points, "saved"),
    ],
    mistakes="""
shift-reversed: Your shift has the wrong sign. If both inputs are alike (c > 0) and the first weight falls, the second
must rise.
- shift = e * c / h → shift = -e * c / h
first-weights-mean: You divided by the mean of x₁². The second weight moves, so the parabola in s has the factor h.
- shift = e * c / h → shift = e * c / a
shift-is-the-error: Your shift is the whole error. That is right only if both inputs are always equal.
- shift = e * c / h → shift = e
shift-not-divided: Your shift is not divided by the mean of x₂². Set the derivative −2 e c + 2 s h to 0.
- shift = e * c / h → shift = e * c
half-the-shift: A factor 2 is lost or too many: in the derivative both terms have it, −2 e c + 2 s h.
- shift = e * c / h → shift = e * c / (2 * h)
or
- shift = e * c / h → shift = 2 * e * c / h
correlation-for-the-shift: Your shift is the error times the correlation. The inputs may have different sizes: divide by
h only.
- shift = e * c / h → shift = e * c / (a * h) ** 0.5
nothing-made-up: That is the change with s = 0. Put your shift into the parabola.
- left = e**2 * (a - c**2 / h) → left = e**2 * a
left-with-a-plus: What is left is more than without a shift. The middle term, −2 e s c, is negative at the best s.
- left = e**2 * (a - c**2 / h) → left = e**2 * (a + c**2 / h)
middle-term-once: The middle term is counted once too often or too seldom: −2 e s c + s² h is −e² c² / h at the best s.
- left = e**2 * (a - c**2 / h) → left = e**2 * (a - 2 * c**2 / h)
nothing-left: Something is left, unless one input is always a multiple of the other: c² is at most a h.
- left = e**2 * (a - c**2 / h) → left = 0.0
error-not-squared: The change is squared, so e occurs as e² in what is left.
- left = e**2 * (a - c**2 / h) → left = e * (a - c**2 / h)
or
- left = e**2 * (a - c**2 / h) → left = a - c**2 / h
left-for-saved: That is the part that is *left*. The saved part is 1 minus it.
- saved = c**2 / (a * h) → saved = 1 - c**2 / (a * h)
correlation-for-saved: That is the correlation, up to its sign. The saved part is its square.
- saved = c**2 / (a * h) → saved = c / (a * h) ** 0.5
or
- saved = c**2 / (a * h) → saved = abs(c) / (a * h) ** 0.5
saved-amount: That is the amount that is saved. Divide it by the change at s = 0, which is e² a.
- saved = c**2 / (a * h) → saved = e**2 * c**2 / h
""",
)

# --- 4. the others make up for it --------------------------------------------------------------------------------


def moments(draw: Draw, columns: int, alike: float, noise: float) -> torch.Tensor:
    """The second moments of inputs with some features in common."""
    own, common = draw.normal(3 * columns + 2, columns), draw.normal(3 * columns + 2, 2) @ draw.normal(2, columns)
    inputs = ((1 - alike) * own + alike * common + 0.2).double()
    return inputs.T @ inputs / len(inputs) + noise * torch.eye(columns, dtype=torch.float64)


def layered(
    draw: Draw,
    rows: int,
    groups: int,
    group: int,
    bits: int = 3,
    alike: float = 0.7,
    noise: float = 0.05,
    zeros: int = 0,
) -> Arguments:
    """A matrix in double precision, so that no rounding depends on the last digit; `zeros`: which group, counted from
    the end, is 0."""
    weights = weighed(draw, rows, groups, group)[0].double()
    if zeros:  # after weights so large that a zero moves by several integers
        before, after = (groups - zeros) * group, (groups - zeros + 1) * group
        weights[:, :before] *= 40
        weights[:, before:after] = 0
    return weights, moments(draw, groups * group, alike, noise), bits, group


def apart(draw: Draw, rows: int, groups: int, group: int) -> Arguments:
    """Inputs that have nothing in common."""
    weights, second, bits, _ = layered(draw, rows, groups, group)
    return weights, second.diagonal().diag(), bits, group


one_group = these(
    at("one row, one group", rows=1, groups=1, group=6), at("several rows", rows=4, groups=1, group=7, bits=2)
)
more_groups = these(at("groups of four", groups=3, group=4), at("4 bits, a square", rows=10, groups=2, group=5, bits=4))
MAKE_UP = ask(
    "compression.make_up",
    returns=("codes", "scale", "zero"),
    inputs=layered,
    main=at("groups of three", rows=5, groups=4, group=3),
    properties=[
        shapes(0.25, more_groups, "the shapes are those of `quantise`"),
        values("the steps and zero points of the original matrix", 0.75, more_groups, "scale", "zero"),
        values("inputs that have nothing in common", 1, at("", apart), "codes"),
        values("one group makes up for its own errors", 2, one_group, "codes"),
        values("several groups", 1.5, more_groups, "codes"),
        values(
            "few bits, alike inputs",
            0.5,
            at("2 bits", rows=12, groups=3, group=4, bits=2, alike=0.97, noise=1e-3),
            "codes",
        ),
        values(
            "a group of zeros",
            0.5,
            at("the last group is 0", groups=2, group=4, zeros=1),
            at("a group in the middle is 0", groups=3, group=3, zeros=2),
        ),
        values("odd sizes", 0.5, ODD),
    ],
    mistakes="""
nothing-made-up: You round every column as it was at the beginning: nothing makes up for anything. The columns to the
right move by e times s, and are rounded *after* they have moved. If column i itself is in your system, the others do
not move.
- moving[:, i + 1 :] += error[:, None] * shift → pass
wrong-way: The columns to the right move the wrong way, so the errors add up. The error is the old weight less the new
one: if a weight falls, weights of similar inputs must rise.
- += error[:, None] * shift → -= error[:, None] * shift
error-of-the-original: Your error compares with the *original* column. Compare with the column as it is now, because its
earlier moves were made on purpose.
- error = moving[:, i] - d * (codes[:, i] - z) → error = weights[:, i] - d * (codes[:, i] - z)
each-pair-by-itself: You used the formula for two weights with each column to the right. They are similar to each other
as well, so together they make up too much: solve H_RR s = H_Ri.
- torch.linalg.solve(second[i + 1 :, i + 1 :], second[i + 1 :, i])
+ second[i + 1 :, i] / second.diagonal()[i + 1 :]
divided-by-own: You divided by the second moment of the column that was rounded. Those of the columns that *move* count.
- torch.linalg.solve(second[i + 1 :, i + 1 :], second[i + 1 :, i]) → second[i + 1 :, i] / second[i, i]
only-the-next: Only the next column makes up for the error. All columns to the right do.
-     if i + 1 < weights.shape[1]:
-         shift = torch.linalg.solve(second[i + 1 :, i + 1 :], second[i + 1 :, i])
-         moving[:, i + 1 :] += error[:, None] * shift
+     if i + 1 < weights.shape[1]:
+         moving[:, i + 1] += error * second[i + 1, i] / second[i + 1, i + 1]
only-within-the-group: Only the columns of the same group make up for the error. All columns to the right do.
-     if i + 1 < weights.shape[1]:
-         shift = torch.linalg.solve(second[i + 1 :, i + 1 :], second[i + 1 :, i])
-         moving[:, i + 1 :] += error[:, None] * shift
+     end = (i // group + 1) * group
+     if i + 1 < end:
+         shift = torch.linalg.solve(second[i + 1 : end, i + 1 : end], second[i + 1 : end, i])
+         moving[:, i + 1 : end] += error[:, None] * shift
or
- moving[:, i + 1 :] += error[:, None] * shift
+ moving[:, i + 1 : (i // group + 1) * group] += error[:, None] * shift[: group - 1 - i % group]
all-columns-solved: Your system of equations contains the columns to the left as well, or the column itself. They are
rounded and cannot move: take the rows and columns of `second` to the right of i.
- shift = torch.linalg.solve(second[i + 1 :, i + 1 :], second[i + 1 :, i])
+ shift = torch.linalg.inv(second)[i + 1 :, i]
or
-         shift = torch.linalg.solve(second[i + 1 :, i + 1 :], second[i + 1 :, i])
+         inverse = torch.linalg.inv(second)
+         shift = -inverse[i + 1 :, i] / inverse[i, i]
multiplied-for-solved: You multiplied by H_RR. Solve H_RR s = H_Ri: that is a division.
- torch.linalg.solve(second[i + 1 :, i + 1 :], second[i + 1 :, i]) → second[i + 1 :, i + 1 :] @ second[i + 1 :, i]
not-solved: You took H_Ri itself as the shift. Solve H_RR s = H_Ri.
- torch.linalg.solve(second[i + 1 :, i + 1 :], second[i + 1 :, i]) → second[i + 1 :, i]
from-right-to-left: You go from right to left. Begin with the first column.
- for i in range(weights.shape[1]): → for i in reversed(range(weights.shape[1])):
-     if i + 1 < weights.shape[1]:
-         shift = torch.linalg.solve(second[i + 1 :, i + 1 :], second[i + 1 :, i])
-         moving[:, i + 1 :] += error[:, None] * shift
+     if i > 0:
+         shift = torch.linalg.solve(second[:i, :i], second[:i, i])
+         moving[:, :i] += error[:, None] * shift
steps-found-again: You look for the steps again in the columns that have moved. They are those of the original matrix.
-     d, z = scale[:, i // group], zero[:, i // group]
+     if i % group == 0:
+         _, again, zeros = quantise(moving[:, i : i + group], bits, group)
+         scale[:, i // group], zero[:, i // group] = again[:, 0], zeros[:, 0]
+     d, z = scale[:, i // group], zero[:, i // group]
or
-     codes[:, i] = torch.where(d > 0, (steps.round() + z).clamp(0, 2**bits - 1), 0.0)
+     again, scale, zero = quantise(moving, bits, group)
+     codes[:, i], d, z = again[:, i], scale[:, i // group], zero[:, i // group]
one-group-for-all: You use the step of the first group for all columns. Column i belongs to group i // group.
- d, z = scale[:, i // group], zero[:, i // group] → d, z = scale[:, 0], zero[:, 0]
group-of-the-remainder: Your group is the remainder. Column i belongs to group i // group, because neighbours share one.
- d, z = scale[:, i // group], zero[:, i // group]
+ d, z = scale[:, i % scale.shape[1]], zero[:, i % scale.shape[1]]
not-limited: A weight that moved out of the range gets an integer outside 0 … 2^b − 1. Limit the integers, as in
question 1.
- (steps.round() + z).clamp(0, 2**bits - 1) → steps.round() + z
rounded-at-the-end: You moved all columns and rounded them afterwards, so that the error of each column was never known.
Round column i, then move the ones to its right.
- return codes, scale, zero → return quantise(moving, bits, group)
zero-by-zero: In a group of zeros you divide by a step of 0. Its integers are 0.
- moving[:, i] / torch.where(d > 0, d, 1.0), 0.0) → moving[:, i] / d, moving[:, i] / d)
- codes[:, i] = torch.where(d > 0, (steps.round() + z).clamp(0, 2**bits - 1), 0.0)
+ codes[:, i] = (steps.round() + z).clamp(0, 2**bits - 1)
zeros-rounded: In a group of zeros you rounded what came from the left. It has only one level, so its integers are 0.
- moving[:, i] / torch.where(d > 0, d, 1.0), 0.0) → moving[:, i] / torch.where(d > 0, d, 1.0), moving[:, i])
- torch.where(d > 0, (steps.round() + z).clamp(0, 2**bits - 1), 0.0) → (steps.round() + z).clamp(0, 2**bits - 1)
weights-for-integers: You return d (q − z), the rounded weights. Return the integers q.
- return codes, scale, zero
+ groups = codes.view(*scale.shape, -1)
+ return (scale[..., None] * (groups - zero[..., None])).view(codes.shape), scale, zero
one-error-for-all-rows: All rows move by the same amount. Each row has its own error.
- error[:, None] * shift → error.mean() * shift
or
- error[:, None] * shift → error[0] * shift
damped: You added something to the diagonal of `second`, as programs do where it cannot be inverted. Here it can be.
^ second = second + 0.01 * second.diagonal().mean() * torch.eye(len(second), dtype=second.dtype)
error-before-the-limit: Your error is that of the integer *before* it was limited. What is stored is the limited one.
- error = moving[:, i] - d * (codes[:, i] - z) → error = moving[:, i] - d * steps.round()
zeros-pass-nothing-on: In a group of zeros you pass no error on. What has come from the left is lost there, so it is the
error of this column.
- error = moving[:, i] - d * (codes[:, i] - z)
+ error = torch.where(d > 0, moving[:, i] - d * (codes[:, i] - z), 0.0)
""",
)

# --- 5. soft targets ---------------------------------------------------------------------------------------------


def logits(draw: Draw, n: int, vocabulary: int, temperature: float = 1.0, high: float = 0.0) -> Arguments:
    """Logits of both models, the student's all `high` higher."""
    return (
        2 * draw.normal(n, vocabulary) + high * draw.normal(n, vocabulary),
        2 * draw.normal(n, vocabulary),
        temperature,
    )


SOFTMAX_LOGARITHM = """
- log_q = (student / temperature).log_softmax(1) → log_q = ((student / temperature).softmax(1) + 1e-{}).log()
"""
plain = these(at("T = 1"))
warm = these(at("T = 2", temperature=2.0), at("T = 0.5", temperature=0.5))
SOFT_TARGETS = ask(
    "compression.soft_targets",
    returns=("loss", "slopes"),
    inputs=logits,
    properties=[
        shapes(0.25, plain, "a number, and a slope for every logit"),
        values("the loss at T = 1", 0.75, plain, "loss"),
        values("the slopes at T = 1", 0.75, plain, "slopes"),
        values("the loss at other temperatures", 0.75, warm, "loss"),
        values("the slopes at other temperatures", 0.75, warm, "slopes"),
        values("large logits, odd sizes", 0.75, at("logits of hundreds", high=200.0), ODD),
    ],
    mistakes="""
temperature-not-squared: Your loss has T instead of T². Then its slopes would shrink when T grows.
- loss = -(temperature**2) → loss = -temperature
no-factor: Your loss has no factor T². The slopes get two factors 1 / T from the logits, and T² makes up for them.
- loss = -(temperature**2) * (p * log_q) → loss = -(p * log_q)
teacher-not-softened: You did not divide the logits of the teacher by T.
- (teacher / temperature).softmax(1) → teacher.softmax(1)
student-not-softened: You did not divide the logits of the student by T. Both are divided.
- (student / temperature).log_softmax(1) → student.log_softmax(1)
multiplied-by-temperature: You multiplied the logits by T. Divide: a high temperature makes a distribution flatter.
- (teacher / temperature) → (teacher * temperature)
- (student / temperature) → (student * temperature)
roles-swapped: Student and teacher have changed their roles. The probabilities are those of the teacher, the logarithms
those of the student.
- (teacher / temperature).softmax(1) → (student / temperature).softmax(1)
- (student / temperature).log_softmax(1) → (teacher / temperature).log_softmax(1)
hard-targets: You took the teacher's best token as the target. The whole distribution is.
- (teacher / temperature).softmax(1)
+ torch.nn.functional.one_hot(teacher.argmax(1), teacher.shape[1]).to(teacher.dtype)
divergence: Your loss is the divergence, which is smaller by the entropy of the teacher. Its slopes are the same, but
here the loss is the cross-entropy.
- (p * log_q).sum(1).mean() → (p * (log_q - (teacher / temperature).log_softmax(1))).sum(1).mean()
squared-difference: You took the squared difference of the logits. The loss is a cross-entropy.
- loss = -(temperature**2) * (p * log_q).sum(1).mean()
+ loss = (student - teacher).square().mean()
loss-reversed: Your loss has the wrong sign. Logarithms of probabilities are negative, so the minus makes it positive.
- loss = -(temperature**2) → loss = (temperature**2)
sum-for-mean: You added up all positions. Divide by their number n.
- (p * log_q).sum(1).mean() → (p * log_q).sum()
- / len(student) →
mean-of-everything: You divided by the number of all logits. Divide by the number of positions, n.
- (p * log_q).sum(1).mean() → (p * log_q).mean()
or
- (p * log_q).sum(1).mean() → (p * log_q).mean()
- / len(student) → / student.numel()
softmax-over-positions: Your softmax runs over the positions. The probabilities of all *tokens* of one position sum to
1.
- .softmax(1) → .softmax(0)
- .log_softmax(1) → .log_softmax(0)
log-overflows: With large logits a probability becomes 0 and its logarithm infinite, or `exp` does. Use `log_softmax`.
(A small number inside makes the logarithm finite, and wrong.)
- log_q = (student / temperature).log_softmax(1) → log_q = (student / temperature).softmax(1).log()
or
- log_q = (student / temperature).log_softmax(1)
+ log_q = ((student / temperature).exp() / (student / temperature).exp().sum(1, keepdim=True)).log()
"""
    + ways(SOFTMAX_LOGARITHM, *range(6, 13))
    + """
slopes-not-divided: Your slopes are those of the sum. The loss is a mean, so each slope has the factor 1 / n.
- (log_q.exp() - p) / len(student) → (log_q.exp() - p)
slopes-reversed: Your slopes have the wrong sign. Where the student's probability is too high, its logit should fall, so
the slope is positive.
- temperature * (log_q.exp() - p) → temperature * (p - log_q.exp())
slopes-without-temperature: Your slopes lack a factor T. T² comes from the loss, and 1 / T from the logits that are
divided by it.
- temperature * (log_q.exp() - p) → (log_q.exp() - p)
chain-rule-forgotten: Your slopes have T². The logits are divided by T, so the chain rule gives one factor 1 / T.
- temperature * (log_q.exp() - p) → temperature**2 * (log_q.exp() - p)
teachers-slopes: Your slopes are those in the logits of the *teacher*. It is fixed: the student learns.
- temperature * (log_q.exp() - p) / len(student)
+ -temperature * p * (log_q - (p * log_q).sum(1, keepdim=True)) / len(student)
""",
)

# --- 6. the wrong line of a count --------------------------------------------------------------------------------


def run(draw: Draw, mixed: bool, checkpointed: bool, layers: int = 0) -> Arguments:
    """The sizes of a training run."""
    layers = layers or draw.integer(2, 9)
    return (
        layers,
        8 * draw.integer(2, 9),
        10 * draw.integer(3, 9),
        draw.integer(20, 90),
        draw.integer(11, 18),
        mixed,
        checkpointed,
    )


TRAINING_BYTES = ask(
    "compression.training_bytes",
    returns=("weights", "gradients", "moments", "activations"),
    inputs=at("checkpointing", run, mixed=False, checkpointed=True),
    properties=[
        values(
            "with checkpointing",
            1,
            at("4 bytes", run, mixed=False, checkpointed=True),
            at("mixed", run, mixed=True, checkpointed=True),
        ),
        values(
            "one layer, and without checkpointing",
            1,
            at("one layer", run, mixed=False, checkpointed=True, layers=1),
            at("without", run, mixed=False, checkpointed=False),
            at("mixed, without", run, mixed=True, checkpointed=False),
        ),
    ],
    planted="- activations = (layers + inner) * vector → activations = layers * vector",
    mistakes="""
nothing-saved: With your line checkpointing saves nothing. Only one layer at a time has its inner vectors.
- activations = (layers + inner) * vector → activations = (layers + layers * inner) * vector
inputs-lost: You count the inner vectors of one layer, but no longer the inputs of all of them.
- activations = (layers + inner) * vector → activations = inner * vector
or
- activations = (layers + inner) * vector → activations = (1 + inner) * vector
counted-twice: The layer that is computed again has its input already: count it once, among the inputs of all layers.
- activations = (layers + inner) * vector → activations = (layers + 1 + inner) * vector
one-vector-more: One layer computes all its inner vectors again, not one of them.
- activations = (layers + inner) * vector → activations = (layers + 1) * vector
multiplied: You multiplied the layers by the inner vectors. The inputs and the inner vectors of one layer are added.
- activations = (layers + inner) * vector → activations = layers * inner * vector
""",
)

WRONG_LINE = wrong_line(
    "compression.wrong_line",
    TRAINING_BYTES,
    mistakes="""
parameters-suspected: Line {parameters = } is right: 4 D² for attention and 8 D² for the feed-forward network, in each
layer.
number-suspected: Line {number = } is right: in mixed precision gradients and vectors have 2 bytes a number.
weights-suspected: Line {weights = } is right: in mixed precision there are weights of 2 bytes and a copy of 4.
moments-suspected: Line {moments = } is right: AdamW keeps two moments, of 4 bytes in both cases.
vector-suspected: Line {vector = } is right: one vector of every token.
activations-suspected: Line {(1 + inner)} is right: without checkpointing each layer keeps its input and its inner
vectors.
condition-suspected: Line {if checkpointed} is right. Look at what it decides.
return-suspected: Line {return} is right: there is one gradient for each parameter.
""",
)

# --- 7. which error matters? -------------------------------------------------------------------------------------

page = on_the_page("the five seeds of the page", 0.9, 2, [0, 1, 2, 3, 4])


def other_inputs(draw: Draw) -> list[Case]:
    """Inputs that have nothing in common, where making up gains nothing, and others at 3 bits."""
    return [
        case("inputs that are not alike", 0.0, 2, other_seeds(draw)),
        case("3 bits", 0.8, 3, other_seeds(draw)),
    ]


WHICH_ERRS = ask(
    "compression.which_errs",
    returns=("prediction", "errors", "signs"),
    properties=[
        predicted(0.25, page, 4),
        values("the errors of every seed", 4.25, page, other_inputs, "errors", tolerance=1e-3),
        own_signs("differences", 2.5, Both((page, other_inputs)), "errors", "first"),
    ],
    mistakes="""
one-seed-repeated: Every row is the same: you used the same seed each time. Use `seed`, which differs from row to row.
- layer(seed, alike) → layer(seeds[0], alike)
- scattered(nearest - weights, seed) → scattered(nearest - weights, seeds[0])
- elsewhere(inputs, seed) → elsewhere(inputs, seeds[0])
one-seed-for-the-controls: Your controls have the same seed in every row. Use `seed` there as well.
- scattered(nearest - weights, seed) → scattered(nearest - weights, 0)
- elsewhere(inputs, seed) → elsewhere(inputs, 0)
or
- scattered(nearest - weights, seed) → scattered(nearest - weights, 0)
or
- elsewhere(inputs, seed) → elsewhere(inputs, 0)
page-only: Your numbers are those of the page whatever you are given. Use the arguments `alike` and `bits`.
- layer(seed, alike) → layer(seed, 0.9)
- quantise(weights, bits, 16) → quantise(weights, 2, 16)
- make_up(weights, second, bits, 16) → make_up(weights, second, 2, 16)
measured-on-seen-inputs: You measured the errors on the inputs from which the second moments come. Only on `fresh`
inputs can you see what `make_up` gains.
- output_error(new, weights, fresh) → output_error(new, weights, inputs)
fitted-on-fresh-inputs: Your second moments come from the fresh inputs, on which you measure. That is training on the
test data.
- for seen in (inputs, elsewhere(inputs, seed)) → for seen in (fresh, elsewhere(fresh, seed))
or
- for seen in (inputs, elsewhere(inputs, seed)) → for seen in (fresh, elsewhere(inputs, seed))
mean-subtracted: You subtracted the mean of the inputs first. The output depends on the inputs themselves, so take the
means of their products.
- second = seen.T @ seen / len(seen) → second = torch.cov(seen.T)
nothing-scattered: Your column 2 is column 1 again. Put the errors into other places with `scattered`.
- weights + scattered(nearest - weights, seed) → nearest
weights-scattered: You scattered the rounded weights. Scatter the *errors*, and add them to the weights.
- weights + scattered(nearest - weights, seed) → scattered(nearest, seed)
errors-twice: You added the scattered errors to the *rounded* weights, which have errors already. Add them to the
weights.
- weights + scattered(nearest - weights, seed) → nearest + scattered(nearest - weights, seed)
errors-alone: Your column 2 has the errors without the weights. Add them to the weights.
- weights + scattered(nearest - weights, seed) → scattered(nearest - weights, seed)
never-elsewhere: Columns 3 and 4 are the same. Column 4 uses the second moments of `elsewhere(inputs, seed)`.
- (inputs, elsewhere(inputs, seed)) → (inputs, inputs)
columns-in-another-order: Columns 3 and 4 are swapped: first the right inputs, then the others.
- (inputs, elsewhere(inputs, seed)) → (elsewhere(inputs, seed), inputs)
measured-elsewhere: You measured column 4 on reordered inputs. All four columns are measured on the same `fresh` inputs.
-     errors.append([output_error(new, weights, fresh) for new in tried])
+     errors.append([output_error(new, weights, fresh) for new in tried[:3]])
+     errors[-1].append(output_error(tried[3], weights, elsewhere(fresh, seed)))
whole-rows: Your groups are whole rows. They have 16 columns.
- quantise(weights, bits, 16) → quantise(weights, bits, 32)
- make_up(weights, second, bits, 16) → make_up(weights, second, bits, 32)
distance-of-the-weights: You measured how far the *weights* are. `output_error` measures the output.
- output_error(new, weights, fresh) for new in tried
+ float((new - weights).square().mean() / weights.square().mean()) for new in tried
signs-reversed: Your signs are reversed: 1 means that the error is larger than that of column 1.
- 1 if error > row[0] else -1 → -1 if error > row[0] else 1
signs-of-the-errors: Your signs are those of the errors, which are always positive. Compare each with that of column 1.
- error > row[0] → error > 0
compared-with-the-mean: You compared with the mean of column 1 over all seeds. Compare within the row, because the same
seed has the same weights and inputs.
- error > row[0] → error > sum(r[0] for r in errors) / len(errors)
compared-with-the-neighbour: You compared each column with the one before it. Compare all three with column 1.
- [1 if error > row[0] else -1 for error in row[1:]] → [1 if b > a else -1 for a, b in zip(row, row[1:])]
ones-and-zeros: You wrote 0 where the error is smaller. It is −1.
- else -1 → else 0
not-predicted: There is no prediction. Write down what you expect, 1 to 4, before you look at numbers; afterwards
everything looks as if you had known it.
- prediction = 2 → prediction = 0
""",
)

EXERCISES = exercises_in(__name__)
