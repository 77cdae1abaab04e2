"""Figure: what if a generator reads its own words from the first day of training on?

    teacher forcing              reads the true letters (Williams & Zipser 1989)
    scheduled sampling to 75 %   reads fewer of them, but three quarters to the end
    scheduled sampling           reads fewer and fewer, nearly none at the end (Bengio et al. 2015, section 2.4)
    free running                 reads only letters that it sampled itself; the loss still asks for the true ones

Names, letter by letter, one GRU, the same steps and batches for all, five seeds each. The held-out loss reads the true
letters, as a language model's always does. For comparison: the loss of each letter's frequency at its position in the
name, which ignores every letter read. That is what free running is bound to learn (Huszár 2015).
"""

import math
import time
from collections import Counter
from typing import Any

import torch
from nlmcore.corpora import load, pad
from nlmcore.decoding import sample
from nlmcore.recurrent import RecurrentLM
from nlmcore.tokens import CharTokenizer
from nlmcore.training import evaluate, inverse_sigmoid_decay, scheduled_sampling_loss, teacher_forcing_loss
from torch import Tensor

from lectures.recipes.run import Run, recipe
from lectures.recipes.texts import as_document

BATCH, STEPS, EVERY, LEARNING_RATE, K = 64, 600, 50, 5e-3, 80
SEEDS = (0, 1, 2, 3, 4)
KEYS = ("held_out", "known_triples", "gradient_norm", "ms_per_step")
FLOOR = 0.75
WAYS = ("teacher forcing", "scheduled sampling to 75 %", "scheduled sampling", "free running")


class NameBatches:
    """Called with an epoch: every name once, in an order of that epoch's own."""

    def __init__(self, names: list[list[int]], seed: int) -> None:
        self.names, self.seed = names, seed

    def __call__(self, epoch: int) -> list[dict[str, Tensor]]:
        order = torch.randperm(len(self.names), generator=torch.Generator().manual_seed(self.seed + epoch)).tolist()
        return [self.batch(order[i : i + BATCH]) for i in range(0, len(order), BATCH)]

    def batch(self, chosen: list[int]) -> dict[str, Tensor]:
        tokens, mask = pad([self.names[i] for i in chosen])
        return {"tokens": tokens, "mask": mask}


class ScheduledLoss:
    """`scheduled_sampling_loss` with the fraction of true letters that the way asks for at this step."""

    def __init__(self, way: str) -> None:
        self.way, self.step = way, 0

    def epsilon(self, step: int) -> float:
        if self.way == "scheduled sampling to 75 %":
            return FLOOR + (1 - FLOOR) * inverse_sigmoid_decay(step, k=K)
        if self.way == "scheduled sampling":
            return inverse_sigmoid_decay(step, k=K)
        return 1.0 if self.way == "teacher forcing" else 0.0

    def __call__(self, model: Any, batch: dict[str, Tensor]) -> Tensor:
        epsilon = self.epsilon(self.step)
        if epsilon == 1.0 or not model.training:
            return teacher_forcing_loss(model, batch["tokens"], mask=batch["mask"])
        return scheduled_sampling_loss(model, batch["tokens"], epsilon, mask=batch["mask"])


def places_loss(train: list[list[int]], held_out: list[list[int]], vocab_size: int) -> float:
    """Nats per letter when each is predicted from its place alone: its frequency there, one added to each count."""
    counts: list[Counter[int]] = [Counter() for _ in range(max(map(len, [*train, *held_out])))]
    for name in train:
        for place, letter in enumerate(name[1:]):
            counts[place][letter] += 1
    losses = [
        -math.log((counts[place][letter] + 1) / (counts[place].total() + vocab_size))
        for name in held_out
        for place, letter in enumerate(name[1:])
    ]
    return sum(losses) / len(losses)


def triples(name: str) -> list[str]:
    """Every three characters in a row of a name, its edges marked."""
    marked = f"^{name}$"
    return [marked[i : i + 3] for i in range(len(marked) - 2)]


def known_triples(names: list[str], known: set[str]) -> float:
    """Share of the names' letter triples that occur in the training names: do they look like names?"""
    found = [triple in known for name in names for triple in triples(name)]
    return round(sum(found) / max(len(found), 1), 4)


