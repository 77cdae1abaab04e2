"""Every assignment: solved, it runs from top to bottom and earns everything; its form is the one that students know."""

import os
import re
from pathlib import Path

import jupytext
import nbformat
import pytest

from autograder.check import show_rows
from autograder.pages import points
from autograder.question.find import exercises_of
from autograder.question.form import COURSE, course_faults, form_faults
from autograder.question.questions import opened
from autograder.texts import notebooks, text
from tests import notebook_runner

ROOT = Path(__file__).resolve().parents[1]
NAMES = sorted(pair.text.parent.name for pair in notebooks.pairs(ROOT) if pair.text.parts[-3] == "solutions")
SECONDS = 60.0
"""What a solved assignment may take on one core. NLM_TIME_FACTOR=2 doubles it."""


def master(name: str) -> list[nbformat.NotebookNode]:
    return opened(jupytext.read(ROOT / "solutions" / name / f"{name}.py")).cells


def prose(name: str) -> str:
    return "\n\n".join(cell.source for cell in master(name) if cell.cell_type == "markdown")


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
    functions = [exercise.function for exercise in exercises_of(name).values()]
    for function in functions:
        said = [verdict for verdict in verdicts if verdict.startswith(f"{function}: well done")]
        assert len(said) == 2, f"{function}: {[v for v in verdicts if v.startswith(function)]}"
    assert sum(ran.seconds.values()) <= SECONDS * float(os.environ.get("NLM_TIME_FACTOR", "1"))


@pytest.mark.parametrize("name", COURSE)
def test_its_form_is_the_courses(name: str) -> None:
    cells, asked = master(name), exercises_of(name)
    assert [*form_faults(cells, asked), *course_faults(name, cells, asked, ROOT)] == []
    for exercise in asked.values():
        kind = "core" if exercise.core else "more"
        said = f"*{exercise.minutes} minutes · {points(exercise.points)} · {exercise.difficulty} · {kind}*"
        assert said in prose(name), f"{exercise.function}: its section should say {said}"


@pytest.mark.parametrize("name", COURSE)
def test_the_page_of_an_experiment_shows_the_rows_of_its_five_seeds(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for exercise in exercises_of(name).values():
        if "conclusion" not in exercise.chosen:
            continue
        (cell,) = (c for c in master(name) if c.source.startswith("show_rows(") and f'"{exercise.name}"' in c.source)
        exec(cell.source, {"show_rows": show_rows, exercise.function: exercise.reference})
        head, *printed = capsys.readouterr().out.splitlines()
        columns = re.split(r" {2,}", head.strip())
        assert columns[0] == "seed"
        assert [re.split(r" {2,}", row.strip())[0] for row in printed] == ["0", "1", "2", "3", "4"]
        assert {len(re.split(r" {2,}", row.strip())) for row in printed} == {len(columns)}


def test_the_index_begins_with_the_course_in_its_order() -> None:
    index = (ROOT / "exercises" / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \|", index, re.MULTILINE)
    assert [name for name in rows if name in COURSE] == [*COURSE]
    assert "capstone" in rows
