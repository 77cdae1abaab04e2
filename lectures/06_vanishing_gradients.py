# %% [markdown] slideshow={"slide_type": "slide"}
# # Vanishing and exploding gradients
#
# *When she tried to print her tickets, she found that the printer was out of toner. She went to the stationery store to buy
# more toner. It was very overpriced. After installing the toner into the printer, she finally printed her* ___
#
# You know the word. It stands 46 tokens back. A network that reads from left to right can know it, too, but only if something
# in training told it to keep that word for so long: a gradient.
#
# <img src="figures/06_seen_by_smollm2.svg" width="860" alt="The sentence about the tickets, each word shaded by the gradient of the loss of the next word in SmolLM2. The darkest of all is 'tickets', 46 tokens back.">
#
# <img src="figures/06_seen_by_lstm.svg" width="860" alt="A sentence of the same shape, shaded by the gradient in a small recurrent network. Only the last three words are shaded; 'letters', the word that decides, is white.">
#
# *Dark: a small change of this word's vector would change the loss of the next word much. Above a large network that does not
# read step by step, below a small one that does. This lecture is about the white in the second picture.*
#
# **After this lecture you can**
# - say why the gradient of a recurrent network is a product of matrices, one per step, and what that does to it;
# - read eigenvalues and singular values: what they promise, and what they do not;
# - explain why bounded activations do not bound gradients;
# - measure the gradient of any cell against distance;
# - clip a gradient by its norm, and say which three other things are not that.
#
# **You need** lecture 3 (the chain rule on a graph), lecture 5 (a recurrent network, backpropagation through time), and the
# product of matrices; what more is needed of them is explained. *Vectors are rows*, as in the code.
#
# | section | 1 | 2 | 3 | 4 | 5 | 6 | 7 |
# |---|---|---|---|---|---|---|---|
# | minutes | 6 | 11 | 11 | 9 | 10 | 7 | 6 |
#
# Every cell runs in under ten seconds on a laptop, without a network connection. *To lecture from this notebook:*
# `make present ARGS=06` shows it slide by slide; short of time, skip the code of section 3 and section 7's last cell. *Coming from other slides or a paper?* A table at the end translates their notation.

# %% slideshow={"slide_type": "skip"}
import math

import numpy as np
import torch
from IPython.display import HTML

from nlmcore.corpora import load
from nlmcore.diagnostics import gradient_norms, jacobian_norms, rescale, spectrum
from nlmcore.recurrent import CELLS, RecurrentLM, RNNCell
from lectures import show, stored, widgets
from nlmcore.tokens import CharTokenizer
from nlmcore.training import clip_gradients, teacher_forcing_loss

torch.set_printoptions(precision=2, sci_mode=False)
torch.set_num_threads(1)  # for matrices as small as these one thread is fastest

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 1. A word far back
#
# Two networks are asked for the next word. SmolLM2 is a language model of 135 million parameters (a Transformer: lectures 12
# and 13). The other is a recurrent network over the words of Shakespeare, of 777,096 parameters. "Printer" and "toner" are no
# words to it, so it gets a sentence of the same shape whose words it knows: *she tried to write her letters … she at last did
# write her* ___. (All figures of this section are stored; `python -m lectures.recipes looking_back` measures them again.)
#
# > **Predict before you run.** Put another word in the gap: *write her **books**, … did write her* ___. How does the
# > recurrent network's probability of "books" at the end change: not at all, by a factor of two, or by a factor of a hundred?

# %% slideshow={"slide_type": "fragment"}
back = stored("looking_back")
for name in ("smollm2", "lstm"):
    words = back[name]["known_words"]
    print(f"{name}: P(next word), by the word in the gap")
    for word, row in zip(words, back[name]["known_answers"], strict=True):
        print(f"  {word:9}", *(f"{w} {p:<9.2g}" for w, p in zip(words, row, strict=True)))

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b> (click after you have predicted)</summary>
#
# - SmolLM2 repeats the word of the gap, whichever it is, with a probability of 0.70 or more. In the printer sentence it says
#   "tickets" with 0.46.
# - The recurrent network does not change its answer at all: its four rows are the same to two digits. What stood 41 words back
#   has no effect on what it says.
# - This is no fair race. One network has 170 times the parameters and read far more; and the small one was trained on pieces
#   of 32 words (lecture 5: truncated backpropagation), so no gradient ever told it about a word 41 steps back. But look at the
#   picture above: even *within* 32 words its gradient fades to almost nothing. Why?
# </details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *Ask the room for the missing word, then: how far back did you look? Two minutes. The usual mistake: to read the shading as
# the network's attention. It is a derivative of the loss.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 2. Time is depth, with the same weights in every layer
#
# Unrolled over $T$ words, a recurrent network is a network of $T$ layers. A deep network of lecture 3 had other weights in
# every layer. This one has the *same* weights at every step, and that makes all the difference: what multiplies once,
# multiplies $T$ times.
#
# > **Predict before you run.** With one number for a matrix: what is $0.9^{50}$, about 0.5, 0.05 or 0.005? And $1.1^{50}$?

