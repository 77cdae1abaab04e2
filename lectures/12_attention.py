# %% [markdown] slideshow={"slide_type": "slide"}
# # Attention
#
# *The animal did not cross the street because **it** was too tired.* What is "it"? You looked back at one word of the
# sentence, and you knew which one. How can a network look back? How does it learn where to look? And do the words that it looks at
# explain what it does?
#
# <img src="figures/it_reads_animal.svg" width="380" alt="Lines from each word of a sentence to the words it reads in layer 3, head 1 of MiniLM. The word 'it' is selected; its thickest line, weight 0.69, goes to 'animal'.">
#
# *One of the 72 attention "heads" of a real network, MiniLM, reads that sentence. Nobody told the network what "it" means. In
# section 7 you compute the weight of the thickest line, 0.69<!--[[it_to_animal:.2f]]-->, yourself, explore the other heads, and test whether this one understands anything.*

# %% [markdown] slideshow={"slide_type": "skip"}
# **After this lecture you can**
# - say when one vector is too narrow a path between two halves of a network;
# - compute attention by hand: scores, softmax, weighted sum;
# - say what a mean, fixed weights and a learned query can each find in a sentence, and choose between three scores;
# - explain queries, keys, values, the division by $\sqrt{d}$, masks and heads;
# - read an attention heatmap, of words or of a picture, and say what it does not prove.
#
# **You need** vectors, matrix products, the exponential function, and Python with PyTorch tensors. In
# [lecture 6](06_recurrent_networks.ipynb), a *recurrent network* read a text word by word and summarised it in one vector, its
# *state*; [lecture 8](08_gates.ipynb) gave it gates (LSTM and GRU are such cells). In [lecture 11](11_sequence_to_sequence.ipynb),
# two such networks translated: one read the source, and the other wrote the translation. *Learned* means that parameters are
# adjusted step by step, against the gradient of the loss ([lecture 3](03_backpropagation.ipynb)). Vectors are rows, so a matrix multiplies from
# the right, $xW$.

# %% [markdown] slideshow={"slide_type": "skip"}
# | section | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 |
# |---|---|---|---|---|---|---|---|---|---|
# | minutes | 8 | 14 | 14 | 9 | 6 | 5 | 10 | 6 | 4 |
#
# The minutes are for a class. If you work alone, with all predictions and widgets, plan two hours. To stay within an hour and a half, leave out the alignments of section 3 and sections 7 and 8.
# No cell needs a network connection. *Coming from other slides or a paper?* A
# table at the end translates their notation.

# %% [markdown] slideshow={"slide_type": "notes"}
# *If you are short of time, skip the heatmaps of section 3, its alignments, and the code of section 6.*

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "skip"}
import copy
import math
import re
from functools import lru_cache
from statistics import mean

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
from nlmcore.attention.pooling import AttentionPool, FixedPool, last_pool, mean_pool
from nlmcore.inspect import capture
from nlmcore.metrics import mean_interval
from nlmcore.metrics.significance import critical, holm, two_sided
from nlmcore.recurrent import GRUCell, LSTMCell, Recurrent
from nlmcore.seq2seq import AdditiveScore
from lectures import show, stored, widgets

torch.set_printoptions(precision=2, sci_mode=False)
torch.set_num_threads(1)  # the models here are so small that one core is quickest

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 1. One vector is not enough
#
# To translate, an **encoder** reads the *source* sentence one word at a time and updates its state, a vector
# $h_1, h_2, \dots, h_n$. A **decoder** then writes the *target* sentence, one word at a time, from its own state $s_1, s_2, \dots$. The simplest way
# to join them (Sutskever et al. 2014; Cho et al. 2014a) is to pass on only the encoder's last state, the **context** $c = h_n$.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
HTML(
    show.encoder_decoder_svg(
        ["the", "black", "cat"],
        ["le", "chat", "noir"],
        alt="An encoder reads 'the black cat' into states h1, h2, h3; a single vector c leads to the decoder. Its state s1 "
        "reads <bos> and writes 'le'; s2 reads 'le' and writes 'chat'; s3 reads 'chat' and writes 'noir'.",
    )
)

# %% [markdown] slideshow={"slide_type": "subslide"}
# Everything that the decoder will ever know about the source must pass through $c$, whether the source has three words or
# sixty. This is a **bottleneck**. How much fits into one vector?
#
# Try it without any training. Give each word of a vocabulary of 1,000 a random vector $w$ of $d$ values $\pm 1$, and each
# position $t$ of a text a random vector $p_t$. Store a text of $n$ words in **one** vector, $m = \sum_t w_t \odot p_t$
# ($\odot$ multiplies entry by entry), and read word $t$ back as the word whose vector is most similar to $m \odot p_t$.


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
def read_back(n, d, keep_all, vocabulary=1000, texts=20):
    """Fraction of words read back correctly: from one vector, or from n vectors that are all kept."""
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
half_lost = [  # for each width, at how many words
    next(n for n, share in zip(lengths, kept[f"one vector, d = {d}"], strict=True) if share < 0.5)
    for d in (64, 256, 1024)
]

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
without_error = [
    n for n, share in zip(lengths, kept["one vector, d = 256"], strict=True) if share > 0.99
]
show.predict(
    "With $d = 256$ dimensions, how many words can you read back without an error?",
    choices={"about eight": 8, "about fifty": 50, "about 256": 256},
    answer=max(without_error),
    why="The vector holds far fewer words than it has dimensions. Compare the three widths.",
    reveals=show.curves(
        lengths,
        kept,
        x_title="words in the text",
        y_title="fraction read back correctly",
        log_x=True,
        alt="Fraction of words read back correctly against the length of the text. One vector of 64, 256 and "
        "1024 dimensions fails from about 4, 16 and 64 words onwards; keeping all vectors stays at 1.",
    ),
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - You can read back about eight<!--[[words(max(without_error))]]--> words without an error, and only a third<!--[[? abs(kept["one vector, d = 256"][lengths.index(32)] - 1 / 3) < 0.05]]--> of 32 words.
# - Four times the dimensions hold about four times the words<!--[[? half_lost == [8, 32, 128]]]-->.
# - The line for *all* $n$ vectors does not fall<!--[[? set(kept["all n vectors, d = 64"]) == {1.0}]]-->. This memory has $64\,n$ values. One vector of that width
#   suffices as well<!--[[? min(read_back(n, 64 * n, keep_all=False) for n in (8, 16, 32, 64)) > 0.99]]-->, but a network's vector has *one* width, which you choose before you see the sentence.
# - Nothing here is trained, and random words are harder to pack than language. Among trained encoders, those of Cho et al. (2014b)
#   and the models without attention in Bahdanau et al. (2015, figure 2) get worse on long sentences. Sutskever et al. (2014, figure 3),
#   with a deep network that read its source backwards, saw only a minor degradation on the longest ones. Bahdanau et al. *conjectured* that the one vector is
#   to blame.
# </details>
#
# **A wider vector fails later, but it still fails. A memory of all states grows with the text.**

# %% [markdown] slideshow={"slide_type": "notes"}
# *8 minutes. Let the room vote on eight, fifty or 256. What goes wrong: they object that a trained network packs better. That may well
# be; ask what happens when the text gets longer again.*

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Do not pack the text into one vector. Keep all the encoder's states, and let the decoder read them.** The encoder becomes a read-only memory.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 2. A weighted sum of encoder states
#
# **We begin without a decoder**, with one question and an answer of one word. Hindi marks the person who acts with *ne*, and the
# person who is affected with *ko*: राम ने रावण को मारा (*Ram ne Ravan ko mara*) means "Ram killed Ravana". Each name comes
# before its marker, the two pairs of name and marker may swap, and words such as *kal*, "yesterday", may come first. *Who did it?*
#
# Each word has a state $h_j$, here simply a vector for the word plus a vector for the next word. We compare four ways to make
# one vector out of the $n$ states:
#
# | way | $c$ | what is learned |
# |---|---|---|
# | mean | $\frac1n \sum_j h_j$ | nothing |
# | last state | $h_n$ | nothing |
# | fixed weights | $h_1 W_1 + h_2 W_2 + \dots + h_n W_n$ | one matrix for each *position* |
# | a learned **query** | $\sum_j \alpha_j h_j$, with $\alpha_j \propto \exp(q \cdot h_j)$ | one vector $q$ |


# %% slideshow={"slide_type": "fragment"}
class WhoDidIt(nn.Module):
    def __init__(self, pool, d=32, squash=lambda h: h):
        super().__init__()
        self.word, self.after = nn.Embedding(19, d), nn.Embedding(19, d)
        self.squash, self.pool, self.name = squash, pool, nn.Linear(d, 12)

    def forward(self, tokens, mask):
        after = torch.cat([tokens[:, 1:], torch.full_like(tokens[:, :1], 18)], 1)  # 18: the end
        h = self.squash(self.word(tokens) + self.after(after))  # (batch, time, d)
        return self.name(self.pool(h, mask))  # one vector, then a name


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "skip"}
pools = {
    "mean": lambda: mean_pool,
    "last state": lambda: last_pool,
    "fixed weights": lambda: FixedPool(32, max_length=8),
    "a learned query": lambda: AttentionPool(32),
}
NE, KO, KILLED, EARLY = 12, 13, 14, (15, 16, 17)  # 0 to 11 are names


