"""`lectures/decks.md`: every slide of the five decks has its place, and every place exists."""

import re
from pathlib import Path

import pytest

LECTURES = Path(__file__).resolve().parents[2] / "lectures"
PAGE = (LECTURES / "decks.md").read_text(encoding="utf-8")
DECKS = dict(re.findall(r"^## ([A-E]) [^\n]*\n(.*?)(?=^## |\Z)", PAGE, re.M | re.S))
DIFFERENCES = "Where our numbers and conventions differ"
PLACE = re.compile(r"\[\d+\]\((\w+\.py)\)(?: sections? (\d+(?:, \d+)*))?")


def test_there_are_five_decks_with_notation_differences_and_slides() -> None:
    assert "".join(DECKS) == "ABCDE"
    for deck in DECKS.values():
        assert re.findall(r"^### (.*)", deck, re.M) == ["Notation", DIFFERENCES, "Slides"]
        assert "| deck | ours |" in deck


@pytest.mark.parametrize("letter", "ABCDE")
def test_every_slide_leads_to_sections_that_exist(letter: str) -> None:
    slides = re.findall(r"^- .*", DECKS[letter].split("### Slides")[1], re.M)
    assert len(slides) > 15
    for slide in slides:
        place = slide.rpartition(" → ")[2]
        assert PLACE.search(place) or re.search(r"no content|not in this course", place), slide
        for name, sections in PLACE.findall(place):
            text = (LECTURES / name).read_text(encoding="utf-8")
            for section in sections.split(", ") if sections else []:
                assert re.search(rf"^# ## {section}\. ", text, re.M), f"{name} has no section {section}: {slide}"


def test_no_part_is_promised_without_a_date_and_no_file_is_named_that_nobody_has() -> None:
    assert not re.findall(r".*\*(?:not yet|to come)\*.*", PAGE, re.I)
    for name in re.findall(r"(?:`|\]\()([\w/.]+\.(?:md|py|json|toml))", PAGE):
        assert (LECTURES / name).is_file(), name
