"""A course as nbgrader sees it: its configuration, folders, gradebook, and the source notebooks of an assignment."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nbgrader.converters import Autograde
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config, PyFileConfigLoader

from autograder.assignments import handed_out
from autograder.grading.database import opened
from autograder.preflight.archive import is_archive
from autograder.preflight.finding import shown
from autograder.preflight.master import Master, from_gradebook, in_source


class NotACourse(Exception):  # noqa: N818 - said to the instructor
    """The folder, or the assignment in it, is not ready. The text says what to do."""


def unknown(assignment: str, there: Iterable[str]) -> NotACourse:
    known = ", ".join(sorted(there)) or "none yet"
    return NotACourse(
        f"the gradebook knows no assignment {assignment!r}; it knows {known}."
        " Make it first: python3 -m autograder build"
    )


@dataclass(frozen=True)
class Course:
    """A folder with an `nbgrader_config.py`."""

    root: Path
    config: Any
    directory: Any  # nbgrader's CourseDirectory

    @classmethod
    def load(cls, root: Path, db: str | None = None) -> "Course":
        """The course at `root`; db: the URL of a different gradebook. Raises NotACourse."""
        root = root.resolve()
        if not (root / "nbgrader_config.py").is_file():
            raise NotACourse(
                f"{root} has no nbgrader_config.py: run this in the course's folder, or name it (--course)"
            )
        config = Config(PyFileConfigLoader("nbgrader_config.py", path=str(root)).load_config())
        config.CourseDirectory.root = str(root)
        url = str(db or config.CourseDirectory.get("db_url", ""))
        if url:  # SQLAlchemy takes another driver by default from one version to the next
            config.CourseDirectory.db_url = re.sub(r"^postgres(ql)?://", "postgresql+psycopg2://", url)
        return cls(root, config, CourseDirectory(config=config))

    @property
    def submitted(self) -> Path:
        return self.root / self.directory.submitted_directory

    def autograded(self, student: str, assignment: str) -> Path:
        return Path(self.directory.format_path(self.directory.autograded_directory, student, assignment))

    def submission(self, student: str, assignment: str) -> Path:
        return Path(self.directory.format_path(self.directory.submitted_directory, student, assignment))

    def students(self, assignment: str) -> list[str]:
        """The students who have handed in something for an assignment, as a folder or an archive, in order. Raises
        ValueError for a folder's name that no gradebook can hold."""
        there = self.submitted.iterdir() if self.submitted.is_dir() else iter(())
        homes = (home for home in there if home.is_dir() and not home.name.startswith("."))
        found = sorted(
            home.name
            for home in homes
            if (home / assignment).is_dir() or any(is_archive(path.name) for path in home.glob(f"{assignment}.*"))
        )
        for name in found:
            if name != name.encode("utf-8", "replace").decode("utf-8"):
                raise ValueError(
                    f"the folder {shown(name)} of {self.submitted} has a name that is not UTF-8, which no gradebook can"
                    " hold: rename it"
                )
        return found

    def chosen(self, assignment: str, students: Sequence[str] | None = None) -> list[str]:
        """Those of `students` (by default all) who have handed in something. Raises ValueError for one who has not."""
        there = self.students(assignment)
        unknown = sorted(set(students or ()) - set(there))
        if unknown:
            raise ValueError(f"nothing was handed in for {assignment} by {', '.join(unknown)}")
        return [student for student in there if students is None or student in students]

    def files(self, assignment: str) -> dict[str, bytes]:
        """The files that the instructor has put next to the source notebooks; nbgrader copies them over the
        submission's own files."""
        return master_files(self.config, assignment)

    @contextmanager
    def gradebook(self) -> Iterator[Any]:
        """nbgrader's, open; raises GradebookFault."""
        with opened(self.directory.db_url, self.directory.course_id) as gradebook:
            yield gradebook

    def masters(self, assignment: str) -> list[Master]:
        with self.gradebook() as gradebook:
            about = {each.name: each for each in gradebook.assignments}
            names = sorted(notebook.name for notebook in about[assignment].notebooks) if assignment in about else []
            if not names:
                raise unknown(assignment, about)
            return [
                from_gradebook(gradebook, assignment, name, in_source(self.directory, assignment, name))
                for name in names
            ]

    def kernelspecs(self, assignment: str) -> dict[str, Any]:
        with self.gradebook() as gradebook:
            found = gradebook.find_assignment(assignment).notebooks
            return {notebook.name: json.loads(notebook.kernelspec or "null") for notebook in found}


def master_files(config: Any, assignment: str) -> dict[str, bytes]:
    """The files of an assignment's source folder that nbgrader copies over a submission: those that students get."""
    directory, autograde = CourseDirectory(config=config), Autograde(config=config)
    folder = Path(directory.format_path(directory.source_directory, ".", assignment))
    found = {path.relative_to(folder).as_posix(): path.read_bytes() for path in handed_out(folder)}
    left = autograde.exclude_overwriting.get(assignment, [])
    return {name: content for name, content in found.items() if name not in left}
