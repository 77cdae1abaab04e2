"""A right function keeps its points whatever else an honest notebook does; what fails in our own code is no 0."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from nbformat.v4 import new_code_cell, new_notebook

from autograder.grading import marking
from autograder.grading.attempt import attempt
from autograder.grading.bound import is_bound_nowhere
from autograder.grading.execute import run_plan, show
from autograder.grading.gradebook import UNMARKED
from autograder.grading.marking import Early, counted_together, mark_notebook
from autograder.grading.plan import plan_notebook
from autograder.grading.records import NotebookResult
from autograder.question.find import exercises_of, find
from autograder.question.outcome import Fault, Outcome
from autograder.sandbox import Box, BoxResult, CellResult, Job
from autograder.sandbox.session import Session
from tests.autograder import courses
from tests.autograder.courses import FakeBox, answer
from tests.autograder.sandbox.conftest import SHORT, real_box

RIGHT = """import warnings
import numpy as np
import torch

def deep(n):
    return n and deep(n - 1)

def dot_score(query, keys):
    warnings.warn("careful")
    print("on the way", deep(300), np.log(np.zeros(1)))
    assert torch.ones(2, requires_grad=True).sum().requires_grad
    scores = torch.zeros(len(keys))
    for number in range(len(keys)):
        scores[number] = sum(list(keys[number] * query))
    return scores"""
"""Right, and touched by much that another cell may switch."""
CHECK = 'check("attention.dot_score", dot_score)\ncheck("attention.dot_score", dot_score, hidden=True)'
DISTURBED = {
    "warnings that raise": "import warnings\nwarnings.simplefilter('error')",
    "NumPy that raises": "import numpy as np\nnp.seterr(all='raise')",
    "another default dtype": "torch.set_default_dtype(torch.float16)",
    "another default device": "torch.set_default_device('meta')",
    "no gradients": "torch.set_grad_enabled(False)\ntorch.no_grad().__enter__()\ntorch.inference_mode().__enter__()",
    "other seeds": "import random\nrandom.seed(1)\ntorch.manual_seed(1)",
    "a closed stream": "import sys\nsys.stdout = sys.stderr = open('log.txt', 'w')\nsys.stdout.close()",
    "another folder": "import os\nos.makedirs('a')\nos.chdir('a')\nos.rmdir('../a')",
    "little depth": "import sys\nsys.setrecursionlimit(70)",
    "built-ins deleted": "import builtins\ndel builtins.print, builtins.len, builtins.isinstance, builtins.Exception",
    "built-ins replaced": "import builtins\nbuiltins.print = builtins.sum = builtins.tuple = None",
    "built-ins shadowed": "sum = list = max = len = 0",
    "a plot that raises": "import matplotlib.pyplot as plt\nplt.plot([1], [1, 2])",
    "a question to the reader": "n = int(input('how many? '))",
    "megabytes": "for i in range(300):\n    print('x' * 100_000)",
    "memory held": "held = [torch.ones(10**6) for _ in range(500)]",
    "a busy thread": "import threading\n\ndef run():\n    while True:\n        pass\n\n"
    "for _ in range(4):\n    threading.Thread(target=run, daemon=True).start()",
    "an exit": "import sys\nexit()\nsys.exit(3)",
    "a fall": "import os\nos._exit(1)",
    "an endless loop": "while True:\n    pass",
    "all forgotten": "%reset -f",
}
"""What comes after the function is defined, and before it is checked."""


@pytest.fixture(scope="module")
def box() -> Iterator[Box]:
    with real_box(replace(SHORT, wall=4, cpu=30)) as one:
        yield one


def graded(box: Any, *cells: Any) -> NotebookResult:
    every = [*cells, courses.test_cell("check_dot_score", 2, CHECK)]
    plan = plan_notebook("fair", every, exercises_of("attention"), b"secret", ("attention", "fair", "ada"), {})
    return run_plan(box, plan, every)


@pytest.mark.parametrize("own", DISTURBED.values(), ids=DISTURBED)
def test_another_cell_takes_no_points_from_a_right_function(box: Box, own: str) -> None:
    (mark,) = graded(box, answer("dot_score", RIGHT), new_code_cell(own)).marks
    assert (mark.points, mark.unsure) == (mark.of, ""), mark


BEFORE = {
    "a slow start": "import torch\nimport time\ntime.sleep(60)\n",
    "an error": "import torch\n1 / 0\n",
    "a package that is not there": "import torch\nimport no_such_package\n",
    "a question": "import torch\nname = input()\n",
}


@pytest.mark.parametrize("before", BEFORE.values(), ids=BEFORE)
def test_a_function_is_found_in_a_cell_that_did_not_reach_it(box: Box, before: str) -> None:
    (mark,) = graded(box, answer("dot_score", before + RIGHT)).marks
    assert mark.points == mark.of
    assert mark.again


def test_a_cell_with_an_impossible_indent_costs_nothing(box: Box) -> None:
    odd = new_code_cell("if True:\n        x = 1\n    y = 2")
    (mark,) = graded(box, odd, answer("dot_score", BEFORE["an error"] + RIGHT)).marks
    assert mark.points == mark.of
    assert mark.again


def test_eight_slow_cells_are_too_long_together_and_cost_nothing(box: Box) -> None:
    own = [new_code_cell("import time\ntime.sleep(0.9)") for _ in range(8)]
    result = graded(box, *own, answer("dot_score", RIGHT))
    (mark,) = result.marks
    assert mark.points == mark.of
    assert any("All cells together took longer than their 4 seconds" in words for words in result.incidents)
    assert not any("interrupted" in words for words in result.incidents)


ODD = {
    "one element with a stride": "torch.empty_strided((1,), (7,)).copy_(r[:1]) if len(r) == 1 else r",
    "a slice of something wide": "torch.stack([r, r, r], -1)[:, 1]",
    "expanded": "r.sum() if r.ndim == 0 else r.expand(r.shape)",
    "a negative view": "torch.complex(r * 0, -r).conj().imag",
    "requires a gradient": "torch.nn.Parameter(r)",
    "Fortran's order": "__import__('numpy').asfortranarray(r.numpy())",
    "backwards": "r.numpy()[::-1].copy()[::-1]",
    "big-endian": "r.numpy().astype('>f4')",
    "long doubles": "r.numpy().astype('longdouble')",
}


@pytest.mark.parametrize("result", ODD.values(), ids=ODD)
def test_however_a_right_result_lies_in_memory_it_is_read(box: Box, result: str) -> None:
    source = f"import torch\ndef dot_score(query, keys):\n    r = (keys * query).sum(-1)\n    return {result}"
    (mark,) = graded(box, answer("dot_score", source)).marks
    assert mark.points == mark.of, mark


def test_a_wrong_function_is_wrong_alone_too(box: Box) -> None:
    (mark,) = graded(box, answer("dot_score", "def dot_score(query, keys):\n    return keys[99]")).marks
    assert (mark.points, mark.unsure, mark.again) == (0, "", False)


UNREADABLE = """
class Odd(list):
    def __len__(self):
        raise MemoryError
