# %% [markdown]
# # Assignment: word vectors
#
# Seven small functions: which pairs of words skip-gram learns from, its loss, its gradients by hand, and two questions to ask of the vectors. At the
# end your gradients learn vectors from Shakespeare, and you try your analogies on the 30,522 vectors of a real network. In between you derive a formula,
# find a bug in somebody else's code, and run an experiment.
#
# [[questions]]
#
# [[how it works]]
#
# [[closed]]
# Everything else is open. If you need a function from an earlier question, call yours.
#
# You need the second half of the lecture *Tokens and word vectors*. Nothing is downloaded.

# %%
import math
import re
from collections import Counter

import numpy as np
import torch

from autograder.check import check, failing, passes, show_rows
from lectures import show

torch.set_printoptions(precision=3, sci_mode=False)

# %% [markdown]
# ## 1. What to learn from
#
# *You shall know a word by the company it keeps* (Firth 1957). Skip-gram (Mikolov et al. 2013) takes this literally: from a word, the *centre*, it
# predicts each nearby word, its *context*.
#
# ### 1a. Pairs of neighbours [[vectors.window_pairs, 15 minutes, easy, core]]
#
# Pair every word of a text with each word at most $m$ positions to its left or right. The window has $2m$ words, fewer at the ends of the text.
# Return a list of pairs [centre, context], in any order. A word is not paired with itself at its own position, but the *same word* at another
# position is a context like any other.
#
# The picture shows which positions are paired in a text of six words with $m = 2$.

# %%
positions = torch.arange(6)
apart = (positions[:, None] - positions[None, :]).abs()
show.heatmap(
    ((apart > 0) & (apart <= 2)).float(),
    [str(i) for i in range(6)],
    [str(i) for i in range(6)],
    row_title="position of the centre",
    column_title="position of the context",
    alt="Six positions. Each centre is paired with up to two positions before it and two after it, and not with itself: 18 pairs.",
)


# %% [markdown]
# By hand, with $m = 1$: the text [5, 8, 5] gives [5, 8], [8, 5], [8, 5], [5, 8].
#
# [[checked]]
#
# [[hints]]
# 1. Look at the first row, the last row and the diagonal of the picture.
# 2. Use two loops over *positions*, one for the centre and one for its context. Leave out an equal position, not an equal word.
# 3. Let `j` run from `i - m` to `i + m`, both included. In Python `words[-1]` is the last word, so take care at the start of the text.


# %%
def window_pairs(words, m):
    """All pairs of a centre and a word at most m positions away.

    words: a list of ids -> a list of [centre, context]
    """
    ### BEGIN SOLUTION
    pairs = []
    for i in range(len(words)):
        for j in range(max(0, i - m), min(len(words), i + m + 1)):
            if j != i:
                pairs.append([words[i], words[j]])
    return pairs
    ### END SOLUTION


# %% [markdown]
# ### 1b. Sampling the noise [[vectors.noise, 10 minutes, easy, core]]
#
# If it learned only from neighbours, the best vectors would all be alike. So for each pair we sample some words at random, the *noise* or negative
# samples, and the model must say that they are *not* neighbours. We sample them in proportion to their counts to the power 3/4:
#
# $$P(w) = \frac{c_w^{\,\alpha}}{\sum_v c_v^{\,\alpha}}, \qquad \alpha = 0.75$$
#
# By hand: the counts $(16, 1)$ are the fractions $(0.94, 0.06)$ of the text. With $\alpha = 0.75$ they count as $(8, 1)$, so the probabilities are
# $(0.89, 0.11)$. Rare words are sampled more often than they occur.
#
# [[checked]]
#
# [[hints]]
# 1. In the example 16 and 1 count as 8 and 1. What do you divide these two by?
# 2. First the power, then the sum. The sum is over the raised counts.
# 3. `counts ** power` is the numerator for all words in one step; divide it by its own sum.


