# %% [markdown]
# # Assignment: training
#
# You write everything that turns gradients into a trained network: two optimisers, a schedule, clipping, dropout, early stopping, and the loop
# that puts them together and can be interrupted at any step without a trace. At the end your loop, and nothing else, trains a language model on
# Shakespeare's plays to a loss that we state beforehand, with five seeds.
#
# [[questions]]
#
# [[how it works]]
#
# [[closed]]
# If you need a function from an earlier question, call yours.
#
# You need the lecture *Training well*. This page does not repeat its formulas; keep it open. Nothing is downloaded.
#
# A network has several parameters, so your functions get **dictionaries**: `weights` and `gradients` map the name of a parameter to an array. A
# parameter that took no part in the loss has no entry in `gradients`. Its weights and everything that an optimiser remembers of it are unchanged.
# Return new dictionaries with all entries, and change nothing that you are given: somebody may still hold the old weights. The check compares a
# dictionary as one row of numbers, its keys in alphabetical order.

# %%
import math

import numpy as np
from IPython.display import HTML
from numpy.lib.stride_tricks import sliding_window_view

from autograder.check import check, failing, passes, show_rows
from lectures import show

np.set_printoptions(precision=3, suppress=True)

# %% [markdown]
# ## 1. Steps
#
# ### 1a. Momentum [[training.momentum_step, 15 minutes, easy, core]]
#
# One step of *momentum* (section 2 of the lecture) for a whole network. `velocity` is what the optimiser remembers: a dictionary like `weights`. It is
# empty before the first step, and a parameter that has never had a gradient is not in it. With $\beta = 0$ your function is SGD.
#
# By hand, two steps with rate 0.1 and $\beta = 0.9$. The second minibatch does not use `b`:
#
# ```text
#             gradients        velocity after it     weights after it
# start                                              a = 1       b = 2
# step 1      a: 2    b: 1     a: 2      b: 1        a = 0.8     b = 1.9
# step 2      a: 1             a: 2.8    b: 1        a = 0.52    b = 1.9
# ```
#
# [[checked]]
#
# [[hints]]
# 1. Follow the row of step 2 from left to right. Which of its numbers depend on the row above?
# 2. Start from copies of both dictionaries and go through the gradients. For each, first compute the new velocity, then the new weights from it.
# 3. `velocity.get(name, 0)` is 0 for a parameter that is not there yet. The velocity is a plain sum: the gradient enters it undiminished.


# %%
def momentum_step(weights, gradients, velocity, rate, beta):
    """One step of gradient descent with momentum.

    weights, gradients, velocity: name -> array; rate, beta: numbers -> (weights, velocity), both new dictionaries
    """
    ### BEGIN SOLUTION
    new, kept = dict(weights), dict(velocity)
    for name, g in gradients.items():
        v = beta * velocity.get(name, 0) + g
        kept[name] = v
        new[name] = weights[name] - rate * v
    return new, kept
    ### END SOLUTION


# %% [markdown]
# ### 1b. AdamW [[training.adamw_step, 40 minutes, hard, core]]
#
# The lecture's `adamw` moves one tensor of PyTorch's. Yours moves a network, and does three things more:
#
# - *Only matrices decay*, that is, arrays with two or more axes. Biases and the gains of a normalisation have one axis; pulling them to 0 does not
#   make a network simpler, so they take Adam's step without decay.
# - *Each parameter counts its own steps.* `memory` is empty at first; then `memory[name]` is a dictionary with the number of steps `"t"` that this
#   parameter has taken and the two averages `"m"` and `"v"`, as they are *before* they are corrected.
# - A parameter without a gradient does not move and does not decay.
#
# By hand, the second step of one bias and of a matrix with one entry. Rate 0.1, decay 0.5, $\beta_1 = 0.9$, $\beta_2 = 0.99$, and $\varepsilon$ too
# small to be seen. For both, the gradients of the two steps are 1 and 2:
#
# ```text
# m after step 1    0.1              after step 2    0.9 · 0.1 + 0.1 · 2    = 0.29     corrected  0.29 / 0.19     = 1.526
# v after step 1    0.01             after step 2    0.99 · 0.01 + 0.01 · 4 = 0.0499   corrected  0.0499 / 0.0199 = 2.508
# Adam's step                        0.1 · 1.526 / √2.508 = 0.096
# bias              from 1 to        1 - 0.096 = 0.904
# matrix            from 1 to        0.95 · 1 - 0.096 = 0.854
# ```
#
# > **Before you write it:** what would Adam's step be at step 2 without the corrections, and is that too long or too short?
#
# [[checked]]
#
# [[hints on the step]]
# 1. Every number in the example comes from the lecture's table of optimisers. Which of them are kept for the next step, and which are used once?
# 2. Unpack what is remembered of one parameter, or zeros, and count its step. Compute the two averages and store them; correct copies of them.
# 3. Store a new dictionary with `t`, `m` and `v` under the parameter's name before you correct anything, and correct with the number of the step that
#    you are taking: 1 at the first.
#
# [[hints on the decay]]
# 1. Compare the last two lines of the example. At which moment does the matrix shrink, and by which factor?
# 2. The decay never meets the gradient or its averages. It only shrinks the weights, before Adam's step is subtracted.
# 3. `w.ndim > 1` picks the matrices. Their weights are multiplied by one minus the product of rate and decay.


