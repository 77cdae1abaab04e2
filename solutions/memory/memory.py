# %% [markdown]
# # Assignment: memory
#
# You build a memory that is one matrix, and never grows. First it is a loop, then a few products of matrices for many tokens at once, and both give the
# same. Then a small model learns live, with *your* memory in place of attention, to keep the newest value of each key. In between you derive what
# becomes of an old value, find a bug in somebody else's layer, and measure when erasing is a mistake.
#
# [[questions]]
#
# [[how it works]]
#
# [[closed]]
# Everything else is open. If you need a function from an earlier question, call yours.
#
# You need the lecture *Memory without attention*. Nothing is downloaded.
#
# | here | meaning |
# |---|---|
# | $q_t$, $k_t$, $v_t$ | query, key and value of token $t$; vectors are rows |
# | $S_t$ | the matrix after token $t$, with a row for each dimension of a key |
# | $a_t$, $b_t$, $w_t$ | numbers: how much is kept of everything, erased under the key, and written |
# | n | that many memories work side by side, for example one for each head of each text; they never mix |
#
# Inputs are float32 or float64, and a product needs one type: `torch.zeros(…)` is float32 unless you say `dtype=v.dtype`.

# %%
import math

import torch
from IPython.display import HTML
from torch.nn import functional as F

from autograder.check import check, failing, passes, show_rows
from lectures import show

torch.set_num_threads(1)
torch.set_printoptions(precision=3, sci_mode=False)

# %% [markdown]
# ## 1. Token by token [[memory.step_by_step, 25 minutes, medium, core]]
#
# A token does four things, in this order. Everything in the matrix fades, to $a_t S_{t-1}$. The memory reads what this leaves under the key. It adds
# $u_t$ under the key, the new value less a part of what it has read. Then the query reads:
#
# $$u_t = w_t v_t - b_t\, k_t\, (a_t S_{t-1}), \qquad S_t = a_t S_{t-1} + k_t^\top u_t, \qquad y_t = q_t S_t .$$
#
# Return $y_t$ and $u_t$ of every token, and the matrix after the last one. The text begins with a given matrix, which is not always zero. Keys may have
# any length.
#
# By hand, with one dimension, $k = q = 1$, $b = w = \tfrac12$, and an empty memory:
#
# | token | $v$ | $a$ | fades to | $u$ | $S$ and $y$ |
# |---|---|---|---|---|---|
# | 1 | 4 | 1 | 0 | 2 − 0 | 2 |
# | 2 | 8 | ½ | 1 | 4 − ½ | 4½ |
#
# [[checked]]
#
# [[hints]]
# 1. Follow the second row of the table. Which matrix is read under the key, the one before the fading or the one after it?
# 2. A loop over the tokens changes one tensor of `n` matrices. `torch.einsum` or a matrix product reads with a row, and an outer product writes. At the end
#    `torch.stack` puts the tokens side by side.
# 3. `k[:, t, None] @ S` has the shape (n, 1, d_value), and `k[:, t, :, None] * u[:, None]` are the outer products. Gates need two more axes:
#    `a[:, t, None, None]`. Do not change the given matrix in place.


# %%
def step_by_step(q, k, v, a, b, w, S):
    """Reads a text with n memories, one token after the other.

    q, k (n, time, d_key), v (n, time, d_value), a, b, w (n, time), S (n, d_key, d_value): before the text
    -> (y, u, S): y and u (n, time, d_value), S after the last token
    """
    ### BEGIN SOLUTION
    outputs, written = [], []
    for t in range(k.shape[1]):
        S = a[:, t, None, None] * S
        held = (k[:, t, None] @ S)[:, 0]
        u = w[:, t, None] * v[:, t] - b[:, t, None] * held
        S = S + k[:, t, :, None] * u[:, None]
        outputs.append((q[:, t, None] @ S)[:, 0])
        written.append(u)
    return torch.stack(outputs, 1), torch.stack(written, 1), S
    ### END SOLUTION


