"""Greedy search and ancestral sampling: the most probable token every time, or one sampled from the distribution.

    greedy    w_t = argmax_w P(w | w_1 ... w_{t-1})
    sample    w_t ~ reshape(P(. | w_1 ... w_{t-1}))

Greedy search finds the most probable next token, not the most probable text: it never begins with an improbable word,
and it prefers many common words to one rare one. Sampling without any filter gives exact samples of the model;
`filters` has the reshaping and its sources.
Source: folklore; Jurafsky & Martin (2024, section 10.2).
Departs from the literature: nothing. `log_probs` of the result are the model's own, before any reshaping.
"""

from collections.abc import Iterator
from typing import Any, SupportsIndex

import torch

from nlmcore.checks import Count, Size, door
from nlmcore.decoding.choosing import most_probable
from nlmcore.decoding.filters import chooser, takes_filters
from nlmcore.decoding.reading import Prompt, all_but_last, check_request
from nlmcore.decoding.results import Generation, SearchTree
from nlmcore.decoding.writing import Step, Watcher, collect, write
from nlmcore.language_model import LanguageModel, State, select


@door
@torch.no_grad()
def greedy(
    model: LanguageModel,
    prompt: Prompt,
    max_new_tokens: Count,
    *,
    eos: SupportsIndex | None = None,
    state: State = None,
    trace: bool = False,
) -> Generation | tuple[Generation, SearchTree]:
    """Write up to `max_new_tokens` after each prompt, always the most probable one."""
    prompt, end = check_request(model, prompt, eos, state)
    watch = Watcher(len(prompt), end) if trace else None
    steps = write(model, prompt, max_new_tokens, most_probable, eos=end, state=state, watch=watch)
    return collect(steps, prompt, watch)


@takes_filters
@door
@torch.no_grad()
def sample(
    model: LanguageModel,
    prompt: Prompt,
    max_new_tokens: Count,
    *,
    eos: SupportsIndex | None = None,
    state: State = None,
    num_samples: Size = 1,
    generator: torch.Generator | None = None,
    trace: bool = False,
    **filters: Any,
) -> Generation | tuple[Generation, SearchTree]:
    """Sample texts of up to `max_new_tokens`; row `i * num_samples + j` of the result is prompt i's j-th text.

    filters: `temperature=1.0` (0 is greedy), and `top_k`, `top_p`, `min_p`, `typical_p` of the table
    `nlmcore.decoding.FILTERS`; None leaves one out.
    """
    prompt, end = check_request(model, prompt, eos, state)
    choose = chooser(filters, generator)
    if num_samples > 1:  # read each prompt once: every copy reads only its last token
        last, state = all_but_last(model, prompt, state)
        rows = torch.arange(len(prompt), device=prompt.device).repeat_interleave(num_samples)
        prompt, state = last[rows], select(state, rows)
    watch = Watcher(len(prompt), end) if trace else None
    return collect(write(model, prompt, max_new_tokens, choose, eos=end, state=state, watch=watch), prompt, watch)


@takes_filters
@door
def stream(
    model: LanguageModel,
    prompt: Prompt,
    max_new_tokens: Count,
    *,
    eos: SupportsIndex | None = None,
    state: State = None,
    generator: torch.Generator | None = None,
    **filters: Any,
) -> Iterator[Step]:
    """`sample`, one `Step` at a time, for text that appears as it is written. temperature=0 streams greedy search.

    for step in stream(model, prompt, 50): print(tokenizer.decode(step.tokens.tolist()), end="")
    """
    prompt, end = check_request(model, prompt, eos, state)
    return write(model, prompt, max_new_tokens, chooser(filters, generator), eos=end, state=state)
