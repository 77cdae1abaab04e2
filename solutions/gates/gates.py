# %% [markdown]
# # Assignment: gates
#
# Six small functions: a unit that leaks; one step of a UGRNN, a GRU and an LSTM; the LSTM's step backwards; and the gradient of a network without
# gates. Then you derive a formula, find a bug in somebody else's code, and run an experiment. At the end your LSTM step carries a trained network
# through Shakespeare, and you measure how far back it remembers.
#
# [[questions]]
#
# [[how it works]]
#
# [[closed]]
# If you need a function from an earlier question, call yours.
#
# You need the lectures *Gates* and, for question 4, *Vanishing and exploding gradients*. Nothing is downloaded.
#
# As in the lectures, *vectors are rows*, so a matrix multiplies them from the right. $\odot$ multiplies entry by entry (`*`), and $\sigma$ is
# the function `sigmoid` below.

# %%
import math

import numpy as np
from IPython.display import HTML

from autograder.check import check, failing, passes, show_rows
from lectures import show

np.set_printoptions(precision=3, suppress=True)


# %%
def sigmoid(z):
    """1 / (1 + e^-z), entry by entry."""
    return 1 / (1 + np.exp(-z))


# %% [markdown]
# ## 1. Keeping and writing
#
# ### 1a. A unit that leaks [[gates.leaky, 15 minutes, easy, core]]
#
# A unit mixes what it knows with a new value, $r_t$, using a gate $g_t$ between 0 and 1:
#
# $$h_t = g_t \odot h_{t-1} + (1 - g_t) \odot r_t$$
#
# How much of $h_0$ is left in $h_t$? Every step multiplies the remainder by its gate, so the answer is the product of all gates so far,
# $g_1 \odot g_2 \odot \dots \odot g_t$. It is also the derivative $\partial h_t / \partial h_0$, if the gates are treated as constants.
#
# By hand, one unit with $h_0 = 2$:
#
# ```text
# gate     0.9                   0.5                     0.9
# new      1                     1                      -1
# state    0.9·2 + 0.1·1 = 1.9   0.5·1.9 + 0.5·1 = 1.45  0.9·1.45 - 0.1 = 1.205
# left     0.9                   0.45                    0.405
# ```
#
# Here the gates are given, a separate one for each unit and time step. From 1b onwards you compute them.
#
# [[checked]]
#
# [[hints]]
# 1. Look at the last two rows of the example. How does each entry follow from the entry to its left?
# 2. For the states you need a loop over time. What is left is a running product of the gates, without the new values.
# 3. For the states, a loop over time, a list and `np.stack`. For what is left there is `np.cumprod`, or the same loop.


# %%
def leaky(news, gates, h0):
    """Mix new values into a state, and track what is left of the initial one.

    news (time, units), gates (time, units) between 0 and 1, h0 (units,)
    -> (states (time, units), left (time, units))
    """
    ### BEGIN SOLUTION
    h, states = h0, []
    for r, g in zip(news, gates, strict=True):
        h = g * h + (1 - g) * r
        states.append(h)
    return np.stack(states), np.cumprod(gates, axis=0)
    ### END SOLUTION


# %% [markdown]
# ### 1b. One gate: the UGRNN [[gates.ugrnn_step, 20 minutes, easy, core]]
#
# $$G = \sigma(x W_G + h U_G + b_G), \qquad R = \tanh(x W_R + h U_R + b_R), \qquad h' = G \odot h + (1 - G) \odot R$$
#
# The gate is computed from the input and the state; the candidate $R$ is what could be written, the step of a plain network. (The lecture's slide
# writes $-B$ for $+b$.) The lecture's example has one unit, with $x = 1$, $h = 0.5$, $W_R = 2$, $U_R = -1$, $b_R = 0$, $W_G = -2$, $U_G = 1$,
# $b_G = 1$:

# %%
HTML(
    show.cell_svg(
        show.CIRCUITS["UGRNN"],
        {"x": 1.0, "h": 0.5, "G": 0.378, "R": 0.905, "kept": 0.189, "written": 0.563, "new": 0.752},
        alt="A UGRNN's step as a circuit: x is 1, h is 0.5; G is 0.378, R is 0.905; kept 0.189, written 0.563; the new state is 0.752.",
    )
)


