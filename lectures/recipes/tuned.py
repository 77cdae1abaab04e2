"""What the recipes about assistants share: SmolLM2's last layers tuned, answers checked, and replies written.

A held-out answer counts as **written** if greedy decoding writes exactly it: at each of its tokens, the end included,
the token is the most probable one after the conversation and the answer so far. One forward pass tells, no generation.
"""

import copy
import random
from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import takewhile
from typing import Any, NamedTuple

import torch
from nlmcore.decoding import greedy
from nlmcore.language_model import select
from nlmcore.metrics import bootstrap_interval
from nlmcore.transfer import LoRA
from nlmcore.transfer.tuning import Answers, Tail, conversation, pad
from torch import Tensor

from lectures.recipes.conversations import Messages
from lectures.recipes.run import Run

LAYERS = 2
"""Of 30, the last ones, are tuned."""
STOP = 32
"""Tokens after which a reply is cut off."""


class Tuned(NamedTuple):
    """A language model with an adapter of its last layers, and those layers."""

    model: Any
    adapter: LoRA
    tail: Tail


def adapted(model: Any, rank: int, layers: int = LAYERS) -> Tuned:
    """A copy of the model with an adapter that changes nothing yet."""
    copied, n = copy.deepcopy(model), len(model.layers)
    names = tuple(f"layers.{i}." for i in range(n - layers, n))
    return Tuned(copied, LoRA(copied, rank, where=lambda name: name.startswith(names)), Tail(copied, layers))


def in_batches(tail: Tail, tokenizer: Any, said: Sequence[Messages], size: int = 8) -> list[Answers]:
    """Conversations of like lengths together, read by the layers before the tail."""
    rows = sorted((conversation(tokenizer, messages) for messages in said), key=lambda row: len(row[0]))
    return [tail.read(pad(rows[i : i + size])) for i in range(0, len(rows), size)]


def shuffled(batches: Sequence[Any], seed: int) -> Callable[[int], list[Any]]:
    """Called with an epoch: all batches, in an order that the seed decides."""

    def epoch(number: int) -> list[Any]:
        return random.Random(f"{seed}/{number}").sample(list(batches), len(batches))

    return epoch


def train(
    run: Run, name: str, model: Any, rank: int, batches: Sequence[Any], settings: dict[str, Any], loss: Any, seed: int
) -> Tuned:
    """An adapter trained on batches that the layers before it have read; loss(tail, batch)."""
    torch.manual_seed(run.seed_of(name))
    found = adapted(model, rank)
    steps = settings["epochs"] * len(batches)
    run.fit(
        name,
        found.adapter,
        shuffled(batches, seed),
        warm_up=5,
        steps=steps,
        learning_rate=settings["learning_rate"],
        loss=lambda _, batch: loss(found.tail, batch),
    )
    return found


@torch.no_grad()
def written(model: Any, answers: Answers) -> list[int]:
    """1 for each row whose answer greedy decoding writes, token by token; model: a language model, or a `Tail`."""
    hidden = model.hidden_states(answers.tokens)[0][answers.mask]
    right = model.output(hidden[None])[0].argmax(-1) == answers.targets[answers.mask]
    wrong = answers.mask.nonzero()[:, 0][~right]
    return [int(row not in set(wrong.tolist())) for row in range(len(answers.mask))]


@torch.no_grad()
def nats(model: Any, answers: Answers) -> Tensor:
    """ln π of every marked token, one after another, (token, vocab)."""
    return model.output(model.hidden_states(answers.tokens)[0][answers.mask][None])[0].log_softmax(-1)


def text_passages(tokenizer: Any, texts: Sequence[str], length: int) -> Answers:
    """Plain text, of which every token but the first counts."""
    rows = [tokenizer.encode(text)[:length] for text in texts]
    return pad([(ids, [False] + [True] * (len(ids) - 1)) for ids in rows])


@torch.no_grad()
def replies(model: Any, tokenizer: Any, prompts: Sequence[Sequence[int]], longest: int = STOP) -> list[str]:
    """What greedy decoding writes after each prompt. The beginning that all prompts share is read once, and prompts of
    one length are read together."""
    columns = zip(*(prompt[:-1] for prompt in prompts), strict=False)
    shared = sum(1 for _ in takewhile(lambda column: len(set(column)) == 1, columns))
    read = getattr(model, "hidden_states", model)
    state = read(torch.tensor([list(prompts[0][:shared])]))[1] if shared else None
    by_length, found = defaultdict(list), [""] * len(prompts)
    for i, prompt in enumerate(prompts):
        by_length[len(prompt)].append(i)
    for rows in by_length.values():
        for first in range(0, len(rows), 16):
            these = rows[first : first + 16]
            tokens = torch.tensor([list(prompts[i][shared:]) for i in these])
            begun = None if state is None else select(state, torch.zeros(len(these), dtype=torch.long))
            made: Any = greedy(model, tokens, longest, eos=tokenizer.eos, state=begun)
            for i, ids in zip(these, made.tokens.tolist(), strict=True):
                found[i] = tokenizer.decode(ids, skip_special=True).strip()
    return found


def shares(rows: Sequence[Sequence[int]]) -> dict[str, Any]:
    """rows (seed, question) of 0 and 1: the mean with its interval over questions, and one share per seed."""
    each = [sum(column) / len(rows) for column in zip(*rows, strict=True)]
    return {
        "share": [round(x, 4) for x in bootstrap_interval(each)],
        "seeds": [round(sum(row) / len(row), 4) for row in rows],
    }
