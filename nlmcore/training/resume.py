"""The whole state of a training run, to a file and back: weights, optimiser, random numbers, data, history."""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from nlmcore.language_model import State, evaluation_mode, leaves, map_leaves
from nlmcore.training.batches import BatchStream, EpochStart, RandomState
from nlmcore.training.checkpoint import load_checkpoint, save_checkpoint
from nlmcore.training.history import History
from nlmcore.training.scoring import Score, to_device

FORMAT = 1


@dataclass
class Run:
    """A training run."""

    model: nn.Module
    optimizer: torch.optim.Optimizer
    stream: BatchStream
    generators: Sequence[torch.Generator]
    score: Score
    schedule: Callable[[int], float]
    device: torch.device
    history: History = field(default_factory=History)
    carried: State = None
    """The state from which the next batch continues."""
    best: dict[str, Tensor] | None = None
    """The weights with the lowest held-out loss."""
    stale: int = 0
    """Evaluations since then."""
    last_batch: Any = None
    """Its fingerprint goes into the file, so that a run is not resumed on other data."""


def save_run(run: Run, path: str | Path) -> None:
    """Write the run to one file."""
    tensors = {f"model.{name}": value for name, value in run.model.state_dict().items()}
    tensors |= {f"best.{name}": value for name, value in (run.best or {}).items()}
    optimizer = run.optimizer.state_dict()
    numbers: dict[str, dict[str, Any]] = {}
    for index, values in optimizer["state"].items():
        for name, value in values.items():
            if isinstance(value, Tensor):
                tensors[f"optimizer.{index}.{name}"] = value
            else:
                numbers.setdefault(str(index), {})[name] = value
    carried = leaves(run.carried)
    tensors |= {f"carried.{i}": leaf for i, leaf in enumerate(carried) if isinstance(leaf, Tensor)}
    random, python = RandomState.now().to_file("random")
    lane_random, lane_python = run.stream.start.random.to_file("lane")
    tensors |= random | lane_random
    for i, generator in enumerate(run.generators):
        tensors[f"generator.{i}.now"] = generator.get_state()
        tensors[f"generator.{i}.start"] = run.stream.start.generators[i]
    history = run.history
    for name in ("losses", "learning_rates", "gradient_norms"):
        tensors[f"history.{name}"] = torch.tensor(getattr(history, name), dtype=torch.float64)
    facts = {
        "format": FORMAT,
        "step": history.steps,
        "epoch": run.stream.start.epoch,
        "position": run.stream.position,
        "last_batch": fingerprint(run.last_batch),
        "schedule_factor": run.schedule(history.steps) if history.steps else None,
        "optimizer": {"kind": type(run.optimizer).__name__, "groups": optimizer["param_groups"], "numbers": numbers},
        "random": python,
        "lane": lane_python,
        "carried": [None if isinstance(leaf, Tensor) else [leaf] for leaf in carried],
        "validation": list(history.validation.items()),
        "best_step": history.best_step,
        "seconds": history.seconds,
        "stale": run.stale,
    }
    save_checkpoint(path, tensors, json.loads(json.dumps(facts)))


def load_run(run: Run, path: str | Path) -> None:
    """Make `run` what the saved one was, so that it continues to the same numbers, bit for bit.

    Raises ValueError, and leaves model and optimiser alone, if the file is damaged or belongs to something else.
    """
    tensors, facts = load_checkpoint(path)
    if facts.get("format") != FORMAT:
        raise ValueError(f"{path} must be a training checkpoint of format {FORMAT}, got {facts.get('format')}")
    weights = _under("model.", tensors)
    _check_model(run.model, weights, path)
    optimizer = _optimizer_state(run.optimizer, tensors, facts["optimizer"], path)
    if len(run.generators) != sum(name.startswith("generator.") and name.endswith(".now") for name in tensors):
        raise ValueError(f"generators must be those that {path} was made with, got {len(run.generators)} of them")
    if facts["step"] and run.schedule(facts["step"]) != facts["schedule_factor"]:
        raise ValueError(
            f"schedule must be the one that {path} was made with: at step {facts['step']} that gave"
            f" {facts['schedule_factor']}, this one gives {run.schedule(facts['step'])}"
        )
    lane_random = RandomState.from_file("lane", tensors, facts["lane"])
    starts = tuple(tensors[f"generator.{i}.start"] for i in range(len(run.generators)))
    run.last_batch = run.stream.replay(EpochStart(facts["epoch"], lane_random, starts), facts["position"])
    if fingerprint(run.last_batch) != facts["last_batch"]:
        raise ValueError(f"batches must be those that {path} was made with: batch {facts['position']} differs")
    run.carried = _carried(run, run.last_batch, tensors, facts["carried"])

    run.model.load_state_dict(weights)
    run.optimizer.load_state_dict(optimizer)
    run.best = _under("best.", tensors) or None
    run.stale = facts["stale"]
    run.history = History(
        losses=tensors["history.losses"].tolist(),
        learning_rates=tensors["history.learning_rates"].tolist(),
        gradient_norms=tensors["history.gradient_norms"].tolist(),
        validation=dict(facts["validation"]),
        best_step=facts["best_step"],
        seconds=facts["seconds"],
    )
    for i, generator in enumerate(run.generators):
        generator.set_state(tensors[f"generator.{i}.now"])
    RandomState.from_file("random", tensors, facts["random"]).restore()


