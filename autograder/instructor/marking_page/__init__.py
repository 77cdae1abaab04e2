"""A page on which an instructor marks the written answers of a class, served only to this machine.

The server listens on the loopback address. It answers only requests with the token that it was started with and with
its own host name (a page elsewhere could give its name this address), and accepts changes only from its own page.
Students' texts are cleaned (`feedback.clean`), and a policy forbids every script but our own and every other host.
Only the displayed state is kept here: marks and comments go into nbgrader's gradebook immediately.
"""

import re
from collections.abc import Callable
from typing import Any

from autograder.instructor.marking_page.guarded import Guarded, MarkingPage
from autograder.instructor.marking_page.one_answer import Marking
from autograder.pages import render, serving

__all__ = ["MarkingPage", "serve"]


async def serve(page: MarkingPage, port: int, ready: Callable[[str], None]) -> None:
    """Serve until this is cancelled. ready: called with the address, including the token. Raises OSError if the port is
    in use."""

    def routes(host: str) -> list[Any]:
        about = {"page": page, "host": host}
        return [
            (r"/", Start, about),
            (r"/(mark\.(?:css|js))", Style, about),
            (r"/names", Names, about),
            (r"/([0-9]+)/", Done, about),
            (r"/([0-9]+)/([0-9a-f]+)", Marking, about),
        ]

    def told(host: str) -> None:
        ready(f"http://{host}/?token={page.token}")

    await serving.serve(routes, "127.0.0.1", port, told, max_body_size=2**20)


class Start(Guarded):
    """Redirect to the first question with an unmarked answer."""

    def get(self) -> None:
        for place, question in enumerate(self.page.questions()):
            unit = next((unit for unit in self.page.units(question) if unit.waiting), None)
            if unit is not None:
                return self.go(place, unit)
        return self.go(0, None)


class Style(Guarded):
    def get(self, name: str) -> None:
        self.set_header("Content-Type", "text/css" if name.endswith("css") else "text/javascript")
        self.finish(render(name))


class Names(Guarded):
    """Show or hide the names from now on."""

    def post(self) -> None:
        self.page.names = not self.page.names
        back = self.get_body_argument("back", "/")
        self.redirect(back if re.fullmatch(r"/[0-9]+/[0-9a-f]+", back) else "/", status=303)


class Done(Guarded):
    """What is left of a question: its first unmarked answer, or the message that there is none."""

    def get(self, place: str) -> None:
        question, units = self.question(place), self.page.units(self.question(place))
        unit = next((unit for unit in units if unit.waiting), None)
        if unit is not None:
            return self.go(int(place), unit)
        links = [(f"/{place}/{units[0].key}", "Look at its answers again")] if units else []
        for other, about in enumerate(self.page.questions()):
            left = sum(len(unit.given) for unit in self.page.units(about) if unit.waiting)
            if left:
                links.append((f"/{other}/", f"{about.title}: {left} waiting"))
        words = "Every answer has a mark." if units else "Nobody's answer has been graded yet."
        if len(links) <= 1 and units:
            words += " No other question waits either: this page can be closed, and the command stopped with Ctrl-C."
        self.finish(render("marked.html", title=question.title, words=words, links=links))
        return None
