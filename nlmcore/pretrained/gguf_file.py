"""A GGUF file: one file that holds a model's sizes, its tokenizer and its weights, as llama.cpp reads them.

    metadata   "llama.block_count" -> 30, "tokenizer.ggml.merges" -> ["Ġ t", …]
    weights    "blk.0.attn_q.weight" -> a matrix (out, in), in single precision

The library `gguf` (of llama.cpp's authors) reads the file; the blocks are unpacked by `quantised`.
"""

from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from nlmcore.pretrained.quantised import DEQUANTISE


class GGUFFile:
    """What is in the file at `path`. Weights are unpacked when they are asked for, one matrix at a time.

    Raises ValueError if the file is cut short or is no GGUF file.
    """

    def __init__(self, path: Path) -> None:
        from gguf import GGUFReader  # loaded only when a pretrained model is asked for

        class Reader(GGUFReader):
            """Four times as fast: it takes 500,000 slices, which are quicker of an array than of a np.memmap."""

            @property  # type: ignore[override]
            def data(self) -> np.ndarray:
                return self._bytes

            @data.setter
            def data(self, mapped: np.memmap) -> None:
                self._bytes = mapped.view(np.ndarray)

        try:
            reader = Reader(path)
        except (ValueError, IndexError, KeyError, OverflowError, MemoryError) as error:
            raise ValueError(f"{path.name} is damaged or is no GGUF file ({error})") from error
        self.path = path
        self._fields = reader.fields
        self._tensors = {tensor.name: tensor for tensor in reader.tensors}

    def metadata(self, key: str) -> Any:
        """The value of that key. Raises ValueError if the file has none."""
        if key not in self._fields:
            raise ValueError(f"{self.path.name} has no {key}: it is damaged or holds another model")
        return self._fields[key].contents()

    def weight(self, name: str) -> Tensor:
        """That vector or matrix (out, in), as a copy of our own in single precision.

        Raises ValueError if the file has none of that name, or keeps it in a way that is not known here.
        """
        if name not in self._tensors:
            raise ValueError(f"{self.path.name} has no weights {name}: it is damaged or holds another model")
        tensor = self._tensors[name]
        kind = tensor.tensor_type.name
        data = torch.from_numpy(tensor.data.copy())  # the file is read-only memory
        if kind == "F32":
            return data
        if kind not in DEQUANTISE:
            raise ValueError(f"{name} is kept as {kind}; known are F32, {', '.join(DEQUANTISE)}")
        return DEQUANTISE[kind](data)
