"""The exercises of the assignment "gates", held to the law: right solutions earn all, mistakes are named."""

import numpy as np
import pytest
import torch

from autograder.check import examine
from autograder.checks.gates import EXERCISES
from nlmcore.diagnostics import jacobian_norms
from nlmcore.recurrent import GRUCell, LSTMCell, RNNCell, UGRNNCell, unroll
from tests.autograder.assignment_laws import AssignmentLaws
from tests.autograder.solutions_gates import SOLUTIONS
from tests.autograder.strangers import gates


def reference(name, *arguments):
    return EXERCISES[f"gates.{name}"].reference(*arguments)


def random(*shapes, seed=0):
    draw = torch.Generator().manual_seed(seed)
    return [torch.randn(*shape, generator=draw, dtype=torch.float64) for shape in shapes]


def blocks(cell):
    """W, U and the two biases of one of the library's cells, block by block."""
    n = cell.d_hidden
    W, U = (w.detach().view(-1, n, w.shape[1]).transpose(1, 2) for w in (cell.weight_ih, cell.weight_hh))
    biases = [None if bias is None else bias.detach().view(-1, n) for bias in (cell.bias_ih, cell.bias_hh)]
    return W, U, *biases


def perturbed(build):
    torch.manual_seed(3)
    cell = build(3, 4).double()
    for parameter in cell.parameters():
        parameter.data.add_(torch.randn_like(parameter))
    return cell


@torch.no_grad()
def test_the_references_of_the_steps_are_the_librarys_cells():
    x, h, c = random((2, 3), (2, 4), (2, 4))

    cell = perturbed(UGRNNCell)
    W, U, b, _ = blocks(cell)
    found = reference("ugrnn_step", x, h, W[0], U[0], b[0], W[1], U[1], b[1])
    assert torch.allclose(found[0], cell(x, h))

    cell = perturbed(GRUCell)
    W, U, b, d = blocks(cell)
    b = torch.stack([b[0] + d[0], b[1] + d[1], b[2]])
    assert torch.allclose(reference("gru_step", x, h, W, U, b, d[2])[0], cell(x, h))

    cell = perturbed(LSTMCell)
    W, U, b, d = blocks(cell)
    new_h, new_c, _ = reference("lstm_step", x, h, c, W, U, b + d)
    after = cell(x, (h, c))
    assert torch.allclose(new_h, after.h)
    assert torch.allclose(new_c, after.c)


def test_the_references_of_the_derivatives_are_what_pytorch_differentiates():
    c_before, d_h, d_c, *sums = random(*[(2, 4)] * 7)
    leaves = [*sums, c_before]
    for leaf in leaves:
        leaf.requires_grad_()
    i, f, g, o = sums[0].sigmoid(), sums[1].sigmoid(), sums[2].tanh(), sums[3].sigmoid()
    c = f * c_before + i * g
    wanted = torch.autograd.grad((o * c.tanh() * d_h).sum() + (c * d_c).sum(), leaves)
    gates = torch.stack([i, f, g, o]).detach()
    found = reference("lstm_backward", gates, c_before.detach(), d_h, d_c)
    assert all(torch.allclose(a, b) for a, b in zip(found, wanted, strict=True))

    cell = RNNCell(3, 4).double()
    (xs,) = random((1, 6, 3))
    with torch.no_grad():
        hs = unroll(cell, xs, torch.zeros(1, 4, dtype=torch.float64)).states[0]
    wanted = jacobian_norms(cell, xs).products[0].flip(0)
    found = reference("jacobian_norms", hs, cell.weight_hh.detach().T)
    assert torch.allclose(found[1:], wanted)


# --- right, in odd ways -----------------------------------------------------------------------------------


class Leaking:
    def __call__(self, news, gates, h0):
        states, h = [], h0.clone().double()
        for t in range(len(news)):
            h.mul_(gates[t]).add_((1 - gates[t]) * news[t])
            states.append(h.tolist())
        return states, np.multiply.accumulate(gates.numpy())


def with_one_product(x, h, W_R, U_R, b_R, W_G, U_G, b_G):
    both = torch.cat([x, h], 1) @ torch.cat([torch.cat([W_R, W_G], 1), torch.cat([U_R, U_G], 1)])
    R, G = (both + torch.cat([b_R, b_G])).chunk(2, 1)
    R, G = R.tanh(), G.sigmoid()
    return [torch.lerp(R, h, G), G.numpy(), R.double()]


def with_einsum(x, h, W, U, b, d):
    from_x = torch.einsum("ni,kij->knj", x, W) + b[:, None]
    from_h = torch.einsum("ni,kij->knj", h, U)
    r, z = 1 / (1 + (-(from_x + from_h)[:2]).exp())
    n = torch.tanh(from_x[2] + r * (from_h[2] + d))
    return n + z * (h - n), r, z, n


