"""From answers to marks, and to the outputs that nbgrader reads as marks.

nbgrader's rule for a test cell: an error output or anything on stderr means 0; otherwise a number that the cell
displays is the mark; otherwise it earns all points. So our test cell gets two outputs, its report and its mark,
whatever the student's code printed; and a plain nbgrader test cell keeps its outputs, with warnings moved off stderr
and with a displayed "result" only if that is a number between 0 and the maximum, because a student's formatter may
display anything.
"""

import builtins
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from markupsafe import escape

from autograder.check import INSTRUCTOR
from autograder.grading.attempt import Attempt
from autograder.grading.bound import is_bound_nowhere
from autograder.grading.plan import Plan, Test
from autograder.grading.records import Mark, NotebookResult
from autograder.question.closed import ALONE
from autograder.question.interview import Answers, cases_of, spread
from autograder.question.outcome import TOO_LONG, UNREAD, Fault, Outcome
from autograder.question.report import MACHINE, Report
from autograder.question.verdict import Verdict, judge
from autograder.sandbox import CellResult

Outputs = list[dict[str, Any]]
LATE = "a call took longer than the grader allows, and was interrupted"
BEFORE_THE_TEST = ("Stopped", "NameError", "TookTooLong", "MemoryError")
"""Errors in a plain test cell that an earlier cell may have caused."""

OUTSIDE = {"TookTooLong", "MemoryError", "RecursionError", "OSError", "NameError", UNREAD}
"""Faults that a different cell can cause in some calls of a right function but not in others."""


class Early:
    """Marks questions while the notebook works on the next one, on another core if there is one."""

    def __init__(self, plan: Plan, cells: Sequence[Any]) -> None:
        self.plan, self.cells = plan, cells
        self.made: dict[str, tuple[CellResult, Mark, Outputs]] = {}  # with the answers that were marked

    def __call__(self, found: CellResult) -> None:
        first = next(iter(self.plan.tests)) == found.id
        made = _mark(self.plan.tests[found.id], found, "", False, None if first else _sources(self.cells))
        self.made[found.id] = found, *made

    def of(self, found: CellResult | None) -> tuple[Mark, Outputs] | None:
        """The mark, and what is shown, for these very answers."""
        known = None if found is None else self.made.get(found.id)
        return known[1:] if known is not None and known[0] is found else None


def mark_notebook(plan: Plan, attempt: Attempt, cells: Sequence[Any], early: Early | None = None) -> NotebookResult:
    """The result of a notebook: `cells` are its own, for the points of plain test cells. Raises GraderFault if an
    exercise itself is broken; that never becomes a mark."""
    outputs: dict[str, Outputs] = {}
    marks = []
    incidents = list(attempt.incidents)
    sources: list[str] | None = None  # once hidden inputs have been seen
    for job_cell, number in zip(plan.job.cells, plan.places, strict=True):
        key = job_cell.id
        if number < 0:
            continue
        found = attempt.cells.get(key)
        if key in plan.tests and found is not None and found.outcomes == ((),):
            continue  # it fails as it did
        if key in plan.tests:
            known = None if early is None else early.of(found)
            mark, shown = known or _mark(
                plan.tests[key], found, attempt.stopped.get(key, ""), key in attempt.unsure, sources
            )
            sources = sources or _sources(cells)
            marks.append(mark)
            incidents += [f"{mark.cell}: used {closed}, which is closed" for closed in mark.verdict["closed"]]
            faults = () if found is None else (outcome.fault for row in found.outcomes for outcome in row)
            if any(fault is not None and fault.kind == "TookTooLong" for fault in faults):
                incidents.append(f"{mark.cell}: {LATE}")
        elif found is None:
            words = attempt.stopped.get(key, "this cell was not reached")
            trace = [f"Stopped: {words}"]
            shown = [{"output_type": "error", "ename": "Stopped", "evalue": words, "traceback": trace}]
        else:
            shown = [dict(output) for output in found.outputs]
            incidents += [f"{key}: used {closed}, which is closed" for closed in found.closed]
            if key in plan.stock:
                shown = tame(shown, float(cells[number]["metadata"]["nbgrader"].get("points", 0)))
        outputs[str(number)] = shown
    incidents += dict.fromkeys(attempt.stopped.values())
    return NotebookResult(
        outputs=outputs,
        marks=marks,
        incidents=incidents,
        isolation=attempt.isolation,
        seconds=round(attempt.seconds, 3),
    )


