"""Computational graphs that fill with values forward and with gradients backward, one step of a slider at a time."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any

import ipywidgets

from lectures.show import circuit_svg
from lectures.show.live import Live, live, slider, swapped

_MOST = 40
"""Nodes that a picture has room for."""

Backward = Callable[[Sequence[Any], Sequence[Any]], Sequence[float]]
"""(nodes, edges) -> the gradient of every node, in the order of the nodes."""


def circuit_player(nodes: Sequence[Any], edges: Sequence[Any], *, yours: Backward | None = None) -> Live:
    """One graph, step by step; below it, what this step computes.

    nodes, edges: as `Value.graph()` of nlmcore.autodiff gives them, after `backward`. `yours(nodes, edges)` gets them
    with every gradient 0 and gives the gradients, one per node: its picture is drawn beside the reference.
    """
    steps = len(nodes)

    def draw(backward: Backward | None, step: int) -> str:
        shown = (nodes, edges) if backward is None else _with_gradients(backward, nodes, edges)
        return circuit_svg(*shown, forward=min(step, steps), backward=max(step - steps, 0), caption=True)

    return live(
        partial(draw, None), yours=swapped(draw, yours), step=slider(0, 0, 2 * steps, 1, "step", "min(620px, 95%)")
    )


def _with_gradients(backward: Backward, nodes: Sequence[Any], edges: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """The graph with the gradients that `backward` finds, and the messages that follow from them."""
    bare = [dataclasses.replace(node, grad=0.0) for node in nodes]
    gradients = list(backward(bare, [dataclasses.replace(edge, message=0.0) for edge in edges]))
    if len(gradients) != len(nodes):
        raise ValueError(f"one gradient per node is needed, {len(nodes)} of them, got {len(gradients)}")
    filled = [dataclasses.replace(node, grad=float(g)) for node, g in zip(nodes, gradients, strict=True)]
    return filled, [dataclasses.replace(edge, message=filled[edge.target].grad * edge.local) for edge in edges]


def circuit_playground(build: Callable[[str], Any], formulas: Mapping[str, str]) -> Live:
    """Choose a formula or type one, then step through its circuit.

    build: text -> a graph with `nodes` and `edges`, gradients included; a ValueError of it is shown in words. formulas:
    what stands in the menu -> the text.

    Raises ValueError if there is no formula.
    """
    if not formulas:
        raise ValueError("circuit_playground needs at least one formula")
    graph_of = lru_cache(maxsize=32)(build)
    first = next(iter(formulas))
    steps = slider(0, 0, 2 * len(graph_of(formulas[first]).nodes), 1, "step", "min(620px, 95%)")
    wide: dict[str, Any] = {
        "style": {"description_width": "80px"},
        "layout": ipywidgets.Layout(width="min(860px, 98%)"),
    }
    choose = ipywidgets.Dropdown(options=list(formulas), description="example", **wide)
    typed = ipywidgets.Text(value=formulas[first], description="formula", continuous_update=False, **wide)

    def draw(formula: str, step: int) -> str:
        graph = graph_of(formula)
        n = len(graph.nodes)
        if n > _MOST:
            raise ValueError(f"this circuit has {n} nodes; the picture has room for {_MOST}")
        step = min(step, 2 * n)
        return circuit_svg(graph.nodes, graph.edges, forward=min(step, n), backward=max(step - n, 0), caption=True)

    player = Live(
        lambda example, **values: draw(**values),
        {"example": choose, "formula": typed, "step": steps},
        [["example"], ["formula"], ["step"]],
    )

    def renew(change: dict[str, Any]) -> None:
        if change["owner"] is choose:
            typed.value = formulas[choose.value]
            return
        try:
            n = len(graph_of(typed.value).nodes)
        except ValueError:
            return  # the picture says what is wrong
        steps.max = 2 * n
        steps.value = 0

    choose.observe(renew, names="value")
    typed.observe(renew, names="value")
    return player
