"""What is there for a question without PyTorch: Python, NumPy, and what shows a notebook. Everything else that is
installed is absent, at home while the function runs and in the sandbox for good.
"""

import functools
import importlib.metadata
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

PACKAGES = ("numpy", "ipython", "tqdm")
"""These are there, with what they need."""
OURS = ("nlmcore", "lectures")


def site_folders() -> list[str]:
    """The folders of installed packages that this Python imports from."""
    return [path for path in sys.path if Path(path).name in ("site-packages", "dist-packages") and os.path.isdir(path)]


@functools.cache
def entries(packages: tuple[str, ...] = PACKAGES) -> tuple[str, ...]:
    """The files and folders of these packages and of all that they need, each with the folder that it is in."""
    found: dict[str, None] = {}
    waiting, known = list(packages), set()
    while waiting:
        name = re.sub(r"[-_.]+", "-", waiting.pop()).lower()
        if name in known:
            continue
        known.add(name)
        try:
            package = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:  # needed elsewhere, or by another Python
            continue
        waiting += _needs(package)
        for top in {str(file).partition("/")[0] for file in package.files or ()} | {package.metadata["Name"]}:
            path = str(package.locate_file(top))
            if top not in ("", "..", "__pycache__", "bin") and os.path.exists(path):
                found[os.path.realpath(path)] = None
    return tuple(found)


def _needs(package: importlib.metadata.Distribution) -> Iterator[str]:
    """What a package requires, except for its extras."""
    for line in package.requires or ():
        if "extra ==" not in line:
            yield re.split(r"[\s\[<>=!~;(]", line, maxsplit=1)[0]


@functools.cache
def absent() -> frozenset[str]:
    """The names of the installed packages that are not there."""
    there = {_module(path) for path in entries()}
    installed = {_module(name) for folder in site_folders() for name in os.listdir(folder)}
    named = {name for name in installed if name.isidentifier() and name != "__pycache__"}
    return frozenset({*named, *OURS} - there - {"autograder"} - sys.stdlib_module_names)


def is_absent(module: str) -> bool:
    """Whether a module, by its full name, belongs to a package that is not there."""
    return module.partition(".")[0] in absent()


def _module(path: str) -> str:
    """The name by which a file or folder is imported, if it is one that is."""
    return Path(path).name.partition(".")[0] if path.endswith((".py", ".so", ".pyd")) else Path(path).name
