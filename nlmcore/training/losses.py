"""Teacher forcing: at every step the model reads the true token and predicts the next one.

    L = - 1/N * sum over real targets of  ln P(w_{t+1} | w_1 ... w_t)            in nats

The loss of one sentence is the sum over its predictions; dividing by their number N makes learning rates
comparable. All positions are read in one call. Source: Williams & Zipser (1989) name it; lecture 9.

A text without a real token (its row of the mask is all False) adds nothing to the sum and nothing to N, here and in
`nlmcore.metrics`. A mean over no target at all is not a number, so it is refused with ValueError.
"""

from typing import NamedTuple

from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn import functional as F

from nlmcore.checks import door
from nlmcore.language_model import LanguageModel, State, ask, check_model, check_tokens

ADVICE = "; to train any other model give fit a loss, loss(model, batch) -> tensor"


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
    `targets[b, t]` is what should follow `tokens[b, :t+1]`. `mask` has the shape of `tokens` (or of `targets`),
    True = a real token; padding must come after the real tokens.
    For a sequence-to-sequence model give `source`: the state is then `model.encode(source, source_mask)`, and
    `tokens` is the target sentence from <bos> to <eos>.
    """
    return read(model, *prepare(model, tokens, targets, mask, state, source, source_mask)).loss


@door
def next_token_loss(
    logits: Float[Tensor, "batch time vocab"],
    targets: Int[Tensor, "batch time"],
    mask: Bool[Tensor, "batch time"] | None = None,
) -> Float[Tensor, ""]:
    """-1/N sum ln softmax(logits)[target] over the targets whose mask is True; targets are ids below vocab."""
    check_tokens(targets, logits.shape[-1], "targets")
    check_any(mask)
    return mean_loss(logits, targets, mask)


def mean_loss(logits: Tensor, targets: Tensor, mask: Tensor | None) -> Tensor:
    """`next_token_loss` of arguments that were checked; waits for no device."""
    wanted = targets.long()
    if mask is not None:
        wanted = wanted.masked_fill(~mask, -100)  # cross_entropy's own sign for "not counted"
    return F.cross_entropy(logits.flatten(0, 1), wanted.flatten(), ignore_index=-100)


class Piece(NamedTuple):
    """One stretch of text that was read, ready for `loss.backward()`."""

    loss: Tensor
    """Mean negative log-likelihood of its predictions, in nats."""
    predictions: int
    """How many real tokens that is the mean of: the weight of this piece in an average over the text."""
    state: State
    """What the model remembers at its end."""


def read(model: LanguageModel, inputs: Tensor, targets: Tensor, mask: Tensor | None, state: State) -> Piece:
    """Read `inputs` and predict `targets`, of arguments that were checked."""
    logits, state = ask(model, inputs, state, ADVICE)
    return Piece(mean_loss(logits, targets, mask), targets.numel() if mask is None else int(mask.sum()), state)


@door
def prepare(
    model: LanguageModel,
    tokens: Int[Tensor, "batch time"],
    targets: Int[Tensor, "batch time"] | None = None,
    mask: Bool[Tensor, "batch time"] | None = None,
    state: State = None,
    source: Int[Tensor, "batch source"] | None = None,
    source_mask: Bool[Tensor, "batch source"] | None = None,
) -> tuple[Tensor, Tensor, Tensor | None, State]:
    """Inputs, targets and loss mask, each (batch, time), and the state to read from: `state`, or `source` encoded."""
    check_model(model)
    check_tokens(tokens, model.vocab_size)
    if targets is not None:
        check_tokens(targets, model.vocab_size, "targets")
    elif tokens.shape[1] < 2:
        raise ValueError(f"tokens must hold a token to read and one to predict, got shape {tuple(tokens.shape)}")
    else:
        tokens, targets, mask = tokens[:, :-1], tokens[:, 1:], None if mask is None else mask[:, 1:]
    check_any(mask)
    if source is None:
        if source_mask is not None:
            raise ValueError("source_mask must come with source, got only a source_mask")
        return tokens, targets, mask, state
    if state is not None:
        raise ValueError("state and source exclude each other: the source's encoding is the state; got both")
    if not hasattr(model, "encode"):
        raise TypeError(f"source needs a model with an encode method, got {type(model).__name__}")
    return tokens, targets, mask, model.encode(source, source_mask)


def check_any(mask: Tensor | None) -> None:
    """A mean over nothing is not a number."""
    if mask is not None and not mask.any():
        raise ValueError("mask must be True for at least one target, got none")
