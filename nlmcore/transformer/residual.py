"""The rule around a sublayer f: what it reads of the residual pathway x, and how its result y joins it.

    pre-norm    y = f(LN(x)),   x ← x + y            Xiong et al. (2020), GPT-2 and later
    post-norm   y = f(x),       x ← LN(x + y)        Vaswani et al. (2017), section 3.1

`before(x)` is what f reads; `after(x, y)` is the new x. Any module with these two is a rule: `nlmcore.variants` has
more (ReZero, Fixup). Dropout is applied to y, as in 2017, section 5.4.

Departs from the papers: nothing.
"""

from jaxtyping import Float
from torch import Tensor, nn


class PreNorm(nn.Module):
    """x + f(norm(x)): the pathway from the last layer to the first is a sum, and no norm stands in it."""

    def __init__(self, norm: nn.Module, dropout: float | int = 0.0) -> None:
        super().__init__()
        self.norm, self.dropout = norm, nn.Dropout(dropout)

    def before(self, x: Float[Tensor, "batch time d_model"]) -> Float[Tensor, "batch time d_model"]:
        return self.norm(x)

    def after(
        self, x: Float[Tensor, "batch time d_model"], y: Float[Tensor, "batch time d_model"]
    ) -> Float[Tensor, "batch time d_model"]:
        return x + self.dropout(y)


class PostNorm(nn.Module):
    """norm(x + f(x)): as published; deep stacks need a warm-up of the learning rate."""

    def __init__(self, norm: nn.Module, dropout: float | int = 0.0) -> None:
        super().__init__()
        self.norm, self.dropout = norm, nn.Dropout(dropout)

    def before(self, x: Float[Tensor, "batch time d_model"]) -> Float[Tensor, "batch time d_model"]:
        return x

    def after(
        self, x: Float[Tensor, "batch time d_model"], y: Float[Tensor, "batch time d_model"]
    ) -> Float[Tensor, "batch time d_model"]:
        return self.norm(x + self.dropout(y))
