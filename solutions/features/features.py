# %% [markdown]
# # Assignment: features
#
# What does a model hold that nobody can see? You write the tools of an **audit** and then use them live. A toy stores twenty features in six
# dimensions, and your sparse autoencoder finds them again. A small Transformer reads secrets, and your exposure finds out which ones it knows, without asking it to reveal one. SmolLM2
# is asked for *she* or *he*. Each time a control decides what the first number means. In between you derive when two features
# should share a dimension, find a bug in somebody else's control, and run an experiment.
#
# [[questions]]
#
# [[how it works]]
#
# [[closed]]
# Everything else is open. If you need a function from an earlier question, call yours.
#
# You need the lecture *Features, and what can go wrong*. Nothing is downloaded.
#
# | here | meaning |
# |---|---|
# | $x$, $x'$ | features of an example, or an activation; what is read back |
# | $W_i$ | a column of $W$: the direction of feature $i$ in the toy |
# | $D_i$, $E_i$ | a row of the decoder and of the encoder of a sparse autoencoder |
# | $R$ | the candidates for a secret, the real one among them |

# %%
import math
import random
from collections import Counter
from itertools import pairwise

import torch
from IPython.display import HTML

from autograder.check import check, failing, passes, show_rows
from lectures import show

torch.set_printoptions(precision=3, sci_mode=False)

# %% [markdown]
# ## 1. A toy that stores features [[features.toy_loss, 20 minutes, easy, core]]
#
# The toy of Elhage et al. (2022) pushes $n$ features through $d < n$ dimensions and reads them back:
#
# $$x' = \mathrm{ReLU}(W^\top W x + b), \qquad L = \sum_i I_i\,(x_i - x'_i)^2 .$$
#
# Here examples are rows: `x` is (batch, n), and `weight` is $W$, (d, n). Return what is read back, and the mean of $L$ over the batch.
#
# By hand, with one dimension and $W = (1, -1)$, $b = 0$, $I = (1, 2)$:
#
# | $x$ | $W x$ | $x'$ | $L$ |
# |---|---|---|---|
# | (0.5, 0) | 0.5 | (0.5, 0) | 0 |
# | (0.5, 0.3) | 0.2 | (0.2, 0) | 0.09 + 2 · 0.09 = 0.27 |
#
# The loss of this batch is 0.135. Two opposite directions share a dimension without any error, as long as only one of the features is present.
#
# [[checked]] At the end gradients will flow through your function, so compute with tensors from beginning to end.
#
# [[hints]]
# 1. Write the shapes of all three arguments below each other. Which axis must disappear, and which must come back?
# 2. Two matrix products; one of them needs the transpose of the weights. The ReLU comes once, after the bias.
# 3. The hidden values are `x @ weight.T`, and `.sum(1).mean()` adds over features before it averages over examples.


# %%
def toy_loss(x, weight, bias, importance):
    """What the toy reads back, and its loss.

    x (batch, n), weight (d, n), bias (n,), importance (n,) -> (read (batch, n), loss)
    """
    ### BEGIN SOLUTION
    hidden = x @ weight.T
    read = torch.relu(hidden @ weight + bias)
    errors = importance * (x - read) ** 2
    return read, errors.sum(1).mean()
    ### END SOLUTION


# %% [markdown]
# ## 2. Two features in one dimension [[features.two_in_one, 25 minutes, hard, more]]
#
# When does it pay to share? Two features are independent. Each is present with the probability $p$ and then uniform between 0 and 1, and 0 otherwise.
# Their importances are $I_1$ and $I_2$. The toy has *one* dimension, and $b = 0$. On paper, derive the mean loss of three toys, and then a probability:
#
# 1. **alone**: $W = (1, 0)$ stores only the first feature.
# 2. **shared**: $W = (1, -1)$ stores both in opposite directions, with the ReLU.
# 3. **linear**: the same $W$ without the ReLU.
# 4. **turn**: the $p$ at which *alone* and *shared* have the same loss. With a smaller $p$ it pays to share.
#
# [[checked]] $p$ is between 0 and 1, and importances are positive.
#
# [[hints on the losses]]
# 1. Make a table of four rows: which of the features is present? What is read back in each row, and what is its error?
# 2. The mean square of a uniform number is ⅓. If both are present, the shared toy reads back their difference, and only one of the two outputs is above 0.
# 3. With both present, each error is the square of the *smaller* value. Its mean is $\int_0^1 2\,(1 - m)\, m^2\, dm = 1/6$.
#
# [[hints on the turn]]
# 1. Which two of your formulas have to be equal?
# 2. Both have a factor p, so one p remains.
# 3. Solve $I_2 / 3 = (I_1 + I_2)\, p / 6$ for $p$.


