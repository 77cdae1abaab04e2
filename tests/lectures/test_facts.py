"""Every figure and claim in a lecture's prose is what its own cells compute: one test for all lectures."""

from pathlib import Path
from typing import Any

import pytest

from autograder.texts import figures
from lectures import facts


@pytest.mark.every_python
def test_figures_in_the_prose_are_what_the_lecture_computes(lecture: Path, ran: dict[str, Any]) -> None:
    source = lecture.read_text(encoding="utf-8")
    found, wrong = facts.values(figures.expressions(source), ran)
    assert wrong == []
    assert facts.untrue(source, found) == [], f"run: python -m lectures.facts {lecture.stem[:2]}"


NAMES = {"loss": -0.03125, "rows": [1, 2, 3], "of": {"a": 1234567}}


@pytest.mark.parametrize(
    ("typed", "right"),
    [
        ("fell by 0<!--[[loss:.3f]]--> nats", "fell by −0.031<!--[[loss:.3f]]--> nats"),
        ("(9<!--[[of['a']:,]]-->)", "(1,234,567<!--[[of['a']:,]]-->)"),
        ("**9<!--[[len(rows)]]-->** of 3<!--[[rows[2]]]-->", "**3<!--[[len(rows)]]-->** of 3<!--[[rows[2]]]-->"),
        ("two<!--[[words(len(rows))]]--> rows", "three<!--[[words(len(rows))]]--> rows"),
        ("Two<!--[[words(len(rows))]]--> rows", "Three<!--[[words(len(rows))]]--> rows"),
        ("12%<!--[[rows[0] / 3:.0%]]-->", "33%<!--[[rows[0] / 3:.0%]]-->"),
        ("is lower<!--[[? loss < 0]]-->", "is lower<!--[[? loss < 0]]-->"),
    ],
)  # fmt: skip
def test_a_figure_is_renewed_where_it_stands(typed: str, right: str) -> None:
    found, wrong = facts.values(figures.expressions(typed), NAMES)
    assert wrong == []
    assert figures.renewed(typed, found) == right
    assert figures.renewed(right, found) == right
    as_text = "# %% [markdown]\n# {}\n"
    assert bool(facts.untrue(as_text.format(typed), found)) == (typed != right)
    assert facts.untrue(as_text.format(right), found) == []


@pytest.mark.parametrize("typed", ["113<!--[[len(rows)]]-->", "0.3<!--[[len(rows)]]-->", "−3<!--[[len(rows)]]-->"])
def test_a_figure_is_not_the_end_of_another(typed: str) -> None:
    found, _ = facts.values(figures.expressions(typed), NAMES)
    assert facts.untrue(f"# %% [markdown]\n# {typed}\n", found)


def test_a_claim_that_does_not_hold_and_a_name_that_is_not_there_are_said() -> None:
    found, wrong = facts.values(["? loss > 0", "nobody", "len(rows)"], NAMES)
    assert found == {"len(rows)": "3"}
    assert [line.partition("]]: ")[2].partition(":")[0] for line in wrong] == ["AssertionError", "NameError"]


def test_a_reader_sees_no_expression() -> None:
    assert (
        figures.words("15<!--[[len(rows)]]--> rows<!--[[? 1]]--> end <!-- a note -->") == "15 rows end <!-- a note -->"
    )


@pytest.mark.slow
def test_the_command_runs_a_lecture_and_evaluates_what_its_cells_have_left() -> None:
    source = "# %%\nrows = 2\n\n# %% [markdown]\n# 3<!--[[rows + 1]]--> rows<!--[[? rows > 2]]-->\n"
    assert facts.compute(source) == ({"rows + 1": "3"}, ["[[? rows > 2]]: AssertionError: this does not hold"])
