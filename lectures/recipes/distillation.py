"""Figure: does a small GPT learn more from a large one's probabilities than from the text itself? Five arms, five seeds.

The teacher is `char_gpt`, the student has two layers of width 64. Every arm reads windows of 96 characters:

    alone       the text's own next character
    taught      the teacher's probabilities of it (Hinton et al. 2015), computed once for the whole text
    longer      as alone, for as long as the teacher's reading and the taught student's steps take
    more text   as alone, on text that is read once: nine times as many characters, from the teacher's own plays
    sampled     in place of each probability distribution one character drawn from it: a control for its uncertainty

An arm runs at the rate that its first seed chooses on a dev play, or at that of another arm (`SAME_RATE`); the loss is
that of a test play. A student also drafts for the teacher, which accepts a drafted character with probability
Σ_v min(p_v, q_v) (Leviathan et al. 2023, section 3.2).
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from nlmcore.decoding import sample, speculative_sample
from nlmcore.metrics.significance import paired
from nlmcore.training import distillation_loss
from torch import Tensor
from torch.nn import functional as F

from lectures.recipes.experiment import Experiment, Setting, Task, said
from lectures.recipes.run import Run, parameters, recipe
from lectures.recipes.texts import plays
from lectures.trained import build, checkpoint

TIME, TEXT, MORE, HELD = 96, 50_000, 3_000_000, 80
SETTING = Setting(400, 12, (0.004, 0.01, 0.025), weights="{seed}", quick=(3, 2))
TAUGHT = 310
"""Steps of the arm with a teacher."""
LONGER = 480
"""Steps without a teacher that take as long as those and the teacher's reading."""
SAME_RATE = {"alone, longer": "alone", "more text": "alone", "sampled": "taught"}
"""Arms that get the rate of another."""
CONFIG = {
    "d_model": 64,
    "n_heads": 4,
    "n_layers": 2,
    "max_length": 128,
    "positions": "none",
    "attention_positions": "rotary",
}


@dataclass(frozen=True)
class Windows:
    """Called with an epoch: batches of (tokens (batch, time + 1), the teacher's ln p (batch, time, vocab) or None)."""

    tokens: Tensor
    teacher: Tensor | None
    batch: int
    seed: int

    def __call__(self, epoch: int) -> Iterator[tuple[Tensor, Tensor | None]]:
        order = torch.randperm(len(self.tokens), generator=torch.Generator().manual_seed(1000 * self.seed + epoch))
        for rows in order.split(self.batch):
            if len(rows) == self.batch:
                yield self.tokens[rows], None if self.teacher is None else self.teacher[rows]


def sampled(log_p: Tensor, seed: int) -> Tensor:
    """ln of a probability of 1 for one character of each row, drawn from its distribution."""
    drawn = torch.multinomial(log_p.exp().flatten(0, -2), 1, generator=torch.Generator().manual_seed(seed))
    return torch.full_like(log_p, -torch.inf).scatter_(-1, drawn.view(*log_p.shape[:-1], 1), 0.0)


def loss(model: Any, batch: tuple[Tensor, Tensor | None]) -> Tensor:
    tokens, teacher = batch
    logits = model(tokens[:, :-1])[0]
    if teacher is not None:
        return distillation_loss(logits, teacher)
    return F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())


@torch.no_grad()
def log_probs(model: Any, tokens: Tensor) -> Tensor:
    """ln p of every next token: (row, time + 1) -> (row, time, vocab)."""
    return torch.cat([model(rows[:, :-1])[0].log_softmax(-1) for rows in tokens.split(32)])


def measured(model: Any, held: dict[str, tuple[Tensor, Tensor]]) -> dict[str, float]:
    """Nats per character on a play of each part, and how often the teacher accepts a character of the student's."""
    found = {}
    for part, (tokens, teacher) in held.items():
        log_q = log_probs(model, tokens)
        found[part] = round(float(F.nll_loss(log_q.flatten(0, 1), tokens[:, 1:].flatten())), 4)
        found["accepted"] = round(float(torch.minimum(log_q, teacher).exp().sum(-1).mean()), 4)
    return found


def drafting(teacher: Any, student: Any, prompts: Tensor, letters: int, lookahead: int = 4) -> dict[str, Any]:
    """Processor seconds and calls of the teacher per character, alone and with the student as a draft."""
    calls = [0]
    handle = teacher.register_forward_hook(lambda *_: calls.__setitem__(0, calls[0] + 1))
    ways: dict[str, Any] = {
        "plain": partial(sample, teacher),
        "draft": partial(speculative_sample, teacher, draft=student, lookahead=lookahead),
    }
    found: dict[str, Any] = {"lookahead": lookahead}
    try:
        for way, write in ways.items():
            calls[0], began, written = 0, time.process_time(), 0
            for seed, prompt in enumerate(prompts):
                generation: Any = write(
                    prompt[None], max_new_tokens=letters, generator=torch.Generator().manual_seed(seed)
                )
                written += len(generation.tokens[0])
            spent = time.process_time() - began
            found[way] = {"calls": round(calls[0] / written, 4), "milliseconds": round(1000 * spent / written, 2)}
    finally:
        handle.remove()
    return found


