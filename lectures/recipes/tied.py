"""Figure: do tied embeddings decide whether a window or convolutions predict Shakespeare better? Both, tied and untied.

In the table of `perplexity` the convolutions have one matrix for embeddings and output (*tied*), the window has two, and
its first embeddings are ten times as large. Here each of the two networks has both forms, and all first embeddings are
normal with a deviation of 0.1. Plays and batches are those of the table; the networks are smaller, know fewer words and
read less than half of the text. Each row runs at the rate that is best with its first seed on a development play.
"""

import math
from collections.abc import Callable
from functools import partial
from statistics import mean
from typing import Any

import torch
from nlmcore.convolutional import ConvLM
from nlmcore.feedforward import FeedForwardLM
from nlmcore.metrics import perplexity
from nlmcore.ngram import NGramLM
from nlmcore.tokens import WordTokenizer
from nlmcore.training import next_token_loss
from torch import Tensor, nn

from lectures.recipes.experiment import Experiment, Setting, Task, gap, said
from lectures.recipes.perplexity import BATCH, TIME
from lectures.recipes.run import Run, recipe
from lectures.recipes.texts import Stream, as_document, in_rows, plays

VOCABULARY, WIDTH, WINDOW, HELD = 2000, 48, 4, 10_000
"""HELD: tokens of each play that is not trained on."""
SETTING = Setting(1000, BATCH, (3e-3, 1e-2, 3e-2), warm_up=50, name="{row}-{seed}-{rate:g}", quick=(2, 4))
KINDS: dict[str, Callable[[int, int], Any]] = {
    "window": lambda words, width: FeedForwardLM(words, WINDOW, width, width),
    "convolutions": lambda words, width: ConvLM(words, width, n_layers=2, kernel_size=5),
}


def network(kind: str, tied: bool, words: int, width: int) -> Any:
    """First embeddings alike; tied: the output has the matrix of the embeddings."""
    model = KINDS[kind](words, width)
    nn.init.normal_(model.embedding.weight, std=0.1)
    if tied:
        model.output.weight = model.embedding.weight
    return model


def loss(model: Any, batch: tuple[Tensor, Tensor]) -> Tensor:
    return next_token_loss(model(batch[0])[0], batch[1])


@recipe(20)
def cook(run: Run) -> None:
    shakespeare = plays(limit=run.size(None, 3000))
    tokenizer = WordTokenizer.fit(shakespeare.train, vocab_size=run.size(VOCABULARY, 300))
    train, dev, test = (
        [as_document(tokenizer.encode(text))[:longest] for text in texts]
        for texts, longest in ((shakespeare.train, None), (shakespeare.dev[:1], HELD), (shakespeare.test, HELD))
    )
    held = {"dev": in_rows(dev), "test": in_rows(test)}

    def measure(model: Any) -> dict[str, float]:
        return {part: round(perplexity(model, rows, ignore=0, chunk=200), 2) for part, rows in held.items()}

    streams = {size: Stream(train, size, run.size(TIME, 8)) for size in (SETTING.batch, SETTING.quick[1])}
    experiment = Experiment(run, Task(lambda size, seed: streams[size], loss, measure), SETTING)
    width = run.size(WIDTH, 8)
    rows = {
        f"{kind}, {'tied' if tied else 'untied'}": partial(network, kind, tied, tokenizer.vocab_size, width)
        for tied in (False, True)
        for kind in KINDS
    }
    found = {row: experiment.at_best_rate(row, build) for row, build in rows.items()}
    lower = {}
    for form in ("untied", "tied"):
        nats = [[math.log(x) for x in found[f"{kind}, {form}"]["test"]] for kind in KINDS]
        value, half = gap(*nats)
        lower[form] = {"mean": round(value, 4), "half": round(half, 4)}
    run.save_result(
        "tied",
        {
            "question": "Window or convolutions, both with tied and with untied embeddings: which predicts better?",
            "how": f"{tokenizer.vocab_size:,} words of Shakespeare, width {width}, {SETTING.words(f'× {TIME} words')}; perplexity"
            f" on the first {HELD:,} tokens of each test play, one value per seed",
            "floors": {
                f"{order}-gram": round(math.exp(ngram_loss(order, tokenizer.vocab_size, train, test)), 2)
                for order in (1, 2)
            },
            "rows": found,
            "lower": lower,
            "lower_is": "nats per word that the convolutions save, seed by seed: the mean and half its 95 % interval",
            "what_it_shows": said(found, "{row}: {test!m:.1f}") + "; "
            + ", ".join(f"{form}: convolutions save {of['mean']:.3f} ± {of['half']:.3f} nats" for form, of in lower.items()),
        },
    )  # fmt: skip


def ngram_loss(order: int, words: int, train: list[list[int]], test: list[list[int]]) -> float:
    """Nats per word of the Kneser–Ney model that was counted on the whole training text."""
    model = NGramLM(order, words, "kneser_ney").fit(train)
    each = [model.log_probabilities(torch.tensor([document]))[0, 1:].double() for document in test]
    return -mean(torch.cat(each).tolist())
