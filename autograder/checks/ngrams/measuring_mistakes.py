"""What is measured wrongly in question 3, each mistake with its sentence; and the right measure, which they go by."""

import math
from itertools import pairwise

import torch
from torch import Tensor

from autograder.checks.ngrams.common import Sentences
from autograder.exercise.specification import Misconception


def surprises(probabilities: Tensor, sentences: Sentences, bos: int, eos: int) -> list[list[float]]:
    """-ln P of every predicted word, `<eos>` included, sentence by sentence."""
    return [
        [-math.log(float(probabilities[a, b])) for a, b in zip([bos, *s], [*s, eos], strict=True)] for s in sentences
    ]


def perplexity(probabilities: Tensor, sentences: Sentences, bos: int, eos: int) -> tuple[float, float]:
    every = [x for row in surprises(probabilities, sentences, bos, eos) for x in row]
    return sum(every), math.exp(sum(every) / len(every))


def _first_words_left_out(P: Tensor, sentences: Sentences, bos: int, eos: int) -> tuple[float, float]:
    rows = [row[1:] for row in surprises(P, sentences, bos, eos)]
    total, n = sum(map(sum, rows)), sum(map(len, rows))
    return total, math.exp(total / max(n, 1))


def _eos_left_out(P: Tensor, sentences: Sentences, bos: int, eos: int) -> tuple[float, float]:
    rows = [row[:-1] for row in surprises(P, sentences, bos, eos)]
    total, n = sum(map(sum, rows)), sum(map(len, rows))
    return total, math.exp(total / n)


def _mean_of_perplexities(P: Tensor, sentences: Sentences, bos: int, eos: int) -> tuple[float, float]:
    rows = surprises(P, sentences, bos, eos)
    return sum(map(sum, rows)), sum(math.exp(sum(row) / len(row)) for row in rows) / len(rows)


def _mean_of_means(P: Tensor, sentences: Sentences, bos: int, eos: int) -> tuple[float, float]:
    rows = surprises(P, sentences, bos, eos)
    return sum(map(sum, rows)), math.exp(sum(sum(row) / len(row) for row in rows) / len(rows))


def _words_only_below(P: Tensor, sentences: Sentences, bos: int, eos: int) -> tuple[float, float]:
    rows = surprises(P, sentences, bos, eos)
    total = sum(map(sum, rows))
    return total, math.exp(total / sum(len(s) for s in sentences))


def _mixed_bases(P: Tensor, sentences: Sentences, bos: int, eos: int) -> tuple[float, float]:
    total, _ = perplexity(P, sentences, bos, eos)
    n = sum(len(s) + 1 for s in sentences)
    return total / math.log(2), math.exp(total / math.log(2) / n)


def _nats_under_two(P: Tensor, sentences: Sentences, bos: int, eos: int) -> tuple[float, float]:
    total, _ = perplexity(P, sentences, bos, eos)
    return total, 2 ** (total / sum(len(s) + 1 for s in sentences))


def _bits(P: Tensor, sentences: Sentences, bos: int, eos: int) -> tuple[float, float]:
    total, right = perplexity(P, sentences, bos, eos)
    return total / math.log(2), right


def _arithmetic(P: Tensor, sentences: Sentences, bos: int, eos: int) -> tuple[float, float]:
    every = [x for row in surprises(P, sentences, bos, eos) for x in row]
    return sum(every), sum(math.exp(x) for x in every) / len(every)


def _mean_for_sum(P: Tensor, sentences: Sentences, bos: int, eos: int) -> tuple[float, float]:
    total, right = perplexity(P, sentences, bos, eos)
    return total / sum(len(s) + 1 for s in sentences), right


def _product_first(P: Tensor, sentences: Sentences, bos: int, eos: int) -> tuple[Tensor, Tensor]:
    every = [x for row in surprises(P, sentences, bos, eos) for x in row]
    product = torch.tensor([math.exp(-x) for x in every]).prod()
    return -product.log(), product ** (-1 / len(every))


def _minus_forgotten(P: Tensor, sentences: Sentences, bos: int, eos: int) -> tuple[float, float]:
    total, right = perplexity(P, sentences, bos, eos)
    return -total, 1 / right


def _minus_forgotten_once(P: Tensor, sentences: Sentences, bos: int, eos: int) -> tuple[float, float]:
    total, right = perplexity(P, sentences, bos, eos)
    return -total, right


def _divided_by(P: Tensor, sentences: Sentences, bos: int, eos: int, extra: int) -> tuple[float, float]:
    total, _ = perplexity(P, sentences, bos, eos)
    return total, math.exp(total / sum(len(s) + 1 + extra for s in sentences))


def _joined(P: Tensor, sentences: Sentences, bos: int, eos: int) -> tuple[float, float]:
    line = [w for s in sentences for w in (bos, *s, eos)]
    every = [-math.log(float(P[a, b])) for a, b in pairwise(line)]
    return sum(every), math.exp(sum(every) / len(every))


MISTAKES = (
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
            "The logarithm and the exponential have two bases, 2 and e. Either is fine if both agree; here both are"
            " natural: `log` and `exp`."
        ),
        implementation=_mixed_bases,
        also=(_nats_under_two,),
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
        id="mean-for-sum",
        sentence=(
            "Your log loss is the mean over the predictions. Your perplexity is right; asked beside it is L, the"
            " *sum* of all −ln P."
        ),
        implementation=_mean_for_sum,
    ),
    Misconception(
        id="product-first",
        sentence=(
            "You multiplied the probabilities and took the logarithm of the product. Of a long text the product is"
            " too small for any float, it becomes 0: add up logarithms from the beginning."
        ),
        implementation=_product_first,
    ),
    Misconception(
        id="minus-forgotten",
        sentence=(
            "The minus sign is missing: the logarithm of a probability is negative, and what surprises should count"
            " as more, so it is −ln P. A perplexity is never below 1."
        ),
        implementation=_minus_forgotten,
        also=(_minus_forgotten_once,),
    ),
    Misconception(
        id="bos-counted-below",
        sentence=(
            "You divided by a number that counts `<bos>` as well. `<bos>` is never predicted: M is the words and"
            " one `<eos>` per sentence."
        ),
        implementation=lambda P, sentences, bos, eos: _divided_by(P, sentences, bos, eos, 1),
    ),
    Misconception(
        id="sentences-joined",
        sentence=(
            "You also asked how probable the `<bos>` of a sentence is after the `<eos>` of the one before it. Each"
            " sentence stands alone, and `<bos>` is never predicted."
        ),
        implementation=_joined,
    ),
    Misconception(
        id="row-and-column-exchanged",
        sentence=(
            "You read the table by columns, `probabilities[word, context]`. The row is the context:"
            " `probabilities[context, word]`."
        ),
        implementation=lambda P, sentences, bos, eos: perplexity(P.T, sentences, bos, eos),
    ),
    Misconception(
        id="arithmetic-mean",
        sentence=(
            "You averaged 1/P itself. Perplexity is the *geometric* mean of 1/P: the exponential of the mean of"
            " −ln P. One improbable word would rule the arithmetic mean."
        ),
        implementation=_arithmetic,
    ),
)
