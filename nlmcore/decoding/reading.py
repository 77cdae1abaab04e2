"""How every algorithm asks a model for what comes next: in evaluation mode, without gradients, as log-probabilities.

`torch.no_grad`, not `inference_mode`: a buffer that a model builds at its first call (a table of positions)
would otherwise be an inference tensor, and the model could not be trained afterwards.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from nlmcore.language_model import LanguageModel, NeuralLanguageModel, State, evaluation_mode, shows_hidden


@torch.no_grad()
def read_every(
    model: LanguageModel, tokens: Int[Tensor, "batch time"], state: State
) -> tuple[Float[Tensor, "batch time vocab"], State]:
    """ln P(next token) after every position, and the state after the last one."""
    logits, state = ask(model, tokens, state)
    return log_probabilities(logits), state


@torch.no_grad()
def read(
    model: LanguageModel, tokens: Int[Tensor, "batch time"], state: State
) -> tuple[Float[Tensor, "batch vocab"], State]:
    """ln P(next token) after the last position only, and the state there.

    A model that shows its hidden vectors makes the logits of that position alone: 2,000 tokens of a vocabulary of
    49,152 would be 393 MB of them.
    """
    if tokens.shape[1] > 1 and shows_hidden(model):
        hidden, state = read_hidden(model, tokens, state)
        return log_probabilities(logits_of(model, hidden[:, -1:])[:, -1]), state
    logits, state = ask(model, tokens, state)
    return log_probabilities(logits[:, -1]), state


@torch.no_grad()
def state_after(model: LanguageModel, tokens: Int[Tensor, "batch time"], state: State) -> State:
    """The state alone: where the model shows its hidden vectors, no logits are made."""
    if shows_hidden(model):
        return read_hidden(model, tokens, state)[1]
    return ask(model, tokens, state)[1]


def read_hidden(
    model: NeuralLanguageModel, tokens: Tensor, state: State
) -> tuple[Float[Tensor, "batch time d_model"], State]:
    """model.hidden_states(tokens, state), refused if it is not one vector for every token and a state."""
    answer = in_evaluation_mode(model, model.hidden_states, tokens, state)
    if not isinstance(answer, tuple | list) or len(answer) != 2:
        raise TypeError(f"model.hidden_states must return (hidden, state), got {type(answer).__name__}")
    hidden = answer[0]
    if not isinstance(hidden, Tensor) or hidden.ndim != 3 or hidden.shape[:2] != tokens.shape:
        got = f"shape {tuple(hidden.shape)}" if isinstance(hidden, Tensor) else type(hidden).__name__
        raise ValueError(f"model.hidden_states must give vectors of shape {(*tokens.shape, 'd_model')}, got {got}")
    return hidden, answer[1]


def logits_of(model: NeuralLanguageModel, hidden: Tensor) -> Float[Tensor, "batch time vocab"]:
    """model.output(hidden), refused if it is not logits for every vector."""
    logits = in_evaluation_mode(model, model.output, hidden)
    check_logits(logits, hidden[..., 0], model.vocab_size)
    return logits


def ask(model: LanguageModel, tokens: Tensor, state: State) -> tuple[Tensor, State]:
    """model(tokens, state), refused if it is not logits for every token and a state."""
    answer = in_evaluation_mode(model, model, tokens, state)
    if not isinstance(answer, tuple | list) or len(answer) != 2:
        raise TypeError(f"model must return (logits, state), got {type(answer).__name__}")
    check_logits(answer[0], tokens, model.vocab_size)
    return answer[0], answer[1]


def check_logits(logits: object, tokens: Tensor, vocab_size: int) -> None:
    """One number for every token of the vocabulary after every token read; looks at the shape only."""
    allowed = (*tokens.shape, vocab_size)
    if not isinstance(logits, Tensor) or logits.shape != allowed:
        got = f"shape {tuple(logits.shape)}" if isinstance(logits, Tensor) else type(logits).__name__
        raise ValueError(f"model must give logits of shape (batch, time, vocab_size) = {allowed}, got {got}")


def log_probabilities(logits: Float[Tensor, "*batch vocab"]) -> Float[Tensor, "*batch vocab"]:
    """log_softmax, in at least single precision; refuses logits that give no distribution."""
    if logits.dtype in (torch.float16, torch.bfloat16):
        logits = logits.float()
    log_probs = logits.log_softmax(dim=-1)
    # One NaN or +inf, or nothing but -inf, makes the whole row NaN: looking at one column is enough.
    if log_probs[..., 0].isnan().any():
        raise ValueError("model gave logits that are no distribution (NaN, +inf, or all -inf); they must be finite")
    return log_probs


def in_evaluation_mode(model: LanguageModel, function, *arguments):
    """Call `function` with dropout off, then put every submodule back into the mode it was in.

    A text drawn with dropout on is almost always a forgotten `model.eval()`.
    """
    if not isinstance(model, nn.Module) or not model.training:
        return function(*arguments)
    with evaluation_mode(model):
        return function(*arguments)
