"""A Transformer of `nlmcore` drawn from the model itself: its parts, their sizes, and what each adds to the pathway."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from itertools import groupby
from typing import Any

import torch
from torch import Tensor, nn

from lectures.show import Branch, Live, Piece, Tower, architecture_svg, choice, live, menu, said, slider
from lectures.show.architecture import keys_of
from nlmcore.inspect import pathway
from nlmcore.language_model import evaluation_mode
from nlmcore.positions import NoPositions
from nlmcore.transformer import GatedFeedForward, PostNorm

__all__ = ["architecture", "architecture_parts", "architecture_player"]

SAYS = {
    "embedding": "One vector per token, a row of the table. These vectors are the residual pathway.",
    "positions": "A vector for the position is added. Without it attention does not see the order (with a causal mask, it sees some of it).",
    "norm": "The norm gives all vectors a similar size, each separately. It normalises only the input of the sublayer, not the pathway.",
    "post-norm": "Post-norm: the pathway itself is normalised, after the sum.",
    "causal attention": "Causal attention: each position reads itself and the earlier ones. Only here does information move between positions.",
    "network": "The feed-forward network processes each position separately, with the same weights.",
    "plus": "The output of the sublayer is added to the vector on the pathway.",
    "final norm": "After the last layer one more norm gives all vectors a similar size.",
    "unembedding": "Each token of the vocabulary has a vector. Its dot product with the vector on the pathway is the score of the token.",
}
"""By the end of a piece's key: what a language model's parts do."""


def architecture(model: nn.Module, *, lit: Collection[str] = (), title: str = "") -> str:
    """The picture of a `TransformerLM`, a `TransformerEncoder` or an `EncoderDecoder`, as SVG.

    Everything is read from the model: kinds and sizes of the parts, the place of the norms, how many layers. The
    first layer of each stack is drawn. `lit` names what is shown in full, by keys or their last
    words: "network" lights the networks of both towers.

    Raises ValueError for a model without such layers, or a key that nothing in the picture has.
    """
    towers = _towers(model)
    keys = [key for tower in towers for key in keys_of(tower)]
    shown = {key for key in keys if any(key == name or key.endswith(f" {name}") for name in lit)}
    if lit and not shown:
        raise ValueError(f"lit must name parts of the picture, {keys}, got {list(lit)}")
    return architecture_svg(towers, lit=shown, title=title, alt=_alt(model, towers))


def architecture_parts(model: nn.Module, parts: Mapping[str, tuple[Collection[str], str]], label: str = "") -> Live:
    """The picture with a menu: each entry lights the parts that it is about, and says a sentence.

    parts: entry -> (what `architecture` takes as `lit`, the sentence). Raises ValueError as `architecture` does.
    """
    pictures = {entry: architecture(model, lit=lit) for entry, (lit, _) in parts.items()}

    def draw(entry: str) -> str:
        return pictures[entry] + said(parts[entry][1])

    return live(draw, entry=menu(list(parts), label))


def architecture_player(models: Mapping[str, tuple[nn.Module, Any]], sentence: str) -> Live:
    """Step through a language model part by part, from the token to the scores, with the sizes that vectors have there.

    models: name -> (`TransformerLM`, tokenizer). Each reads `sentence` once, when the player is made; the size of a
    vector is the root mean square of its entries, of the last token.

    Raises ValueError if there is no model, or one has no layers that can be drawn.
    """
    if not models:
        raise ValueError("architecture_player needs at least one model")
    tokens = {name: coder.encode(sentence) for name, (_, coder) in models.items()}
    read = {name: _read(model, torch.tensor([tokens[name]])) for name, (model, _) in models.items()}
    keys = {name: keys_of(_towers(model)[0]) for name, (model, _) in models.items()}

    def draw(layer: str, part: int, model: str = next(iter(models))) -> str:
        network, coder = models[model]
        sizes, logits = read[model]
        which = {"first": 0, "middle": len(sizes) // 2, "last": len(sizes) - 1}[layer]
        key = keys[model][min(part, len(keys[model]) - 1)]
        best = ", ".join(f"“{coder.decode([int(i)])}”" for i in logits.topk(3).indices)
        tower = replace(
            *_towers(network, sizes[which]),
            reads=f"“{sentence}”, {len(tokens[model])} tokens",
            layers=f"layer {which} of {len(sizes)}",
            gives=f"likeliest next: {best}",
        )
        return architecture_svg([tower], lit=[key], alt=_alt(network, [tower])) + said(_says(key))

    longest = max(len(row) for row in keys.values())
    controls: dict[str, Any] = {"model": menu(list(models), "model")} if len(models) > 1 else {}
    controls |= {"layer": choice(("first", "middle", "last"), "layer")}
    return live(
        draw,
        rows=[[*controls, "part"]],
        play="part",
        **controls,
        part=slider(0, 0, longest - 1, 1, "part", "330px"),
    )


def _says(key: str) -> str:
    end = max((end for end in SAYS if key.endswith(end)), key=len, default="")
    return SAYS.get(end, f"Another kind of sublayer: {key}.")


def _read(model: nn.Module, tokens: Tensor) -> tuple[list[list[tuple[float, float]]], Tensor]:
    """Layer by layer, sublayer by sublayer, the sizes of the pathway and of what is added; and the last logits."""
    with torch.no_grad(), evaluation_mode(model), pathway(model) as branches:
        logits = model(tokens)[0][0, -1]
    layer_of = [branch.name.split(".")[1] for branch in branches]
    sizes = [(_size(branch.x), _size(branch.y)) for branch in branches]
    return [
        [size for _, size in row] for _, row in groupby(zip(layer_of, sizes, strict=True), lambda pair: pair[0])
    ], logits


def _size(x: Tensor) -> float:
    return float(x[0, -1].square().mean().sqrt())


# --- from a model to towers -----------------------------------------------------------------------


def _towers(model: Any, sizes: list[tuple[float, float]] | None = None) -> list[Tower]:
    if hasattr(model, "encoder") and hasattr(model, "decoder"):
        if not hasattr(model.encoder, "layers"):
            raise ValueError(f"the encoder must be a Transformer to be drawn, got {type(model.encoder).__name__}")
        source = _tower(model.encoder, "encoder ", "the source", "a vector per source token")
        target = _tower(
            model.decoder, "decoder ", "the target so far", "scores for the next token", output=model.output
        )
        return [source, target]
    if hasattr(model, "encoder") and hasattr(model, "output"):  # a masked language model
        scores = "scores for the token at each position"
        return [_tower(model.encoder, "", "the tokens, some hidden", scores, model.output, sizes)]
    if not hasattr(model, "layers") or not len(model.layers):
        raise ValueError(f"only a Transformer of nlmcore can be drawn, got {type(model).__name__}")
    output = getattr(model, "output", None)
    gives = "scores for the next token" if output is not None else "a vector per token"
    return [_tower(model, "", "the tokens", gives, output, sizes)]


def _tower(
    trunk: Any,
    name: str,
    reads: str,
    gives: str,
    output: Any = None,
    sizes: list[tuple[float, float]] | None = None,
) -> Tower:
    c, layers = trunk.config, trunk.layers
    below = [Piece(f"{name}embedding", "table", "embedding", f"{c.vocab_size:,} tokens × {c.d_model}")]
    if not isinstance(trunk.positions, NoPositions):
        below.append(Piece(f"{name}positions", "other", "+ positions", _spoken(trunk.positions)))
    above = []
    if not isinstance(trunk.final_norm, nn.Identity):
        above.append(Piece(f"{name}final norm", "norm", type(trunk.final_norm).__name__))
    if output is not None:
        table = getattr(trunk.embedding, "weight", None)
        tied = table is not None and getattr(output, "weight", None) is table
        note = "the embedding’s table" if tied else f"{c.d_model} × {c.vocab_size:,}"
        above.append(Piece(f"{name}unembedding", "table", "unembedding", note))
    branches = [_branch(layers[0], kind, name, rule, i, sizes) for i, (kind, rule) in enumerate(_rules(layers[0]))]
    weights = {id(layer) for layer in layers}
    repeated = f"× {len(layers)}" + (", one set of weights" if len(weights) == 1 < len(layers) else "")
    return Tower(reads, below, branches, repeated, above, gives)


def _rules(layer: nn.Module) -> Iterator[tuple[str, nn.Module]]:
    """(name of the sublayer, its residual rule) in the order of a layer's parts."""
    for name, rule in layer.named_children():
        if name.startswith("residual_"):
            yield name.removeprefix("residual_"), rule


