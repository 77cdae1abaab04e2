"""Question 2a: one step of a beam."""

import torch

from autograder.exercise.declare import any_order, question, shapes, values
from autograder.exercise.draw import Draw
from autograder.exercise.kinds import EQUAL
from autograder.exercise.specification import Case, case
from solutions.decoding.checks.common import CLOSED


def _beams(draw: Draw, open_: int, size: int, beam: int, label: str) -> Case:
    """A step in which the best extensions come from more than one hypothesis, and one hypothesis has two of them."""
    while True:
        scores = -draw.normal(open_).abs().sort().values - 0.5
        log_probs = torch.log_softmax(draw.normal(open_, size).double(), -1).float()
        _, parents, _ = BEAM_STEP.reference(scores, log_probs, beam)
        if open_ == 1 or 1 < len(set(parents.tolist())) < beam:
            return case(label, scores, log_probs, beam)


def _usual_steps(draw: Draw) -> list[Case]:
    return [_beams(draw, 3, draw.largest + 2, 3, "three hypotheses"), _beams(draw, 4, draw.largest + 1, 4, "four")]


def _first_step(draw: Draw) -> list[Case]:
    return [_beams(draw, 1, draw.largest + 2, 3, "the first step: one hypothesis"), _beams(draw, 4, 4, 4, EQUAL)]


BEAM_STEP = question(
    "decoding.beam_step",
    minutes=20,
    difficulty="medium",
    returns=("scores", "parents", "tokens"),
    properties=[
        shapes(0.25, _usual_steps, "three lists of the beam's size"),
        any_order("the scores, in any order", 0.75, _usual_steps, "scores"),
        values("the scores, best first", 0.5, _usual_steps, "scores"),
        any_order("the parents and the words, in any order", 1, _usual_steps, "parents", "tokens"),
        values("the parents and the words of each", 1, _usual_steps, "parents", "tokens"),
        values("the first step", 0.5, _first_step),
    ],
    closed=CLOSED,
    mistakes="""
scores-forgotten: You compared only the new words. A hypothesis already has a score: add it to the log-probability of
the word.
- scores[:, None] + log_probs → log_probs

probabilities-added: You added probabilities. The probabilities of consecutive words are *multiplied*, which is why you
add logarithms: you need no exponential.
- scores[:, None] + log_probs → scores[:, None].exp() + log_probs.exp()

logarithms-multiplied: You multiplied logarithms. Multiplying probabilities means *adding* their logarithms: score + log
P.
- scores[:, None] + log_probs → scores[:, None] * log_probs

row-and-column-exchanged: You mixed up parents and words. In the flattened table the index is parent · vocabulary +
word: the parent is index // vocabulary, the word is index % vocabulary.
- places // log_probs.shape[1], places % log_probs.shape[1] → places % log_probs.shape[1], places // log_probs.shape[1]
or
* log_probs.shape[1] → len(scores)

one-child-each: You took the best word of each hypothesis. Return the `beam` best of *all* extensions of all hypotheses;
two of them may have the same parent.
+ best, tokens = (scores[:, None] + log_probs).max(1)
+ best, parents = best.topk(min(beam, len(best)))
+ return best, parents, tokens[parents]

worst-first: The extensions are right but in the wrong order: put the best one first.
- every.reshape(-1).topk(beam) → (found.flip(0) for found in every.reshape(-1).topk(beam))

probabilities-returned: The extensions are right, but you return probabilities as scores. Scores are logarithms, on
input and output: after a few dozen words a probability is too small to distinguish from 0.
- return best → return best.exp()
""",
)
