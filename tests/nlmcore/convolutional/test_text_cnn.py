"""Kim's classifier against loops over windows; padding must not show."""

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from nlmcore.convolutional import TextCNN
from tests.laws import assert_close, assert_every_parameter_gets_a_gradient

TOKENS = torch.randint(1, 11, (3, 7), generator=torch.Generator().manual_seed(3))
LENGTHS = (7, 2, 4)
MASK = torch.arange(7) < torch.tensor(LENGTHS)[:, None]


def text_cnn(**options: object) -> TextCNN:
    torch.manual_seed(0)
    sizes = {"n_classes": 4, "d_embedding": 5, "widths": (2, 3), "n_filters": 6, **options}
    return TextCNN(11, **sizes).eval()  # type: ignore[arg-type]


def features_by_hand(model: TextCNN, text: list[int]) -> Tensor:
    """Slide every filter over the text, zeros around it, and keep its largest response."""
    strongest = []
    for width, convolution in zip(model.widths, model.filters, strict=True):
        for w, b in zip(convolution.weight, convolution.bias, strict=True):  # w: (d_embedding, width)
            best = -torch.inf
            for start in range(1 - width, len(text)):
                response = b.item()
                for j in range(width):
                    if 0 <= start + j < len(text):
                        response += (w[:, j] @ model.embedding.weight[text[start + j]]).item()
                best = max(best, max(0.0, response))
            strongest.append(best)
    return torch.tensor(strongest)


@torch.no_grad()
def test_the_equations_filter_by_filter() -> None:
    model = text_cnn()
    logits = model(TOKENS, MASK)
    assert logits.shape == (3, 4)
    for row, length in enumerate(LENGTHS):
        z = features_by_hand(model, TOKENS[row, :length].tolist())
        assert_close(logits[row], model.output.weight @ z + model.output.bias, f"row {row}")


@torch.no_grad()
def test_padding_does_not_show() -> None:
    """However much, on whichever side, and whatever ids stand there: the texts' own answers."""
    model = text_cnn(widths=(1, 2, 5))
    alone = torch.cat([model(TOKENS[i : i + 1, :n]) for i, n in enumerate(LENGTHS)])
    assert_close(model(TOKENS, MASK), alone, "padded to the longest")
    assert_close(model(TOKENS.where(MASK, 7), MASK), alone, "other ids in the padding")
    assert_close(model(F.pad(TOKENS, (0, 9)), F.pad(MASK, (0, 9))), alone, "more padding behind")
    assert_close(model(F.pad(TOKENS, (6, 1)), F.pad(MASK, (6, 1))), alone, "padding in front")
    assert (model(TOKENS) - alone)[1:].abs().max() > 1e-3  # without the mask it would show


@torch.no_grad()
def test_a_text_without_a_token_reads_as_nothing() -> None:
    model, mask = text_cnn(), MASK.clone()
    mask[1] = False
    logits = model(TOKENS, mask)
    assert_close(logits[1], model.output.bias, "the bias")
    assert_close(logits[[0, 2]], model(TOKENS, MASK)[[0, 2]], "the others")


def test_every_parameter_gets_a_gradient() -> None:
    model = text_cnn().train()
    assert_every_parameter_gets_a_gradient(model, model(TOKENS, MASK))


def test_dropout_acts_in_training_alone() -> None:
    model = text_cnn(dropout=0.5)
    assert torch.equal(model(TOKENS), model(TOKENS))
    model.train()
    assert not torch.equal(model(TOKENS), model(TOKENS))


def test_bad_input() -> None:
    model = text_cnn()
    for tokens in (TOKENS[:, :0], TOKENS + 11, TOKENS - 20):
        with pytest.raises((ValueError, TypeError), match="tokens"):
            model(tokens)
    for mask in (MASK[:, :6], MASK[:2], MASK.long(), MASK[0], [[True]]):
        with pytest.raises((ValueError, TypeError), match="mask"):
            model(TOKENS, mask)
    for options in ({"widths": ()}, {"widths": (2, 0)}):
        with pytest.raises(ValueError, match=next(iter(options))):
            text_cnn(**options)
    assert model.receptive_field() == 3
