# %% [markdown]
# # Assignment: from one text to another
#
# Seven small functions around an encoder and a decoder: what is read and what must be said, a thought vector, training with the model's own words, a decoder that
# writes, and how a translation is counted. At the end your decoder spells numbers out of single vectors, and you measure where one vector becomes too narrow.
#
# [[questions]]
#
# **How it works.** Replace `raise NotImplementedError()` by your code and run the cell, then run the check below it. The
# check tells you what holds and what does not, and, if your mistake is a common one, which it is. Run it as often as you
# like. A question that you have not begun says so and stops nothing. Your mark comes from the same questions put with fresh
# numbers, property by property, so half a solution earns its half.
#
# [[closed]]
# Everything else is open. If you need a function from an earlier question, call yours.
#
# You need the lectures *Training a generator* and *Sequence to sequence*. About two and a half hours. Nothing is fetched from the network.
#
# Ids are whole numbers; 0 is padding, which is no word and always stands *behind* the words.

# %%
import math
from collections import Counter

import torch

from autograder.check import check, passes
from lectures import show

torch.set_printoptions(precision=3, sci_mode=False)


# %% [markdown]
# ## 1. Before anything is learned
#
# ### 1a. What it reads, what it must say [[sequences.teacher_forcing]]
#
# **Teacher forcing**: at each step the decoder reads the *right* previous word and must say the next one. So each target is used twice, shifted by one: the inputs
# begin with `bos`, the outputs end with `eos`. Both are filled up with 0 to the longest.
#
# By hand, with `bos` = 1, `eos` = 2 and the targets [7, 8] and [9]:
#
# ```text
# inputs     1  7  8        outputs    7  8  2
#            1  9  0                   9  2  0
# ```
#
# **Checked:** the shapes; what it reads; what it must say; an empty target, and one of a single word.
#
# <details><summary>A hint</summary>
#
# Make the rows as lists first. Every row is as long as its target and one more.
# </details>


# %%
def teacher_forcing(targets, bos, eos):
    """Targets as the decoder reads them and as it must say them.

    targets: a list of lists of ids -> (inputs (batch, time), outputs (batch, time)), time: the longest target and one more
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
# ### 1b. Sources backwards [[sequences.reverse]]
#
# Sutskever et al. (2014) fed the source backwards: its first word is then the last that the encoder reads, close to the first word that the decoder writes. Reverse
# each row up to its length and leave the padding where it is. The tensor that you were given stays as it was.
#
# ```text
# 7  8  9  0   (length 3)        9  8  7  0
# 5  6  0  0   (length 2)   →    6  5  0  0
# ```
#
# **Checked:** rows without padding; several lengths; more room than the longest needs; the caller's tokens are left alone.
#
# <details><summary>A hint</summary>
#
# Either a loop over the rows of a *copy*, with `.flip(0)`; or the place from which each word comes, `length − 1 − place` inside the sentence, and `gather`.
# </details>


# %%
def reverse(tokens, lengths):
    """Every row backwards up to its length; padding stays behind.

    tokens (batch, time), lengths (batch,) -> (batch, time)
    """
    ### BEGIN SOLUTION
    reversed_ = tokens.clone()
    for row, length in enumerate(lengths.tolist()):
        reversed_[row, :length] = tokens[row, :length].flip(0)
    return reversed_
    ### END SOLUTION


# %% [markdown]
# ### 1c. The thought vector [[sequences.last_states]]
#
# The state after the last *word*, $c = h_n$, is all that the decoder will get. In a batch the sentences have different lengths, and after a sentence's last word the encoder
# went on over padding.
#
# By hand: of states $h_0, h_1, h_2, h_3$ and length 2, the answer is $h_1$.
#
# **Checked:** one vector per sentence; several lengths; one sentence, and no padding.
#
# <details><summary>A hint</summary>
#
# `states[torch.arange(batch), place]` picks from each row its own place.
# </details>


# %%
def last_states(states, lengths):
    """The state after each sentence's last word.

    states (batch, time, d), lengths (batch,), at least 1 -> (batch, d)
    """
    ### BEGIN SOLUTION
    return states[torch.arange(len(states)), lengths - 1]
    ### END SOLUTION


# %% [markdown]
# ## 2. Its own words
#
# With teacher forcing the model never reads a mistake of its own in training, and nothing but its own words afterwards. **Scheduled sampling** (Bengio et al. 2015) weans it:
# at each place a coin decides whether it reads the truth or what it said itself.
#
# ### 2a. How often the truth [[sequences.teacher_share]]
#
# The share of the truth falls with the step $i$, in one of three ways:
#
# | `kind` | share |
# |---|---|
# | `"linear"` | $\max(0,\; 1 - k\, i)$ |
# | `"exponential"` | $k^{\,i}$, with $k < 1$ |
# | `"inverse sigmoid"` | $k / (k + e^{\,i / k})$, with $k \ge 1$ |
#
# By hand, at step 10: linear with $k = 0.02$ gives 0.8; exponential with $k = 0.98$ gives 0.82; inverse sigmoid with $k = 5$ gives $5 / (5 + e^2) = 0.40$.
#
# **Checked:** each kind, a linear one after it has come to 0, and step 0.
#
# <details><summary>A hint</summary>
#
# Three `if`s, and `math.exp`.
# </details>


# %%
def teacher_share(step, kind, k):
    """How often the truth is read.

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
# ### 2b. Half truth, half own words [[sequences.mixed_inputs]]
#
# `truth` are the inputs of teacher forcing, `own[b, t]` the word that the model itself said at step $t$, that is *after* reading the input of step $t$. At place $t$ the decoder
# reads the truth if `coins[b, t]` is below `share`, and otherwise what it said at the step before, `own[b, t − 1]`. The first input is always the truth: it is `bos`.
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
# **Checked:** one id per place; each place by its own coin; other shares; the truth alone, and own words alone.
#
# <details><summary>A hint</summary>
#
# Shift `own` by one place and use `torch.where`; then put the first column right.
# </details>