# %% slideshow={"slide_type": "fragment"}
for w in (0.9, 1.0, 1.1):
    print(f"{w}^t for t = 10, 50, 100:", *(f"{w**t:12.5f}" for t in (10, 50, 100)))

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer</b></summary>
#
# 0.005 and 117. A factor of 1.0 ± 0.1 per step is a factor of some twenty thousand between the two after 50 steps. Only a
# factor of 1 stays, and nothing in training holds it there.
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# A matrix has more than one factor. Take a network without inputs and without a squashing function, $h_t = h_{t-1} W$. Then
#
# $$h_t = h_0\, W^t \qquad \text{(the } t\text{-th power)},$$
#
# and the derivatives of $h_t$ with respect to $h_0$ are the entries of $W^t$.
#
# If $W$ has the **eigenvalue** $\lambda$ (a row vector $v \ne 0$ with $vW = \lambda v$; $\lambda$ may be complex), then
# $W^t$ has $\lambda^t$. The largest $|\lambda|$ is the **spectral radius** $\rho$: in the long run $\|W^t\|$ grows or shrinks
# like $\rho^t$. The **norm** $\|W\|$ is the largest **singular value** $\sigma$: how much *one* multiplication can stretch a
# vector at most. So always $\rho^t \le \|W^t\| \le \sigma^t$.
#
# Three matrices: entries drawn at random; a rotation (an **orthogonal matrix**, which keeps every length); and a chain, in
# which each of six units keeps its value and adds it to the next unit. Each is scaled to the spectral radius on the slider.
#
# > **Predict before you move anything.** At a spectral radius of 0.8 all three must die out in the end. Does one of them grow
# > first? At which radius does the rotation neither grow nor die?

# %% slideshow={"slide_type": "fragment"}
draw = torch.Generator().manual_seed(0)
matrices = {
    "random": rescale(torch.randn(16, 16, generator=draw), 1.0),
    "rotation (orthogonal)": torch.linalg.qr(torch.randn(16, 16, generator=draw)).Q,
    "chain (not normal)": torch.eye(6) + torch.diag(torch.ones(5), 1),
}


def power_norms(W, steps):
    """‖W^t‖ for t = 0 … steps."""
    power, norms = torch.eye(len(W), dtype=W.dtype), []
    for _ in range(steps + 1):
        norms.append(torch.linalg.matrix_norm(power, ord=2))
        power = power @ W
    return norms


widgets.matrix_powers(power_norms, matrices, steps=100)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - **Chain, 0.8**: every eigenvalue is 0.8, and yet $\|W^t\|$ first climbs to 214, at $t = 24$, and then dies: 0.015 at
#   $t = 100$. Eigenvalues tell the end, not the way; for a text of 30 words the way is all there is. Only a **non-normal matrix** can do
#   that: one without a full set of perpendicular eigenvectors ($W W^\top \ne W^\top W$). The chain has a single eigenvector.
# - **Rotation**: at exactly 1, and there it is exactly 1 for ever. All three lines lie on each other: $\rho = \sigma$.
# - **Random**: in between. Its $\sigma$ is 1.65 times its $\rho$; the true line soon runs parallel to $\rho^t$, a
#   little above.
# </details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *Four minutes for this picture. Have somebody read the axis aloud: each line of the grid is a factor of a hundred thousand. The
# usual mistake is to call the chain "exploding": at 0.8 it is below 1 again from t = 75 on.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 3. A product of Jacobians
#
# A real network has inputs and a squashing function:
#
# $$h_t = \tanh(x_t W + h_{t-1} U).$$
#
# The matrix of all derivatives $\partial h_{t,i} / \partial h_{t-1,j}$ is a step's **Jacobian** $J_t$. The derivative of
# $\tanh a$ is $1 - \tanh^2 a$, so each row $i$ of $J_t$ is column $i$ of $U$ times $1 - h_{t,i}^2$, a number between 0 and 1.
# By the chain rule, over many steps:
#
# $$\frac{\partial h_T}{\partial h_t} = J_T\, J_{T-1} \cdots J_{t+1}, \qquad
#   J_j = \mathrm{diag}(1 - h_j^2)\, U^\top, \qquad \|J_j\| \le \|U\|.$$
#
# The loss at time $T$ feels time $t$ only through this product. If it goes to nothing, that is the **vanishing gradient**; if it
# grows without bound, the **exploding gradient** (Bengio, Simard & Frasconi 1994; Hochreiter 1991).


