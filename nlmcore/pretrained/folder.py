"""A folder as Hugging Face lays it out: config.json, model.safetensors (or several such files and their index), and the
tokenizer: tokenizer.json, or the same in vocab.json, merges.txt and added_tokens.json. Where a folder has both,
tokenizer.json is read, as Hugging Face's loader does.

Nothing in it is run: safetensors holds only numbers, and pytorch_model.bin, which may hold a program, is not read.
Source of the tokenizer: Radford et al. (2019), section 2.2; `byte_pairs` says how it cuts.
Departs from the paper: nothing.
"""

import json
from pathlib import Path
from typing import Any

from torch import Tensor

from nlmcore.pretrained.byte_pairs import BytePairTokenizer
from nlmcore.pretrained.weights import read_safetensors

END = "<|endoftext|>"


def read_weights(folder: Path) -> dict[str, Tensor]:
    """Everything in model.safetensors; where that is missing, in the files that model.safetensors.index.json names."""
    one, index = "model.safetensors", folder / "model.safetensors.index.json"
    names = _files(index) if index.is_file() and not (folder / one).is_file() else [one]
    weights: dict[str, Tensor] = {}
    for name in names:
        if not (folder / name).is_file():
            other = " (pytorch_model.bin is not read: it may run code; save it as safetensors)"
            hint = other if (folder / "pytorch_model.bin").is_file() else ""
            raise FileNotFoundError(f"{folder} has no {name}{hint}")
        weights |= read_safetensors(folder / name, "Copy it again from where you have it")
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


def read_tokenizer(folder: Path, sizes: dict[str, Any]) -> BytePairTokenizer:
    """The folder's tokenizer; `sizes` is its config.json, which says where a text begins and ends.

    Raises FileNotFoundError if there is none, ValueError if it is broken or is not GPT-2's kind.
    """
    try:
        vocabulary, merges, special = _vocabulary(folder)
        end = vocabulary.get(END, max(vocabulary.values()))
        bos, eos = (_id(sizes, f"{name}_token_id", vocabulary, end) for name in ("bos", "eos"))
        pad = _id(sizes, "pad_token_id", vocabulary, eos)
        return BytePairTokenizer(vocabulary, merges, special=special, bos=bos, eos=eos, pad=pad)
    except FileNotFoundError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"the tokenizer in {folder} is not GPT-2's, or is damaged: {error!r}") from error


def _id(sizes: dict[str, Any], name: str, vocabulary: dict[str, int], otherwise: int) -> int:
    """The id that config.json gives, if the vocabulary has it: a small model's config often keeps GPT-2's 50256."""
    given = sizes.get(name)
    if given is not None and (not isinstance(given, int) or isinstance(given, bool)):
        raise ValueError(f"config.json says {name}={given!r}; it must be one id, or null")
    return given if given is not None and 0 <= given <= max(vocabulary.values()) else otherwise


def _vocabulary(folder: Path) -> tuple[dict[str, int], list[tuple[str, str]], list[str]]:
    """(token -> id, merges, special tokens)."""
    if (folder / "tokenizer.json").is_file():
        return _from_one_file(json.loads((folder / "tokenizer.json").read_text(encoding="utf-8")))
    if not (folder / "vocab.json").is_file() or not (folder / "merges.txt").is_file():
        raise FileNotFoundError(f"{folder} has no tokenizer.json, and no vocab.json with merges.txt")
    vocabulary = json.loads((folder / "vocab.json").read_text(encoding="utf-8"))
    lines = (folder / "merges.txt").read_text(encoding="utf-8").split("\n")
    pairs = [line.split(" ") for line in lines if line and not line.startswith("#version")]
    special = [END] if END in vocabulary else []
    if (folder / "added_tokens.json").is_file():
        added = json.loads((folder / "added_tokens.json").read_text(encoding="utf-8"))
        vocabulary, special = vocabulary | added, [*special, *(token for token in added if token not in special)]
    return vocabulary, [(left, right) for left, right in pairs], special


def _from_one_file(document: dict[str, Any]) -> tuple[dict[str, int], list[tuple[str, str]], list[str]]:
    model, added = document["model"], document.get("added_tokens", [])
    before = document.get("pre_tokenizer") or {"type": None}
    if model["type"] != "BPE" or before["type"] != "ByteLevel":
        raise ValueError(f"{model['type']} after {before['type']}, expected BPE after ByteLevel")
    for name, usual in (("add_prefix_space", False), ("use_regex", True)):
        if before.get(name, usual) != usual:
            raise ValueError(f"{name}={before[name]!r}; GPT-2's is {usual}")
    if document.get("normalizer") is not None:
        raise ValueError(f"it rewrites texts first ({document['normalizer']!r:.60}), which GPT-2's does not")
    pairs = [merge.split(" ") if isinstance(merge, str) else merge for merge in model["merges"]]
    vocabulary = model["vocab"] | {token["content"]: token["id"] for token in added}
    return vocabulary, [(left, right) for left, right in pairs], [token["content"] for token in added]
