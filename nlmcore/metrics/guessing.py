"""Shannon's guessing game: how many guesses does the next character take, and what does that say in bits?

A player sees a text up to a character, guesses it, is told yes or no, and guesses until it is found. If a fraction q_i
of the characters takes i guesses, the entropy H of the text, in bits per character, lies between (Shannon 1951, eq. 17)

    Σ_i i (q_i − q_{i+1}) log2 i   ≤   H   ≤   − Σ_i q_i log2 q_i

The numbers of guesses encode the text for a twin who guesses alike, hence the upper bound. The lower one assumes a
player who always guesses the most probable remaining character.

Keys: the 26 letters without case, the space for all white space, and "." for every other character: what a room can
call out. A model plays the same game: it reads the true text, and P(key) is its sum over the characters of that key.

Departs from the paper: Shannon's texts had 27 symbols, no ".", and were shown in capitals.
"""

import math
import unicodedata
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from nlmcore.language_model import LanguageModel, State, evaluation_mode

KEYS = "abcdefghijklmnopqrstuvwxyz ."
"""The 28 answers of the game."""


class Bounds(NamedTuple):
    """Bits per character: the entropy lies between the two, sampling error aside."""

    lower: float
    upper: float


def key_of(character: str) -> int:
    """The index in KEYS of a character: letters lose case and accents, white space is the space, the rest is "."."""
    if not isinstance(character, str) or not character:
        raise ValueError(f"character must be one character, got {character!r}")
    if character.isspace():
        return KEYS.index(" ")
    plain = unicodedata.normalize("NFKD", character)[0].lower()
    return KEYS.index(plain) if plain in KEYS else KEYS.index(".")


def key_log_probabilities(
    model: LanguageModel, tokenizer: Any, text: str, chunk: int = 256
) -> Float[Tensor, "time key"]:
    """Row t: ln P(key of text[t] | text[:t]) for each of the 28 keys, by a model over characters.

    tokenizer: one id per character, with `encode`, `vocabulary` and the id `bos`. Special tokens count as ".".
    """
    ids = tokenizer.encode(text)
    if not text or len(ids) != len(text):
        raise ValueError(f"tokenizer must give one id per character of a text that is not empty, got {len(ids)} ids")
    special = [*getattr(tokenizer, "special", ())]
    keys = torch.tensor([KEYS.index(".") if t in special else key_of(t) for t in tokenizer.vocabulary])
    tokens = torch.tensor([[tokenizer.bos, *ids[:-1]]])
    state: State = None
    rows = []
    with torch.no_grad(), evaluation_mode(model):
        for start in range(0, tokens.shape[1], chunk):
            logits, state = model(tokens[:, start : start + chunk], state)
            probabilities = logits[0].double().softmax(-1)
            rows.append(
                torch.zeros(len(probabilities), len(KEYS), dtype=torch.float64).index_add_(1, keys, probabilities)
            )
    return torch.cat(rows).log().float()


def guess_ranks(scores: Tensor, targets: Tensor) -> Int[Tensor, " time"]:
    """How many guesses each target takes a player who guesses by falling score; of equal scores the first key first.

    scores (time, key), targets (time,). Raises ValueError if they do not fit.
    """
    if scores.ndim != 2 or targets.shape != scores.shape[:1]:
        raise ValueError(f"scores (time, key) and targets (time,) must fit, got {scores.shape} and {targets.shape}")
    order = scores.argsort(dim=1, descending=True, stable=True)
    return (order == targets[:, None]).int().argmax(1) + 1


def entropy_bounds(guesses: Sequence[int] | Tensor, symbols: int = len(KEYS)) -> Bounds:
    """Shannon's two bounds from the numbers of guesses, each 1 to `symbols`.

    From few characters they are rough and too low: what takes many guesses is rare and may not have occurred yet.
    """
    numbers = torch.as_tensor(guesses, dtype=torch.int64).flatten()
    if not len(numbers) or int(numbers.min()) < 1 or int(numbers.max()) > symbols:
        raise ValueError(
            f"guesses must be numbers from 1 to symbols={symbols}, at least one, got {numbers.tolist()[:8]}"
        )
    q = torch.bincount(numbers, minlength=symbols + 2)[1:].double() / len(numbers)  # q_1 … q_symbols, and 0
    i = torch.arange(1, symbols + 1, dtype=torch.float64)
    lower = float((i * (q[:-1] - q[1:]) * i.log2()).sum())
    upper = float(torch.special.entr(q).sum()) / math.log(2)
    return Bounds(lower, upper)
