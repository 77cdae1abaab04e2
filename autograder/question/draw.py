"""Random inputs from a seed: the same seed draws the same inputs, on every machine."""

import math
import random

import torch
from torch import Tensor


class Exhausted(Exception):  # noqa: N818  (caught by who drew)
    """More numbers were drawn than was allowed."""


class Draw:
    """A source of inputs. `largest` bounds every size, so that public inputs are small enough to print. `patience`:
    after so many draws it raises `Exhausted`."""

    def __init__(self, seed: int | str, largest: int, patience: float = math.inf) -> None:
        self.largest = largest
        self._patience = patience
        self._random = random.Random(f"draw {seed}")  # text is hashed the same way everywhere
        self._generator = torch.Generator().manual_seed(self._random.getrandbits(62))

    def sizes(self, count: int) -> list[int]:
        """`count` sizes from 2 upwards, all different: a swapped axis cannot hide behind an equal one."""
        self._count()
        return self._random.sample(range(2, max(self.largest, count + 1) + 1), count)

    def size(self) -> int:
        return self.sizes(1)[0]

    def integer(self, low: int, high: int) -> int:
        self._count()
        return self._random.randint(low, high)

    def normal(self, *shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
        """Independent normal numbers, mean 0 and variance 1, drawn as float64 and rounded."""
        self._count()
        return torch.randn(*shape, generator=self._generator, dtype=torch.float64).to(dtype)

    def integers(self, low: int, high: int, *shape: int) -> Tensor:
        self._count()
        return torch.randint(low, high + 1, shape, generator=self._generator)

    def mask(self, *shape: int) -> Tensor:
        """A boolean mask (…, query, key), True = may attend: in every row one key may, and one may not. Needs two keys
        or more."""
        order = torch.rand(*shape, generator=self._generator).argsort(dim=-1)
        allowed = torch.rand(*shape, generator=self._generator) < 0.5
        return (allowed | (order == 0)) & (order != 1)

    def strided(self, *shape: int) -> Tensor:
        """Normal numbers as a slice of a larger tensor: valid in every way, but not contiguous, so no view can merge
        rows and columns."""
        return self.normal(*shape[:-1], 2 * shape[-1] + 1)[..., 1::2]

    def _count(self) -> None:
        self._patience -= 1
        if self._patience < 0:
            raise Exhausted
