"""What the exercises of "vectors" promise beyond what every assignment must (`test_checks.py`)."""

import numpy as np
import pytest
import torch

from autograder.check import examine
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


@pytest.mark.parametrize(
    ("name", "constant"),
    [
        ("window_pairs", lambda words, m: [[0, 0]]),
        ("noise", lambda counts, power: torch.full(counts.shape, 1 / len(counts))),
        ("keep_probability", lambda counts, t: torch.ones(len(counts))),
        ("pair_loss", lambda c, o, n: 0.0),
        ("pair_gradients", lambda c, o, n: (np.zeros_like(c), np.zeros_like(c), np.zeros_like(n))),
        ("nearest", lambda vectors, word, k: torch.arange(k)),
        ("analogy", lambda vectors, a, s, b: 0),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_an_answer_that_does_not_look_at_its_input_earns_next_to_nothing(name, constant):
    exercise = EXERCISES[f"vectors.{name}"]
    assert examine(exercise, constant, 5).points <= 0.1 * exercise.points