# %%
def noise(counts, power):
    """The counts raised to a power, as a distribution.

    counts (V,), power above 0 -> distribution (V,), which sums to 1
    """
    ### BEGIN SOLUTION
    raised = counts.double() ** power
    return raised / raised.sum()
    ### END SOLUTION


# %% [markdown]
# ### 1c. Leaving out frequent words [[vectors.keep_probability, 10 minutes, easy, more]]
#
# *The* occurs near everything and says little about anything. So we keep each occurrence of a word with a probability that falls with its frequency
# $f_w$, its fraction of the text (Mikolov et al. 2013, equation 5):
#
# $$P(\text{keep } w) = \min\!\left(1,\; \sqrt{t / f_w}\right)$$
#
# By hand, with $t = 0.01$: a word that makes up 4 % of the text is kept with probability $\sqrt{0.01 / 0.04} = 0.5$; one that makes up 0.5 % is
# always kept. (The program published with the paper uses a slightly larger value, $\sqrt{t/f} + t/f$. Use the paper's.)
#
# [[checked]]
#
# [[hints]]
# 1. The function gets counts, but the formula needs $f_w$. What is the difference?
# 2. First turn the counts into fractions of the text. Then apply the formula to all words in one step and limit the result to 1.
# 3. `counts / counts.sum()` is $f$. `clamp(max=1.0)` is the minimum with 1.


# %%
def keep_probability(counts, threshold):
    """The probability that an occurrence of each word is kept.

    counts (V,), all above 0, threshold: a fraction -> probabilities (V,)
    """
    ### BEGIN SOLUTION
    frequency = counts / counts.sum()
    return (threshold / frequency).sqrt().clamp(max=1.0)
    ### END SOLUTION


# %% [markdown]
# ## 2. Learning
#
# ### 2a. One pair among the noise [[vectors.pair_loss, 20 minutes, medium, core]]
#
# Each word has two vectors: $v$ for when it is the centre, and $u$ for when it is a context or noise. Their dot product says how well two words go
# together, and $\sigma(x) = 1 / (1 + e^{-x})$ turns it into the probability of *yes, neighbours*. For the true context the answer should be yes; for
# each of the $k$ noise words it should be no:
#
# $$L = -\ln \sigma(u \cdot v) \; - \sum_{i=1}^{k} \ln \sigma(-n_i \cdot v)$$
#
# Since $\sigma(-x) = 1 - \sigma(x)$, the minus sign is the *no*.
#
# By hand: $u \cdot v = \ln 3$ gives $\sigma = 0.75$, and one noise word with $n \cdot v = 0$ gives $\sigma(-0) = 0.5$, so
# $L = -\ln 0.75 - \ln 0.5 = 0.29 + 0.69 = 0.98$.
#
# [[checked]]
#
# [[hints]]
# 1. The loss has two parts, one for the context and one for the noise. Which sign does the dot product have in each?
# 2. One matrix product gives the dot products with all the noise. For very large ones, compute the logarithm of $\sigma$ in one step, never
#    $\sigma$ itself.
# 3. `noise @ centre` gives all $k$ dot products in one call. For the last property: `torch.nn.functional.logsigmoid`.


# %%
def pair_loss(centre, context, noise):
    """The loss of negative sampling for one pair.

    centre (d,), context (d,), noise (k, d) -> a number
    """
    ### BEGIN SOLUTION
    log_sigmoid = torch.nn.functional.logsigmoid
    return -log_sigmoid(context @ centre) - log_sigmoid(-noise @ centre).sum()
    ### END SOLUTION


