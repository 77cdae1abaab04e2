# %% [markdown] slideshow={"slide_type": "slide"}
# # Gates: UGRNN, GRU, LSTM
#
# A recurrent network rewrites its whole state at every step. In lecture 6 its gradient did not survive that. What if it could
# leave a number alone, for as long as it wants?
#
# <img src="figures/07_a_unit_that_counts.svg" width="860" alt="Lines of Shakespeare, each character shaded by one memory unit of a trained network. The shade is light at the beginning of every line and grows darker towards its end.">
#
# *One memory number of a network that was trained to predict the next character of Shakespeare, and nothing else. It grows
# along every line and starts again at the next. Somebody must decide, at each character, how much of it to keep: a gate. In
# section 6 you find this unit by measuring, and test it on another play.*
#
# **After this lecture you can**
# - go from a residual connection through time to a gate, and say how long a gate of $g$ remembers;
# - compute a step of a UGRNN, a GRU and an LSTM by hand;
# - say which way a gate's 1 points in each cell, and where the GRU's two published forms differ;
# - follow the gradient along the LSTM's memory, and say why the forget gate's bias matters;
# - compare cells at equal numbers of parameters, and say what our measurements do and do not show.
#
# **You need** lecture 5 (recurrent networks) and lecture 6 (why their gradients vanish). *Vectors are rows*, as in the code;
# $\odot$ multiplies entry by entry; $\sigma(a) = 1 / (1 + e^{-a})$ lies between 0 and 1.
#
# | section | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 |
# |---|---|---|---|---|---|---|---|---|
# | minutes | 7 | 8 | 8 | 9 | 8 | 9 | 7 | 6 |
#
# Every cell runs in under ten seconds on a laptop, without a network connection. *To lecture from this notebook:*
# `make present ARGS=07` shows it slide by slide; short of time, skip the code of section 5 and do only one of the three circuits
# by hand. *Coming from other slides or a paper?* A table at the end translates their notation.

# %% slideshow={"slide_type": "skip"}
import math
import re

import numpy as np
import torch
import torch.nn.functional as F

from nlmcore.corpora import load
from nlmcore.diagnostics import gradient_norms, saturation
from lectures.trained import checkpoint
from lectures.recipes.memory import VOCAB, copying_batch
from nlmcore.recurrent import CELLS, GRUCell, LSTMCell, RecurrentLM, UGRNNCell, unroll
from lectures import show, stored, widgets
from nlmcore.training import clip_gradients

torch.set_printoptions(precision=3, sci_mode=False)
torch.set_num_threads(1)  # for matrices as small as these one thread is fastest

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 1. From a residual connection to a gate
#
# In a plain network $h_t = R_t$: the state is replaced by what the step computes, $R_t = \tanh(x_t W + h_{t-1} U)$. Lecture 5
# knew a remedy for *deep* networks, the residual connection: add the layer's result to what came in. Do that through time:
#
# $$h_t = h_{t-1} + R_t.$$
#
# Now the derivative of $h_t$ with respect to $h_{t-1}$ contains a plain 1, and a gradient can pass. But nothing is ever
# *forgotten*: after 1,000 steps the state is a sum of 1,000 things. So mix, with a number $g$ between 0 and 1:
#
# $$h_t = g\, h_{t-1} + (1 - g)\, R_t.$$
#
# What was in $h_0$ is multiplied by $g$ at every step: after $t$ steps $g^t$ of it is left. Half of it is gone after
# $\ln \tfrac12 / \ln g$ steps, its **half-life**. Such a unit is a **leaky unit**.
#
# > **Predict before you run.** Which half-life has $g = 0.9$, about 2, 7 or 20 steps? And $g = 0.99$? The right-hand
# > picture: a signal that jumps, with noise on top. Which $g$ follows it best, and what is wrong with one near 1?


# %% slideshow={"slide_type": "fragment"}
def mix(h, r, g):
    """The new state: g of the old one, 1 − g of what is written."""
    return g * h + (1 - g) * r


