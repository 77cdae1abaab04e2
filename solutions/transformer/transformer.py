# %% [markdown]
# # Assignment: a Transformer, and the weights of a real one
#
# You write a whole language model, from its norms to a cache of keys and values, in functions that call each other. Nothing else computes in it.
# Then you load the weights of SmolLM2, a published model with 135 million parameters, into your own code, and it answers your questions. On the
# way you derive a gradient, find a friend's bug, and run two experiments.
#
# ```text
# tokens → embedding → block 0 → block 1 → … → norm → embedding, transposed → logits
#                        │
#                        x + attention(norm(x))       1b, 3a, 3b, 3c
#                        x + feed_forward(norm(x))    1b, 2                4a joins them, 4b stacks them, 4c writes with them
# ```
#
# [[questions]]
#
# [[how it works]]
#
# [[closed]]
# Everything else is open. Each question builds on earlier ones, so call your own functions. Should one of them resist, PyTorch has three of the parts:
# `torch.nn.functional.rms_norm`, `silu` and `scaled_dot_product_attention` (with `enable_gqa=True`).
#
# **Conventions of the whole notebook.** Texts come in a batch: `x` is (batch, time, d_model), and heads are (batch, head, time, d_head). A weight matrix
# is (in, out), so you multiply `x @ W`. There are no biases. Parameters and sizes come in dictionaries, and each function uses what it needs:
#
# | key of a block's `weights` | shape | | key of `sizes` | meaning |
# |---|---|---|---|---|
# | `attention_norm`, `feed_forward_norm` | (d_model,) | | `n_heads` | heads of queries |
# | `query` | (d_model, n_heads · d_head) | | `n_kv_heads` | heads of keys and values |
# | `key`, `value` | (d_model, n_kv_heads · d_head) | | `base` | of the rotations, 10,000.0 for example |
# | `output` | (n_heads · d_head, d_model) | | `eps` | of the norms, $10^{-5}$ for example |
# | `gate`, `up` | (d_model, d_ff) | | | |
# | `down` | (d_ff, d_model) | | | |
#
# You need the lecture *The Transformer language model* and preferably the assignment `self_attention`. Nothing is downloaded.

# %%
import math
import time

import numpy as np
import torch
from IPython.display import HTML

from autograder.check import check, failing, passes, show_rows
from autograder.mine import bring, smollm2
from lectures import show

torch.set_printoptions(precision=3, sci_mode=False)


# %% [markdown]
# ## 1. Two norms
#
# ### 1a. LayerNorm [[transformer.layer_norm, 10 minutes, easy, more]]
#
# LayerNorm (Ba, Kiros & Hinton 2016) takes the vector of each token separately. It shifts the entries so that their mean is 0, divides them by their
# standard deviation, multiplies each dimension by its own learned gain, and adds its own learned shift. The variance is the plain mean of the squared
# deviations, and $\varepsilon$ is added to the *variance*, so that a vector of equal entries gives no division by zero.
#
# By hand, with $\varepsilon = 0$, gain $(1, 1, 2)$ and shift $(0, 0, 10)$: the vector $(1, 4, 7)$ has mean 4 and variance $(9 + 0 + 9) / 3 = 6$.
# Normalised it is $(-1.225, 0, 1.225)$, and the result is $(-1.225, 0, 12.449)$.
#
# [[checked]]
#
# [[hints]]
# 1. The table of shapes says what the last axis is. Over which axis does each mean go, and which axes must still be there for the subtraction?
# 2. Two means suffice: one of the entries, and one of the squares of what is left. The argument `keepdims` keeps an axis of size 1.
# 3. `x.mean(-1, keepdims=True)` can be subtracted from `x`. What is left, squared and averaged in the same way, is the variance. Add `eps` to it before you
#    take the root.


# %%
def layer_norm(x, gain, shift, eps):
    """Mean 0 and variance 1 for the vector of each token, then gain and shift.

    x (batch, time, d_model), gain and shift (d_model,) -> (batch, time, d_model)
    """
    ### BEGIN SOLUTION
    centred = x - x.mean(-1, keepdims=True)
    variance = (centred**2).mean(-1, keepdims=True)
    return centred / np.sqrt(variance + eps) * gain + shift
    ### END SOLUTION


# %% [markdown]
# ### 1b. RMSNorm [[transformer.rms_norm, 15 minutes, easy, core]]
#
# RMSNorm (Zhang & Sennrich 2019) leaves out the mean and the shift: it divides each vector by its root mean square, with $\varepsilon$ inside the root,
# and multiplies by the gain. SmolLM2 uses it, and all later questions call yours.
#
# By hand, with $\varepsilon = 0$ and gain $(1, 10)$: the mean square of $(3, 4)$ is 12.5 and its root 3.536, so the result is $(0.849, 11.314)$.
#
# The same paper also tries a cheaper norm: the mean square is that of the first $k$ entries only, and its root still divides all of them. In the example
# with $k = 1$ the root is 3 and the result $(1, 13.333)$. Your function does this if it gets a `k`; with `k=None` all entries count.
#
# Models often run in half precision, so `x` may be a float16 tensor. The largest float16 is 65,504. What happens to the *square* of an entry of 300, and
# to everything computed from it? Your norm should give the right result to three digits all the same, whatever type it returns.
#
# [[checked]]
#
# [[hints on the norm]]
# 1. Compare with 1a: which of its two means is left, and what is squared now?
# 2. Compute the mean of the squares over the last axis and keep that axis. A slice that ends at `None` ends with the last entry.
# 3. `torch.rsqrt(mean_square + eps)` is one over the root, and `x` times that, times `gain`, is the norm.
#
# [[hints on half precision]]
# 1. Compute $300^2$ and compare it with the largest float16. What is 300 divided by the result?
# 2. Change the type before you square, not after it.
# 3. `wide = x.float()` is in single precision. Use it everywhere below, and return `….to(x.dtype)`.


