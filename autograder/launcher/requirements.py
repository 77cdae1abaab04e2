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
    base: tuple[str, ...]
    extras: dict[str, tuple[str, ...]]
    no_deps: tuple[str, ...]  # packages that carry weights and texts, installed without what they claim to need
    torch: str  # the version of torch that was tested
    build: tuple[str, ...] = ()  # what builds the course's own distribution

    def requirements(self, extras: Iterable[str] = ()) -> tuple[str, ...]:
        chosen = list(self.base)
        for extra in sorted(set(extras)):
            if extra not in self.extras:
                raise ValueError(f"extras: there is no {extra!r}; pyproject.toml has {sorted(self.extras)}")
            chosen += self.extras[extra]
        return (*chosen, *self.no_deps)

    def fingerprint(self, extras: Iterable[str] = ()) -> str:
        """A digest that changes exactly when what is asked for changes; another constraints.txt asks for nothing."""
        lines = sorted(self.requirements(extras))
        return hashlib.sha256(json.dumps([self.name, self.torch, lines]).encode()).hexdigest()[:16]


def read(root: Path) -> Wanted:
    document = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    project, course = document["project"], document["tool"]["course"]
    return Wanted(
        name=canonical(project["name"]),
        python=project["requires-python"],
        base=tuple(project["dependencies"]),
        extras={name: tuple(lines) for name, lines in project.get("optional-dependencies", {}).items()},
        no_deps=tuple(course["no-deps"]),
        torch=course["torch"],
        build=tuple(document["build-system"]["requires"]),
    )
