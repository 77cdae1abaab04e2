# %% [markdown] slideshow={"slide_type": "slide"}
# # Tokens and word vectors
#
# A computer sees numbers. In [lecture 1](01_language_models.ipynb) every word was only an id, and *king* was no more similar to
# *queen* than to *cheese*. Where does a word begin and end, and how can numbers express that two words are similar?
#
# <img src="figures/map.svg" width="640" alt="Words of Shakespeare in the plane. Words for relatives form a cluster; so do names of places, weapons and times of day.">
#
# *Words of Shakespeare, arranged by a program that knows only which words occur near each other. In section 6 you try it with your
# own words.*
#
# **After this lecture you can**
# - split text into characters, words and subwords, and say what each choice costs;
# - run byte-pair encoding by hand;
# - explain an embedding as a table, a lookup, a matrix product and, at the output, a classifier;
# - build word vectors by counting and by predicting (skip-gram, CBOW, negative sampling, GloVe);
# - query neighbours and analogies, and say which answers are meaningful.
#
# **You need** vectors, dot products and the exponential function. From [lecture 1](01_language_models.ipynb) you need the terms
# token, vocabulary, `<unk>`, language model, softmax, perplexity, training text and test text.

# %% [markdown] slideshow={"slide_type": "skip"}
# | section | 1 | 2 | 3 | 4 | 5 | 6 | 7 |
# |---|---|---|---|---|---|---|---|
# | minutes | 7 | 11 | 8 | 9 | 18 | 6 | 12 |
#
# The minutes are for a class. If you work alone, with all predictions and widgets, plan 105 minutes. You can leave section 6, "How many words are
# one token?" and "For the curious" for later; then plan 90. *Coming from other slides or a book?* A table at the end
# translates their notation.

# %% [markdown] slideshow={"slide_type": "notes"}
# *For the lecturer: ask for two similar words, then ask in what way they are similar: in meaning, sound or grammar? Keep the
# answers for section 6.*
#
# *Short of time: skip the counts of section 4.*

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "skip"}
import math
from collections import Counter
from itertools import permutations

import numpy as np
import torch
from IPython.display import HTML

from nlmcore.corpora import load
from nlmcore.pretrained import minilm, smollm2
from lectures.trained import checkpoint
from lectures.recipes.vector_seeds import where_the_sum_lands
from lectures.recipes.word_vectors import paragraphs, questions_to, whole_words
from lectures import show, stored, widgets
from nlmcore.metrics import mean_interval
from nlmcore.tokens import CharTokenizer, WordTokenizer, trace_training
from nlmcore.tokens.bytepairs import SPLIT, to_bytes
from nlmcore.word2vec import CBOW, SkipGram, build_vocabulary, keep_probability

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 1. Characters or words?
#
# A **token** is a sequence of characters that the model treats as one unit. A **tokenizer** splits a text into tokens and gives
# each token its id. The two obvious ways are to split after every character or after every word.

# %% [markdown] slideshow={"slide_type": "notes"}
# *7 minutes. Ask how many words English has, then what should happen to a word that is not in the vocabulary. Students often
# believe that a large enough word list solves the problem; let them invent a new word and spell it.*

# %% slideshow={"slide_type": "subslide"}
shakespeare = load("shakespeare")
train, test = shakespeare.texts("train"), "\n".join(shakespeare.texts("test"))
tokenizers = {
    "characters": CharTokenizer.fit(train),
    "all words": WordTokenizer.fit(train),
    "5,000 words": WordTokenizer.fit(train, vocab_size=5000),
    "subwords": checkpoint("bpe_gpt").tokenizer,
}
cut, words_in_test = {}, len(test.split())

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
told = []
for name, tokenizer in tokenizers.items():
    ids = tokenizer.encode(test)
    unknown = ids.count(tokenizer.unk) / len(ids) if "<unk>" in tokenizer.special else 0.0
    cut[name] = (tokenizer.vocab_size, len(ids) / words_in_test, unknown)
    told.append((name, f"{cut[name][0]:,}", f"{cut[name][1]:.2f}", f"{100 * unknown:.1f}"))
of_tokenizers = show.table(told, ["Tokens", "Vocabulary", "Tokens per word", "Unknown, %"])
show.predict(
    "If the vocabulary consists of *all* words of the training plays, what fraction of the tokens in a new play is missing from it?",
    choices={"0.5 %": 0.5, "4 %": 4, "10 %": 10},
    answer=100 * cut["all words"][2],
    unit=" %",
    why="No list of words is complete.",
    reveals=of_tokenizers,
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - **Characters** give a vocabulary of 82<!--[[cut["characters"][0]]]-->, and no token is unknown<!--[[? cut["characters"][2] == 0]]-->. But a text takes 5.55<!--[[cut["characters"][1]:.2f]]--> tokens per word, 3.7<!--[[cut["characters"][1] / cut["all words"][1]:.1f]]--> times as many as
#   with the word tokenizer. Sequences become long, and the model has to learn spelling as well.
# - **Words** give short sequences. But the vocabulary has an entry for each of 29,970<!--[[cut["all words"][0]:,]]--> words, and even so 4.1<!--[[100 * cut["all words"][2]:.1f]]--> % of the tokens of a
#   new play are unknown.
# - With only the 5,000 most frequent words, 9.2<!--[[100 * cut["5,000 words"][2]:.1f]]--> % are unknown.
# - Punctuation marks and line breaks also count as tokens, so even word tokenizers need more than one token per word.
# </details>
#
# Unknown words become `<unk>`, and the model can neither write nor distinguish them. **Subwords** ("pieces") are the compromise that
# most large models use: a frequent word is one token, a rare word is several. With ours, nothing is unknown<!--[[? cut["subwords"][2] == 0]]-->.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 2. Byte-pair encoding
#
# **Byte-pair encoding** (BPE) learns the subwords from the training text. Gage (1994) invented it to compress files, Sennrich,
# Haddow & Birch (2016) applied it to the characters of words, and Radford et al. (2019) applied it to bytes, for GPT-2. The algorithm has three steps:
#
# 1. Start with the smallest pieces. Ours are **bytes**. Every text is stored as bytes, and there are only 256 different ones, so no piece of a
#    text is unknown.
# 2. Count all pairs of adjacent pieces inside words. Choose the most frequent pair.
# 3. Replace this pair everywhere with a new token; this step is called a **merge**. Repeat from step 2 until the vocabulary has the desired size.
#
# A word includes *the space before it*, so " sea" differs from "sea" at the start of a line.
#
# > **Ask yourself.** In the text below, which two pairs are merged first? After how many merges is "␣shells" one token (␣ marks a space)? The menu also
# > has a text "bananas". What happens there when no pair is left to merge?


# %% [markdown] slideshow={"slide_type": "notes"}
# *11 minutes. Do the first two merges on the board, then let the room call out the third. The usual errors are to count pairs
# across word boundaries and to forget the space that belongs to a word. The prediction about encoding takes two minutes.*


# %% slideshow={"slide_type": "subslide"}
def split(text):
    return [to_bytes(word) for word in SPLIT.findall(text)]


samples = {
    "sea shells": "she sells sea shells on the sea shore, the shells she sells are sea shells for sure",
    "to-morrow": "To-morrow, and to-morrow, and to-morrow, creeps in this petty pace from day to day",
    "bananas": "banana bandana banana anagram banana",
    "other signs": "naïve café, naïve cafés: 3.14 €, 2.72 €",
}
widgets.merge_player(trace_training, split, samples, at=0)

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "skip"}
shells, bananas = samples["sea shells"], samples["bananas"]
merges = list(trace_training(shells, 40))
merged = [b"".join(step.pair) for step in merges]

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - "␣s" (a space and s) comes first, because it occurs 11<!--[[merges[0].frequency]]--> times; "he" comes second<!--[[? merged[:2] == [b" s", b"he"]]]-->. Whole words appear after their parts; "␣she" is one
#   token after 6<!--[[merged.index(b" she") + 1]]--> merges, "␣shells" after 9<!--[[merged.index(b" shells") + 1]]-->.
# - In "bananas" the algorithm runs out of pairs early<!--[[? len(list(trace_training(bananas, 40))) < 40]]-->, because every word has become one token.
# - In "other signs", "ï" and "é" are two bytes each, and "€" is three<!--[[? [len(sign.encode()) for sign in "ïé€"] == [2, 2, 3]]]-->, so before the first merges you see their bytes.
# - Every merge adds one token to the vocabulary and makes the text shorter. You choose when to stop. SmolLM2's vocabulary has 49,152<!--[[modern.vocab_size:,]]-->
#   tokens, GPT-2's 50,257 (Radford et al. 2019, section 2.3) and that of BLOOM, a model of many languages, 250,680 (Le Scao et al. 2022).
# </details>
#
# > **What goes wrong.** *Overlapping pairs.* In "aaa" the pair "aa" occurs twice but can be merged only once<!--[[? next(iter(trace_training("aaa", 1))).words == {b"aaa": [b"aa", b"a"]}]]-->. Go from left to
# > right, and skip the merged piece. *Ties.* If two pairs are equally frequent, programs that break ties differently learn
# > different vocabularies; ours breaks ties as the library of Hugging Face does. *The order.* Encoding does not "take the longest piece that fits"; the order
# > of the merges decides. *Across words.* Count pairs only inside words; otherwise "of the" could
# > become a token.

