"""A model of GPT-2's shape as Hugging Face lays it out: what `gpt2_weights` reads, written.

    config.json         sizes_of(config)
    model.safetensors   exported(weights, config): their names, the layers' matrices as (in, out)
    tokenizer.json      tokenizer_document(tokenizer), and tokenizer_config.json, special_tokens(tokenizer)

Source: as in `gpt2_weights`. Departs from it: nothing.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import torch.nn.functional as F
from torch import Tensor, nn

from nlmcore.pretrained.byte_pairs import BytePairTokenizer
from nlmcore.pretrained.gpt2_weights import ACTIVATIONS, NAMES, TABLES
from nlmcore.tokens import BPETokenizer
from nlmcore.tokens.bytepairs import BYTE_ORDER
from nlmcore.transformer import FeedForward, TransformerConfig


def sizes_of(config: TransformerConfig) -> dict[str, Any] | None:
    """config.json; None for a configuration that it cannot express."""
    norm, network = _options(config.norm, nn.LayerNorm), _options(config.feed_forward, FeedForward)
    if norm is None or network is None or norm.keys() - {"eps"} or network.keys() - {"activation"}:
        return None
    activation = _comparable(network.get("activation", F.gelu))
    name = next((name for name, f in ACTIVATIONS.items() if _comparable(f) == activation), None)
    sizes = ("vocab_size", "d_model", "n_heads", "n_layers", "max_length", "d_ff", "tie_embeddings")
    usual = TransformerConfig(**{size: getattr(config, size) for size in sizes})
    # What is left must be GPT-2's; how it was trained, and what only an encoder reads, does not matter.
    free: Any = {"norm": usual.norm, "feed_forward": usual.feed_forward, "initialise": usual.initialise}
    same = replace(config, **free, dropout=0.0, tie_source=True, n_kv_heads=None, d_head=None) == usual
    if name is None or not same or config.n_kv_heads not in (None, config.n_heads):
        return None
    if config.head_size * config.n_heads != config.d_model:
        return None
    return {
        "model_type": "gpt2",
        "architectures": ["GPT2LMHeadModel"],
        "vocab_size": config.vocab_size,
        "n_embd": config.d_model,
        "n_head": config.n_heads,
        "n_layer": config.n_layers,
        "n_positions": config.max_length,
        "n_inner": config.hidden_size,
        "activation_function": name,
        "layer_norm_epsilon": norm.get("eps", 1e-5),
        "tie_word_embeddings": config.tie_embeddings,
        **dict.fromkeys(("resid_pdrop", "embd_pdrop", "attn_pdrop"), config.dropout),
    }


def _options(part: Any, kind: Any) -> Mapping[str, Any] | None:
    if isinstance(part, partial) and part.func is kind and not part.args:
        return part.keywords
    return {} if part is kind else None


def _comparable(function: Callable) -> Any:
    """Two partials of the same are equal so."""
    return (function.func, function.args, function.keywords) if isinstance(function, partial) else function


def exported(ours: Mapping[str, Tensor], config: TransformerConfig) -> dict[str, Tensor]:
    """Weights under Hugging Face's names."""
    theirs = {f"transformer.{their}.weight": ours[f"{name}.weight"] for name, their in TABLES.items()}
    for name, their in NAMES.items():
        for i in range(config.n_layers if "{i}" in name else 1):
            for kind in ("weight", "bias"):
                weight = ours[f"{name}.{kind}".format(i=i)]
                matrix = "{i}" in name and weight.ndim == 2
                theirs[f"transformer.{their}.{kind}".format(i=i)] = weight.t() if matrix else weight
    if not config.tie_embeddings:
        theirs["lm_head.weight"] = ours["output.weight"]
    return theirs


def tokenizer_document(tokenizer: BPETokenizer | BytePairTokenizer) -> dict[str, Any]:
    """tokenizer.json: the same ids by the library `tokenizers`."""
    from tokenizers import pre_tokenizers

    if isinstance(tokenizer, BPETokenizer):  # in the alphabet of 256 printable characters
        alphabet = dict(zip(BYTE_ORDER, sorted(pre_tokenizers.ByteLevel.alphabet()), strict=True))
        names = [token.decode() for token in tokenizer.vocabulary[: len(tokenizer.special)]]

        def spelled(token: bytes) -> str:
            return "".join(alphabet[b] for b in token)

        tokens = [*names, *map(spelled, tokenizer.vocabulary[len(names) :])]
        merges = [(spelled(left), spelled(right)) for left, right in tokenizer.merges]
        vocabulary = {token: i for i, token in enumerate(tokens)}
        given = BytePairTokenizer(vocabulary, merges, special=names, bos=0, eos=0, pad=0)  # roles: `special_tokens`
    else:
        given = tokenizer
    document: dict[str, Any] = json.loads(given.to_json())
    split = document["pre_tokenizer"]["pretokenizers"]  # with digits, or GPT-2's words alone
    document["pre_tokenizer"] = split[0] if len(split) == 1 else document["pre_tokenizer"]
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    special = tokenizer.special_ids.items()
    added: list[Any] = [{"id": i, "content": name, "special": True, **flags} for name, i in special]
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    return document | {"added_tokens": sorted(added, key=lambda token: token["id"]), "decoder": level}


def special_tokens(tokenizer: BPETokenizer | BytePairTokenizer) -> dict[str, Any]:
    """tokenizer_config.json: which class reads the document, and which tokens have a role."""
    names = {i: name for name, i in tokenizer.special_ids.items()}
    roles = {"bos_token": tokenizer.bos, "eos_token": tokenizer.eos, "pad_token": tokenizer.pad}
    return {"tokenizer_class": "PreTrainedTokenizerFast"} | {role: names[i] for role, i in roles.items() if i in names}
