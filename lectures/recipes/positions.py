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

from collections.abc import Callable, Iterator
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

from lectures.recipes.initial_weights import initialise_glorot
from lectures.recipes.run import Run, recipe
from lectures.recipes.texts import Plays, letters, plays

SEEDS = 5
PAD, HIDDEN, LONGEST = 0, 1, 12
TRAINED, READ = 48, 192
SETTINGS = {
    "letters": "2 layers of 4 heads, d_model 32, 250 steps of 64 words, AdamW at 0.004 with a cosine",
    "beyond": f"2 layers of 4 heads, d_model 48, 300 steps of 12 × {TRAINED} characters, AdamW at 0.004 with a cosine",
}
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


def name_letters(run: Run, row: str, seed: int, train: Tensor, test: Tensor, steps: int) -> float:
    """The share of hidden letters, of words never trained on, that the model names."""
    name = f"letters-{row}-{seed}".replace(" ", "_")
    model: Any = run.build(name, lambda: MaskedLM(config(28, 32, LONGEST, *ROWS[row][:2])))
    batches = Words(train, run.size(64, 4), 1000 * seed)
    run.fit(name, model, batches, loss=letter_loss, steps=steps, learning_rate=4e-3, warm_up=50)
    with torch.no_grad():
        hidden, at, was = hide_one(test, torch.Generator().manual_seed(0))
        return round(float((letter_logits(model.eval(), hidden, at).argmax(-1) == was).float().mean()), 4)


# --- beyond the trained length -------------------------------------------------------------------


@dataclass(frozen=True)
class Windows:
    """Called with an epoch: stretches of one long text, at random places."""

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


def beyond_model(run: Run, kind: str, seed: int, train: Tensor, vocab_size: int) -> TransformerLM:
    """A language model with that kind of positions, trained on short texts."""
    name, steps = f"beyond-{kind}-{seed}".replace(" ", "_"), run.size(300, 2)
    model: Any = run.build(name, lambda: TransformerLM(config(vocab_size, 48, READ, *BEYOND[kind])))
    batches = Windows(train, run.size(12, 2), TRAINED, 1000 * seed)
    run.fit(name, model, batches, loss=next_loss, steps=steps, learning_rate=4e-3, warm_up=50)
    return model.eval()


def read_on(run: Run, kind: str, seed: int, train: Tensor, dev: Tensor, vocab_size: int) -> list[float]:
    """Mean loss in each stretch of 16 positions."""
    model = beyond_model(run, kind, seed, train, vocab_size)
    return [round(float(part.mean()), 3) for part in by_position(model, dev).split(16)]


# --- both ----------------------------------------------------------------------------------------


def seeds_of(run: Run, names: Any, one: Callable[[str, int], Any], seeds: int = SEEDS) -> dict[str, list[Any]]:
    """Every seed of every row, seed by seed, so that an interrupted run has all rows of the first seeds."""
    found: dict[str, list[Any]] = {name: [] for name in names}
    for seed in range(run.size(seeds, 2)):
        for name in found:
            found[name].append(one(name, seed))
    return found


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
    letters_data, characters_data = data(run.size(None, 4000))
    right = seeds_of(run, ROWS, lambda row, seed: name_letters(run, row, seed, *letters_data, run.size(250, 2)))
    beyond = seeds_of(run, BEYOND, lambda kind, seed: read_on(run, kind, seed, *characters_data))
    report(run, right, beyond, len(letters_data[1]))


def theirs(row: str) -> dict[str, float | None]:
    mean, deviation = ROWS[row][2] or (None, None)
    return {"theirs": mean, "their_deviation": deviation}


def report(run: Run, right: dict[str, list[float]], beyond: dict[str, list[list[float]]], tested: int) -> None:
    run.save_result(
        "positions",
        {
            "question": "Which way of telling positions is best, and which reaches beyond the lengths of training?",
            "letters": {row: {**theirs(row), "ours": found} for row, found in right.items()},
            "letters_are": f"the share of hidden letters named, {tested:,} words that were not trained on, one number"
            f" per seed; {SETTINGS['letters']}. theirs: mean on GLUE, its deviation over seeds, Wang et al. (2021), table 3",
            "beyond": beyond,
            "beyond_is": f"mean loss per character in stretches of 16 positions, dev plays, one row per seed;"
            f" trained on {TRAINED} characters, read {READ}; {SETTINGS['beyond']}",
        },
    )
