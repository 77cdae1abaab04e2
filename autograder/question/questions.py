"""One line of a source notebook starts a question; everything else that nbgrader and the reader need follows from the
declaration.

    ### 3b. Backwards [[gates.lstm_backward, 35 minutes, hard, core]]
    ## 5. In your own words [[written, 20 minutes, 4 points, core]]
    [[questions]]
    [[how it works]]
    [[closed]] Everything else is open.
    [[listing ngrams.witten_bell]]
    [[before ngrams.perplexity]]
    [[checked]] Do not change the words that you are given.
    [[hints on the mask]]
    1. Where to look, without code.
    2. The idea, with the name of a function at most.
    3. Nearly the line.

Minutes, points, difficulty and “core” or “more” are added below the heading. The cell that defines `lstm_backward`
becomes the cell of the answer, and after it comes the test cell: the check that students see, and the hidden one, whose
value is the mark. A written question is the cell with such a heading, and the markdown cell after it is its model
answer. `[[questions]]` becomes a table of all questions with the time for all, `[[how it works]]` the words that every
assignment begins with, and `[[closed]]` the paragraph that says which modules are closed, and whether questions run
without PyTorch; these are marked below their headings. `[[before …]]` names functions of earlier assignments that do
nearly the same, and says how to get one's own. `[[checked]]` becomes what the check of the question looks at, with
points. `[[hints]]`, or `[[hints on …]]` where a question has several, become two details, one inside the other
(`autograder.question.hints`). `[[listing …]]` becomes the function that students get to mend, with numbered lines; the
cell of that answer keeps its text as `metadata.given`, which the release puts there (`autograder.grading.stubs`).
Source notebooks contain these lines; every reader of a source notebook, including nbgrader, gets it expanded
(`opened`).
"""

import ast
import copy
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import nbformat
from nbformat.v4 import new_code_cell

from autograder.pages import points
from autograder.question import project
from autograder.question.find import find
from autograder.question.hints import HINTS, on_the_page
from autograder.question.listing import listing_of
from autograder.question.outcome import CALL_SECONDS, EXPERIMENT_SECONDS, QUESTION_SECONDS
from autograder.question.specification import Exercise

OPENS = re.compile(r"^(#+ (\w+)\. (.*?)) *\[\[(.+)\]\]$", re.M)
WRITTEN = re.compile(r"written, (\d+) minutes, ([\d.]+) points(?:, (core|more))?")
KIND = {True: "core", False: "more"}
BEFORE = re.compile(r"^\[\[before (.+)\]\]$", re.M)
LISTING = re.compile(r"^\[\[listing (.+)\]\]$", re.M)
AGAIN = "from lectures.again import again\n\nagain()"
"""The second code cell of an assignment."""
TABLE, HOW, CLOSED, CHECKED = "[[questions]]", "[[how it works]]", "[[closed]]", "[[checked]]"
PROJECT, RUBRIC = "[[how a project works]]", "[[rubric]]"
IMPORTED = r"^from autograder\.check import .*\bcheck\b"
BRINGS = r"^from autograder\.mine import .*\bbring\b"
_BEGINS = """\
**Before you begin.** Close the book and run the two cells below. The second asks three questions that you answered in
the lectures of earlier weeks, those first that you have most likely forgotten.

**How it works.** Replace `raise NotImplementedError()` with your code and run the cell, then run the check below it.
The check tells you what is right and what is not, names your mistake if it is a common one, and shows a small input
on which your function fails. With `failing` you get that input for debugging. Run it as often as you like. A question
that you have not started says so and stops nothing: *Run → Run All Cells* always works up to your first mistake. Your
mark comes from the same checks with fresh inputs, property by property, so half a solution earns its half. A function
that passes goes into your library, the folder `mine` next to that of this notebook: later notebooks can use it.

A call may take {call} seconds of processor time, one of an experiment {experiment}, and all calls of a question
together {together}. The check says so if yours comes near that.

If you are stuck, open the hints below a question in turn, and try again after each. The last hint, nearly the line,
comes with the report of a check that has failed. If you are short of time, do the questions marked *core* first: what
comes later builds on them, and not on those marked *more*.

**What your functions get and return.** In some inputs several sizes are equal, some {arrays} are slices of larger
{arrays}, and some ids have several digits. Where {one} is asked for, you may also return {other}.
Where a list is asked for, you may also return a tuple or {one}. Leave your arguments as they are: the caller still
needs them.
"""


def begins(exercises: Sequence[Exercise]) -> str:
    """The words that an assignment with these questions begins with."""
    if exercises and all(exercise.numpy for exercise in exercises):
        words = {"arrays": "arrays", "one": "an array", "other": "a list of numbers"}
    else:
        words = {"arrays": "tensors", "one": "a tensor", "other": "a NumPy array or a list of numbers"}
    limits = {"call": CALL_SECONDS, "experiment": EXPERIMENT_SECONDS, "together": QUESTION_SECONDS}
    return _BEGINS.format(**words, **limits).strip()


