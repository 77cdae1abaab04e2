"""A page on which one person marks the written answers of a class, served to this machine alone.

The server listens on the loopback address. It answers nobody without the token that it was started with, under no
other name than its own (a page elsewhere could give its name this address), and takes changes from its own page only.
What students wrote is cleaned (`feedback.clean`), and a policy forbids every script but our own and every other host.
Nothing is kept here but what is shown: marks and comments are in nbgrader's gradebook as soon as they are given.
"""

import asyncio
import hmac
import math
import re
import secrets
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from markupsafe import Markup
from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets
from tornado.web import Application, HTTPError, RequestHandler

from autograder.engine.byhand import ChangedMeanwhile, mark_by_hand
from autograder.engine.gradebook import GradebookBusy, patiently
from autograder.feedback import clean
from autograder.guard import NotRead
from autograder.instructor.written import Class, Given, Question, Unit
from autograder.pages import number, points, render

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; form-action 'self'; base-uri 'none';"
    " frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-DNS-Prefetch-Control": "off",  # a link in an answer must not tell its host that it is read
    "X-Frame-Options": "DENY",
}
PATIENCE = 10.0  # seconds to wait for a gradebook that somebody else has locked
LONGEST = 20_000  # characters of a comment


@dataclass
class Desk:
    """What the requests share."""

    answers: Class
    gradebook: Any
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    names: bool = False
    said: str = ""  # what the next page says has happened
    last: str = ""  # the last comment that was given
    marked: int = 0

    def questions(self) -> list[Question]:
        return self.answers.questions

    def units(self, question: Question) -> list[Unit]:
        self.gradebook.db.rollback()  # what others have written since
        return patiently(self.gradebook, lambda: self.answers.units(self.gradebook, question), PATIENCE)


async def serve(desk: Desk, port: int, ready: Callable[[str], None]) -> None:
    """Serve until this is cancelled. ready: is told the address, with the token. Raises OSError for a taken port."""
    sockets = bind_sockets(port, "127.0.0.1")
    port = sockets[0].getsockname()[1]
    about = {"desk": desk, "host": f"127.0.0.1:{port}"}
    application = Application(
        [
            (r"/", Start, about),
            (r"/(mark\.(?:css|js))", Style, about),
            (r"/names", Names, about),
            (r"/([0-9]+)/", Done, about),
            (r"/([0-9]+)/([0-9a-f]+)", Marking, about),
        ],
        log_function=lambda handler: None,
    )
    server = HTTPServer(application, max_body_size=2**20)
    server.add_sockets(sockets)
    try:
        ready(f"http://127.0.0.1:{port}/?token={desk.token}")
        await asyncio.Event().wait()
    finally:
        server.stop()


class Guarded(RequestHandler):
    """Every request: for us, from us, and without anything that runs."""

    def initialize(self, desk: Desk, host: str) -> None:
        self.desk, self.host = desk, host
        self.cookie = f"mark-{host.rpartition(':')[2]}"  # other servers of this machine get it too, under their ports

    def set_default_headers(self) -> None:
        for name, value in HEADERS.items():
            self.set_header(name, value)
        self.clear_header("Server")

    def prepare(self) -> None:
        if self.request.host != self.host:
            raise HTTPError(403)
        given = self.get_query_argument("token", "")
        if given and self.request.method == "GET" and self._fits(given):
            self.set_cookie(self.cookie, given, httponly=True, samesite="Lax", path="/")
            self.redirect("/")
            return
        from_here = self.request.headers.get("Origin") == f"http://{self.host}"
        allowed = self._fits(self.get_cookie(self.cookie, ""))
        if self.request.method == "POST":
            allowed = allowed and from_here and self._fits(self.get_body_argument("token", ""))
        if not allowed:
            raise HTTPError(403)

    def _fits(self, given: str | None) -> bool:
        return hmac.compare_digest((given or "").encode(), self.desk.token.encode())

    def write_error(self, status_code: int, **about: Any) -> None:
        error = about.get("exc_info", (None, None, None))[1]
        words = {
            403: "This page is for the one who started it. Open the address that the terminal says.",
            404: "There is no such answer; the assignment may have been graded anew.",
        }.get(status_code, f"{type(error).__name__}: {error}")
        if isinstance(error, GradebookBusy):
            self.set_status(503)
            words = f"Nothing was saved: {error}."
        self.finish(render("marked.html", title="Not possible", words=words, links=[("/", "Go on marking")]))

    def log_exception(self, kind: Any, error: Any, trace: Any) -> None:
        if not isinstance(error, (HTTPError, GradebookBusy)):
            print(f"The page failed: {kind.__name__}: {error}")

    def question(self, number: str) -> Question:
        questions = self.desk.questions()
        if int(number) >= len(questions):
            raise HTTPError(404)
        return questions[int(number)]

    def go(self, number: int, unit: Unit | None) -> None:
        self.redirect(f"/{number}/{unit.key if unit else ''}", status=303)


