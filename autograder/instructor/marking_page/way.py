"""The way from question to question. Each page is half a request handler: the other half says who is let in."""

import re

from autograder.instructor.marking_page.guarded import Shared
from autograder.instructor.marking_page.one_answer import Marking
from autograder.pages import render


class Start(Shared):
    """Redirect to the first question with an unmarked answer."""

    def get(self) -> None:
        for place, question in enumerate(self.page.questions()):
            unit = next((unit for unit in self.page.units(question) if unit.waiting), None)
            if unit is not None:
                return self.go(place, unit)
        return self.go(0, None)


class Style(Shared):
    def get(self, name: str) -> None:
        self.set_header("Content-Type", "text/css" if name.endswith("css") else "text/javascript")
        self.finish(render(name))


class Names(Shared):
    """Show or hide the names from now on."""

    methods = ("post",)

    def post(self) -> None:
        self.page.names = not self.page.names
        back = self.get_body_argument("back", "/")
        self.redirect(f"{self.base}{back if re.fullmatch(r'/[0-9]+/[0-9a-f]+', back) else '/'}", status=303)


class Done(Shared):
    """What is left of a question: its first unmarked answer, or the message that there is none."""

    def get(self, place: str) -> None:
        question, units = self.question(place), self.page.units(self.question(place))
        unit = next((unit for unit in units if unit.waiting), None)
        if unit is not None:
            return self.go(int(place), unit)
        links = [(f"{self.base}/{place}/{units[0].key}", "Look at its answers again")] if units else []
        for other, about in enumerate(self.page.questions()):
            left = sum(len(unit.given) for unit in self.page.units(about) if unit.waiting)
            if left:
                links.append((f"{self.base}/{other}/", f"{about.title}: {left} waiting"))
        words = "Every answer has a mark." if units else "Nobody's answer has been graded yet."
        if len(links) <= 1 and units:
            words += " No other question waits either: this page can be closed."
        self.show("marked.html", title=question.title, words=words, links=links)
        return None


PAGES: dict[str, type[Shared]] = {
    r"/": Start,
    r"/(mark\.(?:css|js))": Style,
    r"/names": Names,
    r"/([0-9]+)/": Done,
    r"/([0-9]+)/([0-9a-f]+)": Marking,
}


def within(server: type[Shared]) -> list[tuple[str, type[Shared]]]:
    """The pages, by their paths, made whole by the handler of a server."""
    return [(path, type(page.__name__, (page, server), {})) for path, page in PAGES.items()]
