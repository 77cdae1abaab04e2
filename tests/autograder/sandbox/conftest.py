"""One box for all: that it is still whole after each of them is half of what these tests say."""

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from autograder.sandbox import Box, BoxResult, Cell, Interview, Job, Limits
from autograder.sandbox.tiers import bubblewrap_fault

LIMITS = Limits(wall=90, cell_wall=30, call_wall=15, cpu=60, memory=512 << 20, disk=8 << 20, file_size=4 << 20)
"""Enough time for what ends, on a machine that has much else to do."""
SHORT = replace(LIMITS, wall=6, cell_wall=1, call_wall=1)
"""For what does not end."""


def cells(*sources: str) -> tuple[Cell, ...]:
    return tuple(Cell(id=f"cell-{number}", source=source) for number, source in enumerate(sources, 1))


def asking(function: str, *calls: tuple[object, ...], returns: tuple[str, ...] = ("y",), **more: object) -> Cell:
    names = tuple("abcdef"[: len(calls[0])])
    interview = Interview(function=function, arguments=names, returns=returns, calls=calls, **more)  # type: ignore[arg-type]
    return Cell(id="test", source="", interviews=(interview,))


def run(
    box: Box, *parts: str | Cell, limits: Limits | None = None, ended: str = "finished", **more: object
) -> BoxResult:
    """A notebook of these parts, the source of a cell or an interview (`asking`); it ends as it should."""
    made = tuple(Cell(id=f"cell-{at}", source=one) if isinstance(one, str) else one for at, one in enumerate(parts, 1))
    result = box.run(Job(name="a notebook", cells=made, **more), limits)  # type: ignore[arg-type]
    assert result.ended == ended, (result.words, result)
    return result


def descendants(process: int) -> list[int]:
    try:
        own = [int(word) for word in Path(f"/proc/{process}/task/{process}/children").read_text().split()]
    except OSError:  # it has ended meanwhile
        return []
    return [*own, *(below for child in own for below in descendants(child))]


HONEST = Job(
    name="honest",
    cells=(
        *cells("import torch\ndef double(x):\n    return 2 * x", "print('all is well')"),
        asking("double", (torch.arange(3.0),), (torch.ones(2, 5),)),
    ),
    files={"data/words.txt": b"one two"},
)


def is_whole(box: Box) -> None:
    """An honest notebook, run now, gets what it deserves."""
    result = box.run(HONEST)
    assert result.ended == "finished", result.words
    assert result.incidents == ()
    assert shown(result) == "all is well\n"
    first, second = result.cells[-1].outcomes[0]
    assert first.outputs[0].tolist() == [0.0, 2.0, 4.0]
    assert second.outputs[0].equal(torch.full((2, 5), 2.0))


def shown(result: BoxResult) -> str:
    """All text that the notebook showed, errors included."""
    found = []
    for cell in result.cells:
        for output in cell.outputs:
            found.append(output.get("text") or output.get("data", {}).get("text/plain") or "")
            found.append("\n".join(output.get("traceback", [])))
    return "".join(found)


def real_box(limits: Limits) -> Box:
    """A box behind bubblewrap; the test is skipped where there is none, and fails where the tests are law."""
    fault = bubblewrap_fault()
    if fault is not None:
        if os.environ.get("CI"):
            pytest.fail(f"the sandbox must be real where the tests are law: {fault}")
        pytest.skip(f"no sandbox here: {fault}")
    return Box(limits, "bubblewrap")


NEEDS_SANDBOX = pytest.mark.skipif(bubblewrap_fault() is not None, reason=f"no sandbox here: {bubblewrap_fault()}")


@pytest.fixture(scope="session")
def box() -> Iterator[Box]:
    with pytest.MonkeyPatch.context() as patch, real_box(LIMITS) as one:
        patch.setattr("autograder.sandbox.session.UNHEEDED_SECONDS", 30.0)  # a busy machine is not an attack
        yield one
