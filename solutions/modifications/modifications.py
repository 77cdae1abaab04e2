# %% [markdown]
# # Assignment: one modification, judged
#
# Many papers claim that a change improves the Transformer. You build three such changes (ReZero, experts, factorised embeddings), and then what a judge
# of such claims needs: the count of what a model costs, a width that makes a comparison fair, intervals, Welch's test, Holm's correction and a rank
# correlation. At the end your code judges one row of the table of Narang et al. (2021) from stored trainings, and then models that you train
# yourself.
#
# [[questions]]
#
# [[how it works]]
#
# [[closed]]
# Everything else is open, `torch.optim` and the module `statistics` for example. If you need a function from an earlier question, call yours.
#
# You need the lecture *Do modifications transfer?*. Questions 1 and 2 also use the lecture *The Transformer language model*. Nothing is downloaded.

# %%
import hashlib
import math
import re
from statistics import fmean, stdev, variance

import numpy as np
import torch
from IPython.display import HTML
from torch.nn import functional as F

from autograder.check import check, failing, passes, show_rows
from lectures import show

torch.set_printoptions(precision=3, sci_mode=False)
torch.set_num_threads(1)  # for models as small as these one thread is fastest


# %% [markdown]
# Two sublayers are given, with one head and without biases. A **layer** is a dictionary with their weights. Texts come in a batch: `x` is (batch, time,
# d_model), and a weight matrix is (in, out).


# %%
def attention(x, layer):
    """Causal self-attention with one head; query, key, value, mix (d_model, d_model) -> like x"""
    q, k, v = x @ layer["query"], x @ layer["key"], x @ layer["value"]
    return F.scaled_dot_product_attention(q, k, v, is_causal=True) @ layer["mix"]


def network(x, layer):
    """A feed-forward network; inner (d_model, d_ff), outer (d_ff, d_model) -> like x"""
    return torch.relu(x @ layer["inner"]) @ layer["outer"]


def norm(x):
    """LayerNorm without gain and shift."""
    return F.layer_norm(x, x.shape[-1:])


# %% [markdown]
# ## 1. Start from the identity [[modifications.rezero, 10 minutes, easy, core]]
#
# A vanilla pre-norm layer adds to the pathway what each sublayer computes from its normalised input. *ReZero* (Bachlechner et al. 2021) has no norms. Instead
# each layer has one learned number $\alpha$, `layer["alpha"]`, and both sublayers of that layer, attention first, are multiplied by it before they are
# added. All $\alpha$ are 0 at the start, so that a new network of any depth returns its input. Write the whole stack.
#
# By hand, with a network that returns twice its input, an attention that returns its input, and $\alpha = 0.5$: $x = 4$ becomes $4 + 0.5 \cdot 4 = 6$
# after attention, and $6 + 0.5 \cdot 12 = 12$ after the network.
#
# [[checked]]
#
# [[hints]]
# 1. Follow the two sums of the example. What does the network read, 4 or 6?
# 2. Two loops: one over the layers, inside it one over the two sublayers. The pathway is carried from sum to sum.
# 3. In the inner loop `x` becomes `x` plus α times the sublayer's result. `attention` and `network` both take `x` and the layer.


# %%
def rezero(x, layers):
    """A stack of layers with ReZero.

    x (batch, time, d_model), layers: a list of dictionaries with query, key, value, mix, inner, outer, alpha -> like x
    """
    ### BEGIN SOLUTION
    for layer in layers:
        for sublayer in (attention, network):
            x = x + layer["alpha"] * sublayer(x, layer)
    return x
    ### END SOLUTION


# %% [markdown]
# ## 2. Many networks, one per token
#
# A mixture of experts has $n$ feed-forward networks instead of one. A *router* picks one of them for each token, so that parameters grow with $n$ and
# operations hardly do. This is the Switch Transformer (Fedus, Zoph & Shazeer 2022).
#
# ### 2a. Routing with a capacity [[modifications.route, 15 minutes, medium, core]]
#
# `scores` has a row per token and a column per expert. A softmax over the experts turns a token's scores into probabilities. The token goes to the most
# probable expert, and that probability is its **gate**. On an accelerator an expert is a table of fixed size, its **capacity**. Tokens are served in
# their order; a token whose expert is full already is *dropped*: it keeps its expert and gate here, but `kept` is False for it.
#
# By hand, five tokens, three experts and a capacity of 2:
#
# ```text
# most probable expert   1      0      1      1      2
# kept                   True   True   True   False  True       expert 1 is full when the fourth token comes
# ```
#
# [[checked]]
#
# [[hints on the gate]]
# 1. Which axis of `scores` are the experts, and along which of the two axes do the probabilities add up to 1?
# 2. One function returns both the largest entries along an axis and where they are.
# 3. A softmax along axis 1, and then `max` along the same axis, which returns values and indices in this order.
#
# [[hints on the capacity]]
# 1. Go through the tokens of the example from left to right. What do you have to remember to know that expert 1 is full?
# 2. Count how often each expert was asked, this token included, and compare the count with the capacity.
# 3. A list of `n` counts and a loop over `expert.tolist()`. Or without a loop: `one_hot(expert).cumsum(0)` has the counts, one row per token.


# %%
def route(scores, capacity):
    """The expert of every token, its gate, and whether there was room for it.

    scores (tokens, experts), capacity: the tokens that an expert takes -> (expert (tokens,), gate (tokens,), kept (tokens,) True or False)
    """
    ### BEGIN SOLUTION
    gate, expert = torch.softmax(scores, dim=1).max(dim=1)
    served, kept = [0] * scores.shape[1], []
    for choice in expert.tolist():
        served[choice] += 1
        kept.append(served[choice] <= capacity)
    return expert, gate, torch.tensor(kept)
    ### END SOLUTION


# %% [markdown]
# ### 2b. The balance loss [[modifications.balance, 10 minutes, easy, core]]
#
# An expert that is chosen often learns more, becomes better, and is chosen even more often. So Switch adds a second loss. Two vectors with one number per
# expert are needed: the **share** of the tokens whose first choice it is, dropped or not, and its **mean probability** over all tokens. The balance loss
# is their dot product, scaled so that it is 1 if all experts have the same share and the same mean probability.
#
# By hand, two tokens and two experts with the probabilities (0.9, 0.1) and (0.6, 0.4): the shares are (1, 0), the mean probabilities (0.75, 0.25), the
# dot product is 0.75, and the loss 1.5.
#
# [[checked]]
#
# [[hints]]
# 1. Both vectors are means over the tokens. Means of what? And by which number was the dot product of the example multiplied?
# 2. The share is the mean of rows with a single 1. If everything is even, each entry of both vectors is one divided by the number of experts.
# 3. `F.one_hot(choice, n)` makes those rows; they are integers, so convert them before `.mean(0)`. Scale by the number of experts.


