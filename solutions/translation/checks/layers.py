"""Questions 3a and 3b: a layer of the encoder, and a layer of the decoder."""

from typing import Any

import torch
from torch import Tensor

from autograder.exercise.declare import question, shapes, values
from autograder.exercise.draw import Draw
from autograder.exercise.kinds import EQUAL
from autograder.exercise.specification import Case, case
from solutions.translation.checks.common import CLOSED, layer_weights, padded

Weights = dict[str, Any]


def _without(weights: Weights, *parts: str) -> Weights:
    """The same weights, but these parts add nothing."""
    zero = {"self": ("self", "output"), "cross": ("cross", "output"), "network": ("down", None)}
    made = dict(weights)
    for part in parts:
        name, inner = zero[part]
        value = made[name]
        made[name] = torch.zeros_like(value) if inner is None else value | {inner: torch.zeros_like(value[inner])}
    return made


def _over(tokens: Tensor) -> Tensor:
    return (tokens > 0)[:, None, None, :]


def _reading(draw: Draw, label: str, *empty: str) -> Case:
    batch, n, d_head, d_ff = draw.sizes(4)
    d = 2 * d_head
    words = padded(draw, batch, n + 1, 9)
    return case(
        label, draw.normal(batch, n + 1, d), _without(layer_weights(draw, d, d_ff, False), *empty), 2, _over(words)
    )


def _read_nothing(draw: Draw) -> list[Case]:
    return [_reading(draw, "two parts that add nothing", "self", "network")]


def _read_attention(draw: Draw) -> list[Case]:
    return [_reading(draw, "a network that adds nothing", "network")]


def _read_network(draw: Draw) -> list[Case]:
    return [_reading(draw, "attention that adds nothing", "self")]


def _read_both(draw: Draw) -> list[Case]:
    return [_reading(draw, "attention and network")]


def _read_edges(draw: Draw) -> list[Case]:
    size = 2 * draw.size()
    each = draw.mask(size, 1, size, size)
    return [
        case("one word", draw.normal(2, 1, 4), layer_weights(draw, 4, 5, False), 2, torch.ones(2, 1, 1, 1).bool()),
        case(EQUAL, draw.normal(size, size, size), layer_weights(draw, size, size, False), 2, each),
    ]


ENCODER_LAYER = question(
    "translation.encoder_layer",
    minutes=15,
    difficulty="easy",
    returns=("h",),
    properties=[
        shapes(0.1, _read_both),
        values("a layer that adds nothing", 0.15, _read_nothing),
        values("attention alone", 0.75, _read_attention),
        values("the network alone", 0.5, _read_network),
        values("both", 0.5, _read_both),
        values("one word, square matrices", 0.5, _read_edges),
    ],
    closed=CLOSED,
    mistakes="""
only-queries-normed: Your queries are computed from the norm, but your keys and values from `h` itself. Both texts are
the same here: pass the normalised vectors twice.
- attention(y, y, → attention(y, h,

not-normed-at-attention: Attention reads the pathway without a norm.
- attention(y, y, → attention(h, h,

post-norm: You normalise the sum of pathway and part, as in the Transformer of 2017. Here each part *reads* through
the norm, and the pathway itself is never normalised.
+ h = norm(h + attention(h, h, weights["self"], n_heads, mask)[0], weights["self_norm"])
+ return norm(h + torch.relu(h @ weights["up"]) @ weights["down"], weights["network_norm"])

pathway-normalised: You add to the normalised vector instead of the pathway.
- h = h + attention → h = y + attention

no-pathway-at-attention: Attention's result replaces the pathway. Add it to `h`.
- h = h + attention → h = attention

no-pathway-at-the-network: The network's result replaces the pathway. Add it to what it reads.
- return h + torch.relu → return torch.relu

network-beside-attention: Your network reads the vectors from before attention. It comes after it, and reads the sum.
- y = norm(h, weights["network_norm"]) →
- h = h + attention(y, y, weights["self"], n_heads, mask)[0]
+ before, h = h, h + attention(y, y, weights["self"], n_heads, mask)[0]
+ y = norm(before, weights["network_norm"])

norms-swapped: You swapped the two gains.
* "self_norm" → "other"
- "network_norm" → "self_norm"
* "other" → "network_norm"

not-normed-at-the-network: The network reads the pathway without a norm.
- return h + torch.relu(y @ → return h + torch.relu(h @

relu-forgotten: Your network is linear: negative entries are set to 0 between `up` and `down`.
- torch.relu(y @ weights["up"]) → y @ weights["up"]

relu-at-the-end: You set negative entries to 0 after `down`. It belongs between the two matrices.
- torch.relu(y @ weights["up"]) @ weights["down"] → torch.relu(y @ weights["up"] @ weights["down"])

mask-not-passed-on: You do not pass the mask to attention, so words read padding.
- n_heads, mask)[0] → n_heads, torch.ones_like(mask))[0]
""",
)


# --- a layer that writes ----------------------------------------------------------------------------------


def _writing(draw: Draw, label: str, *empty: str) -> Case:
    batch, m, n, d_head, d_ff = draw.sizes(5)
    d = 2 * d_head
    source, reads = padded(draw, batch, n + 1, 9), padded(draw, batch, m + 1, 9)
    over_target = _over(reads) & torch.ones(m + 1, m + 1, dtype=torch.bool).tril()
    weights = _without(layer_weights(draw, d, d_ff, True), *empty)
    z, h = draw.normal(batch, m + 1, d), draw.normal(batch, n + 1, d)
    return case(label, z, h, weights, 2, over_target, _over(source))


