# %% [markdown]
# # Assignment: from one text to another
#
# Seven small functions around an encoder and a decoder: what the decoder reads and what it must predict, a context vector, training on the model's
# own output, a decoder that writes, and how to score a translation. You derive how errors breed errors, measure what a decoder's own output costs it,
# find a bug in somebody else's count of errors, and measure when it helps to reverse the source. At the end your decoder spells numbers out of single vectors, and you measure where one vector
# becomes too narrow.
#
# [[questions]]
#
# [[how it works]]
#
# [[closed]]
# Everything else is open. If you need a function from an earlier question, call yours.
#
# You need the lectures *Training a generator* and *Sequence to sequence*. Nothing is downloaded.
#
# Ids are integers; 0 is padding, which is not a word and always comes *after* the words.

# %%
import math
from collections import Counter

import torch

from autograder.check import check, failing, passes, show_rows
from lectures import show

torch.set_printoptions(precision=3, sci_mode=False)


# %% [markdown]
# ## 1. Before anything is learned
#
# ### 1a. What it reads, what it must predict [[sequences.teacher_forcing, 15 minutes, easy, core]]
#
# With **teacher forcing**, the decoder reads the *correct* previous word at each step and must predict the next one. So each target is used twice,
# shifted by one: the inputs start with `bos`, the outputs end with `eos`. Both are padded with 0 to the longest.
#
# By hand, with `bos` = 1, `eos` = 2 and the targets [7, 8] and [9]:
#
# ```text
# inputs     1  7  8        outputs    7  8  2
#            1  9  0                   9  2  0
# ```
#
# [[checked]]
#
# [[hints]]
# 1. Compare the first row of the inputs with the first row of the outputs. Which words are in both, and what is added on which side?
# 2. Make the rows as lists first, then write each list into a table of zeros.
# 3. Every row is one longer than its target, so `inputs[row, : len(target) + 1]` is the part to fill.


# %%
def teacher_forcing(targets, bos, eos):
    """Targets as the decoder reads them and as it must predict them.

    targets: a list of lists of ids -> (inputs (batch, time), outputs (batch, time)), time: one more than the longest target
    """
    ### BEGIN SOLUTION
    inputs = torch.zeros(len(targets), max(map(len, targets)) + 1, dtype=torch.int64)
    outputs = torch.zeros_like(inputs)
    for row, target in enumerate(targets):
        inputs[row, : len(target) + 1] = torch.tensor([bos, *target])
        outputs[row, : len(target) + 1] = torch.tensor([*target, eos])
    return inputs, outputs
    ### END SOLUTION


# %% [markdown]
# ### 1b. Reversed sources [[sequences.reverse, 15 minutes, easy, core]]
#
# Sutskever et al. (2014) reversed the source, so that its first word is the last that the encoder reads, close to the first word that the decoder
# writes. Reverse each row up to its length and leave the padding where it is. Do not change the tensor that you are given.
#
# ```text
# 7  8  9  0   (length 3)        9  8  7  0
# 5  6  0  0   (length 2)   →    6  5  0  0
# ```
#
# [[checked]]
#
# [[hints]]
# 1. Look at the second row of the example. Which positions change, and which do not?
# 2. Either loop over the rows of a *copy* and reverse the first part of each; or compute the position from which each word comes, and look the
#    words up.
# 3. For the loop there is `.flip(0)`. Without a loop the position is `length − 1 − position` inside the sentence, and `gather` looks the words up.


# %%
def reverse(tokens, lengths):
    """Every row reversed up to its length; padding stays at the end.

    tokens (batch, time), lengths (batch,) -> (batch, time)
    """
    ### BEGIN SOLUTION
    reversed_ = tokens.clone()
    for row, length in enumerate(lengths.tolist()):
        reversed_[row, :length] = tokens[row, :length].flip(0)
    return reversed_
    ### END SOLUTION


# %% [markdown]
# ### 1c. The context vector [[sequences.last_states, 10 minutes, easy, core]]
#
# The state after the last *word*, $c = h_n$, is all that the decoder will get. (It is also called the thought vector.) The sentences of a batch have
# different lengths, and after a sentence's last word the encoder continued over padding.
#
# By hand: from the states $h_0, h_1, h_2, h_3$ with length 2, return $h_1$.
#
# [[checked]]
#
# [[hints]]
# 1. In the example the length is 2 and the answer is $h_1$. Why not $h_2$?
# 2. Each row needs a different position. Index with two tensors at once, one of rows and one of positions.
# 3. `states[torch.arange(batch), position]` picks a different position from each row.


