# %% [markdown]
# # Assignment: backpropagation
#
# Six small functions, from one neuron to a network with a matrix that is used twice, all of them differentiated by hand. At the end
# your gradients, and nothing else, teach a network to spell names.
#
# [[questions]]
#
# [[how it works]]
#
# [[closed]]
# Everything else is open. If you need a function from an earlier question, call yours. (To *look* for a mistake, autograd is a good friend: compare
# in a cell of your own. Only your answer has to do without it.)
#
# You need the lecture *Neurons and backpropagation*. Nothing is downloaded.
#
# In this assignment `d_x` is the gradient of the loss with respect to `x`: how fast the loss changes with each entry of `x`. It has the shape of `x`.
# Vectors are rows.

# %%
import torch

from autograder.check import check, failing, passes
from lectures import show

torch.set_printoptions(precision=3, sci_mode=False)


# %% [markdown]
# ## 1. Single nodes
#
# ### 1a. One neuron [[backpropagation.neuron]]
#
# $$f = \sigma(w \cdot x + b), \qquad \sigma(z) = \frac{1}{1 + e^{-z}}, \qquad \sigma'(z) = (1 - \sigma)\,\sigma$$
#
# On the way back, the upstream gradient is multiplied by the slope of each node: *upstream times local*. The slope of the sigmoid is $(1 - f) f$,
# which needs only the output that we already have. At a product, each factor gets the upstream gradient times the *other* factor; a sum passes the
# upstream gradient on unchanged.
#
# By hand, for the lecture's circuit, $w = (2, -3)$, $x = (-1, -2)$, $b = -3$:
#
# ```text
# forward      w·x = -2 + 6 = 4      w·x + b = 1       f = σ(1) = 0.73
# backward     slope of σ: (1 - 0.73) · 0.73 = 0.2
#              d_b = 0.2
#              d_w = 0.2 · x = (-0.2, -0.4)
#              d_x = 0.2 · w = (0.4, -0.6)
# ```
#
# **Checked:** the value; the gradients of bias, weights and inputs, each separately; a single input, and float64.
#
# [[hints]]
# 1. In the example all three gradients contain the same number, 0.2. Which node does it come from?
# 2. Compute the value, then the slope from the value. The slope reaches the bias unchanged, and each factor of the product gets it times the
#    *other* factor.
# 3. Four lines: the value, the slope, the slope times `x`, the slope times `w`.


# %%
def neuron(w, x, b):
    """A sigmoid neuron and its gradients.

    w (d,), x (d,), b a number -> (value, d_w (d,), d_x (d,), d_b)
    """
    ### BEGIN SOLUTION
    value = torch.sigmoid(w @ x + b)
    slope = (1 - value) * value
    return value, slope * x, slope * w, slope
    ### END SOLUTION


# %% [markdown]
# ### 1b. Softmax and cross-entropy as one node [[backpropagation.softmax_loss]]
#
# Every language model ends here: logits $z$, one per word, a softmax, and the loss $-\ln p_t$ of the correct word $t$. Together, softmax and loss
# have a gradient that would fit on a stamp:
#
# $$p = \mathrm{softmax}(z), \qquad L = -\frac1N \sum_{n} \ln p_{n, t_n}, \qquad \frac{\partial L}{\partial z_{nc}} = \frac{p_{nc} - [c = t_n]}{N}$$
#
# $[c = t_n]$ is 1 for the target and 0 for all other words; $N$ is the number of examples. Each row sums to 0, because whatever the target gains, the
# others lose.
#
# By hand, one example with $z = (\ln 4, \ln 3, \ln 1)$ and target 1: $p = (0.5, 0.375, 0.125)$, $L = -\ln 0.375 = 0.98$, and the gradient is
# $(0.5, -0.625, 0.125)$.
#
# The picture shows the gradients of two examples, with targets 1 and 0. Red logits should fall, blue ones should rise.

