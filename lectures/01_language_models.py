# %% [markdown] slideshow={"slide_type": "slide"}
# # What is a language model?
#
# *All things are ready, if our minds be s* … Which letter comes next? You know it, though you have hardly read this line before. How
# much of a language can be known before it is read, and how does one make a program know it?
#
# <img src="figures/01_surprise.svg" width="760" alt="A line of Shakespeare, one box per character; the darker the box, the more the character surprised a small network. Most letters inside words are pale; first letters of words are dark.">
#
# *How much each character of that line surprised a small network that had read other plays: white is "I knew it", dark blue "I
# did not expect that", the number counts bits. Words surprise where they begin. In section 7 you play this game yourself,
# against that network.*
#
# **After this lecture you can**
# - say what a language model is, and write the probability of a sentence as a product;
# - say what the sign `<eos>` is for, and what breaks without it;
# - build an n-gram model from counts, by hand, and smooth it;
# - compute log loss, cross-entropy and perplexity, and read a table of them;
# - play Shannon's game, and turn guesses into bits per character.
#
# **You need** Python, probabilities (conditional ones, too), and logarithms. No lecture comes before this one.
#
# | section | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 |
# |---|---|---|---|---|---|---|---|---|
# | minutes | 7 | 10 | 9 | 11 | 12 | 6 | 13 | 6 |
#
# *To lecture from this notebook:* `make present ARGS=01` shows it slide by slide, widgets alive; short of time,
# skip Kneser–Ney in section 4. *Coming from other slides or a book?* A table at the end translates their notation.

# %% [markdown] slideshow={"slide_type": "notes"}
# *For the lecturer: read the first line aloud, stop at "th", and wait for the room. Then ask what would have been hard to guess.*

# %% slideshow={"slide_type": "skip"}
import math
from collections import Counter, defaultdict
from functools import cache
from itertools import pairwise

import numpy as np
import torch
from IPython.display import HTML

from nlmcore.corpora import load
from nlmcore.ngram import NGramLM
from lectures.trained import checkpoint
from lectures import show, stored, widgets
from nlmcore.tokens import WordTokenizer

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 1. What comes next?
#
# A **token** is a piece of text with a number: here a word or a sign like "," or a new line; in section 7 a single character. A
# **language model** reads tokens and answers one question: *of all tokens that it knows, with which probability is each
# the next one?*
#
# $$P(w_t \mid w_1, \dots, w_{t-1}) \qquad \text{for every word } w_t \text{ of the vocabulary; they sum to 1.}$$
#
# The **vocabulary** is the list of all tokens that the model knows. You have such a model in your pocket: the row of words
# above the keyboard of a telephone.
#
# Ours learn from a **corpus**, a collection of texts: the works of Shakespeare. Three plays, *Twelfth Night*, *Henry V* and
# *Macbeth*, are the **test text**, which no model sees before it is examined. Three more are kept to choose settings, the
# **development text**; the rest, the **training text**, is what models learn from.

# %% slideshow={"slide_type": "fragment"}
shakespeare = load("shakespeare")
tokenizer = WordTokenizer.fit(shakespeare.texts("train"), vocab_size=5000)
BOS, EOS, UNKNOWN = tokenizer.bos, tokenizer.eos, tokenizer.unk


def documents(split):
    """Every play as a list of numbers, between <bos>, 'beginning', and <eos>, 'end'."""
    return [[BOS, *tokenizer.encode(text), EOS] for text in shakespeare.texts(split)]


train, dev, test = documents("train"), documents("valid"), documents("test")
print(f"{sum(map(len, train)):,} tokens to learn from, {sum(map(len, test)):,} to be tested on")
print(tokenizer.encode("My lord, the king!"), "is", "My lord, the king!")

# %% [markdown] slideshow={"slide_type": "subslide"}
# Four models that have read the training text suggest the next word. Three have only counted, and you build them in section 3: the
# "3-gram" has counted runs of three words, so it looks at the two before; the "2-gram" has counted pairs, the "1-gram" single words. The
# fourth, "LSTM", is a neural network of lecture 7. Each of them is asked in the same way, and you see only their answers.
#
# > **Predict before you run.** Type "I will". Which word follows most often in Shakespeare? Which of the models must answer the
# > same, whatever you type?


# %% slideshow={"slide_type": "skip"}
@cache
def does_not_fit(begun):
    """Which words of the vocabulary do not begin so; the first seven are marks and white space."""
    return torch.tensor(
        [i < 7 or not word.startswith(begun) for i, word in enumerate(tokenizer.vocabulary)]
    )


def suggester(model):
    """From the text typed so far to the six likeliest next words, or ends of the word begun."""

    def suggest(typed):
        before, _, begun = typed.rpartition(" ")
        with torch.no_grad():
            logits, _ = model(torch.tensor([tokenizer.encode("\n" + before)]))
        p = logits[0, -1].softmax(-1).masked_fill(does_not_fit(begun), 0.0)
        best = (p / p.sum()).topk(6)
        found = zip(best.indices.tolist(), best.values.tolist(), strict=True)
        return [
            (tokenizer.decode([i]), probability) for i, probability in found if probability > 0
        ]

    return suggest


# %% slideshow={"slide_type": "fragment"}
word_models = {
    f"{n}-gram": NGramLM(n, tokenizer.vocab_size, "kneser_ney").fit(train) for n in (1, 2, 3)
}
word_models["LSTM"] = checkpoint("word_lstm").model
widgets.next_words({name: suggester(model) for name, model in word_models.items()}, "I will ")

