"""Switch Transformer: a mixture of experts in which one expert reads each token.

    y = p_e · FFN_e(x),   e the expert with the largest p,   p = softmax(x W)       Fedus et al. (2022), section 2.1

    capacity  1.2 · time / n                                                        section 2.2
    noise     x · uniform(0.99, 1.01) before W, in training                         appendix C

`mixture_of_experts` has the part, its balance and its capacity. Narang et al. (2021) have 32 experts in every fourth
layer: 1100 M parameters, where the baseline has 223 M.

Departs from the paper: each text has its own queue, and the capacity holds only in training (`mixture_of_experts`).
"""

from functools import partial
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from nlmcore.checks import Size, checked
from nlmcore.variants.mixture_of_experts import Capacity, MixtureOfExperts, every_few
from nlmcore.variants.parts import Vectors


def jitter(router: nn.Linear, x: Vectors, width: float | int = 0.01) -> Float[Tensor, "batch time expert"]:
    """(x · u) W, u uniform in [1 − width, 1 + width]: Fedus et al. (2022), appendix C."""
    return router(x * torch.empty_like(x).uniform_(1 - width, 1 + width))  # only the router reads this x


@checked
def build_switch(
    c: Any, causal: bool, cross: bool, n_experts: int = 32, every: Size = 4, capacity: float | int = 1.2
) -> nn.Module:
    """A part `stack`: 1 of n_experts networks in the last of every four layers."""
    limit = Capacity(capacity)
    part = partial(MixtureOfExperts, n_experts=n_experts, k=1, expert=c.feed_forward, noise=jitter, limit=limit)
    return every_few(c, causal, cross, every, feed_forward=part)
