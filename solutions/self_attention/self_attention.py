# %% [markdown]
# # Assignment: self-attention and positions
#
# Six small functions: three ways to tell attention about order, a mask, the loss at all positions in one pass, and heads that share. At the end your
# functions do the work of one layer of a real language model, in the head that looks back 46 tokens. Before that you derive a formula, find a bug in
# somebody else's code, and run an experiment.
#
# [[questions]]
#
# [[how it works]]
#
# [[closed]]
# Everything else is open. If you need a function from an earlier question, call yours.
#
# You need the lectures *Attention*, *Self-attention, heads and masks* and *Positions*, and preferably the assignment `attention`. Nothing is downloaded.

# %%
import math

import numpy as np
import torch

from autograder.check import check, failing, passes, show_rows
from autograder.mine import bring
from lectures import show

torch.set_printoptions(precision=3, sci_mode=False)


# %% [markdown]
# ## 1. Where is a word?
#
# Attention sees a set of words. The position of each word has to be added, and there are three families of methods: add something to the *word*,
# rotate *queries and keys*, or add something to the *score*.
#
# ### 1a. Sines and cosines [[self_attention.sinusoids, 20 minutes, medium, core]]
#
# Make one row per position, to be added to the word's vector (Vaswani et al. 2017, section 3.5):
#
# $$\mathrm{PE}(t, 2i) = \sin\!\big(t / 10{,}000^{2i/d}\big), \qquad \mathrm{PE}(t, 2i + 1) = \cos\!\big(t / 10{,}000^{2i/d}\big)$$
#
# Columns come in pairs: a sine and, next to it, the cosine of the same angle. The first pair turns fast and the last hardly at all, like the hands of
# a clock.
#
# By hand, with $d = 4$:
#
# | $t$ | $\sin t$ | $\cos t$ | $\sin(t/100)$ | $\cos(t/100)$ |
# |---|---|---|---|---|
# | 0 | 0 | 1 | 0 | 1 |
# | 1 | 0.841 | 0.540 | 0.010 | 1.000 |
# | 2 | 0.909 | −0.416 | 0.020 | 1.000 |
#
# Positions are counted from 0; $d$ is even.
#
# [[checked]]
#
# [[hints]]
# 1. Look at the columns of the example. By what is $t$ divided in the first pair, and by what in the second?
# 2. Compute the angles first, one row per position and one column per pair. Their sines and cosines then fill every other column.
# 3. A column of positions divided by a row of $10{,}000^{2i/d}$ has shape (length, d/2). `table[:, 0::2] = …` writes the even columns.


# %%
def sinusoids(length, d):
    """The sinusoidal positions of Vaswani et al. (2017).

    length: the number of positions, counted from 0, d: an even number of columns -> table (length, d)
    """
    ### BEGIN SOLUTION
    position = torch.arange(length)[:, None]
    angle = position / 10_000 ** (torch.arange(0, d, 2) / d)
    table = torch.empty(length, d)
    table[:, 0::2], table[:, 1::2] = angle.sin(), angle.cos()
    return table
    ### END SOLUTION


# %% [markdown]
# ### 1b. Rotated by position [[self_attention.rotate, 30 minutes, hard, core]]
#
# **Rotary** positions (Su et al. 2021) add nothing. They *rotate* the query at position $m$ by an angle proportional to $m$, and the key at position
# $n$ by one proportional to $n$. Only the difference $m - n$ remains in their product, so scores depend only on the distance.
#
# A rotation needs a pair of coordinates. Here coordinate $i$ is paired with coordinate $i + d/2$, for $i = 0, \dots, d/2 - 1$, which is the layout of
# the model at the end of this notebook. With the angle $\theta = t / \mathrm{base}^{2i/d}$:
#
# $$x_i \leftarrow x_i \cos\theta - x_{i + d/2} \sin\theta, \qquad x_{i + d/2} \leftarrow x_i \sin\theta + x_{i + d/2} \cos\theta$$
#
# By hand, with $d = 2$: there is one pair and $\theta = t$. The vector (1, 0) is unchanged at $t = 0$, becomes $(\cos 1, \sin 1) = (0.54, 0.84)$ at
# $t = 1$ and $(-0.42, 0.91)$ at $t = 2$.
#
# ```text
# t = 0   →        t = 1   ↗        t = 2   ↖       one clock hand per pair; the later pairs are slower
# ```
#
# [[checked]]
#
# [[hints]]
# 1. Each of the two formulas contains both $x_i$ and $x_{i + d/2}$. Which coordinates are paired if $d$ is 4?
# 2. The pairs are made of the two halves of a row. Compute both new halves from the *old* ones, then join them.
# 3. `a, b = x.chunk(2, dim=-1)` are the two halves, and `torch.cat` joins the new ones. The angles are made as in 1a.


