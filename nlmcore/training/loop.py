"""The training loop: batches in, a trained model out, and nothing lost on the way.

    for batch in batches:  loss -> gradient -> clipped -> AdamW step with a scheduled learning rate

A resume is exact: on a CPU the losses are those of the uninterrupted run, bit for bit. Source of the
optimiser: Loshchilov & Hutter (2019, AdamW), PyTorch's fused kernel.
"""

import math
import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from numbers import Real
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal

import torch
from torch import nn

from nlmcore.checks import Amount, Size, checked, described
from nlmcore.language_model import evaluation_mode
from nlmcore.training.batches import BatchStream, RandomState
from nlmcore.training.checkpoint import History, Record, Run, Stopped, load_run, save_run
from nlmcore.training.losses import detach, evaluate, scorer, to_device
from nlmcore.training.optimisation import clip_gradients, decay_groups


@checked
def fit(
    model: nn.Module,
    batches: Iterable[Any] | Callable[[int], Iterable[Any]],
    *,
    steps: Size | None = None,
    epochs: Size | None = None,
    loss: Callable | None = None,
    optimizer: torch.optim.Optimizer | None = None,
    learning_rate: Amount = 1e-3,
    weight_decay: Amount = 0.0,
    decay: Literal["all", "matrices"] = "all",
    schedule: Callable[[int], float] | None = None,
    clip_norm: float | int | None = 1.0,
    accumulate: Size = 1,
    precision: Literal["bfloat16"] | None = None,
    carry_state: bool = False,
    validation: Iterable[Any] | Callable[[nn.Module], float] | None = None,
    evaluate_every: Size | None = None,
    keep_best: bool = True,
    on_step: Callable[[Record], None] | None = None,
    progress: bool = True,
    checkpoint: str | Path | None = None,
    checkpoint_every: Size | None = None,
    resume: bool = False,
) -> History:
    """Train `model` in place until `steps` updates or `epochs` passes are done, whichever comes first.

    batches         an iterable that can be gone over again, or a function epoch -> iterable (for a different order
                    each time); `nlmcore.training.losses` says what a batch may be
    loss            loss(model, batch) -> tensor; None is teacher forcing
    optimizer       by default AdamW(learning_rate, weight_decay), fused
    decay           what weight_decay pulls at: "all" parameters, or "matrices", which spares norms, biases and
                    embeddings (`decay_groups`)
    schedule        step (from 1) -> factor of the learning rate, finite and at least 0
    clip_norm       largest norm of the gradient; None does not clip
    accumulate      batches of one update: its gradient is that of their mean loss per prediction, in the memory of one
    precision       "bfloat16": the model and the loss run under autocast, weights and optimiser stay as they are
    carry_state     truncated backpropagation through time: batches continue each other row by row, the state is
                    passed on (detached) within an epoch; a `loss` is then loss(model, batch, state) -> (loss, state)
    validation      held-out batches, or a function model -> number to minimise; evaluated every
                    `evaluate_every` steps (None: after every epoch) and at the last step
    keep_best       leave the model with its best held-out weights (needs validation)
    on_step         is called with a `Record` after every step: draw a live curve there, or raise KeyboardInterrupt to
                    stop cleanly after this step (early stopping)
    checkpoint      a file, written every `checkpoint_every` steps, at the end, and at Ctrl-C, which stops cleanly
    resume          continue from that file if there is one. All arguments must be those of the first call; more steps
                    are allowed. Draw random numbers from torch's own generator or `random`.

    FloatingPointError if the loss or its gradient is no longer finite, or the held-out loss is NaN; the last
    checkpoint is then still good.
    """
    if steps is None and epochs is None:
        raise ValueError("steps or epochs must be given, got neither")
    if clip_norm is not None and not clip_norm > 0:
        raise ValueError(f"clip_norm must be greater than 0, or None not to clip, got {clip_norm}")
    _check(batches, validation, evaluate_every, checkpoint, checkpoint_every, resume)
    parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
    if not parameters:
        raise ValueError("model must have parameters that require a gradient, got none")
    device = parameters[0].device
    if optimizer is None:
        fused = all(parameter.device.type in ("cpu", "cuda") for parameter in parameters)
        groups: Any = parameters if decay == "all" else decay_groups(model, weight_decay)
        optimizer = torch.optim.AdamW(groups, lr=learning_rate, weight_decay=weight_decay, fused=fused)
    for group in optimizer.param_groups:
        group.setdefault("initial_lr", group["lr"])  # the rate that the schedule multiplies, as PyTorch's schedulers do
    schedule = schedule or (lambda step: 1.0)
    # The data has its own random numbers, which follow from the global seed: what it draws does not change the dropout.
    stream = BatchStream(batches, RandomState.seeded(int(torch.randint(2**62, ()))))
    run = Run(model, optimizer, stream, scorer(loss, carry_state), schedule, device)
    lower = partial(torch.autocast, device.type, dtype=torch.bfloat16, enabled=precision is not None)
    if resume and checkpoint is not None and Path(checkpoint).exists():
        load_run(run, checkpoint)
    else:
        stream.begin_epoch(0)

    from tqdm.auto import tqdm  # here, so that importing nlmcore loads torch and nothing heavier

    history = run.history
    bar = tqdm(total=steps, initial=history.steps, disable=not progress, unit="step", dynamic_ncols=True)
    began = time.monotonic() - history.seconds  # as if a resumed run had never paused
    with evaluation_mode(model, training=True), _interruption() as ctrl_c, bar:
        while (stopped := _reason(run, steps, epochs) or ctrl_c.wanted) is None:
            if stream.epoch_is_over:
                stream.begin_epoch(stream.start.epoch + 1)
                run.carried = None  # another epoch begins with other texts
            _update(run, parameters, clip_norm, carry_state, accumulate, lower)
            history.seconds = time.monotonic() - began
            # Held-out loss: when it is due, and in any case after the last step.
            due = stream.epoch_is_over if evaluate_every is None else history.steps % evaluate_every == 0
            held_out = None
            if validation is not None and (due or _reason(run, steps, epochs) is not None):
                with lower():
                    held_out = _evaluate(run, validation, loss, carry_state, keep_best)
            latest = history.losses[-1], history.learning_rates[-1], history.gradient_norms[-1]
            bar.update()
            bar.set_postfix(loss=latest[0], **{} if held_out is None else {"held out": held_out}, refresh=False)
            if on_step is not None:  # after the evaluation, so that the record has its number
                try:
                    on_step(Record(history.steps, stream.start.epoch, *latest, history.seconds, held_out))
                except KeyboardInterrupt:
                    ctrl_c.wanted = "interrupted"
            if checkpoint is not None and checkpoint_every is not None and history.steps % checkpoint_every == 0:
                save_run(run, checkpoint)
        history.stopped = stopped
        if checkpoint is not None:
            save_run(run, checkpoint)
            if stopped == "interrupted":
                bar.write(f"interrupted after step {history.steps}; saved to {checkpoint}")
    if run.best is not None and keep_best:
        model.load_state_dict(run.best, strict=False)  # without what is frozen
    return history


