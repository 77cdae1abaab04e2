"""One notebook on the grader's side: sends questions, and reads answers with a parser that trusts nothing.

One question at a time, each with an unpredictable ticket. Only data with that ticket, in the agreed form and within the
limits are accepted as an answer. To end a notebook, the grader closes its leash.
"""

import contextlib
import json
import os
import secrets
import select
import signal
import socket
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from autograder.question.outcome import Outcome
from autograder.sandbox import replies, tiers
from autograder.sandbox.inside.seccomp import REPORTED
from autograder.sandbox.job import BoxResult, Cell, CellResult, Ending, Interview, Job, Limits

BEGIN_SECONDS = 60.0
UNHEEDED_SECONDS = 5.0
_DYING_SECONDS = 2.0
_GRACE_SECONDS = 1.5
_MOST_NOTES = 100
KNOWN_INCIDENTS = (*REPORTED, "filled its disk")
SENT, ENDED_BY = "sent ", "ended by "  # how incidents begin that say what the one sentence for all does not

_WARM_FOR = {"optim": "torch._dynamo", "torch.compile": "torch._dynamo"}
"""A word in the source -> the slow import that the warm parent then does."""
_OF_PROCESS = ("memory", "cpu", "processes", "open_files", "file_size", "disk", "files")  # limits of its process

Spawn = Callable[[dict[str, Any], Sequence[int]], None]
"""(a job for the warm parent, the notebook's ends of the pipes and the leash); raises ParentLost."""


class BoxFault(RuntimeError):  # noqa: N818  (said to instructors)
    """The box itself is broken. No student can cause this, and it never becomes a mark."""


class ParentLost(Exception):  # noqa: N818
    """The warm parent went away."""


class _Stopped(Exception):  # noqa: N818
    """The notebook is over before its last cell."""

    def __init__(self, how: Ending, words: str) -> None:
        super().__init__(words)
        self.how: Ending = how


