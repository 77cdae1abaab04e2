"""The lines of a solution in disorder, for a student who asks: `parsons("attention.attend")`.

Sorting lines took students less time than writing them, and they learned as much from it (Ericson, Margulieux & Rick
2017, "Solving Parsons Problems versus Fixing and Writing Code"). It opens after a check that has failed, and only where
the solutions are: a student's copy of the course has none.
"""

import html
import random
from collections.abc import Callable
from typing import Any

from autograder.check import examine, has_failed
from autograder.question.declare import master_named
from autograder.question.find import find
from autograder.question.hints import lines_of
from autograder.question.specification import Exercise

STEP = "    "


class Puzzle:
    """Lines that are placed one after the other."""

    def __init__(self, exercise: Exercise) -> None:
        self.exercise, self.right = exercise, lines_of(exercise)
        self.lines = sorted(line.strip() for line in self.right)
        random.Random(exercise.name).shuffle(self.lines)
        self.placed: list[tuple[int, int]] = []
        """(which line, how far indented)."""
        self.depth = 0

    def place(self, line: int) -> None:
        self.placed.append((line, self.depth))
        self.depth += self.lines[line].endswith(":")

    def take_back(self) -> None:
        if self.placed:
            _, self.depth = self.placed.pop()

    def indent(self, by: int) -> None:
        self.depth = max(0, self.depth + by)

    @property
    def written(self) -> list[str]:
        return [STEP * depth + self.lines[line] for line, depth in self.placed]

    def verdict(self) -> str:
        """What to say of the lines so far."""
        if left := len(self.lines) - len(self.placed):
            return f"Lines left: {left}. Steps by which the next one is indented: {self.depth}."
        if self.written == self.right or self._passes():
            return "That is right. Now write it into your own cell, without looking."
        same = next(i for i, (mine, ours) in enumerate(zip(self.written, self.right, strict=True)) if mine != ours)
        return (
            f"Not yet. Up to line {same} it begins as our solution does."
            if same
            else "Not yet: our solution begins with another line."
        )

    def _passes(self) -> bool:
        try:
            function = master_named(self.exercise.name.partition(".")[0]).make(
                self.exercise.function, "\n".join(self.written)
            )
        except SyntaxError:
            return False
        return examine(self.exercise, function, None).passed


def parsons(name: str) -> Any:
    """A widget: press the lines in their order. Raises ValueError if there is nothing to sort, or if no check has
    failed."""
    import ipywidgets as widgets

    exercise = find(name)
    if not lines_of(exercise):
        raise ValueError(
            f"{name} has no lines to sort here: it is too short, or this copy of the course has no solutions"
        )
    if not has_failed(name):
        raise ValueError(f"try it first: after a check of {name} that has failed, its lines can be sorted")
    puzzle, program, said = Puzzle(exercise), widgets.HTML(), widgets.HTML()
    wide = widgets.Layout(width="auto", max_width="100%")

    def button(words: str, act: Callable[..., None], *given: int) -> Any:
        def pressed(_: Any) -> None:
            act(*given)
            show()

        made = widgets.Button(description=words, layout=wide)
        made.on_click(pressed)
        return made

    lines = [button(line, puzzle.place, i) for i, line in enumerate(puzzle.lines)]
    others = [
        button("less indented", puzzle.indent, -1),
        button("more indented", puzzle.indent, 1),
        button("take the last line back", puzzle.take_back),
    ]

    def show() -> None:
        used = {line for line, _ in puzzle.placed}
        for i, each in enumerate(lines):
            each.disabled = i in used
        program.value = f"<pre>{html.escape(chr(10).join(puzzle.written))}</pre>"
        said.value = f'<p role="status">{html.escape(puzzle.verdict())}</p>'

    show()
    return widgets.VBox([*lines, widgets.HBox(others), program, said])
