"""Checkpoint: a tagger that puts capitals and punctuation back into lower-case text without any; and what it takes.

Labelling with a recurrent network: one answer per word, its case and the mark that follows it. Two networks with the
same cell are trained, one that reads to the left of a word only and one that reads both ways, and are compared with
doing nothing and with every word's commonest tag. Restoring punctuation with a bidirectional recurrent network:
Tilk & Alumäe (2016), who add attention and restore no capitals; restoring case, by letters: Susanto, Chieu & Lu (2016).

Speeches of Shakespeare's plays, without speakers and stage directions; each speech, or part of one of at most 60
words, is read by itself.
"""

import random
from collections import Counter
from collections.abc import Iterator
from functools import partial
from typing import Any

import torch
from nlmcore.corpora import load, pad
from lectures.trained import build
from nlmcore.tokens import WordTokenizer
from nlmcore.training import next_token_loss
from torch import Tensor

from lectures.recipes.restore_marks import MARKS, N_TAGS, Piece, core, pieces
from lectures.recipes.run import Run, about, add_figures, recipe, save_checkpoint, trained_for
from lectures.recipes.texts import Capitals, speeches

LEARNING_RATE, BATCH, PASSES, VOCABULARY = 4e-3, 64, 4, 4000
NAMES = {False: "reads the words before", True: "reads both ways"}


class TaggedBatches:
    """Called with an epoch, gives that epoch's batches of pieces: like lengths together, another order each time."""

    def __init__(self, found: list[tuple[list[int], list[int]]], batch: int, seed: int) -> None:
        self.found, self.batch, self.seed = found, batch, seed

    def __call__(self, epoch: int) -> Iterator[dict[str, Tensor]]:
        chance = random.Random(f"{self.seed}/{epoch}")
        order = sorted(range(len(self.found)), key=lambda i: (len(self.found[i][0]), chance.random()))
        batches = [order[i : i + self.batch] for i in range(0, len(order), self.batch)]
        chance.shuffle(batches)
        for batch in batches:
            tokens, mask = pad([self.found[i][0] for i in batch])
            tags, _ = pad([self.found[i][1] for i in batch])
            yield {"tokens": tokens, "tags": tags, "mask": mask}


def tagging_loss(model: Any, batch: dict[str, Tensor]) -> Tensor:
    """Cross-entropy of the tags, in nats per word; padding does not count."""
    return next_token_loss(model(batch["tokens"], batch["mask"]), batch["tags"], batch["mask"])


def ids(tokenizer: WordTokenizer, words: list[str]) -> list[int]:
    return [tokenizer.id(core(word)) for word in words]


@torch.no_grad()
def tag(model: Any, tokenizer: WordTokenizer, texts: list[list[str]]) -> list[list[int]]:
    """The most probable tag of every word of every text."""
    found: list[list[int]] = []
    for start in range(0, len(texts), 256):
        tokens, mask = pad([ids(tokenizer, words) for words in texts[start : start + 256]])
        best = model(tokens, mask).argmax(-1)
        found += [row[real].tolist() for row, real in zip(best, mask, strict=True)]
    return found


def f1(right: int, said: int, wanted: int) -> float:
    """2 · precision · recall / (precision + recall), in percent."""
    return round(200 * right / max(said + wanted, 1), 1)


def scores(said: list[list[int]], test: list[Piece]) -> dict[str, Any]:
    """Words with the right tag, and F1 of capitals, of all marks, and of each mark, in percent."""
    pairs = [pair for tags, piece in zip(said, test, strict=True) for pair in zip(tags, piece.tags, strict=True)]
    n = len(MARKS)
    one_mark = {
        mark: f1(
            sum(a % n == b % n == k for a, b in pairs),
            sum(a % n == k for a, _ in pairs),
            sum(b % n == k for _, b in pairs),
        )
        for k, mark in enumerate(MARKS)
        if k
    }
    right = sum(a % n == b % n != 0 for a, b in pairs)
    marks = f1(right, sum(a % n != 0 for a, _ in pairs), sum(b % n != 0 for _, b in pairs))
    capitals = f1(
        sum(a >= n and b >= n for a, b in pairs), sum(a >= n for a, _ in pairs), sum(b >= n for _, b in pairs)
    )
    share = round(100 * sum(a == b for a, b in pairs) / max(len(pairs), 1), 1)
    return {"words_right": share, "capitals_f1": capitals, "marks_f1": marks, "f1_by_mark": one_mark}


