"""Figure: do errors grow along the sequence when a model reads its own words? Teacher forcing, scheduled sampling.

Trained by teacher forcing, a decoder has never read its own mistakes (Ranzato et al. 2016 call it exposure bias);
scheduled sampling shows it some (Bengio et al. 2015). Three models here go on from the same one, letters to phonemes
without attention (`pronunciation_initial`), for the same number of steps: one by teacher forcing, two with a share of
true phonemes that falls on an inverse sigmoid, to 75 % or to 10 %. The phase that the checkpoint has behind it is the
flat beginning of that curve.

At every place t of a reference with 8 phonemes or more, on the test words that have one pronunciation:

    forced   the most probable phoneme after the true y_1 … y_{t-1} is not y_t
    free     y_t is not matched in the best alignment of what the model writes alone with the reference

The alignment keeps one phoneme too many from counting as a mistake at every later place.
"""

from typing import Any

import torch
from lectures.trained import FOLDER, checkpoint, names
from nlmcore.training import cosine_schedule, inverse_sigmoid_decay, scheduled_sampling_loss
from torch import Tensor

from lectures.recipes.pairs import Dictionary, PairBatches, as_source, as_target, load_dictionary, pad, translate
from lectures.recipes.pronunciation import BATCH, error_rates, longest
from lectures.recipes.run import MissingCheckpoint, Run, recipe

START = "pronunciation_initial"
SHORTEST, PLACES = 8, 10
ENDS = (1, 0.75, 0.1)
"""The share of true phonemes read at the last step; 1 is teacher forcing."""


def matched(said: list, reference: list) -> list[bool]:
    """For every place of the reference: is it matched in an alignment with the fewest edits?"""
    n, m = len(said), len(reference)
    edits = [[i + j if not (i and j) else 0 for j in range(m + 1)] for i in range(n + 1)]
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            same = said[i - 1] == reference[j - 1]
            edits[i][j] = min(edits[i - 1][j - 1] + (not same), edits[i - 1][j] + 1, edits[i][j - 1] + 1)
    found, i, j = [False] * m, n, m
    while i and j:
        same = said[i - 1] == reference[j - 1]
        if edits[i][j] == edits[i - 1][j - 1] + (not same):
            found[j - 1] = same
            i, j = i - 1, j - 1
        elif edits[i][j] == edits[i - 1][j] + 1:
            i -= 1
        else:
            j -= 1
    return found


@torch.no_grad()
def errors_by_place(model: Any, tokenizer: Any, entries: Dictionary) -> dict[str, list[float]]:
    """Share of errors at places 1 … PLACES, forced and free."""
    chosen = [(w, said[0]) for w, said in entries.items() if len(said) == 1 and said[0].count(" ") + 1 >= SHORTEST]
    sources = [tokenizer.source.encode(word) for word, _ in chosen]
    references = [tokenizer.target.encode(said) for _, said in chosen]
    written = translate(model, sources, longest)
    wrong = {"forced": torch.zeros(PLACES), "free": torch.zeros(PLACES)}
    count = torch.zeros(PLACES)
    for said, reference in zip(written, references, strict=True):
        hits = torch.tensor(matched(said, reference)[:PLACES], dtype=torch.float)
        wrong["free"][: len(hits)] += 1 - hits
        count[: len(hits)] += 1
    for start in range(0, len(sources), 256):
        source, source_mask = pad([as_source(ids) for ids in sources[start : start + 256]])
        tokens, mask = pad([as_target(ids) for ids in references[start : start + 256]])
        logits, _ = model(tokens[:, :-1], model.encode(source, source_mask))
        real = mask[:, 1:] & (tokens[:, 1:] != tokenizer.target.eos)
        miss = ((logits.argmax(-1) != tokens[:, 1:]) & real)[:, :PLACES].sum(0)
        wrong["forced"][: len(miss)] += miss
    return {way: [round(float(e), 4) for e in share / count.clamp(min=1)] for way, share in wrong.items()} | {
        "words": [int(c) for c in count]
    }


