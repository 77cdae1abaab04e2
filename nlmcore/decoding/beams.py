"""Beam search: keep the b most probable beginnings at every step, instead of one.

    B_t = the b best of { (y, w) : y in B_{t-1}, w in V }  by  ln P(y, w)
    score(y) = ln P(y) / |y| ** length_penalty            <eos> is counted in |y|

Sources: Lowerre (1976); Sutskever, Vinyals & Le (2014, section 3.2) for neural models; length normalisation as
in Wu et al. (2016, section 7), with their exponent alpha and without their (5 + |y|)/6.

How texts end: a text that ends in <eos> among the b best candidates is complete and is put aside; the beam is
filled up again with the next best, so b open texts are always read on (a beam of 1 has no next best: it is
greedy search). The search stops when no open text can still reach the best `num_hypotheses`, or at
`max_new_tokens`, where open texts count as complete. Departs from the papers: Sutskever et al. let the beam
shrink instead; the stopping rule is exact for every length penalty (`Complete.can_be_reached_from`).
"""

import math
from collections.abc import Callable
from typing import SupportsIndex

import torch
from jaxtyping import Int
from torch import Tensor

from nlmcore.decoding.arguments import check_count, check_length_penalty, check_request
from nlmcore.decoding.complete import Complete
from nlmcore.decoding.ranking import highest
from nlmcore.decoding.reading import read
from nlmcore.decoding.results import Hypothesis
from nlmcore.decoding.tree import SearchTree
from nlmcore.language_model import LanguageModel, State, select

Pick = Callable[[Tensor, Tensor, int], tuple[Tensor, Tensor]]
"""A seam for variants: (objective of every candidate (search, beam, vocab), searches (search), k) ->
(flat indices of the k best (search, k), their objective). The objective is what candidates are chosen by;
it starts as the log-probability, and stays it unless a variant changes it."""


@torch.no_grad()
def beam_search(
    model: LanguageModel,
    prompt: Int[Tensor, "batch time"],
    max_new_tokens: int,
    *,
    eos: SupportsIndex | None = None,
    state: State = None,
    beam_size: int = 4,
    length_penalty: float | int = 0.0,
    num_hypotheses: int | None = None,
    trace: bool = False,
) -> list[list[Hypothesis]] | tuple[list[list[Hypothesis]], SearchTree]:
    """The `num_hypotheses` best texts found (by default up to `beam_size`), best first, for each prompt.

    length_penalty 0 ranks by probability; 1 by probability per token; a larger one favours longer texts.
    """
    prompt, eos = check_request(model, prompt, max_new_tokens, eos, state)
    check_count("beam_size", beam_size)
    check_length_penalty(length_penalty, max_new_tokens)
    check_num_hypotheses(num_hypotheses, beam_size)
    pools = [Complete(num_hypotheses or beam_size, length_penalty, max_new_tokens) for _ in range(len(prompt))]
    tree = SearchTree(len(prompt)) if trace else None
    roots = [[row] for row in range(len(prompt))]
    run_beams(model, prompt, eos, state, beam_size, pools, pick=most_probable_candidates, tree=tree, nodes=roots)
    ranked = [pool.best_first() for pool in pools]
    if tree is None:
        return ranked
    for row, hypotheses in enumerate(ranked):
        tree.mark_best(row, hypotheses[0].tokens)
    return ranked, tree


def check_num_hypotheses(num_hypotheses: int | None, beam_size: int) -> None:
    """At least 1 and at most the beam."""
    if num_hypotheses is not None:
        check_count("num_hypotheses", num_hypotheses)
        if num_hypotheses > beam_size:
            raise ValueError(f"num_hypotheses must be at most beam_size={beam_size}, got {num_hypotheses}")


