"""What the course needs, as `pyproject.toml` says it: which versions fit is for uv or pip to decide. Standard library
only."""

import hashlib
import json
import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path


def canonical(name: str) -> str:
    """A distribution's name as indexes compare it: `Sphinx_Book.Theme` is `sphinx-book-theme`."""
    return re.sub(r"[-_.]+", "-", name).lower()


def named(line: str) -> str:
    """The name in a line such as `torch>=2.10,<3`."""
    return canonical(re.match(r"[\w.-]*", line.strip())[0])  # type: ignore[index]


@dataclass(frozen=True)
class Wanted:
    """Everything that an environment of the course should contain; each requirement as one line."""

    name: str  # the course's own distribution
    python: str  # `>=3.11`
    base: list[str]
    extras: dict[str, list[str]]
    no_deps: list[str]  # packages that carry weights and texts, installed without what they claim to need
    torch: str  # the version of torch that was tested
    build: list[str]  # what builds the course's own distribution

    def requirements(self, extras: Iterable[str] = ()) -> list[str]:
        return [*self.base, *(line for extra in sorted({*extras}) for line in self.extras.get(extra, ()))]

    def fingerprint(self, extras: Iterable[str] = ()) -> str:
        """A digest that changes exactly when what is asked for changes; another constraints.txt asks for nothing."""
        lines = sorted([*self.requirements(extras), *self.no_deps])
        return hashlib.sha256(json.dumps([self.name, self.torch, lines]).encode()).hexdigest()[:16]


def read(root: Path) -> Wanted:
    document = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    project, course = document["project"], document["tool"]["course"]
    return Wanted(
        name=canonical(project["name"]),
        python=project["requires-python"],
        base=project["dependencies"],
        extras=project["optional-dependencies"],
        no_deps=course["no-deps"],
        torch=course["torch"],
        build=document["build-system"]["requires"],
    )
