"""The seam to nbgrader: what GenerateFeedback writes with. Its command, formgrader's button and ours give one page."""

from pathlib import Path
from typing import Any

from nbconvert.exporters import Exporter
from nbgrader.api import Gradebook
from traitlets import default

from autograder.feedback.facts import facts
from autograder.feedback.page import feedback_page


class FeedbackExporter(Exporter):  # type: ignore[misc]
    """`GenerateFeedback.exporter_class`. The preprocessors run before, `HideFromStudents` among them."""

    output_mimetype = "text/html"

    @default("file_extension")
    def _html(self) -> str:
        return ".html"

    def from_notebook_node(self, nb: Any, resources: Any = None, **kw: Any) -> tuple[Any, Any]:
        nb, resources = super().from_notebook_node(nb, resources, **kw)
        about = resources["nbgrader"]
        converter: Any = self.parent
        course = converter.coursedir
        with Gradebook(about["db_url"], course.course_id) as gradebook:
            known = facts(gradebook, Path(course.root), about["assignment"], about["notebook"], about["student"])
        return feedback_page(nb.cells, known), resources
