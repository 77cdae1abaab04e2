# %% [markdown] slideshow={"slide_type": "slide"}
# # Vanishing and exploding gradients
#
# *When she tried to print her tickets, she found that the printer was out of toner. She went to the stationery store to buy
# more toner. It was very overpriced. After installing the toner into the printer, she finally printed her* ___
#
# You know the word, although it occurred 46<!--[[large["distance"]]]--> tokens ago. A recurrent network can know it only if its
# state still holds that word. Here is the same problem in miniature. A network reads five symbols, then ten
# blanks, then a signal that means *now write the symbols*.
#
# <img src="figures/plain_against_gated.svg" width="860" alt="Fraction of symbols copied correctly against training steps. The band of the plain network stays near guessing; the bands of two gated networks, UGRNN and GRU, rise to about two thirds and one half.">
#
# *Three of our own networks learn this task from the same texts, with the same width, optimiser and number of steps. Each line is
# the mean of five seeds, and each band reaches from the lowest to the highest; the thin line is guessing.*
#
# **Why does the plain network hardly get above guessing?** The next lecture explains what the other two do differently.

# %% [markdown] slideshow={"slide_type": "skip"}
# **After this lecture you can**
# - write the gradient of a recurrent network as a product of matrices, one per step, and say what follows;
# - read eigenvalues and singular values, and say what they promise and what they do not;
# - explain why bounded activations do not bound gradients;
# - measure the gradient of any cell against distance;
# - clip a gradient by its norm, and tell this rule from four others that look like it.
#
# **You need** [lecture 3](03_backpropagation.ipynb) (the chain rule on a graph), [lecture 6](06_recurrent_networks.ipynb) (a
# recurrent network, backpropagation through time), and how to multiply matrices. *Vectors are rows*, as in the code.

# %% [markdown] slideshow={"slide_type": "skip"}
# | section | 1 | 2 | 3 | 4 | 5 | 6 | 7 |
# |---|---|---|---|---|---|---|---|
# | minutes | 6 | 9 | 11 | 13 | 10 | 7 | 6 |
#
# The minutes are for a class. If you work alone, with all predictions and widgets, plan 120 minutes. Sections 5 and 6, on exploding
# gradients, can wait for a second sitting. Every cell runs in under ten seconds on a laptop, without a network connection. *Coming
# from other slides or a paper?* A table at the end translates their notation.

# %% [markdown] slideshow={"slide_type": "notes"}
# *Short of time: skip the code of section 3 and section 7's last cell.*

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "skip"}
import math

import numpy as np
import torch
from IPython.display import HTML

from nlmcore.corpora import load
from nlmcore.diagnostics import gradient_norms, jacobian_norms, rescale, spectrum
from nlmcore.recurrent import CELLS, RecurrentLM, RNNCell, unroll
from lectures import show, stored, widgets
from lectures.recipes.memory import copying_batch, fresh
from nlmcore.tokens import CharTokenizer
from nlmcore.training import clip_gradients, teacher_forcing_loss

