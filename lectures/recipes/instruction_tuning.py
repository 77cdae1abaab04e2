"""Figure: what a hundred conversations teach SmolLM2, by LoRA's rank, and what they cost elsewhere.

The installed model, SmolLM2-135M-Instruct, is tuned on conversations already, by its makers. We tune it again, to the
three habits of `lectures.recipes.conversations`, which it does not have: a bare answer from the passage, "The passage
does not say." if there is none, and a call of a calculator instead of a sum.

By rank: the share of held-out answers that greedy decoding writes letter by letter (`lectures.recipes.tuned`), and the
loss on plain text, verses that nobody asked it to keep. Seeds: the adapter's first weights and the order of the
batches; the conversations are the same. One row has no conversation whose passage lacks the answer: does learning to
decline cost answers?

Rival explanation: the habits need no tuning, they need to be said. So the untuned model gets the same questions with
three system messages: the same short one, the rules in words, and the rules with an example of each habit. Its replies
are read more kindly than letter by letter: is the answer in them, do they decline, is the call in them, are they short?
The replies of the first seed are read in the same way. Intervals are bootstrap intervals over questions.
"""

import hashlib
import re
from functools import partial
from typing import Any

import torch
from nlmcore.corpora import load
from nlmcore.transfer.tuning import Tail, conversation, pad, supervised_loss
from safetensors.torch import save

from lectures.recipes import conversations
from lectures.recipes.conversations import EXAMPLES, MISSING, RULES, SYSTEM, Told, messages
from lectures.recipes.run import Run, load_smollm2, parameters, recipe
from lectures.recipes.tuned import LAYERS, Tuned, adapted, in_batches, replies, shares, text_passages, train, written

RANKS, CHOSEN, EPOCHS, RATE = (1, 4, 16), 4, 5, 3e-3
SEEDS, FEWER = 5, 3
"""Of the chosen rank, and of the others."""
BOLD = "without refusals"
KINDS = ("answered", "missing", "sums")
PROMPTS: dict[str, dict[str, Any]] = {
    "short message": {"system": SYSTEM},
    "rules": {"system": RULES},
    "rules and examples": {"system": RULES, "shown": EXAMPLES},
}
DECLINES = re.compile(r"\b(not|n't|no|unknown|unclear|cannot)\b.*", re.IGNORECASE)
ADAPTERS = {"house_style": (str(CHOSEN), True), "house_style_bold": (BOLD, False)}
"""File -> row, and whether its conversations have refusals."""


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


