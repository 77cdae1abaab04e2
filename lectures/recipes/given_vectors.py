"""Figure: does a language model that starts from the word vectors of another model learn more from little text?

Bengio's network (`FeedForwardLM`) predicts each word of two plays from the previous four. Its embeddings start as

    random      normal numbers
    given       MiniLM's input vectors of the same words, their first principal components
    shuffled    the same vectors, each given to another word: their lengths and directions without their meaning

All three are scaled alike and trained further with the rest, which starts alike in all rows of a seed. Words that MiniLM
does not have whole (many names) start with random numbers in every row. Each row has the rate that is best with the first
seed, by a development play, which also says at which step a training stops; the test play is read once, at the end.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from nlmcore.corpora import load
from nlmcore.feedforward import FeedForwardLM
from nlmcore.metrics import perplexity
from nlmcore.ngram import NGramLM
from nlmcore.pretrained import minilm
from nlmcore.tokens import WordTokenizer
from torch import Tensor

from lectures.recipes.experiment import best_rate, gap
from lectures.recipes.run import Run, recipe
from lectures.recipes.texts import Stream, as_document

VOCABULARY, WIDTH, WINDOW, SEEDS = 2000, 64, 4, 5
RATES = (1e-3, 3e-3, 1e-2, 3e-2)
STEPS, EVERY, BATCH, TIME = 500, 50, 16, 32
HELD = 20_000
"""Tokens of the test play; a quarter of them of the development play."""


def principal(vectors: Tensor, width: int) -> Tensor:
    """The first components of the rows around their mean, with a mean square of 1."""
    centred = vectors - vectors.mean(0)
    _, _, directions = torch.linalg.svd(centred, full_matrices=False)
    reduced = centred @ directions[:width].T
    return reduced / reduced.pow(2).mean().sqrt()


def given(tokenizer: WordTokenizer, width: int) -> tuple[Tensor, Tensor]:
    """The ids of the words that MiniLM has whole, and a vector for each."""
    encoder, pieces = minilm()
    rows = {i: pieces._tokenizer.token_to_id(word.lower()) for i, word in enumerate(tokenizer.vocabulary)}
    known = [i for i, row in rows.items() if row is not None and tokenizer.vocabulary[i].isalpha()]
    vectors = encoder.embedding.weight.detach()[torch.tensor([rows[i] for i in known])]
    return torch.tensor(known), principal(vectors, width)


def starts(known: Tensor, vectors: Tensor, seed: int) -> dict[str, Callable[[Tensor], Tensor]]:
    """Row -> from the random first embeddings to those that it starts with."""
    order = torch.randperm(len(known), generator=torch.Generator().manual_seed(seed))
    return {
        "random": lambda random: random,
        "given": lambda random: random.index_copy(0, known, vectors),
        "shuffled": lambda random: random.index_copy(0, known, vectors[order]),
    }


@recipe(2)
def cook(run: Run) -> None:
    corpus = load("shakespeare")
    texts = {"train": corpus.texts("train")[:2], "dev": corpus.texts("valid")[:1], "test": corpus.texts("test")[:1]}
    texts = {part: [text[: run.size(None, 3000)] for text in of] for part, of in texts.items()}
    tokenizer = WordTokenizer.fit(texts["train"], vocab_size=run.size(VOCABULARY, 200))
    documents = {part: [as_document(tokenizer.encode(text)) for text in of] for part, of in texts.items()}
    held = {part: torch.tensor([documents[part][0][:size]]) for part, size in (("dev", HELD // 4), ("test", HELD))}
    known, vectors = given(tokenizer, width := run.size(WIDTH, 8))

    def one(row: str, seed: int, rate: float) -> dict[str, Any]:
        model: Any = run.build(
            f"network-{seed}", lambda: FeedForwardLM(tokenizer.vocab_size, WINDOW, width, run.size(WIDTH, 8))
        )
        with torch.no_grad():
            first = starts(known, vectors, seed)[row](model.embedding.weight.detach())
            model.embedding.weight.copy_(first)
        history = run.fit(
            f"{row}-{seed}-{rate:g}",
            model,
            Stream(documents["train"], run.size(BATCH, 2), run.size(TIME, 8)),
            steps=run.size(STEPS, 2),
            learning_rate=rate,
            warm_up=20,
            validation=lambda model: math.log(perplexity(model, held["dev"])),
            evaluate_every=run.size(EVERY, 1),
        )
        found = {part: round(perplexity(model, tokens), 2) for part, tokens in held.items()}
        return found | {"steps": int(history.best_step or 0)}

    rows: dict[str, dict[str, Any]] = {}
    for row in ("random", "given", "shuffled"):
        rate, tried = best_rate(run.size(RATES, RATES[:1]), partial(one, row, 0))
        runs = [tried[rate], *(one(row, seed, rate) for seed in range(1, run.size(SEEDS, 2)))]
        rows[row] = {
            "rate": rate,
            "tried": {f"{each:g}": of["dev"] for each, of in tried.items()},
            **{key: [of[key] for of in runs] for key in runs[0]},
        }
    floors = {}
    for order in (1, 2, 3):
        ngram = NGramLM(order, tokenizer.vocab_size, "kneser_ney").fit(documents["train"])
        nats = -ngram.log_probabilities(held["test"])[0, 1:].double()
        floors[f"{order}-gram"] = round(nats.mean().exp().item(), 2)
    saved = {}
    for row in ("given", "shuffled"):
        both = [[math.log(x) for x in rows[each]["test"]] for each in (row, "random")]
        saved[row] = [round(x, 4) for x in gap(*both)]
    run.save_result(
        "given_vectors",
        {
            "question": "A language model on two plays: embeddings that start at random, or from another model.",
            "how": f"{sum(map(len, documents['train'])):,} training tokens, {tokenizer.vocab_size:,} words, of which"
            f" MiniLM has {len(known):,} whole; window {WINDOW}, embeddings and hidden layer {width} wide; perplexity"
            f" on {held['test'].shape[1]:,} tokens of a test play",
            "words": tokenizer.vocab_size,
            "known": len(known),
            "tokens": sum(map(len, documents["train"])),
            "floors": floors,
            "rows": rows,
            "against_random": saved,
        },
    )