# %%
def adamw_step(weights, gradients, memory, rate, decay, beta1=0.9, beta2=0.999, eps=1e-8):
    """One step of AdamW.

    weights, gradients: name -> array; memory: name -> {"t": steps taken, "m": array, "v": array}; the rest numbers
    -> (weights, memory), both new dictionaries
    """
    ### BEGIN SOLUTION
    new, kept = dict(weights), dict(memory)
    for name, g in gradients.items():
        old = memory.get(name, {"t": 0, "m": 0.0, "v": 0.0})
        t = old["t"] + 1
        m = beta1 * old["m"] + (1 - beta1) * g
        v = beta2 * old["v"] + (1 - beta2) * g**2
        kept[name] = {"t": t, "m": m, "v": v}
        m_hat, v_hat = m / (1 - beta1**t), v / (1 - beta2**t)
        w = weights[name]
        if w.ndim > 1:
            w = (1 - rate * decay) * w
        new[name] = w - rate * m_hat / (np.sqrt(v_hat) + eps)
    return new, kept
    ### END SOLUTION


# %% [markdown]
# ### 1c. The same gradient, again and again [[training.same_gradient, 20 minutes, medium, more]]
#
# Suppose that a parameter gets the same gradient $g > 0$ at every step. On paper, derive three formulas:
#
# 1. momentum's velocity after $t$ steps, from a velocity of 0;
# 2. the number of steps after which the velocity has reached the fraction $q$ of the value that it approaches, as a real number;
# 3. the length of Adam's step number $t$ *without* the two corrections, divided by the learning rate, for $\varepsilon = 0$. (With them it is 1.)
#
# The last one is the reason for the corrections: for $\beta_1 = 0.9$ and $\beta_2 = 0.999$ it is 3.16 at the first step. Return all three as formulas with
# nothing but the symbols, without a loop.
#
# [[checked]] The values must be right to five digits.
#
# [[hints]]
# 1. Write down the velocity after one, two and three steps. Which sum is it, and what are the weights of the gradients in Adam's averages?
# 2. Both are geometric sums. The second formula asks when the velocity has reached a fraction of its limit: solve for $t$, for which you need a
#    logarithm. In the third, $g$ cancels.
# 3. $1 + \beta + \dots + \beta^{t-1} = (1 - \beta^t) / (1 - \beta)$. After how many steps is $\beta^t$ the part that is still missing? Adam divides the first
#    average by the root of the second.


# %%
def same_gradient(g, beta, q, beta1, beta2, t):
    """Momentum and Adam when every gradient is g > 0.

    numbers; 0 < q < 1, t an integer -> (velocity after t steps, steps to reach the fraction q, Adam's uncorrected step / rate)
    """
    ### BEGIN SOLUTION
    velocity = g * (1 - beta**t) / (1 - beta)
    steps = math.log(1 - q) / math.log(beta)
    uncorrected = (1 - beta1**t) / math.sqrt(1 - beta2**t)
    return velocity, steps, uncorrected
    ### END SOLUTION