class Session:
    def __init__(self, spawn: Spawn, job: Job, limits: Limits, tier: tiers.Tier) -> None:
        self.spawn, self.job, self.limits, self.tier = spawn, job, limits, tier
        self.unheeded = False  # whether the box had to be asked twice to end a notebook
        self.begun = False
        self.noted: dict[str, None] = {}
        self._room = limits.shown
        self._answered: CellResult | None = None  # an interview that `job.meanwhile` has not seen yet

    def run(self) -> BoxResult:
        began = time.monotonic()
        self._deadline = began + BEGIN_SECONDS
        orders_out, self._orders = os.pipe()
        self._replies, replies_in = os.pipe()
        self._leash, leash_in = socket.socketpair()
        try:
            try:
                self.spawn(self._for_parent(), (orders_out, replies_in, leash_in.fileno()))
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
                raise ParentLost("it did not answer in time") from None
            ended, words = "wall", "It took longer than it may, and did not stop when it was interrupted."
            if time.monotonic() > self._deadline - 0.1:
                ended, words = (
                    "total",
                    f"All cells together took longer than their {self.limits.wall:g} seconds.",
                )
        except replies.TooLarge as error:
            ended, words = "result-too-large", "It sent more than any answer needs."
            self.noted[f"{SENT}{error}"] = None
        except replies.BadReply as error:
            ended, words = "protocol", "What it sent is no answer to what was asked."
            self.noted[f"{SENT}what is no answer: {error}"] = None
        except replies.Closed:
            ended = "left"
        status = self._status(_DYING_SECONDS if ended == "left" else 0)
        if ended == "left":
            ended, words = self._how(status)
        if "refused" in status:
            raise BoxFault(f"{self.job.name}: {status['refused']}")
        if "fault" in status or (not self.begun and ended == "left"):
            raise ParentLost(status.get("fault", words))
        if at is not None and ended != "total":
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
        header = {"files": files, "seed": self.job.seed, "output": self.limits.output, "pictures": self.job.pictures}
        header["needed"] = self._needed() if self.job.lean else None
        header["tests"] = any(cell.test for cell in self.job.cells)
        reply, _ = self._ask(header, bytes(body), 0, self._deadline)
        replies.has_only(reply, {"ready", "noted"})
        self._note(reply)

    def _needed(self) -> list[list[str]]:
        """(the cells' text, the text of cells to be run whole, the functions to be called)."""
        cells = [cell for cell in self.job.cells if not cell.interviews]
        functions = {interview.function for cell in self.job.cells for interview in cell.interviews}
        return [[c.source for c in cells if not c.whole], [c.source for c in cells if c.whole], sorted(functions)]

    def _cell(self, cell: Cell, done: list[CellResult]) -> None:
        if not cell.interviews:
            seconds = (self.limits.cell_wall, self.limits.cell_cpu)
            header = {"do": "run", "source": cell.source, "test": cell.test, "seconds": seconds}
            reply, _ = self._ask(header, b"", 0, time.monotonic() + self.limits.cell_wall + _GRACE_SECONDS)
            replies.has_only(reply, {"outputs", "closed", "noted"})
            shown = self._kept(replies.outputs(reply["outputs"], self.limits.output))
            done.append(CellResult(id=cell.id, outputs=shown, closed=self._touched(reply)))
            return
        outcomes: list[tuple[Outcome, ...]] = []
        closed: dict[str, None] = {}
        try:
            for interview in cell.interviews:
                if interview.known and self._as_before(interview):
                    outcomes.append(())
                    continue
                answered, touched = self._interview(interview)
                outcomes.append(answered)
                closed.update(dict.fromkeys(touched))
        finally:
            done.append(CellResult(id=cell.id, outcomes=tuple(outcomes), closed=tuple(closed)))
        self._answered = done[-1]

    def _as_before(self, interview: Interview) -> bool:
        """Whether the known calls end as they did."""
        numbers, faults = zip(*interview.known, strict=True)
        few = replace(interview, calls=tuple(interview.calls[number] for number in numbers))
        return tuple(outcome.fault for outcome in self._interview(few)[0]) == faults

    def _interview(self, interview: Interview) -> tuple[tuple[Outcome, ...], tuple[str, ...]]:
        body, limits = replies.Body(), self.limits
        call_cpu = max(limits.call_cpu, interview.call_cpu)
        call_wall = limits.call_wall * call_cpu / limits.call_cpu
        header = {
            "do": "ask",
            "function": interview.function,
            "arguments": list(interview.arguments),
            "returns": list(interview.returns),
            "calls": [[replies.coded(value, body) for value in call] for call in interview.calls],
            "seed": self.job.seed,
            "seconds": (call_wall, call_cpu),
            "budget": (limits.question_wall, limits.question_cpu),
            "largest": self.limits.result,
        }
        patience = min(limits.question_wall + call_wall, call_wall * len(interview.calls))
        until = time.monotonic() + patience + _GRACE_SECONDS
        reply, given = self._ask(header, bytes(body), self.limits.result, until, lambda: self._meanwhile(interview))
        replies.has_only(reply, {"outcomes", "closed", "noted"})
        return replies.outcomes(reply["outcomes"], given, interview), self._touched(reply)

    def _meanwhile(self, interview: Interview) -> None:
        if interview.meanwhile is not None:
            interview.meanwhile()
        if self.job.meanwhile is not None and self._answered is not None:
            self.job.meanwhile(self._answered)
            self._answered = None

    def _ask(
        self,
        header: dict[str, Any],
        body: bytes,
        most: int,
        deadline: float,
        meanwhile: Callable[[], object] | None = None,
    ) -> tuple[dict[str, Any], bytes]:
        """Put a question; the answer to this very question. The seconds that `meanwhile` takes are ours."""
        ticket = secrets.token_hex(16)
        deadline = min(deadline, self._deadline)
        replies.send(self._orders, {**header, "ticket": ticket}, body, deadline)
        if meanwhile is not None:
            began = time.monotonic()
            meanwhile()
            spent = time.monotonic() - began
            deadline, self._deadline = deadline + spent, self._deadline + spent
        reply, given = replies.receive(self._replies, 8 * self.limits.output + (1 << 20), most, deadline)
        if not self.begun and "fault" in reply:  # none of the student's code has run yet
            raise BoxFault(f"{self.job.name}: {reply['fault']}")
        self.begun = True
        if set(reply) == {"fault"}:
            raise _Stopped("ours", "The grader's own code failed at what the notebook has left of Python.")
        if reply.pop("ticket", None) != ticket:
            raise replies.BadReply("an answer to another question")
        return reply, given

    def _touched(self, reply: dict[str, Any]) -> tuple[str, ...]:
        self._note(reply)
        return tuple(name for name in replies.texts(reply["closed"], 200) if name in self.job.closed)

    def _note(self, reply: dict[str, Any]) -> None:
        for words in replies.notes(reply["noted"], 50):
            if len(self.noted) < _MOST_NOTES:
                self.noted[words] = None

    def _kept(self, shown: tuple[dict[str, Any], ...]) -> tuple[dict[str, Any], ...]:
        """A cell's outputs, shortened if this cell and the previous ones have shown too much."""
        size = len(json.dumps(shown)) if self._room > 0 and shown else 0
        self._room -= size
        return shown if self._room >= 0 or not shown else replies.in_short(shown, self.limits.shown)

    # --- the beginning and the end ------------------------------------------------------------------------

    def _for_parent(self) -> dict[str, Any]:
        return {
            **{name: getattr(self.limits, name) for name in _OF_PROCESS},
            "closed": list(self.job.closed),
            "warm": [
                m
                for word, m in _WARM_FOR.items()
                if not self.job.numpy and any(word in cell.source for cell in self.job.cells)
            ],
        }

    def _status(self, dying: float) -> dict[str, Any]:
        """Close the leash, or first wait if the notebook is already ending; returns how it ended, from its
        supervisor."""
        poll = select.poll()
        poll.register(self._leash, select.POLLIN)
        if not dying or not poll.poll(dying * 1000):
            with contextlib.suppress(OSError):
                self._leash.shutdown(socket.SHUT_WR)
        pieces = []
        deadline = time.monotonic() + UNHEEDED_SECONDS
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
            name = next((known.name for known in signal.Signals if known == number), f"signal {number}")
            self.noted[f"{ENDED_BY}{name}"] = None
            return "killed", "It crashed in compiled code: often out of memory."
        return "left", "Its process ended itself, as os._exit does."


def _incidents(status: dict[str, Any]) -> list[str]:
    found = status.get("incidents", {})
    return [
        f"{words} ({found[words]} times)" if found[words] > 1 else words for words in found if words in KNOWN_INCIDENTS
    ]
