import sys
import warnings
from fractions import Fraction

import numpy as np
import pytest
import torch

from autograder.question.outcome import COUNTED, GENERATOR, call, undisturbed

X = torch.tensor([1.0, 2.0])


def outcome(function, arguments=(X,), returns=("y",)):
    return call(function, arguments, ("x", "z"), returns)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x,
        lambda x: x.numpy(),
        lambda x: x.tolist(),
        lambda x: [x[0], x[1]],
        lambda x: (x,),
        lambda x: tuple(x.tolist()),
        lambda x: x.clone().requires_grad_(),
        lambda x: torch.stack([x, x], -1)[:, 0],
    ],
)
def test_anything_that_holds_the_numbers_is_a_result(function):
    result = outcome(function)
    assert result.fault is None
    assert torch.equal(result.outputs[0], X)
    assert not result.outputs[0].requires_grad


def test_a_dictionary_becomes_one_row_with_its_keys_in_alphabetical_order():
    inner = {"v": np.array([[3, 4]]), "t": 2}
    result = outcome(lambda x: ({"b": [5.0], "a": inner, "none": {}}, 1), returns=("y", "z"))
    assert result.outputs[0].tolist() == [2, 3, 4, 5]
    assert "y['a'] must be a tensor" in outcome(lambda x: ({"a": "text"}, 1), returns=("y", "z")).fault.words


def test_the_arguments_are_copies_with_the_same_strides_and_changes_are_seen():
    wide = torch.arange(12.0).reshape(3, 4)[:, ::2]

    def strides(x):
        assert not x.is_contiguous()
        x[0, 0] = 100.0
        return x

    result = outcome(strides, (wide,))
    assert wide[0, 0] == 0
    assert result.changed == ("x",)
    assert outcome(lambda x: x + 1, (wide,)).changed == ()


def test_a_change_of_a_tensor_that_holds_infinity_and_nan_is_seen_too():
    x = torch.tensor([float("inf"), float("nan"), 1.0])
    assert outcome(lambda x: x, (x,)).changed == ()
    assert outcome(lambda x: x.mul_(2), (x,)).changed == ("x",)


def test_the_global_generator_is_noted_if_it_moves():
    own = torch.Generator().manual_seed(0)
    assert outcome(lambda x: x + torch.rand(2)).changed == (GENERATOR,)
    assert outcome(lambda x: x + torch.rand(2, generator=own)).changed == ()


def test_without_pytorch_it_is_that_of_numpy():
    own = np.random.default_rng(0)
    for draws, changed in ((np.random.random, (GENERATOR,)), (own.random, ())):
        assert call(lambda x, draws=draws: x + draws(2), (X,), ("x",), ("y",), numpy=True).changed == changed


@pytest.mark.parametrize(
    ("value", "returns", "words"),
    [
        (None, ("y",), "returned None"),
        ("text", ("y",), "must be a tensor or a list of numbers, but it is a str"),
        (zip([1], [2], strict=True), ("y",), "must be a tensor or a list of numbers, but it is a zip"),
        (["a"], ("y",), "is a list whose parts differ in length, or are not numbers"),
        (([1], [2, 3]), ("y",), "is a list whose parts differ in length, or are not numbers"),
        ((X, X), ("y",), "returned 2 values, but one was asked for"),
        (X[None], ("y", "z"), "returned one Tensor, but 2 were asked for"),
        ({"y": X}, ("y", "z"), "a dictionary without z"),
        ({"y": X, "z": X, "x": X}, ("y", "z"), "a dictionary with x, which was not asked for"),
        ((X, X, X), ("y", "z"), "returned 3 values"),
        (torch.tensor([1j]), ("y",), "real numbers"),
    ],
)
def test_another_kind_of_result_is_a_fault_in_words(value, returns, words):
    fault = outcome(lambda x: value, returns=returns).fault
    assert (fault.kind, words in fault.words) == ("wrong return", True)


