"""Answers with one small change each, put to the checks: which of them still earn everything?

    python -m tests.autograder.mutants ngrams                 all questions of an assignment but its experiments
    python -m tests.autograder.mutants ngrams.interpolated    one question

Each right answer (the reference, and the second solution in `answers.txt`) is changed in one place: an operator, a
constant, an argument, a call, a condition. What still has full marks by the public inputs and by three rounds of fresh
ones is printed. Most of it computes the same, as `x @ w` and `w @ x` of two vectors do; the rest is a hole: a case is
missing in which only the right answer is right.
"""

import ast
import contextlib
import copy
import io
import signal
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from tqdm import tqdm

from autograder.assignments import CHECKOUT
from autograder.check import examine
from autograder.question.find import exercises_of
from autograder.question.specification import Exercise
from tests.autograder.answers import bound, sources

SECONDS = 20
"""A mutant that takes longer, in a loop without end for example, is wrong."""
INSTEAD: dict[type, type] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Div, ast.Pow: ast.Mult,
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip
PAIRS = """sum mean, max min, amax amin, argmax argmin, maximum minimum, floor ceil, log log2, zeros ones, sin cos,
any all, triu tril, cumsum cumprod, std var, softmax log_softmax"""
ANOTHER = {a: b for pair in PAIRS.split(",") for a, b in (pair.split(), pair.split()[::-1])}
"""Function -> another one that takes the same arguments."""


def mutants(source: str) -> Iterator[tuple[str, str]]:
    """The first line that is another, and the whole text: the last definition in `source`, with one change each."""
    tree = ast.parse(source)
    last = tree.body[-1]
    arguments = [a.arg for a in last.args.args] if isinstance(last, ast.FunctionDef) else []
    before = ast.unparse(tree)
    seen = {before}
    for number, node in enumerate(ast.walk(last)):
        for new in _changes(node, arguments):
            changed = copy.deepcopy(tree)
            place = list(ast.walk(changed.body[-1]))[number]
            text = ast.unparse(ast.fix_missing_locations(_Replace(place, new).visit(changed)))
            if text not in seen:
                seen.add(text)
                lines = zip(before.splitlines(), text.splitlines(), strict=False)
                yield next(f"{old.strip()} → {new.strip()}" for old, new in lines if old != new), text


class _Replace(ast.NodeTransformer):
    def __init__(self, place: ast.AST, new: ast.AST | None) -> None:
        self.place, self.new = place, new

    def visit(self, node: ast.AST) -> Any:
        if node is self.place:
            return self.new or ast.Pass()
        return self.generic_visit(node)