widgets.gate_playground(mix)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b> (click after you have predicted)</summary>
#
# - 6.6 steps, and 69 steps. From 0.9 to 0.99 is a small change of $g$ and a large one of the memory.
# - A small $g$ follows at once and keeps all the noise; a large one is calm and late. No fixed $g$ is right: one would like a
#   small one at the jump, and a large one in between.
# - So let $g$ be *computed*, at every step, for every unit, from what is there: a **gate**. That is the idea of this lecture;
#   the rest is bookkeeping.
# </details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *Ask: what would you do with a calendar that erases a tenth of itself every day? Three minutes for the slider. The usual
# mistake: g is what is kept, not what is written.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 2. One gate: the UGRNN
#
# The smallest gated cell, the **UGRNN** or update-gate recurrent network (Collins, Sohl-Dickstein & Sussillo 2016), is just that:
#
# $$R_t = \tanh(x_t W^{xR} + h_{t-1} W^{hR} - B^R), \qquad G_t = \sigma(x_t W^{xG} + h_{t-1} W^{hG} - B^G),$$
#
# $$h_t = G_t \odot h_{t-1} + (1 - G_t) \odot R_t.$$
#
# The **candidate** $R_t$ is what could be written, a plain network's step. The gate $G_t$ is a vector: each unit has its own.
# Near 1 the unit keeps its number, near 0 it takes the new one.
#
# By hand, with one unit: $W^{xR} = 2$, $W^{hR} = -1$, $B^R = 0$; $W^{xG} = -2$, $W^{hG} = 1$, $B^G = -1$. The input is
# $x = 1$, the old state $h = 0.5$.
#
# > **Predict before you move the slider.** Compute $R = \tanh(1.5)$ and $G = \sigma(-0.5)$ roughly. Is the new state nearer
# > to the old one or to $R$?


# %% slideshow={"slide_type": "fragment"}
def sigmoid(a):
    return 1 / (1 + math.exp(-a))


def ugrnn_step(x, h):
    """Every number of one step of a UGRNN with one unit, in order."""
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
widgets.cell_player(ugrnn_step, show.CIRCUITS["UGRNN"], formulas, title="UGRNN")

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - $R = 0.905$, $G = 0.378$: so $0.189 + 0.563 = 0.752$, nearer to $R$. With $x = -1$ the gate is 0.971: that input says
#   "keep".
# - The arrow along the top is the road of the memory: one multiplication by $G$, no matrix, no squashing function.
# - $B = -1$ in the gate means $+1$ inside the $\sigma$: with nothing to read the gate is $\sigma(1) = 0.73$, rather open. The
#   slides write $-B$; most programs write $+b$. Mind the sign.
# </details>

# %% [markdown] slideshow={"slide_type": "fragment"}
# The course's own cell is these equations, for many units and texts at once. Its whole step:

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
# The **GRU**, the gated recurrent unit (Cho et al. 2014), adds a second gate. The **update gate** $z$ is the UGRNN's $G$. The **reset
# gate** $r$ decides how much of the old state the *candidate* may see:
#
# $$r_t = \sigma(x_t W^r + h_{t-1} U^r + b^r), \qquad z_t = \sigma(x_t W^z + h_{t-1} U^z + b^z),$$
#
# $$n_t = \tanh\big(x_t W^n + b^n + r_t \odot (h_{t-1} U^n + d^n)\big), \qquad
#   h_t = z_t \odot h_{t-1} + (1 - z_t) \odot n_t.$$
#
# With $r$ near 0 the candidate forgets what was read, and begins anew with this word, whatever $z$ then makes of it.
#
# > **Predict before you step.** By hand with $W^r = U^r = 1$, the gate and the candidate as before ($z$ as $G$; $W^n = 2$,
# > $U^n = -1$), no biases but the update gate's 1. With $x = 1$, $h = 0.5$: is the candidate larger or smaller than the
# > UGRNN's 0.905?


# %% slideshow={"slide_type": "fragment"}
def gru_step(x, h):
    """Every number of one step of a GRU with one unit, in order."""
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
widgets.cell_player(gru_step, show.CIRCUITS["GRU"], formulas, title="GRU")

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer</b></summary>
#
# Larger: 0.920. The old state pulls the candidate down ($U^n = -1$), and the reset gate, $r = 0.818$, lets only part of that
# pull through. Together $0.189 + 0.573 = 0.762$.
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Two published forms.** The printed paper of Cho et al. (2014; arXiv 1406.1078, version 3) resets *before* the product,
# $(r_t \odot h_{t-1})\, U^n$. Its first version on arXiv, PyTorch and this course reset *after* it,
# $r_t \odot (h_{t-1} U^n + d^n)$: then the three products with $h_{t-1}$ become one, which is faster.
#
# > **Predict before you run.** With *one* unit and no bias $d^n$: do the two give different numbers? With three units?