class SampledLoss:
    """`scheduled_sampling_loss` with a share of true phonemes that falls from step to step, to `end` at the last one.

    The step is set by the schedule that `fit` calls before every update, so an interrupted run goes on exactly.
    """

    def __init__(self, steps: int, end: float) -> None:
        self.k, self.step = decay_that_ends(steps, end), 0

    def epsilon(self, step: int) -> float:
        return inverse_sigmoid_decay(step, k=self.k)

    def __call__(self, model: Any, batch: dict[str, Tensor]) -> Tensor:
        given: dict[str, Any] = {name: batch[name] for name in ("mask", "source", "source_mask")}
        return scheduled_sampling_loss(model, batch["tokens"], self.epsilon(self.step), **given)


def decay_that_ends(steps: int, end: float) -> float:
    """The k for which k / (k + exp(steps / k)) is `end`, by bisection; at least 1."""
    low, high = 1.0, float(steps + 2)
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if inverse_sigmoid_decay(steps, k=middle) < end else (low, middle)
    return low


@recipe(4)
def cook(run: Run) -> None:
    data = load_dictionary(limit=run.size(None, 60))
    folder = run.checkpoints if START in names(run.checkpoints) else FOLDER
    if START not in names(folder):
        raise MissingCheckpoint(f"this recipe goes on from {START}: first run python -m lectures.recipes pronunciation")
    _, tokenizer, _ = checkpoint(START, folder)
    pairs = data.pairs(data.train, tokenizer.source, tokenizer.target)
    steps = run.size(2, 1) * -(-len(pairs) // BATCH)
    rows: dict[str, dict[str, Any]] = {}
    for end in ENDS:
        way = "teacher forcing" if end == 1 else f"scheduled sampling to {end:.0%}"
        loss = None if end == 1 else SampledLoss(steps, end)
        model, _, _ = checkpoint(START, folder)

        def schedule(step: int, loss: SampledLoss | None = loss) -> float:
            if loss is not None:
                loss.step = step
            return cosine_schedule(step, steps, min(100, steps - 1))

        run.fit(
            f"true-{end}",
            model.train(),
            PairBatches(pairs, BATCH, run.seed_of("order")),
            loss=loss,
            steps=steps,
            learning_rate=1e-3,
            schedule=schedule,
        )
        rows[way] = {"test": error_rates(model, tokenizer, data.test), **errors_by_place(model, tokenizer, data.test)}
        run.say(f"{way}: {rows[way]['test']}")
    run.save_result(
        "exposure_bias",
        {
            "question": "Do errors grow along the sequence when a model reads its own words?",
            "task": f"letters to phonemes without attention, words of {SHORTEST} phonemes or more, by place",
            "forced": "share of wrong phonemes after the true beginning",
            "free": "share of reference phonemes not matched, aligned, when the model writes alone",
            "training": f"all go on from {START} for {steps} steps of {BATCH}, learning rate 0.001 with a cosine; the"
            " share of true phonemes read falls by the inverse sigmoid, to the share named at the last step",
            "rows": rows,
            "what_it_shows": shown(rows),
            "split": data.description,
        },
    )


def shown(rows: dict[str, dict[str, Any]]) -> str:
    """How much more errors there are when the model reads itself, early and late, and who is best in the end."""
    told = []
    for way, row in rows.items():
        extra = [100 * (free - forced) for free, forced in zip(row["free"], row["forced"], strict=True)]
        early, late = sum(extra[:3]) / 3, sum(extra[-3:]) / 3
        told.append(f"{way}: {early:+.1f} points by reading itself at the first 3 places, {late:+.1f} at the last 3")
    best = min(rows, key=lambda way: rows[way]["test"]["phoneme_error_rate"])
    return "; ".join(told) + f"; fewest phoneme errors when it writes alone: {best}"
