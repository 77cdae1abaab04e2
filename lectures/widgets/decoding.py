"""Decoding under the hand: a beam in steps, a length penalty, a next-word distribution that is cut, a text that grows.

Heavy work (searching, asking a large model) is done before; moving a control only filters and draws.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial

import ipywidgets
from torch import Tensor

from nlmcore.decoding import SearchTree
from lectures.show import bar_list_svg, marked_words_html, next_word_svg, ranking_svg, search_tree_svg
from lectures.show.lines import said
from lectures.show.live import Live, live, slider, swapped

Reshape = Callable[..., Tensor]
"""(log_probs, *, temperature, top_k, top_p, min_p, typical_p) -> log_probs, as `nlmcore.decoding.reshape`."""

Score = Callable[[float, int, float], float]
"""(ln P, length, penalty) -> what hypotheses are ranked by."""


def beam_player(
    search: Callable[[int], SearchTree], name: Callable[[int], str], *, largest: int = 3, prompt: str = ""
) -> Live:
    """A beam search one half-step at a time: first the candidates, then what becomes of them.

    search: beam size -> the tree that it walked.
    """
    trees = {b: search(b) for b in range(1, largest + 1)}
    deepest = {b: max(n.step for n in tree.nodes if n.log_prob > -math.inf) for b, tree in trees.items()}

    def draw(beam: int, step: int) -> str:
        tree = trees[beam]
        step = min(step, 2 * deepest[beam])
        shown, decided = (step + 1) // 2, step // 2
        picture = search_tree_svg(
            tree.nodes, name, shown=shown, decided=decided, best=tree.best, title=f"“{prompt} …”, beam of {beam}"
        )
        return picture + said(_state_of(tree, name, shown, decided, deepest[beam]))

    return live(
        draw,
        beam=ipywidgets.ToggleButtons(
            options=[(f"b = {b}" + (" (greedy)" if b == 1 else ""), b) for b in trees],
            value=min(2, largest),
            description="beam",
            style={"button_width": "auto"},
        ),
        step=slider(2, 0, 2 * max(deepest.values()), 1, "half-step", "460px"),
    )


def _state_of(tree: SearchTree, name: Callable[[int], str], shown: int, decided: int, deepest: int) -> str:
    """The beam and what is finished, in a sentence."""

    def words(node) -> str:
        return " ".join(name(token) for token in tree.path(node)) + f" ({math.exp(node.log_prob):.3f})"

    if not shown:
        return "Nothing has been written. The next half-step shows the candidates for the first word."
    if shown > decided:
        count = sum(n.log_prob > -math.inf for n in tree.at_step(shown))
        return (
            f"Step {shown}: the {count} best candidates, ranked by the probability of the whole text. Which are kept?"
        )
    beam = [words(n) for n in tree.at_step(decided) if n.status == "kept"]
    ended = [words(n) for n in tree.nodes if n.status == "finished" and n.step <= decided]
    told = f"Step {decided}. Beam: {', '.join(beam) or 'empty'}. Finished: {', '.join(ended) or 'none'}."
    return told + (" No open text can win any more: stop." if decided == deepest else "")


def length_penalty_player(
    score: Score,
    texts: Sequence[str],
    lengths: Sequence[int],
    log_probs: Sequence[float | int],
    *,
    yours: Score | None = None,
) -> Live:
    """The hypotheses of a search, ranked anew under each length penalty."""

    def draw(score: Score, penalty: float) -> str:
        scores = [float(score(p, n, penalty)) for p, n in zip(log_probs, lengths, strict=True)]
        return ranking_svg(texts, lengths, log_probs, scores, title=f"score = ln P / length to the power {penalty:.2g}")

    return live(
        partial(draw, score),
        yours=swapped(draw, yours),
        penalty=slider(0.0, 0.0, 2.0, 0.1, "length penalty α", "460px"),
    )


def sampler_playground(
    reshape: Reshape,
    distributions: Mapping[str, Tensor],
    name: Callable[[int], str],
    *,
    words: int = 12,
    yours: Reshape | None = None,
) -> Live:
    """One next-word distribution of a model, reshaped: temperature, top-k, top-p, min-p, typical, in this order.

    distributions: prompt -> ln P of every next token (vocab,).
    """
    orders = {prompt: ln_p.argsort(descending=True, stable=True) for prompt, ln_p in distributions.items()}

    def draw(
        reshape: Reshape,
        prompt: str,
        temperature: float,
        top_k: int,
        top_p: float,
        min_p: float,
        typical_p: float,
    ) -> str:
        ln_p, ids = distributions[prompt], orders[prompt]
        filters = {
            "top_k": top_k or None,
            "top_p": None if top_p >= 1 else top_p,
            "min_p": min_p or None,
            "typical_p": None if typical_p >= 1 else typical_p,
        }
        after = reshape(ln_p, temperature=temperature, **filters).exp()[ids]
        before = ln_p.exp()[ids]
        rest = (before[words:].sum().item(), after[words:].sum().item())
        labels = [_shown(name(i)) for i in ids[:words].tolist()]
        return next_word_svg(before.numpy(), after.numpy(), labels, prompt=prompt, rest=rest)

    return live(
        partial(draw, reshape),
        yours=swapped(draw, yours),
        rows=[["prompt"], ["temperature", "top_k"], ["top_p", "min_p", "typical_p"]],
        prompt=ipywidgets.Dropdown(
            options=list(distributions), description="prompt", layout=ipywidgets.Layout(width="min(620px, 96%)")
        ),
        temperature=slider(1.0, 0.0, 2.0, 0.1, "temperature"),
        top_k=ipywidgets.SelectionSlider(
            options=[("off", 0), *((str(k), k) for k in (200, 50, 20, 10, 5, 3, 2, 1))],
            value=0,
            description="top-k",
            layout=ipywidgets.Layout(width="340px"),
        ),
        top_p=slider(1.0, 0.0, 1.0, 0.05, "top-p", "280px"),
        min_p=slider(0.0, 0.0, 1.0, 0.05, "min-p", "280px"),
        typical_p=slider(1.0, 0.0, 1.0, 0.05, "typical-p", "280px"),
    )


def word_by_word(trees: Mapping[str, SearchTree], name: Callable[[int], str], *, prompt: str) -> Live:
    """A text that grows token by token, and at every place what the choice was among.

    trees: way of decoding -> the tree of one text, as `greedy` and `sample` give it with trace=True.
    """
    written = {way: [node for node in tree.nodes if node.id in tree.best and node.step] for way, tree in trees.items()}
    longest = min(len(nodes) for nodes in written.values())

    def draw(way: str, place: int) -> str:
        tree, chosen = trees[way], written[way][place - 1]
        candidates = sorted(
            (n for n in tree.at_step(place) if n.log_prob > -math.inf), key=lambda n: (-n.token_log_prob, n.id)
        )
        tokens = [name(node.token) for node in written[way][:place] if node.token is not None]
        before, last = "".join(tokens[:-1]), tokens[-1]
        text = marked_words_html(
            [prompt + before, _shown(last)],
            [0, 1],
            ["read so far", "just written"],
            bold=1,
            alt=f"{way}, after {place} tokens: {prompt}{before}{last}",
        )
        labels = [_shown(name(n.token)) for n in candidates if n.token is not None]
        chances = [math.exp(n.token_log_prob) for n in candidates]
        bars = bar_list_svg(
            chances,
            labels,
            reach=1.0,
            highlight=[candidates.index(chosen)],
            title=f"place {place}: the five most probable tokens, and the one that was written",
            alt=f"At place {place} {way} wrote {labels[candidates.index(chosen)]!r}; candidates: "
            + ", ".join(f"{label} {p:.3f}" for label, p in zip(labels, chances, strict=True))
            + ".",
            width=700,
        )
        return text + bars

    return live(
        draw,
        rows=[["way"], ["place"]],
        way=ipywidgets.ToggleButtons(options=list(trees), description="way", style={"button_width": "auto"}),
        place=slider(1, 1, longest, 1, "tokens written", "460px"),
    )


@lru_cache(maxsize=4096)
def _shown(token: str) -> str:
    """A token as a word: without the space before it; what cannot be seen gets a sign."""
    word = token.removeprefix(" ").replace("\n", "\N{DOWNWARDS ARROW WITH TIP LEFTWARDS}")
    return word if word.strip() else "\N{OPEN BOX}"