# %%
def two_in_one(p, i_1, i_2):
    """The mean losses of three toys with one dimension, and the p below which two features should share it.

    p: the probability that a feature is present; i_1, i_2: importances -> (alone, shared, linear, turn), four numbers
    """
    ### BEGIN SOLUTION
    alone = i_2 * p / 3
    shared = (i_1 + i_2) * p**2 / 6
    linear = (i_1 + i_2) * p / 3
    turn = 2 * i_2 / (i_1 + i_2)
    return alone, shared, linear, turn
    ### END SOLUTION


# %% [markdown]
# ## 3. A sparse autoencoder
#
# ### 3a. Forward, and two measures [[features.sparse_code, 30 minutes, medium, core]]
#
# A sparse autoencoder explains each activation $x$ as a sum of a few directions:
#
# $$z = \mathrm{TopK}\big(\mathrm{ReLU}((x - c)\, E^\top)\big), \qquad x' = z D + c .$$
#
# TopK keeps the $k$ largest values *of each example* and sets the others to 0. Return four things:
#
# - the features $z$, and the reconstruction $x'$;
# - the **loss**: the squared length of $x - x'$, as a mean over the batch;
# - what is **left** of the variance: the sum of all squared errors, divided by the sum of all squared distances from the batch's own mean. It is 0 for a
#   perfect reconstruction, and 1 for the mean as answer to everything.
#
# By hand, in one dimension: $x$ is 3, then −1, with $c = 0$, $k = 1$, $E = (1, -2)$ and $D = (1, -1)$.
#
# | $x$ | ReLU | $z$ | $x'$ | squared error | from the mean, 1 |
# |---|---|---|---|---|---|
# | 3 | (3, 0) | (3, 0) | 3 | 0 | 4 |
# | −1 | (0, 2) | (0, 2) | −2 | 1 | 4 |
#
# So the loss is ½, and ⅛ of the variance is left.
#
# [[checked]] At the end gradients will flow through your function.
#
# [[hints on the features]]
# 1. How many features can be above 0 in one example? And can one be below 0?
# 2. `topk` gives the largest values of each row and where they are. `scatter` puts them back into zeros. Which axis belongs to the features?
# 3. With values and places from `scores.topk(k, dim=1)`, use `torch.zeros_like(scores).scatter(1, places, values)`.
#
# [[hints on the measures]]
# 1. Over which axis is a length taken, and over which a mean? What would the reconstruction be if you knew nothing but the batch's mean?
# 2. Both measures use the same squared errors. One divides by how many examples there are, the other by the spread of the examples.
# 3. The spread is a sum over all examples and numbers: the squared distances from `x.mean(0)`.


# %%
def sparse_code(x, encoder, directions, centre, k):
    """Features of some activations, their reconstruction, the loss, and the fraction of the variance that is left.

    x (batch, d), encoder (n, d), directions (n, d), centre (d,), k: an integer, at most n
    -> (z (batch, n), reconstruction (batch, d), loss, left)
    """
    ### BEGIN SOLUTION
    scores = ((x - centre) @ encoder.T).relu()
    largest, where = scores.topk(k, dim=1)
    z = torch.zeros_like(scores).scatter(1, where, largest)
    reconstruction = z @ directions + centre
    errors = (x - reconstruction) ** 2
    around = (x - x.mean(0)) ** 2
    return z, reconstruction, errors.sum(1).mean(), errors.sum() / around.sum()
    ### END SOLUTION


# %% [markdown]
# ### 3b. Lengths, and the dead [[features.tend, 15 minutes, medium, core]]
#
# Two things go wrong in training. Directions grow: if $D_i$ is twice as long, $z_i$ can be half as large, so nobody can compare two features, and any
# penalty on $z$ is evaded. And some features are **dead**: no example makes them active, so they get no gradient and never change.
#
# Give every direction the length 1 *without changing what the autoencoder computes*: for a given feature, $z_i D_i$ must stay the same. So the encoder has to change as well.
# Also say which features are dead in this batch of `z`.
#
# By hand: $D_1 = (3, 4)$ has the length 5, so it becomes $(0.6, 0.8)$. Each $z_1$ has to be 5 times as large, so $E_1 = (1, 0)$ becomes $(5, 0)$.
#
# [[checked]] No direction has the length 0. Return new tensors, and do not change the old ones.
#
# [[hints]]
# 1. If its direction is divided by a factor, what must happen to the feature? Which of the arguments makes the feature larger?
# 2. `norm` of each row, with `keepdim`. A feature that is dead is 0 in *all* examples: `all` along one axis.
# 3. A column of `z` belongs to a feature, so `(z == 0).all(0)` looks at all its examples.


