# %% [markdown]
# # Assignment: scale and insight
#
# Two questions about large language models. How good will a model be that nobody has trained yet? And what happens inside one that somebody has? First
# you fit laws to small models, give them intervals, and predict a larger model that was held out. Then you build three instruments, a logit lens,
# an ablation and a patch, and find out where SmolLM2 keeps a word for forty tokens until it needs it.
#
# [[questions]]
#
# [[how it works]]
#
# [[closed]]
# Everything else is open. If you need a function from an earlier question, call yours. Questions 1 to 4 and questions 5 and 6 do not need each other.
#
# You need the lectures *Scale* and *Inside a real language model*. This page does not repeat their formulas; keep them open. Nothing is downloaded.

# %%
import functools
import math
import re

import torch
from IPython.display import HTML
from torch.nn import functional as F

from autograder.check import check, failing, passes, show_rows
from autograder.mine import own
from lectures import show, stored

torch.set_printoptions(precision=3, sci_mode=False)
torch.set_num_threads(1)  # for models as small as these one thread is fastest
torch.set_grad_enabled(False)  # nothing is trained here

# %% [markdown]
# ## 1. Laws
#
# ### 1a. A straight line [[scale_and_insight.power_law, 10 minutes, easy, core]]
#
# Fit the power law $L = A\, N^{-\alpha}$ to some runs. With both axes logarithmic it is a straight line; take the line with the least sum of squared
# errors of $\ln L$. All runs count alike, and they need not be sorted.
#
# By hand: sizes 1, 100 and 10,000 with losses 8, 4 and 2. Each factor of 100 halves the loss, so $\alpha = \ln 2 / \ln 100 = 0.1505$, and $A = 8$.
#
# [[checked]]
#
# [[hints]]
# 1. In the example, what are the two coordinates of each run in the plane where the law is a straight line?
# 2. The slope of the least-squares line is a sum of products divided by a sum of squares, both of deviations from the means. The line goes through the
#    point of both means.
# 3. The exponent is minus the slope. For the constant, start at the mean of the log losses, walk along the line to $\ln N = 0$, and take `math.exp`.


# %%
def power_law(N, losses):
    """L = A * N**-alpha, by least squares in logarithms.

    N (run,), losses (run,), all above 0 -> (A, alpha), numbers
    """
    ### BEGIN SOLUTION
    x, y = N.double().log(), losses.double().log()
    off = x - x.mean()
    slope = float((off * (y - y.mean())).sum() / (off**2).sum())
    return math.exp(float(y.mean()) - slope * float(x.mean())), -slope
    ### END SOLUTION


# %% [markdown]
# ### 1b. What a law costs [[scale_and_insight.robust_error, 15 minutes, medium, more]]
#
# The second law has an irreducible loss: $L = E + A\, N^{-\alpha}$. No straight line gives its constants, so we need a number that says how badly
# constants fit, and search for those with the lowest. The error $e$ of a run is the difference of $\ln L$ between law and run. One failed run should not
# spoil the fit, so Hoffmann et al. (2022) use Huber's loss: if $|e|$ is at most $\delta$, the run counts $e^2 / 2$. Beyond $\delta$ it counts on a straight
# line in $|e|$, which continues the parabola without a jump and without a kink. Which line is that? Return the *sum* over all runs.
#
# `theta` holds $\ln E$, $\ln A$ and $\alpha$, because the search may then try any numbers. It does: $\ln A = 800$ must work, although $e^{800}$
# is more than a float64 can hold, as long as $A N^{-\alpha}$ is an ordinary number.
#
# By hand, with $\delta = 0.1$: an error of 0.1 counts 0.005, an error of 0.2 counts 0.015, and an error of −0.3 counts 0.025.
#
# [[checked]]
#
# [[hints on Huber's loss]]
# 1. From the three numbers of the example: by how much does the count rise per 0.1 of error beyond $\delta$?
# 2. A line that continues a parabola without a kink has the parabola's slope at that point. You know its slope, and one of its points.
# 3. `torch.where(e.abs() <= delta, …, …)` chooses per run. The slope beyond $\delta$ is $\delta$, and at $|e| = \delta$ both give $\delta^2 / 2$.
#
# [[hints on huge constants]]
# 1. Which two ordinary numbers does the law add for each run, and what are the logarithms of both?
# 2. You need the logarithm of a sum, and you have the logarithms of its terms. PyTorch and NumPy both have a function that never leaves the logarithms.
# 3. `torch.logaddexp` takes two tensors: one is $\ln E$, the other $\ln A - \alpha \ln N$.


# %%
def robust_error(theta, N, losses, delta):
    """The sum over the runs of Huber's loss of ln(E + A * N**-alpha) - ln L.

    theta: a list [ln E, ln A, alpha], N (run,), losses (run,), delta: a number above 0 -> a number
    """
    ### BEGIN SOLUTION
    log_e, log_a, alpha = theta
    total = 0.0
    for size, loss in zip(N.tolist(), losses.tolist(), strict=True):
        power = log_a - alpha * math.log(size)
        high, low = max(log_e, power), min(log_e, power)
        law = high + math.log1p(math.exp(low - high))
        e = abs(law - math.log(loss))
        total += e**2 / 2 if e <= delta else delta * (e - delta / 2)
    return total
    ### END SOLUTION


