"""The students' notebooks: in `exercises/` as they are released, kept in git, and in `work/` each student's own copy.

`build` makes `exercises/` from `solutions/` (by `autograder.release`, with nbgrader) if something that it reads has
changed, and keeps what somebody has written there all the same. `hand_out` puts copies into `work/` and never writes
over somebody's work. Standard library only at import.
"""

import hashlib
import importlib
import importlib.util
import shutil
from itertools import count
from pathlib import Path

from autograder.files import WORK, plain_files, write_json
from autograder.seal import SEAL, about, read, same_release, untouched
from autograder.texts import notebooks
from autograder.texts.text import BUILT_FROM, digest

RELEASED = "exercises"
RECORD = f"{RELEASED}/.built.json"  # what was built here last: a digest of everything read, and one of every file
BEGUN = f"{WORK}/.begun.json"  # of which release each file of `work/` is, or which one its student has been told of
HANDED_OUT = "autograder/question/public/exercises"
"""In a student's copy: the exercises as they are released."""
CODE = (
    "autograder/*.py",
    "autograder/grading/stubs.py",
    "autograder/question/*.py",
    "autograder/texts/text.py",
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


def _texts(root: Path) -> dict[str, Path]:
    return {pair.text.parent.name: pair.text for pair in notebooks.pairs(root) if pair.text.parts[-3] == "solutions"}


def available(root: Path) -> bool:
    """Whether there are masters here, and what makes exercises of them. A student's copy has neither."""
    return any((root / "solutions").glob("*/*.py")) and importlib.util.find_spec("autograder.release") is not None


def current(root: Path, audited: bool = False, recorded: bool = False) -> bool:
    """Whether `exercises/` need not be built. `audited`: and the questions have been audited as they are. `recorded`:
    and it was built here, so that the gradebook has its cells. A fresh clone has not built anything; there, each
    exercise says from which text it comes."""
    if not available(root):
        return True
    record = read(root / RECORD)
    inputs, files = record.get("inputs"), record.get("files", {})
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
    if current(root, audited, recorded):
        return 0, []
    notes = _kept(root)
    before, inputs = {path: _digest(path) for path in _outputs(root)}, fingerprint(root)
    release = importlib.import_module("autograder.release.build")  # nbgrader is imported here, not before
    release.build_exercises(root, release.gradebook_of(root), audited)
    released = {path: _digest(path) for path in _outputs(root)}
    if left := _texts(root).keys() - {path.parent.name for path in released if path.suffix == ".ipynb"}:
        raise RuntimeError(f"Not released, because no notebook was built from its text: {', '.join(sorted(left))}.")
    files = {path.relative_to(root).as_posix(): value for path, value in released.items()}
    write_json(root / RECORD, {"inputs": {"digest": inputs, "audited": audited}, "files": files})
    return sum(path.suffix == ".ipynb" and before.get(path) != value for path, value in released.items()), notes


def _kept(root: Path) -> list[str]:
    """Copy what somebody has written in `exercises/`, which is made anew, to `kept/`. Returns messages for them."""
    files, notes = read(root / RECORD).get("files", {}), []
    for path in _outputs(root):
        name, source = path.relative_to(root).as_posix(), root / "solutions" / path.relative_to(root / RELEASED)
        ours = files.get(name) == _digest(path) or (source.is_file() and _digest(source) == _digest(path))
        if not (ours or untouched(path)):
            kept = notebooks.keep(path, root).relative_to(root).as_posix()
            notes.append(f"{name} was changed, and is kept as {kept}: exercises/ is made anew. Work in {WORK}/ stays.")
    return notes


# --- `work/`, a student's own -----------------------------------------------------------------------------


def hand_out(root: Path) -> tuple[int, list[str]]:
    """Put into `work/` what is missing there, and what has a new version and has not been worked in. Beside what has
    been worked in, the new version is placed. Returns the number of new notebooks, and messages for the student."""
    notes, new, begun = [], 0, read(root / BEGUN)
    folder = root / HANDED_OUT if (root / HANDED_OUT).is_dir() else root / RELEASED
    for released in plain_files(folder, "*/**/*"):
        place = root / WORK / released.relative_to(folder)
        name, value = place.relative_to(root).as_posix(), _digest(released)
        if place.exists() and (begun.get(name) == value or same_release(place, released)):
            begun[name] = value
            continue
        if place.exists() and not (_digest(place) in (begun.get(name), value) or untouched(place)):
            beside = _beside(place)
            notes.append(_changed(place, released, beside, root))
            place = beside
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(released, place)  # as of now: an archive's files are all of one day long ago
        new += place.suffix == ".ipynb"
        begun[name] = value
    if begun != read(root / BEGUN):
        write_json(root / BEGUN, begun)
    return new, notes


def _beside(path: Path) -> Path:
    """A name for a new version beside somebody's work that is not taken by work, either."""
    names = (path.with_name(f"{path.stem}-new{f'-{n}' if n > 1 else ''}{path.suffix}") for n in count(1))
    return next(found for found in names if not found.exists() or untouched(found))


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
