"""A sheet of chosen questions, of one or of several assignments: an assignment like any other.

    solutions/NAME/NAME.py      the given cells that the questions need, and the questions in the course's order
    solutions/NAME/checks.py    which questions these are

The questions keep their numbers, points and checks, so a text or a message that names one stays right. A given cell
comes along if the sheet has every question whose function it needs, directly or through other cells. That is also the
law between core and more (`core_faults`): whatever a core question or a part without questions needs is core.
"""

import ast
import functools
import re
import symtable
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nbformat.v4 import new_markdown_cell, new_notebook

from autograder.assignments import SOURCE, handed_out
from autograder.files import write_whole
from autograder.launcher.say import count
from autograder.question.find import exercises_of
from autograder.question.form import COURSE, mentioned
from autograder.question.questions import CLOSED, HOW, OPENS, TABLE, WRITTEN
from autograder.reach import closure
from autograder.scaffold.new import usable
from autograder.texts.text import from_text, to_text

IN_WORDS = "written"
"""What the written question of an assignment is called: `attention.written`."""
CHECKS = '''\
"""The questions of a sheet that `compose` made."""

from autograder.question.find import find

NAMES = (
{names}
)
EXERCISES = {{name: find(name) for name in NAMES}}
'''
LAST = """\
---
**Before you hand in:** *Kernel → Restart Kernel and Run All Cells*. Every check should say what you expect{written}.
Save the notebook under its own name: the grader looks for `{name}.ipynb`."""


@dataclass(frozen=True)
class Piece:
    """A cell of a source notebook, or the part of it that a question's heading begins."""

    cell: Any
    section: int
    question: str  # the function of the question to which it belongs, or `IN_WORDS`; "" if to none
    number: str = ""  # where the question begins
    core: bool = True
    answer: bool = False  # whether it has the question's solution
    reads: frozenset[str] = frozenset()
    binds: frozenset[str] = frozenset()


class Parts:
    """A source notebook in pieces, and which of them need which."""

    def __init__(self, root: Path, assignment: str) -> None:
        path = root / SOURCE / assignment / f"{assignment}.py"
        if not path.is_file():
            raise ValueError(f"there is no assignment {assignment!r} of one notebook")
        self.assignment = assignment
        self.pieces = list(_pieces(from_text(path.read_text(encoding="utf-8"), root).cells))
        self.asked = {piece.question: piece for piece in self.pieces if piece.number}
        if not self.asked or any("nbgrader" in piece.cell.metadata for piece in self.pieces):
            raise ValueError(f"{assignment} has points that no question of the form [[assignment.function, …]] earns")

    def needs(self, start: Iterable[int]) -> set[int]:
        """These pieces, and those that bind what they read, and so on."""
        return closure(start, self._beside)

    def _beside(self, number: int) -> list[int]:
        found = (self._binder(name, number) for name in self.pieces[number].reads)
        return [each for each in found if each is not None]

    @functools.cache  # noqa: B019 - a few notebooks, once
    def _binder(self, name: str, number: int) -> int | None:
        """The last piece above it that binds a name."""
        return next((n for n in range(number - 1, -1, -1) if name in self.pieces[n].binds), None)

    def functions(self, number: int) -> set[str]:
        """The questions whose functions a piece needs."""
        return {self.pieces[n].question for n in self.needs([number]) if self.pieces[n].answer}

    def kept(self, chosen: set[str]) -> list[Piece]:
        """The pieces of a sheet with these questions, without the notebook's first cell and its last.

        Raises ValueError if a solution calls the function of a question that is not chosen."""
        code = [n for n, piece in enumerate(self.pieces) if piece.cell.cell_type == "code"]
        needs = {n: self.functions(n) for n in code}
        for n in code:
            piece = self.pieces[n]
            if piece.answer and piece.question in chosen and (absent := needs[n] - chosen):
                names = ", ".join(sorted(f"{self.assignment}.{name}" for name in absent))
                raise ValueError(f"{self.assignment}.{piece.question} builds on {names}: choose that as well")
        wanted = {n for n in code if needs[n] <= chosen and self._wanted(n, bool(needs[n]), chosen)}
        whole = {n for n in self.needs(wanted) if not self.pieces[n].answer} | wanted
        return [piece for n, piece in enumerate(self.pieces) if n in whole or self._text_of(n, whole, chosen)]

    def _wanted(self, number: int, needs: bool, chosen: set[str]) -> bool:
        """Whether a code cell whose needs are met is there for itself."""
        piece = self.pieces[number]
        return piece.question in chosen if piece.question else needs or piece.section == 0

    def _text_of(self, number: int, code: set[int], chosen: set[str]) -> bool:
        """Whether a text comes along: one of a chosen question, one that leads to a cell that does, or else one of a
        section from which something does."""
        piece = self.pieces[number]
        if piece.cell.cell_type == "code" or number in (0, len(self.pieces) - 1):
            return False
        if piece.question or piece.section == 0:
            return piece.question in chosen or not piece.question
        leads = list(self._after(number))
        if leads:
            return any(n in code for n in leads)
        here = [n for n, other in enumerate(self.pieces) if other.section == piece.section]
        return any(n in code and self.pieces[n].question in (*chosen, "") for n in here)

    def _after(self, number: int) -> Iterator[int]:
        """The code cells to which a text leads: those after it and before the next text."""
        for n in range(number + 1, len(self.pieces)):
            piece = self.pieces[n]
            if piece.question or (piece.cell.cell_type != "code" and self.pieces[n - 1].cell.cell_type == "code"):
                return
            if piece.cell.cell_type == "code":
                yield n

    @property
    def conventions(self) -> str:
        """What its first cell says after the list of what is closed."""
        return str(self.pieces[0].cell.source.partition(CLOSED)[2]).strip()


