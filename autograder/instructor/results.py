"""One graded submission as Gradescope reads it: `results.json`.

A test for every question. Questions marked by hand have no score there; Gradescope's own manual grading gives it. It
contains nothing that is not on the student's feedback page: no hidden test, no hidden input, no mark scheme.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from autograder.feedback.hide import HideFromStudents
from autograder.feedback.one_question import Question, questions_of
from autograder.grading.single import Single
from autograder.question.report import MACHINE

MOST = 20_000  # characters of one output
UNREAD = "What was found is left out, as the notebook could not be read. The points are not touched by it."
TEXT = {"name_format": "text", "output_format": "text", "visibility": "visible"}


def results(single: Single, told: bool = True) -> dict[str, Any]:
    """Raises ValueError for a fault of the grader, which is not a result. told: include the findings, for which the
    notebook has to be read; otherwise only points."""
    record = single.record
    if record.state == "fault":
        raise ValueError(record.words)
    tests = list(_tests(single, told))
    said = [finding["words"] for finding in record.findings]
    if record.state == "blocked":
        said.insert(0, "Not graded as it was handed in. Repair it, and hand it in again:")
    if record.isolation == "none":
        said.append("It was run without isolation.")
    return {
        "score": sum(test.get("score", 0.0) for test in tests),
        "output": _clean("\n".join(said)),
        "output_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "execution_time": round(record.seconds),
        "tests": tests,
        "extra_data": {"assignment": record.assignment, "state": record.state, "isolation": record.isolation},
    }


def automatic_maximum(single: Single) -> float:
    """The most points that the autograder can give: the autograder's points of the assignment in Gradescope."""
    cells = (cell for master in single.masters for cell in master.cells)
    return sum(float(cell.points or 0.0) for cell in cells if cell.grade and not cell.solution)


def _tests(single: Single, told: bool) -> Iterator[dict[str, Any]]:
    for master in single.masters:
        notebook = single.notebooks.get(master.name)
        if notebook is None:
            for cell in master.cells:
                if cell.grade and not cell.solution:
                    yield _test(cell.id, 0.0, float(cell.points or 0.0), "Not graded: see above.")
            continue
        scores = single.record.scores[master.name]
        shown = HideFromStudents().preprocess(notebook, {})[0] if told else notebook
        for question in questions_of(shown.cells):
            about: Mapping[str, Any] = question.cell.metadata["nbgrader"]
            of, score = float(about.get("points", 0.0)), scores.get(question.name)
            if about.get("task") or about.get("solution"):
                words = f"This is marked by hand, out of {of:g}." if score is None else "Not answered."
                yield {"name": _clean(question.title), "output": words, **TEXT}
            else:
                yield _test(question.title, score or 0.0, of, _output(question) if told else UNREAD)


def _test(name: str, score: float, of: float, output: str) -> dict[str, Any]:
    status = "passed" if score >= of else "failed"
    return {"name": _clean(name), "score": score, "max_score": of, "status": status, "output": _clean(output), **TEXT}


def _output(question: Question) -> str:
    """The text that the student may read: the grader's reports, and errors by their kind."""
    said = []
    for output in question.cell.get("outputs", []):
        data = output.get("data", {})
        if MACHINE in data:
            said.append(str(data["text/plain"]))
        elif output.output_type == "error":
            said += [str(line) for line in output.traceback]
        elif output.output_type == "stream" and (question.public or question.hidden):
            said.append(str(output.text))
    return "\n\n".join(part.strip() for part in said if part.strip())


def _clean(text: str) -> str:
    """Without control characters, and of reasonable length."""
    kept = "".join(c if c.isprintable() or c == "\n" else "\N{REPLACEMENT CHARACTER}" for c in text)
    return kept if len(kept) <= MOST else f"{kept[:MOST]}\n…"
