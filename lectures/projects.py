"""What the notebooks of the projects share: results that are kept, a paired comparison, and three reports with a marker's words."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from autograder.files import write_whole
from lectures.recipes.experiment import gap

RUNS = Path("runs.json")


def kept(name: str, run: Callable[..., Any], *arguments: Any, file: Path = RUNS) -> Any:
    """What `run(*arguments)` returned when this name was asked for first: numbers, text, lists and dictionaries. It is
    kept in `runs.json` next to the notebook; delete its line there to run it again."""
    known = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    if name not in known:
        known[name] = run(*arguments)
        lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in known.items()]
        write_whole(file, "{\n" + ",\n".join(lines) + "\n}\n")
    return known[name]


def compared(first: Sequence[float], second: Sequence[float]) -> str:
    """The paired difference, second less first, with the half width of its 95 % interval: "-0.024 ± 0.055 (5 pairs)".

    Raises ValueError unless both have the same seeds, two or more, in the same order.
    """
    if len(first) != len(second) or len(first) < 2:
        raise ValueError(
            f"compared: both sides need the same seeds, two or more; got {len(first)} and {len(second)}"
        )
    mean, half = gap(second, first)
    return f"{mean:+.3f} ± {half:.3f} ({len(first)} pairs)"


def examples(**reports: tuple[str, str]) -> Any:
    """Extracts of reports, each with what the marker says of it: good=("They write …", "The marker …")."""
    from IPython.display import Markdown

    parts = [
        f"**From a {name} report.**\n\n> {text}\n\n**The marker:** {said}"
        for name, (text, said) in reports.items()
    ]
    return Markdown("\n\n".join(parts))