def hindi_sentences(count, free, draw):
    """Tokens, a mask, and who did it; free: either pair first, after up to three other words."""
    rows, doers = [], []
    for _ in range(count):
        who, whom = torch.randperm(12, generator=draw)[:2].tolist()
        swapped, early = (
            torch.randint(2, (1,), generator=draw),
            torch.randint(4, (1,), generator=draw),
        )
        pairs = [who, NE, whom, KO] if not free or swapped else [whom, KO, who, NE]
        rows.append([*(EARLY[: int(early)] if free else ()), *pairs, KILLED])
        doers.append(who)
    tokens, mask = corpora.pad(rows)
    return tokens, mask, torch.tensor(doers)


def trained_pool(make, free, steps=400, **more):
    """The trained model, and its accuracy on 1,000 new sentences."""
    tokens, mask, doers = hindi_sentences(2000, free, torch.Generator().manual_seed(0))
    new = hindi_sentences(1000, free, torch.Generator().manual_seed(1))
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = WhoDidIt(make(), **more)
    optimiser, draw = (
        torch.optim.AdamW(model.parameters(), 0.01),
        torch.Generator().manual_seed(2),
    )
    for _ in range(steps):
        batch = torch.randint(len(doers), (64,), generator=draw)
        loss = F.cross_entropy(model(tokens[batch], mask[batch]), doers[batch])
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    with torch.no_grad():
        return model, float((model(*new[:2]).argmax(-1) == new[2]).float().mean())


pooled = {
    name: [trained_pool(make, free) for free in (False, True)] for name, make in pools.items()
}
names_found = {name: [100 * accuracy for _, accuracy in of] for name, of in pooled.items()}
squashed = [  # a control: the mean and the fixed weights, of states that pass through a tanh
    100 * trained_pool(pools[way], True, squash=torch.tanh)[1]
    for way in ("mean", "fixed weights")
]
ram_ne = [0, NE, 1, KO, KILLED]
with torch.no_grad(), capture(pooled["a learned query"][1][0]) as tape:
    pooled["a learned query"][1][0](torch.tensor([ram_ne]), torch.ones(1, 5, dtype=torch.bool))
(looks_at,) = tape.values()

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
show.predict(
    f"If all sentences have one order, fixed weights name the right one of 12 people in {names_found['fixed weights'][0]:.0f} % of new sentences. How often are they right when the pairs may swap and up to three words may come first?",
    choices={"about 100 %": 100, "about 50 %": 50, "about 8 %, which is chance": 8},
    answer=names_found["fixed weights"][1],
    unit=" %",
    why="A weight that belongs to a position stays there when the name moves.",
    reveals=[
        show.heatmaps(
            [torch.tensor(list(names_found.values()))],
            ["right on new sentences, %"],
            list(names_found),
            ["one order", "any order"],
            alt="; ".join(
                f"{name}: {a:.0f} and {b:.0f} percent" for name, (a, b) in names_found.items()
            ),
            row_title="from many vectors to one",
            column_title="sentences",
        ),
        HTML(
            show.attention_html(
                looks_at.reshape(1, -1),
                ["who?"],
                ["राम", "ने", "रावण", "को", "मारा"],
                title="the learned query",
            )
        ),
    ],
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# **Fixed weights say where to look, a query says what to look for.** Where the order is free, the mean and the fixed weights do no better with these states than
# a guess between the two names<!--[[? all(45 < names_found[way][1] < 56 for way in ("mean", "fixed weights"))]]-->. The query finds the name in 100<!--[[names_found["a learned query"][1]:.0f]]--> % of the sentences. (One run each.)
#
# **A query is one way to find the name, not the only one.** These states are sums of word vectors, so their mean does not show which marker follows
# which name. If each state first passes through a tanh, the mean does show it. It then gives the right name in 100<!--[[squashed[0]:.0f]]--> % of the sentences, and so do the fixed weights<!--[[? squashed[1] > 99]]-->. A recurrent encoder
# may also learn to carry the name to its last state, as in [lecture 11](11_sequence_to_sequence.ipynb).

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Now the decoder.** At *every* step $i$ it needs one vector, a different one each time:
#
# $$c_i = \sum_{j=1}^{n} \alpha_{ij}\, h_j, \qquad \alpha_{ij} \ge 0, \qquad \sum_j \alpha_{ij} = 1,
#   \qquad s_i = f(s_{i-1},\, y_{i-1},\, c_i).$$
#
# The decoder computes its next state $s_i$ from its previous state, the previous word $y_{i-1}$, and this context. One learned
# query is not enough, because the question changes from word to word. So the decoder's previous state *is* the query. With this
# query each encoder state gets a **score** $e_{ij} = g(s_{i-1}, h_j)$, and the scores of all states together give the weights.
#
# In *cross-attention* the query comes from one text, and the states come from a second one; in **self-attention** (section 4)
# both come from one text. Authors differ in the details. The query may be $s_{i-1}$, $s_i$, or the embedding $e(w)$ of the previous
# word. The next word may be predicted from $s_i$, as $\mathrm{softmax}(\mathrm{MLP}(s_i))$, or from $s_i$ and $c_i$.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
HTML(
    show.encoder_decoder_svg(
        ["the", "black", "cat"],
        ["le", "chat"],
        weights=[0.05, 0.10, 0.85],
        alt="Before the decoder writes its second word, its first state asks and receives a context c2, a mixture of the "
        "encoder states with weights 0.05, 0.10 and 0.85: most of it is h3, 'cat'. The second state reads c2 and 'le'.",
    )
)

# %% [markdown] slideshow={"slide_type": "subslide"}
# *(The weights in that picture are made up.)* Two steps lead to the weights. A **score** $e_j$, which may be any real number, says how well
# state $h_j$ fits the query. **Softmax** turns all scores into weights that are positive and sum to one:
#
# $$\alpha_j = \frac{\exp e_j}{\sum_{j'} \exp e_{j'}}$$
#
# Take four encoder states with the scores $1.5,\; 0.9,\; 0.3,\; -0.5$.

# %% slideshow={"slide_type": "fragment"}
scores = [1.5, 0.9, 0.3, -0.5]
exponentials = [math.exp(e) for e in scores]
total = sum(exponentials)
shares = [x / total for x in exponentials]

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
rows = {"exp(e)": [*exponentials, total], "weights": [*shares, sum(shares)]}
softmax = show.table(
    [(name, *(f"{x:.2f}" for x in row)) for name, row in rows.items()],
    ["", "state 1", "state 2", "state 3", "state 4", "sum"],
)
show.predict(
    "Which weight does the first state get?",
    choices={"0.30": 0.3, "0.50": 0.5, "0.70": 0.7},
    answer=shares[0],
    why="It is exp(1.5) divided by the sum of the four exponentials.",
    reveals=softmax,
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>The answer explained</b></summary>
#
# The first state gets $4.48 / 8.90 = 0.50$<!--[[? f"{exponentials[0]:.2f} / {total:.2f} = {shares[0]:.2f}" == "4.48 / 8.90 = 0.50"]]-->. A negative score gives a small weight, $0.61 / 8.90 = 0.07$<!--[[? f"{exponentials[3]:.2f} / {total:.2f} = {shares[3]:.2f}" == "0.61 / 8.90 = 0.07"]]-->, never a negative one, because the exponential
# is positive.
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# That is all of attention: a softmax, then a weighted sum. Here it is in two lines:


# %% slideshow={"slide_type": "fragment"}
def attend_in_two_lines(scores, values):
    weights = torch.softmax(scores, dim=-1)
    return weights @ values, weights


states = torch.eye(4)  # four "encoder states" that are easy to tell apart
other_scores = [1.0, 0.5, 0.0, -0.5]
context, weights = attend_in_two_lines(torch.tensor(other_scores), states)
print("weights", weights)
print("context", context)

# %% [markdown] slideshow={"slide_type": "subslide"}
# `nlmcore.attention.attend` does the same, with a mask (section 5) and with helpful errors for wrong shapes. From here on we use it.
# Move the sliders. What happens to the weights if you add 1 to all four scores, if you multiply all of them by 3, and if you multiply
# them by 0?

# %% slideshow={"slide_type": "fragment"}
widgets.softmax_playground(attend, other_scores, ["h1", "h2", "h3", "h4"])

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - Adding 1 changes nothing, because $\exp(e+1) = \exp(1) \exp(e)$ and the factor cancels. Only differences between scores count.
# - At a factor of 3 the first state gets a weight of 0.78<!--[[torch.softmax(3 * torch.tensor(other_scores), -1)[0]:.2f]]-->.
# - At a factor of 8 it gets 0.98<!--[[torch.softmax(8 * torch.tensor(other_scores), -1)[0]:.2f]]-->: softmax becomes a choice of one state.
# - At 0 all
#   get 0.25, and the context is an average.
# - Between these extremes softmax is a *soft* choice, with a derivative that training can use. A hard choice of
#   one state has a derivative of zero almost everywhere and needs other methods (Xu et al. 2015 sample it to caption images).
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Nearly the published version, written out.** In Bahdanau et al. (2015) the encoder reads the sentence *twice*, from the left and from
# the right ([lecture 6](06_recurrent_networks.ipynb) calls that bidirectional), and joins the two states of each word,
# $h_j = [\overrightarrow{h}_j; \overleftarrow{h}_j]$, so that $h_j$ knows the words on both sides of word $j$. Their decoder is a GRU with the additive score of section 3. We take an LSTM and the bilinear score of that section.
# With the previous word's vector $x$, the decoder's step is
#
# $$c_i = \sum_j \alpha_{ij}\, h_j, \qquad s_i = \mathrm{LSTM}(s_{i-1},\; [x, c_i]).$$
#
# Take a source of five words, states of width 6 in each direction, and word vectors of width 3.

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
# <details><summary><b>What to notice</b></summary>
#
# $h$ has the shape (1, 5, 12)<!--[[? h.shape == (1, 5, 12)]]-->, with 6 dimensions from each direction. $c$ has the shape (1, 12)<!--[[? c.shape == (1, 12)]]-->, and $[x, c]$ has 15<!--[[3 + c.shape[-1]]]--> dimensions.
# The loop reads $h$ at every step and never writes it: **the encoder is a read-only memory.** Only the question changes from step
# to step. (`nlmcore.seq2seq` has such decoders with learned weights; the translators of the next section use them.)
# </details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *14 minutes, five of them before the decoder. Compute one softmax by hand. Then show the picture, cover c₂ and ask where the weights
# come from. What goes wrong: they think that the weights are parameters. Ask what would then be the same for every sentence.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 3. Three scores, side by side
#
# What is a good score for a **query** $q$ (the question, here the decoder's state) and a **key** $k$ (what the question is compared with, here an encoder state)?
#
# | name | $\mathrm{score}(q, k)$ | learned | source |
# |---|---|---|---|
# | **dot product** | $q \cdot k$ | nothing (but both must have the same width) | Luong et al. 2015, section 3.1, "dot" |
# | **bilinear** | $q W \cdot k$ | $W$: width of $q$ × width of $k$ | Luong et al. 2015, "general" |
# | **additive**, a small network | $\tanh(q A + k B) \cdot u$ | $A$, $B$, $u$ | Bahdanau et al. 2015, section A.1.2 |
#
# The pictures show each score for the same three random queries and the same four random keys:

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
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
    "negative. The dot product, the bilinear form and the small network give different scores.",
)

# %% [markdown] slideshow={"slide_type": "subslide"}
# With random weights the three scores need not agree. With
# vectors in the plane you can see which keys each score favours.
#
# > **Ask yourself.** Under the dot product, which direction of the query gives "idea" (at the bottom)
# > the largest weight? Under the bilinear score $W$ first rotates every key by 90°. Which direction is best now? What happens under
# > each score when the query's length goes to 0?

# %% slideshow={"slide_type": "fragment"}
plane_keys = torch.tensor([[0.9, 0.5], [0.55, 0.95], [-1.0, 0.35], [-0.2, -1.1]])
quarter_turn = torch.tensor([[0.0, -1.0], [1.0, 0.0]])
A2 = torch.tensor([[2.0, 0.0], [0.0, 2.0], [1.0, 1.0]])
B2, u2 = 2 * torch.eye(3, 2), torch.tensor([1.5, 1.5, -1.0])
scores_of = {
    "dot product: q·k": dot_score,
    "bilinear: qW·k, W a quarter turn": lambda q, k: bilinear_score(q, k, quarter_turn),
    "additive: tanh(qA + kB)·u": lambda q, k: additive_score(q, k, A2, B2, u2),
}
widgets.query_playground(attend, scores_of, plane_keys, ["cat", "dog", "car", "idea"])

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "skip"}
degrees = torch.arange(0, 360, 5)  # as on the slider
around = 1.5 * torch.stack([degrees.deg2rad().cos(), degrees.deg2rad().sin()], dim=-1)