# %%
def balance(scores):
    """How uneven a router is.

    scores (tokens, experts) -> (share (experts,), mean probability (experts,), balance loss)
    """
    ### BEGIN SOLUTION
    p = torch.softmax(scores, dim=1)
    n = scores.shape[1]
    share = F.one_hot(p.argmax(dim=1), n).to(p.dtype).mean(dim=0)
    mean = p.mean(dim=0)
    return share, mean, n * (share @ mean)
    ### END SOLUTION


# %% [markdown]
# ### 2c. What the balance loss does to the scores [[modifications.balance_gradient, 20 minutes, hard, more]]
#
# The shares come from a choice, and a choice has no slope: they are constants. So how can the loss move a router at all? On paper, derive
#
# 1. the slope of the balance loss with respect to each probability $p_{te}$ of expert $e$ for token $t$;
# 2. from it, its gradient with respect to each *score* $z_{te}$, through the softmax of that token.
#
# By hand, one token, two experts, $p = (0.75, 0.25)$ and shares (1, 0): the slopes are (2, 0) and the gradient is (0.375, −0.375). Descent lowers the
# score of the favourite.
#
# [[checked]] The values must be right to five digits.
#
# [[hints]]
# 1. In how many terms of the balance loss does one probability occur, and with which factor? Through how many probabilities of its token does a score
#    influence the loss?
# 2. The mean probability brings a division by the number of tokens. For the scores you need the derivative of a softmax: raising one score raises its own
#    probability and lowers all others.
# 3. $\partial p_j / \partial z_e = p_j\,(1 - p_e)$ if $j = e$, and $-p_j\,p_e$ otherwise. Summed over $j$, a weighted mean of the token's slopes appears;
#    compare each slope with it.


# %%
def balance_gradient(p, share):
    """The slope of the balance loss with respect to the probabilities, and its gradient with respect to the scores.

    p (tokens, experts): rows with the sum 1, share (experts,): constants -> (slope (tokens, experts), gradient (tokens, experts))
    """
    ### BEGIN SOLUTION
    tokens, n = p.shape
    slope = np.broadcast_to(n / tokens * share, (tokens, n))
    return slope, p * (slope - (p * slope).sum(axis=1, keepdims=True))
    ### END SOLUTION


# %% [markdown]
# ### 2d. The layer of experts [[modifications.experts, 30 minutes, hard, core]]
#
# Now the whole sublayer. All tokens of the batch stand in one queue, text after text. An expert takes at most $\lceil f \cdot \text{tokens} / n \rceil$
# of them, where $f$ is the *capacity factor* `factor`. A token's output is what *its* expert, a network like `network` above, computes from it, times its
# gate. A dropped token's output is 0, so on the pathway it is left as it was. Return the outputs, each at the position of its token, the balance loss of
# the router's scores, and the share of the tokens that was dropped.
#
# | key of `layer` | shape |
# |---|---|
# | `router` | (d_model, n): a token times this matrix gives its scores |
# | `inner` | (n, d_model, d_ff) |
# | `outer` | (n, d_ff, d_model) |
#
# [[checked]] You are asked for the reference's values, so make 2a and 2b pass first.
#
# [[hints on the queue]]
# 1. Which shape do 2a and 2b expect of the scores, and what is the shape of `x`?
# 2. Flatten the first two axes, call your two functions, and restore the axes at the end.
# 3. `x.flatten(0, 1)` is the queue, `math.ceil` rounds up, and the share that was dropped is one minus the mean of what 2a calls kept.
#
# [[hints on the outputs]]
# 1. Which tokens does expert 2 read? Where do its results belong?
# 2. Start from zeros. For each expert, find the rows of its tokens, compute their outputs, and write these to the same rows. If you use `index_add`,
#    gradients flow.
# 3. `nonzero` turns a condition into rows; the condition has two parts. Weigh each row of an expert's output with `gate[rows, None]`.


# %%
def experts(x, layer, factor):
    """A mixture of experts, one per token.

    x (batch, time, d_model), layer: router, inner, outer, factor: a number -> (y like x, balance loss, dropped: a number between 0 and 1)
    """
    ### BEGIN SOLUTION
    tokens = x.flatten(0, 1)
    scores = tokens @ layer["router"]
    n = scores.shape[1]
    capacity = math.ceil(factor * len(tokens) / n)
    expert, gate, kept = route(scores, capacity)
    y = torch.zeros_like(tokens)
    for e in range(n):
        mine = ((expert == e) & kept).nonzero()[:, 0]
        made = network(tokens[mine], {"inner": layer["inner"][e], "outer": layer["outer"][e]})
        y = y.index_add(0, mine, gate[mine, None] * made)
    return y.view(x.shape), balance(scores)[2], 1 - kept.double().mean()
    ### END SOLUTION


# %% [markdown]
# ## 3. What it costs
#
# ### 3a. Embeddings, factorised, shared, untied [[modifications.embed, 10 minutes, easy, more]]
#
# The embedding is the largest matrix of a small model. *Factorised* (Lan et al. 2020), each token has a narrow vector in `A`, and one matrix `B`, the
# same for all tokens, widens it to d_model. The softmax needs a score of every word for each vector that leaves the model: its dot product with the
# word's vector. It can be **shared** (it has the embedding's matrices, both of them if it is factorised) or **untied** (it has a matrix `U` of its own,
# which is not factorised).
#
# By hand: $A = \begin{pmatrix} 1 \\ 2 \end{pmatrix}$ and $B = (3 \;\; 4)$. Token 1 has the vector (6, 8), and the hidden vector (1, 1) gets the scores 7
# and 14.
#
# [[checked]]
#
# [[hints]]
# 1. Which of the four combinations is the example? What is the vector of token 0, and how do the scores come from it?
# 2. Choose rows of one matrix first, and widen them only if there is something to widen with. The scores go the same way backwards, or through the matrix
#    of their own.
# 3. A dot product with all words is a product with a transposed matrix. Shared and factorised: `hidden` times the transposed `B`, then times the
#    transposed `A`.