def core_faults(root: Path, assignment: str) -> Iterator[str]:
    """What a core sheet of an assignment would lack, in sentences."""
    try:
        parts = Parts(root, assignment)
    except ValueError:
        return  # nothing is chosen from it
    more = {name for name, piece in parts.asked.items() if not piece.core}
    for number, piece in enumerate(parts.pieces):
        needs = parts.functions(number)
        free = not piece.question and needs - more
        if needs & more and (free or (piece.answer and piece.question not in more)):
            what = f"the question {piece.question}" if piece.answer else f"a cell that needs {_names(needs - more)}"
            yield f"{what} also needs {_names(needs & more)}, which the heading calls more, not core"


def core_of(root: Path, assignment: str) -> list[str]:
    """The core questions of an assignment; none if all are core, so that nothing is left out."""
    try:
        asked = Parts(root, assignment).asked
    except ValueError:
        return []
    core = [f"{assignment}.{name}" for name, piece in asked.items() if piece.core]
    return core if len(core) < len(asked) else []


def core_sheets(root: Path, assignments: Sequence[str]) -> list[str]:
    """The names of the core sheets of these assignments, or of all; those that are not there yet are made. An
    assignment with nothing to leave out is its own. Raises ValueError for one that does not exist."""
    there = sorted(path.parent.name for path in (root / SOURCE).glob("*/*.py") if path.stem == path.parent.name)
    found: dict[str, None] = {}
    for name in assignments or there:
        core, sheet = core_of(root, name), f"{name}_core"
        if core and not (root / SOURCE / sheet).exists():
            compose(root, sheet, f"{_title(root, name)}, the core", core)
        found[sheet if core else name] = None
    return list(found)


def _title(root: Path, name: str) -> str:
    text = (root / SOURCE / name / f"{name}.py").read_text(encoding="utf-8")
    found = re.search(r"^# # (?:Assignment: )?(.+)$", text, re.M)
    return found[1] if found else name


