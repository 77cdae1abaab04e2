"""Assignment "sequences": from one text to another: batches, a context vector, a decoder, its own output, and BLEU.

The functions differ in form from `nlmcore.seq2seq` and `nlmcore.training`, which are modules and losses: here they are
the single steps, on lists and tensors.
"""

from autograder.exercise.declare import exercises_in

EXERCISES = exercises_in(__name__)
