"""A new assignment holds as it is scaffolded: it is tested, built, released, and checked in a student's copy."""

import shutil
import zipfile
from pathlib import Path

import nbformat
import pytest

from autograder.scaffold.new import FILES, main, scaffold
from tests.autograder.courses import env
from tests.autograder.elsewhere import python

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.everything  # six programs one after the other, twenty seconds
@pytest.mark.slow
def test_a_scaffolded_assignment_is_tested_released_and_checked(tmp_path):
    root = tmp_path / "course"
    root.mkdir()
    ours = [p for p in ROOT.iterdir() if p.is_file() and not p.name.startswith((".", "gradebook"))]
    for path in ours:
        shutil.copy(path, root)
    others = [path.name for path in (ROOT / "solutions").iterdir() if path.is_dir()]
    cruft = shutil.ignore_patterns("__pycache__", "*.ipynb", ".*", *others)
    for name in ("autograder", "lectures", "tests"):
        ignored = cruft if name == "autograder" else shutil.ignore_patterns("__*__")
        shutil.copytree(ROOT / name, root / name, ignore=ignored)
    (root / "nlmcore").mkdir()
    (root / "nlmcore" / "__init__.py").touch()

    begun = python(root, "-m", "autograder", "new", "--here", "beam_search", "--title", "Beams")
    assert begun.returncode == 0, begun.stderr
    for place in FILES.values():
        assert place.format(name="beam_search") in begun.stdout
    assert "NAME_" not in "".join((root / p.format(name="beam_search")).read_text() for p in FILES.values())

    tested = python(root, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--noconftest", "-o", "addopts=",
                    "tests/autograder/test_checks.py", "-k", "beam_search")  # fmt: skip
    assert tested.returncode == 0, tested.stdout

    released = python(root, "-m", "autograder", "release", "--ready", "--here", "--", "--to", str(tmp_path / "out"))
    assert released.returncode == 0, released.stderr
    with zipfile.ZipFile(tmp_path / "out" / "neural-language-models.zip") as archive:
        archive.extractall(tmp_path)
    student = tmp_path / "neural-language-models"
    built = python(student, "-m", "autograder", "build", "--ready", "--here")
    assert built.returncode == 0, built.stderr

    notebook = student / "work/beam_search/beam_search.ipynb"
    cells = nbformat.read(notebook, as_version=4)
    assert "# Assignment: Beams" in cells.cells[0].source
    assert sum("raise NotImplementedError()" in cell.source for cell in cells.cells) >= 1
    wrong = (
        "def tempered_softmax(scores, temperature):\n    e = np.exp(scores)\n    return e / e.sum(-1, keepdims=True)"
    )
    right = (
        "def tempered_softmax(scores, temperature):\n    s = scores / temperature\n"
        "    e = np.exp(s - s.max(-1, keepdims=True))\n    return e / e.sum(-1, keepdims=True)"
    )
    for source, code, words in ((wrong, 1, "never use it"), (right, 0, "well done")):
        for cell in cells.cells:
            if cell.id == "tempered_softmax":
                cell.source = source
            elif cell.metadata.get("nbgrader", {}).get("grade_id") == "written":
                cell.source = "The weights of a hot softmax are nearly equal."
        nbformat.write(cells, notebook)
        said = python(student, "-m", "autograder", "check", "--ready", "--here", "--", str(notebook))
        assert words in said.stdout, said.stdout + said.stderr
        assert said.returncode == code


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("Beam Search", "perhaps beam_search"),
        ("2nd", "beginning with a letter"),
        ("beam-search", "perhaps beam_search"),
        ("lambda", "no word of Python"),
        ("../out", "perhaps out"),
        ("a" * 41, "at most 40"),
        ("", "small letters"),
    ],
)
def test_a_bad_name_is_refused_with_a_better_one(tmp_path, name, words, call):
    assert words in call(main, env(tmp_path), name, code=2)
    assert list(tmp_path.iterdir()) == []


def test_a_taken_name_is_refused_and_nothing_is_overwritten(tmp_path):
    (tmp_path / "solutions" / "one").mkdir(parents=True)
    with pytest.raises(ValueError, match="already: solutions/one exists"):
        scaffold(tmp_path, "one")
    assert [p for p in tmp_path.rglob("*") if p.is_file()] == []
    with pytest.raises(ValueError, match="an assignment attention already"):
        scaffold(ROOT, "attention")
