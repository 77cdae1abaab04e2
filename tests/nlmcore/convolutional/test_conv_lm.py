"""The causal language model of gated convolutions: laws, loops over words, the tokens that it can see; its layer
against PyTorch's convolution and GLU.
"""

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from nlmcore.convolutional import ConvLM, GatedConvolution, causal_inputs, gated_linear_unit
from tests.laws import assert_close, assert_every_parameter_gets_a_gradient, assert_language_model

TOKENS = torch.randint(0, 11, (3, 9), generator=torch.Generator().manual_seed(3))


def kernel(layer: GatedConvolution) -> Tensor:
    """The weights as nn.Conv1d keeps them: (2 · d_model, d_model, kernel_size)."""
    return layer.linear.weight.unflatten(1, (layer.kernel_size, -1)).mT


@torch.no_grad()
def test_a_layer_is_conv1d_with_zeros_on_the_left_and_glu() -> None:
    torch.manual_seed(0)
    layer, x = GatedConvolution(6, 3, dilation=2), torch.randn(2, 7, 6)
    inputs, kept = causal_inputs(x, torch.zeros(2, 4, 6))
    expected = F.glu(F.conv1d(F.pad(x.mT, (4, 0)), kernel(layer), layer.linear.bias, dilation=2), dim=1)
    assert_close(layer(inputs), expected.mT, "gated convolution")
    assert torch.equal(kept, x[:, -4:])
    assert torch.equal(causal_inputs(x[:, :1], kept)[1], torch.cat([kept[:, 1:], x[:, :1]], dim=1))


def test_the_initial_variance_is_about_kept_by_a_layer() -> None:
    """4 · E[σ²] is 1 for gates near a half, and 1.4 for the gates that this initialisation gives."""
    torch.manual_seed(0)
    x = torch.randn(8, 102, 64)
    for kernel_size in (1, 3, 5):
        assert 0.7 < GatedConvolution(64, kernel_size)(x).var().item() < 1.6
    assert GatedConvolution(64, 3, dropout=0.5).train()(x).var().item() == pytest.approx(1.4, abs=0.3)


def test_gated_linear_unit_is_pytorchs() -> None:
    x = torch.randn(2, 3, 8, generator=torch.Generator().manual_seed(0))
    assert_close(gated_linear_unit(x), F.glu(x, dim=-1), "GLU")
    with pytest.raises(ValueError, match="even last dimension"):
        gated_linear_unit(x[..., :7])


@pytest.mark.parametrize("shape", [(1, 2, 4), (1, 5, 3), (5, 4), (1, 4, 4)])
def test_gated_convolutions_refuse_less_than_a_window(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"x must be \(batch, more than .* = 4, d_model = 4\)"):
        GatedConvolution(4, 3, dilation=2)(torch.zeros(shape))


def conv_lm(**options: object) -> ConvLM:
    torch.manual_seed(0)
    return ConvLM(11, **{"d_model": 6, "n_layers": 2, "kernel_size": 3, **options}).eval()  # type: ignore[arg-type]


SHAPES = [
    {"kernel_size": 1},
    {"kernel_size": 2, "n_layers": 1},
    {"kernel_size": 3, "n_layers": 3},
    {"kernel_size": 4, "n_layers": 2},
    {"n_layers": 3, "dilations": (1, 2, 4)},
    {"kernel_size": 2, "n_layers": 3, "dilations": (4, 1, 3)},
    {"tie_embeddings": True},
    {"dropout": 0.3},
]


@pytest.mark.parametrize("options", SHAPES, ids=str)
def test_the_laws(options: dict[str, object]) -> None:
    assert_language_model(conv_lm(**options), TOKENS)


@pytest.mark.parametrize("options", SHAPES, ids=str)
def test_every_parameter_gets_a_gradient(options: dict[str, object]) -> None:
    model = conv_lm(**options)
    assert_every_parameter_gets_a_gradient(model, model(TOKENS)[0])


