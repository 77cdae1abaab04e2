import pytest
import torch

from nlmcore.metrics import log_likelihood
from nlmcore.training import (
    evaluate,
    fit,
    next_token_loss,
    scheduled_sampling_loss,
    teacher_forcing_loss,
    truncated_backpropagation,
)
from tests.nlmcore.training.models import TinyGRU, TinySeq2Seq, text

TOKENS = text(4, 7)
MASK = torch.tensor([[1, 1, 1, 1, 1, 1, 1], [1, 1, 1, 1, 1, 0, 0], [1, 1, 0, 0, 0, 0, 0], [1, 1, 1, 1, 1, 1, 0]]).bool()


def naive(model, tokens, mask=None, state=None) -> float:
    """One prediction at a time."""
    total, count = 0.0, 0
    for b in range(len(tokens)):
        here = None if state is None else (state[0][b : b + 1], state[1])
        for t in range(1, tokens.shape[1]):
            logits, here = model(tokens[b : b + 1, t - 1 : t], here)
            if mask is None or mask[b, t]:
                total -= logits[0, 0].log_softmax(-1)[tokens[b, t]].item()
                count += 1
    return total / count


@pytest.mark.parametrize("mask", [None, MASK])
def test_it_is_the_mean_over_real_predictions(mask) -> None:
    model = TinyGRU().eval()
    assert teacher_forcing_loss(model, TOKENS, mask=mask).item() == pytest.approx(naive(model, TOKENS, mask), abs=1e-5)


def test_explicit_targets_are_the_same_text_shifted() -> None:
    model = TinyGRU().eval()
    whole = teacher_forcing_loss(model, TOKENS, mask=MASK)
    shifted = teacher_forcing_loss(model, TOKENS[:, :-1], TOKENS[:, 1:], mask=MASK[:, 1:])
    assert torch.equal(whole, shifted)


def test_a_state_is_read_on_from() -> None:
    model = TinyGRU().eval()
    _, state = model(TOKENS[:, :3])
    assert teacher_forcing_loss(model, TOKENS[:, 3:], state=state).item() == pytest.approx(
        naive(model, TOKENS[:, 3:], state=state), abs=1e-5
    )


@pytest.mark.parametrize("source_mask", [None, MASK])
def test_a_source_is_encoded_first(source_mask) -> None:
    model, source = TinySeq2Seq().eval(), text(4, 7, seed=5)
    expected = naive(model, TOKENS, MASK, model.encode(source, source_mask))
    got = teacher_forcing_loss(model, TOKENS, mask=MASK, source=source, source_mask=source_mask)
    assert got.item() == pytest.approx(expected, abs=1e-5)


def test_gradients_flow_only_from_real_targets() -> None:
    logits = torch.randn(4, 7, 11, requires_grad=True)
    next_token_loss(logits, TOKENS, MASK).backward()
    assert torch.equal(logits.grad.abs().sum(-1) > 0, MASK)


@pytest.mark.parametrize(
    ("tokens", "options", "name"),
    [
        (TOKENS[:, :1], {}, "tokens"),
        (TOKENS, {"targets": TOKENS[:, 1:]}, "targets"),
        (TOKENS, {"targets": TOKENS + 10}, "targets"),
        (TOKENS, {"mask": MASK[:, 1:]}, "mask"),
        (TOKENS, {"mask": MASK & False}, "mask"),
        (TOKENS, {"source": TOKENS}, "source"),
        (TOKENS, {"source_mask": MASK}, "source"),
    ],
)
def test_bad_input_is_named(tokens, options: dict, name: str) -> None:
    with pytest.raises((ValueError, TypeError), match=name):
        teacher_forcing_loss(TinyGRU(), tokens, **options)


def test_source_and_state_exclude_each_other_and_the_source_mask_must_fit() -> None:
    model = TinySeq2Seq()
    with pytest.raises(ValueError, match="state and source"):
        teacher_forcing_loss(model, TOKENS, source=TOKENS, state=model.encode(TOKENS))
    with pytest.raises((ValueError, TypeError), match="source_mask"):
        teacher_forcing_loss(model, TOKENS, source=TOKENS, source_mask=MASK[:, 1:])


LOGITS = torch.randn(2, 3, 5, generator=torch.Generator().manual_seed(0))
IDS = torch.tensor([[0, 1, 2], [2, 3, 4]])


@pytest.mark.parametrize(
    ("logits", "targets", "mask", "name"),
    [
        (LOGITS[:, :0], IDS[:, :0], None, "targets"),
        (LOGITS, IDS + 1, None, "targets"),
        (LOGITS, IDS - 1, None, "targets"),
        (LOGITS, IDS, torch.zeros(2, 3).bool(), "mask"),
    ],
)
def test_next_token_loss_names_what_does_not_fit(logits, targets, mask, name: str) -> None:
    with pytest.raises((ValueError, TypeError), match=f"{name} must"):
        next_token_loss(logits, targets, mask)


def test_what_is_no_model_is_named() -> None:
    with pytest.raises(TypeError, match="model"):
        teacher_forcing_loss(None, TOKENS)


class LogitsAlone(TinyGRU):
    """No language model: it gives no state, as a masked language model does."""

    def forward(self, tokens, state=None):
        return super().forward(tokens, state)[0]


@pytest.mark.parametrize("batch", [2, 3])  # two rows would pass for (logits, state)
def test_a_model_without_a_state_is_told_what_to_answer(batch: int) -> None:
    tokens = text(batch, 7)
    for train in (
        lambda: teacher_forcing_loss(LogitsAlone(), tokens),
        lambda: fit(LogitsAlone(), [tokens], steps=1, progress=False),
        lambda: list(truncated_backpropagation(LogitsAlone(), tokens, 3)),
    ):
        with pytest.raises(TypeError, match=r"model must answer \(logits, state\).* tensor of shape .*give fit a loss"):
            train()


def likelihood(model, tokens, mask) -> float:
    """`log_likelihood` has no mask; padding is its id 0."""
    total, predicted = log_likelihood(model, tokens.masked_fill(~mask, 0), ignore=0)
    return -total / predicted


MEANS = {
    "teacher forcing": lambda model, tokens, mask: float(teacher_forcing_loss(model, tokens, mask=mask)),
    "scheduled sampling": lambda model, tokens, mask: float(scheduled_sampling_loss(model, tokens, 1.0, mask=mask)),
    "next token": lambda model, tokens, mask: float(
        next_token_loss(model(tokens)[0][:, :-1], tokens[:, 1:], mask[:, 1:])
    ),
    "through time": lambda model, tokens, mask: (
        lambda pieces: sum(float(p.loss) * p.predictions for p in pieces) / sum(p.predictions for p in pieces)
    )(list(truncated_backpropagation(model, tokens, 3, mask=mask))),
    "evaluate": lambda model, tokens, mask: evaluate(model, [{"tokens": tokens, "mask": mask}]),
    "likelihood": likelihood,
}


@pytest.mark.parametrize("name", MEANS)
@torch.no_grad()
def test_a_text_without_a_real_token_adds_nothing_and_no_token_at_all_is_refused(name: str) -> None:
    model, mean = TinyGRU().eval(), MEANS[name]
    tokens, mask = 1 + text(2, 7, 10), torch.ones(2, 7, dtype=torch.bool)
    padded, with_empty = torch.cat([tokens, tokens * 0]), torch.cat([mask, mask & False])
    assert mean(model, padded, with_empty) == pytest.approx(mean(model, tokens, mask), abs=1e-6)
    with pytest.raises(ValueError, match=r"must (be True for|hold) at least one"):
        mean(model, tokens, mask & False)
