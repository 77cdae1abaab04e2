"""Question 2a: one step of a beam."""

import torch
from torch import Tensor

from autograder.checks.decoding.common import REFERENCE_ITSELF
from autograder.exercise.draw import Draw
from autograder.exercise.judges import same_shapes, same_values
from autograder.exercise.specification import Case, Exercise, Misconception, Property, case

STEP = ("scores", "parents", "tokens")
Three = tuple[Tensor, Tensor, Tensor]


def _step(scores: Tensor, log_probs: Tensor, beam: int) -> Three:
    return _best_of(scores[:, None] + log_probs, beam)


def _best_of(every: Tensor, beam: int) -> Three:
    best, places = every.reshape(-1).topk(beam)
    return best, places // every.shape[1], places % every.shape[1]


def _beams(draw: Draw, open_: int, size: int, beam: int, label: str) -> Case:
    """A step in which the best extensions come from more than one hypothesis, and one hypothesis has two of them."""
    while True:
        scores = -draw.normal(open_).abs().sort().values - 0.5
        log_probs = torch.log_softmax(draw.normal(open_, size).double(), -1).float()
        _, parents, _ = _step(scores, log_probs, beam)
        if open_ == 1 or 1 < len(set(parents.tolist())) < beam:
            return case(label, scores, log_probs, beam)


def _usual_steps(draw: Draw) -> list[Case]:
    return [_beams(draw, 3, draw.largest + 2, 3, "three hypotheses"), _beams(draw, 4, draw.largest + 1, 4, "four")]


def _first_step(draw: Draw) -> list[Case]:
    return [_beams(draw, 1, draw.largest + 2, 3, "the first step: one hypothesis")]


def _mixed_up(scores: Tensor, log_probs: Tensor, beam: int) -> Three:
    best, parents, tokens = _step(scores, log_probs, beam)
    return best, tokens, parents


def _divided_by_the_rows(scores: Tensor, log_probs: Tensor, beam: int) -> Three:
    best, places = (scores[:, None] + log_probs).reshape(-1).topk(beam)
    return best, places // len(scores), places % len(scores)


def _added_probabilities(scores: Tensor, log_probs: Tensor, beam: int) -> Three:
    return _best_of(scores[:, None].exp() + log_probs.exp(), beam)


def _as_probabilities(scores: Tensor, log_probs: Tensor, beam: int) -> Three:
    return _best_of((scores[:, None] + log_probs).exp(), beam)


def _worst_first(scores: Tensor, log_probs: Tensor, beam: int) -> Three:
    best, parents, tokens = _step(scores, log_probs, beam)
    return best.flip(0), parents.flip(0), tokens.flip(0)


def _best_of_each(scores: Tensor, log_probs: Tensor, beam: int) -> Three:
    best, tokens = (scores[:, None] + log_probs).max(1)
    best, parents = best.topk(min(beam, len(best)))
    return best, parents, tokens[parents]


BEAM_STEP = Exercise(
    name="decoding.beam_step",
    title="One step of a beam",
    signature="beam_step(scores, log_probs, beam)",
    arguments=("scores", "log_probs", "beam"),
    returns=STEP,
    minutes=20,
    difficulty="medium",
    reference=_step,
    properties=(
        Property(name="three lists of the beam's size", points=0.25, cases=_usual_steps, judge=same_shapes(STEP)),
        Property(name="the scores", points=1.25, cases=_usual_steps, judge=same_values(STEP, [0]), outputs=(0,)),
        Property(name="whose, and which word", points=2, cases=_usual_steps, judge=same_values(STEP, [1, 2])),
        Property(name="the first step", points=0.5, cases=_first_step, judge=same_values(STEP)),
    ),
    misconceptions=(
        Misconception(
            id="scores-forgotten",
            sentence=(
                "You compare the new words alone. A hypothesis brings along what it has: add its score to the"
                " log-probability of the word."
            ),
            implementation=lambda scores, log_probs, beam: _best_of(log_probs, beam),
        ),
        Misconception(
            id="probabilities-added",
            sentence=(
                "You added probabilities. Probabilities of words that come one after the other are *multiplied*, and"
                " that is why logarithms are added: no exponential is needed."
            ),
            implementation=_added_probabilities,
        ),
        Misconception(
            id="logarithms-multiplied",
            sentence=(
                "You multiplied logarithms. Multiplying probabilities is *adding* their logarithms: score + log P."
            ),
            implementation=lambda scores, log_probs, beam: _best_of(scores[:, None] * log_probs, beam),
        ),
        Misconception(
            id="row-and-column-exchanged",
            sentence=(
                "Parents and words are mixed up. In the flattened table place = parent · vocabulary + word: the parent"
                " is place // vocabulary, the word place % vocabulary."
            ),
            implementation=_mixed_up,
            also=(_divided_by_the_rows,),
        ),
        Misconception(
            id="one-child-each",
            sentence=(
                "You took the best word of each hypothesis. Of *all* extensions of all hypotheses the `beam` best are"
                " asked for, and two of them may have one parent."
            ),
            implementation=_best_of_each,
        ),
        Misconception(
            id="worst-first",
            sentence="The right extensions, in the wrong order: the best one comes first.",
            implementation=_worst_first,
        ),
        Misconception(
            id="probabilities-returned",
            sentence=(
                "The right extensions, but the scores are probabilities. Scores come in and go out as logarithms: after"
                " some dozens of words a probability is too small a number to be told from 0."
            ),
            implementation=_as_probabilities,
        ),
    ),
    closed=REFERENCE_ITSELF,
)
