"""Figure: what do SmolLM2's 270 heads do? Where they look, what depends on them, and which of them deserve a name.

**Where they look** (`nlmcore.inspect.attribution`), five draws each: on 25 random tokens and the same again, the mean weight
on the previous token, on the token after the last occurrence (induction), and on the same token's last occurrence; on
verses of five test plays, the weight on the first token, and that on punctuation less its
fraction of the tokens so far. Among the five a head's candidate name is
the first whose weight is above `ENOUGH`.

**What depends on them.** Each head's output is replaced by its mean over all positions of the same texts (mean
ablation), and the change is measured of

    copying       nats per token on the second half of the random tokens
    reading       weight of the strongest later induction heads on the token they should copy from
    text          nats per token of the verses, and the same where the next token is punctuation
    any change    the mean KL divergence of the predictions on the verses

**A name** needs an intervention: what the name predicts must change more than for the controls, the heads of the same
and the neighbouring layers that are no candidates for it. The difference, paired draw by draw, must have a 95 %
interval above 0, and the head must be above 95 % of the controls. An induction head predicts copying; a head that looks
at the previous token, reading; at the same token, copying; at punctuation, text before punctuation. A head that parks
its weight on the first token predicts that its removal changes *less* than that of controls. Any other head is unknown.

**Together.** The k strongest induction heads are ablated, by their mean and by zero; the controls are 20 draws of as
many heads of the same layers that are no candidates. Rival explanation: any damage to these layers raises any loss.
"""

import copy
import random
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from typing import Any

import torch
from lectures.recipes.run import Run, load_smollm2, recipe
from nlmcore.corpora import load
from nlmcore.inspect import (
    Place,
    attention_at,
    capture,
    first_token_score,
    head,
    induction_score,
    outputs,
    patch,
    pathway,
    previous_token_score,
    repeated,
)
from nlmcore.metrics import mean_interval
from torch import Tensor
from torch.nn import functional as F

PERIOD, ENOUGH, READERS, TOGETHER = 25, 0.3, 8, (1, 2, 4, 8)
TESTS = {
    "induction": "copying",
    "previous token": "reading",
    "same token": "copying",
    "punctuation": "text before punctuation",
    "first token": "any change",
}


