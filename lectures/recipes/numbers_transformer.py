"""Checkpoints and figure: translation of numbers by a Transformer, beside the recurrent networks of `numbers`.

Same pairs, same tests by length, same batches, as many parameters and as many steps as the recurrent network with
attention; a step of theirs takes about the same time (`step_time`). Each model is trained on sources of up to 12 words,
and again on up to 20, and tested on up to 29. Two ways of saying positions:

    sinusoids    added to the embeddings, so that a position which no training source had is a vector never seen
                 Vaswani et al. (2017), section 3.5, who hoped that it "may allow the model to extrapolate"
    relative     one learned number per bucket of distances, in self-attention alone; far distances share a bucket
                 Raffel et al. (2020), section 2.1

Departs from the papers: pre-norm, a learning rate that falls as a cosine, and Glorot's first weights with embeddings
of variance 1 (`initial_weights`): with GPT-2's, which are much smaller at this width, the sinusoids drown the words
and the same training is many times slower.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

from lectures.trained import FOLDER, names

from lectures.recipes.costs import SECONDS_ARE, pairs_in_turn, seconds_per_step
from lectures.recipes.initial_weights import glorot
from lectures.recipes.numbers import (
    BATCH,
    CONTEXTS,
    LONG,
    SHORT,
    Line,
    by_length,
    data_of,
    pairs_to_train_on,
    sample,
    test_numbers,
    tokenizers,
    training_facts,
)
from lectures.recipes.pairs import Ids, PairBatches
from lectures.recipes.run import Run, about, compared_with, recipe, save_checkpoint

Trained = tuple[Any, dict[str, Any]]
"""A model and its card."""
Pairs = Sequence[tuple[Ids, Ids]]

LEARNING_RATE, WARM_UP, STEPS = 4e-3, 100, 2500
POSITIONS = {
    "numbers_transformer": ("sinusoids", {"positions": "sinusoidal"}),
    "numbers_transformer_relative": ("relative positions", {"positions": "none", "attention_positions": "t5"}),
}


def name_of(kind: str, trained_to: int) -> str:
    return kind if trained_to == SHORT else f"{kind}_{trained_to}"


def title_of(positions: str, trained_to: int) -> str:
    return f"Transformer, {positions}, trained on up to {trained_to} words"


def recurrent_networks(run: Run) -> dict[str, Trained]:
    """The models of `numbers` and their cards, by the names of their lines."""
    folder = run.checkpoints if "numbers_attention" in names(run.checkpoints) else FOLDER
    found = {}
    for trained_to in (SHORT, LONG):
        for context, title in CONTEXTS.items():
            name = name_of(f"numbers_{context}", trained_to)
            model, _, card = compared_with(name, "numbers", folder)
            found[f"recurrent, {title}, trained on up to {trained_to} words"] = (model, card)
    return found


def cost(card: dict[str, Any]) -> dict[str, Any]:
    """Parameters and steps, from a model's card."""
    return {"parameters": card["parameters"], "steps": card["training"]["steps"]}


def costs_of(trained: dict[str, Trained], pairs: dict[int, Pairs], rounds: int) -> dict[str, dict[str, Any]]:
    """Parameters, steps and the processor time that the steps take here, on the pairs that each was trained on."""
    found: dict[str, dict[str, Any]] = {}
    for trained_to, its_own in pairs.items():
        here = {title: both for title, both in trained.items() if title.endswith(f"up to {trained_to} words")}
        draws = {title: (model, pairs_in_turn(PairBatches(its_own, BATCH, 0))) for title, (model, _) in here.items()}
        each = seconds_per_step(draws, rounds)
        found |= {
            title: {**cost(card), "seconds": round(card["training"]["steps"] * each[title], 1)}
            for title, (_, card) in here.items()
        }
    return {title: found[title] for title in trained}


@recipe(
    3,
    "checkpoint:numbers_transformer checkpoint:numbers_transformer_relative checkpoint:numbers_transformer_20 checkpoint:numbers_transformer_relative_20 result:numbers_transformer",
    sample=sample,
)
def cook(run: Run) -> None:
    trained = recurrent_networks(run)
    lines: dict[str, Line] = {title: card["figures"]["by_length"] for title, (_, card) in trained.items()}
    pairs: dict[int, Pairs] = {}
    tests = test_numbers(run.size(200, 4))
    held = frozenset(n for numbers in tests.values() for n in numbers)
    source, target = tokenizers()
    steps, count = run.size(STEPS, 3), run.size(20_000, 100)
    for trained_to in (SHORT, LONG):
        pairs[trained_to] = pairs_to_train_on(count, trained_to, held)
        for kind, (title, positions) in POSITIONS.items():
            name = name_of(kind, trained_to)
            config: dict[str, Any] = {
                "source_vocab_size": source.vocab_size,
                "target_vocab_size": target.vocab_size,
                "d_model": run.size(64, 8),
                "n_heads": run.size(4, 2),
                "n_layers": run.size(2, 1),
                "max_length": 128,
                "scale_embeddings": True,
                **positions,
            }
            training = training_facts(steps, count, trained_to, LEARNING_RATE, WARM_UP)
            model: Any = run.build(name, partial(glorot, "EncoderDecoder", config))
            batches = PairBatches(pairs[trained_to], BATCH, run.seed_of(name))
            run.fit_as(name, model, batches, training)
            facts = about(
                f"numbers from English words into German words, by a Transformer with {title}", data_of(held), training
            )
            model, tokenizer, card = save_checkpoint(run, name, model, config, [source, target], facts, [name])
            lines[title_of(title, trained_to)] = by_length(run, name, model, tokenizer, tests)
            trained[title_of(title, trained_to)] = (model, card)
    costs = costs_of(trained, pairs, run.size(30, 1))
    per_bucket = len(next(iter(tests.values())))
    run.save_result(
        "numbers_transformer",
        {
            "question": "Quality against source length: a Transformer beside recurrent networks.",
            "task": "numbers from English words into German words, greedy decoding; BLEU over German parts",
            "numbers_per_length": per_bucket,
            "lines": lines,
            "costs": costs,
            "costs_are": f"parameters, steps of {BATCH} pairs, and {SECONDS_ARE}",
            "recurrent_lines_are": "those of the cards that python -m lectures.recipes numbers wrote",
            "what_it_shows": shown(lines),
        },
    )


def reach(line: Line) -> str | None:
    """The longest range of source words of which nine numbers in ten are right."""
    return next((length for length in reversed(line) if line[length]["exact"] >= 0.9), None)


def shown(lines: dict[str, Line]) -> str:
    """How far each model reaches, and whether sinusoids reach past what was trained on."""
    parts = [f"{name}: {reach(line) or 'none'}" for name, line in lines.items()]
    past = []
    for trained_to in (SHORT, LONG):
        longest = reach(lines[title_of("sinusoids", trained_to)])
        past.append(longest is not None and int(longest.partition("-")[0]) > trained_to)
    verdict = "reach" if all(past) else "sometimes reach" if any(past) else "do not reach"
    return (
        f"the longest range of source words with at least 90 % of the numbers right: {'; '.join(parts)}. Sinusoids, of"
        f" which Vaswani et al. (2017) hoped that they extrapolate, {verdict} past the lengths trained on here"
    )
