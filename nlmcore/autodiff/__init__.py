"""Backpropagation on graphs small enough to draw: every number and every gradient can be seen.

    x, y, z = Value(-2, "x"), Value(5, "y"), Value(-4, "z")
    f = ((x + y).named("q") * z).named("f")
    f.backward()
    print(draw(f.graph()))      # the circuit
    print(trace(f.graph()))     # the two passes, one step per line

`value` holds the computation, `graph` the plain description that drawings read, `text` the drawings made
of characters, `expression` the way in for a formula that was typed, `check` the comparison with difference
quotients, and `functions` the same idea one level up: PyTorch's interface for a forward and a backward written by hand.
"""

from nlmcore.autodiff.check import GradientCheck, check_gradient, numerical_gradient
from nlmcore.autodiff.expression import evaluate
from nlmcore.autodiff.functions import Multiply, Sigmoid
from nlmcore.autodiff.graph import Edge, Graph, Node
from nlmcore.autodiff.text import backward_steps, draw, forward_steps, trace
from nlmcore.autodiff.value import Value
