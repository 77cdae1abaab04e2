# %% [markdown] slideshow={"slide_type": "slide"}
# # Cheaper attention
#
# In attention every token attends to every other one. A text of $n$ tokens has $n^2$ pairs: 900 for a sentence of 30 words, 262,144 for a
# page of 512, and 2.5 billion for a novel of 50,000. Since 2019 dozens of papers have proposed attention whose cost grows like $n$. This lecture
# builds three of them and measures what they save and what they lose. Do we need them at all?
#
# <img src="figures/four_patterns.svg" width="900" alt="Four patterns over 48 positions, rows read columns: full attention scores all 2,304 pairs; a window, a window with one global token, and blocks with random and global ones score fewer.">
#
# *Who sees whom in full attention, and in three patterns that leave most pairs out.*

# %% [markdown] slideshow={"slide_type": "skip"}
# **After this lecture you can**
# - say which costs of attention grow like $n^2$, and which of them a fused kernel removes;
# - judge with controls whether a matrix is "nearly of low rank";
# - write Linformer in three lines, and say why it cannot be a language model;
# - draw the patterns of Longformer and BigBird, and count the layers that they need to reach every position;
# - design a test that separates *reachable* from *learned*;
# - compute the size of a cache, and say which tokens a window may drop and which it must keep;
# - say how attention without a softmax becomes a recurrent network;
# - answer "do we even need to remove the quadratic cost?" with measurements.
#
# **You need** [lecture 13](13_self_attention.ipynb) (heads, masks, attention sinks) and [lecture 15](15_transformer_language_model.ipynb) (blocks, the key–value cache). Singular values are
# from [lecture 7](07_vanishing_gradients.ipynb).

# %% [markdown] slideshow={"slide_type": "skip"}
# | section | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 |
# |---|---|---|---|---|---|---|---|---|
# | minutes | 8 | 10 | 6 | 11 | 7 | 11 | 11 | 8 |
#
# The minutes are for a class. If you work alone, with the predictions and the questions, plan an hour and three quarters.
#
# Every cell runs in a few seconds on a laptop, without a network connection. Longer experiments ran beforehand, on one core. Their results are stored,
# each with the command that repeats it. A table at the end translates the papers' notation.

# %% [markdown] slideshow={"slide_type": "notes"}
# *If you are short of time, skip section 3 and the first half of section 7. Sections 2 and 6 put claims of papers to the test.*

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "skip"}
import math
from statistics import mean

import numpy as np
import torch
from IPython.display import HTML

from nlmcore.attention import causal_mask, window_mask
from nlmcore.inspect import capture
from nlmcore.metrics import mean_interval
from nlmcore.pretrained import minilm, smollm2
from nlmcore.transformer import TransformerConfig
from nlmcore.variants.linformer import LinformerAttention
from nlmcore.variants.sparse import build_longformer
from lectures import show, stored, widgets

torch.set_printoptions(precision=2, sci_mode=False)
torch.set_num_threads(1)  # the times below are those of one core

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 1. The curve of n²
#
# Attention whose heads have $d$ dimensions in total computes
#
# $$\mathrm{softmax}\Big(\frac{Q K^\top}{\sqrt{d_{\mathrm{head}}}}\Big)\, V .$$
#
# Its two matrix products cost $2n^2 d$ multiply-adds. No other part of a Transformer compares positions. The norms, the feed-forward network, the embedding and the unembedding work on each position by itself, so
# their cost grows like $n$. In the picture below attention is the only coloured part.

# %% slideshow={"slide_type": "subslide"}
writer, bytepairs = smollm2()
HTML(widgets.architecture(writer, lit=["causal attention"]))

# %% [markdown] slideshow={"slide_type": "subslide"}
# If you compute attention as the equation is written, the scores and the weights are $2n^2$ values per head. But you need not keep all these values. A **fused kernel**, one routine for all steps of attention (Dao et al. 2022),
# computes the scores of a small *tile* (some queries and some keys), adds the tile's contribution to a running sum, and forgets the scores. It gives the same output. PyTorch's `scaled_dot_product_attention`, which does not
# return the weights, uses such a kernel where it can.

# %% slideshow={"slide_type": "fragment"}
costs = stored("attention_cost")  # width 512, eight heads; forward, one core
written, fused = (costs["bytes"][name]["4096"] for name in ("explicit", "fused"))
two_arrays = 2 * costs["sizes"]["n_heads"] * 4096**2 * 4  # scores and weights, 4 bytes each
print(f"4,096 tokens: the scores and the weights take {two_arrays / 1e6:,.0f} MB;")
print(f"at the peak: the equation in PyTorch {written / 1e6:,.0f} MB, fused {fused / 1e6:.1f} MB")

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
by_length = {
    costs["lines"][name]: {int(n): s for n, s in costs["seconds"][name].items()}
    for name in ("explicit", "fused")
}
twice = costs["seconds"]["fused"]["8192"] / costs["seconds"]["fused"]["4096"]


def law_of(name):
    """The fitted power law as a line through the middle of the lengths it was fitted to."""
    law, of = costs["law"]["time"][name], costs["seconds"][name]
    fitted = [(math.log(int(n)), math.log(s)) for n, s in of.items() if int(n) >= law["start"]]
    x, y = (mean(part) for part in zip(*fitted, strict=True))
    start, end = law["start"], max(map(int, of))
    return show.Law(math.exp(y - law["exponent"] * x), law["exponent"], start, end)


