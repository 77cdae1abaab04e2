"""Gehring's model: the laws given a source, its equations in loops, its attention, and padding that does not show."""

import math

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from nlmcore.convolutional import ConvEncoder, ConvSeq2Seq, ConvSeq2SeqState, MultiStepAttention
from nlmcore.inspect import capture
from nlmcore.language_model import select
from tests.laws import assert_close, assert_every_parameter_gets_a_gradient, assert_language_model
from tests.nlmcore.convolutional.test_conv_lm import kernel

GENERATOR = torch.Generator().manual_seed(5)
SOURCE = torch.randint(0, 13, (3, 6), generator=GENERATOR)
TARGET = torch.randint(0, 11, (3, 8), generator=GENERATOR)
LENGTHS = (6, 1, 4)
MASK = torch.arange(6) < torch.tensor(LENGTHS)[:, None]
HALF = math.sqrt(0.5)


def conv_seq2seq(**options: object) -> ConvSeq2Seq:
    torch.manual_seed(0)
    sizes = {"d_model": 10, "n_encoder_layers": 2, "n_decoder_layers": 3, "max_length": 12, **options}
    return ConvSeq2Seq(13, 11, **sizes).eval()  # type: ignore[arg-type]


@pytest.mark.parametrize("kernel_size", [1, 3, 5])
@pytest.mark.parametrize("mask", [None, MASK], ids=["all real", "masked"])
def test_the_laws_given_a_source(kernel_size: int, mask: Tensor | None) -> None:
    model = conv_seq2seq(kernel_size=kernel_size)
    with torch.no_grad():
        state = model.encode(SOURCE, mask)
    assert_language_model(model, TARGET, state)


def test_every_parameter_gets_a_gradient() -> None:
    model = conv_seq2seq()
    assert_every_parameter_gets_a_gradient(model, model(TARGET, model.encode(SOURCE, MASK))[0])


def gated(W: Tensor, b: Tensor, window: list[Tensor | None]) -> Tensor:
    both = b.clone()
    for j, x in enumerate(window):
        if x is not None:
            both += W[:, :, j] @ x
    half = len(both) // 2
    return both[:half] / (1 + torch.exp(-both[half:]))


def test_a_kernel_of_the_encoder_has_a_middle() -> None:
    with pytest.raises(ValueError, match="odd"):
        ConvEncoder(5, 4, n_layers=1, kernel_size=2, max_length=8, dropout=0.0)


@torch.no_grad()
def test_the_equations_word_by_word() -> None:
    model = conv_seq2seq()
    logits, _ = model(TARGET, model.encode(SOURCE, MASK))
    for row, m in enumerate(LENGTHS):
        encoder = model.encoder
        e = [encoder.embedding.weight[SOURCE[row, j]] + encoder.positions.weight[j] for j in range(m)]
        z = list(e)
        for layer in encoder.layers:
            W, b = kernel(layer), layer.linear.bias
            around = [[z[i] if 0 <= i < m else None for i in (j - 1, j, j + 1)] for j in range(m)]
            z = [HALF * (z[j] + gated(W, b, around[j])) for j in range(m)]
        g = [model.embedding.weight[w] + model.positions.weight[i] for i, w in enumerate(TARGET[row])]
        h = list(g)
        for layer in model.layers:
            W, b = kernel(layer.convolution), layer.convolution.linear.bias
            new = []
            for i in range(8):
                u = gated(W, b, [h[s] if s >= 0 else None for s in (i - 2, i - 1, i)])
                d = HALF * (layer.attention.query.weight @ u + layer.attention.query.bias + g[i])
                scores = [torch.exp(d @ z[j]) for j in range(m)]
                c = sum(scores[j] / sum(scores) * HALF * (z[j] + e[j]) for j in range(m)) * m * math.sqrt(1 / m)
                new.append(HALF * (h[i] + HALF * (u + c)))
            h = new
        for i in range(8):
            assert_close(logits[row, i], model.output.weight @ h[i] + model.output.bias, f"row {row}, time {i}")


@torch.no_grad()
def test_padding_of_the_source_does_not_show() -> None:
    model = conv_seq2seq()
    alone = torch.cat([model(TARGET[i : i + 1], model.encode(SOURCE[i : i + 1, :n]))[0] for i, n in enumerate(LENGTHS)])
    for what, source, mask in (
        ("padded to the longest", SOURCE, MASK),
        ("other ids in the padding", SOURCE.where(MASK, 7), MASK),
        ("more padding behind", F.pad(SOURCE, (0, 5)), F.pad(MASK, (0, 5))),
        ("padding in front", F.pad(SOURCE, (4, 2)), F.pad(MASK, (4, 2))),
        ("more padding than max_length", F.pad(SOURCE, (0, 20)), F.pad(MASK, (0, 20))),
    ):
        assert_close(model(TARGET, model.encode(source, mask))[0], alone, what)
    assert (model(TARGET, model.encode(SOURCE))[0] - alone)[1:].abs().max() > 1e-3  # without the mask it would show


