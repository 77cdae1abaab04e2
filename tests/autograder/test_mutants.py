"""Changed answers lose points, and what has full marks all the same is found."""

from dataclasses import replace

from autograder.question.find import find
from tests.autograder.mutants import mutants, survivors

ONCE = "total > 1"
"""A context seen only once is taken for one that was never seen."""


def test_each_mutant_differs_in_one_place() -> None:
    source = "def f(a, b):\n    if a > 0:\n        b += 1\n    return a - b"
    found = dict(mutants(source))
    assert len(set(found.values())) == len(found)
    for line in (
        "if a >= 0:",
        "if a > 1:",
        "if b > 0:",
        "if True:",
        "b -= 1",
        "pass",
        "return b - a",
        "return a + b",
        "return b - b",
    ):
        assert any(change.endswith(f" → {line}") for change in found), line
    assert found["return a - b → return b - a"].endswith("return b - a")


def test_a_change_that_matters_costs_points_and_a_hole_is_found() -> None:
    exercise = find("ngrams.conditional_probabilities")
    assert not any(ONCE in change for change in survivors(exercise))
    never = [prop for prop in exercise.properties if prop.name != "contexts that were seen"]
    assert any(ONCE in change for change in survivors(replace(exercise, properties=tuple(never))))