# %%
def rms_norm(x, gain, eps, k=None):
    """Each token's vector, divided by its root mean square (of the first k entries, if k is given), times the gain.

    x (batch, time, d_model), perhaps in half precision, gain (d_model,) -> (batch, time, d_model)
    """
    ### BEGIN SOLUTION
    wide = x.float()
    mean_square = (wide[..., :k] ** 2).mean(-1, keepdim=True)
    return (wide * torch.rsqrt(mean_square + eps) * gain).to(x.dtype)
    ### END SOLUTION


# %% [markdown]
# ### 1c. Backwards through RMSNorm [[transformer.rms_norm_backward, 20 minutes, hard, more]]
#
# PyTorch differentiates your norm by itself. Once, do it on paper. Take a single vector $x$ with $d$ entries and leave out the gain, so that $y = x / r$,
# where $r$ is the root of the mean square plus $\varepsilon$. The upstream gradient is $\partial L / \partial y$. Derive, and then write down as code:
#
# 1. the slope of the root, $\partial r / \partial x_j$ for every $j$;
# 2. the gradient $\partial L / \partial x_j$ for every $j$. In how many ways does $x_j$ influence the entries of $y$?
#
# By hand, with $\varepsilon = 0$, $x = (3, 4)$ and upstream gradient $(1, 0)$: $r = 3.536$, the slope is $(0.424, 0.566)$ and the gradient
# $(0.181, -0.136)$. That gradient is perpendicular to $x$, as it must be without $\varepsilon$: a longer $x$ in the same direction gives the same $y$.
#
# [[checked]] The values must be right to five digits. Write what you derived: a quotient of small steps is not a derivation.
#
# [[hints]]
# 1. Write $r^2$ as a sum and differentiate both sides with respect to one $x_j$. In the fraction $x_i / r$, which parts depend on $x_j$ if $i = j$, and
#    which if not?
# 2. The quotient rule gives two terms. The first exists only for $i = j$; the second exists for all $i$, so the chain rule sums it over them.
# 3. That sum is a dot product, `upstream @ x`. It multiplies the slope, with a minus and a power of r below it.


# %%
def rms_norm_backward(x, upstream, eps):
    """The slope of the root, and the gradient of the loss with respect to x, for y = x / r.

    x (d,), upstream (d,): the gradient with respect to y -> (slope (d,), gradient (d,))
    """
    ### BEGIN SOLUTION
    r = np.sqrt((x**2).mean() + eps)
    slope = x / (len(x) * r)
    return slope, upstream / r - (upstream @ x) / r**2 * slope
    ### END SOLUTION


# %% [markdown]
# ## 2. A gated feed-forward network [[transformer.feed_forward, 10 minutes, easy, core]]
#
# SwiGLU (Shazeer 2020) has three matrices. `gate` and `up` both read the token's vector. The result of `gate` goes through the activation
# $\mathrm{SiLU}(z) = z \cdot \sigma(z)$, and multiplies the result of `up`, entry by entry. `down` leads the product back to `d_model` dimensions.
#
# By hand, with $d_\text{model} = d_\text{ff} = 1$: for $x = 2$, gate 1, up 3 and down 10, $\mathrm{SiLU}(2) = 2 \cdot 0.881 = 1.762$, the product is
# $1.762 \cdot 6 = 10.57$, and the result is 105.7.
#
# [[checked]]
#
# [[hints]]
# 1. In the example, which of the numbers went through the activation, and which one was only multiplied?
# 2. Write the activation with `torch.sigmoid`. The product of the two hidden vectors is entry by entry.
# 3. `g = x @ weights["gate"]`, then `g * torch.sigmoid(g)` times `x @ weights["up"]`; one product with a matrix is left.


# %%
def feed_forward(x, weights):
    """SwiGLU for every token.

    x (batch, time, d_model), weights: the dictionary of a block -> (batch, time, d_model)
    """
    ### BEGIN SOLUTION
    gate = x @ weights["gate"]
    return (gate * torch.sigmoid(gate) * (x @ weights["up"])) @ weights["down"]
    ### END SOLUTION


