"""A model and its tokenizer in one folder, which another machine, another program or another day reads back.

    save_model("mine", model, tokenizer)
    model, tokenizer = load_model("mine")           the same logits to the last bit, in evaluation mode

    mine/nlmcore.json          what builds the model again, parts by the names under which they are imported, and the
                               tokenizer
    mine/model.safetensors     its weights
    mine/config.json           and tokenizer.json: only for GPT-2's shape. The weights too are then as Hugging Face has
                               them, so that its loaders read the folder

**GPT-2's shape** is a `TransformerLM` of layer norm before each sublayer, learned positions, biases and a plain
feed-forward network, as the default configuration is; any part that differs, Llama's or one of `nlmcore.variants`, has
no name in GPT-2's config.json, and such a folder is read here alone. tokenizer.json is written for byte pairs alone,
where the library `tokenizers` is installed.

**An adapter** (`nlmcore.transfer.LoRA`) is saved as A and B alone, a thousandth of its model; it is loaded onto that
model: `load_model("mine", base=smollm2())`. The file knows a digest of a matrix, so another model is refused.

Source: safetensors (Hugging Face), a format that holds numbers and runs nothing; the JSON can name only layers and
functions of tensors that `nlmcore` and `torch` have (`nlmcore.transformer.names`).
"""

import hashlib
import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from nlmcore.checks import checked, described
from nlmcore.fast.weights import aliased, for_decoding
from nlmcore.pretrained import gpt2_export, gpt2_weights
from nlmcore.pretrained.byte_pairs import BytePairTokenizer
from nlmcore.pretrained.weights import read_safetensors
from nlmcore.tokens import BPETokenizer, Tokenizer
from nlmcore.tool.descriptions import describe, rebuilt, tokenizer_fields, tokenizer_of
from nlmcore.training.checkpoint import write_to_disk
from nlmcore.transfer import LoRA
from nlmcore.transformer import TransformerLM

__all__ = ["load_model", "save_model"]

DESCRIPTION, WEIGHTS, VERSION = "nlmcore.json", "model.safetensors", 1


@checked
def save_model(folder: str | Path, model: nn.Module, tokenizer: Tokenizer | None = None) -> Path:
    """Write the folder, which is made if it is not there; what an earlier call wrote there is replaced.

    What was there stays whole until all that is new is on the disk beside it.

    Raises TypeError for a model or tokenizer that this cannot describe, ValueError for a part without a name, like a
    lambda, and FileExistsError for a folder that holds something else.
    """
    place = checked_folder(folder)
    description: dict[str, Any] = {"nlmcore": VERSION, "tokenizer": tokenizer and tokenizer_fields(tokenizer)}
    texts: dict[str, Any] = {}
    if isinstance(model, LoRA):
        description["adapter"], weights = describe_adapter(model), model.state_dict()
    else:
        description["model"] = describe(model)
        weights = without_aliases(model)
        by_column = [n for n, w in weights.items() if w.ndim == 2 and not w.is_contiguous() and w.t().is_contiguous()]
        description["by_column"] = by_column  # the layout of `nlmcore.fast.weights`: sums in another order
        if type(model) is TransformerLM and (sizes := gpt2_export.sizes_of(model.config)) is not None:
            description["names"] = "gpt2"
            weights = gpt2_export.exported(weights, model.config)
            if isinstance(tokenizer, BPETokenizer | BytePairTokenizer):
                with suppress(ModuleNotFoundError):  # only the extra [pretrained] brings `tokenizers`
                    texts["tokenizer.json"] = gpt2_export.tokenizer_document(tokenizer)
                    texts["tokenizer_config.json"] = gpt2_export.special_tokens(tokenizer)
                sizes |= {"bos_token_id": tokenizer.bos, "eos_token_id": tokenizer.eos, "pad_token_id": tokenizer.pad}
            texts["config.json"] = sizes
    from safetensors.torch import save

    whole = {name: w.detach().cpu().contiguous() for name, w in weights.items()}
    files = {WEIGHTS: save(whole, {"format": "pt"})}
    files |= {name: json.dumps(text, indent=1).encode() for name, text in texts.items()}
    replace_files(place, files | {DESCRIPTION: json.dumps(description).encode()})
    return place