# %% [markdown]
# Return the gate and the candidate as well, `(new, G, R)`, so that they can be checked separately, and a wrong gate does not cost you the mixture.
#
# [[checked]]
#
# [[hints]]
# 1. There are three formulas, and you return the result of each. Find the three results in the picture.
# 2. Compute the gate and the candidate from the same input and the same old state. Only then mix.
# 3. Three lines, one per formula. `b` is added to each row of a batch by broadcasting.


# %%
def ugrnn_step(x, h, W_R, U_R, b_R, W_G, U_G, b_G):
    """One step of an update-gate network.

    x (batch, in), h (batch, hidden), W_R and W_G (in, hidden), U_R and U_G (hidden, hidden), b_R and b_G (hidden,)
    -> (new (batch, hidden), G (batch, hidden), R (batch, hidden))
    """
    ### BEGIN SOLUTION
    G = sigmoid(x @ W_G + h @ U_G + b_G)
    R = np.tanh(x @ W_R + h @ U_R + b_R)
    return G * h + (1 - G) * R, G, R
    ### END SOLUTION


# %% [markdown]
# ## 2. Two gates: the GRU [[gates.gru_step, 25 minutes, medium, core]]
#
# $$r = \sigma(x W^r + h U^r + b^r), \qquad z = \sigma(x W^z + h U^z + b^z),$$
#
# $$n = \tanh\big(x W^n + b^n + r \odot (h U^n + d)\big), \qquad h' = z \odot h + (1 - z) \odot n$$
#
# The reset gate $r$ says how much of the past the *candidate* $n$ may see; the update gate $z$ says how much of the old state is kept. This is
# PyTorch's form: the reset comes *after* the product with $U^n$, and applies to a separate bias $d$ as well.
#
# The weights are stacked in blocks in the order $r, z, n$: `W[0]` is $W^r$, `W[1]` is $W^z$, `W[2]` is $W^n$, and likewise for `U` and `b`.
#
# The lecture's example, with $W^r = U^r = 1$, the rest as in 1b ($z$ for $G$, $n$ for $R$), and $d = 0$:

# %%
HTML(
    show.cell_svg(
        show.CIRCUITS["GRU"],
        {
            "x": 1,
            "h": 0.5,
            "z": 0.378,
            "r": 0.818,
            "reset": -0.409,
            "n": 0.920,
            "kept": 0.189,
            "written": 0.573,
            "new": 0.761,
        },
        alt="A GRU's step as a circuit: x is 1, h is 0.5; z is 0.378, r is 0.818; the reset past is -0.409, the candidate 0.920; "
        "kept 0.189, written 0.573; the new state is 0.761.",
    )
)


# %% [markdown]
# > **Before you write it:** with one unit it makes no difference whether the reset comes before or after the product with $U^n$. Why
# > does it with two? And what if $d$ is not 0?
#
# [[checked]]
#
# [[hints]]
# 1. Look at the formula of $n$. Which terms are inside the bracket that $r$ multiplies, and which are outside?
# 2. Compute the two gates, then the candidate, then the mixture. The reset gate applies after the product with $U^n$, and to $d$ as well.
# 3. Four lines, with `W[0]`, `U[0]` and `b[0]` for $r$. Write down the bracket that $r$ multiplies, and check that it contains nothing of $x$.


# %%
def gru_step(x, h, W, U, b, d):
    """One step of a gated recurrent unit. Blocks in the order r, z, n.

    x (batch, in), h (batch, hidden), W (3, in, hidden), U (3, hidden, hidden), b (3, hidden), d (hidden,)
    -> (new, r, z, n), each (batch, hidden)
    """
    ### BEGIN SOLUTION
    r = sigmoid(x @ W[0] + h @ U[0] + b[0])
    z = sigmoid(x @ W[1] + h @ U[1] + b[1])
    n = np.tanh(x @ W[2] + b[2] + r * (h @ U[2] + d))
    return z * h + (1 - z) * n, r, z, n
    ### END SOLUTION


# %% [markdown]
# ## 3. Three gates and two states: the LSTM
#
# ### 3a. The step [[gates.lstm_step, 25 minutes, medium, core]]
#
# $$i = \sigma(x W^i + h U^i + b^i), \quad f = \sigma(x W^f + h U^f + b^f), \quad g = \tanh(x W^g + h U^g + b^g), \quad
#   o = \sigma(x W^o + h U^o + b^o),$$
#
# $$c' = f \odot c + i \odot g, \qquad h' = o \odot \tanh(c')$$
#
# The memory $c$ is private: the gates read only $h$ (and $x$). The blocks are in PyTorch's order, $i, f, g, o$.
#
# The lecture's example: $x = 1$, $h = 0.5$, $c = 0.8$; $f$ has the weights of $G$ in 1b and $g$ those of $R$; $W^i = W^o = U^o = 1$, and all the
# other weights are 0.

