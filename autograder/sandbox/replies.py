"""The grader's end of the pipes: it serialises values, and reads replies with a parser that trusts nothing.

Whatever a student's process writes is either a reply to the question just put, in exactly the agreed form and
within the limits, or a `BadReply`. There is no pickle and no code in it, only JSON and bytes.
"""

import json
import math
import os
import re
import select
import time
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from autograder.question.outcome import GENERATOR, Fault, Outcome
from autograder.sandbox.inside.frames import DTYPES, NAMES, SIZES, raw
from autograder.sandbox.inside.outputs import MIME
from autograder.sandbox.job import Interview, Seed

_MOST_AXES = 16
_MOST_OUTPUTS = 64
_LONGEST = 4000
_SHORT, _MOST_SHORT = 300, 3
_BASE64 = re.compile(r"[A-Za-z0-9+/\s]*+={0,2}\s*+")  # possessive: nothing is tried twice
_CONTROL = re.compile(r"[\x00-\x07\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f]")


class BadReply(Exception):  # noqa: N818  (a student's doing, not an error of ours)
    """Not the agreed form."""


class TooLarge(BadReply):
    """More than is allowed."""


class Closed(Exception):  # noqa: N818
    """The student's process has gone."""


class Late(Exception):  # noqa: N818
    """The time is up."""


# --- values that go in ------------------------------------------------------------------------------------


