"""Figure: which memories can overwrite? Keys are written once or twice, and the later value is wanted.

    3:17  8:40  3:25  …  8:?  3:?      at 3:? the answer is 25; 17 is the value that key 3 had before

A text has m keys. Half are written once and half twice, in any order; then all are asked for, in another order. A key
that was written once needs a memory, one that was written twice a memory that overwrites. So each text has its own
control, and an answer with the old value shows that it was kept. A token is a pair, and its vector the sum of a key's
and a value's, so that one layer can write a value under its key.

All rows are one layer of a Transformer without its feed-forward network, and differ only in the part `attention`. Every
row runs at the rate that its first seed chooses on other texts. "gated writes" is the delta rule without its erasing
(b = 0), with the same parameters and the same first weights: what lies between these two rows is the erasing. "selective,
no decay" is the selective scan with a = 1. Attention knows the positions, and the memories do not; "gated writes,
positions" is told them as well, so that it can write later values with more strength.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from statistics import mean
from typing import Any

import torch
from nlmcore.positions import LearnedPositions, NoPositions, Rotary
from nlmcore.recurrent.matrix_memory import MatrixMemory, build_matrix_memory
from nlmcore.transformer import TransformerConfig, TransformerLM
from nlmcore.transformer.block import DecoderLayer
from torch import Tensor, nn

from lectures.recipes.experiment import Experiment, Setting, Task
from lectures.recipes.initial_weights import initialise_glorot
from lectures.recipes.run import Run, recipe

KEYS = VALUES = 64
PAIR = VALUES + 1
"""Token key · PAIR + value; the value VALUES is the question mark."""
COUNTS = (4, 8, 16, 32)
"""m, the keys of a text. It has 1.5 m writes and m questions."""
D_MODEL, HEADS, D_KEY, TESTS = 64, 2, 16, 256
ROWS = ("delta", "gated writes", "gated writes, positions", "selective", "selective, no decay", "attention")
LONGER = 2_400
"""The steps of the check, with one seed, that the training was long enough."""
SETTING = Setting(800, 16, (2e-3, 5e-3, 1.25e-2), weights="{seed}", choose=("chosen by", max), quick=(4, 4))


class Pairs(nn.Module):
    """The vector of a key plus that of a value."""

    def __init__(self, vocab_size: int, d_model: int) -> None:
        super().__init__()
        self.key, self.value = nn.Embedding(vocab_size // PAIR, d_model), nn.Embedding(PAIR, d_model)

    def forward(self, tokens: Tensor) -> Tensor:
        found: Tensor = self.key(tokens // PAIR) + self.value(tokens % PAIR)
        return found


def values_only(c: Any, embedding: nn.Module) -> nn.Module:
    """Logits of the values, not of pairs."""
    return nn.Linear(c.d_model, VALUES, bias=False)


def without_network(c: Any, causal: bool, cross: bool) -> nn.Module:
    """A layer that is attention, or what takes its place."""
    return DecoderLayer(c, cross, feed_forward=False)


class NoDecay(MatrixMemory):
    """Everything stays: a = 1, whatever the rule says."""

    def gates(self, x: Tensor) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
        return None, *super().gates(x)[1:]


def no_decay(c: Any, causal: bool, rule: Any) -> nn.Module:
    return NoDecay(c.d_model, c.n_heads, D_KEY, rule)


def build(row: str) -> TransformerLM:
    """row: the rule of a matrix memory, and after a comma whether it has positions or no decay; or "attention", whose
    positions are rotary."""
    rule, _, more = row.partition(", ")
    part: Any = no_decay if more == "no decay" else partial(build_matrix_memory, d_key=D_KEY)
    memory = {"attention": partial(part, rule=rule)}
    return TransformerLM(
        TransformerConfig(
            vocab_size=KEYS * PAIR,
            d_model=D_MODEL,
            n_heads=HEADS,
            n_layers=1,
            max_length=3 * max(COUNTS),
            d_head=D_KEY,
            tie_embeddings=False,
            positions=LearnedPositions if more == "positions" else NoPositions,
            embedding=Pairs,
            output=values_only,
            block=without_network,
            initialise=initialise_glorot,
            **({"attention_positions": Rotary} if rule == "attention" else memory),
        )
    )


def written(m: int, texts: int, generator: torch.Generator) -> tuple[Tensor, Tensor, Tensor]:
    """tokens (text, 2.5 m); the value of each question's key, and the one it had before (−1: none), (text, m)."""
    keys = torch.rand(texts, KEYS, generator=generator).argsort(1)[:, :m]
    writes = 3 * m // 2
    # write number i is about key i mod m, so the first m / 2 keys have two; then the writes are shuffled
    about = torch.rand(texts, writes, generator=generator).argsort(1) % m
    values = torch.randint(VALUES, (texts, writes), generator=generator)
    newest, older = torch.full((texts, m), -1), torch.full((texts, m), -1)
    for t in range(writes):
        now = about[:, t : t + 1]
        older.scatter_(1, now, newest.gather(1, now))
        newest.scatter_(1, now, values[:, t : t + 1])
    asked = torch.rand(texts, m, generator=generator).argsort(1)
    tokens = PAIR * keys.gather(1, torch.cat([about, asked], 1))
    tokens += torch.cat([values, torch.full_like(asked, VALUES)], 1)
    return tokens, newest.gather(1, asked), older.gather(1, asked)