# %% [markdown]
# ## 2. Whose memory is it? [[memory.gates, 15 minutes, easy, core]]
#
# Published models write this update in their own letters. In many papers vectors are columns, and the matrix is the transpose of ours. Here are six of
# them in one notation, and a control:
#
# | model | its update |
# |---|---|
# | `linear` attention (Katharopoulos et al. 2020) | $M_t = M_{t-1} + v_t k_t^\top$ |
# | `retention` (Sun et al. 2023) | $M_t = \gamma_h M_{t-1} + v_t k_t^\top$ with $\gamma_h = 1 - 2^{-5-h}$ |
# | random features with a gate, `rfa` (Peng et al. 2021) | $M_t = \alpha_t M_{t-1} + (1 - \alpha_t)\, v_t k_t^\top$ |
# | `selective` scan, Mamba-2 (Dao & Gu 2024) | $M_t = e^{-\Delta_t A_h} M_{t-1} + \Delta_t\, v_t k_t^\top$ |
# | `delta`, DeltaNet (Schlag et al. 2021) | $M_t = M_{t-1} - \beta_t\, (M_{t-1} k_t - v_t)\, k_t^\top$ |
# | `gated delta`, Gated DeltaNet (Yang et al. 2025) | $M_t = \alpha_t M_{t-1} (I - \beta_t k_t k_t^\top) + \beta_t v_t k_t^\top$ |
# | `gated writes`, the control | $M_t = M_{t-1} + \beta_t v_t k_t^\top$ |
#
# The model computes $\alpha$, $\beta$ and $\Delta$ from each token. $h = 0, 1, \dots$ is the number of the memory, and $A_h$ is its `rate`. Find the three
# gates with which the equations of question 1 give each of these updates. All three have the shape (n, time), also where they are constant.
#
# [[checked]]
#
# [[hints]]
# 1. Transpose both sides of one row. What is multiplied by the old matrix alone, and what by the outer product of key and value?
# 2. In the rows of `delta`, multiply the bracket out and sort: terms with the old matrix, terms with the value. `torch.ones_like` and `torch.zeros_like`
#    make tables of constants.
# 3. `torch.arange(len(alpha))[:, None]` numbers the memories, and `rate[:, None]` has a column for the tokens. For `delta`, erasing and writing are both β.


# %%
def gates(model, alpha, beta, delta, rate):
    """The gates of a published model.

    model: linear, retention, rfa, selective, delta, gated delta or gated writes;
    alpha, beta, delta (n, time): α, β and Δ of each token; rate (n,): A of each memory -> (a, b, w), each (n, time)
    """
    ### BEGIN SOLUTION
    one, zero = torch.ones_like(beta), torch.zeros_like(beta)
    head = torch.arange(len(beta), dtype=beta.dtype)[:, None]
    return {
        "linear": (one, zero, one),
        "retention": ((1 - 2 ** (-5 - head)) * one, zero, one),
        "rfa": (alpha, zero, 1 - alpha),
        "selective": (torch.exp(-delta * rate[:, None]), zero, delta),
        "delta": (one, beta, beta),
        "gated delta": (alpha, beta, beta),
        "gated writes": (one, zero, beta),
    }[model]
    ### END SOLUTION


# %% [markdown]
# ## 3. Many tokens at once
#
# The loop computes small products, one after the other. Now you compute a **chunk**, a stretch of text, with few large ones.
#
# ### 3a. What is left [[memory.decays, 20 minutes, medium, core]]
#
# What token $j$ writes fades with every later token. At token $i \ge j$ the part $D_{ij} = a_{j+1} \cdots a_i$ is left of it, and $D_{i0} = a_1 \cdots a_i$ of
# the matrix before the chunk. Return both, with zeros for $j > i$. By hand, for $a = (0.5, 0.2, 0.1)$:
#
# | | of token 1 | of token 2 | of token 3 | of the matrix before |
# |---|---|---|---|---|
# | at token 1 | 1 | 0 | 0 | 0.5 |
# | at token 2 | 0.2 | 1 | 0 | 0.1 |
# | at token 3 | 0.02 | 0.1 | 1 | 0.01 |
#
# [[checked]] A gate may be 0, which means that the memory forgets everything. A chunk may be long.
#
# [[hints]]
# 1. Go down one column of the table. By what is each number multiplied to get the next one? Does the column of token 1 contain the gate of token 1?
# 2. A quotient of two running products is 0 / 0 after a gate of 0. Fill a square with gates below the diagonal, and with ones elsewhere, and let
#    `cumprod` run down the columns. Or build the rows in a loop.
# 3. `torch.where(below, a[:, :, None], 1.0)` is the square, if `below` is true for i > j. `tril` deletes what is above the diagonal.


# %%
def decays(a):
    """What is left of each token, and of the matrix before the chunk, at each token.

    a (n, time) -> (within (n, time, time), before (n, time)); within[:, i, j] is left of token j at token i
    """
    ### BEGIN SOLUTION
    time = a.shape[1]
    below = torch.ones(time, time, dtype=torch.bool).tril(-1)
    within = torch.where(below, a[:, :, None], 1.0).cumprod(1).tril()
    return within, a.cumprod(1)
    ### END SOLUTION


