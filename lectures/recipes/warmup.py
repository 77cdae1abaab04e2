"""Figure: why post-norm needs a warm-up of the learning rate, and pre-norm does not.

1. At initialisation, the norm of the loss's gradient by layer. Xiong et al. (2020, "On layer normalization in the
   Transformer architecture", theorem 1 and figure 3) find that for post-norm the gradient of the last layers' second
   feed-forward matrix is large whatever the depth, O(d √ln d), and for pre-norm it shrinks as 1/√L. Adam divides by
   it, so the trouble is not its size by itself: it is that the first steps, at a full rate, leave the region where
   this linear picture holds.
2. Training, both norms, with a warm-up and without, at several rates: characters of Shakespeare, a deep and narrow
   model, few steps.

Both measured with the matrices' first weights as Xiong et al. have them (Glorot & Bengio 2010: variance
2 / (n_in + n_out)), not with this library's default, which scales every branch down by the depth (GPT-2) and hides
part of the effect; the gradients at the default are measured beside.

`warmup_again` repeats post-norm at the rate where the warm-up decides, with three seeds and with both first weights.
"""

import statistics
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any

from nlmcore.positions import SinusoidalPositions
from nlmcore.tokens import CharTokenizer
from nlmcore.training import evaluate, teacher_forcing_loss
from nlmcore.transformer import TransformerConfig, TransformerLM
from nlmcore.transformer.config import initialise_normal
from torch import Tensor, nn

from lectures.recipes.experiment import stretches, said
from lectures.recipes.initial_weights import initialise_glorot
from lectures.recipes.run import Run, recipe
from lectures.recipes.texts import Plays, Stream, as_document, plays

NORMS = {"post": "post-norm", "pre": "pre-norm"}
RATES = (3e-4, 1e-3, 3e-3)
STEPS, WARM_UP, DEPTH, AGAIN = 250, 100, 12, 1e-3
DEPTHS = (4, 12, 24)
SMOOTH = 10
"""Steps whose mean is a point of a curve."""


INITIALISATIONS: dict[str, Callable[[nn.Module, Any], None]] = {"Glorot": initialise_glorot, "GPT-2": initialise_normal}


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
    seeds, d_model = run.size(3, 1), run.size(64, 8)
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
    run: Run, config: TransformerConfig, rate: float, warm_up: int, stream: Stream, dev: list, which: str = ""
) -> dict[str, Any]:
    """A training's curve in nats per character, and the held-out loss at its end; which: other first weights."""
    name = f"{config.norm_position}-{rate:g}-{warm_up}{which}"
    model: Any = run.build(f"train-{config.norm_position}{which}", partial(TransformerLM, config))
    steps = run.size(STEPS, 4)
    try:
        history = run.fit(
            name, model, stream, steps=steps, learning_rate=rate, schedule=partial(constant_or_warm, warm_up=warm_up)
        )
    except FloatingPointError as error:
        return {"diverged": str(error), "dev": None, "curve": []}
    dev_loss = round(evaluate(model, dev), 4)
    run.say(f"{name}: {dev_loss} nats per character on dev")
    return {"dev": dev_loss, "curve": stretches(history.losses, SMOOTH)}


@lru_cache(maxsize=2)
def texts(quick: bool) -> tuple[Plays, CharTokenizer]:
    shakespeare = plays(limit=2000 if quick else None)
    return shakespeare, CharTokenizer.fit(shakespeare.train)


def data(run: Run) -> tuple[Stream, list[Any], int]:
    """What is trained on, what is tested on, and the number of characters."""
    shakespeare, tokenizer = texts(run.quick)
    rows, time = run.size(8, 4), run.size(64, 8)
    stream = Stream([as_document(tokenizer.encode(text)) for text in shakespeare.train], rows, time)
    dev_stream = Stream([as_document(tokenizer.encode(text)) for text in shakespeare.dev], 8, time)
    dev = [batch for batch, _ in zip(dev_stream(0), range(run.size(40, 2)), strict=False)]
    return stream, dev, tokenizer.vocab_size


