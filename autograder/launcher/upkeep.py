"""`lint`, `format`, `doctor` and `clean`. Standard library only."""

import os
import platform
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from autograder.files import open_to_others, write_whole
from autograder.launcher import environment, exercises, health, install, lab, notebooks, requirements, say
from autograder.launcher.environment import Environment
from autograder.launcher.steps import Steps

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
                steps.call(*line, how, *plain, *rest, "-o", str(into), str(source))
            made |= set(into.read_text(encoding="utf-8").splitlines())
    write_whole(path, PINS + "\n".join(sorted(made)) + "\n")
    say.line(f"Wrote {path.name}: {say.count(len(made), 'line')}.")
    return 0


def pythons(place: Environment, rest: list[str]) -> int:
    return subprocess.run(["bash", ".ci/run", "--pythons"], cwd=place.root, check=False).returncode


CHROMIUMS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "chrome")


def chromium() -> str | None:
    """The browser that tests and the site's pictures use: $CHROMIUM, or the first of these programs."""
    named = os.environ.get("CHROMIUM", "")
    return next((path for name in (named, *CHROMIUMS) if name and (path := shutil.which(name))), None)


def doctor(place: Environment, rest: list[str]) -> int:
    """Everything that a bug report should contain."""
    wanted = requirements.read(place.root)
    say.line(f"system       {platform.platform()}, {os.cpu_count()} cores")
    say.line(f"launched by  Python {platform.python_version()}")
    say.line(f"environment  {place.prefix}{' (yours)' if place.here else ''}")
    for name, path in {"chromium": chromium(), "make": shutil.which("make"), "git": shutil.which("git")}.items():
        say.line(f"{name:12} {path or 'not found'}")
    for words in open_to_others(place.root):
        say.line(f"  ! {words}")
    fault = environment.interpreter_fault(place, wanted)
    if fault:
        say.line(f"  ! {fault}. make setup (python3 -m autograder setup) makes one; then say doctor again:")
        say.line("    whether the sandbox holds on this machine can be tried only with what it installs")
        return 1
    stamp = health.Stamp.read(place.stamp)
    extras = stamp.extras if stamp else ()
    findings = health.examine(place.site, stamp, wanted, place.root, extras, files=not place.here)
    have = health.installed(place.site)
    for text in wanted.requirements(extras):
        name = requirements.named(text)
        version = have[name].version if name in have else "not installed"
        build = f" ({health.build_of_torch(have)})" if name == "torch" else ""
        say.line(f"  {name:20} {version:16} {text[len(name) :]}{build}")
    stale = [pair.notebook.name for pair in notebooks.pairs(place.root) if not notebooks.untouched(pair)]
    say.line(f"notebooks    {'to be looked at by make build: ' + ', '.join(stale) if stale else 'all built'}")
    say.line(f"exercises    {'all built' if exercises.current(place.root) else 'to be built: make build'}")
    boxed = (place.root / "autograder" / "sandbox").is_dir()
    if boxed and findings.reasons:
        say.line("sandbox      not tried: put the environment right first (below), and say doctor again")
    elif boxed:
        line = [str(place.python), "-m", "autograder.sandbox.probe"]
        subprocess.run(line, cwd=place.root, env=lab.variables(place, os.environ), check=False)
    for reason in findings.reasons:
        say.line(f"  ! {reason}")
    if findings.reasons:
        say.line("To put it right: make setup (python3 -m autograder setup)")
    return 1 if findings.reasons else 0


def clean(place: Environment, rest: list[str]) -> int:
    """Remove everything that can be rebuilt; notebooks only if nobody has changed them."""
    root = place.root
    for pair in notebooks.pairs(root):
        if notebooks.untouched(pair):
            pair.notebook.unlink()
        elif pair.notebook.exists():
            say.line(f"kept {pair.notebook.relative_to(root).as_posix()}: it was changed or run since it was built")
    for name in (".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis", "artefacts", "build"):
        shutil.rmtree(root / name, ignore_errors=True)
    for folder in ("nlmcore", "autograder", "tests", "lectures", "solutions", "benchmarks"):
        for cache in sorted((root / folder).rglob("__pycache__")):
            shutil.rmtree(cache, ignore_errors=True)
    if "--all" in rest and not place.here and (place.prefix / "pyvenv.cfg").exists() and not place.active:
        shutil.rmtree(place.prefix)
        say.line(f"removed {place.prefix}")
    return 0
