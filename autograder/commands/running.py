"""What runs that grade a class share: their options, what is said when they are stopped, and how fast they go."""

import os
import signal
import sys
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NoReturn

from autograder.commands import shared
from autograder.commands.shared import option

if TYPE_CHECKING:
    from autograder.grading.run import Line


MANY = shared.number(int, lambda number: number >= 1, "1 or more")
JOBS = option("--jobs", type=MANY, default=1, metavar="N", help="submissions at a time (default: 1)")
SCHEDULER = option("--scheduler", metavar="URL", help="hand the work out to a Dask cluster")
TIERS = ("auto", "bubblewrap", "landlock", "none")
CONTAINED = "how students' code is contained; auto, the default: the best that is here; none: not at all"
ISOLATION = option("--isolation", choices=TIERS, default="auto", metavar="TIER", help=CONTAINED)


@dataclass
class Told:
    """The lines of a run so far, and what is said if it is stopped."""

    again: bool = False
    lines: "list[Line]" = field(default_factory=list)

    def stopped(self) -> None:
        done = sum(line.record.state != "fault" for line in self.lines)
        told = f"{done} of {self.lines[-1].of} are done, and stay so" if self.lines else "nothing was done yet"
        again = " (without --again)" if self.again else ""
        print(f"\nStopped: {told}. The same command resumes{again}.", file=sys.stderr, flush=True)

    def listen(self) -> None:
        """Ctrl-C ends a process of our own in the middle of a submission, and its workers with it: what is done is on
        the disk, and what is half done is done again. Elsewhere it is heard between two submissions."""
        if shared.own_process():
            signal.signal(signal.SIGINT, self._leave)

    def _leave(self, *signalled: object) -> NoReturn:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            self.stopped()
            from autograder import temporary
            from autograder.grading.execute import abandon_boxes
            from autograder.grading.pool import end_at_once

            end_at_once()
            abandon_boxes()
            temporary.leave()
        finally:
            os._exit(shared.STOPPED)


SURE, WORTH = 8, 30.0  # submissions after which their pace is known; seconds that are worth a word


class Pace:
    """How long a submission takes in this run, and whether one worker more, or fewer, would be faster. A worker must
    load what this process has loaded, and start a sandbox; how long that takes is known when the first submission is
    done."""

    def __init__(self, jobs: int, began: float) -> None:
        self.jobs, self.began = jobs, began
        self.ends: list[float] = []

    def after(self, left: int, now: float | None = None) -> str:
        """Call this after each submission; returns a message, usually empty."""
        self.ends.append(time.monotonic() if now is None else now)
        if self.jobs != 1 or len(self.ends) != SURE or (os.cpu_count() or 1) < 2:
            return ""
        start, rest = self.ends[0] - self.began, left * (self.ends[-1] - self.ends[0]) / (SURE - 1)
        saved = rest / 2 - start
        if saved < max(WORTH, rest / 5):
            return ""
        return (
            f"About {rest:.0f} s are left. A second worker takes about {start:.0f} s to start and could save up to"
            f" {saved:.0f} s: stop this with Ctrl-C, and the same command with --jobs 2 goes on."
        )

    def in_the_end(self) -> str:
        if self.jobs < 2 or len(self.ends) < 2:
            return ""
        start, rest = self.ends[0] - self.began, self.ends[-1] - self.ends[0]
        if (self.jobs - 1) * rest > start / 2:
            return ""
        return (
            f"{self.jobs} workers took {start:.0f} s to the first submission and {rest:.0f} s for the others: for so"
            " few, one is about as quick (no --jobs)."
        )
