"""The columns of the table: theirs as printed, ours as far as they are measured; and which rows of a column differ."""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from statistics import fmean
from typing import Any, NamedTuple

from nlmcore.metrics.significance import Comparison, Layout, Sample, against, critical, paired, summary

VANILLA = "Vanilla Transformer"
_NATS = "nats per token"
THEIR_RUNS = 5
"""Behind each early loss of the paper and its printed standard deviation."""


class Column(NamedTuple):
    """`values`: row -> mean; `samples`: row -> sample, for the rows with a spread; `runs`: row -> one value per seed."""

    title: str
    unit: str
    values: Mapping[str, float]
    samples: Mapping[str, Sample]
    runs: Mapping[str, Sequence[float]]
    digits: int = 2
    log: bool = False
    more_is_better: bool = False

    def written(self, row: str) -> str:
        """The mean, with half its 95 % interval if there is one."""
        if row not in self.values:
            return "–"
        told = f"{self.values[row]:,.{self.digits}f}"
        return f"{told} ± {interval(self.samples[row])[1]:.{self.digits}f}" if row in self.samples else told

    def tests(self, baseline: str = VANILLA) -> dict[str, Comparison]:
        """Every other row against one row, corrected for how many there are: seed by seed where the runs are known,
        else by Welch's test of what is printed."""
        if self.runs:
            return self.layout(baseline)[0] if len(self.samples) > 1 and baseline in self.samples else {}
        return _tests(tuple(self.samples.items()), baseline)

    def layout(self, baseline: str = VANILLA) -> tuple[dict[str, Comparison], Layout]:
        """The tests seed by seed, and the deviation that they share."""
        return _paired(tuple(self.runs.items()), baseline)


def interval(sample: Sample) -> tuple[float, float]:
    """(mean, half the width of its 95 % interval)."""
    return sample.mean, _t(sample.n - 1) * sample.sd / math.sqrt(sample.n)


_t = lru_cache(critical)


@lru_cache(maxsize=64)
def _paired(runs: tuple[tuple[str, Sequence[float]], ...], baseline: str) -> tuple[dict[str, Comparison], Layout]:
    rows = dict(runs)
    return paired(rows.pop(baseline), rows)


@lru_cache(maxsize=64)
def _tests(samples: tuple[tuple[str, Sample], ...], baseline: str) -> dict[str, Comparison]:
    rows = dict(samples)
    base = rows.pop(baseline, None)
    return against(base, rows) if base else {}


def columns(theirs: Mapping[str, Mapping[str, float]], ours: Mapping[str, Sequence[Any]]) -> dict[str, Column]:
    """theirs: row -> what the paper prints; ours: the runs of some of the rows, one for each seed."""

    def printed(title: str, unit: str, key: str, digits: int, **more: Any) -> Column:
        samples = {r: Sample(of["early"], of["sd"], THEIR_RUNS) for r, of in theirs.items()} if key == "early" else {}
        return Column(title, unit, {row: of[key] for row, of in theirs.items()}, samples, {}, digits, **more)

    def measured(title: str, value: Callable[[Any], float], unit: str = _NATS, digits: int = 4, **more: Any) -> Column:
        runs = {row: tuple(map(value, of)) for row, of in ours.items() if all("final" in run for run in of)}
        samples = {row: summary(values) for row, values in runs.items() if len(values) > 1}
        return Column(title, unit, {row: fmean(of) for row, of in runs.items()}, samples, runs, digits, **more)

    def of_task(task: str) -> list[Column]:
        return [
            measured(f"{task}, ours", lambda run: run["dev"][task]["loss"]),
            measured(
                f"{task} right, ours", lambda run: 100 * run["test"][task]["exact"], "% right", 1, more_is_better=True
            ),
        ]

    found = [
        printed("early loss, theirs", _NATS, "early", 3),
        measured("early loss, ours", lambda run: run["early"]),
        printed("final loss, theirs", _NATS, "final", 3),
        measured("final loss, ours", lambda run: run["final"]),
        printed("parameters, theirs", "10⁶", "parameters", 0, log=True),
        Column(
            "parameters, ours", "10³", {r: of[0]["parameters"] / 1e3 for r, of in ours.items()}, {}, {}, 0, log=True
        ),
        printed("operations, theirs", "10¹² per step", "operations", 1, log=True),
        printed("steps/s, theirs", "steps per second", "steps_per_second", 2, log=True, more_is_better=True),
        printed("SuperGLUE, theirs", "average", "superglue", 2, more_is_better=True),
        printed("XSum, theirs", "ROUGE-2", "xsum", 2, more_is_better=True),
        printed("WebQ, theirs", "% right", "webq", 2, more_is_better=True),
        printed("EnDe, theirs", "BLEU", "ende", 2, more_is_better=True),
        *(column for task in ("sounds", "numbers", "spelling") for column in of_task(task)),
    ]
    return {column.title: column for column in found}


def tested(of: Mapping[str, Column]) -> list[str]:
    """The columns that have samples of two rows or more, vanilla's among them: those that can be tested."""
    return [title for title, column in of.items() if len(column.samples) > 1 and VANILLA in column.samples]
