# %% [markdown] slideshow={"slide_type": "slide"}
# # Neurons and backpropagation
#
# A model predicts the next word, and it is wrong. It has a million parameters, the numbers that training adjusts. **Which of them is to blame, and how much?** You
# could nudge each parameter a little and predict again, but a single step of learning would then take a million predictions. There
# is a method that finds all million answers for about the price of three predictions. This lecture explains it, and all neural
# networks of this course are trained with it.
#
# <img src="figures/logistic_neuron.svg" width="860" alt="One neuron as a circuit of small operations. Two weights times two inputs, plus a bias, give 1; the circuit then computes 1 over 1 plus e to the minus 1, which is 0.73. The gradient is written below each edge: minus 0.2 and 0.39 for the first weight and input, minus 0.39 and minus 0.59 for the second, 0.2 for the bias.">
#
# *One neuron, broken down into its operations. The blue numbers above the lines are values, computed from left to right. The orange
# numbers below say how strongly the result depends on each value; they are computed from right to left. In section 3 you compute
# both by hand.*
#
# **After this lecture you can**
# - say what a neuron computes, what it cannot compute, and why layers can;
# - run a computational graph forward and backward by hand, and build the program that does it;
# - check a gradient with two function calls, and choose a good step size for the check;
# - write your own forward and backward functions for PyTorch;
# - differentiate a whole layer in matrix form, and keep the shapes right;
# - recognise a learning rate that is too small, good, or too large.
#
# **You need** derivatives, the chain rule, matrix products, and Python with NumPy. Recall from [lecture
# 1](01_language_models.ipynb) that a model's *loss* is the mean surprise $-\ln P$ of the correct answers, and that *softmax* turns
# scores into probabilities, $p_i = e^{s_i} / \sum_j e^{s_j}$. Vectors are rows, as in the code, so matrices multiply them from the
# right, $xW$.

# %% [markdown] slideshow={"slide_type": "skip"}
# | section | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 |
# |---|---|---|---|---|---|---|---|---|
# | minutes | 8 | 8 | 12 | 9 | 6 | 7 | 12 | 11 |
#
# The minutes are for a class. If you work alone, with all predictions and widgets, plan 110 minutes. You can leave sections 5 and 6 for
# later; then plan 90. Every cell runs in a few seconds on a laptop, without a network connection. *Coming from other slides?* A
# table at the end translates their notation.

# %% [markdown] slideshow={"slide_type": "notes"}
# *If you are short of time, skip sections 5 and 6.*

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "skip"}
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
# A **neuron** takes some numbers $x_1, \dots, x_d$, multiplies each by its own **weight**, adds a **bias** $b$, and applies a
# function $f$ to the sum:
#
# $$y = f(w_1 x_1 + w_2 x_2 + \dots + w_d x_d + b) = f(w \cdot x + b).$$
#
# The weights and the bias are its **parameters**, the numbers that learning may change. In Rosenblatt's **perceptron** (1958), an early
# artificial neuron that learns, $f$ is a threshold: $y = 1$ if the sum is positive, else $0$. With two inputs the sum is zero
# along a straight line. The perceptron outputs 1 on one side of the line and 0 on the other, and the weight vector points to the side where the output is 1. In a
# task, each example $x$ has a *target*, the correct output. A task with two inputs is **linearly separable** if one straight line separates the examples with
# target 1 from those with target 0.

# %% slideshow={"slide_type": "fragment"}
corners = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=float)
tasks = {"AND": [0, 0, 0, 1], "OR": [0, 1, 1, 1], "XOR": [0, 1, 1, 0]}


def perceptron(x, w, b):
    return (x @ w + b > 0).astype(float)


# %% [markdown] slideshow={"slide_type": "slide"}
# Here are four points and three tasks. AND is 1 where both inputs are 1, OR is 1 where at least one of them is, and XOR ("exclusive or") is 1
# where exactly one is.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
grid = np.arange(-3, 3.1, 0.5)
possible = {
    task: any(
        (perceptron(corners, np.array([v, w]), b) == targets).all()
        for v in grid
        for w in grid
        for b in grid
    )
    for task, targets in tasks.items()
}
most_right = max(
    (perceptron(corners, np.array([v, w]), b) == tasks["XOR"]).sum()
    for v in grid
    for w in grid
    for b in grid
)
show.predict(
    "Which of the three tasks *cannot* be solved with two weights and a bias?",
    choices=[*tasks, "none: all three can"],
    answer=next((task for task in tasks if not possible[task]), "none: all three can"),
    why="No straight line separates its zeros from its ones. Try it:",
    reveals=widgets.neuron_playground(perceptron, corners, tasks).opens(task="XOR"),
)

# %% [markdown] slideshow={"slide_type": "notes"}
# *8 minutes. Let the room call out the moves for AND (both weights 1, bias −1.5). Give them a minute with XOR before anybody
# proves anything; three of the four points are easy, and the fourth always escapes.*

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - With both weights 1, a bias of −1.5 solves AND and a bias of −0.5 solves OR<!--[[? all((perceptron(corners, np.ones(2), b) == tasks[task]).all() for task, b in (("AND", -1.5), ("OR", -0.5)))]]-->. Both tasks are linearly separable.
# - For XOR you get at most three<!--[[words(most_right)]]--> of the four points right. Suppose that some $w, b$ solved it. The four points require $b \le 0$,
#   $\;w_1 + b > 0$, $\;w_2 + b > 0$, $\;w_1 + w_2 + b \le 0$. Add the second and the third: $w_1 + w_2 + 2b > 0$. Subtract the
#   fourth: $b > 0$, which contradicts the first.
# - The bias shifts the line without rotating it; without a bias every line would pass through $(0, 0)$.
# </details>

# %% [markdown] slideshow={"slide_type": "slide"}
# **A perceptron can learn.** Go through the examples in turn. If the output should have been 1 but was 0, add the input to the weights. If it
# should have been 0 but was 1, subtract the input. With the target $t$ and the output $y$, both rules are one formula: $w \leftarrow w + (t - y)\,x$,
# $\;b \leftarrow b + (t - y)$. Stop after an epoch (one round through all examples) without a mistake.
#
# > **Ask yourself.** After how many rounds does the perceptron stop for AND? For OR? For XOR?


# %% slideshow={"slide_type": "fragment"} tags=["lesson"]
def learn(targets, rounds=1000):
    """The first round without a mistake (None if there was none), and the weights."""
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
# AND takes six<!--[[words(learn(tasks["AND"])[0])]]--> rounds, OR takes four<!--[[words(learn(tasks["OR"])[0])]]-->. For XOR a thousand rounds are not enough<!--[[? learn(tasks["XOR"])[0] is None]]-->, and no number of rounds would be. If a separating line
# exists, this rule finds one after finitely many mistakes (Novikoff 1962); if none exists, it never stops. Minsky & Papert (1969)
# made the limits of a single neuron famous.
# </details>

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 2. Layers draw more
#
# XOR is "OR, but not AND". Two neurons can compute OR and AND, and a third can combine them. Neurons with the same inputs form a
# **layer**. A layer whose outputs go only to other neurons is a **hidden layer**. A stack of layers is a **multilayer perceptron**
# (MLP).
#
# > **Ask yourself.** Let $h_1$ be the output of the OR neuron and $h_2$ that of the AND neuron. The third neuron outputs 1 if $h_1 - 2 h_2 - 0.5 > 0$. What does it
# > output at the four corners? And what does its *decision boundary*, the border between output 0 and output 1, look like in the plane of $x_1$ and $x_2$?


