import pytest
from nbformat.v4 import new_code_cell, new_output
from nbgrader.utils import determine_grade

from autograder.execute import _mend


def graded(*outputs):
    about = {"grade": True, "solution": False, "points": 3, "grade_id": "t", "locked": True}
    return new_code_cell("…", metadata={"nbgrader": about}, outputs=list(outputs))


STDERR = new_output("stream", name="stderr", text="UserWarning: something\n")
MARK = new_output("execute_result", data={"text/plain": "2.5"})


def test_a_warning_does_not_cost_the_mark_as_it_does_in_stock_nbgrader():
    cell = graded(STDERR, MARK)
    assert determine_grade(cell) == (0, 3)
    _mend(cell)
    assert determine_grade(cell) == (2.5, 3)
    assert "something" in cell.outputs[0].text


def test_an_error_is_still_an_error():
    cell = graded(new_output("error", ename="NameError", evalue="x", traceback=["x"]))
    _mend(cell)
    assert determine_grade(cell) == (0, 3)


def test_a_fault_of_the_grader_becomes_no_mark():
    cell = graded(new_output("error", ename="GraderFault", evalue="the reference fails", traceback=[]))
    with pytest.raises(RuntimeError, match="the check in cell 't' is broken"):
        _mend(cell)