# %% [markdown]
# ### 1c. The law with a floor [[scale_and_insight.floor_law, 20 minutes, hard, more]]
#
# Now search. `downhill` is given: it needs a function of a list of numbers and a list to start at, and returns the lowest point that it finds from there
# (Nelder & Mead 1965; no gradients). It may get stuck, so start it from several points and keep the best result. Good starts are ordinary laws: $E$ is
# some part of the lowest loss, and $A$ follows if the law should go through the middle of the runs.
#
# By hand: losses 3, 2 and 1.5 at the sizes 1, 2 and 4 lie on $1 + 2 N^{-1}$ exactly, so the result is $(1, 2, 1)$.
#
# [[checked]] Three digits are enough.
#
# [[hints]]
# 1. Your function of 1b has four arguments. Of which of them should the search know nothing?
# 2. A loop over a few parts of the lowest loss and a few exponents gives the starts. Call `downhill` for each, and compare the errors at its results.
# 3. `lambda theta: robust_error(theta, N, losses, delta)` is what goes downhill. Of the best result, the first two numbers are logarithms.


# %%
def downhill(function, start, rounds=500):
    """A low point of a function of a list of numbers, by Nelder and Mead's method: a simplex that turns and shrinks."""

    def corner(point):
        return (float(function(point)), point)

    def along(t, middle, worst):
        return corner([m + t * (m - w) for m, w in zip(middle, worst, strict=True)])

    moved = [[value + 0.3 * (i == j) for j, value in enumerate(start)] for i in range(len(start))]
    corners = sorted(map(corner, [list(start), *moved]))
    for _ in range(rounds):
        low, high = corners[0], corners[-1]
        if max(abs(a - b) for a, b in zip(low[1], high[1], strict=True)) < 1e-6:
            break
        middle = [sum(row) / len(start) for row in zip(*(point for _, point in corners[:-1]), strict=True)]
        new = along(1.0, middle, high[1])
        if new < low:
            new = min(new, along(2.0, middle, high[1]))
        elif new >= corners[-2]:
            new = along(0.5 if new < high else -0.5, middle, high[1])
        if new < high:
            corners = sorted([*corners[:-1], new])
        else:  # nothing better on that line: everything moves half-way to the lowest corner
            halved = [[(a + b) / 2 for a, b in zip(low[1], point, strict=True)] for _, point in corners[1:]]
            corners = sorted([low, *map(corner, halved)])
    return corners[0][1]


# %%
def floor_law(N, losses, delta):
    """L = E + A * N**-alpha with the lowest robust error.

    N (run,), losses (run,), delta: a number -> (E, A, alpha), numbers
    """
    ### BEGIN SOLUTION
    found = []
    for part, alpha in ((0.3, 0.2), (0.9, 0.6)):
        rest = (1 - part) * float(losses.double().mean())
        start = [math.log(part * float(losses.min())), math.log(rest) + alpha * float(N.double().log().mean()), alpha]
        theta = downhill(lambda theta: robust_error(theta, N, losses, delta), start)
        found.append((robust_error(theta, N, losses, delta), theta))
    log_e, log_a, alpha = min(found)[1]
    return math.exp(log_e), math.exp(log_a), alpha
    ### END SOLUTION


# %% [markdown]
# ### 1d. An interval for a forecast [[scale_and_insight.forecast, 15 minutes, medium, more]]
#
# What does your power law predict at size `at`, and how sure is it? The bootstrap (Efron 1979) answers with many fits: each row of `picks` names the runs
# of one repetition, as many as there are, some of them twice and some not at all. Fit *your* power law to each repetition and predict. The interval goes
# from the 2.5 % quantile of all predictions to the 97.5 % quantile; `torch.quantile` and `numpy.quantile` agree on what that is. The forecast itself is
# that of all runs.
#
# [[checked]]
#
# [[hints]]
# 1. What does one row of `picks` say about the sizes, and what about the losses?
# 2. A row can index a tensor: the result is that repetition. Collect one prediction per row, then take two quantiles.
# 3. `power_law(N[row], losses[row])` is one repetition, and `A * at**-alpha` its prediction.


# %%
def forecast(N, losses, at, picks):
    """What the power law predicts at a size, with its 95 % bootstrap interval.

    N (run,), losses (run,), at: a number, picks (repetition, run): indices of runs -> (low, forecast, high), numbers
    """
    ### BEGIN SOLUTION
    A, alpha = power_law(N, losses)
    predictions = []
    for row in picks:
        a, slope = power_law(N[row], losses[row])
        predictions.append(a * at**-slope)
    low, high = torch.tensor(predictions).quantile(torch.tensor([0.025, 0.975])).tolist()
    return low, A * at**-alpha, high
    ### END SOLUTION


# %% [markdown]
# **The ladder.** The lecture trained Transformers of eight sizes on Shakespeare's plays, 2,097,152 characters each, three seeds. A ninth one, with 991,616
# parameters, was held out. Your laws see the first eight, and have to predict the ninth. Write down a guess first: will it be inside the interval?

# %%
MINE = {"power_law": power_law, "robust_error": robust_error, "floor_law": floor_law, "forecast": forecast}
picture = "Come back here when questions 1a to 1d pass."
if all(passes(f"scale_and_insight.{name}", function) for name, function in MINE.items()):
    text = 2_097_152
    small = [run for run in stored("ladder")["runs"] if text == run["D"] and run["variant"] == "ladder"]
    large = [run["loss"] for run in stored("held_out")["widths"]["128"]["runs"]]
    N = torch.tensor([float(run["N"]) for run in small])
    losses = torch.tensor([run["loss"] for run in small])
    at, measured = 991_616, sum(large) / len(large)
    picks = torch.randint(len(N), (400, len(N)), generator=torch.Generator().manual_seed(0))
    low, middle, high = forecast(N, losses, at, picks)
    E, A, alpha = floor_law(N, losses, 0.01)
    print(f"the held-out model:  {measured:.3f} nats per character")
    print(f"power law:           {middle:.3f} ({low:.3f} to {high:.3f})")
    print(f"with a floor:        {E + A * at**-alpha:.3f}; the floor is {E:.3f}")
    sizes_, mine = torch.logspace(math.log10(float(N.min())), 7, 60), power_law(N, losses)
    curves = {
        "power law": (mine[0] * sizes_ ** -mine[1]).tolist(),
        "with a floor": (E + A * sizes_**-alpha).tolist(),
        "held out": [measured if abs(math.log(n / at)) < 0.12 else math.nan for n in sizes_.tolist()],
    }
    picture = show.lines_svg(
        sizes_.log10(),
        curves,
        x_title="parameters, as a power of ten",
        y_title="loss",
        low=1.2,
        high=2.4,
        alt=f"Two laws from 1,760 to ten million parameters. At 991,616 the power law says {middle:.2f}, the law with a"
        f" floor {E + A * at**-alpha:.2f}; measured {measured:.2f}. At ten million they say {curves['power law'][-1]:.2f}"
        f" and {curves['with a floor'][-1]:.2f}.",
    )
