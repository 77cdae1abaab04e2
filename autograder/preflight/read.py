"""Reads a file that a student handed in as a notebook; it may be anything."""

import json
import os
import re
import stat
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from autograder.guard import NotRead, why
from autograder.preflight.finding import Finding, shown

MOST_BYTES, MOST_TEXT, SMALL = 300 * 2**20, 30 * 2**20, 4 * 2**20
"""Size limits: of the file; of the file without outputs; and the size below which it is parsed unchanged."""
MOST_CELLS = 5_000
TOO_LARGE = "Edit → Clear Outputs of All Cells, save, and hand it in again"


class TooMuch(ValueError):  # noqa: N818 - about the file
    """The file contains more than a notebook can."""


class Unreadable(NotRead):
    """The file is not a notebook that can be graded. The text says why, for student and instructor."""


def read_notebook(path: Path) -> tuple[NotebookNode, list[Finding]]:
    """(the notebook in nbformat 4, without outputs, every cell complete; the repairs). Raises Unreadable."""
    name = shown(path.name)
    try:
        content = read_plain(path, MOST_BYTES)
    except OSError as error:
        raise Unreadable(f"{name} cannot be opened ({error.strerror or error})") from None
    except TooMuch:
        raise Unreadable(f"{name} has more than the {MOST_BYTES // 2**20} MB that are read. {TOO_LARGE}") from None
    return notebook_of(_parse(name, content), name)


