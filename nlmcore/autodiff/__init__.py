"""Backpropagation on graphs small enough to draw: every number and every gradient can be seen.

    x, y, z = Value(-2, "x"), Value(5, "y"), Value(-4, "z")
    f = ((x + y).named("q") * z).named("f")
    f.backward()
    f.graph()                   # what drawings read

`check` compares with difference quotients, and has the same idea for tensors, by PyTorch's own interface.
"""

from nlmcore.autodiff.check import GradientCheck, Multiply, Sigmoid, check_gradient, numerical_gradient
from nlmcore.autodiff.graph import Edge, Graph, Node
from nlmcore.autodiff.value import Value

__all__ = [
    "Edge",
    "GradientCheck",
    "Graph",
    "Multiply",
    "Node",
    "Sigmoid",
    "Value",
    "check_gradient",
    "numerical_gradient",
]
