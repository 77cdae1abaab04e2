"""What the exercises of "decoding" promise beyond what every assignment must (`test_checks.py`)."""

import pytest
import torch

from autograder.check import examine
from autograder.question.interview import questions
from nlmcore.decoding import beam_search as library_beam_search
from solutions.decoding.checks import EXERCISES
from tests.autograder.answers import answers, second

SOLUTIONS = second(answers("decoding"))


def test_the_reference_finds_what_the_librarys_beam_finds():
    """The question has another form than `nlmcore.decoding`; on its own cases the two agree."""
    exercise, compared = EXERCISES["decoding.beam_search"], 0
    for question in questions(exercise, 3):
        table, start, eos, beam, longest = question.case.calls[0]
        found, score = exercise.reference(table, start, eos, beam, longest)
        if found[-1] != eos or "pushed out" in question.case.label:  # the library keeps a text that has ended
            continue

        class Bigrams:
            vocab_size = len(table)

            def __call__(self, tokens, state=None):
                return table[tokens], tokens[:, -1:]  # noqa: B023

        prompt = torch.tensor([[start]])
        best = library_beam_search(Bigrams(), prompt, longest, beam_size=beam, eos=eos)[0][0]
        assert list(best.tokens) == found
        assert float(best.log_prob) == pytest.approx(score, abs=1e-4)
        compared += 1
    assert compared >= 8


def test_what_is_wrong_with_the_tokens_costs_nothing_of_their_log_probability():
    def greedy_and_its_own_score(log_probs, start, eos, beam, longest):
        tokens = SOLUTIONS["greedy"](log_probs, start, eos, longest)
        return tokens, sum(float(log_probs[a, b]) for a, b in zip([start, *tokens], tokens, strict=False))

    verdict = examine(EXERCISES["decoding.beam_search"], greedy_and_its_own_score, 5)
    held = {finding.about.name for finding in verdict.findings if finding.holds}
    assert held == {"one hypothesis is greedy", "the log-probability of your own tokens"}


@pytest.mark.parametrize("tokens", [[], [-1], [10**6], [float("nan")]], ids=str)
@pytest.mark.parametrize("log_prob", [0.0, [0.0, 0.0], float("nan")], ids=str)
def test_an_answer_that_is_no_path_is_a_complaint_and_no_fault_of_the_grader(tokens, log_prob):
    verdict = examine(EXERCISES["decoding.beam_search"], lambda *given: (tokens, log_prob), None)
    assert verdict.points == 0


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda p, n, penalty: (p * n**penalty, (p * n**penalty).argmin()), ["multiplied", "smallest-score"]),
        (lambda p, n, penalty: (p / n**penalty, p.argmin()), ["smallest-score"]),
        (lambda p, n, penalty: (p / n**penalty, n.argmin()), []),
        (lambda p, n, penalty: (p - penalty * n, (p - penalty * n).argmax()), ["subtracted"]),
    ],
    ids=["multiplied and smallest", "smallest of all", "shortest", "subtracted"],
)
def test_a_wrong_length_is_not_told_what_it_is_not(wrong, said):
    """The first makes two mistakes and is told of both; the second does choose the smallest score where nothing else
    is wrong: without a penalty."""
    verdict = examine(EXERCISES["decoding.length_penalty"], wrong, 5)
    assert verdict.points <= 1.5
    assert [m.id for m in verdict.misconceptions] == said
