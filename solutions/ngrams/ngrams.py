# %% [markdown]
# # Assignment: n-grams
#
# Six small functions, from counting pairs of words to perplexity; then you derive a formula, find a bug in somebody else's smoothing, and run an
# experiment. At the end your tables write Shakespeare, one word at a time, and you measure which kind of smoothing best predicts a held-out play.
#
# [[questions]]
#
# [[how it works]]
#
# [[closed]]
# Everything else is open. If you need a function from an earlier question, call yours.
#
# You need the lecture *What is a language model?* Nothing is downloaded.

# %%
import math
import random
import re
from collections import Counter
from itertools import pairwise

import torch

from autograder.check import check, failing, passes, show_rows
from lectures import show

torch.set_printoptions(precision=3, sci_mode=False)

# %% [markdown]
# ## 1. Counting
#
# A text is a list of sentences, and a sentence is a list of **ids**: integers from 0 to `vocab_size` − 1, one per word. Two ids are special: `bos`
# comes before every sentence and `eos` after it. They are *not* in the lists; you add them.
#
# ### 1a. Pairs [[ngrams.count_bigrams, 15 minutes, easy, core]]
#
# Make a table of counts $c(a, w)$: how often word $w$ comes right after word $a$. Rows are contexts, columns are the words that follow. Include `bos`
# before the first word and `eos` after the last: a model must predict how a sentence begins, and that it ends, like everything else.
#
# By hand, for the two sentences *a b a* and *b*, with a = 0, b = 1, `bos` = 2, `eos` = 3:

# %%
show.heatmap(
    [[0, 1, 0, 1], [1, 0, 0, 1], [1, 1, 0, 0], [0, 0, 0, 0]],
    ["a", "b", "<bos>", "<eos>"],
    ["a", "b", "<bos>", "<eos>"],
    row_title="context",
    column_title="next word",
    alt="A table of counts. a is followed once by b and once by eos; b once by a and once by eos; bos once by a and once by b;"
    " nothing follows eos, and nothing comes before bos.",
)


# %% [markdown]
# Nothing follows `eos`, and nothing comes before `bos`, because no pair crosses from one sentence to the next.
#
# [[checked]] The ids of `bos` and `eos` may be anything. Do not change the lists that you are given.
#
# [[hints]]
# 1. Look at the row of `bos` and the column of `eos` in the table. Which pairs do they count that are not two words of a sentence?
# 2. Write the sentence twice, once with `bos` in front and once with `eos` at the end. Entries with the same index then form the pairs.
# 3. `zip([bos, *sentence], [*sentence, eos])` runs through all pairs of a sentence.


# %%
def count_bigrams(sentences, vocab_size, bos, eos):
    """How often each id follows each other id, with bos before and eos after every sentence.

    sentences: a list of lists of ids -> counts (vocab_size, vocab_size), row: context, column: next id
    """
    ### BEGIN SOLUTION
    counts = torch.zeros(vocab_size, vocab_size, dtype=torch.int64)
    for sentence in sentences:
        for before, word in zip([bos, *sentence], [*sentence, eos], strict=True):
            counts[before, word] += 1
    return counts
    ### END SOLUTION


# %% [markdown]
# ### 1b. Probabilities [[ngrams.conditional_probabilities, 15 minutes, easy, core]]
#
# According to the counts, the probability that $w$ follows $a$ is the fraction of $w$ among all the words that followed $a$:
#
# $$P(w \mid a) = \frac{c(a, w)}{\sum_{w'} c(a, w')}$$
#
# Each row sums to 1. An unseen context has no counts at all, and $0/0$ is not a number. Nothing is known there, so give every word $1/V$, where $V$
# is the size of the vocabulary.
#
# By hand, for one row: the counts $(3, 1, 0, 0)$ give $(0.75, 0.25, 0, 0)$, and the counts $(0, 0, 0, 0)$ give $(0.25, 0.25, 0.25, 0.25)$.
#
# [[checked]] Do not change the counts that you are given, because they are needed again.
#
# [[hints]]
# 1. The denominator is one number per row. In which row of the example is it 0?
# 2. Divide each row by its own sum. Then choose, row by row, between the quotient and $1/V$.
# 3. `counts.sum(1, keepdim=True)` has shape (V, 1) and divides every row by its own sum. `torch.where(condition, a, b)` chooses between two
#    tensors; `total.clamp(min=1)` avoids every division by 0.


