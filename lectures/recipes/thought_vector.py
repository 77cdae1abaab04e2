"""Checkpoint and figure: what helps a decoder that has only the encoder's last state? Numbers into German.

Four translators without attention, GRUs of one direction and one width, trained on sources of up to 12 words:

                      c starts the decoder              c is read again at every step
    left to right     c = h_n,  s_0 = c                 s_i = g([y_{i-1}; c], s_{i-1})   Cho et al. (2014)
    right to left     c = h_1   Sutskever et al. (2014, section 3.3)                     both

Each is trained with five seeds, so that a difference can be distinguished from luck. Besides quality against length, the share
of wrong words at each place of the target, the true words before it being given: reversing brings the first source
words next to the first target words. Does it help at the beginning?
"""

from functools import partial
from statistics import mean
from typing import Any

import torch
from nlmcore.corpora import pad
from lectures.trained import SourceAndTarget
from nlmcore.seq2seq import Seq2Seq

from lectures.recipes.numbers import (
    BATCH,
    SHORT,
    WARM_UP,
    Line,
    data_of,
    pairs_to_train_on,
    quality,
    sample,
    sizes,
    training_facts,
)
from lectures.recipes.numbers import test_numbers as numbers_to_test
from lectures.recipes.numbers import tokenizers as number_tokenizers
from lectures.recipes.pairs import PairBatches, as_source, as_target, english, german
from lectures.recipes.run import Run, about, add_figures, recipe, save_checkpoint

KINDS = {
    "initial": ("initial", False),
    "initial, reversed": ("initial", True),
    "every step": ("every_step", False),
    "every step, reversed": ("every_step", True),
}
"""Name of a line: (context, reverse_source)."""

LEARNING_RATE = 4e-3
SEEDS, PLACES, SHORTEST = 5, 10, 10
LONGER = ("9-11", "12-14")
"""Lengths at which the four differ: the longest that were trained on, and a little beyond."""
KEPT, CHECKPOINT = "initial, reversed", "numbers_thought_vector"


@torch.no_grad()
def wrong_by_place(model: Any, tokenizer: Any, numbers: list[int]) -> list[float]:
    """Share of wrong words at places 1 … PLACES of targets of SHORTEST words or more, the words before it given."""
    texts = [(english(n), german(n)) for n in numbers]
    texts = [(e, g) for e, g in texts if g.count(" ") + 1 >= SHORTEST]
    if not texts:
        return [0.0] * PLACES
    source, source_mask = pad([as_source(tokenizer.source.encode(e)) for e, _ in texts])
    tokens, _ = pad([as_target(tokenizer.target.encode(g)) for _, g in texts])
    logits, _ = model(tokens[:, :-1], model.encode(source, source_mask))
    wrong = (logits.argmax(-1) != tokens[:, 1:])[:, :PLACES].float().mean(0)
    return [round(float(share), 4) for share in wrong]


@recipe(17, "checkpoint:numbers_thought_vector result:thought_vector", sample=sample)
def cook(run: Run) -> None:
    steps, count, seeds = run.size(3000, 3), run.size(20_000, 100), run.size(SEEDS, 1)
    tests = numbers_to_test(run.size(200, 4))
    held = frozenset(n for numbers in tests.values() for n in numbers)
    longer = [n for (low, high), numbers in tests.items() if f"{low}-{high}" in LONGER for n in numbers]
    source, target = tokenizers = number_tokenizers()
    pairs = pairs_to_train_on(count, SHORT, held)
    training = training_facts(steps, count, SHORT, LEARNING_RATE, WARM_UP)
    lines: dict[str, list[Line]] = {kind: [] for kind in KINDS}
    places: dict[str, list[list[float]]] = {kind: [] for kind in KINDS}
    parameters: dict[str, int] = {}
    for seed in range(seeds):
        for kind, (context, reverse) in KINDS.items():
            name = f"{context}-{'reversed' if reverse else 'forward'}-{seed}"
            config = sizes(run, source, target) | {"context": context, "reverse_source": reverse}
            model: Any = run.build(name, partial(Seq2Seq, **config))
            batches = PairBatches(pairs, BATCH, run.seed_of(f"order {seed}"))
            run.fit_as(name, model, batches, training)
            parameters[kind] = sum(p.numel() for p in model.parameters())
            model, tokenizer = model.eval(), SourceAndTarget(*tokenizers)
            kept = kind == KEPT and seed == 0
            if kept:
                facts = about(
                    "numbers from English words into German words: an encoder that reads from right to left"
                    " hands its last state to the decoder",
                    data_of(held),
                    training,
                )
                model, tokenizer, _ = save_checkpoint(run, CHECKPOINT, model, config, list(tokenizers), facts, [name])
            line = {f"{low}-{high}": quality(model, tokenizer, tests[low, high]) for low, high in tests}
            if kept:
                add_figures(run, CHECKPOINT, {"by_length": line})
            lines[kind].append(line)
            places[kind].append(wrong_by_place(model, tokenizer, longer))
            run.say(f"{name}: " + ", ".join(f"{words} words {q['exact']:.0%}" for words, q in line.items()))
    per_bucket = len(next(iter(tests.values())))
    buckets = list(next(iter(lines.values()))[0])
    exact = {kind: {b: [line[b]["exact"] for line in by] for b in buckets} for kind, by in lines.items()}
    bleu = {kind: {b: [line[b]["bleu"] for line in by] for b in buckets} for kind, by in lines.items()}
    wrong = {kind: [round(mean(at), 4) for at in zip(*by, strict=True)] for kind, by in places.items()}
    run.save_result(
        "thought_vector",
        {
            "question": "Without attention: does a reversed source help, does it help to read the vector at every step?"
            " (Sutskever et al. 2014, section 3.3; Cho et al. 2014)",
            "task": "numbers from English words into German words, greedy decoding; trained on sources of up to"
            f" {SHORT} words, GRUs of one direction, 128 wide",
            "training": training,
            "parameters": parameters,
            "numbers_per_length": per_bucket,
            "exact_is": "share of numbers right in every word, one figure per seed",
            "exact": exact,
            "bleu": bleu,
            "wrong_by_place_is": f"fraction of wrong words at positions 1, 2, … of targets of {SHORTEST} words or more whose"
            " source has 9 to 14, the words before given; mean over the seeds",
            "wrong_by_place": wrong,
            "what_it_shows": shown(exact, wrong),
        },
    )


def shown(exact: dict[str, dict[str, list[float]]], wrong: dict[str, list[float]]) -> str:
    """Means over the seeds and all lengths trained on, and the errors at the beginning and further on."""
    told = []
    for kind, by in exact.items():
        trained = [by[bucket] for bucket in LONGER]
        runs = [mean(run) for run in zip(*trained, strict=True)]
        early, late = mean(wrong[kind][:4]), mean(wrong[kind][-4:])
        told.append(
            f"{kind}: {mean(runs):.0%} of the numbers of 9 to 14 words right (from {min(runs):.0%} to"
            f" {max(runs):.0%} over the seeds), {early:.1%} wrong words at positions 1 to 4,"
            f" {late:.1%} at positions {PLACES - 3} to {PLACES}"
        )
    return "; ".join(told)
