"""Question 2b: the gradients of that loss by hand."""

from autograder.exercise.declare import question, shapes, values
from solutions.vectors.checks.common import small_pairs, usual_pairs

PAIR_GRADIENTS = question(
    "vectors.pair_gradients",
    minutes=25,
    difficulty="hard",
    returns=("d_centre", "d_context", "d_noise"),
    properties=[
        shapes(0.5, usual_pairs),
        values("the context's gradient", 1, usual_pairs, "d_context"),
        values("the noise's gradient", 1, usual_pairs, "d_noise"),
        values("the centre's gradient", 1.5, usual_pairs, "d_centre"),
        values("one noise word, one dimension", 1, small_pairs),
    ],
    numpy=True,
    mistakes="""
sign: Your error has the wrong sign, target − prediction: it points downhill. A gradient points where the loss *grows*;
a step goes against it.
- 1 / (1 + np.exp(-context @ centre)) - 1 → 1 - 1 / (1 + np.exp(-context @ centre))
- errors = 1 / → errors = -1 /

centre-without-noise: Your gradient of the centre includes only its neighbour. The centre occurs in each of the k + 1
dot products: add the terms of the noise.
-  + errors @ noise →

belief-for-error: For the neighbour you used σ instead of the error σ − 1. When the model is certain that it is one, σ =
1, there should be nothing left to learn.
-  - 1 →

own-vector: You multiplied the error by the vector itself. The derivative of u · v with respect to u is v: context and
noise move along the *centre*.
- error * centre, np.outer(errors, centre) → error * context, errors[:, None] * noise
or
- error * centre → error * context
or
- np.outer(errors, centre) → errors[:, None] * noise

in-another-order: The gradients look right, but you return them in a different order: first the centre's, then the
context's, then the noise's, like the arguments.
- error * context + errors @ noise, error * centre, np.outer(errors, centre)
+ error * centre, error * context + errors @ noise, np.outer(errors, centre)
or
- error * context + errors @ noise, error * centre, np.outer(errors, centre)
+ error * centre, np.outer(errors, centre), error * context + errors @ noise

mean-over-noise: You divided by the number of noise words. The loss *adds* their terms: each keeps its whole error,
and the centre gets the sum.
- 1 / (1 + np.exp(-noise @ centre)) → 1 / (1 + np.exp(-noise @ centre)) / len(noise)

noise-as-neighbour: You treated the noise like a neighbour: σ − 1. Its target is 0, so its error is σ − 0.
- 1 / (1 + np.exp(-noise @ centre)) → 1 / (1 + np.exp(-noise @ centre)) - 1

slope-of-the-sigmoid: You used σ (1 − σ), the slope of the sigmoid. The loss also contains a logarithm, and together the
slope is simpler: σ minus the target.
- 1 / (1 + np.exp(-context @ centre)) - 1 → -np.exp(-context @ centre) / (1 + np.exp(-context @ centre)) ** 2
- 1 / (1 + np.exp(-noise @ centre)) → np.exp(-noise @ centre) / (1 + np.exp(-noise @ centre)) ** 2
""",
)
