# %% [markdown]
# # Assignment: decoding
#
# Six small functions that turn probabilities into text: greedy search, two ways to cut a distribution, a beam, and what length has to do
# with it. At the end they write with a real language model.
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
# You need the lecture *Decoding*. About two and a half hours. Nothing is fetched from the network.
#
# In this assignment a language model is a **table**: `log_probs[a, w]` is $\ln P(w \mid a)$, the logarithm of the probability that $w$ follows
# $a$. It looks at one word only, which is all that searching and drawing need; at the end a larger model takes its place.

# %%
import math

import torch

from autograder.check import check, passes
from lectures import show

torch.set_printoptions(precision=3, sci_mode=False)

# %% [markdown]
# ## 1. One word at a time
#
# ### 1a. The best word, again and again [[decoding.greedy]]
#
# Begin at `start`, take the most probable next word, then the most probable one after that, and so on, until `eos` comes or `longest` words are
# written. `start` was given and is not part of the answer; `eos` is.
#
# By hand, with the words a = 0, b = 1, c = 2 and `eos` = 3:

# %%
probabilities = torch.tensor(
    [[0.1, 0.4, 0.2, 0.3], [0.3, 0.1, 0.35, 0.25], [0.2, 0.1, 0.1, 0.6], [0.25, 0.25, 0.25, 0.25]]
)
show.heatmap(
    probabilities,
    ["a", "b", "c", "eos"],
    ["a", "b", "c", "eos"],
    row_title="last word",
    column_title="next word",
    alt="A table of probabilities. After a the most probable word is b with 0.4, after b it is c with 0.35, after c it is eos with 0.6.",
)


# %% [markdown]
# From a: b (0.4), then c (0.35), then `eos` (0.6). The answer is [1, 2, 3]. With `longest` = 2 it is [1, 2].
#
# **Checked:** a text that ends by itself; one that does not; one that ends at once, and one of which a single word is allowed.
#
# <details><summary>A hint</summary>
#
# `log_probs[last].argmax()`. What is `last` in the first step, and what in the next?
# </details>


# %%
def greedy(log_probs, start, eos, longest):
    """The most probable next word, again and again.

    log_probs (V, V), row: last word -> a list of at most `longest` ids; eos, if it comes, is the last of them
    """
    ### BEGIN SOLUTION
    tokens, last = [], start
    while len(tokens) < longest and last != eos:
        last = int(log_probs[last].argmax())
        tokens.append(last)
    return tokens
    ### END SOLUTION


# %% [markdown]
# ### 1b. The k best, at a temperature [[decoding.top_k]]
#
# Drawing from the whole distribution sometimes picks a word from its long tail, and one absurd word leads to the next. **Top-k** keeps the $k$ most
# probable words and shares the whole probability among them. The **temperature** $T$ divides the logits before the softmax: below 1 it sharpens,
# above 1 it flattens.
#
# $$p_w = \frac{e^{z_w / T}}{\sum_{v \,\text{kept}} e^{z_v / T}} \quad \text{for the kept words,} \qquad 0 \text{ for the others}$$
#
# By hand: $e^z = (4, 3, 2, 1)$, $k = 2$, $T = 1$ gives $(4/7, 3/7, 0, 0)$. With $T = \tfrac12$ the exponentials are squared: $(16/25, 9/25, 0, 0)$.
#
# **Checked:** the shape; $k$ words that share the probability; temperatures; $k = 1$, all words, $k$ larger than the vocabulary, and logits
# above a hundred. No two logits are equal.
#
# <details><summary>A hint</summary>
#
# What gets a logit of −∞ gets a probability of exactly 0. `logits.topk(k)` complains when $k$ is larger than what there is.
# </details>


# %%
def top_k(logits, k, temperature):
    """The k most probable words share the probability.

    logits (V,), k at least 1, temperature above 0 -> probabilities (V,), which sum to 1
    """
    ### BEGIN SOLUTION
    least = logits.topk(min(k, len(logits))).values[-1]
    return torch.softmax(logits.masked_fill(logits < least, -math.inf) / temperature, dim=-1)
    ### END SOLUTION


