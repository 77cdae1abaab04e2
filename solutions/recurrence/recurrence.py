# %% [markdown]
# # Assignment: recurrence
#
# Eight small functions: one step of a recurrent network, the loop over it, labels for words and texts, its loss and perplexity, and the way back
# through time by hand. At the end a network made of nothing else reads a comedy by Shakespeare and continues it. In between you derive a gradient,
# find a bug in somebody else's code, and run an experiment.
#
# [[questions]]
#
# [[how it works]]
#
# [[closed]]
# If you need a function from an earlier question, call yours. (To *look* for a mistake, PyTorch's autograd is a good friend: compare in a cell
# of your own.)
#
# You need the lectures *Recurrent networks* and, for question 4 only, *Vanishing and exploding gradients*. Nothing is
# downloaded.
#
# As in the lectures, *vectors are rows*, so a matrix multiplies them from the right. `d_x` is the gradient of the loss with respect to `x`, and has
# the shape of `x`.

# %%
import numpy as np
from IPython.display import HTML

from autograder.check import check, failing, passes, show_rows
from autograder.mine import bring
from lectures import show

np.set_printoptions(precision=3, suppress=True)

# %% [markdown]
# ## 1. Forward
#
# ### 1a. One step [[recurrence.rnn_step, 10 minutes, easy, core]]
#
# $$h_t = \tanh(x_t W + h_{t-1} U + b)$$
#
# $W$ reads the new word, $U$ carries the past, and $b$ is each unit's bias. $W$, $U$ and $b$ are the same at every time step:

# %%
HTML(
    show.unrolled_svg(
        ["x₁", "x₂", "x₃", "x₄"],
        ["h₁", "h₂", "h₃", "h₄"],
        alt="A recurrent network unrolled over four steps: each input enters the state of its time through W, each state enters "
        "the next one through U.",
    )
)


# %% [markdown]
# By hand, with one input and two units: $x = (1)$, $h = (0.5, 0)$, $W = (1, -1)$, $U = \begin{pmatrix} 0.5 & 2 \\ 0 & 1 \end{pmatrix}$, $b = (0, 0)$.
#
# ```text
# x W             =  (1, -1)
# h U             =  (0.5 · 0.5 + 0 · 0,  0.5 · 2 + 0 · 1)  =  (0.25, 1)
# sum             =  (1.25, 0)
# tanh of it      =  (0.848, 0)
# ```
#
# [[checked]]
#
# [[hints]]
# 1. Follow the four lines of the example. Which vector is multiplied by which matrix, and from which side?
# 2. Two products, the bias and one tanh. A batch needs nothing special, because each text has its own row.
# 3. One line. `@` multiplies all rows of a batch at once, and `b` is added to each row by broadcasting.


# %%
def rnn_step(x, h, W, U, b):
    """The next state of every text of a batch.

    x (batch, in), h (batch, hidden), W (in, hidden), U (hidden, hidden), b (hidden,) -> (batch, hidden)
    """
    ### BEGIN SOLUTION
    return np.tanh(x @ W + h @ U + b)
    ### END SOLUTION


# %% [markdown]
# ### 1b. The loop [[recurrence.rnn_forward, 25 minutes, medium, core]]
#
# A batch of texts is read in parallel, and some end before others. The rest of their rows is **padding**, values without a meaning. Text $n$ has
# `lengths[n]` steps, at times $0, 1, \dots$ up to its length minus one. During these, $h_t$ is the result of your step; after them the state **stays
# unchanged**, so the last column holds what the network knows at the end of *each* text.
#
# $$h_t = \begin{cases} \mathrm{step}(x_t, h_{t-1}) & t < \text{length} \\ h_{t-1} & \text{otherwise} \end{cases}$$
#
# By hand, one unit with $u = 0.5$, $w = 1$, $b = 0$, and both texts start from state 0:
#
# ```text
# x of text 1    1       0       0         length 3       h    0.762   0.363   0.180
# x of text 2   -1    (padding)(padding)   length 1       h   -0.762  -0.762  -0.762
# ```
#
# > **Before you write it:** in a batch both cases occur at the same time. What can you compute for all texts at once, and how do you choose row by
# > row?
#
# [[checked]]
#
# [[hints on different lengths]]
# 1. Look at the row of text 2 in the example. At which time does its state stop changing, and what decides that?
# 2. Compute the new state for all texts, padding or not. Then choose, text by text, between the new state and the old one.
# 3. `np.where(condition, new, old)` chooses. `condition` should have shape (batch, 1), so that it applies to all units of a text;
#    `lengths[:, None]` has that shape.
#
# [[hints on collecting the states]]
# 1. Look at the shape of the states in the docstring. Which axis is the time?
# 2. Collect the states in a list and join them at the end. Do not write into one array in place, or the list will hold the same array many times.
# 3. `np.stack(…, axis=1)` joins the states.


# %%
def rnn_forward(xs, lengths, h0, W, U, b):
    """Read a batch of texts of different lengths.

    xs (batch, time, in), lengths (batch,), h0 (batch, hidden) the state before the first step, W, U, b as in 1a
    -> (states (batch, time, hidden), last (batch, hidden))
    """
    ### BEGIN SOLUTION
    h, states = h0, []
    for t in range(xs.shape[1]):
        going_on = (t < lengths)[:, None]
        h = np.where(going_on, rnn_step(xs[:, t], h, W, U, b), h)
        states.append(h)
    return np.stack(states, axis=1), h
    ### END SOLUTION


