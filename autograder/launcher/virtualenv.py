"""A virtual environment: creates it; repairs it if its Python, its pip or its location has changed; one set-up at a
time."""

import contextlib
import hashlib
import importlib.util
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from autograder.launcher import requirements, say
from autograder.launcher.environment import Environment, base_python, interpreter_fault, locate
from autograder.launcher.steps import Steps


def create(environment: Environment, wanted: requirements.Wanted, steps: Steps) -> None:
    """Create the virtual environment, or repair it.

    If the packages of a broken one are for the available Python, they are kept. Nothing that is not a virtual
    environment is ever removed.
    """
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
    for python in prefix.glob("bin/python*"):  # links to a Python that is gone would be in the way
        python.unlink()
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    if (prefix / "pyvenv.cfg").exists() and (prefix / "lib" / version / "site-packages").exists():
        steps.call(base_python(), "-m", "venv", "--without-pip", str(prefix), may_fail=True)
        if not interpreter_fault(locate(environment.root), wanted):
            return
    if prefix.exists():
        log = environment.log.read_text(encoding="utf-8", errors="replace") if environment.log.exists() else ""
        shutil.rmtree(prefix)
        prefix.mkdir(parents=True)
        environment.log.write_text(log, encoding="utf-8")
    steps.call(base_python(), "-m", "venv", str(prefix))


def restore_pip(environment: Environment, steps: Steps) -> None:
    """ensurepip says "already satisfied" if pip's metadata exist, so remove the remains of pip first."""
    shutil.rmtree(environment.site / "pip", ignore_errors=True)
    for folder in environment.site.glob("pip-*.dist-info"):
        shutil.rmtree(folder, ignore_errors=True)
    steps.call(str(environment.python), "-m", "ensurepip", "--upgrade", "--default-pip")


def move_here(environment: Environment, steps: Steps) -> None:
    steps.call(base_python(), "-m", "venv", "--without-pip", str(environment.prefix), may_fail=True)
    restore_scripts(environment)


def restore_scripts(environment: Environment) -> None:
    """A moved environment's start-up scripts name the Python of the old location in their first line; replace it by
    this one."""
    for script in environment.python.parent.iterdir():
        if not script.is_file() or script.is_symlink() or script.suffix == ".exe":
            continue
        with contextlib.suppress(OSError):
            content = script.read_bytes()
            first, newline, rest = content.partition(b"\n")
            ours = os.fsencode(environment.python.parent) in first
            if first.startswith(b"#!") and b"/bin/python" in first and not ours:
                script.write_bytes(b"#!" + os.fsencode(environment.python) + newline + rest)


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
