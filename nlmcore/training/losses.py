"""From a batch to its loss. Teacher forcing: at every step the model reads the true token and predicts the next one.

    L = - 1/N * sum over real targets of  ln P(w_{t+1} | w_1 ... w_t)            in nats

Source: Williams & Zipser (1989) name it.

A text without a real token (its row of the mask is all False) adds nothing to the sum and nothing to N, here and in
`nlmcore.metrics`. A mean over no target at all is not a number, so it is refused with ValueError.

A batch that `fit` and `evaluate` understand by themselves is
  a tensor (batch, time)                    every token but the first is predicted
  a tuple (tokens, targets) or (tokens, targets, mask)
  a dictionary, dataclass or named tuple    whose fields are arguments of `teacher_forcing_loss`:
                                            tokens, targets, mask, source, source_mask
For anything else, and for any other objective, a `loss` function says what to minimise.

**Distillation**: a small model, the student, is trained on the probabilities of a large one, the teacher.

    L = −T² · mean over positions of Σ_v p_v log q_v,    p = softmax(z_teacher / T),   q = softmax(z_student / T)

Source: Hinton, Vinyals & Dean (2015, "Distilling the Knowledge in a Neural Network", section 2). Departs from the
paper: nothing. Its second term, the loss on the text itself, is `next_token_loss`; add it if you want.

**Truncated backpropagation through time**: a long text in pieces, its state carried over, its gradient cut.

    for piece in truncated_backpropagation(model, tokens, length=20):
        optimizer.zero_grad()
        piece.loss.backward()          # reaches back to the start of the piece, no further
        optimizer.step()

Forward, the values are those of reading the whole text (the chunking law); backward, the product of Jacobians dh_t/dh_k
stops at the cut. Source: Williams & Peng (1990); in language models Mikolov et al. (2010). Departs from the papers:
pieces do not overlap (their k1 = k2 = length).
"""

import dataclasses
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from nlmcore.checks import Positive, Size, check_tokens, checked
from nlmcore.language_model import LanguageModel, State, call_model, check_model, evaluation_mode, map_leaves

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
    True = a real token; padding must come after the real tokens. For a sequence-to-sequence model give `source`: the
    state is then `model.encode(source, source_mask)`, and `tokens` is the target from <bos> to <eos>.
    """
    return read(model, *prepare(model, tokens, targets, mask, state, source, source_mask)).loss


@checked
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
    # (batch · time, vocab) and (batch · time): the mean over all targets that count, whichever text they are of.
    return F.cross_entropy(logits.flatten(0, 1), wanted.flatten(), ignore_index=-100)


@checked
def distillation_loss(
    student: Float[Tensor, "batch time vocab"], teacher: Float[Tensor, "batch time vocab"], temperature: Positive = 1.0
) -> Float[Tensor, ""]:
    """In nats per position at T = 1. Both are logits; the teacher's log-probabilities do as well."""
    p = (teacher / temperature).softmax(-1)
    return -(temperature**2) * (p * (student / temperature).log_softmax(-1)).sum(-1).mean()


class Piece(NamedTuple):
    """One stretch of text that was read, ready for `loss.backward()`.

    `loss` is the mean negative log-likelihood of its predictions, in nats; `predictions` is their number, the weight
    of the piece in an average over the text; `state` is what the model remembers at its end.
    """

    loss: Tensor
    predictions: int
    state: State


def read(model: LanguageModel, inputs: Tensor, targets: Tensor, mask: Tensor | None, state: State) -> Piece:
    """Read `inputs` and predict `targets`, of arguments that were checked."""
    logits, state = call_model(model, inputs, state, ADVICE)
    return Piece(mean_loss(logits, targets, mask), targets.numel() if mask is None else int(mask.sum()), state)


@checked
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
        # Each token is the target of those before it; the mask says which targets are real.
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


def detach(state: State) -> State:
    """The same values, but no gradient flows through them into the past."""
    return map_leaves(lambda leaf: leaf.detach() if isinstance(leaf, Tensor) else leaf, state)