class Body:
    """The bytes of the tensors that a frame carries."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._size = 0

    def add(self, piece: bytes) -> tuple[int, int]:
        """Its start, a multiple of eight, and its end."""
        if gap := -self._size % 8:
            self._pieces.append(bytes(gap))
        start = self._size + gap
        self._pieces.append(piece)
        self._size = start + len(piece)
        return start, self._size

    def __bytes__(self) -> bytes:
        return b"".join(self._pieces)


def coded(value: Any, body: Body) -> Any:
    """The value for JSON; `inside.frames.value` is its inverse. Raises TypeError for what cannot be sent."""
    if isinstance(value, Tensor):  # first, as most arguments are
        return {"tensor": _tensor(value, body)}
    if value is None or isinstance(value, (int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": str(value)}
    if isinstance(value, Seed):
        return {"generator": value.value}
    if isinstance(value, (tuple, list)):
        return {"tuple" if isinstance(value, tuple) else "list": [coded(item, body) for item in value]}
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {"dict": [[key, coded(item, body)] for key, item in value.items()]}
    raise TypeError(f"an argument of a call cannot be a {type(value).__name__}: {value!r}")


def _tensor(tensor: Tensor, body: Body) -> dict[str, Any]:
    tensor = tensor.detach()
    if tensor.dtype not in NAMES or tensor.layout != torch.strided:
        raise TypeError(f"an argument of a call cannot be a tensor of {tensor.dtype}, {tensor.layout}")
    start, end = body.add(raw(tensor))
    about = {"dtype": NAMES[tensor.dtype], "shape": tuple(tensor.shape), "bytes": (start, end)}
    if not tensor.is_contiguous() and _spread(tensor):
        about["stride"] = tensor.stride()
    return about


def _spread(tensor: Tensor) -> bool:
    """Whether no two elements share memory, and they are not too far apart."""
    axes = sorted((s, n) for s, n in zip(tensor.stride(), tensor.shape, strict=True) if n > 1)
    reach = 0
    for stride, size in axes:
        if stride <= reach:
            return False
        reach += stride * (size - 1)
    return reach < 64 * max(tensor.numel(), 1)


# --- frames -----------------------------------------------------------------------------------------------


def send(descriptor: int, header: dict[str, Any], body: bytes, deadline: float) -> None:
    """Raises Closed or Late."""
    text = json.dumps(header, allow_nan=False).encode()
    waiting = memoryview(SIZES.pack(len(text), len(body)) + text + body)
    while waiting:
        _wait(descriptor, select.POLLOUT, deadline)
        try:
            waiting = waiting[os.write(descriptor, waiting) :]
        except BlockingIOError:
            continue
        except OSError:
            raise Closed from None


def receive(descriptor: int, most_header: int, most_body: int, deadline: float) -> tuple[dict[str, Any], bytes]:
    """The next frame. Raises Closed, Late, TooLarge, BadReply."""
    head, body = SIZES.unpack(_exactly(descriptor, SIZES.size, deadline))
    if head > most_header or body > most_body:
        raise TooLarge(f"a reply of {head:,} + {body:,} bytes")
    text = _exactly(descriptor, head, deadline)
    try:
        header = json.loads(text.decode("utf-8"), parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise BadReply("a reply that is no JSON") from None
    if not isinstance(header, dict):
        raise BadReply("a reply that is no object")
    return header, _exactly(descriptor, body, deadline)


def _exactly(descriptor: int, size: int, deadline: float) -> bytes:
    pieces = []
    while size:
        _wait(descriptor, select.POLLIN, deadline)
        try:
            piece = os.read(descriptor, min(size, 1 << 20))
        except BlockingIOError:
            continue
        if not piece:
            raise Closed
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)


def _wait(descriptor: int, event: int, deadline: float) -> None:
    poll = select.poll()
    poll.register(descriptor, event)
    left = deadline - time.monotonic()
    if left <= 0 or not poll.poll(left * 1000):
        raise Late


def _no_constant(name: str) -> None:
    raise ValueError(name)


# --- replies that come out --------------------------------------------------------------------------------


def text(value: Any, most: int = _LONGEST) -> str:
    """A text that is safe to write anywhere: no lone surrogates, no control characters, not too long."""
    if not isinstance(value, str):
        raise BadReply("a text that is none")
    clean = value[:most].encode("utf-8", "replace").decode("utf-8")
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", clean)


def texts(value: Any, most: int, length: int = 300) -> tuple[str, ...]:
    return tuple(text(item, length) for item in _list(value, most))


def notes(value: Any, most: int) -> tuple[str, ...]:
    """Sentences for a terminal, a log and a table: each on one line, without terminal control sequences."""
    return tuple("".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in t) for t in texts(value, most))


def outcomes(value: Any, body: bytes, asked: Interview) -> tuple[Outcome, ...]:
    """One outcome for each call that was asked; the tensors fill the body in order."""
    rows = _list(value, len(asked.calls))
    if len(rows) != len(asked.calls):
        raise BadReply(f"{len(rows)} answers to {len(asked.calls)} questions")
    found, place = [], 0
    for row in rows:
        has_only(row, {"outputs", "fault", "changed"})
        tensors = []
        for about in _list(row["outputs"], _MOST_OUTPUTS):
            tensor, place = _read_tensor(about, body, place)
            tensors.append(tensor)
        fault = None
        if row["fault"] is not None:
            parts = texts(row["fault"], 4, _LONGEST)
            if len(parts) != 4 or tensors:
                raise BadReply("a fault that is none")
            fault = Fault(kind=parts[0], words=parts[1], line=parts[2], function=parts[3])
        elif len(tensors) != len(asked.returns):
            raise BadReply(f"{len(tensors)} results where {len(asked.returns)} were asked for")
        changed = texts(row["changed"], len(asked.arguments) + 1)
        if not set(changed) <= {*asked.arguments, GENERATOR} or len(set(changed)) < len(changed):
            raise BadReply("an argument that there is not")
        found.append(Outcome(outputs=tuple(tensors), fault=fault, changed=changed))
    if place != len(body):
        raise BadReply(f"{len(body) - place} bytes that belong to no result")
    return tuple(found)


def _read_tensor(about: Any, body: bytes, place: int) -> tuple[Tensor, int]:
    has_only(about, {"dtype", "shape", "start"})
    dtype = DTYPES.get(about["dtype"]) if isinstance(about["dtype"], str) else None
    if dtype is None:
        raise BadReply("an unknown dtype")
    shape = _list(about["shape"], _MOST_AXES)
    if not all(type(n) is int and 0 <= n < 1 << 40 for n in shape) or about["start"] != place:
        raise BadReply("a shape or place that is none")
    end = place + math.prod(shape) * dtype.itemsize
    if end > len(body):
        raise BadReply("a result that is longer than what was sent")
    if end == place:
        if max(shape) > 1 << 24 or math.prod(n or 1 for n in shape) > 1 << 40:  # PyTorch's strides are 64 bits
            raise BadReply("an empty result of an absurd shape")
        return torch.empty(shape, dtype=dtype), end
    piece = bytearray(body[place:end])
    if dtype is torch.bool:  # only 0 and 1 are booleans in memory
        return (torch.frombuffer(piece, dtype=torch.uint8) != 0).reshape(shape), end
    return torch.frombuffer(piece, dtype=dtype).reshape(shape), end


def in_short(shown: Sequence[dict[str, Any]], room: int) -> tuple[dict[str, Any], ...]:
    """What is kept if all cells together have exceeded the output limit: whatever decides a mark, cut short."""
    short: list[dict[str, Any]] = [dict(o) for o in shown if o["output_type"] == "execute_result"][:_MOST_SHORT]
    for output in short:
        output["data"] = {"text/plain": output["data"].get("text/plain", "")[:_SHORT]}
    for error in [o for o in shown if o["output_type"] == "error"][:1]:
        line = f"{error['ename']}: {error['evalue']}"[:_SHORT]
        short.append({**error, "evalue": error["evalue"][:_SHORT], "traceback": [line]})
    note = f"[Left out: all cells together have shown more than the {room:,} bytes that are kept.]\n"
    return ({"output_type": "stream", "name": "stdout", "text": note}, *short)


def outputs(value: Any, limit: int) -> tuple[dict[str, Any], ...]:
    """nbformat outputs, rebuilt only from their known parts."""
    return tuple(_output(item, limit) for item in _list(value, 1000))


def _output(item: Any, limit: int) -> dict[str, Any]:
    if not isinstance(item, dict):
        raise BadReply("an output that is none")
    kind, room = item.get("output_type"), limit + _LONGEST
    if kind == "stream":
        name = item.get("name")
        if name not in ("stdout", "stderr"):
            raise BadReply("a stream of an unknown name")
        return {"output_type": kind, "name": name, "text": text(item.get("text"), room)}
    if kind == "error":
        return {
            "output_type": kind,
            "ename": text(item.get("ename"), 200),
            "evalue": text(item.get("evalue")),
            "traceback": list(texts(item.get("traceback"), 100, _LONGEST)),
        }
    if kind not in ("display_data", "execute_result") or not isinstance(item.get("data"), dict):
        raise BadReply("an output of an unknown kind")
    data = {mime: text(content, room) for mime, content in item["data"].items() if mime in MIME}
    for mime, content in data.items():
        if mime != "text/plain" and not _BASE64.fullmatch(content):
            raise BadReply("a picture that is none")
    shown: dict[str, Any] = {"output_type": kind, "data": data, "metadata": {}}
    if kind == "execute_result":
        count = item.get("execution_count")
        shown["execution_count"] = count if type(count) is int and 0 <= count < 1 << 31 else None
    return shown


def _list(value: Any, most: int) -> Sequence[Any]:
    if not isinstance(value, list) or len(value) > most:
        raise BadReply("a list that is none, or too long")
    return value


def has_only(value: Any, names: set[str]) -> None:
    if not isinstance(value, dict) or value.keys() != names:
        raise BadReply("an object with other parts than agreed")