# %% [markdown]
# ## 3. Attention that continues
#
# While a model writes, it reads one new token at a time. The keys and values of all earlier tokens are still needed, so they are kept in a **cache** and
# only the new token is computed. Everything in this section therefore has to know how many tokens were read before.
#
# ### 3a. Rotations that start anywhere [[transformer.rotate, 15 minutes, medium, core]]
#
# Rotary positions (Su et al. 2021) rotate queries and keys by angles that grow with their positions. Coordinate $i$ of a head is paired with coordinate
# $i + d_\text{head}/2$, for $i = 0, \dots, d_\text{head}/2 - 1$. The token at position $t$ has its pair $(a, b)$ rotated counterclockwise by the angle
# $t / \mathrm{base}^{2i/d_\text{head}}$. Row 0 of `x` is at position `first`, row 1 at position `first` + 1, and so on.
#
# By hand, with $d_\text{head} = 2$: there is one pair and the angle is the position. The vector (1, 0) becomes $(\cos 5, \sin 5) = (0.28, -0.96)$ at
# position 5, and (0, 1) becomes $(-\sin 5, \cos 5) = (0.96, 0.28)$.
#
# [[before positions.rotary, self_attention.rotate]]
#
# [[checked]]
#
# [[hints]]
# 1. What does (1, 0) become in the example, and what (0, 1)? A general pair $(a, b)$ is $a$ times the one plus $b$ times the other.
# 2. Make the angles first, one row per token and one column per pair. They broadcast over batch and heads.
# 3. `torch.arange(first, first + time)[:, None] / base ** (torch.arange(0, d, 2) / d)` are the angles, `a, b = x.chunk(2, dim=-1)` the halves, and
#    `torch.cat` joins the new halves.


# %%
def rotate(x, first, base):
    """Every row of every head rotated by its position; row 0 is at position `first`.

    x (batch, head, time, d_head), d_head even -> (batch, head, time, d_head), a new tensor
    """
    ### BEGIN SOLUTION
    time, d = x.shape[-2:]
    angle = torch.arange(first, first + time)[:, None] / base ** (torch.arange(0, d, 2) / d)
    cos, sin = angle.cos(), angle.sin()
    a, b = x.chunk(2, dim=-1)
    return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)
    ### END SOLUTION


# %% [markdown]
# ### 3b. Fewer queries than keys [[transformer.attend, 25 minutes, hard, core]]
#
# With a cache, `q` holds the *new* tokens only, and `k` and `v` hold all tokens: the queries belong to the **last** tokens of the text. Each token attends
# to itself and to everything before it. Heads share keys and values in groups of neighbours: with 6 heads and 2 sets, heads 0, 1, 2 read set 0.
# Scores are divided by $\sqrt{d_\text{head}}$. Return the scores as well, as they are before the mask is applied.
#
# By hand: a text of 5 tokens, the first 3 of which were read before. What may the two queries attend to?
#
# ```text
#            key 0   1   2   3   4
# query 0        1   1   1   1   0        it is the token at position 3
# query 1        1   1   1   1   1        it is the token at position 4
# ```
#
# [[before positions.attend, self_attention.grouped_attention]]
#
# [[checked]]
#
# [[hints on the mask]]
# 1. Look at the picture. At which position is the query in its first row, if there are 5 keys and 2 queries?
# 2. The position of query $i$ is $i$ plus the number of keys that are there without a query. Compare it with the positions of the keys.
# 3. `torch.ones(query, key).tril(key - query)` is the picture; masked scores become `-math.inf` before the softmax.
#
# [[hints on the groups]]
# 1. Which heads read set 0 if there are 6 heads and 2 sets? How often is each set needed?
# 2. Repeat each set until there is one for each head, neighbours first. The rest is ordinary attention.
# 3. `k.repeat_interleave(group, dim=1)`, where the group is the number of heads divided by the number of sets.


# %%
def attend(q, k, v):
    """Causal attention of the last tokens of a text to all of it; heads share keys and values.

    q (batch, head, query, d_head), k and v (batch, set, key, d_head), head a multiple of set, key >= query
    -> (output (batch, head, query, d_head), weights (batch, head, query, key), scores (batch, head, query, key))
    """
    ### BEGIN SOLUTION
    group = q.shape[1] // k.shape[1]
    k, v = k.repeat_interleave(group, dim=1), v.repeat_interleave(group, dim=1)
    query, key = q.shape[2], k.shape[2]
    visible = torch.ones(query, key).tril(key - query).bool()
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    weights = torch.softmax(scores.masked_fill(~visible, -math.inf), dim=-1)
    return weights @ v, weights, scores
    ### END SOLUTION


