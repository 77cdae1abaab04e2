"""Perplexity: how many equally likely words the model hesitates between, on average.

Source: Jelinek, Mercer, Bahl & Baker (1977); Jurafsky & Martin (2024), section 3.3.

    perplexity         = exp( -1/N  Σ ln P(w_t | w_1 ... w_{t-1}) )        over the N predicted tokens
    bits per character = -1/C  Σ log2 P(w_t | w_1 ... w_{t-1})              C the characters that they spell

The first token of a row is read, not predicted: begin rows with `<bos>` if every word is to count. Perplexities
compare only over the same tokens; bits per character compare across tokenizers.

Departs from the source: nothing.
"""

import math
import re
from operator import index
from typing import NamedTuple, SupportsIndex

import torch
from torch import Tensor

from nlmcore.language_model import LanguageModel, State, check_model, check_tokens, evaluation_mode


class Likelihood(NamedTuple):
    """Σ ln P over the predicted tokens, and how many they are."""

    log_probability: float
    predicted: int


def log_likelihood(
    model: LanguageModel,
    tokens: Tensor,
    *,
    state: State = None,
    ignore: SupportsIndex | None = None,
    chunk: int = 512,
    carry: bool = True,
) -> Likelihood:
    """Σ ln P(token | all before it in its row); `tokens` has shape (batch, time), time at least 2.

    The text is read `chunk` tokens at a time and the state is carried along, which by the chunking law changes
    nothing but the memory needed. For a model that can read only so far, `carry=False` starts every chunk
    afresh from `state` (as before any text by default). Predictions *of* the id `ignore` do not count: 0 for
    padding, which must stand at the right. Modules are put in evaluation mode and back.
    """
    check_model(model)
    vocab_size = model.vocab_size
    check_tokens(tokens, vocab_size)
    ignored = _ignored(ignore, vocab_size)
    batch, time = tokens.shape
    if time < 2:
        raise ValueError(f"tokens must hold at least two tokens per row, the second to be predicted, got {batch} × 1")
    if not isinstance(chunk, int) or chunk < 1:
        raise ValueError(f"chunk must be an integer of at least 1, got {chunk!r}")
    inputs, targets = tokens[:, :-1], tokens[:, 1:]
    total, predicted = 0.0, 0
    carried = state
    with torch.no_grad(), evaluation_mode(model):
        for start in range(0, time - 1, chunk):
            logits, carried = _read(model, inputs[:, start : start + chunk], carried if carry else state)
            if logits.shape != (*inputs[:, start : start + chunk].shape, vocab_size):
                raise ValueError(
                    f"model must give logits of shape (batch, time, vocab_size = {vocab_size}) for {batch} texts,"
                    f" got {tuple(logits.shape)}"
                )
            target = targets[:, start : start + chunk].to(logits.device, torch.int64)
            log_probs = logits.log_softmax(-1).gather(-1, target.unsqueeze(-1)).squeeze(-1)  # (batch, chunk)
            if ignored is not None:
                log_probs = log_probs[target != ignored]
            total += float(log_probs.sum(dtype=torch.float64))
            predicted += log_probs.numel()
    if predicted == 0:
        raise ValueError(f"tokens must hold at least one to predict that is not ignore={ignore}, got none")
    return Likelihood(total, predicted)


def perplexity(
    model: LanguageModel,
    tokens: Tensor,
    *,
    state: State = None,
    ignore: SupportsIndex | None = None,
    chunk: int = 512,
    carry: bool = True,
) -> float:
    """exp(mean negative log-likelihood per predicted token); infinite if a token was held to be impossible.

    Options as in `log_likelihood`: `state` to begin from, `ignore=0` for padded rows, `chunk` and `carry` for
    long texts.
    """
    total, predicted = log_likelihood(model, tokens, state=state, ignore=ignore, chunk=chunk, carry=carry)
    mean = -total / predicted
    return math.exp(mean) if not mean > 700 else math.inf  # e^710 is beyond a float


def bits_per_character(
    model: LanguageModel,
    tokens: Tensor,
    characters: int,
    *,
    state: State = None,
    ignore: SupportsIndex | None = None,
    chunk: int = 512,
    carry: bool = True,
) -> float:
    """-log2 P(text) / characters, where `characters` counts those that the predicted tokens spell.

    The first token of each row is not predicted, so it is not to be counted: `len(tokenizer.decode(row[1:]))`.
    Options as in `log_likelihood`.
    """
    if not isinstance(characters, int) or isinstance(characters, bool):
        raise TypeError(f"characters must be an integer, got {type(characters).__name__} {characters!r:.60}")
    if characters < 1:
        raise ValueError(f"characters must be at least 1, got {characters}")
    total, _ = log_likelihood(model, tokens, state=state, ignore=ignore, chunk=chunk, carry=carry)
    return -total / math.log(2) / characters


def _read(model: LanguageModel, tokens: Tensor, state: State) -> tuple[Tensor, State]:
    """model(tokens, state); that the text is too long for the model's positions comes with what to do about it."""
    try:
        answer = model(tokens, state)
    except ValueError as error:
        if not re.search(r"this model knows \d+ positions", str(error)):
            raise
        raise ValueError(
            f"{error}; carry=False starts every chunk afresh, and a longer text can be read, chunk tokens at a time,"
            " with a chunk of no more than the positions"
        ) from error
    if not isinstance(answer, tuple | list) or len(answer) != 2 or not isinstance(answer[0], Tensor):
        got = f"a tensor of shape {tuple(answer.shape)}" if isinstance(answer, Tensor) else f"{answer!r:.60}"
        raise TypeError(f"model must answer (logits, state) to model(tokens, state), got {got}")
    return answer[0], answer[1]


def _ignored(ignore: SupportsIndex | None, vocab_size: int) -> int | None:
    """An id of the vocabulary as an int, or None."""
    if ignore is None:
        return None
    if isinstance(ignore, bool) or not isinstance(ignore, SupportsIndex):
        raise TypeError(f"ignore must be a token id, or None to count all, got {ignore!r:.60}")
    if not 0 <= index(ignore) < vocab_size:
        raise ValueError(f"ignore must be an id in [0, {vocab_size}), the vocabulary, or None, got {ignore}")
    return index(ignore)
