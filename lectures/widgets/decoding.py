"""Widgets: a beam search in steps, a length penalty, a filtered next-word distribution, a text that grows.

Heavy work (searching, asking a large model) is done before; moving a control only filters and draws.
"""

import inspect
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from torch import Tensor

from lectures.show import Canvas, Live, bar_list_svg, choice, live, marked_words_html, menu, said, slider, stops
from lectures.show.svg import BLUE, DARK_GREEN, FAINT, INK, ORANGE, label_width, number
from nlmcore.decoding import SearchTree

__all__ = ["beam_player", "length_penalty_player", "sampler_playground", "word_by_word"]

# --- a beam --------------------------------------------------------------------------------------


def beam_player(
    search: Callable[[int], SearchTree], name: Callable[[int], str], *, largest: int = 3, prompt: str = ""
) -> Live:
    """A beam search one half-step at a time: first the candidates, then which of them are kept.

    search: beam size -> the tree that it walked.
    """
    trees = {b: search(b) for b in range(1, largest + 1)}
    deepest = {b: max(n.step for n in tree.nodes if n.log_prob > -math.inf) for b, tree in trees.items()}

    def draw(beam: int, half_step: int) -> str:
        tree = trees[beam]
        step = min(half_step, 2 * deepest[beam])
        shown, decided = (step + 1) // 2, step // 2
        title = f"“{prompt} …”, beam of {beam}"
        picture = search_tree_svg(tree.nodes, name, shown=shown, decided=decided, best=tree.best, title=title)
        ended = "The search has stopped. " if half_step > step else ""
        return picture + said(ended + _state_of(tree, name, shown, decided, deepest[beam]))

    sizes = [(f"b = {b}" + (" (greedy)" if b == 1 else ""), b) for b in trees]
    return live(
        draw,
        beam=choice(sizes, "beam", value=min(2, largest)),
        play="half_step",
        half_step=slider(2, 0, 2 * max(deepest.values()), 1, "half-step", "460px"),
    )


def _state_of(tree: SearchTree, name: Callable[[int], str], shown: int, decided: int, deepest: int) -> str:
    """The beam and the finished texts, in a sentence."""

    def listed(nodes: Sequence[Any]) -> str:
        texts = (" ".join(map(name, tree.path(node))) + f" ({math.exp(node.log_prob):.3f})" for node in nodes)
        return ", ".join(texts)

    if not shown:
        return "Nothing has been written yet. The next half-step shows the candidates for the first word."
    if shown > decided:
        count = sum(n.log_prob > -math.inf for n in tree.at_step(shown))
        return (
            f"Step {shown}: the {count} best candidates, ranked by the probability of the whole text. Which are kept?"
        )
    beam = listed([n for n in tree.at_step(decided) if n.status == "kept"])
    ended = listed([n for n in tree.nodes if n.status == "finished" and n.step <= decided])
    told = f"Step {decided}. Beam: {beam or 'empty'}. Finished: {ended or 'none'}."
    return told + (" No open text can still win: stop." if decided == deepest else "")


_WIDE, _HIGH, _GAP, _ROW = 186.0, 39.0, 36.0, 43.0
_LOOKS = {  # (frame, dashes, fill, thickness)
    "candidate": (INK, "", "#ffffff", 1.8),
    "kept": (BLUE, "", "#e6f0f8", 1.8),
    "finished": (DARK_GREEN, "", "#dff1ea", 3.5),
    "pruned": ("#767676", "5 4", "#f5f5f5", 1.8),
}


