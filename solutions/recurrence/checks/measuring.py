"""Question 2b: the perplexity of a recurrent network on a long text, read in chunks."""

import torch

from autograder.exercise.declare import question, values
from autograder.exercise.draw import Draw
from autograder.exercise.specification import Case, case
from solutions.recurrence.checks.common import weights


def _case(draw: Draw, label: str, time: int, k: int, surprise: float = 0.0) -> Case:
    vocab, hidden = draw.sizes(2)
    ids, (W, U, b) = draw.integers(0, vocab - 1, time), weights(draw, vocab, hidden)
    c = draw.normal(vocab)
    if surprise:
        ids = torch.cat([draw.integers(0, vocab - 2, time - 1), torch.tensor([vocab - 1])])
        c[-1] -= surprise
    return case(label, ids, W, U, b, draw.normal(hidden, vocab), c, k)


def _one(draw: Draw) -> list[Case]:
    time = draw.integer(5, 8)
    return [_case(draw, "one chunk", time, time - 1)]


def _several(draw: Draw) -> list[Case]:
    k = draw.integer(2, 3)
    return [_case(draw, "several chunks of equal length", 3 * k + 1, k)]


def _odd(draw: Draw) -> list[Case]:
    return [
        _case(draw, "a shorter chunk at the end", 9, 3),
        _case(draw, "chunks of one character", 4, 1),
        _case(draw, "a chunk longer than the text", 4, 9),
        _case(draw, "a character that is hardly possible", 8, 3, 120.0),
    ]


PERPLEXITY = question(
    "recurrence.perplexity",
    minutes=25,
    difficulty="medium",
    returns=("perplexity",),
    properties=[
        values("a text in one chunk", 1, _one),
        values("several chunks", 1.5, _several),
        values("chunks of any size, and an unlikely character", 1.5, _odd),
    ],
    numpy=True,
    mistakes="""
state-lost: Each of your chunks starts from a state of zeros, so the network forgets everything at each boundary. Pass
the last state of a chunk on to the next.
- states, h = rnn_forward → states, _ = rnn_forward

prediction-lost-at-the-boundary: You lose one prediction per chunk: the last character of a chunk must predict the first
of the next one. A chunk has as many targets as inputs, one position later.
- ids[start + 1 : start + k + 1] → ids[start + 1 : start + k]
or
- ids[start + 1 : start + k + 1] → ids[start + 1 : start + k]
- (len(ids) - 1)) → (len(ids) - 1 - len(range(0, len(ids) - 1, k))))

mean-of-the-chunks: You took the mean of the chunks' losses. Then a prediction in a short chunk counts more than the
others: add up all losses and divide once.
- loss * len(targets) → loss
- (len(ids) - 1)) → len(range(0, len(ids) - 1, k)))

mean-of-the-perplexities: You took the mean of perplexities. Take the mean of all losses first, and the exponential
once.
- loss * len(targets) → np.exp(loss) * len(targets)
- np.exp(total / (len(ids) - 1)) → total / (len(ids) - 1)

loss-for-perplexity: That is the mean loss, in nats per character. The perplexity is e to that power.
- np.exp(total / (len(ids) - 1)) → total / (len(ids) - 1)

power-of-two: Your losses are in nats, with the natural logarithm, so the perplexity is a power of e. Powers of 2 belong
to bits.
- np.exp(total / (len(ids) - 1)) → 2 ** (total / (len(ids) - 1))

first-character-counted: You divided by the number of characters. The first one is not predicted: there is one
prediction fewer.
- (len(ids) - 1)) → len(ids))

not-shifted: Your targets are the inputs: the network is asked for the character that it has just read.
- targets = ids[start + 1 : start + k + 1] → targets = ids[start : start + k][: len(ids) - 1 - start]

rest-dropped: You leave out the end of the text if it does not fill a chunk. A shorter chunk is also a chunk.
- range(0, len(ids) - 1, k) → range(0, max(1, (len(ids) - 1) // k) * k, k)

output-bias-forgotten: You left out c. The logits are h V + c.
- states @ V + c → states @ V
""",
)