@torch.no_grad()
@recipe(10)
def cook(run: Run) -> None:
    model, tokenizer = load_smollm2()
    asked = conversations.held_out(run.size(24, 2))
    told = conversations.training()[:: run.size(1, 20)]
    reading = Tail(model, LAYERS)
    by_kind = {kind: [t for t in asked if t.kind == kind] for kind in KINDS}
    wanted = {kind: [messages(t)[:3] for t in these] for kind, these in by_kind.items()}
    wanted["refused"] = [messages(t._replace(answer=MISSING)) for t in by_kind["answered"]]
    tests = {name: reading.read(pad([conversation(tokenizer, said) for said in rows])) for name, rows in wanted.items()}
    verses = [d.text for d in load("shakespeare").splits["test"][:4]]
    plain = reading.read(text_passages(tokenizer, verses, run.size(160, 12)))
    batches = in_batches(reading, tokenizer, [messages(each) for each in told])
    bold = in_batches(reading, tokenizer, [messages(each) for each in told if each.kind != "missing"])

    def replied(of: Any, prompt: dict[str, Any]) -> list[str]:
        prompts = [tokenizer.chat(messages(t, **prompt, answered=False)) for t in asked]
        return replies(of, tokenizer, prompts, run.size(32, 4))

    def untuned(prompt: dict[str, Any]) -> dict[str, Any]:
        return {"replies": replied(model, prompt)}

    def trained(name: str, rank: int, seed: int, data: Any) -> Tuned:
        settings = {
            "epochs": run.size(EPOCHS, 1),
            "learning_rate": RATE,
            "layers": LAYERS,
            "told": [t.ask for t in told],
        }
        with torch.enable_grad():
            return train(run, name, model, rank, data, settings | {"rank": rank}, supervised_loss, seed)

    def measured(tail: Any) -> dict[str, Any]:
        return {name: written(tail, each) for name, each in tests.items()} | {
            "plain": float(supervised_loss(tail, plain))
        }

    def one(name: str, rank: int, seed: int, data: Any) -> dict[str, Any]:
        tuned = trained(name, rank, seed, data)
        shown = (rank, seed) == (CHOSEN, 0) and data is batches
        return measured(tuned.tail) | ({"replies": replied(tuned.model, PROMPTS["short message"])} if shown else {})

    rows: dict[str, list[dict[str, Any]]] = {}
    todo = [(str(CHOSEN), CHOSEN, SEEDS, batches), (BOLD, CHOSEN, SEEDS, bold)]
    todo += [(str(rank), rank, FEWER, batches) for rank in run.size(RANKS, (CHOSEN,)) if rank != CHOSEN]
    for label, rank, count, data in todo:
        rows[label] = []
        for seed in range(run.size(count, 2)):
            name = f"{label}, seed {seed}"
            rows[label].append(run.kept(name, partial(one, name, rank, seed, data)))
    written_replies = {
        name: run.kept(name, partial(untuned, prompt))["replies"] for name, prompt in PROMPTS.items()
    } | {"tuned": rows[str(CHOSEN)][0]["replies"]}

    # --- two adapters of the first seed, for the lecture ---
    adapters = {}
    for name, (label, declines) in ADAPTERS.items():
        tuned = trained(f"{label}, seed 0", CHOSEN, 0, batches if declines else bold)
        content = save({key: value.half().contiguous() for key, value in tuned.adapter.state_dict().items()})
        run.checkpoints.mkdir(parents=True, exist_ok=True)
        (run.checkpoints / f"{name}.safetensors").write_bytes(content)
        weights = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest(), "same_as": {}}
        made_by = {"command": run.recipe.command}
        adapters[name] = {"rank": CHOSEN, "layers": LAYERS, "weights": weights, "made_by": made_by}

    def kindly(each: list[str]) -> dict[str, Any]:
        """What replies do, by kind of question."""
        read = [reading_of(t, reply) for t, reply in zip(asked, each, strict=True)]
        of_kind = {kind: [r for t, r in zip(asked, read, strict=True) if t.kind == kind] for kind in KINDS}
        return {
            f"{kind}: {does}": shares([[r[does] for r in of]])["share"]
            for kind, of in of_kind.items()
            for does in of[0]
        }

    def summary(runs: list[dict[str, Any]]) -> dict[str, Any]:
        by = {name: shares([r[name] for r in runs]) for name in tests}
        for new in (False, True):
            flags = [
                [x for kind in KINDS for x, t in zip(r[kind], by_kind[kind], strict=True) if t.new is new] for r in runs
            ]
            by["new" if new else "familiar"] = shares(flags)
        return by | {"plain": [round(r["plain"], 4) for r in runs]}

    by_rank = {label: summary(runs) for label, runs in rows.items()}
    browsed = [asked.index(t) for kind in KINDS for t in by_kind[kind][: run.size(8, 1)]]
    run.save_result(
        "instruction_tuning",
        {
            "question": "What do a hundred conversations teach SmolLM2, and what do they cost?",
            "how": f"LoRA on the last {LAYERS} of {len(model.layers)} layers, {EPOCHS} epochs of batches of 8 at {RATE:g};"
            f" {len(told)} conversations, {len(asked)} held-out questions; {SEEDS} seeds of rank {CHOSEN}, {FEWER} of the others;"
            " 95 % bootstrap intervals over questions",
            "conversations": {kind: sum(t.kind == kind for t in told) for kind in (*KINDS, "talk")},
            "held_out": {kind: len(these) for kind, these in by_kind.items()},
            "parameters": {str(rank): parameters(adapted(model, rank).adapter) for rank in RANKS},
            "chosen": str(CHOSEN),
            "written": {"untuned": summary([measured(reading)])} | by_rank,
            "read": {name: kindly(each) for name, each in written_replies.items()},
            "transcripts": [
                {"kind": asked[i].kind, "ask": asked[i].ask, "wanted": asked[i].answer}
                | {name: each[i] for name, each in written_replies.items()}
                for i in browsed
            ],
            "adapters": adapters,
            "what_it_shows": "written letter by letter: "
            + "; ".join(
                f"{label} " + ", ".join(f"{kind} {of[kind]['share'][0]:.0%}" for kind in KINDS)
                for label, of in by_rank.items()
            ),
        },
    )
