"""Laws of the scalar graph, PyTorch's autograd as the oracle, and the two circuits of the lecture."""

import gc
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from nlmcore.autodiff import Multiply, Sigmoid, Value, check_gradient, numerical_gradient

UNARY: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "neg": (operator.neg, operator.neg),
    "tanh": (lambda v: v.tanh(), torch.tanh),
    "sigmoid": (lambda v: v.sigmoid(), torch.sigmoid),
    "composed sigmoid": (lambda v: 1 / (1 + (-v).exp()), torch.sigmoid),
    "relu": (lambda v: v.relu(), torch.relu),
    "exp of tanh": (lambda v: v.tanh().exp(), lambda t: t.tanh().exp()),
    "log of 1 + square": (lambda v: (1 + v**2).log(), lambda t: (1 + t**2).log()),
    "cube": (lambda v: v**3, lambda t: t**3),
    "2 to the": (lambda v: 2 ** v.tanh(), lambda t: 2 ** t.tanh()),
    "3 minus": (lambda v: 3 - v, lambda t: 3 - t),
    "minus 3": (lambda v: v - 3, lambda t: t - 3),
    "halved": (lambda v: v / 2, lambda t: t / 2),
    "tripled": (lambda v: 3 * v, lambda t: 3 * t),
    "-1 over": (lambda v: -1 / (v * v + 0.5), lambda t: -1 / (t * t + 0.5)),
}
BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "×": operator.mul,
    "÷": lambda a, b: a / (b * b + 1),
    "**": lambda a, b: (a * a + 0.1) ** b.tanh(),
}
steps = st.lists(
    st.tuples(st.sampled_from(sorted(UNARY) + sorted(BINARY)), st.integers(0, 99), st.integers(0, 99)),
    min_size=1,
    max_size=12,
)
numbers = st.floats(-2, 2).map(lambda x: round(x, 3))


def build(inputs: list[Any], program: list[tuple[str, int, int]], world: int) -> Any:
    """Run a program: each step applies an operation to earlier results, which are thereby used again."""
    results = list(inputs)
    for name, i, j in program:
        a, b = results[-1 - i % len(results)], results[-1 - j % len(results)]
        results.append(UNARY[name][world](a) if name in UNARY else BINARY[name](a, b))
    return results[-1] + results[0]


@settings(max_examples=300, deadline=None)
@given(st.lists(numbers, min_size=1, max_size=4), steps)
def test_forward_and_backward_are_pytorchs(point: list[float], program: list[tuple[str, int, int]]) -> None:
    values = [Value(x) for x in point]
    tensors = [torch.tensor(x, dtype=torch.float64, requires_grad=True) for x in point]
    ours, theirs = build(values, program, 0), build(tensors, program, 1)
    if not torch.isfinite(theirs) or theirs.abs() > 1e12:
        return  # towers of cubes
    ours.backward()
    theirs.backward()
    assert float(ours) == pytest.approx(theirs.item(), rel=1e-9, abs=1e-9)
    for value, tensor in zip(values, tensors, strict=True):
        expected = 0.0 if tensor.grad is None else tensor.grad.item()
        if math.isfinite(expected) and abs(expected) < 1e12:
            assert value.grad == pytest.approx(expected, rel=1e-7, abs=1e-7)


@pytest.mark.parametrize("name", sorted(UNARY))
def test_each_operation_alone_against_difference_quotients(name: str) -> None:
    for x in (-1.7, -0.3, 0.4, 2.1):
        assert check_gradient(UNARY[name][0], [x]).error < 1e-8


def test_a_wrong_gradient_is_found() -> None:
    def forgets_the_inner_derivative(x: Value) -> Value:
        return Value.of("sin 2x", "sin 2{}", math.sin(2 * x.data), (x, math.cos(2 * x.data)))

    checked = check_gradient(forgets_the_inner_derivative, [0.3])
    assert checked.error > 0.4
    assert checked.numerical[0] == pytest.approx(2 * checked.backward[0], rel=1e-8)


def test_a_second_backward_adds_the_same_once_more() -> None:
    """Also where inner nodes are shared: what they have kept from before is not sent down again."""
    x = Value(0.5)
    h = x.tanh()
    y = h * h + h.exp()
    y.backward()
    once = (x.grad, h.grad, y.grad)
    y.backward()
    assert (x.grad, h.grad, y.grad) == pytest.approx([2 * g for g in once])
    y.zero_grad()
    assert (x.grad, h.grad, y.grad) == (0, 0, 0)
    y.backward()
    assert (x.grad, h.grad, y.grad) == once


def test_two_outputs_add_up_and_upstream_scales() -> None:
    x = Value(2.0)
    (x**2).backward()
    (5 * x).backward(upstream=10)
    assert x.grad == 4 + 50


def test_deeper_than_pythons_recursion_limit() -> None:
    x = Value(0.0)
    y = x
    for _ in range(20_000):
        y = y + 1
    y.backward()
    assert (y.data, x.grad) == (20_000, 1)
    assert y.graph().nodes[-1].layer == 20_000
    del y
    gc.collect()