def _sources(cells: Sequence[Any]) -> list[str]:
    return [str(cell["source"]) for cell in cells if cell["cell_type"] == "code"]


def what_failed(plan: Plan, result: NotebookResult, attempt: Attempt) -> Plan | None:
    """The tests that failed, but not through a wrong answer, as a reduced plan, since the rest of the notebook may be
    to blame. One call of every kind of failure goes first. None if there is no such test, or if they must fail
    again."""
    marks = {mark.cell: mark for mark in result.marks}
    text = "\n".join(cell.source for cell in plan.job.cells if not cell.interviews)
    tests = {
        key: test
        for key, test in plan.tests.items()
        if marks[test.cell].failed and not (key in attempt.cells and is_bound_nowhere(attempt.cells[key], text))
    }
    stock = {
        cell.id
        for cell, number in zip(plan.job.cells, plan.places, strict=True)
        if cell.id in plan.stock and any(o.get("ename") in BEFORE_THE_TEST for o in result.outputs[str(number)])
    }
    if not tests and not stock:
        return None
    done = (plan.tests.keys() - tests.keys()) | (plan.stock - stock)
    left = [row for row in zip(plan.job.cells, plan.places, strict=True) if row[0].id not in done]
    known = {key: _known(attempt.cells[key]) for key in tests.keys() & attempt.cells.keys()}
    few = (
        replace(cell, interviews=tuple(replace(i, known=known.get(cell.id, ())) for i in cell.interviews))
        for cell, _ in left
    )
    job = replace(plan.job, cells=tuple(few), lean=True)
    return Plan(job=job, places=tuple(number for _, number in left), tests=tests, stock=frozenset(stock))


def _known(found: CellResult) -> tuple[tuple[int, Fault], ...]:
    """The first call for every kind of failure, and how it ended."""
    kinds: dict[tuple[str, str], tuple[int, Fault]] = {}
    for number, outcome in enumerate(o for row in found.outcomes for o in row):
        if outcome.fault is not None:
            kinds.setdefault((outcome.fault.kind, outcome.fault.line), (number, outcome.fault))
    return tuple(kinds.values())


def better(first: NotebookResult, plan: Plan, second: NotebookResult) -> NotebookResult:
    """The first result, in which questions repeated by `plan` take their result from the second run if that is better,
    or more certain."""
    places = {test.cell: str(number) for test, number in _numbered(plan)}
    outputs, again = dict(first.outputs), {mark.cell: mark for mark in second.marks}
    marks = []
    for mark in first.marks:
        other = again.get(mark.cell, mark)
        if other.points > mark.points or (mark.unsure and not other.unsure):
            mark, outputs[places[mark.cell]] = replace(other, again=True), second.outputs[places[mark.cell]]
        marks.append(mark)
    for cell, number in zip(plan.job.cells, plan.places, strict=True):
        if cell.id in plan.stock and all(o["output_type"] != "error" for o in second.outputs[str(number)]):
            outputs[str(number)] = second.outputs[str(number)]
    taken = tuple(f"{mark.cell}: {LATE}" for mark in marks if mark.again)
    incidents = [words for words in first.incidents if words not in taken]
    seconds = round(first.seconds + second.seconds, 3)
    return replace(first, outputs=outputs, marks=marks, incidents=incidents, seconds=seconds)