def most_probable_candidates(objective: Tensor, searches: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """Plain beam search's choice."""
    flat = objective.flatten(1)
    indices = highest(flat, k)
    return indices, flat.gather(1, indices)


def run_beams(
    model: LanguageModel,
    prompt: Int[Tensor, "search time"],
    eos: int | None,
    state: State,
    beam_size: int,
    pools: list[Complete],
    *,
    pick: Pick,
    tree: SearchTree | None,
    nodes: list[list[int]],
) -> None:
    """Search after every prompt at once, all beams in one tensor, and fill `pools` with complete texts.

    All tensors are (search, beam, ...): searches that are over are taken out, and a beam that has nothing to
    hold (fewer candidates than places) holds -inf. `nodes` are the beams' places in `tree`.
    """
    longest = pools[0].longest
    searches = torch.arange(len(prompt), device=prompt.device)  # which prompt each row of the tensors belongs to
    texts = prompt.new_empty(len(prompt), 1, 0)
    log_prob = torch.zeros(len(prompt), 1, device=prompt.device)  # of the text so far
    objective = log_prob
    unread = prompt
    looked_at = 2 * beam_size if beam_size > 1 else 1  # so many that b open ones are left whatever ends
    for pool in pools if longest == 0 else ():
        pool.add([], 0.0)

    for length in range(1, longest + 1):
        next_log_probs, state = read(model, unread, state)
        vocab_size = next_log_probs.shape[-1]
        next_log_probs = next_log_probs.view(*log_prob.shape, vocab_size)
        indices, objective = pick(objective[:, :, None] + next_log_probs, searches, looked_at)
        parent, word = indices // vocab_size, indices % vocab_size  # (search, candidate), best first
        word_log_prob = next_log_probs.flatten(1).gather(1, indices)
        log_prob = log_prob.gather(1, parent) + word_log_prob
        texts = torch.cat([texts.gather(1, parent[:, :, None].expand(-1, -1, length - 1)), word[:, :, None]], dim=2)

        possible = log_prob > -math.inf
        ends = possible & (word == eos) if eos is not None else torch.zeros_like(possible)
        opens = possible & ~ends
        opens &= opens.cumsum(dim=1) <= beam_size
        completes = ends.clone()
        completes[:, beam_size:] = False
        if length == longest:
            completes |= opens
        for row, candidate in completes.nonzero().tolist():
            pools[int(searches[row])].add(texts[row, candidate].tolist(), float(log_prob[row, candidate]))
        if tree is not None:
            nodes = _grow(tree, nodes, parent, word, word_log_prob, objective, log_prob, completes, opens)
        if length == longest:
            return

        places = opens.sort(dim=1, descending=True, stable=True).indices[:, : int(opens.sum(dim=1).max())]
        going = _searches_that_go_on(pools, searches, log_prob.masked_fill(~opens, -math.inf), length)
        if len(going) == 0:
            return
        beams_before = next_log_probs.shape[1]
        rows_before = len(searches) * beams_before
        places = places[going]
        searches = searches[going]
        open_beam = opens[going].gather(1, places)
        parent, word = parent[going].gather(1, places), word[going].gather(1, places)
        log_prob = log_prob[going].gather(1, places).masked_fill(~open_beam, -math.inf)
        objective = objective[going].gather(1, places).masked_fill(~open_beam, -math.inf)
        texts = texts[going].gather(1, places[:, :, None].expand(-1, -1, length))
        if tree is not None:
            nodes = [[nodes[g][p] for p in row] for g, row in zip(going.tolist(), places.tolist(), strict=True)]
        rows = (going[:, None] * beams_before + parent).flatten()
        if len(rows) != rows_before or not torch.equal(rows, torch.arange(rows_before, device=rows.device)):
            state = select(state, rows)
        unread = word.reshape(-1, 1)


def _searches_that_go_on(pools: list[Complete], searches: Tensor, open_log_prob: Tensor, length: int) -> Tensor:
    """Rows of the searches in which an open text can still reach the best complete ones."""
    best = open_log_prob.amax(dim=1).tolist()
    rows = [
        row
        for row, search in enumerate(searches.tolist())
        if best[row] > -math.inf and pools[search].can_be_reached_from(best[row], length)
    ]
    return torch.tensor(rows, dtype=torch.long, device=searches.device)


def _grow(tree, nodes, parent, word, word_log_prob, objective, log_prob, completes, opens) -> list[list[int]]:
    """Add every candidate that was looked at to the tree; their ids, in the candidates' places."""
    ids = []
    differs = not torch.equal(objective, log_prob)
    for row in range(len(parent)):
        here = []
        for c in range(parent.shape[1]):
            if log_prob[row, c] == -math.inf:
                here.append(-1)
                continue
            status = "finished" if completes[row, c] else "kept" if opens[row, c] else "pruned"
            shown = float(objective[row, c]) if differs else None
            above = nodes[row][int(parent[row, c])]
            here.append(tree.add(above, int(word[row, c]), float(word_log_prob[row, c]), status, score=shown))
        ids.append(here)
    return ids
