"""Checkpoint: an LSTM that has read Shakespeare character by character.

Karpathy, Johnson & Fei-Fei (2015), "Visualizing and understanding recurrent networks", trained such models and read
their cells; theirs have several layers of 512, this one has one layer that a laptop trains in minutes.
"""

from typing import Any

from nlmcore.metrics import bits_per_character
from nlmcore.recurrent import RecurrentLM
from nlmcore.tokens import CharTokenizer

from lectures.recipes.run import Run, about, add_figures, recipe, save_checkpoint, trained_for
from lectures.recipes.texts import Stream, as_document, in_rows, plays

LEARNING_RATE = 4e-3


def test_bits(model: Any, tokenizer: CharTokenizer, documents: list[str]) -> float:
    """Bits per character; <eos> is predicted and counts as a character."""
    rows = in_rows([as_document(tokenizer.encode(text)) for text in documents])
    return round(bits_per_character(model, rows, sum(len(text) + 1 for text in documents), ignore=0), 4)


def sample(model: Any, tokenizer: CharTokenizer) -> dict[str, float]:
    """Bits per character on the beginning of the first test play."""
    return {"bits_per_character": test_bits(model, tokenizer, [plays().test[0][:3000]])}


@recipe(4, "checkpoint:char_lstm", sample=sample)
def cook(run: Run) -> None:
    shakespeare = plays(limit=run.size(None, 3000))
    tokenizer = CharTokenizer.fit(shakespeare.train)
    stream = Stream(
        [as_document(tokenizer.encode(text)) for text in shakespeare.train],
        run.size(32, 4),
        run.size(64, 16),
        stretch=20,
    )
    passes = run.size(3, 1)
    steps = passes * stream.batches
    config: dict[str, Any] = {
        "vocab_size": tokenizer.vocab_size,
        "cell": "lstm",
        "d_embedding": 64,
        "d_hidden": run.size(256, 8),
    }
    model = run.build("char_lstm", lambda: RecurrentLM(**config))
    training = trained_for(
        steps,
        stream.batch,
        LEARNING_RATE,
        100,
        "; state carried on, gradient cut (truncated backpropagation)",
        passes=passes,
        time=stream.time,
        state_forgotten_every=f"{stream.stretch} batches, so that the model learns to begin",
    )
    run.fit_as("char_lstm", model, stream, training, carry_state=True)
    facts = about("characters of Shakespeare, the next from all before it in the play", shakespeare, training)
    model, tokenizer, _ = save_checkpoint(run, "char_lstm", model, config, [tokenizer], facts, ["char_lstm"])
    bits = test_bits(model, tokenizer, shakespeare.test)
    add_figures(run, "char_lstm", {"test_bits_per_character": bits, "test_perplexity": round(2**bits, 3)})
