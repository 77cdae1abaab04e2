"""Translations as gettext's PO files: `lectures/translations/<language>/<lecture>.po`, `site.po` for the site itself.

A message is one block of Markdown, or one string of a widget or picture, in the words of the source. Its context is the
cell: the heading of its section, and its number there. Numbers are generated: a message of which only numbers have
changed stays translated, and the new numbers are put into the translation.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from babel import Locale
from babel.messages.catalog import Catalog, Message
from babel.messages.pofile import read_po, write_po

WHERE = "lectures/translations"
_NUMBER = re.compile(r"(?<![\d{])\d{1,3}(?:[,\u202f]\d{3})+(?:\.\d+)?(?![\d}])|(?<!\{)\d+(?:\.\d+)?(?!\})")
_KEPT = re.compile(r"\$\$?[^$]+\$\$?|`[^`]+`|\]\([^)]*\)|\{\d\}")
"""What a translation must have as the original has it: formulas, code, links, places for values."""


def name(language: str) -> str:
    """A language in its own words."""
    found = Locale.parse(language).get_display_name(language) or language
    return found[0].upper() + found[1:]


def languages(root: Path, stem: str) -> list[str]:
    """The languages that have a catalogue of this name."""
    return sorted({path.parent.name for path in (root / WHERE).glob(f"*/{stem}.po")})


def contexts(cells: Iterable[Any]) -> Iterator[str]:
    """What the catalogues call each cell: "3. Three scores, side by side · 2". A lecturer's notes are "… · notes"."""
    section, count = "", 0
    for cell in cells:
        head = re.match(r"#{1,3} (.+)", cell["source"]) if cell["cell_type"] == "markdown" else None
        if head:
            section, count = head[1].strip(), 0
        notes = cell["metadata"].get("slideshow", {}).get("slide_type") == "notes"
        count += not notes
        yield f"{section} · {'notes' if notes else count}"


# --- numbers ---------------------------------------------------------------------------------------


def numbers(text: str) -> list[str]:
    """The numbers of a text, however their thousands are set apart; not the places for values, {0}."""
    return [re.sub("[,\u202f]", "", found) for found in _NUMBER.findall(text)]


def skeleton(text: str) -> str:
    return _NUMBER.sub("#", text)


def localised(text: str) -> str:
    """Numbers as the translations write them: 112 397 with a narrow space, and the point of the code's own output."""
    return re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "\u202f", text)


def renumbered(translation: str, before: str, now: str) -> str | None:
    """A translation of `before` for `now`, which has different numbers. None if it is not clear which goes where."""
    old, new = numbers(before), [localised(found) for found in _NUMBER.findall(now)]
    if old == numbers(now):
        return translation
    if old == numbers(translation):  # in the same order
        each = iter(new)
        return _NUMBER.sub(lambda _: next(each), translation)
    values: dict[str, str] = {}
    if any(values.setdefault(a, b) != b for a, b in zip(old, new, strict=True)):
        return None
    return _NUMBER.sub(lambda found: values.get(numbers(found[0])[0], found[0]), translation)


def faults(english: str, translation: str) -> list[str]:
    """The formulas, code, links, places and numbers that the one has and the other has not."""
    wrong = []
    for parts in (_KEPT.findall, numbers):
        ours, theirs = (parts(text.replace("{,}", r"\,")) for text in (english, translation))
        wrong += [part for part in {*ours, *theirs} if ours.count(part) != theirs.count(part)]
    return wrong


# --- a file ----------------------------------------------------------------------------------------


class Translations:
    """One PO file, read."""

    def __init__(self, path: Path, language: str) -> None:
        self.path, self.language = path, language
        self.catalogue = Catalog(locale=language)
        if path.is_file():
            with path.open("rb") as file:
                self.catalogue = read_po(file, locale=language)
        self.done: dict[tuple[str, str], Message] = {}
        self.begun = {message.context for message in self.catalogue if message.id and message.string}
        """The cells of which something is translated, or was."""
        for message in self.catalogue:
            if message.id and message.string and not message.fuzzy:
                key = skeleton(str(message.id))
                self.done[str(message.context or ""), key] = message
                self.done.setdefault(("", key), message)  # a cell that has moved keeps its translations

    def find(self, context: str, english: str) -> str | None:
        """The translation of a message; None if it is missing or stale."""
        key = skeleton(english)
        found = self.done.get((context, key)) or self.done.get(("", key))
        return None if found is None else renumbered(str(found.string), str(found.id), english)

    def say(self, english: str) -> str:
        """The translation of what belongs to no cell, or else the English."""
        return self.find("", english) or english

    def renewed(self, asked: Sequence[tuple[str, str]]) -> "Catalog":
        """The catalogue for what is asked now, in that order. The translation of what was worded otherwise is kept as a
        proposal ("fuzzy"), which no page shows."""
        title = f"# {self.path.stem} in {name(self.language)}"
        made = Catalog(locale=self.language, header_comment=title, project="nlmcourse", version="1", fuzzy=False)
        made.msgid_bugs_address = made.last_translator = made.language_team = ""
        made.creation_date, made.revision_date = self.catalogue.creation_date, self.catalogue.revision_date
        old = [message for message in self.catalogue if message.id and message.string]
        for context, english in dict.fromkeys(asked):
            before = self.catalogue.get(english, context or None)
            found = self.find(context, english)
            same = [message for message in old if (message.context or "") == context] or old
            more: dict[str, Any] = {}
            if found is not None:
                more = {"string": found, "user_comments": list(before.user_comments) if before else []}
            elif close := get_close_matches(english, [str(message.id) for message in same], 1):
                match = next(message for message in same if message.id == close[0])
                previous = match.previous_id if match.fuzzy and match.id == english else [str(match.id)]
                more = {"string": match.string, "flags": {"fuzzy"}, "previous_id": previous}
            made.add(english, context=context or None, **more)
        return made

    def write(self, catalogue: Catalog) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("wb") as file:
            write_po(file, catalogue, width=120, include_previous=True)
