"""Questions 4a to 4d: the encoder, the decoder, the loss, and writing."""

import functools
from itertools import chain
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import pad

from autograder.exercise.declare import holds, judged, question, shapes, values
from autograder.exercise.draw import Draw
from autograder.exercise.kinds import EQUAL
from autograder.exercise.specification import Case, case
from solutions.translation.checks.common import CLOSED, EOS, ended, model_weights, padded, started
from solutions.translation.laws import (
    later_words_do_not_matter,
    padding_does_not_matter,
    written_as_alone,
)

Weights = dict[str, Any]
VOCAB, OTHER = 14, 12
"""Ids of the source's and of the target's vocabulary."""


def _model(draw: Draw, layers: int = 2, half: int = 3) -> Weights:
    return model_weights(draw, 2 * half, half + 2, VOCAB, OTHER, layers)


def _source(draw: Draw, batch: int, n: int) -> Tensor:
    return ended(padded(draw, batch, n, VOCAB))


# --- the encoder ------------------------------------------------------------------------------------------


def _one_layer(draw: Draw) -> list[Case]:
    batch, n, half = draw.sizes(3)
    return [case("one layer", _source(draw, batch, n + 1), _model(draw, 1, half), 2)]


def _layers(draw: Draw) -> list[Case]:
    batch, n, half = draw.sizes(3)
    return [
        case("three layers", _source(draw, batch, n + 1), _model(draw, 3, half), 2),
        case("two layers, one head", _source(draw, batch, n + 1), _model(draw, 2, half), 1),
    ]


def _sources_alone(draw: Draw) -> list[Case]:
    """A batch, and its second row without padding."""
    source, weights = _source(draw, 3, draw.size() + 2), _model(draw)
    words = int((source[1] > 0).sum())
    calls = ((source, weights, 2), (source[1:2, :words].clone(), weights, 2))
    return [Case(label="a sentence alone", calls=calls, known=(torch.tensor(words),))]


def _source_edges(draw: Draw) -> list[Case]:
    size = 2 * draw.size() + 2
    square = model_weights(draw, size, size, size, size, 1)
    return [
        case(EQUAL, ended(padded(draw, size, size, size)), square, 2),
        case("one word", torch.full((1, 1), EOS), _model(draw), 2),
        case("more padding than the longest needs", pad(_source(draw, 2, 3), (0, 2)), _model(draw), 2),
    ]


ENCODE = question(
    "translation.encode",
    minutes=10,
    difficulty="easy",
    returns=("h",),
    properties=[
        shapes(0.1, _one_layer),
        values("the values with one layer", 0.65, _one_layer),
        values("the values with several layers", 0.5, _layers),
        holds("padding makes no difference", 0.25, _sources_alone, padding_does_not_matter),
        values("one word, a vocabulary as large as d", 0.5, _source_edges),
    ],
    closed=CLOSED,
    mistakes="""
last-norm-forgotten: The norm after the last layer is missing. The pathway grows from layer to layer; `encoder_norm`
brings it to one size before the decoder reads it.
- return norm(h, weights["encoder_norm"]) → return h

norm-after-each-layer: You apply `encoder_norm` after every layer. It comes once, after the last.
- h = encoder_layer(h, part, n_heads, over_source)
+ h = norm(encoder_layer(h, part, n_heads, over_source), weights["encoder_norm"])
- return norm(h, weights["encoder_norm"]) → return h

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
""",
)


# --- the decoder ------------------------------------------------------------------------------------------


def _decoded(draw: Draw, label: str, layers: int, heads: int = 2) -> Case:
    batch, m, n, half = draw.sizes(4)
    source, reads = _source(draw, batch, n + 1), started(padded(draw, batch, m + 1, OTHER))
    return case(label, reads, draw.normal(batch, n + 1, 2 * half), source, _model(draw, layers, half), heads)


def _usual(draw: Draw) -> list[Case]:
    return [_decoded(draw, "two layers", 2), _decoded(draw, "one layer, one head", 1, 1)]


def _later(draw: Draw) -> list[Case]:
    reads, h, source, weights, heads = _decoded(draw, "", 2).calls[0]
    reads = started(draw.integers(3, OTHER - 1, *reads.shape))
    at = reads.shape[1] // 2
    other = reads.clone()
    other[:, at:] = 3 + (reads[:, at:] - 2) % (OTHER - 3)
    calls = ((reads, h, source, weights, heads), (other, h.clone(), source.clone(), weights, heads))
    return [Case(label="a later word changes", calls=calls, known=(torch.tensor(at),))]


def _alone(draw: Draw) -> list[Case]:
    """A batch, and its second row without the padding of source and target."""
    reads, h, source, weights, heads = _decoded(draw, "", 2).calls[0]
    n, m = int((source[1] > 0).sum()), int((reads[1] > 0).sum())
    one = (reads[1:2, :m].clone(), h[1:2, :n].clone(), source[1:2, :n].clone(), weights, heads)
    return [Case(label="a sentence alone", calls=((reads, h, source, weights, heads), one), known=(torch.tensor(m),))]


def _decoded_edges(draw: Draw) -> list[Case]:
    size = 2 * draw.size() + 2
    square = model_weights(draw, size, size, size, size, 2)
    source = ended(padded(draw, size, size, size))
    reads = started(padded(draw, size, size, size))
    one = torch.full((1, 1), EOS)
    return [
        case(EQUAL, reads, draw.normal(size, size, size), source, square, 2),
        case("one word each", torch.ones_like(one), draw.normal(1, 1, 6), one, _model(draw), 2),
    ]


