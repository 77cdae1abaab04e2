"""Widgets: a baseline that calms, answers while they change, four ways to step, votes, and a judge on a leash."""

import html
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lectures.show import Live, bands_svg, choice, from_to, lines_svg, live, said, slider, stops, tick
from lectures.show.plot import Axis, Plot, looks
from lectures.show.svg import MONO, Canvas

__all__ = ["answers_player", "baseline_player", "leash_player", "methods_player", "votes_player"]


def policy_steps(p: ArrayLike, rewards: ArrayLike, b: float) -> tuple[np.ndarray, float]:
    """E (r − b) ∇ ln π over the answers' scores, and the standard deviation of one such step, over all entries."""
    policy, r = np.asarray(p, dtype=float), np.asarray(rewards, dtype=float)
    each = (r - b)[:, None] * (np.eye(len(policy)) - policy)  # ∇ ln π(y) = onehot(y) − π, for scores of a softmax
    expected = policy @ each
    return expected, float(np.sqrt(policy @ ((each - expected) ** 2).sum(1)))


def baseline_player(p: Mapping[str, float], rewards: Mapping[str, float], b: float = 0.0) -> Live:
    """A slider for the baseline b: the expected step stays, its spread does not."""
    names, policy, r = list(p), list(p.values()), [rewards[name] for name in p]
    along = np.arange(-10, 21) / 10
    spreads = [policy_steps(policy, r, each)[1] for each in along]

    def draw(b: float) -> str:
        expected, spread = policy_steps(policy, r, b)
        words = ", ".join(f"{name} {step:+.3f}" for name, step in zip(names, expected, strict=True))
        canvas = Canvas("spread of a single step, by the baseline", size=16)
        plot = Plot(canvas, Axis(-1, 2, "baseline v"), Axis(0, 1.2, "standard deviation"), across=560, down=260)
        plot.line(along, spreads)
        plot.marks([b], [spread], size=8)
        alt = f"Baseline {b:.1f}: a single step has a standard deviation of {spread:.3f}; its expectation is {words}."
        return canvas.svg(alt) + said(f"v = {b:.1f}: expected step {words}; standard deviation {spread:.3f}")

    return live(draw, b=slider(b, -1.0, 2.0, 0.1, "baseline v", "480px"))


def answers_html(texts: Iterable[str]) -> str:
    """One line for each."""
    lines = "".join(f"<div>{html.escape(text)}</div>" for text in texts)
    return f'<div style="{MONO};font-size:16px;line-height:1.5;overflow-x:auto;white-space:pre">{lines}</div>'


def answers_player(history: Sequence[Mapping[str, float]], texts: Sequence[Sequence[str]]) -> Live:
    """A run, update by update: what was right, and three of the answers. history and texts: one entry per update."""
    shares = {name: np.array([row[name] for row in history]) for name in ("right", "steps")}

    def draw(update: int) -> str:
        row = history[update]
        seen = {name: np.where(np.arange(len(history)) <= update, of, np.nan) for name, of in shares.items()}
        words = f"{row['right']:.0%} right, {row['steps']:.0%} in steps, {row['length']:.0f} characters"
        chart = lines_svg(
            range(len(history)), {"right": seen["right"], "worked in steps": seen["steps"]}, x_title="update",
            y_title="fraction of sampled answers", low=0, high=1, height=260, alt=f"Update {update}: {words}.",
        )  # fmt: skip
        return chart + answers_html(texts[update]) + said(f"update {update}: {words}")

    return live(draw, play="update", update=slider(0, 0, len(history) - 1, 1, "update", "480px"))


def methods_player(rows: Mapping[str, Any], mean: bool = False, by_length: bool = False) -> Live:
    """Two ticks for the four cells of the table: accuracy and length while the models learn, seed by seed."""

    def draw(mean: bool, by_length: bool) -> str:
        name = ("mean" if mean else "none") + (", by length" if by_length else "")
        curves = rows[name]["curves"]
        right = np.array([run["right"] for run in curves])
        length = np.array([run["length"] for run in curves]) / 40
        words = f"{from_to(100 * np.array(rows[name]['right']))} % right, {from_to(rows[name]['length'])} characters"
        return bands_svg(
            range(right.shape[1]), {"right": right, "length / 40": length}, x_title="update",
            y_title="fraction of sampled answers", low=0, high=1, height=300, alt=f"{name}: after training {words}.",
        ) + said(f"after {right.shape[1]} updates, on held-out sums: {words}")  # fmt: skip

    return live(draw, mean=tick("subtract the group's mean", mean), by_length=tick("divide by length", by_length))


def votes_player(attempts: Mapping[str, Sequence[Mapping[str, Any]]], model: str) -> Live:
    """Of a model: pass@k and the vote of k over k, seed by seed."""

    def draw(model: str) -> str:
        runs = attempts[model]
        tries = list(runs[0]["pass"])
        lines = {
            "one of k is right": np.array([list(run["pass"].values()) for run in runs]),
            "the vote of k is right": np.array([list(run["vote"].values()) for run in runs]),
        }
        words = "; ".join(f"{name}: {from_to(100 * of[:, -1])} %" for name, of in lines.items())
        alt = f"{model}, over k from {tries[0]} to {tries[-1]}. At {tries[-1]}, {words}."
        chart = bands_svg(
            np.log2([int(k) for k in tries]), lines, x_title="log₂ k", y_title="fraction of held-out sums",
            low=0, high=1, height=300, alt=alt,
        )  # fmt: skip
        return chart + said(f"at k = {tries[-1]}: {words}")

    return live(draw, model=choice(attempts, "model", model))


def leash_player(judged: Mapping[str, Any], beta: str = "0", over: str = "updates") -> Live:
    """A judge who likes length, at several strengths of the KL penalty: reward and accuracy, seed by seed."""

    def draw(beta: str, over: str) -> str:
        curves = judged[beta]["curves"]
        values = {name: np.array([run[name] for run in curves]) for name in ("reward", "right", "kl")}
        end = {name: from_to(of[:, -1], "{:.2f}") for name, of in values.items()}
        words = f"β = {beta}: at the end reward {end['reward']}, right {end['right']}, KL divergence {end['kl']} nats"
        if over == "updates":
            lines = {"reward from the judge": values["reward"], "right": values["right"]}
            chart = bands_svg(
                range(values["kl"].shape[1]), lines, low=0, high=1, height=300, alt=words, x_title="update",
                y_title="mean over sampled answers",
            )  # fmt: skip
        else:
            canvas = Canvas(size=16)
            x, y = Axis(-1, 3, "KL divergence from the base, nats per answer", powers=True), Axis(0, 1, "right")
            plot = Plot(canvas, x, y, across=820, down=300, keys=looks([f"seed {i}" for i in range(len(curves))]))
            for i, (kl, right) in enumerate(zip(values["kl"], values["right"], strict=True)):
                plot.line(np.log10(np.maximum(kl, 0.1)), right, plot.keys[f"seed {i}"])
            chart = canvas.svg(words)
        shown = judged[beta]["texts"]
        some = [shown[0], shown[len(shown) // 2], shown[-1]]
        return chart + answers_html([f"update {step:2}: {text}" for step, text in some]) + said(words)

    controls = {"beta": stops(judged, beta, "β"), "over": choice(["updates", "KL divergence"], "over", over)}
    return live(draw, **controls)
