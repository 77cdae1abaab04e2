"""A student's folder with whatever may lie in it: nothing followed, nothing run, nobody stopped."""

import gc
import os
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path

import nbformat
import pytest

from autograder.preflight import prepare, report
from autograder.preflight.finding import MOST_DEPTH, scan
from autograder.preflight.folder import MOST_FINDINGS, check_folder
from autograder.preflight.master import Master
from tests.autograder.courses import zipped
from tests.autograder.preflight.conftest import kinds
from tests.autograder.preflight.test_repair import STOCK, stock


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "submitted/ada/attention"
    made.mkdir(parents=True)
    return made


@pytest.fixture
def submission(folder, solved):
    """The folder with the notebook in it."""
    write(solved, folder / "attention.ipynb")
    return folder


def write(notebook, path: Path) -> Path:
    """The notebook, or "1"."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(nbformat.writes(notebook) if notebook else "1", encoding="utf-8")
    return path


def words(prepared) -> str:
    return "\n".join(finding.words for finding in prepared.findings)


def answer_of(prepared) -> str:
    return next(c.source for c in prepared.notebooks["attention"].cells if "def attend(" in c.source)


# --- which file is the notebook -----------------------------------------------------------------------------


N = "attention.ipynb"
RENAMED = (
    *("attention (1).ipynb", "attention-final.ipynb", "Attention.ipynb", "ATTENTION.IPYNB", "attention.ipynb.txt"),
    *("attention.ipynb.json", "Ünïcode – 注意.ipynb", "two\nlines\x1b[31m.ipynb", "a'b\"c;$(touch x).ipynb"),
    "homework/deep/final attention.ipynb",
)
SHADOWING = (
    *("torch.py", "nlmcore/__init__.py", "nlmcore/attention.csv", "autograder/check.py", "sitecustomize.py"),
    *("usercustomize.py", "random.py", "math.so", "numpy.cpython-311-x86_64-linux-gnu.so"),
)
EXTRA = (
    *("helpers.py", "x.pth", ".ipython/profile_default/startup/00.py", ".config.json", "report.pdf", "work.rar"),
    *("line\nbreak.csv", "bell\x07.txt", "\udcff.csv"),
)
CHECKPOINT = ".ipynb_checkpoints/attention-checkpoint.ipynb"


@pytest.mark.parametrize(
    ("names", "said", "data"),
    [
        ([N, "timestamp.txt", ".DS_Store", CHECKPOINT, "data/points.csv"], [], ["data/points.csv"]),
        (["handed in/attention.ipynb", "handed in/points.csv", "other.csv"], [], ["other.csv", "points.csv"]),
        ([N, "a.csv", "A.csv"], ["extra-file"], ["A.csv"]),
        *(([N, name], [], [name]) for name in ("Points.CSV", "random/notes.txt")),
        *(([name], ["renamed"], []) for name in RENAMED),  # known by its cells
        *(([N, name], ["shadowing-file"], []) for name in SHADOWING),
        *(([N, name], ["extra-file"], []) for name in EXTRA),
    ],
)
def test_the_notebook_is_found_and_data_files_are_taken(folder, solved, master, names, said, data):
    for name in names:
        write(solved if ".ipynb" in name.lower() else None, folder / name)
    made = prepare(folder, [master])
    assert kinds(made.findings) == said
    assert (report(made) == "nothing to say") is (said == [])
    assert words(made).isprintable()
    assert made.notebooks["attention"].cells
    assert list(made.notebooks) == ["attention"]
    assert sorted(made.files) == data


def test_an_untouched_notebook_of_the_right_name_does_not_count_against_the_answers(folder, released, solved, master):
    stub = next(own.source for own in master.cells if own.id == "attend")
    write(solved, folder / "attention (1).ipynb")
    for cell in released.cells:  # `released` and `solved` are the same object: make it a released one again
        own = next((one for one in master.cells if one.id == cell.id and one.solution), None)
        cell.source = own.source if own else cell.source
    write(released, folder / "attention.ipynb")
    made = prepare(folder, [master])
    assert kinds(made.findings) == ["extra-file", "renamed"]
    assert answer_of(made) != stub


def test_of_two_with_answers_the_right_name_counts_and_it_is_said(folder, solved, master):
    write(solved, folder / "attention.ipynb")
    right = answer_of(prepare(folder, [master]))
    for cell in solved.cells:
        cell.source = cell.source.replace("return", "return 1 or")
    write(solved, folder / "attention (2).ipynb")
    made = prepare(folder, [master])
    assert kinds(made.findings) == ["extra-file", "several-notebooks"]
    assert answer_of(made) == right


def test_a_broken_notebook_does_not_hide_a_whole_one(folder, solved, master):
    (folder / "attention.ipynb").write_text("{")
    write(solved, folder / "copy.ipynb")
    made = prepare(folder, [master])
    assert kinds(made.findings) == ["renamed", "unreadable"]
    assert not made.blocked


@pytest.mark.parametrize(
    ("name", "content", "what"),
    [
        (None, None, "missing"),
        ("attention.py", "print()", "missing"),
        ("attention.ipynb", "", "unreadable"),
        ("attention.ipynb", '{"cells": [', "unreadable"),
        ("final.ipynb", '{"cells": [', "unreadable"),
        ("attention.ipynb", '{"nbformat": 4, "cells": []}', "foreign-notebook"),
        ("other.ipynb", '{"nbformat": 4, "cells": []}', "missing"),
        ("attention.ipynb", '{"nbformat": 4, "cells": [{"cell_type": "code", "source": "1"}]}', "foreign-notebook"),
    ],
)
def test_what_cannot_be_graded_is_blocked_and_not_zero(folder, master, name, content, what):
    if name is not None:
        (folder / name).write_text(content)
    made = prepare(folder, [master])
    assert what in kinds(made.findings)
    assert made.blocked
    assert made.notebooks == {}
    assert report(made).startswith("NOT GRADABLE")


@pytest.mark.parametrize("name", ["ngrams.ipynb", "work.rar", "work.zip", "attention.html"])
def test_what_was_handed_in_instead_is_named(folder, master, name):
    content = '{"nbformat": 4, "cells": []}' if name.endswith(".ipynb") else "Rar!"
    if name.endswith(".zip"):  # an archive in an archive
        zipped(folder / "outer.zip", {name: content})
    else:
        (folder / name).write_text(content)
    (found,) = (one for one in prepare(folder, [master]).findings if one.what == "missing")
    assert name in found.words


def test_one_of_several_notebooks_may_be_blocked(folder, solved, master):
    nb = stock("setup", "a", "b", "t1", "t2", "c", "task")
    write(solved, folder / "attention.ipynb")
    assert kinds(prepare(folder, [master, STOCK]).findings) == ["missing"]
    write(nb, folder / "stock.ipynb")
    assert prepare(folder, [master, STOCK]).findings == []
    shutil.move(folder / "stock.ipynb", folder / "attention2.ipynb")
    shutil.move(folder / "attention.ipynb", folder / "zzz.ipynb")
    made = prepare(folder, [master, STOCK])
    assert sorted(made.notebooks) == ["attention", "stock"]
    assert kinds(made.findings) == ["renamed", "renamed"]


def test_notebooks_with_exchanged_names_are_not_graded_as_each_other(folder, solved, master):
    write(solved, folder / "stock.ipynb")
    made = prepare(folder, [STOCK])
    assert kinds(made.findings) == ["extra-file", "foreign-notebook"]


# --- what else lies there -----------------------------------------------------------------------------------


def test_links_pipes_and_devices_are_not_followed(folder, solved, master, tmp_path):
    secret = tmp_path / "gradebook.json"
    secret.write_text("secret")
    (tmp_path / "other").mkdir()
    (tmp_path / "other/answers.csv").write_text("secret")
    write(solved, folder / "attention.ipynb")
    (folder / "link.json").symlink_to(secret)
    (folder / "absent.json").symlink_to(tmp_path / "nothing")
    (folder / "loop.json").symlink_to(folder / "loop.json")
    (folder / "folder").symlink_to(tmp_path / "other")
    (folder / "up").symlink_to("../../..")
    os.link(secret, folder / "hard.json")
    os.mkfifo(folder / "pipe.csv")
    os.mkfifo(folder / "pipe.ipynb")
    made = prepare(folder, [master])
    assert made.files == {}
    assert kinds(made.findings) == ["extra-file"] * 8
    assert list(made.notebooks) == ["attention"]


@pytest.mark.parametrize("how", ["symbolic", "hard"])
def test_a_notebook_that_is_a_link_is_not_read(folder, solved, master, tmp_path, how):
    other = write(solved, tmp_path / "submitted/bob/attention/attention.ipynb")
    (os.link if how == "hard" else os.symlink)(other, folder / "attention.ipynb")
    made = prepare(folder, [master])
    assert kinds(made.findings) == ["extra-file", "missing"]
    assert made.notebooks == {}


@pytest.mark.parametrize("level", ["attention", "ada"])
def test_a_folder_that_is_a_link_is_not_followed(solved, master, tmp_path, level):
    write(solved, tmp_path / "submitted/bob/attention/attention.ipynb")
    (tmp_path / "submitted/ada").symlink_to("bob") if level == "ada" else (tmp_path / "submitted/ada").mkdir()
    if level == "attention":
        (tmp_path / "submitted/ada/attention").symlink_to("../bob/attention")
    made = prepare(tmp_path / "submitted/ada/attention", [master])
    assert kinds(made.findings) == ["linked-folder"]
    assert made.notebooks == {}


def test_too_much_is_left_behind_and_the_findings_stay_few(submission, master):
    for number in range(300):
        (submission / f"{number}.csv").write_text("1")
        (submission / f"{number}.exe").write_text("1")
    with open(submission / "0.csv", "wb") as file:
        file.truncate(11 * 2**20)
    made = prepare(submission, [master])
    assert len(made.files) == 200
    assert len(made.findings) == MOST_FINDINGS + 1
    assert list(made.notebooks) == ["attention"]


def test_folders_in_folders_without_end(submission, master):
    place = submission
    for _ in range(MOST_DEPTH + 5):
        place = place / "d"
        place.mkdir()
    (place / "x.csv").write_text("1")
    found = []
    assert [name for name, _ in scan(submission, found)] == ["attention.ipynb"]
    assert kinds(found) == ["extra-file"]


def test_a_thousand_files_too_many(folder):
    for number in range(30):
        (folder / f"{number:02}.csv").write_text("1")
    found = []
    assert len(scan(folder, found, most=10)) == 10
    assert "may hold" in found[0].words


@contextmanager
def as_nobody():
    """Root may read everything: for once as somebody else."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.mark.parametrize("what", ["notebook", "data", "folder", "all"])