# %% [markdown] slideshow={"slide_type": "subslide"}
# ### Encoding a new word
#
# To *encode* a text is to split it into the tokens of a finished vocabulary; no pairs are counted. Split each word into bytes. Then apply the merges in
# the order in which they were learned, each one wherever it fits. Here we use the merges that our tokenizer learned from Shakespeare.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
with show.held_back() as steps:
    for cut_now in tokenizers["subwords"].trace(" unhappiness"):
        print(" ".join(piece.decode().replace(" ", "␣") for piece in cut_now))
show.predict(
    "How does a tokenizer trained on Shakespeare split “unhappiness”? A linguist would split it into un · happi · ness.",
    choices=["un · happi · ness", "un · happiness", "un · ha · pp · in · ess"],
    answer=" · ".join(piece.decode().strip() for piece in cut_now),
    why="“in” was learned early and takes the n from “ness” in the very first step.",
    reveals=steps,
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# **Merges follow frequency, not meaning.**

# %% [markdown] slideshow={"slide_type": "subslide"}
# ### How many words are one token?
#
# MiniLM, a model from 2020, has 30,522<!--[[pieces.vocab_size:,]]--> pieces that were learned from an encyclopedia and books (by WordPiece, a relative of BPE;
# `##` marks a piece that continues a word). Our tokenizer was trained on Shakespeare and has 1,024<!--[[cut["subwords"][0]:,]]--> pieces.

# %% slideshow={"slide_type": "fragment"}
encoder, pieces = minilm()
plain = [word.strip(".,;:!?'-[]()\"").lower() for word in test.split()]
plain = [word for word in plain if word.isalpha()]
counted = Counter(plain)
one_piece = {}

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
cuts = {
    "MiniLM": lambda word: pieces.pieces(word)[1:-1],
    "ours": lambda word: tokenizers["subwords"].pieces(" " + word),
}
for name, cut_word in cuts.items():
    single = {word: len(cut_word(word)) == 1 for word in counted}
    running = sum(count for word, count in counted.items() if single[word]) / counted.total()
    one_piece[name] = (running, sum(single.values()) / len(single))
told = [(name, *(f"{100 * of:.0f}" for of in both)) for name, both in one_piece.items()]
examples = [
    (word, *(" ".join(cut_word(word)) for cut_word in cuts.values()))
    for word in ("king", "midnight", "unhappiness", "incarnadine")
]
shares = [
    show.table(told, ["One piece, %", "Of the running words", "Of the distinct words"]),
    show.table(examples, ["", *cuts]),
]
show.predict(
    "MiniLM has 30,522 pieces. What fraction of the *running* words of the test plays (every occurrence counts) is a single piece?",
    choices={"about 50 %": 50, "about 70 %": 70, "about 90 %": 90},
    answer=100 * one_piece["MiniLM"][0],
    unit=" %",
    why="Frequent words stay whole, and running words are mostly frequent ones.",
    reveals=shares,
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# For MiniLM 92<!--[[100 * one_piece["MiniLM"][0]:.0f]]--> % of the running words are one token, but only 62<!--[[100 * one_piece["MiniLM"][1]:.0f]]--> % of the *distinct* words. With our 1,024<!--[[cut["subwords"][0]:,]]--> pieces the fractions are
# 59<!--[[100 * one_piece["ours"][0]:.0f]]--> % and 3<!--[[100 * one_piece["ours"][1]:.0f]]--> %. Rare words are split, and not always where a linguist would split them (see "incarnadine").
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# ### Type your own text
#
# Three tokenizers split the same text: SmolLM2's (2024; 49,152<!--[[modern.vocab_size:,]]--> pieces, learned from web pages and code), MiniLM's and ours.
# `⟨ce⟩` or `�` marks a byte that is only part of a character.
#
# > **Ask yourself.** Try a number, a misspelled word, capitals, your own language, another script, an emoji. Why is "How many r's are there in
# > strawberry?" a hard question for a language model?

# %% slideshow={"slide_type": "fragment"}
_, modern = smollm2()
widgets.pieces_playground(
    {
        "SmolLM2": modern.pieces,
        "MiniLM": lambda text: pieces.pieces(text)[1:-1],
        "ours, Shakespeare": tokenizers["subwords"].pieces,
    },
    {
        "a line of Hamlet": "To be, or not to be, that is the question.",
        "numbers": "1234567 + 89 = 1234656, 3.14",
        "spelling": "strawberry Strawberry STRAWBERRY strawbery",
        "scripts": "Straße, Ελλάδα, 東京, 🦜",
        "code": "for i in range(10): print(i)",
    },
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - SmolLM2 splits every number into single digits, so 1234567 is seven<!--[[words(len(modern.pieces("1234567")))]]--> tokens; MiniLM learned pieces such as "123" and "##45"<!--[[? pieces.pieces("1234567")[1:3] == ["123", "##45"]]]-->.
# - With SmolLM2, the spellings of one word become three different sequences of tokens: " Straw" + "berry", "st" + "raw" + "berry", " ST" + "RAW" + "B" + "ERR"
#   + "Y"<!--[[? "+".join(modern.pieces("strawberry Strawberry STRAWBERRY")) == "st+raw+berry+ Straw+berry+ ST+RAW+B+ERR+Y"]]-->. A model sees these token ids, not letters, so nothing in its input shows how "strawberry" is spelled. MiniLM's tokenizer first converts all text to lower case.
# - " Greece" is one<!--[[words(len(modern.pieces(" Greece")))]]--> token for SmolLM2, but its Greek name " Ελλάδα" is seven<!--[[words(len(modern.pieces(" Ελλάδα")))]]-->. So
#   a word may cost several times as many tokens in one language as in another. MiniLM has no piece for the parrot emoji and gives `[UNK]`<!--[[? "[UNK]" in pieces.pieces("🦜")]]-->.
# </details>

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 3. A vector for every token
#
# A token's id is just its position in a list, so similar tokens need not have similar ids. We therefore give each token a
# $d$-dimensional vector, its **embedding** $e(w)$, and store the vectors in a table $E$, one row per token. Looking up row
# $w$ is the same as multiplying by a **one-hot** vector, which is 1 at position $w$ and 0 elsewhere:
#
# $$e(w) = \mathrm{onehot}(w)\, E, \qquad E \text{ is vocabulary} \times d$$
#
# The entries of $E$ can therefore be learned like those of any other matrix. Training moves each of them a little in the direction
# that lowers the loss ([lecture 3](03_backpropagation.ipynb)). A program just looks the row up, which gives the same result without
# multiplying by all the zeros.

# %% [markdown] slideshow={"slide_type": "notes"}
# *8 minutes. Let the students multiply a one-hot vector by a 3 × 2 table by hand. Some expect the embedding to be a fixed code;
# stress that the rows are parameters. Ask why a good input vector might also be a good output vector.*

# %% slideshow={"slide_type": "fragment"}
model, vocabulary, card = checkpoint("word_vectors")
E = model.vectors
king = vocabulary.encode("king")[0]
one_hot = torch.zeros(len(E))
one_hot[king] = 1.0
print("E has shape", tuple(E.shape), "and king is row", king)
print("one-hot product = lookup:", torch.equal(one_hot @ E, E[king]))
print("e(king) begins", [round(x, 2) for x in E[king, :6].tolist()], "…")

# %% [markdown] slideshow={"slide_type": "subslide"}
# **The same table can serve at the output of a language model.** The model encodes the text so far as a vector $h$ with $d$ dimensions. A word
# is likely if its embedding points the same way as $h$ (and is long):
#
# $$P(w \mid \text{text so far}) = \mathrm{softmax}_w\big(e(w) \cdot h\big) = \frac{\exp(e(w) \cdot h)}{\sum_{w'} \exp(e(w') \cdot h)}$$
#
# If the input and the output share one table, the model has **tied weights** (Press & Wolf 2017; Inan et al. 2017). There are fewer
# parameters to learn, and both uses of a word train the same row.

# %% slideshow={"slide_type": "fragment"}
lstm, word_ids, _ = checkpoint("word_lstm")
with torch.no_grad():
    h, _ = lstm.hidden_states(torch.tensor([word_ids.encode("\nMy lord, the")]))
    scores = (
        h[0, -1] @ lstm.embedding.weight.T + lstm.output.bias
    )  # e(w) · h plus a bias per word
    logits, _ = lstm(torch.tensor([word_ids.encode("\nMy lord, the")]))
size = sum(p.numel() for p in lstm.parameters())
table = lstm.embedding.weight.numel()

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
with show.held_back() as compared:
    print("input and output are one table:", lstm.output.weight is lstm.embedding.weight)
    print("by hand = the model's logits:", torch.allclose(scores, logits[0, -1], atol=1e-4))
    print(f"{table:,} of {size:,} parameters are in the table: {table / size:.0%}")
    print(
        "likeliest after 'My lord, the':",
        [word_ids.decode([i]) for i in scores.topk(5).indices.tolist()],
    )
show.predict(
    f"The LSTM of *What is a language model?*, a network that reads word by word, has {size:,} parameters, a vocabulary of "
    "5,000 tokens and $d = 128$. What fraction of the parameters is in the embedding table?",
    choices={"about 20 %": 20, "about 50 %": 50, "about 80 %": 80},
    answer=100 * table / size,
    unit=" %",
    why="With separate tables for input and output the model would be nearly twice as large.",
    reveals=compared,
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# **In this small word-level model most parameters are embeddings**<!--[[? table / size > 0.5 and 1.7 < (size + table) / size < 2]]-->, so tying nearly halves the model. (A character-level
# model has a small vocabulary, and so a small table.)

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 4. A word is known by the company it keeps
#
# Which vectors should we choose? Linguists gave an answer in the 1950s. Words that occur in the same contexts have similar
# meanings (Harris 1954); this is the **distributional hypothesis**. In Firth's (1957) words, "You shall know a word by the
# company it keeps". The simplest method is to **count** the company. Row $a$ of a table says how often each word $b$ occurs
# within $m = 2$ words of $a$. To compare two rows, compute the **cosine** of the angle between them,
# $\cos(x, y) = x \cdot y \,/\, (\lVert x \rVert \lVert y \rVert)$. A cosine of 1 means the same direction, 0 a right angle.

# %% [markdown] slideshow={"slide_type": "notes"}
# *9 minutes. Ask for the neighbours of a word that the room chooses, first from plain counts, then from PPMI. Let the students explain why
# opposites are neighbours.*

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
texts = paragraphs()
words = build_vocabulary(texts, min_count=25)
ids = {word: i for i, word in enumerate(words)}


def company(texts, m):
    """counts[a, b]: how often b occurs within m words of a in the same paragraph."""
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
print(f"{len(words):,} words, {(counts == 0).mean():.1%} of the {counts.size:,} entries are 0")
print(
    "company of king:",
    {words[b]: int(counts[ids["king"], b]) for b in (-counts[ids["king"]]).argsort()[:8]},
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# Such vectors have one dimension per word of the vocabulary, and they are **sparse**, because nearly all of their entries are 0. Their largest entries are in the columns of
# words such as "the" and "and". So we compare the counts with those expected by chance, using the **pointwise mutual information**
#
# $$\mathrm{PMI}(a, b) = \log \frac{P(a, b)}{P(a)\, P(b)}.$$
#
# Here $P(a, b)$ is the fraction of all counts that are in row $a$, column $b$, and $P(a)$ is the fraction in row $a$. PMI is
# positive if the two words co-occur more often than by chance. Negative values often rest on few counts or none, so we set them to 0
# (*PPMI*).
#
# A **dense** vector has few dimensions, here 64<!--[[E.shape[1]]]-->, and hardly any zeros. One way to get dense vectors is to compress the table of PPMI values. The
# *singular value decomposition* (SVD) finds two vectors of 64 dimensions for each word, one for its row and one for its column. The
# dot product of the row vector of $a$ and the column vector of $b$ approximates the PPMI of $a$ and $b$, with the smallest squared error
# over the whole table. We keep the row vectors. Another way is to *learn* dense vectors, for example by *skip-gram* (section 5).

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "skip"}
joint = torch.tensor(counts / counts.sum(), dtype=torch.float32)
single = joint.sum(1)
ppmi = (joint / (single[:, None] * single)).log().clamp(min=0).nan_to_num(0.0, neginf=0.0)
with torch.random.fork_rng():
    torch.manual_seed(0)  # the decomposition starts from random directions
    left, strength, _ = torch.svd_lowrank(ppmi, q=80, niter=4)
compressed = left[:, :64] * strength[:64].sqrt()


def near_in(table, names):
    """A function from a word to the eight words with the largest cosines."""
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


dense_words = list(vocabulary.vocabulary)[7:]  # the first seven are special tokens
learned = E[
    [vocabulary.encode(word)[0] for word in words]
]  # the same words as in the other tables
by_count = torch.tensor(counts, dtype=torch.float32)
four = {
    "counts": by_count,
    "PPMI": ppmi,
    "PPMI, compressed": compressed,
    "learned (skip-gram)": learned,
}
near = {name: near_in(table, words) for name, table in four.items()}


def of_two_at_random(table):
    """The mean cosine of two different words."""
    total = torch.nn.functional.normalize(table, dim=1).sum(0)
    return float((total @ total - len(table)) / (len(table) * (len(table) - 1)))


alike = {name: of_two_at_random(table) for name, table in four.items()}
frequent = [ids[word] for word, _ in Counter(w for t in texts for w in t).most_common(50)]
without_frequent = by_count.clone()
without_frequent[:, frequent] = 0.0
alike_without = of_two_at_random(without_frequent)

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "subslide"}
without = {"counts without the columns of the 50 most frequent words": alike_without}
told = [(name, f"{mean:.2f}") for name, mean in (alike | without).items()]
at_random = show.table(told, ["", "Mean cosine of two words at random"])
show.predict(
    "Choose two words at random. In which table is their cosine largest, on average?",
    choices=list(four),
    answer=max(alike, key=alike.get),
    why="Nearly every word co-occurs with “the”, “and” and “of”, and these columns hold the largest counts.",
    reveals=[
        at_random,
        widgets.neighbours(
            near, ["king", "love", "sword", "night", "sweet", "france", "thee", "horse"]
        ).opens(table="counts"),
    ],
)

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "skip"}
nearest = {name: [word for word, _ in near[name]("king")[:4]] for name in near}

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - With plain counts even two random words have a mean cosine of 0.44<!--[[alike["counts"]:.2f]]-->.
# - Without the columns of the 50 most
#   frequent words it is 0.11<!--[[alike_without:.2f]]-->, and with PPMI 0.04<!--[[alike["PPMI"]:.2f]]-->.
# - The neighbours of “king” by plain counts are prince, crown, people, princess<!--[[? nearest["counts"] == "prince crown people princess".split()]]-->; by PPMI they are queen, richard, henry, lord<!--[[? nearest["PPMI"] == "queen richard henry lord".split()]]-->.
#   For "love", the four nearest by PPMI are "for", "and", "thy" and "in" (grammatical words, called *function words*)<!--[[? {word for word, _ in near["PPMI"]("love")[:4]} == {"for", "and", "thy", "in"}]]-->.
# - For "love" the learned vectors find "hate" and "duty"<!--[[? {word for word, _ in near["learned (skip-gram)"]("love")[:2]} == {"hate", "duty"}]]-->. In all four tables "go" is among the eight nearest neighbours of "come"<!--[[? all("go" in dict(near[name]("come")) for name in near)]]-->.
#   So opposites can keep the same company.
# - We search all four tables for neighbours among the same 3,123<!--[[counts.shape[0]:,]]--> words. The learned table comes from a single training run; section 5
#   shows what changes with the seed.
# </details>
#
# **"Near" means "occurs in similar contexts", not "means the same".**

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 5. Skip-gram: predict the company
#
# Instead of counting first and compressing later, we can *learn* vectors that predict the company. From each word $a$ of the text,
# **skip-gram** (Mikolov et al. 2013a) predicts each word $b$ in the **window** of $2m$ words around it, $m$ on either side. Here
# $m = 2$. Each word has two vectors. When it predicts, we use $v$; when it is predicted, we use $u$:
#
# $$P(b \mid a) = \frac{\exp(u_b \cdot v_a)}{\sum_{w} \exp(u_w \cdot v_a)}$$


# %% [markdown] slideshow={"slide_type": "notes"}
# *18 minutes. Draw the window for the third word of the sentence and let the room list the pairs. Two errors are common:
# confusing the two vectors of a word, and the sign of the noise term. The training at the end takes a few seconds; use them to
# collect guesses.*


# %% slideshow={"slide_type": "subslide"}
def window_pairs(words, m):
    """(position of a, position of b) for every word a and every b at most m words away."""
    positions = range(len(words))
    return [(i, j) for i in positions for j in positions if 0 < abs(i - j) <= m]


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
eight = ["my", "kingdom", "for", "a", "horse", "said", "the", "king"]
show.predict(
    "How many pairs of a word and a neighbour does a sentence of 8 words yield with $m = 2$?",
    within=0,
    answer=len(window_pairs(eight, 2)),
    why="There are fewer than $8 \\cdot 4 = 32$ pairs, because the first two and the last two words have fewer neighbours.",
    reveals=widgets.window_player(window_pairs, " ".join(eight)),
)

# %% [markdown] slideshow={"slide_type": "subslide"}
# The sum in the denominator is expensive, because it takes 5,835<!--[[len(dense_words):,]]--> dot products for every pair. **Negative sampling** (Mikolov et al. 2013b)
# asks a simpler question: *is $b$ a real neighbour of $a$ or a random word?* With $\sigma(x) = 1/(1 + e^{-x})$, the model's probability that $b$ is a real
# neighbour is $\sigma(u_b \cdot v_a)$; the dot product is called the *score* of $b$. Sample $k$ **noise words** $n_1 \dots n_k$, each with a probability proportional to
# count$^{3/4}$. The loss is small if the neighbour has a high score and the noise words have low scores:
#
# $$\mathrm{loss}(a, b) = -\log \sigma(u_b \cdot v_a) \;-\; \sum_{i=1}^{k} \log \sigma(-u_{n_i} \cdot v_a)$$


# %% slideshow={"slide_type": "subslide"}
def sigmoid(x):
    return 1 / (1 + math.exp(-x))


def negative_sampling_loss(real, noise):
    """real: u_b · v_a of the true neighbour; noise: u_n · v_a of the noise words."""
    return -math.log(sigmoid(real)) - sum(math.log(sigmoid(-score)) for score in noise)


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
occurred = Counter(word for text in texts for word in text)
often = [n for _, n in occurred.most_common() if n >= 10]


def of_the_noise(first, power):
    """The percentage of noise words that are among the first, most frequent words."""
    return 100 * sum(n**power for n in often[:first]) / sum(n**power for n in often)


show.predict(
    "All scores are 0 and $k = 2$. What is the loss?",
    within=0.1,
    answer=negative_sampling_loss(0, [0, 0]),
    why="Each of the three terms is $-\\ln(1/2)$. To lower the loss, raise the neighbour's score and lower those of the noise words:",
    reveals=widgets.negative_playground(
        negative_sampling_loss, sigmoid, ["cheese", "because"]
    ).opens(s0=0.0),
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - The loss is $3 \cdot \ln 2$ = 2.079<!--[[negative_sampling_loss(0, [0, 0]):.3f]]-->, because all three words have $\sigma(0) = 1/2$.
# - Moving the neighbour's score from 4 to 6 changes the loss by only 0.016<!--[[negative_sampling_loss(4, []) - negative_sampling_loss(6, []):.3f]]-->, so a model that is already right learns little from this neighbour.
# </details>
#
# > **What goes wrong.** *The sign of the noise term.* It is $\log \sigma(-x)$, not $\log \sigma(x)$. With the wrong sign, raising
# > every score lowers the loss, whether the word is a neighbour or noise. *A misplaced minus.* $1 - \sigma(x)$ equals $\sigma(-x)$,
# > but $-\sigma(x)$ is negative and has no logarithm. *The exponent.* Raise the counts to the power 3/4, then divide by the sum of
# > the results. This favours rare words: "the" makes up 1.3<!--[[of_the_noise(1, 3 / 4):.1f]]--> % of the noise instead of 3.4<!--[[of_the_noise(1, 1):.1f]]--> %. *One table for both roles* gives every
# > word a high score with itself, $v_a \cdot v_a$, although words rarely occur next to themselves.

# %% [markdown] slideshow={"slide_type": "subslide"}
# ### CBOW and GloVe
#
# <img src="figures/two_directions.svg" width="760" alt="The sentence my kingdom for a horse, twice. Skip-gram: four arrows lead from the middle word, for, to its neighbours. CBOW: four lines lead from the neighbours to their mean, and an arrow from the mean to the middle word.">
#
# **CBOW** (*continuous bag of words*; Mikolov et al. 2013a) predicts in the opposite direction. The *mean* of the neighbours' vectors predicts
# the word $b$ between them,
#
# $$P(b \mid a_1 \dots a_{2m}) = \frac{\exp(u_b \cdot \bar v)}{\sum_w \exp(u_w \cdot \bar v)}, \qquad \bar v = \frac{1}{2m} \sum_{j=1}^{2m} v_{a_j}.$$
#
# In the picture CBOW computes $P(\text{for} \mid \text{my, kingdom, a, horse})$. CBOW makes one prediction per word; skip-gram makes
# up to $2m$. Negative sampling works with both.
#
# **GloVe** (Pennington, Socher & Manning 2014) starts from the table of counts $X$ and fits dot products to the logarithms of its entries,
#
# $$\text{loss} = \sum_{a,\, b:\; X_{ab} > 0} f(X_{ab}) \big(v_a \cdot u_b + c_a + d_b - \log X_{ab}\big)^2,$$
#
# where the biases $c_a$ and $d_b$ absorb the frequencies of the words, and $f(x) = \min\big(1, (x / 100)^{3/4}\big)$ gives
# small counts less weight.
#
# **Counting and learning are related.** With enough dimensions, and noise words sampled in proportion to their counts, the optimum of
# skip-gram with negative sampling is $u_b \cdot v_a = \mathrm{PMI}(a, b) - \log k$ (Levy & Goldberg 2014). With our noise (count$^{3/4}$), $P(b)$ inside
# the PMI is replaced by the distribution of the noise. So skip-gram with few dimensions can be seen as compressing a table of such values.

# %% [markdown] slideshow={"slide_type": "subslide"}
# ### Watch it learn
#
# We train 32-dimensional vectors for three epochs (passes over the text) on a third of the text, by skip-gram from five seeds and by CBOW once. Before the
# first step the vectors $v$ are random. For both methods we use **subsampling** (Mikolov et al. 2013b): we keep each occurrence of a word with
# probability $\sqrt{t/f} + t/f$ (at most 1). Here $f$ is the word's relative frequency and $t = 0.001$. We keep only 20<!--[[100 * kept_of["the"]:.0f]]--> % of the
# occurrences of "the", but 80<!--[[100 * kept_of["king"]:.0f]]--> %<!--[[? card["training"]["subsample"] == 0.001]]--> of those of "king".
#
# > **Ask yourself.** Which words are nearest to "king" before training, and which are nearest after a few seconds? Are they the same
# > for every seed?

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "skip"}
how_many = [occurred[word] for word in words]
kept_of = dict(zip(words, keep_probability(torch.tensor(how_many), 0.001).tolist(), strict=True))

# %% slideshow={"slide_type": "fragment"}
near_king = []
for seed in range(5):
    draw = torch.Generator().manual_seed(seed)
    small = SkipGram(words, 32, window=2, generator=draw)
    before = small.nearest("king", 5)
    losses = small.train(texts[::3], epochs=3, progress=False, generator=draw)
    near_king.append([word for word, _ in small.nearest("king", 5)])
    print(f"seed {seed} before", *(f"{word:9}" for word, _ in before))
    print("       after ", *(f"{word:9}" for word in near_king[-1]))

bag = CBOW(words, 32, window=2, generator=draw)
bag.train(texts[::3], epochs=3, progress=False, generator=draw)
print("CBOW,  after ", *(f"{word:9}" for word, _ in bag.nearest("king", 5)))

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# Before training, the neighbours of "king" are random words. After a few seconds, 23<!--[[sum(word in "queen duke prince henry warwick edward york richard".split() for found in near_king for word in found)]]--> of the 25<!--[[sum(map(len, near_king))]]--> are titles or names of the nobility. Only "prince"<!--[[? set.intersection(*map(set, near_king)) == {"prince"}]]--> is among the first five for every
# seed; "queen" is there for two<!--[[words(sum("queen" in found for found in near_king))]]--> of the five. (CBOW is a single run that was not tuned, so its line says nothing about the method.)
# </details>
#
# **A list of neighbours from one training run is an anecdote.** Run several seeds before you draw a conclusion from it.
#
# The vectors that you explore in the next sections come from a single run (`python -m lectures.recipes word_vectors`). They have 64
# dimensions and were trained for twenty<!--[[? card["training"]["epochs"] == 20]]--> epochs on 912,048<!--[[card["data"]["words"]:,]]--> words. Each of the 5,835<!--[[len(dense_words):,]]--> words that occur ten times or more<!--[[? len(often) == len(dense_words)]]--> has a vector.
# The vectors published with *word2vec*, the program of Mikolov et al. for skip-gram and CBOW, were trained on about a hundred *billion* words of
# news, as the page of the program says.

# %% [markdown] slideshow={"slide_type": "subslide"}
# ### Vectors for another model
#
# Can one model use the vectors of another? We train Bengio's neural language model ([lecture 4](04_windows_and_convolutions.ipynb)) on only two
# plays, 59,780<!--[[given["tokens"]:,]]--> tokens. We initialise the embeddings of its 2,000<!--[[given["words"]:,]]--> words in three ways. The first is at random ("random" in the table). The second
# takes MiniLM's vectors of the same words ("given"), compressed to 64 dimensions. The third takes the same vectors *shuffled*, so that each word gets
# the vector of another word, chosen at random ("shuffled"). MiniLM has 1,622<!--[[given["known"]:,]]--> of the words as whole pieces; the others start at random in all three versions.
# Training then changes the embeddings together with the rest of the network. For each version we chose one of four<!--[[words(len(given["rows"]["given"]["tried"]))]]--> learning
# rates (the size of a training step, [lecture 3](03_backpropagation.ipynb)) on a development play.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "skip"}
given = stored("given_vectors")
by_start = {name: of["test"] for name, of in given["rows"].items()}


def lower(name, baseline):
    """Mean difference of the losses, seed by seed, and half its 95 % interval."""
    pairs = zip(by_start[name], by_start[baseline], strict=True)
    return mean_interval([math.log(a / b) for a, b in pairs])


less = {name: lower(name, "random") for name in ("given", "shuffled")}
meaning = lower("given", "shuffled")

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
helps = [name for name, (mean, half) in less.items() if mean + half < 0]
started = show.table(
    [(name, f"{sum(of) / 5:.1f} ({min(of)} to {max(of)})") for name, of in by_start.items()],
    ["Embeddings", "Perplexity, mean of five seeds (lowest to highest)"],
    note=f"For comparison, the 3-gram with Kneser–Ney smoothing: {given['floors']['3-gram']}.",
)
show.predict(
    "Which initialisation lowers the perplexity on a test play, compared with random embeddings?",
    choices=[
        "MiniLM's vectors, shuffled or not",
        "MiniLM's vectors only on their own words",
        "neither",
    ],
    answer={
        ("given", "shuffled"): "MiniLM's vectors, shuffled or not",
        ("given",): "MiniLM's vectors only on their own words",
        (): "neither",
    }[tuple(helps)],
    why="The same vectors on the wrong words do not help.",
    reveals=started,
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - Compared with random embeddings, seed by seed, MiniLM's vectors lower the loss by 0.050<!--[[-less["given"][0]:.3f]]--> ± 0.023<!--[[less["given"][1]:.3f]]--> nats (95 % interval, five seeds), about 5<!--[[100 * (1 - math.exp(less["given"][0])):.0f]]--> % of the perplexity.
# - Shuffled, they change it by 0.004<!--[[less["shuffled"][0]:.3f]]--> ± 0.017<!--[[less["shuffled"][1]:.3f]]--> nats, so we see no difference<!--[[? abs(less["shuffled"][0]) < less["shuffled"][1]]]-->.
# - The same vectors lower the loss more on the right words than on the wrong ones, by 0.055<!--[[-meaning[0]:.3f]]--> ± 0.028<!--[[meaning[1]:.3f]]-->. So the match between words
#   and vectors helps. The scale of the vectors is the same in all three versions.
# - All of this holds for two plays and this small network (`python -m lectures.recipes given_vectors`).
# </details>
#
# **Here vectors learned from much text helped a model that had little.** [Lecture 17](17_pretraining.ipynb) does the same with whole networks.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 6. A map of words
#
# You cannot see 64<!--[[E.shape[1]]]--> dimensions. **Principal component analysis** (PCA) finds the plane in which the vectors of the chosen words are most spread
# out and drops the other dimensions. The dropped dimensions may matter, so the line below the picture says how much of the variance the plane keeps.
#
# > **Ask yourself.** Will "heart" be near "hand" and "head", or somewhere else? If arrows lead from male words to
# > their female partners ("man" to "woman"), will they be parallel?


# %% [markdown] slideshow={"slide_type": "notes"}
# *6 minutes. Go back to the answers from the opening question: in what way are neighbours similar? Warn the room before they
# trust the picture, and let them find two words that are close only on the map.*


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "skip"}
def project(chosen):
    """The words in the plane of their first two principal components, and the fraction of the variance kept."""
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
    )  # the sign of an axis is arbitrary: put the first word at the top right
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
kept = [project([word for group in two for word in group])[1] for two in groups.values()]
things = [word for group in groups["things and people"] for word in group]
on_the_map = dict(zip(things, project(things)[0], strict=True))
near_heart = sorted(things, key=lambda word: math.dist(on_the_map[word], on_the_map["heart"]))[
    1:3
]

# %% slideshow={"slide_type": "subslide"}
widgets.word_map(project, groups)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - Related words form groups, although training was not told which words belong together. In this plane, parts of the body and weapons overlap. The nearest
#   words to "heart" there are "sword" and "dagger"<!--[[? near_heart == ["sword", "dagger"]]]-->.
# - In "I and thou" the arrows are nearly parallel, and so are those in "forms of verbs" and most of those in "he and she". So a step from the first person to the
#   second, from the present to the past, or from male to female seems to have a fixed *direction*. The next cell checks this in all 64 dimensions.
# - The plane keeps 37<!--[[100 * min(kept):.0f]]--> to 44<!--[[100 * max(kept):.0f]]--> % of the variance. Two words that are close on the map may be far apart in the other 62<!--[[E.shape[1] - 2]]--> dimensions. The
#   cosine takes all 64 into account.
# </details>


# %% slideshow={"slide_type": "subslide"}
def parallel(first, second, points):
    """The mean cosine between the arrows from the words of `first` to those of `second`: 1 if all are parallel."""
    arrows = torch.nn.functional.normalize(points[second] - points[first], dim=1)
    cosines, n = arrows @ arrows.T, len(first)
    return float((cosines.sum() - n) / (n * n - n))


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
def better_pairings(first, second, points):
    """How many other ways of pairing the words have arrows at least as parallel, and how many ways there are."""
    right = parallel(first, second, points)
    every = [
        parallel(first, second[list(order)], points) for order in permutations(range(len(first)))
    ]
    return sum(other >= right - 1e-6 for other in every) - 1, len(every)


def kept_by_the_plane(arrows, points):
    """Of the mean arrow, and of the arrows minus their mean: the fraction of the squared length in the plane of the map."""
    plane = torch.linalg.svd(points - points.mean(0), full_matrices=False).Vh[:2]
    shared = arrows.mean(0, keepdim=True)
    return tuple(
        float(((of @ plane.T) ** 2).sum() / (of**2).sum()) for of in (shared, arrows - shared)
    )


agree, ranked, in_plane = {}, {}, {}
for choice in ("he and she", "forms of verbs", "I and thou"):
    chosen = [word for group in groups[choice] for word in group]
    n = len(groups[choice][0])
    unit = torch.nn.functional.normalize(
        E[[vocabulary.encode(word)[0] for word in chosen]], dim=1
    )
    first, second = torch.arange(n), torch.arange(n, 2 * n)
    plane = parallel(first, second, torch.tensor(project(chosen)[0]))
    agree[choice] = plane, parallel(first, second, unit), parallel(first, second.roll(1), unit)
    ranked[choice] = better_pairings(first[:6], second[:6], unit)
    in_plane[choice] = kept_by_the_plane(unit[second] - unit[first], unit)
told = [(choice, *(f"{cosine:.2f}" for cosine in means)) for choice, means in agree.items()]
show.table(told, ["Mean cosine", "In the plane", "In all 64", "With partners swapped"])

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - In the plane, the mean cosines between the arrows within each of the three groups are 0.71<!--[[agree["he and she"][0]:.2f]]-->, 0.94<!--[[agree["forms of verbs"][0]:.2f]]--> and 0.95<!--[[agree["I and thou"][0]:.2f]]-->.
# - In the full space they are 0.30<!--[[agree["he and she"][1]:.2f]]-->, 0.38<!--[[agree["forms of verbs"][1]:.2f]]--> and 0.33<!--[[agree["I and thou"][1]:.2f]]-->.
# - If we pair each word with the wrong partner (he with queen, father with woman …), the mean cosines drop to 0.07<!--[[agree["he and she"][2]:.2f]]-->, 0.25<!--[[agree["forms of verbs"][2]:.2f]]--> and 0.08<!--[[agree["I and thou"][2]:.2f]]-->.
# - Is that just one unlucky pairing? We tried all 720<!--[[ranked["he and she"][1]]]--> ways of pairing six words with six. In none
#   of the three groups does any other pairing have arrows as parallel as the right one<!--[[? all(better == 0 for better, _ in ranked.values())]]-->.
# </details>
#
# **The arrows look more parallel on the map than they are.**<!--[[? min(each[0] for each in agree.values()) > max(each[1] for each in agree.values())]]--> Of the squared
# length of the arrows' deviations from their mean, the plane keeps a smaller fraction than of the mean itself<!--[[? all(shared > other for shared, other in in_plane.values())]]-->. The pairs share a
# direction, but they differ more than the map shows.
#
# **One row, many meanings.** A table has one vector per word, whatever the sentence. Shakespeare's Paris is a Trojan in one play, a count
# in another and a city in several. All of them share a row, and the nearest rows are those of “greek<!--[[near_paris[0]]]-->” and “county<!--[[near_paris[1]]]-->” (an old word for a count). Models that give a word a
# different vector in each sentence come later ([lecture 17](17_pretraining.ipynb)).

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 7. Analogies, and what they are worth
#
# An **analogy** asks: man is to woman as king is to …? If the difference between the vectors of "man" and "woman" is also the difference between those of
# "king" and the answer, you can add it to the vector of "king". The general form is $a$ : $b$ = $a^*$ : $b^*$, with $b^*$ unknown (Mikolov, Yih & Zweig 2013):
#
# $$b^* = \operatorname*{argmax}_{w}\; \cos\big(e(w),\; e(a^*) - e(a) + e(b)\big)$$
#
# The three words of the question are excluded as answers. The most famous claim about word vectors is that such a sum
# solves analogies. Is it true?


# %% [markdown] slideshow={"slide_type": "notes"}
# *12 minutes. Let the room propose analogies and write down every answer, hits and misses alike. Students often quote the famous
# example as a proof; ask what a fair test would need before you show the table.*


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "skip"}
def answers_of(table, place, names):
    """From a, b, c to the six best answers; without the exclusion rule, a, b and c are also candidates."""
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
old = (E[7:], {word: i for i, word in enumerate(dense_words)}, dense_words)
tables = {"Shakespeare": answers_of(*old), "MiniLM": answers_of(*large)}


