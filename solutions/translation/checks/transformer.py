"""Questions 1 to 5: targets and masks, attention, layers, the model, and the wrong line of a friend who reranks.

The scores of attention are asked for as well: PyTorch's own attention returns the output, in some forms the weights,
but never these.
"""

import functools
from itertools import chain
from typing import Any

import torch
from torch import Tensor

from autograder.question.declare import holds, judged, question, shapes, values
from autograder.question.draw import Draw
from autograder.question.kinds import DIGITS, EQUAL
from autograder.question.laws.attention import output_follows_over_heads
from autograder.question.sized import MAIN, ODD, at, these
from autograder.question.special import wrong_line
from autograder.question.specification import Case
from solutions.translation.laws import later_words_do_not_matter, padding_does_not_matter, written_as_alone

CLOSED = (
    "nlmcore.attention",
    "nlmcore.decoding",
    "nlmcore.fast",
    "nlmcore.metrics",
    "nlmcore.retrieval",
    "nlmcore.seq2seq",
    "nltk",
    "sacrebleu",
    "transformers",
)
"""Attention, everything built on it, what writes, what measures, what retrieves."""

ask = functools.partial(question, closed=CLOSED)
Weights = dict[str, Any]
FIRST = 3
"""The first id of a word: 0, 1 and 2 are padding, `bos` and `eos`."""
EOS = 2
VOCAB, OTHER = 14, 12
"""Ids of the source's and of the target's vocabulary."""

# --- texts and weights -------------------------------------------------------------------------------------------


def padded(draw: Draw, batch: int, time: int, vocab: int, full: bool = True) -> Tensor:
    """Texts (batch, time), 0 after the words. Row 0 is `full`, if it shall be; row 1 is shorter."""
    lengths = draw.integers(1, max(1, time - 1), batch)
    if full:
        lengths[0] = time
    words = draw.integers(FIRST, vocab - 1, batch, time)
    return torch.where(torch.arange(time) < lengths[:, None], words, 0)


def ended(tokens: Tensor) -> Tensor:
    """The same with `eos` as the last word of every text."""
    tokens = tokens.clone()
    tokens[torch.arange(len(tokens)), (tokens > 0).sum(1) - 1] = EOS
    return tokens


def started(tokens: Tensor) -> Tensor:
    """The same with `bos` as the first word."""
    tokens = tokens.clone()
    tokens[:, 0] = 1
    return tokens


def over(tokens: Tensor) -> Tensor:
    """A mask that hides the padding."""
    return (tokens > 0)[:, None, None, :]


def causal(time: int) -> Tensor:
    return torch.ones(time, time, dtype=torch.bool).tril()


def matrix(draw: Draw, rows: int, columns: int, scale: float = 1.0) -> Tensor:
    return scale * draw.normal(rows, columns) / rows**0.5


def attention_weights(draw: Draw, d: int) -> dict[str, Tensor]:
    scales = {"query": 2.0, "key": 2.0, "value": 1.0, "output": 2.0}
    return {name: matrix(draw, d, d, scale) for name, scale in scales.items()}


def layer_weights(draw: Draw, d: int, d_ff: int, cross: bool, empty: str = "") -> Weights:
    """Gains differ, so that a swapped norm shows. The parts named in `empty` add nothing."""
    made: Weights = {"self_norm": draw.normal(d), "self": attention_weights(draw, d)}
    if cross:
        made |= {"cross_norm": draw.normal(d), "cross": attention_weights(draw, d)}
    made |= {"network_norm": draw.normal(d), "up": matrix(draw, d, d_ff), "down": matrix(draw, d_ff, d, 2.0)}
    for part in empty.split():
        weights, name = (made, "down") if part == "network" else (made[part], "output")
        weights[name] = torch.zeros_like(weights[name])
    return made


def model_weights(draw: Draw, d: int, d_ff: int, source: int, target: int, layers: int) -> Weights:
    """Of vocabularies with `source` and `target` ids."""
    return {
        "source": draw.normal(source, d),
        "target": draw.normal(target, d),
        "encoder": [layer_weights(draw, d, d_ff, False) for _ in range(layers)],
        "encoder_norm": draw.normal(d),
        "decoder": [layer_weights(draw, d, d_ff, True) for _ in range(layers)],
        "decoder_norm": draw.normal(d),
    }


def model(draw: Draw, layers: int = 2, half: int = 3) -> Weights:
    return model_weights(draw, 2 * half, half + 2, VOCAB, OTHER, layers)


def square(draw: Draw, layers: int) -> Weights:
    """Vocabularies and networks as large as d; and so many texts with so many words."""
    return model_weights(draw, 6, 6, 6, 6, layers)


def words(draw: Draw) -> Tensor:
    return padded(draw, 6, 6, 6)


# --- 1. shifted targets, and two masks ---------------------------------------------------------------------------


