# %% [markdown]
# # Attention
#
# *The animal did not cross the street because **it** was too tired.* What is "it"? You looked back at one word of the
# sentence, and you knew which one. This lecture gives a network the same ability: to look back, and to learn where.
#
# <img src="figures/11_it_reads_animal.svg" width="420" alt="Lines from each word of a sentence to the words it reads in layer 3, head 1 of MiniLM. The word 'it' is selected;
# its thickest line, weight 0.69, goes to 'animal'.">
#
# *One attention head of a real network reading that sentence. Nobody told it what "it" means. By the end you can compute
# this picture by hand, and in section 7 you explore all 72 heads of the network yourself.*
#
# **After this lecture you can**
# - say why one vector is too narrow a door between two halves of a network;
# - compute attention by hand: scores, softmax, weighted sum;
# - choose between dot-product, bilinear and additive scores;
# - explain queries, keys, values, the division by $\sqrt{d}$, masks and heads;
# - read an attention heatmap, and say what it does not prove.
#
# **You need** vectors, matrix products, the exponential function, and Python. An encoder-decoder (a network that reads a
# sentence and then writes another one) is explained where it is used. About 60 minutes. Every cell runs in under five
# seconds on a laptop, without a network connection. To lecture from this notebook: *View → Presentation Mode*.

# %% [markdown]
# **Notation.** Courses and papers write the same things differently. Find yours:
#
# | here | elsewhere | what it is |
# |---|---|---|
# | $h_j$ | $h^E_j$, $\bar h_s$, annotation | what the encoder made of source word $j$ |
# | $s_i$ | $h^D_i$, $h_t$ | the decoder's state when it writes word $i$ |
# | $\mathrm{score}(s, h_j)$ | $e_{ij}$, energy, alignment model $a(s, h_j)$ | how well $h_j$ answers |
# | $\alpha_{ij}$ | $W_{ij}$, $a_t(s)$, $\alpha[k, t_1, t_2]$ | the weight of word $j$ in step $i$ |
# | $c_i$ | context, attention vector | the weighted sum |
# | $q, k, v$ | $Q, K, V$ rows | query, key, value |
# | $d$ | $d_k$, $I$ | width of queries and keys |

# %%
import inspect
import math

import torch
from IPython.display import Code

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
from nlmcore.show import figures, widgets

torch.set_printoptions(precision=2, sci_mode=False)

# %% [markdown]
# ## 1. One vector is not enough
#
# To translate, an **encoder** reads the source one word at a time and updates a vector of numbers, its *state*
# $h_1, h_2, \dots, h_n$. A **decoder** then writes the target, one word at a time, from its own state $s_1, s_2, \dots$.
# The simplest way to join them (Sutskever et al. 2014; Cho et al. 2014): hand over the encoder's last state,
# $c = h_n$, and nothing else.

# %%
figures.encoder_decoder(
    ["the", "black", "cat"],
    ["le", "chat", "noir"],
    alt="An encoder reads 'the black cat' into states h1, h2, h3; a single vector c leads to "
    "the decoder states s1, s2, s3, which write 'le chat noir'.",
)

# %% [markdown]
# Everything that the decoder will ever know of the source must pass through $c$, whether the source has three words or
# sixty. How much fits into one vector?
#
# Try it without any training. Give each word of a vocabulary of 1,000 a random vector $w$ of $d$ numbers $\pm 1$, and each
# position a random vector $p_t$. Store a text of $n$ words in **one** vector, $m = \sum_t w_t \odot p_t$ (entry-wise
# products), and read word $t$ back as the word whose vector is most similar to $m \odot p_t$.
#
# > **Predict before you run.** With $d = 256$ numbers, how many words can be read back without an error?
# > Five? Fifty? Two hundred and fifty-six?


