"""The factors of the vanishing gradient, one by one, and their product.

    J_j = ∂s_j/∂s_{j-1}                                 one step's Jacobian, s the whole state
    ‖Π_{j=t+1..T} J_j‖ ≤ Π_j ‖J_j‖                      the bound of Pascanu, Mikolov & Bengio (2013), section 2.1

Norms are spectral: the largest singular value, how much the most favoured direction is stretched. For a
vanilla network J_j = diag(1 − h_j²) U, so ‖J_j‖ ≤ ‖U‖: with ‖U‖ < 1 the gradient must vanish; with
‖U‖ > 1 it may explode.

Departs from the paper: nothing.
"""

import dataclasses

import torch
from jaxtyping import Float
from torch import Tensor

from nlmcore.diagnostics.states import Step, check_inputs, replace_tensors, tensors_of
from nlmcore.language_model import State


@dataclasses.dataclass(frozen=True)
class JacobianNorms:
    """Spectral norms per text and time."""

    steps: Float[Tensor, "batch time"]
    """‖∂s_t/∂s_{t-1}‖. The first column is the step into time 1: times 1 … T − 1."""
    products: Float[Tensor, "batch time"]
    """‖∂s_T/∂s_t‖ for t = 0 … T − 1 of the T inputs' states, the last one T − 1 itself left out."""


def jacobian_norms(step: Step, inputs: Tensor, state: State = None) -> JacobianNorms:
    """Run a cell over inputs (batch, time, features), at least two of them, and take every step's Jacobian.

    Costs one backward pass per number in the state and step: meant for small networks.

    Raises TypeError or ValueError for inputs that are not (batch, time, features) of finite floats, with two times.
    """
    check_inputs(inputs)
    if inputs.shape[1] < 2:
        raise ValueError(f"inputs must have at least two times, got shape {tuple(inputs.shape)}")
    with torch.no_grad():
        state = step(inputs[:, 0], state)
    jacobians = []
    for x in inputs.unbind(1)[1:]:
        jacobian, state = _step_jacobian(step, x.detach(), state)
        jacobians.append(jacobian)
    products, product = [], None
    for jacobian in reversed(jacobians):
        product = jacobian if product is None else product @ jacobian
        products.append(product)
    return JacobianNorms(
        steps=torch.stack([_spectral(j) for j in jacobians], dim=1),
        products=torch.stack([_spectral(p) for p in reversed(products)], dim=1),
    )


def _step_jacobian(step: Step, x: Tensor, state: State) -> tuple[Tensor, State]:
    """∂(new state)/∂state (batch, n, n), states flattened and joined, and the new state."""
    sizes = [tensor[0].numel() for tensor in tensors_of(state)]
    shapes = [tensor.shape for tensor in tensors_of(state)]
    before = torch.cat([tensor.detach().flatten(1) for tensor in tensors_of(state)], dim=1).requires_grad_()
    parts = [part.reshape(shape) for part, shape in zip(before.split(sizes, dim=1), shapes, strict=True)]
    with torch.enable_grad():
        new = step(x, replace_tensors(state, parts))
        after = torch.cat([tensor.flatten(1) for tensor in tensors_of(new)], dim=1)
    n = after.shape[1]
    each = torch.eye(n, dtype=after.dtype, device=after.device).unsqueeze(1).expand(n, *after.shape)
    (rows,) = torch.autograd.grad(after, before, each, is_grads_batched=True)  # (n, batch, n)
    return rows.transpose(0, 1), replace_tensors(new, [tensor.detach() for tensor in tensors_of(new)])


def _spectral(matrices: Tensor) -> Tensor:
    return torch.linalg.matrix_norm(matrices, ord=2)