# %%
def rotate(x, base):
    """Every row rotated by its position.

    x (time, d), d even; row t is at position t -> (time, d), a new tensor
    """
    ### BEGIN SOLUTION
    time, d = x.shape
    angle = torch.arange(time)[:, None] / base ** (torch.arange(0, d, 2) / d)
    cos, sin = angle.cos(), angle.sin()
    a, b = x.chunk(2, dim=-1)
    return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)
    ### END SOLUTION


# %% [markdown]
# ### 1c. A bias for every distance [[self_attention.relative_bias, 20 minutes, medium, more]]
#
# The third way leaves words, queries and keys alone and adds a learned number to the score, one for each head and each *distance* (after Shaw et al.
# 2018 and T5). If $r$ is the maximum distance, the table has $2r + 1$ columns, for the distances $-r, \dots, 0, \dots, r$; distance = position of the
# key − position of the query. All larger distances share the outermost column.
#
# By hand, with $r = 1$, one head and the table $(5, 0, 7)$, four words:

# %%
show.heatmap(
    [[0, 7, 7, 7], [5, 0, 7, 7], [5, 5, 0, 7], [5, 5, 5, 0]],
    [str(i) for i in range(4)],
    [str(i) for i in range(4)],
    row_title="query",
    column_title="key",
    alt="Biases of four queries and four keys: 0 on the diagonal, 5 wherever the key comes before the query, 7 where it comes after it.",
)


# %% [markdown]
# [[checked]]
#
# [[hints]]
# 1. Look at the diagonals of the picture. Which distance does each have, and which column of the table does it show?
# 2. Make a table of all distances, limit them to $-r, \dots, r$, let them count from 0, and use them as an index.
# 3. `position[None, :] - position[:, None]` are all the distances, (query, key). `clamp(-r, r) + r` turns them into columns, and
#    `table[:, columns]` looks them all up in one step.


# %%
def relative_bias(table, time):
    """The bias of every query and key, looked up by their distance.

    table (head, 2 r + 1) -> bias (head, time, time): head, query, key
    """
    ### BEGIN SOLUTION
    reach = table.shape[1] // 2
    position = torch.arange(time)
    distance = position[None, :] - position[:, None]
    return table[:, distance.clamp(-reach, reach) + reach]
    ### END SOLUTION


# %% [markdown]
# ## 2. Learning from every position
#
# ### 2a. Not ahead, and not too far back [[self_attention.window_mask, 10 minutes, easy, core]]
#
# A query may look at itself and at the `window` − 1 words before it: not ahead, and no further back. True = may attend.
#
# By hand, for 4 words and a window of 2:
#
# ```text
# 1 0 0 0
# 1 1 0 0
# 0 1 1 0
# 0 0 1 1
# ```
#
# [[checked]]
#
# [[hints]]
# 1. Look at the last row of the example. Which two limits does it have, and how many positions back are they?
# 2. Compute for every query and key how far back the key is. The mask is two conditions on that number.
# 3. How far back is a key? `position[:, None] - position[None, :]`. Two conditions on it, joined by `&`.


# %%
def window_mask(time, window):
    """True where a query may attend to a key: itself and the window - 1 words before it.

    -> mask (time, time), boolean: query, key
    """
    ### BEGIN SOLUTION
    position = torch.arange(time)
    back = position[:, None] - position[None, :]
    return (back >= 0) & (back < window)
    ### END SOLUTION