# %% [markdown]
# ## 2. How far
#
# ### 2a. Warm-up and cosine [[training.schedule, 15 minutes, easy, core]]
#
# The factor of the learning rate at a step, as in section 3 of the lecture: a straight line up to 1 during the warm-up, half a cosine from there down to
# `floor` at step `total`, and `floor` ever after. The first step of training is step 1. `warmup` may be 0; then the fall begins immediately.
#
# By hand, `total=8`, `warmup=4`, `floor=0.2`:
#
# ```text
# step      1       2       3       4       5        6       7        8       9
# factor    0.25    0.5     0.75    1       0.883    0.6     0.317    0.2     0.2
# ```
#
# [[checked]]
#
# [[hints]]
# 1. Look at steps 4, 6 and 8 of the example. How much of the way from 1 down to the floor is done at each?
# 2. There are three cases: before the end of the warm-up, after the total, between them. In the middle one, first compute the fraction of the fall that
#    is done, from 0 to 1.
# 3. The cosine of $\pi$ times that fraction falls from 1 to −1. Move and scale it so that it falls from 1 to the floor; `math.cos` takes radians.


# %%
def schedule(step, total, warmup, floor):
    """The factor of the learning rate at `step`, which counts from 1 -> a number"""
    ### BEGIN SOLUTION
    if warmup > step:
        return step / warmup
    fallen = min(1.0, (step - warmup) / (total - warmup))
    return floor + (1 - floor) * (1 + math.cos(math.pi * fallen)) / 2
    ### END SOLUTION


# %% [markdown]
# ### 2b. Clipping [[training.clip_gradients, 15 minutes, easy, core]]
#
# The gradients of all parameters together are one long vector. If its length, the norm, exceeds `max_norm`, every entry is scaled by the same factor,
# so that the length becomes `max_norm` and the direction stays. Return the clipped gradients, and the norm as it was before.
#
# By hand: `{"W": [[3, 0]], "b": [4]}` has the norm 5. With `max_norm=1` the result is `{"W": [[0.6, 0]], "b": [0.8]}` and 5; with `max_norm=10` it is
# what was given, and 5.
#
# [[checked]]
#
# [[hints]]
# 1. Which single number do both gradients of the example have in common?
# 2. One pass over the gradients finds the norm. A second one scales them, if that is necessary at all.
# 3. Add the sums of the squares of all arrays, then take one square root. Compare it with the limit before you divide.


# %%
def clip_gradients(gradients, max_norm):
    """Scale all gradients together to a norm of at most `max_norm`.

    gradients: name -> array -> (clipped: a new dictionary, norm before clipping)
    """
    ### BEGIN SOLUTION
    norm = math.sqrt(sum((g**2).sum() for g in gradients.values()))
    factor = max_norm / norm if norm > max_norm else 1.0
    return {name: g * factor for name, g in gradients.items()}, norm
    ### END SOLUTION


# %% [markdown]
# ## 3. Dropout [[training.dropout, 20 minutes, medium, core]]
#
# In training, each entry of `x` becomes 0 with probability `rate`, independently of all others; the remaining entries are scaled so that the *expected*
# value of every entry is what it was. At evaluation (`training=False`) nothing is dropped and nothing is scaled. All randomness comes from `seed`: the
# same seed gives the same result, a different seed a different one, and NumPy's global generator is left alone. Any way to sample is right here. But
# question 6 compares your losses with ours, so drop the entries at which `np.random.default_rng(seed).random(x.shape)` is below the rate.
#
# By hand: $x = (1, 2, 3, 4)$ with rate 0.2 may become $(1.25, 2.5, 0, 5)$.
#
# > **Before you write it:** why scale in training, and not at evaluation?
#
# [[checked]] The laws of chance are checked on a thousand entries; an honest answer fails less often than once in a million checks.
#
# [[hints]]
# 1. In the example three entries survive. By which factor did each of them change, and how does that follow from the rate?
# 2. Sample one uniform number per entry, from a generator of your own. Comparing it with the rate decides about the entry.
# 3. `np.random.default_rng(seed).random(x.shape)` samples them. Survivors are divided by the probability to survive.


# %%
def dropout(x, rate, training, seed):
    """Inverted dropout.

    x: an array of any shape, rate: a number in [0, 1), training: True or False, seed: an integer -> an array like x
    """
    ### BEGIN SOLUTION
    if not training:
        return x.copy()
    keep = np.random.default_rng(seed).random(x.shape) >= rate
    return x * keep / (1 - rate)
    ### END SOLUTION