SHIFTED = ask(
    "translation.shifted",
    returns=("reads", "predicts"),
    inputs=at(
        DIGITS, lambda draw, batch, time, full=True, bos=1, eos=2: (padded(draw, batch, time + 1, 40, full), bos, eos)
    ),
    odd=[
        at("targets without padding", lambda draw, batch, time: (draw.integers(FIRST, 30, batch, time), 1, 2)),
        at("more padding than the longest needs", full=False),
        at("a target without any word", lambda draw, n: (padded(draw, 2, n, 40) * torch.tensor([[1], [0]]), 1, 2)),
        at("other ids for bos and eos", bos=51, eos=50),
    ],
    properties=[
        shapes(0.2),
        values("what is read", 0.6, "reads"),
        values("what is predicted", 0.7, "predicts"),
        values("no padding, no word, more padding", 0.5, ODD),
    ],
    mistakes="""
end-in-the-last-column: You put `eos` into the last column of every row. It belongs directly after the last word, in
front of the padding.
- predicts[torch.arange(len(tokens)), (tokens > 0).sum(dim=1)] = eos → predicts[:, -1] = eos
end-over-the-last-word: Your `eos` replaces the last word. It comes after it: a target with three words has its `eos`
at index 3.
- (tokens > 0).sum(dim=1)] → (tokens > 0).sum(dim=1) - 1]
end-read-as-well: Your decoder reads `eos` as well, in rows that are padded. After `eos` there is nothing to predict,
so nobody has to read it: what is read is `bos` and the words.
- return reads, predicts → return torch.cat([column + bos, predicts[:, :-1]], dim=1), predicts
or
- return reads, predicts
+ reads[torch.arange(len(tokens)), (tokens > 0).sum(dim=1)] = eos
+ return reads, predicts
end-forgotten: There is no `eos` in what is predicted. Without it the model never learns where to stop.
- predicts[torch.arange(len(tokens)), (tokens > 0).sum(dim=1)] = eos → pass
not-shifted: What is read begins with the first word, so each position reads the very word that it must predict. Put
`bos` in front.
- reads = torch.cat([column + bos, tokens], dim=1) → reads = torch.cat([tokens, column], dim=1)
start-predicted: What you predict begins with `bos`. The decoder reads `bos`, and the first thing it predicts is the
first word.
- predicts = torch.cat([tokens, column], dim=1) → predicts = torch.cat([column + bos, tokens], dim=1)
- (tokens > 0).sum(dim=1)] → (tokens > 0).sum(dim=1).clamp(max=tokens.shape[1] - 1) + 1]
or
- predicts = torch.cat([tokens, column], dim=1) → predicts = torch.cat([column + bos, tokens], dim=1)
as-long-as-before: Your results are only as long as `tokens`, so the last word of a full row is not read, and its
`eos` is not predicted. Both have one column more.
- return reads, predicts → return reads[:, :-1], predicts[:, :-1]
or
- torch.cat([column + bos, tokens], dim=1) → torch.cat([column + bos, tokens[:, :-1]], dim=1)
swapped: You return the two results in the wrong order: first what is read, then what is predicted.
- return reads, predicts → return predicts, reads
padding-is-end: You fill the whole rest of a row with `eos`. There is one `eos` per row; after it comes padding.
- predicts[torch.arange(len(tokens)), (tokens > 0).sum(dim=1)] = eos
+ predicts = torch.where(predicts == 0, eos, predicts)
end-one-too-late: Your `eos` comes one place too late: directly after three words is index 3.
- (tokens > 0).sum(dim=1)] → ((tokens > 0).sum(dim=1) + 1).clamp(max=tokens.shape[1])]
end-at-the-smallest: In a row without padding your `eos` replaces a word: you look for the first 0, and there is none.
- (tokens > 0).sum(dim=1)] → tokens.argmin(dim=1)]
""",
)


def both_texts(draw: Draw, batch: int, n: int, m: int, full: bool = True) -> tuple[Tensor, Tensor]:
    """A source, which ends with `eos`, and what a decoder reads, which begins with `bos`."""
    return ended(padded(draw, batch, n + 1, 20, full)), started(padded(draw, batch, m + 1, 20, full))


full_target = at(
    "a target without padding",
    lambda draw, batch, n, m: (both_texts(draw, batch, n, m)[0], started(draw.integers(FIRST, 19, batch, m + 1))),
)
MASKS = ask(
    "translation.masks",
    returns=("over_source", "over_target"),
    inputs=at("padding in both", both_texts),
    odd=[
        at("as many words in both", lambda draw, batch, n: both_texts(draw, batch, n, n)),
        at("one word each", batch=1, n=0, m=0),
        at("more padding", full=False),
        at(EQUAL, batch=4, n=3, m=3),
    ],
    properties=[
        shapes(0.25, name="boolean, and the shapes", boolean=True),
        values("the mask over the source", 0.75, "over_source"),
        values("no query sees a later position", 0.5, full_target, "over_target"),
        values("padding of the target as well", 0.5, "over_target"),
        values("one word, as many words in both", 0.5, ODD),
    ],
    mistakes="""
target-padding-forgotten: Your second mask hides later positions, but not the padding of the target.
- before & (reads > 0)[:, None, None, :] → before.expand(len(reads), 1, m, m)
order-forgotten: Your second mask hides the padding, but not the later positions: the decoder would read what it must
predict.
- before & (reads > 0)[:, None, None, :] → (reads > 0)[:, None, None, :].expand(len(reads), 1, m, m)
rows-hidden: You hide the *rows* of padding, which are its queries. Padding is hidden as a key, in the columns, and
its queries may see the words: a query without any key gives NaN.
- (reads > 0)[:, None, None, :] → (reads > 0)[:, None, :, None]
either-or: You joined the two conditions with “or”. A key must be a word *and* not come later.
- before & (reads → before | (reads
source-in-order: Your first mask hides later words of the source as well. The source is known from the start, so it is
read in both directions.
- (source > 0)[:, None, None, :], before
+ (source > 0)[:, None, None, :] & torch.ones(source.shape[1], source.shape[1]).tril().bool(), before
upside-down: Your masks are True where something is hidden. Here True means that a query may attend.
- return (source > 0)[:, None, None, :], before & (reads > 0)[:, None, None, :]
+ return (source == 0)[:, None, None, :], ~(before & (reads > 0)[:, None, None, :])
not-even-itself: A position of the target does not see itself in your mask, only what comes before it. It reads its
own word, and predicts the next one.
- .tril() → .tril(-1)
later-instead-of-earlier: Your second mask shows the later positions and hides the earlier ones: the triangle is the
wrong one.
- .tril() → .triu()
no-axis-for-heads: Your masks have no axis for the heads: (batch, 1, …) is asked, with the size 1 at the second place.
- return (source > 0)[:, None, None, :], before & (reads > 0)[:, None, None, :]
+ return (source > 0)[:, None, :], before & (reads > 0)[:, None, :]
swapped: You return the masks in the wrong order: first the one over the source, then the one over the target.
- return (source > 0)[:, None, None, :], before & (reads > 0)[:, None, None, :]
+ return before & (reads > 0)[:, None, None, :], (source > 0)[:, None, None, :]
start-or-end-hidden: You hide `bos` or `eos` as well. Only padding is hidden, the id 0.
- (source > 0) → (source > 2)
or
- (reads > 0) → (reads > 1)
or
- (reads > 0) → (reads > 2)
source-rows-hidden: Your first mask has a row for each word of the source. Padding hides keys, for all queries alike:
(batch, 1, 1, n).
- (source > 0)[:, None, None, :] → (source > 0)[:, None, None, :] & (source > 0)[:, None, :, None]
""",
)

