"""Every assignment: solved, it runs from top to bottom and earns everything; its form is the one that students know."""

import importlib
import os
import re
from pathlib import Path

import jupytext
import nbformat
import pytest

from autograder.exercise.questions import opened
from autograder.exercise.specification import Exercise
from autograder.launcher import notebooks, text
from tests import notebook_runner

ROOT = Path(__file__).resolve().parents[1]
COURSE = (
    *("ngrams", "subwords", "vectors", "backpropagation", "recurrence", "gates", "decoding"),
    *("sequences", "attention", "self_attention"),
)
"""The course's own, in the order in which they are met. Others may be added beside them; the form is asked of these."""
NAMES = sorted(pair.text.parent.name for pair in notebooks.pairs(ROOT) if pair.text.parts[-3] == "solutions")
SECONDS = 60.0
"""What a solved assignment may take on one core. NLM_TIME_FACTOR=2 doubles it."""


def master(name: str) -> list[nbformat.NotebookNode]:
    return opened(jupytext.read(ROOT / "solutions" / name / f"{name}.py")).cells


def prose(name: str) -> str:
    return "\n\n".join(cell.source for cell in master(name) if cell.cell_type == "markdown")


def exercises(name: str) -> dict[str, Exercise]:
    return importlib.import_module(f"autograder.checks.{name}").EXERCISES


@pytest.mark.alone
@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_solved_assignment_runs_from_top_to_bottom_and_earns_everything(
    name: str, tmp_path: Path, artefacts: Path
) -> None:
    source = (ROOT / "solutions" / name / f"{name}.py").read_text(encoding="utf-8")
    ran = notebook_runner.run(opened(text.from_text(source, ROOT)), tmp_path)
    (artefacts / "assignments").mkdir(exist_ok=True)
    nbformat.write(ran.notebook, artefacts / "assignments" / f"{name}.ipynb")
    assert not ran.errors(), ran.errors()[0]
    assert not ran.reached
    verdicts = []
    for cell in ran.notebook.cells:
        for output in cell.get("outputs", []):
            assert output.get("name") != "stderr", f"{cell.source}\n\nwrote to stderr:\n{output.get('text')}"
            if "check(" in cell.source and "text/plain" in output.get("data", {}):
                verdicts.append(output.data["text/plain"])
        about = cell.metadata.get("nbgrader", {})
        if about.get("grade") and cell.cell_type == "code":
            marks = [o.data["text/plain"] for o in cell.outputs if o.output_type == "execute_result"]
            assert [float(mark) for mark in marks] == [float(about["points"])], about["grade_id"]
    functions = [exercise.function for exercise in exercises(name).values()]
    for function in functions:
        said = [verdict for verdict in verdicts if verdict.startswith(f"{function}: well done")]
        assert len(said) == 2, f"{function}: {[v for v in verdicts if v.startswith(function)]}"
    assert sum(ran.seconds.values()) <= SECONDS * float(os.environ.get("NLM_TIME_FACTOR", "1"))


@pytest.mark.parametrize("name", COURSE)
def test_every_question_says_what_it_takes_and_helps(name: str) -> None:
    words = prose(name)
    assert words.startswith("# Assignment: ")
    for exercise in exercises(name).values():
        place = re.search(rf"\| `{exercise.function}` \| (\d+) \| ([\d.]+) \| (\w+) \|", words)
        assert place, f"{exercise.function} has no line in the table"
        assert place.groups() == (str(exercise.minutes), f"{exercise.points:g}", exercise.difficulty)
        said = f"*{exercise.minutes} minutes · {exercise.points:g} points · {exercise.difficulty}*"
        assert said in words, f"{exercise.function}: its section should say {said}"
        assert len(exercise.misconceptions) >= 3
        assert len(exercise.properties) >= 2, f"{exercise.function}: half a solution should earn something"
    asked = len(exercises(name))
    assert words.count("**Checked:**") >= asked
    assert words.count("<details><summary>") >= asked
    assert "### BEGIN MARK SCHEME" in words
    minutes = sum(exercise.minutes for exercise in exercises(name).values())
    written = re.search(r"\*(\d+) minutes · [\d.]+ points · written", words)
    assert written
    assert 120 <= minutes + int(written[1]) <= 300


@pytest.mark.parametrize("name", COURSE)
def test_the_instructor_has_a_note_and_the_index_a_line(name: str) -> None:
    note = (ROOT / "autograder" / "notes" / f"{name}.md").read_text(encoding="utf-8")
    for part in ("**Common mistakes**", "**By hand.**", "**For the oral**"):
        assert part in note
    assert len(re.findall(r"^\d\. \*", note, re.MULTILINE)) >= 5, "five questions for the oral, each with its answer"
    assert f"`{name}`" in (ROOT / "exercises" / "README.md").read_text(encoding="utf-8")


def test_the_course_asks_enough() -> None:
    asked = [exercise for name in COURSE for exercise in exercises(name).values()]
    assert len(COURSE) == 10
    assert len(asked) >= 45
    assert sum(len(exercise.misconceptions) for exercise in asked) >= 135
    assert all("### BEGIN MARK SCHEME" in prose(name) for name in COURSE), "a written question in each"


def test_the_index_has_the_order_of_the_course() -> None:
    index = (ROOT / "exercises" / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| `(\w+)` \|", index, re.MULTILINE) == list(COURSE)