# %% [markdown]
# ### 3b. Equations for all that is written [[memory.system, 25 minutes, hard, core]]
#
# What is under the key of token $i$ when it reads? The faded matrix before the chunk, and what earlier tokens of the chunk have written, faded as well:
#
# $$u_i = w_i v_i - b_i \Big( D_{i0}\, k_i S_0 + \sum_{j < i} D_{ij}\, (k_i \cdot k_j)\, u_j \Big) .$$
#
# These are linear equations for the rows $u_1, u_2, \dots$ Write them as $(I + L)\, u = R$, where $L$ has zeros on and above its diagonal. Return $L$ and
# $R$. Nothing is solved yet.
#
# By hand, with one dimension: keys $(1, 2)$, values $(3, 4)$, $a = (1, \tfrac12)$, $b = (1, \tfrac12)$, $w = (1, 1)$ and $S_0 = 2$. Then
# $L = \begin{pmatrix} 0 & 0 \\ \tfrac12 & 0 \end{pmatrix}$ and $R = \begin{pmatrix} 3 - 2 \\ 4 - 1 \end{pmatrix}$, so $u = (1, 2\tfrac12)$.
#
# [[checked]]
#
# [[hints on the left side]]
# 1. In the example, three factors make the ½ in L. Which token does each belong to, the reading one or the one that has written?
# 2. All dot products of keys are one product of matrices. Multiply it by what is left, and each *row* by a gate. `tril` keeps what is below the diagonal.
# 3. `k @ k.mT` has the dot products, and `b[:, :, None]` multiplies the rows.
#
# [[hints on the right side]]
# 1. Which terms of the equation contain no u at all?
# 2. Those with the new value, and those with the matrix before the chunk. All keys read that matrix in one product.
# 3. `k @ S` is what all keys read. Each row of it has faded, and is erased in part: `(b * before)[:, :, None]`.


# %%
def system(k, v, a, b, w, S):
    """The equations (I + L) u = R for what the tokens of a chunk write.

    k (n, time, d_key), v (n, time, d_value), a, b, w (n, time), S (n, d_key, d_value): before the chunk
    -> (L (n, time, time), R (n, time, d_value))
    """
    ### BEGIN SOLUTION
    within, before = decays(a)
    lower = (b[:, :, None] * within * (k @ k.mT)).tril(-1)
    return lower, w[:, :, None] * v - (b * before)[:, :, None] * (k @ S)
    ### END SOLUTION


# %% [markdown]
# ### 3c. A chunk [[memory.one_chunk, 25 minutes, hard, core]]
#
# Solve the equations for $u$. Then every query reads the matrix before the chunk, and all that was written up to its own token:
#
# $$y_i = D_{i0}\, q_i S_0 + \sum_{j \le i} P_{ij}\, u_j, \qquad P_{ij} = D_{ij}\, (q_i \cdot k_j) .$$
#
# $P$ is what attention calls scores, with a causal mask and without a softmax. Return $P$, all $y_i$, and the matrix after the chunk.
#
# In the example of 3b, with queries $(1, 1)$: $P = \begin{pmatrix} 1 & 0 \\ \tfrac12 & 2 \end{pmatrix}$, $y = (2 + 1,\; 1 + \tfrac12 + 5) = (3, 6\tfrac12)$, and the matrix
# after the chunk is $6\tfrac12$, too.
#
# [[checked]] At the end gradients will flow through your function, so compute with tensors, and change none in place.
#
# [[hints on the outputs]]
# 1. A query reads what its own token has just written. Which numbers of P are zero, and what is on the diagonal?
# 2. `torch.linalg.solve_triangular` or `torch.linalg.solve` gives u; rows one after the other are as right. Then the outputs are two products of matrices.
# 3. `torch.linalg.solve_triangular(L, R, upper=False, unitriangular=True)` takes the ones of I for granted. `within * (q @ k.mT)` is P.
#
# [[hints on the matrix]]
# 1. How much of the old matrix is left at the end? How much of what token j has written?
# 2. What is left at the *last* token is the last row of what 3a returns. Keys, transposed, times rows of u is a sum of outer products.
# 3. `(k * within[:, -1, :, None]).mT @ u` is what the chunk has added. `before[:, -1, None, None]` multiplies the old matrix.


