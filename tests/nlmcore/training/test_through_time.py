import pytest
import torch

from nlmcore.training import detach, teacher_forcing_loss, truncated_backpropagation
from tests.nlmcore.training.models import TinyGRU, text

TOKENS = text(3, 14)


def gradients(model) -> list[torch.Tensor]:
    return [parameter.grad.clone() for parameter in model.parameters()]


@pytest.mark.parametrize("length", [1, 4, 5, 13, 50])
def test_the_numbers_forward_are_those_of_the_whole_text(length: int) -> None:
    model = TinyGRU().eval()
    pieces = list(truncated_backpropagation(model, TOKENS, length))
    total = sum(piece.predictions for piece in pieces)
    assert total == 3 * 13
    mean = sum(piece.loss.item() * piece.predictions for piece in pieces) / total
    assert mean == pytest.approx(teacher_forcing_loss(model, TOKENS).item(), abs=1e-5)
    assert pieces[-1].state[1] == 13


def test_one_piece_is_full_backpropagation() -> None:
    model = TinyGRU().eval()
    teacher_forcing_loss(model, TOKENS).backward()
    expected = gradients(model)
    model.zero_grad()
    (piece,) = truncated_backpropagation(model, TOKENS, 13)
    piece.loss.backward()
    for got, wanted in zip(gradients(model), expected, strict=True):
        assert torch.allclose(got, wanted, atol=1e-6)


def test_the_gradient_stops_at_the_cut() -> None:
    """The second piece's gradient is that of reading it from a state that is only numbers."""
    model = TinyGRU().eval()
    pieces = list(truncated_backpropagation(model, TOKENS, 7))
    model.zero_grad()
    pieces[1].loss.backward()
    got = gradients(model)
    with torch.no_grad():
        _, state = model(TOKENS[:, :7])
    model.zero_grad()
    teacher_forcing_loss(model, TOKENS[:, 7:], state=state).backward()
    for one, other in zip(got, gradients(model), strict=True):
        assert torch.allclose(one, other, atol=1e-6)
    model.zero_grad()
    _, uncut = model(TOKENS[:, :7])
    teacher_forcing_loss(model, TOKENS[:, 7:], state=uncut).backward()
    assert not torch.allclose(got[1], gradients(model)[1], atol=1e-4)


def test_masks_and_states() -> None:
    model = TinyGRU().eval()
    mask = torch.ones_like(TOKENS).bool()
    mask[:, 6:] = False
    mask[0, 3:] = False
    pieces = list(truncated_backpropagation(model, TOKENS, 4, mask=mask))
    assert [piece.predictions for piece in pieces] == [2 + 4 + 4, 1 + 1]
    _, state = model(TOKENS[:, :4])
    (on,) = truncated_backpropagation(model, TOKENS[:, 4:], 20, state=state)
    assert on.loss.item() == pytest.approx(teacher_forcing_loss(model, TOKENS[:, 4:], state=state).item(), abs=1e-6)


def test_detach_walks_every_state() -> None:
    x = torch.ones(2, requires_grad=True) * 2
    cut = detach({"a": (x, None, 3), "b": [x]})
    assert not cut["a"][0].requires_grad
    assert not cut["b"][0].requires_grad
    assert cut["a"][1:] == (None, 3)


@pytest.mark.parametrize(("length", "error"), [(0, ValueError), (1.5, TypeError), (True, TypeError)])
def test_bad_lengths_are_refused_at_once(length, error) -> None:
    with pytest.raises(error, match=r"length|truncated"):
        truncated_backpropagation(TinyGRU(), TOKENS, length)
    with pytest.raises(ValueError, match="tokens"):
        truncated_backpropagation(TinyGRU(), TOKENS + 20, 3)


def test_a_mask_with_nothing_to_predict_is_refused_at_once() -> None:
    mask = torch.zeros_like(TOKENS, dtype=torch.bool)
    mask[:, 0] = True  # the first token is read, never predicted
    with pytest.raises(ValueError, match="mask must be True for at least one target"):
        truncated_backpropagation(TinyGRU(), TOKENS, 3, mask=mask)