# %%
p = torch.tensor([[0.5, 0.375, 0.125], [0.1, 0.1, 0.8]])
hot = torch.tensor([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]])
show.heatmap(
    (p - hot) / 2,
    ["first example", "second example"],
    ["0", "1", "2"],
    row_title="",
    column_title="word",
    alt="Gradients of the logits of two examples: positive for each word but the target, whose entry is negative; each row sums to 0.",
)


# %% [markdown]
# You may use softmax here, but two things can break. First, $e^{300}$ is larger than a float32 can hold. Subtracting the same number from all logits
# of a row changes nothing, so subtract the largest. Second, a target may be far behind: with $z = (1000, 0)$ and target 1 the softmax comes out as
# $(1, 0)$, and $-\ln 0$ is infinite. The true loss is 1000, and yours should be 1000 too.
#
# **Checked:** the shapes; the loss; the gradient of one example; of a batch, including one with as many examples as classes; logits around 300 and
# around −300; targets whose logit is 1000 behind.
#
# [[hints on the gradient]]
# 1. Compare the gradient of the example with $p$. Which entry differs, and by how much?
# 2. Start from the probabilities and change one entry per row. Then divide by the number of examples.
# 3. `p[torch.arange(N), targets]` picks the probability of the target from each row, and you can also assign to it.
#
# [[hints on the loss]]
# 1. Read the paragraph below the picture again. Why is the computed loss infinite where the true loss is 1000?
# 2. Do not take the logarithm of a probability. Compute the log-probability directly from the logits.
# 3. A logarithm of the softmax that never computes $\ln 0$ is $z_t - \max - \ln \sum e^{z - \max}$.


# %%
def softmax_loss(logits, targets):
    """Mean cross-entropy after a softmax, and its gradient.

    logits (batch, classes), targets (batch,) ids -> (loss, d_logits (batch, classes))
    """
    ### BEGIN SOLUTION
    examples = torch.arange(len(targets))
    log_p = torch.log_softmax(logits, dim=-1)
    d_logits = log_p.exp()
    d_logits[examples, targets] -= 1
    return -log_p[examples, targets].mean(), d_logits / len(targets)
    ### END SOLUTION


# %% [markdown]
# ## 2. Layers
#
# ### 2a. A linear layer [[backpropagation.linear_backward]]
#
# The forward pass is $z = xW + b$ for a batch of examples in the rows of $x$, with the same $b$ added to each row. The upstream gradient is `d_z`,
# with one row per example, and the layer passes on three gradients:
#
# $$d_x = d_z W^\top, \qquad d_W = x^\top d_z, \qquad d_b = \sum_{\text{examples}} d_z$$
#
# To remember them, look at the shapes, which leave no other way. $d_W$ must have the shape of $W$, (in, out), and all you have to make it from is $x$
# (batch, in) and $d_z$ (batch, out).
#
# By hand, with two examples, two inputs and one output: $x = \begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}$,
# $W = \begin{pmatrix} 5 \\ 6 \end{pmatrix}$, $d_z = \begin{pmatrix} 1 \\ -1 \end{pmatrix}$. Then
# $d_W = \begin{pmatrix} 1 - 3 \\ 2 - 4 \end{pmatrix} = \begin{pmatrix} -2 \\ -2 \end{pmatrix}$, $d_b = 0$ and
# $d_x = \begin{pmatrix} 5 & 6 \\ -5 & -6 \end{pmatrix}$.
#
# **Checked:** the shapes; $d_x$, $d_W$ and $d_b$, each separately, even where batch, inputs and outputs have the same size and no shape can help; one
# example; tensors that are slices.
#
# [[hints]]
# 1. Write the shapes of the three gradients next to those of $x$, $W$ and $d_z$. Which products of two of them are possible at all?
# 2. The shapes leave one product for $d_x$ and one for $d_W$. The bias was added to each row, so its gradient is a sum over the rows.
# 3. `.T` transposes a matrix. *Add* the examples, do not average them: if the loss is a mean, `d_z` has already been divided.


