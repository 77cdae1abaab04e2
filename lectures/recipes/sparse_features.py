"""Figure: are the features of a sparse autoencoder easier to read than random directions? On `char_gpt`, after layer 2.

**The proxy**, fixed after a trial on two other plays and before these runs: fourteen labels that the text alone gives to a character, such as "in a word of
capitals". For a set of units, choose for each label the unit and the threshold with the highest F1 on one play, and score
them on another. The score of a set is its mean F1 over the labels. Every set has 512 units, but for the last two rows.

    sparse autoencoder     512 features, 12 active, five seeds               `nlmcore.inspect.features`
    random directions      ReLU of a product with a random direction, ten draws: the control
    activations            the same of 512 activations of the training text, less their mean, ten draws
    untrained autoencoder  the autoencoder before training, three seeds
    neurons                the 512 units of the layer's feed-forward network
    fitted directions      one ridge regression per label, fitted on other plays: what a direction can reach

**A test of the method**: 64 known directions in 32 dimensions, each present in one of 20 activations. The mean over the
known directions of the largest cosine with a feature says whether the autoencoder recovers them.

The rate is the one of three that leaves least variance unexplained on the first play, which the scores do not use.
"""

import re
from statistics import fmean, stdev
from typing import Any

import torch
from nlmcore.inspect import SparseAutoencoder, outputs, sparse_features, unexplained
from nlmcore.metrics.significance import critical, difference, summary
from torch import Tensor
from torch.nn import functional as F

from lectures.recipes.run import Run, recipe
from lectures.recipes.texts import plays
from lectures.trained import checkpoint

LAYER, FEATURES, ACTIVE, TIME = 2, 512, 12, 256
RATES = (1e-3, 2e-3, 4e-3)
FIRES = (0.003, 0.01, 0.03, 0.1, 0.3, 0.5)
"""Thresholds to choose from: above it is so large a fraction of the positions."""
LABELS = {
    "in a word of capitals": r"\b[A-Z]{2,}\b",
    "speaker's name": r"(?m)^ *[A-Z][A-Z ]+\.",
    "first word of a line": r"(?m)^ *[A-Za-z']+",
    "in a stage direction": r"(?m)(?:Enter|Exit|Exeunt)[^\n]*",
    "in “the”": r"\b[Tt]he\b",
    "in thou, thee, thy, thine": r"\b[Tt]h(?:ou|ee|y|ine)\b",
    "last letter of a word": r"[A-Za-z](?![A-Za-z'])",
    "in a word that ends in -ing": r"\b\w+ing\b",
    "after an apostrophe": r"(?<=')\w",
    "third letter or later": r"(?<=\b\w\w)\w+",
    "in a line that ends with ?": r"(?m)^[^\n]*\?$",
    "after a q": r"(?<=[qQ]).",
    "a vowel": r"[aeiouAEIOU]",
    "a full stop": r"\.",
}
"""Name -> what it matches: every character inside a match has the label."""


def labels_of(text: str) -> Tensor:
    """(label, character): which characters have which label."""
    found = torch.zeros(len(LABELS), len(text), dtype=torch.bool)
    for row, pattern in zip(found, LABELS.values(), strict=True):
        for match in re.finditer(pattern, text):
            row[match.start() : match.end()] = True
    return found


def best_f1(chosen_on: tuple[Tensor, Tensor], scored_on: tuple[Tensor, Tensor]) -> list[float]:
    """For each label the F1 of the unit and threshold that are best on the first pair, scored on the second.

    A pair is (activations (position, unit), labels (label, position)).
    """
    (a, y), (a_test, y_test) = chosen_on, scored_on
    ordered = a.sort(dim=0, descending=True).values
    thresholds = [ordered[int(fraction * len(a))] for fraction in FIRES]  # each (unit)
    scores = torch.stack([f1(a > t, y) for t in thresholds])  # (threshold, label, unit)
    found = []
    for label in range(len(y)):
        place = int(scores[:, label].argmax())
        which, unit = divmod(place, a.shape[1])
        fires = a_test[:, [unit]] > thresholds[which][unit]
        found.append(round(float(f1(fires, y_test[[label]])), 4))
    return found


