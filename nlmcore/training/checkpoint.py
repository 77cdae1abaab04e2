"""A checkpoint is one safetensors file: tensors, and in its header a JSON text. Never pickle.

Written completely or not at all: to a temporary file next to it, which then takes its name. Read completely or not at
all: the header holds a SHA-256 of everything, so a truncated or changed file is refused before anything is loaded.
A training run is saved whole: weights, optimiser, random numbers, the place in the data, history.
"""

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from nlmcore.language_model import State, evaluation_mode, leaves, map_leaves
from nlmcore.training.batches import BatchStream, EpochStart, RandomState
from nlmcore.training.history import History
from nlmcore.training.losses import Score, to_device

FORMAT = 1  # of the file of a training run; others are refused
LISTS = ("losses", "learning_rates", "gradient_norms")  # the fields of a history with an entry for every step


def save_checkpoint(path: str | Path, tensors: dict[str, Tensor], facts: dict[str, Any]) -> None:
    """Write tensors and JSON facts to `path`, atomically. Tensors that share memory (tied weights) are written once."""
    path = Path(path)
    own, same_as = _without_aliases(tensors)
    text = json.dumps({"facts": facts, "same_as": same_as})
    header = {"nlmcore": text, "sha256": _digest(own, text)}
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}.writing")
    try:
        save_file(own, beside, metadata=header)
        with open(beside, "rb") as written:
            os.fsync(written.fileno())
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)


