"""nbgrader's exchange as the guide sets it up: two people, with homes of their own, on one machine.

nbgrader's own commands run in this process; who somebody is to them is the account, which is put in.
"""

import os
from contextlib import contextmanager, suppress
from pathlib import Path

import nbformat
import pytest
from jupyter_core.application import NoStart
from nbgrader.apps import NbGraderApp

from autograder.commands.around import feedback
from autograder.commands.grade import grade
from autograder.commands.students import exchange
from autograder.grading.course import Course
from tests.autograder.courses import ANSWERS, writes

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.skipif(os.name == "nt", reason="nbgrader's exchange needs Unix"),
]


@pytest.fixture
def somebody(tmp_path, monkeypatch):
    """Be somebody, in a folder: nbgrader's commands, as they would be typed there."""

    @contextmanager
    def be(name: str, folder: Path):
        home = tmp_path / "homes" / name
        home.mkdir(parents=True, exist_ok=True)
        folder.mkdir(parents=True, exist_ok=True)
        with monkeypatch.context() as patch:
            patch.setenv("HOME", str(home))
            for variable in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_CONFIG_PATH"):
                patch.delenv(variable, raising=False)
            patch.setattr("nbgrader.utils.get_osusername", lambda: name)
            patch.chdir(folder)

            def nbgrader(*words: str) -> None:
                app = NbGraderApp()
                try:
                    app.initialize(list(words))
                    with suppress(NoStart):
                        app.start()
                finally:
                    type(app.subapp).clear_instance()

            yield nbgrader

    return be


def as_everybody_has_it(written: Path, home: Path) -> None:
    (home / ".jupyter").mkdir(parents=True)
    (home / ".jupyter" / "nbgrader_config.py").write_bytes(written.read_bytes())


def test_an_assignment_goes_out_comes_back_and_feedback_follows(place, tmp_path, somebody, capsys):
    root, shared = place.root, tmp_path / "srv" / "exchange"
    exchange(place, ["--root", str(shared)])  # 1 where others cannot enter pytest's folder
    said = capsys.readouterr().out
    assert f"The exchange is {shared}, and this course uses it" in said
    assert shared.stat().st_mode & 0o7777 == 0o1777
    written = root / "grading" / "students_nbgrader_config.py"
    assert f"sudo install -D -m 644 {written} /etc/jupyter/nbgrader_config.py" in said

    with somebody("prof", root) as nbgrader:
        nbgrader("release_assignment", "plain")
    names = {"ada": "one", "bob": "One (1) final"}  # of the notebook, as it is handed in
    for student in ("ada", "bob"):
        as_everybody_has_it(written, tmp_path / "homes" / student)
        with somebody(student, tmp_path / "homes" / student / "course") as nbgrader:
            nbgrader("fetch_assignment", "plain")
            notebook = nbformat.read("plain/one.ipynb", as_version=4)
            cells = {c.metadata.nbgrader.grade_id: c for c in notebook.cells if "nbgrader" in c.metadata}
            writes(ANSWERS if student == "ada" else {})("one", cells, notebook)
            Path("plain/one.ipynb").unlink()
            nbformat.write(notebook, f"plain/{names[student]}.ipynb")
            nbgrader("submit", "plain")
    inbound = shared / "neural-language-models/inbound"
    (next(inbound.glob("bob+*")) / "secret.txt").symlink_to(root / "gradebook.db")  # which only the course may read
    for name in ("nobody+plain+2026-01-01 00:00:00 UTC+x", "..+plain+2026-01-01 00:00:00 UTC+x", "eve+plain+soon+x"):
        (inbound / name).mkdir()  # in another's name, out of the folder, without a time
    (inbound / "fay+plain+2026-01-01 00:00:00 UTC+x").symlink_to(root / "solutions" / "plain")
    with somebody("prof", root) as nbgrader:
        nbgrader("collect", "plain")
    assert Course.load(root).students("plain") == ["ada", "bob"]
    assert not (root / "plain").exists()
    assert (root / "submitted/bob/plain").stat().st_mode & 0o777 == 0o755
    assert (root / "submitted/bob/plain/secret.txt").is_symlink()
    (root / "submitted/zoe/plain").mkdir(parents=True)  # handed in by e-mail: without a secret, and without a time
    assert grade(place, ["plain"]) == 1
    assert feedback(place, ["plain"]) == 0
    assert not (root / "autograded/bob/plain/secret.txt").exists()
    with somebody("prof", root) as nbgrader:
        nbgrader("release_feedback", "plain")
    for student in ("ada", "bob"):
        with somebody(student, tmp_path / "homes" / student / "course") as nbgrader:
            nbgrader("fetch_feedback", "plain")
            pages = sorted(Path("plain/feedback").glob("*/*.html"))
            assert [page.name for page in pages] == [f"{names[student]}.html", "two.html"]
            assert pages[0].read_bytes() == (root / "feedback" / student / "plain" / "one.html").read_bytes()


def test_it_is_set_up_once_and_says_what_is_in_the_way(place, tmp_path, call):
    theirs = tmp_path / "etc" / "nbgrader_config.py"
    words = ["--root", str(tmp_path / "x"), "--students", str(theirs)]
    assert exchange(place, words) == exchange(place, words)
    first = theirs.read_text()
    assert str(tmp_path / "x") in first
    theirs.write_text("c = get_config()\n")
    assert "is there already, and was left as it is" in call(exchange, place, *words, code=1)
    assert theirs.read_text() == "c = get_config()\n"
    tmp_path.chmod(0o700)
    assert "Other users cannot enter" in call(exchange, place, *words, code=1)
