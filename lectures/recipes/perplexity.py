"""Figure and checkpoint: counting against neural networks, one table of perplexities on Shakespeare.

Every model sees the same plays in training and the same ones in the test, as the same words: the 5,000 ids of one
word tokenizer, the rest is <unk>, which is predicted like any word. All predict every token of every test document
from its beginning, <eos> included. All neural models have 128 dimensions and are trained for one pass, with one
optimiser and one learning rate; none was tuned beyond that. An LSTM, which is slow to start, is trained for three
passes besides, and kept as the checkpoint `word_lstm`.
"""

import math
from typing import Any

import torch
from nlmcore.convolutional import ConvLM
from nlmcore.feedforward import BagOfWordsLM, FeedForwardLM
from nlmcore.metrics import perplexity
from nlmcore.ngram import SMOOTHINGS, NGramLM
from nlmcore.recurrent import RecurrentLM
from nlmcore.tokens import WordTokenizer
from torch import nn

from lectures.recipes.run import Run, about, add_figures, recipe, save_checkpoint, trained_for
from lectures.recipes.texts import Plays, Stream, as_document, in_rows, plays

UNK = 3
VOCABULARY, ORDERS = 5000, range(1, 6)
BATCH, TIME, LEARNING_RATE, PASSES, STRETCH = 16, 32, 3e-3, 1, 20
KEPT = "LSTM, 3 passes"
PSEUDOCOUNTS = (1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001, 0.0003, 0.0001)
"""Of these the tuned additive model takes the one that is best on the development plays."""
PASSES_OF = {KEPT: 3}
"""The others have PASSES. An LSTM learns slowly at first; this one shows whether it catches up, and is kept."""
KINDS: tuple[type[nn.Module], ...] = (BagOfWordsLM, FeedForwardLM, ConvLM, RecurrentLM)


def neural_models(vocab_size: int, size: int) -> dict[str, tuple[type[nn.Module], dict[str, Any]]]:
    """Every model's class and configuration."""
    wide = {"d_embedding": size, "d_hidden": size, "window": 4}
    recurrent = {"d_embedding": size, "d_hidden": size, "tie_embeddings": True}
    return {
        "bag of words (4)": (BagOfWordsLM, {"vocab_size": vocab_size, **wide}),
        "feed-forward (4)": (FeedForwardLM, {"vocab_size": vocab_size, **wide}),
        "convolutional (9)": (
            ConvLM,
            {"vocab_size": vocab_size, "d_model": size, "n_layers": 2, "kernel_size": 5, "tie_embeddings": True},
        ),
        **{
            title: (RecurrentLM, {"vocab_size": vocab_size, "cell": cell, **recurrent})
            for title, cell in {"RNN": "rnn", "GRU": "gru", "LSTM": "lstm", KEPT: "lstm"}.items()
        },
    }


def ngram_perplexities(run: Run, documents: dict[str, list[list[int]]], vocab_size: int) -> dict[str, dict[str, Any]]:
    """Perplexity for every smoothing and order; None where some test word has probability 0."""
    found: dict[str, dict[str, Any]] = {}
    for smoothing in SMOOTHINGS:
        found[smoothing] = {}
        for order in run.size(ORDERS, range(1, 3)):
            model = NGramLM(order, vocab_size, smoothing)
            heldout = documents["dev"] if smoothing == "interpolation" else None
            model.fit(documents["train"], heldout)
            total, count, impossible = ngram_nats(model, documents["test"])
            found[smoothing][str(order)] = None if impossible else round(math.exp(total / count), 2)
            if impossible:
                found[smoothing][f"{order}: share of test words with probability 0"] = round(impossible / count, 4)
        run.say(f"{smoothing}: {found[smoothing]}")
    tuned: dict[str, float] = {}
    found["additive, tuned"] = tuned
    for order in run.size(ORDERS, range(1, 3)):
        losses = {}
        for k in PSEUDOCOUNTS:
            model = NGramLM(order, vocab_size, "additive", pseudocount=k).fit(documents["train"])
            losses[k] = ngram_nats(model, documents["dev"])[0], model
        k = min(losses, key=lambda k: losses[k][0])
        total, count, _ = ngram_nats(losses[k][1], documents["test"])
        tuned |= {str(order): round(math.exp(total / count), 2), f"{order}: k": k}
    run.say(f"additive, tuned: {tuned}")
    return found


