"""Everything that draws random numbers, photographed and put back: what an exact resume needs.

Batches draw on their own lane. Shuffling and cutting the data uses the same global generators as dropout; if both
took turns on them, a resumed run could not replay the data without replaying the dropout in between. So `fit`
lends the global generators to the data while it makes a batch, and takes them back.
"""

import random
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor


@dataclass(frozen=True)
class RandomState:
    """torch's generator (and its CUDA ones, where CUDA is in use) and Python's."""

    torch_cpu: Tensor
    torch_cuda: tuple[Tensor, ...]
    python: Any

    @classmethod
    def now(cls) -> "RandomState":
        """A photograph of the generators as they are."""
        cuda = tuple(torch.cuda.get_rng_state_all()) if torch.cuda.is_initialized() else ()
        return cls(torch.get_rng_state(), cuda, random.getstate())

    @classmethod
    def seeded(cls, seed: int) -> "RandomState":
        """As if the CPU's generators had been seeded with `seed`; nothing global is touched."""
        torch_cpu = torch.Generator().manual_seed(seed).get_state()
        return cls(torch_cpu, cls.now().torch_cuda, random.Random(seed).getstate())

    def restore(self) -> None:
        """Put the generators into this state."""
        torch.set_rng_state(self.torch_cpu)
        if self.torch_cuda:
            torch.cuda.set_rng_state_all(list(self.torch_cuda))
        random.setstate(self.python)

    def to_file(self, prefix: str) -> tuple[dict[str, Tensor], Any]:
        """Tensors for safetensors and the rest for JSON."""
        tensors = {f"{prefix}.cpu": self.torch_cpu}
        tensors |= {f"{prefix}.cuda.{i}": state for i, state in enumerate(self.torch_cuda)}
        return tensors, self.python

    @classmethod
    def from_file(cls, prefix: str, tensors: dict[str, Tensor], rest: Any) -> "RandomState":
        """The inverse of `to_file`, after JSON has turned tuples into lists."""
        cuda: list[Tensor] = []
        while f"{prefix}.cuda.{len(cuda)}" in tensors:
            cuda.append(tensors[f"{prefix}.cuda.{len(cuda)}"])
        version, numbers, gauss = rest
        return cls(tensors[f"{prefix}.cpu"], tuple(cuda), (version, tuple(numbers), gauss))
