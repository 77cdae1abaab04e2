"""Mixtures of experts by hand, and WideNet, which has one of them for all layers."""

import copy
import pickle
from dataclasses import replace
from functools import partial

import pytest
import torch
from torch import nn

from nlmcore.training import fit, teacher_forcing_loss
from nlmcore.transformer import EncoderDecoder, TransformerLM
from nlmcore.variants import CATALOGUE
from nlmcore.variants.baseline import vanilla
from nlmcore.variants.experts import MixtureOfExperts, balance_loss
from nlmcore.variants.widenet import share_all_but_norms
from tests.laws import assert_close
from tests.nlmcore.variants.test_catalogue import SIZES, TOKENS, VOCAB, build, logits

X = torch.randn(3, 5, 6, generator=torch.Generator().manual_seed(0))


def mixture(k: int = 2, n_experts: int = 4) -> MixtureOfExperts:
    torch.manual_seed(1)
    return MixtureOfExperts(6, 7, n_experts, k).eval()


@pytest.mark.parametrize("k", [1, 2, 4])
def test_a_mixture_is_its_equation_token_by_token(k: int) -> None:
    part = mixture(k)
    y = part(X)
    for b in range(3):
        for t in range(5):
            p = (part.router.weight @ X[b, t]).softmax(0)
            best = sorted(range(4), key=lambda e: -p[e].item())[:k]
            expected = sum(p[e] * part.experts[e](X[b : b + 1, t : t + 1])[0, 0] for e in best)
            assert_close(y[b, t], expected, f"token {b}, {t}")


def test_the_balance_is_one_if_all_are_chosen_alike_and_more_if_one_is() -> None:
    part = mixture()
    with torch.no_grad():
        part.router.weight.copy_(torch.eye(6)[:4] * 50)
    part(torch.eye(6)[:4].view(1, 4, 6).repeat(2, 1, 1))
    assert part.balance.item() == pytest.approx(1.0, abs=1e-4)
    part(torch.eye(6)[:1].view(1, 1, 6).repeat(2, 3, 1))
    assert part.balance.item() == pytest.approx(4.0, abs=1e-4)


def test_noise_is_for_training_alone() -> None:
    part = mixture()
    assert torch.equal(part(X), part(X))
    part.train()
    torch.manual_seed(0)
    once, twice = part(X), part(X)
    assert not torch.equal(once, twice)
    torch.manual_seed(0)
    assert torch.equal(part(X), once)


def test_an_expert_that_nobody_chose_is_not_run() -> None:
    part = mixture(1, 3)
    with torch.no_grad():
        part.router.weight.zero_()
        part.router.weight[2] = 1.0
    seen: list[int] = []
    for e, expert in enumerate(part.experts):
        expert.register_forward_hook(lambda module, given, y, e=e: seen.append(e))
    part(X.abs())
    assert seen == [2]


def test_a_mixture_can_be_copied_and_stored_in_the_middle_of_training() -> None:
    part = mixture().train()
    part(X).sum().backward()
    for twin in (copy.deepcopy(part), pickle.loads(pickle.dumps(part))):
        assert_close(twin.eval()(X), part.eval()(X), "a copy")


def test_bad_numbers_of_experts_are_named(plain_errors: None) -> None:
    with pytest.raises(ValueError, match="k=3, n_experts=2"):
        MixtureOfExperts(6, 7, 2, 3)
    with pytest.raises(ValueError, match="n_experts must be at least 1, got 0"):
        MixtureOfExperts(6, 7, 0)
    assert balance_loss(nn.Linear(2, 2)).item() == 0.0
    with pytest.raises(TypeError, match="feed_forward is a MixtureOfExperts, got FeedForward"):
        TransformerLM(replace(vanilla(VOCAB, **SIZES), share=share_all_but_norms))


def test_widenet_shares_everything_but_the_norms() -> None:
    model = build(replace(CATALOGUE["WideNet"], family=EncoderDecoder), n_layers=3)
    for stack in (model.encoder.layers, model.decoder.layers):
        parts = [{name: id(p) for name, p in layer.named_parameters()} for layer in stack]
        alike = {name for name in parts[0] if len({part[name] for part in parts}) == 1}
        assert {name for name in parts[0] if "norm" in name} == set(parts[0]) - alike
        assert len({id(layer.feed_forward) for layer in stack}) == 3, "each has a balance of its own"


def test_a_widenet_learns_and_its_experts_are_balanced() -> None:
    tokens = torch.randint(0, VOCAB, (8, 9), generator=torch.Generator().manual_seed(5))

    def with_balance(model: nn.Module, tokens: torch.Tensor) -> torch.Tensor:
        return teacher_forcing_loss(model, tokens) + 0.01 * balance_loss(model)  # type: ignore[arg-type]

    model = build(CATALOGUE["WideNet"], n_layers=3)
    history = fit(model, [tokens], steps=40, loss=with_balance, learning_rate=0.01, progress=False)
    assert history.losses[-1] < 0.6 * history.losses[0]
    model.eval()
    logits(model, tokens)
    assert 3 * 0.9 < balance_loss(model).item() < 3 * 2.0, "one per layer if all were equal"
    alone = sum(layer.feed_forward.balance for layer in model.layers)
    assert_close(balance_loss(model), alone, "the sum over layers")


def test_a_widenet_of_one_expert_is_a_stack_of_shared_parts() -> None:
    """k = n = 1: p is 1, and the experts are one feed-forward network."""
    part = partial(MixtureOfExperts, n_experts=1, k=1, expert=vanilla(VOCAB, **SIZES).feed_forward)
    model = build(replace(CATALOGUE["WideNet"], changes=CATALOGUE["WideNet"].changes | {"feed_forward": part})).eval()
    plain = TransformerLM(vanilla(VOCAB, **SIZES)).eval()
    names = {name.replace(".experts.0", ""): weight for name, weight in model.state_dict().items()}
    plain.load_state_dict({name: weight for name, weight in names.items() if ".router" not in name})
    assert_close(logits(model, TOKENS), logits(plain, TOKENS), "the usual stack with equal weights")
