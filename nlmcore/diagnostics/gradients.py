"""How much does the loss at time T still feel of what happened at time t?

    ‖∂L_T/∂h_t‖   and   ‖∂L_T/∂x_t‖        for every t ≤ T
    ∂h_T/∂h_t = Π_{j=t+1..T} J_j,          J_j = ∂h_j/∂h_{j-1} one step's Jacobian
    ‖Π_j J_j‖ ≤ Π_j ‖J_j‖                  the bound of section 2.1

Pascanu, Mikolov & Bengio (2013), "On the difficulty of training recurrent neural networks", section 2: the product
vanishes or explodes exponentially in T − t. x_t is the input, for a language model the embedding of token t. A state of
several tensors (an LSTM's h and c) is one vector.

Norms of Jacobians are spectral. For a vanilla network J_j = diag(1 − h_j²) U: with ‖U‖ < 1 the gradient must vanish;
with ‖U‖ > 1 it may explode. Departs from the paper: nothing.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from nlmcore.checks import check_tokens, checked
from nlmcore.language_model import LanguageModel, State, evaluation_mode, leaves, map_leaves

Step = Callable[[Tensor, State], State]  # state_t = step(x_t, state_{t-1}), x_t (batch, features): a recurrent cell


@dataclass(frozen=True)
class GradientNorms:
    """Norms per text and time; column t is time t, the last column is the nearest to the loss."""

    state: Float[Tensor, "batch state_time"]  # ‖∂L_T/∂state_t‖, the state after input t
    input: Float[Tensor, "batch input_time"] | None  # ‖∂L_T/∂x_t‖; None where the model has no nn.Embedding to watch
    parts: tuple[Float[Tensor, "batch state_time"], ...]  # `state` for each of its tensors alone: an LSTM's h, then c


@checked
def gradient_norms(
    step: Step,
    inputs: Float[Tensor, "batch time features"],
    state: State = None,
    loss: Callable[[State], Tensor] | None = None,
) -> GradientNorms:
    """Run a cell over inputs and differentiate a loss of its last state.

    step: `state = step(x_t, state)`; state None is passed to it as it is. loss: from the last state to one number
    per text (batch,) or one for all; None is the sum of the last state's first tensor, h_T. Inputs must be finite.
    """
    _check_finite(inputs)
    read, states = [x.detach().requires_grad_() for x in inputs.unbind(1)], []
    with torch.enable_grad():
        for x in read:
            state = _separate(step(x, state))
            states.append(state)
        final = _tensors_of(state)[0].sum() if loss is None else loss(state).sum()
    return _norms(final, states, read)


def language_model_gradient_norms(
    model: LanguageModel, tokens: Tensor, at: int | None = None, state: State = None
) -> GradientNorms:
    """The loss of one prediction, −ln P(tokens[:, at + 1] | tokens[:, : at + 1]), differentiated through time.

    Works on every language model whose state is made of floats: the model reads one token at a time, without dropout.
    `at` is T, by default the last time that has a next token. Columns of `state` are times 0 … at − 1, those of `input`
    0 … at. Inputs are the outputs of the model's nn.Embedding. `state` is what has been read before: for a seq2seq
    model, `encode`'s result.

    Raises ValueError if `at` has no next token, or if the model's state cannot be differentiated.
    """
    check_tokens(tokens, model.vocab_size)
    at = tokens.shape[1] - 2 if at is None else at
    if not 1 <= at <= tokens.shape[1] - 2:
        raise ValueError(f"at must lie in [1, {tokens.shape[1] - 2}], to have a past and a next token, got {at}")
    seen: dict[nn.Module, list[Tensor]] = {}  # what each embedding gave, call by call
    embeddings = [m for m in model.modules() if isinstance(m, nn.Embedding)] if isinstance(model, nn.Module) else []
    hooks = [m.register_forward_hook(lambda m, _, output: seen.setdefault(m, []).append(output)) for m in embeddings]
    states: list[State] = []
    try:
        with torch.enable_grad(), evaluation_mode(model):
            for t in range(at + 1):
                logits, after = model(tokens[:, t : t + 1], state)
                state = _separate(after)
                states.append(state)
            loss = F.cross_entropy(logits[:, -1], tokens[:, at + 1].long(), reduction="sum")
    finally:
        for hook in hooks:
            hook.remove()
    return _norms(loss, states[:-1], next((outputs for outputs in seen.values() if len(outputs) == at + 1), None))


def _norms(loss: Tensor, states: list[State], inputs: list[Tensor] | None) -> GradientNorms:
    watched = [_tensors_of(state) for state in states]
    flat = [tensor for tensors in watched for tensor in tensors]
    if not flat or not all(tensor.requires_grad for tensor in flat):
        raise ValueError("the model's state has no tensor of floats that depends on what was read: no gradient to take")
    gradients = torch.autograd.grad(loss, flat + (inputs or []), allow_unused=True, materialize_grads=True)
    norms = [g.flatten(1).norm(dim=1) for g in gradients]
    n_parts = len(watched[0])
    parts = tuple(torch.stack(norms[k : len(flat) : n_parts], dim=1) for k in range(n_parts))
    return GradientNorms(
        state=torch.stack(parts).norm(dim=0),
        input=torch.stack(norms[len(flat) :], dim=1) if inputs else None,
        parts=parts,
    )


@dataclass(frozen=True)
class JacobianNorms:
    """Spectral norms per text and time."""

    steps: Float[Tensor, "batch time"]  # ‖∂s_t/∂s_{t-1}‖. The first column is the step into time 1: times 1 … T − 1
    products: Float[Tensor, "batch time"]  # ‖∂s_T/∂s_t‖, T the last of the inputs' states, for every t before it


@checked
def jacobian_norms(step: Step, inputs: Float[Tensor, "batch time features"], state: State = None) -> JacobianNorms:
    """Run a cell over at least two finite inputs, and take every step's Jacobian.

    Costs one backward pass per dimension of the state and step: meant for small networks.
    """
    _check_finite(inputs)
    if inputs.shape[1] < 2:
        raise ValueError(f"inputs must have at least two time steps, got shape {tuple(inputs.shape)}")
    with torch.no_grad():
        state = step(inputs[:, 0], state)
    jacobians = []
    for x in inputs.unbind(1)[1:]:
        jacobian, state = _step_jacobian(step, x.detach(), state)
        jacobians.append(jacobian)
    products = list(accumulate(reversed(jacobians), torch.matmul))  # J_T, J_T J_{T-1}, …
    return JacobianNorms(
        steps=torch.linalg.matrix_norm(torch.stack(jacobians, dim=1), ord=2),
        products=torch.linalg.matrix_norm(torch.stack(products[::-1], dim=1), ord=2),
    )


def _step_jacobian(step: Step, x: Tensor, state: State) -> tuple[Tensor, State]:
    """∂(new state)/∂state (batch, n, n), states flattened and joined, and the new state."""
    tensors = _tensors_of(state)
    before = torch.cat([tensor.detach().flatten(1) for tensor in tensors], dim=1).requires_grad_()
    parts = iter(before.split([tensor[0].numel() for tensor in tensors], dim=1))
    with torch.enable_grad():
        new = step(x, _map_tensors(lambda tensor: next(parts).reshape(tensor.shape), state))
        after = torch.cat([tensor.flatten(1) for tensor in _tensors_of(new)], dim=1)
    n = after.shape[1]
    each = torch.eye(n, dtype=after.dtype, device=after.device).unsqueeze(1).expand(n, *after.shape)
    (rows,) = torch.autograd.grad(after, before, each, is_grads_batched=True)  # (n, batch, n)
    return rows.transpose(0, 1), _map_tensors(Tensor.detach, new)


def _is_float(leaf: Any) -> bool:
    return isinstance(leaf, Tensor) and leaf.is_floating_point()


def _tensors_of(state: State) -> list[Tensor]:
    """Every tensor of floats in a state, in a fixed order (an LSTM's h before its c)."""
    return [leaf for leaf in leaves(state) if _is_float(leaf)]


def _map_tensors(function: Callable[[Tensor], Tensor], state: State) -> State:
    return map_leaves(lambda leaf: function(leaf) if _is_float(leaf) else leaf, state)


def _separate(state: State) -> State:
    """The same values, each tensor a separate node of autograd's graph.

    An LSTM's h_t is computed from its c_t, but as a state the pair is passed on, and ∂L/∂c_t must not count
    what flows through h_t a second time.
    """
    return _map_tensors(Tensor.clone, state)


def _check_finite(inputs: Tensor) -> None:
    if not inputs.numel():
        raise ValueError(f"inputs must hold at least one value, got shape {tuple(inputs.shape)}")
    if not inputs.isfinite().all():
        raise ValueError("inputs must be finite, got NaN or infinity among them")