def _branch(layer: Any, kind: str, tower: str, rule: Any, i: int, sizes: list[tuple[float, float]] | None) -> Branch:
    piece, post = _piece(kind, tower, getattr(layer, kind, None)), isinstance(rule, PostNorm)
    norm = None
    if hasattr(rule, "norm"):
        norm = Piece(f"{piece.key} {'post-norm' if post else 'norm'}", "norm", type(rule.norm).__name__)
    return Branch(
        f"{piece.key} plus",
        [piece] if post or norm is None else [norm, piece],
        beside="" if sizes is None else f"adds size {sizes[i][1]:.2f} to size {sizes[i][0]:.2f}",
        after=norm if post else None,
        reads_source=piece.kind == "cross-attention",
    )


def _piece(kind: str, tower: str, part: Any) -> Piece:
    """The sublayer itself; `kind` is its name in the layer."""
    if kind == "feed_forward":
        return Piece(f"{tower}network", "network", "feed-forward network", _network(part))
    if "attention" in kind:
        causal = type(part).__name__.startswith("Causal")
        word = "cross-attention" if "cross" in kind else "causal attention" if causal else "self-attention"
        return Piece(f"{tower}{word}", word, word, _heads(part))
    word = kind.replace("_", " ")  # a sublayer of its own, like the convolutions of the Evolved Transformer
    return Piece(f"{tower}{word}", "other", word, "" if part is None else type(part).__name__)


