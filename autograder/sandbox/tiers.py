"""Which isolation this machine offers.

bubblewrap   own user, process, mount, ipc and network namespaces, a file system with only what is needed,
             Landlock where there is one, seccomp, limits
landlock     where user namespaces are not available (many containers, some AppArmor defaults): Landlock,
             seccomp, limits
none         only limits; only on request, and every result says so
"""

import functools
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from typing import Literal

from autograder.sandbox import places
from autograder.sandbox.inside import landlock, seccomp

Isolation = Literal["auto", "bubblewrap", "landlock", "none"]
_TRIAL_SECONDS = 30


class IsolationMissing(RuntimeError):  # noqa: N818  (said to instructors)
    """This machine cannot isolate a notebook, and nobody has allowed it to run without isolation."""


@dataclass(frozen=True)
class Tier:
    """A form of isolation that was tried and works."""

    name: Literal["bubblewrap", "landlock", "none"]
    missing: tuple[str, ...] = ()  # why it is no better one

    @property
    def words(self) -> str:
        return {
            "bubblewrap": "in a sandbox of its own (bubblewrap, seccomp, limits)",
            "landlock": "behind Landlock, seccomp and limits, without namespaces of its own",
            "none": "without isolation: the submission could read and write whatever the grader can",
        }[self.name]


def choose(isolation: Isolation = "auto") -> Tier:
    """The best tier, or the requested one. Raises IsolationMissing, which says how to fix it."""
    if isolation not in ("auto", "bubblewrap", "landlock", "none"):
        raise ValueError(f"isolation must be auto, bubblewrap, landlock or none, got {isolation!r}")
    if isolation == "none":
        return Tier("none", ("isolation was switched off by request",))
    missing: list[str] = []
    if isolation in ("auto", "bubblewrap"):
        fault = bubblewrap_fault()
        if fault is None:
            return Tier("bubblewrap")
        missing.append(f"bubblewrap: {fault}")
    if isolation in ("auto", "landlock"):
        fault = landlock_fault()
        if fault is None:
            return Tier("landlock", tuple(missing))
        missing.append(f"Landlock: {fault}")
    raise IsolationMissing(
        "This machine cannot keep a student's code from the grader's files.\n  "
        + "\n  ".join(missing)
        + "\nTo grade all the same, at your own risk, say --isolation none."
    )


@functools.cache
def bubblewrap_fault() -> str | None:
    """Why the first tier is not available, and the remedy; None if it was tried and works."""
    if sys.platform != "linux":
        return "it is Linux only; on Windows use WSL2, on macOS a Linux virtual machine or container"
    if shutil.which("bwrap") is None:
        return "the program bwrap is not installed (apt-get install bubblewrap, dnf install bubblewrap)"
    if not seccomp.supported:
        return "the filter on system calls knows x86_64 and aarch64 only"
    with places.Staging() as staging:
        command = [*places.bubblewrap(staging), *places.python(), "-c", _trial(staging)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=_TRIAL_SECONDS)
        except (OSError, subprocess.TimeoutExpired) as error:
            return f"it could not be started ({error})"
    if done.returncode == 0 and done.stdout.strip() == "stands":
        return None
    said = (done.stderr.strip().splitlines() or ["it ended without a word"])[-1]
    return f"it cannot make its namespaces here ({said}). {_remedy()}"


@functools.cache
def landlock_fault() -> str | None:
    if sys.platform != "linux":
        return "it is Linux only"
    if not seccomp.supported:
        return "the filter on system calls knows x86_64 and aarch64 only"
    if landlock.version() == 0:
        return "this kernel has none, or it is switched off (Linux 5.13 or newer, and landlock in the lsm= line)"
    return None


def _trial(staging: places.Staging) -> str:
    """A program that takes the same steps as every notebook's supervisor, and reports success."""
    user = places.BOX_USER if os.getuid() == 0 else None
    return (
        f"import sys; sys.path.insert(0, {staging.library!r})\n"
        "from autograder.sandbox.inside import kernel\n"
        f"kernel.try_namespaces({user!r}, {places.SCRATCH!r})"
    )


def _remedy() -> str:
    def setting(path: str) -> str:
        try:
            with open(f"/proc/sys/{path}") as file:
                return file.read().strip()
        except OSError:
            return ""

    if setting("kernel/apparmor_restrict_unprivileged_userns") == "1":
        return "AppArmor forbids user namespaces: sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0"
    if setting("kernel/unprivileged_userns_clone") == "0":
        return "User namespaces are off: sudo sysctl kernel.unprivileged_userns_clone=1"
    if setting("user/max_user_namespaces") == "0":
        return "User namespaces are off: sudo sysctl user.max_user_namespaces=10000"
    return f"In a container, start it with {container_options()}"


def container_options() -> str:
    """With which bubblewrap stands in a container; root, who makes no user namespace, needs rights as well."""
    rights = "--cap-add SYS_ADMIN --cap-add NET_ADMIN " if os.getuid() == 0 else ""
    return rights + " ".join(f"--security-opt {name}=unconfined" for name in ("seccomp", "apparmor", "systempaths"))
