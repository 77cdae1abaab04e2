"""Figure: attention of a captioner, scored where place does not give the answer away.

In the pictures of `captions` the symbol that is named first fills most of the left half. Attention that never looks,
left half first and then right half, scores as high as the model's. Here the symbols are smaller, the picture is wider, and
both may be in one half (`scenes.SCATTERED`). The captioner with patches is trained on such pictures and scored as before, beside the
attention that it pays to another picture and the best that can be done without looking.
"""

from functools import partial
from typing import Any

import torch
from lectures.trained import build
from nlmcore.metrics import mean_interval

from lectures.recipes import captions
from lectures.recipes.experiment import columns
from lectures.recipes.run import Run, recipe
from lectures.recipes.scenes import SCATTERED, scenes

STEPS, RATE, SEEDS = 2000, 4e-3, 3
CONFIG = {**captions.config("patches"), "encoder": captions.ENCODERS["patches"] | {"width": SCATTERED.columns}}


def train(run: Run, seed: int) -> Any:
    model: Any = run.build(f"patches-{seed}", partial(build, "Captioner", CONFIG))
    run.fit(
        f"patches-{seed}",
        model,
        captions.Pictures(run.size(32, 2), 1000 * seed, SCATTERED),
        steps=run.size(STEPS, 2),
        learning_rate=RATE,
        warm_up=50,
        loss=captions.caption_loss,
    )
    return model.eval()


@torch.no_grad()
def measured(model: Any, count: int) -> dict[str, Any]:
    """Right captions of both kinds of pairs, and attention on new pictures of pairs that training has."""
    found = captions.measure(model, count, SCATTERED)
    return found | captions.scored(model, scenes(count, 10_000, False, SCATTERED))


@recipe(7)
def cook(run: Run) -> None:
    count = run.size(200, 4)
    runs = [measured(train(run, seed), count) for seed in range(run.size(SEEDS, 2))]
    by = columns(runs)
    run.save_result(
        "scattered",
        {
            "question": "Does a captioner's attention follow the symbol where the place does not give it away?",
            "how": f"{count} new pictures of pairs that training has, one value per seed; two symbols of"
            f" {SCATTERED.heights[0]} to {SCATTERED.heights[-1]} pixels anywhere in 16 × {SCATTERED.columns}, named from left"
            f" to right; masses of attention as in captions; {STEPS} steps of 32 pictures",
            "patches": by,
            "what_it_shows": "; ".join(
                f"{key.replace('_', ' ')} {mean_interval(by[key])[0]:.0%}"
                for key in ("right", "right_new_pairs", "in_box", "another_picture", "blind", "in_other")
            ),
        },
    )
