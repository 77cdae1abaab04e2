"""Run one notebook from top to bottom, without a network; a program of its own, so that a hung kernel is left behind.

    python -m tests.lecture_runner NOTEBOOK.ipynb RESULT.json

Loopback, which the kernel's own sockets need, is brought up in a network namespace that has no other way out.
The result holds seconds per cell and the network's state; the executed notebook is written over the given one.
"""

import asyncio
import contextlib
import json
import socket
import struct
import sys
import time
from pathlib import Path

if "jsonschema" not in sys.modules:  # as in conftest.py: what it would compile takes long, and nobody needs it
    sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

CELL_LIMIT = 120
"""Seconds after which a cell counts as hung; the test's own limits are far below."""


def raise_loopback() -> None:
    """`ip link set lo up`, without the program `ip`: new network namespaces have their loopback down."""
    import fcntl

    up = 0x1  # IFF_UP
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handle:
        request = struct.pack("16sh", b"lo", 0)
        flags = struct.unpack("16sh", fcntl.ioctl(handle, 0x8913, request))[1]  # SIOCGIFFLAGS
        fcntl.ioctl(handle, 0x8914, struct.pack("16sh", b"lo", flags | up))  # SIOCSIFFLAGS


def network_is_cut() -> bool:
    """Whether this process has no other network interface than loopback."""
    return {name for _, name in socket.if_nameindex()} <= {"lo"}


def run(notebook: Path, result: Path) -> None:
    if sys.platform == "win32":
        asyncio.set_event_loop_policy(asyncio.WindowsSelectorEventLoopPolicy())
    cut = sys.platform.startswith("linux") and network_is_cut()
    if cut:
        raise_loopback()
    document = nbformat.read(notebook, as_version=4)
    began: dict[int, float] = {}
    seconds: dict[int, float] = {}

    def start(cell, cell_index: int) -> None:
        began[cell_index] = time.monotonic()

    def end(cell, cell_index: int, execute_reply) -> None:
        seconds[cell_index] = time.monotonic() - began[cell_index]

    client = NotebookClient(
        document,
        timeout=CELL_LIMIT,
        kernel_name="python3",
        resources={"metadata": {"path": str(notebook.parent)}},
        on_cell_execute=start,
        on_cell_executed=end,
    )
    whole = time.monotonic()
    with contextlib.suppress(CellExecutionError):  # the error stands in the notebook; the test reads it there
        client.execute()
    report = {"seconds": time.monotonic() - whole, "cells": seconds, "network_cut": cut}
    nbformat.write(document, notebook)
    result.write_text(json.dumps(report), encoding="utf-8")


if __name__ == "__main__":
    run(Path(sys.argv[1]), Path(sys.argv[2]))