# %%
def embed(tokens, hidden, A, B=None, U=None):
    """The vectors of tokens at the bottom of a model, and the scores of all words at its top.

    tokens (batch, time) ids, hidden (batch, time, d_model), A (vocab, inner), B (inner, d_model) or None: then inner is d_model,
    U (vocab, d_model), or None: shared -> (vectors (batch, time, d_model), scores (batch, time, vocab))
    """
    ### BEGIN SOLUTION
    vectors = A[tokens] if B is None else A[tokens] @ B
    if U is not None:
        return vectors, hidden @ U.T
    narrow = hidden if B is None else hidden @ B.T
    return vectors, narrow @ A.T
    ### END SOLUTION


# %% [markdown]
# ### 3b. Counting [[modifications.costs, 20 minutes, medium, core]]
#
# Count the parameters of a language model, and the multiplications that it needs for *one token*. Additions, activations and softmaxes are not counted,
# nor are norms, which have no parameters here. `sizes` says everything:
#
# | key | meaning |
# |---|---|
# | `vocab`, `d_model`, `d_ff`, `n_layers` | as always |
# | `time` | the positions of a text; each has a learned vector, which is added to the token's |
# | `inner` | the inner width of a factorised embedding, or 0: not factorised |
# | `untied` | True if the softmax has its own matrix, as in 3a |
# | `experts` | how many feed-forward networks each layer has; with more than one, there is a router, and a token is read by one expert |
#
# | part | parameters | multiplications per token |
# |---|---|---|
# | a matrix that a vector is multiplied by | its entries | its entries |
# | looking up a row | the entries of the table | none |
# | attention's projections | queries, keys, values and mix, all square | as matrices |
# | attention's scores and weighted sum | none | the token's query meets the keys of all `time` positions, and their values are weighted: masked ones count as well |
# | a feed-forward network | two matrices | as matrices |
#
# By hand, vocab 10, d_model 2, d_ff 4, one layer, time 3, nothing special: the parameters are $20 + 6 + 16 + 16 = 58$. The multiplications are $16$
# (projections) $+ 12$ (scores and sum) $+ 16$ (network) $+ 20$ (softmax) $= 64$.
#
# [[checked]]
#
# [[hints]]
# 1. Which of the numbers of the example belong to a layer, and which occur once? Which parts have parameters but no multiplications?
# 2. Treat three things in turn: embedding, a layer, softmax. Keep two sums. Experts change the two sums of a layer in different ways.
# 3. A layer has $4 d^2$ for the projections, two matrices of `d_model * d_ff` for each network, and a router with one column per expert. A token
#    uses one of the networks.


# %%
def costs(sizes):
    """(parameters, multiplications per token) of a language model, two integers; sizes: the dictionary described above"""
    ### BEGIN SOLUTION
    d, n, vocab, inner = sizes["d_model"], sizes["experts"], sizes["vocab"], sizes["inner"]
    table, widening = (vocab * inner, inner * d) if inner else (vocab * d, 0)
    router = d * n if n > 1 else 0
    one_network = 2 * d * sizes["d_ff"]
    layer_parameters = 4 * d**2 + router + n * one_network
    layer_products = 4 * d**2 + 2 * sizes["time"] * d + router + one_network
    parameters = table + widening + sizes["time"] * d + sizes["n_layers"] * layer_parameters
    products = widening + sizes["n_layers"] * layer_products
    if sizes["untied"]:
        return parameters + vocab * d, products + vocab * d
    return parameters, products + table + widening
    ### END SOLUTION


# %% [markdown]
# ### 3c. A fair width [[modifications.fair_width, 20 minutes, medium, core]]
#
# A modified model with more parameters may be better *because* it has more. So choose its `d_ff` such that it costs what vanilla costs. `sizes` are
# vanilla's, `change` the entries that the modification changes, `{"experts": 4}` for example, and `which` says what should be equal: 0 for parameters, 1
# for multiplications. Return the `d_ff`, an integer of at least 1, whose costs come closest to vanilla's, the smaller of two that are equally close; and
# by which part of vanilla's costs the result is above them (below: negative). Use your `costs`.
#
# By hand, for the model of 3b, two experts and equal parameters: vanilla has 58. With two experts $d_\text{ff} = 1$ has 54 parameters and $d_\text{ff} =
# 2$ has 62. Both are off by 4, so the answer is 1 and −0.069.
#
# [[checked]]
#
# [[hints]]
# 1. By how much do the parameters of the example grow when d_ff grows by 1? Is that the same for every further step?
# 2. You can search among all widths for the one that is least far off. Or use that costs grow along a straight line, and solve for the width.
# 3. `sizes | change | {"d_ff": width}` is the modified model. With `min(range(1, most), key=…)` the first of equally close widths wins; how large must
#    `most` be?


# %%
def fair_width(sizes, change, which):
    """The width at which a modified model costs what vanilla costs.

    sizes, change: dictionaries as in 3b, which: 0 for parameters, 1 for multiplications -> (d_ff, part by which it is above vanilla)
    """

    ### BEGIN SOLUTION
    def of(d_ff):
        return costs(sizes | change | {"d_ff": d_ff})[which]

    vanilla = costs(sizes)[which]
    exact = 1 + (vanilla - of(1)) / (of(2) - of(1))
    d_ff = max(1, math.ceil(exact - 0.5))
    return d_ff, of(d_ff) / vanilla - 1
    ### END SOLUTION


# %% [markdown]
# ## 4. Is a difference real?
#
# The distribution of $t$ is given. It accepts degrees of freedom that are not integers.


# %%
def two_sided(t, freedom):
    """The probability that Student's t, with so many degrees of freedom, is at least as far from 0 as `t`."""
    high = math.sqrt(math.pi / 2 - math.atan(abs(t) / math.sqrt(freedom)))  # the root of an angle
    u = torch.linspace(0, high, 401, dtype=torch.float64)
    density = 2 * u * torch.sin(u**2) ** (freedom - 1)
    area = float((density[0::2][:-1] + 4 * density[1::2] + density[2::2]).sum()) * high / 400 / 3  # Simpson's rule
    scale = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)) / math.sqrt(math.pi)
    return min(1.0, 2 * scale * area)


def critical(freedom, level=0.05):
    """The t whose two-sided probability is the level: 2.776 for 4 degrees of freedom."""
    low, high = 0.0, 1000.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if two_sided(middle, freedom) > level else (low, middle)
    return low


