# %% [markdown]
# # Assignment: decoding
#
# Six small functions that turn probabilities into text: greedy search, two ways to truncate a distribution, a beam, and a penalty for length. At the
# end they write with a real language model. In between you derive a formula, find a bug in somebody else's code, and run an experiment.
#
# [[questions]]
#
# [[how it works]]
#
# [[closed]]
# Everything else is open. If you need a function from an earlier question, call yours.
#
# You need the lecture *Decoding*. Nothing is downloaded.
#
# In this assignment a language model is a **table**: `log_probs[a, w]` is $\ln P(w \mid a)$, the log-probability that $w$ follows $a$. It sees only
# one word of context, which is all that you need to try searching and sampling; at the end a larger model takes its place.

# %%
import math

import torch

from autograder.check import check, failing, passes, show_rows
from lectures import show

torch.set_printoptions(precision=3, sci_mode=False)

# %% [markdown]
# ## 1. One word at a time
#
# ### 1a. The best word, over and over [[decoding.greedy, 15 minutes, easy, core]]
#
# Start at `start`, append the most probable next word, then the most probable word after that, and so on, until `eos` is chosen or there are
# `longest` words. `start` was given and is not part of the answer; `eos` is.
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
# [[checked]]
#
# [[hints]]
# 1. Follow the example in the table. Which row do you read in each of the three steps?
# 2. Remember one word from step to step. It chooses the row, and the largest entry of the row gives the next word.
# 3. `log_probs[last].argmax()`. What is `last` in the first step, and what is it in the next?


# %%
def greedy(log_probs, start, eos, longest):
    """The most probable next word, over and over.

    log_probs (V, V), row: last word -> a list of at most `longest` ids; eos, if chosen, is the last of them
    """
    ### BEGIN SOLUTION
    tokens, last = [], start
    while len(tokens) < longest and last != eos:
        last = int(log_probs[last].argmax())
        tokens.append(last)
    return tokens
    ### END SOLUTION


# %% [markdown]
# ### 1b. The k best, at a temperature [[decoding.top_k, 15 minutes, easy, core]]
#
# Sampling from the whole distribution sometimes picks a word from its long tail, and one absurd word leads to the next. **Top-k** keeps the $k$ most
# probable words and shares all the probability among them. The **temperature** $T$ divides the logits before the softmax: below 1 it sharpens the
# distribution, above 1 it flattens it.
#
# $$p_w = \frac{e^{z_w / T}}{\sum_{v \,\text{kept}} e^{z_v / T}} \quad \text{for the kept words,} \qquad 0 \text{ for the others}$$
#
# By hand: $e^z = (4, 3, 2, 1)$, $k = 2$, $T = 1$ gives $(4/7, 3/7, 0, 0)$. With $T = \tfrac12$ the exponentials are squared, which gives
# $(16/25, 9/25, 0, 0)$.
#
# [[checked]] No two logits are equal.
#
# [[hints]]
# 1. In the example the two kept words keep their ratio, 4 : 3. What would the exponential of a dropped word have to be for the formula to give 0?
# 2. Drop words before the softmax, by changing their logits. Everything smaller than the smallest of the $k$ largest logits is dropped.
# 3. A word whose logit is −∞ gets a probability of exactly 0. `logits.topk(k)` raises an error if $k$ is larger than the vocabulary.


# %%
def top_k(logits, k, temperature):
    """The k most probable words share the probability.

    logits (V,), k at least 1, perhaps above V, temperature above 0 -> probabilities (V,), which sum to 1
    """
    ### BEGIN SOLUTION
    least = logits.topk(min(k, len(logits))).values[-1]
    return torch.softmax(logits.masked_fill(logits < least, -math.inf) / temperature, dim=-1)
    ### END SOLUTION


