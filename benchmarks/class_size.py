"""What does each step for a class cost as the class grows? Processor seconds of the very commands.

    python benchmarks/class_size.py                              # 30, 100, 250 and 500 students; half an hour
    python benchmarks/class_size.py --sizes 30 100 --of 1000     # smaller, and continued to 1,000
    python benchmarks/class_size.py --keep /tmp/class            # a folder that stays: stopped, it goes on there

One class of `synthetic_class` grows from size to size. Each step is the command that an instructor types, as a process
of its own, so its start is in every figure. `grade` is what all submissions together took, without the processes of the
notebooks themselves, which `grading.py` counts; `again` is `grade` with nothing left to do; `page` is what one page of
`mark` takes to read the class's marks and answers. Each further student costs the slope between two sizes: a step whose
slopes are alike is linear. The last column continues the line through the last two sizes.
"""

import argparse
import itertools
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

from synthetic_class import ASSIGNMENT, ROOT, fill, make_course

from autograder.grading.course import Course
from autograder.guard import Guard
from autograder.instructor.written import Class

STEPS: dict[str, tuple[str, ...]] = {
    "preflight": ("preflight", ASSIGNMENT),
    "grade": ("grade", ASSIGNMENT),
    "again": ("grade", ASSIGNMENT),
    "report": ("report", ASSIGNMENT),
    "feedback": ("feedback", ASSIGNMENT),
    "marks": ("report", ASSIGNMENT, "--automatic", "--lms", "moodle", "--out", "marks.csv"),
}
PAGE = "page"


def measured(course: Path, words: tuple[str, ...]) -> tuple[float, float]:
    """(processor seconds, wall seconds) of a command on the course, everything that it starts included."""
    began, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    line = [
        sys.executable,
        "-m",
        "autograder",
        words[0],
        "--ready",
        "--here",
        "--",
        *words[1:],
        "--course",
        str(course),
    ]
    run = subprocess.run(line, cwd=course, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if run.returncode not in (0, 1) or "Traceback" in run.stderr:  # 1: a few cannot be graded, and are meant not to be
        raise SystemExit(f"{' '.join(words)} failed: {run.stderr[-1000:]}")
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return used, time.perf_counter() - began


def grow(course: Path, size: int) -> dict[str, tuple[float, float]]:
    """Let the class grow to `size`, and take every step; what was measured is kept beside the course."""
    kept = course / f"measured-{size}.json"
    found = json.loads(kept.read_text()) if kept.exists() else {}
    fill(course, size)
    for step, words in STEPS.items():
        if step not in found:
            found[step] = measured(course, words)
            kept.write_text(json.dumps(found))
    if PAGE not in found:
        found[PAGE] = a_page(course)
        kept.write_text(json.dumps(found))
    return found


def a_page(course: Path) -> tuple[float, float]:
    """What `mark` does for each page: the marks and answers of everybody. The fastest of five, after one that reads the
    notebooks."""
    made = Course.load(course)
    found = []
    with Guard() as guard, made.gradebook() as gradebook:
        written = Class(made, ASSIGNMENT, guard)
        for _ in range(6):
            began, used = time.perf_counter(), time.process_time()
            for question in written.questions:
                written.units(gradebook, question)
            found.append((time.process_time() - used, time.perf_counter() - began))
    return min(found[1:])


def table(rows: dict[int, dict[str, tuple[float, float]]], of: int) -> None:
    sizes = list(rows)
    heads = "".join(f"{size:>9}" for size in sizes)
    print(f"\nprocessor seconds{heads}{'first slope':>13}{'last slope':>12}{of:>9}")
    for step in (*STEPS, PAGE):
        spent = [rows[size][step][0] for size in sizes]
        if step == "grade":  # at each size only the new ones were graded
            resumed = [rows[size]["again"][0] for size in sizes]
            new = [all_ - again for all_, again in zip(spent, resumed, strict=True)]
            spent = [again + sum(new[: n + 1]) for n, again in enumerate(resumed)]
        slopes = [(b - a) / (n - m) for (m, a), (n, b) in itertools.pairwise(zip(sizes, spent, strict=True))]
        cells = "".join(f"{seconds:9.2f}" for seconds in spent)
        then = spent[-1] + slopes[-1] * (of - sizes[-1])
        print(f"{step:17}{cells}{slopes[0]:13.5f}{slopes[-1]:12.5f}{then:9.1f}")


def main() -> None:
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[30, 100, 250, 500], help="of the class, growing")
    parser.add_argument("--of", type=int, default=5000, help="the class that the last column is for")
    parser.add_argument("--keep", type=Path, help="a folder for the class, instead of one that goes")
    given = parser.parse_args()
    sizes = sorted(set(given.sizes))
    if len(sizes) < 2:
        parser.error("two sizes at least: one has no slope")
    with tempfile.TemporaryDirectory(prefix="class-size-") as place:
        course = given.keep or Path(place) / "class"
        if not (course / "gradebook.db").exists():
            course.mkdir(parents=True, exist_ok=True)
            make_course(course)
        rows = {}
        for size in sizes:
            rows[size] = grow(course, size)
            said = ", ".join(f"{step} {cpu:.1f} ({wall:.1f})" for step, (cpu, wall) in rows[size].items())
            print(f"{size}: processor (wall) seconds: {said}", flush=True)
        table(rows, given.of)


if __name__ == "__main__":
    main()
