"""One lecture, executed once: outputs, widgets as HTML and their states, kept under a digest of what it is made of."""

import functools
import hashlib
import json
import re
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nbclient.exceptions import CellExecutionError

from autograder.files import write_whole
from autograder.launcher.say import SetupError
from autograder.site.sheet import LIVE
from autograder.texts import figures, glossary, text
from autograder.texts.executed import execute

USED = [f"lectures/{part}" for part in ("show", "widgets", "prompting", "results", "checkpoints")]


def called(lecture: Path, name: str) -> bool:
    """Whether `name` is the lecture's number or its topic: "attention" is not self_attention."""
    number, _, topic = lecture.stem.partition("_")
    return int(number) == int(name) if name.isdigit() else name.casefold() in (topic, lecture.stem)


def chosen(root: Path, names: Sequence[str] | None) -> list[Path]:
    """The lectures that are called so, or all. Whoever asks for none of them is told which there are."""
    lectures = glossary.lectures(root)
    found = [path for path in lectures if not names or any(called(path, name) for name in names)]
    if not found:
        topics = ", ".join(path.stem.partition("_")[2] for path in lectures)
        print(f"No lecture is called {' or '.join(names or ())}. There are: {topics}.", file=sys.stderr)
        raise SystemExit(2)
    return found


@functools.cache
def _code(root: Path) -> bytes:
    """A digest of the code and data that any lecture may use."""
    made = hashlib.sha256()
    files = sorted(path for part in ("nlmcore", *USED) for path in (root / part).rglob("*") if path.is_file())
    used = [path for path in files if not re.search(r"/(\.|__pycache__)", f"/{path.relative_to(root).as_posix()}")]
    ours = [Path(__file__).with_name(name) for name in ("drawn.py", "packed.py", "kept.py")]
    for path in [*used, *sorted((root / "lectures").glob("[a-z]*.py")), *ours, Path(figures.__file__)]:
        made.update(path.name.encode() + hashlib.sha256(path.read_bytes()).digest())
    return made.digest()


def digest(lecture: Path, root: Path) -> str:
    return hashlib.sha256(_code(root) + lecture.read_bytes()).hexdigest()[:24]


def executed(lecture: Path, root: Path) -> tuple[dict[str, Any], float]:
    """`{"notebook", "html", "scripts", "report"}` of a lecture, and the seconds that it took now."""
    cache = root / "build" / "site"
    path = cache / f"{lecture.stem}-{digest(lecture, root)}.json"
    if path.is_file():
        return json.loads(path.read_text(encoding="utf-8")), 0.0
    began = time.monotonic()
    try:
        made = _execute(lecture, root, path.with_suffix(".states"))
    except CellExecutionError as error:
        raise SetupError(f"{lecture.name} does not run:\n{error}") from error
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
    drawn = f"from autograder.site import drawn\ndrawn.write({str(where)!r}, "
    execute(notebook, root / "lectures", where, lambda: f"{drawn}{displayed(notebook)!r})")
    told = json.loads(where.read_text(encoding="utf-8"))
    where.unlink()
    return {"notebook": notebook, **told}
