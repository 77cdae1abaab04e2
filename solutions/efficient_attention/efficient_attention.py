# %% [markdown]
# # Assignment: attention that costs less
#
# In plain attention every token scores every other one. You build the ways around that: masks that leave most pairs out, a softmax that never sees
# a whole row, keys that are mixed, a state that never grows, and a cache that forgets. At the end a small model of the course and SmolLM2, a published
# one, read through *your* cache. You measure how much quality a small cache costs, and repair a model that writes nonsense with four tokens.
#
# ```text
# who sees whom        1a Longformer's mask, 1b BigBird's            →  2b only where the mask allows
# no whole row         2a a softmax in chunks                        →  2b
# no pairs at all      3a Linformer, 3b linear attention             →  6  which memory finds a needle?
# a cache that forgets 7a a ring, 7b in order, 7c decoding           →  the models at the end
# ```
#
# [[questions]]
#
# [[how it works]]
#
# [[closed]]
# Everything else is open, including `torch.softmax`. If you need a function from an earlier question, call yours.
#
# You need the lecture *Cheaper attention*. Nothing is downloaded.
#
# **Conventions.** Several heads come as `q`, `k` and `v` of shape (head, time, d). Scores are divided by $\sqrt d$. In a mask, True = may attend. All
# results have the type of the inputs, float32 or float64: `torch.zeros(…)` is float32 unless you say `dtype=q.dtype`.

# %%
import copy
import math
import time

import numpy as np
import torch
from IPython.display import HTML
from numpy.lib.stride_tricks import sliding_window_view

from autograder.check import check, failing, passes, show_rows
from autograder.mine import own
from lectures import show
from nlmcore.positions import rotary

torch.set_printoptions(precision=3, sci_mode=False)
torch.set_num_threads(1)  # so that times can be compared


# %% [markdown]
# ## 1. Who sees whom
#
# ### 1a. Longformer's mask [[efficient_attention.longformer_mask, 15 minutes, easy, core]]
#
# In Longformer (Beltagy et al. 2020) a token sees a **window**: itself and `window` tokens on either side. With a **dilation** of 3 these are not the
# nearest tokens but every third one, so that the window reaches three times as far for the same price. A few **global** tokens, given as a list of
# positions, see everything, and everything sees them.
#
# By hand: 6 tokens, `window=1`, `dilation=2`, token 0 global:
#
# ```text
#            key 0   1   2   3   4   5
# query 0        1   1   1   1   1   1
#       1        1   1   0   1   0   0
#       2        1   0   1   0   1   0
#       3        1   1   0   1   0   1
#       4        1   0   1   0   1   0
#       5        1   0   0   1   0   1
# ```
#
# [[checked]]
#
# [[hints]]
# 1. In the row of query 3, how far away is each key that it sees, and what do these distances have in common?
# 2. Make a table of all distances, without their signs. The mask is two conditions on the table, and then some rows and columns are switched on.
# 3. One condition uses the remainder `% dilation`, the other a largest distance. A list of positions can be an index of rows, and of columns.


# %%
def longformer_mask(time, window, dilation, everywhere):
    """True where a query may attend to a key: a dilated window to both sides, and global tokens.

    time, window, dilation: integers, everywhere: a list of positions -> mask (time, time), boolean: query, key
    """
    ### BEGIN SOLUTION
    position = torch.arange(time)
    apart = (position - position.unsqueeze(1)).abs()
    mask = (apart <= window * dilation) & (apart % dilation == 0)
    mask[everywhere, :] = True
    mask[:, everywhere] = True
    return mask
    ### END SOLUTION


# %% [markdown]
# ### 1b. BigBird's mask [[efficient_attention.bigbird_mask, 25 minutes, hard, more]]
#
# BigBird (Zaheer et al. 2020) thinks in **blocks** of `block` neighbouring tokens, because processors like blocks. If the text does not divide evenly,
# the last block is shorter. All tokens of a block see the same:
#
# - their own block and the neighbouring block on either side;
# - the first `n_global` blocks, which see everything themselves;
# - `n_random` further blocks, sampled without repetition from those that they would not see otherwise; all of those if there are fewer.
#
# By hand: 6 blocks, one global (G), neighbours (N), and one random block for every block that is not global:
#
# ```text
#         keys of block 0   1   2   3   4   5
# queries of block 0    G   G   G   G   G   G
#                  1    G   N   N   .   .   .      and one of 3, 4, 5
#                  2    G   N   N   N   .   .      and one of 4, 5
#                  3    G   .   N   N   N   .      and one of 1, 5
#                  4    G   .   .   N   N   N      and one of 1, 2
#                  5    G   .   .   .   N   N      and one of 1, 2, 3
# ```
#
# All randomness comes from `seed`: the same seed gives the same mask, another seed another one. Which blocks a seed samples is up to you.
#
# [[checked]] An honest answer fails less often than once in a million checks.
#
# [[hints on the blocks]]
# 1. How many rows does the picture need, and how many rows does the mask of a text of 600 tokens with blocks of 100 need?
# 2. Make the small mask, of blocks, first. Then enlarge it: each token looks up the row and the column of its block.
# 3. `torch.arange(time) // block` is the block of each token. If that is `b`, then `small[b][:, b]` is the large mask.
#
# [[hints on the random blocks]]
# 1. Which entries of a row may be sampled? They are the dots of the picture.
# 2. Shuffle the numbers of the blocks that a row does not see, with a generator of your own, and take the first few.
# 3. `torch.randperm(n, generator=g)` shuffles n numbers, after `g = torch.Generator().manual_seed(seed)`. Make `g` once, not once per row.


