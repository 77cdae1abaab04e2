# %% [markdown]
# # Assignment: convolutions
#
# You build two classifiers of texts and train them with a function of your own. One averages the vectors of its words and knows no order; the other
# slides filters over them. In between you differentiate CBOW by hand, measure how far a stack of convolutions sees, and write a gated layer that
# continues where it stopped. At the end your functions classify scenes of Shakespeare's plays and restore the spelling of 1623.
#
# [[questions]]
#
# [[how it works]]
#
# [[closed]]
# Everything else is open. The questions build on each other: if you need a function from an earlier question, call yours. If its check still finds
# something, mend it first, because every function that calls it inherits its mistakes.
#
# You need the lecture *Feed-forward and convolutional language models* and, for question 1b, the CBOW of the lecture *Tokens and word vectors*.
# Nothing is downloaded.
#
# Vectors are rows. A batch of texts has the axes (batch, time), and text $n$ has `lengths[n]` tokens, at least one. The rest of its row is
# **padding**: ids or vectors that mean nothing, and are not always 0.

# %%
import math
import re
import time
from collections import Counter, defaultdict
from difflib import SequenceMatcher

import numpy as np
import torch

from autograder.check import check, failing, passes, show_rows
from lectures import show

torch.set_printoptions(precision=3, sci_mode=False)
torch.set_num_threads(1)  # for matrices as small as these one thread is fastest


# %% [markdown]
# ## 1. Words without order
#
# ### 1a. The average [[convolutions.average_words, 10 minutes, easy, core]]
#
# The weakest way to let words interact is to average their vectors. Return one vector per text: the mean of the vectors of its words, as often as
# they occur. Padding takes no part.
#
# By hand: the table has the rows $(9, 9)$, $(1, 0)$ and $(3, 4)$. The text [1, 2] with padding 0, so `tokens` [1, 2, 0] and length 2, gives $(2, 2)$.
#
# [[checked]]
#
# [[hints]]
# 1. Look at the example. Which two numbers would be different if the padding took part?
# 2. Look up all vectors, padding included, and set those of the padding to 0 before you add. Then divide by the right number.
# 3. `torch.arange(time) < lengths[:, None]` is True at words. With one more axis it multiplies vectors: `[..., None]`.


# %%
def average_words(table, tokens, lengths):
    """The mean vector of each text.

    table (vocab, d), tokens (batch, time) ids, lengths (batch,) -> (batch, d)
    """
    ### BEGIN SOLUTION
    real = torch.arange(tokens.shape[1]) < lengths[:, None]
    return (table[tokens] * real[..., None]).sum(dim=1) / lengths[:, None]
    ### END SOLUTION


# %% [markdown]
# ### 1b. CBOW and its gradients, by hand [[convolutions.cbow, 35 minutes, hard, more]]
#
# CBOW (Mikolov et al. 2013) predicts each word of a text from the average of its neighbours. For position $t$ of a text of $T$ words:
#
# - its context is every position at most $m$ to the left or right that exists, without $t$ itself;
# - $h_t$ is the mean of the rows of $E$ that belong to the words of the context;
# - every word $v$ of the vocabulary gets the score $h_t \cdot u_v$, where $u_v$ is row $v$ of $U$, and a softmax makes probabilities of the scores;
# - $L$ is the mean over all positions of $-\ln$ of the probability of the true word $w_t$.
#
# Return $L$, $\partial L / \partial E$ and $\partial L / \partial U$. Derive the two gradients on paper first. You know the gradient of $-\ln$ softmax
# with respect to the scores; from there it is two matrix products, an average and a table, each backwards. A row of $E$ is used as often as its word
# is somebody's neighbour.
#
# By hand, in one dimension: $E = (1, 0)$, $U = (\ln 3, 0)$, the text [0, 1] and $m = 1$.
#
# ```text
# t   word   h_t            probabilities    -ln p     d score              to U: d score · h_t    to E, row of the neighbour
# 0   0      E[1] = 0       (0.50, 0.50)     0.693     (-0.250,  0.250)     (0, 0)                 row 1: -0.250 · ln 3 = -0.275
# 1   1      E[0] = 1       (0.75, 0.25)     1.386     ( 0.375, -0.375)     (0.375, -0.375)        row 0:  0.375 · ln 3 =  0.412
#                                    L = 1.040
# ```
#
# > **Before you run the check:** add 0.001 to one entry of $E$ and see by how much $L$ changes. This tests every gradient that you will ever derive.
#
# [[checked]]
#
# [[hints on the contexts]]
# 1. Write the contexts of a text of four words with $m = 1$ as a table of zeros and ones, one row per position. Where are the zeros?
# 2. The table of ones, each row divided by its sum, is a matrix that averages: multiplied by the vectors of the text it gives all $h_t$.
# 3. Positions as a column, `[:, None]`, minus positions as a row: that is the table of distances. A context has distance at least 1 and at most $m$.
#
# [[hints on the gradients]]
# 1. Which of the steps above uses a word's row of $E$? Who receives the gradient of $h_t$, and how much of it?
# 2. If $h = A x$ for a matrix $A$, the gradient of $x$ is the transpose of $A$ times the gradient of $h$. A word that occurs at several positions
#    gets the sum over them.
# 3. `np.add.at(d_E, words, d_x)` adds row by row, also where ids repeat; `d_E[words] += d_x` keeps only one of the repeated rows.


