"""Small tables with a label in each cell, one after another: where the numbers of one row go."""

import html
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from lectures.show.picture import COLOURS
from lectures.show.raster import diverging_rgb
from lectures.show.svg import svg, text

_CELL, _GAP, _TOP, _PER_ROW = 38.0, 54.0, 66.0, 2


@dataclass(frozen=True, eq=False)
class Stage:
    """One table: numbers (row, column), NaN for grey; a label for each; and the cells that are framed."""

    name: str
    numbers: ArrayLike
    labels: Sequence[Sequence[str]]
    framed: Collection[tuple[int, int]] = ()


def stages_svg(stages: Sequence[Stage], *, reach: float | int, title: str = "", notes: Sequence[str] = ()) -> str:
    """Tables in reading order, two to a line; blue is −reach, white 0, red reach; a pointer on a cell shows its number.

    Raises ValueError if there is none, labels do not fit the numbers, or a framed cell is not in its table.
    """
    if not stages:
        raise ValueError("stages_svg needs at least one stage")
    tables = [np.asarray(stage.numbers, dtype=float) for stage in stages]
    for stage, table in zip(stages, tables, strict=True):
        shape = (len(stage.labels), *{len(row) for row in stage.labels})
        inside = all(0 <= i < len(table) and 0 <= j < table.shape[-1] for i, j in stage.framed)
        if table.ndim != 2 or table.shape != shape or not inside:
            raise ValueError(
                f"stage {stage.name!r} needs a label for each number and frames inside, got numbers {table.shape},"
                f" labels {shape}, frames {sorted(stage.framed)}"
            )
    wide = max(*(_CELL * table.shape[1] for table in tables), *(8.4 * len(stage.name) for stage in stages)) + _GAP
    tall = max(_CELL * len(table) for table in tables) + 60
    body, said = [text(0, 20, title, 17, more='font-weight="bold"')], []
    for n, (stage, table) in enumerate(zip(stages, tables, strict=True)):
        left, top = 4 + wide * (n % _PER_ROW), _TOP + tall * (n // _PER_ROW)
        body.append(text(left, top - 12, f"{n + 1}. {stage.name}", 15))
        for (i, j), number in np.ndenumerate(table):
            body.append(_cell(left + _CELL * j, top + _CELL * i, float(number), reach, stage.labels[i][j]))
        for i, j in stage.framed:
            at = f'x="{left + _CELL * j + 1.5:.1f}" y="{top + _CELL * i + 1.5:.1f}"'
            size = f'width="{_CELL - 3}" height="{_CELL - 3}"'
            body.append(f'<rect {at} {size} fill="none" stroke="{COLOURS[1]}" stroke-width="3"/>')
        said.append(f"{n + 1}. {stage.name}: " + "; ".join(" ".join(row) for row in stage.labels))
    bottom = _TOP + tall * ((len(stages) + _PER_ROW - 1) // _PER_ROW) - 30
    body += [text(0, bottom + 14 + 25 * i, note, 16) for i, note in enumerate(notes)]
    across = max(wide * min(len(stages), _PER_ROW), *(9.2 * len(line) for line in (title, *notes)))
    return svg(across, bottom + 25 * len(notes) + 8, "".join(body), f"{title}. {'. '.join(said)}. {'. '.join(notes)}.")


def _cell(x: float, y: float, number: float, reach: float | int, label: str) -> str:
    rgb = diverging_rgb(np.array(number), reach)
    light = int(rgb.astype(int).sum()) > 400  # ink that can be read on it
    says = "nothing" if np.isnan(number) else f"{number:.2f}"
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{_CELL}" height="{_CELL}" fill="rgb({",".join(map(str, rgb.tolist()))})"'
        f' stroke="#b0b0b0"><title>{html.escape(label)}: {says}</title></rect>'
        + text(
            x + _CELL / 2,
            y + _CELL / 2 + 5,
            label,
            15,
            "middle",
            f'style="fill:{"#000" if light else "#fff"}" pointer-events="none"',
        )
    )
