"""Attention in every layer of a convolutional decoder.

Source: Gehring, Auli, Grangier, Yarats & Dauphin (2017), "Convolutional sequence to sequence learning",
sections 3.3 and 3.4.

    d_i = W_d h_i + b_d + g_i                 the layer's state and the word just read ask             (1)
    α_ij = softmax_j(d_i · z_j)               the encoder's outputs answer
    c_i = √m Σ_j α_ij (z_j + e_j)             and give themselves, together with their words           (2)

Symbols: W_d, b_d are `query`; h is `hidden`, g is `embedded`, z is `keys`, z + e is `values`; m is the number of
real source tokens: an average over m shrinks the variance up to m times, and √m (the paper's m√(1/m)) makes
up for it.

"Multi-step": the next layer asks again, knowing what this one has fetched.

Departs from the paper: d_i is scaled by √½, as in the authors' code.
"""

from collections.abc import Callable

from jaxtyping import Float
from torch import Tensor, nn

from nlmcore.attention import attend, dot_score
from nlmcore.convolutional.checks import check_batch, check_options
from nlmcore.convolutional.conv_encoder import HALF


class MultiStepAttention(nn.Module):
    """The context c of every decoder position. Hands its weights (batch, 1, query, key) to `recorder`, if set."""

    def __init__(self, d_model: int) -> None:
        super().__init__()
        check_options(d_model=d_model)
        self.query = nn.Linear(d_model, d_model)
        self.recorder: Callable[[Tensor], None] | None = None  # set by nlmcore.inspect.capture

    def forward(
        self,
        hidden: Tensor,
        embedded: Tensor,
        keys: Tensor,
        values: Tensor,
        mask: Tensor,
    ) -> Float[Tensor, "batch query d_model"]:
        """hidden and embedded (batch, query, d_model), keys and values (batch, key, d_model), mask (batch, key).

        Raises ValueError for shapes that do not fit one another, TypeError for a mask that is not boolean.
        """
        for name, part, like in (("embedded", embedded, hidden), ("values", values, keys)):
            if part.shape != like.shape:
                raise ValueError(f"{name} must be of shape {tuple(like.shape)}, got {tuple(part.shape)}")
        check_batch(len(hidden), keys=keys, mask=mask)
        d = HALF * (self.query(hidden) + embedded)
        c, weights = attend(dot_score(d, keys), values, mask.unsqueeze(1))  # one mask for all queries
        if self.recorder is not None:
            self.recorder(weights.unsqueeze(1))  # one head
        m = mask.sum(dim=1).to(c.dtype)
        return c * m.sqrt()[:, None, None]
