"""Contrastive search: a probable token that does not lead the model back to where it has been.

    w_t = argmax over the k most probable w of   (1 - alpha) P(w | w_<t)  -  alpha * max_j cos(h_w, h_j)

h_w is the model's hidden vector after reading w, h_j those of the text before. A text that repeats itself revisits
the same vectors; the second term, the degeneration penalty, sees that. alpha = 0 or k = 1 is greedy search.
Source: Su et al. (2022, "A Contrastive Framework for Neural Text Generation", section 3.2, equation 5).

Where the vectors come from: `hidden`, if given; else the model's own `hidden_states`, where it has one
(`nlmcore.language_model.NeuralLanguageModel`).

Departs from the paper: a model with neither (an n-gram model) is compared by its predictions instead: h = sqrt(P(. |
text)), whose cosine is the Bhattacharyya coefficient of two next-token distributions. What `state` has read before
the prompt is not compared with, since its vectors are gone.
"""

from collections.abc import Callable
from typing import SupportsIndex

import torch
from jaxtyping import Int
from torch import Tensor
from torch.nn import functional as F

from nlmcore.decoding.arguments import check_count, check_probability, check_request
from nlmcore.decoding.ranking import highest
from nlmcore.decoding.reading import (
    check_logits,
    in_evaluation_mode,
    log_probabilities,
    logits_of,
    read_every,
    read_hidden,
)
from nlmcore.decoding.results import Generation
from nlmcore.decoding.tree import SearchTree
from nlmcore.decoding.writing import Step, collect
from nlmcore.language_model import LanguageModel, State, select, shows_hidden

Hidden = Callable[[Tensor, State], tuple[Tensor, Tensor, State]]
"""(tokens (batch, time), state) -> logits (batch, time, vocab), vectors (batch, time, d_model), state"""


@torch.no_grad()
def contrastive_search(
    model: LanguageModel,
    prompt: Int[Tensor, "batch time"],
    max_new_tokens: int,
    *,
    eos: SupportsIndex | None = None,
    state: State = None,
    k: int = 4,
    alpha: float | int = 0.6,
    hidden: Hidden | None = None,
    trace: bool = False,
) -> Generation | tuple[Generation, SearchTree]:
    """Write up to `max_new_tokens` after each prompt, choosing among the `k` most probable tokens at every step."""
    prompt, eos = check_request(model, prompt, max_new_tokens, eos, state)
    check_count("k", k)
    check_probability("alpha", alpha)
    read = _reader(model, hidden)
    batch = len(prompt)
    rows = torch.arange(batch, device=prompt.device)
    tree = SearchTree(batch)
    nodes = list(range(batch))
    finished = torch.zeros(batch, dtype=torch.bool, device=prompt.device)
    steps: list[Step] = []
    if max_new_tokens:
        log_probs, seen, state = read(prompt, state)

    while len(steps) < max_new_tokens and not finished.all():
        candidates = highest(log_probs, k)  # (batch, k)
        each = rows.repeat_interleave(candidates.shape[1])
        after, vectors, states = read(candidates.reshape(-1, 1), select(state, each))
        vectors = vectors.view(*candidates.shape, -1)
        similarity = (vectors @ seen.transpose(1, 2)).amax(dim=2)  # to the nearest vector of the text so far
        candidate_log_probs = log_probs.gather(1, candidates)
        scores = (1 - alpha) * candidate_log_probs.exp() - alpha * similarity
        scores = scores.masked_fill(candidate_log_probs == -torch.inf, -torch.inf)
        place = scores.argmax(dim=1)
        chosen = candidates[rows, place]
        if trace:
            nodes = _grow(tree, nodes, finished, candidates, candidate_log_probs, scores, place, eos)
        steps.append(
            Step(
                chosen.masked_fill(finished, 0),
                candidate_log_probs[rows, place].masked_fill(finished, 0.0),
                finished | (chosen == eos) if eos is not None else finished,
            )
        )
        finished = steps[-1].finished
        taken = rows * candidates.shape[1] + place  # what was read to look at the winner need not be read again
        log_probs, state = after[taken], select(states, taken)
        seen = torch.cat([seen, vectors[rows, place][:, None]], dim=1)

    generation = collect(iter(steps), prompt)
    return (generation, tree) if trace else generation


def _reader(model: LanguageModel, hidden: Hidden | None) -> Callable[[Tensor, State], tuple[Tensor, Tensor, State]]:
    """(tokens, state) -> log-probabilities after the last position, vectors of length 1 at every one, and the state."""
    if hidden is not None and not callable(hidden):
        raise TypeError(f"hidden must be a function (tokens, state) -> (logits, hidden, state), got {hidden!r:.60}")

    def given(tokens: Tensor, state: State) -> tuple[Tensor, Tensor, State]:
        logits, vectors, state = in_evaluation_mode(model, hidden, tokens, state)
        check_logits(logits, tokens, model.vocab_size)
        return log_probabilities(logits[:, -1]), F.normalize(vectors.float(), dim=-1), state

    def own(tokens: Tensor, state: State) -> tuple[Tensor, Tensor, State]:
        vectors, state = read_hidden(model, tokens, state)  # type: ignore[arg-type]
        logits = logits_of(model, vectors[:, -1:])  # type: ignore[arg-type]
        return log_probabilities(logits[:, -1]), F.normalize(vectors.float(), dim=-1), state

    def predictions(tokens: Tensor, state: State) -> tuple[Tensor, Tensor, State]:
        log_probs, state = read_every(model, tokens, state)
        return log_probs[:, -1], (log_probs / 2).exp(), state

    return given if hidden is not None else own if shows_hidden(model) else predictions


def _grow(tree, nodes, finished, candidates, log_probs, scores, place, eos) -> list[int]:
    """Add the k candidates of every row that goes on; the ids of the winners."""
    winners = list(nodes)
    for row in range(len(nodes)):
        if finished[row]:
            continue
        for c, token in enumerate(candidates[row].tolist()):
            status = "pruned" if c != int(place[row]) else "finished" if token == eos else "kept"
            node = tree.add(nodes[row], token, float(log_probs[row, c]), status, score=float(scores[row, c]))
            if status != "pruned":
                winners[row] = node
        tree.best.update((nodes[row], winners[row]))
    return winners
