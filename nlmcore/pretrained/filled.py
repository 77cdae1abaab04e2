"""A model with given weights, without drawing random ones first.

Modules are built on PyTorch's device "meta", where tensors have shapes and no numbers, and then take the given
tensors for their own, in the layout that these have. Drawing is left out altogether: on "meta" it would do nothing,
but PyTorch imports 800 modules, for a second, to do it.
"""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import torch
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

    Raises ValueError if a weight is missing, has no place in the module, or has another shape.
    """
    with torch.device("meta"), _NothingIsDrawn():
        model = build()
    first: dict[int, str] = {}
    for name, parameter in model.named_parameters(remove_duplicate=False):
        first.setdefault(id(parameter), name)
    aliases = {n: first[id(p)] for n, p in model.named_parameters(remove_duplicate=False) if n != first[id(p)]}
    try:
        model.load_state_dict({**weights, **{n: weights[f] for n, f in aliases.items() if f in weights}}, assign=True)
    except RuntimeError as error:
        raise ValueError(f"these weights do not fit the model: {error}") from error
    for alias, name in aliases.items():
        module, _, leaf = alias.rpartition(".")
        setattr(model.get_submodule(module), leaf, model.get_parameter(name))
    return model.eval()