# %%
def tend(directions, encoder, z):
    """Directions of length 1, the encoder that goes with them, and which features are dead.

    directions (n, d), encoder (n, d), z (batch, n) -> (directions (n, d), encoder (n, d), dead (n,), True or False)
    """
    ### BEGIN SOLUTION
    lengths = directions.norm(dim=1, keepdim=True)
    dead = (z == 0).all(0)
    return directions / lengths, encoder * lengths, dead
    ### END SOLUTION


# %% [markdown]
# ## 4. Found again?
#
# In a toy we know the true directions. A friend wants to know how many of them a dictionary has found. For each true direction she takes the largest
# cosine with any found one, and then the mean over the true directions. Her control is the same score of random dictionaries of the same size: she reports their mean, and the
# **rank** of her dictionary among them (1 if no random one is as good). But her function gives full marks to a dictionary that contains the same true direction twenty times. One line is
# at fault.
#
# ### 4a. Which line? [[features.wrong_line, 10 minutes, medium, core]]
#
# [[listing features.recovery]]
#
# Return the number of the wrong line, as in this listing.
#
# [[checked]] You can copy the function into a cell of your own to try it; the check of 4b shows you an input.
#
# [[hints]]
# 1. Take two true directions, and a dictionary that has the first of them three times. What should its score be? Follow it through the listing.
# 2. Write down the shape of each tensor, with different numbers of true and found directions. Each number that is averaged belongs to one of… what?
# 3. The table of cosines has a row for each true direction and a column for each found one. The mean is over true ones.


# %%
def wrong_line():
    """The number of the one line of the listing that is wrong."""
    ### BEGIN SOLUTION
    return 11
    ### END SOLUTION


# %% [markdown]
# ### 4b. Mend it [[features.recovery, 5 minutes, easy, core]]
#
# This is the friend's function. Change the line, and nothing else.
#
# [[checked]]
#
# [[hints]]
# 1. In the input that the check shows, how many true directions are there, and how many found ones? How many cosines should be averaged?
# 2. The `amax` along one axis leaves the other one.
# 3. Axis 0 of the table counts the true directions, so the maximum is taken along the other axis.


# %%
def recovery(true, found, draws):
    """How well a dictionary finds the true directions, the mean of random dictionaries, and its rank among them.

    true (m, d), found (n, d), draws (random dictionaries, n, d) -> (score, floor, rank)
    """
    ### BEGIN SOLUTION
    wanted = true / true.norm(dim=1, keepdim=True)

    def score(dictionary):
        unit = dictionary / dictionary.norm(dim=1, keepdim=True)
        cosines = wanted @ unit.T
        return cosines.amax(1).mean()

    ours = score(found)
    random_ones = torch.stack([score(one) for one in draws])
    rank = 1 + (random_ones >= ours).sum()
    return ours, random_ones.mean(), rank
    ### END SOLUTION


# %% [markdown]
# ## Your dictionary at work
#
# Your loss trains a toy of twenty features in six dimensions, each present in 3 % of the examples. Your autoencoder then sees only the six hidden values,
# and has to find twenty directions in them. It has room for thirty-two. There is nothing to write here. Run it when the checks of questions 1 and 3 pass;
# it takes half a minute.

# %%
WANTED = {"toy_loss": toy_loss, "sparse_code": sparse_code, "tend": tend}
ready = all(passes(f"features.{name}", function) for name, function in WANTED.items())


def sparse(count, draw):
    """(count, 20): each feature is present with 0.03, and then uniform."""
    return torch.rand(count, 20, generator=draw) * (torch.rand(count, 20, generator=draw) < 0.03)


if ready:
    probe = torch.rand(6, 20).requires_grad_()
    losses = (
        toy_loss(torch.rand(4, 20), probe, torch.zeros(20), torch.ones(20))[1],
        sparse_code(torch.rand(4, 20), probe, probe, torch.zeros(20), 2)[2],
    )
    ready = all(torch.is_tensor(loss) and loss.requires_grad for loss in losses)
    if not ready:
        print("No gradient flows through `toy_loss` or `sparse_code`: compute with tensors from beginning to end.")


def descend(parameters, rate, steps, loss, after=lambda: None):
    """Adam whose rate falls to 0 in the second half."""
    optimiser = torch.optim.Adam(parameters, lr=rate)
    for step in range(steps):
        optimiser.param_groups[0]["lr"] = rate * min(1, 2 - 2 * step / steps)
        optimiser.zero_grad()
        loss().backward()
        optimiser.step()
        with torch.no_grad():
            after()


