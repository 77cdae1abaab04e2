"""From masters to students' notebooks: nothing secret leaves, and what arrives does not look broken."""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from nbgrader.api import Gradebook

from autograder.files import plain_files
from autograder.question.find import exercises_of
from autograder.release.build import NotReleasedError, build_exercises, gradebook_of, leaked
from autograder.texts import notebooks
from tests import notebook_runner
from tests.autograder.courses import ASSIGNMENTS, CONFIG, ROOT, course

# nbgrader and what it stands on warn about themselves. All are slow: so all assignments are released once for them.
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    root = course(tmp_path_factory.mktemp("course"))
    build_exercises(root, audited=False)  # every audit is among the tests in tests/autograder/test_checks.py
    return root


def test_every_assignment_is_released_and_nothing_but_its_notebook(released):
    files = {path.relative_to(released / "exercises") for path in (released / "exercises").rglob("*") if path.is_file()}
    assert ASSIGNMENTS
    assert files == {Path(name) / f"{name}.ipynb" for name in ASSIGNMENTS}


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_no_line_of_a_solution_a_hidden_test_or_a_mark_scheme_is_left(released, assignment):
    master = (released / "solutions" / assignment / f"{assignment}.py").read_text(encoding="utf-8")
    kinds = ("MARK SCHEME",) if assignment.startswith("project_") else ("SOLUTION", "MARK SCHEME")
    assert all(f"BEGIN {kind}" in master for kind in kinds)
    for path in (released / "exercises" / assignment).rglob("*"):
        if path.is_file():
            assert leaked(released / "solutions" / assignment, path) == []
            assert "BEGIN" not in path.read_text(encoding="utf-8")


def test_the_exercises_in_the_repository_are_these_to_the_byte(released):
    built, there = (
        {path.relative_to(root).as_posix(): path.read_bytes() for path in plain_files(root, "exercises/*/**/*")}
        for root in (released, ROOT)
    )
    differ = sorted(name for name in built.keys() | there.keys() if built.get(name) != there.get(name))
    assert not differ, f"not what solutions/ builds now: {', '.join(differ)}. Run make build, and commit exercises/."


def test_cell_ids_are_the_grade_ids_and_tests_are_locked(released):
    for path in (released / "exercises").rglob("*.ipynb"):
        notebook = nbformat.read(path, as_version=4)
        nbformat.validate(notebook)
        for cell in notebook.cells:
            about = cell.metadata.get("nbgrader")
            if about:
                assert cell.id == about["grade_id"]
                if about["grade"] and not about["solution"]:
                    assert cell.metadata["editable"] is False


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_an_empty_release_runs_through_and_says_calmly_that_nothing_is_written(released, assignment, tmp_path):
    notebook = nbformat.read(released / "exercises" / assignment / f"{assignment}.ipynb", as_version=4)
    ran = notebook_runner.run(notebook, tmp_path)
    assert ran.errors() == []
    said = [out.data.get("text/plain", "") for cell in ran.code for out in cell.outputs if "data" in out]
    asked = exercises_of(assignment).values()
    waiting = [word for words in said for word in ("not written yet", "not mended yet") if word in words]
    assert len(waiting) == len(asked)
    assert waiting.count("not mended yet") <= sum(exercise.planted is not None for exercise in asked)


def test_in_a_real_kernel_a_failed_check_shows_words_and_no_traceback():
    source = "from autograder.check import check\ncheck('attention.dot_score', lambda query, keys: query * keys)"
    notebook = new_notebook(cells=[new_code_cell(source)])
    NotebookClient(notebook, timeout=60, allow_errors=True).execute()
    shown, error = notebook.cells[0].outputs
    assert "did not add them up" in shown.data["text/plain"]
    assert 'role="status"' in shown.data["text/html"]
    assert error.ename == "CheckFailed"
    assert error.traceback == [error.evalue] == ["See above for what is missing."]