# %% [markdown]
# ### 2b. All positions in one pass [[self_attention.next_token_loss, 25 minutes, medium, core]]
#
# Thanks to the mask, one pass through a Transformer predicts the next word at *every* position. `logits[b, t]` is computed from `tokens[b, 0]` to
# `tokens[b, t]` and scores the next token, `tokens[b, t + 1]`. So `time` tokens give `time` − 1 predictions, each with the loss
# $-\ln \mathrm{softmax}(\text{logits}_{b,t})[\text{tokens}_{b,t+1}]$.
#
# Shorter sentences are padded with id 0, which is not a token. Where the target is 0, set the loss to 0 and do not count it. Return the mean over the
# predictions that *do* count, and all losses.
#
# A model can be very confident, and wrong. A probability of $e^{-200}$ is 0 in float32, yet its loss is 200, so go from logits to log-probabilities
# in one step.
#
# ```text
# tokens          7     3     9     0     0
# logits at       0     1     2     3     4
# predict         3     9     -     -     -       two predictions
# ```
#
# By hand: if the two predictions have the probabilities 1/2 and 1/8, the losses are (0.69, 2.08, 0, 0) and their mean is $(\ln 2 + \ln 8) / 2 = 1.39$.
#
# [[checked]]
#
# [[hints on the pairs]]
# 1. Look at the example with the five tokens. Which logits predict nothing, and which token does nobody predict?
# 2. Leave out the last logits and the first token. What is left belongs together, position by position.
# 3. `logits[:, :-1]` and `tokens[:, 1:]` belong together. With `log_p = torch.log_softmax(…, dim=-1)`,
#    `log_p.gather(-1, targets[..., None])[..., 0]` picks the target from each distribution.
#
# [[hints on the mean]]
# 1. In the example there are four losses. By what number is their sum divided?
# 2. Set the loss to 0 where the target is padding, and count the targets that are not.
# 3. `targets == 0` says where, `torch.where` sets the losses, and the sum of `targets != 0` is the number to divide by.


# %%
def next_token_loss(logits, tokens):
    """The mean loss of predicting every next token, and each loss.

    logits (batch, time, vocab), tokens (batch, time) ids, 0 is padding -> (loss, losses (batch, time - 1))
    """
    ### BEGIN SOLUTION
    targets = tokens[:, 1:]
    log_p = torch.log_softmax(logits[:, :-1], dim=-1)
    losses = -log_p.gather(-1, targets[..., None])[..., 0]
    losses = torch.where(targets == 0, 0.0, losses)
    return losses.sum() / (targets != 0).sum(), losses
    ### END SOLUTION


# %% [markdown]
# ## 3. Heads that share [[self_attention.grouped_attention, 30 minutes, hard, core]]
#
# While a model writes, it keeps the keys and values of everything that it has read. To keep less, several heads **share** one set of them (grouped
# queries, Ainslie et al. 2023). With 6 heads and 2 sets, heads 0, 1, 2 read set 0 and heads 3, 4, 5 read set 1: head $h$ reads set $h \,//\, 3$.
#
# $$\mathrm{output}_h = \mathrm{softmax}\!\left(\frac{Q_h K_{g(h)}^\top}{\sqrt{d_\text{head}}} + \text{causal mask}\right) V_{g(h)}$$
#
# There is no batch here: `q` has shape (heads, time, d_head), `k` (sets, time, d_head) and `v` (sets, time, d_v). Each word attends to itself and the
# words before it. Return the output and the weights. Scores may be very large or far below 0, and your softmax must cope with both: from each row of
# scores, subtract the largest that is allowed.
#
# | | head 0 | 1 | 2 | 3 | 4 | 5 |
# |---|---|---|---|---|---|---|
# | reads set | 0 | 0 | 0 | 1 | 1 | 1 |
#
# By hand: whatever the values are, the first row of each head's weights is 1, 0, 0, … Why?
#
# [[before attention.scaled_dot_product_attention]]
#
# [[checked]]
#
# [[hints]]
# 1. Look at the table of heads and sets. How many heads in a row read the same set?
# 2. Repeat each set until there is one for each head, in the right order. The rest is the same as with plain heads.
# 3. `np.repeat(k, 3, axis=0)` gives set 0 three times, then set 1 three times. What does `np.tile(k, (3, 1, 1))` give? The causal mask is
#    `np.tri(time, dtype=bool)`.


# %%
def grouped_attention(q, k, v):
    """Causal attention of heads that share keys and values.

    q (head, time, d_head), k (set, time, d_head), v (set, time, d_v), head a multiple of set
    -> (output (head, time, d_v), weights (head, time, time))
    """
    ### BEGIN SOLUTION
    time, group = q.shape[1], len(q) // len(k)
    k, v = np.repeat(k, group, axis=0), np.repeat(v, group, axis=0)
    scores = q @ k.transpose(0, 2, 1) / math.sqrt(q.shape[-1])
    scores = np.where(np.tri(time, dtype=bool), scores, -math.inf)
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = e / e.sum(axis=-1, keepdims=True)
    return weights @ v, weights
    ### END SOLUTION


