"""Pretraining objectives: from texts to what a model reads, what it predicts, and which predictions count.

    causal          reads w_1 … w_{n−1}, predicts w_2 … w_n            Radford et al. (2018), GPT, equation 1
    prefix          the same, but only predictions after the prefix    Raffel et al. (2020), T5, section 3.2.1
    masked          reads w with 15 % of its tokens changed,           Devlin et al. (2019), BERT, section 3.1
                    predicts those 15 %, each at its own position
    corrupt_spans   the source is w with a sentinel for each span,     Raffel et al. (2020), section 3.1.4, figure 2
                    the target each sentinel and its span

What a position may attend to is a mask of `nlmcore.attention`, and tells the first three apart in one model:

    causal   causal_mask(n).expand(batch, n, n)     prefix   prefix_mask(lengths, n)     masked   None, or real tokens

    def loss(model, batch):                                     of a MaskedLM, for `fit`; batch = masked(…)
        return next_token_loss(model(batch.tokens, what_may_be_attended_to), batch.targets, batch.mask)

`fit` takes `causal` and `corrupt_spans` without a loss of their own. In all: tokens and mask (batch, time), True = a
real token (None: all are); the input is unchanged.

Departs from the papers: BERT guesses exactly 15 % of a text, here each token with probability .15. T5 packs its texts
to one length.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from jaxtyping import Bool, Int
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from nlmcore.attention import padding_mask
from nlmcore.attention.masks import check_token_mask
from nlmcore.checks import Count, Positive, Size, check_tokens, checked

__all__ = ["Example", "SourceAndTarget", "causal", "corrupt_spans", "cut", "hide_tokens", "masked", "prefix"]


class Example(NamedTuple):
    """Arguments of `teacher_forcing_loss`: targets[b, t] is predicted at tokens[b, t] and counts if mask is True."""

    tokens: Int[Tensor, "batch time"]
    targets: Int[Tensor, "batch time"]
    mask: Bool[Tensor, "batch time"]


class SourceAndTarget(NamedTuple):
    """Arguments of `teacher_forcing_loss` for a model with `encode`; tokens: the target, from bos to eos."""

    source: Int[Tensor, "batch source"]
    source_mask: Bool[Tensor, "batch source"]
    tokens: Int[Tensor, "batch time"]
    mask: Bool[Tensor, "batch time"]


@checked
def causal(tokens: Int[Tensor, "batch time"], mask: Bool[Tensor, "batch time"] | None = None) -> Example:
    """Every token but the first is predicted from the previous ones. Raises ValueError for texts of one token."""
    if tokens.shape[1] < 2:
        raise ValueError(f"tokens must hold a token to read and one to predict, got shape {tuple(tokens.shape)}")
    real = torch.ones_like(tokens, dtype=torch.bool) if mask is None else mask
    return Example(tokens[:, :-1], tokens[:, 1:], real[:, 1:])


@checked
def prefix(
    tokens: Int[Tensor, "batch time"], lengths: Int[Tensor, " batch"], mask: Bool[Tensor, "batch time"] | None = None
) -> Example:
    """Only tokens after the first lengths[b] are predicted; those attend to each other in both directions.

    The mask of what is read is prefix_mask(lengths, time)[:, :-1, :-1]. Raises ValueError for a length outside
    [1, time], and as `causal` does.
    """
    if len(lengths) and int(lengths.min()) < 1:
        raise ValueError(f"lengths must be at least 1, because something must be read first, got {int(lengths.min())}")
    read, targets, real = causal(tokens, mask)
    return Example(read, targets, real & ~padding_mask(lengths, tokens.shape[1])[:, 1:])


@checked
def masked(
    tokens: Tensor,
    hidden_id: Count,
    vocab_size: Size,
    mask: Tensor | None = None,
    share: Positive = 0.15,
    generator: torch.Generator | None = None,
) -> Example:
    """`hide_tokens`, whose arguments and errors it has; the targets are the tokens themselves."""
    read, guess = hide_tokens(tokens, hidden_id, vocab_size, mask, share, generator)
    return Example(read, tokens, guess)


@checked
def hide_tokens(
    tokens: Tensor,
    hidden_id: Count,
    vocab_size: Size,
    mask: Tensor | None = None,
    share: Positive = 0.15,
    generator: torch.Generator | None = None,
) -> tuple[Int[Tensor, "batch time"], Bool[Tensor, "batch time"]]:
    """(tokens to read, where to guess): the model guesses `share` of the real tokens, in (0, 1].

    Of these 80 % become `hidden_id` ("[MASK]"), 10 % a random token, and 10 % stay: Devlin et al. (2019), section 3.1.
    mask (batch, time), True = a real token, None: all are.

    Raises ValueError for a share above 1, ids outside the vocabulary, or a mask whose shape is not the tokens'.
    """
    check_tokens(tokens, vocab_size)
    check_token_mask(mask, tokens)
    if share > 1:
        raise ValueError(f"share must lie in (0, 1], got {share}")
    if hidden_id >= vocab_size:
        raise ValueError(f"hidden_id must lie in [0, {vocab_size}), got {hidden_id}")
    guess = torch.rand(tokens.shape, generator=generator) < share
    if mask is not None:
        guess &= mask
    fate = torch.rand(tokens.shape, generator=generator)
    random = torch.randint(vocab_size, tokens.shape, generator=generator).to(tokens)
    read = tokens.masked_fill(guess & (fate < 0.8), hidden_id)
    return random.where(guess & (fate >= 0.8) & (fate < 0.9), read), guess


@checked
def corrupt_spans(
    tokens: Int[Tensor, "batch time"],
    sentinels: Sequence[int],
    mask: Bool[Tensor, "batch time"] | None = None,
    share: Positive = 0.15,
    mean_span: Positive = 3.0,
    bos: Count = 1,
    eos: Count = 2,
    generator: torch.Generator | None = None,
) -> SourceAndTarget:
    """Spans of `share` of each text, on average mean_span long, are replaced by sentinels and become the target.

        text      Thank you for inviting me to your party last week
        source    Thank you <X> me to your party <Y> week
        target    <bos> <X> for inviting <Y> last <Z> <eos>

    Of n real tokens round(share · n) are removed, in round(that / mean_span) spans, at least one of each and at most n
    − 1 tokens; lengths of spans and gaps are random. As in the authors' code, a text begins with a gap and ends with a
    span. A text of fewer than two tokens stays whole. The k-th span of a text has the k-th id of `sentinels`; one more
    ends the target, as in the figure (their code leaves it out, since no gap follows). Raises ValueError for too few
    sentinels, or a share of 1 or more.
    """
    if share >= 1:
        raise ValueError(f"share must lie in (0, 1), got {share}")
    real = torch.ones_like(tokens, dtype=torch.bool) if mask is None else mask
    sources, targets = [], []
    for row, kept in zip(tokens, real, strict=True):
        text = row[kept].tolist()
        source, target, at = [], [bos], 0
        pieces = cut(len(text), share, mean_span, generator)
        if len(pieces) >= len(sentinels):
            raise ValueError(
                f"sentinels must be at least {len(pieces) + 1} for {len(text)} tokens, got {len(sentinels)}"
            )
        for sentinel, (gap, span) in zip(sentinels, pieces, strict=False):
            source += [*text[at : at + gap], sentinel]
            target += [sentinel, *text[at + gap : at + gap + span]]
            at += gap + span
        sources.append(row.new_tensor(source + text[at:]))
        targets.append(row.new_tensor([*target, sentinels[len(pieces)], eos]))
    padded = [pad_sequence(part, batch_first=True) for part in (sources, targets)]
    lengths = [torch.tensor([len(text) for text in part], device=tokens.device) for part in (sources, targets)]
    return SourceAndTarget(padded[0], padding_mask(lengths[0]), padded[1], padding_mask(lengths[1]))


def cut(n: int, share: float, mean_span: float, generator: torch.Generator | None = None) -> list[tuple[int, int]]:
    """(tokens kept, tokens removed) in turn, from the beginning of a text of n tokens; every number is at least 1."""
    if n < 2:
        return []
    removed = min(max(round(n * share), 1), n - 1)
    spans = min(max(round(removed / mean_span), 1), removed, n - removed)

    def parts(total: int) -> list[int]:
        """`total` as a sum of `spans` positive integers, every such sum equally likely."""
        ends = 1 + torch.randperm(total - 1, generator=generator)[: spans - 1].sort().values
        return torch.diff(ends, prepend=ends.new_tensor([0]), append=ends.new_tensor([total])).tolist()

    return list(zip(parts(n - removed), parts(removed), strict=True))
