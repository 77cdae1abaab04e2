"""What the lecturer's window says: a note for every section, with the minutes that the lecture's table promises."""

import re
from pathlib import Path

import pytest

from tests.lectures.conftest import LECTURES


def minutes_told(text: str) -> list[int]:
    """The row of minutes in the table at the head of a lecture."""
    row = re.search(r"^# \| minutes \|(.*)\|$", text, re.M)
    assert row is not None
    return [int(cell) for cell in row[1].split("|")]


def minutes_in_notes(text: str) -> list[int | None]:
    """For every numbered section the minutes that its notes begin with; None if no note does."""
    found: list[int | None] = []
    for section in re.split(r"^# ## (?=\d+\. )", text, flags=re.M)[1:]:
        section = re.split(r"^# ## ", section, flags=re.M)[0]
        notes = re.findall(r'"slide_type": "notes"\}\n((?:#.*\n)+)', section)
        told = [int(m) for note in notes for m in re.findall(r"(\d+) minutes", note)]
        found.append(sum(told) if told else None)
    return found


@pytest.mark.parametrize("page", LECTURES, ids=lambda page: page.stem)
def test_every_section_has_a_note_with_its_minutes(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert minutes_in_notes(text) == minutes_told(text)


@pytest.mark.parametrize("page", LECTURES, ids=lambda page: page.stem)
def test_a_lecture_fits_in_a_double_period(page: Path) -> None:
    minutes = minutes_told(page.read_text(encoding="utf-8"))
    assert 60 <= sum(minutes) <= 76


def test_a_section_without_a_note_is_found() -> None:
    note = '# %% [markdown] slideshow={"slide_type": "notes"}\n# *3 minutes. Ask.*\n\n'
    assert minutes_in_notes(f"# ## 1. One\n{note}# ## 2. Two\n# Words.\n# ## Check yourself\n{note}") == [3, None]