# %%
HTML(
    show.cell_svg(
        show.CIRCUITS["LSTM"],
        {
            "c": 0.8,
            "h": 0.5,
            "x": 1,
            "f": 0.378,
            "i": 0.731,
            "g": 0.905,
            "o": 0.818,
            "kept": 0.302,
            "written": 0.662,
            "new c": 0.964,
            "new h": 0.610,
        },
        alt="An LSTM's step as a circuit: c is 0.8, h is 0.5, x is 1; f is 0.378, i 0.731, g 0.905, o 0.818; kept 0.302, written 0.662; "
        "the new memory is 0.964 and the output 0.610.",
    )
)


# %% [markdown]
# [[checked]]
#
# [[hints]]
# 1. The four formulas in the first line differ in their weights. Which one differs in its function as well?
# 2. Compute the four sums, squash them, then compute the memory, and the output last. The output reads the *new* memory.
# 3. You can compute all four sums in one go: `x @ W` has shape (4, batch, hidden), and the biases join in as `b[:, None]`. Or write four lines.
#    `np.stack([i, f, g, o])` puts the gates together.


# %%
def lstm_step(x, h, c, W, U, b):
    """One step of an LSTM. Blocks in the order i, f, g, o.

    x (batch, in), h and c (batch, hidden), W (4, in, hidden), U (4, hidden, hidden), b (4, hidden)
    -> (new h (batch, hidden), new c (batch, hidden), gates (4, batch, hidden))
    """
    ### BEGIN SOLUTION
    i, f, g, o = x @ W + h @ U + b[:, None]
    i, f, g, o = sigmoid(i), sigmoid(f), np.tanh(g), sigmoid(o)
    c = f * c + i * g
    return o * np.tanh(c), c, np.stack([i, f, g, o])
    ### END SOLUTION


# %% [markdown]
# ### 3b. Backwards [[gates.lstm_backward, 35 minutes, hard, core]]
#
# The forward step has kept its four gates and its old memory. That is enough, because what is cheap to compute need not be kept. $c'$ is not among
# the arguments, so recompute it: $c' = f \odot c_{\text{before}} + i \odot g$. (Large networks are trained this way when memory is short.)
#
# There are two upstream gradients: $d_h$, with respect to the output $h'$ of the step, and $d_c$, with respect to the new memory $c'$, which it has
# passed on. The memory affects the loss along both paths, so first add them up:
#
# $$d_{c'} = \underbrace{d_c}_{\text{passed on}} + \underbrace{d_h \odot o \odot (1 - \tanh^2 c')}_{\text{output}}$$
#
# From there every product gives each factor the upstream gradient times the *other* factor. The gradient reaches the old memory only through the
# forget gate:
#
# $$d_{c_{\text{before}}} = d_{c'} \odot f$$
#
# Multiply by the slopes $\sigma (1 - \sigma)$ and $1 - g^2$ to get the gradients of the sums *before* the squashing:
#
# | | gradient at the gate | times the slope |
# |---|---|---|
# | `d_i` | $d_{c'} \odot g$ | $i (1 - i)$ |
# | `d_f` | $d_{c'} \odot c_{\text{before}}$ | $f (1 - f)$ |
# | `d_g` | $d_{c'} \odot i$ | $1 - g^2$ |
# | `d_o` | for you to find: $h' = o \odot \tanh c'$ | for you to find |
#
# By hand, the example above with $d_h = 1$ and $d_c = 0.5$: $c' = 0.378 \cdot 0.8 + 0.731 \cdot 0.905 = 0.964$ and $\tanh 0.964 = 0.746$, so
# $d_{c'} = 0.5 + 0.818 \cdot (1 - 0.556) = 0.863$. Then $d_i = 0.154$, $d_f = 0.162$, $d_g = 0.114$, $d_o = 0.111$, and the old memory gets
# $0.863 \cdot 0.378 = 0.326$.
#
# [[checked]]
#
# [[hints]]
# 1. Three rows of the table begin with the same quantity. Which formula gives it, and what is its value in the example?
# 2. Recompute $c'$ and add up the two paths. For the row that is missing, $h' = o \odot \tanh c'$ is a product, so $o$ gets the upstream gradient
#    times the other factor.
# 3. Unpack with `i, f, g, o = gates`. Compute $c'$ and then $d_{c'}$, and name both, because four of the five results need $d_{c'}$.
#
# <details><summary>It runs, but the values are wrong?</summary>
#
# Enter the example above as arrays of shapes (4, 1, 1) and (1, 1), and compare value by value. Which of the five is the first that is wrong?
# </details>