# %% [markdown]
# ### 2b. Its gradients, by hand [[vectors.pair_gradients, 25 minutes, hard, core]]
#
# The derivative of $-\ln \sigma(x)$ is $\sigma(x) - 1$, and that of $-\ln \sigma(-x)$ is $\sigma(x)$. Both are *what the model says minus what is
# right*, which is 1 for the context and 0 for noise. With these errors, $e = \sigma(u \cdot v) - 1$ and $e_i = \sigma(n_i \cdot v)$,
#
# $$\frac{\partial L}{\partial u} = e\, v, \qquad \frac{\partial L}{\partial n_i} = e_i\, v, \qquad \frac{\partial L}{\partial v} = e\, u + \sum_i e_i\, n_i .$$
#
# A gradient step pulls the context towards the centre, pushes the noise away, and moves the centre in response to all of them.
#
# By hand, in one dimension: let $v = 1$, $u = \ln 3$ and one noise word $n = 0$. Then $e = 0.75 - 1 = -0.25$ and $e_1 = 0.5$. So $d_u = -0.25$,
# $d_n = 0.5$, and $d_v = -0.25 \ln 3 + 0.5 \cdot 0 = -0.275$.
#
# [[checked]]
#
# [[hints]]
# 1. All three gradients are made from the same errors. Which of the three contains a sum over the noise?
# 2. Compute the errors first: one number for the context and $k$ numbers for the noise. Then let the shapes of the results guide you.
# 3. For all the noise in one step: `e_noise` has shape (k,); `e_noise @ noise` is the sum over $i$, with shape (d,), and
#    `e_noise[:, None] * centre` has shape (k, d).


# %%
def pair_gradients(centre, context, noise):
    """The gradients of pair_loss.

    centre (d,), context (d,), noise (k, d) -> (d_centre (d,), d_context (d,), d_noise (k, d))
    """
    ### BEGIN SOLUTION
    error = 1 / (1 + np.exp(-context @ centre)) - 1
    errors = 1 / (1 + np.exp(-noise @ centre))
    return error * context + errors @ noise, error * centre, np.outer(errors, centre)
    ### END SOLUTION


# %% [markdown]
# ## 3. Questions to ask of vectors
#
# ### 3a. Neighbours [[vectors.nearest, 15 minutes, easy, core]]
#
# The similarity of two words is the **cosine** of the angle between their vectors, $\cos(a, b) = \dfrac{a \cdot b}{\|a\|\,\|b\|}$. Direction counts,
# length does not. Frequent words often have long vectors, so a plain dot product would prefer them.
#
# By hand: compare two vectors with $(1, 0)$. The vector $(3, 3)$ has cosine 0.71 and dot product 3; $(0.5, 0.1)$ has cosine 0.98 and dot product 0.5.
#
# Return the $k$ words with the largest cosine, nearest first, without the word itself.
#
# [[checked]]
#
# [[hints]]
# 1. Look at the formula of the cosine. Which part of it turns a dot product into a cosine?
# 2. Give every vector the length 1; then dot products are cosines. The word itself would always win, so exclude it before you choose.
# 3. Divide each vector by its length once, `vectors.norm(dim=1, keepdim=True)`; then one matrix product gives all the cosines.


# %%
def nearest(vectors, word, k):
    """The k words whose vectors are closest in direction.

    vectors (V, d), word: an id -> k ids, nearest first, without the word itself
    """
    ### BEGIN SOLUTION
    unit = vectors / vectors.norm(dim=1, keepdim=True)
    similar = unit @ unit[word]
    similar[word] = -math.inf
    return similar.topk(k).indices
    ### END SOLUTION


# %% [markdown]
# ### 3b. King is to queen [[vectors.analogy, 15 minutes, medium, core]]
#
# $a$ is to $a^*$ as $b$ is to what? If the step from $a$ to $a^*$ means something, take the same step from $b$:
#
# $$b^* = \underset{w}{\operatorname{argmax}}\; \cos\big(e(w),\; e(a^*) - e(a) + e(b)\big) \qquad w \notin \{a, a^*, b\}$$
#
# By hand: with $e(\text{walk}) = (1, 0)$, $e(\text{walked}) = (1, 1)$ and $e(\text{swim}) = (3, 0)$, the sum is $(3, 1)$. *Swim* itself has cosine
# 0.95 with it. If *swam* is $(2.5, 1.5)$, it has 0.98 and would win anyway; if it were $(2, 1.5)$, with 0.95, it might not. That is why the three
# words of the question are left out.
#
# [[checked]]
#
# [[hints]]
# 1. Compare the formula with question 3a. With which vector do you compare here, and which words are left out?
# 2. This is 3a with a different vector to compare with and three words to leave out. The length of that vector changes no order, so you need not
#    divide by it.
# 3. `similar[[a, a_star, b]]` is three entries of a tensor at once, and you can assign to it before you take `argmax`.


