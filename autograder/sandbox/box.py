"""The grader's side: a warm parent inside the sandbox, which runs each notebook in a child process.

Per job the grader makes two pipes and a leash, passes one end of each to the warm parent, and talks to the child
directly (`autograder.sandbox.session`).
"""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from typing import Any, Self

from autograder import temporary
from autograder.question import alone
from autograder.sandbox import places, tiers
from autograder.sandbox.inside import landlock
from autograder.sandbox.job import BoxResult, Job, Limits
from autograder.sandbox.session import BoxFault, ParentLost, Session

_START_SECONDS = 120.0


class Box:
    """Runs notebooks, one at a time; safe to share between threads, which then wait for each other.

    packages: distributions, if these and what they require are to be the only ones that a notebook finds.

    Raises IsolationMissing if `isolation` cannot be had; BoxFault from `run` if the warm parent cannot be
    started or a job makes no sense (a closed name that does not exist).
    """

    def __init__(
        self, limits: Limits | None = None, isolation: tiers.Isolation = "auto", packages: Sequence[str] = ()
    ) -> None:
        self.limits, self.packages = limits or Limits(), packages
        self.tier = tiers.choose(isolation)
        self.starts = 0  # how often the warm parent was started
        self._lock = threading.Lock()
        self._parents: dict[bool, _Parent] = {}  # by whether it is without PyTorch

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """End the warm parent and everything that it started. A later `run` starts a new one."""
        with self._lock:
            self._end()

    def abandon(self) -> None:
        """`close` without waiting for a running notebook; for a process that is about to end."""
        self._end()

    def run(self, job: Job, limits: Limits | None = None) -> BoxResult:
        """Run one notebook, with `limits` or the box's own."""
        with self._lock:
            for last in (False, True):
                session = Session(self._ready(job.numpy).spawn, job, limits or self.limits, self.tier)
                try:
                    return session.run()
                except ParentLost as error:  # before any of the student's code ran
                    self._end()
                    if last:
                        raise BoxFault(f"the box does not start a notebook: {error}") from error
                finally:
                    if session.unheeded:
                        self._end()
            raise AssertionError("the second attempt has returned or raised")

    def start(self) -> None:
        """Start the warm parent now instead of with the first job."""
        with self._lock:
            self._ready(numpy=False)

    def _ready(self, numpy: bool) -> "_Parent":
        parent = self._parents.get(numpy)
        if parent is None or not parent.alive:
            if parent is not None:
                parent.end()
            parent = self._parents[numpy] = _Parent(self.tier, numpy, self.packages)
            self.starts += 1
        return parent

    def _end(self) -> None:
        while self._parents:
            self._parents.popitem()[1].end()


class _Parent:
    def __init__(self, tier: tiers.Tier, numpy: bool, packages: Sequence[str]) -> None:
        self._numpy = numpy
        self._staging = places.Staging()
        self._scratch: str | None = None
        self._warm = places.WARM
        self._first: int | None = None
        self._log = tempfile.TemporaryFile()  # noqa: SIM115  (closed by `end`)
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            command = self._command(tier, packages, theirs.fileno())
            self.process = subprocess.Popen(
                command,
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=self._log,
                stderr=self._log,
                env=places.environment(self._warm),
                start_new_session=True,
                cwd="/",
            )
        except OSError as error:
            self.control.close()
            self._clean()
            raise BoxFault(f"the box cannot be started: {error}") from error
        finally:
            theirs.close()
        self._hear_ready()
        self._first = self._first_process() if tier.name == "bubblewrap" else None

    def _command(self, tier: tiers.Tier, packages: Sequence[str], descriptor: int) -> list[str]:
        walled = tier.name == "bubblewrap"
        around = places.bubblewrap(self._staging, self._numpy, packages) if walled else []
        if not walled:
            if not self._numpy:
                places.link_ours(self._staging)
            self._scratch = str(temporary.folder("scratch"))
            self._warm = tempfile.mkdtemp(prefix="warm-", dir=self._scratch)
        bare = self._numpy and not walled  # behind bubblewrap, other packages are not mounted at all
        walls = {
            "namespaces": walled,
            "landlock": tier.name != "none" and landlock.version() > 0,
            "seccomp": tier.name != "none",
            "hidden": places.hidden(bare, packages),
            "read": places.readable(self._staging, bare),
            "warm": self._warm,
            "scratch": self._scratch or places.SCRATCH,
        }
        become = places.BOX_USER if walled and os.getuid() == 0 else None
        absent = sorted(alone.absent()) if self._numpy else []
        settings = json.dumps({"walls": walls, "become": become, "alone": absent})
        return [*around, *places.start(self._staging, settings, descriptor)]

    @property
    def alive(self) -> bool:
        return self.process.poll() is None

    def spawn(self, job: dict[str, Any], ends: Sequence[int]) -> None:
        try:
            socket.send_fds(self.control, [json.dumps(job).encode()], list(ends))
        except OSError as error:
            raise ParentLost(str(error)) from error

    def _first_process(self) -> int | None:
        """Process 1 of the sandbox; when it ends, everything inside ends."""
        try:
            with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children") as file:
                return os.pidfd_open(int(file.read().split()[0]))
        except (OSError, ValueError, IndexError):
            return None

    def end(self) -> None:
        self.control.close()
        if self._first is not None:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._first, signal.SIGKILL)
            os.close(self._first)
            self._first = None
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.kill()
        self.process.wait()
        self._clean()

    def _clean(self) -> None:
        self._staging.remove()
        self._log.close()
        if self._scratch is not None:
            shutil.rmtree(self._scratch, ignore_errors=True)

    def _hear_ready(self) -> None:
        self.control.settimeout(_START_SECONDS)
        try:
            said = self.control.recv(1 << 16)
        except OSError as error:
            said = json.dumps({"fault": str(error)}).encode()
        self.control.settimeout(None)
        reply = json.loads(said) if said else {}
        if reply.get("ready") is not True:
            self._log.seek(0)
            log = self._log.read()[-2000:].decode("utf-8", "replace")
            self.end()
            raise BoxFault(f"the box did not start: {reply.get('fault', '')}\n{log}".strip())
