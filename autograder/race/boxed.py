"""An entry in the sandbox, for one seed: three processes that share nothing but the entry's file.

    train    the notebook's functions and the training texts                        -> a file
    measure  the notebook's functions, the file, the held-out passages              -> tokens, log P of each
    audit    the notebook's functions, the file, passages whose rest is replaced    -> whole distributions

The first never sees the held-out text. The second could cheat, but its answers must agree with those of the third,
which does not know how the passages go on; and the second does not know where the third is asked.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from autograder.box import Box, Cell, Interview, Job, Limits
from autograder.exercise.outcome import Fault, Outcome
from autograder.race import asking, rules
from autograder.race.home import PROMPT, WRITTEN
from autograder.race.parts import FUNCTIONS
from autograder.race.split import Split

ASKED = {
    "train": """
def race_train(texts, seconds, seed):
    import torch
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    return to_file(train(texts, seconds, seed))
""",
    "measure": """
def race_measure(file, texts):
    return measured(encode, log_probabilities, from_file(file), texts)
""",
    "audit": """
def race_audit(file, ids, sizes, cuts, foreign):
    return audited(log_probabilities, from_file(file), ids, sizes, cuts, foreign)
""",
    "foreign": """
def race_foreign(file, text):
    return torch.as_tensor(encode(from_file(file), text))
""",
    "write": """
def race_write(file, prompt, length, seed):
    return torch.tensor([*write(from_file(file), prompt, length, seed).encode()], dtype=torch.uint8)
""",
}
RETURNS = {"measure": ("ids", "sizes", "claims", "pieces", "piece_sizes")}
IMPORTS, MEASURING = 3, 30
"""Seconds of processor time for the notebook's imports besides the budget; and for measuring, besides half of it."""
FOREIGN = 4_000  # characters of training text whose tokens replace the future


@dataclass(frozen=True)
class Run:
    """One seed of one entry."""

    fault: str = ""  # a name of `rules.SENTENCES`
    words: str = ""  # of the student's error, if that is the fault
    bits: float | None = None
    seconds: float = 0.0  # how long training took, by the clock
    sample: str = ""


class _Failed(Exception):  # noqa: N818 - becomes a Run
    def __init__(self, fault: str, words: str) -> None:
        super().__init__(words)
        self.fault, self.words = fault, words


def run(
    box: Box, cells: Sequence[str], closed: Sequence[str], split: Split, seconds: float, seed: int, cut: int
) -> Run:
    """cells: the notebook's code; closed: what is left out of the sandbox; cut: the seed of the audit, a secret.

    Raises BoxFault if the sandbox itself fails."""
    ask = _Asking(box, cells, closed, seconds)
    try:
        (file,), took = ask("train", list(split.train), seconds, seed)
        found = rules.Measured(*ask("measure", file, list(split.held))[0])
        fault = rules.fault_of(found, split.held)
        if not fault:
            foreign = ask("foreign", file, split.train[seed % len(split.train)][-FOREIGN:])[0][0]
            asked = rules.audit_of(found, foreign, cut)
            (rows,), _ = ask("audit", file, asked.ids, asked.sizes, asked.cuts, asked.foreign)
            fault = rules.audit_fault(found, asked, rows)
        if fault:
            return Run(fault, seconds=took)
        bits = rules.bits_per_byte(found, split.held)
    except _Failed as failed:
        return Run(failed.fault, failed.words)
    try:
        sample = (
            ask("write", file, PROMPT, WRITTEN, seed)[0][0].to(torch.uint8).numpy().tobytes().decode("utf-8", "replace")
        )
    except _Failed:
        sample = ""
    return Run(bits=bits, seconds=took, sample=sample[:2_000])


class _Asking:
    def __init__(self, box: Box, cells: Sequence[str], closed: Sequence[str], seconds: float) -> None:
        code = tuple(Cell(id=f"cell {number}", source=source) for number, source in enumerate(cells, 1))
        self.box, self.code, self.closed, self.seconds = box, code, tuple(closed), seconds

    def __call__(self, what: str, *arguments: Any) -> tuple[tuple[Tensor, ...], float]:
        ours = Path(asking.__file__).read_text(encoding="utf-8") + ASKED[what]
        names = tuple(f"argument_{number}" for number in range(len(arguments)))
        asked = Interview(
            function=f"race_{what}", arguments=names, returns=RETURNS.get(what, ("result",)), calls=(arguments,)
        )
        cells = (*self.code, Cell(id="ours", source=ours, whole=True), Cell(id="asked", source="", interviews=(asked,)))
        job = Job(name=f"race: {what}", cells=cells, closed=self.closed, lean=True)
        found = self.box.run(job, self._limits(what))
        last = found.cells[-1] if found.cells and found.cells[-1].id == "asked" else None
        outcome = last.outcomes[0][0] if last is not None and last.outcomes and last.outcomes[0] else None
        if outcome is None or outcome.fault is not None:
            raise self._failed(what, found.ended, found.words, outcome)
        return outcome.outputs, found.seconds

    def _limits(self, what: str) -> Limits:
        room = math.ceil(self.seconds * rules.SLACK + IMPORTS if what == "train" else self.seconds / 2 + MEASURING)
        wall = 20.0 * room + 60  # by the clock, on a machine that has much else to do
        times: dict[str, Any] = dict.fromkeys(("cell_cpu", "question_cpu", "call_cpu"), room)
        times |= dict.fromkeys(("wall", "cell_wall", "question_wall", "call_wall"), wall)
        return Limits(cpu=room, **times, memory=4 << 30, result=96 << 20)

    def _failed(self, what: str, ended: str, words: str, outcome: Outcome | None) -> _Failed:
        fault = None if outcome is None else outcome.fault
        if ended in ("cpu", "total", "wall") or (fault is not None and fault.kind == "TookTooLong"):
            return _Failed("out-of-time", words)
        if fault is None:
            return _Failed("raised", words)
        return _Failed(rules.named(fault.kind, fault.words), _said(fault))


def _said(fault: Fault) -> str:
    return f"{fault.words} ({fault.line})" if fault.line else fault.words


def functions_missing(cells: Sequence[str]) -> list[str]:
    return [name for name in FUNCTIONS if not any(f"def {name}(" in source for source in cells)]
