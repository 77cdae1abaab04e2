"""What the exercises of "memory" promise beyond what every assignment must (`test_checks.py`)."""

from pathlib import Path

import jupytext
import pytest
import torch
from torch.nn import functional as F

from autograder.check import examine
from autograder.question.draw import Draw
from nlmcore.recurrent.matrix_memory import MatrixMemory, chunked
from nlmcore.recurrent.matrix_memory import step_by_step as by_library
from solutions.memory.checks import EXERCISES, text

REFERENCE = {exercise.function: exercise.reference for exercise in EXERCISES.values()}


def one_text(time=7):
    return text(Draw(0, 5), 3, time, 4, 5)


def test_the_loop_and_a_chunk_are_the_librarys():
    q, k, v, a, b, w, S = one_text()
    given = [x[None] for x in (q, k, v, a, b, w, S)]  # one text with three heads
    for wanted, last in (by_library(*given), chunked(*given, chunk=3)):
        y, _, end = REFERENCE["step_by_step"](q, k, v, a, b, w, S)
        _, y_2, end_2 = REFERENCE["one_chunk"](q, k, v, a, b, w, S)
        for mine, right in ((y, wanted), (y_2, wanted), (end, last), (end_2, last)):
            assert torch.allclose(mine, right[0], atol=1e-4)


def test_what_the_loop_writes_solves_the_equations_of_a_chunk():
    q, k, v, a, b, w, S = one_text()
    _, u, _ = REFERENCE["step_by_step"](q, k, v, a, b, w, S)
    lower, right = REFERENCE["system"](k, v, a, b, w, S)
    assert torch.allclose(u + lower @ u, right, atol=1e-4)
    assert torch.equal(lower, lower.tril(-1))


def test_what_is_left_is_the_product_of_the_gates_between():
    (a,) = torch.rand(1, 2, 6)
    a[0, 3] = 0
    within, before = REFERENCE["decays"](a)
    for i in range(6):
        assert torch.allclose(before[:, i], a[:, : i + 1].prod(1))
        for j in range(6):
            wanted = a[:, j + 1 : i + 1].prod(1) if j <= i else torch.zeros(2)
            assert torch.allclose(within[:, i, j], wanted)


@pytest.mark.parametrize("rule", ["retention", "selective", "delta", "gated delta", "gated writes"])
def test_the_gates_are_the_librarys(rule):
    torch.manual_seed(0)
    memory, x = MatrixMemory(6, 3, 4, rule), torch.randn(1, 5, 6)
    wanted = memory.gates(x)
    beta = memory.strength(x).sigmoid().mT[0] if hasattr(memory, "strength") else torch.ones(3, 5)
    step, rate = torch.ones(3, 5), torch.ones(3)
    if hasattr(memory, "step"):
        step, rate = torch.nn.functional.softplus(memory.step(x)).mT[0], memory.log_rate.exp()
    found = REFERENCE["gates"](rule, (-step * rate[:, None]).exp(), beta, step, rate)
    for mine, right, default in zip(found, wanted, (1.0, 0.0, 1.0), strict=True):
        assert torch.allclose(mine, torch.full((3, 5), default) if right is None else right[0])


def test_each_published_update_follows_from_its_gates():
    """The equations of the page, in columns, on one token."""
    (q, k, v, _, _, _, S), model = one_text(1), Draw(1, 5)
    alpha, beta, delta = (torch.sigmoid(model.normal(3, 1)) for _ in "abd")
    rate, M = torch.tensor([0.5, 1.0, 2.0]), S.mT
    vk, kk = v.mT @ k, k.mT @ k
    a, b, d = (x[:, :, None] for x in (alpha, beta, delta))
    eye, head = torch.eye(4), torch.arange(3)[:, None, None]
    pages = {
        "linear": M + vk,
        "retention": (1 - 2.0 ** (-5 - head)) * M + vk,
        "rfa": a * M + (1 - a) * vk,
        "selective": torch.exp(-d * rate[:, None, None]) * M + d * vk,
        "delta": M - b * (M @ k.mT - v.mT) @ k,
        "gated delta": a * M @ (eye - b * kk) + b * vk,
        "gated writes": M + b * vk,
    }
    for name, wanted in pages.items():
        gates = REFERENCE["gates"](name, alpha, beta, delta, rate)
        assert torch.allclose(REFERENCE["step_by_step"](q, k, v, *gates, S)[2].mT, wanted, atol=1e-5), name


