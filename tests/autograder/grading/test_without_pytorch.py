"""A notebook with questions on tensors and on arrays runs twice, and each question is asked where it belongs."""

from dataclasses import replace

import torch

from autograder.grading.attempt import attempt
from autograder.question.outcome import Outcome
from autograder.sandbox import BoxResult, Cell, CellResult, Interview, Job

ASK = Interview(function="f", arguments=("x",), returns=("y",), calls=((torch.ones(2),),))
WITH = Cell(id="with", source="", interviews=(ASK,))
WITHOUT = Cell(id="without", source="", interviews=(replace(ASK, numpy=True),))
CODE, STOCK = Cell(id="code", source="import torch"), Cell(id="stock", source="assert f", test=True, whole=True)
JOB = Job(name="both", cells=(CODE, WITH, WITHOUT, STOCK), closed=("nlmcore.attention",))


class Told:
    """A box that keeps its jobs. Without PyTorch the cell of code fails."""

    def __init__(self, stopped: bool = False) -> None:
        self.jobs: list[Job] = []
        self.stopped = stopped

    def run(self, job: Job) -> BoxResult:
        self.jobs.append(job)
        shown = ({"output_type": "stream", "name": "stdout", "text": f"numpy={job.numpy}"},)
        cells = tuple(
            CellResult(id=c.id, outcomes=((Outcome(),),)) if c.interviews else CellResult(id=c.id, outputs=shown)
            for c in job.cells
        )
        if job.numpy and self.stopped and job.cells[-1].interviews:
            return BoxResult(cells=cells, ended="wall", words="Too long.", at="without", isolation="told")
        return BoxResult(cells=cells, ended="finished", words="", isolation="told")


def test_each_is_asked_in_its_place_and_shown_once():
    box = Told()
    found = attempt(box, JOB)
    assert [([c.id for c in job.cells], job.numpy, job.closed) for job in box.jobs] == [
        (["code", "without"], True, ()),
        (["code", "with", "stock"], False, ("nlmcore.attention",)),
    ]
    assert set(found.cells) == {"code", "with", "without", "stock"}
    assert found.cells["code"].outputs[0]["text"] == "numpy=False"


def test_what_stops_one_stops_nothing_of_the_other():
    found = attempt(Told(stopped=True), JOB)
    assert found.stopped == {"without": "Too long."}
    assert {"with", "stock"} <= set(found.cells)


def test_nothing_is_run_again_with_pytorch_for_questions_without():
    box = Told()
    attempt(box, replace(JOB, cells=(CODE, WITHOUT), lean=True))
    assert [job.numpy for job in box.jobs] == [True]