def counted_together(plan: Plan, result: NotebookResult) -> NotebookResult:
    """The result, in which a question that counts together with another (`Exercise.together`) is worth nothing where
    the other has less than half of its points."""
    places = {test.cell: str(n) for test, n in _numbered(plan)}
    found = {mark.exercise: mark for mark in result.marks}
    together = {test.exercise.name: test.exercise.together for test in plan.tests.values()}
    outputs, marks = dict(result.outputs), []
    for mark in result.marks:
        other = found.get(together.get(mark.exercise, ""))
        if mark.points and other is not None and other.points < other.of / 2:
            if other.unsure:  # or the number alone would earn its points
                mended = other.exercise.rpartition(".")[2]
                marks.append(replace(mark, unsure=f"it counts together with {mended}, which has to be marked by hand"))
                outputs[places[mark.cell]] = [_no_mark(), *outputs[places[mark.cell]]]
                continue
            function, mended = (name.rpartition(".")[2] for name in (mark.exercise, other.exercise))
            words = f"{function}: right, but it counts together with {mended}, which is not mended. 0 of {mark.of:g}."
            machine = mark.verdict | {"points": 0.0, "headline": words}
            mark = replace(mark, points=0.0, verdict=machine)
            report = {"text/plain": words, "text/html": f"<p>{escape(words)}</p>", MACHINE: machine}
            shown = {"output_type": "display_data", "data": report, "metadata": {}}
            public = outputs[places[mark.cell]][0]
            outputs[places[mark.cell]] = [public, shown, _number(0.0, mark.of)]
        marks.append(mark)
    return replace(result, outputs=outputs, marks=marks)


def _numbered(plan: Plan) -> Iterator[tuple[Test, int]]:
    """Our tests, each with the number of its cell in the notebook."""
    for cell, number in zip(plan.job.cells, plan.places, strict=True):
        if cell.id in plan.tests:
            yield plan.tests[cell.id], number


def _mark(
    test: Test, found: CellResult | None, stopped: str, unsure: bool, sources: list[str] | None
) -> tuple[Mark, Outputs]:
    given = _answers(test, found, stopped, sources)
    faults = [outcome.fault for row in given for outcome in row if outcome.fault is not None]
    unread = next((fault.words for fault in faults if fault.kind == UNREAD), stopped if unsure else "")
    closed = [name for name in test.exercise.closed if found is not None and name in found.closed]
    verdict = judge(test.exercise, test.asked, given, right=test.right, closed=closed, seed=test.seed)
    points = min(max(float(verdict.points), 0.0), test.exercise.points)
    if not math.isfinite(points):
        raise ValueError(f"{test.exercise.name} is worth {verdict.points} points: check the declaration")
    report, fresh = Report(_public(verdict)), Report(verdict)
    machine = fresh.machine()
    name, of = test.exercise.name, test.exercise.points
    mark = Mark(
        cell=test.cell,
        exercise=name,
        points=points,
        of=of,
        verdict=machine,
        stopped=stopped,
        unsure=f"it has to be marked by hand: {unread}" if unread and points < of else "",
        failed=_to_be_asked_again(given, stopped),
    )
    shown = [_display(report), _display(fresh)]
    if mark.unsure:
        shown.insert(0, _no_mark())
    elif stopped:
        shown.insert(0, {"output_type": "stream", "name": "stdout", "text": f"{stopped}\n"})
    if not verdict.passed:
        words = f"Hidden inputs of {name}: NLM_HIDDEN_SEED={test.seed} repeats them.\n"
        shown.append({"output_type": "display_data", "data": {"text/plain": words}, "metadata": INSTRUCTOR})
    return mark, [*shown, _number(points, of)]


def _no_mark() -> dict[str, Any]:
    return {"output_type": "stream", "name": "stdout", "text": "No mark yet: mark it by hand.\n"}


def _number(points: float, of: float) -> dict[str, Any]:
    """The output that nbgrader reads as the mark."""
    data = {"text/plain": f"{points!r}", "text/html": f"<p>Mark: {points:g} of {of:g}</p>"}
    return {"output_type": "execute_result", "execution_count": None, "data": data, "metadata": {}}


def _to_be_asked_again(given: list[Answers], stopped: str) -> bool:
    """Whether the rest of the notebook may be to blame. A function that answers some calls and raises in others fails
    because of its inputs, unless time or memory ran out, or something other than the function ended the run."""
    faults = [None if outcome.fault is None else outcome.fault.kind for row in given for outcome in row]
    raised = {kind for kind in faults if kind not in (None, "NotImplementedError")}
    return bool(raised) and (bool(stopped) or None not in faults or bool(raised & OUTSIDE))


def _public(verdict: Verdict) -> Verdict:
    """The part of the verdict that public inputs show, which is what the student's own check would say."""
    findings = tuple(
        replace(f, complaint=None, case=None, got=(), expected=(), misconception=None) if f.fresh else f
        for f in verdict.findings
    )
    return replace(verdict, findings=findings, seed=None)


