"""How every algorithm asks a model what comes next: a checked request, evaluation mode, log-probabilities.

Algorithms run under `torch.no_grad`, not `inference_mode`: a table that a model builds at its first call must serve
training too.
"""

import math
from typing import Annotated, SupportsIndex

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from nlmcore.checks import check_tokens, described
from nlmcore.language_model import (
    LanguageModel,
    NeuralLanguageModel,
    State,
    call_model,
    check_id,
    check_logits,
    check_model,
    context_length,
    evaluation_mode,
    leaves,
    select,
    shows_hidden,
)

# A rectangle: every model reads (batch, time), and no mask says where a shorter prompt would end.
Prompt = Annotated[Int[Tensor, "batch time"], "prompts of different lengths are decoded in one call per length"]


def check_request(
    model: LanguageModel,
    prompt: Tensor,
    eos: SupportsIndex | None,
    state: State,
    max_new_tokens: int = 0,
    name: str = "model",
) -> tuple[Tensor, int | None]:
    """The prompt as int64, and eos as an int or None, after checking what all algorithms share.

    Without an `eos` it is known now whether the model's positions will do; with one, the text may end before them.
    """
    check_model(model, name)
    check_tokens(prompt, model.vocab_size, "prompt")
    end = check_id(eos, model.vocab_size, "eos")
    # The first tensor speaks for all: its first dimension is the batch.
    rows = next((len(leaf) for leaf in leaves(state) if isinstance(leaf, Tensor) and leaf.ndim), len(prompt))
    if rows != len(prompt):
        raise ValueError(f"state remembers {rows} texts but prompt has {len(prompt)}; both need the same batch")
    limit, read = context_length(model), getattr(state, "position", 0) + prompt.shape[1]
    # The last token is written and not read.
    if end is None and limit is not None and read + max_new_tokens - 1 > limit and max_new_tokens:
        raise ValueError(
            f"max_new_tokens must be at most {max(0, limit - read + 1)} after {read} tokens, got {max_new_tokens}: this"
            f' model knows {limit} positions. `greedy`, `sample` and `stream` write on with window="slide"'
        )
    return prompt.long(), end


def check_length_penalty(length_penalty: float | int, max_new_tokens: int) -> None:
    """Finite, and small enough that length ** length_penalty is a floating-point number."""
    if not abs(length_penalty) * math.log(max(max_new_tokens, 2)) <= 700:
        raise ValueError(
            f"length_penalty must keep {max_new_tokens} ** length_penalty a finite number, got {length_penalty}"
        )


def next_log_probs(
    model: LanguageModel, tokens: Int[Tensor, "batch time"], state: State
) -> tuple[Float[Tensor, "batch vocab"], State]:
    """ln P(next token) after the last position only, and the state there.

    Where the model shows its hidden vectors, no other logits are computed: those of 2,000 tokens may be 400 MB.
    """
    if tokens.shape[1] > 1 and shows_hidden(model):
        hidden, state = hidden_states(model, tokens, state)
        return log_probabilities(logits_of(model, hidden[:, -1:])[:, -1]), state
    logits, state = in_evaluation_mode(model, call_model, model, tokens, state)
    return log_probabilities(logits[:, -1]), state


def prefill(
    model: LanguageModel, tokens: Int[Tensor, "batch time"], state: State
) -> tuple[Float[Tensor, "batch time vocab"], State]:
    """ln P(next token) after every position, and the state after the last one."""
    logits, state = in_evaluation_mode(model, call_model, model, tokens, state)
    return log_probabilities(logits), state


def all_but_last(model: LanguageModel, prompt: Int[Tensor, "batch time"], state: State) -> tuple[Tensor, State]:
    """Read a prompt up to its last token: (that token, the state before it).

    Where the model shows its hidden vectors, no logits are computed.
    """
    if prompt.shape[1] > 1 and shows_hidden(model):
        _, state = hidden_states(model, prompt[:, :-1], state)
    elif prompt.shape[1] > 1:
        _, state = in_evaluation_mode(model, call_model, model, prompt[:, :-1], state)
    return prompt[:, -1:], state


def copies(model: LanguageModel, prompt: Int[Tensor, "batch time"], state: State, n: int) -> tuple[Tensor, State]:
    """`n` copies of each prompt side by side; all but the last token are read once for all copies."""
    last, state = all_but_last(model, prompt, state)
    rows = torch.arange(len(prompt), device=prompt.device).repeat_interleave(n)
    return last[rows], select(state, rows)


def hidden_states(
    model: NeuralLanguageModel, tokens: Tensor, state: State
) -> tuple[Float[Tensor, "batch time d_model"], State]:
    """model.hidden_states(tokens, state), refused if it is not one vector for every token and a state."""
    answer = in_evaluation_mode(model, model.hidden_states, tokens, state)
    if not isinstance(answer, tuple | list) or len(answer) != 2:
        raise TypeError(f"model.hidden_states must return (hidden, state), got {type(answer).__name__}")
    hidden = answer[0]
    if not isinstance(hidden, Tensor) or hidden.ndim != 3 or hidden.shape[:2] != tokens.shape:
        shape = (*tokens.shape, "d_model")
        raise ValueError(f"model.hidden_states must give vectors of shape {shape}, got {described(hidden)}")
    return hidden, answer[1]


def logits_of(model: NeuralLanguageModel, hidden: Tensor) -> Float[Tensor, "batch time vocab"]:
    """model.output(hidden), refused if it is not logits for every vector."""
    logits = in_evaluation_mode(model, model.output, hidden)
    check_logits(logits, hidden[..., 0], model.vocab_size)
    return logits


def log_probabilities(logits: Float[Tensor, "*batch vocab"]) -> Float[Tensor, "*batch vocab"]:
    """log_softmax, in at least single precision; refuses logits that give no distribution."""
    if logits.dtype in (torch.float16, torch.bfloat16):
        logits = logits.float()
    log_probs = logits.log_softmax(dim=-1)
    # One NaN or +inf, or nothing but -inf, makes the whole row NaN, so one column of it tells.
    if math.isnan(log_probs[..., 0].sum().item()):
        raise ValueError("model gave logits that are no distribution (NaN, +inf, or all -inf); they must be finite")
    return log_probs


def in_evaluation_mode(model: LanguageModel, function, *arguments):
    """function(*arguments) with dropout off: a text sampled with dropout on is almost always a forgotten eval()."""
    if not isinstance(model, nn.Module) or not model.training:
        return function(*arguments)
    with evaluation_mode(model):
        return function(*arguments)
