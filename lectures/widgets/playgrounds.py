"""Small worlds to turn a knob in: softmax, a query among keys, the width of queries and keys, masks.

Each is handed the function that it demonstrates; `yours`, the student's own, is drawn beside it.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import ipywidgets
import torch
from torch import Tensor

from lectures.show import heatmap_svg, plane_svg, softmax_svg
from lectures.show.live import Live, live, slider, swapped

Attend = Callable[..., tuple[Tensor, Tensor]]
"""(scores, values, mask=None) -> (context, weights), like `nlmcore.attention.attend`."""


def softmax_playground(
    attend: Attend, scores: Sequence[float], labels: Sequence[str], *, yours: Attend | None = None
) -> Live:
    """A slider per score, one that adds to them all and one that multiplies them; the weights follow."""

    def draw(attend: Attend, add: float, scale: float, **values: float) -> str:
        s = (torch.tensor([values[f"s{i}"] for i in range(len(labels))]) + add) * scale
        _, weights = attend(s, torch.eye(len(labels)))
        return softmax_svg(s, weights, labels, reach=6.0, extra=f"the weights sum to {weights.sum():.2f}")

    sliders = {
        f"s{i}": slider(float(score), -3.0, 3.0, 0.1, f"score of {label}", "300px")
        for i, (label, score) in enumerate(zip(labels, scores, strict=True))
    }
    add = slider(0.0, -3.0, 3.0, 0.5, "then add to all", "340px")
    scale = slider(1.0, 0.0, 8.0, 0.1, "then multiply all by", "340px")
    rows = [list(sliders), ["add", "scale"]]
    return live(partial(draw, attend), yours=swapped(draw, yours), rows=rows, **sliders, add=add, scale=scale)


def query_playground(
    attend: Attend,
    scores: Mapping[str, Callable[[Tensor, Tensor], Tensor]],
    keys: Tensor,
    labels: Sequence[str],
    *,
    yours: Attend | None = None,
) -> Live:
    """Turn a query among keys in the plane, under each score; disks grow with the weights.

    scores: name -> function (query (2,), keys (key, 2)) -> (key,). The keys are their own values.
    """

    def draw(attend: Attend, score: str, angle: int, length: float) -> str:
        radians = math.radians(angle)
        query = torch.tensor([math.cos(radians), math.sin(radians)]) * length
        context, weights = attend(scores[score](query, keys), keys)
        return plane_svg(query, keys, weights, context, labels, title=score)

    return live(
        partial(draw, attend),
        yours=swapped(draw, yours),
        rows=[["score"], ["angle", "length"]],
        score=ipywidgets.Dropdown(options=list(scores), description="score", layout=ipywidgets.Layout(width="420px")),
        angle=slider(315, 0, 355, 5, "angle of the query (°)"),
        length=slider(1.5, 0.0, 1.8, 0.1, "its length"),
    )


def width_playground(attend: Attend, n_keys: int = 6, seed: int = 0, *, yours: Attend | None = None) -> Live:
    """A random query and random keys of growing width d, with and without the division by √d."""
    widest, texts = 512, 200
    generator = torch.Generator().manual_seed(seed)
    queries = torch.randn(texts, widest, 1, generator=generator)
    keys = torch.randn(texts, n_keys, widest, generator=generator)
    labels = [f"k{j + 1}" for j in range(n_keys)]

    def draw(attend: Attend, d: int, divide: bool) -> str:
        scores = (keys[:, :, :d] @ queries[:, :d]).squeeze(-1) / (math.sqrt(d) if divide else 1.0)
        _, weights = attend(scores, torch.eye(n_keys).expand(texts, n_keys, n_keys))
        mean = f"largest weight, mean over {texts} random queries: {weights.amax(-1).mean():.2f}"
        return softmax_svg(scores[0], weights[0], labels, reach=30.0, extra=mean)

    return live(
        partial(draw, attend),
        yours=swapped(draw, yours),
        d=ipywidgets.SelectionSlider(
            options=[2**i for i in range(1, 10)],
            value=4,
            description="width d",
            layout=ipywidgets.Layout(width="360px"),
        ),
        divide=ipywidgets.Checkbox(value=False, description="divide the scores by √d", indent=False),
    )


def mask_playground(
    attend: Attend,
    words: Sequence[str],
    scores: Tensor,
    masks: Mapping[str, Tensor],
    *,
    yours: Attend | None = None,
) -> Live:
    """One matrix of scores under each mask; × marks what is forbidden.

    scores (query, key), one row and one column per word; masks: name -> boolean, broadcasts to the scores.
    """

    def draw(attend: Attend, mask: str) -> str:
        allowed = masks[mask].expand(scores.shape)
        _, weights = attend(scores, torch.eye(scores.shape[-1]), allowed)
        sums = ", ".join(f"{total:.0f}" for total in weights.sum(-1).tolist())
        alt = (
            f"Attention weights under the mask {mask!r}; {int((~allowed).sum())} entries forbidden; rows sum to {sums}."
        )
        shown = weights.masked_fill(~allowed, math.nan)
        note = f"one row per word that reads; the rows sum to {sums}"
        return heatmap_svg(shown, words, words, alt=alt, cell=64, title=mask, note=note)

    return live(
        partial(draw, attend),
        yours=swapped(draw, yours),
        mask=ipywidgets.ToggleButtons(options=list(masks), description="mask", style={"button_width": "auto"}),
    )
