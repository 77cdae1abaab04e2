"""Marks sent by LTI 1.3, to a system that is none: it holds the tool to what the standard asks."""

import base64
import functools
import json
import re
import shutil
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from autograder.commands.lti import lti
from autograder.instructor.ags import SCOPES
from tests.autograder.courses import copy, env
from tests.autograder.small_course import small_course

pytestmark = [
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl signs"),
]
MEMBERS = [
    {"user_id": "u1", "email": "ADA@uni.example", "status": "Active", "name": "Somebody Else"},
    {"user_id": "u2", "lis_person_sourcedid": "bob", "status": "Active"},
    {"user_id": "u3", "name": "Cat", "status": "Active"},
    {"user_id": "u4", "email": "mallory@uni.example", "name": "Cat"},
    {"user_id": "u8", "name": "Ada"},
    {"user_id": "u9", "email": "prof@uni.example", "roles": ["Instructor"]},
]


class FakeLMS(BaseHTTPRequestHandler):
    """As Moodle has it: line items with a question mark in their address, members page by page."""

    def do_POST(self):
        lms, body = self.server, self.rfile.read(int(self.headers["Content-Length"]))
        path, kind = urlsplit(self.path), self.headers["Content-Type"]
        if path.path == "/token":
            form = {key: value[0] for key, value in parse_qs(body.decode()).items()}
            lms.claims = proven(form["client_assertion"], lms.folder)
            granted = form["grant_type"] == "client_credentials" and set(form["scope"].split()) == set(SCOPES)
            return self.answer(200 if granted and lms.claims else 400, {"access_token": "t0ken"})
        if self.headers["Authorization"] != "Bearer t0ken":
            return self.answer(401, {})
        if path.path == "/items" and kind == "application/vnd.ims.lis.v2.lineitem+json":
            item = {**json.loads(body), "id": f"{lms.url}/items/7/lineitem?type_id=1"}
            lms.items.append(item)
            return self.answer(201, item)
        if self.path == "/items/7/lineitem/scores?type_id=1" and kind == "application/vnd.ims.lis.v1.score+json":
            score = json.loads(body)
            if score["userId"] in lms.refuses:
                return self.answer(403, {"error": "locked"})
            lms.scores.append(score)
            return self.answer(200, None)
        return self.answer(404, {})

    def do_GET(self):
        path = urlsplit(self.path)
        if path.path == "/members":
            page = int(parse_qs(path.query).get("page", ["0"])[0])
            more = f'<{self.server.url}/members?page={page + 1}>; rel="next"' if page + 1 < len(MEMBERS) else ""
            return self.answer(200, {"members": MEMBERS[page : page + 1]}, more)
        return self.answer(200, self.server.items)

    def answer(self, code, facts, link=""):
        self.send_response(code)
        if link:
            self.send_header("Link", link)
        self.end_headers()
        if facts is not None:
            self.wfile.write(json.dumps(facts).encode())

    def log_message(self, *about):
        pass


def proven(assertion: str, folder: Path) -> dict:
    """The claims, if the signature is the key's."""
    text, _, signature = assertion.rpartition(".")
    (folder / "signature").write_bytes(decoded(signature))
    line = ["openssl", "dgst", "-sha256", "-verify", "public.pem", "-signature", "signature"]
    done = subprocess.run(line, cwd=folder, input=text.encode(), capture_output=True, check=False)
    return json.loads(decoded(text.partition(".")[2])) if done.returncode == 0 else {}


def decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


@pytest.fixture
def lms(tmp_path):
    with ThreadingHTTPServer(("127.0.0.1", 0), FakeLMS) as server:
        server.url = f"http://127.0.0.1:{server.server_port}"
        server.folder, server.items, server.scores, server.refuses, server.claims = tmp_path, [], [], set(), {}
        threading.Thread(target=server.serve_forever).start()
        yield server
        server.shutdown()


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    root = tmp_path_factory.mktemp("template")
    course = small_course(root)
    with course.gradebook() as book:
        book.update_or_create_student("ada", email="ada@uni.example")
    new_key(root)
    return root