# %% [markdown]
# ### 1c. The nucleus [[decoding.nucleus, 25 minutes, medium, core]]
#
# How many words are plausible depends on the context: after *the United States of* there is one, after *I like* there are hundreds. The **nucleus**
# (Holtzman et al. 2020) keeps the *smallest* set of most probable words whose probabilities sum to *at least* $p$, and shares all the probability
# among them.
#
# By hand, for the probabilities $(0.5, 0.2, 0.15, 0.1, 0.05)$:
#
# | $p$ | running sum | kept | renormalised |
# |---|---|---|---|
# | 0.6 | 0.5, **0.7** | 2 words | 0.714, 0.286 |
# | 0.8 | 0.5, 0.7, **0.85** | 3 words | 0.588, 0.235, 0.176 |
# | 0.3 | **0.5** | 1 word | 1 |
#
# The word that takes the sum to $p$ or beyond belongs to the nucleus. So at least one word is always kept.
#
# [[checked]]
#
# [[hints on the sum]]
# 1. Look at the running sums in the example. Is the word that takes the sum beyond $p$ kept, and what was the sum before it?
# 2. Sort the probabilities and add them up in that order. A word is kept if the sum *before* it is still below $p$.
# 3. With the probabilities in `q`: `values, order = q.sort(descending=True)`, then `values.cumsum(0)`, which includes the word itself.
#
# [[hints on undoing the sort]]
# 1. Read “each word has its own” under **Checked**. To which word does the first of the sorted probabilities belong?
# 2. Sorting also tells you which word each value came from. Use these indices to put the results back.
# 3. `kept[order] = …` writes the result for each sorted word back to the word's own index.


# %%
def nucleus(logits, p):
    """The probability is shared by the smallest set of most probable words that sum to at least p.

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
# Greedy search never starts with an improbable word, even if the best text does. In the table of 1a it finds *b c eos* with
# $0.4 \cdot 0.35 \cdot 0.6 = 0.084$, while stopping immediately with `eos` has 0.3. A **beam** keeps several texts, the *hypotheses*, in parallel.
#
# ### 2a. One step [[decoding.beam_step, 20 minutes, medium, core]]
#
# You have some hypotheses, each with a score: the log-probability of its words so far. Each can be extended by each word of the vocabulary. Of *all*
# these extensions take the `beam` best. Return their scores, which hypothesis each extends (its *parent*), and with which word.
#
# By hand, with two hypotheses of probability 0.5 and 0.3, three words, and a beam of 2:
#
# | | a | b | c |
# |---|---|---|---|
# | parent 0 (0.5) | 0.5 · 0.2 = 0.10 | 0.5 · 0.5 = **0.25** | 0.5 · 0.3 = 0.15 |
# | parent 1 (0.3) | 0.3 · 0.1 = 0.03 | 0.3 · 0.1 = 0.03 | 0.3 · 0.8 = **0.24** |
#
# Parents [0, 1], words [1, 2]. With a beam of 3 the next one is 0.15, and parent 0 has two children. In logarithms the products become sums.
#
# [[checked]]
#
# [[hints]]
# 1. In the example the best are chosen among all six products. What do you return about each of them besides its score?
# 2. Make a table of all extensions and read it as one flat list. An index in that list determines both the row and the column.
# 3. `scores[:, None] + log_probs` has shape (hypotheses, V). `.reshape(-1).topk(beam)` gives the best scores and their indices in the flat list;
#    `//` and `%` turn an index into row and column.


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
# ### 2b. The whole search [[decoding.beam_search, 40 minutes, hard, core]]
#
# The rules differ a little from library to library. These are ours:
#
# 1. Start with one hypothesis: no words yet, log-probability 0.
# 2. In each step every *open* hypothesis is extended by every word. A hypothesis that ended with `eos` is kept unchanged, with its score.
# 3. Of all these, extended or ended, the `beam` best survive. An ended one takes up a slot like any other, and may lose it to better ones.
# 4. Stop after `longest` steps, or when all survivors have ended. Return the best of them: its words (without `start`) and its log-probability.
#
# By hand, in the table of 1a, starting from a, with a beam of 2:
#
# | step | kept | dropped |
# |---|---|---|
# | 1 | b 0.4 · eos 0.3 | c 0.2 · a 0.1 |
# | 2 | eos 0.3 (ended) · b c 0.14 | b a 0.12 · b eos 0.10 · b b 0.04 |
# | 3 | eos 0.3 · b c eos 0.084 | … |
#
# Both have ended. The answer is [3] with $\ln 0.3 = -1.20$: this model's most probable text is to say nothing at all.
#
# [[checked]]
#
# [[hints on bookkeeping]]
# 1. Look at one row of the table in the example. What do you need to remember of each kept hypothesis?
# 2. In each step make a list of all candidates, sort it by score and keep the first ones.
# 3. A list of pairs (tokens, score) and `sorted(…, key=…)` are good enough; speed does not count.
#
# [[hints on the end]]
# 1. Follow *eos 0.3* through the table of the example. What happens to it in step 3?
# 2. There are two kinds of hypotheses. An open one is extended by every word; an ended one joins the candidates unchanged.
# 3. Which hypotheses have ended? Those whose last word is `eos`. The initial one has no last word yet, so its context is `start`.


# %%
def beam_search(log_probs, start, eos, beam, longest):
    """The best text that a beam finds.

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
# ### 2c. Short wins, unless [[decoding.length_penalty, 10 minutes, easy, core]]
#
# Every word makes a text less probable, so the best text tends to be a short one. A **length penalty** $\alpha$ divides the log-probability by a
# power of the length. With $n$ words, including `eos`,
#
# $$\mathrm{score} = \frac{\ln P}{n^{\alpha}} .$$
#
# $\alpha = 0$ changes nothing; $\alpha = 1$ is the mean per word. Return all scores, and the index of the best.
#
# By hand: $\ln P = (-2, -3)$ with lengths $(1, 4)$. With $\alpha = 0$ the first wins; with $\alpha = 1$ the scores are $(-2, -0.75)$ and the second wins.
#
# [[checked]]
#
# [[hints]]
# 1. Compare the two winners of the example. Is −0.75 larger or smaller than −2?
# 2. One division gives all the scores. Then return the index of the best, not its score.
# 3. `lengths**penalty` is the denominator. All scores are negative, and the best one is the closest to 0.


