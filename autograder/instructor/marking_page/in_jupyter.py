"""The marking pages in the Jupyter server that has Formgrader: BASE/mark/ASSIGNMENT/, for whoever may use that server.

Who is let in, and that a form comes from one of the server's own pages, is Jupyter's business (and the hub's behind
it).
"""

import asyncio
import contextlib
import time
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from jupyter_server.base.handlers import JupyterHandler
from tornado.web import Application, HTTPError, authenticated

from autograder.grading.course import Course, NotACourse
from autograder.grading.markers import shares
from autograder.guard import Guard
from autograder.instructor.marking_page.guarded import POLICY, MarkingPage, Shared
from autograder.instructor.marking_page.way import within
from autograder.instructor.written import Class, questions
from autograder.pages import serving

PREFIX = "mark/"  # below the server's own address


def offer(app: Application, root: Path) -> None:
    """Add the pages to a server, once."""
    if "nlm_marking" not in app.settings:
        course = app.settings["nlm_marking"] = _Marked(root)
        base, pages = f"{app.settings['base_url']}{PREFIX}", within(_Inside)
        made = [(base, _Assignments), *((f"{base}(?:[^/]+){path}", page) for path, page in pages)]
        made += [(f"{base[:-1]}{path}", page) for path, page in pages if page.__name__ == "Style"]
        app.add_handlers(".*$", [(path, _closed(page), {"course": course}) for path, page in made])


class _Marked:
    """The state of every assignment's pages. The gradebook stays open as long as the server runs."""

    def __init__(self, root: Path) -> None:
        self.root, self.open = root, dict[str, MarkingPage]()
        self.kept = contextlib.ExitStack()
        self.guard = self.kept.enter_context(Guard(seconds=10, wall=60))

    def assignments(self) -> list[str]:
        course = Course.load(self.root)
        with course.gradebook() as gradebook:
            names = sorted(each.name for each in gradebook.assignments)
        return [name for name in names if questions(course, name)]

    def page(self, name: str, anew: bool, user: str) -> MarkingPage:
        """name: of an assignment, or ASSIGNMENT@MARKER for one marker's share. anew: with the questions as they are
        now, since a server runs longer than a command. Raises NotACourse, GradebookFault."""
        assignment, _, marker = name.partition("@")
        if marker and marker not in shares(self.root):
            raise NotACourse(f"no marker is called {marker}")
        before = self.open.get(name)
        if anew or before is None:
            course = Course.load(self.root)
            answers = Class(course, assignment, self.guard)
            gradebook = before.gradebook if before else self.kept.enter_context(course.gradebook())
            page = MarkingPage(answers, gradebook, by=marker or user, share=bool(marker))
            if before is not None:
                page.names, page.grouped = before.names, before.grouped
            self.open[name] = page
        return self.open[name]


class _Inside(Shared, JupyterHandler):  # type: ignore[misc]
    """What Jupyter's handler needs to serve these pages."""

    strangers = "This page is for whoever may use this Jupyter server."

    def initialize(self, course: _Marked) -> None:
        self.course = course

    async def prepare(self) -> None:  # type: ignore[override]  # an option of theirs is for their own pages
        await JupyterHandler.prepare(self)
        if not self.current_user:
            return  # the method refuses
        path = self.request.path.removeprefix(f"{self.base_url}{PREFIX}")
        name, slash, rest = path.partition("/")
        self.base = f"{self.base_url}{PREFIX}{name if slash else ''}".rstrip("/")
        self.start = f"{self.base}/"
        if not slash:
            return
        try:
            self.page = self.course.page(unquote(name), anew=not rest, user=self.current_user.username)
        except NotACourse:
            raise HTTPError(404) from None
        began = time.monotonic()
        for _ in () if rest else self.page.answers.read():
            if time.monotonic() - began > 0.2:  # the server's other pages go on meanwhile
                await asyncio.sleep(0)
                began = time.monotonic()

    def hidden(self) -> dict[str, str]:
        return {"_xsrf": self.xsrf_token.decode()}

    @property
    def content_security_policy(self) -> str:
        return POLICY

    def set_default_headers(self) -> None:
        super().set_default_headers()
        for name, value in serving.HEADERS.items():
            self.set_header(name, value)

    def on_finish(self) -> None:
        super().on_finish()
        if hasattr(self, "page"):
            self.page.gradebook.db.rollback()  # it may be long until the next request


def _closed(page: Any) -> Any:
    """A page whose methods first ask Jupyter who is there."""
    return type(page.__name__, (page,), {n: authenticated(getattr(page, n)) for n in page.methods})


class _Assignments(_Inside):
    """What there is to mark."""

    def get(self) -> None:
        links = []
        for name in self.course.assignments():
            links.append((f"{self.start}{quote(name)}/", name))
            links += [(f"{self.start}{quote(f'{name}@{by}')}/", f"{name}, as {by}") for by in shares(self.course.root)]
        words = "The written answers, one question at a time." if links else "No question is marked by a person."
        self.show("marked.html", title="Assignments", words=words, links=links)
