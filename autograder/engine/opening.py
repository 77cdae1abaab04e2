"""nbgrader's first step in making a release: expands the questions of a source notebook
(`autograder.exercise.questions`)."""

from typing import Any

from nbgrader.preprocessors import NbGraderPreprocessor

from autograder.exercise.questions import opened


class OpenQuestions(NbGraderPreprocessor):  # type: ignore[misc]
    """A question's one line becomes its figures, its cells' metadata and its test cell."""

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        return opened(nb), resources
