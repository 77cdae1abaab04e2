# %% [markdown]
# # Assignment: compression
#
# The course's GPT has 803,840 parameters in 16 bits, and its file has 1.6 MB. You shrink it to about a seventh of that, in four functions. They round its weights,
# pack them into bytes, let some weights make up for the errors of others, and teach what is left. At the end the small file writes Shakespeare, and a picture
# shows what every byte was worth. In between you derive the idea behind GPTQ, find a bug in a count of memory, and run an experiment with two controls.
#
# [[questions]]
#
# [[how it works]]
#
# [[closed]]
# Everything else is open. If you need a function from an earlier question, call yours.
#
# You need the lecture *Smaller and faster*. Nothing is downloaded.
#
# | here | meaning |
# |---|---|
# | $b$ | bits for each weight, so there are $2^b$ levels |
# | a group | neighbours in a row of a matrix that share a step and a zero point |
# | $d$, $z$ | the step, and the zero point: the integer that means 0 |
# | $q$, $x' = d\,(q - z)$ | the integer that is stored for a weight, and what it stands for |

# %%
import copy
import math

import torch
from IPython.display import HTML
from torch.nn import functional as F

from autograder.check import check, failing, passes, show_rows
from lectures import show
from nlmcore.metrics import mean_interval

torch.set_printoptions(precision=3, sci_mode=False)

# %% [markdown]
# ## 1. Zero stays zero [[compression.quantise, 25 minutes, medium, core]]
#
# The lecture stores the minimum of each block. Then 0 is usually not a level: a weight of 0 moves, and padding or a pruned weight is no longer 0. So
# many formats, GPTQ's among them, store an *integer* instead, the **zero point** $z$. It says which integer means 0. For each group of weights $x$:
#
# $$d = \frac{\mathrm{high} - \mathrm{low}}{2^b - 1}, \qquad z = \mathrm{round}\Big(\frac{-\mathrm{low}}{d}\Big), \qquad q_i = \mathrm{round}\Big(\frac{x_i}{d}\Big) + z .$$
#
# - The range contains 0: *low* is the smallest weight of the group, but at most 0, and *high* is the largest one, but at least 0.
# - All $q_i$ are between 0 and $2^b - 1$. If the rounding leads to an integer outside, take the nearest one inside.
# - If all weights of a group are 0, its $d$, $z$ and $q_i$ are 0.
#
# By hand, with $b = 2$ and one group of four weights:
#
# | $x$ | −0.2 | 0 | 0.1 | 0.7 |
# |---|---|---|---|---|
# | $q$, with $d = 0.9 / 3 = 0.3$ and $z = \mathrm{round}(0.667) = 1$ | 0 | 1 | 1 | 3 |
# | $d\,(q - z)$ | −0.3 | 0 | 0 | 0.6 |
#
# A group is `group` neighbours in one row, and `group` divides the number of columns. So the first group of a row has the columns 0 to `group` − 1.
#
# [[checked]] A number in the middle between two integers may be rounded either way.
#
# [[hints on the groups]]
# 1. In which shape do the weights of one group lie along one axis, with nothing else on it?
# 2. A `view` with three axes, rows, groups and members, has that shape, because the members of a group are neighbours in a row.
# 3. With `x = weights.reshape(len(weights), -1, group)` the bounds are `x.amin(2).clamp(max=0)` and the like, one for each group.
#
# [[hints on the integers]]
# 1. Follow the weight −0.2 of the table. Which two numbers are rounded, each by itself?
# 2. Divide by the step, round, add the zero point, then limit. A group of zeros has no step to divide by.
# 3. `torch.where(scale > 0, scale, 1.0)` is a step that may be divided by; `scale[..., None]` fits the members of a group.


# %%
def quantise(weights, bits, group):
    """The integers of all weights, and the step and zero point of each group.

    weights (rows, columns), bits: a number, group: divides columns
    -> (codes (rows, columns), scale (rows, columns / group), zero (rows, columns / group))
    """
    ### BEGIN SOLUTION
    x = weights.reshape(len(weights), -1, group)
    low, high = x.amin(2).clamp(max=0), x.amax(2).clamp(min=0)
    scale = (high - low) / (2**bits - 1)
    step = torch.where(scale > 0, scale, 1.0)
    zero = (-low / step).round()
    codes = (x / step[..., None]).round() + zero[..., None]
    return codes.clamp(0, 2**bits - 1).view(weights.shape), scale, zero
    ### END SOLUTION