def towards_idea(scores):
    """The query's direction in which "idea" has the largest weight."""
    return int(degrees[attend(scores, plane_keys)[1][:, 3].argmax()])


# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - **Dot product**: point the query towards "idea", at 265<!--[[towards_idea(dot_score(around, plane_keys))]]-->° on the slider. (The key is at 260°; turning slightly past it lowers the
#   other scores more.)
# - **Bilinear**: rotate the query by another 90° to get the same weight (355<!--[[towards_idea(bilinear_score(around, plane_keys, quarter_turn))]]-->°). $W$ lets the model look for something *other* than the
#   query itself: a verb could look for its subject, an adjective for its noun.
# - At length 0 all dot-product and bilinear scores are 0, so the weights are equal and the context is a plain average. The additive
#   score still prefers some keys, because $\tanh(kB) \cdot u$ does not vanish.
# - The green diamond never leaves the quadrilateral with the keys as corners (their convex hull). Attention mixes values;
#   it cannot invent one.
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Which one should you use?** Vaswani et al. (2017, section 3.2.1) prefer the dot product, because for all queries and keys it is
# *one* matrix product, much faster in practice than a small network for every pair. They add that the two scores do about equally
# well for narrow vectors. For wide ones the additive score does better, unless the dot product is *scaled* (section 4).

# %% [markdown] slideshow={"slide_type": "slide"}
# ### Does it help? Measured
#
# We return to the numbers of [lecture 11](11_sequence_to_sequence.ipynb): translators turn English words into German words, and
# BLEU is at most 100. All three translators here read a context at every step. Each was trained with five seeds, on 20,000 numbers of up
# to 12 words, for 3,000 steps. Their numbers of parameters are equal within 2 %<!--[[? max(sizes_of.values()) < 1.02 * min(sizes_of.values())]]-->.
#
# - **One vector**: the context is always $c = h_n$. Of the four translators with one vector in that lecture, this is the best from 15 words onwards<!--[[? all(max(by_one_vector["bleu"], key=lambda way: mean(by_one_vector["bleu"][way][at])) == "every step" for at in lengths_of_numbers[4:])]]-->.
# - **Even weights**: the context is the mean of *all* states, $\alpha_{ij} = 1/n$.
# - **Attention**: the context is $c_i$, by the additive score.
#
# (`python -m lectures.recipes thought_vector` and `equal_size` train them again.)

# %% slideshow={"slide_type": "fragment"}
from lectures.trained import checkpoint

by_one_vector, equal = stored("thought_vector"), stored("equal_size")
by_length = {  # translator -> length -> BLEU of each seed
    "one vector": by_one_vector["bleu"]["every step"],
    "all states, even weights": equal["bleu"]["even weights"],
    "attention": equal["bleu"]["attention"],
}
lengths_of_numbers = list(equal["bleu"]["attention"])

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
one_vector, evenly, with_attention = by_length.values()
chosen = equal["ahead"]["attention"]
beyond = mean_interval(  # of five seeds: even weights minus one vector, the mean over all lengths from 15 words onwards
    [
        mean(evenly[at][seed] - one_vector[at][seed] for at in lengths_of_numbers[4:])
        for seed in range(5)
    ]
)
longer = stored("quality_by_length")["lines"]["attention, trained on up to 20 words"]["27-29"]
sizes_of = {
    "one vector": equal["parameters_of_one_vector"],
    **{name: row["parameters"] for name, row in equal["rows"].items()},
}


def differ(ahead):
    """The lengths at which five paired seeds show a difference, corrected for all nine lengths (Holm)."""
    p = {
        at: two_sided(abs(row["mean"]) / row["half"] * critical(4), 4) if row["half"] else 1.0
        for at, row in ahead.items()
    }
    return [at for at, corrected in holm(p).items() if corrected < 0.05]


