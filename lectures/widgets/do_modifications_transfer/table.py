"""All rows of the table, sorted by any column; each opens to its picture, equation and code."""

import html
from collections.abc import Mapping, Sequence

from lectures.show import Live, choice, live, menu, said, stops, tick
from lectures.widgets.do_modifications_transfer.columns import VANILLA, Column
from lectures.widgets.do_modifications_transfer.rows import card_html, sprite

_GROUPS = {
    "losses": ("early loss, theirs", "early loss, ours", "final loss, theirs", "final loss, ours"),
    "costs": ("parameters, theirs", "parameters, ours", "operations, theirs", "steps/s, theirs"),
    "tasks, theirs": ("SuperGLUE, theirs", "XSum, theirs", "WebQ, theirs", "EnDe, theirs"),
    "tasks, ours": tuple(
        f"{task}{what}, ours" for task in ("sounds", "numbers", "spelling") for what in ("", " right")
    ),
}
_PRINTED = "as printed"


_PAGE = 7


def table_explorer(columns: Mapping[str, Column]) -> Live:
    """Seven rows at a time. columns: those of `columns(theirs, ours)`; the column that sorts is always shown."""

    def draw(show: str, by: str, worst: bool, first: int) -> str:
        rows = sorted_rows(columns, by, worst)
        shown = [*_GROUPS[show], *([by] if by != _PRINTED and by not in _GROUPS[show] else [])]
        best = f"first: {rows[0]}" + ("" if by == _PRINTED else f", {columns[by].written(rows[0])}")
        runs = sorted({len(of) for title in shown for of in columns[title].runs.values()})
        seeds = f"; ours {' to '.join(map(str, dict.fromkeys((runs[0], runs[-1]))))} seeds" if runs else ""
        words = f"{len(rows)} rows; {best}. ± half of a 95 % interval{seeds}."
        return table_html({title: columns[title] for title in shown}, rows[first - 1 : first - 1 + _PAGE]) + said(words)

    count = len(columns["final loss, theirs"].values)
    pages = [(f"{at} to {min(at + _PAGE - 1, count)}", at) for at in range(1, count + 1, _PAGE)]
    return live(
        draw,
        rows=[["show", "first"], ["by", "worst"]],
        show=choice(_GROUPS, "show"),
        first=stops(pages, 1, "rows", "300px"),
        by=menu([_PRINTED, *columns], "sort by", "360px"),
        worst=tick("worst first"),
    )


def sorted_rows(columns: Mapping[str, Column], by: str, worst: bool) -> list[str]:
    """Best first; rows without a value last, equal ones as printed."""
    rows = list(columns["final loss, theirs"].values)
    if by == _PRINTED:
        return rows[::-1] if worst else rows
    column = columns[by]
    known = [row for row in rows if row in column.values]
    known.sort(key=lambda row: column.values[row], reverse=column.more_is_better != worst)
    return known + [row for row in rows if row not in column.values]


def table_html(columns: Mapping[str, Column], rows: Sequence[str]) -> str:
    """A grid; a row is pressed to open it."""
    grid = f"display:grid;grid-template-columns:minmax(8em,2.4fr) repeat({len(columns)},minmax(4.5em,1fr));gap:0 10px"
    head = "".join(
        f'<span style="text-align:right"><b>{name}</b><br>{whose}{_power(columns[f"{name}, {whose}"])}</span>'
        for name, whose in (title.split(", ") for title in columns)
    )
    lines = "".join(
        f'<details style="border-top:1px solid rgba(128,128,128,.35)"><summary style="{grid};cursor:pointer;padding:3px 4px">'
        f"<span>▸ {_bold(row)}</span>"
        + "".join(f'<span style="text-align:right">{column.written(row)}</span>' for column in columns.values())
        + f"</summary>{card_html(row)}</details>"
        for row in rows
    )
    return (
        f'{sprite()}<div style="overflow-x:auto;font-size:15px;line-height:1.35"><div style="min-width:{20 + 5 * len(columns)}em">'
        f'<div style="{grid};padding:3px 4px"><span><b>row</b></span>{head}</div>{lines}</div></div>'
    )


def _power(column: Column) -> str:
    """The power of ten that a column is in, if it is."""
    return f", {column.unit.split()[0]}" if column.unit.startswith("10") else ""


def _bold(row: str) -> str:
    return f"<b>{html.escape(row)}</b>" if row == VANILLA else html.escape(row)