@recipe(2)
def cook(run: Run) -> None:
    stream, dev, vocab_size = data(run)
    gradients = measure_gradients(run, vocab_size, next(stream(0))[0])
    depth, d_model = run.size(DEPTH, 2), run.size(64, 8)
    runs: dict[str, Any] = {}
    for norm, title in NORMS.items():
        for warm_up in (0, run.size(WARM_UP, 2)):
            for rate in run.size(RATES, (1e-3,)):
                config = a_config(vocab_size, d_model, depth, norm)
                key = f"{title}, {f'{warm_up} steps of warm-up' if warm_up else 'no warm-up'}"
                runs.setdefault(key, {})[f"{rate:g}"] = train(run, config, rate, warm_up, stream, dev)
    facts = {"layers": depth, "d_model": d_model, "split": texts(run.quick)[0].split}
    run.save_result(
        "warmup",
        {
            "question": "Does post-norm need a warm-up of the learning rate, and pre-norm not? (Xiong et al. 2020)",
            **facts,
            "gradients": gradients,
            "gradients_are": "norm of the loss's gradient with respect to the second feed-forward matrix of every"
            " layer, first to last, at initialisation; by initialisation, norm and number of layers; mean over seeds",
            "runs": runs,
            "runs_are": f"characters, {STEPS} steps of {8} times 64, AdamW (betas 0.9, 0.999), clipped at 1, Glorot's"
            " initialisation, the rate constant after its warm-up; dev: nats per character at the end; curve: training"
            f" loss, means of {SMOOTH} steps; one seed",
            "what_it_shows": shown(gradients, runs),
        },
    )


def shown(gradients: dict[str, Any], runs: dict[str, Any]) -> str:
    """What came out, in words: the last layer's gradient by depth, and what a warm-up changes at every rate."""
    parts = [
        f"gradient of the last layer's W2 at initialisation ({initial}), {title}: "
        + ", ".join(f"{depth} layers {norms[-1]:.3f}" for depth, norms in by_depth.items())
        for initial, by_norm in gradients.items()
        for title, by_depth in by_norm.items()
    ]
    for title in NORMS.values():
        without, with_it = (by for key, by in runs.items() if key.startswith(title))
        changes = [
            f"{with_it[rate]['dev'] - row['dev']:+.2f} at a rate of {rate}"
            if row["dev"] is not None and with_it[rate]["dev"] is not None
            else f"diverged at a rate of {rate}"
            for rate, row in without.items()
        ]
        parts.append(f"what a warm-up changes in {title}'s loss: {', '.join(changes)}")
    return "; ".join(parts)


def again(run: Run, initial: str, warm_up: int, seed: int) -> float:
    """The held-out loss of post-norm at the rate of `AGAIN`; seed 0 with Glorot's weights is the run of `warmup`."""
    stream, dev, vocab_size = data(run)
    there = replace(run, recipe=replace(run.recipe, name="warmup"))  # its seeds
    config = a_config(vocab_size, run.size(64, 8), run.size(DEPTH, 2), "post")
    which = "" if (initial, seed) == ("Glorot", 0) else f"-{initial}-{seed}"
    return float(
        train(there, replace(config, initialise=INITIALISATIONS[initial]), AGAIN, warm_up, stream, dev, which)["dev"]
    )


@recipe(2)
def cook_warmup_again(run: Run) -> None:
    """Post-norm, with and without warm-up: three seeds, two kinds of first weights."""
    warm_ups, seeds = (0, run.size(WARM_UP, 2)), range(run.size(3, 1))
    found: dict[str, Any] = {
        initial: {str(warm_up): [again(run, initial, warm_up, seed) for seed in seeds] for warm_up in warm_ups}
        for initial in INITIALISATIONS
    }
    run.save_result(
        "warmup_again",
        {
            "question": "Does a warm-up help post-norm with other seeds, and with other first weights?",
            "how": f"post-norm at a rate of {AGAIN}, else as in `warmup`; nats per character on dev, one per seed, which"
            " changes the first weights; by initialisation and steps of warm-up",
            "runs": found,
            "what_it_shows": "; ".join(
                f"{initial}: {said(by, '{0!m:.2f} with {row} steps of warm-up', ', ')}" for initial, by in found.items()
            ),
        },
    )