# %%
def one_chunk(q, k, v, a, b, w, S):
    """Reads a chunk at once.

    q, k (n, time, d_key), v (n, time, d_value), a, b, w (n, time), S (n, d_key, d_value): before the chunk
    -> (P (n, time, time), y (n, time, d_value), S after the chunk)
    """
    ### BEGIN SOLUTION
    within, before = decays(a)
    lower, right = system(k, v, a, b, w, S)
    u = torch.linalg.solve_triangular(lower, right, upper=False, unitriangular=True)
    scores = within * (q @ k.mT)
    y = before[:, :, None] * (q @ S) + scores @ u
    added = (k * within[:, -1, :, None]).mT @ u
    return scores, y, before[:, -1, None, None] * S + added
    ### END SOLUTION


# %% [markdown]
# **The law.** However a text is cut, the outputs are the same, if each chunk begins with the matrix that the previous one has left. There is nothing to
# write here: your loop is compared with your chunks.


# %%
def in_chunks(q, k, v, a, b, w, S, size):
    """y of a whole text and the last S, from your `one_chunk`."""
    outputs = []
    for piece in zip(*(x.split(size, 1) for x in (q, k, v, a, b, w)), strict=True):
        _, y, S = one_chunk(*piece, S)
        outputs.append(torch.as_tensor(y))
    return torch.cat(outputs, 1), torch.as_tensor(S)


def unit(x):
    """Rows of length 1."""
    return F.normalize(x, dim=-1)


if passes("memory.step_by_step", step_by_step) and passes("memory.one_chunk", one_chunk):
    draw = torch.Generator().manual_seed(0)
    q, k = (unit(torch.randn(6, 200, 16, generator=draw)) for _ in "qk")
    v, gates_of = torch.randn(6, 200, 8, generator=draw), torch.rand(3, 6, 200, generator=draw)
    text = (q, k, v, 0.9 + 0.1 * gates_of[0], gates_of[1], gates_of[2], torch.zeros(6, 16, 8))
    by_loop = torch.as_tensor(step_by_step(*text)[0])
    for size in (1, 7, 50, 200):
        print(f"chunks of {size:3}: largest difference {(in_chunks(*text, size)[0] - by_loop).abs().max():.0e}")
else:
    print("Come back here when questions 1 and 3 pass.")

# %% [markdown]
# ## 4. What becomes of an old value? [[memory.rewritten, 20 minutes, medium, more]]
#
# An old value $v$ is written into an empty memory under the key $k$. Then a new value $v'$ is written $n$ times under the same key. All these tokens have the same gates
# $a$, $b$ and $w$, and $k k^\top = s$. Nothing else is written. A query equal to the key reads $k S = \text{old} \cdot v + \text{new} \cdot v'$.
#
# On paper, derive three formulas:
#
# 1. The factor **old**.
# 2. The factor **new**.
# 3. The **limit**: the largest $b$ with which the factor *old* does not grow with $n$, in absolute value.
#
# Some of today's models let $b$ be as large as 2 (Grazzi et al. 2025). Does your limit allow that, for $s = 1$ and $a = 1$?
#
# [[checked]] $0 < a < 1$; the other numbers are positive, and $n$ is an integer.
#
# [[hints on both factors]]
# 1. Multiply the update by the key from the left. What happens to what is read under it in one step?
# 2. Each step multiplies it by the same number r, and then adds a multiple of the new value. What is added early is multiplied often: a geometric series.
# 3. $r = a\,(1 - b s)$, and every write adds $w s$ times its value. The old value is written once, before these $n$ steps.
#
# [[hints on the limit]]
# 1. For which r does a power of r not grow?
# 2. If b grows, r becomes negative at some point. Where does it leave the interval from −1 to 1?
# 3. Solve $a\,(1 - b s) = -1$ for $b$.


# %%
def rewritten(a, b, w, s, n):
    """What a query reads of the old and of the new value, as factors, and the largest b that keeps the memory bounded.

    a, b, w: gates, s: the squared length of the key, n: how often the new value is written -> (old, new, limit)
    """
    ### BEGIN SOLUTION
    r = a * (1 - b * s)
    old = w * s * r**n
    new = w * s * (1 - r**n) / (1 - r)
    limit = (1 + 1 / a) / s
    return old, new, limit
    ### END SOLUTION


# %% [markdown]
# ## 5. A layer that knows the future
#
# A friend's layer makes queries, keys and values from the vectors of a text, for several heads. Its loss is better than yours. But it does not obey the law: when it reads
# the same text in two pieces, it returns something else, and text that it writes token by token is nonsense. One line is wrong.
#
# ### 5a. Which line? [[memory.wrong_line, 10 minutes, medium, more]]
#
# [[listing memory.vectors]]
#
# Return the number of the wrong line, as in this listing. Queries and keys should have length 1 in every head.
#
# [[checked]] You can copy the function into a cell of your own to try it; the check of 5b shows you an input.
#
# [[hints]]
# 1. Which line lets one token know something of another?
# 2. Write down the shape after each line, with different numbers of tokens, heads and dimensions. Which axis is the text?
# 3. Read one token alone, and then the same token as the first of two. Which line gives different numbers?