curve = HTML(
    show.laws_svg(
        by_length,
        {costs["lines"][name]: law_of(name) for name in ("explicit", "fused")},
        notes={
            costs["lines"][name]: f"∝ n^{costs['law']['time'][name]['exponent']:.2f}"
            for name in ("explicit", "fused")
        },
        ticks={0.001: "1 ms", 0.01: "10 ms", 0.1: "0.1 s", 1: "1 s"},
        x_title="tokens",
        y_title="time",
        alt=f"Time against length, both axes logarithmic, two straight lines: as written n to the power of {costs['law']['time']['explicit']['exponent']:.2f}, "
        f"in the fused kernel {costs['law']['time']['fused']['exponent']:.2f}. From 4,096 to 8,192 tokens the fused kernel takes {twice:.1f} times as long.",
        width=640,
        height=330,
    )
)
show.predict(
    "The fused kernel never holds the $n^2$ weights. You double the text from 4,096 to 8,192 tokens. How many times as long does the kernel take?",
    choices={"equally long": 1.0, "2 times": 2.0, "4 times": 4.0, "8 times": 8.0},
    answer=twice,
    why="It holds no matrix, but it still computes every score.",
    reveals=curve,
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - Both lines have a slope near 2<!--[[? all(abs(costs["law"]["time"][name]["exponent"] - 2) < 0.15 for name in ("explicit", "fused"))]]-->, so both times grow like $n^2$. At 4,096 tokens the kernel is 6.2<!--[[costs["seconds"]["explicit"]["4096"] / costs["seconds"]["fused"]["4096"]:.1f]]--> times as fast as attention computed as written.
# - The kernel's memory grows at most like $n$<!--[[? costs["law"]["memory"]["fused"]["exponent"] < 1.05]]-->. The equation needs two arrays of $n^2$ values per head; PyTorch's operations hold 4.2<!--[[written / two_arrays * 2:.1f]]--> such arrays at their peak.
# </details>
#
# **The kernel removes the quadratic memory and leaves the quadratic time.** Linformer, Longformer and BigBird are older than this kernel, and their papers compare them with attention as it is written. Our
# baseline is the kernel.

# %% [markdown] slideshow={"slide_type": "notes"}
# *8 minutes. Write $n = 30, 512, 50{,}000$ on the board and let the room compute $n^2$. Ask for each box of the picture whether its cost depends on $n^2$. What goes wrong: students conclude from "no matrix is held" that the kernel is linear in time.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 2. Is a real attention matrix nearly of low rank?
#
# If the $n \times n$ matrix of weights had rank $k$, two matrices of $nk$ values each could replace it. Linformer (Wang et al. 2020) starts from the observation that the
# few largest singular values of a trained model's attention matrix make up most of the sum of all of them. We check this on two real models: all 270<!--[[math.prod(ranks["models"]["SmolLM2"]["heads"])]]--> heads of SmolLM2 (causal) and all 72<!--[[math.prod(ranks["models"]["MiniLM"]["heads"])]]--> of MiniLM
# (both directions), on five<!--[[words(len(ranks["models"]["MiniLM"]["real"]["sum"]))]]--> passages of 256<!--[[n_ranks]]--> tokens.
#
# We count how many of the largest singular values together hold 90 % of the sum of *squares*. The squares measure an approximation's error: the best matrix of rank $k$ keeps the $k$ largest singular values, and the squares of the others add up to its squared error.
# The count needs **controls**, matrices without the learned pattern:
#
# - the *shuffled* matrix: the same weights, but permuted within each row among the keys that it may see, so no row becomes sharper or flatter;
# - the *mask*: the weight of every row spread evenly over the keys that it may see.

# %% slideshow={"slide_type": "fragment"} tags=["lesson"]
reader, wordpieces = minilm()
text = (
    "The young doctor opened the door of the old house and called the name of the man who lived there. "
    "Nobody answered. She waited for a while, then she walked through the dark hall to the kitchen, "
    "where a lamp was still burning."
)


def weights_of(model, tokenizer):
    """(layer, head, query, key) of the first 48 tokens."""
    with torch.no_grad(), capture(model) as tape:
        model(torch.tensor([tokenizer.encode(text)[:48]]))
    return torch.cat(list(tape.values()))


def needed(weights, share=0.9):
    """How many of the largest singular values hold this share of the sum of squares."""
    squares = torch.linalg.svdvals(weights).square()
    part = squares.cumsum(-1) / squares.sum(-1, keepdim=True)
    return (part < share).sum(-1) + 1


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
ranks = stored("attention_rank")
n_ranks = ranks["n"]
average = {
    (model, row, by): mean(value for passage in of[row][by] for value in passage)
    for model, of in ranks["models"].items()
    for row in ("real", "shuffled", "mask")
    for by in ("squares", "sum")
}
by_head = {
    (model, row, by): [mean(of) for of in zip(*of_model[row][by], strict=True)]
    for model, of_model in ranks["models"].items()
    for row in ("real", "shuffled")
    for by in ("squares", "sum")
}


def below_own_shuffle(model, by):
    """How many heads need fewer values than their own shuffled weights."""
    pairs = zip(by_head[model, "real", by], by_head[model, "shuffled", by], strict=True)
    return sum(real < other for real, other in pairs)


called = {
    "the mask, spread evenly": average["SmolLM2", "mask", "squares"],
    "SmolLM2's heads": average["SmolLM2", "real", "squares"],
    "their weights, shuffled": average["SmolLM2", "shuffled", "squares"],
}
told = [
    (model, row, *(f"{average[model, row, by]:.0f}" for by in ("squares", "sum")))
    for model in ranks["models"]
    for row in ("real", "shuffled", "mask")
]
ranks_told = show.table(
    told,
    ["", "", f"Of {n_ranks} singular values, for 90 % of the squares", "For 90 % of the sum"],
)
show.predict(
    f"Take SmolLM2's attention matrices over {n_ranks} tokens. How many singular values hold 90 % of the sum of squares, on average over the heads?",
    choices={"about 3": 3, "about 25": 25, "about 90": 90, "about 200": 200},
    answer=average["SmolLM2", "real", "squares"],
    why="About a tenth of them. Whether this is “nearly low rank” depends on what you compare it with.",
)

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
show.predict(
    "Put these matrices in order, from the fewest singular values for 90 % of the squares to the most (means over heads and passages).",
    order=list(reversed(called)),
    answer=sorted(called, key=called.get),
    why="The heads need far fewer than their own weights in random order, so the positions of the weights lower the rank. But a causal mask with even weights needs fewer still. A low rank by itself is not a sign of learning.",
    reveals=ranks_told,
)

# %% [markdown] slideshow={"slide_type": "subslide"}
# **One head at a time.** On the left are a head's weights, in the middle the best matrix of rank $k$ (by the singular value decomposition), and on the right how fast the sum of squares grows with the number of singular values.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
captured = {
    "SmolLM2": weights_of(writer, bytepairs).numpy(),
    "MiniLM": weights_of(reader, wordpieces).numpy(),
}


def shuffled(causal):
    """Each row's weights in another order, among the keys that it may see."""

    def shuffle(matrix):
        draw = np.random.default_rng(0)
        rows = [
            draw.permutation(row[: i + 1 if causal else None]) for i, row in enumerate(matrix)
        ]
        return np.stack([np.pad(row, (0, len(matrix) - len(row))) for row in rows])

    return shuffle


widgets.rank_player(captured, {"SmolLM2": shuffled(True), "MiniLM": shuffled(False)})

# %% [markdown] slideshow={"slide_type": "fragment"}
# > **Ask yourself.** Find a head that reads the previous token (a diagonal stripe). What is its rank, and why?
#
# <details><summary><b>Answer, and what to notice</b></summary>
#
# | values that hold 90 % of the squares, of 256<!--[[n_ranks]]--> | heads | their weights, shuffled | even mask |
# |---|---|---|---|
# | SmolLM2, mean | 24<!--[[average["SmolLM2", "real", "squares"]:.0f]]--> | 83<!--[[average["SmolLM2", "shuffled", "squares"]:.0f]]--> | 6<!--[[average["SmolLM2", "mask", "squares"]:.0f]]--> |
# | MiniLM, mean | 25<!--[[average["MiniLM", "real", "squares"]:.0f]]--> | 98<!--[[average["MiniLM", "shuffled", "squares"]:.0f]]--> | 1<!--[[average["MiniLM", "mask", "squares"]:.0f]]--> |
#
# - A matrix that shifts by one position has rank $n - 1$, and all its singular values except one zero are 1. So a head that copies from a fixed *distance* has a high rank. A head in which all queries weight the keys alike has rank 1.
# - Of SmolLM2's 270<!--[[len(by_head["SmolLM2", "real", "sum"])]]--> heads, 249<!--[[below_own_shuffle("SmolLM2", "squares")]]--> need fewer values than their own shuffled weights. The same holds for 70<!--[[below_own_shuffle("MiniLM", "squares")]]--> of MiniLM's.
# - The paper plots the *sum* instead of the squares. By this measure SmolLM2's heads need 93<!--[[average["SmolLM2", "real", "sum"]:.0f]]--> values, their shuffled weights 117<!--[[average["SmolLM2", "shuffled", "sum"]:.0f]]-->, and the even mask 80<!--[[average["SmolLM2", "mask", "sum"]:.0f]]-->. Many tiny singular values together add much to the sum, but hardly anything to the sum of squares.
# - Measured by squares, 30<!--[[sum(of > 64 for of in by_head["SmolLM2", "real", "squares"])]]--> of SmolLM2's heads need more than a quarter of the values.
# - **Does it matter for the output?** Replace each of MiniLM's attention matrices by its best approximation of rank 64, a quarter of the full rank. The sentence vectors keep a cosine of 0.97<!--[[mean(ranks["cosine_at_rank"]["64"]):.2f]]--> with the original ones. With rank 4 it is 0.85<!--[[mean(ranks["cosine_at_rank"]["4"]):.2f]]-->, with evenly spread weights 0.36<!--[[mean(ranks["cosine_at_rank"]["even"]):.2f]]-->.
# </details>
#
# **Most heads of both models are closer to low rank than their own weights in random order.** But a low rank by itself does not show learning, since an evenly filled causal mask has one as well. And to know the *best* approximation you must compute the matrix first.

# %% [markdown] slideshow={"slide_type": "notes"}
# *10 minutes. Take the order as a show of hands before you reveal it. Ask why an evenly spread causal mask has a rank above 1 (row $i$ has $i$ equal entries, so all rows differ). What goes
# wrong: students take "90 % of the squares" for "90 % of the information". Let them slide the rank of a diagonal head: at a quarter of the rank the stripe has faded.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 3. Linformer: mix the keys first
#
# Linformer does not compute the best approximation. It learns two matrices $E$ and $F$ with $k$ rows and $n$ columns, which mix the $n$ keys into $k$ keys and the $n$ values into $k$
# values (Wang et al. 2020, section 4):
#
# $$\mathrm{softmax}\Big(\frac{Q\,(E K)^\top}{\sqrt{d_{\mathrm{head}}}}\Big)\, F V .$$
#
# Now there are $nk$ scores instead of $n^2$. With a fixed $k$ the cost grows like $n$. This is called **low-rank attention**.


# %% slideshow={"slide_type": "fragment"}
def linformer(q, k, v, E, F):
    """q, k, v (time, d_head); E, F (k, time) mix positions."""
    scores = q @ (E @ k).T / math.sqrt(q.shape[-1])  # (time, k) instead of (time, time)
    return scores.softmax(-1) @ (F @ v)


# %% slideshow={"slide_type": "fragment"}
sizes = TransformerConfig(vocab_size=9, d_model=16, n_heads=1, n_layers=1, max_length=32)
with torch.random.fork_rng():
    torch.manual_seed(0)
    part, x = LinformerAttention(sizes, k=8), torch.randn(1, 32, 16)
q, k, v = part.attention.projection(x)[0].split(16, dim=-1)
ours = part.attention.output(linformer(q, k, v, part.E, part.F))
print("as in the library:", torch.allclose(ours, part(x)[0], atol=1e-5))

changed = x.clone()
changed[0, -1] += 1  # only the last token changes
with torch.no_grad():
    moved = (part(changed) - part(x))[0].abs().amax(-1) > 1e-6
print(f"outputs that change with the last token: {int(moved.sum())} of 32")

# %% [markdown] slideshow={"slide_type": "fragment"}
# Every mixed key contains the last token, so every output changes, and a mask on the scores cannot repair this. **So Linformer is for encoders.** And no text may be longer than $n$, the number of columns of $E$ and $F$.
#
# These are the paper's numbers (Wang et al. 2020, tables 2 and 3). In the first row the model with full attention is RoBERTa-base:
#
# | | full attention | Linformer, $k = 128$ | Linformer, $k = 256$ |
# |---|---|---|---|
# | mean of four classification tasks, $n = 512$ | 92.25 | 91.75 | 92.08 |
# | times as fast at 2,048 tokens | 1 | 2.6 | 2.4 |
# | times as fast at 65,536 tokens | 1 | 20 | 18 |
#
# > **Ask yourself.** The four tasks are sentiment (SST-2, IMDB) and pairs of sentences (QNLI, QQP). Which of them asks a model to find *one* token of a long text?
#
# <details><summary><b>Answer</b></summary>
#
# None of them clearly does. Section 6 tests this kind of task.
# </details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *6 minutes. Draw $E K$ as a shop window: $n$ keys are poured into $k$ jars before anybody asks for one. Ask what a query can still find out. What goes wrong: students
# think that $E$ selects $k$ important tokens. It is the same $E$ for every text, so it knows positions and not words.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 4. Longformer and BigBird: leave pairs out
#
# The other idea is to compute only some of the scores, but to compute these exactly. This is **sparse attention**. Its pattern combines up to three parts:
#
# - a **sliding window**: a query sees its neighbours, $w$ positions in all;
# - a **global token** sees every position, and every position sees it;
# - **random blocks**: a query also sees a few blocks of positions that were sampled once.
#
# Longformer (Beltagy et al. 2020) has the first two, and BigBird (Zaheer et al. 2020) has all three. Each layer passes information on, so over several layers a position can receive information that it
# cannot see in one layer. A window that reaches $r$ positions to either side carries information $L \cdot r$ positions far in $L$ layers, like a convolution ([lecture 4](04_windows_and_convolutions.ipynb)).


# %% slideshow={"slide_type": "fragment"} tags=["lesson"]
def window(n, size):
    """`size` positions to either side; True = may attend."""
    position = torch.arange(n)
    return (position[:, None] - position).abs() <= size


def longformer(n, size):
    """A window, and the first token global."""
    mask = window(n, size)
    mask[0], mask[:, 0] = True, True
    return mask


def bigbird(n, size):
    """Blocks of `size`: neighbours, one at random, and the first one global."""
    block, draw = torch.arange(n) // size, torch.Generator().manual_seed(0)
    mask = (block[:, None] - block).abs() <= 1
    sampled = torch.randint(int(block[-1]) + 1, (int(block[-1]) + 1,), generator=draw)
    return mask | (block == sampled[block][:, None]) | (block == 0) | (block == 0)[:, None]


c = TransformerConfig(vocab_size=9, d_model=16, n_heads=1, n_layers=1, max_length=48)
same = torch.equal(longformer(48, 4), build_longformer(c, False, window=8).pattern(48))
print("as the library's:", same)

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
patterns = {
    "full": lambda n, size: torch.ones(n, n, dtype=torch.bool),
    "window": window,
    "Longformer": longformer,
    "BigBird": bigbird,
    "causal window": window_mask,
    "every size-th": lambda n, size: (torch.arange(n)[:, None] - torch.arange(n)) % size == 0,
}


def layers_to_reach(mask):
    """The layers after which every query has information from every key."""
    reached, layers = mask, 1
    while not reached.all():
        reached, layers = (mask.float() @ reached.float()) > 0, layers + 1
    return layers


alone, with_global = layers_to_reach(window(48, 4)), layers_to_reach(longformer(48, 4))
show.predict(
    f"There are 48 positions, and a window reaches 4 to either side. After {alone} layers the first position has information from the last. Now one token becomes global, as in Longformer. After how many layers does *every* position "
    "have information from every other?",
    choices={"2": 2, "4": 4, "6": 6, str(alone): alone},
    answer=with_global,
    why="One layer brings everything to the global token, and the next one brings it to every position.",
    reveals=widgets.pattern_playground(patterns, 48, size=4, layers=12).opens(
        pattern="Longformer", layers=2
    ),
)

# %% [markdown] slideshow={"slide_type": "skip"}
# > **Ask yourself.** Choose *window* and then *Longformer*. Which pattern needs fewer pairs to reach every position within three layers? Then choose *every size-th*. What does it never reach?

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>Answer, and what to notice</b></summary>
#
# - A window must reach 16<!--[[next(size for size in range(1, 48) if layers_to_reach(window(48, size)) <= 3)]]--> positions to either side to cross 48 positions in three layers. That takes 1,312<!--[[int(window(48, 16).sum()):,]]--> of 2,304 pairs. With one global token, a window that reaches one position<!--[[? layers_to_reach(longformer(48, 1)) == 2]]--> to either side is enough. That takes 234<!--[[int(longformer(48, 1).sum())]]--> pairs and two layers.
# - With the pattern *every size-th* (strided), position 1 never receives information from position 2, however many layers you stack. The Sparse Transformer (Child et al. 2019) combines it with a window.
# - A *star*, that is, one global token and nothing else, already connects everything in two layers. Zaheer et al. prove that attention along a star suffices to approximate any continuous function of a sequence. But all information then passes through *one vector*, the bottleneck of [lecture 11](11_sequence_to_sequence.ipynb).
# </details>
#
# BigBird's paper reports what the patterns cost in accuracy (BERT-base, 512 tokens, its table 1):
#
# | | full | random blocks | window | both |
# |---|---|---|---|---|
# | MNLI, % right | 83.4 | 80.2 | 73.1 | 80.5 |
#
# Together the two do not reach full attention, so BigBird adds global tokens. Its variant ETC uses **no random blocks** at all.

# %% [markdown] slideshow={"slide_type": "notes"}
# *11 minutes. Let the room say which cells a global token fills before you press the button (a row and a column). Slide *layers* with the orange row in view. Then ask which of *window* and *Longformer* needs fewer pairs for three layers, and what *every size-th* never reaches. What goes wrong: they
# read the right-hand picture as attention. It shows which information *could* have arrived; section 6 shows that this is not the same as having learned to use it.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 5. Time and memory, to 16,384 tokens
#
# Fewer scores do not always mean less time. A pattern must be cut into blocks, keys must be gathered, and a general kernel does not know your pattern. We measured five attention layers with
# SmolLM2's sizes ($d = 576$, nine heads of queries that share three heads of keys and values): Longformer with a window of 512, BigBird with blocks of 64 (the paper's sizes), Linformer with $k = 256$, full attention as
# written, and full attention with PyTorch's fused kernel. Each time is the median of three measurements with one thread (`python -m lectures.recipes sparse_cost`).

# %% slideshow={"slide_type": "fragment"}
layer = stored("sparse_cost")
starts = layer["full_fused_takes_longer_from"]  # where each begins to be faster than the kernel
longest = {name: by["16384"] for name, by in layer["seconds"].items() if "16384" in by}

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
show.predict(
    "Our Longformer layer has a window of 512 tokens. From what length is it faster than full attention with the fused kernel, on one core?",
    choices={"from 300": 300, "from 1,200": 1200, "from 5,000": 5000, "from 12,000": 12000},
    answer=starts["Longformer"],
    why="Our layer works in blocks of 256 tokens. Each query scores the keys of its own block and of the two beside it, and these keys are copied first. So nothing is saved before the text is clearly longer than three blocks, 768 tokens.",
    reveals=widgets.cost_explorer(layer, "full, fused"),
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# | | full, fused | Longformer | BigBird | Linformer |
# |---|---|---|---|---|
# | time grows like $n$ to the power | 1.92<!--[[layer["law"]["full, fused"]["exponent"]:.2f]]--> | 1.23<!--[[layer["law"]["Longformer"]["exponent"]:.2f]]--> | 1.13<!--[[layer["law"]["BigBird"]["exponent"]:.2f]]--> | 1.03<!--[[layer["law"]["Linformer"]["exponent"]:.2f]]--> |
# | seconds at 16,384 tokens | 7.1<!--[[longest["full, fused"]:.1f]]--> | 1.1<!--[[longest["Longformer"]:.1f]]--> | 1.1<!--[[longest["BigBird"]:.1f]]--> | 0.4<!--[[longest["Linformer"]:.1f]]--> |
# | MB at 16,384 tokens | 139<!--[[layer["bytes"]["full, fused"]["16384"] / 1e6:.0f]]--> | 429<!--[[layer["bytes"]["Longformer"]["16384"] / 1e6:.0f]]--> | 907<!--[[layer["bytes"]["BigBird"]["16384"] / 1e6:.0f]]--> | 139<!--[[layer["bytes"]["Linformer"]["16384"] / 1e6:.0f]]--> |
# | tokens from which it is faster than full | – | 1,200<!--[[round(starts["Longformer"], -2):,]]--> | 1,500<!--[[round(starts["BigBird"], -2):,]]--> | 600<!--[[round(starts["Linformer"], -2):,]]--> |
#
# - **Where our sparse layers lose time.** On short texts the kernel is faster than both. At 256 tokens Longformer takes 2.5<!--[[layer["seconds"]["Longformer"]["256"] / layer["seconds"]["full, fused"]["256"]:.1f]]--> times as long as the kernel.
# - **Where they lose memory.** Longformer and BigBird need more memory than the kernel at every length<!--[[? all(layer["bytes"][name][n] > of for name in ("Longformer", "BigBird") for n, of in layer["bytes"]["full, fused"].items())]]-->. They copy each key and each value to every block that sees it.
# - We timed one core of a shared machine, with a batch of one text and nothing masked.
# </details>
#
# **At 16,384 tokens all three cheap layers are faster than the kernel<!--[[? all(longest[name] < longest["full, fused"] for name in ("Longformer", "BigBird", "Linformer"))]]-->. For the two sparse ones the gain in time is smaller than the gain in multiply-adds<!--[[? all(longest["full, fused"] / longest[name] < layer["multiply_adds"]["full, fused"]["16384"] / layer["multiply_adds"][name]["16384"] for name in ("Longformer", "BigBird"))]]-->; for Linformer the two are about equal<!--[[? 0.8 < longest["full, fused"] / longest["Linformer"] / (layer["multiply_adds"]["full, fused"]["16384"] / layer["multiply_adds"]["Linformer"]["16384"]) < 1.25]]-->.**

# %% [markdown] slideshow={"slide_type": "notes"}
# *7 minutes. Switch the explorer from time to memory to multiply-adds at 16,384 tokens. Ask why a ratio of multiply-adds is not a ratio of times. What goes wrong: they compare the
# cheap layer with "full, as written", as papers before the kernel had to.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 6. What is lost? Cards in a text
#
# Take a passage of Shakespeare, letter by letter. Four of its letters are replaced by **cards**, one of each suit. Eight more are replaced by **questions**, each of which asks for the rank of the card of one suit:
#
# > wherefo **♥7** art tho **♠Q** rome **♥?** deny thy f …
#
# At ♥? the model should answer ♥7. A guess among the eight<!--[[words(needle["ranks"])]]--> ranks is right in 12.5<!--[[100 / needle["ranks"]:.1f]]--> % of cases. Small encoders of three layers read 64 tokens in both directions. They differ only in the pattern:
#
# | row | keys per query | |
# |---|---|---|
# | full | 64<!--[[needle["rows"]["full"]["keys"]:.0f]]--> | all |
# | window | 12<!--[[needle["rows"]["window"]["keys"]:.0f]]--> | blocks of 4: its own and two neighbours |
# | wider window | 23<!--[[needle["rows"]["wider window"]["keys"]:.0f]]--> | control: more keys |
# | window + random | 16<!--[[needle["rows"]["window + random"]["keys"]:.0f]]--> | one random block |
# | window + global | 20<!--[[needle["rows"]["window + global"]["keys"]:.0f]]--> | four global tokens |
# | window + random + global | 24<!--[[needle["rows"]["window + random + global"]["keys"]:.0f]]--> | BigBird |
# | Linformer | 16<!--[[needle["rows"]["Linformer"]["keys"]:.0f]]--> | a quarter as many mixed keys as positions, $k = n/4$ |
# | Linformer, k = n | 64<!--[[needle["rows"]["Linformer, k = n"]["keys"]:.0f]]--> | control: nothing saved |
# | Linformer, 5 × the steps | 16<!--[[needle["rows"]["Linformer, 5 × the steps"]["keys"]:.0f]]--> | control: longer training |
#
# Each row has five<!--[[words(len(right["full"]))]]--> seeds and 500 steps (2,500 in the last row). All rows share one learning rate, which was tuned for none of them. Each answer depends on *one* token of the text (`python -m lectures.recipes needle`).

# %% slideshow={"slide_type": "fragment"}
needle = stored("needle")
right = {name: row["right"] for name, row in needle["rows"].items()}  # by seed

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
added = {
    "more neighbours": mean(right["wider window"]),
    "a random block": mean(right["window + random"]),
    "global tokens": mean(right["window + global"]),
}
told = []
for name, shares in right.items():
    percent = [100 * share for share in shares]
    told.append((name, show.mean_from_to(percent), f"{needle['rows'][name]['keys']:.0f}"))
cards_told = show.table(told, ["", "Right, % (lowest to highest seed)", "Keys"])
show.predict(
    "One of these additions to the window helps much less than the other two. Which?",
    choices=list(added),
    answer=min(added, key=added.get),
    why="In three layers information crosses a few blocks, and a wider window only makes the blocks larger. A random block or a global token is a shortcut.",
)

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
show.predict(
    "Linformer has 16 mixed keys for 64 positions, and each of them mixes the keys of the whole text. What fraction of the cards does it find, after the same 500 steps as the others?",
    choices={"about 15 %": 0.15, "about 50 %": 0.5, "about 95 %": 0.95},
    answer=mean(right["Linformer"]),
    why="It guesses. Does more training help? See the last row.",
    reveals=[cards_told, widgets.needle_explorer(needle).opens(second="Linformer")],
)

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "skip"}
random_too, global_too, slow = "window + random", "window + global", "Linformer, 5 × the steps"
everything = "window + random + global"
gap, half = mean_interval(
    a - b for a, b in zip(right[global_too], right[random_too], strict=True)
)


def found(name):
    """% of the cards, mean over seeds."""
    return 100 * mean(right[name])


def by_path(name, layers):
    """% of the cards whose path to the question takes so many layers; 4 is no path."""
    seeds = [run[layers - 1] for run in needle["rows"][name]["by_layers"]]
    return 100 * mean(share for share in seeds if share is not None)


# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# - **The window finds what is near.** It finds all cards one layer away<!--[[? by_path("window", 1) == 100]]-->, on average half of those two layers away<!--[[? 45 < by_path("window", 2) < 55]]-->, and guesses where no path leads from the card to the question (12<!--[[by_path("window", 4):.0f]]--> %).
# - **More keys do not explain what random blocks add.** The wider window has 23<!--[[needle["rows"]["wider window"]["keys"]:.0f]]--> keys per query and finds 61<!--[[found("wider window"):.0f]]--> %. *Window + random* finds 90<!--[[found(random_too):.0f]]--> % with fewer keys<!--[[? needle["rows"][random_too]["keys"] < needle["rows"]["wider window"]["keys"] and min(right[random_too]) > max(right["wider window"])]]-->.
# - *Window + global* finds 91<!--[[found(global_too):.0f]]--> % on average, but with one seed only 65<!--[[100 * min(right[global_too]):.0f]]--> %, although every card is at most two layers away<!--[[? all(run[2:] == [None, None] for run in needle["rows"][global_too]["by_layers"])]]-->. Seed by seed, the interval of its difference from *window + random* contains 0<!--[[? abs(gap) < half]]-->, so this test cannot rank the two.
# - **BigBird's pattern closes the gap.** With random blocks and global tokens together it finds 99<!--[[found(everything):.0f]]--> %.
# - **At this learning rate Linformer learns late.** After 500 steps it only guesses, and finds 13<!--[[found("Linformer"):.0f]]--> %. With as many keys as positions it finds 14<!--[[found("Linformer, k = n"):.0f]]--> %, so more keys do not help it in so few steps. After five times the steps four<!--[[words(sum(share > 0.99 for share in right[slow]))]]--> of five seeds find nearly every card.
# - The test is small, with 64<!--[[needle["length"]]]--> tokens, three<!--[[words(needle["layers"])]]--> layers and four cards.
# </details>
#
# **Reachable is not learned.** A pattern decides what a model *can* find. Whether it finds it within your training budget is a second question. From
# 500 steps alone, we would have called Linformer a failure.

# %% [markdown] slideshow={"slide_type": "notes"}
# *11 minutes. Play it in the room first: give four students a card each, allow whispering to neighbours only, and count the rounds. Then appoint a global student. What goes wrong: they read
# "not found" as "not reachable"; switch the explorer to *layers on the path*.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 7. Windows and caches of models that write
#
# A model that writes keeps a key–value cache ([lecture 15](15_transformer_language_model.ipynb)). For one text it has
#
# $$2 \cdot L \cdot h_{\mathrm{kv}} \cdot d_{\mathrm{head}} \cdot n \quad\text{values,}$$
#
# for $L$ layers with $h_{\mathrm{kv}}$ heads of keys and values each. To write the next token, the model must read all these values. In practice two of these factors are reduced. **Shared keys and values** (multi-query, Shazeer 2019; grouped-query, Ainslie et al. 2023) lower the number
# $h_{\mathrm{kv}}$. A **sliding-window cache** keeps only the last $w$ of the $n$ tokens; the first Mistral 7B (2023) has one in all layers, Gemma 2 (2024) in every second layer.


# %% slideshow={"slide_type": "fragment"}
def cache_bytes(layers, kv_heads, d_head, held, bytes_each=2):
    """Keys and values of `held` tokens, in half precision."""
    return 2 * layers * kv_heads * d_head * held * bytes_each


widgets.memory_playground(
    cache_bytes,
    {"SmolLM2": (30, 9, 3, 64), "the sizes of GPT-3, if heads were shared": (96, 96, 8, 128)},
    [1024, 8192, 32768, 131072, 1048576],
    [1024, 4096, 16384],
)

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Or keep no cache at all.** Leave the softmax out, and send queries and keys through a function $\varphi$ that makes them positive. The weight of token $i$ is $\varphi(q_t)\,\varphi(k_i)^\top$, where $q$, $k$ and $v$ are row vectors. Then the query factors out of the
# sum over all tokens so far:
#
# $$\sum_{i \le t} \varphi(q_t)\,\varphi(k_i)^\top v_i = \varphi(q_t)\, S_t, \qquad S_t = S_{t-1} + \varphi(k_t)^\top v_t .$$
#
# This is **linear attention** (Katharopoulos et al. 2020). The output is divided by the sum of the weights, which is updated in the same way. $S_t$ has $d_{\mathrm{head}}^2$ values per head, however long the text is. The Transformer has become a recurrent network ([lecture 6](06_recurrent_networks.ipynb)), and all
# that it knows of the past must fit into its state. State-space models such as Mamba (Gu & Dao 2023) are related to it, with a state that also forgets. Some models, such as Jamba (Lieber et al. 2024), mix such layers with full attention. In the assignment you measure
# how much a state of this size can recall. In [lecture 26](26_memory_without_attention.ipynb) the state can also overwrite what it holds.
#
# Other ideas keep full attention and shrink the cache. DeepSeek-V2 (2024) stores one short vector per token and layer (and a small rotary key), from which all heads compute their keys and values.

# %% [markdown] slideshow={"slide_type": "subslide"}
# **What may a window leave out?** SmolLM2 was trained with full attention. We let it read through a window of $w$ tokens in every layer and measure the loss over the second halves of
# five<!--[[words(len(through["full"]))]]--> passages of 256<!--[[through["n"]]]--> tokens (`python -m lectures.recipes windows`). Its loss without a window is 3.78<!--[[mean(through["full"]):.2f]]--> nats per token. Then we let every query see four more tokens.

# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
through = stored("windows")
loss = {way: {int(w): mean(by) for w, by in of.items()} for way, of in through["ways"].items()}
at_64 = {
    "the four before the window": loss["wider by 4"][64],
    "the first four of the text": loss["and the first 4"][64],
    "tokens 5 to 8 of the text": loss["and 4 others"][64],
}
seen = widgets.living(
    writer,
    bytepairs,
    "Once upon a time there was a king who lived in a castle on top of a",
    "Paris is the capital of France, Rome is the capital of Italy, and Berlin is the capital of",
    "The young doctor opened the door of the old house and called the name of the man who lived",
    window=8,
)
first, stranger = loss["and the first 4"], loss["and a stranger's 4"]
rise = loss["window"][64] - mean(through["full"])
repaired = [  # the part of the rise, by passage
    (shut_out - let_in) / (shut_out - full)
    for shut_out, let_in, full in zip(
        through["ways"]["window"]["64"],
        through["ways"]["and the first 4"]["64"],
        through["full"],
        strict=True,
    )
]
in_every_passage = all(
    a < b
    for way in ("window", "wider by 4", "and 4 others")
    for w, losses in through["ways"][way].items()
    for a, b in zip(through["ways"]["and the first 4"][w], losses, strict=True)
)
whole, shut, *one_more = (
    seen.next(**state)[" mountain"]
    for state in ({}, {"window": 8}, *({"window": 8, "kept": [i]} for i in range(9)))
)
there, there_shut, there_first = (
    seen.next(seen.sentences[2], **state)[" there"]
    for state in ({}, {"window": 8}, {"window": 8, "kept": [0]})
)
show.predict(
    f"With a window of 64 tokens the loss rises by {loss['window'][64] - mean(through['full']):.1f} nats. You may show every query four more tokens. Which four repair most of it?",
    choices=list(at_64),
    answer=min(at_64, key=at_64.get),
    why="Most heads put much of their weight on the first token, an attention sink. Without it, softmax must put this weight somewhere else.",
    reveals=seen,
)

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>What to notice</b></summary>
#
# | nats per token through a window of | 8 | 16 | 32 | 64 |
# |---|---|---|---|---|
# | the window alone | 8.10<!--[[loss["window"][8]:.2f]]--> | 7.99<!--[[loss["window"][16]:.2f]]--> | 6.79<!--[[loss["window"][32]:.2f]]--> | 5.78<!--[[loss["window"][64]:.2f]]--> |
# | four more in the window | 7.93<!--[[loss["wider by 4"][8]:.2f]]--> | 7.75<!--[[loss["wider by 4"][16]:.2f]]--> | 6.73<!--[[loss["wider by 4"][32]:.2f]]--> | 5.67<!--[[loss["wider by 4"][64]:.2f]]--> |
# | tokens 5 to 8 of the text | 7.57<!--[[loss["and 4 others"][8]:.2f]]--> | 6.94<!--[[loss["and 4 others"][16]:.2f]]--> | 6.40<!--[[loss["and 4 others"][32]:.2f]]--> | 5.54<!--[[loss["and 4 others"][64]:.2f]]--> |
# | the first four tokens | 4.98<!--[[loss["and the first 4"][8]:.2f]]--> | 4.37<!--[[loss["and the first 4"][16]:.2f]]--> | 4.11<!--[[loss["and the first 4"][32]:.2f]]--> | 3.96<!--[[loss["and the first 4"][64]:.2f]]--> |
# | the first four of a different text | 4.98<!--[[loss["and a stranger's 4"][8]:.2f]]--> | 4.39<!--[[loss["and a stranger's 4"][16]:.2f]]--> | 4.12<!--[[loss["and a stranger's 4"][32]:.2f]]--> | 3.95<!--[[loss["and a stranger's 4"][64]:.2f]]--> |
#
# - **The first four tokens repair most**, in each of the passages and for each window<!--[[? in_every_passage]]-->. A window of 8 with them is better than a window of 64 without them<!--[[? first[8] < loss["window"][64]]]-->.
# - **What these tokens say hardly matters.** Those of a *different* passage do nearly as well<!--[[? all(abs(stranger[w] - first[w]) < 0.03 for w in first)]]-->. In the sentence of [lecture 13](13_self_attention.ipynb) SmolLM2's heads put more than half of their weight on the first token.
# - In the picture, through the window, the probability of *mountain* falls from 0.53<!--[[whole:.2f]]--> to below 0.01<!--[[? shut < 0.01]]-->, and it is 0.51<!--[[one_more[0]:.2f]]--> if all tokens also see *Once*. None of the other eight<!--[[words(len(one_more) - 1)]]--> tokens brings it above 0.01<!--[[? max(one_more[1:]) < 0.01]]-->.
# - In a text that depends on words further back, the first token may repair less. In the third sentence *there* has a probability of 0.48<!--[[there:.2f]]--> without a window and 0.01<!--[[there_shut:.2f]]--> through the window. If all tokens also see *The*, it is only 0.07<!--[[there_first:.2f]]-->. All these results are from one model and short texts.
# </details>
#
# **Adding four sink tokens repairs 1.8<!--[[loss["window"][64] - first[64]:.1f]]--> of the 2.0<!--[[rise:.1f]]--> nats that a window of 64 costs.** These are means over the passages; in each passage at least three quarters are repaired<!--[[? min(repaired) > 0.75]]-->. So if a model was trained without a window, its sliding-window cache should keep the first tokens as well (Xiao et al. 2024).

# %% [markdown] slideshow={"slide_type": "notes"}
# *11 minutes, 3 of them for the state. Ask first what the first four tokens of a play could possibly say about line 200 (nothing). In the picture, let the room choose which token to press. What goes wrong: students conclude that windows do not
# work. A model that is trained with a window in every layer cannot learn to depend on a sink outside it; this model was trained without windows.*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 8. Do we even need to remove the quadratic cost?
#
# The slides of Wang (CUHK-Shenzhen) make four claims. How much of each can we check?
#
# 1. *As Transformers grow, a growing part of their cost lies outside the scores of attention.*
# 2. *Nearly all large models keep quadratic attention.*
# 3. *The cheaper methods do not work as well.*
# 4. *Perhaps texts of more than 100,000 tokens would unlock better models.*

# %% slideshow={"slide_type": "fragment"}
c = writer.config
matrices = sum(p.numel() for p in writer.layers[0].parameters() if p.ndim == 2)  # of one layer


def at(name, n):
    """Seconds of one layer, extrapolated from 16,384 tokens by the fitted power law."""
    return longest[name] * (n / 16_384) ** layer["law"][name]["exponent"]


for name in ("full, fused", "Longformer"):
    print(f"131,072 tokens, one layer, extrapolated: {name:12} {at(name, 131_072):4.0f} s")


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
def count(d_model, layers, vocab_size, n):
    """Parameters, and multiply-adds per token in a text of n tokens; d_ff = 4 d."""
    parts = {
        "attention, matrices": 4 * d_model**2 * layers,
        "feed-forward": 8 * d_model**2 * layers,
    }
    parts["unembedding"] = vocab_size * d_model
    return parts, parts | {"attention, scores": 2 * n * d_model * layers}


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "fragment"}
equal = matrices / (2 * c.n_heads * c.head_size)
show.predict(
    "In SmolLM2 (width 576), how long must a text be until the attention scores cost as many multiply-adds as all matrices of a layer together?",
    choices={
        "300 tokens": 300,
        "3,000 tokens": 3_000,
        "30,000 tokens": 30_000,
        "300,000 tokens": 300_000,
    },
    answer=equal,
    why="A token costs $2nd$ in the scores and about $12d^2$ in the matrices, so the two costs are equal at about $n = 6d$. The wider the model, the longer this text is.",
    reveals=widgets.size_playground(
        count,
        {
            "SmolLM2's width, 2,048 tokens": (576, 30, 49_152, 2048),
            "SmolLM2's width, 32,768 tokens": (576, 30, 49_152, 32_768),
            "GPT-3's width, 2,048 tokens": (12_288, 96, 50_257, 2048),
            "GPT-3's width, 131,072 tokens": (12_288, 96, 50_257, 131_072),
        },
    ),
)