# %% [markdown]
# ### 3c. Attention with a cache [[transformer.attention, 40 minutes, hard, core]]
#
# Now assemble the sublayer. Project `x` to queries, keys and values, and split each into heads: head 0 gets the first `d_head` columns, head 1 the next.
# Rotate what has to be rotated, attend, join the heads in the same order, and mix them with `output`.
#
# The cache has shape (batch, 2, set, time, d_head): index 0 of the second axis holds the keys, index 1 the values. It holds the keys **as they were used**,
# that is, rotated, so that they need no further work. `past` is the cache of all earlier tokens, or None if `x` begins the text. Return the output and
# the cache of *all* tokens, those of `past` first.
#
# Three questions to settle before you write: which of the three projections does the position concern? From which position do the new tokens count?
# What is `d_head`, if `sizes` does not say it and `d_model` need not be a multiple of it?
#
# [[checked]]
#
# [[hints on the heads]]
# 1. In the table of shapes, how many columns does `query` have? And if you know the number of heads?
# 2. Splitting takes two steps: cut the last axis in two, then swap two axes. Joining takes the same two steps backwards.
# 3. `(x @ W).unflatten(-1, (n, -1)).transpose(1, 2)` splits into n heads; `.transpose(1, 2).flatten(2)` joins them.
#
# [[hints on the cache]]
# 1. Read the paragraph about the cache again. Is a key rotated before or after it is put there, and how long is the past?
# 2. The new tokens count from the length of the past. Rotate the new queries and keys, then put the past in front of keys and values.
# 3. `past.shape[3]` is the number of earlier tokens, and `past[:, 0]` are their keys. `torch.cat` along axis 2 joins old and new, and `torch.stack` along
#    axis 1 makes the new cache.


# %%
def attention(x, weights, sizes, past=None):
    """Self-attention of new tokens to the past and to themselves.

    x (batch, time, d_model), weights and sizes as in the tables, past (batch, 2, set, past_time, d_head) or None
    -> (output (batch, time, d_model), cache (batch, 2, set, past_time + time, d_head))
    """

    ### BEGIN SOLUTION
    def heads(y, n):  # (batch, time, n * d_head) -> (batch, n, time, d_head)
        return y.unflatten(-1, (n, -1)).transpose(1, 2)

    first = 0 if past is None else past.shape[3]
    q = rotate(heads(x @ weights["query"], sizes["n_heads"]), first, sizes["base"])
    k = rotate(heads(x @ weights["key"], sizes["n_kv_heads"]), first, sizes["base"])
    v = heads(x @ weights["value"], sizes["n_kv_heads"])
    if past is not None:
        k = torch.cat([past[:, 0], k], dim=2)
        v = torch.cat([past[:, 1], v], dim=2)
    mixed, _, _ = attend(q, k, v)
    return mixed.transpose(1, 2).flatten(2) @ weights["output"], torch.stack([k, v], dim=1)
    ### END SOLUTION


# %% [markdown]
# ## 4. The model
#
# ### 4a. A pre-norm block [[transformer.block, 15 minutes, medium, core]]
#
# A block adds to the residual pathway twice, first attention's result, then the feed-forward network's. Each sublayer reads the pathway through its own
# RMSNorm, and the pathway itself is never normalised. Use your `rms_norm`, `attention` and `feed_forward`, and return what `attention` returned as its
# cache.
#
# By hand: if `output` and `down` contain only zeros, both sublayers add nothing, and the block returns `x` itself.
#
# [[checked]]
#
# [[hints]]
# 1. In the example, `x` comes out as it went in. So what must not happen to the pathway between the sublayers?
# 2. Two sums. The second sublayer reads the result of the first sum, through its own norm.
# 3. `attention` returns two results: the first is added to `x`, the second is the cache that you return. Its first argument is `x`, normalised with the
#    gain of `attention_norm`. The second half has one result and the other gain.


# %%
def block(x, weights, sizes, past=None):
    """Attention, then a gated network, each with its norm in front and added to the pathway.

    x (batch, time, d_model), past (batch, 2, set, past_time, d_head) or None -> (x (batch, time, d_model), cache)
    """
    ### BEGIN SOLUTION
    added, cache = attention(rms_norm(x, weights["attention_norm"], sizes["eps"]), weights, sizes, past)
    x = x + added
    return x + feed_forward(rms_norm(x, weights["feed_forward_norm"], sizes["eps"]), weights), cache
    ### END SOLUTION


# %% [markdown]
# ### 4b. The stack, and tied logits [[transformer.language_model, 35 minutes, hard, core]]
#
# Every language model of this course is one function, `logits, state = model(tokens, state)`, and here is yours. Its `weights` have three keys:
#
# | key | value |
# |---|---|
# | `embedding` | (vocab, d_model), one row per token |
# | `blocks` | a list of dictionaries, one per block, from the first to the last |
# | `norm` | (d_model,), the gain of the RMSNorm after the last block |
#
# Look up the tokens' rows, pass them through all blocks, and normalise the result. The score of a word is the dot product of that vector with the word's
# own row of `embedding`: the output is **tied** to the input, so there is no further matrix. Return the logits at *all* positions. They are scores, not
# probabilities.
#
# The state holds the caches of all blocks, in order: (batch, block, 2, set, time, d_head). `state=None` means that nothing was read before. The law of
# the course holds: a text that is read in pieces, with the state passed on, gets the same logits as the whole text in one call.
#
# [[checked]]
#
# [[hints on the stack]]
# 1. Read the paragraph below the table once more and count the steps. Which one comes between the last block and the dot products?
# 2. An embedding is looked up with the ids as an index. A loop carries one vector per token through the blocks, each with its own weights.
# 3. The embedding, indexed with `tokens`, has shape (batch, time, d_model). After `for number, part in enumerate(weights["blocks"])` come one call of
#    `rms_norm` and one product with a transposed matrix.
#
# [[hints on the state]]
# 1. The shape of the state has one axis more than that of a cache. What is its index?
# 2. Each block gets its own slice of the state, if there is one. Collect what the blocks return, and stack it along the same axis.
# 3. `state[:, number]` is the past of a block, and `torch.stack(caches, dim=1)` the new state.