# %%
def lstm_backward(gates, c_before, d_h, d_c):
    """One step of an LSTM, backwards: to the sums before the squashing, and to the old memory.

    gates (4, batch, hidden) in the order i, f, g, o; c_before, the memory before the step; d_h and d_c, the upstream
    gradients with respect to the step's output and to its new memory: each (batch, hidden)
    -> (d_i, d_f, d_g, d_o, d_c_before), each (batch, hidden)
    """
    ### BEGIN SOLUTION
    i, f, g, o = gates
    shown = np.tanh(f * c_before + i * g)
    arriving = d_c + d_h * o * (1 - shown**2)
    d_i = arriving * g * i * (1 - i)
    d_f = arriving * c_before * f * (1 - f)
    d_g = arriving * i * (1 - g**2)
    d_o = d_h * shown * o * (1 - o)
    return d_i, d_f, d_g, d_o, arriving * f
    ### END SOLUTION


# %% [markdown]
# ## 4. How far a gradient reaches without gates [[gates.jacobian_norms, 30 minutes, hard, core]]
#
# A plain network, $h_j = \tanh(h_{j-1} U + \dots)$, has processed a text; its states are $h_1, \dots, h_T$. A small change of $h_{j-1}$ changes $h_j$
# by the Jacobian of the step, with $\partial h_j[a] / \partial h_{j-1}[b]$ in row $a$, column $b$:
#
# $$J_j = \mathrm{diag}(1 - h_j^2)\; U^\top$$
#
# A change of $h_{T-d}$ goes through $d$ of these Jacobians. The earliest acts first, so it is on the far right:
#
# $$\frac{\partial h_T}{\partial h_{T-d}} = J_T\, J_{T-1} \cdots J_{T-d+1}$$
#
# The **norm** of a matrix, its largest singular value, is the factor by which it can stretch a vector at most. Return the norm of this product for
# every distance $d = 0, 1, \dots, T - 1$. For $d = 0$ nothing is multiplied, so the product is the identity, with norm 1.
#
# By hand, three states; the last two are $(0, 0.5)$ and $(0.5, 0)$, and $U = \begin{pmatrix} 1 & 1 \\ 0 & 1 \end{pmatrix}$:
#
# $$J_3 = \begin{pmatrix} 0.75 & 0 \\ 1 & 1 \end{pmatrix}, \qquad J_2 = \begin{pmatrix} 1 & 0 \\ 0.75 & 0.75 \end{pmatrix}, \qquad
#   J_3 J_2 = \begin{pmatrix} 0.75 & 0 \\ 1.75 & 0.75 \end{pmatrix}$$
#
# The norms are 1 (distance 0), 1.523 (distance 1) and 2.027 (distance 2). The value of the first state does not matter, because its Jacobian would
# lead to $h_0$.
#
# > **Before you write it:** the norms of $J_3$ and $J_2$ multiplied give $1.523 \cdot 1.347 = 2.052$, a little more than 2.027. Why is it never less?
#
# [[checked]]
#
# [[hints on the product]]
# 1. Look at the formula of the product. Which Jacobian is in it for every distance above 0, and on which side is the one that each further distance
#    adds?
# 2. Start with the identity, go back from the last state, and take the norm of the product so far at each distance.
# 3. Start with `np.eye`. Each time, multiply by one more Jacobian on the *right* and take `np.linalg.norm(product, ord=2)`.
#
# [[hints on one Jacobian]]
# 1. Compute $J_3$ of the example from $h_3$ and $U$. Which row of $U^\top$ does each slope multiply?
# 2. A diagonal matrix on the left multiplies the *rows*, so broadcasting is enough.
# 3. `slopes[:, None] * matrix` multiplies the rows.


# %%
def jacobian_norms(hs, U):
    """How strongly the last state depends on the one d steps earlier, for every distance d.

    hs (time, hidden) the states of a tanh network, U (hidden, hidden) -> (time,), entry d for distance d
    """
    ### BEGIN SOLUTION
    product = np.eye(len(U))
    norms = [np.linalg.norm(product, ord=2)]
    for h in hs[1:][::-1]:
        product = product @ ((1 - h**2)[:, None] * U.T)
        norms.append(np.linalg.norm(product, ord=2))
    return np.array(norms)
    ### END SOLUTION