# %%
def bigbird_mask(time, block, n_global, n_random, seed):
    """True where a query may attend to a key: neighbouring blocks, global blocks and random blocks.

    five integers -> mask (time, time), boolean: query, key
    """
    ### BEGIN SOLUTION
    draws = torch.Generator().manual_seed(seed)
    block_of = torch.arange(time) // block
    number = torch.arange(int(block_of[-1]) + 1)
    seen = (number - number.unsqueeze(1)).abs() <= 1
    seen[:n_global, :] = True
    seen[:, :n_global] = True
    for row in range(n_global, len(seen)):
        unseen = torch.nonzero(~seen[row]).flatten()
        sampled = torch.randperm(len(unseen), generator=draws)[:n_random]
        seen[row, unseen[sampled]] = True
    return seen[block_of][:, block_of]
    ### END SOLUTION


# %% [markdown]
# Your masks, drawn. How many of the 2,304 pairs does each leave?

# %%
picture = "<p>Come back here when questions 1a and 1b pass.</p>"
if all(passes(f"efficient_attention.{f.__name__}", f) for f in (longformer_mask, bigbird_mask)):
    masks = {
        "window": longformer_mask(48, 4, 1, []),
        "dilated": longformer_mask(48, 4, 3, []),
        "token 0 global": longformer_mask(48, 4, 1, [0]),
        "BigBird": bigbird_mask(48, 4, 1, 1, 0),
    }
    canvas, told = show.Canvas(), []
    for i, (name, mask) in enumerate(masks.items()):
        mask = torch.as_tensor(mask)
        told.append(f"{name}: {int(mask.sum()):,} pairs")
        canvas.text(215 * i, 18, name, 16, bold=True)
        canvas.image(torch.where(mask, -1.0, math.nan), 215 * i, 28, 190, 190)
        canvas.text(215 * i, 242, told[-1].partition(": ")[2], 16)
    picture = canvas.svg(f"Four masks of 48 queries, the rows, and 48 keys. {'; '.join(told)}.")
HTML(picture)

# %% [markdown]
# ## 2. Only what the mask allows
#
# A mask saves nothing as long as all scores are computed and most of them are thrown away. To save, you have to work in blocks, and the softmax has to
# work although no row of scores is ever complete.
#
# ### 2a. A softmax in chunks [[efficient_attention.absorb, 30 minutes, hard, core]]
#
# The keys of a text arrive in chunks, and each chunk is forgotten after you have used it. This is the idea of FlashAttention (Dao et al. 2022). For each
# query you keep three things: the **maximum** of its scores so far, the **total** of the exponentials of its scores, each relative to that maximum, and
# **mixed**, the sum of the values with the same exponentials as weights. At the end, `mixed` divided by `total` is the output of attention.
#
# What makes it work: if a later chunk contains a larger score, everything that was summed so far is relative to the wrong maximum. By which factor is it
# too large?
#
# By hand, one query: the first chunk has the scores 0 and $\ln 3$. The maximum is $\ln 3 = 1.099$, the exponentials relative to it are $\tfrac13$ and
# 1, and the total is $\tfrac43$. The second chunk has the score $\ln 6$, which is the new maximum. What was $\tfrac43$ now counts half of that, so the
# total is $\tfrac23 + 1 = \tfrac53$.
#
# `mask` says which keys of the chunk each query may see. A query may see *none* of them. If it has seen no key at all so far, its maximum is $-\infty$,
# its total is 0 and its `mixed` is 0; nowhere may there be a NaN.
#
# [[checked]]
#
# [[hints on the new maximum]]
# 1. In the example, what became of the first two exponentials when the maximum rose from $\ln 3$ to $\ln 6$?
# 2. The new maximum is the larger one of the old maximum and of that of the chunk. The old total and the old `mixed` get one factor per query.
# 3. The factor is `torch.exp(old_maximum - new_maximum)`. The scores of the chunk need no factor: subtract the new maximum before you exponentiate them.
#
# [[hints on seeing nothing]]
# 1. What is $-\infty$ minus $-\infty$, and in which queries does your code compute that?
# 2. Where the new maximum is $-\infty$ there is nothing to subtract: use another number there, but still return $-\infty$.
# 3. `torch.where` can put a 0 wherever `new.isinf()`, and the result can be subtracted everywhere. Masked scores are `-math.inf`, and their exponential
#    is 0.


# %%
def absorb(state, q, k, v, mask):
    """Read one more chunk of keys and values.

    state: None before the first chunk, then what the previous call returned; q (head, query, d), k (head, key, d),
    v (head, key, d_v), mask (query, key) -> (maximum (head, query), total (head, query), mixed (head, query, d_v))
    """
    ### BEGIN SOLUTION
    scores = (q @ k.mT / math.sqrt(q.shape[-1])).masked_fill(~mask, -math.inf)
    if state is None:
        nothing = torch.zeros_like(scores[..., 0])
        state = nothing - math.inf, nothing, nothing[..., None] * v[:, :1]
    maximum, total, mixed = state
    new = torch.maximum(maximum, scores.amax(-1))
    base = torch.where(new.isinf(), 0.0, new)
    kept = torch.exp(maximum - base)
    weights = torch.exp(scores - base[..., None])
    return new, total * kept + weights.sum(-1), mixed * kept[..., None] + weights @ v
    ### END SOLUTION