# %% [markdown]
# ### 1c. The nucleus [[decoding.nucleus]]
#
# How many words are sensible depends on the place: after *the United States of* one, after *I like* hundreds. The **nucleus** (Holtzman et al. 2020)
# keeps the *smallest* set of most probable words whose probabilities sum to *at least* $p$, and shares everything among them.
#
# By hand, for the probabilities $(0.5, 0.2, 0.15, 0.1, 0.05)$:
#
# | $p$ | running sum | kept | shared out |
# |---|---|---|---|
# | 0.6 | 0.5, **0.7** | 2 words | 0.714, 0.286 |
# | 0.8 | 0.5, 0.7, **0.85** | 3 words | 0.588, 0.235, 0.176 |
# | 0.3 | **0.5** | 1 word | 1 |
#
# The word with which the sum gets to $p$ belongs to it. So at least one word is always kept.
#
# **Checked:** the shape; the usual $p$; one word that has more than $p$; $p = 1$, a very small one, and logits above a hundred.
#
# <details><summary>A hint on the sum</summary>
#
# `values, order = p.sort(descending=True)`, then `values.cumsum(0)`. A word is kept if the sum *before* it is still below $p$.
# </details>
# <details><summary>A hint on the way back</summary>
#
# `kept[order] = …` puts what you know about the sorted words into the places of the words.
# </details>


# %%
def nucleus(logits, p):
    """The smallest set of most probable words that sums to at least p shares the probability.

    logits (V,), p above 0 and at most 1 -> probabilities (V,), which sum to 1
    """
    ### BEGIN SOLUTION
    probabilities = torch.softmax(logits, dim=-1)
    values, order = probabilities.sort(descending=True)
    before = values.cumsum(0) - values
    kept = torch.zeros_like(probabilities)
    kept[order] = torch.where(before < p, values, 0.0)
    return kept / kept.sum()
    ### END SOLUTION


# %% [markdown]
# ## 2. Several texts at once
#
# Greedy search never begins with an improbable word, even if the best text begins with one. In the table of 1a it finds *b c eos* with
# $0.4 \cdot 0.35 \cdot 0.6 = 0.084$, while `eos` at once has 0.3. A **beam** keeps several texts, the *hypotheses*, side by side.
#
# ### 2a. One step [[decoding.beam_step]]
#
# There are some hypotheses, each with a score, the log-probability of what it has so far. Each can go on with each word of the vocabulary. Of *all*
# these extensions take the `beam` best: their scores, whose extension each is (its *parent*), and with which word.
#
# By hand, with two hypotheses of probability 0.5 and 0.3, three words, and a beam of 2:
#
# | | a | b | c |
# |---|---|---|---|
# | parent 0 (0.5) | 0.5 · 0.2 = 0.10 | 0.5 · 0.5 = **0.25** | 0.5 · 0.3 = 0.15 |
# | parent 1 (0.3) | 0.3 · 0.1 = 0.03 | 0.3 · 0.1 = 0.03 | 0.3 · 0.8 = **0.24** |
#
# Parents [0, 1], words [1, 2]. With a beam of 3 the next one is 0.15, and parent 0 has two children. In logarithms the products are sums.
#
# **Checked:** three lists of the size of the beam; the scores, best first; whose, and which word; the first step, with a single hypothesis.
#
# <details><summary>A hint</summary>
#
# `scores[:, None] + log_probs` has shape (hypotheses, V). `.reshape(-1).topk(beam)` gives the best and their places in the flat list; with `//` and
# `%` a place becomes row and column.
# </details>


# %%
def beam_step(scores, log_probs, beam):
    """The best extensions of all hypotheses, best first.

    scores (hypotheses,), log_probs (hypotheses, V): of each word after each hypothesis
    -> (scores (beam,), parents (beam,), tokens (beam,))
    """
    ### BEGIN SOLUTION
    every = scores[:, None] + log_probs
    best, places = every.reshape(-1).topk(beam)
    return best, places // log_probs.shape[1], places % log_probs.shape[1]
    ### END SOLUTION