def test_a_dictionary_gives_several_results_by_name():
    one, other = outcome(lambda x: {"z": X, "y": [1.0]}, returns=("y", "z")).outputs
    assert (one.tolist(), other.tolist()) == ([1.0], X.tolist())


@pytest.mark.parametrize("row", [torch.tensor([2.0, 3.0]), np.array([2.0, 3.0])])
def test_a_row_of_as_many_numbers_as_results_gives_each_of_them(row):
    assert [each.item() for each in outcome(lambda x: row, returns=("y", "z")).outputs] == [2, 3]
    assert "one" in outcome(lambda x: row, returns=("x", "y", "z")).fault.words


def test_an_exception_is_kept_with_the_line_of_the_students_own_code():
    def inner(x):
        return x @ torch.ones(5)

    def student(x):
        return inner(x)

    fault = outcome(student).fault
    assert (fault.kind, fault.function) == ("RuntimeError", "inner")
    assert "return x @ torch.ones(5)" in fault.line
    assert "\n" not in fault.words


@pytest.mark.parametrize("error", [SystemExit(), RecursionError(), NotImplementedError(), AssertionError("no")])
def test_every_exception_of_a_student_is_contained(error):
    def student(x):
        raise error

    assert outcome(student).fault.kind == type(error).__name__


def test_an_interrupt_gets_through():
    def student(x):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        outcome(student)


def test_a_result_does_not_follow_what_is_done_to_it_later():
    kept = np.zeros(2)
    result = outcome(lambda x: kept)
    kept[:] = 7
    assert result.outputs[0].tolist() == [0, 0]


def test_what_a_notebook_has_switched_is_put_aside_and_comes_back():
    def looks(x):
        warnings.warn("careful", stacklevel=2)
        np.log(np.zeros(1))
        grown = torch.ones(1, requires_grad=True) * 2
        return [float(torch.ones(1).dtype == torch.float32), float(grown.requires_grad), float(torch.ones(1).is_cpu)]

    depth = sys.getrecursionlimit()
    with warnings.catch_warnings(), np.errstate(all="raise"), torch.no_grad():
        warnings.simplefilter("error")
        torch.set_default_dtype(torch.float16)
        torch.set_default_device("meta")
        try:
            with undisturbed():
                given = call(looks, (torch.ones(1),), ("x",), ("y",))
            assert torch.get_default_dtype() == torch.float16
            assert torch.get_default_device().type == "meta"
        finally:
            torch.set_default_dtype(torch.float32)
            torch.set_default_device(None)
    assert sys.getrecursionlimit() == depth
    assert given.fault is None, given
    assert given.outputs[0].tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize(
    ("result", "wanted"),
    [
        ((1, 2), [1, 2]),
        (((1, 2), (2, 1)), [[1, 2], [2, 1]]),
        (((1, 2),), [[1, 2]]),
        ((), []),
        (Fraction(1, 2), 0.5),
        ([Fraction(1, 2), 1], [0.5, 1.0]),
        (np.arange(3)[::-1], [2, 1, 0]),
        (np.arange(3.0).astype(">f8"), [0.0, 1.0, 2.0]),
        (np.arange(3, dtype=np.uint16), [0, 1, 2]),
    ],
)
def test_numbers_in_other_clothes_are_as_good(result, wanted):
    assert outcome(lambda x: result).outputs[0].tolist() == wanted


def test_products_that_are_one_step_of_pytorchs_count_like_those_written_out():
    q, vector = torch.ones(1, 2, 5, 4), torch.ones(4)

    def counted(function):
        return float(outcome(function, returns=("y", COUNTED)).outputs[-1])

    by_hand = counted(lambda x: torch.softmax(q @ q.mT, -1) @ q)
    assert by_hand == 2 * 2 * 2 * 5 * 5 * 4
    assert counted(lambda x: torch.nn.functional.scaled_dot_product_attention(q, q, q)) == by_hand
    assert counted(lambda x: q[0, 0] @ vector) == counted(lambda x: q[0, 0] @ vector[:, None]) == 2 * 5 * 4
