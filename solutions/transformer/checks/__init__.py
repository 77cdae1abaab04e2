"""Assignment "transformer": two norms, a gated network, attention with a cache, the model, and SmolLM2's weights.

The functions differ in form from `nlmcore.transformer`, whose parts are modules: here parameters are dictionaries of
matrices (in, out), and a cache is one tensor.
"""

from autograder.exercise.declare import exercises_in

EXERCISES = exercises_in(__name__)
