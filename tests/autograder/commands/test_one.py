"""`grade-one` gives a submission the marks of `grade`, in Gradescope's form; `gradescope` packs what does it there."""

import json
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_output

import autograder.grading.run as run_module
import autograder.grading.single as single_module
from autograder.commands.grade import grade
from autograder.commands.one import grade_one
from autograder.grading import records
from autograder.grading.course import Course
from autograder.grading.execute import Done
from autograder.grading.seeds import course_secret
from autograder.guard import Guard
from autograder.instructor.results import results as results_of
from autograder.release.container import write_container
from autograder.sandbox.tiers import IsolationMissing, choose
from solutions.attention.checks import EXERCISES
from tests.autograder.courses import ANSWERS, ROOT, env, hand_in, nothing, writes, zipped
from tests.autograder.grading import fake
from tests.autograder.synthetic import answers

pytestmark = pytest.mark.filterwarnings("ignore")
WRONG = {"triple": "def triple(x):\n    return x", "double": "def double(x):\n    return {'secret': 'héllo'}[x]"}
KEYS = {"name", "score", "max_score", "status", "output", "name_format", "output_format", "visibility"}


@pytest.fixture
def place(plain, monkeypatch):
    for module in (run_module, single_module):
        monkeypatch.setattr(module, "work", fake.work)
    return env(plain)


def results(place, tmp_path, *words):
    """(exit code, what it wrote): `grade-one plain …`."""
    path = tmp_path / "results.json"
    path.unlink(missing_ok=True)
    code = grade_one(place, ["plain", *map(str, words), "--to", str(path)])
    return code, json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def test_one_submission_has_the_marks_that_grade_gives_it(place, tmp_path, capsys):
    folders = {
        "ada": hand_in(place.root, "plain", "ada", writes(ANSWERS)),
        "bob": hand_in(place.root, "plain", "bob", writes(ANSWERS | WRONG)),
        "eve": hand_in(place.root, "plain", "eve", nothing),
    }
    grade(place, ["plain"])
    before = (place.root / "gradebook.db").read_bytes()
    capsys.readouterr()
    for student, folder in folders.items():
        code, found = results(place, tmp_path, folder)
        record = records.load(place.root, "plain", student)
        scores = {cell: mark for cells in record.scores.values() for cell, mark in cells.items()}
        assert code == 0
        automatic = [scores[name] for name in ("test_double", "test_triple", "test_count")]
        assert [test["score"] for test in found["tests"] if "max_score" in test] == automatic
        assert found["score"] == sum(mark or 0.0 for name, mark in scores.items() if name != "why")
        assert capsys.readouterr().out.startswith(f"{student}: ")
    assert (place.root / "gradebook.db").read_bytes() == before


def test_the_results_are_what_gradescope_reads_and_what_a_student_may_see(place, tmp_path):
    folder = hand_in(place.root, "plain", "bob", writes(ANSWERS | WRONG))
    _, found = results(place, tmp_path, folder)
    tests = {test["name"]: test for test in found["tests"]}
    assert {"score", "output", "tests", "visibility", "stdout_visibility", "execution_time"} <= found.keys()
    assert all(set(test) <= KEYS for test in tests.values())
    assert (tests["test_double"]["score"], tests["test_double"]["status"]) == (0.0, "failed")
    assert (tests["test_triple"]["score"], tests["test_triple"]["max_score"]) == (0.5, 2.0)
    assert ("score" in tests["why"], "by hand" in tests["why"]["output"]) == (False, True)
    assert "-14" not in json.dumps(found)  # a hidden test


def test_no_line_of_a_hidden_test_is_told(place):
    course = Course.load(place.root)
    folder = hand_in(place.root, "plain", "bob", writes(ANSWERS | WRONG))
    with Guard() as guard:
        made = single_module.grade_one(course, "plain", folder, "bob", "auto", guard)
    named = {cell.metadata.get("nbgrader", {}).get("grade_id"): cell for cell in made.notebooks["one"].cells}
    trace = ["AssertionError", "----> 3 assert double(-7) == -14"]
    named["test_double"].outputs = [new_output("error", ename="AssertionError", evalue="double(-7)", traceback=trace)]
    told = json.dumps(results_of(made))
    assert "-7" not in told
    assert "A hidden test of this question did not pass." in told


