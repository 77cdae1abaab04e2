# %% [markdown]
# # Assignment: positions
#
# You build seven ways of telling a Transformer where a token is: sinusoids that are added, a learned table that is stretched, T5's buckets, ALiBi,
# rotary positions with two ways of slowing them down, and relative vectors by skewing. One attention layer takes them all. At the end you train a
# small language model with each and find out, on your own machine, which of them reads past its trained length.
#
# [[questions]]
#
# [[how it works]]
#
# [[closed]]
# Everything else is open. If you need a function from an earlier question, call yours.
#
# You need the lecture *Positions* and preferably the assignment `self_attention`, in which you wrote sinusoids, a rotation and a bias. Here they get
# what a real model needs: a cache, other head counts, both layouts, distances without end. Nothing is downloaded. Only 1d
# needs an earlier question (1a), and so do 4b (3a and 4a) and 4c (3a).
#
# Two conventions hold everywhere. Vectors are rows, so a matrix multiplies from the right. And a model that generates keeps the keys of everything it
# has read, so **the queries are the last of the keys**: with 2 queries and 5 keys, the queries are at positions 3 and 4.

# %%
import math

import torch
from IPython.display import HTML
from torch import nn
from torch.nn import functional as F

from autograder.check import check, failing, passes, show_rows
from autograder.mine import bring
from lectures import show

torch.set_printoptions(precision=3, sci_mode=False)


# %% [markdown]
# ## 1. Absolute positions
#
# ### 1a. One matrix moves every position [[positions.shift_matrix, 20 minutes, medium, core]]
#
# The sinusoids of Vaswani et al. (2017) have pairs of columns. Pair $i$ is in columns $2i$ and $2i + 1$: $\sin(t\,\omega_i)$ and, next to it,
# $\cos(t\,\omega_i)$, with the frequency $\omega_i = \mathrm{base}^{-2i/d}$. They hoped that a model would learn to look back by a fixed number of
# positions, because one matrix can do that at every position at the same time. Write that matrix: for every $t$,
#
# $$\mathrm{PE}(t)\, M_k = \mathrm{PE}(t + k).$$
#
# To find it, write $\sin(\alpha + \beta)$ and $\cos(\alpha + \beta)$ in terms of the sines and cosines of $\alpha$ and $\beta$. Which of these belong
# to $t$, and which to $k$?
#
# By hand, with $d = 2$ and $k = 1$ (one pair, $\omega = 1$): position 0 is the row $(0, 1)$, and position 1 is $(\sin 1, \cos 1) = (0.841, 0.540)$. So
# that must be the second row of $M_1$. Which position is (nearly) the row $(1, 0)$, and where does it go?
#
# `k` may be negative or 0; `d` is even.
#
# [[checked]]
#
# [[hints]]
# 1. Most entries of the matrix are 0. Which columns of $\mathrm{PE}(t)$ does column 5 of $\mathrm{PE}(t + k)$ depend on?
# 2. The matrix is a chain of blocks of 2 × 2 along the diagonal, one per pair. A block rotates, by an angle that depends on the pair and on $k$.
# 3. Work with `even = torch.arange(0, d, 2)`. Then `M[even, even]` and `M[even + 1, even]` are the entries of all pairs that lead to their sines.
#    Test your signs on the example: the row (0, 1) must become (0.841, 0.540).


# %%
def shift_matrix(k, d, base):
    """The matrix that moves sinusoids by k positions, wherever they are.

    k: an integer, d: an even number of columns -> M (d, d), so that the row PE(t) @ M is PE(t + k)
    """
    ### BEGIN SOLUTION
    frequency = base ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    cos, sin = (k * frequency).cos(), (k * frequency).sin()
    even = torch.arange(0, d, 2)
    M = torch.zeros(d, d, dtype=torch.float64)
    M[even, even], M[even + 1, even + 1] = cos, cos
    M[even, even + 1], M[even + 1, even] = -sin, sin
    return M.float()
    ### END SOLUTION


# %% [markdown]
# ### 1b. Concatenated is added [[positions.as_addition, 15 minutes, easy, more]]
#
# Some models concatenate a token's vector $e$ and a position's vector $p$, which may have different widths, and mix them with a matrix and a bias:
# $x = [e;\, p]\, W + b$. That costs a product per token. A trained model of this kind is given to you. Turn it into one that only *adds*: a new table
# of tokens and a new table of positions, so that every token at every position gets the same vector as before.
#
# By hand, with vectors of one dimension: token vectors $(1), (2)$, position vectors $(10), (20)$, $W = (3, 0.5)^\top$ and $b = 7$. Token 1 at position
# 0 gets $2 \cdot 3 + 10 \cdot 0.5 + 7 = 18$. Your two tables have to give 18 there, 15 for token 0 at position 0, and so on for all four pairs.
#
# There is more than one right answer. The check adds your two tables in all combinations and looks only at the sums.
#
# [[checked]]
#
# [[hints]]
# 1. In the example, which part of 18 is due to the token, which to the position, and which to neither?
# 2. The rows of the matrix belong to the entries of the concatenated vector. Cut it into a part for the token and a part for the position. Then ask
#    how often the sum contains the bias.
# 3. If token vectors have `n` dimensions, the first `n` rows of W multiply them. Each table is multiplied by its part, once and for all.


# %%
def as_addition(tokens, positions, W, b):
    """Two tables whose sums are what concatenating and mixing gives.

    tokens (vocab, d_token), positions (length, d_position), W (d_token + d_position, d_model), b (d_model,)
    -> (new_tokens (vocab, d_model), new_positions (length, d_model))
    """
    ### BEGIN SOLUTION
    width = tokens.shape[1]
    return tokens @ W[:width] + b, positions @ W[width:]
    ### END SOLUTION


