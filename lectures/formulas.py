"""A formula in text becomes a graph: what somebody types can be watched as a circuit.

    f = evaluate("x = -2; y = 5; z = -4; q = x + y; f = q * z")
    f.backward()

Statements are separated by `;`. `x = 3` makes an input, `q = x + y` names a result, the
last statement is what comes out. Python's own parser reads the text; of its tree only numbers, names, + - * / **,
brackets and the functions below are walked, so nothing that is typed is ever run.
"""

import ast
import operator
import warnings
from collections.abc import Callable

from nlmcore.autodiff.value import Value, as_number, divide, power

LONGEST = 2_000
"""Characters; longer texts are no formulas that somebody typed."""

_FUNCTIONS: dict[str, Callable[[Value], Value]] = {
    name: getattr(Value, name) for name in ("exp", "log", "tanh", "relu", "sigmoid")
}
_OPERATORS: dict[type[ast.operator], Callable] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
_PLAIN: dict[type[ast.operator], Callable[[float, float], float]] = {
    **{kind: _OPERATORS[kind] for kind in (ast.Add, ast.Sub, ast.Mult)},
    ast.Div: divide,  # with the reason when it cannot be done
    ast.Pow: power,
}


def evaluate(source: str) -> Value:
    """The value of the last statement, with the graph behind it.

    Raises TypeError if `source` is no str; ValueError for what is no formula, a name that has no value yet, and what
    has no value (1/0), in words.
    """
    if not isinstance(source, str):
        raise TypeError(
            f"source must be a str such as 'x = 2; x * x', got {type(source).__name__}"
        )
    if len(source) > LONGEST:
        raise ValueError(
            f"the formula has {len(source):,} characters; at most {LONGEST:,} are read"
        )
    names: dict[str, Value] = {}
    result: Value | None = None
    for statement in filter(
        None, (part.strip() for part in source.replace("\n", ";").split(";"))
    ):
        label, formula = _parse(statement)
        try:
            made = _walk(formula, names)
        except (ZeroDivisionError, RecursionError) as error:
            words = (
                str(error)
                if isinstance(error, ZeroDivisionError)
                else "too many brackets inside brackets"
            )
            raise ValueError(f"{words}, in {statement!r:.80}") from None
        value = made if isinstance(made, Value) else Value(made)
        if label:
            names[label] = (
                value if value.label else value.named(label)
            )  # a second name leaves the first in the drawing
        result = value
    if result is None:
        raise ValueError("the formula is empty; type for example x = 2; y = 3; x * y")
    return result


def _parse(statement: str) -> tuple[str, ast.expr]:
    """The name to the left of "=", or "", and the expression."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the parser, about odd spellings such as "1or"
            (tree,) = ast.parse(statement).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ValueError(
            f"this is no formula: {statement!r:.80}; write for example q = x + y"
        ) from None
    if isinstance(tree, ast.Expr):
        return "", tree.value
    if (
        isinstance(tree, ast.Assign)
        and len(tree.targets) == 1
        and isinstance(tree.targets[0], ast.Name)
    ):
        return tree.targets[0].id, tree.value
    raise ValueError(f"a statement is a formula or name = formula, got {statement!r:.80}")


def _walk(tree: ast.expr, names: dict[str, Value]) -> Value | float:
    """Numbers stay plain numbers: "1 + x" is one node, as on the board."""
    match tree:
        case ast.Constant(value=constant):
            if (number := as_number(constant)) is None:
                raise ValueError(
                    f"only numbers and names can be computed with, got {constant!r:.40}"
                )
            return number
        case ast.Name(id=name):
            if name not in names:
                raise ValueError(
                    f"{name} has no value; begin with {name} = 2, say (known: {', '.join(names) or 'none'})"
                )
            return names[name]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_walk(operand, names)
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return _walk(operand, names)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            a, b = _walk(left, names), _walk(right, names)
            if isinstance(a, Value) or isinstance(b, Value):
                return _OPERATORS[type(op)](a, b)
            return _PLAIN[type(op)](a, b)
        case ast.BinOp(op=ast.BitXor()):
            raise ValueError("a power is written with two stars: x ** 2")
        case ast.Call(func=ast.Name(id=name), args=[argument], keywords=[]) if name in _FUNCTIONS:
            inside = _walk(argument, names)
            return _FUNCTIONS[name](inside if isinstance(inside, Value) else Value(inside))
        case ast.Call(func=ast.Name(id=name)):
            raise ValueError(
                f"{name} is no function here; there are {', '.join(_FUNCTIONS)}, of one number each"
            )
    raise ValueError(
        f"{ast.unparse(tree)!r:.60} cannot be computed; use + - * / ** and {', '.join(_FUNCTIONS)}"
    )