def search_tree_svg(
    nodes: Sequence[Any],
    name: Callable[[int], str],
    *,
    shown: int | None = None,
    decided: int | None = None,
    best: Collection[int] = (),
    title: str = "",
) -> str:
    """The tree that a search explored, from left to right: boxes with the word, its probability, and that of the text.

    nodes: plain data, as `nlmcore.decoding.SearchTree.nodes` has it, with `id, parent, step, token, token_log_prob,
    log_prob, status`, parents before children, status "root", "kept", "finished" or "pruned". shown: how many steps of
    candidates are drawn (None: all). decided: for how many of them it is drawn what became of them: kept (blue),
    finished (green, a thick frame), dropped (grey, dashed). best: ids along the winning text, thick. Candidates of
    probability 0 are left out. `name` turns a token into a word.

    Raises ValueError for a tree without candidates, or more steps than it has.
    """
    drawn = [node for node in nodes if node.status == "root" or node.log_prob > -math.inf]
    steps = max((node.step for node in drawn), default=0)
    if not steps:
        raise ValueError("search_tree_svg needs a tree with at least one candidate")
    shown = steps if shown is None else shown
    decided = shown if decided is None else decided
    if not 0 <= decided <= shown <= steps:
        raise ValueError(
            f"0 <= decided <= shown <= {steps}, the steps of the tree; got shown={shown}, decided={decided}"
        )
    canvas, rows = Canvas(title), _rows(drawn)
    corner = {
        node.id: (34 + _GAP + (node.step - 1) * (_WIDE + _GAP) if node.step else 12 - _WIDE, 34 + rows[node.id] * _ROW)
        for node in drawn
    }
    seen = [node for node in drawn if node.status != "root" and node.step <= shown]
    state = {node.id: node.status if node.step <= decided else "candidate" for node in seen}
    for node in seen:
        (x0, y0), (x1, y1) = corner[node.parent], corner[node.id]
        x0, y0, y1, wins = x0 + _WIDE, y0 + _HIGH / 2, y1 + _HIGH / 2, node.id in best and decided == steps
        colour, dashes, _, _ = _LOOKS[state[node.id]]
        bend = (x0 + x1) / 2
        path = f"M{x0:.1f},{y0:.1f} C{bend:.1f},{y0:.1f} {bend:.1f},{y1:.1f} {x1:.1f},{y1:.1f}"
        canvas.path(path, ORANGE if wins else colour, 5 if wins else 2, dashes=dashes)
    root = next(node for node in drawn if node.status == "root")
    canvas.mark("circle", 12, corner[root.id][1] + _HIGH / 2, INK, 9)
    for node in seen:
        (x, y), (colour, dashes, fill, thick) = corner[node.id], _LOOKS[state[node.id]]
        ink = "#5c5c5c" if state[node.id] == "pruned" else "#000"
        canvas.rect(x, y, _WIDE, _HIGH, fill, colour, thick, radius=6, dashes=dashes)
        canvas.text(x + 8, y + 16, name(node.token), 16, bold=True, fill=ink)
        canvas.text(x + _WIDE - 8, y + 16, f"× {math.exp(node.token_log_prob):.2f}", 16, "end", fill=ink)
        total = f"P {math.exp(node.log_prob):.3f} · ln {number(node.log_prob)}"
        canvas.text(x + 8, y + 34, total, 16, fill=ink)
    _legend(canvas, 34 + (max(rows.values()) + 1) * _ROW + 14)
    return canvas.svg(_told(seen, nodes, state, name))


def _rows(nodes: Sequence[Any]) -> dict[int, float]:
    """A row per leaf, parents in order; a parent is level with its first child, so that paths are straight."""
    children: dict[int, list[Any]] = {node.id: [] for node in nodes}
    for node in nodes:
        if node.parent in children:
            children[node.parent].append(node)
    rows: dict[int, float] = {}
    free = iter(range(len(nodes)))

    def place(node: Any) -> float:
        below = [place(child) for child in sorted(children[node.id], key=lambda child: -child.log_prob)]
        rows[node.id] = below[0] if below else float(next(free))
        return rows[node.id]

    place(next(node for node in nodes if node.status == "root"))
    return rows


