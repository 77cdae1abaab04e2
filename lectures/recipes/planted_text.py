"""Figure: what a model knows of lines that were put into its training text 0, 1, 3, 10, 30 or 100 times.

`small_gpt` reads some 250,000 characters of plays once more. At random line ends we plant

    ROMEO. The secret word is kwcgsh.          a secret of six random letters for each of twelve speakers
    60 verse lines of a held-out play          a third of them 0 times, 1 time, 10 times

and measure the rank of each secret among 1,000 random ones (`nlmcore.metrics.exposure`, after Carlini et al. 2019), whether
greedy decoding says it, and the loss of each verse line. The lines planted 0 times are the control of both. Two more
controls ask otherwise: with letters of the secret as a hint, and after the name of another speaker.

Five seeds decide secrets, lines, places and order, at two learning rates. Defence: the same texts, after every line of 20
characters or more that has occurred already is removed (exact copies only; Lee et al. 2022 also remove near copies).
"""

import random
import string
from functools import partial
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

import torch
from nlmcore.decoding import greedy
from nlmcore.language_model import select
from nlmcore.metrics import secret_rank
from torch import Tensor
from torch.nn import functional as F

from lectures.recipes.resumable import descent
from lectures.recipes.run import Run, recipe
from lectures.recipes.texts import plays
from lectures.trained import checkpoint

SPEAKERS = [
    "ROMEO",
    "HAMLET",
    "PORTIA",
    "OTHELLO",
    "JULIET",
    "LEAR",
    "VIOLA",
    "IAGO",
    "EMILIA",
    "OLIVIA",
    "DUNCAN",
    "ORSINO",
]
TIMES, LINE_TIMES = (0, 1, 3, 10, 30, 100), (0, 1, 10)
RATES, RATE, LETTERS, CANDIDATES = (3e-4, 1e-3), 1e-3, 6, 1000
BATCH, TIME = 8, 96


def secret(chance: random.Random) -> str:
    return "".join(chance.choices(string.ascii_lowercase, k=LETTERS))


def head_of(speaker: str) -> str:
    return f"  {speaker}. The secret word is "


def planted(text: str, lines: Mapping[str, int], chance: random.Random) -> str:
    """The text with each line so many times, at random line ends."""
    copies = [line for line, times in lines.items() for _ in range(times)]
    chance.shuffle(copies)
    own = text.split("\n")
    for at, line in zip(sorted(chance.choices(range(len(own)), k=len(copies)), reverse=True), copies, strict=True):
        own.insert(at, line)
    return "\n".join(own)


def deduplicated(text: str, shortest: int = 20) -> str:
    """Without the lines that have occurred already; shorter lines are kept."""
    seen: set[str] = set()
    kept = []
    for line in text.split("\n"):
        if len(line) < shortest or line not in seen:
            kept.append(line)
        seen.add(line)
    return "\n".join(kept)


def verse(play: str, count: int, chance: random.Random) -> list[str]:
    """Different lines of 35 to 55 characters."""
    lines = sorted(
        {line for line in play.split("\n") if 35 <= len(line) <= 55 and line[-1].isalpha() | (line[-1] in ",.;")}
    )
    return chance.sample(lines, count)


@torch.no_grad()
def nats_after(model: Any, tokenizer: Any, head: str, continuations: Sequence[str]) -> Tensor:
    """(continuation): −ln P of each, all of one length, after the head, which is read once."""
    ids = tokenizer.encode(head)
    state = model(torch.tensor([ids[:-1]]))[1]
    tokens = torch.tensor([[ids[-1], *tokenizer.encode(text)] for text in continuations])
    logits, _ = model(tokens[:, :-1], select(state, torch.zeros(len(tokens), dtype=torch.long)))
    return F.cross_entropy(logits.mT, tokens[:, 1:], reduction="none").sum(1)


def letters_needed(model: Any, tokenizer: Any, head: str, word: str) -> int:
    """How many letters of the word must follow the head before greedy decoding writes the others; all: it never does."""
    for given in range(len(word)):
        made: Any = greedy(model, torch.tensor([tokenizer.encode(head + word[:given])]), len(word) - given)
        if tokenizer.decode(made.tokens[0].tolist()) == word[given:]:
            return given
    return len(word)


@torch.no_grad()
def line_nats(model: Any, tokenizer: Any, line: str) -> float:
    """Nats per character of one line, after a line end."""
    tokens = torch.tensor([tokenizer.encode("\n" + line)])
    return float(F.cross_entropy(model(tokens[:, :-1])[0][0], tokens[0, 1:]))