# %% [markdown]
# ### 4a. Paired seeds [[modifications.paired, 10 minutes, easy, core]]
#
# If two models were trained with the same seeds, their losses come in pairs: the same minibatches, the same luck. What interests us is the difference
# *within* each pair. Return the mean of these differences, first model less second, and half the width of its 95 % interval. You know it from the lecture
# *Training well*.
#
# By hand, (2.1, 2.4, 2.6) and (2.0, 2.2, 2.3): the differences 0.1, 0.2, 0.3 have the mean 0.2 and the standard deviation 0.1. With two degrees of
# freedom the critical $t$ is 4.303, so the half width is $4.303 \cdot 0.1 / \sqrt 3 = 0.248$.
#
# [[checked]]
#
# [[hints]]
# 1. How many numbers does the example take the standard deviation of, and how many degrees of freedom does it have?
# 2. First make one list of differences; the two original lists are no longer needed. Then it is the interval of a mean.
# 3. `stdev(gaps)` divides by one less than their number. The mean's standard error is that over the root of their number, and `critical` gives the
#    factor.


# %%
def paired(x, y):
    """(mean of x less y, half the width of its 95 % interval); x, y: lists of losses, two or more, with the same seeds in the same order"""
    ### BEGIN SOLUTION
    gaps = [a - b for a, b in zip(x, y, strict=True)]
    return fmean(gaps), critical(len(gaps) - 1) * stdev(gaps) / math.sqrt(len(gaps))
    ### END SOLUTION


# %% [markdown]
# ### 4b. Welch's test [[modifications.welch, 15 minutes, medium, core]]
#
# Where seeds are not paired, or a table prints only means and deviations, Welch's test compares two samples whose spreads and sizes may differ. The
# statistic $t$ is in section 3 of the lecture. Its degrees of freedom (Welch 1947) follow from the squared standard errors of the two means, $a =
# s_x^2/n_x$ and $b = s_y^2/n_y$: the square of their sum, divided by the sum of $a^2$ and $b^2$, each over its own sample's degrees of freedom. They are
# rarely an integer; do not round them. If both spreads and both sizes are equal, you should find twice the degrees of freedom of one sample. The p
# value is two-sided.
#
# By hand, (1, 2, 3) and (2, 4, 6, 8): $a = 1/3$, $b = 1.667$, $t = -3 / \sqrt 2 = -2.121$, $4 / (0.0556 + 0.9259) = 4.075$ degrees of freedom, and $p =
# 0.100$.
#
# [[checked]]
#
# [[hints]]
# 1. Check the numbers of the example: by what was the variance of each sample divided, and by what its squared error?
# 2. Name the two squared standard errors; all three results consist of them, the means and the sizes.
# 3. The `variance` of a sample over its length is its squared standard error. The helper above turns $t$ and its degrees of freedom into p, whatever the
#    sign of $t$.


# %%
def welch(x, y):
    """(t, degrees of freedom, two-sided p) of two samples, lists of two numbers or more that are not all equal; t > 0: x has the larger mean"""
    ### BEGIN SOLUTION
    a, b = variance(x) / len(x), variance(y) / len(y)
    t = (fmean(x) - fmean(y)) / math.sqrt(a + b)
    freedom = (a + b) ** 2 / (a**2 / (len(x) - 1) + b**2 / (len(y) - 1))
    return t, freedom, two_sided(t, freedom)
    ### END SOLUTION


# %% [markdown]
# ### 4c. Many tests [[modifications.holm, 15 minutes, medium, core]]
#
# Holm's correction, as in section 3 of the lecture, but for a *list* of p values. Return the corrected values in the order in which the p values were
# given.
#
# By hand, `[0.04, 0.001, 0.03, 0.5]`. The smallest is multiplied by 4, the next by 3, then by 2 and 1:
#
# ```text
# sorted       0.001    0.03    0.04    0.5
# multiplied   0.004    0.09    0.08    0.5
# corrected    0.004    0.09    0.09    0.5        never below an earlier one
# returned     [0.09, 0.004, 0.09, 0.5]
# ```
#
# [[checked]]
#
# [[hints]]
# 1. In which order does the correction work, and in which order are its results wanted?
# 2. Sort the *indices* by their p value. Go through them, remember the largest corrected value so far, and write each result to its own index.
# 3. `sorted` takes a range of indices and a `key`, a function that returns the p value of an index. A probability is never above 1.


# %%
def holm(p):
    """Holm's correction; p: a list of one p value or more -> a list with the corrected ones, in the same order"""
    ### BEGIN SOLUTION
    corrected, highest = [0.0] * len(p), 0.0
    for before, i in enumerate(sorted(range(len(p)), key=lambda i: p[i])):
        highest = max(highest, min(1.0, (len(p) - before) * p[i]))
        corrected[i] = highest
    return corrected
    ### END SOLUTION


# %% [markdown]
# ### 4d. Do two tables agree? [[modifications.rank_correlation, 15 minutes, medium, core]]
#
# Spearman's ρ, from section 6 of the lecture, is the correlation of two lists of *ranks*. The smallest value has rank 1. Equal values share the mean of
# the ranks that they take up together. Return the ranks of `x`, and ρ.
#
# By hand, $x = (30, 10, 20, 20)$ has the ranks $(4, 1, 2.5, 2.5)$: the two twenties take up the ranks 2 and 3. With $y = (5, 6, 7, 8)$, ρ is −0.316.
#
# [[checked]]
#
# [[hints]]
# 1. How many values of the example are below 20, and how many are equal to it, itself included? How does 2.5 follow from these two counts?
# 2. Rank both lists, subtract the mean rank from each, and correlate what is left: the dot product, divided by both lengths.
# 3. Comparing a tensor `v` with `v[:, None]` makes a table; the sums of its rows count. With $k$ equal values, the mean of the ranks that they take up is
#    $(k + 1)/2$ above the number of smaller ones.


# %%
def rank_correlation(x, y):
    """(ranks of x, Spearman's ρ); x, y: lists of the same length, two or more, not all values of a list equal"""

    ### BEGIN SOLUTION
    def ranks(values):
        v = torch.tensor(values, dtype=torch.float64)
        return (v < v[:, None]).sum(1) + ((v == v[:, None]).sum(1) + 1) / 2

    a, b = (r - r.mean() for r in (ranks(x), ranks(y)))
    return ranks(x), a @ b / (a.norm() * b.norm())
    ### END SOLUTION


