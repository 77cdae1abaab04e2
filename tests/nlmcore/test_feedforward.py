"""Window models against loops over words, and the hand-written backward pass against autograd."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from nlmcore.feedforward import (
    RELU,
    SIGMOID,
    TANH,
    Activation,
    BagOfWordsLM,
    FeedForwardLM,
    MultiLayerPerceptron,
    backward,
    cross_entropy,
    forward,
)
from tests.laws import assert_close, assert_every_parameter_gets_a_gradient, assert_language_model

TOKENS = torch.randint(0, 11, (3, 8), generator=torch.Generator().manual_seed(3))


def models(window: int) -> list[nn.Module]:
    torch.manual_seed(0)
    return [
        FeedForwardLM(11, window, d_embedding=5, d_hidden=6),
        FeedForwardLM(11, window, d_embedding=5, d_hidden=6, direct=True),
        FeedForwardLM(11, window, d_embedding=5, d_hidden=6, activation=torch.relu),
        BagOfWordsLM(11, window, d_embedding=5, d_hidden=6),
    ]


@pytest.mark.parametrize("window", [1, 2, 4, 9, 12])
def test_the_laws(window: int) -> None:
    for model in models(window):
        assert_language_model(model, TOKENS)


@pytest.mark.parametrize("kind", range(4))
def test_every_parameter_gets_a_gradient(kind: int) -> None:
    model = models(3)[kind]
    assert_every_parameter_gets_a_gradient(model, model(TOKENS)[0])


def window_by_hand(b: int, t: int, window: int) -> list[int]:
    return [int(TOKENS[b, i]) if i >= 0 else 0 for i in range(t - window + 1, t + 1)]


@pytest.mark.parametrize("window", [1, 3])
@pytest.mark.parametrize("direct", [False, True])
@torch.no_grad()
def test_bengios_equation_word_by_word(window: int, direct: bool) -> None:
    torch.manual_seed(0)
    model = FeedForwardLM(11, window, d_embedding=5, d_hidden=6, direct=direct)
    logits, _ = model(TOKENS)
    H, d, U, b = model.hidden.weight, model.hidden.bias, model.output.weight, model.output.bias
    W = model.direct.weight if model.direct is not None else torch.zeros(11, window * 5)
    for row in range(3):
        for t in range(8):
            x = torch.cat([model.embedding.weight[i] for i in window_by_hand(row, t, window)])
            assert_close(logits[row, t], b + W @ x + U @ torch.tanh(d + H @ x), f"row {row}, time {t}")


@torch.no_grad()
def test_the_average_word_by_word() -> None:
    torch.manual_seed(0)
    model = BagOfWordsLM(11, 3, d_embedding=5, d_hidden=6)
    logits, _ = model(TOKENS)
    for row in range(3):
        for t in range(8):
            x = sum(model.embedding.weight[i] for i in window_by_hand(row, t, 3)) / 3
            h = torch.tanh(model.hidden.weight @ x + model.hidden.bias)
            assert_close(logits[row, t], model.output.weight @ h + model.output.bias, f"row {row}, time {t}")


@torch.no_grad()
def test_order_matters_to_the_one_and_not_to_the_other() -> None:
    torch.manual_seed(0)
    one_way, other_way = torch.tensor([[3, 7, 5]]), torch.tensor([[7, 3, 5]])
    average, window = BagOfWordsLM(11, 3, 5, 6), FeedForwardLM(11, 3, 5, 6)
    assert_close(average(one_way)[0][:, -1], average(other_way)[0][:, -1], "averaged words in another order")
    assert (window(one_way)[0][:, -1] - window(other_way)[0][:, -1]).abs().max() > 1e-3


@pytest.mark.parametrize("kind", range(4))
def test_the_receptive_field_is_the_window_exactly(kind: int) -> None:
    model = models(4)[kind]
    seen: list[Tensor] = []
    model.embedding.register_forward_hook(lambda *args: seen.append(args[2]) or args[2].retain_grad())
    model(TOKENS[:1])[0][0, 7].sum().backward()
    # gradients by place in the window that ends at the last token; the windows before it get none
    reached = seen[0].grad.abs().sum(dim=-1)[0]
    assert (reached[7] > 0).all()
    assert not reached[:7].any()
    assert model.receptive_field() == reached.shape[1] == 4


def test_before_the_beginning_stands_id_0() -> None:
    for model in models(4):
        padded = torch.cat([torch.zeros(3, 3, dtype=torch.int64), TOKENS], dim=1)
        assert_close(model(TOKENS)[0], model(padded)[0][:, 3:], "a text that begins with three times id 0")


def test_the_state_is_the_last_tokens() -> None:
    _, state = models(4)[0](TOKENS)
    assert torch.equal(state, TOKENS[:, -3:])
    _, state = models(4)[0](TOKENS[:, :2])
    assert torch.equal(state, torch.cat([torch.zeros(3, 1, dtype=torch.int64), TOKENS[:, :2]], dim=1))


@pytest.mark.parametrize("model", [FeedForwardLM, BagOfWordsLM])
def test_it_learns_a_cycle(model: Callable[..., nn.Module]) -> None:
    torch.manual_seed(0)
    text = torch.arange(40).remainder(5)[None] + 1
    lm = model(7, 2, d_embedding=4, d_hidden=8)
    optimiser = torch.optim.Adam(lm.parameters(), lr=0.05)
    for _ in range(80):
        loss = nn.functional.cross_entropy(lm(text[:, :-1])[0].flatten(0, 1), text[:, 1:].flatten())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    assert loss.item() < 0.1


@pytest.mark.parametrize("kind", range(4))
def test_bad_tokens_and_states(kind: int) -> None:
    model = models(3)[kind]
    for tokens, error, words in (
        (TOKENS.float(), TypeError, "tokens"),
        ([[1, 2]], TypeError, "tokens"),
        (TOKENS[0], ValueError, "tokens"),
        (TOKENS[:, :0], ValueError, "tokens"),
        (TOKENS + 11, ValueError, r"tokens.*\[0, 11\)"),
        (TOKENS - 20, ValueError, r"tokens.*\[0, 11\)"),
    ):
        with pytest.raises((error, TypeError), match=words):
            model(tokens)
    for state in (TOKENS[:, :3], TOKENS[:2, :2], TOKENS[:, :2].float(), "state"):
        with pytest.raises((ValueError, TypeError), match="state"):
            model(TOKENS, state)


@pytest.mark.parametrize("name", ["vocab_size", "window", "d_embedding", "d_hidden"])
@pytest.mark.parametrize("model", [FeedForwardLM, BagOfWordsLM])
def test_bad_sizes(model: Callable[..., nn.Module], name: str) -> None:
    with pytest.raises(ValueError, match=f"{name} must be at least 1, got 0"):
        model(**{"vocab_size": 5, name: 0})
    with pytest.raises(TypeError, match=name):
        model(**{"vocab_size": 5, name: 2.5})


# --- The multilayer perceptron -------------------------------------------------------------------------------


@pytest.mark.parametrize("f", [SIGMOID, TANH, RELU], ids=lambda f: f.name)
@pytest.mark.parametrize("sizes", [(3, 5), (3, 4, 5), (3, 7, 4, 6, 5)])
def test_backpropagation_by_hand_is_autograds(f: Activation, sizes: tuple[int, ...]) -> None:
    torch.manual_seed(0)
    by_hand, by_autograd = (MultiLayerPerceptron(sizes, f).double() for _ in range(2))
    by_autograd.load_state_dict(by_hand.state_dict())
    x = torch.randn(6, 3, dtype=torch.float64)
    y = torch.randint(0, 5, (6,))
    for calls in (1, 2):  # gradients accumulate
        loss = by_hand.backpropagate(x, y)
        expected = nn.functional.cross_entropy(by_autograd(x), y)
        expected.backward()
        assert_close(loss, expected.detach(), "loss", 1e-12)
        for (name, ours), theirs in zip(by_hand.named_parameters(), by_autograd.parameters(), strict=True):
            assert ours.grad is not None
            assert theirs.grad is not None
            assert ours.grad.abs().sum() > 0
            assert_close(ours.grad, theirs.grad, f"gradient of {name} after {calls} calls", 1e-12)


def test_the_gradient_for_the_input_too() -> None:
    generator = torch.Generator().manual_seed(1)
    draw = lambda *shape: torch.randn(*shape, dtype=torch.float64, generator=generator)  # noqa: E731
    x, weights, biases = draw(2, 3).requires_grad_(), [draw(4, 3), draw(5, 4)], [draw(4), draw(5)]
    h = forward(x, weights, biases, TANH)
    assert [tuple(layer.shape) for layer in h] == [(2, 3), (2, 4), (2, 5)]
    upstream = draw(2, 5)
    (expected,) = torch.autograd.grad((h[-1] * upstream).sum(), x)
    assert_close(backward(h, upstream, weights, TANH).x.detach(), expected, "gradient of x", 1e-12)


def test_the_equations_unit_by_unit() -> None:
    """One example, two layers, every δ as a sum over the units above it."""
    torch.manual_seed(0)
    model = MultiLayerPerceptron((3, 4, 2), SIGMOID).double()
    x, target = torch.randn(1, 3, dtype=torch.float64), torch.tensor([1])
    model.backpropagate(x, target)
    W1, W2 = (w.detach() for w in model.weights)
    b1, b2 = (b.detach() for b in model.biases)
    h = [1 / (1 + torch.exp(-(sum(W1[j, i] * x[0, i] for i in range(3)) + b1[j]))) for j in range(4)]
    a = [sum(W2[k, j] * h[j] for j in range(4)) + b2[k] for k in range(2)]
    p = [torch.exp(a_k) / sum(torch.exp(other) for other in a) for a_k in a]
    above = [p[k] - int(k == 1) for k in range(2)]
    for j in range(4):
        below = sum(W2[k, j] * above[k] for k in range(2)) * h[j] * (1 - h[j])
        for k in range(2):
            assert model.weights[1].grad[k, j] == pytest.approx((above[k] * h[j]).item())
        for i in range(3):
            assert model.weights[0].grad[j, i] == pytest.approx((below * x[0, i]).item())


def test_cross_entropy_of_sure_scores_is_finite() -> None:
    loss, delta = cross_entropy(torch.tensor([[1000.0, 0.0], [0.0, 1000.0]]), torch.tensor([0, 0]))
    assert loss.item() == 500
    assert torch.equal(delta, torch.tensor([[0.0, 0.0], [-0.5, 0.5]]))


def test_it_learns_exclusive_or() -> None:
    torch.manual_seed(0)
    x = torch.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    y = torch.tensor([0, 1, 1, 0])
    model = MultiLayerPerceptron((2, 8, 2), TANH)
    optimiser = torch.optim.Adam(model.parameters(), lr=0.05)
    for _ in range(200):
        optimiser.zero_grad()
        model.backpropagate(x, y)
        optimiser.step()
    assert torch.equal(model(x).argmax(dim=1), y)


def test_bad_input_to_the_perceptron() -> None:
    model = MultiLayerPerceptron((3, 4, 2))
    x, y = torch.zeros(5, 3), torch.zeros(5, dtype=torch.int64)
    for sizes in ((3,), (), (3, 0)):
        with pytest.raises(ValueError, match="sizes"):
            MultiLayerPerceptron(sizes)
    for bad in (torch.zeros(5, 4), torch.zeros(3), torch.zeros(0, 3), torch.zeros(5, 3, dtype=torch.int64), [[1.0]]):
        with pytest.raises((ValueError, TypeError), match=r"\bx\b"):
            model(bad)
        with pytest.raises((ValueError, TypeError), match=r"\bx\b"):
            model.backpropagate(bad, y)
    for bad in (y[:4], y + 2, y - 1, y.float(), y[:, None], [0, 0, 0, 0, 0]):
        with pytest.raises((ValueError, TypeError), match="targets"):
            model.backpropagate(x, bad)


SCORES = torch.zeros(2, 3)


@pytest.mark.parametrize(
    ("scores", "targets", "word"),
    [
        (SCORES, torch.tensor([0, -1]), "targets"),
        (SCORES, torch.tensor([0, 3]), "targets"),
        (SCORES, torch.tensor([0]), "targets"),
        (SCORES, torch.tensor([0.0, 1.0]), "targets"),
        (SCORES[:0], torch.zeros(0, dtype=torch.int64), "scores"),
        (SCORES[0], torch.tensor([0]), "scores"),
        (SCORES.long(), torch.tensor([0, 1]), "scores"),
    ],
)
def test_cross_entropy_refuses_what_is_no_label(scores: Tensor, targets: Tensor, word: str) -> None:
    with pytest.raises((ValueError, TypeError), match=f"{word} must"):
        cross_entropy(scores, targets)


@pytest.mark.parametrize(
    ("weights", "biases", "words"),
    [
        ([(4, 3)], [(1,)], r"biases\[0\] must be \(4,\)"),
        ([(4, 3)], [(2, 4)], r"biases\[0\]"),
        ([(4, 5)], [(4,)], r"weights\[0\] must be \(d_out, 3\)"),
        ([(4, 3), (2, 5)], [(4,), (2,)], r"weights\[1\]"),
        ([(4, 3)], [], "one each per layer"),
        ([], [], "one each per layer"),
    ],
)
def test_forward_refuses_layers_that_do_not_fit(weights: list, biases: list, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        forward(torch.zeros(2, 3), [torch.zeros(w) for w in weights], [torch.zeros(b) for b in biases], RELU)


@pytest.mark.parametrize("activation", [None, "tanh", 3])
def test_bad_activations(activation: object) -> None:
    for build in (FeedForwardLM, BagOfWordsLM):
        with pytest.raises(TypeError, match="activation"):
            build(5, activation=activation)
    with pytest.raises(TypeError, match="activation"):
        MultiLayerPerceptron((3, 2), activation)


@pytest.mark.parametrize("build", [FeedForwardLM, BagOfWordsLM])
@pytest.mark.parametrize("state", [[[1, 7]], [[1, -1]], [[1]], [[1, 2, 3]], [[1, 2], [1, 2]]], ids=str)
def test_states_of_another_text_are_refused(build: Callable[..., nn.Module], state: list) -> None:
    with pytest.raises(ValueError, match="state must"):
        build(7, 3, 4, 5)(torch.tensor([[1]]), torch.tensor(state))