# %%
def language_model(tokens, weights, sizes, state=None):
    """The scores of the next token at every position, and all that has to be remembered.

    tokens (batch, time) ids, weights with embedding, blocks and norm, state (batch, block, 2, set, past_time, d_head)
    or None -> (logits (batch, time, vocab), state (batch, block, 2, set, past_time + time, d_head))
    """
    ### BEGIN SOLUTION
    x = weights["embedding"][tokens]
    caches = []
    for number, part in enumerate(weights["blocks"]):
        x, cache = block(x, part, sizes, None if state is None else state[:, number])
        caches.append(cache)
    x = rms_norm(x, weights["norm"], sizes["eps"])
    return x @ weights["embedding"].T, torch.stack(caches, dim=1)
    ### END SOLUTION


# %% [markdown]
# ### 4c. Writing with the cache [[transformer.generate, 25 minutes, medium, core]]
#
# Continue a prompt greedily: the next token is the one with the largest logit. Read the prompt in *one* call of your `language_model`, then each new
# token in a call of its own, with the state. (The check counts the work, not the calls.) Stop after `n` tokens, or as soon as the token `end` has been written; `end` belongs to the
# result.
#
# `prompt` is a list of ids, and the text is a batch of one. If a `state` is given, the prompt continues a text that was read before. Return the list of
# new ids, and the state. The token written last has not been read by the model, so the state does not know it yet.
#
# ```text
# prompt 5 8 2,  n = 3        reads 5 8 2 → 9      reads 9 → 4      reads 4 → 9
#                             result [9, 4, 9]; the state has read 5 8 2 9 4, which are 5 tokens
# ```
#
# [[checked]]
#
# [[hints]]
# 1. Count the calls of the model in the example, and compare with the tokens that are written. When is the last of them read?
# 2. The loop has three steps: the model reads what is new, you pick a token, and this token is all that is new next time. Where do you stop?
# 3. `torch.tensor([new])` is a batch of one text. Of its logits you need `[0, -1]`, and `argmax`. After that `new` is a list of one id, and the test
#    for the end has two parts.


# %%
def generate(prompt, weights, sizes, n, end, state=None):
    """Greedy continuation of a prompt, at most n >= 1 tokens, up to and including `end`.

    prompt: a list of ids, state: what was read before it, or None
    -> (written: a list of ids, state (1, block, 2, set, time, d_head): everything but the last written token is read)
    """
    ### BEGIN SOLUTION
    written, new = [], prompt
    while True:
        logits, state = language_model(torch.tensor([new]), weights, sizes, state)
        written.append(int(logits[0, -1].argmax()))
        if len(written) == n or written[-1] == end:
            return written, state
        new = written[-1:]
    ### END SOLUTION


# %% [markdown]
# ## 5. A friend reads a book
#
# A friend measures the mean loss of a language model on a book. The whole book does not fit into memory, so she reads it in pieces of `length` tokens, with
# your `language_model`. Thanks to the state, the result should not depend on `length`. Hers does: with short pieces the loss is higher. The code runs,
# and the numbers look believable. One line is wrong.
#
# ### 5a. Which line? [[transformer.wrong_line, 10 minutes, medium, more]]
#
# [[listing transformer.loss_in_pieces]]
#
# Say for each line what it holds for a text of 7 tokens and `length` 2, before you run anything. Return the number of the wrong line, as in this listing.
#
# [[checked]] You can copy the function into a cell of your own to try it; the check of 5b shows you an input.
#
# [[hints]]
# 1. Why is the loss *higher* for short pieces? What does a model lack that reads the last piece of a book?
# 2. Follow the state through two rounds of the loop. Where is it made, and where is it used?
# 3. Count the arguments of each call, and compare with the function that is called.


# %%
def wrong_line():
    """The number of the one line of the listing that is wrong."""
    ### BEGIN SOLUTION
    return 11
    ### END SOLUTION


# %% [markdown]
# ### 5b. Mend it [[transformer.loss_in_pieces, 5 minutes, easy, more]]
#
# This is your friend's function. Change the line, and nothing else.
#
# [[checked]]
#
# [[hints]]
# 1. With a `length` as long as the text, the listing is right. Which line does something different for the second piece than for the first?
# 2. What your `language_model` returned for one piece, it needs for the next.
# 3. The last argument is missing in a call.


# %%
def loss_in_pieces(tokens, weights, sizes, length):
    """The mean loss of the next token, of texts that are read in pieces as if they were read in one call.

    tokens (batch, time) ids, length: the tokens of a piece; the last piece may be shorter -> loss
    """
    ### BEGIN SOLUTION
    inputs, targets = tokens[:, :-1], tokens[:, 1:]
    state, total, count = None, 0.0, 0
    for begin in range(0, inputs.shape[1], length):
        piece = inputs[:, begin : begin + length]
        wanted = targets[:, begin : begin + length]
        logits, state = language_model(piece, weights, sizes, state)
        log_chances = torch.log_softmax(logits, dim=-1)
        losses = -log_chances.gather(-1, wanted[..., None])[..., 0]
        total += losses.sum()
        count += losses.numel()
    return total / count
    ### END SOLUTION