# %% [markdown]
# ## 4. Early stopping [[training.early_stopping, 15 minutes, easy, core]]
#
# `losses` are the development losses so far, oldest first. Return the index of the best one, and whether to stop *now*: when `patience` evaluations in a
# row have brought nothing better than the best before them. A loss that only equals the best is not better.
#
# By hand, with a patience of 2:
#
# ```text
# 3.0  2.5  2.6               best 1, keep training: only one evaluation since the best
# 3.0  2.5  2.6  2.55         best 1, stop: 2.55 is lower than 2.6, but not than 2.5
# 3.0  2.5  2.6  2.4          best 3, keep training
# 3.0  2.5  2.5  2.5          best 1, stop
# 3.0  3.1  3.2  2.8          best 3, keep training: what matters is now, not whether the patience was used up before
# ```
#
# [[checked]]
#
# [[hints]]
# 1. In the second line of the example, with which loss is 2.55 compared?
# 2. Find the best of all losses so far; of equal ones, the first. Count the evaluations after it.
# 3. `losses.index(min(losses))` is the first of the lowest. The evaluations after index $i$ of $n$ are $n - 1 - i$.


# %%
def early_stopping(losses, patience):
    """(index of the best loss, whether to stop now); losses: a list of one number or more, patience: 1 or more"""
    ### BEGIN SOLUTION
    best = losses.index(min(losses))
    return best, len(losses) - 1 - best >= patience
    ### END SOLUTION


# %% [markdown]
# ## 5. A friend's minibatches
#
# From here on, the network is given: the window model of the lecture, whose gradients you derived in the assignment `backpropagation`. It uses *your*
# `dropout` on its hidden layer. `sample` turns a number, the **key**, into a random minibatch, the seed for the dropout of that step, and the next
# key: all randomness of a run follows from its first key.


# %%
def loss_and_gradients(weights, windows, rate, training, seed):
    """The mean loss of predicting the last token of each window from the others, and its gradients.

    windows (batch, n + 1) ids -> (loss, {name: gradient})
    """
    read, targets = windows[:, :-1], windows[:, -1]
    x = weights["E"][read].reshape(len(read), -1)
    h = np.tanh(x @ weights["W"] + weights["b"])
    scale = np.asarray(dropout(np.ones_like(h), rate, training, seed), h.dtype)
    z = (h * scale) @ weights["V"] + weights["c"]
    z = z - z.max(axis=1, keepdims=True)
    log_p = z - np.log(np.exp(z).sum(axis=1, keepdims=True))
    at_targets = np.arange(len(targets)), targets
    loss = -log_p[at_targets].mean()
    d_z = np.exp(log_p)
    d_z[at_targets] -= 1
    d_z /= len(windows)
    d_h = d_z @ weights["V"].T * scale * (1 - h**2)
    d_x = (d_h @ weights["W"].T).reshape(-1, weights["E"].shape[1])
    d_E = np.zeros_like(weights["E"])
    np.add.at(d_E, read.flatten(), d_x)
    return loss, {"E": d_E, "W": x.T @ d_h, "b": d_h.sum(0), "V": (h * scale).T @ d_z, "c": d_z.sum(0)}


def sample(windows, size, key):
    """A random minibatch of `size` windows, a seed for the step's dropout, and the next key."""
    draws = np.random.default_rng(key)
    rows = draws.integers(len(windows), size=size)
    return windows[rows], int(draws.integers(2**31)), int(draws.integers(2**31))


def fresh(weights, seed):
    """A run that has not taken any step."""
    return {"step": 0, "weights": weights, "memory": {}, "key": seed, "dev": [], "best": weights}


# %% [markdown]
# A friend's minibatches do not fit into the memory of her computer. So she computes loss and gradients piece by piece and adds them up. The result should be
# exactly that of the whole minibatch, however it is cut. It nearly is; only one line is wrong.
#
# ### 5a. Which line? [[training.wrong_line, 10 minutes, medium, more]]
#
# [[listing training.in_pieces]]
#
# Say for each line what it should compute, before you run anything. Return the number of the wrong line, as in this listing.
#
# [[checked]] To try the function, copy it into a cell of your own; the check of 5b shows you an input.
#
# [[hints]]
# 1. The loss of the network is a mean. Over which windows does the listing take it, and over which should the result be?
# 2. Take 5 windows and pieces of 2. How much should a single window contribute to the loss, and how much does it contribute in the listing?
# 3. The last piece of the five windows has one window. Compare its weight in the sum with that of the others.


# %%
def wrong_line():
    """The number of the one line of the listing that is wrong."""
    ### BEGIN SOLUTION
    return 10
    ### END SOLUTION


