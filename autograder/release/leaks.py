"""Searches every file of the student's archive for content that must not be in it.

    paths      solutions, declarations, tests, gradebooks, submissions, graders' files
    lines      of solutions, hidden tests and mark schemes of every source notebook, including unreleased assignments
    code       of the exercises' declarations: references, misconceptions, inputs
    hosts      of package registries

A line that students see anyway, because it also occurs outside a secret region of a source notebook, is not secret.
Short lines, and lines that only return one name, do not count. `nlmcore` and the lectures contain in their own form
what the exercises ask for, and single lines coincide, also with lines of the launcher, so there only a run of three
secret lines counts.
"""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

from autograder.assignments import SOURCE
from autograder.files import plain_files
from autograder.question.questions import opened
from autograder.release.build import secret_lines
from autograder.texts.text import from_text

FORBIDDEN = {"solutions", "checks", "tests", "submitted", "autograded", "feedback", "grading", "release", "downloaded"}
"""Folders; `autograder/question/public/exercises` and the like do not count."""
NAMES = re.compile(r"gradebook\.db|grades\.csv|\.log$|^\.")
HOSTS = re.compile("py" + r"pi\.org|python" + r"hosted|download\.pytorch|anaconda\.org")
"""Hosts of package registries; assembled from parts, so that this file names none."""
SHORTEST = 12
NOBODYS = re.compile(r"return \w+$")
NO_CODE = re.compile(r"""(from|import) |[frb]?["'“#]|\w+=["'(]|\(|\w+\($""")
RUN = {"nlmcore": 3, "lectures": 3}


def leaks(root: Path, files: Mapping[str, bytes]) -> list[str]:
    """One sentence for everything in `files` that students must not get. `root` is the instructor's checkout."""
    masters, seen = _of_masters(root)
    declared = _of_declarations(root) - seen
    found = []
    for name, content in files.items():
        parts = PurePosixPath(name).parts
        forbidden = FORBIDDEN.intersection(parts[:-1]) or any(NAMES.search(part) for part in parts)
        if forbidden:
            found.append(f"{name}: this file stays with the instructor")
        if name.endswith(".safetensors"):
            continue  # numbers
        lines = list(_lines(name, content.decode(errors="replace")))
        program = name.startswith("autograder/") and name.endswith(".py") and "laws" not in parts
        run = RUN.get(parts[0], 3 if program else 1)
        found += [f"{name}: {line}" for line in _runs(lines, masters, run)]
        found += [f"{name}: {line} (from a declaration)" for line in _runs(lines, declared, run)]
        found += [f"{name}: the host of a package registry: {line}" for line in lines if HOSTS.search(line)]
    return found


def _of_masters(root: Path) -> tuple[set[str], set[str]]:
    """(secret lines, lines that students see) of every source notebook."""
    cells = []
    for path in sorted((root / SOURCE).glob("*/*.py")):
        text = path.read_text(encoding="utf-8")
        if re.search(r"^# %%", text, re.M):
            cells += opened(from_text(text, root)).cells
    secret = secret_lines(cells)
    texts = [text for cell in cells for text in (cell.source, cell.metadata.get("given", ""))]
    everything = {line.strip() for text in texts for line in text.split("\n")}
    return {line for line in secret if len(line) >= SHORTEST and not NOBODYS.match(line)}, everything - secret


def _of_declarations(root: Path) -> set[str]:
    """The lines of code in the assignments' checks, without imports, and without texts, which students read in
    reports."""
    found: set[str] = set()
    for path in plain_files(root / SOURCE, "*/checks.py", "*/checks/**/*.py"):
        for line in path.read_text(encoding="utf-8").split("\n"):
            found.update(text.strip() for text in re.sub(r"^[-*^+] +", "", line).split(" →"))  # an edit has two texts
    return {line for line in found if len(line) >= SHORTEST and not NOBODYS.match(line) and not NO_CODE.match(line)}


def _lines(name: str, text: str) -> Iterator[str]:
    if name.endswith(".ipynb"):
        text = "\n".join("".join(cell["source"]) for cell in json.loads(text)["cells"])
    for line in text.split("\n"):
        stripped = line.strip()
        if stripped:
            yield stripped


def _runs(lines: list[str], secret: set[str], length: int) -> Iterator[str]:
    run = 0
    for number, line in enumerate(lines):
        run = run + 1 if line in secret else 0
        if run == length:
            yield lines[number - length + 1]