# %% [markdown]
# ## 5. A friend compares two tables
#
# A friend wants to know how well our table agrees with that of Narang et al. She uses your `rank_correlation`, and looks only at rows that are near the
# baseline in *their* table, because clearly bad rows would carry the correlation. She has sorted each table by its losses, from the best row to the
# worst. Her result is ρ = 1, whatever the columns, and she is about to announce that everything transfers. One line is wrong.
#
# ### 5a. Which line? [[modifications.wrong_line, 10 minutes, medium, more]]
#
# [[listing modifications.agreement]]
#
# Say for each line what it should hold for two tables of three rows, before you run anything. Return the number of the wrong line, as in this listing.
#
# [[checked]] To try the function, copy it into a cell of your own; the check of 5b shows you an input.
#
# [[hints]]
# 1. A correlation needs pairs. What are the pairs here, and which lines make them?
# 2. Write down two small tables whose rows are in *different* orders, and follow the lists.
# 3. A dictionary has an order: the one in which its entries were added. Which list is in which dictionary's order?


# %%
def wrong_line():
    """The number of the one line of the listing that is wrong."""
    ### BEGIN SOLUTION
    return 9
    ### END SOLUTION


# %% [markdown]
# ### 5b. Mend it [[modifications.agreement, 5 minutes, easy, more]]
#
# This is your friend's function. It uses your `rank_correlation`. Change the line, and nothing else.
#
# [[checked]]
#
# [[hints]]
# 1. Compare the two lines that make the lists of losses. In whose order is each?
# 2. Both lists should go through the same rows in the same order.
# 3. The list `rows` has that order, and every row of it is in both tables.


# %%
def agreement(theirs, ours, baseline, within):
    """How far two tables agree on the rows that both have, near the baseline.

    theirs, ours: dictionaries row -> loss, within: the largest distance from the baseline's loss in theirs -> (number of rows, Spearman's ρ)
    """
    ### BEGIN SOLUTION
    near = [row for row in theirs if abs(theirs[row] - theirs[baseline]) <= within]
    rows = [row for row in near if row in ours]
    left = [theirs[row] for row in rows]
    right = [ours[row] for row in rows]
    _, rho = rank_correlation(left, right)
    return len(rows), rho
    ### END SOLUTION


# %% [markdown]
# ## 6. The judge [[modifications.judge, 30 minutes, hard, core]]
#
# Now put the parts together. `trainings` is a list of dictionaries, as they are stored, one for each training that was ever made:
#
# | key | meaning |
# |---|---|
# | `"row"` | the name of the modification, or of the baseline |
# | `"seed"`, `"rate"` | an integer, and the learning rate |
# | `"losses"` | the held-out losses at several times of the training; the final one is the last. *A training that diverged has no such key* |
#
# They are in no particular order, and some were made with other learning rates, to tune them. Only those with the given `rate` count. A row with fewer
# than two losses cannot be tested: leave it out, also from the number of tests. Compare the final losses of each other row with the baseline's by Welch's
# test, and correct for the number of tests. Return three dictionaries with the name of each tested row as key:
#
# - the row's mean final loss less the baseline's;
# - its corrected p;
# - the verdict: 1 if the row is better than the baseline, that is, its mean is lower and the corrected p below 0.05; −1 if it is worse; 0 if that is
#   unclear.
#
# The check compares a dictionary as one row of numbers, its keys in alphabetical order.
#
# [[checked]]
#
# [[hints on the data]]
# 1. Which of the stored trainings must not count, and for which three reasons may a row be left out?
# 2. First make a dictionary from rows to lists of final losses, in one pass over the trainings. Decide about rows after it.
# 3. `setdefault` finds the list of a row, or makes an empty one. Whether a training came to its end, `in` tells: it asks for a key.
#
# [[hints on the tests]]
# 1. How many p values does the correction need at once?
# 2. Make a list of rows and a list of p values in the same order. Correct the list, and give its values back to the rows.
# 3. `dict(zip(rows, corrected))` joins them. The verdict needs two questions: is the p value small, and what is the sign of the difference?


# %%
def judge(trainings, baseline, rate):
    """Every row against the baseline.

    trainings: a list of dictionaries, baseline: the name of a row, rate: a number
    -> three dictionaries by row: (difference of means, corrected p, verdict 1, 0 or -1)
    """
    ### BEGIN SOLUTION
    runs = {}
    for one in trainings:
        if one["rate"] == rate and "losses" in one:
            runs.setdefault(one["row"], []).append(one["losses"][-1])
    rows = [row for row in runs if row != baseline and len(runs[row]) > 1]
    gaps = {row: fmean(runs[row]) - fmean(runs[baseline]) for row in rows}
    corrected = dict(zip(rows, holm([welch(runs[row], runs[baseline])[2] for row in rows]), strict=True))
    verdicts = {row: 0 if corrected[row] >= 0.05 else 1 if gaps[row] < 0 else -1 for row in rows}
    return gaps, corrected, verdicts
    ### END SOLUTION


# %% [markdown]
# ## 7. An experiment: does a router need the balance loss? [[modifications.which_balance, 35 minutes, medium, more]]
#
# Switch trains its experts with a loss that balances them (question 2b). Does a router need it? A small model with your `experts`
# reads three letters of a play and predicts the fourth, with 4 experts and a capacity factor of 1. It is trained twice from the same start: without the
# balance loss, and with 0.2 times the balance loss added to the loss. Four answers are possible:
#
# 1. With the balance loss fewer tokens are dropped, and the held-out loss is higher: the router is kept from choosing the best expert.
# 2. With the balance loss fewer tokens are dropped, and the held-out loss is lower.
# 3. With the balance loss fewer tokens are dropped; whether it changes the held-out loss, these seeds cannot tell.
# 4. Whether the balance loss changes the share of dropped tokens, these seeds cannot tell.
#
# Proceed in this order.
#
# - **Predict.** Set `prediction` to 1, 2, 3 or 4 before you run anything. It is kept as you wrote it, and it need not come true.
# - **Run.** For each seed and each of the two weights of the balance loss, `begin` makes the parameters, and `torch.optim.Adam` moves them with a
#   learning rate of 0.08. Take 15 steps, numbered from 0, each on its own `minibatch`. Then `predict` on all windows of `test`. `table` gets one row
#   per seed, with four numbers: the share of dropped tokens without and with the balance loss, then the held-out loss without and with it (the loss
#   of predicting alone). Set `conclusion = 0` for now and run the check: it says whether your numbers are right. Then run the cell below the check,
#   and look at all five rows.
# - **Conclude.** Set `conclusion` to the answer that *your* five rows support. A difference counts if it has the same sign for every seed, or if your
#   `paired` interval of it does not contain 0.
#
# [[checked]]
#
# [[hints on the run]]
# 1. How many models does one seed need, and what do they have in common? What is added up before the gradients are computed, and what is reported?
# 2. Three loops inside each other: seeds, two weights, steps. An optimiser belongs to one model. Measure without gradients.
# 3. Adam wants `parameters.values()` and the learning rate. In a step: `zero_grad` on the optimiser, `backward` on the sum of the two losses, and `step`.
#    The results of `predict` on `test` become numbers with `float`.
#
# [[hints on the conclusion]]
# 1. Which columns does the first half of each answer compare, and which the second half?
# 2. Look at the signs of the five differences. If they are not all the same, you need an interval.
# 3. Columns as lists: `paired([row[3] for row in table], [row[2] for row in table])`. Does the mean differ from 0 by more than the half width?