# --- 2. attention whose queries come from one text and whose keys and values come from another --------------------


def attends(
    draw: Draw, batch: int, m: int, n: int, d_head: int, heads: int = 2, seen: str = "words", scale: float = 1.0
) -> tuple[Any, ...]:
    d = heads * d_head
    masks = {
        "everything": torch.ones(batch, 1, 1, n, dtype=torch.bool),
        "words": over(padded(draw, batch, n, 9)),
        "by query": draw.mask(batch, 1, m, n),
    }
    x, memory = scale * draw.normal(batch, m, d), draw.normal(batch, n, d)
    return x, memory, attention_weights(draw, d), heads, masks[seen]


def two_ask(draw: Draw, batch: int, m: int, n: int, d_head: int) -> Case:
    """`known`: what each word of the memory contributes through each head, (batch, head, n, d)."""
    x, *given = attends(draw, batch, m, n, d_head, seen="by query")
    memory, weights, heads, _ = given
    value = (memory @ weights["value"]).unflatten(-1, (heads, -1)).transpose(1, 2)
    contributed = (value @ weights["output"].unflatten(0, (heads, -1))).double()
    return Case(label="", calls=((x, *given), (draw.normal(*x.shape), *given)), known=(contributed,) * 2)


def to_itself(draw: Draw, batch: int, m: int, d_head: int) -> tuple[Any, ...]:
    x, _, weights, heads, words = attends(draw, batch, m, m, d_head)
    return x, x.clone(), weights, heads, words & causal(m)


everything = MAIN, at("three heads", heads=3, seen="everything")
hidden = these(
    at("padding in the source"),
    at("another mask for each query", seen="by query"),
    at(EQUAL, batch=4, m=4, n=4, d_head=1, heads=4, seen="by query"),
)
edges = these(
    at("queries whose scores are 0", scale=0.0, seen="by query"),
    at("one query", m=1, seen="everything"),
    at("one key", n=1, seen="everything"),
    at("one head", heads=1, seen="everything"),
    at("square", lambda draw, d: attends(draw, 1, d, d, d, 1, "by query")),
)
ATTEND = ask(
    "translation.attention",
    returns=("output", "shares", "scores"),
    inputs=at("everything may be seen", attends, seen="everything"),
    properties=[
        shapes(0.25),
        values("scores and weights if everything may be seen", 1.25, *everything, "scores", "shares"),
        values("scores and weights with a mask", 1, hidden, "scores", "shares"),
        holds("the output, given your weights", 1.25, at("two texts that ask", two_ask), output_follows_over_heads),
        values("a text to itself, both masks", 0.5, at("a text to itself, both masks", to_itself)),
        values("one query, one key, one head, square", 0.5, edges),
        values("very large scores", 0.25, at("scores of a hundred and more", scale=100.0), "scores", "shares"),
    ],
    mistakes="""
keys-from-who-asks: Your keys come from `x`. The text that answers has the keys: compare x @ query with memory @ key.
- split(memory @ weights["key"]) → split(x @ weights["key"])
keys-and-values-from-who-asks: Your keys and values both come from `x`, so this is self-attention: the decoder would
never see the source. They come from `memory`.
* memory @ → x @
queries-from-memory: Your queries come from `memory` and your keys and values from `x`: the source asks the target. It
is the other way round.
- x @ weights["query"] → other @ weights["query"]
* memory @ → x @
- other @ → memory @
values-from-who-asks: Your values come from `x`. What is passed on is what the source contains, so they come from
`memory`.
- split(memory @ weights["value"]) → split(x @ weights["value"])
mask-ignored: You do not use the mask.
- scores.masked_fill(~mask, -math.inf) → scores
mask-upside-down: You hide what may be seen and show what is hidden. True means that a query may attend.
- ~mask, -math.inf), dim=-1) → mask, -math.inf), dim=-1).nan_to_num()
or
- ~mask, → mask,
masked-scores-returned: You return the scores after the mask. Return them as they are before anything is hidden.
- shares = torch.softmax(scores.masked_fill(~mask, -math.inf), dim=-1)
+ scores = scores.masked_fill(~mask, -1e9)
+ shares = torch.softmax(scores, dim=-1)
or
- shares = torch.softmax(scores.masked_fill(~mask, -math.inf), dim=-1)
+ scores = scores.masked_fill(~mask, -math.inf)
+ shares = torch.softmax(scores, dim=-1)
hidden-scores-zero: You set hidden scores to 0, which is an ordinary score: exp(0) = 1. Only −∞ removes them.
- -math.inf → 0.0
zeros-hidden: You take every score of 0 for one that is hidden. A score can be 0 by itself, and then its word counts.
Hide by the mask, not by value.
- ~mask, → ~mask | (scores == 0),
hidden-after-the-softmax: You removed hidden words after the softmax, so the other weights no longer sum to 1. Mask
the scores, before it.
- torch.softmax(scores.masked_fill(~mask, -math.inf), dim=-1) → torch.softmax(scores, dim=-1) * mask
not-scaled: The division by the root of a head's width is missing.
-  / math.sqrt(q.shape[-1]) →
root-forgotten: You divided by the width of a head. Divide by its root.
- math.sqrt(q.shape[-1]) → q.shape[-1]
scaled-by-all-heads: You divided by the root of d. The dot products of one head have only d / n_heads terms.
- math.sqrt(q.shape[-1]) → math.sqrt(x.shape[-1])
softmax-over-queries: Your softmax runs over the queries. Each query's weights sum to 1, over the keys: the last axis.
- dim=-1) → dim=-2).nan_to_num()
or
- dim=-1) → dim=-2)
split-without-swapping: Your heads are cut out of memory in one reshape, so a head mixes several words. Cut the last
axis in two, then swap it with time.
- projected.unflatten(-1, (n_heads, -1)).transpose(1, 2)
+ projected.reshape(len(projected), n_heads, projected.shape[1], -1)
split-the-other-way: Your heads take every n-th column. Head 0 gets the *first* columns: cut the last axis into (head,
width), in this order.
- projected.unflatten(-1, (n_heads, -1)).transpose(1, 2) → projected.unflatten(-1, (-1, n_heads)).permute(0, 3, 1, 2)
joined-without-swapping: You join the heads without swapping back, so a word gets pieces of other words. Swap head and
time first, then flatten.
- (shares @ v).transpose(1, 2).flatten(2) → (shares @ v).reshape(x.shape)
output-forgotten: You return the joined heads as they are. `output` mixes them.
-  @ weights["output"], → ,
overflow: exp overflows: e⁹⁰ is more than a float32 holds. Subtract the largest score of each row first, or use
torch.softmax, which does so.
- shares = torch.softmax(scores.masked_fill(~mask, -math.inf), dim=-1)
+ shares = scores.exp() * mask
+ shares = shares / shares.sum(-1, keepdim=True)
mean-over-heads: You return the mean of the weights over the heads. Return them for each head.
- @ weights["output"], shares → @ weights["output"], shares.mean(1, keepdim=True).expand_as(shares)
output-transposed: You multiply by `output` transposed. A matrix is (in, out), as for the three others.
- weights["output"] → weights["output"].T
""",
)

