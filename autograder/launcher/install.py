"""Makes, completes and repairs the environment. The work is uv's, or pip's where uv is not to be had.

Every repair is the same: distributions that have lost files are forgotten, and then everything is asked for, which
leaves alone what is there: first all packages, in the versions of constraints.txt where they fit, then what carries
weights and texts, and the course itself.
"""

import contextlib
import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from autograder.files import write_json
from autograder.launcher import requirements, say
from autograder.launcher.environment import (
    MISSING,
    UNFINISHED,
    Environment,
    Findings,
    conda_prefix,
    course_location,
    examine,
    installed,
    interpreter_fault,
    locate,
    lost,
    program,
    read_stamp,
    same,
)
from autograder.launcher.requirements import Wanted
from autograder.launcher.say import Steps

BUILDS = ("cpu", "cuda", "default")
CHECK = """\
import torch, numpy, matplotlib.pyplot, IPython, ipykernel.kernelapp, ipywidgets, jupyterlab, nbgrader, jupytext
import nlmcore, lectures, autograder"""
"""What has been imported is compiled. A sandbox, which may not write, would compile it each time anew."""
PINS = "constraints.txt"
UV = (0, 7)  # the first that knows PyTorch's builds
CPU = ("--torch-backend=cpu",)
NO_CPU_BUILD = """\
PyTorch's own store of CPU builds cannot be reached from here, so this goes on with the CUDA
build that the package index offers. It runs without a GPU as well, but takes about 3 GB.
To stop, press Ctrl-C; to use a CPU wheel that you have: README.md, Troubleshooting."""
NO_PINS = f"The versions of {PINS} do not fit this Python or this machine: the newest in the ranges."
NO_VENV = f"""\
This Python ({sys.executable}) comes without the part that makes virtual environments.
On Debian and Ubuntu it is a package of its own:

    sudo apt install python{sys.version_info[0]}.{sys.version_info[1]}-venv

Then run the same command again. Any other Python 3.11 or newer does as well:

    make lab PYTHON=/path/to/python3"""
FOR_UV = {
    "index-url": "UV_DEFAULT_INDEX",
    "extra-index-url": "UV_INDEX",
    "find-links": "UV_FIND_LINKS",
    "no-index": "UV_NO_INDEX",
    "trusted-host": "UV_INSECURE_HOST",
    "cert": "SSL_CERT_FILE",
    "proxy": "ALL_PROXY",
    "timeout": "UV_HTTP_TIMEOUT",
    "default-timeout": "UV_HTTP_TIMEOUT",
}
"""pip's settings, and what uv calls them."""


@dataclass(frozen=True)
class Installer:
    """uv, or else the environment's own pip, which understand the same options."""

    uv: str
    environment: Environment
    steps: Steps
    index: tuple[str, ...] = ()  # where uv looks for PyTorch first
    pins: tuple[str, ...] = ()

    def make(self) -> None:
        """Make the virtual environment, or mend it: packages that it has stay."""
        prefix = self.environment.prefix
        if not self.uv:
            return _venv(prefix, self.steps)
        how = ("--relocatable", "--allow-existing")  # its scripts still run when the checkout has been moved
        self.steps.must(self.uv, "venv", *how, "--python", base_python(), str(prefix))

    def call(self, verb: str, *words: str) -> int:
        python = str(self.environment.python)
        line = [self.uv, "pip", verb, "--python", python] if self.uv else [python, "-m", "pip", verb]
        return self.steps.call(*line, *words)

    def install(self, *words: str) -> None:
        """In the tested versions if they fit, else in those that the ranges allow. uv is asked first whether it could:
        it answers 1 if versions do not fit, and 2 if an index cannot be reached."""
        for index in (self.index, ()) if self.index == CPU else (self.index,):
            for pins in dict.fromkeys((self.pins, ())):
                how = (*index, *pins, *words)
                code = self.call("install", *(["--dry-run"] if self.uv else []), *how)
                if code == 0:
                    # Not if PyTorch is there already, or a folder of wheels has the CPU build.
                    if index != self.index and re.search(r"\btorch==(?!\S*\+cpu)", self.steps.output):
                        self.steps.note(NO_CPU_BUILD)
                    if pins != self.pins:
                        self.steps.note(NO_PINS)
                    if self.uv and self.call("install", *how):
                        raise self.steps.failure()
                    return
                if self.uv and code != 1:
                    break
        raise self.steps.failure()


def base_python() -> str:
    """The interpreter for making virtual environments: not one that is itself in a virtual environment."""
    return getattr(sys, "_base_executable", None) or sys.executable


