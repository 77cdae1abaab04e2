"""Figure: what the Transformer of 2017 changed at once, taken back one change at a time; five seeds each.

Vaswani et al. (2017) went from recurrent networks to attention, positions, residual connections and LayerNorm around
every sublayer, feed-forward networks between the attentions, and several heads. Which of these does a small language model
need? Everything else stays as it is, but for the learning rate: each row gets its own, since a row that fails at one rate may
do well at half of it. (`warmup` measures the warm-up, and pre-norm, of 2019.)

Departs from the paper: a decoder without an encoder, three narrow layers, minutes of training. Rows that lack a part have
fewer parameters; the result says how many.
"""

from dataclasses import replace
from functools import partial
from statistics import mean
from typing import Any

import torch
from nlmcore.positions import NoPositions, SinusoidalPositions
from nlmcore.recurrent import Recurrent
from nlmcore.transformer import FeedForward, PostNorm, TransformerConfig, TransformerLM
from torch import Tensor, nn
from torch.nn import functional as F

from lectures.recipes.experiment import Experiment, Setting
from lectures.recipes.initial_weights import initialise_glorot
from lectures.recipes.positions import characters
from lectures.recipes.run import Run, recipe

TIME = 48
SETTING = Setting(400, 12, (2e-3, 4e-3, 8e-3), curve=10, weights="{seed}", name="{row}-{seed}-{rate:g}", choosing=2)
ALL = "all of 2017's changes"


class Nothing(nn.Module):
    """A network that adds nothing to the residual pathway."""

    def forward(self, x: Tensor) -> Tensor:
        return torch.zeros_like(x)


class NoAttention(nn.Module):
    """The same where attention was."""

    def forward(self, x: Tensor, state: Any = None) -> tuple[Tensor, Tensor]:
        return torch.zeros_like(x), x.new_zeros(len(x))


class NoResidual(PostNorm):
    """norm(f(x)): what the sublayer gives replaces x."""

    def forward(self, x: Tensor, y: Tensor | None = None) -> Tensor:
        return x if y is None else self.norm(y)


class RecurrentMixing(nn.Module):
    """An LSTM where attention was: it brings earlier positions to later ones through its state."""

    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.lstm = Recurrent("lstm", d_model, d_model)

    def forward(self, x: Tensor, state: Any = None) -> tuple[Tensor, Any]:
        return self.lstm(x, state)


CHANGES: dict[str, dict[str, Any]] = {
    ALL: {},
    "one head": {"n_heads": 1},
    "without positions": {"positions": NoPositions},
    "without feed-forward networks": {"feed_forward": lambda d_model, d_ff: Nothing()},
    "without LayerNorm": {"norm": lambda d_model: nn.Identity()},
    "without residual connections": {"residual": lambda c: NoResidual(c.norm(c.d_model))},
    "an LSTM instead of attention": {"attention": lambda config, causal: RecurrentMixing(config.d_model)},
    "without attention": {"attention": lambda config, causal: NoAttention()},
}
"""Row -> the fields of the configuration that it changes. Without attention a position sees only itself."""


def config(vocab_size: int, width: int = 48, depth: int = 3) -> TransformerConfig:
    """The Transformer of 2017, as a language model."""
    return TransformerConfig(
        vocab_size=vocab_size,
        d_model=width,
        n_heads=4,
        n_layers=depth,
        max_length=TIME,
        norm_position="post",
        scale_embeddings=True,
        positions=SinusoidalPositions,
        feed_forward=partial(FeedForward, activation=F.relu),
        initialise=initialise_glorot,
    )


def built(row: str, sizes: TransformerConfig) -> TransformerLM:
    return TransformerLM(replace(sizes, **CHANGES[row]))


@recipe(20)
def cook(run: Run) -> None:
    task = characters(run, TIME)
    sizes = config(task.vocab_size, run.size(48, 8), run.size(3, 2))
    experiment = Experiment(run, task, SETTING)
    rows = {row: experiment.at_best_rate(row, partial(built, row, sizes)) for row in CHANGES}
    best = mean(rows[ALL]["dev"])
    run.save_result(
        "changes_of_2017",
        {
            "question": "Which of the changes of 2017 does a small Transformer language model need?",
            "how": f"nats per character on dev plays, one value per seed; 3 layers, d_model 48, {SETTING.words(task.what)};"
            f" every row at the best of its learning rates, by the mean of {SETTING.choosing} seeds (`tried`); another"
            " context: what the last character loses by it; curve: training loss, means of ten steps",
            "floors": task.floors,
            "rows": rows,
            "what_it_shows": "; ".join(
                f"{row} {mean(of['dev']):.3f} ({mean(of['dev']) - best:+.3f})" for row, of in rows.items()
            ),
        },
    )
