"""Assignment "sequences": from one text to another: batches, a thought vector, a decoder, its own words, and BLEU.

The functions differ in form from `nlmcore.seq2seq` and `nlmcore.training`, which are modules and losses: here are the
single steps, on lists and tensors.
"""

from autograder.checks.sequences.batching import LAST_STATES, REVERSE, TEACHER_FORCING
from autograder.checks.sequences.decoding import CLIPPED_PRECISION, WRITE
from autograder.checks.sequences.sampling import MIXED_INPUTS, TEACHER_SHARE

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
