"""What does grading a class cost, beside stock nbgrader, from ten submissions to thousands, and with two workers?

    python benchmarks/grading.py                                    # 200 students, 5 of them by stock nbgrader too
    python benchmarks/grading.py --students 2000 --stock 10
    python benchmarks/grading.py --students 0 --stock 3             # that comparison alone
    python benchmarks/grading.py --stock 0 --workers 0              # the cost of many, alone

The class is synthetic: `synthetic_class`. Stock is `nbgrader autograde` with its own preprocessors, in this process,
so that the start of its program costs it nothing; ours has its box warm, as after the first submission of a run. The
two take turns at the same submissions, so a busy machine slows both alike. Wall seconds decide; processor seconds,
of all processes together, stand beside them, as they depend less on what else the machine does: what is said to be
flat is said of both.
"""

import argparse
import contextlib
import itertools
import os
import resource
import shutil
import statistics
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from nbgrader.converters import Autograde
from nbgrader.coursedir import CourseDirectory
from nbgrader.utils import capture_log
from synthetic_class import ASSIGNMENT, fill, make_course
from traitlets.config import Config

import autograder.grading.execute as execute_module
import autograder.grading.run as run_module
from autograder.grading.course import Course
from autograder.grading.gradebook import Scores, scores_of
from autograder.grading.run import grade
from autograder.grading.write import Writer
from autograder.sandbox.box import Box
from autograder.sandbox.session import Session

SEED = "20251121"
"""The seed of the hidden inputs, the same for all: both ways are asked the same questions."""
PHASES = (
    ("pre-flight", run_module, "prepare_guarded"),
    ("plan", execute_module, "plan_notebook"),
    ("box", execute_module, "attempt"),
    ("judge", execute_module, "mark_notebook"),
    ("write", Writer, "write"),
)


class Clock:
    """Wall seconds per phase, and processor seconds that notebooks and their supervisors used in the box."""

    def __init__(self) -> None:
        self.phases: dict[str, float] = {name: 0.0 for name, _, _ in PHASES}
        self.box_cpu = 0.0

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        kept = [(place, name, getattr(place, name)) for _, place, name in PHASES]
        status = Session._status
        for phase, place, name in PHASES:
            setattr(place, name, self._timed(phase, getattr(place, name)))
        Session._status = self._heard(status)  # type: ignore[method-assign]
        try:
            yield
        finally:
            Session._status = status  # type: ignore[method-assign]
            for place, name, original in kept:
                setattr(place, name, original)

    def _timed(self, phase: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*given: Any, **named: Any) -> Any:
            began = time.perf_counter()
            try:
                return function(*given, **named)
            finally:
                self.phases[phase] += time.perf_counter() - began

        return timed

    def _heard(self, status: Callable[..., Any]) -> Callable[..., Any]:
        def heard(session: Any, dying: float) -> Any:
            told = status(session, dying)
            self.box_cpu += float(told.get("cpu", 0.0)) + float(told.get("own", 0.0))
            return told

        return heard


# --- beside stock -------------------------------------------------------------------------------------------------


def against_stock(template: Path, count: int, folder: Path) -> None:
    """Seconds per submission of both, in turn, and where their marks differ."""
    ours, theirs = (Path(shutil.copytree(template, folder / name)) for name in ("ours", "stock"))
    first, *students = fill(ours, count + 1, seed=1, plain=True)
    fill(theirs, count + 1, seed=1, plain=True)
    lines, clock = grade(Course.load(ours), ASSIGNMENT), Clock()
    assert next(lines).record.student == first  # starts the box, as the first of a run does
    wall: dict[str, list[float]] = {"stock": [], "ours": []}
    cpu: dict[str, list[float]] = {"stock": [], "ours": []}
    for student in students:
        began, used = time.perf_counter(), _cpu()
        by_stock(theirs, student)
        wall["stock"].append(time.perf_counter() - began)
        cpu["stock"].append(_cpu() - used)
        began, used = time.perf_counter(), _cpu() + _warm_cpu() + clock.box_cpu
        with clock.running():
            assert next(lines).record.student == student
        wall["ours"].append(time.perf_counter() - began)
        cpu["ours"].append(_cpu() + _warm_cpu() + clock.box_cpu - used)
    list(lines)
    print(f"\nBeside stock nbgrader, {count} submissions in turn (seconds per submission)")
    print(f"{'':12}{'stock':>10}{'ours':>10}{'ratio':>10}")
    for name, found in (("wall", wall), ("processor", cpu)):
        one, other = (statistics.median(found[way]) for way in ("stock", "ours"))
        print(f"{name:12}{one:10.2f}{other:10.3f}{one / other:10.1f}")
    _compare({student: _scores(ours)[student] for student in students}, _scores(theirs))


