# %% [markdown] slideshow={"slide_type": "slide"}
# # Training well
#
# One network, one text, one thousand steps. Only two things differ between the rows of this picture: the optimiser and its
# learning rate.
#
# <img src="figures/same_network.svg" width="860" alt="Test loss of one network after the same 1,000 steps under 11 settings, five seeds each: from 2.32 nats per character to 3.08. Guessing is 4.41.">
#
# *Each row is one optimiser at one learning rate, each dot one random seed, each bar the 95 % confidence interval of the mean over the
# seeds (section 7). The dashed line marks uniform guessing. The network has 61,826<!--[[sum(p.numel() for p in network().parameters()):,]]-->
# parameters and learns to predict the next character of Shakespeare from the previous 16<!--[[train.shape[1] - 1]]-->.*
#
# The architecture is the same in every row. Where does the gap between the best row and the worst come from? Which rows belong to
# which optimiser? Sections 2 and 3 answer both questions.
#
# **After this lecture you can**
# - say what a minibatch's gradient estimates, and how its error falls as the minibatch grows;
# - write SGD, momentum, Adam and AdamW in three lines each, and find a good learning rate for each;
# - choose initial weights so that a signal passes through 20 layers, and say what normalisation and residual connections do;
# - recognise overfitting, and measure which remedy helps;
# - say how many seeds a claim needs, and find out why a loss does not fall.
#
# **You need** [lecture 3](03_backpropagation.ipynb) (gradients), [lecture 4](04_windows_and_convolutions.ipynb) (a language model
# that reads a window), and means and standard deviations.

# %% [markdown] slideshow={"slide_type": "skip"}
# | section | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 |
# |---|---|---|---|---|---|---|---|---|
# | minutes | 9 | 14 | 10 | 9 | 7 | 11 | 8 | 7 |
#
# The minutes are for a class. If you work alone, with all predictions and widgets, plan 100 minutes. If that is too long, leave out
# section 6; nothing later needs it. The cells train small networks for about ten seconds in all. The results of the larger comparisons
# are stored; next to each is the command that repeats it.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "skip"}
import math
from functools import partial

import torch
import torch.nn.functional as F
from IPython.display import HTML
from torch import nn

from lectures import show, stored, widgets
from nlmcore.corpora import load
from nlmcore.metrics import mean_interval
from nlmcore.tokens import CharTokenizer
from nlmcore.training import cosine_schedule, fit

torch.set_num_threads(1)  # for networks as small as these one thread is fastest

# %% [markdown] slideshow={"slide_type": "notes"}
# *Ask first: what would you change if your model's loss were too high? Many students say "a larger model". Then show the picture:
# the model is the same in all rows. Two minutes.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 1. Minibatches and their noise
#
# The network of this lecture is the window model of [lecture 4](04_windows_and_convolutions.ipynb), applied to characters. It
# concatenates sixteen embeddings, and one hidden layer leads to a score for every character.

# %% slideshow={"slide_type": "fragment"} tags=["lesson"]
shakespeare = load("shakespeare")
characters = CharTokenizer.fit(shakespeare.texts("train"))
V = characters.vocab_size


def windows(text):
    """All windows of 17 consecutive characters: 16 to read and one to predict."""
    return torch.tensor(characters.encode(text)).unfold(0, 17, 1)


train, dev = (windows(shakespeare.texts(part)[0]) for part in ("train", "valid"))


def network():
    return nn.Sequential(
        nn.Embedding(V, 24), nn.Flatten(), nn.Linear(16 * 24, 128), nn.ReLU(), nn.Linear(128, V)
    )


def loss_of(model, batch):
    return F.cross_entropy(model(batch[:, :-1]), batch[:, -1])


# %% [markdown] slideshow={"slide_type": "subslide"}
# We want to lower the loss $L$, a function of all parameters $w$. It is the mean of the losses $\ell_n$ of *all* $N$ windows of the training
# text, which here is one play with 133,383<!--[[len(train):,]]--> windows. Its gradient is a mean as well:
#
# $$L(w) = \frac{1}{N} \sum_{n=1}^{N} \ell_n(w), \qquad \nabla L = \frac{1}{N} \sum_{n=1}^{N} \nabla \ell_n .$$
#
# One exact gradient, the *full* gradient, would cost a pass over the whole text. A **minibatch** is a random sample of $B$ windows, and
# its gradient is the mean over this sample:
#
# $$g = \frac{1}{B} \sum_{n \in \text{batch}} \nabla \ell_n, \qquad \mathbb{E}[g] = \nabla L, \qquad
#   \text{error} = \sqrt{\mathbb{E}\,\|g - \nabla L\|^2}.$$
#
# On average the estimate is right. How large is its error? We train for 200 steps and then compute, for each of 2,048 windows, the
# gradient with respect to the 82<!--[[V]]--> output biases, which is $p - y$ ([lecture 3](03_backpropagation.ipynb)).