torch.set_printoptions(precision=2, sci_mode=False)
torch.set_num_threads(1)  # for matrices as small as these one thread is fastest

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 1. A word far back
#
# How much does the last state of an untrained network depend on the first symbol, 15 steps back? We measured its gradient. Then we
# trained the networks in a race (`python -m lectures.recipes race`; five seeds each, 250 steps): a plain RNN and two *gated*
# networks, a GRU and an LSTM, which remain black boxes until the next lecture.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
raced = stored("race")
cells_raced = ["RNN", "UGRNN", "GRU", "LSTM, bias 1", "LSTM, bias 3"]
kept = {
    name: [10 ** row[15] for row in rows] for name, rows in raced["gradient_log10"].items()
}  # the gradient after 15 steps, of five seeds
copied = {name: [100 * row[-1] for row in rows] for name, rows in raced["right"].items()}
large = stored("looking_back")["smollm2"]
shown = {"RNN": "RNN", "GRU": "GRU", "LSTM": "LSTM, bias 1"}
told = [(title, show.from_to(kept[name], "{:.4f}")) for title, name in shown.items()]
show.table(told, ["", "Gradient left after 15 steps (lowest to highest seed)"])

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
told = [(title, show.from_to(copied[name])) for title, name in shown.items()]
measured = show.table(told, ["", "% copied correctly at the end (lowest to highest seed)"])
means = {title: sum(copied[name]) / 5 for title, name in shown.items()}
times = sum(kept["LSTM, bias 1"]) / sum(kept["GRU"])
gap = means["LSTM"] - means["GRU"]
show.predict(
    f"Before training, the LSTM keeps {times:.0f} times as much of its gradient as the GRU. Which of the two copies more symbols after 250 steps, on average over five seeds?",
    choices={
        "the LSTM, by 10 points or more": 10,
        "neither": 0,
        "the GRU, by 10 points or more": -10,
    },
    answer=gap,
    why="How well does the plain network copy?",
    reveals=measured,
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - The RNN keeps less than a thousandth<!--[[? max(kept["RNN"]) < 0.001]]--> of its gradient over 15 steps, and it hardly learned the task. It copied 15<!--[[min(copied["RNN"]):.0f]]--> to
#   25<!--[[max(copied["RNN"]):.0f]]--> % of the symbols, where guessing gives 12.5<!--[[100 / 8]]--> %.
# - The GRU also keeps less than a thousandth<!--[[? max(kept["GRU"]) < 0.001]]-->, but it copied 47<!--[[min(copied["GRU"]):.0f]]--> to 68<!--[[max(copied["GRU"]):.0f]]--> %.
# - The LSTM keeps far more, but it copied only 26<!--[[min(copied["LSTM, bias 1"]):.0f]]--> to 52<!--[[max(copied["LSTM, bias 1"]):.0f]]--> %.
# </details>
#
# **The size of the gradient before training does not decide what a network learns.**

# %% [markdown] slideshow={"slide_type": "subslide"}
# Can a network look back further than 15 steps? SmolLM2 is a Transformer, a network that does not read step by step. It has 135 million
# parameters. At the end of the passage above it predicts "tickets" with probability 0.46<!--[[large["next"][" tickets"]:.2f]]-->. We take the gradient of its loss
# with respect to the vector of each word that it has read. This gradient is largest at that very
# word<!--[[? large["gradient"].index(max(large["gradient"])) == large["tickets_at"][0]]]-->, 46<!--[[large["distance"]]]--> tokens back:
#
# <img src="figures/seen_by_smollm2.svg" width="860" alt="The passage about the tickets, with each word shaded by the gradient of the loss of the next word in SmolLM2. The strongest shade is on 'tickets', 46 tokens back.">
#
# The lectures on attention explain how SmolLM2 looks back.

# %% [markdown] slideshow={"slide_type": "notes"}
# *Ask the room for the missing word, then ask how far back they looked. What goes wrong: students take a gradient for the network's
# attention. It is a derivative of the loss. 6 minutes, two of them for the missing word.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 2. Time is depth, with the same weights in every layer
#
# Unrolled over $T$ words, a recurrent network is a network of $T$ layers. A deep network of [lecture 3](03_backpropagation.ipynb)
# had different weights in every layer. This one has the *same* weights at every step. If one step multiplies by some factor, $T$ steps
# multiply by it $T$ times. For a single number, $0.9^{50}$ is 0.005<!--[[0.9**50:.3f]]-->, and $1.1^{50}$ is 117<!--[[1.1**50:.0f]]-->. Only a factor of exactly 1
# changes nothing.
#
# A matrix does more than scale. Here one vector (orange) is multiplied by the same matrix again and again:
#
# <img src="figures/again_and_again.svg" width="860" alt="One vector multiplied eight times by a matrix, for three matrices. The first makes it shorter at every step, the second moves it around a circle, the third stretches it to the right while its height shrinks.">
#
# The third matrix treats two directions differently. A vector that points exactly to the right, or exactly upwards, would keep its
# direction and only be scaled. Any other vector has a component in each direction, and in the long run the component that grows fastest wins.

# %% [markdown] slideshow={"slide_type": "subslide"}
# The factors by which a matrix scales such directions are its **eigenvalues**. Take a network without inputs and without a squashing function,
# $h_t = h_{t-1} U$. Then
#
# $$h_t = h_0\, U^t \qquad \text{(the } t\text{-th power)},$$
#
# and the derivatives of $h_t$ with respect to $h_0$ are the entries of $U^t$.
#
# If $U$ has the eigenvalue $\lambda$ (there is a row vector $v \ne 0$ with $vU = \lambda v$; $\lambda$ may be complex), then $U^t$ has
# the eigenvalue $\lambda^t$. (The matrix on the right of the picture has the eigenvalues 1.15 and 0.7. The one in the middle has two
# complex eigenvalues, both with $|\lambda| = 1$.) The largest $|\lambda|$ is the **spectral radius** $\rho$. In the long run the powers $U^t$ shrink
# to 0 if $\rho < 1$ and grow without bound if $\rho > 1$. The **norm** $\|U\|$ is the largest **singular value** $s$, the most by which a *single* multiplication can stretch
# a vector. Therefore $\rho^t \le \|U^t\| \le s^t$ for every $t$.
#
# We compare three matrices: one with random entries; a rotation (an **orthogonal matrix**, which preserves every length); and a chain,
# in which each of six units keeps its value and adds it to the next unit. Each matrix is scaled to the spectral radius on the slider.

# %% slideshow={"slide_type": "fragment"}
draw = torch.Generator().manual_seed(0)
matrices = {
    "random": rescale(torch.randn(16, 16, generator=draw), 1.0),
    "rotation (orthogonal)": torch.linalg.qr(torch.randn(16, 16, generator=draw)).Q,
    "chain": torch.eye(6) + torch.diag(torch.ones(5), 1),
}


def power_norms(U, steps):
    """‖U^t‖ for t = 0 … steps."""
    power, norms = torch.eye(len(U), dtype=U.dtype), []
    for _ in range(steps + 1):
        norms.append(torch.linalg.matrix_norm(power, ord=2))
        power = power @ U
    return norms


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
chain = [float(norm) for norm in power_norms(0.8 * matrices["chain"].double(), 100)]
peaks = {name: float(max(power_norms(rescale(W, 0.8), 100))) for name, W in matrices.items()}
show.predict(
    "At a spectral radius of 0.8 the powers of all three matrices must die out in the end. Which matrix's powers grow most on the way?",
    choices=[*matrices, "none: all shrink from the start"],
    answer=max(peaks, key=peaks.get),
    why=f"The norm of its powers first climbs to {max(peaks.values()):.0f}. Which property of this matrix makes that possible?",
    reveals=widgets.matrix_powers(power_norms, matrices, steps=100).opens(
        radius=0.8, matrix="chain"
    ),
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - **Chain, 0.8**: every eigenvalue is 0.8, and yet $\|U^t\|$ first climbs to 214<!--[[max(chain):.0f]]-->, at $t$ = 24<!--[[chain.index(max(chain))]]-->, and only then dies out.
# - At a radius below 1, only the powers of a **non-normal matrix** can grow first. Such a matrix has no full set of perpendicular
#   eigenvectors ($U U^\top \ne U^\top U$). The chain has a single eigenvector.
# </details>
#
# **A spectral radius below 1 tells you that the powers die out in the end, not that they shrink on the way.**

# %% [markdown] slideshow={"slide_type": "skip"}
# <details><summary><b>More to notice</b></summary>
#
# - **Rotation**: at a radius of exactly 1, the norm of its powers is exactly 1 for every $t$<!--[[? abs(power_norms(matrices["rotation (orthogonal)"].double(), 100)[100] - 1) < 1e-4]]-->, because $\rho = s$.
# - **Random**: the $s$ of this matrix is 1.65<!--[[torch.linalg.matrix_norm(matrices["random"], 2):.2f]]--> times its $\rho$. The norm of its powers soon runs parallel to $\rho^t$, a little above it.
# </details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *9 minutes, four of them for this picture. Have somebody read the axis aloud: each grid line is a factor of a hundred thousand. What
# goes wrong: they call the chain "exploding", but at 0.8 it is below 1 again after t = 74<!--[[max(t for t, norm in enumerate(chain) if norm >= 1)]]-->.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 3. A product of Jacobians
#
# A recurrent network also has inputs and a squashing function:
#
# $$h_t = \tanh(x_t W + h_{t-1} U).$$
#
# The matrix of all derivatives $\partial h_{t,i} / \partial h_{t-1,j}$ is the **Jacobian** $J_t$ of step $t$. The derivative of
# $\tanh a$ is $1 - \tanh^2 a$, so row $i$ of $J_t$ is column $i$ of $U$ times $1 - h_{t,i}^2$, a factor between 0 and 1.
# By the chain rule, over many steps:
#
# $$\frac{\partial h_T}{\partial h_t} = J_T\, J_{T-1} \cdots J_{t+1}, \qquad
#   J_j = \mathrm{diag}(1 - h_j^2)\, U^\top, \qquad \|J_j\| \le \|U\|.$$
#
# Every gradient that the loss at time $T$ sends back to time $t$ passes through this product. If the product shrinks to nothing, we
# speak of a **vanishing gradient**; if it grows without bound, of an **exploding gradient** (Bengio, Simard & Frasconi 1994;
# Hochreiter 1991).

# %% [markdown] slideshow={"slide_type": "notes"}
# *Ask: can the product explode if every ‖J‖ is below 1? (No.) And must it explode if every ‖J‖ is above 1? (No: a step may shrink
# what the previous one stretched.) What goes wrong: students forget that tanh adds a factor of its own, and look only at U. 11 minutes; the unit
# with u = 1.5 takes three of them.*


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

# %% slideshow={"slide_type": "skip"}
# the course's own cell with the same weights; autograd computes its Jacobians
cell = RNNCell(n, n)
cell.load_state_dict({**cell.state_dict(), "weight_hh": 1.5 * U.T, "weight_ih": torch.eye(n)})
ours = torch.linalg.matrix_norm(rnn_jacobians(1.5 * U, x)[1:], ord=2)
theirs = jacobian_norms(cell, x.unsqueeze(0)).steps[0]
print("largest difference from nlmcore.diagnostics:", f"{(ours - theirs).abs().max():.0e}")


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
def norm_after(size, distance):
    """The norm of the product of the last Jacobians, with inputs of this size."""
    last = rnn_jacobians(1.5 * U.double(), size * x.double()).flip(0)[:distance]
    return float(torch.linalg.matrix_norm(torch.linalg.multi_dot([*last]), ord=2))


show.predict(
    "We multiply the $U$ of the code by 1.5. Its spectral radius is then 1.5, so without tanh the gradient would explode. The inputs are large, of size 3 (their standard deviation). "
    "What is the norm of the product of the last ten Jacobians?",
    choices={"above 50": 57, "about 1": 1, "below 0.02": 0.01},
    answer=norm_after(3.0, 10),
    why="What do such large inputs do to the units? Try smaller ones, and inputs of size 0:",
    reveals=widgets.jacobian_playground(rnn_jacobians, U, x).opens(size=3.0),
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - With inputs of size 3 the norm is 0.0016<!--[[norm_after(3.0, 10):.4f]]--> after ten steps, although the spectral radius of $U$ is still 1.5.
# - Large inputs drive units
#   towards $\pm 1$, where $1 - h^2$ is nearly 0. This is **saturation**.
# - With inputs of size 0 the states stay at 0, where tanh has slope 1. Then the gradient does explode<!--[[? norm_after(0.0, 40) > 1e7]]-->, exactly as the powers of $U$ do.
# </details>
#
# **A spectral radius above 1 allows a gradient to explode. It does not make it explode.**

# %% [markdown] slideshow={"slide_type": "skip"}
# <details><summary><b>More to notice</b></summary>
#
# - With inputs of size 0.2 the norm is 8<!--[[norm_after(0.2, 40):.0f]]--> after 40 steps, where $U$ by itself would make it more than ten million<!--[[? 1.5**40 > 1e7]]-->. The states grow until tanh
#   flattens, and each flat unit shrinks the gradient.
# - The product of the norms (dashed) is a valid bound but a loose one, because the vector that one step stretches most
#   seldom leaves it in the direction that the next step stretches most.
# - Blue rings mark the eigenvalues of $U$. Orange dots mark those of the product over $d$ steps; we plot the $d$-th root of their absolute value, so both show
#   growth per step.
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# ### Do bounded activations bound gradients?


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

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
told = [(t, f"{states[t - 1]:.6f}", f"{gradients[t - 1]:.4f}") for t in (1, *range(10, 61, 10))]
course = show.table(told, ["t", "h", "∂h_t/∂h_0"])
show.predict(
    "True or false: the output of tanh never leaves $(-1, 1)$, so a network of tanh units cannot have exploding gradients.",
    choices=["true", "false"],
    answer="false" if max(gradients) > 1000 else "true",
    why="Compare the state and its derivative at t = 30 and at t = 60.",
    reveals=course,
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# The statement is false. The state never exceeds 0.86<!--[[max(states):.2f]]-->, while its derivative is above 100,000 at $t = 30$<!--[[? gradients[29] > 100_000]]-->. If the unit starts at
# $+10^{-6}$, it ends at $+0.86$; if it starts at $-10^{-6}$, it ends at $-0.86$. Two states that were almost indistinguishable have
# ended far apart. Later the factor of each step is below 1, and the same product vanishes<!--[[? gradients[59] < 1e-3]]-->.
# </details>
#
# **Bounded states do not bound the gradient**, which says how much a state *changes*, not how large it is.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 4. Gradient against distance, measured
#
# You can *measure* this gradient. Run any cell over a text, take a loss that depends only on the last state, and let autograd compute
# $\|\partial L / \partial h_t\|$ for every $t$. `nlmcore.diagnostics.gradient_norms` does this for any cell:

# %% [markdown] slideshow={"slide_type": "notes"}
# *Ask what a straight line on this axis means. (A constant factor per step.) What goes wrong: students conclude that the cell with
# the best curve at initialisation learns best; the second picture and section 7 say otherwise. Ask the question about AdamW aloud, and
# wait. 13 minutes, four of them for the playground and four for AdamW.*


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
def build(name, initialisation, gain, hidden=24):
    """A cell whose recurrent blocks are initialised in one of three ways and multiplied by a gain."""
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
    """‖∂L_T/∂h_t‖ for every t, the mean over texts; L is the sum of the last state's values."""
    return gradient_norms(cell, inputs).state.mean(dim=0)


texts = 0.3 * torch.randn(4, 101, 8, generator=draw, dtype=torch.float64)

# %% [markdown] slideshow={"slide_type": "subslide"}
# We compare the plain recurrent network (RNN) with three gated cells, UGRNN, GRU and LSTM. We initialise the recurrent weights in three
# ways: **uniform** in $\pm 1/\sqrt{24}$, PyTorch's default for 24 units; **orthogonal**; the **identity** matrix. A **gain**, a single
# factor, multiplies all recurrent weights.

# %% slideshow={"slide_type": "skip"}
kinds = {"RNN": "rnn", "UGRNN": "ugrnn", "GRU": "gru", "LSTM": "lstm"}


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
def powers_lost(cell, initialisation, gain, size=1):
    """By how many orders of magnitude the gradient shrinks over 100 steps; size multiplies the inputs."""
    norms = state_norms(build(cell, initialisation, gain), size * texts)
    return math.log10(norms[-1] / norms[0])


def slope(initialisation, gain):
    """The mean of 1 − h² over all units and steps of an RNN."""
    with torch.no_grad():
        states = unroll(build("rnn", initialisation, gain), texts).gates["hidden"]
    return float((1 - states**2).mean())


initialisations = ["uniform", "orthogonal", "identity"]
lost = {name: powers_lost("rnn", name, 1.0) for name in initialisations}
show.predict(
    "An RNN reads 100 steps, with gain 1. Sort the three initialisations by how much the gradient shrinks from the last step to the first. Put the initialisation whose gradient shrinks most first.",
    order=initialisations[::-1],
    answer=sorted(lost, key=lost.get, reverse=True),
    why="What happens with a gain of 2?",
    reveals=widgets.gradient_playground(
        state_norms, build, kinds, ["uniform", "orthogonal", "identity"], texts
    ),
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - **RNN**: with uniform weights the gradient falls by 23<!--[[lost["uniform"]:.0f]]--> orders of magnitude over 100 steps. That is a factor of 0.59<!--[[10 ** (-lost["uniform"] / 100):.2f]]--> per step,
#   close to the spectral radius of this matrix, 0.60<!--[[spectrum(build("rnn", "uniform", 1.0).weight_hh).radius:.2f]]-->. (The spectral radius of a large matrix of $n \times n$ independent entries is about $\sqrt n$ times their standard deviation; here
#   that is $1/\sqrt 3 \approx 0.58$.) With orthogonal weights the gradient falls by fewer than three
#   orders, with the identity by fewer than two<!--[[? 2 < lost["orthogonal"] < 3 and 1 < lost["identity"] < 2]]-->.
# - **Gain 2**: the gradient of the orthogonal RNN explodes, by more than six orders of magnitude<!--[[? powers_lost("rnn", "orthogonal", 2) < -6]]-->. With the identity it vanishes
#   faster than with the other two<!--[[? powers_lost("rnn", "identity", 2) > max(powers_lost("rnn", other, 2) for other in ("uniform", "orthogonal"))]]-->. There each unit feeds back only into itself, and saturates: the mean slope of tanh is 0.12<!--[[slope("identity", 2):.2f]]-->, compared with 0.48<!--[[slope("orthogonal", 2):.2f]]--> with
#   orthogonal weights.
# </details>
#
# A straight line on this logarithmic axis means a constant factor per step. With uniform and with orthogonal weights the RNN's line at gain 1 is nearly straight<!--[[? all(np.corrcoef(range(len(norms)), norms.log10())[0, 1] ** 2 > 0.998 for norms in (state_norms(build("rnn", of, 1.0), texts) for of in ("uniform", "orthogonal")))]]-->: **its gradient
# falls exponentially with distance**. Section 7 says when it must (Pascanu et al. 2013).

# %% [markdown] slideshow={"slide_type": "skip"}
# <details><summary><b>More to notice</b></summary>
#
# - The inputs here are small, with a standard deviation of 0.3. Larger inputs saturate the units. With a standard deviation of 1 the
#   gradient of the orthogonal RNN falls by 8<!--[[powers_lost("rnn", "orthogonal", 1, 1 / 0.3):.0f]]--> orders.
# - The **UGRNN** and the **LSTM** lose at most eight orders of magnitude<!--[[? max(powers_lost("ugrnn", "uniform", 1), powers_lost("lstm", "uniform", 1)) < 8.05]]--> with uniform weights, whereas the **GRU** loses 20<!--[[powers_lost("gru", "uniform", 1):.0f]]-->. But the cells also
#   start with different biases. In our UGRNN and LSTM a bias of 1 makes a unit keep more of its value from step to step; in the GRU, as in
#   PyTorch's, this bias is about 0. [Lecture 8](08_gates.ipynb) explains gates and gives all three the same bias.
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# So far the cells of this section have been untrained. Does a network learn to keep its gradient? Here are cells of 64 units, before and after training on
# the copying task with ten blanks (`python -m lectures.recipes memory`).
#
# > **Ask yourself.** Which two cells' gradients at distance 100 change most during training?

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
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
# - The gradients of the RNN and of the GRU change by twenty orders of magnitude: the RNN's from $10^{-23.3}$ to $10^{-3.0}$<!--[[? [round(of["rnn"][100], 1) for of in (before, after)] == [-23.3, -3.0]]]-->, the GRU's from
#   $10^{-20.5}$ to $10^{-0.1}$<!--[[? [round(of["gru"][100], 1) for of in (before, after)] == [-20.5, -0.1]]]-->. A gradient that vanishes at the start need not vanish forever.
# - After training, all four keep a gradient. But the RNN copied only 25<!--[[100 * memory["copy_accuracy"]["rnn"]["10"]:.0f]]--> % of the symbols, the gated cells 100<!--[[100 * min(memory["copy_accuracy"][cell]["10"] for cell in ("ugrnn", "gru", "lstm")):.0f]]--> %.
# </details>
#
# **A gradient that reaches the distant steps is not sufficient for learning, and a gradient that is tiny at first does not rule out learning.**
# (These are single runs, one for each cell and delay; section 7 has five seeds.)

# %% [markdown] slideshow={"slide_type": "skip"}
# <details><summary><b>More to notice</b></summary>
#
# - With 80 blanks a network must remember each symbol for 85 steps. At this distance the RNN's gradient is $10^{-19.8}$<!--[[? round(before["rnn"][85], 1) == -19.8]]--> before training, and the RNN learned nothing<!--[[? memory["copy_accuracy"]["rnn"]["80"] < 0.15]]-->. The GRU's gradient before training is tiny as well, $10^{-17.5}$<!--[[? round(before["gru"][85], 1) == -17.5]]-->, and the GRU learned the task<!--[[? memory["copy_accuracy"]["gru"]["80"] > 0.9]]-->.
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# ### AdamW divides by the gradient's size. Why does a small gradient matter?
#
# All these networks were trained with AdamW ([lecture 5](05_training_well.ipynb)), which divides each weight's gradient by that gradient's
# recent size. If you divide the whole gradient by a hundred, AdamW takes nearly the same steps. So why should a vanishing gradient do any
# harm?
#
# Look at the gradient that AdamW receives. The matrix $U$ acts at every step, so its gradient is a sum over steps:
#
# $$\frac{\partial L}{\partial U} = \sum_t h_{t-1}^\top\, \delta_t, \qquad \delta_t = \frac{\partial L}{\partial a_t}, \qquad
#   a_t = x_t W + h_{t-1} U.$$
#
# Each $\delta_t$ has passed through the product of Jacobians of section 3. To see the terms separately, we give each step its own copy
# of $U$:


# %% slideshow={"slide_type": "fragment"}
def gradient_by_step(model, tokens, targets):
    """The terms of ∂L/∂U, (time, n, n); L is the loss of the five symbols that the network writes."""
    cell = model.recurrent.cells[0]
    inputs = model.embedding(tokens) @ cell.weight_ih.T + cell.bias_ih + cell.bias_hh
    copies = [cell.weight_hh.T.detach().clone().requires_grad_() for _ in range(tokens.shape[1])]
    states = [torch.zeros(len(tokens), cell.d_hidden)]
    for t, U in enumerate(copies):
        states.append(torch.tanh(inputs[:, t] + states[-1] @ U))
    logits = model.output(torch.stack(states[-5:], dim=1))
    loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), targets[:, -5:].flatten())
    return torch.stack(torch.autograd.grad(loss, copies))


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
def from_the_symbols(initialisation, seed):
    """The five terms after the symbols: the norm of their sum, in percent of that of the whole gradient."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = fresh(48, initialisation)
    tokens, targets, _ = copying_batch(10, 32, torch.Generator().manual_seed(seed))
    terms = gradient_by_step(model, tokens, targets)
    return 100 * float(terms[1:6].sum(0).norm() / terms.sum(0).norm())


distant = {name: [from_the_symbols(name, seed) for seed in range(5)] for name in initialisations}
told = [(name, show.from_to(values, "{:.2g}")) for name, values in distant.items()]
by_initialisation = show.table(told, ["", "% of the gradient's norm (five seeds)"])
show.predict(
    "An untrained RNN with uniform weights reads the copying task: five symbols, ten blanks, five signals. In five terms of its gradient, "
    "$h_{t-1}$ is the state just after a symbol. How large is the norm of their sum, compared with that of the whole gradient?",
    choices={"a quarter of it": 25, "a thirtieth": 3, "less than a hundredth": 0.3},
    answer=sorted(distant["uniform"])[2],
    unit=" %",
    why="How large is this part for the other two initialisations?",
    reveals=by_initialisation,
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - With uniform weights the five terms make up less than half a percent<!--[[? max(distant["uniform"]) < 0.5]]--> of the gradient.
# - With orthogonal weights they make up 21<!--[[min(distant["orthogonal"]):.0f]]--> to 32<!--[[max(distant["orthogonal"]):.0f]]--> %, with the identity 10<!--[[min(distant["identity"]):.0f]]--> to 13<!--[[max(distant["identity"]):.0f]]--> %. Section 7 shows what the three learn.
# </details>
#
# **AdamW rescales the sum, not its terms.** With uniform weights, the terms of the distant steps still hardly count.

# %% [markdown] slideshow={"slide_type": "skip"}
# > **What goes wrong.** There are three ways to get the measurement of this section wrong. (1) You take *the gradient of the weights* instead of that of the
# > states. That gradient is a sum over all time steps, which the most recent ones can dominate. (2) You take *a loss at every step*
# > instead of only at the last. Then $\partial L/\partial h_t$ also contains the loss of time $t$ itself, and nothing seems to
# > vanish. (3) You compute in *single precision*, where any value below $10^{-45}$ becomes 0, and the logarithm of 0 does not
# > measure anything.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 5. The cliff
#
# If the gradient vanishes, nothing breaks; the network may simply not learn long-range dependencies. If it explodes, you notice. Pascanu,
# Mikolov & Bengio (2013, figure 6) show such an explosion in a network with one unit and two weights:
#
# $$x_t = w\, \sigma(x_{t-1}) + b, \qquad x_0 = 0.5, \qquad L = (\sigma(x_{50}) - 0.7)^2, \qquad \sigma(x) = \frac{1}{1 + e^{-x}}.$$
#
# ($\sigma$ is the logistic function. In this section, as in Pascanu et al., $x_t$ is the state, not the input; $x_t$ and $w$ are scalars.) There are fifty steps, and one loss after the last. The
# chain rule gives the derivative of each $x_t$ from that of the previous one,
# $\partial x_t / \partial w = \sigma(x_{t-1}) + w\, \sigma'(x_{t-1})\, \partial x_{t-1} / \partial w$:


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


places = (-2.0, -2.5, -2.54, -2.55, -2.56, -2.6, -3.0)
steep = {b: math.hypot(*loss_and_gradient(4.9, b)[1:]) for b in places}
for b, norm in steep.items():
    print(f"b = {b:5.2f}   loss {loss_and_gradient(4.9, b)[0]:.3f}   gradient norm {norm:8.3f}")

# %% [markdown] slideshow={"slide_type": "subslide"}
# Between $b = -2.5$ and $-2.6$ the loss jumps<!--[[? loss_and_gradient(4.9, -2.6)[0] > 0.3 > loss_and_gradient(4.9, -2.5)[0]]]-->, and at the jump the gradient is about a hundred times larger than on either side<!--[[? 80 < steep[-2.55] / max(steep[-2.54], steep[-2.56]) < 150]]-->. This
# is a **cliff**. If gradient descent lands on it, the next step may throw the weights far away. The remedy, **clipping by the norm** (Pascanu et
# al., algorithm 1), keeps the direction and limits the length:
#
# $$g \leftarrow \frac{n_{\max}}{\|g\|}\; g \qquad \text{when } \|g\| > n_{\max}, \qquad \|g\| = \sqrt{\textstyle\sum_p \|g_p\|^2},$$
#
# where the sum runs over *all* parameters $p$ of the network, its matrices and biases. So there is one norm and one factor for all of them.


# %% slideshow={"slide_type": "fragment"}
def clip_by_norm(gradients, n_max):
    """All parameters together: one norm, one factor."""
    norm = torch.sqrt(sum((g**2).sum() for g in gradients))
    return [g * n_max / norm for g in gradients] if norm > n_max else gradients


def clip_each_entry(gradients, n_max):
    """Every entry separately: a different rule."""
    return [g.clamp(-n_max, n_max) for g in gradients]


def no_clipping(gradients, n_max):
    return gradients


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
def descend(rule, n_max, rate, steps=60):
    """The path from w = 6, b = −2.75, and the loss before and after each step."""
    here, losses = np.array([6.0, -2.75]), []
    for _ in range(steps + 1):
        loss, *gradient = loss_and_gradient(*here)
        losses.append(float(loss))
        last, change = here, rule([torch.tensor([g]) for g in gradient], n_max)
        here = here - rate * np.array([float(g) for g in change])
    return last, losses


def clipped_steps(n_max):
    """How many of the 60 steps of the path clipped by its norm the clipping shortens."""
    norms = []

    def counted(gradients, limit):
        norms.append(torch.cat(gradients).norm())
        return clip_by_norm(gradients, limit)

    descend(counted, n_max, 1)
    return sum(bool(norm > n_max) for norm in norms[:60])


direction = math.radians(20)
long = [torch.tensor([3 * math.cos(direction)]), torch.tensor([3 * math.sin(direction)])]
across, up = (g.item() for g in clip_each_entry(long, 1.0))
show.predict(
    "A network has two parameters of one value each. Their gradient has length 3 and direction 20°. "
    "What is its direction after clipping each entry to $\\pm 1$?",
    within=1,
    answer=math.degrees(math.atan2(up, across)),
    unit="°",
    why="Both entries exceed 1. Which directions does this rule keep?",
    reveals=widgets.clipping_playground(clip_by_norm, {"each entry": clip_each_entry}),
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>The answer explained</b></summary>
#
# The gradient (2.82<!--[[long[0].item():.2f]]-->, 1.03<!--[[long[1].item():.2f]]-->) becomes (1, 1)<!--[[? (across, up) == (1, 1)]]-->, which points to 45<!--[[math.degrees(math.atan2(up, across)):.0f]]-->°. Every gradient whose two entries both exceed the limit in absolute value ends at one of the
# four corners $(\pm n_{\max}, \pm n_{\max})$. Of the gradients that are clipped, only those along the axes and the diagonals keep their direction.
# </details>
#
# **Clipping by the norm never changes the direction, and never lengthens anything.**

# %% [markdown] slideshow={"slide_type": "subslide"}
# Now we run gradient descent from $w = 6$, $b = -2.75$, without clipping and with each of the two rules, at one learning rate.
#
# > **Ask yourself.** In the picture below, shading means a large loss. Where does each run end after 60 steps: at the bottom (unshaded), on the shaded side, or out of
# > the picture?

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
# - **Not clipped**: the path slides down and bounces along the edge until it lands on the cliff. The next step throws it out of the
#   picture<!--[[? descend(no_clipping, 0.3, 1)[0][1] > 0]]-->, onto a plateau where the loss is 0.0899<!--[[descend(no_clipping, 0.3, 1)[1][-1]:.4f]]--> and the
#   gradient is nearly 0.
# - **Clipped by its norm**: the path meets the same cliff, but is pushed back only a little. After 60 steps the loss is 0.0247<!--[[descend(clip_by_norm, 0.3, 1)[1][-1]:.4f]]-->. It
#   was below 0.001 on the way<!--[[? min(descend(clip_by_norm, 0.3, 1)[1]) < 0.001]]-->, but with steps of this length the path keeps bouncing and cannot settle.
# - A lower rate, 0.1, only postpones the jump. After 450 steps the path without clipping is out of the picture<!--[[? descend(no_clipping, 0.3, 0.1, 450)[0][1] > 0]]-->; the path with clipping by the norm has a loss below 0.001<!--[[? descend(clip_by_norm, 0.3, 0.1, 450)[1][-1] < 0.001]]-->.
# </details>
#
# **Clipping at 0.3 shortens only 7<!--[[clipped_steps(0.3)]]--> of the 60 steps here. Without it a single step throws the path out.**

# %% [markdown] slideshow={"slide_type": "skip"}
# <details><summary><b>More to notice</b></summary>
#
# - **Each entry clipped**: this path also survives, with diagonal steps; here it ends higher, with a loss of 0.0393<!--[[descend(clip_each_entry, 0.3, 1)[1][-1]:.4f]]-->.
# - If you set $n_{\max}$ to 3, nearly every step remains unchanged, but the one that matters is still long enough to throw the path
#   out<!--[[? descend(clip_by_norm, 3, 1)[0][1] > 0]]-->. If you lower the learning rate to 0.1, the three paths coincide<!--[[? descend(clip_by_norm, 0.3, 0.1)[1] == descend(no_clipping, 0.3, 0.1)[1]]]-->, because in these 60 steps no gradient exceeds the limit. But the descent is slow: the loss falls only from 0.063<!--[[descend(no_clipping, 0.3, 0.1)[1][0]:.3f]]--> to 0.031<!--[[descend(no_clipping, 0.3, 0.1)[1][-1]:.3f]]-->.
# </details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *Step through to about 45, then go slowly, because the jump comes between 50 and 55. Ask what the loss curves of the orange and
# the green path would look like. What goes wrong: students blame only the learning rate; set it to 0.1 and show how slowly the
# loss falls, then read the last point of the answer. 10 minutes, five of them here.*

# %% [markdown] slideshow={"slide_type": "skip"}
# > **What goes wrong.** Four rules look like clipping by the norm, but are not. **Clipping each entry** (`clip_grad_value_` in
# > PyTorch) changes the direction. **Clipping each parameter by its own norm** changes the direction in the space of *all* weights,
# > since it shrinks the large gradient of one matrix but not the small gradient of another. **Clipping before the gradients are
# > complete** does not limit the complete gradient; if you accumulate a large batch from several small ones, clip once, after the
# > last `backward()`. **Always dividing**, even when $\|g\| < n_{\max}$, *lengthens* small gradients, so that the descent never
# > settles.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 6. Clipping in a real training run
#
# Now we train a real network. A tanh network of 64 units reads a play, 50 characters at a time, and learns to predict the next
# character. Its recurrent weights start orthogonal, with a gain of 1.2. We use plain gradient descent, so that nothing but the
# learning rate scales the gradient.

# %% [markdown] slideshow={"slide_type": "notes"}
# *Ask what they would watch to notice an explosion before the loss does. (The norm before clipping.) What goes wrong: they read one
# run as a comparison of methods. It is one seed; say so. 7 minutes, most of them for moving the two sliders together.*

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
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


# %% slideshow={"slide_type": "skip"}
limits = {"no clipping": None, "1": 1.0, "0.3": 0.3}
runs = {(limit, rate): train(limits[limit], rate) for limit in limits for rate in (0.5, 1.0, 2.0)}

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
import ipywidgets


def draw_training(n_max, rate):
    losses, norms = runs[n_max, rate]
    steps, spoken = range(1, len(losses) + 1), f"n_max {n_max}, learning rate {rate}"
    last, peak = sum(losses[-15:]) / 15, max(norms)
    clipped = 0 if limits[n_max] is None else sum(norm > limits[n_max] for norm in norms)
    curve = show.lines_svg(
        steps, {"loss (nats per character)": losses}, title=f"n_max: {n_max}, learning rate {rate:g}", x_title="step",
        y_title="loss", low=0, high=12 if max(losses) < 12 else 54, width=445, height=350, alt=f"Loss, {spoken}: mean of the last 15 steps {last:.2f}.",
    )  # fmt: skip
    size = show.lines_svg(
        steps, {"‖g‖ before clipping": np.log10(norms)}, x_title="step", y_title="norm", low=-2, high=6, powers=True,
        width=445, height=350, title="gradient norm", alt=f"Gradient norm, {spoken}: at most {peak:.3g}.",
    )  # fmt: skip
    return show.beside(curve, size) + show.said(
        f"loss, mean of the last 15 steps: {last:.2f}; largest norm {peak:.2g}; clipped {clipped} steps of {len(losses)}"
    )


wild = runs["no clipping", 2.0][0]
end = {setting: sum(losses[-15:]) / 15 for setting, (losses, _) in runs.items()}
shares = rows.flatten().bincount() / rows.numel()
by_frequency = float(torch.special.entr(shares).sum())  # if you know only the frequencies
useful = stored("clipping")
highest = ["its first value, since it only falls", "a little higher, below 6", "above 6"]
show.predict(
    f"Without clipping, at a learning rate of 2, the loss starts at {wild[0]:.2f}. What is the highest loss in the 60 steps?",
    choices=highest,
    answer=highest[(max(wild) > wild[0]) + (max(wild) > 6)],
    why="At least one step lands far away. Which is better, a smaller learning rate or clipping?",
    reveals=widgets.live(
        draw_training,
        n_max=ipywidgets.SelectionSlider(options=list(limits), description="n_max"),
        rate=ipywidgets.SelectionSlider(options=[0.5, 1.0, 2.0], value=2.0, description="rate"),
    ),
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - Without clipping, at a rate of 2, the loss starts at 4.35<!--[[wild[0]:.2f]]-->, about the loss of a blind guess, and at least one step throws it far above that<!--[[? max(wild) > 7]]-->. How far, and whether it recovers
#   within the 60 steps, may differ on your machine. The gradient's norm before clipping jumps as well.
# - At a rate of 0.5 nothing ever explodes<!--[[? max(runs["no clipping", 0.5][0]) == runs["no clipping", 0.5][0][0]]]-->, and without any clipping the loss ends at about 3.36<!--[[? abs(end["no clipping", 0.5] - 3.36) < 0.015]]-->.
# </details>
#
# After these 60 steps the loss is about the same whether we clip at 0.3 at a rate of 2, or do not clip at 0.5<!--[[? abs(end["0.3", 2.0] - end["no clipping", 0.5]) < 0.05]]-->; no run predicts clearly better than the
# frequencies of the characters<!--[[? min(end.values()) > by_frequency - 0.05]]-->. So we trained for 600<!--[[useful["steps"]]]--> steps on more plays, with five seeds and each version at its best rate (`python -m lectures.recipes clipping`).
#
# **After 600<!--[[useful["steps"]]]--> steps the network clipped at 0.3, at a rate of 4<!--[[useful["rows"]["clipped at 0.3"]["rate"]:.0f]]-->, is 0.20<!--[[useful["saved"]["clipped at 0.3"][0]:.2f]]--> ± 0.02<!--[[useful["saved"]["clipped at 0.3"][1]:.2f]]--> nats per character better than the network without clipping at its best rate, 0.5<!--[[useful["rows"]["no clipping"]["rate"]:.1f]]--><!--[[? useful["saved"]["clipped at 0.3"][0] > useful["saved"]["clipped at 0.3"][1]]]-->.** At a rate of 1
# the network without clipping loses to counting pairs of characters<!--[[? useful["rows"]["no clipping"]["tried"]["1"] > useful["floor"]]]-->. But clipping does not bring back a gradient that has vanished.

# %% [markdown] slideshow={"slide_type": "skip"}
# <details><summary><b>More to notice</b></summary>
#
# - Clipped at 0.3, the run at a rate of 2 ends at about 3.35<!--[[? abs(end["0.3", 2.0] - 3.35) < 0.02]]-->; clipped at 1, it survives, but with jumps<!--[[? max(runs["1", 2.0][0][1:]) > runs["1", 2.0][0][0]]]-->.
# - With $n_{\max} = 0.3$ and a rate of 2 nearly every step is clipped<!--[[? sum(norm > 0.3 for norm in runs["0.3", 2.0][1]) > 50]]-->, so this is gradient descent with steps of nearly constant length.
#   Pascanu et al. (2013, section 3.2) choose $n_{\max}$ after watching the average norm for a while.
# </details>

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 7. What the conditions say, and what helps
#
# The table follows Pascanu et al. (2013, section 2.1), for $h_t = \tanh(\dots)$, whose slope is at most $\gamma = 1$ (for the
# logistic $\sigma$ it is $\gamma = 1/4$):
#
# | condition | You may conclude | You may not conclude |
# |---|---|---|
# | The largest *singular value* of $U$ is below $1/\gamma$. | The gradient **must** vanish (the condition is sufficient). | A value above $1/\gamma$ would keep the gradient. |
# | The largest singular value is above $1/\gamma$. | The gradient **may** explode (the condition is necessary). | It does explode: tanh may saturate. |
# | All $\lvert\lambda\rvert$ are below 1, *without* tanh and inputs. | $\|U^t\|$ tends to 0. | $\|U^t\|$ never grows on the way. |
# | All $\lvert\lambda\rvert$ are below 1, *with* tanh and inputs. | Nothing, because each step has a *different* matrix. | The gradient vanishes. |

# %% [markdown] slideshow={"slide_type": "notes"}
# *Ask: which row lets you sleep at night? (The first, because singular values bound products.) What goes wrong: students swap
# "sufficient" and "necessary", and multiply eigenvalues of different matrices. 6 minutes; skip the last cell if time is short.*

# %% slideshow={"slide_type": "fragment"}
U2 = 2 * torch.tensor([[1.0, 1.0], [-1.0, -1.0]])

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
told = []
for slopes in ([1.0, 1.0], [1.0, 0.1]):
    J = torch.diag(torch.tensor(slopes)) @ U2.T
    norm = spectrum(J).singular_values[0]
    told.append(("{} and {}".format(*slopes), f"{spectrum(J).radius:.2f}", f"{norm:.2f}"))
spectra = show.table(told, ["Slopes", "Spectral radius", "Norm"])
show.predict(
    "The matrix `U2` has no eigenvalue except 0, and its square is 0, so without tanh the network would forget everything in two steps. "
    "Now one of its two units saturates to a slope of 0.1. What is the largest eigenvalue of the Jacobian?",
    choices={"0": 0, "0.1": 0.1, "1.8": 1.8},
    answer=float(spectrum(J).radius),
    why="Saturating one unit made the eigenvalue *larger*. Can you see which two paths cancelled each other before?",
    reveals=spectra,
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>The answer explained</b></summary>
#
# The largest eigenvalue is 1.80<!--[[spectrum(J).radius:.2f]]-->. Before the saturation, two paths cancelled each other. Now one of them carries only a tenth of its signal. Singular
# values are safe to reason with, because the norm of a product is at most the product of the norms. Eigenvalues of different matrices do not
# multiply.
# </details>
#
# **Saturation shrinks one path. If that path cancelled another one, the gradient may grow.**

# %% [markdown] slideshow={"slide_type": "subslide"}
# | problem | remedy | where |
# |---|---|---|
# | exploding | clip by the norm | this lecture |
# | both, at the start | orthogonal or identity initialisation (Saxe et al. 2014; Le, Jaitly & Hinton 2015, who pair the identity with ReLU; our cells use tanh) | section 4, next cell |
# | vanishing | a path through time with a learned factor near 1: gates | [lecture 8](08_gates.ipynb) |
# | vanishing | a shorter path: look back directly | [lecture 12](12_attention.ipynb) |
# | the cost of length | cut the gradient after $k$ steps (truncation): it vanishes there *by decree* | [lecture 6](06_recurrent_networks.ipynb) |
#
# > **Ask yourself.** Here is the race of section 1 again, this time only with the plain RNN, which now begins with other matrices $U$. The orthogonal and the
# > identity matrix both keep more than half of the gradient over 15 steps<!--[[? min(kept["RNN, identity"]) > 0.5 and min(kept["RNN, orthogonal"]) > 0.5]]-->. After 250 steps, does one of these two networks copy better than the other?

# %% slideshow={"slide_type": "fragment"}
starts = ["orthogonal", "identity", "orthogonal / √3", "uniform, radius 1"]
race_table = [
    (name, show.from_to(kept[name], "{:.4f}"), show.from_to(copied[name]))
    for name in ("RNN", *(f"RNN, {start}" for start in starts))
]
longer = stored("initialisation")["copy_accuracy"]["orthogonal"]
by_delay = ", ".join(f"{d} blanks: {100 * r:.0f} %" for d, r in longer.items())
show.table(
    race_table,
    ["", "Gradient left after 15 steps", "% copied correctly (lowest to highest seed)"],
    note=f"The orthogonal network after 1,500 steps, one run for each delay: {by_delay}",
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - The orthogonal network copies 96<!--[[min(copied["RNN, orthogonal"]):.0f]]--> to 99<!--[[max(copied["RNN, orthogonal"]):.0f]]--> % in all five seeds, more than every gated cell<!--[[? min(copied["RNN, orthogonal"]) > max(max(copied[name]) for name in cells_raced)]]--> of this short race. We changed one
#   matrix and added no gate.
# - **Two controls** change only the scale of a matrix. Divided by $\sqrt 3$, the orthogonal matrix has about the spectral radius of the uniform one, and
#   copies only 19<!--[[min(copied["RNN, orthogonal / √3"]):.0f]]--> to 25<!--[[max(copied["RNN, orthogonal / √3"]):.0f]]--> %. Scaled to a radius of 1, the uniform matrix copies 31<!--[[min(copied["RNN, uniform, radius 1"]):.0f]]--> to 68<!--[[max(copied["RNN, uniform, radius 1"]):.0f]]--> %, more than unscaled with every seed<!--[[? min(copied["RNN, uniform, radius 1"]) > max(copied["RNN"])]]-->.
# </details>

# %% [markdown] slideshow={"slide_type": "skip"}
# <details><summary><b>More to notice</b></summary>
#
# - A different learning rate does not achieve what the orthogonal matrix does. At the best of five rates the uniform network copied 16<!--[[100 * min(stored("gate_bias")["rows"]["RNN"]["right"]):.0f]]--> to 22<!--[[100 * max(stored("gate_bias")["rows"]["RNN"]["right"]):.0f]]--> % (`python -m
#   lectures.recipes gate_bias`).
# - At the learning rate of the race, which we did not tune for it, the identity network copies only 12<!--[[min(copied["RNN, identity"]):.0f]]--> to 31<!--[[max(copied["RNN, identity"]):.0f]]--> %.
# - In one longer run for each delay (`python -m lectures.recipes initialisation`) the
#   orthogonal network copied after 20 blanks and only guessed after 40<!--[[? longer["20"] > 0.995 and longer["40"] < 0.15]]-->. Yet at the start 22<!--[[100 * 10 ** stored("initialisation")["gradient_log10"]["orthogonal"][40]:.0f]]--> % of its gradient was left after 40 steps. We
#   do not know why it failed.
# </details>

# %% [markdown] slideshow={"slide_type": "fragment"}
# **Why does the plain network hardly get above guessing? With the usual initial weights every step shrinks what the state keeps of an
# earlier symbol, and the gradient that leads back to that symbol, until the distant steps hardly count.** An orthogonal initial matrix, which hardly shrinks them, is enough here; scaled down to shrink them as much, it fails as well. But a gradient that reaches the
# distant steps is not always enough (the identity matrix, at this learning rate), one that is tiny at first can grow (the GRU), and
# clipping only tames explosions. Gates are the next lecture's answer.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Now you
#
# Write the clipping yourself, and compare it with ours. The code below is correct. Break it: use one norm per parameter,
# no `if`, the squared norm, or the largest entry instead of the norm. Move the sliders and see what each mistake does, and
# whether you can see it at all.

# %% [markdown] slideshow={"slide_type": "notes"}
# *Now you: 5 minutes in pairs, if there are laptops in the room. Give each pair one of the four mistakes, and ask who can see
# theirs and at which slider settings. What goes wrong: they conclude that a rule is right because the default settings do not show
# the difference; without the `if`, for example, you have to make the gradient shorter than n_max.*


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
# `cliff_playground` also takes `yours=my_clip`; `gradient_playground` takes your own `state_norms(cell, inputs)`, and
# `matrix_powers` your own `power_norms`. In the assignment
# [`exercises/recurrence/recurrence.ipynb`](../exercises/recurrence/recurrence.ipynb) you build the clipping, in
# [`exercises/gates/gates.ipynb`](../exercises/gates/gates.ipynb) the norms of gradients. The checks tell you which mistake you
# made.

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Check yourself
#
# 1. The factor per step is 0.95. After how many steps has a gradient fallen below one hundredth of its original size?
# <details><summary>Answer</summary>0.95^t < 0.01 for t above ln 0.01 / ln 0.95 = 89.8<!--[[math.log(0.01) / math.log(0.95):.1f]]-->, so after 90<!--[[math.ceil(math.log(0.01) / math.log(0.95))]]--> steps.</details>
#
# 2. All eigenvalues of $U$ have $|\lambda| = 0.9$. Can $\|U^{10}\|$ be larger than 1?
# <details><summary>Answer</summary>Yes, if U is not normal, like the chain, because eigenvalues describe only the long
# run.</details>
#
# 3. The gradients of two parameters are $(3, 0)$ and $(0, 4)$, and $n_{\max} = 1$. What are they after clipping?
# <details><summary>Answer</summary>The joint norm is 5, so each is divided by 5: (0.6<!--[[3 / 5]]-->, 0) and (0, 0.8<!--[[4 / 5]]-->). Each clipped by its own norm,
# they would become (1, 0) and (0, 1), which is a different direction.</details>
#
# 4. All states of a tanh network are near $\pm 1$. Does its gradient explode or vanish?
# <details><summary>Answer</summary>Every factor 1 − h² is near 0, so it vanishes unless the weights are very large. (If only *some* units saturate, it may even
# explode; see section 7.)</details>
#
# 5. The largest singular value of $U$ is 1.2 in a tanh network. Does the gradient explode?
# <details><summary>Answer</summary>You cannot tell. A value above 1 is necessary for an explosion, but not sufficient.</details>
#
# 6. Does clipping help a network to learn a dependency on a word 46 words back?
# <details><summary>Answer</summary>Not by itself, because it shortens long gradients and leaves short ones short. It may allow a
# larger learning rate.</details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *Check yourself: 5 minutes, or homework. Question 3 on the board, because it separates the joint norm from a norm per parameter.
# What goes wrong: in question 5 they say yes. Ask what tanh does to a state that grows.*

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Notation, words, sources
#
# | here | elsewhere | what it is |
# |---|---|---|
# | $h_t = \tanh(x_t W + h_{t-1} U)$, rows | $h_t = \sigma(U h_{t-1} + W x_t)$, columns; $x_t = W_{rec}\,\sigma(x_{t-1}) + W_{in} u_t + b$ (Pascanu et al.) | one step; ours transposed |
# | $J_j = \mathrm{diag}(1 - h_j^2)\, U^\top$ | $\partial h_j / \partial h_{j-1}$, $W_{rec}^\top \mathrm{diag}(\sigma'(x_{j-1}))$ | one step's Jacobian |
# | $J_T \cdots J_{t+1}$ | $\prod_{j=t+1}^{T} \partial h_j / \partial h_{j-1}$ | how the state at $T$ depends on the state at $t$ |
# | $\rho$, the largest $\lvert\lambda\rvert$ | spectral radius | average growth per step in the long run |
# | $s$, the largest singular value | $\sigma$, $\|W\|$, $\|W\|_2$, $\lambda_1$ (Pascanu et al.) | the most that one step can stretch a vector |
# | $n_{\max}$ | threshold, max_norm, $\theta$ | the longest gradient allowed |
# | $g$ | $\hat g$, $\nabla_\Phi L$ | the gradient of all parameters together |

# %% [markdown] slideshow={"slide_type": "notes"}
# *Notation: not for the room. If the room has read Pascanu et al., show the first two rows for a minute, because their x is the
# state and their order of the factors is ours transposed. What goes wrong: σ in the table is a squashing function in one row and a
# singular value in another.*

# %% [markdown] slideshow={"slide_type": "skip"}
# ### Words of this lecture
#
# - **eigenvalue**: a number λ by which a matrix multiplies some vector without changing its direction; powers of the matrix multiply that vector by powers of λ.
# - **spectral radius**: the largest absolute value of a matrix's eigenvalues; in the long run, the powers of the matrix shrink if it is below 1 and grow if it is above 1.
# - **singular value**: how much a matrix stretches one of its perpendicular directions; the largest is the matrix's norm.
# - **norm**: the length of a vector; for a matrix, the most by which it can stretch a vector.
# - **orthogonal matrix**: a matrix that preserves every length; all its singular values, and the absolute values of its eigenvalues, are 1.
# - **non-normal matrix**: a matrix without a full set of perpendicular eigenvectors; its powers may grow before they die out.
# - **Jacobian**: the matrix of all derivatives of one vector with respect to another.
# - **vanishing gradient**: a gradient that shrinks by a factor per step until almost nothing of it is left.
# - **exploding gradient**: a gradient that grows by a factor per step until one update ruins the weights.
# - **saturation**: the state of a unit so far out on its squashing function that its slope is nearly zero.
# - **clipping**: scaling a gradient whose norm exceeds a limit down to that limit, without changing its direction.
# - **gain**: a factor that multiplies the initial weights.
# - **cliff**: a place where the loss changes so steeply that one gradient step throws the weights far away.

# %% [markdown] slideshow={"slide_type": "skip"}
# **Sources.** Hochreiter (1991), Untersuchungen zu dynamischen neuronalen Netzen. Bengio, Simard & Frasconi (1994), Learning
# Long-Term Dependencies with Gradient Descent is Difficult. Pascanu, Mikolov & Bengio (2013), On the Difficulty of Training
# Recurrent Neural Networks, sections 2.1–2.3 and 3.2, figure 6, algorithm 1. Saxe, McClelland & Ganguli (2014), Exact Solutions
# to the Nonlinear Dynamics of Learning in Deep Linear Neural Networks. Le, Jaitly & Hinton (2015), A Simple Way to Initialize
# Recurrent Networks of Rectified Linear Units. Trefethen & Embree (2005), Spectra and Pseudospectra (on matrices that are not
# normal).
