"""A plain test cell runs apart from what the notebook has made of IPython, of libraries and of numbers' looks."""

import pytest

from autograder.extras.imported.tricks import TRICKS
from autograder.sandbox import Box, Cell, CellResult, Job, Limits

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]
CLOSED = (
    "comparisons replaced",
    "asserts deleted",
    "test cells emptied",
    "errors not shown",
    "a number as the last expression",
    "a formatter prints the mark",
    "doctest replaced",
)
TEST = "import numpy as np\nassert np.allclose(f(2), 4)"
EXAMPLES = (
    "import doctest\n"
    "assert not doctest.DocTestRunner(verbose=False).run("
    "doctest.DocTestParser().get_doctest('>>> f(2)\\n4\\n', globals(), 'q', None, 0)).failed"
)


def run(box: Box, before: str, *tests: str) -> list[CellResult]:
    cells = [Cell(id="answer", source=before), *(Cell(id=f"{n}", source=t, test=True) for n, t in enumerate(tests))]
    return list(box.run(Job(name="x", cells=tuple(cells))).cells[1:])


def kinds(cell: CellResult) -> list[str]:
    return [output["output_type"] for output in cell.outputs]


@pytest.mark.parametrize("name", CLOSED)
def test_a_trick_does_not_pass(box, name):
    (trick,) = (t for t in TRICKS if t.name == name)
    cell = trick.cell.replace("NAMES", "['f']").replace("POINTS", "3")
    cell += "\nif 'f' not in globals():\n    f = lambda x: 5"
    for result in run(box, cell, TEST, EXAMPLES):
        assert kinds(result)[-1] == "error", result
    (partial,) = run(box, cell, "1.5 if f(2) == 5 else 0.25")
    assert partial.outputs[-1]["data"]["text/plain"] in ("1.5", "0.25")


def test_a_trace_function_that_jumps_over_lines_is_gone(box):
    jump = (
        "import sys\ndef f(x): return 5\n"
        "def t(frame, event, value):\n    if event == 'line': frame.f_lineno = 2\n    return t\nsys.settrace(t)"
    )
    (result,) = run(box, jump, "x = 1\nassert f(2) == 4\ny = 2")
    assert kinds(result) == ["error"]


def test_a_right_answer_passes_and_what_a_test_shows_is_kept(box):
    tests = (TEST, EXAMPLES, "print('well')\nf(1) + 0.5", "'words'", "%time f(2)\nassert f(2) == 4")
    first, second, number, shown, magic = run(box, "def f(x): return x * x", *tests)
    assert not first.outputs
    assert not second.outputs
    assert kinds(number) == ["stream", "execute_result"]
    assert number.outputs[1]["data"]["text/plain"] == "1.5"
    assert kinds(shown) == ["display_data"]
    assert "error" not in kinds(magic)


def test_an_error_says_its_line(box):
    (result,) = run(box, "def f(x):\n    return x / 0", TEST)
    assert result.outputs[0]["ename"] == "ZeroDivisionError"
    assert any("return x / 0" in line for line in result.outputs[0]["traceback"])


def test_a_test_that_does_not_end_is_interrupted(box):
    cells = (Cell(id="t", source="while True: pass", test=True), Cell(id="u", source="assert True", test=True))
    result = box.run(Job(name="x", cells=cells), Limits(cell_wall=0.5))
    assert result.cells[0].outputs[0]["ename"] == "TookTooLong"
    assert not result.cells[1].outputs
