import pytest
import torch

from autograder.check import examine
from autograder.checks.backpropagation import EXERCISES
from autograder.exercise.closed import is_absent, listening
from autograder.exercise.find import exercises_of
from autograder.exercise.rooms import with_what_is_built_on


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


def test_nothing_is_changed_by_listening_to_nothing():
    with listening((), print) as heard:
        pass
    assert heard.used == ()


def test_layers_that_hold_weights_are_no_differentiation_in_a_check():
    """Gradients that a notebook has switched off are on in a check, but not where they are closed."""
    exercise = EXERCISES["backpropagation.linear_backward"]

    def with_layers(*given):
        torch.nn.Linear(2, 3)(torch.ones(1, 2)).tanh()
        return exercise.reference(*given)

    def by_autograd(*given):
        torch.func.jacfwd(torch.tanh)(given[0])
        return exercise.reference(*given)

    assert examine(exercise, with_layers, None).passed
    assert examine(exercise, by_autograd, None).closed == ("torch.autograd",)


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


def test_a_function_of_the_same_wrapper_is_not_closed():
    """PyTorch makes `adaptive_max_pool1d` and `unique` by one wrapper, so they share their code."""
    x = torch.tensor([[1.0, 2.0, 1.0]])
    pool = torch.nn.functional.adaptive_max_pool1d
    for function, used in ((torch.unique, ()), (lambda x: pool(x, 1), ("torch.nn.functional.adaptive_max_pool1d",))):
        with listening(("torch.nn.functional.adaptive_max_pool1d",), function) as heard, heard.attentive():
            try:
                function(x)
            except ImportError:
                assert used
        assert heard.used == used
