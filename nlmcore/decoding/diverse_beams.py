"""Diverse beam search: groups of beams, each penalised for choosing the words that earlier groups choose.

    Y^g_t = the b/G best of  objective(y) + ln P(w | y) - diversity * #{earlier groups' beams that chose w at t}

Plain beams differ in a word or two at the end. Here the beam is split into G groups that search in lockstep; group
g chooses after groups 1 ... g-1 at every step. The penalty is the paper's Hamming diversity.
Source: Vijayakumar et al. (2018, "Diverse Beam Search", section 4, algorithm 1).
Departs from the paper: the penalty counts each group's b/G best candidates of the step, including those that end; a
`Hypothesis` keeps the model's own log_prob and is ranked by log_prob / length ** length_penalty,
so the penalty steers what is found, not how it is scored. With one group, or diversity 0, it is beam search.
"""

import math
from typing import SupportsIndex

import torch
from torch import Tensor

from nlmcore.checks import Amount, Count, Size, door
from nlmcore.decoding.beams import Complete, Pick, most_probable_candidates, run_beams
from nlmcore.decoding.reading import Prompt, all_but_last, check_length_penalty, check_request
from nlmcore.decoding.results import Ranked, SearchTree, best_first, with_tree
from nlmcore.language_model import LanguageModel, State, select


@door
@torch.no_grad()
def diverse_beam_search(
    model: LanguageModel,
    prompt: Prompt,
    max_new_tokens: Count,
    *,
    eos: SupportsIndex | None = None,
    state: State = None,
    beam_size: Size = 4,
    groups: Size = 2,
    diversity: Amount = 0.5,
    length_penalty: float | int = 0.0,
    trace: bool = False,
) -> Ranked | tuple[Ranked, SearchTree]:
    """The texts that all groups found, up to `beam_size`, best first, for each prompt. The beam is split evenly."""
    prompt, end = check_request(model, prompt, eos, state)
    check_length_penalty(length_penalty, max_new_tokens)
    if beam_size % groups:
        raise ValueError(f"groups must divide beam_size, got groups={groups} and beam_size={beam_size}")
    size, prompts = beam_size // groups, len(prompt)
    pools = [Complete(size, length_penalty, max_new_tokens) for _ in range(prompts * groups)]
    tree = SearchTree(prompts) if trace else None
    if max_new_tokens:  # read each prompt once, not once per group
        prompt, state = all_but_last(model, prompt, state)
    rows = torch.arange(prompts, device=prompt.device).repeat_interleave(groups)  # search = prompt * groups + group
    pick = _hamming(prompts, groups, size, diversity)
    run_beams(model, prompt[rows], end, select(state, rows), size, pools, pick=pick, tree=tree)
    found = [[h for pool in pools[i : i + groups] for h in pool.best_first()] for i in range(0, len(pools), groups)]
    return with_tree([best_first(of_prompt) for of_prompt in found], tree)


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
