"""The smallest failing input: drawn by the question's own generators, the same from the declaration and from data."""

import pytest
import torch

from autograder.check import examine
from autograder.question.find import exercises_of
from autograder.question.public import read, write
from autograder.question.smaller import size, smaller, smallest
from autograder.question.specification import case
from tests.autograder.test_specification import doubling

NGRAMS = exercises_of("ngrams")
COUNTS = NGRAMS["ngrams.count_bigrams"]


def test_a_case_is_as_large_as_what_a_reader_has_to_look_at():
    assert size(case("one list", [5, 6], 3)) == 6
    assert size(case("a tensor", torch.zeros(3, 4))) < size(case("a larger one", torch.zeros(4, 4)))


@pytest.mark.parametrize("assignment", ["ngrams", "subwords", "vectors"])
def test_there_are_smaller_cases_and_data_have_the_same(assignment):
    assert any(map(any, map(smaller, exercises_of(assignment).values())))
    for name, exercise in exercises_of(assignment).items():
        if "conclusion" in exercise.chosen:  # of an experiment there is nothing smaller, and its mistakes train
            continue
        declared, recorded = smaller(exercise), smaller(read(*write({name: exercise}))[name])
        for prop, ours, theirs in zip(exercise.properties, declared, recorded, strict=True):
            labels = [one.label for one, _ in ours]
            assert all(labels.count(label) <= 2 for label in labels), prop.name
            assert [repr(one.calls) for one, _ in ours] == [repr(other.calls) for other, _ in theirs]
            assert repr([row for _, row in ours]) == repr([row for _, row in theirs])


def test_the_smallest_case_on_which_the_first_property_fails_is_found():
    wrong = COUNTS.mistake("eos-forgotten")
    verdict = examine(COUNTS, wrong, None)
    first = next(f for f in verdict.findings if not f.holds)
    found = smallest(COUNTS, verdict, wrong)
    assert (found.about, found.holds) == (first.about, False)
    assert size(found.case) < size(first.case)


def test_nothing_is_looked_for_where_nothing_failed_and_the_case_stays_where_none_is_smaller():
    exercise = doubling()
    assert smallest(exercise, examine(exercise, lambda x: 2 * x, None), lambda x: 2 * x) is None
    verdict = examine(exercise, lambda x: 3 * x, None)
    found = smallest(exercise, verdict, lambda x: 3 * x)
    assert not found.holds
    assert size(found.case) <= size(verdict.findings[0].case)


def test_an_input_that_only_raises_is_no_example_where_another_has_values():
    def student(sentences, vocab_size, bos, eos):
        if len(sentences) < 4:
            raise ValueError
        return torch.zeros(vocab_size, vocab_size)

    found = smallest(COUNTS, examine(COUNTS, student, None), student)
    assert all(outcome.fault is None for outcome in found.got)
