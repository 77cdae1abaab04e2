"""Answers to the course's questions as data, right in odd ways, and wrong: `solutions/NAME/answers.txt`.

    import torch                        what comes before the first heading is there for all answers

    === leaky: right                    must earn everything; the first of a question is its second solution
    def leaky(news, gates, h0):         the answer is what is defined last
        ...

    === leaky: wrong                    must lose half a point or more, and be given no mistake's name
    ...
    === leaky: cheat                    the same, and it passes the visible check
    ...
    === leaky: left-before-the-step     must lose half a point or more, and be given the name of this mistake
    ...

They were written by people who had read the assignment and not its checks, and by us. Each does something that no
misconception of the declaration does and no other answer here. `right("leaky")` is the question's second solution;
later answers also have it under its own name.
"""

import ast
import functools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SOLUTIONS = Path(__file__).resolve().parents[2] / "solutions"


@dataclass(frozen=True)
class Answer:
    """An answer to a question, and what it must earn."""

    function: str
    earns: str
    """"right", "wrong", "cheat" or the id of a mistake."""
    call: Callable[..., Any]
    source: str


@functools.cache
def answers(assignment: str) -> tuple[Answer, ...]:
    """All answers to an assignment; none if it has no file."""
    path = SOLUTIONS / assignment / "answers.txt"
    if not path.exists():
        return ()
    before, *blocks = re.split(r"^=== (.+)$", path.read_text(encoding="utf-8"), flags=re.M)
    found: list[Answer] = []
    shared: dict[str, Any] = {"right": lambda name: second(found)[name]}
    exec(before, shared)
    for head, source in zip(blocks[::2], blocks[1::2], strict=True):
        function, earns = head.split(": ")
        space = dict(shared)
        exec(compile(source, f"{assignment}, {head}", "exec"), space)
        last = bound(ast.parse(source).body[-1])
        found.append(Answer(function, earns, space[last], source.strip()))
        if last == function:
            shared.setdefault(function, space[last])
    return tuple(found)


def bound(statement: ast.stmt) -> str:
    """The name that a statement binds: `def f`, `class f`, or `f = …`."""
    return getattr(statement, "name", "") or ast.unparse(getattr(statement, "targets", [statement])[0])


def second(found: Sequence[Answer]) -> dict[str, Callable[..., Any]]:
    """The second solutions, by the function's name: the first right answer of each."""
    return {a.function: a.call for a in reversed(found) if a.earns == "right"}


def sources(assignment: str) -> dict[str, str]:
    """The text of the second solutions, by the function's name, each with the imports and helpers that it stands on."""
    before, _, _ = (SOLUTIONS / assignment / "answers.txt").read_text(encoding="utf-8").partition("\n=== ")
    shared = ast.parse(before).body
    return {a.function: _whole(a.source, shared) for a in reversed(answers(assignment)) if a.earns == "right"}


def _whole(source: str, shared: Sequence[ast.stmt]) -> str:
    """A text with those of the shared statements before it whose names it uses."""
    for statement in reversed(shared):  # what stands further down may use what stands above it
        names = [alias.asname or alias.name for alias in getattr(statement, "names", ())]
        names += [ast.unparse(target) for target in getattr(statement, "targets", ())]
        names.append(getattr(statement, "name", ""))
        if any(name and re.search(rf"\b{name}\b", source) for name in names):
            source = f"{ast.unparse(statement)}\n\n{source}"
    return source
