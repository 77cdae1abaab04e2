"""What the exercises of "self_attention" promise beyond what every assignment must (`test_checks.py`)."""

import numpy as np
import torch
from torch.nn import functional as F

from autograder.check import examine
from solutions.self_attention.checks import EXERCISES


def test_the_references_are_pytorchs_numbers():
    g = torch.Generator().manual_seed(0)
    q, k, v = (torch.randn(heads, 5, 4, generator=g) for heads in (6, 2, 2))
    wanted = F.scaled_dot_product_attention(q[None], k[None], v[None], is_causal=True, enable_gqa=True)[0]
    got, _ = EXERCISES["self_attention.grouped_attention"].reference(q.numpy(), k.numpy(), v.numpy())
    assert np.allclose(got, wanted, atol=1e-5)
    logits, tokens = torch.randn(2, 6, 7, generator=g), torch.tensor([[1, 2, 3, 4, 5, 6], [3, 1, 2, 0, 0, 0]])
    wanted = F.cross_entropy(logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten(), ignore_index=0)
    assert torch.allclose(EXERCISES["self_attention.next_token_loss"].reference(logits, tokens)[0].float(), wanted)


def the_mean_of_the_past(q, k, v):
    weights = np.tril(np.ones((len(q), q.shape[1], q.shape[1])))
    weights = weights / weights.sum(-1, keepdims=True)
    return weights @ v.repeat(len(q) // len(v), 0), weights


def test_the_mean_of_the_past_earns_next_to_nothing():
    exercise = EXERCISES["self_attention.grouped_attention"]
    assert examine(exercise, the_mean_of_the_past, 5).points <= exercise.points / 10