# %% jupyter={"source_hidden": true} slideshow={"slide_type": "skip"}
def share_of_scores(d_model, layers, vocab_size, n):
    """% of the multiply-adds of a pass over n tokens."""
    products = count(d_model, layers, vocab_size, n)[1]
    return 100 * products["attention, scores"] / sum(products.values())


small, gpt3 = (576, 30, 49_152), (12_288, 96, 50_257)
attention_of, network_of = (
    {key: layer[key][name]["2048"] for key in ("multiply_adds", "seconds")}
    for name in ("full, fused", "feed-forward")
)
ratio = {key: attention_of[key] / network_of[key] for key in attention_of}

# %% [markdown] slideshow={"slide_type": "fragment"}
# <details><summary><b>The four claims, as far as we can check them</b></summary>
#
# | claim | measured | verdict, 2026 |
# |---|---|---|
# | 1. The cost lies elsewhere. | The scores take 32<!--[[share_of_scores(*small, 2048):.0f]]--> % of the multiply-adds at SmolLM2's width and 3<!--[[share_of_scores(*gpt3, 2048):.0f]]--> % at GPT-3's with 2,048 tokens, but with 131,072 tokens 97<!--[[share_of_scores(*small, 131_072):.0f]]--> % and 64<!--[[share_of_scores(*gpt3, 131_072):.0f]]--> %. | True as models grow wider, false as texts grow longer. |
# | 2. Models stay quadratic. | SmolLM2 and MiniLM have full attention in every layer. GPT-3 alternates full layers with layers that see only a band of nearby positions (Brown et al. 2020, section 2.1). | No longer for all: windows in some of the layers (Gemma 2, 2024) and mixtures with recurrent layers (Jamba, 2024) have come into use. |
# | 3. Cheap methods do not work as well. | Cards found: full 100<!--[[found("full"):.0f]]--> %, BigBird's pattern 99<!--[[found(everything):.0f]]--> %, a window 33<!--[[found("window"):.0f]]--> %. | It depends on the pattern and on the task; averaged over its four classification tasks Linformer is at most half a point behind. |
# | 4. Longer texts would unlock better models. | For 131,072 tokens our core would need 379<!--[[at("full, fused", 131_072):.0f]]--> s per layer, and 14<!--[[at("Longformer", 131_072):.0f]]--> s with Longformer (extrapolated from an eighth of the length). | Open: our scale cannot test it. |
#
# - Time is not proportional to multiply-adds. At 2,048 tokens an attention layer of SmolLM2's sizes has 1.2<!--[[ratio["multiply_adds"]:.1f]]--> times the multiply-adds of its feed-forward network and takes 2.5<!--[[ratio["seconds"]:.1f]]--> times as long.
# - Claim 1 counts a pass over a whole text. A model that *writes* reads its whole cache for every token. The cache grows with $n$ at any width, to 3.0<!--[[cache_bytes(30, 3, 64, 131_072) / 1e9:.1f]]--> GB for SmolLM2 at 131,072 tokens in half precision.
# </details>
#
# **The quadratic part is small in a wide model that reads short texts, but it dominates the cost of long texts.**

