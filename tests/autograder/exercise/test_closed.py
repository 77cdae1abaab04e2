import functools

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.functional import scaled_dot_product_attention as quick

import nlmcore.attention
from autograder.exercise.closed import closed_names_used
from nlmcore.attention import attend as theirs

CLOSED = (
    "nlmcore.attention",
    "torch.softmax",
    "torch.Tensor.softmax",
    "torch.nn.functional.softmax",
    "torch.nn.functional.scaled_dot_product_attention",
    "torch.nn.MultiheadAttention",
)
SDPA = ["torch.nn.functional.scaled_dot_product_attention"]


def used(function):
    return closed_names_used(function, CLOSED)


def softmax(x):
    """A student's own, of the same name."""
    return torch.exp(x) / torch.exp(x).sum(-1, keepdim=True)


def helper(x):
    return nn.functional.softmax(x, -1)


def imports_inside(x):
    from nlmcore.attention import dot_score

    return dot_score(x, x)


def imports_the_package(x):
    import nlmcore

    return nlmcore.attention.dot_score(x, x)


def closes_over():
    secret = quick
    return lambda q: secret(q, q, q)


class Solution:
    def __call__(self, x):
        return F.scaled_dot_product_attention(x, x, x)


def test_what_is_closed_is_found_however_it_is_reached():
    assert used(lambda x: torch.softmax(x, -1)) == ["torch.softmax"]
    assert used(lambda x: x.softmax(-1)) == ["torch.Tensor.softmax"]
    assert used(lambda x: (x @ x).softmax(-1)) == ["torch.Tensor.softmax"]
    assert used(lambda x: F.softmax(x, -1)) == ["torch.nn.functional.softmax"]
    assert used(lambda q: quick(q, q, q)) == SDPA
    assert used(lambda q: torch.nn.functional.scaled_dot_product_attention(q, q, q)) == SDPA
    assert used(lambda q: nn.MultiheadAttention(4, 2)(q, q, q)) == ["torch.nn.MultiheadAttention"]
    assert used(lambda s, v: theirs(s, v)) == ["nlmcore.attention"]
    assert used(lambda s, v: nlmcore.attention.attend(s, v)) == ["nlmcore.attention"]
    assert used(imports_inside) == ["nlmcore.attention"]
    assert used(imports_the_package) == ["nlmcore.attention"]
    assert used(closes_over()) == SDPA
    assert used(Solution()) == SDPA
    assert used(functools.partial(helper)) == ["torch.nn.functional.softmax"]


def test_it_is_found_in_helpers_and_in_functions_inside():
    def outer(x):
        def inner(y):
            return torch.softmax(y, -1)

        return inner(helper(x))

    assert used(outer) == ["torch.softmax", "torch.nn.functional.softmax"]


def test_what_is_open_is_not_accused():
    assert used(lambda x: softmax(x)) == []
    assert used(lambda x: torch.exp(x).sum(-1).amax(0)) == []
    assert used(torch.exp) == []
    assert used(print) == []

    def scaled_dot_product_attention(q):  # the student's own, named as the question asks
        return softmax(q @ q)

    assert used(lambda q: scaled_dot_product_attention(q)) == []