def f1(fires: Tensor, labels: Tensor) -> Tensor:
    """(label, unit): 2 · both / (fires + labelled), of fires (position, unit) and labels (label, position)."""
    both = labels.float() @ fires.float()
    return 2 * both / (fires.sum(0) + labels.sum(1, keepdim=True)).clamp(min=1)


@torch.no_grad()
def activations(text: str, n: int) -> tuple[Tensor, Tensor, str]:
    """((position, d_model) after the layer, (position, d_ff) of its neurons, the text that was read)."""
    model, tokenizer, _ = checkpoint("char_gpt")
    ids = torch.tensor(tokenizer.encode(text[:n])).view(-1, TIME)
    seen, neurons = [], []
    for rows in ids.split(16):
        with outputs(model, f"layers.{LAYER}") as after, outputs(model, f"layers.{LAYER}.feed_forward.inner") as inner:
            model.hidden_states(rows)
        seen.append(after[0].flatten(0, 1))
        neurons.append(F.gelu(inner[0]).flatten(0, 1))
    return torch.cat(seen), torch.cat(neurons), text[:n]


def train(x: Tensor, features: int, active: int, rate: float, seed: int, steps: int) -> SparseAutoencoder:
    """Adam whose rate falls to 0 in the second half, batches of 1,024."""
    torch.manual_seed(seed)
    sae = SparseAutoencoder(x.shape[1], features, active)
    sae.centre.data = x.mean(0)
    optimiser = torch.optim.Adam(sae.parameters(), lr=rate)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: min(1.0, 2 - 2 * step / steps))
    for _ in range(steps):
        batch = x[torch.randint(len(x), (1024,))]
        loss = (batch - sae(batch)).square().sum(-1).mean()
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        schedule.step()
        sae.normalise()
    return sae.eval()


def recovered(seed: int, steps: int) -> dict[str, float]:
    """The test of the method: how near features and random directions are to 64 known ones."""
    torch.manual_seed(seed)
    known = F.normalize(torch.randn(64, 32), dim=-1)
    x = sparse_features((20_000, 64), 0.95) @ known
    found = train(x, 64, 4, 4e-3, seed, steps).directions.detach()
    random = F.normalize(torch.randn(64, 32), dim=-1)
    return {name: round(float((known @ d.T).amax(1).mean()), 4) for name, d in (("learned", found), ("random", random))}


@torch.no_grad()
def kept_loss(sae: SparseAutoencoder, scale: float, mean: Tensor, text: str, n: int) -> dict[str, float]:
    """Nats per character of the language model as it is, with the reconstruction after the layer, and with the mean."""
    model, tokenizer, _ = checkpoint("char_gpt")
    ids = torch.tensor(tokenizer.encode(text[:n])).view(-1, TIME)
    changes: dict[str, Any] = {
        "as it is": lambda x: x,
        "reconstruction": lambda x: sae(x / scale) * scale,
        "mean": lambda x: (mean * scale).expand_as(x),
    }
    found = {}
    for name, change in changes.items():
        handle = model.layers[LAYER].register_forward_hook(lambda _m, _a, out, c=change: (c(out[0]), *out[1:]))
        logits = model(ids[:, :-1])[0]
        handle.remove()
        found[name] = round(float(F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())), 4)
    return found