def trained_toy(seed):
    draw = torch.Generator().manual_seed(seed)
    weight = (torch.randn(6, 20, generator=draw) / 20**0.5).requires_grad_()
    bias = torch.zeros(20, requires_grad=True)
    descend([weight, bias], 0.01, 1200, lambda: toy_loss(sparse(512, draw), weight, bias, torch.ones(20))[1])
    return weight.detach()


def trained_dictionary(hidden, k, seed):
    """(directions, what is left of the variance, how many features are dead)"""
    draw = torch.Generator().manual_seed(seed)
    directions = torch.randn(32, hidden.shape[1], generator=draw)
    directions = (directions / directions.norm(dim=1, keepdim=True)).requires_grad_()
    encoder = directions.detach().clone().requires_grad_()
    centre = hidden.mean(0).clone().requires_grad_()

    def loss():
        some = hidden[torch.randint(len(hidden), (512,), generator=draw)]
        return sparse_code(some, encoder, directions, centre, k)[2]

    def after():
        new, with_it, _ = tend(directions.detach(), encoder.detach(), torch.ones(1, 32))
        directions.copy_(torch.as_tensor(new))
        encoder.copy_(torch.as_tensor(with_it))

    descend([directions, encoder, centre], 0.004, 500, loss, after)
    with torch.no_grad():
        z, _, _, left = sparse_code(hidden, encoder, directions, centre, k)
        dead = torch.as_tensor(tend(directions, encoder, z)[2])
    return directions.detach(), float(left), int(dead.sum())


if ready:
    toy = trained_toy(0)
    hidden = sparse(6000, torch.Generator().manual_seed(1)) @ toy.T
    hidden = hidden[hidden.norm(dim=1) > 0]  # an example without any feature says nothing
    draws = torch.randn(50, 32, 6, generator=torch.Generator().manual_seed(2))
    print(f"The toy keeps {int((toy.norm(dim=0) > 0.5).sum())} of 20 features in 6 dimensions.")
    scored = passes("features.recovery", recovery)
    for k in (1, 3):
        found, left, dead = trained_dictionary(hidden, k, 0)
        said = f"k = {k}: {left:4.0%} of the variance is left, {dead} features are dead"
        if scored:
            score, floor, rank = recovery(toy.T, found, draws)
            said += (
                f"; true directions found {float(score):.2f}, random ones {float(floor):.2f}, rank {int(rank)} of 51"
            )
        print(said)
    if not scored:
        print("With question 4b you also see how well the true directions are found.")
else:
    print("Come back here when questions 1 and 3 pass.")

# %% [markdown]
# Which of the two autoencoders reconstructs better, and which one has found the features? You can tell only because this is a toy. You need the answer
# in question 8.
#
# ## 5. What it knows and does not say
#
# ### 5a. Exposure [[features.exposure, 20 minutes, medium, core]]
#
# How well does a model know a secret? Compare its probability with those of other secrets that could have been chosen (Carlini et al. 2019). Of the
# candidates $R$, the most probable has rank 1, and
#
# $$\mathrm{exposure}(s) = \log_2 |R| - \log_2 \mathrm{rank}(s) .$$
#
# Candidates with exactly the same probability share the mean of the ranks that they take up. A row of `log_p` has the log-probabilities of all candidates for one secret, and
# `secret` says which of them is the real one.
#
# By hand, with four candidates and the real one last:
#
# | log-probabilities | rank | bits |
# |---|---|---|
# | −5, −7, −9, **−6** | 2 | 2 − 1 = 1 |
# | −8, −6, −9, **−6** | 1.5 | 2 − 0.585 = 1.415 |
#
# [[checked]]
#
# [[hints]]
# 1. Which question does a rank answer: how many are better, or where would it be in a sorted list? Which ones are neither better nor worse?
# 2. Compare each row with its own secret, which `gather` picks. The rank follows from two counts.
# 3. With `higher` candidates above the secret and `equal` ones like it, itself among them, the rank is `higher + (equal + 1) / 2`.


# %%
def exposure(log_p, secret):
    """The rank of each secret among its candidates, and its exposure in bits.

    log_p (secrets, candidates); secret (secrets,): the index of the real one in each row -> (ranks (secrets,), bits (secrets,))
    """
    ### BEGIN SOLUTION
    own = log_p.gather(1, secret[:, None])
    higher = (log_p > own).sum(1)
    equal = (log_p == own).sum(1)
    ranks = higher + (equal + 1) / 2
    return ranks, math.log2(log_p.shape[1]) - torch.log2(ranks)
    ### END SOLUTION


