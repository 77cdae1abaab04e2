# %% [markdown] slideshow={"slide_type": "slide"}
# # What is a language model?
#
# *All things are ready, if our minds be s* … Which letter comes next? You know it, although you have probably never read this line.
# How much of a text can you predict before you read it, and how do you teach a program to do the same?
#
# <img src="figures/surprise.svg" width="760" alt="A line of Shakespeare, one box per character; the darker the box, the more the character surprised a small network. Most letters inside words are pale; first letters of words are dark.">
#
# *The picture shows how much each character of that line surprised a small network, which was trained on other plays. No colour
# means "I knew it", strong blue means "I did not expect that". The numbers are in bits, a unit that section 5 explains. On average, the first letters
# of words surprise the network more than the letters inside words<!--[[? the_line["LSTM"]["bits"][0] > the_line["LSTM"]["bits"][1]]]-->. In section 7 you guess letters yourself, in a game against the same network.*
#
# **After this lecture you can**
# - say what a language model is, and write the probability of a sentence as a product;
# - say what the special token `<eos>` is for, and what breaks without it;
# - build an n-gram model from counts, by hand, and smooth it;
# - compute log loss, cross-entropy and perplexity, and interpret a table of them;
# - play Shannon's game, and convert guesses into bits per character.
#
# *In the notebook* **Shift-Enter** runs a cell and moves to the next one; *Run → Run All Cells* runs all of them. Pictures and questions appear
# once their cells have run.
#
# **You need** Python, probability (including conditional probability) and logarithms. This is the first lecture.

# %% [markdown] slideshow={"slide_type": "skip"}
# | section | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 |
# |---|---|---|---|---|---|---|---|---|
# | minutes | 9 | 11 | 9 | 11 | 12 | 6 | 12 | 6 |
#
# The minutes are for a class. If you work alone and do all predictions (questions to answer before you see the result) and try all widgets
# (interactive pictures), plan 110 minutes. You can leave section 6 for later, and discounting and Kneser–Ney at the end of section 4 as well;
# then plan 90. *Coming from other slides or a book?* A table at the end translates their notation.

# %% [markdown] slideshow={"slide_type": "notes"}
# *For the lecturer: read the first line aloud, stop at the last word and wait for the room to finish it. Then ask which letters
# would have been hard to guess.*
#
# *Short of time: skip Kneser–Ney in section 4.*

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "skip"}
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
# A **token** is a unit of text and has an id, which is an integer. Here a token is a word, a punctuation mark or a line break; in
# section 7 it is a single character. The **vocabulary** is the list of all tokens that a model knows. A **language model** reads tokens and
# answers one question: *how likely is each token of the vocabulary to come next?* If $w_t$ is the token at position $t$ of the text, the answer is
#
# $$P(w_t \mid w_1, \dots, w_{t-1}) \qquad \text{for every word } w_t \text{ of the vocabulary; these probabilities sum to 1.}$$
#
# Your phone contains such a model; its keyboard uses it to suggest the next word. An assistant such as ChatGPT is also a language
# model. It reads your question and writes its answer one token at a time.
#
# Our models learn from a **corpus**, a collection of texts. Our corpus is the works of Shakespeare. Three plays, *Twelfth Night*,
# *Henry V* and *Macbeth*, are held out as the **test text** (test set), which none of our language models sees before its final
# evaluation. We use three further plays, the **development text**, to choose settings, such as the weights in section 4. Our models learn from
# the rest, the **training text**.

# %% [markdown] slideshow={"slide_type": "notes"}
# *9 minutes. Let the room vote before you reveal the answer, then type what they dictate. Students often think that the model
# returns one word; point out that it returns a probability for every word of the vocabulary, and that the list shows only the six
# largest.*

# %% slideshow={"slide_type": "fragment"}
shakespeare = load("shakespeare")
tokenizer = WordTokenizer.fit(shakespeare.texts("train"), vocab_size=5000)
BOS, EOS, UNKNOWN = tokenizer.bos, tokenizer.eos, tokenizer.unk


def documents(split):
    """Every play as a list of token ids between <bos> (beginning) and <eos> (end)."""
    return [[BOS, *tokenizer.encode(text), EOS] for text in shakespeare.texts(split)]


train, dev, test = documents("train"), documents("valid"), documents("test")
print(f"{sum(map(len, train)):,} training tokens, {sum(map(len, test)):,} test tokens")
print(tokenizer.encode("My lord, the king!"), "is", "My lord, the king!")

# %% [markdown] slideshow={"slide_type": "subslide"}
# Four models trained on the training text suggest the next word. Three of them just count, as sections 3 and 4 explain. The
# "3-gram" counts sequences of three words, so it looks at the previous two; the "2-gram" counts pairs, and the "1-gram" counts
# single words. The fourth, "LSTM", is a neural network from [lecture 8](08_gates.ipynb). All four have the same interface, and here you
# see only their answers.


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "skip"}
@cache
def does_not_fit(begun):
    """Which words of the vocabulary do not start with `begun`; the first seven are special tokens and white space."""
    return torch.tensor(
        [i < 7 or not word.startswith(begun) for i, word in enumerate(tokenizer.vocabulary)]
    )


