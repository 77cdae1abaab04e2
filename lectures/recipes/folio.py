"""Checkpoint: from the First Folio's spelling (1623) to modern spelling, word by word, letter by letter.

"haue" → "have", "vpon" → "upon", "seruice" → "service": a sequence-to-sequence model over letters with attention
(Bahdanau, Cho & Bengio 2015). It is trained and tested on distinct words, and no test word was trained on, so what it
does is spelling, not remembering. A word counts as right if any modern spelling that it was aligned with is written.
"""

from functools import partial
from typing import Any

from nlmcore.corpora import Corpus, Document, load
from nlmcore.metrics import error_rate, sequence_error_rate
from nlmcore.seq2seq import Seq2Seq
from nlmcore.tokens import CharTokenizer

from lectures.recipes.pairs import PairBatches, translate
from lectures.recipes.run import Run, about, add_figures, recipe, save_checkpoint, trained_for

LEARNING_RATE, BATCH = 2e-3, 64


def longest(letters: int) -> int:
    return 2 * letters + 5


def spelling(outputs: list[str], documents: list[Document]) -> dict[str, float]:
    """Words wrong and letters wrong, in percent, against the nearest modern spelling."""
    allowed = [[str(document.target), *document.alternatives] for document in documents]
    return {
        "word_error_rate": round(100 * sequence_error_rate(outputs, allowed, alternatives=True), 2),
        "letter_error_rate": round(100 * error_rate(outputs, allowed, alternatives=True), 2),
        "words": len(documents),
    }


def rewrite(model: Any, tokenizer: Any, words: list[str]) -> list[str]:
    """The modern spelling of each word, by greedy decoding."""
    written = translate(model, [tokenizer.source.encode(word) for word in words], longest)
    return [tokenizer.target.decode(ids, skip_special=True) for ids in written]


def sample(model: Any, tokenizer: Any) -> dict[str, float]:
    """Error rates on the first 100 words of the test."""
    documents = list(load("shakespeare_folio", unit="word").test[:100])
    return spelling(rewrite(model, tokenizer, [document.text for document in documents]), documents)


@recipe(3, "checkpoint:folio_to_modern", sample=sample)
def cook(run: Run) -> None:
    corpus: Corpus = load("shakespeare_folio", unit="word")
    limit = run.size(None, 60)
    train, test = corpus.train[:limit], list(corpus.test[:limit])
    source, target = CharTokenizer.fit(d.text for d in train), CharTokenizer.fit(str(d.target) for d in train)
    pairs = [(source.encode(d.text), target.encode(str(d.target))) for d in train]
    watched = [(source.encode(d.text), target.encode(str(d.target))) for d in corpus.valid[:limit]]
    config: dict[str, Any] = {
        "source_vocab_size": source.vocab_size,
        "target_vocab_size": target.vocab_size,
        "cell": "gru",
        "d_embedding": 48,
        "d_hidden": run.size(160, 8),
        "context": "attention",
        "score": "bilinear",
        "bidirectional": True,
        "dropout": 0.2,
    }
    epochs = run.size(8, 1)
    steps = epochs * -(-len(pairs) // BATCH)
    best = "; the weights with the lowest loss on valid"
    training = trained_for(steps, BATCH, LEARNING_RATE, 100, best, epochs=epochs)
    model: Any = run.build("folio_to_modern", partial(Seq2Seq, **config))
    validation = list(PairBatches(watched, 256, 0)(0))
    batches = PairBatches(pairs, BATCH, run.seed_of("order"))
    run.fit_as("folio_to_modern", model, batches, training, validation=validation)
    facts = about(
        "words of the First Folio (1623) into modern spelling, letter by letter, with attention",
        corpus,
        training,
        split=f"{len(train):,} distinct words; {corpus.split_rule}",
    )
    model, tokenizer, _ = save_checkpoint(
        run, "folio_to_modern", model, config, [source, target], facts, ["folio_to_modern"]
    )
    words = [document.text for document in test]
    changed = [d for d in test if d.text not in (d.target, *d.alternatives)]
    written = dict(zip(words, rewrite(model, tokenizer, words), strict=True))
    figures = {
        "left as they are": spelling(words, test),
        "model": spelling([written[word] for word in words], test),
        "model, words that must change": spelling([written[d.text] for d in changed], changed),
    }
    add_figures(run, "folio_to_modern", figures)
    run.say(", ".join(f"{d.text} → {written[d.text]}" for d in changed[:12]))
