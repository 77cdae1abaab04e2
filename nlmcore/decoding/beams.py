"""Beam search: keep the b most probable beginnings at every step, instead of one.

    B_t = the b best of { (y, w) : y in B_{t-1}, w in V }  by  ln P(y, w)
    score(y) = ln P(y) / |y| ** length_penalty            <eos> is counted in |y|

Sources: Lowerre (1976); Sutskever, Vinyals & Le (2014, section 3.2) for neural models; length normalisation as
in Wu et al. (2016, section 7), with their exponent alpha and without their (5 + |y|)/6.

A text that ends in <eos> among the b best candidates is complete and is set aside; the next best candidates refill the
beam. The search stops when no open text can still reach the best `num_hypotheses`, or at `max_new_tokens`, where open
texts count as complete. Departs from the papers: Sutskever et al. let the beam shrink instead; the stopping rule is
exact for every length penalty (`Complete.can_be_reached_from`).

Diverse beam search: the beam is split into G groups, and at every step each is penalised for the words that the earlier
groups have chosen (the paper's Hamming diversity).

    Y^g_t = the b/G best of  objective(y) + ln P(w | y) - diversity * #{earlier groups' beams that chose w at t}

Source: Vijayakumar et al. (2018, "Diverse Beam Search", section 4, algorithm 1). Departs from the paper: the penalty
counts each group's b/G best candidates of the step, including those that end; a `Hypothesis` keeps the model's own
log_prob. With one group, or diversity 0, it is beam search.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, SupportsIndex, overload

import torch
from jaxtyping import Int
from torch import Tensor

from nlmcore.checks import Amount, Count, Size, checked
from nlmcore.decoding.filters import highest
from nlmcore.decoding.reading import Prompt, check_length_penalty, check_request, copies, next_log_probs
from nlmcore.decoding.results import Hypothesis, Kind, Ranked, SearchTree, best_first, score, with_tree
from nlmcore.language_model import LanguageModel, State, select

Pick = Callable[[Tensor, Tensor, int], tuple[Tensor, Tensor]]
"""A seam for variants: (objective of every candidate (search, beam, vocab), searches (search), k) ->
(flat indices of the k best (search, k), their objective). In plain beam search the objective is the log-probability."""


@overload
def beam_search(
    model: LanguageModel,
    prompt: Prompt,
    max_new_tokens: Count,
    *,
    eos: SupportsIndex | None = None,
    state: State = None,
    beam_size: Size = 4,
    length_penalty: float | int = 0.0,
    num_hypotheses: Size | None = None,
    trace: Literal[False] = False,
) -> Ranked: ...


@overload
def beam_search(
    model: LanguageModel,
    prompt: Prompt,
    max_new_tokens: Count,
    *,
    eos: SupportsIndex | None = None,
    state: State = None,
    beam_size: Size = 4,
    length_penalty: float | int = 0.0,
    num_hypotheses: Size | None = None,
    trace: Literal[True],
) -> tuple[Ranked, SearchTree]: ...


@checked
@torch.no_grad()
def beam_search(
    model: LanguageModel,
    prompt: Prompt,
    max_new_tokens: Count,
    *,
    eos: SupportsIndex | None = None,
    state: State = None,
    beam_size: Size = 4,
    length_penalty: float | int = 0.0,
    num_hypotheses: Size | None = None,
    trace: bool = False,
) -> Ranked | tuple[Ranked, SearchTree]:
    """The `num_hypotheses` best texts found (by default up to `beam_size`), best first, for each prompt.

    length_penalty 0 ranks by probability; 1 by probability per token; a larger one favours longer texts.
    """
    prompt, end = check_request(model, prompt, eos, state, max_new_tokens)
    check_length_penalty(length_penalty, max_new_tokens)
    if num_hypotheses is not None and num_hypotheses > beam_size:
        raise ValueError(f"num_hypotheses must be at most beam_size={beam_size}, got {num_hypotheses}")
    pools = [Complete(num_hypotheses or beam_size, length_penalty, max_new_tokens) for _ in range(len(prompt))]
    tree = SearchTree(len(prompt)) if trace else None
    run_beams(model, prompt, end, state, beam_size, pools, pick=most_probable_candidates, tree=tree)
    return with_tree([pool.ranked for pool in pools], tree)


@checked
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
    prompt, end = check_request(model, prompt, eos, state, max_new_tokens)
    check_length_penalty(length_penalty, max_new_tokens)
    if beam_size % groups:
        raise ValueError(f"groups must divide beam_size, got groups={groups} and beam_size={beam_size}")
    size = beam_size // groups  # each group is a search of its own, of so many beams
    pools = [Complete(size, length_penalty, max_new_tokens) for _ in range(len(prompt) * groups)]
    tree = SearchTree(len(prompt)) if trace else None
    pick = _hamming(len(prompt), groups, size, diversity)
    prompt, state = copies(model, prompt, state, groups)  # search = prompt * groups + group
    run_beams(model, prompt, end, state, size, pools, pick=pick, tree=tree)
    found = [[h for pool in pools[i : i + groups] for h in pool.ranked] for i in range(0, len(pools), groups)]
    return with_tree([best_first(of_prompt) for of_prompt in found], tree)


def most_probable_candidates(objective: Tensor, searches: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """Plain beam search's choice."""
    flat = objective.flatten(1)
    indices = highest(flat, k)
    return indices, flat.gather(1, indices)


