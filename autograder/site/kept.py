"""One lecture, executed once: outputs, widgets as HTML and their states, kept under a digest of what it is made of."""

import functools
import hashlib
import json
import time
from pathlib import Path
from typing import Any

from autograder.files import write_whole
from autograder.site.sheet import LIVE
from autograder.texts import figures, text
from autograder.texts.executed import execute


@functools.cache
def _code(root: Path) -> bytes:
    """A digest of the code and data that any lecture may use."""
    made = hashlib.sha256()
    parts = (
        "nlmcore",
        "lectures/show",
        "lectures/widgets",
        "lectures/prompting",
        "lectures/results",
        "lectures/checkpoints",
    )
    files = [
        path
        for part in parts
        for path in (root / part).rglob("*")
        if path.is_file() and not any(part.startswith((".", "__pycache__")) for part in path.relative_to(root).parts)
    ]
    ours = [Path(__file__).with_name(name) for name in ("drawn.py", "packed.py", "kept.py")]
    ours.append(Path(figures.__file__))
    for path in [*sorted(files), *sorted((root / "lectures").glob("[a-z]*.py")), *ours]:
        made.update(path.name.encode() + hashlib.sha256(path.read_bytes()).digest())
    return made.digest()


def digest(lecture: Path, root: Path) -> str:
    return hashlib.sha256(_code(root) + lecture.read_bytes()).hexdigest()[:24]


def executed(lecture: Path, root: Path, cache: Path) -> tuple[dict[str, Any], float]:
    """`{"notebook", "html", "scripts", "report"}` of a lecture, and the seconds that it took now."""
    path = cache / f"{lecture.stem}-{digest(lecture, root)}.json"
    if path.is_file():
        return json.loads(path.read_text(encoding="utf-8")), 0.0
    began = time.monotonic()
    made = _execute(lecture, root, path.with_suffix(".states"))
    for old in cache.glob(f"{lecture.stem}-*.json"):
        old.unlink()
    write_whole(path, json.dumps(made, ensure_ascii=False))
    return made, time.monotonic() - began


def displayed(notebook: Any) -> list[str]:
    """The ids of the widgets that the cells display."""
    shown = (output.get("data", {}) for cell in notebook.cells for output in cell.get("outputs", []))
    return [data[LIVE]["model_id"] for data in shown if LIVE in data]


def _execute(lecture: Path, root: Path, where: Path) -> dict[str, Any]:
    """Run all cells in a kernel, then draw the states there."""
    where.parent.mkdir(parents=True, exist_ok=True)
    notebook = text.from_text(figures.words(lecture.read_text(encoding="utf-8")), root)

    def draw() -> str:
        return f"from autograder.site import drawn\ndrawn.write({str(where)!r}, {displayed(notebook)!r})"

    execute(notebook, root / "lectures", where, draw)
    told = json.loads(where.read_text(encoding="utf-8"))
    where.unlink()
    return {"notebook": notebook, **told}
