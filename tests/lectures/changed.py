"""Which lectures a working copy has changed: `make test` opens those in a browser, and one more.

`.ci/run` opens a third of all lectures, drawn (`tests/drawn.py`), and `--everything` opens them all.

What counts is what differs from the commit at which this branch left the default one; on the default branch itself,
from the last commit but one. What is not committed yet counts too. A lecture is changed by its text, by a picture that
it shows or the file that draws it (`lectures/figures/topic.py`) and by a file of `lectures/widgets` that makes one
of its widgets.
"""

import re
import subprocess
from pathlib import Path

SHORTEST = "backpropagation"
"""Opened whatever has changed: it has seven widgets and computes for two seconds."""


def topic(lecture: Path) -> str:
    """`lectures/07_gates.py` -> `gates`."""
    return lecture.stem.partition("_")[2]


def changed_files(root: Path) -> set[str]:
    """Paths below `root`, with slashes; empty where there is no git."""
    base = _git(root, "rev-parse", "--verify", "HEAD~1")
    for default in ("origin/HEAD", "main", "master"):
        left = _git(root, "merge-base", "HEAD", default)
        if left:
            base = left if left != _git(root, "rev-parse", "HEAD") else base
            break
    committed = _git(root, "diff", "--name-only", "--relative", *base) if base else []
    since = _git(root, "diff", "--name-only", "--relative", "HEAD")
    return {*committed, *since, *_git(root, "ls-files", "--others", "--exclude-standard")}


def changed(root: Path, lectures: list[Path]) -> list[Path]:
    """Those of the lectures that have changed."""
    files = changed_files(root)
    widgets = [root / name for name in files if re.fullmatch(r"lectures/widgets/[\w/]+\.py", name)]
    made = "|".join(
        name
        for path in widgets
        if path.exists() and path.name != "__init__.py"
        for name in re.findall(r"^(?:def|class) ([a-zA-Z]\w*)", path.read_text(encoding="utf-8"), re.M)
    )
    shown = re.compile(rf"\bwidgets\.(?:{made})\b" if made else r"(?!)")
    found = []
    for path in lectures:
        text = path.read_text(encoding="utf-8")
        own = {f"lectures/{path.name}", f"lectures/figures/{topic(path)}.py"}
        pictures = {f"lectures/{name}" for name in re.findall(r"figures/[\w.-]+\.(?:svg|png)", text)}
        if files & (own | pictures) or shown.search(text):
            found.append(path)
    return found


def to_open(root: Path, lectures: list[Path], drawn: bool = False) -> list[Path]:
    """What a browser opens where not everything is asked for. Where the rest is drawn, what has changed is no matter:
    then the tree decides, and not the commits that led to it."""
    found = [] if drawn else changed(root, lectures)
    return [path for path in lectures if path in found or topic(path) == SHORTEST]


def _git(root: Path, *words: str) -> list[str]:
    """The lines of its answer; none where git does not answer."""
    try:
        done = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=False)
    except OSError:
        return []
    return done.stdout.splitlines() if done.returncode == 0 else []
