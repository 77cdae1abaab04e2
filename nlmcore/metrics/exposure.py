"""How well does a model know a secret that it may have been trained on?

    exposure(s) = log₂ |R| − log₂ rank(s),     rank(s) = 1 + the number of r in R with log P(r) > log P(s)

Source: Carlini et al. (2019), "The Secret Sharer", section 4. R are the secrets that could have been chosen, s among
them. For a secret that was not in the text the rank is uniform, so its mean exposure is about log₂ e = 1.4 bits. The
largest exposure is log₂ |R|. Departs from the paper: R is a random sample of the possible secrets, with s added;
equal probabilities share the mean of their ranks.
"""

import math

from jaxtyping import Float
from torch import Tensor

from nlmcore.checks import Count, checked


@checked
def secret_rank(log_p: Float[Tensor, " candidate"], secret: Count) -> float:
    """From 1, the most probable. secret: its index among the candidates. Raises ValueError if there is none with it."""
    if secret >= len(log_p):
        raise ValueError(f"secret must be the index of a candidate, below {len(log_p)}, got {secret}")
    higher, equal = (log_p > log_p[secret]).sum(), (log_p == log_p[secret]).sum()
    return float(higher) + (float(equal) + 1) / 2


def exposure(log_p: Float[Tensor, " candidate"], secret: int) -> float:
    """In bits, from 0 to log₂ of the number of candidates."""
    return math.log2(len(log_p)) - math.log2(secret_rank(log_p, secret))
