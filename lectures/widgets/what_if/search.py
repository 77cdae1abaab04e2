"""The best of many tries, tried again; and what a model without positions knows about order."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from lectures.show import Axis, Canvas, Live, Look, Plot, bar_list_svg, choice, live, said, slider
from lectures.show.svg import BLUE, ORANGE


def search_playground(losses: Mapping[str, Sequence[float]], plain: Sequence[float]) -> Live:
    """Random orders, tried with one seed; the best is trained again with the other seeds.

    losses: order -> loss, one per seed. plain: those of the plain order, of at least as many seeds as there are orders.
    """
    runs, names = np.array(list(losses.values())), list(losses)

    def draw(tried: int, seed: int) -> str:
        first = runs[:tried, seed]
        best = int(np.argmin(first))
        again = np.delete(runs[best], seed)
        seeds = np.asarray(plain[:tried])
        words = (
            f"best of {tried} orders {first[best]:.3f} ({names[best]}), the same order with fresh seeds"
            f" {again.mean():.3f}; plain order: best of {tried} seeds {seeds.min():.3f}, mean {np.mean(plain):.3f}"
        )
        return search_svg(first, again, seeds, float(np.mean(plain)), words) + said(words)

    return live(
        draw,
        rows=[["tried", "seed"]],
        tried=slider(len(names), 2, len(names), 1, "tries", "360px"),
        seed=slider(0, 0, runs.shape[1] - 1, 1, "seed of the search", "320px"),
    )


def search_svg(first: np.ndarray, again: np.ndarray, seeds: np.ndarray, mean: float, words: str) -> str:
    """Three columns of dots: the orders that were tried, the chosen one again, and seeds of the plain order."""
    columns = {"orders, one seed each": first, "the best one, fresh seeds": again, "plain order, as many seeds": seeds}
    every = np.concatenate(list(columns.values()))
    canvas, room = Canvas("", size=16), 0.05 * float(every.max() - every.min())
    plot = Plot(
        canvas,
        Axis(0.4, 3.6, ticks=dict(enumerate(columns, start=1)), grid=False),
        Axis(float(every.min()) - room, float(every.max()) + room, "nats per character"),
        across=760,
        down=380,
    )
    plot.level(mean, "7 5", "#555")
    for x, values in enumerate(columns.values(), start=1):
        spread = x + 0.18 * np.sin(2.4 * np.arange(len(values)))
        plot.marks(spread, values, Look(BLUE), 4.5)
        chosen = values.mean() if x == 2 else values.min()
        plot.line([x - 0.28, x + 0.28], [chosen, chosen], Look(ORANGE, wide=4))
    canvas.notes(["orange: the best, in the middle column the mean; dashed: the mean of all seeds of the plain order"])
    return canvas.svg(f"{words}.")


Moved = Callable[[int, bool, bool], Sequence[float]]
"""(layers, causal mask, positions) -> how far the last word's vector moves for each of some shuffles of the words before."""


def last_word_playground(moved: Moved, depths: Sequence[int] = (1, 2, 3, 4)) -> Live:
    """How much the vector of the last word depends on the order of the words before it, by the number of layers."""

    def draw(mask: str, positions: str) -> str:
        values = [float(np.mean(moved(depth, mask == "causal", positions == "sinusoids"))) for depth in depths]
        says = ["0" if value < 1e-5 else f"{value:.3f}" for value in values]
        labels = [f"{depth} layer{'s' if depth > 1 else ''}" for depth in depths]
        title = f"{mask} mask, positions: {positions}"
        told = ", ".join(f"{label} {word}" for label, word in zip(labels, says, strict=True))
        return bar_list_svg(values, labels, says=says, title=title, reach=1.0) + said(f"{title}: {told}")

    return live(
        draw,
        mask=choice(["no", "causal"], "mask"),
        positions=choice(["none", "sinusoids"], "positions"),
    )
