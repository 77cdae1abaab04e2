"""Trainings with a file each: what is left is trained, in order; a rate at the edge of its grid adds another one."""

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from lectures.recipes import resumable, stacks
from lectures.recipes.resumable import bracketed, file_of


@dataclass(frozen=True)
class Job:
    folder: str
    number: int

    @property
    def file(self) -> Path:
        return Path(self.folder) / f"{self.number}.json"


def train(job: Job) -> dict[str, float]:
    """At the top level, so that another process finds it."""
    return {"number": job.number, "processor_seconds": 0.0}


def test_what_is_left_is_trained_and_the_plan_is_asked_again(tmp_path: Path) -> None:
    first, second = (Job(str(tmp_path), number) for number in (0, 1))
    first.file.write_text('{"number": -1}')

    def plan() -> tuple[list[Job], list[str]]:
        return ([first, second, Job(str(tmp_path), 2)], []) if second.file.exists() else ([first, second], ["wait"])

    resumable.work(plan, train, "python -m lectures.recipes.NAME", hours=1, workers=1)
    found = [json.loads((tmp_path / f"{i}.json").read_text())["number"] for i in range(3)]
    assert found == [-1, 1, 2], "a finished run is not trained again, and the plan's later job is trained as well"


def test_the_best_rate_lies_between_two_worse_ones() -> None:
    assert bracketed((1.0, 2.0, 4.0), lambda rate: abs(rate - 2.1), 2.0) == ([1.0, 2.0, 4.0], 2.0)
    assert bracketed((1.0, 2.0, 4.0), lambda rate: abs(rate - 0.3), 2.0) == ([0.12, 0.25, 0.5, 1.0, 2.0, 4.0], 0.25)
    assert bracketed((1.0, 2.0), lambda rate: {1.0: 3.0, 2.0: 2.0}.get(rate), 2.0) == ([1.0, 2.0, 4.0], None)


def test_a_file_tells_its_run() -> None:
    assert file_of("a", "6 layers, wide", "", "rate 0.004 seed 1").name == "6-layers-wide-rate-0.004-seed-1.json"


def test_nothing_is_compared_before_the_gates() -> None:
    jobs, wrong = stacks.plan()
    rows = {job.row for job in jobs}
    if wrong:
        assert rows <= {stacks.PLAIN, stacks.SANDWICH, stacks.SIX, "f" * 12, "s" * 12, "sf"}
    else:
        assert rows >= {*stacks.random_orders(), *stacks.SHAPES}


@pytest.mark.parametrize("row", [stacks.PLAIN, stacks.ONLY_NETWORKS, "WideNet, 4 experts"])
def test_two_steps_of_a_stack(row: str) -> None:
    found = stacks.train(stacks.Job(row, 0, 1e-3, steps=2))
    part = found["test"]
    assert part["loss"] > 3
    changed = abs(part["last, another context"] - part["last"])
    assert (changed < 1e-6) == (row == stacks.ONLY_NETWORKS), "without attention the context cannot matter"
