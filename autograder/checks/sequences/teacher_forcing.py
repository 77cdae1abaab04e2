"""Question 1a: what the decoder reads, and what it must say."""

from collections.abc import Sequence

import torch
from torch import Tensor

from autograder.exercise.draw import Draw
from autograder.exercise.judges import same_shapes, same_values
from autograder.exercise.specification import Case, Exercise, Misconception, Property, case

SHIFTED = ("inputs", "outputs")
Pair = tuple[Tensor, Tensor]


def _sentences(draw: Draw, lengths: Sequence[int]) -> list[list[int]]:
    return [draw.integers(3, 9 + draw.largest, length).tolist() for length in lengths]


def _filled(rows: list[list[int]], padding: int = 0) -> Tensor:
    longest = max(len(row) for row in rows)
    return torch.tensor([[*row, *[padding] * (longest - len(row))] for row in rows])


def _teacher_forcing(targets: list[list[int]], bos: int, eos: int) -> Pair:
    return _filled([[bos, *t] for t in targets]), _filled([[*t, eos] for t in targets])


def _one_length(draw: Draw) -> list[Case]:
    return [case("targets of one length", _sentences(draw, [3, 3]), 1, 2)]


def _many_lengths(draw: Draw) -> list[Case]:
    return [case("targets of several lengths", _sentences(draw, [2, 4, 1]), 1, 2)]


def _short(draw: Draw) -> list[Case]:
    return [
        case("an empty target among others", _sentences(draw, [2, 0]), 1, 2),
        case("one target of one word", _sentences(draw, [1]), 2, 1),
    ]


def _said_twice(targets: list[list[int]], bos: int, eos: int) -> Pair:
    """Inputs and outputs are the same."""
    outputs = _teacher_forcing(targets, bos, eos)[1]
    return outputs, outputs


def _read_twice(targets: list[list[int]], bos: int, eos: int) -> Pair:
    inputs = _teacher_forcing(targets, bos, eos)[0]
    return inputs, inputs


def _eos_everywhere(targets: list[list[int]], bos: int, eos: int) -> Pair:
    return _filled([[bos, *t, eos] for t in targets]), _filled([[*t, eos, 0] for t in targets])


def _last_column_off(targets: list[list[int]], bos: int, eos: int) -> Pair:
    whole = _filled([[bos, *t, eos] for t in targets])
    return whole[:, :-1], whole[:, 1:]


def _without_eos(targets: list[list[int]], bos: int, eos: int) -> Pair:
    inputs, outputs = _teacher_forcing(targets, bos, eos)
    return inputs, torch.where(outputs == eos, 0, outputs)


def _filled_with_eos(targets: list[list[int]], bos: int, eos: int) -> Pair:
    return _filled([[bos, *t] for t in targets]), _filled([[*t, eos] for t in targets], eos)


def _filled_in_front(targets: list[list[int]], bos: int, eos: int) -> Pair:
    longest = max(len(t) for t in targets) + 1

    def front(rows: list[list[int]]) -> Tensor:
        return torch.tensor([[*[0] * (longest - len(row)), *row] for row in rows])

    return front([[bos, *t] for t in targets]), front([[*t, eos] for t in targets])


def _eos_at_the_end(targets: list[list[int]], bos: int, eos: int) -> Pair:
    """<eos> behind the padding."""
    inputs, outputs = _without_eos(targets, bos, eos)
    outputs[:, -1] = eos
    return inputs, outputs


TEACHER_FORCING = Exercise(
    name="sequences.teacher_forcing",
    title="What it reads, what it must say",
    signature="teacher_forcing(targets, bos, eos)",
    arguments=("targets", "bos", "eos"),
    returns=SHIFTED,
    minutes=15,
    difficulty="easy",
    reference=_teacher_forcing,
    properties=(
        Property(name="the shapes are right", points=0.25, cases=_one_length, judge=same_shapes(SHIFTED)),
        Property(name="what it reads", points=1, cases=_many_lengths, judge=same_values(SHIFTED, [0]), outputs=(0,)),
        Property(name="what it must say", points=1, cases=_many_lengths, judge=same_values(SHIFTED, [1]), outputs=(1,)),
        Property(name="short targets", points=0.75, cases=_short, judge=same_values(SHIFTED)),
    ),
    misconceptions=(
        Misconception(
            id="not-shifted",
            sentence=(
                "Inputs and outputs are the same: at each step the decoder reads the very word that it should say. It"
                " should have read the one *before*: put `bos` in front of the inputs, `eos` behind the outputs."
            ),
            implementation=_said_twice,
            also=(_read_twice,),
        ),
        Misconception(
            id="exchanged",
            sentence="Inputs and outputs have changed places. `bos` is read, never said; `eos` is said, never read.",
            implementation=lambda targets, bos, eos: _teacher_forcing(targets, bos, eos)[::-1],
        ),
        Misconception(
            id="eos-is-read",
            sentence=(
                "The decoder also reads `eos`. After it nothing is to be said, so it need not be read: inputs and"
                " outputs have one place more than the target, not two."
            ),
            implementation=_eos_everywhere,
        ),
        Misconception(
            id="eos-is-read-in-shorter-rows",
            sentence=(
                "In rows shorter than the longest `eos` is among the inputs: to cut off the last column takes it out of"
                " the longest row alone. Build the inputs from `bos` and the target."
            ),
            implementation=_last_column_off,
        ),
        Misconception(
            id="eos-left-out",
            sentence="`eos` is not among the outputs. A decoder that is never told to say it never learns to stop.",
            implementation=_without_eos,
        ),
        Misconception(
            id="filled-with-eos",
            sentence="You filled the outputs up with `eos`. It is said once, after the last word; behind it stands 0.",
            implementation=_filled_with_eos,
        ),
        Misconception(
            id="filled-in-front",
            sentence="The padding stands in front. Here it comes behind the words.",
            implementation=_filled_in_front,
        ),
        Misconception(
            id="eos-behind-the-padding",
            sentence=(
                "`eos` stands behind the padding. It comes right after the last word: that is where the decoder has to"
                " stop."
            ),
            implementation=_eos_at_the_end,
        ),
    ),
    closed=("nlmcore.seq2seq",),
)