HTML(picture)

# %% [markdown]
# ## 2. An experiment: which form extrapolates? [[scale_and_insight.which_form, 35 minutes, medium, more]]
#
# On the ladder there was a single model to judge by. Now make a ladder of your own, so cheap that it can be repeated: models that count pairs of letters,
# and models that count triples. `ladder` counts them in the first $D$ letters of a random passage of Shakespeare, for each $D$ of a list, and returns the
# held-out losses in nats per letter. Here $D$, the length of the text, takes the part of $N$. Fit both forms on short texts, with
# $\delta = 0.01$ for the floor, and let them predict the loss after a text that is 16 times longer than the longest. Four answers are possible:
#
# 1. The power law is nearer to the truth than the law with a floor, for pairs and for triples.
# 2. The law with a floor is nearer to the truth, for pairs and for triples.
# 3. For pairs the law with a floor is nearer; for triples, these seeds cannot tell.
# 4. For pairs the law with a floor is nearer, for triples the power law.
#
# Proceed in this order.
#
# - **Predict.** Set `prediction` to 1, 2, 3 or 4 before you run anything. It is kept as you wrote it, and it need not come true.
# - **Run.** `errors` gets one row per seed, with four numbers: the power law and the law with a floor for pairs (order 2), then both for triples
#   (order 3). An error is the absolute value of $\ln(\text{predicted} / \text{measured})$ at `far`. Set `conclusion = 0` for now and run the check:
#   it says whether your numbers are right. Then run the cell below the check, and look at all five rows.
# - **Conclude.** Set `conclusion` to the answer that *your* five rows support. A difference counts if it has the same sign for every seed, or if it is
#   larger than chance explains: the 95 % interval of the mean difference (Student's t: 2.78 standard errors to each side) does not contain 0.
#
# [[checked]]
#
# [[hints on the run]]
# 1. How many ladders does one seed need, and which of their losses may a fit see?
# 2. Ask for the losses at all lengths in one call, the far one last, and split them. Loop over the seeds and over the two orders.
# 3. `ladder(order, [*short, far], seed)` has one loss more than the fits get. The lengths have to be a tensor for your functions of 1a and 1c.
#
# [[hints on the conclusion]]
# 1. Which two columns does the first half of each answer compare, and which two the second half?
# 2. Take the difference of two columns. Does it have the same sign in every row?
# 3. Five differences $d$ have the interval $\bar d \pm 2.78\, s / \sqrt 5$, where $s$ is their standard deviation. `torch.std` computes it.


# %%
@functools.lru_cache(maxsize=1)
def letters():
    """Four plays as numbers: 1 to 26 are the letters, 0 is everything else."""
    from nlmcore.corpora import load

    plays = re.sub("[^a-z]+", " ", " ".join(load("shakespeare").texts("train")[:4]).lower())
    return (torch.tensor(list(plays.encode())) - 96).clamp(min=0)


def ladder(order, lengths, seed):
    """The held-out losses of models that count `order` letters in a row, each in a passage of one of the lengths."""
    *_, held_out = pieces = letters().split(len(letters()) - 10_000)
    first = torch.randint(len(pieces[0]) - max(lengths), (1,), generator=torch.Generator().manual_seed(seed)).item()
    losses = []
    for length in lengths:
        seen, p = pieces[0][first : first + length], torch.full((27,), 1 / 27, dtype=torch.float64)
        for n in range(1, order + 1):  # each order is mixed with the one below it
            codes = sum(column * 27**i for i, column in enumerate(reversed(seen.unfold(0, n, 1).unbind(1))))
            count = torch.bincount(codes, minlength=27**n).view([27] * n)
            p = (count + 4 * p) / (count.sum(-1, keepdim=True) + 4)
        losses.append(-p[held_out.unfold(0, order, 1).unbind(1)].log().mean().item())
    return torch.tensor(losses)


# %%
def which_form(short, far, seeds):
    """Errors of two laws that predict the loss after a long text from the losses after short ones, for several seeds.

    short: a list of lengths, far: a length, seeds: a list -> (prediction, errors (seeds, 4), conclusion)
    """
    ### BEGIN SOLUTION
    prediction = 2
    errors, D = [], torch.tensor(short, dtype=torch.float64)
    for seed in seeds:
        row = []
        for order in (2, 3):
            *near, last = ladder(order, [*short, far], seed).tolist()
            A, alpha = power_law(D, torch.tensor(near))
            row.append(abs(math.log(A * far**-alpha / last)))
            E, A, alpha = floor_law(D, torch.tensor(near), 0.01)
            row.append(abs(math.log((E + A * far**-alpha) / last)))
        errors.append(row)
    conclusion = 3
    return prediction, errors, conclusion
    ### END SOLUTION