def read_plain(path: Path, most: int) -> bytes:
    """The bytes of a plain file; OSError if it is anything else (a link is not followed), TooMuch if it is larger."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    with open(os.open(path, flags), "rb") as file:
        about = os.fstat(file.fileno())
        if not stat.S_ISREG(about.st_mode):
            raise OSError("it is not a plain file")
        if about.st_size > most:
            raise TooMuch
        return file.read(most)


def _parse(name: str, content: bytes) -> Any:
    start = content[:200].lstrip().lower()
    if not content.strip(b" \t\r\n\0"):
        raise Unreadable(f"{name} is empty: perhaps it was handed in before it had been saved")
    if start.startswith((b"<!doctype", b"<html")):
        raise Unreadable(f"{name} is a web page: the page that shows the notebook was saved, not the notebook")
    try:
        content = _utf8(content)
        if len(content) > SMALL:
            content = skim(content)
        if len(content) > MOST_TEXT:
            raise TooMuch
        return json.loads(content.decode("utf-8-sig"))
    except TooMuch:
        raise Unreadable(f"{name} holds more than a notebook can, even without its outputs. {TOO_LARGE}") from None
    except UnicodeDecodeError:
        raise Unreadable(f"{name} is not text in UTF-8: it is not a notebook, or it was damaged on the way") from None
    except (ValueError, RecursionError, MemoryError) as error:  # ValueError: a number of too many digits, too
        where = f" (line {error.lineno})" if isinstance(error, json.JSONDecodeError) else ""
        raise Unreadable(f"{name} is not a complete notebook: its JSON ends early or is broken{where}") from None


def _utf8(content: bytes) -> bytes:
    """Turns UTF-16 text, which some Windows programs write, into UTF-8; leaves anything else unchanged."""
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return content.decode("utf-16").encode()
    if b"\0" in content[:2]:
        return content.decode("utf-16-be" if content[0] == 0 else "utf-16-le").encode()
    return content


def notebook_of(content: Any, name: str) -> tuple[NotebookNode, list[Finding]]:
    """The same for the content of the file: any JSON value. `name` is for messages."""
    version = content.get("nbformat") if isinstance(content, dict) else None
    if not isinstance(version, int) or isinstance(version, bool):
        raise Unreadable(f"{name} is JSON, but not a notebook")
    if version > 4:
        raise Unreadable(f"{name} is a notebook of format {shown(version, 20)}; 4 is the newest that is read")
    if version < 4:
        try:
            content = nbformat.convert(nbformat.from_dict(content), 4)
        except Exception as error:  # whatever the converters of old formats raise about a damaged file
            raise Unreadable(f"{name} is a notebook of format {shown(version, 20)} and damaged: {why(error)}") from None
    cells = content.get("cells")
    if not isinstance(cells, list):
        raise Unreadable(f"{name} has no cells")
    if len(cells) > MOST_CELLS:
        raise Unreadable(f"{name} has {len(cells)} cells, more than the {MOST_CELLS} that are read")
    made = [(_cell(cell, number) if isinstance(cell, dict) else None) for number, cell in enumerate(cells)]
    whole = [cell for cell in made if cell is not None]
    notebook = nbformat.from_dict({"cells": whole, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    untrue = sum(1 for cell, new in zip(cells, made, strict=True) if new is not None and not _kept(cell, new))
    damaged = ((len(made) - len(whole), " without any text; left out"), (untrue, "; the readable parts were kept"))
    return notebook, [
        Finding("repaired", "damaged-cell", f"{name} has {count} damaged cell{'' if count == 1 else 's'}{what}.")
        for count, what in damaged
        if count
    ]


def _cell(cell: dict[str, Any], number: int) -> dict[str, Any] | None:
    """A cell with an id, a type, a source of text, and metadata without depth; None if there is nothing in it."""
    kind = cell.get("cell_type")
    if kind not in ("code", "markdown", "raw"):
        if not _source(cell).strip():
            return None
        kind = "code" if "outputs" in cell or "execution_count" in cell else "raw"
    about = cell.get("metadata")
    metadata: dict[str, Any] = {}
    if isinstance(about, dict):
        given = about.get("nbgrader")
        if isinstance(given, dict):
            flat = {k: v for k, v in given.items() if isinstance(v, str | int | float | bool) and isinstance(k, str)}
            metadata["nbgrader"] = {_clean(k): _clean(v) if isinstance(v, str) else v for k, v in flat.items()}
        if isinstance(about.get("tags"), list):
            metadata["tags"] = [_clean(tag) for tag in about["tags"] if isinstance(tag, str)]
    name = cell.get("id")
    fits = isinstance(name, str) and re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name)
    made = {"id": name if fits else f"cell-{number}", "cell_type": kind, "metadata": metadata, "source": _source(cell)}
    if kind == "code":
        made |= {"outputs": [], "execution_count": None}
    elif attached := _attachments(cell.get("attachments")):
        made["attachments"] = attached
    return made


def _source(cell: dict[str, Any]) -> str:
    source = cell.get("source", "")
    if isinstance(source, list):
        source = "".join(part for part in source if isinstance(part, str))
    return _clean(source) if isinstance(source, str) else ""


_PICTURES = {"image/png", "image/jpeg", "image/gif", "image/webp", "image/svg+xml"}


def _attachments(given: Any) -> dict[str, dict[str, str]]:
    """Pictures in a written answer, for the person who marks it."""
    if not isinstance(given, dict):
        return {}
    bundles = {_clean(name): bundle for name, bundle in given.items() if isinstance(bundle, dict)}
    return {
        name: {kind: _clean(data) for kind, data in bundle.items() if kind in _PICTURES and isinstance(data, str)}
        for name, bundle in bundles.items()
    }


def _clean(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")


def _kept(cell: dict[str, Any], made: dict[str, Any]) -> bool:
    source = cell.get("source", "")
    text = "".join(p if isinstance(p, str) else "\0" for p in source) if isinstance(source, list) else source
    return bool(made["cell_type"] == cell.get("cell_type") and made["source"] == text)


# --- very large notebooks ---------------------------------------------------------------------------------

HIDDEN_KEYS = (b'"outputs"', b'"widgets"')
MOST_TOKENS, MOST_KEPT = 10_000_000, 1_000_000

# A string, a mark of JSON's, or anything else (numbers, names). Possessive: nothing is remembered, nothing tried twice.
_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[][{},:]|[^][\s"{},:]++', re.S)


def skim(content: bytes) -> bytes:
    """The same JSON with `[]` for every value of `HIDDEN_KEYS` that is a list or an object, since these are not graded.

    A notebook of 200 MB is a few kilobytes of code and many pictures. Parsed whole, its JSON would take gigabytes; here
    it is passed over once, string by string and bracket by bracket. Text that is not JSON remains invalid. Raises
    TooMuch.
    """
    kept: list[bytes] = []
    begin = depth = count = 0
    before = last = b""
    for tokens, token in enumerate(_TOKEN.finditer(content)):
        mark = content[token.start() : token.start() + 1]
        if depth:
            depth += (mark in b"[{") - (mark in b"]}")
            if depth == 0:
                begin = token.end()
        elif mark in b"[{" and last == b":" and before in HIDDEN_KEYS:
            kept.append(content[begin : token.start()] + b"[]")
            depth = 1
        else:
            count += 1
            before, last = last, token.group() if token.end() - token.start() < 20 else b""
        if tokens > MOST_TOKENS or count > MOST_KEPT:
            raise TooMuch
    return b"".join([*kept, content[begin:] if not depth else b""])