# %% [markdown]
# ### 1c. A label for every word, and one for the text [[recurrence.label_and_classify, 30 minutes, hard, more]]
#
# A language model must not see the next word. Labelling (one answer per word) and classification (one per text) begin when the whole text is there,
# so a second network may read it from its last word to its first. Both networks start from a state of zeros. At each word, join the state of the
# network that has read everything *up to* this word, and then that of the network that has read everything *from* this word *on*:
#
# ```text
# text                     a           b           c         (padding)
# forwards has read        a         a b         a b c
# backwards has read     c b a       c b           c
# label from             both       both         both             -
# ```
#
# The logits of a label are the joined states times $V$, and 0 at padding. The logits of the text's class are the *mean* of the joined states over the
# words of the text, times $C$.
#
# [[checked]]
#
# [[hints on reading backwards]]
# 1. In the table, what should the backward network read first if there is padding, and in which column does that state belong?
# 2. Turn each text around up to its length, read it with your loop, and turn the states around in the same way.
# 3. Inside a text, position $t$ comes from `length - 1 - t`. With such positions (batch, time), `xs[np.arange(batch)[:, None], positions]` looks
#    everything up, and a second time the states.
#
# [[hints on the two answers]]
# 1. How many words does the mean of a short text have, and which states must not be in its sum?
# 2. Set the joined states at padding to 0. Then one product gives all labels, and the sum over time contains only words.
# 3. `np.concatenate([forwards, backwards], axis=-1)` joins; `(np.arange(time) < lengths[:, None])[..., None]` is 1 at words; divide the sum by
#    `lengths[:, None]`.


