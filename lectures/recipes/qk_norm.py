"""Figure: does QK-norm help a small Transformer? The same model with and without it at every learning rate, five paired seeds.

QK-norm normalises queries and keys, so that no score can grow without bound (Dehghani et al. 2023). What it is known
for is training at large rates. So each row runs at rates on both sides of its best, and with all seeds at each.
"""

from functools import partial
from statistics import fmean
from typing import Any

import torch
from nlmcore.metrics.significance import paired
from nlmcore.positions import NoPositions, Rotary
from nlmcore.transformer import TransformerConfig, TransformerLM
from nlmcore.variants.qk_norm import QKNorm
from torch import nn

from lectures.recipes.experiment import Experiment, Setting, columns, over
from lectures.recipes.initial_weights import initialise_glorot
from lectures.recipes.positions import characters
from lectures.recipes.run import Run, recipe

TIME, LAYERS, D_MODEL = 64, 2, 48
RATES = (4e-3, 1.2e-2, 4e-2, 0.12)
SETTING = Setting(1000, 12, RATES, weights="{seed}", name="{row}-{seed}-{rate:g}")
ROWS: dict[str, Any] = {"plain": Rotary, "QK-norm": QKNorm}


def build(vocab_size: int, inside: Any) -> TransformerLM:
    return TransformerLM(
        TransformerConfig(
            vocab_size=vocab_size,
            d_model=D_MODEL,
            n_heads=4,
            n_layers=LAYERS,
            max_length=TIME,
            positions=NoPositions,
            attention_positions=inside,
            initialise=initialise_glorot,
        )
    )


@recipe(3)
def cook(run: Run) -> None:
    torch.set_num_threads(1)
    task = characters(run, TIME)
    experiment = Experiment(run, task, SETTING)

    def one(row: str, seed: int, rate: float) -> dict[str, Any]:
        make: Any = partial(build, task.vocab_size, ROWS[row])
        try:
            return experiment.one(row, make, seed, rate)
        except FloatingPointError:
            model: nn.Module = make()
            return {"parameters": sum(p.numel() for p in model.parameters()), "dev": None, "another context": None}

    seeds = dict.fromkeys(ROWS, SETTING.seeds)
    rows: dict[str, dict[str, Any]] = {row: {} for row in ROWS}
    for rate in run.size(RATES, RATES[1:2]):
        for row, runs in over(run, seeds, partial(one, rate=rate)).items():
            rows[row][f"{rate:g}"] = columns(runs)

    def mean(row: str, rate: str) -> float:
        values = rows[row][rate]["dev"]
        return float("inf") if None in values else fmean(values)

    best = {row: min(of, key=partial(mean, row)) for row, of in rows.items()}
    differences = {}
    for at, of in rows["plain"].items():
        with_it = rows["QK-norm"][at]["dev"]
        if None not in (*of["dev"], *with_it):
            test = paired(of["dev"], {"QK-norm": with_it})[0]["QK-norm"]
            differences[at] = [round(test.difference, 4), round(test.half, 4)]
    at_best = paired(rows["plain"][best["plain"]]["dev"], {"it": rows["QK-norm"][best["QK-norm"]]["dev"]})[0]["it"]
    run.save_result(
        "qk_norm",
        {
            "question": "Does QK-norm help a small Transformer?",
            "how": f"nats per character of dev plays; {LAYERS} layers of width {D_MODEL}, rotary positions;"
            f" {SETTING.words(task.what)}; the same first weights and batches with and without it",
            "floors": task.floors,
            "rows": rows,
            "best": best,
            "difference at each rate": differences,
            "difference at the best rates": [round(float(v), 4) for v in (at_best.difference, at_best.half, at_best.p)],
            "what_it_shows": "; ".join(
                f"{row}: {mean(row, best[row]):.3f} nats at its best rate, {best[row]}" for row in rows
            ),
        },
    )