# %% [markdown] slideshow={"slide_type": "notes"}
# *8 minutes. Vote on each claim before the table is opened. What goes wrong: students take claim 2, a description of current practice, as an argument ("everybody does it").*

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Now you
#
# Write a pattern of your own. It must be causal, score at most 400 of the 2,304 pairs, and reach every earlier position within three layers. The widget draws it, or one of ours for comparison, and counts the pairs.


# %% slideshow={"slide_type": "fragment"}
def my_pattern(n, size):
    """(query, key), True = may attend. Change this: a causal window, and every size-th position before it."""
    position = torch.arange(n)
    far = position[:, None] - position
    return (far >= 0) & ((far < size) | (position % size == 0))


ours = {"a causal window": window_mask, "all earlier positions": lambda n, size: causal_mask(n)}
widgets.pattern_playground(dict(yours=my_pattern, **ours), 48, size=6, layers=4)

# %% [markdown] slideshow={"slide_type": "notes"}
# *5 minutes, or homework. The given pattern reaches everything in two layers with 441<!--[[int(my_pattern(48, 6).sum())]]--> pairs, more than allowed, and no other size stays below 400<!--[[? min(int(my_pattern(48, size).sum()) for size in range(1, 48)) > 400]]-->. A window of 4 and every seventh position need 347<!--[[int((window_mask(48, 4) | causal_mask(48) & (torch.arange(48) % 7 == 0)).sum())]]--> pairs and three layers<!--[[? torch.equal(torch.linalg.matrix_power((window_mask(48, 4) | causal_mask(48) & (torch.arange(48) % 7 == 0)).float(), 3) > 0, causal_mask(48))]]-->. What goes wrong: a position that does not see itself.*