# %% slideshow={"slide_type": "fragment"}
def reset_before(cell, x, h):
    """One step of Cho et al.'s form with the weights of one of our cells (its biases are 0)."""
    Wr, Wz, Wn = (W.T for W in cell.weight_ih.chunk(3))
    Ur, Uz, Un = (U.T for U in cell.weight_hh.chunk(3))
    r, z = torch.sigmoid(x @ Wr + h @ Ur), torch.sigmoid(x @ Wz + h @ Uz)
    n = torch.tanh(x @ Wn + (r * h) @ Un)
    return z * h + (1 - z) * n


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
# With one unit they are the same: $r\,(h\,u) = (r\,h)\,u$. With more, a matrix mixes the units, and it matters whether each is
# reset before or after. So weights trained in one form are wrong in the other, and no error message will tell.
# </details>

# %% [markdown] slideshow={"slide_type": "skip"}
# > **What goes wrong.** **$z$ and $1 - z$ exchanged.** In Cho et al. (2014) and here $z$ is what is *kept*; some texts (Chung et
# > al. 2014) write $h_t = (1 - z_t) \odot h_{t-1} + z_t \odot n_t$. Each is a whole model, since training adapts; mixed (or with
# > weights of the other) it keeps what it should replace. **The reset applied to the wrong thing**: to $h$ on the road along
# > the top, where nothing is reset, or to the input's part as well. **The reset before instead of after**, see above.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 4. Three gates and two states: the LSTM
#
# The oldest gated cell is the **LSTM**, long short-term memory (Hochreiter & Schmidhuber 1997; in the form of Gers,
# Schmidhuber & Cummins 2000). It carries *two* vectors: the **cell state** $c$, the memory, and the hidden state $h$, what others see.
#
# $$i_t = \sigma(x_t W^i + h_{t-1} U^i + b^i), \quad f_t = \sigma(x_t W^f + h_{t-1} U^f + b^f), \quad
#   o_t = \sigma(x_t W^o + h_{t-1} U^o + b^o),$$
#
# $$g_t = \tanh(x_t W^g + h_{t-1} U^g + b^g), \qquad c_t = f_t \odot c_{t-1} + i_t \odot g_t, \qquad
#   h_t = o_t \odot \tanh(c_t).$$
#
# The **forget gate** $f$ says how much memory is *kept* (its name is upside down), the **input gate** $i$ how much is written,
# the **output gate** $o$ how much is shown.
#
# > **Predict before you step.** Both begin inside $(-1, 1)$. Can $c$ ever leave it? Can $h$? Then set $c = 2$ and look.


# %% slideshow={"slide_type": "fragment"}
def lstm_step(x, h, c):
    """Every number of one step of an LSTM with one unit, in order."""
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
widgets.cell_player(lstm_step, show.CIRCUITS["LSTM"], formulas, title="LSTM", c=0.8)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - $c$ can: it is a sum. Nothing ties $i$ to $f$: with $f = i = 1$ a unit keeps all *and* adds up to 1 at every step, and so it
#   can count. $h$ cannot: it is a number below 1 times a tanh.
# - With $c = 0.8$: $f = 0.378$, $i = 0.731$, $g = 0.905$, so $c_t = 0.302 + 0.662 = 0.964$ and
#   $h_t = 0.818 \cdot \tanh(0.964) = 0.610$.
# - Only $h$ goes back into the gates and out to the softmax; $c$ is private. The last tanh keeps what is shown bounded even
#   where the memory has counted far.
# </details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *Let the room compute one box each before you move the slider. The usual mistakes: "forget gate 1" read as "forget all", and
# the output gate applied to c in place of its tanh. Four minutes.*

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Coupled gates.** Set $i = 1 - f$: what is forgotten makes room for what is written. That is the UGRNN's mixture again, with
# an output gate on top (Greff et al. 2017 find that it costs little). And what do the gates cost?
#
# > **Predict before you run.** A plain RNN of 64 units that reads 64 numbers has 8,320 parameters. How many times as many have
# > UGRNN, GRU and LSTM?

