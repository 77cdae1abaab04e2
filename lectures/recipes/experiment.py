"""A comparison as data: rows × seeds × rates, one task, one setting; what follows from these is written once.

    Task         what is read, which loss is lowered, what is measured on the trained model
    Setting      steps, batch, rates, warm-up, seeds: in numbers, from which the words of a result come as well
    Experiment   both of them in one run of a recipe; a row is a function that builds its untrained model

Trainings go seed by seed, so that an interrupted run has all rows of the first seeds. All rows of a seed read the same
batches. Of several rates each row gets the one that is best with the first seed (or with the mean of the first few), and
that has a worse one on each side: where the best is at an edge, the next one beyond it is tried as well.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import mean
from typing import Any

from nlmcore.metrics import mean_interval
from nlmcore.metrics.significance import against, summary
from torch import Tensor, nn

from lectures.recipes.resumable import bracketed
from lectures.recipes.run import Run, parameters
from lectures.recipes.tables import words

Build = Callable[[], nn.Module]


@dataclass(frozen=True)
class Task:
    batches: Callable[[int, int], Any]
    """(size of a batch, seed) -> what `nlmcore.training.fit` reads."""
    loss: Callable[[Any, Any], Tensor]
    measure: Callable[[Any], dict[str, Any]]
    """The figures of a trained model. A control ("another text's context") is one more of them."""
    what: str = ""
    """What one batch holds, after its size: "× 48 characters"."""
    vocab_size: int = 0
    floors: Mapping[str, float] = field(default_factory=dict)
    """What needs no training, in the first measure."""
    held: Any = None
    """What is measured on."""


@dataclass(frozen=True)
class Setting:
    steps: int
    batch: int
    rates: Sequence[float]
    warm_up: int = 50
    """Then a cosine to 0."""
    seeds: int = 5
    curve: int = 0
    """The training loss is kept in means of so many steps; 0: not at all."""
    weights: str = "{row}-{seed}"
    """What the first weights are drawn from. Without the row, all rows of a seed begin alike, as far as parts are alike."""
    name: str = "{row}-{seed}"
    """Of a training in the work folder."""
    blank: str = " "
    """What stands for a blank of the row in both."""
    choose: tuple[str, Callable[..., Any]] = ("dev", min)
    """By which measure one of several rates is chosen, and whether low or high is better."""
    choosing: int = 1
    """By the mean of how many seeds. Where seeds differ by as much as rates do, one is not enough."""
    quick: tuple[int, int] = (2, 2)
    """Steps and batch of a smoke run."""

    def words(self, what: str = "") -> str:
        rates = f"at {self.rates[0]:g} with a cosine" if len(self.rates) == 1 else "with a cosine"
        return f"{f'{self.steps} steps of {self.batch} {what}'.strip()}, AdamW {rates}"


@dataclass(frozen=True)
class Experiment:
    run: Run
    task: Task
    setting: Setting

    def trained(
        self, row: str, build: Build, seed: int, rate: float = 0.0, **changes: Any
    ) -> tuple[nn.Module, list[float]]:
        """A model after its training, and the losses. changes: fields of the setting, for this training."""
        s, rate = replace(self.setting, **changes), rate or self.setting.rates[0]
        steps, size = self.run.size((s.steps, s.batch), s.quick)
        row = row.replace(" ", s.blank)
        model = self.run.build(s.weights.format(row=row, seed=seed), build)
        history = self.run.fit(
            s.name.format(row=row, seed=seed, rate=rate).replace(" ", "_"),
            model,
            self.task.batches(size, seed),
            loss=self.task.loss,
            steps=steps,
            learning_rate=rate,
            warm_up=s.warm_up,
            checkpoint_every=1000,
        )
        return model.eval(), history.losses

    def one(self, row: str, build: Build, seed: int, rate: float = 0.0, **changes: Any) -> dict[str, Any]:
        """The figures of one training."""
        model, losses = self.trained(row, build, seed, rate, **changes)
        found = {"parameters": parameters(model), **self.task.measure(model)}
        return found | ({"curve": stretches(losses, self.setting.curve)} if self.setting.curve else {})

    def rows(self, builds: Mapping[str, Build], seeds: Mapping[str, int] | None = None) -> dict[str, dict[str, Any]]:
        """Row -> its parameters, and each measure with one value per seed. seeds: of each row, if they differ."""
        every = seeds or dict.fromkeys(builds, self.setting.seeds)
        found = over(self.run, every, lambda row, seed: self.one(row, builds[row], seed))
        return {row: columns(runs) for row, runs in found.items()}

    def at_best_rate(self, row: str, build: Build, rates: Sequence[float] = ()) -> dict[str, Any]:
        """One row at the rate that is best with the first seeds: as in `rows`, and the `rate`, and what was `tried`."""
        by, best = self.setting.choose
        choosing, seeds = self.run.size((self.setting.choosing, self.setting.seeds), (1, 2))
        rates = rates or self.run.size(self.setting.rates, self.setting.rates[:1])
        runs: dict[float, list[dict[str, Any]]] = {}

        def chosen_by(rate: float) -> dict[str, Any]:
            runs[rate] = [self.one(row, build, seed, rate) for seed in range(choosing)]
            return {by: None if any(of[by] is None for of in runs[rate]) else mean(of[by] for of in runs[rate])}

        rate, tried = best_rate(rates, chosen_by, by, best)
        more = [self.one(row, build, seed, rate) for seed in range(choosing, seeds)]
        chosen = {f"{each:g}": of[by] if of[by] is None else round(of[by], 4) for each, of in sorted(tried.items())}
        return {"rate": rate, "tried": chosen, **columns([*runs[rate], *more])}


def over(run: Run, rows: Mapping[str, int], one: Callable[[str, int], Any]) -> dict[str, list[Any]]:
    """What `one` finds for each row with each of its seeds, seed by seed. A quick run has two seeds."""
    found: dict[str, list[Any]] = {row: [] for row in rows}
    for seed in range(max(run.size(count, 2) for count in rows.values())):
        for row, count in rows.items():
            if seed < run.size(count, 2):
                found[row].append(one(row, seed))
    return found


def columns(runs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Figures of several runs: one list for each, but for what is no matter of the seed."""
    return {key: runs[0][key] if key == "parameters" else [run[key] for run in runs] for key in runs[0]}


