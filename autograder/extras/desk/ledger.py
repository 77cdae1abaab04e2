"""The log of questions and receipts: `grading/desk/ASSIGNMENT/STUDENT.jsonl`, a line for every one given.

A day is a calendar day by this machine's clock. A request that was not answered (because the service was stopped, or
through our fault) has no line, and so costs nothing.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

from autograder.files import append_rows, rows_in


class Spent(Exception):  # noqa: N818 - said to the student
    """There are no more tries today, or an answer is still being computed."""


class Ledger:
    def __init__(
        self, root: Path, per_day: int, now: Callable[[], datetime] = lambda: datetime.now().astimezone()
    ) -> None:
        self.folder, self.per_day, self.now = root / "grading" / "desk", per_day, now
        self._busy: set[str] = set()
        self._lock = threading.Lock()

    def used(self, assignment: str, student: str, question: str) -> int:
        today = self.now().date().isoformat()
        rows = self.rows(assignment, student)
        return sum(row["question"] == question and row["time"].startswith(today) for row in rows)

    def reset(self) -> datetime:
        """When there are more tries: the next midnight."""
        now = self.now()
        return (now + timedelta(days=1)).replace(hour=0, minute=0, second=0, microsecond=0)

    def left(self, assignment: str, student: str, question: str) -> int:
        return max(0, self.per_day - self.used(assignment, student, question))

    @contextmanager
    def one(self, assignment: str, student: str, question: str) -> Iterator[Callable[[dict[str, Any]], None]]:
        """One try: yields a function that records the answer. One at a time for each student. Raises Spent."""
        with self._lock:
            if student in self._busy:
                raise Spent("your last question is still being worked on: wait for its answer")
            if not self.left(assignment, student, question):
                raise Spent(
                    f"{self.per_day} a day for each question, and today's are used: more from"
                    f" {self.reset():%A %d %B, %H:%M}"
                )
            self._busy.add(student)
        try:
            yield lambda answer: self._note(assignment, student, question, answer)
        finally:
            with self._lock:
                self._busy.discard(student)

    def rows(self, assignment: str, student: str) -> list[dict[str, Any]]:
        """The recorded answers; a line cut off by a full disk is skipped."""
        return [row for row in rows_in(self._file(assignment, student)) if {"question", "time"} <= row.keys()]

    def receipts(self, assignment: str, student: str) -> list[dict[str, Any]]:
        return [row for row in rows_in(self._file(assignment, student)) if "sha256" in row]

    def keep(self, receipt: dict[str, Any]) -> None:
        append_rows(self._file(receipt["assignment"], receipt["student"]), [receipt])

    def _note(self, assignment: str, student: str, question: str, answer: dict[str, Any]) -> None:
        row = {"time": self.now().isoformat(timespec="seconds"), "question": question, **answer}
        append_rows(self._file(assignment, student), [row])

    def _file(self, assignment: str, student: str) -> Path:
        return self.folder / assignment / f"{quote(student, safe='@ ')}.jsonl"
