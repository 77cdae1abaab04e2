"""Shannon's guessing game: how many guesses does the next character take, and what does that say in bits?

A player sees a text up to a character, guesses it, is told yes or no, and guesses until it is found. If a fraction q_i
of the characters takes i guesses, the entropy H of the text, in bits per character, lies between (Shannon 1951, eq. 17)

    Σ_i i (q_i − q_{i+1}) log2 i   ≤   H   ≤   − Σ_i q_i log2 q_i

The numbers of guesses encode the text for a twin who guesses alike, hence the upper bound. The lower one assumes a
player who always guesses the most probable remaining character.

Keys: the 26 letters without case, the space for all white space, and "." for every other character: what a room can
call out. A model plays the same game: it reads the true text, and P(key) is its sum over the characters of that key.

Departs from the paper: Shannon's texts had 27 symbols, no ".", and were shown in capitals.

The recipe: character n-grams and small neural models play on the same passages of the three test plays, each character
from all before it in the passage; the first 100 of each passage are read, not guessed. For each player: its bits per
key, Shannon's bounds from its guesses, the fraction of first guesses that are right, and bits per character as written,
with punctuation and capitals, which SmolLM2 gives as well, though its tokens are others.
"""

import math
import unicodedata
from collections.abc import Sequence
from typing import Any, NamedTuple
import torch
from jaxtyping import Float, Int
from torch import Tensor
from nlmcore.language_model import LanguageModel, State, evaluation_mode
from nlmcore.metrics import bits_per_character
from nlmcore.ngram import NGramLM
from nlmcore.pretrained import smollm2
from lectures.trained import checkpoint
from lectures.recipes.run import Run, recipe
from lectures.recipes.texts import as_document, plays

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

    From few characters they are rough, and the upper one is too low on average: what takes many guesses is rare and may
    not have occurred yet. (The lower one is linear in the fractions q, so its mean is right.)
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


ORDERS = range(1, 8)
FIRST, LENGTH, READ = 20_000, 20_000, 100
SHANNON = {
    "lower": 0.6,
    "upper": 1.3,
    "source": "Shannon (1951), table I, one reader, 100 letters before the guess, 27 symbols, English prose",
}


def play(model: Any, tokenizer: Any, passages: list[str]) -> dict[str, Any]:
    """What one player's guesses come to on all the passages."""
    ranks, bits, full = [], 0.0, 0.0
    for passage in passages:
        targets = torch.tensor([key_of(c) for c in passage])
        scores = key_log_probabilities(model, tokenizer, passage)
        ranks += guess_ranks(scores, targets)[READ:].tolist()
        bits -= float(scores.gather(1, targets[:, None])[READ:].sum()) / math.log(2)
        full += exact_bits(model, tokenizer, passage)
    low, high = entropy_bounds(ranks)
    return {
        "bits_per_key": round(bits / len(ranks), 3),
        "bounds": [round(low, 3), round(high, 3)],
        "first_guess_right": round(ranks.count(1) / len(ranks), 3),
        "guesses": [ranks.count(i) for i in range(1, 29)],
        "bits_per_character": round(full / sum(map(len, passages)), 3),
    }


def exact_bits(model: Any, tokenizer: Any, passage: str) -> float:
    """−log2 P of the passage as it is written, after `<bos>`."""
    ids = torch.tensor([[tokenizer.bos, *tokenizer.encode(passage)]])
    return bits_per_character(model, ids, len(passage), chunk=256) * len(passage)


def large_model(passages: list[str], length: int = 1024) -> dict[str, float]:
    """SmolLM2's bits per character: it sees at most `length` tokens before each."""
    model, tokenizer = smollm2()
    total = 0.0
    for passage in passages:
        ids = torch.tensor([[tokenizer.bos, *tokenizer.encode(passage)]])
        total += len(passage) * bits_per_character(model, ids, len(passage), chunk=length, carry=False)
    return {"bits_per_character": round(total / sum(map(len, passages)), 3)}


@recipe(6)
def cook(run: Run) -> None:
    shakespeare = plays(limit=run.size(None, 3000))
    first, length = run.size((FIRST, LENGTH), (0, 300))
    passages = [text[first : first + length] for text in shakespeare.test]
    _, tokenizer, _ = checkpoint("char_lstm")
    documents = [as_document(tokenizer.encode(text)) for text in shakespeare.train]
    players: dict[str, dict[str, Any]] = {}
    for order in run.size(ORDERS, range(1, 3)):
        counted = NGramLM(order, tokenizer.vocab_size, "kneser_ney").fit(documents)
        players[f"{order}-gram"] = play(counted, tokenizer, passages)
        run.say(f"{order}-gram: {players[f'{order}-gram']['bits_per_key']} bits per key")
    for title, name in {"LSTM": "char_lstm", "GPT": "char_gpt"}.items():
        model, its_tokenizer, _ = checkpoint(name)
        players[title] = play(model, its_tokenizer, passages)
    large = large_model(run.size(passages, [passages[0][:200]]))
    run.save_result(
        "guessing",
        {
            "question": "Shannon's guessing game: bits per character, from probabilities and from guesses.",
            "passages": f"characters {first:,} to {first + length:,} of each test play; the first {READ} are given",
            "split": shakespeare.split,
            "keys": "26 letters, space for white space, '.' for any other sign",
            "players": players,
            "SmolLM2": large | {"note": "135 million parameters; it may well have read these plays in training"},
            "shannon": SHANNON,
        },
    )
