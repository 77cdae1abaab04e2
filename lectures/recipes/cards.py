"""Write a checkpoint: weights in half precision as safetensors, and the card that says how they were made."""

import hashlib
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save
from torch import Tensor, nn

from nlmcore.pretrained.checkpoints import Checkpoint, checkpoint, names
from lectures.recipes.recipe import MissingCheckpoint, Run, write_json

LIMIT = 3_000_000
"""Bytes that a checkpoint may have."""


def compared_with(name: str, recipe: str, folder: Path) -> Checkpoint:
    """The checkpoint of another recipe. Raises MissingCheckpoint, naming the command, if it is not there."""
    if name not in names(folder):
        raise MissingCheckpoint(f"this recipe compares with {name}: first run python -m lectures.recipes {recipe}")
    return checkpoint(name, folder)


def save_checkpoint(
    run: Run,
    name: str,
    model: nn.Module,
    config: dict[str, Any],
    tokenizers: list[Any],
    facts: dict[str, Any],
    trainings: list[str],
) -> Checkpoint:
    """Write NAME.safetensors and NAME.json, and load them back: what is measured is what was written.

    facts: what the card says besides (what, data, training, …). trainings: the names given to `Run.fit`.
    """
    own, same_as = _halves(model)
    content = save(own)
    if len(content) > LIMIT:
        raise ValueError(f"{name}.safetensors would have {len(content):,} bytes, at most {LIMIT:,} are allowed")
    card = {
        "name": name,
        **facts,
        "model": type(model).__name__,
        "config": config,
        "parameters": sum(p.numel() for p in model.parameters()),
        "weights": {
            "file": f"{name}.safetensors",
            "bytes": len(content),
            "sha256": hashlib.sha256(content).hexdigest(),
            "stored_as": "float16, computed with as float32; all figures are of the stored weights",
            "same_as": same_as,
        },
        "made_by": run.facts(*trainings),
        "tokenizers": [{"class": type(t).__name__, "json": t.to_json()} for t in tokenizers],
    }
    run.checkpoints.mkdir(parents=True, exist_ok=True)
    (run.checkpoints / f"{name}.safetensors").write_bytes(content)
    write_json(run.checkpoints / f"{name}.json", card)
    run.say(f"written: {name}.safetensors, {len(content):,} bytes")
    return checkpoint(name, run.checkpoints)


def add_figures(run: Run, name: str, figures: dict[str, Any]) -> None:
    """Complete the card with what was measured on the written checkpoint, and with the recipe's sample."""
    model, tokenizer, card = checkpoint(name, run.checkpoints)
    tokenizers = card.pop("tokenizers")  # long: last
    if run.recipe.sample is not None:
        card["sample"] = run.recipe.sample(model, tokenizer)
    write_json(run.checkpoints / f"{name}.json", card | {"figures": figures, "tokenizers": tokenizers})


def _halves(model: nn.Module) -> tuple[dict[str, Tensor], dict[str, str]]:
    """Weights in half precision; a tied weight is stored once."""
    own: dict[str, Tensor] = {}
    same_as: dict[str, str] = {}
    seen: dict[tuple[int, torch.Size], str] = {}
    for key, value in model.state_dict().items():
        place = (value.data_ptr(), value.shape)
        if place in seen:
            same_as[key] = seen[place]
            continue
        seen[place] = key
        own[key] = value.detach().half().contiguous().clone()
        if not own[key].isfinite().all():
            raise ValueError(f"{key} has values that half precision cannot hold")
    return own, same_as