# %% [markdown]
# ### 5b. Mend it [[training.in_pieces, 5 minutes, easy, more]]
#
# This is your friend's function. Change the line, and nothing else.
#
# [[checked]]
#
# [[hints]]
# 1. Take the input that the check shows. How many windows does each piece have?
# 2. The whole mean is the sum over all windows, divided by their number. Which part of that sum is the mean of one piece?
# 3. Weigh each piece by the fraction of all windows that it holds; `len` counts them.


# %%
def in_pieces(weights, windows, size):
    """Loss and gradients of a minibatch, at most `size` windows at a time, exactly those of the whole minibatch.

    weights: name -> array, windows (batch, n + 1) ids, size: 1 or more -> (loss, gradients: name -> array)
    """
    ### BEGIN SOLUTION
    total, gradients = 0.0, {name: np.zeros_like(w) for name, w in weights.items()}
    for start in range(0, len(windows), size):
        piece = windows[start : start + size]
        loss, found = loss_and_gradients(weights, piece, 0.0, False, 0)
        share = len(piece) / len(windows)
        total = total + share * float(loss)
        for name, g in found.items():
            gradients[name] = gradients[name] + share * g
    return total, gradients
    ### END SOLUTION


# %% [markdown]
# ## 6. The loop [[training.train, 60 minutes, hard, core]]
#
# A **run** is a dictionary with all that a training run needs to continue as if nothing had happened:
#
# | key | what it is |
# |---|---|
# | `"step"` | the number of steps taken |
# | `"weights"`, `"memory"` | after the latest step, as in 1b |
# | `"key"` | the key for the next `sample` |
# | `"dev"` | all development losses so far, a list |
# | `"best"` | the weights at the evaluation with the lowest of them; before the first evaluation, the initial weights |
#
# Write the loop that takes a run and goes `steps` steps further. Steps are numbered from 1 over the *whole* run, interrupted or not. Each of them
# samples a minibatch, computes loss and gradients with dropout, clips, and takes AdamW's step at the scheduled rate. Whenever the number of the step is
# a multiple of `plan["every"]`, the loop then evaluates: the loss on all windows of `dev`, without dropout. It keeps the weights if they are the best so
# far, and it ends early if your `early_stopping` says so. Everything that can be chosen is in `plan`:
#
# | `"rate"` | `"total"`, `"warmup"`, `"floor"` | `"max_norm"` | `"decay"` | `"dropout"` | `"batch"` | `"every"`, `"patience"` |
# |---|---|---|---|---|---|---|
# | largest learning rate | of the schedule | of clipping | of AdamW | rate of dropout | size of a minibatch | of evaluation and early stopping |
#
# Return the losses of the minibatches, one for each step that *this* call took, as a list of numbers, and the new run. Two calls of 3 steps then
# give exactly what one call of 6 steps gives; this is what "resume" means, and most homemade loops fail it.
#
# > **Before you write it:** which of the six entries would you miss if you had saved only the weights, and how would the losses show it?
#
# [[checked]] The runs have about six steps and are in float64. What the check tests also depends on your earlier functions, so make those pass first.
#
# [[hints on the loop]]
# 1. Read the paragraph above the table of the plan again, and number what happens in one step. Which parts happen only at some steps?
# 2. First unpack the run into variables. Loop over the steps with the *global* number of the step. After the loop, pack the same variables again.
# 3. The rate of a step is `plan["rate"]` times the schedule's factor; the same `loss_and_gradients` on `dev` with `training=False` gives the
#    development loss. The weights are the best if the index that your `early_stopping` returns is the last one.
#
# [[hints on resuming]]
# 1. Go through the six keys. For each, find the line of your loop that reads it, and the line that saves it.
# 2. Call your function twice for 3 steps and once for 6, in a cell of your own, and print both lists of losses. The first loss that differs tells
#    which entry was lost: a batch, a moment, or the number of the step.
# 3. Start from `run["key"]`, and save the key that the last `sample` returned. Save the number of the last step *taken*, and append to a copy of
#    `run["dev"]`. If only runs with dropout differ, read the last sentence before the example of question 3 again.


