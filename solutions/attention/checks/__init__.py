"""Assignment "attention": three scores, the weighted sum, a mask, and heads.

The functions differ in form from `nlmcore.attention`: one query at a time, a softmax from its parts, one mask for two
purposes, and heads as a function of five arguments.
"""

from autograder.exercise.declare import exercises_in

EXERCISES = exercises_in(__name__)
