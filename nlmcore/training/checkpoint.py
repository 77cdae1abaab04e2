"""A training run in one file: weights, optimiser, random numbers, the position in the data, history.

Of a model that is partly frozen (an adapter, a probe, the last layers) it holds only what is trained, and a fingerprint
of the rest.

The file is PyTorch's (`torch.save`) and read with `weights_only=True`, which builds tensors, numbers, strings and
containers, and runs nothing. A SHA-256 of all of it follows, so a truncated or changed file is refused before anything
is loaded.
"""

import hashlib
import io
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor, nn

from nlmcore.language_model import State, evaluation_mode, leaves, map_leaves
from nlmcore.pictures import Picture, curves
from nlmcore.training.batches import BatchStream, EpochStart, RandomState
from nlmcore.training.losses import Score, to_device

Stopped = Literal["steps", "epochs", "interrupted"]  # why training ended; interrupted: by Ctrl-C or by `on_step`


@dataclass(frozen=True)
class Record:
    """One step, passed to `on_step`: enough to draw a live curve.

    `step` counts from 1, `epoch` from 0. The loss is that of the step's batch before its update, the gradient's norm
    that before clipping, `validation` the held-out loss at steps that evaluate.
    """

    step: int
    epoch: int
    loss: float
    learning_rate: float
    gradient_norm: float
    seconds: float  # since training began, interruptions not counted
    validation: float | None


@dataclass(repr=False)
class History:
    """The whole run, resumed parts included. Entry i of a list belongs to step i + 1."""

    losses: list[float] = field(default_factory=list)
    learning_rates: list[float] = field(default_factory=list)
    gradient_norms: list[float] = field(default_factory=list)
    validation: dict[int, float] = field(default_factory=dict)  # step -> held-out loss
    best_step: int | None = None  # the step with the lowest held-out loss
    seconds: float = 0.0
    stopped: Stopped | None = None

    @property
    def steps(self) -> int:
        return len(self.losses)

    def plot(self) -> Picture:
        """The loss of every step, and the held-out loss. Raises ValueError before the first step."""
        return curves({"training": dict(enumerate(self.losses, 1)), "held out": self.validation})

    def __repr__(self) -> str:
        """One line: a run at the end of a notebook's cell should not print every loss."""
        if not self.losses:
            return "History(no step yet)"
        held_out = "" if self.best_step is None else f", held out {self.validation[self.best_step]:.4g} at best"
        loss = f"loss {self.losses[0]:.4g} to {self.losses[-1]:.4g}{held_out}"
        return f"History({self.steps} steps in {self.seconds:.0f} s, {loss}, stopped: {self.stopped})"


DIGEST = hashlib.sha256().digest_size


def save_checkpoint(path: str | Path, content: dict[str, Any]) -> None:
    """Write tensors, numbers and strings, in dictionaries, lists and tuples, to `path`, atomically.

    Tensors that share memory (tied weights) are written once. `torch.load` reads the file too, without the check.
    """
    path, buffer = Path(path), io.BytesIO()
    torch.save(map_leaves(_plain, content), buffer)
    whole = buffer.getvalue()
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}.writing")
    try:
        write_to_disk(beside, whole, hashlib.sha256(whole).digest())
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)


def write_to_disk(path: Path, *parts: bytes) -> None:
    """A file that is on the disk, not only on its way there, before it takes the name of an old one."""
    try:
        with open(path, "wb") as file:
            file.writelines(parts)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        if error.strerror:  # Python names the file only if it cannot be opened, not if the disk is full
            error.filename = str(path)
        raise


def load_checkpoint(path: str | Path) -> dict[str, Any]:
    """What was saved, on the CPU; FileNotFoundError, IsADirectoryError, ValueError if a byte is missing or changed."""
    data = Path(path).read_bytes()
    whole, digest = data[:-DIGEST], data[-DIGEST:]
    # Before unpacking: PyTorch reads a file with a flipped bit in a weight without a word.
    if hashlib.sha256(whole).digest() != digest:
        raise ValueError(f"{path} is not a checkpoint of nlmcore.training, or it was cut short or damaged")
    content: dict[str, Any] = torch.load(io.BytesIO(whole), map_location="cpu", weights_only=True)
    return content


def _plain(leaf: Any) -> Any:
    """NumPy's numbers become Python's: `weights_only` refuses the former."""
    return leaf.item() if hasattr(leaf, "item") and not isinstance(leaf, Tensor) else leaf


