"""The process that runs one notebook: its isolation is set up here, and its supervisor stays outside.

    warm parent ── fork ──▶ supervisor ── new namespaces, fork ──▶ the notebook (process 1 of its own namespace)

The kernel tells the supervisor what was refused. The supervisor ends the notebook when the grader says so or goes away,
and tells the grader how it ended. The notebook has two pipes and nothing else.
"""

import contextlib
import gc
import json
import os
import random
import resource
import select
import shutil
import signal
import socket
import sys
import tempfile
import time
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from autograder.question.outcome import torch
from autograder.sandbox.inside import asserts, calls, closing, frames, kernel, landlock, seccomp
from autograder.sandbox.inside.notebook import Notebook
from autograder.sandbox.inside.watch import TookTooLong, Watch, limit

_TICK = 0.2
_READING = (30.0, 20.0)
"""Seconds by the clock, and of processor time, for finding the parts of the cells that are needed."""


@dataclass(frozen=True, kw_only=True)
class Walls:
    """The isolation that this machine offers, as the grader's side has determined."""

    namespaces: bool
    landlock: bool
    seccomp: bool
    read: tuple[str, ...]  # files and folders that a notebook may read
    hidden: tuple[str, ...]  # what lies in them and may not
    warm: str  # where the warm parent may write: not for a notebook
    scratch: str  # where its working folder is made; with namespaces, a file system of its own is put there


class Supervisor:
    """Starts one notebook and stays with it."""

    def __init__(self, walls: Walls, shell: Notebook, job: dict[str, Any], plans: Any, pipes: tuple[int, ...]) -> None:
        self.walls, self.shell, self.job, self.plans = walls, shell, job, plans
        self.orders, self.replies, self.leash = pipes
        self.folder = walls.scratch
        self.incidents: dict[str, int] = {}
        self.unplaced: list[str] = []

    def run(self) -> NoReturn:
        """Never returns."""
        try:
            os.setsid()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            kernel.die_with_parent()
            _keep_only(self.orders, self.replies, self.leash)
            self._separate()
            ours, theirs = socket.socketpair()
            child = os.fork()
            if child == 0:
                self._notebook(theirs)
            os.close(self.orders)
            os.close(self.replies)
            theirs.close()
            self._watch(child, ours)
        except BaseException as error:
            _tell(self.leash, {"fault": f"{type(error).__name__}: {error}"})
        finally:
            if not self.walls.namespaces and self.folder != self.walls.scratch:
                shutil.rmtree(self.folder, ignore_errors=True)
            os._exit(0)

    # --- outside ------------------------------------------------------------------------------------------

    def _separate(self) -> None:
        """Separate namespaces, or at least a separate folder."""
        if not self.walls.namespaces:
            self.folder = tempfile.mkdtemp(prefix="notebook-", dir=self.walls.scratch)
            return
        user, group = os.getuid(), os.getgid()
        kernel.unshare(kernel.NEW_USER | kernel.NEW_PID | kernel.NEW_MOUNT | kernel.NEW_IPC | kernel.NEW_UTS)
        kernel.die_with_parent()  # a new user namespace forgets it
        kernel.show_memory()
        kernel.map_user(user, group)
        kernel.hide_memory()
        kernel.mount("", "/", "", kernel.RECURSIVE_PRIVATE)
        plain = kernel.NO_SUID | kernel.NO_DEVICES | kernel.NO_EXEC
        size = f"size={self.job['disk']},nr_inodes={self.job['files']},mode=0755"
        kernel.mount("tmpfs", self.folder, "tmpfs", plain, size)
        for path in (*self.plans.hidden, self.walls.warm):
            if os.path.isdir(path):
                kernel.mount("tmpfs", path, "tmpfs", plain | kernel.READ_ONLY, "size=4k,nr_inodes=2")
            elif os.path.exists(path):
                kernel.mount("/dev/null", path, "", kernel.BIND)
        kernel.mount("tmpfs", "/proc", "tmpfs", plain | kernel.READ_ONLY, "size=4k,nr_inodes=2")

    def _watch(self, child: int, ours: socket.socket) -> None:
        listener = next(iter(socket.recv_fds(ours, 1, 1)[1]), None)
        ended = os.pidfd_open(child)
        poll = select.poll()
        poll.register(ended, select.POLLIN)
        poll.register(self.leash, select.POLLIN)
        if listener is not None:
            poll.register(listener, select.POLLIN)
        killed, next_look = False, time.monotonic() + _TICK
        while True:
            ready = dict(poll.poll(None if self.walls.namespaces else _TICK * 1000))
            if ended in ready:
                break
            if self.leash in ready and not killed:
                killed = True
                os.kill(child, signal.SIGKILL)
            if listener in ready:
                if not ready[listener] & select.POLLIN:
                    poll.unregister(listener)
                    continue
                meaning = seccomp.hear(listener)
                if meaning:
                    self.incidents[meaning] = self.incidents.get(meaning, 0) + 1
            if not self.walls.namespaces and time.monotonic() > next_look:
                next_look = time.monotonic() + _TICK
                if _size(self.folder) > self.job["disk"]:
                    self.incidents["filled its disk"] = 1
                    killed = True
                    os.kill(child, signal.SIGKILL)
        _, status, used = os.wait4(child, 0)
        _tell(
            self.leash,
            {
                "signal": os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0,
                "exit": os.WEXITSTATUS(status) if os.WIFEXITED(status) else 0,
                "cpu": used.ru_utime + used.ru_stime,
                "own": time.process_time(),
                "resident": used.ru_maxrss * 1024,
                "killed": killed,
                "incidents": self.incidents,
            },
        )

    # --- inside -------------------------------------------------------------------------------------------

    def _notebook(self, channel: socket.socket) -> NoReturn:
        try:
            os.close(self.leash)
            kernel.die_with_parent()
            orders, body = frames.read(self.orders)
            work = self._settle(orders["files"], body)
            self._lock(channel, work)
            watch = Watch((*self.walls.read, work))
            watch.noted += self.unplaced[:10]
            serve(self.shell, self.orders, self.replies, orders, self.plans, watch)
        except frames.Gone:
            pass
        except BaseException as error:
            with contextlib.suppress(OSError):  # before the student's code: the grader is told why
                frames.write(self.replies, {"fault": f"{type(error).__name__}: {error}"})
        finally:
            os._exit(0)

    def _settle(self, files: list[Any], body: bytes) -> str:
        work = os.path.join(self.folder, "work")
        os.mkdir(work, 0o700)
        os.chdir(work)
        os.environ.update(HOME=self.folder, TMPDIR=self.folder, PWD=work)
        tempfile.tempdir = self.folder
        for path, start, end in files:
            try:
                os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
                with open(path, "wb") as file:
                    file.write(body[start:end])
            except (OSError, ValueError):
                self.unplaced.append(f"a file of the submission could not be put into its folder: {path[:150]}")
        return self.folder

    def _lock(self, channel: socket.socket, work: str) -> None:
        """The last step before the student's code; nothing can be undone after this."""
        limits = self.job
        for kind, value in (
            (resource.RLIMIT_AS, limits["size"] + limits["memory"]),
            (resource.RLIMIT_CPU, limits["cpu"]),
            (resource.RLIMIT_NPROC, limits["processes"]),
            (resource.RLIMIT_NOFILE, limits["open_files"]),
            (resource.RLIMIT_FSIZE, limits["file_size"]),
            (resource.RLIMIT_CORE, 0),
            (resource.RLIMIT_MEMLOCK, 0),
            (resource.RLIMIT_MSGQUEUE, 0),
        ):
            hard = resource.getrlimit(kind)[1]
            value = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.setrlimit(kind, (value, value))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # a full file is an OSError, not the end
        sys.setrecursionlimit(3000)
        kernel.gain_nothing()
        kernel.drop_capabilities()
        kernel.hide_memory()
        if self.walls.landlock:
            read = [
                p for root in self.walls.read for p in landlock.all_but(root, (*self.plans.hidden, *self.walls.hidden))
            ]
            devices = [f"/dev/{name}" for name in ("null", "zero", "random", "urandom")]
            landlock.restrict([*read, *devices], [work, "/dev/null"])
        listener = None
        if self.walls.seccomp:
            listener = seccomp.install(os.getpid(), shared=not self.walls.namespaces)
            if not self.walls.namespaces:  # `shutil.copy` does without what is refused here
                shutil.copymode = shutil.copystat = lambda *arguments, **named: None
        socket.send_fds(channel, [b"x"], [] if listener is None else [listener])
        if listener is not None:
            os.close(listener)
        channel.close()