def test_the_derived_factors_are_those_of_the_memory():
    a, b, w, s, n = 0.9, 0.7, 0.8, 1.3, 4
    old, new, limit = REFERENCE["rewritten"](a, b, w, s, n)
    k = torch.tensor([[[s**0.5]] * (n + 1)], dtype=torch.float64)
    v = torch.tensor([[[1.0, 0.0]] + [[0.0, 1.0]] * n], dtype=torch.float64)

    def read(b):
        gates = (torch.full((1, n + 1), x, dtype=torch.float64) for x in (a, b, w))
        return REFERENCE["step_by_step"](k, k, v, *gates, torch.zeros(1, 1, 2, dtype=torch.float64))[0][0, -1]

    assert read(b).tolist() == pytest.approx([old, new])
    assert abs(float(read(limit)[0])) == pytest.approx(w * s)  # it neither grows nor shrinks


def test_a_layer_obeys_the_law_once_it_is_mended():
    draw = Draw(0, 5)
    x, W_qk, W_v = draw.normal(6, 5), draw.normal(2, 5, 6), draw.normal(5, 4)

    def both(function):
        whole = function(x, W_qk, W_v, 2)
        pieces = [function(part, W_qk, W_v, 2) for part in (x[:4], x[4:])]
        return all(torch.allclose(w, torch.cat(p, 1)) for w, p in zip(whole, zip(*pieces, strict=True), strict=True))

    assert both(REFERENCE["vectors"])
    assert not both(EXERCISES["memory.vectors"].planted)


def test_with_many_keys_erasing_is_worse_than_fading_and_than_nothing_in_every_seed_of_the_page():
    """As the page, the model answer and the note for instructors say."""
    _, errors, signs = REFERENCE["which_forgets"](16, 0.95, [[4, 1], [4, 2], [32, 1]], [0, 1, 2, 3, 4])
    assert signs == [[1, 1, -1]] * 5
    assert all(row[4] > 1 > row[5] for row in errors)


def test_seeds_disagree_where_the_rules_are_nearly_alike():
    """So signs by heart cannot be right there."""
    _, _, signs = REFERENCE["which_forgets"](16, 0.95, [[16, 1], [17, 1], [18, 1]], list(range(8)))
    assert len({sign for row in signs for sign in row}) == 2


def solved_detached(lower, right):
    return torch.linalg.solve_triangular(lower, right, upper=False, unitriangular=True).detach()


def solved_in_place(lower, right):
    u = right.clone()
    for i in range(1, u.shape[1]):
        u[:, i] -= (lower[:, i, None, :i] @ u[:, :i])[:, 0]
    return u


def solved(lower, right):
    return torch.linalg.solve(lower + torch.eye(lower.shape[1]), right)


@pytest.mark.parametrize(("solve", "trains"), [(solved, True), (solved_detached, False), (solved_in_place, False)])
def test_the_finale_trains_only_if_a_gradient_reaches_every_parameter(solve, trains):
    """A check cannot ask for it, since it also takes arrays and lists."""

    def one_chunk(q, k, v, a, b, w, S):
        within, before = REFERENCE["decays"](a)
        u = solve(*REFERENCE["system"](k, v, a, b, w, S))
        scores = within * (q @ k.mT)
        added = (k * within[:, -1, :, None]).mT @ u
        return scores, before[:, :, None] * (q @ S) + scores @ u, before[:, -1, None, None] * S + added

    assert examine(EXERCISES["memory.one_chunk"], one_chunk, None).passed
    source = Path(__file__).resolve().parents[2] / "solutions" / "memory" / "memory.py"
    (finale,) = (cell.source for cell in jupytext.read(source).cells if "def learn(" in cell.source)
    finale = finale.replace("steps=300", "steps=1")
    names = {"torch": torch, "F": F, "passes": lambda *_: True, "unit": lambda x: F.normalize(x, dim=-1)}
    names |= {"gates": REFERENCE["gates"], "one_chunk": one_chunk}
    exec(finale, names)
    assert bool(names["runs"]) == trains


def test_bytes_by_hand():
    assert REFERENCE["held"](5, 4, 2, 1, 3, 2, 4) == (240, 96, 288, 276, 7)


def test_an_outer_factor_costs_nothing_of_the_fading_from_row_to_row():
    def own_gate_as_well(a):
        within, before = REFERENCE["decays"](a)
        return within * a[:, None], before

    verdict = examine(EXERCISES["memory.decays"], own_gate_as_well, 5)
    held = {finding.about.name for finding in verdict.findings if finding.holds}
    assert held == {"what is left of the matrix", "each row fades from the one above it"}