def cosine(vectors, first, second):
    table, place, _ = vectors
    return float(torch.cosine_similarity(table[place[first]], table[place[second]], dim=0))


questions = [
    "man woman king queen",
    "i my thou thy",
    "go went come came",
    "paris france london england",
    "walk walked swim swam",
    "good better bad worse",
    "king kings lord lords",
]

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "subslide"}
kept_out = tables["Shakespeare"]("man", "woman", "king", True)[0][0]
free = tables["Shakespeare"]("man", "woman", "king", False)[0][0]
show.predict(
    "Man is to woman as king is to …? Which word is closest to the sum of our vectors if the three words of the question are *not* excluded?",
    choices=["queen", "woman", "king"],
    answer=free,
    why=f"With the exclusion rule the answer is “{kept_out}”.",
    reveals=widgets.analogies(tables, questions),
)

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "subslide"}
unit = torch.nn.functional.normalize(E[7:], dim=1)
man, woman, king_, queen = (unit[dense_words.index(w)] for w in ["man", "woman", "king", "queen"])
corners = torch.stack([man, woman, king_, queen, king_ - man + woman])
middle = corners - corners.mean(0)
across, spread, _ = torch.linalg.svd(middle, full_matrices=False)
shown_share = float((spread[:2] ** 2).sum() / (spread**2).sum())
to_king, to_woman, to_queen = (
    float(torch.cosine_similarity(corners[4], word, dim=0)) for word in (king_, woman, queen)
)
HTML(
    show.word_map_svg(
        (across[:, :2] * spread[:2]).tolist(),
        ["man", "woman", "king", "queen", "king − man + woman"],
        [0, 0, 1, 1, 2],
        alt="Man, woman, king, queen and the sum king minus man plus woman in the plane of their first two principal components.",
    )
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# *The sum king − man + woman and the four words, in the plane that keeps 82<!--[[100 * shown_share:.0f]]--> % of their variance. In all 64 dimensions the cosine of the sum
# is 0.75<!--[[to_king:.2f]]--> with king, 0.39<!--[[to_woman:.2f]]--> with woman and 0.58<!--[[to_queen:.2f]]--> with queen. Without the exclusion rule the answer is king itself<!--[[? free == "king"]]-->.*

# %% [markdown] slideshow={"slide_type": "subslide"}
# If you try analogies one at a time, you remember the hits. So we count, with 28<!--[[len(ours["answers"])]]--> questions and five<!--[[words(len(measured["tables"]))]]--> tables of vectors, three<!--[[words(len(measured["tables"]) - 2)]]--> of our own
# and the input embeddings of MiniLM and SmolLM2. There are three controls, after
# Linzen (2016). How many answers are right if you always give *just the nearest neighbour of $a^*$*, ignoring $a$ and $b$? How many if
# you leave out only $a$ and look for the word nearest to $e(a^*) + e(b)$? And how many without the rule that excludes the words of the question?

# %% slideshow={"slide_type": "fragment"}
measured = stored("word_vectors")
ours, modern_ones = (
    measured["tables"][name] for name in ("skip-gram, m = 2", "MiniLM, input vectors")
)
famous = {name: t["answers"]["man woman king queen"][0] for name, t in measured["tables"].items()}
print(
    f"{'':24}{'right':>6} {'of':>4}  {'nearest to a*':>14}  {'without the rule':>17} {'then answers a*':>16}"
)
for name, t in measured["tables"].items():
    print(
        f"{name:24}{t['right']:6} {t['asked']:4}  {t['nearest_to_c_right']:14}  {t['without_the_rule_right']:17}"
        f" {t['without_the_rule_c']:16}"
    )

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "skip"}
lands = {"ours": where_the_sum_lands(E[7:], dense_words)}
spelled_large = [large[2][i] for i in range(len(large[2]))]
lands["MiniLM"] = where_the_sum_lands(large[0], spelled_large)


