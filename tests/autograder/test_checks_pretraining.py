"""What the exercises of "pretraining" promise beyond what every assignment must (`test_checks.py`)."""

import pytest
import torch
from torch.nn import functional as F

from autograder.question.draw import Draw
from autograder.question.outcome import arrays
from nlmcore.objectives import masked
from nlmcore.transfer import LoRA
from solutions.pretraining.checks import EXERCISES, adapter, scored, upstreamed, vectors

REFERENCE = {exercise.function: exercise.reference for exercise in EXERCISES.values()}
N = 200_000


def test_the_shares_are_the_librarys_and_what_is_derived_is_what_is_counted():
    g, m, r, size = 0.3, 0.8, 0.1, 5
    draw = torch.Generator().manual_seed(0)
    tokens, others = (torch.randint(size, (1, N), generator=draw) for _ in range(2))
    chance, fate = (torch.rand(1, N, generator=draw) for _ in range(2))
    read, guess = REFERENCE["hide"](tokens, torch.ones_like(tokens) > 0, chance, fate, others, g, size)
    library = masked(tokens, size, size + 1, share=g, generator=draw)

    def share(of):
        return float(of.float().mean())

    assert share(guess) == pytest.approx(share(library.mask), abs=0.01)
    assert share(read == size) == pytest.approx(share(library.tokens == size), abs=0.01)
    ordinary, wrong = read != size, read != tokens
    counted = (share(guess[ordinary]), share(wrong[ordinary]), share((~wrong)[ordinary & guess]))
    assert REFERENCE["trust"](g, m, r, size) == pytest.approx(counted, abs=0.01)


def test_the_example_of_question_1a():
    rows = [[1, 7, 4, 5, 6, 3], [0, 1, 1, 1, 1, 1], [0.1, 0.2, 0.3, 0.4, 0.9, 0.45]]
    rows += [[0.3, 0.7, 0.85, 0.95, 0.1, 0.2], [8, 8, 2, 3, 5, 7]]
    tokens, real, chance, fate, others = (torch.tensor([row]) for row in rows)
    read, guess = REFERENCE["hide"](tokens, real.bool(), chance, fate, others, 0.5, 9)
    assert read.tolist() == [[1, 9, 2, 5, 6, 9]]
    assert guess.tolist() == [[False, True, True, True, False, True]]


def test_the_loss_and_its_slopes_are_pytorchs():
    logits, tokens, guess = scored(Draw(0, 5), 3, 4, 5)
    loss, slopes = REFERENCE["masked_loss"](logits, tokens, guess)
    given = logits.clone().requires_grad_()
    wanted = F.cross_entropy(given[guess], tokens[guess])
    assert torch.allclose(loss, wanted)
    assert torch.allclose(slopes, torch.autograd.grad(wanted, given)[0], atol=1e-6)


def test_no_other_weights_of_the_probe_cost_less():
    found, labels, _, classes, ridge = vectors(Draw(1, 5), 6, 3, 4)
    found = found.double()
    z = (found - found.mean(0)) / found.std(0, unbiased=False)
    targets = F.one_hot(labels, classes).double()
    axes = found.mean(0) + found.std(0, unbiased=False) * torch.eye(3, dtype=torch.float64)
    best = REFERENCE["probe"](found, labels, axes, classes, ridge)[0] - targets.mean(0)

    def cost(weights):
        fit = (z @ weights + targets.mean(0) - targets).square().sum(1).mean()
        return float(fit + ridge * weights.square().sum())

    moved = [best + 0.01 * torch.randn(best.shape, generator=torch.Generator().manual_seed(n)) for n in range(20)]
    assert cost(best) < min(map(cost, moved))


def test_the_adapter_is_the_librarys_and_its_slopes_are_pytorchs():
    given = [each.double() if torch.is_tensor(each) else each for each in upstreamed(Draw(2, 5), 3, 5, 4, 2)]
    x, weight, a, b, alpha, upstream = given
    layer = torch.nn.Linear(5, 4, bias=False, dtype=torch.float64)
    layer.weight.data = weight.clone()
    library = LoRA(layer, rank=2, alpha=alpha)
    part = library.parts[0]
    part.A.data, part.B.data = a.clone(), b.clone()
    leaf = x.clone().requires_grad_()
    output, merged, trained = REFERENCE["adapted"](x, weight, a, b, alpha)
    assert torch.allclose(output, library(leaf))
    assert torch.allclose(merged, layer.weight)
    assert trained == sum(p.numel() for p in library.parameters())
    wanted = torch.autograd.grad(library(leaf), [part.A, part.B, leaf], upstream)
    for slope, right in zip(REFERENCE["adapter_slopes"](*arrays(given)), wanted, strict=True):
        assert torch.allclose(torch.from_numpy(slope), right)


def test_at_the_start_only_b_has_slopes():
    given = upstreamed(Draw(3, 5), 3, 5, 4, 2, started=False)
    of_a, of_b, of_x = REFERENCE["adapter_slopes"](*arrays(given))
    assert not of_a.any()
    assert of_b.any()
    assert torch.allclose(torch.from_numpy(of_x), given[-1] @ given[1], atol=1e-5)
    x, weight, a, b, alpha = adapter(Draw(3, 5), 3, 5, 4, 2, started=False)
    assert torch.equal(REFERENCE["adapted"](x, weight, a, b, alpha)[1], weight)


def test_on_the_page_one_seed_misleads_and_with_many_labels_the_rival_catches_up():
    *_, signs = REFERENCE["which_vectors"](20, [0, 1, 2, 3, 4])
    assert [row[2] for row in signs] == [-1] * 5
    assert sorted(row[0] for row in signs) == [-1, -1, -1, -1, 1]
    few, many = (REFERENCE["which_vectors"](labelled, list(range(8)))[1] for labelled in (20, 500))
    lead = [sum(row[0] - row[2] for row in rows) / 8 for rows in (few, many)]
    assert lead[1] < 0.02 < 0.05 < lead[0]
    assert sum(row[1] for row in few) / 8 > 0.58