def compose(root: Path, name: str, title: str, questions: Sequence[str]) -> tuple[list[str], list[str]]:
    """Write a sheet with these questions ("attention.attend", "attention.written"). Returns the paths of its two files,
    and what to look at, in sentences. Raises ValueError, and then nothing is written."""
    places = [f"{SOURCE}/{name}/{name}.py", f"{SOURCE}/{name}/checks.py"]
    usable(root, name, [f"{SOURCE}/{name}"])
    by_assignment: dict[str, set[str]] = {}
    for question in questions:
        assignment, _, function = question.partition(".")
        by_assignment.setdefault(assignment, set()).add(function)
    sheet = {
        assignment: _chosen(root, assignment, by_assignment[assignment])
        for assignment in sorted(by_assignment, key=lambda each: ([*COURSE, each].index(each), each))
    }
    kept = {parts.assignment: parts.kept(chosen) for parts, chosen in sheet.values()}
    _refuse_clashes(sheet, kept)
    cells = [new_markdown_cell(_first(title, sheet))]
    for assignment, (parts, _) in sheet.items():
        if len(sheet) > 1:
            cells.append(new_markdown_cell(f"# From the assignment *{assignment}*\n\n{parts.conventions}".strip()))
        cells += [piece.cell for piece in kept[assignment]]
    pieces = [piece for each in kept.values() for piece in each]
    written = next((f", and\nquestion {p.number} should be answered in your own words" for p in pieces
                    if p.question == IN_WORDS and p.number), "")  # fmt: skip
    cells.append(new_markdown_cell(LAST.format(written=written, name=name)))
    names = [f"{a}.{p.question}" for a, each in kept.items() for p in each if p.number and p.question != IN_WORDS]
    made = {
        places[0]: to_text(new_notebook(cells=cells), root),
        places[1]: CHECKS.format(names="\n".join(f'    "{each}",' for each in names)),
    }
    for place, text in made.items():
        (root / place).parent.mkdir(parents=True, exist_ok=True)
        write_whole(root / place, text)
    notes = [note for assignment, each in kept.items() for note in _gone(assignment, each, sheet[assignment][0])]
    return list(made), notes


def _chosen(root: Path, assignment: str, functions: set[str]) -> tuple[Parts, set[str]]:
    parts = Parts(root, assignment)
    if unknown := functions - parts.asked.keys():
        raise ValueError(f"{assignment} does not ask for {_names(unknown)}; it has {', '.join(parts.asked)}")
    if handed_out(root / SOURCE / assignment):
        raise ValueError(f"{assignment} has files beside its notebook, which no sheet of chosen questions brings along")
    return parts, functions


def _first(title: str, sheet: Mapping[str, tuple[Parts, set[str]]]) -> str:
    asked = sum(len(chosen) for _, chosen in sheet.values())
    names = " and ".join(f"*{assignment}*" for assignment in sheet)
    where = f"the assignment{'s' if len(sheet) > 1 else ''} {names}"
    said = f"{count(asked, 'question')} of {where}, with the numbers that they have there."
    conventions = "".join(parts.conventions for parts, _ in sheet.values()) if len(sheet) == 1 else ""
    return f"# Assignment: {title}\n\n{said}\n\n{TABLE}\n\n{HOW}\n\n{CLOSED}\n{conventions}".strip()


