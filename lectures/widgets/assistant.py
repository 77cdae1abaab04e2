"""Widgets: conversations before and after tuning, β, patterns, guidance, retrieval, windows and memories."""

import html
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from lectures.show import (
    Axis, Canvas, Live, Plot, bar_list_svg, choice, choose_or_type, field, live, marked_words_html, menu, pieces_html, said, slider,
    stops,
)  # fmt: skip
from lectures.show.plot import Look
from lectures.show.svg import BLUE, GREEN, GREY, ORANGE, PALE
from nlmcore.decoding.expressions import DEAD, START, Automaton, accepts
from nlmcore.retrieval import BM25, words

__all__ = [
    "beta_player",
    "counted_mask",
    "form_player",
    "guidance_player",
    "habits_by_layers",
    "library_workbench",
    "limits_player",
    "pattern_player",
    "product_key_player",
    "reach_player",
    "transcript_browser",
]

Share = Sequence[float]
"""Mean, lower and upper end of its interval."""


def _told(share: Share) -> str:
    return f"{100 * share[0]:.0f} % ({100 * share[1]:.0f} to {100 * share[2]:.0f})"


def _shares(rows: Mapping[str, Share], title: str, highlight: Sequence[int] = (), note: str = "") -> str:
    """Bars from 0 to 100 %, with their intervals in words."""
    values, told = [share[0] for share in rows.values()], [_told(share) for share in rows.values()]
    return bar_list_svg(
        values, list(rows), title=title, says=told, highlight=highlight, reach=1.0, note=note, width=820
    )


def _bubble(who: str, text: str, colour: str) -> str:
    look = f"border-left:6px solid {colour};background:#fff;color:#1a1a1a;padding:6px 12px;margin:8px 0;font-size:18px;max-width:860px"
    body = html.escape(text).replace("\n", "<br>")
    return f'<div style="{look}"><b>{html.escape(who)}</b><br>{body}</div>'


# --- before tuning -------------------------------------------------------------------------------

Form = tuple[Sequence[str], Mapping[str, float]]
"""The pieces that the model reads, and its most probable next ones."""


def form_player(forms: Mapping[str, Mapping[str, Form]]) -> Live:
    """One question in several forms (question -> form -> `Form`): what the model reads, and what it would write next."""
    names = list(next(iter(forms.values())))

    def draw(question: str, form: str) -> str:
        pieces, following = forms[question][form]
        special = [piece for piece in pieces if piece.startswith("<|")]
        told = ", ".join(f"{word} {p:.2f}" for word, p in following.items())
        read = pieces_html(
            [[piece.replace("\n", "↵")] for piece in pieces],
            alt=f"The model reads {len(pieces)} tokens",
            framed=special,
        )
        bars = bar_list_svg(
            list(following.values()), list(following), title="and its most probable next tokens", reach=1.0
        )
        return read + bars + said(f"{form}: {told}")

    return live(draw, rows=[["question"], ["form"]], question=menu(list(forms), "question"), form=choice(names, "form"))


def counted_mask(conversations: Mapping[str, tuple[Sequence[str], Sequence[bool]]]) -> Live:
    """Which tokens of a conversation count in the loss: name -> (pieces, mask)."""

    def draw(name: str) -> str:
        pieces, mask = conversations[name]
        shown = [piece.replace("\n", "↵") for piece in pieces]
        alt = "Tokens that count: " + "".join(piece for piece, counts in zip(pieces, mask, strict=True) if counts)
        picture = marked_words_html(
            shown, [int(counts) for counts in mask], ["only read", "counts in the loss"], alt=alt
        )
        return picture + said(f"{sum(mask)} of {len(mask)} tokens count")

    return live(draw, name=menu(list(conversations), "conversation"))


# --- instruction tuning --------------------------------------------------------------------------

WRITTEN = {
    "answered": "answers what the passage holds",
    "refused": "declines although the passage holds it",
    "missing": "declines what the passage lacks",
    "elsewhere": "declines if the passage is about a different thing",
    "sums": "calls the calculator correctly",
}


