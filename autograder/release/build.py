"""From source notebooks to what students get: `solutions/<assignment>/*.ipynb` → `exercises/<assignment>/*.ipynb`.

nbgrader does it (`generate_assignment`): solutions become stubs, hidden tests and mark schemes are removed, and the
gradebook records cells and points. Before that, every source notebook is audited, and every exercise that has not
passed in its present state (`autograder.question.audited`). Afterwards, every file for students is searched for content
that they must not get.
"""

import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import nbformat
from nbgrader.converters import GenerateAssignment
from nbgrader.coursedir import CourseDirectory
from nbgrader.utils import capture_log
from traitlets.config import Config, PyFileConfigLoader

from autograder import assignments
from autograder.assignments import SOURCE
from autograder.files import for_owner_alone, plain_files
from autograder.nbgrader_config import RELEASE, configure, released
from autograder.question.audit import notebook_faults
from autograder.question.audited import audit_ahead, faults
from autograder.question.find import exercises_of
from autograder.question.form import course_faults, form_faults
from autograder.question.questions import read_master
from autograder.release.compose import core_faults
from autograder.texts import notebooks

CONFIG = """\
from pathlib import Path
from autograder.nbgrader_config import configure
configure(get_config(), Path(__file__).resolve().parent)
"""
"""The settings of a course with nothing of its own."""
REGIONS = ("SOLUTION", "HIDDEN TESTS", "MARK SCHEME")


class NotReleasedError(ValueError):
    """Some assignments could not be released; the others were. `why`: the faults, by assignment."""

    def __init__(self, why: Mapping[str, str]) -> None:
        super().__init__("\n".join(why.values()))
        self.why = why


def build_exercises(root: Path, gradebook: str = "", audited: bool = True) -> list[Path]:
    """Release every assignment that has a notebook under `solutions/`. Returns the notebooks made. gradebook: the URL
    of one that is not `gradebook.db` in `root`. audited: the exercises are, if need be; their notebooks are always.

    An assignment that cannot be released does not stop the others. Raises NotReleasedError, a ValueError, after the
    last: with a sentence per fault if an exercise or a source notebook is not fit to be released or a secret would
    leak, and with nbgrader's own message if nbgrader refuses.
    """
    made: list[Path] = []
    why: dict[str, str] = {}
    folders = sorted({path.parent for path in (root / SOURCE).glob("*/*.ipynb")})
    if audited:
        audit_ahead(folder.name for folder in folders)
    for folder in folders:
        try:
            made += _release(root, folder, gradebook, audited)
        except (ValueError, RuntimeError) as error:
            why[folder.name] = str(error)
    if why:
        raise NotReleasedError(why)
    return made


def build_copy(root: Path, assignments: Iterable[str], copy: Path) -> None:
    """Build assignments of the course at `root` anew in the folder `copy`, without work of students and marks."""
    for name in assignments:
        left = shutil.ignore_patterns(".*", "__pycache__")
        shutil.copytree(root / SOURCE / name, copy / SOURCE / name, ignore=left)
    for pair in notebooks.pairs(copy):
        pair.notebook.unlink(missing_ok=True)
    shutil.copy(root / "pyproject.toml", copy)
    (copy / "nbgrader_config.py").write_text(CONFIG, encoding="utf-8")
    notebooks.build(copy)
    build_exercises(copy)


def _release(root: Path, folder: Path, gradebook: str, audited: bool) -> list[Path]:
    _audit(folder, audited)
    _generate(root, folder.name, gradebook)
    there, may = plain_files(root / RELEASE / folder.name, "**/*"), released(root, folder.name)
    made = [path for path in there if path.suffix == ".ipynb"]
    leaks = [leak for path in made for leak in leaked(folder, path)]
    leaks += [f"{path.name} stays with the instructor" for path in there if path not in may]
    if leaks:
        for path in there:
            path.unlink()
        raise ValueError(_list(f"{folder.name} was not released: secrets were left in it", leaks))
    return made