# %%
def train(run, plan, windows, dev, steps):
    """Continue a run for at most `steps` steps.

    run, plan: the dictionaries described above; windows (many, n + 1), dev (some, n + 1) ids -> (losses: a list, run: a new dictionary)
    """
    ### BEGIN SOLUTION
    weights, memory, best = run["weights"], run["memory"], run["best"]
    key, step, dev_losses, losses = run["key"], run["step"], list(run["dev"]), []
    while len(losses) < steps:
        step += 1
        batch, seed, key = sample(windows, plan["batch"], key)
        loss, gradients = loss_and_gradients(weights, batch, plan["dropout"], True, seed)
        clipped, _ = clip_gradients(gradients, plan["max_norm"])
        rate = plan["rate"] * schedule(step, plan["total"], plan["warmup"], plan["floor"])
        weights, memory = adamw_step(weights, clipped, memory, rate, plan["decay"])
        losses.append(float(loss))
        if step % plan["every"] == 0:
            dev_losses.append(float(loss_and_gradients(weights, dev, plan["dropout"], False, 0)[0]))
            lowest, over = early_stopping(dev_losses, plan["patience"])
            if lowest == len(dev_losses) - 1:
                best = weights
            if over:
                break
    new = {"step": step, "weights": weights, "memory": memory, "key": key}
    return losses, {**new, "dev": dev_losses, "best": best}
    ### END SOLUTION


# %% [markdown]
# ## 7. An experiment: dropout or early stopping? [[training.which_remedy, 40 minutes, medium, core]]
#
# A small network learns from only 30 windows of a play, 3 characters to read and one to predict, and overfits within 20 steps. Two remedies are at hand:
# dropout with a rate of 0.5, and early stopping, that is, the best weights instead of the latest. Which is better, and are both together better still?
# Four answers are possible:
#
# 1. Dropout without early stopping ends at a lower loss than early stopping without dropout.
# 2. Early stopping is the better of the two, and with both the loss is lower still.
# 3. Early stopping is the better of the two; whether dropout adds anything to it, these seeds cannot tell.
# 4. Early stopping is the better of the two, and dropout makes its result worse.
#
# Proceed in this order.
#
# - **Predict.** Set `prediction` to 1, 2, 3 or 4 before you run anything. It is kept as you wrote it, and it need not come true.
# - **Run.** For each seed, `begin` makes a run and picks its 30 windows. Train for 20 steps, once with `SMALL` as it is and once with a dropout of
#   0.5; both begin with the same run. `dev` decides which weights are the best. Then measure the loss on all windows of `test`, which played no
#   part in any choice. `losses` gets one row per seed, with four numbers: latest weights without dropout, latest with dropout, best without, best with. Set
#   `conclusion = 0` for now and run the check: it says whether your numbers are right. Then run the cell below the check, and look at all five rows.
# - **Conclude.** Set `conclusion` to the answer that *your* five rows support. A difference counts if it has the same sign for every seed, or if it is
#   larger than chance explains: the 95 % interval of the mean difference (Student's t: 2.78 standard errors to each side) does not contain 0.
#
# [[checked]]
#
# [[hints on the run]]
# 1. How many runs does one seed need, and how many losses are measured on each?
# 2. You need a loop over the seeds and one over the two rates of dropout. A run holds both kinds of weights when your loop returns it.
# 3. `SMALL | {"dropout": 0.5}` is the second plan. The loss on `test` is the first result of `loss_and_gradients`, as for `dev` in your loop.
#
# [[hints on the conclusion]]
# 1. Which two of the four columns does the first half of each answer compare, and which two the second half?
# 2. Take the difference of two columns. Does it have the same sign in every row?
# 3. Five differences $d$ have the interval $\bar d \pm 2.78\, s / \sqrt 5$, where $s$ is their standard deviation, `np.std(d, ddof=1)`.


# %%
SMALL = {
    **{"rate": 0.08, "total": 20, "warmup": 0, "floor": 1.0, "max_norm": 1.0, "decay": 0.0, "dropout": 0.0},
    **{"batch": 16, "every": 4, "patience": 99},
}


def begin(windows, seed):
    """A run of a network with 24 hidden units that has not taken any step, and 30 of the windows; both follow from the seed."""
    draw = np.random.default_rng(seed)
    weights = {"E": draw.normal(size=(27, 6)), "b": np.zeros(24), "c": np.zeros(27)}
    weights["W"] = draw.normal(size=(18, 24)) / 18**0.5
    weights["V"] = draw.normal(size=(24, 27)) / 24**0.5
    few = windows[draw.integers(len(windows), size=30)]
    return fresh(weights, seed), few


