"""The columns of the table: theirs as printed, ours as far as they are measured; and which rows of a column differ."""

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from statistics import fmean
from typing import Any, NamedTuple

from nlmcore.metrics.significance import Comparison, Sample, against, critical, summary

VANILLA = "Vanilla Transformer"
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
        """Every other row against one row, corrected for how many there are."""
        return _tests(tuple(self.samples.items()), baseline)


def interval(sample: Sample) -> tuple[float, float]:
    """(mean, half the width of its 95 % interval)."""
    return sample.mean, _t(sample.n - 1) * sample.sd / math.sqrt(sample.n)


_t = lru_cache(critical)


@lru_cache(maxsize=64)
def _tests(samples: tuple[tuple[str, Sample], ...], baseline: str) -> dict[str, Comparison]:
    rows = dict(samples)
    base = rows.pop(baseline, None)
    return against(base, rows) if base else {}


def columns(theirs: Mapping[str, Mapping[str, float]], ours: Mapping[str, Any]) -> dict[str, Column]:
    """theirs: row -> what the paper prints; ours: `stored("modifications")["rows"]`, whole or not."""

    def printed(title: str, unit: str, key: str, digits: int, **more: Any) -> Column:
        samples = {r: Sample(of["early"], of["sd"], THEIR_RUNS) for r, of in theirs.items()} if key == "early" else {}
        return Column(title, unit, {row: of[key] for row, of in theirs.items()}, samples, {}, digits, **more)

    def counted(title: str, unit: str, key: str, digits: int, scale: float, **more: Any) -> Column:
        return Column(
            title,
            unit,
            {row: ours[row][key] / scale for row in theirs if key in ours.get(row, {})},
            {},
            {},
            digits,
            **more,
        )

    def measured(title: str, key: str) -> Column:
        runs = {row: tuple(ours[row][key]) for row in theirs if ours.get(row, {}).get(key)}
        samples = {row: summary(values) for row, values in runs.items() if len(values) > 1}
        return Column(title, "nats per token", {row: fmean(values) for row, values in runs.items()}, samples, runs, 3)

    found = [
        printed("early loss, theirs", "nats per token", "early", 3),
        measured("early loss, ours", "early"),
        printed("final loss, theirs", "nats per token", "final", 3),
        measured("final loss, ours", "final"),
        printed("parameters, theirs", "10⁶", "parameters", 0, log=True),
        counted("parameters, ours", "10³", "parameters", 0, 1e3, log=True),
        printed("operations, theirs", "10¹² per step", "operations", 1, log=True),
        counted("multiply-adds, ours", "10⁶ per batch", "multiply_adds", 0, 1e6, log=True),
        printed("steps/s, theirs", "steps per second", "steps_per_second", 2, log=True, more_is_better=True),
        counted("steps/s, ours", "steps per second", "steps_per_second", 1, 1, log=True, more_is_better=True),
        printed("SuperGLUE, theirs", "average", "superglue", 2, more_is_better=True),
        printed("XSum, theirs", "ROUGE-2", "xsum", 2, more_is_better=True),
        printed("WebQ, theirs", "% right", "webq", 2, more_is_better=True),
        printed("EnDe, theirs", "BLEU", "ende", 2, more_is_better=True),
        measured("phonemes, ours", "phonemes"),
        measured("numbers, ours", "numbers"),
    ]
    return {column.title: column for column in found}


def tested(of: Mapping[str, Column]) -> list[str]:
    """The columns that have samples of two rows or more, vanilla's among them: those that can be tested."""
    return [title for title, column in of.items() if len(column.samples) > 1 and VANILLA in column.samples]