class Start(Guarded):
    """To the first question for which somebody waits."""

    def get(self) -> None:
        for place, question in enumerate(self.desk.questions()):
            unit = next((unit for unit in self.desk.units(question) if unit.waiting), None)
            if unit is not None:
                return self.go(place, unit)
        return self.go(0, None)


class Style(Guarded):
    def get(self, name: str) -> None:
        self.set_header("Content-Type", "text/css" if name.endswith("css") else "text/javascript")
        self.finish(render(name))


class Names(Guarded):
    """Names are shown from now on, or no longer."""

    def post(self) -> None:
        self.desk.names = not self.desk.names
        back = self.get_body_argument("back", "/")
        self.redirect(back if re.fullmatch(r"/[0-9]+/[0-9a-f]+", back) else "/", status=303)


class Done(Guarded):
    """What is left of a question: its first answer that waits, or the words that there is none."""

    def get(self, place: str) -> None:
        question, units = self.question(place), self.desk.units(self.question(place))
        unit = next((unit for unit in units if unit.waiting), None)
        if unit is not None:
            return self.go(int(place), unit)
        links = [(f"/{place}/{units[0].key}", "Look at its answers again")] if units else []
        for other, about in enumerate(self.desk.questions()):
            left = sum(len(unit.given) for unit in self.desk.units(about) if unit.waiting)
            if left:
                links.append((f"/{other}/", f"{about.title}: {left} waiting"))
        words = "Every answer has a mark." if units else "Nobody's answer has been graded yet."
        if len(links) <= 1 and units:
            words += " No other question waits either: this page can be closed, and the command stopped with Ctrl-C."
        self.finish(render("marked.html", title=question.title, words=words, links=links))
        return None


