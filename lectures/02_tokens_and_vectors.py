# %% [markdown] slideshow={"slide_type": "slide"}
# # Tokens and word vectors
#
# A computer sees numbers. In lecture 1 every word was a number, and *king* was as far from *queen* as from *cheese*. Where does a
# word begin and end, and how can a number know that two words are alike?
#
# <img src="figures/02_map.svg" width="640" alt="Words of Shakespeare in the plane. Words of the family stand together, names of places, weapons, and times of the day.">
#
# *Words of Shakespeare, placed by a program that was told nothing but which words stand near each other. In section 6 you ask it
# about words of your own.*
#
# **After this lecture you can**
# - cut text into characters, words and pieces of words, and say what each way costs;
# - run byte-pair encoding by hand;
# - explain an embedding: a table, a lookup, a product, and, at the other end, an output layer;
# - build word vectors by counting and by predicting (skip-gram, CBOW, negative sampling);
# - ask for neighbours and analogies, and say which answers mean something.
#
# **You need** vectors, dot products and the exponential function; from lecture 1: tokens, vocabulary, `<unk>`, language
# model, softmax, training and test text.
#
# | section | 1 | 2 | 3 | 4 | 5 | 6 | 7 |
# |---|---|---|---|---|---|---|---|
# | minutes | 7 | 11 | 8 | 9 | 14 | 5 | 12 |
#
# *To lecture from this notebook:* `make present ARGS=02` shows it slide by slide, widgets alive; short of time, skip the
# counts of section 4. *Coming from other slides or a book?* A table at the end translates their notation.

# %% [markdown] slideshow={"slide_type": "notes"}
# *For the lecturer: ask for two words that are alike, then in what way they are alike. Meaning, sound, grammar? Keep the answers
# for section 6.*

# %% slideshow={"slide_type": "skip"}
import math
from collections import Counter

import numpy as np
import torch

from nlmcore.corpora import load
from nlmcore.pretrained import minilm
from lectures.trained import checkpoint
from lectures.recipes.word_vectors import whole_words
from lectures.recipes.word_vectors import paragraphs
from lectures import stored, widgets
from nlmcore.tokens import CharTokenizer, WordTokenizer, trace_training
from nlmcore.tokens.bytepairs import SPLIT, to_bytes
from nlmcore.word2vec import SkipGram, build_vocabulary

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 1. Characters or words?
#
# A **token** is a sequence of characters that the model treats as one thing, and a **tokenizer** cuts a text into tokens and gives
# each its number. The two obvious ways to cut: after every character, or after every word.
#
# > **Predict before you run.** How many times more tokens has a text in characters than in words? And if the vocabulary is *all* words
# > of the training plays, how many percent of the tokens of a new play are not in it: 0.5, 4 or 10?

# %% slideshow={"slide_type": "subslide"}
shakespeare = load("shakespeare")
train, test = shakespeare.texts("train"), "\n".join(shakespeare.texts("test"))
tokenizers = {
    "characters": CharTokenizer.fit(train),
    "all words": WordTokenizer.fit(train),
    "5,000 words": WordTokenizer.fit(train, vocab_size=5000),
    "pieces (byte pairs)": checkpoint("bpe_gpt").tokenizer,
}
cut, words_in_test = {}, len(test.split())
for name, tokenizer in tokenizers.items():
    ids = tokenizer.encode(test)
    unknown = ids.count(tokenizer.unk) / len(ids) if "<unk>" in tokenizer.special else 0.0
    cut[name] = (tokenizer.vocab_size, len(ids) / words_in_test, unknown)
    print(
        f"{name:20} vocabulary {cut[name][0]:6,}   tokens per word {cut[name][1]:.2f}   unknown {unknown:.1%}"
    )

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - **Characters**: a vocabulary of 82, nothing unknown, but 5.55 tokens per word, 3.7 times as many as in words: long texts, and a model
#   must learn to spell before it can learn anything else.
# - **Words**: short texts, but a table with a row for each of 29,970 words, and still 4.1 percent of the tokens are not in it:
#   new plays have new words. They become `<unk>`, and what is unknown cannot be written, nor read. With only the 5,000 most frequent
#   words it is 9.2 percent.
# - **Pieces** are the way between, and what nearly every large model uses: frequent words are one token, rare ones a few, and
#   nothing is unknown. (Signs and new lines count as tokens, so "words" have more than 1 per word.)
# </details>

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 2. Byte-pair encoding
#
# **Byte-pair encoding** (BPE) learns the pieces from the training text. Gage (1994) invented it to compress files, Sennrich, Haddow &
# Birch (2016) brought it to words and characters, and Radford et al. (2019) to bytes, for GPT-2:
#
# 1. Begin with the smallest pieces. Ours are **bytes**: every text is stored as bytes, 256 different ones, so nothing is unknown.
# 2. Count all pairs of neighbours inside words. Take the most frequent pair.
# 3. Make it a new token, a **merge**, and write it so everywhere. Go back to 2, until the vocabulary is as large as wanted.
#
# A word is cut off *with the space before it*: " sea" is another word than "sea" at the beginning of a line. A text is later
# encoded by applying the same merges in the same order.
#
# > **Predict before you move the slider.** "she sells sea shells on the sea shore": which pair is merged first? Which piece comes
# > out of the first four merges? In "bananas", what happens when nothing is left to merge?