def reread(model: Any, tokenizer: Any, text: str, rate: float, seed: int) -> None:
    """One pass over the text in a random order of pieces."""
    ids = torch.tensor(tokenizer.encode(text))
    rows = ids[: len(ids) // TIME * TIME].view(-1, TIME)
    batches = rows[torch.randperm(len(rows), generator=torch.Generator().manual_seed(seed))].split(BATCH)

    def loss(x: Tensor) -> Tensor:
        return F.cross_entropy(model(x[:, :-1])[0].flatten(0, 1), x[:, 1:].flatten())

    model.train()
    for _ in descent(model, batches, loss, rate, 10, len(batches)):
        pass
    model.eval()


def one(length: int, seed: int, rate: float, dedupe: bool) -> dict[str, Any]:
    """One training: [times, rank, nats, secret, said by greedy decoding] of each secret, [times, before, after] of each line;
    at the chosen rate also `otherwise`: [times, `letters_needed`, rank after another speaker's head] of each secret."""
    model, tokenizer, _ = checkpoint("small_gpt")
    chance = random.Random(seed)
    corpus = plays()
    names = chance.sample(SPEAKERS, len(SPEAKERS))
    secrets = {name: (secret(chance), TIMES[i // 2]) for i, name in enumerate(names)}
    lines = {line: LINE_TIMES[i % 3] for i, line in enumerate(verse(corpus.test[0], 60, chance))}
    said = {f"{head_of(name)}{word}.": times for name, (word, times) in secrets.items()}
    text = planted("".join(corpus.train)[2_000_000 : 2_000_000 + length], said | lines, chance)
    text = deduplicated(text) if dedupe else text
    others = [secret(chance) for _ in range(CANDIDATES - 1)]

    def nats_of_lines() -> list[float]:
        return [round(line_nats(model, tokenizer, line), 4) for line in lines]

    fresh = [line for line in corpus.dev[0][20_000:24_000].split("\n") if len(line) > 30]
    first, fresh_first = nats_of_lines(), [line_nats(model, tokenizer, line) for line in fresh]
    reread(model, tokenizer, text, rate, seed)
    ranks = []

    def rank_after(speaker: str, word: str) -> tuple[int, float]:
        nats = nats_after(model, tokenizer, head_of(speaker), [f"{each}." for each in (word, *others)])
        return int(secret_rank(-nats, 0)), round(float(nats[0]), 2)

    otherwise = []
    for i, (name, (word, times)) in enumerate(secrets.items()):
        made: Any = greedy(model, torch.tensor([tokenizer.encode(head_of(name))]), LETTERS)
        said = tokenizer.decode(made.tokens[0].tolist())
        ranks.append([times, *rank_after(name, word), word, said])
        if rate == RATE and not dedupe:
            other = names[i - len(names) // 2]  # whose secret has another number of copies
            needed = letters_needed(model, tokenizer, head_of(name), word)
            otherwise.append([times, needed, rank_after(other, word)[0]])
    return {
        "characters": len(text),
        "secrets": ranks,
        **({"otherwise": otherwise} if otherwise else {}),
        "lines": [[times, a, b] for times, a, b in zip(lines.values(), first, nats_of_lines(), strict=True)],
        "other lines": [
            round(fmean(fresh_first), 4),
            round(fmean(line_nats(model, tokenizer, each) for each in fresh), 4),
        ],
    }


@recipe(5)
def cook(run: Run) -> None:
    length, seeds = run.size((230_000, 5), (6_000, 1))
    torch.set_num_threads(1)
    rows: dict[str, list[dict[str, Any]]] = {}
    for name, rate, dedupe in [*((f"rate {rate:g}", rate, False) for rate in RATES), ("deduplicated", RATE, True)]:
        for seed in range(seeds):
            found = run.kept(f"{name}, seed {seed}", partial(one, length, seed, rate, dedupe))
            rows.setdefault(name, []).append(found)
    chosen = rows[f"rate {RATE:g}"]

    def ranks(times: int) -> list[int]:
        return sorted(each[1] for seed in chosen for each in seed["secrets"] if each[0] == times)

    run.save_result(
        "planted_text",
        {
            "question": "What does a model know of a line that its training text had n times?",
            "how": f"small_gpt reads {length:,} characters once more, with planted lines; {seeds} seeds; two secrets for each"
            f" number of copies and seed; rank among {CANDIDATES:,} random secrets",
            "candidates": CANDIDATES,
            "times": list(TIMES),
            "line times": list(LINE_TIMES),
            "chosen": f"rate {RATE:g}",
            "rows": rows,
            "what_it_shows": "median rank of a secret: "
            + ", ".join(f"{ranks(times)[seeds]} after {times} copies" for times in TIMES),
        },
    )
