"""The service: a student sends a notebook and a question's name, and is told which properties hold.

    POST /check       fields `question`, `notebook` (a file) and `token`, or the header `Authorization: token …`
    POST /hand-in     `notebook` and the token: it is handed in, if this desk takes that, and the answer is a receipt
    POST /receipts    the token: what was handed in so far
    GET  /            a page with a form that does it

A token identifies the student: one that `tokens` has made from the roster, or, as a service of JupyterHub, the one that
the hub gives every student's server, which is verified with the hub. One notebook is run at a time; other requests
wait, and if the queue is long they are told to come back later.
"""

import asyncio
import csv
import hmac
import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tornado.httpclient import AsyncHTTPClient, HTTPClientError

from autograder.extras.desk import receipts, trial
from autograder.extras.desk.ledger import Ledger, Spent
from autograder.grading.course import Course
from autograder.grading.seeds import course_secret, keyed
from autograder.pages import render, serving
from autograder.question.verdict import GraderFault
from autograder.sandbox import BoxFault, IsolationMissing
from autograder.sandbox.tiers import Isolation

LARGEST = 10 << 20  # bytes of a notebook
LONGEST_QUEUE = 50


def roster(course: Course, assignments: Sequence[str]) -> list[str]:
    """Everybody in the gradebook, and everybody who has handed something in."""
    with course.gradebook() as gradebook:
        known = {student.id for student in gradebook.students}
    return sorted(known.union(*(course.students(name) for name in assignments)))


def token_of(secret: bytes, student: str) -> str:
    """Derived from the course's secret, so that nothing has to be stored."""
    return keyed(secret, "desk", student).hex()[:32]


def write_tokens(course: Course, students: Sequence[str]) -> Path:
    """`grading/desk/tokens.csv`, only for its owner."""
    path = course.root / "grading" / "desk" / "tokens.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    secret = course_secret(course.root)
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["student", "token"])
        rows.writerows([student, token_of(secret, student)] for student in students)
    return path


@dataclass
class Hub:
    """JupyterHub, as described by the environment variables of its services."""

    api: str
    prefix: str = "/"

    @classmethod
    def around(cls, environment: Mapping[str, str]) -> "Hub | None":
        api = environment.get("JUPYTERHUB_API_URL")
        return cls(api.rstrip("/"), environment.get("JUPYTERHUB_SERVICE_PREFIX", "/")) if api else None

    async def who(self, token: str) -> str:
        """The user of a token; "" if it is nobody's."""
        headers = {"Authorization": f"token {token}"}
        try:
            answer = await AsyncHTTPClient().fetch(f"{self.api}/user", headers=headers, request_timeout=10)
        except HTTPClientError:
            return ""
        about = json.loads(answer.body)
        return str(about.get("name", "")) if about.get("kind", "user") == "user" else ""


@dataclass
class Window:
    """The state that the requests share."""

    course: Course
    assignments: Sequence[str]
    ledger: Ledger
    hub: Hub | None = None
    isolation: Isolation = "auto"
    takes: bool = False  # what students hand in
    waiting: int = 0
    worker: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1))
    taker: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1))  # waits for no check

    async def who(self, token: str) -> str:
        if not re.fullmatch(r"[\w.~-]{8,200}", token):
            return ""
        secret = course_secret(self.course.root)
        students = await asyncio.to_thread(roster, self.course, self.assignments)
        own = [s for s in students if hmac.compare_digest(token_of(secret, s).encode(), token.encode())]
        if own or self.hub is None:
            return own[0] if own else ""
        user = await self.hub.who(token)
        return user if user in students else ""

    def assignment_of(self, question: str) -> tuple[str, trial.Question]:
        """Raises NoSuch."""
        first, faults = question.partition(".")[0], []
        for name in sorted(self.assignments, key=lambda name: name != first):
            try:
                return name, trial.chosen(self.course, name, question)
            except trial.NoSuch as fault:
                faults.append(str(fault))
        raise trial.NoSuch("; ".join(faults))

    async def answer(self, student: str, question: str, notebook: bytes) -> dict[str, Any]:
        """Raises NoSuch, Spent, and faults of the grader's own."""
        assignment, asked = await asyncio.to_thread(self.assignment_of, question)
        name = asked[1]
        with self.ledger.one(assignment, student, name) as note:
            loop = asyncio.get_running_loop()
            work: Callable[[], dict[str, Any]] = lambda: trial.tried(  # noqa: E731
                self.course, assignment, student, asked, notebook, self.isolation
            )
            self.waiting += 1
            try:
                found = await loop.run_in_executor(self.worker, work)
            finally:
                self.waiting -= 1
            note(found)
        left = self.ledger.left(assignment, student, name)
        return {
            "student": student,
            "question": question,
            **found,
            "left": left,
            "limit": self.ledger.per_day,
            "reset": self.ledger.reset().isoformat(timespec="minutes"),
        }

    async def hand_in(self, student: str, name: str, notebook: bytes) -> dict[str, Any]:
        """The receipt. Raises NoSuch, OSError."""

        def work() -> dict[str, Any]:
            assignment = receipts.assignment_of(self.course, self.assignments, name)
            earlier = self.ledger.receipts(assignment, student)
            made = receipts.take(self.course, assignment, student, name, notebook, self.ledger.now(), earlier)
            if made not in earlier:
                self.ledger.keep(made)
            return made

        return await asyncio.get_running_loop().run_in_executor(self.taker, work)

    def receipts(self, student: str) -> list[dict[str, Any]]:
        found = [receipt for name in self.assignments for receipt in self.ledger.receipts(name, student)]
        return sorted(found, key=lambda receipt: receipt["time"])


