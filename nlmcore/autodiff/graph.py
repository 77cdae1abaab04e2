"""A computational graph as plain data: what a drawing needs, and nothing that computes.

Nodes are numbered in the order of the forward pass, so every edge goes from a smaller to a larger number.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Node:
    """One number of the computation, with the name that it was given, or ""."""

    id: int  # its position in the forward order, from 0
    op: str  # what made it, as short as on the board ("+", "×", "exp", "1/x"); "" for an input
    formula: str  # the same with a slot for each operand: "{} + {}", "exp({})"; "" for an input
    label: str
    value: float
    grad: float  # gradient of the output with respect to it: the sum of the messages on the edges that leave it
    layer: int  # the length of the longest path to it from an input: columns for a drawing from left to right

    @property
    def name(self) -> str:
        """Its label, or else its number: v0, v1, …"""
        return self.label or f"v{self.id}"


@dataclass(frozen=True)
class Edge:
    """`source` is an operand of `target`. An operand that is used twice (x · x) has two edges."""

    source: int
    target: int
    local: float  # ∂target/∂source, this operand's own slot alone
    message: float  # what the backward pass sends down this edge: upstream × local, upstream being `target`'s gradient


@dataclass(frozen=True)
class Graph:
    """Nodes in forward order, the output last; edges grouped by target, operands in the order of the formula."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]

    @property
    def output(self) -> Node:
        return self.nodes[-1]
