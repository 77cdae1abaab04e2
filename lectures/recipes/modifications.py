"""Table: every row of `nlmcore.variants` trained alike, five seeds each, beside the table of Narang et al. (2021).

Each row is an encoder-decoder of the same sizes. It is pretrained by span corruption (`nlmcore.objectives`) on
Shakespeare's plays in byte pairs, and from there fine-tuned twice: letters to phonemes, and numbers from English words
into German words. The columns are theirs:

    parameters          the number of weights
    multiply_adds       of one pretraining batch, forwards, counted
    steps_per_second    on one core, all rows measured in turns
    early, final        held-out loss in nats per token after an eighth of the steps, and after all of them
    phonemes, numbers   held-out loss of the two tasks, in nats per token: after so few steps hardly any answer is
                        entirely right

The learning rate is tuned on the vanilla row alone, as in the paper: two seeds each at `RATES` (in `trainings` of the
result) found the same loss at 0.004 and at 0.008, so `RATE` is the lower of these. A second column has each row's own
best of `RATES`: the first seed alone picks it, so it is a hint and no comparison.

Departs from the paper: millions of times less training; AdamW instead of Adafactor; a linear warm-up and a cosine; all
first weights as the rows define them; the last linear layer of a downstream task is that of the pretraining.

Every training is written to the result as soon as it is done, so that an interrupted run goes on where it stopped,
also on another machine that has the result's file. Trainings run side by side, one on each core.
"""

import json
import os
import statistics
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from multiprocessing import get_context
from typing import Any

import torch
from nlmcore.objectives import corrupt_spans
from nlmcore.tokens import BPETokenizer
from nlmcore.training import cosine_schedule, fit
from nlmcore.transformer import EncoderDecoder
from nlmcore.variants import CATALOGUE

from lectures.recipes.costs import multiply_adds, seconds_per_step
from lectures.recipes.narang import THEIRS
from lectures.recipes.pairs import Dictionary, Ids, PairBatches, draw_many, english, german, load_dictionary
from lectures.recipes.pages import told
from lectures.recipes.run import Clock, Run, parameters, recipe, write_json
from nlmcore.metrics.significance import against, rank_correlation, summary
from lectures.recipes.texts import plays

VANILLA = "Vanilla Transformer"
SEEDS, RATES, RATE = 5, (2e-3, 4e-3, 8e-3, 1.6e-2), 4e-3
SIZES = {"d_model": 48, "n_heads": 6, "n_layers": 6, "max_length": 128}
STEPS, TUNED_STEPS, WARM_UP = 320, 120, 40
EARLY = 8
"""The early loss is that after an eighth of the steps, as in the paper."""
VOCABULARY, WINDOW, BATCH, SENTINELS = 512, 64, 16, 8
SETTINGS = (
    f"6 + 6 layers of 6 heads, d_model 48; {STEPS} steps of {BATCH} windows of {WINDOW} byte pairs,"
    f" then {TUNED_STEPS} steps of {BATCH} pairs for each downstream task; AdamW, {WARM_UP} steps of warm-up, a cosine to 0"
)


# --- the three tasks, in one vocabulary ------------------------------------------------------------


@dataclass(frozen=True)
class Tasks:
    """Byte pairs, then the symbols of the downstream tasks, then sentinels: one id each."""

    text: torch.Tensor
    held_out: torch.Tensor
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

    def __call__(self, epoch: int) -> Iterator[dict[str, torch.Tensor]]:
        generator = torch.Generator().manual_seed(1000 * self.seed + epoch)
        for _ in range(100):
            first = torch.randint(len(self.data.text) - WINDOW, (self.batch, 1), generator=generator)
            yield corrupted(self.data, self.data.text[first + torch.arange(WINDOW)], generator)


def corrupted(data: Tasks, windows: torch.Tensor, generator: torch.Generator) -> dict[str, torch.Tensor]:
    return corrupt_spans(windows, data.sentinels, generator=generator)._asdict()


def held_out(data: Tasks) -> list[dict[str, torch.Tensor]]:
    """The same for every training."""
    generator = torch.Generator().manual_seed(0)
    return [corrupted(data, windows, generator) for windows in data.held_out.split(64)]


