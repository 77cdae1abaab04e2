"""Question 6: every row against the baseline, from stored trainings."""

from statistics import fmean
from typing import Any

from autograder.exercise.declare import question, values
from autograder.exercise.draw import Draw
from autograder.exercise.specification import Case, case
from solutions.modifications.checks.common import CLOSED, shuffled
from solutions.modifications.checks.testing import WELCH

Training = dict[str, Any]
BASELINE, RATE = "Vanilla", 0.004
ROWS = {"SwiGLU": -0.2, "GeLU": 0.0, "Fixup": 0.3, "RMS Norm": -0.045, "Rezero": 0.06, "ELU": 0.04}
"""Rows, and how far their mean is from the baseline's."""


def _training(draw: Draw, row: str, seed: int, middle: float, rate: float = RATE) -> Training:
    """The loss before the final one may be lower."""
    final = round(middle + draw.integer(-30, 30) / 1000, 4)
    earlier = [round(final + draw.integer(*between) / 1000, 4) for between in ((300, 900), (-60, 40))]
    return {"row": row, "seed": seed, "rate": rate, "losses": [*earlier, final]}


def _table(draw: Draw, seeds: int) -> list[Training]:
    """Clear rows, unclear ones, and one that only the correction makes unclear; the rows' order is not alphabetical."""
    while True:
        middle = 3 + draw.integer(0, 500) / 1000
        rows = {BASELINE: 0.0, **ROWS}
        made = [_training(draw, row, seed, middle + far) for row, far in rows.items() for seed in range(seeds)]
        losses = {row: [one["losses"][-1] for one in made if one["row"] == row] for row in rows}
        tests = {row: WELCH.reference(losses[row], losses[BASELINE]) for row in ROWS}
        p = {row: tests[row][2] for row in ROWS}
        small = sorted(p.values())
        corrected = JUDGE.reference(made, BASELINE, RATE)[1]
        gained = [row for row in ROWS if p[row] < 0.04 and corrected[row] > 0.06]
        clear = all(corrected[row] < 0.02 for row in ("SwiGLU", "Fixup"))
        unclear = p["GeLU"] > 0.1 and abs(fmean(losses["GeLU"]) - fmean(losses[BASELINE])) > 0.001
        if gained and clear and unclear and small[2] > 0.001:
            return shuffled(draw, made)


def _clean(draw: Draw) -> list[Case]:
    return [case("four seeds each, one rate", _table(draw, 4), BASELINE, RATE)]


def _messy(draw: Draw) -> list[Case]:
    table = _table(draw, 4)
    others = [_training(draw, row, seed, 4.0, 0.008) for row in ("GeLU", BASELINE, "Linformer") for seed in (0, 1)]
    fast = [{"row": "Fixup", "seed": 0, "rate": 0.016, "diverged": True}]
    gone = [{"row": row, "seed": 4, "rate": RATE, "diverged": True} for row in ("Fixup", "GeLU")]
    return [
        case("other rates, and trainings that diverged", shuffled(draw, table + others + fast + gone), BASELINE, RATE)
    ]


def _single(draw: Draw) -> list[Case]:
    table = _table(draw, 4)
    alone = [_training(draw, "FNet", 0, 3.0), _training(draw, "BigBird", 0, 3.2)]
    both = [{"row": "WideNet", "seed": seed, "rate": RATE, "diverged": True} for seed in range(2)]
    uneven = [one for one in table if one["row"] != "ELU" or one["seed"] < 2]
    return [case("rows with a single loss, and with none", shuffled(draw, uneven + alone + both), BASELINE, RATE)]


