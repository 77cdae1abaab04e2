"""What the exercises of "vectors" promise beyond what every assignment must (`test_checks.py`)."""

import numpy as np
import torch

from nlmcore.word2vec.sampling import noise_distribution
from solutions.vectors.checks import EXERCISES


def test_the_references_are_the_librarys_numbers_and_autograds():
    g = torch.Generator().manual_seed(0)
    counts = torch.randint(1, 50, (9,), generator=g)
    assert torch.allclose(EXERCISES["vectors.noise"].reference(counts, 0.75), noise_distribution(counts, 0.75).double())
    vectors = [torch.randn(*s, generator=g, dtype=torch.float64, requires_grad=True) for s in ((4,), (4,), (3, 4))]
    wanted = torch.autograd.grad(EXERCISES["vectors.pair_loss"].reference(*vectors), vectors)
    got = EXERCISES["vectors.pair_gradients"].reference(*(v.detach().numpy() for v in vectors))
    assert all(np.allclose(a, b) for a, b in zip(got, wanted, strict=True))
