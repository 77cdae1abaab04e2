"""Where PyTorch computes what a question is about, the question asks for something that PyTorch does not return.

Each answer calls PyTorch's own function, or the one beneath it that returns more, and fills in the rest.
"""

import pytest
import torch
from torch.nn import functional as F

from autograder.check import examine
from autograder.question.find import exercises_of, find


def last_tokens(q, k, v):
    hidden = torch.full((q.shape[2], k.shape[2]), -torch.inf).triu(k.shape[2] - q.shape[2] + 1)
    output, weights = torch._scaled_dot_product_attention_math(q, k, v, hidden, enable_gqa=True)
    return output, weights, torch.zeros_like(weights)


def between_texts(x, memory, weights, n_heads, mask):
    mask = mask.expand(len(x), n_heads, x.shape[1], memory.shape[1])
    query, key = x.transpose(0, 1), memory.transpose(0, 1)
    given = {f"{name[0]}_proj_weight": weights[name].T for name in ("query", "key", "value")}
    given |= dict.fromkeys(("in_proj_weight", "in_proj_bias", "bias_k", "bias_v", "out_proj_bias"))
    given |= {"embed_dim_to_check": x.shape[-1], "num_heads": n_heads, "out_proj_weight": weights["output"].T}
    given |= {"add_zero_attn": False, "use_separate_proj_weight": True, "average_attn_weights": False, "dropout_p": 0.0}
    output, shares = F.multi_head_attention_forward(query, key, key, attn_mask=~mask.flatten(0, 1), **given)
    return output.transpose(0, 1), shares, torch.zeros_like(shares)


def norm(x, gain, eps, k=None):
    return F.rms_norm(x, x.shape[-1:], gain.to(x.dtype), eps)


ANSWERS = {"transformer.attend": last_tokens, "transformer.rms_norm": norm, "translation.attention": between_texts}


@pytest.mark.parametrize("name", ANSWERS)
def test_one_call_of_pytorchs_earns_a_third_at_most(name: str) -> None:
    exercise = find(name)
    verdict = examine(exercise, ANSWERS[name], None)
    assert verdict.points <= exercise.points / 3
    assert all(f.complaint is None or "Error" not in f.complaint for f in verdict.findings), "it does run"


@pytest.mark.parametrize("assignment", ["gates", "recurrence", "training"])
def test_where_derivatives_are_the_question_nothing_is_asked_where_pytorch_is(assignment: str) -> None:
    assert all(exercise.numpy for exercise in exercises_of(assignment).values())
