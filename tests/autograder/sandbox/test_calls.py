"""What functions may return, and what becomes of what they should not: words for the student, never a crash."""

# ruff: noqa: E501  (a table: one case to a line)

from dataclasses import replace
from typing import Any

import pytest
import torch

from autograder.question.outcome import Outcome
from autograder.sandbox import Box, Cell, Interview, Limits, Seed
from tests.autograder.sandbox.conftest import LIMITS, SHORT, asking, is_whole, run


def ask(
    box: Box, source: str, *calls: tuple[Any, ...], returns: tuple[str, ...] = ("y",), limits: Limits = LIMITS
) -> tuple[Outcome, ...]:
    return run(box, source, asking("f", *(calls or ((),)), returns=returns), limits=limits).cells[-1].outcomes[0]


GOOD = {
    "a number": ("1.5", [1.5]),
    "an integer": ("7", [7]),
    "a boolean": ("True", [True]),
    "a list": ("[1.0, 2.0]", [1.0, 2.0]),
    "an array": ("np.arange(3)", [0, 1, 2]),
    "a NumPy number": ("np.float32(2)", [2.0]),
    "float64": ("torch.ones(2, dtype=torch.float64)", [1.0, 1.0]),
    "half precision": ("torch.ones(2, dtype=torch.bfloat16)", [1.0, 1.0]),
    "one in a tuple": ("(torch.ones(2),)", [1.0, 1.0]),
    "a parameter": ("torch.nn.Parameter(torch.ones(2))", [1.0, 1.0]),
    "one with a graph": ("torch.ones(2, requires_grad=True) * 2", [2.0, 2.0]),
    "a transposed view": ("torch.arange(6).reshape(2, 3).T", [0, 3, 1, 4, 2, 5]),
    "a small view of much": ("torch.zeros(10**7)[:2]", [0.0, 0.0]),
    "an expanded one": ("torch.ones(1).expand(4)", [1.0] * 4),
    "a subclass": ("torch.ones(2).as_subclass(Odd)", [1.0, 1.0]),
    "nothing, of a shape": ("torch.empty(0, 3)", []),
    "a list of tensors": ("[torch.tensor(1), torch.tensor(2)]", [1, 2]),
    "a lazy conjugate": ("torch.ones(2).neg().conj()", [-1.0, -1.0]),
    "inference mode": ("torch.inference_mode()(lambda: torch.ones(2))()", [1.0, 1.0]),
}
ODD = {
    "nothing": ("None", "wrong return", "return"),
    "10^8 numbers": ("torch.zeros(10**8)", "wrong return", "100,000,000 numbers"),
    "10^12 numbers that take no room": ("torch.zeros(1).expand(10**12)", "wrong return", "1,000,000,000,000 numbers"),
    "a large list": ("[0.0] * 10**7", "wrong return", "numbers"),
    "a list in itself": ("loop", "wrong return", "16 deep"),
    "30 axes": ("torch.zeros([1] * 30)", "wrong return", "30 axes"),
    "20 axes in an array": ("np.zeros([1] * 20)", "wrong return", "20 axes"),
    "20 axes in lists of tensors": ("[torch.zeros([1] * 20)]", "wrong return", "21 axes"),
    "text": ("'the answer'", "wrong return", "it is a str"),
    "a function": ("len", "wrong return", "must be a tensor"),
    "complex": ("torch.ones(2, dtype=torch.complex64)", "wrong return", "complex64"),
    "sparse": ("torch.eye(3).to_sparse()", "wrong return", "ordinary tensor"),
    "meta": ("torch.ones(2, device='meta')", "wrong return", "must be a tensor"),
    "quantised": ("torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.quint8)", "wrong return", ""),
    "a dtype of no use": ("torch.ones(2).to(torch.float8_e4m3fn)", "wrong return", "float8_e4m3fn"),
    "ragged lists": ("[[1], [1, 2]]", "wrong return", "list"),
    "objects in an array": ("np.array([object()])", "wrong return", "ndarray"),
    "too many": ("(torch.ones(1), torch.ones(2))", "wrong return", "2 values"),
    "a pretender": ("Pretender()", "wrong return", "it is a Pretender"),
    "one that is equal to all": ("Equal()", "wrong return", "it is a Equal"),
    "one whose class lies": ("Liar()", "wrong return", ""),
    "a nested tensor": ("torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])", "wrong return", ""),
    "an error": ("1 / 0", "ZeroDivisionError", "division by zero"),
    "an exit": ("exit_now()", "SystemExit", ""),
    "an endless loop": ("forever()", "TookTooLong", "did not finish in 1 seconds of processor time"),
    "deep recursion": ("deep()", "RecursionError", "recursion"),
    "no memory": ("torch.zeros(10**11)", "RuntimeError", "allocate"),
    "an error without words": ("mute()", "Mute", "Mute"),
    "a generator": ("(i for i in range(3))", "wrong return", "it is a generator"),
}
HEAD = """
import sys, warnings
import numpy as np
import torch
warnings.simplefilter('ignore')
class Odd(torch.Tensor): pass
class Pretender:
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None): return torch.ones(2)
class Equal:
    def __eq__(self, other): return True
class Liar:
    __class__ = torch.Tensor
class Mute(Exception):
    def __str__(self): raise ValueError('no words')
loop = []
loop.append(loop)
def exit_now(): sys.exit(1)
def forever():
    while True: pass
def deep(): return deep()
def mute(): raise Mute
"""