# %% slideshow={"slide_type": "fragment"}
sizes = {
    name: sum(p.numel() for p in build(64, 64).parameters()) for name, build in CELLS.items()
}
for name, size in sizes.items():
    blocks = ", ".join(CELLS[name](64, 64).blocks)
    print(f"{name:6} {size:7,} = {size / sizes['rnn']:.2f} × RNN   {blocks}")

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer</b></summary>
#
# Two, three and four times: each gate or candidate is a block of its own, $d_x \cdot n + n \cdot n$ weights and its biases.
# (1.98, because our UGRNN has one bias per block where PyTorch's cells have two that are only added.)
# </details>

# %% [markdown] slideshow={"slide_type": "skip"}
# > **What goes wrong.** **Gates in another order**: PyTorch stacks $i, f, g, o$, other programs $i, g, f, o$; the shapes are
# > equal, the model is not. **$h = o \odot c$** without the tanh: then $h$ has no bound. **$h$ and $c$ exchanged** when the
# > state is handed on: both have one shape. **The bias of the forget gate with the wrong sign**: $-1$ starts with
# > $\sigma(-1) = 0.27$, a network that forgets everything within three steps (next section).

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 5. The gradient along the memory
#
# Follow the arrow along the top of the LSTM's circuit backwards. If the gates are looked at as given numbers,
#
# $$\frac{\partial c_T}{\partial c_t} = f_T \odot f_{T-1} \odot \cdots \odot f_{t+1} :$$
#
# one factor per unit and step, no matrix, no slope of a tanh. With $f = 1$ it is 1, for ever; Hochreiter & Schmidhuber called
# that the **constant error carousel**. (In full there are further terms, since the gates depend on $h_{t-1}$, and so on $c_{t-1}$.)
#
# What $f$ is before training is set by its bias $b^f$: about $\sigma(b^f)$. Gers et al. (2000) start it positive, and
# Jozefowicz, Zaremba & Sutskever (2015) recommend 1.
#
# > **Predict before you run.** At bias 0, the gate is $\sigma(0) = 0.5$. How much of a gradient is left after 20
# > steps, about $10^{-2}$, $10^{-6}$ or $10^{-20}$? And at bias 4?


# %% slideshow={"slide_type": "fragment"}
def with_forget_bias(bias):
    """Builds an LSTM cell whose forget gate starts at σ(bias)."""

    def build(input_size, d_hidden):
        cell = LSTMCell(input_size, d_hidden)
        torch.nn.init.constant_(cell.bias_ih[d_hidden : 2 * d_hidden], bias)
        return cell

    return build


