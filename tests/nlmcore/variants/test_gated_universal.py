"""The Universal Transformer of Narang et al. (2021) against its equation."""

from collections.abc import Callable

import torch
from torch import Tensor

from nlmcore.variants import CATALOGUE
from tests.laws import assert_close
from tests.nlmcore.variants.test_catalogue import TOKENS, awake, logits


@torch.no_grad()
def test_the_universal_transformer_of_narang_is_its_equation() -> None:
    """Two loops outside, two told e^t, each sublayer gated: the block's own parts, put together by hand."""
    model = awake(CATALOGUE["Universal Transformer"])
    x, block = model.embed(TOKENS), model.layers[0]
    assert all(layer is block for layer in model.layers)

    def gated(rule: torch.nn.Module, x: Tensor, f: Callable[[Tensor], Tensor]) -> Tensor:
        y = f(rule.norm(x))
        z, r = (torch.sigmoid(g(torch.cat([rule.norm_x(x), rule.norm_y(y)], -1))) for g in (rule.update, rule.reset))
        c = torch.sigmoid(rule.candidate(torch.cat([rule.norm_reset(r * x), rule.norm_y(y)], -1)))
        return x + y + z * (c - y)

    for e in (0.0, *model.layers.moments, 0.0):
        x = gated(block.residual_attention, x + e, lambda x: block.attention(x)[0])
        x = gated(block.residual_feed_forward, x, block.feed_forward)
    assert_close(model.output(model.final_norm(x)), logits(model), "by hand")