# %%
def cbow(words, m, E, U):
    """The loss of CBOW on one text, and its gradients.

    words (time,) ids of at least two words, m the reach of a context, E (vocab, d), U (vocab, d)
    -> (loss, d_E (vocab, d), d_U (vocab, d))
    """
    ### BEGIN SOLUTION
    positions = np.arange(len(words))
    apart = np.abs(positions[:, None] - positions)
    near = (apart > 0) & (apart <= m)
    average = near / near.sum(axis=1, keepdims=True)
    h = average @ E[words]
    score = h @ U.T
    score = score - score.max(axis=1, keepdims=True)
    log_p = score - np.log(np.exp(score).sum(axis=1, keepdims=True))
    loss = -log_p[positions, words].mean()
    d_score = np.exp(log_p)
    d_score[positions, words] -= 1
    d_score = d_score / len(words)
    d_x = average.T @ (d_score @ U)
    d_E = np.zeros_like(E)
    np.add.at(d_E, words, d_x)
    return loss, d_E, d_score.T @ h
    ### END SOLUTION


# %% [markdown]
# ## 2. A filter that slides
#
# ### 2a. A causal convolution [[convolutions.causal_convolution, 25 minutes, medium, core]]
#
# A layer of filters of width $k$ computes, at every position of every text, a vector from $k$ positions: the current one, and further ones to its
# left, each $\delta$ (the dilation) before the next. One matrix belongs to each of the $k$: `weight[k - 1]` to the current position, `weight[0]` to the
# oldest. The products are added, and the bias once. Before the start of a text there are zeros, so the output is as long as the input, and nothing
# depends on anything to its right.
#
# By hand, with one feature: the text is $1, 2, 3, 4$, the width 2, `weight[0]` is 10, `weight[1]` is 1 and the bias 0.
#
# ```text
# dilation 1      1   12   23   34
# dilation 2      1    2   13   24
# ```
#
# A loop over positions is correct, but slow for long texts. Loop over the $k$ matrices instead: how many matrix products do you need?
#
# [[checked]]
#
# [[hints]]
# 1. Look at the second line of the example. By how many positions is the row of tens shifted against the row of ones?
# 2. Put zeros in front of all texts once. Each of the $k$ matrices then multiplies a slice of the same length. Where does each slice start?
# 3. There are $(k - 1)\,\delta$ zeros. The slice for `weight[j]` starts `j * dilation` positions after the start of the padded text.


# %%
def causal_convolution(x, weight, bias, dilation):
    """Filters over a batch of texts; nothing to the right of a position is used.

    x (batch, time, d_in), weight (k, d_in, d_out), bias (d_out,), dilation: an integer from 1 -> (batch, time, d_out)
    """
    ### BEGIN SOLUTION
    time = x.shape[1]
    zeros = np.zeros((len(x), (len(weight) - 1) * dilation, x.shape[2]), x.dtype)
    padded = np.concatenate([zeros, x], axis=1)
    y = bias
    for j in range(len(weight)):
        start = j * dilation
        y = y + padded[:, start : start + time] @ weight[j]
    return y
    ### END SOLUTION


# %% [markdown]
# ### 2b. How far back? [[convolutions.receptive_field, 25 minutes, medium, more]]
#
# Stack some of these layers, with $\tanh$ after each and no bias. What does the output at position $t$ depend on? Answer in two ways.
#
# - **Computed:** `size`, the number of positions from the oldest one that the *shapes* of the stack allow up to $t$, both included. It depends on the
#   widths and dilations only, and takes no notice of where the text starts.
# - **Measured:** `sees`, for every position of the given text, whether the output at $t$ changes if the vector at this position does. Run the stack.
#   A difference below $10^{-6}$ is rounding, not a change.
#
# The two need not agree. A dilated layer leaves gaps, a weight may be zero, and a text has a first word.
#
# By hand: one layer of width 2 with dilation 2 and no zero weights has size 3. In a text of six words, with $t = 5$, it sees positions 3 and 5:
# `[False, False, False, True, False, True]`. With $t = 1$ the size is still 3, and it sees position 1.
#
# [[checked]]
#
# [[hints on the size]]
# 1. Take two layers of width 2, first with dilation 1. Draw the lines from the output down to the inputs and count.
# 2. How far back does one layer reach? Do the reaches of two layers add, or multiply?
# 3. A layer reaches `(k - 1) * dilation` back. Add the reaches of all layers, and the position itself.
#
# [[hints on the measurement]]
# 1. You need the outputs of two runs that differ in one word. Which outputs do you compare?
# 2. For each position: copy the text, change the whole vector there, run, compare the output at $t$ with the unchanged run. All copies may be
#    one batch.
# 3. `changed = x.copy()`, `changed[s] += 1`, and `(np.abs(run(changed)[t] - run(x)[t]) > 1e-6).any()`, where `run` loops over the layers and returns the
#    output of one text.


# %%
def receptive_field(x, weights, dilations, t):
    """How far back a stack of causal layers can see, and which positions it does see from position t.

    x (time, d), weights: a list of (k, d, d), one per layer, dilations: a list of integers
    -> (size, sees (time,) boolean)
    """

    ### BEGIN SOLUTION
    def run(h):
        for weight, dilation in zip(weights, dilations, strict=True):
            h = np.tanh(causal_convolution(h, weight, np.zeros(h.shape[-1]), dilation))
        return h[:, t]

    changed = x + np.eye(len(x))[..., None]
    sees = np.abs(run(changed) - run(x[None])).max(axis=-1) > 1e-6
    size = 1 + sum((len(weight) - 1) * dilation for weight, dilation in zip(weights, dilations, strict=True))
    return size, sees
    ### END SOLUTION


