"""Assignment "sequences": from one text to another: batches, a thought vector, a decoder, its own words, and BLEU.

The functions differ in form from `nlmcore.seq2seq` and `nlmcore.training`, which are modules and losses: here are the
single steps, on lists and tensors.
"""

from autograder.checks.sequences.clipped_precision import CLIPPED_PRECISION
from autograder.checks.sequences.last_states import LAST_STATES
from autograder.checks.sequences.mixed_inputs import MIXED_INPUTS
from autograder.checks.sequences.reverse import REVERSE
from autograder.checks.sequences.teacher_forcing import TEACHER_FORCING
from autograder.checks.sequences.teacher_share import TEACHER_SHARE
from autograder.checks.sequences.write import WRITE

EXERCISES = {
    exercise.name: exercise
    for exercise in (
        TEACHER_FORCING,
        REVERSE,
        LAST_STATES,
        TEACHER_SHARE,
        MIXED_INPUTS,
        WRITE,
        CLIPPED_PRECISION,
    )
}

__all__ = ["EXERCISES"]