@checked
def truncated_backpropagation(
    model: LanguageModel,
    tokens: Int[Tensor, "batch time"],
    length: Size,
    targets: Int[Tensor, "batch time"] | None = None,
    *,
    mask: Bool[Tensor, "batch time"] | None = None,
    state: State = None,
) -> Iterator[Piece]:
    """Read `tokens` in pieces of `length` predictions (the last may be shorter); each ends in a state without a past.

    `tokens`, `targets` and `mask` as in `teacher_forcing_loss`; pieces without a real target are read, not
    yielded. `state` is where to begin; it is cut as well. Arguments are checked immediately, not at the first piece.
    """
    # Outside the generator below, whose body would run only when the first piece is asked for.
    inputs, targets, mask, state = prepare(model, tokens, targets, mask, detach(state))

    def pieces(state: State) -> Iterator[Piece]:
        for start in range(0, inputs.shape[1], length):
            # The state is cut between two pieces: its values go on, the graph behind it is freed.
            here = slice(start, start + length)
            piece = read(model, inputs[:, here], targets[:, here], None if mask is None else mask[:, here], state)
            state = detach(piece.state)
            if piece.predictions:  # a mean over no target is not a number; its tokens were read all the same
                yield piece._replace(state=state)

    return pieces(state)


Score = Callable[[nn.Module, Any, State], Piece]
"""(model, batch, state carried from the previous batch) -> loss, how many predictions it is the mean of, state"""

ARGUMENTS = ("tokens", "targets", "mask", "source", "source_mask")


def scorer(loss: Callable | None, carry_state: bool) -> Score:
    """How to score a batch: teacher forcing, or the user's loss(model, batch) -> loss, and with carry_state
    loss(model, batch, state) -> (loss, state)."""

    def score(model: Any, batch: Any, state: State) -> Piece:
        if loss is None:
            return read(model, *prepare(model, state=state, **_arguments(batch)))
        value, state = loss(model, batch, state) if carry_state else (loss(model, batch), None)
        if not isinstance(value, Tensor) or value.numel() != 1:
            raise TypeError(f"loss must return a tensor with one number, got {value!r:.80}")
        return Piece(value.reshape(()), 1, state)  # what it averages is not known: one batch, one vote

    return score


@checked
@torch.no_grad()
def evaluate(
    model: nn.Module, batches: Iterable[Any], loss: Callable | None = None, *, carry_state: bool = False
) -> float:
    """Mean loss of held-out batches, with dropout off: per predicted token (per batch, if `loss` is given)."""
    score = scorer(loss, carry_state)
    device = next((parameter.device for parameter in model.parameters()), torch.device("cpu"))
    total, predictions, state = 0.0, 0, None
    with evaluation_mode(model):
        for batch in batches:
            piece = score(model, to_device(batch, device), state)
            # Weighted by their predictions, so that short batches do not count more per token than long ones.
            total += float(piece.loss) * piece.predictions
            predictions += piece.predictions
            state = piece.state if carry_state else None  # a batch continues the one before it, or begins anew
    if not predictions:
        raise ValueError("batches to evaluate on must hold at least one prediction, got none")
    return total / predictions


def to_device(batch: Any, device: torch.device) -> Any:
    """The batch with its tensors on the model's device."""
    return map_leaves(lambda leaf: leaf.to(device) if isinstance(leaf, Tensor) else leaf, batch)


def _arguments(batch: Any) -> dict[str, Tensor]:
    if isinstance(batch, Tensor):
        return {"tokens": batch}
    if dataclasses.is_dataclass(batch) and not isinstance(batch, type):
        fields = {field.name: getattr(batch, field.name) for field in dataclasses.fields(batch)}
    elif isinstance(batch, tuple) and hasattr(batch, "_asdict"):
        fields = batch._asdict()
    elif isinstance(batch, dict):
        fields = batch
    elif isinstance(batch, tuple | list) and 2 <= len(batch) <= 3:
        return dict(zip(ARGUMENTS, batch, strict=False))  # (tokens, targets) or (tokens, targets, mask)
    else:
        raise TypeError(
            "batches must be tensors, (tokens, targets[, mask]), or have the fields tokens, targets, mask, source,"
            f" source_mask (or give fit a loss function), got a {type(batch).__name__}"
        )
    if "tokens" not in fields or not set(fields) <= set(ARGUMENTS):
        raise TypeError(
            f"a batch's fields must be tokens and any of {', '.join(ARGUMENTS[1:])} (or give fit a loss function),"
            f" got {', '.join(map(str, fields))}"
        )
    return dict(fields)