JUDGE = question(
    "modifications.judge",
    minutes=30,
    difficulty="hard",
    returns=("difference", "corrected", "verdict"),
    properties=[
        values("the differences", 1, _clean, "difference"),
        values("the corrected p values", 1.25, _clean, "corrected"),
        values("the verdicts", 1, _clean, "verdict"),
        values("other rates and trainings that diverged", 1, _messy),
        values("rows with a single loss", 0.75, _single),
    ],
    closed=CLOSED,
    mistakes="""
every-rate: You took the trainings at every learning rate. Only those with the given rate count: the others were made to
tune it.
- one["rate"] == rate and → True and

first-loss: You compared the first of the stored losses. The final one is the last.
- one["losses"][-1] → one["losses"][0]

best-loss: You took the mean of all losses of a training. The final one is the last.
- one["losses"][-1] → fmean(one["losses"])

lowest-loss: You took the lowest loss of each training. The final one is the last, even if an earlier one was lower.
- one["losses"][-1] → min(one["losses"])

not-corrected: Your p values are those of each test alone. Correct all of them at once, for the number of tests.
- holm([welch(runs[row], runs[baseline])[2] for row in rows]) → [welch(runs[row], runs[baseline])[2] for row in rows]
or
- holm([welch(runs[row], runs[baseline])[2] for row in rows])
+ [holm([welch(runs[row], runs[baseline])[2]])[0] for row in rows]

alphabetical-mix-up: Your p values are with the wrong rows: they were computed in one order and given back in another.
- holm([welch(runs[row], runs[baseline])[2] for row in rows])
+ holm([welch(runs[row], runs[baseline])[2] for row in sorted(rows)])

baseline-tested: You tested the baseline against itself, which adds a row and a test. It is what the others are compared
with.
- if row != baseline and len(runs[row]) > 1] → if len(runs[row]) > 1]

baseline-counted: You counted the baseline as a test: with m other rows there are m tests.
- holm([welch(runs[row], runs[baseline])[2] for row in rows])
+ holm([welch(runs[row], runs[baseline])[2] for row in rows] + [1.0])[:-1]

baseline-less-row: Your differences have the wrong sign: the row's mean less the baseline's.
- fmean(runs[row]) - fmean(runs[baseline]) for → fmean(runs[baseline]) - fmean(runs[row]) for
- gaps[row] < 0 → gaps[row] > 0

lower-is-worse: You call a row with a higher loss better. A lower loss is better.
- gaps[row] < 0 else -1 → gaps[row] > 0 else -1

never-worse: You call rows better or unclear, but never worse. A row that is surely above the baseline has −1.
- 1 if gaps[row] < 0 else -1 → int(gaps[row] < 0)

judged-by-the-sign: Your verdicts look only at the sign of the difference. Without a small p it is unclear.
- 0 if corrected[row] >= 0.05 else 1 if gaps → 1 if gaps

judged-before-the-correction: Your corrected p values and your verdicts do not agree: you judged by the p of each test
alone.
- 0 if corrected[row] >= 0.05 else → 0 if welch(runs[row], runs[baseline])[2] >= 0.05 else

single-runs-kept: You kept rows with a single loss. One run has no spread, so no test can be made.
- welch(runs[row], runs[baseline])[2] for → welch(runs[row] * (1 + (len(runs[row]) < 2)), runs[baseline])[2] for
- and len(runs[row]) > 1] → ]

single-runs-counted: You left out rows with a single loss, but counted them as tests. Only tests that were made count.
- holm([welch(runs[row], runs[baseline])[2] for row in rows])
+ holm([welch(runs[row], runs[baseline])[2] for row in rows] + [1.0] * sum(len(r) < 2 for r in runs.values()))[
+     : len(rows)
+ ]

paired-for-welch: You compared the runs pair by pair. The trainings are in no particular order, and seeds may be
missing: use Welch's test.
^ def pairs(x, y):
^     k = min(len(x), len(y))
^     gap, half = paired(x[:k], y[:k])
^     return two_sided(gap / half * critical(k - 1), k - 1)
- welch(runs[row], runs[baseline])[2] → pairs(runs[row], runs[baseline])
""",
)
