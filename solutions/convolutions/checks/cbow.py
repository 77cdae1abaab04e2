"""Question 1b: CBOW's loss on a text, and its gradients by hand."""

from torch import Tensor

from autograder.exercise.declare import question, shapes, values
from autograder.exercise.draw import Draw
from autograder.exercise.specification import Case, case
from solutions.convolutions.checks.common import repeated


def _different(draw: Draw, count: int) -> Tensor:
    return draw.integers(0, 10**9, count).argsort()


def _texts(draw: Draw) -> list[Case]:
    """All words different, so that no row of E is used twice at one position."""
    d, m = draw.sizes(2)
    time = 2 * m + 2
    words = _different(draw, time + 1)[:time]
    return [case("words that are all different", words, m, draw.normal(time + 1, d), draw.normal(time + 1, d))]


def _repeated(draw: Draw) -> list[Case]:
    vocab, d = draw.sizes(2)
    words = repeated(draw, 7, vocab)
    return [case("words that occur again", words, 2, draw.normal(vocab, d), draw.normal(vocab, d))]


def _odd(draw: Draw) -> list[Case]:
    vocab, d = draw.sizes(2)
    few = draw.integers(0, vocab - 1, 3)
    large = draw.normal(vocab, d).double() * 30
    return [
        case("a text of two words", _different(draw, 2), 1, draw.normal(2, d), draw.normal(2, d)),
        case("a window wider than the text", few, 5, draw.normal(vocab, d), draw.normal(vocab, d)),
        case("scores around 300, float64", repeated(draw, 4, vocab), 1, large, draw.normal(vocab, d).double() * 10),
        case("square tables", draw.integers(0, d - 1, 5), 2, draw.normal(d, d), draw.normal(d, d)),
    ]


CBOW = question(
    "convolutions.cbow",
    minutes=35,
    difficulty="hard",
    returns=("loss", "d_E", "d_U"),
    properties=[
        shapes(0.25, _texts, "each gradient has its table's shape"),
        values("the loss", 1, _texts, "loss"),
        values("the gradient of U", 1, _texts, "d_U"),
        values("the gradient of E", 1.25, _texts, "d_E"),
        values("words that occur again", 0.75, _repeated),
        values("two words, a wide window, large scores", 0.75, _odd),
    ],
    numpy=True,
    mistakes="""
centre-averaged: Your average includes the word at position t itself. It is the word to predict, so the model can see
the answer, and the loss gets far too small.
- (apart > 0) & (apart <= m) → apart <= m

divided-by-2m: You divide by 2m everywhere. Near the ends of the text a context has fewer positions: divide by the
number that it has.
- near / near.sum(axis=1, keepdims=True) → near / (2 * m)

sum-for-mean: Your h is the sum of the context's vectors. CBOW here takes their mean: otherwise the size of h depends
on the position in the text.
- near / near.sum(axis=1, keepdims=True) → near.astype(float)

one-side-only: Your context has only the words before position t, or the first one has none and you took that as zeros.
CBOW looks to both sides.
- (apart > 0) & → (positions[:, None] > positions) &
- near.sum(axis=1, keepdims=True) → near.sum(axis=1, keepdims=True).clip(min=1)

equal-words-left-out: You left out the neighbours that are the same *word* as the centre. Only its own *position* is
left out; the same word two positions later is a neighbour like any other.
- (apart > 0) & (apart <= m) → (apart > 0) & (apart <= m) & (words[:, None] != words)
- near.sum(axis=1, keepdims=True) → near.sum(axis=1, keepdims=True).clip(min=1)

gradient-not-shared: Every word of a context gets the whole gradient of h. In the mean each of n words counts 1/n, so
each gets 1/n of it.
- average.T @ → near.T @

shared-by-the-wrong-count: You divide by the number of neighbours of the word that *receives* the gradient. What counts
is the size of the context in which it was averaged, so the matrix of the averages is transposed on the way back.
- average.T @ → average @

repeated-rows-overwritten: Where a word occurs several times, your row of E keeps the gradient of only one occurrence:
`d_E[words] = …` and `d_E[words] += …` write a repeated row only once. Add them all: `np.add.at`.
- np.add.at(d_E, words, d_x) → d_E[words] += d_x
or
- np.add.at(d_E, words, d_x) → d_E[words[::-1]] = d_x[::-1]

one-hot-forgotten: Your gradient of the scores is the softmax. Subtract 1 for the true word: the gradient of each
position's scores sums to 0.
- d_score[positions, words] -= 1 →

mean-forgotten-in-the-gradient: Your loss is a mean over the positions, but your gradients are those of the sum. They
are T times as large as they should be.
- d_score = d_score / len(words) →

sum-of-the-losses: You added the losses of the positions. L is their mean.
- .mean() → .sum()
- d_score = d_score / len(words) →

sign: Your gradients have the wrong sign: they point uphill. It is softmax minus one-hot.
- d_score / len(words) → -d_score / len(words)

u-not-its-context: For U you multiplied the gradient of the scores by the vector of the word at t. Its partner in the
score is h, the average of the context.
- d_score.T @ h → d_score.T @ E[words]

e-and-u-swapped: You swapped the two gradients, or the two tables. The averages are made of E, and U has the rows that
they are compared with.
- return loss, d_E, d_score.T @ h → return loss, d_score.T @ h, d_E
or
^ E, U = U, E
""",
)
