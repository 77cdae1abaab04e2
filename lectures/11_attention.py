# %% [markdown] slideshow={"slide_type": "slide"}
# # Attention
#
# *The animal did not cross the street because **it** was too tired.* What is "it"? You looked back at one word of the
# sentence, and you knew which one. This lecture gives a network the same ability: to look back, and to learn where.
#
# <img src="figures/11_it_reads_animal.svg" width="380" alt="Lines from each word of a sentence to the words it reads in layer 3, head 1 of MiniLM. The word 'it' is selected; its thickest line, weight 0.69, goes to 'animal'.">
#
# *One of the 72 attention "heads" of a real network, MiniLM, reading that sentence. Nobody told it what "it" means. In
# section 7 you compute the 0.69 yourself, explore the other heads, and test whether this one understands anything.*

# %% [markdown] slideshow={"slide_type": "skip"}
# **After this lecture you can**
# - say why one vector is too narrow a door between two halves of a network;
# - compute attention by hand: scores, softmax, weighted sum;
# - choose between dot-product, bilinear and additive scores;
# - explain queries, keys, values, the division by $\sqrt{d}$, masks and heads;
# - read an attention heatmap, of words or of a picture, and say what it does not prove.
#
# **You need** vectors, matrix products, the exponential function, and Python with PyTorch tensors. From
# lecture 5: a *recurrent network* reads a text word by word and keeps what it has read in one vector, its *state*; lecture 7 gave
# it gates (LSTM and GRU are such cells). From lecture 10: two of them translate, one reads and one writes. *Learned* means that
# numbers are adjusted step by step, along the gradient (lecture 3). Vectors are rows: a matrix stands to their right, $xW$.
#
# | section | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 |
# |---|---|---|---|---|---|---|---|---|---|
# | minutes | 8 | 11 | 16 | 9 | 6 | 5 | 10 | 6 | 4 |
#
# Every cell runs in under ten seconds on a laptop, without a network connection. *To lecture from this notebook:*
# `make present ARGS=11` shows it slide by slide, widgets alive; short of time, skip the heatmaps of section 3 and
# the code of section 6. *Coming from other slides or a paper?* A table at the end translates their notation.

# %% slideshow={"slide_type": "skip"}
import copy
import json
import math
import re
from functools import lru_cache
from pathlib import Path

import ipywidgets
import torch
from IPython.display import HTML
from torch import nn
from torch.nn import functional as F

from nlmcore import corpora
from nlmcore.attention import (
    MultiHeadAttention,
    additive_score,
    attend,
    bilinear_score,
    causal_mask,
    dot_score,
    padding_mask,
    scaled_dot_product_attention,
)
from nlmcore.recurrent import GRUCell, LSTMCell, Recurrent
from nlmcore.seq2seq import AdditiveScore
from lectures import show, widgets

torch.set_printoptions(precision=2, sci_mode=False)
torch.set_num_threads(1)  # so small are the models here that one core is quickest

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 1. One vector is not enough
#
# To translate, an **encoder** reads the *source* sentence one word at a time and updates its state $h_1, h_2, \dots, h_n$,
# a vector of numbers. A **decoder** then writes the *target* sentence, one word at a time, from its own state
# $s_1, s_2, \dots$. The simplest way to join them (Sutskever et al. 2014; Cho et al. 2014a): hand over the encoder's last
# state, the **context** $c = h_n$, and nothing else.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
show.encoder_decoder(
    ["the", "black", "cat"],
    ["le", "chat", "noir"],
    alt="An encoder reads 'the black cat' into states h1, h2, h3; a single vector c leads to "
    "the decoder states s1, s2, s3, which write 'le chat noir'.",
)

# %% [markdown] slideshow={"slide_type": "subslide"}
# Everything that the decoder will ever know of the source must pass through $c$, whether the source has three words or
# sixty: a **bottleneck**. How much fits into one vector?
#
# Try it without any training. Give each word of a vocabulary of 1,000 a random vector $w$ of $d$ numbers $\pm 1$, and each
# position $t$ of a text a random vector $p_t$. Store a text of $n$ words in **one** vector, $m = \sum_t w_t \odot p_t$
# ($\odot$ multiplies entry by entry), and read word $t$ back as the word whose vector is most similar to $m \odot p_t$.
#
# > **Predict before you run.** With $d = 256$ numbers, how many words can be read back without an error:
# > about eight, about fifty, or about 256?


# %% slideshow={"slide_type": "fragment"}
def read_back(n, d, keep_all, vocabulary=1000, texts=20):
    """Share of words read back right: from one vector, or from n vectors that are all kept."""
    draw = torch.Generator().manual_seed(n * d)
    words = torch.randint(0, 2, (vocabulary, d), generator=draw) * 2.0 - 1
    positions = torch.randint(0, 2, (n, d), generator=draw) * 2.0 - 1
    text = torch.randint(0, vocabulary, (texts, n), generator=draw)
    if keep_all:  # a first glimpse of attention: weights from similar positions, then a sum
        weights = torch.softmax(positions @ positions.T / math.sqrt(d), dim=-1)
        answer = weights @ words[text]
    else:  # one vector for everything
        answer = (words[text] * positions).sum(dim=1, keepdim=True) * positions
    return ((answer @ words.T).argmax(-1) == text).float().mean().item()


lengths = [1, 2, 4, 8, 16, 32, 64, 128]
kept = {}
for d in (64, 256, 1024):
    kept[f"one vector, d = {d}"] = [read_back(n, d, keep_all=False) for n in lengths]