# %%
def begin(seed):
    """The parameters of a model with 4 experts, in float64; the same for the same seed."""
    draw = torch.Generator().manual_seed(seed)
    shapes = {"E": (27, 6), "router": (18, 4), "inner": (4, 18, 16), "outer": (4, 16, 18), "V": (18, 27)}
    made = {name: torch.randn(*shape, generator=draw, dtype=torch.float64) for name, shape in shapes.items()}
    made = {name: w if name == "E" else w / w.shape[-2] ** 0.5 for name, w in made.items()}
    made["V"] = made["V"] / 4
    return {name: w.requires_grad_() for name, w in made.items()}


def minibatch(windows, seed, step):
    """The 64 random windows of one step; the same for the same seed and step."""
    draw = torch.Generator().manual_seed(1000 * seed + step)
    return windows[torch.randint(len(windows), (64,), generator=draw)]


def predict(parameters, windows):
    """(loss of predicting the last letter of each window, balance loss, share of dropped tokens); windows (…, 4)"""
    x = parameters["E"][windows[:, :3]].flatten(1)[None]  # one text, a token per window
    y, uneven, dropped = experts(x, parameters, 1.0)
    return F.cross_entropy((x + torch.as_tensor(y))[0] @ parameters["V"], windows[:, 3]), uneven, dropped


# %%
def which_balance(train, test, seeds):
    """A router without and with a balance loss, for several seeds.

    train, test (…, 4) ids, seeds: a list -> (prediction, table (seeds, 4), conclusion)
    """
    ### BEGIN SOLUTION
    prediction = 2
    table = []
    for seed in seeds:
        dropped, losses = [], []
        for weight in (0.0, 0.2):
            parameters = begin(seed)
            optimiser = torch.optim.Adam(parameters.values(), lr=0.08)
            for step in range(15):
                loss, uneven, _ = predict(parameters, minibatch(train, seed, step))
                optimiser.zero_grad()
                (loss + weight * uneven).backward()
                optimiser.step()
            with torch.no_grad():
                loss, _, gone = predict(parameters, test)
            dropped.append(float(gone))
            losses.append(float(loss))
        table.append(dropped + losses)
    conclusion = 3
    return prediction, table, conclusion
    ### END SOLUTION


# %%
show_rows(
    "modifications.which_balance", which_balance, "dropped, without", "dropped, with", "loss, without", "loss, with"
)

# %% [markdown]
# ## Your row of the table
#
# There is nothing to write here but your name. Some rows of the table of Narang et al. were trained again for the course, with three seeds each
# (`python -m lectures.recipes.transfer`; sections 7 and 8 of the lecture). One of these rows is yours. It follows from your name; if you prefer another,
# set `my_row` yourself.

# %%
my_name = "write your name here"

TOOLS = {"costs": costs, "fair_width": fair_width, "paired": paired, "welch": welch, "holm": holm}
TOOLS |= {"rank_correlation": rank_correlation, "judge": judge}
ready = all(passes(f"modifications.{name}", function) for name, function in TOOLS.items())
VANILLA = "Vanilla Transformer"
if ready:
    from lectures.recipes.narang import LENGTHS, RATE, STEPS, THEIRS, ours

    runs = ours()  # row -> its trainings, one for each seed
    rows = [row for row in runs if row != VANILLA]
    my_row = rows[int(hashlib.sha256(my_name.encode()).hexdigest(), 16) % len(rows)]
    # my_row = "GeGLU"
    print(f"{my_name}, your row is “{my_row}”, one of {len(rows)}.")

# %% [markdown]
# **Theirs and ours, by your judge.** The paper prints the mean and standard deviation of five early losses. Any five numbers with these two give the same
# $t$: mean − sd twice, the mean, mean + sd twice. So your `judge` can read their table as well. Our losses are of three tasks, in nats per token.

# %%
SAYS = {1: "better than vanilla", 0: "unclear", -1: "worse than vanilla"}


def losses(row, steps):
    """Our final losses of a row after trainings of this length, one for each seed; none if the row was not trained for it."""
    return [run["final"] for run in ours(steps).get(row, [])]


if ready:
    printed = [
        {"row": row, "seed": seed, "rate": 1.0, "losses": [of["early"] + step * of["sd"]]}
        for row, of in THEIRS.items()
        for seed, step in enumerate((-1, -1, 0, 1, 1))
    ]
    trained_rows = [run["job"] | {"losses": [run["early"], run["final"]]} for of in runs.values() for run in of]
    verdicts = {"theirs": judge(printed, VANILLA, 1.0), "ours": judge(trained_rows, VANILLA, RATE)}
    for name, (gaps, corrected, verdict) in verdicts.items():
        print(
            f"{name:7} {gaps[my_row]:+.4f} nats, p after Holm {corrected[my_row]:.2g} ({len(gaps)} tests): {SAYS[verdict[my_row]]}"
        )
    print("\nours, seed by seed, after trainings of three lengths:")
    for steps in (*LENGTHS, STEPS):
        if mine := losses(my_row, steps):
            gap, half = paired(mine, losses(VANILLA, steps))
            share = gap / fmean(losses(VANILLA, steps))
            print(f"{steps:6,} steps  {gap:+.4f} ± {half:.4f}, {share:+.1%} of vanilla's loss")
    t, freedom, p = welch(losses(my_row, STEPS), losses(VANILLA, STEPS))
    print(f"Welch at {STEPS:,} steps: t = {t:.2f} with {freedom:.1f} degrees of freedom, p = {p:.2g} alone")
    size = runs[my_row][0]["parameters"] / runs[VANILLA][0]["parameters"]
    print(
        f"\nparameters: {size:.2f} times vanilla's in ours, {THEIRS[my_row]['parameters'] / THEIRS[VANILLA]['parameters']:.2f} in theirs"
    )
    final = {row: fmean(losses(row, STEPS)) for row in runs}
    _, rho = rank_correlation([THEIRS[row]["final"] for row in final], list(final.values()))
    print(f"rank correlation of the final losses of {len(final)} rows: {float(rho):.2f}")


