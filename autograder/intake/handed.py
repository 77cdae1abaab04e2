"""The contents of a download: whose files they are, according to the system that wrote it.

    Moodle       Ada Lovelace_4711_assignsubmission_file_/attention.ipynb   (4711 is only for this assignment)
    Canvas       lovelaceada_LATE_102_90001_attention-1.ipynb               (102 is the student, 90001 the file)
    Gradescope   submission_123/…, and submission_metadata.yml says whose it is, and when it came
    plain        ada/…, ada/attention/…, ada.zip or ada.ipynb; a folder or an archive

Nothing is matched here, and only names are inspected.
"""

import errno
import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml

from autograder.grading.beside import MARKED_LATE_FILE, SECRET_FILE, timestamp_of
from autograder.intake.when import moment
from autograder.preflight.archive import CUT_OFF, DAMAGED, Most, is_archive, unpack
from autograder.preflight.choose import is_notebook
from autograder.preflight.finding import Finding, scan, shown

CLASS = Most(files=100_000, members=200_000, bytes=4 * 2**30, read=5 * 2**30, directory=64 * 2**20)
MOST_YAML = 200 * 2**20
METADATA = "submission_metadata.yml"
STAMPS = ("timestamp.txt", MARKED_LATE_FILE)
"""Files that `collect` and nbgrader write next to a submission; students must not be able to supply them in a
download."""
MOODLE = re.compile(r"^(?P<name>.*?)(?:_(?P<number>\d+))?_assignsubmission_(?P<plugin>[a-z]+)(?:_(?P<file>.*))?$")
CANVAS = re.compile(r"^(?P<name>.*?)(?P<late>_LATE)?_(?P<user>\d+|anon_[0-9A-Za-z]+)_(?P<file>\d+)_(?P<rest>.+)$")
CANVAS_TEXT = re.compile(r"^(?P<name>.*?)(?P<late>_LATE)?_(?P<user>\d+|anon_[0-9A-Za-z]+)_(?P<rest>text|link)\.html$")

Files = dict[str, Path]  # by the path inside


@dataclass
class Piece:
    """One submission of one student, or of several together."""

    label: str  # as it is called in the download
    names: list[str] = field(default_factory=list)  # of everybody who has handed it in
    numbers: list[tuple[str, ...]] = field(default_factory=list)  # of each the ids and addresses, where there are any
    key: str = ""  # a number that a list of pairs may use
    back: str = ""  # what the system wants in the name of a file that comes back to it
    files: Files = field(default_factory=dict)
    when: datetime | None = None
    late: bool = False  # by the system's own mark


@dataclass
class Download:
    source: str  # the file's or folder's name
    system: str = "a plain folder"
    pieces: list[Piece] = field(default_factory=list)
    left: list[str] = field(default_factory=list)  # what was left aside, in words


class Unusable(ValueError):  # noqa: N818 - said to the instructor
    """The download cannot be used, so nothing of it is collected."""


@dataclass(frozen=True)
class Expected:
    """What is known in advance: the assignment, its notebooks, and whether a folder's name is a student's."""

    assignment: str
    notebooks: tuple[str, ...]
    is_student: Callable[[str], bool]