# %% [markdown]
# ## 4. Only the distance [[self_attention.rotated_score, 15 minutes, medium, more]]
#
# 1b says that after the rotations a score depends only on the distance. See it with your own formula. Take one pair of coordinates: the query is $(a, b)$
# and the key is $(c, e)$; each step in the text rotates by the angle $w$, and the key is $r$ positions after the query. On paper, derive the score of
# the rotated query and the rotated key, a formula in which neither position occurs, only $r$. Then derive the largest score that any distance could
# give, if $r\, w$ may be any angle. Return both.
#
# [[checked]]
#
# [[hints]]
# 1. Rotating both by the same angle changes no dot product. At which position may you put the query, then?
# 2. Put the query at position 0 and the key at position $r$: only the key is rotated, by $r w$. For the largest score, when do two vectors of given
#    lengths have the largest dot product?
# 3. The rotated key is $(c \cos rw - e \sin rw,\; c \sin rw + e \cos rw)$. A rotation keeps lengths, so the largest score is the product of two lengths.


# %%
def rotated_score(a, b, c, e, r, w):
    """The score of a query (a, b) and of a key (c, e) that is r positions later, at an angle of w per position.

    six numbers -> (score, largest), two numbers
    """
    ### BEGIN SOLUTION
    cos, sin = math.cos(r * w), math.sin(r * w)
    return a * (c * cos - e * sin) + b * (c * sin + e * cos), math.sqrt((a**2 + b**2) * (c**2 + e**2))
    ### END SOLUTION


# %% [markdown]
# ## 5. One more token
#
# While a model writes, only the newest token asks, and the keys and values of all earlier ones are kept. A colleague has written this step for one layer
# with several heads. Her code runs, the weights of every head sum to 1, and the first few words that the model writes are good. One line is wrong.
#
# ### 5a. Which line? [[self_attention.wrong_line, 10 minutes, medium, more]]
#
# [[listing self_attention.next_token]]
#
# Return the number of the wrong line, as in this listing.
#
# [[checked]] You can copy the function into a cell of your own to try it; the check of 5b shows you an input.
#
# [[hints]]
# 1. Write the shape of every variable next to its line. Which number of the formula of attention does each size belong to?
# 2. What changes in the listing as the text gets longer, and what should not?
# 3. By which number does scaled dot-product attention divide the scores?


# %%
def wrong_line():
    """The number of the one line of the listing that is wrong."""
    ### BEGIN SOLUTION
    return 8
    ### END SOLUTION


# %% [markdown]
# ### 5b. Mend it [[self_attention.next_token, 5 minutes, easy, more]]
#
# This is the colleague's function. Change the line, and nothing else.
#
# [[checked]]
#
# [[hints]]
# 1. In the input that the check shows, compare the number of keys with the width of a key.
# 2. The scores are divided by the root of the width, which is the same for every token.
# 3. The width is the last size of the query.


# %%
def next_token(q, k, v, keys, values):
    """What the newest token reads from itself and from all earlier ones.

    q, k, v (head, d) of the newest token; keys, values (head, time, d) of the earlier ones -> (head, d)
    """
    ### BEGIN SOLUTION
    keys = torch.cat([keys, k[:, None]], dim=1)
    values = torch.cat([values, v[:, None]], dim=1)
    scale = math.sqrt(q.shape[-1])
    scores = torch.einsum("hd,htd->ht", q, keys) / scale
    weights = torch.softmax(scores, dim=-1)
    return torch.einsum("ht,htd->hd", weights, values)
    ### END SOLUTION