# %%
def last_states(states, lengths):
    """The state after each sentence's last word.

    states (batch, time, d), lengths (batch,), at least 1 -> (batch, d)
    """
    ### BEGIN SOLUTION
    return states[torch.arange(len(states)), lengths - 1]
    ### END SOLUTION


# %% [markdown]
# ## 2. Its own output
#
# With teacher forcing the model never reads its own mistakes during training, but at inference it reads nothing but its own output. **Scheduled
# sampling** (Bengio et al. 2015) weans it: at each position a coin decides whether it reads the reference or its own previous output.
#
# ### 2a. How often the reference [[sequences.teacher_share, 10 minutes, easy, more]]
#
# The fraction of reference words falls with the training step $i$, in one of three ways:
#
# | `kind` | fraction |
# |---|---|
# | `"linear"` | $\max(0,\; 1 - k\, i)$ |
# | `"exponential"` | $k^{\,i}$, with $k < 1$ |
# | `"inverse sigmoid"` | $k / (k + e^{\,i / k})$, with $k \ge 1$ |
#
# By hand, at step 10: linear with $k = 0.02$ gives 0.8; exponential with $k = 0.98$ gives 0.82; inverse sigmoid with $k = 5$ gives $5 / (5 + e^2) = 0.40$.
#
# [[checked]]
#
# [[hints]]
# 1. Each row of the table is one formula. What is the maximum in the first one for?
# 2. First choose the formula, then compute it with plain numbers.
# 3. Three `if`s, and `math.exp`.


# %%
def teacher_share(step, kind, k):
    """How often the decoder reads the reference.

    step: 0, 1, 2 ..., kind: "linear", "exponential" or "inverse sigmoid" -> a number from 0 to 1
    """
    ### BEGIN SOLUTION
    if kind == "linear":
        return max(0.0, 1 - k * step)
    if kind == "exponential":
        return k**step
    return k / (k + math.exp(step / k))
    ### END SOLUTION


# %% [markdown]
# ### 2b. Half reference, half own output [[sequences.mixed_inputs, 20 minutes, medium, more]]
#
# `truth` holds the inputs of teacher forcing, and `own[b, t]` the word that the model itself produced at step $t$, that is, *after* reading the input
# of step $t$. At position $t$ the decoder reads the reference if `coins[b, t]` is *below* `share`, and otherwise its output of the previous step,
# `own[b, t − 1]`. The first input is always the reference, because it is `bos`.
#
# By hand, with a share of 0.5:
#
# ```text
# truth    1    7    8    9
# own      4    5    6    3
# coins   .9   .2   .7   .6
# inputs   1    7    5    6
# ```
#
# [[checked]]
#
# [[hints]]
# 1. In the example the third input is 5. In which column of `own` is that 5, and why is the first input not chosen by its coin?
# 2. Shift the model's output by one position, then choose position by position. The first column is a special case.
# 3. Shift `own` by one position and use `torch.where`; then correct the first column.


# %%
def mixed_inputs(truth, own, coins, share):
    """What the decoder reads: the reference where the coin is below the share, otherwise its own previous word.

    truth, own (batch, time) ids, coins (batch, time) from 0 to 1 -> (batch, time)
    """
    ### BEGIN SOLUTION
    inputs = truth.clone()
    heads = coins[:, 1:] < share
    inputs[:, 1:] = torch.where(heads, truth[:, 1:], own[:, :-1])
    return inputs
    ### END SOLUTION