def right_without_a(vectors):
    """How many questions the sum e(a*) + e(b) answers, with the rule of exclusion."""
    table, place, _ = vectors
    unit, right = torch.nn.functional.normalize(table, dim=1), 0
    for question in ours["answers"]:
        if all(word in place for word in question.split()):
            a, b, c, d = (place[word] for word in question.split())
            cosines = unit @ (unit[c] + unit[b])
            cosines[[a, b, c]] = -1.0
            right += int(cosines.argmax()) == d
    return right


without_a = {"ours": right_without_a(old), "MiniLM": right_without_a(large)}
same_words = {name: questions_to(table, words)["right"] for name, table in four.items()}
seeds = stored("vector_seeds")["rows"]
right_by_seed = [row["right"] for row in seeds]
near_paris = [word for word, _ in near_in(E[7:], dense_words)("paris")]

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice: how many are right</b></summary>
#
# - Our vectors answer 14<!--[[ours["right"]]]--> of 27<!--[[ours["asked"]]]--> correctly, among them most verbs<!--[[? ours["by_kind"]["verbs"][0] > 0.8 * ours["by_kind"]["verbs"][1]]]--> and "queen". ("swam" is too rare to be in the table<!--[[? "swam" not in dense_words]]-->, so one
#   question drops out.) Answering with the nearest neighbour of $a^*$ gets only 2<!--[[ours["nearest_to_c_right"]]]--> right.
# - But the sum $e(a^*) + e(b)$, without $a$, still gets 12<!--[[without_a["ours"]]]--> right. With MiniLM's vectors it gets 18<!--[[without_a["MiniLM"]]]-->, instead of 21<!--[[modern_ones["right"]]]--> with $a$. So subtracting $e(a)$ adds few correct answers.<!--[[? all(without_a[name] > 0.8 * of["right"] for name, of in (("ours", ours), ("MiniLM", modern_ones)))]]-->
# - Five more training runs with other seeds get between 13<!--[[min(right_by_seed)]]--> and 16<!--[[max(right_by_seed)]]--> right (`python -m lectures.recipes vector_seeds`). So with a single run of each, the table does not
#   tell whether skip-gram (with either window) or CBOW is better<!--[[? all(measured["tables"][name]["right"] <= max(right_by_seed) for name in ("skip-gram, m = 5", "CBOW, m = 2"))]]-->.
# - On the 3,123<!--[[counts.shape[0]:,]]--> words of section 4, PPMI gets 9<!--[[same_words["PPMI"]]]--> right, compressed PPMI 8<!--[[same_words["PPMI, compressed"]]]--> and the learned table 17<!--[[same_words["learned (skip-gram)"]]]-->.
# - None of these tables was tuned. Levy, Goldberg & Dagan (2015) found that tuning matters more than whether you count or learn.
# </details>
#
# <details><summary><b>What to notice: the rule of exclusion</b></summary>
#
# - Without the rule our vectors get 3<!--[[ours["without_the_rule_right"]]]--> right. They answer $a^*$ 11<!--[[lands["ours"]["nearest is a*"]:.0f]]--> times and $b$ 13<!--[[lands["ours"]["nearest is b"]:.0f]]--> times.
# - The mean cosine of the sum is 0.65<!--[[lands["ours"]["cosine with a*"]:.2f]]--> with $a^*$, 0.62<!--[[lands["ours"]["cosine with b"]:.2f]]--> with $b$ and 0.59<!--[[lands["ours"]["cosine with b*"]:.2f]]--> with the right answer. On average the sum lands nearer to the two
#   words that it adds than to the answer, and the rule removes both.
# - The five other runs agree: $b^*$ is the nearest word 3<!--[[min(row["nearest is b*"] for row in seeds):.0f]]--> to 5<!--[[max(row["nearest is b*"] for row in seeds):.0f]]--> times.
# - MiniLM's 21<!--[[modern_ones["right"]]]--> of 27<!--[[modern_ones["asked"]]]--> look better than they are, because the nearest neighbour of $a^*$ by itself gets 9<!--[[modern_ones["nearest_to_c_right"]]]--> right.
# - Without the rule MiniLM answers $a^*$ 22<!--[[lands["MiniLM"]["nearest is a*"]:.0f]]--> times, and $b$ once<!--[[? lands["MiniLM"]["nearest is b"] == 1]]-->. With the rule the nearest neighbour
#   of $a^*$ can win; MiniLM answers "i my thou …" with "thee<!--[[tables["MiniLM"]("i", "my", "thou", True)[0][0]]]-->", which is much nearer to "thou" (0.54<!--[[cosine(large, "thou", "thee"):.2f]]-->) than "thy" is (0.33<!--[[cosine(large, "thou", "thy"):.2f]]-->).
# - In our table "thee" and "thy" are about equally near to "thou"<!--[[? abs(cosine(old, "thou", "thee") - cosine(old, "thou", "thy")) < 0.05]]-->, and the answer is "thy"<!--[[? tables["Shakespeare"]("i", "my", "thou", True)[0][0] == "thy"]]-->.
# - The rule can also make vectors look prejudiced. To "man is to doctor as woman is to …?" it never allows the answer "doctor" (Nissim, van Noord & van
#   der Goot 2020).
# </details>
#
# **A single analogy proves nothing, for or against.** The famous one comes out as "queen" in our table and for three<!--[[words(sum(row["famous"] == "queen" for row in seeds))]]--> of the five other
# seeds; the remaining two say "elizabeth" and "bona"<!--[[? sorted(row["famous"] for row in seeds)[:2] == ["bona", "elizabeth"] and famous["skip-gram, m = 2"] == "queen"]]-->.

