"""Checkpoint: a neural editor. A sentence of Shakespeare is rewritten from one that is like it, and an edit.

Guu, Hashimoto, Oren & Liang (2018), "Generating sentences by editing prototypes". Pairs are sentences of 4 to 9 words
that share at least half of them (Jaccard similarity); the edit is what was inserted and what was deleted, with noise.
One pair in ten is trained without its edit, so that an edit of zeros means "some sentence like this one".

Theirs were found among millions of sentences; here are some thousands, of words that occur often. Held out are the
sentences of the test plays that no training play has, with their nearest training sentences as prototypes.
"""

import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import torch
from nlmcore.corpora import load, pad
from nlmcore.decoding import greedy
from nlmcore.metrics import corpus_bleu
from lectures.trained import build
from nlmcore.seq2seq import Retriever, edit_pairs
from nlmcore.tokens import WordTokenizer
from nlmcore.training import evaluate, teacher_forcing_loss
from torch import Tensor

from lectures.recipes.restore_marks import core, take_off
from lectures.recipes.run import Run, about, add_figures, recipe, save_checkpoint, trained_for
from lectures.recipes.texts import Capitals, speeches

LEARNING_RATE, BATCH, STEPS, VOCABULARY = 3e-3, 64, 2500, 1200
SHORTEST, LONGEST, ALIKE, PER_SENTENCE, WITHOUT_EDIT = 4, 9, 0.5, 4, 0.1
BOS, EOS = 1, 2

Sentence = tuple[str, ...]


def sentences(plays: list[str]) -> list[Sentence]:
    """The different sentences of 4 to 9 words, in lower case without marks, in alphabetical order."""
    found = set()
    capitals = Capitals([])
    for play in plays:
        for speech in speeches(play, capitals):
            for sentence in re.split(r"(?<=[.?!;:])", speech):
                words = tuple(core(word) for word in take_off(sentence).words)
                if SHORTEST <= len(words) <= LONGEST:
                    found.add(words)
    return sorted(found)


def read_sentences(limit: int | None = None) -> tuple[list[Sentence], list[Sentence]]:
    """Those of the training plays, of their most frequent words, and those of the test plays of the same words."""
    corpus = load("shakespeare")
    train, test = (sentences([d.text for d in corpus.splits[p] if d.label != "poem"]) for p in ("train", "test"))
    counts = Counter(word for sentence in train for word in sentence)
    kept = {word for word, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:VOCABULARY]}
    known = [s for s in train if kept.issuperset(s)][:limit]
    new = set(known)
    return known, [s for s in test if kept.issuperset(s) and s not in new]


class EditBatches:
    """Called with an epoch: every pair once, like lengths together, in an order of that epoch's own."""

    def __init__(self, pairs: list[tuple[list[int], list[int]]], seed: int) -> None:
        self.pairs, self.seed = pairs, seed

    def __call__(self, epoch: int) -> Iterator[dict[str, Tensor]]:
        chance = random.Random(f"{self.seed}/{epoch}")
        order = sorted(range(len(self.pairs)), key=lambda i: (len(self.pairs[i][1]), chance.random()))
        batches = [order[i : i + BATCH] for i in range(0, len(order), BATCH)]
        chance.shuffle(batches)
        return (collate([self.pairs[i] for i in batch]) for batch in batches)


def collate(pairs: list[tuple[list[int], list[int]]]) -> dict[str, Tensor]:
    prototype, prototype_mask = pad([[*old, EOS] for old, _ in pairs])
    tokens, mask = pad([[BOS, *new, EOS] for _, new in pairs])
    return {"prototype": prototype, "prototype_mask": prototype_mask, "tokens": tokens, "mask": mask}


def true_edit(model: Any, batch: dict[str, Tensor]) -> Tensor:
    """f(x', x), of the words alone: <bos> and <eos> are no words."""
    tokens, mask = batch["tokens"][:, 1:], batch["mask"][:, 1:]
    prototype, prototype_mask = batch["prototype"], batch["prototype_mask"]
    return model.edit_vector(prototype, tokens, prototype_mask & (prototype != EOS), mask & (tokens != EOS))


def editing_loss(model: Any, batch: dict[str, Tensor]) -> Tensor:
    """Nats per word of the edited sentence, given the prototype and the noisy edit, or now and then no edit."""
    edit = model.perturb(true_edit(model, batch))
    edit = edit * (torch.rand(len(edit), 1) >= WITHOUT_EDIT)
    return loss_of(model, batch, edit)


def loss_of(model: Any, batch: dict[str, Tensor], edit: Tensor | None) -> Tensor:
    state = model.encode(batch["prototype"], batch["prototype_mask"], edit)
    return teacher_forcing_loss(model, batch["tokens"], mask=batch["mask"], state=state)


@torch.no_grad()
def rewrite(model: Any, prototypes: list[list[int]], edit: Tensor | None) -> list[list[int]]:
    """The greedy result of every edit, as ids without <eos>."""
    prototype, mask = pad([[*ids, EOS] for ids in prototypes])
    state = model.encode(prototype, mask, edit)
    drawn: Any = greedy(model, torch.full((len(prototypes), 1), BOS), 2 * LONGEST, eos=EOS, state=state)
    return [[i for i in row if i > EOS] for row in drawn.tokens.tolist()]


