"""The questions that an exercise puts to a function, and the answers.

    questions(exercise, seed)     public ones, and with a seed fresh ones of the same kinds
    answers(function, questions)  the student's side: `autograder.exercise.outcome.call`, nothing else

The two sides exchange arguments and outcomes only, so they can live in different processes.
"""

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from autograder.exercise.closed import listening
from autograder.exercise.draw import Draw
from autograder.exercise.outcome import Outcome, call, undisturbed
from autograder.exercise.specification import Case, Exercise, Property

PUBLIC_SEED = 0
PUBLIC_LARGEST = 4
HIDDEN_LARGEST = 9
HIDDEN_ROUNDS = 3


@dataclass(frozen=True)
class Question:
    about: Property
    case: Case


Answers = tuple[Outcome, ...]  # the outcomes of one question's calls


@dataclass(frozen=True, eq=False)
class Recording:
    """Replaces a function: it holds the answers that the function gave to the public questions. Students have exercises
    in this form, so they get neither the reference nor a misconception as code."""

    given: tuple[Answers, ...]

    def __call__(self, *arguments: Any) -> Any:
        raise TypeError("this is a record of answers to the public questions; it answers no others")


def questions(exercise: Exercise, seed: int | None = None) -> list[Question]:
    """The public questions; with a seed, the public ones and fresh ones of the same kinds."""
    asked = list(_public_questions(exercise))
    for number in range(HIDDEN_ROUNDS if seed is not None else 0):
        for prop in exercise.properties:
            draw = Draw(f"{exercise.name} {prop.name} hidden {seed} {number}", HIDDEN_LARGEST)
            asked.extend(Question(prop, case) for case in prop.cases(draw))
    return asked


@functools.cache
def _public_questions(exercise: Exercise) -> tuple[Question, ...]:
    return tuple(
        Question(prop, case)
        for prop in exercise.properties
        for case in prop.cases(Draw(f"{exercise.name} {prop.name} {PUBLIC_SEED}", PUBLIC_LARGEST))
    )


@functools.cache
def right_answers(exercise: Exercise) -> tuple[Answers, ...]:
    """The reference's answers to the public questions, which every student is asked: it answers them once."""
    return tuple(answers(exercise.reference, exercise, questions(exercise)))


def answers(function: Callable[..., Any], exercise: Exercise, asked: Sequence[Question]) -> list[Answers]:
    """Put the questions to a function, on one thread: for inputs this small, more only get in each other's way. A
    `Recording` gives what it holds; raises ValueError if it is asked anything but the public questions."""
    return heard_answers(function, exercise, asked, closed=())[0]


def heard_answers(
    function: Callable[..., Any], exercise: Exercise, asked: Sequence[Question], closed: Sequence[str]
) -> tuple[list[Answers], tuple[str, ...]]:
    """`answers`, and those of the closed names that were used."""
    if isinstance(function, Recording):
        if len(asked) != len(function.given):
            raise ValueError(
                f"{exercise.name}: this copy of the course has the public examples only; hidden ones are the grader's"
            )
        return list(function.given), ()
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with undisturbed(), listening(closed, function) as heard, heard.attentive():
            given = [
                tuple(call(function, given, exercise.arguments, exercise.returns) for given in question.case.calls)
                for question in asked
            ]
        return given, heard.used
    finally:
        torch.set_num_threads(threads)
