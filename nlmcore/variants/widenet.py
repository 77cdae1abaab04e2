"""WideNet: wider instead of deeper. One attention and one mixture of experts for all layers, a norm for each.

    h ← h + attention(norm_l(h)),   h ← h + experts(norm'_l(h)),   l = 1 … N         Xue et al. (2022), section 2

Block sharing takes parameters away; the experts give some back, in width. Every layer sends what its own norms make of
a token to experts of its own choice, though the router is one.

Four experts, of which two are asked; the loss gets 0.01 · `balance_loss(model)` besides (section 2).

Departs from the paper: no expert has a limit; see `nlmcore.variants.experts`.
"""

from typing import Any

from nlmcore.variants.experts import MixtureOfExperts


def share_all_but_norms(stack: Any) -> None:
    """Attention, router and experts of every layer are those of the first; a part `share` of `TransformerConfig`.

    Each layer keeps its `MixtureOfExperts`, which only holds what is shared, so that each has its own balance.

    Raises TypeError for another feed-forward part.
    """
    for layer in stack:
        if not isinstance(getattr(layer, "feed_forward", None), MixtureOfExperts):
            got = type(getattr(layer, "feed_forward", layer)).__name__
            raise TypeError(f"WideNet needs layers whose feed_forward is a MixtureOfExperts, got {got}")
    first, *others = stack
    for layer in others:
        layer.attention = first.attention
        if hasattr(first, "cross_attention"):
            layer.cross_attention = first.cross_attention
        layer.feed_forward.router, layer.feed_forward.experts = first.feed_forward.router, first.feed_forward.experts
