# %% [markdown]
# # Assignment: backpropagation
#
# Six small functions, from one neuron to a network with a matrix that is used twice, all of them differentiated by hand. At the end
# your gradients, and nothing else, teach a network to spell names. In between you derive a formula, find a bug in somebody else's code, and run an
# experiment.
#
# [[questions]]
#
# [[how it works]]
#
# [[closed]]
# If you need a function from an earlier question, call yours. (To *look* for a mistake, PyTorch's autograd is a good friend: compare in a cell of
# your own. Only your answer has to do without it.)
#
# You need the lecture *Neurons and backpropagation*. Nothing is downloaded.
#
# In this assignment `d_x` is the gradient of the loss with respect to `x`: how fast the loss changes with each entry of `x`. It has the shape of `x`.
# Vectors are rows.

# %%
import math

import numpy as np

from autograder.check import check, failing, passes, show_rows
from lectures import show

np.set_printoptions(precision=3, suppress=True)


# %% [markdown]
# ## 1. Single nodes
#
# ### 1a. One neuron [[backpropagation.neuron, 15 minutes, easy, core]]
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
# [[checked]]
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
    value = 1 / (1 + np.exp(-(w @ x + b)))
    slope = (1 - value) * value
    return value, slope * x, slope * w, slope
    ### END SOLUTION


# %% [markdown]
# ### 1b. Softmax and cross-entropy as one node [[backpropagation.softmax_loss, 20 minutes, medium, core]]
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
p = np.array([[0.5, 0.375, 0.125], [0.1, 0.1, 0.8]])
hot = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]])
show.heatmap(
    (p - hot) / 2,
    ["first example", "second example"],
    ["0", "1", "2"],
    row_title="",
    column_title="word",
    alt="Gradients of the logits of two examples: positive for each word but the target, whose entry is negative; each row sums to 0.",
)


# %% [markdown]
# Two things can break. First, $e^{300}$ is larger than a float32 can hold. Subtracting the same number from all logits
# of a row changes nothing, so subtract the largest. Second, a target may be far behind: with $z = (1000, 0)$ and target 1 the softmax comes out as
# $(1, 0)$, and $-\ln 0$ is infinite. The true loss is 1000, and yours should be 1000 too.
#
# [[checked]]
#
# [[hints on the gradient]]
# 1. Compare the gradient of the example with $p$. Which entry differs, and by how much?
# 2. Start from the probabilities and change one entry per row. Then divide by the number of examples.
# 3. `p[np.arange(N), targets]` picks the probability of the target from each row, and you can also assign to it.
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
    examples = np.arange(len(targets))
    z = logits - logits.max(axis=-1, keepdims=True)
    log_p = z - np.log(np.exp(z).sum(axis=-1, keepdims=True))
    d_logits = np.exp(log_p)
    d_logits[examples, targets] -= 1
    return -log_p[examples, targets].mean(), d_logits / len(targets)
    ### END SOLUTION


# %% [markdown]
# ## 2. Layers
#
# ### 2a. A linear layer [[backpropagation.linear_backward, 20 minutes, medium, core]]
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
# [[checked]]
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
# ### 2b. A tanh [[backpropagation.tanh_backward, 10 minutes, easy, core]]
#
# The forward pass is $h = \tanh(z)$, entry by entry. The slope is $1 - \tanh^2(z) = 1 - h^2$, so, as with the sigmoid, the *output* is all you need.
#
# By hand: $h = 0.8$ and $d_h = 2$ give $d_z = 2 \cdot (1 - 0.64) = 0.72$. A saturated unit, $h = 1$, lets nothing through.
#
# [[checked]]
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
# ## 3. A whole network [[backpropagation.mlp_gradients, 35 minutes, hard, core]]
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
# [[checked]]
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
    h = np.tanh(x @ W1 + b1)
    loss, d_z = softmax_loss(h @ W2 + b2, targets)
    d_h, d_W2, d_b2 = linear_backward(h, W2, d_z)
    _, d_W1, d_b1 = linear_backward(x, W1, tanh_backward(h, d_h))
    return loss, d_W1, d_b1, d_W2, d_b2
    ### END SOLUTION


