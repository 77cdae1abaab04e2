"""The way from question to question. Each page is half a request handler: the other half says who is let in."""

import asyncio
import math
import re
from collections import Counter

from autograder.grading.rubric import Item, changing, keep
from autograder.instructor.marking_page.guarded import Shared, as_number, waiting
from autograder.instructor.marking_page.one_answer import Marking
from autograder.instructor.shared_marking import apply_items
from autograder.instructor.written import digest_of
from autograder.pages import render


class Start(Shared):
    """Redirect to the first question with an unmarked answer."""

    def get(self) -> None:
        for place, question in enumerate(self.page.questions):
            if unit := waiting(self.page.units(question)):
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


class Order(Shared):
    """Alike answers together from now on, or in the order of their digests again."""

    methods = ("post",)

    async def post(self, place: str) -> None:
        self.page.grouped = self.get_body_argument("order", "") == "alike"
        if self.page.grouped:
            texts = [unit.text for unit in self.page.units(self.question(place))]
            await asyncio.to_thread(lambda: sum(self.page.compare(texts, SECONDS)))  # meanwhile other pages are served
        self.redirect(f"{self.base}/{place}/", status=303)


class Done(Shared):
    """What is left of a question: its first unmarked answer, or the message that there is none."""

    def get(self, place: str) -> None:
        question, units = self.question(place), self.page.units(self.question(place))
        if unit := waiting(units):
            return self.go(int(place), unit)
        links = [(f"{self.base}/{place}/{units[0].key}", "Look at its answers again")] if units else []
        for other, about in enumerate(self.page.questions):
            if left := sum(len(unit.given) for unit in self.page.units(about) if unit.waiting):
                links.append((f"{self.base}/{other}/", f"{about.title}: {left} waiting"))
        words = "Every answer has a mark." if units else "Nobody's answer has been graded yet."
        if not units and (self.page.share or self.page.second):
            words = "No answer to this question is for you."
        if len(links) <= 1 and units:
            words += " No other question waits either: this page can be closed."
        self.show("marked.html", title=question.title, words=words, links=links)
        return None


class Items(Shared):
    """The items of a mark scheme: their words and points, changed for everybody who has them."""

    methods = ("get", "post")

    def get(self, place: str) -> None:
        self._show(place)

    def post(self, place: str) -> None:
        question, where = self.question(place), self.page.answers.where
        try:
            with changing(*where):
                before = self.page.items(question)
                if self.get_body_argument("state", "") != state_of(before):
                    raise ValueError("somebody else has changed the items since you saw them")
                new = self._read(before)
                apply_items(self.page, question)  # what a crash has left of the last change
                keep(*where, *question.place, new)
                said = apply_items(self.page, question)
        except ValueError as error:
            self.set_status(422)
            said = f"Not saved: {error}."
        return self._show(place, said)

    def _read(self, before: list[Item]) -> list[Item]:
        """The items as the form has them. Raises ValueError."""
        made = []
        for name in (item.id for item in [*before, *_empty(before)]):
            words = " ".join(self.get_body_argument(f"words-{name}", "").split())[:200]
            typed = self.get_body_argument(f"points-{name}", "").strip()
            if words and not math.isfinite(as_number(typed)):
                raise ValueError(f"the points of an item must be a number, got {typed[:20]!r} for {words!r}")
            made += [Item(name, words, as_number(typed))] if words else []
        return made

    def _show(self, place: str, said: str = "") -> None:
        question = self.question(place)
        known, found = self.page.items(question), self.page.log()
        here = (one for where, one in found.first.items() if where[:2] == question.place)
        counts = Counter(item for one in here for item in one.items)
        rows = [(item, counts[item.id]) for item in [*known, *_empty(known)]]
        self.show("items.html", question=question, place=place, rows=rows, state=state_of(known), said=said)


def _empty(known: list[Item]) -> list[Item]:
    """Lines for new items."""
    last = max((int(item.id) for item in known), default=0)
    return [Item(str(last + more), "", 0.0) for more in range(1, NEW + 1)]


def state_of(known: list[Item]) -> str:
    return digest_of([[item.id, item.words, item.points] for item in known])


NEW = 3  # empty lines
SECONDS = 10.0  # for the vectors of a question's answers, until the next page says how many are left

PAGES: dict[str, type[Shared]] = {
    r"/": Start,
    r"/(mark\.(?:css|js))": Style,
    r"/names": Names,
    r"/([0-9]+)/": Done,
    r"/([0-9]+)/items": Items,
    r"/([0-9]+)/order": Order,
    r"/([0-9]+)/([0-9a-f]+)": Marking,
}


def within(server: type[Shared]) -> list[tuple[str, type[Shared]]]:
    """The pages, by their paths, made whole by the handler of a server."""
    return [(path, type(page.__name__, (page, server), {})) for path, page in PAGES.items()]
