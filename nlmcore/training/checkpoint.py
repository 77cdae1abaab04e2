"""A checkpoint is one safetensors file: tensors, and in its header a JSON text. Never pickle.

Written completely or not at all: to a temporary file next to it, which then takes its name. Read completely or not at
all: the header holds a SHA-256 of everything, so a truncated or changed file is refused before anything is loaded.
"""

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor


def save_checkpoint(path: str | Path, tensors: dict[str, Tensor], facts: dict[str, Any]) -> None:
    """Write tensors and JSON facts to `path`, atomically. Tensors that share memory (tied weights) are written once."""
    path = Path(path)
    own, same_as = _without_aliases(tensors)
    text = json.dumps({"facts": facts, "same_as": same_as})
    header = {"nlmcore": text, "sha256": _digest(own, text)}
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}.writing")
    try:
        save_file(own, beside, metadata=header)
        with open(beside, "rb") as written:
            os.fsync(written.fileno())
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)


def load_checkpoint(path: str | Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """The tensors and facts that were saved. FileNotFoundError without a file, ValueError if it is not whole.

    IsADirectoryError if `path` is a folder.
    """
    path = Path(path)
    if path.is_dir():
        raise IsADirectoryError(f"path must name a checkpoint, which is one file, got the folder {path}")
    if not path.is_file():
        raise FileNotFoundError(f"path must name a checkpoint, got {path}, which does not exist")
    try:
        with safe_open(path, framework="pt") as file:
            header = file.metadata() or {}
            # Copied to memory that PyTorch allocates: products of unaligned inputs sum in a different order, and a
            # resumed run must equal the uninterrupted one bit for bit.
            tensors = {name: file.get_tensor(name).clone() for name in file.keys()}  # noqa: SIM118 - not a dict
    except (SafetensorError, OSError, ValueError) as error:
        raise ValueError(f"{path} is no whole safetensors file, it was cut short or damaged: {error}") from error
    if "nlmcore" not in header or "sha256" not in header:
        raise ValueError(f"{path} is a safetensors file, but not a checkpoint of nlmcore.training")
    if _digest(tensors, header["nlmcore"]) != header["sha256"]:
        raise ValueError(f"{path} was damaged: its contents do not have the SHA-256 that its header names")
    content = json.loads(header["nlmcore"])
    tensors |= {name: tensors[other] for name, other in content["same_as"].items()}
    return tensors, content["facts"]


def _without_aliases(tensors: dict[str, Tensor]) -> tuple[dict[str, Tensor], dict[str, str]]:
    """Contiguous copies on the CPU; a tensor that is another one's memory is named instead of copied."""
    own: dict[str, Tensor] = {}
    same_as: dict[str, str] = {}
    seen: dict[tuple, str] = {}
    storages: set[int] = set()
    for name, tensor in tensors.items():
        if not isinstance(tensor, Tensor):
            raise TypeError(f"tensors[{name!r}] must be a tensor, got {type(tensor).__name__}")
        place = (tensor.data_ptr(), tensor.shape, tensor.stride(), tensor.dtype, tensor.device)
        if tensor.numel() and place in seen:
            same_as[name] = seen[place]
            continue
        seen[place] = name
        copy = tensor.detach().cpu().contiguous()
        storage = copy.untyped_storage()
        if storage.nbytes() != copy.nbytes or storage.data_ptr() in storages:
            copy = copy.clone()  # a part of something larger, or another view of the same memory
        storages.add(copy.untyped_storage().data_ptr())
        own[name] = copy
    return own, same_as


def _digest(tensors: dict[str, Tensor], text: str) -> str:
    digest = hashlib.sha256(text.encode())
    for name in sorted(tensors):
        tensor = tensors[name].contiguous()
        digest.update(f"\n{name} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
        digest.update(tensor.reshape(-1).view(torch.uint8).numpy().data if tensor.numel() else b"")
    return digest.hexdigest()