@pytest.mark.parametrize("options", [s for s in SHAPES if s != {"dropout": 0.3}], ids=str)
def test_the_receptive_field_is_measured_as_stated(options: dict[str, object]) -> None:
    """The last logits depend on the last r tokens and on none before, by autograd on the embeddings."""
    model = conv_lm(**options).double()
    seen: list[Tensor] = []
    model.embedding.register_forward_hook(lambda *args: seen.append(args[2]) or args[2].retain_grad())
    text = torch.randint(0, 11, (1, 20), generator=torch.Generator().manual_seed(0))
    model(text)[0][0, -1].sum().backward()
    reached = seen[0].grad.abs().sum(dim=-1)[0] > 0
    places = reached.nonzero().flatten()
    assert places[0] == 20 - model.receptive_field()
    if "dilations" not in options:
        assert reached[places[0] :].all()


@pytest.mark.parametrize("dilation", [1, 2])
@torch.no_grad()
def test_the_equations_word_by_word(dilation: int) -> None:
    model = conv_lm(n_layers=2, dilations=(dilation, 1))
    logits, _ = model(TOKENS)
    for row in range(3):
        h = [model.embedding.weight[i] for i in TOKENS[row]]
        for layer, δ in zip(model.layers, (dilation, 1), strict=True):
            W, b = kernel(layer), layer.linear.bias  # (12, 6, 3)
            new = []
            for t in range(9):
                both = b.clone()
                for j in range(3):  # the place in the kernel: oldest first
                    s = t - (2 - j) * δ
                    if s >= 0:
                        both += W[:, :, j] @ h[s]
                new.append(h[t] + both[:6] / (1 + torch.exp(-both[6:])))
            h = new
        for t in range(9):
            assert_close(logits[row, t], model.output.weight @ h[t] + model.output.bias, f"row {row}, time {t}")


def test_one_step_costs_the_same_however_long_the_text() -> None:
    """The state has the same size after 9 and after 90 tokens, and holds no view of the longer text."""
    model = conv_lm()
    _, short = model(TOKENS)
    _, long = model(TOKENS.repeat(1, 10))
    assert [p.shape for p in short] == [p.shape for p in long] == [(3, 2, 6)] * 2
    assert all(p.untyped_storage().nbytes() == p.numel() * 4 for p in long)


def test_tied_weights_are_one_parameter() -> None:
    model = conv_lm(tie_embeddings=True)
    assert model.output.weight is model.embedding.weight
    assert sum(p.numel() for p in conv_lm().parameters()) - sum(p.numel() for p in model.parameters()) == 11 * 6


def test_dropout_acts_in_training_alone() -> None:
    model = conv_lm(dropout=0.5)
    assert torch.equal(model(TOKENS)[0], model(TOKENS)[0])
    model.train()
    assert not torch.equal(model(TOKENS)[0], model(TOKENS)[0])


def test_bad_tokens_and_states() -> None:
    model = conv_lm()
    for tokens in (TOKENS[:, :0], TOKENS + 11, TOKENS - 20):
        with pytest.raises((ValueError, TypeError), match="tokens"):
            model(tokens)
    _, state = model(TOKENS)
    for bad in (state[:1], (state[0][:2], state[1][:2]), (state[0][:, :1], state[1]), state[0], "state"):
        with pytest.raises((ValueError, TypeError), match="state"):
            model(TOKENS, bad)


@pytest.mark.parametrize(
    "options",
    [{"dilations": (1,)}, {"dilations": (1, 0)}],
    ids=str,
)
def test_bad_options(options: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=next(iter(options))):
        conv_lm(**options)


def test_states_of_another_dtype_or_batch_are_refused() -> None:
    model = ConvLM(11, 4, n_layers=2, kernel_size=3)
    _, state = model(torch.tensor([[1, 2]]))
    with pytest.raises(ValueError, match="state must"):
        model(torch.tensor([[1], [2]]), state)
    with pytest.raises(TypeError, match=r"state must be torch\.float32.*float64"):
        model(torch.tensor([[1]]), tuple(past.double() for past in state))
