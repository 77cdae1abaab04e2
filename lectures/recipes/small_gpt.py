"""Checkpoint and figure: a GPT that a laptop trains in about three minutes, and what it writes on its way.

The lecture on the Transformer language model trains the same one live, from noise or from this checkpoint. So the
learning rate needs no end: it rises for 100 steps and then falls with 1/√step (Vaswani et al. 2017, section 5.3).
"""

import math
from functools import partial
from statistics import mean
from typing import Any

import torch
from lectures.trained import build
from nlmcore.decoding import sample as sampled
from nlmcore.tokens import CharTokenizer
from torch import Tensor, nn

from lectures.recipes.positions import Windows, next_loss
from lectures.recipes.run import Run, about, add_figures, recipe, save_checkpoint
from lectures.recipes.texts import plays

TIME, BATCH, STEPS, RATE, WARM_UP = 96, 8, 2000, 3e-3, 100
WRITES_AT = (0, 10, 30, 100, 200, 400, 1000, STEPS)
LETTERS, TEMPERATURE, PROMPT = 160, 0.8, "\n"


def config(run: Run, vocab_size: int) -> dict[str, Any]:
    """Pre-norm as in GPT-2, rotary positions."""
    return {
        "vocab_size": vocab_size,
        "d_model": run.size(96, 8),
        "n_heads": run.size(4, 2),
        "n_layers": run.size(3, 2),
        "max_length": run.size(TIME, 16),
        "positions": "none",
        "attention_positions": "rotary",
    }


def factor(step: int) -> float:
    """Of the learning rate: a line up to 1 at `WARM_UP`, then 1/√."""
    return min(step / WARM_UP, math.sqrt(WARM_UP / max(step, 1)))


def write(model: Any, tokenizer: CharTokenizer, letters: int) -> str:
    prompt = torch.tensor([tokenizer.encode(PROMPT)])
    draw = torch.Generator().manual_seed(0)
    written: Any = sampled(model, prompt, letters, temperature=TEMPERATURE, generator=draw)
    return tokenizer.decode(written.tokens[0].tolist())


def written_by(model: Any, tokenizer: CharTokenizer, letters: int) -> dict[str, Any]:
    return {"text": write(model, tokenizer, letters)}


def train(run: Run, tokenizer: CharTokenizer, text: Tensor, sizes: dict[str, Any]) -> tuple[nn.Module, dict[str, Any]]:
    """The model, all its losses, and what it wrote after so many steps: each time a training of its own, which repeats
    the shorter ones step by step."""
    batches = Windows(text, run.size(BATCH, 2), run.size(TIME, 16), 0)
    written, losses, letters = {}, [], run.size(LETTERS, 5)
    for step in run.size(WRITES_AT, (0, 2, 4)):
        model = run.build("small_gpt", partial(build, "TransformerLM", sizes))
        if step:
            losses = run.fit(
                "small_gpt", model, batches, loss=next_loss, steps=step, learning_rate=RATE, schedule=factor
            ).losses
        written[str(step)] = run.kept(f"written-{step}", partial(written_by, model, tokenizer, letters))["text"]
    return model, {"written": written, "losses": [round(loss, 3) for loss in losses]}


def quality_in_windows(model: Any, tokenizer: CharTokenizer, texts: list[str]) -> dict[str, float]:
    """Nats per character, in texts as long as in training."""
    longest = model.config.max_length
    rows = [torch.tensor(tokenizer.encode(text)).unfold(0, longest + 1, longest) for text in texts]
    with torch.no_grad():
        losses = [float(next_loss(model, (row, torch.tensor(0)))) for row in torch.cat(rows).split(32)]
    return {"nats_per_character": round(mean(losses), 4)}


def sample(model: Any, tokenizer: Any) -> dict[str, float]:
    """Quality on the beginning of the first test play."""
    return quality_in_windows(model, tokenizer, [plays().test[0][:3000]])


@recipe(3, "checkpoint:small_gpt result:small_gpt", sample=sample)
def cook(run: Run) -> None:
    shakespeare = plays(limit=run.size(None, 3000))
    tokenizer = CharTokenizer.fit(shakespeare.train)
    text = torch.tensor([i for play in shakespeare.train for i in tokenizer.encode(play)])
    sizes = config(run, tokenizer.vocab_size)
    model, found = train(run, tokenizer, text, sizes)
    training = {
        "steps": len(found["losses"]),
        "batch": BATCH,
        "time": TIME,
        "learning_rate": RATE,
        "schedule": f"{WARM_UP} steps of warm-up, then 1/√step",
        "optimizer": "AdamW, no weight decay, gradient clipped at 1",
    }
    facts = about("characters of Shakespeare, the next from the text before it", shakespeare, training)
    kept, _, _ = save_checkpoint(run, "small_gpt", model, sizes, [tokenizer], facts, ["small_gpt"])
    test = [play[:30_000] for play in shakespeare.test]
    figures = quality_in_windows(kept, tokenizer, test)
    add_figures(run, "small_gpt", {"test": figures})
    run.save_result(
        "small_gpt",
        {
            "question": "What does a GPT write while it learns?",
            "how": f"{sum(p.numel() for p in kept.parameters()):,} parameters, steps of {BATCH} × {TIME} characters of"
            f" Shakespeare; {LETTERS} characters sampled at temperature {TEMPERATURE:g}; one run",
            **found,
            "what_it_shows": f"loss {found['losses'][0]:.2f} at the first step,"
            f" {mean(found['losses'][-50:]):.2f} over the last; test plays {figures['nats_per_character']:.2f}",
        },
    )
