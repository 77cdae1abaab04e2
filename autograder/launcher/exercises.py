"""The students' notebooks: in `exercises/` as they are released, kept in git, and in `work/` each student's own copy.

`build` makes `exercises/` from `solutions/` (by `autograder.release`, with nbgrader) if something that it reads has
changed. `hand_out` puts copies into `work/` and never writes over somebody's work: not there, and not where somebody
has worked in `exercises/` itself. Standard library only at import.
"""

import hashlib
import importlib
import importlib.util
import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from autograder.files import WORK, plain_files, write_whole
from autograder.launcher import notebooks
from autograder.launcher.text import BUILT_FROM, digest
from autograder.seal import SEAL, about, read, same_release, untouched

RELEASED = "exercises"
RECORD = f"{RELEASED}/.built.json"  # what was built here last: a digest of everything read, and one of every file
BEGUN = f"{WORK}/.begun.json"  # of which release each file of `work/` is, or which one its student has been told of
HANDED_OUT = "autograder/question/public/exercises"
"""In a student's copy: the exercises as they are released. They are not in `exercises/` there, because a newer archive
is unpacked over an older one, whose students worked in that folder."""
CHECKPOINTS = ".ipynb_checkpoints"
CODE = (
    "autograder/*.py",
    "autograder/grading/stubs.py",
    "autograder/question/*.py",
    "autograder/launcher/text.py",
    "autograder/release/*.py",
    "nbgrader_config.py",
    "course_config.py",
)
"""With the masters, all that a build reads."""


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def fingerprint(root: Path) -> str:
    """A digest that changes whenever the exercises may have to be rebuilt."""
    whole = hashlib.sha256()
    for path in plain_files(root, "solutions/**/*", *CODE):
        if path.suffix != ".ipynb":
            whole.update(f"{path.relative_to(root).as_posix()} {_digest(path)}\n".encode())
    return whole.hexdigest()[:16]


# --- `exercises/`, from the masters -----------------------------------------------------------------------


def _outputs(root: Path) -> list[Path]:
    return plain_files(root / RELEASED, "*/**/*")


def _record(root: Path) -> dict[str, Any]:
    document = read(root / RECORD)
    parts = (document.get("inputs"), document.get("files"))
    inputs, files = parts if all(isinstance(part, dict) for part in parts) else ({}, {})
    return {"inputs": inputs, "files": files}


def _texts(root: Path) -> dict[str, Path]:
    return {pair.text.parent.name: pair.text for pair in notebooks.pairs(root) if pair.text.parts[-3] == "solutions"}


def available(root: Path) -> bool:
    """Whether there are masters here, and what makes exercises of them. A student's copy has neither."""
    return any((root / "solutions").glob("*/*.py")) and importlib.util.find_spec("autograder.release") is not None


def current(root: Path, audited: bool = False, recorded: bool = False) -> bool:
    """Whether `exercises/` need not be built. `audited`: and the questions have been audited as they are. `recorded`:
    and it was built here, so that the gradebook has its cells. A fresh clone has not built anything; there, each
    exercise says from which text it comes."""
    if _strays(root):
        return False
    if not available(root):
        return True
    record = _record(root)
    inputs, files = record["inputs"], record["files"]
    if not inputs:
        return not (audited or recorded) and all(
            about(root / RELEASED / name / f"{text.stem}.ipynb").get(BUILT_FROM)
            == digest(text.read_text(encoding="utf-8"))
            for name, text in _texts(root).items()
        )
    there = all((root / name).is_file() and _digest(root / name) == value for name, value in files.items())
    return there and inputs.get("digest") == fingerprint(root) and (inputs.get("audited", False) or not audited)


def build(root: Path, audited: bool = True, recorded: bool = False) -> tuple[int, list[str]]:
    """Build the exercises if needed. Returns the number of new notebooks, and messages for the user. Whether each
    question is fair (`autograder.question.audit`) takes minutes to find out: it concerns whoever changes a question and
    whoever releases it, not whoever opens a lecture."""
    notes = take_over(root)
    if current(root, audited, recorded):
        return 0, notes
    before, inputs = {path: _digest(path) for path in _outputs(root)}, fingerprint(root)
    release = importlib.import_module("autograder.release.build")  # nbgrader is imported here, not before
    release.build_exercises(root, release.gradebook_of(root), audited)
    released = {path: _digest(path) for path in _outputs(root)}
    if left := _texts(root).keys() - {path.parent.name for path in released if path.suffix == ".ipynb"}:
        raise RuntimeError(f"Not released, because no notebook was built from its text: {', '.join(sorted(left))}.")
    files = {path.relative_to(root).as_posix(): value for path, value in released.items()}
    _write(root / RECORD, {"inputs": {"digest": inputs, "audited": audited}, "files": files})
    return sum(path.suffix == ".ipynb" and before.get(path) != value for path, value in released.items()), notes


def _write(path: Path, document: Mapping[str, Any]) -> None:
    write_whole(path, json.dumps(document, indent=1, sort_keys=True) + "\n")


