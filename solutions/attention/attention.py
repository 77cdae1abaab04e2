# %% [markdown]
# # Assignment: attention
#
# Seven small functions, from a dot product to multi-head attention. At the end the last of them runs inside a real network, MiniLM, and draws the
# picture with which the lecture began: the head in which *it* looks at *animal*. In between you derive a formula, find a bug in somebody else's code,
# and run an experiment.
#
# [[questions]]
#
# [[how it works]]
#
# [[closed]]
# Everything else is open. If you need a function from an earlier question, call yours.
#
# You need the lecture *Attention*, sections 2 to 6. Nothing is downloaded.

# %%
import math

import numpy as np
import torch
from IPython.display import HTML

from autograder.check import check, failing, passes, show_rows
from lectures import show

torch.set_printoptions(precision=3, sci_mode=False)
np.set_printoptions(precision=3, suppress=True)


# %% [markdown]
# ## 1. Three scores
#
# A decoder is about to write a word. It has *one* vector in mind, the query $q$, and looks at the $n$ vectors that the encoder has produced, the keys
# $k_1, \dots, k_n$. A **score** says how well a key fits: one real number per key.
#
# In question 1 there is no batch: `query` has shape `(d,)` and `keys` has shape `(n, d)`, one key per row.
#
# ### 1a. The dot product [[attention.dot_score, 5 minutes, easy, core]]
#
# $$s_j = q \cdot k_j = \sum_{i=1}^{d} q_i\, k_{ji}$$
#
# It has no parameters, and it requires queries and keys of the same width. By hand, for two keys:
#
# $$q = (1, 2, 0), \quad k_1 = (3, 1, 5), \quad k_2 = (-1, 0, 2): \qquad s_1 = 3 + 2 + 0 = 5, \quad s_2 = -1 + 0 + 0 = -1 .$$
#
# [[checked]]
#
# [[hints]]
# 1. The sum in the formula is over $i$. Which index is left, and how many scores does that make?
# 2. A matrix times a vector is one dot product per row of the matrix. The keys are such a matrix.
# 3. `keys @ query` is a matrix times a vector: (n, d) times (d,) gives (n,).


# %%
def dot_score(query, keys):
    """The dot product of one query with every key.

    query (d,), keys (n, d) -> scores (n,)
    """
    ### BEGIN SOLUTION
    return keys @ query
    ### END SOLUTION


# %% [markdown]
# ### 1b. A matrix in between [[attention.bilinear_score, 10 minutes, easy, core]]
#
# With the dot product, like attracts like. But a verb that looks for its subject wants something *different* from itself. A matrix $W$ between query
# and key lets the model learn which query should find which key, and lets the two have different widths:
#
# $$s_j = q^\top W\, k_j \qquad W: d_q \times d_k$$
#
# By hand, with a $W$ that swaps the two coordinates: $W = \begin{pmatrix} 0 & 1 \\ 1 & 0 \end{pmatrix}$, $q = (2, 5)$, $k = (1, 0)$. Then
# $W k = (0, 1)$ and $s = q \cdot (0, 1) = 5$, whereas the plain dot product would give 2.
#
# [[checked]]
#
# [[hints]]
# 1. Read the formula from the left. What is the width of $q^\top W$?
# 2. Multiply the query by $W$ first, which gives a vector as wide as a key. The rest is question 1a.
# 3. `query @ W` has the width of a key. To see whether you need W or its transpose, follow the widths: (d_q,) @ (d_q, d_k).


# %%
def bilinear_score(query, keys, W):
    """qᵀ W k for every key k.

    query (d_q,), keys (n, d_k), W (d_q, d_k) -> scores (n,)
    """
    ### BEGIN SOLUTION
    return dot_score(query @ W, keys)
    ### END SOLUTION


