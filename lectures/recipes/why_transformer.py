"""Figures: a Transformer against LSTMs at equal parameters and equal text, five seeds each, at two sizes.

Three answers to "why Transformers?" that may hold, as far as minutes of training can say:

1. capacity         does more of it help more? nats per character on dev plays, at two numbers of parameters, and after
                    four times as many steps
2. optimisation     does it learn in fewer steps? the training loss, step by step
3. generalisation   is it better on new text than its training loss says? the loss on dev beside the training loss

and the cost of a training step of each, in turns. Both are trained by the same optimiser, each size and length at its own
rate, bracketed on dev plays by the mean of three seeds. The LSTM has as many parameters as the Transformer, which has rotary
positions and pre-norm.

Departs from the papers that compare them (Dai et al. 2019, table 4; Kaplan et al. 2020, section 3.2.1): a ten-thousandth of
their sizes, and texts of 64 characters, which an LSTM can well remember.
"""

from dataclasses import replace
from functools import lru_cache, partial
from itertools import pairwise
from statistics import mean
from typing import Any

from lectures.trained import build

from lectures.recipes.experiment import Experiment, Setting
from lectures.recipes.costs import random_tokens, seconds_per_step
from lectures.recipes.gpt_against_lstm import lstm_config
from lectures.recipes.positions import characters
from lectures.recipes.run import Run, parameters, recipe

TIME, WIDTHS, TRANSFORMER, LSTM = 64, (24, 48), "Transformer", "LSTM"
SETTING = Setting(300, 12, (3e-3, 1e-2), 30, curve=10, name="{row}-{rate:g}-{seed}", choosing=3)
LONGER = 1200


@lru_cache(maxsize=64)
def config(kind: str, vocab_size: int, width: int, depth: int = 2) -> tuple[str, dict[str, Any]]:
    """(class, sizes) of a Transformer of that width, or of the LSTM with as many parameters."""
    sizes = {
        "vocab_size": vocab_size,
        "d_model": width,
        "n_heads": 4,
        "n_layers": depth,
        "max_length": TIME,
        "positions": "none",
        "attention_positions": "rotary",
    }
    if kind == TRANSFORMER:
        return "TransformerLM", sizes
    return "RecurrentLM", lstm_config(vocab_size, width, parameters(build("TransformerLM", sizes)))


@recipe(5)
def cook(run: Run) -> None:
    task, widths = characters(run, TIME), run.size(WIDTHS, (8, 16))

    def trained(kind: str, width: int, steps: int) -> dict[str, Any]:
        setting = replace(SETTING, weights=f"{kind}-{{seed}}", steps=steps)
        model = partial(build, *config(kind, task.vocab_size, width))
        return Experiment(run, task, setting).at_best_rate(f"{kind}-{width}", model)

    sizes, longer = (
        {kind: {str(width): trained(kind, width, steps) for width in widths} for kind in (TRANSFORMER, LSTM)}
        for steps in (SETTING.steps, LONGER)
    )
    models = {
        f"{kind} {width}": build(*config(kind, task.vocab_size, int(width)))
        for kind, by in sizes.items()
        for width in by
    }
    seconds = seconds_per_step(
        {name: (model, random_tokens(model, (SETTING.batch, TIME))) for name, model in models.items()}, run.size(8, 1)
    )
    for kind, by in sizes.items():
        for width, row in by.items():
            row["seconds_per_step"] = round(seconds[f"{kind} {width}"], 4)
    run.save_result(
        "why_transformer",
        {
            "question": "A Transformer against an LSTM at equal parameters and equal text: capacity, optimisation,"
            " generalisation",
            "how": f"nats per character on dev plays, one value per seed; {SETTING.words(task.what)}; rates bracketed by the"
            f" mean of {SETTING.choosing} seeds; curve: training loss, means of ten steps; seconds_per_step: processor time of"
            " one step on one core, measured in turns",
            "floors": task.floors,
            "sizes": sizes,
            "longer": longer,
            "longer_is": f"the same after {LONGER} steps",
            "what_it_shows": "; ".join(
                f"{kind}: after {steps} steps every next size lowers the loss by {', '.join(f'{gain:.2f}' for gain in gains(by))}"
                for steps, found in ((SETTING.steps, sizes), (LONGER, longer))
                for kind, by in found.items()
            ),
        },
    )


def gains(by: dict[str, Any]) -> list[float]:
    """How much lower the mean loss is at every next size."""
    means = [mean(row["dev"]) for row in by.values()]
    return [before - after for before, after in pairwise(means)]
