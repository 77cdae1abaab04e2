"""Every assignment: solved, it runs from top to bottom and earns everything; its form is the one that students know."""

import importlib
import os
import re
from pathlib import Path

import jupytext
import nbformat
import pytest

from autograder.check import show_rows
from autograder.exercise.questions import in_hours, opened
from autograder.exercise.specification import Exercise
from autograder.launcher import notebooks, text
from tests import notebook_runner

ROOT = Path(__file__).resolve().parents[1]
COURSE = (
    *("ngrams", "subwords", "vectors", "backpropagation", "convolutions", "training"),
    *("recurrence", "gates", "decoding", "sequences", "attention", "self_attention", "positions", "transformer"),
    *("translation", "efficient_attention", "modifications", "scale_and_insight"),
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
        assert len(exercise.properties) >= 2 or not exercise.arguments, (
            f"{exercise.function}: half a solution should earn something"
        )
    asked = len(exercises(name))
    assert words.count("**Checked:**") >= asked
    assert "### BEGIN MARK SCHEME" in words


@pytest.mark.parametrize("name", COURSE)
def test_one_time_and_one_numbering(name: str) -> None:
    words = prose(name)
    rows = re.findall(r"^\| (\w+) \| .+? \| (\d+) \| [\d.]+ \| [a-z]+ \|$", words, re.MULTILINE)
    minutes = sum(int(each) for _, each in rows)
    assert len(rows) == len(exercises(name)) + 1
    assert f"| | together | {minutes} |" in words
    assert f"About {in_hours(minutes)}; all times are estimates." in words
    assert len(re.findall(r"(?i)about [^.;|]* hours?\b", words)) == 1, "the time is stated once"
    assert 120 <= minutes <= 300
    index = (ROOT / "exercises" / "README.md").read_text(encoding="utf-8")
    assert re.search(rf"^\| `{name}` \| .* \| {in_hours(minutes)} \|$", index, re.MULTILINE)
    note = (ROOT / "autograder" / "notes" / f"{name}.md").read_text(encoding="utf-8")
    assert f"Allow {in_hours(minutes)}" in note

    headings = re.findall(r"^## (\d)\. .*?(?=^## |\Z)", words, re.MULTILINE | re.DOTALL)
    assert headings == [str(i + 1) for i in range(len(headings))]
    numbers = [number for number, _ in rows]
    assert numbers == sorted(numbers)
    for number in headings:
        letters = [found[1:] for found in numbers if found[0] == number]
        assert letters in ([""], list("abcdef"[: len(letters)])), f"question {number}"
    everywhere = "\n".join(cell.source for cell in master(name))
    called = re.findall(r"(?i)\bquestion (\d\w?)\b", everywhere)
    called += [number for two in re.findall(r"(?i)\bquestions (\d\w?) and (\d\w?)\b", everywhere) for number in two]
    assert {*numbers, *headings}.issuperset(called), "a question that is mentioned exists"
    assert f"question {numbers[-1]} should be answered in your own words" in everywhere


@pytest.mark.parametrize("name", COURSE)
def test_a_third_of_the_points_is_for_longer_or_open_work(name: str) -> None:
    """Open-ended: experiments, and the written question. Longer: more than ten lines of the solution, without comments
    and blank lines. A bug to mend is one line, however long its function."""
    written = sum(float(points) for points in re.findall(r"· ([\d.]+) points · written", prose(name)))
    points, longer = written, written
    for exercise in exercises(name).values():
        solution = exercise.reference.__dict__["source"].partition("### BEGIN SOLUTION\n")[2]
        lines = [line for line in solution.split("\n") if line.strip() and not line.strip().startswith("#")]
        points += exercise.points
        if "conclusion" in exercise.returns or (len(lines) > 10 and exercise.planted is None):
            longer += exercise.points
    assert written >= 4
    assert longer >= points / 3


@pytest.mark.parametrize("name", COURSE)
def test_the_page_of_an_experiment_shows_the_rows_of_its_five_seeds(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for exercise in exercises(name).values():
        if "conclusion" not in exercise.chosen:
            continue
        (cell,) = (c for c in master(name) if c.source.startswith("show_rows(") and f'"{exercise.name}"' in c.source)
        exec(cell.source, {"show_rows": show_rows, exercise.function: exercise.reference})
        head, *printed = capsys.readouterr().out.splitlines()
        columns = re.split(r" {2,}", head.strip())
        assert columns[0] == "seed"
        assert [re.split(r" {2,}", row.strip())[0] for row in printed] == ["0", "1", "2", "3", "4"]
        assert {len(re.split(r" {2,}", row.strip())) for row in printed} == {len(columns)}


HINT = re.compile(
    r"<details><summary>A hint(?: on [^:]+)?: where to look</summary>\n\n(.+?)\n\n"
    r"<details><summary>The idea</summary>\n\n(.+?)\n\n"
    r"<details><summary>Nearly the line</summary>\n\n(.+?)\n</details></details></details>",
    re.DOTALL,
)


@pytest.mark.parametrize("name", COURSE)
def test_every_question_has_hints_in_three_stages(name: str) -> None:
    asked = {exercise.function: exercise for exercise in exercises(name).values()}
    above = ""
    for cell in master(name):
        if cell.cell_type == "markdown":
            above += f"\n\n{cell.source}"
        for function in set(re.findall(r"^def (\w+)\(", cell.source, re.MULTILINE)) & set(asked):
            hints = HINT.findall(above.rpartition(f"points · {asked.pop(function).difficulty}*")[2])
            assert hints, f"{function} has no hints in stages"
            for where, idea, line in hints:
                assert all(len(stage.split()) <= 60 for stage in (where, idea, line)), f"{function}: a hint is short"
                assert re.findall(r"`(.+?)`", where) == re.findall(r"`([a-z]+)`", where), (
                    f"{function}: code in {where!r}"
                )
                assert re.findall(r"`(.+?)`", idea) == re.findall(r"`([\w.]+)`", idea), f"{function}: code in {idea!r}"
            above = ""
    assert not asked


@pytest.mark.parametrize("name", COURSE)
def test_the_instructor_has_a_note_and_the_index_a_line(name: str) -> None:
    note = (ROOT / "autograder" / "notes" / f"{name}.md").read_text(encoding="utf-8")
    for part in ("**Common mistakes**", "**By hand.**", "**For the oral**"):
        assert part in note
    assert len(re.findall(r"^\d\. \*", note, re.MULTILINE)) >= 5, "five questions for the oral, each with its answer"
    assert f"`{name}`" in (ROOT / "exercises" / "README.md").read_text(encoding="utf-8")


def test_the_course_asks_enough() -> None:
    asked = [exercise for name in COURSE for exercise in exercises(name).values()]
    assert len(COURSE) == 18
    assert len(asked) >= 145
    assert sum(len(exercise.misconceptions) for exercise in asked) >= 135
    assert all("### BEGIN MARK SCHEME" in prose(name) for name in COURSE), "a written question in each"


def test_the_index_has_the_order_of_the_course() -> None:
    index = (ROOT / "exercises" / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| `(\w+)` \|", index, re.MULTILINE) == [*COURSE, "capstone"]