# %% [markdown]
# ## 4. Used twice [[backpropagation.tied_gradient, 25 minutes, hard, core]]
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
# [[checked]]
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
    h = np.tanh(x @ W)
    upper = (h.T @ d_y).T
    lower = x.T @ tanh_backward(h, d_y @ W)
    return upper + lower
    ### END SOLUTION


# %% [markdown]
# ## 5. A softer target [[backpropagation.smoothed_loss, 15 minutes, medium, more]]
#
# **Label smoothing** (Szegedy et al. 2016) tells the network that the label is right with probability $1 - \varepsilon$ only. For two classes and one
# logit $z$, with $\sigma(z) = 1 / (1 + e^{-z})$ the probability of the labelled class, the loss is
#
# $$L(z) = -(1 - \varepsilon) \ln \sigma(z) - \varepsilon \ln \sigma(-z) .$$
#
# On paper, derive the slope $L'(z)$, and the logit $z$ for which $L$ is smallest. Return both as formulas in $z$ and $\varepsilon$. What is the best
# logit without smoothing, $\varepsilon = 0$, and what does that do to the weights of a network that is trained for long?
#
# [[checked]]
#
# [[hints]]
# 1. What is the slope without smoothing? You derived it for several classes in 1b.
# 2. The slope of $-\ln \sigma(z)$ is $\sigma(z) - 1$, that of $-\ln \sigma(-z)$ is $\sigma(z)$. Add them with their weights, and simplify.
# 3. At the best logit $\sigma(z) = 1 - \varepsilon$. Solve $1 / (1 + e^{-z}) = 1 - \varepsilon$ for $e^{-z}$ first.


# %%
def smoothed_loss(z, epsilon):
    """The slope of L at z, and the logit for which L is smallest.

    a logit, and 0 < epsilon < 1 -> (slope, best), two numbers
    """
    ### BEGIN SOLUTION
    return 1 / (1 + math.exp(-z)) - (1 - epsilon), math.log((1 - epsilon) / epsilon)
    ### END SOLUTION


# %% [markdown]
# ## 6. A path around
#
# Deep networks add the input of a layer to its output: $y = x + \mathrm{relu}(x W)\, V$, where $\mathrm{relu}(a) = \max(a, 0)$, entry by entry. A
# colleague has written the backward pass. Her code runs, all shapes are right, and a network trained with it even learns a little. One line is wrong.
#
# ### 6a. Which line? [[backpropagation.wrong_line, 10 minutes, medium, more]]
#
# [[listing backpropagation.residual_backward]]
#
# Return the number of the wrong line, as in this listing.
#
# [[checked]] You can copy the function into a cell of your own to try it; the check of 6b shows you an input.
#
# [[hints]]
# 1. Draw the forward pass with every value that has a name in the listing, and put the line that computes its gradient next to it.
# 2. For a matrix product, compare with your 2a. For a function that acts entry by entry, the gradient is the upstream gradient times its slope.
# 3. What is the slope of relu at 3, and at −3? What does the listing multiply by there?


# %%
def wrong_line():
    """The number of the one line of the listing that is wrong."""
    ### BEGIN SOLUTION
    return 10
    ### END SOLUTION


# %% [markdown]
# ### 6b. Mend it [[backpropagation.residual_backward, 5 minutes, easy, more]]
#
# This is the colleague's function. Change the line, and nothing else.
#
# [[checked]]
#
# [[hints]]
# 1. Take the smallest input that the check shows, and compute the gradient of one weight on paper.
# 2. relu passes on the upstream gradient where its input was above 0, and nothing where it was not.
# 3. `a > 0` is True where the slope is 1 and False where it is 0, and a product with it is what you need.


# %%
def residual_backward(x, W, V, d_y):
    """The gradients of y = x + relu(x W) V.

    x (batch, d), W (d, hidden), V (hidden, d), d_y (batch, d) -> (d_x, d_W, d_V), in the shapes of x, W and V
    """
    ### BEGIN SOLUTION
    a = x @ W
    h = np.maximum(a, 0)
    d_V = h.T @ d_y
    d_h = d_y @ V.T
    d_a = d_h * (a > 0)
    d_W = x.T @ d_a
    d_x = d_y + d_a @ W.T
    return d_x, d_W, d_V
    ### END SOLUTION