def dot_score(query, keys):
    return Odd()"""


LINE, MEND = find("ngrams.wrong_line"), find("ngrams.witten_bell")


@pytest.mark.parametrize(
    ("mended", "points"), [(MEND.reference, (1, 2)), (MEND.planted, (0, 0)), (None, (0, 0))], ids=["yes", "no", "gone"]
)
def test_the_number_of_a_wrong_line_counts_with_the_mended_code_alone(mended: Any, points: tuple[int, int]) -> None:
    functions = {"wrong_line": LINE.reference, "witten_bell": mended}
    checks = {e: CHECK.replace("attention.dot_score", e.name).replace("dot_score", e.function) for e in (LINE, MEND)}
    cells = [courses.test_cell(f"check_{e.function}", e.points, check) for e, check in checks.items()]
    place = ("ngrams", "fair", "ada")
    plan = plan_notebook("fair", cells, {e.name: e for e in (LINE, MEND)}, b"secret", place, {})
    result = run_plan(FakeBox(lambda job, name: functions[name]), plan, cells)
    assert tuple(mark.points for mark in result.marks) == points
    numbers = [o["data"]["text/plain"] for o in result.outputs["0"] if o["output_type"] == "execute_result"]
    assert [float(number) for number in numbers] == [points[0]], "what nbgrader reads"
    waiting = replace(result.marks[1], points=0.0, unsure="it has to be marked by hand")
    line = replace(result.marks[0], points=1.0)
    line, mend = counted_together(plan, replace(result, marks=[line, waiting])).marks
    assert "witten_bell" in line.unsure, "whoever marks the code marks the number"
    assert mend == waiting


def test_what_our_own_code_cannot_read_has_no_mark_and_waits_for_a_person(box: Box) -> None:
    cells = [answer("dot_score", UNREADABLE)]
    result = graded(box, *cells)
    (mark,) = result.marks
    assert "it has to be marked by hand" in mark.unsure
    assert any(words.startswith("check_dot_score: it has to be marked by hand") for words in result.incidents)
    notebook = new_notebook(cells=[*cells, courses.test_cell("check_dot_score", 2, CHECK)])
    show(notebook, result)
    assert notebook.cells[-1].metadata[UNMARKED] is True


class Failing:
    """A box whose own code fails at one cell, as often as it is run."""

    def run(self, job: Job) -> BoxResult:
        return BoxResult(cells=(), ended="ours", words="The grader's own code failed.", at=job.cells[-1].id)


def test_a_run_that_our_own_code_ends_gives_no_zero() -> None:
    (mark,) = graded(Failing(), answer("dot_score", RIGHT)).marks
    assert mark.unsure == "it has to be marked by hand: The grader's own code failed."


def test_nothing_is_run_again_where_nothing_failed(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[bool] = []
    monkeypatch.setattr("autograder.grading.execute.attempt", lambda b, job: runs.append(job.lean) or attempt(b, job))
    graded(box, answer("dot_score", RIGHT))
    graded(box, answer("dot_score", "def dot_score(query, keys):\n    return query * keys.sum()"))
    graded(box, answer("dot_score", "def dot_score(query, keys):\n    raise NotImplementedError"))
    graded(box, answer("dot_score", "def dot_score(query, keys):\n    return nowhere"), new_code_cell("1 / 0"))
    assert runs == [False] * 4


BINDS = {
    "a statement that was not reached": "1 / 0\nscale = 1.0",
    "a name in quotes": "import builtins\n1 / 0\nsetattr(builtins, 'scale', 1.0)",
    "a star": "1 / 0\nfrom math import *",
    "what is made elsewhere": "1 / 0\nexec('sca' + 'le = 1.0')",
}


@pytest.mark.parametrize("before", BINDS.values(), ids=BINDS)
def test_a_name_that_another_part_of_the_notebook_may_bind_is_asked_again(before: str) -> None:
    text = f"{before}\ndef f(x):\n    return scale * x"
    words = "NameError: name 'scale' is not defined"
    fault = Fault(kind="NameError", words=words, line="line 4 of your cell: return scale * x")
    found = CellResult(id="f", outcomes=((Outcome(fault=fault),),))
    assert not is_bound_nowhere(found, text)
    assert is_bound_nowhere(found, "def f(x):\n    return scale * x")
    assert not is_bound_nowhere(found, "def f(x, scale=1.0):\n    del scale\n    return scale * x")


@pytest.mark.parametrize("above", ["", "# my first try\n", "print('hello')\n\n"])
def test_what_fails_alone_too_is_asked_one_call_of_each_failure(
    box: Box, monkeypatch: pytest.MonkeyPatch, above: str
) -> None:
    """What is left out of the cell above the function changes none of its line numbers."""
    asked: list[int] = []
    original = Session._interview
    monkeypatch.setattr(Session, "_interview", lambda s, i: asked.append(len(i.calls)) or original(s, i))
    graded(box, answer("dot_score", f"{above}def dot_score(query, keys):\n    return keys[99]"))
    assert asked[0] > 1
    assert asked[1:] == [1]


def test_a_question_is_marked_once_and_before_the_notebook_ends(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    marked: list[str] = []
    original = marking._mark
    monkeypatch.setattr(marking, "_mark", lambda test, *rest: marked.append(test.cell) or original(test, *rest))
    cells = [
        answer("dot_score", RIGHT),
        courses.test_cell("check_dot_score", 2, CHECK),
        answer("bilinear_score", "def bilinear_score(query, keys, W):\n    return keys @ (W.T @ query)"),
        courses.test_cell("check_bilinear_score", 2, CHECK.replace("dot_score", "bilinear_score")),
    ]
    plan = plan_notebook("two", cells, exercises_of("attention"), b"secret", ("attention", "two", "ada"), {})
    early = Early(plan, cells)
    found = attempt(box, replace(plan.job, meanwhile=early))
    assert marked == ["check_dot_score"]
    result = mark_notebook(plan, found, cells, early)
    assert marked == ["check_dot_score", "check_bilinear_score"]
    assert result == mark_notebook(plan, found, cells)