# %%
def analogy(vectors, a, a_star, b):
    """The word that is to b as a_star is to a.

    vectors (V, d), three ids -> an id, none of the three
    """
    ### BEGIN SOLUTION
    wanted = vectors[a_star] - vectors[a] + vectors[b]
    similar = (vectors / vectors.norm(dim=1, keepdim=True)) @ wanted
    similar[[a, a_star, b]] = -math.inf
    return similar.argmax()
    ### END SOLUTION


# %% [markdown]
# ## 4. What the dot product becomes [[vectors.best_score, 15 minutes, medium, more]]
#
# Skip-gram is trained to tell neighbours from noise. What do its dot products *mean* afterwards? Take one word and one context. They are neighbours
# $n$ times in the text. If you sampled one noise word for each pair of the text, this context would meet this word $m$ times on average; you sample $k$.
# If the two may have any dot product $x$, their part of the loss of 2a, with the opposite sign, is
#
# $$F(x) = n \ln \sigma(x) + k\, m \ln \sigma(-x) .$$
#
# On paper, derive the slope $F'(x)$, and the $x$ for which $F$ is largest. Return both as formulas in $n$, $m$, $k$ and $x$.
#
# $\ln (n / m)$ is the **pointwise mutual information** (PMI) of the two words: how much more often they meet than chance would have it. Levy and Goldberg
# (2014) were the first to see what your second formula says: skip-gram factorises a table of PMI.
#
# [[checked]]
#
# [[hints]]
# 1. Which of the two terms wants a large $x$, which a small one, and what happens to both as $k$ grows?
# 2. The derivatives of $-\ln \sigma(x)$ and $-\ln \sigma(-x)$ are in 2b. Where $F$ is largest, its slope is 0.
# 3. $n (1 - \sigma(x)) = k m\, \sigma(x)$ at the best $x$. The ratio $\sigma(x) / (1 - \sigma(x))$ is $e^x$.


# %%
def best_score(n, m, k, x):
    """The slope of F at x, and the dot product for which F is largest.

    n: how often the two are neighbours, m: by chance, k: noise words per pair -> (slope, best), two numbers
    """
    ### BEGIN SOLUTION
    yes = 1 / (1 + math.exp(-x))
    return n * (1 - yes) - k * m * yes, math.log(n / (k * m))
    ### END SOLUTION


# %% [markdown]
# ## 5. Counting instead of learning
#
# If skip-gram factorises PMI, you could as well count. A friend makes a table of **positive PMI** from the table of how often each word (row) occurs near
# each context (column):
#
# $$\max\Big(0,\; \ln \frac{c(w, v)}{\text{expected}(w, v)}\Big), \qquad \text{expected}(w, v) = \frac{c(w)\, c(v)}{N},$$
#
# where $c(w)$ and $c(v)$ are the sums of the row and of the column, and $N$ is the sum of the whole table. The expected number is a count, like $c(w, v)$:
# so often would the two meet by chance. Pairs that never occur get 0. His code runs, and
# no value is below 0. One line is wrong.
#
# ### 5a. Which line? [[vectors.wrong_line, 10 minutes, medium, more]]
#
# [[listing vectors.positive_pmi]]
#
# Return the number of the wrong line, as in this listing.
#
# [[checked]] You can copy the function into a cell of your own to try it; the check of 5b shows you an input.
#
# [[hints]]
# 1. What should the function return for a table in which all counts are 2? What does it return?
# 2. For each variable, say whether it is a count, a probability or a ratio. Which one is not what the text says it is?
# 3. If a row sums to 10, a column to 20, and all to 100, how often would the two meet by chance?