# %% [markdown]
# ## 5. Half-lives [[gates.half_life, 15 minutes, medium, more]]
#
# A forget gate with bias $b$ is $\sigma(b) = 1 / (1 + e^{-b})$ as long as nothing else arrives at it. After $T$ steps, $\sigma(b)^T$ of the memory is
# left. On paper, derive after how many steps half is left, for a given bias; and the other way round, which bias a memory needs if half of it is to be
# left after $T$ steps. Return both as formulas in $b$ and $T$.
#
# The first need not be an integer. Then compute: what is the half-life for $b = 0$, and for $b = 1$, which is often recommended?
#
# [[checked]]
#
# [[hints]]
# 1. Write both questions as one equation with three letters, $b$, $T$ and ½. For which letter do you solve it each time?
# 2. The equation is $\sigma(b)^T = \tfrac12$. Take logarithms for the first answer, and the $T$-th root for the second.
# 3. $\sigma(b) = 2^{-1/T}$ means $1 + e^{-b} = 2^{1/T}$. Solve it for $b$.


# %%
def half_life(b, T):
    """After how many steps half is left with bias b, and the bias with which half is left after T steps.

    two numbers -> (steps, bias), two numbers
    """
    ### BEGIN SOLUTION
    return math.log(2) / math.log(1 + math.exp(-b)), -math.log(2 ** (1 / T) - 1)
    ### END SOLUTION


# %% [markdown]
# ## 6. Gates that see the memory
#
# In an LSTM with **peepholes** (Gers and Schmidhuber 2000) each gate also sees the memory, through one weight per unit: $P_i$, $P_f$ and $P_o$. The input
# and the forget gate see the old memory. The output gate sees the *new* one, because it decides how much of that to show:
#
# $$i = \sigma(\dots + P_i \odot c), \quad f = \sigma(\dots + P_f \odot c), \quad c' = f \odot c + i \odot \tanh(\dots), \quad
#   o = \sigma(\dots + P_o \odot c'), \quad h' = o \odot \tanh c' .$$
#
# The dots are the sums of 3a. A friend has written the step. His code runs, and a network trained with it learns. One line is wrong.
#
# ### 6a. Which line? [[gates.wrong_line, 10 minutes, medium, more]]
#
# [[listing gates.peephole_step]]
#
# Return the number of the wrong line, as in this listing.
#
# [[checked]] You can copy the function into a cell of your own to try it; the check of 6b shows you an input.
#
# [[hints]]
# 1. Tick off the five formulas one by one: which line is it, and does every letter occur in it?
# 2. Two values in the listing are memories, the old and the new one. Which of them should each line use?
# 3. Let the old memory be 0 and the new one large. Which gate should notice?


# %%
def wrong_line():
    """The number of the one line of the listing that is wrong."""
    ### BEGIN SOLUTION
    return 11
    ### END SOLUTION


# %% [markdown]
# ### 6b. Mend it [[gates.peephole_step, 5 minutes, easy, more]]
#
# This is the friend's function. Change the line, and nothing else.
#
# [[checked]]
#
# [[hints]]
# 1. The check shows an input with two results. Which of them is right, and what does that say about the lines above?
# 2. The new memory is right, so the mistake is after it.
# 3. The output gate is computed after the new memory, so that it can see it.


# %%
def peephole_step(x, h, c, W, U, P, b):
    """One step of an LSTM with peepholes. Blocks in the order i, f, g, o; peepholes in the order i, f, o.

    x (batch, in), h and c (batch, hidden), W and U as in 3a, P (3, hidden), b (4, hidden) -> (new h, new c)
    """
    ### BEGIN SOLUTION
    i, f, g, o = x @ W + h @ U + b[:, None]
    i = sigmoid(i + P[0] * c)
    f = sigmoid(f + P[1] * c)
    new = f * c + i * np.tanh(g)
    shown = np.tanh(new)
    o = sigmoid(o + P[2] * new)
    return o * shown, new
    ### END SOLUTION