def _check(batches: Any, validation: Any, evaluate_every: Any, file: Any, every: Any, resume: bool) -> None:

    def can_be_gone_over(thing: object) -> bool:
        return callable(thing) or isinstance(thing, Iterable) or hasattr(thing, "__getitem__")

    if not can_be_gone_over(batches):
        raise TypeError(f"batches must be an iterable or a function epoch -> iterable, got {described(batches)}")
    if validation is not None and not can_be_gone_over(validation):
        raise TypeError(f"validation must be batches or a function model -> number, got {described(validation)}")
    if validation is None and evaluate_every is not None:
        raise ValueError("evaluate_every needs validation batches, got validation=None")
    if file is None and (resume or every is not None):
        raise ValueError("resume and checkpoint_every need a checkpoint file, got checkpoint=None")
    if file is not None and not isinstance(file, str | os.PathLike):
        raise TypeError(f"checkpoint must be the path of a file, or None, got {described(file)}")
    if file is not None and Path(file).is_dir():
        raise IsADirectoryError(f"checkpoint must be the path of a file, got the folder {file}")


def _update(
    run: Run,
    parameters: list[nn.Parameter],
    clip_norm: float | int | None,
    carry_state: bool,
    accumulate: int,
    lower: Callable[[], Any],
) -> None:
    """One step; the history gets the loss before it and the gradient's norm before clipping."""
    history = run.history
    step = history.steps + 1
    # 1. The rate of this step, for every group of parameters.
    factor = run.schedule(step)
    if not isinstance(factor, Real | torch.Tensor) or not 0 <= factor < math.inf:  # type: ignore[operator]
        raise ValueError(f"schedule must return a finite factor of at least 0, got {factor!r:.60} for step {step}")
    for group in run.optimizer.param_groups:
        group["lr"] = group["initial_lr"] * factor
    # 2. Loss and gradient of one batch, or of several whose predictions are one mean.
    run.optimizer.zero_grad(set_to_none=True)
    total, predictions = 0.0, 0
    for i in range(accumulate):
        if i > 0 and run.stream.epoch_is_over:  # the last update of an epoch may have fewer
            break
        run.last_batch = batch = run.stream.next()
        with lower():
            piece = run.score(run.model, to_device(batch, run.device), run.carried)
        value = float(piece.loss.detach())
        if not math.isfinite(value):  # before the update: the weights are still good, and so is the last checkpoint
            raise FloatingPointError(f"loss is {value} at step {step}; a lower learning_rate or clip_norm may help")
        weight = piece.predictions if accumulate > 1 else 1
        (piece.loss if weight == 1 else piece.loss * weight).backward()
        total, predictions = total + value * weight, predictions + weight
        # The next batch continues from here; detached, or the graph would grow with every step.
        run.carried = detach(piece.state) if carry_state else None
    if predictions > 1:
        torch._foreach_div_([p.grad for p in parameters if p.grad is not None], float(predictions))
    # 3. Clip and update. Without a limit the norm is still measured, for the history.
    norm = clip_gradients(parameters, math.inf if clip_norm is None else clip_norm)
    if not math.isfinite(norm):
        raise FloatingPointError(f"the gradient's norm is {norm} at step {step}; a lower learning_rate may help")
    run.optimizer.step()
    history.losses.append(total / predictions)
    history.learning_rates.append(float(run.optimizer.param_groups[0]["lr"]))
    history.gradient_norms.append(norm)