# %%
def wrong_line():
    """The number of the one line of the listing that is wrong."""
    ### BEGIN SOLUTION
    return 10
    ### END SOLUTION


# %% [markdown]
# ### 5b. Mend it [[memory.vectors, 5 minutes, easy, more]]
#
# This is the friend's function. Change the line, and nothing else.
#
# [[checked]]
#
# [[hints]]
# 1. In the input that the check shows, what are the lengths of the queries and keys that your function returns?
# 2. The length of a vector is the root of the sum over its own dimensions, in one head of one token.
# 3. The dimensions of a head are the last axis.


# %%
def vectors(x, W_qk, W_v, heads):
    """Queries, keys and values of each head; queries and keys have length 1.

    x (time, d_model), W_qk (2, d_model, heads * d_key), W_v (d_model, heads * d_value)
    -> (q, k (heads, time, d_key), v (heads, time, d_value))
    """
    ### BEGIN SOLUTION
    time = len(x)
    both = (x @ W_qk).view(2, time, heads, -1)
    both = both.transpose(1, 2)
    length = both.norm(dim=3, keepdim=True)
    q, k = both / length.clamp(min=1e-6)
    v = (x @ W_v).view(time, heads, -1)
    return q, k, v.transpose(0, 1)
    ### END SOLUTION


# %% [markdown]
# ## 6. An experiment: when is erasing a mistake? [[memory.which_forgets, 35 minutes, medium, core]]
#
# With 16 keys of the lecture's trained memories, the delta rule overwrote best. Now nothing is trained: keys are random directions with $d$ dimensions and
# values are random, with a mean square of 1. Two rules write the same texts, and afterwards every key is asked for its newest value:
#
# | rule | $a$ | $b$ | $w$ |
# |---|---|---|---|
# | erase | 1 | 1 | 1 |
# | fade | `keep` | 0 | 1 |
#
# The error is the mean squared difference between what is read and the newest value, over all texts, keys and dimensions. A situation is (number of
# keys, how often each is written). On the page $d = 16$, `keep` is 0.95, and there are three situations: (1) few keys, 4, each written once; (2) the
# same 4, each written twice; (3) many keys, 32, each written once.
#
# - **Predict.** In which situation does *fade* have the lower error? Set `prediction` to its number, or to your first guess if you expect it in several. 4
#   means none. It is kept as you wrote it, and it need not come true.
# - **Run.** `random_texts` makes the texts of one situation and seed. Read them with your `step_by_step`, starting from zeros, once with each rule.
#   `errors` gets one row for each seed: erase and fade in situation 1, then in 2, then in 3.
# - **Judge.** `signs` has one row for each seed and one number for each situation: 1 where *erase* has the lower error of your own two, −1 where *fade* has.
#   Compute it. The check also tries other situations, where other rules win. Then run the cell below the check, and look at all five rows.
#
# [[checked]]
#
# [[hints on the run]]
# 1. Which loops do you need, one inside the other? What is the same for both rules?
# 2. A gate is one number here, and your function wants a table of the shape (texts, time). `torch.full` makes one. The matrix after the text
#    can be read with all keys at once.
# 3. `asked @ S` is what the memory has under each key. The error is the mean of its squared difference from `newest`.
#
# [[hints on the signs]]
# 1. Which two columns belong to one situation?
# 2. A difference of two errors has a sign. Mind which one is subtracted.
# 3. With an `errors` tensor, `errors[:, 0::2]` are the errors of erasing, and `torch.sign` gives 1 or −1.


# %%
def random_texts(d, keys, times, seed, count=32):
    """Texts in which each key is written `times` times, in a random order.

    -> (k (count, time, d), v (count, time, d), asked (count, keys, d): the keys, newest (count, keys, d): the value
    that each should have at the end)
    """
    draw = torch.Generator().manual_seed(seed)
    asked = unit(torch.randn(count, keys, d, generator=draw, dtype=torch.float64))
    v = torch.randn(count, keys * times, d, generator=draw, dtype=torch.float64)
    order = torch.cat([torch.rand(count, keys, generator=draw).argsort(1) for _ in range(times)], 1)
    last = torch.stack([(order == key).nonzero()[:, 1].view(count, times)[:, -1] for key in range(keys)], 1)
    rows = torch.arange(count)[:, None]
    return asked[rows, order], v, asked, v[rows, last]


