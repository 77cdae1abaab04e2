"""Figures: translators of numbers on the same pairs: quality against length, alignments, beams.

The two Transformers of `numbers_transformer` (their checkpoints are the first of five seeds) and a translator word by word,
learned from the same pairs of up to 12 English words (`alignment`). The recurrent networks with attention of `numbers`
have as many parameters, pairs and steps. Their quality is stored there; to score their alignments, they are trained again
from the same seeds.

Of all heads of a network the one that finds most words of 200 training numbers is scored on the test numbers. Two
explanations of what a Transformer loses on longer sources are tested: its sinusoids, by a Transformer that has
relative positions instead, and greedy decoding, by beams of 4.
"""

from dataclasses import replace
from functools import partial
from typing import Any

import torch
from nlmcore.corpora import pad
from nlmcore.decoding import beam_search
from nlmcore.metrics import corpus_bleu

from lectures.recipes.alignment import NEXT, found_by_heads, found_by_model_1, model_1
from lectures.recipes.initial_weights import glorot
from lectures.recipes.numbers import (
    BATCH,
    SHORT,
    TRAIN_SEED,
    WARM_UP,
    longest,
    pairs_to_train_on,
    quality,
    test_numbers,
    tokenizers,
    train,
    training_facts,
)
from lectures.recipes.numbers_transformer import LEARNING_RATE, POSITIONS
from lectures.recipes.pairs import BOS, EOS, PairBatches, as_source, draw_many, english, german
from lectures.recipes.run import Run, compared_with, parameters, recipe
from lectures.trained import FOLDER, SourceAndTarget

SEEDS, STEPS, CHOSEN, BEAM = 5, 2500, 200, 4
KINDS = {name: f"Transformer, {title}" for name, (title, _) in POSITIONS.items()}
WITH_BEAMS = ("9-11", "12-14", "15-17")
AGAIN = "15-17"
"""Where a recurrent network that was trained again shows whether it is the same."""


def trained(run: Run, name: str, seed: int, pairs: Any) -> Any:
    """The Transformer of that seed; seed 0 is the stored checkpoint."""
    model, _, card = compared_with(name, "numbers_transformer", FOLDER)
    if seed == 0:
        return model
    steps, label, config = run.size(STEPS, 3), f"{name}-{seed}", card["config"]
    facts = training_facts(steps, len(pairs), SHORT, LEARNING_RATE, WARM_UP)
    model = run.build(label, partial(glorot, "EncoderDecoder", config))
    run.fit_as(label, model, PairBatches(pairs, BATCH, run.seed_of(label)), facts)
    return model.eval()


def recurrent(run: Run, seed: int, held: frozenset[int]) -> Any:
    """The network with attention of `numbers`, again; seed 0 is the stored checkpoint."""
    if seed == 0:
        return compared_with("numbers_attention", "numbers", FOLDER).model
    there = replace(run, recipe=replace(run.recipe, name="numbers"))  # its seeds
    return train(there, f"numbers_attention-{seed}", "attention", SHORT, held)[0].eval()


def scored(written: list[str], numbers: list[int]) -> dict[str, float]:
    """BLEU, and the share of numbers that are right in every word."""
    references = list(map(german, numbers))
    right = sum(map(str.__eq__, written, references)) / len(numbers)
    return {"bleu": round(corpus_bleu(written, references), 2), "exact": round(right, 4)}


def with_beams(model: Any, tokenizer: Any, numbers: list[int], size: int = BEAM) -> dict[str, float]:
    """As `numbers.quality`, by beam search."""
    source, mask = pad([as_source(tokenizer.source.encode(english(n))) for n in numbers])
    start, limit = torch.full((len(numbers), 1), BOS), longest(source.shape[1])
    with torch.no_grad():
        found: Any = beam_search(model, start, limit, eos=EOS, state=model.encode(source, mask), beam_size=size)
    best = [[token for token in texts[0].tokens if token != EOS] for texts in found]
    return scored([tokenizer.target.decode(tokens) for tokens in best], numbers)


def measured(
    run: Run, name: str, seed: int, pairs: Any, tests: dict[str, list[int]], chosen: list[int]
) -> dict[str, Any]:
    """Quality and alignment by length, of one seed."""
    model, tokenizer = trained(run, name, seed, pairs), SourceAndTarget(*tokenizers())
    line = {at: quality(model, tokenizer, numbers) for at, numbers in tests.items()}
    return {
        "by_length": line,
        "beams": {at: with_beams(model, tokenizer, tests[at]) for at in WITH_BEAMS},
        **alignments(model, tokenizer, tests, chosen),
        "parameters": parameters(model),
    }


def alignments(model: Any, tokenizer: Any, tests: dict[str, list[int]], chosen: list[int]) -> dict[str, Any]:
    """What every head finds in the chosen numbers, and what the best one finds at each length."""
    heads = found_by_heads(model, tokenizer, chosen)
    best = max(range(len(heads[NEXT])), key=heads[NEXT].__getitem__)
    found = {at: found_by_heads(model, tokenizer, numbers)[NEXT][best] for at, numbers in tests.items()}
    return {"head": best, "heads": heads, "aligned": found}


@recipe(17)
def cook(run: Run) -> None:
    buckets = test_numbers(run.size(200, 4))
    tests = {f"{low}-{high}": numbers for (low, high), numbers in buckets.items()}
    held = frozenset(n for numbers in tests.values() for n in numbers)
    tokenizer, count = SourceAndTarget(*tokenizers()), run.size(20_000, 100)
    pairs = pairs_to_train_on(count, SHORT, held)
    chosen = draw_many(TRAIN_SEED, run.size(CHOSEN, 4), 1, SHORT, held)  # the first of the training numbers
    t = model_1(pairs, (tokenizer.source.vocab_size, tokenizer.target.vocab_size))
    baseline: dict[str, Any] = {"by_length": {}, "aligned": {}}
    for at, numbers in tests.items():
        words = [t[tokenizer.source.encode(english(n))].argmax(-1).tolist() for n in numbers]
        baseline["by_length"][at] = scored([tokenizer.target.decode(ids) for ids in words], numbers)
        baseline["aligned"][at] = found_by_model_1(t, tokenizer, numbers)
    rows: dict[str, list[dict[str, Any]]] = {title: [] for title in KINDS.values()}
    for name, title in KINDS.items():
        for seed in range(run.size(SEEDS, 2)):
            measure = partial(measured, run, name, seed, pairs, tests, chosen)
            rows[title].append(run.kept(f"measured {name}-{seed}", measure))
    before = []
    for seed in range(run.size(SEEDS, 2)):
        model = recurrent(run, seed, held)
        again = {AGAIN: quality(model, tokenizer, tests[AGAIN])}
        before.append({"by_length": again, **alignments(model, tokenizer, tests, chosen)})
    per_bucket = len(next(iter(tests.values())))
    run.save_result(
        "translators",
        {
            "question": "Numbers into German word by word and by a Transformer: quality and alignment against source length.",
            "task": f"trained on up to {SHORT} English words; greedy decoding, but for beams, of {BEAM}; aligned: the"
            " share of German parts whose English word gets the largest weight of the head that was best on"
            f" {CHOSEN} training numbers; heads: of every head, there",
            "numbers_per_length": per_bucket,
            "word_by_word": baseline,
            "recurrent": before,
            "recurrent_is": f"the recurrent network with attention; by_length: at {AGAIN} words, to be compared with"
            " quality_by_length",
            "seeds": rows,
            "seeds_are": f"{SEEDS} trainings each, the first that of the checkpoint",
        },
    )