# %%
show_rows(
    "scale_and_insight.which_form", which_form, "pairs, power", "pairs, floor", "triples, power", "triples, floor"
)

# %% [markdown]
# ## 3. Spending
#
# ### 3a. A budget, a text and a memory [[scale_and_insight.best_split, 15 minutes, medium, core]]
#
# Hoffmann's law and a budget of operations $C = 6ND$ give the best number of parameters and of tokens; the lecture has the frontier. A real project has
# two more limits. There are only `text` tokens, and reading them twice does not count. And the model may have at most `largest` parameters. Return
# the allowed $N$ and $D$ with the lowest loss, and that loss. They need not be integers. The budget may not be exceeded, but need not be spent.
#
# By hand, with a law for which the best split of 600 operations is $N = D = 10$: if there are only 5 tokens, take $N = 20$ and $D = 5$. If the model may
# have at most 4 parameters, take $N = 4$ and $D = 25$. With both limits, $N = 4$ and $D = 5$, and 480 operations are left over.
#
# [[checked]]
#
# [[hints]]
# 1. In the example, why is the best model *larger* when there is less text?
# 2. On the curve of equal compute the loss first falls and then rises. So if the best point is forbidden, the nearest allowed one is best.
# 3. Start from the frontier's $N$. A short text asks for at least `budget / (6 * text)` parameters; the memory allows at most `largest`, and has the last word.
#    Then $D$ is what the budget buys, or the whole text.


# %%
def best_split(law, budget, text, largest):
    """The parameters and tokens with the lowest loss, within a budget of operations, a text and a size.

    law: a dictionary with E, A, alpha, B, beta; budget, text, largest: numbers -> (N, D, loss), numbers
    """
    ### BEGIN SOLUTION
    E, A, alpha, B, beta = (law[name] for name in ("E", "A", "alpha", "B", "beta"))
    balance = (alpha * A / (beta * B)) ** (1 / (alpha + beta))
    N = balance * (budget / 6) ** (beta / (alpha + beta))
    N = min(max(N, budget / (6 * text)), largest)
    D = min(budget / (6 * N), text)
    return N, D, E + A / N**alpha + B / D**beta
    ### END SOLUTION


# %% [markdown]
# ### 3b. When a large model overtakes [[scale_and_insight.overtaking, 20 minutes, hard, more]]
#
# Take Hoffmann's law $E + A / N^\alpha + B / D^\beta$ with $C = 6ND$. On paper, derive two formulas:
#
# 1. At the best split of a budget, what fraction of the *reducible* loss (all but $E$) comes from the size, that is, from $A / N^\alpha$? The other part comes
#    from the text. The lecture's frontier is the result of setting a slope to zero; this share follows from that equation in two lines.
# 2. A small model with `small` parameters and a large one with `large` race at equal compute: at each moment both have spent the same number of
#    operations. The small one leads at first. After how many operations do both have the same loss?
#
# Return both as formulas with nothing but the symbols, without a search.
#
# [[checked]] The values must be right to five digits.
#
# [[hints]]
# 1. For the share, compare the two terms of the slope at the best split. For the race, write down both losses as functions of $C$ alone.
# 2. At the minimum, $\alpha$ times one term equals $\beta$ times the other. In the race, $E$ cancels, and all terms with the compute go to one side.
# 3. After $C$ operations a model of $N$ parameters has read $C / 6N$ tokens, so its second term is $B\,(6N)^\beta / C^\beta$. Solve for $C^\beta$, then take a root.


# %%
def overtaking(A, alpha, B, beta, small, large):
    """What the size contributes at the best split, and the compute at which a large model overtakes a small one.

    numbers, small < large -> (share, operations)
    """
    ### BEGIN SOLUTION
    share = beta / (alpha + beta)
    text = B * (large**beta - small**beta)
    operations = 6 * (text / (A * (small**-alpha - large**-alpha))) ** (1 / beta)
    return share, operations
    ### END SOLUTION


# %% [markdown]
# ## 4. Sudden abilities
#
# ### 4a. Three ways to count [[scale_and_insight.mirage, 10 minutes, medium, more]]
#
# A model has written answers, lists of ids, and you know the right ones. They have different lengths, and a written answer may be too long or too short.
# Compute
#
# - `accuracy`: the fraction of the *wanted* tokens that are there, in their positions, over all answers together;
# - `exact`: the fraction of answers that are right as a whole;
# - `promised`: the fraction that *would* be right as a whole if each wanted token of each answer were right with probability `accuracy`,
#   independently of all others (Schaeffer et al. 2023). Answers that are too long are not foreseen here.
#
# By hand: wanted are (7, 17) and (4, 5, 6, 8), written were (7, 17) and (4, 5, 9). Of six wanted tokens four are there, so the accuracy is $2/3$; exact is
# $1/2$; and promised is the mean of $(2/3)^2$ and $(2/3)^4$, which is 0.321.
#
# [[checked]]
#
# [[hints]]
# 1. In the example, which number divides the four right tokens, and what happens to the missing fourth token of the second answer?
# 2. `zip` stops at the end of the shorter of two lists, so it counts tokens that are there. Whole answers can be compared as lists.
# 3. The accuracy is one number for all answers. Raise it to the length of each wanted answer, then take the mean.


# %%
def mirage(written, wanted):
    """Token accuracy, exact match, and the exact match that the accuracy promises.

    written, wanted: lists of lists of ids, one pair per answer; no wanted answer is empty -> (accuracy, exact, promised), numbers
    """
    ### BEGIN SOLUTION
    pairs = list(zip(written, wanted, strict=True))
    right = sum(mine == theirs for answer, goal in pairs for mine, theirs in zip(answer, goal, strict=False))
    accuracy = right / sum(len(goal) for goal in wanted)
    exact = sum(list(answer) == list(goal) for answer, goal in pairs) / len(wanted)
    return accuracy, exact, sum(accuracy ** len(goal) for goal in wanted) / len(wanted)
    ### END SOLUTION