# %% [markdown]
# ### 1c. A small network [[attention.additive_score, 15 minutes, medium, core]]
#
# The first published score (Bahdanau et al. 2015) is a network with one hidden layer that sees query and key together:
#
# $$s_j = v \cdot \tanh(W_q\, q + W_k\, k_j) \qquad W_q: d_s \times d_q, \quad W_k: d_s \times d_k, \quad v: d_s$$
#
# By hand, with a hidden layer of $d_s = 2$ units: say $W_q\, q = (0.5, -1)$ and $W_k\, k_1 = (0.5, 1)$. The hidden layer is
# $\tanh(1, 0) = (0.76, 0)$, and with $v = (2, 3)$ the score is $2 \cdot 0.76 + 3 \cdot 0 = 1.52$.
#
# > **Before you write it:** what would happen to the *weights* (after the softmax) if you left out the tanh? The check knows the answer.
#
# [[checked]]
#
# [[hints]]
# 1. Look at the two terms inside the tanh. Which one is the same for all keys, and what shape does the other one have for all keys together?
# 2. Compute the keys' term for all keys in one product and add the query's term to every row. After the tanh, each row has a dot product with $v$.
# 3. `W_query @ query` has shape (d_s,). For all keys in one product, `keys @ W_key.T` has shape (n, d_s). Adding the two broadcasts the first over
#    the rows of the second.


# %%
def additive_score(query, keys, W_query, W_key, v):
    """v · tanh(W_query q + W_key k) for every key k.

    query (d_q,), keys (n, d_k), W_query (d_s, d_q), W_key (d_s, d_k), v (d_s,) -> scores (n,)
    """
    ### BEGIN SOLUTION
    hidden = torch.tanh(W_query @ query + keys @ W_key.T)  # (n, d_s)
    return hidden @ v
    ### END SOLUTION


# %% [markdown]
# ## 2. From scores to a context
#
# ### 2a. A softmax that can look away [[attention.attend, 30 minutes, medium, core]]
#
# Softmax turns the scores of one query into weights that are positive and sum to 1; the context is the weighted sum of the values:
#
# $$\alpha_j = \frac{e^{s_j}}{\sum_{j'} e^{s_{j'}}}, \qquad c = \sum_j \alpha_j v_j .$$
#
# Some keys must not be attended to: padding, or the future. A **mask** says which keys are allowed; it is boolean, and **True = may attend**. A
# masked key gets the weight 0, and the weights of the others still sum to 1.
#
# By hand, for the scores 1.5, 0.9, 0.3, −0.5, without a mask and with the first key masked:

# %%
scores = np.array([1.5, 0.9, 0.3, -0.5])
e = np.exp(scores)
print("exp(scores)          ", e, " sum", round(float(e.sum()), 2))
print("weights              ", e / e.sum())

allowed = np.array([False, True, True, True])
print("first key masked     ", e * allowed / (e * allowed).sum())


# %% [markdown]
# Now write it for many queries at once, and robustly. Three things go wrong in practice, and each has cost somebody a week:
#
# 1. **Large scores.** $e^{89}$ is larger than a float32 can hold, and infinity divided by infinity is NaN. Adding the same number to all scores
#    changes no weight ($e^{s+a} = e^a e^s$, and $e^a$ cancels). So subtract from each row the largest of its scores that are allowed.
# 2. **Nothing to look at.** A row in which every key is masked has the sum 0, and $0/0$ is NaN. Such a query gets weights and a context of zeros.
# 3. **The caller's array.** `scores[…] = …` and `scores -= …` write into the array that you were given. Leave it unchanged.
#
# Write the softmax with `np.exp`, `sum` and `max`.
#
# **Shapes.** `scores (..., query, key)`, `values (..., key, d)`, and `mask` is anything that broadcasts to the scores, or None. The dots stand for
# any number of leading axes: none, a batch, or a batch and heads. If you work only on the last two axes, the leading ones take care of themselves.
#
# [[checked]]
#
# [[hints on the mask]]
# 1. Read item 1 of the list again. Which scores may the largest be chosen from, and so when must the mask be applied?
# 2. Before anything else, give the masked keys a score whose exponential is 0. Make a new array for it.
# 3. `np.where(mask, scores, -math.inf)` returns a new array, and $e^{-\infty}$ is exactly 0.
#
# [[hints on the empty row]]
# 1. Calculate by hand what happens to a row in which all scores are −∞: its largest, the differences, the sum.
# 2. If all scores of a row are −∞, so is its largest, and −∞ − (−∞) is NaN. Replace the largest and the sum of such a row by numbers that do no
#    harm.
# 3. `np.where(condition, a, b)` on the maximum fixes that; at the end divide by the sum only where it is not 0.


