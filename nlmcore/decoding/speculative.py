"""Speculative sampling: a small model drafts, the large one checks several tokens in one call. Exact.

A draft model q writes `lookahead` tokens; the target model p reads them in one call; then, from left to right,

    accept x ~ q    with probability  min(1, p(x) / q(x)),
    at the first rejection sample instead from  max(0, p - q), normalised,
    and if all were accepted sample one more from p.

The text has exactly p's distribution, whatever q is: P(x) = min(p, q) + (1 - sum min(p, q)) max(0, p - q)/norm = p.
Source: Leviathan, Kalman & Matias (2023, "Fast Inference from Transformers via Speculative Decoding", algorithm 1;
temperature and filters reshape p and q alike, section 2.2). lookahead is their gamma.

Departs from the paper: nothing in the distribution. A rejected token cannot be removed from every model's state, but
a state is a value (nlmcore.language_model): we keep the one from before the draft and read the accepted tokens again,
together with the next draft. Rows accept different numbers of tokens, so each prompt runs separately.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, SupportsIndex

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from nlmcore.checks import Count, Size, door
from nlmcore.decoding.choosing import sample_index
from nlmcore.decoding.filters import compose, takes_filters
from nlmcore.decoding.reading import Prompt, all_but_last, check_request, next_log_probs, prefill
from nlmcore.decoding.results import Generation, SearchTree
from nlmcore.language_model import LanguageModel, State, select


@takes_filters
@door
@torch.no_grad()
def speculative_sample(
    model: LanguageModel,
    prompt: Prompt,
    max_new_tokens: Count,
    *,
    draft: LanguageModel,
    lookahead: Size = 4,
    eos: SupportsIndex | None = None,
    state: State = None,
    draft_state: State = None,
    generator: torch.Generator | None = None,
    trace: bool = False,
    **filters: Any,
) -> Generation | tuple[Generation, SearchTree]:
    """Sample what `sample(model, ...)` would, with fewer calls of `model`. temperature=0 gives greedy search.

    In the tree, a drafted token that was rejected is "pruned": kept / (kept + pruned) is the acceptance rate,
    except for the one token per round that the target adds.
    """
    prompt, end = check_request(model, prompt, eos, state)
    check_request(draft, prompt, eos, draft_state, name="draft")
    if draft.vocab_size != model.vocab_size:
        raise ValueError(
            f"draft must have the model's vocabulary of {model.vocab_size} tokens, got one of {draft.vocab_size}"
        )
    reshaped = compose(filters)
    tree = SearchTree(len(prompt))
    tree.best.update(range(len(prompt)))
    rows = []
    for row in range(len(prompt)):
        one = prompt.new_tensor([row])
        # All but the prompt's last token is read here, so that a rejection never means reading the prompt again.
        target_at = all_but_last(model, prompt[one], select(state, one))
        draft_at = all_but_last(draft, prompt[one], select(draft_state, one))
        writer = _Writer(model, draft, target_at, draft_at, reshaped, generator, end, tree, node=row)
        while len(writer.tokens) < max_new_tokens and not writer.finished:
            # The target adds one token itself, so drafting up to the limit would be in vain.
            writer.round(min(lookahead, max_new_tokens - len(writer.tokens) - 1))
        rows.append(writer)

    tokens = [prompt.new_tensor(writer.tokens) for writer in rows]
    log_probs = [torch.tensor(writer.log_probs, device=prompt.device) for writer in rows]
    finished = torch.tensor([writer.finished for writer in rows], device=prompt.device)
    generation = Generation(pad_sequence(tokens, True), pad_sequence(log_probs, True), finished)
    return (generation, tree) if trace else generation


@dataclass
class _Writer:
    """One prompt's text as it grows. Each model is at (the text that it still has to read (1, time), its state)."""

    target: LanguageModel
    draft: LanguageModel
    target_at: tuple[Tensor, State]
    draft_at: tuple[Tensor, State]
    reshaped: Callable[[Tensor], Tensor]
    generator: torch.Generator | None
    eos: int | None
    tree: SearchTree
    node: int
    tokens: list[int] = field(default_factory=list)
    log_probs: list[float] = field(default_factory=list)
    finished: bool = False

    def round(self, lookahead: int) -> None:
        """Draft up to `lookahead` tokens, check them all, keep the accepted ones and add one of the target's."""
        drafted, q, states = self._draft(lookahead)
        unread, state = self.target_at
        read = torch.cat([unread, unread.new_tensor([drafted])], dim=1)
        log_probs, after = prefill(self.target, read, state)
        log_probs = log_probs[0, -1 - len(drafted) :]  # (drafted + 1, vocab): after each drafted token, and before
        p = self.reshaped(log_probs).softmax(dim=-1)

        accepted = 0
        for x in drafted:
            log_prob = float(log_probs[accepted, x])
            if not torch.rand((), generator=self.generator, device=p.device) * q[accepted][x] < p[accepted, x]:
                self.tree.add(self.node, x, log_prob, "pruned")
                break
            self._keep(x, log_prob)
            accepted += 1
        if self.finished:
            return
        weights = p[accepted]
        if accepted < len(drafted):
            left = (p[accepted] - q[accepted]).clamp(min=0)
            weights = left if left.any() else weights  # nothing is left only by rounding, when p equals q
        word = int(sample_index(weights[None], self.generator))
        self._keep(word, float(log_probs[accepted, word]))

        # Advance both models. We have the draft's states between its tokens; of the target's only the last.
        new = unread.new_tensor([[*drafted[:accepted], word]])
        if drafted:
            known = min(accepted, len(drafted) - 1)
            self.draft_at = new[:, known:], states[known]
        else:
            self.draft_at = torch.cat([self.draft_at[0], new], dim=1), self.draft_at[1]
        if accepted == len(drafted):
            self.target_at = new[:, -1:], after
        else:
            unread = torch.cat([unread, new], dim=1)
            short = unread.shape[1] <= 2 * (lookahead + 1)  # what is read again must stay short
            self.target_at = (unread, state) if short else all_but_last(self.target, unread, state)

    def _draft(self, lookahead: int) -> tuple[list[int], list[Tensor], list[State]]:
        """Up to `lookahead` tokens of the draft model, the distribution of each and the state before it."""
        drafted: list[int] = []
        distributions: list[Tensor] = []
        states: list[State] = []
        unread, state = self.draft_at
        while len(drafted) < lookahead and (not drafted or drafted[-1] != self.eos):
            log_probs, state = next_log_probs(self.draft, unread, state)
            distributions.append(self.reshaped(log_probs).softmax(dim=-1)[0])
            states.append(state)
            drafted.append(int(sample_index(distributions[-1][None], self.generator)))
            unread = unread.new_tensor([drafted[-1:]])
        return drafted, distributions, states

    def _keep(self, token: int, log_prob: float) -> None:
        self.tokens.append(token)
        self.log_probs.append(log_prob)
        self.finished = token == self.eos
        self.node = self.tree.add(self.node, token, log_prob, "finished" if self.finished else "kept")
        self.tree.best.add(self.node)