kept["all n vectors, d = 64"] = [read_back(n, 64, keep_all=True) for n in lengths]
show.curves(
    lengths,
    kept,
    x_title="words in the text",
    y_title="share read back right",
    log_x=True,
    alt="Share of words read back against the length of the text. One vector of 64, 256 and "
    "1024 numbers fails from about 4, 16 and 64 words on; keeping all vectors stays at 1.",
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b> (click after you have predicted)</summary>
#
# - About eight. Of 32 words only a third come back right: far fewer words than numbers.
# - Four times the numbers buy about four times the words. A wider vector moves the cliff; it does not remove it.
# - The last line keeps *all* $n$ vectors. Of course it does not fall: it has $64\,n$ numbers, and one vector as wide as that
#   would do, too. But a network's vector has *one* width, chosen before the sentence is seen. A memory of all states grows
#   with the text.
# - This memory is not trained, and random words are harder to pack than language. What of trained encoders? Cho et al.
#   (2014b) and the models without attention in Bahdanau et al. (2015, figure 2) get worse on long sentences. Sutskever et
#   al. (2014), with a deep network that read its source backwards, did not see it. That the one vector is to blame was a
#   *conjecture* of Bahdanau et al.; their remedy is this lecture.
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# The remedy: **do not pack. Keep all the encoder's states and let the decoder look at them.** The encoder becomes a
# read-only memory.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 2. A weighted sum of encoder states
#
# At each step the decoder needs *one* vector, of fixed width. So give it a mixture of the encoder's states, a new one at
# every step $i$:
#
# $$c_i = \sum_{j=1}^{n} \alpha_{ij}\, h_j, \qquad \alpha_{ij} \ge 0, \qquad \sum_j \alpha_{ij} = 1,
#   \qquad s_i = f(s_{i-1},\, y_{i-1},\, c_i).$$
#
# The decoder's next state $s_i$ follows from its last state, the last word $y_{i-1}$ it wrote, and this context.
#
# Could the weights $\alpha_{ij}$ be fixed numbers, learned once? No: which source word matters for the second output word
# depends on *this* sentence. They must be computed from what is there, $\alpha_{ij} = g(s_{i-1}, h_j)$: the decoder's last
# state *asks*, the encoder's states answer.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
show.encoder_decoder(
    ["the", "black", "cat"],
    ["le", "chat"],
    weights=[0.05, 0.10, 0.85],
    alt="To write its second word the decoder's first state asks, and receives a context c2, a "
    "mixture of the encoder states with weights 0.05, 0.10 and 0.85: most of it is h3, 'cat'.",
)

# %% [markdown] slideshow={"slide_type": "subslide"}
# *(The weights in this picture are made up.)* Two steps lead to weights. A **score** $e_j$ says how well state $h_j$ fits, any
# real number. **Softmax** turns scores into weights that are positive and sum to one:
#
# $$\alpha_j = \frac{\exp e_j}{\sum_{j'} \exp e_{j'}}$$
#
# Take four encoder states with the scores $1.5,\; 0.9,\; 0.3,\; -0.5$.
#
# > **Predict before you run.** Which weight does the first state get: 0.30, 0.50 or 0.70? And can the last one, whose score
# > is negative, have a negative weight?

# %% slideshow={"slide_type": "fragment"}
scores = [1.5, 0.9, 0.3, -0.5]
exponentials = [math.exp(e) for e in scores]
total = sum(exponentials)
weights = [x / total for x in exponentials]
print("exp(e)  ", *[f"{x:.2f}" for x in exponentials], "  sum", f"{total:.2f}")
print("weights ", *[f"{w:.2f}" for w in weights], "  sum", f"{sum(weights):.2f}")

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer</b></summary>
#
# $4.48 / 8.90 = 0.50$. A negative score gives a small weight, $0.61 / 8.90 = 0.07$, never a negative one: the exponential
# is positive.
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# That is all of attention: softmax, then a weighted sum. In two lines,


# %% slideshow={"slide_type": "fragment"}
def attend_in_two_lines(scores, values):
    weights = torch.softmax(scores, dim=-1)
    return weights @ values, weights


states = torch.eye(4)  # four "encoder states" that are easy to tell apart
context, weights = attend_in_two_lines(torch.tensor(scores), states)
print("weights", weights)
print("context", context)

# %% [markdown] slideshow={"slide_type": "subslide"}
# `nlmcore.attention.attend` is the same, with a mask (section 5) and with words for wrong shapes. From here on we use it.
#
# > **Predict before you move anything.** (a) Add 1 to all four scores. (b) Multiply all by 3. (c) Multiply all by 0.
# > What happens to the weights each time?

# %% slideshow={"slide_type": "fragment"}
widgets.softmax_playground(attend, scores, ["h1", "h2", "h3", "h4"])

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - (a) Nothing: $\exp(e+1) = \exp(1) \exp(e)$ and the factor cancels. Only differences between scores count.
# - (b) The first takes 0.84, and at a factor of 8 it takes 0.99: softmax becomes a choice of one. (c) All get 0.25: an average.
# - In between lies a *soft* choice, which has a useful derivative everywhere, so gradients can teach it. A hard choice of
#   one state has derivative zero almost everywhere and needs other means (Xu et al. 2015 draw it at random, to caption
#   images).
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Written out, as it was published.** In Bahdanau et al. (2015) the encoder reads the sentence *twice*, from the left and from
# the right (lecture 5 calls that bidirectional), and joins the two states of each word, $h_j = [\overrightarrow{h}_j;
# \overleftarrow{h}_j]$: so $h_j$ knows what stands around word $j$ on both sides. The decoder's step, with an LSTM and the last
# word's vector $x$, is
#
# $$c_i = \sum_j \alpha_{ij}\, h_j, \qquad s_i = \mathrm{LSTM}(s_{i-1},\; [x, c_i]).$$
#
# > **Predict before you run.** A source of five words, states of width 6 in each direction, word vectors of width 3. What are the
# > shapes of all $h$, of $c$, and of what goes into the LSTM?

# %% slideshow={"slide_type": "fragment"}
with torch.random.fork_rng():
    torch.manual_seed(0)
    both_ways = Recurrent("lstm", input_size=3, d_hidden=6, bidirectional=True)
    step, W = LSTMCell(3 + 12, 6), torch.randn(6, 12)  # W for the bilinear score of section 3

source = torch.randn(1, 5, 3, generator=torch.Generator().manual_seed(1))  # five word vectors
h, _ = both_ways(source)  # read once: the memory
state = (torch.zeros(1, 6), torch.zeros(1, 6))  # the LSTM's s and its memory cell
for x in torch.zeros(2, 1, 3):  # the vector of the last word written
    c, weights = attend(bilinear_score(state[0], h, W), h[0])
    state = step(torch.cat([x, c], dim=-1), state)
print(
    f"h {tuple(h.shape)}, c {tuple(c.shape)}, [x, c] (1, {3 + c.shape[-1]}), s {tuple(state[0].shape)}"
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# $h$ is (1, 5, 12): 6 numbers from each direction. $c$ is (1, 12), and $[x, c]$ has 15 numbers. The loop reads $h$ at every
# step and never writes it: **the encoder is a read-only memory.** What changes from step to step is only the question.
# (`nlmcore.seq2seq` has this decoder with its weights learned; the translators of the next section are made of it.)
# </details>

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 3. Three scores, side by side
#
# What is a good score for a **query** $q$ (what is asked: here the decoder's state) and a **key** $k$ (what can answer: here
# an encoder state)?
#
# | name | $\mathrm{score}(q, k)$ | to learn | source |
# |---|---|---|---|
# | **dot product** | $q \cdot k$ | nothing; both have the same width | Luong et al. 2015, section 3.1, "dot" |
# | **bilinear** | $q \cdot W k$ | $W$: width of $q$ × width of $k$ | Luong et al. 2015, "general" |
# | **additive**, a small network | $u \cdot \tanh(A q + B k)$ | $A$, $B$, $u$ | Bahdanau et al. 2015, section A.1.2 |
#
# The same three random queries meet the same four random keys under each score:

# %% slideshow={"slide_type": "fragment"}
draw = torch.Generator().manual_seed(4)
queries, keys = torch.randn(3, 8, generator=draw), torch.randn(4, 8, generator=draw)
W = torch.randn(8, 8, generator=draw) / math.sqrt(8)
A, B = torch.randn(16, 8, generator=draw), torch.randn(16, 8, generator=draw)
u = torch.randn(16, generator=draw)

show.heatmaps(
    [
        dot_score(queries, keys),
        bilinear_score(queries, keys, W),
        additive_score(queries, keys, A, B, u),
    ],
    ["dot product", "bilinear", "additive"],
    ["q1", "q2", "q3"],
    ["k1", "k2", "k3", "k4"],
    alt="Three heatmaps of scores for the same three queries and four keys, red positive, blue "
    "negative. The dot product, the bilinear form and the small network give other numbers.",
)

# %% [markdown] slideshow={"slide_type": "subslide"}
# With random weights the three need not agree: training shapes $W$, $A$, $B$ and $u$ until the score asks what is useful. In
# the plane one can see *which* questions each of them can ask.
#
# > **Predict before you turn the query.** Under the dot product, which direction of the query gives "idea" (at the bottom)
# > the largest weight? Under the bilinear score $W$ turns every key by 90° first: which direction now? What happens under
# > each score when the query's length goes to 0?

# %% slideshow={"slide_type": "fragment"}
plane_keys = torch.tensor([[0.9, 0.5], [0.55, 0.95], [-1.0, 0.35], [-0.2, -1.1]])
quarter_turn = torch.tensor([[0.0, -1.0], [1.0, 0.0]])
A2 = torch.tensor([[2.0, 0.0], [0.0, 2.0], [1.0, 1.0]])
B2, u2 = 2 * torch.eye(3, 2), torch.tensor([1.5, 1.5, -1.0])
widgets.query_playground(
    attend,
    {
        "dot product: q·k": dot_score,
        "bilinear: q·Wk, W a quarter turn": lambda q, k: bilinear_score(q, k, quarter_turn),
        "additive: u·tanh(Aq + Bk)": lambda q, k: additive_score(q, k, A2, B2, u2),
    },
    plane_keys,
    ["cat", "dog", "car", "idea"],
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - **Dot product**: point the query towards "idea" (265° on the slider: the key lies at 260°, a little further is a little
#   further from the others). Alike attracts.
# - **Bilinear**: the same weight comes a quarter turn later (355°). $W$ lets the model look for something *other* than the
#   query itself: a verb for its subject, an adjective for its noun.
# - At length 0 dot and bilinear scores are all 0, the weights equal, the context a plain average. The additive score still
#   prefers some keys, whatever the query: $u \cdot \tanh(Bk)$ does not vanish.
# - The green diamond never leaves the quadrilateral with the keys as corners (their convex hull). Attention mixes values;
#   it cannot invent one.
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Which one to use?** All dot products of all queries with all keys are *one* matrix product, far faster than a network per
# pair. Vaswani et al. (2017, section 3.2.1) add that the two work alike for narrow vectors, while for wide ones the
# additive score does better, unless the dot product is *scaled*: section 4.

# %% [markdown] slideshow={"slide_type": "slide"}
# ### Does it help? Measured
#
# Numbers in words are real text of any length, and German says units before tens: 21 is *ein und zwanzig*, "one and twenty".
# Four small translators from English into German were trained, two that hand over one vector and two with attention
# (additive score). One of each saw numbers of up to 12 English words, the other up to 20; all are tested on up to 29. BLEU
# compares words and groups of words with the right answer; 100 is perfect. (`python -m lectures.recipes numbers` trains and
# measures them again, in six to twenty minutes. Bahdanau et al. trained theirs on sentences of up to 30 and of up to 50 words.)
#
# > **Predict before you run.** Which of the four fall from which length on?

# %% slideshow={"slide_type": "fragment"}
from lectures.trained import checkpoint

trained = {
    "one vector, trained on ≤ 12 words": "numbers_initial",
    "attention, trained on ≤ 12 words": "numbers_attention",
    "one vector, trained on ≤ 20 words": "numbers_initial_20",
    "attention, trained on ≤ 20 words": "numbers_attention_20",
}
measured = {
    label: checkpoint(name).card["figures"]["by_length"] for label, name in trained.items()
}
show.curves(
    [4, 7, 10, 13, 16, 19, 22, 25, 28],
    {label: [at["bleu"] for at in by_length.values()] for label, by_length in measured.items()},
    x_title="English words in the number",
    y_title="BLEU",
    alt="Quality of translation against length. Both models with one vector fall steadily from 7 "
    "words on. Attention stays at 100 up to and beyond the lengths it was trained on, then falls, too.",
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - One vector falls from the start, also on lengths it was trained on: at 18 to 20 words it reaches 52, where it was trained
#   on such numbers. It has the shape of Bahdanau et al. (2015, figure 2).
# - Attention stays at 100 on all it has seen, and a little beyond. It is not magic: trained on ≤ 12 words, it is at 75 for 18
#   to 20. It learned to look at the right word in short sentences; where to look in longer ones it never had to learn.
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# And where does it look? Turn the number: the left column is what the decoder writes, the right column what it reads for it.

# %% slideshow={"slide_type": "fragment"}
from nlmcore.decoding import greedy
from nlmcore.inspect import capture
from lectures.recipes.pairs import english as in_words

translator, (english, german), card = checkpoint("numbers_attention_20")
BOS, EOS = 1, 2


def aligned(number):
    """German parts, English words, and the weights (German, English) with which the former were written."""
    words = in_words(number)
    source = torch.tensor([[*english.encode(words), EOS]])
    with torch.no_grad():
        state = translator.encode(source)
        written = greedy(translator, torch.tensor([[BOS]]), 40, eos=EOS, state=state).tokens
        with capture(translator) as tape:  # read what was written once more, and look
            translator(torch.cat([torch.tensor([[BOS]]), written[:, :-1]], dim=1), state)
    parts = [german.decode([token]) for token in written[0].tolist()]
    return parts, [*words.split(), "<eos>"], tape["decoder.attention"][0, 0]


def translate(number):
    parts, words, weights = aligned(number)
    return show.attention_html(weights, parts, words, title=f"{number:,}")


widgets.live(translate, number=widgets.slider(465_721, 1, 999_999, 1, "number", "600px"))

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# The lines cross at "fünf und sechzig" and "ein und zwanzig": nobody told the model which word belongs to which, nor that
# German turns tens and units around. Training on pairs of sentences was enough. The step that writes `<eos>` has no one word
# to read, and its weights are spread.
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# **How far do languages cross?** Hindi puts the verb last, and "in the market" says *market in*. Here is a sentence with its
# English translation. This **alignment**, which word answers which, is drawn by hand, by somebody who knows both languages, not
# by a network.
#
# > **Predict before you run.** Count how many pairs of lines cross here, and in 465,721 above. Which is more?

# %% slideshow={"slide_type": "fragment"}
hindi = ["rām", "ne", "kal", "bāzār", "mẽ", "ek", "kitāb", "kharīdī"]
meaning = ["Ram", "bought", "a", "book", "in", "the", "market", "yesterday"]
# Hindi word -> English word; "ne" only marks who did it
answers = {0: 0, 2: 7, 3: 6, 4: 4, 5: 2, 6: 3, 7: 1}


def crossings(read):
    """How many pairs of lines cross, if output word i reads source word read[i]."""
    return sum(a > b for i, a in enumerate(read) for b in read[i + 1 :])


parts, _, weights = aligned(465_721)
print("Hindi: ", crossings(list(answers.values())), "crossings")
print("German:", crossings(weights[:-1].argmax(-1).tolist()), "crossings")
by_hand_links = torch.zeros(len(hindi), len(meaning))
by_hand_links[list(answers), list(answers.values())] = 1
HTML(show.attention_lines_svg(by_hand_links, hindi, meaning))

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# 14 against 4. In the number only neighbours change places; in the sentence the verb goes from the second place to the last,
# and *yesterday* from the last to the third. A recurrent encoder that hands over one vector would have to keep the verb until
# everything else is said. For attention a line is a line, however far it goes.
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# **From letters to sounds.** English spelling is a translation problem, too. A model with attention (two-way encoder, bilinear
# score) was trained on 112,397 words of a dictionary, letters in, **phonemes** (sounds) out. On words that it has never seen,
# 8.08 % of the phonemes are wrong, with one vector in place of attention 11.62 % (`python -m lectures.recipes pronunciation`).
#
# > **Predict before you choose.** Which letters will the K and the S of "box" read? Which letter the F of "enough"? Do the
# > lines ever cross, as they do in translation?

# %% slideshow={"slide_type": "fragment"}
speaker, (letters, phonemes), speech_card = checkpoint("pronunciation_attention")


@lru_cache(maxsize=64)
def pronounce(word):
    source = torch.tensor([[*letters.encode(word), EOS]])
    with torch.no_grad():
        state = speaker.encode(source)
        begin = torch.tensor([[BOS]])
        written = greedy(speaker, begin, 2 * len(word) + 8, eos=EOS, state=state).tokens
        with capture(speaker) as tape:
            speaker(torch.cat([begin, written[:, :-1]], dim=1), state)
    sounds = [phonemes.decode([token]) for token in written[0].tolist()]
    return sounds, tape["decoder.attention"][0, 0]


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
CHOICE = ["box", "enough", "knight", "phoneme", "psychology", "shakespeare"]


def spoken(word, typed):
    word = typed.strip().lower() or word
    if not re.fullmatch(r"[a-z']{1,20}", word):
        raise ValueError(f"one English word of up to 20 letters a to z, please, got {typed!r}")
    sounds, weights = pronounce(word)
    return show.attention_html(
        weights, sounds, [*word, "<eos>"], title=f"{word}: {' '.join(sounds[:-1])}"
    )


widgets.live(
    spoken,
    word=ipywidgets.ToggleButtons(
        options=CHOICE, description="word", style={"button_width": "auto"}
    ),
    typed=ipywidgets.Text(placeholder="… or type one and press Enter", continuous_update=False),
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - "box" is a word that this model never saw in training. K *and* S read the one letter "x"; and the F of "enough" reads "g",
#   of "gh". One letter may make two sounds, two letters one, some none (the "k" of "knight").
# - The lines hardly cross: sounds come in the order of their letters. Nobody told the model, it could look anywhere.
# - Try your own name, and words that are not English. It always answers.
# </details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *Four pictures of alignment in a row: take the numbers and one other, by what the room cares for. Ask each time who told the
# model where to look.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 4. Queries, keys and values
#
# A Python dictionary finds the *one* key that equals the query and returns its value. Attention is a dictionary that finds
# *every* key a little, and returns a mixture of **values**. Key and value need not be the same vector: what a word is found
# by, and what it then says, are two things. With one query per row of $Q$, one key per row of $K$, one value per row of $V$:
#
# $$\mathrm{attention}(Q, K, V) = \mathrm{softmax}\!\left(\frac{Q K^\top}{\sqrt{d}}\right) V \qquad \text{Vaswani et al. 2017, equation 1}$$
#
# In **self-attention** all three come from the *same* text. Each word is a vector $x$ (an *embedding*: a list of numbers
# learned for that word). It asks with $q = xW^Q$, is found by $k = xW^K$, and says $v = xW^V$, with three learned matrices.
# So the plain dot product hides a bilinear score: $q \cdot k' = (xW^Q)\cdot(x'W^K)$, and a word need not look for words
# like itself.
#
# A worked example. Queries and keys have $d = 64$ numbers. The first word's query meets its own key and the second word's
# key with the dot products **112** and **96**.
#
# > **Predict before you run.** What are the two weights with the division by $\sqrt{64} = 8$? And without it?

# %% slideshow={"slide_type": "fragment"}
q, k = torch.zeros(1, 64), torch.zeros(2, 64)
q[0, 0], k[0, 0], k[1, 0] = 16, 7, 6  # so that q·k1 = 112 and q·k2 = 96
print("scores           ", dot_score(q, k)[0])
print("divided by 8     ", dot_score(q, k)[0] / 8)

values = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
output, weights = scaled_dot_product_attention(q, k, values)
print("weights          ", weights[0])
print("output           ", output[0])
print("without dividing ", attend(dot_score(q, k), values)[1][0])

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer</b></summary>
#
# $112 / 8 = 14$ and $96 / 8 = 12$; $e^{14} / (e^{14} + e^{12}) = 1 / (1 + e^{-2}) = 0.88$, so **0.88 and 0.12**.
# Without the division the difference is 16 instead of 2, and $1 / (1 + e^{-16})$ is 1 to six decimals: the second word is
# shut out.
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Why $\sqrt{d}$?** If the $d$ entries of $q$ and $k$ are independent with mean 0 and variance 1, then
# $q \cdot k = \sum_{i=1}^d q_i k_i$ has variance $d$: wide vectors make large scores, and large scores make softmax a hard
# choice from the first day of training. Dividing by $\sqrt d$ brings the variance back to 1, whatever the width.
#
# > **Predict before you move the slider.** From $d = 4$ to $d = 512$: how does the largest of six weights grow, without the
# > division and with it?

# %% slideshow={"slide_type": "fragment"}
widgets.width_playground(attend)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer</b></summary>
#
# Look at the line below the bars, a mean over 200 queries. Without the division it climbs from 0.60 to 0.96; with it, it
# stays between 0.41 and 0.43.
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# The harm is in the gradient, or so Vaswani et al. suspect. We can measure it: the derivative of a softmax weight with
# respect to its own score is $\alpha (1 - \alpha)$. Near 0 and near 1 it vanishes, and what has no gradient does not learn.


# %% slideshow={"slide_type": "fragment"}
def mean_slope(d, divide):
    """The mean of α(1 − α) over 200 random queries that meet six random keys of width d."""
    draw = torch.Generator().manual_seed(d)
    queries = torch.randn(200, 1, d, generator=draw)
    scores = dot_score(queries, torch.randn(200, 6, d, generator=draw))
    _, alpha = attend(scores / math.sqrt(d) if divide else scores, torch.eye(6).expand(200, 6, 6))
    return (alpha * (1 - alpha)).mean().item()


widths = [2, 8, 32, 128, 512, 2048]
show.curves(
    widths,
    {
        "divided by √d": [mean_slope(d, True) for d in widths],
        "not divided": [mean_slope(d, False) for d in widths],
    },
    x_title="width d of queries and keys",
    y_title="mean of α(1 − α)",
    log_x=True,
    alt="The mean derivative of a softmax weight against the width d: level when scores are "
    "divided by the root of d, falling towards zero when they are not.",
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# Divided by $\sqrt d$, the curve is flat at about 0.12. Not divided, it has fallen to 0.007 at $d = 512$: sixteen times less
# to learn from. The additive score is bounded by $\sum_i |u_i|$ however wide $q$ and $k$ are; whether it saturates depends
# on the size of $u$.
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# > **What goes wrong.** Three mistakes that the assignment will catch: dividing by $d$ instead of $\sqrt d$ (weights nearly
# > equal, attention blurs); taking the softmax over the *queries* (columns sum to 1, rows do not); multiplying
# > $K Q^\top$ instead of $Q K^\top$ (the right shape when there are as many queries as keys, and wrong).

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 5. Masks: what must not be seen
#
# Some keys are not to be read. Sentences that are computed together, a **batch**, are filled up to one length with **padding**,
# which is no word. And a model that predicts the next word must not look at it: a **causal mask** hides the future. Our
# masks are boolean, `True` = *may attend*, and they combine with `&`. What is masked is left out *before* the softmax; the
# rest shares the weight.
#
# > **Predict before you click.** Under the causal mask, what stands in the first row? Under "nothing is real", where
# > all four words are padding, what do the rows sum to?

# %% slideshow={"slide_type": "fragment"}
words = ["the", "cat", "sat", "<pad>"]
scores = torch.randn(4, 4, generator=torch.Generator().manual_seed(7))
masks = {
    "none": torch.ones(4, 4, dtype=torch.bool),
    "causal": causal_mask(4),
    "padding": padding_mask(torch.tensor([3]), 4),
    "causal and padding": causal_mask(4) & padding_mask(torch.tensor([3]), 4),
    "nothing is real": padding_mask(torch.tensor([0]), 4),
}
widgets.mask_playground(attend, words, scores, masks)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - Causal: the first word can only read itself, with weight 1. Every row that may read anything still sums to 1.
# - The row of `<pad>` itself is full of numbers. Nobody reads it, so it does not matter; but a loss must not count it.
# - Nothing to read: our rows sum to 0. A plain softmax of nothing is 0/0; many a training run has died of the NaN (*not a
#   number*) that comes out.
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# > **What goes wrong.** Masking *after* the softmax looks right and is not:

# %% slideshow={"slide_type": "fragment"}
_, right = attend(scores, torch.eye(4), causal_mask(4))
_, unmasked = attend(scores, torch.eye(4))
wrong = unmasked * causal_mask(4)
print("row sums, masked before softmax:", right.sum(-1))
print("row sums, masked after softmax: ", wrong.sum(-1))

# %% [markdown] slideshow={"slide_type": "fragment"}
# The first word's weights now sum to 0.10, an amount that depends on the words it was not supposed to see: the future leaks
# into the past through the size of what is left. (Dividing each row by its sum would repair it.)

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 6. Many heads
#
# One softmax makes one choice. "it" wants to know what it refers to, *and* which verb comes next, *and* what stands beside
# it. So attention is run several times in parallel. Each **head** works in a narrow space of its own, with its own
# $W^Q_i, W^K_i, W^V_i$; the results are laid side by side and mixed by one matrix, $W^O$. With one word per row of $X$:
#
# $$\mathrm{head}_i = \mathrm{attention}(X W^Q_i,\; X W^K_i,\; X W^V_i), \qquad
#   \mathrm{output} = [\mathrm{head}_1, \mathrm{head}_2, \dots]\, W^O$$
#
# If each word's vector $x$ has `d_model` = 384 numbers, each of 12 heads works on 384 / 12 = 32 of them.
#
# > **Predict before you run.** How many parameters (learned numbers) do 12 heads have, compared with one?

# %% slideshow={"slide_type": "fragment"}
for n_heads in (1, 4, 12):
    layer = MultiHeadAttention(384, n_heads)
    size = sum(p.numel() for p in layer.parameters())
    print(f"{n_heads:2} heads of {layer.d_head:3}: {size:,} parameters")

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer</b></summary>
#
# Exactly as many: four matrices of 384 × 384, each with 384 biases, $4 \cdot (384^2 + 384) = 591{,}360$. The heads *share*
# the 384 numbers. Twelve heads make twelve choices per word with the parameters of one, each in a narrower space.
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# How it is done, with the shapes that go with it. The whole of `MultiHeadAttention`, without masks, in six lines:


# %% slideshow={"slide_type": "fragment"}
def many_heads(x, layer):
    q, k, v = layer.query(x), layer.key(x), layer.value(x)  # each (batch, time, 384)
    q, k, v = (y.unflatten(-1, (12, 32)).transpose(1, 2) for y in (q, k, v))
    mixed, _ = scaled_dot_product_attention(q, k, v)  # (batch, head, time, 32)
    joined = mixed.transpose(1, 2).flatten(2)  # (batch, time, 384): heads side by side
    return layer.output(joined)


x = torch.randn(1, 5, 384, generator=torch.Generator().manual_seed(0))  # five word vectors
print("in", tuple(x.shape), "out", tuple(many_heads(x, layer).shape))
print("the same as the library's:", torch.allclose(many_heads(x, layer), layer(x), atol=1e-5))

# %% [markdown] slideshow={"slide_type": "subslide"}
# > **What goes wrong.** Cutting `(batch, time, 384)` directly into `(batch, 12, time, 32)` with a `view` also gives the right
# > *shape*. It mixes words with heads: head 0 would get all numbers of the first words. First split the last axis, then
# > transpose.
#
# Nothing in these lines knows the *order* of the words: shuffle the rows of $X$, and the output is shuffled, nothing else.
# Word order must be put into $x$; that is the subject of the next lecture.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 7. Inside a real network
#
# A **Transformer** is a stack of such layers: attention, then a small network for each word alone, then attention again. MiniLM
# (Wang et al. 2020) is one: 6 layers of 12 heads, trained to imitate a larger network, BERT, then to compare sentences. It is
# no translator: every word simply reads the whole sentence, to the left and to the right. Its weights are on your disk, and
# it runs in our own code, the `MultiHeadAttention` of section 6. `capture` records what its heads read.

# %% slideshow={"slide_type": "fragment"}
from nlmcore.pretrained import embed, minilm

encoder, tokenizer = minilm()
sentence = "The animal did not cross the street because it was too tired."
tokens = torch.tensor([tokenizer.encode(sentence)])
with torch.no_grad(), capture(encoder) as tape:  # no_grad: we only look, we do not train
    encoder(tokens)

print(*tokenizer.pieces(sentence))
for name, weights in tape.items():
    print(name, tuple(weights.shape))

# %% [markdown] slideshow={"slide_type": "subslide"}
# The text is cut into *tokens*, here words and two marks, `[CLS]` and `[SEP]`, that BERT puts around every text. The weights
# of each layer: (batch, head, query, key). All 72 heads at a glance, one small heatmap each: dark = much weight, one row per
# word that reads, one column per word that is read, a thin diagonal where a word reads itself.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
show.head_grid(
    torch.cat(list(tape.values())),
    alt="72 small heatmaps, 6 layers of 12 heads. In layer 0, head 2 all weight lies just below "
    "the diagonal; in layer 1, head 8 just above. Many heads, above all in layers 2 to 4, have "
    "one dark first column: every word reads the mark [CLS].",
)

# %% [markdown] slideshow={"slide_type": "subslide"}
# > **Predict before you explore.** Find in the picture above a head that reads *the word before* (just left of the diagonal),
# > one that reads *the word after*, and heads that read `[CLS]` from everywhere. What could the last be good for?

# %% slideshow={"slide_type": "fragment"}
widgets.attention_explorer(
    encoder,
    tokenizer,
    [
        sentence,
        "The animal did not cross the street because it was too wide.",
        "The street was not crossed by the animal because it was too tired.",
        "She poured water from the bottle into the cup until it was full.",
        "She poured water from the bottle into the cup until it was empty.",
        "When she tried to print her tickets, the printer was out of toner.",
    ],
    layer=3,
    head=1,
    token="it",
)

# %% [markdown] slideshow={"slide_type": "skip"}
# *Rest the pointer on a word of the left column to see its row alone; click a word's button to keep it; move the sliders with
# the arrow keys; type a sentence of your own.*
#
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - Layer 0, head 2 reads the word before, with weight 1.00, in every sentence. Layer 1, head 8 reads the word after with
#   0.64 on average.
# - Layer 4, head 5 and many others park on `[CLS]`. Each row must sum to 1, even for a head that finds nothing to look for.
#   Clark et al. (2019) see this in BERT, mostly at `[SEP]`, and suspect that it means "nothing here". The next cell tests it.
# - Layer 3, head 1 links "it" to "animal" with weight 0.69.
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# **The 0.69 by hand.** Take the vectors that enter layer 3, make the query of "it" and the keys of all words for head 1 (its
# numbers 32 to 63), and do what section 4 says. In its heatmap most other words park on `[CLS]`. How long is the *value*
# vector that they get there?

# %% slideshow={"slide_type": "fragment"}
layer = encoder.layers[3].attention
entering = []  # what this layer receives
hook = layer.register_forward_pre_hook(lambda module, inputs: entering.append(inputs[0]))
with torch.no_grad():
    encoder(tokens)
    hook.remove()
    q, k = layer.query(entering[0])[0, :, 32:64], layer.key(entering[0])[0, :, 32:64]
    by_hand = torch.softmax(q @ k.T / math.sqrt(32), dim=-1)
    value_lengths = layer.value(entering[0])[0, :, 32:64].norm(dim=-1)

pieces = tokenizer.pieces(sentence)
print(f"from 'it' to 'animal':        {by_hand[pieces.index('it'), pieces.index('animal')]:.2f}")
print(f"length of the value of [CLS]: {value_lengths[0]:.2f}")
print(f"median length of the others:  {value_lengths[1:].median():.2f}")

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# The value of `[CLS]` is nearly zero: 0.20 against 3.68. What is added to a word is *weight × value*, so for a word that parks
# there the head adds almost nothing. It does mean "nothing here", and a heatmap of weights alone would have told the opposite.
# </details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *Before the next cell, let the room vote: does this head resolve "it"? Then change the sentence. Six minutes with the
# silencing after it.*

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Does layer 3, head 1 understand "it"?** Test it, do not believe the picture. Change one word, or the order, so that "it" or
# its place is another, and see whether the head follows:

# %% slideshow={"slide_type": "fragment"}
pairs = [
    ("The animal did not cross the street because it was too tired.", "animal", "street"),
    ("The animal did not cross the street because it was too wide.", "animal", "street"),
    ("The street was not crossed by the animal because it was too tired.", "animal", "street"),
    ("She poured water from the bottle into the cup until it was full.", "bottle", "cup"),
    ("She poured water from the bottle into the cup until it was empty.", "bottle", "cup"),
]
print("layer 3, head 1: weight from 'it' to …")
for text, first, second in pairs:
    with torch.no_grad(), capture(encoder) as tape:
        encoder(torch.tensor([tokenizer.encode(text)]))
    pieces = tokenizer.pieces(text)
    row = tape["layers.3.attention"][0, 1, pieces.index("it")]
    seen = {word: round(row[pieces.index(word)].item(), 2) for word in (first, second)}
    print(f"  {seen}   {text}")

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# It wavers ("tired" to "wide": from thirteen times as much on "animal" to twice as much), but its first choice does not
# change with the meaning: the same noun in both sentences of each pair. In the passive sentence it picks "street", which is
# not tired. Five sentences show that this head does not resolve "it"; they do not show what it does instead.
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# **And does the answer depend on that head?** Silence it, by setting its part of $W^O$ to zero, and compare the vector that
# MiniLM makes of the whole sentence with the original. For scale: the vector of the sentence with "wide" for "tired".

# %% slideshow={"slide_type": "fragment"}
silenced = copy.deepcopy(encoder)
silenced.layers[3].attention.output.weight.data[:, 32:64] = 0
with torch.no_grad():
    before, after = encoder(tokens)[0].mean(dim=0), silenced(tokens)[0].mean(dim=0)
tired, wide = embed([sentence, sentence.replace("tired", "wide")])
print(
    "similarity with the head silenced:", f"{torch.cosine_similarity(before, after, dim=0):.3f}"
)
print("similarity with 'wide' for 'tired':", f"{tired @ wide:.3f}")

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# 0.998 against 0.836 (1 is the same direction): one word matters; this head hardly does. A heatmap shows what a head *reads*,
# not what the answer *depends on*. Jain & Wallace (2019) found that quite different attention weights can give the same
# prediction; Wiegreffe & Pinter (2019) propose four tests of when weights may serve as an explanation all the same. (Both
# study recurrent classifiers with one attention layer.) Look first, then test.
# </details>

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 8. Pictures have positions, too
#
# Nothing in attention says that keys are words. To write a caption for a picture, Xu et al. (2015) cut it into parts, let a
# network turn each part into a vector $h_j$, and let a decoder look at *the parts*, a new mixture for every word of the
# caption: $c_i = \sum_j \alpha_{ij} h_j$ with $j$ running over places instead of words. (This weighting is their **soft
# attention**. Their **hard attention** draws one place at random.)
#
# Here is the smallest such thing. A scene has nine places; on two of them stands a handwritten digit (of the 1,797 of Alpaydin &
# Kaynak 1998). The caption names both, in reading order. The captioner knows the right words, and *nothing else*: nobody tells it
# where the digits are.

# %% slideshow={"slide_type": "fragment"}
digits = corpora.load("digits")
pixels, names = {}, {}
for part in ("train", "test"):
    documents = digits.splits[part]
    pixels[part] = torch.stack([document.image for document in documents])  # (digit, 8, 8)
    names[part] = torch.tensor([int(document.label) for document in documents])


def scenes(part, count, draw):
    """Scenes (count, place, 64), the two digits' names, and on which of the nine places they stand."""
    digit = torch.randint(len(names[part]), (count, 2), generator=draw)
    place = torch.rand(count, 9, generator=draw).argsort(-1)[:, :2].sort(-1).values
    scene = torch.zeros(count, 9, 64)
    scene[torch.arange(count).unsqueeze(1), place] = pixels[part][digit].flatten(2)
    return scene, names[part][digit], place


# %% slideshow={"slide_type": "fragment"}
class Captioner(nn.Module):
    def __init__(self, d=64):
        super().__init__()
        self.see, self.place = nn.Linear(64, d), nn.Parameter(torch.randn(9, d) / 2)
        self.score = AdditiveScore(d)
        self.word = nn.Embedding(11, 16)  # word 10: the caption begins
        self.step, self.name = GRUCell(d + 16, d), nn.Linear(d, 10)

    def forward(self, scene, words):
        h = torch.tanh(self.see(scene) + self.place)  # (scene, place, d): the memory
        keys, s = self.score.project_source(h), torch.zeros(len(h), h.shape[-1])
        said, looked = [], []
        for last in (torch.full_like(words[:, 0], 10), words[:, 0]):  # the word before
            c, alpha = attend(self.score(s, keys).unsqueeze(1), h)
            s = self.step(torch.cat([c.squeeze(1), self.word(last)], dim=-1), s)
            said.append(self.name(s))
            looked.append(alpha.squeeze(1))
        return torch.stack(said, 1), torch.stack(looked, 1)


# %% [markdown] slideshow={"slide_type": "fragment"}
# > **Predict before you run.** After 250 steps of training, a few seconds: how many of the words are right? And will the
# > attention be on the digit that is being named?

# %% slideshow={"slide_type": "fragment"}
with torch.random.fork_rng():
    torch.manual_seed(0)
    captioner = Captioner()
optimiser = torch.optim.AdamW(captioner.parameters(), lr=0.01)
schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 0.01, total_steps=250)
draw = torch.Generator().manual_seed(0)
for _ in range(250):
    scene, words, _ = scenes("train", 32, draw)
    loss = F.cross_entropy(captioner(scene, words)[0].flatten(0, 1), words.flatten())
    optimiser.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(captioner.parameters(), 1.0)
    optimiser.step()
    schedule.step()

new, words_of_new, place = scenes("test", 500, torch.Generator().manual_seed(1))
with torch.no_grad():
    said, looked = captioner(new, words_of_new)
right = (said.argmax(-1) == words_of_new).float().mean()
found = (looked.argmax(-1) == place).float().mean()
print(f"new scenes: words right {right:.0%}, most attention on the named digit {found:.1%}")

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
NAMES = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]


def caption(number):
    image = new[number].view(3, 3, 8, 8).permute(0, 2, 1, 3).reshape(24, 24)
    words = [NAMES[i] for i in said[number].argmax(-1)]
    truth = " ".join(NAMES[i] for i in words_of_new[number])
    looks = [
        (f"“{word}”", alpha.view(3, 3)) for word, alpha in zip(words, looked[number], strict=True)
    ]
    return show.scene_svg(
        image, looks, title=f"scene {number}", note=f"right: {truth}; written: {' '.join(words)}"
    )


widgets.live(caption, number=widgets.slider(0, 0, 99, 1, "scene", "460px"))

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - About nine words in ten are right, and nearly every look is at the digit that is named: reading order, and where to look,
#   were learned from captions alone. Where a word is wrong, the captioner has nearly always looked at the right place, and not
#   recognised what it saw. Find such a scene.
# - The second question is not the first: by then the state $s$ holds what was said, and asks for the next digit.
# - Xu et al. look at 196 parts of a photograph, each a vector made by a large network that was trained before.
# </details>

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 9. What it costs
#
# Encoder and decoder take $n + m$ steps for a source of $n$ and a target of $m$ words, each of about $d^2$ multiplications.
# Attention adds a score for every pair, $n \cdot m$ of them, each of about $d$ multiplications.
#
# > **Predict.** With $d = 1{,}000$: from which length on ($n = m$) do the scores cost more than the steps?

# %% slideshow={"slide_type": "fragment"}
d = 1_000
print(f"{'words n=m':>10} {'steps n+m':>10} {'scores n·m':>12} {'(n+m)·d²':>9} {'n·m·d':>9}")
for n in (10, 100, 1_000, 2_000, 5_000):
    print(f"{n:10,} {n + n:10,} {n * n:12,} {(n + n) * d * d:9.0e} {n * n * d:9.0e}")


# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer</b></summary>
#
# From $n = 2d$, 2,000 words: a sentence costs next to nothing more, a book does. Steps grow as $O(n+m)$, scores as $O(nm)$,
# in self-attention as $O(n^2)$.
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Measured.** The same on three of our own networks of width 128: a recurrent encoder and decoder that hand over one vector, the
# same two with attention, and a Transformer. One forward pass over a pair of texts of $n = m$ tokens each, on one core
# (`python -m lectures.recipes source_and_target`).
#
# > **Predict before you run.** By what factor does each of the three times grow when $n$ doubles, from 2,048 to 4,096?

# %% slideshow={"slide_type": "fragment"}
cost = json.loads(Path("results/source_and_target.json").read_text())
print(
    *(f"{cost['lines'][name]:28} {formula}" for name, formula in cost["written"].items()),
    sep="\n",
)
show.curves(
    [int(n) for n in cost["seconds"]["initial"]],
    {cost["lines"][name]: list(seconds.values()) for name, seconds in cost["seconds"].items()},
    x_title="words, n = m",
    y_title="seconds",
    log_x=True,
    log_y=True,
    alt="Seconds against length, both axes logarithmic. Without attention a straight line of slope one. "
    "The Transformer's bends upwards towards slope two; the recurrent network with attention lies above both.",
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - Without attention 2.0 times as long, as $O(n+m)$ says. With attention 2.4 times, and the Transformer 3.4 times, on its way to
#   the 4 of $O(nm)$.
# - The multiplications are counted exactly: without attention no term $nm$ stands in the formula; with it 256 $nm$, twice the
#   width.
# - The recurrent network with attention takes longer than the Transformer up to the longest texts here, though it multiplies
#   less: its steps wait for each other.
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# The price buys two things. Any two words are *one* step apart, where a recurrent network passes through every word between
# them. And in *self*-attention all scores can be computed at once, where recurrent steps must wait for each other.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Now you
#
# Write attention yourself, from the two lines of section 2, and see it beside ours. What is below is right; break it (a
# softmax without the exponential, the largest score alone, no division by the sum) and move the sliders: the picture says
# what your change does, and whether it can be seen at all.


# %% slideshow={"slide_type": "fragment"}
def my_attend(scores, values, mask=None):
    """scores (…, query, key), values (…, key, d) -> context and weights. Change this."""
    exponentials = torch.exp(scores - scores.amax(-1, keepdim=True))  # the largest is exp(0) = 1
    weights = exponentials / exponentials.sum(-1, keepdim=True)
    return weights @ values, weights


widgets.softmax_playground(
    attend, [1.5, 0.9, 0.3, -0.5], ["h1", "h2", "h3", "h4"], yours=my_attend
)

# %% [markdown] slideshow={"slide_type": "skip"}
# The other playgrounds of this lecture take `yours=my_attend` as well. One of them needs the mask, which this function does
# not look at yet: hand it to `mask_playground` and see what happens. The assignment [`exercises/attention/attention.ipynb`](../exercises/attention/attention.ipynb) lets
# you build all the rest and tells you which mistake you made.

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Check yourself
#
# 1. The scores are $2, 2, 2$. What are the weights?
# <details><summary>Answer</summary>One third each. Equal scores give equal weights, whatever they are.</details>
#
# 2. A query of width 6 and keys of width 10: which of the three scores can be used?
# <details><summary>Answer</summary>Bilinear, with W of 6 × 10, and additive. The dot product needs equal widths.</details>
#
# 3. You shuffle the words of a sentence. How does the output of self-attention, without masks and positions, change?
# <details><summary>Answer</summary>It is shuffled in the same way and otherwise the same: attention sees a set, not a
# sequence.</details>
#
# 4. The weights of a row sum to 0.7. Which mistake is likely?
# <details><summary>Answer</summary>A mask after the softmax, or softmax over the wrong axis.</details>
#
# 5. A captioner says "nine" where an eight stands, and its attention is on the eight. What has failed, and what has not?
# <details><summary>Answer</summary>It looked at the right place: attention has done its work. What it made of the pixels there, the
# vector $h_j$, or the step from $h_j$ to a word, has failed.</details>
#
# 6. A head puts 0.9 of its weight on "not". Does the model's decision depend on "not"?
# <details><summary>Answer</summary>One cannot tell from the weight: the value may be nearly zero, or the decision may come
# from elsewhere. Remove or replace the word, or silence the head, and look at the output.</details>

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Notation, words, sources
#
# | here | elsewhere | what it is |
# |---|---|---|
# | $h_j$ | $h^E_j$, $\bar h_s$, annotation | what the encoder made of source word $j$ |
# | $s_i$ | $h^D_i$, $h_t$ | the decoder's state at step $i$ |
# | $e_{ij} = \mathrm{score}(s_{i-1}, h_j)$ | energy, alignment model $a(s, h_j)$ | how well $h_j$ answers; Luong et al. ask with $s_i$, not $s_{i-1}$ |
# | $\alpha_{ij} = g(s_{i-1}, h_j)$ | $W_{ji} = g(h^E_i, x^D_j, h^D_{j-1})$, $a_t(s)$ | the weight of source word $j$ at step $i$ |
# | $\alpha$ of layer $\ell$, head $k$ | $\alpha_\ell[k, t_1, t_2]$ | the weight from position $t_1$ to $t_2$ |
# | $c_i$ | context, $c_t$ | the weighted sum |
# | $s_i = f(s_{i-1}, y_{i-1}, c_i)$ | $s_j = \mathrm{LSTM}(s_{j-1}, [x, c])$ | the decoder's step |
# | $q, k, v$ | rows of $Q, K, V$ | query, key, value |
# | $d$ | $d_k$, $I$ | width of queries and keys |
# | $W^O$ | $W^0$ | mixes the heads |

# %% [markdown] slideshow={"slide_type": "skip"}
# ### Words of this lecture
#
# - **bottleneck**: the one vector of fixed width through which everything that is known of the source must pass.
# - **encoder**: the half of a network that reads; that of Bahdanau et al. reads in both directions and joins the two states of
#   each word.
# - **decoder**: the half of a network that writes, one word at a time.
# - **context**: the vector that attention hands over, the weighted sum of the values.
# - **attention**: a weighted sum whose weights are computed from a query.
# - **score**: how well a key fits a query, before softmax; a dot product, a bilinear form or a small network.
# - **softmax**: turns scores into weights that are positive and sum to one.
# - **query**: the vector that says what is asked.
# - **key**: the vector by which something is found.
# - **value**: the vector that is returned, in proportion to its weight.
# - **self-attention**: attention whose queries, keys and values are made from one text.
# - **mask**: which keys a query may read; here True means that it may.
# - **causal mask**: the mask that hides the future: position t reads the positions up to t.
# - **padding (of a batch)**: filler that is no word and brings the texts of a batch to one length.
# - **head**: one of several attentions that run side by side, each in a narrow space of its own.
# - **alignment**: which word of one text answers which word of another.
# - **phoneme**: a sound of a language that tells words apart; English has about 40.
# - **soft attention**: a weighted sum of all places, which has a gradient; what this lecture calls attention.
# - **hard attention**: one place is drawn at random with the weights as probabilities.
# - **Transformer**: a stack of layers of self-attention, each followed by a small network for each word alone.

# %% [markdown] slideshow={"slide_type": "skip"}
# **Sources.** Sutskever, Vinyals & Le (2014), Sequence to Sequence Learning with Neural Networks. Cho et al. (2014a), Learning
# Phrase Representations using RNN Encoder–Decoder. Cho et al. (2014b), On the Properties of Neural Machine Translation.
# Bahdanau, Cho & Bengio (2015), Neural Machine Translation by Jointly Learning to Align and Translate, sections 3.1 and A.1.2,
# figure 2. Luong, Pham & Manning (2015), Effective Approaches to Attention-based Neural Machine Translation, section 3.1. Xu et
# al. (2015), Show, Attend and Tell, sections 3 and 4. Vaswani et al. (2017), Attention Is All You Need, sections 3.2.1–3.2.3.
# Clark et al. (2019), What Does BERT Look At? Jain & Wallace (2019), Attention is not Explanation. Wiegreffe & Pinter (2019),
# Attention is not not Explanation. Wang et al. (2020), MiniLM.