def memory_norms(bias, inputs):
    """‖∂L/∂c_t‖ for every t, as a share of the last; L is the sum of the last c."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        cell = with_forget_bias(bias)(8, 24)
    measured = (
        gradient_norms(cell, inputs, loss=lambda state: state.c.sum(1)).parts[1].mean(dim=0)
    )
    return (measured / measured[-1]).flip(0)


texts = torch.randn(4, 81, 8, generator=draw)
measured = {bias: memory_norms(float(bias), texts) for bias in range(-2, 7)}


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}


def draw_bias(bias):
    gate, d = 1 / (1 + math.exp(-bias)), np.arange(81)
    lines = {
        "measured ‖∂L/∂c‖": measured[bias].log10(),
        "σ(b)ᵈ, the memory's road alone": d * math.log10(gate),
    }
    at = float(measured[bias][20])
    return show.lines_svg(
        d, lines, title=f"forget gate with bias {bias}: σ({bias}) = {gate:.3f}", x_title="distance d", y_title="norm",
        low=-12, high=1, powers=True, width=760, alt=f"Gradient of the memory, bias {bias}: {at:.1e} at distance 20.",
    ) + show.said(f"left after 20 steps: {at:.1e} measured, {gate**20:.1e} by the memory's road alone")  # fmt: skip


widgets.live(draw_bias, bias=widgets.slider(0, -2, 6, 1, "bias of the forget gate", "420px"))

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - By the memory's road alone $0.5^{20} = 10^{-6}$. At bias 4, $\sigma(4) = 0.982$ and 70 % are left. The default, 1, gives
#   $0.731^{20} = 0.002$: better than nothing, and not much for 20 steps. **An LSTM does not remember because it is an LSTM. It
#   remembers if its gates are open.**
# - The measured line lies above that road, most where the gate is small: the other roads, through $h$ and the gates, carry
#   something, too. They are the plain network's roads, with the plain network's troubles.
# </details>

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 6. Gates on real text
#
# A trained one: an LSTM of 256 units that predicts the next character of Shakespeare (`python -m lectures.recipes char_lstm`). It
# reads 8,000 characters of *As You Like It*, which it was not trained on. How open are its gates? One
# above 0.9 or below 0.1 acts as a switch: a **saturated gate**.
#
# > **Predict before you run.** Which share of all forget gates, over all units and characters, is above 0.9: a tenth, a half, or
# > nine tenths? And of the output gates?

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
for name in ("input", "forget", "output"):
    closed, opened = saturation(here[name].unsqueeze(0))
    print(f"{name:6} gates: {opened.mean():4.0%} above 0.9, {closed.mean():4.0%} below 0.1")

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - 88 % of the forget gates are wide open, and 5 % closed: this network keeps nearly everything nearly always. The output gates
#   are the other way round: half of them are closed. Most of what is remembered is not shown most of the time.
# - Karpathy, Johnson & Fei-Fei (2015, section 4.2) drew such shares for trained LSTMs and GRUs.
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Do units stand for something?** Karpathy et al. (2015) show units that follow quotation marks or the length of a line. It is
# easy to fool oneself: with 256 units, one will look right on any short text. So: write down beforehand what a unit could
# follow; find the unit with the largest correlation on one play; *test that unit on another*. And as a control: the largest
# correlation over all units when the text's features are shifted by 2,000 characters, so that nothing fits.
#
# > **Predict before you run.** Which of these does some memory unit follow closely, with a correlation beyond 0.8: the place in
# > the line; stage directions in brackets; the names of speakers; the number of letters of the word so far; vowels?


# %% slideshow={"slide_type": "fragment"}
def features(text):
    """What a unit could follow, one number per character."""
    return {
        "place in the line": counted(text, r"[^\n]*\n?"),
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
    """Of every unit (time, unit) with one feature (time,)."""
    u, v = units - units.mean(0), feature - feature.mean()
    return (u * v[:, None]).sum(0) / np.sqrt((u**2).sum(0) * (v**2).sum() + 1e-12)


here_features, there_features = features(chosen_on), features(held_out)
found = {}
print(f"{'feature':20} {'quantity':8} unit  chosen  held out  shifted")
for feature in here_features:
    for quantity in ("forget", "memory"):
        r = correlations(here[quantity].numpy(), here_features[feature])
        unit = int(np.abs(r).argmax())
        tested = correlations(there[quantity].numpy(), there_features[feature])[unit]
        control = np.abs(
            correlations(here[quantity].numpy(), np.roll(here_features[feature], 2000))
        ).max()
        found[feature, quantity] = unit, float(r[unit]), float(tested), float(control)
        print(
            f"{feature:20} {quantity:8} {unit:4}  {r[unit]:6.2f}  {tested:8.2f}  {control:7.2f}"
        )

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - One does: the memory of unit 90, $\tanh c$, follows the place in the line with a correlation of −0.83 on the play where it was
#   found, and of −0.87 on the other. Nobody asked for it; it helps to predict the line end. No *forget gate* follows the place
#   nearly as closely, 0.26 at best: a gate moves for a moment, the memory lasts.
# - The names of speakers, 0.62 and then 0.75, hold as well, and so do vowels. Stage directions are the warning: the unit that
#   fitted best on one play, 0.59, fits less well on the other, 0.41, because there were few to choose it by.
# - The control stays below 0.1: with 8,000 characters, chance alone does not make such correlations.
# - A correlation says that a unit *goes along* with something. That the network *uses* it is another question (lecture 11:
#   silence it, and see).
# </details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *Ask before the table: how would you fool yourself here? Then let them name a unit number at random, and look for a meaning in
# it together. Five minutes; it is worth the time.*

# %% [markdown] slideshow={"slide_type": "subslide"}
# Look at it, and at any other of the 256. The passage is from the play that was not used for choosing.
#
# > **Predict before you explore.** At which character is the unit's memory wiped out? At which characters is something
# > written into it: at all, or at some? Look at its forget gate and at its input gate.

# %% slideshow={"slide_type": "fragment"}
start = held_out.index("\n\n") + 2
part = slice(start, start + 420)
counting, *_ = found["place in the line", "memory"]
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
# The shade grows along each line and is light again at the beginning of the next. The forget gate stands near 1 nearly
# everywhere, and falls to nearly 0 at one character: the line end. The input gate opens mostly at the first letter of a word. So
# it does not count characters; it takes a step with each word. The next cell measures that, on the whole text. Most other units
# show no pattern that has a name: we chose this one because it has.
# </details>

# %% slideshow={"slide_type": "fragment"}
at = {
    "line ends": np.array([c == "\n" for c in held_out]),
    "first letters": marked(held_out, r"\b[a-zA-Z]") == 1,
    "letters inside words": marked(held_out, r"(?<=[a-zA-Z])[a-zA-Z]") == 1,
}
for place, mask in at.items():
    forget, write = (
        there[name][:, counting].numpy()[mask].mean() for name in ("forget", "input")
    )
    print(f"unit {counting}, {place:21} forget gate {forget:.2f}   input gate {write:.2f}")

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 7. The race
#
# Copying after a delay: five symbols out of eight, ten blanks, then a signal, and the symbols must be written. (Such tasks go
# back to Hochreiter & Schmidhuber 1997.) Same width, same data, same optimiser, 250 steps, live.
#
# > **Predict before you run.** Five runners: RNN, UGRNN, GRU, an LSTM whose forget gates start at bias 1, the default, and one
# > at bias 3. Who leads after 250 steps? Who has not left the start (12.5 %, guessing)?


# %% slideshow={"slide_type": "fragment"}
def race(cell, steps=250, delay=10, hidden=48):
    """Share of symbols written right, step by step."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = RecurrentLM(VOCAB, cell, d_hidden=hidden)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    texts, right = torch.Generator().manual_seed(1), []
    for _ in range(steps):
        tokens, targets, mask = copying_batch(delay, 32, texts)
        logits, _ = model(tokens)
        loss = F.cross_entropy(logits[mask], targets[mask])
        optimizer.zero_grad()
        loss.backward()
        clip_gradients(model.parameters(), 1.0)
        optimizer.step()
        right.append((logits.argmax(-1) == targets)[mask].float().mean().item())
    return [float(np.mean(right[max(0, t - 19) : t + 1])) for t in range(steps)]


