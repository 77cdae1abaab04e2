"""What is closed is not in the sandbox, and neither is what grades. (What is said at home: test_closed_agree.)"""

import pytest

from autograder.sandbox import Box, BoxFault
from tests.autograder.sandbox.conftest import is_whole, run, shown

CLOSED = ("nlmcore.attention", "nlmcore.transformer")


def test_use_in_a_cell_is_told_there_and_what_is_imported_or_open_costs_nothing(box: Box) -> None:
    more = "import nlmcore.transformer, nlmcore.recurrent, nlmcore.ngram\nprint('on')"
    result = run(box, "from nlmcore.attention import attend\nattend(1, 2)", more, closed=CLOSED)
    assert [cell.closed for cell in result.cells] == [("nlmcore.attention",), ()]
    assert "ClosedName: nlmcore.attention is closed in this exercise" in shown(result)
    assert shown(result).endswith("on\n")


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
    said = shown(run(box, road, "from nlmcore.attention import attend\nprint(attend.__code__)", closed=CLOSED))
    assert "Error" in said
    assert "<code" not in said


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
    said = shown(run(box, source, closed=CLOSED))
    assert said.startswith("[] True\n")
    assert "Error" in said


def test_the_reference_is_not_in_memory(box: Box) -> None:
    source = "import gc, types, lectures.show\ngc.unfreeze()\n"
    source += "print([f.__module__ for f in gc.get_objects() if type(f) is types.FunctionType"
    source += " and str(f.__module__).startswith(('nlmcore.attention', 'solutions', 'autograder.question.verdict'))])"
    assert shown(run(box, source, closed=CLOSED)) == "[]\n"


def test_what_grades_cannot_be_imported(box: Box) -> None:
    names = ("sandbox", "sandbox.inside.closing", "sandbox.inside.calls", "question.closed")
    source = """
import autograder, os, sys
rooms = 'autograder.sandbox', 'autograder.question'
print([n for n in sys.modules if n.startswith(rooms)], hasattr(autograder, 'sandbox'))
for folder in ('sandbox/inside', 'question'):
    for file in ('__init__.py', 'closing.py', 'closed.py', 'calls.py'):
        assert not os.path.exists(os.path.join(os.path.dirname(autograder.__file__), folder, file))
"""
    said = shown(run(box, source, *(f"import autograder.{name}.__init__" for name in names)))
    assert said.startswith("[] False\n")
    assert said.count("\nModuleNotFoundError") == len(names), said


def test_of_the_lectures_only_what_students_import_is_there(box: Box) -> None:
    source = "import lectures, os\nprint(sorted(os.listdir(os.path.dirname(lectures.__file__))))\nimport lectures.show"
    assert shown(run(box, source)) == "['__init__.py', 'again.py', 'predictions.py', 'show']\n"


@pytest.mark.parametrize("name", ["nlmcore.nothing", "no_such_module.f", "torch.softmax", "torch.nothing"])
def test_what_cannot_be_left_out_is_the_graders_fault(box: Box, name: str) -> None:
    with pytest.raises(BoxFault, match="closed name"):
        run(box, "1", closed=(name,))
    is_whole(box)
