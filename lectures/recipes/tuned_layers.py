"""Where must an adapter be so that a hundred conversations teach more than a form?

    python -m lectures.recipes.tuned_layers --hours 2      any number of times; `lectures.recipes.resumable` says how

SmolLM2 is tuned by LoRA on `lectures.recipes.conversations`, in its last 2 of 30 layers, or in all but the first. Two
layers cannot do what the 28 before them have not prepared, so the first is a control for the second. Between them are
two more: as many parameters in the last 2 layers, and 2 layers in the middle. Both main rows are trained once more
without the conversations whose passage lacks the answer: does learning to decline cost answers?

Every run stores, question by question, whether greedy decoding writes the held-out answer letter by letter:

    answered     the passage holds the answer                    missing     it does not: "The passage does not say."
    refused      answerable, and it declines all the same        sums        the right call of the calculator
    elsewhere    the question comes with the passage about another thing, so it should decline

so that rows are compared by pairs: the same question, the same seed. Floors: the untuned model, and the constant answer
"The passage does not say.", which is right in all of `missing` and `elsewhere` and in nothing else.

Training and scoring run under autocast to bfloat16, which halves the time here; replies are decoded in float32. A rate
is chosen for each row, between two worse ones, on other conversations of the training kind. Five seeds, which decide
the adapter's first weights and the order of the batches. Seed 0 also stores replies, and its adapter in the cache. One
file a run in `results/tuned_layers/`.
"""

import copy
import hashlib
import os
import random
import re
from dataclasses import asdict, dataclass
from functools import lru_cache, partial
from pathlib import Path
from statistics import fmean
from typing import Any

import torch
from nlmcore.corpora import load
from nlmcore.training import cosine_schedule, fit
from nlmcore.transfer import LoRA
from nlmcore.transfer.tuning import Answers, Tail, conversation, pad, supervised_loss
from safetensors.torch import save_file

from lectures import FOLDER
from lectures.recipes import conversations, resumable
from lectures.recipes.conversations import EXAMPLES, MISSING, RULES, SYSTEM, Told, messages
from lectures.recipes.experiment import gap
from lectures.recipes.resumable import bracketed, file_of, read
from lectures.recipes.run import load_smollm2, parameters, write_json
from lectures.recipes.tuned import in_batches, replies, shares, shuffled, text_passages, written

LAST, EQUAL, MIDDLE, MOST = "last 2", "last 2, as many parameters", "2 in the middle", "all but the first"
PLACES = {LAST: (28, 2, 4), EQUAL: (28, 2, 58), MIDDLE: (14, 2, 4), MOST: (1, 29, 4)}
"""Name -> first layer, how many, LoRA's rank."""
RATES = {LAST: (1e-3, 3e-3, 1e-2), EQUAL: (3e-4, 1e-3, 3e-3), MIDDLE: (1e-3, 3e-3, 1e-2), MOST: (3e-4, 1e-3, 3e-3)}
FACTOR, TUNED_SEEDS, SEEDS, EPOCHS, BATCH, WARM_UP = 3.2, 2, 5, 5, 8, 5
ASKED, DEV, SHOWN = 40, 24, 8
"""Questions of each kind, to test on and to choose the rate with; and of how many the replies are shown."""
KINDS, WITHOUT = ("answered", "missing", "sums"), "without refusals"
DECLINES = re.compile(r"\b(not|n't|no|unknown|unclear|cannot)\b.*", re.IGNORECASE)
PROMPTS: dict[str, dict[str, Any]] = {
    "short message": {"system": SYSTEM},
    "rules": {"system": RULES},
    "rules and examples": {"system": RULES, "shown": EXAMPLES},
}
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "nlmcourse" / "recipes" / "tuned_layers"


