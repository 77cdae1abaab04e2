"""A small GPT and LSTMs on the same text, tokens and split, at matched parameters and at matched time.

Two trainings for one tokenizer:

    GPT      so many steps
    LSTM     as many parameters, and as many steps as fit into the time that the GPT's training takes

and beside them, where there is one, the LSTM of part one, as it is committed.

Time is that of a step on one core, measured for all in turns (`seconds_per_step`): the wall time of a training on a
machine that others share says less. How many steps fit is a constant of the recipe, so that the same seed gives the
same weights on any machine; the result says how well it met the time here. The curves show the training loss after as
much text, too; there the rates stand at different points of their schedules.

Every model reads the test plays from their beginning and carries its state along, and predicts every token. Perplexity
is per token; bits per character compare between tokenizers.

The GPT: pre-norm (Radford et al. 2019), tied embeddings; rotary positions (Su et al. 2021) and a sliding window
(Beltagy et al. 2020, section 3.1), trained on rows of twice the window, so that it can read and write on without end
as an LSTM can. Optimiser as in nanoGPT (Karpathy 2022): AdamW, weight decay on matrices only, clipping at 1. The
LSTMs: `char_lstm`'s optimiser and schedule. None was tuned beyond a few trials on 600,000 characters, in which rotary
positions reached 2.9 bits per character where learned ones stood at 3.4, and Glorot's first weights were 0.02 bits
ahead of GPT-2's, which were kept.

It is done twice: on characters (`char_gpt`), and on byte pairs (`bpe_gpt`), whose tokenizer is trained on the training
plays. One byte-pair token spells about three characters, so the same window shows three times as much text.
"""

import math
from bisect import bisect
from dataclasses import dataclass
from typing import Any

from lectures.trained import FOLDER, build, names
from nlmcore.tokens import BPETokenizer, CharTokenizer

from lectures.recipes.costs import SECONDS_ARE, random_tokens, seconds_per_step
from lectures.recipes.language_models import STRETCH, Trained, curve, quality, sample, train_gpt, train_lstm
from lectures.recipes.run import Run, about, add_figures, compared_with, parameters, recipe, save_checkpoint
from lectures.recipes.texts import Plays, Stream, as_document, plays

LARGEST = 2000
"""Hidden size of an LSTM."""
MATCHED, PART_ONE = "LSTM, matched parameters and time", "LSTM of part one"


@dataclass(frozen=True)
class Plan:
    """Sizes of one comparison."""

    gpt: dict[str, Any]
    lstm_embedding: int
    steps: int
    """Of the GPT."""
    lstm_steps: int
    """Of the LSTM: as many as take the GPT's time."""
    gpt_batch: tuple[int, int]
    lstm_batch: tuple[int, int]
    """(rows, tokens) of a batch, in the shape that suits each."""
    part_one: str | None = None
    """The checkpoint of part one that was trained on the same tokens."""


def gpt_config(vocab_size: int, d_model: int, n_heads: int, n_layers: int, window: int) -> dict[str, Any]:
    """As a card describes it."""
    return {
        "vocab_size": vocab_size,
        "d_model": d_model,
        "n_heads": n_heads,
        "n_layers": n_layers,
        "max_length": 2 * window,
        "window": window,
        "positions": "none",
        "attention_positions": "rotary",
    }


def lstm_config(vocab_size: int, embedding: int, wanted: int) -> dict[str, Any]:
    """An LSTM of about `wanted` parameters."""

    def sizes(hidden: int) -> dict[str, Any]:
        return {"vocab_size": vocab_size, "cell": "lstm", "d_embedding": embedding, "d_hidden": hidden}

    def count(hidden: int) -> int:
        return parameters(build("RecurrentLM", sizes(hidden)))

    above = bisect(range(LARGEST), wanted, lo=1, key=count)
    return sizes(min((max(1, above - 1), above), key=lambda hidden: abs(count(hidden) - wanted)))


