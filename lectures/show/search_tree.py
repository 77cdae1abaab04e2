"""The tree that a search walked, from left to right: one box per candidate, the dropped ones grey and dashed.

Takes plain data, as `nlmcore.decoding.SearchTree.nodes` has it: nodes with `id, parent, step, token, token_log_prob,
log_prob, status`, parents before children, status "root", "kept", "finished" or "pruned".
"""

import math
from collections.abc import Callable, Collection, Sequence
from typing import Any

from lectures.show.svg import svg, text

_WIDE, _HIGH, _GAP, _ROW, _LEFT, _TOP = 166.0, 48.0, 36.0, 60.0, 34.0, 40.0
_BLUE, _GREEN, _ORANGE, _GREY = "#0072B2", "#00694D", "#D55E00", "#767676"


def search_tree_svg(
    nodes: Sequence[Any],
    name: Callable[[int], str],
    *,
    shown: int | None = None,
    decided: int | None = None,
    best: Collection[int] = (),
    title: str = "",
) -> str:
    """Boxes with the word, its probability, and probability and logarithm of the whole text so far.

    shown: how many steps of candidates are drawn (None: all). decided: for how many of them it is drawn what became of
    them: kept (blue), finished (green, with a flag), dropped (grey, dashed). best: ids along the winning text, thick.
    Candidates of probability 0 are left out. `name` turns a token into a word.

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
    rows = _rows(drawn)
    places = {node.id: (_LEFT + (node.step - 1) * (_WIDE + _GAP) + _GAP, _TOP + rows[node.id] * _ROW) for node in drawn}
    root = next(node for node in drawn if node.status == "root")
    places[root.id] = (12.0 - _WIDE, places[root.id][1])
    width = _LEFT + steps * (_WIDE + _GAP) + 6
    height = _TOP + (max(rows.values()) + 1) * _ROW + 30
    body = [text(0, 20, title, 17, more='font-weight="bold"')] if title else []
    seen = [node for node in drawn if node.status != "root" and node.step <= shown]
    for node in seen:
        body.append(_edge(places[node.parent], places[node.id], node, node.id in best and decided == steps, decided))
    y = places[root.id][1] + _HIGH / 2
    body.append(f'<circle cx="12" cy="{y:.1f}" r="9" fill="#1a1a1a"/>')
    body += [_box(*places[node.id], node, name(node.token), decided) for node in seen]
    body.append(_legend(height - 8))
    return svg(max(width, 640), height, "".join(body), _describe(seen, nodes, name, decided))


def _rows(nodes: Sequence[Any]) -> dict[int, float]:
    """A row per leaf, parents in order; a parent stands beside its first child, so that paths are straight."""
    children: dict[int, list[Any]] = {node.id: [] for node in nodes}
    for node in nodes:
        if node.parent in children:
            children[node.parent].append(node)
    rows: dict[int, float] = {}
    free = 0

    def place(node: Any) -> float:
        nonlocal free
        below = [place(child) for child in sorted(children[node.id], key=lambda child: -child.log_prob)]
        if below:
            rows[node.id] = below[0]
        else:
            rows[node.id] = float(free)
            free += 1
        return rows[node.id]

    place(next(node for node in nodes if node.status == "root"))
    return rows


def _look(node: Any, decided: int) -> tuple[str, str, str]:
    """(colour, dashes, fill) of a candidate; undecided ones are black on white."""
    if node.step > decided:
        return "#1a1a1a", "", "#ffffff"
    return {
        "kept": (_BLUE, "", "#e6f0f8"),
        "finished": (_GREEN, "", "#dff1ea"),
        "pruned": (_GREY, "5 4", "#f5f5f5"),
    }[node.status]


def _edge(start: tuple[float, float], end: tuple[float, float], node: Any, is_best: bool, decided: int) -> str:
    colour, dashes, _ = _look(node, decided)
    x0, y0 = start[0] + _WIDE, start[1] + _HIGH / 2
    x1, y1 = end[0], end[1] + _HIGH / 2
    bend = (x0 + x1) / 2
    thick = 5 if is_best else 2
    return (
        f'<path d="M{x0:.1f},{y0:.1f} C{bend:.1f},{y0:.1f} {bend:.1f},{y1:.1f} {x1:.1f},{y1:.1f}" fill="none"'
        f' stroke="{_ORANGE if is_best else colour}" stroke-width="{thick}" stroke-dasharray="{dashes}"/>'
    )


def _box(x: float, y: float, node: Any, word: str, decided: int) -> str:
    colour, dashes, fill = _look(node, decided)
    gone = node.step <= decided and node.status == "pruned"
    ink = f'style="fill:{"#5c5c5c" if gone else "#000"}"'
    thick = 3.5 if node.step <= decided and node.status == "finished" else 1.8
    chance = math.exp(node.token_log_prob)
    total = f"P {math.exp(node.log_prob):.3f} · ln {_signed(node.log_prob)}"
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{_WIDE}" height="{_HIGH}" rx="6" fill="{fill}" stroke="{colour}"'
        f' stroke-width="{thick}" stroke-dasharray="{dashes}"/>'
        + text(x + 8, y + 20, word, 16, more=f'font-weight="bold" {ink}')
        + text(x + _WIDE - 8, y + 20, f"× {chance:.2f}", 15, "end", ink)
        + text(x + 8, y + 41, total, 15, more=ink)
    )


def _legend(y: float) -> str:
    parts = []
    x = 0.0
    for words, colour, dashes, fill in (
        ("candidate", "#1a1a1a", "", "#fff"),
        ("kept", _BLUE, "", "#e6f0f8"),
        ("finished", _GREEN, "", "#dff1ea"),
        ("dropped", _GREY, "5 4", "#f5f5f5"),
    ):
        thick = 3.5 if words == "finished" else 1.8
        parts.append(
            f'<rect x="{x + 2:.0f}" y="{y - 14:.1f}" width="24" height="16" rx="3" fill="{fill}" stroke="{colour}"'
            f' stroke-width="{thick}" stroke-dasharray="{dashes}"/>' + text(x + 33, y, words, 15)
        )
        x += 62 + 9.5 * len(words)
    parts.append(
        f'<line x1="{x:.0f}" x2="{x + 28:.0f}" y1="{y - 5:.1f}" y2="{y - 5:.1f}" stroke="{_ORANGE}"'
        ' stroke-width="5"/>' + text(x + 36, y, "the answer", 15)
    )
    return "".join(parts)


def _describe(seen: Sequence[Any], nodes: Sequence[Any], name: Callable[[int], str], decided: int) -> str:
    by_id = {node.id: node for node in nodes}

    def whole(node: Any) -> str:
        words = []
        while node.status != "root":
            words.append(name(node.token))
            node = by_id[node.parent]
        return " ".join(reversed(words))

    last = max((node.step for node in seen), default=0)
    told = [
        f"{whole(node)}, P {math.exp(node.log_prob):.3f}, {node.status if node.step <= decided else 'a candidate'}"
        for node in seen
        if node.step == last
    ]
    if not told:
        return "Search tree: only the prompt has been read."
    finished = [whole(node) for node in seen if node.status == "finished" and node.step < last]
    before = f" Finished before: {', '.join(finished)}." if finished else ""
    return f"Search tree at step {last}: {'; '.join(told)}.{before}"


def _signed(value: float) -> str:
    return f"{value:.2f}".replace("-", "\N{MINUS SIGN}")