def _hamming(prompts: int, groups: int, size: int, diversity: float | int) -> Pick:

    def pick(objective: Tensor, searches: Tensor, k: int) -> tuple[Tensor, Tensor]:
        vocab_size = objective.shape[-1]
        k = min(k, objective[0].numel())  # there may be fewer candidates, beam · vocab, than are asked for
        indices = searches.new_empty(len(searches), k)
        values = objective.new_empty(len(searches), k)
        chosen_before = objective.new_zeros(prompts, vocab_size)  # how many earlier beams of the prompt wrote a word
        for group in range(groups):
            rows = (searches % groups == group).nonzero()[:, 0]
            of_prompt = searches[rows] // groups
            # Hamming diversity: θ(y, w) − diversity · (number of earlier beams that chose w at this step)
            penalised = objective[rows] - diversity * chosen_before[of_prompt][:, None, :]
            indices[rows], values[rows] = most_probable_candidates(penalised, searches[rows], k)
            words = indices[rows, :size] % vocab_size
            counted = (values[rows, :size] > -math.inf).to(objective.dtype)  # a beam without a text has no word
            chosen_before.index_put_((of_prompt[:, None], words), counted, accumulate=True)
        return indices, values

    return pick


@dataclass
class Complete:
    """The best complete texts of one search, at most `size`, scored log_prob / length ** length_penalty."""

    size: int
    length_penalty: float | int
    max_length: int
    ranked: list[Hypothesis] = field(default_factory=list)  # best first

    def add(self, tokens: list[int], log_prob: float) -> None:
        """Set a complete text aside, unless `size` are better."""
        new = Hypothesis(tokens, log_prob, score(log_prob, len(tokens), self.length_penalty))
        if len(self.ranked) < self.size or new.score >= self.ranked[-1].score:
            self.ranked = best_first([*self.ranked, new])[: self.size]

    def can_be_reached_from(self, log_prob: float, length: int) -> bool:
        """Can an open text of this log-probability and length still become one of the best?

        Extending only lowers log_prob, to L' <= L <= 0, at a final length m of length + 1 ... max_length. So its score
        L' / m ** penalty is at most L / m ** penalty. Since L is negative, that is largest at m = max_length for a
        positive penalty, at m = length + 1 for a negative one, and at any m for 0.
        """
        if len(self.ranked) < self.size:
            return True
        final_length = self.max_length if self.length_penalty > 0 else length + 1
        return score(log_prob, final_length, self.length_penalty) > self.ranked[-1].score