# %%
def read_back(n, d, keep_all, vocabulary=1000, texts=20):
    """Share of words read back right: from one vector, or from all n by attention."""
    draw = torch.Generator().manual_seed(n * d)
    words = torch.randint(0, 2, (vocabulary, d), generator=draw) * 2.0 - 1
    positions = torch.randint(0, 2, (n, d), generator=draw) * 2.0 - 1
    text = torch.randint(0, vocabulary, (texts, n), generator=draw)
    if keep_all:  # attention: ask with the position, get that word's vector
        keys = positions.expand(texts, n, d)
        answer, _ = scaled_dot_product_attention(keys, keys, words[text])
    else:  # one vector for everything
        answer = (words[text] * positions).sum(dim=1, keepdim=True) * positions
    return ((answer @ words.T).argmax(-1) == text).float().mean().item()


lengths = [1, 2, 4, 8, 16, 32, 64, 128]
kept = {}
for d in (64, 256, 1024):
    kept[f"one vector, d = {d}"] = [read_back(n, d, keep_all=False) for n in lengths]
kept["all n vectors, d = 64"] = [read_back(n, 64, keep_all=True) for n in lengths]
figures.curves(
    lengths,
    kept,
    x_title="words in the text",
    y_title="share read back right",
    log_x=True,
    alt="Share of words read back against the length of the text. One vector of 64, 256 and "
    "1024 numbers fails from about 4, 16 and 64 words on; keeping all vectors and reading"
    " by attention stays at 1.",
)

# %% [markdown]
# <details><summary><b>What to notice</b> (click after you have predicted)</summary>
#
# - With $d = 256$ it works up to 8 words; of 32 words only a third come back right. Far fewer words than numbers.
# - Four times the numbers buy about four times the words. A wider vector moves the cliff; it does not remove it.
# - The last line keeps *all* $n$ vectors, of only 64 numbers each, and picks the right one when asked. It does not fall.
#   It uses the function that this lecture is about.
# - This memory is not trained. A trained encoder packs better, because language is not random, yet it falls off the same
#   way: the translations of Cho et al. (2014b) and of the models without attention in Bahdanau et al. (2015, figure 2)
#   get worse from about 20 words on.
# </details>

# %% [markdown]
# The idea that follows from it: **do not pack. Keep all the encoder's states and let the decoder look at them.** The
# encoder becomes a read-only memory.

# %% [markdown]
# ## 2. A weighted sum of encoder states
#
# The decoder needs *one* vector at a time, of fixed width. So give it a mixture of the encoder's states:
#
# $$c_i = \sum_{j=1}^{n} \alpha_{ij}\, h_j, \qquad \alpha_{ij} \ge 0, \qquad \sum_j \alpha_{ij} = 1 .$$
#
# Could the weights $\alpha_{ij}$ be fixed numbers, learned once? No: which source word matters for the second output word
# depends on *this* sentence. The weights must be computed from what is there, $\alpha_{ij} = g(s_{i-1}, h_j)$: from what
# the decoder has in mind and what the encoder has to offer.

# %%
figures.encoder_decoder(
    ["the", "black", "cat"],
    ["le", "chat"],
    weights=[0.05, 0.10, 0.85],
    alt="To write its second word the decoder receives a context c2, a mixture of the encoder"
    " states with weights 0.05, 0.10 and 0.85: most of it is h3, the state of 'cat'.",
)

# %% [markdown]
# Two steps lead to the weights. A **score** says how well state $h_j$ fits, any real number. **Softmax** turns scores into
# weights that are positive and sum to one:
#
# $$\alpha_j = \frac{e^{s_j}}{\sum_{j'} e^{s_{j'}}}$$
#
# Take four encoder states with the scores $1.5,\; 0.9,\; 0.3,\; -0.5$.
#
# > **Predict before you run.** Which weight does the first state get: 0.30, 0.50 or 0.70? And can the last one, whose score
# > is negative, have a negative weight?

