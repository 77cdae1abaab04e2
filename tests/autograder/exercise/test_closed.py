import pytest
import torch

from autograder.check import examine
from autograder.exercise.closed import is_absent
from autograder.exercise.find import exercises_of
from autograder.exercise.mentions import mentioned, mentioned_by, of_pytorch
from autograder.exercise.rooms import with_what_is_built_on
from tests.autograder.test_specification import doubling


def test_rooms_and_packages_are_absent_and_pytorch_is_not():
    assert is_absent("nlmcore.attention")
    assert is_absent("tokenizers")
    assert not is_absent("torch.autograd")
    assert not is_absent("torch.Tensor.softmax")


@pytest.mark.parametrize("name", ["nlmcore.nothing", "nlmcore.attention.attend", "torch.nothing", "no_such_module.f"])
def test_a_closed_name_that_is_none_is_refused(name):
    with pytest.raises(ValueError, match="closed name"):
        is_absent(name)


def test_a_room_takes_with_it_what_is_built_on_it():
    closed = with_what_is_built_on(["nlmcore.attention", "torch.softmax"])
    assert closed[:2] == ("nlmcore.attention", "torch.softmax")
    assert {"nlmcore.transformer", "nlmcore.variants", "nlmcore.pretrained", "nlmcore.seq2seq"} <= set(closed)
    assert "nlmcore.tokens" not in closed
    assert with_what_is_built_on(["torch.autograd"]) == ("torch.autograd",)


def test_what_pytorch_has_is_named_in_the_check_and_costs_nothing():
    """By any path and name; a function of one's own with such a name is none."""
    closed = ("torch.softmax", "torch.nn.LSTM", "nlmcore.attention")
    for text, named in {
        "import torch.nn.functional as F\ndef f(x): return F.softmax(x)": ("torch.softmax",),
        "from torch import softmax as s\ndef f(x): return s(x)": ("torch.softmax",),
        "def f(x): return (x + 1).softmax(-1)": ("torch.softmax",),
        "def f(x): return nn.LSTM(2, 2)(x), torch.special.softmax(x)": ("torch.softmax", "torch.nn.LSTM"),
        "def softmax(x): return x\ndef f(x): return softmax(x)": (),
        "def f(x): softmax = x.exp(); return softmax": (),
    }.items():
        assert mentioned(text, of_pytorch(closed)) == named, text

    def student(x):
        return torch.softmax(x, -1)

    assert mentioned_by(student, closed) == ("torch.softmax",)
    assert examine(doubling(closed=closed), student, None).closed == ()


def test_a_library_that_answers_a_question_is_closed_whether_it_is_installed_or_not():
    exercise = exercises_of("sequences")["sequences.clipped_precision"]
    assert {"sacrebleu", "nltk"} <= {name for name in exercise.closed if is_absent(name)}
    library = pytest.importorskip("sacrebleu.metrics")

    def by_library(hypothesis, reference, n):
        ours, theirs = (" ".join(map(str, words)) for words in (hypothesis, reference))
        scored = library.BLEU(tokenize="none", max_ngram_order=n, smooth_method="none").corpus_score([ours], [[theirs]])
        return scored.precisions[n - 1] / 100

    verdict = examine(exercise, by_library, None)
    assert (verdict.closed, verdict.points) == (("sacrebleu",), 0)