# --- one training -----------------------------------------------------------------------------------


def build(name: str, data: Tasks, quick: bool) -> Any:
    row = replace(CATALOGUE[name], family=EncoderDecoder)
    return row.build(data.vocab_size, **(SIZES | {"d_model": 12} if quick else SIZES))


def train(name: str, seed: int, rate: float, quick: bool, downstream: bool = True) -> dict[str, Any]:
    """One row with one seed. A training whose loss is no longer finite has no figures, and says so."""
    torch.set_num_threads(1)
    data, clock = tasks(quick), Clock()
    steps, tuned_steps, batch = (EARLY, 2, 2) if quick else (STEPS, TUNED_STEPS, BATCH)
    torch.manual_seed(seed)
    model = build(name, data, quick)
    try:
        losses = learn(model, Spans(data, batch, seed), steps, rate, held_out(data)[: 1 if quick else None], EARLY)
        found: dict[str, Any] = {"seed": seed, "rate": rate, "losses": losses}
        for task in data.pairs if downstream else ():
            batches, tested = PairBatches(data.pairs[task], batch, seed), PairBatches(data.tests[task], 64, 0)
            (found[task],) = learn(deepcopy(model), batches, tuned_steps, rate, list(tested(0)))
    except FloatingPointError:
        found = {"seed": seed, "rate": rate, "diverged": True}
    return found | {"seconds": round(clock.seconds, 1)}