# %% [markdown]
# ### 2c. How many layers? [[convolutions.dilated_stack, 15 minutes, medium, more]]
#
# In WaveNet (van den Oord et al. 2016) the dilations grow from layer to layer: the first layer has dilation 1, and each further one $r$ times the
# dilation of the previous one, $r \ge 2$. All $L$ layers have width $k$. On paper, derive two formulas:
#
# - the size of the receptive field, without a sum: $1 + r + r^2 + \dots$ has a closed form, which you find if you multiply it by $r - 1$;
# - the number of layers for which this size is $n$. In practice you round it up; return it as it is.
#
# Write both with nothing but the symbols and `math`.
#
# By hand: $k = 3$ and $r = 2$ with $L = 3$ layers have the dilations 1, 2, 4 and size 15, and to see $n = 15$ positions you need 3 layers. With
# dilation 1 everywhere it would be 7 layers.
#
# [[checked]] The values must be right to five digits.
#
# [[hints]]
# 1. Your function of 2b adds up the reaches of the layers. Which factor do all of them have in common?
# 2. In $(r - 1)(1 + r + \dots + r^{L-1})$ nearly everything cancels. For the second formula, solve the first for the power of $r$, then take
#    logarithms.
# 3. $n - 1 = (k - 1)\, S$, where $S$ is the closed form of the sum. A logarithm to the base $r$ is a quotient of two natural ones.


# %%
def dilated_stack(k, r, L, n):
    """The receptive field of L layers of width k with dilations 1, r, r², …, and the number of layers for a field of n.

    integers k >= 2, r >= 2, L, n -> (size, layers), two numbers
    """
    ### BEGIN SOLUTION
    size = 1 + (k - 1) * (r**L - 1) / (r - 1)
    layers = math.log(1 + (n - 1) * (r - 1) / (k - 1)) / math.log(r)
    return size, layers
    ### END SOLUTION


# %% [markdown]
# ### 2d. A gated block that can go on [[convolutions.gated_block, 25 minutes, medium, core]]
#
# In the gated layers of Dauphin et al. (2017) a causal convolution computes twice as many features as it gets. The first half are values, and the
# sigmoid of the second half, $1 / (1 + e^{-z})$, decides, feature by feature, how much of each value passes. The block adds the result to its own input.
#
# A language model that writes a text gets one word at a time. It would be wasteful to compute the whole text again for each. So our block also gets
# `past`, the inputs just before `x`, instead of zeros: exactly as many as its filter reaches back, $(k-1)\,\delta$. It returns the `past` for the next
# call, of the same length. If you cut a text into chunks of any lengths and pass the past on, the outputs must be those for the whole text.
#
# By hand, with one feature, width 2, dilation 1, both matrices $(1, 0)$ and bias $(0, 0)$: the past is 2 and the text is 3. The convolution gives
# value $2 + 3 = 5$ and gate score 0, half of the value passes, 2.5, and the output is $5.5$. The new past is 3.
#
# > **Before you write it:** with $k = 3$ and one word per call, `past` has two positions and `x` has one. What is the new past?
#
# [[checked]]
#
# [[hints on the output]]
# 1. In the example, which of the two numbers of the convolution goes through the sigmoid? What is 5.5 − 2.5?
# 2. Your causal convolution puts zeros in front. If you put the past in front yourself, which of its outputs do you need?
# 3. Join past and text with `np.concatenate` along the time, convolve, drop the outputs that belong to the past. `np.split(…, 2, axis=-1)` cuts the
#    features in half.
#
# [[hints on the new past]]
# 1. Is the past of the next call made of inputs or of outputs of this block?
# 2. Take it from the past and the text together, because the text may be shorter. Count from the front, so that an empty past is no exception.
# 3. Of past and text together, everything from position `x.shape[1]` on.


# %%
def gated_block(x, past, weight, bias, dilation):
    """x + GLU(causal convolution), for a text that continues another one.

    x (batch, time, d), past (batch, (k-1)·dilation, d), weight (k, d, 2d), bias (2d,)
    -> (output (batch, time, d), new_past (batch, (k-1)·dilation, d))
    """
    ### BEGIN SOLUTION
    inputs = np.concatenate([past, x], axis=1)
    both = causal_convolution(inputs, weight, bias, dilation)[:, past.shape[1] :]
    value, gate = np.split(both, 2, axis=-1)
    passes = 1 / (1 + np.exp(-gate))
    output = x + value * passes
    return output, inputs[:, x.shape[1] :]
    ### END SOLUTION


# %% [markdown]
# ## 3. A text as one vector
#
# The functions of sections 3 and 4 are trained, so they get tensors, and PyTorch may do the convolution: you know by now what
# `torch.nn.functional.conv1d` computes. But it knows nothing about texts of different lengths. That part is yours.
#
# ### 3a. The maximum over time [[convolutions.text_features, 35 minutes, hard, core]]
#
# Kim (2014) slides filters of several widths over a text and keeps the largest response of each filter. The rules here:
#
# - A filter of width $k$ answers once for every **window**, $k$ neighbouring words that all belong to the text. `weight[0]` is for the first word of
#   the window, and there is no dilation.
# - A text shorter than $k$ has one window: the text, followed by zero vectors up to the width $k$.
# - A filter's feature is its largest response over the windows *of that text*. Responses can all be negative, and then so is the feature.
# - The features of all widths are concatenated, in the given order.
#
# A batch contains texts of many lengths, and what follows a text is padding. Nothing may depend on it.
#
# By hand, with one feature per word, one filter of width 2, both weights 1 and bias 0: the text is $-1, -2, -4$, followed by padding 7. Its windows
# give $-3$ and $-6$, so the feature is $-3$. A filter of width 5 has one window, $-1, -2, -4, 0, 0$.
#
# [[checked]]
#
# [[hints on the windows]]
# 1. How many windows of width 3 has a text of five words, and how many has a text of two?
# 2. Put $k - 1$ zero vectors behind all texts. Then a window starts at every word, and answer $i$ of a convolution without padding of its own is the
#    window that starts at $i$. Which answers overhang the end?
# 3. In a text of $n$ words, $i$ goes up to $\max(n - k, 0)$. `torch.nn.functional.conv1d` wants (batch, feature, time) and weights (filter, feature,
#    width): `.mT` and `.permute(2, 1, 0)` lead there, and `.mT` back.
#
# [[hints on the padding]]
# 1. Padding can do harm in two places: as part of a window, and as a window that should not exist. When does each occur?
# 2. Vectors of padding become zeros before you convolve. Windows that do not count must lose against every number, also against negative ones.
# 3. `c.masked_fill(…, -math.inf)` before `amax(dim=1)`.