# %% [markdown]
# ## 7. An experiment: who reaches farther back? [[gates.reach, 35 minutes, medium, core]]
#
# Compare how far a gradient reaches in two networks that nobody has trained. For the plain network, take the norm of the product of Jacobians over a
# distance, from question 4. For the LSTM, take the path through the cell state: over the same distance it multiplies every unit by its forget gates, so
# its norm is the largest of these products. `beginning` makes weights and a text of 31 steps from a **seed**; the LSTM has the forget bias 2,
# more than is usually recommended. Four answers are possible:
#
# 1. The LSTM's norm is larger at distance 5 and at distance 30.
# 2. The plain network's norm is larger at distance 5 and at distance 30.
# 3. The plain network's norm is larger at distance 5, the LSTM's at distance 30.
# 4. The plain network's norm is larger at distance 5; at distance 30 these seeds cannot tell.
#
# Proceed in this order.
#
# - **Predict.** Set `prediction` to 1, 2, 3 or 4 before you run anything. It is kept as you wrote it, and it need not come true.
# - **Run.** `norms` gets one row per seed with four numbers: (distance 5, plain), (5, LSTM), (30, plain), (30, LSTM). *Plain:* $h_t = \tanh(x_t W_g +
#   h_{t-1} U_g)$, with the third blocks, from a state of zeros; entries 5 and 30 of your `jacobian_norms` of its 31 states. *LSTM:* your `lstm_step`
#   through the text, from zeros. The gates of the first step lead to the first state, so they do not count: at distance 5 multiply the forget gates
#   of the second to the sixth step. Set `conclusion = 0` for now and run the check: it says whether your numbers are right. Then run the cell below
#   the check, and look at all five rows.
# - **Conclude.** Set `conclusion` to the answer that *your* five rows support. A difference counts if it has the same sign for every seed, or if it
#   is larger than chance explains: the 95 % interval of the mean difference (Student's t: 2.78 standard errors to each side) does not contain 0.
#
# [[checked]]
#
# [[hints on the run]]
# 1. What do you need from each step of either network: the state, the memory, or a gate?
# 2. One loop over the text can serve both networks. Collect the plain states in one list and the forget gates in another.
# 3. With the gates of all steps in one array, `forget[1:6].prod(0)` is the product over five steps, and its `max()` the norm.
#
# [[hints on the conclusion]]
# 1. What does a forget gate of bias 2 leave after 5 and after 30 steps? Are your numbers of that size?
# 2. Take the difference of two columns. Does it have the same sign in every row?
# 3. Five differences $x$ have the interval $\bar x \pm 2.78\, s / \sqrt 5$, where $s$ is their standard deviation, `np.std(x, ddof=1)`.


# %%
def beginning(seed):
    """A text of 31 steps and weights of an LSTM of 32 units with orthogonal U: xs (31, 1, 8), W, U, b in the blocks i, f, g, o."""
    normal = np.random.default_rng(seed).standard_normal
    xs, W = 0.3 * normal((31, 1, 8)), normal((4, 8, 32)) / math.sqrt(8)
    U, b = np.linalg.qr(normal((4, 32, 32)))[0], np.zeros((4, 32))
    b[1] = 2.0
    return xs, W, U, b


# %%
def reach(seeds):
    """Two norms at the distances 5 and 30, for several seeds.

    seeds: a list -> (prediction, norms (seeds, 4), conclusion)
    """
    ### BEGIN SOLUTION
    prediction = 1
    norms = []
    for seed in seeds:
        xs, W, U, b = beginning(seed)
        plain, h, c = np.zeros((3, 1, 32))
        states, forget = [], []
        for x in xs:
            plain = np.tanh(x @ W[2] + plain @ U[2])
            h, c, gates = lstm_step(x, h, c, W, U, b)
            states.append(plain[0])
            forget.append(gates[1])
        by_distance = jacobian_norms(np.stack(states), U[2])
        forget = np.stack(forget)
        row = [(by_distance[d], forget[1 : d + 1].prod(0).max()) for d in (5, 30)]
        norms.append([float(norm) for pair in row for norm in pair])
    conclusion = 3
    return prediction, norms, conclusion
    ### END SOLUTION


# %%
show_rows("gates.reach", reach, "5, plain", "5, LSTM", "30, plain", "30, LSTM")

# %% [markdown]
# ## Your functions at work
#
# The course's `char_lstm` has 256 units and was trained on the characters of Shakespeare's plays. Here we use only its weights; the steps are
# computed by your `lstm_step`. There is nothing to write. Run it when question 3a passes.

