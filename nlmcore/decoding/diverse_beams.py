"""Diverse beam search: groups of beams, each of which pays for saying what earlier groups say.

    Y^g_t = the b/G best of  objective(y) + ln P(w | y) - diversity * #{earlier groups' beams that chose w at t}

Plain beams differ in a word or two at the end. Here the beam is cut into G groups that search in lockstep; group
g chooses after groups 1 ... g-1 at every step. The penalty is the paper's Hamming diversity.
Source: Vijayakumar et al. (2018, "Diverse Beam Search", section 4, algorithm 1).
Departs from the paper: what the penalty is counted on is each group's b/G best candidates of the step, those that
end included; a `Hypothesis` keeps the model's own log_prob and is ranked by log_prob / length ** length_penalty,
so the penalty steers what is found, not how it is scored. With one group, or diversity 0, it is beam search.
"""

import math
from typing import SupportsIndex

import torch
from jaxtyping import Int
from torch import Tensor

from nlmcore.decoding.arguments import check_count, check_length_penalty, check_number, check_request
from nlmcore.decoding.beams import Pick, most_probable_candidates, run_beams
from nlmcore.decoding.complete import Complete
from nlmcore.decoding.reading import state_after
from nlmcore.decoding.results import Hypothesis, best_first
from nlmcore.decoding.tree import SearchTree
from nlmcore.language_model import LanguageModel, State, select


@torch.no_grad()
def diverse_beam_search(
    model: LanguageModel,
    prompt: Int[Tensor, "batch time"],
    max_new_tokens: int,
    *,
    eos: SupportsIndex | None = None,
    state: State = None,
    beam_size: int = 4,
    groups: int = 2,
    diversity: float | int = 0.5,
    length_penalty: float | int = 0.0,
    trace: bool = False,
) -> list[list[Hypothesis]] | tuple[list[list[Hypothesis]], SearchTree]:
    """The texts that all groups found, up to `beam_size`, best first, for each prompt. The beam is split evenly."""
    prompt, eos = check_request(model, prompt, max_new_tokens, eos, state)
    check_count("beam_size", beam_size)
    check_count("groups", groups)
    check_number("diversity", diversity, minimum=0)
    check_length_penalty(length_penalty, max_new_tokens)
    if beam_size % groups:
        raise ValueError(f"groups must divide beam_size, got groups={groups} and beam_size={beam_size}")
    size = beam_size // groups
    prompts = len(prompt)
    pools = [Complete(size, length_penalty, max_new_tokens) for _ in range(prompts * groups)]
    tree = SearchTree(prompts) if trace else None
    roots = [[row] for row in range(prompts) for _ in range(groups)]
    if prompt.shape[1] > 1 and max_new_tokens:  # read each prompt once, not once per group
        state = state_after(model, prompt[:, :-1], state)
    rows = torch.arange(prompts, device=prompt.device).repeat_interleave(groups)  # search = prompt * groups + group
    pick = _hamming(prompts, groups, size, diversity)
    run_beams(model, prompt[rows, -1:], eos, select(state, rows), size, pools, pick=pick, tree=tree, nodes=roots)
    found = [pools[row * groups : (row + 1) * groups] for row in range(prompts)]
    ranked = [best_first([hypothesis for pool in of_prompt for hypothesis in pool.best_first()]) for of_prompt in found]
    if tree is None:
        return ranked
    for row, hypotheses in enumerate(ranked):
        tree.mark_best(row, hypotheses[0].tokens)
    return ranked, tree


def _hamming(prompts: int, groups: int, size: int, diversity: float | int) -> Pick:
    """Choose group after group, each against the words that earlier groups chose at this step."""

    def pick(objective: Tensor, searches: Tensor, k: int) -> tuple[Tensor, Tensor]:
        vocab_size = objective.shape[-1]
        k = min(k, objective[0].numel())
        indices = searches.new_empty(len(searches), k)
        values = objective.new_empty(len(searches), k)
        chosen_before = objective.new_zeros(prompts, vocab_size)
        for group in range(groups):
            rows = (searches % groups == group).nonzero()[:, 0]
            if len(rows) == 0:
                continue
            of_prompt = searches[rows] // groups
            penalised = objective[rows] - diversity * chosen_before[of_prompt][:, None, :]
            indices[rows], values[rows] = most_probable_candidates(penalised, searches[rows], k)
            words = indices[rows, :size] % vocab_size
            counted = (values[rows, :size] > -math.inf).to(objective.dtype)
            chosen_before.index_put_((of_prompt[:, None], words), counted, accumulate=True)
        return indices, values

    return pick
