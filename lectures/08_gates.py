# %% [markdown] slideshow={"slide_type": "slide"}
# # Gates: UGRNN, GRU, LSTM
#
# A plain recurrent network rewrites its whole state at every step. In [lecture 7](07_vanishing_gradients.ipynb), with the usual initial
# weights, its gradient did not survive this. **What if the network could leave a value unchanged, for as long as it wants?**
#
# <img src="figures/a_unit_that_counts.svg" width="860" alt="Lines of Shakespeare, each character shaded by one memory unit of a trained network. The shade is faint at the start of every line and grows stronger towards its end.">
#
# *You see one memory unit of a network that was trained to predict the next character of Shakespeare, and nothing else. Along every line
# the value of the unit drifts in one direction, so the shade grows stronger, and at the next line it starts again. At each character
# something must decide how much of this value to keep. That is the task of a gate. In section 6 you find this unit by measuring, test it on a
# different play, and ask whether the network uses it.*
#
# **After this lecture you can**
# - go from a residual connection through time to a gate, and say how long a gate with value $g$ remembers;
# - compute a step of a UGRNN, a GRU and an LSTM by hand;
# - say what a gate value of 1 does in each cell, and where the GRU's two published forms differ;
# - follow the gradient along the LSTM's memory, and say why the forget gate's bias matters;
# - test whether a unit follows something in a text, and whether the network uses it;
# - compare cells on the same footing, and say what our measurements do and do not show.
#
# **You need** [lecture 6](06_recurrent_networks.ipynb) (recurrent networks) and [lecture 7](07_vanishing_gradients.ipynb) (why their gradients vanish). *Vectors are rows*, as in the code;
# $\odot$ multiplies entry by entry; $\sigma(a) = 1 / (1 + e^{-a})$ lies between 0 and 1.

# %% [markdown] slideshow={"slide_type": "skip"}
# | section | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 |
# |---|---|---|---|---|---|---|---|---|
# | minutes | 7 | 8 | 8 | 9 | 8 | 11 | 9 | 3 |
#
# The minutes are for a class. If you work alone, with all predictions and widgets, plan 120 minutes. Section 6, on units that mean
# something, can wait for a second sitting. Every cell runs in under ten seconds on a laptop, without a network connection. *Coming from
# other slides or a paper?* A table at the end translates their notation.

# %% [markdown] slideshow={"slide_type": "notes"}
# *Short of time: do only one of the three circuits by hand, and skip section 8.*

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "skip"}
import copy
import math
import re

import numpy as np
import torch

from IPython.display import HTML

from nlmcore.corpora import load
from nlmcore.diagnostics import gradient_norms, saturation
from lectures.trained import checkpoint
from nlmcore.recurrent import CELLS, GRUCell, LSTMCell, UGRNNCell, unroll
from lectures import show, stored, widgets

torch.set_printoptions(precision=3, sci_mode=False)
torch.set_num_threads(1)  # for matrices as small as these one thread is fastest

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 1. From a residual connection to a gate
#
# A plain network replaces its state at each step by $R_t = \tanh(x_t W + h_{t-1} U)$, so $h_t = R_t$.
# [Lecture 6](06_recurrent_networks.ipynb) had a remedy for *deep* networks, the residual connection, which adds a layer's input to
# its output. Now do the same through time:
#
# $$h_t = h_{t-1} + R_t.$$
#
# The derivative of $h_t$ with respect to $h_{t-1}$ is now the identity plus the derivative of $R_t$, so a gradient can pass. But we only ever
# add to the state; after 1,000 steps it is a sum of 1,000 terms. So mix the old state and $R_t$, with a number $g$ between 0 and 1:
#
# $$h_t = g\, h_{t-1} + (1 - g)\, R_t.$$
#
# Each step multiplies the direct contribution of $h_0$ by $g$, so after $t$ steps a fraction $g^t$ of it is left. The number of steps after
# which half of it is gone is the **half-life**. A unit with such a fixed $g$ is a **leaky unit**.


