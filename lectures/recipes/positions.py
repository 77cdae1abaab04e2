"""Figures: ways of telling a Transformer where a word is, compared on two small tasks with five seeds each.

1. **The hidden letter.** One letter of an English word is hidden, `t _ e e`; a small encoder that sees the others names
   it: BERT's task (Devlin et al. 2019) in letters. The rows are those of Wang et al. (2021), "On position embeddings in
   BERT", table 3: none, absolute, relative and both at once; and one more, sinusoids concatenated with the letter's
   vector instead of added. Words are those of Shakespeare's plays; a word that is tested was not trained on.
2. **Longer texts than in training.** A causal language model over characters is trained on 48 of them and reads 192.
   Its loss by position says how far each kind of position reaches, as in Press, Smith & Lewis (2022), figure 1.

Departs from the papers: models of two layers, minutes of training, and a task of our own. What Wang et al. print are
means over GLUE tasks after pre-training, with standard deviations.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import torch
from nlmcore.positions import (
    ALiBi,
    ConcatenatedPositions,
    LearnableSinusoidal,
    LearnableSinusoidalDistances,
    LearnedPositions,
    NoPositions,
    RelativeBias,
    Rotary,
    ShawPositions,
    SinusoidalDistances,
    SinusoidalPositions,
    TransformerXLPositions,
)
from nlmcore.tokens import CharTokenizer
from nlmcore.transformer import MaskedLM, TransformerConfig, TransformerLM
from torch import Tensor, nn
from torch.nn import functional as F

from lectures.recipes.experiment import Experiment, Setting, Task
from lectures.recipes.initial_weights import initialise_glorot
from lectures.recipes.run import Run, recipe
from lectures.recipes.texts import Plays, letters, plays

PAD, HIDDEN, LONGEST = 0, 1, 12
TRAINED, READ = 48, 192
SHAW = partial(ShawPositions, max_distance=LONGEST)
ROWS: dict[str, tuple[Any, Any, tuple[float, float] | None]] = {
    "none": (NoPositions, None, (76.6, 0.41)),
    "absolute: learned": (LearnedPositions, None, (82.2, 0.30)),
    "absolute: sinusoids": (SinusoidalPositions, None, (80.5, 0.71)),
    "absolute: learnable sinusoids": (LearnableSinusoidal, None, (80.6, 0.29)),
    "relative: learned": (NoPositions, SHAW, (81.7, 0.31)),
    "relative: sinusoids": (NoPositions, SinusoidalDistances, (81.8, 0.53)),
    "relative: learnable sinusoids": (NoPositions, LearnableSinusoidalDistances, (82.2, 0.40)),
    "learned + relative learned": (LearnedPositions, SHAW, (81.8, 0.17)),
    "learned + relative sinusoids": (LearnedPositions, SinusoidalDistances, (81.5, 0.20)),
    "learned + relative learnable sinusoids": (LearnedPositions, LearnableSinusoidalDistances, (82.5, 0.44)),
    "learnable sinusoids + relative learned": (LearnableSinusoidal, SHAW, (80.8, 0.44)),
    "learnable sinusoids + relative sinusoids": (LearnableSinusoidal, SinusoidalDistances, (81.3, 0.43)),
    "learnable sinusoids + relative learnable sinusoids": (
        LearnableSinusoidal,
        LearnableSinusoidalDistances,
        (81.4, 0.33),
    ),
    "sinusoids set beside, not added": (ConcatenatedPositions, None, None),
}
"""Row -> (added to the vectors, inside attention, mean and standard deviation of Wang et al. on GLUE)."""
BEYOND: dict[str, tuple[Any, Any]] = {
    "sinusoids": (SinusoidalPositions, None),
    "none": (NoPositions, None),
    "rotary": (NoPositions, Rotary),
    "ALiBi": (NoPositions, ALiBi),
    "T5's buckets": (NoPositions, RelativeBias),
    "Transformer-XL": (NoPositions, TransformerXLPositions),
}


def config(vocab_size: int, width: int, longest: int, positions: Any, inside: Any) -> TransformerConfig:
    return TransformerConfig(
        vocab_size=vocab_size,
        d_model=width,
        n_heads=4,
        n_layers=2,
        max_length=longest,
        scale_embeddings=True,
        positions=positions,
        attention_positions=inside,
        initialise=initialise_glorot,
    )


# --- the hidden letter ---------------------------------------------------------------------------


def words_of(texts: Plays) -> tuple[list[str], list[str]]:
    """Words of 4 to 12 letters: those of the training plays, and those that only the other plays have."""

    def found(lines: list[str]) -> set[str]:
        words = {letters(word).lower() for text in lines for word in text.split()}
        return {word for word in words if word.isascii() and word.isalpha() and 4 <= len(word) <= LONGEST}

    trained = found(texts.train)
    return sorted(trained), sorted(found([*texts.dev, *texts.test]) - trained)


def ids_of(words: list[str]) -> Tensor:
    """(word, LONGEST): a is 2, …, z is 27, and padding to the right."""
    return torch.tensor([[ord(c) - ord("a") + 2 for c in word] + [PAD] * (LONGEST - len(word)) for word in words])


def hide_one(ids: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor, Tensor]:
    """(ids with one letter of each hidden, where it is, what it was)."""
    lengths = (ids != PAD).sum(1)
    at = (torch.rand(len(ids), generator=generator) * lengths).long()
    rows = torch.arange(len(ids))
    hidden = ids.clone()
    hidden[rows, at] = HIDDEN
    return hidden, at, ids[rows, at]


@dataclass(frozen=True)
class Words:
    """Called with an epoch: all words in another order, another letter of each hidden."""

    ids: Tensor
    batch: int
    seed: int

    def __call__(self, epoch: int) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
        generator = torch.Generator().manual_seed(self.seed + epoch)
        for rows in torch.randperm(len(self.ids), generator=generator).split(self.batch):
            yield hide_one(self.ids[rows], generator)


def letter_logits(model: nn.Module, hidden: Tensor, at: Tensor) -> Tensor:
    return model(hidden, hidden != PAD)[torch.arange(len(at)), at]


def letter_loss(model: nn.Module, batch: tuple[Tensor, Tensor, Tensor]) -> Tensor:
    return F.cross_entropy(letter_logits(model, *batch[:2]), batch[2])


def hidden_letters(run: Run) -> Task:
    """Which letter of a word is hidden? Measured: the share that is named, of words never trained on."""
    (train, test), _ = data(run.size(None, 4000))
    hidden, at, was = hide_one(test, torch.Generator().manual_seed(0))

    def right(model: nn.Module) -> dict[str, float]:
        with torch.no_grad():
            return {"right": round(float((letter_logits(model, hidden, at).argmax(-1) == was).float().mean()), 4)}

    return Task(lambda size, seed: Words(train, size, 1000 * seed), letter_loss, right, "words", held=test)


LETTERS = Setting(
    250, 64, (4e-3,), weights="letters-{row}-{seed}", name="letters-{row}-{seed}", blank="_", quick=(2, 4)
)


def named(run: Run, rows: Iterable[str], setting: Setting = LETTERS) -> dict[str, list[float]]:
    """Row -> the share of hidden letters that it names, one per seed."""
    builds = {row: partial(MaskedLM, config(28, 32, LONGEST, *ROWS[row][:2])) for row in rows}
    found = Experiment(run, hidden_letters(run), setting).rows(builds)
    return {row: of["right"] for row, of in found.items()}


# --- beyond the trained length -------------------------------------------------------------------


@dataclass(frozen=True)
class Windows:
    """Called with an epoch: stretches of one long text, at random places.

    Seed and epoch are added, so that the next seed reads the same stretches a hundred batches later. Where seeds are to be
    independent, give them a thousand apart.
    """

    text: Tensor
    batch: int
    time: int
    seed: int

    def __call__(self, epoch: int) -> Iterator[tuple[Tensor, Tensor]]:
        generator = torch.Generator().manual_seed(self.seed + epoch)
        for _ in range(100):
            first = torch.randint(len(self.text) - self.time, (self.batch,), generator=generator)
            yield self.text[first.unsqueeze(1) + torch.arange(self.time + 1)], torch.tensor(0)


def next_loss(model: nn.Module, batch: tuple[Tensor, Tensor]) -> Tensor:
    return F.cross_entropy(model(batch[0][:, :-1])[0].flatten(0, 1), batch[0][:, 1:].flatten())


def by_position(model: nn.Module, texts: Tensor) -> Tensor:
    """Mean loss of the next character after so many, (time)."""
    with torch.no_grad():
        logits = model(texts[:, :-1])[0]
        return F.cross_entropy(logits.transpose(1, 2), texts[:, 1:], reduction="none").mean(0)


def another_context(model: nn.Module, texts: Tensor) -> float:
    """By how many nats the loss of the last character rises if all but the one before it are another text's: about 0 where
    the context is not used."""
    strange = torch.cat([texts.roll(len(texts) // 2, 0)[:, :-2], texts[:, -2:]], 1)
    return float((by_position(model, strange) - by_position(model, texts))[-1])


def floors(text: Tensor, texts: Tensor, vocab_size: int) -> dict[str, float]:
    """Nats per character of `texts` by guessing, by single characters and by pairs of them in `text`, one added to each
    count."""
    pairs = torch.bincount(text[:-1] * vocab_size + text[1:], minlength=vocab_size**2).view(vocab_size, -1).double()
    before, after = texts[:, :-1], texts[:, 1:]
    single, pair = pairs.sum(0) + 1, pairs + 1
    return {
        "guessing": round(math.log(vocab_size), 4),
        "single characters": round(-float((single / single.sum()).log()[after].mean()), 4),
        "pairs of characters": round(-float((pair / pair.sum(1, keepdim=True)).log()[before, after].mean()), 4),
    }


def characters(run: Run, time: int, measure: Callable[[nn.Module], dict[str, Any]] | None = None) -> Task:
    """The next character of Shakespeare's plays, in texts of one length. Measured: nats per character of dev plays, and what
    another text's context costs."""
    _, (text, longer, vocab_size) = data(run.size(None, 4000))
    dev = longer[:, : time + 1]

    def loss(model: nn.Module) -> dict[str, Any]:
        cost = round(another_context(model, dev), 4)
        return {"dev": round(float(by_position(model, dev).mean()), 4), "another context": cost}

    batches = partial(windows, text, time)
    return Task(
        batches, next_loss, measure or loss, f"× {time} characters", vocab_size, floors(text, dev, vocab_size), dev
    )