@dataclass
class Run:
    model: nn.Module
    optimizer: torch.optim.Optimizer
    stream: BatchStream
    score: Score
    schedule: Callable[[int], float]
    device: torch.device
    history: History = field(default_factory=History)
    carried: State = None  # the state from which the next batch continues
    best: dict[str, Tensor] | None = None  # the weights with the lowest held-out loss
    last_batch: Any = None  # the file holds its fingerprint, so that a run is not resumed on other data

    @cached_property
    def frozen(self) -> frozenset[str]:
        """Parameters that are not trained: neither file nor best weights hold them, only a fingerprint."""
        return frozenset(name for name, p in self.model.named_parameters(remove_duplicate=False) if not p.requires_grad)

    @cached_property
    def frozen_fingerprint(self) -> str:
        weights = self.model.state_dict()
        return fingerprint([weights[name] for name in sorted(self.frozen & weights.keys())])

    def trained(self) -> dict[str, Tensor]:
        """The model's own tensors, buffers too, without those that are frozen."""
        return {name: tensor for name, tensor in self.model.state_dict().items() if name not in self.frozen}


def save_run(run: Run, path: str | Path) -> None:
    start = run.stream.start
    content = {
        "made_with": _made_with(run, run.history.steps),  # what a resumed run is compared with
        "last_batch": fingerprint(run.last_batch),
        "model": run.trained(),
        "best": run.best,
        "optimizer": run.optimizer.state_dict(),
        "carried": [leaf.clone() if isinstance(leaf, Tensor) else leaf for leaf in leaves(run.carried)],
        "history": asdict(run.history),
        "random": vars(RandomState.now()),
        "epoch": start.epoch,
        "data_random": vars(start.random),
        "position": run.stream.position,
    }
    save_checkpoint(path, content)


def load_run(run: Run, path: str | Path) -> None:
    """Make `run` what the saved one was, so that it continues with bit-for-bit identical results.

    Raises ValueError, and leaves model and optimiser alone, if the file is damaged or belongs to something else.
    """
    saved = load_checkpoint(path)
    if "made_with" not in saved:
        raise ValueError(f"{path} is a checkpoint, but not of a training run")
    history = History(**saved["history"])
    for part, now in _made_with(run, history.steps).items():
        then = saved["made_with"].get(part, {})
        if names := sorted(name for name in now.keys() | then.keys() if now.get(name) != then.get(name)):
            raise ValueError(
                f"{part} must be the one that {path} was made with: of {len(names)} differences the first is"
                f" {names[0]}, {then.get(names[0], 'absent')} in the file and {now.get(names[0], 'absent')} here"
            )
    # The data is gone over again with the random numbers of its epoch's start; what it draws is not the model's.
    start = EpochStart(saved["epoch"], RandomState(**saved["data_random"]))
    run.last_batch = run.stream.replay(start, saved["position"])
    if fingerprint(run.last_batch) != saved["last_batch"]:
        raise ValueError(f"batches must be those that {path} was made with: batch {saved['position']} differs")
    run.carried = _carried(run, saved["carried"])
    # Nothing was refused: from here on the run is changed.
    run.model.load_state_dict(saved["model"], strict=False)  # without the frozen ones; names were compared
    run.optimizer.load_state_dict(saved["optimizer"])
    run.best, run.history = saved["best"], history
    RandomState(**saved["random"]).restore()


def _made_with(run: Run, step: int) -> dict[str, dict[str, Any]]:
    """What a resumed run must have in common with the saved one, in a form that can be written and compared."""
    groups = run.optimizer.state_dict()["param_groups"]
    settings = {  # lr is the schedule's; the learning rate itself is initial_lr
        f"{name} of group {i}": value for i, group in enumerate(groups) for name, value in group.items() if name != "lr"
    }
    frozen = {"frozen weights": {"their fingerprint": run.frozen_fingerprint}} if run.frozen else {}
    return frozen | {
        "model": {name: tuple(value.shape) for name, value in run.model.state_dict().items()},
        "optimizer": {"its class": type(run.optimizer).__name__} | settings,
        "schedule": {f"the factor of step {step}": float(run.schedule(step))} if step else {},
    }


def fingerprint(batch: Any) -> str:
    """SHA-256 of the values in a batch."""
    digest = hashlib.sha256()
    for leaf in leaves(batch):
        if isinstance(leaf, Tensor):
            flat = leaf.detach().cpu().contiguous().reshape(-1)
            digest.update(str(tuple(leaf.shape)).encode())
            digest.update(flat.view(torch.uint8).numpy().data if len(flat) else b"")
        elif isinstance(leaf, int | float | str):
            digest.update(repr(leaf).encode())
    return digest.hexdigest()


def _carried(run: Run, saved: list[Any]) -> State:
    """The carried state. Its structure cannot be read from a file; it is that of the state after the last batch."""
    if saved == [None]:
        return None
    before = RandomState.now()
    with torch.no_grad(), evaluation_mode(run.model):
        template = run.score(run.model, to_device(run.last_batch, run.device), None).state
    before.restore()
    if [isinstance(leaf, Tensor) for leaf in leaves(template)] != [isinstance(leaf, Tensor) for leaf in saved]:
        raise ValueError("the carried state in the checkpoint has another structure than this model's state")
    remaining = iter(saved)
    return map_leaves(lambda _: to_device(next(remaining), run.device), template)
