"""The calls that an exercise makes of a function, and the results.

    questions(exercise, seed)     public ones, and with a seed fresh ones of the same kinds
    answers(function, questions)  the student's side: `autograder.question.outcome.call`, nothing else

The two sides exchange arguments and outcomes only, so they can live in different processes.
"""

import functools
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn

import torch

from autograder.question import alone
from autograder.question.closed import ALONE, ClosedName, refusal, without
from autograder.question.draw import Draw
from autograder.question.outcome import CALL_SECONDS, EXPERIMENT_SECONDS, Outcome, call, undisturbed
from autograder.question.specification import Case, Cases, Exercise, Property, parts

PUBLIC_SEED = 0
PUBLIC_LARGEST = 4
HIDDEN_LARGEST = 9
MANY_CASES = 12
"""A question with more public cases than these gets two rounds of hidden ones, any other three. An experiment gets one:
each of its cases has several seeds."""


@dataclass(frozen=True)
class Question:
    about: Property
    case: Case


Watcher = Callable[[Case, Sequence[Any]], None]
"""Is told each call before it is made: the case, and the arguments."""


def unwatched(case: Case, given: Sequence[Any]) -> None:
    """The watcher who says nothing."""


Answers = tuple[Outcome, ...]  # the outcomes of one question's calls


@dataclass(frozen=True, eq=False)
class Recording:
    """Replaces a function: it contains the answers that the function gave to the public questions. Students get
    exercises in this form, so they have neither the reference nor a misconception as code."""

    given: tuple[Answers, ...]

    def __call__(self, *arguments: Any) -> Any:
        raise TypeError("this is a record of answers to the public questions; it answers no others")


def questions(exercise: Exercise, seed: int | None = None) -> list[Question]:
    """The public questions; with a seed, also fresh ones of the same kinds."""
    return [*_public_questions(exercise), *(() if seed is None else _fresh_questions(exercise, seed))]


def cases_of(asked: Sequence[Question]) -> list[Case]:
    """The cases of the questions, each once."""
    return list({id(question.case): question.case for question in asked}.values())


def spread(asked: Sequence[Question], found: Sequence[Answers]) -> list[Answers]:
    """The answers to each question, from those to `cases_of` the questions."""
    by_case = {id(case): row for case, row in zip(cases_of(asked), found, strict=True)}
    return [by_case[id(question.case)] for question in asked]


@functools.cache
def _public_questions(exercise: Exercise) -> tuple[Question, ...]:
    return tuple(
        Question(prop, case)
        for prop in exercise.properties
        for case in prop.cases(Draw(f"{exercise.name} {prop.name} {PUBLIC_SEED}", PUBLIC_LARGEST))
    )


def call_seconds(exercise: Exercise) -> int:
    """Processor time that the grader gives one call."""
    return EXPERIMENT_SECONDS if exercise.chosen else CALL_SECONDS


def rounds(exercise: Exercise) -> int:
    """How often the grader puts as many questions again as the public ones."""
    many = len(cases_of(_public_questions(exercise))) > MANY_CASES
    return 1 if exercise.chosen else 2 if many else 3


@functools.lru_cache(maxsize=256)
def _fresh_questions(exercise: Exercise, seed: int) -> tuple[Question, ...]:
    """Properties judged on cases of one kind share them, so that a function is called once for all (`cases_of`)."""
    asked: list[Question] = []
    for number in range(rounds(exercise)):
        drawn: dict[Cases, Sequence[Case]] = {}
        for prop in exercise.properties:
            for kind in parts(prop.cases):
                if kind not in drawn:
                    draw = Draw(f"{exercise.name} {prop.name} hidden {seed} {number}", HIDDEN_LARGEST)
                    drawn[kind] = kind(draw)
                asked.extend(Question(prop, case) for case in drawn[kind])
    return tuple(asked)


@functools.cache
def right_answers(exercise: Exercise) -> tuple[Answers, ...]:
    """The reference's answers to the public questions, which every student is asked; computed only once."""
    return tuple(answers(exercise.reference, exercise, _public_questions(exercise)))


@functools.lru_cache(maxsize=256)
def fresh_answers(exercise: Exercise, seed: int) -> tuple[Answers, ...]:
    """The reference's answers to the fresh questions of a seed."""
    return tuple(answers(exercise.reference, exercise, _fresh_questions(exercise, seed)))


def answers(function: Callable[..., Any], exercise: Exercise, asked: Sequence[Question]) -> list[Answers]:
    """Put the questions to a function, on one thread, because for such small inputs more threads only slow each other
    down. A `Recording` returns the stored answers; raises ValueError if it is asked anything but the public
    questions."""
    return heard_answers(function, exercise, asked, closed=())[0]


def heard_answers(
    function: Callable[..., Any],
    exercise: Exercise,
    asked: Sequence[Question],
    closed: Sequence[str],
    watch: Watcher = unwatched,
) -> tuple[list[Answers], tuple[str, ...]]:
    """`answers`, and the names that were used of the closed ones that the sandbox does not have."""
    if isinstance(function, Recording):
        if len(asked) != len(function.given):
            raise ValueError(
                f"{exercise.name}: this copy of the course has the public examples only; hidden ones are the grader's"
            )
        return list(function.given), ()

    def outcome(case: Case, given: Sequence[Any]) -> Outcome:
        watch(case, given)
        began = time.process_time()
        found = call(asking, given, exercise.arguments, exercise.returns, exercise.numpy)
        return replace(found, seconds=time.process_time() - began)

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        used: list[str] = []
        with undisturbed():
            asking = _alone(function) if exercise.numpy else _without(function, closed, used)
            found = [tuple(outcome(case, given) for given in case.calls) for case in cases_of(asked)]
        return spread(asked, found), tuple(name for name in closed if name in used)
    finally:
        torch.set_num_threads(threads)


def _alone(function: Callable[..., Any]) -> Callable[..., Any]:
    def refuse(name: str) -> NoReturn:
        raise ClosedName(ALONE)

    return without(function, alone.is_absent, refuse)


def _without(function: Callable[..., Any], closed: Sequence[str], used: list[str]) -> Callable[..., Any]:
    def home(name: str) -> str | None:
        return next((module for module in closed if f"{name}.".startswith(f"{module}.")), None)

    def refuse(name: str) -> NoReturn:
        used.append(found := str(home(name)))
        raise refusal(found)

    return without(function, lambda name: home(name) is not None, refuse) if closed else function