# %%
def conditional_probabilities(counts):
    """P(w | a) from counts; uniform where the context was never seen.

    counts (V, V) -> probabilities (V, V), each row sums to 1
    """
    ### BEGIN SOLUTION
    total = counts.sum(1, keepdim=True)
    return torch.where(total > 0, counts / total.clamp(min=1), 1 / counts.shape[1])
    ### END SOLUTION


# %% [markdown]
# ## 2. Pairs never seen
#
# Any text contains very few of all possible pairs of words. A probability of 0 says *impossible*, and one such pair makes a whole play impossible.
# **Smoothing** takes a little probability from the pairs that were seen and gives it to those that were not.
#
# ### 2a. A little for every word [[ngrams.additive, 10 minutes, easy, core]]
#
# Pretend that after every context every word was seen $k$ more times than it really was ($k = 1$ is Laplace smoothing; $k$ may be a fraction):
#
# $$P(w \mid a) = \frac{c(a, w) + k}{\sum_{w'} c(a, w') + k V}$$
#
# By hand, for the counts $(3, 1, 0, 0)$ and $k = 1$: the sum is $4 + 4 \cdot 1 = 8$, and the probabilities are $(0.5, 0.25, 0.125, 0.125)$. A quarter
# of the probability now belongs to words that were never seen here; with $V = 20{,}000$ nearly all of it would. Try $k = 0.01$ in your head.
#
# [[checked]] A context never seen needs no special case here. Why?
#
# [[hints]]
# 1. Look at the denominator in the example. Where does the $4 \cdot 1$ come from?
# 2. Each of the $V$ counts of a row grows by $k$, so the sum of the row grows by $kV$.
# 3. `counts.shape[1]` is $V$: the *whole* vocabulary, not only the words that were seen after this context.


# %%
def additive(counts, k):
    """Additive smoothing: every count is raised by k.

    counts (V, V), k a number above 0 -> probabilities (V, V), each row sums to 1
    """
    ### BEGIN SOLUTION
    return (counts + k) / (counts.sum(1, keepdim=True) + k * counts.shape[1])
    ### END SOLUTION


# %% [markdown]
# ### 2b. A mixture of three orders [[ngrams.interpolated, 30 minutes, medium, more]]
#
# Two previous words say more about the next word than one does, but any given pair is rarer. So use three models and mix them (Jelinek & Mercer
# 1980): the unigram, which ignores the context, the bigram and the trigram,
#
# $$P(w \mid a\, b) = \lambda_1 \frac{c(w)}{\sum_{w'} c(w')} + \lambda_2 \frac{c(b\, w)}{\sum_{w'} c(b\, w')} + \lambda_3 \frac{c(a\, b\, w)}{\sum_{w'} c(a\, b\, w')} .$$
#
# An order that has never seen its context has no opinion. Leave it out and share its weight among the others: divide their weights by their sum. Here
# the text is one long tensor of ids, not split into sentences, and you predict for *one* context $a\,b$.
#
# By hand: the text is *a b a b b*, the context *a b*, the weights $(0.2, 0.3, 0.5)$.
#
# | | words that follow | P(a) | P(b) |
# |---|---|---|---|
# | any context | a b a b b | 2/5 | 3/5 |
# | after *b* | a b | 1/2 | 1/2 |
# | after *a b* | a b | 1/2 | 1/2 |
#
# $P(a) = 0.2 \cdot \tfrac25 + 0.3 \cdot \tfrac12 + 0.5 \cdot \tfrac12 = 0.48$. Nothing ever follows the context *b b*, so the trigram is left out
# there: $P(a) = (0.2 \cdot \tfrac25 + 0.3 \cdot \tfrac12) / 0.5 = 0.46$.
#
# [[checked]]
#
# [[hints on counting]]
# 1. Look at the table of the example. Mark each *a b* in the text and underline the word after it, then do the same for each *b*.
# 2. Go through the positions of the text. If the $n$ words before a position equal the context, count the word at that position. The empty context
#    occurs everywhere; nothing follows the very last word, so it is never a context.
# 3. For positions `i` starting at `n`, wherever `words[i - n : i]` equals the context, count `words[i]`. `words` is a tensor: `words.tolist()`
#    makes it a list, and `==` compares two lists.
#
# [[hints on the orders]]
# 1. Compare the two calculations of $P(a)$ at the end of the example. Why does only the second one have a denominator?
# 2. Use one loop for the three orders. Add up the weights of the orders that have seen their context, and divide by that sum at the end.
# 3. The last $n$ words of the context are `context[2 - n :]`, for n = 0, 1, 2. An order has seen its context if it counted anything.