# %%
def length_penalty(log_probs, lengths, penalty):
    """Log-probabilities divided by length to the power of the penalty, and the index of the best.

    log_probs (n,), lengths (n,) integers, penalty at least 0 -> (scores (n,), best)
    """
    ### BEGIN SOLUTION
    scores = log_probs / lengths**penalty
    return scores, scores.argmax()
    ### END SOLUTION


# %% [markdown]
# ## 3. Where two texts tie [[decoding.tie, 15 minutes, medium, more]]
#
# With the length penalty of 2c, which text wins depends on $\alpha$. A text of $n$ words has $\ln P = L$, another one of $m$ words has $K$; both $L$
# and $K$ are below 0, and the lengths differ. The score of the first is $s(\alpha) = L / n^\alpha$. On paper, derive how fast it changes with $\alpha$,
# and the $\alpha$ at which both texts have the same score. Return both as formulas.
#
# In the example of 2c the first text wins for small $\alpha$, the second for large ones. Between which whole numbers is the tie?
#
# [[checked]] The $\alpha$ of the tie may be negative.
#
# [[hints]]
# 1. As $\alpha$ grows, $n^\alpha$ grows, if $n$ is above 1. What happens to a negative number that is divided by more and more?
# 2. $n^{-\alpha} = e^{-\alpha \ln n}$ is easy to differentiate. For the tie, set the two scores equal and collect everything with $\alpha$ on one side.
# 3. $L / K = (n / m)^\alpha$ at the tie. Take the logarithm of both sides; the quotient of two negative numbers has one.


# %%
def tie(L, n, K, m, alpha):
    """The slope of L / n^alpha in alpha, and the alpha at which L / n^alpha = K / m^alpha.

    L, K: log-probabilities, below 0; n, m: lengths, which differ -> (slope, tie), two numbers
    """
    ### BEGIN SOLUTION
    return -math.log(n) * L / n**alpha, math.log(L / K) / math.log(n / m)
    ### END SOLUTION


