"""LoRA: a pretrained matrix is frozen, and a product of two thin matrices is learned and added to it.

    W' = W + (α / r) B A,   A (r, in) ~ N(0, 1 / in),   B (out, r) = 0         Hu et al. (2021), section 4.1

At the start W' = W. r (out + in) parameters are trained instead of out · in. Afterwards W' may replace W.

Symbols: r is `rank`, α is `alpha`.

Departs from the paper: it adapts W_q and W_v of attention only; here `where` chooses, and W_q, W_k, W_v of this package
lie in one matrix, which gets one A. We add B A to W and multiply once; the paper multiplies x by A, B and W.
"""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.utils import parametrize

from nlmcore.checks import Positive, Size, checked
from nlmcore.positions import LearnedPositions
from nlmcore.positions.relative import BiasedScores

TABLES = (nn.Embedding, LearnedPositions, BiasedScores, nn.ModuleList)  # a stack's own parameters multiply nothing


class LowRank(nn.Module):
    """W + (α / r) B A for one W (out, in)."""

    def __init__(self, W: Tensor, rank: int, scale: float) -> None:
        super().__init__()
        self.scale = scale
        self.A = nn.Parameter(W.new_empty(rank, W.shape[1]).normal_(std=1 / math.sqrt(W.shape[1])))
        self.B = nn.Parameter(W.new_zeros(len(W), rank))

    def forward(self, W: Float[Tensor, "out in"]) -> Float[Tensor, "out in"]:
        return W + self.scale * (self.B @ self.A) if self.scale else W


class LoRA(nn.Module):
    """The adapter of a model, which it changes in place: all its parameters are frozen, and A and B are added.

    where: the matrices to adapt, by name, say `lambda name: "attention" in name`; None: all. Never adapted are tables
    (embeddings, positions) and matrices that several modules share, because B A would reach only one of these.
    alpha: `rank` unless given.

    Called like the model, whose attributes it has as well; so `fit(LoRA(model), batches, …)` trains A and B, and every
    algorithm of `nlmcore.decoding` takes it. `parameters()` are A and B, `state_dict()` is what you store for a task.
    `names` are the adapted matrices.

    Raises ValueError if nothing is left to adapt.
    """

    @checked
    def __init__(
        self,
        model: nn.Module,
        rank: Size = 8,
        alpha: Positive | None = None,
        where: Callable[[str], bool] | None = None,
    ) -> None:
        super().__init__()
        places = matrices(model)
        self.names = [name for name in places if where is None or where(name)]
        if not self.names:
            raise ValueError(f"where must choose at least one of {', '.join(places) or 'no matrices'}, got none")
        model.requires_grad_(False)
        self._places = [places[name] for name in self.names]
        scale = (rank if alpha is None else alpha) / rank
        self.parts = nn.ModuleList(LowRank(getattr(*place).detach(), rank, scale) for place in self._places)
        self._plain: list[Tensor] | None = None  # while merged: each W as it was
        self._adapted = (model,)  # in a tuple, so that its weights are none of this module's
        self._insert()

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self._adapted[0](*args, **kwargs)

    @property
    def vocab_size(self) -> int:  # since Python 3.12 a protocol does not see what `__getattr__` finds
        return self._adapted[0].vocab_size  # type: ignore[return-value]

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            if name == "_adapted":  # while it is being made
                raise
            return getattr(self._adapted[0], name)

    def train(self, mode: bool = True) -> "LoRA":
        self._adapted[0].train(mode)
        return super().train(mode)

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> "LoRA":
        self._adapted[0]._apply(fn, recurse)
        return super()._apply(fn, recurse)

    @property
    def merged(self) -> bool:
        """Whether the model's matrices are W' now."""
        return self._plain is not None

    def pretrained(self, i: int) -> Tensor:
        """W of the i-th of `names`, as it was."""
        module, name = self._places[i]
        parts: Any = module.parametrizations
        return parts[name].original if self._plain is None else self._plain[i]

    @torch.no_grad()
    def merge(self) -> None:
        """Replace W by W': an ordinary model, as fast as before. Raises ValueError if it is merged already."""
        if self._plain is not None:
            raise ValueError("these matrices are merged already; unmerge() restores them")
        adapted = [getattr(*place).clone() for place in self._places]
        for module, name in self._places:
            parametrize.remove_parametrizations(module, name, leave_parametrized=False)
        self._plain = [getattr(*place).clone() for place in self._places]
        for place, W in zip(self._places, adapted, strict=True):
            getattr(*place).copy_(W)

    @torch.no_grad()
    def unmerge(self) -> None:
        """The pretrained W again, bit for bit, with B A on top of it. Raises ValueError if nothing is merged."""
        if self._plain is None:
            raise ValueError("these matrices are not merged; merge() comes first")
        for place, W in zip(self._places, self._plain, strict=True):
            getattr(*place).copy_(W)
        self._plain = None
        self._insert()

    @contextmanager
    def off(self) -> Iterator[None]:
        """Meanwhile the pretrained model, bit for bit: the reference. Raises ValueError if the matrices are merged."""
        if self._plain is not None:
            raise ValueError("these matrices are merged; unmerge() comes first")
        parts: list[Any] = list(self.parts)
        scales = [part.scale for part in parts]
        try:
            for part in parts:
                part.scale = 0.0
            yield
        finally:
            for part, scale in zip(parts, scales, strict=True):
                part.scale = scale

    def _insert(self) -> None:
        for (module, name), part in zip(self._places, self.parts, strict=True):
            parametrize.register_parametrization(module, name, part)


def matrices(model: nn.Module) -> dict[str, tuple[nn.Module, str]]:
    """Every matrix that one module alone has, except tables of vectors: name -> (module, attribute)."""
    found, users = {}, [id(p) for module in model.modules() for p in module.parameters(recurse=False)]
    for prefix, module in model.named_modules():
        for name, p in module.named_parameters(prefix, recurse=False):
            if p.ndim == 2 and not isinstance(module, TABLES) and users.count(id(p)) == 1:
                found[name] = (module, name.rpartition(".")[2])
    return found
