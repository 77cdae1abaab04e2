"""Counting in binary: where the idea of the sinusoids comes from.

    bit_i(t) = ⌊t / 2^i⌋ mod 2                      syllabus, lecture 12

Each bit is a switch that flips half as often as the one before it; a sinusoid is the same switch made
smooth, and its neighbour the cosine says which way it is moving.

Departs from the lecture: the lowest bit stands on the left, so that columns can be compared with those of
`sinusoidal`, where the fastest comes first too; `binary_counter(length).flip(1)` is the usual notation.
"""

import torch
from jaxtyping import Int
from torch import Tensor

from nlmcore.checks import check_sizes


def binary_counter(length: int, bits: int | None = None) -> Int[Tensor, "length bits"]:
    """The numbers 0 … length − 1 in binary, one per row, lowest bit first; (length, bits) of 0 and 1.

    bits=None takes as many as the largest number needs. Draw it beside `sinusoidal(length, d_model)`:

        column i of this one           flips every 2^i positions and returns every 2^{i+1}
        columns 2i and 2i+1 of PE      return every 2π · base^{2i/d_model} positions

    so both get slower by a constant factor from left to right: here 2, there base^{2/d_model} per pair.

    Raises ValueError if `bits` are too few for length − 1; TypeError or ValueError for what is no size.
    """
    check_sizes(length=length)
    needed = max(1, (length - 1).bit_length())
    bits = needed if bits is None else bits
    check_sizes(bits=bits)
    if bits < needed:
        raise ValueError(f"{length - 1} needs {needed} bits, got bits={bits}")
    return torch.arange(length).unsqueeze(1) >> torch.arange(bits) & 1
