"""Word vectors in a safetensors file, and back; a file that is cut short or holds something else is refused."""

import json
import os
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor


def save(
    path: str | os.PathLike[str],
    kind: str,
    tables: dict[str, Tensor],
    settings: dict[str, Any],
    words: list[str] | None,
) -> None:
    """The tables as they are; the kind of model, its settings and its words in the header."""
    metadata = {"format": f"nlmcore.word2vec {kind}", "settings": json.dumps(settings)}
    if words is not None:
        metadata["words"] = json.dumps(words)
    save_file(tables, os.fspath(path), metadata=metadata)


def load(path: str | os.PathLike[str], kind: str) -> tuple[dict[str, Tensor], dict[str, Any], list[str] | None]:
    """Tables, settings and words. Raises ValueError for anything but what `save` wrote for this kind of model."""
    path = os.fspath(path)
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            tables = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (a file, no dictionary)
    except SafetensorError as error:
        raise ValueError(f"path must be a whole safetensors file, got {path!r}: {error}") from error
    wanted = f"nlmcore.word2vec {kind}"
    if metadata.get("format") != wanted or set(tables) != {"input", "output"}:
        raise ValueError(f"path must be a file of format {wanted!r}, got {metadata.get('format')!r} in {path!r}")
    words = json.loads(metadata["words"]) if "words" in metadata else None
    shapes = [tuple(table.shape) for table in tables.values()]
    if shapes[0] != shapes[1] or len(shapes[0]) != 2 or (words is not None and len(words) != shapes[0][0]):
        raise ValueError(
            f"path must hold two tables with a row per word, got {shapes} for {words and len(words)} words"
        )
    return tables, json.loads(metadata["settings"]), words
