"""Questions 6a and 6b: the wrong line of a colleague's backward pass."""

from autograder.exercise.declare import question, values
from autograder.exercise.draw import Draw
from autograder.exercise.listing import listing_of
from autograder.exercise.special import wrong_line
from autograder.exercise.specification import Case, case


def _block(draw: Draw) -> list[Case]:
    batch, d, hidden = draw.sizes(3)
    return [
        case(
            "several examples",
            draw.normal(batch, d),
            draw.normal(d, hidden),
            draw.normal(hidden, d),
            draw.normal(batch, d),
        )
    ]


RESIDUAL_BACKWARD = question(
    "backpropagation.residual_backward",
    minutes=5,
    difficulty="easy",
    returns=("d_x", "d_W", "d_V"),
    properties=[
        values("the gradients of the matrices", 1.25, _block, "d_W", "d_V"),
        values("the gradient of the input", 0.75, _block, "d_x"),
    ],
    numpy=True,
    planted="- (a > 0) → h",
    mistakes="""
path-around-lost: The gradient of x lost the path around the layer. x reaches y along two paths, and their gradients
add.
- d_y + d_a @ W.T → d_a @ W.T

path-around-twice: The path around passes on d_y as it is, once. You added it twice.
- d_y + d_a @ W.T → 2 * d_y + d_a @ W.T

slope-of-tanh: 1 − h² is the slope of tanh. relu has the slope 1 above 0 and 0 below.
- (a > 0) → (1 - h**2)

gradient-masked-by-itself: You let the gradient through where the *gradient* is above 0. What counts is whether the
input of relu was.
- d_h * (a > 0) → np.maximum(d_h, 0)

nothing-masked: You pass on the gradient everywhere. Below 0, relu is flat: nothing that happens there reaches y.
- d_h * (a > 0) → d_h

mask-inverted: Your mask is inverted: relu is flat *below* 0, and there the gradient is 0.
- a > 0 → a <= 0
""",
)

_listing = listing_of(RESIDUAL_BACKWARD)
_at = _listing.number

WRONG_LINE = wrong_line(
    "backpropagation.wrong_line",
    RESIDUAL_BACKWARD,
    minutes=10,
    points=1,
    mistakes=f"""
relu-suspected: Line {_at("h = np")} is right: the larger of a and 0 is relu.
- {_listing.wrong} → {_at("h = np")}

upper-matrix-suspected: Line {_at("d_V =")} is right: input of the product, transposed, times upstream gradient.
- {_listing.wrong} → {_at("d_V =")}

hidden-suspected: Line {_at("d_h =")} is right: it is the gradient of the product's input, as in 2a.
- {_listing.wrong} → {_at("d_h =")}

symptom-not-cause: Line {_at("d_W =")} gives wrong values, but it does what it should with its input. Where did that
come from?
- {_listing.wrong} → {_at("d_W =")}

sum-suspected: Line {_at("d_x =")} is right: x reaches y along two paths, one of which is the identity.
- {_listing.wrong} → {_at("d_x =")}
""",
)