# %%
scores = [1.5, 0.9, 0.3, -0.5]
exponentials = [math.exp(s) for s in scores]
total = sum(exponentials)
weights = [e / total for e in exponentials]
print("e^s     ", [round(e, 2) for e in exponentials], " sum", round(total, 2))
print("weights ", [round(w, 2) for w in weights], " sum", round(sum(weights), 2))

# %% [markdown]
# <details><summary><b>Answer</b></summary>
#
# $4.48 / 8.90 = 0.50$. A negative score gives a small weight, $0.61 / 8.90 = 0.07$, never a negative one: $e^s > 0$.
# </details>

# %% [markdown]
# `attend` does both steps: softmax, then the weighted sum. Its whole source:

# %%
Code(inspect.getsource(attend), language="python")

# %%
states = torch.eye(4)  # four "encoder states" that are easy to tell apart
context, weights = attend(torch.tensor(scores), states)
print("weights", weights)
print("context", context)

# %% [markdown]
# > **Predict before you move anything.** (a) Add 1 to all four scores. (b) Multiply all by 3. (c) Multiply all by 0.
# > What happens to the weights each time?

# %%
widgets.softmax_playground(attend, scores, ["h1", "h2", "h3", "h4"])

# %% [markdown]
# <details><summary><b>What to notice</b></summary>
#
# - (a) Nothing: $e^{s+1} = e \cdot e^s$ and the factor $e$ cancels. Only differences between scores count.
# - (b) The largest takes nearly everything: softmax becomes a choice of one. (c) All get 0.25: a plain average.
# - Between the two lies a *soft* choice that has a derivative everywhere. That is why attention can be trained with
#   gradients, and a hard choice of one word cannot.
# </details>

# %% [markdown]
# ## 3. Three scores, side by side
#
# What is a good score for a query $q$ (what the decoder has in mind) and a key $k$ (what an encoder state offers)?
#
# | name | $\mathrm{score}(q, k)$ | to learn | source |
# |---|---|---|---|
# | **dot product** | $q \cdot k$ | nothing; both have the same width | Luong et al. 2015, section 3.1, "dot" |
# | **bilinear** | $q^\top W k$ | $W$: width of $q$ × width of $k$ | Luong et al. 2015, "general" |
# | **additive**, a small network | $v \cdot \tanh(W_q\, q + W_k\, k)$ | $W_q, W_k, v$ | Bahdanau et al. 2015, section A.1.2 |
#
# The same three queries meet the same four keys under each score:

# %%
draw = torch.Generator().manual_seed(4)
queries, keys = torch.randn(3, 8, generator=draw), torch.randn(4, 8, generator=draw)
W = torch.randn(8, 8, generator=draw) / math.sqrt(8)
W_query, W_key = torch.randn(16, 8, generator=draw), torch.randn(16, 8, generator=draw)
v = torch.randn(16, generator=draw)

three = [
    dot_score(queries, keys),
    bilinear_score(queries, keys, W),
    additive_score(queries, keys, W_query, W_key, v),
]
figures.heatmaps(
    three,
    ["dot product", "bilinear", "additive"],
    ["le", "chat", "noir"],
    ["the", "black", "cat", "."],
    alt="Three heatmaps of scores for the same three queries and four keys, under the dot "
    "product, a bilinear form and a small network. The numbers differ, since the weights "
    "here are random: each score asks another question.",
)

# %% [markdown]
# With random weights the three agree on nothing, and they need not: training shapes $W$, $W_q$, $W_k$ and $v$ until the
# score asks what is useful. In the plane one can see *which* questions each of them can ask.
#
# > **Predict before you turn the query.** Under the dot product, which direction of the query gives "idea" (lower left)
# > the largest weight? Under the bilinear score $W$ turns every key by 90° first: which direction now? What happens under
# > each score when the query's length goes to 0?

