"""An exercise, declared once: reference, inputs, properties with points, and the mistakes that have a name.

From this one declaration come the visible check, the hidden check, partial credit with its text, and the
exercise's own test (`autograder.exercise.audit`): the reference earns everything, every misconception fails and is
named.

    Exercise
      ├── reference            the right answer: a function
      ├── properties           what is looked at, one by one, each with its points
      │     ├── cases(draw)    inputs, made from a seed; edge cases are always among them
      │     └── judge          what must hold between outputs and reference; None is well
      ├── misconceptions       wrong answers that students really write, each with a sentence
      └── closed               names that would do the exercise's work
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from torch import Tensor

from autograder.exercise.draw import Draw
from autograder.exercise.outcome import Outcome


@dataclass(frozen=True, kw_only=True)
class Case:
    """One situation: a call, or several calls that a judge compares with each other."""

    label: str
    """What is special about it, in words that give no number away: a hidden case is named by them too."""
    calls: tuple[tuple[Any, ...], ...]
    """The arguments of each call, in the order of the signature."""
    known: tuple[Tensor, ...] = ()
    """What a law compares with, worked out where the case is made: a public case travels to students as data, and
    with it these numbers, but not the code that worked them out."""


def case(label: str, *arguments: Any) -> Case:
    """A situation of one call."""
    return Case(label=label, calls=(arguments,))


Judge = Callable[[Case, Sequence[Outcome], Sequence[Outcome]], str | None]
"""(case, what the student's calls gave, what the reference's gave) -> a complaint, or None if all is well.
Called only when every call gave outputs. A complaint names no number of the input."""


@dataclass(frozen=True, kw_only=True)
class Property:
    """One thing that is looked at."""

    name: str
    """Two to six words: "a masked key weighs nothing"."""
    points: float
    """What it is worth."""
    cases: Callable[[Draw], Sequence[Case]]
    """The inputs. Public and hidden ones come from the same function with other seeds."""
    judge: Judge
    """What must hold."""
    outputs: tuple[int, ...] | None = None
    """The numbers of the results that it is about; None: all, and the state of the arguments. A mistake is then
    recognised here by those alone, whatever is wrong with the others."""


@dataclass(frozen=True, kw_only=True)
class Misconception:
    """A wrong answer that has been seen before."""

    id: str
    """Two or three words joined by hyphens: counted over a class, so never renamed."""
    sentence: str
    """What a good teaching assistant would say on seeing it: what it is, and what to think about next."""
    implementation: Callable[..., Any]
    """A student's function that has this one mistake and no other."""
    also: tuple[Callable[..., Any], ...] = ()
    """Other ways of writing it that give other numbers, perhaps with a second mistake that has a name too."""
    looks_like: tuple[str, ...] = ()
    """Ids of others that give the same outputs everywhere; by default each must be told from each."""


@dataclass(frozen=True, kw_only=True)
class Exercise:
    """One function to write."""

    name: str
    """"assignment.function"."""
    title: str
    """As a heading."""
    signature: str
    """The line that the student sees."""
    arguments: tuple[str, ...]
    """Their names, in order."""
    returns: tuple[str, ...]
    """Names of what comes back; more than one means a tuple."""
    minutes: int
    """How long it should take."""
    difficulty: Literal["easy", "medium", "hard"]
    reference: Callable[..., Any]
    properties: tuple[Property, ...]
    misconceptions: tuple[Misconception, ...]
    closed: tuple[str, ...] = field(default=())
    """Full names of functions, or of modules with all that is in them, that are not to be called."""
    tolerance: float = 1e-4
    """Absolute and relative. float32 noise and a wider dtype cost nothing; half precision is not enough.
    NaN is never right: it is no result."""

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
        """What it is worth in all."""
        return sum(p.points for p in self.properties)

    def mistake(self, id: str) -> Callable[..., Any]:
        """What a student writes who makes this mistake."""
        return next(m.implementation for m in self.misconceptions if m.id == id)

    @property
    def function(self) -> str:
        """The name that the student's function goes by."""
        return self.name.rpartition(".")[2]
