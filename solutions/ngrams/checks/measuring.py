"""Question 3: log loss and perplexity of a text under a table of probabilities."""

import torch
from torch import Tensor

from autograder.exercise.declare import holds, question, values
from autograder.exercise.draw import Draw
from autograder.exercise.kinds import DIGITS
from autograder.exercise.laws.ngrams import exponential_of_the_mean
from autograder.exercise.specification import Case
from solutions.ngrams.checks.common import CLOSED, Sentences, several_digits, text
from solutions.ngrams.checks.counting import COUNT_BIGRAMS


def _case(label: str, draw: Draw, number: int, double: bool = False) -> Case:
    vocab_size = draw.largest + 3
    sentences, bos, eos = text(draw, vocab_size, number, 6)
    if label.endswith("twice"):
        sentences.append(list(sentences[0]))
    counts = COUNT_BIGRAMS.reference(sentences[: max(1, number - 1)], vocab_size, bos, eos)
    counts = counts + 0.5 + draw.integers(0, 3, vocab_size, 1)
    probabilities = counts / counts.sum(1, keepdim=True)
    return _known(label, probabilities.double() if double else probabilities, sentences, bos, eos)


def _known(label: str, probabilities: Tensor, sentences: Sentences, bos: int, eos: int) -> Case:
    """A case that knows the number of predictions and the right perplexity."""
    arguments = (probabilities, sentences, bos, eos)
    predicted, right = sum(len(s) + 1 for s in sentences), PERPLEXITY.reference(*arguments)[1]
    return Case(label=label, calls=(arguments,), known=(torch.tensor(predicted), torch.tensor(right)))


def _improbable(draw: Draw) -> Case:
    """A model that is nearly certain of a different word: the text's probability, as a product, underflows to 0 in any
    float."""
    vocab_size = draw.largest + 3
    sentences, bos, eos = text(draw, vocab_size, 12, 6)
    while sum(len(s) + 1 for s in sentences) < 40:
        sentences.append(list(sentences[0]))
    probabilities = (1 + draw.integers(0, 8, vocab_size, vocab_size)) * 1e-10
    probabilities[:, bos] = 1 - (probabilities.sum(1) - probabilities[:, bos])
    return _known("a long text of improbable words", probabilities.float(), sentences, bos, eos)


def _digits(draw: Draw) -> Case:
    sentences, size, bos, eos = several_digits(draw)
    return _known(DIGITS, torch.softmax(draw.normal(size, size).double(), -1).float(), sentences, bos, eos)


def _several(draw: Draw) -> list[Case]:
    return [_case("sentences of several lengths", draw, 4)]


def _edges(draw: Draw) -> list[Case]:
    return [
        _case("one sentence, float64", draw, 1, double=True),
        _case("many sentences, one of them twice", draw, 8),
        _improbable(draw),
        _digits(draw),
    ]


PERPLEXITY = question(
    "ngrams.perplexity",
    minutes=20,
    difficulty="medium",
    returns=("log_loss", "perplexity"),
    properties=[
        values("the log loss of all sentences", 1.5, _several, "log_loss"),
        holds("the perplexity, given your log loss", 1.5, _several, exponential_of_the_mean),
        values("one sentence, and many", 1, _edges),
    ],
    closed=CLOSED,
    mistakes="""
eos-left-out: You left out `<eos>`. The end of a sentence is predicted as well and adds to the loss: without it a model
that never stops would look better than it is.
- [*sentence, eos], strict=True → sentence

first-words-left-out: You left out the first word of each sentence. It is predicted from `<bos>`: `probabilities[bos,
word]`.
- [bos, *sentence], [*sentence, eos], strict=True → sentence, [*sentence[1:], eos]

mean-of-perplexities: You averaged the perplexities of the sentences, so a difficult short sentence counts more than an
easy long one. Sum all log losses first, divide once, take the exponential once.
+ rows = [[-math.log(probabilities[a, b]) for a, b in zip([bos, *s], [*s, eos])] for s in sentences]
+ return sum(map(sum, rows)), sum(math.exp(sum(row) / len(row)) for row in rows) / len(rows)

mean-of-means: You averaged the sentences' means per word. Every *word* counts the same: divide the sum of all log
losses by the number of all predicted words.
+ rows = [[-math.log(probabilities[a, b]) for a, b in zip([bos, *s], [*s, eos])] for s in sentences]
+ return sum(map(sum, rows)), math.exp(sum(sum(row) / len(row) for row in rows) / len(rows))

eos-above-not-below: Your log loss includes `<eos>`, but you divide by the number of words without it. Divide by the
number of predictions: one more per sentence.
- log_loss / predicted → log_loss / (predicted - len(sentences))

log-and-exp-of-two-bases: Your logarithm and your exponential have different bases, 2 and e. Either base is fine if both
agree; here both are natural: `log` and `exp`.
- math.log → math.log2
or
- math.exp(log_loss / predicted) → 2 ** (log_loss / predicted)

bits: Your log loss is in bits (base 2). Your perplexity is right, because 2 to the bits is e to the nats; but return
the log loss in nats, with the natural logarithm.
- return log_loss → return log_loss / math.log(2)

mean-for-sum: Your log loss is the mean over the predictions. Your perplexity is right; but return L, the *sum* of all
−ln P, next to it.
- return log_loss → return log_loss / predicted

product-first: You multiplied the probabilities and took the logarithm of the product. For a long text the product is
too small for any float and becomes 0: add logarithms from the start.
^ product = torch.tensor(1.0)
- log_loss -= math.log(probabilities[before, word]) → product = product * probabilities[before, word].float()
- log_loss, math.exp(log_loss / predicted) → -product.log(), product ** (-1 / predicted)

minus-forgotten: You left out the minus sign: the logarithm of a probability is negative, and a more surprising word
should count more, so use −ln P. A perplexity is never below 1.
- -= → +=
or
- return log_loss → return -log_loss

bos-counted-below: You divided by a number that includes `<bos>`. `<bos>` is never predicted: M is the number of words
plus one `<eos>` per sentence.
- log_loss / predicted → log_loss / (predicted + len(sentences))

sentences-joined: You also predicted the `<bos>` of a sentence from the `<eos>` of the previous one. Each sentence is
separate, and `<bos>` is never predicted.
^ sentences = [[word for sentence in sentences for word in (bos, *sentence, eos)]]
- [bos, *sentence], [*sentence, eos], strict=True → sentence, sentence[1:]

row-and-column-exchanged: You indexed the table by column, `probabilities[word, context]`. The row is the context:
`probabilities[context, word]`.
- before, word] → word, before]

arithmetic-mean: You averaged 1/P itself. Perplexity is the *geometric* mean of 1/P: the exponential of the mean of −ln
P. One improbable word would dominate the arithmetic mean.
^ inverse = 0.0
- predicted += 1
+ predicted += 1
+         inverse += 1 / float(probabilities[before, word])
- math.exp(log_loss / predicted) → inverse / predicted
""",
)