# %% [markdown] slideshow={"slide_type": "fragment"}
# *Type on. After a space you see the next word; within a word, how it may end. Enter takes the first suggestion: hold it down.*
#
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - "not": the 3-gram, which looks at the last two words, gives it a probability of 0.16 after "I will".
# - The 1-gram looks at nothing: the same answer whatever you type (within a word it keeps the words that fit).
# - After "I love the " the 3-gram gives "king" 0.06; after "I love the k", 0.92. One letter narrows the choice more than all the
#   words before it.
# </details>

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 2. The probability of a sentence
#
# A model of the *next* word is a model of whole sentences. By the definition of conditional probability, read from left to
# right, any words at all obey the **chain rule of probability**:
#
# $$P(w_1, \dots, w_T) \;=\; \prod_{t=1}^{T} P(w_t \mid w_1, \dots, w_{t-1})$$
#
# $$P(\text{the cat sat}) = P(\text{the}) \; P(\text{cat} \mid \text{the}) \; P(\text{sat} \mid \text{the cat})$$
#
# This is no assumption: it holds for every distribution over sentences. What one *assumes* is how far back it is enough to
# look. Suppose that each word depended on nothing: $P(\text{the})\,P(\text{cat})\,P(\text{sat})$. Or only on the word before:
# $P(\text{the})\,P(\text{cat} \mid \text{the})\,P(\text{sat} \mid \text{cat})$. Count both in a language of four sentences.
# `<bos>` and `<eos>` mark the **beginning and end of a sentence**; why the end counts as a word is this section's
# question.

# %% slideshow={"slide_type": "subslide"}
small_corpus = ["the cat sat", "the cat ran", "the dog sat", "a cat sat on the dog"]
sentences = [["<bos>", *line.split(), "<eos>"] for line in small_corpus]

alone = Counter(
    word for sentence in sentences for word in sentence[1:]
)  # <bos> is never predicted
after = defaultdict(Counter)
for sentence in sentences:
    for before, word in pairwise(sentence):
        after[before][word] += 1

print("words        ", dict(alone), " sum", alone.total())
for before in ("<bos>", "the", "cat", "sat"):
    print(f"after {before:7}", dict(after[before]), " sum", after[before].total())

# %% [markdown] slideshow={"slide_type": "fragment"}
# > **Predict before you run.** From these counts, with pencil: $P(\text{the})\,P(\text{cat})\,P(\text{sat})$, and
# > $P(\text{the} \mid \text{<bos>})\,P(\text{cat} \mid \text{the})\,P(\text{sat} \mid \text{cat})$. Which is larger, and by
# > what factor: about 2, 10 or 50?


# %% slideshow={"slide_type": "subslide"}
def one_word(word):
    return alone[word] / alone.total()


def two_words(word, before):
    return after[before][word] / after[before].total()


unigram = one_word("the") * one_word("cat") * one_word("sat")
bigram = two_words("the", "<bos>") * two_words("cat", "the") * two_words("sat", "cat")
print(f"P(the) P(cat) P(sat)               = 4/19 · 3/19 · 3/19 = {unigram:.4f}")
print(f"P(the|<bos>) P(cat|the) P(sat|cat) = 3/4 · 2/4 · 2/3    = {bigram:.4f}")
shuffled = two_words("sat", "<bos>") * two_words("the", "sat") * two_words("cat", "the")
print("and 'sat the cat':", f"{unigram:.4f} as before, and {shuffled:.4f}")

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - 0.0052 against 0.2500: a factor of 48. The word before tells a lot.
# - Words alone do not care where they stand: "sat the cat" is as probable as "the cat sat". With the word before it is
#   impossible here, as no sentence begins with "sat".
# </details>
#
# ### Why the end is a word
#
# A model must also say when a sentence is over. So the end is a token, `<eos>` (*end of sequence*), predicted like any other:
# $P(\text{the cat sat}) \cdot P(\text{<eos>} \mid \text{the cat sat})$. What happens without it? Take the smallest language: two
# words, "ha" and "ho", equally likely at every step. At every step the sentence may end, with a probability $p$ that you set.
#
# > **Predict before you move the slider.** At $p = 0$, that is, without `<eos>`: what do the probabilities of the 2 sentences
# > of one word sum to? Of the 8 sentences of three words? Of all sentences together? And at $p = 0.5$?


# %% slideshow={"slide_type": "subslide"}
def sentence_probability(words, p_eos):
    """P(words, then <eos>); without <eos> in the vocabulary (p_eos = 0), of the words alone."""
    probability = 1.0
    for _ in words:
        probability *= (1 - p_eos) / 2  # the sentence goes on, with one of two words
    return probability * p_eos if p_eos > 0 else probability


