"""Otter's test cases, in all their forms, and the equivalent nbgrader test cells.

A case is examples in the form of Python's doctest, or a function that raises. It becomes a test cell with the case's
points, so that each is earned by itself, as in otter; a question that is `all_or_nothing` becomes one cell.
"""

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from textwrap import dedent
from typing import Any

import yaml


@dataclass(frozen=True, kw_only=True)
class Case:
    code: str  # examples, or a function's whole text
    function: str = ""  # its name, if it is one
    hidden: bool = False
    points: float | None = None
    success: str = ""
    failure: str = ""


@dataclass(frozen=True, kw_only=True)
class Test:
    name: str
    cases: tuple[Case, ...]
    points: Any = None  # of the whole: a number, a list of numbers, {"each": number}, or nothing
    all_or_nothing: bool = False


def _about(given: Mapping[str, Any], hidden: bool) -> dict[str, Any]:
    """The fields of a case that otter gives in the same words everywhere; hidden: where it does not say."""
    return {
        "hidden": bool(given.get("hidden", hidden)),
        "points": given.get("points"),
        "success": str(given.get("success_message") or ""),
        "failure": str(given.get("failure_message") or ""),
    }


def resolved(test: Test) -> list[Case]:
    """The cases with their points, by otter's rules. Raises ValueError if otter would refuse them as well."""
    cases, total = list(test.cases), test.points
    if isinstance(total, Mapping):
        total = float(total.get("each", 1)) * len(cases)
    if isinstance(total, Sequence) and not isinstance(total, str):
        if len(total) != len(cases):
            raise ValueError(f"question {test.name}: {len(total)} points are given for {len(cases)} tests")
        cases = [replace(case, points=points) for case, points in zip(cases, total, strict=True)]
        total = None
    given = [case.points for case in cases if case.points is not None]
    rest = len(cases) - len(given)
    if total is not None and sum(given) > float(total):
        raise ValueError(f"question {test.name}: its tests are worth {sum(given):g} together, more than its {total:g}")
    if total is None:
        each = 1 / rest if rest and not sum(given) else 0.0
    else:
        each = (float(total) - sum(given)) / rest if rest else 0.0
    return [case if case.points is not None else replace(case, points=each) for case in cases]


# --- reading ----------------------------------------------------------------------------------------------


def from_cell(cell: Any, examples: bool) -> Case:
    """A test cell of an otter source notebook. Raises ValueError or yaml.YAMLError for one that otter would refuse."""
    lines = cell.source.split("\n")
    about: dict[str, Any] = {}
    hidden = lines[0].lstrip().startswith("#") and bool(re.search(r"\bhidden\b", lines[0], re.I))
    start = 1 if hidden else 0
    if re.match(r'(?:.\s*=\s*)?""?"?\s*#\s*BEGIN\s*TEST\s*CONFIG', lines[0], re.I):
        ends = (n for n, line in enumerate(lines) if re.match(r'""?"?\s*#\s*END\s*TEST\s*CONFIG', line, re.I))
        end = next(ends, None)
        if end is None:
            raise ValueError("a test cell has BEGIN TEST CONFIG without an end")
        about = yaml.safe_load("\n".join(lines[1:end])) or {}
        start = end + 1
    body = "\n".join(lines[start:])
    try:
        tree = ast.parse(body)
    except SyntaxError as error:
        raise ValueError(f"a test cell is no Python: {error.msg}") from None
    known = _about(about, hidden)
    if examples:
        return Case(code=_as_examples(_bare(tree), _stored(cell)), **known)
    if not tree.body or not isinstance(tree.body[0], ast.FunctionDef):
        raise ValueError("a test cell must begin with a function (ok_format: false)")
    return Case(code=ast.unparse(tree.body[0]), function=tree.body[0].name, **known)