def test_what_cannot_be_opened_is_said(solved, master, what):
    with tempfile.TemporaryDirectory() as name:  # pytest's own folder is closed to others
        os.chmod(name, 0o755)
        folder = Path(name, "ada", "attention")
        notebook = write(solved, folder / "attention.ipynb")
        (folder / "sub").mkdir()
        (folder / "points.csv").write_text("1")
        target = {"notebook": notebook, "data": folder / "points.csv", "folder": folder / "sub", "all": folder}[what]
        target.chmod(0)
        with as_nobody():
            made = prepare(folder, [master])
        target.chmod(0o755)
    expected = {"notebook": ["unreadable"], "data": ["extra-file"], "folder": ["extra-file"]}
    assert kinds(made.findings) == expected.get(what, ["extra-file", "missing"])
    assert made.blocked is (what in ("notebook", "all"))


# --- archives -----------------------------------------------------------------------------------------------


def test_a_notebook_in_a_zip_is_graded_and_nothing_stays_behind(folder, solved, master):
    members = {"hw/attention.ipynb": nbformat.writes(solved), "hw/points.csv": "1", "hw/torch.py": "1"}
    members["__MACOSX/hw/._attention.ipynb"] = "x"
    zipped(folder / "work.zip", members)
    made = prepare(folder, [master])
    assert kinds(made.findings) == ["shadowing-file"]
    assert list(made.notebooks) == ["attention"]
    assert made.files["points.csv"].read_text() == "1"
    scratch = made.files["points.csv"].parents[2]
    assert scratch.is_dir()
    assert sorted(os.listdir(folder)) == ["work.zip"]
    del made
    gc.collect()
    assert not scratch.exists()


