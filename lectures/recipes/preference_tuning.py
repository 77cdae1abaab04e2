"""Figure: preference tuning of one habit, length: SmolLM2 answers everyday questions at length; short answers are preferred.

The pairs come from the model itself: y⁻ is the beginning of its own greedy answer, cut off in the middle or ended by
the model; y⁺ is that answer's first sentence, followed by the end. So y⁺ and y⁻ share their first sentence, and what
is preferred is only to stop there. 30 questions are for training, 15 are held out.

    DPO           − ln σ(β [(ln π − ln π_ref)(y⁺ | x) − (ln π − ln π_ref)(y⁻ | x)])       for several β
    supervised    − ln π(y⁺ | x) per token: the rival, which sees the preferred answers only

The habit is measured as the probability of the end after the first sentence of the model's answers to held-out
questions. What it costs: the KL divergence from the untuned model per token of a held-out answer's first sentence, and
the loss on plain text. Greedy answers of the first seed are counted, cut off as the untuned ones were. Seeds: the adapter's first weights
and the order of the batches. One row has a higher learning rate: the habit is then reached, and nothing else is left. Two have a
lower one: is what the habit costs due to the rate? Intervals over questions.

Source: Rafailov et al. (2023), "Direct preference optimization". Departs from the paper: no people preferred anything
here, the rule did; the model was tuned by its makers already; only the last layers have an adapter.
"""

import re
from itertools import takewhile
from functools import partial
from typing import Any

import torch
from nlmcore.corpora import load
from nlmcore.transfer.tuning import Tail, conversation, log_probs, pad, preference_loss, preferences, supervised_loss

from lectures.recipes.capital_facts import interval
from lectures.recipes.everyday import questions
from lectures.recipes.run import Run, load_smollm2, recipe
from lectures.recipes.tuned import LAYERS, nats, replies, text_passages, train

BETAS, COUNTED, RANK, EPOCHS, LONGEST = (0.03, 0.1, 1.0), 0.1, 4, 5, 56
RATE, OTHERS = 2e-3, {"faster": 3e-3, "slower": 1e-3, "slowest": 5e-4}
"""Of every row but the named ones, which have the counted β."""
SEEDS, FEWER = 5, 3
"""Of the β that is counted, and of the other rows."""


Row = tuple[list[int], list[bool]]


def apart(chosen: Row, rejected: Row) -> tuple[Row, Row]:
    """The two answers, of which only tokens after their common beginning count: the others cancel in the loss."""
    same = sum(1 for _ in takewhile(lambda ids: ids[0] == ids[1], zip(chosen[0], rejected[0], strict=False)))
    hide = [False] * same
    return (chosen[0], hide + chosen[1][same:]), (rejected[0], hide + rejected[1][same:])


def first_sentence(answer: str) -> str:
    """Up to the first mark that ends a sentence; all of it if there is none."""
    found = re.match(r".*?[.!?](?=\s|$)", answer, re.DOTALL)
    return found[0] if found else answer


