"""Checkpoints and figure: pretrain a small Transformer on words without labels, then train it on few labelled ones.

    pretraining     94,522 spellings of the CMU Pronouncing Dictionary, letter by letter: masked or causal
    transfer        is the first syllable of a word stressed, or a later one?        aBOUT, WAter

The label needs the dictionary's pronunciation, which pretraining never sees. 50, 500 or 5,000 labelled words, half of
each class; test words occur in neither part. Rivals, which could explain what pretraining seems to bring:

    more updates       no pretraining, but as many more steps on the labelled words; and the pretrained one with them
    embeddings only    of the pretrained weights, only the table of letter vectors is kept

Both families have one size and one stack; they differ by their masks and by what is predicted. A causal model's
baseline is causal, a bidirectional one's bidirectional. All weights are fine-tuned, and the text vector is the mean.
Span corruption is left out: 15 % of a word make one span, and T5's last span always ends its text.

Departs from the papers (Radford et al. 2018; Devlin et al. 2019): letters of single words, not texts.
"""

import random
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from statistics import mean
from typing import Any

import torch
from nlmcore.corpora import load
from nlmcore.objectives import Example, causal, masked
from nlmcore.tokens import CharTokenizer
from nlmcore.transformer import MaskedLM
from nlmcore.training import cosine_schedule, fit
from nlmcore.transfer import Classifier
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pad_sequence

from lectures.recipes import labelled
from lectures.recipes.initial_weights import glorot
from lectures.recipes.experiment import said
from lectures.recipes.run import Run, about, add_figures, recipe, save_checkpoint

LETTERS, MASK = "abcdefghijklmnopqrstuvwxyz'", "_"
SHORTEST, LONGEST = 4, 12
PAD, BOS, EOS = 0, 1, 2
SEEDS, STEPS, BATCH, RATE, WARM_UP = 5, 1000, 64, 4e-3, 50
TUNING = {50: 40, 500: 100, 5000: 240}
"""Labelled words -> steps of fine-tuning, of `TUNING_BATCH` words each."""
TUNING_RATE, TUNING_BATCH, TESTS = 2e-3, 32, 1000
FAMILIES = {"masked": "MaskedLM", "causal": "TransformerLM"}
TOKENIZER = CharTokenizer([*LETTERS, MASK, *"XYZ"])  # X, Y, Z: sentinels, which only the lecture shows
MASK_ID = TOKENIZER.encode(MASK)[0]


def config(run: Run) -> dict[str, Any]:
    return {
        "vocab_size": TOKENIZER.vocab_size,
        "d_model": run.size(64, 8),
        "n_heads": run.size(4, 2),
        "n_layers": 2,
        "max_length": LONGEST + 6,
        "scale_embeddings": True,
        "positions": "sinusoidal",
    }


@lru_cache(maxsize=4)
def words(part: str) -> tuple[tuple[str, int], ...]:
    """(word, 0 if its first syllable carries the main stress, else 1), of words of two syllables or more."""
    found = []
    for document in load("cmudict", stress=True).splits[part]:
        stresses = [phoneme[-1] for phoneme in str(document.target).split() if phoneme[-1].isdigit()]
        fits = SHORTEST <= len(document.text) <= LONGEST and set(document.text) <= set(LETTERS)
        if fits and len(stresses) > 1 and "1" in stresses:
            found.append((document.text, int(stresses.index("1") > 0)))
    return tuple(found)


def rows_of(texts: list[str]) -> Tensor:
    """<bos> word <eos>, padded behind."""
    return pad_sequence([torch.tensor([BOS, *TOKENIZER.encode(text), EOS]) for text in texts], batch_first=True)


def example_of(family: str, tokens: Tensor, generator: torch.Generator) -> Example:
    """Of a masked model letters only are hidden, not <bos> and <eos>."""
    if family == "causal":
        return causal(tokens, tokens != PAD)
    return masked(tokens, MASK_ID, TOKENIZER.vocab_size, tokens > EOS, generator=generator)


def unlabelled(family: str, rows: Tensor, batch: int, seed: int, epoch: int) -> Iterator[Example]:
    """Random words, with what is hidden of them."""
    generator = torch.Generator().manual_seed(1000 * seed + epoch)
    for _ in range(100):
        tokens = rows[torch.randint(len(rows), (batch,), generator=generator)]
        yield example_of(family, tokens[:, : int((tokens != PAD).sum(1).max())], generator)


def loss(model: Any, example: Example) -> Tensor:
    if isinstance(model, MaskedLM):
        logits = model(example.tokens, example.targets != PAD)
    else:
        logits, _ = model(example.tokens)
    return F.cross_entropy(logits[example.mask], example.targets[example.mask])


def trunk(model: Any) -> Any:
    """The part that is fine-tuned."""
    return getattr(model, "encoder", model)


def embeddings_only(model: Any, pretrained: Any) -> Any:
    """The untrained model with the pretrained table of letters."""
    with torch.no_grad():
        trunk(model).embedding.weight.copy_(trunk(pretrained).embedding.weight)
    return model


