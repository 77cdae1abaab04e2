"""The course's own small trained models, each a file of weights and a card that says how it was made.

    model, tokenizer, card = checkpoint("char_lstm")
    model, (source, target), card = checkpoint("pronunciation_attention")

NAME.json, the card, names the model and its configuration (`build` reads them), holds the tokenizers, and tells data,
split, seed, steps, time and figures. NAME.safetensors holds the weights, in half precision where the card says so;
they are computed with in single precision. Each is made again by the command in its card; `lectures.recipes` has them
all.

In a card, sizes are numbers. A part of a Transformer, which is a callable in `TransformerConfig`, is a name there, and
`parts` is the whole list of them: a card can name nothing else, so a file from elsewhere runs no code but ours.
"""

import copy
import hashlib
import importlib
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from lectures import stored

FOLDER = Path(__file__).parent / "checkpoints"

TOKENIZERS = ("CharTokenizer", "WordTokenizer", "BPETokenizer")

BUILDERS = {
    "FeedForwardLM": "nlmcore.feedforward",
    "TextCNN": "nlmcore.convolutional",
    "RecurrentLM": "nlmcore.recurrent",
    "SequenceTagger": "nlmcore.recurrent",
    "SequenceClassifier": "nlmcore.recurrent",
    "Seq2Seq": "nlmcore.seq2seq",
    "NeuralEditor": "nlmcore.seq2seq",
    "TransformerLM": "nlmcore.transformer",
    "MaskedLM": "nlmcore.transformer",
    "EncoderDecoder": "nlmcore.transformer",
    "WordVectors": "nlmcore.word2vec",
    "Captioner": "nlmcore.vision",
}
IMAGE_ENCODERS = ("ConvEncoder", "VisionTransformer")
"""The classes that a card may name as its model, and where they are; loaded when one is asked for."""


class SourceAndTarget(NamedTuple):
    """The two tokenizers of a translation.

    Its source is read as x_1 … x_n <eos>, its target begins with <bos>; without them the model writes nonsense.
    `lectures.recipes.pairs.translate(model, sources, longest)` puts both.
    """

    source: Any
    target: Any


class Checkpoint(NamedTuple):
    """What `checkpoint` gives back: the model in evaluation mode, in single precision."""

    model: Any
    tokenizer: Any
    """One, or for a translation a pair (source, target)."""
    card: dict[str, Any]


def checkpoint(name: str, folder: str | Path | None = None) -> Checkpoint:
    """The trained model of that name, its tokenizer (or pair of them), and its card.

    folder: where NAME.safetensors and NAME.json lie, if not in `lectures/checkpoints`.

    Raises ValueError for an unknown name, and for files that were cut short, changed or do not belong together:
    nothing is then loaded, and the message says which command makes the checkpoint again.
    """
    if not isinstance(folder, str | Path | None):
        raise TypeError(f"folder must be a path or None, got {folder!r}")
    if not isinstance(name, str):
        raise TypeError(f"name must be a string, got {name!r}")
    place = FOLDER if folder is None else Path(folder)
    if name not in names(place):
        raise ValueError(
            f"name must be one of {', '.join(names(place)) or '(no checkpoint is there)'}, got {name!r}"
        )
    card, file = read_card(place / f"{name}.json"), place / f"{name}.safetensors"
    content = _content(file, card)
    model = build(card["model"], card["config"])
    _fill(model, content, file.name, card)
    tokenizers = [_tokenizer(entry) for entry in card["tokenizers"]]
    return Checkpoint(
        model.eval(),
        SourceAndTarget(*tokenizers) if len(tokenizers) == 2 else tokenizers[0],
        card,
    )


def tuned(name: str, model: Any) -> tuple[Any, Any]:
    """(a copy of SmolLM2 with an adapter, the adapter) as `python -m lectures.recipes.tuned_layers` stored it.

    With `adapter.off()` the copy is the untuned model. Raises ValueError as `checkpoint` does.
    """
    from nlmcore.transfer import LoRA

    known = stored("tuned_layers/adapters")
    if name not in known:
        raise ValueError(f"name must be one of {', '.join(known)}, got {name!r}")
    card, file = known[name], FOLDER / f"{name}.safetensors"
    content, copied = _content(file, card), copy.deepcopy(model)
    places = tuple(f"layers.{card['first'] + i}." for i in range(card["layers"]))
    adapter = LoRA(copied, card["rank"], where=lambda matrix: matrix.startswith(places))
    _fill(adapter, content, file.name, card)
    return copied, adapter


def names(folder: str | Path = FOLDER) -> list[str]:
    """The checkpoints that are there."""
    return sorted(file.stem for file in Path(folder).glob("*.json"))


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
        raise ValueError(
            f"a tokenizer must be one of {', '.join(TOKENIZERS)}, got {entry['class']!r}"
        )
    return getattr(importlib.import_module("nlmcore.tokens"), entry["class"]).from_json(
        entry["json"]
    )


