"""Derivations, bugs and experiments: `autograder.question.special`, with the questions of the assignment on n-grams."""

import copy
import math
import re
from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import nbformat
import pytest
import torch

from autograder import check as check_module
from autograder.check import CheckFailed, check, failing, passes
from autograder.grading.stubs import CourseStubs
from autograder.question.audit import exercise_faults, verdict_on
from autograder.question.draw import Draw
from autograder.question.find import exercises_of, find
from autograder.question.laws.experiments import is_supported
from autograder.question.listing import EditError, listing_of
from autograder.question.outcome import Outcome
from autograder.question.public import read, write
from autograder.question.questions import opened
from autograder.question.report import Report
from autograder.question.special import _claim, on_the_page, wrong_line
from autograder.question.specification import Exercise
from autograder.release.build import secret_lines
from autograder.texts.text import from_text
from tests.autograder.test_checks import ASSIGNMENTS
from tests.test_assignments import ROOT

RIGHT = "unigram = counts.sum(0) / counts.sum()"
WRONG = "unigram = counts.sum(1) / counts.sum()"


@pytest.fixture
def mend() -> Exercise:
    return find("ngrams.witten_bell")


@pytest.fixture(scope="module")
def notebook() -> nbformat.NotebookNode:
    return opened(from_text((ROOT / "solutions" / "ngrams" / "ngrams.py").read_text(encoding="utf-8"), ROOT))


# --- a bug ------------------------------------------------------------------------------------------------


def test_students_get_the_solution_with_one_wrong_line(notebook, mend):
    cell = next(c for c in notebook.cells if "def witten_bell" in c.source and c.cell_type == "code")
    kept, _ = CourseStubs().preprocess_cell(copy.deepcopy(cell), {"language": "python"}, 0)
    assert kept.source == "\n".join(listing_of(mend).lines)
    assert WRONG in kept.source
    assert RIGHT not in kept.source
    assert "given" not in kept.metadata


def test_the_listing_has_numbers(notebook, mend):
    text = "\n".join(c.source for c in notebook.cells if c.cell_type == "markdown")
    assert f"\n{listing_of(mend).wrong:2}      {WRONG}\n" in text
    assert RIGHT not in text
    with pytest.raises(EditError, match="occurs in 3"):
        listing_of(mend).number("total")


def test_the_right_line_is_secret_and_the_others_are_not(notebook):
    secret = secret_lines(notebook.cells)
    assert RIGHT in secret
    assert not {WRONG, "types = (row > 0).sum()"} & secret


def test_the_bug_as_it_was_given_is_not_written_and_stops_nothing(mend, capsys):
    assert check(mend.name, mend.planted) is None
    said = capsys.readouterr().out
    assert said.startswith("witten_bell: not mended yet. 2 points available")
    assert "An example" in said
    assert not any(mistake.sentence in said for mistake in mend.misconceptions)
    inputs, expected = failing(mend.name)
    assert torch.allclose(mend.reference(*inputs), expected)
    assert verdict_on(mend, mend.planted, 0).points == 0


def test_a_copy_of_the_course_says_the_same_of_the_bug(mend):
    theirs = read(*write({mend.name: mend}))[mend.name]
    assert verdict_on(theirs, mend.planted).unwritten
    assert str(Report(verdict_on(theirs, mend.planted))) == str(Report(verdict_on(mend, mend.planted)))


def test_a_bug_that_earns_points_or_is_named_does_not_build(mend):
    for planted, words in (
        (mend.mistake("types-changed-as-well"), "'types-changed-as-well' gives away the planted bug"),
        (mend.reference, "the planted bug passes"),
    ):
        assert any(words in fault for fault in exercise_faults(replace(mend, planted=planted)))


def test_a_bug_is_one_line(mend):
    longer = partial(mend.reference)
    longer.source = mend.reference.source.replace(RIGHT, f"{RIGHT} * 2")
    with pytest.raises(EditError, match="0 lines differ"):
        listing_of(replace(mend, planted=mend.reference))
    with pytest.raises(EditError, match="contains the right one"):
        listing_of(replace(mend, planted=longer))
    with pytest.raises(EditError, match="plants no bug"):
        listing_of(find("ngrams.additive"))


def test_a_wrong_line_shows_no_right_one():
    with pytest.raises(CheckFailed) as found:
        check("ngrams.wrong_line", lambda: 8)
    assert not re.search("An example|failing", str(found.value))
    with pytest.raises(ValueError, match="showed no failing input"):
        failing("ngrams.wrong_line")


def test_a_notebook_says_whether_a_line_is_right_only_when_its_code_is_mended(capsys, monkeypatch):
    names = {"wrong_line": lambda: 8, "witten_bell": find("ngrams.witten_bell").reference}
    monkeypatch.setattr(check_module, "_shell", lambda: SimpleNamespace(user_ns=names))
    monkeypatch.setattr(check_module, "ran", lambda shell: [])
    monkeypatch.setattr(check_module, "_passed", set())
    right = find("ngrams.wrong_line").reference
    told = []
    for guess in (names["wrong_line"], right):
        check("ngrams.wrong_line", guess)
        told.append(capsys.readouterr().out)
        assert not passes("ngrams.wrong_line", guess)
    assert told[0] == told[1]
    assert "noted" in told[0]
    check("ngrams.witten_bell", names["witten_bell"])
    assert "wrong_line: 0 of 1 point so far" in capsys.readouterr().out
    with pytest.raises(CheckFailed):
        check("ngrams.wrong_line", names["wrong_line"])
    check("ngrams.wrong_line", right)
    assert passes("ngrams.wrong_line", right)