# %% [markdown]
# ### 2b. Only the blocks that are needed [[efficient_attention.block_attention, 30 minutes, hard, core]]
#
# Cut the queries and the keys into blocks of `block` tokens; the last ones may be shorter. Look at each pair of a block of queries and a block of keys:
# if the mask allows nothing there, skip it, without touching its keys and values. From all others compute all scores, mask those that are not
# allowed, and absorb them. The output is that of attention with the whole mask. A query that may see nothing at all gets zeros.
#
# Return the output, and how many scores you computed *per head*, masked ones included.
#
# By hand: 4 tokens, blocks of 2 and a causal mask. Three of the four pairs of blocks contain something that is allowed, so 12 scores are computed, and
# 10 of them are used.
#
# Blocks that nobody sees may hold anything, even `inf` and `nan`, as memory does that was reserved and never filled. If you touch them, you notice.
#
# [[checked]] The multiplications of matrix products are counted, including those inside PyTorch's own attention. The longest text of the check has a
# few dozen tokens.
#
# [[hints]]
# 1. How many pairs of blocks does a text of 5 blocks have, and which of your functions does the work for one pair?
# 2. Two loops, one over the blocks of queries, one over the blocks of keys. Each block of queries has its own state, which begins with None.
# 3. With `rows = slice(i, i + block)` and `columns` likewise, `mask[rows, columns]` is the mask of a pair: `.any()` says if it is needed, `.numel()`
#    how many scores it has.
#
# <details><summary>Stuck because of 2a?</summary>
#
# Without `absorb`, you can gather for each block of queries the keys of all blocks that it needs, with `torch.cat`, and apply `torch.softmax` to them.
# </details>


# %%
def block_attention(q, k, v, mask, block):
    """Attention under a mask, block by block; pairs of blocks without an allowed pair of tokens are skipped.

    q (head, query, d), k (head, key, d), v (head, key, d_v), mask (query, key), block: the size of a block
    -> (output (head, query, d_v), computed: the number of scores per head)
    """
    ### BEGIN SOLUTION
    computed = 0
    output = q.new_zeros(*q.shape[:2], v.shape[2])
    for top in range(0, q.shape[1], block):
        rows, state = slice(top, top + block), None
        for left in range(0, k.shape[1], block):
            columns = slice(left, left + block)
            part = mask[rows, columns]
            if part.any():
                state = absorb(state, q[:, rows], k[:, columns], v[:, columns], part)
                computed += part.numel()
        if state is not None:
            _, total, mixed = state
            output[:, rows] = mixed / total.clamp(min=0.5)[..., None]  # whoever sees a key has a total of 1 or more
    return output, computed
    ### END SOLUTION


# %% [markdown]
# ## 3. No pairs at all
#
# ### 3a. Linformer [[efficient_attention.linformer, 15 minutes, medium, core]]
#
# Linformer (Wang et al. 2020) mixes the keys of a whole text into a few before anybody asks: row 3 of the learned matrix `E` says how much of each
# position goes into mixed key 3. `F` does the same for the values. Then each query attends to the mixed keys, without any mask.
#
# `E` and `F` have one column per position of the *longest* possible text. Of a shorter batch only the first columns are used. Texts of a batch have
# different `lengths`, and what comes after the end of a text is padding, which holds arbitrary numbers. Padding must not get into the mixture, and the
# output at padding is zero. There is one head here, and the batch comes first.
#
# By hand: two tokens, $E = (0.5, 0.5)$ and $F = (1, 1)$, so there is one mixed key, which gets all the weight. Each output is the sum of both values.
# If the second token is padding, the first output is the first value, and the second output is 0.
#
# [[checked]]
#
# [[hints]]
# 1. In the example with padding, what has to happen to the second token before anything is mixed?
# 2. Set the keys and values of padding to 0. After that the mixture is one product for the keys and one for the values.
# 3. `torch.arange(time) < lengths[:, None]` says which tokens are real, (batch, time). Cut both matrices to `[:, :time]`.


# %%
def linformer(q, k, v, E, F, lengths):
    """Attention to mixed keys and values.

    q and k (batch, time, d), v (batch, time, d_v), E and F (mixed, longest) with longest >= time, lengths (batch,)
    -> output (batch, time, d_v), zero at padding
    """
    ### BEGIN SOLUTION
    longest = k.shape[1]
    real = (torch.arange(longest) < lengths.unsqueeze(1)).unsqueeze(2)
    mixed_keys = E[:, :longest] @ k.masked_fill(~real, 0.0)
    mixed_values = F[:, :longest] @ v.masked_fill(~real, 0.0)
    weights = torch.softmax(q @ mixed_keys.mT / math.sqrt(q.shape[-1]), dim=-1)
    return (weights @ mixed_values).masked_fill(~real, 0.0)
    ### END SOLUTION


# %% [markdown]
# ### 3b. A state that never grows [[efficient_attention.linear_attention, 25 minutes, medium, core]]
#
# If the weight of a key were simply the dot product of query and key, without exponential and softmax, nobody would have to keep the keys. The sum over
# all earlier tokens could be computed once, before the query is known. That is linear attention (Katharopoulos et al. 2020). To keep weights positive,
# queries and keys are first sent through a **feature map** with positive results. Here that is done: all entries of `q` and `k` are positive.
#
# So the weight of a token is the dot product of its key with the query, divided by the sum of these products over the query's own token and all earlier
# ones. There is no $\sqrt d$. Rearrange the sums so that everything a later token needs is in two tensors, the **state**: a dictionary with `matrix`
# (head, d, d_v), the sum of all outer products of a key and its value, and `total` (head, d), the sum of all keys. Return the outputs at all positions and
# the state after the last one. `state=None` means that nothing was read before.
#
# By hand, with $d = d_v = 1$: keys 1 and 3, values 10 and 20. The first output is 10, the second is $(1 \cdot 10 + 3 \cdot 20) / (1 + 3) = 17.5$,
# whatever the queries are. The state after it is the matrix 70 and the total 4.
#
# [[checked]]
#
# [[hints]]
# 1. Write down the output of token 2 as a fraction of two sums. What can you factor out of both, because it is the same in all terms?
# 2. Go through the text token by token: first the token's key and value enter the two sums, then its query reads them.
# 3. `torch.einsum("hd,he->hde", key, value)` are the outer products of a token, and `"hd,hde->he"` reads the matrix with a query. The second sum gives the
#    denominator. Do not change the given state in place: `a = a + b`, not `a += b`.


