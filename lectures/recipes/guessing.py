"""Figure: Shannon's guessing game, played by n-grams of characters and by small neural models.

All play on the same passages of the three test plays, 28 keys (`nlmcore.metrics.guessing`), every character from all
before it in the passage; the first 100 of each passage are read, not guessed. For each player: its bits per key,
Shannon's bounds from its guesses, the share of first guesses that are right. Besides, bits per character as written,
signs and capitals apart, which a model over other tokens, SmolLM2, gives too.
"""

import math
from typing import Any

import torch
from nlmcore.metrics import bits_per_character
from nlmcore.metrics.guessing import entropy_bounds, guess_ranks, key_log_probabilities, key_of
from nlmcore.ngram import NGramLM
from nlmcore.pretrained import smollm2
from nlmcore.pretrained.checkpoints import checkpoint

from lectures.recipes.run import Run, table
from lectures.recipes.texts import as_document, plays

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
    rows = [
        [name, p["bits_per_key"], *p["bounds"], p["first_guess_right"], p["bits_per_character"]]
        for name, p in players.items()
    ]
    run.say("\n" + table(["player", "bits per key", "lower", "upper", "first guess", "bits per character"], rows))
    run.say(f"SmolLM2: {large}")
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