# %%
def text_features(x, lengths, weights, biases):
    """The largest response of every filter to each text.

    x (batch, time, d), lengths (batch,), weights: a list of (k, d, filters), biases: a list of (filters,)
    -> (batch, filters of all widths)
    """
    ### BEGIN SOLUTION
    real = torch.arange(x.shape[1]) < lengths[:, None]
    x = x * real[..., None]
    strongest = []
    for weight, bias in zip(weights, biases, strict=True):
        k = len(weight)
        padded = torch.cat([x, x.new_zeros(len(x), k - 1, x.shape[2])], dim=1)
        c = torch.nn.functional.conv1d(padded.mT, weight.permute(2, 1, 0), bias).mT
        inside = torch.arange(c.shape[1]) <= (lengths - k).clamp(min=0)[:, None]
        c = c.masked_fill(~inside[..., None], -math.inf)
        strongest.append(c.amax(dim=1))
    return torch.cat(strongest, dim=1)
    ### END SOLUTION


# %% [markdown]
# ### 3b. Two classifiers [[convolutions.scores, 15 minutes, easy, core]]
#
# Both classifiers look up the vectors of the words, make one vector per text and map it linearly to one score per class. All their parameters are in
# one list: the table (vocab, d), the output matrix $V$ (features, classes), the output bias $c$ (classes,), and then for each width the weights
# (k, d, filters) and the bias (filters,) of its filters, one after the other.
#
# - If there are filters, the vector of a text consists of your features, each through a ReLU.
# - If there are none, it is your average.
#
# Return the scores, without a softmax.
#
# By hand: two classes, features $(2, -3)$, and $V$ and $c$ such that each class adds up both numbers. The scores are 2 and 2, because the ReLU turns
# $-3$ into 0.
#
# [[checked]]
#
# [[hints]]
# 1. How many parameters does the list contain without filters, and how many with filters of two widths?
# 2. Unpack the three that are always there, and collect the rest in a list. Its even entries are weights, its odd entries biases.
# 3. `first, second, *rest = values` puts what is left over into a list, and `rest[0::2]` is every second entry of it.


# %%
def scores(parameters, tokens, lengths):
    """The scores of the classes for each text, from averaged words or from filters.

    parameters: the list [table, V, c, weight, bias, weight, bias, …], tokens (batch, time), lengths (batch,)
    -> (batch, classes)
    """
    ### BEGIN SOLUTION
    table, V, c, *filters = parameters
    if filters:
        h = torch.relu(text_features(table[tokens], lengths, filters[0::2], filters[1::2]))
    else:
        h = average_words(table, tokens, lengths)
    return h @ V + c
    ### END SOLUTION


# %% [markdown]
# ## 4. Training [[convolutions.train, 45 minutes, hard, core]]
#
# Write the function that trains either classifier. Here autograd is open, because you have done your share by hand. So is everything in
# `torch.optim`; six lines of your own do as well.
#
# - A batch is a list [tokens, lengths, labels]. Its loss is the mean cross-entropy of its texts.
# - In every epoch go through the batches in the given order and take one step of gradient descent with **momentum** per batch, for all parameters.
#   Each parameter has a velocity, 0 at the start of the training: the velocity becomes momentum times the old velocity plus the gradient, and the
#   parameter moves by minus rate times the new velocity.
# - After every epoch measure the loss on `held_out`, one batch that is not trained on.
# - Return these losses, one per epoch, and the parameters *after the epoch with the lowest* of them (the first, if there are several), as one vector:
#   all entries in the order of the list, each parameter row by row.
#
# The caller's parameters stay as they are; the caller starts five trainings from them.
#
# By hand, one parameter, at 10, with rate 1 and momentum 0.5, and gradients 4 and then 2: the velocities are 4 and 4, and the parameter goes
# 10 → 6 → 2. If the losses on `held_out` are 0.9, 0.7, 0.8, you return these three, and the parameters after the second epoch.
#
# [[checked]] Trainings that get worse again are among the inputs, as they are in life.
#
# [[hints on the loop]]
# 1. Which three things live longer than one batch? Which two live longer than one epoch?
# 2. Copy the parameters and let PyTorch watch the copies. Compute the loss of a batch from your scores, its gradients, then change the copies
#    without being watched.
# 3. `torch.autograd.grad(loss, parameters)` returns the gradients and stores nothing, so there is nothing to set to zero. Change the copies under
#    `with torch.no_grad():`.
#
# [[hints on the best epoch]]
# 1. You remember the best parameters, and then train on. What happens to what you remembered?
# 2. Remember a copy: a new vector that is filled at that moment.
# 3. `torch.cat` of all parameters, each detached and flattened, is a new vector. A list of the parameters would be the parameters themselves.