def by_stock(root: Path, student: str) -> None:
    """`nbgrader autograde` as it comes, for one student."""
    config = Config()
    config.CourseDirectory = Course.load(root).config.CourseDirectory
    config.CourseDirectory.assignment_id = ASSIGNMENT
    config.CourseDirectory.student_id = student
    told = capture_log(Autograde(coursedir=CourseDirectory(config=config), config=config))
    if not told["success"]:
        print(f"  stock did not grade {student}: {str(told.get('error') or told.get('log'))[-300:]}")


def _compare(ours: dict[str, Scores], theirs: dict[str, Scores]) -> None:
    cells = [(s, cell) for s in sorted(ours) for cell in ours[s][ASSIGNMENT] if cell != "written"]
    differ = [
        (student, cell, ours[student][ASSIGNMENT][cell], theirs.get(student, {}).get(ASSIGNMENT, {}).get(cell))
        for student, cell in cells
        if ours[student][ASSIGNMENT][cell] != theirs.get(student, {}).get(ASSIGNMENT, {}).get(cell)
    ]
    print(f"marks: {len(cells) - len(differ)} of {len(cells)} cells are the same")
    for student, cell, mine, other in differ:
        print(f"  {student} {cell}: ours {mine}, stock {other}")


def _scores(root: Path) -> dict[str, Scores]:
    with Course.load(root).gradebook() as gradebook:
        return scores_of(gradebook, ASSIGNMENT)


def _cpu() -> float:
    """Processor seconds of this process and of those it has waited for."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used)


def _warm_cpu() -> float:
    """Processor seconds of the box's warm parent itself."""
    ticks = 0
    for process in _box_processes():
        with contextlib.suppress(OSError, ValueError):
            stat = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
            ticks += int(stat[11]) + int(stat[12])
    return ticks / os.sysconf("SC_CLK_TCK")


# --- a class ------------------------------------------------------------------------------------------------------


def a_class(template: Path, count: int, folder: Path) -> None:
    """Cost and memory from the first submission to the last, and where the time goes."""
    root = Path(shutil.copytree(template, folder / "class"))
    fill(root, count)
    clock = Clock()
    ends, used = [time.perf_counter()], [time.process_time()]
    spent = [0.0]
    memory: list[tuple[int, int]] = []
    states: dict[str, int] = {}
    with clock.running():
        for line in grade(Course.load(root), ASSIGNMENT):
            if not memory:  # the first starts the box
                clock.__init__()  # type: ignore[misc]
                ends, used, spent = [time.perf_counter()], [time.process_time()], [time.process_time() + _warm_cpu()]
            else:
                ends.append(time.perf_counter())
                used.append(time.process_time())
                spent.append(used[-1] + _warm_cpu() + clock.box_cpu)
            memory.append((_resident(os.getpid()), _box_memory()))
            states[line.record.state] = states.get(line.record.state, 0) + 1
    total = ends[-1] - ends[0]
    print(f"\nA class of {count}: {', '.join(f'{n} {state}' for state, n in sorted(states.items()))}; one worker")
    print(
        f"{'submissions':16}{'median s':>10}{'mean s':>10}{'cpu s':>10}{'of grader':>12}{'grader MB':>12}{'box MB':>9}"
    )
    rows = []
    for first, last in _windows(count):
        steps = [ends[n] - ends[n - 1] for n in range(first, last)]
        own = (used[last - 1] - used[first - 1]) / len(steps)
        cpu = (spent[last - 1] - spent[first - 1]) / len(steps)
        mine, box = memory[last - 1]
        rows.append((statistics.median(steps), cpu, mine, box))
        print(
            f"{f'{first + 1} to {last}':16}{statistics.median(steps):10.3f}{statistics.fmean(steps):10.3f}"
            f"{cpu:10.3f}{own:12.3f}{mine / 2**20:12.0f}{box / 2**20:9.0f}"
        )
    if len(rows) > 1:
        number = min(1, len(rows) - 2)
        early, late = rows[number], rows[-1]
        first, last = list(_windows(count))[number]
        names = ("median seconds", "processor seconds", "grader's memory", "box's memory")
        told = (f"{name} {b / a:.2f}" for name, a, b in zip(names, early, late, strict=True))
        print(f"the last row over that of {first + 1} to {last}, times: {', '.join(told)}")
    print("where the time goes, per submission:")
    rest = total - sum(clock.phases.values())
    for name, seconds in {**clock.phases, "the rest": rest}.items():
        print(f"  {name:14}{seconds / (count - 1):8.4f} s{100 * seconds / total:7.1f} %")
    print(f"  processor seconds in the box: {clock.box_cpu / (count - 1):.3f}")