def stated(exercise: Exercise) -> str:
    """The line below a question's heading: "10 minutes · 2 points · easy · core"."""
    return f"{exercise.minutes} minutes · {points(exercise.points)} · {exercise.difficulty} · {KIND[exercise.core]}"


def in_hours(minutes: int) -> str:
    """A time to plan with: "15 minutes", or rounded to half an hour, "2½ hours"."""
    if minutes < 45:
        return f"{minutes} minutes"
    hours, half = divmod(round(minutes / 30), 2)
    return f"{hours}{'½' if half else ''} hour{'' if (hours, half) == (1, 0) else 's'}"


def planned(minutes: int, core: int) -> str:
    """The time for all questions, and for the core of them if that is less: "4 hours, the core 3 hours"."""
    every, short = in_hours(minutes), in_hours(core)
    return every if short == every or not core else f"{every}, the core {short}"


def closed_everywhere(exercises: Sequence[Exercise]) -> str:
    """The paragraph of an assignment that says what is closed in all of these questions, and how that is enforced."""
    alone = [exercise for exercise in exercises if exercise.numpy]
    if alone and len(alone) == len(exercises):
        said = "**What is off limits.** You write the answers yourself, and they run *without PyTorch*: while they are"
        said += " checked, and when your work is graded, only Python and NumPy are there. Your functions get NumPy"
        return f"{said} arrays, and return arrays or numbers."
    names = dict.fromkeys(name for exercise in exercises for name in exercise.closed)  # a notebook's are closed in all
    own = [name.removeprefix("nlmcore.") for name in names if name.startswith("nlmcore.")]
    rooms = [name for name in own if name != "__main__"]  # a command, which no answer imports
    others = [name for name in names if not name.startswith("nlmcore.")]
    said = "**What is off limits.** You write the answers yourself."
    if rooms:
        said += " These modules of `nlmcore` contain them, or build on one that does, so they are closed, and missing"
        said += f" while your work is graded: {_listed(rooms)}."
    if others:
        said += f" The same is true of other packages that contain them: {_listed(others)}."
    if alone:
        said += " Questions marked *without PyTorch* run where only Python and NumPy are, while they are checked and"
        said += " when your work is graded. Their functions get NumPy arrays, and return arrays or numbers."
    return said


def closed_here(exercise: Exercise, exercises: Sequence[Exercise]) -> str:
    """The line below the heading of a question that runs without PyTorch, where others do not."""
    mixed = exercise.numpy and not all(other.numpy for other in exercises)
    return "\n\n**Without PyTorch.**" if mixed else ""


def counts_if(exercise: Exercise) -> str:
    """The line below a question's heading that says what else its points need; "" if nothing."""
    if exercise.together:
        mended = exercise.together.rpartition(".")[2]
        return (
            f"\n\n**Counts together with** `{mended}`, which you mend next: the number alone earns nothing, and whether"
            " it is right is told only when that code passes."
        )
    if "conclusion" in exercise.chosen:
        return "\n\n**The conclusion counts** if your numbers are right to 5 %, also for seeds not named here."
    return ""


def checked(exercise: Exercise) -> str:
    """What the check of a question looks at, each with its points."""
    said = f"**Checked:** {'; '.join(f'{each.name} ({each.points:g})' for each in exercise.properties)}."
    if exercise.planted is not None:
        said += " While the function returns what the listing returns, it counts as not mended."
    return said


def written_before(names: Sequence[str], here: Exercise) -> str:
    """Which earlier questions ask for nearly the same, and how to get what one wrote there."""
    found = [find(name) for name in names]
    said = " and ".join(f"`{each.function}` of `{each.name.partition('.')[0]}`" for each in found)
    brought = ", ".join(f'"{each.name}"' for each in found)
    same = any(each.function == here.function for each in found)
    other = [f"`{each.function}`" for each in found if each.numpy != here.numpy]
    kinds = ("tensors", "NumPy arrays") if here.numpy else ("NumPy arrays", "tensors")
    use = f"Start from it, or call it{', under another name than yours' if same else ''}."
    if other:
        computes = "computes" if len(other) == 1 else "compute"
        use = f"Start from it. {' and '.join(other)} {computes} with {kinds[0]}, and here you get {kinds[1]}."
    return (
        f"**You have written something like it:** {said}. In an empty cell above yours, `bring({brought})` puts it"
        f" there, if it passed its check. {use}"
    )


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def read_master(path: Path) -> Any:
    """A source notebook, expanded."""
    return opened(nbformat.read(path, as_version=4))