def _answers(test: Test, found: CellResult | None, stopped: str, sources: list[str] | None) -> list[Answers]:
    """The outcomes, question by question; a fault for each call that was not reached."""
    outcomes: list[Outcome] = list(found.outcomes[0]) if found is not None and found.outcomes else []
    if sources is not None:
        told = {fault: nothing_new(fault, sources) for fault in {o.fault for o in outcomes} if fault is not None}
        outcomes = [o if o.fault is None else replace(o, fault=told[o.fault]) for o in outcomes]
    words = stopped or "the call did not come back"
    rows: list[Answers] = []
    for case in cases_of(test.asked):
        count = len(case.calls)
        row, outcomes = outcomes[:count], outcomes[count:]
        row += [Outcome(fault=Fault(kind="Stopped", words=words))] * (count - len(row))
        rows.append(tuple(row))
    return spread(test.asked, rows)


_RETURNED = re.compile(
    r"it returned None, but [\w(), ]{1,200} was asked for\. Is a `return` missing\?"
    r"|\w{1,50} must be a tensor or a list of numbers, but it is a (NoneType|dict|str|set|function)"
    r"|\w{1,50} is a list whose parts differ in length, or are not numbers"
)
_MISSING = re.compile(r"there is no '(\w{1,60})': the cell that defines it raised or is missing")
_OF_OURS = {
    "wrong return": "it did not return the kind of value that was asked for",
    "TookTooLong": TOO_LONG,
    UNREAD: "its answer could not be read",
}


def nothing_new(fault: Fault, sources: Sequence[str]) -> Fault:
    """The part of a fault that the notebook's own text says, or that any fault could say. Code that has been called
    with hidden inputs of one question can encode them in the message, the names and the sizes of the next question's
    faults."""
    kind, message = fault.kind, fault.words.removeprefix(f"{fault.kind}: ")
    if kind in _OF_OURS:
        words = fault.words if kind == "wrong return" and _RETURNED.fullmatch(fault.words) else _OF_OURS[kind]
        return Fault(kind=kind, words=words)
    missing = _MISSING.fullmatch(fault.words)
    if missing and any(re.search(rf"\b{missing[1]}\b", source) for source in sources):
        return Fault(kind="NameError", words=fault.words)
    if kind not in ("Stopped", "ClosedName") and not isinstance(getattr(builtins, kind, None), type):
        kind = "Exception"
    if kind == "ClosedName" and message == ALONE:
        return Fault(kind=kind, words=fault.words)
    text = "\n".join(sources)
    at = re.fullmatch(r"line (\d{1,5}) of your cell: (.+)", fault.line)
    there = at is not None and any(
        line.strip() == at[2] for source in sources for line in source.split("\n")[int(at[1]) - 1 :][:1]
    )
    known = re.fullmatch(r"\w+", fault.function) and re.search(rf"\bdef {re.escape(fault.function)}\b", text)
    return Fault(
        kind=kind,
        words=f"{kind}: {message}" if len(message) > 3 and message in text else kind,
        line=fault.line if there else "",
        function=fault.function if known else "",
    )


def tame(outputs: Outputs, most: float) -> Outputs:
    """Outputs of a plain test cell from which nbgrader can read only its mark."""
    kept = []
    for output in outputs:
        output = dict(output)
        if output["output_type"] == "stream" and output.get("name") == "stderr":
            output["name"] = "stdout"
        if output["output_type"] == "execute_result" and not _is_mark(output, most):
            output = {key: value for key, value in output.items() if key != "execution_count"}
            output["output_type"] = "display_data"
        kept.append(output)
    return kept


def _is_mark(output: Mapping[str, Any], most: float) -> bool:
    text = output.get("data", {}).get("text/plain", "")
    text = "".join(text) if isinstance(text, list) else text
    try:
        return 0.0 <= float(text) <= most
    except (TypeError, ValueError):
        return False


def _display(report: Report) -> dict[str, Any]:
    data = report._repr_mimebundle_()
    order = ("text/plain", "text/html", MACHINE)
    return {"output_type": "display_data", "data": {kind: data[kind] for kind in order}, "metadata": {}}