# %% [markdown]
# ## 6. Weights from somebody else [[transformer.load_block, 25 minutes, medium, core]]
#
# Your model is complete, and now it needs weights. SmolLM2's are in a GGUF file, the format of llama.cpp. Nobody asked you before they chose names,
# shapes and the order of rows, so they have to be translated, one block at a time. `file` is a dictionary of tensors, and block 7 is made of these:
#
# | name in the file | shape | what it is |
# |---|---|---|
# | `blk.7.attn_norm.weight`, `blk.7.ffn_norm.weight` | (d_model,) | gains of the norms before attention and before the network |
# | `blk.7.attn_q.weight`, `blk.7.attn_k.weight`, `blk.7.attn_v.weight` | (out, in) | projections to queries, keys and values |
# | `blk.7.attn_output.weight` | (out, in) | mixes the heads |
# | `blk.7.ffn_gate.weight`, `blk.7.ffn_up.weight`, `blk.7.ffn_down.weight` | (out, in) | the gated network |
#
# There are two traps.
#
# 1. **Transposed.** The file keeps every matrix as (out, in), like `nn.Linear`, and your functions multiply `x @ W`. SmolLM2's `attn_q` is 576 × 576, so
#    PyTorch will not complain if you forget it.
# 2. **Shuffled.** llama.cpp pairs *neighbours* for rotation, coordinate $2i$ with $2i + 1$, and you pair $i$ with $i + d_\text{head}/2$. So the
#    file's rows of queries and keys are in another order, within each head. With $d_\text{head} = 6$, the six rows of a head are the model's rows
#    0, 3, 1, 4, 2, 5. Put them back to 0, 1, 2, 3, 4, 5. Keys have fewer heads than queries, and values are never rotated.
#
# Return a dictionary with the nine keys of the table at the top of this notebook. `file` holds the tensors of all blocks.
#
# [[checked]]
#
# [[hints on the names]]
# 1. Put the two tables, of the file's names and of yours, next to each other. Which of their names is your "output", and which your "up"?
# 2. A dictionary from your names to theirs, and one loop, does all matrices. Treat queries and keys separately.
# 3. `file[f"blk.{number}.{name}.weight"].T` for every matrix that is not shuffled; the norms need no transposition.
#
# [[hints on the order]]
# 1. Write down the rows of the file for one head with $d_\text{head} = 6$. Where are the model's rows 0, 1 and 2, and where are 3, 4 and 5?
# 2. Rows 0, 2, 4 of the file are the first half and rows 1, 3, 5 the second. View the rows of a head as a table of pairs, and transpose it.
# 3. `weight.unflatten(0, (n, -1, 2))` is (head, pair, 2, in). Swap axes 1 and 2, and `flatten(0, 2)` gives the rows in your order.


# %%
def load_block(file, number, n_heads, n_kv_heads):
    """The weights of one block of a GGUF file, under our names, as (in, out), rows of a head in our order.

    file: a dictionary of tensors by name -> a dictionary with attention_norm, query, key, value, output,
    feed_forward_norm, gate, up and down
    """
    ### BEGIN SOLUTION
    names = {"value": "attn_v", "output": "attn_output", "gate": "ffn_gate", "up": "ffn_up", "down": "ffn_down"}
    loaded = {ours: file[f"blk.{number}.{theirs}.weight"].T for ours, theirs in names.items()}
    loaded["attention_norm"] = file[f"blk.{number}.attn_norm.weight"]
    loaded["feed_forward_norm"] = file[f"blk.{number}.ffn_norm.weight"]
    for ours, theirs, n in (("query", "attn_q", n_heads), ("key", "attn_k", n_kv_heads)):
        pairs = file[f"blk.{number}.{theirs}.weight"].unflatten(0, (n, -1, 2))  # (head, pair, 2, in)
        loaded[ours] = pairs.transpose(1, 2).flatten(0, 2).T
    return loaded
    ### END SOLUTION


# %% [markdown]
# ## Your code is SmolLM2
#
# In the next cell `smollm2` opens the file and calls *your* `load_block` 30 times. Then *your* `language_model` reads the start of a sentence, and its logits are
# compared with those of the course's own implementation. There is nothing to write here. Run it when 4c and 6 pass; it takes a few seconds.

# %%
MINE = {
    "attention": attention,
    "block": block,
    "language_model": language_model,
    "generate": generate,
    "load_block": load_block,
}
SIZES = {"n_heads": 9, "n_kv_heads": 3, "base": 100_000.0, "eps": 1e-5}
start = "The capital of France is"
smollm2_weights, picture = None, "<p>Come back here when questions 3c to 6 pass.</p>"

