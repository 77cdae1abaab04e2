"""Perplexity: how many equally likely words the model hesitates between, on average.

Source: Jelinek, Mercer, Bahl & Baker (1977); Jurafsky & Martin (2024), section 3.3.

    perplexity         = exp( -1/N  Σ ln P(w_t | w_1 ... w_{t-1}) )        over the N predicted tokens
    bits per character = -1/C  Σ log2 P(w_t | w_1 ... w_{t-1})              C the characters that they spell

The first token of a row is read, not predicted, so begin rows with `<bos>` if every word should count. Perplexities
compare only over the same tokens; bits per character compare across tokenizers. A mean over no prediction at all is
refused with ValueError. Departs from the source: nothing.

**Exposure**: how well does a model know a secret that it may have been trained on?

    exposure(s) = log₂ |R| − log₂ rank(s),     rank(s) = 1 + the number of r in R with log P(r) > log P(s)

Source: Carlini et al. (2019), "The Secret Sharer", section 4. R are the secrets that could have been chosen, s among
them. For a secret that was not in the text the rank is uniform, so its mean exposure is about log₂ e = 1.4 bits.
Departs from the paper: R is a random sample of the possible secrets, with s added; equal probabilities share the mean
of their ranks.
"""

import math
from typing import Any, NamedTuple, SupportsIndex

import torch
from jaxtyping import Float, Int
from torch import Tensor

from nlmcore.checks import ContextLengthError, Count, Size, check_tokens, checked
from nlmcore.language_model import LanguageModel, State, call_model, check_id, check_model, evaluation_mode


class Likelihood(NamedTuple):
    """Σ ln P over the predicted tokens, and how many they are."""

    log_probability: float
    predicted: int


@checked
def log_likelihood(
    model: LanguageModel,
    tokens: Int[Tensor, "batch time"],
    *,
    state: State = None,
    ignore: SupportsIndex | None = None,
    chunk: Size = 512,
    carry: bool = True,
) -> Likelihood:
    """Σ ln P(token | all before it in its row); `tokens` has shape (batch, time), time at least 2.

    The text is read `chunk` tokens at a time and the state is carried along, which by the chunking law changes
    nothing but the memory needed. For a model with a limited number of positions, `carry=False` starts every chunk
    afresh from `state`. Predictions *of* the id `ignore` do not count: 0 for padding, which must come after the text.
    """
    check_model(model)
    check_tokens(tokens, model.vocab_size)
    ignored = check_id(ignore, model.vocab_size, "ignore")
    batch, time = tokens.shape
    if time < 2:
        raise ValueError(f"tokens must hold at least two tokens per row, the second to be predicted, got {batch} × 1")
    total, predicted = 0.0, 0
    carried = state
    with torch.no_grad(), evaluation_mode(model):
        for inputs, targets in zip(tokens[:, :-1].split(chunk, 1), tokens[:, 1:].split(chunk, 1), strict=True):
            logits, carried = _read(model, inputs, carried if carry else state)
            target = targets.to(logits.device, torch.int64)
            log_probs = logits.log_softmax(-1).gather(-1, target.unsqueeze(-1)).squeeze(-1)  # (batch, chunk)
            if ignored is not None:
                log_probs = log_probs[target != ignored]
            total += float(log_probs.sum(dtype=torch.float64))
            predicted += log_probs.numel()
    if predicted == 0:
        raise ValueError(f"tokens must hold at least one to predict that is not ignore={ignore}, got none")
    return Likelihood(total, predicted)


def perplexity(model: LanguageModel, tokens: Int[Tensor, "batch time"], **options: Any) -> float:
    """exp(mean negative log-likelihood per predicted token); infinite if the model held a token to be impossible.

    Options as in `log_likelihood`: the initial `state`, `ignore=0` for padded rows, `chunk` and `carry` for long texts.
    """
    total, predicted = log_likelihood(model, tokens, **options)
    mean = -total / predicted
    return math.exp(mean) if not mean > 700 else math.inf  # e^710 is beyond a float


@checked
def bits_per_character(
    model: LanguageModel, tokens: Int[Tensor, "batch time"], characters: Size, **options: Any
) -> float:
    """-log2 P(text) / characters, where `characters` counts those that the predicted tokens spell (not the first).

    For one row that is `len(tokenizer.decode(row[1:]))`. Options as in `log_likelihood`.
    """
    return -log_likelihood(model, tokens, **options).log_probability / math.log(2) / characters


def _read(model: LanguageModel, tokens: Tensor, state: State) -> tuple[Tensor, State]:
    """model(tokens, state); a refusal of too long a text is told with what to do about it."""
    try:
        return call_model(model, tokens, state)
    except ContextLengthError as error:
        raise ValueError(
            f"{error}; carry=False starts every chunk afresh, and a longer text can be read, chunk tokens at a time,"
            " with a chunk of no more than the positions"
        ) from error


@checked
def secret_rank(log_p: Float[Tensor, " candidate"], secret: Count) -> float:
    """From 1, the most probable. secret: its index among the candidates. Raises ValueError if there is none with it."""
    if secret >= len(log_p):
        raise ValueError(f"secret must be the index of a candidate, below {len(log_p)}, got {secret}")
    higher, equal = (log_p > log_p[secret]).sum(), (log_p == log_p[secret]).sum()
    return float(higher) + (float(equal) + 1) / 2


def exposure(log_p: Float[Tensor, " candidate"], secret: int) -> float:
    """In bits, from 0 to log₂ of the number of candidates."""
    return math.log2(len(log_p)) - math.log2(secret_rank(log_p, secret))