# --- 3. a layer that reads, and a layer that writes --------------------------------------------------------------


def reading(draw: Draw, batch: int, n: int, d_head: int, d_ff: int, empty: str = "") -> tuple[Any, ...]:
    words = over(padded(draw, batch, n, 9))
    return draw.normal(batch, n, 2 * d_head), layer_weights(draw, 2 * d_head, d_ff, False, empty), 2, words


ENCODER_LAYER = ask(
    "translation.encoder_layer",
    returns=("h",),
    inputs=at("attention and network", reading),
    odd=[at("one word", n=1), at(EQUAL, batch=4, n=4, d_head=2, d_ff=4)],
    properties=[
        shapes(0.1),
        values("a layer that adds nothing", 0.15, at("two parts that add nothing", empty="self network")),
        values("attention alone", 0.75, at("a network that adds nothing", empty="network")),
        values("the network alone", 0.5, at("attention that adds nothing", empty="self")),
        values("both", 0.5),
        values("one word, square matrices", 0.5, ODD),
    ],
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
another-activation: Your network has another activation, GELU or SiLU. Here negative entries become 0: ReLU.
- torch.relu → torch.nn.functional.gelu
or
- torch.relu → torch.nn.functional.silu
first-gain-twice: Your network reads through the norm of attention. It has its own gain, `network_norm`.
- "network_norm" → "self_norm"
""",
)


def writing(draw: Draw, batch: int, m: int, n: int, d_head: int, d_ff: int, empty: str = "") -> tuple[Any, ...]:
    d = 2 * d_head
    source, reads = padded(draw, batch, n, 9), padded(draw, batch, m, 9)
    z, h = draw.normal(batch, m, d), draw.normal(batch, n, d)
    return z, h, layer_weights(draw, d, d_ff, True, empty), 2, over(reads) & causal(m), over(source)


DECODER_LAYER = ask(
    "translation.decoder_layer",
    returns=("z", "cross"),
    inputs=at("three parts", writing),
    odd=[at("as many words in both", batch=4, m=4, n=4, d_head=2, d_ff=4), at("one word", m=1, n=1)],
    properties=[
        shapes(0.15),
        values("a layer that adds nothing", 0.1, at("three parts that add nothing", empty="self cross network"), "z"),
        values("self-attention alone", 0.5, at("only self-attention adds something", empty="cross network"), "z"),
        values("cross-attention alone", 0.75, at("only cross-attention adds something", empty="self network"), "z"),
        values("the network alone", 0.25, at("only the network adds something", empty="self cross"), "z"),
        values("all three", 0.75, "z"),
        values("the weights of the cross-attention", 0.5, "cross"),
        values("as many words in both, one word", 0.5, ODD),
    ],
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
or
- y = norm(z, weights["cross_norm"]) →
network-of-the-old-pathway: Your network reads the vectors from before the cross-attention. Each part reads the current
pathway.
- y = norm(z, weights["network_norm"]) → y = norm(z - added, weights["network_norm"])
mean-of-the-heads: Your cross-attention weights are the mean of the heads. Return those of every head.
- @ weights["down"], cross → @ weights["down"], cross.mean(1)
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
scores-returned: You return the scores of the cross-attention. Its weights are the second result of `attention`.
- added, cross, _ = → added, _, cross =
masks-swapped: You swapped the two masks: keys of the self-attention are in the target, those of the cross-attention in
the source.
- n_heads, over_target) → n_heads, over_source)
- weights["cross"], n_heads, over_source) → weights["cross"], n_heads, over_target)
or
- weights["cross"], n_heads, over_source) → weights["cross"], n_heads, over_target)
""",
)

