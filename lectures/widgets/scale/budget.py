"""A budget of operations: a larger model or more text?"""

from collections.abc import Sequence

from lectures.show import Axis, Canvas, Live, Look, Plot, live, said, stops, tick
from lectures.show.svg import BLUE, GREEN, GREY, ORANGE, power_of_ten
from lectures.widgets.scale.cells import Point, affordable, by_size


def count(number: float) -> str:
    """1760 → "1.8 thousand"."""
    return f"{number / 1e6:.2g} million" if number >= 999_500 else f"{number / 1e3:.3g} thousand"


def short(number: float) -> str:
    """1760 → "1.76 k", where there is little room."""
    return f"{number / 1e6:.2g} M" if number >= 999_500 else f"{number / 1e3:.3g} k"


def written(operations: float) -> str:
    """2.3e10 → "2.3 · 10¹⁰"."""
    digits, power = f"{operations:.1e}".split("e")
    return f"{digits} · {power_of_ten(int(power))}"


def decades(low: float, high: float) -> dict[float, str]:
    """Ticks of a logarithmic axis."""
    return {10.0**k: power_of_ten(k) for k in range(-3, 30) if low <= 10.0**k <= high}


def axis(values: Sequence[float], title: str) -> Axis:
    """Logarithmic, with a little room at both ends."""
    low, high = min(values) / 1.5, max(values) * 1.5
    return Axis(low, high, title, decades(low, high), log=True)


def budget_playground(ladder: Sequence[Point]) -> Live:
    """Choose a size: it is trained for as long as the budget allows. What did the stored run reach, and which was best?"""
    sizes = list(by_size(ladder))
    cheap, dear = min(p.compute for p in ladder), max(p.compute for p in ladder)
    budgets = [10**k * digit for k in range(7, 14) for digit in (1, 3) if 4 * cheap < 10**k * digit < dear]

    def draw(budget: float, size: int, best: bool) -> str:
        within = affordable(ladder, budget)
        mine = next((p for p in within if size == p.N), None)
        if mine is None:
            raise ValueError("this model is too large for the budget: not even its shortest training is affordable")
        top = min(within, key=lambda p: p.loss)
        rank = sorted(within, key=lambda p: p.loss).index(mine) + 1
        words = (
            f"{count(mine.N)} parameters read {count(mine.D)} characters: loss {mine.loss:.3f}, number {rank} of the"
            f" {len(within)} sizes that you can afford"
        )
        if best:
            words += f". Best: {count(top.N)} parameters, {count(top.D)} characters, loss {top.loss:.3f}"
        return plane_svg(ladder, budget, mine, top if best else None, words) + said(words)

    return live(
        draw,
        rows=[["budget", "size"], ["best"]],
        budget=stops([(written(b), b) for b in budgets], budgets[len(budgets) // 2], "operations", "380px"),
        size=stops([(short(n), n) for n in sizes], sizes[1], "parameters", "380px"),
        best=tick("show the best of the ladder"),
    )


def plane_svg(ladder: Sequence[Point], budget: float, mine: Point, top: Point | None, words: str) -> str:
    """Sizes across, text up: one circle per stored run, and the line of equal operations."""
    canvas = Canvas("", size=16)
    keys = {
        "stored run": Look(GREY, mark="circle", wide=0),
        "affordable": Look(BLUE, mark="circle", wide=0),
        "yours": Look(ORANGE, mark="square", wide=0),
    } | ({"best": Look(GREEN, mark="diamond", wide=0)} if top else {})
    x, y = axis([p.N for p in ladder], "parameters N"), axis([p.D for p in ladder], "characters D")
    plot = Plot(canvas, x, y, across=700, down=380, keys=keys, columns=4)
    plot.line([x.low, x.high], [budget / 6 / x.low, budget / 6 / x.high], Look("#555555", "9 5", wide=2))
    for p in ladder:
        plot.marks([p.N], [p.D], keys["affordable" if p.compute <= budget * 1.0001 else "stored run"], 5)
    plot.marks([mine.N], [mine.D], keys["yours"], 10)
    if top:
        plot.marks([top.N], [top.D], keys["best"], 8)
    return canvas.svg(
        f"{len(ladder)} stored runs by parameters and text; the dashed line is 6 N D = {written(budget)}. {words}."
    )