# %%
def label_and_classify(xs, lengths, ahead, back, V, C):
    """Logits for a label of every word and for a class of every text, from two networks that read in both directions.

    xs (batch, time, in), lengths (batch,) at least 1, ahead and back: W, U, b of a network each, V (2 hidden, labels),
    C (2 hidden, classes) -> (labels (batch, time, labels), classes (batch, classes))
    """
    ### BEGIN SOLUTION
    batch, time, _ = xs.shape
    position, rows = np.arange(time), np.arange(batch)[:, None]
    inside = position < lengths[:, None]
    turned = np.where(inside, lengths[:, None] - 1 - position, position)
    zeros = np.zeros((batch, len(V) // 2))
    forwards, _ = rnn_forward(xs, lengths, zeros, *ahead)
    backwards, _ = rnn_forward(xs[rows, turned], lengths, zeros, *back)
    both = np.concatenate([forwards, backwards[rows, turned]], axis=-1)
    both = both * inside[..., None]
    labels = both @ V
    classes = both.sum(1) / lengths[:, None] @ C
    return labels, classes
    ### END SOLUTION


# %% [markdown]
# ## 2. The loss, and what it says of a text
#
# ### 2a. The loss of a batch [[recurrence.text_loss, 20 minutes, medium, core]]
#
# Each state predicts the next word: logits $z_{nt}$ for text $n$ at time $t$, a softmax, and the loss $-\ln p_{nt}$ of the correct word. The loss of
# the batch is the mean over all predictions **that count**: those before the end of their text. If $N$ is their number,
#
# $$L = -\frac1N \sum_{n} \sum_{t < \text{length}_n} \ln p_{nt}[\text{target}_{nt}], \qquad
#   \frac{\partial L}{\partial z_{ntc}} = \frac{p_{ntc} - [c = \text{target}_{nt}]}{N} \text{ where it counts, else } 0.$$
#
# There is one sum and one division, so a word in a short text counts as much as one in a long text. The picture shows two texts of lengths 4 and 2,
# with a 1 wherever a prediction counts, so $N = 6$.

# %%
show.heatmap(
    [[1, 1, 1, 1], [1, 1, 0, 0]],
    ["text 1", "text 2"],
    ["t = 0", "t = 1", "t = 2", "t = 3"],
    row_title="",
    column_title="",
    alt="Two texts of four positions each. In the first all four predictions count, in the second the first two.",
)


# %% [markdown]
# By hand: the lengths are 2 and 1, and the targets have probabilities 0.5 and 0.25 in the first text, 0.5 and (padding) 0.9 in the second. Then
# $N = 3$ and $L = (\ln 2 + \ln 4 + \ln 2) / 3 = 0.924$. With the padding included it would be 0.719, which looks better and is wrong.
#
# [[before backpropagation.softmax_loss]]
#
# [[checked]] (The targets at padding are also ids, but mean nothing.)
#
# [[hints on the padding]]
# 1. Padding matters in three places: in the sum, in $N$ and in the gradient. Find them in the formulas.
# 2. First compute the loss and the gradient at every position separately, padding included. Then set to 0 what does not count, and divide by the
#    number of predictions that do.
# 3. `np.arange(time) < lengths[:, None]` says which of them count. Multiplied by it, the others are 0.
#
# [[hints on the target]]
# 1. Read the end of **Checked**. What is the softmax of such a target, and what is the logarithm of that?
# 2. Compute log-probabilities directly: $\ln p_c = z_c - \ln \sum_j e^{z_j}$, after subtracting each position's largest logit. Then pick one of
#    them per position.
# 3. `np.take_along_axis(log_p, targets[..., None], axis=-1)` picks the target's log-probability at each position, and `np.eye(vocab)[targets]` is
#    the one-hot vector of each target.


# %%
def text_loss(logits, targets, lengths):
    """Mean cross-entropy over the predictions that count, and its gradient.

    logits (batch, time, vocab), targets (batch, time) ids, lengths (batch,)
    -> (loss, d_logits (batch, time, vocab))
    """
    ### BEGIN SOLUTION
    counts = np.arange(logits.shape[1]) < lengths[:, None]
    z = logits - logits.max(axis=-1, keepdims=True)
    log_p = z - np.log(np.exp(z).sum(axis=-1, keepdims=True))
    hot = np.eye(logits.shape[-1])[targets]
    of_target = np.take_along_axis(log_p, targets[..., None], axis=-1)[..., 0]
    N = counts.sum()
    return -(of_target * counts).sum() / N, (np.exp(log_p) - hot) * counts[..., None] / N
    ### END SOLUTION


# %% [markdown]
# ### 2b. The perplexity of a long text [[recurrence.perplexity, 25 minutes, medium, core]]
#
# How well does a network predict a text that it has not seen? Perplexity is $e$ to the power of the mean of $-\ln p$ over all predictions: every
# character but the first is predicted, from all characters before it. A play is too long to keep all its states and logits, so read it in
# chunks of $k$ characters. The chunks must not change the result.
#
# By hand: in the text *a b a* two characters are predicted. With probabilities 0.5 and 0.25 the mean is $(\ln 2 + \ln 4) / 2 = 1.04$, and the perplexity
# is $e^{1.04} = 2.83$.
#
# The inputs are one-hot vectors, the first state is zeros, and the logits are $h_t V + c$.
#
# [[checked]]
#
# [[hints]]
# 1. Write down a text of five characters and $k = 2$. Which four predictions are there, and to which chunk does each belong?
# 2. Chunk after chunk, let your functions of 1b and 2a do the work. Two things are carried along: the state, and the sum of all losses so far.
# 3. A chunk's targets are `ids[start + 1 : start + k + 1]`, and it has as many inputs. `text_loss` gives a mean: times the number of targets it is the
#    sum again.


# %%
def perplexity(ids, W, U, b, V, c, k):
    """The perplexity of a recurrent network on one long text, read in chunks of k characters.

    ids (time,), W (vocab, hidden), U (hidden, hidden), b (hidden,), V (hidden, vocab), c (vocab,) -> a number
    """
    ### BEGIN SOLUTION
    h, total = np.zeros((1, len(U))), 0.0
    for start in range(0, len(ids) - 1, k):
        targets = ids[start + 1 : start + k + 1]
        one_hot = np.eye(len(W))[ids[start : start + len(targets)]]
        lengths = np.array([len(targets)])
        states, h = rnn_forward(one_hot[None], lengths, h, W, U, b)
        loss, _ = text_loss(states @ V + c, targets[None], lengths)
        total = total + loss * len(targets)
    return np.exp(total / (len(ids) - 1))
    ### END SOLUTION


# %% [markdown]
# ## 3. Back through time
#
# ### 3a. All the way [[recurrence.rnn_backward, 45 minutes, hard, core]]
#
# The forward pass is done. You have the inputs `xs`, the states `hs`, and `d_hs`, the gradient of the loss at time $t$ alone with respect to $h_t$
# (it arrives from the prediction at time $t$). Here every text has the same length. Let $a_t = x_t W + h_{t-1} U + b$ be the sum before the tanh. A
# state has *two* effects: on the loss at its own time, and on the next state. So, from the last time step to the first,
#
# $$\frac{\partial L}{\partial a_t} = \Big(\underbrace{d\_hs_t}_{\text{its own loss}} + \underbrace{\frac{\partial L}{\partial a_{t+1}}\, U^\top}_{\text{from later}}\Big)
#   \odot (1 - h_t^2), \qquad \text{nothing from later at the last time.}$$
#
# $W$, $U$ and $b$ are used at every step, so their gradients are *sums over time* (and over the texts of the batch):
#
# $$d_W = \sum_t x_t^\top \frac{\partial L}{\partial a_t}, \qquad d_U = \sum_t h_{t-1}^\top \frac{\partial L}{\partial a_t}, \qquad
#   d_b = \sum_t \frac{\partial L}{\partial a_t}, \qquad d_{h_0} = \frac{\partial L}{\partial a_1} U^\top.$$
#
# By hand, for the lecture's example, *hold the one*: $u = 0.5$, $w = 1$, inputs $1, 0, 0$, $h_0 = 0$, and $d\_hs_t = h_t - 1$. Read it from bottom to
# top:
#
# ```text
# t     h_t      its own loss   from later   d_a_t = (sum) · (1 - h²)    to d_U: h_{t-1} · d_a_t
# 1    0.7616      -0.2384       -0.4485     -0.2885                      0      · -0.2885 =  0
# 2    0.3634      -0.6366       -0.3969     -0.8970                      0.7616 · -0.8970 = -0.6832
# 3    0.1797      -0.8203        0          -0.7938                      0.3634 · -0.7938 = -0.2885
#                                                                                    sum   = -0.9716
# ```
#
# > **Before you write it:** why is `W` not among the arguments?
#
# [[checked]]
#
# [[hints on the loop]]
# 1. Read the table of the example from bottom to top. From which number of the row below does *from later* follow?
# 2. Go from the last time to the first and carry one thing along, the part from later. The gradients of the parameters grow at every step.
# 3. Start with zeros for the gradients and for the part from later. Then loop `for t in reversed(range(time))`: the slope, three `+=`, and the
#    gradient that you pass to the previous step.
#
# [[hints on one step]]
# 1. Look at the sum $a_t$. It contains two products and a bias; which input does each matrix have?
# 2. Backwards, each time step is a tanh and then a linear layer with two inputs. The input of $U$ is the previous state.
# 3. Each time step is `linear_backward` and `tanh_backward` from the assignment on backpropagation, with `hs[:, t - 1]` as the input of $U$, or
#    `h0` when $t$ is 0.
#
# <details><summary>It runs, but the values are wrong?</summary>
#
# Enter the example above as arrays of shapes (1, 3, 1), (1, 1), (1, 3, 1), (1, 3, 1), (1, 1), print `d_a` at each time and compare the column.
# </details>


# %%
def rnn_backward(xs, h0, hs, d_hs, U):
    """The gradients of a recurrent network's parameters and of its initial state.

    xs (batch, time, in), h0 (batch, hidden), hs (batch, time, hidden) the states, d_hs (batch, time, hidden), U (hidden, hidden)
    -> (d_W (in, hidden), d_U (hidden, hidden), d_b (hidden,), d_h0 (batch, hidden))
    """
    ### BEGIN SOLUTION
    d_W, d_U, d_b = np.zeros((xs.shape[2], len(U))), np.zeros_like(U), np.zeros(len(U))
    from_later = np.zeros_like(h0)
    for t in reversed(range(xs.shape[1])):
        d_a = (d_hs[:, t] + from_later) * (1 - hs[:, t] ** 2)
        h_before = hs[:, t - 1] if t > 0 else h0
        d_W += xs[:, t].T @ d_a
        d_U += h_before.T @ d_a
        d_b += d_a.sum(0)
        from_later = d_a @ U.T
    return d_W, d_U, d_b, from_later
    ### END SOLUTION


# %% [markdown]
# ### 3b. Cut off every k steps [[recurrence.truncated_backward, 20 minutes, medium, core]]
#
# A play has 100,000 characters; nobody goes back through all of them. **Truncated backpropagation through time** cuts the text into chunks of $k$
# steps. The *state* is passed on from chunk to chunk as before, but the *gradient* is not: the loss at time $t$ reaches back to the start of its own
# chunk and no further. The gradients of the chunks are added.
#
# The picture is for $k = 3$ and a text of 6 steps. It has a 1 where the loss at one time (row) reaches the step at another time (column). Without
# truncation the whole lower triangle would be 1.

# %%
k, time = 3, 6
reaches = [[int(step <= loss and step // k == loss // k) for step in range(time)] for loss in range(time)]
labels = [str(t) for t in range(1, time + 1)]
show.heatmap(
    reaches,
    labels,
    labels,
    row_title="loss at time",
    column_title="reaches the step at time",
    alt="Two triangles along the diagonal: the losses of times 1 to 3 reach back to step 1 at most, those of times 4 to 6 to step 4.",
)


# %% [markdown]
# By hand, the example of 3a with $k = 2$, so the chunks are times 1, 2 and time 3. Nothing arrives from later at time 2:
#
# ```text
# t     from later    d_a_t      to d_U
# 1      -0.2763     -0.2161     0
# 2       0 (cut)    -0.5525    -0.4208
# 3       0          -0.7938    -0.2885      sum -0.7093, and not -0.9716
# ```
#
# Time 3 still adds $h_2 \cdot d\_a_3$. That $h_2$ comes from the previous chunk does not matter, because as a *value* it is known.
#
# [[checked]]
#
# [[hints]]
# 1. Look at one triangle of the picture. What would the picture of a text of three steps be, without truncation?
# 2. Each chunk is a text for your function of 3a, and the gradients of the chunks are added. Which state does a chunk begin with?
# 3. Each chunk is a call of your `rnn_backward` with slices `[:, start : start + k]`. Its `h0` is the state just before the chunk.
#
# <details><summary>Stuck because of 3a?</summary>
#
# Copy the loop of 3a, and set the part from later to zeros wherever the *next* step belongs to another chunk.
# </details>


# %%
def truncated_backward(xs, h0, hs, d_hs, U, k):
    """Like `rnn_backward`, with the gradient cut off every k steps.

    -> (d_W (in, hidden), d_U (hidden, hidden), d_b (hidden,))
    """
    ### BEGIN SOLUTION
    total = [0.0, 0.0, 0.0]
    for start in range(0, xs.shape[1], k):
        piece = slice(start, start + k)
        begins_with = hs[:, start - 1] if start > 0 else h0
        found = rnn_backward(xs[:, piece], begins_with, hs[:, piece], d_hs[:, piece], U)
        total = [whole + part for whole, part in zip(total, found[:3], strict=True)]
    return tuple(total)
    ### END SOLUTION


# %% [markdown]
# ## 4. Clipping [[recurrence.clip, 15 minutes, easy, core]]
#
# Once in a while a recurrent network's gradient is a thousand times as long as usual, and one step along it can ruin the training. The remedy is to
# treat the gradients of all parameters as *one* long vector $g$ and, if it is longer than allowed, to shorten it.
#
# $$g \leftarrow \begin{cases} \dfrac{n_{\max}}{\|g\|}\, g & \text{if } \|g\| > n_{\max} \\ g & \text{otherwise} \end{cases}, \qquad
#   \|g\| = \sqrt{\textstyle\sum_{\text{all entries}} g_i^2}$$
#
# By hand: two parameters with gradients $(3, 0)$ and $(0, 4)$, and $n_{\max} = 1$. The norm of both together is 5, so everything is divided by 5:
# $(0.6, 0)$ and $(0, 0.8)$. Return the norm *before* clipping (5, because it reveals an explosion) and all clipped entries in one vector,
# $(0.6, 0, 0, 0.8)$, gradient by gradient in the given order, each row by row.
#
# [[before training.clip_gradients]]
#
# [[checked]]
#
# [[hints]]
# 1. In the example both gradients are divided by the same number, 5. Which entries does it depend on?
# 2. First make one long vector of all the gradients. Its norm decides whether you shorten it, and by how much.
# 3. `np.concatenate` of every `g.flatten()` makes the one long vector; the rest is an `if`.


# %%
def clip(gradients, largest):
    """Shorten all gradients together to a norm of at most `largest`.

    gradients: a list of arrays of any shapes -> (norm before clipping, clipped: one vector of all entries)
    """
    ### BEGIN SOLUTION
    flat = np.concatenate([g.flatten() for g in gradients])
    norm = np.sqrt((flat**2).sum())
    return norm, flat * (largest / norm) if norm > largest else flat
    ### END SOLUTION


# %% [markdown]
# ## 5. One weight, used T times [[recurrence.through_time, 15 minutes, medium, more]]
#
# Take the simplest recurrent network, one unit without input and without tanh: $h_t = u\, h_{t-1}$. It starts at $h_0$, and the loss at time $T$ is
# $L = \tfrac12 (h_T - y)^2$. On paper, derive how fast the loss changes with the weight, $\frac{dL}{du}$, and with the initial state,
# $\frac{dL}{dh_0}$. Return both as formulas in $u$, $h_0$, $y$ and $T$; no loop, no list of states.
#
# Then look at what you have: for which $u$ do the two vanish as $T$ grows, and for which do they explode?
#
# [[checked]]
#
# [[hints]]
# 1. Write down $h_1$, $h_2$ and $h_3$. What is $h_T$, as a formula in $u$ and $h_0$?
# 2. Put $h_T$ into the loss and differentiate. The outer derivative is the same for both results; only the inner one differs.
# 3. $u^T$ has the derivative $T u^{T-1}$. The factor $T$ is the sum over time of 3a: the weight is used $T$ times, and all uses contribute equally.


# %%
def through_time(u, h_0, y, T):
    """The gradients of (h_T - y)² / 2 for h_t = u h_(t-1).

    a weight, an initial state and a target: three numbers; T: how many steps -> (d_u, d_h_0), two numbers
    """
    ### BEGIN SOLUTION
    error = u**T * h_0 - y
    return error * T * u ** (T - 1) * h_0, error * u**T
    ### END SOLUTION


# %% [markdown]
# ## 6. Reading in chunks
#
# A friend reads a long text in chunks of $k$ steps, as in truncated backpropagation, and keeps all states. To save time he multiplies all the inputs
# of a chunk by $W$ in one product, before the loop. Reading in chunks should give exactly the states that reading in one go gives. His code runs,
# the shapes are right, and the states look like states. One line is wrong.
#
# ### 6a. Which line? [[recurrence.wrong_line, 10 minutes, medium, more]]
#
# [[listing recurrence.read_in_chunks]]
#
# Return the number of the wrong line, as in this listing.
#
# [[checked]] You can copy the function into a cell of your own to try it; the check of 6b shows you an input.
#
# [[hints]]
# 1. In which line does the state of one chunk become the first of the next? Is anything lost there?
# 2. Compare each line with the equation of 1a, including the order of the factors.
# 3. In 1a the states are the rows of a matrix; in this function a state is a vector. With a vector, both orders of a product with a square matrix
#    run.


# %%
def wrong_line():
    """The number of the one line of the listing that is wrong."""
    ### BEGIN SOLUTION
    return 11
    ### END SOLUTION


# %% [markdown]
# ### 6b. Mend it [[recurrence.read_in_chunks, 5 minutes, easy, more]]
#
# This is the friend's function. Change the line, and nothing else.
#
# [[checked]]
#
# [[hints]]
# 1. Take the input that the check shows and compute the first state on paper.
# 2. For a row vector, $h U$ and $U h$ are different: one uses the columns of $U$, the other its rows.
# 3. In the equation of 1a, and in your `rnn_step`, $U$ is to the right of the state.


# %%
def read_in_chunks(xs, h0, W, U, b, k):
    """All states of a long text, read in chunks of k steps: the same as without chunks.

    xs (time, in), h0 (hidden,), W (in, hidden), U (hidden, hidden), b (hidden,) -> (time, hidden)
    """
    ### BEGIN SOLUTION
    h, states = h0, []
    for start in range(0, len(xs), k):
        chunk = xs[start : start + k]
        inputs = chunk @ W + b
        for t in range(len(chunk)):
            h = np.tanh(inputs[t] + h @ U)
            states.append(h)
    return np.stack(states)
    ### END SOLUTION


# %% [markdown]
# ## 7. An experiment: how long must a chunk be? [[recurrence.chunk_error, 35 minutes, medium, core]]
#
# Truncation makes the gradient wrong. By how much depends on the chunk, and on how long the network remembers. `network` makes a random network from
# a **seed**: with `scale=0.5` every step halves what came before (a short memory), with `scale=1.0` only the tanh shrinks it (a long one). The error is
# the norm of the difference between the truncated and the full gradient of $U$, divided by the norm of the full one. The text has 40 steps. Four
# answers are possible:
#
# 1. Longer chunks (20 steps instead of 5) have a smaller error with both memories. Long memory and 20 steps, or short memory and 5 steps: these seeds
#    cannot tell which of the two has the smaller error.
# 2. Longer chunks have a smaller error with both memories. Long memory and 20 steps has a smaller error than short memory and 5 steps.
# 3. Longer chunks have a smaller error with both memories. Long memory and 20 steps has a larger error than short memory and 5 steps.
# 4. With the long memory, longer chunks have a smaller error. With the short one, these seeds cannot tell.
#
# Proceed in this order.
#
# - **Predict.** Set `prediction` to 1, 2, 3 or 4 before you run anything. It is kept as you wrote it, and it need not come true.
# - **Run.** `errors` gets one row per seed with four numbers: (short memory, 5 steps), (short, 20), (long, 5), (long, 20). Your `rnn_forward`
#   computes the states, your `rnn_backward` the full gradient, and your `truncated_backward` the truncated one. Set `conclusion = 0` for now and run
#   the check: it says whether your numbers are right. Then run the cell below the check, and look at all five rows.
# - **Conclude.** Set `conclusion` to the answer that *your* five rows support. A difference counts if it has the same sign for every seed, or if it
#   is larger than chance explains: the 95 % interval of the mean difference (Student's t: 2.78 standard errors to each side) does not contain 0.
#
# [[checked]]
#
# [[hints on the run]]
# 1. How many networks does one row need, and how many gradients does each of them need?
# 2. Use two loops, over seeds and over the two scales. The full gradient is computed once for each network, outside the loop over the chunks.
# 3. The gradient of $U$ is the second result of both functions. `np.linalg.norm(truncated - full) / np.linalg.norm(full)` is one error.
#
# [[hints on the conclusion]]
# 1. Compare the first and the fourth column, seed by seed. What would you have concluded from seed 2 alone, and what from seed 3?
# 2. Take the difference of two columns. Does it have the same sign in every row?
# 3. Five differences $x$ have the interval $\bar x \pm 2.78\, s / \sqrt 5$, where $s$ is their standard deviation, `np.std(x, ddof=1)`.


# %%
def network(seed, scale):
    """Four texts of 40 steps, a network of 16 units, and gradients that arrive at its states: xs, lengths, h0, W, U, b, d_hs."""
    normal = np.random.default_rng(seed).standard_normal
    xs, W = normal((4, 40, 3)), 0.2 * normal((3, 16))
    U = scale * np.linalg.qr(normal((16, 16)))[0]
    d_hs = normal((4, 40, 16))
    return xs, np.full(4, 40), np.zeros((4, 16)), W, U, np.zeros(16), d_hs


# %%
def chunk_error(seeds):
    """The error of the truncated gradient of U, for two memories and two lengths of chunks, for several seeds.

    seeds: a list -> (prediction, errors (seeds, 4), conclusion)
    """
    ### BEGIN SOLUTION
    prediction = 3
    errors = []
    for seed in seeds:
        row = []
        for scale in (0.5, 1.0):
            xs, lengths, h0, W, U, b, d_hs = network(seed, scale)
            hs, _ = rnn_forward(xs, lengths, h0, W, U, b)
            full = rnn_backward(xs, h0, hs, d_hs, U)[1]
            for k in (5, 20):
                truncated = truncated_backward(xs, h0, hs, d_hs, U, k)[1]
                row.append(np.linalg.norm(truncated - full) / np.linalg.norm(full))
        errors.append(row)
    conclusion = 1
    return prediction, errors, conclusion
    ### END SOLUTION


# %%
show_rows("recurrence.chunk_error", chunk_error, "short, 5", "short, 20", "long, 5", "long, 20")

# %% [markdown]
# ## Your functions at work
#
# The network reads *A comedy of errors* at 32 points in parallel, 25 characters at a time. Your `rnn_forward` reads, your `text_loss` compares, your
# `rnn_backward` goes back, and your `clip` prevents explosions. The state after each chunk is where the next one starts, so this *is* truncated
# backpropagation. There is nothing to write here. Run it when these four checks pass; it takes a few seconds.


# %%
def train(rate=0.3, largest=1.0, steps=600):
    """A network of 96 units learns to predict the next character. Returns its parameters, losses and gradient norms."""
    normal = np.random.default_rng(0).standard_normal
    W, U = normal((len(alphabet), 96)) * 0.3, np.linalg.qr(normal((96, 96)))[0]
    V, b, c = normal((96, len(alphabet))) * 0.05, np.zeros(96), np.zeros(len(alphabet))
    W, U, b, V, c = parameters = [p.astype(np.float32) for p in (W, U, b, V, c)]
    speeds = [np.zeros_like(p) for p in parameters]
    lengths, losses, norms = np.full(32, 25), [], []
    for step in range(steps):
        start = step % ((rows.shape[1] - 1) // 25) * 25
        if start == 0:
            h0 = np.zeros((32, 96), np.float32)  # from the top of the play
        xs, targets = one_hot[rows[:, start : start + 25]], rows[:, start + 1 : start + 26]
        hs, last = (np.asarray(states, np.float32) for states in rnn_forward(xs, lengths, h0, W, U, b))
        loss, d_logits = text_loss(hs @ V + c, targets, lengths)
        d_logits = np.asarray(d_logits, np.float32)
        gradients = [np.asarray(g) for g in rnn_backward(xs, h0, hs, d_logits @ V.T, U)[:3]]
        gradients += [hs.reshape(-1, 96).T @ d_logits.reshape(-1, len(c)), d_logits.sum((0, 1))]
        norm, clipped = clip(gradients, largest)
        parts = np.split(np.asarray(clipped), np.cumsum([p.size for p in parameters])[:-1])
        for p, speed, part in zip(parameters, speeds, parts, strict=True):
            speed *= 0.9  # gradient descent with momentum
            speed += part.reshape(p.shape)
            p -= (rate if step < steps // 2 else rate * 2 * (1 - step / steps)) * speed
        h0 = last
        losses.append(float(loss))
        norms.append(float(norm))
    return parameters, losses, norms


losses = []
mine = {"rnn_forward": rnn_forward, "text_loss": text_loss, "rnn_backward": rnn_backward, "clip": clip}
if all(passes(f"recurrence.{name}", function) for name, function in mine.items()):
    from nlmcore.corpora import load

    play = next(text for text in load("shakespeare").texts("train") if text.startswith("THE COMEDY OF ERRORS"))
    alphabet = sorted(set(play))
    ids = np.array([alphabet.index(character) for character in play])
    rows, one_hot = ids[: len(ids) // 32 * 32].reshape(32, -1), np.eye(len(alphabet), dtype=np.float32)
    (W, U, b, V, c), losses, norms = train()
    print(f"first loss {losses[0]:.2f} nats per character, final loss {sum(losses[-50:]) / 50:.2f}")
    print(f"norm of the gradient: usually {sorted(norms)[len(norms) // 2]:.2f}, once {max(norms):.2f}")


# %%
def write(begin, length, draw):
    """The network reads `begin` and continues: each character is sampled from its prediction and fed back."""
    h, text = np.zeros((1, len(U))), begin
    unread = begin
    for _ in range(length):
        xs = one_hot[[alphabet.index(character) for character in unread]][None]
        _, h = rnn_forward(xs, np.array([len(unread)]), h, W, U, b)
        p = np.exp((h @ V + c)[0].astype(float) / 0.7)
        unread = alphabet[draw.choice(len(p), p=p / p.sum())]
        text += unread
    return text


print(write("\nDROMIO OF EPHESUS.\n", 350, np.random.default_rng(2)) if losses else "Come back later.")

# %% [markdown]
# Not bad for 600 steps, with gradients by hand. How well does the network predict a play that it was not trained on? Your `perplexity` tells you. The
# baseline is a table of how often each character follows each other one, counted in the same comedy.

# %%
if losses and passes("recurrence.perplexity", perplexity):
    other = next(text for text in load("shakespeare").texts("test"))[:6000]
    unread = np.array([alphabet.index(character) for character in other if character in alphabet])
    pairs = np.full((len(alphabet), len(alphabet)), 0.1)
    np.add.at(pairs, (ids[:-1], ids[1:]), 1)
    counted = -np.log(pairs / pairs.sum(axis=1, keepdims=True))[unread[:-1], unread[1:]].mean()
    print(f"perplexity of the comedy: {float(perplexity(ids[:6000], W, U, b, V, c, 100)):.2f} per character")
    print(
        f"of a play that it has not read: {float(perplexity(unread, W, U, b, V, c, 100)):.2f}; with the table of pairs {np.exp(counted):.2f}"
    )

# %% [markdown]
# And how much does truncation lose? Here is the gradient of $U$ for 32 chunks of 100 characters, cut off every $k$ steps by your
# `truncated_backward`, compared with the full gradient:

# %%
if losses and passes("recurrence.truncated_backward", truncated_backward):
    xs, targets = one_hot[rows[:, :100]], rows[:, 1:101]
    h0, lengths = np.zeros((32, 96), np.float32), np.full(32, 100)
    hs = np.asarray(rnn_forward(xs, lengths, h0, W, U, b)[0])
    d_hs = np.asarray(text_loss(hs @ V + c, targets, lengths)[1]) @ V.T
    whole = np.asarray(rnn_backward(xs, h0, hs, d_hs, U)[1])
    every, errors = [1, 2, 5, 10, 20, 50], []
    for k in every:
        cut = np.asarray(truncated_backward(xs, h0, hs, d_hs, U, k)[1])
        errors.append(float(np.linalg.norm(cut - whole) / np.linalg.norm(whole)))
    picture = show.curves(
        every,
        {"": errors},
        x_title="steps per chunk",
        y_title="error of the gradient of U",
        log_x=True,
        alt="Relative error of the truncated gradient: "
        + ", ".join(f"{e:.2f} for k = {k}" for k, e in zip(every, errors, strict=True))
        + ".",
    )
else:
    picture = "Come back here when question 3b passes."
picture

# %% [markdown]
# Try `train(rate=3.0)` with `largest=1.0` and with `largest=1e9`. What do the losses do? Then pass on zeros instead of `last`. What gets worse, in
# the loss and in the text that it writes?

# %% [markdown]
# ## 8. In your own words [[written, 25 minutes, 6 points, core]]
#
# In about twelve sentences, for somebody who knows feed-forward networks and has not heard the lecture:
#
# 1. Why is the gradient of $U$ a sum over time, and why does the way back through a long text need so much memory?
# 2. What does truncated backpropagation pass on from chunk to chunk, and what not? Give an example of something that a network can *carry* over many
#    chunks, although no gradient teaches it to.
# 3. A friend's language model has a loss of 0.01 per character after one minute of training. Name two mistakes that could cause this, and say how you
#    would find out.
# 4. Report your experiment of question 7, as you would to somebody who decides on it: what did your five seeds show, and with which numbers? What
#    does that not yet say? Which run would you do next, and what do you expect of it?
#
# ### BEGIN MARK SCHEME
# One point for each of the first four, two for the report; half points are fine.
#
# 1. **The sum, and memory** (1): one matrix is used at every time step, each use affects the loss, and effects along several paths add up (½); all
#    states (or inputs and states) of all times must be kept until the backward pass has used them (½).
# 2. **Passed on** (½): the state, as values; not the gradient. **Not taught** (½): anything whose cause lies more than a chunk before its effect
#    (an opening quotation mark or bracket, a name, the first symbol of the lecture's task): no gradient reaches the step that would have to store it.
# 3. **First mistake and how to find it** (1): targets not shifted, so the network predicts the character that it has just read; compare one input
#    with its targets, or let the network write: it repeats itself.
# 4. **Second mistake and how to find it** (1): padding is counted (most positions are padding, and they are easy); compute the mean over real
#    positions only, or watch the loss as a function of padding. Also good: the network sees the future (a bidirectional network; change a later
#    character and see an earlier prediction change), or the text is tiny and learned by heart (measure on held-out text). Half a point for a mistake
#    without the test.
# 5. **Report, what it shows** (1): a claim that the student's own numbers support (that longer chunks have a smaller error with both memories, and
#    that long memory with 20 steps and short memory with 5 cannot be told apart), with numbers or with how many seeds agree. Half a point for the
#    claim without them, none for a claim that goes beyond the table.
# 6. **Report, what it leaves open** (1): one limit of this experiment (½), for example: random networks and random gradients from the losses, one
#    length of text, and the error of a gradient, which is not yet a worse model. A next run that could turn out otherwise, with what it would tell
#    (½). Not: "more seeds" alone, where the seeds agree.
# ### END MARK SCHEME

# %% [markdown]
# A recurrent network uses one matrix U at every step. Changing it a little changes every step, and each of these changes reaches the loss. The
# effects add up, so the gradient is a sum with one term per time step. To compute a term you need the state at that time, so all states of the text,
# for the whole batch, are kept until the backward pass has used them.
#
# In truncated backpropagation the last state of a chunk is the first of the next, as plain values. The gradient is not passed back: a loss in one
# chunk says nothing to the steps of the previous chunk. A network could carry "a bracket was opened" over a hundred steps, and if it happens to do
# so, later chunks can use it. But no gradient ever tells the step that read the bracket that keeping it would have been worthwhile.
#
# A loss of 0.01 means that the network knows every character. Perhaps the targets are not shifted and it repeats what it has just read, so I would
# print an input with its targets underneath, and let it write. Or most of the batch is padding and the mean includes it, so I would compute the loss
# of the real positions only.
#
# In all five rows the error was smaller with chunks of 20 steps than with 5, whichever memory. Which is worse, 20 steps with the long memory or 5 with the
# short one, changed from seed to seed. The networks were random, and an error of the gradient does not say how much worse the trained model is. I would
# train with both lengths on a text in which brackets must be closed: if truncation matters, the short chunks fail at far brackets only.

# %% [markdown]
# ---
# **Before you hand in:** *Kernel → Restart Kernel and Run All Cells*. Every check should say what you expect, and
# question 8 should be answered in your own words. Save the notebook under its own name: the grader looks for `recurrence.ipynb`.
