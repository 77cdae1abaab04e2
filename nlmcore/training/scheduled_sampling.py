"""Scheduled sampling: let the model read its own output while it still learns.

At every step a coin is tossed: with probability epsilon the model reads the true token, otherwise the one that it
samples from its previous prediction. The loss asks for the true next token in both cases. epsilon falls during
training from 1 (teacher forcing) towards 0 (as at inference), on one of three curves; i counts training steps:

    linear              epsilon_i = max(floor, k - c i)
    exponential         epsilon_i = k ** i             k < 1
    inverse sigmoid     epsilon_i = k / (k + exp(i / k))     k >= 1

Source: Bengio et al. (2015, "Scheduled Sampling for Sequence Prediction with Recurrent Neural Networks", section 2.4).
Departs from the paper: nothing. No gradient flows through the sampled words, as there.
"""

import math
from typing import Annotated

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from nlmcore.checks import Amount, Count, Probability, Range, checked
from nlmcore.language_model import LanguageModel, State, call_model
from nlmcore.training.losses import ADVICE, mean_loss, prepare


@checked
def scheduled_sampling_loss(
    model: LanguageModel,
    tokens: Int[Tensor, "batch time"],
    epsilon: Probability,
    targets: Int[Tensor, "batch time"] | None = None,
    *,
    mask: Bool[Tensor, "batch time"] | None = None,
    state: State = None,
    source: Int[Tensor, "batch source"] | None = None,
    source_mask: Bool[Tensor, "batch source"] | None = None,
    greedy: bool = False,
    generator: torch.Generator | None = None,
) -> Float[Tensor, ""]:
    """Mean negative log-likelihood when only a fraction `epsilon` of the input is true; the first token always is.

    `greedy=True` reads the model's most probable word instead of a sampled one. Other arguments as in
    `teacher_forcing_loss`, which epsilon = 1 is.
    """
    tokens, targets, mask, state = prepare(model, tokens, targets, mask, state, source, source_mask)
    coins = torch.rand(tokens.shape, generator=generator, device=tokens.device)  # (batch, time): one for every token
    is_true = coins < epsilon  # never 1: epsilon = 1 keeps all
    is_true[:, 0] = True  # nothing was predicted before it

    # Columns in which every row reads the true token need not wait for a prediction, so one call reads them.
    waits = (~is_true).any(dim=0).nonzero()[:, 0].tolist()
    logits: list[Tensor] = []
    for start, end in zip([0, *waits], [*waits, tokens.shape[1]], strict=True):
        read = tokens[:, start:end]
        if logits:
            last = logits[-1][:, -1].detach()  # no gradient through what is sampled, as in the paper
            own = last.argmax(dim=-1) if greedy else torch.multinomial(last.softmax(-1), 1, generator=generator)[:, 0]
            first = torch.where(is_true[:, start], read[:, 0], own)
            read = torch.cat([first[:, None], read[:, 1:]], dim=1)  # after the first column all rows read the truth
        predicted, state = call_model(model, read, state, ADVICE)
        logits.append(predicted)
    return mean_loss(torch.cat(logits, dim=1), targets, mask)


@checked
def linear_decay(step: Count, *, start: Probability = 1.0, slope: Amount, floor: Probability = 0.0) -> float:
    """max(floor, start - slope * step): the paper's epsilon, k and c."""
    return max(float(floor), start - slope * step)


@checked
def exponential_decay(step: Count, *, base: Probability) -> float:
    """base ** step: the paper's k < 1."""
    return float(base**step)


@checked
def inverse_sigmoid_decay(step: Count, *, k: Annotated[float | int, Range(1)]) -> float:
    """k / (k + exp(step / k)), k >= 1: stays near 1 for about k ln k steps, then falls."""
    return k / (k + math.exp(min(step / k, 700.0)))  # beyond exp(700) it is 0 all the same