# --- `work/`, a student's own -----------------------------------------------------------------------------


def hand_out(root: Path) -> tuple[int, list[str]]:
    """Put into `work/` what is missing there, and what has a new version and has not been worked in. Beside what has
    been worked in, the new version is placed. Returns the number of new notebooks, and messages for the student."""
    notes, new, begun = take_over(root), 0, read(root / BEGUN)
    folder = root / HANDED_OUT if (root / HANDED_OUT).is_dir() else root / RELEASED
    for released in plain_files(folder, "*/**/*"):
        place = root / WORK / released.relative_to(folder)
        name, value = place.relative_to(root).as_posix(), _digest(released)
        if place.exists() and (begun.get(name) == value or same_release(place, released)):
            begun[name] = value
            continue
        if place.exists() and not (_digest(place) in (begun.get(name), value) or untouched(place)):
            beside = _free(place, "-new")
            notes.append(_changed(place, released, beside, root))
            place = beside
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(released, place)  # as of now: an archive's files are all of one day long ago
        new += place.suffix == ".ipynb"
        begun[name] = value
    if begun != read(root / BEGUN):
        _write(root / BEGUN, begun)
    return new, notes


def _free(path: Path, ending: str) -> Path:
    """A name beside a file's that is not taken by somebody's work."""
    number = 1
    while True:
        found = path.with_name(f"{path.stem}{ending}{f'-{number}' if number > 1 else ''}{path.suffix}")
        if not found.exists() or untouched(found):
            return found
        number += 1


def _changed(mine: Path, released: Path, beside: Path, root: Path) -> str:
    name = mine.relative_to(root).as_posix()
    said = f"{name} has your work in it and is left as it is; the exercise has changed since.\n"
    if mine.suffix == ".ipynb":
        before, after = (about(path).get(SEAL, {}).get("questions", {}) for path in (mine, released))
        what = {
            "new": [q for q in after if q not in before],
            "changed": [q for q in after if before.get(q, after[q]) != after[q]],
            "gone": [q for q in before if q not in after],
        }
        rows = [f"{word}: {', '.join(names)}" for word, names in what.items() if names and before]
        said += f"    {'; '.join(rows) or 'No question is new, changed or gone'}.\n" if before else ""
    return f"{said}    The new one is {beside.relative_to(root).as_posix()}; hand in your work as {mine.name}."


def _strays(root: Path) -> dict[Path, Path]:
    """Somebody's files in `exercises/`, and where in `work/` they belong. Until now students worked in that folder, and
    a link may still lead somebody to it. `git pull` writes over what it ignored there before: then the checkpoint of
    JupyterLab is what is left of the work."""
    files = _record(root)["files"]

    def ours(path: Path, name: str) -> bool:
        source = root / "solutions" / path.relative_to(root / RELEASED)
        return (
            untouched(path)
            or files.get(name) == _digest(path)
            or (path.suffix != ".ipynb" and source.is_file() and _digest(source) == _digest(path))
        )

    found = {}
    for path in _outputs(root):
        if not ours(path, path.relative_to(root).as_posix()):
            found[path] = root / WORK / path.relative_to(root / RELEASED)
    for path in sorted((root / RELEASED).glob(f"*/**/{CHECKPOINTS}/*-checkpoint.ipynb")):
        saved = path.parent.with_name(f"{path.stem.removesuffix('-checkpoint')}.ipynb")
        if saved not in found and not ours(path, saved.relative_to(root).as_posix()):
            found[path] = root / WORK / saved.relative_to(root / RELEASED)
    return found


def take_over(root: Path) -> list[str]:
    """Move somebody's work from `exercises/` to `work/`. Returns messages for them."""
    notes, begun = [], read(root / BEGUN)
    for path, place in _strays(root).items():
        if place.exists() and not untouched(place):
            place = _free(place, "-from-exercises")
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(path, place)
        checkpoint = path.parent / CHECKPOINTS / f"{path.stem}-checkpoint.ipynb"
        if checkpoint.is_file():  # of the same work, but older
            kept = place.parent / CHECKPOINTS / f"{place.stem}-checkpoint.ipynb"
            kept.parent.mkdir(exist_ok=True)
            shutil.move(checkpoint, kept)
        was, now = path.relative_to(root).as_posix(), place.relative_to(root).as_posix()
        notes.append(f"{was} had your work in it, and is {now} now. exercises/ has the exercises as they are released.")
        begun.pop(now, None)
    if begun != read(root / BEGUN):
        _write(root / BEGUN, begun)
    if (root / HANDED_OUT).is_dir():  # then nothing else belongs there, but an older version put the exercises there
        for name, value in _record(root)["files"].items():
            if (root / name).is_file() and _digest(root / name) == value:
                (root / name).unlink()
        for folder in sorted((root / RELEASED).glob("**/*/"), reverse=True):
            if not any(folder.iterdir()):
                folder.rmdir()
        (root / RECORD).unlink(missing_ok=True)
    return notes
