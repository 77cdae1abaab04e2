"""Checkpoint and figure: a small Transformer with two habits learns from "right or wrong", and from a judge of length.

There are three bases (`sums`): one whose teachers forget carries, one whose wrong answers scatter instead of agreeing,
and one of swapped teachers, for whom working in steps is the wrong habit. The last two go on from the first. A seed
draws the sums and the answers, so what all seeds agree on may still differ from base to base. Every method sees as
many samples as the others, with the same seeds, at one rate; the four cells of the table also at twice this rate, and
with the first seed at half of it. The controls: a reward at random, a reward for wrong answers, the swapped base with
four times the updates, and right answers that the base wrote, instead of the model's own.
"""

import copy
import random
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from statistics import mean
from typing import Any

import torch
from nlmcore.metrics.attempts import majority, pass_at_k
from torch import nn

from lectures.recipes.run import Run, about, add_figures, recipe, save_checkpoint
from lectures.recipes.sums import (
    BATCH,
    CONFIG,
    TEACHERS,
    TOKENIZER,
    Method,
    alike_loss,
    described,
    final,
    is_right,
    learn,
    sums,
    text_loss,
    texts,
    untrained,
    write,
)

SEEDS, JUDGED = 10, 5
"""Of all rows but the judge's; of the judge's."""
PHASES = ((1500, 4e-3, text_loss), (400, 3e-3, alike_loss), (150, 1e-3, text_loss))
"""(steps, rate, loss) of the first base. The loss per token leaves the middle digit of answers at once at chance, the
loss per kind of answer learns it in 200 steps; the last phase restores how often each kind is written."""
MORE, RATE_OF_MORE = 200, 2e-3
"""Of what goes on from it with other teachers."""
OTHER_RATES = (2.5e-4, 1e-3)
TABLE = {
    "mean": Method("mean"),
    "mean, by length": Method("mean", by_length=True),
    "none": Method("none"),
    "none, by length": Method("none", by_length=True),
}
"""The four cells: is the group's mean subtracted, is the loss divided by each answer's length?"""
JUDGE = Method("mean", rate=1e-3, reward="long", updates=30, samples=4)
BETAS = (0.0, 0.003, 0.01, 0.03)
TRIES = (1, 4, 16, 64)
AFTER, LONGER = "mean", "swapped, longer"
"""The rows whose models are asked for several attempts. The controls and the judge have the method of the first."""
CONTROLS = {
    "swapped": Method(AFTER),
    LONGER: Method(AFTER, updates=4 * Method.updates),
    "random": Method(AFTER, reward="random"),
    "wrong": Method(AFTER, reward="wrong"),
    "offline": Method("none", offline=True),
}
"""On the base that a name begins with, or on the first."""


def measured(model: Any, seed: int, count: int) -> dict[str, float]:
    """At temperature 1, on held-out sums; and right among answers in steps and among those at once."""
    pairs = sums(random.Random(f"test/{seed}"), count, held=True)
    written = write(model, pairs, 1, torch.Generator().manual_seed(seed))
    by: dict[bool, list[float]] = {True: [], False: []}
    for pair, text in zip(written.sums, written.texts, strict=True):
        by[";" in text].append(is_right(pair, text))
    shares = {"right in steps": mean(by[True] or [0.0]), "right at once": mean(by[False] or [0.0])}
    return {name: round(value, 4) for name, value in (described(written) | shares).items()}


def attempts(model: Any, seed: int, questions: int, tries: Sequence[int]) -> dict[str, dict[str, float]]:
    """pass@k, and how often the vote of k is right."""
    n, generator = max(tries), torch.Generator().manual_seed(seed)
    right: list[int] = []
    votes: dict[int, list[float]] = {k: [] for k in tries}
    pairs = sums(random.Random(f"attempts/{seed}"), questions, held=True)
    for start in range(0, questions, 10):
        written = write(model, pairs[start : start + 10], n, generator)
        for i in range(0, len(written.texts), n):
            pair, answers = written.sums[i], [final(text) for text in written.texts[i : i + n]]
            right.append(answers.count(str(sum(pair))))
            for k in tries:
                votes[k] += [is_right(pair, majority(answers[j : j + k])) for j in range(0, n, k)]
    return {
        "pass": {str(k): round(mean(pass_at_k(n, count, k) for count in right), 4) for k in tries},
        "vote": {str(k): round(mean(of), 4) for k, of in votes.items()},
        "never": {str(n): right.count(0) / len(right)},
    }