# %% [markdown]
# ## 4. Not again
#
# Models like to repeat themselves. A **repetition penalty** (Keskar et al. 2019) makes every word that was used less probable: its logit is divided by the
# penalty if it is above 0, and multiplied by it otherwise, once, however often the word was used. A friend has written it. Her code runs, used words
# become rarer, and her texts look better at first. One line is wrong.
#
# ### 4a. Which line? [[decoding.wrong_line, 10 minutes, medium, more]]
#
# [[listing decoding.without_repeating]]
#
# Return the number of the wrong line, as in this listing.
#
# [[checked]] You can copy the function into a cell of your own to try it; the check of 4b shows you an input.
#
# [[hints]]
# 1. Follow a logit of 4 and one of −4 through the loop, with a penalty of 2. Does each become less probable, and by the right factor?
# 2. Now follow a word that was used three times.
# 3. After a long text, what has happened to the logit of *the*?


# %%
def wrong_line():
    """The number of the one line of the listing that is wrong."""
    ### BEGIN SOLUTION
    return 7
    ### END SOLUTION


# %% [markdown]
# ### 4b. Mend it [[decoding.without_repeating, 5 minutes, easy, more]]
#
# This is the friend's function. Change the line, and nothing else.
#
# [[checked]]
#
# [[hints]]
# 1. In the input that the check shows, which word has a wrong logit, and by what factor is it wrong?
# 2. Each used word should pass through the loop once.
# 3. A `set` contains each of its elements once.


# %%
def without_repeating(logits, used, penalty):
    """Logits in which every used word is less probable, however often it was used.

    logits (V,), used: a list of ids, penalty at least 1 -> logits (V,)
    """
    ### BEGIN SOLUTION
    logits = logits.clone()
    for word in set(used):
        score = float(logits[word])
        lower = score * penalty
        if score > 0:
            lower = score / penalty
        logits[word] = lower
    return logits
    ### END SOLUTION


# %% [markdown]
# ## 5. An experiment: is a wider beam better? [[decoding.wider, 30 minutes, medium, core]]
#
# A wider beam searches more, so it should find more probable texts. But what else do you get? `models` makes ten random tables of eight words from a
# **seed**; `eos` is word 0, and every text starts after word 1 and has at most ten words. Search each with a beam of 1 and a beam of 8, and measure two
# things: the log-probability of the text, and the log-probability *per word*, that is divided by the number of words found. Four answers are possible:
#
# 1. With a beam of 8 the log-probability is higher, and so is that per word.
# 2. With a beam of 8 the log-probability is higher, and that per word is lower.
# 3. With a beam of 8 the log-probability is higher; per word these seeds cannot tell.
# 4. These seeds cannot tell whether a beam of 8 finds a higher log-probability.
#
# Proceed in this order.
#
# - **Predict.** Set `prediction` to 1, 2, 3 or 4 before you run anything. It is kept as you wrote it, and it need not come true.
# - **Run.** `found` gets one row per seed with four numbers, each a mean over the ten tables: (log-probability, beam 1), (log-probability, beam 8),
#   (per word, beam 1), (per word, beam 8). Set `conclusion = 0` for now and run the check: it says whether your numbers are right. Then run the cell
#   below the check, and look at all five rows.
# - **Conclude.** Set `conclusion` to the answer that *your* five rows support. A difference counts if it has the same sign for every seed, or if it
#   is larger than chance explains: the 95 % interval of the mean difference (Student's t: 2.78 standard errors to each side) does not contain 0.
#
# And look at the texts: how long are they? This will help you with question 6.
#
# [[checked]]
#
# [[hints on the run]]
# 1. How many searches does one row need, and what do you keep of each?
# 2. Two loops, over the beams and over the ten tables, inside the one over the seeds. `beam_search` returns the text and its log-probability.
# 3. For one beam, collect `log_prob` and `log_prob / len(tokens)` of the ten searches in two lists; `sum(…) / 10` is a mean.
#
# [[hints on the conclusion]]
# 1. Log-probabilities are below 0. Of −2 and −5, which one is higher?
# 2. Take the difference of two columns. Does it have the same sign in every row?
# 3. Five differences $x$ have the interval $\bar x \pm 2.78\, s / \sqrt 5$, where $s$ is their standard deviation. `torch.std` computes it.


# %%
def models(seed):
    """Ten tables of log-probabilities, (10, 8, 8): table, last word, next word."""
    draw = torch.Generator().manual_seed(seed)
    return torch.log_softmax(1.5 * torch.randn(10, 8, 8, generator=draw), dim=-1)


