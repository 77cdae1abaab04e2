"""Exhaustive search: score every text there is. Exact, and prohibitive beyond a toy vocabulary.

    argmax over w_1 ... w_n of  ln P(w_1 ... w_n) / n ** length_penalty

A text is complete when it ends in <eos> or has `max_new_tokens` tokens. There are up to V ** max_new_tokens. The oracle
that beam search is held to. Source: folklore; Jurafsky & Martin (2024, section 13.4) on why nobody does it.
"""

import math
from typing import SupportsIndex

import torch

from nlmcore.checks import Count, Size, checked
from nlmcore.decoding.reading import Prompt, check_length_penalty, check_request, next_log_probs
from nlmcore.decoding.results import Hypothesis, Kind, Ranked, SearchTree, best_first, score, with_tree
from nlmcore.language_model import LanguageModel, State, select


@checked
@torch.no_grad()
def exhaustive_search(
    model: LanguageModel,
    prompt: Prompt,
    max_new_tokens: Count,
    *,
    eos: SupportsIndex | None = None,
    state: State = None,
    length_penalty: float | int = 0.0,
    num_hypotheses: Size | None = None,
    limit: Size = 1_000_000,
    trace: bool = False,
) -> Ranked | tuple[Ranked, SearchTree]:
    """Every text of non-zero probability (or the `num_hypotheses` best), best first, for each prompt.

    Refuses with ValueError if there are more than `limit` texts to score.
    """
    prompt, end = check_request(model, prompt, eos, state, max_new_tokens)
    check_length_penalty(length_penalty, max_new_tokens)
    # In logarithms: V ** n need not be a number that a float holds.
    if math.log(len(prompt)) + max_new_tokens * math.log(model.vocab_size) > math.log(limit) + 1e-9:
        raise ValueError(
            f"exhaustive_search would score {len(prompt)} × {model.vocab_size} ** {max_new_tokens} texts, more than"
            f" limit={limit:,}; lower max_new_tokens, use a smaller vocabulary, or use beam_search"
        )
    empty = [Hypothesis([], 0.0, 0.0)] if max_new_tokens == 0 else []
    complete = [empty[:] for _ in prompt]
    tree = SearchTree(len(prompt)) if trace else None
    owner = torch.arange(len(prompt), device=prompt.device)  # the prompt that each open text continues
    node = owner.tolist()
    texts, total, unread = prompt[:, :0], torch.zeros(len(prompt), device=prompt.device), prompt
    for length in range(1, max_new_tokens + 1):
        log_probs, state = next_log_probs(model, unread, state)  # (text, vocab)
        totals = total[:, None] + log_probs  # (text, vocab): ln P of every text with one more word
        parent, word = (totals > -math.inf).nonzero(as_tuple=True)  # impossible texts are not followed
        texts = torch.cat([texts[parent], word[:, None]], dim=1)
        owner, total = owner[parent], totals[parent, word]
        done = torch.full_like(word, length == max_new_tokens, dtype=torch.bool)
        if end is not None:
            done |= word == end
        if tree is not None:
            kinds, word_log_probs = torch.where(done, Kind.FINISHED, Kind.KEPT), log_probs[parent, word]
            [node] = tree.extend([node], parent[None], word[None], word_log_probs[None], kinds[None], None)
            node = [n for n, over in zip(node, done.tolist(), strict=True) if not over]
        ended = (values[done].tolist() for values in (texts, owner, total))
        for text, row, log_prob in zip(*ended, strict=True):
            complete[row].append(Hypothesis(text, log_prob, score(log_prob, length, length_penalty)))  # <eos> counts
        going = (~done).nonzero()[:, 0]
        if len(going) == 0:
            break
        texts, owner, total = texts[going], owner[going], total[going]
        state, unread = select(state, parent[going]), word[going, None]

    return with_tree([best_first(hypotheses)[:num_hypotheses] for hypotheses in complete], tree)
