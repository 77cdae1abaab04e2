"""Unpacks a zip or tar archive that a student handed in, safely.

Members with absolute paths or `..`, links, devices, endless members and too many of them are refused, each with a
message. Only plain files are written, none of them executable, and never more than a limit; no more than a limit is
read, whatever the archive says about itself. Several archives can share one limit: `Left`.
"""

import bz2
import contextlib
import errno
import gzip
import io
import shutil
import tarfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Any

from autograder.preflight.finding import Finding, shown

MOST_DEPTH = 20  # folders in folders
ENDINGS = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2")
OTHERS = (".7z", ".rar", ".xz", ".gz", ".bz2", ".zst")  # not unpacked, and said


@dataclass(frozen=True)
class Most:
    """The limits of an archive, or of several archives of one submission together; by default a student's."""

    files: int = 500
    members: int = 2_000
    bytes: int = 100 * 2**20
    read: int = 150 * 2**20  # of a packed tar, before it is known what it holds
    directory: int = 4 * 2**20  # bytes of a zip's table of contents

    @property
    def too_large(self) -> str:
        return f"an archive may hold {self.bytes // 2**20} MB, and so may all of a submission together"


class Left:
    """The rest of a limit. Files that were unpacked and discarded count as well."""

    def __init__(self, most: Most) -> None:
        self.most = most
        self.files, self.members, self.bytes = most.files, most.members, most.bytes
        self.read, self.directory = most.read, most.directory


def is_archive(name: str) -> bool:
    return name.lower().endswith(ENDINGS)


def unpack(archive: Path, folder: Path, most: Most = Most(), left: Left | None = None) -> list[Finding]:
    """Write the archive's plain files under `folder`, which must exist; refusals are reported. left: a limit shared by
    this archive and others, instead of `most`. Raises OSError if the disk is full."""
    found: list[Finding] = []
    left = left or Left(most)
    name = shown(archive.name)
    try:
        for inside, content, refused in _members(archive, left):
            left.members -= 1
            if left.files <= 0 or left.members < 0:
                found.append(_refuse("the rest", f"an archive may hold {left.most.files} files", CUT_OFF))
                break
            why = refused or _tricky(inside) or _write(content, folder, inside, left)
            if why:
                large = why is TOO_LARGE
                found.append(_refuse(inside, left.most.too_large, CUT_OFF) if large else _refuse(inside, why))
                if large:
                    break
    except FullDisk as error:
        raise error.args[0] from None
    except Exception as error:  # whatever the readers of archives raise about a file from outside
        about = shown(f"{type(error).__name__}: {error}", 100)
        found.append(Finding("ignored", DAMAGED, f"{name} could not be unpacked, or not wholly ({about})."))
    if len(found) > 20:
        found[19:-1] = [_refuse(f"{len(found) - 20} more", "for such reasons")]
    return found


TOO_LARGE = "it is too large"
CUT_OFF, DAMAGED = "cut-off-archive", "damaged-archive"  # findings after which the rest was not unpacked


def _parts(inside: str) -> tuple[str, ...]:
    return tuple(part for part in PurePosixPath(inside.replace("\\", "/")).parts if part != ".")


def _tricky(inside: str) -> str:
    parts = _parts(inside)
    if not parts or parts[0].startswith("/") or ".." in parts or ":" in parts[0]:
        return "its path leads out of the folder"
    if len(parts) > MOST_DEPTH or any(len(part.encode("utf-8", "replace")) > 200 for part in parts):
        return "its path is too long"
    return "" if inside.isprintable() else "its name contains characters that names must not"


def _write(content: IO[bytes] | None, folder: Path, inside: str, left: Left) -> str:
    target = folder.joinpath(*_parts(inside))
    if content is None:
        return "it is a link or not a plain file"
    source = _Limited(content, left.bytes + 1)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with content, open(target, "xb") as out:
            shutil.copyfileobj(source, out)
    except FileExistsError:
        return "another member has the same name"
    except _Enough:
        pass
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise FullDisk(error) from error
        return f"it could not be written ({error.strerror})"
    finally:
        left.bytes = source.left - 1
    if left.bytes < 0:
        target.unlink()
        return TOO_LARGE
    left.files -= 1
    return ""


class FullDisk(Exception):  # noqa: N818
    """Nothing is wrong with the archive."""


class _Enough(Exception):  # noqa: N818
    """More was requested from a stream than may be read."""


class _Limited(io.RawIOBase):
    """A stream that gives `most` bytes and then raises, so that no archive unpacks for ever."""

    def __init__(self, inner: Any, most: int) -> None:
        self.inner, self.left = inner, most

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        if self.left <= 0 or size < 0 or size > 2**30:
            raise _Enough("it unpacks to more than may be read")
        block: bytes = self.inner.read(min(size, self.left))
        self.left -= len(block)
        return block


def _members(archive: Path, left: Left) -> Iterator[tuple[str, IO[bytes] | None, str]]:
    """(name, content, why it is refused) of every member that is not a folder."""
    with open(archive, "rb") as file:
        start = file.read(4)
        file.seek(0)
        if start[:2] == b"PK":
            yield from _zip(file, left)
        else:
            plain = {b"\x1f\x8b": gzip.open, b"BZ": bz2.open}.get(start[:2], contextlib.nullcontext)
            with plain(file) as inner:  # type: ignore[operator]
                source = _Limited(inner, left.read)
                try:
                    with tarfile.open(fileobj=source, mode="r|") as opened:
                        for member in opened:
                            opened.members = []  # type: ignore[attr-defined]  # or it would keep them all
                            if not member.isdir():
                                yield member.name, opened.extractfile(member) if member.isreg() else None, ""
                finally:
                    left.read = source.left


def _zip(file: IO[bytes], left: Left) -> Iterator[tuple[str, IO[bytes] | None, str]]:
    file.seek(0, 2)
    file.seek(max(0, file.tell() - 2**16 - 22))
    end = file.read()
    place = end.rfind(b"PK\5\6")
    left.directory -= int.from_bytes(end[place + 12 : place + 16], "little") if place >= 0 else 0
    if place < 0 or left.directory < 0:
        raise ValueError("its table of contents is missing or too long")
    with zipfile.ZipFile(file) as opened:
        for info in opened.infolist():
            kind = (info.external_attr >> 28) & 0xF  # of the Unix mode; 0 where another system wrote it
            content, why = None, ""
            if info.is_dir():
                continue
            if info.flag_bits & 1:
                why = "it is encrypted"
            elif kind not in (0, 8) or info.compress_type not in (0, 8):
                why = "it is a link, or packed in an unusual way"
            else:
                try:
                    content = opened.open(info)
                except Exception as error:
                    why = f"it is damaged ({shown(error, 60)})"
            yield info.filename, content, why


def _refuse(name: str, why: str, what: str = "refused-member") -> Finding:
    return Finding("ignored", what, f"{shown(name)} was not unpacked: {why}.")