# %%
def field_svg(gaps, verdict, mine):
    """All rows from the best to the worst, their difference from vanilla, and the verdicts; the row `mine` is named."""
    order = sorted(gaps, key=lambda row: gaps[row])
    reach = 1.1 * sorted(abs(gap) for gap in gaps.values())[int(0.9 * len(gaps))]
    names = {1: "better", 0: "unclear", -1: "worse"}
    canvas = show.Canvas()
    keys = show.looks(names.values(), ["circle", "ring", "square"], wide=0)
    axes = (
        show.Axis(0, len(order) + 1, "rows, from the best to the worst", ticks={}),
        show.Axis(-reach, reach, "early loss, less vanilla's"),
    )
    plot = show.Plot(canvas, *axes, across=820, down=380, keys=keys, columns=3)
    plot.level(0)
    for place, row in enumerate(order, 1):
        at = max(-reach, min(reach, gaps[row]))  # beyond the frame: at its edge
        plot.marks([place], [at], keys[names[verdict[row]]])
        if row == mine:  # its name is where no other row is
            free, anchor = (0.6 * reach, "start") if place <= len(order) / 2 else (-0.6 * reach, "end")
            plot.stroke(place, min(at, free), max(at, free), keys[names[verdict[row]]])
            x, y = plot.at(place, free)
            words = f"{mine} {gaps[row]:+.3f}".replace("-", "−")
            canvas.text(x, y - 6 if free > 0 else y + 18, words, 16, anchor)
    told = "; ".join(f"{row} {gaps[row]:+.3f} {names[verdict[row]]}" for row in order)
    return canvas.svg(f"Early loss of each row less vanilla's, from the best to the worst, {mine} marked. {told}.")


HTML(field_svg(*verdicts["theirs"][::2], my_row)) if ready else "Come back here when questions 3b to 4d and 6 pass."

# %% [markdown]
# ## Your own training
#
# The same question at the smallest scale: a character-level language model with two layers, trained on Shakespeare from scratch by the next cells. ReZero
# and experts are *yours*. Experts come twice, because "at equal costs" has two meanings: your `fair_width` makes them equal to vanilla in parameters, and
# in multiplications. All models get the same learning rate, which nobody tuned. Training takes about ten seconds in all.

# %%
VOCAB, WIDTH, TIME = 78, 32, 32
PLAIN = {
    "vocab": VOCAB,
    "d_model": WIDTH,
    "d_ff": 96,
    "n_layers": 2,
    "time": TIME,
    "inner": 0,
    "untied": False,
    "experts": 1,
}


def initial(sizes, kind, seed):
    """Random weights; what a vanilla layer adds to the pathway is small at first, and with ReZero nothing."""
    draw = torch.Generator().manual_seed(seed)
    d, d_ff, n = sizes["d_model"], sizes["d_ff"], sizes["experts"]
    shapes = {"query": (d, d), "key": (d, d), "value": (d, d), "mix": (d, d), "inner": (d, d_ff), "outer": (d_ff, d)}
    if n > 1:
        shapes |= {"router": (d, n), "inner": (n, d, d_ff), "outer": (n, d_ff, d)}
    layers = []
    for _ in range(sizes["n_layers"]):
        layer = {name: torch.randn(*shape, generator=draw) / shape[-2] ** 0.5 for name, shape in shapes.items()}
        if kind == "ReZero":
            layer["alpha"] = torch.zeros(())
        else:
            layer |= {name: layer[name] / (2 * sizes["n_layers"]) ** 0.5 for name in ("mix", "outer")}
        layers.append(layer)
    tables = {"A": torch.randn(sizes["vocab"], d, generator=draw) / 10, "at": torch.randn(TIME, d, generator=draw) / 10}
    return tables, layers


def scores_of(model, kind, tokens):
    """(the scores of the next character at every position, the sum of the layers' balance losses)"""
    tables, layers = model
    x, uneven = tables["A"][tokens] + tables["at"], 0.0
    if kind == "ReZero":
        x = rezero(x, layers)
    else:
        for layer in layers:
            x = x + attention(norm(x), layer)
            if "router" in layer:
                y, more, _ = experts(norm(x), layer, 1.25)
                x, uneven = x + y, uneven + more
            else:
                x = x + network(norm(x), layer)
    return norm(x) @ tables["A"].T, uneven


def trained(sizes, kind, seed, rate, steps=120):
    """The held-out losses of a training, one every 20 steps."""
    model = initial(sizes, kind, seed)
    parameters = [w.requires_grad_() for part in (model[0], *model[1]) for w in part.values()]
    optimiser = torch.optim.Adam(parameters, lr=rate)
    falling = torch.optim.lr_scheduler.OneCycleLR(optimiser, rate, total_steps=steps, pct_start=0.15)
    draw, losses = torch.Generator().manual_seed(seed), []
    for step in range(1, steps + 1):
        first = torch.randint(len(text) - TIME, (16, 1), generator=draw)
        batch = text[first + torch.arange(TIME + 1)]
        scores, uneven = scores_of(model, kind, batch[:, :-1])
        loss = F.cross_entropy(scores.transpose(1, 2), batch[:, 1:]) + 0.01 * uneven
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        falling.step()
        if step % 20 == 0:
            with torch.no_grad():
                scores, _ = scores_of(model, kind, held_out[:, :-1])
                losses.append(float(F.cross_entropy(scores.transpose(1, 2), held_out[:, 1:])))
    return losses


trainable = ready and passes("modifications.rezero", rezero) and passes("modifications.experts", experts)
if trainable:
    probe = initial(PLAIN | {"experts": 2}, "experts", 0)[1][0]
    made = experts(torch.randn(1, 4, WIDTH, requires_grad=True), probe, 2.0)[0]
    trainable = torch.is_tensor(made) and made.requires_grad
    if not trainable:
        print("Your `experts` cannot be trained: it has to compute with tensors from beginning to end.")

