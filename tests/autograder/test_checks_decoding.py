"""The exercises of the assignment "decoding", held to the law: right solutions earn all, mistakes are named."""

import numpy as np
import pytest
import torch

from autograder.check import examine
from autograder.checks.decoding import EXERCISES
from autograder.exercise.interview import questions
from nlmcore.decoding import beam_search as library_beam_search
from tests.autograder.assignment_laws import AssignmentLaws
from tests.autograder.solutions_decoding import SOLUTIONS
from tests.autograder.strangers import decoding


def test_the_reference_finds_what_the_librarys_beam_finds():
    """The question has another form than `nlmcore.decoding`; on its own cases the two agree."""
    exercise, compared = EXERCISES["decoding.beam_search"], 0
    for question in questions(exercise, 3):
        table, start, eos, beam, longest = question.case.calls[0]
        found, score = exercise.reference(table, start, eos, beam, longest)
        if found[-1] != eos:
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


# --- right, in odd ways -----------------------------------------------------------------------------------


class Greedy:
    def __call__(self, log_probs, start, eos, longest):
        best, path = log_probs.argmax(1), [torch.tensor(start)]
        for _ in range(longest):
            path.append(best[path[-1]])
            if path[-1] == eos:
                break
        return torch.stack(path[1:])


def in_place_on_a_copy(logits, k, temperature):
    z = logits.clone().double().div_(temperature)
    z[z < z.sort(descending=True).values[min(k, len(z)) - 1]] = -float("inf")
    return torch.softmax(z, 0).float()


def nucleus_by_scattering(logits, p):
    share, order = torch.sort(torch.softmax(logits, 0), descending=True)
    share = torch.where(share.cumsum(0) - share < p, share, 0.0)
    return torch.zeros_like(share).scatter_(0, order, share / share.sum()).numpy()


def step_in_numpy(scores, log_probs, beam):
    total = (scores[:, None] + log_probs).numpy().astype(np.float64)
    places = np.argsort(-total, axis=None)[:beam]
    parents, words = np.unravel_index(places, total.shape)
    return [total.ravel()[places], parents.astype(np.int32), words.astype(np.float32)]


def search_with_tensors(log_probs, start, eos, beam, longest):
    frozen = torch.full((len(log_probs),), -float("inf"))
    frozen[eos] = 0.0
    table = log_probs.clone()
    paths, scores, last = torch.empty(1, 0, dtype=torch.long), torch.zeros(1), torch.tensor([start])
    ended = torch.tensor([False])
    for _ in range(longest):
        step = torch.where(ended[:, None], frozen, table[last])
        total = (scores[:, None] + step).reshape(-1)
        scores, places = total.topk(min(beam, len(total)))
        parents, last = places // len(table), places % len(table)
        paths, ended = torch.cat([paths[parents], last[:, None]], 1), ended[parents] | (last == eos)
    tokens = paths[0].tolist()
    return (tokens[: tokens.index(eos) + 1] if eos in tokens else tokens), scores[0]


ODD_BUT_RIGHT = [
    ("greedy", Greedy()),
    ("top_k", in_place_on_a_copy),
    ("nucleus", nucleus_by_scattering),
    ("beam_step", step_in_numpy),
    ("beam_search", search_with_tensors),
    ("length_penalty", lambda log_probs, lengths, penalty: (s := log_probs * lengths.float() ** -penalty, s.argmax())),
]


# --- wrong, in ways that are in no list -------------------------------------------------------------------


def right(name):
    return SOLUTIONS[f"decoding.{name}"]


def stops_at_a_repetition(log_probs, start, eos, longest):
    path = right("greedy")(log_probs, start, eos, longest)
    return path[: next((i for i, w in enumerate(path) if w in path[:i] or w == start), len(path))] or path[:1]


def cools_the_kept_twice(logits, k, temperature):
    return right("top_k")(logits, k, temperature * temperature)


def at_least_two(logits, p):
    share = torch.tensor(right("nucleus")(logits, p))
    return right("top_k")(logits, max(2, int((share > 0).sum())), 1.0)


def only_the_best_parent(scores, log_probs, beam):
    total = log_probs[scores.argmax()] + scores.max()
    best, words = total.topk(beam)
    return best, torch.full((beam,), int(scores.argmax())), words


def half_the_beam(log_probs, start, eos, beam, longest):
    return right("beam_search")(log_probs, start, eos, max(1, beam - 1), longest)


def counts_one_word_less(log_probs, lengths, penalty):
    return right("length_penalty")(log_probs, (lengths - 1).clamp(min=1), penalty)


WRONG = [
    ("greedy", stops_at_a_repetition),
    ("top_k", cools_the_kept_twice),
    ("nucleus", at_least_two),
    ("beam_step", only_the_best_parent),
    ("beam_search", half_the_beam),
    ("length_penalty", counts_one_word_less),
]


@pytest.mark.parametrize(
    ("name", "constant"),
    [
        ("greedy", lambda log_probs, start, eos, longest: [eos]),
        ("top_k", lambda logits, k, temperature: torch.full(logits.shape, 1 / len(logits))),
        ("nucleus", lambda logits, p: torch.full(logits.shape, 1 / len(logits))),
        ("beam_step", lambda scores, log_probs, beam: (torch.zeros(beam), torch.zeros(beam), torch.zeros(beam))),
        ("beam_search", lambda log_probs, start, eos, beam, longest: ([eos], 0.0)),
        ("length_penalty", lambda log_probs, lengths, penalty: (torch.zeros(len(lengths)), 0)),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_an_answer_that_does_not_look_at_its_input_earns_next_to_nothing(name, constant):
    exercise = EXERCISES[f"decoding.{name}"]
    assert examine(exercise, constant, 5).points <= 0.1 * exercise.points


# --- the rules of the beam ---------------------------------------------------------------------------------


def test_what_is_wrong_with_the_tokens_costs_nothing_of_their_log_probability():
    def greedy_and_its_own_score(log_probs, start, eos, beam, longest):
        tokens = right("greedy")(log_probs, start, eos, longest)
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
        (lambda p, n, penalty: (p * n**penalty, (p * n**penalty).argmin()), ["smallest-score"]),
        (lambda p, n, penalty: (p / n**penalty, p.argmin()), ["smallest-score"]),
        (lambda p, n, penalty: (p / n**penalty, n.argmin()), []),
        (lambda p, n, penalty: (p - penalty * n, (p - penalty * n).argmax()), []),
    ],
    ids=["multiplied and smallest", "smallest of all", "shortest", "subtracted"],
)
def test_a_wrong_length_is_not_told_what_it_is_not(wrong, said):
    """The first two do choose the smallest score where nothing else is wrong: without a penalty."""
    verdict = examine(EXERCISES["decoding.length_penalty"], wrong, 5)
    assert verdict.points <= 1.5
    assert [m.id for m in verdict.misconceptions] == said


class TestDecoding(AssignmentLaws):
    exercises, solutions = EXERCISES, SOLUTIONS
    odd, wrong = ODD_BUT_RIGHT, WRONG
    strangers = decoding
