import math

import pytest
import torch

from nlmcore.training import (
    exponential_decay,
    inverse_sigmoid_decay,
    linear_decay,
    scheduled_sampling_loss,
    teacher_forcing_loss,
)
from tests.nlmcore.training.models import TinyGRU, TinySeq2Seq, text

TOKENS = text(3, 8)


def naive_greedy(model, tokens, is_true) -> torch.Tensor:
    """Step by step: read the truth where the coin says so, the model's best guess elsewhere."""
    state, losses, guess = None, [], None
    for t in range(tokens.shape[1] - 1):
        read = tokens[:, t] if t == 0 else torch.where(is_true[:, t], tokens[:, t], guess)
        logits, state = model(read[:, None], state)
        losses.append(torch.nn.functional.cross_entropy(logits[:, 0], tokens[:, t + 1], reduction="none"))
        guess = logits[:, 0].argmax(-1)
    return torch.stack(losses).mean()


@pytest.mark.parametrize("epsilon", [0, 0.3, 0.8, 1.0])
def test_it_is_the_loop_with_a_coin_for_every_token(epsilon: float) -> None:
    model = TinyGRU().eval()
    coins = torch.rand((3, 7), generator=torch.Generator().manual_seed(4)) < epsilon
    got = scheduled_sampling_loss(model, TOKENS, epsilon, greedy=True, generator=torch.Generator().manual_seed(4))
    assert got.item() == pytest.approx(naive_greedy(model, TOKENS, coins).item(), abs=1e-5)


def test_epsilon_one_is_teacher_forcing_to_the_bit() -> None:
    model = TinySeq2Seq()
    mask = torch.ones_like(TOKENS).bool()
    mask[1, 5:] = False
    options = {"mask": mask, "source": text(3, 5, seed=2)}
    torch.manual_seed(1)
    expected = teacher_forcing_loss(model.eval(), TOKENS, **options)
    assert torch.equal(scheduled_sampling_loss(model, TOKENS, 1.0, **options), expected)


def test_own_words_are_drawn_from_the_model() -> None:
    """With two tokens and epsilon 0 the second input is a sample: over many rows, as often as P says."""
    model = TinyGRU(dropout=0.0).eval()
    n, read = 20_000, []

    class Spy:
        vocab_size = 11

        def __call__(self, tokens, state=None):
            read.append(tokens)
            return model(tokens, state)

    with torch.no_grad():
        scheduled_sampling_loss(
            Spy(), torch.tensor([[3, 5, 1]]).expand(n, -1), 0.0, generator=torch.Generator().manual_seed(0)
        )
        p = model(torch.tensor([[3]]))[0][0, 0].softmax(-1)
    counts = torch.bincount(read[1][:, 0], minlength=11) / n
    assert (counts - p).abs().max() < 4 * math.sqrt(0.25 / n)


def test_no_gradient_through_the_drawn_words_and_the_generator_decides() -> None:
    model = TinyGRU(dropout=0.0)

    def loss(seed: int) -> torch.Tensor:
        return scheduled_sampling_loss(model, TOKENS, 0.5, generator=torch.Generator().manual_seed(seed))

    assert torch.equal(loss(1), loss(1))
    assert not torch.equal(loss(1), loss(2))
    loss(1).backward()
    assert all(parameter.grad is not None for parameter in model.parameters())


def test_schedules_by_hand() -> None:
    assert [linear_decay(i, slope=0.3, floor=0.2) for i in range(5)] == pytest.approx([1.0, 0.7, 0.4, 0.2, 0.2])
    assert linear_decay(10, start=0.9, slope=0.01) == pytest.approx(0.8)
    assert [exponential_decay(i, base=0.5) for i in range(4)] == [1.0, 0.5, 0.25, 0.125]
    assert inverse_sigmoid_decay(0, k=4) == pytest.approx(4 / 5)
    assert inverse_sigmoid_decay(8, k=4) == pytest.approx(4 / (4 + math.e**2))
    assert inverse_sigmoid_decay(10**9, k=1) == pytest.approx(0.0, abs=1e-300)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: scheduled_sampling_loss(TinyGRU(), TOKENS + 10, 0.5), "tokens"),
        (lambda: linear_decay(3, slope=1, floor=2), "floor"),
        (lambda: inverse_sigmoid_decay(3, k=0.5), "k"),
    ],
)
def test_bad_input_is_named(call, name: str) -> None:
    with pytest.raises((ValueError, TypeError), match=name):
        call()