# %% slideshow={"slide_type": "fragment"}
def rnn_jacobians(U, inputs):
    """∂h_t/∂h_{t-1} at every time of h_t = tanh(x_t + h_{t-1} U), (time, n, n)."""
    h, found = torch.zeros(len(U), dtype=U.dtype), []
    for x in inputs:
        h = torch.tanh(x + h @ U)
        found.append(torch.diag(1 - h**2) @ U.T)
    return torch.stack(found)


n, T = 16, 40
U = rescale(torch.randn(n, n, generator=draw), 1.0)
x = torch.randn(T, n, generator=draw)

cell = RNNCell(
    n, n
)  # the course's own cell with the same weights, its Jacobians taken by autograd
cell.load_state_dict({**cell.state_dict(), "weight_hh": 1.5 * U.T, "weight_ih": torch.eye(n)})
ours = torch.linalg.matrix_norm(rnn_jacobians(1.5 * U, x)[1:], ord=2)
theirs = jacobian_norms(cell, x.unsqueeze(0)).steps[0]
print("largest difference from nlmcore.diagnostics:", f"{(ours - theirs).abs().max():.0e}")

# %% [markdown] slideshow={"slide_type": "subslide"}
# > **Predict before you run.** The radius of $U$ is 1.5, so without tanh everything would explode. (a) With tanh and
# > small inputs, does it? (b) Make the inputs large. What do they do to the gradient, and why?

# %% slideshow={"slide_type": "fragment"}
widgets.jacobian_playground(rnn_jacobians, U, x)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - (a) No. After 40 steps the norm is 8, where $U$ alone would make it more than ten million. The states have grown until tanh
#   flattens, and each flat unit takes its share off the gradient. With inputs of size 0 the states stay at 0, where tanh has
#   slope 1: now it does explode, exactly as $U$'s powers do.
# - (b) Large inputs drive units towards $\pm 1$, where $1 - h^2$ is nearly 0: **saturation**. At size 3 the norm is 0.0016
#   after ten steps, and the spectral radius of $U$ is still 1.5. A radius above 1 does not make a gradient explode; it only
#   allows it to.
# - The product of the norms (dashed) is a true bound and a poor one: each step's worst direction is not the next step's.
# - Blue rings are $U$'s eigenvalues, orange dots those of the product, per step (the $d$-th root of their size). With distance
#   the dots collapse towards the middle, all but a few: of the sixteen directions of a state only few have a gradient left.
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# ### Bounded activations do not bound gradients
#
# > **Predict.** The output of tanh never leaves $(-1, 1)$. So a network of tanh units cannot have exploding gradients: true or
# > false? Take one unit, $h_t = \tanh(1.5\, h_{t-1})$, and start very near 0.


# %% slideshow={"slide_type": "fragment"}
def one_unit(u, h, steps):
    """States of h_t = tanh(u h_{t-1}) and ∂h_t/∂h_0 for every t."""
    gradient, states, gradients = 1.0, [], []
    for _ in range(steps):
        h = math.tanh(u * h)
        gradient *= u * (1 - h * h)
        states.append(h)
        gradients.append(gradient)
    return states, gradients


states, gradients = one_unit(u=1.5, h=1e-6, steps=60)
for t in (1, 10, 20, 30, 40, 50, 60):
    print(f"t = {t:2}   h = {states[t - 1]:.6f}   ∂h_t/∂h_0 = {gradients[t - 1]:12.4f}")

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# False. The state never exceeds 0.86, while its derivative is above 100,000 at $t = 30$. What is bounded is where the state
# *is*; a gradient says how far it *moves*. Starting at $+10^{-6}$ it ends at $+0.86$, starting at $-10^{-6}$ at $-0.86$: two
# states that nothing could tell apart have become as different as they can be. Later, when the unit has saturated, the same
# product vanishes. One unit, one weight, and both troubles, on the same road.
# </details>

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 4. Gradient against distance, measured
#
# No theory is needed to *measure* it. Run any cell over a text, take a loss of the last state, and let autograd say
# $\|\partial L / \partial h_t\|$ for every $t$. `nlmcore.diagnostics.gradient_norms` is that, for any cell:


# %% slideshow={"slide_type": "fragment"}
def build(name, initialisation, gain, hidden=24):
    """A cell whose recurrent blocks are drawn in one of three ways and multiplied by a gain."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        cell = CELLS[name](8, hidden)
        for block in cell.weight_hh.data.split(hidden):
            if initialisation == "orthogonal":
                torch.nn.init.orthogonal_(block)
            if initialisation == "identity":
                torch.nn.init.eye_(block)
            block.mul_(gain)
    return cell.double()


def state_norms(cell, inputs):
    """‖∂L_T/∂h_t‖ for every t, the mean over texts; L is the sum of the last state's numbers."""
    return gradient_norms(cell, inputs).state.mean(dim=0)