def commonest_tags(train: list[Piece]) -> dict[str, int]:
    """Every word's commonest tag in the training text."""
    counts: dict[str, Counter[int]] = {}
    for piece in train:
        for word, label in zip(piece.words, piece.tags, strict=True):
            counts.setdefault(word, Counter())[label] += 1
    return {word: count.most_common(1)[0][0] for word, count in counts.items()}


def read_plays(limit: int | None = None) -> dict[str, list[Piece]]:
    """The pieces of each part of the corpus; or of two plays each and their first `limit` pieces."""
    corpus = load("shakespeare")
    works = None if limit is None else 2
    parts = {part: [d.text for d in corpus.splits[part] if d.label != "poem"][:works] for part in corpus.splits}
    capitals = Capitals(parts["train"])
    return {
        part: [piece for play in plays for piece in pieces(speeches(play, capitals))][:limit]
        for part, plays in parts.items()
    }


def sample(model: Any, tokenizer: WordTokenizer) -> dict[str, float]:
    """Figures on the first 200 pieces of the test."""
    test = read_plays(limit=200)["test"]
    measured = scores(tag(model, tokenizer, [piece.words for piece in test]), test)
    return {name: measured[name] for name in ("words_right", "capitals_f1", "marks_f1")}


@recipe(4, "checkpoint:restore result:restore", sample=sample)
def cook(run: Run) -> None:
    corpus = load("shakespeare")
    data = read_plays(limit=run.size(None, 80))
    train, test = data["train"], data["test"]
    counts = Counter(core(word) for piece in train for word in piece.words)
    kept = [word for word, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0])) if word]
    tokenizer = WordTokenizer(kept[: run.size(VOCABULARY, 200)])
    found = [(ids(tokenizer, piece.words), piece.tags) for piece in train]
    batches = TaggedBatches(found, BATCH, run.seed_of("order"))
    steps = run.size(PASSES, 1) * -(-len(found) // BATCH)
    rows: dict[str, Any] = {}
    texts = [piece.words for piece in test]
    rows["nothing put back"] = scores([[0] * len(words) for words in texts], test)
    common = commonest_tags(train)
    rows["each word's commonest tag"] = scores([[common.get(word, 0) for word in words] for words in texts], test)
    models, trainings = {}, {}
    for both in (False, True):
        config: dict[str, Any] = {
            "vocab_size": tokenizer.vocab_size,
            "n_tags": N_TAGS,
            "cell": "gru",
            "d_embedding": 48,
            # one way, twice the width: as many numbers per word as both ways together
            "d_hidden": run.size(64 if both else 128, 8),
            "bidirectional": both,
            "dropout": 0.2,
        }
        passes = run.size(PASSES, 1)
        training = trained_for(steps, BATCH, LEARNING_RATE, 50, passes=passes, loss="cross-entropy per word")
        name = "both" if both else "before"
        model = run.build(name, partial(build, "SequenceTagger", config))
        run.fit_as(name, model, batches, training, loss=tagging_loss)
        models[both], trainings[both] = (model.eval(), config), training
        rows[NAMES[both]] = scores(tag(model, tokenizer, texts), test)
        rows[NAMES[both]]["parameters"] = sum(p.numel() for p in model.parameters())
        run.say(f"{NAMES[both]}: {rows[NAMES[both]]}")
    facts = about(
        "capitals and punctuation put back, word by word, by a recurrent network that reads both ways",
        corpus,
        trainings[True],
        split=f"plays only; {corpus.split_rule}",
    )
    model, config = models[True]
    model, tokenizer, _ = save_checkpoint(run, "restore", model, config, [tokenizer], facts, ["both"])
    rows[NAMES[True]] |= scores(tag(model, tokenizer, texts), test)  # of what was written
    add_figures(run, "restore", rows)
    run.save_result(
        "restore",
        {
            "question": "Capitals and punctuation put back word by word: does it help to have read what follows?",
            "task": f"{len(texts):,} speeches of the test plays, or parts of them, {sum(map(len, texts)):,} words in"
            " lower case without marks; F1 is 2PR/(P+R) of precision and recall, in percent",
            "training": trainings[True],
            "rows": rows,
            "what_it_shows": shown(rows),
            "split": corpus.split_rule,
        },
    )


def shown(rows: dict[str, Any]) -> str:
    """What reading both ways brings."""
    before, both = rows[NAMES[False]], rows[NAMES[True]]
    return (
        f"F1 of marks: {before['marks_f1']} with the words before alone, {both['marks_f1']} with those on both sides;"
        f" of capitals: {before['capitals_f1']} and {both['capitals_f1']}"
    )
