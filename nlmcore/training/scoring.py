"""From a batch to its loss, whatever a batch is made of; and the loss of held-out batches.

A batch that `fit` and `evaluate` understand by themselves is
  a tensor (batch, time)                    every token but the first is predicted
  a tuple (tokens, targets) or (tokens, targets, mask)
  a dictionary, dataclass or named tuple    whose fields are arguments of `teacher_forcing_loss`:
                                            tokens, targets, mask, source, source_mask
For anything else, and for any other objective, a `loss` function says what to minimise.
"""

import dataclasses
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor, nn

from nlmcore.checks import door
from nlmcore.language_model import State, evaluation_mode, map_leaves
from nlmcore.training.losses import Piece, prepare, read

Score = Callable[[nn.Module, Any, State], Piece]
"""(model, batch, state carried from the previous batch) -> loss, how many predictions it is the mean of, state"""

ARGUMENTS = ("tokens", "targets", "mask", "source", "source_mask")


def teacher_forcing(model: nn.Module, batch: Any, state: State) -> Piece:
    """`teacher_forcing_loss` of a batch, with the number of its predictions and the state after it."""
    return read(model, *prepare(model, state=state, **_arguments(batch)))  # type: ignore[arg-type]


def scorer(loss: Callable | None, carry_state: bool) -> Score:
    """How to score a batch: teacher forcing, or the user's loss(model, batch) -> loss, and with carry_state
    loss(model, batch, state) -> (loss, state)."""
    if loss is None:
        return teacher_forcing

    def score(model: nn.Module, batch: Any, state: State) -> Piece:
        value, state = loss(model, batch, state) if carry_state else (loss(model, batch), None)
        if not isinstance(value, Tensor) or value.numel() != 1:
            raise TypeError(f"loss must return a tensor with one number, got {value!r:.80}")
        return Piece(value.reshape(()), 1, state)

    return score


@door
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
            total += float(piece.loss) * piece.predictions
            predictions += piece.predictions
            state = piece.state if carry_state else None
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
        return dict(zip(ARGUMENTS, batch, strict=False))
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
