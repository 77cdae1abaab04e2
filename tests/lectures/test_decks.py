"""`lectures/decks.md`: every slide of the five decks has its place, and every place exists."""

import re
from functools import cache
from pathlib import Path

import pytest

LECTURES = Path(__file__).resolve().parents[2] / "lectures"
PAGE = (LECTURES / "decks.md").read_text(encoding="utf-8")
DECKS = dict(re.findall(r"^## ([A-E]) [^\n]*\n(.*?)(?=^## |\Z)", PAGE, re.M | re.S))
DIFFERENCES = "Where our numbers and conventions differ"
PLACE = re.compile(r"\[\d+\]\((\w+\.py)\)(?: sections? (\d+(?:, \d+)*))?")
REMARK = re.compile(PLACE.pattern + r"([^;\[]*)")


def section_texts() -> dict[tuple[str, str], str]:
    """(file, number) -> everything in this section of this lecture, in small letters."""
    found = {}
    for page in LECTURES.glob("[0-9][0-9]_*.py"):
        text = page.read_text(encoding="utf-8")
        for number, section in re.findall(r"^# ## (\d+)\. (.*?)(?=^# ## |\Z)", text, re.M | re.S):
            found[page.name, number] = section.lower()
    return found


SECTIONS = section_texts()


@cache
def distinctive(word: str) -> bool:
    """Whether at most a third of all sections have it."""
    return 3 * sum(word in text for text in SECTIONS.values()) <= len(SECTIONS)


def stems(text: str) -> set[str]:
    """The words of three letters or more, the first six letters of each: "recurrence" finds "recurrent"."""
    return {word[:6] for word in re.findall(r"[^\W\d_]{3,}", re.sub(r"<[^>]+>", "", text).lower())}


def astray(slide: str) -> list[str]:
    """The sections a slide leads to that have no distinctive word of the slide, or of the remark beside the link."""
    what, _, place = slide.rpartition(" → ")
    return [
        f"{name} section {section}"
        for name, sections, remark in REMARK.findall(place)
        for section in (sections.split(", ") if sections else [])
        if not any(distinctive(word) and word in SECTIONS[name, section] for word in stems(what) | stems(remark))
    ]


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


@pytest.mark.parametrize("letter", "ABCDE")
def test_every_section_speaks_of_the_slide_that_leads_to_it(letter: str) -> None:
    slides = re.findall(r"^- .*", DECKS[letter].split("### Slides")[1], re.M)
    assert not {slide: wrong for slide in slides if (wrong := astray(slide))}


def test_a_slide_that_leads_astray_is_found() -> None:
    slide = "- Bidirectional RNNs → [{}]({}.py) section {}"
    assert not astray(slide.format(6, "06_recurrent_networks", 7))
    assert astray(slide.format(1, "01_language_models", 3))
    assert not astray(slide.format(1, "01_language_models", 3) + " (trigrams)")


def test_no_part_is_promised_without_a_date_and_no_file_is_named_that_nobody_has() -> None:
    assert not re.findall(r".*\*(?:not yet|to come)\*.*", PAGE, re.I)
    for name in re.findall(r"(?:`|\]\()([\w/.]+\.(?:md|py|json|toml))", PAGE):
        assert (LECTURES / name).is_file(), name
