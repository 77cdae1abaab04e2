"""Question 1b: the cell with one gate."""

from autograder.exercise.declare import holds, question, shapes, values
from autograder.exercise.draw import Draw
from autograder.exercise.specification import Case
from solutions.gates.checks.common import any_sizes, blocks, odd_sizes
from solutions.gates.laws import mixes


def _cell(draw: Draw, batch: int, n_in: int, hidden: int) -> Case:
    (W_R, W_G), (U_R, U_G), (b_R, b_G) = blocks(draw, 2, n_in, hidden)
    h = draw.normal(batch, hidden)
    arguments = (draw.normal(batch, n_in), h, W_R, U_R, b_R, W_G, U_G, b_G)
    return Case(label="a batch", calls=(arguments,), known=(h,))


_cells, _odd = any_sizes(_cell), odd_sizes(_cell)

UGRNN_STEP = question(
    "gates.ugrnn_step",
    minutes=20,
    difficulty="easy",
    returns=("new", "G", "R"),
    properties=[
        shapes(0.25, _cells),
        values("the gate", 0.75, _cells, "G"),
        values("the candidate", 0.5, _cells, "R"),
        holds("mixed with your own gate", 0.5, _cells, mixes(1, 2)),
        values("the new state", 0.5, _cells, "new"),
        values("everything, odd sizes", 0.5, _odd),
    ],
    numpy=True,
    mistakes="""
gate-the-other-way-round: Gate and candidate are right, but you mixed them the wrong way round: G is the fraction of h
that is *kept*, 1 − G the fraction of R that is written.
- G * h + (1 - G) * R → (1 - G) * h + G * R

candidate-in-full: You added R in full. Only 1 − G of it is written: what is kept and what is written sum to 1.
- (1 - G) * R → R

bias-subtracted: You subtracted the biases. The lecture's slide writes −B; most libraries, and this question, write + b.
With the wrong sign a gate that should start open starts closed.
^ b_R, b_G = -b_R, -b_G

weights-exchanged: You computed the gate with the candidate's weights and the candidate with the gate's. The weights
with the index R belong to R.
^ W_R, U_R, b_R, W_G, U_G, b_G = W_G, U_G, b_G, W_R, U_R, b_R

tanh-gate: Your gate is a tanh, so it can be negative, and a negative fraction means nothing. Gates are sigmoids,
candidates are tanhs.
- sigmoid → np.tanh

sigmoid-candidate: Your candidate is a sigmoid, so it can only be positive. What is written may be negative: use a tanh.
- np.tanh → sigmoid

u-transposed: You transposed the matrices U. Vectors are rows here, so the state multiplies U from the left: h U.
(PyTorch's weight_hh is our U transposed.)
^ U_R, U_G = U_R.T, U_G.T

gate-and-candidate-exchanged: The new state is right. After it return first the gate, then the candidate: you return R
before G.
- , G, R → , R, G

gate-without-the-past: Your gate sees only the new word. Whether to keep the state also depends on the state: add h U_G
to the sum.
- x @ W_G + h @ U_G → x @ W_G
""",
)