# %%
def wider(seeds):
    """Log-probabilities of texts, and those per word, found by beams of 1 and 8, for several seeds.

    seeds: a list -> (prediction, found (seeds, 4), conclusion)
    """
    ### BEGIN SOLUTION
    prediction = 1
    found = []
    for seed in seeds:
        whole, per_word = [], []
        for beam in (1, 8):
            searched = [beam_search(table, 1, 0, beam, 10) for table in models(seed)]
            whole.append(sum(log_prob for _, log_prob in searched) / 10)
            per_word.append(sum(log_prob / len(tokens) for tokens, log_prob in searched) / 10)
        found.append([*whole, *per_word])
    conclusion = 2
    return prediction, found, conclusion
    ### END SOLUTION


# %%
show_rows("decoding.wider", wider, "log, beam 1", "log, beam 8", "per word, beam 1", "per word, beam 8")

# %% [markdown]
# ## Your functions at work
#
# SmolLM2, a language model of 135 million parameters, says what may come next, and your functions choose. It reads the prompt once and then carries
# its state along. There is nothing to write here. Run it when the checks above pass. Loading takes a few seconds.

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
    """The prompt and its continuation, sampled word by word from the distribution that `choose` returns for the logits."""
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
# And now your beam, on pairs of letters from Shakespeare. What is the most probable first word of a line, from the line break to the next space, for
# growing beams?

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
    print("greedy  ", repr("".join(letters[i] for i in greedy(table, end, number[" "], 20))))
    for beam in (1, 2, 8):
        tokens, log_prob = beam_search(table, end, number[" "], beam, 20)
        print(f"beam {beam:2}  ", repr("".join(letters[i] for i in tokens)), f"ln P = {float(log_prob):.1f}")

# %% [markdown]
# The wider the beam, the more probable the word. Is it any better? This will help you with question 6.

# %% [markdown]
# ## 6. In your own words [[written, 20 minutes, 4 points, core]]
#
# In about eight sentences, for somebody who has not heard the lecture:
#
# 1. Why can you not simply compute the most probable text? Give a number.
# 2. When would you search (greedy, beam), and when would you sample? Give one example of each, with a reason.
# 3. A colleague finds that a beam of 100 translates worse than one of 5. She suspects a bug. What else could it be?
#
# ### BEGIN MARK SCHEME
# One point for each of the four; half points are fine.
#
# 1. **Prohibitive** (1): V^n texts; any number of the right order, such as 50,000^20 ≈ 10^94. Half a point without a number.
# 2. **Search** (1): where there is one right answer or few, as in translation or transcription: there you want the mode. Half a point without a
#    reason.
# 3. **Sample** (1): open-ended text, stories, dialogue: what a search finds is dull and repeats itself; people do not always take the most
#    probable word. Half a point without a reason.
# 4. **Not a bug** (1): the model itself gives short or empty texts too much probability, and a narrow beam did not find them; the search improved and
#    exposed the model's fault; a length penalty helps. Half a point for "too short" without the model's part in it.
# ### END MARK SCHEME

# %% [markdown]
# With 50,000 words there are 50,000 to the power of 20 texts of twenty words, about 10⁹⁴, more than there are atoms in the universe. And no word can
# be judged in isolation, since the best text may start with an improbable one.
#
# I would search where there is one right answer or few, as in translation or in transcribing speech, because there we want the most probable text. I
# would sample in a story or a conversation. There a search finds a dull text that soon runs in circles, and what people write is
# rarely the most probable thing at each step.
#
# A beam of 100 finds more probable texts than one of 5. If these are worse, the model gives too much probability to the wrong texts, typically to
# short ones or to the empty one, since each word makes a text less probable. The narrow beam merely did not find them. A length penalty helps, or a
# model trained to avoid this; a wider search does not.

# %% [markdown]
# ---
# **Before you hand in:** *Kernel → Restart Kernel and Run All Cells*. Every check should say what you expect, and
# question 6 should be answered in your own words. Save the notebook under its own name: the grader looks for `decoding.ipynb`.