# %% [markdown]
# ### 4b. Where an ability appears [[scale_and_insight.threshold, 15 minutes, medium, more]]
#
# Suppose that the loss per token is a power law without a floor, $(c / N)^\alpha$ nats, and that a token is right with probability $p = e^{-\text{loss}}$,
# independently of the others. An answer has `length` tokens. On paper, derive two formulas:
#
# 1. the number of parameters at which the exact match is `q`, a number between 0 and 1;
# 2. the slope of the exact match there, against $\ln N$: how fast the ability appears on a logarithmic axis.
#
# Then look at your second formula. People say that longer answers make the jump sharper. Which symbols does the formula contain?
#
# [[checked]] The values must be right to five digits.
#
# [[hints]]
# 1. Write the exact match as a single power of $e$. What is its exponent where the exact match is `q`?
# 2. First solve for $(c/N)^\alpha$, then for $N$. For the slope use the chain rule with $u = \ln N$: what is the derivative of $e^{-\alpha u}$?
# 3. The slope is the exact match times the slope of its exponent, and that exponent is $-\alpha$ times itself when differentiated. At `q` the exponent is
#    `math.log(q)`.


# %%
def threshold(c, alpha, length, q):
    """The size at which the exact match of answers of `length` tokens is q, and its slope against ln N there.

    numbers -> (N, slope)
    """
    ### BEGIN SOLUTION
    N = c * (length / -math.log(q)) ** (1 / alpha)
    return N, -alpha * q * math.log(q)
    ### END SOLUTION


# %% [markdown]
# ## 5. Instruments
#
# Now open a model. The next cell holds the parts of a Transformer like SmolLM2, in plain functions. Three of them are yours, from
# the assignment `transformer`, if your library has them. `heads_of` stops in the middle of a layer, so that you can look at what each head gives, and
# change it, before `finish` completes the layer.
#
# ```text
# embedding ──► x₀ ──► layer 0 ──► x₁ ──► layer 1 ──► x₂ ── … ──► x_n ──► norm ──► embedding, transposed ──► logits
#                        │
#                        heads_of(x, layer, sizes)          what each head gives      (batch, time, head, d_head)
#                        finish(x, heads, layer, sizes)     x after the layer         (batch, time, d_model)
# ```
#
# `weights` has the keys `"embedding"` (vocab, d_model), `"layers"`, a list with a dictionary per layer, and `"norm"`, the gain of the final norm. Words are
# ids. Layers are counted from 0. `unembed` is the end of the model and takes any tensor (…, d_model). The logits of the next word are those at the *last*
# position.


# %%
@own("transformer.rms_norm")
def rms_norm(x, gain, eps):
    """RMSNorm: x (batch, time, d_model), gain (d_model,) -> like x"""
    return F.rms_norm(x, gain.shape, gain, eps)


@own("transformer.rotate")
def rotate(x, first, base):
    """Rotary positions: (batch, head, time, d_head), each pair of coordinates as a complex number."""
    half = x.shape[-1] // 2
    angle = torch.arange(first, first + x.shape[2])[:, None] * base ** (-torch.arange(half) / half)
    z = torch.complex(x[..., :half], x[..., half:]) * torch.polar(torch.ones_like(angle), angle)
    return torch.cat([z.real, z.imag], -1)


@own("transformer.attend")
def attend(q, k, v):
    """Causal attention: q (batch, head, time, d_head), k and v (batch, set, time, d_head) -> (output, like q; anything else)"""
    return (F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True),)


def normed(x, gain, sizes):
    return rms_norm(x.reshape(1, -1, x.shape[-1]), gain, sizes["eps"]).reshape(x.shape)


def heads_of(x, layer, sizes):
    """What each head of a layer gives, before the matrix that mixes them: (batch, time, d_model) -> (batch, time, head, d_head)."""
    n, sets = sizes["n_heads"], sizes["n_kv_heads"]
    parts = F.linear(normed(x, layer["attention_norm"], sizes), layer["projection"]).unflatten(-1, (n + 2 * sets, -1))
    q, k, v = parts.transpose(1, 2).split([n, sets, sets], dim=1)
    mixed, *_ = attend(rotate(q, 0, sizes["base"]), rotate(k, 0, sizes["base"]), v)
    return mixed.transpose(1, 2)


def finish(x, heads, layer, sizes):
    """The rest of the layer: x plus what the heads write, plus what the network writes."""
    x = x + F.linear(heads.flatten(2), layer["output"])
    gate, up = F.linear(normed(x, layer["feed_forward_norm"], sizes), layer["inner"]).chunk(2, dim=-1)
    return x + F.linear(F.silu(gate) * up, layer["outer"])


def unembed(x, weights, sizes):
    """The final norm and the logits: (…, d_model) -> (…, vocab)."""
    return F.linear(normed(x, weights["norm"], sizes), weights["embedding"])


# %% [markdown]
# ### 5a. The logit lens [[scale_and_insight.logit_lens, 20 minutes, medium, core]]
#
# Run a text through the model and keep the residual pathway: the embedded text, then `x` after each layer. Then read each depth *as if it were the last*,
# at the last position, and say which rank `word` has there among all words: 1 if its logit is the largest, 2 if one logit is larger, and so on.
#
# [[checked]]
#
# [[hints]]
# 1. With three layers, how many rows do the pathway and the ranks have, and what is the first row?
# 2. The text needs a batch dimension for the layers, and you take it away again. After the loop, stack what you kept and unembed one position of all of it.
# 3. `finish(x, heads_of(x, …), …)` is one layer, and its result replaces x. A rank is 1 plus the number of logits that are larger than the word's.