# %%
def which_forgets(d, keep, situations, seeds):
    """The errors of two rules in some situations, for several seeds, and which is lower.

    d: dimensions, keep: a of the rule that fades, situations: (keys, times) each, seeds: a list
    -> (prediction, errors (seeds, 2 * situations), signs (seeds, situations))
    """
    ### BEGIN SOLUTION
    prediction = 3
    errors = []
    for seed in seeds:
        row = []
        for keys, times in situations:
            k, v, asked, newest = random_texts(d, keys, times, seed)
            one = torch.ones(k.shape[:2], dtype=v.dtype)
            empty = torch.zeros(len(k), d, d, dtype=v.dtype)
            for a, b in ((1.0, 1.0), (keep, 0.0)):
                _, _, S = step_by_step(k, k, v, a * one, b * one, one, empty)
                row.append(float((asked @ S - newest).square().mean()))
        errors.append(row)
    signs = [[1 if row[i] < row[i + 1] else -1 for i in range(0, len(row), 2)] for row in errors]
    return prediction, errors, signs
    ### END SOLUTION


# %%
show_rows("memory.which_forgets", which_forgets, "1 erase", "1 fade", "2 erase", "2 fade", "3 erase", "3 fade")

# %% [markdown]
# A memory that always returns zero has an error of 1, the mean square of a value. Compare your last two columns with it.
#
# ## 7. What does a memory weigh? [[memory.held, 15 minutes, easy, core]]
#
# A model of `layers` layers reads one text of `n` tokens. Every layer has `heads` heads with queries of $d$ dimensions, and `shared` heads of keys and values,
# also of $d$ dimensions, which the query heads share. How many *bytes* does its memory take? A number of a cache takes 2 bytes (half precision), a number of a
# matrix takes 4 (single precision), because it is added to at every token.
#
# - **cache**: every layer keeps the keys and values of all tokens.
# - **window**: every layer keeps those of the last `window` tokens.
# - **matrices**: every layer has one matrix of $d \times d$ for each of its `heads` heads.
# - **mixture**: every `every`-th layer has a cache, the others have matrices. `layers` is a multiple of `every`, which is at least 2.
# - **even**: the smallest number of tokens at which the cache takes more bytes than the mixture. It does not depend on `n`.
#
# By hand: 4 layers, 2 heads, 1 shared head, $d = 3$, $n = 5$, a window of 2, `every` 4. The cache takes $4 \cdot 2 \cdot 1 \cdot 3 \cdot 5 \cdot 2 = 240$
# bytes, the window 96, the matrices $4 \cdot 2 \cdot 9 \cdot 4 = 288$, and the mixture $60 + 216 = 276$. From 7 tokens on the cache takes more than the mixture.
#
# [[checked]]
#
# [[hints on the bytes]]
# 1. What does a token add to the cache of one layer? What happens to a window if the text is shorter?
# 2. Compute one layer of each kind, and then multiply by the number of such layers. A window holds the smaller of two numbers of tokens.
# 3. A layer's cache takes 4 · `shared` · d bytes for a token, and its matrices take 4 · `heads` · d · d.
#
# [[hints on the break-even]]
# 1. Which layers are the same in both models?
# 2. Only the layers with matrices differ. So compare one layer's cache with one layer's matrices.
# 3. At the quotient of the two both take the same, so the answer is one more.


# %%
def held(n, layers, heads, shared, d, window, every):
    """Bytes of four memories, and from how many tokens on the cache takes more than the mixture.

    all arguments: positive integers -> (cache, window, matrices, mixture, even), five integers
    """
    ### BEGIN SOLUTION
    token, matrix = 2 * 2 * shared * d, 4 * heads * d * d
    full = layers // every
    mixture = full * token * n + (layers - full) * matrix
    return layers * token * n, layers * token * min(n, window), layers * matrix, mixture, matrix // token + 1
    ### END SOLUTION


# %% [markdown]
# ## Your functions at work
#
# A text writes values under 8 keys, half of them once and half twice, in random order. Then it asks for all 8, and a model of one layer must answer with the
# newest values. It has your `one_chunk` where a Transformer has attention, and your `gates`. Two models are trained live, from the same first weights, and
# differ only in the erasing. There is nothing to write here. Run it when the checks above pass.

# %%
KEYS = VALUES = 16
ready = passes("memory.gates", gates) and passes("memory.one_chunk", one_chunk)


