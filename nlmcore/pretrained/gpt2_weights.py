"""GPT-2 and models of its shape, from a folder that you name, in our own Transformer.

    model, tokenizer = gpt2("~/models/gpt2")

It is as Hugging Face lays it out: config.json, model.safetensors (or several such files and their index), and the
tokenizer: tokenizer.json, or the same in vocab.json, merges.txt and added_tokens.json. Nothing is fetched, and nothing
in it is run: safetensors holds only numbers, and pytorch_model.bin, which may hold a program, is not read.

Source: Radford et al. (2019), "Language models are unsupervised multitask learners", section 2.3: pre-norm, learned
positions, GELU, output tied to the embedding. The files keep each matrix as (in, out), the transpose of what nn.Linear
takes. Departs from the paper: nothing.
"""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from nlmcore.fast.weights import filled, for_decoding
from nlmcore.pretrained.byte_pairs import BytePairTokenizer
from nlmcore.pretrained.weights import read_safetensors, renamed
from nlmcore.transformer import FeedForward, TransformerConfig, TransformerLM

_tanh_gelu = partial(F.gelu, approximate="tanh")

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "gelu_new": _tanh_gelu,  # 0.5 x (1 + tanh(√(2/π) (x + 0.044715 x³))): Hendrycks & Gimpel (2016), section 2
    "gelu_pytorch_tanh": _tanh_gelu,
    "gelu_fast": _tanh_gelu,
    "gelu": F.gelu,
    "relu": F.relu,
    "silu": F.silu,
    "swish": F.silu,
    "tanh": torch.tanh,
}
"""`activation_function` in config.json -> the function."""

TABLES = {"embedding": "wte", "positions": "wpe"}
NAMES = {
    "final_norm": "ln_f",
    "layers.{i}.residual_attention.norm": "h.{i}.ln_1",
    "layers.{i}.attention.projection": "h.{i}.attn.c_attn",
    "layers.{i}.attention.output": "h.{i}.attn.c_proj",
    "layers.{i}.residual_feed_forward.norm": "h.{i}.ln_2",
    "layers.{i}.feed_forward.inner": "h.{i}.mlp.c_fc",
    "layers.{i}.feed_forward.outer": "h.{i}.mlp.c_proj",
}

_SIZES = ("vocab_size", "n_embd", "n_head", "n_layer", "n_positions")

# fields of config.json that would change what is computed, and the only value that is computed here
_USUAL = {"scale_attn_weights": True, "scale_attn_by_inverse_layer_idx": False, "add_cross_attention": False}

END = "<|endoftext|>"


def gpt2(folder: str | Path) -> tuple[TransformerLM, BytePairTokenizer]:
    """(model, tokenizer) of the GPT-2 in that folder, in single precision and in evaluation mode.

    Raises FileNotFoundError for a missing file, ValueError for a different architecture and for weights that are
    damaged or do not fit config.json.
    """
    if not isinstance(folder, str | Path):
        raise TypeError(f"folder must be a path, got {folder!r}")
    place = Path(folder).expanduser()
    if not place.is_dir():
        raise FileNotFoundError(f"there is no folder {place}")
    sizes = read_json(place / "config.json")
    config = config_of(sizes)
    weights = convert(read_weights(place), config)
    return filled(lambda: TransformerLM(config), weights), read_tokenizer(place, sizes)


def config_of(sizes: dict[str, Any]) -> TransformerConfig:
    """The configuration that config.json describes. Raises ValueError if it is not GPT-2's."""
    if sizes.get("model_type") != "gpt2":
        raise ValueError(f"config.json describes a model of type {sizes.get('model_type')!r}; only 'gpt2' is read here")
    for name, usual in _USUAL.items():
        if sizes.get(name, usual) != usual:
            raise ValueError(f"config.json says {name}={sizes[name]!r}; only {usual!r} is computed here")
    activation = sizes.get("activation_function", "gelu_new")
    if not isinstance(activation, str) or activation not in ACTIVATIONS:
        raise ValueError(f"activation_function must be one of {', '.join(ACTIVATIONS)}, got {activation!r}")
    missing = [name for name in _SIZES if name not in sizes]
    if missing:
        raise ValueError(f"config.json has no {', '.join(missing)}")
    for name in (*_SIZES, *(["n_inner"] if sizes.get("n_inner") is not None else [])):
        if not isinstance(sizes[name], int) or isinstance(sizes[name], bool):
            raise ValueError(f"config.json says {name}={sizes[name]!r}; it must be a whole number")
    eps = sizes.get("layer_norm_epsilon", 1e-5)
    if not isinstance(eps, float | int) or not eps > 0:
        raise ValueError(f"config.json says layer_norm_epsilon={eps!r}; it must be a number above 0")
    return TransformerConfig(
        vocab_size=sizes["vocab_size"],
        d_model=sizes["n_embd"],
        n_heads=sizes["n_head"],
        n_layers=sizes["n_layer"],
        max_length=sizes["n_positions"],
        d_ff=sizes.get("n_inner"),
        tie_embeddings=sizes.get("tie_word_embeddings", True),
        norm=partial(nn.LayerNorm, eps=eps),
        feed_forward=partial(FeedForward, activation=ACTIVATIONS[activation]),
    )


