"""What is asked of every assignment: right answers earn all, mistakes are named, wrong answers are judged fairly.

The answers that are tried are `tests/autograder/answers/<assignment>.txt`. `pytest -k gates` asks one assignment.
"""

import pkgutil
import re

import pytest

from autograder import checks
from autograder.check import examine
from autograder.exercise import audited
from autograder.exercise.audit import verdict_on
from autograder.exercise.find import exercises_of
from autograder.exercise.specification import Exercise, Misconception
from autograder.exercise.verdict import Verdict
from tests.autograder import forms
from tests.autograder.answers import Answer, answers, second
from tests.conftest import takes

ASSIGNMENTS = [module.name for module in pkgutil.iter_modules(checks.__path__)]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    exercises = [exercise for name in ASSIGNMENTS for exercise in exercises_of(name).values()]
    found = {e: [a for a in answers(assignment(e)) if a.function == e.function] for e in exercises}
    rows = {
        "exercise": [(e.name, e) for e in exercises],
        "mistake": [(f"{e.name} {m.id}", (e, m)) for e in exercises for m in e.misconceptions],
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
    """What has passed the audit as it is now, in `make build` for example, is not audited again."""
    assert audited.faults(exercise) == []
    assert len(exercise.misconceptions) >= 4, "a question declares at least four mistakes"


def test_a_misconception_fails_visibly_and_is_named(
    mistake: tuple[Exercise, Misconception], pytestconfig: pytest.Config
) -> None:
    """It is named by the public inputs; fresh ones, which `.ci/run` asks of a third, must not break the grader."""
    exercise, misconception = mistake
    verdict = verdict_on(exercise, misconception.implementation, 0 if takes(pytestconfig, exercise.name) else None)
    assert any(not finding.holds and not finding.fresh for finding in verdict.findings), "a student sees it, too"
    assert [m.id for m in verdict.misconceptions] == [misconception.id]


RIGHT = re.compile(r"(?:^|[.:] )(?:The|Your|Both|This|Gate|the)\b[^.:]* (?:is|are|look) right\b")


def test_what_a_message_calls_right_has_points(mistake: tuple[Exercise, Misconception]) -> None:
    exercise, misconception = mistake
    if RIGHT.search(misconception.sentence):
        assert verdict_on(exercise, misconception.implementation, 3).points >= 0.5, misconception.sentence


def test_misconceptions_are_said_in_sentences(exercise: Exercise) -> None:
    for misconception in exercise.misconceptions:
        assert misconception.sentence.rstrip(")").endswith((".", "!", "?", "…"))
        assert len(misconception.sentence.split()) >= 5, misconception.id


@pytest.mark.parametrize("name", ASSIGNMENTS)
def test_the_points_of_an_assignment_are_a_round_sum(name: str) -> None:
    assert float(sum(exercise.points for exercise in exercises_of(name).values())).is_integer()


def test_a_right_answer_earns_everything(right: tuple[Exercise, Answer]) -> None:
    """By the public inputs, which a student sees, and by fresh ones."""
    exercise, answer = right
    verdict = examine(exercise, answer.call, 0)
    assert verdict.closed == ()
    assert verdict.passed, broken(verdict)


FORMS = [forms.as_array, forms.as_lists, forms.as_tuples, forms.as_a_tuple, forms.as_tensor]


@pytest.mark.parametrize("form", FORMS)
def test_what_a_page_says_about_results_holds_in_every_question(exercise: Exercise, form) -> None:
    """`questions.begins`: an array or a list instead of a tensor, a tuple or a tensor instead of a list."""
    if exercise.numpy and form is forms.as_tensor:
        form = forms.as_array_of_list

    def student(*given):
        result = exercise.reference(*given)
        return tuple(map(form, result)) if isinstance(result, tuple) else form(result)

    verdict = examine(exercise, student, None)
    assert verdict.passed, broken(verdict)


def test_every_question_has_a_second_solution(exercise: Exercise) -> None:
    if exercise.function not in second(answers(assignment(exercise))):
        pytest.skip(f"write one into tests/autograder/answers/{assignment(exercise)}.txt: it finds what is unfair")


def test_a_wrong_answer_is_not_full_marks_and_not_misnamed(wrong: tuple[Exercise, Answer]) -> None:
    exercise, answer = wrong
    verdict = examine(exercise, answer.call, 5)
    shown = not verdict.closed and not any(not finding.holds and not finding.fresh for finding in verdict.findings)
    assert shown == (answer.earns == "cheat"), "who reads “well done” and loses points is angry"
    assert verdict.points <= exercise.points - 0.5
    named = [] if answer.earns in ("wrong", "cheat") else [answer.earns]
    assert [m.id for m in verdict.misconceptions] == named