def ids(tokenizer: WordTokenizer, sentence: Sequence[str]) -> list[int]:
    return [tokenizer.id(word) for word in sentence]


def figures(model: Any, tokenizer: WordTokenizer, pairs: Sequence[tuple[Sentence, Sentence]]) -> dict[str, float]:
    """Of (prototype, target) pairs: nats per word with the true edit, with none, and with another sentence's prototype;
    what is written with the true edit, and the prototype itself, against the target."""
    model.eval()
    encoded = [(ids(tokenizer, old), ids(tokenizer, new)) for old, new in pairs]
    batch = collate(encoded)
    strangers = collate([(encoded[(i + len(pairs) // 2) % len(pairs)][0], new) for i, (_, new) in enumerate(encoded)])
    with torch.no_grad():
        edit = true_edit(model, batch)
        nats = [float(loss_of(model, *case)) for case in ((batch, edit), (batch, None), (strangers, None))]
    written = rewrite(model, [old for old, _ in encoded], edit)
    targets = [" ".join(new) for _, new in pairs]
    said = [" ".join(tokenizer.decode([i]) for i in row) for row in written]
    return {
        "nats_with_edit": round(nats[0], 3),
        "nats_without_edit": round(nats[1], 3),
        "nats_with_another_prototype": round(nats[2], 3),
        "right_word_for_word": round(100 * sum(a == b for a, b in zip(said, targets, strict=True)) / len(pairs), 1),
        "bleu": round(corpus_bleu(said, targets), 1),
        "bleu_of_the_prototype": round(corpus_bleu([" ".join(old) for old, _ in pairs], targets), 1),
    }


def held_out_pairs(train: list[Sentence], test: list[Sentence], most: int) -> list[tuple[Sentence, Sentence]]:
    """Test sentences with the nearest training sentence, where it is near enough."""
    retriever = Retriever(train)
    found: list[tuple[Sentence, Sentence]] = []
    for sentence in test:
        near = retriever.nearest(sentence, 1, ALIKE)
        if near:
            found.append((train[near[0][0]], sentence))
        if len(found) == most:
            break
    return found


def sample(model: Any, tokenizer: WordTokenizer) -> dict[str, float]:
    """Figures on the first 40 held-out pairs, with a third of the training sentences to find prototypes in."""
    train, test = read_sentences()
    return figures(model, tokenizer, held_out_pairs(train[::3], test[::5], 40))


@recipe(5, "checkpoint:edit", sample=sample)
def cook(run: Run) -> None:
    corpus = load("shakespeare")
    train, test = read_sentences(limit=run.size(None, 150))
    counts = Counter(word for sentence in train for word in sentence)
    tokenizer = WordTokenizer(sorted(counts, key=lambda word: (-counts[word], word)))
    run.say(f"{len(train):,} sentences; looking for pairs …")
    near = list(edit_pairs(train, ALIKE, PER_SENTENCE)) or [(0, 1, 0.0), (1, 0, 0.0)]  # of few, none are alike
    encoded = [ids(tokenizer, sentence) for sentence in train]
    pairs = [(encoded[old], encoded[new]) for old, new, _ in near]
    run.say(f"{len(pairs):,} pairs")
    config: dict[str, Any] = {
        "vocab_size": tokenizer.vocab_size,
        "cell": "gru",
        "d_embedding": run.size(64, 6),
        "d_hidden": run.size(96, 8),
        "dropout": 0.2,
    }
    steps = run.size(STEPS, 3)
    said = "cross-entropy per word of the edited sentence, teacher forcing"
    training = trained_for(
        steps, BATCH, LEARNING_RATE, 100, pairs=len(pairs), share_without_edit=WITHOUT_EDIT, loss=said
    )
    model = run.build("edit", partial(build, "NeuralEditor", config))
    batches = EditBatches(pairs, run.seed_of("order"))
    run.fit_as("edit", model, batches, training, loss=editing_loss)
    facts = about(
        "a sentence of Shakespeare from one that is like it, and the words to insert and to delete",
        corpus,
        training,
        split=f"plays only; {corpus.split_rule}",
    )
    model, tokenizer, _ = save_checkpoint(run, "edit", model.eval(), config, [tokenizer], facts, ["edit"])
    held_out = held_out_pairs(train, test, run.size(400, 6)) or [(train[0], train[1])] * 2
    measured = figures(model, tokenizer, held_out)
    seen = [(train[old], train[new]) for old, new, _ in near[:: max(1, len(near) // run.size(400, 4))]]
    run.say(f"in the training data: {evaluate(model, EditBatches(pairs[:256], 0)(0), editing_loss):.3f} nats per word")
    add_figures(
        run, "edit", {"held_out": measured | {"pairs": len(held_out)}, "trained_on": figures(model, tokenizer, seen)}
    )
    sample_of = held_out[:12]
    encoded_sample = [(ids(tokenizer, old), ids(tokenizer, new)) for old, new in sample_of]
    with torch.no_grad():
        written = rewrite(model, [old for old, _ in encoded_sample], true_edit(model, collate(encoded_sample)))
    for (old, new), row in zip(sample_of, written, strict=True):
        run.say(f"{' '.join(old)} → {' '.join(tokenizer.decode([i]) for i in row)}   ({' '.join(new)})")
