"""The desk, asked over a socket: who is who, what is told, and what is not."""

import asyncio
import hashlib
import json
import shutil
import urllib.request
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import nbformat
import pytest

from autograder.commands.ask import ask, hand_in
from autograder.commands.ask import sent as sent_to
from autograder.extras.desk import receipts, trial, window
from autograder.extras.desk.ledger import Ledger
from autograder.grading.course import Course
from autograder.grading.plan import plan_notebook
from autograder.grading.seeds import course_secret
from autograder.question.find import exercises_of
from solutions.attention.checks import EXERCISES
from tests.autograder.courses import FakeBox, copy, env
from tests.autograder.instructor.visitor import served

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]
FUNCTIONS = {"dot_score": lambda query, keys: keys @ query}


@pytest.fixture(scope="module")
def course(own_template, tmp_path_factory):
    made = Course.load(copy(own_template, tmp_path_factory.mktemp("desk") / "own"))
    with made.gradebook() as gradebook:
        gradebook.update_or_create_student("ada")
        gradebook.update_or_create_student("bob")
    return made


@pytest.fixture
def made(course, tmp_path):
    return window.Window(course, ["attention"], Ledger(tmp_path, 2), takes=True)


@pytest.fixture
def address(made, monkeypatch):
    """A desk that answers."""
    monkeypatch.setattr(trial, "shared_box", lambda isolation: FakeBox(lambda name, function: FUNCTIONS.get(function)))
    with served(lambda say: window.serve(made, "127.0.0.1", 0, say)) as where:
        yield where.rstrip("/")


@pytest.fixture
def notebook(course):
    return course.root / "exercises" / "attention" / "attention.ipynb"


def sent(address: str, notebook: Path, question: str, token: str) -> dict:
    return sent_to(f"{address}/check", token, notebook.name, notebook.read_bytes(), question)


def token(course: Course, student: str) -> str:
    return window.token_of(course_secret(course.root), student)


def test_a_right_answer_holds_and_the_ration_is_said_and_kept(course, address, notebook, tmp_path):
    answer = sent(address, notebook, "attention.dot_score", token(course, "ada"))
    assert answer["holds"], answer
    assert answer["left"] == 1
    assert all(each["holds"] for each in answer["properties"])
    assert answer["student"] == "ada"
    assert sent(address, notebook, "dot_score", token(course, "ada"))["left"] == 0  # by its function's name
    refused = sent(address, notebook, "attention.dot_score", token(course, "ada"))
    assert "2 a day for each question" in refused["error"]
    assert sent(address, notebook, "attention.dot_score", token(course, "bob"))["left"] == 1
    rows = (tmp_path / "grading" / "desk" / "attention" / "ada.jsonl").read_text().splitlines()
    assert len(rows) == 2


def test_a_known_mistake_is_named_and_no_input_is_told(course, address, notebook, monkeypatch):
    exercise = EXERCISES["attention.dot_score"]
    mistake = exercise.misconceptions[0]
    monkeypatch.setitem(FUNCTIONS, "dot_score", mistake.implementation)
    answer = sent(address, notebook, "attention.dot_score", token(course, "ada"))
    assert not answer["holds"]
    assert mistake.sentence in answer["words"]
    assert set(answer) == {"student", "question", "holds", "properties", "words", "left", "limit", "reset", "said"}
    assert {key for each in answer["properties"] for key in each} == {"name", "holds"}
    assert "tensor" not in json.dumps(answer)


def test_the_seed_is_not_that_of_the_marks(course):
    """What the desk tells is not about the inputs that count."""
    seen = []
    box = FakeBox(lambda name, function: FUNCTIONS.get(function))
    run = box.run
    box.run = lambda job: seen.append(job) or run(job)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trial, "shared_box", lambda isolation: box)
        asked = trial.chosen(course, "attention", "attention.dot_score")
        notebook = (course.root / "exercises" / "attention" / "attention.ipynb").read_bytes()
        trial.tried(course, "attention", "ada", asked, notebook)
    cells = [dict(cell) for cell in nbformat.reads(notebook.decode(), as_version=4).cells]
    cells = [{**c, "source": m.source} if (m := _master(course, c)) else c for c in cells]
    place = ("attention", "attention", "ada")
    graded = plan_notebook("x", cells, exercises_of("attention"), course_secret(course.root), place, {})
    mine = next(c for c in seen[0].cells if c.interviews).interviews[0].calls
    theirs = next(c for c in graded.job.cells if c.id == "check_dot_score").interviews[0].calls
    assert len([c for c in seen[0].cells if c.interviews]) == 1
    assert repr(mine) != repr(theirs)