# --- 4. the encoder, the decoder, the loss, and writing ----------------------------------------------------------


def encodes(draw: Draw, batch: int, n: int, half: int, layers: int = 1, heads: int = 2) -> tuple[Any, ...]:
    return ended(padded(draw, batch, n + 1, VOCAB)), model(draw, layers, half), heads


def source_alone(draw: Draw, n: int) -> Case:
    """A batch, and its second row without padding."""
    source, weights, heads = encodes(draw, 3, n + 1, 3, 2)
    words = int((source[1] > 0).sum())
    calls = ((source, weights, heads), (source[1:2, :words].clone(), weights, heads))
    return Case(label="", calls=calls, known=(torch.tensor(words),))


several_layers = these(at("three layers", layers=3), at("two layers, one head", layers=2, heads=1))
ENCODE = ask(
    "translation.encode",
    returns=("h",),
    inputs=at("one layer", encodes),
    odd=[
        at(EQUAL, lambda draw: (ended(words(draw)), square(draw, 1), 2)),
        at("one word", batch=1, n=0),
        at("more padding than the longest needs", lambda draw, n: (padded(draw, 3, n, VOCAB, False), model(draw), 2)),
    ],
    properties=[
        shapes(0.1),
        values("the values with one layer", 0.65),
        values("the values with several layers", 0.5, several_layers),
        holds("padding makes no difference", 0.25, at("a sentence alone", source_alone), padding_does_not_matter),
        values("one word, a vocabulary as large as d", 0.5, ODD),
    ],
    mistakes="""
last-norm-forgotten: The norm after the last layer is missing. The pathway grows from layer to layer; `encoder_norm`
brings it to one size before the decoder reads it.
- return norm(h, weights["encoder_norm"]) → return h
norm-after-each-layer: You apply `encoder_norm` after every layer. It comes once, after the last.
- h = encoder_layer(h, part, n_heads, over_source)
+ h = norm(encoder_layer(h, part, n_heads, over_source), weights["encoder_norm"])
- return norm(h, weights["encoder_norm"]) → return h
or
- h = encoder_layer(h, part, n_heads, over_source)
+ h = norm(encoder_layer(h, part, n_heads, over_source), weights["encoder_norm"])
padding-cut-off: You cut off padding that no source needs, so `h` has fewer positions than `source`. It has one vector
for every position: (batch, n, d).
^ source = source[:, : int((source > 0).sum(1).max())]
order-in-the-source: Your encoder reads only to the left. The source is known from the start, so every word may read
every other one: use the first of the two masks.
- over_source, _ = masks → _, over_source = masks
padding-read: Words of the source read the padding, so a sentence depends on the longest one of its batch.
- over_source, _ = masks(source, source) → over_source = torch.ones(1, 1, 1, source.shape[1], dtype=torch.bool)
target-table: You embed the source with the target's table.
- weights["source"] → weights["target"]
first-layer-again: You use the weights of the first layer for all layers. Each has its own.
- encoder_layer(h, part, → encoder_layer(h, weights["encoder"][0],
last-layer-only: Every layer of yours reads the embedding, so only the last one counts. Each reads what the previous
one returned.
- for part in weights["encoder"] → for part in weights["encoder"][-1:]
layers-backwards: Your layers run from the last to the first.
- for part in weights["encoder"] → for part in weights["encoder"][::-1]
positions-forgotten: You look up the words without `embed`, so their positions are missing.
- embed(source, weights["source"]) → weights["source"][source]
or
- embed(source, weights["source"]) → weights["source"][source] * weights["source"].shape[1] ** 0.5
padding-zeroed: You set the vectors at padding to 0. Nothing asks for that: masks hide them wherever they are read.
- return norm(h, weights["encoder_norm"]) → return norm(h, weights["encoder_norm"]) * (source > 0)[..., None]
""",
)


def decodes(draw: Draw, batch: int, m: int, n: int, half: int, layers: int = 2, heads: int = 2) -> tuple[Any, ...]:
    source, weights, heads = encodes(draw, batch, n, half, layers, heads)
    return started(padded(draw, batch, m + 1, OTHER)), draw.normal(batch, n + 1, 2 * half), source, weights, heads


def later_word(draw: Draw, batch: int, m: int, n: int, half: int) -> Case:
    reads, *given = decodes(draw, batch, m, n, half)
    reads = started(draw.integers(FIRST, OTHER - 1, *reads.shape))
    other, start = reads.clone(), reads.shape[1] // 2
    other[:, start:] = FIRST + (reads[:, start:] - 2) % (OTHER - FIRST)
    return Case(label="", calls=((reads, *given), (other, *given)), known=(torch.tensor(start),))


def pair_alone(draw: Draw, batch: int, m: int, n: int, half: int) -> Case:
    """A batch, and its second row without the padding of source and target."""
    reads, h, source, *given = decodes(draw, batch, m, n, half)
    m, n = int((reads[1] > 0).sum()), int((source[1] > 0).sum())
    alone = (reads[1:2, :m].clone(), h[1:2, :n].clone(), source[1:2, :n].clone(), *given)
    return Case(label="", calls=((reads, h, source, *given), alone), known=(torch.tensor(m),))


