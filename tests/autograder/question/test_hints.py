"""No answer lies open: the last hint waits for an attempt, and its code has blanks where the solution has values."""

import re

import pytest

from autograder.check import CheckFailed, check
from autograder.question.declare import solution_of
from autograder.question.find import exercises_of, find
from autograder.question.form import COURSE
from autograder.question.hints import HINTS, faded, gives_away, nearly
from autograder.texts.text import from_text
from tests.autograder.courses import ROOT

SOLUTION = "total = counts.sum(1, keepdim=True)\nreturn counts / total.clamp(min=1)"


def squeezed(text):
    return re.sub(r"[\s`]", "", text)


@pytest.mark.parametrize("name", COURSE)
def test_no_hint_of_the_course_contains_a_line_of_its_solution(name):
    text = (ROOT / "solutions" / name / f"{name}.py").read_text(encoding="utf-8")
    cells = [cell.source for cell in from_text(text, ROOT).cells if cell.cell_type == "markdown"]
    on_pages = [stage for source in cells for hints in HINTS.findall(source) for stage in hints[1:3]]
    assert on_pages
    for exercise in exercises_of(name).values():
        assert exercise.nearly
        said = [squeezed(each) for each in (*exercise.nearly, *on_pages)]
        for line in filter(lambda line: not line.endswith(":"), solution_of(exercise.name).split("\n")):
            for part in (line, re.sub(r"^\s*(return |\w[\w, ]* = )", "", line)):
                if len(squeezed(part)) >= 12 and re.search(r"[(\[@*/+-]", part):
                    assert not any(squeezed(part) in each for each in said), f"{exercise.name}: {part.strip()}"
        for code in re.findall(r"`([^`]+)`", " ".join(exercise.nearly)):
            assert not gives_away(code, solution_of(exercise.name)), f"{exercise.name}: {code}"


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("keys @ query", "____ @ ____"),
        ("counts.sum(1, keepdim=True)", "counts.sum(____, keepdim=____)"),
        ("np.where(mask, scores, -math.inf)", "np.where(mask, ____, -____)"),
        ("a, b = x.chunk(2, dim=-1)", "a, b = x.chunk(____, dim=-____)"),
        ("position[:, None] < lengths[:, None]", "position[:, None] < ____[:, ____]"),
        ("np.tanh(é) + é", "np.tanh(____) + ____"),
        ("np.linalg.norm(a - b) / np.linalg.norm(b)", "np.linalg.norm(a - ____) / np.linalg.norm(____)"),
    ],
)
def test_two_values_become_blanks_and_functions_stay(code, says):
    assert faded(code) == says


@pytest.mark.parametrize(
    ("code", "does"),
    [
        ("total = counts.sum(1,keepdim=True)", True),
        ("counts.sum( 1, keepdim = True )", True),
        ("counts / total.clamp(min=1)", True),
        ("total.clamp(min=1)", True),  # most of the value
        ("my = counts.sum(1, keepdim=True)", True),
        ("keepdim=True", False),
        ("counts", False),
        ("counts.mean(1, keepdim=True)", False),
        ("clamp", False),
        ("counts.sum", False),  # a name
        ("for", False),  # no code
    ],
)
def test_what_gives_a_line_away(code, does):
    assert gives_away(code, SOLUTION) is does


def test_of_a_hint_only_the_code_that_gives_a_line_away_has_blanks():
    text = "[[hints on it]]\n1. Here.\n2. There.\n3. Try `counts.sum(1, keepdim=True)`\n   with `clamp`."
    assert nearly(text, SOLUTION) == ("Nearly the line on it: Try `counts.sum(____, keepdim=____)`\nwith `clamp`.",)


def test_only_a_failed_check_shows_the_last_hint(capsys, monkeypatch):
    def unwritten(query, keys):
        raise NotImplementedError

    (hint,) = find("attention.dot_score").nearly
    assert hint.startswith("Nearly the line: ")
    with pytest.raises(CheckFailed) as failed:
        check("attention.dot_score", lambda query, keys: query * keys)
    assert hint in str(failed.value)
    html = failed.value.report._repr_mimebundle_()["text/html"]
    assert "<summary" in html
    assert html.index("<details") < html.index("Nearly the line") < html.index("</details>")
    check("attention.dot_score", unwritten)
    check("attention.dot_score", lambda query, keys: keys @ query)
    check("attention.dot_score", lambda query, keys: query * keys, hidden=True)
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    check("attention.dot_score", lambda query, keys: query * keys)
    assert "Nearly the line" not in capsys.readouterr().out
