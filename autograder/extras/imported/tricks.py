"""Known attacks on tests that run in the student's own process: asserts, and otter's examples.

Each is written once, for any assignment: a cell that is inserted before every test cell (`tricks.txt`), with NAMES (the
student's names that the test uses) and POINTS filled in, or a change of the notebook. None does harm; they run in the
sandbox.
"""

import copy
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nbgrader import utils

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


def is_test(cell: Any) -> bool:
    return utils.is_grade(cell) and not utils.is_solution(cell)


def _deleted(cells: list[Any]) -> list[Any]:
    return [cell for cell in cells if not is_test(cell)]


def _rewritten(cells: list[Any]) -> list[Any]:
    for cell in filter(is_test, cells):
        cell.source = str(cell.metadata["nbgrader"].get("points", 1))
    return cells


def _twice(cells: list[Any]) -> list[Any]:
    made = []
    for number, cell in enumerate(cells):
        made.append(cell)
        if is_test(cell):
            made += _rewritten([copy.deepcopy(cell)])
            made[-1]["id"] = f"twin-{number}"
    return made


def _written() -> Iterator[Trick]:
    """Those of `tricks.txt`: after a line `## name: what it relies on` comes the text of the cell."""
    text = Path(__file__).with_suffix(".txt").read_text(encoding="utf-8")
    for block in re.split(r"^## ", text, flags=re.M)[1:]:
        head, _, cell = block.partition("\n")
        name, _, how = head.partition(": ")
        first = name.endswith(" (first)")
        cell = f"{cell.strip()}\n".replace("ZEROS\n", ZEROS)
        yield Trick(name=name.removesuffix(" (first)"), how=how, cell=cell, first=first)


TRICKS = (
    *_written(),
    Trick(name="test cells rewritten", how="the test cells say that all is well", change=_rewritten),
    Trick(name="test cells deleted", how="what is not there cannot fail", change=_deleted),
    Trick(name="test cells twice", how="a second cell of the same name carries a mark of its own", change=_twice),
)