usual = MAIN, at("one layer, one head", layers=1, heads=1)
later, alone = at("a later word changes", later_word), at("a sentence alone", pair_alone)
DECODE = ask(
    "translation.decode",
    returns=("logits", "cross"),
    inputs=at("two layers", decodes),
    odd=[
        at(EQUAL, lambda draw: (started(words(draw)), draw.normal(6, 6, 6), ended(words(draw)), square(draw, 2), 2)),
        at("one word each", batch=1, m=0, n=0),
    ],
    properties=[
        shapes(0.25),
        values("the logits", 1.25, *usual, "logits"),
        values("the weights of the last layer", 0.5, *usual, "cross"),
        holds("no logit depends on a later word", 0.5, later, later_words_do_not_matter, about=("logits",)),
        holds("padding makes no difference", 0.5, alone, padding_does_not_matter, about=("logits",)),
        values("one word, a vocabulary as large as d", 0.5, ODD),
    ],
    mistakes="""
last-norm-forgotten: The norm after the last layer is missing. `decoder_norm` comes before the dot products.
- norm(z, weights["decoder_norm"]) @ → z @
table-not-transposed: You multiply by the target's table where its transpose is needed. Each *row* of it is a word. If
vocabulary and d are equal, no shape reveals this.
- weights["target"].T, → weights["target"],
source-table-read: You embed what the decoder reads with the source's table.
- embed(reads, weights["target"]) → embed(reads, weights["source"])
probabilities: You return probabilities, or their logarithms. Logits are the scores before the softmax.
- return norm(z, weights["decoder_norm"]) @ weights["target"].T, cross
+ return torch.softmax(norm(z, weights["decoder_norm"]) @ weights["target"].T, -1), cross
or
- return norm(z, weights["decoder_norm"]) @ weights["target"].T, cross
+ return torch.log_softmax(norm(z, weights["decoder_norm"]) @ weights["target"].T, -1), cross
last-position-only: You return the logits of the last position only. In training every position counts.
- norm(z, weights["decoder_norm"]) → norm(z[:, -1:], weights["decoder_norm"])
order-forgotten: The decoder reads later words: your mask over the target hides only its padding.
- over_source, over_target = masks(source, reads)
+ over_source, over_target = masks(source, reads)[0], (reads > 0)[:, None, None, :]
source-padding-read: The decoder reads the padding of the source.
- masks(source, reads) → masks(torch.ones_like(source), reads)
masks-swapped: You swapped the two masks on their way to the layers: `decoder_layer` takes the one over the target
first.
- n_heads, over_target, over_source) → n_heads, over_source, over_target)
weights-of-the-first-layer: You return the cross-attention weights of the first layer. Those of the last one are
asked.
- z, cross = decoder_layer(z, h, part, n_heads, over_target, over_source)
+ z, found = decoder_layer(z, h, part, n_heads, over_target, over_source)
+     cross = found if part is weights["decoder"][0] else cross
weights-averaged: Your cross-attention weights are the mean over the heads. Return them for each head.
- weights["target"].T, cross → weights["target"].T, cross.mean(1, keepdim=True).expand_as(cross)
first-layer-again: You use the weights of the first layer for all layers. Each has its own.
- decoder_layer(z, h, part, → decoder_layer(z, h, weights["decoder"][0],
last-layer-only: Every layer of yours reads the embedding, so only the last one counts. Each reads what the previous
one returned.
- for part in weights["decoder"] → for part in weights["decoder"][-1:]
layers-backwards: Your layers run from the last to the first.
- for part in weights["decoder"] → for part in weights["decoder"][::-1]
positions-forgotten: You look up the words without `embed`, so their positions are missing.
- embed(reads, weights["target"]) → weights["target"][reads]
norm-of-the-encoder: Your last norm has the gain of the encoder's. The decoder has its own, `decoder_norm`.
- "decoder_norm" → "encoder_norm"
weights-of-all-layers: You return the mean of the cross-attention weights over the layers. Those of the last one are
asked.
- z, cross = decoder_layer(z, h, part, n_heads, over_target, over_source)
+ z, found = decoder_layer(z, h, part, n_heads, over_target, over_source)
+     cross = found / len(weights["decoder"]) + (0 if part is weights["decoder"][0] else cross)
source-normed-again: You normalise `h` once more. The encoder has done so, at its end.
- decoder_layer(z, h, part → decoder_layer(z, norm(h, weights["encoder_norm"]), part
""",
)


def pairs(draw: Draw, batch: int, n: int, m: int, half: int, padding: str = "some") -> tuple[Any, ...]:
    source, weights, heads = encodes(draw, batch, n, half)
    if padding == "none":
        return source, draw.integers(FIRST, OTHER - 1, batch, m), weights, heads
    return source, padded(draw, batch, m + 2, OTHER, full=padding == "some"), weights, heads