# %%
def linear_attention(q, k, v, state=None):
    """Causal attention with weights q · k and a state of constant size.

    q and k (head, time, d), all positive, v (head, time, d_v), state: a dictionary with matrix and total, or None
    -> (output (head, time, d_v), state after the last token)
    """
    ### BEGIN SOLUTION
    matrix = torch.einsum("htd,hte->htde", k, v).cumsum(1)
    total = k.cumsum(1)
    if state is not None:
        matrix = matrix + state["matrix"][:, None]
        total = total + state["total"][:, None]
    summed = torch.einsum("htd,htde->hte", q, matrix)
    output = summed / (q * total).sum(-1, keepdim=True)
    return output, {"matrix": matrix[:, -1], "total": total[:, -1]}
    ### END SOLUTION


# %% [markdown]
# ### What it costs, measured
#
# One head with 32 dimensions, on one core of your machine. Full attention is computed as it is written, with all its scores. Where does each of
# yours begin to be faster, and by which factor does each grow when the text becomes four times as long? There is nothing to write here.

# %%
MINE = (longformer_mask, absorb, block_attention, linformer, linear_attention)
if all(passes(f"efficient_attention.{f.__name__}", f) for f in MINE):

    def full_attention(q, k, v):
        return torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), dim=-1) @ v

    def seconds(function, *arguments):
        begins = time.perf_counter()
        function(*arguments)
        return time.perf_counter() - begins

    print("tokens    full    window of 2 · 64, in blocks    Linformer, 64 mixed keys    linear")
    for n in (256, 1024, 4096):
        q, k, v = (torch.rand(1, n, 32) for _ in range(3))
        window, E = longformer_mask(n, 64, 1, []), torch.randn(64, n) / n**0.5
        taken = [
            seconds(full_attention, q, k, v),
            seconds(block_attention, q, k, v, window, 64),
            seconds(linformer, q, k, v, E, E, torch.tensor([n])),
            seconds(linear_attention, q, k, v),
        ]
        print(f"{n:6}  {taken[0]:6.3f} s{taken[1]:22.3f} s{taken[2]:26.3f} s{taken[3]:13.3f} s")


# %% [markdown]
# ## 4. What does it save? [[efficient_attention.savings, 20 minutes, medium, more]]
#
# Derive three formulas on paper, then write them down as code, with nothing but the symbols and without a loop.
#
# A model writes a text token by token. Each token attends to itself and to all earlier ones; with a window of $w$ it attends to the last $w$ tokens only,
# itself included, or to all of them as long as there are fewer.
#
# 1. How many scores does a text of $n \ge w$ tokens need with the window, from its first token to its last?
# 2. How long must a text be for the window to save the fraction $p$ of all scores that full attention needs? Give the length as a real number, not rounded.
#
# An encoder reads $n$ tokens with one head of $d$ dimensions. Full attention needs $n^2 d$ multiplications for the scores and $n^2 d$ for the weighted
# sums.
#
# 3. Linformer also has to mix keys and values, with matrices $E$ and $F$ of $k$ rows. From which length $n$ does full attention need $f$ times as many
#    multiplications as Linformer?
#
# By hand: a text of 5 tokens with $w = 2$ needs $1 + 2 + 2 + 2 + 2 = 9$ scores instead of 15, so the window saves the fraction 0.4. Your second formula
# must therefore give 5 for $w = 2$ and $p = 0.4$.
#
# [[checked]] The values must be right to five digits.
#
# [[hints]]
# 1. Which tokens of the example attend to fewer than $w$ tokens, and how many scores are missing because of them? In the third part, count four products.
# 2. The second part says that the first formula equals a fraction of a triangular number. That is a quadratic equation in $n$; of its two solutions one is
#    shorter than the window.
# 3. Full attention needs $n (n + 1) / 2$ scores. If $a = (1 - p) / 2$, the equation is $a n^2 + (a - w) n + w (w - 1) / 2 = 0$. Mixing the keys costs
#    $k n d$, as much as the scores.


# %%
def savings(n, w, p, k, d, f):
    """Scores with a window; the length at which it saves the fraction p; the length at which Linformer is f times cheaper.

    numbers: n >= w, 0 < p < 1 -> (scores, length, linformer)
    """
    ### BEGIN SOLUTION
    scores = w * n - w * (w - 1) / 2
    a = (1 - p) / 2
    length = (w - a + math.sqrt((w - a) ** 2 - 2 * a * w * (w - 1))) / (2 * a)
    linformer = 2 * k * f
    return scores, length, linformer
    ### END SOLUTION


# %% [markdown]
# ## 5. Too good to be true
#
# A friend computes causal attention with a window without any mask of pairs. She gives each token a row of its own with the `window` keys that end with
# itself. `sliding_window_view(x, window, axis=0)` makes such rows without copying: entry $t$ holds the rows $t$ to $t + \text{window} - 1$ of `x`, as its
# last axis. She adds zeros, so that the first tokens have a row as well. Her model trains, its training loss is wonderfully low, and what it writes is nonsense.
# One line is wrong.
#
# ### 5a. Which line? [[efficient_attention.wrong_line, 10 minutes, medium, more]]
#
# [[listing efficient_attention.band_attention]]
#
# Write down for a text of 4 tokens and a window of 2 which tokens are in each row, before you run anything. Return the number of the wrong line, as in this
# listing.
#
# [[checked]] You can copy the function into a cell of your own to try it; the check of 5b shows you an input.
#
# [[hints]]
# 1. What can a model know whose training loss is too good, and which it does not know when it writes?
# 2. Change the last token of a text and look at which outputs change. Then do the same with its key only, and with its value only.
# 3. `np.pad(x, ((a, b), (0, 0)))` adds a rows of zeros before the first one and b after the last one.