def rewarded(base: Any, how: Method, seed: int, count: int, tries: Sequence[int] = ()) -> dict[str, Any]:
    """A copy of the base after `how.updates` updates."""
    model = copy.deepcopy(base)
    curve: dict[str, list[float]] = {}
    shown = []
    for step, (row, written) in enumerate(learn(model, base, how, seed)):
        for name, value in row.items():
            curve.setdefault(name, []).append(round(value, 3))
        if step % 5 == 0 or step == how.updates - 1:
            (a, b), text = written.sums[0], written.texts[0]
            shown.append([step, f"{a}+{b}={text}"])
    found = measured(model, seed, count)
    more = {"attempts": attempts(model, seed, count // 16, tries)} if tries else {}
    return {"found": found, "curve": curve, "texts": shown, **more}


def bases(run: Run) -> dict[str, nn.Module]:
    """By their teachers."""
    model = run.build("forget", untrained)

    def taught(name: str, teachers: str, steps: int, rate: float, loss: Any) -> None:
        sized = run.size(steps, 3)
        run.fit(name, model, partial(texts, teachers), loss=loss, warm_up=50, steps=sized, learning_rate=rate)

    for phase, given in enumerate(PHASES):
        taught(f"forget{f', phase {phase}' if phase else ''}", "forget", *given)
    found = {"forget": model.eval()}
    for teachers in list(TEACHERS)[1:]:
        model = copy.deepcopy(found["forget"])
        taught(teachers, teachers, MORE, RATE_OF_MORE, text_loss)
        found[teachers] = model.eval()
    return found


def sample(model: Any, tokenizer: Any) -> dict[str, float]:
    return {name: measured(model, 0, 100)[name] for name in ("right", "steps", "length")}


@recipe(8, "checkpoint:sums result:checked_rewards", sample=sample)
def cook(run: Run) -> None:
    seeds = range(run.size(SEEDS, 2))
    count, tries = run.size((400, TRIES), (16, (1, 2)))
    quick: dict[str, Any] = run.size({}, {"updates": 2, "questions": 2, "samples": 4})
    made = bases(run)
    before = {
        teachers: run.kept(f"before, {teachers}", partial(start, made[teachers], count, len(seeds), tries))
        for teachers in TEACHERS
    }

    def after(name: str, how: Method, seed: int, base: str = "forget") -> dict[str, Any]:
        more = tries if name in (AFTER, LONGER) else ()
        measure = partial(rewarded, made[base], replace(how, **quick), seed, count, more)
        return run.kept(f"{name}, {how.rate:g}, {how.beta:g}, {seed}", measure)

    rows: dict[str, dict[str, Any]] = {}
    attempted: dict[str, list[Any]] = {name: of["attempts"] for name, of in before.items()}
    for name, how in TABLE.items():
        runs = [after(name, how, seed) for seed in seeds]
        slow, fast = OTHER_RATES
        faster = [after(name, replace(how, rate=fast), seed) for seed in seeds]
        tried = {slow: after(name, replace(how, rate=slow), 0), how.rate: runs[0], fast: faster[0]}
        rows[name] = row_of(runs, how.rate)
        rows[name]["rates"] = {f"{rate:g}": one["found"]["right"] for rate, one in tried.items()}
        rows[name][f"right at {fast:g}"] = [one["found"]["right"] for one in faster]
        if name == AFTER:
            attempted["after"] = [one["attempts"] for one in runs]
    for name, how in CONTROLS.items():
        base = next((teachers for teachers in TEACHERS if name.startswith(teachers)), "forget")
        runs = [after(name, how, seed, base) for seed in seeds]
        rows[name] = row_of(runs, how.rate)
        if name == LONGER:
            attempted[name] = [one["attempts"] for one in runs]
    judged = {
        f"{beta:g}": row_of([after("judge", replace(JUDGE, beta=beta), seed) for seed in seeds[:JUDGED]], JUDGE.rate)
        for beta in run.size(BETAS, BETAS[:2])
    }
    save(run, made["forget"], before["forget"]["found"])
    run.save_result(
        "checked_rewards",
        {
            "question": "What does a small Transformer learn from right or wrong alone?",
            "how": f"{sum(p.numel() for p in made['forget'].parameters()):,} parameters, {Method.updates} updates of"
            f" {Method.questions} sums × {Method.samples} answers, AdamW at {Method.rate:g} (the judge: {JUDGE.updates}"
            f" of {JUDGE.questions} × {JUDGE.samples} at {JUDGE.rate:g}), {len(seeds)} seeds of sums and answers, one"
            f" base for each kind of teachers; {count} held-out sums at temperature 1",
            "before": {name: of["found"] for name, of in before.items()},
            "rows": rows,
            "attempts": attempted,
            "judged": judged,
            "what_it_shows": "; ".join(
                f"{name} {mean(row['right']):.0%} right, {mean(row['length']):.0f} characters"
                for name, row in rows.items()
            ),
        },
    )


def start(model: Any, count: int, seeds: int, tries: Sequence[int]) -> dict[str, Any]:
    """What a base does before any reward."""
    found = [attempts(model, seed, count // 8, tries) for seed in range(seeds)]
    return {"found": measured(model, 0, count), "attempts": found}


def row_of(runs: list[dict[str, Any]], rate: float) -> dict[str, Any]:
    """Seed by seed; the texts of the first."""
    found = {key: [one["found"][key] for one in runs] for key in runs[0]["found"]}
    return {"rate": rate, **found, "curves": [one["curve"] for one in runs], "texts": runs[0]["texts"]}


def save(run: Run, model: nn.Module, figures: dict[str, float]) -> None:
    """The base of the first seed, from which the lecture learns live."""
    training = {
        "steps": sum(run.size(steps, 3) for steps, _, _ in PHASES),
        "batch": BATCH,
        "learning_rate": [rate for _, rate, _ in PHASES],
        "warm_up": 50,
    }
    data = {
        "source": "sums of three digits by two kinds of careless teachers",
        "split": "by a hash: one sum in ten is held out",
    }
    facts = about("answers to sums, a quarter in steps, the others at once with every carry forgotten", data, training)
    save_checkpoint(run, "sums", model, CONFIG, [TOKENIZER], facts, list(run.seconds)[: len(PHASES)])
    add_figures(run, "sums", figures)
