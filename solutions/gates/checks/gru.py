"""Question 2: the GRU's step."""

from autograder.exercise.declare import holds, question, shapes, values
from autograder.exercise.draw import Draw
from autograder.exercise.specification import Case
from solutions.gates.checks.common import any_sizes, blocks, odd_sizes
from solutions.gates.laws import mixes


def _cell(draw: Draw, batch: int, n_in: int, hidden: int) -> Case:
    h = draw.normal(batch, hidden)
    arguments = (draw.normal(batch, n_in), h, *blocks(draw, 3, n_in, hidden), draw.normal(hidden))
    return Case(label="a batch", calls=(arguments,), known=(h,))


_cells, _odd = any_sizes(_cell), odd_sizes(_cell)

GRU_STEP = question(
    "gates.gru_step",
    minutes=25,
    difficulty="medium",
    returns=("new", "r", "z", "n"),
    properties=[
        shapes(0.25, _cells),
        values("the two gates", 1, _cells, "r", "z"),
        values("the candidate", 1, _cells, "n"),
        holds("mixed with your own gate", 0.75, _cells, mixes(2, 3)),
        values("the new state", 0.5, _cells, "new"),
        values("everything, odd sizes", 0.5, _odd),
    ],
    numpy=True,
    mistakes="""
z-the-other-way-round: You swapped z and 1 − z. Here, as in Cho et al. (2014) and PyTorch, z is the fraction that is
*kept*; some texts define it the other way round. Both are valid models, but their weights are not interchangeable.
- z * h + (1 - z) * n → (1 - z) * h + z * n

reset-before-the-product: You reset h before multiplying it by U: the form that Cho et al. printed. Here, as in PyTorch,
the reset comes after the product: r ⊙ (h U + d). The two agree with one unit and d = 0, but not with more units.
- r * (h @ U[2] + d) → (r * h) @ U[2] + d

input-reset-too: You also applied the reset gate to the input term. It decides how much of the *past* the candidate
sees; x W + b stays outside.
- x @ W[2] + b[2] + r * (h @ U[2] + d) → r * (x @ W[2] + b[2] + h @ U[2] + d)
or
- x @ W[2] + b[2] + r * (h @ U[2] + d) → b[2] + r * (x @ W[2] + h @ U[2] + d)

bias-outside-the-reset: You added d outside the reset. It belongs to the term from h, r ⊙ (h U + d), which is why it
cannot be merged with b.
- r * (h @ U[2] + d) → r * (h @ U[2]) + d

both-biases-inside: You put the candidate's b inside the reset, next to d. Only the term from h, which is h U + d, is
reset; b belongs to the input and stays outside.
- x @ W[2] + b[2] + r * (h @ U[2] + d) → x @ W[2] + r * (h @ U[2] + b[2] + d)

d-forgotten: Your candidate does not use d. It is a second bias, added to h U inside the reset: r ⊙ (h U + d).
- h @ U[2] + d → h @ U[2]

no-reset: You compute r but never use it: it multiplies the candidate's term from h.
- r * (h @ U[2] + d) → h @ U[2] + d

road-reset: You reset h in z ⊙ h as well. r acts only inside the candidate, not on z ⊙ h.
- z * h + → z * (r * h) +

blocks-in-another-order: You swapped the two gates: the blocks come in the order r, z, n.
^ W, U, b = W[[1, 0, 2]], U[[1, 0, 2]], b[[1, 0, 2]]

u-transposed: You transposed the blocks of U. Vectors are rows here, so the state multiplies U from the left: h U.
(PyTorch's weight_hh is our U transposed.)
^ U = U.swapaxes(1, 2)

gates-exchanged: The new state is right, but you return the gates in a different order. Return new, r, z, n.
- , r, z, n → , z, r, n

sigmoid-candidate: Your candidate is a sigmoid, so it can only be positive. What is written may be negative: use a tanh.
- np.tanh → sigmoid

reset-by-z: You reset the candidate's past by z, the gate that mixes. How much of the past the candidate sees is decided
by r.
- r * (h @ U[2] + d) → z * (h @ U[2] + d)
""",
)
