"""What training asks of its arguments. Each error names the argument, what was given and what is allowed."""

import math
import os
from collections.abc import Iterable
from numbers import Real
from pathlib import Path

import torch
from torch import nn


def check_number(name: str, value: object, *, minimum: float = 0.0) -> None:
    """A finite number of at least `minimum`."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number, got {value!r:.60}")
    if not minimum <= float(value) < math.inf:
        raise ValueError(f"{name} must be finite and at least {minimum:g}, got {value}")


def check_share(name: str, value: object) -> None:
    """A number in [0, 1]."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number in [0, 1], got {value!r:.60}")
    if not 0 <= float(value) <= 1:
        raise ValueError(f"{name} must lie in [0, 1], got {value}")


def check_count(name: str, value: object, *, minimum: int = 1) -> None:
    """An integer of at least `minimum`."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} must be an integer, got {value!r:.60}")
    if value < minimum:
        raise ValueError(f"{name} must be at least {minimum}, got {value}")


def check_run(model, batches, validation, evaluate_every, patience, checkpoint, checkpoint_every, resume) -> None:
    """What `fit` trains, on what, and where it saves."""
    if not isinstance(model, nn.Module):
        raise TypeError(f"model must be a torch.nn.Module, got {type(model).__name__}")
    if not callable(batches) and not _can_be_gone_over(batches):
        raise TypeError(f"batches must be an iterable or a function epoch -> iterable, got {batches!r:.60}")
    if validation is not None and not callable(validation) and not _can_be_gone_over(validation):
        raise TypeError(f"validation must be batches or a function model -> number, got {validation!r:.60}")
    if validation is None and (patience is not None or evaluate_every is not None):
        raise ValueError("patience and evaluate_every need validation batches, got validation=None")
    if checkpoint is None and (resume or checkpoint_every is not None):
        raise ValueError("resume and checkpoint_every need a checkpoint file, got checkpoint=None")
    if checkpoint is not None and not isinstance(checkpoint, str | os.PathLike):
        raise TypeError(f"checkpoint must be the path of a file, or None, got {checkpoint!r:.60}")
    if checkpoint is not None and Path(checkpoint).is_dir():
        raise IsADirectoryError(f"checkpoint must be the path of a file, got the folder {checkpoint}")


def check_counts(steps, epochs, evaluate_every, patience, checkpoint_every) -> None:
    """How long `fit` trains, and how often it does what."""
    if steps is None and epochs is None:
        raise ValueError("steps or epochs must be given, got neither")
    counts = {"steps": steps, "epochs": epochs, "evaluate_every": evaluate_every, "patience": patience}
    for name, value in (counts | {"checkpoint_every": checkpoint_every}).items():
        if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
            raise TypeError(f"{name} must be an integer or None, got {value!r}")
        if value is not None and value < 1:
            raise ValueError(f"{name} must be at least 1, got {value}")


def check_step(optimizer, learning_rate, weight_decay, schedule, clip_norm, on_step) -> None:
    """How `fit` makes one step."""
    if optimizer is not None and not isinstance(optimizer, torch.optim.Optimizer):
        raise TypeError(f"optimizer must be a torch.optim.Optimizer, or None for AdamW, got {optimizer!r:.60}")
    check_number("learning_rate", learning_rate)
    check_number("weight_decay", weight_decay)
    if clip_norm is not None and (isinstance(clip_norm, bool) or not isinstance(clip_norm, Real)):
        raise TypeError(f"clip_norm must be a number, or None not to clip, got {clip_norm!r:.60}")
    if clip_norm is not None and not float(clip_norm) > 0:
        raise ValueError(f"clip_norm must be greater than 0, or None not to clip, got {clip_norm}")
    if schedule is not None and not callable(schedule):
        raise TypeError(f"schedule must be a function step -> factor, got {schedule!r:.60}")
    if on_step is not None and not callable(on_step):
        raise TypeError(f"on_step must be a function of a Record, or None, got {on_step!r:.60}")


def _can_be_gone_over(thing: object) -> bool:
    return isinstance(thing, Iterable) or hasattr(thing, "__getitem__")
