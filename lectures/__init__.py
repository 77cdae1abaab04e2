"""The lectures, and all that draws or trains for them.

lectures.show       pictures from arrays (SVG, matplotlib), and `live`, which redraws one when a control moves
lectures.widgets    the widgets, one module per lecture, over `show` and `nlmcore`
lectures.predictions what a reader has predicted, kept in a file of theirs; exported by `python -m lectures.predictions`
lectures.prompting  what a model learns from its prompt: options scored, patterns completed, accuracy measured
lectures.quiz       a lecture's questions for Moodle or Canvas
lectures.formulas   a formula that was typed, as a graph of `nlmcore.autodiff`
lectures.recipes    how the course's models were trained and its results measured, one command each
lectures.trained    the course's own trained models: `checkpoint(name)` reads one from `lectures/checkpoints`
lectures/results    what they measured, as data; `stored(name)` reads it, `stored_runs(name)` one kept run by run
lectures/figures    pictures that are there without a kernel
"""

import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent


def stored(name: str) -> Any:
    """What `python -m lectures.recipes` measured and stored in `lectures/results/<name>.json`.

    Raises ValueError if there is no such result; the message lists what there is.
    """
    path = FOLDER / "results" / f"{name}.json"
    if not path.is_file():
        known = ", ".join(sorted(file.stem for file in path.parent.glob("*.json")))
        raise ValueError(f"stored: there is no result {name!r}; there are: {known}")
    return json.loads(path.read_text(encoding="utf-8"))


def stored_runs(name: str) -> list[Any]:
    """The trainings of a result that keeps one file for each, in the folder `lectures/results/<name>/`.

    Raises ValueError if there are none.
    """
    files = sorted((FOLDER / "results" / name).glob("*.json"))
    runs = [
        run for file in files if "job" in (run := json.loads(file.read_text(encoding="utf-8")))
    ]
    if not runs:
        raise ValueError(f"stored_runs: there are no runs of {name!r} in lectures/results")
    return runs