runners = {"RNN": "rnn", "UGRNN": "ugrnn", "GRU": "gru", "LSTM, bias 1": "lstm"}
raced = {name: race(cell) for name, cell in runners.items()}
raced["LSTM, bias 3"] = race(with_forget_bias(3.0))

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}


def draw_race(step):
    lines = {
        name: [100 * r for r in right[:step]] + [math.nan] * (250 - step)
        for name, right in raced.items()
    }
    order = sorted(raced, key=lambda name: -raced[name][step - 1])
    spoken = ", ".join(f"{name} {100 * raced[name][step - 1]:.0f} %" for name in order)
    return show.lines_svg(
        range(1, 251), lines, title=f"copied right, after {step} steps of training", x_title="step",
        y_title="% right", low=0, high=100, level=12.5, width=820, height=430, columns=3,
        alt=f"Symbols copied right after {step} steps: {spoken}.",
    ) + show.said(spoken)  # fmt: skip


widgets.live(draw_race, step=widgets.slider(250, 10, 250, 10, "step", "480px"))

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - The LSTM with bias 3 leads with 76 %, before the UGRNN with 70 and the GRU with 57. The RNN has 20, and the LSTM with its
#   default bias is still guessing. **The same cell, one number changed at the start, is among the first or among the last.**
# - Look at the plateau near 40 %: several runners wait there and then go on. A race that stops early crowns the wrong one.
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# So train longer: 1,500 steps of 64 texts each, width 64, each cell at each delay (`python -m lectures.recipes memory`).

# %% slideshow={"slide_type": "fragment"}
memory = stored("memory")
for name, by_delay in memory["copy_accuracy"].items():
    shares = " ".join(f"{delay:>3}: {right:4.0%}" for delay, right in by_delay.items())
    print(
        f"{memory['cells'][name]:6} delay {shares}   {memory['parameters'][name]:6,} parameters"
    )

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - UGRNN and GRU still copy most symbols after 80 blanks; the LSTM, with the most parameters, 55 % after 20 and no more than
#   24 % after 40; the RNN nothing much anywhere. The simplest gated cell beats the most famous one here.
# - That is no verdict on LSTMs. Its forget gates start at $\sigma(1)$, and section 5 says what is left of a gradient at that
#   value after 40 steps. One task, one seed, one learning rate.
# </details>

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 8. At equal numbers of parameters
#
# A fair comparison holds something fixed. Collins, Sohl-Dickstein & Sussillo (2016) held the number of parameters, tuned
# every cell at great length, and found: all architectures store about *five bits per parameter*; what differs is how easily
# they are trained. In short: parameters matter more than the architecture.
#
# Ours, with minutes of training and no search (`python -m lectures.recipes capacity`): how many random answers a network
# can learn by heart, in bits (one yes or no is one bit) per parameter; and how well it predicts characters of Shakespeare
# (perplexity, lower is better).
#
# > **Predict before you run.** Which cell stores most per parameter? And on text: does a cell with three times the parameters
# > always beat a better cell with fewer?