# %% [markdown]
# ### 2b. The whole search [[decoding.beam_search]]
#
# The rules, which differ a little from library to library; these are ours:
#
# 1. Begin with one hypothesis: no words yet, log-probability 0.
# 2. In each step every *open* hypothesis is extended by every word. A hypothesis that ended with `eos` is kept as it is, with the score it has.
# 3. Of all these, extended or ended, the `beam` best stay. An ended one takes a place like any other, and may lose it to better ones.
# 4. Stop after `longest` steps, or when all that stay have ended. Answer with the best of them: its words (without `start`) and its log-probability.
#
# By hand, in the table of 1a, from a, with a beam of 2:
#
# | step | kept | dropped |
# |---|---|---|
# | 1 | b 0.4 · eos 0.3 | c 0.2 · a 0.1 |
# | 2 | eos 0.3 (ended) · b c 0.14 | b a 0.12 · b eos 0.10 · b b 0.04 |
# | 3 | eos 0.3 · b c eos 0.084 | … |
#
# All have ended. The answer is [3] with $\ln 0.3 = -1.20$: to say nothing at all is the most probable text of this model.
#
# **Checked:** a beam of one, which is greedy; the log-probability of *your* tokens, be they right or not; better than greedy; texts that have ended
# beside others that go on; cut off before it ends.
#
# <details><summary>A hint on keeping books</summary>
#
# A list of pairs (tokens, score) and `sorted(…, key=…)` are good enough; speed is not looked at.
# </details>
# <details><summary>A hint on the end</summary>
#
# Which hypotheses have ended? Those whose last word is `eos`. The first one has no last word yet: its context is `start`.
# </details>


# %%
def beam_search(log_probs, start, eos, beam, longest):
    """The best of the texts that a beam finds.

    log_probs (V, V), row: last word -> (tokens, log_prob): a list of at most `longest` ids, and a number
    """
    ### BEGIN SOLUTION
    held = [([], 0.0)]
    for _ in range(longest):
        grown = []
        for tokens, score in held:
            if tokens and tokens[-1] == eos:
                grown.append((tokens, score))
                continue
            row = log_probs[tokens[-1] if tokens else start].tolist()
            grown.extend(([*tokens, word], score + new) for word, new in enumerate(row))
        held = sorted(grown, key=lambda hypothesis: -hypothesis[1])[:beam]
    return held[0]
    ### END SOLUTION


# %% [markdown]
# ### 2c. Short wins, unless [[decoding.length_penalty]]
#
# Every word makes a text less probable, so the best text tends to be a short one. A **length penalty** $\alpha$ divides: with $n$ words, `eos` counted,
#
# $$\mathrm{score} = \frac{\ln P}{n^{\alpha}} .$$
#
# $\alpha = 0$ changes nothing; $\alpha = 1$ is the mean per word. Return all scores, and the number of the best.
#
# By hand: $\ln P = (-2, -3)$ with lengths $(1, 4)$. With $\alpha = 0$ the first wins; with $\alpha = 1$ the scores are $(-2, -0.75)$ and the second wins.
#
# **Checked:** $\alpha = 1$; other $\alpha$; $\alpha = 0$.
#
# <details><summary>A hint</summary>
#
# All scores are negative. Is the best one the largest or the smallest?
# </details>


# %%
def length_penalty(log_probs, lengths, penalty):
    """Log-probabilities over length to the power of the penalty, and which is the best.

    log_probs (n,), lengths (n,) whole numbers, penalty at least 0 -> (scores (n,), best)
    """
    ### BEGIN SOLUTION
    scores = log_probs / lengths**penalty
    return scores, scores.argmax()
    ### END SOLUTION


# %% [markdown]
# ## Your functions at work
#
# A language model of 135 million parameters, SmolLM2, says what may come next; your functions choose. It reads the whole text each time, and
# carries its state along. Nothing to write here: run it when the checks above pass. Loading takes some seconds.

# %%
prompt = "Once upon a time there was a"
ways = {}
if passes("decoding.top_k", top_k):
    ways["top-k 20"] = lambda logits: top_k(logits, 20, 1.0)
    ways["top-k 20, temperature 0.5"] = lambda logits: top_k(logits, 20, 0.5)
if passes("decoding.nucleus", nucleus):
    ways["nucleus 0.9"] = lambda logits: nucleus(logits, 0.9)