@checked
def load_model(folder: str | Path, base: Any = None) -> tuple[Any, Any]:
    """(model, tokenizer) of a folder that `save_model` wrote, in evaluation mode, or a GPT-2 in Hugging Face's layout.

    base: for an adapter, the (model, tokenizer) onto which it is loaded; its tokenizer is returned unless the folder
    has one. The model is changed in place, as by `LoRA`. The tokenizer is None if none was saved.

    Raises FileNotFoundError for a folder or file that is not there, ValueError for a damaged one or another base,
    TypeError for an adapter without a base.
    """
    place = Path(folder).expanduser()
    if not place.is_dir():
        raise FileNotFoundError(f"folder must be one that save_model wrote, and there is no folder {place}")
    if not (place / DESCRIPTION).is_file():
        if (place / "config.json").is_file():
            return gpt2_weights.gpt2(place)
        raise FileNotFoundError(
            f"{place} has no {DESCRIPTION}: it is no folder of save_model, or a training or a writing was interrupted"
            " there. Go on with that, or name the folder inside it that has one"
        )
    description = gpt2_weights.read_json(place / DESCRIPTION)
    if (version := description.get("nlmcore")) != VERSION:
        raise ValueError(
            f"{DESCRIPTION} has version {version!r}; this nlmcore reads {VERSION}: use the one that saved it"
        )
    if not (place / WEIGHTS).is_file():
        raise FileNotFoundError(f"{place} has no {WEIGHTS}: copy it from where you have the folder")
    if "adapter" not in description and base is not None:
        raise TypeError(f"base must be None: {place} holds a whole model, not an adapter")
    pair = isinstance(base, tuple) and len(base) == 2 and isinstance(base[0], nn.Module)
    if "adapter" in description and not pair:
        raise TypeError(
            "base must be (model, tokenizer), that of the model onto which this adapter was trained, as in"
            f" load_model(folder, base=smollm2()), got {described(base)}"
        )
    weights = read_safetensors(place / WEIGHTS, "Copy it again from where you have it")
    try:
        fields = description["tokenizer"]
        tokenizer = None if fields is None else tokenizer_of(fields)
        if "adapter" in description:
            return with_adapter(description["adapter"], weights, base, tokenizer)
        return built(description, weights), tokenizer
    except (KeyError, AttributeError, RuntimeError, TypeError) as error:  # RuntimeError: weights of other shapes
        raise ValueError(f"{place} is damaged or was changed by hand: {error!r:.300}") from error


def checked_folder(folder: str | Path) -> Path:
    """Where a model may be written; FileExistsError for another program's folder, or if it is a file."""
    place = Path(folder).expanduser()
    if place.exists() and not place.is_dir():
        raise FileExistsError(f"folder must be a new one or one that save_model wrote, got {place}, a file")
    if (place / "config.json").exists() and not any(place.glob(f"*{DESCRIPTION}*")):  # or one that was being written
        raise FileExistsError(f"folder must be a new one or one that save_model wrote, got {place}, another program's")
    return place


def replace_files(place: Path, files: dict[str, bytes]) -> None:
    """Write them beside the old ones, then rename. The description goes first and comes last: with one, it is whole."""
    place.mkdir(parents=True, exist_ok=True)
    beside = {name: place / f".{name}.writing" for name in files}
    try:
        for name, content in files.items():
            write_to_disk(beside[name], content)
    except BaseException:
        for path in beside.values():
            path.unlink(missing_ok=True)
        raise
    for name in (DESCRIPTION, "config.json", "tokenizer.json", "tokenizer_config.json"):
        (place / name).unlink(missing_ok=True)
    for name in files:
        os.replace(beside[name], place / name)


def is_adapter(folder: str | Path) -> bool:
    """Whether a folder holds an adapter alone, which needs its base."""
    file = Path(folder).expanduser() / DESCRIPTION
    return file.is_file() and "adapter" in gpt2_weights.read_json(file)


def built(description: dict[str, Any], weights: dict[str, Tensor]) -> nn.Module:
    """The model that was described, with these weights."""
    model = rebuilt(description["model"])
    model.to(next(w.dtype for w in weights.values() if w.is_floating_point()))
    if description.get("names") == "gpt2":
        weights = gpt2_weights.convert(weights, model.config)
    model.load_state_dict(aliased(model, weights))
    for name in description.get("by_column", ()):
        parameter = model.get_parameter(name)
        parameter.data = for_decoding(parameter.data)
    return model.eval()


def without_aliases(model: nn.Module) -> dict[str, Tensor]:
    """The state_dict, a parameter with several names under the first of them only: safetensors allows no two."""
    once = {name for name, _ in model.named_parameters()} | {name for name, _ in model.named_buffers()}
    return {name: tensor for name, tensor in model.state_dict().items() if name in once}


def describe_adapter(adapter: LoRA) -> dict[str, Any]:
    """Which matrices it adapts, and how."""
    if adapter.merged:
        raise ValueError(
            "model must be an adapter that is not merged, got one that is: unmerge() it, or save its model"
        )
    part: Any = adapter.parts[0]
    rank = part.A.shape[0]
    return {"names": adapter.names, "rank": rank, "alpha": part.scale * rank, "base": digest(adapter.pretrained(0))}


def with_adapter(given: dict[str, Any], weights: dict[str, Tensor], base: Any, tokenizer: Any) -> tuple[LoRA, Any]:
    """The base with its adapter. Raises ValueError for a base that it was not trained on."""
    model, names = base[0], set(given["names"])
    found = dict(model.named_parameters())
    if not names <= found.keys() or digest(found[given["names"][0]]) != given["base"]:
        raise ValueError("base must be the model on which the adapter was trained, with nothing added; this is another")
    adapter = LoRA(model, given["rank"], given["alpha"], names.__contains__)
    adapter.load_state_dict(weights)
    return adapter.eval(), base[1] if tokenizer is None else tokenizer


def digest(weight: Tensor) -> str:
    """SHA-256 of a matrix's numbers, row by row."""
    flat = weight.detach().cpu().contiguous().reshape(-1)
    return hashlib.sha256(flat.view(torch.uint8).numpy().data).hexdigest()
