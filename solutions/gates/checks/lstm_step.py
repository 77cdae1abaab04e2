"""Question 3a: the LSTM's step."""

from autograder.exercise.declare import holds, question, shapes, values
from autograder.exercise.draw import Draw
from autograder.exercise.specification import Case
from solutions.gates.checks.common import any_sizes, blocks, odd_sizes
from solutions.gates.laws import remembers, shows


def _cell(draw: Draw, batch: int, n_in: int, hidden: int) -> Case:
    c = draw.normal(batch, hidden) * 1.5
    arguments = (draw.normal(batch, n_in), draw.normal(batch, hidden), c, *blocks(draw, 4, n_in, hidden))
    return Case(label="a batch", calls=(arguments,), known=(c,))


_cells, _odd = any_sizes(_cell), odd_sizes(_cell)

LSTM_STEP = question(
    "gates.lstm_step",
    minutes=25,
    difficulty="medium",
    returns=("new_h", "new_c", "gates"),
    properties=[
        shapes(0.25, _cells),
        values("the gates", 1, _cells, "gates"),
        holds("the memory, from your own gates", 0.75, _cells, remembers),
        holds("the output, from your own memory", 0.75, _cells, shows),
        values("both states", 0.75, _cells, "new_h", "new_c"),
        values("everything, odd sizes", 0.5, _odd),
    ],
    numpy=True,
    mistakes="""
blocks-in-another-order: You read the blocks in the order i, g, f, o, which is TensorFlow's. Here, as in PyTorch, it is
i, f, g, o. The shapes are the same, but the model is not.
^ W, U, b = W[[0, 2, 1, 3]], U[[0, 2, 1, 3]], b[[0, 2, 1, 3]]

candidate-last: You read the blocks as i, f, o, g: the three gates first, as many texts write them. Here the order is i,
f, g, o: the third block is the candidate, the fourth the output gate.
^ W, U, b = W[[0, 1, 3, 2]], U[[0, 1, 3, 2]], b[[0, 1, 3, 2]]

forget-gate-first: You read the blocks with the forget gate first, the order in which an LSTM is usually explained. They
are stored with the input gate first: i, f, g, o.
^ W, U, b = W[[1, 0, 2, 3]], U[[1, 0, 2, 3]], b[[1, 0, 2, 3]]
or
^ W, U, b = W[[1, 0, 3, 2]], U[[1, 0, 3, 2]], b[[1, 0, 3, 2]]

gates-stacked-in-another-order: Both states are right, so your gates are too, but you stack them in a different order.
Return them as i, f, g, o, the order of the blocks.
- np.stack([i, f, g, o]) → np.stack([i, f, o, g])
or
- np.stack([i, f, g, o]) → np.stack([f, i, g, o])
or
- np.stack([i, f, g, o]) → np.stack([f, i, o, g])

sums-for-gates: As gates you return the sums *before* the sigmoids and the tanh. A gate lies between 0 and 1.
- np.stack([i, f, g, o]) → x @ W + h @ U + b[:, None]

no-last-tanh: You return o ⊙ c as h. The memory may have grown large; the tanh keeps the output bounded: o ⊙ tanh(c).
- np.tanh(c) → c

forget-the-other-way-round: You used the forget gate the other way round: despite its name, f is the fraction that is
*kept*, and you keep 1 − f.
- f * c → (1 - f) * c

input-gate-coupled: You let one gate do the work of two, as in a UGRNN, where kept and written fractions sum to 1. Here
f and i are independent: the cell may keep everything and still add to it.
- i * g → (1 - f) * g
or
- f * c → (1 - i) * c

input-and-forget-exchanged: You swapped i and f: f multiplies the old memory, i what is written.
- f * c + i * g → i * c + f * g

input-gate-unused: You compute i but never use it: it says how much of the candidate is written, i ⊙ g.
- i * g → g

u-transposed: You transposed the blocks of U. Vectors are rows here, so the state multiplies U from the left: h U.
(PyTorch's weight_hh is our U transposed.)
^ U = U.swapaxes(1, 2)

h-and-c-exchanged: You return the memory first and the output second. Both have the same shape, and the order is h, then
c.
- o * np.tanh(c), c → c, o * np.tanh(c)

old-memory-shown: You compute h from the memory *before* the step. Update c first, then compute h from it.
- c = f * c + i * g → old, c = c, f * c + i * g
- np.tanh(c) → np.tanh(old)

memory-in-the-gates: Your gates read c. They read h, the previous output; c is private.
^ h = c

sigmoid-candidate: Your candidate g is a sigmoid, so nothing could ever be subtracted from the memory. Use a tanh.
- np.tanh(g) → sigmoid(g)
""",
)
