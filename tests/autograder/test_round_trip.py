"""The whole way, by nbgrader's own commands and in a real gradebook: build, release, submit, grade, tell, export."""

import csv
import html
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook

from autograder.nbgrader_config import RELEASE
from autograder.release.build import build_exercises
from solutions.attention.checks import EXERCISES
from tests.autograder.courses import by_hand, course
from tests.autograder.synthetic import answers, mistaken

pytestmark = [
    pytest.mark.slow,
    pytest.mark.everything,
    pytest.mark.in_order,  # marks given by hand stay
    pytest.mark.filterwarnings("ignore"),
]

BAD_HEADS = """
def multi_head_attention(x, W_q, W_k, W_v, W_o, n_heads, mask=None):
    batch, time, _ = x.shape
    def cut(y):
        return y.reshape(batch, time, n_heads, -1).transpose(0, 2, 1, 3)
    q, k, v = cut(x @ W_q), cut(x @ W_k), cut(x @ W_v)
    scores = q @ np.swapaxes(k, -1, -2) / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, -math.inf)
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = np.nan_to_num(e / e.sum(axis=-1, keepdims=True))
    return (weights @ v).reshape(batch, time, -1) @ W_o, weights   # heads and time not exchanged
"""
UNSCALED = """
def scaled_dot_product_attention(q, k, v, mask=None):
    e = np.exp(q @ np.swapaxes(k, -1, -2))
    weights = e / e.sum(axis=-1, keepdims=True)
    return weights @ v, weights
"""
BUGGY = {  # what is written, the mark, the mistake that must be named; none calls another, which is wrong too
    "dot_score": ("def dot_score(query, keys):\n    return keys @ query", 2, None),
    "bilinear_score": (mistaken("bilinear_score", "w-transposed"), 0.2, "w-transposed"),
    "additive_score": (mistaken("additive_score", "tanh-forgotten"), 0.25, "tanh-forgotten"),
    "attend": (mistaken("attend", "mask-after-softmax"), 4.5, "mask-after-softmax"),
    "scaled_dot_product_attention": (UNSCALED, 0.75, "not-scaled"),
    "decoder_mask": ("def decoder_mask(lengths, time):\n    return undefined_name", 0, None),
    "multi_head_attention": (BAD_HEADS, 5, "joined-without-transpose"),
}
POINTS = sum(exercise.points for exercise in EXERCISES.values())
WRITTEN = by_hand("attention")
ANSWER = "Because one vector is small. Attention looks at all words, which costs n times m."


