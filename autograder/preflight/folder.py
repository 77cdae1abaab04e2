"""A student's folder: its contents, which file is the notebook, and which other files are used.

Only plain files are used; links, devices and folders named like modules are left behind. Python files are left behind
as well: an assignment is its notebook, and `torch.py` next to it would be imported instead of torch.
"""

import glob
import shutil
import sys
import weakref
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from autograder import temporary
from autograder.guard import Guard, NotRead, why
from autograder.preflight.archive import OTHERS, Left, Most, is_archive, unpack
from autograder.preflight.choose import choose, is_notebook
from autograder.preflight.finding import Finding, Prepared, left_behind, scan, shown
from autograder.preflight.master import Master

DATA = {".txt", ".csv", ".tsv", ".json", ".md", ".png", ".jpg", ".jpeg", ".gif", ".svg", ".npy", ".npz", ".safetensors"}
MOST_FILES, MOST_BYTES, MOST_OF_ALL = 200, 10 * 2**20, 30 * 2**20
MOST_FINDINGS = 60
QUIET = {"timestamp.txt", "marked_late.txt", "submission_secret.txt", "feedback.html"}  # left behind without a word
QUIET |= {".DS_Store", "Thumbs.db", "desktop.ini"}
MODULES = {"nlmcore", "lectures", "autograder", "torch", "numpy", "IPython", "nbgrader"}
MODULES |= {"sitecustomize", "usercustomize"}


def prepare(folder: Path, masters: Sequence[Master], scratch: Path | None = None) -> Prepared:
    """Check everything in a student's folder for one assignment. Runs nothing, follows nothing, changes nothing.

    scratch: an empty folder of the caller's, into which archives are unpacked; `files` may point into it. Without one,
    a temporary folder is made, which is deleted with the result.

    Never raises because of a student's files: anything that cannot be checked is a finding, and the submission is
    blocked.
    """
    made = Prepared()
    try:
        _prepare(folder, masters, scratch, made)
    except (RecursionError, MemoryError) as error:
        made.findings.append(not_read(why(error)))
    except Exception as error:
        about = shown(f"{type(error).__name__}: {error}", 200)
        words = f"The submission could not be looked at ({about}). It was not graded; please report this."
        made.findings.append(Finding("blocked", "fault", words))
    more = len(made.findings) - MOST_FINDINGS
    if more > 0:
        made.findings.sort(key=lambda finding: finding.kind == "ignored")  # what was left behind is cut first
        made.findings[MOST_FINDINGS:] = [Finding("ignored", "more", f"And {more} more of this kind.")]
    return made


def prepare_guarded(guard: Guard, folder: Path, masters: Sequence[Master]) -> Prepared:
    """`prepare` in a separate process; archives are unpacked into a temporary folder, which is deleted with the
    result."""
    scratch = temporary.folder("preflight")
    try:
        made = guard.ask(prepare, folder, masters, scratch)
    except NotRead as reason:
        made = Prepared(findings=[not_read(str(reason))])
    weakref.finalize(made, shutil.rmtree, scratch, ignore_errors=True)
    return made


def not_read(clause: str) -> Finding:
    return Finding("blocked", "unreadable", f"What was handed in could not be read: {clause}. It was not graded.")


def _prepare(folder: Path, masters: Sequence[Master], scratch: Path | None, made: Prepared) -> None:
    if folder.is_symlink() or folder.parent.is_symlink():
        words = "The submission's folder is a link to another place. It was not followed, and nothing was graded."
        made.findings.append(Finding("blocked", "linked-folder", words))
        return
    there = scan(folder, made.findings) if folder.is_dir() else []
    archives = [path for _, path in there if is_archive(path.name)]
    if not folder.exists():  # handed in as attention.zip, in the place of a folder
        beside = sorted(folder.parent.glob(f"{glob.escape(folder.name)}.*"))
        archives = [path for path in beside if is_archive(path.name) and path.is_file()]
    left = Left(Most())
    for number, archive in enumerate(archives):
        if scratch is None:
            scratch = temporary.folder("preflight")
            weakref.finalize(made, shutil.rmtree, scratch, ignore_errors=True)
        inside = scratch / str(number)
        inside.mkdir()
        if archive.is_symlink():
            made.findings.append(left_behind(archive.name, "it is a link"))
            continue
        made.findings += unpack(archive, inside, left=left)
        there += scan(inside, made.findings)
    rest = [(inside, path) for inside, path in there if not is_notebook(path.name) and path not in archives]
    notebooks = [(path, inside) for inside, path in there if is_notebook(path.name)]
    chosen = choose(notebooks, masters, made, [path for _, path in rest])
    _take(rest, chosen.parent if chosen else folder, made)


