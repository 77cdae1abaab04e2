"""The race for a class: every submission in the sandbox, a seed at a time. What was raced is kept in
grading/ASSIGNMENT/race/STUDENT.json and is not raced again, so a run can be stopped at any moment and resumed."""

import contextlib
import hashlib
import json
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from autograder.files import write_whole
from autograder.grading.byhand import ChangedMeanwhile, answers_to, mark_by_hand
from autograder.grading.course import Course
from autograder.grading.seeds import course_secret, hidden_seed
from autograder.guard import Guard
from autograder.preflight import prepare_guarded
from autograder.race import boxed, parts, rules
from autograder.race.split import Split
from autograder.sandbox import Box
from autograder.sandbox.tiers import Isolation

CELL = "race"
"""The grade_id of the cell whose points are given here."""
LARGEST = 50_000  # bytes of code: no room for the weights of an earlier training
HOME_BITS = 2.162
"""Bits per byte of Kneser–Ney over byte pairs (`split.kneser_ney`) on the plays at home, where the thresholds were
measured."""


@dataclass
class Result:
    """What is known of one student's entry."""

    student: str
    basis: str  # of what was raced: code and held-out text
    borrowed: list[str] = field(default_factory=list)
    name: str = ""
    scale: float = 1.0
    runs: dict[str, dict[str, dict[str, Any]]] = field(default_factory=dict)  # seconds -> seed -> rules.Run
    written: float | None = None  # the points that are in the gradebook
    kind: str = ""  # one of rules.KINDS, as the student says

    def bits(self, seconds: float) -> float | None:
        """The mean over the seeds, scaled to the plays at home; None if a seed failed or there is none."""
        runs = list(self.runs.get(f"{seconds:g}", {}).values())
        known = [run["bits"] for run in runs if run["bits"] is not None]
        return self.scale * sum(known) / len(known) if known and len(known) == len(runs) else None

    @property
    def points(self) -> float:
        """For the better distance, and for the student's own parts if there is a result at all."""
        found = {seconds: self.bits(seconds) for seconds in rules.THRESHOLDS}
        worth = [rules.worth(bits, s, self.kind) for s, bits in found.items() if bits is not None]
        return max(worth) + rules.PART * (len(rules.PARTS) - len(self.borrowed)) if worth else 0.0

    @property
    def words(self) -> str:
        """For the student: results, faults with their sentences, parts."""
        said = []
        for seconds, runs in self.runs.items():
            bits = self.bits(float(seconds))
            if bits is not None:
                worth = ""
                if float(seconds) in rules.THRESHOLDS:
                    kind = f" as {self.kind}, if the marker of your report agrees" if self.kind else ""
                    worth = f" ({rules.worth(bits, float(seconds), self.kind):g} of {rules.MOST:g} points{kind})"
                said.append(f"{seconds} s: {bits:.3f} bits per byte, mean of {len(runs)}{worth}.")
                continue
            for fault in dict.fromkeys(run["fault"] for run in runs.values() if run["fault"]):
                words = next(run["words"] for run in runs.values() if run["fault"] == fault)
                said.append(f"{seconds} s: {rules.SENTENCES[fault]}{f' ({words})' if words else ''}")
        own = [part for part in rules.PARTS if part not in self.borrowed]
        said.append(f"Your own parts: {', '.join(own) or 'none'} ({rules.PART * len(own):g} points with a result).")
        return "\n".join(said)