# %%
plane_keys = torch.tensor([[0.9, 0.5], [0.55, 0.95], [-1.0, 0.35], [-0.2, -1.1]])
quarter_turn = torch.tensor([[0.0, -1.0], [1.0, 0.0]])
A, B = torch.tensor([[2.0, 0.0], [0.0, 2.0], [1.0, 1.0]]), 2 * torch.eye(3, 2)
u = torch.tensor([1.5, 1.5, -1.0])
widgets.query_playground(
    attend,
    {
        "dot product: q·k": dot_score,
        "bilinear: q·Wk, W a quarter turn": lambda q, k: bilinear_score(q, k, quarter_turn),
        "additive: v·tanh(W_q q + W_k k)": lambda q, k: additive_score(q, k, A, B, u),
    },
    plane_keys,
    ["cat", "dog", "car", "idea"],
)

# %% [markdown]
# <details><summary><b>What to notice</b></summary>
#
# - **Dot product**: point the query *at* "idea" (265°). Alike attracts.
# - **Bilinear**: the same weight comes a quarter turn later (355°). $W$ lets the model look for something *other*
#   than itself: a verb for its subject, an adjective for its noun.
# - At length 0 dot and bilinear scores are all 0, the weights equal, the context a plain average. The additive score still
#   prefers some keys, whatever the query: $v \cdot \tanh(W_k k)$ does not vanish.
# - The green diamond never leaves the area that the keys span. Attention mixes values; it cannot invent one.
# </details>

# %% [markdown]
# **Which one to use?** Vaswani et al. (2017, section 3.2.1) report that additive and dot-product scores work alike for
# narrow vectors, and that dot products are far faster: all scores are *one* matrix product. They come at a price that
# section 4 pays.

# %% [markdown]
# ## 4. Queries, keys and values
#
# A Python dictionary finds the *one* key that equals the query and returns its value. Attention is a dictionary that finds
# *every* key a little, and returns a mixture of values. Key and value need not be the same vector: what a word is found
# by, and what it then says, are two things. With one query per row of $Q$, all in one line:
#
# $$\mathrm{attention}(Q, K, V) = \mathrm{softmax}\!\left(\frac{Q K^\top}{\sqrt{d}}\right) V \qquad \text{Vaswani et al. 2017, equation 1}$$
#
# In **self-attention** the three come from the *same* text: each word sends out a query $q = W^Q x$, offers a key
# $k = W^K x$, and hands over a value $v = W^V x$.
#
# A worked example. Queries and keys have $d = 64$ numbers. The first word's query meets its own key and the second word's
# key with the dot products **112** and **96**.
#
# > **Predict before you run.** What are the two weights with the division by $\sqrt{64} = 8$? And without it?

# %%
q, k = torch.zeros(1, 64), torch.zeros(2, 64)
q[0, 0], k[0, 0], k[1, 0] = 16, 7, 6  # so that q·k1 = 112 and q·k2 = 96
print("scores           ", dot_score(q, k)[0])
print("divided by 8     ", dot_score(q, k)[0] / 8)

values = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
output, weights = scaled_dot_product_attention(q, k, values)
print("weights          ", weights[0])
print("output           ", output[0])
print("without dividing ", attend(dot_score(q, k), values)[1][0])

# %% [markdown]
# <details><summary><b>Answer</b></summary>
#
# $112 / 8 = 14$ and $96 / 8 = 12$; $e^{14} / (e^{14} + e^{12}) = 1 / (1 + e^{-2}) = 0.88$, so **0.88 and 0.12**.
# Without the division the difference is 16 instead of 2, and $1 / (1 + e^{-16})$ is 1 to six decimals: the second word is
# shut out.
# </details>

# %% [markdown]
# **Why $\sqrt{d}$?** If the $d$ entries of $q$ and $k$ are independent with mean 0 and variance 1, then
# $q \cdot k = \sum_{i=1}^d q_i k_i$ has variance $d$: wide vectors make large scores, and large scores make softmax a hard
# choice from the first day of training. Dividing by $\sqrt d$ brings the variance back to 1, whatever the width.
#
# > **Predict before you move the slider.** At $d = 512$ without the division, how large is the largest of six weights?

