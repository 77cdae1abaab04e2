"""Figure: why post-norm needs a warm-up of the learning rate, and pre-norm does not.

1. At initialisation, the norm of the loss's gradient by layer. Xiong et al. (2020, "On layer normalization in the
   Transformer architecture", theorem 1 and figure 3) find that for post-norm the gradient of the last layers' second
   feed-forward matrix is large whatever the depth, O(d √ln d), and for pre-norm it shrinks as 1/√L. Adam divides by
   it, so the trouble is not its size by itself: it is that the first steps, at a full rate, leave the region where
   this linear picture holds.
2. Training, both norms, with a warm-up and without, at several rates: characters of Shakespeare, a deep and narrow
   model, few steps.

Both measured with the matrices' first weights as Xiong et al. have them (Glorot & Bengio 2010: variance
2 / (n_in + n_out)), and, at one rate, with this library's default, which scales every branch down by the depth (GPT-2).
"""

import statistics
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from nlmcore.positions import SinusoidalPositions
from nlmcore.tokens import CharTokenizer
from nlmcore.training import evaluate, teacher_forcing_loss
from nlmcore.transformer import TransformerConfig, TransformerLM
from nlmcore.transformer.config import initialise_normal
from torch import Tensor, nn

from lectures.recipes.initial_weights import initialise_glorot
from lectures.recipes.run import Run
from lectures.recipes.texts import Stream, as_document, plays

NORMS = {"post": "post-norm", "pre": "pre-norm"}
RATES = (3e-4, 1e-3, 3e-3)
STEPS, WARM_UP, DEPTH, SEEDS = 250, 100, 12, 3
DEPTHS = (4, 12, 24)


INITIALISATIONS: dict[str, Callable[[nn.Module, Any], None]] = {
    "Glorot": initialise_glorot,
    "GPT-2": initialise_normal,
}


def a_config(vocab_size: int, d_model: int, depth: int, norm: Any) -> TransformerConfig:
    return TransformerConfig(
        vocab_size=vocab_size,
        d_model=d_model,
        n_heads=2,
        n_layers=depth,
        max_length=128,
        d_ff=2 * d_model,
        norm_position=norm,
        scale_embeddings=True,
        positions=SinusoidalPositions,
        initialise=initialise_glorot,
    )


def gradients_by_layer(model: TransformerLM, tokens: Tensor) -> list[float]:
    """‖∂L/∂W2‖ of the feed-forward network of every layer, first to last."""
    model.zero_grad()
    teacher_forcing_loss(model, tokens).backward()  # type: ignore[arg-type]
    return [float(layer.feed_forward.outer.weight.grad.norm()) for layer in model.layers]


def constant_or_warm(step: int, warm_up: int) -> float:
    """The factor of the learning rate: a line up to 1 at `warm_up`, then 1."""
    return min(1.0, step / warm_up) if warm_up else 1.0


def measure_gradients(run: Run, vocab_size: int, tokens: Tensor) -> dict[str, Any]:
    """By initialisation, norm and depth: the norms by layer, the mean over seeds."""
    found: dict[str, Any] = {}
    seeds, d_model = run.size(SEEDS, 1), run.size(64, 8)
    for initial, initialise in INITIALISATIONS.items():
        for norm, title in NORMS.items():
            for depth in run.size(DEPTHS, (2, 3)):
                config = replace(a_config(vocab_size, d_model, depth, norm), initialise=initialise)
                norms = [
                    gradients_by_layer(run.build(f"gradients {i}", partial(TransformerLM, config)), tokens)  # type: ignore[arg-type]
                    for i in range(seeds)
                ]
                mean = [round(statistics.fmean(by_seed), 5) for by_seed in zip(*norms, strict=True)]
                found.setdefault(initial, {}).setdefault(title, {})[str(depth)] = mean
    return found


def train(
    run: Run, config: TransformerConfig, initial: str, rate: float, warm_up: int, seed: int, stream: Stream, dev: list
) -> float | None:
    """The held-out loss at a training's end, in nats per character; None if it diverged."""
    which = "" if (initial, seed) == ("Glorot", 0) else f"-{initial}-{seed}"
    model: Any = run.build(f"train-{config.norm_position}{which}", partial(TransformerLM, config))
    name = f"{config.norm_position}-{rate:g}-{warm_up}{which}"
    schedule = partial(constant_or_warm, warm_up=warm_up)
    try:
        run.fit(name, model, stream, steps=run.size(STEPS, 4), learning_rate=rate, schedule=schedule)
    except FloatingPointError:
        return None
    loss = round(evaluate(model, dev), 4)
    run.say(f"{name}: {loss} nats per character on dev")
    return loss


