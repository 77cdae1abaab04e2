"""The course's own small trained models, each a file of weights and a card that says how it was made.

    model, tokenizer, card = checkpoint("char_lstm")
    model, (source, target), card = checkpoint("pronunciation_attention")

NAME.json, the card, names the model and its configuration (`described` reads them), holds the tokenizers, and tells
data, split, seed, steps, time and figures. NAME.safetensors holds the weights, in half precision where the card says
so; they are computed with in single precision. Each is made again by the command in its card; `lectures.recipes` has
them all.
"""

import hashlib
import importlib
import json
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from nlmcore.pretrained.described import build

FOLDER = Path(__file__).parent / "checkpoints_data"

TOKENIZERS = ("CharTokenizer", "WordTokenizer", "BPETokenizer")


class SourceAndTarget(NamedTuple):
    """The two tokenizers of a translation.

    Its source is read as x_1 … x_n <eos>, its target begins with <bos>; without them the model writes nonsense.
    `lectures.recipes.pairs.translate(model, sources, longest)` puts both.
    """

    source: Any
    target: Any


class Checkpoint(NamedTuple):
    """What `checkpoint` gives back."""

    model: Any
    """In evaluation mode, in single precision."""
    tokenizer: Any
    """One, or for a translation a pair (source, target)."""
    card: dict[str, Any]


def checkpoint(name: str, folder: str | Path | None = None) -> Checkpoint:
    """The trained model of that name, its tokenizer (or pair of them), and its card.

    folder: where NAME.safetensors and NAME.json lie, if not in the package.

    Raises ValueError for an unknown name, and for files that were cut short, changed or do not belong together:
    nothing is then loaded, and the message says which command makes the checkpoint again.
    """
    if not isinstance(folder, str | Path | None):
        raise TypeError(f"folder must be a path or None, got {folder!r}")
    place = FOLDER if folder is None else Path(folder)
    if not isinstance(name, str):
        raise TypeError(f"name must be a string, got {name!r}")
    if name not in names(place):
        raise ValueError(f"name must be one of {', '.join(names(place)) or '(no checkpoint is there)'}, got {name!r}")
    card = read_card(place / f"{name}.json")
    try:
        content = (place / f"{name}.safetensors").read_bytes()
    except FileNotFoundError:
        raise ValueError(f"{name}.safetensors is missing beside its card. {_again(card)}") from None
    if len(content) != card["weights"]["bytes"]:
        raise ValueError(
            f"{name}.safetensors has {len(content)} bytes, its card says {card['weights']['bytes']}:"
            f" it was cut short or is another file. {_again(card)}"
        )
    if hashlib.sha256(content).hexdigest() != card["weights"]["sha256"]:
        raise ValueError(f"{name}.safetensors was damaged or is not the one of its card. {_again(card)}")
    model = build(card["model"], card["config"])
    _fill(model, content, name, card)
    tokenizers = [_tokenizer(entry) for entry in card["tokenizers"]]
    return Checkpoint(model.eval(), SourceAndTarget(*tokenizers) if len(tokenizers) == 2 else tokenizers[0], card)


def names(folder: str | Path | None = None) -> list[str]:
    """The checkpoints that are there."""
    place = FOLDER if folder is None else Path(folder)
    return sorted(file.stem for file in place.glob("*.json"))


def read_card(path: Path) -> dict[str, Any]:
    """The card; ValueError if it is no whole card."""
    try:
        card = json.loads(path.read_text(encoding="utf-8"))
        missing = {"model", "config", "tokenizers", "weights", "made_by"} - set(card)
    except (json.JSONDecodeError, UnicodeDecodeError, TypeError) as error:
        raise ValueError(
            f"{path.name} is no whole card: {error}. `python -m lectures.recipes` lists what makes it"
        ) from None
    if missing:
        raise ValueError(f"{path.name} is no whole card: it lacks {', '.join(sorted(missing))}")
    return card


def _tokenizer(entry: dict[str, Any]) -> Any:
    if entry["class"] not in TOKENIZERS:
        raise ValueError(f"a tokenizer must be one of {', '.join(TOKENIZERS)}, got {entry['class']!r}")
    return getattr(importlib.import_module("nlmcore.tokens"), entry["class"]).from_json(entry["json"])


def _fill(model: nn.Module, content: bytes, name: str, card: dict[str, Any]) -> None:
    """Give the model its weights: all of them, or none."""
    from safetensors import SafetensorError
    from safetensors.torch import load

    try:
        weights: dict[str, Tensor] = load(content)
    except SafetensorError as error:
        raise ValueError(f"{name}.safetensors is no safetensors file ({error}). {_again(card)}") from None
    wanted = model.state_dict()
    weights |= {alias: weights[other] for alias, other in card["weights"]["same_as"].items() if other in weights}
    shapes = {key: tuple(value.shape) for key, value in wanted.items()}
    given = {key: tuple(value.shape) for key, value in weights.items()}
    if shapes != given:
        key = min(key for key in shapes.keys() | given.keys() if shapes.get(key) != given.get(key))
        raise ValueError(
            f"{name}.safetensors does not fit the configuration in its card: {key} is {given.get(key, 'absent')},"
            f" the model has {shapes.get(key, 'none')}. {_again(card)}"
        )
    with torch.no_grad():
        for key, value in wanted.items():
            value.copy_(weights[key])


def _again(card: dict[str, Any]) -> str:
    return f"Make it again with: {card['made_by']['command']}"