# %% [markdown]
# What the integers stand for is given:


# %%
def dequantise(codes, scale, zero):
    """d (q − z) of every weight, from what `quantise` returns."""
    codes, scale, zero = (torch.as_tensor(value) for value in (codes, scale, zero))
    groups = codes.reshape(*scale.shape, -1)
    return (scale[..., None] * (groups - zero[..., None])).reshape(codes.shape)


# %% [markdown]
# ## 2. Into bytes [[compression.pack, 20 minutes, medium, core]]
#
# An integer of 3 bits saves nothing as long as it lies in a variable of 64. A file has bytes, and 3 does not divide 8, so some integers begin in one byte and
# end in the next. Write all of them in turn, as a single sequence of bits:
#
# - Integer $i$ takes the bits $i b$ to $i b + b - 1$ of the sequence, its lowest bit first.
# - Byte $j$ takes the bits $8j$ to $8j + 7$ of the sequence, and the first of them is its lowest bit.
# - If the last byte is not full, its remaining bits are 0.
#
# By hand: 5, 1 and 6 with 3 bits are 101, 001 and 110. From the lowest bit on, the sequence is 1 0 1, 1 0 0, 0 1 1. Its first eight bits are the byte
# $1 + 4 + 8 + 128 = 141$, and the last one is the byte 1.
#
# [[checked]] A `bytes` object is not such a list, but `list` makes one of it.
#
# [[hints]]
# 1. In the example, to which power of two does the second bit of the integer 6 belong, counted in the whole sequence?
# 2. The integers are the digits of one large number in base 2^b, the lowest first, and the bytes are its digits in base 256. Or write one bit at a time.
# 3. Bit k of an integer is `code >> k & 1`. Byte `j` of a large number is `number >> 8 * j & 255`; how many bytes are there?