# %% slideshow={"slide_type": "fragment"} tags=["lesson"]
def trained(steps, batches, optimiser, model=None, seed=0, **options):
    """A new network after some steps, and the history of its training."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = network() if model is None else model()
        history = fit(
            model, batches, steps=steps, loss=loss_of, optimizer=optimiser(model.parameters()),
            clip_norm=None, progress=False, **options,
        )  # fmt: skip
    return model, history


def draws_of(windows, size):
    """An endless stream of random minibatches."""
    return lambda epoch: (windows[torch.randint(len(windows), (size,))] for _ in iter(int, 1))


adam_3 = partial(torch.optim.Adam, lr=3e-3, fused=True)
model, _ = trained(200, draws_of(train, 64), adam_3)

# %% slideshow={"slide_type": "fragment"}
some = train[:: len(train) // 2048][:2048]


def gradients_of(model):  # (2048, 82): one gradient per window
    return model(some[:, :-1]).softmax(dim=-1).detach() - F.one_hot(some[:, -1], V)


gradients = gradients_of(model)


def minibatch(gradients, size, generator):
    """The mean gradient of `size` examples sampled at random."""
    chosen = torch.randint(len(gradients), (size,), generator=generator)
    return gradients[chosen].mean(dim=0)


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
show.predict(
    "You want to halve the error of a minibatch's gradient. How many times as many examples do you need?",
    choices={"√2 times": 2**0.5, "2 times": 2, "4 times": 4, "16 times": 16},
    answer=4.0,
    why="Four times the work buys half the error. Increase the size and watch the blue gradients gather around the orange one:",
    reveals=lambda: widgets.minibatch_cloud(minibatch, gradients),
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# The error is $s / \sqrt B$, where $s$ measures how much the gradients of single examples disagree. So each further example reduces the
# error by less than the previous one.
#
# <details><summary><b>What to notice</b></summary>
#
# - After these 200 steps, the gradients of 44<!--[[100 * (gradients @ gradients.mean(0) < 0).double().mean():.0f]]--> % of the single examples point *backwards*. If you change the output biases by a small step of gradient
#   descent with such a gradient, the loss of its own example falls, but the mean loss rises.
# - The measured error follows the line of $1/\sqrt{B}$. This law has nothing to do with networks; it only requires that the
#   examples are sampled independently. Neighbouring windows of a play are not independent, so shuffle the windows.
# - In these 200 steps the full gradient of the biases gets shorter<!--[[? full[1] < full[0]]]-->. The error of minibatches of 64 grows from
#   0.6<!--[[noise[0]:.1f]]--> times its length to 3.9<!--[[noise[1]:.1f]]--> times. (From this ratio, McCandlish
#   et al. 2018 predict up to what size a larger minibatch pays off.)
# </details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *9 minutes. Set the size to 1 and ask: would you walk in this direction? Then 4, 16, 64. The usual mistake is to think that
# the mean of noisy gradients is wrong; it is unbiased, and over many small steps the noise averages out.*

# %% [markdown] slideshow={"slide_type": "subslide"}
# Should we take many small minibatches or few large ones? We trained with three sizes on the same number of examples, with five seeds
# each. For each size we chose the learning rate that is best on the development plays. A lower and a higher rate were both worse
# (`python -m lectures.recipes minibatches`).

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
sizes = stored("minibatches")


def at_best(one):
    """The test losses of a contestant at the rate that is best on dev, one per seed."""
    return one["rates"][one["best"]]["test"]


def compared(rows, low, high, what, **more):
    """Rows of seeds as a picture that says its numbers."""
    told = "; ".join(
        "{} {:.3f} ± {:.3f}".format(name, *mean_interval(values)) for name, values in rows.items()
    )
    return HTML(widgets.means_svg(rows, low=low, high=high, alt=f"{what}: {told}.", **more))


by_size = {
    f"{size} at a time, {sizes['examples'] // int(size):,} steps": at_best(one)
    for size, one in sizes["by"].items()
}


def paired(one, other):
    """Mean difference, seed by seed, and half its 95 % interval."""
    return mean_interval([a - b for a, b in zip(one, other, strict=True)])


small, middle, large = (at_best(sizes["by"][size]) for size in ("16", "128", "1024"))
with torch.random.fork_rng():
    torch.manual_seed(0)
    untrained = network()
spread = [g.var(dim=0).sum() ** 0.5 for g in (gradients_of(untrained), gradients)]
full = [g.mean(dim=0).norm() for g in (gradients_of(untrained), gradients)]
noise = [(s / 64**0.5 / norm).item() for s, norm in zip(spread, full, strict=True)]
compared(by_size, 2.4, 2.75, "Test loss by size of the minibatch")

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - With minibatches of 1,024 the same number of examples allows only a 64th as many steps as with 16, and the loss ends 0.18<!--[[paired(large, small)[0]:.2f]]--> ± 0.03<!--[[paired(large, small)[1]:.2f]]--> nats higher<!--[[? paired(large, small)[0] > paired(large, small)[1]]]-->.
# - With minibatches of 128 training takes an eighth of the steps, and the loss ends 0.018<!--[[paired(middle, small)[0]:.3f]]--> ± 0.016<!--[[paired(middle, small)[1]:.3f]]--> nats higher than with 16. The intervals in the picture overlap;
#   compared *seed by seed*, the difference is just visible (section 7).
# </details>
#
# For the same number of examples, the smallest of these minibatches end at the lowest loss. A larger one estimates the gradient more
# accurately at each *step*. On a GPU, which computes many examples in parallel, such a step need not take longer. Beyond some size, which depends on the task, a larger minibatch saves hardly
# any steps (Shallue et al. 2019).

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 2. Four optimisers, three lines each
#
# The gradient says which way is down. An **optimiser** decides what to do with it. Let $g_t$ be the gradient of step $t$ and
# $\eta$ the learning rate.
#
# | | remembers | step |
# |---|---|---|
# | **SGD** (Robbins & Monro 1951) | nothing | $w \leftarrow w - \eta\, g_t$ |
# | **momentum** (Polyak 1964) | $v \leftarrow \beta v + g_t$ | $w \leftarrow w - \eta\, v$ |
# | **Adam** (Kingma & Ba 2015) | $m \leftarrow \beta_1 m + (1 - \beta_1)\, g_t, \quad v \leftarrow \beta_2 v + (1 - \beta_2)\, g_t^2$ | $w \leftarrow w - \eta\, \hat m / (\sqrt{\hat v} + \varepsilon)$ |
# | **AdamW** (Loshchilov & Hutter 2019) | the same | first $w \leftarrow (1 - \eta \lambda)\, w$, then Adam's step |
#
# The constants $\beta$, $\beta_1$ and $\beta_2$ are a little below 1 and say how much of a memory is kept from one step to the next. The
# tiny constant $\varepsilon$ prevents a division by 0. (The code below has the usual values.) A hat means division by $1 - \beta_1^t$ or
# $1 - \beta_2^t$; it corrects Adam's averages, which start at 0 and are therefore too small at first. Adam takes squares, roots and
# quotients entry by entry, so **every parameter gets its own step size.** Section 6 explains $\lambda$.


# %% slideshow={"slide_type": "fragment"} tags=["lesson"]
def sgd(w, g, memory, rate):
    return w - rate * g


def momentum(w, g, memory, rate, beta=0.9):
    memory["v"] = beta * memory.get("v", 0) + g
    return w - rate * memory["v"]


def adam(w, g, memory, rate, beta1=0.9, beta2=0.999, eps=1e-8):
    t = memory["t"] = memory.get("t", 0) + 1
    m = memory["m"] = beta1 * memory.get("m", 0) + (1 - beta1) * g
    v = memory["v"] = beta2 * memory.get("v", 0) + (1 - beta2) * g**2
    return w - rate * (m / (1 - beta1**t)) / ((v / (1 - beta2**t)) ** 0.5 + eps)


def adamw(w, g, memory, rate, decay=0.1):
    return adam((1 - rate * decay) * w, g, memory, rate)


# %% [markdown] slideshow={"slide_type": "skip"}
# Do these functions agree with PyTorch's optimisers? We take fifty steps with both, from the same start and with the same
# gradients:


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "skip"}
def largest_difference(ours, theirs):
    """The largest difference between our weights and those of PyTorch's optimiser after 50 steps."""
    w, memory = torch.linspace(-1, 1, 5).double(), {}
    parameter = w.clone().requires_grad_()
    optimiser = theirs([parameter])
    for _ in range(50):
        w = ours(w, torch.sin(3 * w), memory, 0.01)
        parameter.grad = torch.sin(3 * parameter.detach())
        optimiser.step()
    return (w - parameter).abs().max().item()


theirs = {
    sgd: partial(torch.optim.SGD, lr=0.01),
    momentum: partial(torch.optim.SGD, lr=0.01, momentum=0.9),
    adam: partial(torch.optim.Adam, lr=0.01),
    adamw: partial(torch.optim.AdamW, lr=0.01, weight_decay=0.1),
}
told = [(our.__name__, f"{largest_difference(our, its):.0e}") for our, its in theirs.items()]
show.table(told, ["", "Largest difference"])

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "subslide"}
first_steps = {g: abs(adam(0.0, g, {}, 0.05)) for g in (0.001, 1.0, 1000.0)}
told = [(f"{g:g}", f"{0.05 * g:g}", f"{length:.4f}") for g, length in first_steps.items()]
steps_taken = show.table(told, ["Gradient", "SGD's first step", "Adam's first step"])
show.predict(
    "A weight's first gradient is 0.001, and the learning rate is 0.05. How long is *Adam's* first step?",
    choices={"0.00005": 5e-5, "0.001": 1e-3, "0.05": 0.05, "50": 50},
    answer=first_steps[0.001],
    why="Adam keeps only the sign of the first gradient, because $\\hat m = g$ and $\\sqrt{\\hat v} = |g|$. So Adam's rate is the length of "
    "each weight's first step, whereas SGD multiplies its rate by the gradient.",
    reveals=steps_taken,
)

# %% [markdown] slideshow={"slide_type": "notes"}
# *14 minutes. Write Adam's first step on the board: m hat = g, v hat = g squared. Ask what happens to a weight whose gradient is always
# 0.001, and to one whose gradient alternates between plus and minus 1000. The first moves steadily, the second hardly at all.*

# %% [markdown] slideshow={"slide_type": "subslide"}
# ### One surface
#
# Take a valley with the loss $\tfrac12 (u^2 / \kappa + v^2)$. It is $\kappa$ times flatter along its floor (coordinate $u$) than across it
# (coordinate $v$). Across the valley SGD diverges at rates above 2. To progress as fast along the floor, it would need a rate $\kappa$ times
# as large, so no single rate suits both directions. *SGD and momentum share one rate slider, Adam and AdamW the other.*
#
# > **Ask yourself.** You rotate the valley by 45°, and the starting point with it. Which optimisers' loss curves change?

