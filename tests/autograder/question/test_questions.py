"""One line of a master opens a question: heading, figures, metadata and test cell follow from the declaration."""

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from autograder.question.audit import notebook_faults
from autograder.question.find import find
from autograder.question.questions import in_hours, opened, written_before
from solutions.attention.checks import EXERCISES

SOLUTION = "def dot_score(query, keys):\n    ### BEGIN SOLUTION\n    return keys @ query\n    ### END SOLUTION"


def master(
    heading="### 1a. The dot product [[attention.dot_score]]",
    solution=SOLUTION,
    imports="from autograder.check import check, passes",
):
    cells = [
        new_markdown_cell("# Assignment\n\n[[questions]]"),
        new_markdown_cell(f"## 1. Scores\n\n{heading}\n\nWrite it."),
        new_code_cell(imports),
        new_code_cell(solution),
        new_markdown_cell("## 2. In your own words [[written, 20 minutes, 4.5 points]]\n\nWhy?"),
        new_markdown_cell("Because."),
    ]
    return new_notebook(cells=cells)


def test_a_question_is_opened():
    closed = master()
    cells = opened(closed).cells
    assert closed == master() | {"cells": closed.cells}, "the master's own notebook does not change"
    table, question, _, solution, test, asked, answer = cells
    assert table.source.split("\n")[-5:] == [
        "| 1a | `dot_score` | 5 | 2 | easy · core |",
        "| 2 | in your own words | 20 | 4.5 | written · core |",
        "| | together | 25 | 6.5 | |",
        "",
        "About 25 minutes; all times are estimates.",
    ]
    assert (
        question.source
        == "## 1. Scores\n\n### 1a. The dot product\n\n*5 minutes · 2 points · easy · core*\n\nWrite it."
    )
    assert solution.metadata.nbgrader["solution"]
    assert solution.id == "dot_score"
    assert test.metadata.nbgrader == {
        **{"grade": True, "grade_id": "check_dot_score", "locked": True, "points": 2},
        **{"schema_version": 3, "solution": False, "task": False},
    }
    assert "*20 minutes · 4.5 points · written, marked by hand · core*" in asked.source
    assert (asked.id, asked.metadata.nbgrader["locked"]) == ("written_question", True)
    assert answer.metadata.nbgrader["points"] == 4.5
    only = {"attention.dot_score": EXERCISES["attention.dot_score"]}
    assert notebook_faults(new_notebook(cells=cells), only) == []


def test_hints_are_opened_one_inside_the_other():
    heading = (
        "### 1a. A [[attention.dot_score]]\n\n[[hints on it]]\n1. Here.\n2. Or\n   there.\n3. `x`\n\n[[how it works]]"
    )
    question = opened(master(heading)).cells[1].source
    assert question.count("**How it works.**") == 1
    assert (
        "\n\n<details><summary>A hint on it: where to look</summary>\n\nHere.\n\n"
        "<details><summary>The idea</summary>\n\nOr\nthere.\n</details></details>\n\n"
    ) in question
    assert "`x`" not in question, "the last one waits for a check that fails"


def test_what_was_written_with_arrays_is_not_called_with_tensors():
    attend, grouped = "positions.attend", "self_attention.grouped_attention"
    assert "computes with NumPy arrays, and here you get tensors" in written_before([grouped], find(attend))
    assert "computes with tensors, and here you get NumPy arrays" in written_before([attend], find(grouped))
    assert "or call it." in written_before(["self_attention.rotate"], find("positions.rotary"))


def test_what_is_checked_is_listed_with_its_points():
    question = opened(master("### 1a. A [[attention.dot_score]]\n\n[[checked]] One thing more.")).cells[1].source
    for each in EXERCISES["attention.dot_score"].properties:
        assert f"{each.name} ({each.points:g})" in question
    assert ". One thing more." in question


@pytest.mark.parametrize(
    ("written", "rows"),
    [
        (", more", ["written · more |", "About 1½ hours, the core 5 minutes; all times are estimates."]),
        ("", ["written · core |", "About 1½ hours; all times are estimates."]),
    ],
)
def test_the_table_states_the_time_for_the_core(written, rows):
    notebook = master()
    notebook.cells[4].source = f"## 2. In your own words [[written, 80 minutes, 4 points{written}]]"
    table = opened(notebook).cells[0].source.split("\n")
    assert [table[-4].removeprefix("| 2 | in your own words | 80 | 4 | "), table[-1]] == rows


@pytest.mark.parametrize(
    ("minutes", "words"),
    [(25, "25 minutes"), (60, "1 hour"), (90, "1½ hours"), (130, "2 hours"), (145, "2½ hours"), (170, "3 hours")],
)
def test_a_time_to_plan_with(minutes, words):
    assert in_hours(minutes) == words


def test_a_notebook_without_questions_does_not_change():
    plain = new_notebook(cells=[new_markdown_cell("## 1. Text\n\n[1](x)"), new_code_cell("def f(x): ...")])
    assert opened(plain) == plain


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"heading": "## 1. A [[attention.dot_scores]]"}, "no exercise is called 'attention.dot_scores'"),
        ({"heading": "## 1. A [[written, many minutes]]"}, "no exercise is called 'written'"),
        ({"solution": "def dot_product(query, keys): ..."}, "no code cell defines dot_score"),
        ({"heading": "### 1a. A [[attention.dot_score]]\n\n[[hints]]\n1. Here.\n2. There."}, "hints need three stages"),
        ({"imports": "from autograder.check import passes"}, "need a line `from autograder.check import check`"),
    ],
)
def test_what_cannot_be_opened_is_named(changes, words):
    with pytest.raises(ValueError, match=words):
        opened(master(**changes))
