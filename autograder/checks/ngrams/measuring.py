"""Question 3: how surprised a table of probabilities is by a text."""

import math

import torch
from torch import Tensor

from autograder.checks.ngrams.common import REFERENCE_ITSELF, Sentences, count, text
from autograder.draw import Draw
from autograder.judges import law, same_values
from autograder.laws.ngrams import exponential_of_the_mean
from autograder.specification import Case, Exercise, Misconception, Property

RETURNS = ("log_loss", "perplexity")


def _surprises(probabilities: Tensor, sentences: Sentences, bos: int, eos: int) -> list[list[float]]:
    """-ln P of every predicted word, `<eos>` included, sentence by sentence."""
    return [
        [-math.log(float(probabilities[a, b])) for a, b in zip([bos, *s], [*s, eos], strict=True)] for s in sentences
    ]


def _perplexity(probabilities: Tensor, sentences: Sentences, bos: int, eos: int) -> tuple[float, float]:
    every = [x for row in _surprises(probabilities, sentences, bos, eos) for x in row]
    return sum(every), math.exp(sum(every) / len(every))


def _case(label: str, draw: Draw, number: int, double: bool = False) -> Case:
    vocab_size = draw.largest + 3
    sentences, bos, eos = text(draw, vocab_size, number, 6)
    counts = count(sentences[: max(1, number - 1)], vocab_size, bos, eos) + 0.5 + draw.integers(0, 3, vocab_size, 1)
    probabilities = counts / counts.sum(1, keepdim=True)
    predicted = torch.tensor(sum(len(s) + 1 for s in sentences))
    arguments = (probabilities.double() if double else probabilities, sentences, bos, eos)
    return Case(label=label, calls=(arguments,), known=(predicted,))


def _several(draw: Draw) -> list[Case]:
    return [_case("sentences of several lengths", draw, 4)]


def _edges(draw: Draw) -> list[Case]:
    return [_case("one sentence, float64", draw, 1, double=True), _case("many sentences", draw, 8)]


def _first_words_left_out(P: Tensor, sentences: Sentences, bos: int, eos: int) -> tuple[float, float]:
    rows = [row[1:] for row in _surprises(P, sentences, bos, eos)]
    total, n = sum(map(sum, rows)), sum(map(len, rows))
    return total, math.exp(total / max(n, 1))


def _eos_left_out(P: Tensor, sentences: Sentences, bos: int, eos: int) -> tuple[float, float]:
    rows = [row[:-1] for row in _surprises(P, sentences, bos, eos)]
    total, n = sum(map(sum, rows)), sum(map(len, rows))
    return total, math.exp(total / n)


def _mean_of_perplexities(P: Tensor, sentences: Sentences, bos: int, eos: int) -> tuple[float, float]:
    rows = _surprises(P, sentences, bos, eos)
    return sum(map(sum, rows)), sum(math.exp(sum(row) / len(row)) for row in rows) / len(rows)


def _mean_of_means(P: Tensor, sentences: Sentences, bos: int, eos: int) -> tuple[float, float]:
    rows = _surprises(P, sentences, bos, eos)
    return sum(map(sum, rows)), math.exp(sum(sum(row) / len(row) for row in rows) / len(rows))


def _words_only_below(P: Tensor, sentences: Sentences, bos: int, eos: int) -> tuple[float, float]:
    rows = _surprises(P, sentences, bos, eos)
    total = sum(map(sum, rows))
    return total, math.exp(total / sum(len(s) for s in sentences))


def _mixed_bases(P: Tensor, sentences: Sentences, bos: int, eos: int) -> tuple[float, float]:
    total, _ = _perplexity(P, sentences, bos, eos)
    n = sum(len(s) + 1 for s in sentences)
    return total / math.log(2), math.exp(total / math.log(2) / n)


def _bits(P: Tensor, sentences: Sentences, bos: int, eos: int) -> tuple[float, float]:
    total, perplexity = _perplexity(P, sentences, bos, eos)
    return total / math.log(2), perplexity


def _arithmetic(P: Tensor, sentences: Sentences, bos: int, eos: int) -> tuple[float, float]:
    every = [x for row in _surprises(P, sentences, bos, eos) for x in row]
    return sum(every), sum(math.exp(x) for x in every) / len(every)


PERPLEXITY = Exercise(
    name="ngrams.perplexity",
    title="Perplexity",
    signature="perplexity(probabilities, sentences, bos, eos)",
    arguments=("probabilities", "sentences", "bos", "eos"),
    returns=RETURNS,
    minutes=20,
    difficulty="medium",
    reference=_perplexity,
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
    misconceptions=(
        Misconception(
            id="eos-left-out",
            sentence=(
                "You did not ask for `<eos>`. That the sentence ends is predicted, too, and it costs: without it a"
                " model that never stops would look better than it is."
            ),
            implementation=_eos_left_out,
        ),
        Misconception(
            id="first-words-left-out",
            sentence=(
                "The first word of each sentence is missing. It is predicted from `<bos>`: `probabilities[bos, word]`."
            ),
            implementation=_first_words_left_out,
        ),
        Misconception(
            id="mean-of-perplexities",
            sentence=(
                "You averaged the sentences' perplexities. A hard short sentence then weighs more than a long easy one."
                " Add up all the log losses first, divide once, take the exponential once."
            ),
            implementation=_mean_of_perplexities,
        ),
        Misconception(
            id="mean-of-means",
            sentence=(
                "You averaged over sentences the mean over words. Every *word* counts alike: divide the sum of all log"
                " losses by the number of all predicted words."
            ),
            implementation=_mean_of_means,
        ),
        Misconception(
            id="eos-above-not-below",
            sentence=(
                "The log loss counts `<eos>`, but you divide by the number of words without it. Divide by what was"
                " predicted: one more per sentence."
            ),
            implementation=_words_only_below,
        ),
        Misconception(
            id="log-and-exp-of-two-bases",
            sentence=(
                "The logarithm has base 2 and the exponential base e. Either is fine if both agree; here both are"
                " natural: `log` and `exp`."
            ),
            implementation=_mixed_bases,
        ),
        Misconception(
            id="bits",
            sentence=(
                "Your log loss is in bits (base 2). Your perplexity is right, since 2 to the bits is e to the nats;"
                " here the log loss is asked in nats, with the natural logarithm."
            ),
            implementation=_bits,
        ),
        Misconception(
            id="arithmetic-mean",
            sentence=(
                "You averaged 1/P itself. Perplexity is the *geometric* mean of 1/P: the exponential of the mean of"
                " −ln P. One improbable word would rule the arithmetic mean."
            ),
            implementation=_arithmetic,
        ),
    ),
    closed=REFERENCE_ITSELF,
)