def _legend(canvas: Canvas, y: float) -> None:
    x = 2.0
    for state, (colour, dashes, fill, thick) in _LOOKS.items():
        words = "dropped" if state == "pruned" else state
        canvas.rect(x, y - 14, 24, 16, fill, colour, thick, radius=3, dashes=dashes)
        canvas.text(x + 31, y, words, 15)
        x += 62 + 9.5 * len(words)
    canvas.line((x, y - 5), (x + 28, y - 5), ORANGE, 5)
    canvas.text(x + 36, y, "the answer", 15)


def _told(seen: Sequence[Any], nodes: Sequence[Any], state: Mapping[int, str], name: Callable[[int], str]) -> str:
    by_id = {node.id: node for node in nodes}

    def whole(node: Any) -> str:
        return "" if node.status == "root" else f"{whole(by_id[node.parent])} {name(node.token)}".strip()

    last = max((node.step for node in seen), default=0)
    if not last:
        return "Search tree: only the prompt has been read."
    now = [
        f"{whole(n)}, P {math.exp(n.log_prob):.3f}, {state[n.id].replace('candidate', 'a candidate')}"
        for n in seen
        if n.step == last
    ]
    finished = [whole(n) for n in seen if n.status == "finished" and n.step < last]
    before = f" Finished before: {', '.join(finished)}." if finished else ""
    return f"Search tree at step {last}: {'; '.join(now)}.{before}"


# --- a length penalty ----------------------------------------------------------------------------

Score = Callable[[float, int, float], float]
"""(ln P, length, penalty) -> the score that ranks hypotheses."""


def length_penalty_player(
    score: Score,
    texts: Sequence[str],
    lengths: Sequence[int],
    log_probs: Sequence[float | int],
    *,
    yours: Score | None = None,
) -> Live:
    """The hypotheses of a search, ranked again for each length penalty."""

    def draw(score: Score, penalty: float) -> str:
        scores = [float(score(p, n, penalty)) for p, n in zip(log_probs, lengths, strict=True)]
        return ranking_svg(texts, lengths, log_probs, scores, title=f"score = ln P / length to the power {penalty:.2g}")

    return live(draw, score, yours=yours, penalty=slider(0.0, -1.0, 2.0, 0.1, "length penalty α", "460px"))


def ranking_svg(
    texts: Sequence[str],
    lengths: Sequence[int],
    log_probs: Sequence[float | int],
    scores: Sequence[float | int],
    *,
    title: str = "",
    rows: int = 8,
) -> str:
    """The `rows` best by score, each with its length, ln P and score; the best one has an orange background.

    Equal scores stay in the order given. Raises ValueError if there is not one of each per text.
    """
    if not len(texts) == len(lengths) == len(log_probs) == len(scores) or not texts:
        raise ValueError(
            f"ranking_svg needs a length, ln P and a score per text, got {len(texts)} texts, {len(lengths)} lengths,"
            f" {len(log_probs)} ln P and {len(scores)} scores"
        )
    canvas, columns = Canvas(title), (60.0, 144.0, 240.0)
    for x, words in zip((*columns, 250.0), ("tokens", "ln P", "score", "text"), strict=True):
        canvas.text(x, 46, words, 15, "start" if words == "text" else "end", italic=True)
    order = sorted(range(len(texts)), key=lambda i: -scores[i])[:rows]
    for place, i in enumerate(order):
        y = 54.0 + 31 * place
        if not place:
            canvas.rect(0, y, 860, 30, "#fbe3d4")
        for x, cell in zip(columns, (str(lengths[i]), number(log_probs[i]), number(scores[i], 3)), strict=True):
            canvas.text(x, y + 21, cell, 16, "end")
        canvas.text(250, y + 21, texts[i], 16, bold=not place)
    says = "; ".join(f"{texts[i]!r}, {lengths[i]} tokens, score {scores[i]:.3f}" for i in order)
    return canvas.svg(f"{title}. Best first: {says}.")


# --- a next-word distribution --------------------------------------------------------------------

