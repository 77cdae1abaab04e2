"""Sandwich order: which layers there are, in which order, and their first weights."""

import math
from dataclasses import replace
from functools import partial

import pytest
import torch

from nlmcore.transformer import EncoderDecoder, TransformerLM
from nlmcore.variants import CATALOGUE
from nlmcore.variants.sandwich import build_order, build_sandwich, order
from tests.laws import assert_language_model
from tests.nlmcore.variants.test_catalogue import SIZES, TOKENS, VOCAB, awake, build


@pytest.mark.parametrize(
    ("n", "k", "letters"),
    [(3, 0, "sfsfsf"), (3, 1, "ssfsff"), (3, 3, "sssfff"), (16, 6, "s" * 6 + "sf" * 10 + "f" * 6)],
)
def test_the_order_of_a_sandwich(n: int, k: int, letters: str) -> None:
    assert order(n, k) == letters
    assert sorted(letters) == sorted("sf" * n)


def test_a_sandwich_has_the_layers_of_its_order() -> None:
    model = CATALOGUE["Sandwich"].build(VOCAB)
    assert "".join("s" if hasattr(layer, "attention") else "f" for layer in model.layers) == order(6, 2)
    for n, k in ((16, 6), (12, 5), (4, 2), (1, 0)):  # 6 of 16 in the paper
        layers = CATALOGUE["Sandwich"].build(VOCAB, n_layers=n, d_model=12).layers
        assert "".join("s" if hasattr(layer, "attention") else "f" for layer in layers) == order(n, k)


def test_sandwiches_begin_with_the_weights_of_the_usual_stack() -> None:
    torch.manual_seed(0)
    model = replace(CATALOGUE["Sandwich"], family=EncoderDecoder).build(VOCAB, d_model=60, n_layers=8)
    for stack, branches in ((model.encoder.layers, 16), (model.decoder.layers, 24)):
        for matrix in (m for layer in stack for m in layer.last_matrices()):
            assert matrix.weight.std().item() == pytest.approx(0.02 / math.sqrt(branches), rel=0.08)


@pytest.mark.parametrize("letters", ["fssfffs", "s", "ff"])
def test_any_order_of_s_and_f_is_a_language_model(letters: str) -> None:
    model = awake(replace(CATALOGUE["Vanilla Transformer"], changes={"stack": partial(build_order, letters=letters)}))
    assert "".join("s" if hasattr(layer, "attention") else "f" for layer in model.layers) == letters
    assert_language_model(model, TOKENS, tolerance=1e-4)
    plain = TransformerLM(replace(model.config, stack=partial(build_order, letters="sf" * 3), n_layers=3))
    unmixed = replace(CATALOGUE["Sandwich"], changes={"stack": partial(build_sandwich, k=0)})
    again = unmixed.build(VOCAB, **{**SIZES, "n_layers": 3})
    assert [p.shape for p in plain.parameters()] == [p.shape for p in again.parameters()]


@pytest.mark.parametrize("letters", ["", "sfx", "S"])
def test_other_letters_are_named(plain_errors: None, letters: str) -> None:
    with pytest.raises(ValueError, match=r"letters must be s \(self-attention\) and f"):
        build(replace(CATALOGUE["Sandwich"], changes={"stack": partial(build_order, letters=letters)}))


def test_a_sandwich_with_too_much_bread_is_named(plain_errors: None) -> None:
    with pytest.raises(ValueError, match=r"k must lie in \[0, 2\], the number of layers, got 3"):
        build(replace(CATALOGUE["Sandwich"], changes={"stack": partial(build_sandwich, k=3)}))