def ngram_nats(model: NGramLM, documents: list[list[int]]) -> tuple[float, int, int]:
    """− Σ ln P without a row of V logits per word; how many words were predicted, and how many had probability 0."""
    total, count, impossible = 0.0, 0, 0
    for document in documents:
        scores = model.log_probabilities(torch.tensor([document]))[0, 1:].double()
        impossible += int(scores.isinf().sum())
        total -= float(scores[scores.isfinite()].sum())
        count += len(scores)
    return total, count, impossible


def train_neural(
    run: Run, title: str, kind: type[nn.Module], config: dict[str, Any], stream: Stream, epochs: int
) -> tuple[Any, dict[str, Any], str]:
    """The trained model, how it was trained, and the name of its training."""
    name = "word-" + "".join(c if c.isalnum() else "_" for c in title.lower()).strip("_")
    model = run.build(name, lambda: kind(**config))
    steps = epochs * stream.batches
    carried = "; state carried on, gradient cut (truncated backpropagation)"
    training = trained_for(steps, stream.batch, LEARNING_RATE, 100, carried, passes=epochs, time=stream.time)
    if stream.stretch is not None:
        training["state_forgotten_every"] = f"{stream.stretch} batches, so that the model learns to begin"
    run.fit_as(name, model, stream, training, carry_state=True)
    return model, training, name


def sample(model: Any, tokenizer: Any) -> dict[str, float]:
    """Perplexity of the beginning of the first test play."""
    document = as_document(tokenizer.encode(plays().test[0]))[:1000]
    return {"perplexity": round(perplexity(model, torch.tensor([document])), 2)}


@recipe(14, "result:perplexity checkpoint:word_lstm", sample=sample)
def cook(run: Run) -> None:
    shakespeare: Plays = plays(limit=run.size(None, 3000))
    tokenizer = WordTokenizer.fit(shakespeare.train, vocab_size=run.size(VOCABULARY, 300))
    documents = {
        part: [as_document(tokenizer.encode(text)) for text in getattr(shakespeare, part)]
        for part in ("train", "dev", "test")
    }
    words = sum(len(document) - 1 for document in documents["test"])
    unknown = sum(document.count(UNK) for document in documents["test"]) / words
    run.say(
        f"{sum(map(len, documents['train'])):,} tokens to train on, {words:,} predicted, {unknown:.1%} of them <unk>"
    )
    counted = ngram_perplexities(run, documents, tokenizer.vocab_size)
    neural: dict[str, dict[str, Any]] = {}
    sizes = run.size(BATCH, 4), run.size(TIME, 8)
    streams = {kind: Stream(documents["train"], *sizes, STRETCH if kind is RecurrentLM else None) for kind in KINDS}
    for title, (kind, config) in neural_models(tokenizer.vocab_size, run.size(128, 8)).items():
        model, training, name = train_neural(run, title, kind, config, streams[kind], PASSES_OF.get(title, PASSES))
        size = sum(p.numel() for p in model.parameters())
        if title == KEPT:
            facts = about("words of Shakespeare, the next from all before it in the play", shakespeare, training)
            model, _, _ = save_checkpoint(run, "word_lstm", model, config, [tokenizer], facts, [name])
        value = round(perplexity(model, in_rows(documents["test"]), ignore=0, chunk=200), 2)
        neural[title] = {"perplexity": value, "parameters": size, "training": training}
        run.say(f"{title}: perplexity {value}")
        if title == KEPT:
            figures = {"test_perplexity": value, "words": words, "unknown": round(unknown, 4)}
            add_figures(run, "word_lstm", figures)
    test = {"split": shakespeare.split, "words": words, "unknown_share": round(unknown, 4)}
    orders = [str(order) for order in run.size(ORDERS, range(1, 3))]
    best = min(value for row in counted.values() for order, value in row.items() if order in orders and value)
    run.save_result(
        "perplexity",
        {
            "question": "Perplexity of n-gram and neural models on the same Shakespeare split and vocabulary.",
            "vocabulary": f"{VOCABULARY} ids of a word tokenizer fitted on the training plays; the rest is <unk>",
            "test": test,
            "ngram": counted,
            "null": "infinite: some test word has probability 0 (after an unseen context, mle here is uniform)",
            "neural": neural,
            "best": {"ngram": best, "neural": min(row["perplexity"] for row in neural.values())},
            "note": "Neural models: 128 dimensions, one pass unless it says more, none tuned. (n): words it sees.",
        },
    )