@torch.no_grad()
@recipe(10)
def cook(run: Run) -> None:
    model, tokenizer = load_smollm2()
    betas = run.size(BETAS, (COUNTED,))
    training, held_out = questions(run.size(45, 6))
    reading = Tail(model, LAYERS)

    def said(question: str, answer: str) -> list[dict[str, str]]:
        return [{"role": "user", "content": question}, {"role": "assistant", "content": answer}]

    def own(asked: list[str]) -> dict[str, Any]:
        prompts = [tokenizer.chat(said(question, "")[:1]) for question in asked]
        return {"answers": replies(model, tokenizer, prompts, run.size(LONGEST, 6))}

    everyday: dict[str, Any] = {"questions": [*training, *held_out], "longest": run.size(LONGEST, 6)}
    answers = dict(
        zip(everyday["questions"], run.kept("own answers", partial(own, everyday["questions"]))["answers"], strict=True)
    )

    def row(question: str, answer: str, ended: bool = True) -> Row:
        """The conversation; without its end where the answer was cut off."""
        ids, mask = conversation(tokenizer, said(question, answer))
        last = max(i for i, yes in enumerate(mask) if yes)
        return (ids, mask) if ended else (ids[:last], mask[:last])

    longer = [q for q in training if len(answers[q]) > len(first_sentence(answers[q]))] or training
    pairs = sorted(longer, key=lambda q: len(answers[q]))
    batches, preferred = [], []
    for i in range(0, len(pairs), 8):
        these = pairs[i : i + 8]
        short_rows = [row(q, first_sentence(answers[q])) for q in these]
        long_rows = [row(q, answers[q], ended=False) for q in these]
        chosen, rejected = zip(*map(apart, short_rows, long_rows), strict=True)
        batches.append(preferences(reading, reading.read(pad(chosen)), reading.read(pad(rejected))))
        preferred.append(reading.read(pad(short_rows)))
    asked = [q for q in held_out if len(answers[q]) > len(first_sentence(answers[q]))] or held_out
    short = reading.read(pad([row(q, first_sentence(answers[q])) for q in asked]))
    long = reading.read(pad([row(q, answers[q], ended=False) for q in asked]))
    verses = [d.text for d in load("shakespeare").splits["test"][:4]]
    plain = reading.read(text_passages(tokenizer, verses, run.size(160, 12)))
    before, rows = nats(reading, short), short.mask.nonzero()[:, 0]
    at_end = [max(i for i, r in enumerate(rows.tolist()) if r == k) for k in range(len(asked))]
    end = tokenizer.special["<|im_end|>"]

    def measured(tail: Any) -> dict[str, Any]:
        now = nats(tail, short)
        apart = (before.exp() * (before - now)).sum(-1)
        apart[at_end] = 0  # the habit itself is not drift
        counts = torch.bincount(rows, minlength=len(asked)) - 1
        drift = torch.zeros(len(asked)).index_add(0, rows, apart) / counts
        return {
            "stops": now[at_end, end].exp().tolist(),
            "drift": drift.tolist(),
            "chosen": (log_probs(tail, short)).tolist(),
            "rejected": (log_probs(tail, long)).tolist(),
            "plain": float(supervised_loss(tail, plain)),
        }

    def one(name: str, beta: float | None, seed: int, settings: dict[str, Any]) -> dict[str, Any]:
        loss = supervised_loss if beta is None else partial(preference_loss, beta=beta)
        data = preferred if beta is None else batches
        with torch.enable_grad():
            tuned = train(run, name, model, RANK, data, settings, loss, seed)
        found = measured(tuned.tail)
        if seed == 0:
            prompts = [tokenizer.chat(said(q, "")[:1]) for q in asked]
            found["answers"] = replies(tuned.model, tokenizer, prompts, run.size(LONGEST, 6))
        return found

    settings = {"epochs": run.size(EPOCHS, 1), "learning_rate": RATE, "layers": LAYERS, "rank": RANK} | everyday
    todo: list[tuple[str, float | None, float]] = [(f"{beta:g}", beta, RATE) for beta in betas]
    todo += [(label, COUNTED, rate) for label, rate in run.size(OTHERS, {"faster": 3e-3}).items()]
    todo += [("supervised", None, RATE)]
    found: dict[str, list[dict[str, Any]]] = {}
    for label, beta, rate in todo:
        found[label] = []
        for seed in range(run.size(SEEDS if label == f"{COUNTED:g}" else FEWER, 2)):
            name = f"{'supervised' if beta is None else f'{beta:g}'}, seed {seed}"
            its = settings | {"learning_rate": rate, "beta": beta}
            found[label].append(run.kept(name, partial(one, name, beta, seed, its)))
    start = measured(reading)

    def summary(runs: list[dict[str, Any]]) -> dict[str, Any]:
        by = {key: torch.tensor([r[key] for r in runs]) for key in ("stops", "drift", "chosen", "rejected")}
        told: dict[str, Any] = {key: interval(value.mean(0)) for key, value in by.items()}
        told["seeds"] = {key: [round(x, 4) for x in by[key].mean(1).tolist()] for key in ("stops", "drift")}
        told["plain"] = [round(r["plain"], 4) for r in runs]
        return told | wrote(runs[0]["answers"] if "answers" in runs[0] else [answers[q] for q in asked])

    def wrote(texts: list[str]) -> dict[str, Any]:
        """Of greedy answers how long they are, and whether they are one sentence."""
        return {
            "tokens": interval(torch.tensor([float(len(tokenizer.encode(text))) for text in texts])),
            "one sentence": interval(torch.tensor([float(text == first_sentence(text)) for text in texts])),
            "answers": texts[: run.size(8, 1)],
        }

    rows_found = {"untuned": summary([start, start])} | {label: summary(runs) for label, runs in found.items()}
    run.save_result(
        "preference_tuning",
        {
            "question": "What does preference tuning do to one habit, length, and what does it cost?",
            "how": f"{len(pairs)} pairs, {len(asked)} held-out questions; LoRA of rank {RANK} on the last {LAYERS} of"
            f" {len(model.layers)} layers, {settings['epochs']} epochs of batches of 8 at {RATE:g}"
            f" ({', '.join(f'{label}: {rate:g}' for label, rate in OTHERS.items())});"
            f" {SEEDS} seeds of β = {COUNTED:g}, {FEWER} of the others; 95 % bootstrap"
            f" intervals over questions; answers are cut off after {everyday['longest']} tokens",
            "pairs": len(pairs),
            "questions": asked[: run.size(8, 1)],
            "held_out": len(asked),
            "cut_off": everyday["longest"],
            "betas": [f"{beta:g}" for beta in betas],
            "counted": f"{COUNTED:g}",
            "rows": rows_found,
            "what_it_shows": "probability of the end after the first sentence "
            + ", ".join(
                f"{label} {of['stops'][0]:.2f} (drift {of['drift'][0]:.3f} nats)" for label, of in rows_found.items()
            ),
        },
    )