def nbgrader(root: Path, *command: str) -> str:
    """Run one of nbgrader's commands as an instructor would; fails with its words."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "JUPYTER_PLATFORM_DIRS": "1"}
    line = [sys.executable, "-m", "nbgrader", *command]
    done = subprocess.run(line, cwd=root, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, f"{' '.join(command)}:\n{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr


def submit(root: Path, student: str, exchange: Path, change) -> None:
    """Take the released notebook from the exchange, change it, and lay it where nbgrader collects."""
    notebook = nbformat.read(exchange / "neural-language-models/outbound/attention/attention.ipynb", as_version=4)
    cells = {cell.metadata.get("nbgrader", {}).get("grade_id"): cell for cell in notebook.cells}
    change(notebook, cells)
    folder = root / "submitted" / student / "attention"
    folder.mkdir(parents=True)
    nbformat.write(notebook, folder / "attention.ipynb")
    (folder / "timestamp.txt").write_text("2025-11-21 12:00:00 UTC")


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    root, exchange = course(tmp_path_factory.mktemp("course"), "attention"), tmp_path_factory.mktemp("exchange")
    build_exercises(root, audited=False)
    exchange.chmod(0o777)
    nbgrader(root, "release_assignment", "attention", f"--Exchange.root={exchange}")

    def perfect(notebook, cells):
        for name, source in answers(root).items():
            cells[name].source = source
        cells["dot_score"].source += "\nimport sys; print('working', file=sys.stderr)"
        cells["check_dot_score"].source = "check = print  # an edited test cell is put back"

    def buggy(notebook, cells):
        for name, (source, _, _) in BUGGY.items():
            cells[name].source = source
        cells["written"].source = ANSWER

    def empty(notebook, cells):
        notebook.cells.remove(cells["check_attend"])  # a deleted test cell is put back too

    submit(root, "ada", exchange, perfect)
    submit(root, "bob", exchange, buggy)
    submit(root, "eve", exchange, empty)
    log = nbgrader(root, "autograde", "attention")
    return root, log


def marks(root: Path, student: str) -> dict[str, tuple[float | None, float | None, bool]]:
    """cell -> (automatic mark, manual mark, waits to be marked by hand)."""
    with Gradebook(f"sqlite:///{root / 'gradebook.db'}") as book:
        notebook = book.find_submission_notebook("attention", "attention", student)
        return {g.cell.name: (g.auto_score, g.manual_score, g.needs_manual_grade) for g in notebook.grades}


def test_every_cell_has_exactly_the_mark_that_it_deserves(graded):
    root, _ = graded
    full = {f"check_{e.function}": (e.points, None, False) for e in EXERCISES.values()}
    assert marks(root, "ada") == {**full, "written": (None, None, True)}
    nothing = {name: (0, None, False) for name in full}
    assert marks(root, "bob") == {
        **nothing,
        **{f"check_{name}": (mark, None, False) for name, (_, mark, _) in BUGGY.items()},
        "written": (None, None, True),
    }
    assert marks(root, "eve") == {**nothing, "written": (0, None, False)}


def test_the_mistakes_travel_with_the_notebook_for_a_table_over_the_class(graded):
    root, _ = graded
    notebook = nbformat.read(root / "autograded/bob/attention/attention.ipynb", as_version=4)
    found = {}
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            verdict = output.get("data", {}).get("application/vnd.nlm-course.verdict+json")
            if verdict and verdict["hidden"]:
                found[verdict["exercise"].partition(".")[2]] = verdict["misconceptions"]
    named = {name: [named] if named else [] for name, (_, _, named) in BUGGY.items()}
    assert found == {e.function: [] for e in EXERCISES.values()} | named


def test_the_instructor_sees_the_seed_and_the_mark_scheme(graded):
    root, _ = graded
    text = (root / "autograded/bob/attention/attention.ipynb").read_text(encoding="utf-8")
    assert "NLM_HIDDEN_SEED=" in text
    assert "BEGIN MARK SCHEME" in text
    assert "NLM_HIDDEN_SEED=" not in (root / "autograded/ada/attention/attention.ipynb").read_text(encoding="utf-8")


def test_marks_by_hand_feedback_and_export(graded):
    root, _ = graded
    with Gradebook(f"sqlite:///{root / 'gradebook.db'}") as book:
        for student, mark, words in (("ada", WRITTEN, "Clear."), ("bob", 1.5, "What is bought with the cost?")):
            grade = book.find_grade("written", "attention", "attention", student)
            grade.manual_score, grade.needs_manual_grade = mark, False
            book.find_comment("written", "attention", "attention", student).manual_comment = words
        book.db.commit()

    nbgrader(root, "generate_feedback", "attention")
    pages = {
        s: (root / f"feedback/{s}/attention/attention.html").read_text(encoding="utf-8") for s in ("ada", "bob", "eve")
    }
    for name, (_, _, named) in BUGGY.items():
        mistakes = {m.id: m.sentence for m in EXERCISES[f"attention.{name}"].misconceptions}
        if named is not None:
            sentence = html.escape(mistakes[named])
            assert sentence in pages["bob"]
            assert sentence not in pages["ada"]
    assert "NameError" in pages["bob"]
    assert "What is bought with the cost?" in pages["bob"]
    assert "not written yet" in pages["eve"]
    secrets = ("HIDDEN TESTS", "hidden=True", "MARK SCHEME", "Half a point", "NLM_HIDDEN_SEED", "BEGIN SOLUTION")
    assert [secret for page in pages.values() for secret in secrets if secret in page] == []

    nbgrader(root, "export")
    with (root / "grades.csv").open(encoding="utf-8") as file:
        rows = {row["student_id"]: row for row in csv.DictReader(file)}
    expected = {"ada": POINTS + WRITTEN, "bob": sum(mark for _, mark, _ in BUGGY.values()) + 1.5, "eve": 0.0}
    assert {student: float(row["score"]) for student, row in rows.items()} == pytest.approx(expected)
    assert {float(row["max_score"]) for row in rows.values()} == {POINTS + WRITTEN}


def test_grading_again_gives_the_same_marks_and_keeps_those_by_hand(graded):
    root, _ = graded
    before = marks(root, "bob")
    nbgrader(root, "autograde", "attention", "--student=bob", "--force")
    after = marks(root, "bob")
    assert {name: mark[:2] for name, mark in after.items()} == {name: mark[:2] for name, mark in before.items()}
    with Gradebook(f"sqlite:///{root / 'gradebook.db'}") as book:
        assert book.find_submission("attention", "bob").max_score == POINTS + WRITTEN


def test_a_student_can_validate_what_was_released(graded):
    root, _ = graded
    own = root / "own"
    shutil.copytree(root / RELEASE / "attention", own)
    said = nbgrader(root, "validate", str(own / "attention.ipynb"))
    assert "dot_score: not written yet" in said
    json.loads((own / "attention.ipynb").read_text(encoding="utf-8"))