if all(passes(f"transformer.{name}", function) for name, function in MINE.items()):
    smollm2_weights, tokenizer, logits = smollm2(load_block, language_model, SIZES, start)
    chances, words = torch.softmax(logits[0, -1].float(), dim=-1).topk(6)
    picture = show.bar_list_svg(
        chances.tolist(),
        [repr(tokenizer.decode([word])) for word in words.tolist()],
        title=f"After “{start}”, your model expects",
    )
HTML(picture)

# %% [markdown]
# Now ask it something. The answer comes from your code alone: `generate` reads your question in one call, then one token per call. The second question
# continues from the *state* of the first, so nothing is read twice. Only the state can tell the model who "him" is.

# %%
question = "Who wrote Hamlet?"
another = "Name another play by him."


def say(new, state=None, n=40):
    """Let your model continue, print what it says, and return the tokens and the state."""
    began = time.perf_counter()
    with torch.no_grad():
        written, state = generate(new, smollm2_weights, SIZES, n, tokenizer.eos, state)
    seconds = time.perf_counter() - began
    print(f"SmolLM2: {tokenizer.decode(written, skip_special=True)}")
    print(
        f"         ({len(new)} tokens read, {len(written)} written in {seconds:.1f} s; the state has read {state.shape[4]})"
    )
    return written, state


if smollm2_weights is not None:
    print(f"You:     {question}")
    written, state = say(tokenizer.chat([{"role": "user", "content": question}]))
    turn = f"\n<|im_start|>user\n{another}<|im_end|>\n<|im_start|>assistant\n"
    print(f"You:     {another}")
    written, state = say(written[-1:] + tokenizer.encode(turn, allow_special=True), state)

# %% [markdown]
# Ask your own questions. A model of this size invents a lot, so check what it says.

# %% [markdown]
# ## 7. An experiment: how the pathway grows [[transformer.pathway, 25 minutes, medium, more]]
#
# Why do trainings of deep models begin with smaller matrices? Your `block` can tell, with random weights. The size of the pathway is the root mean square
# of all entries of `x`. It is about 1 before the first block. How large is it after 4 blocks, and after 16? GPT-2 (Radford et al. 2019) multiplies the
# two matrices that write to the pathway, `output` and `down`, by $1/\sqrt{2n}$ at the beginning, where $n$ is the number of blocks. What does that
# change? Four answers are possible:
#
# 1. Each sublayer reads through a norm, so the size stays about the same, whether the matrices are scaled or not.
# 2. 16 blocks give about four times the size of 4 blocks; scaled, about the same size.
# 3. 16 blocks give about twice the size of 4 blocks; scaled, about the same size.
# 4. 16 blocks give about twice the size of 4 blocks; scaled, 16 blocks give clearly less than 4 blocks.
#
# Proceed in this order.
#
# - **Predict.** Set `prediction` to 1, 2, 3 or 4 before you run anything. It is kept as you wrote it, and it need not come true.
# - **Run.** For each seed, `random_start` gives you an `x`, 16 blocks and sizes. `rms` gets one row per seed, with four numbers: after the first 4
#   blocks; after 16; after the first 4, scaled with $n = 4$; after 16, scaled with $n = 16$. Set `conclusion = 0` for now and run the check: it says
#   whether your numbers are right. Then run the cell below the check, and look at all five rows.
# - **Conclude.** Set `conclusion` to the answer that *your* five rows support. "About the same" means that neither is larger than the other by a third.
#
# [[checked]]
#
# [[hints on the run]]
# 1. How many paths through blocks does one seed need, and with which `x` does each begin?
# 2. You need loops over seeds, over the two ways, over the two depths and over blocks. A scaled block is a new dictionary with two other entries.
# 3. `part | {"output": factor * part["output"], …}` is a changed copy of a dictionary, and `x.pow(2).mean().sqrt()` the size.
#
# [[hints on the conclusion]]
# 1. Divide the second column by the first, and the fourth by the third, for each seed.
# 2. How does the length of a sum grow with the number of vectors if all point in the same direction, and how if they point in random directions?
# 3. The variances of independent additions add up. Four times as many make the variance four times as large; and its root?


# %%
def random_start(seed, width):
    """(x (1, 12, width), 16 random blocks, sizes): the same for the same seed."""
    numbers = torch.Generator().manual_seed(seed)

    def matrix(rows, columns):
        return torch.randn(rows, columns, generator=numbers) / rows**0.5

    shapes = {
        "query": (1, 1),
        "key": (1, 0.5),
        "value": (1, 0.5),
        "output": (1, 1),
        "gate": (1, 2),
        "up": (1, 2),
        "down": (2, 1),
    }
    x = torch.randn(1, 12, width, generator=numbers)
    blocks = [{name: matrix(int(a * width), int(b * width)) for name, (a, b) in shapes.items()} for _ in range(16)]
    gains = {"attention_norm": torch.ones(width), "feed_forward_norm": torch.ones(width)}
    return x, [gains | part for part in blocks], {"n_heads": 4, "n_kv_heads": 2, "base": 10_000.0, "eps": 1e-5}