# %%
steps = []
if passes("gates.lstm_step", lstm_step):
    from nlmcore.corpora import load
    from lectures.trained import checkpoint

    model, tokenizer, _ = checkpoint("char_lstm")
    trained = {name: weights.detach().numpy() for name, weights in model.named_parameters()}
    of_cell = {name.rpartition(".")[2]: weights for name, weights in trained.items() if ".cells.0." in name}
    units = of_cell["weight_hh"].shape[1]
    # PyTorch stacks the four blocks, and transposes them
    W, U = (of_cell[name].reshape(4, units, -1).transpose(0, 2, 1) for name in ("weight_ih", "weight_hh"))
    b = (of_cell["bias_ih"] + of_cell["bias_hh"]).reshape(4, units)

    def read(text, h, c):
        """Your step, character by character. Returns the last states, and (gates, c before) of every step."""
        passed = []
        for i in tokenizer.encode(text):
            before = c
            h, c, gates = map(np.asarray, lstm_step(trained["embedding.weight"][[i]], h, c, W, U, b))
            passed.append((gates, before))
        return h, c, passed

    zeros = np.zeros((1, units), np.float32)
    draw, text = np.random.default_rng(4), "\nROMEO.\n"
    h, c, _ = read(text, zeros, zeros)
    for _ in range(300):
        p = np.exp((h @ trained["output.weight"].T + trained["output.bias"])[0].astype(float) / 0.6)
        character = tokenizer.decode([int(draw.choice(len(p), p=p / p.sum()))])
        text += character
        h, c, _ = read(character, h, c)
    print(text)
    heard = load("shakespeare").texts("test")[0][30_000:30_101]  # a play that it was not trained on
    _, _, steps = read(heard, zeros, zeros)

# %% [markdown]
# **How long does it remember?** Here are its forget gates on 101 characters of a held-out play. Your `leaky` says what fraction each unit has kept of
# its content at the start. The lines show the median unit and two of the longest memories.

# %%
if steps and passes("gates.leaky", leaky):
    forget = np.stack([gates[1, 0] for gates, _ in steps])
    _, left = leaky(np.zeros_like(forget), forget, np.ones(forget.shape[1]))
    lines = {f"{share:.0%} of the units keep less": np.quantile(left, share, axis=1) for share in (0.5, 0.9, 0.99)}
    at_50 = ", ".join(f"{name}: {float(line[49]):.2f}" for name, line in lines.items())
    picture = show.curves(
        range(1, len(forget) + 1),
        lines,
        x_title="characters read",
        y_title="fraction kept",
        alt=f"The fraction of the initial memory that is left, by the number of characters read. After 50: {at_50}.",
    )
else:
    picture = "Come back here when questions 1a and 3a pass."
picture

# %% [markdown]
# **How far does its gradient reach?** Your `lstm_backward` goes back through those steps, for a loss that is the sum of the last memory. Alongside
# it, your `jacobian_norms` measures plain networks of 64 units with two random initialisations of $U$. All are shown relative to distance 0, in
# powers of ten:

# %%
powers = {}
if steps and passes("gates.lstm_backward", lstm_backward):
    d_h, d_c = np.zeros((1, units)), np.ones((1, units))
    norms = [np.linalg.norm(d_c)]
    for gates, before in reversed(steps):
        *at_sums, d_c = map(np.asarray, lstm_backward(gates, before, d_h, d_c))
        d_h = sum(d @ block.T for d, block in zip(at_sums, U, strict=True))  # every sum has read h
        norms.append(np.linalg.norm(d_c))
    powers["trained LSTM, its memory"] = np.log10(np.array(norms[:100]) / norms[0])
if passes("gates.jacobian_norms", jacobian_norms):
    draw = np.random.default_rng(0)
    orthogonal = np.linalg.qr(draw.standard_normal((64, 64)))[0]
    uniform = draw.uniform(-1 / 8, 1 / 8, (64, 64))
    for name, R in {"plain, orthogonal": orthogonal, "plain, uniform": uniform}.items():
        h, hs = np.zeros(64), []
        for _ in range(100):
            h = np.tanh(h @ R + 0.3 * draw.standard_normal(64))
            hs.append(h)
        powers[name] = np.log10(jacobian_norms(np.stack(hs), R))
if powers:
    at_90 = ", ".join(f"{name} {float(line[90]):.1f}" for name, line in powers.items())
    picture = HTML(
        show.lines_svg(
            range(100),
            powers,
            x_title="distance d",
            y_title="gradient relative to d = 0",
            low=-25,
            high=2,
            powers=True,
            width=760,
            alt=f"Gradient against distance, as powers of ten. At distance 90: {at_90}.",
        )
    )
