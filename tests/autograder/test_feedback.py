from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from autograder.check import INSTRUCTOR
from autograder.feedback import HideFromStudents

TESTS = "shown()\n### BEGIN HIDDEN TESTS\nsecret()\n### END HIDDEN TESTS"
SCHEME = "A question.\n### BEGIN MARK SCHEME\nsecret\n### END MARK SCHEME"


def after(cell):
    notebook, _ = HideFromStudents().preprocess(new_notebook(cells=[cell]), {})
    return notebook.cells[0]


def about(**changes):
    return {"nbgrader": {"grade": True, "solution": False, "locked": True, "grade_id": "t", "points": 1, **changes}}


def test_hidden_tests_and_mark_schemes_are_left_out():
    assert after(new_code_cell(TESTS, metadata=about())).source == "shown()"
    question = new_markdown_cell(SCHEME, metadata=about(grade=False))
    assert after(question).source == "A question."
    task = new_markdown_cell(SCHEME, metadata=about(grade=False, locked=False, task=True))
    assert after(task).source == "A question."


def test_notes_for_the_instructor_are_left_out_and_the_report_stays():
    note = new_output("display_data", data={"text/plain": "seed 5"}, metadata=INSTRUCTOR)
    report = new_output("display_data", data={"text/plain": "2 of 3 points"})
    assert after(new_code_cell(TESTS, metadata=about(), outputs=[report, note])).outputs == [report]


def test_a_traceback_shows_no_line_of_a_hidden_test():
    error = new_output("error", ename="NameError", evalue="dot_score", traceback=["----> 3 secret()"])
    cell = after(new_code_cell(TESTS, metadata=about(), outputs=[error]))
    assert cell.outputs[0].traceback == ["NameError: dot_score"]


def test_what_a_student_wrote_is_left_alone_whatever_it_contains():
    own = "### BEGIN HIDDEN TESTS\n### BEGIN HIDDEN TESTS"
    assert after(new_code_cell(own)).source == own
    assert after(new_code_cell(own, metadata=about(solution=True, locked=False, grade=False))).source == own
