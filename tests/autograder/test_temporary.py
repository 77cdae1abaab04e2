"""Temporary folders of a process that was killed go with the next one, and those of a living one stay."""

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from autograder import files, temporary

MAKE = (
    "import sys, tempfile; tempfile.tempdir = sys.argv[1]\n"
    "from autograder import temporary\n"
    "made = temporary.folder('box'); (made / 'x').write_text('1')\n"
    "print(made, flush=True); sys.stdin.read()"
)


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(temporary, "_homes", {})
    yield tmp_path
    temporary.leave()


def begin(place):
    line = [sys.executable, "-c", MAKE, str(place)]
    made = subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    return made, Path(made.stdout.readline().strip())


def end(process, number):
    if number:
        process.send_signal(number)
    process.communicate()


def test_what_a_killed_process_left_is_removed_and_what_a_living_one_has_stays(place):
    killed, lost = begin(place)
    living, kept = begin(place)
    end(killed, signal.SIGKILL)
    assert (lost / "x").is_file()
    (place / "nlm-course-of-somebody").write_text("no folder")
    (place / "nlm-course-link").symlink_to(place)
    mine = temporary.folder("preflight")
    assert not lost.exists()
    assert not list(place.glob(f"{lost.parent.name}*"))
    assert (kept / "x").is_file()
    assert mine.is_dir()
    end(living, 0)
    assert not kept.exists()
    own = {mine.parent.name, f"{mine.parent.name}.lock"}
    assert {path.name for path in place.iterdir()} == {"nlm-course-link", "nlm-course-of-somebody"} | own


@pytest.mark.skipif(os.name != "posix", reason="whether a process lives is not asked elsewhere")
def test_half_made_files_of_the_dead_are_removed_and_those_of_the_living_are_not(tmp_path):
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    for name in (f".report.csv.{gone.pid}", f".report.csv.{os.getppid()}", f".report.csv.{os.getpid()}", ".begun"):
        (tmp_path / "ada").mkdir(exist_ok=True)
        (tmp_path / "ada" / f"{name}{files.WRITING}").touch()
    files.sweep(tmp_path)
    assert len(list(tmp_path.rglob("*.writing"))) == 4
    files.sweep(tmp_path, deep=True)
    assert [path.name for path in tmp_path.rglob("*.writing")] == [f".report.csv.{os.getppid()}.writing"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_fork_has_a_folder_of_its_own(place):
    mine = temporary.home()
    child = os.fork()
    if child == 0:
        os._exit(0 if temporary.home() != mine else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    temporary.sweep()
    assert [path for path in place.iterdir() if path.is_dir()] == [mine]