@dataclass(frozen=True)
class Job:
    """One training; or, with a prompt, what the untuned model replies."""

    place: str = ""
    seed: int = 0
    rate: float = 0.0
    refusals: bool = True
    prompt: str = ""
    quick: bool = False
    """Two steps, two questions of each kind: a test that the code runs."""

    @property
    def file(self) -> Path:
        if self.prompt:
            return file_of("tuned_layers", "prompt", self.prompt)
        told = "" if self.refusals else WITHOUT
        return file_of("tuned_layers", self.place, told, f"rate {self.rate:g} seed {self.seed}")


# --- questions --------------------------------------------------------------------------------------------


def chosen_on(count: int = DEV) -> list[Told]:
    """Conversations of the training kind that are not among the hundred."""
    chance, trained = random.Random("dev"), {told.ask for told in conversations.training()}
    found: dict[str, list[Told]] = {"answered": [], "missing": [], "sums": []}
    while any(len(rows) < count for rows in found.values()):
        for told in (
            conversations.question("training", True, chance),
            conversations.question("training", False, chance),
            conversations.addition("training", chance),
        ):
            if told.ask not in trained and len(found[told.kind]) < count:
                found[told.kind].append(told)
    return [told for rows in found.values() for told in rows]


def elsewhere(answered: list[Told]) -> list[Told]:
    """Each question with the passage of the next, which is about another thing."""
    parts = [told.ask.split("\n") for told in answered]
    return [
        Told("missing", f"{passage}\n{ask}", MISSING, told.new)
        for (_, ask), (passage, _), told in zip(parts, parts[1:] + parts[:1], answered, strict=True)
    ]


def by_kind(rows: list[Told]) -> dict[str, list[Told]]:
    """The conversations of a test, by what is counted."""
    found = {kind: [told for told in rows if told.kind == kind] for kind in KINDS}
    return found | {
        "refused": [told._replace(answer=MISSING) for told in found["answered"]],
        "elsewhere": elsewhere(found["answered"]),
    }


def coded(told: list[Told], tokenizer: Any) -> Answers:
    """Up to the first answer."""
    return pad([conversation(tokenizer, messages(each)[:3]) for each in told])


@lru_cache(maxsize=1)
def plain_text(length: int = 160) -> Answers:
    """The beginnings of four plays, which nobody asked the model to unlearn."""
    return text_passages(load_smollm2()[1], [d.text for d in load("shakespeare").splits["test"][:4]], length)


# --- one run ----------------------------------------------------------------------------------------------


@torch.no_grad()
@torch.autocast("cpu", torch.bfloat16)
def measured(tail: Tail, asked: list[Told], dev: list[Told]) -> dict[str, Any]:
    """1 or 0 for each question; and the loss on plain text."""
    tokenizer = load_smollm2()[1]

    def right(told: list[Told]) -> list[int]:
        return [
            x for i in range(0, len(told), 20) for x in written(tail, tail.read(coded(told[i : i + 20], tokenizer)))
        ]

    return {
        "dev": {kind: right(told) for kind, told in by_kind(dev).items() if kind in KINDS},
        "written": {kind: right(told) for kind, told in by_kind(asked).items()},
        "plain": round(float(supervised_loss(tail, tail.read(plain_text()))), 4),
    }


@torch.no_grad()
def replied(model: Any, asked: list[Told], prompt: dict[str, Any], longest: int) -> list[str]:
    tokenizer = load_smollm2()[1]
    prompts = [tokenizer.chat(messages(told, **prompt, answered=False)) for told in asked]
    return replies(model, tokenizer, prompts, longest)


