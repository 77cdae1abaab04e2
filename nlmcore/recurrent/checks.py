"""What recurrent models and the sequence-to-sequence models built from them refuse, said once."""

import torch
from torch import Tensor


def check_function(name: str, function: object) -> None:
    """Refuse what cannot be called, with TypeError."""
    if not callable(function):
        raise TypeError(f"{name} must be a function, got {type(function).__name__} {function!r}")


def check_floats(name: str, tensor: object, like: Tensor) -> None:
    """Refuse what is no tensor of the weights' dtype, with TypeError; autocast may mix dtypes."""
    if not isinstance(tensor, Tensor) or not tensor.is_floating_point():
        what = tensor.dtype if isinstance(tensor, Tensor) else type(tensor).__name__
        raise TypeError(f"{name} must be a tensor of floats, {like.dtype} like the weights, got {what}")
    if tensor.dtype != like.dtype and not torch.is_autocast_enabled(like.device.type):
        raise TypeError(f"{name} must be {like.dtype}, like the weights, got {tensor.dtype}")
