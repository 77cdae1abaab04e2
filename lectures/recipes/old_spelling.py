"""Checkpoint: Kim's network tells a line printed in 1623 from the same line in modern spelling, by groups of letters.

Which group fired which filter can be looked at letter by letter, so this small classifier is the one that lectures
open. Lines are those of the First Folio and of the corpus in modern spelling, aligned. Only letters, blanks and
apostrophes are kept, in lower case: punctuation and capitals would give the age away. Lines that are then the same in
both are left out. The floor: naive Bayes, which counts in how many lines of each spelling a group of letters occurs.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import torch
import torch.nn.functional as F
from nlmcore.convolutional import TextCNN
from nlmcore.corpora import folio, load
from nlmcore.tokens import CharTokenizer
from torch import Tensor

from lectures.recipes.run import Run, about, add_figures, recipe, save_checkpoint

MODERN, OLD = 0, 1
LINES, TEST_LINES, PASSES, BATCH, LEARNING_RATE = 10_000, 2_000, 3, 64, 5e-3
EXAMPLES = (
    ("to be, or not to be, that is the question", MODERN),
    ("if music be the food of love, play on", MODERN),
    ("we are such stuff as dreams are made on", MODERN),
    ("and all our yesterdays have lighted fools", MODERN),
    ("if musicke be the food of loue, play on", OLD),
    ("we are such stuffe as dreames are made on", OLD),
    ("and all our yesterdayes, haue lighted fooles", OLD),
    ("heere's the smell of the blood still", OLD),
)
"""Well-known lines as printed now, and then."""


def letters(text: str) -> str:
    """Lower case; what is no letter from a to z, apostrophe or blank is left out."""
    return " ".join(re.sub(r"[^a-z' ]", "", text.lower().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")).split())


def lines(part: str, limit: int) -> list[tuple[str, int]]:
    """(line, MODERN or OLD): every n-th of the lines that the two spellings write differently."""
    corpus = load("shakespeare_folio", unit="line")
    pairs = [(letters(d.text), letters(str(d.target))) for d in corpus.splits[part]]
    pairs = [(old, modern) for old, modern in pairs if old != modern and old and modern]
    chosen = pairs[:: max(1, len(pairs) // limit)][:limit]
    return [line for old, modern in chosen for line in ((old, OLD), (modern, MODERN))]


def as_batch(tokenizer: CharTokenizer, examples: list[tuple[str, int]]) -> tuple[Tensor, Tensor]:
    """Tokens (line, time), padded with 0, and labels (line,)."""
    rows = [torch.tensor(tokenizer.encode(letters(text))) for text, _ in examples]
    padded = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)
    return padded, torch.tensor([label for _, label in examples])


def accuracy(model: TextCNN, tokenizer: CharTokenizer, examples: list[tuple[str, int]]) -> float:
    """Share of lines whose more probable label is right."""
    right = 0
    model.eval()
    with torch.no_grad():
        for start in range(0, len(examples), 500):
            tokens, labels = as_batch(tokenizer, examples[start : start + 500])
            right += int((model(tokens, tokens > 0).argmax(-1) == labels).sum())
    return round(right / len(examples), 4)


def groups(line: str) -> set[str]:
    """The groups of 2 to 4 letters of a line, as wide as the filters, with its ends."""
    padded = f"···{line}···"
    return {padded[i : i + width] for width in (2, 3, 4) for i in range(len(padded) - width + 1)}


def by_counting(train: list[tuple[str, int]], test: list[tuple[str, int]]) -> float:
    """Share of test lines that naive Bayes gets right from the groups they contain; as many lines of each label."""
    seen: dict[int, Counter[str]] = {MODERN: Counter(), OLD: Counter()}
    for line, label in train:
        seen[label].update(groups(line))

    def says_old(line: str) -> bool:
        return sum(math.log((seen[OLD][group] + 0.5) / (seen[MODERN][group] + 0.5)) for group in groups(line)) > 0

    return round(sum(says_old(line) == (label == OLD) for line, label in test) / len(test), 4)


def sample(model: Any, tokenizer: CharTokenizer) -> dict[str, float]:
    """Accuracy on the examples, and the mean probability of the right label."""
    tokens, labels = as_batch(tokenizer, list(EXAMPLES))
    with torch.no_grad():
        right = model(tokens, tokens > 0).softmax(-1).gather(1, labels[:, None]).mean().item()
    return {"accuracy": accuracy(model, tokenizer, list(EXAMPLES)), "probability": round(right, 3)}


@recipe(3, "checkpoint:old_spelling", sample=sample)
def cook(run: Run) -> None:
    train, test = (
        (list(EXAMPLES) * 20, list(EXAMPLES))  # aligning the plays takes too long for a smoke run
        if run.quick
        else (lines("train", LINES), lines("test", TEST_LINES))
    )
    tokenizer = CharTokenizer.fit("abcdefghijklmnopqrstuvwxyz' ")
    config = {
        "vocab_size": tokenizer.vocab_size,
        "n_classes": 2,
        "d_embedding": 16,
        "widths": [2, 3, 4],
        "n_filters": 16,
        "dropout": 0.2,
    }
    steps = run.size(PASSES, 1) * (len(train) // BATCH)
    training = {"lines": len(train), "steps": steps, "batch": BATCH, "learning_rate": LEARNING_RATE}
    model: Any = run.build("old-spelling", lambda: TextCNN(**config))  # type: ignore[arg-type]

    def batches(epoch: int) -> Iterator[tuple[Tensor, Tensor]]:
        order = torch.randperm(len(train), generator=torch.Generator().manual_seed(epoch)).tolist()
        for start in range(0, len(train) - BATCH + 1, BATCH):
            yield as_batch(tokenizer, [train[i] for i in order[start : start + BATCH]])

    def loss(model: TextCNN, batch: tuple[Tensor, Tensor]) -> Tensor:
        tokens, labels = batch
        return F.cross_entropy(model(tokens, tokens > 0), labels)

    run.fit_as("old-spelling", model, batches, training, loss=loss)
    facts = about(
        "was a line printed in 1623 (class 1) or is it in modern spelling (class 0)? (Kim 2014)",
        {
            "source": f"{folio.SOURCE}; aligned by nlmcore.corpora.folio; {folio.LICENCE}",
            "split": "by plays, the same as those of the corpus 'shakespeare'",
        },
        training,
    )
    model, tokenizer, _ = save_checkpoint(run, "old_spelling", model, config, [tokenizer], facts, ["old-spelling"])
    figures = {
        "test_accuracy": accuracy(model, tokenizer, test),
        "by_counting": by_counting(train, test),
        "test_lines": len(test),
    }
    add_figures(run, "old_spelling", figures)