def fingerprint(batch: Any) -> str:
    """SHA-256 of the values in a batch."""
    digest = hashlib.sha256()
    for leaf in leaves(batch):
        if isinstance(leaf, Tensor):
            digest.update(str(tuple(leaf.shape)).encode())
            digest.update(leaf.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().data)
        elif isinstance(leaf, int | float | str):
            digest.update(repr(leaf).encode())
    return digest.hexdigest()


def _under(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}


def _check_model(model: nn.Module, weights: dict[str, Tensor], path: str | Path) -> None:
    shapes = {name: tuple(value.shape) for name, value in model.state_dict().items()}
    saved = {name: tuple(value.shape) for name, value in weights.items()}
    if shapes != saved:
        names = sorted(name for name in shapes.keys() | saved.keys() if shapes.get(name) != saved.get(name))
        name = names[0]
        raise ValueError(
            f"model must be the one that {path} was made with: {len(names)} tensors differ, the first is {name},"
            f" {saved.get(name, 'absent')} in the file and {shapes.get(name, 'absent')} in the model"
        )


def _optimizer_state(
    optimizer: torch.optim.Optimizer, tensors: dict[str, Tensor], facts: dict[str, Any], path: str | Path
) -> dict[str, Any]:
    """A state_dict for `optimizer`, after checking that it is one of the same kind over the same parameters."""
    groups = optimizer.state_dict()["param_groups"]
    kind = type(optimizer).__name__
    if kind != facts["kind"] or [g["params"] for g in groups] != [g["params"] for g in facts["groups"]]:
        raise ValueError(
            f"optimizer must be the {facts['kind']} that {path} was made with, got a {kind} over other groups"
        )
    state: dict[int, dict[str, Any]] = {int(index): dict(values) for index, values in facts["numbers"].items()}
    for name, value in _under("optimizer.", tensors).items():
        index, _, key = name.partition(".")
        state.setdefault(int(index), {})[key] = value
    for group, now in zip(facts["groups"], groups, strict=True):
        group |= {
            key: tuple(value) for key, value in group.items() if isinstance(now.get(key), tuple)
        }  # JSON has lists
        for key in group.keys() - {"params", "lr"}:  # lr is the schedule's; the learning rate itself is initial_lr
            if group[key] != now.get(key):
                raise ValueError(
                    f"optimizer must be the one that {path} was made with: {key} was {group[key]}, got {now.get(key)}"
                )
    return {"state": state, "param_groups": facts["groups"]}


def _carried(run: Run, last: Any, tensors: dict[str, Tensor], others: list) -> State:
    """The carried state. Its structure cannot be read from a file; it is that of the state after the last batch."""
    saved = [tensors[f"carried.{i}"].to(run.device) if other is None else other[0] for i, other in enumerate(others)]
    if saved == [None]:
        return None
    before = RandomState.now()
    with torch.no_grad(), evaluation_mode(run.model):
        template = run.score(run.model, to_device(last, run.device), None).state
    before.restore()
    if [isinstance(leaf, Tensor) for leaf in leaves(template)] != [isinstance(leaf, Tensor) for leaf in saved]:
        raise ValueError("the carried state in the checkpoint has another structure than this model's state")
    remaining = iter(saved)
    return map_leaves(lambda _: next(remaining), template)