def new_key(root: Path) -> None:
    line = ["openssl", "genrsa", "-out", str(root / "grading" / "lti.pem"), "2048"]
    subprocess.run(line, check=True, capture_output=True)


@pytest.fixture
def place(lms, template, tmp_path):
    root = copy(template, tmp_path / "course")
    line = ["openssl", "rsa", "-in", str(root / "grading" / "lti.pem"), "-pubout", "-out", str(tmp_path / "public.pem")]
    subprocess.run(line, check=True, capture_output=True)
    settings = {"client_id": "tool-1", "token_url": f"{lms.url}/token", "key": "lti.pem"}
    launch = {  # as JupyterHub's authenticator keeps it
        "https://purl.imsglobal.org/spec/lti-ags/claim/endpoint": {"lineitems": f"{lms.url}/items"},
        "https://purl.imsglobal.org/spec/lti-nrps/claim/namesroleservice": {
            "context_memberships_url": f"{lms.url}/members"
        },
    }
    (root / "grading" / "lti.json").write_text(json.dumps(settings | launch))
    return env(root)


@pytest.fixture
def run(place, call):
    return functools.partial(call, lti, place, "attention")


def test_final_marks_alone_are_sent_and_only_when_asked(lms, run):
    said = run("--by-name")
    assert "Would send: 2 final marks, out of 6." in said
    assert "There is no column for it yet" in said
    assert (lms.items, lms.scores) == ([], [])
    said = run("--send", "--by-name", "--title", "Attention")
    assert "Without a mark, which is not a zero: bob, dan, eve, fay, gus." in said
    assert {score["userId"]: score["scoreGiven"] for score in lms.scores} == {"u1": 4.5, "u3": 0.0}
    final = {(score["scoreMaximum"], score["activityProgress"], score["gradingProgress"]) for score in lms.scores}
    assert final == {(6.0, "Completed", "FullyGraded")}
    run("--send", "--by-name")
    columns = [(item["label"], item["scoreMaximum"], item["resourceId"]) for item in lms.items]
    assert columns == [("Attention", 6.0, "attention")]


def test_a_name_alone_gives_nobody_a_mark(lms, run):
    said = run("--send", code=1)
    assert [score["userId"] for score in lms.scores] == ["u1"]
    assert "NOT CERTAINLY IN THE COURSE THERE: cat." in said
    assert "(--by-name): cat." in said


def test_the_tool_proves_who_it_is(lms, place, run):
    run(code=1)
    claims = lms.claims
    assert (claims["iss"], claims["sub"], claims["aud"]) == ("tool-1", "tool-1", f"{lms.url}/token")
    assert 0 < claims["exp"] - claims["iat"] <= 3600
    new_key(place.root)
    run("--send", code=1)
    assert lms.scores == []


def test_one_that_is_refused_is_named_and_stops_nobody(lms, run):
    lms.refuses.add("u1")
    said = run("--send", "--by-name", code=1)
    assert [score["userId"] for score in lms.scores] == ["u3"]
    assert "Sent: 1 final mark, out of 6." in said
    assert re.search("NOT SENT: ada: .*403", said)


def test_settings_that_are_not_whole_are_said_in_words(place, run):
    path = place.root / "grading" / "lti.json"
    facts = json.loads(path.read_text())
    path.write_text(json.dumps({key: value for key, value in facts.items() if "nrps" not in key}))
    assert "says nothing of memberships" in run(code=2)
    path.write_text(json.dumps(facts | {"token_url": "http://lms.example/token"}))
    assert "https://" in run(code=2)
    path.unlink()
    assert "lti.json; it needs client_id, token_url, key" in run(code=2)
    made = json.loads(run("--jwk"))  # it is asked for before there are settings
    assert (made["kty"], made["e"], made["alg"]) == ("RSA", "AQAB", "RS256")
    assert len(decoded(made["n"])) == 256
    (place.root / "grading" / "lti.pem").unlink()
    assert "openssl genrsa -out" in run("--jwk", code=2)