def test_what_cannot_be_graded_says_why_and_a_fault_of_the_graders_is_no_result(place, tmp_path, monkeypatch):
    (tmp_path / "plain.ipynb").write_text("{")
    code, found = results(place, tmp_path, tmp_path / "plain.ipynb")
    assert (code, found["score"], found["extra_data"]["state"]) == (1, 0.0, "blocked")
    assert found["output"].startswith("Not graded as it was handed in.")
    folder = hand_in(place.root, "plain", "ada", writes(ANSWERS))
    monkeypatch.setattr(single_module, "work", lambda task: Done(student=task.student, results={}, fault="no torch"))
    assert results(place, tmp_path, folder) == (1, None)
    assert results(place, tmp_path, tmp_path / "nowhere") == (2, None)


def test_a_text_that_was_made_to_stop_a_parser_stops_nothing(place, tmp_path):
    deep = "def double(x):\n    return 2 * x\n" + "-" * 60_000 + "1"
    folder = hand_in(place.root, "plain", "mal", writes(ANSWERS | {"triple": deep}))
    code, found = results(place, tmp_path, folder)
    assert code == 0
    assert {test["name"]: test.get("score") for test in found["tests"]}["test_double"] == 3.0


def test_a_file_an_archive_and_gradescopes_metadata_are_taken(place, tmp_path, capsys):
    folder = hand_in(place.root, "plain", "ada", writes(ANSWERS))
    zipped(tmp_path / "all.zip", {path.name: path.read_bytes() for path in folder.glob("*.ipynb")})
    about = tmp_path / "submission_metadata.json"
    about.write_text(json.dumps({"users": [{"email": "zoe@x.y"}, {"email": "ada@x.y"}]}))
    assert results(place, tmp_path, tmp_path / "all.zip", "--metadata", about)[0] == 0
    assert capsys.readouterr().out.startswith("ada@x.y: ")
    assert results(place, tmp_path, tmp_path / "all.zip", "--metadata", tmp_path / "none.json")[0] == 0
    assert capsys.readouterr().out.startswith("somebody: ")


@pytest.mark.everything  # half a minute: the zip is made, and the grader starts from it
def test_the_zip_laid_out_as_gradescope_does_it_grades_a_submission(tmp_path):
    try:
        choose()
    except IsolationMissing as missing:
        pytest.skip(f"no sandbox on this machine: {missing}")
    top = tmp_path / "autograder"
    source = top / "source"
    path = write_container(ROOT, "attention", tmp_path, course_secret(tmp_path), "auto")
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        assert {"setup.sh", "run_autograder", "Dockerfile"} <= set(names)
        assert archive.getinfo("run_autograder").external_attr >> 16 == 0o100755
        archive.extractall(source)
    assert not [name for name in names if name.startswith(("submitted", "tests", "solutions/gates"))]
    assert Course.load(source).students("attention") == []
    notebook = nbformat.read(source / "exercises/attention/attention.ipynb", as_version=4)
    written = answers(source)
    for cell in notebook.cells:
        cell.source = written.get(cell.metadata.get("nbgrader", {}).get("grade_id"), cell.source)
    for name in ("submission", "results"):
        (top / name).mkdir()
    nbformat.write(notebook, top / "submission" / "attention (2).ipynb")
    here = Path(tempfile.gettempdir()).resolve()
    for folder in (tmp_path, *tmp_path.parents):  # the box's user has to get there
        if folder.resolve().is_relative_to(here) and folder.resolve() != here:
            folder.chmod(0o755)
    variables = {**os.environ, "AUTOGRADER": str(top), "NLM_VENV": sys.prefix}
    variables.pop("PYTHONPATH", None)
    line = ["bash", str(source / "run_autograder")]
    done = subprocess.run(line, cwd=top, env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads((top / "results" / "results.json").read_text(encoding="utf-8"))
    assert found["score"] == sum(exercise.points for exercise in EXERCISES.values())
    assert {test.get("status") for test in found["tests"]} == {"passed", None}
    assert "NLM_HIDDEN_SEED" not in json.dumps(found)
