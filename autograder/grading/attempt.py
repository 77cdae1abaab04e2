"""Run a plan in the sandbox, and continue after a cell that does not end.

One endless loop must not cost a student the questions after it. If the sandbox had to stop a notebook, the notebook is
run again without the cell that was running. That cell's mark is lost, but not those of the others.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from autograder.sandbox import BoxResult, CellResult, Job

AGAIN = 4  # how often at most. What then still does not end, is as if it had not been written.
PATIENCE = 300.0  # seconds for all runs of one notebook together: no further run is begun after them
USED_UP = ("total", "cpu")  # one cell is not to blame for these, and another run would end like this one
NOT_THEIRS = ("ours", "protocol", "memory")
"""Ways in which a run may end without anybody knowing whose fault it was: the sandbox's code failed, or memory ran
out."""


class Runs(Protocol):
    def run(self, job: Job) -> BoxResult: ...


@dataclass(frozen=True, kw_only=True)
class Attempt:
    cells: Mapping[str, CellResult]  # by id, those that were reached
    stopped: Mapping[str, str]  # why, by cell at which the box stopped the notebook or that was not reached
    unsure: frozenset[str]  # those of them at which it ended in a way that may not be the student's fault
    incidents: tuple[str, ...]
    seconds: float  # of all runs together
    isolation: str  # the tier that it ran in


def attempt(box: Runs, job: Job) -> Attempt:
    """The run of a notebook, and another one where PyTorch is not for the questions that are asked there. What cells
    show, and plain tests, come from the first."""
    asked = {cell.id for cell in job.cells if cell.interviews}
    there = {cell.id for cell in job.cells if any(interview.numpy for interview in cell.interviews)}
    here = tuple(cell for cell in job.cells if cell.id not in there)
    if not there:
        return _attempt(box, job)
    cells = tuple(cell for cell in job.cells if cell.id in there or not (cell.test or cell.id in asked))
    other = _attempt(box, replace(job, cells=cells, closed=(), numpy=True))
    found = {key: cell for key, cell in other.cells.items() if key in there}
    stopped = {key: words for key, words in other.stopped.items() if key in there}
    if job.lean and not any(cell.test or cell.interviews for cell in here):
        return replace(other, cells=found, stopped=stopped)
    first = _attempt(box, replace(job, cells=here))
    return Attempt(
        cells={**first.cells, **found},
        stopped={**first.stopped, **stopped},
        unsure=first.unsure | (other.unsure & there),
        incidents=tuple(dict.fromkeys((*first.incidents, *other.incidents))),
        seconds=first.seconds + other.seconds,
        isolation=first.isolation,
    )


def _attempt(box: Runs, job: Job) -> Attempt:
    """The best of up to 1 + AGAIN runs: each leaves out the cell that stopped the previous one."""
    stopped: dict[str, str] = {}
    unsure: set[str] = set()
    incidents: list[str] = []
    seconds = 0.0
    while True:
        cells = tuple(replace(cell, source="", interviews=()) if cell.id in stopped else cell for cell in job.cells)
        result = box.run(replace(job, cells=cells))
        seconds += result.seconds
        incidents += [words for words in result.incidents if words not in incidents]
        reached = {cell.id: cell for cell in result.cells}
        missing = [cell.id for cell in job.cells if cell.id not in reached or cell.id == result.at]
        if result.ended == "finished" or not missing:
            break
        guilty = result.at or missing[0]
        if result.ended in NOT_THEIRS:
            unsure.add(guilty)
        if guilty in stopped or len(stopped) == AGAIN or seconds > PATIENCE or result.ended in USED_UP:
            stopped.update({key: result.words for key in missing if key not in stopped})
            unsure.update(missing if result.ended in NOT_THEIRS else ())
            break
        stopped[guilty] = result.words
    return Attempt(
        cells={key: cell for key, cell in reached.items() if key not in stopped},
        stopped=stopped,
        unsure=frozenset(unsure),
        incidents=tuple(incidents),
        seconds=seconds,
        isolation=result.isolation,
    )
