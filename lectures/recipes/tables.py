"""Tables of results as data: sentences with the result's own words in braces, and rows that say where they are.

`{share:.1%}` is Python's format; `{dev:.2f|diverged}` prints the word after the bar for a missing value, and
`{seeds!m:.1f}` is the mean of a list.
"""

import string
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import mean
from typing import Any

Result = dict[str, Any]


class _Words(string.Formatter):
    """`str.format`, with a word for a missing value and the mean of a list."""

    def format_field(self, value: Any, form: str) -> str:
        form, _, missing = form.partition("|")
        return missing if value is None else str(format(value, form))

    def convert_field(self, value: Any, conversion: str | None) -> Any:
        return mean(value) if conversion == "m" else super().convert_field(value, conversion)  # type: ignore[arg-type]


def words(form: str, value: Any, **more: Any) -> str:
    """`form` filled with a value (`{0}`), with its fields if it has any, and with what else is given."""
    return str(_Words().format(form, value, **{**(value if isinstance(value, dict) else {}), **more}))


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown."""
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [head, ["---"] * len(head), *rows])


@dataclass(frozen=True)
class Table:
    """One row per entry of the mapping at `path` ("a.b"): its name, then `columns`, then a grid of its own values."""

    path: str
    first: str = ""
    """Heading of the names."""
    columns: Mapping[str, str] = field(default_factory=dict)
    """Heading -> format over the entry."""
    grid: str = ""
    """Format over one value of the entry's mapping or list; "": no grid."""
    inner: str = ""
    """Where in the entry that mapping or list is, if it is not the entry itself."""
    keys: Sequence[Any] = ()
    """Its columns; by default all."""
    heading: str = "{0}"
    """Format over a key of the grid."""
    first_number: int = 0
    """The number of a list's first value."""
    last: Mapping[str, str] = field(default_factory=dict)
    """Columns after the grid."""
    names: str = ""
    """Where the printed names are, if the entries' own are not printed."""
    more: Sequence[Sequence[str]] = ()
    """Further rows, as formats over the whole result."""

    def __call__(self, result: Result) -> str:
        entries = _at(result, self.path)
        printed = _at(result, self.names) if self.names else {}
        tables = {name: _at(entry, self.inner) for name, entry in entries.items()} if self.grid else {}
        keys = list(self.keys or next(map(_keys, tables.values()), []))
        rows = [
            [
                str(printed.get(name, name)).replace("_", " "),
                *(words(form, entry) for form in self.columns.values()),
                *(words(self.grid, tables[name][key]) for key in keys),
                *(words(form, entry) for form in self.last.values()),
            ]
            for name, entry in entries.items()
        ]
        headings = [words(self.heading, self._number(key)) for key in keys]
        more = [[words(form, result) for form in row] for row in self.more]
        return table([self.first, *self.columns, *headings, *self.last], [*rows, *more])

    def _number(self, key: Any) -> Any:
        if isinstance(key, int):
            return key + self.first_number
        return int(key) if key.isdigit() else key


def _at(result: Any, path: str) -> Any:
    for key in filter(None, path.split(".")):
        result = result[key]
    return result


def _keys(values: Any) -> list[Any]:
    return list(values) if isinstance(values, dict) else list(range(len(values)))


Page = Sequence[str | Table | Callable[[Result], str]]
"""Blocks: a sentence with braces, a table, or a function of the result that writes one."""


def text(blocks: Page, result: Result) -> str:
    """The blocks of one page, filled; a sentence begins with a capital letter."""
    filled = [block(result) if callable(block) else words(block, result) for block in blocks]
    return "\n\n".join(part[:1].upper() + part[1:] if part[1:2].isalpha() else part for part in filled)