# %%
def logit_lens(text, word, weights, sizes):
    """The residual pathway of a text, and the rank of a word after each depth.

    text (time,) ids, word: an id -> (pathway (layers + 1, time, d_model), ranks (layers + 1,))
    """
    ### BEGIN SOLUTION
    x = weights["embedding"][text][None]
    kept = [x[0]]
    for layer in weights["layers"]:
        x = finish(x, heads_of(x, layer, sizes), layer, sizes)
        kept.append(x[0])
    pathway = torch.stack(kept)
    scores = unembed(pathway[:, -1], weights, sizes)
    return pathway, (scores > scores[:, [word]]).sum(dim=1) + 1
    ### END SOLUTION


# %% [markdown]
# ### 5b. Switch off a head [[scale_and_insight.head_effects, 30 minutes, hard, core]]
#
# `answers` are two words, and the log-odds of a run are the logit of the first minus the logit of the second. For *each* head of layer `number`: by how much
# do the log-odds of `text` fall if this one head no longer says anything about this text? Replace what it gives **at the last position** by its mean over
# all positions of all texts in `others`, and leave all else to the model. A negative fall means that the head worked against the first word.
#
# Return the means too: row $h$ is the mean of what head $h$ of this layer gives.
#
# [[checked]]
#
# [[hints on the means]]
# 1. What has to happen to `others` before this layer can read them?
# 2. Run the embedded texts through all layers below, then stop in the middle of this one. Two of the four axes are averaged away.
# 3. `weights["layers"][:number]` are the layers below, and `.mean((0, 1))` averages over texts and positions.
#
# [[hints on the falls]]
# 1. What is different between the run without a head and the whole run, below the layer, in it, and above it?
# 2. Make one copy of what the heads give per head, change one entry in each copy, and finish the model with all copies as a batch. A loop over heads works
#    as well.
# 3. `changed = heads.clone()` and `changed[0, -1, h] = means[h]` switch off head $h$. Finish this layer with it, then run the layers above, then subtract.


# %%
def head_effects(text, answers, others, number, weights, sizes):
    """The mean output of each head of a layer, and the fall of the log-odds without each head.

    text (time,) ids, answers: a list of two ids, others (batch, length) ids, number: of the layer
    -> (means (head, d_head), falls (head,))
    """
    ### BEGIN SOLUTION
    below, here = weights["layers"][:number], weights["layers"][number]
    x, y = weights["embedding"][text][None], weights["embedding"][others]
    for layer in below:
        x = finish(x, heads_of(x, layer, sizes), layer, sizes)
        y = finish(y, heads_of(y, layer, sizes), layer, sizes)
    means = heads_of(y, here, sizes).mean((0, 1))
    n = len(means)
    heads = heads_of(x, here, sizes).repeat(n + 1, 1, 1, 1)
    each = torch.arange(n)
    heads[each, -1, each] = means
    z = finish(x.expand(n + 1, -1, -1), heads, here, sizes)
    for layer in weights["layers"][number + 1 :]:
        z = finish(z, heads_of(z, layer, sizes), layer, sizes)
    scores = unembed(z[:, -1], weights, sizes)[:, answers]
    odds = scores[:, 0] - scores[:, 1]
    return means, odds[n] - odds[:n]
    ### END SOLUTION


# %% [markdown]
# ### 5c. A map of patches [[scale_and_insight.patch_map, 35 minutes, hard, core]]
#
# Two texts of equal length, clean and corrupted. Take one vector of the clean run, on the residual pathway *after* layer $l$ at position $p$, put it
# into the corrupted run at the same layer and position, and let the model compute the rest. What fraction of the difference between the two runs' log-odds comes
# back? Do this for every layer in `layers` and every position in `positions`; each cell of the map is a run of its own with a single vector replaced.
#
# The share is 0 if nothing comes back, 1 if everything does, and it may be below 0 or above 1. Return the log-odds of the two whole runs as well, clean first.
#
# [[checked]]
#
# [[hints on the runs]]
# 1. Your function of 5a returns two things. Which one do you need of each text?
# 2. A run that is corrupted up to layer $l$ need not be computed again: its pathway is known. Replace one row of it and run the layers above.
# 3. Row $l + 1$ of a pathway is `x` after layer $l$. Clone the corrupted one, `x[p] = …` from the clean one, and continue with `weights["layers"][l + 1 :]`.
#
# [[hints on the share]]
# 1. Which log-odds should give 0, and which should give 1?
# 2. Subtract what you would get without a patch. Then divide by the largest gain that is possible.
# 3. Both differences, above and below the fraction bar, are measured from the *corrupted* run.


# %%
def patch_map(clean, corrupted, answers, layers, positions, weights, sizes):
    """Which share of the log-odds comes back, if one vector of the clean run is put into the corrupted one.

    clean, corrupted (time,) ids, answers: a list of two ids, layers, positions: lists of integers
    -> (odds (2,), shares (layers, positions))
    """
    ### BEGIN SOLUTION
    good, bad = (logit_lens(text, answers[0], weights, sizes)[0] for text in (clean, corrupted))

    def odds(x):
        scores = unembed(x, weights, sizes)[..., answers]
        return scores[..., 0] - scores[..., 1]

    whole = odds(torch.stack([good[-1, -1], bad[-1, -1]]))
    every = torch.arange(len(positions))
    rows = []
    for number in layers:
        x = bad[number + 1].repeat(len(positions), 1, 1)
        x[every, positions] = good[number + 1][positions]
        for layer in weights["layers"][number + 1 :]:
            x = finish(x, heads_of(x, layer, sizes), layer, sizes)
        rows.append((odds(x[:, -1]) - whole[1]) / (whole[0] - whole[1]))
    return whole, torch.stack(rows)
    ### END SOLUTION


