"""Widgets that run the model at every key press: lens with ranks, shares of heads and patching."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor

from lectures.show import (
    Axis, Canvas, Live, Plot, bar_list_svg, beside, choice, choose_or_type, field, live, menu, said, slider,
)  # fmt: skip
from lectures.show.plot import Look
from lectures.show.svg import ORANGE
from lectures.widgets.inside_a_real_model.reading import Inside, Read, grid_svg, next_words_svg
from nlmcore.inspect import direct_logits

__all__ = ["lens_of_ranks", "parts_of", "patch_player", "share_player"]


def _sentence(sentences: Sequence[str]) -> dict[str, Any]:
    chosen, typed = menu(sentences, "sentence", "min(520px, 98%)"), field(width="min(420px, 98%)")
    choose_or_type(chosen, typed)
    return {"sentence": chosen, "typed": typed}


# --- the lens, with ranks ------------------------------------------------------------------------


def lens_of_ranks(inside: Inside, sentences: Sequence[str], words: Sequence[str] = ()) -> Live:
    """Left the rank of one word after every layer, right the likeliest words after one of them.

    words: for each sentence, the word that is followed at first; else, and for typed text, the model's own first guess.
    """
    first = dict(zip(sentences, words, strict=False))
    lens = lru_cache(maxsize=8)(lambda text: _depths(inside, inside.read(text)))

    def draw(sentence: str, typed: str, word: str, layer: int) -> str:
        text = typed or sentence
        read, log_p = inside.read(text), lens(text)
        wanted = word or ("" if typed else first.get(sentence, ""))
        token = inside.first_id(wanted) if wanted else int(read.log_p.argmax())
        ranks = ((log_p > log_p[:, token, None]).sum(-1) + 1).tolist()
        says = f"{inside.name(token)!r} after {layer} layers: rank {ranks[layer]:,} of {log_p.shape[1]:,}"
        top = log_p[layer].topk(6)
        canvas = Canvas(f"rank of{inside.name(token)!r}", size=16)
        depth, rank = (
            Axis(0, inside.layers, "layers"),
            Axis(2**16, 1, "rank (1 is the first guess)", log=True, ticks=_RANKS),
        )
        plot = Plot(canvas, depth, rank, across=560, down=330)
        plot.line(range(len(ranks)), ranks, Look(wide=2.5))
        plot.marks([layer], [ranks[layer]], Look(ORANGE, mark="diamond"), 8)
        told = ", ".join(f"{i}: {ranks[i]:,}" for i in range(0, len(ranks), 5))
        left = canvas.svg(f"Rank of{inside.name(token)!r} after {' '.join(read.pieces)!r} by number of layers, {told}.")
        right = bar_list_svg(
            top.values.exp().numpy(),
            [inside.name(i) for i in top.indices.tolist()],
            title=f"after {layer} layers",
            width=420,
        )
        return beside(left, right) + said(says)

    return live(
        draw,
        rows=[["sentence", "typed"], ["word", "layer"]],
        play="layer",
        **_sentence(sentences),
        word=field("follow", "a word, or empty: its own first guess", width="320px"),
        layer=slider(inside.layers, 0, inside.layers, 1, "layers"),
    )


_RANKS = {1: "1", 10: "10", 100: "100", 1000: "1,000", 10_000: "10,000"}


@torch.no_grad()
def _depths(inside: Inside, read: Read) -> Tensor:
    """(layer, vocab): the lens at the last token."""
    return inside.words(torch.stack([x[-1] for x in read.depths]))


# --- who wrote the logit -------------------------------------------------------------------------


def parts_of(inside: Inside, text: str, word: str, against: str = "") -> dict[str, float]:
    """Each part's share of logit(word) − logit(against), or less the mean over all words; see `direct_logits`."""
    W = inside.model.output.weight
    u = W[inside.first_id(word)] - (W[inside.first_id(against)] if against.strip() else W.mean(0))
    found = direct_logits(inside.model, inside.read(text).ids[None], u)
    return {name: float(part[0, -1]) for name, part in found.items()}


def share_player(inside: Inside, cases: Sequence[tuple[str, str, str]]) -> Live:
    """Layers from left to right, heads and the network from top to bottom: what each adds to a word's logit.

    cases: (sentence, word, the word against it or "").
    """
    given = {sentence: (word, against) for sentence, word, against in cases}
    parts = lru_cache(maxsize=16)(lambda *asked: parts_of(inside, *asked))
    rows = [*(f"head {k}" for k in range(inside.heads)), "network"]

    def draw(sentence: str, typed: str, word: str, against: str, layer: int, row: int) -> str:
        text = typed or sentence
        default = given[sentence] if not typed else (inside.name(int(inside.read(text).log_p.argmax())), "")
        word, against = word or default[0], against or ("" if word else default[1])
        found = parts(text, word, against)
        matrix = [
            [
                found[f"layers.{i}.attention.{k}" if k < inside.heads else f"layers.{i}.feed_forward"]
                for i in range(inside.layers)
            ]
            for k in range(inside.heads + 1)
        ]
        row = min(row, inside.heads)
        largest = sorted(
            ((value, i, k) for k, by in enumerate(matrix) for i, value in enumerate(by)), key=lambda x: -abs(x[0])
        )
        told = ", ".join(f"layer {i} {rows[k]} {value:+z.2f}" for value, i, k in largest[:5])
        heads, networks = sum(map(sum, matrix[:-1])), sum(matrix[-1])
        rival = f" minus that of {against!r}" if against else ""
        picture = grid_svg(
            matrix, rows, [str(i) for i in range(inside.layers)], reach=2.0, cell=(28, 27), chosen=(row, layer),
            title=f"what adds to the logit of {word.strip()!r}{rival}", x_title="layer", every=2,
            alt=f"Shares of the logit of {word.strip()!r}{rival}, by head and layer; largest: {told}.",
            note=f"red adds, blue subtracts, full colour from 2\nlargest: {told}",
        )  # fmt: skip
        return picture + said(
            f"layer {layer}, {rows[row]}: {matrix[row][layer]:+z.2f}. All heads {heads:+z.2f}, networks {networks:+z.2f},"
            f" embedding {found['embedding']:+z.2f}; together {sum(found.values()):+z.2f}"
        )

    return live(
        draw,
        rows=[["sentence", "typed"], ["word", "against"], ["layer", "row"]],
        **_sentence([case[0] for case in cases]),
        word=field("word", "empty: as listed", width="250px"),
        against=field("against", "empty: all words", width="250px"),
        layer=slider(0, 0, inside.layers - 1, 1, "layer", "320px"),
        row=slider(0, 0, inside.heads, 1, f"head ({inside.heads}: network)", "320px"),
    )


