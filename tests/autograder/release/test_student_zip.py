"""The student's archive: what is in it works, what is not in it stays, and the bytes are the same every time."""

import json
import re
import shutil
import sys
import zipfile
from pathlib import Path

import nbformat
import pytest

from autograder import assignments
from autograder.commands.around import release as main
from autograder.files import WORK
from autograder.launcher import environment, verbs
from autograder.question.form import COURSE
from autograder.question.questions import opened
from autograder.release import contents as contents_module
from autograder.release import student_zip as make_module
from autograder.release.build import secret_lines
from autograder.release.contents import contents, students_makefile
from autograder.release.leaks import leaks
from autograder.release.student_zip import TOP, pack
from autograder.seal import seal
from autograder.texts import exercises
from autograder.texts.text import from_text
from tests.autograder.elsewhere import python

ROOT = Path(__file__).resolve().parents[3]

# nbgrader warns about itself; an archive answers every question with every mistake, some of which train.
pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.everything, pytest.mark.timeout(400)]


@pytest.fixture(scope="module")
def files():
    return contents(ROOT)


@pytest.fixture(scope="module")
def unpacked(files, tmp_path_factory):
    folder = tmp_path_factory.mktemp("student")
    pack(files, folder / "a.zip")
    with zipfile.ZipFile(folder / "a.zip") as archive:
        archive.extractall(folder)
    return folder / TOP


MARK = "autograder/question/listing.py"
"""Names the mark behind which a solution begins, and holds none."""

# --- nothing leaks ----------------------------------------------------------------------------------------


def test_the_archive_holds_no_secret(files):
    assert leaks(ROOT, files) == []


def test_no_secret_line_of_a_master_stands_in_any_file_but_where_the_library_says_it_too(files):
    """The same once more, without the code of `leaks`: longer lines, anywhere in any text, the library apart."""
    secret = set()
    for path in (ROOT / "solutions").glob("*/*.py"):
        secret |= secret_lines(opened(from_text(path.read_text(encoding="utf-8"), ROOT)).cells)
    assert len(secret) > 30
    for name, content in files.items():
        if name.endswith(".safetensors") or name.startswith(("nlmcore/", "lectures/", MARK)):
            continue
        text = content.decode(errors="replace")  # a font is no text
        assert not [line for line in secret if len(line) > 30 and line in text], name
        for kind in ("BEGIN SOLUTION", "BEGIN HIDDEN", "MARK SCHEME", "hidden=True)\\n"):
            assert kind not in text, name


def test_no_declaration_and_no_misconception_is_in_the_archive(files):
    assert not [name for name in files if name.startswith(("autograder/grading", "autograder/sandbox"))]
    assert not [name for name in files if name.startswith(("tests", "solutions", "benchmarks"))]
    code = "\n".join(content.decode() for name, content in files.items() if name.endswith(".py"))
    for path in (path for path in assignments.code() if path.name != "laws.py"):
        text = path.read_text(encoding="utf-8")
        functions = [line.strip() for line in text.split("\n") if line.strip().startswith("def ") and len(line) > 30]
        assert not [line for line in functions if line in code], path


SOLUTION = """
    largest = scores.max(axis=-1, keepdims=True)
    largest = np.where(largest == -math.inf, 0.0, largest)  # a row without a key
    e = np.exp(scores - largest)
"""
INPUTS = max(re.findall(r"^    \w+ = .+$", (ROOT / "solutions/attention/checks.py").read_text("utf-8"), re.M), key=len)
"""A line of an assignment's declarations."""
MISTAKE = "    scores = keys @ query / query.shape[-1] ** 0.5"
PLANTED = {
    "lectures/more.py": (SOLUTION, "largest ="),
    "nlmcore/more.py": (SOLUTION, "largest ="),
    "README.md": (INPUTS, "declaration"),
    "lectures/notes.md": (f"{MISTAKE.partition('= ')[2]}\n" * 3, "declaration"),
    "nlmcore/notes.py": ("HOST = 'https://pypi" + ".org/simple'", "registry"),
    "solutions/a/a.py": ("", "stays with the instructor"),
    "work/a/checks/a.py": ("", "stays with the instructor"),
    "gradebook.db": ("", "stays with the instructor"),
    "lectures/.env": ("", "stays with the instructor"),
}


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_leak_is_found(name):
    content, words = PLANTED[name]
    (found,) = leaks(ROOT, {name: content.encode()})
    assert found.startswith(f"{name}: ")
    assert words in found


