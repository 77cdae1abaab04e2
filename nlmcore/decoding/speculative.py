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
from nlmcore.decoding.results import Generation, SearchTree, Status
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
        target_reader = _Reader.after(model, prompt[one], select(state, one))
        draft_reader = _Reader.after(draft, prompt[one], select(draft_state, one))
        writer = _Writer(target_reader, draft_reader, reshaped, generator, end, tree, node=row)
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
class _Reader:
    """A model, the state after the text that is settled, and the text that it still has to read (1, time)."""

    model: LanguageModel
    state: State
    unread: Tensor

    @classmethod
    def after(cls, model: LanguageModel, prompt: Tensor, state: State) -> "_Reader":
        """Read all but the prompt's last token, so that a rejection never means reading the prompt again."""
        unread, state = all_but_last(model, prompt, state)
        return cls(model, state, unread)


@dataclass
class _Writer:
    """One prompt's text as it grows."""

    target: _Reader
    draft: _Reader
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
        unread = torch.cat([self.target.unread, self.target.unread.new_tensor([drafted])], dim=1)
        log_probs, state = prefill(self.target.model, unread, self.target.state)
        log_probs = log_probs[0, -1 - len(drafted) :]  # (drafted + 1, vocab): after each drafted token, and before
        p = self.reshaped(log_probs).softmax(dim=-1)

        accepted = 0
        for x in drafted:
            if not torch.rand((), generator=self.generator, device=p.device) * q[accepted][x] < p[accepted, x]:
                self._note(x, float(log_probs[accepted, x]), accepted=False)
                break
            self._keep(x, float(log_probs[accepted, x]))
            accepted += 1
        if self.finished:
            return
        weights = p[accepted]
        if accepted < len(drafted):
            left = (p[accepted] - q[accepted]).clamp(min=0)
            weights = left if left.any() else weights  # nothing is left only by rounding, when p equals q
        word = int(sample_index(weights[None], self.generator))
        self._keep(word, float(log_probs[accepted, word]))

        # Advance both readers. We have the draft's states between its tokens; of the target's only the last.
        new = unread.new_tensor([[*drafted[:accepted], word]])
        if drafted:
            known = min(accepted, len(drafted) - 1)
            self.draft = _Reader(self.draft.model, states[known], new[:, known:])
        else:
            self.draft.unread = torch.cat([self.draft.unread, new], dim=1)
        if accepted == len(drafted):
            self.target = _Reader(self.target.model, state, new[:, -1:])
        else:
            self.target.unread = torch.cat([self.target.unread, new], dim=1)
            if self.target.unread.shape[1] > 2 * (lookahead + 1):  # so that what is read again stays short
                self.target = _Reader.after(self.target.model, self.target.unread, self.target.state)

    def _draft(self, lookahead: int) -> tuple[list[int], list[Tensor], list[State]]:
        """Up to `lookahead` tokens of the draft model, the distribution of each and the state before it."""
        drafted: list[int] = []
        distributions: list[Tensor] = []
        states: list[State] = []
        unread, state = self.draft.unread, self.draft.state
        while len(drafted) < lookahead and (not drafted or drafted[-1] != self.eos):
            log_probs, state = next_log_probs(self.draft.model, unread, state)
            distributions.append(self.reshaped(log_probs).softmax(dim=-1)[0])
            states.append(state)
            drafted.append(int(sample_index(distributions[-1][None], self.generator)))
            unread = self.draft.unread.new_tensor([drafted[-1:]])
        return drafted, distributions, states

    def _keep(self, token: int, log_prob: float) -> None:
        self.tokens.append(token)
        self.log_probs.append(log_prob)
        self.finished = token == self.eos
        self.node = self._note(token, log_prob, accepted=True)
        self.tree.best.add(self.node)

    def _note(self, token: int, log_prob: float, *, accepted: bool) -> int:
        status: Status = "pruned" if not accepted else "finished" if token == self.eos else "kept"
        return self.tree.add(self.node, token, log_prob, status)
