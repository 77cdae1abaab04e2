import math

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from nlmcore.decoding.choosing import highest, sample_index


def test_frequencies_are_the_weights_and_zero_is_never_drawn() -> None:
    n = 40_000
    weights = torch.tensor([0.0, 3.0, 0.0, 1.0, 4.0, 0.0])
    drawn = sample_index(weights.expand(n, -1), torch.Generator().manual_seed(0))
    shares = torch.bincount(drawn, minlength=6) / n
    p = weights / 8
    assert not shares[p == 0].any()
    assert ((shares - p).abs() < 4 * (p * (1 - p) / n).sqrt() + 1e-9).all()


def test_it_inverts_the_cumulative_sum() -> None:
    weights = torch.rand(50, 7, generator=torch.Generator().manual_seed(1))
    u = torch.rand(50, 1, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    drawn = sample_index(weights, torch.Generator().manual_seed(2))
    for row in range(50):
        total = math.fsum(weights[row].tolist())
        word, mass = 0, weights[row, 0].item()
        while mass <= u[row].item() * total:
            word += 1
            mass += weights[row, word].item()
        assert int(drawn[row]) == word


@settings(deadline=None, max_examples=60)
@given(st.lists(st.integers(0, 3), min_size=1, max_size=12), st.integers(1, 14))
def test_the_k_highest_with_ties_to_the_lower_index(values: list[int], k: int) -> None:
    expected = sorted(range(len(values)), key=lambda i: (-values[i], i))[:k]
    assert highest(torch.tensor([values, values]).float(), k).tolist() == [expected, expected]
