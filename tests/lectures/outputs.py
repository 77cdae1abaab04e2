"""What a lecture shows, kept run by run: two runs of the same sources must show the same numbers and pictures.

`test_every_lecture.py` runs each lecture without a browser and `test_in_browser.py` runs it in one, in another
process. Each keeps what it has seen, and whoever comes second compares. A run of older sources is never compared:
what is kept carries a digest of all that a lecture can depend on.
"""

import hashlib
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

RUNS = ("without a browser", "in a browser")


@cache
def digest_of_sources(root: Path) -> str:
    """Changes when the package, a checkpoint, a lecture or anything beside it changes."""
    whole = hashlib.sha256()
    for path in sorted([*(root / "nlmcore").rglob("*"), *(root / "lectures").rglob("*")]):
        if path.is_file() and path.suffix not in (".pyc", ".ipynb", ".md") and "__pycache__" not in path.parts:
            whole.update(path.relative_to(root).as_posix().encode())
            whole.update(hashlib.sha256(path.read_bytes()).digest())
    return whole.hexdigest()[:16]


def shown(notebook: Any) -> list[dict[str, Any]]:
    """Source and outputs of each code cell, without what names a process: ids of widgets, addresses in memory."""
    return [{"source": cell.source, "outputs": _outputs(cell)} for cell in notebook.cells if cell.cell_type == "code"]


def _outputs(cell: Any) -> list[list[str]]:
    found: list[list[str]] = []
    for output in cell.outputs:
        if output.output_type == "stream":
            if found and found[-1][0] == output.name:  # one text may come in several pieces
                found[-1][1] += output.text
            else:
                found.append([output.name, output.text])
        elif output.output_type == "error":
            found.append(["error", f"{output.ename}: {output.evalue}"])
        else:
            data = {kind: value for kind, value in output.data.items() if "widget-view" not in kind}
            found += [[kind, _nameless(str(data[kind]))] for kind in sorted(data)]
    return found


def _nameless(text: str) -> str:
    return re.sub(r"\b[0-9a-f]{32}\b|\b0x[0-9a-f]{6,}\b", "…", text)


def keep(folder: Path, stem: str, run: str, notebook: Any, root: Path) -> None:
    """Note what an executed notebook shows."""
    assert run in RUNS
    folder.mkdir(parents=True, exist_ok=True)
    content = {"sources": digest_of_sources(root), "cells": shown(notebook)}
    target = folder / f"{stem} {run}.json"
    temporary = target.with_suffix(".new")
    temporary.write_text(json.dumps(content, indent=1, ensure_ascii=False), encoding="utf-8")
    temporary.replace(target)


def differences(folder: Path, stem: str, root: Path) -> list[str] | None:
    """Where two runs of the present sources differ; None while there is only one."""
    paths = [folder / f"{stem} {run}.json" for run in RUNS]
    if not all(path.exists() for path in paths):
        return None
    kept = [json.loads(path.read_text(encoding="utf-8")) for path in paths]
    if {run["sources"] for run in kept} != {digest_of_sources(root)}:
        return None
    found = []
    for one, other in zip(kept[0]["cells"], kept[1]["cells"], strict=True):
        if one["outputs"] != other["outputs"]:
            found.append(f"{one['source'][:400]}\n  {_first_difference(one['outputs'], other['outputs'])}")
    return found


def _first_difference(one: list[list[str]], other: list[list[str]]) -> str:
    if [kind for kind, _ in one] != [kind for kind, _ in other]:
        return f"shows {[kind for kind, _ in one]} and then {[kind for kind, _ in other]}"
    kind, left, right = next((k, a, b) for (k, a), (_, b) in zip(one, other, strict=True) if a != b)
    at = next((i for i, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right)))
    return f"{kind}: …{left[max(0, at - 40) : at + 60]!r} and then …{right[max(0, at - 40) : at + 60]!r}"