def balanced(found: tuple[tuple[str, int], ...], count: int, seed: int) -> tuple[Tensor, Tensor]:
    """(words as rows, labels), half of each class."""
    draw = random.Random(f"labelled/{seed}")
    kept = [one for label in (0, 1) for one in draw.sample([pair for pair in found if pair[1] == label], count // 2)]
    return rows_of([word for word, _ in kept]), torch.tensor([label for _, label in kept])


def tuned(model: Any, count: int, steps: int, seed: int, tests: int) -> float:
    """The percentage of test words that are right after training on `count` labelled words."""
    tokens, labels = balanced(words("train"), count, seed)
    torch.manual_seed(seed)
    classifier = Classifier(trunk(model), 2)
    fit(
        classifier,
        partial(labelled.batches, tokens, labels, TUNING_BATCH, seed),
        loss=labelled.loss,
        steps=steps,
        learning_rate=TUNING_RATE,
        schedule=partial(cosine_schedule, total=steps, warmup=max(steps // 10, 1)),
        progress=False,
    )
    return labelled.percent_right(classifier, *balanced(words("test"), tests, 0))


def arms(run: Run, seed: int, pretrained: dict[str, nn.Module]) -> dict[str, tuple[Callable[[], Any], int]]:
    """Name -> (the model before fine-tuning, further steps of fine-tuning)."""

    def fresh(family: str) -> Any:
        torch.manual_seed(run.seed_of(f"fresh-{family}-{seed}"))
        return glorot(FAMILIES[family], config(run))

    def kept(family: str) -> Any:
        model = fresh(family)
        model.load_state_dict(pretrained[family].state_dict())
        return model

    steps = run.size(STEPS, 2)
    return {
        "bidirectional, not pretrained": (partial(fresh, "masked"), 0),
        "causal, not pretrained": (partial(fresh, "causal"), 0),
        **{family: (partial(kept, family), 0) for family in FAMILIES},
        "masked, embeddings only": (lambda: embeddings_only(fresh("masked"), pretrained["masked"]), 0),
        "bidirectional, more updates": (partial(fresh, "masked"), steps),
        "masked, more updates": (partial(kept, "masked"), steps),
    }


def pretrain(run: Run, family: str, seed: int, rows: Tensor) -> tuple[nn.Module, list[float]]:
    name, steps = f"{family}-{seed}", run.size(STEPS, 2)
    model = run.build(name, partial(glorot, FAMILIES[family], config(run)))
    batches = partial(unlabelled, family, rows, run.size(BATCH, 16), seed)
    warm_up = run.size(WARM_UP, 1)
    found = run.fit(name, model, batches, loss=loss, steps=steps, learning_rate=RATE, warm_up=warm_up)
    return model, found.losses


@torch.no_grad()
def quality(model: Any, count: int = 300) -> dict[str, float]:
    """Nats per prediction on the first test words; each family has its own task, so they cannot be compared."""
    family = next(name for name, kind in FAMILIES.items() if kind == type(model).__name__)
    rows = rows_of([word for word, _ in words("test")[:count]])
    return {
        "nats_per_prediction": round(float(loss(model, example_of(family, rows, torch.Generator().manual_seed(0)))), 4)
    }


def sample(model: Any, tokenizer: Any) -> dict[str, float]:
    return quality(model)


@recipe(8, "checkpoint:letters_masked checkpoint:letters_causal result:pretraining", sample=sample)
def cook(run: Run) -> None:
    rows = rows_of([word for word, _ in words("train")])
    counts = {count: run.size(steps, 2) for count, steps in TUNING.items() if count < run.size(10_000, 100)}
    tests = run.size(TESTS, 20)
    found: dict[str, dict[str, list[float]]] = {}
    losses: dict[str, list[float]] = {}
    for seed in range(run.size(SEEDS, 2)):
        pretrained = {}
        for family in FAMILIES:
            pretrained[family], history = pretrain(run, family, seed, rows)
            losses.setdefault(family, []).append(round(mean(history[-50:]), 3))
        for name, (build, more) in arms(run, seed, pretrained).items():
            for count, steps in counts.items():
                part = f"{name}-{count}-{seed}".replace(" ", "").replace(",", "")
                right = run.kept(
                    part,
                    lambda: {"right": tuned(build(), count, steps + more, seed, tests)},  # noqa: B023 - called now
                )["right"]
                found.setdefault(name, {}).setdefault(str(count), []).append(right)
        if seed == 0:
            save_families(run, pretrained)
    run.save_result(
        "pretraining",
        {
            "question": "Does pretraining on unlabelled words help to learn from few labelled ones?",
            "task": "is the first syllable of a word stressed, or a later one? Chance is 50 %",
            "how": f"{STEPS} steps of {BATCH} of {len(rows):,} words; then all weights are trained on so many labelled"
            f" words, in {', '.join(f'{steps} ({count:,})' for count, steps in TUNING.items())} steps of {TUNING_BATCH}; AdamW at"
            f" {RATE:g} and {TUNING_RATE:g} with a cosine; {tests:,} test words; one value per seed",
            "unlabelled": len(rows),
            "steps": STEPS,
            "pretraining_losses": losses,
            "rows": found,
            "what_it_shows": "; ".join(f"{name} {said(by, '{0!m:.1f} % ({row})', ', ')}" for name, by in found.items()),
        },
    )


def save_families(run: Run, pretrained: dict[str, nn.Module]) -> None:
    """Seed 0 of each, for the widgets."""
    corpus = load("cmudict", stress=True)
    for family, model in pretrained.items():
        name = f"letters_{family}"
        facts = about(
            f"spellings of English words, pretrained by {family}",
            corpus,
            {"steps": STEPS, "batch": BATCH, "learning_rate": RATE, "schedule": "cosine to 0"},
        )
        kept, _, _ = save_checkpoint(run, name, model.eval(), config(run), [TOKENIZER], facts, [f"{family}-0"])
        add_figures(run, name, {"test": quality(kept, run.size(2000, 20))})