def find_uv(root: Path, steps: Steps) -> str:
    """The user's own uv if it is new enough, or one in build/uv, which pip gets; empty if neither is to be had."""
    found, folder = shutil.which("uv"), root / "build" / "uv"
    if found and _new_enough(found):
        return found
    own = (program(folder, "uv"), folder / "bin" / program(folder, "uv").name)  # `--target` has `bin` on Windows, too
    if not any(path.exists() for path in own):
        with steps.step("uv, which installs the rest"):
            python, where = base_python(), ["--target", str(folder)]
            if steps.call(python, "-m", "pip", "--version"):  # as on a Debian without python3-pip
                _venv(folder, steps)
                python, where = str(program(folder, "python")), []
            steps.call(python, "-m", "pip", "install", "--retries", "1", *where, "uv")
    return next((str(path) for path in own if _new_enough(str(path))), "")


def _venv(folder: Path, steps: Steps) -> None:
    if not all(importlib.util.find_spec(name) for name in ("venv", "ensurepip")):
        raise say.SetupError(NO_VENV)
    for python in folder.glob("bin/python*"):  # links to a Python that is gone would be in the way
        python.unlink()
    steps.must(base_python(), "-m", "venv", str(folder))


def _new_enough(uv: str) -> bool:
    try:
        said = subprocess.run([uv, "--version"], capture_output=True, text=True, timeout=60, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return False
    return tuple(map(int, re.findall(r"\d+", said)[:2])) >= UV


def variables() -> dict[str, str]:
    """The environment variables for uv and pip: none that would lead to packages elsewhere; pip's settings for both."""
    drop = {"PYTHONHOME", "PYTHONPATH", "VIRTUAL_ENV", "__PYVENV_LAUNCHER__"}
    drop |= {"PIP_TARGET", "PIP_PREFIX", "PIP_USER", "PIP_REQUIRE_VIRTUALENV"}
    kept = {name: value for name, value in os.environ.items() if name not in drop}
    kept |= {"PYTHONUNBUFFERED": "1", "PIP_NO_INPUT": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    kept |= {"PIP_PROGRESS_BAR": "off"}
    kept["PIP_USE_PEP517"] = "1"  # a pip before 23.1 would install a source archive without a list of its files
    line = [base_python(), "-m", "pip", "config", "list"]
    said = subprocess.run(line, capture_output=True, text=True, env=kept, check=False).stdout
    # Variables come before files, and count where this Python has no pip that could read the files.
    named = [(name, os.environ.get(f"PIP_{name.upper().replace('-', '_')}", "")) for name in FOR_UV]
    written = re.findall(r"^[^=]*\.([\w-]+)='(.*)'$", said, re.M)
    for name, value in [(name, value) for name, value in named if value] + written:
        if name in FOR_UV:
            several = "," if name == "find-links" else " "
            kept.setdefault(FOR_UV[name], several.join(value.replace(r"\n", " ").split()))
    kept.setdefault("UV_INDEX_STRATEGY", "unsafe-best-match")  # as pip has it: the best of all indexes
    return kept


def ensure(root: Path, extras: Iterable[str] = (), torch: str | None = None, here: bool = False) -> Environment:
    """A working environment: created, completed or repaired if necessary. Takes well under a second if not."""
    wanted, environment = requirements.read(root), locate(root, here)
    if not examine(environment, wanted, extras, torch).healthy:
        with one_at_a_time(environment):
            environment = locate(root, here)  # where another set-up has put it meanwhile, perhaps with another Python
            findings = examine(environment, wanted, extras, torch)
            try:
                if not findings.healthy:  # else another set-up has just done it
                    _put_right(environment, wanted, findings, {*extras}, torch)
            except OSError as error:  # our own files: a full disk, a folder that may not be written
                raise say.SetupError(f"{error}\n{say.advice(str(error))}") from error
    return locate(root, here)


def _put_right(
    environment: Environment, wanted: Wanted, findings: Findings, extras: set[str], torch: str | None
) -> None:
    broken = interpreter_fault(environment, wanted)
    _may_be_touched(environment, wanted, broken)
    _announce(environment, [*findings.reasons, *findings.changed])
    old = read_stamp(environment)
    extras |= {*old.get("extras", ())} & wanted.extras.keys()
    build = torch or old.get("torch", "cpu")
    environment.stamp.unlink(missing_ok=True)  # from here until the end the environment counts as unfinished
    steps = Steps(environment.log, variables())
    pip = "pip" in installed(environment.site)
    uv = "" if conda_prefix() and pip else find_uv(environment.root, steps)  # conda's own advice is pip
    if broken or not (uv or pip or environment.here):
        with steps.step("Virtual environment"):
            environment = _make(Installer(uv, environment, steps), wanted)
    backend = {("cpu", True): "cpu", ("cuda", False): "auto"}.get((build, sys.platform.startswith("linux")))
    index = (f"--torch-backend={backend}",) if uv and backend else ()
    # What somebody has changed is left alone where it fits.
    exact = findings.reasons and not environment.here
    installer = Installer(uv, environment, steps, index, ("-c", str(environment.root / PINS)) if exact else ())
    if not environment.here:
        _forget(installer)
    if old.get("torch", build) != build:
        installer.call("uninstall", "-y", "torch")
    with steps.step("PyTorch, JupyterLab, nbgrader and the other packages (about 450 MB)"):
        installer.install(*wanted.requirements(extras), *wanted.build, "pip")
    with steps.step("Pretrained models and corpora (about 200 MB), and the course"):
        installer.install("--no-deps", "--no-build-isolation", *wanted.no_deps)
        # Alone: uv would ask the index for the others, too, and a checkout may be moved without a network.
        installer.install("--no-deps", "--no-build-isolation", "-e", str(environment.root))
    with steps.step("Checking that it all loads"):
        steps.must(str(environment.python), "-I", "-W", "ignore", "-c", CHECK)

    have = {name: item.version for name, item in installed(environment.site).items()}
    stamp = {"fingerprint": wanted.fingerprint(extras), "extras": sorted(extras), "torch": build, "distributions": have}
    write_json(environment.stamp, stamp)
    if left := examine(environment, wanted).reasons:
        environment.stamp.unlink()
        rows = "\n".join(f"   - {reason}" for reason in left)
        raise say.SetupError(
            f"Everything was installed, but:\n{rows}\nThe way out: delete {environment.prefix} and run this again."
        )
    say.line("The environment is ready.")


def _announce(environment: Environment, reasons: list[str]) -> None:
    if not (environment.here or (environment.prefix / "pyvenv.cfg").exists()):
        say.line(f"Setting up the course in {environment.prefix} (once: a few minutes, about 2 GB of disk)")
    elif reasons[0] == UNFINISHED:
        say.line(f"The set-up of {environment.prefix} did not finish; resuming it.")
    else:
        say.line(f"The environment {environment.prefix} needs attention:")
        say.line("\n".join(f"   - {reason}" for reason in reasons[:8]))


def _may_be_touched(environment: Environment, wanted: Wanted, broken: str) -> None:
    """Nothing that is not a virtual environment is ever removed, and no environment is taken from another checkout."""
    prefix, root = environment.prefix, environment.root
    if environment.here and broken:
        raise say.SetupError(f"This Python cannot be used: {broken}.")
    signs = (prefix / "pyvenv.cfg", environment.log)  # the log: a set-up was stopped before pyvenv.cfg was there
    ours = environment.here or prefix == root / ".venv" or any(sign.exists() for sign in signs)
    if prefix.exists() and not ours and any(prefix.iterdir()):
        raise say.SetupError(
            f"{prefix} exists and is not a virtual environment, so it is left alone.\n"
            "Name another folder with NLM_VENV."
        )
    # One inside this checkout was copied with it, and belongs to it.
    other = course_location(installed(environment.site), wanted.name)
    if broken or other is None or same(other, root) or prefix.resolve().is_relative_to(root.resolve()):
        return
    if (other / "pyproject.toml").exists():
        raise say.SetupError(
            f"The environment {prefix} belongs to another checkout of the course, {other}.\n"
            "To set it up for this one would take it away from that one, so nothing was done. What you can do:\n"
            "   - without --here and NLM_VENV, and with no conda environment active, this checkout gets its own .venv\n"
            f"   - to hand the environment over: {environment.python} -m pip uninstall {wanted.name}, then this again"
        )


def _make(installer: Installer, wanted: Wanted) -> Environment:
    """Make or mend the virtual environment; packages stay if they are for the Python that there is."""
    prefix, config = installer.environment.prefix, installer.environment.prefix / "pyvenv.cfg"
    kept = config.read_text(encoding="utf-8") if config.exists() else ""
    if kept and not re.search(rf"^version\w* = {sys.version_info[0]}\.{sys.version_info[1]}\.", kept, re.M):
        shutil.rmtree(prefix, ignore_errors=True)
    installer.make()
    if interpreter_fault(locate(installer.environment.root), wanted):  # it cannot be mended
        shutil.rmtree(prefix, ignore_errors=True)
        installer.make()
    return locate(installer.environment.root)


def _forget(installer: Installer) -> None:
    """What has lost files is installed anew if it does not seem to be there. uv's cache may share the damage: its files
    are those of the environment, under another name."""
    broken = {item: wrong for item in installed(installer.environment.site).values() if (wrong := lost(item))}
    for item in broken:
        shutil.rmtree(item.folder, ignore_errors=True)
    shared = [item.folder.name.split("-")[0] for item, wrong in broken.items() if not wrong.endswith(MISSING)]
    if installer.uv and shared:
        installer.steps.call(installer.uv, "cache", "clean", *shared)


@contextlib.contextmanager
def one_at_a_time(environment: Environment) -> Iterator[None]:
    """Two simultaneous set-ups of one environment would break it, so the second waits for the first."""
    if os.name == "nt":
        yield
        return
    import fcntl

    name = hashlib.sha256(os.fsencode(environment.prefix)).hexdigest()[:12]
    with Path(tempfile.gettempdir(), f"nlmcourse-{os.getuid()}-{name}.lock").open("w") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say.line("Another set-up of this environment is running; waiting for it to end ...")
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