def serve(shell: Notebook, orders: int, replies: int, first: dict[str, Any], plans: Any, watch: Watch) -> None:
    """Do what the grader asks, in order, until it closes the connection."""
    if plans.alone:
        closing.leave_alone(plans.alone)
    else:
        closing.leave_out(plans.closed)
    seed(first["seed"])
    shell.outputs.limit = first["output"]
    shell.draw(first["pictures"])
    shell.remember()
    gc.enable()
    watch.begin()
    lean: dict[str, str] = {}
    if first["needed"]:
        with contextlib.suppress(Exception, TookTooLong), limit(_READING):  # a text that takes minutes is run as it is
            lean = shell.needed(*first["needed"])
    run_test = asserts.ready(shell) if first["tests"] else shell.run
    frames.write(replies, {"ticket": first["ticket"], "ready": True, "noted": watch.noted})
    while True:
        order, body = frames.read(orders)
        closing.touched.clear()
        watch.noted.clear()
        if order["do"] == "run":
            source = lean.get(order["source"], order["source"])
            run = run_test if order["test"] else shell.run
            header: dict[str, Any] = {"outputs": run(source, order["seconds"])}
            given = b""
        else:
            shell.outputs.begin()
            shell.put_back()
            outcomes, given = calls.interview(shell.user_ns, order, body, order["largest"])
            header = {"outcomes": outcomes}
        header.update(ticket=order["ticket"], closed=list(closing.touched), noted=list(watch.noted))
        frames.write(replies, header, given)


def seed(number: int) -> None:
    random.seed(number)
    np.random.seed(number % 2**32)
    if torch is not None:
        torch.default_generator.manual_seed(number)  # `torch.manual_seed` also writes a traceback for every accelerator


def _keep_only(*descriptors: int) -> None:
    """Close every other descriptor except the three standard ones, which lead nowhere."""
    null = os.open("/dev/null", os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(null, standard)
    kept = sorted({0, 1, 2, *descriptors})
    for low, high in zip(kept, [*kept[1:], 1 << 20], strict=True):
        os.closerange(low + 1, high)


def _tell(leash: int, status: dict[str, Any]) -> None:
    with contextlib.suppress(OSError):
        os.write(leash, json.dumps(status).encode())


def _size(folder: str) -> int:
    total = 0
    for where, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(os.path.join(where, name)).st_blocks * 512
            except OSError:
                continue
    return total
