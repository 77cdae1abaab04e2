"""ALiBi: attention with linear biases. The farther a key, the lower its score, at one rate per head.

    score_ij = q_i · k_j / √d_head − m_h |i − j|,   m_h = 2^{−8h/n_heads},  h = 1 … n_heads
                                                    Press, Smith & Lewis (2022), section 3

No position is ever told, so a model trained on short texts can read longer ones. For head counts that are no
power of two, slopes as in the authors' code: those of the next lower power, then every second of twice that.

Departs from the paper: it is for causal models; where a query may look ahead, the same |i − j| counts (as the
authors suggest for encoders in their repository).
"""

import math

import torch
from jaxtyping import Float
from torch import Tensor, nn

from nlmcore.checks import Size, door
from nlmcore.positions.checks import check_lengths, check_pair
from nlmcore.positions.relative import offsets


@door
def alibi_slopes(n_heads: Size) -> Float[Tensor, " head"]:
    """m_h = 2^{−8h/n_heads}, a geometric sequence; completed from the one of twice as many heads."""
    power = 2 ** int(math.log2(n_heads))
    slopes = [2 ** (-8 * h / power) for h in range(1, power + 1)]
    between = [2 ** (-4 * h / power) for h in range(1, 2 * power, 2)]
    return torch.tensor((slopes + between)[:n_heads])


@door
def alibi(n_heads: Size, query_length: Size, key_length: Size) -> Float[Tensor, "1 head query key"]:
    """−m_h |i − j|, to be added to the scores; (1, head, query, key). The queries are the last of the keys.

    Raises ValueError if there are more queries than keys.
    """
    check_lengths(query_length, key_length)
    return _linear(alibi_slopes(n_heads), query_length, key_length)


def _linear(slopes: Tensor, query_length: int, key_length: int) -> Tensor:
    distance = offsets(query_length, key_length, slopes.device).abs()
    return (-slopes[:, None, None] * distance).unsqueeze(0)


class ALiBi(nn.Module):
    """`alibi` for attention: `bias(q, k)`. Nothing is learned, no length is too long.

    d_head, max_length and causal are not used.
    """

    slopes: Tensor

    @door
    def __init__(self, n_heads: Size, d_head: Size, max_length: Size, causal: bool) -> None:
        super().__init__()
        self.n_heads, self.d_head = n_heads, d_head
        self.register_buffer("slopes", alibi_slopes(n_heads), persistent=False)

    def bias(
        self, q: Float[Tensor, "batch head query d_head"], k: Float[Tensor, "batch kv_head key d_head"]
    ) -> Float[Tensor, "1 head query key"]:
        """−m_h |i − j|, in the dtype of q."""
        check_pair(q, k, self.n_heads, self.d_head)
        return _linear(self.slopes, q.shape[2], k.shape[2]).to(q.dtype)
