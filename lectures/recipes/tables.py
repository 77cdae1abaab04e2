"""Tables of results as data: sentences with the result's own words in braces, and rows that say where they are.

`{share:.1%}` is Python's format; `{dev:.2f|diverged}` prints the word after the bar for a missing value. Of a list,
`{seeds!m:.1f}` is the mean, `{seeds!e:.1f}` each value, `{seeds!g:.1f}` the mean with the lowest and the highest, and
`{seeds!i}` the mean with half of its 95 % interval.
"""

import string
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import mean
from typing import Any

from nlmcore.metrics import mean_interval

Result = dict[str, Any]
Form = str | Callable[[Any], str]
"""How a value is printed: a format, or a function of the value."""


@dataclass(frozen=True)
class _Several:
    """The values of a list, with how they are printed together."""

    values: Sequence[float | None]
    way: str

    def __format__(self, form: str) -> str:
        sound = [value for value in self.values if value is not None]
        if self.way == "e":
            return ", ".join(format(value, form) for value in sound)
        if self.way == "g":
            each = [format(of(sound), form) for of in (mean, min, max)] if sound else []
            return f"{each[0]} ({each[1]} to {each[2]})" if each else ""
        if len(sound) < len(self.values):
            return f"{len(self.values) - len(sound)} of {len(self.values)} diverged"
        return " ± ".join(format(value, form or ".3f") for value in mean_interval(sound))


class _Words(string.Formatter):
    """`str.format`, with a word for a missing value and four ways to print a list."""

    def format_field(self, value: Any, form: str) -> str:
        form, _, missing = form.partition("|")
        return missing if value is None else str(format(value, form))

    def convert_field(self, value: Any, conversion: str | None) -> Any:
        if conversion in ("e", "g", "i"):
            return _Several(value, conversion)
        return mean(value) if conversion == "m" else super().convert_field(value, conversion)  # type: ignore[arg-type]


def words(form: Form, value: Any) -> str:
    """`form` filled with a value (`{0}`), and with its fields if it has any."""
    if callable(form):
        return form(value)
    return str(_Words().format(form, value, **(value if isinstance(value, dict) else {})))


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown."""
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [head, ["---"] * len(head), *rows])


@dataclass(frozen=True)
class Table:
    """One row per entry of the mapping at `path` ("a.b"): its name, then `columns`, then a grid of its own values."""

    path: str | Callable[[Result], Any]
    """Or a function that makes the mapping, or pairs of a name and an entry, of the result."""
    first: str = ""
    """Heading of the names, a format over the whole result."""
    columns: Mapping[str, Form] = field(default_factory=dict)
    """Heading, likewise -> format over the entry."""
    grid: Form = ""
    """Format over one value of the entry's mapping or list; "": no grid."""
    inner: str = ""
    """Where in the entry that mapping or list is, if it is not the entry itself."""
    keys: Sequence[Any] = ()
    """Its columns; by default all."""
    heading: Form = "{0}"
    """Format over a key of the grid."""
    first_number: int = 0
    """The number of a list's first value."""
    last: Mapping[str, Form] = field(default_factory=dict)
    """Columns after the grid."""
    names: str = ""
    """Where the printed names are, if the entries' own are not printed."""
    more: Sequence[Sequence[str]] | Callable[[Result], Sequence[Sequence[str]]] = ()
    """Further rows, as formats over the whole result."""

    def __call__(self, result: Result) -> str:
        found = self.path(result) if callable(self.path) else _at(result, self.path)
        entries = list(found.items() if isinstance(found, Mapping) else found)
        printed = _at(result, self.names) if self.names else {}
        tables = [_at(entry, self.inner) for _, entry in entries] if self.grid else []
        keys = list(self.keys or next(map(_keys, tables), []))
        rows = [
            [
                str(printed.get(name, name)).replace("_", " "),
                *(words(form, entry) for form in self.columns.values()),
                *(words(self.grid, tables[i][key]) for key in keys),
                *(words(form, entry) for form in self.last.values()),
            ]
            for i, (name, entry) in enumerate(entries)
        ]
        headings = [words(self.heading, self._number(key)) for key in keys]
        more = self.more(result) if callable(self.more) else self.more
        rows += [[words(form, result) for form in row] for row in more]
        fixed = [words(heading, result) for heading in (self.first, *self.columns)]
        return table([*fixed, *headings, *self.last], rows)

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


Page = Sequence[Form]
"""Blocks: a sentence with braces, a table, or a function of the result that writes one."""


def text(blocks: Page, result: Result) -> str:
    """The blocks of one page, filled; a sentence begins with a capital letter."""
    filled = [words(block, result) for block in blocks]
    return "\n\n".join(part[:1].upper() + part[1:] if part[1:2].isalpha() else part for part in filled)
