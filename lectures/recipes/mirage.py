"""Figures: sums of two numbers, learned by models of nine sizes: exact match beside measures of each digit.

    "274+659=933"  is written as  2 7 4 + 6 5 9 = 0 9 3 3      operands of three digits, sums of four

Each model writes the sum of held-out pairs greedily. On the same answers: the share that is right in every digit (exact match),
digits right, edit distance to the sum, and the loss of a digit given the right ones before it. Schaeffer et al. (2023)
say that a metric can make smooth progress look like a jump: with p for each of L digits, exact match is about p^L.

Departs from the paper: trained on sums alone instead of prompted, and a thousand times smaller.
"""

from dataclasses import dataclass
from functools import partial
from statistics import fmean
from typing import Any

import torch
from nlmcore.metrics import edit_distance
from torch import Tensor, nn
from torch.nn import functional as F

from lectures.recipes.experiment import Experiment, Setting, Task
from lectures.recipes.initial_weights import glorot
from lectures.recipes.ladder import without_embeddings
from lectures.recipes.run import Run, recipe

DIGITS, PLUS, EQUALS, VOCABULARY = 3, 10, 11, 12
LENGTH, ANSWER = 2 * DIGITS + 2, DIGITS + 1
STEPS, BATCH, RATE = 1500, 64, 1e-2
WIDTHS = (4, 6, 8, 12, 16, 24, 32, 48, 64)
LONGER, LONGER_WIDTHS, LONGER_SEEDS = 4, (6,), 3
"""Times the steps, for widths below the threshold."""
TESTED = 500
SETTINGS = f"2 layers, {STEPS} steps of {BATCH} sums, AdamW with a cosine, rate {RATE} · √(16 / width)"


def written(numbers: Tensor, digits: int) -> Tensor:
    """(n) -> (n, digits), the highest first."""
    return numbers.unsqueeze(1) // 10 ** torch.arange(digits - 1, -1, -1) % 10


def sums(pairs: Tensor) -> Tensor:
    """(n, 2) -> tokens (n, LENGTH + ANSWER) of `a + b = c`."""
    a, b = pairs.unbind(1)
    plus, equals = (torch.full((len(pairs), 1), sign) for sign in (PLUS, EQUALS))
    return torch.cat([written(a, DIGITS), plus, written(b, DIGITS), equals, written(a + b, ANSWER)], 1)


def held_out() -> Tensor:
    """(TESTED, 2): pairs that no training sees."""
    return torch.randint(10**DIGITS, (TESTED, 2), generator=torch.Generator().manual_seed(0))


@dataclass(frozen=True)
class Sums:
    """Called with an epoch: random sums, none of those held out."""

    batch: int
    seed: int
    held: frozenset[tuple[int, int]]

    def __call__(self, epoch: int) -> Any:
        generator = torch.Generator().manual_seed(self.seed + epoch)
        for _ in range(100):
            pairs = torch.randint(10**DIGITS, (2 * self.batch, 2), generator=generator)
            free = torch.tensor([tuple(pair) not in self.held for pair in pairs.tolist()])
            yield sums(pairs[free][: self.batch]), torch.tensor(0)


def answer_loss(model: nn.Module, batch: Any) -> Tensor:
    """Mean loss of the sum's digits: the operands cannot be predicted."""
    logits = model(batch[0][:, :-1])[0][:, LENGTH - 1 :]
    return F.cross_entropy(logits.flatten(0, 1), batch[0][:, LENGTH:].flatten())


@torch.no_grad()
def write(model: nn.Module, questions: Tensor) -> Tensor:
    """(n, ANSWER): the most probable digit, then the next given it."""
    logits, state = model(questions)
    found = [logits[:, -1].argmax(1)]
    while len(found) < ANSWER:
        logits, state = model(found[-1].unsqueeze(1), state)
        found.append(logits[:, -1].argmax(1))
    return torch.stack(found, 1)


def measures(model: nn.Module, pairs: Tensor) -> dict[str, float]:
    tokens = sums(pairs)
    answers, right = write(model, tokens[:, :LENGTH]), tokens[:, LENGTH:]
    with torch.no_grad():
        loss = float(answer_loss(model, (tokens, None)))
    found = {
        "exact": float((answers == right).all(1).float().mean()),
        "digits": float((answers == right).float().mean()),
        "edits": fmean(edit_distance(*pair) for pair in zip(answers.tolist(), right.tolist(), strict=True)),
        "loss": loss,
    }
    return {key: round(value, 4) for key, value in found.items()}


def train(run: Run, width: int, seed: int, held: Tensor, times: int = 1) -> dict[str, Any]:
    sizes = {"vocab_size": VOCABULARY, "d_model": width, "n_heads": 2, "n_layers": 2, "max_length": LENGTH + ANSWER}
    build = partial(glorot, "TransformerLM", sizes | {"positions": "learned"})
    without = frozenset(map(tuple, held.tolist()))
    task = Task(lambda size, seed: Sums(size, 1000 * seed + 1, without), answer_loss, partial(measures, pairs=held))
    setting = Setting(
        times * STEPS,
        BATCH,
        (RATE * (16 / width) ** 0.5,),
        run.size(100, 2),
        weights="sums-{row}-{seed}",
        name="sums-{row}-{seed}-weights",
        quick=(4 * times, 4),
    )
    found = Experiment(run, task, setting).one(str(width), build, seed)
    return {"width": width, "N": without_embeddings(build()), "seed": seed, **found}


@recipe(8)
def cook(run: Run) -> None:
    held = held_out()
    runs = [train(run, width, seed, held) for seed in range(run.size(5, 2)) for width in run.size(WIDTHS, (4, 6))]
    run.save_result(
        "mirage",
        {
            "question": "Does the ability to add appear suddenly as models grow, or does the metric make it look so?",
            "how": f"{TESTED} held-out sums, written greedily; {SETTINGS}. exact: share of sums right in all {ANSWER}"
            " digits; digits: share of digits right; edits: edit distance to the sum; loss: nats per digit, given the"
            " right ones before it",
            "answer_length": ANSWER,
            "runs": runs,
        },
    )


@recipe(4)
def cook_mirage_longer(run: Run) -> None:
    """Is a threshold in size one of the length of training as well? Widths that cannot add, trained for longer."""
    held = held_out()
    runs = [
        train(run, width, seed, held, LONGER)
        for seed in range(run.size(LONGER_SEEDS, 1))
        for width in run.size(LONGER_WIDTHS, (4,))
    ]
    run.save_result(
        "mirage_longer",
        {
            "question": "Does a model below the threshold of size learn to add if it is trained for longer?",
            "how": f"as mirage, but {LONGER * STEPS} steps; the same first weights and the same first sums",
            "steps": LONGER * STEPS,
            "runs": runs,
            "what_it_shows": "; ".join(f"width {one['width']}, seed {one['seed']}: {one['exact']:.0%}" for one in runs),
        },
    )
