"""WideNet: everything shared but the norms, and a mixture that learns to be balanced."""

from dataclasses import replace

from nlmcore.transformer import EncoderDecoder
from nlmcore.variants import CATALOGUE
from nlmcore.variants.mixture_of_experts import balance_loss
from tests.laws import assert_close
from tests.nlmcore.variants.test_catalogue import build, logits


def test_widenet_shares_everything_but_the_norms() -> None:
    model = build(replace(CATALOGUE["WideNet"], family=EncoderDecoder), n_layers=3)
    for stack in (model.encoder.layers, model.decoder.layers):
        parts = [{name: id(p) for name, p in layer.named_parameters()} for layer in stack]
        alike = {name for name in parts[0] if len({part[name] for part in parts}) == 1}
        assert {name for name in parts[0] if "norm" in name} == set(parts[0]) - alike
        assert len({id(layer.feed_forward) for layer in stack}) == 3, "each has a balance of its own"


def test_the_balance_of_a_model_is_the_sum_over_its_layers() -> None:
    model = build(CATALOGUE["WideNet"], n_layers=3).eval()
    logits(model)
    alone = sum(layer.feed_forward.balance for layer in model.layers)
    assert_close(balance_loss(model), alone, "the sum over layers")
