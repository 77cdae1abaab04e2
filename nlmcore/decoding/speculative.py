"""Speculative sampling: a small model drafts, the large one checks several tokens in one reading. Exact.

A draft model q writes `lookahead` tokens; the target model p reads them all at once; then, from left to right,

    accept x ~ q    with probability  min(1, p(x) / q(x)),
    at the first rejection draw instead from  max(0, p - q), normalised,
    and if all were accepted draw one more from p.

The text has exactly p's distribution, whatever q is: P(x) = min(p, q) + (1 - sum min(p, q)) max(0, p - q)/norm = p.
Source: Leviathan, Kalman & Matias (2023, "Fast Inference from Transformers via Speculative Decoding", algorithm 1;
temperature and filters reshape p and q alike, section 2.2). lookahead is their gamma.

Departs from the paper: nothing in the distribution. A rejected token cannot be taken back out of every model's
state, but a state is a value (nlmcore.language_model): we keep the one from before the draft and read the accepted
tokens again, together with the next draft. Rows accept different numbers of tokens, so each prompt runs alone.
"""

from dataclasses import dataclass
from functools import partial
from typing import SupportsIndex

import torch
from jaxtyping import Int
from torch import Tensor

from nlmcore.decoding.arguments import check_count, check_request
from nlmcore.decoding.drawing import draw
from nlmcore.decoding.filters import check_filters, reshape
from nlmcore.decoding.reading import read, read_every, state_after
from nlmcore.decoding.results import Generation
from nlmcore.decoding.tree import SearchTree, Status
from nlmcore.language_model import LanguageModel, State, select


@torch.no_grad()
def speculative_sample(
    model: LanguageModel,
    prompt: Int[Tensor, "batch time"],
    max_new_tokens: int,
    *,
    draft: LanguageModel,
    lookahead: int = 4,
    eos: SupportsIndex | None = None,
    state: State = None,
    draft_state: State = None,
    temperature: float | int = 1.0,
    top_k: int | None = None,
    top_p: float | int | None = None,
    min_p: float | int | None = None,
    typical_p: float | int | None = None,
    generator: torch.Generator | None = None,
    trace: bool = False,
) -> Generation | tuple[Generation, SearchTree]:
    """Draw what `sample(model, ...)` would, with fewer readings of `model`. temperature=0 gives greedy search.

    In the tree, a drafted token that was refused is "pruned": kept / (kept + pruned) is the acceptance rate,
    but for the one token per round that the target adds itself.
    """
    prompt, eos = check_request(model, prompt, max_new_tokens, eos, state)
    check_request(draft, prompt, max_new_tokens, eos, draft_state, name="draft")
    if draft.vocab_size != model.vocab_size:
        raise ValueError(
            f"draft must have the model's vocabulary of {model.vocab_size} tokens, got one of {draft.vocab_size}"
        )
    check_count("lookahead", lookahead)
    check_filters(temperature, top_k, top_p, min_p, typical_p)
    reshaped = partial(reshape, temperature=temperature, top_k=top_k, top_p=top_p, min_p=min_p, typical_p=typical_p)

    tree = SearchTree(len(prompt))
    rows = []
    for row in range(len(prompt)):
        target_reader = _Reader.after(model, prompt[row : row + 1], select(state, prompt.new_tensor([row])))
        draft_reader = _Reader.after(draft, prompt[row : row + 1], select(draft_state, prompt.new_tensor([row])))
        writer = _Writer(target_reader, draft_reader, reshaped, generator, eos, tree, row)
        while len(writer.tokens) < max_new_tokens and not writer.finished:
            # The target adds one token itself, so drafting up to the limit would be in vain.
            writer.round(min(lookahead, max_new_tokens - len(writer.tokens) - 1))
        rows.append(writer)

    longest = max(len(writer.tokens) for writer in rows)
    tokens = prompt.new_zeros(len(rows), longest)
    log_probs = torch.zeros(len(rows), longest, device=prompt.device)
    for row, writer in enumerate(rows):
        tokens[row, : len(writer.tokens)] = prompt.new_tensor(writer.tokens)
        log_probs[row, : len(writer.tokens)] = log_probs.new_tensor(writer.log_probs)
    finished = torch.tensor([writer.finished for writer in rows], device=prompt.device)
    generation = Generation(tokens, log_probs, finished)
    return (generation, tree) if trace else generation


@dataclass
class _Reader:
    """A model, the state after the text that it has read for good, and the text it still has to read (1, time)."""

    model: LanguageModel
    state: State
    unread: Tensor

    @classmethod
    def after(cls, model: LanguageModel, prompt: Tensor, state: State) -> "_Reader":
        """Read all but the prompt's last token, so that a rejection never means reading the prompt again."""
        if prompt.shape[1] > 1:
            state = state_after(model, prompt[:, :-1], state)
        return cls(model, state, prompt[:, -1:])


class _Writer:
    """One prompt's text as it grows."""

    def __init__(self, target: _Reader, draft: _Reader, reshaped, generator, eos, tree: SearchTree, row: int):
        self.target, self.draft = target, draft
        self.reshaped, self.generator, self.eos = reshaped, generator, eos
        self.tree, self.node = tree, row
        tree.best.add(row)
        self.tokens: list[int] = []
        self.log_probs: list[float] = []
        self.finished = False

    def round(self, lookahead: int) -> None:
        """Draft up to `lookahead` tokens, check them all, keep the accepted ones and one of the target's own."""
        drafted, q, states = self._draft(lookahead)
        guess = self.target.unread.new_tensor([drafted])
        log_probs, state = read_every(
            self.target.model, torch.cat([self.target.unread, guess.long()], 1), self.target.state
        )
        log_probs = log_probs[0, -1 - len(drafted) :]  # (drafted + 1, vocab): after each drafted token, and before
        p = self.reshaped(log_probs).exp()

        accepted = 0
        for x in drafted:
            if not torch.rand((), generator=self.generator, device=p.device) * q[accepted][x] < p[accepted, x]:
                self._note(x, float(log_probs[accepted, x]), accepted=False)
                break
            self._keep(x, float(log_probs[accepted, x]))
            accepted += 1
        if self.finished:
            return
        if accepted < len(drafted):
            left = (p[accepted] - q[accepted]).clamp(min=0)
            own = left if left.any() else p[accepted]  # nothing left only by rounding, when p equals q
        else:
            own = p[accepted]
        word = int(draw(own[None], self.generator))
        self._keep(word, float(log_probs[accepted, word]))

        # Move both readers on. The draft's states between its tokens are all at hand; the target has only the last.
        new = guess.new_tensor([[*drafted[:accepted], word]]).long()
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
        """Up to `lookahead` tokens of the draft model, the distribution of each, and the state before reading each."""
        drafted: list[int] = []
        distributions: list[Tensor] = []
        states: list[State] = []
        unread, state = self.draft.unread, self.draft.state
        while len(drafted) < lookahead and (not drafted or drafted[-1] != self.eos):
            log_probs, state = read(self.draft.model, unread, state)
            distributions.append(self.reshaped(log_probs)[0].exp())
            states.append(state)
            drafted.append(int(draw(distributions[-1][None], self.generator)))
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