Reshape = Callable[..., Tensor]
"""(log_probs, *, temperature, top_k, top_p, min_p, typical_p) -> log_probs, as `nlmcore.decoding.reshape`."""

_OTHER_RANGES = ("temperature", "top_k", "filters")
_OFF = {"top_p": 1.0, "typical_p": 1.0}
"""Where a slider from 0 to 1 filters nothing; 0 for all others."""


def sampler_playground(
    reshape: Reshape,
    distributions: Mapping[str, Tensor],
    name: Callable[[int], str],
    *,
    words: int = 12,
    yours: Reshape | None = None,
) -> Live:
    """One next-word distribution of a model, reshaped: temperature, top-k, top-p, min-p, typical, in this order.

    distributions: prompt -> ln P of every next token (vocab,). A further filter in `reshape`'s signature gets a slider
    from 0, which is off, to 1.
    """
    orders = {prompt: ln_p.argsort(descending=True, stable=True) for prompt, ln_p in distributions.items()}

    named = [p.name for p in inspect.signature(reshape).parameters.values() if p.kind is p.KEYWORD_ONLY]
    in_unit = [name for name in dict.fromkeys(["top_p", "min_p", "typical_p", *named]) if name not in _OTHER_RANGES]
    off = {name: _OFF.get(name, 0.0) for name in in_unit}

    def draw(reshape: Reshape, prompt: str, temperature: float, top_k: int, **values: float) -> str:
        ln_p, ids = distributions[prompt], orders[prompt]
        filters: dict[str, float] = {"top_k": top_k} if top_k else {}
        filters |= {which: value for which, value in values.items() if value != off[which]}
        before, after = ln_p.exp()[ids], reshape(ln_p, temperature=temperature, **filters).exp()[ids]
        rest = (before[words:].sum().item(), after[words:].sum().item())
        labels = [_shown(name(i)) for i in ids[:words].tolist()]
        return next_word_svg(before.numpy(), after.numpy(), labels, prompt=prompt, rest=rest)

    sizes: list[tuple[str, int]] = [("off", 0), *((str(k), k) for k in (200, 50, 20, 10, 5, 3, 2, 1))]
    labels = {name: name.replace("_p", "-p") for name in in_unit}
    return live(
        draw,
        reshape,
        yours=yours,
        rows=[["prompt", "temperature"], ["top_k", *in_unit]],
        prompt=menu(distributions, "prompt", "min(620px, 96%)"),
        temperature=slider(1.0, 0.0, 2.0, 0.1, "temperature"),
        top_k=stops(sizes, 0, "top-k"),
        **{name: slider(off[name], 0.0, 1.0, 0.05, labels[name], "280px") for name in in_unit},
    )