def _content(path: Path, card: dict[str, Any]) -> bytes:
    """The file of weights, which must be the one that the card was written for."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise ValueError(f"{path.name} is missing beside its card. {_again(card)}") from None
    if len(content) != card["weights"]["bytes"]:
        raise ValueError(
            f"{path.name} has {len(content)} bytes, its card says {card['weights']['bytes']}:"
            f" it was cut short or is another file. {_again(card)}"
        )
    if hashlib.sha256(content).hexdigest() != card["weights"]["sha256"]:
        raise ValueError(f"{path.name} was damaged or is not the one of its card. {_again(card)}")
    return content


def _fill(model: nn.Module, content: bytes, file: str, card: dict[str, Any]) -> None:
    """Give the model its weights: all of them, or none."""
    from safetensors import SafetensorError
    from safetensors.torch import load

    try:
        weights: dict[str, Tensor] = load(content)
    except SafetensorError as error:
        raise ValueError(f"{file} is no safetensors file ({error}). {_again(card)}") from None
    wanted = model.state_dict()
    weights |= {
        alias: weights[other]
        for alias, other in card["weights"]["same_as"].items()
        if other in weights
    }
    shapes = {key: tuple(value.shape) for key, value in wanted.items()}
    given = {key: tuple(value.shape) for key, value in weights.items()}
    if shapes != given:
        key = min(
            key for key in shapes.keys() | given.keys() if shapes.get(key) != given.get(key)
        )
        raise ValueError(
            f"{file} does not fit the configuration in its card: {key} is {given.get(key, 'absent')},"
            f" the model has {shapes.get(key, 'none')}. {_again(card)}"
        )
    with torch.no_grad():
        for key, value in wanted.items():
            value.copy_(weights[key])


def _again(card: dict[str, Any]) -> str:
    return f"Make it again with: {card['made_by']['command']}"


def build(name: str, config: dict[str, Any]) -> nn.Module:
    """An untrained model, as a card describes it. ValueError for a class or a part that is not in the lists.

        build("TransformerLM", {"vocab_size": 82, "d_model": 128, …, "positions": "none"})

    A TransformerLM or MaskedLM is described by the fields of its configuration, parts by name; an EncoderDecoder as well, its two
    halves differing only in their vocabulary.
    """
    if name not in BUILDERS:
        raise ValueError(f"model must be one of {', '.join(BUILDERS)}, got {name!r}")
    module = importlib.import_module(BUILDERS[name])
    model = getattr(module, name)
    if name in ("TransformerLM", "MaskedLM"):
        return model(module.TransformerConfig(**with_parts(config)))
    if name == "EncoderDecoder":
        sizes = with_parts(config)
        source, target = sizes.pop("source_vocab_size"), sizes.pop("target_vocab_size")
        return model(
            *(module.TransformerConfig(vocab_size=size, **sizes) for size in (target, source))
        )
    if name == "Captioner":
        encoder = dict(config["encoder"])
        if encoder["class"] not in IMAGE_ENCODERS:
            raise ValueError(
                f"encoder must be one of {', '.join(IMAGE_ENCODERS)}, got {encoder['class']!r}"
            )
        reads = getattr(module, encoder.pop("class"))(**encoder)
        return model(**config | {"encoder": reads})
    return model(**config)


def parts() -> dict[str, dict[str, Callable]]:
    """Field of `TransformerConfig` -> name in a card -> what the field is given."""
    from nlmcore.norms import RMSNorm
    from nlmcore.positions import (
        ALiBi,
        LearnedPositions,
        MusicTransformerPositions,
        NoPositions,
        RelativeBias,
        Rotary,
        SinusoidalPositions,
    )
    from nlmcore.transformer import FeedForward, GatedFeedForward

    return {
        "positions": {
            "learned": LearnedPositions,
            "sinusoidal": SinusoidalPositions,
            "none": NoPositions,
        },
        "attention_positions": {
            "rotary": Rotary,
            "alibi": ALiBi,
            "t5": RelativeBias,
            "relative": MusicTransformerPositions,
        },
        "norm": {"layer": nn.LayerNorm, "rms": RMSNorm},
        "feed_forward": {
            "relu": partial(FeedForward, activation=nn.functional.relu),
            "gelu": FeedForward,
            "swiglu": GatedFeedForward,
        },
    }


def with_parts(config: dict[str, Any]) -> dict[str, Any]:
    """The same, names of parts replaced by the parts."""
    found = dict(config)
    for field, by_name in parts().items():
        if field in found:
            if found[field] not in by_name:
                raise ValueError(
                    f"{field} must be one of {', '.join(by_name)}, got {found[field]!r}"
                )
            found[field] = by_name[found[field]]
    return found