# %% [markdown] slideshow={"slide_type": "notes"}
# *8 minutes. Let the room choose the weights of the third neuron before you show ours. Students often expect the boundary of
# the network to be one bent line; ask how many lines they see. Count the parameters together; the biases are easily forgotten.*


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
        "the band, and both points whose target is 0 lie outside, so all four are right.",
    )
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# The third neuron outputs 0, 1, 1, 0<!--[[? by_hand_xor(corners).tolist() == [0, 1, 1, 0]]]-->. Each hidden neuron draws one line; the output neuron keeps the band between the two lines. In
# the plane of $h_1$ and $h_2$ the two points with target 1 have become *one* point, (1, 0), and a single line separates it from the
# other two.
# </details>
#
# **A hidden layer can compute new coordinates in which the task is easier.** Here we chose them; in section 8 the network learns them.

# %% [markdown] slideshow={"slide_type": "slide"}
# **Why the threshold has to go.** The function $f$ is called the neuron's **activation function**. Learning asks: if I change this weight a little, does the
# answer get better? With a threshold, a small change of a weight almost never changes the answer. So we replace the threshold by a smooth step, the
# **sigmoid** or logistic function:
#
# $$f(x) = \sigma(x) = \frac{1}{1 + e^{-x}}$$

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
xs = np.linspace(-6, 6, 49)
sigma = 1 / (1 + np.exp(-xs))
slope = (1 - sigma) * sigma  # section 3 says why

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
show.predict(
    "How steep is the sigmoid at its steepest?",
    choices={"slope 1": 1, "slope 0.5": 0.5, "slope 0.25": 0.25},
    answer=slope.max(),
    why="The slope is largest at $x = 0$, where the sigmoid is halfway up.",
    reveals=show.curves(
        xs,
        {"σ(x)": sigma, "its slope": slope},
        x_title="x",
        y_title="",
        alt="The sigmoid rises from 0 to 1 and passes one half at x = 0. Its slope is a low hill, 0.25 high at x = 0, and nearly "
        "zero beyond minus 5 and 5.",
    ),
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>The answer explained</b></summary>
#
# The largest slope is 0.25<!--[[slope.max()]]-->, at $x = 0$. Beyond ±5 it is below 0.01<!--[[? slope[abs(xs) >= 5].max() < 0.01]]-->. What tells a *hidden* neuron how to change
# is multiplied by this slope, so at sums this far from 0 little of it is left. (At the output the loss cancels this factor, as section 7 derives.) When
# many sigmoids follow each other, such small slopes multiply; [lecture 7](07_vanishing_gradients.ipynb) is about that.
# </details>

# %% [markdown] slideshow={"slide_type": "slide"}
# **A forward pass is three lines of code.** A layer of four neurons with three inputs has $3 \times 4$ weights, one column per neuron, and
# four biases. The vector of all four sums is $xW + b$. Computing a network's output from its input is called a **forward pass**.
# This network has two hidden layers and one output:

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

# %% slideshow={"slide_type": "fragment"}
parameters = sum(p.size for p in (W1, b1, W2, b2, W3, b3))
batch = draw.normal(size=(5, 3))  # five examples, one per row: a batch
scores = f(f(batch @ W1 + b1) @ W2 + b2) @ W3 + b3

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
with show.held_back() as counted:
    print("parameters:", parameters, "  scores of five examples:", scores.shape)
show.predict(
    "How many parameters does this network have?",
    within=0,
    answer=parameters,
    why="Every neuron has a bias as well.",
    reveals=counted,
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# There are $3 \cdot 4 + 4 \cdot 4 + 4 \cdot 1$ = 32<!--[[W1.size + W2.size + W3.size]]--> weights and $4 + 4 + 1$ = 9<!--[[b1.size + b2.size + b3.size]]--> biases, 41<!--[[parameters]]--> parameters in all.
# </details>
#
# A **batch** of several examples, one per row, goes through exactly the same code. Many slides write examples as columns, and the
# product as $W_1 x$ or `np.dot(W1, x)`; their $W_1$ is the transpose of ours, $4 \times 3$, as in PyTorch's `nn.Linear`.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 3. A graph of small steps
#
# There are 41<!--[[parameters]]--> parameters and one output. Which parameters should we change, and in which direction? Let $f$ be the output of a
# computation. We want the **gradient**: for every value $v$ in the computation, the derivative $\partial f / \partial v$, which says how much $f$ changes for a
# small change of $v$.
#
# Start with three numbers: $f(x, y, z) = (x + y)\,z$ at $x = -2$, $y = 5$, $z = -4$. Call the intermediate result $q = x + y$. In
# the **computational graph** each circle is one operation, and values flow along the lines from left to right.
#
# From right to left we apply the chain rule, one circle at a time. Each circle receives the **upstream gradient**, the derivative
# of $f$ with respect to the result of this circle. The circle knows its **local gradient**, the derivative of its result with respect to each of its
# inputs. To each input it sends
#
# $$\text{upstream} \times \text{local}, \qquad \frac{\partial f}{\partial x} = \frac{\partial f}{\partial q} \cdot
#   \frac{\partial q}{\partial x}.$$
#
# This is the **backward pass**, and the whole method is **backpropagation** (Linnainmaa 1970; Rumelhart, Hinton & Williams
# 1986).

# %% slideshow={"slide_type": "fragment"}
f_out = evaluate("x = -2; y = 5; z = -4; q = x + y; f = q * z")
f_out.backward()
first = f_out.graph()

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
of_first = {node.label: node for node in first.nodes}
show.predict(
    "Work by hand, from right to left. What is $\\partial f / \\partial x$?",
    within=0,
    answer=of_first["x"].grad,
    why="The product sends $q$ the *other* factor, $z$, and the sum passes it on unchanged. Step through all five values and gradients:",
    reveals=widgets.circuit_player(first.nodes, first.edges),
)

# %% [markdown] slideshow={"slide_type": "notes"}
# *12 minutes. Step with the arrow keys: five steps forward, five back. Stop before every number and let the room say it. The usual
# mistake is at z: its gradient is q, the value of the other operand, but many give z its own value.*

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - Forward: $q$ = 3<!--[[of_first["q"].value:g]]-->, $f$ = −12<!--[[of_first["f"].value:g]]-->.
# - Backward: $\partial f/\partial z = q$ = 3<!--[[of_first["z"].grad:g]]--> and $\partial f/\partial q = z$ = −4<!--[[of_first["q"].grad:g]]-->, because for each of its inputs a product
#   multiplies the upstream gradient by the value of the *other* input. Then $\partial f/\partial x = \partial f/\partial y = -4 \times 1$ = −4<!--[[of_first["x"].grad:g]]--><!--[[? of_first["y"].grad == of_first["x"].grad]]-->, because a
#   sum passes the upstream gradient on unchanged to all its inputs.
# - Read a gradient as a promise. If you raise $x$ by 0.001, $f$ changes by about −0.004<!--[[0.001 * of_first["x"].grad]]-->. Here the promise is exact, because the
#   circuit is linear in $x$.
# </details>

# %% [markdown] slideshow={"slide_type": "slide"}
# **The logistic neuron as a graph.** It has two inputs, two weights and a bias, here called $w_2$:
#
# $$f(w, x) = \frac{1}{1 + e^{-(w_0 x_0 + w_1 x_1 + w_2)}}, \qquad w = (2, -3, -3), \quad x = (-1, -2).$$
#
# Besides + and × you need only four local gradients ($c$ is a constant):
#
# | operation | $e^x$ | $1/x$ | $c + x$ | $c\,x$ |
# |---|---|---|---|---|
# | local gradient | $e^x$ | $-1/x^2$ | $1$ | $c$ |

# %% slideshow={"slide_type": "fragment"}
neuron = evaluate(
    "w0 = 2; x0 = -1; w1 = -3; x1 = -2; w2 = -3; f = 1 / (1 + exp(-(w0*x0 + w1*x1 + w2)))"
)
neuron.backward()
logistic = neuron.graph()

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
gradients = {node.label: node.grad for node in logistic.nodes if node.label and not node.op}
at_zero = evaluate(
    "w0 = 2; x0 = -1; w1 = -3; x1 = 0; w2 = -3; f = 1 / (1 + exp(-(w0*x0 + w1*x1 + w2)))"
)
at_zero.backward()
zeroed = {node.label: node.grad for node in at_zero.graph().nodes if node.label and not node.op}
with show.held_back() as all_five:
    print(
        f"value {neuron.data:.2f};  gradients:",
        {name: f"{g:.2f}" for name, g in gradients.items()},
    )
show.predict(
    "Now set $x_1 = 0$ and keep the other values. Which of the five gradients becomes 0?",
    choices=list(gradients),
    answer=min(gradients, key=lambda name: abs(zeroed[name])),
    why="A weight gets the upstream gradient from the sigmoid times *its input*, so an input of 0 sends its weight a gradient of 0. "
    "$x_1$ gets the same upstream gradient times its weight. Step through the original graph, with $x_1 = -2$:",
    reveals=[widgets.circuit_player(logistic.nodes, logistic.edges), all_five],
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - Rounded to one decimal place, the gradients of the weights are $w_0$: −0.2<!--[[gradients["w0"]:.1f]]-->, $w_1$: −0.4<!--[[gradients["w1"]:.1f]]-->, $w_2$: 0.2<!--[[gradients["w2"]:.1f]]-->.
# - The inputs get $x_0$: 0.4<!--[[gradients["x0"]:.1f]]--> and $x_1$: −0.6<!--[[gradients["x1"]:.1f]]-->. The gradient of $x_1$ has the largest magnitude<!--[[? max(gradients, key=lambda name: abs(gradients[name])) == "x1"]]-->, because the factor that it gets, $w_1 = -3$, has the largest magnitude.
# - The sigmoid sends $0.2$ back, and each operation before it multiplies this by its own local gradient: $w_0$ gets
#   $0.2 \times x_0 = 0.2 \times (-1)$, and $x_0$ gets $0.2 \times w_0 = 0.2 \times 2$.
# </details>

# %% [markdown] slideshow={"slide_type": "slide"}
# **One node or four?** The last four circles, $\times(-1)$, $\exp$, $+1$, $1/x$, together compute the sigmoid. You can also replace them by a single node. Its
# local gradient is the derivative of the sigmoid, which you can write in terms of the sigmoid's output:
#
# $$\sigma'(x) = \frac{e^{-x}}{(1 + e^{-x})^2} = \frac{(1 + e^{-x}) - 1}{1 + e^{-x}} \cdot \frac{1}{1 + e^{-x}} =
#   (1 - \sigma(x))\,\sigma(x).$$
#
# > **Ask yourself.** In the neuron above $\sigma$ = 0.73<!--[[neuron.data:.2f]]-->. What does the single node send back if its upstream gradient is 1? Does
# > $w_0$ get the same gradient as before?

# %% slideshow={"slide_type": "fragment"} tags=["lesson"]
as_one = evaluate(
    "w0 = 2; x0 = -1; w1 = -3; x1 = -2; w2 = -3; a = w0*x0 + w1*x1 + w2; f = sigmoid(a)"
)
as_one.backward()
one_node = as_one.graph()
HTML(show.circuit_svg(one_node.nodes, one_node.edges))

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "skip"}
sent_back = {node.label: node.grad for node in one_node.nodes}
at_origin = evaluate("a = 0; f = sigmoid(a)")
at_origin.backward()
slope_at_0 = next(node.grad for node in at_origin.graph().nodes if node.label == "a")

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# The single node sends back $(1 - 0.73) \cdot 0.73$ = 0.20<!--[[sent_back["a"]:.2f]]-->, and every gradient to its left is the same as before<!--[[? all(abs(sent_back[name] - grad) < 1e-9 for name, grad in gradients.items())]]-->. (At 0 the slope is
# $0.5 \cdot 0.5$ = 0.25<!--[[slope_at_0:.2f]]-->, as in section 2.)
# </details>
#
# You are free to choose the nodes, because any part whose local gradient you know can be a single node. Large nodes can save
# memory (section 6); small ones have simpler local gradients.

# %% [markdown] slideshow={"slide_type": "slide"}
# **Why backward?** You could also propagate derivatives forward, from one input to the output (*forward mode*). That costs one pass
# *per input*. Backpropagation (*reverse mode*) costs one pass *per output*, and the loss is a single number. So one backward pass gives all gradients, and
# it uses each edge of the graph once. In a layer the backward pass takes two matrix products where the forward pass takes one (section 7). So,
# counted in matrix products, both passes together cost about as much as three predictions. Forward mode would take a million passes for a million parameters.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 4. Paths add up
#
# So far every value was used once. In $f = x \cdot x + x$ at $x = 3$, $x$ is used three times.


# %% [markdown] slideshow={"slide_type": "notes"}
# *9 minutes, four of them for the engine. Ask for the gradient first and collect several answers, such as 3 and 6. Then let a student
# type a formula with a shared value. Mention the training loop, in which it is easy to forget to reset the gradients.*


# %% slideshow={"slide_type": "fragment"}
def build(formula):
    result = evaluate(formula)
    result.backward()
    return result.graph()


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
thrice = build("x = 3; f = x*x + x")
show.predict(
    "What is the gradient of $x$?",
    within=0,
    answer=thrice.nodes[0].grad,
    why="Gradients add up over all paths: 3 and 3 through the product, 1 through the sum.",
    reveals=widgets.circuit_playground(
        build,
        {
            "x·x + x: one value, three uses": "x = 3; f = x*x + x",
            "the first circuit": "x = -2; y = 5; z = -4; q = x + y; f = q * z",
            "one weight, used twice": "w = 0.5; x1 = 1; x2 = 2; h1 = tanh(w*x1); f = tanh(w*x2 + h1)",
            "squared error": "w = 2; b = 1; x = 3; t = 5; y = w*x + b; L = (y - t)**2",
            "surprise of a sigmoid": "a = 1; p = sigmoid(a); L = -log(p)",
        },
    ),
)

# %% [markdown] slideshow={"slide_type": "subslide"}
# *Choose an example, or type your own formula and press Enter. You can use numbers, names, `+ - * / **`, brackets, and `exp`,
# `log`, `tanh`, `relu`, `sigmoid`; separate statements with `;`.*
#
# <details><summary><b>What to notice</b></summary>
#
# - The three gradients are $3$, $3$ and $1$<!--[[? sorted(edge.message for edge in thrice.edges if edge.source == 0) == [1, 3, 3]]]-->: each operand of the product receives the other operand, which is also $x$, and the
#   sum sends 1. Together they give 7<!--[[thrice.nodes[0].grad:g]]--> = $2x + 1$.
# - In "one weight, used twice" the gradient of $w$ is the sum over both uses. A recurrent network
#   ([lecture 6](06_recurrent_networks.ipynb)) uses the same weights at *every* word, so its gradient is a sum over the whole
#   text.
# - In "surprise of a sigmoid" the gradient of $a$ is $-1/p \cdot (1 - p)\,p = p - 1$, *the prediction minus
#   the target*, where the target is 1. Section 7 returns to this.
# </details>
#
# **Gradients add up over all paths** from a value to the output. This is the multivariable chain rule.

# %% [markdown] slideshow={"slide_type": "slide"}
# ### Build it in four cells
#
# You can now write the core of a framework such as PyTorch. **First**, a number must remember the inputs that
# it was computed from and the local gradient for each of them:


# %% slideshow={"slide_type": "fragment"}
class Scalar:
    def __init__(self, data, inputs=()):
        self.data, self.grad = data, 0.0
        self.inputs = inputs  # pairs (input, local gradient)


u = Scalar(3.0)
print(u.data, u.grad, u.inputs)

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Second**, each operation computes its result in the forward direction and stores the local gradients on the way:


# %% slideshow={"slide_type": "fragment"}
def add(a, b):
    return Scalar(a.data + b.data, [(a, 1.0), (b, 1.0)])


def multiply(a, b):
    return Scalar(a.data * b.data, [(a, b.data), (b, a.data)])


Scalar.__add__, Scalar.__mul__ = add, multiply
v = u * u + u
print(v.data, [(input.data, local) for input, local in v.inputs])

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Third**, the order matters. A value may pass on its gradient only after *all* operations that use the value have sent theirs. So list the inputs
# of each value before the value itself, and read the list backwards:


# %% slideshow={"slide_type": "fragment"}
def in_order(result):
    """Everything that `result` was computed from, inputs first, `result` last."""
    listed = []

    def visit(value):
        if value not in listed:
            for input, _ in value.inputs:
                visit(input)
            listed.append(value)

    visit(result)
    return listed


print([value.data for value in in_order(v)])

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Fourth** comes the backward pass. All gradients start at 0; then each operation adds upstream times local to the gradient of each
# input:


# %% slideshow={"slide_type": "fragment"}
def backpropagate(result):
    order = in_order(result)
    for value in order:
        value.grad = 0.0
    result.grad = 1.0  # the result, with respect to itself
    for value in reversed(order):
        for input, local in value.inputs:
            input.grad += value.grad * local


backpropagate(v)
print("x·x + x at 3 has the gradient", u.grad)

# %% [markdown] slideshow={"slide_type": "subslide"}
# The logistic neuron needs one more operation, with a local gradient that you have seen. Then the engine that you just
# built gives the five gradients of section 3, and agrees with `Value` of `nlmcore`, the class behind the circuits of this page:

# %% slideshow={"slide_type": "fragment"}
from nlmcore.autodiff import Value


def logistic_of(a):
    sigma = 1 / (1 + np.exp(-a.data))
    return Scalar(sigma, [(a, (1 - sigma) * sigma)])


five = {name: Scalar(value) for name, value in zip(gradients, (2, -1, -3, -2, -3), strict=True)}
g0, y0, g1, y1, g2 = five.values()  # w0, x0, w1, x1, w2
backpropagate(logistic_of(g0 * y0 + g1 * y1 + g2))
for name, value in five.items():
    print(f"{name}: ours {value.grad:6.3f}   nlmcore {gradients[name]:6.3f}")

# %% [markdown] slideshow={"slide_type": "subslide"}
# > **What goes wrong.** If you write `=` instead of `+=` in the last line of `backpropagate`, each use *overwrites* the gradient from
# > the others. In $x \cdot x + x$ the value $x$ then gets only the last of its three gradients, not their sum. If every value is used
# > only once, all gradients are still correct, so a test with a small example can pass.
#
# Within one backward pass, gradients add up. What happens if PyTorch computes the same formula and its backward pass a second time?

# %% slideshow={"slide_type": "fragment"}
x, seen = torch.tensor(3.0, requires_grad=True), []
for _ in (1, 2):
    (x * x + x).backward()
    seen.append(x.grad.item())

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
show.predict(
    "`backward` is called twice. After the first call `x.grad` is 7. What is it after the second?",
    choices={"0": 0, "7": 7, "14": 14},
    answer=seen[1],
    why="PyTorch also accumulates gradients across calls: it adds the second gradient to the first.",
    reveals=show.table(enumerate(seen, 1), ["Calls of backward", "x.grad"]),
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>The answer explained</b></summary>
#
# It is 7<!--[[seen[0]:g]]--> after the first call and 14<!--[[seen[1]:g]]--> after the second. So a training loop calls `optimizer.zero_grad()` before each step; if you
# forget it, you step along the sum of all gradients so far. Sometimes accumulation is useful: if the loss is a sum over examples, the gradients of several small
# batches add up to that of a large one.
# </details>

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 5. Is it right? Check it numerically
#
# A wrong gradient may raise no error. The model learns a little worse, or not at all, and you do not know why. But the
# **numerical gradient**, a difference quotient, is a second opinion that needs no calculus:
#
# $$\frac{\partial f}{\partial x} \approx \frac{f(x + h) - f(x)}{h} \quad\text{(one-sided)}, \qquad
#   \frac{\partial f}{\partial x} \approx \frac{f(x + h) - f(x - h)}{2h} \quad\text{(central)}.$$
#
# Comparing it with backpropagation is called a **gradient check**. In calculus $h$ goes to 0. How small should it be on a computer?


# %% [markdown] slideshow={"slide_type": "notes"}
# *6 minutes. Let the room vote on the best step before you show the curves. Ask why
# both curves have the shape of a V. Then check one gradient live.*


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
show.predict(
    "We try $h = 0.1, 0.01, \\dots, 10^{-15}$ for $w_0$ of the logistic neuron. Which $h$ is best for the central quotient?",
    choices={"near 10⁻²": 1e-2, "near 10⁻⁵": 1e-5, "near 10⁻¹⁰": 1e-10, "10⁻¹⁵": 1e-15},
    answer=10.0 ** -powers[np.argmin(central_error)],
    why="Neither the largest nor the smallest step is best: two sources of error pull in opposite directions.",
    reveals=show.curves(
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
    ),
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - On the left, where $h$ is large, the error comes from replacing a curve by a straight line; the error of the one-sided quotient is proportional to $h$, that of
#   the central one to $h^2$<!--[[? 8 < one_sided_error[0] / one_sided_error[1] < 12 and 80 < central_error[0] / central_error[1] < 120]]-->. On the right the *computer* is to blame. A number in double precision has about 16 digits, $f(x + h)$ and $f(x)$ agree in
#   nearly all of them, and we divide the rounding error of their difference by a tiny $h$.
# - The one-sided quotient is best near $10^{-7}$ or $10^{-8}$, the central one near $10^{-5}$<!--[[? powers[np.argmin(one_sided_error)] in (7, 8) and powers[np.argmin(central_error)] in (4, 5, 6)]]-->, where it is more than a hundred times as
#   accurate as the best one-sided quotient<!--[[? min(one_sided_error) > 100 * min(central_error)]]-->. At $10^{-15}$ both are useless, because they are wrong by more than a tenth of the gradient<!--[[? min(one_sided_error[-1], central_error[-1]) > 0.1 * abs(true)]]-->.
# - Single precision has only seven digits, so rounding errors dominate at much larger $h$. Check gradients in double precision.
# </details>

# %% slideshow={"slide_type": "subslide"}
check = check_gradient(logistic_neuron, [2, -1, -3, -2, -3])
print("backward ", [f"{g:.6f}" for g in check.backward])
print("numerical", [f"{g:.6f}" for g in check.numerical])
relative = [
    abs(a - b) / max(abs(a), abs(b)) for a, b in zip(check.backward, check.numerical, strict=True)
]
print(f"largest relative error below 1e-7: {max(relative) < 1e-7}")

# %% [markdown] slideshow={"slide_type": "subslide"}
# > **What goes wrong.** Check the *relative* error, the error divided by the size of the gradient. As a rule of thumb (course notes of CS231n), in double
# > precision and where the function is smooth, a relative error below $10^{-7}$ passes the check, and one above $10^{-2}$ probably means a mistake. An error in between may
# > come from single precision, from a deep graph, or from a mistake, so look closer. You can fool yourself in three ways. You check
# > an *absolute* error, not compared with the size of the gradient. You check at a *kink*, such as that of $\max(0, x)$ at 0, where both
# > gradients may be right and still disagree. Or you check at a point that hides the mistake, for example one with all inputs 0.
# > (`check.error` of `nlmcore` divides by the size of the gradient only where that is larger than 1, because a gradient can be exactly 0. So for small gradients,
# > such as the five above<!--[[? max(map(abs, check.backward)) < 1]]-->, it is an absolute error.)
#
# A gradient check with the central quotient costs two evaluations for *each* parameter. It is a test, not a way to train.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 6. Your own node in PyTorch
#
# PyTorch builds the same graph behind the scenes (*autograd*), from nodes with two functions. **forward** computes the result and
# *saves* the values that the backward pass will need. **backward** receives the upstream gradient and returns upstream × local, one
# result per input. To define your own node, write a class with these two functions:


# %% [markdown] slideshow={"slide_type": "notes"}
# *7 minutes. Let the room fill in the backward function from the derivative that they already know. The usual mistake is to
# forget the upstream gradient. Ask which tensors must be saved, and for how long.*


# %% slideshow={"slide_type": "fragment"} tags=["lesson"]
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
# The node of a product $z = x \cdot y$ must save *both* operands, because the derivative with respect to each is the value of the other
# (`nlmcore.autodiff.Multiply`). Saved tensors stay in memory until the backward pass. At inference, when a trained model is only used, no backward pass follows, so each value can be discarded
# as soon as the next operation has read it. This is one reason why **training needs more memory than inference**. Two others are the gradients and, with some
# training methods ([lecture 5](05_training_well.ipynb)), values kept from earlier steps.
#
# > **Ask yourself.** How many tensors does PyTorch keep for a single input tensor if you write the sigmoid out as
# > `1 / (1 + torch.exp(-x))`, with four operations? How many does it keep for our single node?


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
def saved(function, x):
    """How many tensors the graph of function(x) keeps for its backward pass."""
    kept = []

    def keep(tensor):
        kept.append(tensor)
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        function(x)
    return len(kept)


written_out, in_one = saved(lambda x: 1 / (1 + torch.exp(-x)), x), saved(Sigmoid.apply, x)
print("written out:", written_out, "  one node:", in_one)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# PyTorch keeps two<!--[[words(written_out)]]--> tensors for the four operations and one<!--[[words(in_one)]]--> for our node. $\exp$ and $1/x$ both keep their own result. A sum keeps
# nothing, because its local gradient is 1; a change of sign keeps nothing either. So our node keeps half as many tensors, which is one
# reason to write it. Another reason for large nodes is *precision*. At $x = -800$ our `Sigmoid` rounds to 0, and $-\ln 0$ is
# infinite<!--[[? torch.isinf(-torch.log(Sigmoid.apply(torch.tensor(-800.0))))]]-->. A single node for the *whole* of $\ln \sigma(x)$, such as PyTorch's `logsigmoid`, can return the right value, −800<!--[[torch.nn.functional.logsigmoid(torch.tensor(-800.0)):g]]-->.
# </details>

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 7. A whole layer at once
#
# Let the rows of $X$ (shape $B \times d$) be $B$ examples, let $W$
# ($d \times m$) be the weights, $Y = XW + b$ ($B \times m$), and let $L$ be a loss computed from $Y$. Write
# $\delta = \partial L / \partial Y$ for the upstream gradient. It has the *shape of $Y$*, because every gradient has the shape of
# its variable.
#
# > **Ask yourself.** Which products of $X$, $W$ and $\delta$ have the shapes of $W$ and of $X$? Try it with two examples and two
# > inputs: which paths lead from the weight $W_{12}$ to the loss?

# %% slideshow={"slide_type": "fragment"}
two, its_delta = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[0.5, 1.0], [0.0, -1.0]])
print("W₁₂ is used once in each row, where X₁₁ = 1 and X₂₁ = 3 multiply it:")
print("path by path", 1.0 * 1.0 + 3.0 * -1.0, "  as a matrix product\n", two.T @ its_delta)

# %% [markdown] slideshow={"slide_type": "fragment"}
# In general $Y_{nj} = \sum_i X_{ni} W_{ij} + b_j$, so $W_{ij}$ is used once in each row $n$, with the local gradient $X_{ni}$. The
# paths add up: $\partial L / \partial W_{ij} = \sum_n X_{ni}\, \delta_{nj}$. That sum is a matrix product, and so is the gradient of $X$:
#
# $$\frac{\partial L}{\partial W} = X^\top \delta \;\; (d \times B)(B \times m), \qquad
#   \frac{\partial L}{\partial X} = \delta\, W^\top \;\; (B \times m)(m \times d), \qquad
#   \frac{\partial L}{\partial b} = \sum_{n=1}^{B} \delta_n.$$
#
# For the bias the local gradient is 1, so only the sum over the batch remains.

# %% [markdown] slideshow={"slide_type": "slide"}
# **The output: softmax and the loss.** The network's scores $s$ become probabilities $p = \mathrm{softmax}(s)$, and the loss of an
# example is $-\ln p_c$, where $c$ is the correct class. Treat both as *one* node. Together, softmax and logarithm become simpler:
#
# $$-\ln p_c = -\ln \frac{e^{s_c}}{\sum_j e^{s_j}} = -s_c + \ln \sum_j e^{s_j}.$$
#
# Now differentiate with respect to any score $s_i$. The first term gives $-1$ if $i = c$, and 0 otherwise. The second gives
# $e^{s_i} / \sum_j e^{s_j}$, which is $p_i$ again. If we write the correct class as a one-hot row $y$ and take the mean over a
# batch of $B$ rows, we get
#
# $$\frac{\partial (-\ln p_c)}{\partial s_i} = p_i - y_i, \qquad \frac{\partial L}{\partial s} = \frac{p - y}{B}.$$
#
# **The gradient of the scores is the prediction minus the target.** It contains no slope of an activation function, which could be close to 0. So
# if the network gives a wrong class a probability near 1, the gradient of that class's score is also near 1 (before the mean over the batch). (You have seen the case of two classes: $p - 1$ in section 4.)
#
# Now you can write the forward and the backward pass of a network with one hidden layer, for any batch:


# %% slideshow={"slide_type": "fragment"} tags=["lesson"]
def loss_and_gradients(X, targets, W1, b1, W2, b2):
    a = X @ W1 + b1  # (B, hidden): the sums, before the activation
    h = 1 / (1 + np.exp(-a))
    s = h @ W2 + b2  # (B, class): the scores
    p = np.exp(s - s.max(axis=1, keepdims=True))  # the shift: see below
    p = p / p.sum(axis=1, keepdims=True)
    rows = np.arange(len(X))
    loss = -np.log(p[rows, targets]).mean()

    delta = p.copy()  # ---- and backward: the same lines in reverse order
    delta[rows, targets] -= 1
    delta = delta / len(X)  # ∂L/∂s, (B, class)
    dW2, db2 = h.T @ delta, delta.sum(axis=0)
    delta = delta @ W2.T * (h * (1 - h))  # ∂L/∂a, (B, hidden)
    dW1, db1 = X.T @ delta, delta.sum(axis=0)
    return loss, (dW1, db1, dW2, db2)


# %% [markdown] slideshow={"slide_type": "notes"}
# *12 minutes. Derive p − y on the board, in two minutes. Then cover the lower half of the function and let the room write it, line by
# line, just from the shapes; where two products fit (square matrices), ask for the sum over the batch.
# This is a small version of the assignment.*

# %% [markdown] slideshow={"slide_type": "subslide"}
# We check it against PyTorch, with sizes that are all different, so that swapped axes cannot go unnoticed:

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
    print(f"∂L/∂{name} {ours.shape!s:7} the same as PyTorch's to 12 decimal places: {same}")

# %% [markdown] slideshow={"slide_type": "slide"}
# > **What goes wrong.** Here are five common mistakes. Which of them change the shape of a gradient?
# >
# > 1. You forget the mean over the batch: `delta` is not divided by $B$.
# > 2. You transpose the gradient of the weights: $\delta^\top X$ instead of $X^\top \delta$.
# > 3. You evaluate the slope at the activation $h$ instead of at the sum $a$: you write `f(h) * (1 - f(h))`, which is $\sigma'(h)$.
# > 4. You do not sum the gradient of the bias over the batch.
# > 5. You compute softmax without the shift, that is, without subtracting the largest score.

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
told = []
for name, gradient in wrong.items():
    of = by_hand[1] if name.startswith("4") else right
    fits = gradient.shape == of.shape
    off = f"{np.abs(gradient - of).max() / np.abs(of).max():.2f}" if fits else "does not fit"
    told.append((name, gradient.shape, of.shape, off))
with np.errstate(over="ignore", invalid="ignore"):
    huge = np.exp(np.array([1000.0, 0.0]))
    unshifted = huge / huge.sum()
note = f"5 no shift: {unshifted}; shifted: {np.exp([0.0, -1000.0])}"
show.table(told, ["", "Its shape", "Right shape", "Off by (× the largest entry)"], note)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - Mistakes 1 and 3 raise no error and give the right shape<!--[[? [name[0] for name in wrong if wrong[name].shape == right.shape] == ["1", "3"]]]-->. The gradient of mistake 1 is $B$ times too large<!--[[? np.allclose(wrong["1 no mean"], len(X) * right)]]-->, so the steps
#   grow with the batch size. That of mistake 3 points in a different direction<!--[[? np.ptp(wrong["3 slope at h"] / right) > 0.1]]-->.
# - Mistakes 2 and 4 change the shape, *if* the sizes differ. With a square $W$ the transposed gradient goes unnoticed; with $B = 1$ so does
#   the missing sum. Test with sizes that are all different. (NumPy computes `b = b - gradient` without an error if the bias
#   has shape $(m)$ and the gradient $(B, m)$; from then on the bias has $B$ rows.)
# - In mistake 5, $e^{1000}$ overflows to infinity<!--[[? np.isinf(huge[0])]]-->, and infinity divided by infinity is not a number. If you first subtract the largest
#   score, every exponent is at most 0. In exact arithmetic this changes nothing, because softmax depends only on the differences between the scores.
# </details>

# %% [markdown] slideshow={"slide_type": "slide"}
# For any number of layers, the same lines run in a loop, once per layer. This is `nlmcore.feedforward.backward`; its weights are
# $(m \times d)$, as PyTorch stores them, so $W$ and $W^\top$ swap roles:

# %% slideshow={"slide_type": "fragment"}
from nlmcore.feedforward import backward

print(inspect.getsource(backward))

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 8. Downhill
#
# The gradient points in the direction in which the loss grows fastest. **Gradient descent** takes a small step in the opposite direction:
#
# $$w \leftarrow w - \eta\, \frac{\partial L}{\partial w}.$$
#
# The **learning rate** $\eta$, a number that you choose, sets the size of the step. If it is too large, each step can end further from the
# goal than the previous one; gradient descent **diverges**.
#
# > **Ask yourself.** Take $L(w) = w^2$ and start at $w = 2$. At what rate does *one* step reach the bottom? Above what rate does gradient
# > descent never get there?


# %% [markdown] slideshow={"slide_type": "notes"}
# *11 minutes. Try the rates that the room calls out, and ask for a guess before each. Then run the race on XOR. Leave two minutes for the stuck network.*


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


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "skip"}
def after(name, rate, steps):
    """The point that so many steps reach."""
    w = float(slopes[name].start)
    for _ in range(steps):
        w = step(w, slopes[name].gradient(w), rate)
    return w


# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - The gradient is $2w$, so one step is $w \leftarrow (1 - 2\eta)\,w$. At $\eta = 0.5$ gradient descent lands on 0<!--[[? after("one valley", 0.5, 1) == 0]]-->.
# - At 0.05 it moves in the right direction, but slowly. It reaches 0.70<!--[[after("one valley", 0.05, 10):.2f]]-->
#   after ten steps.
# - With a rate between 0.5 and 1, $w$ jumps from one side of 0 to the other, and its size still shrinks; at 1 it
#   jumps between 2 and −2 for ever<!--[[? abs(after("one valley", 1, 11)) == 2]]-->; beyond 1 it diverges<!--[[? abs(after("one valley", 1.01, 30)) > 2 > abs(after("one valley", 0.99, 30))]]-->.
# - In the steep valley the same things happen at a quarter of the rate<!--[[? abs(after("a steep valley", 0.5 / 4, 1)) < 1e-12]]-->.
# - In the curve with two valleys, gradient descent with rates up to 0.12 ends in the nearer valley<!--[[? all(after("two valleys", rate / 100, 30) > 0 for rate in range(1, 13))]]-->, which is the shallower one<!--[[? slopes["two valleys"].loss(-1.04) < slopes["two valleys"].loss(0.96)]]-->. At 0.13 the first jump
#   happens to carry $w$ into the other valley<!--[[? after("two valleys", 0.13, 30) < 0]]-->.
# </details>
#
# **Gradient descent may end in a minimum that is not the lowest.** And a loss with many parameters may be steep in some directions and
# flat in others, but a *single* rate has to work for all directions.

# %% [markdown] slideshow={"slide_type": "slide"}
# **Learning XOR.** The network has two inputs, one hidden layer and one sigmoid output. Each training step
# consists of the two passes of section 7 and one step of gradient descent. The initialisation is random, so we train 200
# networks in parallel, each from its own initial weights (every array gets an extra first axis).


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
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
        delta = (f(h @ W2 + b2) - t) / 4  # (runs, 4, 1): prediction minus target
        below = delta @ W2.swapaxes(1, 2) * h * (1 - h)
        W2, b2 = W2 - rate * h.swapaxes(1, 2) @ delta, b2 - rate * delta.sum(1, keepdims=True)
        W1, b1 = W1 - rate * corners.T @ below, b1 - rate * below.sum(1, keepdims=True)
    return kept


def says(x, W1, b1, W2, b2):
    return f(f(x @ W1 + b1) @ W2 + b2)[..., 0]


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
def right_everywhere(weights):
    """Which of the networks get all four corners right."""
    return ((says(corners, *weights) > 0.5) == np.array(tasks["XOR"], dtype=bool)).all(axis=1)


after_more_steps = right_everywhere(train(2, steps=6000, keep=(6000,))[6000]).mean()
solved = {hidden: right_everywhere(train(hidden)[2000]) for hidden in (1, 2, 3, 4, 8)}
learned = show.table(
    [(hidden, f"{100 * all_four.mean():.0f}") for hidden, all_four in solved.items()],
    ["Hidden neurons", "Networks that get all four right after 2,000 steps, % of 200"],
)
show.predict(
    "Two hidden neurons are enough for XOR; we built such a network by hand. "
    "Of 200 networks with *two* hidden neurons, how many learn it?",
    choices={"hardly any": 2, "about half": 50, "about three in four": 75, "all": 100},
    answer=100 * solved[2].mean(),
    unit=" %",
    why=f"With eight hidden neurons {solved[8].mean():.0%} learn it.",
    reveals=learned,
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - With one hidden neuron none of the networks learns XOR, with two about three in four do, with eight all do. With two neurons, training three times as long
#   raises the fraction from 74.5<!--[[100 * solved[2].mean():.1f]]--> % only to 75.5<!--[[100 * after_more_steps:.1f]]--> %<!--[[? not solved[1].any() and 0.7 < solved[2].mean() < 0.8 and solved[8].all()]]-->.
# - Why do more neurons help? Perhaps each pair of hidden neurons is one more random start, and one good pair is enough. A network with one pair failed in 25.5<!--[[100 * (1 - solved[2].mean()):.1f]]--> % of our 200 runs. So two independent pairs should succeed in 93.5<!--[[100 * (1 - (1 - solved[2].mean()) ** 2):.1f]]--> % of cases, and four pairs in
#   99.6<!--[[100 * (1 - (1 - solved[2].mean()) ** 4):.1f]]--> %.
# - We measured 99<!--[[100 * solved[4].mean():.0f]]--> % with four neurons and 100<!--[[100 * solved[8].mean():.0f]]--> % with eight<!--[[? solved[4].mean() > 1 - (1 - solved[2].mean()) ** 2]]-->. So four neurons do better than
#   two independent pairs would, and the idea alone does not explain it. (Four neurons contain six pairs, which are not independent.)
# </details>
#
# **A network that can represent a solution need not find it by gradient descent.** For threshold neurons, deciding whether three of them can fit a given set
# of points is NP-complete (Blum & Rivest 1992). So no efficient algorithm is known that always finds their weights if a solution exists.

# %% [markdown] slideshow={"slide_type": "slide"}
# Watch four of these networks. Use the arrow keys to move through training.
#
# > **Ask yourself.** Will the networks that learn XOR draw our band from section 2? What does the stuck network output at the
# > corners that it gets wrong?

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
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
stuck_says = runs["2 hidden, stuck"][2000](corners)
bands = {"ours": [1, 0, 0, 1, 1], "across": [0, 0, 0, 1, 1]}


def drawing(hidden, band):
    """Which fraction of the networks that learned XOR draw this band: their answers at five points of the plane."""
    points = np.array([[0.5, 0.5], [2, 2], [-1, -1], [2, -1], [-1, 2]])
    answers = says(points, *train(hidden)[2000])[solved[hidden]] > 0.5
    return (answers == np.array(bands[band], dtype=bool)).all(axis=1).mean()


def loss_at(name, moment):
    p = runs[name][moment](corners)
    return float(-np.log(np.where(tasks["XOR"], p, 1 - p)).mean())


widgets.boundary_player(runs, corners, tasks["XOR"])

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - Some do. Of the networks with two hidden neurons that learn XOR, 50<!--[[100 * drawing(2, "ours"):.0f]]--> % draw our band. The others draw a band that lies
#   at right angles to ours<!--[[? drawing(2, "ours") + drawing(2, "across") == 1]]-->, and inside it the output is 0. With eight hidden neurons 18<!--[[100 * drawing(8, "ours"):.0f]]--> % draw ours. At the four corners all are right; the
#   data say nothing about the rest of the plane.
# - The stuck network is confident at two corners and outputs 0.50 at the other two<!--[[? sorted(abs(stuck_says - 0.5).round(2)) == [0, 0, 0.5, 0.5]]]-->.
# - Its loss stays at 0.348<!--[[loss_at("2 hidden, stuck", 2000):.3f]]-->, about half of
#   $\ln 2$ = 0.693<!--[[np.log(2):.3f]]-->, because it flips a coin at two of the four corners.
# - At those two
#   corners both hidden neurons output 1 (next cell)<!--[[? (h[abs(stuck_says - 0.5) < 0.01] > 0.999).all()]]-->, so the output neuron receives nearly the same inputs at both. Their slopes are close to zero<!--[[? (h * (1 - h))[abs(stuck_says - 0.5) < 0.01].max() < 0.001]]-->, so hardly any
#   gradient arrives that could separate the two corners.
# - The network "2 hidden" makes no visible progress for 150 steps; its loss is still 0.693<!--[[loss_at("2 hidden", 150):.3f]]-->, that of a coin flip at every corner.
# - After 400 steps its
#   loss is 0.081<!--[[loss_at("2 hidden", 400):.3f]]-->. A flat loss is not always the end, but the loss by itself does not tell you whether it is.
# - The network with one hidden neuron is still at 0.693<!--[[loss_at("1 hidden", 2000):.3f]]--> after 2,000 steps.
# </details>

# %% slideshow={"slide_type": "subslide"}
its_weights, its_bias, *_ = (w[stuck] for w in train(2)[2000])
h = f(corners @ its_weights + its_bias)
for corner, outputs, slopes_there in zip(corners.astype(int), h, h * (1 - h), strict=True):
    print(f"stuck network at {corner}: hidden {outputs}, slopes {slopes_there}")

# %% [markdown] slideshow={"slide_type": "slide"}
# ### From XOR to letters
#
# The function of section 7 works for any classes. Give it the previous two letters of a first name as two concatenated one-hot rows,
# let the classes be the next letter or the end, and the same gradient descent trains a language model.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "skip"}
from nlmcore.corpora import load

LETTERS = ".abcdefghijklmnopqrstuvwxyz"  # the dot marks the beginning and the end of a name


def examples(split):
    """One row per letter: the previous two letters, one-hot, and the id of the next one."""
    rows = [
        [0, 0, *(LETTERS.index(letter) for letter in name.lower()), 0]
        for name in load("names", kind="first").texts(split)
    ]
    before = np.array([row[i : i + 2] for row in rows for i in range(len(row) - 2)])
    return np.eye(27)[before].reshape(len(before), 54), np.concatenate([row[2:] for row in rows])


inputs, following = examples("train")
inputs_test, following_test = examples("test")
frequency = np.bincount(following, minlength=27) / len(following)
by_frequency = -np.log(frequency[following_test]).mean()

# %% slideshow={"slide_type": "fragment"}
draw = np.random.default_rng(1)
net = [draw.normal(size=size) * 0.3 for size in ((54, 64), (64,), (64, 27), (27,))]
surprises = [loss_and_gradients(inputs_test, following_test, *net)[0]]
for _ in range(3000):
    rows = draw.integers(0, len(inputs), size=64)  # a small batch, at random
    _, slopes_of_loss = loss_and_gradients(inputs[rows], following[rows], *net)
    net = [w - 1.0 * gradient for w, gradient in zip(net, slopes_of_loss, strict=True)]
surprises.append(loss_and_gradients(inputs_test, following_test, *net)[0])
print("test loss before and after training", np.round(surprises, 2))
print(f"from just the frequencies of the letters {by_frequency:.2f}")

# %% [markdown] slideshow={"slide_type": "fragment"}
# The loss on unseen names falls from 3.42<!--[[surprises[0]:.2f]]--> to 2.21<!--[[surprises[1]:.2f]]-->; a model that knows only the frequency of each letter gets 2.78<!--[[by_frequency:.2f]]-->. The next
# lecture builds on this network: it replaces the one-hot rows by learned vectors, first for letters, then for words.
#
# **Which of a million parameters is to blame, and how much? Each parameter's share of the blame is its gradient. One backward pass
# computes all gradients: upstream times local, added up over all paths.**

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Check yourself
#
# 1. Let $f = \max(x, y)$ with $x = 3$, $y = 5$ and an upstream gradient of 2. What do $x$ and $y$ receive?
# <details><summary>Answer</summary>They receive 0 and 2, because the larger input receives the whole gradient; the other has no influence on f.</details>
#
# 2. Three operations use a value and send it 0.5, −0.2 and 0.1. What is its gradient?
# <details><summary>Answer</summary>It is 0.4<!--[[0.5 - 0.2 + 0.1:.1f]]-->, the sum of the three.</details>
#
# 3. $X$ is 32 × 100, $W$ is 100 × 10. What is the shape of $\partial L/\partial W$, and what does it sum over?
# <details><summary>Answer</summary>It is 100 × 10, the shape of W, and it sums over the 32 examples.</details>
#
# 4. A gradient check fails by a factor of exactly 32, your batch size. What happened?
# <details><summary>Answer</summary>One side takes the mean over the batch, the other the sum.</details>
#
# 5. The loss becomes "not a number" in the first steps. What are two likely causes?
# <details><summary>Answer</summary>The learning rate is far too large, or an exponential lacks the shift.</details>
#
# 6. Why does PyTorch need more memory for training than for inference, with the same weights?
# <details><summary>Answer</summary>PyTorch keeps the values of every operation that the backward pass will need, until that pass has
# used them.</details>
#
# 7. Can a network with a hidden layer but *without* activation functions compute XOR?
# <details><summary>Answer</summary>No. $(xW_1 + b_1)W_2 + b_2$ is again one matrix and one bias, so it draws only one line.</details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *"Check yourself" is not projected: 6 minutes at the end, or homework. Take 3, 4 and 7 in the room. What goes wrong: in 3 they
# forget that the gradient has the shape of $W$, and in 7 they say yes, because the network has a hidden layer; write the product
# of the two matrices on the board.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Now you
#
# The backward pass is five lines. Change `+=` to `=`, or process the edges in forward order, and see which gradients go wrong; then
# repair it. The widget shows your pass next to the reference.


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
# The same works elsewhere. `widgets.descent_playground(step, slopes, yours=my_step)` takes your own step, for example one that
# never moves by more than 0.5, and `widgets.neuron_playground(perceptron, corners, tasks, yours=my_neuron)` takes a different
# activation function. In the assignment
# [`exercises/backpropagation/backpropagation.ipynb`](../exercises/backpropagation/backpropagation.ipynb) you build all the rest,
# from one neuron to a matrix that is used twice, and its checks tell you which mistake you made.

# %% [markdown] slideshow={"slide_type": "notes"}
# *"Now you": 5 minutes, in pairs. Before they run anything, each pair predicts the gradient of x for `=` and for the forward order;
# the right one is 36<!--[[twice.nodes[0].grad:g]]-->. With `=` it is 8, because the last message overwrites the others; in forward order it is 0, because the edges
# of x are processed before q has its gradient. What goes wrong: pairs test with a chain in which every value is used once, and see no
# difference.*

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Notation, words, sources
#
# | here | elsewhere | what it is |
# |---|---|---|
# | $xW + b$, examples are rows | $W x + b$, `np.dot(W1, x) + b1`, examples are columns | a layer; their $W$ is the transpose of ours |
# | $f$, $\sigma$ | activation function, nonlinearity, `1.0/(1.0 + np.exp(-x))` | what a neuron applies to its sum |
# | $a$ and $h = f(a)$ | $z$ and $a$; net input and activation; pre-activation | before and after $f$ |
# | upstream gradient, $\delta$ | $\partial L/\partial z$, `grad_output`, top diff | the gradient that a node receives |
# | local gradient | $\partial z/\partial x$ | the derivative that a node knows |
# | `forward(ctx, x)`, `backward(ctx, upstream)` | forward/backward API; `save_for_backward`, cache | a node in PyTorch |
# | $\eta$ | $\alpha$, lr, step size | learning rate |
# | $p - y$ | $\hat y - y$ | gradient of softmax with log loss |

# %% [markdown] slideshow={"slide_type": "notes"}
# *The table is not projected. Point to it when somebody's slides write $Wx$; ask for the shape of their $W$. What goes wrong: for
# us $a$ is the sum and $h$ the activation, while many books write $z$ and $a$. Begin the next lecture with 2 minutes in pairs:
# each student explains three of the words without the list.*

# %% [markdown] slideshow={"slide_type": "skip"}
# ### Words of this lecture
#
# - **neuron**: an activation function applied to a weighted sum of numbers plus a bias.
# - **weight**: the number by which a neuron multiplies one of its inputs.
# - **bias**: the number that a neuron adds to its weighted sum; it shifts the boundary without rotating it.
# - **parameters**: the weights and biases of a model, all numbers that learning may change.
# - **perceptron**: a neuron whose activation function is a threshold; its answer is 0 or 1.
# - **linearly separable**: said of a task with two answers that one straight line (in more dimensions, a hyperplane) can separate.
# - **activation function**: the function that a neuron applies to its weighted sum.
# - **sigmoid**: the activation function 1/(1 + e⁻ˣ), a smooth step from 0 to 1; its slope is (1 − σ)σ.
# - **layer**: neurons with the same inputs, computed by one matrix product.
# - **hidden layer**: a layer whose outputs go only to other neurons.
# - **multilayer perceptron**: a stack of layers of neurons; MLP for short.
# - **batch**: several examples that go through a model together, one per row.
# - **forward pass**: computing the result from the inputs, step by step.
# - **gradient**: for each value in a computation, how much the output changes for a small change of that value.
# - **computational graph**: a computation drawn as operations joined by the values that pass between them.
# - **upstream gradient**: the derivative of the output with respect to the result of an operation; the operation receives it in the backward pass.
# - **local gradient**: the derivative of the result of one operation with respect to one of its inputs; the operation can compute it by itself.
# - **backward pass**: computing all gradients from the output back to the inputs, upstream times local at each step.
# - **backpropagation**: computing all gradients of one output with a forward and a backward pass.
# - **numerical gradient**: a difference quotient, that is, a gradient estimated by nudging one value at a time.
# - **gradient check**: comparing backpropagation's gradients with numerical ones.
# - **gradient descent**: repeatedly changing every parameter a little in the direction opposite to its gradient.
# - **learning rate**: the factor by which gradient descent multiplies the gradient to get its step.
# - **diverge**: to move ever further from the goal, here because the steps are too large.

# %% [markdown] slideshow={"slide_type": "skip"}
# **Sources.** Rosenblatt (1958), The Perceptron: A Probabilistic Model for Information Storage and Organization in the Brain.
# Novikoff (1962), On Convergence Proofs on Perceptrons. Minsky & Papert (1969), Perceptrons. Linnainmaa (1970), master's thesis,
# University of Helsinki: reverse-mode differentiation. Rumelhart, Hinton & Williams (1986), Learning Representations by
# Back-propagating Errors. The two circuits, the three-layer forward pass and the forward/backward interface come from Stanford's
# course CS231n, and many slides use them. The rule of thumb for the gradient check is from the notes of the same course. Blum & Rivest (1992), Training a 3-Node Neural Network is NP-Complete
# (with thresholds).
