"""Strings in, strings out: the tensors of `nlmcore.decoding` are made and read here.

A context that is used up slides (`nlmcore.decoding.stream`).
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch

from nlmcore.checks import Count, checked
from nlmcore.decoding import stream
from nlmcore.language_model import LanguageModel
from nlmcore.tokens import Tokenizer, decode_stream

Message = Mapping[str, str]
"""{"role": "user", "content": "Who was Hamlet?"}; a role is "system", "user" or "assistant"."""


@checked
def complete(
    model: LanguageModel, tokenizer: Tokenizer, prompt: str, max_new_tokens: Count = 100, **options: Any
) -> str:
    """The text that follows `prompt`, up to `max_new_tokens` tokens or the token that ends a text.

    options: those of `nlmcore.decoding.stream`, like temperature=0.8, top_p=0.9 or a generator. Raises as it does.
    """
    return "".join(write_text(model, tokenizer, prompt, max_new_tokens, **options))


@checked
def chat(
    model: LanguageModel,
    tokenizer: Tokenizer,
    messages: str | Sequence[Message],
    max_new_tokens: Count = 200,
    **options: Any,
) -> str:
    """The answer to a conversation; a string is the user's one message. Options as in `complete`.

    Raises TypeError for a tokenizer without the form of a conversation, as are all that we train: `complete` a text.
    """
    said = [{"role": "user", "content": messages}] if isinstance(messages, str) else messages
    return "".join(write_text(model, tokenizer, said, max_new_tokens, **options))


def can_chat(tokenizer: object) -> bool:
    """Whether its model was trained to answer in the form of a conversation."""
    return getattr(tokenizer, "system", None) is not None


def write_text(
    model: LanguageModel,
    tokenizer: Any,
    prompt: str | Sequence[Message],
    max_new_tokens: int = 100,
    **options: Any,
) -> Iterator[str]:
    """`complete` for a string, `chat` for messages: pieces of whole characters, as they are written."""
    if isinstance(prompt, str):
        # Nothing before it: the token that begins a text, or ended the one before it.
        ids = tokenizer.encode(prompt) or [tokenizer.bos]
    elif can_chat(tokenizer):
        ids = tokenizer.chat(prompt)
    else:
        raise TypeError(
            f"tokenizer must have the form of a conversation, got {tokenizer!r}: its model was not trained to chat;"
            " complete(model, tokenizer, text) continues a text"
        )
    if tokenizer.vocab_size > model.vocab_size:
        raise ValueError(
            f"tokenizer must be the model's, of at most {model.vocab_size} tokens, got one of {tokenizer.vocab_size}"
        )
    device = next((p.device for p in getattr(model, "parameters", list)()), torch.device("cpu"))
    settings: dict[str, Any] = {"eos": tokenizer.eos, "window": "slide", **options}
    steps = stream(model, torch.tensor([ids], device=device), max_new_tokens, **settings)
    return decode_stream(tokenizer, (int(step.tokens) for step in steps), skip_special=True)