widgets.length_playground(sentence_probability, ["ha", "ho"])

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - Without `<eos>` the sentences of *each* length sum to 1, those of no word, one word, two words … So all together sum to
#   infinity: there is one distribution per length, and no way to compare sentences of different lengths. The shorter one would
#   always win: every further word multiplies by something below 1.
# - With $p = 0.5$: 0.500, 0.250, 0.125 … All lengths *share* one unit of probability, $\sum_n p\,(1-p)^n = 1$.
# - The smaller $p$, the longer the sentences; at $p = 0.05$ sentences of up to six words have 0.302 of the probability.
# </details>
#
# > **What goes wrong.** Leaving `<eos>` out when counting. In our small corpus "sat" occurs three times, twice at the end. Who
# > counts only the words finds that "on" follows "sat" with probability $1/1$; with the ends counted it is $1/3$, and
# > $P(\text{<eos>} \mid \text{sat}) = 2/3$. The mirror image: counting `<bos>`, which is given and never predicted, among
# > the words to predict.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 3. n-grams: count and divide
#
# A text never repeats for long, so the last *two hundred* words have never been seen before, and there is nothing to count.
# The simplest way out is the **Markov assumption**: only the last $n-1$ words matter.
#
# $$P(w_t \mid w_1 \dots w_{t-1}) \approx P(w_t \mid w_{t-n+1} \dots w_{t-1})
#   = \frac{c(w_{t-n+1} \dots w_{t-1}\, w_t)}{c(w_{t-n+1} \dots w_{t-1})}$$
#
# $c$ is a **count**: how often these words stand in the training text, one after the other. A run of $n$ words is an **n-gram**
# ($n = 1$ unigram, 2 bigram, 3 trigram), $n$ is the model's **order**, and the words before $w_t$ are its **context**. This
# estimate has a name, **maximum likelihood**: no other choice of probabilities makes the training text more probable.

# %% slideshow={"slide_type": "fragment"}
vocabulary = list(dict.fromkeys(word for sentence in sentences for word in sentence[1:]))
ids = {word: i for i, word in enumerate([*vocabulary, "<bos>"])}
bigrams = NGramLM(2, len(ids), "mle").fit([[ids[w] for w in sentence] for sentence in sentences])
for before, word in (("the", "cat"), ("cat", "sat"), ("sat", "<eos>"), ("a", "dog")):
    ours = bigrams.probability(ids[word], [ids[before]])
    print(f"P({word:5} | {before}) = {two_words(word, before):.3f}   nlmcore: {ours:.3f}")

# %% [markdown] slideshow={"slide_type": "subslide"}
# Now on Shakespeare. Longer contexts tell more. But there are $5{,}000^n$ possible n-grams, and the training text has a million
# words.
#
# > **Predict before you run.** Of the 5-grams of the three test plays, which share never stands in the training text: about
# > 20, 50 or 80 percent? And of the bigrams?

# %% slideshow={"slide_type": "fragment"}
from nlmcore.ngram.counts import count_ngrams, walk

lengths = np.array([len(play) for play in train])
levels = count_ngrams(np.concatenate(train), lengths, 5, tokenizer.vocab_size)
never = {n: [] for n in range(1, 6)}
for play in test:
    for level, _, ngram in walk(levels, np.array([play])):
        never[level.order].append(ngram[0, level.order - 1 :] < 0)
unseen = {n: float(np.concatenate(parts).mean()) for n, parts in never.items()}
print(
    f"{'n':>2} {'possible':>9} {'different ones seen':>20} {'seen once':>10} {'of the test: never seen':>24}"
)
for level in levels:
    once, n = (level.counts == 1).mean(), level.order
    print(f"{n:2} {5000.0**n:9.0e} {len(level):20,} {once:10.0%} {unseen[n]:24.1%}")

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - 80 percent of the test's 5-grams are new, 37 percent of its trigrams, and still 8.8 percent of its bigrams. A model that has
#   only counts gives such a text the probability **zero**: one impossible word, and the whole product is 0. After a *context* that was
#   never seen it does not even say zero: the estimate is 0/0, undefined. (`nlmcore` then answers with equal probabilities.)
# - 95 percent of the different 5-grams were seen once: their "probability" rests on a single event.
# - With infinite data a larger $n$ would always be better. With a million words it is better *where the context was seen*, and
#   has nothing to say elsewhere; and it costs: 983,679 different 5-grams to store, almost one per word of the text.
# - No *word* of the test is new: the 5,000 most frequent words are the vocabulary, any other is read as `<unk>`, **unknown**,
#   one token for all of them (9.2 percent of the test). More on this in lecture 2.
# </details>

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 4. Smoothing: what was never seen is not impossible
#
# **Smoothing** takes a little probability from what was seen and gives it to what was not. Four ideas, each an answer to the
# one before.
#
# **Additive smoothing** (Laplace with $k=1$): pretend that everything was seen $k$ times more. With $V$ words in the vocabulary
#
# $$P(w \mid h) = \frac{c(h\,w) + k}{c(h) + k\,V} \qquad h \text{ is the context}$$
#
# In our small corpus $V = 8$: seven words and `<eos>`, but not `<bos>`, which is never predicted. After "cat" there was
# "sat" twice and "ran" once.
#
# > **Predict before you move the slider.** With $k = 1$: what is $P(\text{sat} \mid \text{cat})$, which was 2/3? How much do
# > the six words that were never seen after "cat" get together?


# %% slideshow={"slide_type": "subslide"}
def additive(counts, vocabulary, k):
    """counts of the next word -> P(word | context) for every word; k: pseudocount."""
    total = sum(counts.values()) + k * len(vocabulary)
    return {word: (counts.get(word, 0) + k) / total for word in vocabulary}