def test_archives_are_unpacked_where_the_caller_says(folder, solved, master, tmp_path):
    zipped(folder / "work.zip", {"attention.ipynb": nbformat.writes(solved), "points.csv": "1"})
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    made = prepare(folder, [master], scratch)
    assert made.files["points.csv"].is_relative_to(scratch)
    del made
    gc.collect()
    assert scratch.exists()


def test_an_archive_in_the_place_of_the_folder(folder, solved, master):
    folder.rmdir()
    zipped(folder.with_name("attention.zip"), {"attention.ipynb": nbformat.writes(solved)})
    made = prepare(folder, [master])
    assert made.findings == []
    assert list(made.notebooks) == ["attention"]


def test_archives_in_archives_and_damaged_ones_are_said(submission, master):
    zipped(submission / "outer.zip", {"inner.zip": b"PK"})
    (submission / "broken.zip").write_bytes(b"PK\3\4 broken")
    (submission / "broken.tar.gz").write_bytes(b"\x1f\x8b broken")
    made = prepare(submission, [master])
    assert kinds(made.findings) == ["damaged-archive", "damaged-archive", "extra-file"]
    assert not made.blocked


def test_many_small_archives_that_unpack_to_much_are_one_submission(folder, solved, master, tmp_path):
    zipped(folder / "0.zip", {"zeros.csv": bytes(60 * 2**20)})
    for number in range(1, 8):
        shutil.copy(folder / "0.zip", folder / f"{number}.zip")
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    write(solved, folder / "attention.ipynb")
    made = prepare(folder, [master], scratch)
    assert list(made.notebooks) == ["attention"]
    assert sum(path.stat().st_size for path in scratch.rglob("*.csv")) == 60 * 2**20
    assert sum("100 MB" in finding.words for finding in made.findings) == 7


