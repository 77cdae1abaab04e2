"""The zip with which Gradescope, or a container of your own, grades one submission at a time.

At its top are `setup.sh` and `run_autograder`, which Gradescope requires, and a `Dockerfile` for trying it; below them
the grader, this one assignment with its solutions, and a gradebook with its cells but no marks.
"""

import tempfile
from pathlib import Path

from autograder.assignments import SOURCE
from autograder.files import plain_files
from autograder.nbgrader_config import RELEASE
from autograder.release.build import CONFIG, build_copy
from autograder.release.student_zip import pack

HERE = Path(__file__).resolve().parent
SCRIPTS = ("setup.sh", "run_autograder", "Dockerfile")
WHOLE = ("pyproject.toml", "constraints.txt", "README.md", "LICENSE", "autograder/**/*", "nlmcore/**/*",
         "lectures/__init__.py", "lectures/predictions.py", "lectures/show/**/*")  # fmt: skip
LEFT = ("autograder/present/", "autograder/scaffold/")


def write_container(root: Path, assignment: str, folder: Path, secret: bytes, isolation: str) -> Path:
    """Write the zip and return its path. Raises ValueError or RuntimeError, with messages, for an assignment that does
    not exist or is not fit to be released."""
    if not (root / SOURCE / assignment).is_dir():
        there = sorted(path.name for path in (root / SOURCE).iterdir() if path.is_dir() and path.name[0] != ".")
        raise ValueError(f"there is no assignment {assignment!r}; there are: {', '.join(there)}")
    files = {name: (HERE / name).read_bytes() for name in SCRIPTS}
    files["run_autograder"] = (
        files["run_autograder"].replace(b"ASSIGNMENT", assignment.encode()).replace(b"ISOLATION", isolation.encode())
    )
    files |= {name: (root / name).read_bytes() for name in _whole(root)}
    files |= {"nbgrader_config.py": CONFIG.encode(), "grading/secret": secret.hex().encode() + b"\n"}
    files |= _released(root, assignment)
    path = folder / f"gradescope-{assignment}.zip"
    pack(files, path, top="")
    return path


def _whole(root: Path) -> list[str]:
    names = (path.relative_to(root).as_posix() for path in plain_files(root, *WHOLE))
    return [name for name in names if not name.startswith(LEFT)]


def _released(root: Path, assignment: str) -> dict[str, bytes]:
    """The assignment's solutions, release and gradebook, newly made, without any student."""
    with tempfile.TemporaryDirectory(prefix="release-") as made:
        copy = Path(made)
        build_copy(root, [assignment], copy)
        there = [
            *(copy / SOURCE / assignment).rglob("*"),
            *(copy / RELEASE / assignment).rglob("*"),
            copy / "gradebook.db",
        ]
        return {path.relative_to(copy).as_posix(): path.read_bytes() for path in there if path.is_file()}