if ways:
    from nlmcore.pretrained import smollm2

    model, tokenizer = smollm2()
    ways = {
        "greedy": lambda logits: (logits == logits.max()).float(),
        "no cut": lambda logits: logits.softmax(-1),
    } | ways


def go_on(choose, words=16, seed=5):
    """The prompt, and words drawn one after the other from what `choose` makes of the logits."""
    draw, state = torch.Generator().manual_seed(seed), None
    tokens, written = torch.tensor([tokenizer.encode(prompt)]), []
    with torch.no_grad():
        for _ in range(words):
            logits, state = model(tokens, state)
            chosen = int(torch.multinomial(torch.as_tensor(choose(logits[0, -1])).float(), 1, generator=draw))
            written.append(chosen)
            tokens = torch.tensor([[chosen]])
    return prompt + tokenizer.decode(written)


for name, choose in ways.items():
    print(f"{name:26} {' '.join(go_on(choose).split())}")

# %% [markdown]
# And your beam, on pairs of letters of Shakespeare: what is the most probable line of all, for growing beams?

# %%
if passes("decoding.beam_search", beam_search) and passes("decoding.greedy", greedy):
    from nlmcore.corpora import load
    from nlmcore.ngram import NGramLM

    text = load("shakespeare").texts("train")[0].lower()[:60_000]
    letters = sorted(set(text))
    number = {letter: i for i, letter in enumerate(letters)}
    bigrams = NGramLM(2, len(letters), "kneser_ney").fit(torch.tensor([number[letter] for letter in text]))
    table = torch.log_softmax(bigrams(torch.arange(len(letters))[:, None])[0][:, -1], dim=-1)
    end = number["\n"]
    print("greedy  ", repr("".join(letters[i] for i in greedy(table, end, number[","], 20))))
    for beam in (1, 2, 8):
        tokens, log_prob = beam_search(table, end, number[","], beam, 20)
        print(f"beam {beam:2}  ", repr("".join(letters[i] for i in tokens)), f"ln P = {float(log_prob):.1f}")

# %% [markdown]
# The wider the beam, the more probable the line. Is it any better? That is worth something in question 3.

# %% [markdown]
# ## 3. In your own words [[written, 20 minutes, 4 points]]
#
# In about eight sentences, for somebody who has not heard the lecture:
#
# 1. Why can one not simply compute the most probable text? Give a number.
# 2. When would you search (greedy, beam), and when draw? One example of each, with a reason.
# 3. A colleague finds that a beam of 100 translates worse than one of 5. She suspects a bug. What else can it be?
#
# ### BEGIN MARK SCHEME
# One point for each of the four; half points are fine.
#
# 1. **Prohibitive** (1): V^n texts; any number of the right order, such as 50,000^20 ≈ 10^94. Half a point without a number.
# 2. **Search** (1): where there is one right answer or few of them, translation, transcription: the mode is what is wanted. Half a point without reason.
# 3. **Draw** (1): open-ended text, stories, dialogue: the most probable continuation is dull and repeats itself; people do not always take the most
#    probable word. Half a point without a reason.
# 4. **Not a bug** (1): the model itself gives short or empty texts too much probability, and a narrow beam did not find them; the search got better and
#    the model's fault came to light; a length penalty helps. Half a point for "too short" without the model's part in it.
# ### END MARK SCHEME

# %% [markdown]
# With 50,000 words there are 50,000 to the power of 20 texts of twenty words, about 10⁹⁴, more than there are atoms in the universe. And no word can be
# judged alone, since the best text may begin with an improbable one.
#
# I would search where there is one right answer or few, as in translation or in writing down speech: there the most probable text is what is asked for.
# I would draw in a story or a conversation. There the most probable continuation is dull and soon runs in circles, because what people write is only rarely
# the most probable thing at each step.
#
# A beam of 100 finds more probable texts than one of 5. If these are worse, the model gives too much probability to the wrong texts, typically to short ones
# or to none at all, since each word makes a text less probable. The narrow beam merely did not find them. A length penalty, or a model that was trained
# against it, helps; a wider search does not.

# %% [markdown]
# ---
# **Before you hand in:** *Kernel → Restart Kernel and Run All Cells*. Every check should say what you expect, and question 3 should
# hold your own words. Save the notebook under its own name: the grader looks for `decoding.ipynb`.
