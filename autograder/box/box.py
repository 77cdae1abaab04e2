"""The grader's side: a warm parent behind walls, and one notebook after the other in a child of it.

Per job the grader makes two pipes and a leash, hands one end of each to the warm parent, and speaks with the
child itself: it puts one question at a time, each with a ticket that nobody can know before, and takes as an answer
only what carries that ticket, has the agreed form and keeps the limits. To end a notebook it lets go of the leash.
"""

import contextlib
import json
import os
import secrets
import select
import signal
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Sequence
from types import TracebackType
from typing import Any, TypeVar

from autograder.box import places, replies, tiers
from autograder.box.inside import landlock
from autograder.box.inside.seccomp import MEMORY_OF_OTHERS, NETWORK, PRIVILEGED, PROCESS, PROGRAM, SANDBOX, SIGNAL
from autograder.box.job import BoxResult, Cell, CellResult, Ending, Interview, Job, Limits
from autograder.exercise.outcome import Outcome

_START_SECONDS = 120.0
_BEGIN_SECONDS = 60.0
_UNHEEDED_SECONDS = 5.0
_DYING_SECONDS = 2.0
_GRACE_SECONDS = 1.5
_MOST_NOTES = 100
_KNOWN_INCIDENTS = {NETWORK, PROCESS, PROGRAM, MEMORY_OF_OTHERS, SIGNAL, SANDBOX, PRIVILEGED, "filled its disk"}

_WARM_FOR = {"optim": "torch._dynamo"}
"""Slow imports that only some notebooks cause: a word in the source -> what the warm parent should have loaded."""

Self = TypeVar("Self", bound="Box")


class BoxFault(RuntimeError):  # noqa: N818  (said to instructors)
    """The box itself is broken. No student can cause it, and no mark comes of it."""


class _Stopped(Exception):  # noqa: N818
    """The notebook is over before its last cell."""

    def __init__(self, how: Ending, words: str) -> None:
        super().__init__(words)
        self.how: Ending = how


class Box:
    """Runs notebooks, one at a time; safe to share between threads, which then wait for each other.

    Raises IsolationMissing if `isolation` cannot be had; BoxFault from `run` if the warm parent cannot be
    started or a job makes no sense (a closed name that is none).
    """

    def __init__(self, limits: Limits | None = None, isolation: tiers.Isolation = "auto") -> None:
        self.limits = limits or Limits()
        self.tier = tiers.choose(isolation)
        self.starts = 0
        """How often the warm parent was started."""
        self._lock = threading.Lock()
        self._parent: _Parent | None = None

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """End the warm parent and all that it started. A later `run` starts another."""
        with self._lock:
            self._end()

    def abandon(self) -> None:
        """`close` without waiting for a notebook that is running, for a process that is about to end."""
        self._end()

    def run(self, job: Job, limits: Limits | None = None) -> BoxResult:
        """Run one notebook, by `limits` or the box's own."""
        with self._lock:
            session = _Session(self._ready(), job, limits or self.limits, self.tier)
            try:
                return session.run()
            except _ParentLost:  # before any of the student's code ran
                self._end()
                session = _Session(self._ready(), job, limits or self.limits, self.tier)
                try:
                    return session.run()
                except _ParentLost as error:
                    self._end()
                    raise BoxFault(f"the box does not start a notebook: {error}") from error
            finally:
                if session.unheeded:
                    self._end()

    def start(self) -> None:
        """Start the warm parent now, not with the first job."""
        with self._lock:
            self._ready()

    def _ready(self) -> "_Parent":
        if self._parent is None or not self._parent.alive:
            self._end()
            self._parent = _Parent(self.tier)
            self.starts += 1
        return self._parent

    def _end(self) -> None:
        if self._parent is not None:
            self._parent.end()
            self._parent = None


class _ParentLost(Exception):  # noqa: N818
    """The warm parent went away."""


class _Parent:
    """The warm parent's process."""

    def __init__(self, tier: tiers.Tier) -> None:
        self._staging = places.Staging()
        self._scratch: str | None = None
        self._warm = places.WARM
        self._first: int | None = None
        self._log = tempfile.TemporaryFile()  # noqa: SIM115  (closed by `end`)
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            command = self._command(tier, theirs.fileno())
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

    def _command(self, tier: tiers.Tier, descriptor: int) -> list[str]:
        walled = tier.name == "bubblewrap"
        around = places.bubblewrap(self._staging) if walled else []
        if not walled:
            places.link_ours(self._staging)
            self._scratch = tempfile.mkdtemp(prefix="box-scratch-")
            self._warm = tempfile.mkdtemp(prefix="warm-", dir=self._scratch)
        walls = {
            "namespaces": walled,
            "landlock": tier.name != "none" and landlock.version() > 0,
            "seccomp": tier.name != "none",
            "hidden": places.hidden(),
            "read": places.readable(self._staging),
            "warm": self._warm,
            "scratch": self._scratch or places.SCRATCH,
        }
        become = places.BOX_USER if walled and os.getuid() == 0 else None
        return [*around, *places.start(self._staging, json.dumps({"walls": walls, "become": become}), descriptor)]

    @property
    def alive(self) -> bool:
        return self.process.poll() is None

    def spawn(self, job: dict[str, Any], ends: Sequence[int]) -> None:
        try:
            socket.send_fds(self.control, [json.dumps(job).encode()], list(ends))
        except OSError as error:
            raise _ParentLost(str(error)) from error

    def _first_process(self) -> int | None:
        """Process 1 of the sandbox: with it everything inside ends."""
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
        import shutil

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