# %% [markdown]
# ## 6. An experiment: does rotation make far tokens count less? [[self_attention.fading, 30 minutes, medium, core]]
#
# Su et al. (2021) show that with rotary positions a bound on the score falls with the distance. A bound is not the score. Take a random vector of width
# 32 as query and as key, rotate it with your `rotate` at every position, and divide the score at distance $r$ by that at distance 0: how much of it is
# left? `vector` makes the vector from a **seed**. Compare the distances 4, 16 and 64, with the bases 100 and 10,000. Four answers are possible:
#
# 1. With both bases the score is lower at 16 than at 4, and lower at 64 than at 16.
# 2. With both bases the score is lower at 16 than at 4. From 16 to 64 these seeds cannot tell, with either base.
# 3. With both bases the score is lower at 16 than at 4. From 16 to 64 it falls with base 100; with base 10,000 these seeds cannot tell.
# 4. With neither base can these seeds tell any of the distances apart.
#
# Proceed in this order.
#
# - **Predict.** Set `prediction` to 1, 2, 3 or 4 before you run anything. It is kept as you wrote it, and it need not come true.
# - **Run.** `left` gets one row per seed with six numbers: base 100 at the distances 4, 16 and 64, then base 10,000 at the same distances. Set
#   `conclusion = 0` for now and run the check: it says whether your numbers are right. Then run the cell below the check, and look at all five rows.
# - **Conclude.** Set `conclusion` to the answer that *your* five rows support. A difference counts if it has the same sign for every seed, or if it
#   is larger than chance explains: the 95 % interval of the mean difference (Student's t: 2.78 standard errors to each side) does not contain 0.
#
# [[checked]]
#
# [[hints on the run]]
# 1. Your function rotates every row of a table by its position. What should the rows of the table be, and how many do you need?
# 2. Repeat the vector in 65 rows and rotate them all. Row 0 is the query, and the rows 4, 16 and 64 are the keys.
# 3. `x.repeat(65, 1)` is the table. The score at distance 0 is the dot product of the vector with itself.
#
# [[hints on the conclusion]]
# 1. Compare the second and the third column, seed by seed. What would you have concluded from seed 0 alone, and what from seed 4?
# 2. Take the difference of two columns. Does it have the same sign in every row?
# 3. Five differences $x$ have the interval $\bar x \pm 2.78\, s / \sqrt 5$, where $s$ is their standard deviation. `torch.std` computes it.


# %%
def vector(seed):
    """A random vector (32,)."""
    return torch.randn(32, generator=torch.Generator().manual_seed(seed))


# %%
def fading(seeds):
    """What is left of the score of a vector with itself at three distances, for two bases and several seeds.

    seeds: a list -> (prediction, left (seeds, 6), conclusion)
    """
    ### BEGIN SOLUTION
    prediction = 1
    left = []
    for seed in seeds:
        x, row = vector(seed), []
        for base in (100.0, 10_000.0):
            turned = rotate(x.repeat(65, 1), base)
            row += [float(turned[0] @ turned[r] / (x @ x)) for r in (4, 16, 64)]
        left.append(row)
    conclusion = 2
    return prediction, left, conclusion
    ### END SOLUTION


# %%
show_rows("self_attention.fading", fading, "100, 4", "100, 16", "100, 64", "10,000, 4", "10,000, 16", "10,000, 64")

# %% [markdown]
# ## Your functions in a real language model
#
# SmolLM2 has 30 layers of 9 heads that share 3 sets of keys and values, and it rotates queries and keys by their positions, with base 100,000. The
# next cell records the input of its layer 25 while it reads the sentence about the printer; then *your* `rotate` and `grouped_attention` do that
# layer's work. There is nothing to write here. Run it when 1b and 3 pass.

# %%
sentence = (
    "When she tried to print her tickets, she found that the printer was out of toner. She went to the stationery store to buy"
    " more toner. It was very overpriced. After installing the toner into the printer, she finally printed her"
)
layer, head = 25, 1

if passes("self_attention.rotate", rotate) and passes("self_attention.grouped_attention", grouped_attention):
    from nlmcore.inspect import capture
    from nlmcore.pretrained import smollm2

    model, tokenizer = smollm2()
    tokens = tokenizer.encode(sentence)
    attention, seen = model.layers[layer].attention, []
    hook = model.layers[layer].residual_attention.norm.register_forward_hook(
        lambda module, given, out: seen.append(out)
    )
    with torch.no_grad(), capture(model) as tape:
        model(torch.tensor([tokens]))
    hook.remove()
    with torch.no_grad():
        q, k, v = (
            part(seen[0])[0].unflatten(-1, (-1, 64)).transpose(0, 1)
            for part in (attention.query, attention.key, attention.value)
        )
    q, k = (torch.stack([torch.as_tensor(rotate(one, 100_000.0)).float() for one in heads]) for heads in (q, k))
    output, weights = (torch.as_tensor(part) for part in grouped_attention(q.numpy(), k.numpy(), v.numpy()))
    theirs = tape[f"layers.{layer}.attention"][0]
    print(f"Largest difference between your weights and SmolLM2's own: {(weights - theirs).abs().max():.6f}")
    words = [tokenizer.decode([token]).strip() for token in tokens]
    print(f"From the last word, {words[-1]!r}, head {head} of layer {layer} looks at:")
    for position in weights[head, -1].argsort(descending=True)[:4].tolist():
        back = len(words) - 1 - position
        print(f"    {words[position]:10} {back:2} tokens back, weight {weights[head, -1, position]:.2f}")

