"""Speculative sampling: a small model drafts, the large one checks several tokens in one call. Exact.

A draft model q writes `lookahead` tokens; the target model p reads them in one call; then, from left to right,

    accept x ~ q    with probability  min(1, p(x) / q(x)),
    at the first rejection sample instead from  max(0, p - q), normalised,
    and if all were accepted sample one more from p.

The text has exactly p's distribution, whatever q is: P(x) = min(p, q) + (1 - sum min(p, q)) max(0, p - q)/norm = p.
Source: Leviathan, Kalman & Matias (2023, "Fast Inference from Transformers via Speculative Decoding", algorithm 1;
temperature and filters reshape p and q alike, section 2.2). lookahead is their gamma.

Departs from the paper: nothing in the distribution. A state is a value (nlmcore.language_model): we keep the one from
before the draft and read the accepted tokens again, together with the next draft. The prompt, and accepted tokens that
have become many, are read without a draft, which gives one token as plain sampling does: so the model is never called
more often than there are tokens. Rows accept different numbers of tokens, so each prompt runs separately.
"""

from collections.abc import Sequence
from typing import SupportsIndex

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from nlmcore.checks import Amount, Count, Probability, Size, checked
from nlmcore.decoding.filters import Filter, compose, sample_index
from nlmcore.decoding.reading import Prompt, all_but_last, check_request, next_log_probs, prefill
from nlmcore.decoding.results import Generation, SearchTree
from nlmcore.language_model import LanguageModel, State, select


@checked
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
    temperature: Amount = 1.0,
    top_k: Size | None = None,
    top_p: Probability | None = None,
    min_p: Probability | None = None,
    typical_p: Probability | None = None,
    filters: Sequence[Filter] = (),
    generator: torch.Generator | None = None,
    trace: bool = False,
) -> Generation | tuple[Generation, SearchTree]:
    """Sample what `sample(model, ...)` would, with fewer calls of `model`. temperature=0 gives greedy search.

    In the tree, a drafted token that was rejected is "pruned".
    """
    prompt, end = check_request(model, prompt, eos, state, max_new_tokens)
    check_request(draft, prompt, eos, draft_state, name="draft")
    if draft.vocab_size != model.vocab_size:
        raise ValueError(
            f"draft must have the model's vocabulary of {model.vocab_size} tokens, got one of {draft.vocab_size}"
        )
    reshaped = compose(temperature, top_k, top_p, min_p, typical_p, filters)
    tree = SearchTree(len(prompt))
    tree.best.update(range(len(prompt)))

    def propose(unread: Tensor, state: State, ahead: int) -> tuple[list[int], list[Tensor], list[State]]:
        """Up to `ahead` tokens of the draft model, the distribution of each and the state before it."""
        drafted: list[int] = []
        q: list[Tensor] = []
        states: list[State] = []
        while len(drafted) < ahead and (not drafted or drafted[-1] != end):
            log_probs, state = next_log_probs(draft, unread, state)
            q.append(reshaped(log_probs).softmax(dim=-1)[0])
            states.append(state)
            drafted.append(int(sample_index(q[-1][None], generator)))
            unread = unread.new_tensor([drafted[-1:]])
        return drafted, q, states

    texts: list[list[int]] = [[] for _ in prompt]
    text_log_probs: list[list[float]] = [[] for _ in prompt]
    for row, (text, its_log_probs) in enumerate(zip(texts, text_log_probs, strict=True)):
        # A model is at (the text that it still has to read (1, time), its state before).
        one, node = prompt.new_tensor([row]), row
        at = prompt[one], select(state, one)
        draft_at = all_but_last(draft, prompt[one], select(draft_state, one))
        while len(text) < max_new_tokens and (not text or text[-1] != end):
            unread, before = at
            # A rejection means reading `unread` again: never the prompt, and never much. The target adds one token
            # itself, so drafting up to the limit would be in vain.
            short = text and unread.shape[1] <= 2 * (lookahead + 1)
            ahead = min(lookahead, max_new_tokens - len(text) - 1) if short else 0
            # The draft writes its tokens one by one; the target then reads all of them in one call.
            drafted, q, draft_states = propose(*draft_at, ahead)
            log_probs, after = prefill(model, torch.cat([unread, unread.new_tensor([drafted])], dim=1), before)
            log_probs = log_probs[0, -1 - len(drafted) :]  # (drafted + 1, vocab): before each drafted token, and after
            kept, own = accept(drafted, q, reshaped(log_probs).softmax(dim=-1), end, generator)
            accepted, new = len(kept), kept + own
            for i, token in enumerate(new):
                if i == accepted < len(drafted):
                    tree.add(node, drafted[i], float(log_probs[i, drafted[i]]), "pruned")
                log_prob = float(log_probs[i, token])
                node = tree.add(node, token, log_prob, "finished" if token == end else "kept")
                tree.best.add(node)
                text.append(token)
                its_log_probs.append(log_prob)

            # Advance both models. We have the draft's states between its tokens; of the target's only the last.
            written = unread.new_tensor([new])
            if drafted:
                known = min(accepted, len(drafted) - 1)
                draft_at = written[:, known:], draft_states[known]
            else:
                draft_at = torch.cat([draft_at[0], written], dim=1), draft_at[1]
            rejected = torch.cat([unread, written], dim=1), before
            at = (written[:, -1:], after) if accepted == len(drafted) else rejected

    tokens = pad_sequence([prompt.new_tensor(text) for text in texts], batch_first=True)
    log_probs = pad_sequence([torch.tensor(each, device=prompt.device) for each in text_log_probs], batch_first=True)
    finished = torch.tensor([text[-1:] == [end] for text in texts], device=prompt.device)
    generation = Generation(tokens, log_probs, finished)
    return (generation, tree) if trace else generation


def accept(
    drafted: list[int], q: list[Tensor], p: Tensor, eos: int | None, generator: torch.Generator | None
) -> tuple[list[int], list[int]]:
    """The drafted tokens that are accepted, and the target's own token after them (none after <eos>).

    q holds the draft's distribution (vocab) of every drafted token, p (drafted + 1, vocab) the target's.
    """
    for i, x in enumerate(drafted):
        # u < p/q, written without a division: q may be tiny.
        if not torch.rand((), generator=generator, device=p.device) * q[i][x] < p[i, x]:
            left = (p[i] - q[i]).clamp(min=0)  # max(0, p − q), what q gives too little to
            weights = left if left.any() else p[i]  # nothing is left only by rounding, when p equals q
            return drafted[:i], [int(sample_index(weights[None], generator))]
    return drafted, [] if drafted[-1:] == [eos] else [int(sample_index(p[-1:], generator))]