DECODE = question(
    "translation.decode",
    minutes=20,
    difficulty="medium",
    returns=("logits", "cross"),
    properties=[
        shapes(0.25, _usual),
        values("the logits", 1.25, _usual, "logits"),
        values("the weights of the last layer", 0.5, _usual, "cross"),
        holds("no logit depends on a later word", 0.5, _later, later_words_do_not_matter, about=("logits",)),
        holds("padding makes no difference", 0.5, _alone, padding_does_not_matter, about=("logits",)),
        values("one word, a vocabulary as large as d", 0.5, _decoded_edges),
    ],
    closed=CLOSED,
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
""",
)


# --- the loss ---------------------------------------------------------------------------------------------


def _pairs(draw: Draw, label: str, full: bool) -> Case:
    batch, n, m, half = draw.sizes(4)
    target = draw.integers(3, OTHER - 1, batch, m) if full else padded(draw, batch, m + 2, OTHER)
    return case(label, _source(draw, batch, n + 1), target, _model(draw, 1, half), 2)


def _full(draw: Draw) -> list[Case]:
    return [_pairs(draw, "targets of one length", True)]


def _several(draw: Draw) -> list[Case]:
    return [_pairs(draw, "targets of several lengths", False), _pairs(draw, "the same once more", False)]


def _loss_edges(draw: Draw) -> list[Case]:
    size = 2 * draw.size() + 2
    square = model_weights(draw, size, size, size, size, 1)
    return [
        case("a single word", _source(draw, 1, 2), draw.integers(3, OTHER - 1, 1, 1), _model(draw, 1), 2),
        case("more padding", _source(draw, 3, 4), padded(draw, 3, 6, OTHER, full=False), _model(draw, 1), 2),
        case(EQUAL, ended(padded(draw, size, size, size)), padded(draw, size, size, size), square, 2),
    ]


LOSS = question(
    "translation.loss",
    minutes=10,
    difficulty="medium",
    returns=("loss",),
    properties=[
        values("targets of one length", 0.75, _full),
        values("targets of several lengths", 1.25, _several),
        values("a single word, more padding", 0.5, _loss_edges),
    ],
    closed=CLOSED,
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
""",
)


# --- writing ----------------------------------------------------------------------------------------------


MANY = 24


def _written(draw: Draw, batch: int, n: int, longest: int, ends: int) -> tuple[Any, ...]:
    """A call whose rows end at `ends` different times or more."""
    return _found(draw.integer(0, 10**9), batch, n, longest, ends, False)


@functools.lru_cache(maxsize=256)
def _found(seed: int, batch: int, n: int, longest: int, ends: int, square: bool) -> tuple[Any, ...]:
    """Rows that are all different, none with padding or `bos` among its words, the longest with three words or more.
    `square`: all sizes are equal, and rows may be alike."""
    draw = Draw(seed, 5)
    while True:
        weights = model_weights(draw, n, n, n, n, 1) if square else _model(draw, 1)
        favoured = torch.tensor([0.1, 0.1, 1.3, *[1.0] * (len(weights["target"]) - 3)])
        weights["target"] = weights["target"] * favoured[:, None]
        many = ended(padded(draw, MANY, n, len(weights["source"])))
        written = TRANSLATE.reference(many, weights, 2, longest).tolist()
        rows: dict[int, list[int]] = {}  # by length
        for row, text in enumerate(written):
            words = text[: text.index(EOS)] if EOS in text else [0]
            new = square or text not in [written[other] for other in chain(*rows.values())]
            if min(words, default=0) > 1 and new:
                rows.setdefault(len(words), []).append(row)
        several = [row for length in sorted(rows, reverse=True) for row in rows[length][:1]]
        several += [row for row in chain(*rows.values()) if row not in several]
        if len(rows) >= ends and len(several) >= batch and max(rows, default=0) > 2:
            source = many[sorted(several[:batch])]
            return source[:, : n if square else int((source > 0).sum(1).max())].clone(), weights, 2, longest


def _single(draw: Draw) -> list[Case]:
    return [case("a single source", *_written(draw, 1, 4, 9, 1))]


def _together(draw: Draw) -> list[Case]:
    return [
        case("three sources", *_written(draw, 3, 4, 9, 2)),
        case("four sources, some end early", *_written(draw, 4, 5, 12, 3)),
    ]


def _rows(draw: Draw) -> list[Case]:
    """A batch, and its rows one by one, without padding."""
    source, weights, heads, longest = _written(draw, 3, 5, 9, 2)
    alone = [(row[row > 0][None], weights, heads, longest) for row in source]
    return [Case(label="each row alone", calls=((source, weights, heads, longest), *alone))]


def _cut(draw: Draw) -> list[Case]:
    """The longest of the translations is cut; and one that ends with the last word allowed."""
    source, weights, heads, longest = _written(draw, 3, 4, 9, 2)
    length = int((TRANSLATE.reference(source, weights, heads, longest) > 0).sum(1).max())
    return [
        case("longer than allowed", source, weights, heads, length - 1),
        case("one word and no more", source, weights, heads, 1),
        case("just as long as allowed", source, weights, heads, length),
        case(EQUAL, *_found(draw.integer(0, 10**9), 6, 6, 9, 1, True)),
    ]


TRANSLATE = question(
    "translation.translate",
    minutes=25,
    difficulty="hard",
    returns=("written",),
    properties=[
        values("a single source", 1.25, _single),
        values("a batch that ends at different times", 1.75, _together),
        judged("each row is what it is alone", 0.75, _rows, written_as_alone),
        values("no more than `longest`", 0.75, _cut),
    ],
    closed=CLOSED,
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