# %% [markdown] slideshow={"slide_type": "skip"}
# In the assignment [`efficient_attention.ipynb`](../exercises/efficient_attention/efficient_attention.ipynb) you build the patterns,
# Linformer and the cache yourself, and SmolLM2 writes through your cache, with sinks and without.

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Check yourself
#
# 1. A text becomes ten times longer. How do time and memory of full attention change with a fused kernel?
# <details><summary>Answer</summary>The scores take 100 times as long. The memory grows tenfold, because the kernel holds no matrix of weights.</details>
#
# 2. A head always attends to the previous token. Can you approximate it by rank 10 in a text of 1,000 tokens?
# <details><summary>Answer</summary>No. Its singular values are all 1 (except for one zero), so rank 10 keeps about one hundredth of the squares.</details>
#
# 3. Why can a Linformer not generate text?
# <details><summary>Answer</summary>Its mixed keys contain later tokens, so every prediction would see its target.</details>
#
# 4. A window reaches 256 tokens to either side. After how many layers can information cross 4,096 tokens?
# <details><summary>Answer</summary>After $4096 / 256 = 16$ layers, or after two with one global token.</details>
#
# 5. In two layers a model can reach everything, but it finds only half of the cards. What is wrong?
# <details><summary>Answer</summary>Perhaps nothing. "Reachable" says that a path exists; the model must still learn to send the right content along it.</details>
#
# 6. You cut the cache of a trained model to its last 1,000 tokens and it writes nonsense. What do you try first?
# <details><summary>Answer</summary>Keep the first few tokens as well, because many heads put much of their weight on them if the model was trained without a window.</details>

