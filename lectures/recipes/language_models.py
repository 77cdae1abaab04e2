"""A small GPT and an LSTM on Shakespeare: how they are trained, what is measured of them, and what a card says."""

import math
import statistics
from dataclasses import dataclass
from typing import Any

import torch
from nlmcore.metrics import log_likelihood
from lectures.trained import build
from nlmcore.training import History
from torch import nn

from lectures.recipes.run import Run, parameters
from lectures.recipes.texts import Stream, as_document, in_rows, plays

POINTS = 40
"""Of a training's curve."""


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


GPT_RATE, LSTM_RATE = 3e-3, 4e-3
BETAS, DECAY, WARM_UP = (0.9, 0.95), 0.1, 100
STRETCH = 20
"""An LSTM's state is forgotten after so many batches, as in `char_lstm`."""


def adamw(model: nn.Module, rate: float) -> torch.optim.Optimizer:
    """AdamW that pulls matrices towards 0, but no bias and no gain."""
    groups = [
        {"params": [p for p in model.parameters() if p.ndim > 1], "weight_decay": DECAY},
        {"params": [p for p in model.parameters() if p.ndim < 2], "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, lr=rate, betas=BETAS, fused=True)


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
    history = run.fit(name, model, stream, steps=steps, warm_up=WARM_UP, **options)
    return Trained(model, config, history, training)