# %% [markdown]
# ## 6. A friend splits a logit
#
# A friend wants to know who wrote the answer. The pathway at its end is a sum: the embedding, plus what the heads and the network of each layer
# added. So the log-odds of two words are a sum as well, and she computes each part's share: the direct logit attribution of the lecture. Her code runs, and
# the numbers look believable. But they do not add up to the log-odds of the model. One line is wrong.
#
# ### 6a. Which line? [[scale_and_insight.wrong_line, 10 minutes, medium, core]]
#
# [[listing scale_and_insight.direct_shares]]
#
# Return the number of the wrong line, as in this listing.
#
# [[checked]] You can copy the function into a cell of your own to try it; the check of 6b shows you an input.
#
# [[hints]]
# 1. What would have to be true of all parts so that their sum is the log-odds? Say for each line whether it treats them as terms of one sum.
# 2. Everything from the pathway's end to the logits is linear, except one step. What does the lecture say must stay fixed in that step?
# 3. Print the shapes of all factors and divisors in the last lines. Which of them should be a single number?


# %%
def wrong_line():
    """The number of the one line of the listing that is wrong."""
    ### BEGIN SOLUTION
    return 14
    ### END SOLUTION


# %% [markdown]
# ### 6b. Mend it [[scale_and_insight.direct_shares, 5 minutes, easy, core]]
#
# This is your friend's function. Change the line, and nothing else.
#
# [[checked]]
#
# [[hints]]
# 1. Whose size does the model's final norm divide by?
# 2. All parts are divided by the same number. It is known after the loop.
# 3. After the loop, `x[0, -1]` is the sum of all parts. Its mean square, with `eps`, makes the number.


# %%
def direct_shares(text, answers, weights, sizes):
    """What each part wrote of the log-odds at the last position: the embedding, then heads and network of each layer.

    text (time,) ids, answers: a list of two ids -> shares (1 + 2 * layers,), whose sum is the log-odds
    """
    ### BEGIN SOLUTION
    x = weights["embedding"][text[None]]
    parts = [x[0, -1]]
    for layer in weights["layers"]:
        given = heads_of(x, layer, sizes)
        attention = F.linear(given.flatten(2), layer["output"])
        after = finish(x, given, layer, sizes)
        parts += [attention[0, -1], (after - x - attention)[0, -1]]
        x = after
    size = torch.sqrt(x[0, -1].square().mean() + sizes["eps"])
    first, second = weights["embedding"][answers]
    return torch.stack(parts) @ (weights["norm"] * (first - second)) / size
    ### END SOLUTION


# %% [markdown]
# ## Where SmolLM2 keeps its tickets
#
# There is nothing to write here. Run it when questions 5 and 6 pass; it takes about ten seconds. SmolLM2's 135 million parameters become a dictionary, and your
# instruments open it. The prompt is the lecture's: somebody has *tickets* to print, a long story about toner follows, and at its end she finally prints
# her … The model has to remember for 46 tokens.

# %%
TOOLS = {"logit_lens": logit_lens, "head_effects": head_effects, "patch_map": patch_map, "direct_shares": direct_shares}
STORY = (
    "When she tried to print her {}, she found that the printer was out of toner. She went to the stationery store to buy more toner."
    " It was very overpriced. After installing the toner into the printer, she finally printed her"
)
SIZES = {"n_heads": 9, "n_kv_heads": 3, "base": 100_000.0, "eps": 1e-5}
smollm2_weights = None
picture = "Come back here when questions 5 and 6 pass."

if all(passes(f"scale_and_insight.{name}", function) for name, function in TOOLS.items()):
    from nlmcore.pretrained import smollm2

    model, tokenizer = smollm2()
    found = dict(model.named_parameters())
    names = {"attention_norm": "residual_attention.norm", "feed_forward_norm": "residual_feed_forward.norm"}
    names |= {"projection": "attention.projection", "output": "attention.output"}
    names |= {"inner": "feed_forward.inner", "outer": "feed_forward.outer"}
    smollm2_weights = {
        "embedding": found["embedding.weight"].detach(),
        "norm": found["final_norm.weight"].detach(),
        "layers": [
            {ours: found[f"layers.{i}.{theirs}.weight"].detach() for ours, theirs in names.items()} for i in range(30)
        ],
    }

    def read(text):
        return torch.tensor(tokenizer.encode(text))

    clean, corrupted = read(STORY.format("tickets")), read(STORY.format("photos"))
    answers = [tokenizer.encode(word)[0] for word in (" tickets", " photos")]
    path, ranks = logit_lens(clean, answers[0], smollm2_weights, SIZES)
    print(f"The story has {len(clean)} tokens. Rank of “ tickets” among 49,152 words, read by your lens:")
    print("   ".join(f"x{i} {int(ranks[i]):,}" for i in (0, 10, 16, 20, 22, 24, 26, 28, 30)))