# %% slideshow={"slide_type": "subslide"}
def split(text):
    return [to_bytes(word) for word in SPLIT.findall(text)]


widgets.merge_player(
    trace_training,
    split,
    {
        "sea shells": "she sells sea shells on the sea shore, the shells she sells are sea shells for sure",
        "to-morrow": "To-morrow, and to-morrow, and to-morrow, creeps in this petty pace from day to day",
        "bananas": "banana bandana banana anagram banana",
        "other signs": "naïve café, naïve cafés: 3.14 €, 2.72 €",
    },
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - "␣s" (a space and s) comes first, it stands there 11 times; then "he". Whole words appear once their parts have: "␣she" is one
#   token after 6 merges, "␣shells" after 9.
# - In "bananas" no pair is left before all merges are done: every word is one token.
# - "ï" and "é" are two bytes each, "€" is three: before the first merges one sees the bytes.
# - Every merge makes the vocabulary larger by one and the text shorter. Where to stop is a choice: large models stop at 30,000
#   to 250,000.
# </details>
#
# > **What goes wrong.** *Overlapping pairs.* In "aaa" the pair "aa" occurs twice, but can be merged only once: go from the left, and
# > skip what was merged. *Ties.* Two pairs are equally frequent: two programs that break ties differently learn different
# > vocabularies; ours does as Hugging Face's. *The order.* Encoding is not "take the longest piece that fits": apply the merges in
# > the order in which they were learnt. *Across words.* Pairs are counted inside words only; else "of the" would become a token.

# %% [markdown] slideshow={"slide_type": "subslide"}
# ### A new word, with merges learnt before
#
# To *encode*, nothing is counted any more. The word is cut into bytes, and of the merges that were learnt the one that was learnt first is
# applied, wherever it fits; then the next. Here with the merges that ours learnt from Shakespeare.
#
# > **Predict before you run.** "unhappiness" in Shakespeare's pieces: will it fall apart as a reader would cut it, un-happi-ness?

# %% slideshow={"slide_type": "fragment"}
for cut_now in tokenizers["pieces (byte pairs)"].trace(" unhappiness"):
    print(" ".join(piece.decode().replace(" ", "␣") for piece in cut_now))

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer</b></summary>
#
# Almost, at the front: "␣un". But then "ha", "pp", "in", "ess": merges follow what is frequent, not what has a meaning. "in" was learnt
# early, and takes the n away from "ness" at the very first step.
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# ### How many words are one token?
#
# MiniLM, a model of 2020, has 30,522 pieces that were learnt from an encyclopedia and books (by WordPiece, a sister of BPE; `##` before a piece
# means that it goes on inside a word). Ours has read Shakespeare and has 1,024.
#
# > **Predict before you run.** Of all words of the test plays, which share is *one* piece for each of them? Which words are cut?


# %% slideshow={"slide_type": "fragment"}
encoder, pieces = minilm()
plain = [word.strip(".,;:!?'-[]()\"").lower() for word in test.split()]
plain = [word for word in plain if word.isalpha()]
counted = Counter(plain)
one_piece = {}
for name, cut_word in {
    "MiniLM": lambda word: pieces.pieces(word)[1:-1],
    "ours": lambda word: tokenizers["pieces (byte pairs)"].encode(" " + word),
}.items():
    single = {word: len(cut_word(word)) == 1 for word in counted}
    running = sum(count for word, count in counted.items() if single[word]) / counted.total()
    one_piece[name] = (running, sum(single.values()) / len(single))
    print(
        f"{name:7} one piece: {running:.0%} of the words as they run, {one_piece[name][1]:.0%} of the different words"
    )
for word in ("king", "midnight", "unhappiness", "incarnadine"):
    print(
        f"  {word:12}",
        " ".join(pieces.pieces(word)[1:-1]),
        " | ",
        *(piece.decode() for piece in tokenizers["pieces (byte pairs)"].trace(" " + word)[-1]),
    )

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# For MiniLM 92 percent of the words, as they run, are one token, of the *different* words 62 percent; with 1,024 pieces it is 59 and
# 3. So "most English words are one token" holds for the words as they run, if the vocabulary is large. Frequent words are whole, rare ones
# are cut, and not where a linguist would: "incarnadine". What a model knows of a word's parts, it must learn.
# </details>

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 3. A vector for every token
#
# A token's number is only its place in a list. Give each token a vector of $d$ numbers instead, the **embedding** $e(w)$, and put them
# into a table $E$, one row per token. To look up row $w$ is the same as to multiply with a **one-hot** vector, which is 1 at
# place $w$ and 0 elsewhere:
#
# $$e(w) = \mathrm{onehot}(w)\, E, \qquad E \text{ is vocabulary} \times d$$
#
# So an embedding is a product with a matrix, and its numbers can be learnt as those of any other matrix are: each is moved a little in the
# direction in which the loss falls (lecture 3). In practice one looks it up.

# %% slideshow={"slide_type": "fragment"}
model, vocabulary, card = checkpoint("word_vectors")
E = model.vectors
king = vocabulary.encode("king")[0]
one_hot = torch.zeros(len(E))
one_hot[king] = 1.0
print("E has", tuple(E.shape), "numbers; king is row", king)
print("one-hot product = lookup:", torch.equal(one_hot @ E, E[king]))
print("e(king) begins", [round(x, 2) for x in E[king, :6].tolist()], "…")

# %% [markdown] slideshow={"slide_type": "subslide"}
# **At the other end of a language model** stands the same table. The model turns what it has read into a vector $h$ of
# width $d$; a word is likely if its vector points the same way:
#
# $$P(w \mid \text{text so far}) = \mathrm{softmax}_w\big(e(w) \cdot h\big) = \frac{\exp(e(w) \cdot h)}{\sum_{w'} \exp(e(w') \cdot h)}$$
#
# If input and output use one table, one speaks of **tied weights** (Press & Wolf 2017; Inan et al. 2017): fewer numbers to learn, and what is
# learnt about a word as a question helps it as an answer.
#
# > **Predict before you run.** The LSTM of lecture 1, a network that reads word by word (lectures 5 and 7), has 777,096 numbers to learn, 5,000 tokens and $d = 128$. Which share of
# > them is the table?

# %% slideshow={"slide_type": "fragment"}
lstm, word_ids, _ = checkpoint("word_lstm")
with torch.no_grad():
    h, _ = lstm.hidden_states(torch.tensor([word_ids.encode("\nMy lord, the")]))
    scores = (
        h[0, -1] @ lstm.embedding.weight.T + lstm.output.bias
    )  # e(w) · h, and a number per word
    logits, _ = lstm(torch.tensor([word_ids.encode("\nMy lord, the")]))
size = sum(p.numel() for p in lstm.parameters())
table = lstm.embedding.weight.numel()
print("input and output are one table:", lstm.output.weight is lstm.embedding.weight)
print("by hand = the model's logits:", torch.allclose(scores, logits[0, -1], atol=1e-4))
print(f"{table:,} of {size:,} numbers are the table: {table / size:.0%}")
print(
    "likeliest after 'My lord, the':",
    [word_ids.decode([i]) for i in scores.topk(5).indices.tolist()],
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer</b></summary>
#
# 82 percent: in a small model the table is most of it. With separate tables it would be nearly twice the size.
# </details>

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 4. A word is known by the company it keeps
#
# What should the vectors be? The idea is older than computers in linguistics: words that occur in the same surroundings mean
# similar things (Harris 1954), the **distributional hypothesis**; in Firth's (1957) words, "You shall know a word by the company it
# keeps". Simplest: **count** the company. Row $a$ of a table: how often does each word $b$ stand within $m = 2$ words of $a$? To compare two
# rows take the **cosine** of their angle, $\cos(x, y) = x \cdot y \,/\, (\lVert x \rVert \lVert y \rVert)$: 1 is the same direction, 0 a right angle.

# %% slideshow={"slide_type": "fragment"}
texts = paragraphs()
words = build_vocabulary(texts, min_count=25)
ids = {word: i for i, word in enumerate(words)}


def company(texts, m):
    """counts[a, b]: how often b stands within m words of a, in the same paragraph."""
    rows = [[ids.get(word, -1) for word in text] + [-1] * m for text in texts]
    flat = np.concatenate(rows)
    counts = np.zeros(len(words) ** 2, dtype=np.int64)
    for distance in range(1, m + 1):
        a, b = flat[:-distance], flat[distance:]
        known = (a >= 0) & (b >= 0)
        counts += np.bincount(a[known] * len(words) + b[known], minlength=len(counts))
    counts = counts.reshape(len(words), len(words))
    return counts + counts.T


counts = company(texts, m=2)
print(f"{len(words):,} words, {(counts == 0).mean():.1%} of the {counts.size:,} numbers are 0")
print(
    "company of king:",
    {words[b]: int(counts[ids["king"], b]) for b in (-counts[ids["king"]]).argsort()[:8]},
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# Such vectors are **sparse**: long, and nearly all zeros. And the largest entries are the least telling: "the" and "and" keep
# everybody company. So compare with chance. **Pointwise mutual information**
#
# $$\mathrm{PMI}(a, b) = \log \frac{P(a, b)}{P(a)\, P(b)}$$
#
# ($P(a, b)$: the share of all counts that stands in row $a$, column $b$; $P(a)$: that of row $a$) is positive where two words meet more often than if they did not know each other; negative values rest on few counts and are
# set to 0 (*PPMI*). A **dense** vector has few numbers, here 64, none of them 0; those of section 5 were *learnt*.
#
# > **Predict before you choose.** Which words are nearest to "king" by plain counts? By PPMI? By 64 learnt numbers?

# %% slideshow={"slide_type": "skip"}
joint = torch.tensor(counts / counts.sum(), dtype=torch.float32)
single = joint.sum(1)
ppmi = (joint / (single[:, None] * single)).log().clamp(min=0).nan_to_num(0.0, neginf=0.0)


def near_in(table, names):
    """A function from a word to the eight words of largest cosine."""
    place, unit = (
        {name: i for i, name in enumerate(names)},
        torch.nn.functional.normalize(table, dim=1),
    )

    def near(word):
        if word not in place:
            raise ValueError(f"“{word}” is not among these {len(names):,} words")
        best = (unit @ unit[place[word]]).topk(9)  # the first is the word itself
        return [
            (names[i], c)
            for i, c in zip(best.indices[1:].tolist(), best.values[1:].tolist(), strict=True)
        ]

    return near


dense_words = list(vocabulary.vocabulary)[7:]  # the first seven are signs such as <unk>
near = {
    "counts": near_in(torch.tensor(counts, dtype=torch.float32), words),
    "PPMI": near_in(ppmi, words),
    "learnt (skip-gram)": near_in(E[7:], dense_words),
}

# %% slideshow={"slide_type": "subslide"}
widgets.neighbours(near, ["king", "love", "sword", "night", "sweet", "france", "thee", "horse"])

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - Plain counts find words of the same *grammar*, whose company is "the" and "of"; for “king”: prince, crown, people, princess. All
#   their cosines are near 0.9: everything is near everything.
# - PPMI for “king”: queen, richard, henry, lord: the same *subject*. For "love" it is lost in small words.
# - learnt for “king”: jerusalem, prince, montgomery, pandulph. A king and three names of plays with kings: a million words are few for
#   64 numbers per word, and here counting is not worse than learning.
# - For "love" the learnt vectors find "hate" and "duty": opposites keep the same company. **Near means "could stand in its place",
#   not "means the same".**
# </details>

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 5. Skip-gram: predict the company
#
# Instead of counting first and compressing later, *learn* vectors that predict the company. **Skip-gram** (Mikolov et al. 2013a): from
# each word $a$ of the text predict each word $b$ in the **window** of $2m$ words around it, $m$ to either side, here $m = 2$. Each word has two
# vectors, $v_a$ when it predicts and $u_b$ when it is predicted:
#
# $$P(b \mid a) = \frac{\exp(u_b \cdot v_a)}{\sum_{w} \exp(u_w \cdot v_a)}$$
#
# > **Predict before you move the slider.** How many pairs does a sentence of 8 words give with $m = 2$? Fewer than $8 \cdot 4$?


# %% slideshow={"slide_type": "subslide"}
def window_pairs(words, m):
    """(place of a, place of b) for every word a and every b at most m words away."""
    places = range(len(words))
    return [(i, j) for i in places for j in places if 0 < abs(i - j) <= m]


widgets.window_player(window_pairs, "my kingdom for a horse said the king")

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer</b></summary>
#
# 26, not 32: the first and the last two words have fewer neighbours. A word is not its own neighbour.
# </details>
#
# The sum over all words below the line is dear: 5,835 dot products for every pair. **Negative sampling** (Mikolov et al. 2013b) asks a
# smaller question: *is $b$ a real neighbour of $a$, or one drawn at random?* Draw $k$ **noise words** $n_1 \dots n_k$, with probability
# in proportion to count$^{3/4}$, and let $\sigma(x) = 1/(1 + e^{-x})$:
#
# $$\mathrm{loss}(a, b) = -\log \sigma(u_b \cdot v_a) \;-\; \sum_{i=1}^{k} \log \sigma(-u_{n_i} \cdot v_a)$$
#
# > **Predict before you move anything.** With all scores at 0, and $k = 2$: what is the loss? Which slider must go up, and which down, for the
# > loss to fall to 0?


# %% slideshow={"slide_type": "subslide"}
def sigmoid(x):
    return 1 / (1 + math.exp(-x))


def negative_sampling_loss(real, noise):
    """real: u_b · v_a of the true neighbour; noise: u_n · v_a of the words drawn at random."""
    return -math.log(sigmoid(real)) - sum(math.log(sigmoid(-score)) for score in noise)


widgets.negative_playground(negative_sampling_loss, sigmoid, ["cheese", "because"])

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - $3 \cdot \ln 2 = 2.079$: $\sigma(0) = 1/2$ three times. The neighbour's score must rise, those of the noise must fall.
# - Moving a score from 4 to 6 changes the loss by 0.016: who is right already learns little.
# </details>
#
# > **What goes wrong.** *The sign for the noise.* $\log \sigma(-x)$, not $\log \sigma(x)$: with the wrong sign all scores grow for ever, and every
# > word becomes every other's neighbour. *$1 - \sigma$ and $\sigma(-x)$* are the same, $-\sigma(x)$ is not. *The noise's power.* Counts to the power 3/4, then
# > divided by their sum: rare words are drawn more often than they occur. Here "the" is 1.3 percent of the noise instead of 3.4, the 100
# > most frequent words together 31 instead of 55. *One table for both roles* makes every word its own best
# > neighbour, which it never is.
#
# **CBOW** (*continuous bag of words*; Mikolov et al. 2013a) turns the question around: the *mean* of the neighbours' vectors predicts the word
# $b$ in their middle,
#
# $$P(b \mid a_1 \dots a_{2m}) = \frac{\exp(u_b \cdot \bar v)}{\sum_w \exp(u_w \cdot \bar v)}, \qquad \bar v = \frac{1}{2m} \sum_{j=1}^{2m} v_{a_j}.$$
#
# In the sentence of the widget: $P(\text{for} \mid \text{my, kingdom, a, horse})$. One question per word instead of $2m$, so it is faster;
# skip-gram is said to learn more from rare words. Negative sampling serves both.

# %% [markdown] slideshow={"slide_type": "subslide"}
# ### Watch it learn
#
# A third of the text, 32 numbers per word, three readings. Before the first step all vectors are random.
#
# > **Predict before you run.** What is nearest to "king" before, and after a few seconds?

# %% slideshow={"slide_type": "fragment"}
draw = torch.Generator().manual_seed(0)
small = SkipGram(words, 32, window=2, generator=draw)
before = small.nearest("king", 6)
losses = small.train(texts[::3], epochs=3, progress=False, generator=draw)
print("loss per word, reading by reading:", [round(loss, 2) for loss in losses])
print("before:", [word for word, _ in before])
print("after: ", [word for word, _ in small.nearest("king", 6)])

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# A few seconds make neighbours that are at least of one kind. The vectors that you explore in the next sections have read
# everything twenty times (`python -m lectures.recipes word_vectors`): 912,048 words, of which those that occur ten times or more, 5,835,
# have a vector. The vectors that were published
# with word2vec had read about a hundred *billion*.
#
# Counting and learning are relatives: with vectors long enough, the best that skip-gram with negative sampling can do is $u_b \cdot v_a =
# \mathrm{PMI}(a, b) - \log k$; with short ones it is a compressed table of PMI (Levy & Goldberg 2014). It never stores the table, which counts
# when the vocabulary is large.
# </details>

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 6. A map of words
#
# Sixty-four numbers cannot be seen. **Principal component analysis** (PCA) finds the plane in which the chosen points are spread out most, and
# drops the rest. What is dropped may matter: below the picture stands how much is kept.
#
# > **Predict before you choose.** Will "heart" stand with hand and head, or somewhere else? Will the arrows from he-words to she-words be
# > parallel?


# %% slideshow={"slide_type": "skip"}
def project(chosen):
    """The words in the plane of their two largest principal components, and the share of the variance kept."""
    for word in chosen:
        if word not in dense_words:
            raise ValueError(f"“{word}” is not among the {len(dense_words):,} words of the table")
    unit = torch.nn.functional.normalize(
        E[[vocabulary.encode(word)[0] for word in chosen]], dim=1
    )
    centred = unit - unit.mean(0)
    u, s, _ = torch.linalg.svd(centred, full_matrices=False)
    u = u * torch.sign(
        u[0]
    )  # the sign of an axis is arbitrary: let the first word stand at the top right
    return (u[:, :2] * s[:2]).tolist(), float((s[:2] ** 2).sum() / (s**2).sum())


groups = {
    "things and people": [
        ["father", "mother", "son", "daughter", "brother", "sister"],
        ["hand", "eye", "head", "heart", "tongue", "ear"],
        ["sword", "dagger", "knife", "blade"],
        ["night", "day", "morning", "evening", "noon"],
    ],
    "he and she": [
        ["he", "man", "father", "son", "brother", "king"],
        ["she", "woman", "mother", "daughter", "sister", "queen"],
    ],
    "forms of verbs": [
        ["go", "come", "see", "know", "give", "take"],
        ["went", "came", "saw", "knew", "gave", "took"],
    ],
    "I and thou": [
        ["i", "my", "mine", "me", "am", "have", "do"],
        ["thou", "thy", "thine", "thee", "art", "hast", "dost"],
    ],
}

# %% slideshow={"slide_type": "subslide"}
widgets.word_map(project, groups)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - Groups come out, though nobody named them. Body and weapons fall together in this plane, "heart" among the daggers: other
#   directions, which it drops, part them.
# - From "I" to "thou" the arrows are nearly parallel, and so they are from "go" to "went", and from most men to the women: a form
#   is a *direction*, it seems. The next cell asks all 64 numbers.
# - The plane keeps 37 to 44 percent of the variance. Two words that are near on the map may be far apart in the other 62 directions;
#   the cosine knows.
# </details>


# %% slideshow={"slide_type": "subslide"}
def parallel(first, second, points):
    """The mean cosine between the arrows from the words of `first` to those of `second`: 1 if all are parallel."""
    arrows = torch.nn.functional.normalize(points[second] - points[first], dim=1)
    cosines, n = arrows @ arrows.T, len(first)
    return float((cosines.sum() - n) / (n * n - n))


agree = {}
for choice in ("he and she", "forms of verbs", "I and thou"):
    chosen = [word for group in groups[choice] for word in group]
    n = len(groups[choice][0])
    unit = torch.nn.functional.normalize(
        E[[vocabulary.encode(word)[0] for word in chosen]], dim=1
    )
    first, second = torch.arange(n), torch.arange(n, 2 * n)
    plane = parallel(first, second, torch.tensor(project(chosen)[0]))
    agree[choice] = plane, parallel(first, second, unit), parallel(first, second.roll(1), unit)
    print(
        f"{choice:15} in the plane {agree[choice][0]:.2f}   in all 64 {agree[choice][1]:.2f}",
        end="   ",
    )
    print(f"with partners exchanged {agree[choice][2]:.2f}")

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# In the plane 0.71, 0.94 and 0.95; in all 64 numbers 0.30, 0.38 and 0.33. The plane is chosen to show what differs most, so it shows where
# the arrows agree and hides where they do not: **the map flatters**. With partners exchanged (he with queen, father with woman …) 0.07, 0.25
# and 0.08 are left. So there is something in common to all pairs, and much that is not.
# </details>

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 7. Analogies, and what they are worth
#
# An **analogy** asks: man is to woman as king is to …? If differences between words are directions, the answer is a sum of vectors. With $a$ : $b$ = $a^*$ : $b^*$
# (Mikolov, Yih & Zweig 2013):
#
# $$b^* = \operatorname*{argmax}_{w}\; \cos\big(e(w),\; e(a^*) - e(a) + e(b)\big)$$
#
# The three words of the question are left out. This is the most famous picture of word vectors. Is it true?
#
# > **Predict before you ask.** Which kinds will our vectors of one million words get right: king and queen, Paris and France, swim and
# > swam, thou and thy? Which will MiniLM's, which come from billions of words? What comes first if the three words are *not* left out?


# %% slideshow={"slide_type": "skip"}
def answers_of(table, place, names):
    """From a, b, c to the six best answers; without the rule, a, b and c may answer, too."""
    unit = torch.nn.functional.normalize(table, dim=1)

    def answer(a, b, c, leave_out):
        for word in (a, b, c):
            if word not in place:
                raise ValueError(f"“{word}” is not in this table")
        x, y, z = place[a], place[b], place[c]
        cosines = unit @ torch.nn.functional.normalize(unit[z] - unit[x] + unit[y], dim=0)
        if leave_out:
            cosines[[x, y, z]] = -1.0
        best = cosines.topk(6)
        return [
            (names[i], c)
            for i, c in zip(best.indices.tolist(), best.values.tolist(), strict=True)
        ]

    return answer


spelled = [pieces._tokenizer.id_to_token(i) for i in range(pieces.vocab_size)]
large = whole_words(spelled, encoder.embedding.weight.detach())
tables = {
    "Shakespeare": answers_of(E[7:], {w: i for i, w in enumerate(dense_words)}, dense_words),
    "MiniLM": answers_of(*large),
}
questions = [
    "man woman king queen",
    "i my thou thy",
    "go went come came",
    "paris france london england",
    "walk walked swim swam",
    "good better bad worse",
    "king kings lord lords",
]

# %% slideshow={"slide_type": "subslide"}
widgets.analogies(tables, questions)

# %% [markdown] slideshow={"slide_type": "subslide"}
# Asked one at a time, one remembers the hits. So count: 28 questions, five tables of vectors (SmolLM2 is a
# language model of 2025, trained on the web; lecture 8 decodes with it). Two controls, after Linzen (2016): how many
# does one get right with *only the nearest neighbour of $a^*$*, that is, without looking at $a$ and $b$? And without the rule that the words of the
# question are no answers?

# %% slideshow={"slide_type": "fragment"}
measured = stored("word_vectors")
print(
    f"{'':24}{'right':>6} {'of':>4}  {'nearest to a*':>14}  {'without the rule':>17} {'then it says a*':>16}"
)
for name, t in measured["tables"].items():
    print(
        f"{name:24}{t['right']:6} {t['asked']:4}  {t['nearest_to_c_right']:14}  {t['without_the_rule_right']:17}"
        f" {t['without_the_rule_c']:16}"
    )

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - Our vectors answer 14 of 27, though the text has one million words: most verbs (came, were, made), the old forms (thine, art), "queen".
#   Of the places one: Shakespeare's Paris is a man as often as a town. "swam" is too rare to be asked for.
# - Its nearest neighbour alone gets 2 of them: the difference of $a$ and $b$ does carry something.
# - Without the rule 3 are left, and in 11 of 27 it answers $a^*$ itself. The sum hardly leaves the place where it began, and the rule
#   pushes it to a neighbour; often the right one.
# - MiniLM's 21 of 27 look better than they are: its nearest neighbour alone gets 9, and without the rule it names $a^*$ 22 times. It says
#   "swimming" before "swam", and for London "britain" before "england".
# - Words of the family fail in ours as often as they succeed: "brother" leads to names of women in the plays.
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# **When should analogies hold?** Ethayarajh, Duvenaud & Hirst (2019) prove it for skip-gram with negative sampling (and where there is no noise in what is
# learnt): $a : b = a^* : b^*$ holds as a sum of vectors only if the two words of each pair keep *each other* company to the same degree. Their
# measure is $\mathrm{csPMI}(x, y) = \mathrm{PMI}(x, y) + \log P(x, y)$, and it must be about the same for (a, b) and (a*, b*), and likewise crosswise. We
# can look it up in the counts of section 4:


# %% slideshow={"slide_type": "fragment"}
def cs_pmi(x, y):
    together = joint[ids[x], ids[y]]
    if together == 0:
        return -math.inf
    return float((together / (single[ids[x]] * single[ids[y]])).log() + together.log())


for a, b, c, d in (
    ("i", "my", "thou", "thy"),
    ("good", "better", "bad", "worse"),
    ("man", "woman", "king", "queen"),
):
    met = [int(counts[ids[x], ids[y]]) for x, y in ((a, b), (c, d))]
    print(
        f"({a}, {b}) csPMI {cs_pmi(a, b):6.1f}, met {met[0]:4} times     ({c}, {d}) {cs_pmi(c, d):6.1f}, met {met[1]:4} times"
    )

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# "i" meets "my" about as readily as "thou" meets "thy", and this analogy holds. But for "good, better" against "bad, worse" the measure rests
# on 3 and 2 meetings. In a million words most pairs hardly meet, and then the theorem promises nothing, neither that an analogy holds nor that it
# fails.
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Now you.** The widgets take your function beside ours. Change the sign for the noise below, or leave the noise out, and see what the loss
# then rewards.


# %% slideshow={"slide_type": "fragment"}
def my_loss(real, noise):
    loss = math.log(1 + math.exp(-real))
    for score in noise:
        loss += math.log(1 + math.exp(score))  # change me: exp(-score)?
    return loss


widgets.negative_playground(negative_sampling_loss, sigmoid, ["cheese", "because"], yours=my_loss)

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Check yourself
#
# 1. "low low lower": the words are "low", "␣low", "␣lower". Which pair is merged first, and how often did it occur?
# <details><summary>Answer</summary>l + o and o + w both stand there three times. Ties are broken by a rule; with ours "lo" comes
# first, then "low".</details>
#
# 2. Why has a byte-level tokenizer no &lt;unk&gt;?
# <details><summary>Answer</summary>Every text is a sequence of bytes, and all 256 bytes are in the vocabulary from the beginning.</details>
#
# 3. A vocabulary of 50,000, d = 1,000. How many numbers does the table of embeddings hold? And a one-hot product, how many multiplications would it take?
# <details><summary>Answer</summary>50 million; and as many multiplications, all but 1,000 of them with 0. So one looks it up.</details>
#
# 4. Why are "hot" and "cold" near each other in a table of word vectors?
# <details><summary>Answer</summary>They keep the same company: weather, water, hands. Near means that one could stand in the other's place.</details>
#
# 5. In negative sampling, all scores are 0 and k = 4. What is the loss?
# <details><summary>Answer</summary>5 · ln 2 = 3.47.</details>
#
# 6. Somebody reports 100 percent right analogies on plurals. What do you ask?
# <details><summary>Answer</summary>How many the nearest neighbour of a* alone gets right, and whether the words of the question were left out.</details>

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Notation, words, sources
#
# | here | elsewhere | what it is |
# |---|---|---|
# | $e(w)$, row of $E$ | $x_w$, $v_w$, $W_{emb}$, "lookup table" | the vector of token $w$ |
# | $\mathrm{onehot}(w)$ | $x^{(w)}$, indicator vector | 1 at place $w$ |
# | $\mathrm{softmax}_w(e(w) \cdot h)$ | $\mathrm{softmax}(h E^\top)$, $\mathrm{softmax}(Wh)$ with $W = E$ | the output with tied weights |
# | $v_a$, $u_b$ | $v_w$, $v'_{w}$; centre and context, $t \cdot c$ | the two vectors of a word in skip-gram |
# | $P(b \mid a)$ | $p(w_{t+j} \mid w_t)$ | a word predicts its neighbour |
# | $m$, window of $2m$ | $c$, $\pm L$, "window size" | words to either side |
# | $k$ | $k$, negatives | noise words per pair |
# | $a : b = a^* : b^*$ | $a : b :: c : d$ | analogy |

# %% [markdown] slideshow={"slide_type": "skip"}
# ### Words of this lecture
#
# - **tokenizer**: A program that cuts a text into tokens and gives each its number, and puts a text together again.
# - **byte**: A number from 0 to 255; every text is stored as a sequence of bytes.
# - **byte-pair encoding**: Learns a vocabulary by merging the most frequent pair of neighbouring pieces, again and again.
# - **merge**: A step of byte-pair encoding: two pieces become one new token.
# - **embedding**: The vector that stands for a token in a model; a row of a table that is learnt.
# - **one-hot**: A vector that is 1 at one place and 0 elsewhere.
# - **tied weights**: Input and output of a language model use the same table of embeddings.
# - **distributional hypothesis**: Words that occur in the same surroundings mean similar things.
# - **cosine**: The dot product of two vectors divided by their lengths: 1 for the same direction, 0 for a right angle.
# - **sparse**: Nearly all numbers of the vector are 0.
# - **dense**: A vector of few numbers, hardly any of them 0.
# - **pointwise mutual information**: The logarithm of how much more often two words meet than if they were independent.
# - **skip-gram**: Learns word vectors by predicting from each word the words around it.
# - **window (in skip-gram)**: The m words to either side of a word that count as its neighbours.
# - **negative sampling**: Learning to tell real neighbours from words drawn at random, instead of a softmax over all words.
# - **noise words**: The words that negative sampling draws at random.
# - **CBOW**: Learns word vectors by predicting a word from the mean of the vectors around it.
# - **principal component analysis**: Finds the directions in which points are spread out most.
# - **analogy**: A question of the form "a is to b as a* is to what?"

# %% [markdown] slideshow={"slide_type": "skip"}
# **Sources.** Harris (1954), Distributional Structure. Firth (1957), A Synopsis of Linguistic Theory 1930–1955. Mikolov, Chen, Corrado &
# Dean (2013a), Efficient Estimation of Word Representations in Vector Space. Mikolov, Sutskever, Chen, Corrado & Dean (2013b), Distributed
# Representations of Words and Phrases and their Compositionality, section 2.2. Mikolov, Yih & Zweig (2013), Linguistic Regularities in
# Continuous Space Word Representations. Sennrich, Haddow & Birch (2016), Neural Machine Translation of Rare Words with Subword Units,
# section 3.2. Linzen (2016), Issues in Evaluating Semantic Spaces Using Word Analogies. Press & Wolf (2017), Using the Output Embedding to
# Improve Language Models. Inan, Khosravi & Socher (2017), Tying Word Vectors and Word Classifiers. Levy & Goldberg (2014), Neural
# Word Embedding as Implicit Matrix Factorization. Ethayarajh, Duvenaud & Hirst (2019), Towards
# Understanding Linear Word Analogies. Wang et al. (2020), MiniLM.
#
# The assignments [`exercises/subwords/subwords.ipynb`](../exercises/subwords/subwords.ipynb) (byte pairs) and [`exercises/vectors/vectors.ipynb`](../exercises/vectors/vectors.ipynb) (skip-gram, neighbours,
# analogies) let you build all of this, and tell you which mistake you made.
