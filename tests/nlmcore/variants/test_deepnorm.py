"""DeepNorm and the first weights of Fixup: their equations, for every depth and order."""

import math
from dataclasses import replace

import pytest
import torch

from nlmcore.norms import RMSNorm
from nlmcore.transformer import EncoderDecoder, MaskedLM, TransformerEncoder, TransformerLM
from nlmcore.variants import CATALOGUE
from nlmcore.variants.deepnorm import DeepNorm
from nlmcore.variants.mixture_of_experts import MixtureOfExperts
from tests.laws import assert_close
from tests.nlmcore.variants.test_catalogue import SIZES, TOKENS, VOCAB, awake, logits

DEEP = CATALOGUE["DeepNorm"]


def test_deepnorm_is_its_equation() -> None:
    rule = DeepNorm(replace(DEEP.config(VOCAB, d_model=3, n_heads=1), norm=RMSNorm))
    x, y = torch.randn(2, 1, 2, 3, generator=torch.Generator().manual_seed(2))
    rule.alpha = 1.7
    z = 1.7 * x + y
    assert rule(x) is x
    assert_close(rule(x, y), z / z.pow(2).mean(-1, keepdim=True).sqrt(), "LN(α x + y)")
    assert "alpha=1.7" in repr(rule)


def alphas(stack: torch.nn.Module) -> set[float]:
    return {round(rule.alpha, 6) for rule in stack.modules() if isinstance(rule, DeepNorm)}


def test_both_factors_follow_the_depth_of_both_sides() -> None:
    """Figure 2 of the paper; 3 layers above, 5 below."""
    shallow, deep = (DEEP.config(VOCAB, **{**SIZES, "n_layers": n}) for n in (3, 5))
    assert alphas(TransformerLM(deep)) == {round(10**0.25, 6)}
    for kind in (TransformerEncoder, MaskedLM):
        assert alphas(kind(shallow)) == {round(6**0.25, 6)}
    model = EncoderDecoder(deep, shallow)
    assert alphas(model.encoder) == {round(0.81 * (3**4 * 5) ** (1 / 16), 6)}
    assert alphas(model.decoder) == {round(15**0.25, 6)}
    handed = EncoderDecoder(deep, encoder=TransformerEncoder(shallow))
    assert alphas(handed.encoder) == {round(6**0.25, 6)}, "an encoder that is handed in stays as it is"
    assert alphas(handed.decoder) == {round(15**0.25, 6)}


def test_its_first_weights_are_lighter_where_a_branch_ends() -> None:
    torch.manual_seed(0)
    sizes = {"d_model": 60, "n_heads": 6, "d_head": 8, "d_ff": 150, "n_layers": 4}
    layer = replace(DEEP, family=EncoderDecoder).build(VOCAB, **sizes).decoder.layers[2]
    beta = 48**-0.25
    for attention in (layer.attention, layer.cross_attention):
        for part, gain in ((attention.query, 1), (attention.key, 1), (attention.value, beta), (attention.output, beta)):
            assert part.weight.std().item() == pytest.approx(gain * math.sqrt(2 / 108), rel=0.08)
    for part in (layer.feed_forward.inner, layer.feed_forward.outer):
        assert part.weight.std().item() == pytest.approx(beta * math.sqrt(2 / 210), rel=0.08)


def test_deepnorm_ends_without_a_norm_of_its_own() -> None:
    model = awake(DEEP)
    assert not list(model.final_norm.parameters())
    x = model.embed(TOKENS)
    for layer in model.layers:
        y, _ = layer.attention(x)
        x = layer.residual_attention.norm(layer.residual_attention.alpha * x + y)
        x = layer.residual_feed_forward.norm(layer.residual_feed_forward.alpha * x + layer.feed_forward(x))
    assert_close(logits(model), x @ model.output.weight.T, "by hand")


def test_layers_that_first_weights_cannot_be_set_for_are_named(plain_errors: None) -> None:
    fixup = CATALOGUE["Fixup"].config(VOCAB, **SIZES)
    with pytest.raises(TypeError, match="need a FixupFeedForward, got MixtureOfExperts"):
        TransformerLM(replace(fixup, feed_forward=MixtureOfExperts))
    for config, words in (
        (fixup, "Fixup's first weights need layers"),
        (DEEP.config(VOCAB, **SIZES), "DeepNorm needs"),
    ):
        with pytest.raises(TypeError, match=words):
            TransformerLM(replace(config, block=lambda c, causal, cross: torch.nn.Identity(), share=lambda stack: None))
