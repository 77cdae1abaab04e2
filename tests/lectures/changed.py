"""Which lectures a working copy has changed: `make test` opens those in a browser, and one more; CI opens them all.

What counts is what differs from the commit at which this branch left the default one; on the default branch itself,
from the last commit but one. What is not committed yet counts too. A lecture is changed by its text, by a picture of
its own (`lectures/figures/NN_…`) and by a module of `lectures/widgets` that makes one of its widgets.
"""

import re
import subprocess
from pathlib import Path

SHORTEST = "03_backpropagation"
"""Opened whatever has changed: it has seven widgets and computes for two seconds."""


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
    widgets = [root / name for name in files if re.fullmatch(r"lectures/widgets/\w+\.py", name)]
    made = "|".join(
        name
        for path in widgets
        if path.exists() and path.name != "__init__.py"
        for name in re.findall(r"^(?:def|class) ([a-zA-Z]\w*)", path.read_text(encoding="utf-8"), re.M)
    )
    shown = re.compile(rf"\bwidgets\.(?:{made})\b" if made else r"(?!)")
    return [
        path
        for path in lectures
        if path.relative_to(root).as_posix() in files
        or any(name.startswith(f"lectures/figures/{path.name[:3]}") for name in files)
        or shown.search(path.read_text(encoding="utf-8"))
    ]


def to_open(root: Path, lectures: list[Path]) -> list[Path]:
    """What a browser opens where not everything is asked for."""
    found = changed(root, lectures)
    return [path for path in lectures if path in found or path.stem == SHORTEST]


def _git(root: Path, *words: str) -> list[str]:
    """The lines of its answer; none where git does not answer."""
    try:
        done = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=False)
    except OSError:
        return []
    return done.stdout.splitlines() if done.returncode == 0 else []
