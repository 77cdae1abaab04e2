"""The network that the lecture Training well trains again and again, and one training of it.

    16 characters -> 16 embeddings of 24, side by side -> hidden layers of ReLU -> a score for each next character

It is the window model of the lecture on feed-forward networks (Bengio et al. 2003) as plain `nn.Sequential`, so that layers can be put in and taken out.
One training takes seconds. What it measured is kept in the work folder as JSON, so an interrupted recipe resumes with
the training at which it stopped.

Seed i gives every contestant the same initial weights, as far as they have the same shapes, and the same minibatches.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from statistics import fmean
from typing import Any

import torch
import torch.nn.functional as F
from nlmcore.tokens import CharTokenizer
from nlmcore.training import fit
from torch import Tensor, nn

from lectures.recipes.resumable import bracketed
from lectures.recipes.run import Interrupted, Run
from lectures.recipes.texts import plays, spread

WINDOW, EMBEDDING, HIDDEN, BATCH, SEEDS = 16, 24, 128, 64, 5
FACTOR, LIMITS = 3.2, (1e-5, 1.0)
"""Between two learning rates; and between which of them the best is looked for."""
Norm = Callable[[int], nn.Module]


def network(
    vocab_size: int, depth: int = 1, hidden: int = HIDDEN, norm: Norm | None = None, dropout: float = 0.0
) -> nn.Sequential:
    """Windows (batch, 16) -> scores (batch, vocab): `depth` hidden layers, each normalised before its ReLU."""
    layers: list[nn.Module] = [nn.Embedding(vocab_size, EMBEDDING), nn.Flatten()]
    d_in = WINDOW * EMBEDDING
    for _ in range(depth):
        layers += [nn.Linear(d_in, hidden), *([norm(hidden)] if norm else []), nn.ReLU()]
        layers += [nn.Dropout(dropout)] if dropout else []
        d_in = hidden
    return nn.Sequential(*layers, nn.Linear(d_in, vocab_size))


def loss_of(model: nn.Module, windows: Tensor) -> Tensor:
    """Nats per character; the last character of a window (batch, 17) is the target."""
    return F.cross_entropy(model(windows[:, :-1]), windows[:, -1])


@torch.no_grad()
def measured(model: nn.Module, windows: Tensor) -> float:
    """The loss with dropout off and BatchNorm's running averages in use."""
    was = model.training
    model.eval()
    value = float(loss_of(model, windows))
    model.train(was)
    return round(value, 4)


@dataclass(frozen=True)
class Windows:
    """Every stretch of 17 characters of a text, from which minibatches are drawn at random."""

    text: Tensor

    def batches(self, size: int, seed: int) -> Callable[[int], Iterator[Tensor]]:
        """For `fit`: minibatches without end."""
        every = self.text.unfold(0, WINDOW + 1, 1)

        def draw(epoch: int) -> Iterator[Tensor]:
            generator = torch.Generator().manual_seed(seed)
            while True:
                yield every[torch.randint(len(every), (size,), generator=generator)]

        return draw

    def some(self, count: int) -> Tensor:
        """`count` windows at equal distances, always the same."""
        return spread(self.text, WINDOW + 1, count)


@dataclass(frozen=True)
class Data:
    """Shakespeare's characters: windows to train on, and fixed ones to measure on."""

    train: Windows
    on: dict[str, Tensor]
    """train, dev, test: windows on which a loss is measured."""
    vocab_size: int
    split: str


@lru_cache(maxsize=2)
def characters(limit: int | None) -> tuple[dict[str, Windows], int, str]:
    """The plays of every part as characters, how many different ones there are, and how the plays were split."""
    shakespeare = plays(limit)
    tokenizer = CharTokenizer.fit(shakespeare.train)
    parts = {"train": shakespeare.train, "dev": shakespeare.dev, "test": shakespeare.test}
    encoded = {part: [token for play in texts for token in tokenizer.encode(play)] for part, texts in parts.items()}
    windows = {part: Windows(torch.tensor(tokens)) for part, tokens in encoded.items()}
    return windows, tokenizer.vocab_size, shakespeare.split