# %%
def linear_backward(x, W, d_z):
    """The gradients of z = x W + b.

    x (batch, in), W (in, out), d_z (batch, out) -> (d_x (batch, in), d_W (in, out), d_b (out,))
    """
    ### BEGIN SOLUTION
    return d_z @ W.T, x.T @ d_z, d_z.sum(0)
    ### END SOLUTION


# %% [markdown]
# ### 2b. A tanh [[backpropagation.tanh_backward]]
#
# The forward pass is $h = \tanh(z)$, entry by entry. The slope is $1 - \tanh^2(z) = 1 - h^2$, so, as with the sigmoid, the *output* is all you need.
#
# By hand: $h = 0.8$ and $d_h = 2$ give $d_z = 2 \cdot (1 - 0.64) = 0.72$. A saturated unit, $h = 1$, lets nothing through.
#
# **Checked:** the gradient; saturated units, and units at 0; that you do not change `h` and `d_h`.
#
# [[hints]]
# 1. The slope is given in two forms. Which one uses only what the function gets?
# 2. Upstream times local, entry by entry.
# 3. One line is enough, without any tanh: `d_h` times the slope $1 - h^2$.


# %%
def tanh_backward(h, d_h):
    """The gradient of h = tanh(z) with respect to z.

    h: the output of tanh, d_h: the upstream gradient, both of one shape -> d_z of that shape
    """
    ### BEGIN SOLUTION
    return d_h * (1 - h**2)
    ### END SOLUTION


# %% [markdown]
# ## 3. A whole network [[backpropagation.mlp_gradients]]
#
# $$h = \tanh(x W_1 + b_1), \qquad z = h W_2 + b_2, \qquad L = \text{mean cross-entropy of } \mathrm{softmax}(z)$$
#
# Go forward from left to right and keep everything that the backward pass needs; then go back along the same path:
#
# ```text
# x ──▶ · W1 + b1 ──▶ tanh ──▶ h ──▶ · W2 + b2 ──▶ z ──▶ softmax, loss ──▶ L
#       d_W1, d_b1 ◀── d_z1 ◀── d_h ◀── d_W2, d_b2 ◀── d_z ◀──────────────┘
# ```
#
# Every arrow in the lower row is a function that you have written.
#
# > **Before you write it:** which of the four gradients need `x`, and which need `W2`?
#
# **Checked:** the shapes; the loss; the gradients of the upper layer; those of the lower layer; one example, and one hidden unit.
#
# [[hints]]
# 1. Read the lower row of the diagram from right to left. Which function of questions 1 and 2 is each arrow?
# 2. Go forward and keep $h$. Then go back with one call per arrow; one of your functions serves both layers.
# 3. Your `linear_backward` serves both layers. Given `h` and `W2`, the gradient that it calls `d_x` is the gradient of `h`.
#
# <details><summary>Stuck because of an earlier question?</summary>
#
# Each backward step is one line of matrix code in questions 1 and 2. Write it out here.
# </details>


# %%
def mlp_gradients(x, targets, W1, b1, W2, b2):
    """The loss of a network with one hidden layer, and the gradients of its parameters.

    x (batch, in), targets (batch,) ids, W1 (in, hidden), b1 (hidden,), W2 (hidden, classes), b2 (classes,)
    -> (loss, d_W1, d_b1, d_W2, d_b2)
    """
    ### BEGIN SOLUTION
    h = torch.tanh(x @ W1 + b1)
    loss, d_z = softmax_loss(h @ W2 + b2, targets)
    d_h, d_W2, d_b2 = linear_backward(h, W2, d_z)
    _, d_W1, d_b1 = linear_backward(x, W1, tanh_backward(h, d_h))
    return loss, d_W1, d_b1, d_W2, d_b2
    ### END SOLUTION