# %%
def attend(scores, values, mask=None):
    """Softmax over the keys that may be attended, then the sum of values with these weights.

    scores (..., query, key), values (..., key, d), mask broadcasts to scores, True = may attend
    -> (context (..., query, d), weights (..., query, key))
    """
    ### BEGIN SOLUTION
    if mask is not None:
        scores = np.where(mask, scores, -math.inf)
    largest = scores.max(axis=-1, keepdims=True)
    largest = np.where(largest == -math.inf, 0.0, largest)  # a row without a key
    e = np.exp(scores - largest)
    total = e.sum(axis=-1, keepdims=True)
    weights = e / np.where(total == 0, 1.0, total)
    return weights @ values, weights
    ### END SOLUTION


# %% [markdown]
# ### 2b. Queries, keys and values [[attention.scaled_dot_product_attention, 15 minutes, easy, core]]
#
# Now there are many queries, one per row of $Q$, with the keys and values in the rows of $K$ and $V$. A single matrix product gives all the dot
# products:
#
# $$\mathrm{attention}(Q, K, V) = \mathrm{softmax}\!\left(\frac{Q K^\top}{\sqrt{d}}\right) V$$
#
# $d$ is the width of queries and keys. A dot product of $d$ independent terms has standard deviation $\sqrt d$. Divided by that, scores have the same
# spread however wide the vectors are, and the softmax does not harden into a choice of one key.
#
# By hand, with $d = 64$: the dot products 112 and 96, divided by $\sqrt{64} = 8$, are 14 and 12, and the weights are $1/(1+e^{-2}) = 0.88$ and
# $0.12$. Without the division they would be 1.0000 and 0.0000.
#
# Your `attend` computes the softmax and the sum. The mask means the same as there, and a query with no allowed key still gets zeros.
#
# [[checked]]
#
# [[hints]]
# 1. Which width is the $d$ in the formula, and which axes does $K^\top$ concern if there are leading ones?
# 2. All dot products are one matrix product. Divide it, and call a function that you have already written.
# 3. `np.swapaxes(k, -1, -2)` swaps the last two axes and leaves the leading ones alone; `k.T` reverses all of them.


# %%
def scaled_dot_product_attention(q, k, v, mask=None):
    """softmax(Q Kᵀ / √d) V.

    q (..., query, d), k (..., key, d), v (..., key, d_v), mask broadcasts to (..., query, key), True = may attend
    -> (output (..., query, d_v), weights (..., query, key))
    """
    ### BEGIN SOLUTION
    scores = q @ np.swapaxes(k, -1, -2) / math.sqrt(q.shape[-1])
    return attend(scores, v, mask)
    ### END SOLUTION


