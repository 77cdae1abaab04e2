"""The same result in the other forms that a page allows. Not in the module of the test: what an answer's own module has
of PyTorch is replaced while a question without PyTorch is asked."""

import numpy as np
import torch

ARRAYS = (torch.Tensor, np.ndarray)


def as_array(value):
    return value.numpy() if isinstance(value, torch.Tensor) else value


def as_lists(value):
    """Lists instead of tensors and arrays and of tuples."""
    if isinstance(value, ARRAYS):
        return value.tolist()
    return [as_lists(item) for item in value] if isinstance(value, list) else value


def as_tuples(value):
    return tuple(as_tuples(item) for item in value) if isinstance(value, list) else value


def as_a_tuple(value):
    """The outer list only."""
    return tuple(value) if isinstance(value, list) else value


def as_tensor(value):
    return torch.tensor(value) if isinstance(value, list) else value


def as_array_of_list(value):
    return np.array(value) if isinstance(value, list) else value
