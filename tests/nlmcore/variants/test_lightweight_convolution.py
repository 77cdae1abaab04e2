"""Lightweight and dynamic convolutions: kernels by loops, what they see, what they keep."""

import math
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor

from nlmcore.transformer import TransformerEncoder, TransformerLM
from nlmcore.variants import CATALOGUE
from nlmcore.variants.lightweight_convolution import DynamicConvolution, build_dynamic, build_lightweight
from tests.laws import assert_close, assert_language_model
from tests.nlmcore.variants.test_catalogue import SIZES, SOURCE, TOKENS, VOCAB, awake, build, stirred

NAMES = ["Lightweight convolution (Wu et al.)", "Dynamic convolution (Wu et al.)"]
KINDS = [build_lightweight, build_dynamic]
CONFIG = CATALOGUE[NAMES[1]].config(VOCAB, **SIZES)  # 6 heads of 4, d_model 20
each_kind = pytest.mark.parametrize("kind", KINDS)


def normal(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def made(kind: Any, size: int, causal: bool = True) -> Any:
    torch.manual_seed(0)
    return stirred(kind(CONFIG, causal, size))


def by_hand(layer: Any, x: Tensor, ahead: int) -> Tensor:
    """One text x (time, d_model), one number at a time; the kernel ends `ahead` places after its own."""
    size, both = layer.size, x @ layer.inner.weight.T
    v = both[:, :24] / (1 + torch.exp(-both[:, 24:]))
    u = torch.zeros(len(x), 24)
    for t in range(len(x)):
        for channel in range(24):
            head = channel // 4
            if isinstance(layer, DynamicConvolution):
                raw = [(layer.kernel.weight[head * size + j] @ v[t]).item() for j in range(size)]
            else:
                raw = layer.kernel[head].tolist()
            total = sum(math.exp(number) for number in raw)
            for j in range(1, size + 1):
                place = t - size + j + ahead
                if 0 <= place < len(x):
                    u[t, channel] += math.exp(raw[j - 1]) / total * v[place, channel]
    return u @ layer.output.weight.T


@torch.no_grad()
@each_kind
def test_per_channel_every_channel_has_its_own_kernel_and_a_second_matrix_follows(kind: Any) -> None:
    """The rows of Narang et al.; one kernel per head by another road: as many heads as channels."""
    torch.manual_seed(0)
    part, x = stirred(kind(CONFIG, True, 3, per_channel=True)), normal(2, 5, 20)
    alone = kind(replace(CONFIG, n_heads=24, d_head=1), True, 3)
    alone.load_state_dict({n: w for n, w in part.state_dict().items() if not n.startswith("pointwise")})
    alone.output.weight.copy_(part.output.weight @ part.pointwise.weight)
    assert_close(part(x)[0], alone.eval()(x)[0], "W^O W^P u")
    assert part.weights(normal(2, 5, 24)).shape[-2:] == (24, 3)


@each_kind
@pytest.mark.parametrize("size", [1, 2, 3])
def test_a_convolution_is_its_equation(kind: Any, size: int) -> None:
    (layer, centred), x = (made(kind, size, causal) for causal in (True, False)), normal(5, 20)
    with torch.no_grad():
        assert_close(layer(x[None])[0][0], by_hand(layer, x, 0), "to the left")
        ahead = size - math.ceil((size + 1) / 2)  # the last of the places i + j − ⌈(k + 1) / 2⌉
        assert_close(centred(x[None])[0], by_hand(centred, x, ahead), "centred")


@pytest.mark.parametrize("name", NAMES)
def test_a_reader_keeps_what_its_kernel_reaches_and_no_more(name: str) -> None:
    model = awake(CATALOGUE[name])
    _, state = model(TOKENS)
    assert [layer.shape for layer in state.layers] == [(3, 8, 24)] * 2
    _, state = model(TOKENS.repeat(1, 4), state)  # no text is too long
    assert [layer.shape for layer in state.layers] == [(3, 8, 24)] * 2


@each_kind
@pytest.mark.parametrize("size", [1, 4])
def test_kernels_of_every_width_keep_the_laws(kind: Any, size: int) -> None:
    model = stirred(TransformerLM(replace(CONFIG, attention=partial(kind, size=size))))
    assert_language_model(model, TOKENS, tolerance=1e-4)


@each_kind
def test_dropout_falls_on_the_weights_in_training_alone(kind: Any) -> None:
    torch.manual_seed(0)
    layer, x = kind(replace(CONFIG, dropout=0.5), True), normal(2, 5, 20)
    assert not torch.equal(layer(x)[0], layer(x)[0])
    assert torch.equal(layer.eval()(x)[0], layer(x)[0])


def test_first_kernels_differ_between_heads() -> None:
    torch.manual_seed(0)
    model = CATALOGUE[NAMES[0]].build(VOCAB, d_model=64, n_heads=64, n_layers=1)
    assert model.layers[0].attention.kernel.std().item() == pytest.approx(1, rel=0.1)


@each_kind
def test_what_does_not_fit_is_named(kind: Any, plain_errors: None) -> None:
    row = CATALOGUE[NAMES[1]]
    for name, value in (("n_kv_heads", 2), ("window", 3)):
        with pytest.raises(ValueError, match=f"{name} must be None where a convolution"):
            build(row, **{name: value})
    with pytest.raises(ValueError, match="attention_positions must be None where a convolution"):
        build(replace(row, changes={"attention": kind}))
    layer, x = made(kind, 3), normal(2, 5, 20)
    with pytest.raises(ValueError, match=r"state must have shape \(2, 2, 24\), \(batch, size - 1, width\), got \(1, 2"):
        layer(x, layer(x[:1])[1])
    with pytest.raises(TypeError, match="what an earlier call gave back, got list"):
        layer(x, [1])
    with pytest.raises(ValueError, match=r"mask must say which tokens are real, .*1, 1, 5\) here, got \(5, 5\)"):
        made(kind, 3, causal=False)(x, torch.ones(5, 5, dtype=torch.bool))


@pytest.mark.parametrize("name", NAMES)
def test_padding_between_two_texts_is_zeros(name: str) -> None:
    """A masked token in the middle is as if there were nothing: what it says is not heard."""
    model = stirred(TransformerEncoder(CATALOGUE[name].config(VOCAB, **SIZES)))
    mask = torch.tensor([[True, True, False, True]]).expand(3, -1)
    other = SOURCE.clone()
    other[:, 2] = (other[:, 2] + 1) % VOCAB
    with torch.no_grad():
        ours, theirs = model(SOURCE, mask), model(other, mask)
        assert_close(ours[:, [0, 1, 3]], theirs[:, [0, 1, 3]], "real tokens")
        assert (model(SOURCE) - model(other))[:, [0, 1, 3]].abs().max() > 1e-3
