"""What is taken out of a graded notebook before a student sees it."""

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from autograder.check import INSTRUCTOR
from autograder.feedback import HideFromStudents
from autograder.question.report import MACHINE

TESTS = "shown()\nassert f(1) == 2, 'one gives two'\n### BEGIN HIDDEN TESTS\nsecret()\n### END HIDDEN TESTS"
HIDDEN = 'check("attention.dot_score", dot_score, hidden=True)'
OURS = f'check("attention.dot_score", dot_score)\n### BEGIN HIDDEN TESTS\n{HIDDEN}\n### END HIDDEN TESTS'
SCHEME = "A question.\n### BEGIN MARK SCHEME\nsecret\n### END MARK SCHEME"


def all_after(*cells):
    notebook, _ = HideFromStudents().preprocess(new_notebook(cells=list(cells)), {})
    return notebook.cells


def after(cell):
    return all_after(cell)[0]


def about(**changes):
    return {"nbgrader": {"grade": True, "solution": False, "locked": True, "grade_id": "t", "points": 1, **changes}}


def error(kind, words):
    return new_output("error", ename=kind, evalue=words, traceback=[f"----> 3 secret() {words}"])


def test_hidden_tests_and_mark_schemes_are_left_out():
    assert "secret" not in after(new_code_cell(TESTS, metadata=about())).source
    question = new_markdown_cell(SCHEME, metadata=about(grade=False))
    assert after(question).source == "A question."
    task = new_markdown_cell(SCHEME, metadata=about(grade=False, locked=False, task=True))
    assert after(task).source == "A question."


def test_notes_for_the_instructor_are_left_out_and_the_report_stays():
    note = new_output("display_data", data={"text/plain": "seed 5"}, metadata=INSTRUCTOR)
    report = new_output("display_data", data={"text/plain": "2 of 3 points", MACHINE: {"properties": []}})
    cell = after(new_code_cell(OURS, metadata=about(), outputs=[report, note]))
    assert cell.outputs == [report]
    assert "hidden=True" not in cell.source


@pytest.mark.parametrize(
    ("kind", "words", "shown"),
    [
        ("NameError", "dot_score", "NameError"),  # chosen by whoever raised it: it could say what it saw
        ("AssertionError", "one gives two", "AssertionError: one gives two"),
        ("AssertionError", "f(12345) is 7", "AssertionError"),
        ("Saw_12345", "12345", "an exception"),
    ],
)
def test_an_error_of_a_hidden_test_says_only_what_the_visible_text_says(kind, words, shown):
    cell = after(new_code_cell(TESTS, metadata=about(), outputs=[error(kind, words)]))
    assert cell.outputs[0].traceback == [shown, "A hidden test of this question did not pass."]


def test_what_student_code_prints_after_a_hidden_test_is_left_out_and_before_it_is_not():
    own = about(solution=True, locked=False, grade=False)
    printed = new_output("stream", name="stdout", text="the hidden input was 12345")
    picture = new_output("display_data", data={"image/png": "iVBORw0KGgo="})
    before, test, later = all_after(
        new_code_cell("f = 1", metadata=own, outputs=[printed]),
        new_code_cell(TESTS, metadata=about(), outputs=[printed, picture]),
        new_code_cell("print(kept)", outputs=[printed, picture, error("ValueError", "12345")]),
    )
    assert before.outputs == [printed]
    assert test.outputs == []
    assert [output.traceback for output in later.outputs] == [["ValueError"]]


def test_plain_mistakes_are_said_in_full_after_a_hidden_test_too():
    def said(source, kind, words):
        failed = new_code_cell(source, outputs=[error(kind, words)])
        return all_after(new_code_cell(TESTS, metadata=about()), failed)[1].outputs[0].traceback

    name = "name 'undefined_name' is not defined"
    assert said("undefined_name", "NameError", name) == [f"NameError: {name}"]
    assert said("other", "NameError", name) == ["NameError"]
    assert said("def f(:", "SyntaxError", "chosen") == ["SyntaxError: invalid syntax (line 1)"]
    assert said("x = 1", "SyntaxError", "chosen") == ["SyntaxError"]


def test_what_a_student_wrote_is_left_alone_whatever_it_contains():
    own = "### BEGIN HIDDEN TESTS\n### BEGIN HIDDEN TESTS"
    assert after(new_code_cell(own)).source == own
    assert after(new_code_cell(own, metadata=about(solution=True, locked=False, grade=False))).source == own