# %%
def which_remedy(windows, dev, test, seeds):
    """Two remedies against overfitting, for several seeds.

    windows, dev, test (…, 4) ids, seeds: a list -> (prediction, losses (seeds, 4), conclusion)
    """
    ### BEGIN SOLUTION
    prediction = 3
    losses = []
    for seed in seeds:
        start, few = begin(windows, seed)
        latest, best = [], []
        for rate in (0.0, 0.5):
            _, run = train(start, SMALL | {"dropout": rate}, few, dev, 20)
            latest.append(float(loss_and_gradients(run["weights"], test, 0.0, False, 0)[0]))
            best.append(float(loss_and_gradients(run["best"], test, 0.0, False, 0)[0]))
        losses.append(latest + best)
    conclusion = 2
    return prediction, losses, conclusion
    ### END SOLUTION


# %%
show_rows("training.which_remedy", which_remedy, "latest, without", "latest, dropout", "best, without", "best, dropout")

# %% [markdown]
# ## Your loop at work
#
# There is nothing to write here. Run it when questions 1 to 6 pass. The data are the plays of Shakespeare; a window is twelve characters to read and
# one to predict, and the development text is a play that the network never trains on.


# %%
def initial(seed):
    """Random weights of the network: 16 dimensions per character, 96 hidden units."""
    draw = np.random.default_rng(seed)
    size = len(alphabet)
    weights = {"E": draw.normal(size=(size, 16)), "b": np.zeros(96), "c": np.zeros(size)}
    weights["W"] = draw.normal(size=(12 * 16, 96)) / (12 * 16) ** 0.5
    weights["V"] = draw.normal(size=(96, size)) / 96**0.5
    return {name: w.astype(np.float32) for name, w in weights.items()}


