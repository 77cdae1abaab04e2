"""One thing that was found before grading."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Kind = Literal["repaired", "ignored", "blocked", "note"]


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What was found, and what was done about it."""

    kind: Kind
    """repaired: put right, graded as if it had not been. ignored: left behind. note: only said.
    blocked: this submission, or one notebook of it, cannot be graded as it is; a human must look."""
    what: str
    """Two or three words joined by hyphens, for tables: "deleted-cell"."""
    words: str
    """A sentence for the student and the instructor."""


def shown(name: object, most: int = 80) -> str:
    """A name that a student chose, on one line and without control characters, for the words of a finding."""
    escaped = str(name).encode("unicode_escape", "surrogatepass").decode("ascii")
    text = str(name) if str(name).isprintable() else escaped
    return text if len(text) <= most else text[: most - 1] + "…"


def listed(names: Iterable[str], most: int = 4) -> str:
    """ "a, b, c and 3 more"."""
    given = list(names)
    rest = f" and {len(given) - most} more" if len(given) > most else ""
    return ", ".join(given[:most]) + rest
