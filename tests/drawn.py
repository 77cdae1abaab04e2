"""What a run draws: the order of its tests, and those of the dear ones that it takes.

All of it follows from a seed, and the seed of a continuous integration from the tree that it tests. So the same tree is
tested in the same way, whatever commits led to it.
"""

import hashlib
import subprocess
from pathlib import Path

ONE_IN = 12
"""Of the tests marked `everything`, `.ci/run` takes one in twelve."""


def number(seed: str, name: str) -> int:
    """A number from 0 to 2**64 − 1 for each name."""
    return int.from_bytes(hashlib.sha256(f"{seed} {name}".encode()).digest()[:8], "big")


def chosen(seed: str, name: str, one_in: int = ONE_IN) -> bool:
    return number(seed, name) % one_in == 0


def of_the_tree(root: Path) -> str:
    """The digest that git has for everything in the commit; "none" where there is no git."""
    try:
        line = ["git", "rev-parse", "HEAD^{tree}"]
        done = subprocess.run(line, cwd=root, capture_output=True, text=True, check=False)
    except OSError:
        return "none"
    return done.stdout.strip()[:12] if done.returncode == 0 else "none"