def _changes(node: ast.AST, arguments: list[str]) -> Iterator[ast.AST | None]:
    """What may stand in a node's place; None where a statement is left out."""

    def with_(**fields: Any) -> ast.AST:
        new = copy.deepcopy(node)
        for name, value in fields.items():
            setattr(new, name, value)
        return new

    match node:
        case ast.BinOp(left, op, right):
            if type(op) in INSTEAD:
                yield from (with_(op=INSTEAD[type(op)]()), left)
            if isinstance(op, ast.Sub | ast.Div | ast.MatMult):
                yield with_(left=right, right=left)
        case ast.Compare(ops=[op]) if type(op) in INSTEAD:
            yield with_(ops=[INSTEAD[type(op)]()])
        case ast.BoolOp(op, values):
            yield from (with_(op=INSTEAD[type(op)]()), values[0], values[1])
        case ast.Constant(bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(int(value)):
            yield from (ast.Constant(value + 1), ast.parse(str(value - 1), mode="eval").body)
        case ast.Constant(float(value)):
            yield ast.Constant(2 * value or 1.0)
        case ast.UnaryOp(ast.USub() | ast.Not() | ast.Invert(), operand):
            yield operand
        case ast.IfExp(_, body, orelse):
            yield from (body, orelse)
        case ast.Call(func, args, keywords):
            yield from (with_(keywords=[k for k in keywords if k is not one]) for one in keywords)
            if len(args) == 2:
                yield with_(args=args[::-1])
            if args and not isinstance(args[0], ast.Starred | ast.GeneratorExp):
                yield args[0]
            if isinstance(func, ast.Attribute) and func.attr in ANOTHER:
                yield with_(func=ast.Attribute(func.value, ANOTHER[func.attr], ast.Load()))
            if isinstance(func, ast.Name) and func.id in ANOTHER:
                yield with_(func=ast.Name(ANOTHER[func.id], ast.Load()))
            if isinstance(func, ast.Name) and func.id == "range":
                yield with_(args=[*args[:-1], ast.BinOp(args[-1], ast.Sub(), ast.Constant(1))])
        case ast.Attribute(value, "T" | "mT"):
            yield value
        case ast.Subscript(value, ast.Slice()) if isinstance(node.ctx, ast.Load):
            yield value
        case ast.Name(name, ast.Load()) if name in arguments:
            yield from (ast.Name(other, ast.Load()) for other in arguments if other != name)
        case ast.AugAssign(op=op) if type(op) in INSTEAD:
            yield from (None, with_(op=INSTEAD[type(op)]()))
        case ast.Assign() | ast.AugAssign() | ast.Expr(ast.Call()) | ast.Break() | ast.Continue():
            yield None
        case ast.If():
            yield from (with_(test=ast.Constant(True)), with_(test=ast.Constant(False)))


def _right(exercise: Exercise) -> Iterator[tuple[str, dict[str, Any]]]:
    """The text of each right answer, and the names that it may use."""
    name = exercise.name.partition(".")[0]
    page = ast.parse((CHECKOUT / "solutions" / name / f"{name}.py").read_text(encoding="utf-8")).body
    space: dict[str, Any] = {}
    for statement in page:
        if isinstance(statement, ast.Import | ast.ImportFrom | ast.FunctionDef):
            exec(compile(ast.Module([statement], []), name, "exec"), space)
    texts = [ast.unparse(s) for s in page if isinstance(s, ast.FunctionDef) and s.name == exercise.function]
    if exercise.function in sources(name):
        texts.append(sources(name)[exercise.function])
    yield from ((text, space) for text in texts)


class _TooSlow(BaseException):
    """No Exception: what calls an answer would take that for the answer's own, and make the next call."""


def _earns(exercise: Exercise, call: Callable[..., Any]) -> str:
    """What becomes of an answer: "everything", "wrong, named" or "wrong"."""
    said = "wrong"
    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(Exception, _TooSlow):
        for seed in (None, 1, 2, 3):
            signal.alarm(SECONDS)
            verdict = examine(exercise, call, seed)
            said = "everything" if verdict.passed else "wrong, named" if verdict.misconceptions else "wrong"
            if not verdict.passed:
                break
    signal.alarm(0)
    return said


def survivors(exercise: Exercise, count: Counter[str] | None = None) -> Iterator[str]:
    """The changes that cost nothing. `count` is told what became of all."""

    def ring(*_: object) -> None:
        raise _TooSlow

    signal.signal(signal.SIGALRM, ring)
    for source, space in _right(exercise):
        last = ast.parse(source).body[-1]
        for change, text in mutants(source):
            names = dict(space)
            exec(compile(text, "mutant", "exec"), names)
            found = _earns(exercise, names[bound(last)])
            if count is not None:
                count[found] += 1
            if found == "everything":
                yield change


def main(asked: str) -> None:
    warnings.simplefilter("ignore")
    name, _, function = asked.partition(".")
    exercises = [
        e for e in exercises_of(name).values() if "conclusion" not in e.chosen and function in ("", e.function)
    ]
    if not exercises:
        sys.exit(
            f"No question is called {asked}: name an assignment, or one of its questions as in ngrams.interpolated."
        )
    count = Counter[str]()
    for exercise in tqdm(exercises, unit="question", leave=False):
        for change in survivors(exercise, count):
            tqdm.write(f"{exercise.function}: {change}")
    print(", ".join(f"{number} {what}" for what, number in count.most_common()))


if __name__ == "__main__":
    main(*sys.argv[1:])
