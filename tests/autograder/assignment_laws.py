"""What is asked of an assignment's checks: right solutions earn all, mistakes are named, strangers are judged fairly.

A file `test_checks_NAME.py` hands its exercises and second solutions over by a class of its own:

    class TestTemperature(ExerciseLaws):
        exercises, solutions = EXERCISES, SECOND

The course's own assignments are asked for more:

    class TestGates(AssignmentLaws):
        exercises, solutions = EXERCISES, SOLUTIONS
        odd, wrong = ODD_BUT_RIGHT, WRONG
        strangers = gates

`strangers` is the module of `tests.autograder.strangers` with solutions by somebody who had read the assignment and not
its checks: `RIGHT`, rows of a function's name and a function; `WRONG`, rows of a function's name, a function and the id
of the mistake that it may be told, or None.
"""

from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any, ClassVar

import pytest

from autograder.check import examine
from autograder.exercise.audit import exercise_faults, travel_faults, verdict_on
from autograder.exercise.specification import Exercise
from autograder.exercise.verdict import Verdict

SEEDS = (None, *range(4))
"""None: the public inputs alone, which a student sees."""

Row = tuple[str, Callable[..., Any]]


def broken(verdict: Verdict) -> list[tuple[str, str | None]]:
    """The properties that do not hold, and what is said of them."""
    return [(finding.about.name, finding.complaint) for finding in verdict.findings if not finding.holds]


class ExerciseLaws:
    exercises: ClassVar[Mapping[str, Exercise]]
    solutions: ClassVar[Mapping[str, Callable[..., Any]]]
    """Second solutions, by the name of the exercise: `assignment.function`."""

    @classmethod
    def rows(cls) -> dict[str, Sequence[tuple[Any, ...]]]:
        """What the tests of this class are called with, by the argument's name. A row begins with a function's name."""
        return {"mistake": [(e.function, m.id, e, m) for e in cls.exercises.values() for m in e.misconceptions]}

    @classmethod
    def by_function(cls, name: str) -> Exercise:
        return {exercise.function: exercise for exercise in cls.exercises.values()}[name]

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        if "exercise" in metafunc.fixturenames:
            metafunc.parametrize("exercise", self.exercises.values(), ids=lambda e: e.function)
        for argument, rows in self.rows().items():
            if argument in metafunc.fixturenames:
                metafunc.parametrize(argument, rows, ids=[f"{row[0]}-{i}" for i, row in enumerate(rows)])

    def test_an_exercise_is_fit_to_be_released(self, exercise: Exercise) -> None:
        assert exercise_faults(exercise) == []
        assert travel_faults(exercise) == []

    def test_the_second_solution_earns_everything_for_every_seed(self, exercise: Exercise) -> None:
        for seed in SEEDS:
            verdict = examine(exercise, self.solutions[exercise.name], seed)
            assert verdict.passed, (seed, broken(verdict))

    def test_a_misconception_fails_visibly_and_on_hidden_inputs_and_is_named(self, mistake: Any) -> None:
        _, name, exercise, misconception = mistake
        for seed in (None, 0):
            verdict = verdict_on(exercise, misconception.implementation, seed)
            assert not verdict.passed
            assert [m.id for m in verdict.misconceptions] == [name]

    def test_misconceptions_are_said_in_sentences(self, exercise: Exercise) -> None:
        for misconception in exercise.misconceptions:
            assert misconception.sentence.rstrip(")").endswith((".", "!", "?", "…"))
            assert len(misconception.sentence.split()) >= 5, misconception.id


class AssignmentLaws(ExerciseLaws):
    odd: ClassVar[Sequence[Row]]
    wrong: ClassVar[Sequence[Row]]
    strangers: ClassVar[ModuleType]

    @classmethod
    def rows(cls) -> dict[str, Sequence[tuple[Any, ...]]]:
        strangers = cls.strangers
        more = {"odd": [*cls.odd, *strangers.RIGHT], "wrong": cls.wrong, "strange": strangers.WRONG}
        return {**super().rows(), **more}

    def test_there_are_misconceptions_enough(self, exercise: Exercise) -> None:
        assert len(exercise.misconceptions) >= 4

    def test_the_points_are_a_round_sum(self) -> None:
        assert float(sum(exercise.points for exercise in self.exercises.values())).is_integer()

    def test_odd_but_right_solutions_earn_everything(self, odd: Row) -> None:
        name, function = odd
        verdict = examine(self.by_function(name), function, 7)
        assert verdict.closed == ()
        assert verdict.passed, broken(verdict)

    def test_what_is_wrong_in_no_listed_way_is_not_full_marks(self, wrong: Row) -> None:
        name, function = wrong
        exercise = self.by_function(name)
        verdict = examine(exercise, function, 5)
        assert verdict.points <= exercise.points - 0.5
        assert verdict.misconceptions == (), "a mistake that is in no list must not be given another's name"

    def test_what_a_stranger_gets_wrong_is_not_full_marks_and_not_misnamed(self, strange: Any) -> None:
        name, function, mistake = strange
        exercise = self.by_function(name)
        assert not examine(exercise, function, None).passed, "seen by the grader alone: who read “well done” is angry"
        verdict = examine(exercise, function, 5)
        assert verdict.points <= exercise.points - 0.5
        assert [m.id for m in verdict.misconceptions] == ([] if mistake is None else [mistake])

    def test_strangers_have_tried_enough(self) -> None:
        assert len(self.strangers.RIGHT) >= 5
        assert len(self.strangers.WRONG) >= 5