# %%
def train(parameters, batches, held_out, epochs, rate, momentum):
    """Train a classifier and keep the best epoch.

    parameters: a list as in 3b, batches: a list of [tokens, lengths, labels], held_out: [tokens, lengths, labels]
    -> (losses (epochs,), best: one vector of all parameters)
    """

    ### BEGIN SOLUTION
    def loss_of(batch):
        tokens, lengths, labels = batch
        return torch.nn.functional.cross_entropy(scores(parameters, tokens, lengths), labels)

    parameters = [p.clone().requires_grad_() for p in parameters]
    velocities = [torch.zeros_like(p) for p in parameters]
    losses, best = [], None
    for _ in range(epochs):
        for batch in batches:
            gradients = torch.autograd.grad(loss_of(batch), parameters)
            with torch.no_grad():
                for p, velocity, gradient in zip(parameters, velocities, gradients, strict=True):
                    velocity.mul_(momentum).add_(gradient)
                    p.sub_(rate * velocity)
        with torch.no_grad():
            loss = float(loss_of(held_out))
        if not losses or loss < min(losses):
            best = torch.cat([p.detach().flatten() for p in parameters])
        losses.append(loss)
    return losses, best
    ### END SOLUTION


# %% [markdown]
# ## 5. A colleague's backward pass
#
# A colleague wants to train without autograd and has derived the gradients of the causal convolution of 2a. He gets the inputs, the dilation, and
# `d_y`, the gradient of the loss with respect to the output. Everything has the right shape, and with filters of width 1 even the right values. One
# line is wrong.
#
# ### 5a. Which line? [[convolutions.wrong_line, 10 minutes, medium, more]]
#
# [[listing convolutions.convolution_backward]]
#
# Derive before you run: which inputs does the matrix `weight[j]` multiply in the forward pass, and where does its gradient come from? Return the number
# of the wrong line, as in this listing.
#
# [[checked]] The check of 5b shows you an input for which the values are wrong.
#
# [[hints]]
# 1. For each line, say which step of the forward pass it undoes. Which lines have nothing to undo?
# 2. The gradient of a product needs the same slice of the same array as the product itself. Compare every slice with the one in your function of 2a.
# 3. Take width 2, dilation 1 and the text 1, 2. Which number did `weight[0]` multiply for the second output, and which one does the listing use?


# %%
def wrong_line():
    """The number of the one line of the listing that is wrong."""
    ### BEGIN SOLUTION
    return 12
    ### END SOLUTION


# %% [markdown]
# ### 5b. Mend it [[convolutions.convolution_backward, 5 minutes, easy, more]]
#
# This is your colleague's function. Change the line, and nothing else.
#
# [[checked]]
#
# [[hints]]
# 1. The line decides which inputs belong to which matrix, so both gradients are wrong. Who meets whom in the forward pass?
# 2. Some say that a convolution runs backwards with the filter flipped. In this form nothing needs to be flipped, because every matrix keeps the slice
#    that it had.
# 3. The oldest matrix, number 0, has the slice that starts at the very first position of the padded text; each further one starts a dilation later.


# %%
def convolution_backward(x, weight, d_y, dilation):
    """The gradients of a causal convolution.

    x (batch, time, d_in), weight (k, d_in, d_out), d_y (batch, time, d_out), dilation
    -> (d_x (batch, time, d_in), d_weight (k, d_in, d_out), d_bias (d_out,))
    """
    ### BEGIN SOLUTION
    past = (len(weight) - 1) * dilation
    padded = np.concatenate([np.zeros((len(x), past, x.shape[2])), x], axis=1)
    d_padded = np.zeros_like(padded)
    d_weight = np.zeros_like(weight)
    for j in range(len(weight)):
        window = slice(j * dilation, j * dilation + x.shape[1])
        d_weight[j] = (padded[:, window].swapaxes(1, 2) @ d_y).sum(axis=0)
        d_padded[:, window] += d_y @ weight[j].T
    d_bias = d_y.sum(axis=(0, 1))
    return d_padded[:, past:], d_weight, d_bias
    ### END SOLUTION


# %% [markdown]
# ## 6. An experiment: what do the filters use? [[convolutions.what_filters_use, 30 minutes, medium, more]]
#
# Was a line printed in the First Folio of 1623, or is it in modern spelling? Your classifiers read letters now. Filters of width 3 have more than
# twice as many parameters as an average, so if they are better, is it because they know the order of the letters, or because they are larger? To find out, train
# the filters once more, on lines whose letters are **shuffled**: the same letters, the same number of parameters, but no order. Four answers are
# possible:
#
# 1. The filters have a lower loss than the averages, and a lower one than on shuffled letters. They use the order.
# 2. The filters have a lower loss than the averages, but shuffling makes no difference that these seeds can show. It is their size.
# 3. The averages have a lower loss than the filters.
# 4. These seeds cannot tell the filters from the averages.
#
# Proceed in this order.
#
# - **Predict.** Set `prediction` to 1, 2, 3 or 4 before you run anything. It is kept as you wrote it, and it need not come true.
# - **Run.** For each seed, train three times from `start(widths, 28, 2, seed, 8, 16)` with your `train`, 6 epochs and momentum 0.9: averages (no
#   widths, rate 1), filters (width 3, rate 0.3), and these filters again on shuffled letters. For the latter `shuffled(batch, seed)` shuffles each
#   batch *and* the held-out lines. `losses` gets one row per seed with the three losses on the held-out lines after the *final* epoch: an epoch that
#   is chosen by these lines would look too good. Set `conclusion = 0` for now and run the check. Then run the cell below the check, and look at all
#   five rows.
# - **Conclude.** Set `conclusion` to the answer that *your* five rows support. A difference counts if it has the same sign for every seed, or if it is
#   larger than chance explains: the 95 % interval of the mean difference (Student's t: 2.78 standard errors to each side) does not contain 0.
#
# [[checked]]
#
# [[hints on the run]]
# 1. How many trainings does one seed need, and which data and which widths does each of them get?
# 2. A loop over the seeds, and inside it three calls of your training function. Only the third gets shuffled data.
# 3. The losses are the first result of `train`; the final epoch's is `[-1]`. Shuffled batches are a list: one call of `shuffled` for each.
#
# [[hints on the conclusion]]
# 1. Compare the first two columns, seed by seed, and then the second with the third.
# 2. Guessing has the loss ln 2 = 0.693. Which of the three is not better than guessing?
# 3. Five differences $d$ have the interval $\bar d \pm 2.78\, s / \sqrt 5$, where $s$ is their standard deviation. `torch.std` computes it.