# %% slideshow={"slide_type": "fragment"}
def mix(h, r, g):
    """The new state: g of the old one, 1 − g of the candidate r."""
    return g * h + (1 - g) * r


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
show.predict(
    f"The half-life for $g = 0.9$ is {math.log(0.5) / math.log(0.9):.1f} steps. What is it for $g = 0.99$?",
    choices={"about 7 steps": 7.2, "about 70 steps": 70, "about 700 steps": 700},
    answer=math.log(0.5) / math.log(0.99),
    why="In the picture on the right, which $g$ follows a noisy jump best?",
    reveals=widgets.gate_playground(mix).opens(gate=0.99),
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - If $g^t = \tfrac12$, then $t = \ln \tfrac12 / \ln g$. So the half-lives are 6.6<!--[[math.log(0.5) / math.log(0.9):.1f]]--> steps and 69<!--[[math.log(0.5) / math.log(0.99):.0f]]--> steps. A small change in $g$ near 1 makes a large change in memory.
# - With a small $g$ the state reacts immediately, but it keeps all the noise. With a large $g$ it is smooth, but late. No fixed $g$ is right: you would like a
#   small one at the jump and a large one elsewhere.
# </details>
#
# So let the network *compute* $g$, at every step and for every unit, from its input and its state. Such a value is a **gate**.

# %% [markdown] slideshow={"slide_type": "notes"}
# *Ask: what would you do with a calendar that erases a tenth of itself every day? What goes wrong: students take g for the fraction
# written; it is the fraction kept. 7 minutes, three of them for the slider.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 2. One gate: the UGRNN
#
# The smallest of our gated cells, the **UGRNN** or update-gate recurrent network (Collins, Sohl-Dickstein & Sussillo 2016), does just that:
#
# $$R_t = \tanh(x_t W^{xR} + h_{t-1} W^{hR} - B^R), \qquad G_t = \sigma(x_t W^{xG} + h_{t-1} W^{hG} - B^G),$$
#
# $$h_t = G_t \odot h_{t-1} + (1 - G_t) \odot R_t.$$
#
# (The superscripts say where a matrix leads: $W^{hR}$ leads from $h$ to $R$. In the other cells the matrix that reads the state is called $U$.
# The biases $B$ are subtracted.) The
# **candidate** $R_t$ is the value that the cell could write; a plain network would take it as its next state. The gate $G_t$ is a
# vector, with a separate value for each unit. If the gate is near 1, the unit keeps its value; if it is near 0, the unit takes the
# candidate.
#
# Let us compute a step by hand, with one unit: $W^{xR} = 2$, $W^{hR} = -1$, $B^R = 0$; $W^{xG} = -2$, $W^{hG} = 1$, $B^G = -1$. The
# input is $x = 1$, the old state $h = 0.5$.

# %% [markdown] slideshow={"slide_type": "notes"}
# *Ask: what must G be for the unit to ignore a word? (1.) What goes wrong: the sign of B. Here B is subtracted, so a negative B opens
# the gate. Let the room compute G before you step through the circuit. 8 minutes.*


# %% slideshow={"slide_type": "fragment"}
def sigmoid(a):
    return 1 / (1 + math.exp(-a))


def ugrnn_step(x, h):
    """Every value in one step of a UGRNN with one unit, in order."""
    G = sigmoid(-2 * x + 1 * h + 1)
    R = math.tanh(2 * x - 1 * h)
    kept, written = G * h, (1 - G) * R
    return {"G": G, "R": R, "kept": kept, "written": written, "new": kept + written}


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
formulas = {
    "G": "G = σ(−2·({x}) + 1·({h}) + 1)",
    "R": "R = tanh(2·({x}) − 1·({h}))",
    "kept": "G·h = {G} · ({h})",
    "written": "(1 − G)·R = (1 − {G}) · ({R})",
    "new": "h[t] = {kept} + {written}",
}

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
by_ugrnn = ugrnn_step(1.0, 0.5)
show.predict(
    "Compute it by hand: if $R = \\tanh(1.5)$ and $G = \\sigma(-0.5)$, what is the new state?",
    within=0.05,
    answer=by_ugrnn["new"],
    why="The gate is below one half, so the new state is nearer to $R$ than to the old state. Step through the circuit:",
    reveals=widgets.cell_player(ugrnn_step, show.CIRCUITS["UGRNN"], formulas, title="UGRNN"),
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - $R$ = 0.905<!--[[by_ugrnn["R"]:.3f]]--> and $G$ = 0.378<!--[[by_ugrnn["G"]:.3f]]-->.
# - So the new state is 0.189<!--[[by_ugrnn["kept"]:.3f]]--> + 0.563<!--[[by_ugrnn["written"]:.3f]]--> = 0.752<!--[[by_ugrnn["new"]:.3f]]-->.
# - With $x = -1$ the gate is 0.971<!--[[ugrnn_step(-1.0, 0.5)["G"]:.3f]]-->, so
#   that input says "keep".
# - $B = -1$ in the gate means $+1$ inside the $\sigma$. If the input and the state are 0, the gate is $\sigma(1)$ = 0.73<!--[[sigmoid(1):.2f]]-->, rather
#   open. Some slides write $-B$, as we do here; programs such as PyTorch write $+b$.
# </details>
#
# The arrow along the top of the circuit is the path of the memory. **Along it the state is multiplied by $G$, but not by a matrix.**

# %% [markdown] slideshow={"slide_type": "fragment"}
# Here is the step of the course's own cell, for many units and texts in one call:

# %% slideshow={"slide_type": "fragment"}
import inspect

print(inspect.getsource(UGRNNCell.step))
one = UGRNNCell(1, 1)
weights = {"weight_ih": [[2.0], [-2.0]], "weight_hh": [[-1.0], [1.0]], "bias_ih": [0.0, 1.0]}
one.load_state_dict({name: torch.tensor(w) for name, w in weights.items()})
with torch.no_grad():
    print("cell:", one(torch.tensor([[1.0]]), torch.tensor([[0.5]])).item())
print("hand:", ugrnn_step(1.0, 0.5)["new"])

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 3. Two gates: the GRU
#
# The **GRU**, the gated recurrent unit (Cho et al. 2014), adds a second gate. Its **update gate** $z$ is the $G$ of the UGRNN. The **reset
# gate** $r$ decides how much of the old state the *candidate* may see:
#
# $$r_t = \sigma(x_t W^r + h_{t-1} U^r + b^r), \qquad z_t = \sigma(x_t W^z + h_{t-1} U^z + b^z),$$
#
# $$n_t = \tanh\big(x_t W^n + b^n + r_t \odot (h_{t-1} U^n + d^n)\big), \qquad
#   h_t = z_t \odot h_{t-1} + (1 - z_t) \odot n_t.$$
#
# With $r$ near 0 the candidate $n_t$ ignores the old state and depends only on the current word; $z$ then decides how much of the candidate
# to write. (The candidate has a second bias, $d^n$, inside the product with $r$.)

# %% [markdown] slideshow={"slide_type": "notes"}
# *Ask: which of the two gates can wipe out the state for good? (z; r only hides the state from the candidate.) What goes wrong:
# students apply r to h on the path along the top as well. 8 minutes; the two published forms take two of them.*


# %% slideshow={"slide_type": "fragment"}
def gru_step(x, h):
    """Every value in one step of a GRU with one unit, in order."""
    z, r = sigmoid(-2 * x + 1 * h + 1), sigmoid(1 * x + 1 * h)
    reset = r * (-1 * h)
    n = math.tanh(2 * x + reset)
    kept, written = z * h, (1 - z) * n
    gates = {"z": z, "r": r, "reset": reset, "n": n}
    return gates | {"kept": kept, "written": written, "new": kept + written}


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
formulas = {
    "z": "z = σ(−2·({x}) + 1·({h}) + 1)",
    "r": "r = σ(1·({x}) + 1·({h}))",
    "reset": "r·(U h) = {r} · (−1 · ({h}))",
    "n": "n = tanh(2·({x}) + ({reset}))",
    "kept": "z·h = {z} · ({h})",
    "written": "(1 − z)·n = (1 − {z}) · ({n})",
    "new": "h[t] = {kept} + {written}",
}

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
by_gru = gru_step(1.0, 0.5)
candidates = {"GRU": by_gru["n"], "UGRNN": by_ugrnn["R"]}
show.predict(
    "The reset gate has $W^r = U^r = 1$. The update gate $z$ has the weights of $G$ above, and the candidate has those of $R$ ($W^n = 2$, $U^n = -1$). The only bias is the update "
    f"gate's 1. For $x = 1$ and $h = 0.5$, is the candidate larger or smaller than the UGRNN's {candidates['UGRNN']:.3f}?",
    choices=["larger", "the same", "smaller"],
    answer="larger" if candidates["GRU"] > candidates["UGRNN"] else "smaller",
    why="Follow the old state on its way into the candidate.",
    reveals=widgets.cell_player(gru_step, show.CIRCUITS["GRU"], formulas, title="GRU"),
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>The answer explained</b></summary>
#
# It is larger, 0.920<!--[[by_gru["n"]:.3f]]-->. The old state pulls the candidate down ($U^n = -1$), and the reset gate, $r$ = 0.818<!--[[by_gru["r"]:.3f]]-->, lets only part of
# that pull through. The new state is 0.189<!--[[by_gru["kept"]:.3f]]--> + 0.573<!--[[by_gru["written"]:.3f]]--> = 0.762<!--[[by_gru["new"]:.3f]]-->.
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Two published forms.** The printed paper of Cho et al. (2014; arXiv 1406.1078, version 3) resets *before* the product,
# $(r_t \odot h_{t-1})\, U^n$. The first arXiv version of the paper, PyTorch and this course reset *after* it,
# $r_t \odot (h_{t-1} U^n + d^n)$, so that a single matrix product with $h_{t-1}$ serves both gates and the candidate.
#
# > **Ask yourself.** With *one* unit and no bias $d^n$, do the two forms give different results? And with three units?


# %% slideshow={"slide_type": "fragment"}
def reset_before(cell, x, h):
    """One step of Cho et al.'s form with the weights of one of our cells (its biases are 0)."""
    Wr, Wz, Wn = (W.T for W in cell.weight_ih.chunk(3))
    Ur, Uz, Un = (U.T for U in cell.weight_hh.chunk(3))
    r, z = torch.sigmoid(x @ Wr + h @ Ur), torch.sigmoid(x @ Wz + h @ Uz)
    n = torch.tanh(x @ Wn + (r * h) @ Un)
    return z * h + (1 - z) * n


# %% slideshow={"slide_type": "fragment"}
draw = torch.Generator().manual_seed(0)
for units in (1, 3):
    with torch.random.fork_rng(), torch.no_grad():
        torch.manual_seed(1)
        cell = GRUCell(2, units)
        x, h = torch.randn(1, 2, generator=draw), torch.randn(1, units, generator=draw)
        print(
            f"{units} unit(s): after {cell(x, h).numpy().round(3)}, before {reset_before(cell, x, h).numpy().round(3)}"
        )

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer</b></summary>
#
# With one unit the two forms give the same result: $r\,(h\,u) = (r\,h)\,u$. With more units, a matrix mixes them, and it matters whether you
# reset before or after the product.
# </details>
#
# **With more than one unit, weights trained in one form are wrong in the other, and no error message tells you.**

# %% [markdown] slideshow={"slide_type": "skip"}
# > **What goes wrong.** **You swap $z$ and $1 - z$.** In Cho et al. (2014) and here $z$ is the fraction that is *kept*; some texts
# > (Chung et al. 2014) write $h_t = (1 - z_t) \odot h_{t-1} + z_t \odot n_t$. Either form is fine on its own, since training
# > adapts. But if you mix the two forms (or load weights of the other form), the cell keeps what it should replace. **You apply $r$
# > in the wrong place**: to $h$ in $z \odot h$, or to the input term. It belongs only inside the candidate, at its recurrent term.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 4. Three gates and two states: the LSTM
#
# The oldest of our gated cells is the **LSTM**, long short-term memory (Hochreiter & Schmidhuber 1997; in the form of Gers, Schmidhuber & Cummins
# 2000). It carries *two* vectors: the **cell state** $c$, its memory, and the hidden state $h$, its output.
#
# $$i_t = \sigma(x_t W^i + h_{t-1} U^i + b^i), \quad f_t = \sigma(x_t W^f + h_{t-1} U^f + b^f), \quad
#   o_t = \sigma(x_t W^o + h_{t-1} U^o + b^o),$$
#
# $$g_t = \tanh(x_t W^g + h_{t-1} U^g + b^g), \qquad c_t = f_t \odot c_{t-1} + i_t \odot g_t, \qquad
#   h_t = o_t \odot \tanh(c_t).$$
#
# The **forget gate** $f$ says how much memory is *kept* (its name says the opposite), the **input gate** $i$ how much is written,
# and the **output gate** $o$ how much of the memory the cell shows in $h$. (The cell of 1997 had no forget gate; its memory kept everything, as with $f = 1$. Gers et
# al. added the gate.)


# %% slideshow={"slide_type": "fragment"}
def lstm_step(x, h, c):
    """Every value in one step of an LSTM with one unit, in order."""
    f, i = sigmoid(-2 * x + 1 * h + 1), sigmoid(1 * x + 0 * h)
    g, o = math.tanh(2 * x - 1 * h), sigmoid(1 * x + 1 * h)
    kept, written = f * c, i * g
    new_c = kept + written
    gates = {"f": f, "i": i, "g": g, "o": o}
    return gates | {
        "kept": kept,
        "written": written,
        "new c": new_c,
        "new h": o * math.tanh(new_c),
    }


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
formulas = {
    "f": "f = σ(−2·({x}) + 1·({h}) + 1)",
    "i": "i = σ(1·({x}))",
    "g": "g = tanh(2·({x}) − 1·({h}))",
    "o": "o = σ(1·({x}) + 1·({h}))",
    "kept": "f·c = {f} · ({c})",
    "written": "i·g = {i} · ({g})",
    "new c": "c[t] = {kept} + {written}",
    "new h": "h[t] = o·tanh(c[t]) = {o} · tanh({new_c})",
}

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
by_lstm = lstm_step(1.0, 0.5, 0.8)
# An LSTM with both gates open, at g = 0.9: c after three steps, and the h that it shows
c_open = 0.0
for _ in range(3):
    c_open = 1.0 * c_open + 1.0 * 0.9
h_open = 1.0 * math.tanh(c_open)
show.predict(
    "The values of $c$ and $h$ both start inside $(-1, 1)$. Which of the two can ever leave this interval?",
    choices=["neither", "only c", "only h", "both"],
    answer={(True, False): "only c", (True, True): "both", (False, False): "neither"}[
        c_open > 1, h_open > 1
    ],
    why="Compare how the two are computed, and set $c = 2$:",
    reveals=widgets.cell_player(lstm_step, show.CIRCUITS["LSTM"], formulas, title="LSTM", c=0.8),
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - Only $c$ can leave the interval, because it is a sum. Nothing ties $i$ to $f$. With $f = i = 1$ a unit keeps everything *and* adds a
#   value of up to 1 at every step, so it can count. $h$ is a value below 1 times a tanh.
# - With $c = 0.8$ the memory becomes $c_t$ = 0.302<!--[[by_lstm["kept"]:.3f]]--> + 0.662<!--[[by_lstm["written"]:.3f]]--> = 0.964<!--[[by_lstm["new c"]:.3f]]-->.
# - The output is $h_t$ = 0.818<!--[[by_lstm["o"]:.3f]]--> · tanh(0.964<!--[[by_lstm["new c"]:.3f]]-->) = 0.610<!--[[by_lstm["new h"]:.3f]]-->.
# </details>
#
# Only $h$ feeds the gates and the softmax; $c$ is private. **The LSTM separates its memory from its output.**

# %% [markdown] slideshow={"slide_type": "notes"}
# *Let everybody compute one box before you move the slider. What goes wrong: "forget gate 1" is read as "forget everything", and
# the output gate is applied to c instead of its tanh. 9 minutes, four of them for the circuit.*

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Coupled gates.** Set $i = 1 - f$, so that the cell writes exactly as much as it forgets. That is the UGRNN's mixture again, with
# an output gate on top. On their three tasks, Greff et al. (2017) found no significant loss of performance from coupling.
#
# **Parameters.** How many parameters do the gates cost?

# %% slideshow={"slide_type": "fragment"}
sizes = {
    name: sum(p.numel() for p in build(64, 64).parameters()) for name, build in CELLS.items()
}

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
blocks = {name: ", ".join(build(64, 64).blocks) for name, build in CELLS.items()}
told = [(name, f"{n:,}", f"{n / sizes['rnn']:.2f}", blocks[name]) for name, n in sizes.items()]
parameters = show.table(told, ["", "Parameters", "Times the RNN's", "Blocks"])
show.predict(
    f"A plain RNN of 64 units that reads 64 inputs has {sizes['rnn']:,} parameters. By what factor is an LSTM larger?",
    within=0,
    answer=sizes["lstm"] / sizes["rnn"],
    why="Count the gates and candidates of each cell:",
    reveals=parameters,
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>The answer explained</b></summary>
#
# The UGRNN has two<!--[[words(round(sizes["ugrnn"] / sizes["rnn"]))]]-->, the GRU three<!--[[words(round(sizes["gru"] / sizes["rnn"]))]]--> and the LSTM four<!--[[words(round(sizes["lstm"] / sizes["rnn"]))]]--> times as many parameters as the plain RNN, because each gate or candidate has a separate block
# of $d_x \cdot n + n \cdot n$ weights, plus biases. (The UGRNN's factor is 1.98<!--[[sizes["ugrnn"] / sizes["rnn"]:.2f]]-->, because our UGRNN has one bias per block, whereas
# PyTorch's cells have two that are simply added.)
# </details>

# %% [markdown] slideshow={"slide_type": "skip"}
# > **What goes wrong.** **The gates are in a different order**: PyTorch stacks $i, f, g, o$, other programs $i, g, f, o$; the
# > shapes are the same, but the model is not. **You omit the tanh**: with $h = o \odot c$, $h$ has no bound. **You swap $h$ and
# > $c$** when you pass the state on, and no error tells you, because both have the same shape. **The forget gate's bias has the
# > wrong sign**: with $-1$ the gate starts at $\sigma(-1)$ = 0.27<!--[[sigmoid(-1):.2f]]-->, and the network forgets nearly everything within three steps<!--[[? sigmoid(-1) ** 3 < 0.02]]-->
# > (next section).

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 5. The gradient along the memory
#
# Follow the arrow along the top of the LSTM's circuit backwards. If we treat the gates as constants,
#
# $$\frac{\partial c_T}{\partial c_t} = f_T \odot f_{T-1} \odot \cdots \odot f_{t+1}.$$
#
# This is one factor per unit and step, without a matrix and without the slope of a tanh. With $f = 1$ the product is 1 over any number of steps;
# Hochreiter & Schmidhuber called this the **constant error carousel**. (The full derivative has further terms: the gates and the
# candidate depend on $h_{t-1}$, and hence on $c_{t-1}$.)
#
# Before training, the bias $b^f$ sets the forget gate to about $\sigma(b^f)$. Gers et al. (2000) start with a positive bias, and
# Jozefowicz, Zaremba & Sutskever (2015) recommend 1.

# %% [markdown] slideshow={"slide_type": "notes"}
# *Ask: the gate is 0.5 and the text has 20 words; is that an LSTM that remembers? What goes wrong: students believe that the
# carousel goes round by itself. It needs f near 1, and the bias decides whether training starts there. 8 minutes, most of them for
# the slider.*


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
def with_forget_bias(bias):
    """Builds an LSTM cell whose forget gate starts at σ(bias)."""

    def build(input_size, d_hidden):
        cell = LSTMCell(input_size, d_hidden)
        torch.nn.init.constant_(cell.bias_ih[d_hidden : 2 * d_hidden], bias)
        return cell

    return build


def memory_norms(bias, inputs):
    """‖∂L/∂c_t‖ for every t, as a fraction of the last, L the sum of the last c: by all paths, and via the cell state only."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        cell = with_forget_bias(bias)(8, 24)
    found = gradient_norms(cell, inputs, loss=lambda state: state.c.sum(1)).parts[1].mean(dim=0)
    with torch.no_grad():
        forget = unroll(cell, inputs).gates["forget"].flip(1)  # the last step first
    along = (
        forget.cumprod(1).square().mean(2).sqrt().mean(0)
    )  # no other path: the gates that occurred
    return (found / found[-1]).flip(0), torch.cat([torch.ones(1), along])[: len(found)]


texts = torch.randn(4, 81, 8, generator=draw)
measured = {bias: memory_norms(float(bias), texts) for bias in range(-2, 7)}
ratio = {bias: float(every[20] / along[20]) for bias, (every, along) in measured.items()}

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}


def draw_bias(bias):
    gate, d = 1 / (1 + math.exp(-bias)), np.arange(81)
    every, along = measured[bias]
    lines = {
        "measured ‖∂L/∂c‖, all paths": every.log10(),
        "the cell state's path only": along.log10(),
        "σ(b)ᵈ": d * math.log10(gate),
    }
    told = f"left after 20 steps: {every[20]:.1e} by all paths, {along[20]:.1e} by the cell state's path only, σ(b)²⁰ = {gate**20:.1e}"
    return show.lines_svg(
        d, lines, title=f"forget gate with bias {bias}: σ({bias}) = {gate:.3f}", x_title="distance d", y_title="norm",
        low=-12, high=1, powers=True, width=760, columns=3, alt=f"Gradient of the memory, bias {bias}: {told}.",
    ) + show.said(told)  # fmt: skip


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
show.predict(
    "With the usual bias of 1 the forget gate starts at $\\sigma(1) = 0.73$, which sounds open. How much of a gradient is left after 20 steps along the cell state?",
    choices={"about a half": 0.5, "about a tenth": 0.1, "about 0.002": 0.002},
    answer=sigmoid(1) ** 20,
    why="How large must the bias be for half of the gradient to be left?",
    reveals=widgets.live(
        draw_bias, bias=widgets.slider(1, -2, 6, 1, "bias of the forget gate", "420px")
    ),
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - Via the cell state only, $0.731^{20}$ = 0.002<!--[[sigmoid(1) ** 20:.3f]]--> of the gradient is left. With a bias of 4, $\sigma(4)$ = 0.982<!--[[sigmoid(4):.3f]]--> and 70<!--[[100 * sigmoid(4) ** 20:.0f]]--> % is left.
# - With a bias of 1, the gradient after 20 steps by all paths together is 5<!--[[ratio[1]:.0f]]--> times as large as that via the cell state only;
#   with a bias of 0, it is 13<!--[[ratio[0]:.0f]]--> times as large. The rest comes through $h$, the gates and the candidate, on paths that
#   pass through matrices, as in a plain network.
# </details>
#
# **The cell state keeps a memory only while the forget gates are close to 1.** And 0.73 is not close.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 6. Gates on real text
#
# Here is a trained network, an LSTM of 256 units that predicts the next character of Shakespeare
# (`python -m lectures.recipes char_lstm`). It reads 8,000 characters of *As You Like It*, which was held out. How open are its
# gates? A gate above 0.9 or below 0.1 acts as a switch; it is called a **saturated gate**.

# %% slideshow={"slide_type": "fragment"}
model, tokenizer, card = checkpoint("char_lstm")
corpus = load("shakespeare")
chosen_on = corpus.texts("valid")[0][30_000:38_000]
held_out = corpus.texts("test")[0][30_000:38_000]


@torch.no_grad()
def read(text):
    """All gates of the network on a text, each (time, unit)."""
    ids = torch.tensor([tokenizer.encode(text)])
    gates = unroll(model.recurrent.cells[0], model.embedding(ids)).gates
    return {name: values[0] for name, values in gates.items()}


here, there = read(chosen_on), read(held_out)

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
switched = {
    name: [float(side.mean()) for side in saturation(here[name].unsqueeze(0))]
    for name in ("input", "forget", "output")
}  # below 0.1, above 0.9
told = [(of, f"{100 * high:.0f}", f"{100 * low:.0f}") for of, (low, high) in switched.items()]
switches = show.table(told, ["Gates", "Above 0.9, %", "Below 0.1, %"])


def memory_left(steps):
    """The mean product of so many forget gates in a row, in percent."""
    total = torch.cat([torch.zeros(1, 256), here["forget"].clamp(min=1e-12).log().cumsum(0)])
    return 100 * float((total[steps:] - total[:-steps]).exp().mean())


told = [(steps, f"{memory_left(steps):.0f}") for steps in (1, 10, 50)]
left = show.table(told, ["Characters", "% of a memory left after them, on average"])
show.predict(
    f"{switched['forget'][1]:.0%} of the forget gates are above 0.9, over all units and characters. How much of a memory is left after 50 characters, on average?",
    choices={"less than 1 %, like 0.9⁵⁰": 0.5, "about 40 %": 40, "about 90 %": 90},
    answer=memory_left(50),
    unit=" %",
    why="A gate above 0.9 may be 0.91 or 0.999, and section 1 showed how much that matters.",
    reveals=[switches, left],
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - A memory fades slowly: by the product of the forget gates, 70<!--[[memory_left(10):.0f]]--> % of it is left after 10 characters, 38<!--[[memory_left(50):.0f]]--> % after 50.
# - More than half<!--[[? (here["forget"] > 0.99).float().mean() > 0.5]]--> of all forget gates are above 0.99.
# - The input gates are open nearly all the time: 84<!--[[100 * switched["input"][1]:.0f]]--> % of them are above 0.9.
# - Output gates behave differently: half<!--[[? 0.45 < switched["output"][0] < 0.55]]--> of them are closed, a third<!--[[? 0.3 < switched["output"][1] < 0.36]]--> are open.
# </details>
#
# **On average more than half of a memory survives twenty characters<!--[[? memory_left(20) > 50]]-->, and the network shows only part of it at a time.**

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Do units represent something?** Karpathy, Johnson & Fei-Fei (2015) show units that follow quotation marks or the length of a line. It is easy to
# fool yourself here, because one of 256 units may follow a feature of a short text by chance. So write down beforehand which
# *features* of the text a unit could follow; for each feature find the unit with the largest absolute correlation on one play; and *test that unit on a different play*. As a control, take the largest correlation
# over all units after shifting the features by 2,000 characters, so that nothing should fit.


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
def features(text):
    """Features that a unit could follow, one value per character."""
    return {
        "position in the line": counted(text, r"[^\n]*\n?"),
        "stage direction": marked(text, r"\[[^\]]*\]"),
        "name of a speaker": marked(text, r"(?m)^[A-Z ]+\.$"),
        "letters of the word": counted(text, r"[a-zA-Z']+"),
        "vowel": np.array([character in "aeiou" for character in text], dtype=float),
    }


def counted(text, pattern):
    """1, 2, 3, … along every match, else 0."""
    counts = np.zeros(len(text))
    for match in re.finditer(pattern, text):
        counts[match.start() : match.end()] = np.arange(1, len(match[0]) + 1)
    return counts


def marked(text, pattern):
    """1 for every character inside a match, else 0."""
    return np.minimum(counted(text, pattern), 1)


# %% slideshow={"slide_type": "fragment"}
def correlations(units, feature):
    """The correlation of every unit (time, unit) with one feature (time,)."""
    u, v = units - units.mean(0), feature - feature.mean()
    return (u * v[:, None]).sum(0) / np.sqrt((u**2).sum(0) * (v**2).sum() + 1e-12)


here_features, there_features = features(chosen_on), features(held_out)
directions = len(re.findall(r"\[[^\]]*\]", chosen_on))
found = {}

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
told = []
for feature in here_features:
    for quantity in ("forget", "memory"):
        r = correlations(here[quantity].numpy(), here_features[feature])
        unit = int(np.abs(r).argmax())
        tested = correlations(there[quantity].numpy(), there_features[feature])[unit]
        shifted = np.roll(here_features[feature], 2000)
        control = np.abs(correlations(here[quantity].numpy(), shifted)).max()
        found[feature, quantity] = unit, float(r[unit]), float(tested), float(control)
        three = (f"{value:.2f}" for value in (r[unit], tested, control))
        told.append((feature, quantity, unit, *three))
table = show.table(told, ["Feature", "Quantity", "Unit", "Chosen", "Held out", "Shifted"])
show.predict(
    "For each feature we took the memory unit with the largest absolute correlation. For which feature is the correlation on the other play much *smaller*?",
    choices=list(here_features),
    answer=max(
        here_features,
        key=lambda name: abs(found[name, "memory"][1]) - abs(found[name, "memory"][2]),
    ),
    why="Which unit was chosen for this feature, and for which other feature was the same unit chosen?",
    reveals=table,
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - The position in the line has the highest correlation<!--[[? max(found, key=lambda of: abs(found[of][1])) == ("position in the line", "memory")]]-->. The memory of unit 90<!--[[counting]]-->, $\tanh c$, follows it with a correlation of −0.83<!--[[found["position in the line", "memory"][1]:.2f]]--> on the play
#   where we found the unit, and with −0.87<!--[[found["position in the line", "memory"][2]:.2f]]--> on the other. No *forget gate* follows it nearly as closely (0.26<!--[[abs(found["position in the line", "forget"][1]):.2f]]--> at best).
# - The unit for the names of speakers holds up as well, with 0.62<!--[[found["name of a speaker", "memory"][1]:.2f]]--> and then 0.75<!--[[found["name of a speaker", "memory"][2]:.2f]]-->, and so do the units for vowels<!--[[? min(abs(found["vowel", what][2]) for what in ("forget", "memory")) > 0.55]]-->.
# - Stage directions are the warning. The correlation of their unit falls from 0.59<!--[[found["stage direction", "memory"][1]:.2f]]--> to 0.41<!--[[found["stage direction", "memory"][2]:.2f]]--> on the other play. It is the very unit that was also
#   chosen for the names of speakers<!--[[? found["stage direction", "memory"][0] == found["name of a speaker", "memory"][0]]]-->, so "a unit for stage directions" would be the wrong name. The passage on which we
#   chose it has only eight<!--[[words(directions)]]--> stage directions.
# - The control stays below 0.1<!--[[? max(of[3] for of in found.values()) < 0.1]]-->.
# </details>
#
# **Find a unit on one text, test it on a different one.** A correlation says that a unit varies together with something, not that the
# network uses it.

# %% [markdown] slideshow={"slide_type": "notes"}
# *Ask before the table: how would you fool yourself here? Then let them name a random unit, and look together for a meaning in
# it. What goes wrong: they usually find one. 11 minutes, five of them here; it is worth the time.*

# %% [markdown] slideshow={"slide_type": "subslide"}
# Look at the unit that we found, and at any other of the 256. The passage is from the play that was not used for choosing.
#
# > **Ask yourself.** Does the unit count characters? Look at its input gate: where does the network write into the unit?

# %% slideshow={"slide_type": "fragment"}
start = held_out.index("\n\n") + 2
part = slice(start, start + 420)
counting, *_ = found["position in the line", "memory"]
quantities = {
    "memory, (1 − tanh c) / 2": (1 - there["memory"][part]) / 2,  # its correlation is negative
    "forget gate": there["forget"][part],
    "input gate": there["input"][part],
    "output gate": there["output"][part],
}
widgets.unit_explorer(held_out[part], quantities, unit=counting)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# The forget gate is near 1 nearly everywhere<!--[[? there["forget"][:, counting].numpy()[~at["line breaks"]].mean() > 0.9]]-->, and falls to nearly 0 at one character, the line break<!--[[? opens["line breaks"][0] < 0.05]]-->. Within a line, the input gate
# opens more than twice as wide at the first letter of a word as at the letters inside it<!--[[? opens["first letters"][1] > 2 * opens["letters inside words"][1]]]-->, and that is where the unit moves. On the whole text $\tanh c$ changes by −0.16<!--[[moves["first letters"]:.2f]]--> on average at first letters and by +0.02<!--[[moves["letters inside words"]:+.2f]]-->
# inside words. Even so, the unit does not follow the number of words in the line more closely (−0.85<!--[[with_words:.2f]]-->) than the number of characters (−0.87<!--[[found["position in the line", "memory"][2]:.2f]]-->). So
# call it a unit for the position in the line, not a counter of either.
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# **The same unit in time.** The picture shows the cell state as a path through the text, as wide as $|c|$. At each character the
# forget gate closes the path a little or a lot (the barriers), and the input gate lets new values in from below. Press play, or
# step with the arrow keys.

# %% slideshow={"slide_type": "fragment"}
widgets.memory_player(held_out, there, unit=counting, start=start, length=420)

# %% slideshow={"slide_type": "fragment"}
at = {
    "line breaks": np.array([c == "\n" for c in held_out]),
    "first letters": marked(held_out, r"\b[a-zA-Z]") == 1,
    "letters inside words": marked(held_out, r"(?<=[a-zA-Z])[a-zA-Z]") == 1,
}
opens = {}
for where, mask in at.items():
    forget, write = (
        there[name][:, counting].numpy()[mask].mean() for name in ("forget", "input")
    )
    opens[where] = forget, write
    print(f"unit {counting}, {where:21} forget gate {forget:.2f}   input gate {write:.2f}")

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "skip"}
value = there["memory"][:, counting].numpy()
moves = {where: float(np.diff(value)[mask[1:]].mean()) for where, mask in at.items()}
words_of_the_line = np.concatenate(
    [
        at["first letters"][slice(*line.span())].cumsum()
        for line in re.finditer(r"[^\n]*\n?", held_out)
    ]
)
with_words = float(np.corrcoef(value, words_of_the_line)[0, 1])

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Does the network use this unit?** We *ablate* it: we set its output $h$ to 0, for the gates and for the softmax, and measure how much
# the loss rises on the held-out play, at line breaks and elsewhere. As controls we do the same with 20 units chosen at random. Last, we
# ablate the eight<!--[[words(len(next_best))]]--> units that follow the position in the line next most closely on the first play.

# %% slideshow={"slide_type": "fragment"}
rows = torch.tensor([tokenizer.encode(held_out[i : i + 1000]) for i in range(0, 8000, 1000)])
breaks = rows[:, 1:] == tokenizer.encode("\n")[0]


@torch.no_grad()
def loss_without(unit=None):
    """Mean loss at line breaks, and at all other characters."""
    ablated = copy.deepcopy(model)
    if unit is not None:
        ablated.recurrent.cells[0].weight_hh[:, unit] = 0
        ablated.output.weight[:, unit] = 0
    logits, _ = ablated(rows[:, :-1])
    scores = logits.transpose(1, 2)
    loss = torch.nn.functional.cross_entropy(scores, rows[:, 1:], reduction="none")
    return np.array([loss[breaks].mean(), loss[~breaks].mean()])


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
others = torch.randperm(256, generator=torch.Generator().manual_seed(0))[:20].tolist()
follow = correlations(here["memory"].numpy(), here_features["position in the line"])
next_best = np.abs(follow).argsort()[::-1][1:9].tolist()
whole = loss_without()
ablated = {unit: loss_without(unit) - whole for unit in (counting, *next_best)}
rise = ablated[counting]
rises = np.array([loss_without(unit) - whole for unit in others])
costliest = max(next_best, key=lambda unit: ablated[unit][0])
cheapest = min(next_best, key=lambda unit: ablated[unit][0])
told = [
    (f"unit {unit}", f"{follow[unit]:.2f}", f"{of[0]:+.2f}", f"{of[1]:+.3f}")
    for unit, of in ablated.items()
]
forms = zip(rises.T, ("{:+.2f}", "{:+.3f}"), strict=True)
told.append(
    (
        "20 at random",
        show.from_to(follow[others], "{:.2f}"),
        *(show.from_to(of, form) for of, form in forms),
    )
)

show.table(
    told, ["Without", "Correlation", "Rise in loss at line breaks, nats", "Elsewhere, nats"]
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# Without unit 90<!--[[counting]]--> the network predicts line breaks worse, by 0.21<!--[[rise[0]:.2f]]--> nats. Ablating any one of the twenty random units raises this loss by at most 0.03<!--[[rises[:, 0].max():.2f]]-->. At all
# other characters, ablating unit 90<!--[[counting]]--> costs less than ablating the costliest of the twenty<!--[[? rise[1] < rises[:, 1].max()]]-->. **So the network uses this unit to predict the end of
# the line.**
#
# The next eight<!--[[words(len(next_best))]]--> units follow the position in the line about equally weakly, with absolute correlations of 0.17<!--[[np.abs(follow[next_best]).min():.2f]]--> to 0.24<!--[[np.abs(follow[next_best]).max():.2f]]-->. Yet without unit 48<!--[[costliest]]--> the loss at line breaks rises by 0.32<!--[[ablated[costliest][0]:.2f]]--> nats, more than without unit 90<!--[[counting]]--><!--[[? ablated[costliest][0] > rise[0]]]-->; without
# unit 9<!--[[cheapest]]--> it even falls by 0.03<!--[[-ablated[cheapest][0]:.2f]]-->. **The correlation of a unit does not tell you how much the network needs it.**

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 7. The race
#
# The task is copying after a delay. The network reads five symbols, each drawn from a set of eight, then ten blanks and a signal; then it must write the symbols.
# (Such tasks go back to Hochreiter & Schmidhuber 1997.) All cells have the same width, texts, optimiser and learning rate, and train
# for 250 steps with five seeds (`python -m lectures.recipes race`). Guessing gives 12.5 %. The gates that keep the old state start with
# the cells' defaults here: a bias of 1 in the UGRNN, about 0 in the GRU, 1 in the LSTM. A second LSTM starts with a bias of 3.
#
# > **Ask yourself.** The picture shows one race, seed 1. Would you expect the same order with a different seed?

# %% [markdown] slideshow={"slide_type": "notes"}
# *Let them bet on a gap before you click through the seeds. What goes wrong: they rank the cells after the first seed. Ask which of the
# runners differ in more than one thing, before you open the second question. 9 minutes.*

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
raced = stored("race")
names = ("RNN", "UGRNN", "GRU", "LSTM, bias 1", "LSTM, bias 3")
right = {name: 100 * np.array(raced["right"][name]) for name in names}  # (seed, step)
ends = {name: of[:, -1] for name, of in right.items()}
orders = {tuple(sorted(ends, key=lambda name: -ends[name][i])) for i in range(5)}
axes = {"x_title": "step", "y_title": "% correct", "low": 0, "high": 100, "level": 12.5}
size = {"width": 820, "height": 430, "columns": 3}


def draw_race(seed):
    if seed == "all five":
        spoken = ", ".join(f"{name} {show.from_to(of[:, -1])} %" for name, of in right.items())
        title = (
            "copied correctly: the mean of five seeds, and a band from the lowest to the highest"
        )
        drawing = show.bands_svg(
            raced["steps"], right, title=title, alt=f"After 250 steps: {spoken}.", **axes, **size
        )
    else:
        spoken = ", ".join(f"{name} {of[seed, -1]:.0f} %" for name, of in right.items())
        lines = {name: of[seed] for name, of in right.items()}
        title = f"copied correctly, seed {seed} only"
        drawing = show.lines_svg(
            raced["steps"], lines, title=title, alt=f"After 250 steps: {spoken}.", **axes, **size
        )
    return drawing + show.said(f"after 250 steps: {spoken}")  # fmt: skip


widgets.live(draw_race, seed=show.choice([*range(5), "all five"], "seed", value=1))

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - The LSTM with bias 3 ends at 70<!--[[ends["LSTM, bias 3"].min():.0f]]--> to 77<!--[[ends["LSTM, bias 3"].max():.0f]]--> %. In every seed it is above the LSTM with bias 1<!--[[? (ends["LSTM, bias 3"] > ends["LSTM, bias 1"]).all()]]-->, which ends at 26<!--[[ends["LSTM, bias 1"].min():.0f]]--> to 52<!--[[ends["LSTM, bias 1"].max():.0f]]--> %. Apart from their random first weights, the two
#   differ only in that bias.
# - All five seeds give the same order<!--[[? len(orders) == 1]]-->. But in seed 4 only 2<!--[[np.ptp(sorted(of[4] for of in ends.values())[2:]):.0f]]--> points separate the first three.
# </details>
#
# But this race compares two things at once, the cell and the bias of its gate.

# %% [markdown] slideshow={"slide_type": "subslide"}
# **One thing at a time.** Now the gate that keeps the old state, $G$, $z$ or $f$, starts with a bias of 0, 1 or 3 in all three
# cells. For each seed, a cell's other initial weights and its texts are the same at all three biases. Each cell runs with each bias at
# the best of five learning rates, chosen by the first seed's accuracy on separate texts (`python -m lectures.recipes gate_bias`). The rate
# also has a warm-up and falls to 0 along a cosine, so do not compare the percentages with those of the race.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
by_bias = stored("gate_bias")
biases, gated = (0, 1, 3), ("UGRNN", "GRU", "LSTM")
grid = {
    cell: 100 * np.array([by_bias["rows"][f"{cell}, bias {bias}"]["right"] for bias in biases]).T
    for cell in gated
}  # (seed, bias)
gains = {cell: [100 * by_bias["gains"][cell][of] for of in ("mean", "half")] for cell in gated}
gainers = [cell for cell, (gain, half) in gains.items() if gain > half]
spoken = "; ".join(
    f"{cell} {', '.join(f'{v:.0f} % at bias {b}' for b, v in zip(biases, of.mean(0), strict=True))}"
    for cell, of in grid.items()
)
choices = {
    "all three": [*gated],
    "only the LSTM": ["LSTM"],
    "the two with one state, UGRNN and GRU": ["UGRNN", "GRU"],
}
told = [(of, f"{mean:+.0f} ± {half:.0f}") for of, (mean, half) in gains.items()]
differences = show.table(told, ["", "Bias 3 minus bias 0 with the same seeds, points"])
show.predict(
    "Which cells copy more with a bias of 3 than with a bias of 0?",
    choices=[*choices],
    answer=next(name for name, cells in choices.items() if cells == gainers),
    why="In the picture each line is the mean of five seeds, and each band reaches from the lowest to the highest.",
    reveals=[
        show.bands_svg(
            biases, grid, title="copied correctly after 250 steps", x_title="bias of the gate that keeps", y_title="% correct",
            low=0, high=100, level=12.5, width=820, height=400, columns=3, alt=f"Copied correctly: {spoken}.",
        ),
        differences,
    ],
)  # fmt: skip

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - The LSTM gains 47<!--[[gains["LSTM"][0]:.0f]]--> ± 12<!--[[gains["LSTM"][1]:.0f]]--> points (mean of five paired differences, with its 95 % interval). At bias 0 it hardly gets above guessing<!--[[? grid["LSTM"][:, 0].mean() < 15]]-->.
# - For the UGRNN and the GRU we measure no gain: −5<!--[[gains["UGRNN"][0]:.0f]]--> ± 8<!--[[gains["UGRNN"][1]:.0f]]--> and −4<!--[[gains["GRU"][0]:.0f]]--> ± 7<!--[[gains["GRU"][1]:.0f]]--> points.
# - So the order of the cells changes. At bias 0 the LSTM is last in every seed<!--[[? (grid["LSTM"][:, 0] < np.minimum(grid["UGRNN"][:, 0], grid["GRU"][:, 0])).all()]]-->, at bias 3 it is first in every seed<!--[[? (grid["LSTM"][:, 2] > np.maximum(grid["UGRNN"][:, 2], grid["GRU"][:, 2])).all()]]-->.
# - We do not know why only the LSTM gains from an open gate.
# </details>
#
# **On this task, after 250 steps, one initial value decides which cell looks best.** A ranking of cells at their default biases also ranks
# the defaults.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 8. At equal numbers of parameters
#
# All cells in the race have the same width, and an LSTM of 48 units has about four times the recurrent parameters of an RNN of 48 units. Collins,
# Sohl-Dickstein & Sussillo (2016) kept the number of parameters fixed instead, and tuned every cell at great length. They found that
# all architectures store about *five bits per parameter*, and that they differ in how easy they are to train. So in their experiments
# the number of parameters mattered more than the cell, *as long as the cell could be trained*.
#
# Here is a small version of their comparison (`python -m lectures.recipes capacity`), with minutes of training and the default biases. Only the
# learning rate is tuned, for each cell and size; then five seeds run at that rate. On the left the networks memorise random yes/no answers, one bit each. On the right they
# predict characters of Shakespeare. Each line is a mean, and each band reaches from the lowest to the highest seed.

# %% [markdown] slideshow={"slide_type": "notes"}
# *Ask what they would keep fixed: width, parameters, time, energy? What goes wrong: they quote "five bits" as a law; it is a measurement
# of well-tuned networks. 3 minutes.*

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
capacity = stored("capacity")


def by_parameters(task, measure, title, low, high):
    runs = {
        capacity["cells"][of]: np.array([row[measure] for row in rows.values()]).T
        for of, rows in capacity[task].items()
    }
    sizes = [int(n) for n in next(iter(capacity[task].values()))]
    told = "; ".join(
        f"{of} {', '.join(f'{v:.2f}' for v in of_seeds.mean(0))}" for of, of_seeds in runs.items()
    )
    return show.bands_svg(
        sizes, runs, title=title, x_title="parameters", y_title=title, low=low, high=high, width=445, columns=2,
        alt=f"{title}, mean of five seeds, at {', '.join(f'{n:,}' for n in sizes)} parameters: {told}.",
    )  # fmt: skip


bits = np.array(
    [row["bits"] for rows in capacity["memorising"].values() for row in rows.values()]
)
less = capacity["less than LSTM"]
tried = {
    of: [capacity["characters"][of][size]["tried"]["0.003"] for size in ("20000", "60000")]
    for of in ("lstm", "rnn")
}
at_one_rate = [lstm - rnn for lstm, rnn in zip(*tried.values(), strict=True)]
HTML(
    show.beside(
        by_parameters("memorising", "bits", "bits per parameter", 0, 5),
        by_parameters("characters", "test", "nats per character", 1.8, 2.6),
    )
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - **Memorising.** With 500 and with 1,000 parameters the RNN and the UGRNN store more than the LSTM<!--[[? all(less["memorising"][of][n][0] > less["memorising"][of][n][1] for of in ("rnn", "ugrnn") for n in ("500", "1000"))]]-->; with 2,000 parameters no cell differs clearly from the LSTM<!--[[? all(abs(less["memorising"][of]["2000"][0]) < less["memorising"][of]["2000"][1] for of in less["memorising"])]]-->. No run stores more than 2.4<!--[[bits.max():.1f]]--> bits
#   per parameter, whereas Collins et al. reach five after long tuning. Such short runs cannot distinguish how much a cell can hold from how fast it learns.
# - **Characters.** The GRU and the LSTM differ by at most about 0.1 nats, and five seeds do not show which is better<!--[[? all(abs(less["characters"]["gru"][n][0]) + less["characters"]["gru"][n][1] < 0.12 for n in ("20000", "60000"))]]--><!--[[? all(abs(less["characters"]["gru"][n][0]) < less["characters"]["gru"][n][1] for n in ("20000", "60000"))]]-->. With 60,000 parameters the RNN needs 0.13<!--[[less["characters"]["rnn"]["60000"][0]:.2f]]--> ± 0.07<!--[[less["characters"]["rnn"]["60000"][1]:.2f]]--> nats more than the LSTM<!--[[? less["characters"]["rnn"]["60000"][0] > less["characters"]["rnn"]["60000"][1]]]-->, and the UGRNN 0.32<!--[[less["characters"]["ugrnn"]["60000"][0]:.2f]]--> ± 0.10<!--[[less["characters"]["ugrnn"]["60000"][1]:.2f]]-->.
# - **A learning rate that is the same for all cells can change their order.** At a rate of 0.003 the plain RNN is ahead of the LSTM by 0.2<!--[[min(at_one_rate):.1f]]--> nats, with 20,000 and with 60,000 parameters<!--[[? {round(ahead, 1) for ahead in at_one_rate} == {0.2}]]-->. (This is one seed, on the development plays.) With each cell at its own best rate the LSTM is ahead, over five seeds<!--[[? all(less["characters"]["rnn"][n][0] > less["characters"]["rnn"][n][1] for n in ("20000", "60000"))]]-->.
# </details>
#
# **At equal size, our two tasks order the cells differently.**
#
# **What if the network could leave a value unchanged, for as long as it wants? A gate near 1 does that, for as long as it stays near 1.
# How well our networks copied after 250 steps depended on the cell and, for the LSTM, on the initial values of its gates.**

# %% [markdown] slideshow={"slide_type": "skip"}
# > **What goes wrong.** You compare cells at equal *width*, where an LSTM of 64 units has four times the parameters of an RNN of 64.
# > You compare after equal *steps*, although one cell is slower. You compare single seeds, or cells with different biases. Or you trust
# > published rankings without asking how well each cell was tuned. After large-scale tuning, standard LSTMs outperformed newer
# > architectures (Melis, Dyer & Blunsom 2018).

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Now you
#
# Write a cell's step yourself and compare it with ours, value by value. The code below is correct. Break it: swap $f$ and $i$, omit
# the last tanh, set the forget gate's bias to −1, or show $c$ instead of $h$. The circuit marks the first box at which the two results
# differ.

# %% [markdown] slideshow={"slide_type": "notes"}
# *Now you: 5 minutes in pairs. Each pair chooses one mistake, predicts the first box that will differ, and only then looks. With
# the default inputs a swap of f and i changes the first boxes, but a missing tanh only the last; ask why everything before it
# agrees.*


# %% slideshow={"slide_type": "fragment"}
def my_lstm_step(x, h, c):
    """Every value in one step, by the names of the boxes. Change this."""
    input_gate = sigmoid(1 * x + 0 * h)
    forget_gate = sigmoid(-2 * x + 1 * h + 1)
    candidate = math.tanh(2 * x - 1 * h)
    output_gate = sigmoid(1 * x + 1 * h)
    new_c = forget_gate * c + input_gate * candidate
    gates = {"f": forget_gate, "i": input_gate, "g": candidate, "o": output_gate}
    sums = {"kept": forget_gate * c, "written": input_gate * candidate, "new c": new_c}
    return gates | sums | {"new h": output_gate * math.tanh(new_c)}


widgets.cell_player(
    lstm_step, show.CIRCUITS["LSTM"], formulas, title="LSTM", c=0.8, yours=my_lstm_step
)

# %% [markdown] slideshow={"slide_type": "skip"}
# `gate_playground` takes `yours=my_mix`, a function of the old state, the candidate, and the gate. Swap $g$ and $1 - g$ in it, and see
# what happens to the memory. In the assignment [`exercises/gates/gates.ipynb`](../exercises/gates/gates.ipynb) you build the cells
# of this lecture, and the checks tell you which mistake you made.

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Check yourself
#
# 1. A gate is constant at 0.95. What is its half-life?
# <details><summary>Answer</summary>It is ln 0.5 / ln 0.95 = 13.5<!--[[math.log(0.5) / math.log(0.95):.1f]]--> steps.</details>
#
# 2. All forget gates are 1 and all input gates 0. What does the LSTM's memory do? What does its output do?
# <details><summary>Answer</summary>The memory does not change. The output may still change, because the output gate decides how
# much of the memory is shown.</details>
#
# 3. In a GRU, $z = 0$ and $r = 0$. What is the new state?
# <details><summary>Answer</summary>It is the candidate, computed only from the input: tanh(x W + b). Everything read before is
# gone.</details>
#
# 4. Can a UGRNN count the letters of a word by adding 1 at each step? Can an LSTM?
# <details><summary>Answer</summary>A UGRNN cannot, because its state is a mixture of its old value and a tanh. So it never leaves
# (−1, 1), and whatever it writes displaces part of the old value. An LSTM's cell state can, with f = 1 and i = 1.</details>
#
# 5. A GRU of $n$ units reads vectors of width $d$. How many weights does it have, without biases?
# <details><summary>Answer</summary>It has 3 (d n + n²) weights.</details>
#
# 6. Your LSTM forgets after three steps, right from the start of training. What do you check first?
# <details><summary>Answer</summary>You check the value and the sign of the forget gate's bias.</details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *Check yourself: 5 minutes, or homework. Questions 2 and 4 are worth a discussion, because both ask what the LSTM's two states are
# for. What goes wrong: in question 4 they trust the gate to reach 1 and forget that the UGRNN's two weights add up to 1.*

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Notation, words, sources
#
# | here | elsewhere | what it is |
# |---|---|---|
# | $h_t = G_t \odot h_{t-1} + (1 - G_t) \odot R_t$ | $h[t] = G[t] \odot h[t-1] + (1 - G[t]) \odot R[t]$ | a gated step |
# | $x_t W^{xR} + h_{t-1} W^{hR} - B^R$, rows | $W^{hR} h + W^{xR} x - B$, columns | the input of a gate or candidate |
# | $\sigma(x_t W^{xG} + h_{t-1} W^{hG} - B^G)$ | $\sigma(W^{hG}[J, I]\, h[t-1, I] + W^{xG}[J, K]\, x[t, K] - B^G[J])$ | the gate in McAllester's capital indices: a capital letter is a whole axis; if it occurs twice in a product, it is summed |
# | $R_t$, $G_t$ (UGRNN) | $c_t$, $g_t$ (Collins et al.) | candidate and gate |
# | $z_t$ keeps | $z_t$ (Cho et al.); $1 - z_t$ (Chung et al.) | the GRU's update gate |
# | $n_t$ | $\tilde h_t$ | the GRU's candidate |
# | $f_t, i_t, o_t, g_t$ | $y^{\varphi}, y^{in}, y^{out}, g$; $\tilde c_t$ | the LSTM's gates and candidate |
# | $c_t$ | $s_{c}$, memory cell, $C_t$ | the cell state |
# | `weight_ih`, `weight_hh` | $W$, $U$ of all gates stacked, transposed | PyTorch's parameters; order $i, f, g, o$ and $r, z, n$ |

# %% [markdown] slideshow={"slide_type": "notes"}
# *Notation: not for the room. Show the row of the update gate for a minute if your own slides follow Chung et al., because there z
# and 1 − z are swapped. What goes wrong: students load weights without checking the order of the gates; the last row has
# PyTorch's.*

# %% [markdown] slideshow={"slide_type": "skip"}
# ### Words of this lecture
#
# - **gate**: a number between 0 and 1 for each unit, computed at every step, that multiplies some other value.
# - **half-life**: the number of steps after which half of a memory is gone.
# - **leaky unit**: a unit that keeps a fixed fraction of its value at every step.
# - **candidate**: the value that a gated cell could write into its state at this step.
# - **UGRNN**: the update-gate recurrent network; one gate mixes the old state with a plain network's step.
# - **GRU**: the gated recurrent unit, with an update gate and a reset gate.
# - **update gate**: the gate that mixes old state and candidate; here 1 keeps the old state.
# - **reset gate**: the gate that decides how much of the old state the GRU's candidate sees.
# - **LSTM**: long short-term memory, a cell with three gates and a memory separate from its output.
# - **cell state**: the LSTM's memory, a sum of what its gates keep and write.
# - **forget gate**: the gate that says how much of the cell state is kept; 1 forgets nothing.
# - **input gate**: the gate that says how much of the candidate is added to the cell state.
# - **output gate**: the gate that says how much of the cell state is shown.
# - **coupled gates**: an input gate that is one minus the forget gate.
# - **constant error carousel**: the path along the cell state, on which a gradient passes unchanged while the forget gate is 1.
# - **saturated gate**: a gate so close to 0 or 1 that it acts as a switch.

# %% [markdown] slideshow={"slide_type": "skip"}
# **Sources.** Hochreiter & Schmidhuber (1997), Long Short-Term Memory, sections 3–5. Gers, Schmidhuber & Cummins (2000), Learning
# to Forget: Continual Prediction with LSTM. Cho et al. (2014), Learning Phrase Representations using RNN Encoder–Decoder, section
# 2.3. Chung, Gulcehre, Cho & Bengio (2014), Empirical Evaluation of Gated Recurrent Neural Networks on Sequence Modeling.
# Jozefowicz, Zaremba & Sutskever (2015), An Empirical Exploration of Recurrent Network Architectures. Karpathy, Johnson &
# Fei-Fei (2015), Visualizing and Understanding Recurrent Networks. Collins, Sohl-Dickstein & Sussillo (2016), Capacity
# and Trainability in Recurrent Neural Networks. Greff et al. (2017), LSTM: A Search Space Odyssey. Melis, Dyer & Blunsom (2018), On the
# State of the Art of Evaluation in Neural Language Models.