# %% [markdown] slideshow={"slide_type": "notes"}
# *The questions are not projected. If 3 minutes are left, ask number 5. What goes wrong: they answer with more layers.*

# %% [markdown] slideshow={"slide_type": "skip"}
# ## Notation, words, sources
#
# | here | elsewhere | what it is |
# |---|---|---|
# | $n$ | $N$, $T$, $L$ | tokens in the text |
# | $k$ | $k$ | mixed keys of Linformer; also the rank of an approximation |
# | $E$, $F$ | $E_i$, $F_i$ | Linformer's matrices over positions |
# | $w$ | $w$ | width of a window; Longformer counts both sides together |
# | $h_{\mathrm{kv}}$ | $G$, groups | heads of keys and values |
# | $S_t$ | $S_i$, $h_t$ | the state of linear attention |
# | fused kernel | FlashAttention, memory-efficient attention | attention without a matrix of weights |

# %% [markdown] slideshow={"slide_type": "notes"}
# *The notation is not projected; a minute suffices. What goes wrong: a causal window of $w$ has all $w$ positions on one side.*

# %% [markdown] slideshow={"slide_type": "skip"}
# ### Words of this lecture
#
# - **fused kernel**: attention computed tile by tile, without keeping the matrix of weights; it gives the same output and still computes all $n^2$ scores.
# - **low-rank attention**: attention over a few mixtures of the keys and values instead of all of them.
# - **sparse attention**: attention that computes only the scores of a fixed pattern of pairs.
# - **sliding window**: a pattern in which a query sees only its neighbours.
# - **global token**: a token that sees every position and that every position sees.
# - **random blocks**: blocks of positions, sampled once, that a query sees besides its window.
# - **linear attention**: attention without a softmax, whose sum over the past is a state of constant size.
# - **shared keys and values**: fewer heads of keys and values than of queries (multi-query, grouped-query attention).
# - **sliding-window cache**: a key–value cache that keeps only the last tokens.

# %% [markdown] slideshow={"slide_type": "skip"}
# **Sources.** Wang, Li, Khabsa, Fang & Ma (2020), Linformer. Beltagy, Peters & Cohan (2020), Longformer. Zaheer et al. (2020), Big Bird. Dao et al. (2022), FlashAttention. Katharopoulos et al. (2020), Transformers are RNNs. Gu & Dao (2023), Mamba. Lieber et al. (2024), Jamba. Child et al. (2019), Sparse Transformers. DeepSeek-AI (2024), DeepSeek-V2. Shazeer (2019), Fast Transformer
# Decoding. Ainslie et al. (2023), GQA. Xiao et al. (2024), Efficient Streaming Language Models with Attention Sinks. Arora et al. (2023), Zoology (recall with several questions). Jiang et al. (2023), Mistral 7B. Gemma Team (2024), Gemma 2.
# Brown et al. (2020), GPT-3. Ben Allal et al. (2025), SmolLM2. Wang, slides on Transformers (CUHK-Shenzhen).
