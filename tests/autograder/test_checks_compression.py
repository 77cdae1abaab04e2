"""What the exercises of "compression" promise beyond what every assignment must (`test_checks.py`)."""

import itertools

import pytest
import torch

from autograder.check import examine
from autograder.question.draw import Draw
from nlmcore.training import distillation_loss
from solutions.compression.checks import EXERCISES, layered, symmetric, weighed

REFERENCE = {exercise.function: exercise.reference for exercise in EXERCISES.values()}


def meaning(codes, scale, zero):
    """d (q − z) of every weight."""
    return (scale[..., None] * (codes.reshape(*scale.shape, -1) - zero[..., None])).reshape(codes.shape)


@pytest.mark.parametrize("bits", [1, 2, 3, 8])
def test_weights_move_by_half_a_step_and_zeros_do_not(bits):
    weights, _, group = weighed(Draw(0, 5), 3, 4, 5)
    weights[0, 2] = weights[2, 7] = 0
    codes, scale, zero = REFERENCE["quantise"](weights, bits, group)
    rounded = meaning(codes, scale, zero)
    moved = (rounded - weights).view(*scale.shape, group).abs()
    assert bool((moved <= 0.5001 * scale[..., None]).all())
    assert bool((rounded[weights == 0] == 0).all())
    assert bool(((codes >= 0) & (codes < 2**bits) & (codes == codes.round())).all())


def test_the_example_of_question_1():
    codes, scale, zero = REFERENCE["quantise"](torch.tensor([[-0.2, 0.0, 0.1, 0.7]]), 2, 4)
    assert (codes.tolist(), zero.tolist()) == ([[0, 1, 1, 3]], [[1]])
    assert scale.item() == pytest.approx(0.3)


def test_the_ends_of_a_symmetric_range_are_ties():
    """Where both are rounded outwards there is no integer left for one of them."""
    for bits in (3, 4):
        weights, _, group = symmetric(Draw(1, 5), bits)
        _, scale, zero = REFERENCE["quantise"](weights, bits, group)
        most = weights.view(*scale.shape, group).amax(2) / scale
        assert bool((most.round() + zero == 2**bits).all())


@pytest.mark.parametrize("bits", [1, 3, 5, 8])
def test_the_bytes_are_the_digits_of_one_number(bits):
    codes = Draw(2, 5).integers(0, 2**bits - 1, 11)
    packed = REFERENCE["pack"](codes, bits)
    assert int.from_bytes(bytes(packed), "little") == sum(code << bits * i for i, code in enumerate(codes.tolist()))
    assert len(packed) == -(-11 * bits // 8)


def test_no_other_shift_of_two_weights_is_better():
    e, a, c, h = 0.4, 1.3, -0.6, 0.9
    shift, left, saved = REFERENCE["two_weights"](e, a, c, h)

    def change(s):
        return e**2 * a - 2 * e * s * c + s**2 * h

    assert change(shift) == pytest.approx(left) == pytest.approx(change(0) * (1 - saved))
    assert left < min(change(shift - 0.01), change(shift + 0.01))


def test_each_column_is_rounded_where_it_changes_the_output_least():
    """Against least squares: the columns from i on are free, given all that is rounded before."""
    weights, second, bits, group = layered(Draw(3, 5), 5, 2, 3)
    codes, scale, zero = REFERENCE["make_up"](weights, second, bits, group)
    change = meaning(codes, scale, zero) - weights
    inside = 0
    for row, i in itertools.product(range(5), range(6)):
        best = -torch.linalg.solve(second[i:, i:], second[i:, :i] @ change[row, :i])
        if 0 < codes[row, i] < 2**bits - 1:  # an integer at the end may be farther away
            assert abs(change[row, i] - best[0]) <= 0.5001 * scale[row, i // group]
            inside += 1
    assert inside > 6


@pytest.mark.parametrize("temperature", [1.0, 3.0])
def test_the_loss_and_its_slopes_are_the_librarys(temperature):
    draw = Draw(0, 5)
    student, teacher = draw.normal(4, 7).requires_grad_(), draw.normal(4, 7)
    wanted = distillation_loss(student[None], teacher[None], temperature)
    loss, slopes = REFERENCE["soft_targets"](student.detach(), teacher, temperature)
    assert torch.allclose(loss, wanted)
    assert torch.allclose(slopes, torch.autograd.grad(wanted, student)[0], atol=1e-6)


def test_a_parameter_takes_sixteen_bytes_and_one_layer_saves_nothing():
    for mixed in (False, True):
        full, less = (REFERENCE["training_bytes"](1, 16, 50, 30, 18, mixed, kept) for kept in (False, True))
        assert full == less
        assert sum(full[:3]) == 16 * (12 * 16**2 + 50 * 16)


def test_on_the_page_only_the_right_inputs_help_and_where_inputs_are_not_alike_nothing_does():
    _, errors, signs = REFERENCE["which_errs"](0.9, 2, [0, 1, 2, 3, 4])
    assert [row[1:] for row in signs] == [[-1, 1]] * 5
    assert {row[0] for row in signs} == {-1, 1}
    assert all(max(row) == row[3] for row in errors)
    assert REFERENCE["which_errs"](0.0, 2, [0])[2][0][1] == 1


def test_a_tie_may_be_rounded_either_way():
    def half_up(weights, bits, group):
        _, scale, zero = REFERENCE["quantise"](weights, bits, group)
        step = torch.where(scale > 0, scale, 1.0)
        x = weights.reshape(len(weights), -1, group)
        up = (x / step[..., None] + 0.5).floor() + zero[..., None]
        return up.clamp(0, 2**bits - 1).view(weights.shape), scale, zero

    assert examine(EXERCISES["compression.quantise"], half_up, 5).passed
