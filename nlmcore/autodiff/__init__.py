"""Backpropagation on graphs small enough to draw: every number and every gradient can be seen.

    x, y, z = Value(-2, "x"), Value(5, "y"), Value(-4, "z")
    f = ((x + y).named("q") * z).named("f")
    f.backward()
    f.graph()                   # what drawings read

`value` holds the computation, `graph` its plain description, `check` the comparison with difference quotients, and
`functions` the same idea one level up: PyTorch's interface for a forward and a backward pass written by hand.
"""

from nlmcore.autodiff.check import GradientCheck, check_gradient, numerical_gradient
from nlmcore.autodiff.functions import Multiply, Sigmoid
from nlmcore.autodiff.graph import Edge, Graph, Node
from nlmcore.autodiff.value import Value
