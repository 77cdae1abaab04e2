"""Where the course's packages are installed, and whether that environment can be used.

By default a virtual environment `.venv` in the checkout (NLM_VENV names another folder). Inside an activated conda
environment, or with `--here`, the interpreter that runs this is used, and only missing packages are installed.
"""

import json
import os
import re
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

from autograder.launcher import health, requirements

VERSION = f"python{sys.version_info[0]}.{sys.version_info[1]}"


@dataclass(frozen=True)
class Environment:
    root: Path
    prefix: Path
    python: Path
    site: Path
    here: bool = False  # made by the user (conda, `--here`), to be touched as little as possible

    @property
    def stamp(self) -> Path:
        return self.prefix / "nlmcourse.json"

    @property
    def log(self) -> Path:
        return self.prefix / "setup.log"

    @property
    def active(self) -> bool:
        return self.here or (Path(sys.prefix).exists() and self.prefix.exists() and self.prefix.samefile(sys.prefix))


def conda_prefix() -> Path | None:
    """The activated conda environment that this interpreter belongs to; never `base`."""
    named = os.environ.get("CONDA_PREFIX")
    if not named or os.environ.get("CONDA_DEFAULT_ENV", "base") == "base":
        return None
    prefix = Path(named)
    return prefix if prefix.exists() and prefix.samefile(sys.prefix) else None


def site_of(prefix: Path) -> Path:
    """The site-packages folder of a virtual environment, without running it."""
    if os.name == "nt":
        return prefix / "Lib" / "site-packages"
    found = sorted(prefix.glob("lib/python3.*/site-packages"))
    return found[0] if len(found) == 1 else prefix / "lib" / VERSION / "site-packages"


def program(prefix: Path, name: str) -> Path:
    return prefix / (f"Scripts/{name}.exe" if os.name == "nt" else f"bin/{name}")


def locate(root: Path, here: bool = False) -> Environment:
    if here or conda_prefix() is not None:
        site = Path(sysconfig.get_path("purelib"))
        return Environment(root, Path(sys.prefix), Path(sys.executable), site, here=True)
    prefix = root / Path(os.environ.get("NLM_VENV") or ".venv").expanduser()
    return Environment(root, prefix, program(prefix, "python"), site_of(prefix))


def interpreter_fault(environment: Environment, wanted: requirements.Wanted) -> str:
    """Why the environment's interpreter cannot be used; empty if it can."""
    if not environment.prefix.exists():
        return "there is no environment yet"
    if not environment.python.exists():
        return "its Python is gone" if environment.python.is_symlink() else "it has no Python"
    if not environment.here and not (environment.prefix / "pyvenv.cfg").exists():
        return "pyvenv.cfg is missing"
    try:
        version, site, prefix = json.loads(_answer(environment, _WHERE))
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        return f"its Python does not start ({type(error).__name__})"
    text = ".".join(map(str, version))
    if version < [int(part) for part in re.findall(r"\d+", wanted.python)]:
        return f"its Python is {text}, the course needs {wanted.python}"
    if not Path(prefix).exists() or not Path(prefix).samefile(environment.prefix):
        return f"its Python belongs to {prefix}"
    if not Path(site).exists() or not environment.site.exists() or not Path(site).samefile(environment.site):
        return f"its packages are for another Python than {text}"
    return ""


def owner_fault(environment: Environment, name: str) -> str:
    """Why this checkout must not set up the environment; empty if it may.

    It belongs to a different checkout if the course `name` was installed in it from one that still exists. An
    environment inside this checkout was copied with it and belongs to it.
    """
    other = health.course_location(health.installed(environment.site), name)
    if other is None or not (other / "pyproject.toml").exists() or other.samefile(environment.root):
        return ""
    if environment.prefix.resolve().is_relative_to(environment.root.resolve()):
        return ""
    return (
        f"The environment {environment.prefix} belongs to another checkout of the course, {other}.\n"
        "To set it up for this one would take it away from that one, so nothing was done. What you can do:\n"
        "   - without --here and NLM_VENV, and with no conda environment active, this checkout gets its own .venv\n"
        f"   - to hand the environment over: {environment.python} -m pip uninstall {name}, then the same command again"
    )


def base_python() -> str:
    """The interpreter for making virtual environments: not one that is itself in a virtual environment."""
    return getattr(sys, "_base_executable", None) or sys.executable


def version_of(environment: Environment) -> str:
    return _answer(environment, "import platform; print(platform.python_version())").strip()


_WHERE = (
    "import json, sys, sysconfig; print(json.dumps([sys.version_info[:3], sysconfig.get_path('purelib'), sys.prefix]))"
)


def _answer(environment: Environment, program: str) -> str:
    line = [str(environment.python), "-I", "-c", program]
    return subprocess.run(line, capture_output=True, text=True, timeout=60, check=True).stdout