def costs(run: Run, teacher: Any, tokens: Tensor, student: Any) -> dict[str, Any]:
    """Processor seconds of the teacher's reading and of a step, without and with a teacher."""
    began = time.process_time()
    log_p = log_probs(teacher, tokens)
    found = {"reading": round(time.process_time() - began, 2)}
    optimiser = torch.optim.AdamW(student.parameters(), fused=True)
    for name, given in (("alone", None), ("taught", log_p)):
        began, steps = time.process_time(), run.size(100, 2)
        for _, batch in zip(range(steps), Windows(tokens, given, SETTING.batch, 0)(0), strict=False):
            optimiser.zero_grad()
            loss(student, batch).backward()  # type: ignore[no-untyped-call]
            optimiser.step()
        found[name] = round((time.process_time() - began) / steps, 5)
    return found


@recipe(4)
def cook(run: Run) -> None:
    teacher, tokenizer, card = checkpoint("char_gpt")
    shakespeare, time_ = plays(), run.size(TIME, 16)
    whole = torch.tensor(tokenizer.encode("".join(shakespeare.train)[: run.size(MORE, 4000)]))

    def cut(tokens: Tensor, most: int) -> Tensor:
        return tokens.unfold(0, time_ + 1, time_)[:most]

    text, more = cut(whole[: run.size(TEXT, 2000)], MORE), cut(whole, MORE)
    held = {
        part: cut(torch.tensor(tokenizer.encode(play[: 2 * HELD * TIME])), run.size(HELD, 4))
        for part, play in (("dev", shakespeare.dev[0]), ("test", shakespeare.test[0]))
    }
    log_p = log_probs(teacher, text)
    known = {part: (tokens, log_probs(teacher, tokens)) for part, tokens in held.items()}
    student = partial(build, "TransformerLM", {"vocab_size": tokenizer.vocab_size, **CONFIG})
    arms: dict[str, tuple[Tensor, Tensor | None, int]] = {
        "alone": (text, None, SETTING.steps),
        "taught": (text, log_p, TAUGHT),
        "alone, longer": (text, None, LONGER),
        "more text": (more, None, SETTING.steps),
        "sampled": (text, sampled(log_p, run.seed_of("sampled") % 2**31), TAUGHT),
    }
    rows: dict[str, Any] = {}
    drafts: dict[str, Any] = {}
    for arm, (tokens, given, steps) in arms.items():
        task = Task(
            lambda size, seed, tokens=tokens, given=given: Windows(tokens, given, size, seed),  # type: ignore[misc]
            loss,
            partial(measured, held=known),
        )
        setting = Setting(**(vars(SETTING) | {"steps": steps, "name": arm + "-{seed}-{rate}"}))
        experiment = Experiment(run, task, setting)
        known_rate = (rows[SAME_RATE[arm]]["rate"],) if arm in SAME_RATE else ()
        rows[arm] = {"steps": steps, **experiment.at_best_rate(arm, student, known_rate)}
        if arm in ("alone", "taught"):
            model, _ = experiment.trained(arm, student, 0, rows[arm]["rate"])
            prompts = held["test"][:: run.size(15, 2), :16]
            drafts[arm] = run.kept(f"draft {arm}", partial(drafting, teacher, model, prompts, run.size(80, 3)))
    tests, layout = paired(rows["alone"]["test"], {arm: rows[arm]["test"] for arm in arms if arm != "alone"})
    floor = measured(teacher, known)["test"]
    run.save_result(
        "distillation",
        {
            "question": "Does a small GPT learn more from a large one's probabilities than from the text itself?",
            "how": f"{len(text) * time_:,} characters of Shakespeare, {SETTING.words(f'× {time_} characters')},"
            f" {TAUGHT} or {LONGER} steps where time is held equal; nats per character of a test play",
            "teacher": {"parameters": card["parameters"], "test": floor},
            "parameters": parameters(student()),
            "characters": {"text": text.numel(), "more text": more.numel()},
            "costs": run.kept("costs", partial(costs, run, teacher, text, student())),
            "rows": rows,
            "against alone": {arm: [round(v, 4) for v in test] for arm, test in tests.items()},
            "sd": round(layout.sd, 4),
            "drafts": drafts,
            "what_it_shows": said({arm: of["test"] for arm, of in rows.items()}, "{row} {0!i} nats"),
        },
    )