def _write_nothing(draw: Draw) -> list[Case]:
    return [_writing(draw, "three parts that add nothing", "self", "cross", "network")]


def _write_self(draw: Draw) -> list[Case]:
    return [_writing(draw, "only self-attention adds something", "cross", "network")]


def _write_cross(draw: Draw) -> list[Case]:
    return [_writing(draw, "only cross-attention adds something", "self", "network")]


def _write_network(draw: Draw) -> list[Case]:
    return [_writing(draw, "only the network adds something", "self", "cross")]


def _write_all(draw: Draw) -> list[Case]:
    return [_writing(draw, "three parts")]


def _write_edges(draw: Draw) -> list[Case]:
    size = 2 * draw.size()
    z, h = draw.normal(size, size, size), draw.normal(size, size, size)
    causal = torch.ones(size, 1, size, size, dtype=torch.bool).tril()
    words = _over(padded(draw, size, size, 9))
    one = torch.ones(2, 1, 1, 1, dtype=torch.bool)
    return [
        case("as many words in both", z, h, layer_weights(draw, size, size, True), 2, causal, words),
        case("one word", draw.normal(2, 1, 4), draw.normal(2, 1, 4), layer_weights(draw, 4, 5, True), 2, one, one),
    ]


DECODER_LAYER = question(
    "translation.decoder_layer",
    minutes=20,
    difficulty="medium",
    returns=("z", "cross"),
    properties=[
        shapes(0.15, _write_all),
        values("a layer that adds nothing", 0.1, _write_nothing, "z"),
        values("self-attention alone", 0.5, _write_self, "z"),
        values("cross-attention alone", 0.75, _write_cross, "z"),
        values("the network alone", 0.25, _write_network, "z"),
        values("all three", 0.75, _write_all, "z"),
        values("the weights of the cross-attention", 0.5, _write_all, "cross"),
        values("as many words in both, one word", 0.5, _write_edges),
    ],
    closed=CLOSED,
    mistakes="""
source-normed-again: You normalise `h` again. The encoder has done that once, at its end; every layer uses it as it
is.
- attention(y, h, weights["cross"] → attention(y, norm(h, weights["cross_norm"]), weights["cross"]

cross-not-normed: The cross-attention reads the pathway without a norm. Each of the three parts has its own norm.
- attention(y, h, weights["cross"] → attention(z, h, weights["cross"]

cross-to-itself: Your second attention is self-attention once more: keys and values come from the decoder. They come
from `h`.
- attention(y, h, weights["cross"], n_heads, over_source) → attention(y, y, weights["cross"], n_heads, over_target)

source-asks: In your cross-attention the source asks and the target answers. `z` asks, so its norm is the first
argument.
- attention(y, h, weights["cross"], n_heads, over_source) → attention(h, y, weights["cross"], n_heads, over_source)

cross-before-self: Your cross-attention comes before the self-attention. First the target reads itself, then the
source.
+ y = norm(z, weights["cross_norm"])
+ added, cross, _ = attention(y, h, weights["cross"], n_heads, over_source)
+ z = z + added
+ y = norm(z, weights["self_norm"])
+ z = z + attention(y, y, weights["self"], n_heads, over_target)[0]
+ y = norm(z, weights["network_norm"])
+ return z + torch.relu(y @ weights["up"]) @ weights["down"], cross

cross-of-the-old-pathway: Your cross-attention asks with the vectors from before the self-attention. The parts follow
one another, and each reads the current pathway.
- y = norm(z, weights["self_norm"]) → y, old = norm(z, weights["self_norm"]), z
- y = norm(z, weights["cross_norm"]) → y = norm(old, weights["cross_norm"])

no-pathway-at-cross: The result of the cross-attention replaces the pathway. Add it to `z`.
- z = z + added → z = added

no-pathway-at-self: The result of the self-attention replaces the pathway. Add it to `z`.
- z = z + attention → z = attention

no-pathway-at-the-network: The network's result replaces the pathway. Add it to what it reads.
- return z + torch.relu → return torch.relu

self-matrices-twice: You use the matrices of `self` for the cross-attention. It has its own, `cross`.
- weights["cross"], → weights["self"],

self-weights-returned: You return the weights of the self-attention. The question asks for those of the cross-attention.
- z = z + attention(y, y, weights["self"], n_heads, over_target)[0]
+ out, mine, _ = attention(y, y, weights["self"], n_heads, over_target)
+ z = z + out
- @ weights["down"], cross → @ weights["down"], mine

norms-swapped: You swapped the gains of the two attentions: `self_norm` comes before the first, `cross_norm` before
the second.
* "self_norm" → "other"
- "cross_norm" → "self_norm"
* "other" → "cross_norm"

no-order: Your self-attention does not use its mask, so a position reads later words.
- n_heads, over_target) → n_heads, torch.ones_like(over_target))

source-padding-read: Your cross-attention does not use its mask, so the decoder reads the padding of the source.
- n_heads, over_source) → n_heads, torch.ones_like(over_source))

relu-forgotten: Your network is linear: negative entries are set to 0 between `up` and `down`.
- torch.relu(y @ weights["up"]) → y @ weights["up"]
""",
)
