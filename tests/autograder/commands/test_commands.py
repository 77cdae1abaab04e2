"""The commands: what they say, what their exit codes mean."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import pytest

import autograder.grading.execute as execute_module
import autograder.grading.run as run_module
from autograder.commands import shared
from autograder.commands.around import feedback, preflight
from autograder.commands.checking import Checking, check
from autograder.commands.grade import grade
from autograder.commands.library import mine
from autograder.commands.marks import report
from autograder.commands.running import SURE, Pace
from autograder.grading.course import Course
from autograder.grading.execute import Done
from autograder.launcher import verbs
from solutions.attention.checks import EXERCISES
from tests.autograder.courses import ANSWERS, ROOT, hand_in, nothing, writes
from tests.autograder.grading import fake

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]
NAMES = [name for name, verb in verbs.VERBS.items() if verb.run.startswith("commands.")]


@pytest.fixture
def class_of_three(place):
    hand_in(place.root, "plain", "ada", writes(ANSWERS))
    hand_in(place.root, "plain", "bob", nothing)
    gone = hand_in(place.root, "plain", "eve", writes(ANSWERS))
    (gone / "one.ipynb").write_text("{")
    return place


def test_grade_counts_tells_the_limits_and_what_to_do_next(class_of_three, call):
    said = call(grade, class_of_three, "plain", code=1)  # one is not gradable
    assert "Limits per notebook: 300 s of processor time" in said
    assert "ada: 5 of 10, and 4 for a human to give" in said  # no box here, and so no files
    counts = "3 submissions: 2 graded, 1 not gradable, 0 failed through the grader's fault; 3 of them in this run."
    assert counts in said
    assert "Not gradable, which is not a zero: eve." in said
    assert "The marks, and the class: python3 -m autograder report plain" in said
    assert "1 submission: 1 graded, 0 not gradable" in call(grade, class_of_three, "plain", "--student", "ada")


def test_who_handed_in_nothing_is_named_everywhere_and_has_no_zero(class_of_three, call):
    with Course.load(class_of_three.root).gradebook() as gradebook:
        for student in ("ada", "yui"):
            gradebook.add_student(student)
        gradebook.add_student("zoe", first_name="Zoë", last_name="Ng")
    assert "Nothing handed in" not in call(grade, class_of_three, "plain", "--student", "ada")  # one was asked for
    nobody = "Nothing handed in, which is not a zero: 2: yui, zoe (Zoë Ng)."
    assert nobody in call(grade, class_of_three, "plain", code=1)
    assert '"nothing handed in": [\n   "yui",\n   "zoe"' in call(grade, class_of_three, "plain", "--json", code=1)
    said = call(report, class_of_three, "plain")
    assert "2 nothing handed in" in said
    assert "Nothing handed in: yui, zoe (Zoë Ng)." in said
    lines = (class_of_three.root / "grading/plain/report.csv").read_text(encoding="utf-8-sig").splitlines()
    assert next(line for line in lines if line.startswith("zoe,")).split(",")[4:6] == ["nothing handed in", ""]
    page = (class_of_three.root / "grading/plain/overview.html").read_text(encoding="utf-8")
    assert "Nothing handed in: 2</h3><p>yui, zoe (Zoë Ng)." in page


def test_grade_speaks_json(class_of_three, call):
    first, rest = call(grade, class_of_three, "plain", "--student", "ada", "--json").split("\n", 1)
    assert json.loads(first)["scores"]["one"]["test_double"] == 3.0
    assert json.loads(rest)["summary"]["graded"] == 1


def test_what_is_not_isolated_is_said_line_by_line(class_of_three, call, monkeypatch):
    def loose(task):
        done = fake.work(task)
        results = {n: text.replace('"isolation": "fake"', '"isolation": "none"') for n, text in done.results.items()}
        return Done(student=done.student, results=results)

    monkeypatch.setattr(run_module, "work", loose)
    said = call(grade, class_of_three, "plain", "--student", "ada", "--isolation", "none")
    assert "without isolation" in said
    assert "[NOT ISOLATED]" in said
    assert "1 ran WITHOUT ISOLATION" in said


def test_no_isolation_unless_it_is_asked_for(class_of_three, call, monkeypatch):
    from autograder.sandbox import tiers

    monkeypatch.setattr(tiers, "bubblewrap_fault", lambda: "no bwrap")
    monkeypatch.setattr(tiers, "landlock_fault", lambda: "no Landlock")
    assert "--isolation none" in call(grade, class_of_three, "plain", code=1)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["maths"], "knows no assignment 'maths'"),
        (["plain", "--student", "zoe"], "nothing was handed in for plain by zoe"),
        (["plain", "--course", "/nowhere"], "has no nbgrader_config.py"),
    ],
)
def test_misuse_is_2(class_of_three, call, words, said):
    assert said.lower() in call(grade, class_of_three, *words, code=2).lower()


@pytest.mark.parametrize("words", [[], ["plain", "--jobs", "0"], ["plain", "--jobs", "x"]])
def test_misuse_of_options_is_2(place, words):
    with pytest.raises(SystemExit) as stop:
        grade(place, words)
    assert stop.value.code == 2


@pytest.mark.parametrize("name", NAMES)
def test_help_has_examples_and_needs_nothing_installed(name):
    line = [sys.executable, "-S", "-m", "autograder", name, "--help"]
    done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "examples" in done.stdout
    assert f"python3 -m autograder {name} " in done.stdout
    assert max(map(len, done.stdout.split("\n"))) <= 80
    assert verbs.help_of(name) == done.stdout.rstrip("\n") + "\n"


def test_it_is_said_when_a_second_worker_would_pay(monkeypatch):
    monkeypatch.setattr("os.cpu_count", lambda: 2)

    def run(jobs, start, each, count, number=SURE):
        pace = Pace(jobs, 0.0)
        said = [pace.after(count - n - 1, start + n * each) for n in range(number)]
        return "".join(said), pace.in_the_end()

    said, end = run(1, 8.0, 0.5, 500)
    assert said.startswith("About 246 s are left. A second worker takes about 8 s to start and could save up to 115 s")
    assert end == ""
    assert run(1, 8.0, 0.5, 100) == ("", "")  # 46 s are left
    assert run(1, 8.0, 0.5, 500, SURE - 1) == ("", "")  # its pace is not known yet
    assert run(2, 8.0, 0.5, 500)[0] == ""
    assert "one is about as quick" in run(2, 20.0, 0.3, 10)[1]
    assert run(2, 8.0, 0.5, 500, 100)[1] == ""
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    assert run(1, 8.0, 0.5, 500) == ("", "")


def test_preflight_says_what_is_wrong_and_changes_nothing(class_of_three, call):
    before = sorted(class_of_three.root.rglob("*"))
    said = call(preflight, class_of_three, "plain", code=1)
    assert "NOT GRADABLE" in said
    assert "one.ipynb" in said
    assert preflight(class_of_three, ["plain", "--student", "ada"]) == 0
    assert preflight(class_of_three, ["plain", "--student", "ada", "--json"]) == 0
    assert sorted(class_of_three.root.rglob("*")) == before


def test_feedback_and_report_write_files(class_of_three, call):
    grade(class_of_three, ["plain"])
    pages = [Path(path).is_file() for path in json.loads(call(feedback, class_of_three, "plain", "--json"))]
    assert {*pages} == {True}
    assert feedback(class_of_three, ["plain", "--student", "zoe"]) == 2
    marks = class_of_three.root / "marks.csv"
    assert "3 students: 3 waiting for a person." in call(report, class_of_three, "plain", "--out", marks)
    assert "ada" in marks.read_text()
    without = "Without a mark, which is not a zero: ada, bob, eve. Nothing is written for them."
    assert without in call(report, class_of_three, "plain", "--lms", "moodle")
    assert "Automatic points alone, out of 10: no final marks." in call(report, class_of_three, "plain", "--automatic")
    assert report(class_of_three, ["plain", "--out-of", "100"]) == 2
    assert report(class_of_three, ["plain", "--lms", "canvas", "--format", "json"]) == 2


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_ctrl_c_stops_at_once_and_the_same_command_goes_on(class_of_three, monkeypatch, call):
    def interrupted(task):
        if task.student == "bob":
            os.kill(os.getpid(), signal.SIGINT)
        return fake.work(task)

    heard = signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever runs in the background ignores it
    try:
        with monkeypatch.context() as patch:
            patch.setattr(run_module, "work", interrupted)
            said = call(grade, class_of_three, "plain", code=130)
    finally:
        signal.signal(signal.SIGINT, heard)
    assert "Stopped: 1 of 3 are done, and stay so. The same command resumes." in said
    assert "2 of them in this run" in call(grade, class_of_three, "plain", code=1)


def test_as_a_program_ctrl_c_ends_it_in_the_middle_of_a_notebook(class_of_three, call):
    ready, begun = os.pipe()

    def endless(task):
        if task.student != "bob":
            return fake.work(task)
        os.write(begun, b"x")
        while True:
            time.sleep(0.01)

    child = os.fork()
    if child == 0:
        try:
            execute_module._boxes.clear()  # those of the process that runs the tests
            run_module.work = endless
            shared.own_process = lambda: True
            grade(class_of_three, ["plain"])
        finally:
            os._exit(99)
    assert os.read(ready, 1) == b"x"
    os.kill(child, signal.SIGINT)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 130
    assert "2 of them in this run" in call(grade, class_of_three, "plain", code=1)


def test_a_students_library_is_shown_wherever_it_is(tmp_path, call):
    (tmp_path / "decoding").mkdir()
    (tmp_path / "decoding/greedy.py").write_text("def greedy(log_probs, start, eos, longest):\n    return [start]\n")
    assert "1 of" in call(mine, None, "--folder", tmp_path)


# --- check --------------------------------------------------------------------------------------------------


@pytest.fixture
def checked(place, call):
    return lambda notebook, *words, code=1: json.loads(call(check, place, notebook, "--json", *words, code=code))


@pytest.mark.everything  # a dozen seconds: each notebook is checked in a process of its own
def test_check_tells_the_truth_about_stock_tests(place, call, checked):
    right = hand_in(place.root, "plain", "ada", writes(ANSWERS))
    assert checked(right / "one.ipynb", code=0)["holds"]
    wrong = hand_in(place.root, "plain", "bob", writes(ANSWERS | {"double": "def double(x):\n    return x"}))
    before = (wrong / "one.ipynb").read_bytes()
    found = checked(wrong / "one.ipynb")
    assert not found["holds"]
    holds = {question["name"]: question["holds"] for question in found["questions"]}
    assert holds == {"test_double": False, "test_triple": True, "why": True}
    said = call(check, place, wrong / "one.ipynb", code=1)
    assert "NOT YET  test_double" in said
    assert "1 of 3 questions not yet." in said
    assert (wrong / "one.ipynb").read_bytes() == before


def test_check_says_what_is_not_answered_yet(place, checked):
    empty = hand_in(place.root, "plain", "eve", nothing)
    assert "Not answered yet." in {question["words"] for question in checked(empty / "one.ipynb")["questions"]}


@pytest.mark.parametrize(
    ("source", "seconds", "said"),
    [("while True: pass", "5", "not come to its end"), ("import os; os._exit(0)", "120", "ended its own process")],
)
def test_check_of_a_notebook_that_does_not_end_or_ends_itself(place, checked, source, seconds, said):
    folder = hand_in(place.root, "plain", "ada", writes(ANSWERS | {"triple": source}))
    assert said in checked(folder / "one.ipynb", "--seconds", seconds)["ended"]


def test_check_of_nothing_is_misuse(place, call, tmp_path):
    (tmp_path / "x.ipynb").write_text("{")
    assert check(place, [str(tmp_path / "x.ipynb")]) == 2
    assert "There is no notebook" in call(check, place, tmp_path / "y.ipynb", code=2)


def test_check_of_the_courses_own(own, checked):
    released = own / "exercises" / "attention" / "attention.ipynb"
    notebook = nbformat.read(released, as_version=4)
    notebook.cells = [c for c in notebook.cells if c.metadata.get("nbgrader", {}).get("grade_id") != "check_attend"]
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("grade_id") == "dot_score":
            cell.source = "def dot_score(query, keys):\n    return keys @ query"
    nbformat.write(notebook, released)
    states = {q["name"]: (q["holds"], q["words"]) for q in checked(released)["questions"]}
    unanswered = [n for n, (_, words) in states.items() if "not written yet" in words or "not mended yet" in words]
    assert len(unanswered) == len(EXERCISES) - 2
    assert states["attention.dot_score"][0]
    assert states["attention.attend"] == (False, "Its check is not in the notebook, or was not reached.")


def test_check_misses_only_the_questions_that_the_notebook_was_released_with(tmp_path):
    checking = Checking([], tmp_path / "answer.json", {"dot_score", "attend", "written"})
    checking.asked = {"attention.dot_score"}
    checking._left_out()
    assert [*checking.questions] == ["attention.attend"]


def test_what_is_installed_depends_on_what_is_asked_for():
    for words in ("attention", "attention --jobs 1"):
        assert verbs.extras(verbs.VERBS["grade"], words.split()) == ()
    for words in ("attention --jobs 16", "attention --jobs=2", "attention --scheduler tcp://x:1"):
        assert verbs.extras(verbs.VERBS["grade"], words.split()) == ("cluster",)