# %%
LETTERS = " 'abcdefghijklmnopqrstuvwxyz"


def letters(line):
    return " ".join(re.sub(r"[^a-z' ]", "", line.lower()).split())


def as_batch(texts, labels):
    """[tokens, lengths, labels] of lists of ids."""
    tokens = torch.zeros(len(texts), max(map(len, texts)), dtype=torch.long)
    for row, text in zip(tokens, texts, strict=True):
        row[: len(text)] = torch.tensor(text)
    return [tokens, torch.tensor([len(text) for text in texts]), torch.tensor(labels)]


def start(widths, vocab, classes, seed, d=24, filters=16):
    """The parameters of a classifier before training: of averages if there are no widths."""
    chance = torch.Generator().manual_seed(seed)
    features = filters * len(widths) or d
    made = [
        torch.randn(vocab, d, generator=chance) * 0.3,
        torch.randn(features, classes, generator=chance) * features**-0.5,
    ]
    made.append(torch.zeros(classes))
    for k in widths:
        made += [torch.randn(k, d, filters, generator=chance) * (k * d) ** -0.5, torch.zeros(filters)]
    return made


def shuffled(batch, seed):
    """The same batch, the ids of each text in random order."""
    chance = torch.Generator().manual_seed(seed)
    tokens, lengths, labels = batch
    tokens = tokens.clone()
    for row, n in zip(tokens, lengths.tolist(), strict=True):
        row[:n] = row[:n][torch.randperm(n, generator=chance)]
    return [tokens, lengths, labels]


def spellings_of(play, most, longest=100):
    """Up to so many lines of a play that are spelled differently now: (letters of 1623, modern letters)."""
    from nlmcore.corpora.folio import align_play

    two = ((letters(pair.folio), letters(pair.modern)) for pair in align_play(play))
    return [pair for pair in two if pair[0] != pair[1] and all(pair) and len(pair[0]) < longest][:most]


def lines_of(pairs):
    """A batch of lines: class 0 is 1623, class 1 is modern."""
    return as_batch(
        [[LETTERS.index(letter) for letter in line] for pair in pairs for line in pair], [0, 1] * len(pairs)
    )


# %%
def what_filters_use(batches, held_out, seeds):
    """Averages, filters, and filters on shuffled letters, for several seeds.

    batches, held_out as in 4, seeds: a list -> (prediction, losses (seeds, 3), conclusion)
    """
    ### BEGIN SOLUTION
    prediction = 2
    losses = []
    for seed in seeds:
        mixed = [shuffled(batch, seed) for batch in batches]
        averages = train(start([], 28, 2, seed, 8, 16), batches, held_out, 6, 1.0, 0.9)
        filters = train(start([3], 28, 2, seed, 8, 16), batches, held_out, 6, 0.3, 0.9)
        control = train(start([3], 28, 2, seed, 8, 16), mixed, shuffled(held_out, seed), 6, 0.3, 0.9)
        losses.append([averages[0][-1], filters[0][-1], control[0][-1]])
    conclusion = 1
    return prediction, losses, conclusion
    ### END SOLUTION


# %%
show_rows("convolutions.what_filters_use", what_filters_use, "averages", "filters", "shuffled letters")

# %% [markdown]
# ## Your functions at work
#
# ### Comedy, history or tragedy?
#
# Your `train` learns to tell from 80 words of a scene whether its play is a comedy, a history or a tragedy. Words that occur in few plays, such as the
# names of people, are all read as one unknown word, because a name gives its play away. The test plays are *Twelfth Night*, *Henry V* and *Macbeth*.
# Each classifier is trained from five initialisations. Before you run it: which of the two will be ahead, and why?

# %%
GENRES = ["comedy", "history", "tragedy"]
UNKNOWN = 1


def pieces(play, size=80, most=3):
    """Up to three pieces of 80 words from the start of every scene, without headings, directions and speakers."""
    for scene in re.split(r"^SCENE\b.*$", re.sub(r"\[[^\]]*\]", " ", play), flags=re.MULTILINE | re.IGNORECASE)[1:]:
        spoken = re.sub(r"^[A-Z][\w ,'&-]*\.$|^ACT .*$", " ", scene, flags=re.MULTILINE)
        words = re.findall(r"[a-z]+(?:'[a-z]+)?", spoken.lower())
        yield from (words[i : i + size] for i in range(0, min(len(words), size * most), size) if len(words) >= i + 20)


def accuracy(best, like, batch):
    """Percent of the texts that the trained parameters classify correctly."""
    parts = torch.as_tensor(best).float().split([p.numel() for p in like])
    tokens, lengths, labels = batch
    found = torch.as_tensor(scores([part.view(p.shape) for part, p in zip(parts, like, strict=True)], tokens, lengths))
    return 100 * float((found.argmax(dim=1) == labels).float().mean())


