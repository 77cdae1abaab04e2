"""Question 1b: sources backwards."""

import torch
from torch import Tensor

from autograder.exercise.draw import Draw
from autograder.exercise.judges import inputs_unchanged, same_values
from autograder.exercise.specification import Case, Exercise, Misconception, Property, case

REVERSED = ("reversed",)


def _padded(draw: Draw, lengths: list[int], room: int, label: str) -> Case:
    tokens = draw.integers(3, 99, len(lengths), room)
    for row, length in enumerate(lengths):
        tokens[row, length:] = 0
    return case(label, tokens, torch.tensor(lengths))


def _reverse(tokens: Tensor, lengths: Tensor) -> Tensor:
    place = torch.arange(tokens.shape[1])
    wanted = torch.where(place < lengths[:, None], lengths[:, None] - 1 - place, place)
    return tokens.gather(1, wanted)


def _full(draw: Draw) -> list[Case]:
    return [_padded(draw, [4, 4], 4, "no padding")]


def _some(draw: Draw) -> list[Case]:
    room = draw.largest + 2
    return [_padded(draw, [room, 2, 3], room, "several lengths")]


def _few(draw: Draw) -> list[Case]:
    return [_padded(draw, [1, 3], 5, "more room than the longest needs"), _padded(draw, [1], 1, "one word")]


def _from_the_right(tokens: Tensor, lengths: Tensor) -> Tensor:
    return tokens.flip(1)


def _off_by_one(tokens: Tensor, lengths: Tensor) -> Tensor:
    place = torch.arange(tokens.shape[1])
    wanted = torch.where(place < lengths[:, None], lengths[:, None] - place, place).clamp(max=tokens.shape[1] - 1)
    return tokens.gather(1, wanted)


def _by_the_longest(tokens: Tensor, lengths: Tensor) -> Tensor:
    longest = int(lengths.max())
    return torch.cat([tokens[:, :longest].flip(1), tokens[:, longest:]], 1)


def _in_place(tokens: Tensor, lengths: Tensor) -> Tensor:
    tokens.copy_(_reverse(tokens, lengths))
    return tokens


REVERSE = Exercise(
    name="sequences.reverse",
    title="Sources backwards",
    signature="reverse(tokens, lengths)",
    arguments=("tokens", "lengths"),
    returns=REVERSED,
    minutes=15,
    difficulty="easy",
    reference=_reverse,
    properties=(
        Property(name="without padding", points=0.5, cases=_full, judge=same_values(REVERSED), outputs=(0,)),
        Property(name="the padding stays behind", points=1.5, cases=_some, judge=same_values(REVERSED), outputs=(0,)),
        Property(name="more room, one word", points=0.5, cases=_few, judge=same_values(REVERSED), outputs=(0,)),
        Property(name="the caller's tokens are left alone", points=0.5, cases=_some, judge=inputs_unchanged),
    ),
    misconceptions=(
        Misconception(
            id="padding-in-front",
            sentence=(
                "You turned the whole row around, and the padding is in front. Only the words change their order: row"
                " by row, up to its length."
            ),
            implementation=_from_the_right,
        ),
        Misconception(
            id="by-the-longest",
            sentence=(
                "You turned all rows around by the length of the *longest* one, so shorter ones begin with padding."
                " Each row has its own length."
            ),
            implementation=_by_the_longest,
        ),
        Misconception(
            id="off-by-one",
            sentence="You are off by one: the first place gets the word at place length − 1, since places begin at 0.",
            implementation=_off_by_one,
        ),
        Misconception(
            id="nothing-reversed",
            sentence="Nothing has changed its place: these are the tokens as they came.",
            implementation=lambda tokens, lengths: tokens.clone(),
        ),
        Misconception(
            id="rows-reversed",
            sentence="You changed the order of the *sentences*. The *words* of each change theirs: the second axis.",
            implementation=lambda tokens, lengths: tokens.flip(0),
        ),
        Misconception(
            id="in-place",
            sentence=(
                "You reversed the caller's own tensor. Write into a copy, `tokens.clone()`: a slice such as `tokens[:]`"
                " is none, it shows the same numbers."
            ),
            implementation=_in_place,
        ),
    ),
    closed=("nlmcore.seq2seq",),
)
