"""Tuning: which tokens count, both losses against plain formulas, the reference, and the tail of a model."""

import math
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from nlmcore.pretrained import smollm2
from nlmcore.training import teacher_forcing_loss
from nlmcore.transfer import LoRA
from nlmcore.transfer.tuning import (
    Tail,
    conversation,
    log_probs,
    pad,
    preference_loss,
    preferences,
    supervised_loss,
)
from nlmcore.transformer import TransformerConfig, TransformerLM
from tests.laws import assert_close

SAID = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Hello!"},
    {"role": "assistant", "content": "Hi."},
    {"role": "user", "content": "2 + 2?"},
    {"role": "assistant", "content": "It is 4."},
]
TEXTS = [([5, 3, 8, 1, 9, 2], [False, False, True, True, False, True]), ([4, 4, 7, 2], [False, False, False, True])]
OTHERS = [([5, 3, 1, 1], [False, False, True, True]), ([4, 4, 9, 9, 2], [False, False, True, True, True])]


def model(seed: int = 0) -> TransformerLM:
    torch.manual_seed(seed)
    return TransformerLM(TransformerConfig(vocab_size=11, d_model=12, n_heads=3, n_layers=4, max_length=16)).eval()


def naive(lm: Any, texts: Any) -> list[Tensor]:
    """ln π of the marked tokens, text by text, token by token."""
    found = []
    for ids, mask in texts:
        total = torch.zeros(())
        for t in range(1, len(ids)):
            if mask[t]:
                total = total + lm(torch.tensor([ids[:t]]))[0][0, -1].log_softmax(-1)[ids[t]]
        found.append(total)
    return found


def changed(adapter: LoRA, seed: int = 1) -> LoRA:
    with torch.no_grad():
        for part in adapter.parts:
            part.B.copy_(torch.randn(part.B.shape, generator=torch.Generator().manual_seed(seed)))
    return adapter


def test_only_what_the_assistant_said_counts() -> None:
    tokenizer = smollm2()[1]
    ids, mask = conversation(tokenizer, SAID)
    assert ids == tokenizer.chat(SAID, reply=False)
    assert (
        tokenizer.decode([i for i, counts in zip(ids, mask, strict=True) if counts])
        == "Hi.<|im_end|>It is 4.<|im_end|>"
    )
    prompt = tokenizer.chat(SAID[:2])
    assert not any(mask[: len(prompt)])
    assert mask[len(prompt)], "what the model writes first when it is asked"
    assert conversation(tokenizer, SAID[1:3])[0] == tokenizer.chat(SAID[1:3], reply=False), "its own system message"
    assert not any(conversation(tokenizer, SAID[:2])[1])
    with pytest.raises(ValueError, match="must not begin with space, got '  Hi'"):
        conversation(tokenizer, [SAID[1], {"role": "assistant", "content": "  Hi"}])


def test_padding_and_the_supervised_loss() -> None:
    lm, batch = model(), pad(TEXTS)
    assert batch.tokens.tolist() == [[5, 3, 8, 1, 9], [4, 4, 7, 2, 0]]
    assert batch.targets.tolist() == [[3, 8, 1, 9, 2], [4, 7, 2, 0, 0]]
    each = naive(lm, TEXTS)
    assert_close(log_probs(lm, batch), torch.stack(each), "the sum over the answer's tokens")
    assert_close(supervised_loss(lm, batch), -sum(each) / 4, "the mean")
    assert_close(teacher_forcing_loss(lm, *batch[:2], mask=batch.mask), supervised_loss(lm, batch), "as fit has it")


def test_the_preference_loss_and_its_gradient() -> None:
    lm, reference = model(0), model(1)
    pairs = preferences(reference, pad(TEXTS), pad(OTHERS))
    ours = torch.autograd.grad(preference_loss(lm, pairs, 0.3), [*lm.parameters()])
    with torch.no_grad():
        reference_chosen, reference_rejected = (torch.stack(naive(reference, texts)) for texts in (TEXTS, OTHERS))
    chosen, rejected = (torch.stack(naive(lm, texts)) for texts in (TEXTS, OTHERS))
    rewards = 0.3 * (chosen - reference_chosen), 0.3 * (rejected - reference_rejected)
    loss = F.softplus(rewards[1] - rewards[0]).mean()
    assert_close(preference_loss(lm, pairs, 0.3), loss, "−ln σ(a) = softplus(−a)")
    for got, expected in zip(ours, torch.autograd.grad(loss, [*lm.parameters()]), strict=True):
        assert_close(got, expected, "gradient", 1e-4)
    # equation 8: the gradient is β σ(r⁻ − r⁺) (∇ ln π(y⁻) − ∇ ln π(y⁺))
    weight = 0.3 * torch.sigmoid(rewards[1] - rewards[0]).detach() / 2
    by_hand = torch.autograd.grad(
        (weight * (log_probs(lm, pairs.rejected) - log_probs(lm, pairs.chosen))).sum(), [*lm.parameters()]
    )
    for got, expected in zip(ours, by_hand, strict=True):
        assert_close(got, expected, "equation 8", 1e-4)
    assert preference_loss(reference, pairs).item() == pytest.approx(math.log(2))


def test_an_adapter_that_is_off_leaves_the_base_model_bit_for_bit() -> None:
    lm = model()
    tokens = torch.tensor([[5, 3, 8, 1]])
    plain = lm(tokens)[0]
    adapter = changed(LoRA(lm, rank=2))
    adapted = lm(tokens)[0]
    with adapter.off():
        assert torch.equal(lm(tokens)[0], plain)
        with adapter.off():
            assert torch.equal(lm(tokens)[0], plain)
    assert torch.equal(lm(tokens)[0], adapted)
    assert not torch.equal(adapted, plain)
    with adapter.off():
        pairs = preferences(lm, pad(TEXTS), pad(OTHERS))
    assert_close(pairs.reference, preferences(model(), pad(TEXTS), pad(OTHERS)).reference, "a second copy", 0.0)
    with pytest.raises(KeyError), adapter.off():
        raise KeyError
    assert torch.equal(lm(tokens)[0], adapted), "on again after an error"
    adapter.merge()
    with pytest.raises(ValueError, match="merged"), adapter.off():
        pass


@pytest.mark.parametrize("n_layers", [1, 3])
def test_the_tail_stands_for_the_model(n_layers: int) -> None:
    lm, batch = model(), pad(TEXTS)
    names = tuple(f"layers.{i}." for i in range(4 - n_layers, 4))
    adapter = changed(LoRA(lm, rank=2, where=lambda name: name.startswith(names)))
    tail = Tail(lm, n_layers)
    cached = tail.read(batch)
    assert cached.tokens.shape == (2, 5, 12)
    assert not cached.tokens.requires_grad
    assert torch.equal(log_probs(tail, cached), log_probs(lm, batch))
    pairs = preferences(tail, cached, tail.read(pad(OTHERS)))
    both = preference_loss(tail, pairs), preference_loss(lm, preferences(lm, batch, pad(OTHERS)))
    gradients = [torch.autograd.grad(loss, [*adapter.parameters()]) for loss in both]
    for got, expected in zip(*gradients, strict=True):
        assert torch.equal(got, expected)


def test_errors() -> None:
    with pytest.raises(ValueError, match="n_layers must be less than the model's 4, got 4"):
        Tail(model(), 4)
    with pytest.raises(ValueError, match="beta must be above 0"):
        preference_loss(model(), preferences(model(), pad(TEXTS), pad(OTHERS)), 0.0)
