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
"""

import math
import statistics
import time
from bisect import bisect
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from nlmcore.metrics import log_likelihood
from nlmcore.pretrained.checkpoints import FOLDER, checkpoint, names
from nlmcore.pretrained.described import build
from nlmcore.recipes.capacity import parameters
from nlmcore.recipes.cards import add_figures, save_checkpoint
from nlmcore.recipes.recipe import MissingCheckpoint, Run, table
from nlmcore.recipes.shakespeare import Plays, plays
from nlmcore.recipes.streams import Stream, as_document, in_rows
from nlmcore.training import History, cosine_schedule, teacher_forcing_loss

GPT_RATE, LSTM_RATE = 3e-3, 4e-3
BETAS, DECAY, WARM_UP = (0.9, 0.95), 0.1, 100
STRETCH = 20
"""An LSTM's state is forgotten after so many batches, as in `char_lstm`."""
LARGEST = 1000
"""Hidden size of an LSTM."""
MATCHED, PART_ONE = "LSTM, matched parameters and time", "LSTM of part one"
POINTS = 40
"""Of a training's curve."""


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
        return {"vocab_size": vocab_size, "cell": "lstm", "embedding_size": embedding, "hidden_size": hidden}

    def count(hidden: int) -> int:
        return parameters(build("RecurrentLM", sizes(hidden)))

    above = bisect(range(LARGEST), wanted, lo=1, key=count)
    return sizes(min((max(1, above - 1), above), key=lambda hidden: abs(count(hidden) - wanted)))