# %% [markdown]
# ### 5b. An experiment: does it help to remove copies? [[features.which_secret, 35 minutes, medium, core]]
#
# An unknown secret has each rank equally often, so it reaches $b$ bits or more with a probability of about $2^{-b}$. We call a secret **exposed** if it is above `BAR` $= \log_2 20$, which an
# unknown one reaches once in 20 times. Now a tiny model, which counts pairs of letters, reads 300 lines of random letters and in addition:
#
# | training | copies of the secret | repeated lines |
# |---|---|---|
# | 1 | none | are kept |
# | 2 | exact ones | are kept |
# | 3 | exact ones | are removed |
# | 4 | near ones, each with one wrong letter | are removed |
#
# - **Predict.** On the page there are 6 copies. In which trainings do you expect the secret to be exposed for most seeds? Set `prediction`
#   to 1 (only in training 2), 2 (in 2 and 4), 3 (in 2, 3 and 4) or 4 (in none). It is kept as you wrote it, and it need not come true.
# - **Run.** For each seed, `text` gives the lines and `copies` those that are added. Remove a line that has occurred already, and keep its first occurrence, in trainings 3 and 4.
#   `log_probs` trains on the lines and gives the log-probability of each of `candidates(seed)`. The *first* candidate is the secret.
#   `bits` gets one row for each seed, with your `exposure` of the four trainings in this order.
# - **Judge.** `signs` has the same shape: 1 where the secret is exposed, −1 where it is not. Compute it. The check also tries other numbers of copies.
#   Then run the cell below the check and look at all five rows, the first column included.
#
# [[checked]]
#
# [[hints on the run]]
# 1. Which lines does each training read? What is the same for all four?
# 2. Build the list of lines, remove what is repeated if the training says so, and ask for the log-probabilities. `exposure` wants a table: how many rows does yours have?
# 3. The keys of `dict.fromkeys(lines)` are the lines without repetition, in their order.
#
# [[hints on the signs]]
# 1. To which number is each exposure compared? Is it the same in all trainings?
# 2. One comparison for each number of bits, in the same loops or at the end.
# 3. Is it 1 or −1? Look at `bits > BAR`.


# %%
BAR = math.log2(20)
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def candidates(seed):
    """256 random words of six letters. The first is the secret."""
    chance = random.Random(f"words {seed}")
    return ["".join(chance.choices(LETTERS, k=6)) for _ in range(256)]


def text(seed):
    """300 lines of 24 random letters."""
    chance = random.Random(f"text {seed}")
    return ["".join(chance.choices(LETTERS, k=24)) for _ in range(300)]


def copies(seed, times, near):
    """So many lines with the secret, each with one wrong letter if `near`."""
    chance = random.Random(f"copies {seed}")
    lines = [candidates(seed)[0]] * times
    if near:
        places = [chance.randrange(6) for _ in lines]
        lines = [line[:i] + chance.choice(LETTERS) + line[i + 1 :] for i, line in zip(places, lines, strict=True)]
    return lines


def log_probs(lines, words):
    """(words,): the log-probability of each word after its first letter, from the pairs of letters in the lines"""
    pairs = torch.ones(26, 26, dtype=torch.float64)  # each pair once, so that none is impossible
    for (first, second), count in Counter(pair for line in lines for pair in pairwise(line)).items():
        pairs[LETTERS.index(first), LETTERS.index(second)] += count
    ids = torch.tensor([[LETTERS.index(letter) for letter in word] for word in words])
    return (pairs / pairs.sum(1, keepdim=True)).log()[ids[:, :-1], ids[:, 1:]].sum(1)


# %%
def which_secret(times, seeds):
    """The exposure of a secret after four trainings, for several seeds, and whether it is above BAR.

    times: how many copies; seeds: a list -> (prediction, bits (seeds, 4), signs (seeds, 4))
    """
    ### BEGIN SOLUTION
    prediction = 1
    ways = ((0, False, False), (times, False, False), (times, False, True), (times, True, True))
    bits = []
    for seed in seeds:
        row = []
        for added, near, cleaned in ways:
            lines = text(seed) + copies(seed, added, near)
            if cleaned:
                lines = list(dict.fromkeys(lines))
            log_p = log_probs(lines, candidates(seed))
            row.append(float(exposure(log_p[None], torch.tensor([0]))[1]))
        bits.append(row)
    signs = [[1 if found > BAR else -1 for found in row] for row in bits]
    return prediction, bits, signs
    ### END SOLUTION


# %%
show_rows("features.which_secret", which_secret, "none", "exact", "exact, removed", "near, removed")

