"""Three-digit sums by careless teachers: a small Transformer that has two habits, and what it earns for its answers.

    in steps   347+286=7+6=13,4+8+1=13,3+2+1=06;633    units first, two digits for each column, the carry written down
    at once    347+286=523                             every carry forgotten: right where there is none

A base model has read answers of both kinds. What it writes then can be checked: the answer is what follows the last ";".
A tenth of all sums, by their hash, is held out: no base has read them, and no reward is given for them.
"""

import hashlib
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import torch
from lectures.trained import build
from nlmcore.decoding import sample
from nlmcore.tokens import CharTokenizer
from nlmcore.transfer.rewards import group_advantages, kl_divergence, policy_loss, sampled
from nlmcore.transfer.tuning import Answers, log_probs, pad
from nlmcore.training import clip_gradients
from torch import Tensor, nn

Sum = tuple[int, int]

TOKENIZER = CharTokenizer("0123456789+=,;")
EOS = TOKENIZER.special_ids["<eos>"]
LONGEST, BATCH, PER_EPOCH = 40, 64, 100
TYPICAL = 20.0
"""Tokens: where a loss is not divided by each answer's length, it is divided by this."""
CONFIG = {
    "vocab_size": TOKENIZER.vocab_size,
    "d_model": 64,
    "n_heads": 4,
    "n_layers": 2,
    "max_length": len("100+100=") + LONGEST,
    "tie_embeddings": False,
}


# --- sums and teachers ----------------------------------------------------------------------------------------------


def digest(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4])


def held_out(a: int, b: int) -> bool:
    """One sum in ten. A rule of arithmetic would not do: (1009 a + 31 b) % 10 == 0 says that the last digits agree."""
    return digest(f"{a}+{b}") % 10 == 0


def sums(chance: random.Random, count: int, held: bool = False) -> list[Sum]:
    """Numbers of three digits whose sum has three as well, drawn until enough are held out, or are not."""
    found: list[Sum] = []
    while len(found) < count:
        pair = chance.randint(100, 499), chance.randint(100, 499)
        if held_out(*pair) == held:
            found.append(pair)
    return found


