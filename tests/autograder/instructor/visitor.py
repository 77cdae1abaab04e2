"""The marking page in a thread of this process, and a visitor who speaks HTTP."""

import asyncio
import http.client
import queue
import re
import threading
import urllib.parse
from collections.abc import Callable, Coroutine, Iterator
from contextlib import closing, contextmanager, suppress
from typing import Any

from autograder.grading.course import Course
from autograder.guard import Guard
from autograder.instructor.marking_page import MarkingPage, serve
from autograder.instructor.written import Class


@contextmanager
def served(serve: Callable[[Callable[[str], None]], Coroutine[Any, Any, None]]) -> Iterator[str]:
    """The address of a server that runs in a thread of this process, as it tells the function that it is given."""
    told: queue.SimpleQueue[str] = queue.SimpleQueue()
    loop = asyncio.new_event_loop()
    task = loop.create_task(serve(told.put))

    def run() -> None:
        with suppress(asyncio.CancelledError), closing(loop):
            loop.run_until_complete(task)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield told.get(timeout=30)
    finally:
        loop.call_soon_threadsafe(task.cancel)
        thread.join(30)


@contextmanager
def running(course: Course, assignment: str, **about: Any) -> Iterator[str]:
    """The marking page's address, with the token."""

    async def work(ready: Callable[[str], None]) -> None:
        with Guard() as guard, course.gradebook() as gradebook:
            await serve(MarkingPage(Class(course, assignment, guard), gradebook, **about), 0, ready)

    with served(work) as address:
        yield address


@contextmanager
def visiting(course: Course, **about: object) -> Iterator["Visitor"]:
    """Somebody who has opened the page."""
    with running(course, "plain", **about) as address:
        yield Visitor(address).enter()


class Visitor:
    """Follows redirects, keeps the cookie, and fills in the form as a browser does."""

    def __init__(self, address: str) -> None:
        found = urllib.parse.urlsplit(address)
        self.host, self.token = found.netloc, found.query.removeprefix("token=")
        self.cookie = ""
        self.at, self.status, self.page = "", 0, ""
        self.headers: dict[str, str] = {}

    def go(self, way: str) -> bool:
        """To the next or previous answer, if there is one."""
        found = re.search(rf'id="{way}" href="([^"]+)"', self.page)
        return found is not None and bool(self.ask("GET", found[1]))

    def walk(self) -> Iterator[str]:
        """Every answer to the first question, from the first page to the last."""
        self.ask("GET", "/0/")
        while self.go("previous"):
            pass
        more = True
        while more:
            yield re.search(r"<article.*?</article>", self.page, re.S)[0]
            more = self.go("next")

    def post(self, path: str, **fields: object) -> int:
        """As a form of the page's own."""
        return self.ask("POST", path, {"token": self.token, **fields}, Origin=f"http://{self.host}")

    def ask(self, method: str, path: str, fields: dict[str, object] | None = None, **headers: str) -> int:
        connection = http.client.HTTPConnection(self.host, timeout=30)
        body = urllib.parse.urlencode(fields, doseq=True) if fields is not None else None
        given = {"Cookie": self.cookie, "Content-Type": "application/x-www-form-urlencoded", **headers}
        connection.request(method, path, body, {key: value for key, value in given.items() if value})
        answer = connection.getresponse()
        self.at, self.status, self.page = path, answer.status, answer.read().decode()
        self.headers = dict(answer.getheaders())
        connection.close()
        if "Set-Cookie" in self.headers:
            self.cookie = self.headers["Set-Cookie"].partition(";")[0]
        if answer.status in (302, 303):
            return self.ask("GET", self.headers["Location"], **headers)
        return answer.status

    def enter(self) -> "Visitor":
        self.ask("GET", f"/?token={self.token}")
        return self

    def items(self, changed: dict[str, str]) -> int:
        """Save the items of the first question's mark scheme, with these changes."""
        self.ask("GET", "/0/items")
        fields = dict(re.findall(r'name="([^"]+)"[^>]*value="([^"]*)"', self.page)) | changed
        return self.post("/0/items", **fields)

    def save(self, **fields: str | list[str]) -> int:
        """Send the form as the page has it, with these fields typed."""
        given = {name: value for name, value in re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', self.page)}
        given |= {"points": re.search(r'name="points"[^>]* value="([^"]*)"', self.page)[1]}
        if re.search(r'name="alike" value="yes" checked', self.page):
            given["alike"] = "yes"
        return self.post(self.at, **{**given, "words": "", **fields})
