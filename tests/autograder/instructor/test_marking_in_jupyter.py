"""The marking page in a real Jupyter server, as a hub starts one: below an address of its own, for who may use it."""

import re

import pytest
import requests

from autograder.commands.mark import mark
from autograder.grading import vectors
from autograder.grading.course import Course
from tests.autograder.courses import ANSWERS, ROOT, env, writes
from tests.autograder.grading import fake
from tests.lab import PATIENCE, running_lab

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore"), pytest.mark.timeout(600)]
BASE = "/user/prof/"


@pytest.fixture(scope="module")
def course(plain_template, tmp_path_factory):
    handed_in = dict.fromkeys(("ada", "bob"), writes(ANSWERS))
    return Course.load(fake.graded(plain_template, tmp_path_factory.mktemp("inside") / "course", handed_in))


@pytest.fixture(scope="module")
def server(course, tmp_path_factory):
    """(its address, the token that lets in)."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(ROOT))
        with running_lab(course.root, tmp_path_factory.mktemp("jupyter"), BASE.rstrip("/")) as (url, token):
            yield f"{url}/", token


def test_who_may_use_the_server_marks_there_and_nobody_else(server, course):
    address, token = server
    assert "/login?" in requests.get(f"{address}mark/plain/", timeout=30).url
    one = requests.Session()
    assert "plain/" in one.get(f"{address}mark/?token={token}", timeout=60).text
    assert f'href="{BASE}mark/"' in one.get(f"{address}formgrader/gradebook", timeout=60).text
    page = one.get(f"{address}mark/plain/", timeout=60)
    assert "addition is repeated" in page.text
    assert page.url.startswith(f"{address}mark/plain/0/")
    assert "default-src 'none'; script-src 'self'" in page.headers["Content-Security-Policy"]
    for name in re.findall(r'(?:href|src)="([^"]+mark\.(?:css|js))"', page.text):
        assert one.get(address.removesuffix(BASE) + name, timeout=30).status_code == 200
    fields = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', page.text))
    fields |= {"points": "3", "words": "Yes."}
    assert one.post(page.url, {**fields, "_xsrf": "x"}, timeout=30).status_code == 403
    assert requests.post(page.url, fields, timeout=30).status_code == 403
    order = {"_xsrf": fields["_xsrf"], "order": "alike"}
    assert requests.post(f"{address}mark/plain/0/order", order, timeout=30).status_code == 403
    grouped = one.post(f"{address}mark/plain/0/order", order, timeout=120 * PATIENCE)
    assert "Not saved" not in grouped.text
    assert (course.root / "grading" / "plain" / vectors.FILE).is_file()
    done = one.post(page.url, {**fields, "alike": "yes"}, timeout=30)
    assert done.status_code == 200
    assert "Every answer has a mark." in done.text or "3 points saved" in done.text
    assert one.get(f"{address}mark/none/", timeout=30).status_code == 404
    with course.gradebook() as book:
        given = [book.find_grade("why", "one", "plain", student).manual_score for student in ("ada", "bob")]
    assert given == [3.0, 3.0]


def test_in_a_hubs_terminal_the_command_says_where_that_is(course, monkeypatch, call):
    monkeypatch.setenv("JUPYTERHUB_SERVICE_PREFIX", BASE)
    assert f"{BASE}mark/plain/" in call(mark, env(course.root), "plain")