def load_checkpoint(path: str | Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """The tensors and facts that were saved; FileNotFoundError, IsADirectoryError, ValueError if it is not whole."""
    path = Path(path)
    if path.is_dir():
        raise IsADirectoryError(f"path must name a checkpoint, which is one file, got the folder {path}")
    if not path.is_file():
        raise FileNotFoundError(f"path must name a checkpoint, got {path}, which does not exist")
    try:
        with safe_open(path, framework="pt") as file:
            header = file.metadata() or {}
            # Copied to memory that PyTorch allocates: products of unaligned inputs sum in a different order, and a
            # resumed run must equal the uninterrupted one bit for bit.
            tensors = {name: file.get_tensor(name).clone() for name in file.keys()}  # noqa: SIM118 - not a dict
    except (SafetensorError, OSError, ValueError) as error:
        raise ValueError(f"{path} is no whole safetensors file, it was cut short or damaged: {error}") from error
    if "nlmcore" not in header or "sha256" not in header:
        raise ValueError(f"{path} is a safetensors file, but not a checkpoint of nlmcore.training")
    if _digest(tensors, header["nlmcore"]) != header["sha256"]:
        raise ValueError(f"{path} was damaged: its contents do not have the SHA-256 that its header names")
    content = json.loads(header["nlmcore"])
    tensors |= {name: tensors[other] for name, other in content["same_as"].items()}
    return tensors, content["facts"]


def _without_aliases(tensors: dict[str, Tensor]) -> tuple[dict[str, Tensor], dict[str, str]]:
    """Contiguous copies on the CPU; a tensor that is another one's memory is named instead of copied."""
    own: dict[str, Tensor] = {}
    same_as: dict[str, str] = {}
    seen: dict[Any, str] = {}
    for name, tensor in tensors.items():
        if not isinstance(tensor, Tensor):
            raise TypeError(f"tensors[{name!r}] must be a tensor, got {type(tensor).__name__}")
        place = (tensor.data_ptr(), tensor.shape, tensor.stride(), tensor.dtype, tensor.device)
        first = seen.setdefault(place, name) if tensor.numel() else name
        if first != name:
            same_as[name] = first
        else:
            own[name] = tensor.detach().cpu().clone(memory_format=torch.contiguous_format)
    return own, same_as


def _digest(tensors: dict[str, Tensor], text: str) -> str:
    digest = hashlib.sha256(text.encode())
    for name in sorted(tensors):
        digest.update(f"\n{name} {tensors[name].dtype} {tuple(tensors[name].shape)}\n".encode())
        digest.update(_memory(tensors[name]))
    return digest.hexdigest()


def _memory(tensor: Tensor) -> Any:
    """The bytes of a tensor's numbers, as a buffer."""
    flat = tensor.detach().cpu().contiguous().reshape(-1)
    return flat.view(torch.uint8).numpy().data if len(flat) else b""


@dataclass
class Run:
    """A whole training run.

    `carried` is the state from which the next batch continues, `best` the weights with the lowest held-out loss, and
    `stale` counts the evaluations since then. The file holds a fingerprint of `last_batch`, so that a run is not
    resumed on other data.
    """

    model: nn.Module
    optimizer: torch.optim.Optimizer
    stream: BatchStream
    generators: Sequence[torch.Generator]
    score: Score
    schedule: Callable[[int], float]
    device: torch.device
    history: History = field(default_factory=History)
    carried: State = None
    best: dict[str, Tensor] | None = None
    stale: int = 0
    last_batch: Any = None


def save_run(run: Run, path: str | Path) -> None:
    """Write the run to one file."""
    history, start, random, carried = run.history, run.stream.start, RandomState.now(), leaves(run.carried)
    optimizer = run.optimizer.state_dict()
    moments: dict[str, Tensor] = {}
    numbers: dict[str, dict[str, Any]] = {}
    for index, values in optimizer["state"].items():
        for name, value in values.items():
            if isinstance(value, Tensor):
                moments[f"{index}.{name}"] = value
            else:
                numbers.setdefault(str(index), {})[name] = value
    parts: dict[str, dict] = {
        "model": run.model.state_dict(),
        "best": run.best or {},
        "optimizer": moments,
        "carried": {i: leaf for i, leaf in enumerate(carried) if isinstance(leaf, Tensor)},
        "random": random.tensors,
        "lane": start.random.tensors,
        "generator": {f"{i}.now": generator.get_state() for i, generator in enumerate(run.generators)}
        | {f"{i}.start": state for i, state in enumerate(start.generators)},
        "history": {name: torch.tensor(getattr(history, name), dtype=torch.float64) for name in LISTS},
    }
    tensors = {f"{part}.{name}": value for part, values in parts.items() for name, value in values.items()}
    facts = {
        "format": FORMAT,
        "step": history.steps,
        "epoch": start.epoch,
        "position": run.stream.position,
        "last_batch": fingerprint(run.last_batch),
        "schedule_factor": run.schedule(history.steps) if history.steps else None,
        "optimizer": {"kind": type(run.optimizer).__name__, "groups": optimizer["param_groups"], "numbers": numbers},
        "random": random.python,
        "lane": start.random.python,
        "carried": [None if isinstance(leaf, Tensor) else [leaf] for leaf in carried],
        "validation": list(history.validation.items()),
        "best_step": history.best_step,
        "seconds": history.seconds,
        "stale": run.stale,
    }
    save_checkpoint(path, tensors, json.loads(json.dumps(facts)))


def load_run(run: Run, path: str | Path) -> None:
    """Make `run` what the saved one was, so that it continues with bit-for-bit identical results.

    Raises ValueError, and leaves model and optimiser alone, if the file is damaged or belongs to something else.
    """
    tensors, facts = load_checkpoint(path)
    if facts.get("format") != FORMAT:
        raise ValueError(f"{path} must be a training checkpoint of format {FORMAT}, got {facts.get('format')}")
    weights = _under("model.", tensors)
    shapes = {name: tuple(value.shape) for name, value in run.model.state_dict().items()}
    saved = {name: tuple(value.shape) for name, value in weights.items()}
    if names := sorted(name for name in shapes.keys() | saved.keys() if shapes.get(name) != saved.get(name)):
        raise ValueError(
            f"model must be the one that {path} was made with: {len(names)} tensors differ, the first is {names[0]},"
            f" {saved.get(names[0], 'absent')} in the file and {shapes.get(names[0], 'absent')} in the model"
        )
    optimizer = _optimizer_state(run.optimizer, tensors, facts["optimizer"], path)
    generators = _under("generator.", tensors)
    if 2 * len(run.generators) != len(generators):
        raise ValueError(f"generators must be those that {path} was made with, got {len(run.generators)} of them")
    if facts["step"] and run.schedule(facts["step"]) != facts["schedule_factor"]:
        raise ValueError(
            f"schedule must be the one that {path} was made with: at step {facts['step']} that gave"
            f" {facts['schedule_factor']}, this one gives {run.schedule(facts['step'])}"
        )
    starts = tuple(generators[f"{i}.start"] for i in range(len(run.generators)))
    start = EpochStart(facts["epoch"], RandomState(_under("lane.", tensors), facts["lane"]), starts)
    run.last_batch = run.stream.replay(start, facts["position"])
    if fingerprint(run.last_batch) != facts["last_batch"]:
        raise ValueError(f"batches must be those that {path} was made with: batch {facts['position']} differs")
    run.carried = _carried(run, tensors, facts["carried"])

    run.model.load_state_dict(weights)
    run.optimizer.load_state_dict(optimizer)
    run.best = _under("best.", tensors) or None
    run.stale = facts["stale"]
    lists: dict[str, Any] = {name: values.tolist() for name, values in _under("history.", tensors).items()}
    validation, best_step, seconds = dict(facts["validation"]), facts["best_step"], facts["seconds"]
    run.history = History(**lists, validation=validation, best_step=best_step, seconds=seconds)
    for i, generator in enumerate(run.generators):
        generator.set_state(generators[f"{i}.now"])
    RandomState(_under("random.", tensors), facts["random"]).restore()


def fingerprint(batch: Any) -> str:
    """SHA-256 of the values in a batch."""
    digest = hashlib.sha256()
    for leaf in leaves(batch):
        if isinstance(leaf, Tensor):
            digest.update(str(tuple(leaf.shape)).encode())
            digest.update(_memory(leaf))
        elif isinstance(leaf, int | float | str):
            digest.update(repr(leaf).encode())
    return digest.hexdigest()


def _under(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}


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
        for key in group.keys() - {"params", "lr"}:  # lr is the schedule's; the learning rate itself is initial_lr
            if isinstance(now.get(key), tuple):
                group[key] = tuple(group[key])  # JSON has lists
            if group[key] != now.get(key):
                raise ValueError(
                    f"optimizer must be the one that {path} was made with: {key} was {group[key]}, got {now.get(key)}"
                )
    return {"state": state, "param_groups": facts["groups"]}


def _carried(run: Run, tensors: dict[str, Tensor], others: list) -> State:
    """The carried state. Its structure cannot be read from a file; it is that of the state after the last batch."""
    saved = [tensors[f"carried.{i}"].to(run.device) if other is None else other[0] for i, other in enumerate(others)]
    if saved == [None]:
        return None
    before = RandomState.now()
    with torch.no_grad(), evaluation_mode(run.model):
        template = run.score(run.model, to_device(run.last_batch, run.device), None).state
    before.restore()
    if [isinstance(leaf, Tensor) for leaf in leaves(template)] != [isinstance(leaf, Tensor) for leaf in saved]:
        raise ValueError("the carried state in the checkpoint has another structure than this model's state")
    remaining = iter(saved)
    return map_leaves(lambda _: next(remaining), template)
