"""Question 1a: the decoder's inputs, and its targets."""

from collections.abc import Sequence

from autograder.exercise.declare import question, shapes, values
from autograder.exercise.draw import Draw
from autograder.exercise.specification import Case, case
from solutions.sequences.checks.common import CLOSED


def _sentences(draw: Draw, lengths: Sequence[int]) -> list[list[int]]:
    return [draw.integers(3, 9 + draw.largest, length).tolist() for length in lengths]


def _one_length(draw: Draw) -> list[Case]:
    return [case("targets of one length", _sentences(draw, [3, 3]), 1, 2)]


def _many_lengths(draw: Draw) -> list[Case]:
    return [case("targets of several lengths", _sentences(draw, [2, 4, 1]), 1, 2)]


def _short(draw: Draw) -> list[Case]:
    return [
        case("an empty target among others", _sentences(draw, [2, 0]), 1, 2),
        case("one target of one word", _sentences(draw, [1]), 2, 1),
    ]


TEACHER_FORCING = question(
    "sequences.teacher_forcing",
    minutes=15,
    difficulty="easy",
    returns=("inputs", "outputs"),
    properties=[
        shapes(0.25, _one_length),
        values("the inputs", 1, _many_lengths, "inputs"),
        values("the outputs", 1, _many_lengths, "outputs"),
        values("short targets", 0.75, _short),
    ],
    closed=CLOSED,
    mistakes="""
not-shifted: Your inputs and outputs are the same: at each step the decoder is given the very word that it should
predict. It should be given the *previous* one: put `bos` before the inputs and `eos` after the outputs.
- return inputs → return outputs
or
- inputs, outputs → inputs, inputs

exchanged: You swapped inputs and outputs. `bos` is only an input; `eos` is only an output.
- inputs, outputs → outputs, inputs

eos-is-read: The decoder also gets `eos` as an input. Nothing is predicted after it, so it is not needed: inputs and
outputs have one position more than the target, not two.
- + 1, dtype → + 2, dtype
- inputs[row, : len(target) + 1] = torch.tensor([bos, *target])
+ inputs[row, : len(target) + 2] = torch.tensor([bos, *target, eos])

eos-is-read-in-shorter-rows: In rows shorter than the longest, `eos` is among the inputs: cutting off the last column
removes it only from the longest row. Build the inputs from `bos` and the target.
- return inputs, outputs → return torch.cat([inputs[:, :1], outputs[:, :-1]], dim=1), outputs

eos-left-out: Your outputs do not contain `eos`. A decoder that is never trained to predict it never learns to stop.
- *target, eos → *target, 0

filled-with-eos: You padded the outputs with `eos`. It occurs once, after the last word; everything after it is 0.
- torch.zeros_like(inputs) → torch.full_like(inputs, eos)

filled-in-front: You put the padding first. Here it comes after the words.
- inputs[row, : len(target) + 1] → inputs[row, -len(target) - 1 :]
- outputs[row, : len(target) + 1] → outputs[row, -len(target) - 1 :]

eos-behind-the-padding: You put `eos` after the padding. It comes right after the last word: that is where the decoder
has to stop.
- *target, eos → *target, 0
- return
+ outputs[:, -1] = eos
+ return
""",
)
