"""The box's jobs and results: plain data, the interface between the box and the engine."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal

from autograder.question.outcome import CALL_SECONDS, QUESTION_SECONDS, Fault, Outcome


@dataclass(frozen=True)
class Seed:
    """An argument: a fresh `torch.Generator` with this seed, the same for every call."""

    value: int


@dataclass(frozen=True, kw_only=True)
class Interview:
    """Calls of one of the student's functions, at this point of the notebook."""

    function: str  # a dotted name, looked up in the notebook: "attend", "model.forward"
    arguments: tuple[str, ...]  # their names, for the words of a fault
    returns: tuple[str, ...]
    calls: tuple[tuple[Any, ...], ...]
    """The arguments of each call: tensors, numbers, text, booleans, None, Seed, and lists, tuples and dictionaries
    (with text as keys) of them."""
    numpy: bool = False  # whether the function gets and returns NumPy arrays, and is asked where PyTorch is not
    call_cpu: float = 0  # processor time of a call, if it is more than the limits say
    meanwhile: Callable[[], object] | None = field(default=None, compare=False)
    """What the grader does while the student's function is called, on another core if there is one."""
    known: tuple[tuple[int, Fault], ...] = ()
    """Numbers of calls, and how they ended before. They come first; if they end the same way, nothing else is
    called."""


@dataclass(frozen=True, kw_only=True)
class Cell:
    id: str
    source: str
    interviews: tuple[Interview, ...] = ()  # of a test cell of ours: called instead of running its source
    whole: bool = False  # in a lean job, too, all of it is run: a plain test cell
    test: bool = False  # a test cell of plain nbgrader, which runs apart from what the notebook has made of IPython


@dataclass(frozen=True, kw_only=True)
class Job:
    name: str  # for messages
    cells: tuple[Cell, ...]
    closed: tuple[str, ...] = ()  # rooms and packages that are not there
    seed: int = 0  # of Python's, NumPy's and PyTorch's generators at the start, and of PyTorch's in every interview
    files: Mapping[str, bytes] = field(default_factory=dict)  # relative path -> content, put into the working folder
    lean: bool = False
    """Run only the statements of the cells that bind names the tests need."""
    numpy: bool = False
    """Run where nothing but Python and NumPy is. There a statement that fails does not end its cell, because it may be
    one that needs PyTorch and has nothing to do with the questions."""
    pictures: bool = False  # whether pictures of `lectures.show` are drawn, or shown as their alternative text
    meanwhile: "Callable[[CellResult], object] | None" = field(default=None, compare=False)
    """What the grader does with the answers to one interview while the notebook works on the next one."""

    def __post_init__(self) -> None:
        for path in self.files:
            parts = path.split("/")
            if path.startswith("/") or "\0" in path or any(part in ("", ".", "..") for part in parts):
                raise ValueError(f"files must have plain relative paths, got {path!r}")


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What one notebook may use. Sizes in bytes, times in seconds: of the processor, for all threads together, because
    a busy machine is nobody's fault; and by the clock, for code that waits.

    A cell or call that has used its time is interrupted, and the next cell runs; the rest of the interview is not
    asked."""

    cpu: int = 300
    cell_cpu: float = 30
    question_cpu: float = QUESTION_SECONDS  # all calls of one interview; no further one is asked then
    call_cpu: float = CALL_SECONDS
    wall: float = 1200
    cell_wall: float = 120
    question_wall: float = 120
    call_wall: float = 30
    memory: int = 1 << 30  # besides what Python, PyTorch and the rest take themselves
    processes: int = 32  # threads. Starting another process is refused whatever this says.
    open_files: int = 64
    file_size: int = 32 << 20
    disk: int = 64 << 20  # all files of the working folder together; it lies in memory
    files: int = 4096  # how many of them
    output: int = 256 << 10  # text and pictures kept per cell
    shown: int = 16 << 20  # text and pictures kept of all cells together
    result: int = 8 << 20  # results of one interview

    def __post_init__(self) -> None:
        for limit in fields(self):
            if not getattr(self, limit.name) > 0:
                raise ValueError(f"the limit {limit.name} must be positive, got {getattr(self, limit.name)}")


@dataclass(frozen=True, kw_only=True)
class CellResult:
    id: str
    outputs: tuple[dict[str, Any], ...] = ()  # nbformat outputs: text and small pictures, nothing that a browser runs
    outcomes: tuple[tuple[Outcome, ...], ...] = ()  # per interview, per call; none where all `known` came again
    closed: tuple[str, ...] = ()  # closed names that were used


Ending = Literal["finished", "wall", "total", "cpu", "memory", "killed", "result-too-large", "protocol", "left", "ours"]


@dataclass(frozen=True, kw_only=True)
class BoxResult:
    cells: tuple[CellResult, ...]  # those that were reached; if it did not finish, the last may be incomplete
    ended: Ending
    """finished: all cells were reached. wall: a cell did not heed its limit. total, cpu, memory: that limit for all
    cells together. killed: by its own fault in compiled code. left: its process ended itself. result-too-large,
    protocol: its data cannot be read. ours: the box's own code failed because the notebook had changed Python."""
    words: str  # one sentence for the instructor and the student
    at: str | None = None  # the cell in which it ended, if it did not finish
    incidents: tuple[str, ...] = ()  # what the kernel refused it, and what it asked for outside its folder
    seconds: float = 0.0
    isolation: str = ""  # the tier that it ran in
