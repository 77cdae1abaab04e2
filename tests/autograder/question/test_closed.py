import sys
import tomllib

import pytest

from autograder import assignments
from autograder.check import examine
from autograder.question.closed import LIBRARIES, check_closed
from autograder.question.find import exercises_of
from autograder.question.rooms import with_what_is_built_on
from tests.lab import ROOT


@pytest.mark.parametrize("name", ["nlmcore.attention", "tokenizers"])
def test_rooms_and_packages_can_be_closed(name):
    check_closed(name)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("nlmcore.nothing", "is no module"),
        ("nlmcore.attention.attend", "is no module"),
        ("no_such_module.f", "is no module"),
        ("torch.softmax", "numpy=True"),
        ("torch.autograd", "numpy=True"),
    ],
)
def test_what_cannot_be_left_out_is_refused(name, words):
    with pytest.raises(ValueError, match=f"closed name .*{words}"):
        check_closed(name)


def test_a_room_takes_with_it_what_is_built_on_it():
    closed = with_what_is_built_on(["nlmcore.attention", "tokenizers"])
    assert closed[:2] == ("nlmcore.attention", "tokenizers")
    assert {"nlmcore.transformer", "nlmcore.variants", "nlmcore.pretrained", "nlmcore.seq2seq"} <= set(closed)
    assert "nlmcore.tokens" not in closed
    assert with_what_is_built_on(["tokenizers"]) == ("tokenizers",)


def test_a_library_that_answers_a_question_is_closed_whether_it_is_installed_or_not():
    exercise = exercises_of("sequences")["sequences.clipped_precision"]
    assert {"sacrebleu", "nltk"} <= {*exercise.closed}
    library = pytest.importorskip("sacrebleu.metrics")

    def by_library(hypothesis, reference, n):
        ours, theirs = (" ".join(map(str, words)) for words in (hypothesis, reference))
        scored = library.BLEU(tokenize="none", max_ngram_order=n, smooth_method="none").corpus_score([ours], [[theirs]])
        return scored.precisions[n - 1] / 100

    verdict = examine(exercise, by_library, None)
    assert (verdict.closed, verdict.points) == (("sacrebleu",), 0)


@pytest.mark.parametrize("assignment", assignments.names())
def test_what_is_closed_comes_with_the_course_or_may_be_closed_where_it_is_not(assignment):
    """It is looked up where assignments are built and graded: there, nobody has the tests' packages."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    here = {"nlmcore", "autograder", *sys.stdlib_module_names, *LIBRARIES}
    here |= {requirement.split(">")[0].split("=")[0] for requirement in project["dependencies"]}
    exercises = exercises_of(assignment).values()
    assert {name.split(".")[0] for exercise in exercises for name in exercise.closed} <= here
    closed = {tuple(sorted(exercise.closed)) for exercise in exercises if not exercise.numpy}
    assert len(closed) <= 1, "a notebook is graded without it from beginning to end"