def questions(texts, keys, draw):
    """Ids of keys and of values in the texts, the newest value of each key asked for, and the one before it (or −1)."""
    writes = 3 * keys // 2
    names = torch.rand(texts, KEYS, generator=draw).argsort(1)[:, :keys]
    about = torch.rand(texts, writes, generator=draw).argsort(1) % keys  # the first half of the keys comes twice
    values = torch.randint(VALUES, (texts, writes), generator=draw)
    newest, older = torch.full((2, texts, keys), -1)
    for t in range(writes):
        now = about[:, t : t + 1]
        older = older.scatter(1, now, newest.gather(1, now))
        newest = newest.scatter(1, now, values[:, t : t + 1])
    asked = torch.rand(texts, keys, generator=draw).argsort(1)
    ids = names.gather(1, torch.cat([about, asked], 1))
    values = torch.cat([values, torch.full_like(asked, VALUES)], 1)  # the last id of values is the question mark
    return ids, values, newest.gather(1, asked), older.gather(1, asked)


class Memory(torch.nn.Module):
    """A layer with one memory: `rule` is a name of question 2."""

    def __init__(self, rule, d_model=32, d=16):
        super().__init__()
        self.rule, self.d = rule, d
        self.keys, self.values = torch.nn.Embedding(KEYS, d_model), torch.nn.Embedding(VALUES + 1, d_model)
        self.project, self.strength = torch.nn.Linear(d_model, 3 * d), torch.nn.Linear(d_model, 1)
        self.output = torch.nn.Linear(d, VALUES)

    def forward(self, ids, values):
        """(P, the logits of a value at every token)."""
        x = self.keys(ids) + self.values(values)
        q, k, v = self.project(x).split(self.d, -1)
        beta = self.strength(x)[:, :, 0].sigmoid()
        a, b, w = gates(self.rule, beta, beta, beta, torch.ones(len(x)))
        P, y, _ = one_chunk(unit(q), unit(k), v, a, b, w, torch.zeros(len(x), self.d, self.d))
        return P, self.output(y)


def reached():
    """Whether a gradient reaches every parameter through your functions."""
    model = Memory("delta")
    try:
        model(*questions(2, 4, torch.Generator().manual_seed(0))[:2])[1].sum().backward()
    except (RuntimeError, TypeError):
        return False
    return all(p.grad is not None for p in model.parameters())


if ready and not reached():
    ready = False
    print(
        "The gradient stops in your `one_chunk` or `gates`: compute with tensors from beginning to end, do not detach any,"
        " and change none in place."
    )


def learn(rule, steps=300, keys=8, seed=0):
    """A trained model, and the loss at each step."""
    torch.manual_seed(seed)
    model, draw = Memory(rule), torch.Generator().manual_seed(seed)
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-2)
    losses = []
    for _ in range(steps):
        ids, values, newest, _ = questions(32, keys, draw)
        logits = model(ids, values)[1][:, -keys:]
        loss = F.cross_entropy(logits.flatten(0, 1), newest.flatten())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(float(loss.detach()))
    return model, losses


@torch.no_grad()
def shares(model, keys=8):
    """Right answers for keys written once and twice, and answers with the old value, on 500 new texts."""
    ids, values, newest, older = questions(500, keys, torch.Generator().manual_seed(999))
    found = model(ids, values)[1][:, -keys:].argmax(-1)
    once, twice = older < 0, (older >= 0) & (older != newest)
    return [
        float(part.float().mean())
        for part in ((found == newest)[once], (found == newest)[twice], (found == older)[twice])
    ]


runs = {}
if ready:
    for rule in ("delta", "gated writes"):
        runs[rule] = learn(rule)
        once, twice, old = shares(runs[rule][0])
        print(f"{rule:13} once: {once:4.0%} right; twice: {twice:4.0%} right, {old:4.0%} the old value")

# %%
picture = "Come back here when questions 2 and 3 pass."
if runs:
    ends = "; ".join(f"{rule} {losses[0]:.2f} to {losses[-1]:.2f}" for rule, (_, losses) in runs.items())
    picture = HTML(
        show.lines_svg(
            range(1, 301),
            {rule: losses for rule, (_, losses) in runs.items()},
            x_title="step",
            y_title="loss in nats",
            low=0,
            high=max(max(losses) for _, losses in runs.values()),
            alt=f"Loss against the step, for two rules. From the first to the last: {ends}.",
        )
    )
picture

# %% [markdown]
# **What a memory weighs, at the sizes of SmolLM2.** It has 30 layers, 9 heads and 3 shared heads with 64 dimensions. The windows and matrices are ours.