# --- a class ------------------------------------------------------------------------------------------------


def test_a_class_is_looked_at_whatever_one_of_them_did(tmp_path, solved, master, monkeypatch):
    class Course:
        def masters(self, assignment) -> list[Master]:
            return [master]

        def students(self, assignment):
            return ["ada", "bob", "eve"]

        def submission(self, student, assignment):
            return tmp_path / student / assignment

    write(solved, tmp_path / "ada/attention/attention.ipynb")
    (tmp_path / "bob").mkdir()
    (tmp_path / "bob/attention").write_text("a file where a folder should be")
    write(solved, tmp_path / "eve/attention/attention.ipynb")
    looked = dict(check_folder(Course(), "attention"))
    assert [prepared.blocked for prepared in looked.values()] == [False, True, False]
    assert list(dict(check_folder(Course(), "attention", ["eve", "zoe"]))) == ["eve", "zoe"]

    def fail(*_):
        raise RuntimeError("a mistake of ours \x1b")

    monkeypatch.setattr("autograder.preflight.folder.choose", fail)
    looked = dict(check_folder(Course(), "attention"))
    assert [kinds(prepared.findings) for prepared in looked.values()] == [["fault"]] * 3
    assert all(prepared.blocked and words(prepared).isprintable() for prepared in looked.values())


def test_the_report_keeps_the_kinds_apart(folder, solved, master):
    solved.cells = [cell for cell in solved.cells if cell.id != "check_attend"]
    write(solved, folder / "attention (1).ipynb")
    (folder / "torch.py").write_text("")
    assert report(prepare(folder, [master])).split("\n") == [
        "repaired      attention (1).ipynb is graded as attention.ipynb.",
        "repaired      check_attend: missing from the notebook, and restored.",
        "left behind   torch.py was left behind: it would be imported instead of torch.",
    ]
