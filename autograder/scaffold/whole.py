"""What authors run on the whole course: lint, a share of the tests with every Python, exact versions. Standard library
only."""

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from autograder.files import write_whole
from autograder.launcher import install, requirements, say
from autograder.launcher.environment import Environment
from autograder.launcher.say import Steps

LIMIT = 250 * 1024  # bytes: nothing larger goes into git, except checkpoints (`*.safetensors`)


def too_large(root: Path) -> list[str]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True, check=False).stdout
    names = [os.fsdecode(name) for name in listed.split(b"\0") if name]
    sizes = {name: (root / name).stat().st_size for name in names if (root / name).is_file()}
    large = {name: size for name, size in sizes.items() if size > LIMIT and not name.endswith(".safetensors")}
    return [f"{name}: {size // 1024} KB" for name, size in large.items()]


def lint(place: Environment, rest: list[str]) -> int:
    python = str(place.python)
    failed = 0
    for command in (["ruff", "check"], ["ruff", "format", "--check"], ["mypy"], ["tests.plain_english"]):
        code = subprocess.run([python, "-m", *command], cwd=place.root, check=False).returncode
        failed += code != 0
    for row in too_large(place.root):
        say.line(f"over {LIMIT // 1024} KB: {row}")
        failed += 1
    return 1 if failed else 0


def tidy(place: Environment, rest: list[str]) -> int:
    python = str(place.python)
    code = subprocess.run([python, "-m", "ruff", "check", "--fix"], cwd=place.root, check=False).returncode
    return subprocess.run([python, "-m", "ruff", "format"], cwd=place.root, check=False).returncode or code


PINS = """\
# The exact versions with which the tests ran, for every system and every Python of the course; no index is named.
# `make lab` and `make test` install these where they fit, and otherwise what the ranges of pyproject.toml allow.
# Made by `make pins` (python3 -m autograder pins), which keeps the versions that still fit; with ARGS=--upgrade it
# takes the newest of each range.
"""


def pins(place: Environment, rest: list[str]) -> int:
    """Write constraints.txt anew. uv keeps the versions that it finds there and that the ranges still allow."""
    wanted, path = requirements.read(place.root), place.root / install.PINS
    made: set[str] = set()
    with tempfile.TemporaryDirectory() as folder:
        steps = Steps(Path(folder, "log"), install.variables())
        uv = install.find_uv(place.root, steps)
        if not uv:
            raise say.SetupError("uv finds exact versions, and it is not to be had here. Install uv, and repeat.")
        alone = Path(folder, "alone.in")  # what they depend on is not needed
        alone.write_text("\n".join(wanted.no_deps), encoding="utf-8")
        for source, how in ((place.root / "pyproject.toml", "--all-extras"), (alone, "--no-deps")):
            into = Path(folder, f"{source.stem}.txt")
            if path.exists():
                shutil.copy(path, into)
            plain = ("--no-annotate", "--no-header", "--no-emit-index-url", "--no-emit-find-links")
            line = (uv, "pip", "compile", "--universal", "--python-version", re.sub("[^0-9.]", "", wanted.python))
            with steps.step(f"Exact versions for {source.name}"):
                steps.must(*line, how, *plain, *rest, "-o", str(into), str(source))
            made |= set(into.read_text(encoding="utf-8").splitlines())
    write_whole(path, PINS + "\n".join(sorted(made)) + "\n")
    say.line(f"Wrote {path.name}: {say.count(len(made), 'line')}.")
    return 0


def pythons(place: Environment, rest: list[str]) -> int:
    return subprocess.run(["bash", ".ci/run", "--pythons"], cwd=place.root, check=False).returncode