# %%
def interpolated(words, context, weights, vocab_size):
    """P(w | a b) as a mixture of unigram, bigram and trigram.

    words (n,) ids, context [a, b], weights [unigram, bigram, trigram] that sum to 1 -> distribution (vocab_size,)
    """
    ### BEGIN SOLUTION
    mixture, share = torch.zeros(vocab_size), 0.0
    for order, weight in enumerate(weights):
        before = context[2 - order :]
        counts = torch.zeros(vocab_size)
        for i in range(order, len(words)):
            if words[i - order : i].tolist() == before:
                counts[words[i]] += 1
        if counts.sum() > 0:
            mixture += weight * counts / counts.sum()
            share += weight
    return mixture / share
    ### END SOLUTION


# %% [markdown]
# ### 2c. Kneser and Ney [[ngrams.kneser_ney, 40 minutes, hard, core]]
#
# *Francisco* is a frequent word in some newspapers. But after an unseen context you would not bet on it, because it follows *San* and nothing else.
# So Kneser and Ney (1995) do not ask how often a word was seen, but **after how many different words**: its *continuation*
#
# $$P_{\text{cont}}(w) = \frac{\big|\{a : c(a, w) > 0\}\big|}{\big|\{(a', w') : c(a', w') > 0\}\big|}$$
#
# They lower every count by a discount $D$ between 0 and 1 and share out the freed probability in proportion to the continuation:
#
# $$P(w \mid a) = \frac{\max(c(a, w) - D,\, 0)}{N_a} + \frac{D\, T_a}{N_a}\, P_{\text{cont}}(w)$$
#
# $N_a$ is how many words followed $a$, and $T_a$ how many *different* words did. After an unseen context, $P_\text{cont}$ decides alone. Return both,
# the continuation and the table.
#
# By hand, for three words and $D = 0.5$:
#
# | | x | y | z | $N_a$ | $T_a$ |
# |---|---|---|---|---|---|
# | after x | 0 | 4 | 0 | 4 | 1 |
# | after y | 1 | 0 | 1 | 2 | 2 |
# | after z | 1 | 0 | 0 | 1 | 1 |
#
# There are four different pairs, so $P_\text{cont} = (2, 1, 1)/4$. Although *y* is the most frequent word (4 of 7), it follows only one word. After
# *x* the discount frees $0.5 \cdot 1 / 4 = 0.125$, so $P(y \mid x) = 3.5/4 + 0.125 \cdot 0.25 = 0.906$, $P(x \mid x) = 0.125 \cdot 0.5 = 0.0625$ and
# $P(z \mid x) = 0.031$. They sum to 1.
#
# [[checked]]
#
# [[hints on the continuation]]
# 1. The formula counts different pairs, however often each occurs. In the example, how many entries of each column are above 0?
# 2. Replace each count by whether it is above 0. The sums over columns and over the whole table make the fraction, and the sums over rows are the
#    $T_a$.
# 3. `counts > 0` is a table of True and False. Its column sums say after how many different words a word occurred; its row sums are the $T_a$.
#
# [[hints on the table]]
# 1. Look at the three probabilities after *x* in the example. Which number do they share, and which one differs from word to word?
# 2. The freed probability is one number per row and the continuation one number per column. After an unseen context all the probability is freed.
# 3. $(V,)$ times $(V, 1)$ broadcasts to $(V, V)$: `freed[:, None] * continuation` gives row $a$ its own portion of the continuation.


