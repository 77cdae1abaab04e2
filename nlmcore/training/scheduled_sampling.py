"""Scheduled sampling: let the model read its own words while it still learns.

At every step a coin is thrown: with probability epsilon the model reads the true token, otherwise the one that it
draws itself from its last prediction. It is paid for the true next token in both cases. epsilon falls during
training from 1 (teacher forcing) towards 0 (as in use), on one of three curves; i counts training steps:

    linear              epsilon_i = max(floor, k - c i)
    exponential         epsilon_i = k ** i             k < 1
    inverse sigmoid     epsilon_i = k / (k + exp(i / k))     k >= 1

Source: Bengio et al. (2015, "Scheduled Sampling for Sequence Prediction with Recurrent Neural Networks",
section 2.4). The coin is thrown for every token, not for every sentence, as the paper recommends.
Departs from the paper: nothing. No gradient flows through the drawn words, as there.
"""

import math
from operator import index

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from nlmcore.language_model import LanguageModel, State
from nlmcore.training.arguments import check_number, check_share
from nlmcore.training.losses import initial_state, mean_loss, shift


def scheduled_sampling_loss(
    model: LanguageModel,
    tokens: Int[Tensor, "batch time"],
    epsilon: float | int,
    targets: Int[Tensor, "batch time"] | None = None,
    *,
    mask: Bool[Tensor, "batch time"] | None = None,
    state: State = None,
    source: Int[Tensor, "batch source"] | None = None,
    source_mask: Bool[Tensor, "batch source"] | None = None,
    greedy: bool = False,
    generator: torch.Generator | None = None,
) -> Float[Tensor, ""]:
    """Mean negative log-likelihood when only a share `epsilon` of what is read is true; the first token always is.

    epsilon = 1 is `teacher_forcing_loss`, epsilon = 0 lets the model read nothing but itself. `greedy=True`
    reads the model's most probable word instead of a drawn one. Other arguments as in `teacher_forcing_loss`.
    """
    check_share("epsilon", epsilon)
    tokens, targets, mask = shift(model, tokens, targets, mask)
    state = initial_state(model, state, source, source_mask)
    coins = torch.rand(tokens.shape, generator=generator, device=tokens.device)
    is_true = coins < epsilon  # never 1: epsilon = 1 keeps all
    is_true[:, 0] = True

    # Columns in which every row reads the truth need not wait for a prediction: they are read in one call.
    waits = (~is_true).any(dim=0).nonzero()[:, 0].tolist()
    logits: list[Tensor] = []
    for start, end in zip([0, *waits], [*waits, tokens.shape[1]], strict=True):
        read = tokens[:, start:end]
        if logits:
            own = _own_words(logits[-1][:, -1].detach(), greedy, generator)
            first = torch.where(is_true[:, start], read[:, 0], own)
            read = torch.cat([first[:, None], read[:, 1:]], dim=1)
        predicted, state = model(read, state)
        logits.append(predicted)
    return mean_loss(torch.cat(logits, dim=1), targets, mask)


def _own_words(logits: Tensor, greedy: bool, generator: torch.Generator | None) -> Tensor:
    if greedy:
        return logits.argmax(dim=-1)
    return torch.multinomial(logits.softmax(dim=-1), 1, generator=generator)[:, 0]


def linear_decay(step: int, *, start: float | int = 1.0, slope: float | int, floor: float | int = 0.0) -> float:
    """max(floor, start - slope * step): the paper's epsilon, k and c."""
    check_share("start", start)
    check_share("floor", floor)
    check_number("slope", slope)
    return max(float(floor), start - slope * _checked(step))


def exponential_decay(step: int, *, base: float | int) -> float:
    """base ** step: the paper's k < 1."""
    check_share("base", base)
    return float(base ** _checked(step))


def inverse_sigmoid_decay(step: int, *, k: float | int) -> float:
    """k / (k + exp(step / k)), k >= 1: stays near 1 for about k ln k steps, then falls."""
    check_number("k", k, minimum=1.0)
    return k / (k + math.exp(min(_checked(step) / k, 700.0)))  # beyond exp(700) it is 0 all the same


def _checked(step: int) -> int:
    """An integer of at least 0, of any library."""
    try:
        step = index(step)
    except TypeError as error:
        raise TypeError(f"step must be an integer, got {step!r:.60}") from error
    if step < 0:
        raise ValueError(f"step must be at least 0, got {step}")
    return step
