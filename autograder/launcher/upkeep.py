"""`doctor` and `clean`. Standard library only."""

import os
import platform
import shutil
import subprocess

from autograder.files import open_to_others
from autograder.launcher import environment, lab, requirements, say
from autograder.launcher.environment import Environment
from autograder.texts import exercises, notebooks

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
    if fault := environment.interpreter_fault(place, wanted):
        say.line(f"  ! {fault}. make setup (python3 -m autograder setup) makes one; then say doctor again:")
        say.line("    whether the sandbox holds on this machine can be tried only with what it installs")
        return 1
    reasons, have = environment.examine(place, wanted).reasons, environment.installed(place.site)
    for text in [*wanted.requirements(environment.read_stamp(place).get("extras", ())), *wanted.no_deps]:
        name = requirements.named(text)
        say.line(f"  {name:20} {have[name].version if name in have else 'not installed':16} {text[len(name) :]}")
    stale = [pair.notebook.name for pair in notebooks.pairs(place.root) if not notebooks.untouched(pair)]
    say.line(f"notebooks    {'to be looked at by make build: ' + ', '.join(stale) if stale else 'all built'}")
    say.line(f"exercises    {'all built' if exercises.current(place.root) else 'to be built: make build'}")
    boxed = (place.root / "autograder" / "sandbox").is_dir()
    if boxed and reasons:
        say.line("sandbox      not tried: put the environment right first (below), and say doctor again")
    elif boxed:
        line = [str(place.python), "-m", "autograder.sandbox.probe"]
        subprocess.run(line, cwd=place.root, env=lab.variables(place, os.environ), check=False)
    for reason in reasons:
        say.line(f"  ! {reason}")
    if reasons:
        say.line("To put it right: make setup (python3 -m autograder setup)")
    return 1 if reasons else 0


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
