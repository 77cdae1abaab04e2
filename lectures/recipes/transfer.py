"""Do modifications of the Transformer transfer? One model that reads a source and writes an answer, row by row.

    python -m lectures.recipes.transfer                  what is done, what is left, what the gates say
    python -m lectures.recipes.transfer --hours 2        trains for about two hours; any number of times, resumes

Narang et al. (2021) trained text-to-text models, so each row of their table 1 is an encoder-decoder here as well. A
prefix names the task, the source decides the answer, and each symbol is one token:

    <sounds> r o u g h                       R AH F                      CMUdict
    <german> four thousand seven             vier tausend sieben         numbers of 2 to 12 English words
    <modern> h a u e                         h a v e                     Folio words that have changed

The order of work is `jobs()`. First what shows that the set-up can measure anything: vanilla, its learning rate
between worse ones, effects that everybody knows. `gates` looks at these and refuses the other rows unless they hold.
Then ten rows, also in runs of a third and of a ninth of the steps, since a difference can change its sign with the
length of the training; then all rows. Both go seed by seed, so that an interrupted run has whole seeds. Last, other
rates for rows that bring first weights of their own. A seed means the same first draw and the same order of batches in
every row.

Departs from the paper: a million times less training; AdamW, a warm-up and a cosine; Glorot's first weights for all
rows, also (with their own rule on top) for those that bring some; 0.01 of the balance loss where there are experts.

One file a run in `results/transfer/`, written when the run ends (`lectures.recipes.resumable`).
"""

import collections
import json
import math
import os
import random
import re
import statistics
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from nlmcore.corpora import load
from nlmcore.ngram import NGramLM
from nlmcore.transformer import EncoderDecoder, TransformerConfig
from nlmcore.transformer.config import initialise_normal
from nlmcore.variants import CATALOGUE, factorised
from nlmcore.variants.mixture_of_experts import MixtureOfExperts, balance_loss
from torch import Tensor, nn

from lectures.recipes import resumable
from lectures.recipes.initial_weights import initialise_glorot
from lectures.recipes.narang import FEW, LENGTHS, RATE, SEEDS, STEPS, THEIRS, VANILLA
from lectures.recipes.pairs import BOS, Ids, as_source, as_target, draw_many, english, german, load_dictionary
from lectures.recipes.resumable import descent, file_of, read, unused
from lectures.recipes.run import parameters, write_json

SHARES = {"sounds": 2, "numbers": 1, "spelling": 2}
"""Of each batch's pairs."""
PAD = 0
BATCH, CHUNK, MAX_LENGTH, LONGEST_WORD = 64, 40, 24, 14
D_MODEL, N_HEADS, N_LAYERS = 48, 6, 4
BETA_2, BALANCE = 0.98, 0.01
RATES = (2.8e-3, 4e-3, 8e-3, 1.12e-2)
"""Around `RATE`; two seeds each. The last was added when 8e-3 turned out to be the best of the first four."""
CONTROLS = ("no cross-attention", "no positions in the encoder", "one layer", "an eighth of the width", "3 x the rate")
DEV, TEST = 645, 1_000
"""Pairs of each task that are looked at."""
FLOORS = file_of("transfer", "floors")
MARGIN = 0.3
"""Nats by which vanilla must beat the best n-gram of the answers, in each task."""
SOURCE = 0.5
"""Nats that another text's source must cost, in each task."""


@dataclass(frozen=True)
class Job:
    """One training."""

    row: str = VANILLA
    seed: int = 0
    steps: int = STEPS
    rate: float = RATE
    control: str = ""

    @property
    def file(self) -> Path:
        described = self.row, self.control, f"{self.steps} steps", f"rate {self.rate:g}", f"seed {self.seed}"
        return file_of("transfer", *described)


def gate_jobs() -> list[Job]:
    vanilla = [Job(seed=seed) for seed in range(SEEDS)]
    rates = [Job(seed=seed, rate=rate) for rate in RATES for seed in range(2)]
    controls = [Job(control=control, rate=RATE * (3 if control == CONTROLS[-1] else 1)) for control in CONTROLS]
    return vanilla + rates + controls