def compare(data, vocab, classes, settings, seeds=range(5)):
    """Train every setting (widths, epochs, rate) from every seed; print the accuracy on the test texts."""
    batches = [[part[rows] for part in data["train"]] for rows in torch.arange(len(data["train"][0])).split(32)]
    for name, (widths, epochs, rate) in settings.items():
        found = []
        for seed in seeds:
            before = start(widths, vocab, classes, seed)
            begun = time.perf_counter()
            if not found:  # a trial, because a loop over positions would take all night
                train(before, batches[:2], batches[0], 1, rate, 0.9)
                expected = (time.perf_counter() - begun) / 2 * len(batches) * epochs * len(seeds)
                if expected > 120:
                    print(
                        f"{name:18} would take {expected / 60:.0f} minutes. Which loop of yours could be one matrix product?"
                    )
                    break
            _, best = train(before, batches, data["valid"], epochs, rate, 0.9)
            found.append(accuracy(best, before, data["test"]))
        if found:
            print(
                f"{name:18} {sum(found) / len(found):5.1f} % right on average; by seed",
                *(f"{each:.1f}" for each in found),
            )


mine = {"average_words": average_words, "text_features": text_features, "scores": scores, "train": train}
ready = all(passes(f"convolutions.{name}", function) for name, function in mine.items())
if ready:
    from nlmcore.corpora import load

    plays = load("shakespeare").splits
    found = {
        part: [
            (words, GENRES.index(play.label))
            for play in plays[part]
            if play.label in GENRES
            for words in pieces(play.text)
        ]
        for part in plays
    }
    in_plays = Counter(
        word for play in plays["train"] for word in set(re.findall(r"[a-z]+(?:'[a-z]+)?", play.text.lower()))
    )
    known = sorted(word for word, count in in_plays.items() if count >= 10)
    ids = {word: number for number, word in enumerate(known, UNKNOWN + 1)}
    torch.manual_seed(0)
    data = {}
    for part, texts in found.items():
        order = torch.randperm(len(texts)).tolist()
        rows = [[ids.get(word, UNKNOWN) for word in texts[i][0]] for i in order]
        data[part] = as_batch(rows, [texts[i][1] for i in order])
    largest = max(Counter(data["test"][2].tolist()).values()) / len(data["test"][2])
    print(
        f"{len(found['train'])} pieces to train on, {len(found['test'])} to test; always the largest class: {100 * largest:.1f} %"
    )
    settings = {"averaged words": ([], 12, 0.5), "filters of 1, 2, 3": ([1, 2, 3], 7, 0.05)}
    compare(data, len(known) + 2, 3, settings)
else:
    print("Come back here when 1a, 3a, 3b and 4 pass.")

# %% [markdown]
# Do the ranges of the two overlap? Would one seed have told you the truth? And what does a filter of width 1 know that an average does not?
#
# ### 1623 or now?
#
# The classifiers of your experiment, with more lines and several widths: 500 pairs of lines of *Hamlet* to train on, and the test lines are from
# *Twelfth Night*.

# %%
if ready:
    from nlmcore.corpora.folio import align_play

    data, spellings = {}, defaultdict(Counter)
    for part, play, most in (("train", "hamlet", 500), ("valid", "henry_v", 250), ("test", "twelfth_night", 500)):
        data[part] = lines_of(spellings_of(play, most))
        for pair in align_play(play):
            for old, new in pair.words:
                spellings[old.lower(), part][new.lower()] += 1
    settings = {"averaged letters": ([], 4, 0.2), "filters of 2, 3, 4": ([2, 3, 4], 4, 0.05)}
    compare(data, len(LETTERS), 2, settings)
else:
    print("Come back here when 1a, 3a, 3b and 4 pass.")

# %% [markdown]
# Why is the result so different from that for the scenes?
#
# ### Old spelling restored
#
# Finally your gated block rewrites words of 1623, letter by letter: *musicke* becomes *music* and *haue* becomes *have*. For each letter the network
# chooses what to write in its place: a letter, several, or nothing. It needs the letters to the right as well, but your block is causal. So we let it
# answer three letters later: two blocks of width 4 then see three letters to the left of the letter in question and three to its right. As a control
# we train the same network with width 1, which sees that letter only. All test words are words of *Twelfth Night* that neither *Hamlet* nor *Henry V*
# contains. PyTorch trains the network on whole words; then your `gated_block` reads the test words, one letter per call, each time with the past
# that the previous call returned.


# %%
def rewriting(old, new):
    """For every letter of the old word, what is written in its place."""
    written = list(old)
    for kind, i, i_end, j, j_end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "insert":
            at = max(i - 1, 0)
            written[at] = written[at] + new[j:j_end] if i else new[j:j_end] + written[at]
        elif kind != "equal":
            written[i:i_end] = [new[j:j_end], *[""] * (i_end - i - 1)]
    return written


def outputs_of(parameters, tokens):
    """The scores of everything that can be written, at each position; the same blocks in PyTorch."""
    table, *blocks, V, c = parameters
    h = table[tokens]
    for weight, bias in zip(blocks[0::2], blocks[1::2], strict=True):
        padded = torch.nn.functional.pad(h.mT, (len(weight) - 1, 0))
        both = torch.nn.functional.conv1d(padded, weight.permute(2, 1, 0), bias).mT
        h = h + torch.nn.functional.glu(both, dim=-1)
    return h @ V + c


def read_by_letter(parameters, tokens):
    """The same scores from your gated block, which gets one letter of every word per call."""
    table, *blocks, V, c = parameters
    layers = list(zip(blocks[0::2], blocks[1::2], strict=True))
    pasts = [np.zeros((len(tokens), len(weight) - 1, weight.shape[1]), weight.dtype) for weight, _ in layers]
    rows = []
    for letter in tokens.T:
        h = table[letter][:, None]
        for i, (weight, bias) in enumerate(layers):
            h, pasts[i] = map(np.asarray, gated_block(h, pasts[i], weight, bias, 1))
        rows.append(h @ V + c)
    return np.concatenate(rows, axis=1)


