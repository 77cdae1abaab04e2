"""Figures: did the models of an earlier table of modifications use their source at all? Three rows, three seeds each.

The table had every row of `nlmcore.variants`, pretrained for 320 steps by span corruption (`nlmcore.objectives`) on
Shakespeare's plays in byte pairs, then fine-tuned on letters to phonemes and on numbers from English into German, with the
first weights that each row defines. It is void and gone; `lectures.recipes.transfer` took its place. These runs repeat
three of its rows; the losses differ from the table's by up to 0.22 nats, and we do not know why.

Then the model reads the held-out targets once more, each with the source of the next text of its batch: the next 64 tokens
of a play, or a word or number of about the same length. So what is seen is the use of what a source says, not of its
length. A model that uses its source loses a lot; one that does not loses nothing. Beside both losses stand those of
n-grams, which have no source: Witten-Bell, orders 1 to 4, counted on the targets that the first seed has been trained on.
"""

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import chain, count, islice
from typing import Any

import torch
from nlmcore.objectives import corrupt_spans
from nlmcore.tokens import BPETokenizer
from nlmcore.training import cosine_schedule, evaluate, fit
from nlmcore.transformer import EncoderDecoder
from nlmcore.variants import CATALOGUE
from torch import Tensor

from lectures.recipes.narang import VANILLA
from lectures.recipes.pairs import Dictionary, Ids, PairBatches, draw_many, english, german, load_dictionary
from lectures.recipes.run import Run, recipe
from lectures.recipes.texts import plays
from lectures.recipes.transfer import ngram_floors

ROWS = (VANILLA, "GeGLU", "Fixup")
"""The baseline; a gated row that wins in the paper; the earlier table's best row on phonemes and numbers."""
SEEDS, ORDERS, RATE = 3, 4, 4e-3
SIZES = {"d_model": 48, "n_heads": 6, "n_layers": 6, "max_length": 128}
STEPS, TUNED_STEPS, WARM_UP = 320, 120, 40
VOCABULARY, WINDOW, BATCH, SENTINELS = 512, 64, 16, 8
SETTINGS = (
    f"6 + 6 layers of 6 heads, d_model 48; {STEPS} steps of {BATCH} windows of {WINDOW} byte pairs,"
    f" then {TUNED_STEPS} steps of {BATCH} pairs for each downstream task; AdamW, {WARM_UP} steps of warm-up, a cosine to 0"
)

Batch = dict[str, Tensor]


# --- the three tasks, in one vocabulary ------------------------------------------------------------


@dataclass(frozen=True)
class Tasks:
    """Byte pairs, then the symbols of the downstream tasks, then sentinels: one id each."""

    text: Tensor
    held_out: Tensor
    """(window, time)"""
    pairs: dict[str, list[tuple[Ids, Ids]]]
    tests: dict[str, list[tuple[Ids, Ids]]]
    vocab_size: int

    @property
    def sentinels(self) -> list[int]:
        return list(range(self.vocab_size - SENTINELS, self.vocab_size))


@lru_cache(maxsize=2)
def tasks(quick: bool) -> Tasks:
    texts = plays(limit=20_000 if quick else None)
    pieces = BPETokenizer.train(texts.train, 300 if quick else VOCABULARY)
    ids: dict[str, int] = {}

    def known(words: str) -> Ids:
        return [pieces.vocab_size + ids.setdefault(word, len(ids)) for word in words.split()]

    dictionary = load_dictionary(limit=60 if quick else None)

    def said(part: Dictionary) -> list[tuple[Ids, Ids]]:
        return [
            ([pieces.encode(letter)[0] for letter in word], known(p)) for word, found in part.items() for p in found
        ]

    def translated(numbers: list[int]) -> list[tuple[Ids, Ids]]:
        return [(known(english(n)), known(german(n))) for n in numbers]

    tested = draw_many(1, 20 if quick else 200, 2, 10)
    numbers = draw_many(2, 100 if quick else 20_000, 2, 10, without=frozenset(tested))
    held = torch.tensor([i for text in texts.dev for i in pieces.encode(text[:40_000])])
    return Tasks(
        torch.tensor([i for text in texts.train for i in pieces.encode(text)]),
        held[: 256 * WINDOW].unfold(0, WINDOW, WINDOW),
        {"phonemes": said(dictionary.train), "numbers": translated(numbers)},
        {"phonemes": said(dictionary.test)[:: 1 if quick else 64], "numbers": translated(tested)},
        pieces.vocab_size + len(ids) + SENTINELS,
    )