class Marking(Guarded):
    def get(self, place: str, key: str) -> None:
        units = self.desk.units(self.question(place))
        self._show(int(place), units, _with(units, key))

    def post(self, place: str, key: str) -> None:
        units = self.desk.units(self.question(place))
        unit = _with(units, key)
        typed, words = self.get_body_argument("points", ""), self.get_body_argument("words", "").strip()
        words = words.replace("\r\n", "\n")[:LONGEST]
        alike = self.get_body_argument("alike", "") == "yes"
        try:
            if self.get_body_argument("state", "") != unit.state:
                raise ChangedMeanwhile("this answer, its mark or its comment has been changed since you saw it")
            back = self.get_body_argument("back", "") == "yes"
            given = None if back else _points(typed, self.question(place).of)
            said = self._save(unit, given, words, alike, back)
        except (ValueError, ChangedMeanwhile) as error:
            self.set_status(409 if isinstance(error, ChangedMeanwhile) else 422)
            fresh = self.desk.units(self.question(place))
            wrong = f"Not saved: {error}."
            return self._show(int(place), fresh, _with(fresh, key), wrong, typed, words, alike)
        self.desk.said = said
        units = self.desk.units(self.question(place))
        here = units.index(_with(units, key))
        rest = [*units[here + 1 :], *units[: here + 1]]
        return self.go(int(place), next((unit for unit in rest if unit.waiting), None))

    def _save(self, unit: Unit, given: float | None, words: str, alike: bool, back: bool) -> str:
        """Write it, and say what was done. Raises ValueError, ChangedMeanwhile, GradebookBusy."""
        meant = [one.answer for one in (unit.twins if alike else unit.given[:1])]
        if given is None and not back:
            if words == unit.first.words:
                raise ValueError("type the points first; → goes on without")
            given = unit.first.manual  # the comment alone
        mark_by_hand(self.desk.gradebook, meant, given, words, PATIENCE)
        self.desk.last = words or self.desk.last
        self.desk.marked += len(meant) * (given is not None)
        many = f" for {len(meant)} answers" if len(meant) > 1 else ""
        done = "Only the comment is saved" if given is None else f"{points(given)} saved"
        return f"{'The mark is taken back' if back else done}{many}."

    def _show(
        self,
        place: int,
        units: list[Unit],
        unit: Unit,
        wrong: str = "",
        typed: str | None = None,
        words: str | None = None,
        alike: bool | None = None,
    ) -> None:
        here, question = units.index(unit), self.question(str(place))
        said, self.desk.said = wrong or self.desk.said, ""
        comments = Counter(one.answer.words for unit in units for one in unit.given if one.answer.words)
        waiting = sum(len(unit.given) for unit in units if unit.waiting)
        before = units[here - 1] if here else None
        after = units[here + 1] if here + 1 < len(units) else None
        self.finish(
            render(
                "mark.html",
                desk=self.desk,
                question=question,
                questions=[(n, one.title) for n, one in enumerate(self.desk.questions())],
                place=place,
                unit=unit,
                here=here + 1,
                units=len(units),
                waiting=waiting,
                answers=sum(len(unit.given) for unit in units),
                state=_in_words(unit, question),
                who=sorted(one.answer.name or one.answer.student for one in unit.given) if self.desk.names else [],
                answer=self._shown(unit.given[0]),
                asked=clean.markdown(question.asked),
                scheme=clean.markdown(question.scheme) if question.scheme else "",
                model=clean.markdown(question.model) if question.model else "",
                typed=typed if typed is not None else "" if unit.points is None else number(unit.points),
                words=unit.first.words if words is None else words,
                alike=len(unit.given) == len(unit.twins) if alike is None else alike,
                comments=[words for words, _ in comments.most_common(12)],
                said=said,
                wrong=bool(wrong),
                previous=f"/{place}/{before.key}" if before else "",
                next=f"/{place}/{after.key}" if after else "",
            )
        )

    def _shown(self, given: Given) -> Markup:
        if not given.cells:
            return Markup("<p>There is nothing to read here. {}</p>").format(given.why)
        try:
            return self.desk.answers.guard.ask(_cleaned, given.cells)
        except NotRead as why:
            folder = f"autograded/{given.answer.student}/" if self.desk.names else "autograded/"
            return Markup("<p>This answer cannot be shown: {}. It is in {}, as it was handed in.</p>").format(
                why, folder
            )


def _with(units: list[Unit], key: str) -> Unit:
    """The unit that an answer is in."""
    for unit in units:
        if any(one.answer.grade == key for one in unit.given):
            return unit
    raise HTTPError(404)


def _points(typed: str, of: float) -> float | None:
    """Raises ValueError for what is no number from 0 to `of`."""
    text = typed.strip().replace(",", ".")
    if not text:
        return None
    try:
        given = float(text)
    except ValueError:
        given = math.nan
    if not 0 <= given <= of:
        raise ValueError(f"points must be a number from 0 to {number(of)}, got {typed.strip()[:20]!r}")
    return given


def _in_words(unit: Unit, question: Question) -> str:
    of = points(question.of)
    if unit.points is None:
        return f"No mark yet, of {of}."
    if unit.waiting:
        return f"{number(unit.points)} of {of} were given, and the answer has changed since: Enter confirms them."
    who = "given by a person" if unit.first.manual is not None else "given automatically: the answer was not touched"
    return f"{number(unit.points)} of {of}, {who}."


def _cleaned(cells: Sequence[Any]) -> Markup:
    made = []
    for cell in cells:
        if cell.cell_type == "code":
            outputs = clean.outputs(cell.get("outputs", []), "A picture that the code drew")
            made.append(clean.code(cell.source) + outputs)
        else:
            made.append(clean.markdown(cell.source, dict(cell.get("attachments") or {})))
    return Markup('<hr class="cell">').join(made)