def windows(text: Tensor, time: int, batch: int, seed: int) -> Windows:
    return Windows(text, batch, time, 1000 * seed)


def read_on(run: Run, model: nn.Module) -> dict[str, list[float]]:
    """Mean loss in each stretch of 16 positions, of texts longer than in training."""
    _, (_, longer, _) = data(run.size(None, 4000))
    return {"beyond": [round(float(part.mean()), 3) for part in by_position(model, longer).split(16)]}


def beyond(run: Run) -> Experiment:
    """Language models that are trained on short texts and read longer ones."""
    setting = Setting(300, 12, (4e-3,), weights="beyond-{row}-{seed}", name="beyond-{row}-{seed}", blank="_")
    return Experiment(run, characters(run, TRAINED, partial(read_on, run)), setting)


def build_beyond(vocab_size: int, kind: str) -> TransformerLM:
    return TransformerLM(config(vocab_size, 48, READ, *BEYOND[kind]))


# --- both ----------------------------------------------------------------------------------------


@lru_cache(maxsize=2)
def data(limit: int | None) -> tuple[tuple[Tensor, Tensor], tuple[Tensor, Tensor, int]]:
    """Words to train and to test on; characters likewise, and how many kinds of them there are."""
    texts = plays(limit=limit)
    train, test = words_of(texts)
    characters = CharTokenizer.fit(texts.train)
    stream, dev = (
        torch.tensor([i for text in part for i in characters.encode(text)]) for part in (texts.train, texts.dev)
    )
    longer = dev[: 200 * (READ + 1)].unfold(0, READ + 1, READ + 1)
    return (ids_of(train), ids_of(test)), (stream, longer, characters.vocab_size)


