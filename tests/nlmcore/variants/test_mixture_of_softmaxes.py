"""Mixtures of softmaxes: their equation by loops, and the bottleneck that they leave."""

import math
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
import torch
from torch import nn

from nlmcore.transformer import TransformerLM
from nlmcore.variants import CATALOGUE
from nlmcore.variants.mixture_of_softmaxes import MixtureOfSoftmaxes
from nlmcore.variants.variant import vanilla
from tests.laws import assert_close, assert_every_parameter_gets_a_gradient
from tests.nlmcore.variants.test_catalogue import SIZES, VOCAB, build, logits, stirred

ROW = CATALOGUE["Mixture of softmaxes"]
CONTEXTS = torch.randn(2, 3, 6, generator=torch.Generator().manual_seed(1))


def mixture(n_softmaxes: int = 4, d: int = 6, vocab: int = VOCAB) -> Any:
    return stirred(MixtureOfSoftmaxes(vanilla(vocab, d_model=d, n_heads=1), nn.Embedding(vocab, d), n_softmaxes))


@torch.no_grad()
def test_a_mixture_is_its_equation_by_loops() -> None:
    part = mixture()
    log_p, E = part(CONTEXTS), part.softmax.weight
    for b in range(2):
        for t in range(3):
            h = CONTEXTS[b, t]
            weights = [math.exp(part.prior.weight[k] @ h) for k in range(4)]
            p = [0.0] * VOCAB
            for k in range(4):
                view = [math.tanh(part.views.weight[6 * k + i] @ h) for i in range(6)]
                e = [math.exp(sum(E[w, i] * view[i] for i in range(6))) for w in range(VOCAB)]
                p = [p[w] + weights[k] / sum(weights) * e[w] / sum(e) for w in range(VOCAB)]
            assert_close(log_p[b, t].exp(), torch.tensor(p), f"P at {b}, {t}")
    assert_close(log_p.log_softmax(-1), log_p, "its own log-softmax")


def test_scores_of_any_size_give_no_infinity() -> None:
    part = mixture()
    with torch.no_grad():
        part.softmax.weight.mul_(1e4)
    log_p = part(CONTEXTS)
    assert log_p.isfinite().all()
    log_p.sum().backward()
    assert all(p.grad.isfinite().all() for p in part.parameters())


def test_the_row_adds_fifteen_matrices_and_as_many_vectors() -> None:
    model, plain = build(ROW), build(CATALOGUE["Vanilla Transformer"])
    counts = [sum(p.numel() for p in m.parameters()) for m in (model, plain)]
    assert counts[0] - counts[1] == 15 * (20 * 20 + 20)
    assert model.output.softmax.weight is model.embedding.weight


def test_an_untied_mixture_has_a_matrix_of_its_own() -> None:
    few = partial(MixtureOfSoftmaxes, n_softmaxes=2)
    model = build(replace(ROW, changes={"output": few, "tie_embeddings": False}))
    assert model.output.softmax.weight is not model.embedding.weight
    assert model.output.prior.out_features == 2
    assert_every_parameter_gets_a_gradient(model, logits(model))


def test_bad_numbers_are_named(plain_errors: None) -> None:
    nothing_to_tie = replace(vanilla(VOCAB, **SIZES), output=MixtureOfSoftmaxes, embedding=lambda v, d: nn.ReLU())
    with pytest.raises(ValueError, match=r"tie_embeddings needs an embedding with a matrix `weight`.*got ReLU"):
        TransformerLM(nothing_to_tie)
