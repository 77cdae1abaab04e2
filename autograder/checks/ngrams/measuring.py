"""Question 3: how surprised a table of probabilities is by a text."""

import torch
from torch import Tensor

from autograder.checks.ngrams.common import REFERENCE_ITSELF, Sentences, count, text
from autograder.checks.ngrams.measuring_mistakes import MISTAKES, perplexity
from autograder.exercise.draw import Draw
from autograder.exercise.judges import law, same_values
from autograder.exercise.laws.ngrams import exponential_of_the_mean
from autograder.exercise.specification import Case, Exercise, Property

RETURNS = ("log_loss", "perplexity")


def _case(label: str, draw: Draw, number: int, double: bool = False) -> Case:
    vocab_size = draw.largest + 3
    sentences, bos, eos = text(draw, vocab_size, number, 6)
    if label.endswith("twice"):
        sentences.append(list(sentences[0]))
    counts = count(sentences[: max(1, number - 1)], vocab_size, bos, eos) + 0.5 + draw.integers(0, 3, vocab_size, 1)
    probabilities = counts / counts.sum(1, keepdim=True)
    return _known(label, probabilities.double() if double else probabilities, sentences, bos, eos)


def _known(label: str, probabilities: Tensor, sentences: Sentences, bos: int, eos: int) -> Case:
    """With what the perplexity is judged by: how many predictions there are, and what it should be."""
    predicted, right = sum(len(s) + 1 for s in sentences), perplexity(probabilities, sentences, bos, eos)[1]
    arguments = (probabilities, sentences, bos, eos)
    return Case(label=label, calls=(arguments,), known=(torch.tensor(predicted), torch.tensor(right)))


def _improbable(draw: Draw) -> Case:
    """A model that is nearly sure of another word: the text's probability, as a product, is 0 in any float."""
    vocab_size = draw.largest + 3
    sentences, bos, eos = text(draw, vocab_size, 12, 6)
    while sum(len(s) + 1 for s in sentences) < 40:
        sentences.append(list(sentences[0]))
    probabilities = (1 + draw.integers(0, 8, vocab_size, vocab_size)) * 1e-10
    probabilities[:, bos] = 1 - (probabilities.sum(1) - probabilities[:, bos])
    return _known("a long text of improbable words", probabilities.float(), sentences, bos, eos)


def _several(draw: Draw) -> list[Case]:
    return [_case("sentences of several lengths", draw, 4)]


def _edges(draw: Draw) -> list[Case]:
    return [
        _case("one sentence, float64", draw, 1, double=True),
        _case("many sentences, one of them twice", draw, 8),
        _improbable(draw),
    ]


PERPLEXITY = Exercise(
    name="ngrams.perplexity",
    title="Perplexity",
    signature="perplexity(probabilities, sentences, bos, eos)",
    arguments=("probabilities", "sentences", "bos", "eos"),
    returns=RETURNS,
    minutes=20,
    difficulty="medium",
    reference=perplexity,
    properties=(
        Property(
            name="the log loss of all sentences",
            points=1.5,
            cases=_several,
            judge=same_values(RETURNS, [0]),
            outputs=(0,),
        ),
        Property(
            name="the perplexity, given your log loss",
            points=1.5,
            cases=_several,
            judge=law(exponential_of_the_mean),
        ),
        Property(name="one sentence, and many", points=1, cases=_edges, judge=same_values(RETURNS)),
    ),
    misconceptions=MISTAKES,
    closed=REFERENCE_ITSELF,
)