def _evaluate(run: Run, validation, loss: Callable | None, carry_state: bool, keep_best: bool) -> float:
    """The current held-out loss, recorded in the history; the weights are kept if it is the best so far."""
    history = run.history
    if callable(validation):
        value = float(validation(run.model))
    else:
        value = evaluate(run.model, validation, loss, carry_state=carry_state)
    if math.isnan(value):
        advice = "it must be a number; a lower learning_rate may help"
        raise FloatingPointError(f"validation gave {value} after step {history.steps}; {advice}")
    history.validation[history.steps] = value
    if history.best_step is None or value < history.validation[history.best_step]:
        history.best_step = history.steps
        if keep_best:
            # A copy: the optimiser goes on writing into the model's own tensors.
            run.best = {name: tensor.detach().clone() for name, tensor in run.trained().items()}
    return value


def _reason(run: Run, steps: int | None, epochs: int | None) -> Stopped | None:
    if steps is not None and run.history.steps >= steps:
        return "steps"
    if epochs is not None and run.stream.epoch_is_over and run.stream.start.epoch + 1 >= epochs:
        return "epochs"
    return None


@contextmanager
def _interruption() -> Iterator[SimpleNamespace]:
    """Ctrl-C (or the notebook's stop button) as a request that is granted between two steps.

    A KeyboardInterrupt in the middle of an update would leave half of the weights new and half old. So meanwhile the
    first Ctrl-C only sets `wanted`, the reason to stop; a second one interrupts immediately, as usual.
    """
    ctrl_c = SimpleNamespace(wanted=None)

    def note(number: int, frame: Any) -> None:
        if ctrl_c.wanted:
            raise KeyboardInterrupt
        ctrl_c.wanted = "interrupted"

    if threading.current_thread() is not threading.main_thread():  # only there may handlers be set
        yield ctrl_c
        return
    before = signal.signal(signal.SIGINT, note)
    try:
        yield ctrl_c
    finally:
        signal.signal(signal.SIGINT, before or signal.SIG_DFL)