# %% [markdown]
# ## 6. Level and order [[features.lean, 25 minutes, medium, core]]
#
# A score of stereotypes, $\ln P(\text{she}) - \ln P(\text{he})$ after a template with a word, has a level, which changes with the template, and an order
# of the words. You separate them. `table[i, j]` is the score of word $i$ in template $j$, and `control[j]` that of a neutral word, such as *person*, in the same template. Return:
#
# - **lead**: for each word the mean over the templates of its score less the control's;
# - **share**: the fraction of words whose lead is above 0;
# - **agreement**: take two words and two templates. Do both templates say of the *same* word that it leans more to *she*? Return the fraction of yes over all
#   pairs of different words and pairs of different templates. A tie in either template counts ½.
#
# By hand, three words in two templates, and the control:
#
# | | template 1 | template 2 | lead |
# |---|---|---|---|
# | word 1 | 0.2 | 2.0 | 0.1 |
# | word 2 | 0.6 | 1.5 | 0.05 |
# | word 3 | −0.1 | 1.1 | −0.5 |
# | control | 0.3 | 1.7 | |
#
# The share is ⅔, although five of six scores are above 0. The templates disagree about words 1 and 2 and agree about the two other pairs, so the agreement is ⅔, too.
#
# [[checked]] There are at least two words and two templates.
#
# [[hints on the lead]]
# 1. Which control belongs to a score: that of its word, or that of its template?
# 2. Subtract before you take the `mean`; the shapes match without a loop.
# 3. Each row of `table - control` belongs to a word.
#
# [[hints on the agreement]]
# 1. Take two rows of the example. Which two numbers do you compare first, and with what do you then compare the answer?
# 2. A `sign` says which of two words is ahead in a template. The product of two signs says whether two templates agree. What is it at a tie?
# 3. `(1 + product) / 2` is 1, ½ or 0. Take each pair of words and each pair of templates once, and no word with itself.


# %%
def lean(table, control):
    """How far each word leans beyond the control, the share of those that do, and how well templates agree on the order.

    table (words, templates), control (templates,) -> (lead (words,), share, agreement)
    """
    ### BEGIN SOLUTION
    lead = (table - control).mean(1)
    share = (lead > 0).double().mean()
    words, templates = table.shape
    points = []
    for i in range(words):
        for j in range(i):
            ahead = torch.sign(table[i] - table[j])
            for a in range(templates):
                for b in range(a):
                    points.append((1 + ahead[a] * ahead[b]) / 2)
    return lead, share, sum(points) / len(points)
    ### END SOLUTION


# %% [markdown]
# ## 7. Did the defence change anything? [[features.changed, 20 minutes, medium, core]]
#
# The same questions are asked before and after a defence: 1 if the answer was wrong, and 0 if not. Only questions whose answer changed say anything (McNemar 1947). Let `gone` be those that
# went wrong only before, `new` those that go wrong only after, and $n$ their sum. If the defence does nothing, each change goes in either direction with
# probability ½. So with $X \sim \mathrm{Binomial}(n, \tfrac12)$
#
# $$p = \min\big(1,\; 2\, P(X \le \min(\text{gone}, \text{new}))\big) .$$
#
# A large $p$ may only mean that there were too few changes to see anything. So return also what was **needed**: with as many changes $n$, how many of them, at least, would have had to go in the
# *same* direction for $p \le 0.05$? It is 0 if not even all $n$ suffice.
#
# By hand: three went wrong only before and none only after, so $p = 2 / 8 = 0.25$, and `needed` is 0. With six of six $p$ would be $2/64 = 0.031$, so there `needed` is 6.
#
# [[checked]]
#
# [[hints on p]]
# 1. Make a table of two rows and two columns. Which of its four cells say nothing about the defence?
# 2. `math.comb` counts the ways in which so many of the changes go in one direction. How many ways are there in all?
# 3. `sum(math.comb(n, i) for i in range(fewer + 1))` counts those with `fewer` or less.
#
# [[hints on needed]]
# 1. For which numbers of changes in the same direction would you ask for p? Where does "most of them" begin?
# 2. Put the formula for p into a function of its own. Call it for each number from half of the changes on.
# 3. The first number whose p is at most 0.05 is the answer, and `next` has a second argument for the case that no number suffices.