def habits_by_layers(facts: Mapping[str, Any]) -> Live:
    """Share of held-out answers, by the layers that were tuned, from the stored runs of `tuned_layers`."""
    rows, bold = facts["written"], ", without refusals"
    places = [name for name in rows if not name.endswith(bold)]

    def draw(place: str, data: str) -> str:
        if place + data not in rows:
            raise ValueError(f"{place}: was not trained without refusals")
        of = rows[place + data]
        name = "untuned" if place == "untuned" else f"{place}{data}: {of['parameters']:,} parameters"
        picture = _shares({told: of[kind]["share"] for kind, told in WRITTEN.items()}, name, highlight=[1])
        seeds = "; ".join(f"{kind} " + " ".join(f"{x:.2f}" for x in of[kind]["seeds"]) for kind in WRITTEN)
        plain = " ".join(f"{x:.3f}" for x in of["plain"])
        return picture + said(f"by seed: {seeds}. Nats per token of plain text: {plain}")

    return live(
        draw,
        place=choice(places, "tuned layers", "last 2"),
        data=choice([("all conversations", ""), ("without refusals", bold)], "trained on"),
    )


def transcript_browser(facts: Mapping[str, Any]) -> Live:
    """Held-out questions with the replies of the untuned and the tuned model, stored."""
    rows = facts["transcripts"]
    names = [name for name in rows[0] if name not in ("kind", "ask", "wanted")]
    labels = [(f"{row['kind']}: {row['ask'].splitlines()[-1]}", i) for i, row in enumerate(rows)]

    def draw(which: int, model: str) -> str:
        row = rows[which]
        told = row[model] or "(nothing)"
        right = "exactly what we want" if told == row["wanted"] else f"wanted: {row['wanted']}"
        return (
            _bubble("user", row["ask"], GREY)
            + _bubble(f"assistant, {model}", told, ORANGE if model.startswith("tuned") else BLUE)
            + said(right)
        )

    return live(draw, rows=[["which"], ["model"]], which=menu(labels, "question"), model=choice(names, "model"))


# --- preferences ---------------------------------------------------------------------------------


def beta_player(facts: Mapping[str, Any]) -> Live:
    """Preference tuning by β, from the stored runs of `preference_tuning`: the habit, the drift, and replies."""
    rows = facts["rows"]
    names = list(rows)

    def label(name: str) -> str:
        return f"β = {name}" if name in facts["betas"] else name

    def draw(beta: str, which: int) -> str:
        canvas = Canvas("probability of the end after the first sentence, against drift", size=16)
        high = 1.15 * max(rows[name]["drift"][2] for name in names)
        plot = Plot(
            canvas,
            Axis(0, high, "drift: KL divergence from the untuned model, nats per token"),
            Axis(0, 1, "P(end)"),
            across=720,
            down=280,
        )
        for name in names:
            of, colour = rows[name], ORANGE if name == beta else BLUE
            x, y = of["drift"][0], of["stops"][0]
            plot.band([x, x + high / 300], [of["stops"][1]] * 2, [of["stops"][2]] * 2, Look(colour))
            plot.marks([x], [y], Look(colour, mark="diamond" if name == beta else "ring", wide=0), 7)
            left, top = plot.at(x, y)
            top += 16 if name == "0.03" else -10
            left += {"slowest": 70, "slower": 140}.get(name, 0)  # all three are near the corner
            canvas.text(left + 10, top + 5, label(name), 15, bold=name == beta)
        of = rows[beta]
        told = "; ".join(f"{name} {row['stops'][0]:.2f} at drift {row['drift'][0]:.3f}" for name, row in rows.items())
        chosen, rejected = (
            f"{of[pair][0]:z.1f} (untuned {rows['untuned'][pair][0]:z.1f})".replace("-", "−")
            for pair in ("chosen", "rejected")
        )
        words_ = f"log-probability of the preferred answers {chosen}, of the others {rejected}"
        replies = of.get("answers")
        shown = (
            _bubble("user", facts["questions"][which], GREY)
            + _bubble(f"assistant, {label(beta)}", replies[which] or "(nothing)", ORANGE)
            if replies
            else ""
        )
        return canvas.svg(f"P(end) against drift: {told}.") + said(words_) + shown

    asks = [(ask, i) for i, ask in enumerate(facts["questions"])]
    return live(
        draw, rows=[["beta"], ["which"]], beta=stops(names, facts["counted"], "β"), which=menu(asks, "question")
    )


# --- control -------------------------------------------------------------------------------------

Step = tuple[str, Mapping[str, float], Mapping[str, float]]
"""The text so far, tokens with their probabilities, and of those that the pattern allows their new ones."""