def verses(tokenizer: Any, length: int, count: int) -> tuple[Tensor, Tensor]:
    """(token ids, whether each is punctuation or space), both (passage, time): lines of the test plays in turn."""
    rows, plays = [], load("shakespeare").texts("test")
    for i in range(count):
        play = plays[i % len(plays)]
        at = play.find("\n\n", len(play) * (i + 1) // (count + 1)) + 2
        rows.append(tokenizer.encode(play[at : at + 8 * length])[:length])
    marks = [[not any(c.isalnum() for c in tokenizer.decode([i])) for i in row] for row in rows]
    return torch.tensor(rows), torch.tensor(marks)


def losses(model: Any, x: Tensor, tokens: Tensor, first: int = 0) -> Tensor:
    """Nats of each next token, read from position `first` on; x is the residual pathway after the last layer."""
    logits = model.output(model.final_norm(x[:, first:-1]))
    return F.cross_entropy(logits.transpose(1, 2), tokens[:, first + 1 :], reduction="none")


def one_by_one(model: Any, tokens: Tensor) -> Iterator[tuple[int, Tensor]]:
    """(layer, the pathway at the end when each of its heads is ablated in turn, (head, batch, time, d_model))."""
    heads = model.config.n_heads
    with pathway(model) as branches:
        model.hidden_states(tokens)
    for layer in range(len(model.layers)):

        def ablate(z: Tensor) -> Tensor:
            z = z.unflatten(0, (heads, -1)).unflatten(-1, (heads, -1)).clone()
            for k in range(heads):
                z[k, ..., k, :] = z[0, ..., k, :].mean((0, 1))
            return z.flatten(-2).flatten(0, 1)

        x = branches[2 * layer].x.repeat(heads, 1, 1)
        with patch(model, {Place(f"layers.{layer}.attention.output", "input"): ablate}):
            for later in model.layers[layer:]:
                x, _ = later(x)
        yield layer, x.unflatten(0, (heads, -1))


def scores(model: Any, draws: Sequence[Tensor], texts: Tensor, marks: Tensor) -> dict[str, Tensor]:
    """Where each head looks, (layer · head, draw)."""
    found: dict[str, list[Tensor]] = {name: [] for name in TESTS}
    for tokens, text, mark in zip(draws, texts, marks, strict=True):
        with capture(model) as random_tokens:
            model.hidden_states(tokens)
        with capture(model) as verse:
            model.hidden_states(text[None])
        mark = mark & (torch.arange(len(mark)) > 0)  # the first token is counted by itself
        by_chance = mark.cumsum(0) / torch.arange(1, len(mark) + 1)
        for name, tape, score in (
            ("induction", random_tokens, lambda w: induction_score(w, PERIOD)),
            ("previous token", random_tokens, previous_token_score),
            ("same token", random_tokens, lambda w: attention_at(w, PERIOD, PERIOD)),
            ("punctuation", verse, lambda w, m=mark, c=by_chance: ((w[0] * m).sum(-1) - c)[:, 4:].mean(-1)),
            ("first token", verse, first_token_score),
        ):
            found[name].append(torch.cat([score(weights) for weights in tape.values()]))
    return {name: torch.stack(each, 1).double() for name, each in found.items()}


def reading(tape: Any, readers: Sequence[int], after: int, heads: int) -> Tensor:
    """(row, draw): how much the readers in layers above `after` attend to the token that they should copy."""
    each = []
    for layer, k in (divmod(reader, heads) for reader in readers):
        if layer > after:
            weights = tape[f"layers.{layer}.attention"][:, k]
            each.append(weights.diagonal(1 - PERIOD, dim1=-2, dim2=-1)[:, 1:].mean(-1))
    return torch.stack(each).mean(0) if each else torch.tensor(torch.nan)


def effects(
    model: Any, draws: Sequence[Tensor], texts: Tensor, marks: Tensor, readers: Sequence[int]
) -> dict[str, Tensor]:
    """What changes when a head is ablated, (layer · head, draw)."""
    heads, tokens = model.config.n_heads, torch.cat(list(draws))
    names = ("copying", "reading", "text", "text before punctuation", "any change")
    found: dict[str, list[Tensor]] = {name: [] for name in names}
    with capture(model) as before, pathway(model) as branches:
        model.hidden_states(tokens)
    whole, turns = losses(model, branches[-1].result, tokens, PERIOD), one_by_one(model, tokens)
    for layer in range(len(model.layers)):
        listened: Any = capture(model) if any(r // heads > layer for r in readers) else nullcontext({})
        with listened as tape:
            _, ends = next(turns)
        looked = torch.full((heads, len(tokens)), torch.nan)
        if tape:
            now = reading(tape, readers, layer, heads).unflatten(0, (heads, -1))
            looked = reading(before, readers, layer, heads) - now
        for k in range(heads):
            found["copying"].append((losses(model, ends[k], tokens, PERIOD) - whole).mean(1))
            found["reading"].append(looked[k])
    with pathway(model) as branches:
        model.hidden_states(texts)
    target = marks[:, 1:].float()
    plain = model.output(model.final_norm(branches[-1].result[:, :-1])).log_softmax(-1)
    p = plain.exp()
    for _, ends in one_by_one(model, texts):
        for x in ends:
            fall = plain - model.output(model.final_norm(x[:, :-1])).log_softmax(-1)
            change = fall.gather(-1, texts[:, 1:, None])[..., 0]
            found["text"].append(change.mean(1))
            found["text before punctuation"].append((change * target).sum(1) / target.sum(1))
            found["any change"].append((p * fall).sum(-1).mean(1))
    return {name: torch.stack(each).double() for name, each in found.items()}


def candidate(looks: dict[str, Tensor], i: int) -> str:
    """The first of the names whose weight is enough."""
    return next((name for name in TESTS if looks[name][i].mean() >= (0.5 if name == "first token" else ENOUGH)), "")


def tested(change: Tensor, candidates: Sequence[str], i: int, heads: int) -> dict[str, Any]:
    """Head i against its controls: the paired difference with half its interval, and the share of controls below."""
    name, layer = candidates[i], i // heads
    others = [j for j, other in enumerate(candidates) if abs(j // heads - layer) <= 1 and other != name]
    sign = -1 if name == "first token" else 1
    found = {"difference": torch.nan, "half": torch.nan, "above": 0.0}
    if change[i].isfinite().all() and change[others].isfinite().all():
        mean, half = mean_interval((change[i] - change[others].mean(0)).tolist())
        above = (sign * change[i].mean() > sign * change[others].mean(1)).double().mean()
        found = {"difference": mean, "half": half, "above": float(above)}
    least = 0.5 if name == "first token" else 0.95
    return found | {"passes": sign * found["difference"] > found["half"] and found["above"] >= least}


def together(
    model: Any,
    draws: Sequence[Tensor],
    texts: Tensor,
    candidates: Sequence[str],
    order: Sequence[int],
    controls: int,
    counts: Sequence[int],
) -> dict[str, Any]:
    """The strongest induction heads ablated together, by mean and by zero, with controls: nats per draw."""
    heads, tokens, chance = model.config.n_heads, torch.cat(list(draws)), random.Random(0)
    first = min(i // heads for i in order)
    means, starts, plain = {}, [], []
    for of in (tokens, texts):
        with pathway(model) as branches:
            model.hidden_states(of)
        starts.append(branches[2 * first].x)
        plain.append(losses(model, branches[-1].result, of, 0 if of is texts else PERIOD))
    for layer in range(first, len(model.layers)):
        with outputs(model, Place(f"layers.{layer}.attention.output", "input")) as seen:
            model.hidden_states(tokens)
        means[layer] = seen[0].mean((0, 1))

    def rise(chosen: Sequence[int], by: str, on: int = 0) -> list[float]:
        changes = {}
        for i in chosen:
            place = head(model, f"layers.{i // heads}.attention", i % heads)
            changes[place] = 0 if by == "zero" else place.of(means[i // heads])
        x = starts[on]
        with patch(model, changes):
            for later in model.layers[first:]:
                x, _ = later(x)
        return (losses(model, x, (tokens, texts)[on], (PERIOD, 0)[on]) - plain[on]).mean(1).tolist()

    def others() -> list[int]:
        chosen: list[int] = []
        for i in order[:k]:
            same = [j for j in range(i // heads * heads, (i // heads + 1) * heads) if candidates[j] != "induction"]
            chosen.append(chance.choice([j for j in same if j not in chosen]))
        return chosen

    found: dict[str, Any] = {}
    for k in counts:
        random_sets = [others() for _ in range(controls)]
        found[str(k)] = {
            by: {
                "ablated": [round(x, 4) for x in rise(order[:k], by)],
                "controls": [[round(x, 4) for x in rise(chosen, by)] for chosen in random_sets],
                "on verses": [round(x, 4) for x in rise(order[:k], by, 1)],
            }
            for by in ("mean", "zero")
        }
    return found


@torch.no_grad()
@recipe(7)
def cook(run: Run) -> None:
    model, tokenizer = load_smollm2()
    heads, count = model.config.n_heads, run.size(6, 2)
    ids = torch.arange(1000, 20_000)  # no special tokens, no rare ones
    draws = [repeated(ids, 1, PERIOD, torch.Generator().manual_seed(run.seed + seed)) for seed in range(count)]
    texts, marks = verses(tokenizer, run.size(40, 12), count)
    sizes: Any = run.size(20, 2), run.size(TOGETHER, (1,))
    if run.quick:
        model = shallow(model, 3)
    looks = scores(model, draws, texts, marks)
    candidates = [candidate(looks, i) for i in range(len(looks["induction"]))]
    order = looks["induction"].mean(1).argsort(descending=True).tolist()[:READERS]
    run.say("looks: " + str({name: candidates.count(name) for name in TESTS}))
    kept = run.kept("together", lambda: together(model, draws, texts, candidates, order, *sizes))
    changed = run.kept(
        "one by one", lambda: {name: each.tolist() for name, each in effects(model, draws, texts, marks, order).items()}
    )
    changes = {name: torch.tensor(each, dtype=torch.float64) for name, each in changed.items()}
    rows = []
    for i, name in enumerate(candidates):
        row: dict[str, Any] = {"head": f"{i // heads}.{i % heads}", "candidate": name}
        row["looks"] = {of: [round(x, 4) for x in mean_interval(looks[of][i].tolist())] for of in TESTS}
        row["changes"] = {
            of: [round(x, 4) for x in mean_interval(each[i].tolist())] if each[i].isfinite().all() else None
            for of, each in changes.items()
        }
        test = tested(changes[TESTS[name]], candidates, i, heads) if name else {"passes": False}
        row["test"] = {
            key: round(x, 4) if isinstance(x, float) and x == x else x if x == x else None for key, x in test.items()
        }
        row["name"] = name if test["passes"] else "unknown"
        rows.append(row)
    named = {name: sum(row["name"] == name for row in rows) for name in (*TESTS, "unknown")}
    with pathway(model) as branches:
        model.hidden_states(torch.cat(draws))
    nats = losses(model, branches[-1].result, torch.cat(draws))
    run.save_result(
        "head_map",
        {
            "question": "What do SmolLM2's heads look at, what depends on them, and which names does that support?",
            "how": f"{count} draws of {PERIOD} random tokens, repeated once, and {count} passages of {texts.shape[1]}"
            " tokens from Shakespeare's test plays; mean ablation of each head; intervals are Student's, over the draws",
            "enough": {name: 0.5 if name == "first token" else ENOUGH for name in TESTS},
            "tests": TESTS,
            "nats": {
                "first time": round(float(nats[:, : PERIOD - 1].mean()), 3),
                "again": round(float(nats[:, PERIOD:].mean()), 3),
            },
            "rows": rows,
            "order": [f"{i // heads}.{i % heads}" for i in order],
            "together": kept,
            "candidates": {name: candidates.count(name) for name in TESTS},
            "named": named,
            "what_it_shows": ", ".join(
                f"{name}: {candidates.count(name)} look so, {named[name]} pass" for name in TESTS
            )
            + f"; unknown: {named['unknown']} of {len(rows)}",
        },
    )


def shallow(model: Any, layers: int) -> Any:
    """The same model with its first layers only, for a quick run."""
    shorter = copy.copy(model)
    shorter._modules = {**model._modules, "layers": model.layers[:layers]}
    return shorter
