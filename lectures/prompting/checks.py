"""What a prompt needs of a model and a tokenizer, and the refusal of anything else."""

from collections.abc import Iterable, Sequence
from operator import index
from typing import Any, Protocol, SupportsIndex

import torch
from torch import Tensor

from nlmcore.checks import described, check_tokens
from nlmcore.language_model import LanguageModel, check_id, check_model


class Tokenizer(Protocol):
    """Text to ids and back. Every tokenizer of this course is one."""

    def encode(self, text: str, /) -> list[int]: ...

    def decode(self, ids: Iterable[int], /) -> str: ...


def check_parts(model: LanguageModel, tokenizer: Tokenizer) -> None:
    """Refuse what is no language model or no tokenizer, with TypeError."""
    check_model(model)
    if not callable(getattr(tokenizer, "encode", None)) or not callable(getattr(tokenizer, "decode", None)):
        raise TypeError(f"tokenizer must have encode and decode, got {tokenizer!r:.80}")


def check_strings(name: str, strings: Any, kind: type = Sequence, advice: str = "") -> list[str]:
    """A list of strings as one, or TypeError with the number of the one that is none."""
    if isinstance(strings, str) or not isinstance(strings, kind):
        raise TypeError(f"{name} must be a list of strings{advice}, got {described(strings)}")
    found: list[Any] = list(strings)  # type: ignore[call-overload]
    for i, text in enumerate(found):
        if not isinstance(text, str):
            raise TypeError(f"{name}[{i}] must be a string, got {described(text)}")
    return found


def prefix(bos: SupportsIndex | None, model: LanguageModel) -> list[int]:
    """The ids to begin with: [bos], or [] for None."""
    first = check_id(bos, model.vocab_size, "bos")
    return [] if first is None else [first]


def as_ids(prompt: object, tokenizer: Tokenizer, model: LanguageModel) -> list[int]:
    """The ids of a prompt, which is a text or ids already; TypeError for neither, ValueError for a foreign id."""
    if isinstance(prompt, str):
        return tokenizer.encode(prompt)
    ids = list(prompt) if isinstance(prompt, Iterable) and not isinstance(prompt, bytes) else [None]
    if any(isinstance(i, bool) or not isinstance(i, SupportsIndex) for i in ids):
        raise TypeError(f"prompt must be a string, or ids, got {described(prompt)}")
    found = [index(i) for i in ids if isinstance(i, SupportsIndex)]
    if wrong := [i for i in found if not 0 <= i < model.vocab_size]:
        raise ValueError(f"prompt must hold ids in [0, {model.vocab_size}), the vocabulary, got {wrong[0]}")
    return found


def as_tokens(ids: Sequence[int], model: LanguageModel, name: str) -> Tensor:
    """One row of ids (1, time) on the model's device; ValueError for none, or for an id outside the vocabulary."""
    parameters = getattr(model, "parameters", None)
    device = next((p.device for p in parameters()), None) if callable(parameters) else None
    tokens = torch.tensor([list(ids)], dtype=torch.long, device=device)
    check_tokens(tokens, model.vocab_size, name)
    return tokens