# %% [markdown]
# ### 2c. Errors that breed errors [[sequences.wrong_share, 15 minutes, medium, more]]
#
# In the lecture a network that had just written a wrong sound got the next one wrong several times as often; later it recovered. Here is the
# simplest model of that. A word is wrong with probability $\varepsilon$ if the previous word was right, and with probability $\delta$ if it was wrong;
# nothing else matters. Training with teacher forcing only ever sees $\varepsilon$. Let $p_t$ be the probability that word $t$ is wrong. The decoder starts
# after `bos`, which is right, so $p_0 = 0$.
#
# On paper, express $p_t$ by $p_{t-1}$. From that, derive the share $p$ of wrong words on which a long text settles, and $p_t$ itself, without a
# sum or a loop. Return both, each as a formula with nothing but the symbols.
#
# By hand: with $\varepsilon = 0.1$ and $\delta = 0.5$, $p_1 = 0.1$ and $p_2 = 0.9 \cdot 0.1 + 0.1 \cdot 0.5 = 0.14$. Then come 0.156 and 0.1624, and it settles on
# $\tfrac16$. The distances from $\tfrac16$ are 0.1667, 0.0667, 0.0267, 0.0107, 0.0043.
#
# [[checked]]
#
# [[hints]]
# 1. In the example, by what factor does each distance shrink, and what is that factor in terms of the two probabilities?
# 2. Word $t$ is wrong after a right word or after a wrong one: $p_t = (1 - p_{t-1})\, \varepsilon + p_{t-1}\, \delta$. Where it has settled, $p_t = p_{t-1} = p$.
#    Subtract the two equations to see what happens to $p - p_t$.
# 3. $p\,(1 + \varepsilon - \delta) = \varepsilon$, and $p - p_t = (\delta - \varepsilon)(p - p_{t-1})$. The first distance is $p - p_0 = p$.


# %%
def wrong_share(epsilon, delta, t):
    """The share of wrong words on which a text settles, and the probability that word t is wrong.

    epsilon: wrong after a right word, delta: wrong after a wrong one, t: 1, 2 ... -> (settled, after), two numbers
    """
    ### BEGIN SOLUTION
    settled = epsilon / (1 + epsilon - delta)
    return settled, settled * (1 - (delta - epsilon) ** t)
    ### END SOLUTION


# %% [markdown]
# ### 2d. An experiment: what does its own output cost? [[sequences.own_letters, 40 minutes, hard, more]]
#
# How many more errors does a decoder make when it reads its own letters, and does training on mixed inputs help? Measure it with a decoder whose
# training is one line of linear algebra. (The difference alone is not exposure bias: true letters also tell a decoder what its own cannot, as
# section 4 of the lecture *Training a generator* shows.)
#
# `cheques` spells out 300 numbers, made from a **seed**, and keeps 14 letters of each. Half of them are smudged: a random letter has taken their place. A decoder
# restores the text from left to right. At each position it reads the smudged letter and the two letters *before* it, as they were restored. `fit` makes
# such a decoder from training data, `restore` gives the letter that it chooses at every position if `before[:, t]` is the letter that it reads as the
# previous one. Column 0 of `before` is `BOS`. Four answers are possible:
#
# 1. Own letters cause more errors than true ones. Training on mixed inputs lowers the errors, whichever letters the decoder reads.
# 2. Own letters cause more errors than true ones. Training on mixed inputs lowers the errors with own letters, and raises them with true ones.
# 3. Own letters cause more errors than true ones. Training on mixed inputs raises the errors with own letters.
# 4. These seeds cannot tell whether own letters or true ones cause more errors.
#
# Proceed in this order.
#
# - **Predict.** Set `prediction` to 1, 2, 3 or 4 before you run anything. It is kept as you wrote it, and it need not come true.
# - **Run.** For each seed, train on the first 150 texts and measure on the other 150. The first decoder is trained with teacher forcing. Let it
#   restore the *training* texts on its own, so that each letter it chooses becomes what it reads next. Train the second decoder on your
#   `mixed_inputs` of the true letters and these, with the given coins and a share of 0.5. `errors` gets one row per seed with four fractions of wrong
#   letters: (first decoder, reads true letters), (first, its own), (second, true), (second, its own). Set `conclusion = 0` for now and run the check:
#   it says whether your numbers are right. Then run the cell below the check, and look at all five rows.
# - **Conclude.** Set `conclusion` to the answer that *your* five rows support. A difference counts if it has the same sign for every seed, or if it
#   is larger than chance explains: the 95 % interval of the mean difference (Student's t: 2.78 standard errors to each side) does not contain 0.
#
# All four numbers of a row are about the same letters with the same smudges, so only training and reading can make the difference.
#
# [[checked]]
#
# [[hints on the run]]
# 1. How often do you need a decoder's own letters for one row, and of which texts? It pays to write a function for that.
# 2. On its own, the decoder knows nothing but `BOS` at first. Call `restore` once per position, and each time copy one column of its answer to where the
#    next position reads it.
# 3. The true letters as inputs are the shifted ones of 1a, or `BOS` followed by `letters[:, :-1]`. After step t, `before[:, t + 1] = chosen[:, t]`.
#
# [[hints on the conclusion]]
# 1. Each answer makes a claim about columns 1 and 2, and some about 1 and 3 or 2 and 4. Which columns does "with own letters" mean?
# 2. Take the difference of two columns. Does it have the same sign in every row?
# 3. Five differences $x$ have the interval $\bar x \pm 2.78\, s / \sqrt 5$, where $s$ is their standard deviation. `torch.std` computes it.


