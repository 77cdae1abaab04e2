"""Weights kept in 4 or 8 bits, back as floating point: whole tensors at once.

A row of a matrix is cut into blocks of 32 numbers. A block stores integers q and, in half precision, one scale d (and
one minimum m):

    Q8_0   x_i = d · q_i           q_i in −128 … 127          d (2 bytes), q (32 bytes)
    Q4_1   x_i = d · q_i + m       q_i in 0 … 15              d, m (2 bytes each), q (16 bytes, two to a byte:
                                                              q_i in the low half, q_{i+16} in the high half of byte i)

Source: ggml (Gerganov et al.), the structs `block_q8_0` and `block_q4_1` of ggml-common.h. No paper describes them.

Departs from ggml: nothing; the numbers are the same to the last bit. Only the kinds that occur in SmolLM2's file are
here.
"""

from collections.abc import Callable, Mapping

import torch
from jaxtyping import Float, UInt8
from torch import Tensor

BLOCK = 32
"""Numbers in a block."""


def from_q8_0(data: UInt8[Tensor, "row bytes"]) -> Float[Tensor, "row column"]:
    """x_i = d · q_i; 34 bytes become 32 numbers."""
    blocks = data.unflatten(1, (-1, 2 + BLOCK))  # (row, block, byte)
    q = blocks[..., 2:].view(torch.int8).permute(1, 2, 0).contiguous()  # (block, 32, row)
    x = q.float()
    return _matrix(x.mul_(_half(blocks[..., :2])))


def from_q4_1(data: UInt8[Tensor, "row bytes"]) -> Float[Tensor, "row column"]:
    """x_i = d · q_i + m; 20 bytes become 32 numbers."""
    blocks = data.unflatten(1, (-1, 4 + BLOCK // 2))
    q = blocks[..., 4:].permute(1, 2, 0).contiguous()  # (block, byte, row)
    x = torch.cat([q & 15, q >> 4], dim=1).float()  # (block, 32, row)
    return _matrix(x.mul_(_half(blocks[..., :2])).add_(_half(blocks[..., 2:4])))


def _half(pairs: Tensor) -> Tensor:
    """Two bytes are one number in half precision: (row, block, 2) -> (block, 1, row), in single precision."""
    return pairs.contiguous().view(torch.float16).permute(1, 2, 0).float().contiguous()


def _matrix(x: Tensor) -> Tensor:
    """(block, 32, row) -> (row, column)."""
    return x.flatten(0, 1).t()


DEQUANTISE: Mapping[str, Callable[[Tensor], Tensor]] = {"Q8_0": from_q8_0, "Q4_1": from_q4_1}
"""The name that a GGUF file gives to a kind of block -> the function that unpacks it."""