mine = {
    **{"momentum_step": momentum_step, "adamw_step": adamw_step, "schedule": schedule},
    **{"clip_gradients": clip_gradients, "dropout": dropout, "early_stopping": early_stopping, "train": train},
}
ready = all(passes(f"training.{name}", function) for name, function in mine.items())
plan = {"rate": 0.01, "total": 1_200, "warmup": 100, "floor": 0.0, "max_norm": 1.0, "decay": 0.01, "dropout": 0.0}
plan |= {"batch": 64, "every": 100, "patience": 12}  # of 12 evaluations: all runs take all steps
if ready:
    from nlmcore.corpora import load

    plays = {part: load("shakespeare").texts(part) for part in ("train", "valid")}
    alphabet = sorted(set("".join(plays["train"])))
    number = {character: i for i, character in enumerate(alphabet)}
    ids = np.array([number[character] for character in "".join(plays["train"])])
    windows = sliding_window_view(ids, 13)
    dev = np.array([number[character] for character in plays["valid"][0] if character in number])
    dev = sliding_window_view(dev, 13)
    dev = dev[:: len(dev) // 2000][:2000]
    pairs = np.ones((len(alphabet), len(alphabet)))
    np.add.at(pairs, (ids[:-1], ids[1:]), 1)
    bigram = -np.log(pairs / pairs.sum(axis=1, keepdims=True))[dev[:, -2], dev[:, -1]].mean()
    print(f"{len(windows):,} windows to train on, {len(dev):,} to develop with, {len(alphabet)} characters")
    print(f"development loss of guessing {math.log(len(alphabet)):.2f} nats, of a bigram model {bigram:.2f}")

# %% [markdown]
# **A power cut.** One run takes 120 steps. Another takes 50, is saved to a file, and everything is thrown away; then it is loaded and takes the
# other 70. The dropout is on. How far apart are the losses of the two?

# %%
if ready:
    import pickle

    stormy = plan | {"dropout": 0.1, "every": 40}
    whole, _ = train(fresh(initial(0), 0), stormy, windows, dev, 120)
    first, run = train(fresh(initial(0), 0), stormy, windows, dev, 50)
    file = pickle.dumps(run)
    del run
    second, _ = train(pickle.loads(file), stormy, windows, dev, 70)
    print("largest difference:", max(abs(a - b) for a, b in zip(whole, first + second, strict=True)))

# %% [markdown]
# **A language model.** Two settings, five seeds each, 1,200 steps. A pilot with three seeds tried the rates 0.003 and 0.01 in both settings. The
# constant rate did better with 0.003 and the schedule with 0.01, so these are compared. The goal for the schedule is a development loss of 2.25 nats
# per character, well below the bigram model's. It takes your loop about 20 seconds in all.

# %%
GOAL = 2.25
settings = {"warm-up and cosine, 0.01": plan, "constant rate, 0.003": plan | {"rate": 0.003, "warmup": 0, "floor": 1.0}}
curves = {}
picture = "Come back here when questions 1 to 6 pass."
if ready:
    for name, setting in settings.items():
        runs = [train(fresh(initial(seed), seed), setting, windows, dev, plan["total"])[1] for seed in range(5)]
        curves[name] = [run["dev"] for run in runs]
        ends = [min(run["dev"]) for run in runs]
        mean = sum(ends) / 5
        half = 2.776 * (sum((end - mean) ** 2 for end in ends) / 4 / 5) ** 0.5
        print(f"{name}: {mean:.3f} ± {half:.3f} nats per character")
        if setting is plan:
            print(f"    the goal was {GOAL}: {'reached' if mean <= GOAL else 'not reached'}")
            model = runs[0]["best"]
    picture = HTML(
        show.bands_svg(
            range(100, plan["total"] + 1, 100),
            curves,
            x_title="step",
            y_title="dev loss",
            low=2.1,
            high=3.0,
            level=bigram,
            alt="Development loss against the step, five seeds each; the thin line is a bigram model. "
            + " ".join(
                f"{name}: from {min(r[0] for r in rows):.2f} to {min(r[-1] for r in rows):.2f}."
                for name, rows in curves.items()
            ),
        )
    )
picture


# %%
def write(text, length, draw):
    """The network continues a text: each character is sampled from its prediction and fed back."""
    for _ in range(length):
        read = [number[character] for character in text[-12:]]
        h = np.tanh(model["E"][read].flatten() @ model["W"] + model["b"])
        p = np.exp((h @ model["V"] + model["c"]).astype(float) / 0.7)
        text += alphabet[draw.choice(len(p), p=p / p.sum())]
    return text


print(write("\nHAMLET.\nTo be", 300, np.random.default_rng(1)) if ready else "Come back later.")

# %% [markdown]
# ## 8. In your own words [[written, 25 minutes, 4 points, core]]
#
# 1. The two settings above differ in two things, the schedule and the largest rate. Which two further settings would you run to find out which of them
#    makes the difference? Predict their results with a reason, then run them with your loop and five seeds each, and say what your means and intervals
#    show, and what they do not show.
# 2. A run was resumed after a power cut, and its losses jump up for fifty steps. Name two entries of the run that could be missing, and say how the
#    losses would tell which one it is.
# 3. Somebody reports the lowest development loss of 40 settings, one seed each. What is wrong with that number?
#
# ### BEGIN MARK SCHEME
# Half points are fine. The results earn nothing: a prediction that failed is as good as one that held.
#
# 1. **The two settings** (½): the constant rate 0.01, and the schedule with 0.003. **Prediction** (½) of a direction with a reason from the lecture.
#    **Runs and conclusion** (1): five seeds each, mean and interval, and a conclusion that follows from them; overlapping intervals are not called a
#    difference, and one network and one length are not called "always".
# 2. **Missing entries** (1): the memory (the first loss after the cut is right, because it needs only the weights; then Adam takes full steps in all
#    directions); the number of the step (the schedule warms up again: losses as at a high rate); the key (other minibatches, but no jump). Half a
#    point for each entry with its sign.
# 3. **Forty settings** (1): the lowest of 40 noisy numbers is too low even if all settings are equally good (½); it must be measured again, with fresh
#    seeds and on text that played no part in the choice (½).
# ### END MARK SCHEME

# %% [markdown]
# I would run the constant rate 0.01, and the schedule with 0.003. I predict that the constant 0.01 ends higher than the constant 0.003, because it keeps
# the weights dancing, and that the schedule with 0.003 gains nothing, because it takes small steps before the weights have arrived. With my loop both end
# higher than the constant 0.003, and their intervals overlap each other. So neither the rate nor the schedule alone lowers the loss; the schedule makes
# the larger rate usable. This holds for 1,200 steps of this network. It does not show whether the warm-up matters or only the small steps at the end.
#
# The memory may be missing: then the first loss after the cut is right and the next ones jump, because Adam begins with full steps in all directions.
# Or the number of the step may be missing: then the rate follows the warm-up again, so the losses rise later, when the rate is at its largest.
#
# The lowest of 40 runs is lucky as well as good, so it is lower than the same setting would be with another seed. The best setting should be run again
# with several fresh seeds, and reported on test text that was not used to choose it.

# %% [markdown]
# ---
# **Before you hand in:** *Kernel → Restart Kernel and Run All Cells*. Every check should say what you expect, and
# question 8 should be answered in your own words. Save the notebook under its own name: the grader looks for `training.ipynb`.
