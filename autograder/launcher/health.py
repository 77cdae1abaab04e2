"""What is wrong with an environment, found in a fraction of a second just by looking at its files.

pip trusts that the files it once wrote still exist; a stopped installation, a full disk or a sync program break
that trust. Every wheel lists its files with their sizes (RECORD), so all of them are compared here: tens of
thousands of files, about 0.2 s. Standard library only; nothing of the environment is imported.
"""

import csv
import json
import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlparse
from urllib.request import url2pathname

from autograder.files import write_whole
from autograder.launcher.requirements import Wanted, canonical

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


def _files(distribution: Installed) -> list[list[str]]:
    with (distribution.folder / "RECORD").open(encoding="utf-8", newline="") as record:
        return [row for row in csv.reader(record) if len(row) >= 3]


def description_fault(distribution: Installed) -> str:
    """What is wrong with a distribution's metadata; if anything is, pip can neither use nor remove it."""
    try:
        if not (distribution.folder / "METADATA").stat().st_size:
            return "its description is empty"
        return "" if _files(distribution) else "its list of files is empty"
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        return f"its description cannot be read ({type(error).__name__})"


def fault(distribution: Installed) -> str:
    """What is wrong with one distribution; empty if every file is there with the size it had when installed."""
    if wrong := description_fault(distribution):
        return wrong
    site = distribution.folder.parent
    for name, _, size in _files(distribution):
        if not size or name.endswith((".pyc", ".exe")) or name.startswith(("../../../bin/", "../../Scripts/")):
            continue  # caches and start-up scripts differ from machine to machine
        try:
            actual = os.stat(os.path.join(site, name)).st_size
        except OSError:
            return f"{name} is missing"
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
    """All faults; `healthy` if there are none."""

    pip: str = ""
    leftovers: tuple[Path, ...] = ()  # folders that a stopped pip has renamed: `~orch`, `~umpy.dist-info`
    broken: dict[str, str] = field(default_factory=dict)  # distribution -> what is wrong with its files
    missing: tuple[str, ...] = ()  # requirements that nothing installed meets
    torch: str = ""
    course: str = ""
    unfinished: str = ""  # why the last set-up does not count as complete

    @property
    def healthy(self) -> bool:
        return not self.reasons()

    def reasons(self) -> list[str]:
        """One line each, in words."""
        lines = [self.unfinished, self.pip, self.torch, self.course]
        lines += [f"left behind by a stopped installation: {path.name}" for path in self.leftovers]
        lines += [f"{name}: {reason}" for name, reason in sorted(self.broken.items())]
        lines += [f"missing: {requirement}" for requirement in self.missing]
        return [text for text in lines if text]


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

    `torch` is the build that the user asks for (None accepts any); `files=False` leaves out the
    comparison of every file (conda rewrites files when it installs them).
    """
    extras = tuple(sorted(set(extras)))
    have = installed(site)
    requirements = wanted.requirements(extras)
    missing = {r.name: str(r) for r in requirements if r.name not in have or not r.met_by(have[r.name].version)}
    unfinished = ""
    if stamp is None:
        unfinished = UNFINISHED
    elif stamp.fingerprint != wanted.fingerprint(stamp.extras):
        unfinished = "the course asks for other packages than it did"
    elif new := sorted(set(extras) - set(stamp.extras)):
        unfinished = f"packages for {', '.join(new)} are not installed yet"
    for name, version in sorted(stamp.distributions.items()) if stamp is not None else ():
        if name not in have and name not in {requirement.name for requirement in requirements}:
            missing[name] = f"{name}=={version}"
    broken = {}
    if files:
        broken = {name: reason for name, item in have.items() if name != wanted.name and (reason := fault(item))}
    pip_runs = not broken.pop("pip", "") and "pip" in have and (site / "pip" / "__main__.py").exists()
    torch_fault = ""
    if missing.pop("torch", ""):
        torch_fault = "torch is missing or of another version"
    elif torch is not None and stamp is not None and stamp.torch != torch:
        torch_fault = f"torch: the {torch} build is wanted, the {stamp.torch} build is installed"
    elif "torch" in broken:
        torch_fault = f"torch: {broken.pop('torch')}"
    return Findings(
        pip="" if pip_runs else "pip is missing or damaged",
        leftovers=tuple(sorted(site.glob("~*"))),
        broken=broken,
        missing=tuple(missing.values()),
        torch=torch_fault,
        course=_course_fault(have, wanted.name, root),
        unfinished=unfinished,
    )


def _course_fault(have: dict[str, Installed], name: str, root: Path) -> str:
    location = course_location(have, name)
    if location is None:
        return "the course itself is not installed"
    if not location.exists() or not location.samefile(root):
        return f"the checkout was moved here from {location}"
    reason = fault(have[name])
    return f"the course itself: {reason}" if reason else ""
