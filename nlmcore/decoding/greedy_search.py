"""Greedy search: the most probable token, every time.

    w_t = argmax_w P(w | w_1 ... w_{t-1})

It finds the most probable next token, not the most probable text: it never begins with an improbable word, and
it prefers many common words to one rare one. Source: folklore; Jurafsky & Martin (2024, section 10.2).
"""

from typing import SupportsIndex

import torch
from jaxtyping import Int
from torch import Tensor

from nlmcore.decoding.arguments import check_request
from nlmcore.decoding.results import Generation
from nlmcore.decoding.tree import SearchTree
from nlmcore.decoding.writing import Watcher, collect, write
from nlmcore.language_model import LanguageModel, State


def most_probable(log_probs: Tensor) -> Tensor:
    """argmax; the lower id wins a tie."""
    return log_probs.argmax(dim=-1)


@torch.no_grad()
def greedy(
    model: LanguageModel,
    prompt: Int[Tensor, "batch time"],
    max_new_tokens: int,
    *,
    eos: SupportsIndex | None = None,
    state: State = None,
    trace: bool = False,
) -> Generation | tuple[Generation, SearchTree]:
    """Write up to `max_new_tokens` after each prompt; with `trace=True` return (generation, tree).

    `state` is what the model has read before the prompt (a seq2seq decoder: `model.encode(source)`).
    """
    prompt, eos = check_request(model, prompt, max_new_tokens, eos, state)
    watch = Watcher(len(prompt), eos) if trace else None
    steps = write(model, prompt, max_new_tokens, most_probable, eos=eos, state=state, watch=watch)
    generation = collect(steps, prompt)
    return generation if watch is None else (generation, watch.tree)