def _bare(tree: ast.Module) -> ast.Module:
    """Without annotations, as otter writes examples."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            node.returns = None
        elif isinstance(node, ast.arg):
            node.annotation = None
    return tree


def _as_examples(tree: ast.Module, output: str) -> str:
    lines: list[str] = []
    for statement in tree.body:
        first, *rest = ast.unparse(statement).split("\n")
        lines += [f">>> {first}", *(f"... {line}" for line in rest)]
    return "\n".join([*lines, output]).rstrip() + "\n"


def _stored(cell: Any) -> str:
    """What the cell showed when the source notebook was last run, which otter treats as the right output."""
    shown = ""
    for output in cell.get("outputs", []):
        text = output.get("text", "") or output.get("data", {}).get("text/plain", "")
        shown += "".join(text) if isinstance(text, list) else text
    return shown


def lacks_output(cell: Any) -> bool:
    """Whether a test cell ends in a value that is not stored, in which case otter would expect no output."""
    try:
        body = ast.parse(cell.source).body
    except SyntaxError:
        return False
    silent = {"print", "exec"}
    last = body[-1] if body else None
    if not isinstance(last, ast.Expr) or _stored(cell) or isinstance(last.value, ast.Constant):
        return False
    return not (isinstance(last.value, ast.Call) and ast.unparse(last.value.func) in silent)


def from_text(text: str) -> Test:
    """A file `tests/q1.py`; none of it is run. Raises ValueError."""
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        raise ValueError(f"it is no Python ({error.msg})") from None
    named: dict[str, Any] = {}
    before: list[str] = []
    functions: list[tuple[ast.FunctionDef, dict[str, Any]]] = []
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            try:
                named[node.targets[0].id] = ast.literal_eval(node.value)
                continue
            except ValueError:
                pass
        if isinstance(node, ast.FunctionDef) and (about := _decorated(node)) is not None:
            functions.append((node, about))
        elif not (isinstance(node, ast.ImportFrom) and (node.module or "").startswith("otter")):
            before.append(ast.unparse(node))
    if isinstance(named.get("test"), dict):
        return from_spec(named["test"])
    if not functions or "name" not in named:
        raise ValueError("it holds neither `test = {…}` nor functions with @test_case")
    cases = []
    for node, about in functions:
        node.decorator_list = []
        code = "\n".join([*before, ast.unparse(node)])
        cases.append(Case(code=code, function=node.name, **about))
    return _test(named, cases)


def _test(given: Mapping[str, Any], cases: Sequence[Case]) -> Test:
    whole = bool(given.get("all_or_nothing"))
    return Test(name=str(given["name"]), cases=tuple(cases), points=given.get("points"), all_or_nothing=whole)


def _decorated(node: ast.FunctionDef) -> dict[str, Any] | None:
    for mark in node.decorator_list:
        if isinstance(mark, ast.Call) and ast.unparse(mark.func).endswith("test_case"):
            return _about({str(word.arg): ast.literal_eval(word.value) for word in mark.keywords}, False)
    return None


def from_spec(spec: Any) -> Test:
    """The dictionary of the "OK format", from a file or a notebook's metadata. Raises ValueError."""
    try:
        suites = spec["suites"]
        if len(suites) != 1 or suites[0].get("type", "doctest") != "doctest":
            raise ValueError("it has several suites, or one that is no doctest: otter does not run those either")
        if suites[0].get("setup") or suites[0].get("teardown"):
            raise ValueError("it has set-up or tear-down code, which otter does not run either: put it into a case")
        cases = [Case(code=dedent(case["code"]), **_about(case, True)) for case in suites[0]["cases"]]
        return _test(spec, cases)
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise ValueError(f"it is not of the form that otter reads ({type(error).__name__}: {error})") from None


# --- writing ----------------------------------------------------------------------------------------------


def cells(test: Test) -> list[tuple[str, float]]:
    """(source, points) of the test cells of a question."""
    cases = resolved(test)
    if test.all_or_nothing:
        points = sum(case.points or 0 for case in cases)
        return [("\n\n".join(_text(test.name, case) for case in cases), neat(points))]
    of = len(cases)
    return [
        (f"# {test.name}, test {number} of {of}\n{_text(test.name, case)}", neat(case.points or 0))
        for number, case in enumerate(cases, 1)
    ]


def neat(points: float) -> float:
    points = round(float(points), 9)
    return int(points) if points.is_integer() else points


def _text(name: str, case: Case) -> str:
    message = case.failure or f"{name}: the examples do not hold"
    if case.function:
        call = _call(case)
        told = f"try:\n    {call}\nexcept Exception:\n    print({case.failure!r})\n    raise"
        text = f"{case.code}\n\n{told if case.failure else call}"
    else:
        text = (
            "import doctest as _doctest\n\n"
            f"_case = _doctest.DocTestParser().get_doctest(\n{_quoted(case.code)},\n    globals(), {name!r}, None, 0)\n"
            f"assert not _doctest.DocTestRunner(verbose=False).run(_case).failed, {message!r}"
        )
    if case.success and not case.hidden:
        text += f"\nprint({case.success!r})"
    return f"### BEGIN HIDDEN TESTS\n{text}\n### END HIDDEN TESTS" if case.hidden else text


def _call(case: Case) -> str:
    """Otter passes a function the notebook's variables with its parameters' names, and None for missing ones."""
    (function,) = (n for n in ast.parse(case.code).body if isinstance(n, ast.FunctionDef) and n.name == case.function)
    names = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)]
    given = ", ".join(f"{n}=globals()" if n == "env" else f"{n}=globals().get({n!r})" for n in names)
    return f"{case.function}({given})"


def _quoted(code: str) -> str:
    """Line by line, each as a separate string, because IPython strips `>>>` from the starts of lines, even inside
    strings."""
    return "\n".join(f"    {line!r}" for line in code.strip("\n").splitlines(keepends=True))


def examples_of(source: str) -> str:
    """The Python of a test cell's examples, to find the names that it uses."""
    try:
        texts = [node.value for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant)]
    except SyntaxError:
        return ""
    found = [re.findall(r"^(?:>>>|\.\.\.) ?(.*)$", text, re.M) for text in texts if isinstance(text, str)]
    return "\n".join(line for lines in found for line in lines)