def test_each_node_is_visited_once() -> None:
    """Doubling 200 times has 2^200 paths and 201 nodes."""
    y = x = Value(1.0)
    for _ in range(200):
        y = y + y
    y.backward()
    assert x.grad == 2.0**200
    assert len(y.forward_order()) == 201


def test_one_node_is_stable_where_the_composed_sigmoid_is_not() -> None:
    for x, limit in ((-1000.0, 0.0), (1000.0, 1.0)):
        v = Value(x)
        s = v.sigmoid()
        s.backward()
        assert (s.data, v.grad) == (limit, 0.0)
    v = Value(-1000.0)
    s = 1 / (1 + (-v).exp())  # 1/∞ forward is right; 0 · ∞ backward is not, in PyTorch neither
    s.backward()
    assert s.data == 0
    assert math.isnan(v.grad)


def test_sigmoids_tail_keeps_its_digits() -> None:
    v = Value(40.0)
    v.sigmoid().backward()
    assert v.grad == pytest.approx(math.exp(-40), rel=1e-12, abs=0)  # (1 − σ)σ in floats would be 0


@pytest.mark.parametrize(
    ("base", "exponent"), [(0.0, 0.5), (0.0, 1), (0.0, 0), (0.0, 2), (-2.0, 3), (-2.0, -2), (1e200, 2), (-1e200, 3)]
)
def test_powers_at_the_edges_are_pytorchs(base: float, exponent: float) -> None:
    v, t = Value(base), torch.tensor(base, dtype=torch.float64, requires_grad=True)
    ours, theirs = v**exponent, t**exponent
    ours.backward()
    theirs.backward()
    assert ours.data == theirs.item()
    assert t.grad is not None
    assert v.grad == t.grad.item()


def test_what_has_no_value_raises() -> None:
    for nonsense in (lambda: Value(1) / 0, lambda: Value(1) / Value(0), lambda: 1 / Value(0), lambda: Value(0) ** -1):
        with pytest.raises(ZeroDivisionError, match="0"):
            nonsense()
    for nonsense in (
        lambda: Value(0).log(),
        lambda: Value(-1).log(),
        lambda: Value(-2) ** 0.5,
        lambda: Value(-2) ** Value(2),
        lambda: 0 ** Value(2),
    ):
        with pytest.raises(ValueError, match="got"):
            nonsense()


@pytest.mark.parametrize("thing", ["2", None, [1.0], True, 1j, torch.tensor(2.0)])
def test_only_real_numbers(thing: object) -> None:
    with pytest.raises(TypeError, match="data must be a real number"):
        Value(thing)
    for combine in (operator.add, operator.sub, operator.mul, operator.truediv, operator.pow):
        with pytest.raises(TypeError):
            combine(Value(1.0), thing)
        with pytest.raises(TypeError):
            combine(thing, Value(1.0))


def test_numpys_numbers_are_numbers() -> None:
    for product in (np.float32(2) * Value(3), Value(3) * np.float64(2), np.int64(2) * Value(3)):
        assert isinstance(product, Value)
        assert product.data == 6


def test_numerical_gradient_refuses_a_step_of_nothing() -> None:
    assert numerical_gradient(lambda x, y: x * x * y, [3.0, 2.0]) == pytest.approx((12, 9))
    with pytest.raises(ValueError, match="step"):
        numerical_gradient(lambda x: x, [1.0], step=0)


def test_functions_written_by_hand() -> None:
    generator = torch.Generator().manual_seed(0)
    x, y = (torch.randn(2, 3, dtype=torch.float64, generator=generator).requires_grad_() for _ in range(2))
    assert torch.autograd.gradcheck(Multiply.apply, (x, y))
    assert torch.autograd.gradcheck(Sigmoid.apply, (x,))
    assert torch.equal(Multiply.apply(x, y), x * y)
    assert torch.allclose(Sigmoid.apply(x), torch.sigmoid(x))
    with pytest.raises(ValueError, match="shape"):
        Multiply.apply(x, y[:1])


def test_bad_arguments_are_named() -> None:
    for upstream in ("a", None, [1.0]):
        with pytest.raises(TypeError, match="upstream"):
            Value(1.0).backward(upstream)  # type: ignore[arg-type]
    for label in (3, None):
        with pytest.raises(TypeError, match="label"):
            Value(1.0, label)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="label"):
            Value(1.0).named(label)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"function|return"):
        check_gradient(lambda x: 3, [1.0])  # type: ignore[arg-type, return-value]
    for step in (-1.0, math.nan, math.inf):
        with pytest.raises(ValueError, match="step must be"):
            check_gradient(lambda x: x * 2, [1.0], step)


def test_nan_is_computed_with() -> None:
    assert math.isnan((Value(math.inf) - Value(math.inf)).data)
    assert math.isnan((Value(math.nan) * 2).data)
