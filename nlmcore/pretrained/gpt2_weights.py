"""GPT-2 and models of its shape, from a folder that you name, in our own Transformer.

    model, tokenizer = gpt2("~/models/gpt2")

The folder is as Hugging Face lays it out: config.json, model.safetensors (or several files and their index), and
vocab.json with merges.txt, or tokenizer.json. Nothing is fetched.

Source: Radford et al. (2019), "Language models are unsupervised multitask learners", section 2.3: pre-norm, learned
positions, GELU, output tied to the embedding.

The files keep each matrix as (in, out), the transpose of what nn.Linear names its shape: GPT-2 was written with
one-dimensional convolutions of width 1. Transposed, they lie in memory as decoding wants them
(`nlmcore.fast.weights`).

Departs from the paper: nothing.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from nlmcore.fast.weights import filled, for_decoding
from nlmcore.pretrained.byte_pairs import BytePairTokenizer
from nlmcore.pretrained.folder import read_json, read_tokenizer, read_weights
from nlmcore.pretrained.weights import renamed
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

_TABLES = {"embedding": "wte", "positions": "wpe"}
_NAMES = {
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


def gpt2(folder: str | Path) -> tuple[TransformerLM, BytePairTokenizer]:
    """(model, tokenizer) of the GPT-2 in that folder, in single precision and in evaluation mode.

    Raises FileNotFoundError for what is missing there, ValueError for another architecture and for weights that are
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
    if config.tie_embeddings:
        keep_once(left)

    def take(name: str) -> Tensor:
        if name not in left:
            raise ValueError(f"the weights have no {name}: they are of another architecture than config.json says")
        weight = left.pop(name).float()
        return weight.t() if name.startswith("h.") and weight.ndim == 2 else weight

    ours = renamed(_TABLES, 0, take) | renamed(_NAMES, config.n_layers, take, ("weight", "bias"))
    ours["embedding.weight"] = for_decoding(ours["embedding.weight"])
    if not config.tie_embeddings:
        ours["output.weight"] = for_decoding(take("lm_head.weight"))
    masks = (".attn.bias", ".attn.masked_bias")  # the causal mask, which old files carry along
    strays = sorted(name for name in left if name.startswith("h.") and not name.endswith(masks))
    if strays:
        raise ValueError(f"the weights have {strays[0]}, for which the model that config.json describes has no place")
    return ours


def keep_once(weights: dict[str, Tensor]) -> None:
    """One matrix is embedding and output: keep it under the embedding's name, whichever of the two the file has.

    Raises ValueError if the file has both and they differ.
    """
    head = weights.pop("lm_head.weight", None)
    if head is not None and not torch.equal(weights.setdefault("wte.weight", head), head):
        raise ValueError(
            "the weights have an lm_head.weight that is not wte.weight, but config.json says tie_word_embeddings=true:"
            " one of them is wrong. Write false there if the output shall have its own weights"
        )