# %%
def pack(codes, bits):
    """The bytes of a file that contains these integers.

    codes (n,): from 0 to 2^bits − 1, bits: from 1 to 8 -> a list of numbers from 0 to 255
    """
    ### BEGIN SOLUTION
    packed = [0] * math.ceil(len(codes) * bits / 8)
    for i, code in enumerate(int(c) for c in codes):
        for k in range(bits):
            at = i * bits + k
            packed[at // 8] |= (code >> k & 1) << at % 8
    return packed
    ### END SOLUTION


# %% [markdown]
# ## 3. Two weights, on paper [[compression.two_weights, 20 minutes, medium, more]]
#
# Rounding to nearest treats each weight as if it were alone. But what counts is the output. A neuron computes $w_1 x_1 + w_2 x_2$, and over its inputs the means
# $\overline{x_1^2} = a$, $\overline{x_1 x_2} = c$ and $\overline{x_2^2} = h$ are known. Rounding changes $w_1$ to $w_1 - e$. Now $w_2$ may move to $w_2 + s$ before it
# is rounded itself. Derive three formulas:
#
# 1. The **shift** $s$ for which the mean squared change of the output is smallest.
# 2. The mean squared change that is **left** then.
# 3. The **saved** part: what fraction of the mean squared change at $s = 0$ is gone.
#
# [[checked]] $a, h > 0$, and $c$ and $e$ have any sign.
#
# [[hints]]
# 1. By how much does the output change for one input $(x_1, x_2)$? Write it with $e$ and $s$.
# 2. Square that change and take the mean: a parabola in $s$. Where is its lowest point, and how high is it there?
# 3. The parabola is e² a − 2 e s c + s² h. At s = 0 it is e² a.


# %%
def two_weights(e, a, c, h):
    """The best shift of the second weight, the mean squared change of the output that is left, and the saved part.

    e: the first weight falls by it; a, c, h: the means of x_1², x_1 x_2 and x_2² -> (shift, left, saved), three numbers
    """
    ### BEGIN SOLUTION
    shift = e * c / h
    left = e**2 * (a - c**2 / h)
    saved = c**2 / (a * h)
    return shift, left, saved
    ### END SOLUTION


# %% [markdown]
# ## 4. The others make up for it [[compression.make_up, 35 minutes, hard, core]]
#
# With many weights it works in the same way. `second` has the means $H_{jk} = \overline{x_j x_k}$ over the inputs of the layer. Go through the columns of a matrix from
# left to right. All rows do the same thing at the same time:
#
# - **Round** column $i$, as it is *now*, to $q = \mathrm{round}(w_i / d) + z$, limited as in question 1. $d$ and $z$ are those that `quantise` finds in the *original* matrix.
# - **Make up.** The error is $e = w_i - d\,(q - z)$. All columns $R$ to the right, which are not rounded yet, move to make up for it:
#
# $$w_R \leftarrow w_R + e\; s_R, \qquad H_{RR}\, s_R = H_{Ri} .$$
#
# $H_{RR}$ has the rows and columns of `second` to the right of $i$. It is the idea of GPTQ (Frantar et al. 2023),
# which computes the same shifts faster.
#
# By hand: one row $(0.4, 0.3)$ whose group has $d = 1$, $z = 0$, so its levels are 0, 1, 2 and so on; $H = \begin{pmatrix} 1 & 0.9 \\ 0.9 & 1 \end{pmatrix}$. The
# first weight becomes 0, with $e = 0.4$. The second moves to $0.3 + 0.4 \cdot 0.9 = 0.66$ and becomes 1. Rounding to nearest would give (0, 0). (To see only the idea, this
# step is not the one that `quantise` finds.)
#
# [[checked]] `second` can be inverted. A group of zeros has one level only, so its $q$ is 0 whatever comes from the left.
#
# [[hints on the columns]]
# 1. Which group does column `i` belong to? Which numbers are as before the first step, and which ones change while you go?
# 2. Keep a copy of the weights that changes. The integer of a column is computed once, from the copy, and the columns to its left are done.
# 3. `scale[:, i // group]` is the step of column `i` in all rows. Divide as in question 1, where the step may be 0.
#
# [[hints on making up]]
# 1. In the example, which number multiplies the error? Which part of `second` contains it when there are three columns?
# 2. One system of equations has the same solution for all rows; each row multiplies it by its own error.
# 3. `torch.linalg.solve(second[i + 1 :, i + 1 :], second[i + 1 :, i])` is s, one number for each column on the right.


# %%
def make_up(weights, second, bits, group):
    """As `quantise`, but the columns to the right make up for the error of each column.

    weights (rows, columns), second (columns, columns): means of the products of two inputs, bits, group
    -> (codes (rows, columns), scale (rows, columns / group), zero (rows, columns / group))
    """
    ### BEGIN SOLUTION
    _, scale, zero = quantise(weights, bits, group)
    moving, codes = weights.clone(), torch.zeros_like(weights)
    for i in range(weights.shape[1]):
        d, z = scale[:, i // group], zero[:, i // group]
        steps = torch.where(d > 0, moving[:, i] / torch.where(d > 0, d, 1.0), 0.0)
        codes[:, i] = torch.where(d > 0, (steps.round() + z).clamp(0, 2**bits - 1), 0.0)
        error = moving[:, i] - d * (codes[:, i] - z)
        if i + 1 < weights.shape[1]:
            shift = torch.linalg.solve(second[i + 1 :, i + 1 :], second[i + 1 :, i])
            moving[:, i + 1 :] += error[:, None] * shift
    return codes, scale, zero
    ### END SOLUTION


# %% [markdown]
# ## 5. Soft targets [[compression.soft_targets, 15 minutes, medium, core]]
#
# Rounding to few bits still costs something. The large model can teach the small one: in distillation (Hinton et al. 2015) the student learns the teacher's whole distribution.
# With a temperature $T$, for each of $n$ positions,
#
# $$p = \mathrm{softmax}(u / T), \qquad q = \mathrm{softmax}(v / T), \qquad \mathrm{loss} = -\frac{T^2}{n} \sum_{\mathrm{positions}} \sum_k p_k \ln q_k ,$$
#
# where $u$ are the logits of the teacher and $v$ those of the student. Return the loss, and its **slope** in every logit of the *student*. The teacher is fixed. You can
# derive the slopes, or let PyTorch differentiate. Look at them when you have them: which power of $T$ is left? Why does Hinton multiply by $T^2$?
#
# By hand, with one position, $T = 2$, $u = (2 \ln 3, 0)$ and $v = (0, 0)$: $p = (\tfrac34, \tfrac14)$ and $q = (\tfrac12, \tfrac12)$, so the loss is $4 \ln 2 = 2.773$, and the slopes are $(-\tfrac12, \tfrac12)$.
#
# [[checked]]
#
# [[hints]]
# 1. Which of the logits are divided by the temperature? In the example, what is the difference between the two distributions, and what are the slopes?
# 2. `log_softmax` of the student's logits stays finite where `log` of a `softmax` does not. The slope of the cross-entropy in a logit is a difference of two probabilities.
# 3. The slope in the student's logits is (q − p) times a power of `temperature`, divided by the number of positions.


# %%
def soft_targets(student, teacher, temperature):
    """The distillation loss, and its slope in each logit of the student.

    student, teacher (n, V): logits; temperature: above 0 -> (loss, slopes (n, V))
    """
    ### BEGIN SOLUTION
    p = (teacher / temperature).softmax(1)
    log_q = (student / temperature).log_softmax(1)
    loss = -(temperature**2) * (p * log_q).sum(1).mean()
    return loss, temperature * (log_q.exp() - p) / len(student)
    ### END SOLUTION


# %% [markdown]
# ## 6. Where does the memory go?
#
# A friend counts the memory that it takes to *train* a Transformer, with 4 bytes a number or in mixed precision: 2 bytes, and a copy of the weights in 4. The moments of
# AdamW have 4 bytes in both cases. For the backward pass each layer keeps its input and `inner` further vectors for each token. With **checkpointing** it keeps only the input. Then
# the backward pass goes through the layers from the last to the first, and for each computes the inner vectors again, uses them and frees them.
#
# The friend wants the *largest* amount that is needed at any time. For a model of one layer the count says that checkpointing saves nearly all activations. When the friend
# measures such a model, nothing is saved. One line is at fault.
#
# ### 6a. Which line? [[compression.wrong_line, 10 minutes, medium, more]]
#
# [[listing compression.training_bytes]]
#
# Return the number of the wrong line, as in this listing.
#
# [[checked]] You can copy the function into a cell of your own to try it.
#
# [[hints]]
# 1. Count for one layer by hand, with and without checkpointing, up to the moment when its gradient is computed.
# 2. The inner vectors of a layer are freed when its gradient is there. How many layers have theirs at the same time?
# 3. Which of the four results depends on checkpointing at all?


# %%
def wrong_line():
    """The number of the one line of the listing that is wrong."""
    ### BEGIN SOLUTION
    return 13
    ### END SOLUTION


# %% [markdown]
# ### 6b. Mend it [[compression.training_bytes, 5 minutes, easy, more]]
#
# This is the friend's function. Change the line, and nothing else.
#
# [[checked]]
#
# [[hints]]
# 1. What is in memory while the backward pass works on one layer?
# 2. The inputs of all layers are there, and the inner vectors of the layer that is being computed.
# 3. With one layer the result should be the same as without checkpointing.


# %%
def training_bytes(layers, width, vocabulary, tokens, inner, mixed, checkpointed):
    """Bytes of weights, gradients, moments and activations in a training run.

    tokens: in a batch; inner: vectors that a layer keeps for each token beside its input -> four numbers
    """
    ### BEGIN SOLUTION
    parameters = 12 * layers * width**2 + vocabulary * width
    number = 2 if mixed else 4
    weights = parameters * (number + 4 if mixed else 4)
    moments = 2 * parameters * 4
    vector = tokens * width * number
    activations = layers * (1 + inner) * vector
    if checkpointed:
        activations = (layers + inner) * vector
    return weights, parameters * number, moments, activations
    ### END SOLUTION


# %% [markdown]
# ## 7. An experiment: which error matters? [[compression.which_errs, 35 minutes, medium, core]]
#
# Is it the size of the rounding error that matters, or where it lies, or whether the weights have made up for the right inputs? A layer has 16 × 32 weights, and its inputs are
# similar to each other (`alike`). You compare four new matrices at the same number of bits, with groups of 16:
#
# | column | matrix |
# |---|---|
# | 1 | rounded to nearest, with `quantise` |
# | 2 | control: the weights plus the *same errors in other places*, `scattered` |
# | 3 | `make_up` with the second moments of `inputs` |
# | 4 | control: `make_up` with those of `elsewhere`: the same inputs, but each belongs to another weight |
#
# - **Predict.** Which column has the largest error in the *output* on the page, where `alike` is 0.9 and there are 2 bits? Set `prediction` to its number.
# - **Run.** For each seed, `errors` has a row with the four output errors. They are measured with `output_error` on `fresh` inputs, which no rounding has seen.
# - **Judge.** `signs` has three columns for each seed, for columns 2, 3 and 4: 1 if the error is larger than that of column 1 *with the same seed*, −1 if it is smaller. Compute
#   them. The check also tries inputs that are not alike. Then run the cell below the check and look at all five rows. Which columns have the same sign in every row?
#
# [[checked]]
#
# [[hints on the run]]
# 1. Which of the three matrices of inputs does each rounding need, and which one the measurement?
# 2. The second moments of inputs, one input a row, are a matrix product divided by their number. The error of rounding is the new matrix minus the old one.
# 3. `inputs.T @ inputs / len(inputs)` goes into `make_up`, and `dequantise(*make_up(…))` is the new matrix.
#
# [[hints on the signs]]
# 1. Which number do the three others of a row have to be compared with?
# 2. One comparison for each, within the row.
# 3. With `row` for the four errors, the first one is `row[0]`.


# %%
def layer(seed, alike):
    """Weights (16, 32), inputs (400, 32) and fresh inputs (200, 32), which have four features in common."""
    draw = torch.Generator().manual_seed(seed)
    sizes = ((16, 32), (4, 32), (600, 32), (600, 4))
    weights, features, own, common = (torch.randn(*size, generator=draw, dtype=torch.float64) for size in sizes)
    inputs = alike**0.5 * common @ features / 2 + (1 - alike) ** 0.5 * own
    return weights, inputs[:400], inputs[400:]


def scattered(error, seed):
    """The same numbers in other places."""
    order = torch.randperm(error.numel(), generator=torch.Generator().manual_seed(seed))
    return error.flatten()[order].view(error.shape)


def elsewhere(inputs, seed):
    """The same inputs in another order of the columns."""
    return inputs[:, torch.randperm(inputs.shape[1], generator=torch.Generator().manual_seed(seed))]


def output_error(new, weights, inputs):
    """Mean square of the change of the output, relative to the output."""
    return float((inputs @ (new - weights).T).square().mean() / (inputs @ weights.T).square().mean())


# %%
def which_errs(alike, bits, seeds):
    """The output errors of four roundings, for several seeds, and which of them exceed that of rounding to nearest.

    alike: from 0 to 1, bits; seeds: a list -> (prediction, errors (seeds, 4), signs (seeds, 3))
    """
    ### BEGIN SOLUTION
    prediction = 2
    errors = []
    for seed in seeds:
        weights, inputs, fresh = layer(seed, alike)
        nearest = dequantise(*quantise(weights, bits, 16))
        tried = [nearest, weights + scattered(nearest - weights, seed)]
        for seen in (inputs, elsewhere(inputs, seed)):
            second = seen.T @ seen / len(seen)
            tried.append(dequantise(*make_up(weights, second, bits, 16)))
        errors.append([output_error(new, weights, fresh) for new in tried])
    signs = [[1 if error > row[0] else -1 for error in row[1:]] for row in errors]
    return prediction, errors, signs
    ### END SOLUTION


# %%
show_rows("compression.which_errs", which_errs, "nearest", "scattered", "make_up", "elsewhere")

# %% [markdown]
# ## Your functions at work
#
# Your functions now shrink the course's GPT. There is nothing to write here. Run it when the checks above pass; it takes about half a minute. The embedding, the biases and the
# norms stay in 16 bits. First the model as it is, and rounded. The cost is paired: the same 16 windows before and after, with the 95 % interval of the mean difference.

# %%
WANTED = {"quantise": quantise, "pack": pack, "make_up": make_up, "soft_targets": soft_targets}
ready = all(passes(f"compression.{name}", function) for name, function in WANTED.items())
LEAST, MOST = 32, 128  # small groups, and large ones


def matrices(model):
    """The matrices that are made smaller, by name."""
    return {name: p.data for name, p in model.named_parameters() if p.ndim == 2 and "embedding" not in name}


@torch.no_grad()
def nats(model):
    """The loss of each window."""
    return torch.stack([-model(row[None, :-1])[0][0].log_softmax(1).gather(1, row[1:, None]).mean() for row in held])


def changed(change):
    """A copy of the GPT with other matrices, and what that costs: (mean, half of the interval)."""
    model = copy.deepcopy(gpt)
    for name, w in matrices(model).items():
        w.copy_(change(name, w))
    return model, mean_interval((nats(model) - before).tolist())


def size(bits, group):
    """Bytes of the file: integers, a step in 16 bits and a zero point for each group, and all the rest in 16 bits."""
    small = sum(w.numel() for w in matrices(gpt).values())
    rest = sum(p.numel() for p in gpt.parameters()) - small
    return round(small * (bits + (16 + bits) / group) / 8 + 2 * rest)


def told(name, at, cost):
    print(f"{name:34}{at / 1000:7,.0f} kB   {cost[0]:7.4f} ± {cost[1]:.4f} nats")


def rounded_to(bits, group):
    return lambda _, w: dequantise(*quantise(w, bits, group)).to(w.dtype)


tried = {"rounded": {}, "pruned": {}, "made up": {}, "taught": {}}
if ready:
    from lectures.recipes.texts import plays
    from lectures.trained import checkpoint

    gpt, letters, _ = checkpoint("char_gpt")
    texts = plays()
    held = torch.tensor(letters.encode(texts.test[0][20_000 : 20_000 + 16 * 257])).view(16, 257)
    seen = torch.tensor(letters.encode(texts.train[0][20_000 : 20_000 + 16 * 257])).view(16, 257)
    before = nats(gpt)
    print(
        f"{sum(2 * p.numel() for p in gpt.parameters()) / 1000:,.0f} kB in 16 bits, loss {float(before.mean()):.3f}\n"
    )
    for bits, group in ((8, LEAST), (4, LEAST), (3, LEAST), (3, MOST), (2, LEAST), (2, MOST)):
        _, tried["rounded"][size(bits, group)] = changed(rounded_to(bits, group))
        told(f"{bits} bits, groups of {group}", size(bits, group), tried["rounded"][size(bits, group)])

# %% [markdown]
# A control, and a different method at two sizes. *Noise* is as large as the rounding error of 2 bits in each matrix. *Pruned* sets the smallest weights to zero, keeps the others in
# 16 bits, and spends one bit a weight on which are kept.

# %%


def noisy(seed):
    draw = torch.Generator().manual_seed(seed)
    nearest = rounded_to(2, MOST)
    return lambda name, w: w + torch.randn(w.shape, generator=draw) * (nearest(name, w) - w).std()


def pruned(share):
    return lambda _, w: torch.where(w.abs() > w.abs().flatten().quantile(share), w, 0.0)


if ready:
    for seed in range(3):
        told(f"noise as large as of 2 bits, seed {seed}", size(2, MOST), changed(noisy(seed))[1])
    for share in (0.5, 0.75):
        at = size(16 * (1 - share) + 1, math.inf)
        _, tried["pruned"][at] = changed(pruned(share))
        told(f"pruned, {share:.0%} left out", at, tried["pruned"][at])

# %% [markdown]
# Now the weights make up for each other. The second moments come from a play of the *training* text. To save time, your function gets 128 columns at a time.

# %%


@torch.no_grad()
def second_moments():
    """The second moments of the inputs of each matrix, with a hundredth of their mean added to the diagonal."""
    found, hooks = {}, []
    for name in matrices(gpt):

        def look(_, given, name=name):
            x = given[0].flatten(0, -2).double()
            second = x.T @ x / len(x)
            found[name] = second + 0.01 * second.diagonal().mean() * torch.eye(len(second), dtype=second.dtype)

        hooks.append(gpt.get_submodule(name.removesuffix(".weight")).register_forward_pre_hook(look))
    gpt(seen[:, :-1])
    for hook in hooks:
        hook.remove()
    return found


def made_up(bits, group, kept):
    """For `changed`; `kept` gets what is stored of each piece."""

    def change(name, w):
        pieces = []
        for first in range(0, w.shape[1], MOST):
            part = slice(first, first + MOST)
            stored = make_up(w[:, part].double(), moments[name][part, part], bits, group)
            kept.append([torch.as_tensor(value) for value in stored])
            pieces.append(dequantise(*kept[-1]))
        return torch.cat(pieces, 1).to(w.dtype)

    return change


def distance(model):
    """How far the matrices are from those of the GPT, relative to their size."""
    pairs = zip(matrices(model).values(), matrices(gpt).values(), strict=True)
    return (
        float(sum((a - b).square().sum() for a, b in pairs) / sum(w.square().sum() for w in matrices(gpt).values()))
        ** 0.5
    )


small, file = {}, {}
if ready:
    moments = second_moments()
    for bits, group in ((3, MOST), (2, LEAST), (2, MOST)):
        file[bits, group] = []
        model, cost = changed(made_up(bits, group, file[bits, group]))
        small[bits, group], tried["made up"][size(bits, group)] = model, cost
        told(f"{bits} bits, groups of {group}, made up", size(bits, group), cost)
    print("\nHow far are the weights from the original, relative to their size?")
    print(
        f"2 bits, groups of {MOST}: rounded {distance(changed(rounded_to(2, MOST))[0]):.2f}, made up {distance(small[2, MOST]):.2f}"
    )

# %% [markdown]
# The smallest model learns from the large one, in 24 steps. Its matrices do not change. Only the biases and the norms move, along the slopes of your `soft_targets`.

# %%
if ready:
    student = copy.deepcopy(small[2, MOST])
    tuned = [p for p in student.parameters() if p.ndim == 1]
    optimiser = torch.optim.AdamW(tuned, lr=3e-3, weight_decay=0.0)
    stream = torch.tensor(letters.encode(texts.train[1][:60_000]))
    draw = torch.Generator().manual_seed(0)
    for _ in range(24):
        starts = torch.randint(len(stream) - 128, (8,), generator=draw).tolist()
        batch = torch.stack([stream[at : at + 128] for at in starts])
        with torch.no_grad():
            wanted = gpt(batch)[0].flatten(0, 1)
        logits = student(batch)[0].flatten(0, 1)
        _, slopes = soft_targets(logits.detach(), wanted, 1.0)
        optimiser.zero_grad()
        logits.backward(torch.as_tensor(slopes).to(logits.dtype))  # your slopes, then PyTorch's chain rule
        optimiser.step()
    tried["taught"][size(2, MOST)] = mean_interval((nats(student) - before).tolist())
    told(f"2 bits, groups of {MOST}, taught", size(2, MOST), tried["taught"][size(2, MOST)])
    gain, half = mean_interval((nats(small[2, MOST]) - nats(student)).tolist())
    print(f"better than before the lesson, paired: {gain:.4f} ± {half:.4f} nats")

# %% [markdown]
# Each mark is a model. A model is on the *frontier* if none that is as small costs less. Which of them would you put on a telephone that allows a loss of 0.05 nats?

# %%
picture = "Come back here when questions 1, 2, 4 and 5 pass."
if ready:
    points = {name: {at: max(1e-4, cost[0]) for at, cost in of.items()} for name, of in tried.items()}
    said = "; ".join(
        f"{name} {', '.join(f'{at / 1000:.0f} kB {c:.4f}' for at, c in of.items())}" for name, of in points.items()
    )
    fits = {at: name for name, of in tried.items() for at, cost in of.items() if sum(cost) < 0.05}
    print(f"smallest whose whole interval is below 0.05 nats: {min(fits) / 1000:,.0f} kB, {fits[min(fits)]}")
    picture = HTML(
        show.laws_svg(
            points,
            {},
            x_title="bytes of the file",
            y_title="cost, nats (at least 0.0001)",
            ticks={0.0001: "0.0001", 0.001: "0.001", 0.01: "0.01", 0.1: "0.1", 1.0: "1"},
            alt=f"Cost against the size of the file, both logarithmic, for rounded, pruned, made up and taught models: {said}.",
        )
    )
picture

# %% [markdown]
# At last the file. `pack` writes the integers of the smallest model, and `unpack` reads them back: are these the same weights? Then both models write.

# %%


def unpack(packed, bits, n):
    """What `pack` has packed."""
    every = [byte >> k & 1 for byte in packed for k in range(8)]
    return torch.tensor([sum(every[i * bits + k] << k for k in range(bits)) for i in range(n)])


if ready:
    from nlmcore.decoding import sample

    total = 0
    same = True
    for codes, scale, zero in file[2, MOST]:
        packed = [int(byte) for byte in pack(codes.flatten().long(), 2)]
        marks = [int(byte) for byte in pack(zero.flatten().long(), 2)]
        total += len(packed) + len(marks) + 2 * scale.numel()
        same = same and torch.equal(unpack(packed, 2, codes.numel()), codes.flatten().long())
    rest = sum(2 * p.numel() for p in gpt.parameters()) - sum(2 * w.numel() for w in matrices(gpt).values())
    print(f"read back as it was written: {same}; {total + rest:,} bytes in all, computed {size(2, MOST):,}")
    for name, model in (("16 bits", gpt), ("2 bits, taught", student)):
        prompt, chance = torch.tensor([letters.encode("ROMEO.")]), torch.Generator().manual_seed(1)
        ids = sample(model, prompt, 160, temperature=0.7, generator=chance).tokens[0]
        print(f"\n--- {name}\n{letters.decode(ids.tolist())}")

# %% [markdown]
# Using it got cheap. And training? With your count of question 6:

# %%
if passes("compression.training_bytes", training_bytes):
    for mixed in (False, True):
        for checkpointed in (False, True):
            of = training_bytes(4, 128, 82, 1024, 18, mixed, checkpointed)
            parts = ", ".join(
                f"{name} {value / 1e6:.1f}"
                for name, value in zip(("weights", "gradients", "moments", "activations"), of, strict=True)
            )
            print(
                f"{'mixed' if mixed else '32 bits':8}{'checkpointed' if checkpointed else '':14}{sum(of) / 1e6:6.1f} MB: {parts}"
            )
else:
    print("Come back here when question 6b passes.")

# %% [markdown]
# **If you have time:** make up with the second moments of a *different* text, for example of the letters in random order, `seen[:, torch.randperm(257)]`. It is the control of question 7 in
# the real model.

# %% [markdown]
# ## 8. In your own words [[written, 20 minutes, 5 points, core]]
#
# In about twelve sentences, with numbers from *your* output:
#
# 1. With 2 bits and groups of 128, the weights from `make_up` are *farther* from the original than the rounded ones, and the model is better. How can that be?
# 2. In your experiment two columns are controls. What does each of them rule out, and what would you have believed without it?
# 3. A colleague applies `make_up` to one model at 3 bits. The second moments come from the text on which the loss is then measured. The perplexity is 12.4 instead of 12.1, rounding
#    to nearest gives 12.9, and the report says "3 bits are free, thanks to `make_up`". **Design the experiment** that decides it: what is compared at which equal cost, on
#    which texts, how often, with which controls, how the difference is tested, and which result would refute the report.
#
# ### BEGIN MARK SCHEME
# Half points are fine.
#
# 1. **Farther and better** (1): the loss depends on the outputs, not on the weights (½); inputs are correlated, so errors of different weights can cancel for the inputs that occur, with
#    the two distances and the two costs (½).
# 2. **Controls** (1½): *scattered* has errors of the same size in other places, so it asks whether it is the size; the sign differs from seed to seed, so no effect of the place is
#    seen (½). *Elsewhere* moves weights as `make_up` does, but for wrong inputs; its error is larger than that of rounding in every seed (½). So it is not the moving that helps but the right second moments
#    (½).
# 3. **Design** (2½, half a point each): text for the second moments, for choices and for the test are disjoint; the rivals have equal bytes, group sizes included, and each gets its own best group; the
#    difference is paired by window with an interval, on the loss; several models or texts and draws of the calibration text, and a control (moments of a wrong text, or of as much random text); the result that
#    refutes: the interval of the cost excludes 0 (so it is not free), or that of the difference from rounding at equal bytes does not exclude 0. "Free" needs an upper bound stated beforehand.
# ### END MARK SCHEME

# %% [markdown]
# The loss depends on the outputs. `make_up` moves weights away from the original so that their errors cancel for the inputs that occur: at 2 bits with groups of 128 the weights are 0.75 away
# instead of 0.51, relative to their size, and the cost is 0.04 nats instead of 0.22.
#
# *Scattered* has exactly the same errors, in other places. Its error is larger than that of rounding in two of my five seeds and smaller in three, so I see no effect of the place alone. *Elsewhere* solves the same equations for inputs that belong to other weights, and is worse than rounding in all five seeds. Without it I would have believed that moving weights
# helps in itself. It helps only with the second moments of the right inputs; where inputs are not alike, there is nothing to gain.
#
# The text for the second moments, the text on which group sizes are chosen, and the test text are different plays. I compare `make_up` with rounding at the same number of bytes, both at the group size that is
# best on the second text, and both with the model in 16 bits. The loss is subtracted window by window, with a 95 % interval, for three models and five draws of the calibration text. As a control, the second
# moments come from shuffled text. Before I start I say that "free" means an upper end below 0.005 nats. If the interval of the cost lies above that, 3 bits are not free; if the interval of the difference
# from rounding contains 0, `make_up` is not the reason.

# %% [markdown]
# ---
# **Before you hand in:** *Kernel → Restart Kernel and Run All Cells*. Every check should say what you expect, and
# question 8 should be answered in your own words. Save the notebook under its own name: the grader looks for `compression.ipynb`.
