"""Writes a worker's results: the graded notebooks, the gradebook, the record, in this order."""

import json
import os
import shutil
from pathlib import Path
from typing import Any

from autograder.files import WRITING, sweep, write_whole
from autograder.grading import records
from autograder.grading.answers import Known, digests
from autograder.grading.beside import SECRET_FILE, secret_of, timestamp_of
from autograder.grading.course import Course
from autograder.grading.database import patiently
from autograder.grading.execute import Done, show
from autograder.grading.gradebook import Scores, save_marks, scores_of
from autograder.grading.records import NotebookResult, Record, from_json, result_file
from autograder.preflight import Prepared


class Writer:
    """The one writer of an assignment's marks."""

    def __init__(self, course: Course, assignment: str, gradebook: Any, files: dict[str, bytes]) -> None:
        self.course, self.assignment, self.gradebook, self.files = course, assignment, gradebook, files
        self.kernels = course.kernelspecs(assignment)
        self.known = scores_of(gradebook, assignment)

    def done(self, student: str, fingerprint: str) -> Record | None:
        """The record of a graded submission, if everything it describes exists: the graded notebook, and exactly these
        marks in this gradebook."""
        record = records.load(self.course.root, self.assignment, student)
        known = self.known.get(student, {})
        if record is None or record.fingerprint != fingerprint or record.state == "fault":
            return None
        if {name: known.get(name, {}) for name in record.scores} != record.scores:
            return None
        there = record.state == "blocked" or self.course.autograded(student, self.assignment).is_dir()
        return record if there else None

    def write(self, done: Done, prepared: Prepared, fingerprint: str) -> Record:
        """Write everything for one submission. If killed before the end, it has no record and is graded again."""
        course, student = self.course, done.student
        records.forget(course.root, self.assignment, student)
        results = shown_results(done, prepared)
        graded = {name: prepared.notebooks[name] for name in results}
        source = course.submission(student, self.assignment)
        timestamp, late = timestamp_of(source)
        for name in results:
            if self.kernels.get(name):
                graded[name].metadata["kernelspec"] = self.kernels[name]
            write_whole(result_file(course.root, self.assignment, name, student), done.results[name])
        scores: Scores = {}
        folder = course.autograded(student, self.assignment)
        if graded:
            self._write_folder(folder, graded, prepared, timestamp, secret_of(source))
        elif not done.fault:  # what lies there is of an older submission, and would be marked as if it were this one
            shutil.rmtree(folder, ignore_errors=True)
        if not done.fault:
            known = Known(course.root, self.assignment, student, course.directory.db_url)
            answers = {name: digests(notebook.cells, folder) for name, notebook in graded.items()}
            same = known.same(answers)
            about = (self.gradebook, student, self.assignment, graded, timestamp, course.config, same)
            scores = patiently(self.gradebook, lambda: save_marks(*about))
            known.keep(answers)
        made = record_of(self.assignment, done, prepared, fingerprint, results, scores, late)
        records.save(course.root, made)
        return made

    def _write_folder(
        self, target: Path, notebooks: dict[str, Any], prepared: Prepared, timestamp: str | None, secret: str
    ) -> None:
        """Write the whole folder or nothing."""
        target.parent.mkdir(parents=True, exist_ok=True)
        sweep(target.parent)
        beside = target.with_name(f".{target.name}.{os.getpid()}{WRITING}")
        try:
            beside.mkdir()
            for name, notebook in notebooks.items():
                write_notebook(notebook, beside / f"{name}.ipynb")
            for inside, path in prepared.files.items():
                (beside / inside).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, beside / inside)
            for inside, content in self.files.items():
                (beside / inside).parent.mkdir(parents=True, exist_ok=True)
                (beside / inside).write_bytes(content)
            if timestamp:
                (beside / "timestamp.txt").write_text(timestamp, encoding="utf-8")
            if secret:
                (beside / SECRET_FILE).write_text(secret, encoding="utf-8")
            if target.exists():
                shutil.rmtree(target)
            os.replace(beside, target)
        except OSError:
            shutil.rmtree(beside, ignore_errors=True)
            raise


def write_notebook(notebook: Any, path: Path) -> None:
    """As nbformat writes it, except for line breaks, because Python's fast encoder makes none."""
    for transient in ("orig_nbformat", "orig_nbformat_minor", "signature"):
        notebook.metadata.pop(transient, None)
    for cell in notebook.cells:
        cell.metadata.pop("trusted", None)
    path.write_text(json.dumps(notebook, ensure_ascii=False, sort_keys=True) + "\n", encoding="utf-8")


def shown_results(done: Done, prepared: Prepared) -> dict[str, NotebookResult]:
    """The results by notebook; their outputs are now in the notebooks of `prepared`."""
    results = {name: from_json(text) for name, text in done.results.items()}
    for name, result in results.items():
        show(prepared.notebooks[name], result)
    return results


def record_of(
    assignment: str,
    done: Done,
    prepared: Prepared,
    fingerprint: str,
    results: dict[str, NotebookResult],
    scores: Scores,
    late: str,
) -> Record:
    marks = [vars(m) for result in results.values() for m in result.marks]
    incidents = [words for result in results.values() for words in result.incidents] + ([late] if late else [])
    blocked = [f.words for f in prepared.findings if f.kind == "blocked"]
    if done.fault:
        state, words = "fault", f"not graded, and it is the grader's fault: {done.fault}"
    elif blocked:
        state, words = "blocked", " ".join(blocked)
    else:
        said = records.remarks([vars(f) for f in prepared.findings], incidents)
        state, words = "graded", "; ".join([_earned(prepared, scores), *said])
    return Record(
        student=done.student,
        assignment=assignment,
        fingerprint=fingerprint,
        state=state,  # type: ignore[arg-type]
        words=words,
        findings=[vars(f) for f in prepared.findings],
        incidents=incidents,
        marks=marks,
        scores=scores,
        isolation=next((r.isolation for r in results.values()), ""),
        seconds=round(sum(r.seconds for r in results.values()), 3),
    )


def _earned(prepared: Prepared, scores: Scores) -> str:
    """ "18 of 26, and 4 to be marked by hand"."""
    earned = possible = waiting = 0.0
    for name, cells in scores.items():
        points = {
            about["grade_id"]: float(about.get("points", 0))
            for cell in prepared.notebooks[name].cells
            if (about := cell.metadata.get("nbgrader"))
        }
        for cell, score in cells.items():
            if score is None:
                waiting += points.get(cell, 0)
            else:
                earned, possible = earned + score, possible + points.get(cell, 0)
    by_hand = [f"{waiting:g} for a human to give"] if waiting else []
    return ", and ".join([f"{earned:g} of {possible:g}"] * (possible > 0 or not by_hand) + by_hand)