# %%
if smollm2_weights is not None:
    place = int((clean != corrupted).nonzero()[0])
    LAYERS, POSITIONS = (
        [2, 8, 14, 17, 19, 21, 23, 25, 28],
        [place, place + 1, len(clean) // 2, len(clean) - 2, len(clean) - 1],
    )
    whole, shares = patch_map(clean, corrupted, answers, LAYERS, POSITIONS, smollm2_weights, SIZES)
    print(f"log-odds of tickets against photos: clean {whole[0]:.2f}, corrupted {whole[1]:.2f}")
    words = [f"{p}: {tokenizer.decode([int(clean[p])]).strip()}" for p in POSITIONS]
    picture = show.heatmap_svg(
        shares.clamp(0, 1).T,
        words,
        [f"after layer {number}" for number in LAYERS],
        cell=52,
        title="share that one clean vector brings back",
        alt="Share of the log-odds that one clean vector brings back. "
        + " ".join(
            f"{word}: "
            + ", ".join(f"layer {number} {share:.2f}" for number, share in zip(LAYERS, row, strict=True))
            + "."
            for word, row in zip(words, shares.T.tolist(), strict=True)
        ),
    )
HTML(picture)

# %% [markdown]
# The word waits at its own position, and then it is at the last one. Something in between fetched it. Which layers wrote *tickets* at the last word, and does
# the answer need any single head of theirs?

# %%
picture = "Come back here when questions 5 and 6 pass."
if smollm2_weights is not None:
    plain = [
        "The old engine made a loud noise and then stopped near the bridge",
        "Every morning the baker opens his shop before the sun has risen",
        "Most of the students had never seen such a large library before",
    ]
    others = torch.stack([read(line)[:12] for line in plain])
    parts = direct_shares(clean, answers, smollm2_weights, SIZES)
    by_heads = parts[1::2]  # what all heads of a layer wrote together
    print(f"{len(parts)} shares add up to {parts.sum():.2f}, of which the heads wrote {by_heads.sum():.2f}")
    effects = {}
    for number in by_heads.topk(3).indices.tolist():
        _, falls = head_effects(clean, answers, others, number, smollm2_weights, SIZES)
        effects |= {f"without head {number}.{head}": fall for head, fall in enumerate(falls.tolist())}
        alone = ", ".join(f"{fall:z.2f}" for fall in falls.tolist())
        print(
            f"the heads of layer {number} wrote {by_heads[number]:.2f}; the log-odds fall without each one by {alone}"
        )
    strongest = sorted(effects, key=effects.get, reverse=True)[:6]
    picture = show.bar_list_svg(
        [max(effects[name], 0.0) for name in strongest],
        strongest,
        title=f"the log-odds, {whole[0]:.2f}, fall by",
        says=[f"{effects[name]:z.2f}" for name in strongest],
        reach=float(whole[0]),
    )
HTML(picture)

# %% [markdown]
# Compare what a layer wrote with what the model loses. The heads of one layer wrote nearly half of the answer, but no single head is missed: the bars are
# drawn to the scale of the whole. *Where* a word is on its way is clear from the map; *who* carries it is not one head.

# %% [markdown]
# ## 7. A claim, and what could be wrong with it [[written, 20 minutes, 5 points, core]]
#
# 1. Choose two sentences of your own that differ in one word and have the same number of tokens (or take the capitals of the lecture). Predict after which
#    layer the changed word's own position carries less than half. Measure it with your `patch_map`, and run one **control**, a patch that should
#    bring back nothing. Report numbers.
# 2. After layer 2 the word's own vector brings back nearly everything. Does layer 2 know what she prints at the end? Name a rival explanation,
#    and an experiment that could tell the two apart.
# 3. A colleague fits a power law to eight models, gets an interval from the bootstrap, and promises the loss of a model ten times as large. Say with
#    your results of sections 1 and 2 what the interval covers and what it does not.
#
# ### BEGIN MARK SCHEME
# Half points are fine. Results earn nothing by themselves: a prediction that failed is as good as one that held.
#
# 1. **Prediction** (½) with a layer, before the result. **Measurement** (1): both sentences given, shares at several layers. **Control** (½) that could have
#    come out differently, for example a position before the changed word (where the two runs are equal, so exactly 0) or a position in between.
# 2. **Rival** (½): after layer 2 the vector is still hardly more than the word itself, so patching it is the same as writing the other word; it restores
#    the *word*, not a conclusion. **Experiment** (1): for example a word that differs but leads to the same answer, a third word, patching only what
#    one network adds, or a probe of the last position at that layer. It must have two possible outcomes that speak for different explanations.
# 3. **Covers** (½): the scatter of these runs under this form. **Does not cover** (1): that the form is wrong; that seeds, data or rates differ at the
#    large size. Uses own numbers: on the ladder the two forms disagree more and more outside the range, or in the experiment the power law missed all
#    five pairs in the same direction.
# ### END MARK SCHEME

# %%
# Your measurement.

# %% [markdown]
# I took "The capital of France is" and "The capital of Italy is", with Paris and Rome as answers. I predicted that the country's position carries less than half
# after layer 15, half-way up. It does so only after layer 23: up to layer 22 it brings back more than 0.9, and after layer 23 about 0. So my guess was
# eight layers too early. The control was the position of "capital", before the change: the share is exactly 0, because both runs are equal there.
#
# After layer 2 the vector is little more than the word itself, so the patch just writes *tickets* into the corrupted story again. That restores the word, and
# says nothing about what the layer has concluded. To tell them apart I would patch after layer 2 at the *last* position: if the conclusion were
# known, some of it should be there, and it is not. Or I would patch the vector of *tickets* from another story, in which nothing is printed.
#
# The interval covers the scatter of these eight models, if the power law is the right form. It does not cover a wrong form: on the ladder the power law says less
# than the law with a floor, and the gap grows beyond the range. In my experiment with pairs of letters the power law missed in the same direction for every
# seed. Repeating the fit cannot show that, because all repetitions have the same wrong form.

# %% [markdown]
# ---
# **Before you hand in:** *Kernel → Restart Kernel and Run All Cells*. Every check should say what you expect, and
# question 7 should be answered in your own words. Save the notebook under its own name: the grader looks for `scale_and_insight.ipynb`.