# %%
ONES = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
TENS = ["zero", "ten", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
LETTERS = "._ abcdefghijklmnopqrstuvwxyz-"
BOS = 1
LONG = 14


def spelled(number):
    """341 -> "three hundred and forty-one", below a million."""
    for size, name, link in ((1000, " thousand", " "), (100, " hundred", " and ")):
        if number >= size:
            return spelled(number // size) + name + (link + spelled(number % size) if number % size else "")
    return ONES[number] if number < 20 else TENS[number // 10] + ("-" + ONES[number % 10] if number % 10 else "")


def cheques(seed):
    """The first 14 letters of 300 numbers, smudged and true, both (300, 14), and coins (300, 14)."""
    draw = torch.Generator().manual_seed(seed)
    names = [
        spelled(number)[:LONG].ljust(LONG) for number in torch.randint(1000, 1_000_000, (300,), generator=draw).tolist()
    ]
    letters = torch.tensor([[LETTERS.index(letter) for letter in name] for name in names])
    others = torch.randint(2, len(LETTERS), letters.shape, generator=draw)
    smudged = torch.where(torch.rand(letters.shape, generator=draw) < 0.5, others, letters)
    return smudged, letters, torch.rand(letters.shape, generator=draw)


def seen(smudged, before):
    """What the decoder reads at each position: the smudged letter and the two letters before."""
    return smudged, before, torch.cat([torch.full_like(before[:, :1], BOS), before[:, :-1]], dim=1)


def fit(smudged, before, letters):
    """A linear decoder, a table of scores for each letter that it reads: the least-squares solution for the true letters."""
    *x, y = (
        torch.nn.functional.one_hot(part, len(LETTERS)).double().flatten(0, 1)
        for part in (*seen(smudged, before), letters)
    )
    x = torch.cat(x, dim=1)
    return torch.linalg.solve(x.T @ x + 0.1 * torch.eye(x.shape[1], dtype=x.dtype), x.T @ y).view(3, len(LETTERS), -1)


def restore(decoder, smudged, before):
    """The letter with the largest score at every position, (texts, 14), given what the decoder reads as the letters before."""
    return sum(table[part] for table, part in zip(decoder, seen(smudged, before), strict=True)).argmax(-1)


smudged, letters, _ = cheques(0)
for row in range(3):
    print(*("".join(LETTERS[letter] for letter in part[row].tolist()) for part in (smudged, letters)), sep="   →   ")


# %%
def own_letters(seeds):
    """The errors of two decoders that read true letters and their own, for several seeds.

    seeds: a list -> (prediction, errors (seeds, 4), conclusion)
    """

    ### BEGIN SOLUTION
    def alone(decoder, smudged):
        before = torch.full_like(smudged, BOS)
        for t in range(LONG - 1):
            before[:, t + 1] = restore(decoder, smudged, before)[:, t]
        return restore(decoder, smudged, before)

    prediction = 2
    errors = []
    for seed in seeds:
        smudged, letters, coins = cheques(seed)
        before = teacher_forcing(letters.tolist(), BOS, 0)[0][:, :-1]
        first = fit(smudged[:150], before[:150], letters[:150])
        mixed = mixed_inputs(before[:150], alone(first, smudged[:150]), coins[:150], 0.5)
        row = []
        for decoder in (first, fit(smudged[:150], mixed, letters[:150])):
            for found in (restore(decoder, smudged[150:], before[150:]), alone(decoder, smudged[150:])):
                row.append((found != letters[150:]).double().mean())
        errors.append(torch.stack(row))
    conclusion = 2
    return prediction, torch.stack(errors), conclusion
    ### END SOLUTION


# %%
show_rows("sequences.own_letters", own_letters, "first, true", "first, own", "second, true", "second, own")

# %% [markdown]
# ## 3. From a context to words [[sequences.write, 35 minutes, hard, core]]
#
# The decoder has one recurrent layer. Its initial state is the context, $h_0 = c$. At each step it reads the embedding of the previous word and, if
# `every_step`, the context once more:
#
# $$h_i = \tanh(E[y_{i-1}]\, W + h_{i-1} U \;\big[\, + \; c\, C \,\big]), \qquad y_i = \operatorname{argmax}\, h_i V, \qquad y_0 = \texttt{bos}$$
#
# It stops after `eos`, which is part of the answer, or after `longest` words. Return the words and all states.
#
# ```text
# c ──▶ h1 ──▶ h2 ──▶ h3 ──▶        every_step: c goes into each h as well
#       ▲ │    ▲ │    ▲ │
#    bos  y1──┘  y2──┘  y3 = eos
# ```
#
# By hand, in one dimension: with $c = 0$, $E[\text{bos}] = 1$, $W = 1$ and $U = 1$, $h_1 = \tanh(1) = 0.76$. If $V = (1, -1, 2)$, the logits are
# $(0.76, -0.76, 1.52)$ and the first word is 2.
#
# [[checked]]
#
# [[hints]]
# 1. Look at the arrows into $h_2$ in the diagram. Which of them change from step to step, and which one does not?
# 2. Use a loop that remembers the state and the previous word. Compute the new state first; the word follows from the *new* state.
# 3. `context @ C` is the same at every step. `torch.stack(states)` turns a list into (words, d).


# %%
def write(context, E, W, U, C, V, bos, eos, longest, every_step):
    """Greedy output of a recurrent decoder that starts from a context.

    context (d,), E (vocab, e), W (e, d), U (d, d), C (d, d), V (d, vocab)
    -> (tokens: a list of at most `longest` ids, states (words, d))
    """
    ### BEGIN SOLUTION
    h, tokens, states = context, [], []
    while len(tokens) < longest and eos not in tokens:
        last = tokens[-1] if tokens else bos
        z = E[last] @ W + h @ U
        if every_step:
            z = z + context @ C
        h = torch.tanh(z)
        states.append(h)
        tokens.append(int((h @ V).argmax()))
    return tokens, torch.stack(states)
    ### END SOLUTION


# %% [markdown]
# ## 4. How good is a translation? [[sequences.clipped_precision, 20 minutes, medium, core]]
#
# BLEU (Papineni et al. 2002) compares n-grams, groups of $n$ consecutive words. Its heart is the **clipped precision**: what fraction of all the
# n-grams that were written occurs in the reference? An n-gram counts at most as often as it occurs in the reference.
#
# By hand, for $n = 1$: written *the the cat the*, reference *the cat sat*. *the* counts once and *cat* once, so 2 of 4, or 0.5. For $n = 2$ there are
# *the the*, *the cat* and *cat the*, and only *the cat* is right: 1/3. Without clipping, *the the the the* would be perfect.
#
# [[checked]]
#
# [[hints]]
# 1. In the example *the* was written three times and counts once. From which text does the 1 come?
# 2. Count the n-grams of both texts. Each n-gram counts as often as the smaller of its two counts says.
# 3. Two `Counter`s have an intersection, `a & b`, which is the smaller count of each. N-grams can be keys if they are tuples.


# %%
def clipped_precision(hypothesis, reference, n):
    """The fraction of the hypothesis's n-grams that occur in the reference, each at most as often as there.

    hypothesis, reference: lists of ids -> a number from 0 to 1
    """

    ### BEGIN SOLUTION
    def groups(words):
        return Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))

    written = groups(hypothesis)
    right = written & groups(reference)
    return sum(right.values()) / max(1, sum(written.values()))
    ### END SOLUTION


# %% [markdown]
# ## 5. A friend counts errors
#
# A friend wants to know $\varepsilon$ and $\delta$ of 2c for her own decoder. She compares what it wrote with the references, word by word. Every word of
# a reference counts: where her decoder has already stopped, which leaves a 0 in `written`, that word is wrong. What it writes beyond the end of a
# reference does not count. The first word comes after `bos`, which is right. Her code runs, and both numbers look believable. One line is wrong.
#
# ### 5a. Which line? [[sequences.wrong_line, 10 minutes, medium, more]]
#
# [[listing sequences.error_rates]]
#
# Say for each line what its tensor should contain for a text that is shorter than its reference, and for one that is longer. Return the number of the
# wrong line, as in this listing.
#
# [[checked]] You can copy the function into a cell of your own to try it; the check of 5b shows you an input.
#
# [[hints]]
# 1. Her decoder writes nothing at all: every word is missing. What should the first rate be, and what does she get?
# 2. Follow one missing word through the listing. In which tensor does it get lost?
# 3. Padding is where the *reference* is 0. Look for the line that decides what is counted.


# %%
def wrong_line():
    """The number of the one line of the listing that is wrong."""
    ### BEGIN SOLUTION
    return 6
    ### END SOLUTION


# %% [markdown]
# ### 5b. Mend it [[sequences.error_rates, 5 minutes, easy, more]]
#
# This is your friend's function. Change the line, and nothing else.
#
# [[checked]]
#
# [[hints]]
# 1. Copy the smallest input that the check shows, and mark every word that should count.
# 2. Which of the two tensors says how many words there should have been?
# 3. `reference > 0` is True for every word of the references.


# %%
def error_rates(written, reference):
    """How often a word is wrong after a right word, and after a wrong one.

    written, reference (batch, time) ids, 0 after the end of a text -> rates (2,)
    """
    ### BEGIN SOLUTION
    counted = reference > 0
    wrong = (written != reference) & counted
    before = torch.zeros_like(wrong)
    before[:, 1:] = wrong[:, :-1]
    after_right = (wrong & ~before).sum() / (counted & ~before).sum()
    after_wrong = (wrong & before).sum() / (counted & before).sum()
    return torch.stack([after_right, after_wrong])
    ### END SOLUTION


# %% [markdown]
# ## 6. An experiment: when does reversing help? [[sequences.reversed_or_not, 30 minutes, medium, core]]
#
# Sutskever et al. reversed the source, and could only guess why it helped. The *average* distance of a word from the end of the source stays the same.
# So is a reversed source easier to read out of the context at all? To separate this from training, take an encoder in which nothing is learned.
#
# `sources` draws 400 sentences from a **seed**, with `shortest` to 8 words. `encode` is a random recurrent encoder and gives all its states. `misread` fits,
# for each position of the sources, a linear map from the context to the word, on half of the sentences. It returns the fraction of words that these
# maps get wrong in the other half. Four answers are possible:
#
# 1. Reversing lowers the error, whether all sentences have 8 words or they have 4 to 8.
# 2. If all sentences have 8 words, these seeds cannot tell; if they have 4 to 8, reversing lowers the error.
# 3. If all sentences have 8 words, reversing lowers the error; if they have 4 to 8, these seeds cannot tell.
# 4. These seeds cannot tell, whether all sentences have 8 words or they have 4 to 8.
#
# Proceed in this order.
#
# - **Predict.** Set `prediction` to 1, 2, 3 or 4 before you run anything. It is kept as you wrote it, and it need not come true.
# - **Run.** For each seed, and for `shortest` = 8 and 4, encode the sources with the same seed, as they are and reversed, take the context of each,
#   and measure how many words of the source are misread. `errors` gets one row per seed, with four numbers: (8 words, as they are), (8, reversed), (4
#   to 8, as they are), (4 to 8, reversed). Set `conclusion = 0` for now and run the check: it says whether your numbers are right. Then run the cell
#   below the check, and look at all five rows.
# - **Conclude.** Set `conclusion` to the answer that *your* five rows support. A difference counts if it has the same sign for every seed, or if it
#   is larger than chance explains: the 95 % interval of the mean difference (Student's t: 2.78 standard errors to each side) does not contain 0.
#
# And why? How many steps before the end was the second word of a source read? Try `shortest` = 7 and 1. This will help you with question 7.
#
# [[checked]]
#
# [[hints on the run]]
# 1. How many contexts does one row need? Which words should be read out of a context whose source was reversed?
# 2. Two loops inside the one over the seeds: over the two values of `shortest`, and over the tokens as they are and from your `reverse`. Then comes your
#    `last_states`.
# 3. The contexts are `last_states(encode(…, seed), lengths)`. Whether the encoder has read `tokens` or `reverse(tokens, lengths)`, the words to be read
#    out are `tokens`.
#
# [[hints on the conclusion]]
# 1. Compare columns 1 and 2. What would you have concluded from seed 0 alone, and what from seed 1?
# 2. Take the differences of columns 1 and 2, and of columns 3 and 4. Do they have the same sign in every row?
# 3. Five differences $x$ have the interval $\bar x \pm 2.78\, s / \sqrt 5$, where $s$ is their standard deviation. `torch.std` computes it.


# %%
def sources(seed, shortest):
    """400 sentences of random words, with `shortest` to 8 words each: tokens (400, 8), lengths (400,)."""
    draw = torch.Generator().manual_seed(seed)
    lengths = torch.randint(shortest, 9, (400,), generator=draw)
    tokens = torch.randint(3, 15, (400, 8), generator=draw)
    return tokens * (torch.arange(8) < lengths[:, None]), lengths


def encode(tokens, seed):
    """All states of a random recurrent encoder: (sentences, time, 32)."""
    draw = torch.Generator().manual_seed(seed)
    E = 0.5 * torch.randn(15, 32, generator=draw, dtype=torch.float64)
    U = 0.9 * torch.randn(32, 32, generator=draw, dtype=torch.float64) / 32**0.5
    h, states = torch.zeros(len(tokens), 32, dtype=torch.float64), []
    for t in range(tokens.shape[1]):
        h = torch.tanh(E[tokens[:, t]] + h @ U)
        states.append(h)
    return torch.stack(states, dim=1)


def misread(contexts, tokens, lengths):
    """The fraction of words that linear maps from the contexts get wrong, in sentences that they were not fitted to."""
    words = torch.nn.functional.one_hot(tokens, 15).to(contexts.dtype)
    fitted, wrong, ridge = torch.arange(len(tokens)) < 200, 0, 0.1 * torch.eye(32, dtype=contexts.dtype)
    for t in range(tokens.shape[1]):
        learn, measure = (lengths > t) & fitted, (lengths > t) & ~fitted
        x = contexts[learn]
        weights = torch.linalg.solve(x.T @ x + ridge, x.T @ words[learn, t])
        wrong += ((contexts[measure] @ weights).argmax(1) != tokens[measure, t]).sum()
    return wrong / lengths[~fitted].sum()


# %%
def reversed_or_not(seeds):
    """The words misread from contexts of sources as they are and reversed, of one length and of several, for several seeds.

    seeds: a list -> (prediction, errors (seeds, 4), conclusion)
    """
    ### BEGIN SOLUTION
    prediction = 1
    errors = []
    for seed in seeds:
        row = []
        for shortest in (8, 4):
            tokens, lengths = sources(seed, shortest)
            for read in (tokens, reverse(tokens, lengths)):
                contexts = last_states(encode(read, seed), lengths)
                row.append(misread(contexts, tokens, lengths))
        errors.append(torch.stack(row))
    conclusion = 2
    return prediction, torch.stack(errors), conclusion
    ### END SOLUTION


# %%
show_rows(
    "sequences.reversed_or_not",
    reversed_or_not,
    "8, as they are",
    "8, reversed",
    "4 to 8, as they are",
    "4 to 8, reversed",
)

# %% [markdown]
# ## Your functions at work
#
# Here are 24-dimensional vectors for the numbers from 0 to 99, and a decoder that spells them in letters. Both are learned in a few seconds, with
# *your* `teacher_forcing`; then *your* `write` spells. There is nothing to write here. Run it when 1a and 3 pass.

# %%
if passes("sequences.teacher_forcing", teacher_forcing) and passes("sequences.write", write):
    from lectures.recipes.pairs import english

    letters = "___ abcdefghijklmnopqrstuvwxyz-"  # 0, 1 and 2: padding, bos, eos
    names = [[letters.index(letter, 3) for letter in english(number)] for number in range(100)]
    inputs, outputs = (torch.as_tensor(part) for part in teacher_forcing(names, 1, 2))
    draw = torch.Generator().manual_seed(0)
    shapes = {"c": (100, 24), "E": (31, 12), "W": (12, 24), "U": (24, 24), "C": (24, 24), "V": (24, 31)}
    p = {name: (torch.randn(*shape, generator=draw) * 0.3).requires_grad_() for name, shape in shapes.items()}
    optimiser = torch.optim.Adam(p.values(), lr=0.02)
    for _ in range(400):
        h, logits = p["c"], []
        for t in range(inputs.shape[1]):
            h = torch.tanh(p["E"][inputs[:, t]] @ p["W"] + h @ p["U"] + p["c"] @ p["C"])
            logits.append(h @ p["V"])
        loss = torch.nn.functional.cross_entropy(torch.stack(logits, 1).mT, outputs, ignore_index=0)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    with torch.no_grad():
        for number in (0, 7, 13, 42, 99):
            tokens, _ = write(p["c"][number], *(p[name] for name in "EWUCV"), 1, 2, 20, True)
            print(f"{number:3}  {''.join(letters[token] for token in tokens if token > 2)}")

# %% [markdown]
# And here is one of the course's translators, from English numbers into German, that passes on a single vector. Your `clipped_precision` scores it,
# by the length of the source.

# %%
if passes("sequences.clipped_precision", clipped_precision):
    from nlmcore.decoding import greedy
    from lectures.trained import checkpoint
    from lectures.recipes.pairs import english, german

    model, (source, target), _ = checkpoint("numbers_initial_20")
    draw = torch.Generator().manual_seed(1)
    measured = {}
    for digits in range(1, 10):
        scores = []
        for number in torch.randint(10 ** (digits - 1), 10**digits, (12,), generator=draw).tolist():
            with torch.no_grad():
                state = model.encode(torch.tensor([[*source.encode(english(number)), 2]]))
                written = greedy(model, torch.tensor([[1]]), 50, eos=2, state=state).tokens[0].tolist()
            scores.append(clipped_precision(written, [*target.encode(german(number)), 2], 2))
        measured[digits] = sum(scores) / len(scores)
    picture = show.curves(
        list(measured),
        {"": list(measured.values())},
        x_title="digits of the number",
        y_title="precision of pairs of words",
        alt="Precision of pairs of words against the digits of the number: "
        + ", ".join(f"{digits}: {score:.2f}" for digits, score in measured.items()),
    )
else:
    picture = "Come back here when question 4 passes."
picture

# %% [markdown]
# The numbers get longer, but the vector does not. This will help you with question 7.

# %% [markdown]
# ## 7. In your own words [[written, 20 minutes, 4 points, core]]
#
# In about eight sentences, for somebody who knows recurrent networks and has not heard these lectures:
#
# 1. What does teacher forcing make easy in training, and what does the model then never learn?
# 2. In the course's own measurement scheduled sampling did not help. Name two reasons why it might not, or two things that you would vary.
# 3. Why does one vector limit a translator, and what does reversing the source change although the vector stays as wide as before?
#
# ### BEGIN MARK SCHEME
# One point for each of the four; half points are fine.
#
# 1. **Teacher forcing** (1): every step has the right past, so all steps can be learned in parallel and early mistakes do not spoil the rest; the
#    model never meets its own mistakes, so it never learns to continue after one. Half a point for one of the two.
# 2. **Scheduled sampling** (1): two of: after a word of the model's own, the target is still the reference's word at that position, which may no
#    longer be right; no gradient flows through the choice; the schedule falls too fast or too slowly; texts too short for errors to accumulate; a
#    small, nearly right model makes few mistakes.
# 3. **One vector** (1): its number of entries is fixed, whatever the length of the source.
# 4. **Reversed** (1): the *average* distance between a source word and its translation stays the same, but the first words come close together, so
#    the gradient has a short path between them. Half a point without the second half. A full point also for what question 6 shows: word $t$ is then
#    read $t$ steps before the end, whatever the length. None for "a better beginning": in the course's own
#    measurement the first words came out worse, the last better.
# ### END MARK SCHEME

# %% [markdown]
# With teacher forcing every step is given the right past. All steps can be learned in parallel, and a mistake at the third word does not spoil the
# learning of the tenth. But the model never sees its own mistakes in training, so it never learns how to continue after one.
#
# Scheduled sampling may not have helped because the target stays the reference's word at each position, even after one of the model's own words has
# shifted the sentence, so the model is taught something wrong. Or its words were mostly right anyway. I would let the fraction of reference words
# fall more slowly, and try longer texts.
#
# One vector has a fixed number of entries, for three words as for thirty, so beyond some length different sentences must end up in nearly the same
# vector. If the source is reversed, the mean distance between words and their translations does not change, but the first words now come close to
# each other, and the gradient has a short path between them.

# %% [markdown]
# ---
# **Before you hand in:** *Kernel → Restart Kernel and Run All Cells*. Every check should say what you expect, and
# question 7 should be answered in your own words. Save the notebook under its own name: the grader looks for `sequences.ipynb`.