def jobs() -> list[Job]:
    """All of them, in the order in which they are run."""
    few = [Job(row, seed, steps) for seed in range(SEEDS) for row in FEW for steps in (*LENGTHS, STEPS)]
    rows = [Job(row, seed) for seed in range(SEEDS) for row in THEIRS]
    return list(dict.fromkeys([*gate_jobs(), *few, *rows, *other_rates()]))


def other_rates() -> list[Job]:
    """Rows that bring first weights of their own, or diverged at the common rate, at a third and at twice the rate."""
    own = [row for row in THEIRS if CATALOGUE[row].config(8).initialise is not initialise_normal]
    diverged = [row for row in THEIRS if (found := read(Job(row))) and "diverged" in found]
    return [Job(row, rate=RATE * factor) for row in dict.fromkeys(own + diverged) for factor in (1 / 3, 2)]


# --- the tasks --------------------------------------------------------------------------------------

Pairs = list[tuple[Ids, Ids]]


@lru_cache(maxsize=1)
def tasks() -> tuple[dict[str, dict[str, Pairs]], int]:
    """Pairs of ids by task and part, and the number of symbols. The most frequent symbols have the smallest ids, as the
    rows with adaptive inputs and outputs need it."""
    words: dict[str, dict[str, list[tuple[list[str], list[str]]]]] = {
        "sounds": _sounds(),
        "numbers": _numbers(),
        "spelling": _spelling(),
    }
    counts: collections.Counter[str] = collections.Counter()
    for parts in words.values():
        for source, answer in parts["train"]:
            for symbol in source + answer:
                counts[symbol] += 1 / len(parts["train"])  # type: ignore[assignment]
    ids = {symbol: 3 + i for i, (symbol, _) in enumerate(counts.most_common())}
    coded = {
        task: {
            part: [([ids[s] for s in source], [ids[s] for s in answer]) for source, answer in pairs]
            for part, pairs in parts.items()
        }
        for task, parts in words.items()
    }
    return coded, 3 + len(ids)


def _sounds() -> dict[str, Any]:
    dictionary = load_dictionary()
    return {
        part: [
            (["<sounds>", *word], ["/" + sound for sound in said[0].split()])
            for word, said in getattr(dictionary, part).items()
            if len(word) <= LONGEST_WORD
        ]
        for part in ("train", "dev", "test")
    }


def _numbers() -> dict[str, Any]:
    held = draw_many(1, 3_000, 2, 12)
    trained = draw_many(2, 30_000, 2, 12, without=frozenset(held))

    def said(numbers: list[int]) -> list[tuple[list[str], list[str]]]:
        return [
            (["<german>", *("en:" + word for word in english(n).split())], ["de:" + word for word in german(n).split()])
            for n in numbers
        ]

    return {"train": said(trained), "dev": said(held[:1_500]), "test": said(held[1_500:])}


def _spelling() -> dict[str, Any]:
    folio, plain = load("shakespeare_folio", unit="word"), re.compile(rf"[a-z']{{1,{LONGEST_WORD}}}")

    def changed(documents: Any) -> list[tuple[list[str], list[str]]]:
        both = [tuple(str(w).lower().replace("’", "'") for w in (d.text, d.target)) for d in documents]
        return [(["<modern>", *a], [*b]) for a, b in both if a != b and plain.fullmatch(a) and plain.fullmatch(b)]

    return {"train": changed(folio.train), "dev": changed(folio.valid), "test": changed(folio.test)}


def collate(pairs: Pairs) -> tuple[Tensor, Tensor]:
    """Sources and answers, padded: (batch, source time), (batch, answer time)."""
    return _padded([as_source(source) for source, _ in pairs]), _padded([as_target(answer) for _, answer in pairs])


def _padded(rows: list[Ids]) -> Tensor:
    return nn.utils.rnn.pad_sequence([torch.tensor(row) for row in rows], batch_first=True, padding_value=PAD)


