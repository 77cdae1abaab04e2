"""Muon: PyTorch's own as the oracle for matrices, its AdamW for the rest; singular values, symmetries, a resume."""

import copy
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from nlmcore.training import Muon, fit, orthogonalised


def draw(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def stretched(rows: int, columns: int, low: float) -> Tensor:
    """A matrix whose singular values lie evenly between `low` and 1."""
    U, _, Vh = torch.linalg.svd(draw(rows, columns).double(), full_matrices=False)
    return (U * torch.linspace(low, 1, min(rows, columns)).double()) @ Vh


@pytest.mark.parametrize(("rows", "columns"), [(6, 11), (11, 6), (8, 8)])
def test_directions_stay_and_singular_values_come_near_one(rows: int, columns: int) -> None:
    G = stretched(rows, columns, low=0.05)
    U, S, Vh = torch.linalg.svd(G, full_matrices=False)
    found = U.mT @ orthogonalised(G) @ Vh.mT  # diagonal if the singular vectors are those of G
    assert (found - torch.diag(found.diagonal())).abs().max() < 1e-9
    assert found.diagonal().min() > 0.65
    assert found.diagonal().max() < 1.25
    assert S.max() / S.min() > 10 > 1.9 > found.diagonal().max() / found.diagonal().min()


def model() -> nn.Sequential:
    torch.manual_seed(3)
    return nn.Sequential(nn.Embedding(7, 6), nn.Linear(6, 10), nn.Tanh(), nn.Linear(10, 4), nn.Linear(4, 7))


def parts(network: nn.Sequential) -> tuple[list[nn.Parameter], list[nn.Parameter]]:
    hidden: Any = [network[1].weight, network[3].weight]
    return hidden, [p for p in network.parameters() if all(p is not h for h in hidden)]


def trained(network: nn.Sequential, optimisers: list[torch.optim.Optimizer]) -> None:
    for step in range(12):
        tokens = torch.randint(7, (20,), generator=torch.Generator().manual_seed(step))
        loss = nn.functional.cross_entropy(network(tokens), (3 * tokens + 1) % 7)
        network.zero_grad()
        loss.backward()
        for optimiser in optimisers:
            optimiser.step()


def test_both_kinds_take_the_steps_of_pytorchs_optimisers() -> None:
    ours, theirs = model(), model()
    trained(ours, [Muon(*parts(ours), lr=0.01, rest_lr=0.02, weight_decay=0.1)])
    hidden, rest = parts(theirs)
    muon = torch.optim.Muon(hidden, lr=0.01, weight_decay=0.1)
    trained(theirs, [muon, torch.optim.AdamW(rest, lr=0.02, weight_decay=0.1)])
    start = dict(model().named_parameters())
    for (name, mine), other in zip(ours.named_parameters(), theirs.parameters(), strict=True):
        moved = (other - start[name]).norm()
        assert moved > 0.05
        # PyTorch rounds the iteration to bfloat16, with 8 bits of precision
        assert (mine - other).norm() < 0.03 * moved, name


def test_both_rates_follow_a_schedule_and_a_resumed_run_is_the_same(tmp_path: Any) -> None:
    def tokens(epoch: int) -> Any:
        return [torch.randint(7, (8,), generator=torch.Generator().manual_seed(i)) for i in range(6)]

    def run(network: nn.Sequential, steps: int, **more: Any) -> list[float]:
        return fit(
            network, tokens, steps=steps, optimizer=Muon(*parts(network), lr=0.05), schedule=lambda step: 1 / step,
            loss=lambda m, t: nn.functional.cross_entropy(m(t), (3 * t + 1) % 7), progress=False, **more,
        ).losses  # fmt: skip

    once = run(model(), 6)
    kept = {"checkpoint": tmp_path / "muon.pt", "checkpoint_every": 1, "resume": True}
    run(model(), 3, **kept)
    assert run(copy.deepcopy(model()), 6, **kept) == once


def test_a_vector_is_no_matrix() -> None:
    with pytest.raises(ValueError, match=r"\(4,\).*rest"):
        Muon([nn.Parameter(torch.zeros(4))], [])