# %% [markdown]
# ### 2c. An experiment: one vector, or a look at all of them? [[attention.one_vector, 35 minutes, medium, more]]
#
# Before attention a decoder got one vector, whatever the length of the source. How narrow is this bottleneck, and what does attention change? Here is
# a memory for which nothing has to be learned. A text consists of $n$ facts such as *Ram is in the forest*. Fact $j$ has a key $k_j$ for the person,
# whose $d$ entries are $1$ or $-1$, and a value $v_j$ for the place, one of 50 vectors.
#
# - **One vector.** The summary is $c = \sum_j k_j \odot v_j$, as wide as one value, however many facts there are. Asked for the place of person $i$, it
#   answers $k_i \odot c$. That is $v_i$, because $k_i \odot k_i = 1$, plus noise from all other facts.
# - **Attention pooling.** All keys and values are kept. The question $k_i$ is the query, and *it* decides what the summary contains: the answer is
#   the context of your `scaled_dot_product_attention`.
#
# `facts` makes texts with `n` facts of width `d` from a **seed**, as NumPy arrays. `wrong` finds for each answer the place that it resembles most, and returns the
# fraction of answers that resemble a wrong one. Each fact of each text is asked for. `errors` has five columns:
#
# | column | memory | facts | width | numbers kept |
# |---|---|---|---|---|
# | 1 | one vector | 4 | 64 | 64 |
# | 2 | one vector | 16 | 64 | 64 |
# | 3 | one vector | 16 | 256 | 256 |
# | 4 | one vector | 16 | 2048 | 2048 |
# | 5 | attention | 16 | 64 | 16 · (64 + 64) = 2048 |
#
# In all four possible answers, four times as many facts (column 2) cause more errors than column 1. They differ in the rest:
#
# 1. A vector four times as wide makes up for that: these seeds cannot tell columns 1 and 3 apart. One vector with as many numbers as attention keeps
#    is as good: they cannot tell columns 4 and 5 apart either.
# 2. Four times as wide is not enough: column 3 has more errors than column 1. These seeds cannot tell columns 4 and 5 apart.
# 3. These seeds cannot tell columns 1 and 3 apart. Even with as many numbers, one vector (column 4) makes more errors than attention.
# 4. Four times as wide is not enough, and even with as many numbers, one vector (column 4) makes more errors than attention.
#
# Proceed in this order.
#
# - **Predict.** Set `prediction` to 1, 2, 3 or 4 before you run anything. It is kept as you wrote it, and it need not come true.
# - **Run.** Write one row of five numbers per seed. Set `conclusion = 0` for now and run the check: it says whether your numbers are right. Then run
#   the cell below the check, and look at all five rows.
# - **Conclude.** Set `conclusion` to the answer that *your* five rows support. A difference counts if it has the same sign for every seed, or if it
#   is larger than chance explains: the 95 % interval of the mean difference (Student's t: 2.78 standard errors to each side) does not contain 0.
#
# [[checked]]
#
# [[hints on the run]]
# 1. Which axis of the keys counts the facts? How many summaries does a text have with one vector, and how many with attention?
# 2. With one vector, all questions to a text get the same summary, and each multiplies it by its own key. With attention, the keys are also the
#    queries.
# 3. Keys and values have the shape (texts, n, d), so the sum over the facts is `sum(1, keepdims=True)`.
#
# [[hints on the conclusion]]
# 1. What would you have concluded about columns 1 and 3 from seed 0 alone?
# 2. Take the difference of two columns. Does it have the same sign in every row? If it is 0 in every row, then nothing distinguishes the two.
# 3. Five differences $x$ have the interval $\bar x \pm 2.78\, s / \sqrt 5$, where $s$ is their standard deviation. `np.std(x, ddof=1)` computes it.