def _take(files: Sequence[tuple[str, Path]], base: Path, made: Prepared) -> None:
    """The data files, by their path relative to the notebook's folder if they are below it."""
    size, taken = 0, set[str]()
    for inside, path in sorted(files, key=lambda one: not one[1].is_relative_to(base)):
        if path.name in QUIET or path.name.startswith("._"):
            continue
        name = path.relative_to(base).as_posix() if path.is_relative_to(base) else inside
        about = path.stat().st_size
        if reason := _unwanted(name, path):
            pass
        elif about > MOST_BYTES:
            reason = f"it has more than {MOST_BYTES // 2**20} MB"
        elif len(made.files) >= MOST_FILES or size + about > MOST_OF_ALL:
            reason = f"at most {MOST_FILES} files and {MOST_OF_ALL // 2**20} MB are taken"
        elif name.casefold() in taken:
            reason = "another file has the same name, but for small and capital letters"
        elif not _opens(path):
            reason = "it cannot be read"
        if reason:
            what = "shadowing-file" if reason.startswith("it would") else "extra-file"
            made.findings.append(left_behind(inside, reason, what))
            continue
        size += about
        taken.add(name.casefold())
        made.files[name] = path


def _opens(path: Path) -> bool:
    try:
        with open(path, "rb"):
            return True
    except OSError:
        return False


def _unwanted(name: str, path: Path) -> str:
    place = PurePosixPath(name)
    module = place.parts[0] if len(place.parts) > 1 else place.name.partition(".")[0]
    code = path.suffix.lower() in (".py", ".pyc", ".pyd", ".so", ".pth")
    if module in MODULES or (code and module in sys.stdlib_module_names):
        return f"it would be imported instead of {module}"
    if any(part.startswith(".") for part in place.parts):
        return "it is hidden"
    if not name.isprintable():
        return "its name contains characters that names must not"
    if path.name.lower().endswith(OTHERS):
        return "only zip and tar archives are unpacked; hand it in as a zip"
    if is_archive(path.name):
        return "an archive inside an archive is not unpacked"
    if path.suffix.lower() not in DATA:
        return "only the notebook and data files are taken"
    return ""


# --- in words ---------------------------------------------------------------------------------------------

_HEADS = {"blocked": "NOT GRADABLE", "repaired": "repaired", "note": "note", "ignored": "left behind"}
"""The kinds of findings, in the order in which they are reported."""


def report(prepared: Prepared) -> str:
    """One line per finding, grouped by kind; "nothing to say" if there is no finding."""
    width = max(map(len, _HEADS.values()))
    found = sorted(prepared.findings, key=lambda finding: list(_HEADS).index(finding.kind))
    return "\n".join(f"{_HEADS[each.kind]:<{width}}  {each.words}" for each in found) or "nothing to say"


def check_folder(course: Any, assignment: str, students: Sequence[str] | None = None) -> list[tuple[str, Prepared]]:
    """(student, findings) for everybody, or for these students; one who has handed in nothing is blocked. course:
    `autograder.grading.course.Course`, or anything with its `masters`, `students` and `submission`."""
    masters = course.masters(assignment)
    chosen = course.students(assignment) if students is None else students
    with Guard() as guard:
        return [(each, prepare_guarded(guard, course.submission(each, assignment), masters)) for each in chosen]