@torch.no_grad()
def test_attention_of_every_layer_can_be_captured() -> None:
    model = conv_seq2seq()
    state = model.encode(SOURCE, MASK)
    plain, _ = model(TARGET, state)
    with capture(model) as tape:
        watched, _ = model(TARGET, state)
    assert torch.equal(plain, watched)
    assert list(tape) == ["layers.0.attention", "layers.1.attention", "layers.2.attention"]
    for weights in tape.values():
        assert weights.shape == (3, 1, 8, 6)
        assert_close(weights.sum(dim=-1), torch.ones(3, 1, 8), "rows sum to 1")
        assert not weights.masked_select(~MASK[:, None, None]).any()
    assert (tape["layers.0.attention"] - tape["layers.2.attention"]).abs().max() > 1e-4
    assert all(layer.attention.recorder is None for layer in model.layers)


def test_the_whole_source_is_seen_by_every_prediction_and_a_window_of_the_target() -> None:
    model = conv_seq2seq().double()
    seen: list[Tensor] = []
    for table in (model.encoder.embedding, model.embedding):
        table.register_forward_hook(lambda *args: seen.append(args[2]) or args[2].retain_grad())
    logits, _ = model(TARGET[:1], model.encode(SOURCE[:1]))
    logits[0, -1].sum().backward()
    source, target = (x.grad.abs().sum(dim=-1)[0] > 0 for x in seen)
    assert source.all()
    assert model.receptive_field() == 7
    assert target.tolist() == [False] + [True] * 7


@torch.no_grad()
def test_rows_at_different_lengths_go_on_together() -> None:
    """A beam may hold texts of different lengths: the positions are each row's own."""
    model = conv_seq2seq()
    start = model.encode(SOURCE, MASK)
    _, after_2 = model(TARGET[:, :2], start)
    _, after_5 = model(TARGET[:, :5], start)
    parts = [select(after_2, torch.tensor([0])), select(after_5, torch.tensor([1]))]
    mixed = ConvSeq2SeqState(
        *(torch.cat([getattr(p, name) for p in parts]) for name in ("keys", "values", "mask", "length")),
        past=tuple(torch.cat(both) for both in zip(*(p.past for p in parts), strict=True)),
    )
    assert mixed.length.tolist() == [2, 5]
    logits, _ = model(TARGET[:2, 5:6], mixed)
    for i, part in enumerate(parts):
        assert_close(logits[i : i + 1], model(TARGET[i : i + 1, 5:6], part)[0], f"row {i}")


def test_dropout_acts_in_training_alone() -> None:
    model = conv_seq2seq(dropout=0.5)
    once, again = (model(TARGET, model.encode(SOURCE))[0] for _ in range(2))
    assert torch.equal(once, again)
    model.train()
    once, again = (model(TARGET, model.encode(SOURCE))[0] for _ in range(2))
    assert not torch.equal(once, again)


def test_bad_input() -> None:
    model = conv_seq2seq()
    state = model.encode(SOURCE, MASK)
    for source in (SOURCE[:, :0], SOURCE + 13):
        with pytest.raises((ValueError, TypeError), match="source"):
            model.encode(source)
    for mask in (MASK[:, :5], MASK[:2], MASK.long()):
        with pytest.raises((ValueError, TypeError), match="source_mask"):
            model.encode(SOURCE, mask)
    for tokens in (TARGET[:, :0], TARGET + 11):
        with pytest.raises((ValueError, TypeError), match="tokens"):
            model(tokens, state)
    for bad in (None, SOURCE, model.encode(SOURCE[:2])):
        with pytest.raises((ValueError, TypeError), match="state"):
            model(TARGET, bad)


def test_attention_refuses_another_batch() -> None:
    query, key, mask = torch.zeros(1, 3, 4), torch.zeros(2, 5, 4), torch.ones(2, 5, dtype=torch.bool)
    with pytest.raises(ValueError, match=r"keys, values and mask must have one row per text, got \[1, 1, 2, 2, 2\]"):
        MultiStepAttention(4)(query, query, key, key, mask)


def test_states_of_another_model_are_refused() -> None:
    model, state = conv_seq2seq(), conv_seq2seq(d_model=6).encode(SOURCE)
    with pytest.raises(ValueError, match=r"state must have shape \(\d, 2, 10\), got \(\d, 2, 6\)"):
        model(TARGET, state)
    with pytest.raises(TypeError, match="state must hold 3 tensors as this model's do, got 2"):
        model(TARGET, conv_seq2seq(n_decoder_layers=2).encode(SOURCE))
    with pytest.raises(TypeError, match=r"state must be torch\.float32"):
        model(TARGET, conv_seq2seq().double().encode(SOURCE))


def test_texts_beyond_max_length_are_refused() -> None:
    model = conv_seq2seq()
    with pytest.raises(ValueError, match=r"source .*max_length = 12.* got 13"):
        model.encode(torch.zeros(1, 13, dtype=torch.int64))
    _, state = model(TARGET, model.encode(SOURCE))
    with pytest.raises(ValueError, match=r"tokens .*max_length = 12.* got 13"):
        model(TARGET[:, :5], state)