# %% [markdown]
# ### 1c. A learned table, stretched [[positions.stretched, 15 minutes, medium, core]]
#
# A learned table has one row per position, and then it ends: BERT cannot read a 513th token. People who need longer inputs (or, in Vision
# Transformers, larger images) **stretch** the table. They lay its rows out evenly over the new length, so that the first stays first and the last
# stays last, and interpolate linearly in between. Return the new table, and for every new position how its row was made: `low`, the number of
# the old row at or before it, and `share`, the weight of the next row, from 0 to 1. Row `low` gets the rest.
#
# By hand, three rows, stretched to five:
#
# ```text
# old position          0         1         2
# old table           ( 0)      (10)      (40)
#
# new position          0    1    2    3    4
# is old position       0   0.5   1   1.5   2
# low                   0    0    1    1    2
# share                 0   0.5   0   0.5   0
# new table           ( 0)  ( 5) (10) (25) (40)
# ```
#
# Shrinking works the same way: five rows for three positions are rows 0, 2 and 4. If `length` is 1, return the first row. A table of one row is the
# same everywhere. At a position that falls exactly on old row $r$, rounding may give you `low` $r - 1$ and `share` 1 instead of $r$ and 0; both are
# right.
#
# [[checked]] Table, `low` and `share` count together.
#
# [[hints]]
# 1. Look at the line of old positions in the example. By how much do they grow from one new position to the next, and what is the last one?
# 2. Compute for every new position where it falls in the old table: a number between two integers. The lower one is `low`, the fraction is `share`.
# 3. `torch.linspace` lays positions out evenly and copes with a length of 1. The last new position has no next row: where does the index
#    `low + 1` lead there?


# %%
def stretched(table, length):
    """A learned table for another length: first and last rows are kept, the rest is interpolated linearly.

    table (old, d) -> (new table (length, d), low (length,), share (length,))
    """
    ### BEGIN SOLUTION
    end = len(table) - 1
    at = torch.linspace(0, end, length)
    low = at.floor().long()
    high = (low + 1).clamp(max=end)
    share = at - low
    part = share[:, None].to(table.dtype)
    return (1 - part) * table[low] + part * table[high], low, share
    ### END SOLUTION


# %% [markdown]
# ### 1d. It exists, but is it found? An experiment [[positions.looking_back, 30 minutes, hard, more]]
#
# By 1a there is a matrix that takes every position one step back, wherever it is. Vaswani et al. hoped that a model would learn it. Does learning find
# it? Here is the smallest case. Each token of a text is a vector plus the sinusoids of its position, $x_t = e(w_t) + \mathrm{PE}(t)$. You learn a
# matrix $A$ so that $x_t A$ comes close to $\mathrm{PE}(t - 1)$, from the first 48 positions of some texts. Then you measure it on other texts,
# at positions up to 47 and beyond, and compare it with the exact matrix of 1a.
#
# The **error** of a matrix is the root of the mean squared difference between $x_t A$ and $\mathrm{PE}(t - 1)$, over texts, positions and
# columns. Position 0 has no previous one. Four answers are possible:
#
# 1. The learned matrix has the smaller error, at trained positions and beyond.
# 2. The exact matrix has the smaller error, at trained positions and beyond.
# 3. At trained positions the learned matrix has the smaller error, beyond them the exact one.
# 4. At trained positions the learned matrix has the smaller error; beyond them these texts cannot tell.
#
# Proceed in this order.
#
# - **Predict.** Set `prediction` to 1, 2, 3 or 4 before you run anything. It is kept as you wrote it, and it need not come true.
# - **Run.** For each seed, `start` gives the vectors of the tokens, the texts to learn from and those to measure on. Add sinusoids with base 10,000
#   (your `shift_matrix` can make them: position 0 is the row 0, 1, 0, 1, …). Learn $A$ with `least_squares`, from the positions 1 to 47 of the texts
#   to learn from. `errors` gets one row per seed, with four numbers, all on the texts to measure on: the learned matrix at positions 1 to 47, the
#   same at all later positions, the exact matrix at positions 1 to 47, the same at all later positions. Set `conclusion = 0` for now and run the
#   check: it says whether your numbers are right. Then run the cell below the check, and look at all five rows.
# - **Conclude.** Set `conclusion` to the answer that *your* rows for the seeds 0 to 4 support. A difference counts if it has the same sign for every
#   seed, or if the 95 % interval of its mean (Student's t: 2.78 standard errors to each side) does not contain 0.
#
# By hand: if $e(w)$ were 0 everywhere, the exact matrix would have the error 0 at all positions. So which error does it have here, roughly? The
# entries of $e(w)$ have the standard deviation 0.3.
#
# [[checked]]
#
# [[hints on the run]]
# 1. Which shape do the vectors of all texts have together, and which shape must they have to be the rows of a matrix?
# 2. Make the sinusoids once. In a loop over seeds, build the inputs by looking up tokens and adding sinusoids, and the targets by moving the sinusoids by
#    one row. Then measure both matrices with the same few lines.
# 3. Positions 1 to 47 of all texts are `x[:, 1:48]`, and their targets the first 47 rows of the sinusoids, for every text (`expand`).
#    `flatten(0, 1)` turns (text, position, d) into rows.
#
# [[hints on the conclusion]]
# 1. Compare the first column with the third, and the second with the fourth, seed by seed.
# 2. Take the difference of two columns. Does it have the same sign in every row?
# 3. Five differences $d$ have the interval $\bar d \pm 2.78\, s / \sqrt 5$, where $s$ is their standard deviation. `torch.std` computes it.


# %%
def start(texts, vocab, d, seed):
    """(vectors of the tokens (vocab, d), half of the texts to learn from, the other half to measure on)."""
    generator = torch.Generator().manual_seed(seed)
    order = torch.randperm(len(texts), generator=generator)
    half = len(texts) // 2
    vectors = 0.3 * torch.randn(vocab, d, generator=generator, dtype=torch.float64)
    return vectors, texts[order[:half]], texts[order[half:]]


def least_squares(x, y):
    """The matrix A for which x A is closest to y (a little ridge keeps it small); x (row, d), y (row, d)."""
    x, y = x.double(), y.double()
    return torch.linalg.solve(x.T @ x + torch.eye(x.shape[1], dtype=torch.float64), x.T @ y)