def opened(notebook: Any) -> Any:
    """A copy of a source notebook with its questions expanded; a notebook without such lines does not change.

    Raises ValueError for a question that is not declared, or that no cell answers, and if `check` is not imported.
    """
    notebook = copy.deepcopy(notebook)
    cells: list[Any] = []
    rows = ["| question | function | minutes | points | |", "|---|---|---|---|---|"]
    asked: dict[str, Exercise] = {}
    headings = [OPENS.search(cell.source) for cell in notebook.cells if cell.cell_type == "markdown"]
    exercises = [find(_name(found[4])) for found in headings if found and not WRITTEN.fullmatch(found[4])]
    minutes = sum(exercise.minutes for exercise in exercises)
    total = sum(exercise.points for exercise in exercises)
    of_core = sum(exercise.minutes for exercise in exercises if exercise.core)
    written: float | None = None
    here: Exercise | None = None
    brings = False
    for cell in notebook.cells:
        cells.append(cell)
        if cell.cell_type == "code":
            for name in set(re.findall(r"^def (\w+)\(", cell.source, re.M)) & set(asked):
                mark_cell(cell, name, solution=True)
                exercise = asked.pop(name)
                if exercise.planted is not None:
                    cell.metadata["given"] = listing_of(exercise).given
                cells.append(_test(exercise))
        elif written is not None:
            mark_cell(cell, "written", grade=True, solution=True, points=written)
            written = None
        elif heading := OPENS.search(cell.source):
            words, number, title, what = heading.groups()
            if given := WRITTEN.fullmatch(what):
                took, worth, kind = given[1], given[2], given[3] or "core"
                written = float(worth)
                minutes, total = minutes + int(took), total + written
                of_core += int(took) * (kind == "core")
                mark_cell(cell, "written_question", locked=True)
                rows.append(f"| {number} | {title[0].lower()}{title[1:]} | {took} | {worth} | written · {kind} |")
                said = f"{took} minutes · {worth} points · written, marked by hand · {kind}"
            else:
                exercise = here = find(_name(what))
                asked[exercise.function] = exercise
                figures = f"{exercise.minutes} | {exercise.points:g} | {exercise.difficulty} · {KIND[exercise.core]}"
                rows.append(f"| {number} | `{exercise.function}` | {figures} |")
                said = stated(exercise)
            besides = "" if given else closed_here(exercise, exercises) + counts_if(exercise)
            cell.source = cell.source.replace(heading[0], f"{words}\n\n*{said}*{besides}")
        if cell.cell_type == "markdown" and here is not None:
            cell.source = cell.source.replace(CHECKED, checked(here))
            if before := BEFORE.search(cell.source):
                cell.source = cell.source.replace(before[0], written_before(before[1].split(", "), here))
                brings = True
    if brings and not any(re.search(BRINGS, cell.source, re.M) for cell in notebook.cells):
        raise ValueError("[[before …]] needs a line `from autograder.mine import bring` in a cell of the master")
    if asked:
        raise ValueError(f"no code cell defines {', '.join(asked)}, which the master asks for")
    if len(cells) > len(notebook.cells) and not any(re.search(IMPORTED, cell.source, re.M) for cell in notebook.cells):
        raise ValueError("the test cells need a line `from autograder.check import check` in a cell of the master")
    if any(HOW in cell.source for cell in cells):
        first = next(i for i, cell in enumerate(cells) if cell.cell_type == "code")
        cells.insert(first + 1, new_code_cell(AGAIN, id="again"))
    rows += [f"| | together | {minutes} | {total:g} | |", ""]
    rows += [f"About {planned(minutes, of_core)}; all times are estimates."]
    said_once = {TABLE: "\n".join(rows), HOW: begins(exercises), CLOSED: closed_everywhere(exercises)}
    said_once |= {PROJECT: project.HOW.strip(), RUBRIC: project.RUBRIC.strip()}
    for cell in cells:
        if cell.cell_type == "markdown":
            for mark, words in said_once.items():
                cell.source = cell.source.replace(mark, words)
            cell.source = HINTS.sub(on_the_page, cell.source)
            cell.source = LISTING.sub(lambda found: listing_of(find(found[1])).numbered, cell.source)
            if "[[hints" in cell.source:
                raise ValueError(f"hints need three stages, 1. 2. 3., in the cell that begins {cell.source[:60]!r}")
    notebook.cells = cells
    return notebook


def _name(what: str) -> str:
    """The name of the question that a heading opens; minutes and difficulty follow it."""
    return what.partition(",")[0]


def check_calls(source: str) -> Iterator[ast.Call]:
    """Every call of `check` in the text of a cell. Raises SyntaxError."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "check":
            yield node


def is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def is_dotted(node: ast.expr) -> bool:
    """A plain name, dots allowed."""
    return isinstance(node, ast.Name) or (isinstance(node, ast.Attribute) and is_dotted(node.value))


def _test(exercise: Exercise) -> Any:
    check = f'check("{exercise.name}", {exercise.function}'
    cell = new_code_cell(f"{check})\n### BEGIN HIDDEN TESTS\n{check}, hidden=True)\n### END HIDDEN TESTS")
    mark_cell(cell, f"check_{exercise.function}", grade=True, locked=True, points=exercise.points)
    return cell


def mark_cell(cell: Any, name: str, **about: Any) -> None:
    """Put nbgrader's metadata on a cell."""
    if "points" in about:
        about["points"] = int(about["points"]) if float(about["points"]).is_integer() else about["points"]
    default = {"grade": False, "grade_id": name, "locked": False, "schema_version": 3, "solution": False, "task": False}
    cell.metadata["nbgrader"] = dict(sorted({**default, **about}.items()))
    cell["id"] = name