# --- patch ---------------------------------------------------------------------------------------

_KINDS = {"pathway": "layers.{}", "attention": "layers.{}.attention", "network": "layers.{}.feed_forward"}


def patch_player(inside: Inside, pairs: Mapping[str, Mapping[str, Any]]) -> Live:
    """The stored map of a pair of texts, and one of its cells computed now (texts of up to 16 tokens).

    pairs: as `stored("patched_texts")["pairs"]` has them.
    """

    def draw(pair: str, kind: str, layer: int, position: int) -> str:
        facts = pairs[pair]
        kind = kind if kind in facts["map"] else "pathway"
        first, layers, words = facts["first"], facts["layers"], facts["pieces"]
        column = min(position, len(words) - 1 - first)
        row = min(range(len(layers)), key=lambda i: abs(layers[i] - layer))
        matrix = facts["map"][kind]
        named = [word.strip() or word for word in words[first:]]
        strongest = [
            f"after layer {of + 1} {named[max(range(len(named)), key=by.__getitem__)]} {max(by):z.2f}"
            for of, by in zip(layers, matrix, strict=True)
        ]
        short = len(words) <= 16
        picture = grid_svg(
            matrix[::-1], [str(i) for i in layers[::-1]], named, reach=1.0, cell=(min(64, 860 / len(named)), 10 if len(layers) > 20 else 20),
            chosen=(len(layers) - 1 - row, column), title=f"{kind}: share restored by one cell", turn=60,
            alt=f"Share restored by the {kind}, by layer and position; strongest: {'; '.join(strongest[::3])}.",
            note="vertical: layer; red 1 restores the clean answer, blue −1 moves away from it",
        )  # fmt: skip
        says = f"layer {layers[row]}, {named[column]!r}: stored {matrix[row][column]:z.2f}"
        if not short:
            return picture + said(f"{says}. (This text is too long to be computed at every key press.)")
        clean, corrupted = inside.read(facts["clean"]), inside.read(facts["corrupted"])
        after = inside.changed(corrupted, layers[row], *_restored(inside, clean, kind, layers[row], first + column))
        ids = [inside.first_id(answer) for answer in facts["answers"]]
        odds = [float(log_p[ids[0]] - log_p[ids[1]]) for log_p in (corrupted.log_p, after, clean.log_p)]
        share = (odds[1] - odds[0]) / (odds[2] - odds[0])
        words_svg = next_words_svg(
            inside, corrupted.log_p, after, title=facts["corrupted"], names=("as it is", "patched"), count=5
        )
        moved = inside.changed(clean, layers[row], *_restored(inside, corrupted, kind, layers[row], first + column))
        lost = (odds[2] - float(moved[ids[0]] - moved[ids[1]])) / (odds[2] - odds[0])
        both = f"computed now: it restores {share:z.2f}; put the other way, into the clean text, it costs {lost:z.2f}"
        return beside(picture, words_svg) + said(f"{says}, {both}")

    widest = max(len(facts["pieces"]) - facts["first"] for facts in pairs.values())
    return live(
        draw,
        rows=[["pair", "kind"], ["layer", "position"]],
        pair=menu([(facts["clean"][:60], name) for name, facts in pairs.items()], "clean", "min(620px, 98%)"),
        kind=choice(_KINDS, "what"),
        layer=slider(10, 0, inside.layers - 1, 1, "layer"),
        position=slider(0, 0, widest - 1, 1, "position"),
    )


def _restored(inside: Inside, clean: Read, kind: str, layer: int, position: int) -> tuple[dict[str, Tensor], int]:
    """What `patch` needs to put this activation of the clean run in."""
    place = _KINDS[kind].format(layer)
    return {place: _activation(inside, clean, place)[position]}, position


@lru_cache(maxsize=512)
@torch.no_grad()
def _activation(inside: Inside, read: Read, place: str) -> Tensor:
    """(time, d_model)"""
    layer, _, part = place.removeprefix("layers.").partition(".")
    if not part:
        return read.depths[int(layer) + 1]
    block, x = inside.model.layers[int(layer)], read.depths[int(layer)][None]
    y, _ = block.attention(block.residual_attention(x))
    if part == "attention":
        return y[0]
    return (read.depths[int(layer) + 1] - x[0] - y[0]).detach()