show.predict(
    f"At 15 to 17 words, longer than any in training, the translator with one vector has a BLEU of {mean(one_vector['15-17']):.0f}. What does the one with *even weights* have, which reads all states at every step?",
    choices={"about 50": 50, "about 70": 70, "about 85": 85, "about 100": 100},
    answer=mean(evenly["15-17"]),
    why="Compare this translator with the one with attention, which is about as large.",
    reveals=HTML(
        show.bands_svg(
            [4, 7, 10, 13, 16, 19, 22, 25, 28],
            {
                name: [list(seed) for seed in zip(*of.values(), strict=True)]
                for name, of in by_length.items()
            },
            x_title="English words in the number",
            y_title="BLEU",
            low=0,
            high=100,
            alt="Quality of translation against length, mean and range of five seeds each, all trained on up to 12 words. "
            + "; ".join(
                f"{name}: " + ", ".join(f"{at} words {mean(bleu):.0f}" for at, bleu in of.items())
                for name, of in by_length.items()
            ),
        )
    ),
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - Up to 11 words all three are nearly perfect, with BLEU above 98<!--[[? min(mean(of[at]) for of in by_length.values() for at in ("3-5", "6-8", "9-11")) > 98]]-->. So one vector is wide enough for *these* numbers.
# - At 15 to 17 words attention has 99<!--[[mean(with_attention["15-17"]):.0f]]-->, which is 31<!--[[chosen["15-17"]["mean"]:.0f]]--> ± 3<!--[[chosen["15-17"]["half"]:.0f]]--> above one vector, seed by seed. At 18 to 20 words it is 39<!--[[chosen["18-20"]["mean"]:.0f]]--> ± 5<!--[[chosen["18-20"]["half"]:.0f]]--> above it. From 9 words onwards
#   attention is better at every length, also after a correction for nine lengths<!--[[? differ(chosen) == lengths_of_numbers[2:]]]-->.
# - Averaged over all lengths from 15 words onwards, even weights are 4<!--[[-beyond[0]:.0f]]--> ± 3<!--[[beyond[1]:.0f]]--> below one vector.
# - Attention falls as well, to 68<!--[[mean(with_attention["27-29"]):.0f]]--> at 27 to 29 words. Another translator with attention, trained on up to 20 words, has 95<!--[[longer["bleu"]:.0f]]--> there (one run).
# </details>
#
# **Beyond the lengths of training attention helps; the mean of all states does not.** All three were trained at the learning rate that was best for one vector.

# %% [markdown] slideshow={"slide_type": "subslide"}
# And where does a translator with attention look? (This one was trained on up to 20 words.) Move the slider. The left column has the words that the decoder writes, the right column the words
# that it reads for each of them.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
from nlmcore.decoding import greedy
from lectures.recipes.pairs import load_dictionary
from lectures.recipes.pairs import english as in_words

translator, (english, german), card = checkpoint("numbers_attention_20")
BOS, EOS = 1, 2


def aligned(number):
    """German parts, English words, and the weights (German, English) behind each written part."""
    words = in_words(number)
    source = torch.tensor([[*english.encode(words), EOS]])
    with torch.no_grad():
        state = translator.encode(source)
        written = greedy(translator, torch.tensor([[BOS]]), 40, eos=EOS, state=state).tokens
        with capture(translator) as tape:  # read the output once more, and look
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
# The lines cross at "fünf und sechzig" and "ein und zwanzig". Nobody told the model which word belongs to which, nor that German swaps
# tens and units. Training on pairs of sentences was enough. At the step that writes `<eos>` the weights are spread out.
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# **How many lines cross in other languages?** Hindi puts the verb last, and says *market in* for "in the market". Below is a sentence
# with its English translation. We drew its **alignment** by hand; it shows which word corresponds to which.

# %% slideshow={"slide_type": "fragment"}
hindi = ["rām", "ne", "kal", "bāzār", "mẽ", "ek", "kitāb", "kharīdī"]
meaning = ["Ram", "bought", "a", "book", "in", "the", "market", "yesterday"]
# Hindi word -> English word; "ne" only marks who did it
answers = {0: 0, 2: 7, 3: 6, 4: 4, 5: 2, 6: 3, 7: 1}


def crossings(read):
    """How many pairs of lines cross, if output word i reads source word read[i]."""
    return sum(a > b for i, a in enumerate(read) for b in read[i + 1 :])


parts, _, german_weights = aligned(465_721)

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
crossed = {
    "the Hindi sentence": crossings(list(answers.values())),
    "the German number, 465,721": crossings(german_weights[:-1].argmax(-1).tolist()),
}
by_hand_links = torch.zeros(len(hindi), len(meaning))
by_hand_links[list(answers), list(answers.values())] = 1
HTML(show.attention_lines_svg(by_hand_links, hindi, meaning))

# %% [markdown] slideshow={"slide_type": "fragment"}
# In this sentence 14<!--[[crossed["the Hindi sentence"]]]--> pairs of lines cross, in the German number 4<!--[[crossed["the German number, 465,721"]]]-->. In the number only neighbours are swapped. In the sentence
# the verb moves from the second position to the end, and *yesterday* from the end to the third position. For attention a long line
# costs no more than a short one. A single vector must hold the verb until everything else has been said.

# %% [markdown] slideshow={"slide_type": "subslide"}
# **From letters to sounds.** Turning English spelling into sounds is a translation problem as well. We trained a model with attention (bidirectional
# encoder, bilinear score) on 112,397 words of a dictionary. It reads letters and writes **phonemes** (sounds). On held-out words 8.08<!--[[heard["attention"]["phoneme_error_rate"]]]--> % of
# its phonemes are wrong; with one vector, 11.62<!--[[heard["one vector"]["phoneme_error_rate"]]]--> % are wrong. (One run each; `python -m lectures.recipes pronunciation`.)

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


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
heard = stored("pronunciation")["here"]
sounds, reads = pronounce("box")
box_is_new = "box" not in load_dictionary().train


def read_by(sound, word):
    """The letter that gets most weight when the model writes this sound of a word."""
    written, weights = pronounce(word)
    return [*word, "<eos>"][int(weights[written.index(sound)].argmax())]


show.predict(
    "“box” has four sounds, B AA K S, and three letters. Which letter does the S read?",
    choices=["b", "o", "x", "none: the end of the word"],
    answer=[*"box", "none: the end of the word"][int(reads[sounds.index("S")].argmax())],
    why="One letter may make two sounds. Now look at the F of “enough”, and look for the “k” of “knight”:",
    reveals=widgets.live(
        spoken,
        word=ipywidgets.ToggleButtons(
            options=CHOICE, description="word", style={"button_width": "auto"}
        ),
        typed=ipywidgets.Text(
            placeholder="… or type one and press Enter", continuous_update=False
        ),
    ),
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - The model never saw the word "box" in training<!--[[? box_is_new]]-->. Both K and S read the letter "x"<!--[[? read_by("K", "box") == read_by("S", "box") == "x"]]-->. The F of "enough" reads the "g" of "gh"<!--[[? read_by("F", "enough") == "g"]]-->. No sound reads
#   the "k" of "knight"<!--[[? pronounce("knight")[1][:, 0].max() < 0.01]]-->.
# - The lines hardly cross. Sounds come in the order of their letters, although the model could look anywhere.
# - Try your own name, and words that are not English. The model always answers.
# </details>

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
wrong_sounds = {
    kind: [100 * share for share in by_letters.values()]
    for kind, by_letters in stored("sounds_by_length")["wrong"].items()
}
without_attention = sum(p.numel() for p in checkpoint("pronunciation_initial")[0].parameters())
larger = sum(p.numel() for p in speaker.parameters()) / without_attention
show.curves(
    range(5),
    wrong_sounds,
    x_title="letters: " + ", ".join(stored("sounds_by_length")["words"]),
    y_title="wrong phonemes, %",
    alt="Percentage of wrong phonemes against the length of the word, on the same words: with one vector it doubles from the "
    "shortest to the longest words; with attention it rises by a fifth.",
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# **With one vector the error rate doubles from the shortest words to the longest. With attention, on the same words, it grows by a fifth<!--[[? 0.17 < wrong_sounds["attention"][-1] / wrong_sounds["attention"][0] - 1 < 0.23]]-->.** The rate rises from 8.8<!--[[wrong_sounds["one vector"][0]:.1f]]--> to 17.7<!--[[wrong_sounds["one vector"][-1]:.1f]]--> %
# without attention and never exceeds 8.4<!--[[max(wrong_sounds["attention"]):.1f]]--> % with it. (One run each, every third test word; the network with attention has 1.9<!--[[larger:.1f]]--> times
# as many parameters. `python -m lectures.recipes one_vector` repeats the count.)

# %% [markdown] slideshow={"slide_type": "notes"}
# *14 minutes. Of the three alignments show the numbers and one other, whichever suits the room. Ask each time who told the model where
# to look. What goes wrong: they read an alignment as an explanation; section 7 returns to that.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 4. Queries, keys and values
#
# A Python dictionary finds the *one* key that equals the query and returns its value. Attention is a soft dictionary: every key
# matches to some degree, and attention returns a mixture of the **values**. Key and value need not be the same vector: the key is
# for finding a word, and the value is its message. With one query per row of $Q$, one key per row of $K$ and one value per row of
# $V$,
#
# $$\mathrm{attention}(Q, K, V) = \mathrm{softmax}\!\left(\frac{Q K^\top}{\sqrt{d}}\right) V \qquad \text{Vaswani et al. 2017, equation 1}$$
#
# In **self-attention** all three come from the *same* text. Each word is a vector $x$ (an *embedding*, learned for that word). It asks with $q = xW^Q$, is found by $k = xW^K$, and says $v = xW^V$, with three learned matrices.
# So the plain dot product hides a bilinear score: $q \cdot k' = (xW^Q)\cdot(x'W^K)$, and a word need not look for words
# like itself.
#
# Here is a worked example from Alammar (2018). Queries and keys have $d = 64$ dimensions. The first word's query has the dot
# products **112** with its own key and **96** with the second word's key.

# %% slideshow={"slide_type": "fragment"}
worked_q, worked_k = torch.zeros(1, 64), torch.zeros(2, 64)
worked_q[0, 0], worked_k[0, 0], worked_k[1, 0] = 16, 7, 6  # so that q·k1 = 112 and q·k2 = 96

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
scored, values = dot_score(worked_q, worked_k), torch.eye(2)
output, weights = scaled_dot_product_attention(worked_q, worked_k, values)
steps = {"scores": scored, "divided by 8": scored / 8, "weights": weights, "output": output}
steps["weights without dividing"] = attend(scored, values)[1]
worked = show.table([(step, *(f"{x:.2f}" for x in row[0])) for step, row in steps.items()])
show.predict(
    "If you divide by $\\sqrt{64} = 8$, what weight does the first word get?",
    within=0.03,
    answer=weights[0, 0].item(),
    why="Divide both dot products by 8. Only their difference counts.",
    reveals=worked,
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>The answer explained</b></summary>
#
# $112 / 8 = 14$ and $96 / 8 = 12$; $e^{14} / (e^{14} + e^{12}) = 1 / (1 + e^{-2}) = 0.88$, so **0.88<!--[[1 / (1 + math.exp(-2)):.2f]]--> and 0.12<!--[[1 / (1 + math.exp(2)):.2f]]-->**.
# Without the division the difference is 16 instead of 2, and $1 / (1 + e^{-16})$ is 1 to six decimals, so the second word
# is shut out.
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Why $\sqrt{d}$?** Take random queries and keys of width $d$, whose entries are independent with mean 0 and variance 1. Each query meets
# six keys, and softmax turns the six scores into weights.


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
wide = torch.Generator().manual_seed(0)  # the widget draws the same
asked = torch.randn(200, 1, 512, generator=wide)
found_by = torch.randn(200, 6, 512, generator=wide)


def mean_largest(d, divide):
    """The mean of the largest of six weights over 200 random queries of width d."""
    scores = dot_score(asked[..., :d], found_by[..., :d])
    _, alpha = attend(scores / math.sqrt(d) if divide else scores, torch.eye(6).expand(200, 6, 6))
    return alpha.amax(-1).mean().item()


divided = [mean_largest(d, True) for d in (4, 16, 64, 256, 512)]
show.predict(
    "At $d = 4$ the largest of six weights is about 0.6 *without* the division, on average. What is it at $d = 512$, also without the division?",
    choices={"about 0.4": 0.4, "about 0.6": 0.6, "above 0.9": 0.95},
    answer=mean_largest(512, False),
    why="Look at the scores as well as the weights, with and without the division:",
    reveals=widgets.width_playground(attend).opens(d=512),
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>The answer explained</b></summary>
#
# The number below the bars is a mean over 200 queries. From $d = 4$ to $d = 512$ it climbs, without the division, from 0.60<!--[[mean_largest(4, False):.2f]]--> to 0.96<!--[[mean_largest(512, False):.2f]]-->; with the division it stays
# between 0.41<!--[[min(divided):.2f]]--> and 0.43<!--[[max(divided):.2f]]-->.
# </details>
#
# With such entries $q \cdot k = \sum_{i=1}^d q_i k_i$ has variance $d$. So wide vectors make large scores, and large scores make softmax a
# hard choice from the first step of training. **Dividing by $\sqrt d$ brings the variance back to 1, whatever the width.**

# %% [markdown] slideshow={"slide_type": "subslide"}
# Vaswani et al. suspect that large scores harm the gradient. The derivative of a softmax weight with
# respect to its own score is $\alpha (1 - \alpha)$, which vanishes for weights near 0 and near 1.


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
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
# With the division by $\sqrt d$ the curve is flat<!--[[? {round(mean_slope(width, True), 2) for width in widths} == {0.12}]]--> at about 0.12<!--[[mean_slope(512, True):.2f]]-->. Without it the curve has fallen to 0.007<!--[[mean_slope(512, False):.3f]]--> at $d = 512$, a sixteenth<!--[[? round(mean_slope(512, True) / mean_slope(512, False)) == 16]]--> of
# that. The additive score is bounded by $\sum_i |u_i|$ however wide $q$ and $k$ are, but a large $u$ can still saturate softmax.
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# > **What goes wrong.** The assignment will catch three mistakes: dividing by $d$ instead of $\sqrt d$ (the weights are nearly
# > equal, and attention blurs); taking the softmax over the *queries* (the columns sum to 1, but the rows do not); multiplying
# > $K Q^\top$ instead of $Q K^\top$ (wrong, although the shape is right when there are as many queries as keys).

# %% [markdown] slideshow={"slide_type": "notes"}
# *9 minutes. Do 112 and 96 by hand, once with the division and once without. What goes wrong: they divide by d, or take the softmax
# over the wrong axis. Ask what the shape would have told them (nothing).*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 5. Masks: what must not be seen
#
# There are keys that a query must not read. To compute a **batch** of sentences together, we bring them to one length with **padding**, which
# carries no meaning. And a model that predicts the next word must not see that word, so a **causal mask** hides the future. Our masks are
# boolean, `True` = *may attend*, and they combine with `&`. Masked keys are left out *before* the softmax; the other keys share the
# weight.

# %% slideshow={"slide_type": "fragment"}
words = ["the", "cat", "sat", "<pad>"]
of_words = torch.randn(4, 4, generator=torch.Generator().manual_seed(7))  # scores
masks = {
    "none": torch.ones(4, 4, dtype=torch.bool),
    "causal": causal_mask(4),
    "padding": padding_mask(torch.tensor([3]), 4),
    "causal and padding": causal_mask(4) & padding_mask(torch.tensor([3]), 4),
    "all padding": padding_mask(torch.tensor([0]), 4),
}

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
_, of_nothing = attend(of_words, torch.eye(4), masks["all padding"])
show.predict(
    "Under the mask “all padding” none of the four words may be read. What does each row of our weights sum to?",
    choices=["0", "1", "nan"],
    answer=f"{of_nothing[0].sum().item():g}",
    why="What would a plain softmax give?",
    reveals=widgets.mask_playground(attend, words, of_words, masks).opens(mask="all padding"),
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - Under the causal mask the first word can only read itself, with weight 1. Every row that may read anything still sums to 1.
# - The row of `<pad>` itself has nonzero weights. No word reads its output, so the weights do not matter, but a loss must not count this row.
# - If there is nothing to read, our rows sum to 0. A plain softmax of nothing is 0/0, that is NaN (*not a number*), and a single NaN spoils
#   the gradients of a whole batch.
# </details>

# %% [markdown] slideshow={"slide_type": "subslide"}
# > **What goes wrong.** Masking *after* the softmax looks right but is not:

# %% slideshow={"slide_type": "fragment"}
_, right = attend(of_words, torch.eye(4), causal_mask(4))
_, unmasked = attend(of_words, torch.eye(4))
wrong = unmasked * causal_mask(4)
print("row sums, masked before softmax:", right.sum(-1))
print("row sums, masked after softmax: ", wrong.sum(-1))

# %% [markdown] slideshow={"slide_type": "fragment"}
# The first word's weights now sum to 0.10<!--[[wrong.sum(-1)[0]:.2f]]-->, an amount that depends on the words it was not supposed to see. The future leaks into the
# past through the size of the remaining weights. (Dividing each row by its sum would repair it.)

# %% [markdown] slideshow={"slide_type": "notes"}
# *6 minutes. Ask what the first row sums to under a causal mask, then under a mask that hides all four words. What goes wrong: they
# mask after the softmax; the shapes and the zeros are right all the same.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 6. Many heads
#
# One softmax gives one set of weights. But "it" may ask what it refers to, *and* which verb comes next, *and* which words are its
# neighbours. So we run attention several times in parallel. Each **head** works in its own narrow space, with its own
# $W^Q_i, W^K_i, W^V_i$; the results are concatenated and mixed by one matrix, $W^O$. With one word per row of $X$:
#
# $$\mathrm{head}_i = \mathrm{attention}(X W^Q_i,\; X W^K_i,\; X W^V_i), \qquad \mathrm{output} = [\mathrm{head}_1, \mathrm{head}_2, \dots]\, W^O$$
#
# If each word's vector $x$ has `d_model` = 384 dimensions, each of 12 heads has queries, keys and values of 384 / 12 = 32 dimensions.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
heads, rows = {}, []
for n_heads in (1, 4, 12):
    layer = MultiHeadAttention(384, n_heads)
    heads[n_heads] = sum(p.numel() for p in layer.parameters())
    rows.append((n_heads, layer.d_head, f"{heads[n_heads]:,}"))
table = show.table(rows, ["heads", "dimensions of each", "parameters"])
show.predict(
    "How many parameters do 12 heads have, compared with one head?",
    choices={"a twelfth": 1 / 12, "as many": 1, "twelve times as many": 12},
    answer=heads[12] / heads[1],
    why="The heads share the 384 dimensions.",
    reveals=table,
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>The answer explained</b></summary>
#
# Twelve heads have exactly as many parameters as one<!--[[? heads[12] == heads[1] == 591_360]]-->. Four matrices of 384 × 384 with 384 biases each make $4 \cdot (384^2 + 384) = 591{,}360$.
# </details>
#
# **Twelve heads, each in a narrower space, give twelve sets of weights per word with the parameters of one head.**

# %% [markdown] slideshow={"slide_type": "subslide"}
# Here is the whole of `MultiHeadAttention`, without masks, in six lines, with the shapes of its tensors:


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
# > *shape*. But it mixes words with heads, because head 0 would get the first twelfth of the numbers, all from the first words. First split the
# > last axis, then transpose.
#
# Nothing in these lines knows the *order* of the words. If you shuffle the rows of $X$, the output is shuffled in the same way, and
# nothing else changes. We must put word order into $x$; that is the subject of the lecture on positions.

# %% [markdown] slideshow={"slide_type": "notes"}
# *5 minutes. Ask for the number of parameters before you show the table. Write the four shapes of the six lines on the board and let
# the room fill in the one after transpose. What goes wrong: they use a `view` without a transpose.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 7. Inside a real network
#
# A **Transformer** is a stack of such layers: attention, then a small network applied to each word separately, then attention
# again. MiniLM is one, with 6 layers of 12 heads. It does not translate. Every
# word reads the whole sentence, to its left and to its right. Its weights are on your disk, and it runs in our own code, with
# the `MultiHeadAttention` of section 6. `capture` records the attention weights of its heads.
#
# (Wang et al. 2020 trained a network of 12 layers to imitate the attention of a larger one. The model here keeps every second of
# those layers and was then trained on a billion pairs of sentences, to tell which belong together.)

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
# The text is cut into *tokens*, here words, a full stop and two special tokens, `[CLS]` and `[SEP]`, which models like BERT put around every text.
# The weights of each layer have the axes (batch, head, query, key). Below are all 72 heads at a glance, one small heatmap each. Darker
# means more weight. There is a row for each word that reads and a column for each word that is read, so a thin diagonal means that words
# read themselves.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
every_head = torch.cat(list(tape.values()))  # (layer, head, query, key)
show.head_grid(
    every_head,
    alt="72 small heatmaps, 6 layers of 12 heads, one row per reading word and one column per word read. Some are a thin "
    "diagonal line, some one dark column, some are spread.",
)

# %% [markdown] slideshow={"slide_type": "subslide"}
# Which heads read the *previous* word (just left of the diagonal), which the
# *next* one, and which read `[CLS]` from everywhere? What could the last kind be good for?

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
# *Rest the pointer on a word of the left column to see its row only; click a word's button to keep it; move the sliders with the
# arrow keys; type your own sentence.*
#
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - Layer 0, head 2 reads the previous word, with weight 1.00<!--[[every_head[0, 2].diagonal(-1).min():.2f]]-->, at every word of this sentence. Layer 1, head 8 reads the next word with a mean
#   weight of 0.64<!--[[every_head[1, 8].diagonal(1).mean():.2f]]-->.
# - Layer 4, head 5 and many others *park* on `[CLS]`<!--[[? every_head[4, 5, :, 0].mean() > 0.85]]-->, that is, they leave much of their weight there. Each row must sum to 1, even when
#   a head has found nothing. Clark et al. (2019) see such parking in BERT, mostly at `[SEP]`, and suspect that it means "nothing here".
#   The next cell tests this.
# - Layer 3, head 1 links "it" to "animal" with weight 0.69<!--[[it_to_animal:.2f]]-->.
# </details>
#
# In [lecture 17](17_pretraining.ipynb), section 3, you switch off the heads of a smaller encoder and see what it then predicts.

# %% [markdown] slideshow={"slide_type": "subslide"}
# **The 0.69<!--[[it_to_animal:.2f]]--> by hand.** Take the vectors that enter layer 3, compute the query of "it" and the keys of all words for head 1 (dimensions
# 32 to 63), and compute the weights as in section 4. In the heatmap of this head seven<!--[[words(int((every_head[3, 1, 1:-2, 0] > 0.4).sum()))]]--> of the other eleven words give `[CLS]` more than 0.4 of their weight. How long is the *value*
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
it_to_animal = by_hand[pieces.index("it"), pieces.index("animal")]
print(f"from 'it' to 'animal':        {it_to_animal:.2f}")
print(f"length of the value of [CLS]: {value_lengths[0]:.2f}")
print(f"median length of the others:  {value_lengths[1:].median():.2f}")

# %% [markdown] slideshow={"slide_type": "fragment"}
# In this head the value of `[CLS]` is nearly zero: its length is 0.20<!--[[value_lengths[0]:.2f]]-->, and the median length of the others is 3.68<!--[[value_lengths[1:].median():.2f]]-->. A head adds
# *weight × value* to a word, so here `[CLS]` adds almost nothing. Is this true only of this head?

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "skip"}
SENTENCES = [
    sentence,
    "The animal did not cross the street because it was too wide.",
    "The street was not crossed by the animal because it was too tired.",
    "She poured water from the bottle into the cup until it was full.",
    "She poured water from the bottle into the cup until it was empty.",
]


def keeps(received):
    return lambda module, given: received.append(given[0])


@torch.no_grad()
def parked():
    """Of every head: its mean weight on [CLS], and the length of what [CLS] adds over the median of the other tokens."""
    found = torch.zeros(len(SENTENCES), 2, 72)
    for index, words_here in enumerate(SENTENCES):
        received = []
        hooks = [
            block.attention.register_forward_pre_hook(keeps(received)) for block in encoder.layers
        ]
        with capture(encoder) as tape:
            encoder(torch.tensor([tokenizer.encode(words_here)]))
        for hook in hooks:
            hook.remove()
        found[index, 0] = torch.cat(list(tape.values()))[:, :, 1:, 0].mean(-1).flatten()
        for depth, (block, x) in enumerate(zip(encoder.layers, received, strict=True)):
            values = block.attention.value(x)[0].unflatten(-1, (12, 32))  # (token, head, 32)
            mixes = block.attention.output.weight.unflatten(1, (12, 32))  # (384, head, 32)
            added = torch.einsum("thd,ohd->hto", values, mixes).norm(dim=-1)  # (head, token)
            of_cls = added[:, 0] / added[:, 1:].median(-1).values
            found[index, 1, 12 * depth : 12 * depth + 12] = of_cls
    return found.mean(0)


weight_on_cls, added_by_cls = parked()
parking = weight_on_cls > 0.4

# %% [markdown] slideshow={"slide_type": "fragment"}
# **No.** Over five sentences, 42<!--[[int(parking.sum())]]--> of the 72 heads give `[CLS]` more than 0.4 of their weight. In every one of these heads the value
# of `[CLS]`, after $W^O$, has at most 0.14<!--[[added_by_cls[parking].max():.2f]]--> times the median length of the other values. So weight
# parked on `[CLS]` adds little for its size. (Kobayashi et al. 2020 find small value
# vectors at such tokens of BERT.)

# %% [markdown] slideshow={"slide_type": "notes"}
# *10 minutes for the section, six of them from here on. Before the next cell, let the room vote on whether this head resolves "it". Then
# change the sentence. What goes wrong: they see meaning in the picture before they test it.*

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Does layer 3, head 1 understand "it"?** Do not believe the picture; test it. Change one word so that "it" means something else, or
# change the word order, and see whether the head follows:

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


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "skip"}
def ratio(text, first, second):
    """How many times as much weight "it" gives to the first noun as to the second."""
    with torch.no_grad(), capture(encoder) as tape:
        encoder(torch.tensor([tokenizer.encode(text)]))
    pieces = tokenizer.pieces(text)
    row = tape["layers.3.attention"][0, 1, pieces.index("it")]
    return (row[pieces.index(first)] / row[pieces.index(second)]).item()


ratios = [ratio(*pair) for pair in pairs]

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - The weights depend on the last word. With "tired" the head gives "animal" thirteen times as much weight as "street", with "wide" only twice as much<!--[[? [round(ratio) for ratio in ratios[:2]] == [13, 2]]]-->.
# - But the head prefers the same noun in both sentences of each pair, although the meaning changes<!--[[? min(ratios[:2] + ratios[3:]) > 1]]-->.
# - In the passive sentence it picks "street"<!--[[? ratios[2] < 1]]-->, which is not tired.
# </details>
#
# **Five sentences show that this head does not reliably resolve "it".** They do not show what it does instead.

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Does MiniLM's output depend on that head?** **Ablate** it, which means setting its output to zero (here by zeros in its part of
# $W^O$), and compare the vector that MiniLM computes for the whole sentence with the original. For scale, put "wide" instead of "tired"
# into the sentence, and compare that vector with the original as well.

# %% slideshow={"slide_type": "fragment"}
ablated = copy.deepcopy(encoder)
ablated.layers[3].attention.output.weight.data[:, 32:64] = 0
with torch.no_grad():
    before, after = encoder(tokens)[0].mean(dim=0), ablated(tokens)[0].mean(dim=0)
tired, wide = embed([sentence, sentence.replace("tired", "wide")])
without_head, other_word = torch.cosine_similarity(before, after, dim=0), tired @ wide
print(f"similarity with the head ablated:          {without_head:.3f}")
print(f"similarity with 'wide' instead of 'tired': {other_word:.3f}")

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - Without the head the similarity to the original is 0.998<!--[[without_head:.3f]]--> (1 is the same direction); with "wide" instead of "tired" it is 0.836<!--[[other_word:.3f]]-->. This is one head
#   and one sentence; the lecture on self-attention ablates random heads as a control.
# - Jain & Wallace (2019) found that quite different attention weights can give the same
#   prediction. Wiegreffe & Pinter (2019) propose four tests of when weights can nevertheless count as an explanation. (Both study
#   recurrent classifiers with one attention layer.)
# </details>
#
# **A heatmap shows what a head reads, not what the output depends on. Look first, then test.**

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 8. Pictures have positions as well
#
# Nothing in attention requires keys to be words. To write a caption for a picture, Xu et al. (2015) cut it into parts, let a
# network turn each part into a vector $h_j$, and let a decoder look at *the parts*. Every word of the caption gets a new mixture,
# $c_i = \sum_j \alpha_{ij} h_j$, with $j$ running over parts instead of words. (This weighting is their **soft attention**. Their **hard
# attention** samples a single part.)
#
# Here is a small example. A scene has nine fields; two of them show handwritten digits (from the 1,797 of Alpaydin &
# Kaynak 1998). The caption names both, in reading order. In training the captioner gets the right words and *nothing else*.

# %% slideshow={"slide_type": "fragment"}
digits = corpora.load("digits")
pixels, names = {}, {}
for part in ("train", "test"):
    documents = digits.splits[part]
    pixels[part] = torch.stack([document.image for document in documents])  # (digit, 8, 8)
    names[part] = torch.tensor([int(document.label) for document in documents])


def scenes(part, count, draw):
    """Scenes (count, field, 64), the two digits' names, and which of the nine fields show them."""
    digit = torch.randint(len(names[part]), (count, 2), generator=draw)
    place = torch.rand(count, 9, generator=draw).argsort(-1)[:, :2].sort(-1).values
    scene = torch.zeros(count, 9, 64)
    scene[torch.arange(count).unsqueeze(1), place] = pixels[part][digit].flatten(2)
    return scene, names[part][digit], place


# %% slideshow={"slide_type": "fragment"} tags=["lesson"]
class Captioner(nn.Module):
    def __init__(self, d=64):
        super().__init__()
        self.see, self.place = nn.Linear(64, d), nn.Parameter(torch.randn(9, d) / 2)
        self.score, self.word = AdditiveScore(d), nn.Embedding(11, 16)  # word 10 begins
        self.step, self.name = GRUCell(d + 16, d), nn.Linear(d, 10)

    def forward(self, scene, words):
        h = torch.tanh(self.see(scene) + self.place)  # (scene, place, d): the memory
        keys, s = self.score.project_source(h), torch.zeros(len(h), h.shape[-1])
        steps = []
        for last in (torch.full_like(words[:, 0], 10), words[:, 0]):  # the previous word
            c, alpha = attend(self.score(s, keys).unsqueeze(1), h)
            s = self.step(torch.cat([c.squeeze(1), self.word(last)], dim=-1), s)
            steps.append((self.name(s), alpha.squeeze(1)))
        return tuple(torch.stack(each, 1) for each in zip(*steps, strict=True))


# %% [markdown] slideshow={"slide_type": "fragment"}
# Training takes 250 steps, a few seconds.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
with torch.random.fork_rng():
    torch.manual_seed(0)
    captioner = Captioner()
optimiser = torch.optim.AdamW(captioner.parameters(), lr=0.01)
schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 0.01, total_steps=250)
draw = torch.Generator().manual_seed(0)
for _ in range(250):
    scene, digits, _ = scenes("train", 32, draw)
    loss = F.cross_entropy(captioner(scene, digits)[0].flatten(0, 1), digits.flatten())
    optimiser.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(captioner.parameters(), 1.0)
    optimiser.step()
    schedule.step()

new, words_of_new, place = scenes("test", 500, torch.Generator().manual_seed(1))
with torch.no_grad():
    said, looked = captioner(new, words_of_new)
right = (said.argmax(-1) == words_of_new).float().mean()
hits, misread = looked.argmax(-1) == place, said.argmax(-1) != words_of_new
found = hits.float().mean()
print(f"new scenes: words correct {right:.0%}, most attention on the named digit {found:.1%}")

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
        image,
        looks,
        title=f"scene {number}",
        note=f"reference: {truth}; written: {' '.join(words)}",
    )


widgets.live(caption, number=widgets.slider(0, 0, 99, 1, "scene", "460px"))

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - About nine words in ten are right, and the largest weight is nearly always on the digit that is named<!--[[? 0.85 < right < 0.95 and found > 0.98]]-->. The captioner learned the reading order, and
#   where to look, only from captions. (One run.)
# - Where a word is wrong, the captioner has nearly always looked at the right field<!--[[? hits[misread].float().mean() > 0.9]]--> but not recognised the digit. Find such a scene.
# - The second look differs from the first, because the query is the state $s$, which has changed in between.
# - Xu et al. use 196 parts of a photograph. The vector of each part comes from a large network that was trained beforehand.
# </details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *6 minutes. Let the room guess the accuracy before the cell runs. Then search together for a scene with a wrong
# word. What goes wrong: they say that attention failed where recognition did.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 9. What it costs
#
# Encoder and decoder take $n + m$ steps for a source of $n$ and a target of $m$ words. A step of a GRU has $6 d^2$ multiplications, if its input is as wide as its
# state: three matrices for the input and three for the state. For each of the $n \cdot m$ pairs of words, attention adds $d$ multiplications for the score
# and $d$ for the weighted sum.
#
# So the cost of the steps grows as $O(n+m)$ and the cost of the scores as $O(nm)$. For long texts the scores cost more than the steps.
#
# > **Ask yourself.** Take width $d = 128$ and $n = m$. At which length do the scores begin to cost more than the steps: at about 10 words, about 100, or about 1,000?

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Measured.** We compare three of our own networks of width 128: a recurrent encoder and decoder that pass on one vector, the
# same two with attention, and a Transformer. We time one forward pass over a pair of texts of $n = m$ tokens each, on one core
# (`python -m lectures.recipes source_and_target`).

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
cost = stored("source_and_target")
doubled = {name: at["4096"] / at["2048"] for name, at in cost["seconds"].items()}
products = cost["multiply_adds"]


def multiplications(name, n):
    of = {"nm": 0, "n²": 0, "m²": 0, **products[name]}
    return (of["n"] + of["m"]) * n + (of["nm"] + of["n²"] + of["m²"]) * n**2


of_steps = products["attention"]["n"] + products["attention"]["m"]
balance = (
    of_steps / products["attention"]["nm"]
)  # the length n = m at which the two cost the same
of_scores = products["attention"]["nm"] * 64**2 / multiplications("attention", 64)
slower, fewer = (
    all(cost["seconds"]["attention"][n] > at for n, at in cost["seconds"]["transformer"].items()),
    all(multiplications("attention", n) < multiplications("transformer", n) for n in (64, 4096)),
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
# <details><summary><b>What to notice</b></summary>
#
# - We counted the multiplications of the network with attention exactly: $98{,}304\,n + 188{,}416\,m + 256\,nm$<!--[[? cost["written"]["attention"] == "98,304 n + 188,416 m + 256 nm" and 98_304 == 6 * 128**2]]-->. The first term is $6 d^2 n$; the decoder's
#   steps cost more, because they also read the context and score the next word. Without attention there is no term $nm$<!--[[? "nm" not in products["initial"]]]-->.
# - With $n = m$ the scores cost as much as the steps at 1,120<!--[[balance:,.0f]]--> words, nearly nine times the width<!--[[? 8.5 < balance / cost["sizes"]["d_model"] < 9]]-->.
# - At 64 words the scores are 5<!--[[100 * of_scores:.0f]]--> % of the multiplications of the network with attention. Yet it takes 3.0<!--[[cost["seconds"]["attention"]["64"] / cost["seconds"]["initial"]["64"]:.1f]]--> times as long as the one
#   without.
# - When $n$ doubles, from 2,048 to 4,096, the time grows by a factor of 2.0<!--[[doubled["initial"]:.1f]]--> without attention, of 2.4<!--[[doubled["attention"]:.1f]]--> with attention, and of 3.4<!--[[doubled["transformer"]:.1f]]-->
#   for the Transformer.
# - The recurrent network with attention takes longer than the Transformer at all these lengths, though it does fewer
#   multiplications<!--[[? slower and fewer]]-->.
# </details>
#
# **In multiplications, the scores cost little for a sentence, but much for a book.** In time, the network with attention is
# slower than the one without, even for a sentence.

# %% [markdown] slideshow={"slide_type": "subslide"}
# The price buys two things. Any two words are *one* step apart, whereas a recurrent network passes through every word between
# them. And *self*-attention computes all scores in parallel, whereas recurrent steps must wait for each other.
#
# **How does a network look back? It compares a query with a key for every word and mixes the values. It learns where to look from
# its task, with no other teacher. Its weights hint at what it uses, but they do not prove it.**

# %% [markdown] slideshow={"slide_type": "notes"}
# *4 minutes. Ask from which length on the scores cost more than the steps. What goes wrong: they take the
# number of multiplications for the time. Show them both at 64 words.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Now you
#
# Write attention yourself, from the two lines of section 2, and compare it with ours. The code below is correct. Break it (leave out the
# exponential, keep only the largest score, or leave out the division by the sum) and move the sliders. Can you see what your change does?


# %% slideshow={"slide_type": "fragment"}
def my_attend(scores, values, mask=None):
    """scores (…, query, key), values (…, key, d) -> context and weights. Change this."""
    exponentials = torch.exp(scores - scores.amax(-1, keepdim=True))  # the largest is exp(0) = 1
    weights = exponentials / exponentials.sum(-1, keepdim=True)
    return weights @ values, weights


widgets.softmax_playground(
    attend, [1.5, 0.9, 0.3, -0.5], ["h1", "h2", "h3", "h4"], yours=my_attend
)

# %% [markdown] slideshow={"slide_type": "notes"}
# *5 minutes, or homework. Before each change, ask whether the weights will still sum to 1 and whether one of them can become negative.
# What goes wrong: without the division the bars keep their order, and the room sees no difference; point at the line with the sum.*

# %% [markdown] slideshow={"slide_type": "skip"}
# The other playgrounds of this lecture take `yours=my_attend` as well. One of them, `mask_playground`, needs the mask, which this function
# still ignores. Pass the function to it and see what happens. In the assignment
# [`exercises/attention/attention.ipynb`](../exercises/attention/attention.ipynb) you build all the rest, and it tells you which mistakes
# you make.

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Check yourself
#
# 1. The scores are $2, 2, 2$. What are the weights?
# <details><summary>Answer</summary>They are one third each. Equal scores give equal weights, whatever the scores are.</details>
#
# 2. A query has width 6 and the keys have width 10. Which of the three scores can you use?
# <details><summary>Answer</summary>You can use the bilinear score, with W of 6 × 10, and the additive one. The dot product needs equal widths.</details>
#
# 3. You shuffle the words of a sentence. How does the output of self-attention, without masks and positions, change?
# <details><summary>Answer</summary>It is shuffled in the same way and does not change otherwise, because attention sees a set, not
# a sequence.</details>
#
# 4. The weights of a row sum to 0.7. Which mistake is likely?
# <details><summary>Answer</summary>Somebody applied the mask after the softmax, or took the softmax over the wrong axis.</details>
#
# 5. A captioner says "nine" for an eight, and its attention is on the eight. What has failed, and what has not?
# <details><summary>Answer</summary>It looked at the right field, so attention has done its work. The vector $h_j$ computed from the pixels, or the step from $h_j$ to a word, has failed.</details>
#
# 6. A head puts 0.9 of its weight on "not". Does the model's decision depend on "not"?
# <details><summary>Answer</summary>The weight does not tell you. The value may be nearly zero, or the decision may come from elsewhere. Remove or replace the word, or ablate the head, and compare the output.</details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *The questions are not projected. If 3 minutes are left, ask numbers 4 and 6. What goes wrong: they say yes to number 6, in spite of
# section 7, because 0.9 is so large. Ask them which experiment would settle it.*

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Notation, words, sources
#
# | here | elsewhere | what it is |
# |---|---|---|
# | $h_j$ | $h^E_j$, $\bar h_s$, annotation | the encoder's vector of source word $j$ |
# | $s_i$ | $h^D_i$, $h_t$ | the decoder's state at step $i$ |
# | $e_{ij} = \mathrm{score}(s_{i-1}, h_j)$ | energy, alignment model $a(s, h_j)$ | how well $h_j$ answers; Luong et al. ask with $s_i$, not $s_{i-1}$ |
# | $\alpha_{ij} = \mathrm{softmax}_j(e_{ij})$ | $W_{ji} = g(h^E_i, x^D_j, h^D_{j-1})$, $a_t(s)$ | the weight of source word $j$ at step $i$ |
# | $\alpha$ of layer $\ell$, head $k$ | $\alpha_\ell[k, t_1, t_2]$ | the weight from position $t_1$ to $t_2$ |
# | $c_i$ | context, $c_t$ | the weighted sum |
# | $s_i = f(s_{i-1}, y_{i-1}, c_i)$ | $s_j = \mathrm{LSTM}(s_{j-1}, [x, c])$ | the decoder's step |
# | $q, k, v$ | rows of $Q, K, V$ | query, key, value |
# | $d$ | $d_k$, $I$ | width of queries and keys |
# | $W^O$ | $W^0$ | mixes the heads |

# %% [markdown] slideshow={"slide_type": "notes"}
# *The notation is not projected; a minute suffices. Warn readers of other slides that the two indices of α are often swapped. Ours are
# the output step first and the source word second. What goes wrong: they take d for the width of a word vector; it is the width of
# queries and keys.*

# %% [markdown] slideshow={"slide_type": "skip"}
# ### Words of this lecture
#
# - **bottleneck**: the one vector of fixed width through which everything that is known about the source must pass.
# - **encoder**: the half of a network that reads; the encoder of Bahdanau et al. reads in both directions and joins the two states of
#   each word.
# - **decoder**: the half of a network that writes, one word at a time.
# - **context**: the vector that attention returns, the weighted sum of the values.
# - **attention**: a weighted sum whose weights are computed from a query.
# - **score**: how well a key fits a query, before softmax; a dot product, a bilinear form or a small network.
# - **softmax**: turns scores into weights that are positive and sum to one.
# - **query**: the vector that asks.
# - **key**: the vector with which queries are compared.
# - **value**: the vector that is returned, in proportion to its weight.
# - **self-attention**: attention whose queries, keys and values are made from one text.
# - **mask**: which keys a query may read; here True means that it may.
# - **causal mask**: the mask that hides the future; position t reads the positions up to t.
# - **padding (of a batch)**: filler that brings the texts of a batch to one length.
# - **head**: one of several attentions that run in parallel, each in its own narrow space.
# - **alignment**: which word of one text corresponds to which word of another.
# - **phoneme**: a sound of a language that distinguishes words; English has about 40.
# - **soft attention**: a weighted sum of all positions, which has a gradient; what this lecture calls attention.
# - **hard attention**: attention that samples a single position, with the weights as probabilities.
# - **Transformer**: a stack of layers of self-attention, each followed by a small network applied to each word separately.

# %% [markdown] slideshow={"slide_type": "skip"}
# **Sources.** Sutskever, Vinyals & Le (2014), Sequence to Sequence Learning with Neural Networks. Cho et al. (2014a), Learning
# Phrase Representations using RNN Encoder–Decoder. Cho et al. (2014b), On the Properties of Neural Machine Translation.
# Bahdanau, Cho & Bengio (2015), Neural Machine Translation by Jointly Learning to Align and Translate, sections 3.1 and A.1.2,
# figure 2. Luong, Pham & Manning (2015), Effective Approaches to Attention-based Neural Machine Translation, section 3.1. Xu et
# al. (2015), Show, Attend and Tell, sections 3 and 4. Vaswani et al. (2017), Attention Is All You Need, sections 3.2.1–3.2.3.
# Clark et al. (2019), What Does BERT Look At? Jain & Wallace (2019), Attention is not Explanation. Wiegreffe & Pinter (2019),
# Attention is not not Explanation. Kobayashi et al. (2020), Attention is Not Only a Weight: Analyzing Transformers with Vector Norms. Yang et al. (2016),
# Hierarchical Attention Networks for Document Classification (a learned query). Alammar (2018), The Illustrated Transformer (the example with 112 and 96).
# Uszkoreit (2017), Transformer: A Novel Neural Network Architecture for Language Understanding, Google's research blog (the tired animal). Levesque, Davis & Morgenstern (2012),
# The Winograd Schema Challenge (sentences such as that of the cup). Wang et al. (2020), MiniLM. Every second layer: the model cards of nreimers/MiniLM-L6-H384-uncased and
# sentence-transformers/all-MiniLM-L6-v2.
