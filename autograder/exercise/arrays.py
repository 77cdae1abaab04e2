"""Small arrays as text: three decimals, and only the interesting part of a large array."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

_LIMIT = 6
_LARGEST_PICTURE = 12


@dataclass(frozen=True)
class Grid:
    title: str  # which part of the array this is: "" for all of it, "[0, 1]" for a slice
    rows: list[list[str]]
    marked: list[list[bool]]  # where it differs from what was expected


def describe(tensor: Tensor) -> str:
    shape = f"shape {tuple(tensor.shape)}" if tensor.ndim else "one number"
    return f"{str(tensor.dtype).removeprefix('torch.')}, {shape}"


def worst_slice(got: Tensor, expected: Tensor) -> tuple[int, ...]:
    """The leading indices of the matrix in which two arrays of equal shape differ most."""
    if got.ndim <= 2:
        return ()
    distance = (got.double() - expected.double()).abs().nan_to_num(nan=torch.inf).flatten(-2).amax(-1)
    return tuple(int(i) for i in np.unravel_index(int(distance.argmax()), distance.shape))


def grid(tensor: Tensor, other: Tensor | None = None, leading: tuple[int, ...] | None = None) -> Grid:
    """The array as a table; where it differs from `other` (of the same shape) is marked.

    An array with more than two axes is shown as one matrix: the one at the indices `leading`, by default the first. A
    long row or column is cut to its first six entries.
    """
    leading = (0,) * max(tensor.ndim - 2, 0) if leading is None else leading
    if tensor.numel() == 0:
        return Grid("", [["(empty)"]], [[False]])
    matrix = torch.atleast_2d(tensor[leading])
    differs = torch.zeros(matrix.shape, dtype=torch.bool)
    if other is not None and other.shape == tensor.shape:
        twin = torch.atleast_2d(other[leading]).double()
        differs = ~torch.isclose(matrix.double(), twin, rtol=1e-4, atol=1e-4)
    rows = [[_number(value) for value in row[:_LIMIT].tolist()] for row in matrix[:_LIMIT]]
    marked = [[bool(value) for value in row[:_LIMIT].tolist()] for row in differs[:_LIMIT]]
    if matrix.shape[1] > _LIMIT:
        rows, marked = [[*row, "…"] for row in rows], [[*row, False] for row in marked]
    if matrix.shape[0] > _LIMIT:
        rows.append(["…"])
        marked.append([False])
    return Grid(f"[{', '.join(map(str, leading))}]" if leading else "", rows, marked)


def as_text(table: Grid) -> list[str]:
    """One line per row, columns aligned, a star after each entry that differs."""
    starred = any(any(row) for row in table.marked)
    width = max(len(value) for row in table.rows for value in row)
    lines = []
    for row, marks in zip(table.rows, table.marked, strict=True):
        values = (f"{v:>{width}}" + ("*" if m else " " if starred else "") for v, m in zip(row, marks, strict=True))
        lines.append("  ".join(values).rstrip())
    return lines


def _number(value: float | int | bool) -> str:
    if isinstance(value, (bool, int)):
        return str(value)
    if value != value:
        return "NaN"
    if abs(value) >= 1e5 and abs(value) != float("inf"):
        return f"{value:.2e}"
    return f"{value:.3f}".replace("-0.000", "0.000")


def text_of_input(name: str, value: Any) -> Iterator[str]:
    if isinstance(value, Tensor):
        table = grid(value)
        yield f"  {name}{table.title} ({describe(value)})"
        yield from (f"      {line}" for line in as_text(table))
    else:
        yield f"  {name} = {value!r}"


def text_of_output(name: str, got: Tensor, expected: Tensor) -> Iterator[str]:
    mine, right = pair(got, expected)
    left = [f"expected {describe(expected)}", *as_text(right)]
    ours = [f"yours    {describe(got)}", *as_text(mine)]
    width = max(map(len, left))
    height = max(len(left), len(ours))
    left += [""] * (height - len(left))
    ours += [""] * (height - len(ours))
    yield f"  {name}{right.title}{'   (* differs)' if got.shape == expected.shape else ''}"
    yield from (f"      {a:<{width}}   |   {b}".rstrip() for a, b in zip(left, ours, strict=True))


def pair(got: Tensor, expected: Tensor) -> tuple[Grid, Grid]:
    if got.shape != expected.shape:
        return grid(got), grid(expected)
    leading = worst_slice(got, expected)
    return grid(got, expected, leading), grid(expected, None, leading)


def difference(got: Tensor, expected: Tensor) -> list[list[float | None]] | None:
    """got − expected in the matrix where they differ most, for a picture; None if a picture would show nothing. At
    most 12 rows and columns; None instead of a value that is not finite."""
    if got.shape != expected.shape or got.ndim < 2 or got.numel() == 0:
        return None
    leading = worst_slice(got, expected)
    matrix = (got[leading].double() - expected[leading].double())[:_LARGEST_PICTURE, :_LARGEST_PICTURE]
    if min(matrix.shape) < 2 or not (matrix.isfinite() & (matrix.abs() > 1e-4)).any():
        return None
    return [[round(v, 4) if math.isfinite(v) else None for v in row] for row in matrix.tolist()]


def as_data(tensor: Tensor, table: Grid) -> dict[str, Any]:
    return {"about": describe(tensor), "part": table.title, "rows": table.rows, "marked": table.marked}