def with_pytorch_layout(x, h, c, W, U, b):
    sums = torch.nn.functional.linear(x, W.transpose(1, 2).flatten(0, 1), b.flatten())
    sums = sums + torch.nn.functional.linear(h, U.transpose(1, 2).flatten(0, 1))
    i, f, g, o = sums.chunk(4, dim=1)
    gates = torch.stack([i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()])
    memory = torch.addcmul(gates[1] * c, gates[0], gates[2])
    return gates[3] * memory.tanh(), memory, gates.numpy()


def in_place_on_copies(gates, c_before, d_h, d_c):
    i, f, g, o = (gate.clone() for gate in gates)
    c = torch.addcmul(f * c_before, i, g)
    whole = d_c.clone().addcmul_(d_h * o, c.cosh() ** -2)
    return [
        (whole * g * i).sub_(whole * g * i * i),
        (whole * c_before * f).mul_(1 - f),
        (whole * i) * (1 + g) * (1 - g),
        (d_h * c.tanh() * o).mul_(1 - o).numpy(),
        whole.mul_(f).double(),
    ]


def by_svd(hs, U):
    found, product = [torch.ones((), dtype=U.dtype)], torch.eye(len(U), dtype=U.dtype)
    for h in reversed(hs[1:]):
        product = U @ torch.diag(1 - h * h) @ product  # the transpose of the product
        found.append(torch.linalg.svdvals(product)[0])
    return found


ODD_BUT_RIGHT = [
    ("leaky", Leaking()),
    ("ugrnn_step", with_one_product),
    ("gru_step", with_einsum),
    ("lstm_step", with_pytorch_layout),
    ("lstm_backward", in_place_on_copies),
    ("jacobian_norms", by_svd),
]


def test_what_does_the_work_is_closed():
    def by_the_library(x, h, W, U, b, d):
        return torch.nn.GRUCell(x.shape[1], h.shape[1])(x, h)

    def by_autograd(hs, U):
        return torch.autograd.functional.jacobian(lambda h: torch.tanh(h @ U), hs[0])

    assert examine(EXERCISES["gates.gru_step"], by_the_library, 7).closed
    assert examine(EXERCISES["gates.jacobian_norms"], by_autograd, 7).closed


# --- wrong, in ways that are in no list -------------------------------------------------------------------


def right(name):
    return SOLUTIONS[f"gates.{name}"]


def keeps_by_the_square(news, gates, h0):
    return right("leaky")(news, gates**2, h0)


def gate_of_two_pasts(x, h, W_R, U_R, b_R, W_G, U_G, b_G):
    return right("ugrnn_step")(x, h, W_R, U_R, b_R, W_G, U_G * 2, b_G)


def one_gate_for_both(x, h, W, U, b, d):
    _, r, _, n = right("gru_step")(x, h, W, U, b, d)
    return r * h.numpy() + (1 - r) * n, r, r, n


def shows_twice_squashed(x, h, c, W, U, b):
    new_h, new_c, gates = right("lstm_step")(x, h, c, W, U, b)
    return np.tanh(new_h), new_c, gates


def both_roads_averaged(gates, c_before, d_h, d_c):
    return right("lstm_backward")(gates, c_before, d_h / 2, d_c / 2)


def half_the_slope(hs, U):
    return right("jacobian_norms")(hs * 0.5**0.5, U)


WRONG = [
    ("leaky", keeps_by_the_square),
    ("ugrnn_step", gate_of_two_pasts),
    ("gru_step", one_gate_for_both),
    ("lstm_step", shows_twice_squashed),
    ("lstm_backward", both_roads_averaged),
    ("jacobian_norms", half_the_slope),
]


def test_a_wrong_gate_does_not_cost_the_points_for_mixing_with_it():
    def wrong_gate(x, h, W, U, b, d):
        _, r, z, n = (torch.as_tensor(part) for part in right("gru_step")(x, h, W, U, b, d))
        z = z**2
        return z * h + (1 - z) * n, r, z, n

    verdict = examine(EXERCISES["gates.gru_step"], wrong_gate, 5)
    held = {finding.about.name for finding in verdict.findings if finding.holds}
    assert {"the candidate", "mixed by your own gate"} <= held
    assert not {"the two gates", "the new state, odd sizes"} & held


@pytest.mark.parametrize("filling", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("exercise", EXERCISES.values(), ids=lambda e: e.function)
def test_a_constant_earns_next_to_nothing(exercise, filling):
    def constant(*given):
        answer = SOLUTIONS[exercise.name](*given)
        answer = answer if isinstance(answer, tuple) else (answer,)
        made = tuple(torch.full(torch.as_tensor(a).shape, filling) for a in answer)
        return made if len(made) > 1 else made[0]

    assert examine(exercise, constant, 5).points <= 0.1 * exercise.points


class TestGates(AssignmentLaws):
    exercises, solutions = EXERCISES, SOLUTIONS
    odd, wrong = ODD_BUT_RIGHT, WRONG
    strangers = gates
