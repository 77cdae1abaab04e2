"""Answers that know nothing of the question: they earn at most a tenth of it, right shapes and dtypes included.

Each is given in the very shapes of the right answers, which a cheat can work out from the public examples; so the
functions themselves need not run.
"""

import functools
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any

import pytest
import torch
from torch import Tensor

from autograder.check import examine
from autograder.question.find import exercises_of, find
from autograder.question.interview import Answers, Question, questions
from autograder.question.outcome import Outcome
from autograder.question.specification import Exercise
from autograder.question.verdict import expected_answers, findings
from tests.autograder.test_checks import ASSIGNMENTS

SEED = 3
Fill = Callable[[Tensor, Sequence[Tensor]], Tensor]
"""(the right result, the arguments that are tensors or lists of numbers) -> something of its shape."""


def constant(value: float) -> Fill:
    return lambda right, given: torch.full(right.shape, value, dtype=torch.float64)


def typed(value: float) -> Fill:
    return lambda right, given: torch.full_like(right, value)


def uniform(right: Tensor, given: Sequence[Tensor]) -> Tensor:
    return torch.full(right.shape, 1.0 / right.shape[-1] if right.ndim and right.shape[-1] else 1.0)


def random(right: Tensor, given: Sequence[Tensor]) -> Tensor:
    return torch.randn(right.shape, generator=torch.Generator().manual_seed(right.numel()))


def random_shares(right: Tensor, given: Sequence[Tensor]) -> Tensor:
    made = random(right, given)
    return made.softmax(-1) if made.ndim else made.sigmoid()


def coins(right: Tensor, given: Sequence[Tensor]) -> Tensor:
    return random(right, given) > 0


def counting(right: Tensor, given: Sequence[Tensor]) -> Tensor:
    return torch.arange(right.numel()).reshape(right.shape)


def noise(size: float) -> Fill:
    return lambda right, given: size * random(right, given).abs()