# %% [markdown]
# ## 7. An experiment: how should the weights begin? [[backpropagation.beginnings, 35 minutes, medium, core]]
#
# If *all* weights are 0 at the start, a network never learns, because all hidden units stay equal. What if only the first layer starts at 0? And what if
# it starts with large weights? `network` makes data and parameters from a **seed**: the weights of the first layer are normal, with a standard
# deviation of `scale` / √20; those of the second are normal and not 0. Train with your `mlp_gradients`, and compare the loss. Four answers are
# possible:
#
# 1. A first layer that starts at 0 ends with a higher loss than one that starts with scale 1.
# 2. These seeds cannot tell the scales 0 and 1 apart; scale 10 ends with a higher loss than scale 0.
# 3. Scale 0 ends with a lower loss than scale 1; scale 10 ends with a higher loss than scale 0.
# 4. These seeds cannot tell the scales 0 and 1 apart, nor 0 and 10.
#
# Proceed in this order.
#
# - **Predict.** Set `prediction` to 1, 2, 3 or 4 before you run anything. It is kept as you wrote it, and it need not come true.
# - **Run.** `losses` gets one row per seed with three numbers, for the scales 0, 1 and 10: the loss that `mlp_gradients` returns *after* 20 steps of
#   gradient descent with a learning rate of 0.3. Set `conclusion = 0` for now and run the check: it says whether your numbers are right. Then run the
#   cell below the check, and look at all five rows.
# - **Conclude.** Set `conclusion` to the answer that *your* five rows support. A difference counts if it has the same sign for every seed, or if it
#   is larger than chance explains: the 95 % interval of the mean difference (Student's t: 2.78 standard errors to each side) does not contain 0.
#
# [[checked]]
#
# [[hints on the run]]
# 1. How many networks does one row need? And how often do you call your function for one of them, if the loss is the one after the last step?
# 2. You need three loops: over seeds, over scales, and over steps. In each step every parameter moves against its own gradient, by a new array.
# 3. After 20 steps call `mlp_gradients` once more; its first result is the loss. A step is `p - 0.3 * g` for every parameter p and its gradient g.
#
# [[hints on the conclusion]]
# 1. Compare the first and the second column, seed by seed. What would you have concluded from seed 0 alone, and what from seed 2?
# 2. Take the difference of two columns. Does it have the same sign in every row?
# 3. Five differences $x$ have the interval $\bar x \pm 2.78\, s / \sqrt 5$, where $s$ is their standard deviation. `np.std` with `ddof=1` computes it.


# %%
def network(seed, scale):
    """Eight examples of 20 inputs and 4 classes, and a network with 16 hidden units: x, targets, W1, b1, W2, b2."""
    draw = np.random.default_rng(102 + seed)
    x, targets = draw.normal(size=(8, 20)), draw.integers(0, 4, size=8)
    W1 = scale * draw.normal(size=(20, 16)) / math.sqrt(20)
    W2 = draw.normal(size=(16, 4)) / 4
    return x, targets, W1, np.zeros(16), W2, np.zeros(4)


# %%
def beginnings(seeds):
    """The loss after 20 steps from three beginnings of the first layer, for several seeds.

    seeds: a list -> (prediction, losses (seeds, 3), conclusion)
    """
    ### BEGIN SOLUTION
    prediction = 1
    losses = []
    for seed in seeds:
        row = []
        for scale in (0, 1, 10):
            x, targets, *parameters = network(seed, scale)
            for _ in range(20):
                _, *gradients = mlp_gradients(x, targets, *parameters)
                parameters = [p - 0.3 * g for p, g in zip(parameters, gradients, strict=True)]
            row.append(mlp_gradients(x, targets, *parameters)[0])
        losses.append(row)
    conclusion = 2
    return prediction, np.array(losses), conclusion
    ### END SOLUTION


# %%
show_rows("backpropagation.beginnings", beginnings, "scale 0", "scale 1", "scale 10")

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
    return np.eye(27)[seen].reshape(len(seen), -1), np.array(next_letter)


