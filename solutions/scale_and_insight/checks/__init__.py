"""Assignment "scale_and_insight": laws of scale with intervals, a budget, a mirage, and three instruments for a model.

The functions differ in form from `nlmcore.scaling` and `nlmcore.inspect`: laws are numbers, and a model is a dictionary
of tensors whose layers stop where somebody wants to look.
"""

from autograder.exercise.declare import exercises_in

EXERCISES = exercises_in(__name__)