# %% [markdown]
# ## 4. Used twice [[backpropagation.tied_gradient]]
#
# Language models often use one matrix for two purposes: to turn words into vectors, and to turn vectors back into words. Here is a small network with
# the same trick:
#
# $$h = \tanh(x W), \qquad y = h W^\top$$
#
# The loss depends on $W$ along two paths, and its gradient is the **sum** of their contributions. The same holds in recurrent networks, which use one
# matrix at every step.
#
# By hand, with scalars instead of matrices: let $x = 1$, $W = 0.5$ and $d_y = 1$, so $h = \tanh(0.5) = 0.462$. The upper use contributes
# $d_y \cdot h = 0.462$ and the lower one $d_y \cdot W \cdot (1 - h^2) \cdot x = 0.393$; together they make 0.855. (In a cell of your own, raise $W$
# by 0.001 and see $y$ change by 0.000855.)
#
# **Checked:** the shape; the gradient; one example with one hidden unit, and a square $W$.
#
# [[hints on the upper use]]
# 1. Look only at $y = h W^\top$ and treat $h$ as given. In the example this path contributes $d_y \cdot h$.
# 2. Call $W^\top$ by a different name, $V$. Then $y = h V$ is a linear layer, and you know its gradient from 2a.
# 3. In $y = h V$ with $V = W^\top$, $d_V = h^\top d_y$. That is the gradient of $W^\top$; transpose it.
#
# [[hints on the lower use]]
# 1. Look at $h = \tanh(x W)$. In the example this path contributes $d_y \cdot W \cdot (1 - h^2) \cdot x$. Which node does each factor come from?
# 2. First find the upstream gradient at $h$. Below it there are a tanh and a linear layer, as in question 3.
# 3. The upstream gradient at $h$ is $d_y V^\top = d_y W$. From there it is question 3.


# %%
def tied_gradient(x, W, d_y):
    """The gradient of y = tanh(x W) Wᵀ with respect to W.

    x (batch, in), W (in, hidden), d_y (batch, in) -> d_W (in, hidden)
    """
    ### BEGIN SOLUTION
    h = torch.tanh(x @ W)
    upper = (h.T @ d_y).T
    lower = x.T @ tanh_backward(h, d_y @ W)
    return upper + lower
    ### END SOLUTION


# %% [markdown]
# ## Your functions at work
#
# The data are 5,163 first names from the census of the United States. A network reads three letters and predicts the next one. It has 3 × 27 inputs
# that are 0 or 1 (which letter is at which position), 64 hidden units and 27 outputs, and it learns only from your `mlp_gradients`. There is nothing
# to write here. Run it when question 3 passes; it takes a few seconds.

# %%
letters = ".abcdefghijklmnopqrstuvwxyz"  # the dot is before the first and after the last letter


def windows(names):
    """Every three letters (as one-hot rows) and the letter that follows."""
    seen, next_letter = [], []
    for name in names:
        padded = "..." + name.lower() + "."
        for i in range(len(padded) - 3):
            seen.append([letters.index(letter) for letter in padded[i : i + 3]])
            next_letter.append(letters.index(padded[i + 3]))
    return torch.eye(27)[torch.tensor(seen)].flatten(1), torch.tensor(next_letter)


losses = []
if passes("backpropagation.mlp_gradients", mlp_gradients):
    from nlmcore.corpora import load

    x, targets = windows(load("names").texts("train"))
    draw = torch.Generator().manual_seed(0)
    W1, W2 = torch.randn(81, 64, generator=draw) / 9, torch.randn(64, 27, generator=draw) / 8
    b1, b2 = torch.zeros(64), torch.zeros(27)
    for step in range(900):
        batch = torch.randint(len(x), (128,), generator=draw)
        loss, *gradients = mlp_gradients(x[batch], targets[batch], W1, b1, W2, b2)
        losses.append(float(loss))
        for parameter, gradient in zip((W1, b1, W2, b2), gradients, strict=True):
            parameter -= (1.0 if step < 600 else 0.2) * torch.as_tensor(gradient)
    print(f"first loss {losses[0]:.2f} (guessing: ln 27 = 3.30), final loss {sum(losses[-100:]) / 100:.2f}")