# %%
def looking_back(texts, vocab, d, seeds):
    """A learned matrix and the exact one, one position back, at positions 1 to 47 and beyond.

    texts (text, time) ids, vocab: how many ids, d: even, seeds: a list -> (prediction, errors (seeds, 4), conclusion)
    """
    ### BEGIN SOLUTION
    prediction = 1
    forward, back = shift_matrix(1, d, 10_000.0).double(), shift_matrix(-1, d, 10_000.0).double()
    rows = [torch.tensor([0.0, 1.0] * (d // 2), dtype=torch.float64)]
    for _ in range(texts.shape[1] - 1):
        rows.append(rows[-1] @ forward)
    table = torch.stack(rows)
    errors = []
    for seed in seeds:
        vectors, known, held_out = start(texts, vocab, d, seed)
        x = (vectors[known] + table)[:, 1:48]
        wanted = table[:47].expand(len(known), -1, -1)
        learned = least_squares(x.flatten(0, 1), wanted.flatten(0, 1))
        x, wanted = (vectors[held_out] + table)[:, 1:], table[:-1]
        row = []
        for matrix in (learned, back):
            squares = (x @ matrix - wanted) ** 2
            row += [squares[:, :47].mean().sqrt(), squares[:, 47:].mean().sqrt()]
        errors.append(row)
    conclusion = 3
    return prediction, errors, conclusion
    ### END SOLUTION


# %%
show_rows(
    "positions.looking_back", looking_back, "learned, 1 to 47", "learned, beyond", "exact, 1 to 47", "exact, beyond"
)

# %% [markdown]
# ## 2. Only the distance
#
# ### 2a. T5's buckets [[positions.buckets, 30 minutes, hard, core]]
#
# T5 (Raffel et al. 2020) learns a number for each head and *bucket* of distances. An **offset** is the position of the key − the position of the
# query, so keys behind the query have negative offsets. Write the rule that sorts offsets into buckets. With $n$ buckets for one direction:
#
# - Half of them, rounded down, are **near**: distance 0 is in bucket 0, distance 1 in bucket 1, and so on.
# - The others widen **geometrically**: on a logarithmic scale, the stretch from the first distance that is not near up to `max_distance` is cut into
#   equal parts, one for each bucket that is left. A distance on a boundary belongs to the bucket that begins there.
# - From `max_distance` onwards everything is in the last bucket.
#
# By hand, with 8 buckets for one direction and a `max_distance` of 20: buckets 0 to 3 are near. The others begin at the distances
# 4, $4\sqrt[4]{5} = 5.98$, 8.94 and 13.37, each 1.495 times as far as the previous one.
#
# | distance | 0 | 1 | 2 | 3 | 4 | 5 | 6 | 8 | 9 | 13 | 14 | 20 | 1000 |
# |---|---|---|---|---|---|---|---|---|---|---|---|---|---|
# | bucket | 0 | 1 | 2 | 3 | 4 | 4 | 5 | 5 | 6 | 6 | 7 | 7 | 7 |
#
# If `both` is False, the model is causal: all `n_buckets` are for keys behind, and a key ahead of the query (which is masked anyway) is in bucket 0. If
# `both` is True, each direction gets half of `n_buckets` (which is then even). The first half is for offsets up to 0, the second half for
# keys ahead: with 16 buckets, offset −2 is in bucket 2 and offset 2 in bucket 10.
#
# `offset` is a tensor of integers of any shape.
#
# [[checked]]
#
# [[hints on the far buckets]]
# 1. In the table, bucket 4 has two distances, bucket 5 three, and bucket 6 five. What is the same for all of them on a logarithmic scale?
# 2. How far has a distance come on the way from the first far distance to the maximum, measured in logarithms? That share, times the number of far
#    buckets, rounded down, says which far bucket it is.
# 3. The share is a quotient of two logarithms of ratios. It is 0 at the first far distance and 1 at `max_distance`. Distances near 0 have no logarithm,
#    so `clamp` them before, and choose with `torch.where` afterwards.
#
# [[hints on the directions]]
# 1. Which offsets are distance 0 if the model is causal? And how many buckets does each direction have if it is not?
# 2. Turn offsets into distances first, in a way that depends on the case. Sort the distances into buckets. Then move the keys ahead.
# 3. In the causal case, `clamp` makes all keys ahead distance 0. In the other case, `offset > 0` says who moves, and by how many buckets do they?


# %%
def buckets(offset, n_buckets, max_distance, both):
    """T5's bucket of every offset.

    offset (...) integers, key - query; both: whether there are buckets for keys ahead -> bucket (...), 0 to n_buckets - 1
    """
    ### BEGIN SOLUTION
    n = n_buckets // 2 if both else n_buckets
    distance = offset.abs() if both else (-offset).clamp(min=0)
    near = n // 2
    share = torch.log(distance.clamp(min=near) / near) / math.log(max_distance / near)
    far = near + (share * (n - near)).long()
    far = far.clamp(max=n - 1)
    bucket = torch.where(distance < near, distance, far)
    if both:
        bucket = bucket + n * (offset > 0)
    return bucket
    ### END SOLUTION


# %% [markdown]
# ### 2b. ALiBi for any number of heads [[positions.alibi, 20 minutes, medium, core]]
#
# ALiBi (Press, Smith & Lewis 2022) subtracts from every score the distance times the **slope** of the head. Nothing is learned. The slopes are:
#
# - For $n$ heads, where $n$ is a power of two: a geometric sequence of $n$ slopes that ends at $2^{-8}$, and whose ratio is its first term. For 8
#   heads: 1/2, 1/4, …, 1/256. For 2 heads: 1/16, 1/256.
# - For other numbers, as in the authors' code: all slopes for the next *lower* power of two, and after them every second slope (the first, the third,
#   …) for *twice* that power, as many as are missing.
#
# Which slopes do 3 heads get? Work it out before you write. (The largest is not the first.)
#
# Return the slopes, and the bias to add to the scores: (head, query, key). The queries are the last of the keys. A key ahead of its query gets −∞, so
# that this bias is the causal mask too.
#
# By hand, one head with slope 1/256, 2 queries and 3 keys, in units of 1/256:
#
# | | key 0 | key 1 | key 2 |
# |---|---|---|---|
# | query at position 1 | −1 | 0 | −∞ |
# | query at position 2 | −2 | −1 | 0 |
#
# [[checked]]
#
# [[hints on the slopes]]
# 1. What are the ratios of the sequences for 2, 4 and 8 heads, as powers of two?
# 2. Write a helper that gives the slopes for a power of two, and call it twice.
# 3. With n slopes, slope number h (from 1) is $2^{-8h/n}$. `n_heads.bit_length()` helps to find the lower power. Lists are easy to cut: what do
#    `[::2]` and `[:n_heads]` do?
#
# [[hints on the bias]]
# 1. In the example, at which positions are the two queries, and how does that follow from 2 and 3?
# 2. Make a table of how far back every key is from every query, (query, key). Everything else is a product and a mask.
# 3. A column of query positions minus a row of key positions is that table. `slopes[:, None, None]` gives each head its own copy.


# %%
def alibi(n_heads, queries, keys):
    """ALiBi's slopes, and its bias: minus slope times distance, minus infinity ahead.

    queries <= keys: how many of each; the queries are the last of the keys
    -> (slopes (n_heads,), bias (n_heads, queries, keys))
    """

    ### BEGIN SOLUTION
    def sequence(n):
        return [2 ** (-8 * h / n) for h in range(1, n + 1)]

    power = 2 ** (n_heads.bit_length() - 1)
    slopes = torch.tensor((sequence(power) + sequence(2 * power)[::2])[:n_heads])
    position = torch.arange(keys)
    back = position[keys - queries :, None] - position
    bias = -slopes[:, None, None] * back
    return slopes, bias.masked_fill(back < 0, -math.inf)
    ### END SOLUTION


# %% [markdown]
# ### 2c. How far does a head see? Derive it [[positions.alibi_reach, 15 minutes, medium, more]]
#
# Suppose that all keys are alike to a head of ALiBi, so that its scores differ only by the penalty, $-m\,n$ for the key at distance
# $n = 0, 1, 2, \dots$, and that the text before the query has no beginning. The head's weights are then the softmax of these scores. On paper, derive
#
# 1. the weight of the query's own key, $n = 0$;
# 2. the mean distance to which the head attends: every distance times its weight, added up.
#
# Return both as formulas in $m$, without any sum. You need the geometric series, and a way to add up $n\, x^n$.
#
# By hand, $m = \ln 2$: each key weighs half as much as the one after it, so the weights are ½, ¼, ⅛, …, and the mean distance is 1. Put the slopes of 2b
# into your formula. How far does the first of 8 heads look on average, and how far the last? It will help you with question 5.
#
# [[checked]]
#
# [[hints]]
# 1. By which factor is each weight smaller than that of the next nearer key? Give this factor a name.
# 2. With the factor $x$ the weights are $x^n$ divided by their sum, and a geometric series has a sum without dots. For the mean, take the derivative
#    of that series with respect to $x$.
# 3. The derivative of $\sum x^n$ is $\sum n\, x^{n-1}$, and also that of $1/(1 - x)$. Multiply by $x$, and do not forget to divide by the sum of
#    the weights. Test with x = ½.


# %%
def alibi_reach(slope):
    """What a head of ALiBi attends to when all keys are alike.

    slope: m > 0 -> (own, distance): the weight of the query's own key, and the mean distance
    """
    ### BEGIN SOLUTION
    x = math.exp(-slope)
    return 1 - x, x / (1 - x)
    ### END SOLUTION


# %% [markdown]
# ## 3. Rotary positions
#
# ### 3a. Both layouts, and a cache [[positions.rotary, 30 minutes, hard, core]]
#
# Rotary positions (Su et al. 2021) rotate pairs of coordinates of a query or a key by position × frequency. Two layouts are in use. With 6
# dimensions:
#
# ```text
# "interleaved"   pairs (0, 1), (2, 3), (4, 5)        the paper, GPT-J, Llama's own code
# "half"          pairs (0, 3), (1, 4), (2, 5)        GPT-NeoX, Hugging Face, SmolLM2
# ```
#
# In both, pair number $i$ has frequency number $i$, and each coordinate keeps its own column in the result. A rotation by a positive
# angle takes the first coordinate of a pair towards the second: $(1, 0)$ rotated by a quarter turn is $(0, 1)$, and $(0, 1)$ becomes $(-1, 0)$.
#
# Leading axes (batch, head) may be there or not; the position is the last axis but one. When a model writes, `first` tokens have been read already, so
# row 0 of `x` is at position `first`.
#
# By hand: $x = (1, 0, 0, 1)$ at position 2, with the frequencies $\pi/4$ and 0. The first pair rotates by a quarter turn, the second not at all.
# "interleaved" gives $(0, 1, 0, 1)$. "half" has the pairs $(1, 0)$ and $(0, 1)$, again only the first rotates, and the result is $(0, 0, 1, 1)$.
#
# [[before self_attention.rotate]]
#
# [[checked]]
#
# [[hints]]
# 1. What differs between the layouts, and what does not? Mark in the code that you have in mind the two moments where the layout matters.
# 2. Take the two coordinates of all pairs apart into two tensors, rotate them, and put them together again. Only the first and the last step know the
#    layout.
# 3. Slices with a step take neighbours apart, and `chunk` takes halves apart. `torch.stack` on a new last axis, then `flatten(-2)`, interleaves; `torch.cat`
#    puts halves together. The angles are a table (time, pair), which broadcasts over all leading axes.


# %%
def rotary(x, first, frequencies, layout):
    """Every row rotated by its position; row 0 is at position `first`.

    x (..., time, d), frequencies (d / 2,) radians per position, layout "half" or "interleaved" -> (..., time, d), a new tensor
    """
    ### BEGIN SOLUTION
    position = first + torch.arange(x.shape[-2])
    angle = position[:, None] * frequencies
    cos, sin = angle.cos(), angle.sin()
    if layout == "half":
        a, b = x.chunk(2, dim=-1)
    else:
        a, b = x[..., 0::2], x[..., 1::2]
    new_a, new_b = a * cos - b * sin, a * sin + b * cos
    if layout == "half":
        return torch.cat([new_a, new_b], dim=-1)
    return torch.stack([new_a, new_b], dim=-1).flatten(-2)
    ### END SOLUTION


# %% [markdown]
# ### 3b. Slower, for longer texts [[positions.slower, 15 minutes, medium, core]]
#
# A rotary model that was trained on 48 tokens never saw the angles of position 49. Two repairs need no training; both only change the frequencies,
# $\omega_i = \mathrm{base}^{-2i/d}$ for $i = 0, \dots, d/2 - 1$. To read texts that are `factor` times as long:
#
# - **"linear"** (Chen et al. 2023): squeeze all positions, so that token number `factor` × $t$ has the angles that position $t$ had in training. Every pair is
#   slowed down equally.
# - **"ntk"** (so named by its author, "bloc97", 2023): keep the fastest pair, which tells neighbours apart, exactly as it is, and slow down the
#   *slowest* pair by exactly `factor`, so that it never leaves the angles of training. All you may change is the base. Which base does that?
#   Write down the frequency of the slowest pair before and after, and solve.
#
# By hand, with $d = 4$, base 100 and factor 2: the frequencies are 1 and 0.1. "linear" makes them 0.5 and 0.05; "ntk" makes them 1 and 0.05, which is
# what a base of 400 gives. (Not 200: so what is it in general?) With $d = 2$ there is only the fastest pair, and "ntk" changes nothing.
#
# [[checked]]
#
# [[hints]]
# 1. What is $i$ for the slowest pair? It is not $d/2$.
# 2. The slowest frequency is a power of the base with an exponent slightly above −1. Demand that the new one is the old one divided by the factor, and
#    solve for the new base.
# 3. The new base is the old one times a power of the factor, and the power is slightly above 1. Check: for d = 4 it must be 2, because
#    100 · 2² = 400. What happens to your power if d is 2?


# %%
def slower(d, base, factor, method):
    """Rotary frequencies for texts that are `factor` times as long as in training.

    d: an even width, method "linear" or "ntk" -> frequencies (d / 2,), the fastest first
    """
    ### BEGIN SOLUTION
    exponent = -torch.arange(0, d, 2, dtype=torch.float64) / d
    if method == "linear":
        return base**exponent / factor
    if d > 2:
        base = base * factor ** (d / (d - 2))
    return base**exponent
    ### END SOLUTION


# %% [markdown]
# ## 4. Relative vectors, and one layer for all
#
# ### 4a. Skewing [[positions.skewed, 25 minutes, hard, core]]
#
# Shaw et al. (2018) learn a *vector* for every distance, and each query meets it: $q_i \cdot a_{i-j}$ is added to the score of query $i$ and key $j$.
# A table of vectors (query, key, d) would be huge. Huang et al. (2018, Music Transformer) multiply the queries by the vectors of all distances, which
# is one matrix product, and then move each row to its place. They call the move **skewing**. Write it.
#
# Row $i$ of the input belongs to query $i$ and has one column per *distance*, the farthest first: with 4 keys the columns are the distances 3, 2, 1, 0.
# The result has one column per *key*. The queries are the last of the keys, and keys ahead get 0. With 3 queries and 4 keys (letters: queries, digits:
# distances):
#
# ```text
#      by distance                        by key
#
#     a3  a2  a1  a0                 a1  a0   0   0        the query at position 1
#     b3  b2  b1  b0       →         b2  b1  b0   0        2
#     c3  c2  c1  c0                 c3  c2  c1  c0        3
# ```
#
# Every row moves by one column less than the row above it. There is a trick without any loop or index: memory is one long row. Widen each row by one
# entry, and see what happens if the same line is cut into rows of a different length, or begins a few entries later. (Looking every entry up in a table
# of indices is also right.)
#
# [[checked]]
#
# [[hints]]
# 1. Write the input of the picture as one line of twelve entries, and the result below it as one line. Between a1 a0 and b2 b1 b0, what is too much, and what is
#    missing?
# 2. Put one zero before each row. Read everything as one line, drop some entries at the front, and cut the line into rows of the old width. Then
#    remove what is ahead.
# 3. `F.pad(x, (1, 0))` widens, `flatten(-2)` makes one line, `unflatten(-1, …)` cuts it. The number to drop follows from the lengths before and after. At
#    last, `tril` with the right diagonal leaves 0 ahead: count in the picture.


# %%
def skewed(x):
    """Scores by distance, moved to their keys; 0 ahead of the query.

    x (..., query, key): column c is distance keys - 1 - c; the queries are the last of the keys -> (..., query, key)
    """
    ### BEGIN SOLUTION
    queries, keys = x.shape[-2:]
    line = F.pad(x, (1, 0)).flatten(-2)
    rows = line[..., queries:].unflatten(-1, (queries, keys))
    return rows.tril(keys - queries)
    ### END SOLUTION


# %% [markdown]
# ### 4b. One layer for all of them [[positions.attend, 40 minutes, hard, core]]
#
# Write causal attention that takes positions of any kind, as *data*. Each of the last three arguments may be None, and any of them may be combined:
#
# | argument | shape | effect |
# |---|---|---|
# | `frequencies` | (d / 2,) | queries and keys are rotated, layout "half"; values are not |
# | `bias` | (head, query, key) | added to the scores *after* the division by $\sqrt d$ |
# | `vectors` | (head, r + 1, d) | one vector per head and distance, the farthest, $r$, first; every distance beyond $r$ uses the vector of $r$. The *unrotated* query meets them, and the sum with $q \cdot k$ is divided by $\sqrt d$ |
#
# $$\mathrm{score}_{ij} = \frac{q_i \cdot k_j + q_i \cdot a_{i-j}}{\sqrt d} + \mathrm{bias}_{ij}$$
#
# The queries are the last of the keys, which matters in three different places. Each query attends to itself and to all keys before it. Return the
# output and the weights. You may use softmax; the next section trains a model with your function, so compute with tensors
# from beginning to end: the check accepts NumPy, but then there is nothing to differentiate.
#
# By hand: if all queries are 0 and nothing else is given, 2 queries and 3 keys have the weights (½, ½, 0) and (⅓, ⅓, ⅓).
#
# [[before self_attention.grouped_attention]]
#
# [[checked]]
#
# [[hints on the distances]]
# 1. `skewed` wants one column per distance, from keys − 1 down to 0. The table has rows for the distances r down to 0. Which row serves which column, if r is
#    smaller? And if it is larger?
# 2. Make the list of distances that `skewed` wants, limit it, and turn each distance into the number of a row. Look up, multiply, skew.
# 3. Distance 0 is in the last row, distance r in row 0. `torch.arange(keys - 1, -1, -1)` are the distances. `vectors[:, rows]` are their vectors.
#
# [[hints on the cache]]
# 1. With 2 queries and 5 keys, at which position is query 0? And key 0?
# 2. Three parts need it: the rotation of the queries, the mask, and skewing, which has it built in.
# 3. The rotation of the queries starts at keys − queries, that of the keys at 0. The mask is a triangle whose diagonal is moved by as much.
#
# <details><summary>Stuck because of an earlier question?</summary>
#
# Without 4a, a loop over the queries does what `skewed` does, slowly: query number $i$ needs its distances from keys − queries + $i$ down to 0.
# </details>


# %%
def attend(q, k, v, frequencies=None, bias=None, vectors=None):
    """Causal attention with positions of any kind.

    q (batch, head, query, d), k (batch, head, key, d), v (batch, head, key, d_v); the queries are the last of the keys
    -> (output (batch, head, query, d_v), weights (batch, head, query, key))
    """
    ### BEGIN SOLUTION
    queries, keys, d = q.shape[-2], k.shape[-2], q.shape[-1]
    first = keys - queries
    sought = q
    if frequencies is not None:
        sought, k = rotary(q, first, frequencies, "half"), rotary(k, 0, frequencies, "half")
    scores = sought @ k.mT
    if vectors is not None:
        farthest = vectors.shape[1] - 1
        distance = torch.arange(keys - 1, -1, -1).clamp(max=farthest)
        scores = scores + skewed(q @ vectors[:, farthest - distance].mT)
    scores = scores / math.sqrt(d)
    if bias is not None:
        scores = scores + bias
    ahead = torch.ones(queries, keys, dtype=torch.bool).triu(first + 1)
    weights = torch.softmax(scores.masked_fill(ahead, -math.inf), dim=-1)
    return weights @ v, weights
    ### END SOLUTION


# %% [markdown]
# ### 4c. A friend's cache: which line? [[positions.wrong_line, 10 minutes, medium, more]]
#
# While a model writes, it keeps keys and values of everything that it has read. A friend keeps keys that are *rotated already*, so that
# this need not be done again, and reads a text in chunks. The first chunk comes out right. From the second chunk on the text becomes a little worse,
# and nobody gets an error message. One line is wrong. `rotary` is your function from 3a.
#
# [[listing positions.read_on]]
#
# Say for each line what it should compute before you run anything. Return the number of the wrong line, as in this listing.
#
# [[checked]] You can copy the function into a cell of your own to try it; the check of 4d shows you an input.
#
# [[hints]]
# 1. Which line treats what is new and what was kept in the same way? Which lines have to treat them differently?
# 2. Follow one key through two calls: in the first it is new, in the second it comes out of the cache. How often is it rotated in all?
# 3. With an empty cache the wrong line does the right thing. Which of the lines could make a difference only for keys that come out of the
#    cache?


# %%
def wrong_line():
    """The number of the one line of the listing that is wrong."""
    ### BEGIN SOLUTION
    return 9
    ### END SOLUTION


# %% [markdown]
# ### 4d. Mend it [[positions.read_on, 5 minutes, easy, more]]
#
# This is your friend's function. It uses your `rotary`. Change the line, and nothing else.
#
# [[checked]]
#
# [[hints]]
# 1. At which position is the first new token, and which line knows it?
# 2. What was kept should not change. Only what is new has to be rotated, from its own position on.
# 3. Rotate first, as in the line for the queries, and concatenate afterwards.


# %%
def read_on(q, k, v, old_keys, old_values, frequencies):
    """Attention of new tokens to themselves and to a cache.

    q, k, v (head, new, d) of the new tokens, not rotated; old_keys (head, old, d), rotated, and old_values (head, old, d)
    -> (output (head, new, d), keys (head, old + new, d) to keep, rotated)
    """
    ### BEGIN SOLUTION
    old, new, d = old_keys.shape[1], q.shape[1], q.shape[2]
    q = rotary(q, old, frequencies, "half")
    keys = torch.cat([old_keys, rotary(k, old, frequencies, "half")], dim=1)
    values = torch.cat([old_values, v], dim=1)
    scores = q @ keys.mT / math.sqrt(d)
    ahead = torch.arange(old + new) > torch.arange(old, old + new)[:, None]
    weights = torch.softmax(scores.masked_fill(ahead, -math.inf), dim=-1)
    return weights @ values, keys
    ### END SOLUTION


# %% [markdown]
# ## For real: which of them reads on?
#
# Now your functions go into a small Transformer: 2 layers of 4 heads, width 48. It reads Shakespeare, character by character, and is trained with your
# `attend` on texts of **48** characters, from scratch, once for each kind of positions. Then it reads **192** characters, and we plot its loss by
# position. There is no code to write here, but something to decide first.

# %%
# Before you run anything below: which kind do you expect to fail worst beyond 48 characters? Which two hardly notice?
expected_worst = ""  # one of: none, sinusoids, learned, T5's buckets, ALiBi, rotary, skewing
expected_to_read_on = ("", "")

# %%
TRAINED, READ, WIDTH, HEADS = 48, 192, 48, 4
KINDS = ("none", "sinusoids", "learned", "T5's buckets", "ALiBi", "rotary", "skewing")


class Block(nn.Module):
    """Your attention, then a small network for each token; both are added to what came in."""

    def __init__(self):
        super().__init__()
        self.norm, self.qkv, self.mix = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.network = nn.Sequential(
            nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH)
        )

    def forward(self, x, **positions):
        q, k, v = self.qkv(self.norm(x)).unflatten(-1, (3, HEADS, -1)).permute(2, 0, 3, 1, 4)
        read, _ = attend(q, k, v, **positions)
        x = x + self.mix(read.transpose(1, 2).flatten(2).to(x.dtype))
        return x + self.network(x)


class Reader(nn.Module):
    """A character-level language model with positions of one kind."""

    def __init__(self, vocab_size, kind):
        super().__init__()
        self.kind, self.slow = kind, None
        self.embed, self.output = nn.Embedding(vocab_size, WIDTH), nn.Linear(WIDTH, vocab_size)
        nn.init.normal_(self.embed.weight, std=0.3)
        self.blocks, self.norm = nn.ModuleList(Block() for _ in range(2)), nn.LayerNorm(WIDTH)
        self.table = nn.Parameter(0.3 * torch.randn(TRAINED, WIDTH))  # learned positions
        self.numbers = nn.Parameter(0.1 * torch.randn(HEADS, 16))  # one for each head and bucket
        self.vectors = nn.Parameter(0.3 * torch.randn(2, HEADS, TRAINED, WIDTH // HEADS))  # for layer, head, distance

    def added(self, time):
        """What is added to the characters' vectors."""
        if self.kind == "sinusoids":
            rows = [torch.tensor([0.0, 1.0]).repeat(WIDTH // 2)]
            forward = torch.as_tensor(shift_matrix(1, WIDTH, 10_000.0)).float()
            while len(rows) < time:
                rows.append(rows[-1] @ forward)
            return torch.stack(rows)
        if self.kind == "learned":
            if time <= TRAINED:
                return self.table[:time]
            return torch.as_tensor(stretched(self.table.detach(), time)[0]).float()
        return 0.0

    def inside(self, layer, time):
        """What your `attend` gets."""
        if self.kind == "T5's buckets":
            t = torch.arange(time)
            return {"bias": self.numbers[:, torch.as_tensor(buckets(t - t[:, None], 16, 64, False)).long()]}
        if self.kind == "ALiBi":
            return {"bias": torch.as_tensor(alibi(HEADS, time, time)[1]).float()}
        if self.kind == "rotary":
            factor, method = self.slow or (1.0, "linear")
            return {"frequencies": torch.as_tensor(slower(WIDTH // HEADS, 10_000.0, factor, method)).float()}
        return {"vectors": self.vectors[layer]} if self.kind == "skewing" else {}

    def forward(self, tokens):
        x = self.embed(tokens) + self.added(tokens.shape[1])
        for layer, block in enumerate(self.blocks):
            x = block(x, **self.inside(layer, tokens.shape[1]))
        return self.output(self.norm(x))


def loss_of(model, texts, **how):
    return F.cross_entropy(model(texts[:, :-1]).transpose(1, 2), texts[:, 1:], **how)


def trained(kind, seed, text, vocab_size, steps=250):
    """A model that has been trained on random stretches of a text."""
    torch.manual_seed(seed)
    model, generator = Reader(vocab_size, kind), torch.Generator().manual_seed(seed)
    optimiser = torch.optim.AdamW(model.parameters(), lr=4e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 4e-3, total_steps=steps, pct_start=0.15)
    for _ in range(steps):
        first = torch.randint(len(text) - TRAINED, (12, 1), generator=generator)
        loss = loss_of(model, text[first + torch.arange(TRAINED + 1)])
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
    return model


def by_position(model, texts):
    """The mean loss in each stretch of 16 positions."""
    with torch.no_grad():
        return loss_of(model, texts, reduction="none").mean(0).unflatten(0, (-1, 16)).mean(1)


# %% [markdown]
# Training takes about three seconds for each kind. `runs` keeps what was measured, for every kind and seed. Run the next two cells for one seed
# first. For question 5 you need three seeds or more.

# %%
seeds = [0]  # for question 5: [0, 1, 2]

names = ("shift_matrix", "stretched", "buckets", "alibi", "slower", "attend")
mine = (shift_matrix, stretched, buckets, alibi, slower, attend)
ready = all(passes(f"positions.{name}", function) for name, function in zip(names, mine, strict=True))
if ready:
    probe = torch.zeros(1, HEADS, 2, WIDTH // HEADS, requires_grad=True)
    ready = torch.is_tensor(attend(probe, probe, probe)[0]) and attend(probe, probe, probe)[0].requires_grad
    if not ready:
        print("Your `attend` cannot be trained: it has to compute with tensors from beginning to end.")
runs = {}
if ready:
    from nlmcore.corpora import load
    from nlmcore.tokens import CharTokenizer

    plays = load("shakespeare")
    characters = CharTokenizer.fit(plays.texts("train"))
    text = torch.tensor(characters.encode("".join(plays.texts("train"))[:400_000]))
    held_out = torch.tensor(characters.encode(plays.texts("valid")[0]))[: 100 * (READ + 1)].unflatten(0, (100, -1))
    for seed in seeds:
        for kind in KINDS:
            model = trained(kind, seed, text, characters.vocab_size)
            runs[kind, seed] = by_position(model, held_out)
            if kind == "rotary":
                for method in ("linear", "ntk"):
                    model.slow = (READ / TRAINED, method)
                    runs[f"rotary, {method}", seed] = by_position(model, held_out)

# %%
if runs:
    middles = range(8, READ, 16)
    lines = {kind: torch.stack([runs[kind, seed] for seed in seeds]).mean(0) for kind, seed in runs if seed == seeds[0]}
    print(f"Mean loss over {len(seeds)} seed(s), and the range of the seeds at the end:")
    print(f"{'characters':20}  33 to 48   49 to 64  177 to 192")
    for kind, line in lines.items():
        ends = [float(runs[kind, seed][-1]) for seed in seeds]
        print(f"{kind:20} {line[2]:9.2f}  {line[3]:9.2f}  {line[-1]:10.2f}    {min(ends):.2f} to {max(ends):.2f}")
    worst = max(lines, key=lambda kind: float(lines[kind][-1] - lines[kind][2]))
    print(f"The loss rises most with {worst}; you expected {expected_worst or 'nothing yet'}.")
    at_the_end = ", ".join(f"{kind} {line[-1]:.2f}" for kind, line in lines.items())
    picture = HTML(
        show.lines_svg(
            middles,
            lines,
            x_title="characters read (trained on 48)",
            y_title="loss per character",
            low=2.1,
            high=4.0,
            width=820,
            height=420,
            columns=3,
            alt=f"Loss per character against position, for each kind of positions. At the end of 192: {at_the_end}.",
        )
    )
else:
    picture = "Come back here when questions 1a, 1c, 2a, 2b, 3b and 4b pass."
picture

# %% [markdown]
# Compare with section 6 of [lecture 14](../../lectures/14_positions.ipynb), which trains similar models with five seeds each. "linear" and "ntk" are the
# *same* trained rotary model; only its frequencies were slowed down before it read on.

# %% [markdown]
# ## 5. What did you find? [[written, 30 minutes, 5 points, core]]
#
# Run the finale with three seeds or more. Then report, in about fifteen sentences and with numbers from *your* table:
#
# 1. What did you expect, and what happened? Which kinds read past their trained length? Name one difference that is larger than the range of your seeds, and
#    one that is not.
# 2. The matrix of 1a exists for every position. Why did sinusoids not read on? Use what you found in 1d.
# 3. Rotary positions failed as they were, and "ntk" repaired much of it without training. Why, and why does "linear" do badly even on
#    the first 48 characters?
# 4. "A learned table can be stretched, so learned positions extrapolate." What do your numbers say for and against this sentence?
# 5. **Your own experiment.** Change one thing (the length of training, T5's `max_distance`, the base, ALiBi's slopes, the factor, where a learned table
#    is cut …). Say what you expect, run it with the same seeds, and report what happened.
#
# ### BEGIN MARK SCHEME
# One point each; half points are fine. Numbers must be the student's own; other conclusions than ours are right if their table supports them.
#
# 1. **Report** (1): expectation, result, and both differences with numbers. ALiBi and skewing stay flat; sinusoids jump as soon as 48 is passed; plain rotary
#    rises later and by a lot. Half a point without regard to the spread of the seeds.
# 2. **Sinusoids** (1): learning minimises the loss at trained positions. Other matrices do better there, because they also cancel what the tokens
#    add and exploit waves that hardly turn within 48 positions; beyond, they are wrong (1d: about 0.15 within and 0.44 beyond, against 0.3 and
#    0.3 for the exact matrix). Half a point for "never seen in training" without 1d.
# 3. **Rotary** (1): distances beyond 48 give angles between query and key that never occurred. "ntk" keeps the fast pairs, which tell neighbours apart,
#    and slows the slow ones so that they stay within known angles; "linear" also slows the fast pairs, so neighbours look alike to a model
#    that was trained on full steps. Half a point for one of the two.
# 4. **Stretched** (1): for: the loss hardly rises. Against: it was never better than without positions (compare with "none"), so the model has hardly
#    learned to use the table, and what is not used cannot do harm. Half a point for one side.
# 5. **Own experiment** (1): one change, an expectation, numbers for the same seeds, and a sentence that does not claim more than they show. Half a point if
#    the seeds differ or several things were changed.
# ### END MARK SCHEME

# %% [markdown]
# I expected learned positions to fail worst, because their table ends. That was wrong. With three seeds, ALiBi hardly changed from the end of the trained
# 48 characters (2.27) to the end of 192 (2.29), and skewing rose from 2.23 to 2.33. Sinusoids jumped from 2.40 to 3.07 directly behind position 48, and
# plain rotary positions rose later, from about 80 characters on, to 3.13. The jump of the sinusoids is far larger than the range of my seeds. The difference
# between ALiBi (2.28 to 2.30) and skewing (2.30 to 2.36) at the end is not.
#
# The matrix of 1a exists, but it is not what learning finds. In 1d the learned matrix had about half the error of the exact one at trained positions,
# because it also suppresses what the tokens add, and it used waves that hardly turn within 48 positions. Beyond them its error was half as large again as
# that of the exact matrix. The same happens here: the loss asks only for the trained positions.
#
# A rotary model meets angles beyond 48 that no training text had. "ntk" leaves the fastest pair alone, so neighbours are as far apart as before, and slows the
# slowest pair by 4, so that its angles stay where training has been. That removed most of the rise up to about 144 characters, three times the trained
# length, and little of it after that. "linear" slows all pairs, so that a neighbour looks like a quarter of a step, and already the first 48 characters
# got worse (2.85 instead of 2.26).
#
# The stretched table did no harm: the loss rose from 2.50 to 2.54. But at trained positions it was no better than no positions at all (2.47), so
# the model hardly used it, and the sentence is not supported.
#
# My own experiment: T5's buckets with a `max_distance` of 32 instead of 64. I expected that it would read on better, because all buckets then
# occur in training. At the end of 192 the loss was lower for each of the three seeds, but only by about 0.02, and it still rose by more than 0.1. So
# buckets that were never trained are not the main reason. Three seeds of one small model are few.

# %% [markdown]
# ---
# **Before you hand in:** *Kernel → Restart Kernel and Run All Cells*. Every check should say what you expect, and
# question 5 should be answered in your own words. Save the notebook under its own name: the grader looks for `positions.ipynb`.