# %%
def kneser_ney(counts, discount):
    """Interpolated Kneser-Ney bigrams.

    counts (V, V), discount from 0 to 1 -> (continuation (V,), probabilities (V, V)), each row sums to 1
    """
    ### BEGIN SOLUTION
    seen = counts > 0
    continuation = seen.sum(0) / seen.sum()
    total = counts.sum(1, keepdim=True)
    kept = (counts - discount).clamp(min=0) / total.clamp(min=1)
    freed = torch.where(total > 0, discount * seen.sum(1, keepdim=True) / total.clamp(min=1), 1.0)
    return continuation, kept + freed * continuation
    ### END SOLUTION


# %% [markdown]
# ### 2d. How much to discount [[ngrams.best_discount, 15 minutes, medium, more]]
#
# Which $D$ is best? Ney, Essen and Kneser (1994) **leave one out**: they remove one occurrence of a pair from the counts, ask how probable the rest
# makes it, and do so for each occurrence in turn. A pair that was seen once is then unseen. All of its probability was freed by the discount, so it
# is proportional to $D$. A pair that was seen twice is then seen once, and gets a probability close to $(1 - D)/N_a$. There are $n_1$ pairs seen once
# and $n_2$ seen twice, and each of the latter is left out twice. So, apart from terms without $D$ and from more frequent pairs, for which $D$ matters
# little, the logarithm of the probability of all that was left out is
#
# $$F(D) = n_1 \ln D + 2\, n_2 \ln (1 - D) .$$
#
# On paper, derive the slope $F'(D)$, and from it the $D$ for which $F$ is largest. Return both, each as a formula with nothing but the symbols.
#
# [[checked]] The values must be right to five digits.
#
# [[hints]]
# 1. Both logarithms grow as what is inside them grows. Which of the two terms wants a large $D$, and which a small one?
# 2. The derivative of $\ln x$ is $1/x$, and the chain rule gives the inside of the second logarithm a factor. Where $F$ is largest, its slope is 0:
#    bring the two fractions to opposite sides and multiply crosswise.
# 3. $n_1 (1 - D) = 2\, n_2 D$ at the best $D$. Collect the terms with $D$ on one side.


# %%
def best_discount(n_1, n_2, D):
    """The slope of F at D, and the discount for which F is largest.

    n_1 pairs seen once, n_2 seen twice, 0 < D < 1 -> (slope, best), two numbers
    """
    ### BEGIN SOLUTION
    return n_1 / D - 2 * n_2 / (1 - D), n_1 / (n_1 + 2 * n_2)
    ### END SOLUTION


# %% [markdown]
# ## 3. How surprised? [[ngrams.perplexity, 20 minutes, medium, core]]
#
# The **log loss** of a text is the sum of $-\ln P$ over all its predictions: each word, given the previous one, and the `eos` of each sentence.
# **Perplexity** is the exponential of its mean:
#
# $$L = \sum_{\text{sentences}} \; \sum_{t} -\ln P(w_t \mid w_{t-1}), \qquad \mathrm{PP} = e^{L / M}$$
#
# where $M$ is the number of predictions: the words, plus one `eos` per sentence. A model that chooses evenly among 8 words has perplexity 8.
#
# By hand: take two sentences, the first with predictions of probability 1/2, 1/4 and 1/8, the second with one of 1/16. Then
# $L = \ln(2 \cdot 4 \cdot 8 \cdot 16) = \ln 1024 = 6.93$ over four predictions, and $\mathrm{PP} = 1024^{1/4} = 5.66$. (The mean of the two
# sentences' perplexities, 4 and 16, would be 10, because it gives the short sentence as much weight as the long one.)
#
# [[checked]] No single probability is 0.
#
# [[hints]]
# 1. Read the sentence in brackets at the end of the example. Over what is the mean taken, and over what is it not?
# 2. Keep two running totals over all sentences, the loss and the number of predictions. The predictions of a sentence are the pairs of 1a.
# 3. Add up all the losses, count the predictions, and divide and call `math.exp` only once, at the very end.


# %%
def perplexity(probabilities, sentences, bos, eos):
    """The log loss and the perplexity of sentences under a table of bigram probabilities.

    probabilities (V, V), sentences: a list of lists of ids -> (log_loss, perplexity), in natural logarithms
    """
    ### BEGIN SOLUTION
    log_loss, predicted = 0.0, 0
    for sentence in sentences:
        for before, word in zip([bos, *sentence], [*sentence, eos], strict=True):
            log_loss -= math.log(probabilities[before, word])
            predicted += 1
    return log_loss, math.exp(log_loss / predicted)
    ### END SOLUTION


