"""The page on localhost: text comes piece by piece, only this computer's own page may ask, and it asks nobody else."""

import http.client
import json
import re
import threading
from collections.abc import Iterator
from importlib.resources import files
from typing import Any, NamedTuple

import pytest

from nlmcore.tokens import BPETokenizer
from nlmcore.tool.chat_page import make_server
from tests.lab import expect, running_chromium
from tests.nlmcore.tool.test_text import TEXT, Recites

BYTES = BPETokenizer([])


class Waits(Recites):
    """Writes each token when it is told to."""

    def __init__(self) -> None:
        super().__init__(BYTES, TEXT)
        self.may_go = threading.Semaphore(0)

    def __call__(self, tokens: Any, state: Any = None) -> Any:
        assert self.may_go.acquire(timeout=60)
        return super().__call__(tokens, state)


@pytest.fixture
def model() -> Waits:
    return Waits()


@pytest.fixture
def port(model: Waits) -> Iterator[int]:
    server = make_server(model, BYTES, name="mine", port=0, temperature=0)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield server.server_port
    for _ in range(100):
        model.may_go.release()
    server.shutdown()
    server.server_close()
    thread.join()


class Answer(NamedTuple):
    status: int
    headers: Any
    text: bytes


def ask(port: int, method: str, path: str, body: Any = None, **headers: str) -> Answer:
    with begin(port, method, path, body, **headers) as answer:
        return Answer(answer.status, answer.headers, answer.read())


def begin(port: int, method: str, path: str, body: Any = None, **headers: str) -> http.client.HTTPResponse:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    text = body if isinstance(body, str | None) else json.dumps(body)
    given = {"Content-Type": "application/json"} if text is not None else {}
    connection.request(method, path, text, given | {name.replace("_", "-"): value for name, value in headers.items()})
    return connection.getresponse()


def test_the_page_and_the_model_are_there(port: int) -> None:
    page = ask(port, "GET", "/")
    assert page.status == 200
    assert page.headers["Content-Type"] == "text/html; charset=utf-8"
    assert "default-src 'self'" in page.headers["Content-Security-Policy"]
    assert page.text == files("nlmcore.tool").joinpath("chat.html").read_bytes()
    assert json.loads(ask(port, "GET", "/model").text) == {"name": "mine", "chats": False}
    assert ask(port, "GET", "/../pyproject.toml").status == 404


def test_the_page_asks_nobody_else() -> None:
    page = files("nlmcore.tool").joinpath("chat.html").read_text(encoding="utf-8")
    assert not re.findall(r"https?:|//[a-z]|@import|src=(?!\")", page)


def test_text_comes_as_it_is_written(port: int, model: Waits) -> None:
    with begin(port, "POST", "/write", {"text": "Say:"}, Origin=f"http://localhost:{port}") as got:
        assert got.status == 200
        text = b""
        for letter in TEXT.encode():
            model.may_go.release()
            if letter < 128:  # of a longer character nothing comes before its last byte
                while not text.endswith(bytes([letter])):
                    text += got.read1(1)
        assert text.decode() == TEXT
        model.may_go.release()
        assert got.read() == b""


def test_who_goes_away_stops_the_model(port: int, model: Waits) -> None:
    with begin(port, "POST", "/write", {"text": "Say:"}):
        pass
    for _ in range(100):
        model.may_go.release()
    again = ask(port, "POST", "/write", {"text": "Say:"})  # the lock was given back
    assert again.text.decode() == TEXT


def test_somebody_elses_page_is_refused(port: int) -> None:
    origins = [{"Origin": "http://evil.example"}, {"Origin": "http://localhost"}]  # the second: port 80
    for headers in ({"Host": "evil.example"}, *origins, {"Content_Type": "text/plain"}):
        assert ask(port, "POST", "/write", {"text": "Say:"}, **headers).status == 403
    assert ask(port, "GET", "/", Host="evil.example").status == 403


def test_only_port_80_goes_without_its_number(port: int) -> None:
    assert ask(port, "GET", "/", Host="localhost").status == 403
    with make_server(Waits(), BYTES, port=0) as server:
        real, server.server_port = server.server_port, 80
        thread = threading.Thread(target=server.handle_request)
        thread.start()
        assert ask(real, "GET", "/", Host="localhost", Origin="http://localhost").status == 200
        thread.join()


def test_a_malformed_request_is_refused_with_why(port: int) -> None:
    for body in ("{", {"words": 3}, {"messages": "hello"}, {"text": 3}, []):
        assert ask(port, "POST", "/write", body).status == 400, body
    assert ask(port, "POST", "/other", {"text": ""}).status == 400
    conversation = {"messages": [{"role": "user", "content": "x"}]}
    assert b"was not trained to chat" in ask(port, "POST", "/write", conversation).text


@pytest.mark.browser
@pytest.mark.slow
def test_one_talks_to_it_by_the_keyboard_alone(port: int, model: Waits) -> None:
    with running_chromium() as browser:
        page = browser.new_page(viewport={"width": 390, "height": 700})
        asked, errors = [], []
        page.on("request", lambda request: asked.append(request.url))
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
        page.goto(f"http://localhost:{port}/")
        expect(page.get_by_role("heading")).to_have_text("mine")
        expect(page.locator("textarea")).to_be_focused()
        page.keyboard.type("Say:")
        page.keyboard.press("Shift+Enter")
        page.keyboard.type("it")
        page.keyboard.press("Enter")
        expect(page.locator(".user")).to_have_text("Say:\nit")
        for _ in TEXT[:2]:
            model.may_go.release()
        expect(page.locator(".model")).to_have_text(TEXT[:2])  # while it is being written
        for _ in TEXT.encode() + b".":
            model.may_go.release()
        expect(page.locator(".model")).to_have_text(TEXT.strip())
        expect(page.get_by_role("button", name="Send")).to_be_enabled()
        page.keyboard.type("Again")
        page.keyboard.press("Enter")
        expect(page.get_by_role("button", name="Stop")).to_be_enabled()
        page.keyboard.press("Escape")
        expect(page.get_by_role("button", name="Send")).to_be_enabled()
        expect(page.locator("textarea")).to_be_focused()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert not errors
    assert {url.split("/")[2] for url in asked} == {f"localhost:{port}"}


@pytest.mark.browser
@pytest.mark.slow
def test_a_new_conversation_knows_nothing_of_one_that_was_being_written_or_not_answered(port: int) -> None:
    sent: list[list[str]] = []

    def answer(route: Any) -> None:
        sent.append([message["content"] for message in route.request.post_data_json["messages"]])
        words = sent[-1][-1]
        if words == "fails":
            route.fulfill(status=400)
        elif words != "waits":  # which is never answered
            route.fulfill(body=f"to {words}")

    with running_chromium() as browser:
        page = browser.new_page()
        page.route("**/model", lambda route: route.fulfill(json={"name": "mine", "chats": True}))
        page.route("**/write", answer)
        page.goto(f"http://localhost:{port}/")
        expect(page.get_by_role("heading")).to_have_text("mine")
        for words in ("fails", "one", "waits", "two", "three"):
            page.locator("textarea").fill(words)
            page.keyboard.press("Enter")
            if words == "waits":
                expect(page.get_by_role("button", name="Stop")).to_be_enabled()
                page.get_by_role("button", name="New").click()
            expect(page.get_by_role("button", name="Send")).to_be_enabled()
    assert sent == [["fails"], ["one"], ["one", "to one", "waits"], ["two"], ["two", "to two", "three"]]