losses = []
if passes("backpropagation.mlp_gradients", mlp_gradients):
    from nlmcore.corpora import load

    x, targets = windows(load("names").texts("train"))
    draw = np.random.default_rng(0)
    W1, W2 = draw.normal(size=(81, 64)) / 9, draw.normal(size=(64, 27)) / 8
    b1, b2 = np.zeros(64), np.zeros(27)
    for step in range(900):
        batch = draw.integers(len(x), size=128)
        loss, *gradients = mlp_gradients(x[batch], targets[batch], W1, b1, W2, b2)
        losses.append(float(loss))
        for parameter, gradient in zip((W1, b1, W2, b2), gradients, strict=True):
            parameter -= (1.0 if step < 600 else 0.2) * np.asarray(gradient)
    print(f"first loss {losses[0]:.2f} (guessing: ln 27 = 3.30), final loss {sum(losses[-100:]) / 100:.2f}")


# %%
def spell(draw):
    """One name, letter by letter, each sampled from the network's distribution."""
    name = "..."
    while len(name) < 15:
        now = np.eye(27)[[letters.index(letter) for letter in name[-3:]]].ravel()
        p = np.exp(np.tanh(now @ W1 + b1) @ W2 + b2)
        name += letters[draw.choice(27, p=p / p.sum())]
        if name.endswith("."):
            break
    return name.strip(".").title()


if losses:
    draw = np.random.default_rng(3)
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
# ## 8. In your own words [[written, 25 minutes, 6 points, core]]
#
# In about twelve sentences, for somebody who knows derivatives and has not heard the lecture:
#
# 1. Why do you go through the network backwards, not forwards, to get the gradients of a million weights? Say what would have to be repeated.
# 2. What does the forward pass have to keep, and why does training run out of memory before it runs out of time?
# 3. A friend checks her gradients by raising each weight by $10^{-12}$ in float32 and finds that all her gradients are 0. What went wrong, and what
#    should she do?
# 4. Report your experiment of question 7, as you would to somebody who decides on it: what did your five seeds show, and with which numbers? What
#    does that not yet say? Which run would you do next, and what do you expect of it?
#
# ### BEGIN MARK SCHEME
# One point for each of the first four, two for the report; half points are fine.
#
# 1. **Backwards** (1): one loss, many weights: one pass back gives all partial derivatives, since each upstream gradient is computed once and shared;
#    forwards (or by differences) it takes one pass *per weight*. Half a point for "the chain rule" without the saving.
# 2. **Kept** (1): the values that the slopes need: inputs of products, outputs of tanh and softmax. (Half a point for "the activations".)
# 3. **Memory** (1): they are kept for every layer and every example (and time step) until the backward pass uses them; the backward pass takes only
#    about twice as long as the forward pass.
# 4. **Differences** (1): float32 has about 7 digits, so 1 + 10⁻¹² is 1, and the difference of two nearly equal losses is 0 or noise; use float64 and
#    a step of about 10⁻⁵ or 10⁻⁶, and central differences. Half a point for only the diagnosis.
# 5. **Report, what it shows** (1): a claim that the student's own numbers support (that scale 10 ends with a higher loss than scale 0, and that the
#    scales 0 and 1 cannot be told apart), with numbers or with how many seeds agree. Half a point for the claim without them, none for a claim that
#    goes beyond the table.
# 6. **Report, what it leaves open** (1): one limit of this experiment (½), for example: one network of one size, one learning rate and one number of
#    steps; the second layer did not start at 0, and with both at 0 nothing would be learned; scale 1 may learn faster, which a final loss does not
#    show. A next run that could turn out otherwise, with what it would tell (½). Not: "more seeds" alone, where the seeds agree.
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
#
# In my five rows scale 10 ended with a higher loss than scale 0 each time, so I believe that. Between the scales 0 and 1 the seeds disagree: four favour
# 0 and one favours 1, which may be chance. And this is one small network, one learning rate and 20 steps. I would first run twenty more seeds: if
# 0 is really better, about four in five of them should favour it; if not, about half. Then I would do the same after 200 steps.

# %% [markdown]
# ---
# **Before you hand in:** *Kernel → Restart Kernel and Run All Cells*. Every check should say what you expect, and
# question 8 should be answered in your own words. Save the notebook under its own name: the grader looks for `backpropagation.ipynb`.
