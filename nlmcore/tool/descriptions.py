"""What builds a model or a tokenizer again, as JSON can hold it: classes and parts by name, sizes as they are.

    describe(model)                {"class": "RecurrentLM", "arguments": {"vocab_size": 512, "cell": "gru", …}}
    tokenizer_fields(tokenizer)    {"tokenizer": "CharTokenizer", "characters": ["a", …]}
    rebuilt(…), tokenizer_of(…)    the other way

A Transformer's arguments are its configuration. For other models the functions at the top read them off a model.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import nn

from nlmcore.convolutional import ConvLM
from nlmcore.feedforward import BagOfWordsLM, FeedForwardLM
from nlmcore.pretrained.byte_pairs import BytePairTokenizer
from nlmcore.recurrent import CELLS, RecurrentLM
from nlmcore.tokens import BPETokenizer, CharTokenizer, Tokenizer, WordTokenizer
from nlmcore.transformer import TransformerConfig, TransformerEncoder, TransformerLM
from nlmcore.transformer.names import as_names, from_names


def _transformer(model: Any) -> dict[str, Any]:
    return {"config": json.loads(model.config.to_json())}


def _window(model: Any) -> dict[str, Any]:
    sizes = {"vocab_size": model.vocab_size, "window": model.window, "d_embedding": model.embedding.embedding_dim}
    direct = {"direct": model.direct is not None} if isinstance(model, FeedForwardLM) else {}
    return {**sizes, "d_hidden": model.hidden.out_features, "activation": as_names(model.activation), **direct}


def _recurrent(model: Any) -> dict[str, Any]:
    inside = model.recurrent
    kinds = {type(cell) for cell in inside.cells}
    cell = next((name for name, kind in CELLS.items() if kinds == {kind}), None)
    if cell is None:
        raise ValueError(f"its cell, {type(inside.cells[0]).__name__}, is none of {', '.join(CELLS)}")
    names = ("d_hidden", "n_layers", "residual", "fused")
    tied = model.output.weight is model.embedding.weight
    sizes = {"vocab_size": model.vocab_size, "d_embedding": model.embedding.embedding_dim, "dropout": model.dropout}
    return {**sizes, "cell": cell, "tie_embeddings": tied} | {name: getattr(inside, name) for name in names}


def _convolutional(model: Any) -> dict[str, Any]:
    layers = model.layers
    return {
        "vocab_size": model.vocab_size,
        "d_model": model.d_model,
        "n_layers": len(layers),
        "kernel_size": layers[0].kernel_size,
        "dilations": [layer.dilation for layer in layers],
        "dropout": model.dropout,
        "tie_embeddings": model.output.weight is model.embedding.weight,
    }


ARGUMENTS: dict[type, Callable[[Any], dict[str, Any]]] = {
    TransformerLM: _transformer,
    TransformerEncoder: _transformer,
    FeedForwardLM: _window,
    BagOfWordsLM: _window,
    RecurrentLM: _recurrent,
    ConvLM: _convolutional,
}
"""Models that can be saved -> the arguments that build one again, as JSON can hold them."""
TOKENIZERS = {kind.__name__: kind for kind in (CharTokenizer, WordTokenizer, BPETokenizer)}


def describe(model: nn.Module) -> dict[str, Any]:
    """What builds the model again. Raises as `save_model` does."""
    if type(model) not in ARGUMENTS:
        raise TypeError(
            f"model must be one of {', '.join(kind.__name__ for kind in ARGUMENTS)}, or LoRA of any model, got"
            f" {type(model).__name__}: build another one by your own code, and store its state_dict() with"
            " nlmcore.training.save_checkpoint"
        )
    strange = [name for name, _ in model.named_modules() if "parametrizations" in name.split(".")]
    if strange:
        raise TypeError(
            f"model must not have adapted weights, got {strange[0].partition('.parametrizations')[0]} with an adapter:"
            " save the adapter, or merge() it first"
        )
    try:
        return {"class": type(model).__name__, "arguments": ARGUMENTS[type(model)](model)}
    except ValueError as error:
        raise ValueError(
            f"model cannot be written down: {error}. Give the part a name in a module, or save the weights"
            " alone with nlmcore.training.save_checkpoint"
        ) from error


def rebuilt(described: Mapping[str, Any]) -> Any:
    """A model like the one that was described, with first weights; nobody's random numbers change."""
    kind = {kind.__name__: kind for kind in ARGUMENTS}[described["class"]]
    given = described["arguments"]
    with torch.random.fork_rng(devices=[]):
        if "config" in given:
            return kind(TransformerConfig.from_json(json.dumps(given["config"])))
        return kind(**{name: from_names(value) for name, value in given.items()})


def tokenizer_fields(tokenizer: Tokenizer) -> dict[str, Any]:
    if isinstance(tokenizer, BytePairTokenizer):
        return {"tokenizer": "BytePairTokenizer", **tokenizer.arguments()}
    if type(tokenizer).__name__ not in TOKENIZERS:
        raise TypeError(
            f"tokenizer must be one of {', '.join(TOKENIZERS)}, BytePairTokenizer, or None, got"
            f" {type(tokenizer).__name__}: save the model with None and load the tokenizer as you did"
        )
    fields: dict[str, Any] = json.loads(tokenizer.to_json())  # type: ignore[attr-defined]
    return fields


def tokenizer_of(fields: dict[str, Any]) -> Tokenizer:
    """The other way."""
    kind = fields["tokenizer"]
    if kind == "BytePairTokenizer":
        arguments = {name: value for name, value in fields.items() if name != "tokenizer"}
        return BytePairTokenizer(**arguments | {"merges": [(left, right) for left, right in fields["merges"]]})
    return TOKENIZERS[kind].from_json(json.dumps(fields))