# %%
RATE = 0.01
curves = {}
if trainable:
    from nlmcore.corpora import load

    plays = load("shakespeare")
    alphabet = sorted(set("".join(plays.texts("train"))))
    number = {character: i for i, character in enumerate(alphabet)}
    text = torch.tensor([number[c] for c in "".join(plays.texts("train"))[:400_000]])
    held_out = torch.tensor([number[c] for c in plays.texts("valid")[0] if c in number])[: 60 * (TIME + 1)].view(60, -1)
    models = {
        VANILLA: (PLAIN, "vanilla"),
        "ReZero": (PLAIN, "ReZero"),
        "experts, equal parameters": (
            PLAIN | {"experts": 4, "d_ff": fair_width(PLAIN, {"experts": 4}, 0)[0]},
            "experts",
        ),
        "experts, equal operations": (
            PLAIN | {"experts": 4, "d_ff": fair_width(PLAIN, {"experts": 4}, 1)[0]},
            "experts",
        ),
    }
    my_trainings = []
    for name, (sizes, kind) in models.items():
        curves[name] = [trained(sizes, kind, seed, RATE) for seed in range(5)]
        my_trainings += [
            {"row": name, "seed": s, "rate": RATE, "losses": found} for s, found in enumerate(curves[name])
        ]
    gaps, corrected, verdict = judge(my_trainings, VANILLA, RATE)
    final = {name: [found[-1] for found in runs] for name, runs in curves.items()}
    for name, (sizes, _) in models.items():
        parameters, products = costs(sizes)
        told = f"{name:26} d_ff {sizes['d_ff']:3}, {parameters:7,} parameters, {products:6,} multiplications: {fmean(final[name]):.3f}"
        if name != VANILLA:
            gap, half = paired(final[name], final[VANILLA])
            told += f"   paired {gap:+.3f} ± {half:.3f}, p after Holm {corrected[name]:.2g}: {SAYS[verdict[name]]}"
        print(told)

# %%
picture = "Come back here when questions 1 to 4 and 6 pass."
if curves:
    ends = "; ".join(f"{name} {min(final[name]):.2f} to {max(final[name]):.2f}" for name in curves)
    picture = HTML(
        show.bands_svg(
            range(20, 121, 20),
            curves,
            x_title="step",
            y_title="held-out loss",
            low=2.7,
            high=3.7,
            columns=2,
            alt=f"Held-out loss against the step, mean and range of five seeds. At the end: {ends}.",
        )
    )
picture

# %% [markdown]
# ## 8. The verdict [[written, 30 minutes, 6 points, core]]
#
# Write a report of about fifteen sentences, with numbers from *your* output.
#
# 1. **Your row.** What does it change, and what do the two tables say about it, theirs and ours? Which test, how many comparisons, which p? Say what
#    "unclear" means if it occurs, and what the length of the training does to the difference.
# 2. **Better at equal what?** At which costs was your row compared in our runs, and which other comparison could turn the verdict?
# 3. **Two other explanations.** Name two explanations for the difference, or for the disagreement of the tables, that these data do not rule out, and
#    for each the run that would.
# 4. **Your own training.** Which of the three modifications does your judge accept? Then change one thing about the training that could be unfair to one
#    of them (the learning rate `RATE`, `steps`, the number of layers, the weight of the balance loss, the initial α …). Say what you expect and why, run
#    it with the same five seeds, and report what happened.
#
# ### BEGIN MARK SCHEME
# Half points are fine. The result earns nothing by itself: a verdict is right if it follows from the student's numbers.
#
# 1. **The row** (1½): what it changes (½); both verdicts with difference, corrected p and number of tests (½); early loss of five runs there, final loss
#    of three seeds here, "unclear" as "these seeds cannot tell", not as "equal", and what happens with the length (½). Paired seeds can show a difference
#    that Welch's test with Holm's correction calls unclear; who says why has understood it.
# 2. **Equal what** (1): the steps, and the parameters of the row relative to vanilla, from the output (½); a comparison that could turn the verdict, with
#    a reason (½).
# 3. **Explanations** (1½): two of: the learning rate was tuned on vanilla alone; 5,400 steps, so what starts fast may still look good; width 48; three
#    small tasks with short sources; other optimiser or first weights; seeds that share their batches. Half of it for the runs that would decide. "A bug"
#    alone earns nothing without a test for it.
# 4. **Own training** (2): verdicts with numbers (½); one change, a direction and a reason before the run (½); the same five seeds for *both* models, with
#    interval or test (½); a conclusion that does not claim more than one size, one text and 120 steps (½). Tuning only the modification and not vanilla
#    is a new unfairness: who does it without saying so loses half a point.
# ### END MARK SCHEME

# %% [markdown]
# My row is *Dynamic convolution*. Instead of attention each token makes its own kernel, with which it averages its neighbours. In their table its early
# loss is 0.221 nats above vanilla's, with a corrected p of 1.4 · 10⁻⁷ among 51 tests: worse. In ours, after 5,400 steps, the final loss is 0.0060 above,
# with p = 0.027 by Welch's test alone and 0.21 after Holm for nine tests: unclear. The paired interval, 0.0060 ± 0.0064, just contains 0. So our three
# seeds cannot tell; they do not say that the rows are equal. In all three seeds the row is behind, as in the paper, but three signs alone prove little.
#
# The length changes the sign. After 600 steps the row is 0.128 ± 0.063 nats *better* than vanilla in pairs, 27 % of vanilla's loss, and after 1,800 steps
# 0.010 ± 0.009 better. Somebody who had stopped at 600 steps would have published a winner.
#
# We compare at equal steps. The row has 1.17 times vanilla's parameters (1.15 in theirs), and a step of it takes longer. At equal time it would get fewer
# steps, which could turn "unclear" into "worse".
#
# First explanation of what is left: the learning rate was tuned on vanilla alone. Both rows at half and at twice the rate, three seeds each, would show
# whether the order depends on it. Second: our answers follow their sources from left to right, so neighbours matter most. A task whose answer is the
# source in reverse should hurt a convolution more, if that is why it starts so well.
#
# In my own training the judge accepts none of the modifications. ReZero is 0.111 ± 0.073 above vanilla in pairs, but its corrected p is 0.087, so the
# judge calls it unclear. Experts are 0.104 ± 0.125 above at equal parameters and 0.032 ± 0.079 above at equal multiplications. I expected that the rate
# of 0.01 is unfair to ReZero: nothing reaches the layers before α has moved, and a larger rate moves α faster. With a rate of 0.02 for both and the same
# five seeds, vanilla has 2.825 and ReZero 2.814; the paired difference is −0.010 ± 0.013. So the disadvantage was one of the learning rate. With one
# size, one text and 120 steps I cannot say more, and certainly not that ReZero is better.

# %% [markdown]
# ---
# **Before you hand in:** *Kernel → Restart Kernel and Run All Cells*. Every check should say what you expect, and
# question 8 should be answered in your own words. Save the notebook under its own name: the grader looks for `modifications.ipynb`.
