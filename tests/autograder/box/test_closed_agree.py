"""The check at home and the sandbox hear the same of every use of a closed name."""

import sys

import pytest
import torch

from autograder.box import Box, Interview, Job
from autograder.box.job import Cell
from autograder.exercise.closed import is_absent, listening
from autograder.exercise.outcome import call, undisturbed
from tests.autograder.box.closed_cases import SLOW, USES, Use

X = torch.randn(3, 4)
ROWS = [pytest.param(u, id=u.name, marks=[pytest.mark.everything] if u.name in SLOW else []) for u in USES]


@pytest.mark.filterwarnings("ignore")  # PyTorch warns of itself
@pytest.mark.parametrize("use", ROWS)
def test_at_home(use: Use) -> None:
    scope: dict[str, object] = {"__name__": "__main__"}
    exec(compile(use.source, "<cell>", "exec"), scope)
    before = sys.getprofile()
    with undisturbed(), listening(use.closed, scope["f"]) as heard, heard.attentive():  # type: ignore[arg-type]
        outcome = call(scope["f"], (X,), ("x",), ("y",))  # type: ignore[arg-type]
    assert heard.used == use.used, outcome
    assert sys.getprofile() is before
    assert torch.is_grad_enabled()
    assert X.softmax(-1).sum() > 0


@pytest.mark.parametrize("use", ROWS)
def test_in_the_sandbox(box: Box, use: Use) -> None:
    ask = Interview(function="f", arguments=("x",), returns=("y",), calls=((X,),), closed=use.closed)
    cells = (Cell(id="code", source=use.source), Cell(id="test", source="", interviews=(ask,)))
    absent = tuple(name for name in use.closed if is_absent(name))
    result = box.run(Job(name=use.name, cells=cells, closed=absent))
    assert result.ended == "finished", result.words
    assert result.cells[-1].closed == use.used
    fault = result.cells[-1].outcomes[0][0].fault
    if not use.used:
        assert fault is None
        assert result.cells[0].outputs == () or "Error" not in str(result.cells[0].outputs)
