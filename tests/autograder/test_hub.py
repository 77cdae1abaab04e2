"""A real JupyterHub, as `hub` sets it up: two students and the instructor, by PAM, each server in its own account."""

import getpass
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
import requests
from traitlets.config import Config

import autograder.extras.hub as hub_module
from autograder.grading.course import Course
from tests.autograder.accounts import Machine, Visitor, why_not
from tests.autograder.answers import sources
from tests.autograder.courses import ROOT, checkout

ASSIGNMENT, COURSE = "attention", "neural-language-models"
pytestmark = [
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.skipif(os.name == "nt", reason="a hub needs the accounts of a Unix machine"),
]


def free_port() -> int:
    """A port whose neighbours (+ 1, + 81) are free too."""
    while True:
        with socket.socket() as first:
            first.bind(("127.0.0.1", 0))
            port = first.getsockname()[1]
        if port < 65000 and not any(answers(port + n) for n in (0, 1, 81)):
            return port


def answers(port: int) -> bool:
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture(scope="module")
def machine() -> Iterator[Machine]:
    pytest.importorskip("jupyterhub", reason="jupyterhub is not installed (the extra `hub`)")
    pytest.importorskip("configurable_http_proxy", reason="configurable-http-proxy is not installed (the extra `hub`)")
    if reason := why_not():
        pytest.skip(reason)
    folder = Path(tempfile.mkdtemp(prefix="nlm-hub-", dir="/tmp"))
    folder.chmod(0o755)
    machine = Machine(folder, ["prof", "tutor", "ada", "bob"])
    try:
        yield machine
    finally:
        machine.end()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def course(machine: Machine) -> Path:
    """The instructor's checkout, with one assignment and one lecture so that it is soon built."""
    course = checkout(machine.home("prof") / "nlm", ASSIGNMENT)
    machine.give(course, "prof")
    return course


@pytest.fixture(scope="module")
def hub(machine: Machine, course: Path) -> Iterator[str]:
    folder, port = machine.folder / "srv", free_port()
    folder.mkdir()
    machine.give(folder, "prof")
    words = [sys.executable, "-m", "autograder", "hub", "--ready", "--here", "--", folder, "--port", port]
    code, said = machine.run("prof", *words, "--grader", "tutor", cwd=course, PYTHONPATH=str(course))
    assert code == 0, said
    assert f"{course} can now be read by prof alone" in said
    (folder / "course" / ".venv").symlink_to(sys.prefix)
    config = folder / "jupyterhub_config.py"
    with open(machine.folder / "hub.log", "w") as log:
        line = machine.line("root", [sys.executable, "-m", "jupyterhub", "--config", config])
        clean = {"PATH": os.environ["PATH"], "HOME": "/root"}
        process = subprocess.Popen(line, stdout=log, stderr=log, cwd=machine.folder, env=clean)
    try:
        address, until = f"http://127.0.0.1:{port}", time.monotonic() + 120
        while not (answers(port) and requests.get(f"{address}/hub/health", timeout=60).ok):
            assert process.poll() is None, (machine.folder / "hub.log").read_text()[-3000:]
            assert time.monotonic() < until, (machine.folder / "hub.log").read_text()[-3000:]
            time.sleep(0.5)
        yield address
    finally:
        process.terminate()  # it ends its proxy and everybody's server
        process.wait(60)


def write_answers(visitor: Visitor) -> None:
    """As JupyterLab saves a notebook."""
    path = f"api/contents/{ASSIGNMENT}/{ASSIGNMENT}.ipynb"
    notebook = nbformat.from_dict(visitor.told("GET", path)["content"])
    right = sources(ASSIGNMENT)
    for cell in notebook.cells:
        name = cell.metadata.get("nbgrader", {}).get("grade_id")
        if name in right:
            cell.source = right[name]
    visitor.told("PUT", path, json={"type": "notebook", "content": notebook})


