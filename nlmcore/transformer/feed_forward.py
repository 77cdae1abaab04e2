"""The position-wise feed-forward network of a Transformer layer, plain and gated.

    FFN(x) = W2 · φ(W1 x + b1) + b2               Vaswani et al. (2017), section 3.3, with φ = ReLU
    GLU(x) = W2 · (φ(W x + b) ⊙ (V x + c)) + b2   Shazeer (2020), "GLU variants improve Transformer", section 2

applied to every position alone. BERT and GPT use φ = GELU (Hendrycks & Gimpel 2016). The gated one is called GLU with
φ = sigmoid (Dauphin et al. 2017), ReGLU with ReLU, GEGLU with GELU, SwiGLU with Swish, bilinear with none.

Departs from the papers: the activation is a part that is handed in; W and V lie in one matrix, `inner`.
"""

from collections.abc import Callable

import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from nlmcore.checks import check_sizes, check_switches
from nlmcore.fast import Linear


def check_parts(d_model: object, d_ff: object, activation: object, bias: object) -> None:
    """Refuse sizes below 1 (ValueError) and what is no size, no function or no bool (TypeError)."""
    check_sizes(d_model=d_model, d_ff=d_ff)
    check_switches(bias=bias)
    if not callable(activation) or isinstance(activation, type):
        raise TypeError(f"activation must be a function of a tensor, like F.gelu or nn.GELU(), got {activation!r}")


class FeedForward(nn.Module):
    """W2 φ(W1 x + b1) + b2; x (batch, time, d_model), hidden width d_ff.

    Raises ValueError or TypeError for sizes below 1 or that are none, and for an activation that is no function.
    """

    def __init__(
        self, d_model: int, d_ff: int, activation: Callable[[Tensor], Tensor] = F.gelu, bias: bool = True
    ) -> None:
        super().__init__()
        check_parts(d_model, d_ff, activation, bias)
        self.inner = Linear(d_model, d_ff, bias=bias)
        self.outer = Linear(d_ff, d_model, bias=bias)
        self.activation = activation

    def forward(self, x: Float[Tensor, "batch time d_model"]) -> Float[Tensor, "batch time d_model"]:
        return self.outer(self.activation(self.inner(x)))


class GatedFeedForward(nn.Module):
    """W2 (φ(W x + b) ⊙ (V x + c)) + b2; `inner` holds W above V. Its hidden width is d_ff as given.

    At equal d_ff it has half as many parameters again as FeedForward; Shazeer (2020) compares at d_ff · 2/3.
    Raises as FeedForward does.
    """

    def __init__(
        self, d_model: int, d_ff: int, activation: Callable[[Tensor], Tensor] = F.silu, bias: bool = True
    ) -> None:
        super().__init__()
        check_parts(d_model, d_ff, activation, bias)
        self.inner = Linear(d_model, 2 * d_ff, bias=bias)
        self.outer = Linear(d_ff, d_model, bias=bias)
        self.activation = activation

    def forward(self, x: Float[Tensor, "batch time d_model"]) -> Float[Tensor, "batch time d_model"]:
        gate, content = self.inner(x).chunk(2, dim=-1)
        return self.outer(self.activation(gate) * content)
