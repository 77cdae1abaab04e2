"""What else can bring positions together: which position reads which, and how well it works."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lectures.show import Live, bar_list_svg, beside, choice, heatmap_svg, live, said
from lectures.widgets.training_well import means_svg
from nlmcore.metrics import mean_interval


def mixing_player(maps: Mapping[str, Mapping[str, ArrayLike]], words: Mapping[str, Sequence[str]]) -> Live:
    """Mixing -> text -> how strongly the output at a row's position depends on the input at a column's, between 0 and 1."""
    texts = list(words)

    def draw(mixing: str) -> str:
        every = {text: np.asarray(maps[mixing][text], dtype=float) for text in texts}
        moved = float(np.abs(every[texts[0]] - every[texts[1]]).max())
        verdict = "the same for both texts" if moved < 1e-3 else f"different: by up to {moved:.2f}"
        pictures = [
            heatmap_svg(
                matrix, words[text], words[text], title=f"{mixing}: text {i}", cell=32,
                alt=f"{mixing}, {' '.join(words[text])}: the largest entry is {matrix.max():.2f}, the smallest {matrix.min():.2f}.",
            )
            for i, (text, matrix) in enumerate(every.items(), start=1)
        ]  # fmt: skip
        return beside(*pictures) + said(f"{mixing}: {verdict}")

    return live(draw, mixing=choice(maps, "mixing"))


def mixing_explorer(result: Mapping[str, Any], tasks: Mapping[str, str]) -> Live:
    """`stored("without_attention")`: a task's seeds, means and intervals in percent; or the paper's figures beside."""
    theirs, names = result["theirs"], {title: task for task, title in tasks.items()}

    def draw(task: str) -> str:
        rows = {row: [100 * v for v in of["right"]] for row, of in result["tasks"][names[task]].items()}
        every = [v for values in rows.values() for v in values]
        low, high = 5 * np.floor(min(every) / 5), 5 * np.ceil(max(every) / 5)
        told = "; ".join(f"{row} {mean_interval(values)[0]:.1f}" for row, values in rows.items())
        ours = means_svg(
            rows, low=float(low), high=float(high), x_title=f"{task}, %", width=640, alt=f"{task}, percent: {told}."
        )
        paper = bar_list_svg(
            list(theirs.values()), list(theirs), says=[f"{v:.1f}" for v in theirs.values()], width=420,
            title="theirs: mean over GLUE",
        )  # fmt: skip
        return beside(ours, paper) + said(f"{task}, ours, %: {told}")

    return live(draw, task=choice(names, "task"))
