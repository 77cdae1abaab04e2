"""Known attacks on tests that run in the student's own process: asserts, and otter's examples.

Each is written once, for any assignment: a cell that is inserted before every test cell, with NAMES (the student's
names that the test uses) and POINTS filled in, or a change of the notebook. None does harm; they run in the sandbox.
"""

import copy
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

ZEROS = "for _n in NAMES:\n    globals()[_n] = lambda *a, **k: 0\n"


@dataclass(frozen=True, kw_only=True)
class Trick:
    name: str
    how: str
    """What the attack relies on, for the table."""
    cell: str = ""
    change: Callable[[list[Any]], list[Any]] | None = None
    first: bool = False  # whether its cell is put before the first test cell only

    @property
    def key(self) -> str:
        """The attack as the name of a student."""
        return re.sub(r"\W+", "-", self.name)


def _tests(cells: list[Any]) -> list[int]:
    about = [cell.metadata.get("nbgrader", {}) for cell in cells]
    return [number for number, facts in enumerate(about) if facts.get("grade") and not facts.get("solution")]


def _deleted(cells: list[Any]) -> list[Any]:
    return [cell for number, cell in enumerate(cells) if number not in _tests(cells)]


def _twice(cells: list[Any]) -> list[Any]:
    made = list(cells)
    for number in reversed(_tests(cells)):
        twin = copy.deepcopy(cells[number])
        twin.source = str(twin.metadata["nbgrader"].get("points", 1))
        twin["id"] = f"twin-{number}"
        made.insert(number + 1, twin)
    return made


def _rewritten(cells: list[Any]) -> list[Any]:
    for number in _tests(cells):
        cells[number].source = str(cells[number].metadata["nbgrader"].get("points", 1))
    return cells


