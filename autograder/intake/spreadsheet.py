"""A CSV file as spreadsheets and learning management systems write it: encoding and separator are detected."""

import codecs
import csv
import io
import re
import tomllib
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MOST_BYTES = 50 * 2**20
WORDS: dict[str, Any] = tomllib.loads(Path(__file__).with_name("words.toml").read_text(encoding="utf-8"))
"""What headings, months and the like are called."""
SEPARATORS = ",;\t|"
MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
WORKBOOKS = {b"PK\x03\x04": "an Excel or OpenDocument workbook", b"\xd0\xcf\x11\xe0": "an old Excel workbook"}


@dataclass(frozen=True)
class Sheet:
    """A table with a line of headings."""

    headings: list[str]
    rows: list[tuple[int, list[str]]]
    """(number of the line in the file, one value per heading)."""

    def column(self, *names: str) -> int | None:
        """The number of the first column with one of these headings, compared as `plain` writes them."""
        there = [plain(heading) for heading in self.headings]
        return next((there.index(name) for name in names if name in there), None)


def plain(text: str) -> str:
    """A heading without its case, accents and punctuation: "E-Mail-Adresse" is "e mail adresse"."""
    letters = unicodedata.normalize("NFKD", text.casefold())
    return " ".join(re.findall(r"[^\W_]+", "".join(c for c in letters if not unicodedata.combining(c))))


def read_sheet(path: Path) -> Sheet:
    """Raises ValueError, with a message, if it is not a table of text; OSError if it cannot be read."""
    lines = [(number, row) for number, row in _lines(path) if any(row)]
    if not lines:
        raise ValueError(f"{path.name} is empty")
    headings = lines[0][1]
    if len(headings) < 2 and len(lines) > 1 and max(len(row) for _, row in lines[1:]) > 1:
        raise ValueError(f"the first line of {path.name} is no line of headings: {headings[0][:60]!r}")
    wide = max(len(row) for _, row in lines)
    headings = headings + [""] * (wide - len(headings))
    return Sheet(headings, [(number, (row + [""] * wide)[:wide]) for number, row in lines[1:]])


def _lines(path: Path) -> list[tuple[int, list[str]]]:
    rows, form = read_as_written(path)
    return [(n, [v.strip(" \t\xa0") for v in row]) for n, row in rows[form.hints :]]


@dataclass(frozen=True)
class Form:
    """How a table is written, so that a new one can be written in the same form."""

    encoding: str
    separator: str
    line_end: str
    hints: int  # lines above the headings

    def write(self, rows: Iterable[Sequence[object]]) -> bytes:
        text = io.StringIO(newline="")
        csv.writer(text, delimiter=self.separator, lineterminator=self.line_end).writerows(rows)
        return text.getvalue().encode(self.encoding)


def read_as_written(path: Path) -> tuple[list[tuple[int, list[str]]], Form]:
    """Every line of a table with its number, complete; and how it is written. Raises as `read_sheet` does."""
    text, encoding = _text(path)
    first = next((line for line in text.splitlines() if line.strip()), "")
    said = re.fullmatch(r'"?sep=(.)"?', first.strip("\r\n"), re.I)  # Excel's own hint, above the headings
    separator = said[1] if said else max(SEPARATORS, key=lambda sign: len(next(csv.reader([first], delimiter=sign))))
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    try:
        rows = [(reader.line_num, row) for row in reader]
    except csv.Error as error:
        raise ValueError(f"{path.name} is no table, from line {reader.line_num} on ({error})") from None
    return rows, Form(encoding, separator, "\r\n" if "\r\n" in text else "\n", 1 if said else 0)


def _text(path: Path) -> tuple[str, str]:
    with open(path, "rb") as file:
        content = file.read(MOST_BYTES + 1)
    kind = WORKBOOKS.get(content[:4])
    if kind:
        raise ValueError(f"{path.name} is {kind}: save it as CSV (in Excel: Save As, CSV UTF-8)")
    if len(content) > MOST_BYTES:
        raise ValueError(f"{path.name} has more than {MOST_BYTES >> 20} MB, so it is no list of a class")
    marked = next((name for mark, name in MARKS if content.startswith(mark)), "")
    even, odd = content[:400:2].count(0), content[1:400:2].count(0)
    guess = "utf-16-le" if odd > even else "utf-16-be"  # Latin letters have a zero beside each
    for name in [marked] if marked else [guess] if even or odd else ["utf-8", "cp1252"]:
        try:
            return content.decode(name), name
        except UnicodeDecodeError:
            continue
    raise ValueError(f"{path.name} is no text in UTF-8, UTF-16 or Windows-1252: save it as CSV UTF-8")
