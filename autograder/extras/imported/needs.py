"""What an assignment requires besides its notebook: files, packages, the network; and which of them are missing."""

import ast
import importlib.util
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from autograder.extras.imported.cases import examples_of
from autograder.extras.imported.origin import Notes

READS = re.compile(r"(?:^|\.)(?:open|read_\w+|load|loadtxt|genfromtxt|fromfile|imread|Image|read_table|safe_open)$")
LEFT = {"__pycache__"}
OTTERS_OWN = re.compile(r"^tests/|\.zip$|^otter_config\.json$|^requirements\.txt$|^environment\.yml$")
MOST = 64 << 20  # of files of a notebook in the box
NAMES = {"sklearn": "scikit-learn", "cv2": "opencv-python", "PIL": "pillow", "bs4": "beautifulsoup4", "yaml": "pyyaml"}


def trees(cells: Iterable[Any]) -> list[ast.Module]:
    found = []
    for cell in cells:
        if cell.cell_type == "code":
            lines = ["pass" if re.match(r"\s*[%!]", line) else line for line in cell.source.split("\n")]
            for text in ("\n".join(lines), examples_of(cell.source)):
                try:
                    found.append(ast.parse(text))
                except SyntaxError:
                    continue
    return found


def imported(found: Iterable[ast.Module]) -> set[str]:
    names: set[str] = set()
    for tree in found:
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                names |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names.add(node.module.partition(".")[0])
    return names


def packages(found: list[ast.Module], files: Iterable[str], listed: Iterable[str], notes: Notes) -> None:
    """Note packages that are imported or required but not installed here."""
    own = {Path(name).parts[0].removesuffix(".py") for name in files}
    for name in sorted(imported(found) - own - set(sys.stdlib_module_names) - {"otter", "__future__"}):
        if name == "autograder" or importlib.util.find_spec(name) is not None:
            continue
        notes.add(
            f"it imports {name}, which is not installed here",
            f".venv/bin/python -m pip install {NAMES.get(name, name)}, and tell students",
        )
    lines = [re.split(r"[\s<>=!~;\[]", line.strip())[0] for line in listed]
    missing = [line for line in lines if line and not line.startswith(("#", "-")) and not _there(line)]
    if missing:
        notes.add(
            f"its requirements list {', '.join(sorted(set(missing)))}, not installed here",
            "install those that it really uses into the environment that grades",
        )


def _there(distribution: str) -> bool:
    from importlib.metadata import PackageNotFoundError, version

    if distribution.lower().startswith("otter"):
        return True
    try:
        version(distribution)
    except PackageNotFoundError:
        return False
    return True


def wanted(found: Iterable[ast.Module], notes: Notes) -> set[str]:
    """The files that the code opens by a literal name; addresses and other languages are noted."""
    names: set[str] = set()
    for tree in found:
        for node in ast.walk(tree):
            if not (isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant)):
                continue
            given, function = node.args[0].value, ast.unparse(node.func)
            if not isinstance(given, str):
                continue
            if re.match(r"(https?|ftp)://", given):
                notes.add(
                    f"it fetches {given}",
                    "there is no network while a notebook is graded: put the file beside the master and open that",
                )
            elif READS.search(function) and re.search(r"\.\w{1,8}$", given) and not _writes(node):
                names.add(given)
    return names


def _writes(node: ast.Call) -> bool:
    modes = [*node.args[1:2], *(word.value for word in node.keywords if word.arg == "mode")]
    return any(isinstance(mode, ast.Constant) and re.search("[wax]", str(mode.value)) for mode in modes)


def magics(cells: Iterable[Any], notes: Notes) -> None:
    for cell in cells:
        if cell.cell_type == "code" and (found := re.search(r"^\s*(!.*|%%(?!time|capture|html|latex)\w+.*|%pip.*)$",
                                                            cell.source, re.M)):  # fmt: skip
            notes.add(
                f"a cell runs {found[1].strip()[:60]!r}",
                "nothing outside Python runs while a notebook is graded; the line is passed over",
            )


def carried(folder: Path, names: set[str], everything: bool, notes: Notes, top: Path) -> dict[str, bytes]:
    """The files to import: all of the folder, or those that are named and opened; missing ones are noted."""
    found: dict[str, bytes] = {}
    chosen = sorted(folder.rglob("*")) if everything else []
    for name in sorted(names):
        path = Path(folder, name)
        inside = path.resolve()
        if not inside.is_relative_to(top.resolve()):
            notes.add(f"the file {name} lies outside {top}", "put a copy into the assignment's folder and open that")
        elif path.is_dir():
            chosen += sorted(path.rglob("*"))
        elif path.is_file():
            chosen.append(path)
        else:
            notes.add(
                f"the file {name} is opened and is not there",
                "put it into solutions/NAME and name it in files.txt there",
            )
    total = 0
    for path in chosen:
        if not path.is_file() or path.is_symlink() or path.suffix == ".ipynb":
            continue
        try:
            inside_name = path.resolve().relative_to(folder.resolve())
        except ValueError:
            continue
        if any(part in LEFT or part.startswith(".") for part in inside_name.parts):
            continue
        total += path.stat().st_size
        if total <= MOST:
            found[inside_name.as_posix()] = path.read_bytes()
    if total > MOST:
        notes.add(
            f"its files hold {total >> 20} MB together, and {MOST >> 20} MB fit into the sandbox",
            "only the first were taken: put a smaller sample beside the master",
        )
    return found
