"""Distillation: a small model, the student, is trained on the probabilities of a large one, the teacher.

    L = −T² · mean over positions of Σ_v p_v log q_v,    p = softmax(z_teacher / T),   q = softmax(z_student / T)

Source: Hinton, Vinyals & Dean (2015, "Distilling the Knowledge in a Neural Network", section 2). The gradient of a
cross-entropy at temperature T shrinks as 1/T²; the factor T² undoes it.

Departs from the paper: nothing. Its second term, the loss on the text itself, is `next_token_loss`; add it if you want.
"""

from jaxtyping import Float
from torch import Tensor

from nlmcore.checks import Positive, checked


@checked
def distillation_loss(
    student: Float[Tensor, "batch time vocab"], teacher: Float[Tensor, "batch time vocab"], temperature: Positive = 1.0
) -> Float[Tensor, ""]:
    """In nats per position at T = 1. Both are logits; the teacher's log-probabilities do as well."""
    p = (teacher / temperature).softmax(-1)
    return -(temperature**2) * (p * (student / temperature).log_softmax(-1)).sum(-1).mean()
