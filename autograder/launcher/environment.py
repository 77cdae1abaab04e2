"""Where the course's packages are installed, and what is wrong there, found in a fraction of a second.

By default that is a virtual environment `.venv` in the checkout (NLM_VENV names another folder). Inside an activated
conda environment, or with `--here`, the interpreter that runs this is used, and only missing packages are installed.

uv and pip trust that the files they once wrote still exist; a stopped installation, a full disk or a sync program break
that trust. Every wheel lists its files with their sizes (RECORD), so all of them are compared here: tens of thousands
of files, about 0.2 s. Whether versions fit together is for uv or pip to say, and asked only when some have changed.
"""

import csv
import json
import os
import re
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote, urlparse
from urllib.request import url2pathname

from autograder.launcher.requirements import Wanted, canonical
from autograder.seal import read

MISSING = " is missing"
NONE = "there is no environment yet"
UNFINISHED = "the last set-up did not finish"


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
        return self.here or same(self.prefix, sys.prefix)


class Installed(NamedTuple):
    version: str
    folder: Path


def same(one: Path, other: str | Path) -> bool:
    return one.exists() and Path(other).exists() and one.samefile(other)


def conda_prefix() -> Path | None:
    """The activated conda environment that this interpreter belongs to; never `base`."""
    named = os.environ.get("CONDA_PREFIX")
    if not named or os.environ.get("CONDA_DEFAULT_ENV", "base") == "base" or not same(Path(named), sys.prefix):
        return None
    return Path(named)


def locate(root: Path, here: bool = False) -> Environment:
    if here or conda_prefix() is not None:
        return Environment(root, Path(sys.prefix), Path(sys.executable), Path(sysconfig.get_path("purelib")), here=True)
    prefix = root / Path(os.environ.get("NLM_VENV") or ".venv").expanduser()
    found = [prefix / "Lib" / "site-packages"] if os.name == "nt" else list(prefix.glob("lib/python3.*/site-packages"))
    own = prefix / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"
    return Environment(root, prefix, program(prefix, "python"), found[0] if len(found) == 1 else own)


def program(prefix: Path, name: str) -> Path:
    return prefix / (f"Scripts/{name}.exe" if os.name == "nt" else f"bin/{name}")


def interpreter_fault(environment: Environment, wanted: Wanted) -> str:
    """Why the environment's interpreter cannot be used; empty if it can."""
    if not environment.prefix.exists():
        return NONE
    ask = (
        "import json, sys, sysconfig as s; print(json.dumps([sys.version_info[:2], sys.prefix, s.get_path('purelib')]))"
    )
    try:
        line = [str(environment.python), "-I", "-c", ask]
        done = subprocess.run(line, capture_output=True, text=True, timeout=60, check=True)
        version, prefix, site = json.loads(done.stdout)
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        return f"its Python does not start ({type(error).__name__})"
    text = ".".join(map(str, version))
    if version < [int(part) for part in re.findall(r"\d+", wanted.python)]:
        return f"its Python is {text}, the course needs {wanted.python}"
    if not same(environment.prefix, prefix) or not same(environment.site, site):
        return f"its packages are for another Python than {text} in {prefix}"
    return ""


def installed(site: Path) -> dict[str, Installed]:
    """The distributions in a site-packages folder, by canonical name."""
    found = {}
    for folder in sorted(site.glob("*.dist-info")):
        name, _, version = folder.name.removesuffix(".dist-info").partition("-")
        found[canonical(name)] = Installed(version, folder)
    return found


def lost(distribution: Installed) -> str:
    """What is wrong with one distribution; empty if every file is there with the size it had when installed."""
    site, _ = os.path.split(distribution.folder)
    try:
        with (distribution.folder / "RECORD").open(encoding="utf-8", newline="") as record:
            rows = [row for row in csv.reader(record) if len(row) >= 3]
        if not rows or not (distribution.folder / "METADATA").stat().st_size:
            return "its description is empty"
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        return f"its description cannot be read ({type(error).__name__})"
    for name, _, size in rows:
        if not size or name.endswith((".pyc", ".exe")) or name.startswith(("../../../bin/", "../../Scripts/")):
            continue  # caches and start-up scripts differ from machine to machine
        try:
            actual = os.stat(os.path.join(site, name)).st_size
        except OSError:
            return name + MISSING
        if actual != int(size):
            return f"{name} has {actual} bytes instead of {size}"
    return ""


def course_location(have: dict[str, Installed], name: str) -> Path | None:
    """Where the course itself is installed from (an editable installation); None if it is not installed that way."""
    document = read(have[name].folder / "direct_url.json") if name in have else {}
    editable = document.get("dir_info", {}).get("editable")
    return Path(url2pathname(unquote(urlparse(document["url"]).path))) if editable else None


class Findings(NamedTuple):
    reasons: Sequence[str]  # what is wrong, one line each, in words
    changed: Sequence[str] = ()  # of which packages another version is there, also in words

    @property
    def healthy(self) -> bool:
        return not (self.reasons or self.changed)


def examine(
    environment: Environment, wanted: Wanted, extras: Iterable[str] | None = None, torch: str | None = None
) -> Findings:
    """Compare what is installed with what the checkout wants, and with what the last completed set-up has noted in its
    stamp. extras: of pyproject.toml; by default those of that set-up. torch: the build that the user asks for."""
    if fault := interpreter_fault(environment, wanted):
        return Findings([fault])
    have, stamp, reasons = installed(environment.site), read_stamp(environment), []
    before = stamp.get("distributions", {})
    if not stamp:
        reasons.append(UNFINISHED)
    elif stamp["fingerprint"] != wanted.fingerprint(stamp["extras"]):
        reasons.append("the course asks for other packages than it did")
    elif new := sorted({*(extras or ())} - {*stamp["extras"]}):
        reasons.append(f"packages for {', '.join(new)} are not installed yet")
    reasons += [f"{name}{MISSING}" for name in sorted(before) if name not in have]
    if stamp and torch not in (None, stamp["torch"]):
        reasons.append(f"torch: the {torch} build is wanted, the {stamp['torch']} build is installed")
    if not environment.here:  # conda writes other files than the wheel lists
        reasons += [f"{name}: {wrong}" for name, item in have.items() if (wrong := lost(item))]
    location = course_location(have, wanted.name)
    if location is None or not same(location, environment.root):
        reasons.append(f"the checkout was moved here from {location}" if location else "the course is not installed")
    changed = [
        f"{name} is {have[name].version} now, and was {was}"
        for name, was in before.items()
        if name in have and have[name].version != was
    ]
    return Findings(reasons, changed)


def read_stamp(environment: Environment) -> dict[str, Any]:
    """What the last completed set-up has noted; empty if it was not completed."""
    stamp = read(environment.stamp)
    return stamp if {"fingerprint", "extras", "torch", "distributions"} <= stamp.keys() else {}
