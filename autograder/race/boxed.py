"""An entry in the sandbox, for one seed: processes that share nothing but the entry's file.

    train      the notebook's functions and the training texts       -> the file
    pieces     the file, and none of the notebook's code             -> the bytes of all tokens
    encode     the notebook's functions, the file, the passages      -> tokens
    measure    the notebook's functions, the file, all tokens        -> log P of each
    audit      the notebook's functions, the file, and one after the other the tokens before a secret place
                                                                     -> whole distributions

Train and pieces never see the held-out text. Encode and measure could cheat, but their answers must agree with those of
the audit, which does not know how the passages go on; and they do not know where it is asked.
"""

import dataclasses
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from torch import Tensor

from autograder.question.outcome import Fault, Outcome
from autograder.race import asking, parts, rules
from autograder.race.split import Split
from autograder.sandbox import Box, BoxFault, Cell, Interview, Job, Limits

OURS = """
import types
race_asking = types.ModuleType("race_asking")
exec({source!r}, vars(race_asking))
race_asked = race_asking.Asked({{{functions}}})
import torch
torch.set_num_threads(1)
"""
RETURNS = {"pieces": ("every", "sizes"), "encode": ("ids", "lengths")}


def run(
    box: Box,
    cells: Sequence[str],
    borrowed: Sequence[str],
    split: Split,
    seconds: float,
    seed: int,
    secret: bytes,
    factor: float = 1.0,
) -> rules.Run:
    """cells: the notebook's code, `borrowed` its parts that are ours: see `parts.read`; seconds, factor: see `race`.

    Raises BoxFault if the sandbox itself fails, without the entry too; whatever else happens is the entry's fault."""
    ask = _Asking(box, cells, borrowed, seconds, factor)
    try:
        found = rules.judged(ask, split.train, split.held, seconds * factor, seed, secret)
    except BoxFault:
        box.run(Job(name="race: nothing", cells=(), closed=ask.closed, lean=True))
        found = rules.Run("raised", "The sandbox does not start with this code, and starts without it.")
    except Exception as error:
        found = rules.Run("unreadable", f"{type(error).__name__}")
    return dataclasses.replace(found, seconds=ask.seconds_of_training)


class _Asking:
    def __init__(self, box: Box, cells: Sequence[str], borrowed: Sequence[str], seconds: float, factor: float) -> None:
        refusing = Cell(id="parts", source=parts.refusing(borrowed), whole=True)
        theirs = (Cell(id=f"cell {number}", source=source) for number, source in enumerate(cells, 1))
        self.box, self.cells, self.closed = box, (refusing, *theirs), parts.left_out(borrowed)
        self.seconds, self.factor, self.seconds_of_training = seconds, factor, 0.0

    def __call__(self, what: str, file: Tensor | None, *calls: tuple[Any, ...]) -> list[tuple[Tensor, ...]]:
        theirs = what != "pieces"
        functions = ", ".join(f"{name!r}: {name}" for name in parts.FUNCTIONS) if theirs else ""
        ours = OURS.format(source=Path(asking.__file__).read_text(encoding="utf-8"), functions=functions)
        asked = [] if file is None else [self._interview("open", (file,))]
        asked += [self._interview(what, call) for call in calls]
        job = Job(
            name=f"race: {what}",
            cells=(
                *(self.cells if theirs else ()),
                Cell(id="ours", source=ours, whole=True),
                Cell(id="asked", source="", interviews=tuple(asked)),
            ),
            closed=self.closed,
            lean=True,
        )
        found = self.box.run(job, self._limits(what))
        if what == "train":
            self.seconds_of_training = found.seconds
        last = found.cells[-1] if found.cells and found.cells[-1].id == "asked" else None
        outcomes = [outcome for several in (() if last is None else last.outcomes) for outcome in several]
        outcome = next((outcome for outcome in outcomes if outcome.fault is not None), None)
        if outcome is not None or len(outcomes) < len(asked):
            raise self._failed(what, found.ended, found.words, outcome)
        return [outcome.outputs for outcome in outcomes[len(asked) - len(calls) :]]

    def _interview(self, what: str, call: tuple[Any, ...]) -> Interview:
        names = tuple(f"argument_{number}" for number in range(len(call)))
        returns = RETURNS.get(what, ("result",))
        return Interview(function=f"race_asked.{what}", arguments=names, returns=returns, calls=(call,))

    def _limits(self, what: str) -> Limits:
        room = math.ceil(self.factor * rules.limit(what, self.seconds))
        wall = 20.0 * room + 60  # by the clock, on a machine that has much else to do
        times: dict[str, Any] = dict.fromkeys(("cell_cpu", "question_cpu", "call_cpu"), room)
        times |= dict.fromkeys(("wall", "cell_wall", "question_wall", "call_wall"), wall)
        return Limits(cpu=room, **times, memory=4 << 30, result=96 << 20)

    def _failed(self, what: str, ended: str, words: str, outcome: Outcome | None) -> rules.Failed:
        fault = None if outcome is None else outcome.fault
        if what == "pieces":
            return rules.Failed("not-a-file", words if fault is None else fault.words)
        if ended in ("cpu", "total", "wall") or (fault is not None and fault.kind == "TookTooLong"):
            return rules.Failed("out-of-time" if what == "train" else "slow-to-measure", words)
        if fault is None:
            return rules.Failed("raised", words)
        return rules.Failed(rules.fault_behind(fault.kind, fault.words), _said(fault))


def _said(fault: Fault) -> str:
    return f"{fault.words} ({fault.line})" if fault.line else fault.words


def functions_missing(cells: Sequence[str]) -> list[str]:
    return [name for name in parts.FUNCTIONS if not any(f"def {name}(" in source for source in cells)]