# --- what must not be released ----------------------------------------------------------------------------


def broken(tmp_path, old, new):
    root = course(tmp_path, "attention")
    mend(root, old, new)
    return root


def mend(root, old, new):
    master = root / "solutions/attention/attention.py"
    text = master.read_text(encoding="utf-8")
    assert old in text
    master.write_text(text.replace(old, new, 1), encoding="utf-8")
    notebooks.build(root)


def test_a_master_with_a_fault_is_not_released_and_keeps_nothing_else_back(tmp_path):
    root = broken(tmp_path, " [[attention.dot_score, 5 minutes, easy, core]]", "")
    plain = root / "solutions/plain/plain.ipynb"
    plain.parent.mkdir()
    nbformat.write(new_notebook(cells=[new_markdown_cell("Nothing is asked here.")]), plain)
    with pytest.raises(NotReleasedError, match="attention is not fit to be released") as caught:
        build_exercises(root)  # audited, on all processors, where that has not been done
    assert list(caught.value.why) == ["attention"]
    assert "attention.dot_score is asked in 0 test cells of the notebook, not in one" in str(caught.value)
    assert not (root / "exercises/attention/attention.ipynb").exists()
    assert (root / "exercises/plain/plain.ipynb").exists()


def test_a_master_from_which_a_solution_would_leak_is_not_released(tmp_path):
    leak = "# # Assignment: attention\n#\n# The answer: `largest = scores.max(axis=-1, keepdims=True)` does it"
    with pytest.raises(ValueError, match="secrets were left in it") as caught:
        build_exercises(broken(tmp_path, "# # Assignment: attention", leak), audited=False)
    assert "largest = scores.max" in str(caught.value)
    assert not (tmp_path / "exercises/attention/attention.ipynb").exists()


def test_leaks_are_found_by_lines_and_what_is_open_anyway_is_none(tmp_path):
    solution = "def f(x):\n    ### BEGIN SOLUTION\n    return x + 12345\n    ### END SOLUTION"
    master = new_notebook(
        cells=[
            new_code_cell(solution, metadata={"nbgrader": {"solution": True}}),
            new_markdown_cell("my own model answer", metadata={"nbgrader": {"solution": True, "grade": True}}),
            new_code_cell("import math"),
        ]
    )
    (tmp_path / "a").mkdir()
    nbformat.write(master, tmp_path / "a/a.ipynb")
    copy = tmp_path / "released.txt"
    for text, found in (
        ("def f(x):\n    pass\nimport math", []),
        ("nothing\n  return x + 12345  \n", ["released.txt: return x + 12345"]),
        ("my own model answer", ["released.txt: my own model answer"]),
    ):
        copy.write_text(text)
        assert leaked(tmp_path / "a", copy) == found


def test_a_release_that_would_orphan_submissions_is_refused_in_words(tmp_path):
    root = course(tmp_path, "attention")
    build_exercises(root, audited=False)
    with Gradebook(f"sqlite:///{root / 'gradebook.db'}") as book:
        book.add_student("ada")
        book.add_submission("attention", "ada")
    build_exercises(root, audited=False)  # the same cells: nothing to refuse
    mend(root, " [[written, 20 minutes, 4 points, core]]", "")
    with pytest.raises(NotReleasedError, match="the gradebook holds submissions to an earlier version"):
        build_exercises(root, audited=False)


def test_the_gradebook_is_the_one_that_the_courses_settings_name(tmp_path):
    assert gradebook_of(tmp_path) == ""
    config = tmp_path / "nbgrader_config.py"
    config.write_text(CONFIG)
    assert gradebook_of(tmp_path) == ""
    config.write_text(CONFIG + "get_config().CourseDirectory.db_url = 'postgresql://grader@localhost/gradebook'\n")
    assert gradebook_of(tmp_path) == "postgresql+psycopg2://grader@localhost/gradebook"
