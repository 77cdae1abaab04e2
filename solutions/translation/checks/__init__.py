"""Assignment "translation": an encoder–decoder Transformer in functions, BLEU of a corpus, and retrieve and edit.

The functions differ in form from `nlmcore.transformer`, whose parts are modules: here parameters are nested
dictionaries of matrices (in, out), and a mask is made from ids.
"""

from autograder.question.declare import exercises_in

EXERCISES = exercises_in(__name__)