widgets.count_playground(
    {before: after[before] for before in ("cat", "the", "sat", "a")}, vocabulary, additive
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - $(2 + 1) / (3 + 8) = 0.273$, and the six get $6/11 = 0.545$: more than half, for words that never came. Here $V$ is 8. With
#   $V = 5{,}000$ and a context seen ten times, $k = 1$ leaves 0.2 percent for what was counted: 10 parts of 5,010.
# - All unseen words get the same: "the" after "cat" as much as "on".
# </details>
#
# > **What goes wrong.** The wrong $V$ in the denominator: the number of words seen *after this context* (2 after "cat") instead
# > of all words that could follow (8). Then the probabilities of the eight sum to 2.2. Whatever you smooth, check that they
# > sum to 1.

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Interpolation** asks the shorter contexts too, and mixes their answers (Jelinek & Mercer 1980):
#
# $$P(w_t \mid w_{t-2} w_{t-1}) = \lambda_3 \frac{c(w_{t-2} w_{t-1} w_t)}{c(w_{t-2} w_{t-1})}
#   + \lambda_2 \frac{c(w_{t-1} w_t)}{c(w_{t-1})} + \lambda_1 \frac{c(w_t)}{N} + \lambda_0 \frac1V, \qquad \sum_i \lambda_i = 1$$
#
# $N$ is the length of the training text. The weights $\lambda$ are chosen so that the *development* text gets the highest
# probability.
#
# > **Predict before you run.** Which of the four gets the largest weight on Shakespeare? What would come out if the weights
# > were chosen on the *training* text?

# %% slideshow={"slide_type": "fragment"}
mixture = NGramLM(3, tokenizer.vocab_size, "interpolation").fit(train, heldout=dev)
names = ["uniform", "unigram", "bigram", "trigram"]
print({name: round(weight, 2) for name, weight in zip(names, mixture.weights, strict=True)})

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer</b></summary>
#
# The bigram, with 0.50; the trigram gets 0.34. On the training text all weight would go to the trigram, for it predicts best
# what it has counted, and new text would have the probability zero again. *Never choose settings on what was counted.*
# </details>
#
# **Discounting** (Ney et al. 1994): how much to take away? A fixed $d$ between 0 and 1 from every count that is not zero. It
# hurts a count of 1, which may be luck, and hardly a count of 100. What it frees goes to the next shorter context $h'$
# ($h$ without its first word), $U(h)$ is how many *different* words followed $h$:
#
# $$P(w \mid h) = \frac{\max(c(h\,w) - d,\, 0)}{c(h)} + \frac{d\; U(h)}{c(h)}\; P(w \mid h')$$

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Kneser–Ney** (1995) is discounting that counts differently in every order but the highest: a shorter context is asked only
# where the longer one has little to say, so its counts should suit that job. The classic example: "I can't see without my reading …".
# "Kong" may be more frequent than "glasses", but only ever follows "Hong" (Jurafsky & Martin, chapter 3). In our training plays
# "SYRACUSE" and "strange" are about equally frequent.
#
# > **Predict before you run.** After a context that was never seen, "a merry …", which of the two is the better guess?

# %% slideshow={"slide_type": "fragment"}
words = [tokenizer.vocabulary[i] for play in train for i in play]
before_word = {"SYRACUSE": Counter(), "strange": Counter()}
for before, word in pairwise(words):
    if word in before_word:
        before_word[word][before] += 1
for word, seen in before_word.items():
    print(
        f"{word:9} {seen.total():4} times, after {len(seen):3} different words: {dict(seen.most_common(3))}"
    )

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# "strange". SYRACUSE is as frequent, 222 times, but follows only "OF" and one other word ("ANTIPHOLUS OF SYRACUSE"): after
# any other word, it hardly ever comes. So in the lower orders Kneser and Ney do not count *how often* a word occurred, but *after
# how many different words*: 2 against 76. For the lowest order this is
#
# $$P_{\text{KN}}(w) = \frac{\text{number of different words seen before } w}{\text{number of different bigrams}}$$
#
# A trigram model counts its bigrams in the same way: after how many different words was the pair seen? Only the trigrams themselves
# keep their raw counts.
# </details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *For the lecturer: ten minutes are enough for section 4 if the formulas of discounting are left to be read. The one thing to
# keep: unseen is not impossible, and somebody must pay for it.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 5. How good is it? Log loss, cross-entropy, perplexity
#
# A better model gives a higher probability to text that it has not seen. The probability of a play is a number with tens of
# thousands of zeros after the point, so one takes logarithms; the product becomes a **sum over tokens**, the **log loss**:
#
# $$L = -\ln P(w_1 \dots w_T) = \sum_{t=1}^{T} -\ln P(w_t \mid w_1 \dots w_{t-1})$$
#
# Each term is the **surprise** at one token: 0 for what was certain, large for what was held to be unlikely. In **bits**
# ($\log_2$ in place of $\ln$) a probability of 1/2 is one bit, of 1/8 three bits. The mean over many tokens of real text estimates
# the **cross-entropy**
#
# $$H(p, q) = \mathbb{E}_{y \sim p}\,[-\ln q(y)],$$
#
# where $p$ is the language as people write it, which nobody knows, and $q$ the model. Training any language model of this
# course means: make this number small. And because few can feel a logarithm, one takes it back, and has the **perplexity**:
#
# $$\text{perplexity} = \exp\Big(\frac{L}{T}\Big) = P(w_1 \dots w_T)^{-1/T}$$
#
# A model that chooses among $m$ equally likely words at every step has the perplexity $m$: perplexity is a **branching
# factor**, averaged in the right way.
#
# > **Predict before you run.** A model gave the four words of a text the probabilities 1/2, 1/4, 1/8, 1/8. How many bits is
# > that in all? What is the perplexity: 4, 4.76 or 5.5?


# %% slideshow={"slide_type": "subslide"}
def perplexity_of(probabilities):
    log_loss = sum(-math.log(p) for p in probabilities)
    return math.exp(log_loss / len(probabilities))


four = [1 / 2, 1 / 4, 1 / 8, 1 / 8]
bits = [-math.log2(p) for p in four]
print(
    "bits",
    bits,
    "sum",
    sum(bits),
    "mean",
    sum(bits) / 4,
    "perplexity",
    f"{perplexity_of(four):.2f}",
)

# %% slideshow={"slide_type": "fragment"}
widgets.perplexity_playground(
    perplexity_of, ["the", "cat", "sat", "<eos>"], four, lambda p: -math.log2(p)
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - $1 + 2 + 3 + 3 = 9$ bits, 2.25 per word, $2^{2.25} = 4.76$. The mean of $1/p$ would be 5.5: the wrong mean.
# - Pull one word towards $P = 0.01$: one bad surprise spoils the whole. At $P = 0$ the perplexity is infinite.
# - With all four at 0.25 the perplexity is exactly 4: a die with four sides.
# </details>
#
# > **What goes wrong.** *Mixing bases.* 4.1 nats (natural logarithm) and 5.9 bits are the same surprise; $2^{4.1} = 17$ and
# > $e^{5.9} = 365$ are both wrong, $e^{4.1} = 2^{5.9} = 60$ is right. *Averaging perplexities.* Ten words at perplexity 10 and ten
# > at 1,000 are not 505 together but 100: average the log losses, then take the exponential. *Comparing what cannot be
# > compared.* Perplexities per word, per character, or over different vocabularies have different units; a model that calls
# > every word `<unk>` has a perplexity of 1.

# %% [markdown] slideshow={"slide_type": "subslide"}
# ### Measured on Shakespeare
#
# Four smoothings, orders 1 to 5, the same vocabulary and the same three test plays for all (`python -m lectures.recipes
# perplexity` measures them again). Additive smoothing appears twice: with Laplace's $k = 1$, and with the $k$ that is best on the
# development plays.
#
# > **Predict before you run.** Which curves go up again, and why? Where is the best 5-gram: near 10, 60 or 200?

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
measured = stored("perplexity")
orders = ["1", "2", "3", "4", "5"]
shown = {
    "additive": "additive, k = 1",
    "additive, tuned": "additive, k tuned",
    "interpolation": "interpolation",
    "absolute_discounting": "absolute discounting",
    "kneser_ney": "Kneser–Ney",
}
lines = {shown[name]: [measured["ngram"][name][n] for n in orders] for name in shown}
classic = {"Wall Street Journal (other text)": [962, 170, 109, math.nan, math.nan]}
picture = show.curves(
    [1, 2, 3, 4, 5],
    lines | classic,
    x_title="order n",
    y_title="perplexity (lower is better)",
    log_y=True,
    alt="Perplexity against the order, on a logarithmic axis. Additive with k = 1 falls to 167 at order 2, then climbs to 2923; with k tuned it "
    "falls to 86 and climbs to 1466. Interpolation, absolute discounting and Kneser–Ney fall from 204 to about 75 at order 2 and end between "
    "58 and 69. The Wall Street Journal: 962, 170, 109.",
)
picture.axes[0].set_xticks([1, 2, 3, 4, 5])
picture

# %% slideshow={"slide_type": "subslide"}
from nlmcore.metrics import perplexity

trigram = word_models["3-gram"]
losses = torch.cat(
    [-trigram.log_probabilities(torch.tensor([play]))[0, 1:].double() for play in test]
)
print(f"log loss {losses.sum():,.0f} over {len(losses):,} tokens, {losses.mean():.3f} each")
print(f"perplexity {losses.mean().exp():.1f}, stored: {measured['ngram']['kneser_ney']['3']}")
print(
    "nlmcore.metrics.perplexity, first 2,000 tokens:",
    round(perplexity(trigram, torch.tensor([test[0][:2000]])), 1),
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - Additive smoothing is worse with every word of context from the trigram on, 2923.0 at order 5 with $k = 1$: most contexts were
#   seen once, and it gives nearly everything away. Tuning helps: with $k = 0.01$ the bigram goes from 166.8 to 85.5. But no $k$
#   saves the longer contexts (1465.8 at order 5), since every unseen word still gets the same share. Absolute discounting has its best order at 3, Kneser–Ney goes on to
#   57.9 at order 5, but from 3 on it gains little.
# - From no context to one word: 203.8 to 71.2. It is the *first* word of context that matters most.
# - 962, 170 and 109 are the classic figures for uni-, bi- and trigrams on the *Wall Street Journal*: 38 million words to learn
#   from, a vocabulary of 19,979 (Jurafsky & Martin, section 3.3). The same shape, other heights. **The heights cannot be
#   compared**: another text, another vocabulary; ours also counts signs and new lines, which are easy.
# - A neural network of 2003 (lecture 4) reaches 57.4 here, looking at four words; the LSTM of section 1, 43.5.
# </details>

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 6. Write like Shakespeare
#
# A model that knows what may come next can write: draw a word from its distribution, append it, ask again, one word at a time.
# The colour of a word tells how long a run, up to and with this word, stands *literally* in the training plays. In the menu,
# "mle" is maximum likelihood, that is, no smoothing at all.
#
# > **Predict before you explore.** At which order does it begin to make sense? Where does a 5-gram get its good sentences from?
# > What will the trigram with *additive* smoothing write?


# %% slideshow={"slide_type": "skip"}
every_word = WordTokenizer.fit(shakespeare.texts("train"))
plays = [[BOS, *every_word.encode(text), EOS] for text in shakespeare.texts("train")]
runs = count_ngrams(
    np.concatenate(plays), np.array([len(p) for p in plays]), 6, every_word.vocab_size
)


@cache
def fitted(order, smoothing):
    return NGramLM(order, every_word.vocab_size, smoothing).fit(plays)


def write(order, smoothing, seed, length=40):
    draw, text, likely = torch.Generator().manual_seed(seed), every_word.encode("\n\n"), []
    for _ in range(length):
        p = fitted(order, smoothing).distribution(text)
        likely.append([(every_word.decode([i]), p[i].item()) for i in p.topk(5).indices.tolist()])
        text.append(torch.multinomial(p, 1, generator=draw).item())
    seen = np.zeros(len(text), dtype=int)
    for level, _, ngram in walk(runs, np.array([text])):
        seen[ngram[0] >= 0] = level.order
    spelled = [every_word.decode([i]) for i in text]
    return [
        widgets.Written(*step)
        for step in zip(spelled[2:], seen[2:].tolist(), likely, strict=True)
    ]


# %% slideshow={"slide_type": "fragment"}
widgets.writer(write, [1, 2, 3, 4, 5], ["mle", "kneser_ney", "additive"], order=3)

# %% [markdown] slideshow={"slide_type": "fragment"}
# *Move "words" back and forth to see the distribution that each word was drawn from.*
#
# <details><summary><b>What to notice</b></summary>
#
# - Unigram: words in the right proportions, no more. Bigram: neighbours fit. Trigram: phrases, and nobody remembers how the
#   sentence began. No order remembers who is speaking to whom.
# - Without smoothing (mle) the 5-gram is fluent because it *copies*: over the ten seeds, 83 percent of its words end a run of six
#   or more that stands in a play. It has a million words and needs them all.
# - Kneser–Ney has by far the better perplexity and writes worse: what it keeps for the unseen is *right* on average and odd each
#   time that it is drawn. Lecture 8 is about this: to judge a text and to write one are two things.
# - The additive trigram falls out of the language at once and does not come back: nearly all its probability lies on words
#   that were never seen there, and after such a word the next context is new, too. Even the marks that no text holds get their
#   share, such as `<bos>` or `<pad>` (which fills up lines to one length): adding $k$ to all asks nobody what is possible.
# </details>

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 7. Shannon's guessing game
#
# In 1951 Claude Shannon asked how much people know of their language. His game: a text is uncovered letter by letter. Before
# each, guess; if wrong, guess again, until it is found. Write down only *how many guesses* it took.
#
# Here are 28 keys: the letters a to z (capitals and accents do not count), the space (a new line, too), and "." for any other
# sign. The passages are from the test plays, so neither you nor the models have seen them, unless you know your Shakespeare.
#
# From the shares $q_i$ of characters that took $i$ guesses follow two bounds for the **entropy** of the text, the bits per
# character that not even the best predictor could save (Shannon 1951, equation 17):
#
# $$\sum_i i\,(q_i - q_{i+1}) \log_2 i \;\le\; H \;\le\; -\sum_i q_i \log_2 q_i$$
#
# Why should guesses measure information? Because a twin who guesses exactly as you do could turn your list of numbers, "1, 1, 3,
# 1, …", back into the text: the list *is* the text, and it is mostly ones.
#
# > **Predict before you play.** Of 28 keys, how many in a hundred will the room find with the first guess? Who will be better,
# > the room or a model that has read 31 plays and the poems, letter by letter?

# %% [markdown] slideshow={"slide_type": "notes"}
# *For the lecturer: let the room call out, take the loudest guess, type it. Ten minutes give about 60 characters. Ask those
# who know the play to be silent. Each passage begins with an empty field ("new game" empties the first).*

# %% slideshow={"slide_type": "skip"}
from lectures.recipes.guessing import (
    KEYS,
    entropy_bounds,
    guess_ranks,
    key_log_probabilities,
    key_of,
)

lstm, letters, _ = checkpoint("char_lstm")
spelled = [
    [letters.bos, *letters.encode(text), letters.eos] for text in shakespeare.texts("train")
]
character_models = {f"{n}-gram": NGramLM(n, letters.vocab_size).fit(spelled) for n in (3, 6)}
character_models["LSTM"] = lstm


def play_all(text):
    """Every model's guesses and bits on a text, character by character."""
    targets, games = torch.tensor([key_of(c) for c in text]), {}
    for name, model in character_models.items():
        scores = key_log_probabilities(model, letters, text)
        nats = -scores.gather(1, targets[:, None])[:, 0]
        bits = (nats / math.log(2)).tolist()
        games[name] = widgets.Player(guess_ranks(scores, targets).tolist(), bits)
    return games


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "subslide"}
def passage(play, begin, first, end):
    """From the test play: shown from `begin`, guessed from `first` on, up to `end`."""
    text = shakespeare.test[play].text
    start = text.index(begin)
    return widgets.Passage(
        text[start : text.index(end, start) + len(end)], text.index(first, start) - start
    )


passages = {
    "Sir Toby": passage(0, "A false conclusion;", "To be\nup after", "betimes."),
    "King Henry": passage(1, "That's mercy, but", "Let him be", "yet punish too."),
    "the porter": passage(2, "Faith, here's an English", "come in, tailor", "too cold for hell."),
}
widgets.guessing_game(
    passages,
    play_all,
    entropy_bounds,
    KEYS,
    key_of,
    demo="ito be ioup tearfter tanmoidnight. iand ",
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# *The field holds the beginning of an invented game, so that there is something to see; "new game" empties it. Type letters;
# "?" shows the character. Below a character: how many guesses it took.*
#
# <details><summary><b>What to notice</b></summary>
#
# - Words are hard to begin and easy to end.
# - A few dozen characters give rough bounds, and too low ones: what takes twenty guesses is rare and may not have come yet.
#   The models' bars, on the same characters, are as rough.
# - The bars of the models come from *guesses*, as yours does; the diamonds from their probabilities, which you could not be
#   asked for. The diamond need not lie within its bar on so short a text.
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# On 60,000 characters of the test plays the bars are no longer rough (`python -m lectures.recipes guessing`, about six minutes).

# %% slideshow={"slide_type": "fragment"}
guessing = stored("guessing")
rows = {}
for name, player in guessing["players"].items():
    rows[name] = (*player["bounds"], player["bits_per_key"], player["first_guess_right"])
human = guessing["shannon"]
rows["a reader (Shannon 1951)"] = (human["lower"], human["upper"], None, None)
spoken = [f"{name}: bounds {low} to {high}" for name, (low, high, *_) in rows.items()]
HTML(show.intervals_svg(rows, alt="Bits per character. " + "; ".join(spoken) + "."))

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - 28 equally likely keys would be $\log_2 28 = 4.81$ bits. Knowing only how frequent each key is: 4.16. With five characters of
#   context: 1.95, and 58 percent found at once. From the 6-gram to the 7-gram nothing is gained.
# - In every row the diamond lies within the bar (in the first, at its end): Shannon's bounds hold, also for players that he
#   could not invite.
# - **The counting 6-gram beats our small LSTM (2.11) and our small GPT (2.19).** Neural networks are not better by
#   nature: these are trained for minutes, on five million characters, and have seen each a few times. Lecture 13 shows what size
#   changes: SmolLM2 needs 1.57 bits per character *as written*, capitals and signs apart, where the 6-gram needs 2.19. (It
#   is a network of 135 million weights, and may well have read these plays.)
# - Shannon's reader: between 0.6 and 1.3, with 100 letters of context, on other texts, with 27 symbols. People know what they are
#   talking about.
# </details>

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 8. What it is good for, and one function for all
#
# **Speech.** Two transcripts sound alike. **Translation.** Two word orders say the same. In both, one program proposes sentences
# and the language model says which of them somebody would say.
#
# > **Predict before you run.** In which pair is the trigram wrong, or nearly so? It has only read Shakespeare.

# %% slideshow={"slide_type": "fragment"}
pairs = [
    ("I know not where he is.", "Eye no knot wear he is."),
    ("My son, he is dead.", "My sun, he is dead."),
    ("I know not the man.", "I the man not know."),
    ("The night is past.", "The knight is past."),
    ("I hear a noise.", "I here a noise."),
]
for pair in pairs:
    scores = []
    for sentence in pair:
        tokens = torch.tensor([tokenizer.encode("\n" + sentence)])
        scores.append(trigram.log_probabilities(tokens)[0, 1:].sum().item())
    (first, one), (second, other) = zip(pair, scores, strict=True)
    print(
        f"{first:26} {one:6.1f}    {second:26} {other:6.1f}    {math.exp(one - other):,.0f} : 1"
    )

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# It prefers the first of each pair, but of "hear" and "here" only by about 2 to 1: "I here" occurs, "I hear a" tells it little.
# Numbers like these, from far larger models, decide what your telephone writes when you speak.
# </details>
#
# **One function.** You have now met models that count and models that compute. From outside they are the same:
#
# ```python
# logits, state = model(tokens, state)
# ```
#
# `tokens` are numbers of tokens, several texts at once, `(batch, time)`. **Logits** are one score per word of the vocabulary, for
# what follows each of the tokens; softmax, $p_i = e^{\ell_i} / \sum_j e^{\ell_j}$, turns them into probabilities. The **state**
# is all that the model remembers of what it has read: two words for a trigram, a vector for an LSTM. Hand it back, and the
# model reads on. So reading at once or in pieces is the same, for every model of this course:

# %% slideshow={"slide_type": "fragment"}
text = torch.tensor([tokenizer.encode("\nMy lord, the king is dead.")])
for name, model in {"3-gram": trigram, "LSTM": word_models["LSTM"]}.items():
    with torch.no_grad():
        at_once, _ = model(text)
        first, state = model(text[:, :4])
        rest, _ = model(text[:, 4:], state)
    same = torch.allclose(at_once, torch.cat([first, rest], dim=1), atol=1e-5)
    print(
        f"{name:7} logits {tuple(at_once.shape)}, read in two pieces: {'the same' if same else 'another answer'}"
    )

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Now you.** The widgets take your function beside ours. Change the last line of `my_perplexity` below, as its comment proposes,
# and see at which probabilities your picture differs.


# %% slideshow={"slide_type": "fragment"}
def my_perplexity(probabilities):
    mean_bits = sum(-math.log2(p) for p in probabilities) / len(probabilities)
    return 2**mean_bits  # change me: e**mean_bits? the mean of 1/p?


widgets.perplexity_playground(
    perplexity_of,
    ["the", "cat", "sat", "<eos>"],
    four,
    lambda p: -math.log2(p),
    yours=my_perplexity,
)

# %% [markdown] slideshow={"slide_type": "skip"}
# `widgets.count_playground(…, yours=my_additive)` takes a smoothing of yours in the same way, with another $k$ or another $V$. The
# assignment [`exercises/ngrams/ngrams.ipynb`](../exercises/ngrams/ngrams.ipynb) lets you build all the rest, from counting pairs of words to perplexity, and tells
# you which mistake you made.

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Check yourself
#
# 1. The probabilities of all sentences of two words sum to 1. What did somebody forget?
# <details><summary>Answer</summary>The end of the sentence, &lt;eos&gt;. With it, sentences of all lengths sum to 1 together.</details>
#
# 2. A vocabulary of 1,000 words, a context seen 20 times, the word seen 4 times after it. Additive smoothing with k = 0.5?
# <details><summary>Answer</summary>(4 + 0.5) / (20 + 0.5 · 1000) = 4.5 / 520 = 0.0087. Without smoothing it was 0.2.</details>
#
# 3. A model gives every word of a text the probability 0.01. Its perplexity? Its bits per word?
# <details><summary>Answer</summary>100, and log₂ 100 = 6.64.</details>
#
# 4. Two chapters of equal length have perplexities 50 and 200. And the book of both?
# <details><summary>Answer</summary>√(50 · 200) = 100: the log losses are averaged, not the perplexities.</details>
#
# 5. The 5-gram without smoothing writes the most fluent text, and has an infinite perplexity on the test plays. How can that
# be?
# <details><summary>Answer</summary>It writes only what it has seen, and copies. The test plays hold what it has not seen, to which
# it gives probability 0.</details>
#
# 6. A player finds every character with the *second* guess. What is Shannon's upper bound, and why can it be right?
# <details><summary>Answer</summary>0: all of q is at 2. A twin who guesses alike needs no list at all, "always the second" is enough. So
# the text holds no news for this player, who only says it oddly. (The lower bound supposes that one names the likeliest key first,
# and does not hold for such a player.)</details>

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Notation, words, sources
#
# | here | elsewhere | what it is |
# |---|---|---|
# | $P(w_t \mid w_1 \dots w_{t-1})$ | $P(w_t \mid w_{<t})$, $P_\Phi(w_{t+1} \mid w_1, \dots, w_t)$, $p(x_t \mid x_{1:t-1})$ | the model's answer |
# | $P(w_1 \dots w_T)$ | $P(w_{1:n})$, $\Pr(y)$ | the probability of a text |
# | `<bos>`, `<eos>` | `<s>`, `</s>`; `<START>`, `<STOP>`; $w_{n+1} = \text{<EOS>}$ | beginning and end |
# | $c(h\,w)$ | $C(w_{n-1} w_n)$, count | how often |
# | $k$ | $\delta$, $\alpha$; "add-one" for $k=1$ | pseudocount |
# | $d$ | $D$, $\delta$ | discount |
# | log loss $L$ | negative log-likelihood, $-\ln P(y)$ | sum of surprises |
# | $H(p, q)$ | $\mathbb{E}_{y \sim \text{Pop}}[-\ln P(y)]$, cross-entropy loss | mean surprise |
# | perplexity | PP, PPL, $2^{H}$ with $H$ in bits | $\exp$ of the mean log loss |

# %% [markdown] slideshow={"slide_type": "skip"}
# ### Words of this lecture
#
# - **language model**: A function that reads tokens and gives the probability of every token of its vocabulary to come next.
# - **token**: A piece of text with a number: a word, a sign, a part of a word or a character.
# - **vocabulary**: The list of all tokens that a model knows.
# - **corpus**: A collection of texts.
# - **training text**: What a model learns from. What it is examined on must be other text.
# - **development text**: Text on which settings are chosen, neither learned from nor examined on.
# - **test text**: Text that a model sees for the first time when it is examined.
# - **chain rule of probability**: The probability of a text is the product of the probabilities of its tokens, each given those before it.
# - **beginning and end of a sentence**: The tokens `<bos>` and `<eos>`. The first is given, the second is predicted like a word.
# - **unknown**: The token `<unk>`, which stands for every word outside the vocabulary.
# - **Markov assumption**: Only the last few tokens matter for the next one.
# - **n-gram**: A run of n tokens; also the model, of order n, that predicts a token from the n − 1 before it.
# - **context (of a prediction)**: The tokens before the one that is predicted, as far as the model looks at them.
# - **maximum likelihood**: The estimate that makes the training text most probable; for n-grams, counts divided by counts.
# - **smoothing**: To move some probability from what was seen to what was not.
# - **additive smoothing**: To add a pseudocount k to every count, that of unseen words included.
# - **interpolation**: To mix the answers of long and short contexts with weights that sum to 1.
# - **discounting**: To take a fixed amount from every count, and give what it frees to shorter contexts.
# - **Kneser–Ney**: Discounting in which the shorter context counts after how many different words a word was seen.
# - **surprise**: Minus the logarithm of the probability that the model gave to what came.
# - **bit**: The surprise at something of probability one half; with the natural logarithm the unit is called a nat.
# - **log loss**: The sum of the surprises at all tokens of a text.
# - **cross-entropy**: The mean surprise of a model at text from the real language.
# - **entropy**: The smallest mean surprise that any model could reach.
# - **perplexity**: The exponential of the mean log loss: among how many equally likely tokens the model hesitates.
# - **branching factor**: How many tokens could come next, if all were equally likely.
# - **logits**: One score per word of the vocabulary, which softmax turns into probabilities.
# - **state**: All that a model remembers of what it has read.

# %% [markdown] slideshow={"slide_type": "skip"}
# **Sources.** Shannon (1951), Prediction and Entropy of Printed English, equation 17 and table I. Jelinek & Mercer (1980),
# Interpolated Estimation of Markov Source Parameters from Sparse Data. Ney, Essen & Kneser (1994), On Structuring Probabilistic
# Dependences in Stochastic Language Modelling. Kneser & Ney (1995), Improved Backing-off for M-gram Language Modeling. Chen &
# Goodman (1999), An Empirical Study of Smoothing Techniques for Language Modeling. Bengio et al. (2003), A Neural Probabilistic
# Language Model. Jurafsky & Martin, Speech and Language Processing, 3rd edition (draft of 2024), chapter 3.
