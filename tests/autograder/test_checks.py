"""What is asked of every assignment: it is fit to be released, right answers earn all, wrong answers are judged fairly.

The answers that are tried are `solutions/<assignment>/answers.txt`. `pytest -k gates` asks one assignment.
"""

from typing import Any

import pytest

from autograder import assignments
from autograder.check import examine
from autograder.question import audited
from autograder.question.audit import verdict_on
from autograder.question.find import exercises_of
from autograder.question.specification import Exercise
from autograder.question.verdict import Verdict
from tests.autograder import forms
from tests.autograder.answers import Answer, answers
from tests.drawn import number

ASSIGNMENTS = assignments.names()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    asked = metafunc.config.getoption("keyword")  # -k gates: building the others' questions takes most of the time
    some = [name for name in ASSIGNMENTS if asked and asked in name] or ASSIGNMENTS
    exercises = [exercise for name in some for exercise in exercises_of(name).values()]
    found = {e: [a for a in answers(assignment(e)) if a.function == e.function] for e in exercises}
    rows: dict[str, list[tuple[str, Any]]] = {
        "exercise": [(e.name, e) for e in exercises],
        "quick": [(e.name, e) for e in exercises if "conclusion" not in e.chosen],
        "right": [(e.name, (e, a)) for e in exercises for a in found[e] if a.earns == "right"],
        "wrong": [(f"{e.name} {a.earns}", (e, a)) for e in exercises for a in found[e] if a.earns != "right"],
    }
    for argument in metafunc.fixturenames:
        if argument in rows:
            ids = [f"{name} {number}" for number, (name, _) in enumerate(rows[argument])]
            metafunc.parametrize(argument, [row for _, row in rows[argument]], ids=ids)


def assignment(exercise: Exercise) -> str:
    return exercise.name.partition(".")[0]


def broken(verdict: Verdict) -> list[tuple[str, str | None]]:
    """The properties that do not hold, and what is said of them."""
    return [(finding.about.name, finding.complaint) for finding in verdict.findings if not finding.holds]


def test_an_exercise_is_fit_to_be_released(exercise: Exercise) -> None:
    """Its reference, each of its mistakes and their sentences. What has passed the audit as it is now, in `make build`
    for example, is not audited again."""
    assert audited.faults(exercise) == []


@pytest.mark.everything
def test_fresh_inputs_name_no_wrong_mistake(exercise: Exercise) -> None:
    """The audit asks the public ones."""
    for mistake in exercise.misconceptions:
        found = verdict_on(exercise, mistake.implementation, 0).misconceptions
        assert [m.id for m in found] == [mistake.id]


def test_the_points_of_an_assignment_are_a_round_sum() -> None:
    for name in ASSIGNMENTS:
        assert float(sum(exercise.points for exercise in exercises_of(name).values())).is_integer(), name


def test_a_right_answer_earns_everything(right: tuple[Exercise, Answer]) -> None:
    """By the public inputs, which a student sees, and by fresh ones."""
    exercise, answer = right
    verdict = examine(exercise, answer.call, 0)
    assert verdict.closed == ()
    assert verdict.passed, broken(verdict)


FORMS = [forms.as_array, forms.as_lists, forms.as_tuples, forms.as_a_tuple, forms.as_tensor]


def test_what_a_page_says_about_results_holds_in_every_question(quick: Exercise) -> None:
    """`questions.begins`: an array or a list instead of a tensor, a tuple or a tensor instead of a list. Each question
    but the experiments, which train, is asked in one form, which its name draws; all are converted in one place."""
    exercise = quick
    form = FORMS[number("form", exercise.name) % len(FORMS)]
    if exercise.numpy and form is forms.as_tensor:
        form = forms.as_array_of_list

    def student(*given):
        result = exercise.reference(*given)
        return tuple(map(form, result)) if isinstance(result, tuple) else form(result)

    verdict = examine(exercise, student, None)
    assert verdict.passed, broken(verdict)


def test_a_wrong_answer_is_not_full_marks_and_not_misnamed(wrong: tuple[Exercise, Answer]) -> None:
    exercise, answer = wrong
    verdict = examine(exercise, answer.call, 5)
    shown = not verdict.closed and not any(not finding.holds and not finding.fresh for finding in verdict.findings)
    assert shown == (answer.earns == "cheat"), "who reads “well done” and loses points is angry"
    assert verdict.points <= exercise.points - 0.5
    named = [] if answer.earns in ("wrong", "cheat") else [answer.earns]
    assert [m.id for m in verdict.misconceptions] == named
