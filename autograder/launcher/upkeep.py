"""`lint`, `format`, `doctor` and `clean`. Standard library only."""

import os
import platform
import shutil
import subprocess
from pathlib import Path

from autograder.files import open_to_others
from autograder.launcher import environment, exercises, health, lab, notebooks, requirements, say, torch_build
from autograder.launcher.environment import Environment

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
    for requirement in wanted.requirements(extras):
        version = have[requirement.name].version if requirement.name in have else "not installed"
        build = f" ({torch_build.kind(place.site)})" if requirement.name == "torch" else ""
        say.line(f"  {requirement.name:20} {version:16} {requirement.range}{build}")
    stale = [pair.notebook.name for pair in notebooks.pairs(place.root) if not notebooks.untouched(pair)]
    say.line(f"notebooks    {'to be looked at by make build: ' + ', '.join(stale) if stale else 'all built'}")
    say.line(f"exercises    {'all built' if exercises.current(place.root) else 'to be built: make build'}")
    boxed = (place.root / "autograder" / "sandbox").is_dir()
    if boxed and not findings.healthy:
        say.line("sandbox      not tried: put the environment right first (below), and say doctor again")
    elif boxed:
        line = [str(place.python), "-m", "autograder.sandbox.probe"]
        subprocess.run(line, cwd=place.root, env=lab.variables(place, os.environ), check=False)
    for reason in findings.reasons():
        say.line(f"  ! {reason}")
    if not findings.healthy:
        say.line("To put it right: make setup (python3 -m autograder setup)")
    return 0 if findings.healthy else 1


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
