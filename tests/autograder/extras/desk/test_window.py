"""The desk, asked over a socket: who is who, what is told, and what is not."""

import asyncio
import json
import threading
from pathlib import Path

import nbformat
import pytest

from autograder.commands.ask import _sent, ask
from autograder.extras.desk import trial, window
from autograder.extras.desk.ledger import Ledger
from autograder.grading.course import Course
from autograder.grading.seeds import course_secret
from autograder.launcher.environment import Environment
from tests.autograder.courses import FakeBox

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]
FUNCTIONS = {"dot_score": lambda query, keys: keys @ query}


@pytest.fixture(scope="module")
def course(own_template, tmp_path_factory):
    from tests.autograder.courses import copy

    made = Course.load(copy(own_template, tmp_path_factory.mktemp("desk") / "own"))
    with made.gradebook() as gradebook:
        gradebook.update_or_create_student("ada")
        gradebook.update_or_create_student("bob")
    return made


@pytest.fixture
def address(course, monkeypatch, tmp_path):
    """A desk that answers."""
    monkeypatch.setattr(trial, "shared_box", lambda isolation: FakeBox(lambda name, function: FUNCTIONS.get(function)))
    made = window.Window(course, ["attention"], Ledger(tmp_path, 2))
    found: list[str] = []
    ready = threading.Event()
    loop = asyncio.new_event_loop()

    def say(where: str) -> None:
        found.append(where)
        ready.set()

    async def run() -> None:
        await window.serve(made, "127.0.0.1", 0, say)

    task = loop.create_task(run())

    def go() -> None:
        asyncio.set_event_loop(loop)
        try:
            loop.run_until_complete(task)
        except asyncio.CancelledError:
            pass
        finally:
            loop.close()

    thread = threading.Thread(target=go)
    thread.start()
    assert ready.wait(20)
    yield found[0].rstrip("/")
    loop.call_soon_threadsafe(task.cancel)
    thread.join(20)


@pytest.fixture
def notebook(course):
    return course.root / "exercises" / "attention" / "attention.ipynb"


def sent(address: str, notebook: Path, question: str, token: str) -> dict:
    return _sent(f"{address}/check", notebook.read_bytes(), question, token)


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
    from solutions.attention.checks import EXERCISES

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
    from autograder.grading.plan import plan_notebook
    from autograder.question.find import exercises_of

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


def test_the_students_command_and_the_page(course, address, notebook, capsys):
    import urllib.request

    place = Environment(course.root, Path("/usr"), Path("/usr/bin/python3"), Path("/usr/lib"))
    words = [str(notebook), "attention.dot_score", "--desk", address, "--token", token(course, "bob")]
    assert ask(place, words) == 0
    assert "holds on hidden inputs" in capsys.readouterr().out
    assert ask(place, [str(notebook), "attention.dot_score", "--desk", address]) == 2
    assert "your token" in capsys.readouterr().err
    assert ask(place, [*words[:3], "http://127.0.0.1:1", *words[4:]]) == 1
    page = urllib.request.urlopen(address + "/").read().decode()
    assert "2 a day for each question" in page


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
