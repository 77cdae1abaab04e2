"""Teacher forcing: at every step the model reads the true token, and pays for the next one.

    L = - 1/N * sum over real targets of  ln P(w_{t+1} | w_1 ... w_t)            in nats

The loss of one sentence is the sum over its predictions; dividing by their number N makes learning rates
comparable. All positions are read in one call. Source: Williams & Zipser (1989) name it; lecture 9.
"""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn import functional as F

from nlmcore.language_model import LanguageModel, State, check_model, check_tokens


def teacher_forcing_loss(
    model: LanguageModel,
    tokens: Int[Tensor, "batch time"],
    targets: Int[Tensor, "batch time"] | None = None,
    *,
    mask: Bool[Tensor, "batch time"] | None = None,
    state: State = None,
    source: Int[Tensor, "batch source"] | None = None,
    source_mask: Bool[Tensor, "batch source"] | None = None,
) -> Float[Tensor, ""]:
    """Mean negative log-likelihood per predicted token.

    Without `targets`, every token of `tokens` but the first is predicted from those before it. With `targets`,
    `targets[b, t]` is what should follow `tokens[b, :t+1]`. `mask` has the shape of what is predicted from it:
    that of `tokens` (or of `targets`), True = a real token; padding must come after the real tokens.
    For a sequence-to-sequence model give `source`: the state is then `model.encode(source, source_mask)`, and
    `tokens` is the target sentence from <bos> to <eos>.
    """
    tokens, targets, mask = shift(model, tokens, targets, mask)
    logits, _ = answered(model, tokens, initial_state(model, state, source, source_mask))
    return mean_loss(logits, targets, mask)


def answered(model: LanguageModel, tokens: Tensor, state: State) -> tuple[Tensor, State]:
    """model(tokens, state). TypeError unless that is (logits, state): two rows of logits alone would unpack too."""
    answer = model(tokens, state)
    if not isinstance(answer, tuple | list) or len(answer) != 2 or not isinstance(answer[0], Tensor):
        got = f"a tensor of shape {tuple(answer.shape)}" if isinstance(answer, Tensor) else f"{answer!r:.60}"
        raise TypeError(
            f"model must answer (logits, state) to model(tokens, state), got {got} from {type(model).__name__};"
            " to train any other model give fit a loss, loss(model, batch) -> tensor"
        )
    return answer[0], answer[1]


def next_token_loss(logits: Tensor, targets: Tensor, mask: Tensor | None = None) -> Float[Tensor, ""]:
    """-1/N sum ln softmax(logits)[target] over the targets whose mask is True.

    `logits` is (batch, time, vocab); `targets`, ids below vocab, and the boolean `mask` are (batch, time).
    """
    if not isinstance(logits, Tensor) or logits.ndim != 3 or not logits.is_floating_point():
        got = f"a {logits.dtype} tensor of shape {tuple(logits.shape)}" if isinstance(logits, Tensor) else repr(logits)
        raise TypeError(f"logits must be a floating-point tensor (batch, time, vocab), got {got:.80}")
    check_tokens(targets, logits.shape[-1], "targets")
    check_mask(mask, targets, "mask", "targets'")
    check_any(mask)
    return mean_loss(logits, targets, mask)


def mean_loss(logits: Tensor, targets: Tensor, mask: Tensor | None) -> Tensor:
    """`next_token_loss` of targets and a mask that were checked: looks at shapes only, and waits for no device."""
    if logits.ndim != 3 or logits.shape[:2] != targets.shape:
        raise ValueError(
            f"logits must be (batch, time, vocab) with the batch and time {tuple(targets.shape)} of targets,"
            f" got shape {tuple(logits.shape)}"
        )
    wanted = targets.long()
    if mask is not None:
        wanted = wanted.masked_fill(~mask, -100)  # cross_entropy's own sign for "not counted"
    return F.cross_entropy(logits.flatten(0, 1), wanted.flatten(), ignore_index=-100)


def shift(
    model: LanguageModel, tokens: Tensor, targets: Tensor | None, mask: Tensor | None
) -> tuple[Tensor, Tensor, Tensor | None]:
    """What is read, what is predicted, and which predictions count, all (batch, time); arguments are checked."""
    check_model(model)
    check_tokens(tokens, model.vocab_size)
    if targets is not None:
        check_tokens(targets, model.vocab_size, "targets")
        if targets.shape != tokens.shape:
            raise ValueError(f"targets must have tokens' shape {tuple(tokens.shape)}, got {tuple(targets.shape)}")
    elif tokens.shape[1] < 2:
        raise ValueError(f"tokens must hold a token to read and one to predict, got shape {tuple(tokens.shape)}")
    check_mask(mask, tokens, "mask")
    if targets is None:
        tokens, targets, mask = tokens[:, :-1], tokens[:, 1:], None if mask is None else mask[:, 1:]
    check_any(mask)
    return tokens, targets, mask


def initial_state(model: LanguageModel, state: State, source: Tensor | None, source_mask: Tensor | None) -> State:
    """The state to read from: the one given, or what the model's encoder makes of `source`."""
    if source is None:
        if source_mask is not None:
            raise ValueError("source_mask must come with source, got a source_mask alone")
        return state
    if state is not None:
        raise ValueError("state and source exclude each other: the source's encoding is the state; got both")
    if not hasattr(model, "encode"):
        raise TypeError(f"source needs a model with an encode method, got {type(model).__name__}")
    check_mask(source_mask, source, "source_mask")
    return model.encode(source, source_mask)


def check_any(mask: Tensor | None) -> None:
    """A mean over nothing is no number."""
    if mask is not None and not mask.any():
        raise ValueError("mask must be True for at least one target, got none")


def check_mask(mask: object, tokens: Tensor, name: str, whose: str = "the tokens'") -> None:
    """A boolean tensor of exactly the shape of `tokens`, or None."""
    if mask is None:
        return
    if not isinstance(mask, Tensor) or mask.dtype != torch.bool:
        got = f"a {mask.dtype} tensor" if isinstance(mask, Tensor) else type(mask).__name__
        raise TypeError(f"{name} must be a boolean tensor, True = a real token, got {got}")
    if mask.shape != tokens.shape:
        raise ValueError(f"{name} must have {whose} shape {tuple(tokens.shape)}, got {tuple(mask.shape)}")