# %%
widgets.width_playground(attend)

# %% [markdown]
# <details><summary><b>Answer</b></summary>
#
# 1.00, and 0.50 with the division. Compare the line under the bars: without the division the scores spread wider and wider
# as $d$ grows.
# </details>

# %% [markdown]
# The harm is in the gradient. The derivative of a softmax weight with respect to its own score is $\alpha (1 - \alpha)$:
# near 0 and near 1 it vanishes, and what has no gradient does not learn. Averaged over 200 random queries:


# %%
def mean_slope(d, divide):
    """The mean of α(1 − α) over 200 random queries that meet six random keys of width d."""
    draw = torch.Generator().manual_seed(d)
    queries = torch.randn(200, 1, d, generator=draw)
    scores = dot_score(queries, torch.randn(200, 6, d, generator=draw))
    _, alpha = attend(scores / math.sqrt(d) if divide else scores, torch.eye(6).expand(200, 6, 6))
    return (alpha * (1 - alpha)).mean().item()


widths = [2, 8, 32, 128, 512, 2048]
figures.curves(
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

# %% [markdown]
# <details><summary><b>What to notice</b></summary>
#
# Divided by $\sqrt d$, the curve is flat at about 0.12. Not divided, it has fallen to 0.007 at $d = 512$: seventeen times
# less to learn from. The additive score needs no such care: $\tanh$ keeps each of its terms between −1 and 1.
# </details>

# %% [markdown]
# > **What goes wrong.** Three mistakes that the assignment will catch: dividing by $d$ instead of $\sqrt d$ (weights nearly
# > equal, attention blurs); taking the softmax over the *queries* (columns sum to 1, rows do not); multiplying
# > $K Q^\top$ instead of $Q K^\top$ (the right shape when there are as many queries as keys, and wrong).

# %% [markdown]
# ## 5. Masks: what must not be seen
#
# Some keys are not to be read. Sentences in a batch are filled up to one length with *padding*, which is no word. A model
# that predicts the next word must not look at it: the future is hidden by a **causal mask**. Our masks are boolean,
# `True` = *may attend*, and they combine with `&`.
#
# > **Predict before you click.** Under the causal mask, what stands in the first row? Under "nothing is real", where
# > all four words are padding?

# %%
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

# %% [markdown]
# <details><summary><b>What to notice</b></summary>
#
# - Causal: the first word can only read itself, with weight 1. Every row still sums to 1: what is forbidden is left out
#   *before* the softmax, and the rest shares all the weight.
# - The row of `<pad>` itself is full of numbers. Nobody reads it, so it does not matter; but a loss must not count it.
# - Nothing to read gives zeros. A softmax of nothing is 0/0; many a training run has died of the NaN that comes out.
# </details>

# %% [markdown]
# > **What goes wrong.** Masking *after* the softmax looks right and is not:

# %%
_, right = attend(scores, torch.eye(4), causal_mask(4))
_, unmasked = attend(scores, torch.eye(4))
wrong = unmasked * causal_mask(4)
print("row sums, masked before softmax:", right.sum(-1))
print("row sums, masked after softmax: ", wrong.sum(-1))

# %% [markdown]
# The first word's weights now sum to less than one, by an amount that depends on the words it was not supposed to see: the
# future leaks into the past through the size of what is left.

# %% [markdown]
# ## 6. Many heads
#
# One softmax makes one choice. "it" wants to know what it refers to, *and* which verb comes next, *and* what stands beside
# it. So attention is run $h$ times in parallel, each **head** in its own narrow space with its own $W^Q_i, W^K_i, W^V_i$,
# and the results are laid side by side and mixed by one matrix:
#
# $$\mathrm{head}_i = \mathrm{attention}(X W^Q_i,\; X W^K_i,\; X W^V_i), \qquad
#   \mathrm{output} = [\mathrm{head}_1; \dots; \mathrm{head}_h]\, W^O$$
#
# With `d_model` = 384 and 12 heads, each head works on 384 / 12 = 32 numbers.
#
# > **Predict before you run.** How many times as many parameters do 12 heads have as one?

# %%
for n_heads in (1, 4, 12):
    layer = MultiHeadAttention(384, n_heads)
    size = sum(p.numel() for p in layer.parameters())
    print(f"{n_heads:2} heads of {layer.d_head:3}: {size:,} parameters")

x = torch.randn(1, 5, 384, generator=torch.Generator().manual_seed(0))  # five word vectors
print("in ", tuple(x.shape), "  out", tuple(layer(x, mask=causal_mask(5)).shape))

# %% [markdown]
# <details><summary><b>Answer</b></summary>
#
# Exactly as many. The heads *share* the 384 numbers. Twelve heads make twelve choices per word at the price of one, each
# in a narrower space.
# </details>

# %% [markdown]
# How it is done, with the shapes that every implementation has and that half of all bugs are about:

# %%
parts = (MultiHeadAttention.forward, MultiHeadAttention._split)
Code("\n".join(inspect.getsource(part) for part in parts), language="python")

# %% [markdown]
# > **What goes wrong.** Cutting `(batch, time, 384)` directly into `(batch, 12, time, 32)` with a `view` also gives the right
# > *shape*. It mixes words with heads: head 0 would get all numbers of the first words. First split the last axis, then
# > transpose.

# %% [markdown]
# ## 7. Inside a real network
#
# MiniLM (Wang et al. 2020) is a small BERT, distilled from a larger one to compare sentences: 6 layers of 12 heads, each
# word reads the whole sentence. Its weights are on your disk, and it runs in our own code: the `MultiHeadAttention` you
# have just read. `capture` records what its heads read.

# %%
from nlmcore.inspect import capture
from nlmcore.pretrained import minilm

encoder, tokenizer = minilm()
sentence = "The animal did not cross the street because it was too tired."
tokens = torch.tensor([tokenizer.encode(sentence)])
with torch.no_grad(), capture(encoder) as tape:
    encoder(tokens)

print(*tokenizer.pieces(sentence))
for name, weights in tape.items():
    print(name, tuple(weights.shape))

# %% [markdown]
# Tokens: `[CLS]` and `[SEP]` are marks that BERT puts around every text. Weights: (batch, head, query, key). All 72 heads
# at a glance, one small heatmap each, dark = much weight, rows = the word that reads:

# %%
figures.head_grid(
    torch.cat(list(tape.values())),
    alt="72 small heatmaps, 6 layers of 12 heads. Some heads show a diagonal: they read the "
    "word before or after. Many, above all in layers 2 to 4, show one dark first column: "
    "they read the mark [CLS] from everywhere.",
)

# %% [markdown]
# > **Predict before you explore.** Find in the picture above a head that reads *the word before*, one that reads *the word
# > after*, and heads that read `[CLS]` from everywhere. What could the last be good for?

# %%
widgets.attention_explorer(
    encoder,
    tokenizer,
    [
        sentence,
        "The animal did not cross the street because it was too wide.",
        "She poured water from the bottle into the cup until it was full.",
        "She poured water from the bottle into the cup until it was empty.",
        "The trophy does not fit in the suitcase because it is too big.",
        "When she tried to print her tickets, the printer was out of toner.",
    ],
    layer=3,
    head=1,
    token="it",
)

# %% [markdown]
# *Rest the pointer on a word of the left column to see its row alone; click a word's button to keep it; move the sliders with
# the arrow keys; type a sentence of your own.*
#
# <details><summary><b>What to notice</b></summary>
#
# - Layer 0, head 2 reads the word before, with weight 1.00, in every sentence. Layer 1, head 8 prefers the word after.
# - Layer 4, head 5 and many others park on `[CLS]`: a head that has nothing to look for must still spend its weight of 1
#   somewhere. Clark et al. (2019) found the same in BERT, at `[SEP]`; it reads as "nothing here".
# - Layer 3, head 1 links "it" to "animal" with weight 0.69.
# </details>

# %% [markdown]
# **Does that head understand "it"?** Test it, do not believe the picture. Change one word, so that "it" must be something
# else, and see whether the head follows:

# %%
pairs = [
    ("The animal did not cross the street because it was too tired.", "animal", "street"),
    ("The animal did not cross the street because it was too wide.", "animal", "street"),
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

# %% [markdown]
# <details><summary><b>What to notice</b></summary>
#
# The head does not follow: in both sentences of each pair it prefers the same noun. What looked like understanding is closer
# to "read the noun that the sentence is about". A heatmap shows what a head *reads*; whether the answer *depends* on it is
# another question. Jain & Wallace (2019) show that quite different attention weights can give the same prediction;
# Wiegreffe & Pinter (2019) answer with tests under which weights do explain. Look first, then test.
# </details>

# %% [markdown]
# ## 8. What it costs
#
# A decoder without attention does $n + m$ steps for a source of $n$ and a target of $m$ words: $O(n + m)$. With attention,
# every target word scores every source word: $O(nm)$. Self-attention over one text of $n$ words: $O(n^2)$.
#
# > **Predict.** A paragraph of 100 words into 100 words, and a chapter of 5,000 into 5,000: how many steps, how many scores?

# %%
print(f"{'words':>6} {'steps n+m':>10} {'scores n·m':>12}")
for n in (10, 100, 1_000, 5_000):
    print(f"{n:6,} {n + n:10,} {n * n:12,}")

# %% [markdown]
# The price buys two things. Any two words are *one* step apart, where a recurrent network needs as many steps as there are
# words between them. And all scores can be computed at once, where recurrent steps must wait for each other.

# %% [markdown]
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
# sequence. Word order must be put in; that is what position encodings are for.</details>
#
# 4. The weights of a row sum to 0.7. Which mistake is likely?
# <details><summary>Answer</summary>A mask after the softmax, or softmax over the wrong axis.</details>
#
# 5. A head puts 0.9 of its weight on "not". Does the model's decision depend on "not"?
# <details><summary>Answer</summary>One cannot tell from the weight. Remove or replace the word and look at the output.</details>

# %% [markdown]
# **Words introduced.** *Attention*: a weighted sum with weights computed from a query. *Query, key, value*: what is asked, what
# is found by, what is returned. *Score*: how well a key fits a query, before softmax. *Context*: the weighted sum. *Encoder,
# decoder*: the half that reads, the half that writes. *Self-attention*: queries, keys and values from one text. *Mask*:
# which keys may be read. *Causal mask*: not the future. *Padding*: filler that is no word. *Head*: one of several attentions
# run in parallel. *Bottleneck*: the fixed vector of section 1.
#
# **Sources.** Sutskever, Vinyals & Le (2014), Sequence to Sequence Learning with Neural Networks. Cho et al. (2014), Learning
# Phrase Representations using RNN Encoder–Decoder. Cho et al. (2014b), On the Properties of Neural Machine Translation.
# Bahdanau, Cho & Bengio (2015), Neural Machine Translation by Jointly Learning to Align and Translate, sections 3.1 and A.1.2,
# figure 2. Luong, Pham & Manning (2015), Effective Approaches to Attention-based Neural Machine Translation, section 3.1.
# Vaswani et al. (2017), Attention Is All You Need, sections 3.2.1–3.2.3. Clark et al. (2019), What Does BERT Look At?, section
# 3. Jain & Wallace (2019), Attention is not Explanation. Wiegreffe & Pinter (2019), Attention is not not Explanation. Wang et
# al. (2020), MiniLM.
#
# **Now you.** The assignment `exercises/attention/attention.ipynb` lets you build all of this and tells you which mistake you
# made. To see your own function at work in a picture of this lecture, hand it to the widget in place of ours:
# `widgets.softmax_playground(my_attend, ...)`.
