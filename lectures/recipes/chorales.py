"""Checkpoint and figures: Bach's chorales as text, and whether positions by distance help to continue them.

Huang et al. (2018), Music Transformer, on four voices in turn (`nlmcore.corpora.packaged`): one token per voice and
sixteenth. Rows with and without a label for the voice are theirs; the label of a token is its position modulo 4.

    sinusoids                    added to the embeddings
    sinusoids, voice labels      and the embedding of the voice
    relative                     one learned vector per head and distance, by skewing
    sinusoids, twice the steps   a step of `relative` takes longer; this one gets more steps instead

The last two rows also exist with the label.

Rival explanations: a held note repeats what its voice had before. An n-gram model and a copy of the voice's previous
pitch say how much of the loss that is worth; and the loss is split into held and changed pitches.

Departs from the paper: models of a thousandth of its training, other splits of other editions, windows of 32
sixteenths, and sinusoids that are added where theirs are concatenated.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any

import torch
from lectures.trained import with_parts
from nlmcore.corpora import MissingPackageError, load
from nlmcore.corpora.packaged import SILENCE, VOICES
from nlmcore.decoding import sample as sampled
from nlmcore.metrics import mean_interval
from nlmcore.ngram import NGramLM
from nlmcore.positions import NoPositions, SinusoidalPositions
from nlmcore.tokens import CharTokenizer
from nlmcore.transformer import TransformerConfig, TransformerLM
from torch import Tensor, nn
from torch.nn import functional as F

from lectures.recipes.costs import random_tokens, seconds_per_step
from lectures.recipes.initial_weights import initialise_glorot
from lectures.recipes.experiment import Experiment, Setting, Task
from lectures.recipes.positions import next_loss
from lectures.recipes.run import Run, about, add_figures, recipe, save_checkpoint

TIME, COMPARED, BATCH, WIDTH = 256, 128, 8, 64
SETTING = Setting(
    200, BATCH, (5e-3, 1e-2, 2e-2), 30, curve=25, name="{row}-{seed}-{rate:g}", choose=("valid", min), choosing=2
)
LONG = {"steps": 1500, "learning_rate": 3e-3, "batch": BATCH, "time": TIME, "transposed_by": "-3 to 3 semitones"}
N, SHIFT = len(VOICES), 3
PITCHES = range(36 - SHIFT, 82 + SHIFT)
TOKENIZER = CharTokenizer(sorted([SILENCE, *map(chr, PITCHES)]))


def transposed(text: str, semitones: int) -> str:
    return "".join(sign if sign == SILENCE else chr(ord(sign) + semitones) for sign in text)


@lru_cache(maxsize=2)
def pieces(limit: int | None = None) -> dict[str, list[str]]:
    """The texts of each split that are longer than a window."""
    corpus = load("chorales")
    return {split: [text for text in corpus.texts(split) if len(text) > TIME][:limit] for split in corpus.splits}


def pitches(tokens: Tensor) -> Tensor:
    """Tokens (time) that begin with a soprano, as MIDI pitches (voice, sixteenth); 0 is silence."""
    text = "".join(TOKENIZER.decode(tokens.tolist()))
    line = torch.tensor([0 if sign == SILENCE else ord(sign) for sign in text])
    return line[: len(line) // N * N].reshape(-1, N).T


def unseen_pieces(model: Any) -> tuple[dict[str, Tensor], str]:
    """Title -> tokens of the test pieces, and nothing to say; without the package, pieces of the model, and why."""
    try:
        return {piece.title: torch.tensor(TOKENIZER.encode(piece.text)) for piece in load("chorales").test}, ""
    except MissingPackageError as missing:
        chord = torch.tensor([TOKENIZER.encode("C>;+")] * 12)  # G major
        found: Any = sampled(model, chord, TIME - N, temperature=0.8, generator=torch.Generator().manual_seed(0))
        written = torch.cat([chord, found.tokens], dim=1)
        return {f"written {k}": row for k, row in enumerate(written, 1)}, (
            f"The chorales are not there: {missing}. Until then, the pieces below are our model's, not Bach's."
        )


@torch.no_grad()
def harmonise(
    model: Any, sopranos: Tensor, temperature: float = 0.6, generator: torch.Generator | None = None
) -> Tensor:
    """sopranos (piece, sixteenth) of token ids; alto, tenor and bass are sampled below each: tokens (piece, 4 · time)."""
    written, state, p = [], None, torch.empty(0)
    for voice in range(N * sopranos.shape[1]):
        given = voice % N == 0
        token = sopranos[:, voice // N, None] if given else torch.multinomial(p, 1, generator=generator)
        logits, state = model(token, state)
        p = (logits[:, -1] / temperature).softmax(-1)
        written.append(token)
    return torch.cat(written, dim=1)


@dataclass(frozen=True)
class Windows:
    """Called with an epoch: windows that begin with a soprano, at random places of random pieces and keys."""

    texts: Sequence[str]
    batch: int
    time: int
    seed: int

    def __call__(self, epoch: int) -> Iterator[tuple[Tensor, Tensor]]:
        chance = torch.Generator().manual_seed(self.seed + epoch)

        def number(below: int) -> int:
            return int(torch.randint(below, (), generator=chance))

        def window() -> list[int]:
            text = self.texts[number(len(self.texts))]
            first = N * number((len(text) - self.time - 1) // N + 1)
            return TOKENIZER.encode(transposed(text[first : first + self.time + 1], number(2 * SHIFT + 1) - SHIFT))

        for _ in range(50):
            yield torch.tensor([window() for _ in range(self.batch)]), torch.tensor(0)


def held_out(texts: Sequence[str], time: int) -> Tensor:
    """Windows one after another, (window, time + 1); what is left of a piece is dropped."""
    rows = [torch.tensor(TOKENIZER.encode(text)).unfold(0, time + 1, time) for text in texts]
    return torch.cat(rows)


class VoiceLabels(nn.Module):
    """Other positions, and an embedding of the voice: the position modulo 4."""

    def __init__(self, positions: Any, max_length: int, d_model: int) -> None:
        super().__init__()
        self.positions, self.labels = positions(max_length, d_model), nn.Embedding(N, d_model)

    def forward(self, x: Tensor, first: int = 0) -> Tensor:
        return self.positions(x + self.labels(torch.arange(first, first + x.shape[1]) % N), first)


SINUSOIDS, RELATIVE = "sinusoids", "relative"
ROWS: dict[str, tuple[Any, str | None, int]] = {
    SINUSOIDS: (SinusoidalPositions, None, 1),
    f"{SINUSOIDS}, voice labels": (partial(VoiceLabels, SinusoidalPositions), None, 1),
    RELATIVE: (NoPositions, "relative", 1),
    f"{SINUSOIDS}, twice the steps": (SinusoidalPositions, None, 2),
    f"{SINUSOIDS}, voice labels, twice the steps": (partial(VoiceLabels, SinusoidalPositions), None, 2),
    f"{RELATIVE}, voice labels": (partial(VoiceLabels, NoPositions), "relative", 1),
}
"""Row -> (added to the embeddings, inside attention, how many times the steps)."""


def config(run: Run, width: int, time: int = TIME) -> dict[str, Any]:
    """Of the relative model, as a card has it."""
    return {
        "vocab_size": TOKENIZER.vocab_size,
        "d_model": run.size(width, 8),
        "n_heads": 4,
        "n_layers": run.size(3, 1),
        "max_length": run.size(time, 16),
        "scale_embeddings": True,
        "positions": "none",
        "attention_positions": "relative",
    }


def transformer(run: Run, row: str, width: int, time: int) -> nn.Module:
    positions, inside, _ = ROWS[row]
    sizes = config(run, width, time)
    sizes = with_parts(sizes) | {"positions": positions, "initialise": initialise_glorot}
    return TransformerLM(TransformerConfig(**sizes if inside else sizes | {"attention_positions": None}))


def losses(model: Any, windows: Tensor) -> Tensor:
    """-ln P of every token but the first, (window, time)."""
    with torch.no_grad():
        logits = torch.cat([model(rows[:, :-1])[0] for rows in windows.split(16)])
    return F.cross_entropy(logits.transpose(1, 2), windows[:, 1:], reduction="none")


def split_losses(nats: Tensor, windows: Tensor) -> dict[str, Any]:
    """The mean, by voice, and by whether the voice keeps its pitch; sums of the last two are the mean again."""
    kept = windows[:, N:] == windows[:, :-N]
    later = nats[:, N - 1 :]
    voice = torch.arange(1, windows.shape[1]) % N
    return {
        "all": round(float(nats.mean()), 4),
        "by_voice": [round(float(nats[:, voice == v].mean()), 4) for v in range(N)],
        "held": round(float(later[kept].mean()), 4),
        "changed": round(float(later[~kept].mean()), 4),
    }


def compare(run: Run, parts: dict[str, list[str]]) -> dict[str, Any]:
    """All seeds of every row at its own rate, chosen on valid by the mean of two seeds."""
    time = run.size(COMPARED, 16)
    valid, test = (held_out(parts[split], time) for split in ("valid", "test"))

    def measure(model: Any) -> dict[str, Any]:
        return {"valid": round(float(losses(model, valid).mean()), 4), **split_losses(losses(model, test), test)}

    task = Task(lambda size, seed: Windows(parts["train"], size, time, 1000 * seed), next_loss, measure)
    builds = {row: partial(transformer, run, row, WIDTH, COMPARED) for row in ROWS}
    models = {row: build() for row, build in builds.items()}
    work = {row: (model, random_tokens(model, (BATCH, time))) for row, model in models.items()}
    seconds = seconds_per_step(work, run.size(4, 1))
    return {
        row: {"seconds_per_step": round(seconds[row], 4)}
        | Experiment(run, task, replace(SETTING, steps=SETTING.steps * ROWS[row][2])).at_best_rate(row, build)
        for row, build in builds.items()
    }


def baselines(parts: dict[str, list[str]], time: int) -> dict[str, Any]:
    """Without a network: Kneser-Ney, and a copy of the voice's previous pitch, right how often."""
    test = held_out(parts["test"], time)
    model = NGramLM(7, TOKENIZER.vocab_size).fit([TOKENIZER.encode(text) for text in parts["train"]])
    kept = (test[:, N:] == test[:, :-N]).float().mean()
    return {"7-gram": split_losses(losses(model, test), test), "held_share": round(float(kept), 4)}