def best_rate(
    rates: Sequence[float], one: Callable[[float], dict[str, Any]], by: str = "dev", best: Callable[..., Any] = min
) -> tuple[float, dict[float, dict[str, Any]]]:
    """(the best rate, all runs). One rate alone is taken as it is; of several, the best lies between two worse ones."""
    tried: dict[float, dict[str, Any]] = {}

    def worse(rate: float) -> float:
        if rate not in tried:
            tried[rate] = one(rate)
        value = tried[rate][by]
        return math.inf if value is None else value if best is min else -value

    if len(rates) > 1:
        bracketed(rates, worse, rates[-1] / rates[-2])
    return min(map(float, tried or rates), key=worse), tried


def stretches(losses: Sequence[float], size: int, digits: int = 4) -> list[float]:
    """Means of so many losses each."""
    return [round(mean(losses[i : i + size]), digits) for i in range(0, len(losses), size)]


def gap(one: Sequence[float], other: Sequence[float]) -> tuple[float, float]:
    """One less the other, seed by seed: the mean, and half of its 95 % interval."""
    return mean_interval([a - b for a, b in zip(one, other, strict=True)])


def differences(baseline: Sequence[float], rows: Mapping[str, Sequence[float]]) -> dict[str, dict[str, float]]:
    """Each row less the baseline: of means, half its 95 % interval, p of Welch's test with Holm's correction."""
    tests = against(summary(baseline), {row: summary(of) for row, of in rows.items()})
    return {
        row: {"difference": round(of.difference, 4), "half": round(of.half, 4), "p": round(of.corrected, 4)}
        for row, of in tests.items()
    }


def said(rows: Mapping[str, Any], form: str, between: str = "; ") -> str:
    """Rows in a sentence: `form` has the fields of a row (or the row, `{0}`) and its name, `{row}`."""
    return between.join(
        words(form.replace("{row}", row.replace("{", "{{").replace("}", "}}")), of) for row, of in rows.items()
    )