def cook(run: Run) -> None:
    shakespeare = plays(limit=run.size(None, 2000))
    tokenizer = CharTokenizer.fit(shakespeare.train)
    stream = Stream(
        [as_document(tokenizer.encode(text)) for text in shakespeare.train], run.size(8, 4), run.size(64, 8)
    )
    dev_stream = Stream([as_document(tokenizer.encode(text)) for text in shakespeare.dev], 8, run.size(64, 8))
    dev = [batch for batch, _ in zip(dev_stream(0), range(run.size(40, 2)), strict=False)]
    gradients = measure_gradients(run, tokenizer.vocab_size, next(stream(0))[0])
    depth, d_model = run.size(DEPTH, 2), run.size(64, 8)
    runs: dict[str, Any] = {initial: {} for initial in INITIALISATIONS}
    for initial, rates in (("Glorot", run.size(RATES, (1e-3,))), ("GPT-2", (1e-3,))):
        for norm, title in NORMS.items():
            config = replace(a_config(tokenizer.vocab_size, d_model, depth, norm), initialise=INITIALISATIONS[initial])
            for warm_up in (0, run.size(WARM_UP, 2)):
                key = f"{title}, {f'{warm_up} steps of warm-up' if warm_up else 'no warm-up'}"
                runs[initial][key] = {
                    f"{rate:g}": [
                        train(run, config, initial, rate, warm_up, seed, stream, dev)
                        for seed in range(run.size(SEEDS, 1))
                    ]
                    for rate in rates
                }
    report(run, gradients, runs, {"layers": depth, "d_model": d_model, "split": shakespeare.split})


def shown(gradients: dict[str, Any], runs: dict[str, Any]) -> str:
    """What came out, in words: the last layer's gradient by depth, and what a warm-up changes at every rate."""
    parts = [
        f"gradient of the last layer's W2 at initialisation ({initial}), {title}: "
        + ", ".join(f"{depth} layers {norms[-1]:.3f}" for depth, norms in by_depth.items())
        for initial, by_norm in gradients.items()
        for title, by_depth in by_norm.items()
    ]
    for initial, by_key in runs.items():
        for title in NORMS.values():
            without, with_it = (by for key, by in by_key.items() if key.startswith(title))
            changes = [f"{_change(losses, with_it[rate])} at a rate of {rate}" for rate, losses in without.items()]
            parts.append(f"what a warm-up changes in {title}'s loss ({initial}), mean over seeds: {', '.join(changes)}")
    return "; ".join(parts)


def _change(without: list[float | None], with_it: list[float | None]) -> str:
    pairs = [(a, b) for a, b in zip(without, with_it, strict=True) if a is not None and b is not None]
    diverged = "" if len(pairs) == len(without) else f" ({len(without) - len(pairs)} diverged)"
    return (f"{statistics.fmean(b - a for a, b in pairs):+.2f}" if pairs else "nothing to compare") + diverged


def report(run: Run, gradients: dict[str, Any], runs: dict[str, Any], facts: dict[str, Any]) -> None:
    run.save_result(
        "warmup",
        {
            "question": "Does post-norm need a warm-up of the learning rate, and pre-norm not? (Xiong et al. 2020)",
            **facts,
            "gradients": gradients,
            "gradients_are": "norm of the loss's gradient with respect to the second feed-forward matrix of every"
            " layer, first to last, at initialisation; by initialisation, norm and number of layers; mean over seeds",
            "runs": runs,
            "runs_are": f"characters, {STEPS} steps of {8} times 64, AdamW (betas 0.9, 0.999), clipped at 1, the rate"
            " constant after its warm-up; nats per character on dev at the end, one per seed, which changes the first"
            " weights; by initialisation, norm and warm-up, and rate; null: diverged",
            "what_it_shows": shown(gradients, runs),
        },
    )
