"""A convolution over time followed by a gated linear unit, and what makes it causal.

Source: Dauphin, Fan, Auli & Grangier (2017), "Language modeling with gated convolutional networks", section 2;
Gehring et al. (2017), "Convolutional sequence to sequence learning", sections 3.2 and 3.5.

    [A; B]_t = W [x_{t-(k-1)δ}; …; x_{t-δ}; x_t] + b         k inputs, δ apart, give 2d values
    GLU([A; B]) = A ⊙ σ(B)                                   d of them; the other d are their gates

Symbols: k is kernel_size, d is d_model, δ is the dilation (1 in both papers). Dauphin's X∗W + b and X∗V + c are one
convolution with 2d outputs here, as in Gehring. The linear path A lets gradients through unscaled wherever its gate is
open; a gated tanh would shrink them.

Departs from the papers: no weight normalisation.
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from nlmcore.checks import Rate, Size, door


def gated_linear_unit(x: Float[Tensor, "*batch twice"]) -> Float[Tensor, "*batch half"]:
    """GLU([A; B]) = A ⊙ σ(B): the first half of the last dimension (even), gated by the second."""
    if x.shape[-1] % 2:
        raise ValueError(f"x must have an even last dimension, values and their gates, got shape {tuple(x.shape)}")
    A, B = x.chunk(2, dim=-1)
    return A * torch.sigmoid(B)


def causal_inputs(
    x: Float[Tensor, "batch time d_model"], past: Float[Tensor, "batch past d_model"]
) -> tuple[Float[Tensor, "batch past_and_time d_model"], Float[Tensor, "batch past d_model"]]:
    """Put the past in front of x; return that, and the inputs to keep for the next piece of text.

    With a past of (k-1)δ inputs, zeros at first, a convolution gives one output per step of x that sees no later step.
    """
    inputs = torch.cat([past, x], dim=1)
    return inputs, inputs[:, inputs.shape[1] - past.shape[1] :].clone()


class GatedConvolution(nn.Module):
    """GLU(W [window] + b): (batch, (k-1)δ + time, d_model) -> (batch, time, d_model); the caller pads.

    A convolution over time is one linear map applied to every window of k inputs; as a matrix product it is also faster
    on a CPU than nn.Conv1d. Weights start as N(0, √(4p/n)) with n = k·d_model inputs and p the fraction that dropout
    keeps, because a half-open gate lets a quarter of the variance through (Gehring et al., section 3.5).
    """

    @door
    def __init__(self, d_model: Size, kernel_size: Size, dilation: Size = 1, dropout: Rate = 0.0) -> None:
        super().__init__()
        self.kernel_size, self.dilation, self.dropout = kernel_size, dilation, dropout
        self.linear = nn.Linear(kernel_size * d_model, 2 * d_model)  # the oldest input's columns first
        nn.init.normal_(self.linear.weight, std=(4 * (1 - dropout) / (kernel_size * d_model)) ** 0.5)
        nn.init.zeros_(self.linear.bias)

    def forward(self, x: Tensor) -> Float[Tensor, "batch time d_model"]:
        """Raises ValueError for another shape, or an x that is shorter than one window."""
        d_model, past = self.linear.out_features // 2, (self.kernel_size - 1) * self.dilation
        if x.ndim != 3 or x.shape[2] != d_model or x.shape[1] <= past:
            raise ValueError(
                f"x must be (batch, more than (kernel_size-1)·dilation = {past}, d_model = {d_model}),"
                f" got shape {tuple(x.shape)}"
            )
        x = F.dropout(x, self.dropout, self.training)
        time = x.shape[1] - past
        starts = [j * self.dilation for j in range(self.kernel_size)]
        windows = torch.cat([x[:, start : start + time] for start in starts], dim=-1)  # (batch, time, k · d_model)
        return gated_linear_unit(self.linear(windows))