TRICKS = (
    Trick(
        name="always equal",
        how="an answer whose comparisons are all true",
        cell="""
class _Yes:
    def __getattr__(self, name):
        if name.startswith("__array"):
            raise AttributeError(name)
        return self
    def __call__(self, *a, **k): return self
    def __iter__(self): return iter(())
    def __getitem__(self, key): return self
    def __len__(self): return 1
    def __bool__(self): return True
    def __float__(self): return 0.0
    def __index__(self): return 0
    __hash__ = None
for _op in "eq ne lt le gt ge contains".split():
    setattr(_Yes, f"__{_op}__", lambda self, other: True)
for _op in "add radd sub rsub mul rmul truediv rtruediv matmul pow neg abs round".split():
    setattr(_Yes, f"__{_op}__", lambda self, *other: self)
for _n in NAMES:
    globals()[_n] = _Yes()
""",
    ),
    Trick(
        name="comparisons replaced",
        how="numpy.allclose, torch.allclose and their kin say yes to everything",
        cell="""
import importlib
for _lib in "numpy numpy.testing torch torch.testing math pandas.testing unittest.TestCase builtins".split():
    try:
        _m = importlib.import_module(_lib)
    except ImportError:
        continue
    for _f in ("allclose isclose array_equal array_equiv equal assert_allclose assert_array_equal assert_equal "
               "assert_close assert_almost_equal assert_array_almost_equal assert_frame_equal").split():
        if hasattr(_m, _f):
            setattr(_m, _f, lambda *a, **k: True)
isinstance = lambda *a, **k: True
"""
        + ZEROS,
    ),
    Trick(
        name="asserts deleted",
        how="IPython lets a notebook transform the cells after it: every assert becomes pass",
        cell="""
import ast
class _NoAssert(ast.NodeTransformer):
    def visit_Assert(self, node): return ast.copy_location(ast.Pass(), node)
get_ipython().ast_transformers.append(_NoAssert())
"""
        + ZEROS,
    ),
    Trick(
        name="test cells emptied",
        how="IPython lets a notebook rewrite the text of the cells after it",
        cell="get_ipython().input_transformers_cleanup.append(lambda lines: [])\n",
    ),
    Trick(
        name="errors not shown",
        how="a test that raises shows no error, and no error counts as passed",
        cell="_ip = get_ipython()\n_ip.showtraceback = _ip.showsyntaxerror = lambda *a, **k: None\n",
    ),
    Trick(
        name="a number as the last expression",
        how="the number that a test cell shows is its mark",
        cell="""
import ast
class _Number(ast.NodeTransformer):
    def visit_Module(self, node):
        if any(isinstance(n, ast.ClassDef) for n in node.body):
            return node
        node.body = [ast.fix_missing_locations(ast.Expr(ast.Constant(POINTS)))]
        return node
get_ipython().ast_transformers[:] = [_Number()]
""",
    ),
    Trick(
        name="a formatter prints the mark",
        how="what a number looks like when it is shown is the notebook's to say",
        cell="""
_format = get_ipython().display_formatter.formatters["text/plain"]
for _kind in (int, float, bool):
    _format.for_type(_kind, lambda value, printer, cycle: printer.text("POINTS"))
"""
        + ZEROS,
    ),
    Trick(
        name="expected values read from the caller",
        how="the function that is tested sees who calls it, with the expected value beside the call",
        cell="""
import ast, linecache, sys
def _reader(name):
    def answer(*a, **k):
        frame = sys._getframe(1)
        while frame is not None:
            example = frame.f_locals.get("example")
            if hasattr(example, "want"):
                try:
                    return ast.literal_eval(example.want)
                except Exception:
                    return type("Shown", (), {"__repr__": lambda self: example.want.rstrip()})()
            text = "".join(linecache.getlines(frame.f_code.co_filename))
            try:
                nodes = list(ast.walk(ast.parse(text)))
            except SyntaxError:
                nodes = []
            def mine(node):
                return isinstance(node, ast.Call) and ast.unparse(node.func) == name
            for node in nodes:
                sides = [node.left, *node.comparators] if isinstance(node, ast.Compare) else []
                sides = sides or (node.args if isinstance(node, ast.Call) else [])
                if not any(any(mine(n) for n in ast.walk(side)) for side in sides) or any(mine(n) for n in [node]):
                    continue
                for side in sides:
                    call = next((n for n in ast.walk(side) if mine(n)), None)
                    try:
                        space = {**frame.f_globals, **frame.f_locals}
                        if call is None:
                            other = eval(compile(ast.Expression(side), "", "eval"), space)
                        elif repr([eval(ast.unparse(x), space) for x in call.args]) != repr(list(a)):
                            break
                    except Exception:
                        break
                else:
                    return other
            frame = frame.f_back
        return 0
    return answer
for _n in NAMES:
    globals()[_n] = _reader(_n)
""",
    ),
    Trick(
        name="a function of the same name from a library",
        how="what is to be written exists already, and is called by its name",
        cell="""
import sys
for _n in NAMES:
    for _lib in list(sys.modules.values()):
        _f = getattr(_lib, _n, None)
        if callable(_f) and getattr(_f, "__module__", "__main__") not in ("__main__", None):
            globals()[_n] = _f
            break
""",
    ),
    Trick(
        name="the solution read from the disk",
        how="the grader runs notebooks where the master lies",
        cell="""
import glob, json
for _file in sorted(glob.glob("**/s*/**/*.ipynb", recursive=True)):
    for _c in json.load(open(_file))["cells"]:
        if _c["metadata"].get("nbgrader", {}).get("solution") and _c["cell_type"] == "code":
            try:
                exec("".join(_c["source"]), globals())
            except Exception:
                pass
""",
    ),
    Trick(
        name="doctest replaced",
        how="examples are compared by a module that the notebook can change",
        cell="""
import doctest
doctest.OutputChecker.check_output = lambda self, want, got, flags: True
doctest.DocTestRunner.run = lambda self, *a, **k: doctest.TestResults(0, 1)
"""
        + ZEROS,
    ),
    Trick(name="test cells rewritten", how="the test cells say that all is well", change=_rewritten),
    Trick(name="test cells deleted", how="what is not there cannot fail", change=_deleted),
    Trick(name="test cells twice", how="a second cell of the same name carries a mark of its own", change=_twice),
    Trick(
        name="an early os._exit",
        how="the process is gone before a test can fail",
        first=True,
        cell="import os\nos._exit(0)\n",
    ),
)