async def serve(window: Window, host: str, port: int, ready: Callable[[str], None]) -> None:
    """Serve until this is cancelled. Raises OSError if the port is in use."""
    prefix = window.hub.prefix if window.hub else "/"
    if window.takes:
        receipts.sweep(window.course)
    about = {"window": window}
    routes = [(f"{re.escape(prefix)}(check|hand-in|receipts)?", Desk, about)]
    limits = {"max_body_size": LARGEST + (1 << 16), "max_buffer_size": 4 * LARGEST}
    try:
        await serving.serve(lambda place: routes, host, port, lambda place: ready(f"http://{place}{prefix}"), **limits)
    finally:
        window.worker.shutdown(wait=False, cancel_futures=True)
        window.taker.shutdown()  # what is being handed in gets its receipt


class Desk(serving.Handler):
    policy = "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'"
    name = "desk"

    def initialize(self, window: Window) -> None:
        self.window = window

    def page(self, said: Sequence[str] = (), properties: Sequence[Mapping[str, Any]] = ()) -> None:
        about = {"limit": self.window.ledger.per_day, "takes": self.window.takes}
        title = "Hidden checks, and handing in" if self.window.takes else "Hidden checks"
        self.finish(render("desk.html", title=title, said=said, properties=properties, **about))

    def get(self, what: str | None) -> None:
        self.page()

    async def post(self, what: str | None) -> None:
        said = self.request.headers.get("Authorization", "").removeprefix("token ")
        token = self.get_body_argument("token", "") or said
        question = self.get_body_argument("question", "").strip()
        files = self.request.files.get("notebook") or []
        student = await self.window.who(token.strip())
        if not student:
            return self.refuse(403, "This token is not known: ask your instructor for yours.")
        if what == "receipts":
            return self.show(self.window.receipts(student))
        if what == "hand-in":
            return await self.hand_in(student, files)
        if not files or not question:
            return self.refuse(400, "Send a notebook and the name of a question, such as attention.attend.")
        if self.window.waiting >= LONGEST_QUEUE:
            return self.refuse(503, f"{LONGEST_QUEUE} are waiting: try again in some minutes. Nothing was counted.")
        try:
            answer = await self.window.answer(student, question, files[0]["body"])
        except Spent as words:
            return self.refuse(429, f"Not run: {words}.")
        except trial.NoSuch as words:
            return self.refuse(400, f"Not run, and not counted: {words}.")
        except (GraderFault, BoxFault, IsolationMissing, OSError) as fault:
            print(f"{student}, {question}: {fault}", flush=True)
            return self.refuse(500, "The grader failed, not you, and it was not counted. Tell your instructor.")
        if self._wants_page():
            return self.page(words_of(answer), answer["properties"])
        self.finish({**answer, "said": words_of(answer)})
        return None

    async def hand_in(self, student: str, files: Sequence[Any]) -> None:
        if not self.window.takes:
            return self.refuse(400, "Nothing is handed in here: ask your instructor where.")
        if not files:
            return self.refuse(400, "Send a notebook.")
        try:
            return self.show([await self.window.hand_in(student, files[0]["filename"], files[0]["body"])])
        except trial.NoSuch as words:
            return self.refuse(400, f"Not handed in: {words}.")
        except (GraderFault, OSError) as fault:
            print(f"{student}, handing in: {fault}", flush=True)
            return self.refuse(500, "Not handed in, and not by your fault. Try again, and tell your instructor.")

    def show(self, found: list[dict[str, Any]]) -> None:
        said = [line for receipt in found for line in receipts.in_words(receipt)] or ["Nothing is handed in yet."]
        if self._wants_page():
            return self.page(said)
        self.finish({"receipts": found, "said": said})
        return None

    def refuse(self, status: int, words: str) -> None:
        self.set_status(status)
        if self._wants_page():
            self.page([words])
        else:
            self.finish({"error": words})

    def _wants_page(self) -> bool:
        return "text/html" in self.request.headers.get("Accept", "")


def words_of(answer: Mapping[str, Any]) -> list[str]:
    properties = answer["properties"]
    held = sum(each["holds"] for each in properties)
    many = f" ({held} of {len(properties)} properties)" if properties else ""
    first = f"{answer['question']}: {'holds' if answer['holds'] else 'does not hold yet'} on hidden inputs{many}."
    day = f"{answer['left']} of {answer['limit']} left today for this question; more from {answer['reset']}."
    return [first, *answer["words"], day]