@recipe(9)
def cook(run: Run) -> None:
    right, longer = named(run, ROWS), beyond(run)
    reached = longer.rows({kind: partial(build_beyond, longer.task.vocab_size, kind) for kind in BEYOND})
    (_, tested), _ = data(run.size(None, 4000))
    run.save_result(
        "positions",
        {
            "question": "Which way of telling positions is best, and which reaches beyond the lengths of training?",
            "letters": {row: {**theirs(row), "ours": found} for row, found in right.items()},
            "letters_are": f"the share of hidden letters named, {len(tested):,} words that were not trained on, one number"
            f" per seed; 2 layers of 4 heads, d_model 32, {LETTERS.words('words')}. theirs: mean on GLUE, its deviation"
            " over seeds, Wang et al. (2021), table 3",
            "beyond": {kind: of["beyond"] for kind, of in reached.items()},
            "beyond_is": f"mean loss per character in stretches of 16 positions, dev plays, one row per seed;"
            f" trained on {TRAINED} characters, read {READ}; 2 layers of 4 heads, d_model 48,"
            f" {longer.setting.words(longer.task.what)}",
        },
    )


def theirs(row: str) -> dict[str, float | None]:
    mean, deviation = ROWS[row][2] or (None, None)
    return {"theirs": mean, "their_deviation": deviation}
