"""The tokenizer that lies beside GPT-2's weights: tokenizer.json, or the same in vocab.json, merges.txt and
added_tokens.json. Where a folder has both, tokenizer.json is read, as Hugging Face's loader does.

Source: Radford et al. (2019), section 2.2. `byte_pairs` says how it cuts. Departs from the paper: nothing.
"""

import json
from pathlib import Path
from typing import Any

from nlmcore.pretrained.byte_pairs import BytePairTokenizer

END = "<|endoftext|>"


def read_tokenizer(folder: Path, sizes: dict[str, Any]) -> BytePairTokenizer:
    """The folder's tokenizer; `sizes` is its config.json, which says where a text begins and ends.

    Raises FileNotFoundError if there is none, ValueError if it is broken or is not GPT-2's kind.
    """
    try:
        vocabulary, merges, special = _read(folder)
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


def _read(folder: Path) -> tuple[dict[str, int], list[tuple[str, str]], list[str]]:
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
