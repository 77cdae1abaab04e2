"""Window models against loops over words."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from nlmcore.feedforward import BagOfWordsLM, FeedForwardLM
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


@pytest.mark.parametrize("kind", range(4))
def test_bad_tokens_and_states(kind: int) -> None:
    model = models(3)[kind]
    for tokens, error, words in (
        (TOKENS[:, :0], ValueError, "tokens"),
        (TOKENS + 11, ValueError, r"tokens.*\[0, 11\)"),
        (TOKENS - 20, ValueError, r"tokens.*\[0, 11\)"),
    ):
        with pytest.raises((error, TypeError), match=words):
            model(tokens)
    for state in (TOKENS[:, :3], TOKENS[:2, :2], TOKENS[:, :2].float(), "state"):
        with pytest.raises((ValueError, TypeError), match="state"):
            model(TOKENS, state)


@pytest.mark.parametrize("build", [FeedForwardLM, BagOfWordsLM])
@pytest.mark.parametrize("state", [[[1, 7]], [[1, -1]], [[1]], [[1, 2, 3]], [[1, 2], [1, 2]]], ids=str)
def test_states_of_another_text_are_refused(build: Callable[..., nn.Module], state: list) -> None:
    with pytest.raises(ValueError, match="state must"):
        build(7, 3, 4, 5)(torch.tensor([[1]]), torch.tensor(state))