@dataclass(frozen=True)
class Texts:
    """Called with an epoch: 100 batches, of 4, 8, 16, 32 keys in turn; half as many texts where these are long."""

    batch: int
    seed: int

    def __call__(self, epoch: int) -> Iterator[tuple[Tensor, Tensor]]:
        generator = torch.Generator().manual_seed(self.seed + epoch)
        for i in range(100):
            m = COUNTS[i % len(COUNTS)]
            yield written(m, self.batch * 16 // max(16, m), generator)[:2]


def loss(model: Any, batch: tuple[Tensor, Tensor]) -> Tensor:
    """Only the answers count, as many as there are questions at the end of the text."""
    tokens, answers = batch
    logits = model.output(model.hidden_states(tokens)[0][:, -answers.shape[1] :])
    return nn.functional.cross_entropy(logits.flatten(0, 1), answers.flatten())


@torch.no_grad()
def shares(model: Any, m: int, texts: int, seed: int) -> dict[str, float]:
    """Of the keys written once, and of those written with two different values, how many answers are right; of the latter,
    how many are the old value."""
    tokens, newest, older = written(m, texts, torch.Generator().manual_seed(seed))
    found = model.output(model.hidden_states(tokens)[0][:, -m:]).argmax(-1)
    twice = (older >= 0) & (older != newest)
    parts = {"once": (found == newest)[older < 0], "twice": (found == newest)[twice], "old": (found == older)[twice]}
    return {name: float(part.float().mean()) for name, part in parts.items()}


def measure(texts: int, model: Any) -> dict[str, Any]:
    """`shares` for each number of keys in COUNTS: once, twice, old; and what chooses the rate, on other texts."""
    by_count = [shares(model, m, texts, 999_983) for m in COUNTS]
    other = [shares(model, m, texts, 7) for m in COUNTS]
    lists = {name: [round(of[name], 4) for of in by_count] for name in by_count[0]}
    return lists | {"chosen by": round(mean(of["once"] + of["twice"] for of in other) / 2, 4)}


@recipe(6)
def cook(run: Run) -> None:
    def batches(size: int, seed: int) -> Any:
        return Texts(size, run.seed_of(f"texts {seed}") % 2**31)

    torch.set_num_threads(1)
    experiment = Experiment(run, Task(batches, loss, partial(measure, run.size(TESTS, 4))), SETTING)
    rows = {row: experiment.at_best_rate(row, partial(build, row)) for row in ROWS}
    longer = replace(experiment, setting=replace(SETTING, steps=LONGER, name="{row}-{seed}-longer"))
    more = {row: longer.one(row, partial(build, row), 0, rows[row]["rate"]) for row in ROWS[:3]}
    run.save_result(
        "overwriting",
        {
            "question": "Which memories can overwrite?",
            "task": f"m keys, half of them written once and half twice, then all asked for; {SETTING.words('texts')};"
            f" one layer of width {D_MODEL}, {HEADS} heads, d_key {D_KEY}",
            "keys": COUNTS,
            "rows": rows,
            f"one seed, {LONGER} steps": more,
            "rows_are": "shares for each seed and each number of keys: right answers for keys written once and for keys"
            " written twice; old: answers with the value that was overwritten",
            "what_it_shows": "; ".join(
                f"{row}: {100 * mean(x[2] for x in of['twice']):.0f} % right of the keys written twice,"
                f" {100 * mean(x[2] for x in of['old']):.0f} % old"
                for row, of in rows.items()
            )
            + f" ({COUNTS[2]} keys)",
        },
    )
