from dataclasses import replace

import pytest
import torch

from autograder.question.audit import verdict_on
from autograder.question.interview import questions
from autograder.question.judges import and_inputs_unchanged, at_most, inputs_unchanged, same_shapes, same_values
from autograder.question.outcome import Outcome
from autograder.question.specification import Property, case
from autograder.question.verdict import GraderFault
from tests.autograder.test_specification import NAMES, doubling, one_case

SIZES = Property(
    name="sizes",
    points=1,
    cases=lambda draw: [case("one", draw.normal(1)), case("two", draw.normal(2))],
    judge=same_values(NAMES),
)


def test_points_come_property_by_property():
    parts = (
        Property(name="shape", points=0.5, cases=one_case, judge=same_shapes(NAMES)),
        Property(name="numbers", points=2, cases=one_case, judge=same_values(NAMES)),
        Property(name="input", points=1, cases=one_case, judge=inputs_unchanged),
    )
    exercise = doubling(properties=parts)
    assert verdict_on(exercise, lambda x: 2 * x).points == 3.5
    assert verdict_on(exercise, lambda x: 3 * x).points == 1.5
    assert verdict_on(exercise, lambda x: x.mul_(2)).points == 2.5
    assert verdict_on(exercise, lambda x: 2 * x[:1]).points == 1
    assert verdict_on(exercise, lambda x: 1 / 0).points == 0


def test_what_only_hidden_inputs_bring_to_light_is_marked_as_fresh():
    remembered = questions(doubling())[0].case.calls[0][0]
    verdict = verdict_on(doubling(), lambda x: 2 * x if torch.equal(x, remembered) else x, seed=5)
    assert not verdict.passed
    assert verdict.findings[0].fresh
    assert verdict_on(doubling(), lambda x: 2 * x if torch.equal(x, remembered) else x).passed


def test_inputs_are_kept_in_the_cases_of_all_properties():
    def changes_what_is_long(x):
        return x.mul_(2) if len(x) == 3 else 2 * x

    kept = and_inputs_unchanged(same_values(NAMES))
    short = Property(name="short", points=1, cases=lambda draw: [case("one", draw.normal(1))], judge=kept)
    exercise = doubling(properties=(*doubling().properties, short))
    long, other = verdict_on(exercise, changes_what_is_long).findings
    assert long.holds
    assert (other.complaint, other.case.label) == ("after the call, x had changed", "a number")


def test_unwritten_means_that_every_call_said_so():
    def empty(x):
        raise NotImplementedError

    def half(x):
        if len(x) == 1:
            raise NotImplementedError
        return x

    assert verdict_on(doubling(), empty).unwritten
    assert verdict_on(doubling(), empty).points == 0
    assert not verdict_on(doubling(properties=(SIZES,)), half).unwritten


def test_a_result_without_end_is_not_judged_at_all():
    looked: list[int] = []

    def slow(case, got, expected):
        looked.extend(len(outcome.outputs[0]) for outcome in got)
        return None

    exercise = doubling(properties=(Property(name="p", points=1, cases=one_case, judge=slow),))
    verdict = verdict_on(exercise, lambda x: x.repeat(100_000))
    assert verdict.findings[0].complaint == "y holds far more numbers than were asked for"
    assert looked == []
    verdict_on(exercise, lambda x: x.repeat(20))
    assert looked


def test_a_judge_that_breaks_is_a_fault_of_the_grader():
    def broken(case, got, expected):
        raise IndexError("oops")

    exercise = doubling(properties=(Property(name="p", points=1, cases=one_case, judge=broken),))
    with pytest.raises(GraderFault, match="judging 'p'"):
        verdict_on(exercise, lambda x: x)


def test_nan_is_never_right_and_noise_is_never_wrong():
    noise = 1 + 1e-6
    assert verdict_on(doubling(), lambda x: 2 * x * noise).passed
    assert verdict_on(doubling(), lambda x: (2 * x).double()).passed
    assert not verdict_on(doubling(), lambda x: 2 * x + float("nan")).passed
    assert not verdict_on(doubling(), lambda x: 2 * x + 1e-3).passed


def test_a_tuple_of_one_number_is_a_list_of_one_or_the_number_as_was_asked():
    every = doubling(properties=(SIZES,))
    assert verdict_on(every, lambda x: tuple((2 * x).tolist())).passed
    total = replace(every, reference=lambda x: x.sum())
    assert verdict_on(total, lambda x: (float(x.sum()),)).passed
    assert verdict_on(total, lambda x: x.sum()).passed
    assert not verdict_on(every, lambda x: 2 * x.sum()).passed


@pytest.mark.parametrize(("took", "needed", "words"), [(6, 2, "3.0 times as much"), (6, 0, "more is"), (4, 2, None)])
def test_what_is_counted_is_compared_also_where_nothing_is_needed(took, needed, words):
    mine, right = ((Outcome(outputs=(torch.tensor(float(number)),)),) for number in (took, needed))
    said = at_most((), (), 2.0)(case("a case"), mine, right)
    assert said is None if words is None else words in str(said)


def test_who_computes_nothing_saves_nothing():
    mine, right = ((Outcome(outputs=(torch.tensor(y), torch.tensor(float(n)))),) for y, n in ((0.0, 1), (3.0, 2)))
    assert at_most(("y",), (0,), 2.0)(case("a case"), mine, right) == "the values of y are not the expected ones"