# %%
def pathway(width, seeds):
    """The size of the pathway after 4 and 16 random blocks, and the same with scaled matrices, for several seeds.

    width: d_model, seeds: a list -> (prediction, rms (seeds, 4), conclusion)
    """
    ### BEGIN SOLUTION
    prediction = 1
    rms = []
    for seed in seeds:
        row = []
        for scaled in (False, True):
            for n in (4, 16):
                x, blocks, sizes = random_start(seed, width)
                factor = (2 * n) ** -0.5 if scaled else 1.0
                for part in blocks[:n]:
                    changed = part | {"output": factor * part["output"], "down": factor * part["down"]}
                    x, _ = block(x, changed, sizes)
                row.append(x.pow(2).mean().sqrt())
        rms.append(row)
    conclusion = 3
    return prediction, rms, conclusion
    ### END SOLUTION


# %%
show_rows("transformer.pathway", pathway, "4 blocks", "16 blocks", "4, scaled", "16, scaled")

# %% [markdown]
# ## 8. Break it [[written, 25 minutes, 6 points, core]]
#
# You own every line of a working language model, so you can find out what each line is for. The next cell measures your model's mean loss per token on a
# short text, once as it is and once with a change. Run **two** experiments of your own: change the sizes (`base`, `eps`), the weights
# (leave out blocks, swap two of them, set gains to 1), or a function of yours in a copy (`repeat` for `repeat_interleave`, a norm left out, positions
# that restart). Write down what you expect *before* you run each one.
#
# Then write about ten sentences: what did you change, what did you expect and why, what did you measure, and what explains the difference? Report numbers.
# At least one of your experiments needs a control: a change of a similar size that should *not* matter, or matter less.
#
# ### BEGIN MARK SCHEME
# Six points; half points are fine. The result need not be the expected one.
#
# 1. **Two experiments** (2): each is described so that it could be repeated, with the loss before and after. Half of it for changes that are described
#    vaguely.
# 2. **Expectation** (1): stated before the result, with a reason from the architecture.
# 3. **Explanation** (2): a mechanism that fits the numbers, for example: without its last norm the logits change only by a factor per token, because
#    normalising is scaling, so the order of the words survives, but the loss does not; with another base, near tokens are rotated almost as before and
#    far ones are not; leaving out one block in the middle hurts little, because every block only adds to the pathway, whereas the first one changes the
#    vectors that all others were trained to read. Half a point for "the model was trained with it" without a mechanism.
# 4. **Control** (1): a comparison that could have come out differently, for example block 15 left out against block 0, or the base changed by 1 %
#    against a factor of 10. One text of about 60 tokens is little evidence; an answer that says so may make up for a weak control.
# ### END MARK SCHEME

# %%
TEXT = (
    "The moon is the only natural satellite of the earth. It always turns the same side towards us, because it rotates once in the time that it"
    " needs for one orbit. Without the moon there would be hardly any tides, and the nights would be much darker than they are."
)


def mean_loss(weights, sizes, text=TEXT, model=None):
    """The mean loss per token of your model, or of a changed copy of it, on a text."""
    tokens = torch.tensor([tokenizer.encode(text)])
    with torch.no_grad():
        logits, _ = (model or language_model)(tokens[:, :-1], weights, sizes)
    return -torch.log_softmax(logits[0].float(), -1).gather(1, tokens[0, 1:, None]).mean().item()


if smollm2_weights is not None:
    print(f"as it is:               {mean_loss(smollm2_weights, SIZES):.3f}")
    print(f"last gains all 1:       {mean_loss(smollm2_weights | {'norm': torch.ones(576)}, SIZES):.3f}")

# %%
# Your experiments.

# %% [markdown]
# I left out one block at a time. A block only adds to the pathway, so I expected that the model survives without a block in the middle, and that the
# first one matters most: it gets bare word vectors, and all later blocks were trained to read what it adds. The blocks 10, 15 and 20 are the control,
# because a change of the same size is made there.
#
# ```python
# for left_out in (0, 10, 15, 20, 29):
#     kept = [part for number, part in enumerate(smollm2_weights["blocks"]) if number != left_out]
#     print(left_out, mean_loss(smollm2_weights | {"blocks": kept}, SIZES))
# print(mean_loss(smollm2_weights, SIZES | {"base": 1000.0}))
# ```
#
# Without block 0 the loss rises from 2.82 to 11.72, above ln 49,152 = 10.80, the loss of a uniform guess. Without block 10, 15 or 20 it is 3.15, 3.19 and
# 2.83. So the number of the block decides, not the number of parameters that are gone. Without block 29 it is 4.37: its output is read directly by the
# last norm and the embedding, and no later block can make up for it.
#
# Second, I rotated with base 1,000 instead of 100,000. Nearby tokens are hardly affected in the first pairs, which have the same angles whatever the base
# is, so I expected damage, but no collapse. The loss is 3.52. The slow pairs turn much faster than in training, so a distance of 30 tokens looks
# like a distance that the heads know under another angle. My text has about 60 tokens and is a single one, so small differences should not be trusted.

# %% [markdown]
# ---
# **Before you hand in:** *Kernel → Restart Kernel and Run All Cells*. Every check should say what you expect, and
# question 8 should be answered in your own words. Save the notebook under its own name: the grader looks for `transformer.ipynb`.