@recipe(3)
def cook(run: Run) -> None:
    corpus, steps = plays(), run.size(400, 5)
    x, _, text = activations("".join(corpus.train)[1_000_000:], run.size(80, 8) * TIME * 4)
    scale = float(x.norm(dim=1).mean()) / x.shape[1] ** 0.5
    x, mean = x / scale, x.mean(0) / scale
    sets = []
    for play in (corpus.dev[1], corpus.test[1]):
        after, inner, read = activations(play[3000:], run.size(48, 16) * TIME)
        sets.append((after / scale, inner, labels_of(read)))
    (valid, valid_neurons, y), (test, test_neurons, y_test) = sets

    def scored(unit: Any) -> list[float]:
        with torch.no_grad():
            return best_f1((unit(valid), y), (unit(test), y_test))

    def autoencoder(seed: int, rate: float) -> tuple[SparseAutoencoder, float]:
        sae = train(x, FEATURES, ACTIVE, rate, seed, steps)
        with torch.no_grad():
            return sae, round(unexplained(valid, sae(valid)), 4)

    def of_seed(seed: int, rate: float) -> dict[str, Any]:
        sae, left = autoencoder(seed, rate)
        with torch.no_grad():
            dead = 1 - float((sae.encode(x[:20_000]) > 0).any(0).float().mean())
        lost = kept_loss(sae, scale, mean, corpus.test[1][3000:], run.size(16, 4) * TIME)
        return {"unexplained": left, "dead": round(dead, 4), "f1": scored(sae.encode), "loss": lost}

    by_rate = {rate: autoencoder(run.seed + 100, rate)[1] for rate in RATES}
    best = min(by_rate, key=by_rate.__getitem__)
    seeds, draws = run.size((5, 10), (2, 2))
    trained = [of_seed(seed, best) for seed in range(seeds)]
    run.say(f"trained: {trained!s:.400}")

    def random_units(seed: int) -> Any:
        directions = F.normalize(
            torch.randn(FEATURES, x.shape[1], generator=torch.Generator().manual_seed(seed)), dim=-1
        )
        return lambda a: ((a - mean) @ directions.T).relu()

    def some_activations(seed: int) -> Any:
        chosen = torch.randperm(len(x), generator=torch.Generator().manual_seed(seed))[:FEATURES]
        directions = F.normalize(x[chosen] - mean, dim=-1)
        return lambda a: ((a - mean) @ directions.T).relu()

    def untrained(seed: int) -> Any:
        torch.manual_seed(seed)
        sae = SparseAutoencoder(x.shape[1], FEATURES, ACTIVE)
        sae.centre.data = mean
        return sae.encode

    whole = labels_of(text)
    x_centred = x - mean
    fitted = torch.linalg.solve(
        x_centred.T @ x_centred + 10 * torch.eye(x.shape[1]),
        x_centred.T @ (whole.float() - whole.float().mean(1, keepdim=True)).T,
    )  # (d_model, label)
    rows = {
        "fitted directions": [scored(lambda a: (a - mean) @ fitted)],
        "sparse autoencoder": [of["f1"] for of in trained],
        "random directions": [scored(random_units(1000 + seed)) for seed in range(draws)],
        "activations": [scored(some_activations(1000 + seed)) for seed in range(draws)],
        "untrained autoencoder": [scored(untrained(seed)) for seed in range(run.size(3, 2))],
        "neurons": [best_f1((valid_neurons, y), (test_neurons, y_test))],
    }
    ours, random = ([fmean(scores) for scores in rows[name]] for name in ("sparse autoencoder", "random directions"))
    gap, half = difference(summary(ours), summary(random))
    freedom = len(ours) + len(random) - 2
    pooled = (((len(ours) - 1) * stdev(ours) ** 2 + (len(random) - 1) * stdev(random) ** 2) / freedom) ** 0.5
    visible = (critical(freedom) + critical(freedom, 0.4)) * pooled * (1 / len(ours) + 1 / len(random)) ** 0.5
    toy = [recovered(seed, steps) for seed in range(seeds)]
    run.save_result(
        "sparse_features",
        {
            "question": "Are the features of a sparse autoencoder easier to read than random directions?",
            "how": f"char_gpt after layer {LAYER}, {len(x):,} positions, {FEATURES} features, {ACTIVE} active, {steps} steps;"
            f" mean F1 over {len(LABELS)} labels of a held-out play",
            "labels": list(LABELS),
            "by rate": {f"{rate:g}": left for rate, left in by_rate.items()},
            "rate": best,
            "autoencoders": [{key: of[key] for key in ("unexplained", "dead", "loss")} for of in trained],
            "f1": rows,
            "difference": [round(gap, 4), round(half, 4)],
            "visible": round(visible, 4),
            "ranks": [1 + sum(r > score for r in random) for score in ours],
            "toy": toy,
            "what_it_shows": ", ".join(f"{name} {fmean(map(fmean, of)):.3f}" for name, of in rows.items()),
        },
    )