# %% [markdown]
# ## 4. A friend's smoothing
#
# A friend has written one more kind of smoothing, after Witten and Bell (1991). A context that has been followed by many *different* words will
# probably be followed by a new one, so it should keep back more for the words it has not seen. With $N_a$ and $T_a$ as in 2c,
#
# $$P(w \mid a) = \frac{c(a, w) + T_a\, P(w)}{N_a + T_a}, \qquad P(w) = \frac{\text{how often } w \text{ follows anything}}{\text{number of all pairs}} .$$
#
# After an unseen context, $P(w)$ decides alone. Her code runs, every row sums to 1, and the perplexity looks believable. One line is wrong.
#
# ### 4a. Which line? [[ngrams.wrong_line, 10 minutes, medium, more]]
#
# [[listing ngrams.witten_bell]]
#
# Compare each line with the formula, and predict what it gives for a small table, such as that of 2c, before you run anything. Return the number of
# the wrong line, as in this listing.
#
# [[checked]] You can copy the function into a cell of your own to try it; the check of 4b shows you an input.
#
# [[hints]]
# 1. For each line, say which symbol of the formula it computes: $N_a$, $T_a$, $P(w)$, or the fraction.
# 2. The rows of the table are contexts and its columns the words that follow. In which direction does each `sum` of the listing run, and in which
#    should it?
# 3. Let one word follow many others, but let nothing follow it: `<eos>`. Which probability does the listing give to `<eos>` after an unseen context?


# %%
def wrong_line():
    """The number of the one line of the listing that is wrong."""
    ### BEGIN SOLUTION
    return 7
    ### END SOLUTION


# %% [markdown]
# ### 4b. Mend it [[ngrams.witten_bell, 5 minutes, easy, more]]
#
# This is your friend's function. Change the line, and nothing else.
#
# [[checked]]
#
# [[hints]]
# 1. Copy the smallest table that the check shows, and compute its $P(w)$ on paper.
# 2. Each word's $P(w)$ is a sum over all the contexts that it follows, divided by the number of all pairs.
# 3. `counts.sum(0)` adds up the rows of a table, so it gives one number per column.


# %%
def witten_bell(counts):
    """Witten-Bell smoothing: a context with many different followers keeps back more for new ones.

    counts (V, V) -> probabilities (V, V), each row sums to 1
    """
    ### BEGIN SOLUTION
    vocab_size = counts.shape[1]
    unigram = counts.sum(0) / counts.sum()
    probabilities = torch.zeros(vocab_size, vocab_size)
    for context in range(vocab_size):
        row = counts[context]
        total = row.sum()
        types = (row > 0).sum()
        if total == 0:
            probabilities[context] = unigram
        else:
            probabilities[context] = (row + types * unigram) / (total + types)
    return probabilities
    ### END SOLUTION


