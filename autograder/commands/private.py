"""Keeps everything that a course writes about its students from other accounts, and out of git.

The folders of a course are made for their owner alone; whatever lies in them is out of reach then, whatever its own
mode (nbgrader hands out copies of feedback, which students must be able to read).

The course's own checkout ignores its folders of marks already (`.gitignore`). Elsewhere, and for a file that is written
anywhere in a checkout (`--out`), a line goes into that checkout's `info/exclude`, which git reads like a `.gitignore`
and which is never committed.
"""

import contextlib
import os
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from autograder.grading.course import Course


def keep_course(course: "Course") -> None:
    """The folders of marks, and the gradebook with its journal, if it is a file."""
    from autograder.grading.keeping import JOURNALS, gradebook_of

    directory = course.directory
    folders = (directory.autograded_directory, directory.feedback_directory, "grading")
    paths = [course.root / folder for folder in folders]
    if gradebook := gradebook_of(course):
        paths += [gradebook.with_name(gradebook.name + end) for end in JOURNALS]
    keep(*paths)


def make_folders(course: "Course") -> None:
    """The folders of submissions and marks, where they are not there yet."""
    directory = course.directory
    steps = (directory.submitted_directory, directory.autograded_directory, directory.feedback_directory)
    for name in (*steps, "grading"):
        with contextlib.suppress(OSError):  # it is there; or whoever writes into it says why it cannot be made
            (course.root / name).mkdir(parents=True)
            (course.root / name).chmod(0o2770 if directory.groupshared else 0o700)


def keep(*paths: Path) -> None:
    """Make git ignore these files, and say on stderr if it cannot. Nothing happens outside a checkout."""
    checkouts: dict[Path, list[str]] = defaultdict(list)
    for whole in (path.parent.resolve() / path.name for path in paths):
        if (top := next((folder for folder in whole.parents if (folder / ".git").exists()), None)) is not None:
            checkouts[top].append(whole.relative_to(top).as_posix())
    for top, names in checkouts.items():
        try:
            if not (seen := _seen(top, names)):
                continue
            _exclude(top, seen)
            left, why = _seen(top, seen), "git has them already, or a .gitignore asks for them"
        except FileNotFoundError:  # no git here: nobody commits
            continue
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            left, why = names, f"git could not be asked ({' '.join(str(error).split())[:200]})"
        if left:
            print(f"Careful, in {top} these could be committed: {', '.join(left)}: {why}.", file=sys.stderr)


def _git(top: Path, *words: str, given: Sequence[str] = (), fine: tuple[int, ...] = (0,)) -> list[str]:
    """What git answers, as a list. Raises OSError, ValueError, SubprocessError."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    asked = "".join(f"{name}\0" for name in given)
    done = subprocess.run(
        ["git", *words], cwd=top, env=variables, input=os.fsencode(asked), capture_output=True, timeout=30, check=False
    )
    if done.returncode not in fine:
        raise ValueError(done.stderr.decode(errors="replace").strip() or f"git {words[0]} failed")
    return [os.fsdecode(name) for name in done.stdout.split(b"\0") if name]


def _seen(top: Path, names: Sequence[str]) -> list[str]:
    """The files that git would add, or already tracks. If a folder does not exist yet, rules like `/grading/` apply to
    its files."""
    inside = {f"{name}/x": name for name in names if not (top / name).is_file()} | {name: name for name in names}
    ignored = {inside[name] for name in _git(top, "check-ignore", "-z", "--stdin", given=[*inside], fine=(0, 1))}
    return [name for name in names if name not in ignored]


def _exclude(top: Path, names: Sequence[str]) -> None:
    path = top / _git(top, "rev-parse", "--git-path", "info/exclude")[0].strip()
    before = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    rules = ["/" + re.sub(r"([\\*?\[\]\s])", r"\\\1", name) for name in names]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(dict.fromkeys([*before, *rules])) + "\n", encoding="utf-8")