def adamw(model: nn.Module, rate: float) -> torch.optim.Optimizer:
    """AdamW that pulls matrices towards 0, but no bias and no gain."""
    groups = [
        {"params": [p for p in model.parameters() if p.ndim > 1], "weight_decay": DECAY},
        {"params": [p for p in model.parameters() if p.ndim < 2], "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, lr=rate, betas=BETAS, fused=True)


def seconds_per_step(models: dict[str, tuple[nn.Module, tuple[int, int]]], rounds: int) -> dict[str, float]:
    """Processor time of a training step of each model, the median of `rounds` that were measured in turns."""
    taken: dict[str, list[float]] = {name: [] for name in models}
    optimizers = {
        name: torch.optim.AdamW(model.parameters(), lr=0.0, fused=True) for name, (model, _) in models.items()
    }
    for _ in range(rounds + 1):
        for name, (model, (rows, length)) in models.items():
            vocab_size: Any = model.vocab_size
            tokens = torch.randint(vocab_size, (rows, length + 1))
            began = time.process_time()
            optimizers[name].zero_grad(set_to_none=True)
            teacher_forcing_loss(model, tokens).backward()  # type: ignore[arg-type]
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizers[name].step()
            taken[name].append(time.process_time() - began)
    return {name: statistics.median(values[1:]) for name, values in taken.items()}


def quality(model: Any, tokenizer: Any, texts: list[str]) -> dict[str, float]:
    """Perplexity per token, and bits per character; <eos> is predicted and counts as a character."""
    rows = in_rows([as_document(tokenizer.encode(text)) for text in texts])
    total, predicted = log_likelihood(model, rows, ignore=0, chunk=256)
    characters = sum(len(text) + 1 for text in texts)
    return {
        "perplexity": round(math.exp(-total / predicted), 3),
        "bits_per_character": round(-total / math.log(2) / characters, 4),
    }


def sample(model: Any, tokenizer: Any) -> dict[str, float]:
    """Quality on the beginning of the first test play."""
    return quality(model, tokenizer, [plays().test[0][:3000]])


def curve(history: History, tokens: int, seconds: float | int) -> dict[str, list[Any]]:
    """The training loss in stretches: after how many tokens and seconds, its mean over the stretch."""
    size = max(1, len(history.losses) // POINTS)
    ends = range(size, len(history.losses) + 1, size)
    return {
        "tokens": [end * tokens for end in ends],
        "seconds": [round(end * seconds, 1) for end in ends],
        "nats_per_token": [round(statistics.fmean(history.losses[end - size : end]), 4) for end in ends],
    }


@dataclass(frozen=True)
class Trained:
    """One training, and what the card says of it."""

    model: Any
    config: dict[str, Any]
    history: History | None
    """None: it was trained elsewhere."""
    training: dict[str, Any]

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, tokens) of a batch."""
        return self.training["batch"], self.training["time"]

    def row(self, seconds: float) -> dict[str, Any]:
        """What the result says of it, if a step takes so long."""
        steps = self.training["steps"]
        return {
            "parameters": parameters(self.model),
            "tokens": steps * math.prod(self.shape),
            "seconds": round(steps * seconds, 1),
            "seconds_per_step": round(seconds, 4),
            "training": self.training,
        }


def train_gpt(run: Run, name: str, config: dict[str, Any], stream: Stream, steps: int) -> Trained:
    training = {
        "steps": steps,
        "passes": round(steps / stream.batches, 2),
        "batch": stream.batch,
        "time": stream.time,
        "learning_rate": GPT_RATE,
        "schedule": f"cosine to 0, {WARM_UP} steps of warm-up; no state carried between batches",
        "optimizer": f"AdamW, betas {BETAS}, weight decay {DECAY} on matrices, gradient clipped at 1",
    }
    model = run.build(name, lambda: build("TransformerLM", config))
    return _train(run, name, model, config, stream, training, optimizer=adamw(model, GPT_RATE))


def train_lstm(run: Run, name: str, config: dict[str, Any], stream: Stream, steps: int) -> Trained:
    training = {
        "steps": steps,
        "passes": round(steps / stream.batches, 2),
        "batch": stream.batch,
        "time": stream.time,
        "learning_rate": LSTM_RATE,
        "schedule": f"cosine to 0, {WARM_UP} steps of warm-up; state carried on, gradient cut, forgotten every"
        f" {STRETCH} batches",
        "optimizer": "AdamW, no weight decay, gradient clipped at 1",
    }
    model = run.build(name, lambda: build("RecurrentLM", config))
    return _train(run, name, model, config, stream, training, learning_rate=LSTM_RATE, carry_state=True)


def _train(
    run: Run, name: str, model: Any, config: dict[str, Any], stream: Stream, training: dict[str, Any], **options: Any
) -> Trained:
    steps: int = training["steps"]
    history = run.fit(
        name,
        model,
        stream,
        {**config, **training},
        steps=steps,
        schedule=lambda step: cosine_schedule(step, steps, min(WARM_UP, steps - 1)),
        **options,
    )
    return Trained(model, config, history, training)


def compare(run: Run, name: str, what: str, plan: Plan, tokenizer: Any, shakespeare: Plays) -> None:
    """Train both, keep the GPT as checkpoint `name` and the comparison as result `name`."""
    documents = [as_document(tokenizer.encode(text)) for text in shakespeare.train]
    gpt = train_gpt(run, name, plan.gpt, Stream(documents, *plan.gpt_batch), plan.steps)
    facts = {
        "what": f"{what} of Shakespeare, the next from the text before it",
        "data": {"source": shakespeare.source, "split": shakespeare.split},
        "training": gpt.training,
    }
    kept, _, _ = save_checkpoint(run, name, gpt.model, gpt.config, [tokenizer], facts, [name])
    figures = {"GPT": quality(kept, tokenizer, shakespeare.test)}
    add_figures(run, name, {"test": figures["GPT"]})

    small = lstm_config(tokenizer.vocab_size, plan.lstm_embedding, parameters(gpt.model))
    lstm = train_lstm(run, f"{name}-lstm-time", small, Stream(documents, *plan.lstm_batch, STRETCH), plan.lstm_steps)
    figures[MATCHED] = quality(lstm.model, tokenizer, shakespeare.test)
    trained = {"GPT": gpt, MATCHED: lstm}
    if plan.part_one is not None:
        trained[PART_ONE], figures[PART_ONE] = committed(run, plan.part_one)
    seconds = seconds_per_step({t: (trained[t].model, trained[t].shape) for t in trained}, run.size(15, 2))
    rows = {title: figures[title] | t.row(seconds[title]) for title, t in trained.items()}
    curves = {
        title: curve(t.history, math.prod(t.shape), seconds[title])
        for title, t in trained.items()
        if t.history is not None
    }
    report(run, name, what, rows, curves, shakespeare.split)


def committed(run: Run, name: str) -> tuple[Trained, dict[str, float]]:
    """The LSTM of part one, and what its card says of its quality."""
    folder = run.checkpoints if name in names(run.checkpoints) else FOLDER
    if name not in names(folder):
        raise MissingCheckpoint(f"this recipe compares with {name}: first run python -m nlmcore.recipes {name}")
    model, _, card = checkpoint(name, folder)
    found = card["figures"]
    figures = {"perplexity": found["test_perplexity"], "bits_per_character": found["test_bits_per_character"]}
    return Trained(model, card["config"], None, card["training"]), figures


def report(run: Run, name: str, what: str, rows: dict[str, Any], curves: dict[str, Any], split: str) -> None:
    lines = [
        [title, r["parameters"], r["tokens"], r["seconds"], r["perplexity"], r["bits_per_character"]]
        for title, r in rows.items()
    ]
    head = ["", "parameters", "tokens read", "seconds", "perplexity per token", "bits per character"]
    run.say("\n" + table(head, lines))
    run.save_result(
        name,
        {
            "question": f"A small GPT against LSTMs on the same {what} of Shakespeare.",
            "split": split,
            "rows": rows,
            "seconds_are": "steps times the processor time of one step on one core, measured in turns at the end",
            "curves": curves,
            "curves_are": "training loss, the mean of each stretch",
            "what_it_shows": shown(rows),
        },
    )


def shown(rows: dict[str, Any]) -> str:
    """Who is ahead, and by how much."""
    gpt, lstm = rows["GPT"], rows[MATCHED]
    ours, theirs = gpt["bits_per_character"], lstm["bits_per_character"]
    ahead = "the GPT" if ours < theirs else "the LSTM" if theirs < ours else "neither"
    return (
        f"at matched parameters and time, {ahead} is ahead by {abs(ours - theirs):.3f} bits per character; the LSTM"
        f" reads {lstm['tokens'] / gpt['tokens']:.1f} times as much text in that time"
    )
