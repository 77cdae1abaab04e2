"""Figures: do the models of the result `modifications` use their source at all? Three rows, three seeds each.

Each training of `modifications` is repeated. Then the model reads the held-out targets once more, each with
the source of the next text of its batch. A model that uses its source loses a lot; one that does not loses nothing.
Beside both losses stand those of n-grams of the targets, which have no source: Witten-Bell, orders 1 to 3.
"""

from copy import deepcopy
from functools import partial
from typing import Any

import torch
from nlmcore.training import evaluate
from torch import Tensor

from lectures.recipes.modifications import (
    BATCH, RATE, SETTINGS, STEPS, TUNED_STEPS, VANILLA, Spans, Tasks, build, held_out, learn, tasks,
)  # fmt: skip
from lectures.recipes.pairs import PairBatches, as_target
from lectures.recipes.run import Run
from lectures.recipes.transfer import ngram_floors

ROWS = (VANILLA, "GeGLU", "Fixup")
"""The baseline; the best row of the paper's kind; the best row of ours."""
SEEDS, ORDERS = 3, 3

Batch = dict[str, Tensor]


def with_the_next_source(batch: Batch) -> Batch:
    """Every target with the source of the text after it; the last with the first."""
    return batch | {name: batch[name].roll(-1, 0) for name in ("source", "source_mask")}


def both_losses(model: Any, batches: list[Batch]) -> dict[str, float]:
    others = [with_the_next_source(batch) for batch in batches]
    return {
        "own source": round(evaluate(model, batches), 7),
        "another text's source": round(evaluate(model, others), 7),
    }


def measure(name: str, seed: int, quick: bool) -> dict[str, dict[str, float]]:
    """Of one training, both losses of each task."""
    torch.manual_seed(seed)
    data = tasks(quick)
    model, batch = build(name, data, quick), 2 if quick else BATCH
    texts = held_out(data)[: 1 if quick else None]
    learn(model, Spans(data, batch, seed), 8 if quick else STEPS, RATE, texts)
    found = {"spans": both_losses(model, texts)}
    for task, pairs in data.pairs.items():
        tested = list(PairBatches(data.tests[task], 64, 0)(0))
        tuned = deepcopy(model)
        learn(tuned, PairBatches(pairs, batch, seed), 2 if quick else TUNED_STEPS, RATE, tested)
        found[task] = both_losses(tuned, tested)
    return found


def targets(batches: list[Batch]) -> list[list[int]]:
    return [
        row[real].tolist() for batch in batches for row, real in zip(batch["tokens"], batch["mask"].bool(), strict=True)
    ]


def floors(data: Tasks, batches: int) -> dict[str, list[float]]:
    """By task: nats per token of n-grams, trained on the targets of so many batches of spans, and on all pairs."""
    seen = [batch for _, batch in zip(range(batches), Spans(data, BATCH, 0)(0), strict=False)]
    found = {"spans": ngram_floors(targets(seen), targets(held_out(data)), data.vocab_size, ORDERS)}
    for task, pairs in data.pairs.items():
        trained, tested = ([as_target(answer) for _, answer in some] for some in (pairs, data.tests[task]))
        found[task] = ngram_floors(trained, tested, data.vocab_size, ORDERS)
    return found


def cook(run: Run) -> None:
    torch.set_num_threads(1)
    data, rows = tasks(run.quick), dict[str, list[dict[str, dict[str, float]]]]()
    for name in run.size(ROWS, ROWS[:1]):
        rows[name] = []
        for seed in range(run.size(SEEDS, 1)):
            rows[name].append(run.kept(f"{name}-{seed}", partial(measure, name, seed, run.quick)))
            run.say(f"{name}, seed {seed}: {rows[name][-1]}")
    run.save_result(
        "unused_source",
        {
            "question": "Do the models of the table of modifications use their source?",
            "how": f"{SETTINGS}. Held-out loss in nats per token, one figure per seed: with the own source, and with"
            " that of the next text of the batch. n-grams: Witten-Bell, orders 1 to 3, of the targets alone",
            "rows": rows,
            "n-grams": floors(data, run.size(100, 2)),
        },
    )