# %%
def spell(draw):
    """One name, letter by letter, each sampled from the network's distribution."""
    name = "..."
    while len(name) < 15:
        now = torch.eye(27)[torch.tensor([letters.index(letter) for letter in name[-3:]])].flatten()
        p = torch.softmax(torch.tanh(now @ W1 + b1) @ W2 + b2, dim=-1)
        name += letters[int(torch.multinomial(p, 1, generator=draw))]
        if name.endswith("."):
            break
    return name.strip(".").title()


if losses:
    draw = torch.Generator().manual_seed(3)
    print(*[spell(draw) for _ in range(12)], sep=", ")
    means = [sum(losses[i : i + 50]) / 50 for i in range(0, 900, 50)]
    picture = show.curves(
        range(0, 900, 50),
        {"": means},
        x_title="step",
        y_title="loss (nats per letter)",
        alt=f"The loss against the step, from {means[0]:.2f} down to {means[-1]:.2f}.",
    )
else:
    picture = "Come back here when question 3 passes."
picture

# %% [markdown]
# Halve the learning rate, or make it ten times larger; leave out one of the gradients. What do you notice first?

# %% [markdown]
# ## 5. In your own words [[written, 20 minutes, 4 points]]
#
# In about eight sentences, for somebody who knows derivatives and has not heard the lecture:
#
# 1. Why do you go through the network backwards, not forwards, to get the gradients of a million weights? Say what would have to be repeated.
# 2. What does the forward pass have to keep, and why does training run out of memory before it runs out of time?
# 3. A friend checks her gradients by raising each weight by $10^{-12}$ in float32 and finds that all her gradients are 0. What went wrong, and what
#    should she do?
#
# ### BEGIN MARK SCHEME
# One point for each of the four; half points are fine.
#
# 1. **Backwards** (1): one loss, many weights: one pass back gives all partial derivatives, since each upstream gradient is computed once and shared;
#    forwards (or by differences) it takes one pass *per weight*. Half a point for "the chain rule" without the saving.
# 2. **Kept** (1): the values that the slopes need: inputs of products, outputs of tanh and softmax. (Half a point for "the activations".)
# 3. **Memory** (1): they are kept for every layer and every example (and time step) until the backward pass uses them; the backward pass takes only
#    about twice as long as the forward pass.
# 4. **Differences** (1): float32 has about 7 digits, so 1 + 10⁻¹² is 1, and the difference of two nearly equal losses is 0 or noise; use float64 and
#    a step of about 10⁻⁵ or 10⁻⁶, and central differences. Half a point for only the diagnosis.
# ### END MARK SCHEME

# %% [markdown]
# There is one loss, but there are a million weights. Going back from the loss, the upstream gradient at a node is computed once and used by
# everything below it, so one pass gives the derivatives with respect to all weights. Going forward, you would have to follow the effect of each
# weight through the network separately: a million passes.
#
# On the way back the slopes need values from the forward pass: a product needs its other factor, a tanh its output. So these have to be kept for
# every layer, every example of the batch and every time step until the backward pass uses them. The backward pass takes only about twice as long as
# the forward pass, but the memory grows with depth, length and batch size, and runs out first.
#
# A float32 has about seven digits, so a weight of 1 does not change at all when 10⁻¹² is added, and the two losses are the same number. She should
# use float64 and a step near 10⁻⁵, on both sides, and compare relative differences.

# %% [markdown]
# ---
# **Before you hand in:** *Kernel → Restart Kernel and Run All Cells*. Every check should say what you expect, and
# question 5 should be answered in your own words. Save the notebook under its own name: the grader looks for `backpropagation.ipynb`.