def _refuse_clashes(sheet: Mapping[str, tuple[Parts, set[str]]], kept: Mapping[str, Sequence[Piece]]) -> None:
    """Two assignments may give one name to two functions, and one may use what the other closes."""
    owner: dict[str, tuple[str, str]] = {}
    closed = {
        assignment: {m for f in chosen - {IN_WORDS} for m in exercises_of(assignment)[f"{assignment}.{f}"].closed}
        for assignment, (_, chosen) in sheet.items()
    }
    for assignment, pieces in kept.items():
        others = {module for other, modules in closed.items() if other != assignment for module in modules}
        for piece in pieces:
            if piece.cell.cell_type == "code":
                for name, text in _definitions(piece.cell.source):
                    other, there = owner.setdefault(name, (assignment, text))
                    if other != assignment and (there != text or piece.answer):
                        raise ValueError(f"{other} and {assignment} each define {name}: one sheet cannot have both")
                for module in _imported(piece.cell.source):
                    if any(f"{module}.".startswith(f"{each}.") for each in others):
                        raise ValueError(f"{assignment} imports {module}, which another assignment of the sheet closes")
        if IN_WORDS in sheet[assignment][1]:
            other, _ = owner.setdefault(f"[[{IN_WORDS}]]", (assignment, ""))
            if other != assignment:
                raise ValueError(f"{other} and {assignment} each have a written question: one sheet has one")


def _gone(assignment: str, kept: Sequence[Piece], parts: Parts) -> Iterator[str]:
    there = {piece.number for piece in kept if piece.number}
    there |= {number[0] for number in there}
    every = {piece.number for piece in parts.pieces if piece.number}
    for piece in kept:
        for number in sorted(mentioned(piece.cell.source) & {*every, *(each[0] for each in every)} - there):
            where = piece.question or f"the cell “{piece.cell.source.partition(chr(10))[0][:60]}”"
            yield f"{assignment}, {where}: question {number} is mentioned, and is not on the sheet"


# --- a source notebook in pieces --------------------------------------------------------------------------


def _pieces(cells: Iterable[Any]) -> Iterator[Piece]:
    section, question = 0, ""
    for cell in cells:
        if cell.cell_type == "code":
            reads, binds = _names_of(cell.source)
            yield Piece(cell, section, question, answer=question in binds, reads=reads, binds=binds)
            continue
        opens = OPENS.search(cell.source)
        above = cell.source[: opens.start()].strip() if opens else cell.source
        if above:
            section += bool(re.match(r"## ", above))
            question = "" if above.startswith("#") or opens else question
            yield Piece(cell if not opens else new_markdown_cell(above), section, question)
        if opens:
            words, number, _, what = opens.groups()
            section += words.startswith("## ")
            given = WRITTEN.fullmatch(what)
            question = IN_WORDS if given else what.partition(",")[0].rpartition(".")[2]
            core = not re.search(r", more$", what)
            text = cell if not above else new_markdown_cell(cell.source[opens.start() :])
            yield Piece(text, section, question, number, core)


def _names_of(source: str) -> tuple[frozenset[str], frozenset[str]]:
    """(names that the code of a cell needs from other cells, names that it leaves)."""
    reads: set[str] = set()
    binds: set[str] = set()
    for statement in ast.parse(source).body:
        table = symtable.symtable(ast.unparse(statement), "cell", "exec")
        left = {symbol.get_name() for symbol in table.get_symbols() if symbol.is_assigned() or symbol.is_imported()}
        own = left if hasattr(statement, "body") else set()  # what a block reads and binds, it has bound before
        reads |= set(_globals(table)) - binds - own
        binds |= left
    return frozenset(reads), frozenset(binds)


def _globals(table: symtable.SymbolTable) -> Iterator[str]:
    """The names that code reads from outside, in functions and comprehensions too."""
    for symbol in table.get_symbols():
        if symbol.is_referenced() and (table.get_type() == "module" or symbol.is_global()):
            yield symbol.get_name()
    for inner in table.get_children():
        yield from _globals(inner)


def _definitions(source: str) -> Iterator[tuple[str, str]]:
    for statement in ast.parse(source).body:
        if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
            yield statement.name, ast.unparse(statement)


def _imported(source: str) -> Iterator[str]:
    """What a cell imports whatever happens; other imports wait for a check that passes."""
    for node in ast.parse(source).body:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (node.module, *(f"{node.module}.{alias.name}" for alias in node.names))


def _names(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))
