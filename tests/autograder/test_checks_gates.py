"""What the exercises of "gates" promise beyond what every assignment must (`test_checks.py`)."""

import torch

from autograder.check import examine
from autograder.question.outcome import arrays
from nlmcore.diagnostics import jacobian_norms
from nlmcore.recurrent import GRUCell, LSTMCell, RNNCell, UGRNNCell, unroll
from solutions.gates.checks import EXERCISES
from tests.autograder.answers import answers, second

SOLUTIONS = second(answers("gates"))


def reference(name, *arguments):
    """The results for tensors, as tensors, of a reference that takes and returns arrays."""
    found = EXERCISES[f"gates.{name}"].reference(*map(arrays, arguments))
    return tuple(map(torch.as_tensor, found)) if isinstance(found, tuple) else torch.as_tensor(found)


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


def test_a_wrong_gate_does_not_cost_the_points_for_mixing_with_it():
    def wrong_gate(x, h, W, U, b, d):
        _, r, z, n = SOLUTIONS["gru_step"](x, h, W, U, b, d)
        z = z**2
        return z * h + (1 - z) * n, r, z, n

    verdict = examine(EXERCISES["gates.gru_step"], wrong_gate, 5)
    held = {finding.about.name for finding in verdict.findings if finding.holds}
    assert {"the candidate", "mixed with your own gate"} <= held
    assert not {"the two gates", "everything, odd sizes"} & held