# %%
def wrong_line():
    """The number of the one line of the listing that is wrong."""
    ### BEGIN SOLUTION
    return 9
    ### END SOLUTION


# %% [markdown]
# ### 5b. Mend it [[vectors.positive_pmi, 5 minutes, easy, more]]
#
# This is the friend's function. Change the line, and nothing else.
#
# [[checked]]
#
# [[hints]]
# 1. Compute the expected count of one pair of the smallest table that the check shows, on paper.
# 2. An expected *count* is what a count can be divided by. A probability would be one more division by $N$.
# 3. Compare the line with the formula of expected(w, v), letter by letter.


# %%
def positive_pmi(counts):
    """The positive pointwise mutual information of words and contexts.

    counts (words, contexts), every row and column with a count -> (words, contexts), 0 where a pair never occurs
    """
    ### BEGIN SOLUTION
    total = counts.sum()
    of_word = counts.sum(1, keepdim=True)
    of_context = counts.sum(0, keepdim=True)
    expected = of_word * of_context / total
    ratio = torch.where(counts > 0, counts / expected, 1.0)
    return ratio.log().clamp(min=0)
    ### END SOLUTION


# %% [markdown]
# ## 6. An experiment: does the step matter? [[vectors.step_or_neighbour, 35 minutes, medium, more]]
#
# An analogy that comes out right is said to show that the *step* from $a$ to $a^*$ means something. But perhaps $b^*$ is simply the word nearest to $b$.
# `pairs_of_words` makes 100 vectors from a **seed**: 20 words (ids 0 to 19), their 20 partners (ids 20 to 39; word $i$ has the partner $20 + i$), and 60
# other words. A partner is its word plus a step that is the same for all, plus a little noise; `step` says how long the step is. There are 20
# questions: with $j = i + 1$ (and $j = 0$ for $i = 19$), $j$ is to $20 + j$ as $i$ is to what? The right answer is $20 + i$. Compare the share of right
# answers of your `analogy` with that of the nearest neighbour of $i$, which knows nothing of the step. Four answers are possible:
#
# 1. The analogy has the larger share, with the short step (0.5) and with the long one (2).
# 2. With the short step the neighbour has the larger share, with the long step the analogy.
# 3. With the short step these seeds cannot tell; with the long step the analogy has the larger share.
# 4. These seeds cannot tell, with either step.
#
# Proceed in this order.
#
# - **Predict.** Set `prediction` to 1, 2, 3 or 4 before you run anything. It is kept as you wrote it, and it need not come true.
# - **Run.** `shares` gets one row per seed with four numbers: (step 0.5, neighbour), (0.5, analogy), (2, neighbour), (2, analogy). Set `conclusion =
#   0` for now and run the check: it says whether your numbers are right. Then run the cell below the check, and look at all five rows.
# - **Conclude.** Set `conclusion` to the answer that *your* five rows support. A difference counts if it has the same sign for every seed, or if it
#   is larger than chance explains: the 95 % interval of the mean difference (Student's t: 2.78 standard errors to each side) does not contain 0.
#
# [[checked]]
#
# [[hints on the run]]
# 1. How many tables of vectors does one row need, and how many questions are put to each?
# 2. Use a loop over the 20 questions inside two others, and count right answers of both kinds. `nearest` returns a list, even of one word.
# 3. For question i, with j as above: compare `int(nearest(vectors, i, 1)[0])` and `int(analogy(vectors, j, 20 + j, i))` with 20 + i.
#
# [[hints on the conclusion]]
# 1. Compare the first two columns, seed by seed. What would you have concluded from seed 0 alone, and what from seed 2?
# 2. Take the difference of two columns. Does it have the same sign in every row?
# 3. Five differences $x$ have the interval $\bar x \pm 2.78\, s / \sqrt 5$, where $s$ is their standard deviation. `torch.std` computes it.