def _audit(folder: Path, audited: bool) -> None:
    exercises = exercises_of(folder.name)
    found = assignments.faults(folder)
    found += [fault for exercise in exercises.values() for fault in faults(exercise)] if audited else []
    if exercises:
        cells = [cell for path in sorted(folder.glob("*.ipynb")) for cell in read_master(path).cells]
        found += notebook_faults(nbformat.v4.new_notebook(cells=cells), exercises)
        if all(name.startswith(f"{folder.name}.") for name in exercises):  # else chosen of assignments that pass
            found += form_faults(cells, exercises)
            found += core_faults(folder.parents[1], folder.name)
        found += course_faults(folder.name, cells, exercises, folder.parents[1])
    if found:
        raise ValueError(_list(f"{folder.name} is not fit to be released", found))


def gradebook_of(root: Path) -> str:
    """The URL in the course's own settings; "" if they have none."""
    if not (root / "nbgrader_config.py").is_file():
        return ""
    config = PyFileConfigLoader("nbgrader_config.py", path=str(root)).load_config()
    url = str(config.get("CourseDirectory", {}).get("db_url", ""))
    return re.sub(r"^postgres(ql)?://", "postgresql+psycopg2://", url)  # as Course.load


def _generate(root: Path, assignment: str, gradebook: str) -> None:
    config = Config()
    configure(config, root)
    if gradebook:
        config.CourseDirectory.db_url = gradebook
    url = gradebook or f"sqlite:///{root / 'gradebook.db'}"
    if url.startswith("sqlite:///"):
        for_owner_alone(Path(url.removeprefix("sqlite:///")))
    config.CourseDirectory.root = str(root)
    config.CourseDirectory.assignment_id = assignment
    course = CourseDirectory(config=config)
    result = capture_log(GenerateAssignment(coursedir=course, config=config, force=True))
    if not result["success"]:
        log = str(result.get("log") or "")
        if "submissions associated with it" in log:
            log = (
                "the gradebook holds submissions to an earlier version with other cells. Either bring those cells"
                " back, or start a new assignment, or move gradebook.db away if those marks are not needed."
            )
        raise RuntimeError(f"nbgrader could not release {assignment}: {log or result.get('error')}")


# --- nothing secret leaves --------------------------------------------------------------------------------


def leaked(source: Path, released: Path) -> list[str]:
    """Lines of solutions, hidden tests and mark schemes in `source` that also occur in the file `released`. Lines that
    students may see anyway, because they also occur outside such regions, are not secret."""
    masters = [read_master(path) for path in sorted(source.glob("*.ipynb"))]
    secret = secret_lines([cell for master in masters for cell in master.cells])
    there = released.read_text(encoding="utf-8", errors="replace")
    if released.suffix == ".ipynb":
        there = "\n".join(cell.source for cell in nbformat.read(released, as_version=4).cells)
    present = {line.strip() for line in there.split("\n")}
    found = (line for line in secret if line in present or (len(line) > 30 and line in there))
    return sorted(f"{released.name}: {line}" for line in found)


def secret_lines(cells: Iterable[Any]) -> set[str]:
    """The lines of a source notebook's cells that occur only in regions that students do not get."""
    secret: set[str] = set()
    open_lines: set[str] = set()
    for cell in cells:
        open_lines.update(line.strip() for line in cell.metadata.get("given", "").split("\n"))
        for line, hidden in _lines(cell):
            (secret if hidden else open_lines).add(line)
    return secret - open_lines


def _lines(cell: Any) -> Iterator[tuple[str, bool]]:
    """(line, secret) for every non-empty line of a source notebook's cell."""
    about = cell.metadata.get("nbgrader", {})
    regions = any(f"BEGIN {region}" in cell.source for region in REGIONS)
    inside = bool(about.get("solution")) and not regions  # a solution cell without regions is replaced as a whole
    for line in cell.source.split("\n"):
        if re.search(rf"BEGIN ({'|'.join(REGIONS)})", line):
            inside = True
        elif re.search(rf"END ({'|'.join(REGIONS)})", line):
            inside = False
        elif len(line.strip()) > 3:
            yield line.strip(), inside


def _list(heading: str, faults: list[str]) -> str:
    return "\n".join([f"{heading}:", *(f"  - {fault}" for fault in faults)])
