"""WideNet: wider instead of deeper. All layers share one attention and one mixture of experts.

    h ← h + attention(norm_l(h)),   h ← h + experts(norm'_l(h)),   l = 1 … N          Xue et al. (2022), section 2

Each layer has its own norms, which send a token to different experts in different layers. The row chooses 2 of 4
experts for a token; the part is that of `mixture_of_experts`, noise included.

Departs from the paper: experts have no limit.
"""

from typing import Any

from nlmcore.variants.mixture_of_experts import MixtureOfExperts


def share_all_but_norms(stack: Any) -> None:
    """Attention, router and experts of every layer are those of the first; a part `share`.

    Each layer keeps its `MixtureOfExperts` and so its own balance. Raises TypeError for another feed-forward part.
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
