"""`lectures/decks.md`: every slide of the five decks has its place, and every place exists."""

import re
from pathlib import Path

import pytest

LECTURES = Path(__file__).resolve().parents[2] / "lectures"
PAGE = (LECTURES / "decks.md").read_text(encoding="utf-8")
DECKS = dict(re.findall(r"^## ([A-E]) [^\n]*\n(.*?)(?=^## |\Z)", PAGE, re.M | re.S))
PLACE = re.compile(r"\[\d+\]\((\w+\.py)\)(?: sections? (\d+(?:, \d+)*))?")


def test_there_are_five_decks_with_notation_errors_and_slides() -> None:
    assert "".join(DECKS) == "ABCDE"
    for deck in DECKS.values():
        assert re.findall(r"^### (.*)", deck, re.M) == ["Notation", "Where a slide errs", "Slides"]
        assert "| deck | ours |" in deck


@pytest.mark.parametrize("letter", "ABCDE")
def test_every_slide_leads_to_sections_that_exist(letter: str) -> None:
    slides = re.findall(r"^- .*", DECKS[letter].split("### Slides")[1], re.M)
    assert len(slides) > 15
    for slide in slides:
        place = slide.rpartition(" → ")[2]
        assert PLACE.search(place) or re.search(r"to come: |no content|not taught here", place), slide
        for name, sections in PLACE.findall(place):
            text = (LECTURES / name).read_text(encoding="utf-8")
            for section in sections.split(", ") if sections else []:
                assert re.search(rf"^# ## {section}\. ", text, re.M), f"{name} has no section {section}: {slide}"


def test_a_lecture_that_is_there_is_not_to_come() -> None:
    titles = {re.search(r"^# # (.*)", path.read_text(encoding="utf-8"), re.M)[1] for path in LECTURES.glob("[0-9]*.py")}
    assert not titles & set(re.findall(r"to come: ([^*]+)", PAGE)), "name their sections now"