# %% [markdown]
# ## 5. An experiment: which k? [[ngrams.which_k, 35 minutes, medium, core]]
#
# In 2a you added $k$ to every count. Is $k = 1$ or $k = 0.01$ better, and does that depend on how much text was counted? Your functions can tell. The
# text is 210 lines of a play, with a vocabulary of 60. `split` shuffles them by a **seed** and holds out 60 for measuring. Four answers are possible:
#
# 1. $k = 1$ has the lower perplexity, whether 20 lines were counted or 150.
# 2. $k = 0.01$ has the lower perplexity, whether 20 lines were counted or 150.
# 3. With 20 lines $k = 1$ has the lower one, with 150 lines $k = 0.01$.
# 4. With 20 lines these samples cannot tell; with 150 lines $k = 0.01$ has the lower one.
#
# Proceed in this order.
#
# - **Predict.** Set `prediction` to 1, 2, 3 or 4 before you run anything. It is kept as you wrote it, and it need not come true.
# - **Run.** For each seed, `split` the lines; count the first 20 of those to count, and then all 150; measure the perplexity of the held-out lines
#   with $k = 1$ and with $k = 0.01$. `perplexities` gets one row per seed, with four numbers: (20 lines, $k = 1$), (20, 0.01), (150, 1), (150, 0.01).
#   Set `conclusion = 0` for now and run the check: it says whether your numbers are right. Then run the cell below the check, and look at all five
#   rows.
# - **Conclude.** Set `conclusion` to the answer that *your* five rows support. A difference counts if it has the same sign for every seed, or if it
#   is larger than chance explains: the 95 % interval of the mean difference (Student's t: 2.78 standard errors to each side) does not contain 0.
#
# [[checked]]
#
# [[hints on the run]]
# 1. How many tables of counts does one seed need, and how many perplexities?
# 2. You need two loops, over seeds and over numbers of lines, and inside them four of your functions, one of which is called with two values of $k$.
# 3. `split(lines, seed)` returns two lists. For n in (20, 150) the table comes from the first n lines of one, `heard[:n]`; the perplexity is that of the
#    other, `unheard`.
#
# [[hints on the conclusion]]
# 1. Compare the first two columns, seed by seed. If you had run only one of the seeds, what would you have concluded?
# 2. Take the difference of two columns. Does it have the same sign in every row?
# 3. Five differences $d$ have the interval $\bar d \pm 2.78\, s / \sqrt 5$, where $s$ is their standard deviation. `torch.std` computes it.


# %%
def split(lines, seed):
    """(150 lines to count, 60 to measure), shuffled by the seed."""
    shuffled = random.Random(seed).sample(lines, len(lines))
    return shuffled[:150], shuffled[150:]


# %%
def which_k(lines, vocab_size, bos, eos, seeds):
    """Two values of k after 20 and after 150 lines, for several seeds.

    lines: 210 lists of ids, seeds: a list -> (prediction, perplexities (seeds, 4), conclusion)
    """
    ### BEGIN SOLUTION
    prediction = 2
    perplexities = []
    for seed in seeds:
        heard, unheard = split(lines, seed)
        row = []
        for n in (20, 150):
            counts = count_bigrams(heard[:n], vocab_size, bos, eos)
            for k in (1.0, 0.01):
                row.append(perplexity(additive(counts, k), unheard, bos, eos)[1])
        perplexities.append(row)
    conclusion = 4
    return prediction, perplexities, conclusion
    ### END SOLUTION


# %%
show_rows("ngrams.which_k", which_k, "20 lines, k = 1", "20, k = 0.01", "150, k = 1", "150, k = 0.01")

# %% [markdown]
# ## Your functions at work
#
# The sentences are the lines of eight plays, with a vocabulary of a thousand words and punctuation marks; every other word is `<unk>`. Your
# `count_bigrams` counts them, your other functions turn the counts into tables, and your `perplexity` measures how much lines of a held-out play
# surprise each table. Then the tables write. There is nothing to write yourself. Run it when the checks above pass.


# %%
def words_of(text, limit):
    """The first lines of a play that are not empty, each as a list of words and punctuation marks."""
    lines = [re.findall(r"[a-z']+|[.,;:!?]", line.lower()) for line in text.splitlines()]
    return [line for line in lines if line][:limit]


if passes("ngrams.count_bigrams", count_bigrams):
    from nlmcore.corpora import load

    plays = load("shakespeare")
    heard = [line for text in plays.texts("train")[:8] for line in words_of(text, 1_500)]
    unheard = words_of(plays.texts("valid")[0], 1_000)
    common = Counter(word for line in heard for word in line).most_common(997)
    vocabulary = ["<bos>", "<eos>", "<unk>", *(word for word, _ in common)]
    number = {word: i for i, word in enumerate(vocabulary)}
    heard, unheard = ([[number.get(word, 2) for word in line] for line in lines] for lines in (heard, unheard))
    counts = torch.as_tensor(count_bigrams(heard, len(vocabulary), 0, 1))
    print(
        f"{len(heard):,} lines, {int(counts.sum()):,} pairs; {int((counts > 0).sum()):,} of 1,000,000 possible pairs were seen"
    )

# %%
tables = {}
if "counts" in globals():
    if passes("ngrams.additive", additive):
        tables["additive, k = 1"] = additive(counts, 1.0)
        tables["additive, k = 0.01"] = additive(counts, 0.01)
    if passes("ngrams.kneser_ney", kneser_ney):
        tables["Kneser-Ney, D = 0.75"] = kneser_ney(counts, 0.75)[1]