def comparison(run: Run, parts: dict[str, list[str]]) -> dict[str, Any]:
    """The result: positions compared, and what needs no network."""
    time = run.size(COMPARED, 16)
    rows = compare(run, parts)
    without = baselines(parts, time)
    windows = len(held_out(parts["test"], time))
    told = {row: mean_interval(of["all"]) for row, of in rows.items()}
    return {
        "question": "Do positions by distance help to continue Bach's chorales? (Huang et al. 2018, table 2)",
        "how": f"nats per token on {windows} windows of {COMPARED} tokens of test pieces, one value per seed;"
        f" {SETTING.words(f'× {COMPARED} tokens')}, transposed by up to {SHIFT} semitones, each row's rate bracketed on"
        f" valid by the mean of {SETTING.choosing} seeds; 3 layers, d_model {WIDTH}; held: the voice keeps its pitch;"
        " ±: 95 % interval of the mean; seconds_per_step: processor time of one step on one core",
        "rows": rows,
        "without": without,
        "what_it_shows": "; ".join(f"{row} {m:.3f} ± {half:.3f}" for row, (m, half) in told.items())
        + f"; 7-gram {without['7-gram']['all']:.3f}; {without['held_share']:.0%} of the pitches are held",
    }


def sample(model: Any, tokenizer: Any) -> dict[str, float]:
    """Nats per token on two test pieces."""
    test = held_out(pieces()["test"][:2], model.config.max_length)
    return {"nats_per_token": round(float(losses(model, test).mean()), 4)}


@recipe(15, "checkpoint:chorales result:chorales", sample=sample)
def cook(run: Run) -> None:
    corpus = load("chorales")
    parts = pieces(run.size(None, 6))
    sizes, training = config(run, 96), LONG | {"steps": run.size(LONG["steps"], 2)}
    model = run.build("chorales", partial(transformer, run, RELATIVE, 96, TIME))
    batches = Windows(parts["train"], run.size(BATCH, 2), sizes["max_length"], 0)
    run.fit_as("chorales", model, batches, training, loss=next_loss, warm_up=SETTING.warm_up)
    facts = about("Bach's chorales, the next pitch from those before it, four voices in turn", corpus, training)
    kept, _, _ = save_checkpoint(run, "chorales", model, sizes, [TOKENIZER], facts, ["chorales"])
    test = held_out(parts["test"], sizes["max_length"])
    add_figures(run, "chorales", {"test": split_losses(losses(kept, test), test)})
    run.save_result("chorales", comparison(run, parts))
