"""n-gram counts in a safetensors file, and back; a file that is cut short or was tampered with is refused."""

import json
import os
from typing import Any

import numpy as np
from numpy import ndarray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from nlmcore.ngram.counts import Ngrams

FORMAT = "nlmcore.ngram 1"


def save(path: str | os.PathLike[str], settings: dict[str, Any], levels: list[Ngrams]) -> None:
    """Per order m the arrays keys.m, counts.m and suffix.m; the settings as JSON in the header."""
    arrays = {}
    for level in levels:
        for name in ("keys", "counts", "suffix"):
            arrays[f"{name}.{level.order}"] = np.ascontiguousarray(getattr(level, name), dtype=np.int64)
    save_file(arrays, os.fspath(path), metadata={"format": FORMAT, "settings": json.dumps(settings)})


def load(path: str | os.PathLike[str]) -> tuple[dict[str, Any], list[Ngrams]]:
    """What `save` wrote: settings and levels. Raises ValueError for anything else, FileNotFoundError for no file."""
    try:
        with safe_open(os.fspath(path), framework="numpy") as file:
            metadata = file.metadata() or {}
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (a file, no dictionary)
    except SafetensorError as error:
        raise ValueError(f"path must be a whole safetensors file, got {os.fspath(path)!r}: {error}") from error
    if metadata.get("format") != FORMAT:
        raise ValueError(f"path must be a file of format {FORMAT!r}, got {metadata.get('format')!r} in {path!r}")
    settings = json.loads(metadata["settings"])
    levels: list[Ngrams] = []
    contexts, context_suffix = 1, np.zeros(1, dtype=np.int64)
    for m in range(1, settings["order"] + 1):
        names = [f"{name}.{m}" for name in ("keys", "counts", "suffix")]
        if not all(name in arrays for name in names):
            raise ValueError(f"path must hold {', '.join(names)}, got only {sorted(arrays)} in {path!r}")
        keys, counts, suffix = (arrays[name] for name in names)
        level = Ngrams(m, settings["vocab_size"], keys, counts, suffix, contexts, context_suffix)
        _check(level, path)
        levels.append(level)
        contexts, context_suffix = len(level), suffix
    return settings, levels


def _check(level: Ngrams, path: str | os.PathLike[str]) -> None:
    shapes = {level.keys.shape, level.counts.shape, level.suffix.shape}
    consistent = (
        len(shapes) == 1
        and bool((np.diff(level.keys) > 0).all())
        and _within(level.keys, 0, level.contexts * level.vocab_size)
        and _within(level.suffix, 0, max(1, level.contexts))
        and bool((level.counts > 0).all())
        and (level.order > 1 or len(level) > 0)
    )
    if not consistent:
        raise ValueError(f"path must hold consistent counts, got order {level.order} of {path!r} out of order or range")


def _within(values: ndarray, low: int, high: int) -> bool:
    return not len(values) or bool(values.min() >= low and values.max() < high)