# %%
def pairs_of_words(seed, step):
    """100 vectors: 20 words, their 20 partners, 60 others."""
    draw = torch.Generator().manual_seed(seed)
    first, direction = torch.randn(20, 16, generator=draw), torch.randn(16, generator=draw)
    partners = first + step * direction + 0.5 * torch.randn(20, 16, generator=draw)
    return torch.cat([first, partners, torch.randn(60, 16, generator=draw)])


# %%
def step_or_neighbour(seeds):
    """The share of right answers of neighbours and of analogies, for a short and a long step, for several seeds.

    seeds: a list -> (prediction, shares (seeds, 4), conclusion)
    """
    ### BEGIN SOLUTION
    prediction = 1
    shares = []
    for seed in seeds:
        row = []
        for step in (0.5, 2.0):
            vectors = pairs_of_words(seed, step)
            near = right = 0
            for i in range(20):
                j = (i + 1) % 20
                near += int(nearest(vectors, i, 1)[0]) == 20 + i
                right += int(analogy(vectors, j, 20 + j, i)) == 20 + i
            row += [near / 20, right / 20]
        shares.append(row)
    conclusion = 3
    return prediction, shares, conclusion
    ### END SOLUTION


# %%
show_rows(
    "vectors.step_or_neighbour", step_or_neighbour, "0.5, neighbour", "0.5, analogy", "2, neighbour", "2, analogy"
)

# %% [markdown]
# ## Your functions at work
#
# Your `window_pairs`, `noise` and `pair_gradients` learn 16-dimensional vectors for the 300 most frequent words of one play, in a single epoch. That
# is far too little for good vectors, so just watch the loss. There is nothing to write here. Run it when the checks pass.

# %%
losses = []
if all(
    passes(*question)
    for question in (
        ("vectors.window_pairs", window_pairs),
        ("vectors.noise", noise),
        ("vectors.pair_loss", pair_loss),
        ("vectors.pair_gradients", pair_gradients),
    )
):
    from nlmcore.corpora import load

    text = re.findall("[a-z]+", load("shakespeare").texts("train")[0].lower())[:4000]
    common = [word for word, _ in Counter(text).most_common(300)]
    words = [common.index(word) for word in text if word in common]
    drawn = noise(torch.bincount(torch.tensor(words)), 0.75)
    draw = torch.Generator().manual_seed(0)
    centres, contexts = torch.randn(300, 16, generator=draw) / 4, torch.zeros(300, 16)
    for centre, context in window_pairs(words, 2):
        others = torch.multinomial(torch.as_tensor(drawn).float(), 5, replacement=True, generator=draw)
        vectors = centres[centre], contexts[context], contexts[others]
        losses.append(float(pair_loss(*vectors)))
        d_centre, d_context, d_noise = pair_gradients(*(v.numpy() for v in vectors))
        centres[centre] -= 0.1 * torch.as_tensor(d_centre)
        contexts[context] -= 0.1 * torch.as_tensor(d_context)
        contexts.index_add_(0, others, torch.as_tensor(d_noise).float(), alpha=-0.1)
    means = [sum(losses[i : i + 500]) / 500 for i in range(0, len(losses) - 500, 500)]
    picture = show.curves(
        range(0, len(means) * 500, 500),
        {"": means},
        x_title="pairs seen",
        y_title="loss of a pair",
        alt=f"The mean loss of 500 pairs against the pairs seen: from {means[0]:.2f} down to {means[-1]:.2f}.",
    )
else:
    picture = "Come back here when 1a, 1b, 2a and 2b pass."
picture

# %% [markdown]
# And here is a table of vectors learned from billions of words: the embeddings that MiniLM looks up for each token, before its first layer.

