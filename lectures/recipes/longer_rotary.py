"""Figure: what helps rotary positions beyond the length of training? The models of `positions`, repaired.

At distances that training never had, a pair has rotated by angles that it never had (Chen et al. 2023, section 2.3). Two
of these repairs keep the angles or the distances among the known ones; the larger base does so for the slowest pair alone:

    interpolation   position m counts as m / 4, so that 192 characters fill the angles of 48    Chen et al. (2023), section 3
    larger base     the slowest pair rotates 4 times more slowly, the fastest as before: base · 4^(d / (d − 2))
                    the "NTK-aware" base, described in Peng et al. (2023), section 3.1
    window          no position reads further back than 47 characters, so no distance is new

A window leaves fewer keys as well as no new angles. Its control has the known angles and every key: the angle is clipped,
so that a key further back than 47 characters is scored as if it were 47 back.

Chen et al. train on for a short while after interpolating, so that is measured as well; its control trains on as
long, on the same longer texts, without interpolation.
"""

import math
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from nlmcore.positions import Rotary, rotary
from nlmcore.positions.relative import BiasedScores, offsets
from nlmcore.transformer import TransformerLM
from torch import Tensor

from lectures.recipes.experiment import over, said
from lectures.recipes.positions import READ, TRAINED, Windows, beyond, build_beyond, data, next_loss, read_on
from lectures.recipes.run import Run, recipe

FACTOR, STEPS = READ // TRAINED, 30


class Interpolated(Rotary):
    """Rotary positions that count in steps of 1 / FACTOR."""

    def rotate(self, x: Tensor, first: int = 0) -> Tensor:
        return rotary(x, torch.arange(first, first + x.shape[2]) / FACTOR, self.base, self.layout)

    forward = rotate


class Clipped(BiasedScores):
    """Rotary positions whose angle grows no more from the longest distance of training on."""

    def scores(self, q: Tensor, k: Tensor) -> Tensor:
        last, time = torch.tensor([TRAINED - 1]), torch.arange(k.shape[2])
        near = rotary(q, time) @ rotary(k, time).mT
        far = rotary(q, last.expand(len(time))) @ k.mT
        is_near = offsets(q.shape[2], k.shape[2]) > -TRAINED
        return (torch.where(is_near, near, far) - q @ k.mT) / math.sqrt(self.d_head)  # attention adds q · k


def larger(n_heads: int, d_head: int, max_length: int, causal: bool) -> Rotary:
    base = 10_000 * FACTOR ** (d_head / (d_head - 2))
    return Rotary(n_heads, d_head, max_length, causal, base=base)


REPAIRS: dict[str, tuple[dict[str, Any], bool]] = {
    "as trained": ({}, False),
    "interpolation": ({"attention_positions": Interpolated}, False),
    "a larger base": ({"attention_positions": larger}, False),
    "a window": ({"window": TRAINED}, False),
    "a clipped angle": ({"attention_positions": Clipped}, False),
    "interpolation, trained on": ({"attention_positions": Interpolated}, True),
    "as before, trained on": ({}, True),
}
"""Name -> (fields of the configuration that change, whether training goes on)."""


def repaired(run: Run, name: str, seed: int) -> list[float]:
    """Mean loss in each stretch of 16 positions."""
    there = beyond(replace(run, recipe=replace(run.recipe, name="positions")))  # its seeds
    vocab_size = there.task.vocab_size
    trained: Any = there.trained("rotary", partial(build_beyond, vocab_size, "rotary"), seed)[0]
    changes, goes_on = REPAIRS[name]
    model = TransformerLM(replace(trained.config, **changes))
    model.load_state_dict(trained.state_dict())
    if goes_on:
        batches = Windows(data(run.size(None, 4000))[1][0], run.size(12, 2), READ, 1000 * seed + 500)
        label = f"{name}-{seed}".replace(" ", "_")
        run.fit(label, model, batches, loss=next_loss, steps=run.size(STEPS, 2), learning_rate=1e-3, warm_up=5)
    return read_on(run, model.eval())["beyond"]


@recipe(1)
def cook(run: Run) -> None:
    found = over(run, dict.fromkeys(REPAIRS, 5), lambda name, seed: repaired(run, name, seed))
    last = {name: [row[-1] for row in rows] for name, rows in found.items()}
    run.save_result(
        "longer_rotary",
        {
            "question": "What helps rotary positions beyond the length of training?",
            "how": f"the five rotary models of `positions`, trained on {TRAINED} characters and reading {READ}; mean loss per"
            f" character in stretches of 16 positions, one row per seed; trained on: {STEPS} more steps on {READ} characters",
            "beyond": found,
            "what_it_shows": "loss of the last 16 characters: " + said(last, "{row} {0!m:.2f}", ", "),
        },
    )