def test_a_secret_in_a_notebook_is_found():
    secret = 'check("attention.attend", attend, hidden=True)'
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(f"x = 1\n{secret}")])
    (found,) = leaks(ROOT, {"autograder/question/public/exercises/a/a.ipynb": nbformat.writes(notebook).encode()})
    assert secret in found


@pytest.fixture
def here(monkeypatch):
    """This checkout, in which nothing has to be built."""
    for module in (make_module.exercises, make_module.notebooks):
        monkeypatch.setattr(module, "build", lambda root: (0, []))
    return environment.locate(ROOT, here=True)


def test_a_leak_stops_the_release_and_nothing_is_written(tmp_path, monkeypatch, here, call):
    monkeypatch.setattr(make_module, "contents", lambda root, names: {"solutions/a.py": b""})
    said = call(main, here, "--to", tmp_path / "out", code=1)
    assert "solutions/a.py: this file stays with the instructor" in said
    assert not (tmp_path / "out").exists()


def test_the_exercises_are_listed_in_the_order_of_the_course(files):
    page = files["exercises/README.md"].decode()
    listed = re.findall(r"^\| `(\w+)` \|", page, re.M)
    assert [name for name in listed if not name.startswith("project_")] == [*COURSE, "capstone"]
    assert "[[" not in page
    for link in re.findall(r"\]\(\.\./([^)]+)\)", page):
        assert link in files


# --- the same bytes ---------------------------------------------------------------------------------------


def test_the_zip_is_the_same_bytes_every_time(files, tmp_path):
    again = contents(ROOT, ["attention"])  # that every notebook is, tests/autograder/release/test_build.py sees
    assert "autograder/question/public/exercises/attention/attention.ipynb" in again
    assert {name for name in again if again[name] != files[name]} == {"exercises/README.md"}  # it lists fewer
    pack(files, tmp_path / "a.zip")
    pack(dict(reversed(files.items())), tmp_path / "b" / "b.zip")
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b" / "b.zip").read_bytes()
    assert [path.name for path in (tmp_path / "b").iterdir()] == ["b.zip"]


def test_an_assignment_that_the_table_lacks_has_a_whole_row(tmp_path):
    (tmp_path / "solutions" / "heat").mkdir(parents=True)
    text = "# %% [markdown]\n# # Sampling: a | b\n#\n# ## 1. Why? [[written, 50 minutes, 4 points]]\n"
    (tmp_path / "solutions" / "heat" / "heat.py").write_text(text)
    (row,) = contents_module._listed(tmp_path, ["heat"]).splitlines()
    assert re.split(r" ?(?<!\\)\| ?", row)[1:-1] == ["`heat`", "", r"Sampling: a \| b", "1 hour"]


def test_an_assignment_can_be_left_for_later_and_one_that_is_not_there_is_named(monkeypatch):
    monkeypatch.setattr(contents_module, "_exercises", lambda root, names: {f"made/{name}": b"" for name in names})
    two = contents(ROOT, ["vectors", "ngrams"])
    assert {"made/ngrams", "made/vectors"} <= set(two)
    assert re.findall(r"^\| `(\w+)` \|", two["exercises/README.md"].decode(), re.M) == ["ngrams", "vectors"]
    with pytest.raises(ValueError, match="no assignment 'attentoin'; there are: attention"):
        contents(ROOT, ["attentoin"])


def test_misuse_is_2_and_an_unknown_assignment_1(here, call):
    with pytest.raises(SystemExit, match="2"):
        main(here, ["--what"])
    assert "there is no assignment 'nothing'" in call(main, here, "nothing", code=1)


# --- a student's copy works -------------------------------------------------------------------------------


def test_a_student_is_offered_what_a_student_can_do(unpacked):
    said = python(unpacked, "-m", "autograder", "--help")
    assert said.returncode == 0, said.stderr
    for name in verbs.VERBS:
        assert (f"\n  {name} " in said.stdout) == (name in verbs.FOR_STUDENTS), name
    refused = python(unpacked, "-m", "autograder", "release")
    assert refused.returncode == 2
    assert "There is no 'release'" in refused.stderr


