import torch

from autograder.question.audit import verdict_on
from autograder.question.interview import questions
from tests.autograder.test_specification import doubling


def test_hidden_questions_start_with_the_public_ones_and_go_on_with_fresh_ones():
    exercise = doubling()
    public, hidden, again, other = (questions(exercise, seed) for seed in (None, 1, 1, 2))
    assert len(hidden) > len(public)

    def first(question):
        return question.case.calls[0][0]

    assert torch.equal(first(public[0]), first(hidden[0]))
    assert torch.equal(first(hidden[-1]), first(again[-1]))
    assert not torch.equal(first(hidden[-1]), first(other[-1]))


def test_the_number_of_threads_is_what_it_was():
    threads = torch.get_num_threads()
    verdict_on(doubling(), lambda x: 2 * x)
    assert torch.get_num_threads() == threads
