"""Three hints for a question, each opened after the previous one, and none of them an answer that lies open.

    [[hints on the mask]]
    1. Where to look, without code.
    2. The idea, with the name of a function at most.
    3. Nearly the line.

The first two are on the page, the second inside the first. The third comes with the report of a check that has failed,
because students of a tutor whose hints were all open often clicked through to the last, which says what to do (Aleven,
McLaren, Roll & Koedinger 2006, "Toward meta-cognitive tutoring"). Where its code is most of a line of the solution, two
values of that code become blanks.
"""

import ast
import re
import textwrap
from collections.abc import Iterator

from autograder.question.listing import solution_in
from autograder.question.specification import Exercise

_STAGE = r"((?:.|\n {3})+)"  # its further lines are indented
HINTS = re.compile(rf"^\[\[hints(?: on (.+))?\]\]\n1\. {_STAGE}\n2\. {_STAGE}\n3\. {_STAGE}$", re.M)
FIRST, IDEA, LAST = "where to look", "The idea", "Nearly the line"
BLANK = "____"
BLANKS = 2
MOST = 0.5
"""Code that is so much of a line of the solution, without what it is assigned to, gives that line away."""
SHORTEST = 8
FEWEST = 3
"""Lines of a solution that are worth sorting."""
MODULES = {"np", "torch", "math", "F", "random", "re"}
CODE, NAME = re.compile(r"`([^`\n]+)`"), re.compile(r"[\w.]+")


def on_the_page(hints: re.Match[str]) -> str:
    """The first two, the second inside the first."""
    topic, first, idea, _ = hints.groups()
    heading = f"A hint{_on(topic)}: {FIRST}"
    made = (f"<details><summary>{title}</summary>\n\n{_said(text)}" for title, text in ((heading, first), (IDEA, idea)))
    return "\n\n".join(made) + "\n</details></details>"


def nearly(text: str, solution: str) -> tuple[str, ...]:
    """The last stage of each of a question's hints, without the answer."""
    found = (f"{LAST}{_on(each[1])}: {_said(each[4])}" for each in HINTS.finditer(text))
    return tuple(_without_answers(each, solution) for each in found)


def lines_of(exercise: Exercise) -> list[str]:
    """The solution, a statement a line, indented; none where solutions are not, and of a question about given code."""
    solution = "" if exercise.planted is not None else textwrap.dedent(solution_in(exercise.reference))
    lines = ast.unparse(ast.parse(solution)).split("\n")
    return lines if len(lines) >= FEWEST else []


def in_disorder(exercise: Exercise) -> tuple[str, ...]:
    """The hint after the last, for whoever would rather sort the lines of a solution."""
    if not lines_of(exercise):
        return ()
    call = f'parsons("{exercise.name}")'
    return (f"In disorder: `{call}`, from `autograder.parsons`, has the lines of a solution to sort.",)


def gives_away(code: str, solution: str) -> bool:
    """Whether code is a line of the solution, or most of the value in one; how it is spaced does not matter."""
    try:
        said = [line for line in _lines(code.strip()) if len(line) >= SHORTEST and not NAME.fullmatch(line)]
    except SyntaxError:
        return False
    return any(each in line and len(each) >= MOST * len(line) for line in _lines(solution) for each in said)


def faded(code: str) -> str:
    """Code whose last two values are blanks: `counts.sum(____, keepdim=____)`."""
    lines = code.encode()
    for node in sorted(_values(ast.parse(code)), key=lambda node: -node.col_offset)[:BLANKS]:
        lines = lines[: node.col_offset] + BLANK.encode() + lines[node.end_col_offset :]
    return lines.decode()


def _without_answers(text: str, solution: str) -> str:
    return CODE.sub(lambda each: f"`{faded(each[1])}`" if gives_away(each[1], solution) else each[0], text)


def _lines(solution: str) -> Iterator[str]:
    """Every simple statement, and its value alone."""
    for node in ast.walk(ast.parse(solution)):
        if isinstance(node, ast.stmt) and not hasattr(node, "body"):
            yield ast.unparse(node)
            if (value := getattr(node, "value", None)) is not None:
                yield ast.unparse(value)


def _values(node: ast.AST) -> Iterator[ast.expr]:
    """The names and numbers in an expression, but not the functions that it calls."""
    if isinstance(node, ast.Name):
        if node.id not in MODULES:
            yield node
    elif isinstance(node, ast.Constant) or (isinstance(node, ast.Attribute) and _dotted(node)):
        yield node
    elif isinstance(node, ast.Call):
        module = NAME.fullmatch(called := ast.unparse(node.func)) and called.partition(".")[0] in MODULES
        inner = [node.func.value] if isinstance(node.func, ast.Attribute) and not module else []
        for each in (*inner, *node.args, *node.keywords):
            yield from _values(each)
    else:
        for each in ast.iter_child_nodes(node):
            yield from _values(each)


def _dotted(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) or (isinstance(node, ast.Attribute) and _dotted(node.value))


def _said(text: str) -> str:
    return text.replace("\n   ", "\n")


def _on(topic: str | None) -> str:
    return f" on {topic}" if topic else ""