else:
    picture = "Come back here when questions 3b and 4 pass."
picture

# %% [markdown]
# The LSTM is trained and the others are not, so this is not a fair race; [lecture 8](../../lectures/08_gates.ipynb) runs a fair one. What does the
# LSTM's line do if you halve all forget gates (`gates[1] *= 0.5` on a copy)? And the plain network's with `2 * orthogonal`?

# %% [markdown]
# ## 8. In your own words [[written, 25 minutes, 6 points, core]]
#
# In about twelve sentences, for somebody who knows plain recurrent networks:
#
# 1. Why does the gradient of a plain network shrink or grow with distance, and what is different along the path of the LSTM's memory?
# 2. "An LSTM remembers." What does that depend on? Say what the forget gate's bias has to do with it, and give a number.
# 3. A friend has loaded GRU weights from another library. There is no error, but the network writes nonsense. Name two things that may differ
#    although all shapes fit.
# 4. Report your experiment of question 7, as you would to somebody who decides on it: what did your five seeds show, and with which numbers? What
#    does that not yet say? Which run would you do next, and what do you expect of it?
#
# ### BEGIN MARK SCHEME
# One point for each of the first four, two for the report; half points are fine.
#
# 1. **Plain** (1): one factor per step, a matrix times slopes of tanh that are at most 1; a product of many of them goes to 0 or grows exponentially.
#    Half a point for "it is multiplied many times" without what is multiplied.
# 2. **The memory's path** (1): c' = f ⊙ c + …, so the factor is f, one number per unit, with no matrix and no slope; near 1 it passes on nearly
#    everything. Half a point for "there is a shortcut".
# 3. **It depends on the gates** (1): only if f is near 1. At the start f is about σ(b): b = 0 gives 0.5, and after 20 steps a millionth is left; b =
#    1 gives 0.73 (0.002 after 20), b = 4 gives 0.98 (0.7). Half a point without any number.
# 4. **Two things** (1, half for each): a different order of the blocks; z and 1 − z swapped; reset before or after the product; matrices transposed (if they
#    are square); one bias or two (d inside the reset). Not: "it was trained badly".
# 5. **Report, what it shows** (1): a claim that the student's own numbers support (that the plain network's norm is larger at distance 5 and the
#    LSTM's at distance 30, for every seed), with numbers or with how many seeds agree. Half a point for the claim without them, none for a claim that
#    goes beyond the table.
# 6. **Report, what it leaves open** (1): one limit of this experiment (½), for example: untrained networks, of one size, and one forget bias; for the
#    LSTM only the path through the cell state was measured; the plain network's norm depends on the scale of U. A next run that could turn out
#    otherwise, with what it would tell (½). Not: "more seeds" alone, where the seeds agree.
# ### END MARK SCHEME

# %% [markdown]
# In a plain network a change of an early state goes through every step on its way to the last one, and each step multiplies it by U and by the slopes
# of its tanh, which are at most 1. A product of fifty such matrices is nearly nothing if they shrink vectors, and huge if they stretch them. The
# LSTM's memory is a sum, c' = f c + i g, so along that path each step multiplies only by its forget gate, one number per unit. Where the gate is 1
# the gradient passes unchanged, however long the path.
#
# So the LSTM remembers if its forget gates are open, and only then. Before training they are about σ of their bias. With a bias of 0 they are 0.5,
# and after twenty steps a millionth of the gradient is left on this path; with a bias of 4 they are 0.98, and 70 % is left. That is why the bias is initialised
# above 0.
#
# The other library may stack the blocks in a different order, z before r for example, and its z may be the fraction that is written where ours is the
# fraction that is kept. It may also reset the state before the product with U and not after it.
#
# In all five rows the plain network's norm was larger at distance 5 and the LSTM's at distance 30, so the order really turns around. But nothing was
# trained, I measured only the path through the cell state, and the forget bias of 2 is high. With a bias of 0 each step would halve the product, so I
# would repeat the runs with biases from 0 to 4: I expect the LSTM to lose at distance 30 when the bias is 0.

# %% [markdown]
# ---
# **Before you hand in:** *Kernel → Restart Kernel and Run All Cells*. Every check should say what you expect, and
# question 8 should be answered in your own words. Save the notebook under its own name: the grader looks for `gates.ipynb`.