def test_the_line_in_the_source_notebook_is_the_planted_one(mend):
    other = replace(mend, planted=mend.mistake("types-changed-as-well"))
    with pytest.raises(ValueError, match="the wrong line is 12, and the solution says 7"):
        wrong_line("ngrams.wrong_line", other, points=1, mistakes="one-off: No.\n- 7 → 8")


def test_a_part_of_a_line_in_braces_is_its_number_and_the_first_one_the_answer(mend):
    said = "types-suspected: Line {types =} is right,\nand so is {row.sum()}.\nother: {(total + types)}, too."
    made = wrong_line("ngrams.wrong_line", mend, points=1, mistakes=said)
    types, total, share = map(listing_of(mend).number, ("types =", "row.sum()", "(total + types)"))
    assert [m.sentence for m in made.misconceptions] == [f"Line {types} is right, and so is {total}.", f"{share}, too."]
    assert [m.implementation() for m in made.misconceptions] == [types, share]


@pytest.mark.parametrize("name", ASSIGNMENTS)
def test_every_bug_can_be_pointed_at(name):
    for exercise in exercises_of(name).values():
        if exercise.planted is not None:
            assert 6 <= len(listing_of(exercise).lines) <= 40


# --- an experiment ----------------------------------------------------------------------------------------

CLAIMS = [["lower", 0, 1], [["lower", 1, 0]], ["undecided", 0, 1], ["lower", 0, 1, 2.0]]


def said(rows: list[list[float]], conclusion: float, right: list[list[float]] | None = None) -> str | None:
    def outcome(table: list[list[float]]) -> tuple[Outcome]:
        return (Outcome(outputs=(torch.tensor(1), torch.tensor(table), torch.tensor(conclusion))),)

    (case,) = on_the_page("the page")(Draw(0, 4))
    return is_supported("conclusion", 2, 1, 0.5, CLAIMS)(case, outcome(rows), outcome(right or rows))


def test_seeds_that_an_answer_counts_itself_are_named_in_every_experiment():
    for name in ("ngrams.which_k", "backpropagation.beginnings"):
        exercise = find(name)
        verdict = verdict_on(exercise, exercise.mistake("seeds-counted-anew"))
        assert [m.id for m in verdict.misconceptions] == ["seeds-counted-anew"]


def test_claims_are_written_as_comparisons():
    assert _claim("0 < 1") == ["lower", 0, 1]
    assert _claim("1.5 * 2 < 4, 0 ~ 1") == [["lower", 2, 4, 1.5], ["undecided", 0, 1]]
    with pytest.raises(ValueError, match="0 > 1"):
        _claim("0 > 1")


CLEAR = [[1.0, 3.0], [1.2, 3.1], [1.1, 2.9], [0.9, 3.0], [1.0, 3.2]]
MIXED = [[1.0, 1.1], [1.2, 1.0], [1.1, 1.2], [1.0, 0.8], [1.0, 1.05]]
SAME_SIGN_BY_CHANCE = [[1.0, 1.001], [1.0, 1.9], [1.0, 1.002], [1.0, 1.003], [1.0, 1.001]]
FOUR_OF_FIVE = [[1.0, 1.5], [1.1, 1.6], [1.2, 1.71], [1.3, 1.8], [1.0, 0.99]]


@pytest.mark.parametrize(
    ("rows", "defensible"), [(CLEAR, {1, 4}), (MIXED, {3}), (SAME_SIGN_BY_CHANCE, {1, 3}), (FOUR_OF_FIVE, {1, 3})]
)
def test_conclusions_are_judged_by_the_students_own_numbers(rows, defensible):
    assert {choice for choice in range(1, 5) if said(rows, choice) is None} == defensible


def test_what_supports_no_conclusion():
    assert "not one of the numbers 1 to 4" in str(said(CLEAR, 0))
    assert "not one of the numbers 1 to 4" in str(said(CLEAR, 1.5))
    assert "the same for every seed" in str(said([[1.0, 2.0]] * 5, 1))
    assert "far from those" in str(said(CLEAR, 1, [[5.0, 9.0]] * 5))
    assert "no number for every seed" in str(said([[1.0, math.nan]] * 5, 1, CLEAR))
    nearly = [[0.0, b] for _, b in CLEAR]
    assert said([[1e-8, b] for _, b in CLEAR], 1, nearly) is None, "a sum in another order"
    assert "far from those" in str(said([[1e-3, b] for _, b in CLEAR], 1, nearly))
    assert "no number for every seed" in str(said(CLEAR[:1], 1, CLEAR))
    assert "holds for 0 of 5 seeds" in str(said(CLEAR, 2))
    assert "your own numbers decide it" in str(said(CLEAR, 3))


def test_an_example_shows_neither_prediction_nor_conclusion():
    experiment = find("ngrams.which_k")
    with pytest.raises(CheckFailed) as found:
        check(experiment.name, experiment.mistake("best-seed-picked"))
    assert "perplexities" in str(found.value)
    assert "\n  conclusion" not in str(found.value)
    assert failing(experiment.name).expected[::2] == (None, None)
    with pytest.raises(CheckFailed) as found:
        check(experiment.name, experiment.mistake("against-the-numbers"))
    assert "An example" not in str(found.value)
    assert "your own numbers say the opposite" in str(found.value)
