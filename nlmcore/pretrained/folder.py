"""A folder as Hugging Face lays it out: config.json and model.safetensors, or several such files and their index.

Nothing in it is run: safetensors holds numbers alone, and pytorch_model.bin, which may hold a program, is not read.
"""

import json
from pathlib import Path
from typing import Any

from torch import Tensor


def read_weights(folder: Path) -> dict[str, Tensor]:
    """Everything in model.safetensors; where that is missing, in the files that model.safetensors.index.json names."""
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    one, index = "model.safetensors", folder / "model.safetensors.index.json"
    names = _files(index) if index.is_file() and not (folder / one).is_file() else [one]
    weights: dict[str, Tensor] = {}
    for name in names:
        if not (folder / name).is_file():
            other = " (pytorch_model.bin is not read: it may run code; save it as safetensors)"
            hint = other if (folder / "pytorch_model.bin").is_file() else ""
            raise FileNotFoundError(f"{folder} has no {name}{hint}")
        try:
            weights |= load_file(folder / name)
        except SafetensorError as error:
            raise ValueError(f"{name} is damaged ({error}). Copy it again from where you have it") from error
    return weights


def _files(index: Path) -> list[str]:
    files = read_json(index).get("weight_map")
    if not isinstance(files, dict) or not all(isinstance(name, str) for name in files.values()):
        raise ValueError(f"{index.name} has no weight_map that says which weight is in which file, got {files!r:.60}")
    return sorted(set(files.values()))


def read_json(path: Path) -> dict[str, Any]:
    """A JSON object. Raises FileNotFoundError if there is none, ValueError if it is broken."""
    if not path.is_file():
        raise FileNotFoundError(f"{path.parent} has no {path.name}: it is no folder of a Hugging Face model")
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path.name} is no whole JSON file: {error}") from None
    if not isinstance(content, dict):
        raise ValueError(f"{path.name} must hold an object, got {type(content).__name__}")
    return content
