"""The tokenizer that lies beside GPT-2's weights: vocab.json with merges.txt, or the same two inside tokenizer.json.

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
        end = vocabulary.get(END, sizes["vocab_size"] - 1)
        bos, eos = (
            end if sizes.get(f"{name}_token_id") is None else sizes[f"{name}_token_id"] for name in ("bos", "eos")
        )
        pad = eos if sizes.get("pad_token_id") is None else sizes["pad_token_id"]
        return BytePairTokenizer(vocabulary, merges, special=special, bos=bos, eos=eos, pad=pad)
    except FileNotFoundError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"the tokenizer in {folder} is not GPT-2's, or is damaged: {error!r}") from error


def _read(folder: Path) -> tuple[dict[str, int], list[tuple[str, str]], list[str]]:
    """(token -> id, merges, special tokens)."""
    if (folder / "vocab.json").is_file() and (folder / "merges.txt").is_file():
        vocabulary = json.loads((folder / "vocab.json").read_text(encoding="utf-8"))
        lines = (folder / "merges.txt").read_text(encoding="utf-8").split("\n")
        pairs = [line.split(" ") for line in lines if line and not line.startswith("#version")]
        return vocabulary, [(left, right) for left, right in pairs], [END] if END in vocabulary else []
    if not (folder / "tokenizer.json").is_file():
        raise FileNotFoundError(f"{folder} has no vocab.json with merges.txt, and no tokenizer.json")
    document = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    model, added = document["model"], document.get("added_tokens", [])
    if model["type"] != "BPE" or document["pre_tokenizer"]["type"] != "ByteLevel":
        raise ValueError(f"{model['type']} after {document['pre_tokenizer']['type']}, expected BPE after ByteLevel")
    pairs = [merge.split(" ") if isinstance(merge, str) else merge for merge in model["merges"]]
    vocabulary = model["vocab"] | {token["content"]: token["id"] for token in added}
    return vocabulary, [(left, right) for left, right in pairs], [token["content"] for token in added]