def compare(run: Run, name: str, what: str, plan: Plan, tokenizer: Any, shakespeare: Plays) -> None:
    """Train both, keep the GPT as checkpoint `name` and the comparison as result `name`."""
    documents = [as_document(tokenizer.encode(text)) for text in shakespeare.train]
    gpt = train_gpt(run, name, plan.gpt, Stream(documents, *plan.gpt_batch), plan.steps)
    facts = about(f"{what} of Shakespeare, the next from the text before it", shakespeare, gpt.training)
    kept, _, _ = save_checkpoint(run, name, gpt.model, gpt.config, [tokenizer], facts, [name])
    figures = {"GPT": quality(kept, tokenizer, shakespeare.test)}
    add_figures(run, name, {"test": figures["GPT"]})

    small = lstm_config(tokenizer.vocab_size, plan.lstm_embedding, parameters(gpt.model))
    lstm = train_lstm(run, f"{name}-lstm-time", small, Stream(documents, *plan.lstm_batch, STRETCH), plan.lstm_steps)
    figures[MATCHED] = quality(lstm.model, tokenizer, shakespeare.test)
    trained = {"GPT": gpt, MATCHED: lstm}
    if plan.part_one is not None:
        trained[PART_ONE], figures[PART_ONE] = committed(run, plan.part_one)
    models = {title: (t.model, random_tokens(t.model, t.shape)) for title, t in trained.items()}
    seconds = seconds_per_step(models, run.size(15, 2))
    rows = {title: figures[title] | t.row(seconds[title]) for title, t in trained.items()}
    curves = {
        title: curve(t.history, math.prod(t.shape), seconds[title])
        for title, t in trained.items()
        if t.history is not None
    }
    split = shakespeare.split
    run.save_result(
        name,
        {
            "question": f"A small GPT against LSTMs on the same {what} of Shakespeare.",
            "split": split,
            "rows": rows,
            "seconds_are": SECONDS_ARE,
            "curves": curves,
            "curves_are": "training loss, the mean of each stretch",
            "what_it_shows": shown(rows),
        },
    )


def committed(run: Run, name: str) -> tuple[Trained, dict[str, float]]:
    """The LSTM of part one, and what its card says of its quality."""
    folder = run.checkpoints if name in names(run.checkpoints) else FOLDER
    model, _, card = compared_with(name, name, folder)
    found = card["figures"]
    figures = {"perplexity": found["test_perplexity"], "bits_per_character": found["test_bits_per_character"]}
    return Trained(model, card["config"], None, card["training"]), figures


def shown(rows: dict[str, Any]) -> str:
    """Who is ahead, and by how much."""
    gpt, lstm = rows["GPT"], rows[MATCHED]
    ours, theirs = gpt["bits_per_character"], lstm["bits_per_character"]
    ahead = "the GPT" if ours < theirs else "the LSTM" if theirs < ours else "neither"
    return (
        f"at matched parameters and time, {ahead} is ahead by {abs(ours - theirs):.3f} bits per character; the LSTM"
        f" reads {lstm['tokens'] / gpt['tokens']:.1f} times as much text in that time"
    )


STEPS, LSTM_STEPS = 3000, 3100


@recipe(10, "checkpoint:char_gpt result:char_gpt", sample=sample)
def cook_char_gpt(run: Run) -> None:
    """A small GPT on characters of Shakespeare, and an LSTM at matched parameters and time."""
    shakespeare = plays(limit=run.size(None, 3000))
    tokenizer = CharTokenizer.fit(shakespeare.train)
    plan = Plan(
        gpt=gpt_config(tokenizer.vocab_size, run.size(128, 8), run.size(4, 2), run.size(4, 2), run.size(128, 8)),
        lstm_embedding=run.size(64, 4),
        steps=run.size(STEPS, 4),
        lstm_steps=run.size(LSTM_STEPS, 6),
        gpt_batch=run.size((4, 256), (4, 16)),
        lstm_batch=run.size((32, 64), (8, 8)),
        part_one="char_lstm",
    )
    compare(run, "char_gpt", "characters", plan, tokenizer, shakespeare)


VOCABULARY = 1024
BPE_STEPS, LSTM_BPE_STEPS = 1500, 1450


@recipe(6, "checkpoint:bpe_gpt result:bpe_gpt", sample=sample)
def cook_bpe_gpt(run: Run) -> None:
    """A small GPT on byte-pair tokens of Shakespeare, and an LSTM at matched parameters and time."""
    shakespeare = plays(limit=run.size(None, 3000))
    tokenizer = BPETokenizer.train(shakespeare.train, run.size(VOCABULARY, 300))
    plan = Plan(
        gpt=gpt_config(tokenizer.vocab_size, run.size(128, 8), run.size(4, 2), run.size(4, 2), run.size(128, 8)),
        lstm_embedding=run.size(128, 4),
        steps=run.size(BPE_STEPS, 4),
        lstm_steps=run.size(LSTM_BPE_STEPS, 6),
        gpt_batch=run.size((4, 256), (4, 16)),
        lstm_batch=run.size((32, 64), (8, 8)),
    )
    compare(run, "bpe_gpt", "byte-pair tokens", plan, tokenizer, shakespeare)
