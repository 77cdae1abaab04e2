"""What the requests share, and the checks that every request to a server of our own has to pass."""

import hmac
import math
import secrets
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tornado.web import HTTPError, RequestHandler

from autograder.grading import log
from autograder.grading.byhand import mark_by_hand
from autograder.grading.database import GradebookBusy, patiently
from autograder.grading.gradebook import renew_penalties
from autograder.grading.rubric import Item, items, pin
from autograder.grading.vectors import Vectors
from autograder.instructor.clusters import Place, places
from autograder.instructor.shared_marking import account, of_marker, to_mark_again
from autograder.instructor.written import Class, Given, Question, Unit
from autograder.pages import counted, render, serving

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; form-action 'self'; base-uri 'none';"
    " frame-ancestors 'none'"
)
PATIENCE = 10.0  # seconds to wait for a gradebook that somebody else has locked


class Why(NamedTuple):
    """What the points are for."""

    items: tuple[str, ...] = ()
    more: float = 0.0


@dataclass
class MarkingPage:
    """The state that the requests share."""

    answers: Class
    gradebook: Any
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    names: bool = False
    said: str = ""  # what the next page says has happened
    last: str = ""  # the last comment that was given
    marked: int = 0
    by: str = field(default_factory=account)  # who marks here
    share: bool = False  # show only the answers that are this marker's by the division
    second: int = 0  # so many of the others' answers to each question, to be marked again; 0: the first marking
    grouped: bool = False  # alike answers together, the most different first
    _places: dict[tuple[str, str], tuple[Any, dict[str, Place]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.vectors = Vectors(*self.answers.where)
        self.questions = self.answers.questions

    def units(self, question: Question) -> list[Unit]:
        """The answers that this marker has to mark, or has marked."""
        self.gradebook.db.rollback()  # what others have written since
        found = patiently(self.gradebook, lambda: self.answers.units(self.gradebook, question), PATIENCE)
        if self.second:
            found = to_mark_again(self.answers, question, found, self.by, self.second)
        elif self.share:
            found = of_marker(self.answers, question, found, self.by)
        where, last = self.places(question, found), (2, 0, 0, 0)  # those not compared yet stay in the old order
        return sorted(found, key=lambda unit: where.get(unit.text, last))

    def places(self, question: Question, units: Sequence[Unit]) -> dict[str, Place]:
        """By text, where an answer comes among these; computed anew only when there are others."""
        if not self.grouped:
            return {}
        vectors = {unit.text: vector for unit in units if (vector := self.vectors.of(unit.text)) is not None}
        if self._places.get(question.place, ((), {}))[0] != vectors.keys():
            self._places[question.place] = vectors.keys(), places(vectors)
        return self._places[question.place][1]

    def compare(self, texts: Sequence[str], seconds: float) -> Iterator[int]:
        """Compute what the groups need, for about so long; yields how many texts have been added. Without the model
        the order stays what it was, and the next page says why."""
        self.grouped = True
        try:
            yield from self.vectors.compute(texts, seconds)
            left = len(self.vectors.missing(texts))
            self.said = f"{counted(left, 'answer')} not compared yet, and so last." if left else ""
        except (OSError, ValueError, ImportError) as error:
            self.said, self.grouped = f"Answers cannot be grouped, so they stay in their order: {error}", False

    def items(self, question: Question) -> list[Item]:
        return items(*self.answers.where, *question.place, question.scheme)

    def entry(self, question: Question, unit: Unit) -> log.Entry | None:
        """Who gave the mark that is shown, and for what."""
        found, place = self.log(), (*question.place, unit.first.student)
        if self.second:
            return found.second.get(place, {}).get(self.by)
        return found.of(*place, unit.first.manual)

    def log(self) -> log.Log:
        return log.Log(*self.answers.where)

    def mark(self, question: Question, meant: Sequence[Given], points: float | None, words: str, why: Why) -> None:
        """Save points and a comment, and for which items. Raises ChangedMeanwhile, GradebookBusy."""
        about, students = self.answers, [one.answer.student for one in meant]
        if why.items:
            pin(*about.where, *question.place, question.scheme)
        if not self.second:
            mark_by_hand(self.gradebook, [one.answer for one in meant], points, words, PATIENCE)
            renew_penalties(self.gradebook, about.assignment, about.course.config, students)
            for one in meant if points is not None else ():
                about.read_of(one).keep(*question.place, one.text)
        said: Any = {"notebook": question.notebook, "cell": question.cell, "by": self.by, "second": bool(self.second)}
        said |= {"points": points, "words": words, "items": why.items, "more": why.more}
        log.add(*about.where, [log.Entry(student=student, **said) for student in students])


def waiting(units: Iterable[Unit]) -> Unit | None:
    """The first that waits for a mark."""
    return next((unit for unit in units if unit.waiting), None)


def as_number(typed: str) -> float:
    """What a person typed, with a comma or a point; NaN if it is no number."""
    try:
        return float(typed.strip().replace(",", "."))
    except ValueError:
        return math.nan


class Shared(RequestHandler):
    """What the pages need, whoever serves them and lets people in."""

    page: MarkingPage
    methods: tuple[str, ...] = ("get",)
    base = ""  # what the pages' addresses begin with
    start = "/"
    strangers = "This page is for the one who started it. Open the address that the terminal prints."

    def hidden(self) -> dict[str, str]:
        """Fields without which the server takes no form."""
        raise NotImplementedError

    def show(self, template: str, **values: Any) -> None:
        self.finish(render(template, base=self.base, hidden=self.hidden(), **values))

    def question(self, number: str) -> Question:
        try:
            return self.page.questions[int(number)]
        except IndexError:
            raise HTTPError(404) from None

    def go(self, number: int, unit: Unit | None) -> None:
        self.redirect(f"{self.base}/{number}/{unit.key if unit else ''}", status=303)

    def write_error(self, status_code: int, **about: Any) -> None:
        error = about.get("exc_info", (None, None, None))[1]
        gone = "There is no such answer, or it is of a submission that could not be graded."
        words = {403: self.strangers, 404: gone}.get(status_code, f"{type(error).__name__}: {error}")
        if isinstance(error, GradebookBusy):
            self.set_status(503)
            words = f"Nothing was saved: {error}."
        links = [(self.start, "Continue marking")]
        self.finish(render("marked.html", base=self.base, title="Not possible", words=words, links=links))


class Guarded(Shared, serving.Handler):
    """Checks every request: addressed to us, from our own page, and without anything that runs."""

    policy = POLICY
    expected = (HTTPError, GradebookBusy)

    def initialize(self, page: MarkingPage, host: str) -> None:
        self.page, self.host = page, host
        self.cookie = f"mark-{host.rpartition(':')[2]}"  # other servers of this machine get it too, under their ports

    def hidden(self) -> dict[str, str]:
        return {"token": self.page.token}

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
        return hmac.compare_digest((given or "").encode(), self.page.token.encode())
