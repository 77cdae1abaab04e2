"""Small arrays as text: three decimals, and only the interesting part of a large array."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any

import numpy as np
import torch
from torch import Tensor

_LIMIT = 6
_LARGEST_PICTURE = 12
_SHORT = 40
LONGEST = 600  # characters of an input that is no array


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


def grid(
    tensor: Tensor, other: Tensor | None = None, leading: tuple[int, ...] | None = None, fine: bool = False
) -> Grid:
    """The array as a table; where it differs from `other` (of the same shape, or a longer or shorter list) is marked.

    An array with more than two axes is shown as one matrix: the one at the indices `leading`, by default the first. Of
    a long row or column six entries are shown: the first ones, or those around the first difference. fine: with six
    digits that count instead of three decimals.
    """
    leading = (0,) * max(tensor.ndim - 2, 0) if leading is None else leading
    if tensor.numel() == 0:
        return Grid("", [["(empty)"]], [[False]])
    matrix, axes = tensor[leading], tensor.ndim - len(leading)
    comparable = other is not None and (other.shape == tensor.shape or other.ndim == axes)
    twin = other[leading] if other is not None and comparable else matrix
    differs, theirs = differences(matrix, twin), differences(twin, matrix)
    top, left = _window(differs if differs.numel() >= theirs.numel() else theirs, _LIMIT)
    matrix, differs = torch.atleast_2d(matrix), torch.atleast_2d(differs)
    size = matrix.shape
    shown = (slice(top, top + _LIMIT), slice(left, left + _LIMIT))
    below, right = size[0] > top + _LIMIT, size[1] > left + _LIMIT

    def framed(rows: list[list[Any]], more: Any) -> list[list[Any]]:
        """The rows with `more` at every side where something is left out."""
        rows = [[*[more] * bool(left), *row, *[more] * right] for row in rows]
        return [*[[more]] * bool(top), *rows, *[[more]] * below]

    rows = framed([[_number(value, fine) for value in row] for row in matrix[shown].tolist()], "…")
    marked = framed(differs[shown].tolist(), False)
    where = [str(index) for index in leading]
    if top or left:
        where += [f"{s.start}:{min(s.stop, n)}" for s, n in zip(shown, size, strict=True)][2 - axes :]
    return Grid(f"[{', '.join(where)}]" if where else "", rows, marked)


def looks_the_same(got: Tensor, expected: Tensor) -> bool:
    """Whether two arrays cannot be distinguished on paper."""
    boolean = (got.dtype == torch.bool) == (expected.dtype == torch.bool)
    return boolean and got.shape == expected.shape and not differences(got, expected).any()


def differences(got: Tensor, expected: Tensor) -> Tensor:
    """Where two arrays of equal shape differ, in the shape of the first. Of two lists of different length, what is
    after the end of the shorter differs as well. Of other shapes nothing can be said: nowhere."""
    if got.ndim != expected.ndim or got.shape[1:] != expected.shape[1:]:
        return torch.zeros(got.shape, dtype=torch.bool)
    found = torch.ones(got.shape, dtype=torch.bool)
    both = slice(min(len(got), len(expected))) if got.ndim else ()
    found[both] = ~torch.isclose(got[both].double(), expected[both].double(), rtol=1e-4, atol=1e-4)
    return found


def _window(differs: Tensor, limit: int) -> tuple[int, int]:
    """Where a part of a matrix begins, of at most `limit` rows and columns, that contains the first difference."""
    first = torch.atleast_2d(differs).nonzero()[:1].tolist() or [[0, 0]]
    top, left = (at - limit // 3 if at >= limit else 0 for at in first[0])
    return top, left


def as_text(table: Grid) -> list[str]:
    """One line per row, columns aligned, a star after each entry that differs."""
    starred = any(any(row) for row in table.marked)
    width = max(len(value) for row in table.rows for value in row)
    lines = []
    for row, marks in zip(table.rows, table.marked, strict=True):
        values = (f"{v:>{width}}" + ("*" if m else " " if starred else "") for v, m in zip(row, marks, strict=True))
        lines.append("  ".join(values).rstrip())
    return lines


def _number(value: float | int | bool, fine: bool = False) -> str:
    if isinstance(value, (bool, int)):
        return str(value)
    if value != value:
        return "NaN"
    if fine:
        return f"{value:.6g}"
    if abs(value) >= 1e5 and abs(value) != float("inf"):
        return f"{value:.2e}"
    return f"{value:.3f}".replace("-0.000", "0.000")


def text_of_input(name: str, value: Any) -> Iterator[str]:
    if isinstance(value, Tensor):
        table = grid(value)
        yield f"  {name}{table.title} ({describe(value)})"
        yield from (f"      {line}" for line in as_text(table))
    else:
        text = brief(value)
        yield f"  {name} = {text if len(text) <= LONGEST else f'{text[:LONGEST]}…'}"


def brief(value: Any) -> str:
    """An argument in a line: of tensors inside lists and dictionaries, the dtype and shape."""
    if isinstance(value, Tensor):
        return f"{str(value.dtype).removeprefix('torch.')} {tuple(value.shape)}"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {brief(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list) and any(isinstance(item, (Tensor, dict)) for item in value):
        return "[" + ", ".join(map(brief, value)) + "]"
    return repr(value)


def shape_of(value: Any) -> str:
    """Of a tensor the shape, of a list the length, of anything else the value."""
    if isinstance(value, Tensor):
        return str(tuple(value.shape))
    if isinstance(value, (list, tuple)):
        return f"(a list of {len(value)})"
    return f"= {text}" if len(text := brief(value)) <= _SHORT else f"(a {type(value).__name__})"


def text_of_output(name: str, got: Tensor, expected: Tensor) -> Iterator[str]:
    mine, right = pair(got, expected)
    left = [f"expected {describe(expected)}", *as_text(right)]
    ours = [f"yours    {describe(got)}", *as_text(mine)]
    width = max(map(len, left))
    yield f"  {name}{right.title}{'   (* differs)' if any(map(any, mine.marked)) else ''}"
    yield from (f"      {a:<{width}}   |   {b}".rstrip() for a, b in zip_longest(left, ours, fillvalue=""))


def pair(got: Tensor, expected: Tensor) -> tuple[Grid, Grid]:
    """Both as tables that show the same part, with as many digits as the difference needs."""
    leading = worst_slice(got, expected) if got.shape == expected.shape else None
    mine, right = grid(got, expected, leading), grid(expected, got, leading)
    if any(map(any, mine.marked)) and mine.rows == right.rows:
        mine, right = grid(got, expected, leading, fine=True), grid(expected, got, leading, fine=True)
    return mine, replace(right, marked=[[False] * len(row) for row in right.marked])


def difference(got: Tensor, expected: Tensor) -> list[list[float | None]] | None:
    """got − expected in the matrix where they differ most, for a picture; None if a picture would show nothing. At
    most 12 rows and columns; None instead of a value that is not finite."""
    if got.shape != expected.shape or got.ndim < 2 or got.numel() == 0:
        return None
    leading = worst_slice(got, expected)
    top, left = _window(differences(got[leading], expected[leading]), _LARGEST_PICTURE)
    matrix = (got[leading].double() - expected[leading].double())[top:, left:]
    matrix = matrix[:_LARGEST_PICTURE, :_LARGEST_PICTURE]
    if min(matrix.shape) < 2 or not (matrix.isfinite() & (matrix.abs() > 1e-4)).any():
        return None
    return [[round(v, 4) if math.isfinite(v) else None for v in row] for row in matrix.tolist()]


def as_data(tensor: Tensor, table: Grid) -> dict[str, Any]:
    return {"about": describe(tensor), "part": table.title, "rows": table.rows, "marked": table.marked}