def test_results_in_every_good_form_come_back(box: Box) -> None:
    source = HEAD + "\n".join(f"def f{i}(): return {code}" for i, (code, _) in enumerate(GOOD.values()))
    result = run(box, source, *(asking(f"f{i}", ()) for i in range(len(GOOD))))
    for cell, (name, (_, expected)) in zip(result.cells[1:], GOOD.items(), strict=True):
        ((outcome,),) = cell.outcomes
        assert outcome.fault is None, (name, outcome)
        assert outcome.outputs[0].flatten().tolist() == expected, name


def test_odd_results_become_words(box: Box) -> None:
    source = HEAD + "\n".join(f"def f{i}(): return {code}" for i, (code, _, _) in enumerate(ODD.values()))
    tests = (asking(f"f{i}", ()) for i in range(len(ODD)))
    result = run(box, source, *tests, limits=replace(LIMITS, wall=200, call_cpu=1, call_wall=60))
    for cell, (name, (_, kind, words)) in zip(result.cells[1:], ODD.items(), strict=True):
        ((outcome,),) = cell.outcomes
        assert outcome.fault is not None, (name, outcome)
        assert outcome.outputs == ()
        assert outcome.fault.kind == kind, (name, outcome.fault)
        assert words in outcome.fault.words, (name, outcome.fault)
        assert len(outcome.fault.words) < 600
    is_whole(box)


def test_numbers_that_are_none_come_back_as_they_are(box: Box) -> None:
    (outcome,) = ask(box, "import torch\ndef f(): return torch.tensor([float('nan'), float('inf'), -0.0])")
    assert str(outcome.outputs[0].tolist()) == "[nan, inf, -0.0]"


def test_several_results_and_their_number(box: Box) -> None:
    source = "import torch\ndef f(x): return x, [x, x] if x.sum() > 1 else (x + 1)"
    good, bad = ask(box, source, (torch.zeros(2),), (torch.ones(2),), returns=("context", "weights"))
    assert [o.tolist() for o in good.outputs] == [[0.0, 0.0], [1.0, 1.0]]
    assert [o.shape for o in bad.outputs] == [(2,), (2, 2)]
    (none,) = ask(box, "def f(): return 1", returns=("context", "weights"))
    assert none.fault is not None
    assert "2 were asked for" in none.fault.words


def test_arguments_of_every_kind_arrive(box: Box) -> None:
    source = """
import torch
def f(t, n, x, s, b, nothing, pair, listed, named, g):
    assert t.stride() == (1, 3) and t.dtype == torch.int64 and type(pair) is tuple and type(listed) is list
    assert n == 3 and x == float('inf') and s == 'é' and b is True and nothing is None
    assert pair == (1, (2.5, 'x')) and listed == [1, [2]] and named == {'a': [1], 'b': None}
    return torch.rand(2, generator=g) + t.sum()
"""
    arguments = (torch.arange(6).reshape(2, 3).T, 3, float("inf"), "é", True, None)
    nested = ((1, (2.5, "x")), [1, [2]], {"a": [1], "b": None}, Seed(5))
    names = tuple("abcdefghij")
    interview = Interview(function="f", arguments=names, returns=("y",), calls=((*arguments, *nested),) * 2)
    result = run(box, source, Cell(id="test", source="", interviews=(interview,)))
    for outcome in result.cells[-1].outcomes[0]:
        assert outcome.fault is None, outcome.fault
        assert outcome.outputs[0].equal(torch.rand(2, generator=torch.Generator().manual_seed(5)) + 15)
        assert outcome.changed == ()


