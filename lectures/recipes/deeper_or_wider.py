"""Figure: the same parameters as more layers, as wider ones, as one block for all layers, or as experts; five seeds.

    deeper, wider    layers against the width of feed-forward network and heads     Narang et al. (2021), section 2.3
    one block        every layer is the first one                                   Lan et al. (2020)
    WideNet          one attention and experts for all layers, own norms            Xue et al. (2022)

WideNet is several changes at once: sharing, own norms, more parameters, more operations, and experts. So beside it are one
network with own norms; one as wide as the two experts that a token meets; and a block so wide that it has all parameters.

Departs from the papers: a language model over characters, minutes of training; theirs classify images and answer GLUE.
"""

from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

from nlmcore.variants import CATALOGUE, Variant
from nlmcore.variants.albert import share_blocks
from nlmcore.variants.mixture_of_experts import MixtureOfExperts, balance_loss
from nlmcore.variants.variant import RELU, Times
from torch import Tensor, nn

from lectures.recipes import positions
from lectures.recipes.costs import multiply_adds
from lectures.recipes.experiment import Experiment, Setting, differences, said
from lectures.recipes.positions import next_loss
from lectures.recipes.run import Run, recipe

SIZES = {"d_model": 48, "n_heads": 6, "n_layers": 6, "max_length": 48}
SETTING = Setting(200, 8, (4e-3,), curve=10, weights="{seed}")
BASE = "6 layers"
WIDENET = dict(CATALOGUE["WideNet"].changes)
ONE_NETWORK = WIDENET | {"feed_forward": partial(MixtureOfExperts, n_experts=1, k=1, expert=RELU)}
ROWS: dict[str, dict[str, Any]] = {
    BASE: {},
    "12 layers, half as wide": dict(CATALOGUE["24 layers, d_ff = 1536, H = 6"].changes),
    "3 layers, twice as wide": dict(CATALOGUE["6 layers, d_ff = 6144, H = 24"].changes),
    "one block": {"share": share_blocks},
    "one block, 8.5 times as wide": {"share": share_blocks, "d_ff": Times(Fraction(17, 2))},
    "one block, own norms": ONE_NETWORK,
    "one block, own norms, twice as wide": ONE_NETWORK | {"d_ff": Times(2)},
    "WideNet, 4 experts": WIDENET,
    "WideNet, 8 experts": WIDENET | {"feed_forward": partial(MixtureOfExperts, n_experts=8, expert=RELU)},
}
"""Row -> the fields of the vanilla row that it changes. Widths are those of the feed-forward network (and heads, if layers differ)."""


def build(row: str, vocab_size: int, **sizes: int) -> nn.Module:
    changes = ROWS[row]
    return Variant(row, changes, "").build(vocab_size, **(SIZES | sizes))  # type: ignore[no-any-return]


def balanced_loss(model: nn.Module, batch: tuple[Tensor, Tensor]) -> Tensor:
    """Of the next character, and a hundredth of the experts' balance: Fedus et al. (2022), equation 4."""
    return next_loss(model, batch) + 0.01 * balance_loss(model)


@recipe(6)
def cook(run: Run) -> None:
    task = replace(positions.characters(run, SIZES["max_length"]), loss=balanced_loss)
    builds = {row: partial(build, row, task.vocab_size, **run.size({}, {"d_model": 12})) for row in ROWS}
    rows = {
        row: {
            "parameters": of["parameters"],
            "multiply_adds": multiply_adds(partial(builds[row]().eval(), task.held[:1, :-1])),
            **of,
        }
        for row, of in Experiment(run, task, SETTING).rows(builds).items()
    }
    run.save_result(
        "deeper_or_wider",
        {
            "question": "Deeper or wider at equal parameters, and what do sharing and experts add?",
            "how": f"nats per character on dev plays, one value per seed; d_model 48, {SETTING.words(task.what)};"
            " multiply_adds of a text of 48; curve: training loss, means of ten steps",
            "floors": task.floors,
            "rows": rows,
            f"against_{BASE}": differences(
                rows[BASE]["dev"], {row: of["dev"] for row, of in rows.items() if row != BASE}
            ),
            "what_it_shows": said(rows, "{row} {dev!m:.3f}"),
        },
    )