@pytest.mark.slow
@pytest.mark.everything
@pytest.mark.timeout(1800)
def test_a_class_works_on_a_hub(hub: str, machine: Machine, course: Path) -> None:
    assert Visitor(hub, "ada", "a wrong password").answer.status_code == 403
    prof, ada, bob = (Visitor(hub, name) for name in ("prof", "ada", "bob"))
    for person in (prof, ada, bob):
        person.start(person.name)
    about = {"course_id": COURSE, "assignment_id": ASSIGNMENT}

    # out: released by Formgrader's button, fetched and handed in from the list of assignments
    prof.told("POST", f"formgrader/api/assignment/{ASSIGNMENT}/release")
    for student in (ada, bob):
        listed = student.told("GET", "assignments", params={"course_id": COURSE})["value"]
        assert [(one["assignment_id"], one["status"]) for one in listed] == [(ASSIGNMENT, "released")]
        student.told("POST", "assignments/fetch", data=about)
        if student is ada:
            write_answers(student)
        student.told("POST", "assignments/submit", data=about)
        assert student.ask("GET", "formgrader").status_code == 404, "students have no Formgrader"

    # back: collected, graded by the button and by the command, feedback
    prof.told("POST", f"formgrader/api/assignment/{ASSIGNMENT}/collect")
    prof.told("POST", f"formgrader/api/submission/{ASSIGNMENT}/ada/autograde")
    verbs = [sys.executable, "-m", "autograder"]
    line = [*verbs, "grade", "--ready", "--here", "--", ASSIGNMENT]
    code, said = machine.run("prof", *line, cwd=course, PYTHONPATH=str(course))
    assert code == 0, said
    assert "bob: 0 of" in said
    marks = {one["student"]: one for one in prof.told("GET", f"formgrader/api/submissions/{ASSIGNMENT}")}
    assert marks["ada"]["code_score"] == marks["ada"]["max_code_score"] > 0 == marks["bob"]["code_score"]
    prof.told("POST", f"formgrader/api/assignment/{ASSIGNMENT}/generate_feedback")
    prof.told("POST", f"formgrader/api/assignment/{ASSIGNMENT}/release_feedback")
    for student in (ada, bob):
        student.told("POST", "assignments/fetch_feedback", data=about)
        pages = list(machine.home(student.name).glob(f"course/{ASSIGNMENT}/feedback/*/{ASSIGNMENT}.html"))
        ours = course / "feedback" / student.name / ASSIGNMENT / f"{ASSIGNMENT}.html"
        assert [page.read_bytes() for page in pages] == [ours.read_bytes()]

    # marked by hand in the browser, by whoever may open the course's server
    start = f"{hub}/user/prof/mark/{ASSIGNMENT}/"
    found = re.search(r'href="(/user/prof/mark/attention/0/[0-9a-f]+)"', prof.session.get(start, timeout=600).text)
    one = f"{hub}{found[1]}"
    form = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', prof.session.get(one, timeout=600).text))
    assert prof.session.post(one, form | {"points": "3"}, headers={"Referer": one}, timeout=600).ok
    assert "3 of 4 points, given by prof" in prof.session.get(one, timeout=600).text
    assert not ada.session.get(start, timeout=60).ok
    assert ada.ask("GET", "mark").status_code == 404, "students have nothing to mark"

    # apart: neither through the hub, nor on the disk
    assert ada.ask("GET", "api/contents", whose="bob").status_code in (302, 403)
    assert ada.session.get(f"{hub}/user/bob/api/contents", timeout=60).status_code == 403
    for student, other in (("ada", "bob"), ("bob", "ada")):
        theirs, ours = machine.folder / "srv" / "exchange" / COURSE, (course / "solutions", course / "gradebook.db")
        for place in (machine.home(other) / "course", *ours, theirs / "inbound", theirs / "feedback"):
            assert place.exists()
            assert machine.run(student, "ls", place / ".")[0] != 0, f"{student} can see {place}"
        for place in ("course/lectures", "course/autograder", "jupyter", "state", "exchange/neural-language-models"):
            assert machine.run(student, "touch", machine.folder / "srv" / place / "x")[0] != 0, place
    assert (machine.home("ada") / "course/lectures/01_language_models.ipynb").is_file()
    assert not list((machine.folder / "srv" / "course").rglob("solutions"))

    # who was named as grader opens the course's server; a student does not
    tutor = Visitor(hub, "tutor")
    tutor.start("prof")
    assert tutor.ask("GET", f"formgrader/api/submissions/{ASSIGNMENT}", whose="prof").ok
    assert not ada.session.get(f"{hub}/user/prof/formgrader/api/submissions/{ASSIGNMENT}", timeout=60).ok


# --- what is written, without a hub -----------------------------------------------------------------------


@pytest.fixture
def copied(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub_module, "_students_copy", lambda root, folder: folder / "course")


def test_the_files_are_written_and_the_course_is_closed_to_others(plain: Path, tmp_path: Path, copied: None) -> None:
    plain.chmod(0o755)
    shutil.copy(ROOT / "pyproject.toml", plain)
    folder = tmp_path / "it's here"
    page, done, trouble = hub_module.set_up(Course.load(plain), folder, graders=["eve"], port=9000)
    assert plain.stat().st_mode & 0o777 == 0o700
    assert len(done) == 1
    assert [words for words in trouble if "belongs to root" not in words and "cannot enter" not in words] == []
    assert "jupyterhub>=" in page.read_text()
    assert (folder / "exchange").stat().st_mode & 0o7777 == 0o1777
    c = Config()
    exec((folder / "jupyterhub_config.py").read_text(), {"get_config": lambda: c})
    assert c.JupyterHub.bind_url == "http://127.0.0.1:9000"
    assert c.JupyterHub.load_roles[0]["users"] == ["eve"]
    owner, student = (Config(user=Config(name=name)) for name in (getpass.getuser(), "ada"))
    for one in (owner, student):
        c.Spawner.pre_spawn_hook(one)
    assert owner.notebook_dir == str(plain)
    assert "notebook_dir" not in student
    for line in (c.Spawner.cmd, owner.cmd):
        assert subprocess.run(["/bin/sh", "-n", "-c", line[2]]).returncode == 0


def test_the_hubs_folder_lies_outside_the_course(plain: Path, copied: None) -> None:
    for folder in (plain / "hub", plain.parent):
        with pytest.raises(ValueError, match="outside the course"):
            hub_module.set_up(Course.load(plain), folder)