def restorer(tokens, wanted, choices, width, seed, d=32, epochs=5):
    """Two gated blocks of a width, trained to choose what to write."""
    chance = torch.Generator().manual_seed(seed)
    parameters = [torch.randn(len(LETTERS) + 1, d, generator=chance) * 0.5]
    for _ in range(2):
        parameters += [torch.randn(width, d, 2 * d, generator=chance) * (4 / (width * d)) ** 0.5, torch.zeros(2 * d)]
    parameters += [torch.randn(d, choices, generator=chance) * d**-0.5, torch.zeros(choices)]
    parameters = [p.requires_grad_() for p in parameters]
    optimizer = torch.optim.Adam(parameters, lr=5e-3)
    for _ in range(epochs):
        for rows in torch.randperm(len(tokens), generator=chance).split(64):
            found = outputs_of(parameters, tokens[rows]).flatten(0, 1)
            loss = torch.nn.functional.cross_entropy(found, wanted[rows].flatten(), ignore_index=-1)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return parameters


if ready and passes("convolutions.gated_block", gated_block):
    words = defaultdict(list)
    seen = {old for old, part in spellings if part != "test"}
    for (old, part), forms in sorted(spellings.items()):
        new = forms.most_common(1)[0][0]
        if set(old + new) <= set(LETTERS) and not (part == "test" and old in seen):
            words["test" if part == "test" else "train"].append((old, new))
    counts = Counter(written for old, new in words["train"] for written in rewriting(old, new))
    choices = [written for written, count in counts.items() if count >= 5]
    longest = 3 + max(len(old) for pairs in words.values() for old, _ in pairs)
    tokens, wanted = {}, {}
    for part, pairs in words.items():
        tokens[part] = torch.full((len(pairs), longest), len(LETTERS))
        wanted[part] = torch.full((len(pairs), longest), -1)
        for row, (old, new) in enumerate(pairs):
            tokens[part][row, : len(old)] = torch.tensor([LETTERS.index(letter) for letter in old])
            for at, written in enumerate(rewriting(old, new)):
                wanted[part][row, at] = choices.index(written) if written in choices else -1
    pairs = words["test"]
    print(f"{len(words['train'])} words to train on, {len(pairs)} to test")
    print(f"left as they are   {100 * sum(old != new for old, new in pairs) / len(pairs):4.1f} % wrong")
    for width, later in ((1, 0), (4, 3)):
        parameters = restorer(tokens["train"], wanted["train"].roll(later, 1), len(choices), width, 0)
        found = read_by_letter([p.detach().numpy() for p in parameters], tokens["test"].numpy())
        best = np.roll(found, -later, axis=1).argmax(axis=-1).tolist()
        read = ["".join(choices[i] for i in row[: len(old)]) for row, (old, _) in zip(best, pairs, strict=True)]
        wrong = sum(new != mine for mine, (_, new) in zip(read, pairs, strict=True))
        print(f"width {width}            {100 * wrong / len(pairs):4.1f} % wrong")
    changed = [(old, mine, new) for mine, (old, new) in zip(read, pairs, strict=True) if old != new]
    for old, mine, new in changed[:: max(1, len(changed) // 20)]:
        print(f"{old:14} {mine:14} {'' if mine == new else 'should be ' + new}")
else:
    print("Come back here when 2d, 3a, 3b and 4 pass.")

# %% [markdown]
# ## 7. In your own words [[written, 20 minutes, 4 points, core]]
#
# In about ten sentences, with the numbers of your own run, for somebody who has not heard the lecture:
#
# 1. For the scenes and for the spelling, which classifier was ahead, and by how much compared with the differences between seeds? Explain both results
#    by what each classifier can and cannot know.
# 2. A friend's convolutional language model has a perplexity of 1.2 on held-out text. What do you suspect, and which test of five lines would show it?
# 3. The restored words still contain mistakes. Choose two from the list above that have different causes, and say for each whether wider filters, more
#    layers, more training words or something else would help.
#
# ### BEGIN MARK SCHEME
# Half points are fine.
#
# 1. **The results** (1): the numbers of the run with their spread over seeds; "ahead" only if the ranges are apart. **The explanation** (1): genre is
#    mostly a matter of which words occur, and few training scenes make many filters overfit; spelling is a matter of neighbouring letters (*ue*, *cke*),
#    which an average of letters cannot know. Half a point for one of the two.
# 2. **The leak** (1): the padding is on the wrong side, or the targets are not shifted, so an output has seen its target (½); change a later word and
#    look whether an earlier output changes (½).
# 3. **Two mistakes** (1, half for each): the cause must fit the example: a letter outside the receptive field (wider, or one more layer); a rare
#    replacement that is not among the choices, or not often in the training words (more words); two spellings that need to know the word (a dictionary,
#    a model of words); the edition itself. "More training" without a reason earns nothing.
# ### END MARK SCHEME

# %% [markdown]
# For the scenes the averaged words were ahead of the filters, but the ranges of the five seeds overlap, so I would not say that they are better. Both
# were clearly above the largest class. Genre is a matter of which words occur, and this an average knows. The filters have many more parameters per
# training scene. For the spelling the filters were far ahead for every seed: an average knows only how often each letter occurs, and 1623 shows in
# groups of letters such as *ue* and *cke*.
#
# A perplexity of 1.2 means that the model nearly knows the next word, which nobody can. I suspect that its padding is on both sides, so the output has
# seen the word that it should predict. I would change the final word of a text and compare all earlier outputs: none may change.
#
# In one of the mistakes the letter that decides is further away than three letters; wider filters or one more layer would help. In another the
# modern spelling doubles a letter, which occurs seldom among the training words, so more words would help. No filter can know which of two spellings an
# editor preferred.

# %% [markdown]
# ---
# **Before you hand in:** *Kernel → Restart Kernel and Run All Cells*. Every check should say what you expect, and
# question 7 should be answered in your own words. Save the notebook under its own name: the grader looks for `convolutions.ipynb`.
