"""QK-norm: queries and keys are normalised before they meet, so no score can grow without bound.

    score = N(q) · N(k) / √d_head,    N(x) = g ⊙ x / √(mean(x²) + ε)       Dehghani et al. (2023), section 2.1
                                                                             after Henry et al. (2020), section 3

Rotations keep lengths, so the positions inside attention come after the norm:

    TransformerConfig(..., attention_positions=partial(QKNorm, inside=Rotary))

Departs from the papers: queries and keys share one gain g per layer, of d_head values. Henry et al. divide by the
length and learn one number instead of g and 1/√d_head.
"""

from collections.abc import Callable

from jaxtyping import Float
from torch import Tensor, nn

from nlmcore.checks import Size, checked
from nlmcore.norms import RMSNorm
from nlmcore.positions import Rotary


class QKNorm(nn.Module):
    """N, then the rotation of `inside`; a part `attention_positions`, called like `Rotary`."""

    @checked
    def __init__(
        self, n_heads: Size, d_head: Size, max_length: Size, causal: bool, *, inside: Callable[..., nn.Module] = Rotary
    ) -> None:
        super().__init__()
        self.norm = RMSNorm(d_head)
        self.inside = inside(n_heads, d_head, max_length, causal)
        if not hasattr(self.inside, "rotate"):
            raise TypeError(f"inside must rotate queries and keys, like Rotary, got {type(self.inside).__name__}")

    def rotate(
        self, x: Float[Tensor, "batch head time d_head"], first: int = 0
    ) -> Float[Tensor, "batch head time d_head"]:
        """Queries or keys of any number of heads, at positions first, first + 1, …"""
        return self.inside(self.norm(x), first)

    forward = rotate
