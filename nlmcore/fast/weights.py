"""Given weights into a module without initialising it first, and stored so that one token is decoded soonest.

**Without initialising.** `filled` builds a module on PyTorch's device "meta", where tensors have shapes but no values;
the module then takes the given tensors. Nothing is initialised: on "meta" that would only import 800 modules.

**Stored (in, out).** y = x Wᵀ, W (out, in). For one token, reading W once takes the time. Stored (out, in), as PyTorch
creates it, every output is a dot product to be summed; stored (in, out), every input adds a multiple of one long row to
all outputs, which a processor does as fast as memory delivers. Measured on one core, SmolLM2's matrices, times as fast
as the usual layout:

    one token       1.45 (960 × 576), 1.08 (576 × 576), 1.37 (3072 × 576), 1.16 (576 × 1536), 1.69 (49152 × 576)
                    all together 1.30 to 1.36
    4 to 10         0.92 to 1.15
    64 and more     0.98 to 1.04

Looking up 512 embeddings takes 4 ms instead of 1, a pass over them seconds. So every matrix is stored this way.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

M = TypeVar("M", bound=nn.Module)


class _NothingIsDrawn(TorchFunctionMode):
    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if function in (Tensor.normal_, Tensor.uniform_):
            return args[0]
        return function(*args, **(kwargs or {}))


def filled(build: Callable[[], M], weights: Mapping[str, Tensor]) -> M:
    """The module that `build` makes, with these weights, in evaluation mode.

    A parameter that the module has in several places is given once, under the first of its names, and stays one.

    Raises ValueError if a weight is missing, does not belong to the module, or has the wrong shape.
    """
    with torch.device("meta"), _NothingIsDrawn():
        model = build()
    names = first_names(model)  # before the parameters are exchanged
    try:
        model.load_state_dict(aliased(model, weights), assign=True)
    except RuntimeError as error:
        raise ValueError(f"these weights do not fit the model: {error}") from error
    for alias, name in names.items():
        if alias != name:
            module, _, leaf = alias.rpartition(".")
            setattr(model.get_submodule(module), leaf, model.get_parameter(name))
    return model.eval()


def first_names(model: nn.Module) -> dict[str, str]:
    """Every name of a parameter -> the first one of that parameter."""
    first: dict[int, str] = {}
    return {name: first.setdefault(id(p), name) for name, p in model.named_parameters(remove_duplicate=False)}


def aliased(model: nn.Module, weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Weights under first names, under all names."""
    return {**weights, **{name: weights[own] for name, own in first_names(model).items() if own in weights}}


def for_decoding(weight: Float[Tensor, "out in"]) -> Float[Tensor, "out in"]:
    """The same matrix of the same shape, stored (in, out); itself if it is stored so already."""
    return weight.t().contiguous().t()


def stacked(weights: Sequence[Float[Tensor, "_ in"]]) -> Float[Tensor, "out in"]:
    """Matrices that read the same input, one above the other, stored (in, out): one product instead of several."""
    return torch.cat([weight.t() for weight in weights], dim=1).t()