if tables and passes("ngrams.perplexity", perplexity):
    for name, table in tables.items():
        _, measured = perplexity(torch.as_tensor(table), unheard, 0, 1)
        print(f"{name:24} perplexity on unseen lines {measured:7.1f}")


# %%
def write(table, generator, longest=16):
    """The ids of a line, word by word, each sampled from the row of the previous word."""
    ids = [0]
    while len(ids) <= longest and ids[-1] != 1:
        ids.append(int(torch.multinomial(torch.as_tensor(table)[ids[-1]].float(), 1, generator=generator)))
    return ids


for seed, (name, table) in enumerate(tables.items()):
    generator = torch.Generator().manual_seed(seed)
    lines = [write(table, generator) for _ in range(200)]
    pairs = [pair for ids in lines for pair in pairwise(ids)]
    new = sum(int(counts[pair]) == 0 for pair in pairs) / len(pairs)
    print(
        f"{name}: {new:.0%} of the pairs of words in 200 lines were never seen, {len(pairs) / 200:.1f} pairs per line"
    )
    for ids in lines[:4]:
        print("   ", " ".join(vocabulary[i] for i in ids[1:] if i != 1))

# %% [markdown]
# Which of the tables writes worst, and what do its share of new pairs and its perplexity have to do with it? Change $k$, $D$ and the number of lines,
# and run the cells again. This will help you with question 6.

# %% [markdown]
# ## 6. In your own words [[written, 20 minutes, 4 points, core]]
#
# In about eight sentences, for somebody who has not heard the lecture:
#
# 1. Why should a word with a count of 0 not get a probability of 0, and what goes wrong with perplexity if it does?
# 2. Why does adding 1 to every count work badly for a large vocabulary, and what do Kneser and Ney do differently?
# 3. A friend reports "perplexity 60" for her model and "perplexity 90" for yours. Name two things to ask before you believe that hers is better.
#
# ### BEGIN MARK SCHEME
# One point for each of the four; half points are fine.
#
# 1. **Zero** (1): the text is a sample, and most possible pairs are missing from any sample; one probability of 0 makes the log loss infinite, and
#    with it the perplexity, whatever the rest. Half a point for one of the two.
# 2. **Adding one** (1): k·V is as large as the counts of a context or larger, so most of the probability goes to words that never follow it; every
#    word gets the same amount.
# 3. **Kneser-Ney** (1): a fixed discount is subtracted from each count and shared out by the number of different contexts of each word. Half a point
#    for "it discounts" without the continuation.
# 4. **Comparing** (1, half for each of two): the same test text? the same vocabulary or tokens, and how are unknown words counted (with a small
#    vocabulary everything is `<unk>` and easy)? is `<eos>` counted? per word or per character or per subword? was the test text in the training text?
#    Nothing for "how long was it trained".
# ### END MARK SCHEME

# %% [markdown]
# The training text is only a sample. It contains a few tens of thousands of a million possible pairs, so nearly all pairs were never seen, and many
# of them will occur in the next text. If you give them probability 0, you call them impossible. The first one that does occur costs −ln 0, infinity,
# and the perplexity of the whole text is infinite, however well everything else was predicted.
#
# Adding one gives each of the V words one more count. A context seen a hundred times then has its hundred real counts and V invented ones, say
# 20,000, so nearly all the probability is promised to words that never follow. Kneser and Ney subtract a fixed fraction D of a count from each word
# that was seen, which is little in all. They share that out by how many different words a word was seen after, which says how readily it turns up in
# a new context.
#
# I would ask whether both were measured on the same text with the same vocabulary: the more words become `<unk>`, the better the same model looks. I
# would also ask whether `<eos>` and the first words are counted, and whether the mean is per word or per subword, since smaller units have a smaller
# mean loss.

# %% [markdown]
# ---
# **Before you hand in:** *Kernel → Restart Kernel and Run All Cells*. Every check should say what you expect, and
# question 6 should be answered in your own words. Save the notebook under its own name: the grader looks for `ngrams.ipynb`.