def _heads(attention: Any) -> str:
    if not hasattr(attention, "n_kv_heads"):
        return type(attention).__name__
    shared = "" if attention.n_kv_heads == attention.n_heads else f", {attention.n_kv_heads} of keys"
    inside = "" if attention.positions is None else f", {_spoken(attention.positions)}"
    return f"{attention.n_heads} heads of {attention.d_head}{shared or inside}"


def _network(network: Any) -> str:
    inner = getattr(network, "inner", None)
    if not isinstance(inner, nn.Linear):
        return type(network).__name__
    gated = isinstance(network, GatedFeedForward)
    return f"{inner.in_features:,} → {inner.out_features // (2 if gated else 1):,} → {inner.in_features:,}" + (
        ", gated" if gated else ""
    )


def _spoken(positions: nn.Module) -> str:
    """LearnedPositions → learned."""
    return type(positions).__name__.removesuffix("Positions").lower()


def _alt(model: nn.Module, towers: list[Tower]) -> str:
    parameters = sum(weight.numel() for weight in model.parameters())
    told = []
    for tower in towers:
        layer = "; ".join(
            f"{' → '.join(f'{p.words} ({p.note})' if p.note else p.words for p in branch.pieces)}, added to the pathway"
            + (f", {branch.after.words}" if branch.after else "")
            for branch in tower.branches
        )
        rest = [*(p.words for p in tower.above), tower.gives]
        told.append(
            f"{tower.reads} → {' → '.join(p.words for p in tower.below)} → [{layer}] {tower.layers} → {' → '.join(rest)}"
        )
    return f"A Transformer of {parameters:,} parameters, from the bottom up. " + ". ".join(told) + "."
