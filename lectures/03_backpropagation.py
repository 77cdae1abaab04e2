# %% [markdown] slideshow={"slide_type": "slide"}
# # Neurons and backpropagation
#
# A model predicts the next word, and it is wrong. It has a million numbers inside. **Which of them is to blame, and how much?**
# One could nudge each number a little and predict again: a million predictions for one step of learning. There is a way to
# get all million answers for the price of about three predictions. It is this lecture, and every model of this course learns by it.
#
# <img src="figures/03_logistic_neuron.svg" width="860" alt="One neuron as a circuit of small operations. Two weights times two inputs, plus a bias, give 1; the circuit then computes 1 over 1 plus e to the minus 1, which is 0.73. Below each edge stands a gradient: minus 0.2 and 0.39 for the first weight and input, minus 0.39 and minus 0.59 for the second, 0.2 for the bias.">
#
# *One neuron, taken apart. Blue, above the lines: values, computed from left to right. Orange, below: how much the result
# changes if this number does, computed from right to left. In section 3 you do both by hand.*
#
# **After this lecture you can**
# - say what a neuron computes, what it cannot compute, and why layers can;
# - run a computational graph forward and backward by hand;
# - check any gradient with two function calls, and choose the step for it;
# - write a forward and a backward of your own for PyTorch;
# - differentiate a whole layer at once, and keep the shapes right;
# - recognise a learning rate that is too small, good, or too large.
#
# **You need** derivatives and the chain rule, matrix products, Python with NumPy. From lecture 1: a model's *loss* is the mean
# surprise $-\ln P$ of the right answers. From lecture 2: *softmax* turns scores into probabilities, $p_i = e^{s_i} / \sum_j
# e^{s_j}$. Vectors are rows, as in the code: a matrix stands to their right, $xW$.
#
# | section | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 |
# |---|---|---|---|---|---|---|---|---|
# | minutes | 8 | 8 | 12 | 6 | 6 | 7 | 11 | 9 |
#
# Every cell runs in a few seconds on a laptop, without a network connection. *To lecture from this notebook:* `make present ARGS=03`
# shows it slide by slide, widgets alive; short of time, skip sections 5 and 6. *Coming from other
# slides?* A table at the end translates their notation.

# %% slideshow={"slide_type": "skip"}
import inspect

import numpy as np
import torch
from IPython.display import HTML

from lectures.formulas import evaluate
from nlmcore.autodiff import check_gradient, numerical_gradient
from lectures import show, widgets

np.set_printoptions(precision=3, suppress=True)
torch.set_printoptions(precision=3, sci_mode=False)

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 1. One neuron draws one line
#
# A **neuron** takes some numbers $x_1, \dots, x_d$, multiplies each by a **weight** of its own, adds a **bias** $b$, and hands
# the sum to a function $f$:
#
# $$y = f(w_1 x_1 + w_2 x_2 + \dots + w_d x_d + b) = f(w \cdot x + b).$$
#
# Weights and biases are its **parameters**: the numbers that learning may change. In the oldest neuron, Rosenblatt's
# **perceptron** (1958), $f$ is a threshold: $y = 1$ if the sum is positive, else $0$. With two inputs the sum is zero along a
# straight line. On one side the perceptron says 1, on the other 0, and the weights are an arrow that points to the side of 1.

# %% slideshow={"slide_type": "fragment"}
corners = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=float)
tasks = {"AND": [0, 0, 0, 1], "OR": [0, 1, 1, 1], "XOR": [0, 1, 1, 0]}


def perceptron(x, w, b):
    return (x @ w + b > 0).astype(float)


# %% [markdown] slideshow={"slide_type": "slide"}
# Four points, three tasks. AND: is 1 where both inputs are 1. OR: where at least one is. XOR, "one or the other": where exactly
# one is.
#
# > **Predict before you move anything.** Which of the three can you get wholly right with these three sliders?

# %% slideshow={"slide_type": "fragment"}
widgets.neuron_playground(perceptron, corners, tasks)

# %% [markdown] slideshow={"slide_type": "notes"}
# *Let the room call out the moves for AND (both weights 1, bias −1.5). Give them a minute with XOR before anybody proves
# anything: three of four is easy, and the fourth always escapes. Eight minutes for this section.*

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b> (click after you have predicted)</summary>
#
# - AND and OR: weights 1 and 1, bias −1.5 or −0.5. Such tasks are called **linearly separable**: one straight line parts the
#   zeros from the ones.
# - XOR: never more than three of four. Suppose some $w, b$ did it. From the four points, $b \le 0$, $\;w_1 + b > 0$,
#   $\;w_2 + b > 0$, $\;w_1 + w_2 + b \le 0$. Add the two in the middle: $w_1 + w_2 + 2b > 0$. Subtract the last: $b > 0$,
#   against the first.
# - The bias moves the line without turning it; without a bias every line would pass through $(0, 0)$.
# </details>

# %% [markdown] slideshow={"slide_type": "slide"}
# **A perceptron can learn.** Go through the examples. If the answer $y$ is not the target $t$, add the input to the weights when
# the answer should have been 1, and subtract it when it should have been 0: $w \leftarrow w + (t - y)\,x$, $\;b \leftarrow b +
# (t - y)$. Stop after a round without a mistake.
#
# > **Predict before you run.** After how many rounds does it stop for AND? For OR? For XOR?


# %% slideshow={"slide_type": "fragment"}
def learn(targets, rounds=1000):
    """The round that was free of mistakes (None: there was none), and the weights."""
    w, b = np.zeros(2), 0.0
    for number in range(1, rounds + 1):
        mistakes = 0
        for x, t in zip(corners, targets, strict=True):
            error = t - perceptron(x, w, b)
            w, b = w + error * x, b + error
            mistakes += error != 0
        if not mistakes:
            return number, w, b
    return None, w, b