# %% slideshow={"slide_type": "fragment"}
capacity = stored("capacity")
for task, unit in (("memorising", "bits_per_parameter"), ("characters", "perplexity")):
    print(f"{task}: {unit.replace('_', ' ')}, by number of parameters")
    for name, by_size in capacity[task].items():
        row = " ".join(f"{int(size):>8,}: {facts[unit]:5.2f}" for size, facts in by_size.items())
        print(f"  {capacity['cells'][name]:6}{row}")

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - **The plain RNN** stores most at the two smaller sizes, 2.05 bits per parameter at 1,000, and the LSTM least, 1.40. Gates cost
#   parameters and store nothing by themselves. At 2,000 the four lie within 1.66 to 1.86. Collins et al., too, saw the plain RNN slightly
#   ahead.
# - Nobody reaches five bits: our training is short. So what we measure is capacity *and* ease of training together.
# - **On text**, sizes change the perplexity by a factor of up to 1.38, gated cells at equal size by up to 1.26. Size matters more,
#   but not by much: a UGRNN of 60,000 parameters (8.25) beats an LSTM of 180,000 (8.57). In so short a training the architecture,
#   with its initial gates, still counts. "Parameters matter more than the architecture" is a statement about networks that are
#   *trained to the end*; ours are not, and there it half holds.
# </details>

# %% [markdown] slideshow={"slide_type": "skip"}
# > **What goes wrong.** Comparing cells at equal *width*: an LSTM of 64 units has four times the parameters of an RNN of 64.
# > Comparing after equal *steps* when one is slower. Comparing one seed. And reading a ranking of papers as a ranking of cells:
# > the baseline is often the one that nobody tuned.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Now you
#
# Write a cell's step yourself and watch it beside ours, number by number. What is below is right. Break it: exchange $f$ and
# $i$, leave out the last tanh, let the forget gate's bias be −1, show $c$ instead of $h$. The circuit says in which box the two
# part.


# %% slideshow={"slide_type": "fragment"}
def my_lstm_step(x, h, c):
    """Every number of one step, by the names of the boxes. Change this."""
    input_gate = sigmoid(1 * x + 0 * h)
    forget_gate = sigmoid(-2 * x + 1 * h + 1)
    candidate = math.tanh(2 * x - 1 * h)
    output_gate = sigmoid(1 * x + 1 * h)
    new_c = forget_gate * c + input_gate * candidate
    return {
        "f": forget_gate,
        "i": input_gate,
        "g": candidate,
        "o": output_gate,
        "kept": forget_gate * c,
        "written": input_gate * candidate,
        "new c": new_c,
        "new h": output_gate * math.tanh(new_c),
    }


widgets.cell_player(
    lstm_step, show.CIRCUITS["LSTM"], formulas, title="LSTM", c=0.8, yours=my_lstm_step
)