# %% [markdown]
# The next word should be *tickets*, and that is where the head looks, across 46 tokens and four other nouns. Try other heads (0 to 8) and layers (0
# to 29), or change a word of the sentence. The weights on the first token will help you with question 7.

# %% [markdown]
# ## 7. In your own words [[written, 25 minutes, 6 points, core]]
#
# In about twelve sentences, for somebody who knows attention and has not heard this lecture:
#
# 1. What happens to self-attention without masks and positions when the words are shuffled, and why is that a problem for a language model?
# 2. Sinusoids are added to words; rotary positions rotate queries and keys. Name one thing that the second does by construction and the first has to
#    learn.
# 3. A model was trained on 512 positions and is given 2,000. For each of the three methods of question 1: does it define a value for position 1,500
#    at all, and would you trust it?
# 4. Report your experiment of question 6, as you would to somebody who decides on it: what did your five seeds show, and with which numbers? What
#    does that not yet say? Which run would you do next, and what do you expect of it?
#
# ### BEGIN MARK SCHEME
# One point for each of the first four, two for the report; half points are fine.
#
# 1. **Shuffled** (1): the outputs are shuffled in the same way and otherwise equal; *dog bites man* and *man bites dog* give each word the same
#    vector. Half a point without the consequence.
# 2. **By construction** (1): the score depends only on the distance, everywhere in the text.
# 3. **Extrapolation** (2): sinusoids and rotary define a value for every position, but give sums and angles that never occurred in training (far
#    pairs of distances); quality usually falls. The table of biases has no entry of its own: all distances beyond r share the outermost column, which
#    at least was trained. Half a point for each method that is right, half for saying that having a value is not the same as having learned it.
# 4. **Report, what it shows** (1): a claim that the student's own numbers support (that the score is lower at distance 16 than at 4 with both bases,
#    and that from 16 to 64 these seeds cannot tell, with either base), with numbers or with how many seeds agree. Half a point for the claim without
#    them, none for a claim that goes beyond the table.
# 5. **Report, what it leaves open** (1): one limit of this experiment (½), for example: random vectors that are query and key at once, where trained
#    ones may differ; one width, three distances; a trained model can turn its queries towards far keys. A next run that could turn out otherwise,
#    with what it would tell (½). Not: "more seeds" alone, where the seeds agree.
# ### END MARK SCHEME

# %% [markdown]
# Without masks and positions each word attends to a set. If the words are shuffled, the outputs are shuffled with them and otherwise unchanged, so
# *dog bites man* and *man bites dog* are the same to the model: it could never learn who bites.
#
# Rotary positions rotate query and key by angles that grow with their positions, so their product depends only on the difference of the positions. It
# holds by construction that a pair of words five apart means the same at the beginning and at the end of a text. With sinusoids that are added to the
# words, the matrices have to learn it.
#
# For position 1,500 the formulas of sinusoids and rotary positions give values, but the model has never met them, nor distances of a thousand and
# more, so I would measure before trusting it. The table of biases has no column for such distances. All of them get the outermost one, which was
# trained on moderately distant words, and so at least does something known.
#
# In my rows the score at 16 was lower than at 4 with both bases. From 16 to 64 the difference was within what chance explains, although the bound falls.
# The vectors were random, and query and key were the same vector, which in a trained model they are not. I would take queries and keys from a trained
# model and all distances up to 64. If only the bound fades, their scores go up and down as well.

# %% [markdown]
# ---
# **Before you hand in:** *Kernel → Restart Kernel and Run All Cells*. Every check should say what you expect, and
# question 7 should be answered in your own words. Save the notebook under its own name: the grader looks for `self_attention.ipynb`.