# %%
def facts(n, d, seed):
    """Texts of n facts: keys (texts, n, d), values (texts, n, d), where (texts, n), places (50, d), values = places[where]."""
    draw = torch.Generator().manual_seed(seed)
    places = torch.randn(50, d, generator=draw, dtype=torch.float64).numpy()
    keys = 2.0 * torch.randint(0, 2, (320 // n, n, d), generator=draw).numpy() - 1
    where = torch.randint(0, 50, (320 // n, n), generator=draw).numpy()
    return keys, places[where], where, places


def wrong(answers, where, places):
    """The fraction of the answers (texts, n, d) that resemble another place more than their own."""
    return ((answers @ places.T).argmax(-1) != where).mean()


# %%
def one_vector(seeds):
    """The errors of one vector, for several sizes, and of attention, for several seeds.

    seeds: a list -> (prediction, errors (seeds, 5), conclusion)
    """
    ### BEGIN SOLUTION
    prediction = 4
    errors = []
    for seed in seeds:
        row = []
        for n, d in ((4, 64), (16, 64), (16, 256), (16, 2048)):
            keys, values, where, places = facts(n, d, seed)
            summary = (keys * values).sum(1, keepdims=True)
            row.append(wrong(keys * summary, where, places))
        keys, values, where, places = facts(16, 64, seed)
        found, _ = scaled_dot_product_attention(keys, keys, values)
        row.append(wrong(found, where, places))
        errors.append(row)
    conclusion = 1
    return prediction, np.array(errors), conclusion
    ### END SOLUTION


# %%
show_rows("attention.one_vector", one_vector, "column 1", "column 2", "column 3", "column 4", "column 5")

# %% [markdown]
# ## 3. Neither the future nor the padding [[attention.decoder_mask, 15 minutes, medium, core]]
#
# A decoder learns to predict the next word, so the word at position $t$ may look at positions $0, \dots, t$ and no further. And the sentences of a
# batch have different lengths, so the shorter ones are padded, and no word should attend to the padding. Write one mask for both, for a batch of
# sentences with the given `lengths`, all padded to `time` positions.
#
# The picture shows it for one sentence of length 3, padded to 4. Dark = True = may attend.

# %%
show.heatmap(
    [[1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 1, 0]],
    ["0", "1", "2", "pad"],
    ["0", "1", "2", "pad"],
    alt="A mask of 4 queries and 4 keys. Query 0 may attend to key 0; query 1 to keys 0 and 1; queries 2 and 3 to keys 0, 1 "
    "and 2. No query may attend to key 3, which is padding.",
)


# %% [markdown]
# The row of a padded position (query 3) stays as in the picture: it sees all words of its sentence. Nothing uses the result there, and a row without
# any allowed key would only make trouble.
#
# The result has shape `(batch, 1, time, time)`: sentence, head, query, key. The 1 broadcasts over any number of heads. This question is asked in
# PyTorch; for your other functions, `.numpy()` makes an array of the mask.
#
# [[checked]]
#
# [[hints]]
# 1. The picture combines two masks. Which part of it is the same for all sentences, and which part depends on the length?
# 2. Each part compares positions: those of the keys with those of the queries, and those of the keys with the lengths. Give both parts four axes,
#    then combine them.
# 3. With `position = torch.arange(time)`: `position[None, :] <= position[:, None]` has shape (time, time), and `position < lengths[:, None]` has
#    shape (batch, time). Give both four axes with `None`, then combine them.


# %%
def decoder_mask(lengths, time):
    """True where a query may attend to a key: not in the future, and not padding.

    lengths (batch,) integers from 0 to time -> mask (batch, 1, time, time), boolean
    """
    ### BEGIN SOLUTION
    position = torch.arange(time)
    past = position[None, :] <= position[:, None]  # (query, key)
    word = position < lengths[:, None]  # (batch, key)
    return past[None, None, :, :] & word[:, None, None, :]
    ### END SOLUTION


# %% [markdown]
# ## 4. Several heads [[attention.multi_head_attention, 35 minutes, hard, core]]
#
# One softmax per word asks one question per word. Several **heads** ask several questions at once, each in its own slice of the dimensions:
#
# 1. every word sends out a query, offers a key and supplies a value: $Q = X W_q$, $K = X W_k$, $V = X W_v$;
# 2. $Q$, $K$ and $V$ are split along `d_model` into `n_heads` slices of width $d_\text{head} = d_\text{model} / n_\text{heads}$: head 0 gets the
#    first $d_\text{head}$ columns, head 1 the next, and so on;
# 3. each head attends separately, scaled by $\sqrt{d_\text{head}}$;
# 4. the heads' outputs are concatenated again, and $W_o$ mixes them.
#
# This is the split for two words `a`, `b`, with `d_model` 4 and 2 heads. Every head gets *a slice of every word*:
#
# ```text
#           X W_q : (time, d_model)                  heads : (head, time, d_head)
#
#     word a   [ a0  a1 | a2  a3 ]                   head 0   [ a0 a1 ]     head 1   [ a2 a3 ]
#     word b   [ b0  b1 | b2  b3 ]         →                  [ b0 b1 ]              [ b2 b3 ]
# ```
#
# In memory the entries are in the order a0 a1 a2 a3 b0 b1 b2 b3. What goes wrong if you reshape them directly to (head, time, d_head)?

# %%
two_words = np.array([[0, 1, 2, 3], [10, 11, 12, 13]])  # a0 … a3 are 0 … 3, b0 … b3 are 10 … 13
print("(time, d_model):                          ", two_words.tolist())
print("reshaped straight to (head, time, d_head):", two_words.reshape(2, 2, 2).tolist())


# %% [markdown]
# This question writes matrices as in the formula, $X W$, with shape (in, out); `nn.Linear` stores them as (out, in). `x` may be narrower or wider
# than `d_model`, and `W_o` determines the width of the output. Return the weights of every head too: `(batch, head, time, time)`.
#
# [[checked]]
#
# [[hints on splitting]]
# 1. Look at the picture of the split and at the output of the cell above. Why does one reshape alone mix the words?
# 2. Two steps: first split the last axis in two, then swap two axes.
# 3. `x.reshape(batch, time, n_heads, d_head)` splits every word; `.transpose(0, 2, 1, 3)` then brings the heads to the front.
#
# [[hints on joining]]
# 1. Read the picture of the split from right to left. Which entries are next to each other again in the row of word *a*?
# 2. The same two steps backwards, so the swap comes first.
# 3. `.transpose(0, 2, 1, 3)`, then `.reshape(batch, time, n_heads * d_head)`.


# %%
def multi_head_attention(x, W_q, W_k, W_v, W_o, n_heads, mask=None):
    """Self-attention in n_heads slices of d_model, concatenated and mixed by W_o.

    x (batch, time, d_in), W_q, W_k and W_v (d_in, d_model), W_o (d_model, d_out),
    mask broadcasts to (batch, head, time, time), True = may attend
    -> (output (batch, time, d_out), weights (batch, head, time, time))
    """
    ### BEGIN SOLUTION
    batch, time, _ = x.shape

    def cut(y):  # (batch, time, d_model) -> (batch, head, time, d_head)
        return y.reshape(batch, time, n_heads, -1).transpose(0, 2, 1, 3)

    mixed, weights = scaled_dot_product_attention(cut(x @ W_q), cut(x @ W_k), cut(x @ W_v), mask)
    joined = mixed.transpose(0, 2, 1, 3).reshape(batch, time, -1)  # (batch, time, d_model)
    return joined @ W_o, weights
    ### END SOLUTION


# %% [markdown]
# ## 5. By which number? [[attention.score_spread, 15 minutes, medium, more]]
#
# In 2b you divided by $\sqrt d$. Where does that come from, and is it right for *your* vectors? Let the $d$ entries of a query be independent, each with
# mean 0 and variance $a$, and those of a key independent of them and of each other, each with mean $m$ and variance $b$. On paper, derive the variance
# of the dot product $q \cdot k$, and the number by which to divide it so that its variance is 1. Return both as formulas in $d$, $a$, $b$ and $m$.
#
# For $a = b = 1$ and $m = 0$ the divisor should be the one of 2b.
#
# [[checked]] A simulation would be right to two digits only.
#
# [[hints]]
# 1. The dot product is a sum of $d$ products of the same kind. What do you need to know of one of them?
# 2. Variances of independent terms add. One product $q_i k_i$ has mean 0, so its variance is the mean of its square.
# 3. The mean of $q_i^2 k_i^2$ is the product of two means, because the two are independent. The mean of $k_i^2$ is $b + m^2$.


# %%
def score_spread(d, a, b, m):
    """The variance of a dot product, and the number to divide it by for a variance of 1.

    d entries; queries of mean 0 and variance a, keys of mean m and variance b -> (variance, divisor), two numbers
    """
    ### BEGIN SOLUTION
    return d * a * (b + m**2), math.sqrt(d * a * (b + m**2))
    ### END SOLUTION


# %% [markdown]
# ## 6. How many keys does a head look at?
#
# A row of weights that is spread evenly over $n$ keys has the entropy $\ln n$, so $e^H$ is the number of keys that a query looks at. A colleague wants
# the mean of this number over all queries of a batch; padding does not count as a query. Her code runs, and its result lies between 1 and the number of
# keys. One line is wrong.
#
# ### 6a. Which line? [[attention.wrong_line, 10 minutes, medium, more]]
#
# [[listing attention.keys_looked_at]]
#
# Return the number of the wrong line, as in this listing.
#
# [[checked]] You can copy the function into a cell of your own to try it; the check of 6b shows you an input.
#
# [[hints]]
# 1. What should the function return if every query looks at a single key, the same one? Follow the listing with such weights.
# 2. Write the shape of each variable next to its line, and say in words what each axis is.
# 3. In self-attention there are as many queries as keys, so a sum over the wrong one of the two raises no error.


# %%
def wrong_line():
    """The number of the one line of the listing that is wrong."""
    ### BEGIN SOLUTION
    return 7
    ### END SOLUTION


# %% [markdown]
# ### 6b. Mend it [[attention.keys_looked_at, 5 minutes, easy, more]]
#
# This is the colleague's function. Change the line, and nothing else.
#
# [[checked]]
#
# [[hints]]
# 1. Take the smallest weights that the check shows, and compute the entropy of one row on paper.
# 2. An entropy belongs to one query, so it is a sum over the keys.
# 3. The axes are (batch, query, key), and the keys are the last one.


# %%
def keys_looked_at(weights, lengths):
    """How many keys a real query looks at, in the mean: e to the entropy of its weights.

    weights (batch, query, key), each row sums to 1, lengths (batch,) how many queries are real -> a number
    """
    ### BEGIN SOLUTION
    log_weights = weights.clamp(min=1e-30).log()
    entropy = -(weights * log_weights).sum(-1)
    number = entropy.exp()
    real = torch.arange(weights.shape[1]) < lengths[:, None]
    total = (number * real).sum()
    return total / real.sum()
    ### END SOLUTION


# %% [markdown]
# ## 7. An experiment: does width harden attention? [[attention.hardening, 30 minutes, medium, core]]
#
# 2b says that the softmax hardens into a choice of one key if scores of wide vectors are not divided. The **largest weight** of a row measures this: it
# is 1 if one key gets everything. Compare vectors of width 8 and of width 128, without the division (your `attend`, with the plain dot products as
# scores) and with it (your `scaled_dot_product_attention`). `sample` makes 12 random queries, keys and values from a **seed**, as NumPy arrays. Four answers are
# possible:
#
# 1. Without the division, the largest weight is larger at width 128. With it, these samples cannot tell the two widths apart.
# 2. Without the division and with it, the largest weight is larger at width 128.
# 3. Without the division, it is larger at width 128. With it, it is smaller at width 128.
# 4. These samples cannot tell the two widths apart, with or without the division.
#
# Proceed in this order.
#
# - **Predict.** Set `prediction` to 1, 2, 3 or 4 before you run anything. It is kept as you wrote it, and it need not come true.
# - **Run.** `largest` gets one row per seed with four numbers, each the mean over the 12 queries of the largest weight: (width 8, plain), (8,
#   divided), (128, plain), (128, divided). Set `conclusion = 0` for now and run the check: it says whether your numbers are right. Then run the cell
#   below the check, and look at all five rows.
# - **Conclude.** Set `conclusion` to the answer that *your* five rows support. A difference counts if it has the same sign for every seed, or if it
#   is larger than chance explains: the 95 % interval of the mean difference (Student's t: 2.78 standard errors to each side) does not contain 0.
#
# [[checked]]
#
# [[hints on the run]]
# 1. How often do you need `sample` for one row, and what do the two numbers of one width share?
# 2. Use two loops, over seeds and over widths. Both of your functions return the weights as their second result.
# 3. The largest weight of each query is `max(-1)` of the weights; its mean over the queries is one number.
#
# [[hints on the conclusion]]
# 1. Compare the second and the fourth column, seed by seed. What would you have concluded from seed 0 alone, and what from seed 1?
# 2. Take the difference of two columns. Does it have the same sign in every row?
# 3. Five differences $x$ have the interval $\bar x \pm 2.78\, s / \sqrt 5$, where $s$ is their standard deviation. `np.std(x, ddof=1)` computes it.


# %%
def sample(d, seed):
    """12 random queries, keys and values of width d, each (12, d)."""
    draw = torch.Generator().manual_seed(seed)
    return tuple(torch.randn(12, d, generator=draw).numpy() for _ in range(3))


# %%
def hardening(seeds):
    """The largest weight at two widths, without and with the division, for several seeds.

    seeds: a list -> (prediction, largest (seeds, 4), conclusion)
    """
    ### BEGIN SOLUTION
    prediction = 1
    largest = []
    for seed in seeds:
        row = []
        for d in (8, 128):
            q, k, v = sample(d, seed)
            _, plain = attend(q @ k.T, v)
            _, divided = scaled_dot_product_attention(q, k, v)
            row += [plain.max(-1).mean(), divided.max(-1).mean()]
        largest.append(row)
    conclusion = 1
    return prediction, np.array(largest), conclusion
    ### END SOLUTION


# %%
show_rows("attention.hardening", hardening, "8, plain", "8, divided", "128, plain", "128, divided")

# %% [markdown]
# ## Your function in a real network
#
# MiniLM is a Transformer with 6 layers of 12 heads, trained on a billion sentence pairs. The next cell runs a sentence through it and records the
# input of its fourth layer, and that layer's matrices. Then *your* `multi_head_attention` does the layer's work. There is nothing to write here. Run
# it when question 4 passes.
#
# MiniLM adds a bias to every projection, $x W + b$. Your function has no $b$, and needs none: with a 1 appended to $x$ and $b$ as an additional row
# of $W$, the product is the same.

# %%
sentence = "The animal did not cross the street because it was too tired."
layer, head = 3, 1


def matrix(linear):
    """W with b as its last row: (in + 1, out)."""
    return torch.cat([linear.weight.T, linear.bias[None, :]]).detach().numpy()


def read(encoder, tokens, layer):
    """The input of the layer, with a 1 appended to every word's vector, and the layer's own weights."""
    from nlmcore.inspect import capture

    seen = []
    hook = encoder.layers[layer].attention.register_forward_pre_hook(lambda module, given: seen.append(given[0]))
    with capture(encoder) as tape, torch.no_grad():
        encoder(torch.tensor([tokens]))
    hook.remove()
    x = torch.cat([seen[0], torch.ones(*seen[0].shape[:2], 1)], dim=-1)
    return x.numpy(), tape[f"layers.{layer}.attention"].numpy()


if passes("attention.multi_head_attention", multi_head_attention):
    from nlmcore.pretrained import minilm

    encoder, tokenizer = minilm()
    x, theirs = read(encoder, tokenizer.encode(sentence), layer)
    attention = encoder.layers[layer].attention
    W_q, W_k, W_v = (matrix(part) for part in (attention.query, attention.key, attention.value))
    W_o = attention.output.weight.T.detach().numpy()
    output, weights = (np.asarray(part) for part in multi_head_attention(x, W_q, W_k, W_v, W_o, n_heads=12))
    print(f"Largest difference between your weights and MiniLM's own: {np.abs(weights - theirs).max():.7f}")
    words = tokenizer.pieces(sentence)
    picture = show.attention_html(weights[0, head], words, selected=words.index("it") if "it" in words else None)
else:
    picture = "<p>Come back here when question 4 passes.</p>"
HTML(picture)

# %% [markdown]
# Hover over the words. Then change `sentence` (what if the street was too *wide*?), `layer` (0 to 5) and `head` (0 to 11), and run the cell again.
# Many heads look at the previous or the next word, or at `[CLS]`, the special token at the start. That last habit is worth a thought for question 8.

# %% [markdown]
# ## 8. In your own words [[written, 20 minutes, 4 points, core]]
#
# In about eight sentences, for somebody who knows what a vector is and has not heard the lecture:
#
# 1. Why is one vector of fixed width a bottleneck for a translator, and how does attention get around it?
# 2. What does attention cost for a source of $n$ and a target of $m$ words, and what does it buy?
# 3. Describe one situation in which an attention heatmap would mislead its reader about why the model answered as it did.
#
# ### BEGIN MARK SCHEME
# One point each; half points are fine. The wording does not matter, the reason does.
#
# 1. **Bottleneck** (1): the vector has the same number of entries whether the sentence has 3 words or 60, so it can distinguish only so many
#    sentences, and early words are overwritten. Half a point for "it forgets" without the fixed size.
# 2. **Way around** (1): all encoder states are kept (a memory that is only read), and each step computes its own weighted sum of them. Half a point
#    if it does not say that the weights depend on the step.
# 3. **Cost** (1): a score for every pair, O(n·m), where there was O(n+m); this buys that every source word is one step away (in self-attention also:
#    all scores at once). Half a point for only the cost. The O(n+m) steps remain: n·m is added.
# 4. **Misleading heatmap** (1): any of these, with a reason: a large weight on [CLS] (in BERT, [SEP] or punctuation), where the head rests and the
#    value is small; the output depends on weight times *value*, not on the weight; the vector at a position in layer 4 is already a mixture of many
#    words; other weights could give the same answer (Jain & Wallace 2019), so the picture is not the reason. Nothing for "it may be wrong" without a
#    mechanism.
# ### END MARK SCHEME

# %% [markdown]
# An encoder that passes on one vector has the same number of entries for three words as for sixty. So beyond some length two different sentences must
# end up in nearly the same vector, and the decoder cannot know which it was. Attention keeps the state of every source word and lets each step of the
# decoder compute its own weights, so nothing has to be packed.
#
# Each of the m steps scores each of the n words: n·m scores on top of the n+m steps. In return every source word is one step away from every target
# word. In self-attention all scores can even be computed in parallel, as no step waits for another.
#
# In many heads of MiniLM the largest weight falls on [CLS], the special token at the start. The heatmap then suggests that this token matters, but
# its value vector is short and adds little: the head is resting. What counts is the weight times the value, and after the first layer
# the value at a position is itself a mixture of other words.

# %% [markdown]
# ---
# **Before you hand in:** *Kernel → Restart Kernel and Run All Cells*. Every check should say what you expect, and
# question 8 should be answered in your own words. Save the notebook under its own name: the grader looks for `attention.ipynb`.