def extend(
    texts: Int[Tensor, "search beam length"], indices: Int[Tensor, "search candidate"], vocab_size: int
) -> tuple[Tensor, Tensor, Tensor]:
    """Flat indices into (beam, vocab) as beams and words, and each such beam's text with its word at the end."""
    parent, word = indices // vocab_size, indices % vocab_size
    before = texts.gather(1, parent[:, :, None].expand(-1, -1, texts.shape[2]))
    return parent, word, torch.cat([before, word[:, :, None]], dim=2)


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
) -> None:
    """Search after every prompt together, all beams in one tensor, and fill `pools` with complete texts.

    All tensors are (search, beam, ...): searches that are over are removed, and a beam without a text (fewer
    candidates than beams) holds -inf. Several searches may share a prompt of `tree`, side by side.
    """
    max_length = pools[0].max_length
    searches = torch.arange(len(prompt), device=prompt.device)  # which prompt each row of the tensors belongs to
    texts = prompt.new_empty(len(prompt), 1, 0)
    log_prob = torch.zeros(len(prompt), 1, device=prompt.device)  # of the text so far
    objective = log_prob  # what candidates are ranked by: plain beam search adds nothing to the log-probability
    unread = prompt  # (search, time) at first, then (search · beam, 1): what the model has not read yet
    considered = 2 * beam_size if beam_size > 1 else 1  # so many that b open ones are left whatever ends
    for pool in pools if max_length == 0 else ():  # nothing may be written, so the empty text is complete
        pool.add([], 0.0)
    # Ids in the tree of each beam's text; at first the root of its prompt, which several searches may share.
    nodes = [] if tree is None else [[i * len(tree.roots) // len(prompt)] for i in range(len(prompt))]

    for length in range(1, max_length + 1):
        next_, state = next_log_probs(model, unread, state)  # (search · beam, vocab)
        vocab_size = next_.shape[-1]
        next_ = next_.view(*log_prob.shape, vocab_size)  # (search, beam, vocab)
        indices, objective = pick(objective[:, :, None] + next_, searches, considered)
        parent, word, texts = extend(texts, indices, vocab_size)  # (search, candidate), best first
        word_log_prob = next_.flatten(1).gather(1, indices)  # (search, candidate)
        log_prob = log_prob.gather(1, parent) + word_log_prob

        # Sort the candidates, which come best first: those that end, and the b best open ones, which are the new beam.
        possible = log_prob > -math.inf
        ends = possible & (word == eos) if eos is not None else torch.zeros_like(possible)
        opens = possible & ~ends
        opens &= opens.cumsum(dim=1) <= beam_size
        # An end counts only among the b best, as in the equation: below them it would not have entered the beam.
        completes = ends & (torch.arange(ends.shape[1], device=ends.device) < beam_size)
        if length == max_length:
            completes |= opens  # no more words: an open text counts as it is
        for row, candidate in completes.nonzero().tolist():
            pools[int(searches[row])].add(texts[row, candidate].tolist(), float(log_prob[row, candidate]))
        if tree is not None:
            kinds = torch.where(possible, Kind.PRUNED, Kind.ABSENT)
            kinds = torch.where(completes, Kind.FINISHED, torch.where(opens, Kind.KEPT, kinds))
            scores = None if torch.equal(objective, log_prob) else objective  # a tree shows them where they differ
            nodes = tree.extend(nodes, parent, word, word_log_prob, kinds, scores)
        if length == max_length:
            return

        # The candidates that stay open, still best first (the sort is stable), as many as the widest search has.
        beams = opens.sort(dim=1, descending=True, stable=True).indices[:, : int(opens.sum(dim=1).max())]
        best = log_prob.masked_fill(~opens, -math.inf).amax(dim=1).tolist()
        # A search is over when even its best open text cannot overtake: its rows leave all tensors.
        of_row = zip(best, searches.tolist(), strict=True)
        rows = [i for i, (p, s) in enumerate(of_row) if p > -math.inf and pools[s].can_be_reached_from(p, length)]
        if not rows:
            return
        going = torch.tensor(rows, device=searches.device)
        beams, searches = beams[going], searches[going]  # (search, beam) again, of the searches that go on
        parent, word, log_prob, objective, opens = (
            values[going].gather(1, beams) for values in (parent, word, log_prob, objective, opens)
        )
        log_prob, objective = (values.masked_fill(~opens, -math.inf) for values in (log_prob, objective))
        texts = texts[going].gather(1, beams[:, :, None].expand(-1, -1, length))
        if tree is not None:
            nodes = [[nodes[g][b] for b in row] for g, row in zip(rows, beams.tolist(), strict=True)]
        # The model's state has a row for each beam before this step: row `search · beams + parent` is continued.
        read = (going[:, None] * next_.shape[1] + parent).flatten()
        # If every beam continues itself, the state, a whole cache perhaps, need not be copied.
        if not torch.equal(read, torch.arange(next_.shape[0] * next_.shape[1], device=read.device)):
            state = select(state, read)
        unread = word.reshape(-1, 1)