def test_every_module_of_a_students_copy_can_be_imported(unpacked):
    modules = [p.relative_to(unpacked).with_suffix("") for p in sorted((unpacked / "autograder").rglob("*.py"))]
    names = [".".join(m.parts).removesuffix(".__init__") for m in modules if m.name != "__main__"]
    code = f"import importlib, autograder\nassert {str(unpacked)!r} in autograder.__file__\n"
    said = python(unpacked, "-c", code + f"[importlib.import_module(name) for name in {names}]")
    assert said.returncode == 0, said.stderr


def test_the_check_in_a_students_copy_names_the_mistake_and_confirms_the_answer(unpacked):
    code = (
        "from autograder.check import check, passes, CheckFailed\n"
        "from autograder.question.find import exercises_of\n"
        "import importlib.util\n"
        "assert importlib.util.find_spec('solutions') is None\n"
        "print(len(exercises_of('attention')))\n"
        "try: check('attention.dot_score', lambda query, keys: query * keys)\n"
        "except CheckFailed as error: print(error)\n"
        "check('attention.dot_score', lambda query, keys: keys @ query)\n"
        "print(passes('attention.dot_score', lambda query, keys: keys @ query))\n"
        "try: check('attention.dot_score', lambda query, keys: keys @ query, hidden=True)\n"
        "except ValueError as error: print(error)\n"
    )
    said = python(unpacked, "-c", code)
    assert said.returncode == 0, said.stderr
    for words in ("7\n", "did not add them up", "well done", "\nTrue\n", "public examples only"):
        assert words in said.stdout


def test_the_command_check_tells_the_truth_in_a_students_copy(unpacked, tmp_path):
    released = unpacked / "autograder/question/public/exercises/attention/attention.ipynb"
    notebook = nbformat.read(released, as_version=4)
    notebook.cells = [c for c in notebook.cells if "minilm" not in c.source]  # the cell that loads a network
    for cell in notebook.cells:
        if cell.id == "dot_score":
            cell.source = "def dot_score(query, keys):\n    return query * keys"
    nbformat.write(notebook, tmp_path / "attention.ipynb")
    said = python(unpacked, "-m", "autograder", "check", "--ready", "--here", "--", str(tmp_path / "attention.ipynb"))
    assert said.returncode == 1, said.stderr
    assert "did not add them up" in said.stdout
    assert "not written yet" in said.stdout


def test_work_is_never_overwritten_by_a_newer_archive(files, unpacked, tmp_path):
    root = tmp_path / "mine"
    shutil.copytree(unpacked, root)
    build = ("-m", "autograder", "build", "--ready", "--here")
    said = python(root, *build)
    every = f"{len(list((root / exercises.HANDED_OUT).glob('*/*.ipynb')))} exercises"
    assert every in said.stdout, said.stderr
    released, mine = (root / folder / "attention/attention.ipynb" for folder in (exercises.HANDED_OUT, WORK))
    assert mine.read_bytes() == released.read_bytes()

    work = mine.read_bytes().replace(b"NotImplementedError", b"MyOwnWork", 1)
    mine.write_bytes(work)
    assert "up to date" in python(root, *build).stdout
    newer = nbformat.read(released, as_version=4)
    next(cell for cell in newer.cells if cell.id == "dot_score").source += "\n"
    seal(newer)
    nbformat.write(newer, released)
    assert "changed: dot_score" in python(root, *build).stdout
    assert "has your work" not in python(root, *build).stdout
    assert mine.read_bytes() == work
    mine.unlink()
    assert "1 exercise" in python(root, *build).stdout
    assert mine.read_bytes() == released.read_bytes()


def test_what_is_not_built_is_not_handed_out(tmp_path):
    with pytest.raises(ValueError, match="not built yet: attention"):
        contents_module._exercises(tmp_path, ["attention"])


def test_a_students_jupyterlab_is_without_nbgraders_panels_for_instructors(files):
    panels = json.loads(files["autograder/present/labconfig/page_config.json"])["disabledExtensions"]
    assert "autograder/present/labconfig/default_setting_overrides.json" in files
    installed = Path(sys.prefix) / "share" / "jupyter" / "labextensions" / "@jupyter" / "nbgrader" / "static"
    code = " ".join(path.read_text(encoding="utf-8") for path in installed.glob("*.js"))
    assert [name for name in panels if f'"{name}"' not in code] == []
    assert "@jupyter/nbgrader:validate-assignment" not in panels


def test_the_makefile_has_a_students_targets(files):
    text = files["Makefile"].decode()
    assert "make test" not in text
    assert students_makefile(text) == text
    assert f"VERBS := {' '.join(verbs.FOR_STUDENTS)}\n" in text
