"""Figure: which patterns of attention find something hidden in a text, by its distance; five seeds each.

A passage of Shakespeare, letter by letter, in which four letters are replaced by **cards**, one of each suit, and eight
by questions for the rank of a suit's card. The same suit may be asked for twice. A small encoder that reads in both
directions names the card at each question:

    wherefo♥7 art tho♠Q rome♥? deny thy f…          at ♥? it should say ♥7; of eight ranks one is right by chance

Everything that a pattern hides must arrive in several layers, through positions in between. The rows have equal sizes,
and, but for full attention and the plain window, about equal numbers of keys per query: so a second window, as wide as
the others are expensive, tests the rival explanation that any further keys would do. Linformer with k = n, which saves
nothing, tests whether it is the number of its keys that fails; Linformer with five times the steps, whether it is slow.

Departs from the papers (Beltagy et al. 2020; Zaheer et al. 2020; Wang et al. 2020): texts of 64 tokens, where full
attention would do; one block of global tokens, which are special tokens ahead of the text; the task is ours (it is a
recall of keys with several questions, as in Arora et al. 2023).
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from statistics import mean
from typing import Any

import torch
from nlmcore.positions import SinusoidalPositions
from nlmcore.transformer import MaskedLM, TransformerConfig
from nlmcore.variants.linformer import LinformerAttention
from nlmcore.variants.parts import in_encoder
from nlmcore.variants.sparse import CausalSparseAttention, SparseAttention, sparse_stack
from torch import Tensor, nn
from torch.nn import functional as F

from lectures.recipes.experiment import Experiment, Setting, Task, said
from lectures.recipes.initial_weights import initialise_glorot
from lectures.recipes.run import Run, recipe
from lectures.recipes.texts import plays

LENGTH, BLOCK, LAYERS, BIN = 64, 4, 3, 6
SUITS, RANKS, QUESTIONS = 4, 8, 8
LETTERS = "abcdefghijklmnopqrstuvwxyz '"
CARD = 1 + len(LETTERS)  # token 0 is <all>, then letters, then the cards, suit by suit, then a question per suit
ASK = CARD + SUITS * RANKS
VOCABULARY = ASK + SUITS
TESTS = 1000
SETTING = Setting(500, 32, (5e-3,), blank="")
PATIENT, LONGER = "Linformer", 5


def pattern(block: int, n_global: int, n_random: int) -> dict[str, Any]:
    """Blocks of so many tokens that see themselves, both neighbours, global tokens and blocks drawn at random."""
    part = partial(_sparse, block=block, n_global=n_global, n_random=n_random)
    return {"stack": partial(sparse_stack, part)}


def _sparse(c: Any, causal: bool, block: int, n_global: int, n_random: int) -> SparseAttention:
    return (CausalSparseAttention if causal else SparseAttention)(c, block, n_global, n_random)


ROWS: dict[str, dict[str, Any]] = {
    "full": {},
    "window": pattern(BLOCK, 0, 0),
    "wider window": pattern(7, 0, 0),
    "window + random": pattern(BLOCK, 0, 1),
    "window + global": pattern(BLOCK, BLOCK, 0),
    "window + random + global": pattern(BLOCK, BLOCK, 1),
    "Linformer": {"attention": partial(in_encoder, partial(LinformerAttention, k=LENGTH // 4))},
    "Linformer, k = n": {"attention": partial(in_encoder, partial(LinformerAttention, k=LENGTH))},
}


def config(row: str) -> TransformerConfig:
    return TransformerConfig(
        vocab_size=VOCABULARY,
        d_model=32,
        n_heads=4,
        n_layers=LAYERS,
        max_length=LENGTH,
        d_ff=64,
        scale_embeddings=True,
        positions=SinusoidalPositions,
        initialise=initialise_glorot,
        **ROWS[row],
    )


def build(row: str) -> MaskedLM:
    return MaskedLM(config(row))


@lru_cache(maxsize=2)
def letters(limit: int | None) -> tuple[Tensor, Tensor]:
    """The plays to train on and to test on, as tokens."""
    texts = plays(limit=limit)
    ids = {letter: 1 + i for i, letter in enumerate(LETTERS)}
    train, test = (
        torch.tensor([ids[c] for text in part for c in " ".join(text.lower().split()) if c in ids])
        for part in (texts.train, texts.dev)
    )
    return train, test


def hide(text: Tensor, count: int, generator: torch.Generator) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """`count` passages: tokens (passage, LENGTH), of which the first BLOCK are <all>; where the questions are, which
    card each asks for, and where that is, (passage, QUESTIONS)."""
    first = torch.randint(len(text) - LENGTH, (count, 1), generator=generator)
    tokens = text[first + torch.arange(LENGTH)]
    tokens[:, :BLOCK] = 0
    places = BLOCK + torch.rand(count, LENGTH - BLOCK, generator=generator).argsort(1)[:, : SUITS + QUESTIONS]
    cards, asked_at = places[:, :SUITS], places[:, SUITS:]
    ranks = torch.randint(RANKS, (count, SUITS), generator=generator)
    suits = torch.randint(SUITS, (count, QUESTIONS), generator=generator)
    tokens.scatter_(1, cards, CARD + RANKS * torch.arange(SUITS) + ranks)
    tokens.scatter_(1, asked_at, ASK + suits)
    return tokens, asked_at, CARD + RANKS * suits + ranks.gather(1, suits), cards.gather(1, suits)


@dataclass(frozen=True)
class Passages:
    """Called with an epoch: batches of passages, no two alike."""

    text: Tensor
    batch: int
    seed: int

    def __call__(self, epoch: int) -> Iterator[tuple[Tensor, ...]]:
        generator = torch.Generator().manual_seed(self.seed + epoch)
        for _ in range(100):
            yield hide(self.text, self.batch, generator)


def named(model: nn.Module, tokens: Tensor, asked_at: Tensor) -> Tensor:
    """Logits at the questions, (passage, question, vocab)."""
    rows = torch.arange(len(tokens)).unsqueeze(1)
    logits: Tensor = model(tokens)[rows, asked_at]
    return logits


def loss(model: nn.Module, batch: tuple[Tensor, ...]) -> Tensor:
    tokens, asked_at, answers, _ = batch
    return F.cross_entropy(named(model, tokens, asked_at).flatten(0, 1), answers.flatten())


def layers_to(model: Any) -> Tensor:
    """The fewest layers after which anything of the key is at the query, (query, key); LAYERS + 1: it never is."""
    reached, needed = torch.eye(LENGTH, dtype=torch.bool), torch.full((LENGTH, LENGTH), LAYERS + 1)
    for i, layer in enumerate(model.encoder.layers, 1):
        sparse = isinstance(layer.attention, SparseAttention)
        seen = layer.attention.pattern(LENGTH) if sparse else torch.ones(LENGTH, LENGTH, dtype=torch.bool)
        reached = reached | (seen.float() @ reached.float() > 0)
        needed[reached & (needed > LAYERS)] = i
    return needed


def share(right: Tensor, of: Tensor) -> float | None:
    """The share of `of` that is right; None if there are none."""
    return round(float(right[of].float().mean()), 4) if bool(of.any()) else None


def measure(passages: tuple[Tensor, ...], model: nn.Module) -> dict[str, Any]:
    """Right answers: in all, by distance in stretches of BINS, and by the layers that the way takes."""
    tokens, asked_at, answers, cards = passages
    with torch.no_grad():
        right = named(model, tokens, asked_at).argmax(-1) == answers
    far, way = (asked_at - cards).abs(), layers_to(model)[asked_at, cards]
    return {
        "keys": keys_per_query(model),
        "right": share(right, far >= 0),
        "by_distance": [share(right, (far >= a) & (far < a + BIN)) for a in range(0, LENGTH - BLOCK, BIN)],
        "by_layers": [share(right, way == i) for i in range(1, LAYERS + 2)],
        "share_by_layers": [round(float((way == i).float().mean()), 4) for i in range(1, LAYERS + 2)],
    }


def keys_per_query(model: Any) -> float:
    """Scores that a head computes in a layer, divided by the number of queries."""
    part = model.encoder.layers[0].attention
    if isinstance(part, SparseAttention):
        return part.scores(LENGTH) / LENGTH
    return part.E.shape[0] if isinstance(part, LinformerAttention) else LENGTH


@recipe(10)
def cook(run: Run) -> None:
    train_on, test_on = letters(run.size(None, 4000))
    held = hide(test_on, run.size(TESTS, 8), torch.Generator().manual_seed(99))
    task = Task(lambda size, seed: Passages(train_on, size, 1000 * seed), loss, partial(measure, held), held=held[0])
    builds = {row: partial(build, row) for row in ROWS}
    patient = replace(SETTING, steps=LONGER * SETTING.steps, quick=(2 * LONGER, 2))
    rows = Experiment(run, task, SETTING).rows(builds)
    more = Experiment(run, task, patient).rows({PATIENT: builds[PATIENT]})
    rows |= {f"{PATIENT}, {LONGER} × the steps": more[PATIENT]}
    for of in rows.values():
        of["keys"] = round(mean(of["keys"]), 1)
    run.save_result(
        "needle",
        {
            "question": "Which patterns of attention find a card that is hidden in a text, by its distance?",
            "how": f"right answers on {len(task.held)} new passages of {QUESTIONS} questions, one value per seed;"
            f" chance is 1 in {RANKS}; {LAYERS} layers of 4 heads, d_model 32;"
            f" {SETTING.words(f'passages of {LENGTH} tokens')}, {SUITS} cards and {QUESTIONS} questions each",
            "bin": BIN,
            "layers": LAYERS,
            "length": LENGTH,
            "ranks": RANKS,
            "rows": rows,
            "what_it_shows": said(rows, "{row} {right!m:.0%}"),
        },
    )