def batches(steps: int, seed: int) -> Iterator[Pairs]:
    """The seed's batches, the same for every row: pairs of like length together, the tasks mixed by their shares."""
    chance, mixed = random.Random(f"order/{seed}"), []
    for task, share in SHARES.items():
        pairs, needed = tasks()[0][task]["train"], -(-steps * BATCH * share // sum(SHARES.values()))
        drawn: Pairs = []
        while len(drawn) < needed:
            drawn += chance.sample(pairs, min(len(pairs), needed - len(drawn)))
        mixed += drawn
    chance.shuffle(mixed)
    for start in range(0, steps * BATCH, CHUNK * BATCH):
        near = sorted(mixed[start : min(start + CHUNK * BATCH, steps * BATCH)], key=_lengths)
        here = [near[i : i + BATCH] for i in range(0, len(near), BATCH)]
        chance.shuffle(here)
        yield from here


def _lengths(pair: tuple[Ids, Ids]) -> tuple[int, int]:
    return len(pair[0]), len(pair[1])


# --- one model --------------------------------------------------------------------------------------


def build(job: Job) -> EncoderDecoder:
    width = D_MODEL // 8 if job.control == "an eighth of the width" else D_MODEL
    layers = 1 if job.control == "one layer" else N_LAYERS
    row = replace(CATALOGUE[job.row], family=EncoderDecoder)
    config = row.config(tasks()[1], d_model=width, n_heads=N_HEADS, n_layers=layers, max_length=MAX_LENGTH)
    config = replace(config, initialise=_first_weights(config))
    if job.control != "no positions in the encoder":
        return EncoderDecoder(config)
    model = EncoderDecoder(config, replace(config, attention_positions=None))
    model.encoder.embedding = model.decoder.embedding
    initialise_glorot(model, config)
    return model


def _first_weights(config: TransformerConfig) -> Any:
    own = config.initialise

    def initialise(model: nn.Module, config: TransformerConfig) -> None:
        if own in (initialise_normal, factorised.initialise_factorised):
            initialise_glorot(model, config)
        else:  # Fixup: its rule for the matrices, the usual variance for the embeddings
            own(model, config)
            for part in model.modules():
                if isinstance(part, nn.Embedding):
                    nn.init.normal_(part.weight, std=config.d_model**-0.5)
        for part in model.modules():  # two factors whose product has the variance of an embedding, 1 / d_model
            if isinstance(part, factorised.FactorisedEmbedding):
                for factor in (part.narrow, part.widen):
                    nn.init.normal_(factor.weight, std=(config.d_model * part.narrow.embedding_dim) ** -0.25)

    return initialise


def logits(model: EncoderDecoder, source: Tensor, answer: Tensor, control: str) -> Tensor:
    real = torch.zeros_like(source, dtype=torch.bool) if control == "no cross-attention" else source != PAD
    found: Tensor = model(answer[:, :-1], model.encode(source, real))[0]
    return found


@torch.no_grad()
def measured(model: EncoderDecoder, part: str, most: int, control: str, another: bool = False) -> dict[str, Any]:
    """By task: nats per token, and the share of answers whose tokens all have the largest logit. Greedy decoding
    writes just these. `another` gives each answer the source of another pair of its task."""
    model.eval()
    found = {}
    for task in SHARES:
        pairs = tasks()[0][task][part][:most]
        if another:
            sources = [source for source, _ in pairs[len(pairs) // 2 + 1 :] + pairs[: len(pairs) // 2 + 1]]
            pairs = [(source, answer) for source, (_, answer) in zip(sources, pairs, strict=True)]
        pairs, nats, tokens, exact = sorted(pairs, key=_lengths), 0.0, 0, 0
        for i in range(0, len(pairs), 2 * BATCH):
            source, answer = collate(pairs[i : i + 2 * BATCH])
            scores, wanted = logits(model, source, answer, control), answer[:, 1:]
            nats += F.cross_entropy(scores.flatten(0, 1), wanted.flatten(), ignore_index=PAD, reduction="sum").item()
            tokens += int((wanted != PAD).sum())
            exact += int(((scores.argmax(-1) == wanted) | (wanted == PAD)).all(1).sum())
        found[task] = {"loss": nats / tokens, "exact": exact / len(pairs)}
    model.train()
    return found


def mean_loss(found: dict[str, Any]) -> float:
    return statistics.fmean(task["loss"] for task in found.values())


def train(job: Job) -> dict[str, Any]:
    """One run. A loss that is no longer finite ends it; then `diverged` is the step."""
    torch.manual_seed(1_000 + job.seed)
    model = build(job)
    experts = any(isinstance(part, MixtureOfExperts) for part in model.modules())
    found: dict[str, Any] = {"job": asdict(job), "parameters": parameters(model)}

    def loss(pairs: Pairs) -> Tensor:
        source, answer = collate(pairs)
        scores = logits(model, source, answer, job.control)
        own = F.cross_entropy(scores.flatten(0, 1), answer[:, 1:].flatten(), ignore_index=PAD)
        return own + BALANCE * balance_loss(model) if experts else own

    taken = descent(model, batches(job.steps, job.seed), loss, job.rate, job.steps // 10, job.steps, (0.9, BETA_2))
    for step, value in enumerate(taken, 1):
        if value is None:
            return found | {"diverged": step}
        if step == job.steps // 4:
            found["early"] = mean_loss(measured(model, "dev", DEV, job.control))
    found["dev"] = measured(model, "dev", DEV, job.control)
    found["test"] = measured(model, "test", TEST, job.control)
    found["final"] = mean_loss(found["dev"])
    if job.row == VANILLA and not job.control:
        found["another_source"] = measured(model, "dev", DEV, job.control, another=True)
    return found


# --- the gates --------------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def floors(orders: int = 6) -> dict[str, list[float]]:
    """By task: nats per token of n-grams of the answers, which see no source; orders 1, 2, …; stored beside the runs."""
    if FLOORS.exists():
        return dict(json.loads(FLOORS.read_text(encoding="utf-8")))
    data, symbols = tasks()
    found: dict[str, list[float]] = {}
    for task in SHARES:
        trained, held = ([as_target(b) for _, b in data[task][part]] for part in ("train", "dev"))
        found[task] = ngram_floors(trained, held[:DEV], symbols, orders)
    write_json(FLOORS, found)
    return found


def ngram_floors(trained: list[Ids], held: list[Ids], symbols: int, orders: int) -> list[float]:
    """Nats per token after <bos> of Witten-Bell n-grams of orders 1, 2, …

    <bos> is counted like any token and never asked for, so the others share its probability."""
    found = []
    for order in range(1, orders + 1):
        model = NGramLM(order, symbols, smoothing="witten_bell").fit(trained)
        nats = [
            math.log((1 - model.probability(BOS, b[:i])) / model.probability(b[i], b[:i]))
            for b in held
            for i in range(1, len(b))
        ]
        found.append(round(statistics.fmean(nats), 4))
    return found


def gates() -> list[str]:
    """What does not hold yet, in sentences; nothing: the rows may be trained."""
    found = {job: read(job) for job in gate_jobs()}
    missing = sum(result is None for result in found.values())
    if missing:
        return [f"{missing} of the {len(found)} runs that the gates look at are not done"]
    results: dict[Job, dict[str, Any]] = {job: result for job, result in found.items() if result is not None}
    vanilla = [results[Job(seed=seed)] for seed in range(SEEDS)]
    wrong = []
    for task, orders in floors().items():
        own = statistics.fmean(one["dev"][task]["loss"] for one in vanilla)
        another = statistics.fmean(one["another_source"][task]["loss"] for one in vanilla)
        wrong += unused(f"{task}, its source", own, min(orders), another - own, MARGIN, SOURCE)
    floor = statistics.fmean(min(orders) for orders in floors().values())
    early = statistics.fmean(one["early"] for one in vanilla)
    if early > floor - MARGIN:
        wrong.append(f"the early reading, {early:.3f} nats, is at the floor of {floor:.3f}")
    both = {
        rate: statistics.fmean(_final(results[Job(seed=s, rate=rate)]) for s in range(2)) for rate in (*RATES, RATE)
    }
    best = min(both, key=lambda rate: both[rate])
    if best in (min(both), max(both)):
        wrong.append(f"the best rate, {best:g}, is at the edge of the grid: {both}")
    deviation = statistics.stdev(one["final"] for one in vanilla)
    for job in results:
        if job.control and _final(results[job]) < vanilla[0]["final"] + 5 * deviation:
            wrong.append(f"{job.control}: {_final(results[job]):.3f} nats; the known effect is not seen")
    return wrong


def _final(found: dict[str, Any]) -> float:
    return float(found.get("final", math.inf))


# --- the work ---------------------------------------------------------------------------------------


def plan() -> tuple[list[Job], list[str]]:
    """What may be trained now, and what stops the rows."""
    wrong = gates()
    return (gate_jobs() if wrong else jobs()), wrong


if __name__ == "__main__":
    resumable.main("lectures.recipes.transfer", plan, train, workers=os.cpu_count() or 1)
