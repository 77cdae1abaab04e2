"""What a closed module takes with it: every module of `nlmcore` that is built on it contains its answers as well."""

import functools
import importlib.util
import re
from collections.abc import Iterable
from pathlib import Path

_IMPORT = re.compile(r"^ *(?:from|import) +nlmcore(?:\.(\w+)| +import +(\([^)]*\)|.*))", re.M)


def with_what_is_built_on(closed: Iterable[str]) -> tuple[str, ...]:
    """The names, followed by every module that imports a closed one, directly or through others."""
    names = tuple(dict.fromkeys(closed))
    every = rooms()
    gone = {name.removeprefix("nlmcore.") for name in names if name.startswith("nlmcore.")}
    while more := {room for room, needs in every.items() if needs & gone} - gone:
        gone |= more
    return (*names, *(f"nlmcore.{room}" for room in sorted(gone) if f"nlmcore.{room}" not in names))


@functools.cache
def rooms() -> dict[str, set[str]]:
    """The modules of `nlmcore`, and the modules that each imports."""
    spec = importlib.util.find_spec("nlmcore")
    root = Path(str(spec and spec.origin)).parent
    found: dict[str, set[str]] = {}
    for path in root.rglob("*.py"):
        room = path.relative_to(root).parts[0].removesuffix(".py")
        if room != "__init__":
            needs = found.setdefault(room, set())
            for one, several in _IMPORT.findall(path.read_text(encoding="utf-8")):
                needs.update([one] if one else re.findall(r"\w+", several))
    return found
