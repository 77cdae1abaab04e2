"""Figure: does it help a gated cell to start with open gates? Three cells, the same three biases, five seeds each.

The task is that of `memory`: five symbols, ten blanks, then write the symbols. In every cell the bias of one gate is
set, the one that keeps the old state: G of the UGRNN, z of the GRU, f of the LSTM. With one seed the cells of a row
differ in nothing but this bias: first weights and texts are the same, so that differences are paired. Every row runs at
the rate that its first seed chooses on other texts. The plain RNN is the floor.
"""

from functools import partial
from statistics import mean
from typing import Any

import torch
from nlmcore.metrics import mean_interval
from nlmcore.recurrent import CELLS, RecurrentLM
from nlmcore.training import teacher_forcing_loss
from torch import Tensor, nn

from lectures.recipes.experiment import Experiment, Setting, Task
from lectures.recipes.memory import TITLES, VOCAB, copying_accuracy, epoch_of_copying
from lectures.recipes.run import Run, recipe

KEEPS = {"ugrnn": "gate", "gru": "update", "lstm": "forget"}
"""cell -> its gate that keeps the old state"""
BIASES = (0, 1, 3)
DELAY, HIDDEN = 10, 48
SETTING = Setting(
    250, 32, (0.003, 0.01, 0.03, 0.1, 0.3), warm_up=25, weights="{seed}", choose=("chosen by", max), quick=(4, 4)
)


def with_gate_bias(cell: str, bias: float | int, input_size: int, d_hidden: int) -> Any:
    """A cell whose keeping gate starts at σ(bias)."""
    built: Any = CELLS[cell](input_size, d_hidden)
    at = built.blocks.index(KEEPS[cell]) * d_hidden
    nn.init.constant_(built.bias_ih[at : at + d_hidden], bias)
    if cell != "ugrnn":  # it has one bias for each block, the others two that are added
        nn.init.zeros_(built.bias_hh[at : at + d_hidden])
    return built


def rows(hidden: int) -> dict[str, Any]:
    """Row -> a function that builds its model."""
    builds: dict[str, Any] = {"RNN": "rnn"}
    builds |= {f"{TITLES[cell]}, bias {bias}": partial(with_gate_bias, cell, bias) for cell in KEEPS for bias in BIASES}
    return {row: partial(RecurrentLM, VOCAB, cell, hidden, d_hidden=hidden) for row, cell in builds.items()}


def loss(model: Any, batch: tuple[Tensor, Tensor, Tensor]) -> Tensor:
    tokens, targets, mask = batch
    return teacher_forcing_loss(model, tokens, targets, mask=mask)


@recipe(4)
def cook(run: Run) -> None:
    delay, hidden, texts = run.size((DELAY, HIDDEN, 512), (2, 6, 8))

    def batches(size: int, seed: int) -> Any:
        return partial(epoch_of_copying, delay, size, 100, run.seed_of(f"texts {seed}") % 2**31)

    def measure(model: nn.Module) -> dict[str, float]:
        found = {"right": copying_accuracy(model, delay, texts), "chosen by": copying_accuracy(model, delay, texts, 7)}
        return {name: round(share, 4) for name, share in found.items()}

    experiment = Experiment(run, Task(batches, loss, measure), SETTING)
    torch.set_num_threads(1)
    found = {row: experiment.at_best_rate(row, build) for row, build in rows(hidden).items()}
    gains = {TITLES[cell]: gain(found, TITLES[cell]) for cell in KEEPS}
    run.save_result(
        "gate_bias",
        {
            "question": "Does it help a gated cell to start with open gates?",
            "task": f"5 symbols of 8, then {delay} blanks, then write them; {SETTING.words('texts')}, warm-up"
            f" {SETTING.warm_up} steps, width {hidden}; the bias is that of the gate that keeps the old state",
            "rows": found,
            "gains": gains,
            "gains_are": f"bias {BIASES[-1]} minus bias {BIASES[0]}, share of symbols written right, seed by seed; mean"
            " and half its 95 % interval",
            "what_it_shows": "; ".join(
                f"{row} {mean(of['right']):.0%} ({min(of['right']):.0%} to {max(of['right']):.0%})"
                for row, of in found.items()
            ),
        },
    )


def gain(found: dict[str, Any], cell: str) -> dict[str, float]:
    """What the largest bias gains over the smallest, paired."""
    low, high = (found[f"{cell}, bias {bias}"]["right"] for bias in (BIASES[0], BIASES[-1]))
    value, half = mean_interval([b - a for a, b in zip(low, high, strict=True)])
    return {"mean": round(value, 4), "half": round(half, 4)}
