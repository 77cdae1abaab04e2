"""Contrastive search: a probable token that does not lead the model back to where it has been.

    w_t = argmax over the k most probable w of   (1 - alpha) P(w | w_<t)  -  alpha * max_j cos(h_w, h_j)

h_w is the model's hidden vector after reading w, h_j those of the text before, from `hidden` if it is given, else from
the model's own `hidden_states`. alpha = 0 or k = 1 is greedy search. Source: Su et al. (2022, "A Contrastive Framework
for Neural Text Generation", section 3.2, equation 5).

Departs from the paper: a model without vectors (an n-gram model) is compared by its predictions instead: h = sqrt(P(. |
text)), whose cosine is the Bhattacharyya coefficient of two next-token distributions. What `state` has read before
the prompt is not compared with, since its vectors are gone.
"""

from collections.abc import Callable
from typing import SupportsIndex

import torch
from torch import Tensor
from torch.nn import functional as F

from nlmcore.checks import Count, Probability, Size, checked
from nlmcore.decoding.filters import highest
from nlmcore.decoding.reading import (
    Prompt,
    check_request,
    hidden_states,
    in_evaluation_mode,
    log_probabilities,
    logits_of,
    prefill,
)
from nlmcore.decoding.results import Generation, SearchTree
from nlmcore.decoding.sampling import Step, Watcher, collect
from nlmcore.language_model import LanguageModel, State, check_logits, select, shows_hidden

# (tokens (batch, time), state) -> logits (batch, time, vocab), vectors (batch, time, d_model), state
Hidden = Callable[[Tensor, State], tuple[Tensor, Tensor, State]]


@checked
@torch.no_grad()
def contrastive_search(
    model: LanguageModel,
    prompt: Prompt,
    max_new_tokens: Count,
    *,
    eos: SupportsIndex | None = None,
    state: State = None,
    k: Size = 4,
    alpha: Probability = 0.6,
    hidden: Hidden | None = None,
    trace: bool = False,
) -> Generation | tuple[Generation, SearchTree]:
    """Write up to `max_new_tokens` after each prompt, choosing among the `k` most probable tokens at every step."""
    prompt, end = check_request(model, prompt, eos, state, max_new_tokens)
    read = _reader(model, hidden)
    batch = len(prompt)
    rows = torch.arange(batch, device=prompt.device)  # every row goes on until all have ended
    watch = Watcher(batch, end) if trace else None
    finished = torch.zeros(batch, dtype=torch.bool, device=prompt.device)
    steps: list[Step] = []
    if max_new_tokens:
        log_probs, seen, state = read(prompt, state)

    while len(steps) < max_new_tokens and not finished.all():
        candidates = highest(log_probs, k)  # (batch, k)
        each = rows.repeat_interleave(candidates.shape[1])
        # h_w is known only once w was read: all k candidates of every row in one call, (batch · k, 1).
        after, vectors, states = read(candidates.reshape(-1, 1), select(state, each))
        vectors = vectors.view(*candidates.shape, -1)  # (batch, k, d_model)
        similarity = (vectors @ seen.transpose(1, 2)).amax(dim=2)  # to the nearest vector of the text so far
        candidate_log_probs = log_probs.gather(1, candidates)
        scores = (1 - alpha) * candidate_log_probs.exp() - alpha * similarity  # equation 5, (batch, k)
        # Where fewer than k tokens are possible, the others are no candidates, however new their vectors are.
        scores = scores.masked_fill(candidate_log_probs == -torch.inf, -torch.inf)
        winner = scores.argmax(dim=1)
        chosen = candidates[rows, winner]
        if watch is not None:
            for row in (~finished).nonzero()[:, 0].tolist():
                shown = (values[row].tolist() for values in (candidates, candidate_log_probs, scores))
                watch.add(row, zip(*shown, strict=True), int(chosen[row]))
        chosen_log_probs = candidate_log_probs[rows, winner].masked_fill(finished, 0.0)
        ended = finished | (chosen == end) if end is not None else finished
        steps.append(Step(chosen.masked_fill(finished, 0), chosen_log_probs, ended))
        finished = ended
        taken = rows * candidates.shape[1] + winner  # the winner was read to compare it, and is not read again
        log_probs, state = after[taken], select(states, taken)
        seen = torch.cat([seen, vectors[rows, winner][:, None]], dim=1)

    return collect(steps, prompt, watch)


def _reader(model: LanguageModel, hidden: Hidden | None) -> Hidden:
    """(tokens, state) -> log-probabilities after the last position, vectors of length 1 at every one, and the state."""
    shown = shows_hidden(model)

    def read(tokens: Tensor, state: State) -> tuple[Tensor, Tensor, State]:
        if hidden is not None:
            logits, vectors, state = in_evaluation_mode(model, hidden, tokens, state)
            check_logits(logits, tokens, model.vocab_size)
        elif shown:
            vectors, state = hidden_states(model, tokens, state)  # type: ignore[arg-type]
            logits = logits_of(model, vectors[:, -1:])  # type: ignore[arg-type]
        else:
            log_probs, state = prefill(model, tokens, state)
            return log_probs[:, -1], (log_probs / 2).exp(), state  # √P has length 1, since P sums to 1
        return log_probabilities(logits[:, -1]), F.normalize(vectors.float(), dim=-1), state

    return read