def _master(course, cell):
    (master,) = course.masters("attention")
    name = cell["metadata"].get("nbgrader", {}).get("grade_id")
    return next((c for c in master.cells if c.id == name and c.test), None)


@pytest.mark.parametrize("wrong", ["", "0" * 32, "x" * 5000, "ada", "../../etc"])
def test_nobody_without_a_token(course, address, notebook, wrong):
    assert "token is not known" in sent(address, notebook, "attention.dot_score", wrong)["error"]


def test_what_cannot_be_run_is_said_and_not_counted(course, address, notebook, tmp_path):
    bad = tmp_path / "n.ipynb"
    bad.write_text("{")
    assert "not counted" in sent(address, bad, "attention.dot_score", token(course, "ada"))["error"]
    assert "there are: attention.dot_score" in sent(address, notebook, "nonsense", token(course, "ada"))["error"]
    assert sent(address, notebook, "attention.dot_score", token(course, "ada"))["left"] == 1


@pytest.fixture
def home(tmp_path):
    """A student's own copy."""
    return env(tmp_path / "home")


@pytest.fixture
def hands_in(home, call):
    """`hand-in …` at home: what it says."""
    return partial(call, hand_in, home)


def test_the_students_command_and_the_page(course, address, notebook, home, tmp_path, call):
    words = [notebook, "attention.dot_score", "--desk", address, "--token", token(course, "bob")]
    assert "holds on hidden inputs" in call(ask, home, *words)
    assert "your token" in call(ask, env(tmp_path / "other"), *words[:4], code=2)
    call(ask, home, *words[:3], "http://127.0.0.1:1", *words[4:], code=1)
    page = urllib.request.urlopen(address + "/").read().decode()
    assert "2 a day for each question" in page


def handed_in(course: Course, student: str) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in course.submission(student, "attention").glob("*")}


def test_who_hands_in_gets_a_receipt_and_sees_it_again(course, address, notebook, home, hands_in):
    mine = home.root / "work" / "attention" / "attention.ipynb"
    mine.parent.mkdir(parents=True)
    mine.write_bytes(notebook.read_bytes())
    first = hands_in(mine, "--desk", address, "--token", token(course, "ada"))
    digest = hashlib.sha256(mine.read_bytes()).hexdigest()
    assert digest in first
    assert handed_in(course, "ada")["attention.ipynb"] == mine.read_bytes()
    # desk and token are known now; nothing has changed
    again = json.loads(hands_in(mine, "--json"))["receipts"][0]
    assert datetime.fromisoformat(again["time"]).strftime("%H:%M:%S") in first
    when = handed_in(course, "ada")["timestamp.txt"].decode().strip()
    assert datetime.strptime(when, "%Y-%m-%d %H:%M:%S UTC").replace(tzinfo=UTC) == datetime.fromisoformat(again["time"])
    assert (home.root / "work" / ".desk.json").stat().st_mode & 0o77 == 0

    mine.write_text(mine.read_text().replace("raise NotImplementedError", "return None #", 1))
    hands_in(mine)
    assert handed_in(course, "ada")["attention.ipynb"] == mine.read_bytes()
    (earlier,) = (course.submission("ada", "attention").parent / ".earlier" / "attention").iterdir()
    assert (earlier / "attention.ipynb").read_bytes() == notebook.read_bytes()
    known = json.loads(hands_in("--json"))["receipts"]
    assert [each["sha256"] for each in known] == [digest, hashlib.sha256(mine.read_bytes()).hexdigest()]
    assert len([*mine.parents[1].glob("handed-in/*.txt")]) == 2
    assert sent_to(f"{address}/receipts", token(course, "bob"))["receipts"] == []


def test_a_desk_that_cannot_be_reached_costs_nothing(course, address, notebook, home, hands_in):
    away = ["--desk", "http://127.0.0.1:1", "--token", token(course, "bob")]
    said = hands_in(notebook, *away, code=1)
    assert "does not answer" in said
    (kept,) = (home.root / "work" / "handed-in").glob("*.ipynb")
    assert str(kept) in said
    assert kept.read_bytes() == notebook.read_bytes()
    hands_in(notebook, code=2)  # an address that did not answer is not kept
    hands_in(notebook, "--desk", address, *away[2:])
    (receipt,) = (home.root / "work" / "handed-in").glob("*.txt")
    assert receipt.read_text().splitlines()[0] in hands_in(*away, code=1)