def read_download(path: Path, scratch: Path, expected: Expected) -> Download:
    """The contents of an archive or folder. scratch: an empty folder, into which an archive is unpacked. Raises
    Unusable, with a message."""
    made = Download(path.name)
    findings: list[Finding] = []
    folder = path
    if not path.exists():
        raise Unusable(f"there is no {path}")
    if not path.is_dir():
        if not is_archive(path.name):
            raise Unusable(f"{path.name} is neither a folder nor an archive (.zip, .tar, .tar.gz)")
        folder = scratch
        room = min(CLASS.bytes, shutil.disk_usage(scratch).free // 2)
        findings += unpack(path, scratch, replace(CLASS, bytes=room))
        full = room < CLASS.bytes and any(found.what == CUT_OFF for found in findings)
        if full:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(scratch.parent))
        broken = next((found for found in findings if found.what in (CUT_OFF, DAMAGED)), None)
        if broken is not None:
            raise Unusable(f"nothing of {path.name} was taken, as it is not whole: {broken.words} Download it again")
    files: Files = dict(scan(folder, findings, CLASS.files))
    made.left += [finding.words for finding in findings]
    files = {inside: place for inside, place in files.items() if not place.name.startswith((".", "~$"))}
    if not files:
        raise Unusable(f"{path.name} holds no files")
    for system in (_gradescope, _moodle, _canvas):
        if system(files, made, expected) or system(_peeled(files), made, expected):
            return made
    _plain(files, made, expected)
    return made


def _peeled(files: Files) -> Files:
    """Without the single folder that contains everything, if there is one."""
    tops = {inside.partition("/")[0] for inside in files}
    return {inside.partition("/")[2]: path for inside, path in files.items()} if len(tops) == 1 else files


def _moodle(files: Files, made: Download, expected: Expected) -> bool:
    pieces: dict[str, Piece] = {}
    others = []
    for inside, path in files.items():
        first, _, rest = inside.partition("/")
        match = MOODLE.match(first)
        if match is None:
            others.append(inside)
            continue
        name, number = match["name"].strip(), match["number"] or ""
        label = f"{name}_{number}".rstrip("_")
        if match["plugin"] != "file":
            made.left.append(f"{shown(label)} wrote an online text, which is not taken.")
            continue
        piece = pieces.setdefault(label, Piece(label, names=[name], key=number, back=number))
        piece.files[rest or match["file"] or first] = path
    if not pieces:
        return False
    _take(made, "Moodle", pieces.values(), others)
    return True


def _canvas(files: Files, made: Download, expected: Expected) -> bool:
    pieces: dict[str, Piece] = {}
    versions: dict[str, list[tuple[int, str, Path]]] = {}
    texts, others = [], []
    for inside, path in files.items():
        match = CANVAS.match(inside) or CANVAS_TEXT.match(inside)
        if match is None or "/" in inside:
            others.append(inside)
            continue
        label = f"{match['name']}_{match['user']}"
        if "file" not in match.groupdict():
            texts.append(f"{shown(label)} wrote an online text or a link, which is not taken.")
            continue
        user = match["user"]
        numbers: list[tuple[str, ...]] = [] if user.startswith("anon_") else [(user,)]
        piece = pieces.setdefault(label, Piece(label, numbers=numbers, names=[match["name"]], key=user))
        piece.late |= match["late"] is not None
        versions.setdefault(label, []).append((int(match["file"]), match["rest"], path))
    if not pieces or len(others) > len(files) / 2:
        return False
    for label, there in versions.items():
        pieces[label].back = f"{pieces[label].key}_{max(there)[0]}"
        made.pieces += _versions(pieces[label], sorted(there), expected)
    made.left += texts
    _take(made, "Canvas", pieces.values(), others)
    return True


def _versions(piece: Piece, there: Sequence[tuple[int, str, Path]], expected: Expected) -> Iterator[Piece]:
    """Canvas adds -1, -2 to the name of a file that was uploaded again: the last counts, under its own name. The
    earlier ones are separate pieces."""
    for _, name, path in there:
        again = re.sub(r"-\d+(?=\.ipynb$)", "", name)
        own = again if again.removesuffix(".ipynb") in expected.notebooks else name
        if own in piece.files:
            yield replace(piece, files={own: piece.files[own]})
        piece.files[own] = path


