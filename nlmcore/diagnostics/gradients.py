"""How much does the loss at time T still feel of what happened at time t?

    ‖∂L_T/∂h_t‖   and   ‖∂L_T/∂x_t‖        for every t ≤ T
    ∂h_T/∂h_t = Π_{j=t+1..T} ∂h_j/∂h_{j-1}

Pascanu, Mikolov & Bengio (2013), "On the difficulty of training recurrent neural networks", section 2: the
product vanishes or explodes exponentially in T − t. Here it is measured, not bounded: autograd gives the
gradient itself, for any cell, any depth and any initialisation. x_t is the input, for a language model the
embedding of token t. A state of several tensors (an LSTM's h and c) is one vector; `parts` has each alone.

Departs from the paper: nothing.
"""

import dataclasses
from collections.abc import Callable

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from nlmcore.diagnostics.states import Step, check_inputs, separate, tensors_of
from nlmcore.language_model import LanguageModel, State, check_tokens


@dataclasses.dataclass(frozen=True)
class GradientNorms:
    """Norms per text and time; column t is time t, the last column is the nearest to the loss."""

    state: Float[Tensor, "batch state_time"]
    """‖∂L_T/∂state_t‖, the state after input t."""
    input: Float[Tensor, "batch input_time"] | None
    """‖∂L_T/∂x_t‖; None where the model has no embedding whose output could be watched."""
    parts: tuple[Float[Tensor, "batch state_time"], ...]
    """The same as `state` for each tensor of the state alone: for an LSTM h, then c."""


def gradient_norms(
    step: Step, inputs: Tensor, state: State = None, loss: Callable[[State], Tensor] | None = None
) -> GradientNorms:
    """Run a cell over inputs (batch, time, features) and differentiate a loss of its last state.

    step: `state = step(x_t, state)`; state None is handed to it as it is. loss: from the last state to one number
    per text (batch,) or one for all; None is the sum of the last state's first tensor, h_T.

    Raises TypeError or ValueError for inputs that are not (batch, time, features) of finite floats.
    """
    check_inputs(inputs)
    read = [x.detach().requires_grad_() for x in inputs.unbind(1)]
    states: list[State] = []
    with torch.enable_grad():
        for x in read:
            state = separate(step(x, state))
            states.append(state)
        final = tensors_of(state)[0].sum() if loss is None else loss(state).sum()
    return _norms(final, states, read)


def language_model_gradient_norms(
    model: LanguageModel, tokens: Tensor, at: int | None = None, state: State = None
) -> GradientNorms:
    """The loss of one prediction, −ln P(tokens[:, at + 1] | tokens[:, : at + 1]), differentiated through time.

    Works on every language model whose state is made of floats: it is read one token at a time, and its states
    are what is differentiated. `at` is T, by default the last time that has a next token. The columns of
    `state` are times 0 … at − 1 (the prediction is made from the state before and token `at`), those of
    `input` times 0 … at. Inputs are the outputs of the model's nn.Embedding. Dropout is off meanwhile.
    `state` is what has been read before: for a seq2seq model what `encode` gave.

    Raises ValueError if `at` has no next token, or if the model's state cannot be differentiated.
    """
    check_tokens(tokens, model.vocab_size)
    at = tokens.shape[1] - 2 if at is None else at
    if not 1 <= at <= tokens.shape[1] - 2:
        raise ValueError(
            f"at must lie in [1, {tokens.shape[1] - 2}], so that there is a past and a next token, got {at}"
        )
    seen: dict[nn.Module, list[Tensor]] = {}  # what each embedding gave, call by call
    embeddings = [m for m in model.modules() if isinstance(m, nn.Embedding)] if isinstance(model, nn.Module) else []
    hooks = [m.register_forward_hook(lambda m, _, output: seen.setdefault(m, []).append(output)) for m in embeddings]
    training = isinstance(model, nn.Module) and model.training
    states: list[State] = []
    try:
        if isinstance(model, nn.Module):
            model.eval()
        with torch.enable_grad():
            for t in range(at + 1):
                logits, after = model(tokens[:, t : t + 1], state)
                state = separate(after)
                states.append(state)
            loss = F.cross_entropy(logits[:, -1], tokens[:, at + 1].long(), reduction="sum")
    finally:
        for hook in hooks:
            hook.remove()
        if isinstance(model, nn.Module):
            model.train(training)
    return _norms(loss, states[:-1], next((outputs for outputs in seen.values() if len(outputs) == at + 1), None))


def _norms(loss: Tensor, states: list[State], inputs: list[Tensor] | None) -> GradientNorms:
    watched = [tensors_of(state) for state in states]
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