@dataclass(frozen=True)
class Spans:
    """Called with an epoch: a hundred batches of windows at random places, their spans removed at random."""

    data: Tasks
    batch: int
    seed: int

    def __call__(self, epoch: int) -> Iterator[Batch]:
        generator = torch.Generator().manual_seed(1000 * self.seed + epoch)
        for _ in range(100):
            first = torch.randint(len(self.data.text) - WINDOW, (self.batch, 1), generator=generator)
            yield corrupted(self.data, self.data.text[first + torch.arange(WINDOW)], generator)


def corrupted(data: Tasks, windows: Tensor, generator: torch.Generator) -> Batch:
    return corrupt_spans(windows, data.sentinels, generator=generator)._asdict()


def held_out(data: Tasks) -> list[Batch]:
    """The same for every training."""
    generator = torch.Generator().manual_seed(0)
    return [corrupted(data, windows, generator) for windows in data.held_out.split(64)]


# --- one training -----------------------------------------------------------------------------------


def build(name: str, data: Tasks, quick: bool) -> Any:
    row = replace(CATALOGUE[name], family=EncoderDecoder)
    return row.build(data.vocab_size, **(SIZES | {"d_model": 12} if quick else SIZES))


def learn(model: Any, batches: Any, steps: int, validation: Any) -> None:
    fit(
        model,
        batches,
        steps=steps,
        learning_rate=RATE,
        schedule=partial(cosine_schedule, total=steps, warmup=min(WARM_UP, steps // 4)),
        validation=validation,
        evaluate_every=steps,
        keep_best=False,
        progress=False,
    )


def with_the_next_source(batch: Batch) -> Batch:
    """Every target with the source of the text after it; the last with the first."""
    return batch | {name: batch[name].roll(-1, 0) for name in ("source", "source_mask")}


def both_losses(model: Any, batches: list[Batch]) -> dict[str, float]:
    others = [with_the_next_source(batch) for batch in batches]
    return {
        "own source": round(evaluate(model, batches), 7),
        "another text's source": round(evaluate(model, others), 7),
    }


def measure(name: str, seed: int, quick: bool) -> dict[str, dict[str, float]]:
    """Of one training, both losses of each task."""
    torch.manual_seed(seed)
    data = tasks(quick)
    model, batch = build(name, data, quick), 2 if quick else BATCH
    texts = held_out(data)[: 1 if quick else None]
    learn(model, Spans(data, batch, seed), 8 if quick else STEPS, texts)
    found = {"spans": both_losses(model, texts)}
    for task, pairs in data.pairs.items():
        tested = list(PairBatches(data.tests[task], 64, 0)(0))
        tuned = deepcopy(model)
        learn(tuned, PairBatches(pairs, batch, seed), 2 if quick else TUNED_STEPS, tested)
        found[task] = both_losses(tuned, tested)
    return found


def targets(batches: list[Batch]) -> list[list[int]]:
    return [
        row[real].tolist() for batch in batches for row, real in zip(batch["tokens"], batch["mask"].bool(), strict=True)
    ]


def floors(data: Tasks, steps: int, tuned_steps: int) -> dict[str, list[float]]:
    """By task: nats per token of n-grams of the targets of so many batches, those of seed 0."""

    def of(source: Spans | PairBatches, steps: int, held: list[Batch]) -> list[float]:
        seen = list(islice(chain.from_iterable(map(source, count())), steps))
        return ngram_floors(targets(seen), targets(held), data.vocab_size, ORDERS)

    found = {"spans": of(Spans(data, BATCH, 0), steps, held_out(data))}
    for task, pairs in data.pairs.items():
        found[task] = of(PairBatches(pairs, BATCH, 0), tuned_steps, list(PairBatches(data.tests[task], 64, 0)(0)))
    return found


@recipe(8)
def cook(run: Run) -> None:
    torch.set_num_threads(1)
    data, rows = tasks(run.quick), dict[str, list[dict[str, dict[str, float]]]]()
    for name in run.size(ROWS, ROWS[:1]):
        rows[name] = []
        for seed in range(run.size(SEEDS, 1)):
            rows[name].append(run.kept(f"{name}-{seed}", partial(measure, name, seed, run.quick)))
    run.save_result(
        "unused_source",
        {
            "question": "Did the models of an earlier table of modifications use their source?",
            "how": f"{SETTINGS}. Held-out loss in nats per token, one figure per seed: with the own source, and with"
            " that of the next text of the batch. n-grams: Witten-Bell, orders 1 to 4, of the targets that seed 0 was trained on",
            "rows": rows,
            "n-grams": floors(data, run.size(STEPS, 2), run.size(TUNED_STEPS, 2)),
        },
    )
