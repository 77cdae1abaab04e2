"""What attention costs: stored measurements against the length, and the memory of a cache."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from lectures.show import Axis, Canvas, Live, Plot, bar_list_svg, choice, live, looks, menu, said, stops
from lectures.show.svg import MARKS

_TICKS: dict[str, dict[float, str]] = {
    "seconds": {1e-3: "1 ms", 1e-2: "10 ms", 0.1: "0.1 s", 1: "1 s", 10: "10 s"},
    "bytes": {1e6: "1 MB", 1e7: "10 MB", 1e8: "100 MB", 1e9: "1 GB"},
    "multiply_adds": {1e8: "10⁸", 1e9: "10⁹", 1e10: "10¹⁰", 1e11: "10¹¹"},
}
_NAMES = {"time": "seconds", "memory": "bytes", "multiply-adds": "multiply_adds"}


def cost_explorer(result: Mapping[str, Any], baseline: str) -> Live:
    """Time, memory and multiply-adds of every row against the length, and how many times the baseline's at one length.

    result: `stored("sparse_cost")`.
    """
    lengths = [int(n) for n in result["seconds"][baseline]]

    def draw(measure: str, n: int) -> str:
        by = {name: {int(n): v for n, v in of.items()} for name, of in result[_NAMES[measure]].items()}
        ratios = {name: of[n] / by[baseline][n] for name, of in by.items() if n in of and name != baseline}
        words = (
            f"{n:,} tokens, {measure}: {baseline} {_written(by[baseline][n], measure)}; as a multiple of it: "
            + ", ".join(f"{name} {ratio:.2f}" for name, ratio in ratios.items())
        )
        return costs_svg(by, measure, n, words) + said(words)

    return live(
        draw,
        rows=[["measure", "n"]],
        measure=choice(_NAMES, "measure"),
        n=stops([(f"{n:,}", n) for n in lengths], lengths[-1], "tokens"),
    )


def costs_svg(by: Mapping[str, Mapping[int, float]], measure: str, n: int, words: str) -> str:
    """A line with marks per row, both axes logarithmic; a dashed stroke at n."""
    lengths = sorted({length for of in by.values() for length in of})
    every = [value for of in by.values() for value in of.values()]
    ticks = _TICKS[_NAMES[measure]]
    keys = looks(by, marks=MARKS)
    canvas = Canvas(f"{measure} of one forward pass", size=16)
    plot = Plot(
        canvas,
        Axis(lengths[0], lengths[-1], "tokens", {length: f"{length:,}" for length in lengths}, log=True),
        Axis(min([*ticks, *every]), max([*ticks, *every]), "", ticks, log=True),
        across=720,
        down=270,
        keys=keys,
        columns=3,
        padding=12,
    )
    across = plot.across(n)
    canvas.line((across, plot.top), (across, plot.bottom), "#777", 2, dashes="6 5")
    for name, of in by.items():
        plot.line(list(of), list(of.values()), keys[name])
        plot.marks(list(of), list(of.values()), keys[name])
    return canvas.svg(f"{measure} against the length, logarithmic axes. {words}.")


def _written(value: float, measure: str) -> str:
    if measure == "time":
        return f"{value:.2g} s" if value >= 0.1 else f"{1000 * value:.2g} ms"
    return f"{value / 1e6:,.0f} MB" if measure == "memory" else f"{value / 1e9:,.2f} · 10⁹"


Bytes = Callable[[int, int, int, int], float]
"""(layers, heads of keys and values, d_head, tokens held) -> bytes of the cache."""


def memory_playground(
    count: Bytes,
    models: Mapping[str, tuple[int, int, int, int]],
    lengths: Sequence[int],
    windows: Iterable[int],
    *,
    yours: Bytes | None = None,
) -> Live:
    """How much a cache holds after n tokens: of all heads, of shared heads, and through a window.

    models: name -> (layers, heads, heads of keys and values, d_head).
    """

    def draw(count: Bytes, model: str, n: int, window: int) -> str:
        layers, heads, shared, d_head = models[model]
        rows = {
            "keys and values for every head": count(layers, heads, d_head, n),
            f"{shared} shared head{'s' * (shared > 1)}": count(layers, shared, d_head, n),
            f"every head, window of {window:,}": count(layers, heads, d_head, min(n, window)),
            f"{shared} shared, window of {window:,}": count(layers, shared, d_head, min(n, window)),
        }
        told = [f"{size / 1e9:.2f} GB" if size >= 1e9 else f"{size / 1e6:.1f} MB" for size in rows.values()]
        title = f"{model}: cache after {n:,} tokens"
        return bar_list_svg(list(rows.values()), list(rows), says=told, title=title, width=860) + said(
            f"{title}: {told[0]} with all heads, {told[-1]} with shared heads and a window"
        )

    return live(
        draw,
        count,
        yours=yours,
        rows=[["model"], ["n", "window"]],
        model=menu(models, "model", "420px"),
        n=stops([(f"{n:,}", n) for n in lengths], lengths[len(lengths) // 2], "tokens"),
        window=stops([(f"{w:,}", w) for w in windows], next(iter(windows)), "window"),
    )
