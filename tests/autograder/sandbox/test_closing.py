"""What is closed is not in the sandbox, and neither is what grades. (What is said at home: test_closed_agree.)"""

import pytest
import torch

from autograder.question.outcome import Fault
from autograder.sandbox import Box, BoxFault, BoxResult, Cell, Interview, Job
from tests.autograder.sandbox.conftest import cells, is_whole, shown

X = torch.randn(3, 4)
CLOSED = ("nlmcore.attention", "nlmcore.transformer")


def put(box: Box, source: str, closed: tuple[str, ...] = CLOSED) -> BoxResult:
    ask = Interview(function="f", arguments=("x",), returns=("y",), calls=((X,),))
    job = Job(name="closed", cells=(*cells(source), Cell(id="test", source="", interviews=(ask,))), closed=closed)
    result = box.run(job)
    assert result.ended == "finished", result.words
    return result


def fault(result: BoxResult) -> Fault:
    found = result.cells[-1].outcomes[0][0].fault
    assert found is not None, "the closed name could be used"
    return found


@pytest.mark.parametrize(
    "source",
    [
        "def f(x):\n    from nlmcore.attention import attend\n    return attend(x, x)",
        "from nlmcore.attention import *\nfrom nlmcore.attention.scores import attend\ndef f(x): return attend(x, x)",
        "import nlmcore.attention.scores as s\ndef f(x): return s.attend(x, x)",
        "import nlmcore\ndef f(x): return nlmcore.transformer.TransformerLM(3)(x)",
        "from nlmcore import attention\ndef f(x): return attention.MultiHeadAttention.forward(None, x)",
        "from nlmcore.attention import MultiHeadAttention as M\ndef f(x):\n    class A(M): pass\n    return x",
    ],
)
def test_a_name_of_a_closed_room_refuses_when_it_is_used(box: Box, source: str) -> None:
    result = put(box, source)
    assert fault(result).kind == "ClosedName"
    assert set(result.cells[-1].closed) & set(CLOSED)
    assert result.cells[0].closed == ()


def test_a_line_that_is_never_reached_costs_nothing(box: Box) -> None:
    result = put(box, "from nlmcore.attention import attend\nimport nlmcore.transformer\ndef f(x): return x")
    assert result.cells[-1].outcomes[0][0].outputs[0].equal(X)
    assert result.cells[0].closed == result.cells[-1].closed == ()


def test_use_in_a_cell_is_told_there(box: Box) -> None:
    source = "from nlmcore.attention import attend\nattend(1, 2)"
    result = box.run(Job(name="cell", cells=cells(source, "1"), closed=CLOSED))
    assert [cell.closed for cell in result.cells] == [("nlmcore.attention",), ()]
    assert "ClosedName: nlmcore.attention is closed in this exercise" in shown(result)


@pytest.mark.parametrize(
    "road",
    [
        "import sys\nsys.meta_path[:] = [m for m in sys.meta_path if 'Absent' not in type(m).__name__]",
        "import sys, nlmcore\nfrom importlib.machinery import PathFinder\n"
        "sys.meta_path[:] = [PathFinder]\nsys.path_importer_cache.clear()",
        "import importlib.util, nlmcore, sys\n"
        "at = nlmcore.__path__[0] + '/attention/__init__.py'\n"
        "spec = importlib.util.spec_from_file_location('nlmcore.attention', at)\n"
        "sys.modules['nlmcore.attention'] = m = importlib.util.module_from_spec(spec)\nspec.loader.exec_module(m)",
    ],
)
def test_the_finder_taken_away_gives_nothing(box: Box, road: str) -> None:
    result = box.run(
        Job(
            name="no finder",
            cells=cells(road, "from nlmcore.attention import attend\nprint(attend.__code__)"),
            closed=CLOSED,
        )
    )
    assert "Error" in shown(result)
    assert "<code" not in shown(result)


def test_the_source_of_a_closed_room_cannot_be_read(box: Box) -> None:
    source = """
import nlmcore, os
root = nlmcore.__path__[0]
found = []
for where, _, files in os.walk(root):
    found += [os.path.join(where, f) for f in files if 'attention' in where.removeprefix(root).split(os.sep)[1:2]]
print(found, os.path.exists(os.path.join(root, 'recurrent', '__init__.py')))
open(os.path.join(root, 'attention', '__init__.py'))
"""
    result = box.run(Job(name="source", cells=cells(source), closed=CLOSED))
    assert shown(result).startswith("[] True\n")
    assert "Error" in shown(result)


def test_the_reference_is_not_in_memory(box: Box) -> None:
    source = "import gc, types, lectures.show\ngc.unfreeze()\n"
    source += "print([f.__module__ for f in gc.get_objects() if type(f) is types.FunctionType"
    source += " and str(f.__module__).startswith(('nlmcore.attention', 'solutions', 'autograder.question.verdict'))])"
    assert shown(box.run(Job(name="memory", cells=cells(source), closed=CLOSED))) == "[]\n"


@pytest.mark.parametrize(
    "name",
    [
        "autograder.sandbox",
        "autograder.sandbox.inside.closing",
        "autograder.sandbox.inside.calls",
        "autograder.question.closed",
    ],
)
def test_what_grades_cannot_be_imported(box: Box, name: str) -> None:
    source = f"""
import autograder, os, sys
rooms = 'autograder.sandbox', 'autograder.question'
print([n for n in sys.modules if n.startswith(rooms)], hasattr(autograder, 'sandbox'))
for folder in ('sandbox/inside', 'question'):
    for file in ('__init__.py', 'closing.py', 'closed.py', 'calls.py'):
        assert not os.path.exists(os.path.join(os.path.dirname(autograder.__file__), folder, file))
import {name}.__init__
"""
    said = shown(box.run(Job(name="grader", cells=cells(source))))
    assert said.startswith("[] False\n")
    assert "ModuleNotFoundError" in said


def test_of_the_lectures_only_what_students_import_is_there(box: Box) -> None:
    source = "import lectures, os\nprint(sorted(os.listdir(os.path.dirname(lectures.__file__))))\nimport lectures.show"
    assert (
        shown(box.run(Job(name="lectures", cells=cells(source))))
        == "['__init__.py', 'again.py', 'predictions.py', 'show']\n"
    )


def test_open_rooms_are_open(box: Box) -> None:
    source = "import nlmcore.recurrent, nlmcore.ngram\nprint('open')"
    assert shown(box.run(Job(name="others", cells=cells(source), closed=CLOSED))) == "open\n"


@pytest.mark.parametrize("name", ["nlmcore.nothing", "no_such_module.f", "torch.softmax", "torch.nothing"])
def test_what_cannot_be_left_out_is_the_graders_fault(box: Box, name: str) -> None:
    with pytest.raises(BoxFault, match="closed name"):
        box.run(Job(name="none", cells=cells("1"), closed=(name,)))
    is_whole(box)