class _Session:
    """One notebook, from its first cell to its end."""

    def __init__(self, parent: _Parent, job: Job, limits: Limits, tier: tiers.Tier) -> None:
        self.parent, self.job, self.limits, self.tier = parent, job, limits, tier
        self.unheeded = False
        """Whether the box had to be asked twice to end a notebook."""
        self.begun = False
        self.noted: dict[str, None] = {}
        self._room = limits.shown
        self._ticket = ""

    def run(self) -> BoxResult:
        began = time.monotonic()
        self._deadline = began + _BEGIN_SECONDS
        orders_out, self._orders = os.pipe()
        self._replies, replies_in = os.pipe()
        self._leash, leash_in = socket.socketpair()
        try:
            try:
                self.parent.spawn(self._for_parent(), (orders_out, replies_in, leash_in.fileno()))
            finally:
                os.close(orders_out)
                os.close(replies_in)
                leash_in.close()
            os.set_blocking(self._orders, False)
            os.set_blocking(self._replies, False)
            return self._talk(began)
        finally:
            os.close(self._orders)
            os.close(self._replies)
            self._leash.close()

    def _talk(self, began: float) -> BoxResult:
        done: list[CellResult] = []
        at, ended, words = None, "finished", "It ran to the end."
        try:
            self._begin()
            self._deadline = time.monotonic() + self.limits.wall
            for cell in self.job.cells:
                at = cell.id
                self._cell(cell, done)
            at = None
        except _Stopped as stop:
            ended, words = stop.how, str(stop)
        except replies.Late:
            if not self.begun:
                raise _ParentLost("it did not answer in time") from None
            ended, words = "wall", "It took longer than it may, and did not stop when it was interrupted."
        except replies.TooLarge as error:
            ended, words = "result-too-large", f"It sent {error}, more than any answer needs."
        except replies.BadReply as error:
            ended, words = "protocol", f"What it sent is no answer to what was asked: {error}."
        except replies.Closed:
            ended = "left"
        status = self._status(_DYING_SECONDS if ended == "left" else 0)
        if ended == "left":
            ended, words = self._how(status)
        if "refused" in status:
            raise BoxFault(f"{self.job.name}: {status['refused']}")
        if "fault" in status or (not self.begun and ended == "left"):
            raise _ParentLost(status.get("fault", words))
        if at is not None:
            words = f"Cell {at!r}: {words[0].lower()}{words[1:]}"
        return BoxResult(
            cells=tuple(done),
            ended=ended,  # type: ignore[arg-type]
            words=words,
            at=at,
            incidents=(*_incidents(status), *self.noted),
            seconds=time.monotonic() - began,
            isolation=self.tier.name,
        )

    # --- questions and answers ----------------------------------------------------------------------------

    def _begin(self) -> None:
        body = replies.Body()
        files = [[path, *body.add(content)] for path, content in self.job.files.items()]
        header = {"files": files, "seed": self.job.seed, "output": self.limits.output}
        header["pictures"] = self.job.pictures
        reply, _ = self._ask(header, bytes(body), 0, self._deadline)
        _expect(reply, {"ready", "noted"})
        self._note(reply)

    def _cell(self, cell: Cell, done: list[CellResult]) -> None:
        if not cell.interviews:
            header = {"do": "run", "source": cell.source, "seconds": self.limits.cell_wall}
            reply, _ = self._ask(header, b"", 0, time.monotonic() + self.limits.cell_wall + _GRACE_SECONDS)
            _expect(reply, {"outputs", "closed", "noted"})
            shown = self._kept(replies.outputs(reply["outputs"], self.limits.output))
            done.append(CellResult(id=cell.id, outputs=shown, closed=self._touched(reply)))
            return
        outcomes: list[tuple[Outcome, ...]] = []
        closed: dict[str, None] = {}
        try:
            for interview in cell.interviews:
                answered, touched = self._interview(interview)
                outcomes.append(answered)
                closed.update(dict.fromkeys(touched))
        finally:
            done.append(CellResult(id=cell.id, outcomes=tuple(outcomes), closed=tuple(closed)))

    def _interview(self, interview: Interview) -> tuple[tuple[Outcome, ...], tuple[str, ...]]:
        body = replies.Body()
        header = {
            "do": "ask",
            "function": interview.function,
            "arguments": list(interview.arguments),
            "returns": list(interview.returns),
            "closed": list(interview.closed),
            "calls": [[replies.coded(value, body) for value in call] for call in interview.calls],
            "seed": self.job.seed,
            "call_wall": self.limits.call_wall,
            "largest": self.limits.result,
        }
        patience = self.limits.call_wall * len(interview.calls) + _GRACE_SECONDS
        reply, given = self._ask(header, bytes(body), self.limits.result, time.monotonic() + patience)
        _expect(reply, {"outcomes", "closed", "noted"})
        return replies.outcomes(reply["outcomes"], given, interview), self._touched(reply)

    def _ask(self, header: dict[str, Any], body: bytes, most: int, deadline: float) -> tuple[dict[str, Any], bytes]:
        """Put a question; the answer to this very question."""
        ticket = secrets.token_hex(16)
        deadline = min(deadline, self._deadline)
        replies.send(self._orders, {**header, "ticket": ticket}, body, deadline)
        reply, given = replies.receive(self._replies, 8 * self.limits.output + (1 << 20), most, deadline)
        if not self.begun and "fault" in reply:  # none of the student's code has run yet
            raise BoxFault(f"{self.job.name}: {reply['fault']}")
        self.begun = True
        if reply.pop("ticket", None) != ticket:
            raise replies.BadReply("an answer to another question")
        return reply, given

    def _touched(self, reply: dict[str, Any]) -> tuple[str, ...]:
        self._note(reply)
        known = {*self.job.closed, *self._closed_somewhere()}
        return tuple(name for name in replies.texts(reply["closed"], 200) if name in known)

    def _note(self, reply: dict[str, Any]) -> None:
        for words in replies.notes(reply["noted"], 50):
            if len(self.noted) < _MOST_NOTES:
                self.noted[words] = None

    def _kept(self, shown: tuple[dict[str, Any], ...]) -> tuple[dict[str, Any], ...]:
        """What a cell showed, or in short where the cells before it and this one have shown too much."""
        size = len(json.dumps(shown)) if self._room > 0 and shown else 0
        self._room -= size
        return shown if self._room >= 0 or not shown else replies.in_short(shown, self.limits.shown)

    # --- the beginning and the end ------------------------------------------------------------------------

    def _closed_somewhere(self) -> list[str]:
        return sorted({name for cell in self.job.cells for i in cell.interviews for name in i.closed})

    def _for_parent(self) -> dict[str, Any]:
        limits = self.limits
        return {
            "closed": list(self.job.closed),
            "closed_somewhere": self._closed_somewhere(),
            "memory": limits.memory,
            "cpu": limits.cpu,
            "processes": limits.processes,
            "open_files": limits.open_files,
            "file_size": limits.file_size,
            "disk": limits.disk,
            "files": limits.files,
            "warm": [m for word, m in _WARM_FOR.items() if any(word in cell.source for cell in self.job.cells)],
        }

    def _status(self, dying: float) -> dict[str, Any]:
        """Let go of the leash, or first wait for what is dying anyway; how it ended, from its supervisor."""
        poll = select.poll()
        poll.register(self._leash, select.POLLIN)
        if not dying or not poll.poll(dying * 1000):
            with contextlib.suppress(OSError):
                self._leash.shutdown(socket.SHUT_WR)
        pieces = []
        deadline = time.monotonic() + _UNHEEDED_SECONDS
        while (left := deadline - time.monotonic()) > 0 and poll.poll(left * 1000):
            try:
                piece = self._leash.recv(1 << 16)
            except OSError:
                piece = b""
            if not piece:
                break
            pieces.append(piece)
        else:
            self.unheeded = True
        try:
            return dict(json.loads(b"".join(pieces)))
        except ValueError:
            self.unheeded = True
            return {}

    def _how(self, status: dict[str, Any]) -> tuple[Ending, str]:
        """Why the notebook's process went away by itself."""
        number = status.get("signal", 0)
        if status.get("cpu", 0) >= self.limits.cpu - 0.5:
            return "cpu", f"It used more than its {self.limits.cpu} seconds of processor time."
        if "filled its disk" in status.get("incidents", {}):
            return "killed", "It wrote more files than it may."
        if status.get("killed"):
            return "left", "It closed its connection to the grader."
        if number == signal.SIGKILL:
            return "memory", "The machine ran out of memory and ended it."
        if number:
            return "killed", f"It crashed in compiled code ({signal.Signals(number).name}): often out of memory."
        return "left", "Its process ended itself, as os._exit does."


def _expect(reply: dict[str, Any], parts: set[str]) -> None:
    if set(reply) != parts:
        raise replies.BadReply("a reply with other parts than agreed")


def _incidents(status: dict[str, Any]) -> list[str]:
    found = status.get("incidents", {})
    return [
        f"{words} ({found[words]} times)" if found[words] > 1 else words for words in found if words in _KNOWN_INCIDENTS
    ]
