"""A text without a real token reads as nothing, alike in every model: no NaN, no refusal, no change to other texts."""

import pytest
import torch

from tests.laws import assert_close
from tests.nlmcore.test_precision import OTHERS, SMALL, SOURCE, TOKENS, WITH_A_SOURCE, reads_images

SOME = torch.tensor([[True] * 5, [False] * 5, [True, True, False, False, False]])


@pytest.mark.parametrize("name", [name for name in WITH_A_SOURCE | OTHERS if not reads_images(name)])
def test_it_reads_as_nothing(name: str) -> None:
    torch.manual_seed(0)
    model = (WITH_A_SOURCE | OTHERS)[name](SMALL).eval()

    def output(rows: list[int]) -> torch.Tensor:
        source, mask = SOURCE[rows], SOME[rows]
        return model(source, mask) if name in OTHERS else model(TOKENS[rows], model.encode(source, mask))[0]

    together = output([0, 1, 2])
    assert together.isfinite().all()
    assert_close(together[[0, 2]], output([0, 2]), "the other texts", 1e-4)
    model.train()
    output([0, 1, 2]).square().mean().backward()
    assert all(p.grad is None or p.grad.isfinite().all() for p in model.parameters()), "a gradient is not finite"
