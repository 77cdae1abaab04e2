"""A graded notebook as a list of questions: the question, the student's answer, the result."""

import re
from dataclasses import dataclass, field
from typing import Any

from nbgrader import utils

from autograder.question.report import MACHINE


@dataclass(frozen=True, kw_only=True)
class Question:
    """One graded cell and what leads up to it."""

    name: str  # the graded cell's grade_id
    title: str
    cell: Any
    asked: list[Any] = field(default_factory=list)  # markdown cells before the answer
    answers: list[Any] = field(default_factory=list)  # cells in which the student wrote
    public: dict[str, Any] | None = None
    """The grader's reports on public and on hidden inputs, as `Report.machine` writes them."""
    hidden: dict[str, Any] | None = None

    @property
    def anchor(self) -> str:
        return re.sub(r"[^A-Za-z0-9_-]", "-", self.name)


def questions_of(cells: list[Any]) -> list[Question]:
    found: list[Question] = []
    asked: list[Any] = []
    answers: list[Any] = []
    for cell in cells:
        about = cell.metadata.get("nbgrader", {})
        graded, task = utils.is_grade(cell), utils.is_task(cell)
        if utils.is_solution(cell) or task:
            answers.append(cell)
        elif cell.cell_type == "markdown":
            asked.append(cell)
        if not (graded or task):
            continue
        name = str(about.get("grade_id", ""))
        public, hidden = _reports(cell)
        title = _title(name, public or hidden, asked)
        found.append(
            Question(name=name, title=title, cell=cell, asked=asked, answers=answers, public=public, hidden=hidden)
        )
        asked, answers = [], []
    return found


def _reports(cell: Any) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
    found: dict[bool, dict[str, Any]] = {}
    for output in cell.get("outputs", []):
        report = output.get("data", {}).get(MACHINE)
        if isinstance(report, dict) and isinstance(report.get("properties"), list):
            found[bool(report.get("hidden"))] = report
    return found.get(False), found.get(True)


def _title(name: str, report: dict[str, Any] | None, asked: list[Any]) -> str:
    """The last heading before the answer, otherwise the exercise's name, otherwise the cell's."""
    lines = [line for cell in asked for line in cell.source.split("\n")]
    headings = [m[1].strip() for line in lines if (m := re.match(r"#{1,6}\s+(.+)", line))]
    if headings:
        return re.sub(r"[*_`$]", "", headings[-1])[:120]
    return str(report["exercise"]).rpartition(".")[2] if report else name
