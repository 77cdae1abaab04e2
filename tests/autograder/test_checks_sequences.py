"""The exercises of the assignment "sequences", held to the law: right solutions earn all, mistakes are named."""

import numpy as np
import pytest
import torch

from autograder.check import examine
from autograder.checks.sequences import EXERCISES
from nlmcore.training import exponential_decay, inverse_sigmoid_decay, linear_decay
from tests.autograder.assignment_laws import AssignmentLaws
from tests.autograder.solutions_sequences import SOLUTIONS
from tests.autograder.strangers import sequences


def test_the_references_are_the_librarys_schedules():
    share = EXERCISES["sequences.teacher_share"].reference
    for step in (0, 3, 17):
        assert share(step, "linear", 0.04) == pytest.approx(linear_decay(step, slope=0.04))
        assert share(step, "exponential", 0.9) == pytest.approx(exponential_decay(step, base=0.9))
        assert share(step, "inverse sigmoid", 7.0) == pytest.approx(inverse_sigmoid_decay(step, k=7.0))


# --- right, in odd ways -----------------------------------------------------------------------------------


def by_padding(targets, bos, eos):
    rows = [torch.tensor([bos, *t, eos]) for t in targets]
    whole = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)
    inputs = whole[:, :-1].clone()
    inputs[inputs == eos] = 0
    return [inputs.to(torch.int32), whole[:, 1:].double()]


def in_place_on_a_copy(tokens, lengths):
    out = tokens.clone()
    for row, n in enumerate(lengths):
        out[row, :n] = out[row, :n].flip(0)
    return out.numpy()


class Last:
    def __call__(self, states, lengths):
        return states.gather(1, (lengths - 1)[:, None, None].expand(-1, 1, states.shape[2]))[:, 0].double()


def with_numpy_where(truth, own, coins, share):
    fed = np.roll(own.numpy(), 1, axis=1)
    keep = coins.numpy() < share
    keep[:, 0] = True
    return np.where(keep, truth.numpy(), fed).astype(np.float32)


def with_one_matrix(context, E, W, U, C, V, bos, eos, longest, every_step):
    both, h, tokens, states = torch.cat([W, U, C]), context, [bos], []
    for _ in range(longest):
        h = torch.tanh(torch.cat([E[tokens[-1]], h, context * float(every_step)]) @ both)
        states.append(h.tolist())
        tokens.append(int((h @ V).argmax()))
        if tokens[-1] == eos:
            break
    return tokens[1:], states


ODD_BUT_RIGHT = [
    ("teacher_forcing", by_padding),
    ("reverse", in_place_on_a_copy),
    ("last_states", Last()),
    ("teacher_share", lambda step, kind, k: torch.tensor(SOLUTIONS["sequences.teacher_share"](step, kind, k))),
    ("mixed_inputs", with_numpy_where),
    ("write", with_one_matrix),
    (
        "clipped_precision",
        lambda h, r, n: np.float64(SOLUTIONS["sequences.clipped_precision"](list(map(str, h)), list(map(str, r)), n)),
    ),
]


# --- wrong, in ways that are in no list -------------------------------------------------------------------


def right(name):
    return SOLUTIONS[f"sequences.{name}"]


def mixes_states(context, E, W, U, C, V, bos, eos, longest, every_step):
    return right("write")(context * 0.5, E, W, U, C, V, bos, eos, longest, every_step)


WRONG = [
    ("teacher_forcing", lambda targets, bos, eos: right("teacher_forcing")([t[:2] for t in targets], bos, eos)),
    ("reverse", lambda tokens, lengths: right("reverse")(tokens, (lengths - 1).clamp(min=1))),
    ("last_states", lambda states, lengths: states.max(1).values),
    ("teacher_share", lambda step, kind, k: right("teacher_share")(step + 1, kind, k)),
    ("mixed_inputs", lambda truth, own, coins, share: right("mixed_inputs")(truth, own, coins, share * share)),
    ("write", mixes_states),
    ("clipped_precision", lambda h, r, n: right("clipped_precision")(sorted(h), sorted(r), n)),
]


@pytest.mark.parametrize(
    ("name", "constant"),
    [
        ("teacher_forcing", lambda targets, bos, eos: ([[bos]], [[eos]])),
        ("last_states", lambda states, lengths: torch.zeros(len(states), states.shape[2])),
        ("mixed_inputs", lambda truth, own, coins, share: torch.zeros_like(truth)),
        ("write", lambda context, *given: ([2], torch.zeros(1, len(context)))),
        ("clipped_precision", lambda h, r, n: 0.0),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_an_answer_that_does_not_look_at_its_input_earns_next_to_nothing(name, constant):
    exercise = EXERCISES[f"sequences.{name}"]
    assert examine(exercise, constant, 5).points <= 0.1 * exercise.points


# --- which name a mistake gets ------------------------------------------------------------------------------


def names(exercise, function):
    return [m.id for m in examine(EXERCISES[f"sequences.{exercise}"], function, None).misconceptions]


def test_a_row_turned_over_is_named_in_the_callers_tensor_too():
    assert names("reverse", lambda tokens, lengths: tokens.copy_(tokens.flip(1))) == ["padding-in-front"]


@pytest.mark.parametrize("length", ["min", "median"])
def test_only_the_longest_length_is_called_the_longest(length):
    def by_another(tokens, lengths):
        return right("reverse")(tokens, torch.full_like(lengths, int(getattr(lengths, length)())))

    assert "by-the-longest" not in names("reverse", by_another)


@pytest.mark.parametrize("states", [[], [[0.0]], [[float("nan")] * 5] * 6, torch.zeros(6)], ids=str)
def test_states_of_any_shape_are_a_complaint_and_no_fault_of_the_grader(states):
    verdict = examine(EXERCISES["sequences.write"], lambda *given: ([3] * 6, states), None)
    assert verdict.points == 0


class TestSequences(AssignmentLaws):
    exercises, solutions = EXERCISES, SOLUTIONS
    odd, wrong = ODD_BUT_RIGHT, WRONG
    strangers = sequences