def pattern_player(steps: Mapping[str, Sequence[Step]]) -> Live:
    """Constrained decoding token by token (pattern -> steps); a typed text is read by the pattern's automaton."""
    longest = max(map(len, steps.values())) - 1

    def draw(pattern: str, step: int, typed: str) -> str:
        so_far, free, bound = steps[pattern][min(step, len(steps[pattern]) - 1)]
        labels = list(free)
        values = [bound.get(word, 0.0) for word in labels]
        told = [
            f"{p:.3f} → {bound[word]:.3f}" if word in bound else f"{p:.3f} → not allowed" for word, p in free.items()
        ]
        allowed = [i for i, word in enumerate(labels) if word in bound]
        picture = bar_list_svg(
            values, labels, title=f"after “{so_far}”: P → P′", says=told, highlight=allowed, reach=1.0, width=780
        )
        return picture + said(
            f"Written so far: “{so_far}”. " + (_automaton_says(pattern, typed) if typed else "Orange: allowed.")
        )

    return live(
        draw,
        rows=[["pattern"], ["step"], ["typed"]],
        pattern=menu(list(steps), "pattern"),
        step=slider(0, 0, longest, 1, "tokens written"),
        typed=field("a text", "type a text: does the pattern allow it?", every_key=True),
        play="step",
    )


def _automaton_says(pattern: str, typed: str) -> str:
    automaton, state = Automaton(pattern), START
    for i, letter in enumerate(typed):
        state = automaton.read(state, letter.encode())
        if state == DEAD:
            return f"“{typed[: i + 1]}”: no match can continue after its last character."
    return f"“{typed}” is " + ("a match." if accepts(automaton.states[state]) else "the beginning of a match.")


def guidance_player(prompts: Mapping[str, tuple[np.ndarray, np.ndarray]], name: Callable[[int], str]) -> Live:
    """Classifier-free guidance: ln P with the prompt and without (vocab) -> the mixture for any γ."""

    def draw(prompt: str, gamma: float) -> str:
        with_, without = prompts[prompt]
        mixed = without + gamma * (with_ - without)
        p = np.exp(mixed - mixed.max())
        p /= p.sum()
        best = np.argsort(-p)[:8]
        told = [f"{p[i]:.3f} (with {np.exp(with_[i]):.3f}, without {np.exp(without[i]):.3f})" for i in best]
        entropy = float(-(p[p > 0] * np.log(p[p > 0])).sum())
        says = {0.0: "the prompt is ignored", 1.0: "the model itself"}.get(gamma, "")
        picture = bar_list_svg(
            p[best], [name(int(i)) for i in best], title=f"γ = {gamma:.1f}", says=told, reach=1.0, width=820
        )
        return picture + said(f"entropy {entropy:.2f} nats" + (f": {says}" if says else ""))

    return live(
        draw, rows=[["prompt"], ["gamma"]], prompt=menu(list(prompts), "prompt"), gamma=slider(1.0, -1.0, 5.0, 0.5, "γ")
    )


# --- retrieval -----------------------------------------------------------------------------------


def library_workbench(library: Sequence[str], examples: Sequence[str]) -> Live:
    """A question, and the passages that BM25 finds, with the words that they share."""
    index = BM25(library)

    def draw(example: str, typed: str, k: int) -> str:
        question = typed or example
        asked, found = set(words(question)), index.search(question, k)
        if not found:
            return said("No passage shares a word with this question. BM25 compares words, not meanings.")
        rows = []
        for score, i in found:
            parts = re.split(r"([\w'’]+)", library[i])
            marked = "".join(
                f'<b style="color:#B34E00">{html.escape(x)}</b>' if x.lower() in asked else html.escape(x)
                for x in parts
            )
            rows.append(
                f'<div style="background:#fff;color:#1a1a1a;font-size:17px;margin:6px 0;padding:4px 10px;max-width:880px">{score:.2f} &nbsp; {marked}</div>'
            )
        return "".join(rows) + said("Bold: words of the question.")

    choose, typed = menu(list(examples), "question"), field("yours", "… or type a question", every_key=True)
    choose_or_type(choose, typed)
    return live(
        draw, rows=[["example"], ["typed"], ["k"]], example=choose, typed=typed, k=slider(3, 1, 6, 1, "passages")
    )


# --- long context and external memory ------------------------------------------------------------


