"""Frames on a pipe, and values in them: a JSON header and the raw bytes of its tensors.

    frame = size of the header (8 bytes) · size of the body (8 bytes) · header · body

The student's side. Data that arrive here come from the grader and are trusted; data that leave are read by
`autograder.sandbox.replies`, which trusts nothing.
"""

import json
import os
import struct
from typing import Any

import numpy as np

try:
    import torch
except ImportError:  # in a box without PyTorch
    torch = None  # type: ignore[assignment]

SIZES = struct.Struct(">QQ")
_KINDS = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64"]
DTYPES: dict[str, Any] = (
    {kind: np.dtype(kind) for kind in _KINDS}
    if torch is None
    else {kind: getattr(torch, kind) for kind in (*_KINDS, "bfloat16")}
)
NAMES = {dtype: name for name, dtype in DTYPES.items()}


class Gone(Exception):  # noqa: N818  (not an error: the other side has hung up)
    """The other side has closed the pipe."""


class Generator:
    """A seeded generator: every copy of it is a fresh `torch.Generator`, so that each call gets the same random
    numbers."""

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return np.random.default_rng(self.seed) if torch is None else torch.Generator().manual_seed(self.seed)

    def __eq__(self, other: object) -> bool:
        return isinstance(
            other, np.random.Generator if torch is None else torch.Generator
        )  # that it has been drawn from is no change

    __hash__ = None  # type: ignore[assignment]


def read(descriptor: int) -> tuple[dict[str, Any], bytes]:
    head, body = SIZES.unpack(_exactly(descriptor, SIZES.size))
    return json.loads(_exactly(descriptor, head)), _exactly(descriptor, body)


def write(descriptor: int, header: dict[str, Any], body: bytes = b"") -> None:
    text = json.dumps(header, allow_nan=False).encode()
    waiting = memoryview(SIZES.pack(len(text), len(body)) + text + body)
    while waiting:
        waiting = waiting[os.write(descriptor, waiting) :]


def value(coded: Any, body: bytearray) -> Any:
    """The inverse of `autograder.sandbox.replies.coded`; its tensors are in `body`, or share no memory with it."""
    if not isinstance(coded, dict):
        return coded
    ((kind, content),) = coded.items()
    if kind == "tensor":
        return _tensor(content, body)
    if kind == "dict":
        return {key: value(item, body) for key, item in content}
    if kind == "float":
        return float(content)
    if kind == "generator":
        return Generator(content)
    items = [value(item, body) for item in content]
    return tuple(items) if kind == "tuple" else items


def _tensor(about: dict[str, Any], body: bytearray) -> Any:
    """A tensor, or an array where there is no PyTorch."""
    dtype, shape = DTYPES[about["dtype"]], about["shape"]
    start, end = about["bytes"]
    if torch is None:
        if end == start:
            return np.empty(shape, dtype)
        array = np.frombuffer(body, dtype, (end - start) // dtype.itemsize, start).reshape(shape)
        if "stride" not in about:
            return array
        steps = [dtype.itemsize * stride for stride in about["stride"]]
        larger = np.zeros(1 + sum((n - 1) * stride for n, stride in zip(shape, about["stride"], strict=True)), dtype)
        spread = np.lib.stride_tricks.as_strided(larger, shape, steps)
        spread[...] = array
        return spread
    if end == start:
        return torch.empty(shape, dtype=dtype)
    flat = torch.frombuffer(body, dtype=dtype, count=(end - start) // dtype.itemsize, offset=start).view(shape)
    return torch.empty_strided(shape, about["stride"], dtype=dtype).copy_(flat) if "stride" in about else flat


def raw(tensor: Any) -> bytes:
    """The elements in order, whatever the strides are."""
    if torch is None:
        return bytes(tensor.tobytes())
    if tensor.dtype is not torch.bfloat16:  # NumPy has none
        return tensor.numpy(force=True).tobytes()
    flat = torch.empty(tensor.numel(), dtype=tensor.dtype, device="cpu").copy_(tensor.reshape(-1))
    return flat.view(torch.uint8).numpy().tobytes()


def _exactly(descriptor: int, size: int) -> bytes:
    pieces = []
    while size:
        piece = os.read(descriptor, min(size, 1 << 20))
        if not piece:
            raise Gone
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)
