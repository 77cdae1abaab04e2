"""Students' notebooks under `exercises/`, built from `solutions/` by `autograder.release`; nobody's work is lost.

`autograder.release` (with nbgrader) rewrites every exercise. Here it is called only if something that it reads has
changed, and a notebook that a student has worked in since its release is restored afterwards. Standard library only at
import.
"""

import hashlib
import importlib
import importlib.util
import json
import shutil
from collections.abc import Container, Iterator, Mapping
from pathlib import Path
from typing import Any

from autograder.files import plain_files, write_whole
from autograder.launcher import notebooks

RECORD = "exercises/.built.json"  # what was built last: a digest of everything read, and one of every file written
HANDED_OUT = "autograder/exercise/public/exercises"  # in a student's copy: the exercises as they were released


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def _inputs(root: Path) -> Iterator[Path]:
    code = ("autograder/*.py", "autograder/checks/**/*.py", "autograder/release/*.py", "nbgrader_config.py")
    yield from (
        path
        for path in plain_files(root, "solutions/**/*", *code, "autograder/exercise/questions.py")
        if path.suffix != ".ipynb"
    )


def fingerprint(root: Path) -> str:
    """A digest that changes whenever the exercises may have to be rebuilt."""
    whole = hashlib.sha256()
    for path in _inputs(root):
        whole.update(f"{path.relative_to(root).as_posix()} {_digest(path)}\n".encode())
    return whole.hexdigest()[:16]


def _outputs(root: Path) -> list[Path]:
    folder = root / "exercises"
    found = (path for path in folder.glob("*/**/*") if path.is_file())
    return sorted(path for path in found if ".ipynb_checkpoints" not in path.parts and "__pycache__" not in path.parts)


def _record(root: Path) -> dict[str, Any]:
    try:
        document = json.loads((root / RECORD).read_text(encoding="utf-8"))
        return {"inputs": dict(document["inputs"]), "files": dict(document["files"])}
    except (OSError, ValueError, KeyError, TypeError):
        return {"inputs": {}, "files": {}}


def worked_in(root: Path) -> list[Path]:
    """Files under `exercises/` that differ from the released ones: somebody's work."""
    files = _record(root)["files"]
    return [path for path in _outputs(root) if files.get(path.relative_to(root).as_posix()) != _digest(path)]


def available() -> bool:
    return importlib.util.find_spec("autograder.release") is not None


def current(root: Path, audited: bool = False) -> bool:
    """Whether there is nothing to build: everything that a build reads and writes is as the last build left it, or has
    been worked in. `audited`: and that build audited the questions."""
    if not available() or not any((root / "solutions").glob("*/*.py")):
        files = _record(root)["files"]
        return all(
            place.exists() and files.get(place.relative_to(root).as_posix()) == _digest(released)
            for released, place in _handed_out(root)
        )
    record = _record(root)
    complete = bool(record["files"]) and all((root / name).exists() for name in record["files"])
    inputs = record["inputs"]
    return complete and inputs.get("digest") == fingerprint(root) and (inputs.get("audited", False) or not audited)


def build(root: Path, audited: bool = True) -> tuple[int, list[str]]:
    """Build the exercises if needed. Returns the number of new notebooks, and messages for the user. Whether each
    question is fair (`autograder.exercise.audit`) takes minutes to find out: it concerns whoever changes a question and
    whoever releases it, not whoever opens a lecture."""
    if current(root, audited):
        return 0, []
    if (root / HANDED_OUT).exists():
        return hand_out(root)
    record, digest = _record(root), fingerprint(root)
    mine = {path: notebooks.keep(path, root) for path in worked_in(root)}
    before = {path: _digest(path) for path in _outputs(root)}
    done = False
    try:
        release = importlib.import_module("autograder.release.build")  # nbgrader is imported here, not before
        release.build_exercises(root, release.gradebook_of(root), audited)
        if left := _assignments(root) - {path.parent.name for path in _outputs(root) if path.suffix == ".ipynb"}:
            raise RuntimeError(f"Not released, because no notebook was built from its text: {', '.join(sorted(left))}.")
        done = True
    finally:
        released = {path: _digest(path) for path in _outputs(root)}
        for path, copy in mine.items():  # they were copied aside first: nothing is lost even if this is killed
            path.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(copy, path)
            copy.unlink()
        if not done:  # what was released before the fault is noted, or it would pass for somebody's work
            untouched = {path for path in mine if released.get(path) == before[path]}
            _write_record(root, "", record["files"] | _named(root, released, leave_out=untouched))
    notes = []
    for path in mine:
        name = path.relative_to(root).as_posix()
        if path in released and record["files"].get(name) not in (None, released[path]):
            notes.append(_changed_since(name))
    _write_record(root, digest, _named(root, released), audited)
    new = [p for p, value in released.items() if p.suffix == ".ipynb" and p not in mine and before.get(p) != value]
    return len(new), notes


def _assignments(root: Path) -> set[str]:
    return {pair.text.parent.name for pair in notebooks.pairs(root) if pair.text.parent.parent.name == "solutions"}


def _named(root: Path, released: Mapping[Path, str], leave_out: Container[Path] = ()) -> dict[str, str]:
    there = (path for path in sorted(released) if path.exists() and path not in leave_out)
    return {path.relative_to(root).as_posix(): released[path] for path in there}


def _changed_since(name: str) -> str:
    return (
        f"{name} has your work in it and is left as it is; the exercise itself has changed since.\n"
        "    To get the new one: rename yours, then build again."
    )


def _write_record(root: Path, digest: str, files: dict[str, str], audited: bool = False) -> None:
    inputs = {"digest": digest, "audited": audited}
    text = json.dumps({"inputs": inputs, "files": files}, indent=1, sort_keys=True)
    write_whole(root / RECORD, text + "\n")


# --- a student's copy -------------------------------------------------------------------------------------


def _handed_out(root: Path) -> Iterator[tuple[Path, Path]]:
    """(the exercise as it was released, where the student works in it) for every file."""
    folder = root / HANDED_OUT
    for path in plain_files(folder, "**/*"):
        yield path, root / "exercises" / path.relative_to(folder)


def hand_out(root: Path) -> tuple[int, list[str]]:
    """Put files into `exercises/` if they are missing there, or if they are unchanged and have a new version. Files
    that a student has worked in are left alone. Returns the number of new notebooks, and messages for the student."""
    files, notes, new = _record(root)["files"], [], 0
    for released, place in _handed_out(root):
        name, digest = place.relative_to(root).as_posix(), _digest(released)
        if place.exists() and _digest(place) not in (files.get(name), digest):
            if files.get(name) != digest:
                notes.append(_changed_since(name))
        elif not place.exists() or _digest(place) != digest:
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(released, place)  # as of now: the archive's files are all of one day long ago
            new += place.suffix == ".ipynb"
        files[name] = digest
    _write_record(root, "", files)
    return new, notes