LOSS = ask(
    "translation.loss",
    returns=("loss",),
    inputs=at("targets of several lengths", pairs),
    odd=[
        at("a single word", batch=1, n=1, m=1, padding="none"),
        at("more padding", padding="more"),
        at(EQUAL, lambda draw: (ended(words(draw)), words(draw), square(draw, 1), 2)),
    ],
    properties=[
        values("targets of one length", 0.75, at("targets of one length", padding="none")),
        values("targets of several lengths", 1.25, MAIN, at("the same once more")),
        values("a single word, more padding", 0.5, ODD),
    ],
    mistakes="""
padding-counted: You count the padding as if it had to be predicted. Only positions where `predicts` is not 0 count.
- -each[predicts > 0].mean() → -each.mean()
divided-by-all-positions: The padding adds nothing to your sum, but you divide by the number of all positions. Divide
by the number of those that count.
- -each[predicts > 0].mean() → -each[predicts > 0].sum() / each.numel()
mean-of-sentences: You average the means of the sentences, so a word of a short sentence counts more. Take one mean
over all words of the batch.
- return -each[predicts > 0].mean()
+ real = predicts > 0
+ return -(torch.where(real, each, 0.0).sum(1) / real.sum(1)).mean()
summed-over-words: You return the sum over the words, per sentence or altogether. Take the mean over all words.
- -each[predicts > 0].mean() → -each[predicts > 0].sum()
or
- -each[predicts > 0].mean() → -each[predicts > 0].sum() / len(target)
end-not-counted: You leave out `eos`. It has to be predicted like any other word; otherwise the model never learns to
stop.
- each[predicts > 0] → each[predicts > EOS]
read-instead-of-predicted: You take the probability of the word that each position *reads*. It must predict the next
one.
- gather(-1, predicts[..., None]) → gather(-1, reads[..., None])
answer-read: The decoder reads the words that it must predict. Let it read the shifted ones.
- decode(reads, → decode(predicts,
sign-forgotten: Your loss is negative. The logarithm of a probability is negative, and the loss is its opposite.
- -each[ → each[
not-normalised: You took the logits for log-probabilities. They become such by `torch.log_softmax`.
- torch.log_softmax(logits, dim=-1) → logits
softmax-over-positions: Your softmax runs over the positions. The last axis, the vocabulary, is the one that sums to
1.
- torch.log_softmax(logits, dim=-1) → torch.log_softmax(logits, dim=1)
bits-for-nats: Your loss is in bits. It is the mean of −ln p, the natural logarithm.
- -each[predicts > 0].mean() → -each[predicts > 0].mean() / math.log(2)
most-probable-for-right: You take the most probable word at each position. The loss asks for the right one.
- log_p.gather(-1, predicts[..., None])[..., 0] → log_p.amax(-1)
""",
)

MANY = 24


@functools.lru_cache(maxsize=256)
def found(seed: int, batch: int, n: int, longest: int, ends: int, equal: bool) -> tuple[Any, ...]:
    """A call whose rows end at `ends` different times or more. Rows are all different, none has padding or `bos` among
    its words, the longest has three words or more. `equal`: all sizes are equal, and rows may be alike."""
    draw = Draw(seed, 5)
    while True:
        weights = square(draw, 1) if equal else model(draw, 1)
        favoured = torch.tensor([0.1, 0.1, 1.3, *[1.0] * (len(weights["target"]) - 3)])
        weights["target"] = weights["target"] * favoured[:, None]
        many = ended(padded(draw, MANY, n, len(weights["source"])))
        written = TRANSLATE.reference(many, weights, 2, longest).tolist()
        rows: dict[int, list[int]] = {}  # by length
        for row, text in enumerate(written):
            words = text[: text.index(EOS)] if EOS in text else [0]
            new = equal or text not in [written[other] for other in chain(*rows.values())]
            if min(words, default=0) > 1 and new:
                rows.setdefault(len(words), []).append(row)
        several = [row for length in sorted(rows, reverse=True) for row in rows[length][:1]]
        several += [row for row in chain(*rows.values()) if row not in several]
        if len(rows) >= ends and len(several) >= batch and max(rows, default=0) > 2:
            source = many[sorted(several[:batch])]
            return source[:, : n if equal else int((source > 0).sum(1).max())].clone(), weights, 2, longest


def translates(draw: Draw, batch: int, n: int, longest: int, ends: int, equal: bool = False) -> tuple[Any, ...]:
    return found(draw.integer(0, 10**9), batch, n, longest, ends, equal)


def rows_alone(draw: Draw) -> Case:
    """A batch, and its rows one by one, without padding."""
    source, *given = translates(draw, 3, 5, 9, 2)
    return Case(label="", calls=((source, *given), *((row[row > 0][None], *given) for row in source)))


def cut(draw: Draw, more: int) -> tuple[Any, ...]:
    """As many words are allowed as the longest of the translations has, and some more."""
    source, weights, heads, longest = translates(draw, 3, 4, 9, 2)
    length = int((TRANSLATE.reference(source, weights, heads, longest) > 0).sum(1).max())
    return source, weights, heads, length + more


together = these(
    at("three sources", batch=3, n=4, longest=9, ends=2),
    at("four sources, some end early", batch=4, n=5, longest=12, ends=3),
)
no_more = these(
    at("longer than allowed", cut, more=-1),
    at("one word and no more", lambda draw: (*translates(draw, 3, 4, 9, 2)[:3], 1)),
    at("just as long as allowed", cut, more=0),
    at(EQUAL, batch=6, n=6, longest=9, ends=1, equal=True),
)
TRANSLATE = ask(
    "translation.translate",
    returns=("written",),
    inputs=translates,
    properties=[
        values("a single source", 1.25, at("a single source", batch=1, n=4, longest=9, ends=1)),
        values("a batch that ends at different times", 1.75, together),
        judged("each row is what it is alone", 0.75, at("each row alone", rows_alone), written_as_alone),
        values("no more than `longest`", 0.75, no_more),
    ],
    mistakes="""
start-returned: You return `bos` as well. Return only the words that were written.
- return written[:, 1:] → return written
writes-after-the-end: Rows that have ended keep writing until the last one ends. From the word after `eos` on, a row
holds only padding.
- .masked_fill(ended, 0) →
never-stops: You always write `longest` words. Stop as soon as every row has ended.
-  and not ended.all() →
stops-with-the-first: You stop as soon as one row has ended. The others still have to finish.
- not ended.all() → not ended.any()
or
- not ended.all() → not ended[0]
end-dropped: Your translations have no `eos`. It belongs to what is written: a row ends *after* the step in which it
writes `eos`.
- return written[:, 1:] → return written[:, 1:].masked_fill(written[:, 1:] == EOS, 0)
end-repeated: Rows that have ended repeat `eos`. From the word after it on, a row holds only padding, 0.
- .masked_fill(ended, 0) → .masked_fill(ended, EOS)
only-the-newest-read: Your decoder reads only the newest word. There is no cache, so it reads everything that was
written so far.
- decode(written, h → decode(written[:, -1:], h
first-position: You take the logits of the first position. The next word is scored at the *last* one.
- logits[:, -1] → logits[:, 0]
one-too-many: You write one word more than `longest`.
- written.shape[1] <= longest → written.shape[1] <= longest + 1
one-too-few: You write one word less than `longest`: `bos` does not count.
- written.shape[1] <= longest → written.shape[1] < longest
ended-forgotten: You look only at the newest words, so a row that ended earlier is taken for one that has not:
remember who has ended.
- ended = ended | (words == EOS) → ended = words == EOS
smallest-logit: You choose the smallest logit.
- argmax → argmin
""",
)