# %%
def wrong_line():
    """The number of the one line of the listing that is wrong."""
    ### BEGIN SOLUTION
    return 8
    ### END SOLUTION


# %% [markdown]
# ### 5b. Mend it [[efficient_attention.band_attention, 5 minutes, easy, more]]
#
# This is your friend's function. Change the line, and nothing else.
#
# [[checked]]
#
# [[hints]]
# 1. Entry $t$ of one of the two arrays should hold values of the same tokens as entry $t$ of the other.
# 2. The rows of a token end with the token itself, so the zeros belong in front of the text.
# 3. Compare the two lines with `np.pad`, number by number.


# %%
def band_attention(q, k, v, window):
    """Causal attention of one head: each token attends to the `window` tokens that end with itself.

    q and k (time, d), v (time, d_v), window at least 2 -> output (time, d_v)
    """
    ### BEGIN SOLUTION
    length, d = q.shape
    near_keys = sliding_window_view(np.pad(k, ((window - 1, 0), (0, 0))), window, axis=0)
    near_values = sliding_window_view(np.pad(v, ((window - 1, 0), (0, 0))), window, axis=0)
    scores = np.einsum("td,tdw->tw", q, near_keys) / math.sqrt(d)
    back = np.arange(window)[::-1]
    exists = back <= np.arange(length)[:, None]
    seen = np.where(exists, scores, -math.inf)
    weights = np.exp(seen - seen.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    return np.einsum("tw,tdw->td", weights, near_values)
    ### END SOLUTION


# %% [markdown]
# ## 6. An experiment: which memory finds a needle? [[efficient_attention.which_memory, 35 minutes, hard, more]]
#
# `haystack` makes a text of random keys and values from a **seed**. Then every token asks for one earlier token, `distance` positions back: its query is
# twice that token's key. Full attention would answer with that token's value. Can a window of 16 tokens do it, and can a linear state, which keeps no
# token at all? Its feature map is `features`: random positive features, whose dot products are *on average* those exponentials of scores that the softmax
# uses (Choromanski et al. 2021). More features come closer to this average, and need a larger state.
#
# | memory | numbers that it keeps |
# |---|---|
# | the cache of a whole text of 96 tokens | 96 · (16 + 16) = 3,072 |
# | a window of 16 tokens | 512 |
# | the linear state with 16 features | 16 · (16 + 1) = 272 |
# | the linear state with 256 features | 4,352 |
#
# `found` says which part of the needles is found: the value nearest to the output must be the needle's. Only the second half of the text is asked. Four
# answers are possible:
#
# 1. Both memories fade: each of them finds near needles (4 positions back) more often than far ones (half a text back).
# 2. Only the window depends on the distance. With 256 features the linear state finds at least one and a half times as many needles as with 16.
# 3. Only the window depends on the distance. More features do not help the linear state.
# 4. With 256 features, and a state larger than the cache of the whole text, linear attention finds far needles about as often as the window finds near
#    ones.
#
# Proceed in this order.
#
# - **Predict.** Set `prediction` to 1, 2, 3 or 4 before you run anything. It is kept as you wrote it, and it need not come true.
# - **Run.** `shares` gets one row per seed with six numbers: the window, near and far; 16 features, near and far; 256 features, near and far. The
#   window is your `longformer_mask` without its upper half (`.tril()`), in your `block_attention` with blocks of 16. For the linear state send
#   queries and keys through `features` with the row's seed. Set `conclusion = 0` for now and run the check: it says whether your numbers are right.
#   Then run the cell below the check, and look at all five rows.
# - **Conclude.** Set `conclusion` to the answer that *your* five rows support. A difference counts if it has the same sign for every seed, or if it is
#   larger than chance explains: the 95 % interval of the mean difference (Student's t: 2.78 standard errors to each side) does not contain 0.
#
# [[checked]]
#
# [[hints on the run]]
# 1. For which of the six numbers do you need new queries, and for which only another memory?
# 2. Loop over seeds, then over the three memories and the two distances. Only the queries change with the distance; only queries and keys go through the
#    feature map, values do not.
# 3. `2 * k.roll(distance, 1)` are the queries. A causal window of 16 tokens, itself included, has `window=15`. Both functions return a pair, and you need
#    its first part.
#
# [[hints on the conclusion]]
# 1. Compare the fifth and the sixth column, seed by seed. Is one of them larger in every row?
# 2. Which of the answers name differences that you can see in all five rows?
# 3. Five differences $x$ have the interval $\bar x \pm 2.78\, s / \sqrt 5$, where $s$ is their standard deviation. `torch.std` computes it.


# %%
def haystack(n, seed):
    """(keys (1, n, 16), values (1, n, 16)), random; all keys have the same length. The same for the same seed."""
    numbers = torch.Generator().manual_seed(seed)
    keys, values = (torch.randn(1, n, 16, generator=numbers, dtype=torch.float64) for _ in range(2))
    return 4 * keys / keys.norm(dim=-1, keepdim=True), values


def features(x, count, seed):
    """Random positive features (1, time, count) of queries or keys x (1, time, 16)."""
    numbers = torch.Generator().manual_seed(seed)
    directions = torch.randn(16, count, generator=numbers, dtype=torch.float64)
    x = x / 16**0.25
    return torch.exp(x @ directions - (x**2).sum(-1, keepdim=True) / 2)


def found(output, values, distance):
    """The part of the questions in the second half of the text whose needle is found."""
    asking = torch.arange(values.shape[1] // 2, values.shape[1])
    nearest = torch.cdist(torch.as_tensor(output)[0, asking].double(), values[0]).argmin(-1)
    return (nearest == asking - distance).double().mean().item()


# %%
def which_memory(n, seeds):
    """The part of the needles that three memories find, near and far, for several seeds.

    n: the tokens of a text, even, seeds: a list -> (prediction, shares (seeds, 6), conclusion)
    """
    ### BEGIN SOLUTION
    prediction = 1
    window = longformer_mask(n, 15, 1, []).tril()
    shares = []
    for seed in seeds:
        k, v = haystack(n, seed)
        row = []
        for count in (0, 16, 256):
            for distance in (4, n // 2):
                q = 2 * k.roll(distance, 1)
                if count == 0:
                    output, _ = block_attention(q, k, v, window, 16)
                else:
                    output, _ = linear_attention(features(q, count, seed), features(k, count, seed), v)
                row.append(found(output, v, distance))
        shares.append(row)
    conclusion = 2
    return prediction, shares, conclusion
    ### END SOLUTION


# %%
show_rows(
    "efficient_attention.which_memory",
    which_memory,
    "window, near",
    "window, far",
    "16, near",
    "16, far",
    "256, near",
    "256, far",
)

# %% [markdown]
# ## 7. A cache that forgets
#
# A model that writes keeps the keys and values of everything it has read. A **windowed cache** keeps the last `window` tokens only, in a fixed piece of
# memory, so that a text may be as long as you like. Trained models often park attention on the very first tokens, the **attention sinks** (Xiao et al.
# 2024), so a cache may keep the first `sinks` tokens for ever.
#
# ### 7a. A ring of slots [[efficient_attention.remember, 25 minutes, medium, core]]
#
# The cache is a dictionary: `keys` and `values` have shape (head, slot, d), and `read` is the number of tokens read so far. The first `sinks` slots are
# for the first `sinks` tokens of the text, which stay there for ever. The other slots are a **ring**: the following tokens fill them in turn, and when
# the last slot is taken, the next token overwrites the oldest one of the ring. Slots that were never filled hold zeros.
#
# `k` and `v` are the keys and values of one or more new tokens, perhaps of more than there are slots. Return the new cache as a dictionary with the
# same three keys. The old one must be unchanged, because somebody may want to continue from it again.
#
# By hand: 4 slots, 1 sink. After 6 tokens the slots hold the tokens 0, 4, 5, 3.
#
# [[checked]]
#
# [[hints]]
# 1. Continue the example: which slot do tokens 6, 7 and 8 go to? And in which slot was token 3 before?
# 2. The slot of a token depends on the token's position in the text alone: one rule for sinks, and one rule with a remainder for the ring.
# 3. The ring has `slots - sinks` slots, and its first token is at position `sinks`. Go through the new tokens from first to last, and write into copies
#    made with `.clone()`.


# %%
def remember(cache, k, v, sinks):
    """The cache after one or more new tokens.

    cache: keys (head, slot, d), values (head, slot, d_v), read; k (head, time, d), v (head, time, d_v), slot > sinks
    -> a new dictionary with keys, values and read
    """
    ### BEGIN SOLUTION
    keys, values, read = cache["keys"].clone(), cache["values"].clone(), cache["read"]
    ring = keys.shape[1] - sinks
    for new in range(k.shape[1]):
        slot = read if read < sinks else sinks + (read - sinks) % ring
        keys[:, slot], values[:, slot] = k[:, new], v[:, new]
        read += 1
    return {"keys": keys, "values": values, "read": read}
    ### END SOLUTION


# %% [markdown]
# ### 7b. In the order of the text [[efficient_attention.in_order, 15 minutes, medium, core]]
#
# Return the keys and values that the cache holds, in the order in which they were read: first the sinks, then the ring from its oldest token to its newest.
# Slots that were never filled are left out.
#
# By hand: the slots that hold tokens 0, 4, 5, 3 of the example become 0, 3, 4, 5. After 2 tokens only slots 0 and 1 are returned.
#
# [[checked]]
#
# [[hints]]
# 1. In the example, which slot holds the oldest token of the ring, and which slot would the next token overwrite?
# 2. The ring is cut in two at the slot that comes next, and its two parts are swapped. The sinks stay where they are.
# 3. With as many tokens read as slots or fewer, the first `read` slots are the answer. Otherwise the next slot of the ring is `(read - sinks) % ring`,
#    counted from the ring's first slot.


# %%
def in_order(cache, sinks):
    """What the cache holds, oldest first.

    cache: keys (head, slot, d), values (head, slot, d_v), read -> (keys (head, held, d), values (head, held, d_v))
    """
    ### BEGIN SOLUTION
    slots, read = cache["keys"].shape[1], cache["read"]
    order = torch.arange(min(read, slots))
    if read > slots:
        order = torch.cat([order[:sinks], order[sinks:].roll(-((read - sinks) % (slots - sinks)))])
    return cache["keys"][:, order], cache["values"][:, order]
    ### END SOLUTION


# %% [markdown]
# ### 7c. One more token [[efficient_attention.decode, 20 minutes, medium, core]]
#
# Now one step of a model that writes. The new token's key and value go into the cache. Then its query attends to everything that the cache holds, itself
# included.
#
# Models with rotary positions were trained on texts of limited length, and fail at positions that they have never seen. A windowed cache avoids such
# positions: positions are counted *in the cache*, not in the text. The oldest token that it holds is at position 0, the next one at 1, and so on, and
# the new token, which is the last one, is where the counting ends. As the positions of a token change from step to step, keys are kept **as they are**
# and rotated each time they are read. `rotated` is given, and calls the `rotate` that you wrote in the assignment `transformer` if
# your library has it. Values are never rotated.
#
# By hand: after token 5 the example's cache holds the tokens 0, 3, 4, 5. Their keys are rotated as positions 0, 1, 2, 3, and so is the query of token
# 5, at position 3.
#
# [[checked]]
#
# [[hints]]
# 1. In the example, which of your two functions comes first, and how many keys does the query see?
# 2. Remember, put in order, rotate, attend. The last position is one less than the number of keys.
# 3. If `keys` are in order, `rotated(keys, 0, base)` are their rotations. The query is a text of one token that begins at `keys.shape[1] - 1`.


# %%
@own("transformer.rotate")
def rotate(x, first, base):
    """Rotary positions: the rows of x (batch, head, time, d) are at the positions first, first + 1, …"""
    return rotary(x, torch.arange(first, first + x.shape[2]), base)


def rotated(x, first, base):
    """The same for x (head, time, d)."""
    return rotate(x[None], first, base)[0]


# %%
def decode(q, k, v, cache, sinks, base):
    """Attention of one new token to what a windowed cache holds.

    q and k (head, 1, d), not rotated, v (head, 1, d_v), cache as in 7a -> (output (head, 1, d_v), the new cache)
    """
    ### BEGIN SOLUTION
    cache = remember(cache, k, v, sinks)
    keys, values = in_order(cache, sinks)
    query = rotated(q, keys.shape[1] - 1, base)
    scores = query @ rotated(keys, 0, base).mT / math.sqrt(q.shape[-1])
    return torch.softmax(scores, dim=-1) @ values, cache
    ### END SOLUTION


# %% [markdown]
# ## Quality against cost, for real
#
# The next cell puts *your* `decode` into every attention layer of a copy of a trained model. The copy reads one token per call, and remembers only
# what your cache holds. Several texts are read at once: the heads of all of them together are the heads of your cache. There is nothing to write here.

# %%
CACHE = (remember, in_order, decode)
ready = all(passes(f"efficient_attention.{f.__name__}", f) for f in CACHE)


def with_my_cache(model, window, sinks):
    """The same model, with the same weights, except that every attention layer decodes with your cache, which is empty at first."""
    weights = {id(weight): weight for weight in [*model.parameters(), *model.buffers()]}
    model = copy.deepcopy(model, weights)  # a separate model, but no weight is stored twice
    for layer in model.layers:
        attention = layer.attention
        attention.memory = None

        def forward(x, state=None, attention=attention):
            parts = (attention.query(x), attention.key(x), attention.value(x))
            parts = [part.unflatten(-1, (-1, attention.d_head)).transpose(1, 2) for part in parts]
            shared = attention.n_heads // attention.n_kv_heads
            parts[1:] = [part.repeat_interleave(shared, 1) for part in parts[1:]]
            q, k, v = (part.flatten(0, 1) for part in parts)  # the heads of all texts
            if attention.memory is None:
                empty = torch.zeros(len(q), window + sinks, attention.d_head)
                attention.memory = {"keys": empty, "values": empty, "read": 0}
            output, attention.memory = decode(q, k, v, attention.memory, sinks, attention.positions.base)
            heads = torch.as_tensor(output).unflatten(0, (len(x), -1))
            return attention.output(heads.transpose(1, 2).flatten(2)), None

        attention.forward = forward
    return model


def read_one(model, tokens):
    """The logits after one more token of each text; tokens (batch,)."""
    with torch.no_grad():
        x = model.embed(tokens[:, None])
        for layer in model.layers:
            x, _ = layer(x)
        return model.output(model.final_norm(x))[:, 0]


# %% [markdown]
# **A model of the course.** `char_gpt` writes Shakespeare letter by letter. It was trained with windows of 128 letters. It reads pieces of a test play
# through smaller and larger caches, and you see what that costs in bits per character, over the second half of each piece.

# %%
picture = HTML("<p>Come back here when questions 7a to 7c pass.</p>")
if ready:
    from lectures.trained import checkpoint
    from nlmcore.corpora import load

    char_gpt, letters, _ = checkpoint("char_gpt")
    play = load("shakespeare").texts("test")[0]
    n, windows = 288, (2, 8, 32, 128, 192)
    pieces = torch.tensor([letters.encode(play[start : start + n + 1]) for start in range(2_000, 14_000, 2_000)])

    def bits_per_character(window, sinks):
        """The mean over the second half of all pieces, and the seconds that reading took."""
        reader = with_my_cache(char_gpt, window, sinks)
        begins, bits = time.perf_counter(), []
        for t in range(n):
            chances = torch.log_softmax(read_one(reader, pieces[:, t]), -1)
            bits.append(-chances.gather(1, pieces[:, t + 1, None]).mean() / math.log(2))
        return torch.stack(bits[n // 2 :]).mean().item(), time.perf_counter() - begins

    measured = {}
    print("window   sinks   numbers kept   bits per character   seconds")
    for window, sinks in [(w, 0) for w in windows] + [(4, 4), (28, 4)]:
        measured[window, sinks], taken = bits_per_character(window, sinks)
        kept = 2 * char_gpt.config.d_model * char_gpt.config.n_layers * (window + sinks)
        print(f"{window:6}{sinks:8}{kept:15,}{measured[window, sinks]:21.3f}{taken:10.1f}")
    bits = [measured[window, 0] for window in windows]
    picture = show.curves(
        windows,
        {"char_gpt through your cache, no sinks": bits},
        x_title="window, tokens",
        y_title="bits per character",
        title="Quality against the size of the cache",
        log_x=True,
        alt="Bits per character against the window: "
        + ", ".join(f"{value:.2f} at {window}" for window, value in zip(windows, bits, strict=True)),
    )
picture

# %% [markdown]
# **A published model.** SmolLM2 was trained with full attention. It reads the beginning of a story through a cache of 24 tokens and continues it, first
# with a plain window, then with 20 tokens and 4 sinks, which cost the same. The beginning is longer than the cache.

# %%
beginning = (
    "The old lighthouse keeper had lived alone on the island for thirty years. Every evening he climbed the stairs, lit the"
    " lamp and wrote down the ships that passed. One night in November"
)


def continued(window, sinks, n=24):
    """What SmolLM2 writes through your cache, and the mean loss of the beginning's last 16 tokens, in bits."""
    reader = with_my_cache(smollm2_model, window, sinks)
    first, *others = tokenizer.encode(beginning)
    logits, losses, written = read_one(reader, torch.tensor([first])), [], []
    for token in others:
        losses.append(-torch.log_softmax(logits, -1)[0, token].item() / math.log(2))
        logits = read_one(reader, torch.tensor([token]))
    for _ in range(n):
        written.append(int(logits.argmax()))
        logits = read_one(reader, torch.tensor(written[-1:]))
    return tokenizer.decode(written), sum(losses[-16:]) / 16


smollm2_model = None
if ready:
    from nlmcore.pretrained import smollm2

    smollm2_model, tokenizer = smollm2()
    print(f"{beginning} …\n")
    for window, sinks in ((24, 0), (20, 4)):
        text, bits = continued(window, sinks)
        print(f"window {window}, sinks {sinks}, {bits:.1f} bits per token: …{text}\n")

# %% [markdown]
# Try other windows, other numbers of sinks and a story of your own.

# %% [markdown]
# ## 8. What does a small cache cost? [[written, 30 minutes, 6 points, core]]
#
# You saw two models. One hardly suffers from a small window, gains nothing from sinks, and fails with a *larger* cache than it was trained with. The
# other one falls apart when its first tokens leave the window.
#
# Choose **one** question about quality and cost, write down what you expect and why, and measure it with your functions. For example: how many sinks
# does SmolLM2 need? Must the sinks be the *first* tokens, or would tokens 4 to 7 do? Does the answer hold for other texts? Which window would you give
# `char_gpt` if each doubling of the cache had to earn 0.02 bits? At which length does your `block_attention` overtake full attention, and does that
# agree with the number of scores that it computes?
#
# Then report in ten to fifteen sentences: the question, what you expected, how you measured (texts, lengths, repetitions), the numbers, what they show,
# and what they do not show. Use more than one text or seed, and compare with something that could have come out differently.
#
# ### BEGIN MARK SCHEME
# Six points; half points are fine. The result need not be the expected one.
#
# 1. **Question and expectation** (1): the question is narrow enough to be answered; the expectation was stated with a reason (sinks collect the weight
#    that no token deserves; a window of w in L layers still passes news on over L · w tokens; positions beyond training were never rotated to).
# 2. **Method** (2): it can be repeated: model, texts, lengths, windows, sinks, what was averaged. At least three texts or seeds, with the spread. Half
#    of it for one text.
# 3. **Numbers and a rival** (2): quality *and* cost are reported (bits, and numbers kept, scores or seconds). There is a comparison at equal cost: 24 +
#    0 with 20 + 4, or four later tokens instead of the first four.
# 4. **What it shows** (1): a conclusion that the numbers support, and a limit: one model, one kind of text, short texts; seconds in Python are not
#    those of a fused kernel; small differences within the spread are not interpreted.
# ### END MARK SCHEME

# %%
# Your measurements.

# %% [markdown]
# My question: must the sinks be the first tokens of *this* text? A sink collects weight that no token deserves, so I expected that its words do not
# matter, only its place. I took five texts of 36 to 43 tokens of my own and measured the bits per token over the last 16 tokens of each, always with 24
# slots for SmolLM2. Four ways have the same cost: a window of 24; 20 and the text's own first 4; 20 and the first 4 tokens of another text, read before
# this one; 20 and 4 full stops. The fifth way is a cache that holds everything.
#
# | text | window of 24 | own sinks | another text's | full stops | everything |
# |---|---|---|---|---|---|
# | lighthouse | 6.52 | 4.24 | 4.89 | 4.84 | 4.44 |
# | mountain | 7.17 | 5.09 | 5.08 | 5.04 | 5.12 |
# | garden | 5.49 | 3.38 | 3.69 | 3.67 | 3.33 |
# | computer | 4.41 | 3.10 | 3.04 | 3.08 | 3.09 |
# | train | 7.77 | 4.71 | 4.33 | 4.79 | 4.57 |
#
# In every text each kind of sink saves between 1.3 and 3.5 bits, so the plain window loses far more by what it forgets first than by what it forgets at
# all: with sinks the small cache is about as good as one that holds everything. Own sinks and those of another text differ by at most 0.65 bits, and
# the sign changes from text to text. So it matters that there are four tokens at the first positions, and not what they say.
#
# What this does not show: texts of 40 tokens hardly contain anything further back that is worth remembering, so I cannot say what the *window* costs in
# a long text. It is one model. `char_gpt` gains nothing from sinks: 4 + 4 slots are worse than 8. It was trained with windows of 128 letters, so it
# could not learn to rely on the beginning of a text. To test this explanation, I would have to train the same model twice, with windows and without.

# %% [markdown]
# ---
# **Before you hand in:** *Kernel → Restart Kernel and Run All Cells*. Every check should say what you expect, and
# question 8 should be answered in your own words. Save the notebook under its own name: the grader looks for `efficient_attention.ipynb`.
