"""Questions 5a and 5b: the wrong line of a colleague's backward pass."""

from torch import Tensor

from autograder.exercise.declare import question, values
from autograder.exercise.draw import Draw
from autograder.exercise.listing import listing_of
from autograder.exercise.special import wrong_line
from autograder.exercise.specification import Case, case
from solutions.convolutions.checks.common import doubles


def _backward(draw: Draw, label: str, batch: int, time: int, k: int, dilation: int) -> Case:
    d_in, d_out = draw.sizes(2)
    given = draw.normal(batch, time, d_in), draw.normal(k, d_in, d_out), draw.normal(batch, time, d_out)
    return case(label, *given, dilation)


def _plain(draw: Draw) -> list[Case]:
    return [_backward(draw, "width 3", draw.size(), 7, 3, 1)]


def _odd(draw: Draw) -> list[Case]:
    short = _backward(draw, "", 2, 3, 4, 1)
    arguments: list[Tensor | list[Tensor]] = doubles(*short.calls[0][:3])
    return [
        _backward(draw, "a dilation", draw.size(), 8, 2, 3),
        case("a text shorter than the filter, float64", *arguments, 1),
        _backward(draw, "one text", 1, 6, 3, 2),
    ]


CONVOLUTION_BACKWARD = question(
    "convolutions.convolution_backward",
    minutes=5,
    difficulty="easy",
    returns=("d_x", "d_weight", "d_bias"),
    properties=[
        values("the gradient of the weights", 0.5, _plain, "d_weight"),
        values("the gradient of the inputs", 0.5, _plain, "d_x"),
        values("dilations, and a short text", 1, _odd),
    ],
    numpy=True,
    planted="* j * dilation → past - j * dilation",
    mistakes="""
dilation-lost: You mended the direction of the slices and lost the dilation: matrix j starts j dilations after the
start of the padded text.
- slice(j * dilation, j * dilation + x.shape[1]) → slice(j, j + x.shape[1])

always-the-newest: All your matrices get the slice of the current positions. Each has its own.
- slice(j * dilation, j * dilation + x.shape[1]) → slice(past, past + x.shape[1])

averaged-over-texts: You also took a mean over the texts. The sum was right: each text adds to the gradient of the
weights; if the loss is a mean, d_y already contains the division.
- .sum(axis=0) → .mean(axis=0)

overwritten: You also changed `+=`. It was right: a position lies in the slices of several matrices, and gets the sum
of their gradients.
- d_padded[:, window] += → d_padded[:, window] =

start-for-the-end: You also changed which part of `d_padded` is returned. It was right: the zeros come first, and the
text follows.
- d_padded[:, past:] → d_padded[:, : x.shape[1]]

zeros-behind: You also moved the zeros behind the text. They were right in front: the convolution is causal.
- [np.zeros((len(x), past, x.shape[2])), x] → [x, np.zeros((len(x), past, x.shape[2]))]
""",
)

_listing = listing_of(CONVOLUTION_BACKWARD)
_at = _listing.number

WRONG_LINE = wrong_line(
    "convolutions.wrong_line",
    CONVOLUTION_BACKWARD,
    minutes=10,
    points=1,
    mistakes=f"""
sum-suspected: Line {_at("+=")} is right: a position lies in the slices of several matrices, so its gradient is a sum.
- {_listing.wrong} → {_at("+=")}

weights-suspected: Line {_at("d_weight[j]")} is right: a transposed input times the gradient of the output, summed over
the texts. But which inputs does it get?
- {_listing.wrong} → {_at("d_weight[j]")}

past-suspected: Line {_at("past =")} is right: a filter of width k with dilation δ reaches (k − 1)·δ back, as in 2a.
- {_listing.wrong} → {_at("past =")}

padding-suspected: Line {_at("padded = np.concatenate")} is right: the zeros of a causal convolution are in front.
- {_listing.wrong} → {_at("padded = np.concatenate")}

bias-suspected: Line {_at("d_bias =")} is right: the bias is added at every position of every text, so its gradient is
the sum over both.
- {_listing.wrong} → {_at("d_bias =")}

result-suspected: Line {_at("return")} is right: the zeros in front are not part of the text, and their gradient is
dropped.
- {_listing.wrong} → {_at("return")}
""",
)