# --- 5. the wrong line of a friend who chooses between translations ----------------------------------------------


@functools.lru_cache(maxsize=256)
def chosen(seed: int, batch: int, k: int, m: int, full: bool, equal: int) -> tuple[Any, ...]:
    """Candidates of which neither the bug nor the mean per word chooses the right ones."""
    draw = Draw(seed, 5)
    source_size, target_size, d = (equal,) * 3 if equal else (12, 11, 6)
    while True:
        weights = model_weights(draw, d, equal or 5, source_size, target_size, 1)
        source = ended(padded(draw, batch, equal or 4, source_size))
        candidates = padded(draw, batch * k, m, target_size).reshape(batch, k, m)
        if full:
            candidates = draw.integers(FIRST, target_size - 1, batch, k, m)
        best, scores = RERANK.reference(source, candidates, weights, 2)
        assert RERANK.planted is not None
        bug = RERANK.planted(source, candidates, weights, 2)[0]
        by_mean = (scores / ((candidates > 0).sum(-1) + 1)).argmax(1)
        if not torch.equal(best, bug) and (full or not torch.equal(best, by_mean)):
            return source, candidates, weights, 2


several = these(
    at("several sources"),
    at("two sources, three candidates each", batch=2, k=2, m=4),
    at(EQUAL, batch=4, k=3, m=4, equal=4),
)
others = these(at("candidates without padding", batch=3, k=1, m=3, full=True), at("three sources", batch=3, k=2, m=3))
RERANK = ask(
    "translation.rerank",
    returns=("best", "scores"),
    inputs=lambda draw, batch, k, m, full=False, equal=0: chosen(draw.integer(0, 10**9), batch, k + 1, m, full, equal),
    properties=[
        values("the log-probabilities of the candidates", 1, several, "scores"),
        values("the choice", 0.5, several, "best"),
        values("candidates without padding, three sources", 0.5, others),
    ],
    planted="- n_heads).repeat_interleave(k, dim=0) → n_heads).repeat(k, 1, 1)",
    mistakes="""
both-repeated: Now the vectors and the sources are in the same order, A B A B, but the candidates are in the order A A
B B. The line with `sources` was right.
- sources = source.repeat_interleave(k, dim=0) → sources = source.repeat(k, 1)
- n_heads).repeat_interleave(k, dim=0) → n_heads).repeat(k, 1, 1)
words-repeated: You repeat the words of each source instead of the sources. The rows of the batch are axis 0.
- n_heads).repeat_interleave(k, dim=0) → n_heads).repeat(k, 1, 1).roll(1, 1)
first-source-for-all: Every candidate is scored with the first source. Each candidate needs its own.
- n_heads).repeat_interleave(k, dim=0) → n_heads)[:1].expand(batch * k, -1, -1)
candidates-reordered: You reordered the candidates instead. Then your scores come out in the wrong order; the line
with `shifted` was right.
- n_heads).repeat_interleave(k, dim=0) → n_heads).repeat(k, 1, 1)
- sources = source.repeat_interleave(k, dim=0) → sources = source.repeat(k, 1)
- shifted(candidates.reshape(batch * k, m), → shifted(candidates.transpose(0, 1).reshape(batch * k, m),
mean-for-sum: Your candidates meet their own sources now, but you changed the sum to a mean over the words. The
log-probability of a translation is a sum.
- torch.where(outputs > 0, chances, 0.0).sum(1) → (torch.where(outputs > 0, chances, 0.0).sum(1) / (outputs > 0).sum(1))
padding-scored: Your candidates meet their own sources now, but the padding is scored as well. The line with
`torch.where` was right.
- torch.where(outputs > 0, chances, 0.0).sum(1) → chances.sum(1)
least-probable: Your log-probabilities are right, but you choose the least probable candidate.
- scores.argmax(dim=1) → scores.argmin(dim=1)
end-not-scored: Your candidates meet their own sources now, but `eos` is not scored any more. The sum is over the words
and `eos`.
- outputs > 0 → outputs > EOS
table-turned: Your candidates meet their own sources now, but the table of scores is wrong: the k candidates of a source
are neighbours.
- .reshape(batch, k) → .reshape(k, batch).T
best-source: Your scores are right, but you choose the best *source* for each candidate.
- scores.argmax(dim=1) → scores.argmax(dim=0)
""",
)

WRONG_LINE = wrong_line(
    "translation.wrong_line",
    RERANK,
    mistakes="""
sources-suspected: Line {sources = source} is right: each source is repeated k times in a row, A A A B B B, as
the candidates are.
candidates-suspected: Line {inputs, outputs} is right: the reshape puts all candidates of A before those of B.
decoder-suspected: Line {logits = decode} is right: `decode` takes what is read, the vectors, the sources, and
returns the logits first.
pick-suspected: Line {gather} is right: the last axis is the vocabulary, and it takes the word that has to be
predicted.
sum-suspected: Line {torch.where} is right: padding adds 0, and the rows become a table of k columns again, A
first.
choice-suspected: Line {return} is right: the most probable candidate has the largest log-probability.
sizes-suspected: Line {batch, k, m =} is right: there are `batch` sources, k candidates for each, m words in
the longest.
""",
)
