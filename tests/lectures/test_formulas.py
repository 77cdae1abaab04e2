"""Formulas that somebody types become graphs, and nothing that is typed is run."""

import math

import pytest

from lectures.formulas import evaluate


def test_the_boards_circuit_in_words() -> None:
    f = evaluate("x = -2; y = 5; z = -4; q = x + y; f = q * z")
    f.backward()
    found = {node.label: (node.value, node.grad) for node in f.graph().nodes}
    assert found == {"x": (-2, -4), "y": (5, -4), "q": (3, -4), "z": (-4, 3), "f": (-12, 1)}


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("x = 3; x*x + x", 12.0),
        ("w = 1\n1 / (1 + exp(-w))", 1 / (1 + math.exp(-1))),
        ("2 ** 3 ** 0.5", 2**3**0.5),
        ("x = 2; -x ** 2", -4.0),
        ("x = 2; +x - (3 - x) / 4", 1.75),
        (
            "a = 0.5; b = a; log(b) + tanh(a) + relu(-a) + sigmoid(2)",
            math.log(0.5) + math.tanh(0.5) + 1 / (1 + math.exp(-2)),
        ),
        ("9 ** 9 ** 9", math.inf),
    ],
)
def test_it_computes_what_python_does(source: str, expected: float) -> None:
    assert evaluate(source).data == pytest.approx(expected)


def test_a_name_that_is_assigned_again_is_a_new_value() -> None:
    f = evaluate("x = 3; x = x * x; x + 1")
    assert f.data == 10
    f.backward()
    assert [node.grad for node in f.graph().nodes] == [6, 1, 1]


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("", "empty"),
        (" ; ;", "empty"),
        ("x +", "no formula"),
        ("x = 2; x * y", "y has no value.*known: x"),
        ("x = 2; x ^ 2", r"two stars"),
        ("1 / 0", "divide"),
        ("x = 0; 1 / x", "divide"),
        ("log(0)", "positive"),
        ("(0 - 8) ** 0.5", "whole exponent"),
        ("sin(1)", "sin is no function here; there are exp"),
        ("exp(1, 2)", "of one number"),
        ("__import__('os').system('x')", "cannot be computed"),
        ("__import__('os')", "is no function here"),
        ("(1).__class__", "cannot be computed"),
        ("x = y = 2", "a statement is"),
        ("import os", "a statement is"),
        ("[v for v in (1,)]", "cannot be computed"),
        ("'a'", "numbers and names"),
        ("True", "numbers and names"),
        ("2j", "numbers and names"),
        ("1 if 1 else 2", "cannot be computed"),
        ("(" * 300 + "1" + ")" * 300, "no formula"),
        ("x = 1; " + "-" * 1900 + "x", "brackets|no formula"),
        ("1+" * 2000 + "1", "at most 2,000"),
    ],
)
def test_what_is_no_formula_is_said_in_words(source: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        evaluate(source)


def test_only_text_is_read() -> None:
    with pytest.raises(TypeError, match="str"):
        evaluate(3)  # type: ignore[arg-type]
