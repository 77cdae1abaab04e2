"""Figures: a Transformer against LSTMs at equal parameters and equal text, five seeds each, at two sizes.

Three answers to "why Transformers?" that may hold, as far as minutes of training can say:

1. capacity         does more of it help more? nats per character on dev plays, at two numbers of parameters
2. optimisation     does it learn in fewer steps? the training loss, step by step
3. generalisation   is it better on new text than its training loss says? the loss on dev beside the training loss

and the cost of a training step of each, in turns. Both are trained by the same optimiser at the best of two rates, chosen on
dev plays with the first seed. The LSTM has as many parameters as the Transformer, which has rotary positions and pre-norm.

Departs from the papers that compare them (Dai et al. 2019, table 4; Kaplan et al. 2020, section 3.2.1): a ten-thousandth of
their sizes, and texts of 64 characters, which an LSTM can well remember.
"""

from functools import lru_cache, partial
from itertools import pairwise
from statistics import mean
from typing import Any

from lectures.trained import build
from torch import Tensor

from lectures.recipes.costs import random_tokens, seconds_per_step
from lectures.recipes.gpt_against_lstm import lstm_config
from lectures.recipes.positions import Windows, by_position, data, next_loss
from lectures.recipes.run import Run, parameters, recipe

TIME, BATCH, STEPS, WARM_UP = 64, 12, 300, 30
WIDTHS = (24, 48)
RATES = (3e-3, 1e-2)
SEEDS, TRANSFORMER, LSTM = 5, "Transformer", "LSTM"
SETTINGS = f"{STEPS} steps of {BATCH} × {TIME} characters, AdamW with a cosine, the better of the rates {RATES}"


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


def train(run: Run, kind: str, width: int, text: Tensor, dev: Tensor, seed: int, rate: float, vocab_size: int) -> Any:
    """Loss on dev and on the last batches of training, the curve in stretches of 10 steps, and the model's size."""
    name, steps = f"{kind}-{width}-{len(text)}-{rate:g}-{seed}", run.size(STEPS, 2)
    of, sizes = config(kind, vocab_size, width)
    model: Any = run.build(f"{kind}-{seed}", partial(build, of, sizes))
    history = run.fit(
        name, model, Windows(text, run.size(BATCH, 2), TIME, 1000 * seed), loss=next_loss, steps=steps,
        learning_rate=rate, warm_up=WARM_UP, checkpoint_every=1000,
    )  # fmt: skip
    curve = [round(mean(history.losses[i : i + 10]), 4) for i in range(0, steps, 10)]
    return {"dev": round(float(by_position(model.eval(), dev).mean()), 4), "curve": curve, "size": parameters(model)}


def best_of(run: Run, kind: str, width: int, text: Tensor, dev: Tensor, vocab_size: int) -> dict[str, Any]:
    """All seeds at the rate that is better with the first."""
    tried = {rate: train(run, kind, width, text, dev, 0, rate, vocab_size) for rate in run.size(RATES, RATES[:1])}
    rate = min(tried, key=lambda rate: tried[rate]["dev"])
    more = [train(run, kind, width, text, dev, seed, rate, vocab_size) for seed in range(1, run.size(SEEDS, 2))]
    runs = [tried[rate], *more]
    return {
        "parameters": runs[0]["size"],
        "rate": rate,
        "dev": [one["dev"] for one in runs],
        "curve": [one["curve"] for one in runs],
    }


@recipe(5)
def cook(run: Run) -> None:
    _, (text, longer, vocab_size) = data(run.size(None, 4000))
    dev, widths = longer[:, : TIME + 1], run.size(WIDTHS, (8, 16))
    sizes = {
        kind: {str(width): best_of(run, kind, width, text, dev, vocab_size) for width in widths}
        for kind in (TRANSFORMER, LSTM)
    }
    models = {
        f"{kind} {width}": build(*config(kind, vocab_size, int(width))) for kind, by in sizes.items() for width in by
    }
    seconds = seconds_per_step(
        {name: (model, random_tokens(model, (BATCH, TIME))) for name, model in models.items()}, run.size(8, 1)
    )
    for kind, by in sizes.items():
        for width, row in by.items():
            row["seconds_per_step"] = round(seconds[f"{kind} {width}"], 4)
    report(run, sizes)


def gains(by: dict[str, Any]) -> list[float]:
    """How much lower the mean loss is at every next size."""
    means = [mean(row["dev"]) for row in by.values()]
    return [before - after for before, after in pairwise(means)]


def report(run: Run, sizes: dict[str, Any]) -> None:
    run.save_result(
        "why_transformer",
        {
            "question": "A Transformer against an LSTM at equal parameters and equal text: capacity, optimisation,"
            " generalisation",
            "how": f"nats per character on dev plays, one value per seed; {SETTINGS}; curve: training loss, means of ten"
            " steps; seconds_per_step: processor time of one step on one core, measured in turns",
            "sizes": sizes,
            "what_it_shows": "; ".join(
                f"{kind}: every next size lowers the loss by {', '.join(f'{gain:.2f}' for gain in gains(by))}"
                for kind, by in sizes.items()
            ),
        },
    )