texts = 0.3 * torch.randn(4, 101, 8, generator=draw, dtype=torch.float64)
print(f"RNN, distance 100: {state_norms(build('rnn', 'uniform', 1.0), texts)[0]:.0e}")

# %% [markdown] slideshow={"slide_type": "subslide"}
# Four cells: the plain recurrent network (RNN) and the three *gated* ones, UGRNN, GRU and LSTM, which are the next lecture;
# here they are black boxes. Three ways to draw the recurrent weights: **uniform** in $\pm 1/\sqrt{24}$, PyTorch's default;
# **orthogonal**; the **identity** matrix. A **gain**, one number, multiplies them all.
#
# > **Predict before you choose.** An RNN of 100 steps, gain 1: by how many powers of ten does the gradient shrink from the
# > last step to the first under each initialisation? What does gain 2 do to the orthogonal one?

# %% slideshow={"slide_type": "fragment"}
kinds = {"RNN": "rnn", "UGRNN": "ugrnn", "GRU": "gru", "LSTM": "lstm"}
widgets.gradient_playground(
    state_norms, build, kinds, ["uniform", "orthogonal", "identity"], texts
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - **RNN**: the uniform one loses 23 powers of ten over 100 steps: its radius is about $1/\sqrt 3 \approx 0.58$, far below 1.
#   The orthogonal one loses fewer than three, the identity fewer than two.
# - **Gain 2**: the orthogonal RNN explodes, by more than six powers of ten; the identity vanishes faster than anything else,
#   because units that feed only themselves saturate. There is no gain that suits all.
# - **UGRNN and LSTM** lose eight powers or fewer under the very same default; the **GRU** as PyTorch initialises it loses 19, nearly
#   as many as the RNN. A gate can keep a gradient. It does so only if it starts open (lecture 7).
# - A straight line on this axis is a constant factor per step. All of them are nearly straight: Pascanu et al.'s exponential.
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# That was before any training. Does a network learn to keep its gradient? Cells of 64 units, before, and after training on a
# task that needs memory: read five symbols, wait ten steps, write them (`python -m lectures.recipes memory`).
#
# > **Predict before you run.** After training, whose gradient at distance 100 has changed most?

# %% slideshow={"slide_type": "fragment"}
memory = stored("memory")
before, after = (
    memory["gradient_log10"][when] for when in ("at initialisation", "trained to copy")
)


def by_cell(curves, title):
    lines = {kind: curves[name] for kind, name in kinds.items()}
    spoken = ", ".join(f"{kind} ten to the {line[100]:.1f}" for kind, line in lines.items())
    return show.lines_svg(
        range(101), lines, title=title, x_title="distance d", y_title="gradient norm, d = 0 is 1",
        low=-24, high=2, powers=True, width=445, alt=f"{title}: at distance 100 {spoken}.",
    )  # fmt: skip


HTML(show.beside(by_cell(before, "at initialisation"), by_cell(after, "trained to copy")))

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - The RNN's and the GRU's, by twenty powers of ten each: from $10^{-23.3}$ to $10^{-3.0}$, and from $10^{-20.5}$ to
#   $10^{-0.1}$. What vanishes at the start need not vanish for ever.
# - All four keep a gradient after training. But the RNN copied only 25 % of the symbols, the gated cells 100 %: **a gradient
#   that arrives is necessary for learning, not sufficient.**
# - To get there, the RNN's first steps of training had to bridge ten blanks with a gradient of $10^{-2.5}$. Over 80 blanks it
#   is $10^{-18.7}$, and there it learned nothing. The start alone does not decide: the GRU's is $10^{-16.5}$ there, and it learned
#   the task all the same (lecture 7). A gate can be opened on the way.
# </details>

# %% [markdown] slideshow={"slide_type": "skip"}
# > **What goes wrong.** Three mistakes in measuring. *The gradient of the weights* instead of that of the states: the weights'
# > gradient is a sum over all times, in which the near ones cover up the far ones. *A loss at every step* instead of at the
# > last: then $\partial L/\partial h_t$ also holds the loss of time $t$ itself, and nothing seems to vanish. *Single
# > precision*: below $10^{-45}$ every number is 0, and a logarithm of 0 is no measurement.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 5. The cliff
#
# A vanishing gradient is silent: the network just does not learn what is far. An exploding one is loud. The smallest network
# that shows it has one unit and two weights (Pascanu, Mikolov & Bengio 2013, figure 6):
#
# $$x_t = w\, \sigma(x_{t-1}) + b, \qquad x_0 = 0.5, \qquad L = (\sigma(x_{50}) - 0.7)^2, \qquad \sigma(x) = \frac{1}{1 + e^{-x}}.$$
#
# ($\sigma$ is the logistic function here, no longer a singular value.) Fifty steps, then one loss. The gradient goes along by the chain rule, $\partial x_t / \partial w =
# \sigma(x_{t-1}) + w\, \sigma'(x_{t-1})\, \partial x_{t-1} / \partial w$:


# %% slideshow={"slide_type": "fragment"}
def loss_and_gradient(w, b):
    """L, ∂L/∂w and ∂L/∂b of the network of one unit after 50 steps."""
    x, dw, db = 0.5, 0.0, 0.0
    for _ in range(50):
        s = 0.5 * (1 + np.tanh(x / 2))  # σ(x)
        x, dw, db = w * s + b, s + w * s * (1 - s) * dw, 1 + w * s * (1 - s) * db
    s = 0.5 * (1 + np.tanh(x / 2))
    slope = 2 * (s - 0.7) * s * (1 - s)
    return (s - 0.7) ** 2, slope * dw, slope * db


for b in (-2.0, -2.5, -2.54, -2.55, -2.56, -2.6, -3.0):
    loss, dw, db = loss_and_gradient(4.9, b)
    print(f"w = 4.9, b = {b:5.2f}   loss {loss:.3f}   gradient norm {math.hypot(dw, db):8.3f}")

# %% [markdown] slideshow={"slide_type": "subslide"}
# Between $b = -2.5$ and $-2.6$ the loss jumps, and on the jump the gradient is about a hundred times what it is beside it: a
# **cliff**. A step of gradient descent that happens to land on it is thrown far away. The remedy, **clipping by the norm** (their
# algorithm 1), keeps the direction and limits the length:
#
# $$g \leftarrow \frac{n_{\max}}{\|g\|}\; g \qquad \text{when } \|g\| > n_{\max}, \qquad \|g\| = \sqrt{\textstyle\sum_p \|g_p\|^2},$$
#
# where the sum runs over *all* parameters $p$ of the network: one norm, one factor.


# %% slideshow={"slide_type": "fragment"}
def clip_by_norm(gradients, n_max):
    """All parameters together: one norm, one factor."""
    norm = torch.sqrt(sum((g**2).sum() for g in gradients))
    return [g * n_max / norm for g in gradients] if norm > n_max else gradients


def clip_each_entry(gradients, n_max):
    """Every number for itself: another rule."""
    return [g.clamp(-n_max, n_max) for g in gradients]


def no_clipping(gradients, n_max):
    return gradients


# %% [markdown] slideshow={"slide_type": "subslide"}
# > **Predict before you run.** Two parameters of one number each; the gradient is 3 long, at 20°. Where does clipping each
# > entry to $\pm 1$ turn it? Which directions does that rule not turn at all?

# %% slideshow={"slide_type": "fragment"}
widgets.clipping_playground(clip_by_norm, {"each entry": clip_each_entry})

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer</b></summary>
#
# $(2.82, 1.03)$ becomes $(1, 1)$: to 45°. Every gradient that sticks out of the square on two sides becomes one of its four
# corners. Of the gradients that are cut, only those along the axes and the diagonals keep their direction. Clipping by the norm
# never turns anything, and never lengthens anything.
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# Now down the hill, from $w = 6$, $b = -2.75$. All three use the same learning rate.
#
# > **Predict before you take a step.** Where does each of the three stand after 60 steps: at the bottom (white), on the dark
# > side, or out of the picture?

# %% slideshow={"slide_type": "fragment"}
widgets.cliff_playground(
    clip_by_norm,
    loss_and_gradient,
    {"each entry clipped": clip_each_entry, "not clipped": no_clipping},
    start=(6.0, -2.75),
    w_range=(3.0, 7.0),
    b_range=(-4.0, 0.0),
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - **Not clipped**: it slides down, bounces along the edge, until one step lands on the cliff and throws it out of the picture, to a
#   plain where the loss is 0.0899 and flat. It never comes back: from an explosion into a vanishing gradient, in one step.
# - **By its norm**: it meets the same wall and is only pushed back a little. After 60 steps it is at 0.0247, and it has been
#   below 0.001 on the way: with steps of this length it keeps bouncing and cannot settle.
# - **Each entry**: it survives, too, by steps along the diagonal; here it is behind, at 0.0393.
# - Set $n_{\max}$ to 3: nearly every step is left as it is, and the one that matters is still long enough to throw it out.
#   Lower the learning rate to 0.1: the three paths are the same, nothing has happened yet, and little has been learned.
#   Clipping is not about the many steps; it is about the rare one.
# </details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *Step by step to about 45, then slowly: the jump comes between 50 and 55. Ask what the loss curve of the orange and the green
# path would look like. Five minutes.*

# %% [markdown] slideshow={"slide_type": "skip"}
# > **What goes wrong.** Four ways to clip that are not this one. **Each entry** (`clip_grad_value_` in PyTorch): turns the
# > gradient. **Each parameter by its own norm**: the direction in the space of *all* weights changes, since a matrix with a
# > large gradient is shrunk and its neighbour is not. **Before the gradients are complete**: when a large batch is accumulated
# > from several small ones, clip once, after the last `backward()`; clipping a part is neither the part nor the whole.
# > **Always dividing**, also when $\|g\| < n_{\max}$: that *lengthens* small gradients, and the descent never settles.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 6. A training that explodes
#
# A real one: a tanh network of 64 units reads a play, 50 characters at a time, and learns the next character. Its
# recurrent weights start orthogonal, times a gain of 1.2. Plain gradient descent, the gradient times a learning rate, so that
# nothing else rescales it.


# %% slideshow={"slide_type": "fragment"}
play = load("shakespeare").texts("train")[0]
characters = CharTokenizer.fit([play])
rows = torch.tensor(characters.encode(play[:60_000])).view(16, -1)


def train(n_max, rate, steps=60):
    """Losses, and the gradient's norm before clipping, step by step; n_max None does not clip."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = RecurrentLM(characters.vocab_size, "rnn", d_embedding=32, d_hidden=64)
        torch.nn.init.orthogonal_(model.recurrent.cells[0].weight_hh, gain=1.2)
    optimizer = torch.optim.SGD(model.parameters(), lr=rate)
    losses, norms = [], []
    for step in range(steps):
        loss = teacher_forcing_loss(model, rows[:, 50 * step : 50 * step + 50])
        optimizer.zero_grad()
        loss.backward()
        norms.append(clip_gradients(model.parameters(), n_max or 1e30))
        optimizer.step()
        losses.append(loss.item())
    return losses, norms


# %% slideshow={"slide_type": "fragment"}
limits = {"no clipping": None, "1": 1.0, "0.3": 0.3}
runs = {(limit, rate): train(limits[limit], rate) for limit in limits for rate in (0.5, 1.0, 2.0)}

# %% [markdown] slideshow={"slide_type": "subslide"}
# > **Predict before you run.** Without clipping, at a learning rate of 2: does the loss rise for one step and come
# > back, or does it stay high? Which is better then, a smaller learning rate or clipping?

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
import ipywidgets


def draw_training(n_max, rate):
    losses, norms = runs[n_max, rate]
    steps, spoken = range(1, len(losses) + 1), f"n_max {n_max}, learning rate {rate}"
    last, peak = sum(losses[-15:]) / 15, max(norms)
    clipped = 0 if limits[n_max] is None else sum(norm > limits[n_max] for norm in norms)
    curve = show.lines_svg(
        steps, {"loss (nats per character)": losses}, title=f"n_max: {n_max}, learning rate {rate:g}", x_title="step",
        y_title="loss", low=0, high=12 if max(losses) < 12 else 54, width=445, alt=f"Loss, {spoken}: mean of the last 15 steps {last:.2f}.",
    )  # fmt: skip
    size = show.lines_svg(
        steps, {"‖g‖ before clipping": np.log10(norms)}, x_title="step", y_title="norm", low=-2, high=6, powers=True,
        width=445, title="gradient norm", alt=f"Gradient norm, {spoken}: at most {peak:.3g}.",
    )  # fmt: skip
    return show.beside(curve, size) + show.said(
        f"loss, mean of the last 15 steps: {last:.2f}; largest norm {peak:.2g}; clipped {clipped} steps of {len(losses)}"
    )


widgets.live(
    draw_training,
    n_max=ipywidgets.SelectionSlider(options=list(limits), description="n_max"),
    rate=ipywidgets.SelectionSlider(options=[0.5, 1.0, 2.0], value=2.0, description="rate"),
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - It does not come back in time. The loss began at 4.35, a blind guess; it passes 50, and the last 15 steps lie at 19 on
#   average. On the way the gradient was once longer than 1,000; in the clipped runs it never passes 8.
# - Clipped at 0.3, the same rate ends at 3.36; clipped at 1, it survives at 3.75, with jumps. At a rate of 1: 7.95 without
#   clipping, 3.30 with $n_{\max} = 1$, the best of the nine runs.
# - And a smaller rate? At 0.5 nothing ever explodes, and without any clipping the loss ends at 3.36. So here clipping was not
#   needed; what it bought is that a learning rate four times too large does no harm. That is worth much when one does not know
#   which rate is too large. (One run each, of 60 steps; another seed gives other numbers.)
# - Look how often it acts. At 0.3 nearly every step is clipped: that is descent with steps of nearly fixed length. There is no
#   right $n_{\max}$ for all networks; watch the norm, and choose one above its usual size.
# - What clipping does not do: bring back a gradient that has vanished.
# </details>

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 7. What the conditions say, and what helps
#
# Pascanu et al. (2013, section 2.1), for $h_t = \tanh(\dots)$, whose slope is at most $\gamma = 1$ (for the logistic
# $\sigma$ it is $\gamma = 1/4$):
#
# | condition | then | and not |
# |---|---|---|
# | largest *singular value* of $U$ below $1/\gamma$ | the gradient **must** vanish (sufficient) | that one above $1/\gamma$ keeps it |
# | largest singular value above $1/\gamma$ | the gradient **may** explode (necessary) | that it does: tanh may saturate |
# | largest $\lvert\lambda\rvert$ below 1, *without* tanh and inputs | $\|U^t\|$ goes to 0 in the end | that it does not grow first |
# | largest $\lvert\lambda\rvert$ below 1, *with* them | nothing | anything: the product is of *different* matrices |
#
# > **Predict before you run.** $U$ has no eigenvalue but 0: without tanh, $U^2 = 0$ and everything is forgotten in two steps.
# > Now one of its two units saturates to a slope of 0.1. What is the largest eigenvalue of the Jacobian, 0, 0.1 or 1.8?

# %% slideshow={"slide_type": "fragment"}
U2 = 2 * torch.tensor([[1.0, 1.0], [-1.0, -1.0]])
for slopes in ([1.0, 1.0], [1.0, 0.1]):
    J = torch.diag(torch.tensor(slopes)) @ U2.T
    print(
        f"slopes {slopes}: spectral radius {spectrum(J).radius:.2f}, norm {spectrum(J).singular_values[0]:.2f}"
    )

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer</b></summary>
#
# 1.80. Two paths cancelled each other; saturating one leaves the other alone. A gradient can *explode because a unit
# saturates*. Singular values are safe to reason with (norms of products are at most products of norms); eigenvalues of
# different matrices do not multiply.
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# | against | remedy | where |
# |---|---|---|
# | exploding | clip by the norm | this lecture, and nearly every training since |
# | both, at the start | orthogonal or identity initialisation (Saxe et al. 2014; Le, Jaitly & Hinton 2015, who pair the identity with ReLU; our cells use tanh) | section 4, next cell |
# | vanishing | a path through time whose factor is a number near 1, learned: gates | lecture 7 |
# | vanishing | a shorter path: look back directly | lecture 11 |
# | the cost of length | cut the gradient after $k$ steps (truncation): it vanishes there *by decree* | lecture 5 |
#
# > **Predict before you run.** The copying task again, now with a plain RNN only. Uniform, it copied about a fifth of the symbols
# > after ten blanks. Does an orthogonal start help, and up to which delay? (`python -m lectures.recipes initialisation`)

# %% slideshow={"slide_type": "fragment"}
start = stored("initialisation")
print("copied right after so many blanks; guessing gives 12 %")
for name, by_delay in start["copy_accuracy"].items():
    print(f"  {name:11}", *(f"{delay:>4}: {right:4.0%}" for delay, right in by_delay.items()))

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# It helps at once: from 21 % to 100 % after ten blanks, and to 100 % after twenty. At forty it is back at guessing, although its
# gradient has lost little over forty steps. A better start moves the wall. It does not remove it: from the first update on the
# matrix is orthogonal no longer, and nothing holds it there. A gate is something that holds.
# </details>

# %% [markdown] slideshow={"slide_type": "fragment"}
# What all of this is about is *learning*. A network may carry a word for 46 steps and yet never learn to, because nothing told
# it which words to keep.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Now you
#
# Write the clipping yourself, and see it beside ours. What is below is right. Break it: one norm per parameter,
# no `if`, the squared norm, the largest entry in place of the norm. Move the sliders and see what each mistake does, and
# whether it can be seen at all.


# %% slideshow={"slide_type": "fragment"}
def my_clip(gradients, n_max):
    """gradients: one tensor per parameter -> the clipped ones. Change this."""
    total = 0.0
    for g in gradients:
        total = total + (g * g).sum()
    norm = total**0.5
    if norm > n_max:
        return [n_max / norm * g for g in gradients]
    return gradients


widgets.clipping_playground(clip_by_norm, {"each entry": clip_each_entry}, yours=my_clip)

# %% [markdown] slideshow={"slide_type": "skip"}
# `cliff_playground` takes `yours=my_clip` as well; `gradient_playground` takes your own `state_norms(cell, inputs)`, and
# `matrix_powers` your own `power_norms`. In the assignment [`exercises/recurrence/recurrence.ipynb`](../exercises/recurrence/recurrence.ipynb) you build the clipping, in
# [`exercises/gates/gates.ipynb`](../exercises/gates/gates.ipynb) the norms of gradients; they tell you which mistake you made.

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Check yourself
#
# 1. The factor per step is 0.95. After how many steps is a gradient below one hundredth?
# <details><summary>Answer</summary>0.95^t < 0.01 from t = ln 0.01 / ln 0.95 = 89.8 on: after 90 steps.</details>
#
# 2. All eigenvalues of $U$ have $|\lambda| = 0.9$. Can $\|U^{10}\|$ be larger than 1?
# <details><summary>Answer</summary>Yes, if U is not normal, like the chain: eigenvalues only tell the long run.</details>
#
# 3. The gradients of two parameters are $(3, 0)$ and $(0, 4)$; $n_{\max} = 1$. What are they after clipping?
# <details><summary>Answer</summary>The norm of all is 5, so each is divided by 5: (0.6, 0) and (0, 0.8). By their own norms
# they would be (1, 0) and (0, 1): another direction.</details>
#
# 4. A tanh network's states are all near $\pm 1$. Does its gradient explode or vanish?
# <details><summary>Answer</summary>It vanishes: every factor 1 − h² is near 0.</details>
#
# 5. The largest singular value of $U$ is 1.2 in a tanh network. Does the gradient explode?
# <details><summary>Answer</summary>One cannot tell. Above 1 is necessary for it, not sufficient.</details>
#
# 6. Does clipping help a network to learn what stands 46 words back?
# <details><summary>Answer</summary>Not by itself: it shortens long gradients and leaves short ones short. It may allow a
# larger learning rate.</details>

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Notation, words, sources
#
# | here | elsewhere | what it is |
# |---|---|---|
# | $h_t = \tanh(x_t W + h_{t-1} U)$, rows | $h_t = \sigma(U h_{t-1} + W x_t)$, columns; $x_t = W_{rec}\,\sigma(x_{t-1}) + W_{in} u_t + b$ (Pascanu et al.) | one step; ours transposed |
# | $J_j = \mathrm{diag}(1 - h_j^2)\, U^\top$ | $\partial h_j / \partial h_{j-1}$, $W_{rec}^\top \mathrm{diag}(\sigma'(x_{j-1}))$ | one step's Jacobian |
# | $J_T \cdots J_{t+1}$ | $\prod_{j=t+1}^{T} \partial h_j / \partial h_{j-1}$ | how time $T$ feels time $t$ |
# | $\rho$, the largest $\lvert\lambda\rvert$ | spectral radius | growth per step in the long run |
# | $\sigma$, the largest singular value (sections 2, 3) | $\|W\|$, $\|W\|_2$, $\lambda_1$ (Pascanu et al.) | the most that one step can stretch |
# | $n_{\max}$ | threshold, max_norm, $\theta$ | the longest gradient allowed |
# | $g$ | $\hat g$, $\nabla_\Phi L$ | the gradient of all parameters together |

# %% [markdown] slideshow={"slide_type": "skip"}
# ### Words of this lecture
#
# - **eigenvalue**: a number λ by which a matrix multiplies some vector without turning it; powers of the matrix multiply it by powers of λ.
# - **spectral radius**: the largest size of a matrix's eigenvalues; its powers grow or shrink like powers of it in the long run.
# - **singular value**: how much a matrix stretches one of its perpendicular directions; the largest is the matrix's norm.
# - **norm**: the length of a vector; of a matrix, the most by which it can lengthen one.
# - **orthogonal matrix**: a matrix that keeps every length; all its singular values, and the sizes of its eigenvalues, are 1.
# - **non-normal matrix**: a matrix without a full set of perpendicular eigenvectors; its powers may grow before they die out.
# - **Jacobian**: the matrix of all derivatives of one vector with respect to another.
# - **vanishing gradient**: a gradient that shrinks by a factor per step until nothing of it arrives.
# - **exploding gradient**: a gradient that grows by a factor per step until one update ruins the weights.
# - **saturation**: a unit so far out on its squashing function that its slope is nearly zero.
# - **clipping**: shortening a gradient whose norm is above a limit to that limit, without turning it.
# - **gain**: a number by which initial weights are multiplied.
# - **cliff**: a place where the loss changes so steeply that one gradient step is thrown far away.

# %% [markdown] slideshow={"slide_type": "skip"}
# **Sources.** Hochreiter (1991), Untersuchungen zu dynamischen neuronalen Netzen. Bengio, Simard & Frasconi (1994), Learning
# Long-Term Dependencies with Gradient Descent is Difficult. Pascanu, Mikolov & Bengio (2013), On the Difficulty of Training
# Recurrent Neural Networks, sections 2.1–2.3 and 3.2, figure 6, algorithm 1. Saxe, McClelland & Ganguli (2014), Exact Solutions
# to the Nonlinear Dynamics of Learning in Deep Linear Neural Networks. Le, Jaitly & Hinton (2015), A Simple Way to Initialize
# Recurrent Networks of Rectified Linear Units. Trefethen & Embree (2005), Spectra and Pseudospectra (on matrices that are not
# normal).