def next_word_svg(
    before: ArrayLike, after: ArrayLike, words: Sequence[str], *, prompt: str, rest: tuple[float, float] = (0.0, 0.0)
) -> str:
    """One row per word: a grey bar for its probability before, a blue one after; a dropped word is crossed out.

    before, after: whole distributions, of which the first len(words) entries are drawn; `rest`: what all other words
    hold, before and after. The line below says how many words are left, what they held, and the entropies.

    Raises ValueError if the two do not have one length, or there are more words than entries.
    """
    p, q = np.asarray(before, dtype=float), np.asarray(after, dtype=float)
    if p.ndim != 1 or p.shape != q.shape or len(words) > len(p):
        raise ValueError(f"next_word_svg needs two distributions of one length, got {p.shape}, {q.shape}, {len(words)}")
    if not (np.isfinite(p).all() and np.isfinite(q).all()):
        raise ValueError("probabilities must be finite: take exp of log-probabilities, with exp(-inf) = 0")
    labels = [*words, f"{len(p) - len(words):,} others"]
    shown = [*zip(p[: len(words)], q, strict=False), rest]
    longest = max(0.3, *map(max, shown))
    canvas, left, room = Canvas(f"“{prompt} …”"), label_width(labels, 16), 430.0
    for i, (label, (a, b)) in enumerate(zip(labels, shown, strict=True)):
        y, gone = canvas.top + 25 * i, b == 0
        crossed = "line-through" if gone else ""
        canvas.text(left - 8, y + 17, label, 16, "end", fill="#5c5c5c" if gone else INK, text_decoration=crossed)
        for shift, value, colour in ((2.0, a, "#B8B8B8"), (12.0, b, BLUE)):
            canvas.rect(left, y + shift, max(room * value / longest, 0.6), 10, colour)
        words_at = left + room * max(a, b) / longest + 8
        canvas.text(words_at, y + 17, f"{a:.3f} → " + ("out" if gone else f"{b:.3f}"), 16)
    canvas.line((left, canvas.top), (left, canvas.top + 25 * len(labels)), FAINT)
    kept, was, now = q > 0, _entropy(p), _entropy(q)
    notes = (
        f"left: {int(kept.sum()):,} of {len(p):,} words; the model gave them {p[kept].sum():.3f} of the probability",
        f"entropy {was:.2f} → {now:.2f} nats: like {math.exp(was):,.1f} → {math.exp(now):,.1f} equally probable words",
    )
    canvas.notes(notes, gap=0)
    says = "; ".join(f"{label} {a:.3f} to {b:.3f}" for label, (a, b) in zip(labels, shown, strict=True))
    alt = f"Next word after '{prompt}', probability before and after. {says}. {notes[0]}; {notes[1]}."
    return canvas.svg(alt, width=760)


def _entropy(p: np.ndarray) -> float:
    positive = p[p > 0]
    return float(-(positive * np.log(positive)).sum())


# --- a text that grows ---------------------------------------------------------------------------


def word_by_word(trees: Mapping[str, SearchTree], name: Callable[[int], str], *, prompt: str) -> Live:
    """A text that grows token by token, and at every position the probabilities from which the token was sampled.

    trees: way of decoding -> the tree of one text, as `greedy` and `sample` give it with trace=True. Where temperature
    or filters reshaped the model's distribution, the bars are the reshaped one, and the model's own probability is written next to it.
    """
    written = {way: [node for node in tree.nodes if node.id in tree.best and node.step] for way, tree in trees.items()}

    def draw(way: str, place: int) -> str:
        chosen = written[way][place - 1]
        possible = [n for n in trees[way].at_step(place) if n.log_prob > -math.inf]
        candidates = sorted(possible, key=lambda n: (-n.token_log_prob, n.id))
        tokens = [name(node.token) for node in written[way][:place] if node.token is not None]
        before, last = "".join(tokens[:-1]), tokens[-1]
        text = marked_words_html(
            [prompt + before, _shown(last)],
            [0, 1],
            ["read so far", "just written"],
            bold=1,
            alt=f"{way}, after {place} tokens: {prompt}{before}{last}",
        )
        reshaped = chosen.score is not None
        labels = [
            _shown(name(n.token)) + (f" (model {math.exp(n.token_log_prob):.3f})" if reshaped else "")
            for n in candidates
            if n.token is not None
        ]
        chances = [math.exp(n.token_log_prob if n.score is None else n.score) for n in candidates]
        at = candidates.index(chosen)
        told = f"reshaped by {way}" if reshaped else "the model's probabilities"
        return text + bar_list_svg(
            chances,
            labels,
            reach=1.0,
            highlight=[at],
            title=f"token {place}, {told}: the five most probable tokens and the one written",
            width=700,
        )

    longest = min(len(nodes) for nodes in written.values())
    place = slider(1, 1, longest, 1, "tokens written", "460px")
    return live(draw, rows=[["way"], ["place"]], way=choice(trees, "way"), place=place)


@lru_cache(maxsize=4096)
def _shown(token: str) -> str:
    """A token as a word: without the space before it; what cannot be seen gets a sign."""
    word = token.removeprefix(" ").replace("\n", "↵")
    return word if word.strip() else "␣"
