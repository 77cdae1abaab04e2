"""Every formula of the course as a browser reads it: the right number of parts, in a font that has its characters."""

from xml.etree import ElementTree

import pytest
from fontTools.ttLib import TTFont

from autograder.feedback.mathematics import mathml
from autograder.site.formulas import FONT, characters, formulas
from tests.autograder.site.conftest import ROOT

PARTS = {"mfrac": 2, "mroot": 2, "msub": 2, "msup": 2, "munder": 2, "mover": 2, "msubsup": 3, "munderover": 3}


@pytest.fixture(scope="module")
def every() -> dict[str, str]:
    """LaTeX -> MathML."""
    return {latex: mathml(latex) for latex in formulas(ROOT)}


def test_a_script_has_a_base_and_nothing_more_than_its_scripts(every: dict[str, str]) -> None:
    assert len(every) > 1500
    for latex, made in every.items():
        for part in ElementTree.fromstring(made).iter():
            assert len(part) == PARTS.get(part.tag, len(part)), f"{part.tag}: {latex}"


def test_the_font_has_every_character_and_the_table_that_places_indices(every: dict[str, str]) -> None:
    font = TTFont(FONT)
    assert "MATH" in font
    wanted = {character for made in every.values() for character in characters(made) if character.isprintable()}
    missing = {character for character in wanted - {" "} if ord(character) not in font.getBestCmap()}
    assert not missing, "see autograder/site/formulas.py"
    assert "√" in characters(mathml(r"\sqrt 2")), "no text has the sign, and without it in the font no root is drawn"
    assert FONT.stat().st_size < 100_000