@pytest.mark.parametrize(
    ("source", "arguments"),
    [
        ("b += 1\n    return a", (torch.zeros(2), torch.zeros(2))),
        ("b[0][0] += 1\n    return a[0]", ([torch.zeros(2), torch.ones(3)], [[torch.zeros(2)]])),
    ],
)
def test_what_was_changed_is_told(box: Box, source: str, arguments: tuple[Any, Any]) -> None:
    (outcome,) = ask(box, f"def f(a, b):\n    {source}", arguments)
    assert outcome.fault is None, outcome.fault
    assert outcome.changed == ("b",)


def test_arguments_left_in_an_odd_state_are_words_too(box: Box) -> None:
    source = "import torch\nclass E(torch.Tensor):\n    @classmethod\n    def __torch_function__(c, *a, **k): raise KeyError\n"
    (outcome,) = ask(box, source + "def f(a):\n    a.__class__ = E\n    return torch.ones(1)", (torch.zeros(2),))
    assert outcome.fault is not None
    assert "cannot be read" in outcome.fault.words


def test_the_line_of_an_error_is_the_students(box: Box) -> None:
    source = "import torch\ndef helper(a):\n    return torch.stack(a)\ndef f(a):\n    return helper(a)"
    (outcome,) = ask(box, source, (torch.zeros(()),))
    assert outcome.fault is not None
    assert outcome.fault.line == "line 3 of your cell: return torch.stack(a)"
    assert outcome.fault.function == "helper"


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("pass", "there is no 'f'"),
        ("f = 3", "should be a function"),
        ("def f() return 1", "there is no 'f'"),
        ("raise ValueError\ndef f(): return 1", "there is no 'f'"),
    ],
)
def test_a_function_that_is_not_there(box: Box, source: str, words: str) -> None:
    (outcome,) = ask(box, source)
    assert outcome.fault is not None
    assert words in outcome.fault.words


def test_a_method_is_found_by_its_dotted_name(box: Box) -> None:
    source = (
        "import torch\nmodel = torch.nn.Linear(2, 1)\nclass A:\n    @property\n    def b(self): raise KeyError\na = A()"
    )
    one, other = asking("model.forward", (torch.ones(1, 2),)), asking("a.b", (torch.ones(2),))
    result = run(box, source, one, other)
    assert result.cells[1].outcomes[0][0].outputs[0].shape == (1, 1)
    fault = result.cells[2].outcomes[0][0].fault
    assert fault is not None
    assert "cannot be looked up (KeyError)" in fault.words


def test_what_does_not_end_is_not_asked_again(box: Box) -> None:
    source = "def f(a):\n    while a > 1: pass\n    return a"
    outcomes = ask(box, source, (1,), (2,), (1,), (3,), limits=SHORT)
    assert outcomes[0].outputs[0].item() == 1
    kinds = [o.fault.words if o.fault else "" for o in outcomes]
    assert kinds[1] == "it did not finish in 1 seconds"
    assert kinds[2] == kinds[3] == "it did not finish in 1 seconds, and was not asked again"


def test_many_large_results_stay_within_the_limit(box: Box) -> None:
    source = "import torch\ndef f(): return torch.ones(10**6)"
    outcomes = ask(box, source, (), (), ())
    assert [o.fault is None for o in outcomes] == [True, True, False]


def test_functions_print_nothing_into_the_notebook(box: Box) -> None:
    result = run(box, "def f():\n    print('x' * 100)\n    return 1", asking("f", ()))
    assert result.cells[-1].outputs == ()
    assert result.cells[-1].outcomes[0][0].outputs[0].item() == 1


def test_arguments_that_cannot_be_sent_are_the_graders_fault(box: Box) -> None:
    with pytest.raises(TypeError, match="cannot be a set"):
        ask(box, "def f(a): return a", ({1, 2},))
    is_whole(box)


def test_many_cells_that_show_much_leave_what_decides_a_mark(box: Box) -> None:
    flood = "print('x' * 200_000)"
    sources = (*[flood] * 8, "2.5", f"{flood}\n1 / 0", "3")
    result = run(box, *sources, limits=replace(LIMITS, shown=500_000))
    assert len(str(result.cells)) < 700_000
    assert "all cells together" in str(result.cells[4].outputs)
    assert result.cells[8].outputs[-1]["data"] == {"text/plain": "2.5"}
    assert result.cells[9].outputs[-1]["ename"] == "ZeroDivisionError"
    assert result.cells[10].outputs[-1]["data"] == {"text/plain": "3"}


def test_many_notes_are_not_all_kept(box: Box) -> None:
    look = "for n in range(20):\n    try: open(f'/not/there/{}/{n}')\n    except OSError: pass"
    result = run(box, *[look.replace("{}", str(n)) for n in range(9)])
    assert 20 <= len(result.incidents) <= 110
