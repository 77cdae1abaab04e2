"""Greedy search and ancestral sampling: the most probable token every time, or one sampled from the distribution.

    greedy    w_t = argmax_w P(w | w_1 ... w_{t-1})
    sample    w_t ~ reshape(P(. | w_1 ... w_{t-1}))

Greedy search need not find the most probable text. Sampling without any filter gives exact samples of the model;
`write` is the loop for every rule that chooses from one distribution at a time: it reads the prompt once and every new
token once, and continues with only the unfinished rows.

**A window that slides.** Where a model has used up its positions, `window="slide"` forgets the older half of what it
sees and reads the newer half again, from the first position on: on average one more token is read for each that is
written, and every token is predicted from at least half a window.

Source: folklore; Jurafsky & Martin (2024, section 10.2). Departs from the literature: nothing.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, SupportsIndex, overload

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from nlmcore.checks import Amount, ContextLengthError, Count, Probability, Size, checked
from nlmcore.decoding.filters import Filter, chooser, compose
from nlmcore.decoding.reading import Prompt, check_request, copies, next_log_probs
from nlmcore.decoding.results import Generation, SearchTree, Status
from nlmcore.language_model import LanguageModel, State, select


@dataclass(frozen=True)
class Step:
    """One new token for every row, as it is written; 0 (and log-probability 0) in rows that had ended before."""

    tokens: Int[Tensor, " batch"]
    log_probs: Float[Tensor, " batch"]
    finished: Bool[Tensor, " batch"]


Window = Literal["slide"] | None


@overload
def greedy(
    model: LanguageModel,
    prompt: Prompt,
    max_new_tokens: Count,
    *,
    eos: SupportsIndex | None = None,
    state: State = None,
    window: Window = None,
    trace: Literal[False] = False,
) -> Generation: ...


@overload
def greedy(
    model: LanguageModel,
    prompt: Prompt,
    max_new_tokens: Count,
    *,
    eos: SupportsIndex | None = None,
    state: State = None,
    window: Window = None,
    trace: Literal[True],
) -> tuple[Generation, SearchTree]: ...


def greedy(
    model: LanguageModel,
    prompt: Prompt,
    max_new_tokens: Count,
    *,
    eos: SupportsIndex | None = None,
    state: State = None,
    window: Window = None,
    trace: bool = False,
) -> Generation | tuple[Generation, SearchTree]:
    """Write up to `max_new_tokens` after each prompt, always the most probable one."""
    settings: Any = {"trace": trace}
    return sample(model, prompt, max_new_tokens, eos=eos, state=state, window=window, temperature=0, **settings)


@overload
def sample(
    model: LanguageModel,
    prompt: Prompt,
    max_new_tokens: Count,
    *,
    eos: SupportsIndex | None = None,
    state: State = None,
    num_samples: Size = 1,
    temperature: Amount = 1.0,
    top_k: Size | None = None,
    top_p: Probability | None = None,
    min_p: Probability | None = None,
    typical_p: Probability | None = None,
    filters: Sequence[Filter] = (),
    generator: torch.Generator | None = None,
    window: Window = None,
    trace: Literal[False] = False,
) -> Generation: ...


@overload
def sample(
    model: LanguageModel,
    prompt: Prompt,
    max_new_tokens: Count,
    *,
    eos: SupportsIndex | None = None,
    state: State = None,
    num_samples: Size = 1,
    temperature: Amount = 1.0,
    top_k: Size | None = None,
    top_p: Probability | None = None,
    min_p: Probability | None = None,
    typical_p: Probability | None = None,
    filters: Sequence[Filter] = (),
    generator: torch.Generator | None = None,
    window: Window = None,
    trace: Literal[True],
) -> tuple[Generation, SearchTree]: ...


@checked
@torch.no_grad()
def sample(
    model: LanguageModel,
    prompt: Prompt,
    max_new_tokens: Count,
    *,
    eos: SupportsIndex | None = None,
    state: State = None,
    num_samples: Size = 1,
    temperature: Amount = 1.0,
    top_k: Size | None = None,
    top_p: Probability | None = None,
    min_p: Probability | None = None,
    typical_p: Probability | None = None,
    filters: Sequence[Filter] = (),
    generator: torch.Generator | None = None,
    window: Window = None,
    trace: bool = False,
) -> Generation | tuple[Generation, SearchTree]:
    """Sample texts of up to `max_new_tokens`; row `i * num_samples + j` of the result is prompt i's j-th text.

    temperature: below 1 sharpens the distribution, above 1 flattens it, 0 is greedy. top_k, top_p, min_p and typical_p
    then drop improbable tokens, in this order (`nlmcore.decoding.filters` has the rules); None drops none. filters: any
    further functions of logits (row, vocab), applied last. window: "slide" writes on where the model's positions end;
    None refuses, with ValueError, before the first step (with an `eos`, where they end).

    A trace has the most probable tokens at every step; `score` is ln of the probability with which each was sampled,
    after all filters (None where nothing was reshaped, or at temperature 0).
    """
    prompt, end = check_request(model, prompt, eos, state, 0 if window else max_new_tokens)
    given = (temperature, top_k, top_p, min_p, typical_p)
    reshaped = compose(*given, filters)
    choose = chooser(reshaped, temperature, generator)
    # The prompt is read once for all its samples: a state is a value, so copies of it may part.
    if num_samples > 1 and window is None:
        prompt, state = copies(model, prompt, state, num_samples)
    elif num_samples > 1:  # what slides must be there to be read again
        rows = torch.arange(len(prompt), device=prompt.device).repeat_interleave(num_samples)
        prompt, state = prompt[rows], select(state, rows)
    # Then tokens are sampled by their own log-probabilities, and a trace need not show two numbers.
    as_it_is = temperature == 0 or (given == (1, None, None, None, None) and not filters)
    watch = Watcher(len(prompt), end, None if as_it_is else reshaped) if trace else None
    steps = write(model, prompt, max_new_tokens, choose, eos=end, state=state, watch=watch, window=window)
    return collect(steps, prompt, watch)


@checked
def stream(
    model: LanguageModel,
    prompt: Prompt,
    max_new_tokens: Count,
    *,
    eos: SupportsIndex | None = None,
    state: State = None,
    temperature: Amount = 1.0,
    top_k: Size | None = None,
    top_p: Probability | None = None,
    min_p: Probability | None = None,
    typical_p: Probability | None = None,
    filters: Sequence[Filter] = (),
    generator: torch.Generator | None = None,
    window: Window = None,
) -> Iterator[Step]:
    """`sample`, one `Step` at a time, for text that appears as it is written, by `nlmcore.tokens.decode_stream`.

    temperature=0 streams greedy search.
    """
    prompt, end = check_request(model, prompt, eos, state, 0 if window else max_new_tokens)
    reshaped = compose(temperature, top_k, top_p, min_p, typical_p, filters)
    choose = chooser(reshaped, temperature, generator)
    return write(model, prompt, max_new_tokens, choose, eos=end, state=state, window=window)


Choose = Callable[[Tensor], Tensor]  # a rule: log-probabilities (row, vocab) -> the tokens that are written (row)

ALTERNATIVES = 5  # how many of the most probable tokens a trace shows alongside the chosen one


def write(
    model: LanguageModel,
    prompt: Int[Tensor, "batch time"],
    max_new_tokens: int,
    choose: Choose,
    *,
    eos: int | None,
    state: State,
    watch: "Watcher | None" = None,
    window: Window = None,
) -> Iterator[Step]:
    """Yield the new tokens step by step until every row has ended; `watch` grows a tree of them."""
    batch = len(prompt)
    going = torch.arange(batch, device=prompt.device)  # rows that have not ended
    finished = torch.zeros(batch, dtype=torch.bool, device=prompt.device)
    unread = prompt  # (row, time) at first, then (row, 1): what the model has not read yet
    start, text, read = state, prompt[:, :0], 0  # text: all tokens of the rows that go on, of which `state` read some
    for _ in range(max_new_tokens):
        with torch.no_grad():  # but not around the yield: between two steps gradients are as the caller has them
            text = torch.cat([text, unread], dim=1) if window else unread
            try:
                log_probs, state = next_log_probs(model, unread, state)
            except ContextLengthError as full:
                room = full.max_length - (full.first - read)  # without what the state that was given has read
                if not window or room < 1:
                    raise
                unread, read = text[:, -max(room // 2, 1) :], 0
                log_probs, state = next_log_probs(model, unread, start)
            read += unread.shape[1]
            chosen = choose(log_probs)  # (row)
        unread = chosen[:, None]
        chosen_log_probs = log_probs.gather(1, unread)[:, 0]
        if watch is not None:
            watch.see(going, log_probs, chosen)
        if eos is not None:
            ended = chosen == eos
            # Copied, not written: the Step that was yielded last holds the old one.
            finished = finished.index_copy(0, going, ended)
        if len(going) < batch:
            # Rows that had ended are no longer computed; in the result they are padding.
            chosen = chosen.new_zeros(batch).index_copy(0, going, chosen)
            chosen_log_probs = log_probs.new_zeros(batch).index_copy(0, going, chosen_log_probs)
        yield Step(chosen, chosen_log_probs, finished)
        if eos is not None and ended.any():
            # From here on only the rows that go on are read, state included.
            rest = (~ended).nonzero()[:, 0]
            if len(rest) == 0:
                return
            going, unread, state = going[rest], unread[rest], select(state, rest)
            if window:
                start, text = select(start, rest), text[rest]


def collect(
    steps: Iterable[Step], prompt: Int[Tensor, "batch time"], watch: "Watcher | None" = None
) -> Generation | tuple[Generation, SearchTree]:
    """All the steps side by side; with a watcher, (generation, its tree)."""
    written = list(steps)
    if written:
        tokens = torch.stack([step.tokens for step in written], dim=1)
        log_probs = torch.stack([step.log_probs for step in written], dim=1)
        generation = Generation(tokens, log_probs, written[-1].finished)
    else:
        generation = Generation(prompt[:, :0], prompt[:, :0].float(), torch.zeros_like(prompt[:, 0], dtype=torch.bool))
    return generation if watch is None else (generation, watch.tree)


class Watcher:
    """Grows a tree while texts are written: every chosen token, and the alternatives to it."""

    def __init__(self, prompts: int, eos: int | None, reshaped: Callable[[Tensor], Tensor] | None = None) -> None:
        self.tree = SearchTree(prompts)
        self.eos, self.reshaped = eos, reshaped
        self._here = [root.id for root in self.tree.roots]

    def see(self, rows: Tensor, log_probs: Tensor, chosen: Tensor) -> None:
        """The chosen token of every row and the most probable others."""
        sampled_from = None if self.reshaped is None else self.reshaped(log_probs).log_softmax(dim=-1)
        best = log_probs.topk(min(ALTERNATIVES, log_probs.shape[1]), dim=1).indices
        for i, row in enumerate(rows.tolist()):
            candidates = dict.fromkeys([int(chosen[i]), *best[i].tolist()])  # once each, the chosen one first
            scores = None if sampled_from is None else sampled_from[i]
            found = [(t, float(log_probs[i, t]), None if scores is None else float(scores[t])) for t in candidates]
            self.add(row, found, int(chosen[i]))

    def add(self, row: int, candidates: Iterable[tuple[int, float, float | None]], chosen: int) -> None:
        """One row's candidates as (token, log-probability, score); the text continues with the chosen one."""
        parent = self._here[row]
        for token, log_prob, score in candidates:
            status: Status = "pruned" if token != chosen else "finished" if token == self.eos else "kept"
            node = self.tree.add(parent, token, log_prob, status, score=score)
            if token == chosen:
                self._here[row] = node
                self.tree.best.update((parent, node))