def race(
    course: Course,
    assignment: str,
    students: Sequence[str] | None,
    split: Split,
    seconds: float,
    count: int,
    *,
    scale: float,
    factor: float = 1.0,
    jobs: int = 1,
    isolation: Isolation = "auto",
) -> Iterator[Result]:
    """Race the entries that have no result yet for this distance. count: seeds; scale: of the bits, see `split`;
    factor: seconds of this machine for one of the machine on which the thresholds were measured."""
    secret = course_secret(course.root)
    seeds = [hidden_seed(secret, "race", str(number)) for number in range(count)]
    masters = course.masters(assignment)
    waiting: list[tuple[Result, list[str]]] = []
    with Guard() as guard:
        for student in course.chosen(assignment, students):
            prepared = prepare_guarded(guard, course.submission(student, assignment), masters)
            cells = [
                str(cell["source"])
                for notebook in prepared.notebooks.values()
                for cell in notebook.cells
                if cell["cell_type"] == "code"
            ]
            basis = hashlib.sha256(json.dumps([rules.VERSION, cells, split.name]).encode()).hexdigest()
            result = load(course.root, assignment, student)
            if result is None or result.basis != basis:
                result = Result(student, basis, written=None if result is None else result.written)
                result.borrowed = list(rules.PARTS)
            with contextlib.suppress(Exception):  # what cannot be read does not run either
                cells, result.borrowed = guard.ask(parts.read, cells)
            result.scale = scale
            result.name, result.kind = _name_and_kind(prepared.notebooks.values())
            waiting.append((result, cells))

    boxes = [Box(isolation=isolation, packages=parts.PACKAGES) for _ in range(jobs)]

    def work(item: tuple[int, tuple[Result, list[str]]]) -> Result:
        number, (result, cells) = item
        runs = result.runs.setdefault(f"{seconds:g}", {})
        for index, seed in enumerate(seeds):
            if any(run["fault"] for run in runs.values()):
                break  # the same would happen again
            if str(index) in runs:
                continue
            entry = cells, result.borrowed, split, seconds, seed % 2**31, secret, factor
            runs[str(index)] = asdict(_run(boxes[number % jobs], *entry))
            save(course.root, assignment, result)
        save(course.root, assignment, result)
        return result

    try:
        with ThreadPoolExecutor(jobs) as threads:
            yield from threads.map(work, enumerate(waiting))
    finally:
        for box in boxes:
            box.abandon()


def _run(box: Box, cells: Sequence[str], *more: Any) -> rules.Run:
    if sum(len(cell.encode("utf-8", "replace")) for cell in cells) > LARGEST:
        return rules.Run("raised", f"The notebook has more than {LARGEST:,} bytes of code.")
    missing = boxed.functions_missing(cells)
    if missing:
        return rules.Run("raised", f"There is no function {missing[0]}.")
    return boxed.run(box, cells, *more)


def write_marks(course: Course, assignment: str, results: Sequence[Result]) -> list[str]:
    """Put the points into the gradebook, and the reasons as a comment; returns what could not be written, in words. A
    mark that somebody has changed by hand since is left alone."""
    said = []
    with course.gradebook() as gradebook:
        for master in course.masters(assignment):
            if not any(cell.id == CELL for cell in master.cells):
                continue
            seen = {answer.student: answer for answer in answers_to(gradebook, assignment, master.name, CELL)}
            for result in results:
                answer = seen.get(result.student)
                if answer is None:
                    said.append(f"{result.student}: not graded yet. Run `grade {assignment}`, then this again")
                elif answer.manual is not None and answer.manual != result.written:
                    said.append(f"{result.student}: the mark {answer.manual:g} was given by hand, and stays")
                else:
                    try:
                        mark_by_hand(gradebook, [answer], result.points, result.words)
                    except ChangedMeanwhile:
                        said.append(f"{result.student}: changed in the gradebook meanwhile; run this again")
                        continue
                    result.written = result.points
                    save(course.root, assignment, result)
    return said


def load(root: Path, assignment: str, student: str) -> Result | None:
    try:
        return Result(**json.loads(_file(root, assignment, student).read_text(encoding="utf-8")))
    except (FileNotFoundError, ValueError, TypeError):
        return None


def save(root: Path, assignment: str, result: Result) -> None:
    write_whole(_file(root, assignment, result.student), json.dumps(asdict(result), ensure_ascii=False, indent=1))


def everybody(root: Path, assignment: str) -> list[Result]:
    """All results that there are."""
    folder = root / "grading" / assignment / "race"
    found = (load(root, assignment, path.name.removesuffix(".json")) for path in sorted(folder.glob("[!.]*.json")))
    return [result for result in found if result is not None]


def _file(root: Path, assignment: str, student: str) -> Path:
    return root / "grading" / assignment / "race" / f"{student}.json"


def _name_and_kind(notebooks: Any) -> tuple[str, str]:
    """The first words after "Name:" in the cell of the race, and the kind after "Kind:" if it is one of ours."""
    for notebook in notebooks:
        for cell in notebook.cells:
            about = cell["metadata"].get("nbgrader")
            if isinstance(about, dict) and about.get("grade_id") == CELL and "Name:" in cell["source"]:
                name, kind = (
                    cell["source"].partition(f"{what}:")[2].strip().partition("\n")[0].partition(".")[0]
                    for what in ("Name", "Kind")
                )
                kinds = {known.casefold(): known for known in rules.KINDS}
                return " ".join(name.split()[:5])[:60], kinds.get(kind.strip().casefold(), "")
    return "", ""