def learn(model: Any, batches: Any, steps: int, rate: float, validation: Any, looks: int = 1) -> list[float]:
    """The held-out loss, looked at so many times, last at the end."""
    history = fit(
        model,
        batches,
        steps=steps,
        learning_rate=rate,
        schedule=partial(cosine_schedule, total=steps, warmup=min(WARM_UP, steps // 4)),
        validation=validation,
        evaluate_every=steps // looks,
        keep_best=False,
        progress=False,
    )
    return [round(loss, 4) for loss in history.validation.values()]


# --- all trainings ----------------------------------------------------------------------------------

Job = tuple[str, int, float, bool]
"""Row, seed, learning rate, whether it is fine-tuned as well."""


def jobs_of(rows: list[str], seeds: int, rates: tuple[float, ...]) -> list[Job]:
    """Seed by seed, so that an interrupted run has all rows of the first seeds; what only picks rates comes last."""
    main = [(row, seed, RATE, True) for seed in range(seeds) for row in rows]
    vanilla = [(VANILLA, seed, rate, False) for seed in range(2) for rate in rates if rate != RATE]
    own = [(row, 0, rate, False) for row in rows for rate in rates if row != VANILLA and rate != RATE]
    return vanilla + main + own


@recipe(300)
def cook(run: Run) -> None:
    rows = [VANILLA, "SwiGLU", "Funnel Transformer"] if run.quick else list(CATALOGUE)
    jobs = jobs_of(rows, run.size(SEEDS, 2), run.size(RATES, RATES[-2:]))
    file = run.results / "modifications.json"
    done: list[dict[str, Any]] = []
    if file.exists():
        stored = json.loads(file.read_text(encoding="utf-8"))
        if stored["settings"] == SETTINGS and stored["made_by"]["quick"] == run.quick:
            done = stored["trainings"]
    left = [job for job in jobs if not any(key(one) == (job[0], job[1], job[2]) for one in done)]
    measured = costs(rows, run.quick)
    cores = 1 if run.quick else os.cpu_count() or 1
    hours = sum(1.3 * STEPS / measured[job[0]]["steps_per_second"] for job in left) / 3600 / cores
    run.say(f"{len(left)} of {len(jobs)} trainings are left: about {hours:.1f} hours on {cores} cores")
    for number, one in enumerate(finished(left, cores, run.quick), 1):
        done.append(one)
        loss = "diverged" if "diverged" in one else f"{one['losses'][-1]:.3f}"
        run.say(f"{number}/{len(left)}  {one['row']}, seed {one['seed']}, rate {one['rate']:g}: {loss}")
        write(run, file, measured, done, len(jobs))
    write(run, file, measured, done, len(jobs))
    run.say(told(file))


def finished(jobs: list[Job], cores: int, quick: bool) -> Iterator[dict[str, Any]]:
    """What each training found, as soon as it is done."""
    if cores == 1:
        for row, seed, rate, downstream in jobs:
            yield {"row": row} | train(row, seed, rate, quick, downstream)
        return
    with ProcessPoolExecutor(cores, mp_context=get_context("spawn")) as pool:
        waiting = {pool.submit(train, row, seed, rate, quick, downstream): row for row, seed, rate, downstream in jobs}
        try:
            for future in as_completed(waiting):
                yield {"row": waiting[future]} | future.result()
        finally:
            pool.shutdown(cancel_futures=True)


def key(training: dict[str, Any]) -> tuple[str, int, float]:
    return training["row"], training["seed"], training["rate"]


def costs(rows: list[str], quick: bool) -> dict[str, dict[str, Any]]:
    """Of each row: parameters, multiply-adds of a batch, steps per second of processor time."""
    data = tasks(quick)
    batch = next(Spans(data, 2 if quick else BATCH, 0)(0))
    models = {row: build(row, data, quick) for row in rows}
    each = seconds_per_step({row: (model, lambda: batch) for row, model in models.items()}, 1 if quick else 3)

    def forwards(model: Any) -> Any:
        return lambda: model(batch["tokens"], model.encode(batch["source"], batch["source_mask"]))

    return {
        row: {
            "parameters": parameters(model),
            "multiply_adds": multiply_adds(forwards(model)),
            "steps_per_second": round(1 / each[row], 3),
        }
        for row, model in models.items()
    }


# --- what it says -----------------------------------------------------------------------------------


def summaries(done: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Of each row, the figures at the common rate, one per seed; and its own best rate."""
    found: dict[str, dict[str, Any]] = {}
    for one in sorted(done, key=lambda one: one["seed"]):
        row = found.setdefault(one["row"], {"early": [], "final": [], "phonemes": [], "numbers": [], "rates": {}})
        if "phonemes" in one:
            row["early"].append(one["losses"][0])
            row["final"].append(one["losses"][-1])
            row["phonemes"].append(one["phonemes"])
            row["numbers"].append(one["numbers"])
        if "diverged" not in one and one["seed"] == 0:
            row["rates"][f"{one['rate']:g}"] = one["losses"][-1]
    return found


def write(run: Run, file: Any, measured: dict[str, Any], done: list[dict[str, Any]], planned: int) -> None:
    rows = summaries(done)
    whole = {name: row for name, row in rows.items() if len(row["final"]) >= 2}
    vanilla = whole.pop(VANILLA, None)
    compared: dict[str, dict[str, dict[str, float]]] = {}
    for column in ("early", "final", "phonemes", "numbers"):
        if vanilla is None or not whole:
            break
        tests = against(summary(vanilla[column]), {name: summary(row[column]) for name, row in whole.items()})
        compared[column] = {
            name: {"difference": round(test.difference, 4), "p": float(f"{test.corrected:.2g}")}
            for name, test in tests.items()
        }
    both = [(THEIRS[name]["final"], statistics.fmean(row["final"])) for name, row in whole.items() if name in THEIRS]
    write_json(
        file,
        {
            "question": "Do the modifications of the Transformer transfer? Every row of Narang et al. (2021), run again.",
            "settings": SETTINGS,
            "progress": f"{len(done)} of {planned} trainings are done",
            "rows": {name: measured.get(name, {}) | row for name, row in rows.items()},
            "rows_are": "one figure per seed: held-out loss in nats per token after an eighth of pretraining and at its"
            " end, and of both downstream tasks; rates: the first seed's final loss at each rate",
            "against_vanilla": compared,
            "against_vanilla_is": "difference of means and p of Welch's t test, corrected for the number of rows (Holm)",
            "rank_correlation_of_final_losses": rank_correlation(both) if len(both) > 3 else None,
            "trainings": done,
            "made_by": run.facts(),
        },
    )