def write_names(model: Any, tokenizer: CharTokenizer, count: int) -> list[str]:
    """Names drawn from the model, letter by letter."""
    prompt = torch.full((count, 1), tokenizer.bos)
    drawn: Any = sample(model, prompt, 20, eos=tokenizer.eos, generator=torch.Generator().manual_seed(0))
    return [tokenizer.decode(ids, skip_special=True) for ids in drawn.tokens.tolist()]


@recipe(3)
def cook(run: Run) -> None:
    corpus = load("names")
    limit = run.size(None, 200)
    tokenizer = CharTokenizer.fit(corpus.texts("train"))
    train = [as_document(tokenizer.encode(name)) for name in corpus.texts("train")[:limit]]
    held_out = [as_document(tokenizer.encode(name)) for name in corpus.texts("valid")[:limit]]
    watched = NameBatches(held_out, 0)(0)
    steps, every = run.size(STEPS, 4), run.size(EVERY, 2)
    known = {triple for name in corpus.texts("train") for triple in triples(name)}
    rows: dict[str, dict[str, Any]] = {way: {key: [] for key in KEYS} for way in WAYS}
    at = [0, *range(every, steps + 1, every)]
    for seed in SEEDS[: run.size(len(SEEDS), 1)]:
        for way in WAYS:
            name = f"{way}-{seed}".replace(" ", "-")
            model = run.build(f"model-{seed}", lambda: RecurrentLM(tokenizer.vocab_size, "gru", 32, run.size(96, 8)))
            loss = ScheduledLoss(way)

            def schedule(step: int, loss: ScheduledLoss = loss) -> float:
                loss.step = step
                return 1.0

            before = evaluate(model, watched, ScheduledLoss("teacher forcing"))
            began = time.process_time()
            history = run.fit(
                name,
                model,
                NameBatches(train, run.seed_of(f"order-{seed}") % 2**31),
                loss=loss,
                steps=steps,
                learning_rate=LEARNING_RATE,
                schedule=schedule,
                validation=lambda m: evaluate(m, watched, ScheduledLoss("teacher forcing")),
                evaluate_every=every,
                keep_best=False,
            )
            spent = time.process_time() - began
            rows[way]["held_out"].append([round(before, 4), *(round(v, 4) for v in history.validation.values())])
            norms = torch.tensor(history.gradient_norms[len(history.gradient_norms) // 2 :])
            rows[way]["gradient_norm"].append([round(float(norms.mean()), 3), round(float(norms.std()), 3)])
            rows[way]["ms_per_step"].append(round(1000 * spent / steps, 1))
            written = write_names(model.eval(), tokenizer, run.size(1000, 5))
            rows[way]["known_triples"].append(known_triples(written, known))
            if seed == SEEDS[0]:
                rows[way]["written"] = written[:12]
            run.say(f"{name}: {history.validation[steps]:.3f} nats per letter held out")
    by_place = round(places_loss(train, held_out, tokenizer.vocab_size), 4)
    run.save_result(
        "free_running",
        {
            "question": "What if a generator reads its own letters from the first day of training on?",
            "task": f"{len(train):,} names, letter by letter; a GRU of 96 units; {steps} updates of {BATCH} names",
            "held_out_is": f"nats per letter of {len(held_out):,} other names, true letters read; one list per seed",
            "gradient_norm_is": "mean and deviation over the second half of the training, per seed",
            "scheduled": f"fraction of true letters s = {K} / ({K} + exp(step / {K})); to 75 %: {FLOOR} + {1 - FLOOR} s",
            "at": at,
            "by_place_alone": by_place,
            "known_triples_is": "share of the letter triples of 1,000 written names that occur in the training names",
            "known_triples_of_held_out": known_triples(corpus.texts("valid"), known),
            "ms_per_step_is": "processor milliseconds per update, held-out evaluations included, one thread",
            "rows": rows,
            "what_it_shows": shown(rows, by_place),
            "split": corpus.split_rule,
        },
    )


def shown(rows: dict[str, dict[str, Any]], by_place: float) -> str:
    """Who is where at the end."""
    end = {way: sum(h[-1] for h in row["held_out"]) / len(row["held_out"]) for way, row in rows.items()}
    told = ", ".join(f"{way} {nats:.2f}" for way, nats in end.items())
    return (
        f"held-out nats per letter at the end, mean of the seeds: {told}; letters by their place alone {by_place:.2f}"
    )