# %% [markdown] slideshow={"slide_type": "skip"}
# `gate_playground` takes `yours=my_mix`, a function of the old state, what is written, and the gate: exchange $g$ and $1 - g$ and
# see what becomes of the memory. In the assignment [`exercises/gates/gates.ipynb`](../exercises/gates/gates.ipynb) you build the cells of this lecture, and it tells
# you which mistake you made.

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Check yourself
#
# 1. A gate stands at 0.95. What is its half-life?
# <details><summary>Answer</summary>ln 0.5 / ln 0.95 = 13.5 steps.</details>
#
# 2. All forget gates are 1 and all input gates 0. What does the LSTM's memory do? And its output?
# <details><summary>Answer</summary>The memory stays as it is. The output may still change: the output gate decides what is
# shown.</details>
#
# 3. In a GRU, $z = 0$ and $r = 0$. What is the new state?
# <details><summary>Answer</summary>The candidate from the input alone, tanh(x W + b): everything read before is gone.</details>
#
# 4. Can a UGRNN count the letters of a word by adding 1 at each step? Can an LSTM?
# <details><summary>Answer</summary>A UGRNN's state is a mixture of its old value and a tanh: it never leaves (−1, 1), and what is
# written takes room from what is kept. An LSTM's cell state can: f = 1, i = 1.</details>
#
# 5. How many weights has a GRU of $n$ units that reads vectors of width $d$, without biases?
# <details><summary>Answer</summary>3 (d n + n²).</details>
#
# 6. Your LSTM forgets after three steps, from the first day of training on. What do you check first?
# <details><summary>Answer</summary>The forget gate's bias: its value, and its sign.</details>

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Notation, words, sources
#
# | here | elsewhere | what it is |
# |---|---|---|
# | $h_t = G_t \odot h_{t-1} + (1 - G_t) \odot R_t$ | $h[t] = G[t] \odot h[t-1] + (1 - G[t]) \odot R[t]$ | a gated step |
# | $x_t W^{xR} + h_{t-1} W^{hR} - B^R$, rows | $W^{hR} h + W^{xR} x - B$, columns | what goes into a gate or candidate |
# | $R_t$, $G_t$ (UGRNN) | $c_t$, $g_t$ (Collins et al.) | candidate and gate |
# | $z_t$ keeps | $z_t$ (Cho et al.); $1 - z_t$ (Chung et al.) | the GRU's update gate |
# | $n_t$ | $\tilde h_t$ | the GRU's candidate |
# | $f_t, i_t, o_t, g_t$ | $y^{\varphi}, y^{in}, y^{out}, g$; $\tilde c_t$ | the LSTM's gates and candidate |
# | $c_t$ | $s_{c}$, memory cell, $C_t$ | the cell state |
# | `weight_ih`, `weight_hh` | $W$, $U$ of all gates stacked, transposed | PyTorch's parameters; order $i, f, g, o$ and $r, z, n$ |

# %% [markdown] slideshow={"slide_type": "skip"}
# ### Words of this lecture
#
# - **gate**: a number between 0 and 1 for each unit, computed at every step, by which something is multiplied.
# - **half-life**: the number of steps after which half of a memory is gone.
# - **leaky unit**: a unit that keeps a fixed share of its value at every step.
# - **candidate**: what a gated cell could write into its state at this step.
# - **UGRNN**: the update-gate recurrent network, a plain network's step mixed with the old state by one gate.
# - **GRU**: the gated recurrent unit, with an update gate and a reset gate.
# - **update gate**: the gate that mixes old state and candidate; here 1 keeps the old state.
# - **reset gate**: the gate that decides how much of the old state the GRU's candidate sees.
# - **LSTM**: long short-term memory, a cell with a memory apart from its output and three gates.
# - **cell state**: the LSTM's memory, a sum that only its gates change.
# - **forget gate**: the gate that says how much of the cell state is kept; 1 forgets nothing.
# - **input gate**: the gate that says how much of the candidate is added to the cell state.
# - **output gate**: the gate that says how much of the cell state is shown.
# - **coupled gates**: an input gate that is one minus the forget gate.
# - **constant error carousel**: the road along the cell state on which a gradient passes unchanged while the forget gate is 1.
# - **saturated gate**: a gate so near 0 or 1 that it acts as a switch.

# %% [markdown] slideshow={"slide_type": "skip"}
# **Sources.** Hochreiter & Schmidhuber (1997), Long Short-Term Memory, sections 3–5. Gers, Schmidhuber & Cummins (2000), Learning
# to Forget: Continual Prediction with LSTM. Cho et al. (2014), Learning Phrase Representations using RNN Encoder–Decoder, section
# 2.3. Chung, Gulcehre, Cho & Bengio (2014), Empirical Evaluation of Gated Recurrent Neural Networks on Sequence Modeling.
# Jozefowicz, Zaremba & Sutskever (2015), An Empirical Exploration of Recurrent Network Architectures. Karpathy, Johnson &
# Fei-Fei (2015), Visualizing and Understanding Recurrent Networks, section 4. Collins, Sohl-Dickstein & Sussillo (2016), Capacity
# and Trainability in Recurrent Neural Networks. Greff et al. (2017), LSTM: A Search Space Odyssey.