for task, targets in tasks.items():
    number, w, b = learn(targets)
    print(f"{task:4} first round without a mistake: {number}   weights {w}, bias {b:.0f}")

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer</b></summary>
#
# Six rounds for AND, four for OR. For XOR a thousand rounds are not enough, and no number is. If a line exists, this rule finds
# one after finitely many mistakes (Novikoff 1962); if none exists, it goes round for ever. Minsky & Papert (1969) made it
# famous how much a single neuron cannot do.
# </details>

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 2. Layers draw more
#
# XOR is "OR, but not AND". Two neurons can compute OR and AND, and a third can put them together. Neurons that read the same
# inputs form a **layer**; a layer whose outputs are only read by other neurons is a **hidden layer**; layers behind one another are a
# **multilayer perceptron** (MLP).
#
# > **Predict before you run.** The third neuron computes $h_1 - 2 h_2 - 0.5 > 0$ from $h_1 =$ OR and $h_2 =$ AND. What does it
# > say at the four corners, and what does its *boundary* look like in the plane of $x_1$ and $x_2$?


# %% slideshow={"slide_type": "fragment"}
def by_hand_xor(x):
    h1 = perceptron(x, np.array([1.0, 1.0]), -0.5)  # OR
    h2 = perceptron(x, np.array([1.0, 1.0]), -1.5)  # AND
    return perceptron(np.stack([h1, h2], axis=-1), np.array([1.0, -2.0]), -0.5)


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
at = np.linspace(-1, 2, 61)[:-1] + 0.025
plane = np.stack(np.meshgrid(at, at), axis=-1)  # (row, column, 2)
HTML(
    show.decision_svg(
        by_hand_xor(plane),
        corners,
        tasks["XOR"],
        low=-1,
        high=2,
        title="two hidden neurons, one output",
        notes=[f"at {x}: {by_hand_xor(x):.0f}" for x in corners.astype(int)],
        alt="The plane with a diagonal blue band between two parallel lines. Both points whose target is 1 lie inside "
        "the band, both points whose target is 0 outside: all four are right.",
    )
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# 0, 1, 1, 0. Each hidden neuron draws one line; the output keeps what lies between the two. In the plane of $h_1$ and $h_2$ the
# two middle points have become *one* point, (1, 0), and a single line parts it from the other two. A hidden layer makes new
# coordinates in which the task is easy. Here we chose them; from section 8 on they are learned.
# </details>

# %% [markdown] slideshow={"slide_type": "slide"}
# **Why the threshold has to go.** Learning asks: if I change this weight a little, does the answer get better? A threshold says
# "no change" almost everywhere. So put a smooth step in its place, the **sigmoid** or logistic function. A function in this
# place, smooth or not, is called the neuron's **activation function**:
#
# $$f(x) = \sigma(x) = \frac{1}{1 + e^{-x}}$$
#
# > **Predict before you run.** How steep is it at its steepest: slope 1, 0.5 or 0.25?

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
xs = np.linspace(-6, 6, 49)
sigma = 1 / (1 + np.exp(-xs))
slope = (1 - sigma) * sigma  # section 3 says why
show.curves(
    xs,
    {"σ(x)": sigma, "its slope": slope},
    x_title="x",
    y_title="",
    alt="The sigmoid rises from 0 to 1 and passes one half at x = 0. Its slope is a low hill, 0.25 high at x = 0, and nearly "
    "zero beyond minus 5 and 5.",
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer</b></summary>
#
# 0.25, at $x = 0$. Beyond ±5 it is below 0.01: a neuron that is very sure hardly learns. Where many sigmoids stand behind one
# another, such small slopes multiply; lecture 6 is about that.
# </details>

# %% [markdown] slideshow={"slide_type": "slide"}
# **A forward pass is three lines.** A layer of four neurons that read three numbers has $3 \times 4$ weights, one column for each
# neuron, and four biases. All four sums at once are $xW + b$. A network with two hidden layers and one output, computed from
# input to output, its **forward pass**:

# %% slideshow={"slide_type": "fragment"}
draw = np.random.default_rng(3)
W1, b1 = draw.normal(size=(3, 4)), np.zeros(4)
W2, b2 = draw.normal(size=(4, 4)), np.zeros(4)
W3, b3 = draw.normal(size=(4, 1)), np.zeros(1)


def f(x):
    return 1 / (1 + np.exp(-x))


x = draw.normal(size=(1, 3))  # one example: a row of three numbers
h1 = f(x @ W1 + b1)  # (1, 4)
h2 = f(h1 @ W2 + b2)  # (1, 4)
out = h2 @ W3 + b3  # (1, 1): a score, no activation
print("x  ", x, "\nh1 ", h1, "\nh2 ", h2, "\nout", out)

# %% [markdown] slideshow={"slide_type": "subslide"}
# > **Predict before you run.** How many parameters does this network have?

# %% slideshow={"slide_type": "fragment"}
parameters = sum(p.size for p in (W1, b1, W2, b2, W3, b3))
batch = draw.normal(size=(5, 3))  # five examples, one per row: a batch
scores = f(f(batch @ W1 + b1) @ W2 + b2) @ W3 + b3
print("parameters:", parameters, "  scores of five examples:", scores.shape)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# $3 \cdot 4 + 4 \cdot 4 + 4 \cdot 1 = 32$ weights and $4 + 4 + 1 = 9$ biases: 41. A **batch**, several examples under one another,
# goes through the very same lines. Many slides write examples as columns and $W_1 x$, `np.dot(W1, x)`; their $W_1$ is ours
# transposed, $4 \times 3$, as in PyTorch's `nn.Linear`.
# </details>

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 3. A graph of small steps
#
# 41 parameters, one output: which to change, and in which direction? We want the **gradient**: for every number $v$ in the
# computation, the derivative $\partial f / \partial v$, how much the output $f$ grows for a small growth of $v$.
#
# Begin with three numbers: $f(x, y, z) = (x + y)\,z$ at $x = -2$, $y = 5$, $z = -4$. Name the step in between, $q = x + y$.
# Drawn as a **computational graph**, each circle is one operation, and values flow along the lines from left to right.
#
# Going back, from right to left, is the chain rule, one circle at a time. Each circle is told how much $f$ depends on *its*
# result, the **upstream gradient**. It knows how its result depends on each of its own inputs, the **local gradient**. To every
# input it sends
#
# $$\text{upstream} \times \text{local}, \qquad \frac{\partial f}{\partial x} = \frac{\partial f}{\partial q} \cdot
#   \frac{\partial q}{\partial x}.$$
#
# This is the **backward pass**, and the whole method is **backpropagation** (Linnainmaa 1970; Rumelhart, Hinton & Williams
# 1986).

# %% [markdown] slideshow={"slide_type": "slide"}
# > **Predict before you move the slider.** All five values, then all five gradients. Begin at the right, with
# > $\partial f / \partial f = 1$.

# %% slideshow={"slide_type": "fragment"}
f_out = evaluate("x = -2; y = 5; z = -4; q = x + y; f = q * z")
f_out.backward()
first = f_out.graph()
widgets.circuit_player(first.nodes, first.edges)

# %% [markdown] slideshow={"slide_type": "notes"}
# *Step with the arrow keys: five steps forward, five back. Stop before every number and let the room say it. The usual mistake
# is at z: its gradient is q, the value of the other operand, which people take for its own.*

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - Forward: $q = 3$, $f = -12$.
# - Backward: $\partial f/\partial z = q = 3$ and $\partial f/\partial q = z = -4$: a product hands each input the *other* one.
#   Then $\partial f/\partial x = \partial f/\partial y = -4 \times 1 = -4$: a sum hands on what it gets, unchanged, to all.
# - Read it as a promise: raise $x$ by 0.001, and $f$ changes by about $-0.004$. Here exactly, for the circuit is linear in $x$.
# </details>

# %% [markdown] slideshow={"slide_type": "slide"}
# **The logistic neuron**, as a graph. Two inputs, two weights and a bias, called $w_2$ here:
#
# $$f(w, x) = \frac{1}{1 + e^{-(w_0 x_0 + w_1 x_1 + w_2)}}, \qquad w = (2, -3, -3), \quad x = (-1, -2).$$
#
# Four local gradients are all you need besides + and ×:
#
# | operation | $e^x$ | $1/x$ | $c + x$ | $c\,x$ |
# |---|---|---|---|---|
# | local gradient | $e^x$ | $-1/x^2$ | $1$ | $c$ |
#
# > **Predict before you move the slider**, and before you look at the picture at the top again. Forward you get $1$ before $\times(-1)$,
# > and $0.73$ at the end. Which of the five numbers
# > $w_0, x_0, w_1, x_1, w_2$ has the gradient that is largest in size, and which gradients are negative?

# %% slideshow={"slide_type": "fragment"}
neuron = evaluate(
    "w0 = 2; x0 = -1; w1 = -3; x1 = -2; w2 = -3; f = 1 / (1 + exp(-(w0*x0 + w1*x1 + w2)))"
)
neuron.backward()
logistic = neuron.graph()
widgets.circuit_player(logistic.nodes, logistic.edges)

# %% slideshow={"slide_type": "subslide"}
gradients = {node.label: node.grad for node in logistic.nodes if node.label and not node.op}
print(
    f"value {neuron.data:.2f};  gradients:", {name: f"{g:.2f}" for name, g in gradients.items()}
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - Rounded to one place: $w_0$: −0.2, $x_0$: 0.4, $w_1$: −0.4, $x_1$: −0.6, $w_2$: 0.2. The largest is that of $x_1$, because its
#   factor $w_1 = -3$ is.
# - Everything before the sigmoid receives $0.2$ from it and multiplies it by its own local gradient: $w_0$ gets $0.2 \times x_0 =
#   0.2 \times (-1)$, and $x_0$ gets $0.2 \times w_0 = 0.2 \times 2$.
# </details>

# %% [markdown] slideshow={"slide_type": "slide"}
# **One node or four?** The last four circles, $\times(-1)$, $\exp$, $+1$, $1/x$, are together the sigmoid. Its derivative can be
# written with its own output:
#
# $$\sigma'(x) = \frac{e^{-x}}{(1 + e^{-x})^2} = \frac{(1 + e^{-x}) - 1}{1 + e^{-x}} \cdot \frac{1}{1 + e^{-x}} =
#   (1 - \sigma(x))\,\sigma(x).$$
#
# > **Predict before you run.** At the neuron above $\sigma = 0.73$. What does the single node send back, for an upstream gradient
# > of 1? Does $w_0$ get the same gradient as before?

# %% slideshow={"slide_type": "fragment"}
as_one = evaluate(
    "w0 = 2; x0 = -1; w1 = -3; x1 = -2; w2 = -3; a = w0*x0 + w1*x1 + w2; f = sigmoid(a)"
)
as_one.backward()
one_node = as_one.graph()
HTML(show.circuit_svg(one_node.nodes, one_node.edges))

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# $(1 - 0.73) \cdot 0.73 = 0.20$, and every gradient to the left is as it was. Where to cut a computation into nodes is free: any
# piece whose local gradient one knows may be one node. Large nodes save time and memory; small ones save thinking. (At 0 the
# slope is $0.5 \cdot 0.5 = 0.25$, as in section 2.)
# </details>

# %% [markdown] slideshow={"slide_type": "slide"}
# **Why backward?** One could also send derivatives forward, from one input to the output. That costs one pass *per input*. Going
# back costs one pass *per output*, and a loss is one number: all gradients at once, each edge used once. For a model with a
# million parameters that is the difference between two passes and a million.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 4. Paths add up
#
# So far every value was used once. Now take $f = x \cdot x + x$ at $x = 3$: $x$ is used three times.
#
# > **Predict before you step.** What arrives at $x$ along each of the three lines, and what is its gradient? Compare with the
# > derivative that you know.


# %% slideshow={"slide_type": "fragment"}
def build(formula):
    result = evaluate(formula)
    result.backward()
    return result.graph()


widgets.circuit_playground(
    build,
    {
        "x·x + x: one value, three uses": "x = 3; f = x*x + x",
        "the first circuit": "x = -2; y = 5; z = -4; q = x + y; f = q * z",
        "two weights, shared": "w = 0.5; x1 = 1; x2 = 2; h1 = tanh(w*x1); f = tanh(w*x2 + h1)",
        "squared error": "w = 2; b = 1; x = 3; t = 5; y = w*x + b; L = (y - t)**2",
        "surprise of a sigmoid": "a = 1; p = sigmoid(a); L = -log(p)",
    },
)

# %% [markdown] slideshow={"slide_type": "subslide"}
# *Choose an example or type a formula of your own and press Enter: numbers, names, `+ - * / **`, brackets, and `exp`, `log`,
# `tanh`, `relu`, `sigmoid`; statements stand one after the other with `;` between them.*
#
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - $3$, $3$ and $1$: the product sends each of its operands the other one, which here is $x$, too, and the sum sends 1.
#   Together $7 = 2x + 1$. **Gradients add up over all paths** from a value to the output: the chain rule of many variables.
# - "two weights, shared": $w$ is used at two places, and its gradient is the sum over both. A recurrent network (lecture 5) uses
#   the same weights at *every* word; its gradient is a sum over the whole text.
# - "surprise of a sigmoid": the gradient of $a$ is $-1/p \cdot (1 - p)\,p = p - 1$. Keep that in mind for section 7: what is left
#   is *what was said minus what was right*.
# </details>

# %% [markdown] slideshow={"slide_type": "slide"}
# The whole method, as `nlmcore` has it. Everything is in the last three lines:

# %% slideshow={"slide_type": "fragment"}
from nlmcore.autodiff import Value

print(inspect.getsource(Value.backward))

# %% [markdown] slideshow={"slide_type": "subslide"}
# > **What goes wrong.** `=` in place of `+=` in the last line: each use *overwrites* what the others sent, and $x \cdot x + x$ gets
# > one of its messages in place of their sum. With values that are used once nothing is wrong, so small examples pass. The other
# > mistake is the order: a value may pass on its gradient only when *all* its users have reported.
#
# Frameworks accumulate in one more place: PyTorch adds to `.grad` at every call of `backward`.
#
# > **Predict before you run.** What is printed?

# %% slideshow={"slide_type": "fragment"}
x = torch.tensor(3.0, requires_grad=True)
for call in (1, 2):
    (x * x + x).backward()
    print(f"after call {call} of backward: {x.grad}")

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer</b></summary>
#
# 7, then 14. Hence `optimizer.zero_grad()` in every training loop; who forgets it walks along the sum of all gradients so far.
# Sometimes it is what one wants: the gradients of several small batches add up to that of a large one.
# </details>

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 5. Is it right? Ask twice
#
# A wrong gradient raises no error. The model learns a little worse, or not at all, and nobody says why. But there is a second
# opinion that needs no calculus, the **numerical gradient**, a difference quotient:
#
# $$\frac{\partial f}{\partial x} \approx \frac{f(x + h) - f(x)}{h} \quad\text{(one-sided)}, \qquad
#   \frac{\partial f}{\partial x} \approx \frac{f(x + h) - f(x - h)}{2h} \quad\text{(central)}.$$
#
# Comparing it with backpropagation is a **gradient check**. Calculus wants $h \to 0$.
#
# > **Predict before you run.** We take $h = 0.1, 0.01, \dots, 10^{-15}$ for $w_0$ of the logistic neuron. Which $h$ is best? What
# > happens at $10^{-15}$?


# %% slideshow={"slide_type": "fragment"}
def logistic_neuron(w0, x0=-1, w1=-3, x1=-2, w2=-3):
    return (w0 * x0 + w1 * x1 + w2).sigmoid()


def one_sided(h):
    return (float(logistic_neuron(Value(2 + h))) - float(logistic_neuron(Value(2)))) / h


true = gradients["w0"]
powers = np.arange(1, 16)
one_sided_error = [abs(one_sided(10.0**-k) - true) for k in powers]
central_error = [
    abs(numerical_gradient(logistic_neuron, [2], 10.0**-k)[0] - true) for k in powers
]
# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
show.curves(
    powers,
    {
        "one-sided": np.maximum(one_sided_error, 1e-17),
        "central": np.maximum(central_error, 1e-17),
    },
    x_title="k, for a step of h = 10⁻ᵏ",
    y_title="error",
    log_y=True,
    alt="Error of two difference quotients against the step. Both curves are a V: the error falls as the step shrinks, then "
    "rises again. The central quotient is lowest around 10 to the minus 5, the one-sided around 10 to the minus 8.",
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - Neither the largest nor the smallest. On the left the *curve* is to blame: the one-sided quotient errs in proportion to $h$, the
#   central one to $h^2$. On the right the *computer* is: a number has 16 digits, $f(x + h)$ and $f(x)$ share nearly all of
#   them, and what is left over is divided by a tiny $h$.
# - One-sided is best near $10^{-7}$ or $10^{-8}$, central near $10^{-5}$, and there it is hundreds of times better. At $10^{-15}$
#   both are useless: they err by more than a tenth of the gradient.
# - In single precision, seven digits, there is far less room between the two troubles. Check gradients in double precision.
# </details>

# %% slideshow={"slide_type": "subslide"}
check = check_gradient(logistic_neuron, [2, -1, -3, -2, -3])
print("backward ", [f"{g:.6f}" for g in check.backward])
print("numerical", [f"{g:.6f}" for g in check.numerical])
print(f"gap below 1e-9: {check.error < 1e-9}")

# %% [markdown] slideshow={"slide_type": "subslide"}
# > **What goes wrong.** A gap below $10^{-8}$ is a pass and one of $10^{-2}$ a mistake; there is little between. Three ways to fool
# > oneself: a gap *relative* to nothing (compare with the size of the gradient); a *kink*, such as that of
# > $\max(0, x)$ at 0, where both may be right and disagree; and a point where the mistake cannot show, such as all inputs 0.
#
# The price is two evaluations for *each* parameter. It is a test, not a way to train.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 6. Your own node in PyTorch
#
# PyTorch builds the same graph behind your back (*autograd*), from nodes that know two things: **forward** computes the result and
# *saves* what the way back will need; **backward** is given the upstream gradient and returns upstream × local, one result for
# each input. A node of our own is a class with these two:


# %% slideshow={"slide_type": "fragment"}
class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        sigma = 1 / (1 + torch.exp(-x))
        ctx.save_for_backward(sigma)  # not x: the derivative needs only the output
        return sigma

    @staticmethod
    def backward(ctx, upstream):
        (sigma,) = ctx.saved_tensors
        return upstream * (1 - sigma) * sigma


x = torch.tensor([1.0, 0.0, -4.0], dtype=torch.float64, requires_grad=True)
Sigmoid.apply(x).sum().backward()
print("our derivative ", x.grad)
print("PyTorch's      ", torch.autograd.grad(torch.sigmoid(x).sum(), x)[0])
print("gradient check ", torch.autograd.gradcheck(Sigmoid.apply, x))

# %% [markdown] slideshow={"slide_type": "slide"}
# A product $z = x \cdot y$ must save *both* operands, for each is the other's local gradient (`nlmcore.autodiff.Multiply`). What is
# saved stays in memory until the backward pass: **training needs far more memory than predicting**, and this is why.
#
# > **Predict before you run.** For one tensor, how many tensors does PyTorch keep if the sigmoid is written out as
# > `1 / (1 + torch.exp(-x))`, four operations? And as our single node?


# %% slideshow={"slide_type": "fragment"}
def saved(function, x):
    """How many tensors the graph of function(x) keeps for its way back."""
    kept = []

    def keep(tensor):
        kept.append(tensor)
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        function(x)
    return len(kept)


print(
    "written out:",
    saved(lambda x: 1 / (1 + torch.exp(-x)), x),
    "  one node:",
    saved(Sigmoid.apply, x),
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# Two against one. $\exp$ and $1/x$ both keep their own result; sums keep nothing, for their local gradient is 1 whatever the values
# are, and neither does the sign. Half the memory for the same numbers: a reason to write a node of one's own. The other one is
# *precision*: $-\ln \sigma(x)$, written out, is infinite at $x = -800$; as one node it is 800.
# </details>

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 7. A whole layer at once
#
# Nobody draws a circle per number for a real layer. Take $B$ examples as rows of $X$ (shape $B \times d$), weights $W$ ($d \times m$),
# $Y = XW + b$ ($B \times m$), and some loss $L$ further on. Write $\delta = \partial L / \partial Y$ for the upstream gradient. It has
# the *shape of $Y$*; every gradient has the shape of what it belongs to.
#
# > **Predict before you read on.** Which products of $X$, $W$ and $\delta$ have the shapes of $W$ and of $X$?

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer</b></summary>
#
# $$\frac{\partial L}{\partial W} = X^\top \delta \;\; (d \times B)(B \times m), \qquad
#   \frac{\partial L}{\partial X} = \delta\, W^\top \;\; (B \times m)(m \times d), \qquad
#   \frac{\partial L}{\partial b} = \sum_{n=1}^{B} \delta_n.$$
#
# Entry by entry it is what you know: $Y_{nj} = \sum_i X_{ni} W_{ij}$, so $W_{ij}$ is used once in each row $n$, with the local
# gradient $X_{ni}$, and the paths add up: $\partial L / \partial W_{ij} = \sum_n X_{ni}\, \delta_{nj}$. The sum over the batch is the
# inner dimension of $X^\top \delta$. For the bias the local gradient is 1, and the sum remains.
# </details>

# %% [markdown] slideshow={"slide_type": "slide"}
# **The other end: softmax and the loss.** The network's scores $s$ become probabilities $p = \mathrm{softmax}(s)$, the loss is the
# mean of $-\ln p_{\text{right}}$ over the batch. As *one* node, for a row with the right answer as a row $y$ of zeros and a single
# one:
#
# $$\frac{\partial L}{\partial s} = \frac{p - y}{B}.$$
#
# What was said minus what was right, shared among the batch. (For two classes you have seen it: $p - 1$ in section 4.)
#
# With that, the forward and the backward pass of a network with one hidden layer, for any batch:


# %% slideshow={"slide_type": "fragment"}
def loss_and_gradients(X, targets, W1, b1, W2, b2):
    a = X @ W1 + b1  # (B, hidden): the sums, before the activation
    h = 1 / (1 + np.exp(-a))
    s = h @ W2 + b2  # (B, class): the scores
    p = np.exp(s - s.max(axis=1, keepdims=True))  # the shift: see below
    p = p / p.sum(axis=1, keepdims=True)
    rows = np.arange(len(X))
    loss = -np.log(p[rows, targets]).mean()

    delta = p.copy()  # ---- and back, the same lines from the last to the first
    delta[rows, targets] -= 1
    delta = delta / len(X)  # ∂L/∂s, (B, class)
    dW2, db2 = h.T @ delta, delta.sum(axis=0)
    delta = delta @ W2.T * (h * (1 - h))  # ∂L/∂a, (B, hidden)
    dW1, db1 = X.T @ delta, delta.sum(axis=0)
    return loss, (dW1, db1, dW2, db2)


# %% [markdown] slideshow={"slide_type": "notes"}
# *Cover the lower half and let the room write it, line by line, from the shapes alone. It is nearly always possible; where two
# products fit (square matrices) ask for the sum over the batch. This is the assignment in small.*

# %% [markdown] slideshow={"slide_type": "subslide"}
# Checked against PyTorch, with sizes that are all different, so that an exchanged axis cannot pass unseen:

# %% slideshow={"slide_type": "fragment"}
draw = np.random.default_rng(0)
X, targets = draw.normal(size=(6, 3)), draw.integers(0, 5, size=6)
weights = [draw.normal(size=shape) for shape in ((3, 4), (4,), (4, 5), (5,))]
loss, by_hand = loss_and_gradients(X, targets, *weights)

tensors = [torch.tensor(w, requires_grad=True) for w in weights]
hidden = torch.sigmoid(torch.tensor(X) @ tensors[0] + tensors[1])
torch_loss = torch.nn.functional.cross_entropy(
    hidden @ tensors[2] + tensors[3], torch.tensor(targets)
)
torch_loss.backward()
print(f"loss by hand {loss:.6f}, PyTorch {torch_loss.item():.6f}")
for name, ours, tensor in zip(("W1", "b1", "W2", "b2"), by_hand, tensors, strict=True):
    same = np.allclose(ours, tensor.grad.numpy(), rtol=0, atol=1e-12)
    print(f"∂L/∂{name} {ours.shape!s:7} the same as PyTorch's to 12 places: {same}")

# %% [markdown] slideshow={"slide_type": "slide"}
# > **What goes wrong.** Five mistakes that everybody makes once. Which of them raise an error?
# >
# > 1. the mean over the batch forgotten: `delta` is not divided by $B$;
# > 2. the weights' gradient transposed: $\delta^\top X$ in place of $X^\top \delta$;
# > 3. the slope taken at the activation: $\sigma'(h)$ in place of $\sigma'(a)$, that is `f(h) * (1 - f(h))`;
# > 4. the bias' gradient not summed over the batch;
# > 5. softmax without the shift.

# %% slideshow={"slide_type": "fragment"}
h = 1 / (1 + np.exp(-(X @ weights[0] + weights[1])))
s = h @ weights[2] + weights[3]
p = np.exp(s) / np.exp(s).sum(axis=1, keepdims=True)
delta = (p - np.eye(5)[targets]) / len(X)
back = delta @ weights[2].T
wrong = {
    "1 no mean": X.T @ (len(X) * back * h * (1 - h)),
    "2 transposed": (back * h * (1 - h)).T @ X,
    "3 slope at h": X.T @ (back * f(h) * (1 - f(h))),
    "4 no sum": back * h * (1 - h),
}
right = by_hand[0]

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
for name, gradient in wrong.items():
    of = by_hand[1] if name.startswith("4") else right
    fits = gradient.shape == of.shape
    off = np.abs(gradient - of).max() / np.abs(of).max() if fits else 0.0
    says = f"fits, off by {off:.2f} of the largest entry" if fits else "does not fit"
    print(f"{name:13} shape {gradient.shape} for {of.shape}:  {says}")
with np.errstate(over="ignore", invalid="ignore"):
    huge = np.exp(np.array([1000.0, 0.0]))
    print("5 no shift   ", huge / huge.sum(), " shifted:", np.exp([0.0, -1000.0]))

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - 1 and 3 raise no error and have the right shape. The first is $B$ times too long: learning takes steps that are too long,
#   and changes when the batch does. The third points in another direction.
# - 2 and 4 show in the shape, *if* the sizes differ. With a square $W$ the transposed gradient goes unseen; with $B = 1$ so does the
#   missing sum. Test with sizes that are all different. (NumPy subtracts a gradient of shape $(B, m)$ from a bias of
#   shape $(m)$ without a word; the bias has $B$ rows from then on.)
# - 5: $e^{1000}$ is infinite, and infinite divided by infinite is no number. Subtracting the largest score first changes nothing
#   in exact arithmetic, for only differences count, and keeps every exponent at or below 0.
# </details>

# %% [markdown] slideshow={"slide_type": "slide"}
# For any number of layers it is the same three lines in a loop. This is `nlmcore.feedforward.backward`; its weights are
# $(m \times d)$, as PyTorch stores them, so that $W$ and $W^\top$ change places:

# %% slideshow={"slide_type": "fragment"}
from nlmcore.feedforward import backward

print(inspect.getsource(backward))

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 8. Downhill
#
# The gradient says where the loss grows. Go the other way, a little: **gradient descent**,
#
# $$w \leftarrow w - \eta\, \frac{\partial L}{\partial w}.$$
#
# How little, the **learning rate** $\eta$ decides, a number that one chooses.
#
# > **Predict before you move the slider.** $L(w) = w^2$, from $w = 2$. With which rate does *one* step reach the bottom? From
# > which rate on does it never arrive?


# %% slideshow={"slide_type": "fragment"}
def step(w, gradient, rate):
    return w - rate * gradient


slopes = {
    "one valley": widgets.Slope(lambda w: w**2, lambda w: 2 * w, start=2),
    "a steep valley": widgets.Slope(lambda w: 4 * w**2, lambda w: 8 * w, start=2),
    "two valleys": widgets.Slope(
        lambda w: (w * w - 1) ** 2 + 0.3 * w, lambda w: 4 * w * (w * w - 1) + 0.3, 1.7, -1.9, 1.9
    ),
}
widgets.descent_playground(step, slopes)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - The gradient is $2w$, so one step is $w \leftarrow (1 - 2\eta)\,w$. At $\eta = 0.5$ it lands on 0. At 0.05 it has come to 0.70
#   after ten steps: right, but slow. Between 0.5 and 1 it jumps from side to side and still shrinks; at 1 it jumps between
#   2 and −2 for ever; beyond 1 it **diverges**, each step larger than the one before.
# - In the steep valley everything happens at a quarter of the rate. A loss of many parameters is steep in some directions and
#   flat in others, and *one* rate has to do for all.
# - Two valleys: up to a rate of 0.12 it settles in the nearer one, which is not the deeper one. From 0.13 on the first leap happens to
#   carry it into the other. Gradient descent finds *a* place where it cannot go down, no more.
# </details>

# %% [markdown] slideshow={"slide_type": "slide"}
# **XOR, learned.** Two inputs, one hidden layer, one output with a sigmoid. Nothing new: the passes of section 7, and a step. Because
# starts are random, we train 200 networks at once, each from weights of its own (one more axis in front of every array).
#
# > **Predict before you run.** Two hidden neurons are enough for XOR: we made such a network by hand. Of 200 networks with *two*
# > hidden neurons, how many learn it? And with eight?


# %% slideshow={"slide_type": "fragment"}
def train(hidden, runs=200, rate=2.0, steps=2000, keep=(2000,), seed=0):
    """Gradient descent on XOR. Returns {step: weights} for the steps to keep."""
    draw, t = np.random.default_rng(seed), np.array(tasks["XOR"], dtype=float)[:, None]
    W1, b1 = draw.normal(size=(runs, 2, hidden)), np.zeros((runs, 1, hidden))
    W2, b2 = draw.normal(size=(runs, hidden, 1)), np.zeros((runs, 1, 1))
    kept = {}
    for number in range(steps + 1):
        if number in keep:
            kept[number] = [w.copy() for w in (W1, b1, W2, b2)]
        h = f(corners @ W1 + b1)  # (runs, 4, hidden)
        delta = (f(h @ W2 + b2) - t) / 4  # (runs, 4, 1): what was said minus what was right
        below = delta @ W2.swapaxes(1, 2) * h * (1 - h)
        W2, b2 = W2 - rate * h.swapaxes(1, 2) @ delta, b2 - rate * delta.sum(1, keepdims=True)
        W1, b1 = W1 - rate * corners.T @ below, b1 - rate * below.sum(1, keepdims=True)
    return kept


def says(x, W1, b1, W2, b2):
    return f(f(x @ W1 + b1) @ W2 + b2)[..., 0]


# %% slideshow={"slide_type": "fragment"}
solved = {}
for hidden in (1, 2, 3, 4, 8):
    answers = says(corners, *train(hidden)[2000]) > 0.5
    solved[hidden] = (answers == np.array(tasks["XOR"], dtype=bool)).all(axis=1)
    print(
        f"{hidden} hidden: {solved[hidden].mean():4.0%} of 200 networks have all four right after 2,000 steps"
    )

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# None with one, about three in four with two, all with eight. *That a network can represent a task does not mean that gradient descent
# finds it.* More neurons than needed make it easier to find: more starts, of which a few are good, in one network. Much of what
# surprises about large models begins here. (With thresholds in place of sigmoids nobody knows a fast way: to find the weights
# of three neurons with many inputs is NP-complete, Blum & Rivest 1992.)
# </details>

# %% [markdown] slideshow={"slide_type": "slide"}
# Watch four of them. Move along the training with the arrow keys.
#
# > **Predict before you move.** Will the networks that learn it draw our band of section 2? And what does the one that is stuck
# > say at the corners it gets wrong?

# %% slideshow={"slide_type": "fragment"}
moments = [0, 20, 50, 100, 150, 200, 300, 400, 600, 1000, 2000]
lucky, stuck = int(np.argmax(solved[2])), int(np.argmin(solved[2]))
shown = {
    "2 hidden": (2, lucky),
    "2 hidden, stuck": (2, stuck),
    "8 hidden": (8, 0),
    "1 hidden": (1, 0),
}
runs = {}
for name, (hidden, run) in shown.items():
    kept = train(hidden, keep=moments)
    runs[name] = {
        moment: (lambda x, at=[w[run] for w in weights]: says(x, *at))
        for moment, weights in kept.items()
    }
widgets.boundary_player(runs, corners, tasks["XOR"])

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - Not our solution: the band they learned is orange and crosses ours. At the four corners both are right; of the rest of the plane
#   the data say nothing.
# - The stuck network is sure of two corners and says 0.50 at the two others. Its loss stays at 0.348, about half of $\ln 2 =
#   0.693$: a coin for each of the two. Look at its hidden neurons (next cell): at those two corners both say 1, so for the output
#   neuron the corners are one point. And where a sigmoid is so sure, its slope is next to nothing: hardly any gradient arrives
#   that could part them.
# - The first network does nothing one can see for 150 steps: 0.693, a coin for every corner. At 400 its loss is 0.081. A flat loss
#   is not always the end, and one cannot tell from the loss alone which of the two it is.
# - One hidden neuron is still at 0.693 after 2,000 steps.
# </details>

# %% slideshow={"slide_type": "subslide"}
W1, b1, W2, b2 = (w[stuck] for w in train(2)[2000])
h = f(corners @ W1 + b1)
for corner, outputs, slopes_there in zip(corners.astype(int), h, h * (1 - h), strict=True):
    print(f"stuck network at {corner}: hidden {outputs}, slopes {slopes_there}")

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Check yourself
#
# 1. $f = \max(x, y)$ at $x = 3$, $y = 5$, upstream gradient 2. What do $x$ and $y$ receive?
# <details><summary>Answer</summary>0 and 2: the larger one passes everything on, the other one has no influence.</details>
#
# 2. A value is used by three operations that send it 0.5, −0.2 and 0.1. Its gradient?
# <details><summary>Answer</summary>0.4, the sum.</details>
#
# 3. $X$ is 32 × 100, $W$ is 100 × 10. Which shape has $\partial L/\partial W$, and over what was summed?
# <details><summary>Answer</summary>100 × 10, the shape of W; summed over the 32 examples.</details>
#
# 4. A gradient check fails by a factor of exactly 32, your batch size. What happened?
# <details><summary>Answer</summary>One side takes the mean over the batch, the other the sum.</details>
#
# 5. The loss jumps to "not a number" in the first steps. Two suspects?
# <details><summary>Answer</summary>A learning rate that is far too large, or an exponential without the shift.</details>
#
# 6. Why does PyTorch need more memory for training than for predicting, with the same weights?
# <details><summary>Answer</summary>It keeps what the backward pass will need, from every operation, until it has been
# used.</details>
#
# 7. Can a network with a hidden layer but *without* activation functions compute XOR?
# <details><summary>Answer</summary>No. $(xW_1 + b_1)W_2 + b_2$ is again one matrix and one bias: one line.</details>

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Now you
#
# The backward pass is five lines. Change `+=` into `=`, or let the edges come in their forward order, and see which gradients
# go wrong; then make it right again. The widget draws your pass beside the reference.


# %% slideshow={"slide_type": "fragment"}
def my_backward(nodes, edges):
    gradient = [0.0] * len(nodes)
    gradient[-1] = 1.0  # the output, with respect to itself
    for edge in sorted(
        edges, key=lambda edge: -edge.target
    ):  # from the last operation to the first
        gradient[edge.source] += gradient[edge.target] * edge.local  # upstream × local
    return gradient


twice = build("x = 2; q = x*x; f = q*q + q")
player = widgets.circuit_player(twice.nodes, twice.edges, yours=my_backward)
player.controls["step"].value = 2 * len(twice.nodes)
player

# %% [markdown] slideshow={"slide_type": "skip"}
# The same works elsewhere: `widgets.descent_playground(step, slopes, yours=my_step)` takes a step of yours, say one that never
# moves by more than 0.5, and `widgets.neuron_playground(perceptron, corners, tasks, yours=my_neuron)` another activation function. The
# assignment [`exercises/backpropagation/backpropagation.ipynb`](../exercises/backpropagation/backpropagation.ipynb) lets you build all the rest, from one neuron to a matrix that is used
# twice, and tells you which mistake you made.

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Notation, words, sources
#
# | here | elsewhere | what it is |
# |---|---|---|
# | $xW + b$, examples are rows | $W x + b$, `np.dot(W1, x) + b1`, examples are columns | a layer; their $W$ is ours transposed |
# | $f$, $\sigma$ | activation, nonlinearity, `1.0/(1.0 + np.exp(-x))` | what a neuron applies to its sum |
# | $a$ and $h = f(a)$ | $z$ and $a$; net input and activation; pre-activation | before and after $f$ |
# | upstream gradient, $\delta$ | $\partial L/\partial z$, `grad_output`, top diff | what a node is told |
# | local gradient | $\partial z/\partial x$ | what a node knows |
# | `forward(ctx, x)`, `backward(ctx, upstream)` | forward/backward API; `save_for_backward`, cache | a node in PyTorch |
# | $\eta$ | $\alpha$, lr, step size | learning rate |
# | $p - y$ | $\hat y - y$ | gradient of softmax with log loss |

# %% [markdown] slideshow={"slide_type": "skip"}
# ### Words of this lecture
#
# - **neuron**: a weighted sum of numbers plus a bias, handed to an activation function.
# - **weight**: the number by which a neuron multiplies one of its inputs.
# - **bias**: the number that a neuron adds to its weighted sum; it moves the boundary without turning it.
# - **parameters**: the weights and biases of a model, all numbers that learning may change.
# - **perceptron**: a neuron whose activation function is a threshold; its answer is 0 or 1.
# - **linearly separable**: said of a task with two answers that one straight line (a plane, in more dimensions) can part.
# - **activation function**: the function that a neuron applies to its weighted sum.
# - **sigmoid**: the activation function 1/(1 + e⁻ˣ), a smooth step from 0 to 1; its slope is (1 − σ)σ.
# - **layer**: neurons that read the same inputs, computed by one matrix product.
# - **hidden layer**: a layer whose outputs only other neurons read.
# - **multilayer perceptron**: layers of neurons behind one another; MLP for short.
# - **batch**: several examples that go through a model together, one per row.
# - **forward pass**: computing the result from the inputs, step by step.
# - **gradient**: for each number in a computation, how much the output grows for a small growth of that number.
# - **computational graph**: a computation drawn as operations joined by the values that they exchange.
# - **upstream gradient**: how much the output depends on the result of an operation; what the operation is told.
# - **local gradient**: how much the result of one operation depends on one of its inputs; what the operation knows.
# - **backward pass**: computing all gradients from the output back to the inputs, upstream times local at each step.
# - **backpropagation**: the method of finding all gradients of one output by a forward and a backward pass.
# - **numerical gradient**: a difference quotient, a gradient found by nudging one number at a time.
# - **gradient check**: comparing backpropagation's gradients with numerical ones.
# - **gradient descent**: changing every parameter a little against its gradient, again and again.
# - **learning rate**: how large a step of gradient descent is, as a factor of the gradient.
# - **diverge**: to get ever further from the goal, here because steps are too large.

# %% [markdown] slideshow={"slide_type": "skip"}
# **Sources.** Rosenblatt (1958), The Perceptron: A Probabilistic Model for Information Storage and Organization in the Brain.
# Novikoff (1962), On Convergence Proofs on Perceptrons. Minsky & Papert (1969), Perceptrons. Linnainmaa (1970), master's thesis,
# University of Helsinki: reverse-mode differentiation. Rumelhart, Hinton & Williams (1986), Learning Representations by
# Back-propagating Errors. The two circuits, the three-layer forward pass and the forward/backward interface are those of
# Stanford's course CS231n, from which many slides have them. Blum & Rivest (1992), Training a 3-Node Neural Network is NP-Complete
# (with thresholds).
