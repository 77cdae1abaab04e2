"""The same repairs for nbgrader's own commands: `nbgrader autograde` and formgrader's button.

`CourseExporter` reads a submitted notebook as `read_notebook` does, instead of nbformat, which fails at a byte order
mark and waits for ever at a pipe. `Repair` is the first of `Autograde.sanitize_preprocessors`: without it one student's
copied cell stops the grading of everybody.

By then nbgrader has copied the submission's other files, following links, so files that pre-flight would leave behind
are removed again before any code runs.
"""

import datetime
import os
from pathlib import Path
from typing import Any

from nbconvert.exporters import NotebookExporter
from nbconvert.exporters.exporter import ResourcesDict
from nbgrader.api import Gradebook
from nbgrader.converters import Autograde
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import NbGraderPreprocessor

from autograder.guard import Guard
from autograder.preflight.finding import Finding, scan
from autograder.preflight.master import from_gradebook, in_source
from autograder.preflight.names import likeness
from autograder.preflight.read import Unreadable, read_notebook
from autograder.preflight.repair import repair


def repair_first(c: Any) -> None:
    """Wire both into nbgrader's configuration object `c`: its own list, with `Repair` at the front."""
    c.Autograde.exporter_class = CourseExporter
    c.Autograde.sanitize_preprocessors = [Repair, *Autograde.sanitize_preprocessors.default()]


class CourseExporter(NotebookExporter):  # type: ignore[misc]
    """nbconvert's exporter to a notebook, which reads files that may be anything. Raises Unreadable; nbgrader then says
    so, leaves that submission ungraded, and continues."""

    def from_filename(self, filename: str, resources: Any = None, **words: Any) -> Any:
        """Like nbconvert's own; also sets the file's metadata."""
        path = Path(filename)
        with Guard() as guard:
            notebook, found = guard.ask(read_notebook, path)
        for finding in found:
            self.log.warning(finding.words)
        resources = ResourcesDict() if resources is None else resources
        changed = datetime.datetime.fromtimestamp(os.path.getmtime(path), tz=datetime.UTC)
        about = {"name": path.stem, "path": str(path.parent), "modified_date": f"{changed:%B %d, %Y}"}
        resources["metadata"] = ResourcesDict(**about)
        return self.from_notebook_node(notebook, resources=resources, **words)


class Repair(NbGraderPreprocessor):  # type: ignore[misc]
    """Restores the source notebook's cells. Raises Unreadable if the notebook does not belong to the assignment."""

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        about = resources["nbgrader"]
        directory = CourseDirectory(config=self.config)
        source = in_source(directory, about["assignment"], about["notebook"])
        with Gradebook(about["db_url"], directory.course_id) as gradebook:
            master = from_gradebook(gradebook, about["assignment"], about["notebook"], source)
        with Guard() as guard:
            if not guard.ask(likeness, nb, master):
                raise Unreadable(f"{about['notebook']}.ipynb has none of the assignment's cells")
            repaired, found = guard.ask(repair, nb, master)
        handed_in = Path(resources["metadata"]["path"])
        target = Path(directory.format_path(directory.autograded_directory, about["student"], about["assignment"]))
        found += remove_unwanted(handed_in, target)
        for finding in found:
            self.log.warning("%s/%s: %s", about["student"], about["assignment"], finding.words)
        return repaired, resources


def remove_unwanted(source: Path, target: Path) -> list[Finding]:
    """Remove from `target` the copies of everything in `source` that is not a plain file."""
    findings: list[Finding] = []
    plain = {inside for inside, _ in scan(source, findings)}
    for inside, copy in scan(target, []):
        if inside not in plain and os.path.lexists(source / inside):
            copy.unlink()
    return findings
