"""A scalar that remembers how it was computed, and so knows its gradient.

Source: reverse-mode differentiation (Linnainmaa 1970; Rumelhart, Hinton & Williams 1986), in the circuit notation of
Stanford's CS231n.

    z = f(x, y)            forward: compute z and the local gradients ∂z/∂x and ∂z/∂y
    ∂L/∂x += ∂L/∂z ∂z/∂x   backward: each operand gets upstream × local, and adds up what it gets

Symbols: L is the value on which `backward` is called; upstream is ∂L/∂z, kept in `z.grad`;
local is ∂z/∂x, kept in `z.local_gradients`, in the order of `z.inputs`.

Departs from the source: a plain number in an expression is part of the operation, no node of its own. `1 + x` is one
node "+1" with one edge.
"""

import math
from numbers import Real

from nlmcore.autodiff.graph import Edge, Graph, Node
from nlmcore.checks import checked, described


class Value:
    """A node of a scalar computational graph: `data`, `grad`, and the operation that made it.

    Operators: + − × ÷ and ** between values and plain numbers; methods `exp`, `log`, `tanh`, `relu`, `sigmoid`.

    Gradients accumulate, as in PyTorch: `backward` adds to `.grad` of every node, and `zero_grad` starts afresh. A
    number too large for a float becomes infinite, inf - inf is nan; what has no value (1/0, the logarithm of 0) raises.
    """

    __array_ufunc__ = None  # so that NumPy's numbers leave `number * value` to us
    __slots__ = ("data", "formula", "grad", "inputs", "label", "local_gradients", "op")

    def __init__(self, data: object, label: str = "") -> None:
        if (number := as_number(data)) is None:
            raise TypeError(f"data must be a real number, got {described(data)}")
        self.data: float = number
        self.grad: float = 0.0
        self.op = self.formula = self.label = ""
        if label != "":
            self.named(label)
        self.inputs: tuple[Value, ...] = ()
        self.local_gradients: tuple[float, ...] = ()

    @classmethod
    def of(cls, op: str, formula: str, data: float, *operands: "tuple[Value, float]") -> "Value":
        """The result of an operation: its value, and for each operand the pair (operand, local gradient)."""
        result = cls(data)
        result.op, result.formula = op, formula
        result.inputs = tuple(operand for operand, _ in operands)
        result.local_gradients = tuple(local for _, local in operands)
        return result

    @checked
    def named(self, label: str) -> "Value":
        """Give it a name for drawings and traces, and return it: `q = (x + y).named("q")`."""
        self.label = label
        return self

    # --- Operations: the value, and beside each operand its local gradient -------------------------------

    def __add__(self, other: object) -> "Value":
        if (c := as_number(other)) is not None:
            return Value.of(f"+{c:g}", f"{{}} + {c:g}", self.data + c, (self, 1.0))
        if not isinstance(other, Value):
            return NotImplemented
        return Value.of("+", "{} + {}", self.data + other.data, (self, 1.0), (other, 1.0))

    def __sub__(self, other: object) -> "Value":
        if (c := as_number(other)) is not None:
            return Value.of(f"-{c:g}", f"{{}} - {c:g}", self.data - c, (self, 1.0))
        if not isinstance(other, Value):
            return NotImplemented
        return Value.of("-", "{} - {}", self.data - other.data, (self, 1.0), (other, -1.0))

    def __mul__(self, other: object) -> "Value":
        if (c := as_number(other)) is not None:
            return Value.of(f"×{c:g}", f"{{}} × {c:g}", self.data * c, (self, c))
        if not isinstance(other, Value):
            return NotImplemented
        return Value.of("×", "{} × {}", self.data * other.data, (self, other.data), (other, self.data))

    def __truediv__(self, other: object) -> "Value":
        if (c := as_number(other)) is not None:
            return Value.of(f"÷{c:g}", f"{{}} ÷ {c:g}", divide(self.data, c), (self, 1 / c))
        if not isinstance(other, Value):
            return NotImplemented
        quotient = divide(self.data, other.data)
        return Value.of("÷", "{} ÷ {}", quotient, (self, 1 / other.data), (other, -quotient / other.data))

    def __pow__(self, other: object) -> "Value":
        """x ** c for a plain number c, and x ** y for a value y, which needs x > 0 (∂x^y/∂y = x^y ln x)."""
        if (c := as_number(other)) is not None:
            local = 0.0 if c == 0 else c * power(self.data, c - 1, at_zero=math.inf)
            return Value.of(f"**{c:g}", f"{{}} ** {c:g}", power(self.data, c), (self, local))
        if not isinstance(other, Value):
            return NotImplemented
        if self.data <= 0:
            raise ValueError(f"a base raised to a Value must be positive, got {self.data:g}; use a plain exponent")
        result, slope = power(self.data, other.data), other.data * power(self.data, other.data - 1)
        return Value.of("**", "{} ** {}", result, (self, slope), (other, result * math.log(self.data)))

    def __neg__(self) -> "Value":
        return Value.of("×-1", "-{}", -self.data, (self, -1.0))

    def exp(self) -> "Value":
        """eˣ, which is its own derivative."""
        e = exp(self.data)
        return Value.of("exp", "exp({})", e, (self, e))

    def log(self) -> "Value":
        """ln x; derivative 1/x. Raises ValueError unless x > 0."""
        if self.data <= 0:
            raise ValueError(f"log needs a positive number, got {self.data:g}")
        return Value.of("log", "ln {}", math.log(self.data), (self, 1 / self.data))

    def tanh(self) -> "Value":
        """tanh x; derivative 1 − tanh² x."""
        t = math.tanh(self.data)
        return Value.of("tanh", "tanh({})", t, (self, 1 - t * t))

    def relu(self) -> "Value":
        """max(0, x); derivative 1 where x > 0, and 0 elsewhere, at the kink too (as in PyTorch)."""
        return Value.of("relu", "relu({})", max(0.0, self.data), (self, 1.0 if self.data > 0 else 0.0))

    def sigmoid(self) -> "Value":
        """σ(x) = 1/(1 + e⁻ˣ) as one node; derivative (1 − σ)σ. Composed, it is `1 / (1 + (-x).exp())`."""
        e = exp(-abs(self.data))  # never overflows; σ(−x) = e⁻ˣ/(1 + e⁻ˣ)
        s = (1.0 if self.data >= 0 else e) / (1 + e)
        return Value.of("σ", "σ({})", s, (self, e / (1 + e) ** 2))

    __radd__, __rmul__ = __add__, __mul__

    def __rsub__(self, other: object) -> "Value":
        if (c := as_number(other)) is None:
            return NotImplemented
        return Value.of(f"{c:g}-x", f"{c:g} - {{}}", c - self.data, (self, -1.0))

    def __rtruediv__(self, other: object) -> "Value":
        if (c := as_number(other)) is None:
            return NotImplemented
        quotient = divide(c, self.data)
        return Value.of(f"{c:g}/x", f"{c:g} / {{}}", quotient, (self, -quotient / self.data))

    def __rpow__(self, other: object) -> "Value":
        if (c := as_number(other)) is None:
            return NotImplemented
        if c <= 0:
            raise ValueError(f"a base raised to a Value must be positive, got {c:g}")
        result = power(c, self.data)
        return Value.of(f"{c:g}**x", f"{c:g} ** {{}}", result, (self, result * math.log(c)))

    # --- The backward pass -------------------------------------------------------------------------------

    @checked
    def backward(self, upstream: float | int = 1.0) -> None:
        """Add ∂self/∂v, times `upstream`, to the gradient of every value v that self was computed from."""
        order = self.forward_order()
        arrived = {id(value): 0.0 for value in order}
        arrived[id(self)] = float(upstream)
        for value in reversed(order):  # a value comes after all its uses: by then its gradient is complete
            upstream = arrived[id(value)]
            value.grad += upstream
            for operand, local in zip(value.inputs, value.local_gradients, strict=True):
                arrived[id(operand)] += upstream * local

    def zero_grad(self) -> None:
        """Set the gradients of self and of everything that it was computed from to 0."""
        for value in self.forward_order():
            value.grad = 0.0

    def forward_order(self) -> "list[Value]":
        """Everything that self was computed from, operands before results, self last."""
        order: list[Value] = []
        visited: set[int] = set()
        stack = [(self, False)]  # no recursion: a graph may be deeper than Python's limit
        while stack:
            value, operands_done = stack.pop()
            if operands_done:
                order.append(value)
            elif id(value) not in visited:
                visited.add(id(value))
                stack.append((value, True))
                stack.extend((operand, False) for operand in reversed(value.inputs))
        return order

    def graph(self) -> Graph:
        """The graph behind this value as plain data, with the values and gradients it has now."""
        order = self.forward_order()
        place = {id(value): i for i, value in enumerate(order)}
        nodes: list[Node] = []
        edges: list[Edge] = []
        for i, value in enumerate(order):
            sources = [place[id(operand)] for operand in value.inputs]
            layer = 1 + max((nodes[s].layer for s in sources), default=-1)
            nodes.append(Node(i, value.op, value.formula, value.label, value.data, value.grad, layer))
            pairs = zip(sources, value.local_gradients, strict=True)
            edges += [Edge(source, i, local, value.grad * local) for source, local in pairs]
        return Graph(tuple(nodes), tuple(edges))

    def __float__(self) -> float:
        return self.data

    def __repr__(self) -> str:
        name = f"{self.label} = " if self.label else ""
        return f"Value({name}{self.data:.6g}, grad={self.grad:.6g})"