def echo(number: int) -> Fill:
    """The argument itself where it has the shape, else its numbers, again and again."""

    def made(right: Tensor, given: Sequence[Tensor]) -> Tensor:
        if number >= len(given) or not given[number].numel():
            return torch.zeros(right.shape)
        numbers = given[number].reshape(-1)
        return numbers.repeat(right.numel() // numbers.numel() + 1)[: right.numel()].reshape(right.shape)

    return made


def of_echo(change: Callable[[Tensor], Tensor]) -> Fill:
    """The first argument, changed without a thought."""
    return lambda right, given: change(echo(0)(right, given).double())


FILLS: dict[str, Fill] = {
    **{
        f"{value:g}": constant(value) for value in (0, 1, -1, 0.5, 1e30, -1e30, 1e-30, torch.inf, -torch.inf, torch.nan)
    },
    **{f"typed {value}": typed(value) for value in range(4)},
    **{f"echo of {number}": echo(number) for number in range(6)},
    "uniform": uniform,
    "random": random,
    "random shares": random_shares,
    "coins": coins,
    "counting": counting,
    "counting from one": lambda right, given: counting(right, given) + 1,
    "tiny noise": noise(1e-5),
    "small noise": noise(1e-3),
    "minus the echo": of_echo(torch.neg),
    "twice the echo": of_echo(lambda x: 2 * x),
    "nearly the echo": of_echo(lambda x: 0.999 * x),
    "the echo, backwards": of_echo(lambda x: x.flip(-1) if x.ndim else x),
    "the echo, upside down": of_echo(lambda x: x.flip(0) if x.ndim else x),
    "the echo, moved on": of_echo(lambda x: x.roll(1, -1) if x.ndim else x),
}
FEW = ["0", "1", "nan", "1e+30", "uniform", "tiny noise", "echo of 0"]
WHOLE: dict[str, Any] = {"nothing": [], "a huge tensor": torch.zeros(10**6), "a number": 0.0, "an infinity": torch.inf}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "exercise" in metafunc.fixturenames:
        every = [exercise for name in ASSIGNMENTS for exercise in exercises_of(name).values()]
        metafunc.parametrize("exercise", every, ids=lambda exercise: exercise.name)


def test_who_knows_nothing_earns_at_most_a_tenth(exercise: Exercise) -> None:
    earned = {}
    for name, answer in battery(exercise):
        if (exercise.name, name) == ("sequences.reverse", "the echo, backwards"):
            continue  # that is half of the question
        if set(exercise.chosen) == set(exercise.returns) and name.endswith("learned by heart"):
            continue  # a line of the page is the same for everybody
        for seed in (None, SEED):  # hidden questions take more than they give: they are put where the public ones gave
            asked, right = interview(exercise, seed)
            found = [f.about for f in findings(exercise, asked, answer(asked, right), right) if f.holds]
            if sum(prop.points for prop in found) <= exercise.points / 10 + 1e-9:
                break
        else:
            earned[name] = {prop.name: prop.points for prop in found}
    assert earned == {}, f"{exercise.name}: of {exercise.points:g}"


LITTLE: dict[str, Callable[..., Any]] = {
    "decoding.greedy": lambda log_probs, start, eos, longest: [eos],
    "decoding.beam_search": lambda log_probs, start, eos, beam, longest: ([eos], 0.0),
    "features.sparse_code": lambda x, encoder, *more: (0 * x @ encoder.T, 0 * x, 0.0, 1.0),
    "features.recovery": lambda true, found, draws: (1.0, 0.5, 1),
    "features.lean": lambda table, control: (0 * table[:, 0], 0.5, 0.5),
    "features.changed": lambda before, after: (0, 0, 1.0, 0),
    "memory.step_by_step": lambda q, k, v, a, b, w, S: (0 * v, 0 * v, S),
    "memory.decays": lambda a: (torch.eye(a.shape[1]).expand(len(a), -1, -1), 0 * a),
    "memory.one_chunk": lambda q, k, v, a, b, w, S: (0 * q @ k.mT, 0 * v, S),
    "pretraining.hide": lambda tokens, *more: (tokens, tokens < 0),
    "pretraining.trust": lambda g, m, r, vocabulary: (g, 0.0, 1.0),
    "sequences.teacher_forcing": lambda targets, bos, eos: ([[bos]], [[eos]]),
    "sequences.write": lambda context, *given: ([2], torch.zeros(1, len(context))),
    "subwords.learn_merges": lambda words, counts, symbols, merges: [[0, 1]] * merges,
}
"""Answers that hardly look at their inputs."""


@pytest.mark.parametrize("name", LITTLE)
def test_who_hardly_looks_at_the_input_earns_at_most_a_tenth(name: str) -> None:
    exercise = find(name)
    assert examine(exercise, LITTLE[name], 5).points <= exercise.points / 10


@functools.cache
def interview(exercise: Exercise, seed: int | None) -> tuple[list[Question], list[Answers]]:
    asked = questions(exercise, seed)
    return asked, expected_answers(exercise, asked, seed)


Given = Callable[[Sequence[Question], Sequence[Answers]], list[Answers]]
"""(questions, right answers) -> the answers of who knows nothing."""


def battery(exercise: Exercise) -> Iterator[tuple[str, Given]]:
    """Every fill for all results, and, of several results, different ones for the first, the second and the rest."""
    several = len(exercise.returns)
    yield from ((name, filled([fill] * several)) for name, fill in FILLS.items())
    if several > 1:
        for names in product(FEW, repeat=2):
            if len(set(names)) > 1:
                yield ", ".join(names), filled([FILLS[names[min(number, 1)]] for number in range(several)])
    for name, value in WHOLE.items():
        yield name, whole(torch.as_tensor(value), several)
    drawn = {"conclusion", "signs"} & {*exercise.returns}
    lines = {*exercise.chosen, *drawn}
    if drawn:  # an invented table, with guesses of what comes of it or with what is right
        for one, last in product(range(-1, 4), repeat=2):
            guess = {name: last if name in drawn else one for name in lines}
            yield f"guesses {one}, {last}", filled([constant(guess.get(name, 0.3)) for name in exercise.returns])
    if drawn and lines < {*exercise.returns}:
        kept = [(lambda right, given: right) if name in lines else constant(0.3) for name in exercise.returns]
        yield "what comes of the table by heart", filled(kept)
    yield "the public answers, learned by heart", learned_by_heart(exercise)
    for number in range(len(exercise.arguments)):
        yield f"argument {number} as it came", arguments_as_they_came(number, several)


def filled(fills: Sequence[Fill]) -> Given:
    def answered(arguments: Sequence[Any], right: Outcome) -> Outcome:
        given = [t for value in arguments for t in tensors(value)]
        return Outcome(outputs=tuple(fill(wanted, given) for fill, wanted in zip(fills, right.outputs, strict=True)))

    return every_call(answered)


def whole(value: Tensor, several: int) -> Given:
    return every_call(lambda arguments, right: Outcome(outputs=(value,) * several))


def learned_by_heart(exercise: Exercise) -> Given:
    """What students have as data; for other questions, something of the right shapes."""
    asked, right = interview(exercise, None)
    calls = [(a, o) for q, row in zip(asked, right, strict=True) for a, o in zip(q.case.calls, row, strict=True)]
    known = {repr(arguments): outcome for arguments, outcome in calls}

    def answered(arguments: Sequence[Any], right: Outcome) -> Outcome:
        return known.get(repr(arguments), Outcome(outputs=tuple(torch.ones_like(o) for o in right.outputs)))

    return every_call(answered)


def arguments_as_they_came(number: int, several: int) -> Given:
    def answered(arguments: Sequence[Any], right: Outcome) -> Outcome:
        same = tensors(arguments[number]) if number < len(arguments) else []
        return Outcome(outputs=((same or [torch.zeros(0)])[0],) * several)

    return every_call(answered)


def every_call(answered: Callable[[Sequence[Any], Outcome], Outcome]) -> Given:
    return lambda asked, right: [
        tuple(answered(a, o) for a, o in zip(q.case.calls, row, strict=True))
        for q, row in zip(asked, right, strict=True)
    ]


def tensors(value: Any) -> list[Tensor]:
    """The argument as tensors: none for text, one for numbers, one each for the parts of a ragged list."""
    if isinstance(value, Tensor):
        return [value]
    if isinstance(value, dict):
        return [tensor for part in value.values() for tensor in tensors(part)]
    try:
        return [] if isinstance(value, (str, bool)) or value is None else [torch.as_tensor(value)]
    except (TypeError, ValueError, RuntimeError):
        return [tensor for part in value for tensor in tensors(part)]