def train(job: Job) -> dict[str, Any]:
    model, tokenizer = load_smollm2()
    asked, dev = conversations.held_out(2 if job.quick else ASKED), chosen_on(2 if job.quick else DEV)
    facts: dict[str, Any] = {"job": {key: value for key, value in asdict(job).items() if key != "quick"}}
    longest = 3 if job.quick else 32
    if job.prompt:
        facts["replies"] = replied(model, asked, PROMPTS[job.prompt], longest)
        if job.prompt == "short message":
            facts |= measured(Tail(model, len(model.layers) - 1), asked, dev)
        return facts
    first, count, rank = PLACES[job.place]
    told = [told for told in conversations.training() if job.refusals or told.kind != "missing"]
    told = told[::50] if job.quick else told
    torch.manual_seed(job.seed)
    names = tuple(f"layers.{i}." for i in range(first, first + count))
    model = copy.deepcopy(model)  # an adapter changes it in place, and the next run begins with it
    adapter = LoRA(model, rank, where=lambda name: name.startswith(names))
    tail = Tail(model, len(model.layers) - first)
    batches = in_batches(tail, tokenizer, [messages(each) for each in told], BATCH)
    # as many steps with and without refusals
    steps = 2 if job.quick else EPOCHS * -(-len(conversations.training()) // BATCH)
    history = fit(
        adapter,
        shuffled(batches, job.seed),
        loss=lambda _, batch: supervised_loss(tail, batch),
        steps=steps,
        learning_rate=job.rate,
        schedule=partial(cosine_schedule, total=steps, warmup=min(WARM_UP, steps - 1)),
        precision="bfloat16",
        progress=False,
    )
    facts |= {"parameters": parameters(adapter), "steps": steps, "curve": [round(x, 3) for x in history.losses]}
    facts |= measured(tail, asked, dev)
    if job.seed == 0:
        facts["replies"] = replied(model, asked, PROMPTS["short message"], longest)
        if not job.quick:
            CACHE.mkdir(parents=True, exist_ok=True)
            halves = {key: value.half().contiguous() for key, value in adapter.state_dict().items()}
            save_file(halves, CACHE / f"{job.file.stem}.safetensors")
    return facts


# --- the order of work --------------------------------------------------------------------------------------


def score(run: dict[str, Any]) -> float:
    """The share of dev's conversations that are written, the mean of the three kinds; a constant refusal has 1/3."""
    return fmean(fmean(rows) for rows in run["dev"].values())


def rates_of(place: str) -> tuple[list[float], float | None]:
    """The rates to try in this place, and the best once it lies between two worse ones."""

    def wrong(rate: float) -> float | None:
        runs = [run for seed in range(TUNED_SEEDS) if (run := read(Job(place, seed, rate)))]
        return 1 - fmean(score(run) for run in runs) if len(runs) == TUNED_SEEDS else None

    return bracketed(RATES[place], wrong, FACTOR)


def tried(place: str) -> list[Job]:
    return [Job(place, seed, rate) for rate in rates_of(place)[0] for seed in range(TUNED_SEEDS)]


def plan() -> tuple[list[Job], list[str]]:
    jobs = [*tried(MOST), *tried(LAST)]
    best = {place: rates_of(place)[1] for place in (MOST, LAST)}
    if None in best.values():
        return jobs, ["the learning rates of both main rows are not bracketed yet"]
    for place, rate in best.items():
        runs = [run for seed in range(TUNED_SEEDS) if (run := read(Job(place, seed, rate or 0.0)))]
        if fmean(score(run) for run in runs) < 1 / 3 + 0.1:
            return jobs, [f"{place}: hardly better than the constant answer, so nothing has been learned"]
    for place, rate in best.items():
        jobs += [Job(place, seed, rate or 0.0) for seed in range(SEEDS)]
    jobs += [Job(prompt=prompt) for prompt in PROMPTS]
    for place, rate in best.items():
        jobs += [Job(place, seed, rate or 0.0, refusals=False) for seed in range(SEEDS)]
    for place in (EQUAL, MIDDLE):
        rate = rates_of(place)[1]
        jobs += tried(place)
        jobs += [Job(place, seed, rate) for seed in range(SEEDS)] if rate else []
    return list(dict.fromkeys(jobs)), []


# --- what the lecture shows of it ---------------------------------------------------------------------------


def reading_of(told: Told, reply: str) -> dict[str, int]:
    """What a reply does, read kindly: each 0 or 1."""
    found = {"short": int(len(reply.split()) <= 6)}
    if told.kind == "sums":
        return found | {"calls": int(told.answer in reply)}
    if told.kind == "missing":
        return found | {"declines": int(bool(DECLINES.search(reply)))}
    return found | {
        "holds": int(told.answer.removesuffix(".").lower() in reply.lower()),
        "declines": int(MISSING in reply),
    }


def kindly(replies: list[str]) -> dict[str, list[float]]:
    """The share of replies that do each thing, by kind of question, with its interval."""
    asked = conversations.held_out(ASKED)
    found: dict[str, list[int]] = {}
    for told, reply in zip(asked, replies, strict=True):
        for does, flag in reading_of(told, reply).items():
            found.setdefault(f"{told.kind}: {does}", []).append(flag)
    return {name: shares([flags])["share"] for name, flags in found.items()}


def finished(job: Job) -> dict[str, Any]:
    """ValueError if it was not trained yet."""
    run = read(job)
    if run is None:
        raise ValueError(f"{job.file.name} is missing; `python -m lectures.recipes.tuned_layers --hours 2` makes it")
    return run


def summary() -> dict[str, Any]:
    """Rows of `written`: kind of question -> share with its interval over questions, and one share per seed."""
    best = {place: rate for place in PLACES if (rate := rates_of(place)[1])}
    jobs = {place: [Job(place, seed, rate) for seed in range(SEEDS)] for place, rate in best.items()}
    jobs |= {
        f"{place}, {WITHOUT}": [Job(place, seed, best[place], False) for seed in range(SEEDS)] for place in (LAST, MOST)
    }
    prompted = {prompt: finished(Job(prompt=prompt)) for prompt in PROMPTS}
    runs = {"untuned": [prompted["short message"]]}
    runs |= {row: [finished(job) for job in of] for row, of in jobs.items() if all(job.file.exists() for job in of)}
    rows = {
        row: {kind: shares([run["written"][kind] for run in of]) for kind in of[0]["written"]}
        | {"plain": [run["plain"] for run in of], "parameters": of[0].get("parameters", 0)}
        for row, of in runs.items()
    }
    replied = {prompt: run["replies"] for prompt, run in prompted.items()}
    replied |= {f"tuned, {place}": runs[place][0]["replies"] for place in (LAST, MIDDLE)}
    asked = conversations.held_out(ASKED)
    shown = [i for kind in KINDS for i in [j for j, told in enumerate(asked) if told.kind == kind][:SHOWN]]
    return {
        "written": rows,
        "read": {name: kindly(of) for name, of in replied.items()},
        "transcripts": [
            {"kind": asked[i].kind, "ask": asked[i].ask, "wanted": asked[i].answer}
            | {name: of[i] for name, of in replied.items()}
            for i in shown
        ],
    }


def more(one: str, other: str, kind: str, rows: dict[str, Any]) -> tuple[float, float]:
    """By how much the share of `one` is above that of `other`, seed by seed, and half its 95 % interval."""
    return gap(rows[one][kind]["seeds"], rows[other][kind]["seeds"])


def store() -> None:
    """The first adapter in the middle, for the lecture."""
    rate = rates_of(MIDDLE)[1]
    file = CACHE / f"{Job(MIDDLE, 0, rate or 0.0).file.stem}.safetensors"
    if rate is None or not file.exists():
        print(f"no adapter was stored: {file.name} is not in the cache")
        return
    content = file.read_bytes()
    (FOLDER / "checkpoints" / "house_style.safetensors").write_bytes(content)
    first, layers, rank = PLACES[MIDDLE]
    card = {
        "rank": rank,
        "first": first,
        "layers": layers,
        "weights": {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest(), "same_as": {}},
        "made_by": {"command": "python -m lectures.recipes.tuned_layers --hours 2"},
    }
    write_json(file_of("tuned_layers", "adapters"), {"house_style": card})


if __name__ == "__main__":
    resumable.main("lectures.recipes.tuned_layers", plan, train)
    store()