# --- Arithmetic on floats: what is too large is infinite, what has no value raises with a reason ---------------


def as_number(thing: object) -> float | None:
    """The value as a float, or None if it is not a number. True and False do not count as numbers."""
    return float(thing) if isinstance(thing, Real) and not isinstance(thing, bool) else None


def exp(x: float) -> float:
    """eˣ, infinite from x = 710 on."""
    try:
        return math.exp(x)
    except OverflowError:
        return math.inf


def divide(a: float, b: float) -> float:
    """a / b. Raises ZeroDivisionError if b is 0."""
    if b == 0:
        raise ZeroDivisionError(f"cannot divide {a:g} by a value of 0")
    return a / b


def power(base: float, exponent: float, at_zero: float | None = None) -> float:
    """base ** exponent; `at_zero` is the result for 0 to a negative power.

    Raises ZeroDivisionError for that if `at_zero` is None, ValueError for a root of a negative number.
    """
    if base < 0 and not float(exponent).is_integer():
        raise ValueError(f"a negative base needs a whole exponent, got {base:g} ** {exponent:g}")
    if base == 0 and exponent < 0:
        if at_zero is None:
            raise ZeroDivisionError(f"0 has no negative power, got the exponent {exponent:g}")
        return at_zero
    try:
        return base**exponent
    except OverflowError:
        return -math.inf if base < 0 and exponent % 2 else math.inf