# %%
if passes("vectors.nearest", nearest) and passes("vectors.analogy", analogy):
    from nlmcore.pretrained import minilm

    encoder, tokenizer = minilm()
    vectors = encoder.embedding.weight.detach()
    ids = {
        word: tokenizer.encode(word)[1]
        for word in ["king", "queen", "man", "woman", "paris", "france", "england", "walked", "swim", "walk", "swam"]
    }
    for word in ("king", "paris", "walked"):
        near = [int(i) for i in nearest(vectors, ids[word], 6)]
        print(f"near {word:8}", tokenizer.decode(near))
    for a, a_star, b in (("man", "king", "woman"), ("france", "paris", "england"), ("walk", "walked", "swim")):
        found = int(analogy(vectors, ids[a], ids[a_star], ids[b]))
        print(f"{a} is to {a_star} as {b} is to {tokenizer.decode([found])}")

# %% [markdown]
# Which of the three are right, and what do the wrong ones have in common with the right answer? Try your own.

# %% [markdown]
# ## 7. In your own words [[written, 25 minutes, 6 points, more]]
#
# In about twelve sentences, for somebody who has not heard the lecture:
#
# 1. Why does skip-gram need noise at all? What would the vectors be without it?
# 2. *Good* and *bad* end up with similar vectors. Why, and for which use is that a problem?
# 3. A paper reports 80 % right on analogies. Name two things to ask before you believe that its vectors "understand" relations.
# 4. Report your experiment of question 6, as you would to somebody who decides on it: what did your five seeds show, and with which numbers? What
#    does that not yet say? Which run would you do next, and what do you expect of it?
#
# ### BEGIN MARK SCHEME
# One point for each of the first four, two for the report; half points are fine.
#
# 1. **Noise** (1): with neighbours only, every dot product should be as large as possible, so all vectors become alike and long; the noise shows
#    which words do not go together.
# 2. **Good and bad** (1): they keep the same company (*a … day*), and the company is all that skip-gram sees; a problem where opposites matter, as in
#    classifying reviews. Half a point without a use.
# 3. **Analogies** (2, one for each of two): were the three words of the question left out, and how often would b itself have won? how large is the
#    vocabulary, and does it include rare words? which kinds of relations (capitals and plurals are easy)? is another baseline, the nearest word to b,
#    much worse? Half a point for "which corpus".
# 4. **Report, what it shows** (1): a claim that the student's own numbers support (that with the long step the analogy has the larger share, and that
#    with the short step these seeds cannot tell), with numbers or with how many seeds agree. Half a point for the claim without them, none for a
#    claim that goes beyond the table.
# 5. **Report, what it leaves open** (1): one limit of this experiment (½), for example: made-up vectors whose step is exactly the same for all pairs,
#    one amount of noise, one number of words; real relations are neither so regular nor so alone. A next run that could turn out otherwise, with what
#    it would tell (½). Not: "more seeds" alone, where the seeds agree.
# ### END MARK SCHEME

# %% [markdown]
# If we show the model only neighbours, it is right whenever it says yes to everything: all dot products are large, all vectors long and pointing the
# same way. The words sampled at random are the cases in which it must say no, and only the contrast gives the directions a meaning.
#
# Good and bad keep the same company: a good day, a bad day. The company is all that skip-gram ever sees, so they become neighbours. If you want to
# tell kind reviews from unkind ones, such vectors do not help.
#
# I would ask whether the three words of the question were left out, and how often b itself was the nearest. When the step between a and a* is small,
# the answer is simply the nearest neighbour of b. I would also ask which relations were tested: capitals and plurals are regular and frequent, and a
# mean over them says little about others.
#
# With the long step the analogy won in all five rows. With the short step the nearest neighbour was as often right, so an analogy that comes out right
# says nothing about the step there. The vectors were made up, and all pairs had the same step. In real vectors the steps differ from pair to pair, so I
# would give each step more noise of its own: I expect the analogy's lead with the long step to shrink.

# %% [markdown]
# ---
# **Before you hand in:** *Kernel → Restart Kernel and Run All Cells*. Every check should say what you expect, and
# question 7 should be answered in your own words. Save the notebook under its own name: the grader looks for `vectors.ipynb`.