def convert(theirs: dict[str, Tensor], config: TransformerConfig) -> dict[str, Tensor]:
    """The tensors under our names, in single precision, matrices stored (in, out).

    Raises ValueError for one that is missing, and for one of a layer for which config.json has no place.
    """
    left = {name.removeprefix("transformer."): value for name, value in theirs.items()}
    head = left.pop("lm_head.weight", None) if config.tie_embeddings else None
    if head is not None and not torch.equal(left.setdefault("wte.weight", head), head):  # a file has either, or both
        raise ValueError(
            "the weights have an lm_head.weight that is not wte.weight, but config.json says tie_word_embeddings=true:"
            " one of them is wrong. Write false there if the output shall have its own weights"
        )

    def take(name: str) -> Tensor:
        if name not in left:
            raise ValueError(f"the weights have no {name}: they are of another architecture than config.json says")
        weight = left.pop(name).float()
        return weight.t() if name.startswith("h.") and weight.ndim == 2 else weight

    ours = renamed(TABLES, 0, take) | renamed(NAMES, config.n_layers, take, ("weight", "bias"))
    ours["embedding.weight"] = for_decoding(ours["embedding.weight"])
    if not config.tie_embeddings:
        ours["output.weight"] = for_decoding(take("lm_head.weight"))
    masks = (".attn.bias", ".attn.masked_bias")  # the causal mask, which old files carry along
    strays = sorted(name for name in left if name.startswith("h.") and not name.endswith(masks))
    if strays:
        raise ValueError(f"the weights have {strays[0]}, for which the model that config.json describes has no place")
    return ours


def read_weights(folder: Path) -> dict[str, Tensor]:
    """Everything in model.safetensors; where that is missing, in the files that model.safetensors.index.json names."""
    index = folder / "model.safetensors.index.json"
    names = {"model.safetensors"}
    if index.is_file() and not (folder / "model.safetensors").is_file():
        files = read_json(index).get("weight_map")
        if not isinstance(files, dict) or not all(isinstance(name, str) for name in files.values()):
            raise ValueError(f"{index.name} has no weight_map that says where each weight is, got {files!r:.60}")
        names = set(files.values())
    weights: dict[str, Tensor] = {}
    for name in sorted(names):
        if not (folder / name).is_file():
            other = " (pytorch_model.bin is not read: it may run code; save it as safetensors)"
            hint = other if (folder / "pytorch_model.bin").is_file() else ""
            raise FileNotFoundError(f"{folder} has no {name}{hint}")
        weights |= read_safetensors(folder / name, "Copy it again from where you have it")
    return weights


def read_json(path: Path) -> dict[str, Any]:
    """A JSON object. Raises FileNotFoundError if the file is missing, ValueError if it is damaged."""
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

    Raises FileNotFoundError if it is missing, ValueError if it is damaged or not GPT-2's kind.
    """
    try:
        vocabulary, merges, special = _vocabulary(folder)
        pairs = [(left, right) for left, right in (m.split(" ") if isinstance(m, str) else m for m in merges)]
        end = vocabulary.get(END, max(vocabulary.values()))
        bos, eos = (_id(sizes, f"{name}_token_id", vocabulary, end) for name in ("bos", "eos"))
        pad = _id(sizes, "pad_token_id", vocabulary, eos)
        return BytePairTokenizer(vocabulary, pairs, special=special, bos=bos, eos=eos, pad=pad)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"the tokenizer in {folder} is not GPT-2's, or is damaged: {error!r}") from error


def _id(sizes: dict[str, Any], name: str, vocabulary: dict[str, int], otherwise: int) -> int:
    """The id that config.json gives, if the vocabulary has it: a small model's config often keeps GPT-2's 50256."""
    given = sizes.get(name)
    if given is not None and (not isinstance(given, int) or isinstance(given, bool)):
        raise ValueError(f"config.json says {name}={given!r}; it must be one id, or null")
    return given if given is not None and 0 <= given <= max(vocabulary.values()) else otherwise


def _vocabulary(folder: Path) -> tuple[dict[str, int], list[Any], list[str]]:
    """(token -> id, merges: "a b" or ["a", "b"], special tokens)."""
    if (folder / "tokenizer.json").is_file():
        return _from_one_file(read_json(folder / "tokenizer.json"))
    if not (folder / "vocab.json").is_file() or not (folder / "merges.txt").is_file():
        raise FileNotFoundError(f"{folder} has no tokenizer.json, and no vocab.json with merges.txt")
    vocabulary = read_json(folder / "vocab.json")
    lines = (folder / "merges.txt").read_text(encoding="utf-8").split("\n")
    special = [END] if END in vocabulary else []
    if (folder / "added_tokens.json").is_file():
        added = read_json(folder / "added_tokens.json")
        vocabulary, special = vocabulary | added, [*special, *(token for token in added if token not in special)]
    return vocabulary, [line for line in lines if line and not line.startswith("#version")], special


def _from_one_file(document: dict[str, Any]) -> tuple[dict[str, int], list[Any], list[str]]:
    model, added = document["model"], document.get("added_tokens", [])
    before = document.get("pre_tokenizer") or {"type": None}
    if model["type"] != "BPE" or before["type"] != "ByteLevel":
        raise ValueError(f"{model['type']} after {before['type']}, expected BPE after ByteLevel")
    for name, usual in (("add_prefix_space", False), ("use_regex", True)):
        if before.get(name, usual) != usual:
            raise ValueError(f"{name}={before[name]!r}; GPT-2's is {usual}")
    if document.get("normalizer") is not None:
        raise ValueError(f"it rewrites texts first ({document['normalizer']!r:.60}), which GPT-2's does not")
    vocabulary = model["vocab"] | {token["content"]: token["id"] for token in added}
    return vocabulary, model["merges"], [token["content"] for token in added]
