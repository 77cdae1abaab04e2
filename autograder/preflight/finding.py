"""One finding before grading; and the plain files below a folder.

Links, devices and pipes are listed, but not followed or opened.
"""

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, Literal

Kind = Literal["repaired", "ignored", "blocked", "note"]


@dataclass(frozen=True)
class Finding:
    """A finding, and what was done about it."""

    kind: Kind
    """repaired: fixed, and graded normally. ignored: left behind. note: only reported. blocked: this submission, or one
    notebook of it, cannot be graded as it is; you must look at it."""
    what: str  # two or three words joined by hyphens, for tables: "deleted-cell"
    words: str  # a sentence for the student and the instructor


@dataclass
class Prepared:
    """A submission, ready to be graded as far as it can be."""

    notebooks: dict[str, Any] = field(default_factory=dict)  # by the master's name, repaired
    files: dict[str, Path] = field(default_factory=dict)  # data files, by their path from the notebook
    findings: list[Finding] = field(default_factory=list)

    @property
    def blocked(self) -> bool:
        return any(finding.kind == "blocked" for finding in self.findings)


def shown(name: object, most: int = 80) -> str:
    """A name that a student chose, on one line and without control characters, for a finding's message."""
    escaped = str(name).encode("unicode_escape", "surrogatepass").decode("ascii")
    text = str(name) if str(name).isprintable() else escaped
    return text if len(text) <= most else text[: most - 1] + "…"


def listed(names: Iterable[str], most: int = 4) -> str:
    """ "a, b, c and 3 more"."""
    given = list(names)
    rest = f" and {len(given) - most} more" if len(given) > most else ""
    return ", ".join(given[:most]) + rest


MOST_ENTRIES, MOST_DEPTH = 5_000, 20
SKIPPED = {".ipynb_checkpoints", "__pycache__", ".git", "__MACOSX"}  # folders that programs leave, without a word


def scan(folder: Path, findings: list[Finding], most: int = MOST_ENTRIES) -> list[tuple[str, Path]]:
    """(path inside the folder, path) of every plain file, the shallow ones first, by name."""
    found: list[tuple[str, Path]] = []
    waiting, seen = [("", folder)], 0
    for _ in range(MOST_DEPTH + 1):
        below: list[tuple[str, Path]] = []
        for inside, place in waiting:
            try:
                with os.scandir(place) as opened:
                    entries = sorted(islice(opened, most + 1 - seen), key=lambda entry: entry.name)
            except OSError as error:
                findings.append(left_behind(inside or folder.name, f"it cannot be opened ({error.strerror})"))
                continue
            for entry in entries:
                seen += 1
                if seen > most:
                    findings.append(left_behind("the rest", f"a submission may hold {most} files"))
                    return found
                name = f"{inside}{entry.name}"
                if entry.is_symlink():
                    findings.append(left_behind(name, "it is a link"))
                elif entry.is_dir(follow_symlinks=False):
                    if entry.name.startswith(".") and entry.name not in SKIPPED:
                        findings.append(left_behind(name, "it is a hidden folder"))
                    elif entry.name not in SKIPPED:
                        below.append((f"{name}/", Path(entry.path)))
                elif not entry.is_file(follow_symlinks=False):
                    findings.append(left_behind(name, "it is not a plain file"))
                elif entry.stat(follow_symlinks=False).st_nlink > 1:
                    why = "it is a hard link to another file (if you linked the folder yourself, copy it instead)"
                    findings.append(left_behind(name, why))
                else:
                    found.append((name, Path(entry.path)))
        waiting = below
    findings.extend(left_behind(inside, f"more than {MOST_DEPTH} folders in folders") for inside, _ in waiting)
    return found


def left_behind(inside: str, why: str, what: str = "extra-file") -> Finding:
    return Finding("ignored", what, f"{shown(inside)} was left behind: {why}.")