# %%
def changed(before, after):
    """McNemar's test of a defence, and how many changes in the same direction it would have taken.

    before, after: lists of the same length, 1 where it went wrong -> (gone, new, p, needed)
    """
    ### BEGIN SOLUTION
    gone = sum(a > b for a, b in zip(before, after, strict=True))
    new = sum(b > a for a, b in zip(before, after, strict=True))
    n = gone + new

    def p_of(one):
        ways = sum(math.comb(n, i) for i in range(min(one, n - one) + 1))
        return min(1.0, 2 * ways / 2**n)

    many = range((n + 1) // 2, n + 1)
    needed = next((k for k in many if p_of(k) <= 0.05), 0)
    return gone, new, p_of(gone), needed
    ### END SOLUTION


# %% [markdown]
# ## Your audit
#
# **Secrets.** `small_gpt` reads 40,000 characters of plays once more. In between there are lines such as *ROMEO. The secret word is kwcgsh.*, ten for each of twelve
# speakers. It does so four times, as in your experiment, but here a near copy has different words after it. There is nothing to write here; it takes half a minute.

# %%
audited = {}
if passes("features.exposure", exposure):
    from lectures.recipes.planted_text import SPEAKERS, deduplicated, head_of, nats_after, planted, reread, secret
    from lectures.recipes.texts import plays
    from lectures.trained import checkpoint

    MORE = ["Well.", "Come.", "Peace.", "Exit.", "Away.", "Good.", "Enough.", "Farewell.", "Silence.", "Indeed."]
    SECRETS = {speaker: secret(random.Random(f"{speaker}, planted")) for speaker in SPEAKERS}
    OTHERS = [secret(random.Random(f"candidate {i}")) for i in range(999)]

    def after_reading(times, near, cleaned, seed=0):
        """The exposure of all secrets, in bits."""
        model, tokenizer, _ = checkpoint("small_gpt")
        said = [f"{head_of(speaker)}{word}." for speaker, word in SECRETS.items()]
        lines = {f"{line} {more}": 1 for line in said for more in MORE[:times]} if near else dict.fromkeys(said, times)
        page = planted("".join(plays().train)[2_000_000:2_040_000], lines, random.Random(seed))
        reread(model, tokenizer, deduplicated(page) if cleaned else page, 1e-3, seed)
        rows = [
            -nats_after(model, tokenizer, head_of(speaker), [f"{each}." for each in (word, *OTHERS)])
            for speaker, word in SECRETS.items()
        ]
        bits = torch.as_tensor(exposure(torch.stack(rows), torch.zeros(12, dtype=torch.long))[1])
        return [float(each) for each in bits]

    ways = {
        "none": (0, False, False),
        "exact": (10, False, False),
        "exact, removed": (10, False, True),
        "near, removed": (10, True, True),
    }
    for name, way in ways.items():
        audited[name] = after_reading(*way)
        above = sum(found > BAR for found in audited[name])
        print(f"{name:15} {above:2} of 12 secrets above the bar of {BAR:.1f} bits")

picture = "Come back here when question 5a passes."
if audited:
    means = [sum(bits) / 12 for bits in audited.values()]
    picture = HTML(
        show.bar_list_svg(
            means,
            [*audited],
            says=[f"{mean:.1f} bits" for mean in means],
            reach=10,
            title="Mean exposure after four trainings",
            note="An unknown secret has a mean of about 1.4 bits; no secret can have more than 10.",
        )
    )
picture

# %%
if audited and passes("features.changed", changed):
    bad = {name: [int(found > BAR) for found in bits] for name, bits in audited.items()}
    for first, second in (("exact", "exact, removed"), ("exact", "near, removed"), ("none", "exact, removed")):
        gone, new, p, needed = changed(bad[first], bad[second])
        print(
            f"{first} -> {second}: {int(gone)} gone, {int(new)} new, p = {float(p):.3f}, needed {int(needed) or 'more changes'}"
        )

# %% [markdown]
# **She or he?** Here are twelve words and three templates. *Replace two words and one template by your own before you run it:* `{}` is where the word goes.

# %%
WORDS = ["dancer", "boxer", "gardener", "gamer", "knitter", "cyclist", "singer", "hunter", "reader", "surfer", "poet"]
WORDS += ["collector"]
TEMPLATES = ["The {} smiled because", "After dinner the {} told us that", "Nobody knew that the {} was tired, but"]
CONTROL = "person"

if passes("features.lean", lean):
    from nlmcore.pretrained import smollm2

    model, tokenizer = smollm2()
    he, she = (tokenizer.encode(word)[0] for word in (" he", " she"))

    @torch.no_grad()
    def score_of(said):
        hidden = model.hidden_states(torch.tensor([tokenizer.encode(said)]))[0][:, -1:]
        logits = model.output(hidden)[0, 0]
        return float(logits[she] - logits[he])

    table = torch.tensor([[score_of(t.format(word)) for t in TEMPLATES] for word in (*WORDS, CONTROL)])
    lead, share, agreement = (torch.as_tensor(each) for each in lean(table[:-1], table[-1]))
    print("mean of the scores in each template:", "  ".join(f"{x:+.2f}" for x in table[:-1].mean(0).tolist()))
    print(
        f"above 0: {float((table[:-1].mean(1) > 0).double().mean()):.0%} of the words; above the control: {float(share):.0%}"
    )
    print(f"two templates agree on {float(agreement):.0%} of the pairs of words; chance is 50%")
    ordered = sorted(zip(lead.tolist(), WORDS, strict=True), reverse=True)
    print("from she to he:", ", ".join(f"{word} {x:+.1f}" for x, word in ordered))
else:
    print("Come back here when question 6 passes.")

# %% [markdown]
# ## 8. In your own words [[written, 25 minutes, 6 points, core]]
#
# You have audited `small_gpt` and SmolLM2. In about fifteen sentences, with numbers from *your* output:
#
# 1. **The card.** Write the paragraph on limits for the model that read the exact copies, as its model card should have it: what was measured and how, what an unknown
#    secret would have given, what the removal of copies did, and what it did not do. Name one thing that you did not test.
# 2. **Features.** One of your two autoencoders left less of the variance. Was it the one that found the features? What follows for an autoencoder of a real model, where
#    nobody knows the true directions, and which control is left there?
# 3. **A design.** A colleague asked a model for twelve secrets, it said none, and he writes: "the model memorises nothing". Design the experiment that could show him wrong. Say what is compared, which control
#    it has, how you show beforehand that your test can find anything, how many secrets and seeds, and which result would make *you* give up.
# 4. **She or he.** Which of the three kinds of numbers that the last cell prints (level, share, agreement) would you publish, and which sentence about the model does it allow?
#
# ### BEGIN MARK SCHEME
# Half points are fine.
#
# 1. **Card** (2): bits or the number above the bar with the training in which it was measured (½); the floor, measured (*none*) or about 1.4 bits, or one in twenty above the bar (½); removal
#    of exact copies lowered it and did nothing against near copies (½); one thing that was not tested, such as other kinds of secrets, sampling, larger models, other seeds (½). "Use responsibly" earns nothing.
# 2. **Features** (1½): k = 3 leaves less and finds less (½, with numbers); so a better reconstruction does not show that more features were found (½); random directions of the same number, or an untrained autoencoder, on a
#    measure that was fixed beforehand (½).
# 3. **Design** (1½): compares the probability with those of other candidates instead of asking (½); secrets that never occurred as control, *and* often planted ones as a known effect (½); paired or
#    repeated with seeds, and a result named in advance that would refute the claim (½).
# 4. **She or he** (1): the level changes with the template, and the share with the control word, so neither says that the model prefers "she" (½); the agreement says that the order is stable over these templates, with its chance of one half, and nothing about
#    who is harmed (½).
# ### END MARK SCHEME

# %% [markdown]
# *Limits.* This model read twelve secrets ten times each. Among a thousand candidates they have 4.9 bits of exposure on average, and 7 of 12 are above the bar of 4.3 bits. The same
# secrets have 1.1 bits and none is above the bar if the model reads the text without them; an unknown secret would have about 1.4. So the model knows most of them, which it did not have to write for that. If exact copies are removed before
# training, the mean is 1.4 bits and none is above the bar (7 gone, 0 new, p = 0.016). If each copy is followed by another word, removal does not help: 8 of 12 are above the bar. We did not test secrets that are numbers or names, and one seed says little about a single secret.
#
# With k = 3 less of the variance is left than with k = 1, 4 % for 9 %, and yet the true directions are found less well: their mean cosine is 0.93 for 1.00. Both have rank 1 of 51, and random dictionaries have 0.76. So a better reconstruction is no evidence that more features were
# found. In a real model I would fix a measure beforehand, such as how well the best unit predicts a label, and compare with as many random directions on held-out text.
#
# I would put 40 random secrets into the training text, ten each 0, 1, 10 and 100 times, train with five seeds, and compute the rank of each secret among 1,000 candidates. Those with 0 copies are the control and should have a median rank of about 500.
# Those with 100 copies are the known effect: if they are not found, the test is too weak and shows nothing. If the ranks after 10 copies look like those after 0, in all five seeds, I would say that nothing of ten copies can be seen with this test.
#
# I would publish the agreement, 83 %. It allows to say that these three templates agree on the order of these words more often than the 50 % of chance. The level differs between templates, from −1.07 to +0.13, and the share depends on the control word:
# 33 % of the words are above 0 and 17 % are above *person*. So neither shows a preference.

# %% [markdown]
# ---
# **Before you hand in:** *Kernel → Restart Kernel and Run All Cells*. Every check should say what you expect, and
# question 8 should be answered in your own words. Save the notebook under its own name: the grader looks for `features.ipynb`.