def reach_player() -> Live:
    """Which earlier tokens can reach the last prediction: one window, segments, segments with cached states (XL)."""

    def reach(kind: str, time: int, size: int, layers: int) -> np.ndarray:
        t = np.arange(time)
        same = t[:, None] // size == t[None] // size
        before = t[:, None] // size == t[None] // size + 1
        sees = {"one window": t[:, None] - t[None] < size, "segments": same, "segments with cache (XL)": same | before}[
            kind
        ]
        sees &= t[:, None] >= t[None]
        return np.linalg.matrix_power(sees.astype(float), layers)[-1] > 0

    def draw(kind: str, size: int, layers: int) -> str:
        canvas, time = Canvas(f"{kind}, {layers} layer{'s' if layers > 1 else ''}", size=16), 36
        seen = reach(kind, time, size, layers)
        for i, yes in enumerate(seen):
            new = kind != "one window" and i % size == 0 and i > 0
            canvas.rect(20 + 23 * i, 40, 20, 34, ORANGE if i == time - 1 else BLUE if yes else PALE)
            if new:
                canvas.line((18 + 23 * i, 30), (18 + 23 * i, 84), GREY, 2)
        canvas.text(20, 112, "blue: can reach the prediction after the last token (orange)", 16)
        far = time - 1 - int(np.argmax(seen))
        return canvas.svg(f"{kind}: of {time} tokens the last {int(seen.sum())} can reach the prediction.") + said(
            f"The farthest token that counts is {far} back. Attention per token and layer: at most {size * (2 if 'XL' in kind else 1)} keys."
        )

    kinds = ["one window", "segments", "segments with cache (XL)"]
    return live(
        draw,
        rows=[["kind"], ["size", "layers"]],
        kind=choice(kinds, "memory", kinds[2]),
        size=slider(6, 2, 12, 1, "segment or window"),
        layers=slider(3, 1, 6, 1, "layers"),
    )


def product_key_player() -> Live:
    """Product keys: a query in two halves finds the best of n² memories with 2 n + k² products."""

    def draw(n: int, k: int, query: int) -> str:
        generator = np.random.default_rng(query)
        first, second = generator.normal(size=n), generator.normal(size=n)  # scores of the half keys
        rows, columns = np.argsort(-first)[:k], np.argsort(-second)[:k]
        scores = first[:, None] + second[None]
        best = np.unravel_index(int(np.argmax(scores)), scores.shape)
        canvas, cell = Canvas(f"{n}² = {n * n:,} memories, {k} best of each half", size=16), min(22, 352 // n)
        for i in range(n):
            for j in range(n):
                both, one = i in rows and j in columns, i in rows or j in columns
                fill = ORANGE if (i, j) == best else GREEN if both else PALE if one else "#f4f4f4"
                canvas.rect(20 + cell * j, 40 + cell * i, cell - 2, cell - 2, fill)
        left = 50 + cell * n
        inside = best[0] in rows and best[1] in columns
        lines = [
            f"half keys compared: 2 · {n} = {2 * n}",
            f"pairs compared: {k}² = {k * k}",
            f"together {2 * n + k * k:,} instead of {n * n:,}",
            "orange: the best of all pairs",
            "green: the pairs that are compared",
        ]
        for i, line in enumerate(lines):
            canvas.text(left, 62 + 30 * i, line, 16)
        return canvas.svg(
            f"{2 * n + k * k} products instead of {n * n}; the best pair is {'among' if inside else 'outside'} the {k * k} compared."
        ) + said(
            f"The best pair is {'among' if inside else 'not among'} the {k * k} candidates. With {512}² memories and k = {k}: {2 * 512 + k * k:,} products instead of {512**2:,}."
        )

    return live(
        draw, n=slider(12, 4, 16, 1, "n, half keys"), k=slider(3, 1, 4, 1, "k"), query=slider(1, 1, 20, 1, "query")
    )


# --- limits --------------------------------------------------------------------------------------


def limits_player(facts: Mapping[str, Any]) -> Live:
    """What the model gets wrong, test by test, from the stored result `still_missing`."""
    negation, context = facts["negation"], facts["context"]
    tests: dict[str, dict[str, Share]] = {
        "letters": {"right": facts["letters"]["right"], "guessing": [facts["letters"]["guessing"]] * 3},
        "negation": {
            **{f"“yes” more probable: {pair}": share for pair, share in negation["right"].items()},
            "opposite answers": negation["opposite"],
        },
        "paraphrase": {
            **facts["paraphrase"]["right"],
            "right in all of them": facts["paraphrase"]["all"],
            "right in at least one": facts["paraphrase"]["any"],
        },
        "context": {f"{length}, {name}": share for length, by in context.items() for name, share in by.items()},
    }

    def draw(test: str) -> str:
        rows = tests[test]
        last = [i for i, name in enumerate(rows) if name in ("guessing", "opposite answers", "right in all of them")]
        return _shares(rows, f"{test}: share right", highlight=last) + said(facts["how"])

    return live(draw, test=choice(list(tests), "test"))
