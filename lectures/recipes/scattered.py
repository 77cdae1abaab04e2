"""Figure: attention of a captioner, scored where place does not give the answer away.

In the pictures of `captions` the symbol that is named first fills most of the left half. Attention that never looks,
left half first and then right half, scores as high as the model's. Here the symbols are smaller, the picture is wider, and
both may be in one half (`scenes.SCATTERED`). The captioner with patches is trained on such pictures, at a rate that other
pictures choose, and scored as before, beside the attention that it pays to another picture and the best that can be done
without looking.
"""

from functools import partial
from typing import Any

import torch
from lectures.trained import build
from nlmcore.metrics import mean_interval

from lectures.recipes import captions
from lectures.recipes.experiment import Experiment, Setting, Task
from lectures.recipes.run import Run, recipe
from lectures.recipes.scenes import SCATTERED, scenes

SETTING = Setting(5000, 32, (1e-3, 2e-3, 4e-3), name="patches-{seed}-{rate:g}", weights="{seed}")
CONFIG = {**captions.config("patches"), "encoder": captions.ENCODERS["patches"] | {"width": SCATTERED.columns}}


@torch.no_grad()
def measured(count: int, model: Any) -> dict[str, Any]:
    """Right captions of both kinds of pairs, and attention on new pictures of pairs that training has."""
    dev = scenes(count, 30_000, False, SCATTERED)
    batch = torch.stack([one.image for one in dev]), *captions.ids([one.caption for one in dev])
    found = {"dev": round(float(captions.caption_loss(model, batch)), 4)}
    found |= captions.measure(model, count, SCATTERED)
    return found | captions.scored(model, scenes(count, 10_000, False, SCATTERED))


@recipe(25)
def cook(run: Run) -> None:
    count = run.size(200, 4)
    task = Task(
        lambda size, seed: captions.Pictures(size, 1000 * seed, SCATTERED),
        captions.caption_loss,
        partial(measured, count),
    )
    by = Experiment(run, task, SETTING).at_best_rate("patches", partial(build, "Captioner", CONFIG))
    run.save_result(
        "scattered",
        {
            "question": "Does a captioner's attention follow the symbol where the place does not give it away?",
            "how": f"{count} new pictures of pairs that training has, one value per seed; two symbols of"
            f" {SCATTERED.heights[0]} to {SCATTERED.heights[-1]} pixels anywhere in 16 × {SCATTERED.columns}, named from left"
            f" to right; masses of attention as in captions; {SETTING.words('pictures')}",
            "patches": by,
            "what_it_shows": "; ".join(
                f"{key.replace('_', ' ')} {mean_interval(by[key])[0]:.0%}"
                for key in (
                    "right",
                    "right_new_pairs",
                    "in_box",
                    "largest_in_box",
                    "another_picture",
                    "blind",
                    "in_other",
                )
            ),
        },
    )