# %%
if passes("memory.held", held):
    print(f"{'tokens':>9} {'cache':>12} {'window':>12} {'matrices':>12} {'one cache in 5':>15}   (kilobytes)")
    for n in (100, 1_000, 10_000, 100_000, 1_000_000):
        *sizes, even = (int(x) for x in held(n, 30, 9, 3, 64, 1024, 5))
        print(f"{n:9,} " + " ".join(f"{size / 1000:12,.0f}" for size in sizes[:3]) + f" {sizes[3] / 1000:15,.0f}")
    print(f"From {even} tokens on the cache is larger than the mixture.")
else:
    print("Come back here when question 7 passes as well.")

# %% [markdown]
# **If you have time:** try `learn("rfa")`, and `learn("delta", keys=16)`, which has as many keys as dimensions. What does `shares(model, keys=12)` say about the
# models that were trained with 8?

# %% [markdown]
# ## 8. In your own words [[written, 25 minutes, 5 points, core]]
#
# In about twelve sentences, with numbers from *your* output:
#
# 1. Your model without erasing answers with the new value about half of the time, for keys written twice. Has it learned half of the task? Which of
#    your own numbers decides this?
# 2. In your experiment with many keys, erasing is worse than fading. Explain it: what does a write with $b = 1$ do to the values under other keys?
#    And what does the error of a memory that returns zero say about both rules?
# 3. Your model and its control differ only in the erasing. A colleague claims that *in a language model* erasing helps as well. **Design the experiment**
#    that would convince you: what you compare with what, what is equal on both sides, how rates and seeds are chosen, what you measure and on which text, how you know that
#    the memory is used at all, and which result would speak against the claim.
#
# ### BEGIN MARK SCHEME
# Half points are fine.
#
# 1. **Half** (1): the other half are the old values, and the two together are nearly all answers (½); keys written once are mostly right, so it
#    can store and read, and what fails is overwriting (½).
# 2. **Erasing** (1): it makes the reading of its own key exact, and for that moves what every key with a component along it reads; with 32 keys in 16 dimensions
#    all have one (½). Around 1 or above is no better than knowing nothing: erasing has stored nothing of use on average there, and *fade* is only a little below (½).
#    "Erasing is bad" claims too much: with few keys it wins.
# 3. **Design** (3), ½ each: (a) a pair that differs in one thing, such as b = w against b = 0 with the same parameters and first weights;
#    (b) equal size, data, steps, and the rate tuned for *each* side on other data, best not at the edge; (c) five or more seeds, paired, a
#    mean difference with an interval; (d) a loss on held-out text, and a part of it where overwriting is needed (a name or a variable that gets a new value), with the rest as the
#    control; (e) the memory is used: the loss rises if the matrix is emptied or comes from a different text, and both beat an n-gram model; (f) what would refute
#    it, said beforehand: an interval around 0, or a gain that is as large where nothing is overwritten, or that goes away with longer training.
#    The state of the art of others, a single run, or "whichever has the lower loss" earn nothing.
# ### END MARK SCHEME

# %% [markdown]
# No. Gated writes answers with the new value in 50 % of these cases and with the old one in 49 %, so both are in the sum, and nearly every answer is one of
# them. For keys written once it is right in 88 %. It has learned to store and to read, and it does not overwrite. In these runs nothing in the matrix says
# which value is newer. (A memory that only adds does better once its tokens carry positions, as [lecture 26](../../lectures/26_memory_without_attention.ipynb) shows; it stays behind one that erases.)
#
# With b = 1 each write makes the reading of its own key exact. The correction has the direction of that key, so all keys with a component along it read
# something else afterwards. With 4 keys in 16 dimensions these components are small and few; with 32 keys every value is moved 31 times at most. The error of erasing is
# then 1.06, a little more than that of a memory that returns zero, so on average it would be better to say nothing. Fading has 0.89, a little less: both are full.
#
# I would train two language models, delta and gated writes, with the same parameters, first weights, texts and steps, and compare the loss on held-out text. For
# each I try rates until the best one has a worse one on either side, on other text. Five seeds, paired, give a mean difference with its interval. Apart from the mean loss
# I measure it at places where something was overwritten, such as a variable in code that was assigned twice, and compare with variables assigned once. First I
# check that the memory is used: with an emptied matrix, or with one from a different text, the loss must rise, and both models must beat a trigram model. The claim is refuted if the interval
# contains 0, or if the gain is as large for variables assigned once, or if it goes away after three times as many steps.

# %% [markdown]
# ---
# **Before you hand in:** *Kernel → Restart Kernel and Run All Cells*. Every check should say what you expect, and
# question 8 should be answered in your own words. Save the notebook under its own name: the grader looks for `memory.ipynb`.