def suggester(model):
    """A function from the text typed so far to the six likeliest next words, or endings of the current word."""

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

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
suggest = {name: suggester(model) for name, model in word_models.items()}
show.predict(
    "Which of the four models always suggests the same next words, whatever words you have typed before?",
    choices=list(word_models),
    answer="1-gram",
    why="The 1-gram ignores all previous words. Now type: after a space the widget suggests the next word; within a word, its "
    "possible endings. Enter accepts the first suggestion; hold it down to let the model write.",
    reveals=lambda: widgets.next_words(suggest, "I will ").opens(model="1-gram"),
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - After "I will" the 3-gram, which looks at the previous two words, gives "not<!--[[suggest["3-gram"]("I will ")[0][0]]]-->" a probability of 0.16<!--[[suggest["3-gram"]("I will ")[0][1]:.2f]]-->.
# - The 1-gram ignores the previous words, so they do not change its answer<!--[[? len({tuple(suggest["1-gram"](f"{word} ")) for word in ("I will", "My lord, the", "sleep", "king")}) == 1]]--> (within a word it keeps only the words that start with
#   the letters that you typed).
# - After "I love the " the 3-gram gives "king" a probability of 0.06<!--[[dict(suggest["3-gram"]("I love the "))["king"]:.2f]]-->; after "I love the k" it is 0.92<!--[[dict(suggest["3-gram"]("I love the k"))["king"]:.2f]]-->, because the letter
#   rules out most words.
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# ### Why predict words?
#
# *The students opened their …* To continue this line well you need grammar (a noun), some knowledge of the world (books, but not
# rivers), and the rest of the story. Predicting the next word exercises all three. It needs no teacher, because the text itself contains the
# correct answer, and text is plentiful. Compare our 3-gram with SmolLM2, a language model of 2024 that was
# trained mostly on web pages and runs on your laptop:

# %% slideshow={"slide_type": "fragment"}
from nlmcore.pretrained import smollm2

modern, its_tokens = smollm2()
with torch.no_grad():
    modern_logits, _ = modern(torch.tensor([its_tokens.encode("The students opened their")]))
modern_best = modern_logits[0, -1].softmax(-1).topk(6)

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
by_counting = suggest["3-gram"]("The students opened their ")
by_smollm2 = zip(modern_best.indices.tolist(), modern_best.values.tolist(), strict=True)
told = [
    (word, f"{p:.2f}", its_tokens.decode([i]).strip(), f"{q:.2f}")
    for (word, p), (i, q) in zip(by_counting, by_smollm2, strict=True)
]
show.table(told, ["3-gram, Shakespeare", "P", "SmolLM2, the web", "P"])

# %% [markdown] slideshow={"slide_type": "fragment"}
# A language model is a function from the text so far to the probabilities of the next token. More than a century of work has gone into it:
#
# <img src="figures/timeline.svg" width="920" alt="A line of twelve years. 1913: Markov counts letters. 1948: Shannon, n-grams. 1980: Jelinek and Mercer, mixed n-grams. 1995: Kneser and Ney, better smoothing. 2000: Bengio, a neural network. 2010: Mikolov, a recurrent network. 2014: encoder, decoder, attention. 2017: the Transformer. 2018: GPT and BERT, pretraining. 2020: GPT-3, prompts instead of training. 2022: ChatGPT, an assistant. 2024: SmolLM2, on your laptop.">
#
# *From counting letters to assistants.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 2. The probability of a sentence
#
# A model of the *next* word is also a model of whole sentences. Apply the definition of conditional probability from left to right to a
# sentence of $T$ words, and you get the **chain rule of probability**:
#
# $$P(w_1, \dots, w_T) \;=\; \prod_{t=1}^{T} P(w_t \mid w_1, \dots, w_{t-1})$$
#
# $$P(\text{the cat sat}) = P(\text{the}) \; P(\text{cat} \mid \text{the}) \; P(\text{sat} \mid \text{the cat})$$
#
# This is not an assumption; it holds for every distribution over sentences. What we have to *assume* is how far back a model needs
# to look. If each word is independent of the others, the product becomes $P(\text{the})\,P(\text{cat})\,P(\text{sat})$. If each word
# depends only on the previous one, it becomes $P(\text{the})\,P(\text{cat} \mid \text{the})\,P(\text{sat} \mid \text{cat})$. We estimate both
# products from a corpus of four sentences. `<bos>` and `<eos>` mark the **beginning and end of a sentence**. The first word of a sentence
# then has a previous word, too, so the second product begins with $P(\text{the} \mid \text{<bos>})$ instead of $P(\text{the})$. The last part of
# this section explains why the end counts as a word.

# %% [markdown] slideshow={"slide_type": "notes"}
# *11 minutes. Have everybody compute both products on paper; it takes two minutes. Students often divide by the number of
# sentences, or count the first special token as a predicted word. Ask what the probabilities of all sentences should sum to
# before you show the widget.*

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


# %% slideshow={"slide_type": "subslide"}
def one_word(word):
    return alone[word] / alone.total()


def two_words(word, before):
    return after[before][word] / after[before].total()


unigram = one_word("the") * one_word("cat") * one_word("sat")
bigram = two_words("the", "<bos>") * two_words("cat", "the") * two_words("sat", "cat")

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
shuffled = two_words("sat", "<bos>") * two_words("the", "sat") * two_words("cat", "the")
one_told = "P(the) P(cat) P(sat)", "4/19 · 3/19 · 3/19", f"{unigram:.4f}", f"{unigram:.4f}"
two_told = "P(the|<bos>) P(cat|the) P(sat|cat)", "3/4 · 2/4 · 2/3", f"{bigram:.4f}"
head = ["", "From the counts", "P(the cat sat)", "P(sat the cat)"]
both = show.table([one_told, (*two_told, f"{shuffled:.4f}")], head)
show.predict(
    "Work it out from these counts on paper: which is larger, $P(\\text{the})\\,P(\\text{cat})\\,P(\\text{sat})$ or "
    "$P(\\text{the} \\mid \\text{<bos>})\\,P(\\text{cat} \\mid \\text{the})\\,P(\\text{sat} \\mid \\text{cat})$, and by what factor?",
    choices={
        "the first, about 2 times larger": 1 / 2,
        "the second, about 2 times larger": 2,
        "the second, about 10 times larger": 10,
        "the second, about 50 times larger": 50,
    },
    answer=bigram / unigram,
    why="In this corpus the previous word tells you a lot.",
    reveals=both,
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - The products are 0.0052<!--[[unigram:.4f]]--> and 0.2500<!--[[bigram:.4f]]-->. The second is 48<!--[[bigram / unigram:.0f]]--> times larger.
# - The model of independent words (a *unigram* model, section 3) ignores order, so it gives "sat the cat" the same probability as "the cat sat". To
#   the model that uses the previous word (a *bigram* model) "sat the cat" is impossible<!--[[? shuffled == 0]]-->,
#   because no sentence here begins with "sat".
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# ### Tokens need not be words
#
# The chain rule holds for any sequence of events, such as weather, melodies and chess moves. If Elmo, Cookie Monster and Oscar appear on *Sesame Street*, in this order, the
# product is $P(\text{Elmo})\, P(\text{Cookie Monster} \mid \text{Elmo})\,P(\text{Oscar} \mid \text{Elmo, Cookie Monster})$. Here the tokens are the speakers of *Romeo and Juliet*:

# %% slideshow={"slide_type": "fragment"}
import re

romeo = next(play.text for play in shakespeare.documents if play.title == "Romeo and Juliet")
speakers = re.findall(r"\n\n([A-Z][A-Za-z ]+)\.\n", romeo)
follows = defaultdict(Counter)
for before, speaker in pairwise(speakers):
    follows[before][speaker] += 1

how_often = Counter(speakers)["Romeo"] / len(speakers)
after_benvolio = follows["Benvolio"]["Romeo"] / follows["Benvolio"].total()
print(f"{len(speakers)} speeches by {len(set(speakers))} speakers")
print(f"P(Romeo) = {how_often:.2f}   P(Romeo | Benvolio) = {after_benvolio:.2f}")

# %% [markdown] slideshow={"slide_type": "slide"}
# ### Why the end counts as a word
#
# A model must also say when a sentence ends. So the end is a token, `<eos>` (*end of sequence*), which the model predicts like any other. The whole
# sentence then has the probability $P(\text{the cat sat}) \cdot P(\text{<eos>} \mid \text{the cat sat})$. What happens without `<eos>`? Take a tiny
# language of two words, "ha" and "ho", which are always equally likely. At every step the sentence ends with a probability $p$, which you set in the widget.


# %% slideshow={"slide_type": "subslide"}
def sentence_probability(words, p_eos):
    """P(words, then <eos>); without <eos> in the vocabulary (p_eos = 0), just P(words)."""
    probability = 1.0
    for _ in words:
        probability *= (1 - p_eos) / 2  # the sentence continues with one of two words
    return probability * p_eos if p_eos > 0 else probability


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
def of_length(n, p):
    """The total probability of all sentences of n words."""
    return 2**n * sentence_probability(["ha"] * n, p)


without = sum(of_length(n, 0) for n in range(4))  # of up to three words
show.predict(
    "Without `<eos>` ($p = 0$), the probabilities of the two sentences of one word sum to 1. "
    "What do the probabilities of *all* sentences, of every length, sum to?",
    choices=["less than 1", "1", "infinity"],
    answer="infinity" if without > 1 else "1",
    why=f"The probabilities of the sentences of zero to three words already sum to {without:.0f}. Move $p$:",
    reveals=lambda: widgets.length_playground(sentence_probability, ["ha", "ho"]),
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - Without `<eos>` the probabilities sum to 1 for *each* length<!--[[? all(of_length(n, 0) == 1 for n in range(4))]]-->, for sentences of zero words, of one word, of two words … So the
#   total is infinite. There is one distribution per length, and you cannot compare sentences of different lengths. A sentence could
#   never be more probable than its own beginning, because every further word multiplies its probability by at most 1.
# - With $p = 0.5$ the total probability of the sentences of each length is half that of the sentences with one word fewer<!--[[? of_length(1, 0.5) == of_length(0, 0.5) / 2 and of_length(2, 0.5) == of_length(1, 0.5) / 2]]-->. Over all lengths $n$, the probabilities sum to $\sum_n p\,(1-p)^n = 1$.
# - The smaller $p$ is, the longer the sentences are on average; at $p = 0.05$ the probabilities of all sentences of up to six words sum to only 0.302<!--[[sum(of_length(n, 0.05) for n in range(7)):.3f]]-->.
# </details>
#
# **With `<eos>`, sentences of all lengths share a total probability of 1.** (This holds for every fixed $p > 0$. A network must not let
# $P(\text{<eos>})$ vanish too fast as a text grows, or some probability escapes to texts that never end.)
#
# > **What goes wrong.** *Leaving `<eos>` out of the counts.* In our small corpus "sat" occurs three<!--[[words(alone["sat"])]]--> times, twice<!--[[? after["sat"] == {"<eos>": 2, "on": 1}]]--> at the end of a
# > sentence. If you count only words, "on" follows "sat" with probability $1/1$. If you also count the ends, the probability is $1/3$, and
# > $P(\text{<eos>} \mid \text{sat}) = 2/3$. The opposite error is to count `<bos>`, which is given, among the predicted words.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 3. n-grams: count and divide
#
# A sequence of *two hundred* words from a new text almost certainly never occurs in the training text, so there is nothing to count.
# The simplest solution is the **Markov assumption** that only the previous $n-1$ words matter.
#
# $$P(w_t \mid w_1 \dots w_{t-1}) \approx P(w_t \mid w_{t-n+1} \dots w_{t-1})
#   = \frac{c(w_{t-n+1} \dots w_{t-1}\, w_t)}{c(w_{t-n+1} \dots w_{t-1})}$$
#
# $c$ is a **count**, the number of times that this sequence of words occurs in the training text. A sequence of $n$ words is an **n-gram**
# ($n = 1$ unigram, 2 bigram, 3 trigram), $n$ is the model's **order**, and the $n-1$ words before $w_t$ are the **context** of $w_t$.
# The fraction is the **maximum likelihood** estimate, because no other choice of probabilities makes the training text more probable.

# %% [markdown] slideshow={"slide_type": "notes"}
# *9 minutes. Ask how many 5-grams are possible with 5,000 words, and how many a corpus of a million words can contain. Students
# often confuse a context that was never seen (0/0) with a continuation that was never seen (0); ask for an example of each.*

# %% slideshow={"slide_type": "fragment"}
vocabulary = list(dict.fromkeys(word for sentence in sentences for word in sentence[1:]))
ids = {word: i for i, word in enumerate([*vocabulary, "<bos>"])}
bigrams = NGramLM(2, len(ids), "mle").fit([[ids[w] for w in sentence] for sentence in sentences])
for before, word in (("the", "cat"), ("cat", "sat"), ("sat", "<eos>"), ("a", "dog")):
    ours = bigrams.probability(ids[word], [ids[before]])
    print(f"P({word:5} | {before}) = {two_words(word, before):.3f}   nlmcore: {ours:.3f}")

# %% [markdown] slideshow={"slide_type": "subslide"}
# Now we count n-grams in Shakespeare. Longer contexts are more informative. But with a vocabulary of 5,000 words there are $5{,}000^n$ possible n-grams, and the
# training text has only a million words.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "skip"}
from nlmcore.ngram.counts import count_ngrams, walk

lengths = np.array([len(play) for play in train])
levels = count_ngrams(np.concatenate(train), lengths, 5, tokenizer.vocab_size)
never = {n: [] for n in range(1, 6)}
for play in test:
    for level, _, ngram in walk(levels, np.array([play])):
        never[level.order].append(ngram[0, level.order - 1 :] < 0)
unseen = {n: float(np.concatenate(parts).mean()) for n, parts in never.items()}
unknown = sum(play.count(UNKNOWN) for play in test) / sum(len(play) - 1 for play in test)


def impossible(length, n=2):
    """The fraction of stretches of `length` test tokens that contain an n-gram never seen in training."""
    starts = [(part, at) for part in never[n] for at in range(0, len(part) - length + 1, length)]
    return sum(part[at : at + length].any() for part, at in starts) / len(starts)


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
told = []
for level in levels:
    once, n = f"{100 * (level.counts == 1).mean():.0f}", level.order
    told.append((n, f"{5000.0**n:.0e}", f"{len(level):,}", once, f"{100 * unseen[n]:.1f}"))
head = ["n", "Possible", "Distinct n-grams", "Seen once, %", "New in the test plays, %"]
table = show.table(told, head)
show.predict(
    "What fraction of the 5-grams in the three test plays never occurs in the training text?",
    choices={"about 20 %": 20, "about 50 %": 50, "about 80 %": 80},
    answer=100 * unseen[5],
    unit=" %",
    why=f"Even among the bigrams, {unseen[2]:.1%} are new.",
    reveals=table,
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - 80<!--[[100 * unseen[5]:.0f]]--> % of the test's 5-grams are new, 37<!--[[100 * unseen[3]:.0f]]--> % of its trigrams, and still 8.8<!--[[100 * unseen[2]:.1f]]--> % of its bigrams.
# - 95<!--[[100 * (levels[-1].counts == 1).mean():.0f]]--> % of the distinct 5-grams were seen only once, so their "probability" rests on a single event.
# - With infinite data a larger $n$ would never be worse. With a million words the model has nothing to say about contexts that it
#   has not seen. A larger $n$ is also expensive, because there are 983,679<!--[[len(levels[-1]):,]]--> distinct 5-grams to store, almost one per word<!--[[? 0.8 < len(levels[-1]) / lengths.sum() < 1]]--> of the
#   training text.
# </details>
#
# **From the bigram on, a model that only counts and divides gives almost every stretch of fifty tokens from the test plays a probability of zero**<!--[[? impossible(50) > 0.95]]-->, because a single n-gram that was never
# seen makes the whole product 0. After an unseen *context* the estimate is 0/0, which is undefined. (`nlmcore`, the library of this course, then returns a
# uniform distribution.) The table shows no unseen unigrams<!--[[? unseen[1] == 0]]-->, but only because we keep the 5,000 most frequent words and replace all
# others by one token, `<unk>`, **unknown** (9.2<!--[[100 * unknown:.1f]]--> % of the test tokens). [Lecture 2](02_tokens_and_vectors.ipynb) returns to this.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 4. Smoothing: unseen is not impossible
#
# **Smoothing** takes some probability from seen events and gives it to unseen ones. Here are four methods.
#
# **Additive smoothing** (Laplace smoothing if $k=1$) pretends that every word was seen $k$ more times. With $V$ words in the vocabulary,
#
# $$P(w \mid h) = \frac{c(h\,w) + k}{c(h) + k\,V} \qquad h \text{ is the context}$$
#
# In our small corpus $V = 8$: seven words and `<eos>`, but not `<bos>`, which is never predicted<!--[[? len(vocabulary) == 8 and "<bos>" not in vocabulary]]-->. There, "sat" follows "cat"
# twice, and "ran" follows it once<!--[[? after["cat"] == {"sat": 2, "ran": 1}]]-->.


# %% slideshow={"slide_type": "subslide"}
def additive(counts, vocabulary, k):
    """counts of the next word -> P(word | context) for every word; k: pseudocount."""
    total = sum(counts.values()) + k * len(vocabulary)
    return {word: (counts.get(word, 0) + k) / total for word in vocabulary}


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
how_often_after, kinds_after = Counter(), Counter()
for (before, _), count in Counter(pair for play in train for pair in pairwise(play)).items():
    how_often_after[before] += count
    kinds_after[before] += 1
share_of_unseen = np.mean(  # with k = 1: the probability of all words never seen after the context
    [
        (tokenizer.vocab_size - kinds_after[before])
        / (how_often_after[before] + tokenizer.vocab_size)
        for play in test
        for before in play[:-1]
    ]
)
after_cat = additive(after["cat"], vocabulary, 1)
freed = sum(p for word, p in after_cat.items() if word not in after["cat"])
show.predict(
    "With $k = 1$, how much probability do the six words never seen after “cat” get in total?",
    within=0.05,
    answer=freed,
    why=f"Each gets 1/11. “sat” falls from 2/3 to {after_cat['sat']:.3f}.",
    reveals=lambda: widgets.count_playground(
        {before: after[before] for before in ("cat", "the", "sat", "a")}, vocabulary, additive
    ).opens(k=1.0),
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - "sat" gets $(2 + 1) / (3 + 8)$ = 0.273<!--[[after_cat["sat"]:.3f]]-->, and the six unseen words together get $6/11$ = 0.545<!--[[freed:.3f]]-->, more than half.
# - In this small corpus $V$ is only 8. For $V = 5{,}000$, $k = 1$ and a context seen ten times, only 0.2<!--[[100 * 10 / 5010:.1f]]--> % of the probability comes from the counts.
# - In the test plays, the bigram with $k = 1$ gives the words never seen after the context 42<!--[[100 * share_of_unseen:.0f]]--> % of the probability, on average. But such a word
#   really follows in only 8.8<!--[[100 * unseen[2]:.1f]]--> % of cases.
# </details>
#
# **On Shakespeare, $k = 1$ gives the unseen words too much probability, and with any $k$ they all get the same amount.** After "cat", the frequent "the" gets as
# much as the rare "on"<!--[[? after_cat["the"] == after_cat["on"] and alone["the"] > alone["on"]]]-->.
#
# > **What goes wrong.** *The wrong $V$ in the denominator.* You take the number of words seen *after this context* (2 after
# > "cat") instead of the number of words that could follow (8). Then the eight probabilities sum to 2.2<!--[[sum(after["cat"][w] + 1 for w in vocabulary) / (3 + 2):.1f]]-->. Whichever smoothing you
# > use, check that the probabilities sum to 1.

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Interpolation** mixes the estimates from the full context and from shorter ones (after Jelinek & Mercer 1980):
#
# $$P(w_t \mid w_{t-2} w_{t-1}) = \lambda_3 \frac{c(w_{t-2} w_{t-1} w_t)}{c(w_{t-2} w_{t-1})}
#   + \lambda_2 \frac{c(w_{t-1} w_t)}{c(w_{t-1})} + \lambda_1 \frac{c(w_t)}{N} + \lambda_0 \frac1V, \qquad \sum_i \lambda_i = 1$$
#
# $N$ is the length of the training text. We choose the weights $\lambda$ that make the *development* text most probable. (Jelinek and
# Mercer let the weights depend on how often the context was seen; ours are constant.)
#
# > **Ask yourself.** Which of the four estimates gets the largest weight on Shakespeare? What would happen if we chose the
# > weights on the *training* text?

# %% slideshow={"slide_type": "fragment"}
mixture = NGramLM(3, tokenizer.vocab_size, "interpolation").fit(train, heldout=dev)
names = ["uniform", "unigram", "bigram", "trigram"]
weights = dict(zip(names, mixture.weights, strict=True))
print({name: round(weight, 2) for name, weight in weights.items()})

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer</b></summary>
#
# The bigram gets the largest weight<!--[[? max(weights, key=weights.get) == "bigram"]]-->, 0.50<!--[[weights["bigram"]:.2f]]-->; the trigram gets 0.34<!--[[weights["trigram"]:.2f]]-->. On the training text all the weight would go to the trigram,
# which is the maximum likelihood estimate there, and new text would have a probability of zero again.
# </details>
#
# **Never choose settings on the training text.**

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Discounting** (absolute discounting, Ney et al. 1994) subtracts a fixed $d$ between 0 and 1 from every nonzero count. The subtraction
# matters for a count of 1, which may be due to chance, but hardly for a count of 100. Let $U(h)$ be the number of *different* words that followed $h$.
# Each of them loses $d$, so a fraction $d\,U(h) / c(h)$ of the probability becomes free. The estimate
# from the next shorter context $h'$ ($h$ without its first word) decides how the freed probability is divided among the words:
#
# $$P(w \mid h) = \frac{\max(c(h\,w) - d,\, 0)}{c(h)} + \frac{d\; U(h)}{c(h)}\; P(w \mid h')$$

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Kneser–Ney** (Kneser & Ney 1995) also discounts, but in every order except the highest it counts differently. The estimate from a shorter
# context matters most where the longer context was hardly ever seen. So it should tell us which words to expect in a *new* context. In our training plays "SYRACUSE" and "strange" are about equally frequent.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "skip"}
words = [tokenizer.vocabulary[i] for play in train for i in play]
before_word = {"SYRACUSE": Counter(), "strange": Counter()}
kinds_before = Counter(word for seen in after.values() for word in seen)  # in the four sentences
for before, word in pairwise(words):
    if word in before_word:
        before_word[word][before] += 1

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
syracuse, strange = before_word.values()
told = [
    (word, seen.total(), len(seen), dict(seen.most_common(3)))
    for word, seen in before_word.items()
]
company = show.table(told, ["", "Times", "Different words before it", "Most frequent of them"])
show.predict(
    "After a context that was never seen in training, which of the two words is the better guess?",
    choices=list(before_word),
    answer=max(before_word, key=lambda word: len(before_word[word])),
    why="It has followed many different words; the other word nearly always follows the same one.",
    reveals=company,
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# The better guess is "strange". SYRACUSE is as frequent<!--[[? syracuse.total() >= strange.total()]]-->, 222<!--[[syracuse.total()]]--> times, but follows only 2<!--[[len(syracuse)]]--> different words, nearly always "OF"<!--[[? syracuse["OF"] > 0.9 * syracuse.total()]]-->
# ("ANTIPHOLUS OF SYRACUSE"); "strange" follows 76<!--[[len(strange)]]-->.
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# So in the lower orders Kneser and Ney do not count *how often* a word occurred but *how many different words* it followed. For the
# lowest order,
#
# $$P_{\text{KN}}(w) = \frac{\text{number of different words seen before } w}{\text{number of different bigrams}}.$$
#
# Try it on our four sentences, which contain 13<!--[[sum(len(of) for of in after.values())]]--> different bigrams. "the" occurs four<!--[[words(alone["the"])]]--> times and "sat" only three<!--[[words(alone["sat"])]]-->, but each follows two<!--[[words(kinds_before["the"])]]--> different
# words<!--[[? kinds_before["the"] == kinds_before["sat"] == 2]]-->, so both get 2/13. What is $P(\text{dog} \mid \text{a})$ with $d = 0.75$? After "a" we have seen one word, once: "cat". So
#
# $$P(\text{dog} \mid \text{a}) = \frac{\max(0 - 0.75, 0)}{1} + \frac{0.75 \cdot 1}{1} \cdot P_{\text{KN}}(\text{dog}) = 0.75 \cdot \frac{1}{13},$$
#
# which is 0.058<!--[[0.75 * kinds_before["dog"] / 13:.3f]]-->, and "cat" gets $0.25 + 0.75 \cdot 2/13$ = 0.365<!--[[0.25 + 0.75 * kinds_before["cat"] / 13:.3f]]-->. A trigram model counts its bigrams in the same way, by how many different
# words preceded the pair. Only the trigrams themselves keep their raw counts.

# %% [markdown] slideshow={"slide_type": "notes"}
# *11 minutes, 8 if the students read discounting and Kneser–Ney at home. Ask where the probability for unseen words should come from
# before you show the first formula. Students often count $V$ wrongly; let them check that the eight probabilities sum to 1. The one
# thing to remember is that unseen is not impossible, and that the probability for unseen words comes from the seen ones.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 5. How good is it? Log loss, cross-entropy, perplexity
#
# A better model gives a higher probability to unseen text. The probability of a play is a number with tens of thousands of zeros
# after the decimal point, so we take logarithms. The product becomes a **sum over tokens**, the **log loss**:
#
# $$L = -\ln P(w_1 \dots w_T) = \sum_{t=1}^{T} -\ln P(w_t \mid w_1 \dots w_{t-1})$$
#
# Each term is the **surprise** at one token: 0 if the model was certain of it, large if the model thought it unlikely. In
# **bits** ($\log_2$ instead of $\ln$) a probability of 1/2 is a surprise of one bit, and 1/8 is a surprise of three. The mean
# over many tokens of real text estimates the **cross-entropy**
#
# $$H(p, q) = \mathbb{E}_{(h,\, w) \sim p}\,[-\ln q(w \mid h)],$$
#
# where the context $h$ and the next token $w$ are drawn from the true distribution $p$ of the language, and $q$ is the model. Nobody
# knows $p$, so we can only estimate the cross-entropy. To train a language model is to make the cross-entropy small. Logarithms are hard to picture, so we undo
# them; the result is the **perplexity**:
#
# $$\text{perplexity} = \exp\Big(\frac{L}{T}\Big) = P(w_1 \dots w_T)^{-1/T}$$
#
# A model that chooses among $m$ equally likely words at every step has a perplexity of $m$. So perplexity is an average **branching
# factor**. It tells you how many equally likely next words would surprise a model as much as the text surprised this one.


# %% [markdown] slideshow={"slide_type": "notes"}
# *12 minutes. Compute the four-word example on the board. Two errors are common: averaging probabilities or perplexities
# instead of log losses, and mixing bits with nats. Ask what a perplexity of 1 would mean, and whether it is always good.*


# %% slideshow={"slide_type": "subslide"}
def perplexity_of(probabilities):
    log_loss = sum(-math.log(p) for p in probabilities)
    return math.exp(log_loss / len(probabilities))


four = [1 / 2, 1 / 4, 1 / 8, 1 / 8]
bits = [-math.log2(p) for p in four]

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
with show.held_back() as counted:
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
show.predict(
    "A model gave the four words of a text the probabilities 1/2, 1/4, 1/8 and 1/8. What is the perplexity?",
    choices={"4": 4, "4.76": 4.76, "5.5": 5.5},
    answer=perplexity_of(four),
    why="5.5 is the arithmetic mean of $1/p$, the wrong mean; 4 would be right if all four words were equally likely.",
    reveals=[
        counted,
        widgets.perplexity_playground(
            perplexity_of, ["the", "cat", "sat", "<eos>"], four, lambda p: -math.log2(p)
        ),
    ],
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - The text costs $1 + 2 + 3 + 3$ = 9<!--[[sum(bits):.0f]]--> bits, 2.25<!--[[sum(bits) / 4]]--> per word, so the perplexity is $2^{2.25}$ = 4.76<!--[[perplexity_of(four):.2f]]-->.
# - Drag one slider to 0.01: a single large surprise can more than double the perplexity. At $P = 0$ the perplexity is infinite.
# - With all four at 0.25 the perplexity is exactly 4<!--[[perplexity_of([0.25] * 4):g]]-->, that of a fair four-sided die.
# </details>
#
# > **What goes wrong.** *Mixing bases.* Three bits equal 2.08<!--[[3 * math.log(2):.2f]]--> nats (natural logarithm). Both give a perplexity of 8<!--[[2**3]]--> if you undo the
# > logarithm with its own base, $2^3 = e^{3 \ln 2}$; the other base gives nonsense. *Averaging perplexities.* Ten words at perplexity 10
# > and ten at 1,000 have a joint perplexity of 100<!--[[perplexity_of([1 / 10, 1 / 1000]):.0f]]-->, not 505<!--[[(10 + 1000) / 2:.0f]]-->. Average the log losses, then take the exponential.
# > *Comparing the incomparable.* Perplexities per word cannot be compared with perplexities per character, or with those over a different vocabulary. For
# > example, a model whose whole vocabulary is `<unk>` has a perplexity of 1.

# %% [markdown] slideshow={"slide_type": "subslide"}
# ### Measured on Shakespeare
#
# We compare four smoothing methods at orders 1 to 5, with the same vocabulary and on the same three test plays
# (`python -m lectures.recipes perplexity` repeats the measurement). Additive smoothing appears twice: with Laplace's $k = 1$, and
# with the $k$ that is best on the development plays.

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
_ = picture.axes[0].set_xticks([1, 2, 3, 4, 5])

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
show.predict(
    "What is the best perplexity that any of our smoothing methods reaches with 5-grams?",
    choices={"near 10": 10, "near 60": 60, "near 200": 200},
    answer=min(line[-1] for line in lines.values()),
    why="On average the best model is as uncertain as if it chose among that many equally likely words, out of 5,000.",
    reveals=picture,
)

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
# <details><summary><b>What to notice</b></summary>
#
# - With one word of context instead of none, the perplexity of Kneser–Ney falls from 203.8<!--[[lines["Kneser–Ney"][0]:.1f]]--> to 71.2<!--[[lines["Kneser–Ney"][1]:.1f]]-->. The *first* word of context
#   saves most<!--[[? all(a - b > b - c for a, b, c, _, _ in lines.values())]]-->.
# - Kneser–Ney is best at every order above 1<!--[[? all(min(line[i] for line in lines.values()) == lines["Kneser–Ney"][i] for i in range(1, 5))]]--> and improves up to order 5<!--[[? min(lines["Kneser–Ney"]) == lines["Kneser–Ney"][4]]]-->, to 57.9<!--[[min(lines["Kneser–Ney"]):.1f]]-->. But from order 3 to order 5 its perplexity
#   falls by only 2.3<!--[[lines["Kneser–Ney"][2] - lines["Kneser–Ney"][4]:.1f]]-->.
# - Beyond the bigram, additive smoothing gets worse with each word of context<!--[[? lines["additive, k = 1"][1:] == sorted(lines["additive, k = 1"][1:])]]-->. Most of
#   the longer contexts are rare, and with $k = 1$ nearly all of the probability after a rare context comes from the $k$ added to every count. Tuning $k$ helps<!--[[? all(a <= b for a, b in zip(lines["additive, k tuned"], lines["additive, k = 1"]))]]-->; the bigram's perplexity falls from 166.8<!--[[lines["additive, k = 1"][1]:.1f]]--> to 85.5<!--[[lines["additive, k tuned"][1]:.1f]]-->. But no $k$ that we
#   tried saves the longer contexts<!--[[? lines["additive, k tuned"][1:] == sorted(lines["additive, k tuned"][1:])]]-->.
# - The *Wall Street Journal* curve is a classic, from 38 million training words and a vocabulary of 19,979 (Jurafsky & Martin,
#   section 3.3). Up to order 3, where it ends, it also falls. The heights cannot be compared, because text and vocabulary differ. We
#   also count punctuation, line breaks and `<unk>`, which on average are easier to predict than words<!--[[? losses[[i == UNKNOWN for play in test for i in play[1:]]].mean() < losses[[tokenizer.vocabulary[i].isalpha() for play in test for i in play[1:]]].mean() > losses[[not tokenizer.vocabulary[i].isalpha() for play in test for i in play[1:]]].mean()]]-->.
# - Bengio's neural network from the timeline in section 1 ([lecture 4](04_windows_and_convolutions.ipynb)) with four words of context and one pass
#   over the text is about as good as the best n-gram: 57.4<!--[[measured["neural"]["feed-forward (4)"]["perplexity"]:.1f]]--> in a single run. Some models of later lectures do better.
# </details>
#
# **Perplexities per token can be compared only on the same text with the same vocabulary.** (If no token is `<unk>`, you can compare models with different
# vocabularies in bits per character, as section 7 does.) A well-known text for such comparisons is the Penn Treebank, news without punctuation, with 929,000 training words and a vocabulary of 10,000:

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
penn = {
    "5-gram, Kneser–Ney": 141.2,  # the first two: Mikolov & Zweig (2012)
    "recurrent network, 2012": 124.7,
    "LSTM, 2014": 78.4,  # Zaremba, Sutskever & Vinyals (2014), a single large model
    "LSTM, 2017": 57.3,  # Merity, Keskar & Socher (2018)
    "GPT-2, 2019 *": 35.76,  # Radford et al. (2019)
    "GPT-3, 2020 *": 20.5,  # Brown et al. (2020)
}
HTML(
    show.bar_list_svg(
        list(penn.values()),
        list(penn),
        reach=150,
        says=[f"{value:g}" for value in penn.values()],
        title="perplexity on the Penn Treebank, test set",
        note="*: trained on far more text, from the web, and not on the Penn Treebank, so not comparable",
    )
)

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 6. Write like Shakespeare
#
# A language model can also write: sample a word from its distribution, append it to the text, and repeat. In the widget below, the colour of a
# word shows how many words in a row, up to this one, are copied verbatim from a training play. In the menu "smoothing", "mle" means
# maximum likelihood, without any smoothing.
#
# > **Ask yourself.** At which order does the text begin to make sense? Where does a 5-gram get its good sentences from? What will
# > the trigram with *additive* smoothing write?

# %% [markdown] slideshow={"slide_type": "notes"}
# *6 minutes. Show orders 1 to 5 in turn and ask for each what is still wrong with the text. Then ask why the model with the
# better perplexity writes word pairs that occur in no play.*

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "skip"}
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


def copied(order, smoothing, run, seeds=10, skip=0):
    """The fraction of words that end a run of at least `run` words of a play; the first `skip` words of each text do not count."""
    written = [word for seed in range(seeds) for word in write(order, smoothing, seed)[skip:]]
    return sum(word.seen >= run for word in written) / len(written)


def without_choice(order, smoothing, seeds=10):
    """The fraction of words that were sampled although no other word was possible."""
    written = [word for seed in range(seeds) for word in write(order, smoothing, seed)]
    return sum(word.likely[0][1] > 0.999 for word in written) / len(written)


# %% slideshow={"slide_type": "fragment"}
widgets.writer(write, [1, 2, 3, 4, 5], ["mle", "kneser_ney", "additive"], order=3)

# %% [markdown] slideshow={"slide_type": "fragment"}
# *Move the slider "words" back and forth to see the distribution from which each word was sampled.*
#
# <details><summary><b>What to notice</b></summary>
#
# - The unigram gets the proportions of words right and nothing else. Without smoothing (mle), any two neighbouring words of the bigram's text also
#   occur together in a play. The trigram sees only the previous two words, so it cannot know how a longer sentence began, and the 5-gram sees only four.
# - Without smoothing the 5-gram is fluent, but it *copies*: over ten seeds, 83<!--[[100 * copied(5, "mle", 6):.0f]]--> % of its words end a run of at least six words
#   copied from a play. At 70<!--[[100 * without_choice(5, "mle"):.0f]]--> % of its steps it has no choice, because in the training plays only one word ever follows the previous four.
# - With Kneser–Ney smoothing the 5-gram has a finite perplexity on the test plays, but in its text 16<!--[[100 * (1 - copied(5, "kneser_ney", 2)):.0f]]--> % of the words never follow the
#   previous word in any play. Without smoothing that cannot happen.
# - The additive trigram turns to gibberish immediately<!--[[? copied(3, "additive", 3, seeds=3, skip=5) < 0.05]]--> and does not recover. After most contexts nearly all its probability lies on words never seen
#   there, and after such a word the next context is also new. Even special tokens such as `<bos>` or `<pad>` (which pads
#   sequences to equal length) get their share.
# </details>
#
# **Judging a text and writing one are two different tasks.** [Lecture 9](09_decoding.ipynb) is about the difference.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 7. Shannon's guessing game
#
# In 1951 Claude Shannon asked how much people know about the statistics of their language. In his game a text is revealed letter by
# letter. Guess each letter before you see it; if you are wrong, guess again until you are right. Write down only *how many guesses*
# it took.
#
# There are 28<!--[[len(KEYS)]]--> keys: the letters a to z (ignoring case and accents), the space (also for a line break), and "." for any other
# character. The passages come from the test plays, so the models have not seen them; nor have you, unless you know your
# Shakespeare.
#
# Why do guesses measure information? A twin who guesses exactly as you do could turn your list of numbers, "1, 1, 3, 1, …", back
# into the text. So the list contains the same information as the text. But it consists mostly of ones, so it can be written with fewer bits.
#
# Let $q_i$ be the fraction of characters that took $i$ guesses. From these fractions Shannon (1951, equation 17) bounds the
# **entropy** $H$, here the bits per character that the best possible predictor would need *if it saw the same context as the player*:
#
# $$\sum_i i\,(q_i - q_{i+1}) \log_2 i \;\le\; H \;\le\; -\sum_i q_i \log_2 q_i$$
#
# The upper bound holds for every player. The lower one holds only for an ideal player, who always names the likeliest remaining key. Both
# bounds apply to the context that the player sees. A predictor that sees more of the text can need fewer bits than either.

# %% [markdown] slideshow={"slide_type": "notes"}
# *12 minutes. Let the room call out, and type the loudest guess. Ten minutes are enough for about 60 characters. Ask those who know
# the play to keep quiet. Each passage starts with an empty field ("new game" clears the first one).*

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "skip"}
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
    """For each model: the number of guesses and the bits for every character of a text."""
    targets, games = torch.tensor([key_of(c) for c in text]), {}
    for name, model in character_models.items():
        scores = key_log_probabilities(model, letters, text)
        nats = -scores.gather(1, targets[:, None])[:, 0]
        bits = (nats / math.log(2)).tolist()
        games[name] = widgets.Player(guess_ranks(scores, targets).tolist(), bits)
    return games


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "subslide"}
def passage(play, begin, first, end):
    """From a test play: shown from `begin`, to be guessed from `first` to `end`."""
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


def typed_by(name, passage, characters):
    """What a model would type: key after key, the likeliest first, until it is right."""
    scores = key_log_probabilities(character_models[name], letters, passage.text)
    keys = ""
    for t in range(passage.given, passage.given + characters):
        for key in scores[t].argsort(descending=True, stable=True).tolist():
            keys += KEYS[key]
            if key == key_of(passage.text[t]):
                break
    return keys


def first_and_inside(texts, given):
    """For each model, its mean guesses and bits for the first letters of words and for the letters inside words."""
    found = {name: {"guesses": ([], []), "bits": ([], [])} for name in character_models}
    for text, begin in zip(texts, given, strict=True):
        games = play_all(text)
        for t in range(max(begin, 1), len(text)):
            if text[t].isalpha() and (text[t - 1].isalpha() or text[t - 1].isspace()):
                for name, game in games.items():
                    found[name]["guesses"][text[t - 1].isalpha()].append(game.guesses[t])
                    found[name]["bits"][text[t - 1].isalpha()].append(game.bits[t])
    return {
        name: {of: [float(np.mean(x)) for x in both] for of, both in each.items()}
        for name, each in found.items()
    }


the_passages = first_and_inside(
    [each.text for each in passages.values()], [each.given for each in passages.values()]
)
henry = shakespeare.test[1].text
ready = henry.index("All things are ready, if our minds be so.")
the_line = first_and_inside(
    [henry[ready - 400 : ready + 41]], [400]
)  # the line of the first picture
demo = typed_by("3-gram", passages["Sir Toby"], 20)
widgets.guessing_game(passages, play_all, entropy_bounds, KEYS, key_of, demo=demo)

# %% [markdown] slideshow={"slide_type": "fragment"}
# *The field contains the 3-gram's own guesses at the first 20 characters, so the rows of "the room" and the 3-gram agree; "new game"
# clears it. Type letters; "?" reveals the character. The number below a character is how many guesses it took.*
#
# <details><summary><b>What to notice</b></summary>
#
# - On average over the three passages, each of the three models needs at least twice as many guesses for the first letter of a word as for the
#   letters inside it<!--[[? all(place["guesses"][0] >= 2 * place["guesses"][1] for place in the_passages.values())]]-->.
# - A few dozen characters give rough bounds. The upper one is too low on average, because characters that take twenty guesses are
#   rare and may not have occurred yet.
# - The bars come from *guesses*, the diamonds from the models' probabilities. You have no diamond, because you give no probabilities.
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# On 60,000 characters of the test plays the bars are far more precise (`python -m lectures.recipes guessing` repeats this in about six minutes).

# %% slideshow={"slide_type": "fragment"}
guessing = stored("guessing")
players = guessing["players"]
rows = {}
for name, player in players.items():
    rows[name] = (*player["bounds"], player["bits_per_key"], player["first_guess_right"])
human = guessing["shannon"]
rows["a reader (Shannon 1951)"] = (human["lower"], human["upper"], None, None)
spoken = [f"{name}: bounds {low} to {high}" for name, (low, high, *_) in rows.items()]

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
saved = players["6-gram"]["bits_per_key"] - players["7-gram"]["bits_per_key"]
show.predict(
    "The 7-gram sees one more character than the 6-gram. How many bits per character does that save on the test plays?",
    choices={"about half a bit": 0.5, "about a tenth of a bit": 0.1, "hardly anything": 0.0},
    answer=saved,
    why="With this training text and smoothing, one more character of context saves no bits.",
    reveals=HTML(show.intervals_svg(rows, alt="Bits per character. " + "; ".join(spoken) + ".")),
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - If all 28 keys were equally likely, a character would cost $\log_2 28$ = 4.81<!--[[math.log2(len(KEYS)):.2f]]--> bits.
# - If you know only how frequent each key is,
#   a character costs 4.16<!--[[players["1-gram"]["bits_per_key"]:.2f]]-->; the 6-gram, which sees five characters, needs 1.95<!--[[players["6-gram"]["bits_per_key"]:.2f]]-->.
# - The 7-gram saves no bits<!--[[? abs(saved) < 0.005]]-->, although it gets slightly more characters right on the first guess, 58.4<!--[[100 * players["7-gram"]["first_guess_right"]:.1f]]--> % instead of 57.6<!--[[100 * players["6-gram"]["first_guess_right"]:.1f]]--> %.
# - A bar holds only for its player's context. The bar of the 1-gram, for example,
#   lies entirely above the bits that the 6-gram needs<!--[[? rows["1-gram"][0] > players["6-gram"]["bits_per_key"]]]-->. The diamond shows the bits that the model itself needs. If a model guesses
#   well but its probabilities are bad, its diamond can lie above its own bar.
# - Our LSTM needs 2.11<!--[[players["LSTM"]["bits_per_key"]:.2f]]--> bits and our GPT, a small Transformer ([lecture 15](15_transformer_language_model.ipynb)), 2.19<!--[[players["GPT"]["bits_per_key"]:.2f]]-->, more than the 6-gram. These are single runs of small networks. In training, the LSTM saw the text
#   three<!--[[words(checkpoint("char_lstm").card["training"]["passes"])]]--> times, the GPT not even once<!--[[? checkpoint("char_gpt").card["training"]["passes"] < 1]]-->. The results only show that a network can lose to counting.
# - SmolLM2 needs 1.57<!--[[guessing["SmolLM2"]["bits_per_character"]:.2f]]--> bits per character of the text *as written*, with capitals and all punctuation, where the 6-gram needs 2.19<!--[[players["6-gram"]["bits_per_character"]:.2f]]-->. (SmolLM2
#   has 135 million parameters and may well have seen these plays in training.)
# - Shannon's reader needed between 0.6<!--[[human["lower"]]]--> and 1.3<!--[[human["upper"]]]--> bits, with 100 letters of context, on different texts and with 27 symbols.
# </details>
#
# **With five characters of context, counting is enough to guess 58<!--[[100 * players["6-gram"]["first_guess_right"]:.0f]]--> % of the characters of our test plays at the first try.** (Capitals do not
# count, and all punctuation marks are one key. Always guessing the space would be right for 19<!--[[100 * players["1-gram"]["first_guess_right"]:.0f]]--> % of them.)

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 8. What a language model is good for, and one function for all
#
# In **speech recognition** two transcripts may sound alike, and in **translation** two word orders may mean the same. If
# another program proposes the sentences, a language model says which of them a person is more likely to say.
#
# > **Ask yourself.** The table below shows five pairs of sentences; the first one of each pair is correct. For which pair does the trigram prefer the wrong sentence, or come close to it? It was trained only on Shakespeare.

# %% [markdown] slideshow={"slide_type": "notes"}
# *6 minutes. Let the room decide each pair before you show the scores. Students often compare log scores of sentences with
# different lengths; remind them of section 2. Close with the one function, because every later lecture uses it.*

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
pairs = [
    ("I know not where he is.", "Eye no knot wear he is."),
    ("My son, he is dead.", "My sun, he is dead."),
    ("I know not the man.", "I the man not know."),
    ("The night is past.", "The knight is past."),
    ("I hear a noise.", "I here a noise."),
]
odds, told = [], []
for pair in pairs:
    scores = []
    for sentence in pair:
        tokens = torch.tensor([tokenizer.encode("\n" + sentence)])
        scores.append(trigram.log_probabilities(tokens)[0, 1:].sum().item())
    (first, one), (second, other) = zip(pair, scores, strict=True)
    odds.append(math.exp(one - other))
    ratio = f"{float(f'{odds[-1]:.2g}'):,.0f}"
    told.append((first, f"−{-one:.1f}", second, f"−{-other:.1f}", ratio))
show.table(told, ["First", "log P", "Second", "log P", "P(first) / P(second)"])

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# The trigram prefers the first sentence of each pair<!--[[? min(odds) == odds[-1] > 1]]-->, but "hear" over "here" only by about 2<!--[[odds[-1]:.0f]]--> to 1. Shakespeare also writes "I here"<!--[[? any([a, b] == tokenizer.encode("I here") for play in train for a, b in pairwise(play))]]-->.
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# **One function.** You have now met models that count and neural networks. From the outside they look the same:
#
# ```python
# logits, state = model(tokens, state)
# ```
#
# `tokens` holds the token ids of several texts; its shape is `(batch, time)`, the number of texts and the number of tokens in each. After each token, the **logits**
# give every word of the vocabulary a score as the next word. If $\ell_i$ is the logit of word $i$, softmax, $p_i = e^{\ell_i} / \sum_j e^{\ell_j}$, turns the scores into
# probabilities. The **state** is everything that the model remembers of the text so far: two words for a trigram, vectors for an LSTM. Pass it to
# the next call, and the model continues where it stopped. So for every model with this interface, one call on the whole text gives the
# same logits as several calls on its parts:

# %% slideshow={"slide_type": "fragment"}
text = torch.tensor([tokenizer.encode("\nMy lord, the king is dead.")])
for name, model in {"3-gram": trigram, "LSTM": word_models["LSTM"]}.items():
    with torch.no_grad():
        whole, _ = model(text)
        first, state = model(text[:, :4])
        rest, _ = model(text[:, 4:], state)
    same = torch.allclose(whole, torch.cat([first, rest], dim=1), atol=1e-5)
    print(
        f"{name:7} logits {tuple(whole.shape)}, in two calls: {'the same' if same else 'different'}"
    )

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Now you.** The widgets show your function next to ours. Change the last line of `my_perplexity` below, as its comment suggests,
# and see for which probabilities your picture differs.


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

# %% [markdown] slideshow={"slide_type": "fragment"}
# **How much of a text can you predict before you read it?** In our test plays, counts alone predict more than half of the characters at the first
# guess. How does a program learn to predict? It estimates the probability of every possible next token from the texts that it was trained on. The rest of this
# course is about better estimates.

# %% [markdown] slideshow={"slide_type": "skip"}
# `widgets.count_playground(…, yours=my_additive)` shows your own smoothing in the same way, with a different $k$ or $V$. In the
# assignment [`exercises/ngrams/ngrams.ipynb`](../exercises/ngrams/ngrams.ipynb) you build all the rest, from bigram counts to
# perplexity, and its checks tell you which mistake you made.

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Check yourself
#
# 1. In someone's model the probabilities of all sentences of two words sum to 1, and so do those of three words. What did they forget?
# <details><summary>Answer</summary>They forgot the end of the sentence, &lt;eos&gt;. With it, the sentences of all lengths together sum to
# 1.</details>
#
# 2. The vocabulary has 1,000 words. A context occurred 20 times, 4 times followed by the word "sea". What is the probability of
#    "sea" under additive smoothing with k = 0.5?
# <details><summary>Answer</summary>It is (4 + 0.5) / (20 + 0.5 · 1000) = 4.5 / 520 = 0.0087<!--[[4.5 / 520:.4f]]-->. Without smoothing it would be 0.2<!--[[4 / 20]]-->.</details>
#
# 3. A model gives every word of a text a probability of 0.01. What are its perplexity and its bits per word?
# <details><summary>Answer</summary>Its perplexity is 100<!--[[perplexity_of([0.01]):.0f]]-->, and it needs log₂ 100 = 6.64<!--[[math.log2(100):.2f]]--> bits per word.</details>
#
# 4. Two chapters of equal length have perplexities of 50 and 200. What is the perplexity of both together?
# <details><summary>Answer</summary>It is √(50 · 200) = 100<!--[[math.sqrt(50 * 200):.0f]]-->, because the log losses are averaged, not the perplexities.</details>
#
# 5. The 5-gram without smoothing writes fluent text, and has an infinite perplexity on the test plays. How is that possible?
# <details><summary>Answer</summary>It copies, so it writes only sequences it has seen. The test plays contain unseen sequences, to
# which it gives probability 0.</details>
#
# 6. A player always finds the character with the *second* guess. What is Shannon's upper bound, and why can it be right?
# <details><summary>Answer</summary>The bound is 0<!--[[? entropy_bounds([2] * 9).upper == 0]]-->, because $q_2 = 1$. A twin who guesses in the same way needs no list, just the
# words "always the second". So the text contains no information for this player, who merely guesses in a strange order. (The lower
# bound assumes that players name the likeliest key first, so it does not hold for this one.)</details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *"Check yourself" is not projected: 6 minutes at the end, or homework. Ask for questions 4 and 5 first, because they show
# whether sections 5 and 3 were understood. What goes wrong: in 4 students answer 125, the mean of the perplexities; if in 6 somebody
# objects that a bound of 0 must be a bug, answer with the twin.*

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Notation, words, sources
#
# | here | elsewhere | what it is |
# |---|---|---|
# | $P(w_t \mid w_1 \dots w_{t-1})$ | $P(w_t \mid w_{<t})$, $P_\Phi(w_{t+1} \mid w_1, \dots, w_t)$, $p(x_t \mid x_{1:t-1})$ | what the model predicts |
# | $P(w_1 \dots w_T)$ | $P(w_{1:n})$, $\Pr(y)$ | the probability of a text |
# | `<bos>`, `<eos>` | `<s>`, `</s>`; `<START>`, `<STOP>`; $w_{n+1} = \text{<EOS>}$ | beginning and end |
# | $c(h\,w)$ | $C(w_{n-1} w_n)$, count | how often $w$ follows $h$ |
# | $k$ | $\delta$, $\alpha$; "add-one" for $k=1$ | pseudocount |
# | $d$ | $D$, $\delta$ | discount |
# | log loss $L$ | negative log-likelihood, $-\ln P(y)$ | sum of surprises |
# | $H(p, q)$ | $\mathbb{E}_{y \sim \text{Pop}}[-\ln P(y)]$, cross-entropy loss | mean surprise |
# | perplexity | PP, PPL, $2^{H}$ with $H$ in bits | $\exp$ of the mean log loss |

# %% [markdown] slideshow={"slide_type": "notes"}
# *The table is not projected. Point to it when somebody brings a book, above all for `<bos>` and `<eos>`, which have a different name
# in each. What goes wrong: students mix log loss (a sum) with cross-entropy (a mean). Begin the next lecture with 2 minutes in
# pairs: each student explains three of the words without the list.*

# %% [markdown] slideshow={"slide_type": "skip"}
# ### Words of this lecture
#
# - **language model**: a function that reads tokens and gives every token of its vocabulary a probability of coming next.
# - **token**: a unit of text with an id: a word, a punctuation mark, a part of a word or a character.
# - **vocabulary**: the list of all tokens that a model knows.
# - **corpus**: a collection of texts.
# - **training text**: the text that a model learns from (training set). It must not be used for evaluation.
# - **development text**: held-out text on which settings are chosen (development or validation set); used neither for training nor for the final evaluation.
# - **test text**: held-out text that a model sees only in its final evaluation (test set).
# - **chain rule of probability**: the probability of a text is the product of the probabilities of its tokens, each given the preceding ones.
# - **beginning and end of a sentence**: the tokens `<bos>` and `<eos>`. The first is given, the second is predicted like a word.
# - **unknown**: the token `<unk>`, which replaces every word outside the vocabulary.
# - **Markov assumption**: only the previous few tokens matter for the next one.
# - **n-gram**: a sequence of n tokens; also the model, of order n, that predicts a token from the previous n − 1.
# - **context (of a prediction)**: the tokens before the predicted one that the model takes into account.
# - **maximum likelihood**: the estimate that makes the training text most probable; for n-grams, counts divided by counts.
# - **smoothing**: moving some probability from seen to unseen events.
# - **additive smoothing**: adding a pseudocount k to every count, including those of unseen words.
# - **interpolation**: mixing the estimates from long and short contexts, with weights that sum to 1.
# - **discounting**: subtracting a fixed amount from every nonzero count and giving the freed probability to shorter contexts.
# - **Kneser–Ney**: discounting in which the lower orders count how many different words a word follows, not how often it occurs.
# - **surprise**: the negative logarithm of the probability that the model gave to the token that occurred (surprisal).
# - **bit**: the surprise at an event of probability one half; with the natural logarithm the unit is called a nat.
# - **log loss**: the sum of the surprises at all tokens of a text.
# - **cross-entropy**: the expected surprise of a model per token of real text.
# - **entropy**: the smallest mean surprise that any model could reach.
# - **perplexity**: the exponential of the mean log loss; a model that hesitates among m equally likely tokens has a perplexity of m.
# - **branching factor**: how many equally likely tokens could come next.
# - **logits**: one score per token of the vocabulary, which softmax turns into probabilities.
# - **state**: everything that a model remembers of the text so far.

# %% [markdown] slideshow={"slide_type": "skip"}
# **Sources.** Markov (1913), An Example of Statistical Investigation of the Text *Eugene Onegin*. Shannon (1948), A Mathematical Theory of
# Communication. Shannon (1951), Prediction and Entropy of Printed English, equation 17 and table I. Jelinek & Mercer (1980),
# Interpolated Estimation of Markov Source Parameters from Sparse Data. Ney, Essen & Kneser (1994), On Structuring Probabilistic
# Dependences in Stochastic Language Modelling. Kneser & Ney (1995), Improved Backing-off for M-gram Language Modeling. Chen &
# Goodman (1999), An Empirical Study of Smoothing Techniques for Language Modeling. Bengio et al. (2003), A Neural Probabilistic
# Language Model. Jurafsky & Martin, Speech and Language Processing, 3rd edition (draft of 2024), chapter 3. For the Penn Treebank: Mikolov & Zweig
# (2012), Context Dependent Recurrent Neural Network Language Model; Zaremba, Sutskever & Vinyals (2014), Recurrent Neural Network
# Regularization; Merity, Keskar & Socher (2018), Regularizing and Optimizing LSTM Language Models; Radford et al. (2019), Language Models are
# Unsupervised Multitask Learners; Brown et al. (2020), Language Models are Few-Shot Learners. "The students opened their" comes from
# Stanford's course CS224n.
