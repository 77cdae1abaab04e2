"""WideNet: everything shared but the norms, and a mixture that learns to be balanced."""

from dataclasses import replace
from functools import partial

import torch
from torch import nn

from nlmcore.training import fit, teacher_forcing_loss
from nlmcore.transformer import EncoderDecoder, TransformerLM
from nlmcore.variants import CATALOGUE
from nlmcore.variants.mixture_of_experts import MixtureOfExperts, balance_loss
from nlmcore.variants.variant import vanilla
from tests.laws import assert_close
from tests.nlmcore.variants.test_catalogue import SIZES, TOKENS, VOCAB, build, logits


def test_widenet_shares_everything_but_the_norms() -> None:
    model = build(replace(CATALOGUE["WideNet"], family=EncoderDecoder), n_layers=3)
    for stack in (model.encoder.layers, model.decoder.layers):
        parts = [{name: id(p) for name, p in layer.named_parameters()} for layer in stack]
        alike = {name for name in parts[0] if len({part[name] for part in parts}) == 1}
        assert {name for name in parts[0] if "norm" in name} == set(parts[0]) - alike
        assert len({id(layer.feed_forward) for layer in stack}) == 3, "each has a balance of its own"


def test_a_widenet_learns_and_its_experts_are_balanced(unchecked: None) -> None:
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
