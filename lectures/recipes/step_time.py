"""Figure: how long a training step of a Transformer takes, beside one of an LSTM with as many parameters, at four sizes.

Per parameter and token both do about the same multiplications. What differs is their form: a Transformer multiplies all
positions of a batch by a matrix in one product, an LSTM one position after the other. Attention adds scores, norms and
softmaxes, whose cost per parameter falls as the matrices grow.
"""

from typing import Any

from lectures.recipes.costs import random_tokens, seconds_per_step
from lectures.recipes.run import Run, parameters, recipe
from lectures.recipes.why_transformer import LSTM, TRANSFORMER, config
from lectures.trained import build

WIDTHS, LENGTHS, BATCH, VOCAB = (48, 128, 256, 512), (64, 256), 12, 96


@recipe(2)
def cook(run: Run) -> None:
    rows = [measured(run, width, n) for n in run.size(LENGTHS, (4, 6)) for width in run.size(WIDTHS, (8, 16))]
    run.save_result(
        "step_time",
        {
            "question": "How long is a training step of a Transformer compared with one of an LSTM of equal size?",
            "how": f"forward, backward and AdamW on {BATCH} texts, two layers of the Transformer and one of the LSTM with"
            " as many parameters, one thread; processor seconds, the mean of steps taken in turns",
            "rows": rows,
            "what_it_shows": "the Transformer's step, in steps of the LSTM: "
            + ", ".join(
                f"{row['ratio']} at {row['parameters']:,} parameters and {row['tokens']} tokens" for row in rows
            ),
        },
    )


def measured(run: Run, width: int, n: int) -> dict[str, Any]:
    """Both networks at one width of the Transformer, on texts of n tokens."""
    models: Any = {kind: build(*config(kind, VOCAB, width)) for kind in (TRANSFORMER, LSTM)}
    batches = {kind: (model, random_tokens(model, (BATCH, n))) for kind, model in models.items()}
    taken = seconds_per_step(batches, run.size(5, 1))
    row = {
        "width": width,
        "tokens": n,
        "parameters": parameters(models[TRANSFORMER]),
        "lstm_parameters": parameters(models[LSTM]),
        "seconds": {kind: round(one, 4) for kind, one in taken.items()},
        "ratio": round(taken[TRANSFORMER] / taken[LSTM], 2),
    }
    run.say(str(row))
    return row
