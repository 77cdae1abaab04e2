"""A course as nbgrader sees it: its configuration, folders, gradebook, and the masters of an assignment."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config, PyFileConfigLoader

from autograder.preflight.master import Master, from_gradebook


class NotACourse(Exception):  # noqa: N818 - said to the instructor
    """The folder, or the assignment in it, is not ready. The text says what to do."""


@dataclass(frozen=True)
class Course:
    """A folder with an `nbgrader_config.py`."""

    root: Path
    config: Any
    directory: Any
    """nbgrader's CourseDirectory."""

    @classmethod
    def load(cls, root: Path, db: str | None = None) -> "Course":
        """The course at `root`; db: another gradebook's URL. Raises NotACourse."""
        root = root.resolve()
        if not (root / "nbgrader_config.py").is_file():
            raise NotACourse(
                f"{root} has no nbgrader_config.py: run this in the course's folder, or name it (--course)"
            )
        config = Config(PyFileConfigLoader("nbgrader_config.py", path=str(root)).load_config())
        config.CourseDirectory.root = str(root)
        if db is not None:
            config.CourseDirectory.db_url = db
        return cls(root, config, CourseDirectory(config=config))

    @property
    def submitted(self) -> Path:
        return self.root / self.directory.submitted_directory

    def autograded(self, student: str, assignment: str) -> Path:
        return Path(self.directory.format_path(self.directory.autograded_directory, student, assignment))

    def submission(self, student: str, assignment: str) -> Path:
        return Path(self.directory.format_path(self.directory.submitted_directory, student, assignment))

    def students(self, assignment: str) -> list[str]:
        """Who has handed in something for an assignment, in order."""
        folders = self.submitted.glob(f"*/{assignment}") if self.submitted.is_dir() else []
        return sorted(folder.parent.name for folder in folders if folder.is_dir() and not folder.parent.is_symlink())

    @contextmanager
    def gradebook(self) -> Iterator[Any]:
        with Gradebook(self.directory.db_url, self.directory.course_id) as opened:
            yield opened

    def masters(self, assignment: str) -> list[Master]:
        """The notebooks of an assignment as the gradebook keeps them. Raises NotACourse if it knows none."""
        try:
            with self.gradebook() as gradebook:
                names = sorted(notebook.name for notebook in gradebook.find_assignment(assignment).notebooks)
                made = [from_gradebook(gradebook, assignment, n, self._order(assignment, n)) for n in names]
        except MissingEntry:
            made = []
        if not made:
            raise NotACourse(
                f"the gradebook knows no assignment {assignment!r}. Make it first: python -m autograder build"
            )
        return made

    def kernelspecs(self, assignment: str) -> dict[str, Any]:
        """The kernel that each notebook of the assignment says it wants, as nbgrader keeps it."""
        import json

        with self.gradebook() as gradebook:
            found = gradebook.find_assignment(assignment).notebooks
            return {notebook.name: json.loads(notebook.kernelspec or "null") for notebook in found}

    def _order(self, assignment: str, notebook: str) -> list[str]:
        """The grade_ids of the source notebook, in order; of the released one where there is no source."""
        for folder in (self.directory.source_directory, self.directory.release_directory):
            path = Path(self.directory.format_path(folder, ".", assignment)) / f"{notebook}.ipynb"
            if path.is_file():
                cells = nbformat.read(path, as_version=4).cells
                return [name for cell in cells if (name := cell.metadata.get("nbgrader", {}).get("grade_id"))]
        return []