# %% slideshow={"slide_type": "fragment"}
widgets.optimiser_race(
    adam, {"SGD": sgd, "momentum": momentum, "AdamW": adamw}, name="Adam"
).opens(step=60)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - SGD and momentum only add gradients, so their paths rotate with the valley and their losses stay the same. Adam divides entry by
#   entry, so it evens out a valley that lies along an axis of the weights and loses that advantage when the valley lies diagonally.
# - In momentum's sum the steps along the floor add up, and the swings across the valley cancel.
# - At a rate of 2.1, each of SGD's steps across the valley is longer than the previous one. At 1.9 SGD still converges.
# - With noisy gradients and a constant rate no optimiser settles. Each keeps jumping around the bottom, in larger jumps at a
#   larger rate.
# - AdamW's decay pulls towards 0, and the bottom of this valley happens to be at 0.
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# ### One language model
#
# Now we race the four optimisers on a real loss, for 1,000 steps of 64 windows, with five
# seeds and every optimiser at its best rate (`python -m lectures.recipes optimisers`). With the same seed, all four get the same
# initial weights and the same minibatches, so we can compare them seed by seed.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
race = stored("optimisers")
raced = {name: at_best(one) for name, one in race["by"].items()}
means = {name: mean_interval(values)[0] for name, values in raced.items()}
curves = {name: one["rates"][one["best"]]["curve"]["dev"] for name, one in race["by"].items()}
points = [race["steps"] * i / 8 for i in range(9)]
picture = show.bands_svg(
    points,
    curves,
    x_title="step",
    y_title="dev loss",
    low=2.2,
    high=4.6,
    width=760,
    height=330,
    alt="Development loss against the step for four optimisers, each at its best rate; each band spans five seeds.",
)
rows = {f"{name}, rate {race['by'][name]['best']}": losses for name, losses in raced.items()}
show.predict(
    "Each optimiser has its own best rate. How far below SGD's test loss does Adam's end, in nats per character?",
    choices={"0.01": 0.01, "0.1": 0.1, "0.5": 0.5, "not at all": 0.001},
    answer=means["SGD"] - means["Adam"],
    why="Here are all four, and their development loss during training.",
    reveals=lambda: [
        compared(rows, 2.25, 2.5, "Test loss of four optimisers"),
        HTML(picture),
    ],
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - Seed by seed, Adam ends 0.096<!--[[-paired(raced["Adam"], raced["SGD"])[0]:.3f]]--> ± 0.009<!--[[paired(raced["Adam"], raced["SGD"])[1]:.3f]]--> nats below SGD<!--[[? -paired(raced["Adam"], raced["SGD"])[0] > paired(raced["Adam"], raced["SGD"])[1]]]-->.
# - Five seeds do not show momentum ahead of SGD, or AdamW ahead of Adam. Momentum's loss minus SGD's is +0.017<!--[[paired(raced["momentum"], raced["SGD"])[0]:+.3f]]--> ± 0.024<!--[[paired(raced["momentum"], raced["SGD"])[1]:.3f]]--> nats,
#   AdamW's minus Adam's −0.001<!--[[paired(raced["AdamW"], raced["Adam"])[0]:+.3f]]--> ± 0.005<!--[[paired(raced["AdamW"], raced["Adam"])[1]:.3f]]-->.
# - We did not test whether the decay of AdamW would help in longer training.
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# ### A step for a whole matrix
#
# Adam gives every weight its own step size. **Muon** (Jordan et al. 2024) looks at a whole matrix. It takes momentum's step, whose
# singular value decomposition is $U S V^\top$, and *orthogonalises* it. That is, Muon replaces the step by about $U V^\top$, so the singular
# vectors stay, and all singular values become about 1. You need not compute the decomposition. Divide the step by its norm (the root of the
# sum of its squared entries), call the result $X$, and repeat this five times:
#
# $$X \leftarrow a X + (b A + c A^2)\, X, \qquad A = X X^\top .$$
#
# Each time, every singular value $s$ becomes $a s + b s^3 + c s^5$, and $U$ and $V$ do not change. (The code has the constants $a$, $b$
# and $c$.)


# %% slideshow={"slide_type": "fragment"} tags=["lesson"]
def orthogonalise(M, a=3.4445, b=-4.7750, c=2.0315):
    X = M / M.norm()
    for _ in range(5):
        A = X @ X.T
        X = a * X + (b * A + c * A @ A) @ X
    return X


dice = torch.Generator().manual_seed(0)
stretched = torch.diag(0.5 ** torch.arange(6.0)) @ torch.randn(6, 9, generator=dice)
for name, matrix in {"step": stretched, "Muon's": orthogonalise(stretched)}.items():
    print(f"{name:7} singular values", torch.linalg.svdvals(matrix).numpy().round(2))

# %% [markdown] slideshow={"slide_type": "subslide"}
# We compare Muon with Adam on this network, now with three<!--[[words(muon["depth"])]]--> hidden layers, for 500<!--[[muon["steps"]]]--> steps. The learning rate falls as in section 3, and all
# rows share the same five seeds. In Muon's row, embeddings, biases and the output matrix keep Adam, as Jordan et al. recommend, at its best rate. As a control, *equal
# length* rescales momentum's step to the length of Muon's, without orthogonalising it. Each row uses its own best rate, with a worse one on
# either side (`python -m lectures.recipes muon`).

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
muon = stored("muon")
by_muon = {name: row["test"] for name, row in muon["rows"].items()}
spread = [value for values in by_muon.values() for value in values]
compared(
    {f"{name}, rate {muon['rows'][name]['rate']:g}": losses for name, losses in by_muon.items()},
    min(spread) - 0.01,
    max(spread) + 0.01,
    "Test loss of Adam, Muon and a control",
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - After equally many steps, Muon ends 0.057<!--[[paired(by_muon["Adam"], by_muon["Muon"])[0]:.3f]]--> ± 0.019<!--[[paired(by_muon["Adam"], by_muon["Muon"])[1]:.3f]]--> nats below Adam<!--[[? paired(by_muon["Adam"], by_muon["Muon"])[0] > paired(by_muon["Adam"], by_muon["Muon"])[1]]]-->.
# - *Is it the orthogonalisation?* Steps of equal length without it end 0.072<!--[[paired(by_muon["equal length"], by_muon["Muon"])[0]:.3f]]--> ± 0.010<!--[[paired(by_muon["equal length"], by_muon["Muon"])[1]:.3f]]--> nats above Muon<!--[[? paired(by_muon["equal length"], by_muon["Muon"])[0] > paired(by_muon["equal length"], by_muon["Muon"])[1]]]-->.
# - *What does it cost?* Including the gradient of 64 examples, a step of Muon takes 4<!--[[sum(muon["rows"]["Muon"]["seconds"].values()) / sum(muon["rows"]["Adam"]["seconds"].values()):.0f]]--> times as long as a step of Adam. The cost of Muon's matrix products does not depend on the size of the minibatch, so with larger minibatches they take a smaller fraction of the time.
# - *And after equal time?* In about the same time Adam takes 4<!--[[muon["rows"]["Adam, longer"]["steps"] / muon["rows"]["Muon"]["steps"]:.0f]]--> times as many steps (*Adam, longer*), and ends 0.252<!--[[paired(by_muon["Muon"], by_muon["Adam, longer"])[0]:.3f]]--> ± 0.022<!--[[paired(by_muon["Muon"], by_muon["Adam, longer"])[1]:.3f]]--> nats *below* Muon<!--[[? paired(by_muon["Muon"], by_muon["Adam, longer"])[0] > paired(by_muon["Muon"], by_muon["Adam, longer"])[1]]]-->.
# </details>
#
# **On this small network Muon leads after equally many steps, and the orthogonalisation makes the difference. After equal time, with minibatches of 64, Adam leads. "Better per step" is only half of a comparison.**

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 3. The learning rate
#
# How much does the rate matter? A **sweep** trains with a grid of rates, each about three times the previous one, and keeps the rate
# with the lowest loss *on development text*.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
adams = race["by"]["Adam"]["rates"]
best_adam = race["by"]["Adam"]["best"]
ten_times = f"{float(best_adam) / 10:g}"
slow = adams[ten_times]
show.predict(
    f"Adam's best rate here is {best_adam}. By how many nats per character does a rate ten times *smaller* raise the test loss?",
    choices={"about 0.03": 0.03, "about 0.1": 0.1, "about 0.3": 0.3, "about 1": 1.0},
    answer=mean_interval(adams[f"{float(best_adam) / 10:g}"]["test"])[0] - means["Adam"],
    why="Here is the test loss against the rate. Choose each optimiser in turn:",
    reveals=lambda: widgets.sweep_explorer(race).opens(name="Adam"),
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# In this race a wrong learning rate can cost more than a different optimiser. A rate ten times too small costs Adam 0.35<!--[[paired(slow["test"], raced["Adam"])[0]:.2f]]--> nats, and a rate three
# times too small still costs 0.10<!--[[paired(adams["0.001"]["test"], raced["Adam"])[0]:.2f]]-->, as much as using SGD, at its best rate, instead of Adam<!--[[? best_adam == "0.003" and abs(paired(adams["0.001"]["test"], raced["SGD"])[0]) < 0.02]]-->.
# Start a sweep with factors of three, and widen the grid until the best rate has a worse one on either side.

# %% [markdown] slideshow={"slide_type": "notes"}
# *10 minutes. Let somebody choose an optimiser and move its rate from small to large; before each move, ask what the five curves will do.
# Point out that the bowls of SGD and Adam lie at rates a hundred times apart: a rate means nothing without its optimiser.*

# %% [markdown] slideshow={"slide_type": "subslide"}
# ### Warm-up and cosine
#
# A **schedule** makes the learning rate a function of the step. The idea of a **warm-up** is to begin with small steps, while Adam's
# averages contain few gradients. The idea of letting the rate fall later is to end with small steps, because at a constant rate the noise of
# the minibatches keeps the weights jumping. A common schedule of language models rises linearly for $T_w$ steps and then falls along half a
# cosine wave. It is called a **cosine schedule** (Loshchilov & Hutter 2017; warm-up as in Goyal et al. 2017):
#
# $$\eta_t = \eta \cdot \begin{cases} t / T_w & t < T_w \\[2pt]
#   f + (1 - f)\,\tfrac12 \left(1 + \cos \pi \frac{t - T_w}{T - T_w}\right) & t \ge T_w \end{cases}$$
#
# $T$ is the total number of steps, and $f$, the *floor*, is the fraction of $\eta$ that is left at the end.


# %% slideshow={"slide_type": "fragment"}
def warm_cosine(step, total, warmup, floor):
    """The factor of the learning rate at a step, from 1 to total."""
    if step < warmup:
        return step / warmup
    done = (step - warmup) / (total - warmup)
    return floor + (1 - floor) * (1 + math.cos(math.pi * done)) / 2


for step in (1, 50, 100, 550, 1000):
    assert warm_cosine(step, 1000, 100, 0.1) == cosine_schedule(step, 1000, 100, 0.1)
widgets.schedule_playground(warm_cosine)

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "subslide"}
schedules = stored("schedules")
scheduled = {name: at_best(one) for name, one in schedules["by"].items()}
schedule_means = {name: mean_interval(values)[0] for name, values in scheduled.items()}
with_rate = {f"{name}, rate {schedules['by'][name]['best']}": v for name, v in scheduled.items()}
against_constant = {name: paired(v, scheduled["constant"]) for name, v in scheduled.items()}
show.predict(
    "We train the network of section 1 again, with Adam for 500 steps and four schedules "
    "(constant, warm-up, cosine, both), each at its own best rate. By how many nats per character do "
    "warm-up and cosine together lower the test loss, compared with a constant rate?",
    choices={"about 0.02": 0.02, "about 0.1": 0.1, "about 0.5": 0.5},
    answer=schedule_means["constant"] - schedule_means["warm-up, cosine"],
    why="Look at the rates as well: with the cosine a larger rate is best.",
    reveals=lambda: compared(with_rate, 2.4, 2.5, "Test loss of four schedules"),
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# Compared seed by seed with a constant rate, warm-up and cosine together lower the loss by 0.018<!--[[-against_constant["warm-up, cosine"][0]:.3f]]--> ± 0.014<!--[[against_constant["warm-up, cosine"][1]:.3f]]--><!--[[? -against_constant["warm-up, cosine"][0] > against_constant["warm-up, cosine"][1]]]--> nats. Warm-up
# by itself does not lower it (a difference of +0.008<!--[[against_constant["warm-up"][0]:+.3f]]--> ± 0.004<!--[[against_constant["warm-up"][1]:.3f]]--><!--[[? against_constant["warm-up"][0] > 0]]-->); the cosine by itself makes a difference of +0.004<!--[[against_constant["cosine"][0]:+.3f]]--> ± 0.010<!--[[against_constant["cosine"][1]:.3f]]-->, which five seeds cannot
# tell from 0<!--[[? abs(against_constant["cosine"][0]) < against_constant["cosine"][1]]]-->. [Lecture 15](15_transformer_language_model.ipynb) tests the warm-up of a Transformer.

# %% [markdown] slideshow={"slide_type": "skip"}
# > **What goes wrong.** *The schedule is cut off.* A cosine that was planned for 10,000 steps and cut off at 5,000 has never
# > taken its small steps; you cannot compare its middle with another run's end. *The optimiser's memory is lost at a restart.*
# > Adam then begins with empty averages, and the first step of every weight is as long as the learning rate (section 2), so the loss may rise
# > for a while. *The gradient is divided twice.* If you add up the gradients of
# > several minibatches before a step (**gradient accumulation**), divide only once, by the number of all their examples.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 4. The first weights
#
# Before the first step the weights are random. How large should they be? Let $h$, the input of a layer, have $n$ entries, and let the
# entries of its matrix $W$ be independent, with mean 0 and variance $s_w^2$. Then every entry of $h W$ is a sum of $n$ terms:
#
# $$\operatorname{var}(hW) = n\, s_w^2 \; \overline{h^2},$$
#
# where $\overline{h^2}$ is the mean of the squared entries of $h$. The root of this mean is the *size* of the signal that passes through
# the layers. Without activation functions, *every layer* multiplies this size by $\sqrt{n}\,s_w$, the **gain**. Twenty layers with a gain
# of 0.5 leave a millionth<!--[[? round(1e6 * 0.5 ** 20, 1) == 1]]--> of the signal. So keep the gain at 1: $s_w^2 = 1/n$.
# **Glorot** & Bengio (2010) want the same for the gradient, which runs through $W^\top$. For a layer with $n_{\text{in}}$ inputs and
# $n_{\text{out}}$ outputs they compromise on a variance of $2 / (n_{\text{in}} + n_{\text{out}})$. **He** et al. (2015) note that ReLU
# sets half of the entries to 0, which halves $\overline{h^2}$, and take a variance of $2/n$.

# %% slideshow={"slide_type": "fragment"}
ACTIVATIONS = {"ReLU": torch.relu, "tanh": torch.tanh, "none": lambda h: h}


def signal(gain, activation, norm, depth=20, n=128):
    """The size of the signal after each of 20 layers, and of the gradient at each of them."""
    draws = torch.Generator().manual_seed(0)
    layers = [torch.randn(64, n, generator=draws).requires_grad_()]
    for _ in range(depth):
        h = layers[-1] @ (gain / n**0.5 * torch.randn(n, n, generator=draws))
        h = F.layer_norm(h, (n,)) if norm else h
        layers.append(ACTIVATIONS[activation](h))
    at_top = torch.randn(64, n, generator=draws)
    gradients = torch.autograd.grad(layers[-1], layers, at_top)
    size = [h.pow(2).mean().sqrt().item() for h in layers]
    return size, [(g.norm() / at_top.norm()).item() for g in gradients]


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
def left(gain, activation="ReLU", norm=False):
    """What 20 layers leave of a signal."""
    forward, _ = signal(gain, activation, norm)
    return forward[-1] / forward[0]


after_small = signal(0.01 * 128**0.5, "ReLU", False)[0][-1]
show.predict(
    "Take layers of 128 units with ReLU. Their weights start with a standard deviation of 0.01, as did those of AlexNet, a network for images (Krizhevsky et al. 2012). "
    "What is left of a signal of size 1 after 20 layers?",
    choices={"about 10⁻²": 1e-2, "about 10⁻⁶": 1e-6, "about 10⁻²²": 1e-22, "exactly 0": 1e-60},
    answer=after_small,
    why="Each layer multiplies the signal by $0.01 \\sqrt{128/2} = 0.08$. Which gain preserves the signal with ReLU, and which with tanh? How exact must it be?",
    reveals=lambda: widgets.signal_playground(signal, list(ACTIVATIONS)),
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - With ReLU the signal keeps its size at He's gain, $\sqrt 2 \approx 1.41$<!--[[? 0.5 < left(2**0.5) < 1.5]]-->. At Glorot's gain, 1, it shrinks to a thousandth<!--[[? 3e-4 < left(1.0) < 3e-3]]--> over
#   20 layers; at $1/\sqrt3 \approx 0.58$, PyTorch's default for `nn.Linear`, it shrinks to about $10^{-8}$<!--[[? 1e-9 < left(3**-0.5) < 1e-7]]-->.
# - With tanh the signal cannot explode, but the gradient can (try a gain of 2.5)<!--[[? signal(2.5, "tanh", False)[1][0] > 10]]-->.
# - Without an activation function a gain of 1 is right; with 1.1 the signal is 7<!--[[1.1**20:.0f]]--> times too large after 20 layers<!--[[? abs(left(1.1, "none") / 1.1**20 - 1) < 0.3]]-->.
# - If you tick `LayerNorm`, the gain no longer matters to the signal<!--[[? abs(left(0.3, norm=True) / left(2.0, norm=True) - 1) < 0.01]]-->. Section 5 explains why.
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# Does the initialisation matter for training? We trained 20 layers of 64 units with ReLU from four initialisations, for 1,000<!--[[deep["steps"]:,]]--> steps
# and with five seeds each. Each row of the picture is at its own best learning rate: on development plays, a lower and a higher rate were
# both worse. The row "0.01" has weights with a standard deviation of 0.01 (`python -m lectures.recipes deep_networks`).

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
deep = stored("deep_networks")


def norm_row(norm):
    """Test losses of every initialisation, one per seed."""
    return {name: at_best(one) for name, one in deep["by"][norm].items()}


initialised = norm_row("no norm")
ends_at = {name: mean_interval(values) for name, values in initialised.items()}
over_glorot, over_pytorch = (
    paired(initialised[name], initialised["He"]) for name in ("Glorot", "PyTorch")
)
tiny_rates = deep["by"]["no norm"]["0.01"]["rates"]
plays = {"train": shakespeare.texts("train")[0], "test": "".join(shakespeare.texts("test"))}
frequency = {  # + 1, so that none is 0
    part: torch.bincount(torch.tensor(characters.encode(text)), minlength=V).double() + 1
    for part, text in plays.items()
}
frequency = {part: counts / counts.sum() for part, counts in frequency.items()}
by_frequency = -(frequency["test"] * frequency["train"].log()).sum().item()
print(f"test loss if you know only how frequent each character is: {by_frequency:.2f} nats")
compared(initialised, 2.5, 3.5, "Test loss of 20 layers by initialisation")

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - With weights of 0.01 hardly any signal arrives at the top at first. At each of six<!--[[words(len(tiny_rates))]]--> rates the network learns hardly more than how frequent each character is; at the
#   best it ends at 3.29<!--[[ends_at["0.01"][0]:.2f]]--> ± 0.02<!--[[ends_at["0.01"][1]:.2f]]-->.
# - With He's rule the same number of steps leads to 2.90<!--[[ends_at["He"][0]:.2f]]--> ± 0.07<!--[[ends_at["He"][1]:.2f]]--><!--[[? ends_at["0.01"][0] - ends_at["He"][0] > 0.3]]-->.
# - Five seeds cannot tell He's rule from Glorot's: seed by seed the two differ by 0.05<!--[[over_glorot[0]:.2f]]--> ± 0.05<!--[[over_glorot[1]:.2f]]--><!--[[? over_glorot[0] < over_glorot[1]]]-->. PyTorch's default ends above He's rule by
#   0.07<!--[[over_pytorch[0]:.2f]]--> ± 0.04<!--[[over_pytorch[1]:.2f]]-->.
# </details>
#
# In this stack weights of 0.01 let the signal vanish, and training fails. PyTorch's default, which also shrinks the signal, does almost as well as He's
# rule. Even with He's rule the twenty layers end at 2.90<!--[[ends_at["He"][0]:.2f]]-->, whereas the network of section 2, with
# one hidden layer, ends at 2.32<!--[[means["Adam"]:.2f]]--> after as many steps<!--[[? deep["steps"] == race["steps"]]]-->.

# %% [markdown] slideshow={"slide_type": "notes"}
# *9 minutes. The four rows are the same network with the same number of parameters. Ask how the class would notice the fault in practice.
# (The loss falls to the entropy of single characters, about 3.3, and stays there.) That plateau is a diagnosis; section 8 returns
# to it.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 5. Normalisation
#
# Section 4 chose weights that keep the size of the signal on average. **Normalisation** enforces this size: subtract a mean, divide by a
# standard deviation, and let the network learn a scale and a shift (they start at 1 and 0; we leave them out here).
#
# $$\hat h = \frac{h - \text{mean}(h)}{\sqrt{\text{var}(h) + \varepsilon}}$$
#
# **BatchNorm** (Ioffe & Szegedy 2015) takes the mean and variance of each unit over the *examples of the minibatch*;
# **LayerNorm** (Ba, Kiros & Hinton 2016) takes those of each example over its *units*.


# %% slideshow={"slide_type": "fragment"}
def normalise(h, over):
    """over=0: each unit over the minibatch (BatchNorm); over=1: each example over its units (LayerNorm)."""
    mean, var = h.mean(dim=over, keepdim=True), h.var(dim=over, keepdim=True, correction=0)
    return (h - mean) / (var + 1e-5).sqrt()


h = torch.randn(64, 8, generator=torch.Generator().manual_seed(0)) * 3 + 1
print(f"LayerNorm vs PyTorch's: {(normalise(h, 1) - nn.LayerNorm(8)(h)).abs().max():.0e}")
print(f"BatchNorm vs PyTorch's: {(normalise(h, 0) - nn.BatchNorm1d(8)(h)).abs().max():.0e}")

# %% [markdown] slideshow={"slide_type": "fragment"}
# > **Ask yourself.** We change all examples of a minibatch except the first. Which normalisation changes the output for the *first*?

# %% slideshow={"slide_type": "fragment"}
changed = h.clone()
changed[1:] += 5 * torch.randn(63, 8, generator=torch.Generator().manual_seed(1))
for name, over in {"BatchNorm": 0, "LayerNorm": 1}.items():
    far = (normalise(changed, over) - normalise(h, over))[0].abs().max().item()
    print(f"{name}: the first example's output moves by up to {far:.2f}")

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# With BatchNorm, an example's output depends on the other examples of its minibatch. At inference an example may come alone, so
# running averages replace the minibatch's mean and variance. In a language model, a mean over the positions of a text would also let
# a position see later tokens, which it should predict. Most language models use LayerNorm, or RMSNorm (Zhang & Sennrich 2019), which does
# not even subtract the mean.
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# We put a normalisation before every ReLU of the twenty layers. And we try a second idea (He et al. 2016): each layer *adds* its result
# to its input, $h + \mathrm{ReLU}(\mathrm{norm}(h))\,W$. This is a *residual connection* ([lecture 6](06_recurrent_networks.ipynb)). The
# layers and parameters are the same; only the sum is new. Without it, we call the network a *plain* stack.
#
# > **Ask yourself.** Which of the three helps most: LayerNorm, BatchNorm, or LayerNorm with residual connections?

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
everything = {
    f"{initial}, {norm}": values
    for norm in deep["by"]
    for initial, values in norm_row(norm).items()
}
ends_of = {row: mean_interval(values) for row, values in everything.items()}
he_gain, small_gain = (
    paired(everything[f"{initial}, no norm"], everything[f"{initial}, LayerNorm, residual"])
    for initial in ("He", "0.01")
)
layer_norm, batch_norm = (
    paired(everything[f"He, {norm}"], everything["He, no norm"])
    for norm in ("LayerNorm", "BatchNorm")
)
with_skips = paired(
    everything["He, LayerNorm, residual"], everything["0.01, LayerNorm, residual"]
)


def only_added(gain, depth=20, n=128):
    """By what factor residual connections without normalisation enlarge a signal."""
    draws = torch.Generator().manual_seed(0)
    first = h = torch.randn(64, n, generator=draws)
    for _ in range(depth):
        h = h + torch.relu(h) @ (gain / n**0.5 * torch.randn(n, n, generator=draws))
    return (h.norm() / first.norm()).item()


compared(everything, 2.0, 3.5, "Test loss of 20 layers by initialisation and normalisation")

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - In this plain stack LayerNorm hurts, and for BatchNorm five seeds show no difference<!--[[? abs(batch_norm[0]) < batch_norm[1]]]-->. From He's weights, LayerNorm ends 0.30<!--[[layer_norm[0]:.2f]]--> ± 0.09<!--[[layer_norm[1]:.2f]]--> nats *above* the network without normalisation<!--[[? layer_norm[0] > layer_norm[1]]]-->, and BatchNorm
#   0.06<!--[[batch_norm[0]:.2f]]--> ± 0.13<!--[[batch_norm[1]:.2f]]-->. From weights of 0.01, the network with LayerNorm learns nothing beyond the frequencies of the characters<!--[[? ends_of["0.01, LayerNorm"][0] > by_frequency]]-->. We do not know why.
# - With LayerNorm *and* residual connections the same layers learn. They end 0.54<!--[[he_gain[0]:.2f]]--> ± 0.05<!--[[he_gain[1]:.2f]]--> nats below the plain stack without normalisation if both start from He's weights, and 0.95<!--[[small_gain[0]:.2f]]--> ± 0.04<!--[[small_gain[1]:.2f]]--> nats below it if both start from weights of 0.01.
# - With LayerNorm and residual connections, the losses from these two initialisations differ by only 0.01<!--[[abs(with_skips[0]):.2f]]--> ± 0.01<!--[[with_skips[1]:.2f]]--> nats<!--[[? abs(with_skips[0]) < with_skips[1]]]-->.
# </details>
#
# A residual connection gives signal and gradient a path that bypasses the weights, so small initial weights cannot block them. Large ones can still inflate the signal;
# without LayerNorm, He's weights enlarge it about a thousandfold<!--[[? 500 < only_added(2**0.5) < 2000]]--> in twenty layers. (We did not train residual connections without LayerNorm.) In 1,000<!--[[deep["steps"]:,]]--> steps nothing
# else that we tried on twenty layers comes near residual connections with LayerNorm<!--[[? max(ends_of[row][0] for row in everything if "residual" in row) < min(ends_of[row][0] for row in everything if "residual" not in row) - 0.4]]-->. So here, keeping the *size* of a signal was not enough to train a deep
# stack. Transformers have both normalisation and residual connections ([lecture 15](15_transformer_language_model.ipynb)).

# %% [markdown] slideshow={"slide_type": "notes"}
# *7 minutes. Ask why anybody still needs He's formula. Not every matrix is followed by a normalisation; think of residual networks,
# embeddings and output layers. Besides, the length of Adam's steps hardly depends on the gradient, so the same step
# changes a large weight less in proportion than a small one.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 6. Overfitting, on purpose
#
# So far our networks saw most examples for the first time. **Overfitting** means that the loss falls on the training text while it rises
# on new text. To see it, we give the network 5,000 characters, two pages, and let it read them about nineteen<!--[[? round(1500 * 64 / len(two_pages)) == 19]]--> times. One curve is the **training
# loss**, the other is the **development loss**, measured on a play that the network never trains on.

# %% slideshow={"slide_type": "fragment"}
two_pages, held_out = windows(shakespeare.texts("train")[0][:5000]), dev[:: len(dev) // 1000]
seen = {"training": [], "development": []}


def look(model):
    """Record both losses; `fit` calls this every 50 steps."""
    with torch.no_grad():
        for name, batch in {"training": two_pages[::5], "development": held_out}.items():
            seen[name].append(loss_of(model, batch).item())
    return seen["development"][-1]


_, history = trained(
    1500, draws_of(two_pages, 64), adam_3, validation=look, evaluate_every=50, keep_best=False
)

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
at = list(history.validation)
turning = at[seen["development"].index(min(seen["development"]))]
worst, lowest = seen["development"][-1], min(seen["development"])
learned = show.lines_svg(
    at,
    seen,
    x_title="step",
    y_title="nats per character",
    low=0,
    high=7,
    level=math.log(V),
    width=760,
    height=340,
    alt=f"Training loss falls from {seen['training'][0]:.2f} to {seen['training'][-1]:.2f}; development loss is lowest at"
    f" step {turning}, {lowest:.2f}, and ends at {worst:.2f}.",
)
HTML(learned)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# The development loss is lowest after about 100<!--[[turning]]--> of the 1,500 steps. Then it climbs above the loss of uniform guessing (the thin line,
# $\ln 82$ = 4.41<!--[[math.log(V):.2f]]--><!--[[? V == 82 and worst > math.log(V)]]-->), while the training loss falls nearly to 0<!--[[? seen["training"][-1] < 0.1]]-->. The network has learned two pages by heart. (This
# is one run.)
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# ### Five remedies
#
# - **More data.** If no window is repeated, the network gains nothing by memorising one.
# - **Early stopping.** Keep the weights of the step at which the development loss was lowest.
# - **Weight decay.** Multiply every weight by $1 - \eta\lambda$ before each step (AdamW, section 2). In SGD that is the same as adding
#   $\tfrac{\lambda}{2}\|w\|^2$ to the loss; in Adam it is not, because Adam would divide the added gradient by $\sqrt{\hat v}$.
# - **Dropout** (Srivastava et al. 2014). In training, set each unit to 0 with probability $r$ and divide the others by $1 - r$;
#   at inference, leave all units unchanged.
# - **A smaller network.**


# %% slideshow={"slide_type": "fragment"}
def dropout(h, rate, generator):
    """Set units to 0 at random and scale up the others, so that the mean stays the same."""
    keep = torch.rand(h.shape, generator=generator) >= rate
    return h * keep / (1 - rate)


dropped = dropout(torch.ones(10_000), 0.5, torch.Generator().manual_seed(0))
print("values:", dropped.unique().tolist(), "  mean:", round(dropped.mean().item(), 2))

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "subslide"}
over = stored("overfitting")
outcomes = {
    f"{name} {row['strength']}".strip(): row["test"] for name, row in over["results"].items()
}


def stopped(curves):
    """Test losses at the step where each seed's dev loss was lowest."""
    lowest = [dev.index(min(dev)) for dev in curves["dev"]]
    return [test[at] for test, at in zip(curves["test"], lowest, strict=True)]


for name, row in over["results"].items():
    if row["strength"]:
        outcomes[f"{name} {row['strength']}, stopped early"] = stopped(
            over["curves"][name][row["strength"]]
        )
ends = {name: mean_interval(row["test"])[0] for name, row in over["results"].items()}
without_data = {name: mean for name, mean in ends.items() if name not in ("more data", "nothing")}
show.predict(
    "You have only two pages. Which single remedy ends at the lowest test loss? (We chose the strength of each on the development plays.)",
    choices=["weight decay", "dropout", "fewer units", "early stopping"],
    answer=min(without_data, key=without_data.get),
    why="Early stopping is measured at its best step, every other remedy at the last step. The first picture also shows the others stopped early; the second shows each remedy at every step.",
    reveals=lambda: [
        compared(outcomes, 2.2, 6.4, "Test loss by remedy"),
        widgets.remedies_explorer(over),
    ],
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - At the last step the strongest decay that we tried has a loss of 2.79<!--[[mean_interval(outcomes["weight decay 1"])[0]:.2f]]-->, the network without a remedy 6.20<!--[[mean_interval(outcomes["nothing"])[0]:.2f]]-->. Dropout (4.15<!--[[mean_interval(outcomes["dropout 0.5"])[0]:.2f]]-->) and a
#   smaller network (5.34<!--[[mean_interval(outcomes["fewer units 32"])[0]:.2f]]-->) only slow the overfitting down: their loss still ends far above its lowest value<!--[[? all(mean_interval(outcomes[name])[0] > mean_interval(outcomes[f"{name}, stopped early"])[0] + 1 for name in ("dropout 0.5", "fewer units 32"))]]-->.
# - Stopped at its best step, dropout reaches 2.99<!--[[mean_interval(outcomes["dropout 0.5, stopped early"])[0]:.2f]]-->; seed by seed, that is 0.12<!--[[-paired(outcomes["dropout 0.5, stopped early"], outcomes["early stopping"])[0]:.2f]]--> ± 0.02<!--[[paired(outcomes["dropout 0.5, stopped early"], outcomes["early stopping"])[1]:.2f]]--> less than early stopping alone.
# - The strongest decay and the strongest dropout that we tried were the best, so stronger ones may be better still.
# </details>
#
# On two pages, weight decay and early stopping help a great deal, but nothing that we tried helps as much as 32 times the text, which ends at 2.43<!--[[mean_interval(outcomes["more data 32 times"])[0]:.2f]]-->
# (`python -m lectures.recipes overfitting`, five seeds each).

# %% [markdown] slideshow={"slide_type": "notes"}
# *11 minutes. Let the room vote before the picture. The usual mistake afterwards is to say "weight decay is better than dropout". It is, on these
# two pages and at these strengths. Ask what you would have to try before a report may say so in general.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 7. How many seeds?
#
# Train the same network twice with different seeds, and you get two losses. So if you run two *methods* once each, you cannot tell a
# difference between the methods from a difference between the seeds. Train each method with $n$ seeds, and report the mean of their losses
# $x_i$ with its **confidence interval** (Neyman 1937):
#
# $$\bar x \pm t_{n-1}\, \frac{s}{\sqrt n}, \qquad s^2 = \frac{1}{n - 1} \sum_i (x_i - \bar x)^2.$$
#
# Here $s$ is the spread between seeds, and $t_{n-1}$ is Student's factor (1908). For an interval of 95 % it is
# $t$ = 12.7<!--[[T[0]:.1f]]--> for two seeds, 4.3<!--[[T[1]:.1f]]--> for three and 2.8<!--[[T[3]:.1f]]--> for five. One seed has no interval. In a picture, draw the interval as a band around the mean.


# %% slideshow={"slide_type": "fragment"}
T = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201]


def interval(losses):
    """(mean, half the width of its 95 % interval) of one loss per seed; from 2 to 12 seeds."""
    n = len(losses)
    mean = sum(losses) / n
    s = (sum((x - mean) ** 2 for x in losses) / (n - 1)) ** 0.5
    return mean, T[n - 2] * s / n**0.5


five = raced["Adam"]
print("five seeds of Adam: {:.3f} ± {:.3f}".format(*interval(five)))

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
told = {
    "16 at a time": "{:.3f} ± {:.3f}".format(*interval(small)),
    "128 at a time": "{:.3f} ± {:.3f}".format(*interval(middle)),
    "128 minus 16, seed by seed": "{:+.3f} ± {:.3f}".format(*paired(middle, small)),
}
show.table(told.items(), ["", "Test loss, nats"])

# %% [markdown] slideshow={"slide_type": "fragment"}
# **Compare seed by seed.** In section 1 the intervals of minibatches of 16 and 128 overlap, and yet there is a difference. Overlapping
# intervals do not prove that two methods are equally good (Schenker & Gentleman 2001). From seed to seed the losses of both sizes rise and
# fall together; their correlation is 0.85<!--[[torch.corrcoef(torch.tensor([small, middle]))[0, 1]:.2f]]-->. If both methods get the same seeds, and so the same
# initial weights and data in the same order, subtract seed by seed. The luck that they share cancels, and the interval of the *differences*
# decides.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "subslide"}
many = stored("seeds")["test"]
rivals = ("ReLU", "GELU")
better = min(rivals, key=lambda name: mean_interval(many[name])[0])
wrong = (
    sum(a > b for a in many[better] for b in many[next(r for r in rivals if r != better)])
    / len(many[better]) ** 2
)
show.predict(
    f"ReLU or GELU? We trained both with {len(many['ReLU'])} seeds; over all of them {better} has the lower mean loss. You run each *once*. "
    "How likely are you to name the wrong one?",
    choices={"about 1 %": 0.01, "about 10 %": 0.1, "about 25 %": 0.25, "about 40 %": 0.4},
    answer=wrong,
    why="One of two runs always wins. Choose two contestants, and move “other seeds” again and again. How often do the intervals mislead?",
    reveals=lambda: widgets.seeds_playground(interval, many),
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - With two seeds each the intervals are so wide ($t$ = 12.7<!--[[T[0]:.1f]]-->) that they hardly ever show a difference.
# - How many seeds you need depends on the difference. For a difference of twice the spread between seeds, five are enough;
#   for a difference of a tenth of the spread you need some 1,570<!--[[2 * ((1.96 + 0.8416) / 0.1) ** 2:,.0f]]--> for each method (to find it four times out of five).
# - In "ReLU against itself" there is no difference to find, yet now and then a draw of seeds shows one. One curve counts these false
#   alarms. The other curve is for a test of twenty variants that change nothing: how often does at least one of them show a difference?
# </details>
#
# One run of each method cannot establish a small difference, and the best of twenty variants is not a discovery. Plan the seeds before you run them, use the same ones for
# both sides, and test the difference.

# %% [markdown] slideshow={"slide_type": "notes"}
# *8 minutes. Move "other seeds" quickly with the arrow keys, first at two seeds each, then at eight. Then "ReLU against itself": any
# difference that is shown there is a false alarm; ask how many of twenty students with one useless idea each would publish.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 8. The loss does not fall
#
# Our patients are seven training runs of our network, with 150 steps each. One is healthy; each of the others has one fault.
# The thin line is the loss of uniform guessing, $\ln 82$ = 4.41<!--[[math.log(V):.2f]]-->.


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "skip"}
def training_with(fault, steps=150, rate=3e-3):
    """Losses and gradient norms of a training run with one fault."""
    with torch.random.fork_rng():
        torch.manual_seed(1)
        model = network()
        if fault == "weights 0":
            for parameter in model.parameters():
                nn.init.zeros_(parameter)
        rate = {"rate too small": rate / 300, "rate too large": 100 * rate}.get(fault, rate)
        optimiser = torch.optim.Adam(model.parameters(), lr=rate, fused=True)
        losses, norms = [], []
        for _ in range(steps):
            batch = train[torch.randint(len(train), (64,))]
            read, target = batch[:, :-1], batch[:, -1]
            if fault == "reads the target":
                read = batch[:, 1:]
            if fault == "targets shuffled":
                target = target[torch.randperm(64)]
            scores = model(read)
            loss = F.cross_entropy(
                scores.softmax(-1) if fault == "softmax twice" else scores, target
            )
            if fault != "gradients kept":
                optimiser.zero_grad()
            loss.backward()
            norms.append(math.sqrt(sum(p.grad.pow(2).sum().item() for p in model.parameters())))
            optimiser.step()
            losses.append(loss.item())
    return losses, norms


FAULTS = {
    "A": "softmax twice", "B": "reads the target", "C": "none", "D": "gradients kept",
    "E": "rate too small", "F": "weights 0", "G": "targets shuffled",
}  # fmt: skip
charts = {f"patient {letter}": training_with(fault) for letter, fault in FAULTS.items()}

# %% slideshow={"slide_type": "fragment"}
widgets.patients(charts, math.log(V))


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "subslide"}
forgetful = next(letter for letter, fault in FAULTS.items() if fault == "gradients kept")
show.predict(
    "Which patient forgot `optimizer.zero_grad()`?",
    choices=list(charts),
    answer=f"patient {forgetful}",
    why="Without this call, every step adds its gradient to the sum of all earlier ones. Here are the faults of all seven patients:",
    reveals=lambda: HTML(
        show.bar_list_svg(
            [sum(losses[-10:]) / 10 for losses, _ in charts.values()],
            [f"{letter}: {fault}" for letter, fault in FAULTS.items()],
            title="loss over the last ten steps",
        )
    ),
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - One loss is far lower than that of the healthy network. A loss that is too good is a warning; here the input
#   contains its target.
# - One loss begins at exactly $\ln 82$<!--[[? abs(charts["patient F"][0][0] - math.log(V)) < 1e-4]]--> and falls along a straight line. With all weights at 0 only the biases of the output get a
#   gradient, and at every step Adam moves most of them by nearly the learning rate.
# - One network learns only how frequent each character is, because its targets do not belong to its inputs.
# - Two losses hardly move. In one run the rate is too small; in the other a softmax precedes a loss that already contains one.
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# ### A checklist
#
# | check | healthy | if not |
# |---|---|---|
# | loss at step 0 | $\ln V$, or a little more | initial weights too large; a sum instead of a mean |
# | overfit *one* minibatch | falls to nearly 0 | a bug in the model, the loss or the update, or a bad rate; stop here and find it |
# | gradient norm of every parameter | none is 0, none keeps growing | weights at 0; a part cut off from the graph; `zero_grad` forgotten |
# | loss against the entropy of single tokens (the loss if you know only their frequencies) | soon falls below it | input and target do not belong together; the signal dies on its way; softmax twice |
# | loss against the best known loss | not below it | the input contains the target; test text in the training text |
# | rate times 3, rate divided by 3 | both worse | it was not the best rate |
# | training and development loss | both fall | overfitting (section 6) |
# | a different seed | the same conclusion | the conclusion depended on the seed (section 7) |
#
# Where does the gap between the best and the worst row of the first picture in this lecture come from? Mostly from the learning
# rate; at their best rates, SGD and Adam differ by only 0.10<!--[[paired(raced["SGD"], raced["Adam"])[0]:.2f]]--> nats. A schedule gains a little more. In twenty layers, residual connections with LayerNorm lowered the loss of a plain stack by 0.54<!--[[he_gain[0]:.2f]]--> nats. None of this is a law: measure it in *your*
# network, against a tuned baseline and with paired seeds.

# %% [markdown] slideshow={"slide_type": "notes"}
# *7 minutes. Let groups of two diagnose all seven patients before anybody answers. The usual mistake is to tune the rate of a
# network that has a bug. Overfitting one minibatch takes seconds, but it does not reveal a leak: B passes.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Now you
#
# Rewrite Adam, and compare yours with ours on the valley of section 2. The code below is correct. Break it: leave out the corrections
# $1 - \beta^t$, forget the root, use $|g|$ instead of $g^2$, put $\varepsilon$ inside the root. Which mistakes can you see, and
# after how many steps?


# %% slideshow={"slide_type": "fragment"}
def my_adam(w, g, memory, rate):
    """Weights after one step; keep what you need in `memory`. Change this."""
    t = memory["t"] = memory.get("t", 0) + 1
    m = memory["m"] = 0.9 * memory.get("m", 0) + 0.1 * g
    v = memory["v"] = 0.999 * memory.get("v", 0) + 0.001 * g**2
    return w - rate * (m / (1 - 0.9**t)) / ((v / (1 - 0.999**t)) ** 0.5 + 1e-8)


widgets.optimiser_race(adam, {"SGD": sgd}, name="Adam", yours=my_adam)

# %% [markdown] slideshow={"slide_type": "skip"}
# `schedule_playground`, `signal_playground`, `minibatch_cloud` and `seeds_playground` take `yours=` as well. In the assignment
# [`exercises/training/training.ipynb`](../exercises/training/training.ipynb) you write the optimisers, schedule, dropout and early
# stopping of this lecture for a whole network, and the loop that trains a language model with them and resumes exactly. You need the
# gradients of [`exercises/backpropagation/backpropagation.ipynb`](../exercises/backpropagation/backpropagation.ipynb) before it.

# %% [markdown] slideshow={"slide_type": "notes"}
# *"Now you": 6 minutes, in pairs. Give each pair one of the four mistakes and let it say, before it runs the cell, how the path will
# change. Without the corrections the first step is about three times too long; ask where the factor comes from
# ($0.1 / \sqrt{0.001}$). What goes wrong: $\varepsilon$ inside the root changes nothing visible here, so pairs call it harmless. It
# matters as soon as gradients are as small as $10^{-4}$.*

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Check yourself
#
# 1. The error of a minibatch's gradient is 0.8 at $B = 16$. What is it at $B = 256$?
# <details><summary>Answer</summary>It is 0.2<!--[[0.8 / (256 / 16) ** 0.5:.1f]]-->, because sixteen times the examples leave a quarter of the error.</details>
#
# 2. Momentum with $\beta = 0.9$ meets the same gradient $g$ again and again. How long do its steps become?
# <details><summary>Answer</summary>v approaches g/(1 − 0.9) = 10 g, so the steps become ten times as long as SGD's at the same rate.</details>
#
# 3. All gradients are multiplied by 1,000. What changes for SGD, and what for Adam?
# <details><summary>Answer</summary>SGD's steps are 1,000 times as long. Adam's stay the same (except for ε), because m and √v grow by the same factor.</details>
#
# 4. A ReLU layer has 512 inputs. What standard deviation does He's rule give its weights?
# <details><summary>Answer</summary>It gives them √(2/512) = 0.0625<!--[[(2 / 512) ** 0.5]]-->.</details>
#
# 5. The training loss is 1.2, the development loss 3.4. Your colleague suggests a larger network. Is that a good idea?
# <details><summary>Answer</summary>Not yet. The network already fits the training text far better than new text; try the remedies of section 6 first.</details>
#
# 6. With the same three seeds, one method has losses of 2.31, 2.35 and 2.33, another of 2.36, 2.34 and 2.39. Is the first one better?
# <details><summary>Answer</summary>Seed by seed the first one is lower by 0.033<!--[[-paired([2.31, 2.35, 2.33], [2.36, 2.34, 2.39])[0]:.3f]]--> ± 0.094<!--[[paired([2.31, 2.35, 2.33], [2.36, 2.34, 2.39])[1]:.3f]]-->, so these seeds do not show that it is better. More seeds may.</details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *"Check yourself" is not projected: 5 minutes at the end, or homework. Read questions 1, 3 and 6 aloud and ask for a show of hands.
# What goes wrong: in 3 the class expects shorter steps from Adam, and in 6 it ranks the two means without asking for an interval.*

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Notation, words, sources
#
# | here | elsewhere | what it is |
# |---|---|---|
# | $w$ | $\theta$, $\Phi$ | all parameters |
# | $g_t$ | $\nabla_\theta f_t$, $\hat g$ | the gradient of minibatch $t$ |
# | $\eta$, `rate` | $\alpha$ (Kingma & Ba), lr | learning rate |
# | $\beta$ | $\mu$ (momentum), $1 - \alpha$ | how much of an average is kept |
# | $\lambda$ | weight_decay | weight decay; each step multiplies the weights by $1 - \eta\lambda$ |
# | gain, $\sqrt n\, s_w$ | gain (PyTorch multiplies it by its own rule) | what a layer multiplies the signal by, without an activation |
# | $s$, $n$, $t_{n-1}$ | $\hat\sigma$, number of runs | spread over seeds, their number, Student's factor |

# %% [markdown] slideshow={"slide_type": "notes"}
# *The notation is not projected either. Point to it when somebody compares the lecture with a paper: Kingma & Ba write α for the
# rate, and some papers write α for what we call 1 − β. Begin the next lecture with the words: 2 minutes, each student explains three of
# them to a neighbour, without the list.*

# %% [markdown] slideshow={"slide_type": "skip"}
# ### Words of this lecture
#
# - **minibatch**: a random sample of the training examples; the mean of their gradients estimates that of all.
# - **optimiser**: the rule that turns gradients into changes of the weights.
# - **SGD**: stochastic gradient descent; the step is the learning rate times the gradient of a minibatch.
# - **momentum**: an optimiser that steps along a decaying sum of past gradients.
# - **Adam**: an optimiser that divides an average of gradients by the root of an average of their squares, entry by entry.
# - **AdamW**: Adam with a weight decay that acts on the weights directly, so Adam's division does not affect it.
# - **sweep**: the same training run repeated over a grid of values, for example of the learning rate.
# - **Muon**: an optimiser that orthogonalises momentum's step of each matrix, so that the step's singular values become about equal.
# - **gradient accumulation**: adding up the gradients of several minibatches before one step.
# - **warm-up**: the first steps of training, in which the learning rate rises from nearly 0.
# - **schedule**: the learning rate as a function of the step.
# - **cosine schedule**: a learning rate that falls along half a cosine wave.
# - **Glorot**: initial weights of variance 2/(inputs + outputs), for symmetric activation functions.
# - **He**: initial weights of variance 2/inputs, for ReLU.
# - **normalisation**: subtracting a mean and dividing by a standard deviation, so that a signal keeps its size.
# - **BatchNorm**: normalisation of each unit over the examples of a minibatch.
# - **LayerNorm**: normalisation of each example over the units of a layer.
# - **training loss**: the loss on text that the weights were fitted to.
# - **development loss**: the loss on text held out from training, by which choices are made.
# - **overfitting**: a training loss that falls while the loss on held-out text rises.
# - **early stopping**: keeping the weights of the step with the lowest development loss.
# - **weight decay**: multiplying all weights by a factor just below 1 at every step.
# - **dropout**: setting units to 0 at random in training, and using all of them at inference.
# - **confidence interval**: a range around a mean that contains the true mean in 95 of 100 repetitions.

# %% [markdown] slideshow={"slide_type": "skip"}
# **Sources.** Robbins & Monro (1951), A Stochastic Approximation Method. Polyak (1964), Some Methods of Speeding up the Convergence of
# Iteration Methods. Glorot & Bengio (2010), Understanding the Difficulty of Training Deep Feedforward Neural Networks, equation 12. He,
# Zhang, Ren & Sun (2015), Delving Deep into Rectifiers, section 2.2. Kingma & Ba (2015), Adam, algorithm 1. Jordan et al. (2024),
# Muon: An Optimizer for Hidden Layers in Neural Networks (blog). Ioffe & Szegedy (2015), Batch
# Normalization. Ba, Kiros & Hinton (2016), Layer Normalization. Srivastava et al. (2014), Dropout. Loshchilov & Hutter (2017), SGDR, equation
# 5; (2019), Decoupled Weight Decay Regularization. Goyal et al. (2017), Accurate, Large Minibatch SGD. Zhang & Sennrich (2019), Root Mean
# Square Layer Normalization. He, Zhang, Ren & Sun (2016), Deep Residual Learning for Image Recognition. McCandlish et al. (2018), An
# Empirical Model of Large-Batch Training. Shallue et al. (2019), Measuring the Effects of Data Parallelism on Neural Network Training.
# Student (1908), The Probable Error of a Mean. Neyman (1937), Outline of a Theory of Statistical Estimation. Schenker & Gentleman (2001),
# On Judging the Significance of Differences by Examining the Overlap Between Confidence Intervals. Krizhevsky, Sutskever & Hinton (2012), ImageNet Classification
# with Deep Convolutional Neural Networks, section 5.
