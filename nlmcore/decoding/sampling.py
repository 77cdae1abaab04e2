"""Ancestral sampling: draw each token from the model's distribution, reshaped or not.

    w_t ~ reshape(P(. | w_1 ... w_{t-1}))

`filters.py` holds the reshaping and its sources. With nothing reshaped the texts are exact samples of the model.
Departs from the literature: nothing. `log_probs` of the result are the model's own, before any reshaping.
"""

from collections.abc import Iterator
from functools import partial
from typing import SupportsIndex

import torch
from jaxtyping import Int
from torch import Tensor

from nlmcore.decoding.arguments import check_count, check_request
from nlmcore.decoding.drawing import draw
from nlmcore.decoding.filters import check_filters, reshape
from nlmcore.decoding.greedy_search import most_probable
from nlmcore.decoding.reading import state_after
from nlmcore.decoding.results import Generation
from nlmcore.decoding.tree import SearchTree
from nlmcore.decoding.writing import Choose, Step, Watcher, collect, write
from nlmcore.language_model import LanguageModel, State, select


def chooser(generator: torch.Generator | None, temperature, top_k, top_p, min_p, typical_p) -> Choose:
    """The rule that draws from the reshaped distribution; temperature 0 draws nothing: it is greedy."""
    check_filters(temperature, top_k, top_p, min_p, typical_p)
    if temperature == 0:
        return most_probable
    reshaped = partial(reshape, temperature=temperature, top_k=top_k, top_p=top_p, min_p=min_p, typical_p=typical_p)
    return lambda log_probs: draw(reshaped(log_probs).exp(), generator)


@torch.no_grad()
def sample(
    model: LanguageModel,
    prompt: Int[Tensor, "batch time"],
    max_new_tokens: int,
    *,
    eos: SupportsIndex | None = None,
    state: State = None,
    temperature: float | int = 1.0,
    top_k: int | None = None,
    top_p: float | int | None = None,
    min_p: float | int | None = None,
    typical_p: float | int | None = None,
    num_samples: int = 1,
    generator: torch.Generator | None = None,
    trace: bool = False,
) -> Generation | tuple[Generation, SearchTree]:
    """Draw texts of up to `max_new_tokens`; row `i * num_samples + j` of the result is prompt i's j-th text."""
    prompt, eos = check_request(model, prompt, max_new_tokens, eos, state)
    check_count("num_samples", num_samples)
    choose = chooser(generator, temperature, top_k, top_p, min_p, typical_p)
    if num_samples > 1:
        prompt, state = _repeat(model, prompt, state, num_samples)
    watch = Watcher(len(prompt), eos) if trace else None
    steps = write(model, prompt, max_new_tokens, choose, eos=eos, state=state, watch=watch)
    generation = collect(steps, prompt)
    return generation if watch is None else (generation, watch.tree)


def _repeat(model: LanguageModel, prompt: Tensor, state: State, times: int) -> tuple[Tensor, State]:
    """Each prompt `times` times, read once: only its last token stays to be read by every copy."""
    if prompt.shape[1] > 1:
        state = state_after(model, prompt[:, :-1], state)
    rows = torch.arange(len(prompt), device=prompt.device).repeat_interleave(times)
    return prompt[rows, -1:], select(state, rows)


def stream(
    model: LanguageModel,
    prompt: Int[Tensor, "batch time"],
    max_new_tokens: int,
    *,
    eos: SupportsIndex | None = None,
    state: State = None,
    temperature: float | int = 1.0,
    top_k: int | None = None,
    top_p: float | int | None = None,
    min_p: float | int | None = None,
    typical_p: float | int | None = None,
    generator: torch.Generator | None = None,
) -> Iterator[Step]:
    """`sample`, one `Step` at a time, for text that appears as it is written. temperature=0 streams greedy search.

    for step in stream(model, prompt, 50): print(tokenizer.decode(step.tokens.tolist()), end="")
    """
    prompt, eos = check_request(model, prompt, max_new_tokens, eos, state)
    choose = chooser(generator, temperature, top_k, top_p, min_p, typical_p)
    return write(model, prompt, max_new_tokens, choose, eos=eos, state=state)
