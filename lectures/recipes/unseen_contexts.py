"""Figure and checkpoint: what a window of word vectors knows of word sequences that nobody has seen.

Bengio's network with a window of four words and a 5-gram with Kneser–Ney smoothing predict from the same four words.
Every word of the test plays is sorted by how much of its context stands somewhere in the training plays: all four
words, only the last three, two, one, or not even the last. On each share both are measured. The network, small
enough to be kept, is the checkpoint `word_window`.
"""

import math
from typing import Any

import torch
from jaxtyping import Int
from nlmcore.feedforward import FeedForwardLM
from nlmcore.metrics import perplexity
from nlmcore.ngram import NGramLM
from nlmcore.tokens import WordTokenizer
from torch import Tensor

from lectures.recipes.perplexity import VOCABULARY
from lectures.recipes.run import Run, about, add_figures, recipe, save_checkpoint, trained_for
from lectures.recipes.texts import Stream, as_document, plays

WINDOW, SIZE, PASSES, BATCH, TIME, LEARNING_RATE = 4, 64, 3, 16, 32, 3e-3


def contexts(train: list[list[int]], most: int = WINDOW) -> set[tuple[int, ...]]:
    """Every run of 1 to `most` words of the training texts that a word follows."""
    return {tuple(d[i : i + n]) for d in train for n in range(1, most + 1) for i in range(len(d) - n)}


def longest_seen(seen: set[tuple[int, ...]], document: list[int], most: int = WINDOW) -> Int[Tensor, " time"]:
    """For every word but the first: how many of the words just before it are among the `contexts` of the training.

    At most `most`; near the beginning of the document there are fewer words before.
    """
    found = []
    for t in range(1, len(document)):
        n = min(most, t)
        while n and tuple(document[t - n : t]) not in seen:
            n -= 1
        found.append(n)
    return torch.tensor(found)


def network_nats(model: FeedForwardLM, document: list[int]) -> Tensor:
    """−ln P of every word but the first."""
    tokens, state, parts = torch.tensor([document]), None, []
    with torch.no_grad():
        for start in range(0, len(document) - 1, 500):
            logits, state = model(tokens[:, start : min(start + 500, len(document) - 1)], state)
            right = tokens[0, start + 1 : start + 1 + logits.shape[1]]
            parts.append(-logits[0].log_softmax(-1).gather(-1, right[:, None])[:, 0])
    return torch.cat(parts)


def sample(model: Any, tokenizer: Any) -> dict[str, float]:
    """Perplexity of the beginning of the first test play."""
    document = as_document(tokenizer.encode(plays().test[0]))[:1000]
    return {"perplexity": round(perplexity(model, torch.tensor([document])), 2)}


@recipe(6, "checkpoint:word_window result:unseen_contexts", sample=sample)
def cook(run: Run) -> None:
    shakespeare = plays(limit=run.size(None, 3000))
    tokenizer = WordTokenizer.fit(shakespeare.train, vocab_size=run.size(VOCABULARY, 300))
    train, test = (
        [as_document(tokenizer.encode(text)) for text in texts] for texts in (shakespeare.train, shakespeare.test)
    )
    size = run.size(SIZE, 8)
    config: dict[str, Any] = {
        "vocab_size": tokenizer.vocab_size,
        "window": WINDOW,
        "d_embedding": size,
        "d_hidden": size,
    }
    stream = Stream(train, run.size(BATCH, 4), run.size(TIME, 8))
    passes = run.size(PASSES, 1)
    training = trained_for(
        passes * stream.batches, stream.batch, LEARNING_RATE, 100, "; state carried on", passes=passes, time=stream.time
    )
    model: Any = run.build("word-window", lambda: FeedForwardLM(**config))
    run.fit_as("word-window", model, stream, training, carry_state=True)
    facts = about("words of Shakespeare, the next from the last four (Bengio et al. 2003)", shakespeare, training)
    model, _, _ = save_checkpoint(run, "word_window", model, config, [tokenizer], facts, ["word-window"])
    counted = NGramLM(WINDOW + 1, tokenizer.vocab_size, "kneser_ney")
    counted.fit(train)
    seen = contexts(train)
    found = [longest_seen(seen, document) for document in test]
    nats = {
        "5-gram, Kneser–Ney": [-counted.log_probabilities(torch.tensor([d]))[0, 1:].double() for d in test],
        "feed-forward, window 4": [network_nats(model, d).double() for d in test],
    }
    result, n = by_context(torch.cat(found), {name: torch.cat(parts) for name, parts in nats.items()})
    overall = {name: round(math.exp(torch.cat(parts).mean().item()), 2) for name, parts in nats.items()}
    add_figures(run, "word_window", {"test_perplexity": overall["feed-forward, window 4"], "words": n})
    run.save_result(
        "unseen_contexts",
        {
            "question": "Perplexity by how much of the four words before was ever seen in training.",
            "by_words_seen": result,
            "overall": overall,
            "words": n,
            "vocabulary": f"{tokenizer.vocab_size} ids of a word tokenizer fitted on the training plays; rest is <unk>",
            "test": {"split": shakespeare.split},
            "network": {**config, "parameters": sum(p.numel() for p in model.parameters()), **training},
        },
    )


def by_context(seen: Tensor, nats: dict[str, Tensor]) -> tuple[dict[str, dict[str, float]], int]:
    """For every length of context: the share of words that have it, and each model's perplexity on them."""
    rows = {}
    for length in sorted(set(seen.tolist())):
        here = seen == length
        row = {"share": round(here.double().mean().item(), 4)}
        rows[str(length)] = row | {name: round(math.exp(of[here].mean().item()), 2) for name, of in nats.items()}
    return rows, len(seen)