def data(run: Run, limit: int | None = None) -> Data:
    """`limit`: only so many characters to train on."""
    windows, vocab_size, split = characters(run.size(None, 2000))
    train = Windows(windows["train"].text[:limit])
    count = run.size(2048, 64)
    on = {"train": train, "dev": windows["dev"], "test": windows["test"]}
    measured_on = {part: one.some(4 * count if part == "test" else count) for part, one in on.items()}
    return Data(train, measured_on, vocab_size, split)


def train(
    run: Run,
    name: str,
    seed: int,
    found: Data,
    *,
    steps: int,
    optimiser: Callable[[Any], torch.optim.Optimizer],
    build: Callable[[int], nn.Module] = network,
    batch: int = BATCH,
    watch: tuple[str, ...] = ("dev",),
    points: int = 8,
    **options: Any,
) -> dict[str, Any]:
    """One training, kept: {"test": …, "dev": …, "curve": {"dev": […]}}; all None from where it is no longer finite."""

    def once() -> dict[str, Any]:
        model = run.build(f"first weights {seed}", lambda: build(found.vocab_size))
        torch.manual_seed(run.seed_of(f"dropout {seed}"))
        curve: dict[str, list[float]] = {part: [measured(model, found.on[part])] for part in watch}

        def look(model: nn.Module) -> float:
            for part, values in curve.items():
                values.append(measured(model, found.on[part]))
            return curve["dev"][-1]

        try:
            history = fit(
                model,
                found.train.batches(batch, run.seed_of(f"batches {seed}")),
                steps=steps,
                loss=loss_of,
                optimizer=optimiser(model.parameters()),
                clip_norm=None,
                validation=look,
                evaluate_every=max(1, steps // points),
                keep_best=False,
                progress=False,
                **options,
            )
        except FloatingPointError:
            return {"test": None, "dev": None, "curve": curve}
        if history.stopped == "interrupted":
            raise Interrupted(name)
        return {"test": measured(model, found.on["test"]), "dev": curve["dev"][-1], "curve": curve}

    return run.kept(f"{name}-{seed}", once)


def over_seeds(run: Run, name: str, count: int = SEEDS, first: int = 0, **training: Any) -> dict[str, Any]:
    """The same training with several seeds, from `first` on: lists, one value per seed."""
    seeds = range(first, first + run.size(count, 2))
    runs = [train(run, name, seed, **training) for seed in seeds]
    run.seconds[name] = sum(run.seconds.pop(f"{name}-{seed}") for seed in seeds)
    found = {key: [one[key] for one in runs] for key in ("test", "dev")}
    curves = {part: [one["curve"][part] for one in runs] for part in runs[0]["curve"]}
    shown = [f"{value:.3f}" if value is not None else "diverged" for value in found["dev"]]
    run.say(f"{name}: dev {' '.join(shown)}")
    return {**found, "curve": curves}


def sweep(
    run: Run, title: str, rates: tuple[float, ...], optimiser: Callable[..., torch.optim.Optimizer], **training: Any
) -> dict[str, Any]:
    """One contestant with several seeds at every rate, and at more until a worse one lies on each side of the best. A
    quick run has the first rate alone."""
    by_rate: dict[str, dict[str, Any]] = {}

    def loss(rate: float) -> float:
        if not LIMITS[0] <= rate <= LIMITS[1]:
            return math.inf
        key = f"{rate:g}"
        if key not in by_rate:
            by_rate[key] = over_seeds(run, f"{title}, rate {key}", optimiser=partial(optimiser, lr=rate), **training)
        found = by_rate[key]["dev"]
        return math.inf if None in found else fmean(found)

    if run.quick:
        loss(rates[0])
    else:
        bracketed(rates, loss, FACTOR)
    return {"rates": {key: by_rate[key] for key in sorted(by_rate, key=float)}, "best": best(by_rate)}


def best(by_setting: dict[str, dict[str, Any]]) -> str:
    """The setting of the lowest mean dev loss, of those that never diverged; the test text has no say in it."""
    sound = {key: row for key, row in by_setting.items() if None not in row["dev"]}
    return min(sound, key=lambda key: fmean(sound[key]["dev"]))
