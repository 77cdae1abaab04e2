"""Figures: a ladder of language models, eight sizes by six lengths of training or seven, for the lecture on scale.

Every run predicts the next character of Shakespeare's plays; its loss is that of plays that it never reads, in nats
per character. N counts the parameters without embeddings, D the characters read, and C = 6 N D the operations.

    ladder      every N with every D, each run with a cosine of its own length; the small ones also twice as long
    held_out    a model twice as large as the largest, one length
    lstm        the same lengths for LSTMs of as many parameters (Dai et al. 2019, table 4, ask this of large ones)
    warm_up     a warm-up that is long for short runs, as in Kaplan et al. (2020, section 2.2)
    small_rate  the learning rate of the smallest model for all sizes
    large_rate  the learning rate of the largest model for all sizes
    halfway     no run of its own: the held-out loss of every run at eighths of its cosine, before the cosine is over

The last four are rival explanations of the difference between the exponents of Kaplan et al. (2020) and Hoffmann et
al. (2022), as Hoffmann et al. (section 3.1), Pearce & Song (2024) and Porian et al. (2024) discuss them.

Departs from the papers: models a thousand times smaller, characters instead of tokens, contexts of 64, a fixed batch.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import torch
from nlmcore.metrics.significance import mean_interval
from nlmcore.tokens import CharTokenizer
from torch import Tensor, nn

from lectures.recipes.experiment import best_rate
from lectures.recipes.gpt_against_lstm import lstm_config
from lectures.recipes.initial_weights import glorot
from lectures.recipes.positions import Windows, by_position, next_loss
from lectures.recipes.run import Run, parameters, recipe
from lectures.recipes.texts import plays
from lectures.trained import build

TIME, BATCH, SEEDS = 64, 16, 3
RUNGS = ((8, 2), (12, 2), (16, 2), (24, 2), (32, 3), (48, 3), (64, 4), (96, 4))
"""Width and depth of each model."""
STEPS = (64, 128, 256, 512, 1024, 2048)
LONGER, UP_TO = 4096, 32
"""Models up to this width are also trained for so long: at equal operations the best of them is at the longest otherwise."""
HELD_OUT = ((128, 5), 2048)
RATES = (2.5e-3, 5e-3, 1e-2, 2e-2, 4e-2, 8e-2, 0.16)
TUNED_AT = 256
WARM_UP, LONG_WARM_UP = 0.1, 300
"""A share of the steps; and steps, whatever the length."""
POINTS = 8
SHORTER = (64, 128, 256, 512)
"""The lengths of the rivals."""
SETTINGS = f"batches of {BATCH} × {TIME} characters, AdamW with a cosine, warm-up a tenth of the steps"


@dataclass(frozen=True)
class Texts:
    train: Tensor
    dev: Tensor
    """(window, TIME + 1), to choose rates."""
    test: Tensor
    vocab_size: int


@lru_cache(maxsize=1)
def data(limit: int | None, windows: int) -> Texts:
    texts = plays(limit=limit)
    characters = CharTokenizer.fit(texts.train)

    def stream(part: list[str]) -> Tensor:
        return torch.tensor([i for text in part for i in characters.encode(text)])

    def spread(part: list[str]) -> Tensor:
        """Windows at equal distances over all plays of a part."""
        text = stream(part)
        starts = torch.linspace(0, len(text) - TIME - 1, windows).long()
        return text[starts.unsqueeze(1) + torch.arange(TIME + 1)]

    return Texts(stream(texts.train), spread(texts.dev), spread(texts.test), characters.vocab_size)


def sizes(vocab_size: int, width: int, depth: int) -> dict[str, Any]:
    return {
        "vocab_size": vocab_size,
        "d_model": width,
        "n_heads": max(1, width // 16),
        "n_layers": depth,
        "max_length": TIME,
        "positions": "none",
        "attention_positions": "rotary",
    }


def without_embeddings(model: nn.Module) -> int:
    """Parameters, those of embedding tables (and what is tied to them) left out."""
    tables = {id(part.weight): part.weight.numel() for part in model.modules() if isinstance(part, nn.Embedding)}
    return parameters(model) - sum(tables.values())


def model_of(kind: str, texts: Texts, rung: tuple[int, int]) -> nn.Module:
    transformer = glorot("TransformerLM", sizes(texts.vocab_size, *rung))
    if kind == "Transformer":
        return transformer
    return build("RecurrentLM", lstm_config(texts.vocab_size, rung[0], parameters(transformer)))


def train(
    run: Run, kind: str, rung: tuple[int, int], steps: int, rate: float, seed: int, long_warm_up: bool = False
) -> dict[str, Any]:
    """Sizes, and the held-out loss at `POINTS` equal parts of the run."""
    texts = data(run.size(None, 4000), run.size(400, 4))
    name = f"{kind}-{rung[0]}x{rung[1]}-{steps}-{rate:g}-{seed}" + "-warm" * long_warm_up

    def measure() -> dict[str, Any]:
        model = run.build(f"{kind}-{rung}-{seed}", lambda: model_of(kind, texts, rung))
        batches = Windows(texts.train, run.size(BATCH, 2), TIME, 1000 * seed)
        history = run.fit(
            f"{name}-weights", model, batches, loss=next_loss, steps=steps, learning_rate=rate,
            warm_up=min(LONG_WARM_UP, steps - 1) if long_warm_up else max(1, round(WARM_UP * steps)),
            validation=lambda model: float(by_position(model.eval(), texts.dev).mean()),
            evaluate_every=max(1, steps // POINTS), keep_best=False,
        )  # fmt: skip
        return {
            "parameters": parameters(model),
            "N": without_embeddings(model),
            "D": steps * BATCH * TIME,
            "curve": [round(loss, 4) for loss in history.validation.values()],
            "loss": round(float(by_position(model.eval(), texts.test).mean()), 4),
        }

    return run.kept(name, measure)


def tried(run: Run, kind: str, rung: tuple[int, int]) -> dict[float, float]:
    """The loss on dev plays by rate: one seed, a quarter of a thousand steps."""
    steps = run.size(TUNED_AT, 8)
    return {rate: train(run, kind, rung, steps, rate, 0)["curve"][-1] for rate in run.size(RATES, RATES[:1])}


def plan(
    run: Run, rates: dict[str, dict[tuple[int, int], float]]
) -> list[tuple[str, str, tuple[int, int], int, float]]:
    """(variant, kind, size, steps, rate) of all runs of one seed."""
    ours, lstms = rates["Transformer"], rates["LSTM"]
    largest, longest = run.size(HELD_OUT, ((16, 1), 16))
    smallest_rate, *_, largest_rate = ours.values()
    lengths, shorter = run.size(STEPS, (8, 16)), run.size(SHORTER, (8,))
    planned = [("ladder", "Transformer", rung, steps, ours[rung]) for rung in ours for steps in lengths]
    planned += [("ladder", "Transformer", rung, run.size(LONGER, 32), ours[rung]) for rung in ours if rung[0] <= UP_TO]
    planned.append(("held_out", "Transformer", largest, longest, largest_rate))
    planned += [("lstm", "LSTM", rung, steps, lstms[rung]) for rung in lstms for steps in lengths]
    for rung in lstms:
        for steps in shorter:
            planned.append(("warm_up", "Transformer", rung, steps, ours[rung]))
            planned.append(("small_rate", "Transformer", rung, steps, smallest_rate))
            planned.append(("large_rate", "Transformer", rung, steps, largest_rate))
    return planned


@recipe(55)
def cook(run: Run) -> None:
    rungs = run.size(RUNGS, ((4, 1), (8, 1)))
    rates = {
        kind: {rung: min(losses := tried(run, kind, rung), key=losses.__getitem__) for rung in sizes}
        for kind, sizes in (("Transformer", rungs), ("LSTM", rungs[1::2]))
    }
    runs = []
    for seed in range(run.size(SEEDS, 2)):
        for variant, kind, rung, steps, rate in plan(run, rates):
            found = train(run, kind, rung, steps, rate, seed, variant == "warm_up")
            runs.append({"variant": variant, "seed": seed, "width": rung[0], "rate": rate, **found})
        report(run, runs, rates)


def report(run: Run, runs: list[dict[str, Any]], rates: dict[str, dict[tuple[int, int], float]]) -> None:
    run.save_result(
        "ladder",
        {
            "question": "How does the loss fall with parameters, text and operations?",
            "how": f"nats per character of the test plays; {SETTINGS}; rates tuned on dev plays at {TUNED_AT} steps, one"
            " seed. N: parameters without embeddings; D: characters read; curve: loss on dev plays at eighths of the run",
            "rates": {kind: {str(rung[0]): rate for rung, rate in by.items()} for kind, by in rates.items()},
            "runs": runs,
        },
    )


def tuned(run: Run, rung: tuple[int, int], steps: int) -> dict[str, Any]:
    """The rate is tuned as those of the ladder are, then again at full length: between two worse ones."""
    short = tried(run, "Transformer", rung)
    near = sorted(sorted(short, key=short.__getitem__)[:3])
    best, full = best_rate(near, lambda rate: {"dev": train(run, "Transformer", rung, steps, rate, 0)["curve"][-1]})
    runs = [train(run, "Transformer", rung, steps, best, seed) for seed in range(run.size(SEEDS, 2))]
    return {
        "at_tuning_length": {str(rate): loss for rate, loss in short.items()},
        "at_full_length": {str(rate): of["dev"] for rate, of in sorted(full.items())},
        "rate": best,
        "runs": runs,
    }


@recipe(40)
def cook_held_out(run: Run) -> None:
    """The held-out model and the largest of the ladder on the same text, each with a rate of its own at full length."""
    (largest, steps), before = run.size(HELD_OUT, ((16, 1), 16)), run.size(RUNGS[-1], (8, 1))
    of = {str(rung[0]): tuned(run, rung, steps) for rung in (before, largest)}
    losses = ([one["loss"] for one in of[str(rung[0])]["runs"]] for rung in (before, largest))
    gain, half = mean_interval([one - other for one, other in zip(*losses, strict=True)])
    run.save_result(
        "held_out",
        {
            "question": "Which loss has the held-out model if its rate, and that of the model before it, are tuned at full length?",
            "how": f"nats per character of the test plays; {SETTINGS}; the three best of {len(RATES)} rates at {TUNED_AT}"
            f" steps are tried for {steps} steps, then the next one beyond the best until it lies between two worse ones; one"
            " seed; loss on dev plays chooses",
            "widths": of,
            "gain": [gain, half],
            "what_it_shows": f"width {before[0]}, rate {of[str(before[0])]['rate']:g}, to width {largest[0]}, rate"
            f" {of[str(largest[0])]['rate']:g}: {gain:.3f} ± {half:.3f} nats lower",
        },
    )