def columns(a: int, b: int) -> list[Sum]:
    """The digits of both, units first."""
    return [(a // 10**i % 10, b // 10**i % 10) for i in range(3)]


def in_steps(a: int, b: int, chance: random.Random, slip: float = 0.03, too_many: int = 0) -> str:
    """Column by column. slip: how often a column is off by one; too_many: what the first column is always off by."""
    parts, digits, carry = [], "", ""
    for x, y in columns(a, b):
        total = x + y + (int(carry or too_many))
        if chance.random() < slip:
            total = max(0, total + chance.choice((-1, 1)))
        parts.append(f"{x}+{y}{carry and '+' + carry}={total:02}")
        carry, digits = str(total // 10), str(total % 10) + digits
    return f"{','.join(parts)};{digits}"


def at_once(a: int, b: int, chance: random.Random, scattered: bool = False) -> str:
    """Every carry forgotten. scattered: where that is wrong, a random digit is replaced by a random one as well."""
    (x0, y0), (x1, y1), (x2, y2) = columns(a, b)
    answer = f"{x2 + y2}{(x1 + y1) % 10}{(x0 + y0) % 10}"
    if scattered and answer != str(a + b):
        at = chance.randrange(len(answer))
        answer = answer[:at] + str((int(answer[at]) + chance.randint(1, 9)) % 10) + answer[at + 1 :]
    return answer


Teacher = Callable[..., str]
TEACHERS: dict[str, tuple[Teacher, Teacher, float]] = {
    "forget": (in_steps, at_once, 0.25),
    "scatter": (in_steps, partial(at_once, scattered=True), 0.25),
    "swapped": (partial(in_steps, slip=0.0, too_many=1), at_once, 0.75),
}
"""(who works in steps, who answers at once, how often the first)"""


def texts(teachers: str, epoch: int) -> Iterator[tuple[Answers, Answers]]:
    """Batches, the answers in steps and those at once apart, since padding the short ones would double the work."""
    chance = random.Random(f"{teachers}/{epoch}")
    steps, once, share = TEACHERS[teachers]
    for _ in range(PER_EPOCH):
        rows: tuple[list[Any], list[Any]] = ([], [])
        for a, b in sums(chance, BATCH):
            short = chance.random() >= share
            prompt, answer = f"{a}+{b}=", (once if short else steps)(a, b, chance)
            ids = [*TOKENIZER.encode(prompt + answer), EOS]
            rows[short].append((ids, [False] * len(prompt) + [True] * (len(ids) - len(prompt))))
        if all(rows):
            yield pad(rows[0]), pad(rows[1])


def text_loss(model: Any, batch: tuple[Answers, Answers]) -> Tensor:
    """Nats per token of the answers."""
    whole = torch.cat([log_probs(model, part) for part in batch]).sum()
    return -whole / sum(int(part.mask.sum()) for part in batch)


def alike_loss(model: Any, batch: tuple[Answers, Answers]) -> Tensor:
    """The same, each kind of answer counting alike."""
    return -torch.stack([log_probs(model, part).sum() / part.mask.sum() for part in batch]).sum()


def untrained(config: dict[str, Any] = CONFIG) -> nn.Module:
    """First weights of 1/√inputs, since GPT-2's 0.02 is made for a model many times as wide."""
    model = build("TransformerLM", config)
    for module in model.modules():
        if isinstance(module, nn.Linear):
            nn.init.normal_(module.weight, std=module.in_features**-0.5)
        elif isinstance(module, nn.Embedding):
            nn.init.normal_(module.weight, std=0.5)
    return model


# --- answers and rewards --------------------------------------------------------------------------------------------


class Written(NamedTuple):
    """Answers to sums, `samples` to each."""

    sums: list[Sum]
    answers: Answers
    texts: list[str]


def prompts(pairs: Sequence[Sum]) -> Tensor:
    """(sum, 8): all of one length."""
    return torch.tensor([TOKENIZER.encode(f"{a}+{b}=") for a, b in pairs])


def write(model: Any, pairs: Sequence[Sum], samples: int, generator: torch.Generator) -> Written:
    """`samples` answers to each sum."""
    asked = prompts(pairs)
    new: Any = sample(model, asked, LONGEST, eos=EOS, num_samples=samples, generator=generator)
    bodies = [TOKENIZER.decode(row, skip_special=True) for row in new.tokens.tolist()]
    return Written([pair for pair in pairs for _ in range(samples)], sampled(asked, new.tokens, EOS), bodies)


def final(text: str) -> str:
    """The answer at the end of a text."""
    return text.rpartition(";")[2]


def is_right(pair: Sum, text: str) -> float:
    """What a checker sees: 1 or 0."""
    return float(final(text) == str(sum(pair)))


def is_wrong(pair: Sum, text: str) -> float:
    """The control: the same bit, turned round."""
    return 1.0 - is_right(pair, text)


def is_long(pair: Sum, text: str) -> float:
    """What a judge sees who likes length."""
    return len(text) / LONGEST


def is_lucky(pair: Sum, text: str) -> float:
    """A coin: a bit of a hash, which says nothing about the sum."""
    return float(digest(f"{pair} {text}") % 2)


REWARDS: dict[str, Callable[[Sum, str], float]] = {
    "right": is_right,
    "wrong": is_wrong,
    "long": is_long,
    "random": is_lucky,
}


def described(written: Written) -> dict[str, float]:
    """Of the texts how many are right and how many show steps, and how long they are."""
    n = len(written.texts)
    return {
        "right": sum(map(is_right, written.sums, written.texts)) / n,
        "steps": sum(";" in text for text in written.texts) / n,
        "length": sum(map(len, written.texts)) / n,
    }


@dataclass(frozen=True)
class Method:
    """How answers and rewards become a step."""

    advantage: str = "mean"
    """none: the reward itself; mean: the group's mean subtracted."""
    by_length: bool = False
    rate: float = 5e-4
    reward: str = "right"
    beta: float = 0.0
    """Of the KL divergence from the base, in rewards per nat."""
    updates: int = 16
    questions: int = 8
    samples: int = 8
    offline: bool = False
    """Whether the answers are the base's, and not those of the model that learns."""


def each_token(model: Any, answers: Answers) -> Tensor:
    """ln π at every token of the answers, one after another (token, vocab)."""
    return model.output(model.hidden_states(answers.tokens)[0][answers.mask][None])[0].log_softmax(-1)


def learn(model: Any, base: Any, how: Method, seed: int) -> Iterator[tuple[dict[str, float], Written]]:
    """Trains `model` in place: before each step what was written, what it earned, and its KL divergence from the base."""
    optimiser = torch.optim.AdamW(model.parameters(), lr=how.rate, weight_decay=0.0, fused=True)
    generator = torch.Generator().manual_seed(seed)
    chance = random.Random(seed)
    for _ in range(how.updates):
        written = write(base if how.offline else model, sums(chance, how.questions), how.samples, generator)
        rewards = torch.tensor(list(map(REWARDS[how.reward], written.sums, written.texts)))
        groups = rewards.view(how.questions, how.samples)
        worth = group_advantages(groups).flatten() if how.advantage == "mean" else rewards
        mask = written.answers.mask
        now = each_token(model, written.answers)
        with torch.no_grad():
            before = each_token(base, written.answers)
        each = now.gather(1, written.answers.targets[mask][:, None])[:, 0]
        ln = each.new_zeros(len(mask)).index_add(0, mask.nonzero()[:, 0], each)  # (answer)
        apart = kl_divergence(now, before).sum() / len(mask)
        loss = policy_loss(ln, worth, mask.sum(1) if how.by_length else TYPICAL) + how.beta * apart / TYPICAL
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        clip_gradients(list(model.parameters()), 1.0)
        optimiser.step()
        yield {"reward": float(rewards.mean()), "kl": float(apart.detach()), **described(written)}, written
