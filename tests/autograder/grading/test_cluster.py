"""The recipe for several machines in the guide, by its own commands: PostgreSQL, a scheduler, workers."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.autograder.answers import sources
from tests.autograder.courses import checkout, hand_in, snapshot
from tests.autograder.grading.postgres import database

ASSIGNMENT = "attention"
CLASS = {f"student{number}": number for number in (0, 3, 5)}
pytestmark = [pytest.mark.slow, pytest.mark.everything, pytest.mark.timeout(1800), pytest.mark.filterwarnings("ignore")]


def some(many: int):
    """So many answers right, the next one an error, the others not written."""

    def change(name, cells, notebook):
        for number, (function, source) in enumerate(sources(ASSIGNMENT).items()):
            if number <= many:
                cells[function].source = source if number < many else "raise RuntimeError"
        cells["written"].source = f"All words are looked at, {many} times."

    return change


def autograder(*words: str) -> list[str]:
    return [sys.executable, "-m", "autograder", words[0], "--ready", "--here", "--", *words[1:]]


def around(root: Path) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(root), "OMP_NUM_THREADS": "1", "JUPYTER_PLATFORM_DIRS": "1"}


def say(root: Path, *words: str) -> str:
    line = autograder(*words)
    done = subprocess.run(line, cwd=root, env=around(root), capture_output=True, text=True, timeout=1200)
    assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
    return done.stdout


@contextmanager
def cluster(folder: Path, course: Path) -> Iterator[tuple[str, list[subprocess.Popen]]]:
    """The address of a scheduler with two workers, and these."""
    pytest.importorskip("distributed", reason="dask and distributed are not installed (the extra `cluster`)")
    here = folder / "scheduler.json"
    line = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0"]
    line += ["--no-dashboard", "--scheduler-file", str(here)]
    quiet = {"env": around(course), "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    scheduler, workers = subprocess.Popen(line, cwd=folder, **quiet), []
    try:
        address = wait_for(here, scheduler)
        for _ in range(2):
            worker = autograder("worker", address, "--cores", "1")
            workers.append(subprocess.Popen(worker, cwd=course, start_new_session=True, **quiet))
        yield address, workers
    finally:
        for process in workers:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
        scheduler.terminate()
        for process in (*workers, scheduler):
            process.wait(60)


def test_two_workers_and_postgresql_give_the_marks_of_one_process_and_sqlite(server, tmp_path):
    one = checkout(tmp_path / "one", ASSIGNMENT)
    say(one, "build")
    for student, many in CLASS.items():
        hand_in(one, ASSIGNMENT, student, some(many))
    (one / "roster.csv").write_text("id,email\n" + "".join(f"{s},{s}@uni.example\n" for s in [*CLASS, "zoe"]))
    say(one, "roster", "roster.csv")
    shutil.copytree(one, several := tmp_path / "several")
    said = say(one, "grade", ASSIGNMENT, "--jobs", "1")
    (several / "gradebook.db").unlink()
    (several / "grading").mkdir(exist_ok=True)
    shutil.copy(one / "grading" / "secret", several / "grading" / "secret")  # the same hidden inputs

    url = database(server, "gradebook").replace("://", "+psycopg2://")
    (several / "course_config.py").write_text(f"get_config().CourseDirectory.db_url = {url!r}\n")
    say(several, "build")
    say(several, "roster", "roster.csv")
    with cluster(tmp_path, several) as (address, _):
        seen = say(several, "grade", ASSIGNMENT, "--scheduler", address)

    assert not (several / "gradebook.db").exists()
    assert marks(seen) == marks(said)
    assert len(marks(seen)) == len(CLASS)
    assert snapshot(several, ASSIGNMENT) == snapshot(one, ASSIGNMENT)
    for root in (one, several):
        say(root, "report", ASSIGNMENT)
        say(root, "feedback", ASSIGNMENT)
    for name in [f"grading/{ASSIGNMENT}/report.csv", *(f"feedback/{s}/{ASSIGNMENT}/{ASSIGNMENT}.html" for s in CLASS)]:
        assert (several / name).read_bytes() == (one / name).read_bytes(), name


def test_of_a_class_whose_worker_is_killed_no_mark_is_lost_and_none_is_wrong(tmp_path):
    """`NLM_CLASS=300` takes a class of 300, as `benchmarks/README.md` has it."""
    size = int(os.environ.get("NLM_CLASS", "40"))
    several = checkout(tmp_path / "several", ASSIGNMENT)
    say(several, "build")
    shutil.copytree(several, one := tmp_path / "one")
    of_each = {f"student{many}": many for many in range(0, 12, 2)}
    for student, many in of_each.items():
        hand_in(one, ASSIGNMENT, student, some(many))
    say(one, "grade", ASSIGNMENT)
    alone = {of_each[student]: grades(about) for student, about in snapshot(one, ASSIGNMENT).items()}
    assert len({str(each) for each in alone.values()}) == len(of_each)

    handed_in = {f"s{number:03}": [*alone][number % len(alone)] for number in range(size)}
    for student, many in handed_in.items():
        hand_in(several, ASSIGNMENT, student, some(many))
    records = several / "grading" / ASSIGNMENT
    began = time.monotonic()
    with cluster(tmp_path, several) as (address, workers):
        line = autograder("grade", ASSIGNMENT, "--scheduler", address)
        grading = subprocess.Popen(line, cwd=several, env=around(several), stdout=subprocess.PIPE, text=True)
        while len(list(records.glob("*/record.json"))) < size // 3 and grading.poll() is None:
            time.sleep(0.1)
        os.killpg(workers[0].pid, signal.SIGKILL)
        at = len(list(records.glob("*/record.json")))
        said, _ = grading.communicate()
    print(f"{size} students: {time.monotonic() - began:.0f} s; killed at {at}")
    assert grading.returncode == 0, said
    assert size // 3 <= at < size
    found = {student: grades(about) for student, about in snapshot(several, ASSIGNMENT).items()}
    assert found == {student: alone[many] for student, many in handed_in.items()}


def grades(about: dict) -> list:
    return about[ASSIGNMENT]["grades"]


def wait_for(file: Path, process: subprocess.Popen) -> str:
    until = time.monotonic() + 60
    while time.monotonic() < until and process.poll() is None:
        try:
            return json.loads(file.read_text())["address"]
        except (OSError, ValueError, KeyError):
            time.sleep(0.2)
    raise AssertionError("the scheduler did not start")


def marks(said: str) -> list[str]:
    """What `grade` says of each submission, whatever the order and the time left."""
    return sorted(m[0] for m in re.finditer(r"student\d: [^\n]*?\d of \d+[^\n;]*", said))
