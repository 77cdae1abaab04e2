"""A text file becomes a GPT that writes like it.

    text -> 95 % to train on, 5 % held out -> byte pairs -> random windows -> GPT, AdamW, cosine -> best weights

The model has GPT-2's shape (Radford et al. 2019). Choices are nanoGPT's where it has them: betas (0.9, 0.95), matrices
decay by 0.1, gradients are clipped at 1, the rate rises for 5 % of the steps and falls along half a cosine to a tenth.
Departs from nanoGPT: byte pairs of the text itself, not GPT-2's; every epoch reads the whole text once, cut at a random
offset, in random order.
"""

import math
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from nlmcore.checks import Positive, Rate, Size, checked
from nlmcore.corpora.batches import StreamBatches
from nlmcore.tokens import BPETokenizer
from nlmcore.tool.saved import DESCRIPTION, checked_folder, save_model
from nlmcore.training import History, cosine_schedule, decay_groups, fit
from nlmcore.transformer import TransformerConfig, TransformerLM

CHECKPOINT = "training.checkpoint"


@checked
def train_file(
    path: str | Path,
    folder: str | Path,
    *,
    steps: Size = 1000,
    n_layers: Size = 4,
    n_heads: Size = 4,
    d_model: Size = 128,
    vocab_size: Size = 512,
    context: Size = 128,
    batch_size: Size = 16,
    learning_rate: Positive = 2e-3,
    dropout: Rate = 0.0,
    seed: int = 0,
    resume: bool = False,
    progress: bool = True,
) -> tuple[TransformerLM, BPETokenizer, History]:
    """Train on a UTF-8 text file and save into `folder`, where Ctrl-C and `resume` find their checkpoint too.

    Ctrl-C stops after the step that is running; what was trained until then is saved. `resume` goes on from there, with
    the other arguments as they were.

    Raises ValueError for a text that is too short or not UTF-8, or a vocab_size below 259, FileExistsError for a folder
    that holds a model or something else, or an unfinished training that is not to be resumed, and FileNotFoundError if
    there is none to resume, or no text.
    """
    place = checked_folder(folder)
    checkpoint = place / CHECKPOINT
    if checkpoint.exists() and not resume:
        raise FileExistsError(f"{place} holds a training that was not finished: resume it, or name another folder")
    if not resume and (place / DESCRIPTION).exists():
        raise FileExistsError(f"folder must be a new one, got {place}, which holds a finished model: name another")
    if resume and not checkpoint.exists():
        raise FileNotFoundError(f"{place} holds no training that was stopped: there is nothing to resume")
    file = Path(path).expanduser()
    if file.is_dir() or not file.exists():
        kind, got = (IsADirectoryError, "a folder") if file.is_dir() else (FileNotFoundError, "which is not there")
        raise kind(f"path must be a text file, got {path}, {got}")
    try:
        text = file.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"path must be a UTF-8 text file, got {path} ({error})") from error
    end = len(text) * 95 // 100
    end = text.rfind("\n", 0, end) + 1 or end  # at the end of a line, if there are any
    tokenizer = BPETokenizer.train(text[:end] or " ", vocab_size)
    train, held_out = (torch.tensor(tokenizer.encode(part), dtype=torch.long) for part in (text[:end], text[end:]))
    if len(train) <= batch_size * context or len(held_out) < 2:
        raise ValueError(
            f"path must hold more text: {path} has {len(train)} tokens to train on, and one step reads"
            f" {batch_size} × {context}: give a longer file, or a smaller batch_size or context"
        )
    place.mkdir(parents=True, exist_ok=True)  # if it cannot be made, better now than after the training
    torch.manual_seed(seed)
    config = TransformerConfig(
        vocab_size=tokenizer.vocab_size,
        d_model=d_model,
        n_heads=n_heads,
        n_layers=n_layers,
        max_length=context,
        dropout=dropout,
    )
    model = TransformerLM(config)
    optimizer = torch.optim.AdamW(decay_groups(model, 0.1), lr=learning_rate, betas=(0.9, 0.95), fused=True)
    history = fit(
        model,
        partial(windows, train, batch_size, context),
        steps=steps,
        optimizer=optimizer,
        schedule=partial(cosine_schedule, total=steps + 1, warmup=math.ceil(steps / 20), floor=0.1),
        validation=[*StreamBatches(held_out, min(batch_size, len(held_out) - 1), context)],
        evaluate_every=max(1, steps // 10),
        checkpoint=checkpoint,
        checkpoint_every=max(1, steps // 10),
        resume=resume,
        progress=progress,
    )
    save_model(place, model.eval(), tokenizer)
    if history.stopped != "interrupted":
        checkpoint.unlink()
    return model, tokenizer, history


def windows(tokens: Tensor, batch_size: int, length: int, epoch: int) -> Iterator[Any]:
    """The whole text once, cut at a random offset, in random order: (inputs, targets), (batch_size, length) each."""
    offset = int(torch.randint(length, ()))
    spare = (len(tokens) - 1) // batch_size > length  # a short text begins at its beginning
    batches = StreamBatches(tokens[offset if spare else 0 :], batch_size, length)
    return (batches[i] for i in torch.randperm(len(batches)).tolist())
