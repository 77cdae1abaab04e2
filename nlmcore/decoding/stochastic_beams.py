"""Stochastic beam search: k different texts, sampled from the model *without replacement*, in one beam search.

Gumbel-max: argmax_y (ln P(y) + noise_y) is a sample of P if the noise is Gumbel; the k highest are k samples without
replacement. The highest perturbed value G of a subtree is itself Gumbel around the subtree's log-probability phi. So
sample from the root down: given the parent's G_S, its children's values are Gumbel(phi_child), conditioned on their
maximum being G_S,

    Z = max_i G_i,    G~_i = -ln( exp(-G_S) - exp(-Z) + exp(-G_i) ),

and only the k highest branches need to be followed.

Source: Kool, van Hoof & Welling (2019, "Stochastic Beams and Where to Find Them", section 4, algorithm 1; the stable
form of G~ is their appendix B). phi is `log_prob`, G is `score`. Departs from the paper: the root's G is drawn from
Gumbel(0), where algorithm 1 may fix it.
"""

import math
from typing import SupportsIndex

import torch
from jaxtyping import Float
from torch import Tensor

from nlmcore.checks import Count, Size, checked
from nlmcore.decoding.beams import extend
from nlmcore.decoding.filters import highest
from nlmcore.decoding.reading import Prompt, check_request, next_log_probs
from nlmcore.decoding.results import Hypothesis, Kind, Ranked, SearchTree, best_first, with_tree
from nlmcore.language_model import LanguageModel, State, select


def gumbel(phi: Tensor, generator: torch.Generator | None) -> Tensor:
    """Gumbel noise around phi; -inf stays -inf. If E is exponential, -ln E is standard Gumbel."""
    return phi - torch.empty_like(phi).exponential_(generator=generator).log()


def condition_on_maximum(
    values: Float[Tensor, "*batch child"], maximum: Float[Tensor, "*batch"]
) -> Float[Tensor, "*batch child"]:
    """Shift Gumbel values so that the highest becomes `maximum`, and the rest are as if sampled knowing it.

    With v = T - G_i + ln(1 - exp(G_i - Z)):  G~_i = T - max(0, v) - ln(1 + exp(-|v|)), which loses no digits.
    """
    largest = values.amax(dim=-1, keepdim=True)
    T = maximum[..., None]
    v = T - values + torch.log1p(-torch.exp(values - largest))
    shifted = T - v.clamp(min=0) - torch.log1p(torch.exp(-v.abs()))
    return shifted.masked_fill(values == -math.inf, -math.inf)


@checked
@torch.no_grad()
def stochastic_beam_search(
    model: LanguageModel,
    prompt: Prompt,
    max_new_tokens: Count,
    *,
    eos: SupportsIndex | None = None,
    state: State = None,
    beam_size: Size = 4,
    generator: torch.Generator | None = None,
    trace: bool = False,
) -> Ranked | tuple[Ranked, SearchTree]:
    """Up to `beam_size` different texts for each prompt; `score` is the perturbed log-probability, highest first.

    The first is an exact sample of the model; all together are a sample without replacement.
    """
    prompt, end = check_request(model, prompt, eos, state, max_new_tokens)
    batch = len(prompt)
    tree = SearchTree(batch) if trace else None
    nodes = [[row] for row in range(batch)]
    texts = prompt.new_empty(batch, 1, 0)
    lengths = torch.zeros(batch, 1, dtype=torch.long, device=prompt.device)
    ended = torch.zeros(batch, 1, dtype=torch.bool, device=prompt.device)
    # Double precision: G~ is a difference of exponentials of numbers of the size of a text's log-probability.
    phi = torch.zeros(batch, 1, dtype=torch.float64, device=prompt.device)
    G = gumbel(phi, generator)
    unread = prompt

    for length in range(1, max_new_tokens + 1):
        log_probs, state = next_log_probs(model, unread, state)
        vocab_size = log_probs.shape[-1]
        log_probs = log_probs.double().view(batch, -1, vocab_size)
        # A text that has ended is a leaf: its only child is itself, which keeps its phi and its G.
        itself = torch.full_like(log_probs[0, 0], -math.inf).index_fill(0, prompt.new_zeros(1), 0.0)
        log_probs = torch.where(ended[:, :, None], itself, log_probs)
        children = phi[:, :, None] + log_probs  # (batch, beam, vocab)
        perturbed = condition_on_maximum(gumbel(children, generator), G).flatten(1)
        indices = highest(perturbed, beam_size)
        parent, word, texts = extend(texts, indices, vocab_size)
        G, phi = perturbed.gather(1, indices), children.flatten(1).gather(1, indices)
        was_ended = ended.gather(1, parent) | torch.isneginf(G)  # fewer texts than beams: this one is empty
        lengths = lengths.gather(1, parent) + (~was_ended).long()
        ended = was_ended | (word == end) if end is not None else was_ended
        if tree is not None:
            token_log_probs = log_probs.flatten(1).gather(1, indices)
            over = ended if length < max_new_tokens else torch.ones_like(ended)
            kinds = torch.where(over, Kind.FINISHED, Kind.KEPT)
            kinds = torch.where(was_ended, Kind.ABSENT, kinds)  # a text that had ended before keeps its node
            nodes = tree.extend(nodes, parent, word, token_log_probs, kinds, G)
        if ended.all():
            break
        rows = torch.arange(batch, device=prompt.device)[:, None] * log_probs.shape[1] + parent
        state, unread = select(state, rows.flatten()), word.reshape(-1, 1)

    ranked = []
    for found in zip(texts.tolist(), lengths.tolist(), phi.tolist(), G.tolist(), strict=True):
        beams = zip(*found, strict=True)
        ranked.append(best_first([Hypothesis(text[:n], p, g) for text, n, p, g in beams if g > -math.inf]))
    return with_tree(ranked, tree)
