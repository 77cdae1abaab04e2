"""Question 2a: the loss of one pair among noise."""

import torch

from autograder.exercise.declare import question, values, ways
from autograder.exercise.draw import Draw
from autograder.exercise.specification import Case, case
from solutions.vectors.checks.common import CLOSED, small_pairs, unit, usual_pairs


def _long(draw: Draw) -> list[Case]:
    centre = 32 * unit(draw.normal(draw.size()))  # the exponentials are too large for float64 as well
    noise = torch.stack([1.1 * centre, -0.8 * centre, 0.7 * centre])  # no two mistakes look alike
    return [case("dot products of about a thousand", centre, -0.9 * centre, noise)]


GRAIN = "- torch.nn.functional.logsigmoid → lambda x: (torch.sigmoid(x) + 1e-{}).log()"

PAIR_LOSS = question(
    "vectors.pair_loss",
    minutes=20,
    difficulty="medium",
    returns=("loss",),
    properties=[
        values("several noise words", 2, usual_pairs),
        values("one noise word, one dimension", 1, small_pairs),
        values("large dot products", 1, _long),
    ],
    closed=CLOSED,
    mistakes="""
noise-not-negated: You left out the sign for the noise: there the model should say *no*, with probability σ(−n·v) = 1 −
σ(n·v). Without it, noise is attracted as if it were a neighbour.
- -noise → noise

mean-over-noise: You took the mean over the noise words. Add them: each is one more question whose answer is no.
- .sum() → .mean()

mean-of-all: You divided by the number of terms, k + 1 (`binary_cross_entropy_with_logits` does so by default). Add the
terms: `reduction='sum'`.
- -log_sigmoid(context @ centre) - log_sigmoid(-noise @ centre).sum()
+ (-log_sigmoid(context @ centre) - log_sigmoid(-noise @ centre).sum()) / (1 + len(noise))

likelihood-for-loss: Your sign is wrong: a loss is *minus* the logarithm of a probability, and never below 0.
- -log_sigmoid(context @ centre) - log_sigmoid(-noise @ centre).sum()
+ log_sigmoid(context @ centre) + log_sigmoid(-noise @ centre).sum()

softmax: That is a softmax over the context and the noise: which of these is it? Negative sampling asks k + 1 separate
questions instead, each with its own σ: is this a neighbour?
+ return -torch.log_softmax(torch.cat([context[None], noise]) @ centre, 0)[0]

logarithm-forgotten: You left out the logarithms: you computed −σ(…), not −ln σ(…). A confident mistake has to cost more
than 1.
- torch.nn.functional.logsigmoid → torch.sigmoid

noise-forgotten: You did not use the noise. Without it the best vectors are all alike and very long: every dot product
is large.
^ noise = noise[:0]

sigmoid-then-log: Your loss is right until a sigmoid, or 1 − σ, is 0 in float32 and its logarithm −∞. `logsigmoid`, or a
careful −ln(1 + e^{−x}), has no such limit.
- torch.nn.functional.logsigmoid → lambda x: torch.sigmoid(x).log()

grain-in-the-logarithm: A small number inside the logarithm, or a clipped σ, avoids −∞, but then a confident mistake
costs the same however confident it is. `logsigmoid` needs neither.
- torch.nn.functional.logsigmoid → lambda x: (torch.sigmoid(x) + 1e-7).log()
"""
    + ways(GRAIN, 6, 8, 9, 10, 12, 15, 20),
)
