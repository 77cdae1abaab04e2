"""What is wrong with an environment, found in a fraction of a second just by looking at its files.

uv and pip trust that the files they once wrote still exist; a stopped installation, a full disk or a sync program break
that trust. Every wheel lists its files with their sizes (RECORD), so all of them are compared here: tens of
thousands of files, about 0.2 s. Whether versions fit together is for uv or pip to say, and asked only when some have
changed. Standard library only; nothing of the environment is imported.
"""

import csv
import json
import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlparse
from urllib.request import url2pathname

from autograder.files import write_whole
from autograder.launcher.requirements import Wanted, canonical

MISSING = " is missing"
UNFINISHED = "the last set-up did not finish"


@dataclass(frozen=True)
class Installed:
    name: str
    version: str
    folder: Path


def installed(site: Path) -> dict[str, Installed]:
    """The distributions in a site-packages folder, by canonical name."""
    found = {}
    for folder in sorted(site.glob("*.dist-info")):
        name, _, version = folder.name.removesuffix(".dist-info").partition("-")
        found[canonical(name)] = Installed(canonical(name), version, folder)
    return found


def fault(distribution: Installed) -> str:
    """What is wrong with one distribution; empty if every file is there with the size it had when installed."""
    try:
        with (distribution.folder / "RECORD").open(encoding="utf-8", newline="") as record:
            rows = [row for row in csv.reader(record) if len(row) >= 3]
        if not rows or not (distribution.folder / "METADATA").stat().st_size:
            return "its description is empty"
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        return f"its description cannot be read ({type(error).__name__})"
    site = distribution.folder.parent
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


def course_location(distributions: dict[str, Installed], name: str) -> Path | None:
    """Where the course itself is installed from (an editable installation); None if it is not installed that way."""
    if name not in distributions:
        return None
    try:
        document = json.loads((distributions[name].folder / "direct_url.json").read_text(encoding="utf-8"))
        if not document.get("dir_info", {}).get("editable"):
            return None
        return Path(url2pathname(unquote(urlparse(document["url"]).path)))
    except (OSError, ValueError, KeyError):
        return None


def build_of_torch(have: dict[str, Installed], platform: str = sys.platform) -> str:
    """`cpu`, `cuda`, or empty if there is none."""
    if "torch" not in have:
        return ""
    _, _, local = have["torch"].version.partition("+")
    with_cuda = local != "cpu" if local else any(name.startswith(("nvidia-", "cuda-")) for name in have)
    return "cuda" if with_cuda and platform != "darwin" else "cpu"


@dataclass(frozen=True)
class Stamp:
    """Written last: the packages that a completed set-up has installed."""

    fingerprint: str
    extras: tuple[str, ...]
    python: str
    torch: str  # `cpu`, `cuda` or `default`: the build that was asked for
    distributions: dict[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> "Stamp | None":
        try:
            document = json.loads(path.read_text(encoding="utf-8"))
            return cls(**{**document, "extras": tuple(document["extras"])})
        except (OSError, ValueError, TypeError, KeyError):
            return None

    def write(self, path: Path) -> None:
        write_whole(path, json.dumps(vars(self), indent=1, sort_keys=True) + "\n")


@dataclass(frozen=True)
class Findings:
    reasons: tuple[str, ...]  # what is wrong, one line each, in words
    changed: bool = False  # nothing is known to be wrong, but there are other versions than the last set-up left
    moved: bool = False  # the checkout, and its environment with it

    @property
    def healthy(self) -> bool:
        return not (self.reasons or self.changed)


def listed(have: dict[str, Installed], wanted: Wanted) -> dict[str, str]:
    return {name: item.version for name, item in have.items() if name not in ("pip", wanted.name)}


def examine(
    site: Path,
    stamp: Stamp | None,
    wanted: Wanted,
    root: Path,
    extras: Iterable[str] = (),
    torch: str | None = None,
    files: bool = True,
) -> Findings:
    """Compare what is installed in `site` with what the checkout at `root` wants.

    `torch` is the build that the user asks for (None accepts any); `files=False` leaves out the comparison of every
    file (conda rewrites files when it installs them).
    """
    have, reasons = installed(site), []
    if stamp is None:
        reasons.append(UNFINISHED)
    elif stamp.fingerprint != wanted.fingerprint(stamp.extras):
        reasons.append("the course asks for other packages than it did")
    elif new := sorted(set(extras) - set(stamp.extras)):
        reasons.append(f"packages for {', '.join(new)} are not installed yet")
    before = stamp.distributions if stamp else {}
    reasons += [f"missing: {name}" for name in sorted(before) if name not in have]
    if stamp and torch not in (None, stamp.torch):
        reasons.append(f"torch: the {torch} build is wanted, the {stamp.torch} build is installed")
    reasons += [f"{item.name}: {wrong}" for item in have.values() if files and (wrong := fault(item))]
    location = course_location(have, wanted.name)
    moved = location is not None and not (location.exists() and location.samefile(root))
    if location is None or moved:
        reasons.append(f"the checkout was moved here from {location}" if moved else "the course is not installed")
    return Findings(tuple(reasons), stamp is not None and before != listed(have, wanted), moved)
