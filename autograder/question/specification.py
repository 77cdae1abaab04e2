"""An exercise, declared once: reference, inputs, properties with points, and the mistakes that have a name.

From this one declaration come the visible check, the hidden check, partial credit with its text, and the
exercise's own test (`autograder.question.audit`): the reference earns everything, every misconception fails and is
named.

    Exercise
      ├── reference            the right answer: a function
      ├── properties           what is checked, one by one, each with its points
      │     ├── cases(draw)    inputs, made from a seed; edge cases are always among them
      │     └── judge          what must hold between outputs and reference; None if it does
      ├── misconceptions       wrong answers that students really write, each with a message
      └── closed               names that would do the exercise's work
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from torch import Tensor

from autograder.question.draw import Draw
from autograder.question.outcome import Outcome


@dataclass(frozen=True, kw_only=True)
class Case:
    """One situation: a call, or several calls that a judge compares with each other."""

    label: str  # what is special about it, without any value: a hidden case is named by it too
    calls: tuple[tuple[Any, ...], ...]  # the arguments of each call, in the order of the signature
    known: tuple[Tensor, ...] = ()
    """Values that a law compares with, computed where the case is made. Students get the public cases as data: these
    values, but not the code that computed them."""


def case(label: str, *arguments: Any, known: tuple[Tensor, ...] = ()) -> Case:
    """A situation of one call."""
    return Case(label=label, calls=(arguments,), known=known)


Cases = Callable[[Draw], Sequence[Case]]
"""Makes the cases of one kind: public and hidden inputs come from the same function, with different seeds."""


@dataclass(frozen=True)
class Both:
    """Cases of several kinds."""

    kinds: tuple[Cases, ...]

    def __call__(self, draw: Draw) -> list[Case]:
        return [case for kind in self.kinds for case in kind(draw)]


def parts(cases: Cases) -> tuple[Cases, ...]:
    return cases.kinds if isinstance(cases, Both) else (cases,)


Judge = Callable[[Case, Sequence[Outcome], Sequence[Outcome]], str | None]
"""(case, the student's outcomes, the reference's) -> a complaint, or None if all is well. Called only if every call
returned outputs. A complaint reveals no value of the input."""


Small = tuple[Case, tuple[Outcome, ...]]
"""A case that is only looked at when a larger one has failed, and the right answers to it."""


@dataclass(frozen=True, kw_only=True)
class Property:
    """One thing that is checked."""

    name: str  # two to six words: "a masked key weighs nothing"
    points: float
    cases: Cases
    judge: Judge
    outputs: tuple[int, ...] | None = None
    """The indices of the results that it is about; None means all, and the state of the arguments. A mistake is then
    recognised by these results, whatever is wrong with the rest."""
    smaller: tuple[Small, ...] = ()
    """Where the exercise is data: smaller cases than the public ones (`autograder.question.smaller`)."""


@dataclass(frozen=True, kw_only=True)
class Misconception:
    """A wrong answer that is known to occur."""

    id: str  # two or three words joined by hyphens: counted over a class, so never renamed
    sentence: str
    """What a good teaching assistant would say about it: what it is, and what to think about next."""
    implementation: Callable[..., Any]  # a student's function that has this one mistake and no other
    also: tuple[Callable[..., Any], ...] = ()
    """Different ways of making it, with different outputs, perhaps with a second mistake that has a name too."""
    looks_like: tuple[str, ...] = ()
    """Ids of others that give the same outputs everywhere; any other pair must be distinguishable."""


@dataclass(frozen=True, kw_only=True)
class Exercise:
    """One function to write."""

    name: str  # "assignment.function"
    title: str  # as a heading
    signature: str  # the line that the student sees
    arguments: tuple[str, ...]  # their names, in order
    returns: tuple[str, ...]  # the names of the results; several mean a tuple
    minutes: int  # how long it should take
    difficulty: Literal["easy", "medium", "hard"]
    reference: Callable[..., Any]
    properties: tuple[Property, ...]
    misconceptions: tuple[Misconception, ...]
    core: bool = True
    """Whether it is for everybody; if not, a short sheet leaves it out (`autograder.release.compose`)."""
    nearly: tuple[str, ...] = ()
    """The last hints, which the report of a failed check shows (`autograder.question.hints`)."""
    closed: tuple[str, ...] = ()
    """Full names of modules, which are absent."""
    numpy: bool = False
    """Whether the function gets and returns NumPy arrays, and runs where PyTorch is not (`autograder.question.alone`).
    The cases are drawn as tensors all the same, and what it returns is judged as tensors."""
    planted: Callable[..., Any] | None = None
    """A function with one wrong line, which students get instead of an empty one, to mend it. Until it returns
    something else, it counts as not written."""
    chosen: tuple[str, ...] = ()
    """Results that a student chooses rather than computes, such as a line or a conclusion: an example never shows the
    right one."""
    together: str = ""
    """The name of the exercise with which this one counts: it is worth nothing without half of the other's points."""
    tolerance: float = 1e-4
    """Absolute and relative. float32 noise and a wider dtype cost nothing; half precision is not enough. NaN is never
    right."""

    def __post_init__(self) -> None:
        if "." not in self.name:
            raise ValueError(f"an exercise is named 'assignment.function', got {self.name!r}")
        for kind, ids in (
            ("properties", [p.name for p in self.properties]),
            ("misconceptions", [m.id for m in self.misconceptions]),
        ):
            if len(set(ids)) < len(ids):
                raise ValueError(f"{self.name}: two {kind} have the same name: {sorted(ids)}")
        if not self.points > 0 or any(p.points < 0 for p in self.properties):
            raise ValueError(f"{self.name}: the properties' points must be positive, got {self.points} in all")

    @property
    def points(self) -> float:
        return sum(p.points for p in self.properties)

    def mistake(self, id: str) -> Callable[..., Any]:
        """The function of a student who makes this mistake."""
        return next(m.implementation for m in self.misconceptions if m.id == id)

    @property
    def function(self) -> str:
        """The name of the student's function."""
        return self.name.rpartition(".")[2]