# %%
def mixed_inputs(truth, own, coins, share):
    """What the decoder reads: the truth where the coin is below the share, else its own last word.

    truth, own (batch, time) ids, coins (batch, time) from 0 to 1 -> (batch, time)
    """
    ### BEGIN SOLUTION
    inputs = truth.clone()
    heads = coins[:, 1:] < share
    inputs[:, 1:] = torch.where(heads, truth[:, 1:], own[:, :-1])
    return inputs
    ### END SOLUTION


# %% [markdown]
# ## 3. From a thought to words [[sequences.write]]
#
# A decoder with one recurrent layer. Its first state is the context, $h_0 = c$. At each step it reads the embedding of the last word and, if `every_step`, the context once more:
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
# By hand, with single numbers: $c = 0$, $E[\text{bos}] = 1$, $W = 1$, $U = 1$: $h_1 = \tanh(1) = 0.76$. If $V = (1, -1, 2)$ the products are $(0.76, -0.76, 1.52)$ and the first word is 2.
#
# **Checked:** words that follow from *your* states; the context as the first state; the context at every step; where it ends.
#
# <details><summary>A hint</summary>
#
# `context @ C` is the same at every step. `torch.stack(states)` makes (words, d) of a list.
# </details>


# %%
def write(context, E, W, U, C, V, bos, eos, longest, every_step):
    """Greedy words of a recurrent decoder that starts from a context.

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
# ## 4. How good is a translation? [[sequences.clipped_precision]]
#
# BLEU (Papineni et al. 2002) compares groups of $n$ words. Its heart is the **clipped precision**: of all groups of $n$ words that were written, which share is in the reference? A group
# counts at most as often as the reference has it.
#
# By hand, for $n = 1$: written *the the cat the*, reference *the cat sat*. *the* counts once, *cat* once: 2 of 4, 0.5. For $n = 2$: *the the*, *the cat*, *cat the*, of which *the cat* is
# right: 1/3. Without clipping *the the the the* would be perfect.
#
# **Checked:** single words; groups of words; repetitions, and texts shorter than $n$, which get 0.
#
# <details><summary>A hint</summary>
#
# Two `Counter`s have an intersection, `a & b`: the smaller count of each. Groups are keys if they are tuples.
# </details>


# %%
def clipped_precision(hypothesis, reference, n):
    """Which share of the groups of n words that were written is in the reference, each at most as often as there.

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
# ## Your functions at work
#
# A vector of 24 numbers for each number from 0 to 99, and a decoder that spells it in letters. Both are learned in a few seconds, with *your* `teacher_forcing`; then *your* `write` spells.
# Nothing to write here: run it when 1a and 3 pass.

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
# And a translator of the course, from English numbers into German, that hands over one vector. Your `clipped_precision` measures it, by the length of the source.

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
# The numbers get longer, the vector does not. That is worth something in question 5.

# %% [markdown]
# ## 5. In your own words [[written, 20 minutes, 4 points]]
#
# In about eight sentences, for somebody who knows recurrent networks and has not heard these lectures:
#
# 1. What does teacher forcing make easy in training, and what does the model then never learn?
# 2. In the course's own measurement scheduled sampling did not help. Name two reasons why it might not, or what you would vary.
# 3. Why does one vector limit a translator, and how does reading the source backwards help although the vector stays as wide as it was?
#
# ### BEGIN MARK SCHEME
# One point for each of the four; half points are fine.
#
# 1. **Teacher forcing** (1): every step has the right past, so that all steps can be learned at once and early mistakes do not spoil the rest; it never meets its own mistakes,
#    so it never learns to go on after one. Half a point for one of the two.
# 2. **Scheduled sampling** (1): two of: the target after an own word is still the reference's word at that place, which may no longer be right; no gradient flows through the choice; the
#    schedule falls too fast or too slowly; texts too short for errors to pile up; a small, nearly right model makes few mistakes.
# 3. **One vector** (1): its number of entries is fixed, whatever the length of the source.
# 4. **Backwards** (1): the *average* distance between a source word and its translation stays the same, but the first words come close together, so that the beginning is easier to learn, and what
#    follows rests on a good beginning. Half a point without the second half.
# ### END MARK SCHEME

# %% [markdown]
# With teacher forcing every step is given the right past. All steps can be learned at once, and a mistake at the third word does not spoil the learning of the tenth. But the model never sees a mistake of
# its own in training, so it never learns how to go on after one.
#
# That scheduled sampling did not help may be because the target stays the reference's word at each place even after an own word has shifted the sentence, so that the model is taught something wrong; and because its
# words were mostly right anyway. I would let the share fall more slowly, and try longer texts.
#
# One vector has a fixed number of entries, for three words as for thirty; from some length on different sentences must end up in nearly the same vector. Read backwards, the mean distance between words and their
# translations does not change, but the first words now come close to each other. The beginning is learned soon, and a decoder that has begun well does better with the rest.

# %% [markdown]
# ---
# **Before you hand in:** *Kernel → Restart Kernel and Run All Cells*. Every check should say what you expect, and question 5 should
# hold your own words. Save the notebook under its own name: the grader looks for `sequences.ipynb`.
