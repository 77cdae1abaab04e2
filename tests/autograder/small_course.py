"""A course with a gradebook, masters, records and graded notebooks, made by hand: six students, each a case."""

from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from nbgrader.api import Gradebook

from autograder.check import examine
from autograder.grading import records
from autograder.grading.course import Course
from autograder.grading.marking import _display, _public
from autograder.grading.records import Record
from autograder.grading.run import basis_of
from autograder.nbgrader_config import _scripts_on_path
from autograder.question.report import Report
from solutions.attention.checks import EXERCISES

HIDDEN = 'check("attention.dot_score", dot_score, hidden=True)'
CHECK = f'check("attention.dot_score", dot_score)\n### BEGIN HIDDEN TESTS\n{HIDDEN}\n### END HIDDEN TESTS'
SCHEME = "## 2. In words\n\nWhy? $a^2$\n\n### BEGIN MARK SCHEME\nHalf a point for luck\n### END MARK SCHEME"
STUB = "def dot_score(query, keys):\n    raise NotImplementedError()"
SEED = "Hidden inputs of attention.dot_score: NLM_HIDDEN_SEED=4711 repeats them."
RIGHT = "def dot_score(query, keys):\n    return keys @ query  # by Ada Lovelace"
WRONG = "def dot_score(query, keys):\n    '''Bob's.'''\n    return query * keys"
PENALTY = """
from nbgrader.plugins import BasePlugin
class Fifth(BasePlugin):
    def late_submission_penalty(self, student_id, score, total_seconds_late):
        return score // 5
c.AssignLatePenalties.plugin_class = Fifth
"""
CELLS = [  # id, type, source, grade, solution, locked, points
    ("dot_score", "code", STUB, False, True, False, None),
    ("check_dot_score", "code", CHECK, True, False, True, 2.0),
    ("why", "markdown", SCHEME, False, False, True, None),
    ("written", "markdown", "YOUR ANSWER", True, True, False, 4.0),
]


def small_course(root: Path) -> Course:
    """ada: right, marked by hand, with extra credit, late. bob: a misconception, waits to be marked by hand. cat: zero.
    dan: blocked. eve: the grader's fault. fay: known to the gradebook, handed in nothing. gus: not graded."""
    _scripts_on_path()
    (root / "nbgrader_config.py").write_text(f"c = get_config()\nc.CourseDirectory.course_id = 'small'\n{PENALTY}")
    with Gradebook(f"sqlite:///{root / 'gradebook.db'}", "small") as book:
        book.add_assignment("attention")
        book.add_notebook("attention", "attention")
        for name, kind, source, grade, solution, locked, points in CELLS:
            book.add_source_cell(name, "attention", "attention", cell_type=kind, source=source, locked=locked)
            if grade:
                book.add_grade_cell(name, "attention", "attention", max_score=points, cell_type=kind)
            if solution:
                book.add_solution_cell(name, "attention", "attention")
        book.add_student("fay", first_name="=cmd()", last_name="+1", email="-x@y.z")
        for student, dot, written in (("ada", 2.0, None), ("bob", 0.0, None), ("cat", 0.0, 0.0)):
            book.update_or_create_student(student, first_name=student.title())
            book.add_submission("attention", student)
            grade = book.find_grade("check_dot_score", "attention", "attention", student)
            grade.auto_score, grade.needs_manual_grade = dot, False
            grade = book.find_grade("written", "attention", "attention", student)
            grade.auto_score, grade.needs_manual_grade = written, written is None
        grade = book.find_grade("written", "attention", "attention", "ada")
        grade.manual_score, grade.needs_manual_grade, grade.extra_credit = 3.0, False, 0.5
        comment = book.find_comment("written", "attention", "attention", "ada")
        comment.manual_comment = "Clear, <b>and</b> $x^2$. <script>alert(1)</script>"
        book.update_or_create_assignment("attention", duedate="2026-01-05 12:00:00 UTC")
        book.update_or_create_submission("attention", "ada", timestamp="2026-01-05 13:00:00 UTC")
        book.db.commit()
    course = Course.load(root)
    basis = basis_of("attention", course.masters("attention"), course.files("attention"))
    for student in ("ada", "bob", "cat", "dan", "eve", "gus"):
        (root / "submitted" / student / "attention").mkdir(parents=True)
    about = {"fingerprint": f"x+{basis}"}
    refused = ["tried to open a network connection"]
    _graded(root, "ada", RIGHT, lambda query, keys: keys @ query, **about)
    _graded(root, "bob", WRONG, lambda query, keys: query * keys, incidents=refused, **about)
    _graded(root, "cat", STUB, _unwritten, isolation="none", **about)
    for student, state, words in (("dan", "blocked", "its JSON breaks off"), ("eve", "fault", "the reference fails")):
        _save(root, student, state, words, **about)
    return course


def notebook_cells(**sources: str) -> list[nbformat.NotebookNode]:
    """CELLS, some with another text."""
    made = []
    for name, kind, text, grade, solution, locked, points in CELLS:
        meta = {"grade_id": name, "grade": grade, "solution": solution, "locked": locked, "task": False}
        meta |= {"points": points, "schema_version": 3, "cell_type": kind}
        make = new_code_cell if kind == "code" else new_markdown_cell
        made.append(make(sources.get(name, text), metadata={"nbgrader": meta}))
    return made


def _unwritten(query, keys):
    raise NotImplementedError


def _graded(root, student, source, function, **about) -> None:
    verdict = examine(EXERCISES["attention.dot_score"], function, 4711)
    report = Report(verdict)
    shown = [_display(Report(_public(verdict))), _display(report)]
    if not verdict.passed:
        note = {"nlm-course": {"audience": "instructor"}}
        shown.append({"output_type": "display_data", "data": {"text/plain": SEED}, "metadata": note})
    sources = {"dot_score": source, "written": f"Because. I am {student}. <img src=x onerror=alert(1)> $\\alpha_j$"}
    cells = [new_markdown_cell("## 1. The dot product\n\n$$s = q \\cdot k$$")]
    cells += notebook_cells(**sources)
    cells[2].outputs = [nbformat.from_dict(output) for output in shown]
    cells[1].outputs = [new_output("stream", name="stdout", text="printed <b>by</b> the student")]
    folder = root / "autograded" / student / "attention"
    folder.mkdir(parents=True)
    nbformat.write(new_notebook(cells=cells), folder / "attention.ipynb")
    mark = {"cell": "check_dot_score", "exercise": "attention.dot_score", "points": verdict.points, "of": 2.0}
    findings = [{"kind": "repaired", "what": "deleted-cell", "words": "check_dot_score: missing, and restored"}]
    marks = [{**mark, "verdict": report.machine(), "stopped": ""}]
    _save(root, student, "graded", f"{verdict.points:g} of 2", marks=marks, findings=findings, **about)


def _save(root, student, state, words, **about) -> None:
    about = {"isolation": "bubblewrap", "seconds": 0.5, **about}
    made = Record(student=student, assignment="attention", state=state, words=words, **about)
    records.save(root, made)