def test_what_cannot_be_graded_is_taken_and_said(course, address, tmp_path):
    answer = sent_to(f"{address}/hand-in", token(course, "bob"), "attention.ipynb", b"{")
    assert "CANNOT BE GRADED" in "".join(answer["said"])
    assert handed_in(course, "bob")["attention.ipynb"] == b"{"


@pytest.mark.parametrize("name", ["other.ipynb", "../attention.ipynb", "attention.txt", ""])
def test_a_notebook_of_another_name_is_not_taken(course, address, name):
    before = handed_in(course, "bob")
    answer = sent_to(f"{address}/hand-in", token(course, "bob"), name, b"{}")
    assert "attention.ipynb" in answer.get("error", "") or "Send a notebook" in answer["error"]
    assert handed_in(course, "bob") == before


def test_a_notebook_that_the_desk_refuses_is_not_kept_as_if_it_were_to_be_sent_again(
    course, address, home, hands_in, tmp_path
):
    other = tmp_path / "attention-Copy1.ipynb"
    other.write_text("{}")
    said = hands_in(other, "--desk", address, "--token", token(course, "bob"), code=1)
    assert "there are: attention.ipynb" in said
    assert "handed-in" not in said
    assert not [*(home.root / "work" / "handed-in").iterdir()]


def test_the_same_notebook_that_came_in_some_other_way_has_the_time_at_which_it_came(course, made, address, notebook):
    before = "2026-01-02 03:04:05"
    folder = course.submission("bob", "attention")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    shutil.copy(notebook, folder)
    (folder / "timestamp.txt").write_text(f"{before} UTC")
    (receipt,) = sent_to(f"{address}/hand-in", token(course, "bob"), notebook.name, notebook.read_bytes())["receipts"]
    assert receipt["time"] == f"{before.replace(' ', 'T')}+00:00"
    assert (folder / "timestamp.txt").read_text() == f"{before} UTC"


def test_a_refusal_keeps_what_was_handed_in_before(course, made, address, notebook, home, hands_in):
    hands_in(notebook, "--desk", address, "--token", token(course, "ada"))
    kept = sorted(path.name for path in (home.root / "work" / "handed-in").iterdir())
    made.takes = False
    hands_in(notebook, code=1)
    assert sorted(path.name for path in (home.root / "work" / "handed-in").iterdir()) == kept
    assert len(kept) == 2


def test_what_a_killed_desk_left_is_removed(course):
    left = course.submitted / ".hand-in-x.writing"
    left.mkdir(parents=True)
    receipts.sweep(course)
    assert not left.exists()


def test_a_desk_takes_nothing_unless_it_is_told_to(course, made, address, notebook):
    made.takes = False
    before = handed_in(course, "ada")
    answer = sent_to(f"{address}/hand-in", token(course, "ada"), notebook.name, notebook.read_bytes() + b" ")
    assert "Nothing is handed in here" in answer["error"]
    assert handed_in(course, "ada") == before


def test_tokens_are_for_their_owner_alone(course):
    path = window.write_tokens(course, ["ada", "bob"])
    assert path.stat().st_mode & 0o77 == 0
    rows = path.read_text().splitlines()
    assert rows[0] == "student,token"
    assert rows[1] == f"ada,{token(course, 'ada')}"


def test_on_a_hub_the_hub_says_who_it_is(course, tmp_path):
    class Hub(window.Hub):
        async def who(self, token: str) -> str:
            return {"t" * 32: "ada", "u" * 32: "stranger"}.get(token, "")

    made = window.Window(course, ["attention"], Ledger(tmp_path, 2), Hub("http://hub"))
    assert [asyncio.run(made.who(each * 32)) for each in "tuv"] == ["ada", "", ""]
    assert window.Hub.around({}) is None
    about = {"JUPYTERHUB_API_URL": "http://x/hub/api/", "JUPYTERHUB_SERVICE_PREFIX": "/services/desk/"}
    assert window.Hub.around(about) == window.Hub("http://x/hub/api", "/services/desk/")