def _windows(count: int) -> Iterator[tuple[int, int]]:
    marks = [1, *(mark for mark in (10, 100, 500, 1000) if mark < count), count]
    return itertools.pairwise(marks)


def _resident(process: int) -> int:
    try:
        return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * resource.getpagesize()
    except OSError:
        return 0


def _box_memory() -> int:
    return sum(map(_resident, _box_processes()))


def _box_processes() -> list[int]:
    """The warm parent and all that is alive around and below it."""
    box: Box = next(iter(execute_module._boxes.values()))
    return [] if box._parent is None else _tree(box._parent.process.pid)


def _tree(process: int) -> list[int]:
    try:
        own = [int(word) for word in Path(f"/proc/{process}/task/{process}/children").read_text().split()]
    except OSError:
        own = []
    return [process, *(below for child in own for below in _tree(child))]


# --- workers ------------------------------------------------------------------------------------------------------


def workers(template: Path, count: int, jobs: int, folder: Path) -> None:
    """The rate of several workers over that of one, after all are warm."""
    rates, totals, starts = {}, {}, {}
    for many in (1, jobs):
        root = Path(shutil.copytree(template, folder / f"workers-{many}"))
        fill(root, count, seed=2, plain=True)
        began = time.perf_counter()
        ends = [time.perf_counter() for _ in grade(Course.load(root), ASSIGNMENT, jobs=many)]
        warm = min(4 * jobs, count // 4)
        totals[many], starts[many] = ends[-1] - began, ends[0] - began
        rates[many] = (len(ends) - 1 - warm) / (ends[-1] - ends[warm])
        shutil.rmtree(root)
    print(f"\nWorkers, {count} submissions each")
    for many, rate in rates.items():
        said = f"{totals[many]:6.1f} s with the start, {starts[many]:.1f} s to the first"
        print(f"  {many}: {rate:6.2f} submissions a second when warm; {said}")
    print(f"  {jobs} against 1: {rates[jobs] / rates[1]:.2f} times when warm")
    gain = 1 / rates[1] - 1 / rates[jobs]
    if gain > 0:
        pays = max(0.0, starts[jobs] - starts[1]) / gain
        print(f"  they pay from {pays:.0f} submissions on (load {os.getloadavg()[0]:.1f}: on a busy machine, nothing)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--students", type=int, default=200, help="in the class")
    parser.add_argument("--jobs", type=int, default=2, help="workers, against one")
    parser.add_argument("--workers", type=int, default=60, help="submissions for that comparison")
    parser.add_argument("--stock", type=int, default=5, help="submissions that stock nbgrader grades, too")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    os.environ.update({"NLM_HIDDEN_SEED": SEED, "JUPYTER_PLATFORM_DIRS": "1", "OMP_NUM_THREADS": "1"})
    with tempfile.TemporaryDirectory(prefix="grading-") as place:
        folder = Path(place)
        (folder / "template").mkdir()
        template = make_course(folder / "template")
        if given.stock:
            against_stock(template, given.stock, folder)
        if given.students:
            a_class(template, given.students, folder)
        if given.workers:
            workers(template, given.workers, given.jobs, folder)


if __name__ == "__main__":
    main()
