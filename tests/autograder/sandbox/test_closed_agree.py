"""The check at home and the sandbox say the same of every use of what is absent."""

import importlib.util
import re
import sys
from typing import Any

import pytest
import torch

from autograder.question import alone
from autograder.question.closed import ALONE, absent_home
from autograder.question.interview import heard_answers, questions
from autograder.question.missing import missing
from autograder.question.specification import Property, case
from autograder.sandbox import Box
from tests.autograder.sandbox.closed_cases import ROOM, USES, Use
from tests.autograder.sandbox.conftest import asking, run, shown
from tests.autograder.test_specification import doubling

X = torch.randn(3, 4)
ROWS = [pytest.param(use, id=use.name) for use in USES]
MATRIX = (Property(name="of a matrix", points=1, cases=lambda draw: [case("x", X)], judge=lambda *given: None),)


@pytest.mark.parametrize("use", ROWS)
def test_at_home(use: Use) -> None:
    scope: dict[str, object] = {"__name__": "__main__"}
    for line in use.source.split("\n1 / 0\n"):
        exec(compile(line, "<cell>", "exec"), scope)
    loaded, names = dict(sys.modules), dict(scope)
    exercise = doubling(properties=MATRIX, numpy=use.numpy, closed=() if use.numpy else (ROOM,))
    ((outcome, *_), *_), used = heard_answers(scope["f"], exercise, questions(exercise)[:1], exercise.closed)  # type: ignore[arg-type]
    assert (outcome.fault is not None) == use.refused, outcome
    assert used == ((ROOM,) if use.refused and not use.numpy else ())
    if use.refused:
        assert outcome.fault is not None
        assert outcome.fault.kind == "ClosedName"
    assert {name: sys.modules.get(name) for name in loaded} == loaded, "all is put back"
    assert scope == names


@pytest.mark.parametrize("use", ROWS)
def test_in_the_sandbox(box: Box, use: Use) -> None:
    closed = () if use.numpy else (ROOM,)
    result = run(box, use.source, asking("f", (X,), numpy=use.numpy), closed=closed, numpy=use.numpy)
    assert result.cells[0].closed == ()
    assert result.cells[-1].closed == ((ROOM,) if use.refused and not use.numpy else ())
    fault = result.cells[-1].outcomes[0][0].fault
    assert (None if fault is None else fault.kind) == ("ClosedName" if use.refused else None)
    if use.numpy and fault is not None:
        assert ALONE in fault.words


def test_a_decorator_of_what_is_absent_is_refused_at_home_as_well() -> None:
    """In the sandbox there is no such function then."""
    scope: dict[str, Any] = {"__name__": "__main__"}
    exec("import numpy, torch\n@torch.no_grad()\ndef f(x): return numpy.exp(x)", scope)
    exec("def g(x): return f(x)", scope)
    exercise = doubling(properties=MATRIX, numpy=True, closed=())
    for name in "fg":
        ((outcome, *_), *_), _ = heard_answers(scope[name], exercise, questions(exercise)[:1], ())
        assert outcome.fault is not None
        assert outcome.fault.kind == "ClosedName"


@pytest.mark.parametrize("made", ["torch.eye(4).numpy()", "np.eye(4)"])
def test_a_value_that_the_check_calls_missing_is_missing_in_the_sandbox(box: Box, made: str) -> None:
    sources = (
        "import numpy as np\nimport torch",
        f"TABLE = {made}\nOTHER = np.zeros(4)",
        "def f(x): return x + TABLE + OTHER",
    )
    scope: dict[str, Any] = {"__name__": "__main__"}
    for source in sources:
        exec(source, scope)
    expected = ["TABLE"] if "torch" in made else []
    assert missing(scope["f"], sources, lambda value: absent_home(value, alone.is_absent)) == expected
    result = run(box, *sources, asking("f", (X,), numpy=True), numpy=True)
    fault = result.cells[-1].outcomes[0][0].fault
    assert re.findall(r"name '(\w+)' is not defined", "" if fault is None else fault.words) == expected


ROADS = {
    "the finder taken away": """
import sys
sys.meta_path[:] = [one for one in sys.meta_path if type(one).__name__ != "Finder"]
[sys.modules.pop(name) for name in list(sys.modules) if name.startswith("torch")]
import torch
""",
    "by its file": """
import importlib.machinery, numpy
at = numpy.__file__.replace("numpy", "torch")
torch = importlib.machinery.SourceFileLoader("torch", at).load_module()
""",
    "in memory": """
import gc, sys, types
gc.unfreeze()
torch = next(o for o in gc.get_objects() if isinstance(o, types.ModuleType) and o.__name__ == "torch" and o.__file__)
""",
    "from the caller": """
import sys
def f(x):
    frame = sys._getframe(1)
    while frame:
        if (torch := frame.f_globals.get("torch")) is not None: return torch.from_numpy(x)
        frame = frame.f_back
    raise LookupError
""",
    "by its compiled parts": """
import ctypes, numpy
torch = ctypes.CDLL(numpy.__file__.replace("numpy/__init__.py", "torch/lib/libtorch_python.so"))
""",
    "from an idle thread": """
from concurrent.futures import ThreadPoolExecutor
pool = ThreadPoolExecutor(1)
pool.submit(int).result()
torch = pool.submit(__import__, "torch").result().ops.aten
""",
}


@pytest.mark.parametrize("road", ROADS)
def test_no_road_leads_to_pytorch_where_it_is_not(box: Box, road: str) -> None:
    source = f"import numpy as np\n{ROADS[road]}\nif 'f' not in globals():\n    def f(x): return torch.from_numpy(x)"
    result = run(box, source, asking("f", (X,), numpy=True), numpy=True)
    assert result.cells[-1].outcomes[0][0].fault is not None


def test_of_the_installed_packages_only_a_few_can_be_read(box: Box) -> None:
    """Not even by the paths of their files."""
    names = ("numpy", "torch", "sympy", "networkx", "matplotlib", "nlmcore")
    files = {name: importlib.util.find_spec(name).origin for name in names}  # type: ignore[union-attr]
    source = f"""
for name, path in {files!r}.items():
    try:
        open(path).close()
        print(name)
    except OSError: pass
"""
    result = run(box, source, numpy=True)
    assert shown(result).split() == ["numpy"]
    assert any("asked for a file" in words for words in result.incidents)