# %% [markdown] slideshow={"slide_type": "subslide"}
# ### For the curious: when should analogies hold?
#
# Ethayarajh, Duvenaud & Hirst (2019) answer this for skip-gram with negative sampling, assuming that the vectors reach the optimum of section 5 exactly.
# They prove that $a : b = a^* : b^*$ holds as a sum of vectors only if the two words of each pair co-occur to the same degree. Their
# measure is $\mathrm{csPMI}(x, y) = \mathrm{PMI}(x, y) + \log P(x, y)$. It must be the same for (a, b) and (a*, b*), and likewise
# for (a, a*) and (b, b*). (The theorem has one more condition, on the four words together, which we leave out.) We can compute csPMI from the counts of section 4:


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
    for one, other in (((a, b), (c, d)), ((a, c), (b, d))):
        print(*(f"{pair!s:20} csPMI {cs_pmi(*pair):6.1f}   " for pair in (one, other)))

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "skip"}
most = single.topk(200).indices
every = (joint[most][:, most].square() / (single[most, None] * single[most])).log()
every = every[every.isfinite() & ~torch.eye(200, dtype=bool)]
typical = float(
    (every - every[torch.randperm(len(every), generator=torch.Generator().manual_seed(0))])
    .abs()
    .median()
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# The csPMI of (i, my) and of (thou, thy) differ by 0.8<!--[[abs(cs_pmi("i", "my") - cs_pmi("thou", "thy")):.1f]]-->, but those of (i, thou) and (my, thy) by 2.0<!--[[cs_pmi("i", "thou") - cs_pmi("my", "thy"):.1f]]-->. For two pairs
# of words taken at random from the 200 most frequent, the median difference is also 2.0<!--[[typical:.1f]]-->. So the second condition is not met. Yet our table answers "thy". For "good, better" and "bad, worse" the csPMI is computed from only 3<!--[[counts[ids["good"], ids["better"]]]]--> and 2<!--[[counts[ids["bad"], ids["worse"]]]]-->
# co-occurrences. Vectors trained on a million words do not reach the optimum exactly, so the theorem neither promises nor forbids
# these answers.
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Now you.** The widgets show your function next to ours. Change the sign of the noise term below, or leave the noise out, and see
# what the loss then rewards.


# %% slideshow={"slide_type": "fragment"}
def my_loss(real, noise):
    loss = math.log(1 + math.exp(-real))
    for score in noise:
        loss += math.log(1 + math.exp(score))  # change me: exp(-score)?
    return loss


widgets.negative_playground(negative_sampling_loss, sigmoid, ["cheese", "because"], yours=my_loss)

# %% [markdown] slideshow={"slide_type": "fragment"}
# **Where does a word begin and end, and how can numbers express that two words are similar?** Byte-pair encoding cuts where counts of pairs tell
# it to. The vectors of two words are similar if the words keep the same company, which we can count or predict.

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Check yourself
#
# 1. The words of "low low lower" are "low", "␣low" and "␣lower". Which pair is merged first, and how often did it occur?
# <details><summary>Answer</summary>l + o and o + w both occur three<!--[[words(next(iter(trace_training("low low lower", 1))).frequency)]]--> times. A rule breaks the tie; with ours "lo" comes first, then
# "low".</details>
#
# 2. Why does a byte-level tokenizer need no &lt;unk&gt;?
# <details><summary>Answer</summary>Every text is a sequence of bytes, and all 256 bytes are in the vocabulary from the start.</details>
#
# 3. The vocabulary has 50,000 tokens and d = 1,000. How many parameters does the embedding table have? How many multiplications
#    would a one-hot product take?
# <details><summary>Answer</summary>It has 50<!--[[50_000 * 1_000 // 10**6]]--> million parameters. The product would take as many multiplications, all but 1,000 of them by 0. So you look the row up.</details>
#
# 4. Why are "hot" and "cold" near each other in a table of word vectors?
# <details><summary>Answer</summary>They keep the same company. In Shakespeare, for example, both occur near "blood"<!--[[? min(counts[ids["blood"], ids["hot"]], counts[ids["blood"], ids["cold"]]) > 5]]-->. "Near" means "occurs in similar contexts", not "means the same".</details>
#
# 5. In negative sampling all scores are 0, and k = 4. What is the loss?
# <details><summary>Answer</summary>It is 5 · ln 2 = 3.47<!--[[negative_sampling_loss(0, [0] * 4):.2f]]-->, because each of the five terms is −ln(1/2).</details>
#
# 6. Somebody reports that 100 % of their plural analogies are right. What do you ask?
# <details><summary>Answer</summary>How many would the nearest neighbour of a* get right on its own? How many does the sum of a* and b get right, without a?
# And were the words of the question excluded?</details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *"Check yourself" is not projected: 5 minutes at the end, or homework. Read question 1 aloud and let the room do the merge on
# paper; then take 6, and collect the questions that the room would ask on the board. What goes wrong: in 1 they forget that the
# space belongs to the word, and in 4 they say that near words mean the same.*

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Notation, words, sources
#
# | here | elsewhere | what it is |
# |---|---|---|
# | $e(w)$, row of $E$ | $x_w$, $v_w$, $W_{emb}$, "lookup table" | the vector of token $w$ |
# | $\mathrm{onehot}(w)$ | $x^{(w)}$, indicator vector | 1 at position $w$ |
# | $\mathrm{softmax}_w(e(w) \cdot h)$ | $\mathrm{softmax}(h E^\top)$, $\mathrm{softmax}(Wh)$ with $W = E$ | the output with tied weights |
# | $v_a$, $u_b$ | $v_w$, $v'_{w}$; centre and context, $t \cdot c$ | the two vectors of a word in skip-gram |
# | $P(b \mid a)$ | $p(w_{t+j} \mid w_t)$ | a word predicts its neighbour |
# | $m$, window of $2m$ | $c$, $\pm L$, "window size" | words to either side |
# | $k$ | $k$, negatives | noise words per pair |
# | $a : b = a^* : b^*$ | $a : b :: c : d$ | analogy |

# %% [markdown] slideshow={"slide_type": "notes"}
# *The table is not projected. Point to it when somebody reads word2vec: centre and context there are our $v$ and $u$. What goes
# wrong: in some papers the window is $m$, in others $2m$. Begin the next lecture with 2 minutes in pairs: each student explains
# three of the words without the list.*

# %% [markdown] slideshow={"slide_type": "skip"}
# ### Words of this lecture
#
# - **tokenizer**: a program that splits a text into tokens and gives each its id; it also turns ids back into text.
# - **byte**: an integer from 0 to 255; every text is stored as a sequence of bytes.
# - **byte-pair encoding**: an algorithm that learns a vocabulary by repeatedly merging the most frequent pair of adjacent pieces.
# - **merge**: a step of byte-pair encoding that joins two pieces into one new token.
# - **embedding**: the vector that represents a token in a model; a row of a learned table.
# - **one-hot**: a vector that is 1 at one position and 0 elsewhere.
# - **tied weights**: the input and output layers of a language model share one embedding table.
# - **distributional hypothesis**: words that occur in the same contexts have similar meanings.
# - **cosine**: the dot product of two vectors divided by their lengths; 1 for the same direction, 0 for a right angle.
# - **sparse**: said of a vector whose entries are nearly all 0.
# - **dense**: said of a vector with few dimensions and hardly any zeros.
# - **pointwise mutual information**: the logarithm of the ratio between how often two words co-occur and how often they would if they were independent.
# - **skip-gram**: a method that learns word vectors by predicting the neighbours of each word.
# - **window (in skip-gram)**: the m words on either side of a word that count as its neighbours.
# - **negative sampling**: learning to distinguish real neighbours from random words, instead of computing a softmax over all words.
# - **noise words**: the random words that negative sampling uses as negative examples.
# - **CBOW**: a method that learns word vectors by predicting a word from the mean of its neighbours' vectors.
# - **GloVe**: a method that learns word vectors whose dot products fit the logarithms of co-occurrence counts.
# - **subsampling**: skipping many occurrences of frequent words when word vectors are trained.
# - **principal component analysis**: a method that finds the directions in which points are most spread out.
# - **analogy**: a question of the form "a is to b as a* is to what?"

# %% [markdown] slideshow={"slide_type": "skip"}
# **Sources.** Harris (1954), Distributional Structure. Firth (1957), A Synopsis of Linguistic Theory 1930–1955. Mikolov, Chen, Corrado &
# Dean (2013a), Efficient Estimation of Word Representations in Vector Space. Mikolov, Sutskever, Chen, Corrado & Dean (2013b), Distributed
# Representations of Words and Phrases and their Compositionality, section 2.2. Mikolov, Yih & Zweig (2013), Linguistic Regularities in
# Continuous Space Word Representations. Pennington, Socher & Manning (2014), GloVe: Global Vectors for Word Representation. Gage (1994), A New
# Algorithm for Data Compression. Sennrich, Haddow & Birch (2016), Neural Machine Translation of Rare Words with Subword Units,
# section 3.2. Radford et al. (2019), Language Models are Unsupervised Multitask Learners. Le Scao et al. (2022), BLOOM: A 176B-Parameter Open-Access
# Multilingual Language Model. The published vectors of word2vec: code.google.com/archive/p/word2vec. Linzen (2016), Issues in Evaluating Semantic Spaces Using Word Analogies. Press & Wolf (2017), Using the Output Embedding to
# Improve Language Models. Inan, Khosravi & Socher (2017), Tying Word Vectors and Word Classifiers. Levy & Goldberg (2014), Neural
# Word Embedding as Implicit Matrix Factorization. Levy, Goldberg & Dagan (2015), Improving Distributional Similarity with Lessons Learned from
# Word Embeddings. Ethayarajh, Duvenaud & Hirst (2019), Towards Understanding Linear Word Analogies. Nissim, van Noord & van der Goot
# (2020), Fair Is Better than Sensational: Man Is to Doctor as Woman Is to Doctor. Wang et al. (2020), MiniLM.
#
# The assignments [`exercises/subwords/subwords.ipynb`](../exercises/subwords/subwords.ipynb) (byte pairs) and [`exercises/vectors/vectors.ipynb`](../exercises/vectors/vectors.ipynb) (skip-gram, neighbours,
# analogies) let you build all of this and tell you which mistake you made.