def _gradescope(files: Files, made: Download, expected: Expected) -> bool:
    if METADATA not in files:
        return False
    try:
        with open(files[METADATA], "rb") as file:
            content = file.read(MOST_YAML)
        about = yaml.load(content, Loader=_Plain)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise Unusable(f"{METADATA} cannot be read ({shown(error, 80)}): export the submissions again") from None
    if not isinstance(about, dict):
        raise Unusable(f"{METADATA} lists no submissions: export them again")
    others = dict(files)
    others.pop(METADATA)
    pieces = []
    for folder, facts in about.items():
        facts = facts if isinstance(facts, dict) else {}
        people = [one for one in facts.get(":submitters") or [] if isinstance(one, dict)]
        own = {inside: path for inside, path in files.items() if inside == folder or inside.startswith(f"{folder}/")}
        for inside in own:
            others.pop(inside, None)
        when = facts.get(":created_at")
        piece = Piece(
            str(folder),
            names=[str(one.get(":name") or "") for one in people],
            numbers=[tuple(str(one.get(name) or "") for name in (":email", ":sid")) for one in people],
            key=str(folder),
            files={inside.removeprefix(f"{folder}/"): path for inside, path in own.items()},
            when=when if isinstance(when, datetime) else moment(str(when)) if when else None,
        )
        if piece.when is not None and piece.when.tzinfo is None:
            piece.when = piece.when.replace(tzinfo=UTC)
        if own:
            pieces.append(piece)
        else:
            made.left.append(f"{shown(folder)} holds no files.")
    _take(made, "Gradescope", pieces, others)
    return True


class _Plain(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """Only plain data, under any tags (Ruby's, here)."""


def _untagged(loader: Any, tag: str, node: Any) -> Any:
    if isinstance(node, yaml.MappingNode):
        return loader.construct_mapping(node, deep=True)
    return loader.construct_sequence(node, deep=True) if isinstance(node, yaml.SequenceNode) else node.value


_Plain.add_multi_constructor("", _untagged)


def _plain(files: Files, made: Download, expected: Expected) -> None:
    for _ in range(3):
        tops = {inside.partition("/")[0] for inside in files if "/" in inside}
        if len(tops) != 1 or any(expected.is_student(top) for top in tops):
            break
        files = _peeled(files)
    pieces: dict[str, Piece] = {}
    others = []
    for inside, path in files.items():
        first, _, rest = inside.partition("/")
        if not rest and not (is_notebook(first) or is_archive(first)):
            others.append(inside)
            continue
        label = first if rest else re.sub(r"(\.tar)?\.[^.]+$", "", first)
        name = label
        if not rest:  # ada_attention.ipynb
            for word in (*expected.notebooks, expected.assignment):
                name = re.sub(rf"(?i)(^|[\s_-]){re.escape(word)}([\s_-]|$)", " ", name).strip()
        piece = pieces.setdefault(label, Piece(label, names=[name], numbers=[(name,)], key=label))
        piece.files[rest or first] = path
    for piece in pieces.values():
        below = {i: p for i, p in piece.files.items() if i.startswith(f"{expected.assignment}/")}
        if below:  # as nbgrader keeps them, with their times: ada/attention/…
            piece.files = {i.partition("/")[2]: p for i, p in below.items()}
            stamp = timestamp_of(piece.files["timestamp.txt"].parent)[0] if "timestamp.txt" in piece.files else None
            piece.when = moment(stamp) if stamp else None
            piece.late = MARKED_LATE_FILE in piece.files
        own = STAMPS if below else (*STAMPS, SECRET_FILE)
        piece.files = {i: p for i, p in piece.files.items() if i not in own}
        if piece.files:
            made.pieces.append(piece)
    made.left += [f"{shown(inside)} is in nobody's folder." for inside in others]


def _take(made: Download, system: str, pieces: Iterable[Piece], others: Iterable[str]) -> None:
    made.system = system
    made.left += [f"{shown(inside)} is none of {system}'s files." for inside in others]
    for piece in (*made.pieces, *pieces):
        piece.files = {inside: path for inside, path in piece.files.items() if inside not in (*STAMPS, SECRET_FILE)}
    made.pieces = [piece for piece in (*made.pieces, *pieces) if piece.files]
